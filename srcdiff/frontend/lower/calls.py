"""Calls: of functions known by name, of methods, of nested functions (which are inlined).

Some calls stand for others: `accumulate`, `max` and `min` with `key=`, `einsum` of lists, and
`np.vectorize(f)`, which is a `functools.partial` of what calls `f` for every number.
"""

from __future__ import annotations

import builtins
import functools
import itertools
import math
import operator
import string
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from srcdiff import ir
from srcdiff.frontend.closures import closures, local_functions
from srcdiff.frontend.closures.local_functions import arguments
from srcdiff.frontend.lower import expressions, iterables, loops
from srcdiff.frontend.lower.builder import Builder, LocalFunction, Node, Pending, Table
from srcdiff.frontend.lower.iterables import Element, Sequence, element_rhs
from srcdiff.frontend.scopes import at
from srcdiff.ir.frozen import replace
from srcdiff.runtime import sequences

# These read the frame that they are called in, or run text.
_FRAME_READERS = (
    builtins.eval, builtins.exec, builtins.locals, builtins.globals, builtins.super,
)  # fmt: skip
# These use up an iterable at once, so that a list gives the same as a generator.
_EAGER = (
    sum, min, max, tuple, list, sorted, set, frozenset, dict, math.fsum, math.prod, np.fromiter,
)  # fmt: skip


def direct_call(b: Builder, node: Node) -> ir.Rhs:
    """A call."""
    func = node.func
    if _gets_method(b, func):
        func = at(gast.Attribute(func.args[0], func.args[1].value, gast.Load()), func)
        node = at(gast.Call(func, node.args, node.keywords), node)
        b.made.append(node)
    if type(func).__name__ == "Name":
        meaning = b.scope.get(func.id)
        if isinstance(meaning, (LocalFunction, Pending)):
            return _local_call(b, node, meaning)
    if type(func).__name__ == "Lambda":
        return _lambda_call(b, node)
    known = b.static(func)
    if known is not None:
        return _known_call(b, node, known)
    if type(func).__name__ == "Attribute":
        return _method_call(b, node)
    return _unknown_call(b, node)


def _gets_method(b: Builder, node: Node) -> bool:
    """Whether an expression is `getattr(x, "name")`."""
    if type(node).__name__ != "Call" or len(node.args) != 2 or node.keywords:
        return False
    known = b.static(node.func)
    name = node.args[1]
    literal = type(name).__name__ == "Constant" and isinstance(name.value, str)
    return known is not None and known.value is getattr and literal


def _lambda_call(b: Builder, node: Node) -> ir.Rhs:
    """`(lambda y: ...)(x)`."""
    fn = local_functions.local_function(b, node.func, "lambda")
    return _local_call(b, node, fn)


def _known_call(b: Builder, node: Node, known: ir.Ref) -> ir.Rhs:
    """A call of an object that is known now."""
    fn = known.value
    if any(fn is f for f in _FRAME_READERS) or (fn is vars and not node.args):
        b.refuse(
            node, f"`{known.text}` is not supported in a differentiated function",
            "It looks at the running frame; pass what it needs as arguments.",
        )  # fmt: skip
    if type(type(fn)).__module__ == "_ctypes":
        b.refuse(
            node, f"`{known.text}` reads and writes memory by its address",
            "Write into the array itself.",
        )  # fmt: skip
    if iterables.is_from_keys(fn, node):
        return loops.dict_comprehension(b, iterables.from_keys(b, node))
    if loops.is_reduce(fn, node):
        return loops.reduced(b, node)
    if id(node) in b.eager and iterables.is_lazy(b, node):
        return loops.list_comprehension(b, iterables.generator(b, node))
    if any(iterables.is_lazy(b, a) for a in node.args):
        return _generator_call(b, node, known)
    args, kwargs = arguments(b, (), node)
    return ir.called(known, ir.Call(fn, args, kwargs))


def _generator_call(b: Builder, node: Node, known: ir.Ref) -> ir.Rhs:
    """`sum(f(x) for x in xs)`: the items are collected first; `any` and `all` stop early."""
    fn = known.value
    if (fn is any or fn is all) and len(node.args) == 1:
        return loops.search(b, iterables.generator(b, node.args[0]), fn is any)
    if fn is list and len(node.args) == 1 and not node.keywords:
        return loops.list_comprehension(b, iterables.generator(b, node.args[0]))
    if any(fn is f for f in _EAGER):
        b.eager.update(map(id, node.args))
    args, kwargs = arguments(b, (), node)
    return ir.called(known, ir.Call(fn, args, kwargs))


def _method_call(b: Builder, node: Node) -> ir.Rhs:
    """`x.sum(axis=0)`."""
    if node.func.attr in ("join", "extend", "update"):  # these use up their argument at once
        b.eager.update(map(id, node.args))
    found = expressions.resolve_super(b, node.func.value)
    if found is not None:
        args, kwargs = arguments(b, (found[0],), node)
        return ir.Call(ir.Method(b.source.attribute(node.func.attr), found[1]), args, kwargs)
    args, kwargs = arguments(b, (node.func.value,), node)
    return ir.Call(ir.Method(b.source.attribute(node.func.attr)), args, kwargs)


def _unknown_call(b: Builder, node: Node) -> ir.Rhs:
    """A call of a local value."""
    args, kwargs = arguments(b, (node.func,), node)
    fn, rest = args[0], args[1:]
    if isinstance(fn, ir.Ref):
        return ir.called(replace(fn, text=""), ir.Call(fn.value, rest, kwargs))
    text = fn.id if isinstance(fn, ir.Name) else None
    return ir.Call(b.as_name(fn, node.func), rest, kwargs, text)


def _local_call(b: Builder, node: Node, meaning: LocalFunction | Pending) -> ir.Rhs:
    """A call of a nested function by its name."""
    if isinstance(meaning, Pending):
        b.refuse(
            node, f"the nested function `{node.func.id}` is called before its definition",
            "Define it first, or move it out of the function.",
        )  # fmt: skip
    loc = b.loc(node)
    if closures.is_recursive(meaning):
        args, kwargs = arguments(b, (), node)
        return closures.call(b, meaning, ir.Call(meaning.name, args, kwargs), loc)  # type: ignore[arg-type]
    if local_functions.needs_binding(node, meaning):
        callee = b.temp(closures.named(b, meaning, node), loc)
        args, kwargs = arguments(b, (), node)
        return ir.Call(callee, args, kwargs, meaning.name)
    return local_functions.inline(b, node, meaning)


# --- calls that stand for others: `accumulate`, `max` and `min` with `key=`, `einsum` of lists ---


Apply = Callable[..., ir.Rhs]


def call(b: Builder, node: Node) -> ir.Rhs:
    """A call."""
    done = None
    if type(node.func).__name__ in ("Name", "Attribute"):
        known = b.static(node.func)
        done = None if known is None else _applied(b, node, known.value)
    return direct_call(b, node) if done is None else done


def _applied(b: Builder, node: Node, fn: Any) -> ir.Rhs | None:
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
    names = [iterables.variable(b, "item") for _ in range(count)]
    step = iterables.call_of(b, node, names, call)

    def apply(*values: ir.Atom) -> ir.Rhs:
        for name, value in zip(names, values, strict=True):
            b.emit(ir.Assign(ir.Name(name), value, b.loc(call)))
        return b.rhs(step)

    return apply


def _accumulate(b: Builder, node: Node) -> ir.Rhs | None:
    """`itertools.accumulate(xs, f, initial=v)`: a list."""
    start = next((k.value for k in node.keywords if k.arg == "initial"), None)
    given = [*node.args[1:], *(k.value for k in node.keywords if k.arg == "func")]
    if len(given) > 1 or not node.args:
        return None
    apply = _function(b, given[0], 2, node) if given else _plus
    loc = b.loc(node)
    source: ir.Atom = b.name(node.args[0])
    total = b.fresh("_total")
    if start is not None:
        b.emit(ir.Assign(total, b.rhs(start), loc))
    else:
        b.emit(ir.Assign(total, ir.Call(operator.getitem, (source, ir.Const(0))), loc))
        rest = ir.Slice(ir.Const(1), ir.NONE, ir.NONE)
        source = b.temp(ir.Call(operator.getitem, (source, rest)), loc)
    result = b.temp(ir.Call(ir.make_list, (total,)), loc)

    def step(element: Element) -> None:
        value = b.as_atom(element_rhs(b, element, node), node)
        b.emit(ir.Assign(total, apply(total, value), loc))
        b.emit(ir.Effect(ir.Call(ir.Method("append"), (result, total)), loc))

    loops.loop_through(b, Sequence(source), step, loc)
    return result


def _plus(*values: ir.Atom) -> ir.Rhs:
    return ir.Call(operator.add, values)


def _extreme(b: Builder, node: Node, fn: Any) -> ir.Rhs:
    """`max(xs, key=f)`, `max(a, b, key=f)`: the first item of which `f` is greatest."""
    apply = _function(b, node.keywords[0].value, 1, node)
    loc = b.loc(node)
    several = len(node.args) > 1
    items = at(gast.Tuple(node.args, gast.Load()), node) if several else node.args[0]
    source = _with_places(b, items, node)
    keys = b.temp(ir.Call(ir.make_list), loc)

    def append(element: Element) -> None:
        value = b.as_atom(apply(b.as_atom(element_rhs(b, element, node), node)), node)
        b.emit(ir.Effect(ir.Call(ir.Method("append"), (keys, value)), loc))

    loops.loop_through(b, Sequence(source), append, loc)
    first = sequences.first_greatest if fn is max else sequences.first_least
    place = b.temp(ir.Call(first, (keys,)), loc)
    return ir.Call(operator.getitem, (source, place))


def _with_places(b: Builder, items: Node, node: Node) -> ir.Name:
    """What is iterated, as a sequence: a dict has keys in the place of positions."""
    if iterables.is_lazy(b, items):
        made = loops.list_comprehension(b, iterables.generator(b, items))
        return b.temp(made, b.loc(node))
    known = b.static(items.func) if type(items).__name__ == "Call" else None
    if type(items).__name__ in ("List", "Tuple", "ListComp") or (known and known.value is range):
        return b.name(items)
    return b.temp(ir.Call(list, (b.name(items),), (), "list"), b.loc(node))


def _einsum(b: Builder, node: Node) -> ir.Rhs | None:
    """`np.einsum(x, [0, 1], y, [1, 2], [0, 2])` as `np.einsum("ab,bc->ac", x, y)`."""
    pairs, out = node.args[: len(node.args) // 2 * 2], node.args[len(node.args) // 2 * 2 :]
    labels = [_labels(n) for n in (*pairs[1::2], *out)]
    if not pairs or None in labels:
        return None
    count = len(pairs) // 2
    text = ",".join(map(str, labels[:count])) + "".join(f"->{after}" for after in labels[count:])
    operands = b.operands(pairs[::2])
    kwargs = tuple((k.arg, b.atom(k.value)) for k in node.keywords)
    return ir.Call(np.einsum, (ir.Const(text), *operands), kwargs, "np.einsum")


def _vectorize(b: Builder, node: Node) -> ir.Rhs | None:
    """`np.vectorize(f, otypes=[dtype])`."""
    keywords = {k.arg: k.value for k in node.keywords}
    otypes = node.args[1] if len(node.args) == 2 else keywords.get("otypes")
    dtype = (None,) if otypes is None else _only(otypes)
    if dtype is None or not node.args or len(node.args) > 2:
        return None
    if not set(keywords) <= {"otypes", "doc", "cache"}:
        return None
    from srcdiff.runtime.vectorize import each

    fn, *given = b.operands([node.args[0], *(d for d in dtype if d is not None)])
    made = given[0] if given else ir.NONE
    return ir.Call(functools.partial, (ir.Ref("each", each), fn, made), (), "np.vectorize")


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
