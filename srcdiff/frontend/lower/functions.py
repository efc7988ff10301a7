"""Whole functions: parameters, body, the single return."""

from __future__ import annotations

from collections.abc import Sequence

from srcdiff.frontend.closures import wrappers
from srcdiff.frontend.desugar.collected import plain_collections
from srcdiff.frontend.desugar.flatten import flattened
from srcdiff.frontend.desugar.getters import plain_getters
from srcdiff.frontend.desugar.present import present_attributes
from srcdiff.frontend.lower import applied, comprehensions, expressions, jumps, loops, statements
from srcdiff.frontend.lower.builder import Builder, Node, Table
from srcdiff.frontend.lower.scope import scan_function
from srcdiff.frontend.source.parse import Source, shallow
from srcdiff.ir import Atom, Const, Function, Param, Ref, Return

EXPRESSIONS: Table = {**expressions.TABLE, **comprehensions.TABLE, **applied.TABLE}
STATEMENTS: Table = {**statements.TABLE, **loops.TABLE}


def builder(
    source: Source, expression: Table = EXPRESSIONS, statement: Table = STATEMENTS
) -> Builder:
    """A builder for a function, its names declared."""
    scan = scan_function(source.tree)
    b = Builder(source, scan, expression, statement)
    for name in scan.bound:
        b.scope[name] = b.target(name)
    if type(source.tree).__name__ == "AsyncFunctionDef":
        b.refuse(source.tree, "a coroutine has no derivative", "Use a plain function.")
    for name in source.bound:
        if name in scan.bound:
            b.refuse(
                source.tree, f"`{name}`, the object of this method, is assigned in it",
                "Use another name.",
            )  # fmt: skip
    b.once = frozenset(n for n, count in scan.bound.items() if count == 1 and n not in scan.rebound)
    b.imports = frozenset(n for n in scan.imports if n in b.once)
    jumps.declare_functions(b, scan)
    if source.wrapped is not None:
        wrappers.declare(b, scan, params(source))
    return b


def lower(source: Source) -> Function:
    """The IR of a function."""
    with shallow(source.function):
        return _lower(flattened(plain_collections(plain_getters(present_attributes(source)))))


def _lower(source: Source) -> Function:
    b = builder(source)
    tree = source.tree
    doc, body = _docstring(tree.body)
    b.frame = jumps.frame_of(b, body)
    last = tree.body[-1]
    value = b.as_atom(jumps.function_body(b, body), last)
    b.emit(Return(value, b.frame.returns[-1] if b.frame.returns else b.loc(last)))
    return Function(
        source.name, params(source), tuple(b.out), doc, b.loc(tree), source.comments,
        tuple(b.frame.returns),
    )  # fmt: skip


def _docstring(nodes: Sequence[Node]) -> tuple[str | None, Sequence[Node]]:
    """The docstring of a body, and the rest of it."""
    value = getattr(nodes[0], "value", None)
    text = getattr(value, "value", None)
    if type(nodes[0]).__name__ == "Expr" and isinstance(text, str):
        return text, nodes[1:] or nodes
    return None, nodes


def params(source: Source) -> tuple[Param, ...]:
    """The parameters of a function, with the defaults that its `def` computed."""
    if source.wrapped is not None:
        return params(source.wrapped)
    args = source.tree.args
    values = list(source.function.__defaults__ or ())
    positional = [*args.posonlyargs, *args.args]
    first = len(positional) - len(args.defaults)
    values = values[len(values) - len(args.defaults) :]
    found = []
    for i, node in enumerate(positional):
        style = "pos" if i < len(args.posonlyargs) else "any"
        at = i - first
        default = None if at < 0 else _default(source, node, args.defaults[at], values[at])
        found.append(_param(source, node, style, default))
    if args.vararg is not None:
        found.append(_param(source, args.vararg, "*", None))
    by_name = source.function.__kwdefaults__ or {}
    for node, default_node in zip(args.kwonlyargs, args.kw_defaults, strict=False):
        has = default_node is not None and node.id in by_name
        default = _default(source, node, default_node, by_name[node.id]) if has else None
        found.append(_param(source, node, "kw", default))
    if args.kwarg is not None:
        found.append(_param(source, args.kwarg, "**", None))
    return tuple(found)


def _param(source: Source, node: Node, style: str, default: Atom | None) -> Param:
    annotation = None if node.annotation is None else source.text(node.annotation)
    return Param(node.id, default, style, annotation)


def _default(source: Source, param: Node, node: Node, value: object) -> Atom:
    """A default: a literal, or the object with its spelling, if that is a name."""
    if type(node).__name__ == "Constant" and type(value) is type(node.value):
        return Const(value)
    if type(node).__name__ == "UnaryOp" and type(value) in (int, float):
        return Const(value)
    text = source.text(node)
    plain = all(part.isidentifier() for part in text.split("."))
    return Ref(text if plain else f"{param.id}_default", value)
