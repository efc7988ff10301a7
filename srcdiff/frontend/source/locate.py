"""Finds where a function stands: the lines of its file, and its `def` or `lambda` in them.

What was typed at a prompt is in no file: before Python 3.13 only the history of `readline` has it.
"""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
import sys
import types
from collections.abc import Mapping
from typing import Any

from srcdiff import texts
from srcdiff.errors import TransformError
from srcdiff.frontend.source.code_objects import (
    alike,
    all_codes,
    compiled,
    future_flags,
    nodes_of,
    same_code,
)
from srcdiff.ir import Loc

_PROMPTS = ("<stdin>", "<console>")


def typed_lines(code: types.CodeType) -> tuple[str, ...]:
    """The lines of the last input that compiles to a code object, none if there is none."""
    readline = sys.modules.get("readline")
    if code.co_filename not in _PROMPTS or readline is None:
        return ()
    count = readline.get_current_history_length()
    typed = [f"{readline.get_history_item(k) or ''}\n" for k in range(1, count + 1)]
    for start in reversed(range(len(typed))):
        if typed[start].lstrip().startswith(("def ", "@")) or "lambda" in typed[start]:
            block = tuple(inspect.getblock(typed[start:]))
            if _makes("".join(block), code):
                return block
    return ()


def _makes(text: str, code: types.CodeType) -> bool:
    """Whether some input compiles to a code object, among others."""
    try:
        return bool(alike(code, compiled(text, future_flags(code))))
    except SyntaxError:
        return False


# --- finds where a function stands: the lines of its file, and its `def` or `lambda` in them -----


Node = Any

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_MADE = (*_FUNCTIONS, ast.Lambda)


def lines_of(function: types.FunctionType) -> tuple[str, ...]:
    """The lines of the file, notebook cell or console input that a function stands in."""
    code = function.__code__
    texts.find(code.co_filename)
    linecache.checkcache(code.co_filename)
    lines = linecache.getlines(code.co_filename, function.__globals__)
    if not lines:
        typed = typed_lines(code)
        if typed:
            return typed
        try:
            lines = inspect.findsource(code)[0]
        except (OSError, TypeError, IndexError):
            raise _no_source(function) from None
    return tuple(lines)


def _no_source(function: types.FunctionType) -> TransformError:
    """The error for a function whose text is not to be had."""
    return TransformError(
        f"the source of `{function.__qualname__}` cannot be found",
        Loc(function.__code__.co_filename, function.__code__.co_firstlineno),
        "Define the function in a file or a notebook cell; for code made with `exec`, "
        "put its lines into `linecache.cache` under the file name given to `compile`.",
    )


def _stale(function: types.FunctionType) -> TransformError:
    """The error for a file that is not what the function was compiled from."""
    code = function.__code__
    return TransformError(
        f"the source of `{function.__qualname__}` is not at its place",
        Loc(code.co_filename, code.co_firstlineno),
        "The file has changed since it was imported, or the cell has been run again: import or "
        "define the function anew.",
    )


@functools.lru_cache(maxsize=16)
def _file_tree(text: str) -> ast.Module:
    """The syntax tree of a file (never changed by us, so it can be kept)."""
    return ast.parse(text)


@functools.lru_cache(maxsize=16)
def _index(text: str) -> Mapping[int, tuple[Node, ...]]:
    """The functions and lambdas of a file by their first line, decorators included."""
    found: dict[int, list[Node]] = {}
    for node in nodes_of(_file_tree(text)):
        if isinstance(node, _MADE):
            found.setdefault(_first_line(node), []).append(node)
    return {line: tuple(nodes) for line, nodes in found.items()}


def _first_line(node: Node) -> int:
    """The line that Python gives to a function's code."""
    decorators = getattr(node, "decorator_list", ())
    return int(min([node.lineno, *(d.lineno for d in decorators)]))


def definition(function: types.FunctionType, lines: tuple[str, ...]) -> Node:
    """The `def` or `lambda` of a function.

    A file may have been edited since it was imported, and a notebook cell run again: a definition
    counts only if it compiles to the code that the function has.
    """
    code = function.__code__
    alone = _in_its_lines(lines, function)
    if alone is not None:
        return alone
    text = "".join(lines)
    try:
        nodes = _index(text).get(code.co_firstlineno, ())
        known = compiled(text, future_flags(code))
    except SyntaxError:
        return _one(function, _in_block(lines, code), text)
    if not any(c.co_firstlineno == code.co_firstlineno for c in alike(code, known)):
        nodes = tuple(n for c in alike(code, known) for n in _index(text)[c.co_firstlineno])
    return _one(function, nodes, text)


def _in_its_lines(lines: tuple[str, ...], function: types.FunctionType) -> Node | None:
    """The only `def` or lambda of its line, in the lines of its statement of a module alone.

    Nothing else of the file is read.
    """
    code = function.__code__
    first = code.co_firstlineno
    start = _start(lines, first)
    if not lines[first - 1 : first] or lines[start - 1][0] in _INSIDE:
        return None
    text = "".join(lines[start - 1 : _end(lines, start)])
    if start > 1:  # `np.sin(x)` becomes other instructions where the same text imports `np`
        imports = any("import" in line for line in lines)
        text = (_imports(function) if imports else "") + "\n" * (start - 1) + text
    try:
        tree = ast.parse(text)
        known = compiled(text, future_flags(code))
    except SyntaxError:
        return None
    found = _made_on(first, tree)
    here = any(c.co_firstlineno == first for c in alike(code, known))
    return found[0] if here and len(found) == 1 and _fits(found[0], code) else None


def _made_on(line: int, tree: ast.Module) -> list[Node]:
    """The functions and lambdas that start on a line; what starts behind it is not looked into."""
    found: list[Any] = [tree]
    for node in found:
        for inner in ast.iter_child_nodes(node):
            if getattr(inner, "lineno", line) <= line or hasattr(inner, "decorator_list"):
                found.append(inner)
    return [n for n in found if isinstance(n, _MADE) and _first_line(n) == line]


def _imports(function: types.FunctionType) -> str:
    """An import of the modules that a function calls by a global name."""
    space = function.__globals__
    names = [n for n in function.__code__.co_names if isinstance(space.get(n), types.ModuleType)]
    return f"import {', '.join(names)}" if names else ""


_INSIDE = " \t\r\n)]}#"  # what a line of a module begins with that begins no statement


def _start(lines: tuple[str, ...], inside: int) -> int:
    """The line on which the statement of a module begins that a line is part of."""
    while inside > 1 and lines[inside - 1 : inside] and lines[inside - 1][0] in _INSIDE:
        inside -= 1
    return inside


def _end(lines: tuple[str, ...], first: int) -> int:
    """How many lines there are up to the end of a statement that starts in the first column."""
    named = not lines[first - 1].startswith("@")
    for number, line in enumerate(lines[first:], first):
        if named and line[0] not in _INSIDE:
            return number
        named = named or line.startswith("def ")
    return len(lines)


def _one(function: types.FunctionType, nodes: tuple[Node, ...], text: str) -> Node:
    """The node among some that a function was compiled from."""
    same = [n for n in nodes if _fits(n, function.__code__)]
    if not same:
        raise _stale(function)
    return same[0] if len(same) == 1 else _told_apart(function, same, text)


def _in_block(lines: tuple[str, ...], code: types.CodeType) -> tuple[Node, ...]:
    """The functions on a line of a file that as a whole is no Python (notebook magics)."""
    first = code.co_firstlineno
    block = inspect.getblock(list(lines[first - 1 :]))
    indent = len(block[0]) - len(block[0].lstrip()) if block else 0
    text = ("if 1:\n" if indent else "") + "".join(block)
    try:
        tree = ast.parse(text)
        known = compiled(text, future_flags(code))
    except SyntaxError:
        return ()
    if not code.co_freevars and not alike(code, known):
        return ()
    ast.increment_lineno(tree, first - 1 - (1 if indent else 0))
    found = [n for n in ast.walk(tree) if isinstance(n, _MADE)]
    return tuple(n for n in found if _first_line(n) == first)


def _fits(node: Node, code: types.CodeType) -> bool:
    """Whether a node can be what a code object was compiled from."""
    name = "<lambda>" if isinstance(node, ast.Lambda) else node.name
    args = [a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
    count = code.co_argcount + code.co_kwonlyargcount
    if name != code.co_name or tuple(args) != code.co_varnames[:count]:
        return False
    lines = [line for *_, line in code.co_lines() if line]
    return bool(max(lines, default=0) - code.co_firstlineno <= node.end_lineno - _first_line(node))


# --- several lambdas on one line ---------------------------------------------------------------


def _told_apart(function: types.FunctionType, nodes: list[Node], text: str) -> Node:
    """The lambda of a line that a function is: by its columns, else by its code."""
    code = function.__code__
    same = [n for n in nodes if any(same_code(c, code) for c in _codes(n, text))]
    if len({ast.dump(n) for n in same}) == 1:
        return same[0]
    by_column = _by_columns(code, same)
    if by_column is not None:
        return by_column
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
    return [c for c in all_codes(module) if c.co_firstlineno == _MARK]


def _place(node: Node) -> tuple[int, int]:
    return node.lineno, node.col_offset
