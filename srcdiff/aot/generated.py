"""`generated`: a derivative from its file, or made anew where the file is out of date."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from srcdiff.errors import StaleError, StaleWarning
from srcdiff.runtime.tracebacks import entry

_STALE = ("warn", "error", "quiet")


@entry
def generated(path: str | Path, f: Any, *, stale: str = "warn", **options: Any) -> Any:
    """The derivative of a function from the file that `generate` wrote, if that is up to date.

    Args:
        path: the file, beside that of `f` if it is not absolute.
        f: the function.
        stale: what to do where the file is missing, has been edited, or was made from other source
            text, other values outside, or by a version or rules that write another text: "warn"
            and "quiet" make the derivative anew, with a StaleWarning or without; "error" raises.
        options: those of `generate` for a file that is missing; else they stand in the file.

    Returns:
        The function in the file; a tuple of two for the option `split`.

    Raises:
        StaleError: the file is out of date, and `stale="error"`.
        HeadError: the file was not written by srcdiff.
    """
    if stale not in _STALE:
        raise ValueError(f"stale: expected one of {', '.join(_STALE)}, given {stale!r}")
    from srcdiff.aot.uptodate import Asked

    asked = Asked(path, f, options)
    if not asked.why:
        return asked.loaded()
    message = f"{asked.place} {asked.why}: run srcdiff generate"
    if stale == "error":
        raise StaleError(message)
    if stale == "warn":
        warnings.warn(message, StaleWarning, stacklevel=3)
    return asked.anew()
