"""Saving what a statement overwrites, or a block computes, and putting it back.

Takes a primal statement and the items that it overwrites and later adjoints need; gives statements
before it that save them, and statements of the backward part that put them back.  A store under a
key that a dict has from the start replaces a value; under any other the key is taken out again.
Takes a loop's body (or a branch in it) and saves at its end what it computes for itself and its
adjoints need.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from typing import Any

import numpy as np

from srcdiff import ir
from srcdiff.analysis.aliases import may_be_dict
from srcdiff.analysis.facts import Facts
from srcdiff.autodiff.containers import copied, put_back
from srcdiff.autodiff.tape.needs import Contents, Item, contents_of, exposed
from srcdiff.errors import refused
from srcdiff.ir.builder import Builder
from srcdiff.ir.frozen import state
from srcdiff.ir.kinds import sure
from srcdiff.kinds.calls import atom_kind, kind_of_call
from srcdiff.primitives.effects import mutated_args
from srcdiff.primitives.ops import Op, is_op
from srcdiff.primitives.views import is_array, is_array_if_any
from srcdiff.runtime import trees

Keys = Mapping[str, frozenset[Any]]

_TAKEN_OUT = (Op.POP, Op.POPITEM, Op.CLEAR)
_HANDED_ON = (Op.GETITEM, Op.GET, Op.POP, Op.SETDEFAULT)


def first_keys(block: ir.Block, kinds: Mapping[str, ir.Kind]) -> Keys:
    """By the place that makes a dict, the keys that it certainly has all the time."""
    found: dict[str, frozenset[Any]] = {}
    primal = ir.primal_only(block)
    bound = ir.bound(primal)
    for stmt in ir.walk(primal):
        for site, keys in _known(stmt, kinds, bound):
            found[site] = found.get(site, keys) & keys
    return found


def _known(
    stmt: ir.Stmt, kinds: Mapping[str, ir.Kind], bound: frozenset[str]
) -> list[tuple[str, frozenset[Any]]]:
    """The dicts that a statement makes, or takes something out of, and their certain keys.

    Of a copy they are known if it is one of a parameter (none of the names `bound`).
    """
    call = ir.call_of(stmt)
    if call is None:
        return []
    base = atom_kind(call.args[0], kinds) if is_op(call, *_TAKEN_OUT) else None
    if type(base) is ir.Dict:
        return [(base.site, frozenset())]
    made = kinds.get(stmt.target.id) if type(stmt) is ir.Assign else None
    if type(made) is not ir.Dict or is_op(call, *_HANDED_ON):
        return []
    if is_op(call, Op.MAKE_DICT):
        return [(made.site, frozenset(a.value for a in call.args[::2] if type(a) is ir.Const))]
    source = call.args[0] if call.args and is_op(call, Op.DICT, Op.KEPT) else None
    if type(source) is not ir.Name or source.id in bound:
        return [(made.site, frozenset())]
    return _in_copy(made, kinds.get(source.id))


def _in_copy(made: ir.Kind, source: ir.Kind | None) -> list[tuple[str, frozenset[Any]]]:
    """The keys of the dicts in a copy of a parameter."""
    if type(made) is not ir.Dict or type(source) is not ir.Dict:
        return []
    inner, of = dict(made.items), dict(source.items)
    found = [(made.site, frozenset(of))]
    for key in inner.keys() & of.keys():
        found += _in_copy(inner[key], of[key])
    return found


def has_key(base: ir.Name, index: ir.Atom, kinds: Mapping[str, ir.Kind], keys: Keys) -> bool:
    """Whether what a store replaces is certainly there: an item of no dict, or of a known key."""
    kind = sure(kinds.get(base.id, ir.UNKNOWN))
    if not may_be_dict(kind, atom_kind(index, kinds)):
        return True
    known = keys.get(kind.site, frozenset()) if type(kind) is ir.Dict else ()
    return type(index) is ir.Const and index.value in known


# --- saving what a statement overwrites, and putting it back -------------------------------------


@state
class Slots:
    """Where saved values go: plain names outside loops, lists inside."""

    facts: Facts
    loops: int = 0
    lists: list[ir.Assign] = field(default_factory=list)
    saved: set[str] = field(default_factory=set)  # every name that is saved somewhere
    tapes: set[str] = field(default_factory=set)  # every list that values are saved in
    keys: Keys = field(default_factory=dict)  # that dicts certainly have

    def enter(self) -> Slots:
        """The slots of a loop inside."""
        return Slots(self.facts, self.loops + 1, [], self.saved, self.tapes, self.keys)


class Undone(Builder):
    """What is written before a primal statement; `back` undoes that, and reads what is `needed`."""

    def __init__(self, slots: Slots, loc: ir.Loc) -> None:
        super().__init__(slots.facts.fresh, loc)
        self.slots, self.facts = slots, slots.facts
        self.back = Builder(self.fresh, loc)
        self.needed: set[Item] = set()

    def first(self, undo: Callable[..., None], *args: Any) -> None:
        """One thing more that is overwritten: `undo` puts it back before those so far."""
        later, self.back.out = self.back.out, []
        undo(*args)
        self.back.out += later

    def keep(self, base: str, value: ir.Name) -> ir.Rhs:
        """Save a value; the expression that loads it."""
        slots = self.slots
        slots.saved.add(value.id)
        slot = self.fresh(f"{base.lstrip('_') or 't'}_saved")
        if not slots.loops:
            self.assign(slot, value)
            self.needed.add(slot.id)
            return slot
        slots.lists.append(ir.Assign(slot, ir.Call(ir.make_list), self.loc))
        slots.tapes.add(slot.id)
        self.effect("append", slot, value)
        return ir.Call(ir.Method("pop"), (slot,))

    def kept(self, base: ir.Name, old: ir.Name) -> ir.Name:
        """Save what is in `base`; what is loaded, to be put back into it."""
        self.needed.add(base.id)
        load = self.keep(base.id, old)
        return load if type(load) is ir.Name else self.back.temp(load)

    # --- variables ---

    def value(self, name: str) -> ir.Name:
        """What is saved of a variable: a copy where something writes into its memory.

        Where another variable may hold the same memory the variable itself is saved, so that what
        is put back into that memory is seen through both.
        """
        found = self.facts.aliases
        mine = found.classes.get(name)
        shared = any(rep == mine for n, rep in found.classes.items() if n != name)
        if mine is None or found.is_unclear(name) or shared:
            return ir.Name(name)
        return self.temp(copied(name, self.facts), f"_{name.lstrip('_')}")

    def variable(self, name: str) -> None:
        """The old value of a variable."""
        value = self.value(name)
        self.slots.saved.add(name)
        self.back.assign(ir.Name(name), self.keep(name, value))

    # --- contents ---

    def contents(self, stmt: ir.Stmt) -> None:
        """The old contents of the region that a statement writes into."""
        if isinstance(stmt, ir.Store):
            self.region(stmt.base, ir.Const(...) if stmt.index is None else stmt.index)
            return
        call = ir.call_of(stmt)
        assert call is not None
        base = call.args[0] if type(call.fn) is ir.Method else None
        if type(base) is ir.Name and not ir.is_numeric(self.facts.kind(base)):
            self.change(call, base, stmt)
            return
        for written in mutated_args(call, self.facts.kinds):  # all of each
            if type(written) is ir.Name:
                self.first(self.whole, written)

    def change(self, call: ir.Call, base: ir.Name, stmt: ir.Stmt) -> None:
        """The old items of a list or dict whose method is called."""
        facts, place = self.facts, call.args[1:]
        self.needed.add(base.id)
        if is_op(call, Op.APPEND, Op.INSERT):
            self.needed |= {*ir.names(ir.Tup(place[:-1]))}
            self.back.effect("pop", base, *place[:-1])
            return
        if is_op(call, Op.REVERSE):
            self.back.effect("reverse", base)
            return
        if is_op(call, Op.POP) and type(stmt) is ir.Assign:
            # A dict would be told a key.  Of a shadow other numbers have changed since, and nobody
            # asks for the order of its keys.
            plain = type(facts.kind(base)) is ir.List or not place
            if plain or base.id in facts.shadows:
                self.needed |= {stmt.target.id, *ir.names(ir.Tup(place))}
                self.back.out.append(put_back(stmt, base, stmt.target, facts))
                return
        self.items(base)

    def items(self, base: ir.Name) -> None:
        """All the old items of a list or dict, put back into it."""
        kind = self.facts.kind(base)
        if not isinstance(kind, (ir.List, ir.Dict)):
            raise refused("memory.old_items", self.loc, name=ir.said(base.id))
        copy = ir.Call(list if type(kind) is ir.List else dict, (base,))
        old = self.kept(base, self.temp(copy, f"_{base.id.lstrip('_')}"))
        if type(kind) is ir.List:
            self.back.store(base, ir.ALL, old)
        else:
            self.back.effect("clear", base)
            self.back.effect("update", base, old)

    def region(self, base: ir.Name, index: ir.Atom) -> None:
        """The old contents of `base[index]`."""
        facts, names = self.facts, ir.names(index)
        # An array of indices may be written into.
        self.needed = self.needed.union(names, *(contents_of(n, facts) for n in names))
        if not has_key(base, index, facts.kinds, self.slots.keys):
            self.entry(base, index)
            return
        array = is_array_if_any(facts.kinds.get(base.id))
        item = ir.Call(operator.getitem, (base, index))
        old = base if index == ir.Const(...) and array else self.temp(item, "_old")
        kind = kind_of_call(item, facts.kinds, facts.target.on_device)
        held = (facts.aliases.is_unclear(base.id) and not array) or base.id in facts.aliases.flat
        if not held and (kind is None or not ir.is_scalar(kind)):
            old = self.temp(ir.Call(np.copy if is_array(kind) else trees.kept, (old,)), "_old")
        self.back.store(base, index, self.kept(base, old))

    def entry(self, base: ir.Name, key: ir.Atom) -> None:
        """The old entry of a dict, or that there was none."""
        self.needed.add(base.id)
        there = self.temp(ir.Call(operator.contains, (base, key)), "_there")
        old = self.fresh("_old")
        load_there = self.keep(f"{base.id}_there", there)
        push, load = self.collect(lambda: self.keep(base.id, old))
        take = ir.Assign(old, ir.Call(operator.getitem, (base, key)), self.loc)
        self.out.append(ir.If(there, (take, *push), (), self.loc))
        self.back.branch(
            self.back.temp(load_there),
            lambda b: b.store(base, key, b.temp(load)),
            lambda b: b.effect("pop", base, key),
        )

    def whole(self, base: ir.Name) -> None:
        """The old contents of an array, or of the arrays and numbers in a container."""
        if ir.is_container(self.facts.kind(base)):
            old = self.temp(ir.Call(trees.kept, (base,)), "_old")
            self.back.effect(trees.put_back, base, self.kept(base, old))
        else:
            self.region(base, ir.Const(...))


def undo(stmt: ir.Stmt, lost: Iterable[Item], slots: Slots) -> Undone:
    """How to undo a statement that overwrites the items `lost`."""
    items, done = frozenset(lost), Undone(slots, stmt.loc)
    if items and type(stmt) is ir.Permute:  # by its inverse; what was needed has moved
        done.needed |= {t.id for t, s in zip(stmt.targets, stmt.sources) if s.id in items}
        done.back.out.append(ir.Permute(stmt.sources, stmt.targets, stmt.loc))
        return done
    for name in sorted(i for i in items if isinstance(i, str)):
        done.first(done.variable, name)
    if any(isinstance(i, Contents) for i in items):
        done.first(done.contents, stmt)
    return done


def undo_name(name: str, loc: ir.Loc, slots: Slots) -> Undone:
    """How to undo what gives a variable another value."""
    done = Undone(slots, loc)
    done.variable(name)
    return done


# --- what a block computes for itself ------------------------------------------------------------


def keep_locals(
    block: ir.Block, own: frozenset[str], local: frozenset[Item], slots: Slots
) -> tuple[ir.Block, ir.Block, ir.Block]:
    """Statements that save own values of a block at its end, and load them on the way down.

    Those that come first give the values to begin with that are not bound in every case.  `local`
    are the contents that nothing outside of a run of the block has.
    """
    _, sure = exposed(block)
    places = {n: s.loc for s in reversed(ir.walk(block)) for n in ir.writes(s)}  # the first ones
    first: list[ir.Stmt] = []
    done = Undone(slots, ir.NOWHERE)
    for name in sorted(own):
        done.loc = done.back.loc = places.get(name, ir.NOWHERE)
        if name not in sure:
            first.append(ir.Assign(ir.Name(name), ir.NONE, done.loc))
        # Into contents of its own nothing writes behind the block: they need no copy.
        plain = contents_of(name, slots.facts) <= local
        value = ir.Name(name) if plain else done.value(name)
        done.back.assign(ir.Name(name), done.keep(name, value))
    return tuple(first), tuple(done.out), tuple(done.back.out)
