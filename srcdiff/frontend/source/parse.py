"""Finds the source of a function: its tree, its comments, and the objects that its names mean."""

from __future__ import annotations

import ast
import builtins
import contextlib
import inspect
import io
import tokenize
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import gast
from gast.ast3 import Ast3ToGAst

from srcdiff.errors import TransformError, UnsupportedError
from srcdiff.frontend.source.locate import definition, lines_of
from srcdiff.ir import Loc
from srcdiff.ir.frozen import frozen
from srcdiff.primitives.registry import is_in_template
from srcdiff.runtime.devices import canonical

Node = Any

ANONYMOUS = "anonymous"


class EmptyCellError(NameError):
    """A closure variable that has no value yet."""


@frozen
class Namespace:
    """What a function's free names mean: its closure, its globals, the builtins."""

    cells: Mapping[str, Any]
    globals: Mapping[str, Any]
    bound: Mapping[str, Any] = field(default_factory=dict)

    def resolve(self, name: str) -> Any:
        """The object of a name; a NameError if there is none."""
        if name in self.bound:
            return self.bound[name]
        if name in self.cells:
            return _contents(name, self.cells[name])
        if name in self.globals:
            return self.globals[name]
        return _builtin(name, self.globals)


def _contents(name: str, cell: Any) -> Any:
    """The value in a closure cell."""
    try:
        return cell.cell_contents
    except ValueError:
        raise EmptyCellError(f"the enclosing function has not assigned `{name}` yet") from None


def _builtin(name: str, namespace: Mapping[str, Any]) -> Any:
    """A builtin, as the module of the function sees it."""
    table = namespace.get("__builtins__", builtins)
    found = table if isinstance(table, Mapping) else vars(table)
    if name not in found:
        raise NameError(f"name `{name}` is not defined")
    return found[name]


@dataclass(frozen=True)
class Source:
    """A function's source: its gast definition with what is needed to understand it.

    `tree` has the line numbers of the file.  `bound` is the value of the first parameter of a
    bound method, which then is no parameter any more (its name resolves to the object).
    `wrapped` is the function under a decorator that passes on `*args, **kwargs`: the wrapper is
    what runs, with the parameters of the function that it wraps (`functools.wraps`).
    """

    name: str
    function: types.FunctionType
    tree: Node
    namespace: Namespace
    file: str
    lines: tuple[str, ...]
    comments: Mapping[int, str]
    wrapped: Source | None = None

    @property
    def bound(self) -> Mapping[str, Any]:
        """The name and the object of a bound first parameter."""
        return self.namespace.bound

    @property
    def declared(self) -> Source:
        """The source with the parameters of the function: that of what it wraps, if it has that."""
        return self if self.wrapped is None else self.wrapped.declared

    def made_for(self, name: str) -> bool:
        """Whether a name is what a function of a file of rules made this one for.

        What it means stands in the rule: numbers as literals, functions by their usual names.
        """
        return name in self.namespace.cells and is_in_template(self.function)

    def loc(self, node: Node) -> Loc:
        """Where a node begins."""
        line: int = node.lineno
        return Loc(self.file, line, self.column(line, node.col_offset) + 1)

    def column(self, line: int, offset: int) -> int:
        """The column in characters of an offset in UTF-8 bytes (both from 0)."""
        text = self.line(line)
        return offset if text.isascii() else len(text.encode()[:offset].decode(errors="replace"))

    def line(self, number: int) -> str:
        """The text of a line."""
        return self.lines[number - 1] if 0 < number <= len(self.lines) else ""

    def attribute(self, name: str) -> str:
        """The real name of an attribute: in a class, `__private` stands for `_Class__private`."""
        if not name.startswith("__") or name.endswith("__"):
            return name
        mangled = [n for n in self.function.__code__.co_names if n.endswith(name) and n[1] != "_"]
        return mangled[0] if mangled else name

    def text(self, node: Node) -> str:
        """The source of an expression or simple statement, on one line if it can be."""
        first, last = node.lineno, node.end_lineno
        if first != last or any(hasattr(n, "in_place_of") for n in gast.walk(node)):
            return str(gast.unparse(node)).strip()
        start, end = self.column(first, node.col_offset), self.column(first, node.end_col_offset)
        return self.line(first)[start:end]


def parse(f: Callable[..., Any]) -> Source:
    """The source of a function, or a TransformError that says why there is none."""
    function, receiver = _python_function(f)
    if receiver and str(type(receiver[0]).__module__).startswith("srcdiff."):
        raise of_ours(receiver[0])
    with shallow(function):
        return _parse(function, receiver)


def of_ours(made: Any) -> UnsupportedError:
    """The error for the derivative of what a transform makes that is no derivative."""
    plain = f"what `srcdiff.{type(made).__name__.lower()}` makes"
    return UnsupportedError(
        f"{getattr(made, 'described', plain)} is not differentiated again",
        remedy="Use nested `srcdiff.grad`, or `srcdiff.jvp` of a gradient.",
    )


@contextlib.contextmanager
def shallow(function: types.FunctionType) -> Iterator[None]:
    """Refuse a function whose code is nested more deeply than Python's stack allows."""
    try:
        yield
    except RecursionError:
        loc = Loc(function.__code__.co_filename, function.__code__.co_firstlineno)
        raise UnsupportedError(
            "the code is nested too deeply", loc, "Split it into several functions."
        ) from None


def _parse(function: types.FunctionType, receiver: tuple[Any, ...]) -> Source:
    """The source of a plain function."""
    code = function.__code__
    lines = lines_of(function)
    node = definition(function, lines)
    tree = _as_function(node)
    wrapped = _wrapped(function, tree, receiver)
    cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=False))
    bound = _receiver(tree, receiver) if wrapped is None else {}
    namespace = Namespace(cells, function.__globals__, bound)
    name = ANONYMOUS if function.__name__ == "<lambda>" else function.__name__
    comments = _comments(lines, node.lineno, node.end_lineno)
    return Source(name, function, tree, namespace, code.co_filename, lines, comments, wrapped)


def _wrapped(function: types.FunctionType, tree: Node, receiver: tuple[Any, ...]) -> Source | None:
    """The function under a wrapper that calls it with all its arguments, which have no other use.

    What else it did would depend on which of them are given by name, and which are left out: it may
    call anything with them where all are given, by position.
    """
    args, inner = tree.args, function.__dict__.get("__wrapped__")
    named = (*args.posonlyargs, *args.args, *args.kwonlyargs)
    if named or args.vararg is None or not isinstance(inner, types.FunctionType):
        return None
    passed = [a.id for a in (args.vararg, args.kwarg) if a is not None]
    calls = [n for n in gast.walk(tree) if isinstance(n, gast.Call) and _last(n) == passed]
    uses = sum(getattr(n, "id", None) in passed for n in gast.walk(tree))
    if uses != (1 + len(calls)) * len(passed):
        return None
    cells = zip(function.__code__.co_freevars, function.__closure__ or ())
    names = {n for n, cell in cells if cell != types.CellType() and cell.cell_contents is inner}
    alone = all(
        getattr(c.func, "id", None) in names and len(c.args) + len(c.keywords) == len(passed)
        for c in calls
    )
    found = _parse(inner, receiver)
    all_given = args.kwarg is None and not found.declared.function.__defaults__
    return found if alone or all_given else None


def _last(call: Node) -> list[str]:
    """The names of `*args` and `**kwargs` at the ends of a call."""
    ends = [a.value for a in call.args[-1:] if isinstance(a, gast.Starred)]
    ends += [k.value for k in call.keywords[-1:] if k.arg is None]
    return [getattr(end, "id", "") for end in ends]


# --- which function ----------------------------------------------------------------------------


def _python_function(f: Any) -> tuple[types.FunctionType, tuple[Any, ...]]:
    """The function under decorators and bindings, and the object that it is bound to, if any."""
    f = _unwrapped(f)
    if isinstance(f, types.MethodType):
        function, receiver = _python_function(f.__func__)
        return function, (*receiver, f.__self__)
    if isinstance(f, types.FunctionType):
        return f, ()
    call = inspect.getattr_static(type(f), "__call__", None)
    if isinstance(call, types.FunctionType) and not isinstance(f, type):
        return _python_function(types.MethodType(call, f))
    raise no_function(f)


def no_function(f: Any) -> TransformError:
    """The error for what has no source and is no primitive."""
    return TransformError(
        f"{describe(f)} has no Python source and no rule",
        remedy="Only functions that are written in Python or have a rule can be differentiated: "
        "give it one with @srcdiff.rules.rule (see templates/README.md).",
    )


def _unwrapped(f: Any) -> Any:
    """The function in an object such as `functools.lru_cache` makes.

    A wrapper that is a Python function may do more than to call what it wraps, so it is read.
    """
    plain = (types.FunctionType, types.MethodType, type)
    f = canonical(f)
    while not isinstance(f, plain) and "__wrapped__" in getattr(f, "__dict__", {}):
        f = f.__wrapped__
    return f


def describe(f: Any) -> str:
    """A short name of an object for messages."""
    name = getattr(f, "__qualname__", None) or getattr(f, "__name__", None)
    if isinstance(f, type):
        return f"the class `{name}`"
    if not callable(f):
        return f"a value of type `{type(f).__name__}` is no function: it"
    return f"`{name or type(f).__name__}`"


def _receiver(tree: Node, receiver: tuple[Any, ...]) -> dict[str, Any]:
    """The bound first parameter, which is taken off the definition."""
    if not receiver:
        return {}
    args = tree.args
    group = args.posonlyargs or args.args
    name = group.pop(0).id
    positional = len(args.posonlyargs) + len(args.args)
    del args.defaults[: max(0, len(args.defaults) - positional)]
    return {name: receiver[0]}


# --- the tree and the comments -----------------------------------------------------------------


class _Converter(Ast3ToGAst):  # type: ignore[misc]
    """From ast to gast, without recursion down the left side of a long sum."""

    def visit_BinOp(self, node: ast.BinOp) -> Node:  # noqa: N802
        """`a + b + c + ...`"""
        spine = [node]
        while isinstance(spine[-1].left, ast.BinOp):
            spine.append(spine[-1].left)
        left = self.visit(spine[-1].left)
        for step in reversed(spine):
            new = gast.BinOp(left, self.visit(step.op), self.visit(step.right))
            left = gast.copy_location(new, step)
        return left


def _as_function(node: Node) -> Node:
    """The gast definition of a `def` or of a lambda (as a function that returns its body)."""
    tree = _Converter().visit(node)
    if not isinstance(node, ast.Lambda):
        return tree
    value = gast.copy_location(gast.Return(tree.body), tree.body)
    new = gast.FunctionDef(ANONYMOUS, tree.args, [value], [], None, None, [])
    return gast.copy_location(new, tree)


def _comments(lines: tuple[str, ...], first: int, last: int) -> dict[int, str]:
    """The comments on the lines of a definition, by line."""
    part = lines[first - 1 : last]
    if not any("#" in line for line in part):
        return {}
    reader = io.StringIO("".join(part)).readline
    found: dict[int, str] = {}
    try:
        for token in tokenize.generate_tokens(reader):
            if token.type == tokenize.COMMENT:
                found[first - 1 + token.start[0]] = token.string
    except (tokenize.TokenError, IndentationError, SyntaxError):
        return found  # the definition ends inside its enclosing block: all was read
    return found
