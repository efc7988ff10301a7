"""Wrappers: `def wrapper(*args, **kwargs)` around a function whose parameters are known."""

from __future__ import annotations

from srcdiff.frontend.lower.builder import Builder, Node, Spread
from srcdiff.frontend.lower.scope import Scan
from srcdiff.ir import Atom, Call, Const, Name, Param, Ref, Rhs, Star, Tup, make_dict


def declare(b: Builder, scan: Scan, params: tuple[Param, ...]) -> None:
    """Let `*args` and `**kwargs` stand for the parameters of the wrapped function."""
    inner, args = b.source.wrapped, b.source.tree.args
    assert inner is not None
    taken = {p.name for p in params}
    b.fresh.taken |= taken
    for local in scan.bound:
        if local in taken:
            b.scope[local] = b.fresh(local)
    positional = [Ref(name, value) for name, value in inner.bound.items()]
    spread = Spread((*positional, *_positional(params)))
    _declare(b, scan, args.vararg, spread)
    if args.kwarg is not None:
        _declare(b, scan, args.kwarg, Spread((), _keywords(params), mapping=True))


def _declare(b: Builder, scan: Scan, node: Node, spread: Spread) -> None:
    if scan.bound[node.id] > 1:
        b.refuse(node, f"`{node.id}` is assigned in a wrapper", "Use another name.")
    b.scope[node.id] = spread


def _positional(params: tuple[Param, ...]) -> tuple[Atom, ...]:
    """What the wrapped function gets by position."""
    plain: list[Atom] = [Name(p.name) for p in params if p.style in ("pos", "any")]
    return (*plain, *(Star(Name(p.name)) for p in params if p.style == "*"))


def _keywords(params: tuple[Param, ...]) -> tuple[tuple[str | None, Atom], ...]:
    """What the wrapped function gets by keyword."""
    by_name = {"kw": False, "**": True}
    found = [(p, by_name[p.style]) for p in params if p.style in by_name]
    return tuple((None if rest else p.name, Name(p.name)) for p, rest in found)


def value(b: Builder, node: Node, spread: Spread) -> Rhs:
    """The arguments of a wrapper as a tuple or dict."""
    keys = [k for k, _ in spread.kwargs]
    if None in keys or any(isinstance(a, Star) for a in spread.args):
        b.refuse(
            node, f"`{node.id}` is used as a value, and the wrapped function takes `*` or `**`",
            "Name the parameters of the wrapped function.",
        )  # fmt: skip
    if not spread.mapping:
        return Tup(spread.args)
    return Call(make_dict, tuple(a for k, v in spread.kwargs for a in (Const(k), v)))


def without_spread(b: Builder, node: Node) -> tuple[list[Node], list[Node], Spread]:
    """The arguments and keywords of a call, and those of the wrapper that it passes on."""
    starred = [a.value if type(a).__name__ == "Starred" else None for a in node.args]
    args = [_meaning(b, a) for a in starred]
    kwargs = [_meaning(b, k.value if k.arg is None else None) for k in node.keywords]
    plain = [a for a, s in zip(node.args, args, strict=True) if s is None]
    if len(plain) < len(args) and plain and args[-1] is None:
        b.refuse(node, "arguments after `*args` are not supported in a wrapper", "Put them first.")
    spread = Spread(
        tuple(a for s in args if s is not None for a in s.args),
        tuple(pair for s in kwargs if s is not None for pair in s.kwargs),
    )
    return plain, [k for k, s in zip(node.keywords, kwargs, strict=True) if s is None], spread


def _meaning(b: Builder, node: Node | None) -> Spread | None:
    """The arguments that a starred name stands for."""
    found = b.scope.get(getattr(node, "id", ""))
    return found if isinstance(found, Spread) else None
