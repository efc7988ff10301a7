"""Saving what a statement overwrites, or a block computes, and putting it back.

Takes a primal statement and the items that it overwrites and later adjoints need; gives statements
before it that save them, and statements of the backward part that put them back.  A store under a
key that a dict has from the start replaces a value; under any other the key is taken out again.
Takes a loop's body (or a branch in it) and saves at its end what it computes for itself and its
adjoints need.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any

import numpy as np

from srcdiff import ir
from srcdiff.analysis.aliases import may_be_dict
from srcdiff.analysis.facts import Facts
from srcdiff.autodiff.containers import put_back
from srcdiff.autodiff.tape.needs import Contents, Item, contents_of, exposed
from srcdiff.errors import UnsupportedError
from srcdiff.ir.builder import Builder
from srcdiff.ir.frozen import frozen, replace, state
from srcdiff.ir.kinds import sure
from srcdiff.kinds.calls import atom_kind, kind_of_call
from srcdiff.primitives.effects import mutated_args
from srcdiff.primitives.ops import Op, is_op
from srcdiff.primitives.views import is_array_if_any
from srcdiff.runtime import trees

Keys = Mapping[str, frozenset[Any]]

_TAKEN_OUT = (Op.POP, Op.POPITEM, Op.CLEAR)
_HANDED_ON = (Op.GETITEM, Op.GET, Op.POP, Op.SETDEFAULT)


def first_keys(block: ir.Block, kinds: Mapping[str, ir.Kind]) -> Keys:
    """By the place that makes a dict, the keys that it certainly has all the time."""
    found: dict[str, frozenset[Any]] = {}
    primal = [s.primal for s in ir.walk(block) if isinstance(s, ir.Pair) and s.primal is not None]
    bound = {n for s in primal for n in ir.writes(s)}
    for stmt in primal:
        for site, keys in _known(stmt, kinds, bound):
            found[site] = found.get(site, keys) & keys
    return found


def _known(
    stmt: ir.Stmt, kinds: Mapping[str, ir.Kind], bound: set[str]
) -> list[tuple[str, frozenset[Any]]]:
    """The dicts that a statement makes, or takes something out of, and their certain keys.

    Of a copy they are known if it is one of a parameter (none of the names `bound`).
    """
    call = ir.call_of(stmt)
    if call is None:
        return []
    base = atom_kind(call.args[0], kinds) if is_op(call, *_TAKEN_OUT) else None
    if isinstance(base, ir.Dict):
        return [(base.site, frozenset())]
    made = kinds.get(stmt.target.id) if isinstance(stmt, ir.Assign) else None
    if not isinstance(made, ir.Dict) or is_op(call, *_HANDED_ON):
        return []
    if is_op(call, Op.MAKE_DICT):
        return [(made.site, frozenset(a.value for a in call.args[::2] if isinstance(a, ir.Const)))]
    source = call.args[0] if call.args and is_op(call, Op.DICT, Op.KEPT) else None
    if not isinstance(source, ir.Name) or source.id in bound:
        return [(made.site, frozenset())]
    return _copied(made, kinds.get(source.id))


def _copied(made: ir.Kind, source: ir.Kind | None) -> list[tuple[str, frozenset[Any]]]:
    """The keys of the dicts in a copy of a parameter."""
    if not isinstance(made, ir.Dict) or not isinstance(source, ir.Dict):
        return []
    inner, of = dict(made.items), dict(source.items)
    found = [(made.site, frozenset(of))]
    for key in inner.keys() & of.keys():
        found += _copied(inner[key], of[key])
    return found


def has_key(base: ir.Name, index: ir.Atom, kinds: Mapping[str, ir.Kind], keys: Keys) -> bool:
    """Whether what a store replaces is certainly there: an item of no dict, or of a known key."""
    kind = sure(kinds.get(base.id, ir.UNKNOWN))
    if not may_be_dict(kind, atom_kind(index, kinds)):
        return True
    known = keys.get(kind.site, frozenset()) if isinstance(kind, ir.Dict) else ()
    return isinstance(index, ir.Const) and index.value in known


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

    def new(self, base: str, value: ir.Name, loc: ir.Loc) -> tuple[ir.Block, ir.Rhs]:
        """Statements that save a value, and the expression that loads it."""
        self.saved.add(value.id)
        slot = self.facts.fresh(f"{base.lstrip('_') or 't'}_saved")
        if not self.loops:
            return (ir.Assign(slot, value, loc),), slot
        self.lists.append(ir.Assign(slot, ir.Call(ir.make_list), loc))
        self.tapes.add(slot.id)
        push = ir.Effect(ir.Call(ir.Method("append"), (slot, value)), loc)
        return (push,), ir.Call(ir.Method("pop"), (slot,))


@frozen
class Undone:
    """Statements before a primal statement, statements that undo it, and what those read."""

    save: ir.Block
    restore: ir.Block
    needed: frozenset[Item] = frozenset()


def undo(stmt: ir.Stmt, lost: Iterable[Item], slots: Slots) -> Undone:
    """How to undo a statement that overwrites the items `lost`."""
    items = frozenset(lost)
    if isinstance(stmt, ir.Permute):
        return _undo_permute(stmt, items)
    parts = [undo_name(n, stmt.loc, slots) for n in sorted(i for i in items if isinstance(i, str))]
    if any(isinstance(i, Contents) for i in items):
        parts.append(_undo_contents(stmt, slots))
    return _together(parts)


def _together(parts: Sequence[Undone]) -> Undone:
    """Several things that a statement overwrites, put back last first."""
    save = tuple(s for p in parts for s in p.save)
    restore = tuple(s for p in reversed(parts) for s in p.restore)
    return Undone(save, restore, frozenset().union(*(p.needed for p in parts)))


def _undo_permute(stmt: ir.Permute, items: frozenset[Item]) -> Undone:
    """A permutation is undone by its inverse; what was needed has moved to another name."""
    moved = frozenset(t.id for t, s in zip(stmt.targets, stmt.sources) if s.id in items)
    inverse = ir.Permute(stmt.sources, stmt.targets, stmt.loc)
    return Undone((), (inverse,), moved)


def saved_value(name: str, facts: Facts, b: Builder) -> ir.Name:
    """What is saved of a variable: a copy where something writes into its memory.

    Where another variable may hold the same memory the variable itself is saved, so that what is
    put back into that memory is seen through both.
    """
    classes = facts.aliases.classes
    if name not in classes or facts.aliases.is_unclear(name) or not _is_only_owner(name, facts):
        return ir.Name(name)
    return b.temp(_copy(ir.Name(name), facts.kinds.get(name)), f"_{name.lstrip('_')}")


def _copy(name: ir.Name, kind: ir.Kind | None) -> ir.Call:
    """A copy of an array, or of what may be a container."""
    array = isinstance(kind, ir.Array) and not kind.maybe_scalar
    return ir.Call(np.copy if array else trees.kept, (name,))


def _is_only_owner(name: str, facts: Facts) -> bool:
    """Whether no other name stands for the memory of a variable, be it as a view of it."""
    classes = facts.aliases.classes
    return not any(rep == classes[name] for n, rep in classes.items() if n != name)


def undo_name(name: str, loc: ir.Loc, slots: Slots) -> Undone:
    """The old value of a variable."""
    before = Builder(slots.facts.fresh, loc)
    value = saved_value(name, slots.facts, before)
    slots.saved.add(name)
    save, load = slots.new(name, value, loc)
    restore = (ir.Assign(ir.Name(name), load, loc),)
    return Undone((*before.out, *save), restore, frozenset(_slot(load)))


def _undo_contents(stmt: ir.Stmt, slots: Slots) -> Undone:
    """The old contents of the region that a statement writes into."""
    if isinstance(stmt, ir.SetItem):
        return _undo_store(stmt, slots)
    call = ir.call_of(stmt)
    assert call is not None
    base = call.args[0] if isinstance(call.fn, ir.Method) else None
    if isinstance(base, ir.Name) and not ir.is_numeric(slots.facts.kind(base)):
        return _undo_change(call, base, stmt, slots)
    # A call that writes into arrays: all of each.
    written = mutated_args(call, slots.facts.kinds)
    return _together([_undo_whole(a, stmt.loc, slots) for a in written if isinstance(a, ir.Name)])


def _undo_change(call: ir.Call, base: ir.Name, stmt: ir.Stmt, slots: Slots) -> Undone:
    """The old items of a list or dict whose method is called."""
    facts, place = slots.facts, call.args[1:]
    if is_op(call, Op.APPEND, Op.INSERT):
        pop = ir.Call(ir.Method("pop"), (base, *place[:-1]))
        needed = frozenset({base.id, *ir.names(ir.Tup(place[:-1]))})
        return Undone((), (ir.Effect(pop, stmt.loc),), needed)
    if is_op(call, Op.REVERSE):
        return Undone((), (ir.Effect(call, stmt.loc),), frozenset({base.id}))
    if is_op(call, Op.POP) and isinstance(stmt, ir.Assign):
        needed = frozenset({base.id, stmt.target.id, *ir.names(ir.Tup(place))})
        if isinstance(facts.kind(base), ir.List) or not place:  # a dict would be told a key
            return Undone((), (put_back(stmt, base, stmt.target, facts),), needed)
        if base.id in facts.shadows:
            # Its other numbers have changed since, and nobody asks for the order of its keys.
            return Undone((), (ir.SetItem(base, place[0], stmt.target, None, stmt.loc),), needed)
    return _undo_items(base, stmt, slots)


def _undo_items(base: ir.Name, stmt: ir.Stmt, slots: Slots) -> Undone:
    """All the old items of a list or dict, put back into it."""
    kind = slots.facts.kind(base)
    if not isinstance(kind, (ir.List, ir.Dict)):
        raise UnsupportedError(
            f"what {ir.said(base.id)} holds is changed here, and its old items are needed "
            "afterwards",
            stmt.loc,
            remedy="Make a new value instead, or give an example of the arguments.",
        )
    before = Builder(slots.facts.fresh, stmt.loc)
    copy = ir.Call(list if isinstance(kind, ir.List) else dict, (base,))
    made = before.temp(copy, f"_{base.id.lstrip('_')}")

    def put(b: Builder, old: ir.Name) -> None:
        if isinstance(kind, ir.List):
            b.store(base, ir.Slice(ir.NONE, ir.NONE, ir.NONE), old)
        else:
            b.effect("clear", base)
            b.effect("update", base, old)

    return _saved(base, made, before, put, slots)


def _saved(
    base: ir.Name, old: ir.Name, before: Builder, put: Callable[[Builder, ir.Name], None],
    slots: Slots,
) -> Undone:  # fmt: skip
    """What is in `base` saved, as `old` that is made `before`; `put` puts back what is loaded."""
    push, load = slots.new(base.id, old, before.loc)
    after = Builder(slots.facts.fresh, before.loc)
    put(after, load if isinstance(load, ir.Name) else after.temp(load))
    return Undone((*before.out, *push), tuple(after.out), frozenset({base.id, *_slot(load)}))


def _slot(load: ir.Rhs) -> tuple[str, ...]:
    """The variable that a value is loaded from, outside of loops."""
    return (load.id,) if isinstance(load, ir.Name) else ()


def _undo_store(stmt: ir.SetItem, slots: Slots) -> Undone:
    """The old contents of `base[index]`."""
    facts, base = slots.facts, stmt.base
    index = ir.Const(...) if stmt.index is None else stmt.index
    if not has_key(base, index, facts.kinds, slots.keys):
        return _undo_entry(stmt, slots)
    before = Builder(facts.fresh, stmt.loc)
    array = is_array_if_any(facts.kinds.get(base.id))
    item = ir.Call(operator.getitem, (base, index))
    old = base if index == ir.Const(...) and array else before.temp(item, "_old")
    kind = kind_of_call(item, facts.kinds)
    held = facts.aliases.is_unclear(base.id) and not array
    if not held and (kind is None or not ir.is_scalar(kind)):
        old = before.temp(_copy(old, kind), "_old")
    done = _saved(base, old, before, lambda b, value: b.store(base, index, value), slots)
    return replace(done, needed=done.needed | _looked_at(index, facts))


def _looked_at(index: ir.Atom, facts: Facts) -> frozenset[Item]:
    """The names in an index, and their contents: an array of indices may be written into."""
    names = ir.names(index)
    return frozenset(names).union(*(contents_of(n, facts) for n in names))


def _undo_entry(stmt: ir.SetItem, slots: Slots) -> Undone:
    """The old entry of a dict, or that there was none."""
    assert stmt.index is not None
    base, key = stmt.base, stmt.index
    before, after = (Builder(slots.facts.fresh, stmt.loc) for _ in range(2))
    there = before.temp(ir.Call(operator.contains, (base, key)), "_there")
    old = before.fresh("_old")
    push_there, load_there = slots.new(f"{base.id}_there", there, stmt.loc)
    push_old, load_old = slots.new(base.id, old, stmt.loc)

    def keep(b: Builder) -> None:
        b.assign(old, ir.Call(operator.getitem, (base, key)))
        b.out += push_old

    before.out += push_there
    before.branch(there, keep, lambda b: None)
    after.branch(
        after.temp(load_there),
        lambda b: b.store(base, key, b.temp(load_old)),
        lambda b: b.effect("pop", base, key),
    )
    loads = frozenset((base.id, *_slot(load_there), *_slot(load_old)))
    needed = loads | _looked_at(key, slots.facts)
    return Undone(tuple(before.out), tuple(after.out), needed)


def _undo_whole(base: ir.Name, loc: ir.Loc, slots: Slots) -> Undone:
    """The old contents of an array, or of the arrays and numbers in a container."""
    if not ir.is_container(slots.facts.kinds.get(base.id, ir.UNKNOWN)):
        return _undo_store(ir.SetItem(base, ir.Const(...), base, None, loc), slots)
    before = Builder(slots.facts.fresh, loc)
    old = before.temp(ir.Call(trees.kept, (base,)), "_old")
    return _saved(base, old, before, lambda b, v: b.effect(trees.put_back, base, v), slots)


# --- what a block computes for itself ------------------------------------------------------------


def keep_locals(
    block: ir.Block, own: frozenset[str], local: frozenset[Item], slots: Slots
) -> tuple[ir.Block, ir.Block, ir.Block]:
    """Statements that save own values of a block at its end, and load them on the way down.

    Those that come first give the values to begin with that are not bound in every case.  `local`
    are the contents that nothing outside of a run of the block has.
    """
    _, sure = exposed(block)
    places = _places(block)
    first: list[ir.Stmt] = []
    save: list[ir.Stmt] = []
    load: list[ir.Stmt] = []
    for name in sorted(own):
        loc = places.get(name, ir.NOWHERE)
        if name not in sure:
            first.append(ir.Assign(ir.Name(name), ir.NONE, loc))
        before, value = Builder(slots.facts.fresh, loc), ir.Name(name)
        # Into contents of its own nothing writes behind the block: they need no copy.
        if not contents_of(name, slots.facts) <= local:
            value = saved_value(name, slots.facts, before)
        push, pop = slots.new(name, value, loc)
        save += (*before.out, *push)
        load.append(ir.Assign(ir.Name(name), pop, loc))
    return tuple(first), tuple(save), tuple(load)


def _places(block: ir.Block) -> dict[str, ir.Loc]:
    """Where each name is bound first."""
    found: dict[str, ir.Loc] = {}
    for stmt in ir.walk(block):
        for name in ir.writes(stmt):
            found.setdefault(name, stmt.loc)
    return found
