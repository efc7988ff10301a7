"""Simple statements, and those that are refused."""

from __future__ import annotations

import operator
from collections.abc import Sequence

import gast

from srcdiff.frontend import closures, local_functions
from srcdiff.frontend.lower import builder, expressions, jumps, purity, targets
from srcdiff.frontend.lower.builder import Builder, Node, Pending, Table
from srcdiff.frontend.scopes import at, imported
from srcdiff.ir import Assign, Call, Effect, If, Name, Opaque, Verbatim
from srcdiff.runtime.trees import hook


def assign(b: Builder, node: Node) -> None:
    """`a = b = e`, or the definition of a nested function by a lambda."""
    value = node.value
    if type(value).__name__ == "Lambda":
        target = node.targets[0]
        meaning = b.scope.get(getattr(target, "id", ""))
        if isinstance(meaning, Pending) and meaning.node is value:
            b.scope[target.id] = local_functions.local_function(b, value, target.id)
            return
    targets.assign(b, node.targets, value, b.loc(node))


def augmented(b: Builder, node: Node) -> None:
    """`a += e`."""
    op = expressions.BINARY[type(node.op).__name__]
    targets.augmented(b, node.target, node.value, op, b.loc(node))


def annotated(b: Builder, node: Node) -> None:
    """`a: float = e`; without a value nothing happens."""
    if node.value is not None:
        targets.assign_one(b, node.target, node.value, b.loc(node))


def expression(b: Builder, node: Node) -> None:
    """An expression for its effect; one that only reads is dropped."""
    kind = type(node.value).__name__
    if kind in ("Constant", "JoinedStr"):
        return
    rhs = b.rhs(node.value)
    if isinstance(rhs, Call) and rhs.fn is hook and isinstance(rhs.args[0], Name):
        b.emit(Assign(rhs.args[0], rhs, b.loc(node)))
    elif isinstance(rhs, (Call, Opaque)):
        b.emit(Effect(rhs, b.loc(node)))


def if_(b: Builder, node: Node) -> None:
    """An `if` out of which nothing jumps."""
    test = b.atom(node.test)
    body = jumps.block(b, node.body, tail=False)
    orelse = jumps.block(b, node.orelse, tail=False)
    b.emit(If(test, body, orelse, b.loc(node)))


def pass_(b: Builder, node: Node) -> None:
    """`pass` is nothing."""


def assertion(b: Builder, node: Node) -> None:
    """`assert test, message`: kept as text."""
    test = purity.held(b, node.test)
    if test is not node.test:
        node = b.new(at(gast.Assert(test, node.msg), node))
    _verbatim(b, node, [test, *([] if node.msg is None else [node.msg])])


def raise_(b: Builder, node: Node) -> None:
    """`raise error from cause`: kept as text."""
    _verbatim(b, node, [n for n in (node.exc, node.cause) if n is not None], raises=True)


def _verbatim(b: Builder, node: Node, parts: Sequence[Node], raises: bool = False) -> None:
    text = b.source.text(node)
    if not parts:
        b.emit(Verbatim(text, raises=raises, loc=b.loc(node)))
        return
    text, reads, refs = b.kept(parts, text)
    b.emit(Verbatim(text, reads, (), refs, raises, b.loc(node)))


def import_(b: Builder, node: Node) -> None:
    """An import inside the function: kept as text; the names it binds mean what they mean now."""
    found = list(imported(node))
    whole = type(node).__name__ == "Import"
    for path in [a.name for a in node.names] if whole else [found[0][1]]:
        builder.check_imported(b, path, node)
    for name, path, attribute in found:
        builder.learn_import(b, name, path, attribute)
    names = tuple(b.target(name) for name, _, _ in found)
    b.emit(Verbatim(b.source.text(node), (), names, loc=b.loc(node)))


def delete(b: Builder, node: Node) -> None:
    """`del name` needs nothing; an item is taken out of its list or dict."""
    for target in node.targets:
        kind = type(target).__name__
        if kind == "Subscript":
            base, index = b.operands((target.value, target.slice))
            call = Call(operator.delitem, (b.as_name(base, target.value), index))
            b.emit(Effect(call, b.loc(target)))
        elif kind != "Name":
            b.refuse(
                target, "`del` of an attribute is not supported",
                "Keep the value in a local variable.",
            )  # fmt: skip


def definition(b: Builder, node: Node) -> None:
    """A nested function: it is inlined where it is called, or a value that a name is bound to."""
    meaning = b.scope.get(node.name)
    fn = local_functions.local_function(b, node, node.name)
    if isinstance(meaning, Pending) and meaning.node is node:
        b.scope[node.name] = fn
    else:
        value = closures.decorated(b, fn, node)
        b.emit(Assign(b.target(node.name), value, b.loc(node)))


def nonlocal_(b: Builder, node: Node) -> None:
    """`nonlocal x` in a nested function: its `x` is that of the function around it."""
    for name in node.names:
        if not b.inlining or not isinstance(b.scope.get(name), Name):
            refused(b, node)


_REFUSED = {
    "Try": (
        "try",
        "Move it out of the function, or test for the case with `if`.  What works are handlers "
        "that only raise, and `except LinAlgError` without a name around calls of np.linalg and "
        "scipy.linalg themselves.",
    ),
    "TryStar": ("try", "Move it out of the function, or test for the case with `if`."),
    "With": ("with", "Put it around the call of the function."),
    "AsyncWith": ("async with", "Put it around the call of the function."),
    "AsyncFor": ("async for", "Use a plain loop."),
    "AsyncFunctionDef": ("async def", "Use a plain function."),
    "ClassDef": ("class", "Define the class outside the function."),
    "Global": ("global", "Pass the value as an argument and return it."),
    "Nonlocal": ("nonlocal", "Pass the value as an argument and return it."),
    "Match": ("match", "Write it with `if` and `elif`."),
    "TypeAlias": ("type", "Define the type outside the function."),
}


def refused(b: Builder, node: Node) -> None:
    """A statement that has no derivative here."""
    word, remedy = _REFUSED[type(node).__name__]
    b.refuse(node, f"`{word}` is not supported in a differentiated function", remedy)


def global_(b: Builder, node: Node) -> None:
    """`global` changes nothing for names that are only read."""
    if any(name in b.scope for name in node.names):
        refused(b, node)


TABLE: Table = {
    "Assign": assign,
    "AugAssign": augmented,
    "AnnAssign": annotated,
    "Expr": expression,
    "If": if_,
    "Pass": pass_,
    "Assert": assertion,
    "Raise": raise_,
    "Import": import_,
    "ImportFrom": import_,
    "Delete": delete,
    "FunctionDef": definition,
    **dict.fromkeys(_REFUSED, refused),
    "Nonlocal": nonlocal_,
    "Global": global_,
}
