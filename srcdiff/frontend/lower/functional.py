"""`map`, `filter` and `starmap`, as what they compute of each item."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from itertools import starmap
from typing import Any

import gast

from srcdiff.frontend.lower.builder import Builder, LocalFunction, Node, Static
from srcdiff.frontend.lower.nodes import at, read
from srcdiff.ir import Assign, Name

LAZY = (map, filter, starmap)
_NAMES = tuple(f.__name__ for f in LAZY)


def is_lazy(b: Builder, node: Node) -> bool:
    """Whether an expression makes an iterator: a generator, or a call of one of `LAZY`."""
    kind = type(node).__name__
    if kind == "GeneratorExp":
        return True
    if kind != "Call" or node.keywords or len(node.args) < 2:
        return False
    if getattr(node.func, "attr", getattr(node.func, "id", "")) not in _NAMES:
        return False
    known = b.static(node.func)
    starred = any(type(a).__name__ == "Starred" for a in node.args)
    return known is not None and any(known.value is f for f in LAZY) and not starred


def generator(b: Builder, node: Node) -> Node:
    """`map(f, xs)`, `filter(f, xs)` and `starmap(f, xs)` as generator expressions."""
    if type(node).__name__ == "GeneratorExp":
        return node
    known = b.static(node.func)
    assert known is not None
    names, value = step(b, node)
    targets: Any = [read(n, node) for n in names]
    target = targets[0] if len(targets) == 1 else at(gast.Tuple(targets, gast.Store()), node)
    test: list[Any] = []
    if known.value is filter:
        value, test = targets[0], [value]
    sources = sources_of(b, node)
    over = sources[0] if len(sources) == 1 else _zip(b, sources, node)
    part = gast.comprehension(target, over, test, 0)
    made = at(gast.GeneratorExp(value, [part]), node)
    b.made.append(made)
    return made


def step(b: Builder, node: Node) -> tuple[tuple[str, ...], Node]:
    """What is computed of an item, and the names of what it is computed from."""
    sources = sources_of(b, node)
    names = tuple(variable(b, "item") for _ in sources)
    if type(node.args[0]).__name__ == "Constant":  # filter(None, xs)
        return names, read(names[0], node)
    call = call_of(b, node.args[0], names, node)
    if sources == node.args[1:] and _means(b, node.func, starmap):
        call.args = [at(gast.Starred(call.args[0], gast.Load()), node)]
    return names, call


def sources_of(b: Builder, node: Node) -> list[Node]:
    """What a call of `LAZY` takes items from: `starmap(f, zip(xs, ys))` from `xs` and `ys`."""
    inner = node.args[1]
    plain = type(inner).__name__ == "Call" and inner.args and not inner.keywords
    starred = plain and any(type(a).__name__ == "Starred" for a in inner.args)
    zipped = plain and not starred and _means(b, inner.func, zip)
    found: list[Node] = inner.args if zipped and _means(b, node.func, starmap) else node.args[1:]
    return found


def _means(b: Builder, function: Node, meant: object) -> bool:
    """Whether an expression is the name of a function from outside."""
    known = b.static(function)
    return known is not None and known.value is meant


def is_from_keys(fn: object, node: Node) -> bool:
    """Whether a call is `dict.fromkeys(keys, value)`."""
    mine = getattr(fn, "__name__", "") == "fromkeys"
    starred = any(type(a).__name__ == "Starred" for a in node.args)
    known = mine and getattr(fn, "__self__", None) in (dict, OrderedDict)
    return known and not node.keywords and not starred and len(node.args) in (1, 2)


def from_keys(b: Builder, node: Node) -> Node:
    """`dict.fromkeys(keys, value)` as `{key: value for key in keys}`, the value computed once."""
    keys, *rest = (_held(b, a, "keys") for a in node.args)
    value = rest[0] if rest else at(gast.Constant(None, None), node)
    key = read(variable(b, "key"), node)
    return at(gast.DictComp(key, value, [gast.comprehension(key, keys, [], 0)]), node)


def _held(b: Builder, node: Node, base: str) -> Node:
    """An expression that is computed now, as a name."""
    held = b.fresh(base)
    b.emit(Assign(held, b.rhs(node), b.loc(node)))
    b.scope[held.id] = held
    return read(held.id, node)


def _zip(b: Builder, sources: list[Node], node: Node) -> Node:
    """`zip(xs, ys)` of the sources of a `map`."""
    name = b.fresh("zip").id
    b.scope[name] = Static(zip)
    return at(gast.Call(read(name, node), sources, []), node)


def variable(b: Builder, base: str) -> str:
    """A new source name, which means itself."""
    name = b.fresh(base)
    b.scope[name.id] = name
    return name.id


def call_of(b: Builder, function: Node, names: Sequence[str], node: Node) -> Node:
    """A call of the function that an argument is; one that has to be computed is computed now."""
    if not _is_ready(b, function):
        function = _held(b, function, "function")
    return at(gast.Call(function, [read(n, node) for n in names], []), node)


def _is_ready(b: Builder, function: Node) -> bool:
    """Whether an expression means the same function wherever it stands."""
    kind = type(function).__name__
    if kind == "Lambda":
        return not function.args.defaults
    if kind == "Name" and isinstance(b.scope.get(function.id), (LocalFunction, Name)):
        return True
    return kind in ("Name", "Attribute") and b.static(function) is not None


__all__ = ["call_of", "generator", "is_lazy", "step", "variable"]
