"""Which attributes an object has at a statement, and by which ways they may not be asked for.

Kinds know the attributes that an object may come to have.  `hasattr` asks of one statement: what
was stored before it on every path, or on none; the answer is surely, surely not, or as it happens.
Attributes have names: the dict that keeps them (`x.__dict__`, `vars(x)`) is refused.
"""

from __future__ import annotations

import copy
import types
from collections.abc import Mapping
from typing import Any

from srcdiff import ir
from srcdiff.errors import UnsupportedError
from srcdiff.ir.frozen import frozen, replace
from srcdiff.ir.kinds import Dict, Kind, Kinds, class_of
from srcdiff.kinds.calls import atom_kind
from srcdiff.runtime import records
from srcdiff.specialize.objects.places import has_objects, item_at, read_key


@frozen
class _State:
    """The names whose objects have the attribute, and those whose objects may have it."""

    surely: frozenset[str]
    maybe: frozenset[str]
    pending: bool = False

    def joined(self, other: _State) -> _State:
        """After one or the other."""
        pending = self.pending or other.pending
        return _State(self.surely & other.surely, self.maybe | other.maybe, pending)


@frozen
class Answer:
    """`has` None: it depends on what ran; `pending`: calls before it are not looked into yet."""

    has: bool | None
    pending: bool


def presence(
    function: ir.Function, params: Kinds, kinds: Kinds, stmt: ir.Stmt, base: ir.Name, name: str
) -> Answer:
    """Whether the object `base` has an attribute of its own when a statement runs."""
    found = _Presence(function, params, kinds, stmt, name).at()
    if base.id in found.surely:
        return Answer(True, False)
    return Answer(None if base.id in found.maybe else False, found.pending)


class _Presence:
    """The walk over a function for one attribute."""

    def __init__(
        self, function: ir.Function, params: Kinds, kinds: Kinds, stmt: ir.Stmt, name: str
    ) -> None:
        self.function, self.stmt, self.name, self.kinds = function, stmt, name, kinds
        self.objects = frozenset(n for n, k in kinds.items() if class_of(k) is not None)
        self.count = ir.binding_counts(function.body, function.params, True)
        self.given: dict[str, Kind | None] = {p.name: params.get(p.name) for p in function.params}
        self.root: dict[str, str] = {}
        self.new: set[str] = set()
        for s in ir.walk(function.body):
            if isinstance(s, ir.Assign) and self.count[s.target.id] == 1:
                self.named(s.target.id, s.rhs)
        self.found: _State | None = None

    def named(self, name: str, rhs: ir.Rhs) -> None:
        """A name that is bound once: as another name, as a new object, as a part of a parameter."""
        if isinstance(rhs, ir.Name) and self.count.get(rhs.id) == 1:
            self.root[name] = self.root.get(rhs.id, rhs.id)
            self.given[name] = self.given.get(rhs.id)
        elif isinstance(rhs, ir.Call) and rhs.fn is ir.new_object:
            self.new.add(name)
        elif isinstance(rhs, ir.Call) and rhs.args and isinstance(rhs.args[0], ir.Name):
            key = read_key(rhs)
            kind = self.given.get(rhs.args[0].id) if self.count.get(rhs.args[0].id) == 1 else None
            self.given[name] = None if key is None or kind is None else item_at(kind, key.value)

    def at(self) -> _State:
        """What is known where the statement is."""
        start = frozenset(p.name for p in self.function.params if self.is_given(p.name))
        self.block(self.function.body, _State(start, start))
        return self.found or _State(frozenset(), self.objects, True)

    def is_given(self, name: str) -> bool:
        """Whether the object that the function is given has the attribute."""
        kind = self.given.get(name)
        return isinstance(kind, Dict) and self.name in dict(kind.items)

    def block(self, block: ir.Block, state: _State) -> _State:
        """What is known after a block."""
        for stmt in block:
            if stmt is self.stmt:
                self.found = state
            state = self.step(stmt, state)
        return state

    def step(self, stmt: ir.Stmt, state: _State) -> _State:
        """What is known after a statement."""
        if isinstance(stmt, ir.If):
            return self.block(stmt.body, state).joined(self.block(stmt.orelse, state))
        for inner in ir.blocks(stmt):  # of a loop, which may run again, or never
            while (after := state.joined(self.block(inner, state))) != state:
                state = after
        call = ir.call_of(stmt)
        if call is not None and call.fn is ir.set_attr:
            return self.stored(call, state)
        if call is not None and self.is_pending(call):
            state = replace(state, maybe=self.objects, pending=True)
        if isinstance(stmt, ir.Assign) and stmt.target.id in self.objects:
            return self.bound(stmt.target.id, stmt.rhs, state)
        return state

    def stored(self, call: ir.Call, state: _State) -> _State:
        """After `x.name = v`: of that object, and of whatever else may be the same one."""
        base, key = call.args[:2]
        if key != ir.Const(self.name) or not isinstance(base, ir.Name):
            return state
        root = self.root.get(base.id, base.id)
        same = {n for n in self.objects if self.root.get(n, n) == root}
        others = {n for n in self.objects if self.root.get(n, n) in self.new and n not in same}
        maybe = self.objects - others if root in self.new else self.objects
        return replace(state, surely=state.surely | same, maybe=state.maybe | maybe)

    def bound(self, name: str, rhs: ir.Rhs, state: _State) -> _State:
        """After a name is bound to an object."""
        surely, maybe = state.surely - {name}, state.maybe - {name}
        if isinstance(rhs, ir.Name):
            sure, may = rhs.id in state.surely, rhs.id in state.maybe
        elif isinstance(rhs, ir.Call) and rhs.fn is ir.new_object:
            sure = may = False
        else:
            fields = records.plain_fields(rhs.fn) if isinstance(rhs, ir.Call) else None
            sure = self.name in (fields or ()) or self.is_given(name)
            may = sure or self.may_have(name)
        surely |= {name} if sure else set()
        return replace(state, surely=surely, maybe=maybe | ({name} if may or sure else set()))

    def may_have(self, name: str) -> bool:
        """Whether the kind of an object has the attribute at all."""
        kind = self.kinds.get(name)
        return isinstance(kind, Dict) and (self.name in dict(kind.items) or kind.item is not None)

    def is_pending(self, call: ir.Call) -> bool:
        """Whether a call may store attributes: what it does is not written out yet."""
        fn = call.fn
        if fn in (copy.copy, copy.deepcopy):
            return False
        if isinstance(fn, ir.Name) or (isinstance(fn, type) and records.is_record(fn)):
            return records.plain_fields(fn) is None
        given = (*call.args, *(v for _, v in call.kwargs))
        objects = any(has_objects(atom_kind(a, self.kinds)) for a in given)
        if isinstance(fn, ir.Method):
            return objects and class_of(atom_kind(call.args[0], self.kinds)) is not None
        return objects and (isinstance(fn, types.FunctionType) or fn in (setattr, vars))


# --- what reads or stores attributes by other ways -----------------------------------------------


DICT = "__dict__"
_STORES: tuple[Any, ...] = (setattr, object.__setattr__, delattr, object.__delattr__)


def check_ways(function: ir.Function, kinds: Mapping[str, Any]) -> None:
    """Refuse what is left: attributes by unknown names, and the dict that keeps them."""
    for stmt in ir.walk(function.body):
        call = ir.call_of(stmt)
        if call is None or not call.args:
            continue
        known = class_of(kinds.get(getattr(call.args[0], "id", ""))) is not None
        if known and any(call.fn is f for f in _STORES):
            raise UnsupportedError(
                "the name of an attribute that is assigned is known only when the program runs, or "
                "an attribute is deleted",
                stmt.loc,
                remedy="Write the assignment out; a loop over names that are known is written out "
                "too: those of a tuple, or of a dict of keywords.",
            )
        is_dict = call.fn is ir.set_attr and call.args[1] == ir.Const(DICT)
        if is_dict or call.fn == ir.Attr(DICT) or call.fn is vars:
            raise UnsupportedError(
                "the dict of an object's attributes, `__dict__`, is used", stmt.loc,
                remedy="Read and assign attributes by their names; `getattr` and `setattr` take "
                "those of a tuple, or of a dict of keywords, in turn.",
            )  # fmt: skip
