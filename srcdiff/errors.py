"""The errors: each derives from `SrcdiffError` and from the builtin that torch raises.

Tracebacks of refusals have the frames of the user, and none of the compiler's.  `entry` marks what
users call.  An error that is raised on purpose leaves it without the frames, and without the
errors, that it came through; `SRCDIFF_TRACEBACK=full` in the environment keeps them.
"""

from __future__ import annotations

import ast
import contextlib
import copy
import functools
import inspect
import math
import os
import re
import sys
import traceback
import types
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, ParamSpec, Protocol, TypeVar

from srcdiff.texts import line_of

__all__ = [
    "AnomalyError", "CotangentError", "CotangentTypeError", "DtypeError", "EmptyInputsError",
    "ExtraError", "GradcheckError", "HeadError", "InternalError", "MissingRuleError",
    "ReleasedError", "SavedValueError", "SrcdiffError", "StaleError", "StaleWarning",
    "TargetError", "TransformError", "UncompiledWarning", "UnsupportedError", "UnusedInputError",
    "UnverifiedWarning", "ValidationError", "WrongDerivativeError",
]  # fmt: skip

E = TypeVar("E", bound="SrcdiffError")

_NONE: Mapping[str, Any] = MappingProxyType({})


class Place(Protocol):
    """A location in the user's source, as `ir.Loc` has it (line and column from 1)."""

    @property
    def file(self) -> str:
        """The file's name."""

    @property
    def line(self) -> int:
        """The line, from 1; 0 if unknown."""

    @property
    def col(self) -> int:
        """The column, from 1; 0 if unknown."""


class SrcdiffError(Exception):
    """The base of every error that srcdiff raises on purpose."""


class TransformError(SrcdiffError, RuntimeError):
    """A derivative cannot be generated: where, why, and what to do about it."""

    def __init__(
        self, reason: str, loc: Place | None = None, remedy: str = "", line: str | None = None
    ) -> None:
        if line is None and loc is not None and loc.line > 0:
            line = line_of(loc.file, loc.line)
        super().__init__(reason, loc, remedy, line)
        self.reason = reason
        self.loc = loc
        self.remedy = remedy
        self.line = line

    def __str__(self) -> str:
        """The reason under its place, the source line with a caret, and the remedy."""
        column = _column(self.line, self.loc)
        parts = [_where(self.loc, column) + self.reason, *_excerpt(self.line, column)]
        parts += [f"  {text}" for text in self.remedy.splitlines()]
        return "\n".join(parts)


def _column(line: str | None, loc: Place | None) -> int:
    """The column of a place; where none is known, that of the first word of its line."""
    if loc is None or loc.col > 0 or loc.line <= 0 or not line or not line.strip():
        return 0 if loc is None else loc.col
    return len(line) - len(line.lstrip()) + 1


def _where(loc: Place | None, column: int) -> str:
    """The prefix `file:line:col: `, as far as it is known."""
    if loc is None or loc.line <= 0:
        return ""
    return f"{loc.file}:{loc.line}{f':{column}' if column > 0 else ''}: "


def _excerpt(line: str | None, column: int) -> list[str]:
    """The source line, and a caret under its column."""
    if not line or not line.strip():
        return []
    text = line.strip()
    if column <= 0:
        return [f"    {text}"]
    before = line[: column - 1].lstrip()
    # Tabs are kept, so that the caret stands right however wide they are shown.
    return [f"    {text}", "    " + "".join("\t" if c == "\t" else " " for c in before) + "^"]


class UnsupportedError(TransformError, NotImplementedError):
    """The source uses something that srcdiff cannot differentiate (yet)."""


class MissingRuleError(UnsupportedError):
    """A function is called with active arguments, and no rule says what its derivative is."""


class EmptyInputsError(TransformError, ValueError):
    """No input is named."""

    def __init__(self) -> None:
        super().__init__(
            "`inputs` argument to `grad()` cannot be empty: grad requires non-empty inputs."
        )


class UnusedInputError(TransformError):
    """No differentiable path leads from an input to a selected output."""


@functools.cache
def refusals() -> Mapping[str, Sequence[str]]:
    """The table of refusals by name: the reason, the remedy, and a row of `docs/limits.md`.

    What is in braces is filled in where it is raised.  Some have a row alone: their message stands
    where they are raised.
    """
    blocks = (_PACKAGE / "refusals.txt").read_text(encoding="utf-8").split("\n\n")
    return {name: lines for name, *lines in map(str.splitlines, blocks)}


def refused(
    name: str, loc: Place | None, cls: type[TransformError] = UnsupportedError, /, **fields: Any
) -> TransformError:
    """The error of an entry of the table of refusals."""
    lines = (line for line in refusals()[name] if not line.startswith("| "))
    reason, *remedy = (line.format(**fields) for line in lines)
    return cls(reason, loc, "\n".join(remedy))


class CotangentError(SrcdiffError, RuntimeError, ValueError):
    """`grad_outputs` does not fit the output."""


def placed(error: E, places: Sequence[Place]) -> E:
    """An error of a call with the lines that it is about: those that return an output, a `def`."""
    lines = [error.args[0]]
    for loc in places:
        if "\n" not in lines[0] and loc.line > 0:
            text = line_of(loc.file, loc.line)
            column = _column(text, loc)
            lines += [f"  {_where(loc, column)}{text.strip()}".rstrip(), *_under(text, loc, column)]
    return type(error)("\n".join(lines))


def _under(line: str, loc: Place, column: int) -> list[str]:
    """A caret under the column of a line that stands behind its place."""
    shown = _excerpt(line, column)[1:]
    return ["  " + " " * len(_where(loc, column)) + caret[4:] for caret in shown]


class CotangentTypeError(CotangentError, TypeError):
    """`grad_outputs` is of a wrong type."""


class DtypeError(SrcdiffError, RuntimeError, TypeError):
    """A value of this dtype has no derivative."""


class ReleasedError(SrcdiffError, RuntimeError):
    """The residuals of a run have been freed already."""


class SavedValueError(SrcdiffError, RuntimeError, TypeError):
    """A hook of `saved_hooks` did not give an array back."""


class AnomalyError(SrcdiffError, RuntimeError, FloatingPointError):
    """An adjoint is nan or infinite.

    Attributes: `file`, `line` and `col` of the primal (line and column from 1), `text` of that
    line, `variable` whose adjoint it is (None for an intermediate result), and `counters`, the
    values of the loop variables by name.
    """

    def __init__(
        self, message: str, place: str = "", name: str = "", counters: Mapping[str, Any] = _NONE
    ) -> None:
        super().__init__(message)
        found = re.match(r"(.*?):(\d+):(\d+): (.*)", place, re.DOTALL)
        file, line, col, text = found.groups() if found else ("", "0", "0", place)
        self.file, self.line, self.col, self.text = str(file), int(line), int(col), str(text)
        self.variable = name.replace("`", "") if name.startswith("`") else None
        self.counters = dict(counters)


class GradcheckError(SrcdiffError, RuntimeError):
    """A derivative does not agree with differences."""


class WrongDerivativeError(SrcdiffError, RuntimeError):
    """A derivative is not that of its function, as `verify` found at the first call.

    Attributes: `input` is what it is a derivative by, as text, `at` the value of that, `direction`
    the direction along which it was compared, `found` the derivative along it, `expected` what it
    should be.
    """

    def __init__(
        self,
        message: str,
        input: str = "",
        at: Any = None,
        direction: Any = None,
        found: float = math.nan,
        expected: float = math.nan,
    ) -> None:
        super().__init__(message, input, at, direction, found, expected)
        self.input, self.at, self.direction = input, at, direction
        self.found, self.expected = found, expected

    def __str__(self) -> str:
        """The message."""
        return str(self.args[0])


class UnverifiedWarning(UserWarning):
    """A derivative was not held against its function, or says nothing there: with the reason."""


class TargetError(SrcdiffError, LookupError):
    """A name leads to no function."""


class HeadError(SrcdiffError, ValueError):
    """A file was not written by srcdiff, or has been changed since."""


class StaleError(SrcdiffError, RuntimeError):
    """A generated file is not what would be generated now."""


class StaleWarning(UserWarning):
    """A generated file is not what would be generated now, so the derivative was made anew."""


class UncompiledWarning(RuntimeWarning):
    """With `compile="auto"`: NumPy runs a derivative that Numba does not compile."""


class ExtraError(SrcdiffError, ImportError):
    """A package is not installed that only a part of srcdiff needs."""


class InternalError(SrcdiffError, AssertionError):
    """A pass of srcdiff broke an invariant: a bug of srcdiff, never of the user's code."""

    def __init__(self, message: str, statement: Any = None) -> None:
        super().__init__(message, statement)
        self.message = message
        self.statement = statement

    def __str__(self) -> str:
        """The message and the statement that breaks the invariant."""
        if self.statement is None:
            return self.message
        return f"{self.message}: {self.statement!r}"


class ValidationError(SrcdiffError, RuntimeError):
    """A pass of srcdiff changed what a program computes: a bug of srcdiff, found while it looked.

    Attributes: `step` is the pass, `function` the function, `loc` the place of the first statement
    that computes something else, `before` and `after` what was computed, as text.
    """

    def __init__(self, step: str, function: str, loc: Place, before: str, after: str) -> None:
        super().__init__(step, function, loc, before, after)
        self.step, self.function, self.loc = step, function, loc
        self.before, self.after = before, after

    def __str__(self) -> str:
        """What happened where, both values, and what to do."""
        line = line_of(self.loc.file, self.loc.line) if self.loc.line > 0 else ""
        column = _column(line, self.loc)
        lines = [
            f"the pass `{self.step}` of srcdiff changes what `{self.function}` computes",
            *(f"  {text}" for text in (_where(self.loc, column).rstrip(), *_excerpt(line, column))),
            f"  before it: {self.before}",
            f"  after it:  {self.after}",
            "  This is a mistake of srcdiff, not of your program: do not trust this derivative.",
            "  Please report it with this message, the function and the arguments of this call.",
            "  Without SRCDIFF_VALIDATE=1 nothing looks for it, and the derivative may be wrong.",
        ]
        return "\n".join(text for text in lines if text.strip())


# --- tracebacks of refusals: the frames of the user, and none of the compiler's ------------------


P = ParamSpec("P")
R = TypeVar("R")

_PACKAGE = Path(__file__).parent
_FOLDERS = (f"{_PACKAGE}{os.sep}", f"{_PACKAGE.parent / 'templates'}{os.sep}")
_BETWEEN = frozenset(m.__file__ for m in (ast, contextlib, copy, functools, inspect))
"""Files of Python's own that the compiler passes through."""


def entry(f: Callable[P, R]) -> Callable[P, R]:
    """What users call: its refusals are raised from here."""

    @functools.wraps(f)
    def called(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return f(*args, **kwargs)
        except SrcdiffError as error:
            if is_whole(error):
                raise
            raise shortened(error) from None  # SRCDIFF_TRACEBACK=full shows all

    return called


def is_whole(error: SrcdiffError) -> bool:
    """Whether an error keeps all its frames: as asked for, or as a bug of ours."""
    return isinstance(error, InternalError) or os.environ.get("SRCDIFF_TRACEBACK") == "full"


def shortened(error: SrcdiffError) -> SrcdiffError:
    """An error with the frames of the user alone."""
    return error.with_traceback(_without_ours(error.__traceback__))


def _without_ours(step: types.TracebackType | None) -> types.TracebackType | None:
    """A traceback without the frames of the compiler."""
    kept = []
    while step is not None:
        if not _is_ours(step):
            kept.append(step)
        step = step.tb_next
    found = None
    for step in reversed(kept):
        found = types.TracebackType(found, step.tb_frame, step.tb_lasti, step.tb_lineno)
    return found


def _is_ours(step: types.TracebackType) -> bool:
    """Whether a frame is one of the compiler."""
    return _is_of_ours(step.tb_frame.f_code)


def _is_of_ours(code: types.CodeType) -> bool:
    return code.co_filename.startswith(_FOLDERS) or code.co_filename in _BETWEEN


def level_outside() -> int:
    """The `stacklevel` of a warning of who asks, which is for the code that calls the package."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and _is_of_ours(frame.f_code):
        frame, level = frame.f_back, level + 1
    return level


def rendered(error: SrcdiffError) -> list[str]:
    """The lines that IPython shows: where the user's code was, and the message."""
    steps = error.__traceback__
    steps = steps if is_whole(error) else _without_ours(steps)
    shown = [s for s in traceback.extract_tb(steps) if f"{os.sep}IPython{os.sep}" not in s.filename]
    lines = traceback.format_exception_only(type(error), error)
    if shown:
        lines = ["Traceback (most recent call last):\n", *traceback.format_list(shown), *lines]
    return "".join(lines).rstrip("\n").split("\n")


# Not in the class, whose text is copied into files that need no srcdiff.
SrcdiffError._render_traceback_ = rendered  # type: ignore[attr-defined]
