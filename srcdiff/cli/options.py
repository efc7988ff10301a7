"""The commands and their options."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from srcdiff.cli import commands
from srcdiff.version import VERSION

Option = tuple[tuple[str, ...], dict[str, Any]]


def parser() -> argparse.ArgumentParser:
    """The parser of the command line."""
    top = argparse.ArgumentParser(
        "srcdiff", description="Gradients of NumPy functions, as NumPy source.",
        epilog="Exit codes: 0 done, 1 stale or wrong, 2 refused.",
    )  # fmt: skip
    top.add_argument("--version", action="version", version=f"srcdiff {VERSION}")
    subs = top.add_subparsers(dest="command", required=True, metavar="command")
    for name, (said, options) in _COMMANDS.items():
        sub = subs.add_parser(name, help=said)
        for names, more in options:
            sub.add_argument(*names, **more)
        sub.set_defaults(run=getattr(commands, name))
    return top


def _option(*names: str, **more: Any) -> Option:
    """An option as `argparse` takes it."""
    return names, more


def _flag(name: str, said: str) -> Option:
    """An option that is given or not."""
    return _option(name, action="store_true", help=said)


# --- options of several commands -----------------------------------------------------------------

_TARGET = {"help": "pkg.mod:function, path/to/file.py:function, or pkg.mod:Class.method"}
_RULES = _option("--rules", action="append", default=[], metavar="FILE",
                 help="rules of yours: a file or a folder of templates")
_PROJECT = _option("--project", metavar="FILE", help="the pyproject.toml for --all")
_SPLIT = _flag("--split", "forward and backward part apart")
_COLOUR = _option("--color", choices=("auto", "always", "never"), default="auto",
                  help="colours (default: on a terminal)")
_BASIC = (
    _option("--inputs", nargs="+", metavar="NAME", default=["0"],
            help="parameters by name, position or path (default: the first; `w,`: "
            "the gradients as a tuple of one)"),
    _option("--outputs", nargs="+", metavar="KEY", help="positions or keys of the value, "
            "or a parameter that is written into"),
    _option("--example", metavar="ARGS", help="arguments to specialise on, as Python: "
            "'np.ones(3), 2.0', or names of the module"),
    _option("--unused", choices=("error", "none", "zeros"),
            help="what becomes of inputs that no output depends on (default: error)"),
    _option("--allow-unused", action="store_const", const=True, help="the same as --unused none"),
    _flag("--materialize-grads", "the same as --unused zeros"),
    _flag("--has-aux", "the function returns (output, aux)"),
    _flag("--strong-zeros", "zero cotangents stay zero through infinite derivatives"),
    _RULES,
    _option("--mode", choices=("reverse", "forward"), default="reverse",
            help="gradients, or derivatives along a direction"),
    _option("--order", type=int, default=1, metavar="N",
            help="2 for second derivatives (forward: Hessian-vector products)"),
)  # fmt: skip
"""What every derivative can be asked for."""

_DERIVATIVE = (
    *_BASIC,
    _flag("--value", "return the value as well"),
    _option("--name", help="the name of the function"),
    _option("--backend", choices=("numpy", "cupy"), default="numpy",
            help="for arrays of which module"),
    _option("--compile", choices=("numba", "cupy"),
            help="functions that Numba compiles, or kernels for arrays of CuPy"),
    _flag("--strict", "loops stay loops, and what is compiled rounds as NumPy does, or is refused"),
)  # fmt: skip
"""What a generated text can be."""

_ANY = _flag("--any", "without an example, for numbers and arrays of any rank")
_COMMANDS: Mapping[str, tuple[str, tuple[Option, ...]]] = {
    "generate": ("write a derivative as a file of its own", (
        _option("target", nargs="?", **_TARGET), *_DERIVATIVE,
        _option("-o", "--output", metavar="FILE", help="the file (default: print it)"),
        _SPLIT,
        _ANY,
        _flag("--inline", "copy functions of yours as well"),
        _option("--no-checks", dest="checks", action="store_false",
                help="leave out checks of arguments"),
        _flag("--verify", "compare with differences first"),
        _flag("--force", "write over a file edited since"),
        _flag("--all", "write all files that [tool.srcdiff] names"), _PROJECT,
    )),
    "show": ("print the source of a derivative", (
        _option("target", **_TARGET), *_DERIVATIVE, _SPLIT, _ANY, _COLOUR,
    )),
    "check": ("compare generated files with what would be written now", (
        _option("files", nargs="*", metavar="FILE", help="generated files"),
        _flag("--all", "check all files that [tool.srcdiff] names"), _PROJECT,
        _flag("--verify", "compare with differences, too"), _RULES, _COLOUR,
    )),
    "stages": ("print a function after every pass of the compiler", (
        _option("target", **_TARGET), *_BASIC,
        _option("--pass", dest="label", metavar="NAME", help="only after this one"),
    )),
    "report": ("write a page that shows a function and its gradient", (
        _option("target", **_TARGET), *_BASIC,
        _option("-o", "--output", metavar="FILE", help="the page (default: print it)"),
        _option("--graph", nargs="?", const="", metavar="FILE", help="instead a graph of "
                "values: a picture in a file .svg (needs Graphviz), else a text (DOT)"),
    )),
    "rules": ("print what is differentiable, or the rule of a function", (
        _option("name", nargs="?", help="a function: np.tanh, scipy.special.erf, tanh"),
        _RULES, _COLOUR,
    )),
    "doctor": ("print versions, and what is missing and what for", ()),
}  # fmt: skip
