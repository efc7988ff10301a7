"""Tracebacks of refusals: the frames of the user, and none of the compiler's.

`entry` marks what users call.  An error that is raised on purpose leaves it without the frames, and
without the errors, that it came through; `SRCDIFF_TRACEBACK=full` in the environment keeps them.
"""

from __future__ import annotations

import ast
import contextlib
import copy
import functools
import inspect
import os
import traceback
import types
from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec, TypeVar

from srcdiff.errors import InternalError, SrcdiffError

P = ParamSpec("P")
R = TypeVar("R")

_PACKAGE = Path(__file__).parent.parent
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
    file = step.tb_frame.f_code.co_filename
    return file.startswith(_FOLDERS) or file in _BETWEEN


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
