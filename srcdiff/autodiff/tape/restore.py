"""Saving what a statement overwrites, or a block computes, and putting it back.

Takes a primal statement and the items that it overwrites and later adjoints need; gives statements
before it that save them, and statements of the backward part that put them back.  A store under a
key that a dict has from the start replaces a value; under any other the key is taken out again.
Takes a loop's body (or a branch in it) and saves at its end what it computes for itself and its
adjoints need.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from dataclasses import field
from typing import Any

import numpy as np

from srcdiff import ir
from srcdiff.analysis.aliases import may_be_dict
from srcdiff.analysis.facts import Facts
from srcdiff.autodiff.containers import put_back
from srcdiff.autodiff.tape.needs import Contents, Item, contents_of, exposed
from srcdiff.errors import UnsupportedError
from srcdiff.ir.frozen import frozen, state
from srcdiff.ir.kinds import (
    UNKNOWN,
    Array,
    Dict,
    Kind,
    List,
    is_container,
    is_numeric,
    is_scalar,
    sure,
)
from srcdiff.kinds.calls import atom_kind, kind_of_call
from srcdiff.primitives.effects import mutated_args
from srcdiff.primitives.ops import Op, is_op
from srcdiff.primitives.views import is_array_if_any
from srcdiff.runtime import trees

Keys = Mapping[str, frozenset[Any]]

_TAKEN_OUT = frozenset({"pop", "popitem", "clear"})
_HANDED_ON = (Op.GETITEM, Op.GET, Op.POP, Op.SETDEFAULT)


def first_keys(block: ir.Block, kinds: Mapping[str, Kind]) -> Keys:
    """By the place that makes a dict, the keys that it certainly has all the time."""
    found: dict[str, frozenset[Any]] = {}
    primal = [s.primal for s in ir.walk(block) if isinstance(s, ir.Pair) and s.primal is not None]
    bound = {n for s in primal for n in ir.writes(s)}
    for stmt in primal:
        for site, keys in _known(stmt, kinds, bound):
            found[site] = found.get(site, keys) & keys
    return found


def _known(
    stmt: ir.Stmt, kinds: Mapping[str, Kind], bound: set[str]
) -> list[tuple[str, frozenset[Any]]]:
    """The dicts that a statement makes, or takes something out of, and their certain keys.

    Of a copy they are known if it is one of a parameter (none of the names `bound`).
    """
    call = ir.call_of(stmt)
    if call is None:
        return []
    if isinstance(call.fn, ir.Method):
        base = kinds.get(call.args[0].id) if isinstance(call.args[0], ir.Name) else None
        if isinstance(base, Dict) and call.fn.name in _TAKEN_OUT:
            return [(base.site, frozenset())]
    made = kinds.get(stmt.target.id) if isinstance(stmt, ir.Assign) else None
    if not isinstance(made, Dict) or is_op(call, *_HANDED_ON):
        return []
    if is_op(call, Op.MAKE_DICT):
        return [(made.site, frozenset(a.value for a in call.args[::2] if isinstance(a, ir.Const)))]
    source = call.args[0] if call.args and is_op(call, Op.DICT, Op.KEPT) else None
    if not isinstance(source, ir.Name) or source.id in bound:
        return [(made.site, frozenset())]
    return _copied(made, kinds.get(source.id))


def _copied(made: Kind, source: Kind | None) -> list[tuple[str, frozenset[Any]]]:
    """The keys of the dicts in a copy of a parameter."""
    if not isinstance(made, Dict) or not isinstance(source, Dict):
        return []
    inner, of = dict(made.items), dict(source.items)
    found = [(made.site, frozenset(of))]
    for key in inner.keys() & of.keys():
        found += _copied(inner[key], of[key])
    return found


def has_key(base: ir.Name, index: ir.Atom, kinds: Mapping[str, Kind], keys: Keys) -> bool:
    """Whether what a store replaces is certainly there: an item of no dict, or of a known key."""
    kind = sure(kinds.get(base.id, UNKNOWN))
    if not may_be_dict(kind, atom_kind(index, kinds)):
        return True
    known = keys.get(kind.site, frozenset()) if isinstance(kind, Dict) else ()
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
    save = tuple(s for p in parts for s in p.save)
    restore = tuple(s for p in reversed(parts) for s in p.restore)
    return Undone(save, restore, frozenset().union(*(p.needed for p in parts)))


def _undo_permute(stmt: ir.Permute, items: frozenset[Item]) -> Undone:
    """A permutation is undone by its inverse; what was needed has moved to another name."""
    moved = frozenset(t.id for t, s in zip(stmt.targets, stmt.sources) if s.id in items)
    inverse = ir.Permute(stmt.sources, stmt.targets, stmt.loc)
    return Undone((), (inverse,), moved)


def saved_value(name: str, loc: ir.Loc, facts: Facts) -> tuple[ir.Block, ir.Name]:
    """What is saved of a variable: a copy where something writes into its memory.

    Where another variable may hold the same memory the variable itself is saved, so that what is
    put back into that memory is seen through both.
    """
    classes = facts.aliases.classes
    if name not in classes or facts.aliases.is_unclear(name) or not _is_only_owner(name, facts):
        return (), ir.Name(name)
    copy = facts.fresh(f"_{name.lstrip('_')}")
    kind = facts.kinds.get(name)
    copying = np.copy if isinstance(kind, Array) and not kind.maybe_scalar else trees.kept
    return (ir.Assign(copy, ir.Call(copying, (ir.Name(name),)), loc),), copy


def _is_only_owner(name: str, facts: Facts) -> bool:
    """Whether no other name stands for the memory of a variable, be it as a view of it."""
    classes = facts.aliases.classes
    return not any(rep == classes[name] for n, rep in classes.items() if n != name)


def undo_name(name: str, loc: ir.Loc, slots: Slots) -> Undone:
    """The old value of a variable."""
    copied, value = saved_value(name, loc, slots.facts)
    slots.saved.add(name)
    save, load = slots.new(name, value, loc)
    save = (*copied, *save)
    return Undone(save, (ir.Assign(ir.Name(name), load, loc),), frozenset(_slot(load)))


def _undo_contents(stmt: ir.Stmt, slots: Slots) -> Undone:
    """The old contents of the region that a statement writes into."""
    if isinstance(stmt, ir.SetItem):
        return _undo_store(stmt, slots)
    call = ir.call_of(stmt)
    if call is not None and isinstance(call.fn, ir.Method):
        base = call.args[0]
        kind = slots.facts.kinds.get(base.id) if isinstance(base, ir.Name) else None
        if isinstance(base, ir.Name) and not (kind is not None and is_numeric(kind)):
            return _undo_change(call, base, kind, stmt, slots)
    return _undo_call(stmt, slots)


def _undo_change(
    call: ir.Call, base: ir.Name, kind: Kind | None, stmt: ir.Stmt, slots: Slots
) -> Undone:
    """The old items of a list or dict whose method is called."""
    assert isinstance(call.fn, ir.Method)
    name, place = call.fn.name, call.args[1:]
    if name in ("append", "insert"):
        inverse: ir.Stmt = ir.Effect(ir.Call(ir.Method("pop"), (base, *place[:-1])), stmt.loc)
        return Undone((), (inverse,), frozenset({base.id, *_names(place[:-1])}))
    if name == "reverse":
        return Undone((), (ir.Effect(call, stmt.loc),), frozenset({base.id}))
    if name == "pop" and isinstance(stmt, ir.Assign):
        needed = frozenset({base.id, stmt.target.id, *_names(place)})
        if isinstance(kind, List) or not place:  # a dict would be told a key
            return Undone((), (put_back(stmt, base, stmt.target, slots.facts),), needed)
        if base.id in slots.facts.shadows:
            # Its other numbers have changed since, and nobody asks for the order of its keys.
            return Undone((), (ir.SetItem(base, place[0], stmt.target, None, stmt.loc),), needed)
    return _undo_items(base, kind, stmt, slots)


def _names(atoms: Iterable[ir.Rhs]) -> tuple[str, ...]:
    return tuple(n for a in atoms for n in ir.names(a))


def _undo_items(base: ir.Name, kind: Kind | None, stmt: ir.Stmt, slots: Slots) -> Undone:
    """All the old items of a list or dict, put back into it."""
    facts = slots.facts
    made = facts.fresh(f"_{base.id.lstrip('_')}")
    if not isinstance(kind, (List, Dict)):
        raise UnsupportedError(
            f"what {ir.said(base.id)} holds is changed here, and its old items are needed "
            "afterwards",
            stmt.loc,
            remedy="Make a new value instead, or give an example of the arguments.",
        )
    copy = ir.Call(list if isinstance(kind, List) else dict, (base,))
    save: list[ir.Stmt] = [ir.Assign(made, copy, stmt.loc)]
    push, load = slots.new(base.id, made, stmt.loc)
    value, restore = _loaded(load, facts, stmt.loc)
    if isinstance(kind, List):
        everything = ir.Slice(ir.NONE, ir.NONE, ir.NONE)
        restore.append(ir.SetItem(base, everything, value, None, stmt.loc))
    else:
        restore.append(ir.Effect(ir.Call(ir.Method("clear"), (base,)), stmt.loc))
        restore.append(ir.Effect(ir.Call(ir.Method("update"), (base, value)), stmt.loc))
    needed = frozenset({base.id, *_slot(load)})
    return Undone((*save, *push), tuple(restore), needed)


def _loaded(load: ir.Rhs, facts: Facts, loc: ir.Loc) -> tuple[ir.Name, list[ir.Stmt]]:
    """A name for what is loaded, and the statement that binds it where it has none yet."""
    if isinstance(load, ir.Name):
        return load, []
    value = facts.fresh()
    return value, [ir.Assign(value, load, loc)]


def _slot(load: ir.Rhs) -> tuple[str, ...]:
    """The variable that a value is loaded from, outside of loops."""
    return (load.id,) if isinstance(load, ir.Name) else ()


def _undo_store(stmt: ir.SetItem, slots: Slots) -> Undone:
    """The old contents of `base[index]`."""
    facts = slots.facts
    index = ir.Const(...) if stmt.index is None else stmt.index
    if not has_key(stmt.base, index, facts.kinds, slots.keys):
        return _undo_entry(stmt, slots)
    old = stmt.base
    save: list[ir.Stmt] = []
    array = is_array_if_any(facts.kinds.get(stmt.base.id))
    if index != ir.Const(...) or not array:
        old = facts.fresh("_old")
        save.append(ir.Assign(old, ir.Call(operator.getitem, (stmt.base, index)), stmt.loc))
    kind = kind_of_call(ir.Call(operator.getitem, (stmt.base, index)), facts.kinds)
    held = facts.aliases.is_unclear(stmt.base.id) and not array
    if not held and (kind is None or not is_scalar(kind)):
        copy = facts.fresh("_old")
        copying = np.copy if isinstance(kind, Array) and not kind.maybe_scalar else trees.kept
        save.append(ir.Assign(copy, ir.Call(copying, (old,)), stmt.loc))
        old = copy
    push, load = slots.new(stmt.base.id, old, stmt.loc)
    value, restore = _loaded(load, facts, stmt.loc)
    restore.append(ir.SetItem(stmt.base, index, value, None, stmt.loc))
    needed = frozenset({stmt.base.id, *_slot(load)}) | _looked_at(index, facts)
    return Undone((*save, *push), tuple(restore), needed)


def _looked_at(index: ir.Atom, facts: Facts) -> frozenset[Item]:
    """The names in an index, and their contents: an array of indices may be written into."""
    names = ir.names(index)
    return frozenset(names).union(*(contents_of(n, facts) for n in names))


def _undo_entry(stmt: ir.SetItem, slots: Slots) -> Undone:
    """The old entry of a dict, or that there was none."""
    assert stmt.index is not None
    fresh, loc = slots.facts.fresh, stmt.loc
    entry = (stmt.base, stmt.index)
    there, old = fresh("_there"), fresh("_old")
    push_there, load_there = slots.new(f"{stmt.base.id}_there", there, loc)
    push_old, load_old = slots.new(stmt.base.id, old, loc)
    was, value = fresh(), fresh()
    keep = (ir.Assign(old, ir.Call(operator.getitem, entry), loc), *push_old)
    back = (ir.Assign(value, load_old, loc), ir.SetItem(stmt.base, stmt.index, value, None, loc))
    save = (
        ir.Assign(there, ir.Call(operator.contains, entry), loc),
        *push_there,
        ir.If(there, keep, (), loc),
    )
    restore = (
        ir.Assign(was, load_there, loc),
        ir.If(was, back, (ir.Effect(ir.Call(ir.Method("pop"), entry), loc),), loc),
    )
    loads = (*_slot(load_there), *_slot(load_old))
    needed = frozenset({stmt.base.id, *loads}) | _looked_at(stmt.index, slots.facts)
    return Undone(save, restore, needed)


def _undo_call(stmt: ir.Stmt, slots: Slots) -> Undone:
    """The old contents of an array that a call writes into: all of it."""
    call = ir.call_of(stmt)
    assert call is not None
    written = [a for a in mutated_args(call, slots.facts.kinds) if isinstance(a, ir.Name)]
    parts = [_undo_whole(a, stmt.loc, slots) for a in written]
    return Undone(
        tuple(s for p in parts for s in p.save),
        tuple(s for p in parts for s in p.restore),
        frozenset().union(*(p.needed for p in parts)),
    )


def _undo_whole(base: ir.Name, loc: ir.Loc, slots: Slots) -> Undone:
    """The old contents of an array, or of the arrays and numbers in a container."""
    if not is_container(slots.facts.kinds.get(base.id, UNKNOWN)):
        return _undo_store(ir.SetItem(base, ir.Const(...), base, None, loc), slots)
    old = slots.facts.fresh("_old")
    save = ir.Assign(old, ir.Call(trees.kept, (base,)), loc)
    push, load = slots.new(base.id, old, loc)
    value, restore = _loaded(load, slots.facts, loc)
    restore.append(ir.Effect(ir.Call(trees.put_back, (base, value)), loc))
    return Undone((save, *push), tuple(restore), frozenset({base.id, *_slot(load)}))


# --- what a block computes for itself ------------------------------------------------------------


@frozen
class Scope:
    """A block of pairs, its own names that are needed at its end, and all that is needed there.

    `local` are the contents that nothing outside of a run of the block has.
    """

    block: ir.Block
    own: frozenset[str]
    needed: frozenset[Item]
    local: frozenset[Item]


@frozen
class Kept:
    """Statements at the start and end of the forward block and at the start of the backward one."""

    first: ir.Block
    save: ir.Block
    load: ir.Block
    needed: frozenset[Item]


def keep_locals(scope: Scope, slots: Slots) -> Kept:
    """Save every own value that is needed at the end of its block."""
    _, sure = exposed(scope.block)
    places = _places(scope.block)
    first: list[ir.Stmt] = []
    save: list[ir.Stmt] = []
    load: list[ir.Stmt] = []
    for name in sorted(scope.own):
        loc = places.get(name, ir.NOWHERE)
        if name not in sure:
            first.append(ir.Assign(ir.Name(name), ir.NONE, loc))
        # Into contents of its own nothing writes behind the block: they need no copy.
        local = contents_of(name, slots.facts) <= scope.local
        copied, value = ((), ir.Name(name)) if local else saved_value(name, loc, slots.facts)
        push, pop = slots.new(name, value, loc)
        save += (*copied, *push)
        load.append(ir.Assign(ir.Name(name), pop, loc))
    return Kept(tuple(first), tuple(save), tuple(load), scope.needed - scope.own)


def _places(block: ir.Block) -> dict[str, ir.Loc]:
    """Where each name is bound first."""
    found: dict[str, ir.Loc] = {}
    for stmt in ir.walk(block):
        for name in ir.writes(stmt):
            found.setdefault(name, stmt.loc)
    return found
