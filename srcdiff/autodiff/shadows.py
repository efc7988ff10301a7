"""Statements on memory that nobody can follow, repeated on its shadows.

Takes a statement that binds, or stores, names with shadows; returns it as pairs, beside the same
statement on the shadows.  The invariant: after every pair the shadow of each name is aliased with
other shadows exactly as the name is with their names, and new memory has a shadow of zeros.
A shadow is a variable of the forward part; the backward part adds to what it refers to.

A copy of a list has a copy of its shadow, which holds the same shadows of arrays and zeros in the
place of numbers.  The backward part gives what is added to these to the numbers that were copied.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence

import numpy as np

from srcdiff import ir
from srcdiff.analysis.facts import COPIES, Facts, on_adjoint
from srcdiff.analysis.shadows import is_mirrored, may_copy
from srcdiff.autodiff.accumulate import zero_adjoint
from srcdiff.autodiff.containers import (
    CHANGES,
    Shown,
    display_adjoint,
    displayed,
    joined_adjoint,
    numbered,
    on_companions,
    permuted,
)
from srcdiff.errors import InternalError, UnsupportedError
from srcdiff.ir.builder import Builder
from srcdiff.ir.frozen import replace
from srcdiff.ir.kinds import is_container
from srcdiff.kinds.containers import tree_kind
from srcdiff.primitives.effects import returns_view
from srcdiff.primitives.ops import Op, is_op
from srcdiff.primitives.views import is_array, is_array_if_any
from srcdiff.runtime import layout, sequences, trees
from srcdiff.runtime.devices import on_device


def copied_numbers(stmt: ir.Assign, facts: Facts) -> ir.Block:
    """The adjoint of a copy of containers: its numbers are numbers of their own."""
    call = stmt.rhs
    if not isinstance(call, ir.Call) or not call.args or not _is_copy(stmt, call, facts):
        return ()
    if not any(map(_may_be_number, _items(facts.kinds[stmt.target.id]))):
        return ()
    if on_device():  # there they have arrays as adjoints
        raise UnsupportedError(
            "a container of numbers that is known by several names, or holds arrays that are "
            "written in place, cannot be copied here",
            stmt.loc,
            remedy="Keep the numbers in a container of their own.",
        )
    source, lines = facts.adjoint(stmt.target.id), Builder(facts.fresh, stmt.loc)

    def give(name: ir.Name, piece: ir.Name) -> None:
        lines.effect(trees.add_numbers, facts.adjoint(name.id), piece)

    base, *rest = call.args
    if is_op(call, Op.ADD):
        joined_adjoint(call, source, facts, lines, give, only_numbers=True)
    elif isinstance(base, ir.Tup):
        shown = numbered(base.items)
        lines.out += display_adjoint(source, shown, facts, lines.loc, only_numbers=True)
    elif isinstance(base, ir.Name) and base.id in facts.active:
        if is_op(call, Op.GETITEM) and rest[0] != ir.Slice(ir.NONE, ir.NONE, ir.NONE):
            lines.effect(sequences.add_to_part, facts.adjoint(base.id), source, rest[0])
        else:
            give(base, source)
    return tuple(lines.out)


def check_part(stmt: ir.SetItem, facts: Facts) -> None:
    """Refuse `xs[1:] = ys` of lists that may hold numbers."""
    kind = facts.kinds.get(stmt.base.id)
    if not isinstance(stmt.index, ir.Slice) or is_array_if_any(kind):
        return
    if any(map(_may_be_number, _items(kind or ir.UNKNOWN))):
        raise UnsupportedError(
            "numbers are stored in a part of a list whose memory has another name",
            stmt.loc,
            remedy="Store them one by one.",
        )


def _is_copy(stmt: ir.Assign, call: ir.Call, facts: Facts) -> bool:
    """Whether a statement makes a new container of the items of others."""
    if is_array_if_any(facts.kinds.get(stmt.target.id)):
        return False
    if is_op(call, Op.GETITEM):
        return isinstance(call.args[1], ir.Slice)
    return is_op(call, *COPIES, Op.ADD)


def _items(kind: ir.Kind) -> tuple[ir.Kind, ...]:
    """The kinds of the items of a container."""
    if isinstance(kind, (ir.List, ir.Dict)):
        return ir.contents(kind)
    return (getattr(kind, "items", None) or ()) or (getattr(kind, "item", None) or ir.UNKNOWN,)


def _may_be_number(kind: ir.Kind) -> bool:
    """Whether an item of a container may be an active number."""
    return ir.is_active_kind(kind) and not is_array_if_any(kind) and not is_container(kind)


# --- statements on memory that nobody can follow, repeated on its shadows ------------------------


Adjoint = Callable[[ir.Stmt], ir.Block]


def with_shadows(facts: Facts) -> Facts:
    """The facts with the kinds and the classes of the shadows, which are memory of their own."""
    shared = facts.aliases
    kinds, classes, unclear = dict(facts.kinds), dict(shared.classes), set(shared.unclear)
    for name in shared.shadows & facts.active:
        shadow = facts.adjoints[name]
        kinds[shadow] = _shadow_kind(kinds[name])
        classes[shadow] = f"shadows of {classes[name]}"
        unclear.add(classes[shadow])
    shared = replace(shared, classes=classes, unclear=frozenset(unclear))
    return replace(facts, kinds=kinds, aliases=shared)


def _shadow_kind(kind: ir.Kind) -> ir.Kind:
    """The kind of a shadow; its dicts are made in places of their own."""
    made = tree_kind(kind)
    if isinstance(kind, ir.Dict) and isinstance(made, ir.Dict):
        items = tuple((k, _shadow_kind(v)) for k, v in kind.items)
        return ir.Dict(items, made.item, f"shadow of {kind.site}")
    return made


def touches_shadows(stmt: ir.Stmt, facts: Facts) -> bool:
    """Whether a statement binds a shadowed name, or changes what a shadowed container holds."""
    mine = facts.shadowed
    if isinstance(stmt, ir.SetItem):
        return stmt.base.id in mine and not is_array_if_any(facts.kinds.get(stmt.base.id))
    if isinstance(stmt, ir.Effect):
        call = stmt.rhs
        method = isinstance(call, ir.Call) and isinstance(call.fn, ir.Method)
        return method and bool(mine & set(ir.names(call.args[0])) - _arrays(facts))  # type: ignore[union-attr]
    if isinstance(stmt, ir.Assign) and is_op(stmt.rhs, Op.POP):
        return bool(mine & set(ir.names(stmt.rhs)))
    return bool(mine & set(ir.writes(stmt)))


def _arrays(facts: Facts) -> set[str]:
    return {n for n in facts.shadowed if is_array_if_any(facts.kinds.get(n))}


def shadow_pairs(stmt: ir.Stmt, adjoint: Adjoint, facts: Facts) -> ir.Block:
    """A statement and what it does to the shadows, as pairs."""
    work = _Mirror(facts, stmt.loc)
    if isinstance(stmt, ir.Assign):
        return work.bound(stmt, adjoint)
    if isinstance(stmt, ir.SetItem):
        return work.stored(stmt)
    if isinstance(stmt, ir.Permute):
        return work.permute(stmt, adjoint)
    assert isinstance(stmt, ir.Effect) and isinstance(stmt.rhs, ir.Call)
    return work.change(stmt, stmt.rhs)


_LAID = (Op.LAID_COPY, Op.LAID_LIKE)


class _Mirror(Builder):
    """The shadows of one statement, and what has to be made before them."""

    def __init__(self, facts: Facts, loc: ir.Loc) -> None:
        super().__init__(facts.fresh, loc)
        self.facts = facts

    def pair(self, primal: ir.Stmt | None, adjoint: ir.Block = ()) -> ir.Pair:
        """A pair at the place of the statement."""
        return ir.Pair(primal, adjoint, self.loc)

    def pairs(self, block: Sequence[ir.Stmt]) -> ir.Block:
        """Forward statements without adjoints."""
        return tuple(self.pair(s) for s in block)

    def has_shadow(self, name: str) -> bool:
        """Whether a name has a shadow in the forward part."""
        return name in self.facts.shadowed

    # --- binding ---

    def bound(self, stmt: ir.Assign, adjoint: Adjoint) -> ir.Block:
        """`x = ...`: a shadow of the same origin, or one of zeros for new memory."""
        if is_op(stmt.rhs, Op.POP):
            return self.pop(stmt, adjoint)
        if not self.is_shared(stmt):
            zero = ir.Assign(self.facts.adjoint(stmt.target.id), self.zero(stmt), self.loc)
            *first, last = self.as_pairs(stmt, adjoint(stmt))
            assert isinstance(last, ir.Pair)
            return (*first, replace(last, adjoint=()), self.pair(zero, last.adjoint))
        self.assign(self.facts.adjoint(stmt.target.id), self.mirrored(stmt.rhs))
        if isinstance(stmt.rhs, ir.Call) and may_copy(stmt.rhs):
            back = self.if_copied(stmt, adjoint)
        else:
            shown = displayed(stmt.rhs) or ()
            back = self.numbers(shown, self.facts.adjoint(stmt.target.id))
            back = back or copied_numbers(stmt, self.facts)
        if back:
            return (self.pair(stmt), *self.pairs(self.out[:-1]), self.pair(self.out[-1], back))
        return (*self.pairs(self.out), self.pair(stmt))

    def as_pairs(self, stmt: ir.Stmt, made: ir.Block) -> ir.Block:
        """What `adjoint` gave: pairs already, or the adjoint of the statement."""
        if made and isinstance(made[-1], ir.Pair):
            return made
        return (self.pair(stmt, made),)

    def is_shared(self, stmt: ir.Assign) -> bool:
        """Whether the target's memory is that of names with shadows."""
        if stmt.target.id in self.facts.aliases.copies or not is_mirrored(stmt):
            return False
        if is_op(stmt.rhs, Op.ADD):
            return not is_array_if_any(self.facts.kinds.get(stmt.target.id))
        if not isinstance(stmt.rhs, ir.Call):
            return True
        if is_op(stmt.rhs, Op.COPY_METHOD) and not self.is_container(stmt.rhs.args[0]):
            return False
        if is_op(stmt.rhs, Op.MAKE_LIST, Op.MAKE_DICT):
            return True
        # What a tuple holds cannot change, but for its shadow.
        held = tuple(a for a in stmt.rhs.args[:1] if self.is_container(a))
        viewed = held or returns_view(stmt.rhs, self.facts.kinds)
        return any(self.has_memory(n) for a in viewed for n in ir.names(a))

    def is_container(self, atom: ir.Atom) -> bool:
        """Whether something is certainly a list, tuple or dict, or None."""
        kind = (
            self.facts.kinds.get(atom.id, ir.UNKNOWN) if isinstance(atom, ir.Name) else ir.UNKNOWN
        )
        return is_container(ir.sure(kind))

    def has_memory(self, name: str) -> bool:
        """Whether a name has a shadow, kept or made where it is used."""
        return name in self.facts.active and self.facts.aliases.is_unclear(name)

    def zero(self, stmt: ir.Assign) -> ir.Rhs:
        """A shadow for new memory."""
        name = stmt.target
        kind = self.facts.kinds.get(name.id, ir.UNKNOWN)
        if is_array(kind) and ir.is_float(kind) and self.may_have_gaps(stmt.rhs):
            return ir.Call(layout.laid_like, (ir.Const(0.0), name))
        return zero_adjoint(name, kind)

    def may_have_gaps(self, rhs: ir.Rhs) -> bool:
        """Whether new memory may lie otherwise than what NumPy makes: views depend on that."""
        if not isinstance(rhs, ir.Call):
            return False
        base = rhs.args[0] if rhs.args else None
        item = is_op(rhs, Op.GETITEM) and isinstance(base, ir.Name)
        held = item and not is_array_if_any(self.facts.kinds.get(base.id))  # type: ignore[union-attr]
        return held or is_op(rhs, *_LAID) or isinstance(rhs.fn, (ir.Derived, ir.Name))

    def if_copied(self, stmt: ir.Assign, adjoint: Adjoint) -> ir.Block:
        """The adjoint of what turns out to be a copy and no view."""
        base = stmt.rhs.args[0]  # type: ignore[union-attr]
        assert isinstance(base, ir.Name)
        both = (self.facts.adjoint(stmt.target.id), self.facts.adjoint(base.id))
        shared, apart = self.facts.fresh(), self.facts.fresh()
        return (
            ir.Assign(shared, ir.Call(np.may_share_memory, both), self.loc),
            ir.Assign(apart, ir.Call(operator.not_, (shared,)), self.loc),
            ir.If(apart, adjoint(stmt), (), self.loc),
        )

    # --- expressions ---

    def mirrored(self, rhs: ir.Rhs) -> ir.Rhs:
        """An expression on names as the same one on their shadows."""
        if isinstance(rhs, ir.Tup):
            return ir.Call(ir.make_list, tuple(self.of(a) for a in rhs.items))
        if not isinstance(rhs, ir.Call):
            return self.of(rhs)  # type: ignore[arg-type]
        if is_op(rhs, Op.TUPLE):
            rhs = replace(rhs, fn=list, text=None)
        made = on_companions(rhs, self.of)
        joins = any(isinstance(a, ir.Tup) or self.is_container(a) for a in rhs.args)
        if is_op(rhs, Op.ADD) and joins:
            # Which is a sum for nobody: a write into an item is one into both lists.
            return ir.Call(ir.make_list, tuple(map(ir.Star, made.args)))
        return on_adjoint(made)

    def of(self, atom: ir.Atom) -> ir.Atom:
        """The shadow of what a container holds: zero for a number, None where nothing is active."""
        if isinstance(atom, ir.Tup):
            items = [self.of(a) for a in atom.items]
            return self.temp(ir.Call(ir.make_list, tuple(items)), "_d")
        if not isinstance(atom, ir.Name) or atom.id not in self.facts.active:
            return self.constant(atom)
        if self.has_shadow(atom.id):
            return self.facts.adjoint(atom.id)
        kind = self.facts.kinds.get(atom.id, ir.UNKNOWN)
        if ir.is_scalar(kind):
            return ir.Const(0.0)
        owner = self.facts.aliases.owner(atom.id)
        if atom.id in self.facts.aliases.views and self.has_shadow(owner):
            return self.view(atom)
        if (
            isinstance(kind, (ir.List, ir.Tuple))
            and ir.inside(kind)
            and all(map(ir.is_scalar, ir.inside(kind)))
        ):
            return self.constant(atom)
        raise InternalError(f"`{atom.id}` may be memory, and has no shadow")

    def constant(self, atom: ir.Atom) -> ir.Atom:
        """The shadow of a constant, beside which something active may come to stand."""
        if isinstance(atom, ir.Const):
            return ir.Const(0.0) if isinstance(atom.value, (float, complex)) else ir.NONE
        kind = (
            self.facts.kinds.get(atom.id, ir.UNKNOWN) if isinstance(atom, ir.Name) else ir.UNKNOWN
        )
        # A list is as long there as here: it may be joined with one that has a shadow.
        if not ir.is_active_kind(kind) and not self.is_container(atom):
            return ir.NONE
        number = ir.is_scalar(kind)
        return ir.Const(0.0) if number else self.temp(ir.Call(trees.zero_tree, (atom,)), "_d")

    def view(self, name: ir.Name) -> ir.Name:
        """The shadow of a view, made here."""
        found = self.facts.aliases.views[name.id]
        base = self.of(ir.Name(found.base))
        return self.temp(found.of(base), f"_{self.facts.adjoints[name.id]}")

    # --- containers ---

    def numbers(self, shown: Shown, source: ir.Name) -> ir.Block:
        """The active numbers in a display take what stands at their place."""
        return display_adjoint(source, shown, self.facts, self.loc, only_numbers=True)

    def stored(self, stmt: ir.SetItem) -> ir.Block:
        """`c[k] = v`."""
        assert stmt.index is not None and stmt.op is None
        check_part(stmt, self.facts)
        base = self.facts.adjoint(stmt.base.id)
        value = self.of(stmt.value)
        mirrored = ir.SetItem(base, stmt.index, value, None, self.loc)
        back = self.numbers(((stmt.index, stmt.value),), base)
        return (self.pair(stmt), *self.pairs(self.out), self.pair(mirrored, back))

    def change(self, stmt: ir.Effect, call: ir.Call) -> ir.Block:
        """`xs.append(v)`, `xs.insert(k, v)`, `xs.reverse()`."""
        if not is_op(call, *CHANGES):
            raise InternalError("a container with a shadow changes in no plain way", stmt)
        base, *rest = call.args
        assert isinstance(base, ir.Name)
        mirrored = ir.Effect(on_companions(call, self.of), self.loc)
        place = rest[0] if len(rest) > 1 else ir.Const(-1)
        back = self.numbers([(place, a) for a in rest[-1:]], self.facts.adjoint(base.id))
        return (self.pair(stmt), *self.pairs(self.out), self.pair(mirrored, back))

    def pop(self, stmt: ir.Assign, adjoint: Adjoint) -> ir.Block:
        """`v = xs.pop()`: a number gives its adjoint back to the place that it came from."""
        call = stmt.rhs
        assert isinstance(call, ir.Call)
        base = call.args[0]
        assert isinstance(base, ir.Name)
        if not self.has_shadow(base.id):
            return self.as_pairs(stmt, adjoint(stmt))
        place = call.args[1] if len(call.args) > 1 else ir.Const(-1)
        shadow = self.facts.adjoint(base.id)
        target = stmt.target
        shadowed = self.has_shadow(target.id)
        name = self.facts.adjoint(target.id) if shadowed else self.facts.fresh("_gone")
        mirrored = ir.Assign(name, on_companions(call, self.of), self.loc)
        back: ir.Block = ()
        if target.id in self.facts.active and not shadowed:
            value = self.facts.adjoint(target.id)
            add = ir.SetItem(shadow, place, value, "+", self.loc)
            back = (add, ir.Reset(value, self.loc))
        return (self.pair(stmt, back), self.pair(mirrored))

    def permute(self, stmt: ir.Permute, adjoint: Adjoint) -> ir.Block:
        """`a, b = b, a`; what has no shadow changes places among its like."""
        both = list(zip(stmt.targets, stmt.sources))
        plain = [(t, s) for t, s in both if not self.has_shadow(t.id)]
        if any(self.has_shadow(t.id) != self.has_shadow(s.id) for t, s in both):
            raise InternalError("a name with a shadow and one without change places", stmt)
        rest = replace(stmt, targets=tuple(t for t, _ in plain), sources=tuple(s for _, s in plain))
        mirrored = permuted(stmt, self.facts.shadowed, self.facts)
        return (self.pair(stmt, adjoint(rest)), *self.pairs(mirrored))
