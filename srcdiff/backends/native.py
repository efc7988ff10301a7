"""Generated functions compiled by Numba: what is asked of them, and what Numba says of them.

The text is that for NumPy, with a decorator: Numba compiles it or it is refused, with the line of
the user's that Numba does not take.  Nothing runs uncompiled.
"""

from __future__ import annotations

import importlib
import re
import types
from collections.abc import Iterator, Mapping
from typing import Any

from srcdiff import ir, trees
from srcdiff.analyses.kind_types import Array, Callable, Dict, Kind, List, Object, Scalar, inside
from srcdiff.analyses.kinds import infer
from srcdiff.errors import ExtraError, UnsupportedError
from srcdiff.ir import Loc
from srcdiff.pipeline import Made

DECORATOR = "@numba.njit(cache=True, boundscheck=True)"
"""Without the check an index out of bounds reads whatever stands there."""

_DTYPES = ("float64", "complex128", "int64", "bool")
_REMEDY = "Leave out compile='numba' (--compile), or write this line with what Numba compiles."
_OTHERS = f"Use arrays of {', '.join(_DTYPES)}, or leave out compile='numba' (--compile)."
_NOISE = ("Failed in ", "During: ", "File ", "There are ", "Of which ", "Overload ", "Known sig")


def decorated(text: str) -> str:
    """A text whose functions Numba compiles when they are called."""
    return re.sub(r"^def ", f"{DECORATOR}\ndef ", text, flags=re.M)


# --- what is refused before Numba sees it --------------------------------------------------------


def numba() -> Any:
    """Numba.

    Raises:
        ExtraError: it is not installed.
    """
    try:
        return importlib.import_module("numba")
    except ImportError as error:
        raise ExtraError(
            f"compile='numba' needs Numba ({error}): pip install 'srcdiff[numba]'"
        ) from None


def check(made: Made) -> None:
    """Refuse what Numba would not compile, or compile to something else than NumPy does.

    Raises:
        UnsupportedError: with the place, and the value or the helper.
    """
    refs = made.emitted.refs.values()
    helpers = [f for f in refs if getattr(f, "__module__", "") == trees.__name__]
    for function, params in made.functions:
        kinds = {**params, **infer(function, params)}
        for name, kind in kinds.items():
            reason = _refused(kind, name in params)
            if reason:
                raise UnsupportedError(f"`{name}` is {reason}", function.loc, _OTHERS)
        for stmt in ir.walk(function.body):
            call = ir.call_of(stmt)
            if call is not None and call.fn in helpers:
                _check_helper(call, kinds, stmt.loc if stmt.loc.line else function.loc)


def _check_helper(call: ir.Call, kinds: Mapping[str, Kind], loc: Loc) -> None:
    """Refuse a call of a helper for containers."""
    like = call.args[-1]
    is_array = isinstance(kinds.get(like.id) if isinstance(like, ir.Name) else None, Array)
    if call.fn is trees.cotangent:
        if not is_array:
            raise UnsupportedError(
                "Numba does not take cotangents of several outputs", loc,
                "Select one (outputs=0, --outputs 0), or leave out compile='numba' (--compile).",
            )  # fmt: skip
    elif call.fn is not trees.where_nonzero and not (call.fn is trees.like_tree and is_array):
        name = getattr(call.fn, "__name__", "")
        raise UnsupportedError(
            f"the derivative calls `{name}`, which Numba does not compile", loc, _REMEDY
        )


def _refused(kind: Kind, is_param: bool) -> str:
    """Why Numba is not given a value of a kind: of numbers of these NumPy makes others."""
    if is_param and isinstance(kind, (List, Dict, Object, Callable)):
        return f"a {type(kind).__name__.lower()}: Numba takes numbers, arrays and tuples"
    wrong = [dtype for dtype in _dtypes(kind) if dtype not in _DTYPES]
    what = "which Numba turns into others where NumPy does not"
    return f"of dtype {wrong[0]}, {what}" if wrong else ""


def _dtypes(kind: Kind) -> Iterator[str]:
    """The dtypes of the numbers and arrays in a value."""
    if isinstance(kind, (Array, Scalar)) and kind.dtype is not None:
        yield kind.dtype
    for part in inside(kind):
        yield from _dtypes(part)


# --- compiling -----------------------------------------------------------------------------------


def compiled(function: Any) -> Any:
    """The function that Numba compiles, behind what checks its arguments."""
    while not hasattr(function, "get_call_template"):
        function = function.__wrapped__
    return function


def compile_for(function: Any, given: tuple[Any, ...]) -> Any:
    """Compile a decorated function for arguments of some Numba types; the type that it returns."""
    _, _, args, _ = function.get_call_template(given, {})
    return function.overloads[tuple(args)].signature.return_type


def types_of(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """The Numba types of some arguments."""
    return tuple(numba().typeof(v) for v in values)


def retell(error: Exception, function: Any, places: Mapping[int, Loc]) -> None:
    """Raise what Numba says of a text at the line of the user's that it means.

    Its errors have no base in common.

    Raises:
        UnsupportedError: the error is one of Numba's.
    """
    if type(error).__module__.split(".")[0] != "numba":
        return
    code = _python(function).__code__
    text = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    lines = re.findall(rf'File "{re.escape(code.co_filename)}", line (\d+)', text)
    own = getattr(getattr(error, "loc", None), "line", 0)
    place = next((places[n] for n in [*map(int, lines), own] if n in places), None)
    raise UnsupportedError(
        f"Numba does not compile this: {_said(text)}", place, _REMEDY
    ) from None


def _python(function: Any) -> types.FunctionType:
    """The Python function behind a decorated one."""
    found: types.FunctionType = getattr(function, "py_func", function)
    return found


def _said(text: str) -> str:
    """The sentence of Numba's message that says what is wrong."""
    text = re.sub(r"Function\((.*?)\)", r"\1", text)
    text = re.sub(r"<[\w ]*?(\w+)(?: at 0x\w+)?>", r"\1", text)
    rows = (row.strip(" >") for row in text.splitlines())
    said = [row for row in rows if row and not row.startswith(_NOISE) and set(row) != {"^"}]
    count = 2 if said and said[0].endswith(":") else 1
    return " ".join(said[:count]).rstrip(". :") if said else "no reason is given"
