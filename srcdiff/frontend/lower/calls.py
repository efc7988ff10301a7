"""Calls: of functions known by name, of methods, of nested functions (which are inlined)."""

from __future__ import annotations

import builtins
import math

import gast
import numpy as np

from srcdiff.frontend.closures import closures, lifted, local
from srcdiff.frontend.closures.local import arguments
from srcdiff.frontend.lower import comprehensions, folds, functional, objects
from srcdiff.frontend.lower.builder import Builder, LocalFunction, Node, Pending, Table
from srcdiff.frontend.lower.nodes import at
from srcdiff.ir import Call, Callee, Method, Name, Ref, Rhs

# These read the frame that they are called in, or run text.
_FRAME_READERS = (
    builtins.eval, builtins.exec, builtins.locals, builtins.globals, builtins.super,
)  # fmt: skip
# These use up an iterable at once, so that a list gives the same as a generator.
_EAGER = (
    sum, min, max, tuple, list, sorted, set, frozenset, dict, math.fsum, math.prod, np.fromiter,
)  # fmt: skip


def call(b: Builder, node: Node) -> Rhs:
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
    if known is not None and type(known.value).__hash__ is None:
        return _method_of_object(b, node)
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


def _method_of_object(b: Builder, node: Node) -> Rhs:
    """A call of an object that has no hash to ask for rules with: of its method."""
    args, kwargs = arguments(b, (node.func,), node)
    return Call(Method("__call__"), args, kwargs)


def _lambda_call(b: Builder, node: Node) -> Rhs:
    """`(lambda y: ...)(x)`."""
    fn = local.local_function(b, node.func, "lambda")
    return _local_call(b, node, fn)


def _known_call(b: Builder, node: Node, known: Ref) -> Rhs:
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
    if functional.is_from_keys(fn, node):
        return comprehensions.dict_comprehension(b, functional.from_keys(b, node))
    if folds.is_reduce(fn, node):
        return folds.reduced(b, node)
    if id(node) in b.eager and functional.is_lazy(b, node):
        return comprehensions.list_comprehension(b, functional.generator(b, node))
    if any(functional.is_lazy(b, a) for a in node.args):
        return _generator_call(b, node, known)
    args, kwargs = arguments(b, (), node)
    return Call(fn, args, kwargs, known.text)


def _generator_call(b: Builder, node: Node, known: Ref) -> Rhs:
    """`sum(f(x) for x in xs)`: the items are collected first; `any` and `all` stop early."""
    fn = known.value
    if (fn is any or fn is all) and len(node.args) == 1:
        return comprehensions.search(b, functional.generator(b, node.args[0]), fn is any)
    if fn is list and len(node.args) == 1 and not node.keywords:
        return comprehensions.list_comprehension(b, functional.generator(b, node.args[0]))
    if any(fn is f for f in _EAGER):
        b.eager.update(map(id, node.args))
    args, kwargs = arguments(b, (), node)
    return Call(fn, args, kwargs, known.text)


def _method_call(b: Builder, node: Node) -> Rhs:
    """`x.sum(axis=0)`."""
    if node.func.attr in ("join", "extend", "update"):  # these use up their argument at once
        b.eager.update(map(id, node.args))
    found = objects.behind(b, node.func.value)
    if found is not None:
        args, kwargs = arguments(b, (found[0],), node)
        return Call(Method(b.source.attribute(node.func.attr), found[1]), args, kwargs)
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


def _local_call(b: Builder, node: Node, meaning: LocalFunction | Pending) -> Rhs:
    """A call of a nested function by its name."""
    if isinstance(meaning, Pending):
        b.refuse(
            node, f"the nested function `{node.func.id}` is called before its definition",
            "Define it first, or move it out of the function.",
        )  # fmt: skip
    loc = b.loc(node)
    if lifted.is_recursive(meaning):
        args, kwargs = arguments(b, (), node)
        return lifted.call(b, meaning, Call(meaning.name, args, kwargs), loc)  # type: ignore[arg-type]
    if local.needs_binding(node, meaning):
        callee = b.temp(closures.named(b, meaning, node), loc)
        args, kwargs = arguments(b, (), node)
        return Call(callee, args, kwargs, meaning.name)
    return local.inline(b, node, meaning)


TABLE: Table = {"Call": call}
__all__ = ["TABLE"]
