"""`srcdiff rules`, `doctor` and `report`."""

from __future__ import annotations

import difflib
import importlib
import importlib.metadata
import platform
import sys
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from srcdiff.cli.commands import UsageError, loaded, options_of
from srcdiff.cli.terminal import say, show_source
from srcdiff.errors import TargetError
from srcdiff.primitives.registry import Rule, builtin, is_builtin, load_rules, lookup, registry
from srcdiff.version import VERSION

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
    text = _text(rule)
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


def _text(rule: Rule) -> str:
    """The source of a rule."""
    import inspect

    parts = (rule.template, rule.definition, rule.tangent)
    return "\n\n".join(inspect.getsource(p).rstrip() for p in parts if p is not None)


def _function(name: str) -> Any:
    """The function that a name means."""
    root, _, rest = name.partition(".")
    names = [f"{_ROOTS.get(root, root)}.{rest}"] if rest else [f"{m}.{name}" for m in _SEARCHED]
    return next((f for full in names if (f := _found(full)) is not None), None)


def _found(full: str) -> Any:
    """What a dotted name leads to, through modules that are installed."""
    parts = full.split(".")
    for k in range(len(parts) - 1, 0, -1):
        try:
            found: Any = importlib.import_module(".".join(parts[:k]))
        except ImportError:
            continue
        for part in parts[k:]:
            found = getattr(found, part, None)
        return found
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

_PACKAGES = ("numpy", "gast", "astunparse", "scipy", "numba", "cupy", "jinja2", "pygments")


def doctor(given: Namespace) -> int:
    """Print what srcdiff runs on."""
    print(f"srcdiff {VERSION} ({Path(__file__).resolve().parent.parent})")
    print(f"Python {platform.python_version()} ({sys.executable}), {platform.platform()}")
    for name in _PACKAGES:
        print(f"{name}: {_version(name)}")
    print(f"GPU: {_gpu()}")
    return 0


def _version(name: str) -> str:
    """The version of a package that can be imported."""
    try:
        module = importlib.import_module(name)
    except ImportError as error:
        return f"not here ({error})" if not isinstance(error, ModuleNotFoundError) else "not here"
    return str(getattr(module, "__version__", "") or importlib.metadata.version(name))


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
