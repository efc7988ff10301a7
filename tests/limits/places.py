"""The places in srcdiff that refuse something, and those that the programs of the table reach."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import srcdiff
from srcdiff import errors

from . import AcceptedError, run
from .table import LIMITS

PACKAGE = Path(srcdiff.__file__).parent
ERRORS = frozenset({"TransformError", "UnsupportedError", "MissingRuleError", "UnusedInputError"})
NOT_REFUSALS = frozenset({"errors.py", "notation.py", "verify.py"})


@dataclass(frozen=True)
class Place:
    """Lines of a file that make or raise a refusal, and their first one as text."""

    file: str
    lines: range
    text: str

    def __str__(self) -> str:
        """The file below the package, the line and its text."""
        return f"{Path(self.file).relative_to(PACKAGE)}:{self.lines.start}: {self.text}"


def places() -> list[Place]:
    """Every place that refuses something."""
    trees = {
        path: ast.parse(path.read_text())
        for path in sorted(PACKAGE.rglob("*.py"))
        if path.name not in NOT_REFUSALS
    }
    makers = ERRORS | {"refused"} | {n for tree in trees.values() for n in _makers(tree)}
    found: list[Place] = []
    for path, tree in trees.items():
        text = path.read_text().splitlines()
        for node in _refusals(tree, makers):
            lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
            found.append(Place(str(path), lines, text[node.lineno - 1].strip()))
    return found


def _makers(tree: ast.Module) -> Iterator[str]:
    """The functions that return such an error."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and node.returns is not None:
            if ast.unparse(node.returns) in ERRORS:
                yield node.name


def _refusals(tree: ast.Module, makers: frozenset[str]) -> Iterator[ast.stmt]:
    """The statements that raise what a maker makes, or call a function that raises it."""
    for node in ast.walk(tree):
        raised = node.exc if isinstance(node, ast.Raise) else None
        called = node.value if isinstance(node, ast.Expr) else None
        if _name(raised) in makers or _name(called) in ("refuse", "_refuse"):
            assert isinstance(node, ast.stmt)
            yield node


def _name(node: ast.expr | None) -> str:
    """The name of the function that is called, "" for anything else."""
    fn = node.func if isinstance(node, ast.Call) else None
    return getattr(fn, "id", getattr(fn, "attr", ""))


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
            except AcceptedError:
                continue  # a test of its own
    return found


def unreached() -> list[Place]:
    """The places that no program of the table reaches."""
    lines = reached()
    return [p for p in places() if not any((p.file, k) in lines for k in p.lines)]
