"""The user's own line that an error or a refusal names.

For an error in generated code it is the line that the generated one comes from, as a note; for a
refusal in a package that the function calls, the line that leads there.
"""

from __future__ import annotations

import sys
import types
from typing import Any

from srcdiff import ir
from srcdiff.backends.loader import place_in
from srcdiff.errors import TransformError
from srcdiff.ir import Loc
from srcdiff.runtime import records
from srcdiff.specialize.inline import lowered
from srcdiff.texts import find, line_of

_BY_ZERO = (
    "numbers of Python are not divided by zero: a derivative that is infinite there has its value "
    "where the argument is given as `np.float64(x)`"
)


def add_place(error: BaseException) -> None:
    """Add a note with the user's line to an error in generated code, from Python 3.11 on."""
    found = _place_of(error)
    if found is not None:
        text = line_of(found.file, found.line).strip()
        _add(error, f"in the derivative of {found.file}:{found.line}: {text}")
    if isinstance(error, ZeroDivisionError):
        _add(error, _BY_ZERO)


def _add(error: BaseException, note: str) -> None:
    if hasattr(error, "add_note") and note not in getattr(error, "__notes__", ()):
        error.add_note(note)


def _place_of(error: BaseException) -> Loc | None:
    """The user's line of the innermost generated one."""
    step, found = error.__traceback__, None
    while step is not None:
        file = step.tb_frame.f_code.co_filename
        find(file)
        place = place_in(file, step.tb_lineno)
        found = found if place is None else place
        step = step.tb_next
    return found


# --- refusals in packages that the function calls -------------------------------------------------


_MOST = 400
"""How many functions are looked through."""


def add_caller(error: TransformError, f: Any) -> None:
    """Let a refusal in another package name the line of the user's that leads there."""
    loc = error.loc
    if not isinstance(f, types.FunctionType) or not isinstance(loc, ir.Loc) or loc.line <= 0:
        return
    if loc.file.startswith(ir.GENERATED) or _is_own(loc.file, f):
        return
    own = [step for step in _steps(f, loc, set()) or () if _is_own(step.file, f)]
    if own:
        text = line_of(own[-1].file, own[-1].line).strip()
        said = f"Called from your line {own[-1].file}:{own[-1].line}: {text}"
        error.remedy = "\n".join(filter(None, (error.remedy, said)))
        error.args = error.reason, loc, error.remedy, error.line


def _is_own(file: str, f: types.FunctionType) -> bool:
    """Whether a file is that of a function, or of its package."""
    package = sys.modules.get(str(f.__module__).partition(".")[0])
    folders = getattr(package, "__path__", ())
    return file == f.__code__.co_filename or any(file.startswith(str(p)) for p in folders)


def _steps(f: types.FunctionType, loc: ir.Loc, seen: set[Any]) -> tuple[ir.Loc, ...] | None:
    """The calls that lead from a function to a line; None if none are found."""
    lines = [line for *_, line in f.__code__.co_lines() if line]
    if f.__code__.co_filename == loc.file and min(lines) <= loc.line <= max(lines):
        return ()
    if f in seen or len(seen) >= _MOST:
        return None
    seen.add(f)
    function = lowered(f)
    for stmt in () if function is None else ir.walk(function.body):
        call = ir.call_of(stmt)
        callee = None if call is None else _python_function(call.fn)
        rest = None if callee is None else _steps(callee, loc, seen)
        if rest is not None:
            return (stmt.loc, *rest)
    return None


def _python_function(fn: Any) -> types.FunctionType | None:
    """The Python function that a call runs, if that can be told."""
    made = records.member(fn, "__init__") if isinstance(fn, type) else fn
    fn = getattr(made, "__func__", made)
    return fn if isinstance(fn, types.FunctionType) else None
