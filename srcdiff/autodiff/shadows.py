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
from collections.abc import Callable, Iterable

import numpy as np

from srcdiff import ir
from srcdiff.analysis.facts import COPIES, Facts, on_adjoint
from srcdiff.analysis.shadows import is_mirrored, may_copy
from srcdiff.autodiff.accumulate import zero_adjoint
from srcdiff.autodiff.containers import (
    CHANGES,
    Lines,
    Pairs,
    joined_adjoint,
    on_companions,
    permuted,
)
from srcdiff.errors import InternalError, refused
from srcdiff.ir.frozen import replace
from srcdiff.kinds.containers import tree_kind
from srcdiff.primitives.effects import Shown, displayed, makes_object, numbered, returns_view
from srcdiff.primitives.ops import Op, is_op
from srcdiff.primitives.views import is_array, is_array_if_any
from srcdiff.runtime import layout, sequences, trees


def copied_numbers(stmt: ir.Assign, facts: Facts) -> ir.Block:
    """The adjoint of a copy of containers: its numbers are numbers of their own."""
    call = stmt.rhs
    if not isinstance(call, ir.Call) or not call.args or not _is_copy(stmt, call, facts):
        return ()
    if not any(map(_may_be_number, ir.items_of(facts.kinds[stmt.target.id]))):
        return ()
    if facts.target.on_device:  # there they have arrays as adjoints
        raise refused("memory.copy_of_numbers", stmt.loc)
    source, lines = facts.adjoint(stmt.target.id), Lines(facts, stmt.loc)

    def give(name: ir.Name, piece: ir.Name) -> None:
        lines.effect(trees.add_numbers, facts.adjoint(name.id), piece)

    base, *rest = call.args
    if is_op(call, Op.ADD):
        joined_adjoint(call, source, lines, give, only_numbers=True)
    elif isinstance(base, ir.Tup):
        lines.show(source, numbered(base.items), only_numbers=True)
    elif isinstance(base, ir.Name) and base.id in facts.active:
        if is_op(call, Op.GETITEM) and rest[0] != ir.ALL:
            lines.effect(sequences.add_to_part, facts.adjoint(base.id), source, rest[0])
        else:
            give(base, source)
    return tuple(lines.out)


def check_part(stmt: ir.Store, facts: Facts) -> None:
    """Refuse `xs[1:] = ys` of lists that may hold numbers."""
    kind = facts.kinds.get(stmt.base.id)
    if not isinstance(stmt.index, ir.Slice) or is_array_if_any(kind):
        return
    if any(map(_may_be_number, ir.items_of(kind))):
        raise refused("memory.slice_of_numbers", stmt.loc)


def _is_copy(stmt: ir.Assign, call: ir.Call, facts: Facts) -> bool:
    """Whether a statement makes a new container of the items of others."""
    if is_array_if_any(facts.kinds.get(stmt.target.id)):
        return False
    if is_op(call, Op.GETITEM):
        return isinstance(call.args[1], ir.Slice)
    return is_op(call, *COPIES, Op.ADD)


def _may_be_number(kind: ir.Kind) -> bool:
    """Whether an item of a container may be an active number."""
    return ir.is_active_kind(kind) and not is_array_if_any(kind) and not ir.is_container(kind)


# --- statements on memory that nobody can follow, repeated on its shadows ------------------------


Adjoint = Callable[[ir.Stmt], Pairs]


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
    mine, call = facts.shadowed, ir.call_of(stmt)
    if isinstance(stmt, (ir.Store, ir.Effect)):
        changed: ir.Atom = stmt.base if isinstance(stmt, ir.Store) else ir.NONE
        if call is not None and isinstance(call.fn, ir.Method):
            changed = call.args[0]
        found = mine.intersection(ir.names(changed))
        return not all(is_array_if_any(facts.kinds.get(n)) for n in found)
    touched = ir.reads(stmt) if is_op(call, Op.POP) else ir.writes(stmt)
    return not mine.isdisjoint(touched)


def shadow_pairs(stmt: ir.Stmt, adjoint: Adjoint, facts: Facts) -> Pairs:
    """A statement and what it does to the shadows, as pairs; `adjoint` gives those without them."""
    work = _Mirror(facts, stmt.loc)
    if isinstance(stmt, ir.Assign):
        return work.pop(stmt, adjoint) if is_op(stmt.rhs, Op.POP) else work.bound(stmt, adjoint)
    if isinstance(stmt, ir.Store):
        return work.stored(stmt)
    if isinstance(stmt, ir.Permute):
        return work.permute(stmt, adjoint)
    assert isinstance(stmt, ir.Effect) and isinstance(stmt.rhs, ir.Call)
    return work.change(stmt, stmt.rhs)


_LAID = (Op.LAID_COPY, Op.LAID_LIKE)


class _Mirror(Lines):
    """The shadows of one statement, and what has to be made before them."""

    def pair(self, primal: ir.Stmt, adjoint: ir.Block = ()) -> ir.Pair:
        """A pair at the place of the statement."""
        return ir.Pair(primal, adjoint, self.loc)

    def pairs(self, block: Iterable[ir.Stmt]) -> Pairs:
        """Forward statements without adjoints."""
        return tuple(map(self.pair, block))

    def beside(self, stmt: ir.Stmt, back: ir.Block) -> Pairs:
        """A statement and what is written for the shadows; with the last of that goes `back`."""
        *before, last = self.out
        return (self.pair(stmt), *self.pairs(before), self.pair(last, back))

    # --- binding ---

    def bound(self, stmt: ir.Assign, adjoint: Adjoint) -> Pairs:
        """`x = ...`: a shadow of the same origin, or one of zeros for new memory."""
        shadow = self.facts.adjoint(stmt.target.id)
        if not self.is_shared(stmt):
            zero = ir.Assign(shadow, self.zero(stmt), self.loc)
            *first, last = adjoint(stmt)
            return (*first, replace(last, adjoint=()), self.pair(zero, last.adjoint))
        self.assign(shadow, self.mirrored(stmt.rhs))
        if may_copy(stmt.rhs):
            back = self.if_copied(stmt, adjoint)
        else:
            back = self.numbers(displayed(stmt.rhs) or (), shadow)
            back = back or copied_numbers(stmt, self.facts)
        return self.beside(stmt, back) if back else (*self.pairs(self.out), self.pair(stmt))

    def is_shared(self, stmt: ir.Assign) -> bool:
        """Whether the target's memory is that of names with shadows."""
        if stmt.target.id in self.facts.aliases.copies or not is_mirrored(stmt):
            return False
        if is_op(stmt.rhs, Op.ADD):
            return not is_array_if_any(self.facts.kinds.get(stmt.target.id))
        if not isinstance(stmt.rhs, ir.Call):
            return True
        if is_op(stmt.rhs, Op.COPY_METHOD) and not self.facts.is_container(stmt.rhs.args[0]):
            return False
        if is_op(stmt.rhs, Op.MAKE_LIST, Op.MAKE_DICT):
            return True
        # What a tuple holds cannot change, but for its shadow.
        held = tuple(a for a in stmt.rhs.args[:1] if self.facts.is_container(a))
        viewed = held or returns_view(stmt.rhs, self.facts.kinds)
        return any(self.has_memory(n) for a in viewed for n in ir.names(a))

    def has_memory(self, name: str) -> bool:
        """Whether a name has a shadow, kept or made where it is used."""
        return name in self.facts.active and self.facts.aliases.is_unclear(name)

    def zero(self, stmt: ir.Assign) -> ir.Rhs:
        """A shadow for new memory."""
        name = stmt.target
        kind = self.facts.kind(name)
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
        back = Lines(self.facts, self.loc)
        both = (self.facts.adjoint(stmt.target.id), self.facts.adjoint(base.id))
        apart = back.apply(operator.not_, back.apply(np.may_share_memory, *both))
        back.out.append(ir.If(apart, adjoint(stmt)[-1].adjoint, (), self.loc))
        return tuple(back.out)

    # --- expressions ---

    def mirrored(self, rhs: ir.Rhs) -> ir.Rhs:
        """An expression on names as the same one on their shadows."""
        if isinstance(rhs, ir.Tup):
            return ir.Call(ir.make_list, tuple(self.of(a) for a in rhs.items))
        if not isinstance(rhs, ir.Call):
            return self.of(rhs)  # type: ignore[arg-type]
        if is_op(rhs, Op.TUPLE):
            rhs = replace(rhs, fn=list, text=None)
        if makes_object(rhs.fn):
            items = (a for key, value in displayed(rhs) or () for a in (key, self.of(value)))
            return ir.Call(ir.make_dict, tuple(items))
        made = on_companions(rhs, self.of)
        if is_op(rhs, Op.ADD) and any(map(self.facts.is_container, rhs.args)):
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
        if atom.id in self.facts.shadowed:
            return self.facts.adjoint(atom.id)
        kind = self.facts.kind(atom)
        if ir.is_scalar(kind):
            return ir.Const(0.0)
        owner = self.facts.aliases.owner(atom.id)
        if atom.id in self.facts.aliases.views and owner in self.facts.shadowed:
            return self.view(atom)
        held = ir.inside(kind) if isinstance(kind, (ir.List, ir.Tuple)) else ()
        if held and all(map(ir.is_scalar, held)):
            return self.constant(atom)
        raise InternalError(f"`{atom.id}` may be memory, and has no shadow")

    def constant(self, atom: ir.Atom) -> ir.Atom:
        """The shadow of a constant, beside which something active may come to stand."""
        if isinstance(atom, ir.Const):
            return ir.Const(0.0) if isinstance(atom.value, (float, complex)) else ir.NONE
        kind = self.facts.kind(atom)
        # A list is as long there as here: it may be joined with one that has a shadow.
        if not ir.is_active_kind(kind) and not self.facts.is_container(atom):
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
        back = Lines(self.facts, self.loc)
        back.show(source, shown, only_numbers=True)
        return tuple(back.out)

    def stored(self, stmt: ir.Store) -> Pairs:
        """`c[k] = v`."""
        assert isinstance(stmt, ir.SetItem)
        check_part(stmt, self.facts)
        base = self.facts.adjoint(stmt.base.id)
        self.store(base, stmt.index, self.of(stmt.value))
        return self.beside(stmt, self.numbers(((stmt.index, stmt.value),), base))

    def change(self, stmt: ir.Effect, call: ir.Call) -> Pairs:
        """`xs.append(v)`, `xs.insert(k, v)`, `xs.reverse()`."""
        if not is_op(call, *CHANGES):
            raise InternalError("a container with a shadow changes in no plain way", stmt)
        base, *rest = call.args
        assert isinstance(base, ir.Name)
        mirrored = on_companions(call, self.of)
        self.out.append(ir.Effect(mirrored, self.loc))
        place = rest[0] if len(rest) > 1 else ir.Const(-1)
        shown = [(place, a) for a in rest[-1:]]
        return self.beside(stmt, self.numbers(shown, self.facts.adjoint(base.id)))

    def pop(self, stmt: ir.Assign, adjoint: Adjoint) -> Pairs:
        """`v = xs.pop()`: a number gives its adjoint back to the place that it came from."""
        call, target = stmt.rhs, stmt.target
        assert isinstance(call, ir.Call)
        base, *place = call.args
        assert isinstance(base, ir.Name)
        if base.id not in self.facts.shadowed:
            return adjoint(stmt)
        back = Lines(self.facts, self.loc)
        if target.id in self.facts.shadowed:
            name = self.facts.adjoint(target.id)
        else:
            name = self.fresh("_gone")
            if target.id in self.facts.active:
                at = place[0] if place else ir.Const(-1)
                back.add(self.facts.adjoint(base.id), at, self.facts.adjoint(target.id))
                back.reset(target)
        mirrored = ir.Assign(name, on_companions(call, self.of), self.loc)
        return (self.pair(stmt, tuple(back.out)), self.pair(mirrored))

    def permute(self, stmt: ir.Permute, adjoint: Adjoint) -> Pairs:
        """`a, b = b, a`; what has no shadow changes places among its like."""
        both, mine = list(zip(stmt.targets, stmt.sources)), self.facts.shadowed
        if any((t.id in mine) != (s.id in mine) for t, s in both):
            raise InternalError("a name with a shadow and one without change places", stmt)
        plain = [(t, s) for t, s in both if t.id not in mine]
        rest = replace(stmt, targets=tuple(t for t, _ in plain), sources=tuple(s for _, s in plain))
        (own,) = adjoint(rest)
        mirrored = permuted(stmt, mine, self.facts)
        return (replace(own, primal=stmt), *self.pairs(mirrored))
