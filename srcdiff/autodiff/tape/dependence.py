"""Stores that overwrite nothing that an adjoint still needs: nothing is saved for them.

Takes a `Pair` tree; returns the stores `A[e] = v` of which it is proved that no element that they
write was read before, for an adjoint, in the same memory.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator

from srcdiff import ir
from srcdiff.analysis.facts import Facts
from srcdiff.analysis.subscripts import Access, Subscripts, Where
from srcdiff.autodiff.tape.needs import (
    Contents,
    Stable,
    contents_of,
    contents_read,
    halves,
    is_cheap,
    primal_reads,
)
from srcdiff.ir.frozen import replace
from srcdiff.kinds.calls import kind_of_call
from srcdiff.primitives.effects import returns_view
from srcdiff.primitives.ops import Op, is_op


def stable(block: ir.Block, adjoint_names: frozenset[str], facts: Facts) -> Stable:
    """The stores of which it is proved that they overwrite nothing that is needed."""
    proof = _Proof(facts)
    for stmt in ir.walk(block):
        if type(stmt) is ir.Pair:
            found = primal_reads(stmt.adjoint, adjoint_names, facts)
            proof.reads[id(stmt)] = {n for n in found if isinstance(n, str)}
    proof.needed = set[str]().union(*proof.reads.values())
    proof.collect(block, Where())
    safe = frozenset(id(s.stmt) for s in proof.stores if proof.is_safe(s))
    return Stable(safe, frozenset(proof.readable(safe)), frozenset(proof.needed))


class _Proof(Subscripts):
    """All stores, and all reads for adjoints."""

    def __init__(self, facts: Facts) -> None:
        super().__init__(facts.kinds)
        self.facts = facts
        self.reads: dict[int, set[str]] = {}  # by each adjoint, of primal names
        self.needed: set[str] = set()  # all of them
        self.accesses: list[Access] = []
        self.stores: list[Access] = []
        self.moved: set[str] = set()  # classes of lists whose items change places

    # --- every needed read and every store ---

    def visit(self, stmt: ir.Stmt, where: Where) -> bool:
        """A statement with its adjoint, or what another one binds."""
        if type(stmt) is ir.Pair:
            self.pair(stmt, where)
            return True
        return super().visit(stmt, where)

    def pair(self, pair: ir.Pair, where: Where) -> None:
        """The definition, the read and the store of one statement."""
        stmt, facts = pair.primal, self.facts
        if stmt is not None:
            self.bindings(stmt, where)
            self.moved |= _moved_by(stmt, facts)
        if type(stmt) is ir.Assign:
            self.read(stmt, where)
        if isinstance(stmt, ir.Store) and contents_of(stmt.base.id, facts):
            self.stores.append(Access(stmt.base.id, stmt.index, where, stmt))
            # What puts the old elements back looks at an array of indices once more.
            self.look_at(ir.names(stmt.index), where, stmt)
        after = replace(where, path=(*where.path, 0))
        for half, place in zip(halves(pair.adjoint), (after, where)):
            self.adjoint(half, pair, place)

    def adjoint(self, block: ir.Block, pair: ir.Pair, where: Where) -> None:
        """What adjoint statements read: parts of arrays, or all of them."""
        parts = {id(s): s.rhs for s in block if type(s) is ir.Assign and is_op(s.rhs, Op.GETITEM)}
        others = ir.used(tuple(s for s in block if id(s) not in parts))
        stmt = pair if pair.primal is None else pair.primal
        for call in parts.values():
            base, index = call.args
            others = others.union(ir.names(index))
            if type(base) is ir.Name and base.id in self.reads[id(pair)]:
                if contents_of(base.id, self.facts):
                    self.accesses.append(Access(base.id, index, where, stmt))
        mine = self.reads[id(pair)].intersection(others)
        self.look_at((n for n in mine if not _is_piece(n, self.facts)), where, stmt)

    def look_at(self, names: Iterable[str], where: Where, stmt: ir.Stmt) -> None:
        """Reads of all of some arrays that somebody writes into."""
        mine = (n for n in names if contents_of(n, self.facts))
        self.accesses += (Access(n, None, where, stmt) for n in mine)

    def read(self, stmt: ir.Assign, where: Where) -> None:
        """A read `v = A[i]`, or `v = len(A)`, whose value an adjoint needs."""
        rhs, facts = stmt.rhs, self.facts
        if type(rhs) is not ir.Call or stmt.target.id not in self.needed:
            return
        if is_op(rhs, Op.GETITEM):
            base, index = rhs.args
            if type(base) is ir.Name and base.id in facts.aliases.classes:
                self.accesses.append(Access(base.id, index, where, stmt))
        elif is_cheap(rhs, facts, stmt.target.id) and not _is_view(stmt, rhs, facts):
            self.look_at(contents_read(rhs, facts), where, stmt)

    # --- the proof ---

    def is_safe(self, store: Access) -> bool:
        """Whether a store writes over nothing that was read for an adjoint."""
        rep = self.facts.aliases.classes[store.owner]
        if self.facts.aliases.is_unclear(store.owner) or rep in self.moved:
            return False
        same = Contents(rep)
        mates = [a for a in self.accesses if same in contents_of(a.owner, self.facts)]
        return all(self.is_after(a, store) for a in mates)

    def readable(self, safe: frozenset[int]) -> Iterator[int]:
        """The stores whose value can be read back: one more read that no store may overwrite."""
        classes = self.facts.aliases.classes
        for store in self.stores:
            if self.keeps_value(store):
                where = replace(store.where, path=(*store.where.path, 0))
                self.accesses.append(replace(store, where=where))
                mates = [s for s in self.stores if classes[s.owner] == classes[store.owner]]
                if all(id(s.stmt) in safe and self.is_safe(s) for s in mates):
                    yield id(store.stmt)
                else:
                    self.accesses.pop()

    def keeps_value(self, store: Access) -> bool:
        """Whether a store puts a needed value, unchanged in shape and dtype, into its array."""
        stmt, kinds = store.stmt, self.facts.kinds
        if not isinstance(stmt, ir.SetItem):
            return False
        if type(stmt.value) is not ir.Name or stmt.value.id not in self.needed:
            return False
        item = ir.Call(operator.getitem, (stmt.base, stmt.index))
        place = kind_of_call(item, kinds, self.facts.target.on_device)
        value = kinds.get(stmt.value.id)
        if value is None or getattr(place, "dtype", None) != getattr(value, "dtype", ""):
            return False
        return ir.broadcasts_to_itself(value, place)


def _moved_by(stmt: ir.Stmt, facts: Facts) -> set[str]:
    """The class of a list whose items a statement gives other places, which are taken back.

    What is read at one place before is overwritten at another one afterwards.
    """
    call = ir.call_of(stmt)
    if not is_op(call, Op.INSERT, Op.REVERSE, Op.POP) or (
        is_op(call, Op.POP) and not call.args[1:]
    ):
        return set()
    classes = facts.aliases.classes
    return {classes[n] for n in ir.names(call.args[0]) if n in classes}


def _is_view(stmt: ir.Assign, call: ir.Call, facts: Facts) -> bool:
    """Whether a call gives an array that shares memory: what is read of it is looked at there."""
    kind = facts.kinds.get(stmt.target.id, ir.UNKNOWN)
    return not ir.is_scalar(kind) and bool(returns_view(call, facts.kinds))


def _is_piece(name: str, facts: Facts) -> bool:
    """Whether a name is a part of an array, read where it is made by a subscript."""
    view = facts.aliases.views.get(name)
    return view is not None and is_op(view.rhs, Op.GETITEM)
