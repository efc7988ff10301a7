"""Extreme values that cancel out: `exp(x - max(x))` is divided by its sum, or its log gets it back.

Takes a block and the kinds of its names; gives the names of maxima and minima on which nothing
that leaves the block depends, whatever they are: they only keep `exp` from overflowing.  What a
value becomes when such a maximum moves is known of few operations; where it is not, or a value
that moves leaves, the maximum stays what it is.  The derivative by it, that of the second order
too, is zero, and a person who knows that leaves it out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field

from srcdiff import ir
from srcdiff.ir.frozen import frozen, replace, state
from srcdiff.primitives.arguments import argument, axes_named
from srcdiff.primitives.effects import written_into
from srcdiff.primitives.ops import Op, calling, which_op

Flows = Callable[[ir.Call, ir.Kinds], tuple[ir.Atom, ...]]
Axes = tuple[int | None, ...]

_EXTREMES = (Op.AMAX, Op.AMIN)


@frozen
class Moves:
    """How a value `v` moves with a maximum `m`: `by * dm`, if it is `scaled` `by * v * dm`.

    `axes`: for each axis of the value the axis along which `dm` differs, None where it does not.
    """

    by: float
    axes: Axes
    scaled: bool = False


def cancelled(
    block: ir.Block, kinds: Mapping[str, ir.Kind], classes: Mapping[str, str], flows: Flows
) -> frozenset[str]:
    """The maxima and minima on which nothing that leaves a block depends."""
    found = [s for s, _ in calling(block, *_EXTREMES) if type(s) is ir.Assign]
    started = [(s, first) for s in found if (first := _first(s, kinds)) is not None]
    if not started:
        return frozenset()
    bound = ir.binding_counts(block)
    stmts = ir.walk(block)
    written = {classes.get(n, n) for s in stmts for n in written_into(s, kinds)}
    steady = frozenset(n for n, k in bound.items() if k == 1 and classes.get(n, n) not in written)
    walks = (_Walk(s, {s.target.id: first}, kinds, flows, steady) for s, first in started)
    return frozenset(w.start.target.id for w in walks if w.cancels(block))


def _first(stmt: ir.Assign, kinds: Mapping[str, ir.Kind]) -> Moves | None:
    """How an extreme value along known axes moves with itself; None where they are not known."""
    call = stmt.rhs
    assert type(call) is ir.Call
    x = call.args[0] if call.args else None
    rank = ir.rank_of(kinds.get(x.id, ir.UNKNOWN)) if type(x) is ir.Name else None
    return None if rank is None else _reduced(call, Moves(1.0, tuple(range(rank))), is_first=True)


@state
class _Walk:
    """The way of one extreme value through a block; `moves` has the names that move with it."""

    start: ir.Assign
    moves: dict[str, Moves]
    kinds: ir.Kinds
    flows: Flows
    steady: frozenset[str]
    met: bool = False  # whether it is taken off what it is the maximum of
    read: set[str] = field(default_factory=set)  # before the present statement
    closed: set[str] = field(default_factory=set)  # what moves, but may be of an earlier turn

    def cancels(self, block: ir.Block) -> bool:
        """Whether no value that leaves the block moves."""
        return self.start.target.id in self.steady and self.block(block) and self.met

    def block(self, block: ir.Block) -> bool:
        """Whether all is known of the statements of a block; what moves is read in it alone."""
        before = {*self.moves}
        done = all(map(self.stmt, block))
        if any(s is self.start for s in block):
            before.discard(self.start.target.id)
        self.closed |= self.moves.keys() - before
        return done

    def stmt(self, stmt: ir.Stmt) -> bool:
        """Whether what moves at a statement, and by how much, is known."""
        self.read.update(ir.reads(stmt))
        if stmt is self.start:
            return stmt.target.id not in self.read
        if type(stmt) is ir.Assign:
            return self.assign(stmt)
        plain = isinstance(stmt, (ir.If, ir.While, ir.Verbatim))  # a test has no derivative
        if not plain and self.moving(ir.reads(stmt)):
            return False
        return all(map(self.block, ir.blocks(stmt)))

    def moving(self, names: Iterable[str]) -> bool:
        """Whether one of some names moves."""
        return not self.moves.keys().isdisjoint(names)

    def assign(self, stmt: ir.Assign) -> bool:
        """Whether it is known how the value of an assignment moves."""
        rhs, target = stmt.rhs, stmt.target.id
        read = self.flows(rhs, self.kinds) if type(rhs) is ir.Call else None
        names = {*ir.names(rhs)} if read is None else {n for a in read for n in ir.names(a)}
        if not self.moving(names):
            return True
        found = self.moves.get(rhs.id) if type(rhs) is ir.Name else None
        if type(rhs) is ir.Call:
            found = self.result(target, rhs)
        if found is None or not self.closed.isdisjoint(names):
            return False
        if found.by:
            self.moves[target] = found
        return not found.by or (target in self.steady and target not in self.read)

    # --- operations ---

    def result(self, target: str, call: ir.Call) -> Moves | None:
        """How the result of a call moves, by 0 if it does not; None where that is not known."""
        op = which_op(call)
        rank = ir.rank_of(self.kinds.get(target, ir.UNKNOWN))
        if rank is None or not call.args:
            return None
        x = self.moves.get(call.args[0].id) if type(call.args[0]) is ir.Name else None
        if op in _OF_TWO:
            return None if len(call.args) != 2 or call.kwargs else self.of_two(call, op, rank)
        if x is None or self.moving(n for a in call.args[1:] for n in ir.names(a)):
            return None
        if op in _REDUCTIONS:
            kept = op is Op.MEAN or x.scaled is (op is Op.NP_SUM)
            return _reduced(call, x) if kept else None
        if op is Op.GETITEM:
            return _indexed(x, call.args[1])
        if op is Op.EXPAND_DIMS:
            return _expanded(x, argument(call, "axis"), rank)
        return _of_one(op, x) if len(call.args) == 1 and not call.kwargs else None

    def of_two(self, call: ir.Call, op: Op | None, rank: int) -> Moves | None:
        """How a sum, a difference, a product or a quotient moves."""
        one, two = (self.moves.get(a.id) if type(a) is ir.Name else None for a in call.args)
        whole = [m for m in (one, two) if m is not None]
        axes = _joined([m.axes for m in whole], rank)
        if axes is None or any(ir.names(a) and type(a) is not ir.Name for a in call.args):
            return None
        if len({m.scaled for m in whole}) != 1:
            return None
        scaled, sign = whole[0].scaled, -1.0 if op in _TAKEN else 1.0
        by, other = one.by if one else 0.0, sign * two.by if two else 0.0
        if scaled is (op in _PRODUCTS):
            self.met |= not scaled and call.args[0] == ir.parts(self.start.rhs)[0]
            return Moves(by + other, axes, scaled)
        same = scaled and len(whole) == 2 and whole[0].by == whole[1].by
        return replace(whole[0], axes=axes) if same else None


def _of_one(op: Op | None, x: Moves) -> Moves | None:
    """How the result of an operation on one value moves."""
    if op in _NEGATIVE:
        return x if x.scaled else replace(x, by=-x.by)
    if op is (Op.LOG if x.scaled else Op.EXP):
        return replace(x, scaled=not x.scaled)
    return replace(x, by=2.0 * x.by) if op is Op.SQUARE and x.scaled else None


def _joined(found: list[Axes], rank: int) -> Axes | None:
    """The axes of a value of this rank that is broadcast from others; None if they do not fit."""
    if any(len(axes) > rank for axes in found):
        return None
    full = {(None,) * (rank - len(axes)) + axes for axes in found}
    return full.pop() if len(full) == 1 else None


def _reduced(call: ir.Call, x: Moves, is_first: bool = False) -> Moves | None:
    """How a reduction moves: along its axes all moves alike, as it does once it `is_first`."""
    if any(k not in ("axis", "keepdims") for k, _ in call.kwargs) or len(call.args) > 2:
        return None
    gone = axes_named(argument(call, "axis"), len(x.axes))
    keeps = argument(call, "keepdims") or ir.Const(False)
    if gone is None or type(keeps) is not ir.Const:
        return None
    if not is_first and any(x.axes[k] is not None for k in gone):
        return None
    axes = ((k, None if k in gone else a) for k, a in enumerate(x.axes))
    return replace(x, axes=tuple(a for k, a in axes if keeps.value or k not in gone))


def _expanded(x: Moves, axis: ir.Atom | None, rank: int) -> Moves | None:
    """How a value with more axes of length 1 moves."""
    new = None if axis is None else axes_named(axis, rank)
    if new is None or len(x.axes) + len(new) != rank:
        return None
    rest = iter(x.axes)
    return replace(x, axes=tuple(None if k in new else next(rest) for k in range(rank)))


def _indexed(x: Moves, index: ir.Atom) -> Moves | None:
    """How a part of a value moves: with new axes, or at one place of those where all are alike."""
    given = index.items if type(index) is ir.Tup else (index,)
    items = [ir.NONE if type(i) is ir.Ref and i.value is None else i for i in given]
    taken = sum(i not in (ir.NONE, ir.Const(...)) for i in items)
    if taken > len(x.axes):
        return None
    fill = [ir.ALL] * (len(x.axes) - taken)
    at = items.index(ir.Const(...)) if ir.Const(...) in items else len(items)
    rest, axes = iter(x.axes), list[int | None]()
    for item in (*items[:at], *fill, *items[at + 1 :]):
        axis = None if item == ir.NONE else next(rest)
        one = type(item) is ir.Const and type(item.value) is int
        if axis is not None and item != ir.ALL or not (one or item in (ir.NONE, ir.ALL)):
            return None
        if not one:
            axes.append(axis)
    return replace(x, axes=tuple(axes))


_TAKEN = (Op.SUB, Op.SUBTRACT, Op.DIV, Op.DIVIDE)
_PRODUCTS = (Op.MUL, Op.MULTIPLY, Op.DIV, Op.DIVIDE)
_OF_TWO = (*_TAKEN, Op.ADD, Op.NP_ADD, Op.MUL, Op.MULTIPLY)
_REDUCTIONS = (Op.NP_SUM, Op.MEAN, *_EXTREMES)
_NEGATIVE = (Op.NEG, Op.NEGATIVE)
