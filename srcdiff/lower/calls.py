"""Calls: of functions known by name, of methods, of nested functions (which are inlined)."""

from __future__ import annotations

import builtins
import math
from collections.abc import Sequence
from typing import Any

from srcdiff.ir import Assign, Atom, Call, Callee, Const, Method, Name, Ref, Rhs
from srcdiff.lower import comprehensions, jumps, wrappers
from srcdiff.lower.builder import (
    Builder,
    Frame,
    LocalFunction,
    Meaning,
    Node,
    Pending,
    Table,
)  # fmt: skip
from srcdiff.lower.scope import scan_function

# These read the frame that they are called in, or run text.
_FRAME_READERS = (
    builtins.eval, builtins.exec, builtins.locals, builtins.globals, builtins.super,
)  # fmt: skip
# These use up an iterable at once, so that a list gives the same as a generator.
_EAGER = (
    sum, min, max, tuple, list, sorted, set, frozenset, dict, math.fsum, math.prod,
)  # fmt: skip


def call(b: Builder, node: Node) -> Rhs:
    """A call."""
    func = node.func
    if type(func).__name__ == "Name":
        meaning = b.scope.get(func.id)
        if isinstance(meaning, (LocalFunction, Pending)):
            return _local_call(b, node, meaning)
    if type(func).__name__ == "Lambda":
        return inline(b, node, local_function(b, func, "lambda"))
    known = b.static(func)
    if known is not None:
        return _known_call(b, node, known)
    if type(func).__name__ == "Attribute":
        return _method_call(b, node)
    return _unknown_call(b, node)


def _known_call(b: Builder, node: Node, known: Ref) -> Rhs:
    """A call of an object that is known now."""
    fn = known.value
    if any(fn is f for f in _FRAME_READERS) or (fn is vars and not node.args):
        b.refuse(
            node, f"`{known.text}` is not supported in a differentiated function",
            "It looks at the running frame; pass what it needs as arguments.",
        )  # fmt: skip
    if any(type(a).__name__ == "GeneratorExp" for a in node.args):
        return _generator_call(b, node, known)
    args, kwargs = arguments(b, (), node)
    return Call(fn, args, kwargs, known.text)


def _generator_call(b: Builder, node: Node, known: Ref) -> Rhs:
    """`sum(f(x) for x in xs)`: the items are collected first; `any` and `all` stop early."""
    fn = known.value
    if (fn is any or fn is all) and len(node.args) == 1:
        return comprehensions.search(b, node.args[0], fn is any)
    if any(fn is f for f in _EAGER):
        b.eager.update(map(id, node.args))
    args, kwargs = arguments(b, (), node)
    return Call(fn, args, kwargs, known.text)


def _method_call(b: Builder, node: Node) -> Rhs:
    """`x.sum(axis=0)`."""
    if node.func.attr == "join":  # of a string, which uses up its argument at once
        b.eager.update(map(id, node.args))
    args, kwargs = arguments(b, (node.func.value,), node)
    return Call(Method(b.source.attribute(node.func.attr)), args, kwargs)


def _unknown_call(b: Builder, node: Node) -> Rhs:
    """A call of a local value."""
    args, kwargs = arguments(b, (node.func,), node)
    fn, rest = args[0], args[1:]
    callee: Callee
    if isinstance(fn, Ref):
        callee = fn.value
    else:
        callee = b.as_name(fn, node.func)
    return Call(callee, rest, kwargs, fn.id if isinstance(fn, Name) else None)


def arguments(
    b: Builder, before: Sequence[Node], node: Node
) -> tuple[tuple[Atom, ...], tuple[tuple[str | None, Atom], ...]]:
    """The positional and keyword arguments of a call, evaluated in Python's order."""
    positional, keywords, spread = wrappers.without_spread(b, node)
    nodes = [*before, *positional, *(k.value for k in keywords)]
    atoms = b.operands(nodes)
    count = len(nodes) - len(keywords)
    kwargs = [(k.arg, a) for k, a in zip(keywords, atoms[count:], strict=True)]
    return (*atoms[:count], *spread.args), (*kwargs, *spread.kwargs)


# --- nested functions --------------------------------------------------------------------------


def local_function(b: Builder, node: Node, name: str) -> LocalFunction:
    """A nested definition, its defaults evaluated here."""
    args = node.args
    if args.vararg is not None or args.kwarg is not None:
        b.refuse(
            node, "`*args` and `**kwargs` parameters of a nested function are not supported",
            "Name its parameters, or move it out of the function.",
        )  # fmt: skip
    positional = [*args.posonlyargs, *args.args]
    with_default = positional[len(positional) - len(args.defaults) :]
    pairs = [*zip(with_default, args.defaults, strict=False)]
    keyword = zip(args.kwonlyargs, args.kw_defaults, strict=True)
    pairs += [(p, d) for p, d in keyword if d is not None]
    defaults: dict[str, Atom] = {}
    for param, default in pairs:
        atom = b.atom(default)
        held = atom if isinstance(atom, (Const, Ref)) else b.temp(atom, b.loc(default))
        defaults[param.id] = held
    return LocalFunction(name, node, defaults, b.scope)


def _local_call(b: Builder, node: Node, meaning: LocalFunction | Pending) -> Rhs:
    """A call of a nested function by its name."""
    if isinstance(meaning, Pending):
        b.refuse(
            node, f"the nested function `{node.func.id}` is called before its definition",
            "Define it first, or move it out of the function.",
        )  # fmt: skip
    if any(meaning.node is n for n in b.inlining):
        b.refuse(
            node, f"the nested function `{meaning.name}` is recursive",
            "Move it out of the function.",
        )  # fmt: skip
    return inline(b, node, meaning)


def inline(b: Builder, node: Node, fn: LocalFunction) -> Rhs:
    """The body of a nested function in place of a call of it, its locals renamed apart."""
    given = _bound_arguments(b, node, fn)
    scan = scan_function(fn.node)
    b.walrus = b.walrus or scan.walrus
    scope: dict[str, Meaning] = dict(fn.scope)
    for local in scan.bound:
        scope[local] = b.fresh(local)
    for param, value in given.items():
        target = scope[param]
        assert isinstance(target, Name)
        b.emit(Assign(target, value, b.loc(node)))
    return _inlined(b, fn, scope, scan)


def body_of(b: Builder, fn: LocalFunction, scope: dict[str, Meaning], scan: Any) -> Atom:
    """The value of a nested function's body as an atom."""
    return b.as_atom(_inlined(b, fn, scope, scan), fn.node)


def _inlined(b: Builder, fn: LocalFunction, scope: dict[str, Meaning], scan: Any) -> Rhs:
    """The value of a nested function's body, lowered in its scope."""
    saved = b.scope, b.frame, b.inlining
    b.scope, b.inlining = scope, (*b.inlining, fn.node)
    try:
        if not isinstance(fn.node.body, list):
            return b.rhs(fn.node.body)
        jumps.declare_functions(b, scan)
        b.frame = jumps.frame_of(b, fn.node.body)
        return jumps.function_body(b, fn.node.body)
    finally:
        b.scope, b.frame, b.inlining = saved


def _bound_arguments(b: Builder, node: Node, fn: LocalFunction) -> dict[str, Atom]:
    """The value of each parameter at a call, evaluated in Python's order."""
    starred = any(type(a).__name__ == "Starred" for a in node.args)
    if starred or any(k.arg is None for k in node.keywords):
        b.refuse(
            node, f"`*` and `**` in a call of the nested function `{fn.name}` are not supported",
            "Write its arguments one by one, or move it out of the function.",
        )  # fmt: skip
    args = fn.node.args
    positional = [p.id for p in (*args.posonlyargs, *args.args)]
    keyword = [p.id for p in (*args.args, *args.kwonlyargs)]
    values, kwargs = arguments(b, (), node)
    given = dict(zip(positional, values, strict=False))
    wrong = [k for k, _ in kwargs if k not in keyword or k in given]
    given.update((k, v) for k, v in kwargs if k is not None)
    everything = [*positional, *(p.id for p in args.kwonlyargs)]
    missing = [p for p in everything if p not in given and p not in fn.defaults]
    if wrong or missing or len(values) > len(positional):
        b.refuse(
            node, f"the arguments do not fit the nested function `{fn.name}`",
            f"Its parameters are: {', '.join(everything) or 'none'}.",
        )  # fmt: skip
    return {p: given[p] if p in given else fn.defaults[p] for p in everything}


TABLE: Table = {"Call": call}
__all__ = ["TABLE", "Frame", "body_of", "inline", "local_function"]
