"""The places in srcdiff that refuse something and that no program of the table reaches."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import srcdiff
from srcdiff import errors

from . import AcceptedError, run
from .table import LIMITS

PACKAGE = Path(srcdiff.__file__).parent
ERRORS = {"TransformError", "UnsupportedError", "MissingRuleError", "UnusedInputError"}


def places() -> Iterator[tuple[str, int, int]]:
    """Where an error is made: file, first and last line."""
    for path in sorted(PACKAGE.rglob("*.py")):
        if path.name in ("errors.py", "notation.py"):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                name = getattr(node.func, "id", getattr(node.func, "attr", ""))
                if name in ERRORS or name == "refuse":
                    yield str(path), node.lineno, node.end_lineno or node.lineno


def reached() -> set[tuple[str, int]]:
    """The lines that were active when the programs of the table were refused."""
    found: set[tuple[str, int]] = set()
    plain = errors.TransformError.__init__

    def noted(self: errors.TransformError, *args: object, **kwargs: object) -> None:
        frame = sys._getframe(1)
        while frame is not None:
            found.add((frame.f_code.co_filename, frame.f_lineno))
            frame = frame.f_back  # type: ignore[assignment]
        plain(self, *args, **kwargs)  # type: ignore[arg-type]

    with mock.patch.object(errors.TransformError, "__init__", noted):
        for limit in LIMITS:
            try:
                run(limit)
            except AcceptedError as error:
                print(error)
    return found


def main() -> None:
    """Print the places that no program reaches."""
    lines = reached()
    for file, first, last in places():
        if not any((file, line) in lines for line in range(first, last + 1)):
            text = Path(file).read_text().splitlines()[first - 1].strip()
            print(f"{Path(file).relative_to(PACKAGE)}:{first}: {text}")


if __name__ == "__main__":
    main()
