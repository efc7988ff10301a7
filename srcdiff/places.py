"""Where the objects of a function are: which variables name them, and which attributes are stored.

A place is a variable and the attributes and keys that lead from it to a value.  A variable that
always names one place of a parameter is an alias of it; one that takes objects out of containers
or calls is boxed: its object stays an object.
"""

from __future__ import annotations

import copy
import operator
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from srcdiff import ir, records
from srcdiff.analyses.kind_types import UNKNOWN, Dict, Kind, List, Tuple, class_of, inside
from srcdiff.request import Member

Kinds = Mapping[str, Kind]
Path = tuple[Any, ...]
Place = tuple[str, Path]
"""A variable, and the attributes and keys that lead from it to a value."""


def has_objects(kind: Kind | None) -> bool:
    """Whether a value is an object or a container of some."""
    return class_of(kind) is not None or any(map(has_objects, inside(kind)))


def _is_of_class(value: object) -> bool:
    """Whether a value is a class of objects or one of its objects."""
    return records.is_record(value) or records.is_record(type(value))


def mentions_objects(block: ir.Block) -> bool:
    """Whether a block calls a class, reads an object from outside, or copies what may be one."""
    for stmt in ir.walk(block):
        call = ir.call_of(stmt)
        if call is not None:
            fn = call.fn
            if fn in (ir.new_object, ir.set_attr, copy.copy, copy.deepcopy) or _is_of_class(fn):
                return True
            if any(_is_of_class(a.value) for a in call.args if isinstance(a, ir.Ref)):
                return True
    return False


class Places:
    """The objects of a function; `given` are the kinds of its parameters when it is called."""

    def __init__(self, function: ir.Function, given: Kinds, kinds: Kinds) -> None:
        self.whole_function = function
        self.given = given
        self.kinds = kinds
        self.params = {p.name for p in function.params if has_objects(kinds.get(p.name))}
        self.stored = self._stored()
        self.aliases: dict[str, Place] = {}
        self.rooted = self._rooted()
        self.boxed = self._boxed()
        self._find_aliases()

    # --- what each name is -----------------------------------------------------------------------

    def cls(self, name: str) -> type | None:
        """The class of a variable that is an object."""
        return class_of(self.kinds.get(name))

    def _rooted(self) -> frozenset[str]:
        """The variables that may be a parameter, or a part of one by a known key."""
        found = set(self.params)
        size = -1
        while size != len(found):
            size = len(found)
            for stmt in ir.walk(self.whole_function.body):
                rhs = stmt.rhs if isinstance(stmt, ir.Assign) else None
                if isinstance(stmt, ir.Assign) and set(ir.names(rhs)) <= found and rhs is not None:
                    if isinstance(rhs, ir.Name) or (isinstance(rhs, ir.Call) and _reads(rhs)):
                        found.add(stmt.target.id)
        return frozenset(found)

    def _boxed(self) -> frozenset[str]:
        """The objects that come out of containers and calls."""
        found: set[str] = set()
        size = -1
        while size != len(found):
            size = len(found)
            for stmt in ir.walk(self.whole_function.body):
                for name in ir.writes(stmt):
                    if self.cls(name) is not None and not self._makes(stmt, found):
                        found.add(name)
        return frozenset(found)

    def _makes(self, stmt: ir.Stmt, boxed: set[str]) -> bool:
        """Whether a statement makes an object or gives a known one another name."""
        rhs = stmt.rhs if isinstance(stmt, ir.Assign) else None
        if boxed & set(ir.names(rhs)) and not _is_made(rhs):
            return False
        if isinstance(rhs, ir.Name):
            return True
        if not isinstance(rhs, ir.Call):
            return False
        if _is_made(rhs):
            return True
        if isinstance(rhs.fn, ir.Attr):
            return isinstance(rhs.args[0], ir.Name) and self.cls(rhs.args[0].id) is not None
        return _reads(rhs) and set(ir.names(rhs)) <= self.rooted

    def _stored(self) -> frozenset[tuple[str, str]]:
        """(variable, attribute) of every store."""
        return frozenset(
            (base.id, key.value)
            for _, base, key in stores(self.whole_function.body)
            if isinstance(base, ir.Name)
        )

    def _find_aliases(self) -> None:
        """The variables that are another name of one place for good."""
        counts = Counter(n for s in ir.walk(self.whole_function.body) for n in ir.writes(s))
        counts.update(p.name for p in self.whole_function.params)
        changed = True
        while changed:
            changed = False
            for stmt in ir.walk(self.whole_function.body):
                if not isinstance(stmt, ir.Assign) or stmt.target.id in self.aliases:
                    continue
                name = stmt.target.id
                if counts[name] != 1 or not has_objects(self.kinds.get(name)):
                    continue
                place = self._alias(stmt.rhs, counts)
                if place is not None:
                    self.aliases[name] = place
                    changed = True

    def _alias(self, rhs: ir.Rhs, counts: Counter[str]) -> Place | None:
        """The place that an expression names, None where it may come to be another one."""
        if isinstance(rhs, ir.Name):
            place = self.place(rhs)
            return place if place is not None and counts[place[0]] == 1 else None
        if not isinstance(rhs, ir.Call):
            return None
        read = self.read_place(rhs)
        if read is None or counts[read[0]] != 1 or self.is_stored(read):
            return None
        return read if read[0] in self.params else None

    def is_stored(self, place: Place) -> bool:
        """Whether a place, or one on the way to it, is assigned anywhere."""
        names = [n for n, p in self.aliases.items()]
        for k in range(len(place[1])):
            base = (place[0], place[1][:k])
            same = [n for n in (*names, base[0]) if self.place(ir.Name(n)) == base]
            if any((n, place[1][k]) in self.stored for n in same):
                return True
        return False

    def place(self, atom: ir.Atom) -> Place | None:
        """Where an object, or a container in a parameter, is; None if it is no fixed place."""
        if not isinstance(atom, ir.Name):
            return None
        if atom.id in self.aliases:
            return self.aliases[atom.id]
        if atom.id in self.params:
            return atom.id, ()
        known = self.cls(atom.id) is not None and atom.id not in self.boxed
        return (atom.id, ()) if known else None

    def read_place(self, call: ir.Call) -> Place | None:
        """The place that a call reads: `x.name`, or an item with a known key."""
        base = self.place(call.args[0]) if call.args else None
        if base is None:
            return None
        kind = self.kind_at(base)
        if isinstance(call.fn, ir.Attr) and class_of(kind) is not None:
            return base[0], (*base[1], Member(call.fn.name))
        item = call.fn is operator.getitem and isinstance(call.args[1], ir.Const)
        if item and base[0] in self.params and self.kind_at(base) is not None:
            key = call.args[1]
            assert isinstance(key, ir.Const)
            found = (base[0], (*base[1], key.value))
            return found if self.kind_at(found) is not None else None
        return None

    def kind_at(self, place: Place) -> Kind | None:
        """The kind of what is at a place, None if nothing is known of it."""
        kind = self.kinds.get(place[0])
        for key in place[1]:
            kind = item_at(kind, key)
        return kind

    def kind_given(self, place: Place) -> Kind | None:
        """The kind of what is at a place when the function is called."""
        kind = self.given.get(place[0])
        for key in place[1]:
            kind = item_at(kind, key)
        return kind

    def stores_below(self, place: Place) -> bool:
        """Whether anything in an object is assigned."""
        size = len(place[1])
        return any(
            p is not None and p[0] == place[0] and p[1][:size] == place[1]
            for n, _ in self.stored
            for p in [self.place(ir.Name(n))]
        )


def stores(block: ir.Block) -> Iterator[tuple[ir.Stmt, ir.Atom, ir.Const]]:
    """Every store into an attribute: the statement, the object and the name."""
    for stmt in ir.walk(block):
        if isinstance(stmt, ir.Effect) and isinstance(stmt.rhs, ir.Call) and is_store(stmt.rhs):
            key = stmt.rhs.args[1]
            assert isinstance(key, ir.Const)
            yield stmt, stmt.rhs.args[0], key


def _reads(rhs: ir.Call) -> bool:
    """Whether a call reads an attribute, or an item with a known key."""
    item = rhs.fn is operator.getitem and isinstance(rhs.args[1], ir.Const)
    return item or isinstance(rhs.fn, ir.Attr)


def _is_made(rhs: ir.Rhs | None) -> bool:
    """Whether an expression makes a new object."""
    if not isinstance(rhs, ir.Call):
        return False
    return rhs.fn is ir.new_object or records.plain_fields(rhs.fn) is not None


def is_store(rhs: ir.Rhs) -> bool:
    """Whether an expression is a store into an attribute."""
    return isinstance(rhs, ir.Call) and rhs.fn is ir.set_attr


def item_at(kind: Kind | None, key: Any) -> Kind | None:
    """The kind of an attribute or item that is known."""
    if isinstance(kind, Dict):
        known = dict(kind.items)
        hidden = kind.cls is not None and kind.item is not None and key in known
        return UNKNOWN if hidden else known.get(key)
    if isinstance(kind, (List, Tuple)) and kind.items is not None and isinstance(key, int):
        return kind.items[key] if -len(kind.items) <= key < len(kind.items) else None
    return None
