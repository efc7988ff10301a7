"""The commands and their options."""

from __future__ import annotations

import argparse
from typing import Any

from srcdiff.cli import commands
from srcdiff.version import VERSION

_TARGET = "pkg.mod:function, path/to/file.py:function, or pkg.mod:Class.method"


def parser() -> argparse.ArgumentParser:
    """The parser of the command line."""
    top = argparse.ArgumentParser(
        "srcdiff", description="Gradients of NumPy functions, as NumPy source.",
        epilog="Exit codes: 0 done, 1 stale or wrong, 2 refused.",
    )  # fmt: skip
    top.add_argument("--version", action="version", version=f"srcdiff {VERSION}")
    subs = top.add_subparsers(dest="command", required=True, metavar="command")
    _generate(subs)
    _show(subs)
    _check(subs)
    _stages(subs)
    _report(subs)
    _rules(subs)
    doctor = subs.add_parser("doctor", help="print versions, extras and backends")
    doctor.set_defaults(run=commands.doctor)
    return top


def _generate(subs: Any) -> None:
    """`srcdiff generate`."""
    sub = subs.add_parser("generate", help="write a derivative as a file of its own")
    _target(sub, optional=True)
    _derivative(sub)
    sub.add_argument("-o", "--output", metavar="FILE", help="the file (default: print it)")
    sub.add_argument("--split", action="store_true", help="forward and backward part apart")
    sub.add_argument("--inline", action="store_true", help="copy functions of yours as well")
    sub.add_argument("--no-checks", action="store_true", help="leave out checks of arguments")
    sub.add_argument("--verify", action="store_true", help="compare with differences first")
    sub.add_argument("--force", action="store_true", help="write over a file edited since")
    _all(sub, "write all files that [tool.srcdiff] names")
    sub.set_defaults(run=commands.generate)


def _show(subs: Any) -> None:
    """`srcdiff show`."""
    sub = subs.add_parser("show", help="print the source of a derivative")
    _target(sub)
    _derivative(sub)
    sub.add_argument("--split", action="store_true", help="forward and backward part apart")
    _colour(sub)
    sub.set_defaults(run=commands.show)


def _check(subs: Any) -> None:
    """`srcdiff check`."""
    sub = subs.add_parser("check", help="compare generated files with what would be written now")
    sub.add_argument("files", nargs="*", metavar="FILE", help="generated files")
    _all(sub, "check all files that [tool.srcdiff] names")
    sub.add_argument("--verify", action="store_true", help="compare with differences, too")
    sub.add_argument("--rules", action="append", default=[], metavar="FILE", help=_RULES)
    _colour(sub)
    sub.set_defaults(run=commands.check)


def _stages(subs: Any) -> None:
    """`srcdiff stages`."""
    sub = subs.add_parser("stages", help="print a function after every pass of the compiler")
    _target(sub)
    _basic(sub)
    sub.add_argument("--pass", dest="label", metavar="NAME", help="only after this one")
    sub.set_defaults(run=commands.stages)


def _report(subs: Any) -> None:
    """`srcdiff report`."""
    sub = subs.add_parser("report", help="write a page that shows a function and its gradient")
    _target(sub)
    _basic(sub)
    sub.add_argument("-o", "--output", metavar="FILE", help="the page (default: print it)")
    sub.add_argument("--graph", nargs="?", const="", metavar="FILE", help="instead a graph of "
                     "values: a picture in a file .svg (needs Graphviz), else a text (DOT)")
    sub.set_defaults(run=commands.report)


def _rules(subs: Any) -> None:
    """`srcdiff rules`."""
    sub = subs.add_parser("rules", help="print what is differentiable, or the rule of a function")
    sub.add_argument("name", nargs="?", help="a function: np.tanh, scipy.special.erf, tanh")
    sub.add_argument("--rules", action="append", default=[], metavar="FILE", help=_RULES)
    _colour(sub)
    sub.set_defaults(run=commands.rules)


# --- options of several commands -----------------------------------------------------------------

_RULES = "rules of yours: a file or a folder of templates"


def _target(sub: Any, optional: bool = False) -> None:
    sub.add_argument("target", nargs="?" if optional else None, help=_TARGET)


def _basic(sub: Any) -> None:
    """What every derivative can be asked for."""
    sub.add_argument("--inputs", nargs="+", metavar="NAME", default=["0"],
                     help="parameters by name, position or path (default: the first; `w,`: "
                     "the gradients as a tuple of one)")
    sub.add_argument("--outputs", nargs="+", metavar="KEY", help="positions or keys of the value, "
                     "or a parameter that is written into")
    sub.add_argument("--example", metavar="ARGS", help="arguments to specialise on, as Python: "
                     "'np.ones(3), 2.0', or names of the module")
    sub.add_argument("--allow-unused", action="store_true", help="None for unused inputs")
    sub.add_argument("--materialize-grads", action="store_true", help="zeros for unused inputs")
    sub.add_argument("--has-aux", action="store_true", help="the function returns (output, aux)")
    sub.add_argument("--strong-zeros", action="store_true",
                     help="zero cotangents stay zero through infinite derivatives")
    sub.add_argument("--rules", action="append", default=[], metavar="FILE", help=_RULES)
    sub.add_argument("--mode", choices=("reverse", "forward"), default="reverse",
                     help="gradients, or derivatives along a direction")
    sub.add_argument("--order", type=int, default=1, metavar="N",
                     help="2 for second derivatives (forward: Hessian-vector products)")


def _derivative(sub: Any) -> None:
    """What a generated text can be."""
    _basic(sub)
    sub.add_argument("--value", action="store_true", help="return the value as well")
    sub.add_argument("--name", help="the name of the function")
    sub.add_argument("--backend", choices=("numpy", "cupy"), default="numpy",
                     help="for arrays of which module")
    sub.add_argument("--compile", choices=("numba",), help="functions that Numba compiles")


def _all(sub: Any, what: str) -> None:
    sub.add_argument("--all", action="store_true", help=what)
    sub.add_argument("--project", metavar="FILE", help="the pyproject.toml for --all")


def _colour(sub: Any) -> None:
    sub.add_argument("--color", choices=("auto", "always", "never"), default="auto",
                     help="colours (default: on a terminal)")
