"""Whether a generated file is what would be generated now, and what it offers."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

from srcdiff.aot.digest import Head, meaning, read_head, rules_hash
from srcdiff.aot.files import current
from srcdiff.aot.job import Job
from srcdiff.aot.sources import differs, is_gone, sources_of
from srcdiff.aot.wanted import Wanted
from srcdiff.backends.numpy import compile_module
from srcdiff.frontend.onecall import place_of
from srcdiff.version import VERSION


class Asked:
    """A file beside a function, and why it cannot be used: `why` is empty if it can."""

    def __init__(self, path: str | Path, f: Any, options: dict[str, Any]) -> None:
        self.f = f
        self.place = Path(place_of(f).file).parent / path
        text = current(self.place)
        if text is None:
            self.wanted, self.why = Wanted(**options), "is not there"
            return
        head, whole = read_head(text, self.place)
        self.wanted = _wanted(head, options)
        self.why = _outdated(head, Job(f, self.wanted), text) if whole else "has been edited"

    def anew(self) -> Any:
        """What the file would offer."""
        job = Job(self.f, self.wanted)
        return _taken(compile_module(job.text(), {}, job.request.name, self.f), job.names())

    def loaded(self) -> Any:
        """What the file offers."""
        spec = importlib.util.spec_from_file_location(self.place.stem, self.place)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return _taken(vars(module), tuple(module.__all__))


def _wanted(head: Head, options: dict[str, Any]) -> Wanted:
    """The options that a file was made with; an example given in Python is given again, or none."""
    given: dict[str, Any] = {
        k: tuple(v) if isinstance(v, list) else v for k, v in head.options.items()
    }
    return Wanted(**{**given, **options})


def _outdated(head: Head, job: Job, text: str) -> str:
    """What a file was made of that is not so now; nothing if it is up to date."""
    for then, now in zip((head.sources, head.values), sources_of(job.f, job.kinds)):
        changed = [name for name, found in now.items() if differs(name, then.get(name, ""), found)]
        if changed:
            return f"was made before `{changed[0]}` was changed"
        gone = [name for name in then if then is head.sources and is_gone(name)]
        if then is head.values:
            gone = [n for n, was in then.items() if differs(n, was, now.get(n))]
        if gone:
            return f"was made before `{gone[0]}` was changed"
    others = head.version != VERSION or head.rules != rules_hash(job.f, job.kinds)
    if not others or meaning(text) == meaning(job.text()):
        return ""
    return f"was written by srcdiff {head.version}" if head.version != VERSION else _OTHER_RULES


_OTHER_RULES = "was made with other rules"


def _taken(space: dict[str, Any], names: tuple[str, ...]) -> Any:
    """One function, or a tuple of them."""
    found = tuple(space[name] for name in names)
    return found[0] if len(found) == 1 else found
