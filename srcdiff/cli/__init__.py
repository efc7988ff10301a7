"""The command line: `srcdiff generate`, `show`, `check`, `stages`, `report`, `rules`, `doctor`.

Exit codes: 0 done; 1 a file is stale, or a derivative does not agree with differences; 2 the
command or a function is refused.

`options`: the commands and their options.
`commands`: what each of them does, what is printed, and in which colours.
`project`: the files of a project, from `[tool.srcdiff]` in pyproject.toml.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from srcdiff.cli.commands import say
from srcdiff.cli.options import parser
from srcdiff.errors import GradcheckError, SrcdiffError

STALE, REFUSED = 1, 2


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    given = parser().parse_args(argv)
    if os.getcwd() not in sys.path:  # as for `python -m`
        sys.path.insert(0, os.getcwd())
    try:
        code: int = given.run(given)
        sys.stdout.flush()
        return code
    except GradcheckError as error:
        say(f"srcdiff: {error}")
        return STALE
    except (SrcdiffError, ValueError, ImportError, OSError) as error:
        if isinstance(error, BrokenPipeError):  # `| head`
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        say(f"srcdiff: {error}")
        return REFUSED
