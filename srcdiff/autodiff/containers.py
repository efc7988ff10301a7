"""Statements on containers: the same on companions, and adjoints; stores that cut off values.

What is done to a list or dict is done to its companion: the container of the tangents, the shadow,
or the same container with a batch axis in its items.  `on_companions` says of every call which
operands have companions, and which are keys and places; `permuted` is the same for permutations.
What is done to adjoints and tangents at one statement is written into `Lines`.

The adjoint of a list, tuple or dict is a container of the same structure with an adjoint at every
leaf (tuples become lists, so that their items can be stored).  A list that grows or shrinks has its
adjoint made at the start of the backward part, from the list as it is at the end.

Of an array that may hold whole numbers the dtype is not known: where it has no fractions, nothing
that is stored into it has a derivative, and the adjoint or tangent of its place is cleared.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Container, Iterable, Mapping
from typing import Any

import numpy as np

from srcdiff import ir
from srcdiff.analysis.aliases import keeps_shape, may_be_dict
from srcdiff.analysis.facts import Facts
from srcdiff.analysis.links import JOINS
from srcdiff.errors import InternalError, TransformError, refused
from srcdiff.ir.builder import Builder, place_of
from srcdiff.ir.frozen import replace
from srcdiff.kinds.calls import atom_kind
from srcdiff.kinds.indexing import item_kind
from srcdiff.primitives.effects import Shown, numbered
from srcdiff.primitives.ops import Op, calling, is_op, which_op
from srcdiff.primitives.views import is_array
from srcdiff.runtime import arrays
from srcdiff.runtime.sequences import numbers, of_items, one_value
from srcdiff.runtime.trees import add_at, add_tree, copy_tree, kept, zero_tree

# --- what is done to a container is done to its companion: a tangent, a shadow, a batch -----------


_FILL = (Op.MAKE_LIST, *JOINS, Op.APPEND, Op.EXTEND, Op.UPDATE)
"""What makes or fills a container of all its arguments."""

_BESIDE: Mapping[Op | None, tuple[int, ...]] = {
    Op.INSERT: (1,), Op.VIEW_LIKE: (1, 2), **dict.fromkeys(_FILL, ()),
}  # fmt: skip
"""Which arguments are keys, places or values; of all other calls those behind the first."""


def on_companions(call: ir.Call, of: Callable[[ir.Atom], ir.Atom]) -> ir.Call:
    """A call on containers or of a view as the same call on what `of` gives for its operands.

    Keys, places and shapes stay as they are.
    """
    count = len(call.args)
    plain = range(0, count, 2) if is_op(call, Op.MAKE_DICT) else range(1, count)
    places: Container[int] = _BESIDE.get(which_op(call), plain)
    return replace(call, args=tuple(a if k in places else of(a) for k, a in enumerate(call.args)))


def permuted(stmt: ir.Permute, mine: Container[str], facts: Facts) -> ir.Block:
    """A permutation of the companions of some names, if any of these is permuted."""
    pairs = [(t, s) for t, s in zip(stmt.targets, stmt.sources) if t.id in mine]
    targets, sources = (tuple(facts.adjoint(p[k].id) for p in pairs) for k in range(2))
    return (ir.Permute(targets, sources, stmt.loc),) if pairs else ()


# --- what is written at one place -----------------------------------------------------------------


Pairs = tuple[ir.Pair, ...]
"""What a statement becomes: itself with its adjoint, and what stands before and behind it."""


class Lines(Builder):
    """Statements on adjoints or tangents at one place, with what is known of the function."""

    def __init__(self, facts: Facts, loc: ir.Loc) -> None:
        super().__init__(facts.fresh, loc)
        self.facts = facts

    def demand(self, like: ir.Name) -> ir.Name:
        """The adjoint of a name, from here on a buffer of its own."""
        adjoint = self.facts.adjoint(like.id)
        self.out.append(ir.Demand(adjoint, like, self.loc))
        return adjoint

    def give(self, like: ir.Name, value: ir.Atom) -> None:
        """`d_x += value`."""
        self.out.append(ir.Accum(self.facts.adjoint(like.id), value, like, self.loc))

    def reset(self, like: ir.Name) -> None:
        """The adjoint of a name is absent from here on."""
        self.out.append(ir.Reset(self.facts.adjoint(like.id), self.loc))

    def take(
        self, source: ir.Name, item: ir.Atom, *path: ir.Atom, only_numbers: bool = False
    ) -> None:
        """`d_item += source[k0][k1]`, for every active name in an item that is a display.

        `only_numbers`: but for those whose memory is shared, for which the same memory is there.
        """
        if isinstance(item, ir.Tup):
            for key, inner in numbered(item.items):
                self.take(source, inner, *path, key, only_numbers=only_numbers)
        elif isinstance(item, ir.Name) and item.id in self.facts.active:
            if not only_numbers or not self.facts.aliases.is_unclear(item.id):
                for key in path:
                    source = self.item(source, key)
                self.give(item, source)

    def show(self, source: ir.Name, shown: Shown, only_numbers: bool = False) -> None:
        """`t = (a, b)`: each item takes the adjoint of its place."""
        for key, item in shown:
            self.take(source, item, key, only_numbers=only_numbers)


def add_item(b: Builder, base: ir.Name, key: ir.Atom, value: ir.Atom, plain: bool) -> None:
    """`base[key] += value`; leaf by leaf unless the item is `plain`ly a number or array."""
    if plain:
        b.add(base, key, value)
    else:
        b.store(base, key, b.apply(add_tree, b.item(base, key), value))


def copied(name: str, facts: Facts, array: Callable[..., Any] = np.copy) -> ir.Call:
    """A copy of a variable: by `array` of an array, all through of what may be a container."""
    return ir.Call(array if is_array(facts.kinds.get(name)) else kept, (ir.Name(name),))


# --- adjoints of what is done to containers -------------------------------------------------------


def element_adjoint(stmt: ir.Assign, call: ir.Call, b: Lines) -> None:
    """`x = c[k]`: the place in the container's adjoint takes the adjoint of the element."""
    (base, key), facts = call.args, b.facts
    d_target = facts.adjoint(stmt.target.id)
    if not isinstance(base, ir.Name):
        raise InternalError("a display that is indexed has no name", stmt)
    d_base = b.demand(base)
    if isinstance(key, ir.Slice):
        _add_part(base, key, d_target, b)
    elif _is_resized_item(stmt.target.id, base.id, facts):
        b.store(d_base, key, b.apply(copy_tree, d_target))
    elif _may_repeat(base, key, facts):
        b.effect(add_at, d_base, key, d_target)
    else:
        kind = facts.kind(stmt.target)
        # Of an element that may be an integer there may be no adjoint.
        sure_one = ir.dtype_of(kind) is not None and not _holds_none(base, facts)
        add_item(b, d_base, key, d_target, sure_one and ir.is_numeric(kind))


def _is_resized_item(name: str, base: str, facts: Facts) -> bool:
    """Whether an item is taken once, and then changes its number of items or their shapes.

    The adjoint of the container may have been made when it was of another structure.
    """
    found = facts.aliases
    return name in found.taken.get(base, ()) and found.classes.get(name) in found.reshaped


def _add_part(base: ir.Name, part: ir.Slice, d_target: ir.Name, b: Lines) -> None:
    """`ys = xs[a:b]`: the adjoint of each item of the part is added at its place."""
    start = ir.Const(0) if part.lower == ir.NONE else part.lower
    plain = part.step == ir.NONE and isinstance(start, ir.Const) and start.value >= 0
    places = None if plain else b.item(b.call(range, b.call(len, base)), part)

    def add(inner: Builder, k: ir.Name) -> None:
        at: ir.Atom = k
        if places is not None:
            at = inner.item(places, k)
        elif start != ir.Const(0):
            at = inner.call(operator.add, k, start)
        value = inner.item(d_target, k)
        add_item(inner, b.facts.adjoint(base.id), at, value, _holds_numbers(b.facts.kind(base)))

    b.loop(b.call(len, d_target), add)


def _holds_numbers(kind: ir.Kind) -> bool:
    """Whether every item of a container is surely a number or array with a derivative."""
    items = ir.inside(kind)
    return bool(items) and all(ir.is_float(k) for k in items)


def concatenation_adjoint(stmt: ir.Assign, call: ir.Call, b: Lines) -> None:
    """`c = a + b`: each takes the adjoints of its own items."""
    source = b.facts.adjoint(stmt.target.id)
    for atom in call.args:
        if isinstance(atom, ir.Name) and not ir.is_container(b.facts.kind(atom)):
            b.assign(source, ir.Call(of_items, (source, atom, *place_of(stmt.loc))))
    joined_adjoint(call, source, b, b.give)


def joined_adjoint(
    call: ir.Call,
    source: ir.Name,
    b: Lines,
    give: Callable[[ir.Name, ir.Name], None],
    only_numbers: bool = False,
) -> None:
    """The parts of an adjoint go to the operands of a concatenation: `give` writes it for names."""
    counts = [_count(atom, b.facts) for atom in call.args]
    split: ir.Atom
    if counts[0] is not None:
        split = ir.Const(counts[0])
    elif counts[1]:
        split = ir.Const(-counts[1])
    else:
        split = b.call(len, call.args[0])
    places = ir.Slice(ir.NONE, split, ir.NONE), ir.Slice(split, ir.NONE, ir.NONE)
    for atom, place, first in zip(call.args, places, (0, -(counts[1] or 0))):
        if isinstance(atom, ir.Tup):
            b.show(source, numbered(atom.items, first), only_numbers)
        elif isinstance(atom, ir.Name) and atom.id in b.facts.active:
            give(atom, b.item(source, place))


def check_sum(stmt: ir.Assign, call: ir.Call, b: Lines) -> None:
    """A check that `+` or `*` of what may be lists made no list: its adjoint would be another.

    A list times a float is none, though its adjoint may have been added to that of one.
    """
    facts = b.facts
    joins = is_op(call, Op.ADD, Op.MUL) and facts.sampled
    if not joins or not may_join(call, facts.kinds):
        return
    by_float = any(ir.is_float(atom_kind(a, facts.kinds)) for a in call.args)
    check = numbers if by_float and is_op(call, Op.MUL) else one_value
    adjoint = facts.adjoint(stmt.target.id)
    args = (adjoint, *place_of(stmt.loc))
    if stmt.target.id in facts.shadowed:  # a shadow stays what the forward part has made
        b.effect(check, *args)
    else:
        b.assign(adjoint, ir.Call(check, args))


def may_join(call: ir.Call, kinds: Mapping[str, ir.Kind]) -> bool:
    """Whether operands may be lists for all that is known."""
    found = [atom_kind(a, kinds) for a in call.args]
    unknown = [k for k in found if not ir.is_numeric(k) and not ir.is_container(k)]
    rest = [k for k in found if ir.is_numeric(k)]
    counts = is_op(call, Op.MUL) and all(isinstance(k, ir.Scalar) for k in rest)
    return bool(unknown) and (counts or not rest)


def _count(atom: ir.Atom, facts: Facts) -> int | None:
    """The number of items of an operand of a concatenation, None if unknown."""
    if isinstance(atom, ir.Tup):
        return len(atom.items)
    items = ir.known_items(facts.kind(atom))
    return None if items is None else len(items)


def _may_repeat(base: ir.Name, key: ir.Atom, facts: Facts) -> bool:
    """Whether the base may be an array and the key an array that selects an element twice."""
    parts = key.items if isinstance(key, ir.Tup) else (key,)
    kinds = [ir.sure(facts.kind(k)) for k in parts if isinstance(k, (ir.Name, ir.Ref))]
    maybe = isinstance(ir.sure(facts.kind(base)), (ir.Unknown, ir.Array))
    return maybe and any(isinstance(k, (ir.Unknown, ir.Array, ir.List)) for k in kinds)


def _holds_none(base: ir.Name, facts: Facts) -> bool:
    """Whether a container has items without a derivative beside those that have one."""
    known = map(ir.dtype_of, ir.inside(facts.kinds.get(base.id)))
    return any(d is not None and not ir.is_inexact_dtype(d) for d in known)


def store_adjoint(stmt: ir.Store, b: Lines) -> None:
    """`c[k] = v`: v takes the adjoint of its place, which becomes zero."""
    if not isinstance(stmt, ir.SetItem):
        raise InternalError("an operator in place on an item of a container is left", stmt)
    if isinstance(stmt.index, ir.Slice):
        raise _unsupported("a store into a slice of a dict", stmt.loc)
    d_base = b.demand(stmt.base)
    like = piece = b.item(d_base, stmt.index)
    if not b.facts.is_container(stmt.base):
        like = piece = b.apply(arrays.of_item, piece, stmt.value)
    if not keeps_shape(stmt, b.facts.kinds) or _may_become_complex(stmt, b.facts):
        b.out.append(ir.Undo(stmt.loc))
        like = b.temp(_old_item(stmt, b.facts))
    b.store(d_base, stmt.index, b.apply(zero_tree, like))
    b.take(piece, stmt.value)


def may_store_tree(stmt: ir.Store, facts: Facts) -> bool:
    """Whether for all that is known a container may be stored, as one item of another one."""
    known = {atom_kind(stmt.base, facts.kinds), atom_kind(stmt.value, facts.kinds)}
    one = type(stmt.index) is ir.Const and type(stmt.index.value) in (int, str)
    return type(stmt) is ir.SetItem and one and known == {ir.UNKNOWN}


def check_items(stmt: ir.Store, facts: Facts) -> None:
    """Refuse items for a part of what may be a list, whose length they change."""
    items = isinstance(stmt.index, ir.Slice) and ir.is_container(atom_kind(stmt.value, facts.kinds))
    if items and not ir.is_numeric(atom_kind(stmt.base, facts.kinds)):
        raise refused("memory.slice_of_unknown", stmt.loc, name=ir.said(stmt.base.id))


def _may_become_complex(stmt: ir.SetItem, facts: Facts) -> bool:
    """Whether what is stored may be complex where what was at its place is real."""
    key = atom_kind(stmt.index, facts.kinds)
    return facts.complex and not ir.is_float(item_kind(facts.kind(stmt.base), key))


def _old_item(stmt: ir.SetItem, facts: Facts) -> ir.Call:
    """What was at the place of a store: None where there was no such key."""
    if may_be_dict(atom_kind(stmt.base, facts.kinds), atom_kind(stmt.index, facts.kinds)):
        return ir.Call(ir.Method("get"), (stmt.base, stmt.index))
    return ir.Call(operator.getitem, (stmt.base, stmt.index))


CHANGES = (Op.APPEND, Op.INSERT, Op.REVERSE)
"""The methods of containers, beside `pop`, that have an adjoint."""


def change_adjoint(stmt: ir.Effect, call: ir.Call, b: Lines) -> None:
    """`xs.append(v)`, `xs.insert(k, v)`: the item of the list's adjoint is taken off, for v."""
    assert isinstance(call.fn, ir.Method)
    base, *rest = call.args
    if not is_op(call, *CHANGES) or not isinstance(base, ir.Name):
        raise _unsupported(f"the method `{call.fn.name}` on a container of active values", stmt.loc)
    if base.id not in b.facts.active:
        return
    d_base = b.facts.adjoint(base.id)
    if rest:
        b.take(b.method("pop", d_base, *rest[:-1]), rest[-1])
    else:
        b.effect(call.fn, d_base)


def pop_adjoint(stmt: ir.Assign, call: ir.Call, b: Lines) -> None:
    """`v = xs.pop()`: the adjoint of v is put back into the adjoint of the list or dict."""
    base, target, facts = call.args[0], stmt.target, b.facts
    assert isinstance(base, ir.Name)
    active = target.id in facts.active
    if base.id in facts.active:
        item = b.demand(target) if active else b.apply(zero_tree, target)
        b.out.append(put_back(stmt, facts.adjoint(base.id), item, facts))
    if active:  # what is popped may be written into
        b.reset(target)


def put_back(stmt: ir.Assign, base: ir.Name, item: ir.Name, facts: Facts) -> ir.Stmt:
    """The statement that undoes `v = xs.pop()`, on a list or dict of the same structure."""
    call = stmt.rhs
    assert isinstance(call, ir.Call)
    owner, *place = call.args
    if place and isinstance(facts.kind(owner), ir.Dict):
        return ir.SetItem(base, place[0], item, loc=stmt.loc)
    name = "insert" if place else "append"
    return ir.Effect(ir.Call(ir.Method(name), (base, *place, item)), stmt.loc)


def resized(block: ir.Block) -> frozenset[str]:
    """The lists and dicts that a block puts items into or takes items out of."""
    made = calling(block, *CHANGES, Op.POP)
    return frozenset([n for _, call in made for n in ir.names(call.args[0])])


def _unsupported(what: str, loc: ir.Loc) -> TransformError:
    return refused("memory.container_form", loc, what=what)


# --- stores into arrays that may hold whole numbers, which cut off what is stored ----------------


def clear_cut(
    base: ir.Name, index: ir.Atom | None, stored: Iterable[str], b: Lines, made: bool = False
) -> None:
    """Clear the adjoint or tangent of a place where what is `stored` was cut.

    It may be where values with a derivative go into what may be an array of whole numbers.  `made`:
    it is a tangent, which is there.
    """
    facts, kind = b.facts, ir.sure(b.facts.kind(base))
    unknown = kind == ir.UNKNOWN or (isinstance(kind, ir.Array) and kind.dtype is None)
    others = {n for n in stored if n != base.id}
    if not unknown or base.id not in facts.active or facts.active.isdisjoint(others):
        return
    cleared = facts.adjoint(base.id) if made else b.demand(base)
    at = ir.Const(...) if index is None else index
    test = b.call(arrays.is_discrete, base)
    b.branch(test, lambda inner: inner.store(cleared, at, ir.Const(0.0)), lambda inner: None)
