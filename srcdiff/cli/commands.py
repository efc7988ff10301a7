"""The commands: `generate`, `show`, `check`, `stages`, `rules`, `doctor` and `report`.

Each takes the parsed options, prints what it found, and gives the exit code.
"""

from __future__ import annotations

import ast
import contextlib
import difflib
import importlib.metadata
import inspect
import os
import pkgutil
import platform
import re
import sys
import tempfile
import textwrap
from argparse import Namespace
from collections.abc import Iterable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

from srcdiff.aot.files import current, meaning, read_head, write
from srcdiff.aot.job import Job, Wanted, target
from srcdiff.aot.verify import checked_text
from srcdiff.api.grad import all_stages
from srcdiff.backends.numba import cache
from srcdiff.cli.project import Project, Task, found_project, import_as_project
from srcdiff.driver.options import SPELLINGS
from srcdiff.errors import SrcdiffError, TargetError
from srcdiff.primitives.registry import Rule, builtin, is_builtin, load_rules, lookup, registry
from srcdiff.version import VERSION


class UsageError(SrcdiffError, ValueError):
    """A command that makes no sense."""


# --- what is printed, and in which colours -------------------------------------------------------


_DIFF = {"+": "32", "-": "31", "@": "36"}


def say(text: str) -> None:
    """A message on standard error."""
    print(text, file=sys.stderr)


def near(path: Path) -> str:
    """A path as it is seen from this folder, if it lies in it."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def in_colour(choice: str) -> bool:
    """Whether standard output takes colours: on a terminal, unless it is said otherwise."""
    if choice != "auto":
        return choice == "always"
    dumb = os.environ.get("TERM") == "dumb" or bool(os.environ.get("NO_COLOR"))
    return sys.stdout.isatty() and not dumb


def show_source(text: str, choice: str) -> None:
    """Print Python text, highlighted where Pygments is installed."""
    if in_colour(choice):
        try:
            from pygments import highlight
            from pygments.formatters import TerminalFormatter
            from pygments.lexers import PythonLexer
        except ImportError:
            if choice == "always":
                say("srcdiff: colours need Pygments: pip install 'srcdiff[report]'")
        else:
            text = highlight(text, PythonLexer(), TerminalFormatter())
    print(text.rstrip("\n"))


def show_diff(lines: Iterable[str], choice: str) -> None:
    """Print a unified diff."""
    colour = in_colour(choice)
    for line in lines:
        text, code = line.rstrip("\n"), _DIFF.get(line[:1])
        print(f"\033[{code}m{text}\033[0m" if colour and code else text)


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
    """The options of `srcdiff.aot.generate` in a command."""
    names = (*SPELLINGS, *(f.name for f in fields(Wanted)))
    found = {name: getattr(given, name) for name in names if hasattr(given, name)}
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
    job = Job(loaded(given), Wanted.of(options_of(given)))
    if given.output is None:
        sys.stdout.write(checked_text(job, given.verify))
    else:
        _write(job, Path(given.output), given.verify, given.force)
    return 0


def _write(job: Job, path: Path, verify: bool, force: bool) -> None:
    """Write a file, and say what happened."""
    new = write(path, checked_text(job, verify), force)
    say(f"{'wrote' if new else 'unchanged:'} {near(path)}")


def show(given: Namespace) -> int:
    """Print generated functions, without what they call."""
    job = Job(loaded(given), Wanted.of(options_of(given)))
    show_source(job.functions_text(), given.color)
    return 0


def stages(given: Namespace) -> int:
    """Print a function after every pass."""
    job = Job(loaded(given), Wanted.of(options_of(given)))
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
            "call of srcdiff.aot.generate, or give the example as text"
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
    new = checked_text(job, True) if given.verify else job.text()
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


# --- rules ---------------------------------------------------------------------------------------

_ROOTS = {"np": "numpy", "sp": "scipy"}
_SEARCHED = ("numpy", "numpy.linalg", "numpy.fft", "scipy.special", "scipy.linalg", "math")


def rules(given: Namespace) -> int:
    """Print the rule of a function, or how many there are of each module."""
    for path in given.rules:
        load_rules(path)
    if given.name is None:
        for line in _table():
            print(line)
        return 0
    function = _function(given.name)
    rule = None if function is None else lookup(function)
    if rule is None:
        raise TargetError(_unknown(given.name, function))
    print(f"# {given.name}: {_what(rule)}")
    text = _rule_text(rule)
    if text:
        show_source(text, given.color)
    return 0


def _what(rule: Rule) -> str:
    """What sort of rule it is, and whose."""
    told = {
        "nondifferentiable": "a derivative of zero, on purpose",
        "unsupported": f"refused. {rule.reason}",
        "composed": "made of other functions",
    }
    what = told.get(rule.flavour, f"a rule, {rule.flavour}")
    return what if is_builtin(rule) else f"{what} (yours)"


def _rule_text(rule: Rule) -> str:
    """The source of a rule."""
    if rule.expression:
        return _statement_of(rule.template or rule.definition)
    parts = (rule.template, rule.definition, rule.tangent)
    return "\n\n".join(inspect.getsource(p).rstrip() for p in parts if p is not None)


def _statement_of(made: Any) -> str:
    """The source of the statement that a lambda stands in."""
    lines, number = inspect.findsource(made)
    whole = ast.walk(ast.parse("".join(lines)))
    spans = [(n.lineno, n.end_lineno or 0) for n in whole if isinstance(n, ast.stmt)]
    first, last = max(span for span in spans if span[0] <= number + 1 <= span[1])
    return textwrap.dedent("".join(lines[first - 1 : last])).rstrip()


def _function(name: str) -> Any:
    """The function that a name means."""
    root, _, rest = name.partition(".")
    names = [f"{_ROOTS.get(root, root)}.{rest}"] if rest else [f"{m}.{name}" for m in _SEARCHED]
    return next((f for full in names if (f := _found(full)) is not None), None)


def _found(full: str) -> Any:
    """What a dotted name leads to, through modules that are installed."""
    with contextlib.suppress(ImportError, AttributeError):
        return pkgutil.resolve_name(full)
    return None


def _spellings() -> dict[str, Any]:
    """The functions with a rule, by name."""
    found: dict[str, Any] = {}
    for rule in registry().rules:
        for f in rule.functions:
            name, module = getattr(f, "__name__", ""), str(getattr(f, "__module__", "") or "numpy")
            if name and rule.flavour != "unsupported":
                prefix = {"numpy": "np"}.get(module, module.replace("numpy.", "np."))
                found[f"{prefix}.{name}"] = rule
    return found


def _unknown(name: str, function: Any) -> str:
    """What to say of a function without a rule."""
    known = _spellings()
    short = {n.rpartition(".")[2]: n for n in known}
    near = difflib.get_close_matches(name.rpartition(".")[2], short, 5, 0.6)
    what = "there is no function" if function is None else "there is no rule for"
    hint = f"\n  near: {', '.join(short[n] for n in near)}" if near else ""
    return f"{what} {name}{hint}"


def _table() -> Iterator[str]:
    """A line for each module that has differentiable functions."""
    groups: dict[str, set[str]] = {}
    for name in _spellings():
        module, _, last = name.rpartition(".")
        groups.setdefault(module, set()).add(last)
    for module in sorted(groups):
        if not module.startswith(("_", "srcdiff")):
            yield f"{module}: {len(groups[module])}"
    yield f"{len(registry().rules) - len(builtin().rules)} rules of yours"


# --- doctor --------------------------------------------------------------------------------------

_NEEDED = {"numpy": "2.0", "gast": "0.6", "astunparse": "1.6.3"}
_EXTRAS = {
    "scipy": ("scipy", "1.11", "for derivatives of what SciPy computes"),
    "numba": ("numba", "0.62", "for compile='numba', 'loops' and 'auto'"),
    "platformdirs": ("numba", "3", "for the folder of compiled modules"),
    "cupy": ("cupy", "13", "for arrays on a GPU"),
    "jinja2": ("report", "3.1", "for srcdiff report, and gradients in notebooks"),
    "pygments": ("report", "2.15", "for srcdiff report, and colours"),
    "tomli": ("cli", "2", "for --all, before Python 3.11"),
}
"""What may be installed: the extra that has it, the first version that does, what it is for."""


def doctor(given: Namespace) -> int:
    """Print what srcdiff runs on, what is missing, and what for; 1 if it cannot work so."""
    print(f"srcdiff {VERSION} ({Path(__file__).resolve().parent.parent})")
    print(f"Python {platform.python_version()} ({sys.executable}), {platform.platform()}")
    faults = 0
    for name, least in _NEEDED.items():
        found = _version(name)
        good = _is_recent(found, least)
        faults += not good
        print(f"{name}: {found}" + ("" if good else f"; srcdiff needs {least} or later"))
    for name, (extra, least, purpose) in _EXTRAS.items():
        if name != "tomli" or sys.version_info < (3, 11):
            found = _version(name)
            remedy = f"; {purpose}: pip install 'srcdiff[{extra}]', of {least} or later"
            print(f"{name}: {found}" + ("" if _is_recent(found, least) else remedy))
    print(f"GPU: {_gpu()}")
    print(f"compiled modules: {_kept_in()}")
    return int(bool(faults))


def _version(name: str) -> str:
    """The version of a package that can be imported."""
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        return f"not here ({error})" if not isinstance(error, ModuleNotFoundError) else "not here"
    return str(getattr(module, "__version__", "") or importlib.metadata.version(name))


def _is_recent(found: str, least: str) -> bool:
    """Whether a version is there, and not before another one."""
    have, want = ([int(n) for n in re.findall(r"\d+", v)[:3]] for v in (found, least))
    return found[:1].isdigit() and have >= want


def _kept_in() -> str:
    """Where modules that Numba compiles are kept for other processes, and whether they can be."""
    asked = os.environ.get(cache.FOLDER)
    if asked == "":
        return f"kept nowhere ({cache.FOLDER} is empty)"
    try:
        folder = cache.place(asked)
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return f"kept in {folder}"
    except (ImportError, OSError) as error:
        return (
            f"kept nowhere, each process compiles anew ({error}): set {cache.FOLDER} to a folder "
            "that can be written"
        )


def _gpu() -> str:
    """The first GPU that CuPy sees."""
    try:
        cupy: Any = importlib.import_module("cupy")
    except ImportError:
        return "not looked for (needs cupy)"
    try:
        count = cupy.cuda.runtime.getDeviceCount()
        name = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode() if count else "none"
        return f"{count} x {name}" if count else name
    except cupy.cuda.runtime.CUDARuntimeError as error:
        return f"none ({error})"


# --- report --------------------------------------------------------------------------------------


def report(given: Namespace) -> int:
    """Write the page that shows a function and its gradient, or the graph of its values."""
    from srcdiff.report import graph, page, picture

    options = options_of(given)
    f = loaded(given)
    if given.graph is None:
        return _put(page(f, **options), given.output)
    if given.graph and given.output:
        raise UsageError("report: give the file of the graph once, behind --graph or --output")
    file = given.graph or given.output
    dot = graph(f, **options)
    return _put(picture(dot) if file and file.endswith(".svg") else dot, file)


def _put(text: str, file: str | None) -> int:
    """Print a text, or write it into a file."""
    if file is None:
        print(text)
    else:
        Path(file).write_text(text, encoding="utf-8")
        say(f"wrote {file}")
    return 0
