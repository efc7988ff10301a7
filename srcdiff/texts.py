"""The texts that srcdiff writes, by the name of the file that they are compiled under.

`linecache` shows them in tracebacks and debuggers. Anybody may clear it (profilers do, so that they
read files anew), and these texts stand in no file: they are kept here as well and put back.
"""

from __future__ import annotations

import linecache

_texts: dict[str, str] = {}


def show(file: str, text: str) -> None:
    """Let `linecache` show a text; an entry without a time is never checked against a file."""
    _texts[file] = text
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)


def forget(file: str) -> None:
    """Show a text no more."""
    _texts.pop(file, None)
    linecache.cache.pop(file, None)


def find(file: str) -> None:
    """Put a text back that `linecache` has lost."""
    if file not in linecache.cache and file in _texts:
        show(file, _texts[file])


def line_of(file: str, number: int) -> str:
    """A line of a file or of a text of ours, with its end; empty where there is none."""
    find(file)
    return linecache.getline(file, number)
