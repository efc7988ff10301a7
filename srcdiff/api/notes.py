"""Notes of errors in generated code: the line of the user's that the generated one comes from."""

from __future__ import annotations

from srcdiff.backends.numpy import place_in
from srcdiff.texts import find, line_of


def add_place(error: BaseException) -> None:
    """Add a note with the user's line to an error in generated code, from Python 3.11 on."""
    add_note = getattr(error, "add_note", None)
    step, found = error.__traceback__, None
    while step is not None:  # the innermost generated line counts
        file = step.tb_frame.f_code.co_filename
        find(file)
        place = place_in(file, step.tb_lineno)
        found = found if place is None else place
        step = step.tb_next
    if add_note is None or found is None:
        return
    text = line_of(found.file, found.line).strip()
    note = f"in the derivative of {found.file}:{found.line}: {text}"
    if note not in getattr(error, "__notes__", ()):
        add_note(note)
