"""Finds where a function stands: the lines of its file, and its `def` or `lambda` in them."""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
import types
from collections.abc import Iterator, Mapping
from typing import Any

from srcdiff.errors import TransformError
from srcdiff.ir import Loc

Node = Any

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def lines_of(function: types.FunctionType) -> tuple[str, ...]:
    """The lines of the file, notebook cell or console input that a function stands in."""
    code = function.__code__
    linecache.checkcache(code.co_filename)
    lines = linecache.getlines(code.co_filename, function.__globals__)
    if not lines:
        try:
            lines = inspect.findsource(code)[0]
        except (OSError, TypeError, IndexError):
            raise _no_source(function) from None
    return tuple(lines)


def _no_source(function: types.FunctionType) -> TransformError:
    """The error for a function whose text is not to be had."""
    return TransformError(
        f"the source of `{function.__qualname__}` cannot be found "
        f"(it says that it comes from {function.__code__.co_filename!r})",
        remedy="Define the function in a file or a notebook cell; for code made with `exec`, "
        "put its lines into `linecache.cache` under the file name given to `compile`.",
    )


def _stale(function: types.FunctionType) -> TransformError:
    """The error for a file that is not what the function was compiled from."""
    code = function.__code__
    return TransformError(
        f"the source of `{function.__qualname__}` is not at its place",
        Loc(code.co_filename, code.co_firstlineno),
        "The file has changed since it was imported: import it again.",
    )


@functools.lru_cache(maxsize=16)
def _file_tree(text: str) -> ast.Module:
    """The syntax tree of a file (never changed by us, so it can be kept)."""
    return ast.parse(text)


@functools.lru_cache(maxsize=16)
def _index(text: str) -> Mapping[int, tuple[Node, ...]]:
    """The functions and lambdas of a file by their first line, decorators included."""
    found: dict[int, list[Node]] = {}
    for node in ast.walk(_file_tree(text)):
        if isinstance(node, (*_FUNCTIONS, ast.Lambda)):
            found.setdefault(_first_line(node), []).append(node)
    return {line: tuple(nodes) for line, nodes in found.items()}


def _first_line(node: Node) -> int:
    """The line that Python gives to a function's code."""
    decorators = getattr(node, "decorator_list", ())
    return int(min([node.lineno, *(d.lineno for d in decorators)]))


def definition(function: types.FunctionType, lines: tuple[str, ...]) -> Node:
    """The `def` or `lambda` of a function."""
    code = function.__code__
    text = "".join(lines)
    try:
        nodes = _index(text).get(code.co_firstlineno, ())
    except SyntaxError:
        nodes = _nodes_of_block(lines, code.co_firstlineno)
    same = [n for n in nodes if _fits(n, code)]
    if not same:
        raise _stale(function)
    if len(same) == 1:
        return same[0]
    return _told_apart(function, same, text)


def _nodes_of_block(lines: tuple[str, ...], first: int) -> tuple[Node, ...]:
    """The functions on a line of a file that as a whole is no Python (notebook magics)."""
    block = inspect.getblock(list(lines[first - 1 :]))
    indent = len(block[0]) - len(block[0].lstrip()) if block else 0
    prefix = "if 1:\n" if indent else ""
    try:
        tree = ast.parse(prefix + "".join(block))
    except SyntaxError:
        return ()
    ast.increment_lineno(tree, first - 1 - (1 if indent else 0))
    found = [n for n in ast.walk(tree) if isinstance(n, (*_FUNCTIONS, ast.Lambda))]
    return tuple(n for n in found if _first_line(n) == first)


def _fits(node: Node, code: types.CodeType) -> bool:
    """Whether a node can be what a code object was compiled from."""
    name = "<lambda>" if isinstance(node, ast.Lambda) else node.name
    args = [a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
    count = code.co_argcount + code.co_kwonlyargcount
    if name != code.co_name or tuple(args) != code.co_varnames[:count]:
        return False
    last = max((line for *_, line in code.co_lines() if line), default=0)
    return bool(last <= node.end_lineno)


# --- several lambdas on one line ---------------------------------------------------------------


def _told_apart(function: types.FunctionType, nodes: list[Node], text: str) -> Node:
    """The lambda of a line that a function is: by its columns, else by its code."""
    by_column = _by_columns(function.__code__, nodes)
    if by_column is not None:
        return by_column
    same = [n for n in nodes if any(_same_code(c, function.__code__) for c in _codes(n, text))]
    if len({ast.dump(n) for n in same}) == 1:
        return same[0]
    code = function.__code__
    raise TransformError(
        "there are several lambdas on this line, and nothing tells which one is meant",
        Loc(code.co_filename, code.co_firstlineno, nodes[0].col_offset + 1),
        "Put each lambda on a line of its own, or write a `def`.",
    )


def _by_columns(code: types.CodeType, nodes: list[Node]) -> Node | None:
    """The innermost lambda whose body holds every column that the code names (Python 3.11)."""
    positions = getattr(code, "co_positions", None)
    if positions is None:
        return None
    spans = [p for p in positions() if None not in p and p[2] != p[3]]
    if not spans:
        return None
    inside = [n for n in nodes if all(_within(p, n.body) for p in spans)]
    return min(inside, key=_size, default=None)


def _within(span: tuple[int, int, int, int], node: Node) -> bool:
    """Whether a position (line, end line, column, end column) lies in a node."""
    start, end = (span[0], span[2]), (span[1], span[3])
    first, last = (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)
    return first <= start and end <= last


def _size(node: Node) -> tuple[int, int]:
    """An order of nested nodes, inner ones first."""
    return node.end_lineno - node.lineno, node.end_col_offset - node.col_offset


_MARK = 1_000_000


def _codes(node: Node, text: str) -> list[types.CodeType]:
    """The code of a lambda where it stands, found by giving its node a line that no other has."""
    tree = ast.parse(text)
    for other in ast.walk(tree):
        if isinstance(other, ast.Lambda) and _place(other) == _place(node):
            other.lineno = other.end_lineno = _MARK
    module = compile(tree, "<lambda>", "exec", dont_inherit=True)
    return [c for c in _all_codes(module) if c.co_firstlineno == _MARK]


def _place(node: Node) -> tuple[int, int]:
    return node.lineno, node.col_offset


def _all_codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """A code object and all that it holds."""
    yield code
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield from _all_codes(const)


def _same_code(a: types.CodeType, b: types.CodeType) -> bool:
    """Whether two code objects compute the same, wherever they stand."""
    names = ("co_code", "co_names", "co_varnames", "co_freevars", "co_cellvars", "co_argcount")
    if any(getattr(a, n) != getattr(b, n) for n in names):
        return False
    return len(a.co_consts) == len(b.co_consts) and all(map(_same, a.co_consts, b.co_consts))


def _same(a: Any, b: Any) -> bool:
    """Whether two constants of code objects are the same (1 and 1.0, 0.0 and -0.0 are not)."""
    if isinstance(a, types.CodeType) and isinstance(b, types.CodeType):
        return _same_code(a, b)
    return type(a) is type(b) and repr(a) == repr(b)
