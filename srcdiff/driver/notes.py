"""Notes of errors in generated code: the line of the user's that the generated one comes from."""

from __future__ import annotations

from srcdiff.backends.numpy import place_in
from srcdiff.ir import Loc
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
