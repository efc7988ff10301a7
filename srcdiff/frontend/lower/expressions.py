"""Expressions: names, literals, operators, attributes, subscripts, displays.

`super()` in a method is the object, and the class behind which its members are looked up.
"""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import gast
import numpy as np

from srcdiff import ir
from srcdiff.frontend import closures
from srcdiff.frontend.lower import purity
from srcdiff.frontend.lower.builder import (
    Adjoint,
    Builder,
    LocalFunction,
    Node,
    Pending,
    Table,
)
from srcdiff.frontend.scopes import declared


def resolve_super(b: Builder, node: Node) -> tuple[Node, type] | None:
    """What `super()` or `super(C, self)` stands for, None for any other expression."""
    if type(node).__name__ != "Call" or node.keywords or type(node.func).__name__ != "Name":
        return None
    known = b.static(node.func)
    if known is None or known.value is not builtins.super:
        return None
    if len(node.args) == 2:
        cls = b.static(node.args[0])
        return (node.args[1], cls.value) if cls and isinstance(cls.value, type) else None
    first = _first_parameter(b)
    if node.args or first is None or "__class__" not in b.source.namespace.cells:
        return None
    return gast.copy_location(first, node), b.source.namespace.resolve("__class__")


def _first_parameter(b: Builder) -> Node | None:
    """The object of the method that is being lowered."""
    params = (n.id for n, style, _ in declared(b.source.tree.args) if style in ("pos", "any"))
    names = [*b.source.bound, *params]
    return gast.Name(names[0], gast.Load(), None, None) if names else None


BINARY = {
    "Add": "+", "Sub": "-", "Mult": "*", "MatMult": "@", "Div": "/", "Mod": "%", "Pow": "**",
    "LShift": "<<", "RShift": ">>", "BitOr": "|", "BitXor": "^", "BitAnd": "&", "FloorDiv": "//",
}  # fmt: skip
UNARY: dict[str, Any] = {
    "Invert": operator.invert,
    "Not": operator.not_,
    "UAdd": operator.pos,
    "USub": operator.neg,
}
COMPARE: dict[str, Any] = {
    "Eq": operator.eq,
    "NotEq": operator.ne,
    "Lt": operator.lt,
    "LtE": operator.le,
    "Gt": operator.gt,
    "GtE": operator.ge,
    "Is": operator.is_,
    "IsNot": operator.is_not,
}
_NUMBERS = (int, float, complex)
_JOINERS = (type(np.r_), type(np.c_))


def constant(b: Builder, node: Node) -> ir.Rhs:
    """A literal."""
    return ir.Const(node.value)


def name(b: Builder, node: Node) -> ir.Rhs:
    """A local variable, or an object from outside."""
    meaning = b.scope.get(node.id)
    if isinstance(meaning, ir.Name):
        return meaning
    if isinstance(meaning, LocalFunction):
        return closures.named(b, meaning, node)
    if isinstance(meaning, Pending):
        b.refuse(
            node, f"the nested function `{node.id}` is used before its definition",
            "Define it first, or move it out of the function.",
        )  # fmt: skip
    if isinstance(meaning, Adjoint):
        b.refuse(node, "`d` stands alone", "Write `d[x]`, with `x` a name of the template.")
    found = b.static(node)
    assert found is not None
    return found if found.text or callable(found.value) else ir.Const(found.value)


def binary(b: Builder, node: Node) -> ir.Rhs:
    """`x + y`; a long sum is taken from the left in a loop, not by recursion."""
    spine = [node]
    while type(spine[-1].left).__name__ == "BinOp":
        spine.append(spine[-1].left)
    rhs = b.rhs(spine[-1].left)
    for step in reversed(spine):
        left = b.held(b.as_atom(rhs, step.left), b.rebound([step.right]), step.left)
        rhs = ir.Call(ir.OPERATORS[BINARY[type(step.op).__name__]], (left, b.atom(step.right)))
    return rhs


def unary(b: Builder, node: Node) -> ir.Rhs:
    """`-x`; a negative number is a literal, and so is `-np.inf`."""
    kind, operand = type(node.op).__name__, node.operand
    if kind == "USub" and type(operand).__name__ == "Constant" and type(operand.value) in _NUMBERS:
        return ir.Const(-operand.value)
    atom = b.atom(operand)
    value = atom.value if isinstance(atom, ir.Ref) else None
    if kind == "USub" and type(value) is float and value == math.inf:
        return ir.Const(-math.inf)
    return ir.Call(UNARY[kind], (atom,))


def attribute(b: Builder, node: Node) -> ir.Rhs:
    """`x.T`; of a module or class, the object itself."""
    found = b.static(node)
    if found is not None:
        return found
    base, after = resolve_super(b, node.value) or (node.value, None)
    return ir.Call(ir.Attr(b.source.attribute(node.attr), after), (b.atom(base),))


def subscript(b: Builder, node: Node) -> ir.Rhs:
    """`x[i]`; `np.r_[x, y]` and `np.c_[x, y]` are functions that are called with brackets."""
    known = b.static(node.value)
    if known is not None and isinstance(known.value, _JOINERS):
        return _join(known, _joined(b, node.slice, known))
    if known is not None and isinstance(known.value, type(np.s_)):
        return _index(b, node, bool(known.value.maketuple))
    value, index = b.operands((node.value, node.slice))
    # A display has a name: which of its items this is says who shares memory with whom.
    value = b.temp(value, b.loc(node)) if isinstance(value, ir.Tup) else value
    return ir.Call(operator.getitem, (value, index))


def _index(b: Builder, node: Node, in_tuple: bool) -> ir.Rhs:
    """The index that `np.s_[i:j, k]` is."""
    index = b.atom(node.slice)
    if isinstance(index, ir.Tup):
        loc = b.loc(node)
        made = (b.temp(_slice(a), loc) if isinstance(a, ir.Slice) else a for a in index.items)
        return ir.Tup(tuple(made))
    alone: ir.Rhs = _slice(index) if isinstance(index, ir.Slice) else index
    return ir.Tup((b.temp(alone, b.loc(node)),)) if in_tuple else alone


def _slice(atom: ir.Slice) -> ir.Call:
    """`slice(i, j, k)`."""
    return ir.Call(slice, (atom.lower, atom.upper, atom.step), text="slice")


def _joined(b: Builder, node: Node, joiner: ir.Ref) -> tuple[ir.Atom, ...]:
    """A tuple of arrays and numbers, without slices beside others; and the text on how to join."""
    index = b.atom(node)
    items = index.items if isinstance(index, ir.Tup) else (index,)
    texts = tuple(i for i in items if isinstance(i, ir.Const) and isinstance(i.value, str))
    if texts or all(isinstance(i, (ir.Slice, ir.Const)) and not _is_counted(i) for i in items):
        return (ir.Tup(items), *texts)

    def whole(item: ir.Atom) -> ir.Atom:
        return b.temp(_numbers(joiner, item), b.loc(node)) if isinstance(item, ir.Slice) else item

    return (ir.Tup(tuple(map(whole, items))),)


def _numbers(joiner: ir.Ref, part: ir.Slice) -> ir.Call:
    """The numbers that a slice stands for."""
    if not _is_counted(part):
        return _join(joiner, (ir.Tup((part,)),))
    assert isinstance(part.step, ir.Const)
    start = ir.Const(0) if part.lower == ir.NONE else part.lower
    args = (start, part.upper, ir.Const(int(abs(part.step.value))))
    return ir.Call(np.linspace, args, text="np.linspace")


def _is_counted(item: ir.Atom) -> bool:
    """Whether an item is a slice between ends that are computed, and `3j` says how many numbers."""
    if (
        not isinstance(item, ir.Slice)
        or not isinstance(item.step, ir.Const)
        or item.upper == ir.NONE
    ):
        return False
    computed = not isinstance(item.lower, ir.Const) or not isinstance(item.upper, ir.Const)
    return computed and type(item.step.value) is complex


def _join(joiner: ir.Ref, args: tuple[ir.Atom, ...]) -> ir.Call:
    return ir.Call(joiner.value.__getitem__, args, text=f"{joiner.text}[]")


def slice_(b: Builder, node: Node) -> ir.Rhs:
    """`lower:upper:step` in a subscript."""
    present = [n for n in (node.lower, node.upper, node.step) if n is not None]
    found = iter(b.operands(present))
    parts = [ir.NONE if n is None else next(found) for n in (node.lower, node.upper, node.step)]
    return ir.Slice(*parts)


def starred(b: Builder, node: Node) -> ir.Rhs:
    """`*xs` in a call or a display, which uses up an iterator at once."""
    b.eager.add(id(node.value))
    return ir.Star(b.atom(node.value))


def tuple_(b: Builder, node: Node) -> ir.Rhs:
    """`(x, y)`; with a starred item, a tuple made from a list."""
    items = tuple(b.operands(node.elts))
    if not any(isinstance(i, ir.Star) for i in items):
        return ir.Tup(items)
    made = b.temp(ir.Call(ir.make_list, items), b.loc(node))
    return ir.Call(tuple, (made,), text="tuple")


def list_(b: Builder, node: Node) -> ir.Rhs:
    """`[x, y]`."""
    return ir.Call(ir.make_list, tuple(b.operands(node.elts)))


def dict_(b: Builder, node: Node) -> ir.Rhs:
    """`{k: v}`; with `**other` inside, or keys that may be equal, built step by step."""
    if None in node.keys or not _are_apart(node.keys):
        return _merged_dict(b, node)
    pairs = [part for pair in zip(node.keys, node.values, strict=False) for part in pair]
    return ir.Call(ir.make_dict, tuple(b.operands(pairs)))


def _are_apart(keys: Sequence[Node]) -> bool:
    """Whether keys are certainly different ones: of several each is a constant."""
    if len(keys) < 2:
        return True
    constant = all(type(k).__name__ == "Constant" for k in keys)
    return constant and len({k.value for k in keys}) == len(keys)


def _merged_dict(b: Builder, node: Node) -> ir.Name:
    """A dict display with `**other` among its items."""
    loc = b.loc(node)
    made = b.temp(ir.Call(ir.make_dict), loc)
    for key, value in zip(node.keys, node.values, strict=False):
        if key is None:
            b.emit(ir.Effect(ir.Call(ir.Method("update"), (made, b.atom(value))), loc))
        else:
            k, v = b.operands((key, value))
            b.emit(ir.SetItem(made, k, v, loc=loc))
    return made


def opaque(b: Builder, node: Node) -> ir.Rhs:
    """A set or an f-string, which is no number: kept as text."""
    node = node if type(node).__name__ == "SetComp" else purity.with_held_items(b, node)
    purity.check_text(b, node)
    return b.opaque(node, harmless=type(node).__name__ == "JoinedStr")


def walrus(b: Builder, node: Node) -> ir.Rhs:
    """`(x := e)`."""
    target = b.target(node.target.id)
    b.emit(ir.Assign(target, b.rhs(node.value), b.loc(node)))
    return target


def conditional(b: Builder, node: Node) -> ir.Rhs:
    """`x if c else y`: both branches assign one temporary."""
    test = b.atom(node.test)
    result = b.fresh("_t")
    body = b.collect(lambda: b.emit(ir.Assign(result, b.rhs(node.body), b.loc(node.body))))
    orelse = b.collect(lambda: b.emit(ir.Assign(result, b.rhs(node.orelse), b.loc(node.orelse))))
    b.emit(ir.If(test, body, orelse, b.loc(node)))
    return result


def boolean(b: Builder, node: Node) -> ir.Rhs:
    """`x and y`, `x or y`: the later values are only computed where they are needed."""
    result = b.fresh("_t")

    def value(i: int) -> None:
        b.emit(ir.Assign(result, b.rhs(node.values[i]), b.loc(node.values[i])))

    value(0)
    _continued(b, result, value, range(1, len(node.values)), node)
    return result


def _continued(
    b: Builder, result: ir.Name, step: Callable[[int], None], steps: range, node: Node
) -> None:
    """Further steps that assign a result, each where what it is so far does not decide."""
    if not steps:
        return

    def rest() -> None:
        step(steps[0])
        _continued(b, result, step, steps[1:], node)

    block = b.collect(rest)
    ends = type(getattr(node, "op", None)).__name__ == "Or"
    b.emit(ir.If(result, () if ends else block, block if ends else (), b.loc(node)))


def comparison(b: Builder, node: Node) -> ir.Rhs:
    """`x < y`; a chain is an `and` whose middle values are computed once."""
    left, right = b.operands((node.left, node.comparators[0]))
    first = _compared(b, node.ops[0], left, right, node)
    if len(node.ops) == 1:
        return first
    left = b.held(right, b.rebound(node.comparators[1:]), node)
    result = b.temp(first, b.loc(node))

    def compare(i: int) -> None:
        nonlocal left
        right = b.atom(node.comparators[i])
        right = b.held(right, b.rebound(node.comparators[i + 1 :]), node)
        b.emit(ir.Assign(result, _compared(b, node.ops[i], left, right, node), b.loc(node)))
        left = right

    _continued(b, result, compare, range(1, len(node.ops)), node)
    return result


def _compared(b: Builder, op: Node, left: ir.Atom, right: ir.Atom, node: Node) -> ir.Call:
    """One comparison of two atoms."""
    kind = type(op).__name__
    if kind in COMPARE:
        return ir.Call(COMPARE[kind], (left, right))
    found = ir.Call(operator.contains, (right, left))
    return found if kind == "In" else ir.Call(operator.not_, (b.temp(found, b.loc(node)),))


def refuse_yield(b: Builder, node: Node) -> ir.Rhs:
    """Generators and coroutines have no derivative."""
    word = "await" if type(node).__name__ == "Await" else "yield"
    b.refuse(
        node, f"`{word}` is not supported in a differentiated function",
        "Return the values instead, in a list.",
    )  # fmt: skip


TABLE: Table = {
    "Constant": constant,
    "Name": name,
    "BinOp": binary,
    "UnaryOp": unary,
    "Attribute": attribute,
    "Subscript": subscript,
    "Slice": slice_,
    "Starred": starred,
    "Tuple": tuple_,
    "List": list_,
    "Dict": dict_,
    "Set": opaque,
    "SetComp": opaque,
    "Lambda": closures.anonymous,
    "JoinedStr": opaque,
    "NamedExpr": walrus,
    "IfExp": conditional,
    "BoolOp": boolean,
    "Compare": comparison,
    "Yield": refuse_yield,
    "YieldFrom": refuse_yield,
    "Await": refuse_yield,
}
