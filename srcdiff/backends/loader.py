"""Generated source made to run, as functions that tracebacks, pdb and inspect can show.

Takes a text, what its global names stand for, and the user's lines that its lines come from; gives
the functions of the text.  A text is shown for as long as one of its functions lives.  Errors in it
name the line of the user's that its line comes from.
"""

from __future__ import annotations
import __future__

import itertools
import types
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

from srcdiff import texts
from srcdiff.errors import CotangentError, placed
from srcdiff.ir import GENERATED, Loc
from srcdiff.ir.frozen import frozen


@frozen(eq=False)
class Loaded:
    """The functions of a generated text by their names, and the text that is shown of them.

    `constants` are copies of what is `outside`, where compiled functions hold those instead; `file`
    is the one that the text stands in, if it does.  `held` are arrays outside that may be read.
    """

    functions: Mapping[str, Any]
    text: str
    outside: Mapping[str, Any] = field(default_factory=dict)
    constants: Mapping[str, Any] = field(default_factory=dict)
    file: Path | None = None
    held: tuple[tuple[str, Any], ...] = ()


_numbers = itertools.count(1)  # `next` on it is atomic


_places: dict[str, Mapping[int, Loc]] = {}


def compile_text(
    text: str,
    refs: Mapping[str, Any],
    name: str,
    origin: Callable[..., Any] | str | None = None,
    places: Mapping[int, Loc] | None = None,
) -> Callable[..., Any]:
    """The function called `name` of a generated text.

    `refs` are the global names that the text needs; `origin` is the function that it was
    generated from, or the module that it says to be of; `places` are the primal places of lines.
    """
    return compile_module(text, refs, name, origin, places)[name]  # type: ignore[no-any-return]


def compile_module(
    text: str,
    refs: Mapping[str, Any],
    title: str,
    origin: Callable[..., Any] | str | None = None,
    places: Mapping[int, Loc] | None = None,
    file: Path | None = None,
) -> dict[str, Any]:
    """The namespace of a generated text, which may stand in a file.

    All its functions see each other.
    """
    filename = f"{GENERATED}{title} {next(_numbers)}>" if file is None else str(file)
    # The text may hold the user's annotations, whose names need not be known here.
    flags = __future__.annotations.compiler_flag
    code = compile(text, filename, "exec", flags, dont_inherit=True)
    module = origin if isinstance(origin, str) else getattr(origin, "__module__", __name__)
    namespace: dict[str, Any] = {**refs, "__name__": module}
    exec(code, namespace)
    _places[filename] = places or {}
    _register(filename, text, namespace)
    return namespace


def place_in(filename: str, line: int) -> Loc | None:
    """The user's line that a line of a generated text comes from."""
    found = None
    while filename in _places:
        found = _places[filename].get(line)
        if found is None:
            return None
        filename, line = found.file, found.line
    return found


def _register(filename: str, text: str, namespace: Mapping[str, Any]) -> None:
    """Shows the text for as long as one of its functions lives."""
    texts.show(filename, text)
    for value in namespace.values():
        if type(value) is types.FunctionType and value.__code__.co_filename == filename:
            final = weakref.finalize(value, _forget, filename)
            final.atexit = False
            return


def _forget(filename: str) -> None:
    texts.forget(filename)
    _places.pop(filename, None)


# --- errors in generated code: the line of the user's that the generated one comes from ----------


def with_place(
    returns: Sequence[Loc] | None, run: Callable[..., Any], *args: Any, **kwargs: Any
) -> Any:
    """What something gives that runs generated functions; its errors name the user's line."""
    try:
        return run(*args, **kwargs)
    except Exception as error:
        add_place(error, returns)
        raise


_BY_ZERO = (
    "numbers of Python are not divided by zero: a derivative that is infinite there has its value "
    "where the argument is given as `np.float64(x)`"
)


def add_place(error: Exception, returns: Sequence[Loc] | None) -> None:
    """Add a note with the user's line to an error in generated code, from Python 3.11 on.

    `returns` are the lines that a cotangent which does not fit is about; None: it is any error.
    """
    if isinstance(error, CotangentError) and returns is not None:
        raise placed(error, returns) from None
    found = _place_of(error)
    if found is not None:
        text = texts.line_of(found.file, found.line).strip()
        add_note(error, f"in the derivative of {found.file}:{found.line}: {text}")
    if isinstance(error, ZeroDivisionError):
        add_note(error, _BY_ZERO)


def add_note(error: BaseException, note: str) -> None:
    """Add a note to an error that has it not yet, from Python 3.11 on."""
    if hasattr(error, "add_note") and note not in getattr(error, "__notes__", ()):
        error.add_note(note)


def _place_of(error: BaseException) -> Loc | None:
    """The user's line of the innermost generated one."""
    step, found = error.__traceback__, None
    while step is not None:
        file = step.tb_frame.f_code.co_filename
        texts.find(file)
        place = place_in(file, step.tb_lineno)
        found = found if place is None else place
        step = step.tb_next
    return found
