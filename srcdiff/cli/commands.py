"""`srcdiff generate`, `show`, `check` and `stages`."""

from __future__ import annotations

import difflib
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

from srcdiff.aot.accepted import accepted
from srcdiff.aot.digest import meaning, read_head
from srcdiff.aot.files import current, write
from srcdiff.aot.job import Job
from srcdiff.aot.targets import target
from srcdiff.aot.verify import verified
from srcdiff.aot.wanted import Wanted
from srcdiff.api.inspect import all_stages
from srcdiff.cli.project import Project, Task, found_project, import_as_project
from srcdiff.cli.terminal import near, say, show_diff, show_source
from srcdiff.errors import SrcdiffError, TargetError
from srcdiff.primitives.registry import load_rules


class UsageError(SrcdiffError, ValueError):
    """A command that makes no sense."""


# --- what is asked for ---------------------------------------------------------------------------


def keys(words: list[str] | None) -> Any:
    """Inputs or outputs as they are given: one alone, several as a tuple; digits are positions.

    `w,` is a tuple of one, as in Python.
    """
    if words is None:
        return None
    plain = [w.removesuffix(",") for w in words]
    found = tuple(int(w) if w.lstrip("-").isdigit() else w for w in plain)
    return found[0] if plain == words and len(found) == 1 else found


def options_of(given: Namespace) -> dict[str, Any]:
    """The options of `srcdiff.generate` in a command."""
    names = ["mode", "order", "name", "value", "split", "example", "inline"]
    names += ["materialize_grads", "has_aux", "strong_zeros", "backend", "compile"]
    found = {n: getattr(given, n) for n in names if hasattr(given, n)}
    found["allow_unused"] = given.allow_unused or None
    found["checks"] = not getattr(given, "no_checks", False)
    return {**found, "inputs": keys(given.inputs), "outputs": keys(given.outputs)}


def loaded(given: Namespace) -> Any:
    """The function that a command names; the rules that it names are read before."""
    import_as_project(Path.cwd())
    for path in given.rules:
        load_rules(path)
    return target(given.target)


def _project(given: Namespace) -> Project:
    """The project whose files are meant by `--all`."""
    project = found_project(given.project)
    for path in project.rules:
        load_rules(path)
    return project


# --- the commands --------------------------------------------------------------------------------


def generate(given: Namespace) -> int:
    """Write one file, or all of a project."""
    if given.all == bool(given.target):
        raise UsageError("generate: give a target, or --all")
    if given.all:
        for task in _project(given).tasks:
            _write(task.job(), task.path, given.verify, given.force)
        return 0
    job = Job(loaded(given), Wanted(**options_of(given)))
    if given.output is None:
        sys.stdout.write(_text(job, given.verify))
    else:
        _write(job, Path(given.output), given.verify, given.force)
    return 0


def _text(job: Job, verify: bool) -> str:
    """The text of a file, compiled and compared with differences where that is asked for."""
    text = job.text()
    accepted(job, text)
    if verify:
        verified(job, text)
    return text


def _write(job: Job, path: Path, verify: bool, force: bool) -> None:
    """Write a file, and say what happened."""
    new = write(path, _text(job, verify), force)
    say(f"{'wrote' if new else 'unchanged:'} {near(path)}")


def show(given: Namespace) -> int:
    """Print generated functions, without what they call."""
    job = Job(loaded(given), Wanted(**options_of(given)))
    show_source(job.functions_text(), given.color)
    return 0


def stages(given: Namespace) -> int:
    """Print a function after every pass."""
    job = Job(loaded(given), Wanted(**options_of(given)))
    texts = all_stages(job.made, job.example)
    if given.label is not None and given.label not in texts:
        raise UsageError(f"stages: there is no pass {given.label!r}; they are {', '.join(texts)}")
    if given.label is not None:
        print(texts[given.label].rstrip())
        return 0
    for label, text in texts.items():
        print(f"--- {label} ".ljust(72, "-") + f"\n{text.rstrip()}\n")
    return 0


def check(given: Namespace) -> int:
    """Compare files with what would be written; the differences go to standard output."""
    if given.all == bool(given.files):
        raise UsageError("check: give generated files, or --all")
    for path in given.rules:
        load_rules(path)
    tasks = _project(given).tasks if given.all else [_task_of(Path(f)) for f in given.files]
    stale = sum(_is_stale(task, given) for task in tasks)
    if stale:
        again = "srcdiff generate --all" if given.all else "the command in its first lines"
        say(f"srcdiff: {stale} of {len(tasks)} stale: run {again}")
    return int(bool(stale))


def _task_of(path: Path) -> Task:
    """What a generated file says that it was made of."""
    text = current(path)
    if text is None:
        raise TargetError(f"there is no file {path}")
    head, _ = read_head(text, path)
    options = dict(head.options)
    if "example" in options and options["example"] is None:
        raise TargetError(
            f"{path} was made with an example that was given in Python: make it again by the same "
            "call of srcdiff.generate, or give the example as text"
        )
    folder = str(path.resolve().parent)
    import_as_project(path.resolve().parent)
    if folder not in sys.path:
        sys.path.append(folder)
    return Task(head.target, path, options)


def _is_stale(task: Task, given: Namespace) -> bool:
    """Whether a file is not what would be written; the difference is printed."""
    old = current(task.path)
    job = task.job()
    new = _text(job, True) if given.verify else job.text()
    if old is not None and _says_the_same(old, new, task.path):
        return False
    show_diff(
        difflib.unified_diff(
            (old or "").splitlines(), new.splitlines(), near(task.path), f"{near(task.path)} (now)",
            lineterm="",
        ),
        given.color,
    )  # fmt: skip
    return True


def _says_the_same(old: str, new: str, path: Path) -> bool:
    """Whether a file is what would be written but for its format, the version and the rules."""
    heads = read_head(old, path)[0], read_head(new, path)[0]
    return heads[0].facts() == heads[1].facts() and meaning(old) == meaning(new)
