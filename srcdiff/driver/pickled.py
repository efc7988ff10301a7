"""Derivatives in other processes: functions that are sent by value bring their source along."""

from __future__ import annotations

import linecache
import os
from collections.abc import Mapping
from typing import Any

from srcdiff import texts
from srcdiff.driver.watch import watched


def parts(cls: Any, primal: Any, *more: Any) -> tuple[Any, tuple[Any, ...]]:
    """What a derivative is made of again: its class, its function, and source of no file."""
    found = _texts_of(primal)
    return (made_again, (found, cls, primal, *more)) if found else (cls, (primal, *more))


def made_again(sources: Mapping[str, str], cls: Any, primal: Any, *more: Any) -> Any:
    """A derivative of a function whose source came along; what is here already stays.

    What sends functions by value may have given all their code one file name.
    """
    for file in _unwritten(primal):
        known = "".join(linecache.getlines(file))
        own = (sources[file],) if file in sources else sources.values()
        new = [text for text in own if text not in known]
        if new:
            texts.show(file, "\n".join(filter(None, (known, *new))))
    return cls(primal, *more)


def _unwritten(primal: Any) -> list[str]:
    """The names, of no files, that the code of a function and of those that it calls has."""
    files = dict.fromkeys(f.__code__.co_filename for f, *_ in watched(primal, {}).functions)
    return [file for file in files if not os.path.exists(file)]


def _texts_of(primal: Any) -> dict[str, str]:
    """The source that stands in no file, of a function and of those that it calls."""
    shown = {file: "".join(linecache.getlines(file)) for file in _unwritten(primal)}
    return {file: text for file, text in shown.items() if text}
