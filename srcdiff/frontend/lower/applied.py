"""Calls that stand for others: `accumulate`, `max` and `min` with `key=`, `einsum` of lists.

`np.vectorize(f)` is a `functools.partial` of what calls `f` for every number.
"""

from __future__ import annotations

import functools
import itertools
import operator
import string
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from srcdiff.frontend.lower import calls, comprehensions, functional, loops
from srcdiff.frontend.lower.builder import Builder, Node, Table
from srcdiff.frontend.lower.items import Element, Sequence, element_rhs
from srcdiff.frontend.lower.nodes import at
from srcdiff.ir import (
    NONE,
    Assign,
    Atom,
    Call,
    Const,
    Effect,
    Method,
    Name,
    Ref,
    Rhs,
    Slice,
    make_list,
)
from srcdiff.runtime import sequences
from srcdiff.runtime.vectorized import each

Apply = Callable[..., Rhs]


def call(b: Builder, node: Node) -> Rhs:
    """A call."""
    done = None
    if type(node.func).__name__ in ("Name", "Attribute"):
        known = b.static(node.func)
        done = None if known is None else _applied(b, node, known.value)
    return calls.call(b, node) if done is None else done


def _applied(b: Builder, node: Node, fn: Any) -> Rhs | None:
    """A call of one of these functions as a loop, None for any other."""
    if any(type(a).__name__ == "Starred" for a in node.args):
        return None
    if fn is itertools.accumulate:
        return _accumulate(b, node)
    if fn is np.einsum:
        return _einsum(b, node)
    if fn is np.vectorize:
        return _vectorize(b, node)
    if (fn is max or fn is min) and [k.arg for k in node.keywords] == ["key"] and node.args:
        return _extreme(b, node, fn)
    return None


def _function(b: Builder, node: Node, count: int, call: Node) -> Apply:
    """What an expression that stands for a function does with its arguments."""
    names = [functional.variable(b, "item") for _ in range(count)]
    step = functional.call_of(b, node, names, call)

    def apply(*values: Atom) -> Rhs:
        for name, value in zip(names, values, strict=True):
            b.emit(Assign(Name(name), value, b.loc(call)))
        return b.rhs(step)

    return apply


def _accumulate(b: Builder, node: Node) -> Rhs | None:
    """`itertools.accumulate(xs, f, initial=v)`: a list."""
    start = next((k.value for k in node.keywords if k.arg == "initial"), None)
    given = [*node.args[1:], *(k.value for k in node.keywords if k.arg == "func")]
    if len(given) > 1 or not node.args:
        return None
    apply = _function(b, given[0], 2, node) if given else _plus
    loc = b.loc(node)
    source: Atom = b.name(node.args[0])
    total = b.fresh("_total")
    if start is not None:
        b.emit(Assign(total, b.rhs(start), loc))
    else:
        b.emit(Assign(total, Call(operator.getitem, (source, Const(0))), loc))
        rest = Slice(Const(1), NONE, NONE)
        source = b.temp(Call(operator.getitem, (source, rest)), loc)
    result = b.temp(Call(make_list, (total,)), loc)

    def step(element: Element) -> None:
        value = b.as_atom(element_rhs(b, element, node), node)
        b.emit(Assign(total, apply(total, value), loc))
        b.emit(Effect(Call(Method("append"), (result, total)), loc))

    loops.loop_through(b, Sequence(source), step, loc)
    return result


def _plus(*values: Atom) -> Rhs:
    return Call(operator.add, values)


def _extreme(b: Builder, node: Node, fn: Any) -> Rhs:
    """`max(xs, key=f)`, `max(a, b, key=f)`: the first item of which `f` is greatest."""
    apply = _function(b, node.keywords[0].value, 1, node)
    loc = b.loc(node)
    several = len(node.args) > 1
    items = at(gast.Tuple(node.args, gast.Load()), node) if several else node.args[0]
    source = _with_places(b, items, node)
    keys = b.temp(Call(make_list), loc)

    def append(element: Element) -> None:
        value = b.as_atom(apply(b.as_atom(element_rhs(b, element, node), node)), node)
        b.emit(Effect(Call(Method("append"), (keys, value)), loc))

    loops.loop_through(b, Sequence(source), append, loc)
    first = sequences.first_greatest if fn is max else sequences.first_least
    place = b.temp(Call(first, (keys,)), loc)
    return Call(operator.getitem, (source, place))


def _with_places(b: Builder, items: Node, node: Node) -> Name:
    """What is iterated, as a sequence: a dict has keys in the place of positions."""
    if functional.is_lazy(b, items):
        made = comprehensions.list_comprehension(b, functional.generator(b, items))
        return b.temp(made, b.loc(node))
    known = b.static(items.func) if type(items).__name__ == "Call" else None
    if type(items).__name__ in ("List", "Tuple", "ListComp") or (known and known.value is range):
        return b.name(items)
    return b.temp(Call(list, (b.name(items),), (), "list"), b.loc(node))


def _einsum(b: Builder, node: Node) -> Rhs | None:
    """`np.einsum(x, [0, 1], y, [1, 2], [0, 2])` as `np.einsum("ab,bc->ac", x, y)`."""
    pairs, out = node.args[: len(node.args) // 2 * 2], node.args[len(node.args) // 2 * 2 :]
    labels = [_labels(n) for n in (*pairs[1::2], *out)]
    if not pairs or None in labels:
        return None
    count = len(pairs) // 2
    text = ",".join(map(str, labels[:count])) + "".join(f"->{after}" for after in labels[count:])
    operands = b.operands(pairs[::2])
    kwargs = tuple((k.arg, b.atom(k.value)) for k in node.keywords)
    return Call(np.einsum, (Const(text), *operands), kwargs, "np.einsum")


def _vectorize(b: Builder, node: Node) -> Rhs | None:
    """`np.vectorize(f, otypes=[dtype])`."""
    keywords = {k.arg: k.value for k in node.keywords}
    otypes = node.args[1] if len(node.args) == 2 else keywords.get("otypes")
    dtype = (None,) if otypes is None else _only(otypes)
    if dtype is None or not node.args or len(node.args) > 2:
        return None
    if not set(keywords) <= {"otypes", "doc", "cache"}:
        return None
    fn, *given = b.operands([node.args[0], *(d for d in dtype if d is not None)])
    made = given[0] if given else NONE
    return Call(functools.partial, (Ref("each", each), fn, made), (), "np.vectorize")


def _only(node: Node) -> tuple[Node] | None:
    """The one item of a written list, or text of one letter; None for anything else."""
    if type(node).__name__ in ("List", "Tuple") and len(node.elts) == 1:
        return (node.elts[0],)
    value = getattr(node, "value", None)
    return (node,) if isinstance(value, str) and len(value) == 1 else None


def _labels(node: Node) -> str | None:
    """A written list of axes as the letters of subscripts, None for anything else."""
    if type(node).__name__ not in ("List", "Tuple"):
        return None
    values: list[Any] = [getattr(e, "value", None) for e in node.elts]
    if any(v is not ... and (type(v) is not int or not 0 <= v < 26) for v in values):
        return None
    return "".join("..." if v is ... else string.ascii_lowercase[v] for v in values)


TABLE: Table = {"Call": call}
__all__ = ["TABLE"]
