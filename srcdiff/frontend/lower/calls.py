"""Calls: of functions known by name, of methods, of nested functions (which are inlined).

Some calls stand for others: `accumulate`, `max` and `min` with `key=`, `np.ndarray(shape)`,
and `np.vectorize(f)`, which is a `functools.partial` of what calls `f` for
every number.
"""

from __future__ import annotations

import builtins
import functools
import itertools
import math
import operator
from collections import OrderedDict
from types import BuiltinMethodType
from typing import Any

import gast
import numpy as np

from srcdiff import ir
from srcdiff.frontend import closures, local_functions
from srcdiff.frontend.local_functions import arguments
from srcdiff.frontend.lower import builder, expressions, iterables, loops
from srcdiff.frontend.lower.builder import Builder, LocalFunction, Node, Table
from srcdiff.frontend.lower.iterables import Element, Sequence, element_rhs
from srcdiff.frontend.scopes import at, has_star
from srcdiff.runtime import sequences

# These read the frame that they are called in, or run text.
_FRAME_READERS = (
    builtins.eval, builtins.exec, builtins.locals, builtins.globals, builtins.super,
)  # fmt: skip
# These use up an iterable at once, so that a list gives the same as a generator.
_EAGER = (
    sum, min, max, tuple, list, sorted, set, frozenset, dict, math.fsum, math.prod, np.fromiter,
)  # fmt: skip
_OF_EMPTY = {"shape", "dtype"}
"""What `np.ndarray` and `np.empty` are given alike."""
_FROM_KEYS = (dict.fromkeys, OrderedDict.fromkeys)


def call(b: Builder, node: Node) -> ir.Rhs:
    """A call."""
    func = node.func
    if _gets_method(b, func):
        func = at(gast.Attribute(func.args[0], func.args[1].value, gast.Load()), func)
        node = b.new(at(gast.Call(func, node.args, node.keywords), node))
    if type(func).__name__ == "Name":
        meaning = b.scope.get(func.id)
        if isinstance(meaning, LocalFunction):
            return _local_call(b, node, meaning)
    if type(func).__name__ == "Lambda":
        return _lambda_call(b, node)
    if builder.asks_for_module(b, func):
        return ir.Ref("np", np)
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
    return isinstance(getattr(node.args[1], "value", None), str) and b.means(node.func, getattr)


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
    done = _applied(b, node, fn)
    if done is not None:
        return done
    if id(node) in b.eager and iterables.is_lazy(b, node):
        return loops.list_comprehension(b, iterables.generator(b, node))
    if any(iterables.is_lazy(b, a) for a in node.args):
        return _generator_call(b, node, known)
    return ir.called(known, ir.Call(fn, *arguments(b, (), node)))


def _generator_call(b: Builder, node: Node, known: ir.Ref) -> ir.Rhs:
    """`sum(f(x) for x in xs)`: items are collected first; `any`, `all` and `next` stop early."""
    fn = known.value
    if fn is next and len(node.args) <= 2:
        lazy, *default = node.args
        return loops.first(b, iterables.generator(b, lazy), b.atom(default[0]) if default else None)
    if (fn is any or fn is all) and len(node.args) == 1:
        return loops.search(b, iterables.generator(b, node.args[0]), fn is any)
    if fn is list and len(node.args) == 1 and not node.keywords:
        return loops.list_comprehension(b, iterables.generator(b, node.args[0]))
    if any(fn is f for f in _EAGER):
        b.eager.update(map(id, node.args))
    return ir.called(known, ir.Call(fn, *arguments(b, (), node)))


def _method_call(b: Builder, node: Node) -> ir.Rhs:
    """`x.sum(axis=0)`."""
    if node.func.attr in ("join", "extend", "update"):  # these use up their argument at once
        b.eager.update(map(id, node.args))
    base, after = expressions.resolve_super(b, node.func.value) or (node.func.value, None)
    method = ir.Method(b.source.attribute(node.func.attr), after)
    return ir.Call(method, *arguments(b, (base,), node))


def _unknown_call(b: Builder, node: Node) -> ir.Rhs:
    """A call of a local value."""
    args, kwargs = arguments(b, (node.func,), node)
    fn, rest = args[0], args[1:]
    text = fn.id if isinstance(fn, ir.Name) else None
    return ir.Call(b.as_name(fn, node.func), rest, kwargs, text)


def _local_call(b: Builder, node: Node, meaning: LocalFunction) -> ir.Rhs:
    """A call of a nested function by its name."""
    loc = b.loc(node)
    if closures.is_recursive(meaning):
        given = ir.Call(meaning.name, *arguments(b, (), node))  # type: ignore[arg-type]
        return closures.call(b, meaning, given, loc)
    if local_functions.needs_binding(node, meaning):
        callee = b.temp(closures.named(b, meaning, node), loc)
        args, kwargs = arguments(b, (), node)
        return ir.Call(callee, args, kwargs, meaning.name)
    return local_functions.inline(b, node, meaning)


# --- calls that stand for others -----------------------------------------------------------------


def _applied(b: Builder, node: Node, fn: Any) -> ir.Rhs | None:
    """A call of one of these functions as a loop, None for any other."""
    if has_star(node.args):
        return None
    if fn is itertools.accumulate:
        return _accumulate(b, node)
    plain = not node.keywords
    if plain and fn is functools.reduce and len(node.args) in (2, 3):
        function, items, *start = node.args
        return loops.folded(b, node, function, items, start[0] if start else None)
    from_keys = isinstance(fn, BuiltinMethodType) and fn in _FROM_KEYS
    if plain and from_keys and len(node.args) in (1, 2):
        return loops.dict_comprehension(b, iterables.from_keys(b, node))
    if fn is np.ndarray and len(node.args) <= 2 and {k.arg for k in node.keywords} <= _OF_EMPTY:
        return ir.Call(np.empty, *arguments(b, (), node), "np.empty")
    if fn is np.vectorize:
        return _vectorize(b, node)
    if (fn is max or fn is min) and [k.arg for k in node.keywords] == ["key"] and node.args:
        return _extreme(b, node, fn)
    return None


def _accumulate(b: Builder, node: Node) -> ir.Rhs | None:
    """`itertools.accumulate(xs, f, initial=v)`: a list."""
    start = next((k.value for k in node.keywords if k.arg == "initial"), None)
    given = [*node.args[1:], *(k.value for k in node.keywords if k.arg == "func")]
    if len(given) > 1 or not node.args:
        return None
    return loops.folded(b, node, given[0] if given else None, node.args[0], start, kept=True)


def _extreme(b: Builder, node: Node, fn: Any) -> ir.Rhs:
    """`max(xs, key=f)`, `max(a, b, key=f)`: the first item of which `f` is greatest."""
    item = b.variable("item")
    step = iterables.call_of(b, node.keywords[0].value, [item], node)
    several = len(node.args) > 1
    items = b.quoted("(*xs,)", node, xs=node.args) if several else node.args[0]
    source = _with_places(b, items, node)

    def key(element: Element) -> ir.Rhs:
        b.emit(ir.Assign(ir.Name(item), element_rhs(b, element, node), b.loc(node)))
        return b.rhs(step)

    keys = loops.listed(b, Sequence(source), key, node)
    first = sequences.first_greatest if fn is max else sequences.first_least
    place = b.temp(ir.Call(first, (keys,)), b.loc(node))
    return ir.Call(operator.getitem, (source, place))


def _with_places(b: Builder, items: Node, node: Node) -> ir.Name:
    """What is iterated, as a sequence: a dict has keys in the place of positions."""
    if iterables.is_lazy(b, items):
        made = loops.list_comprehension(b, iterables.generator(b, items))
        return b.temp(made, b.loc(node))
    is_range = type(items).__name__ == "Call" and b.means(items.func, range)
    if is_range or type(items).__name__ in ("List", "Tuple", "ListComp"):
        return b.name(items)
    return b.temp(ir.Call(list, (b.name(items),), (), "list"), b.loc(node))


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


TABLE: Table = {"Call": call}
