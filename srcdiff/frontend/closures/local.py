"""Nested functions: what a call of one by its name becomes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from srcdiff.frontend.closures import wrappers
from srcdiff.frontend.closures.settled import settled
from srcdiff.frontend.lower import jumps
from srcdiff.frontend.lower.builder import Builder, LocalFunction, Meaning, Node
from srcdiff.frontend.lower.scope import scan_function
from srcdiff.ir import Assign, Atom, Const, Name, Opaque, Ref, Rhs, Star, Tup


def arguments(
    b: Builder, before: Sequence[Node], node: Node
) -> tuple[tuple[Atom, ...], tuple[tuple[str | None, Atom], ...]]:
    """The positional and keyword arguments of a call, evaluated in Python's order."""
    positional, keywords, spread = wrappers.without_spread(b, node)
    nodes = [*before, *positional, *(k.value for k in keywords)]
    atoms = b.operands(nodes)
    count = len(nodes) - len(keywords)
    kwargs = [(k.arg, a) for k, a in zip(keywords, atoms[count:], strict=True)]
    return (*_flat(atoms[:count]), *spread.args), (*kwargs, *spread.kwargs)


def _flat(atoms: Sequence[Atom]) -> Iterator[Atom]:
    """Positional arguments, those of a tuple that is written out by themselves."""
    for atom in atoms:
        if isinstance(atom, Star) and isinstance(atom.value, Tup):
            yield from _flat(atom.value.items)
        else:
            yield atom


def local_function(b: Builder, node: Node, name: str) -> LocalFunction:
    """A nested definition, its defaults evaluated here."""
    args = node.args
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


def needs_binding(node: Node, fn: LocalFunction) -> bool:
    """Whether it takes the kinds to tell which argument of a call is which parameter."""
    args = fn.node.args
    starred = any(type(a).__name__ == "Starred" for a in node.args)
    return starred or any(k.arg is None for k in node.keywords) or bool(args.vararg or args.kwarg)


def inline(b: Builder, node: Node, fn: LocalFunction) -> Rhs:
    """The body of a nested function in place of a call of it, its locals renamed apart."""
    given = _bound_arguments(b, node, fn)
    scan = scan_function(fn.node)
    b.walrus = b.walrus or scan.walrus
    b.rebinding |= {*scan.rebound, *scan.outer}
    scope: dict[str, Meaning] = dict(fn.scope)
    for local in scan.bound:
        scope[local] = b.fresh(local)
    start = len(b.out)
    for param, value in given.items():
        target = scope[param]
        assert isinstance(target, Name)
        b.emit(Assign(target, value, b.loc(node)))
    result = _inlined(b, fn, scope, scan)
    if isinstance(result, Opaque):  # a function, which is to be among the statements
        result = b.temp(result, b.loc(node))
    own = frozenset(b.ir_name_in(scope, n) for n in scan.bound)
    b.out[start:] = settled(tuple(b.out[start:]), own, b.fresh)
    return result


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


__all__ = ["arguments", "body_of", "inline", "local_function", "needs_binding"]
