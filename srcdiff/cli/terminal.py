"""What is printed, and in which colours."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path

_DIFF = {"+": "32", "-": "31", "@": "36"}


def say(text: str) -> None:
    """A message on standard error."""
    print(text, file=sys.stderr)


def near(path: Path) -> str:
    """A path as it is seen from this folder, if it lies in it."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def in_colour(choice: str) -> bool:
    """Whether standard output takes colours: on a terminal, unless it is said otherwise."""
    if choice != "auto":
        return choice == "always"
    dumb = os.environ.get("TERM") == "dumb" or bool(os.environ.get("NO_COLOR"))
    return sys.stdout.isatty() and not dumb


def show_source(text: str, choice: str) -> None:
    """Print Python text, highlighted where Pygments is installed."""
    if in_colour(choice):
        try:
            from pygments import highlight
            from pygments.formatters import TerminalFormatter
            from pygments.lexers import PythonLexer
        except ImportError:
            if choice == "always":
                say("srcdiff: colours need Pygments: pip install 'srcdiff[report]'")
        else:
            text = highlight(text, PythonLexer(), TerminalFormatter())
    print(text.rstrip("\n"))


def show_diff(lines: Iterable[str], choice: str) -> None:
    """Print a unified diff."""
    colour = in_colour(choice)
    for line in lines:
        text, code = line.rstrip("\n"), _DIFF.get(line[:1])
        print(f"\033[{code}m{text}\033[0m" if colour and code else text)
