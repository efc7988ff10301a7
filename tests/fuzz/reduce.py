"""A smaller program with the same verdict: statements dropped, blocks unwrapped, parts kept."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Iterator

FIELDS = ("body", "orelse")


def reduced(text: str, same: Callable[[str], bool], budget: int = 400) -> str:
    """The smallest text found, within a number of trials, of which `same` holds."""
    best, trials = text, 0
    progress = True
    while progress:
        progress = False
        for change in (_statements, _expressions):
            place = 0
            while trials < budget:
                candidate = _nth(change, best, place)
                if candidate is None:
                    break
                trials += 1
                if len(candidate) < len(best) and same(candidate):
                    best, progress = candidate, True
                else:
                    place += 1
    return best


def _nth(
    change: Callable[[ast.Module], Iterator[Callable[[], None]]], text: str, place: int
) -> str | None:
    """The text after the change number `place`."""
    tree = ast.parse(text)
    for k, apply in enumerate(change(tree)):
        if k == place:
            apply()
            return ast.unparse(ast.fix_missing_locations(tree)) + "\n"
    return None


def _blocks(tree: ast.Module) -> Iterator[list[ast.stmt]]:
    """Every block of statements, the outermost first."""
    for node in ast.walk(tree):
        for name in FIELDS:
            block = getattr(node, name, None)
            if isinstance(block, list):
                yield block


def _statements(tree: ast.Module) -> Iterator[Callable[[], None]]:
    """Drop a statement, or put the body of a compound one in its place."""
    for block in _blocks(tree):
        for k in reversed(range(len(block))):
            yield lambda block=block, k=k: _replace(block, k, [])
            for name in FIELDS:
                inner = getattr(block[k], name, None)
                if inner and not isinstance(block[k], ast.FunctionDef):
                    yield lambda block=block, k=k, inner=inner: _replace(block, k, inner)
            if getattr(block[k], "orelse", None):
                yield lambda node=block[k]: setattr(node, "orelse", [])


def _replace(block: list[ast.stmt], place: int, new: list[ast.stmt]) -> None:
    """Put statements in the place of one; a block is never empty."""
    block[place : place + 1] = new
    if not block:
        block.append(ast.Pass())


def _expressions(tree: ast.Module) -> Iterator[Callable[[], None]]:
    """Put a part of an expression in its place."""
    for node in ast.walk(tree):
        for name, value in ast.iter_fields(node):
            if isinstance(value, ast.expr) and isinstance(getattr(value, "ctx", None), ast.Store):
                continue
            if isinstance(value, ast.expr):
                for part in _parts(value):
                    yield lambda node=node, name=name, part=part: setattr(node, name, part)
            elif isinstance(value, list):
                for k, item in enumerate(value):
                    for part in _parts(item):
                        yield lambda value=value, k=k, part=part: value.__setitem__(k, part)


def _parts(node: ast.AST) -> list[ast.expr]:
    """The operands of an operation, the arguments of a call."""
    if isinstance(node, ast.BinOp):
        found = [node.left, node.right]
    elif isinstance(node, ast.Call):
        own = isinstance(node.func, ast.Attribute) and not ast.unparse(node.func).startswith("np.")
        found = [*([node.func.value] if own else []), *node.args]
    elif isinstance(node, ast.UnaryOp):
        found = [node.operand]
    elif isinstance(node, ast.BoolOp):
        found = list(node.values)
    elif isinstance(node, ast.IfExp):
        found = [node.body, node.orelse]
    elif isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        found = [node.value]
    else:
        return []
    return [copy.deepcopy(part) for part in found if isinstance(part, ast.expr)]
