"""Finds where a function stands: the lines of its file, and its `def` or `lambda` in them.

A definition counts only if it compiles to the code that the function has: code objects are compared
by what they compute.
What was typed at a prompt is in no file: before Python 3.13 only the history of `readline` has it.
"""

from __future__ import annotations
import __future__

import ast
import dis
import functools
import inspect
import linecache
import sys
import types
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from srcdiff import texts
from srcdiff.errors import TransformError
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
def _index(text: str) -> Mapping[int, tuple[Node, ...]]:
    """The functions and lambdas of a file by their first line, decorators included."""
    found: dict[int, list[Node]] = {}
    for node in nodes_of(ast.parse(text)):
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
        nodes, known = (), ()
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
    """The node among some that a function was compiled from: of several lambdas one of its code."""
    code = function.__code__
    same = [n for n in nodes if _fits(n, code)]
    if len(same) > 1:
        same = [n for n in same if any(same_code(c, code) for c in _codes(n, text))]
    if not same:
        raise _stale(function)
    return same[0]


def _fits(node: Node, code: types.CodeType) -> bool:
    """Whether a node can be what a code object was compiled from."""
    name = "<lambda>" if isinstance(node, ast.Lambda) else node.name
    args = [a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
    count = code.co_argcount + code.co_kwonlyargcount
    if name != code.co_name or tuple(args) != code.co_varnames[:count]:
        return False
    lines = [line for *_, line in code.co_lines() if line]
    return bool(max(lines, default=0) - code.co_firstlineno <= node.end_lineno - _first_line(node))


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


# --- code objects: those that a text compiles to, and whether two of them compute the same -------


_FLAGS = [getattr(__future__, name).compiler_flag for name in __future__.all_feature_names]


def future_flags(code: types.CodeType) -> int:
    """The `from __future__ import` features that a code object was compiled with."""
    return sum(flag for flag in _FLAGS if code.co_flags & flag)


@functools.lru_cache(maxsize=16)
def compiled(text: str, flags: int) -> tuple[types.CodeType, ...]:
    """Every code object of a text, which may be a notebook cell that awaits something.

    Raises:
        SyntaxError: the text is no Python.
    """
    flags |= ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    return tuple(all_codes(compile(text, "<text>", "exec", flags, dont_inherit=True)))


def nodes_of(tree: Any) -> list[Any]:
    """Every node of a tree, outer ones first, as `ast.walk` gives them in a third of the time."""
    found = [tree]
    for node in found:
        for value in node.__dict__.values():
            if type(value) not in _LEAVES:
                inside = value if type(value) is list else (value,)
                found += [n for n in inside if isinstance(n, ast.AST)]
    return found


_LEAVES = frozenset((int, str, type(None)))


def all_codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """A code object and all that it holds."""
    yield code
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield from all_codes(const)


def alike(code: types.CodeType, known: Iterable[types.CodeType]) -> list[types.CodeType]:
    """Those of some code objects that compute the same under the same name."""
    same = [c for c in known if c.co_name == code.co_name]
    rewritten = any(name.startswith("@") for name in code.co_names)
    return [c for c in same if (_is_part(c, code) if rewritten else same_code(c, code))]


def _is_part(code: types.CodeType, whole: types.CodeType) -> bool:
    """Whether a code object may have become another one by what pytest does to `assert`."""
    return set(code.co_names) <= set(whole.co_names) and code.co_firstlineno == whole.co_firstlineno


def same_code(a: types.CodeType, b: types.CodeType) -> bool:
    """Whether two code objects compute the same, wherever they stand.

    Instructions are compared by what they do: how `np.sin(x)` is called depends on whether `np` is
    imported in the same text, of which a front end may have compiled only a part.
    """
    if a == b:
        return True
    names = ("co_varnames", "co_freevars", "co_cellvars", "co_argcount", "co_kwonlyargcount")
    if any(getattr(a, n) != getattr(b, n) for n in names):
        return False
    one, two = _steps(a), _steps(b)
    return len(one) == len(two) and all(
        a[0] == b[0] and _same(a[1], b[1]) for a, b in zip(one, two)
    )


_JUMPS = frozenset((*dis.hasjrel, *dis.hasjabs))
_QUIET = frozenset({"CACHE", "EXTENDED_ARG", "NOP", "PRECALL", "PUSH_NULL", "RESUME"})
_ALIKE = {"LOAD_METHOD": "LOAD_ATTR", "CALL_METHOD": "CALL_FUNCTION"}


def _steps(code: types.CodeType) -> list[tuple[str, Any]]:
    """The instructions of a code object with their operands: of jumps, the step they lead to."""
    kept: list[dis.Instruction] = []
    place: dict[int, int] = {}
    for one in dis.get_instructions(code):
        place[one.offset] = len(kept)
        kept += [one] if one.opname not in _QUIET else []

    def operand(one: dis.Instruction) -> Any:
        if one.opcode in _JUMPS:
            return place[one.argval]
        # `dis` does not say of each what it is: not of the names of keywords in Python 3.11.
        return code.co_consts[one.arg or 0] if one.opcode in dis.hasconst else one.argval

    return [(_ALIKE.get(i.opname, i.opname), operand(i)) for i in kept]


def is_only_filled(name: str, codes: Iterable[types.CodeType]) -> bool:
    """Whether code does nothing with a variable but append to it, or to what it has at a key."""
    found = [_is_filled(steps, k) for c in codes for steps in [_steps(c)]
             for k, (op, value) in enumerate(steps) if value == name and op in _READS]  # fmt: skip
    return bool(found) and all(found)


def _is_filled(steps: list[tuple[str, Any]], k: int) -> bool:
    """Whether what an instruction loads is only appended to."""
    k += 1
    while [op for op, _ in steps[k : k + 2]] == ["LOAD_CONST", "BINARY_SUBSCR"]:
        k += 2
    return steps[k : k + 1] in ([("LOAD_ATTR", "append")], [("LOAD_ATTR", "extend")])


_READS = frozenset({"LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLASSDEREF"})


def _same(a: Any, b: Any) -> bool:
    """Whether two operands are the same (1 and 1.0, 0.0 and -0.0 are not)."""
    if isinstance(a, types.CodeType) and isinstance(b, types.CodeType):
        return same_code(a, b)
    if isinstance(a, frozenset) and isinstance(b, frozenset):
        return sorted(map(repr, a)) == sorted(map(repr, b))
    return type(a) is type(b) and repr(a) == repr(b)
