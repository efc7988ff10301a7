"""`generated`: a derivative from its file, or made anew where the file is out of date."""

from __future__ import annotations

import importlib.util
import warnings
from pathlib import Path
from typing import Any

from srcdiff.api.digest import Head, read_head, rules_hash, sources_of
from srcdiff.api.files import current
from srcdiff.api.job import Job
from srcdiff.api.wanted import Wanted
from srcdiff.backends.numpy import compile_module
from srcdiff.errors import SrcdiffError
from srcdiff.onecall import place_of
from srcdiff.version import VERSION

_STALE = ("warn", "error", "quiet")


class StaleError(SrcdiffError, RuntimeError):
    """A generated file is not what would be generated now."""


class StaleWarning(UserWarning):
    """A generated file is not what would be generated now, so the derivative was made anew."""


def generated(path: str | Path, f: Any, *, stale: str = "warn", **options: Any) -> Any:
    """The derivative of a function from the file that `generate` wrote, if that is up to date.

    Args:
        path: the file, beside that of `f` if it is not absolute.
        f: the function.
        stale: what to do where the file is missing, has been edited, or was made from other source
            text, other values outside, other rules or by another version: "warn" and "quiet"
            make the derivative anew, with a StaleWarning or without; "error" raises.
        options: those of `generate` for a file that is missing; else they stand in the file.

    Returns:
        The function in the file; a tuple of two for the option `split`.

    Raises:
        StaleError: the file is out of date, and `stale="error"`.
        HeadError: the file was not written by srcdiff.
    """
    if stale not in _STALE:
        raise ValueError(f"stale: expected one of {', '.join(_STALE)}, given {stale!r}")
    place = Path(place_of(f).file).parent / path
    text = current(place)
    if text is None:
        why, wanted = "is not there", Wanted(**options)
    else:
        head, whole = read_head(text, place)
        wanted = _wanted(head, options)
        why = "has been edited" if not whole else _outdated(head, Job(f, wanted))
        if not why:
            return _loaded(place)
    message = f"{place} {why}: run srcdiff generate"
    if stale == "error":
        raise StaleError(message)
    if stale == "warn":
        warnings.warn(message, StaleWarning, stacklevel=2)
    job = Job(f, wanted)
    return _taken(compile_module(job.text(), {}, job.request.name, f), job.names())


def _wanted(head: Head, options: dict[str, Any]) -> Wanted:
    """The options that a file was made with; an example given in Python is given again, or none."""
    given: dict[str, Any] = {
        k: tuple(v) if isinstance(v, list) else v for k, v in head.options.items()
    }
    return Wanted(**{**given, **options})


def _outdated(head: Head, job: Job) -> str:
    """What a file was made of that is not so now; nothing if it is up to date."""
    if head.version != VERSION:
        return f"was written by srcdiff {head.version}"
    if head.rules != rules_hash():
        return "was made with other rules"
    for then, now in zip((head.sources, head.values), sources_of(job.f, job.kinds)):
        changed = [name for name, found in now.items() if then.get(name) != found]
        if changed:
            return f"was made before `{changed[0]}` was changed"
    return ""


def _loaded(path: Path) -> Any:
    """What a file offers."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return _taken(vars(module), tuple(module.__all__))


def _taken(space: dict[str, Any], names: tuple[str, ...]) -> Any:
    """One function, or a tuple of them."""
    found = tuple(space[name] for name in names)
    return found[0] if len(found) == 1 else found
