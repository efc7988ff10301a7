"""Where the objects of a function are: which variables name them, and which attributes are stored.

Takes a function and the kinds of its names.  A place is a variable and the attributes and keys that
lead from it to a value.  A variable that always names one place of a parameter is an alias of it;
one that takes objects out of containers or calls is boxed: its object stays an object.  The
invariant, for which `shared_store` looks: an object that is stored into has one name when a store
runs.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from functools import reduce
from typing import Any

from srcdiff import ir
from srcdiff.analysis.liveness import Order, live_after
from srcdiff.errors import TransformError, refused
from srcdiff.frontend.request import Member
from srcdiff.ir.frozen import frozen
from srcdiff.ir.kinds import inside
from srcdiff.kinds.interpreter import Typed
from srcdiff.primitives.ops import Op, is_op
from srcdiff.runtime import records

Path = tuple[Any, ...]
Place = tuple[str, Path]
"""A variable, and the attributes and keys that lead from it to a value."""


def has_objects(kind: ir.Kind | None) -> bool:
    """Whether a value is an object or a container of some."""
    return ir.class_of(kind) is not None or any(map(has_objects, inside(kind)))


def read_apart(typed: Typed) -> frozenset[str]:
    """The parameters that are containers, and those in them, of which only known items are read.

    None for Numba, whose functions are given the arrays in containers one by one.
    """
    function = typed.function
    given = [n for n, kind in typed.params.items() if ir.is_container(kind)]
    if function.target.native or not given:
        return frozenset()
    kinds, bound = typed.kinds, ir.bound(function)
    params = (p.name for p in function.params if p.name in given and p.name not in bound)
    known = [n for n in params if _is_known(kinds[n])]

    def parts(stmt: ir.Stmt, whole: set[str]) -> tuple[str, ...]:
        held = any(ir.is_container(kinds.get(n, ir.UNKNOWN)) for n in ir.writes(stmt))
        return ir.writes(stmt) if held and _reads_item(stmt, whole, kinds) else ()

    found: set[str] = set()
    for name in known:
        whole = _grown(function.body, {name}, parts)
        using = (s for s in ir.walk(function) if not whole.isdisjoint(ir.itself_mentions(s)))
        if all(_reads_item(s, whole, kinds) for s in using):
            found |= whole
    return frozenset(found)


def _reads_item(stmt: ir.Stmt, names: Set[str], kinds: ir.Kinds) -> bool:
    """Whether a statement takes an item that is known out of one of some containers."""
    rhs = stmt.rhs if isinstance(stmt, ir.Assign) else None
    base = rhs.args[0] if is_op(rhs, Op.GETITEM) else None
    key = read_key(rhs) if isinstance(base, ir.Name) and base.id in names else None
    kind = None if key is None or rhs is None else kinds.get(ir.names(rhs)[0])
    if key is None or item_at(kind, key.value) is None:
        return False
    return not isinstance(rhs, ir.Call) or _fits(rhs.role, kind)


def _fits(role: ir.Role | ir.Unpacks | None, kind: ir.Kind | None) -> bool:
    """Whether a container has as many items as are taken where it is unpacked."""
    if type(role) is not ir.Unpacks:
        return True
    count = len(kind.items if isinstance(kind, ir.Dict) else ir.known_items(kind) or ())
    if role.after is None:
        return count == role.before
    return count >= role.before + role.after


def _is_known(kind: ir.Kind | None) -> bool:
    """Whether a value is a container of plain values, or of such containers, all known."""
    if isinstance(kind, (ir.Array, ir.Scalar, ir.Text, ir.NoneKind)):
        return True
    if isinstance(kind, ir.Dict):
        return kind.cls is None and kind.item is None and all(_is_known(k) for _, k in kind.items)
    items = ir.known_items(kind)
    return items is not None and all(map(_is_known, items))


def mentions_objects(block: ir.Block) -> bool:
    """Whether a block calls a class, reads an object from outside, or copies what may be one."""
    for call in ir.calls(block):
        if is_op(call, Op.NEW_OBJECT, Op.SET_ATTR, Op.SHALLOW_COPY, Op.DEEPCOPY):
            return True
        outside = (a.value for a in call.args if isinstance(a, ir.Ref))
        if any(records.is_record(v) or records.is_record(type(v)) for v in (call.fn, *outside)):
            return True
    return False


def _grown(
    block: ir.Block, start: Iterable[str], adds: Callable[[ir.Stmt, set[str]], Iterable[str]]
) -> frozenset[str]:
    """Some names, with those that statements add to them, until there are no more."""
    found, size = set(start), -1
    while size != len(found):
        size = len(found)
        for stmt in ir.walk(block):
            found.update(adds(stmt, found))
    return frozenset(found)


class Places:
    """The objects of a function; `given` are the kinds of its parameters when it is called.

    `apart` are containers that are taken apart as well, as `read_apart` finds them.
    """

    def __init__(
        self,
        function: ir.Function,
        given: ir.Kinds,
        kinds: ir.Kinds,
        kept: frozenset[type] = frozenset(),
        apart: frozenset[str] = frozenset(),
    ) -> None:
        self.whole_function = function
        self.given = given
        self.kinds = kinds
        self.order = Order(function)
        self.apart = apart
        names = [p.name for p in function.params]
        self.params = {n for n in names if n in self.apart or has_objects(kinds.get(n))}
        put = ((base, name) for _, base, name in stores(function.body))
        self.stored = frozenset((b.id, name) for b, name in put if isinstance(b, ir.Name))
        self.aliases: dict[str, Place] = {}
        self.rooted = self._rooted()
        self.boxed = self._boxed(frozenset())
        self.kept = self._kept(kept)
        if self.kept:
            self.boxed = self._boxed(self.kept)
        self._find_aliases()

    # --- what each name is -----------------------------------------------------------------------

    def cls(self, name: str) -> type | None:
        """The class of a variable that is an object."""
        return ir.class_if_any(self.kinds.get(name))

    def _rooted(self) -> frozenset[str]:
        """The variables that may be a parameter, or a part of one by a known key."""

        def parts(stmt: ir.Stmt, found: set[str]) -> tuple[str, ...]:
            rhs = stmt.rhs if isinstance(stmt, ir.Assign) else None
            part = isinstance(rhs, ir.Name) or read_key(rhs) is not None
            return ir.writes(stmt) if part and found.issuperset(ir.names(rhs)) else ()

        return _grown(self.whole_function.body, self.params, parts)

    def _kept(self, more: frozenset[type]) -> frozenset[type]:
        """The classes of objects that are stored into after they came out of a container."""
        from srcdiff.specialize.objects.boxes import check_given, outside, stored_classes

        found = list(stores(self.whole_function.body))
        pairs = [(base, name) for _, base, name in found]
        kept = stored_classes(pairs, self.boxed, self.whole_function, self.kinds, more)
        if kept:
            boxed = (s for s, b, _ in found if isinstance(b, ir.Name) and b.id in self.boxed)
            first = next(boxed, self.whole_function)
            given = {n: self.kinds[n] for n in sorted(self.params)}
            check_given(kept, {**given, **outside(self.whole_function)}, first.loc)
        return kept

    def _boxed(self, kept: frozenset[type]) -> frozenset[str]:
        """The objects that come out of containers and calls, and all of some classes."""

        def taken(stmt: ir.Stmt, found: set[str]) -> list[str]:
            objects = [n for n in ir.writes(stmt) if self.cls(n) is not None]
            return [] if self._makes(stmt, found) else objects

        start = (n for n in self.kinds if self.cls(n) in kept)
        return _grown(self.whole_function.body, start, taken)

    def _makes(self, stmt: ir.Stmt, boxed: set[str]) -> bool:
        """Whether a statement makes an object or gives a known one another name."""
        rhs = stmt.rhs if isinstance(stmt, ir.Assign) else None
        if boxed & set(ir.names(rhs)) and not is_made(rhs):
            return False
        if isinstance(rhs, ir.Name):
            return True
        if not isinstance(rhs, ir.Call):
            return False
        if is_made(rhs):
            return True
        if isinstance(rhs.fn, ir.Attr):
            return isinstance(rhs.args[0], ir.Name) and self.cls(rhs.args[0].id) is not None
        return read_key(rhs) is not None and self.rooted.issuperset(ir.names(rhs))

    def _find_aliases(self) -> None:
        """The variables that are another name of one place for good.

        Those of attributes of objects that are made here come last: they depend on the others.
        """
        refused: frozenset[str] = frozenset()
        while True:
            self.aliases = {}
            for made in (False, True):
                self._add_aliases(refused, made)
            wrong = {n for n, p in self.aliases.items() if not self._lasts(n, p)}
            if not wrong:
                return
            refused |= wrong

    def _add_aliases(self, refused: frozenset[str], made: bool) -> None:
        """Aliases, until there are no more; of parts of objects `made` here or not."""
        size = -1
        while size != len(self.aliases):
            size = len(self.aliases)
            for name, stmt in self.order.once.items():
                held = name in self.apart or has_objects(self.kinds.get(name))
                if name in self.aliases or not held:
                    continue
                place = self._alias(name, stmt, made) if name not in refused else None
                if place is not None:
                    self.aliases[name] = place

    def _alias(self, name: str, stmt: ir.Stmt, made: bool) -> Place | None:
        """The place that a statement gives a name, None where that may come to be another one."""
        rhs = stmt.rhs if isinstance(stmt, ir.Assign) else None
        same = self.place(rhs) if isinstance(rhs, ir.Name) else None
        place = self.read_place(rhs) if isinstance(rhs, ir.Call) else same
        if place is None or not self.order.holds(name, place[0]):
            return None
        part = made and self.cls(name) is not None
        return place if place == same or place[0] in self.params or part else None

    def _lasts(self, name: str, place: Place) -> bool:
        """Whether no attribute on the way to a place is assigned once it has another name."""
        if place[0] in self.params:
            return not self.is_stored(place)
        for k in range(len(place[1])):
            above = (place[0], place[1][:k])
            made = [
                s for s, b, stored in stores(self.whole_function.body)
                if stored == place[1][k] and self.place(b) == above
            ]  # fmt: skip
            if len(made) > 1 or not all(self.order.starts(s, place[0], name) for s in made):
                return False
        return True

    def is_stored(self, place: Place) -> bool:
        """Whether a place, or one on the way to it, is assigned anywhere."""
        for k in range(len(place[1])):
            base = (place[0], place[1][:k])
            same = [n for n in (*self.aliases, base[0]) if self.place(ir.Name(n)) == base]
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
        key, kind = read_key(call), self.kind_at(base)
        if isinstance(call.fn, ir.Attr):
            return below(base, call.fn.name) if ir.class_if_any(kind) is not None else None
        if key is None or kind is None or base[0] not in self.params:
            return None
        found = (base[0], (*base[1], _from_start(key.value, kind)))
        return found if self.kind_at(found) is not None else None

    def kind_at(self, place: Place) -> ir.Kind | None:
        """The kind of what is at a place, None if nothing is known of it."""
        return reduce(item_at, place[1], self.kinds.get(place[0]))

    def kind_given(self, place: Place) -> ir.Kind | None:
        """The kind of what is at a place when the function is called."""
        return reduce(item_at, place[1], self.given.get(place[0]))

    def owner(self, place: Place) -> type | None:
        """The class of the object of which an attribute is at a place."""
        return ir.class_of(self.kind_at(above(place)))

    def attributes(self, place: Place) -> list[tuple[Place, ir.Kind]]:
        """Where the attributes of an object are, and their kinds; [] of anything else."""
        kind = self.kind_at(place)
        own = kind.items if isinstance(kind, ir.Dict) and kind.cls is not None else ()
        return [(below(place, name), inner) for name, inner in own]

    def stores_below(self, place: Place) -> bool:
        """Whether anything in an object is assigned."""
        bases = (self.place(ir.Name(name)) for name, _ in self.stored)
        return any(base is not None and _is_inside(base, place) for base in bases)


def below(place: Place, name: str) -> Place:
    """The place of an attribute of an object."""
    return place[0], (*place[1], Member(name))


def above(place: Place) -> Place:
    """The place of that of which a place is an attribute or item."""
    return place[0], place[1][:-1]


def _from_start(key: Any, kind: ir.Kind | None) -> Any:
    """A known key, where a place at the end of a sequence counts from the start of it."""
    count = len(ir.known_items(kind) or ())
    return key + count if type(key) is int and -count <= key < 0 else key


def stores(block: ir.Block) -> Iterator[tuple[ir.Stmt, ir.Atom, str]]:
    """Every store into an attribute: the statement, the object and the name."""
    for stmt, call in ir.callers(block):
        if isinstance(call.fn, ir.SetAttr):
            yield stmt, call.args[0], call.fn.name


def read_key(rhs: ir.Rhs | None) -> ir.Const | None:
    """The attribute that a call reads, or the known key of an item; None for anything else."""
    if isinstance(rhs, ir.Call) and isinstance(rhs.fn, ir.Attr):
        return ir.Const(rhs.fn.name)
    key = rhs.args[1] if is_op(rhs, Op.GETITEM) else None
    return key if isinstance(key, ir.Const) else None


def is_made(rhs: ir.Rhs | None) -> bool:
    """Whether an expression makes a new object."""
    fields = isinstance(rhs, ir.Call) and records.plain_fields(rhs.fn) is not None
    return fields or is_op(rhs, Op.NEW_OBJECT)


def item_at(kind: ir.Kind | None, key: Any) -> ir.Kind | None:
    """The kind of an attribute or item that is known."""
    if isinstance(kind, ir.Dict):
        known = dict(kind.items)
        hidden = kind.cls is not None and kind.item is not None and key in known
        return ir.UNKNOWN if hidden else known.get(key)
    items = ir.known_items(kind) or ()
    return items[key] if isinstance(key, int) and -len(items) <= key < len(items) else None


# --- objects that are stored into must have one name: what may hold one when a store runs --------


Find = Callable[[ir.Atom], "Place | None"]


@frozen
class Holder:
    """A statement after which something else holds an object: another variable, or a container."""

    stmt: ir.Stmt
    held: Place
    target: Place | None


@frozen
class Shared:
    """A store into the object at a place, which something else may hold; `error` says so."""

    into: Place
    error: TransformError


def shared_store(
    function: ir.Function, order: Order, place: Find, aliases: Mapping[str, Place]
) -> Shared | None:
    """The first store into an object that something else may hold at that time."""
    found = ((stmt, place(base)) for stmt, base, _ in stores(function.body))
    stored = [(stmt, into) for stmt, into in found if into is not None]
    if not stored:
        return None
    holders = list(_holders(function.body, place, aliases))
    for stmt, into in stored:
        places = _origins(into, holders)
        inside = {name for name, _ in places}
        for holder in holders:
            for where in places:
                if _concerns(holder, where, inside) and order.may_follow(
                    stmt, holder.stmt, where[0]
                ):
                    if not _moved(function, holder, aliases, where):
                        return Shared(into, _refusal(stmt, holder.stmt))
    return None


def _origins(into: Place, holders: list[Holder]) -> list[Place]:
    """The place of an object, and the places that it came from, by whatever variables."""
    found: dict[Place, frozenset[str]] = {into: frozenset()}
    todo = [into]
    while todo:
        name, path = place = todo.pop()
        passed = found[place] | {name}
        for holder in holders:
            held, above = holder.held
            origin = (held, (*above, *path))
            if holder.target == (name, ()) and held not in passed and origin not in found:
                found[origin] = passed
                todo.append(origin)
    return list(found)


def _concerns(holder: Holder, into: Place, inside: set[str]) -> bool:
    """Whether somebody else holds the object at `into` from then on.

    Where it only goes on to a variable `inside`, what counts is what becomes of it there.
    """
    target = holder.target
    if target is not None and _is_inside(into, target):
        return True
    goes_on = target is not None and not target[1] and target[0] in inside
    return _is_inside(into, holder.held) and not (goes_on and target != (into[0], ()))


_PASSIVE = (
    Op.PRINT, Op.ISINSTANCE, Op.HASATTR, Op.ID, Op.STR, Op.REPR, Op.FORMAT, Op.CALLABLE, Op.LEN,
    Op.LIKE_OBJECT, Op.EQ, Op.NE, Op.IS, Op.IS_NOT,
)  # fmt: skip


def is_passive(stmt: ir.Stmt) -> bool:
    """Whether a statement only looks at objects, to print or to describe them."""
    rhs = stmt.rhs if isinstance(stmt, (ir.Assign, ir.Effect)) else None
    return is_op(rhs, *_PASSIVE) or (isinstance(rhs, ir.Opaque) and rhs.harmless)


def _holders(block: ir.Block, place: Find, aliases: Mapping[str, Place]) -> Iterator[Holder]:
    """Every statement after which an object has one holder more."""
    for stmt in ir.walk(block):
        if not is_passive(stmt) and aliases.keys().isdisjoint(ir.writes(stmt)):
            target, held = _handed_on(stmt, place)
            yield from (Holder(stmt, p, target) for p in held if p is not None)


def _handed_on(stmt: ir.Stmt, place: Find) -> tuple[Place | None, Iterable[Place | None]]:
    """The place of what holds something after a statement, and the places of what it holds."""
    call = ir.call_of(stmt)
    target = place(stmt.target) if isinstance(stmt, ir.Assign) else None
    if call is not None and isinstance(call.fn, ir.Attr):
        base = place(call.args[0])
        return target, [] if base is None or target is None else [below(base, call.fn.name)]
    if call is not None and isinstance(call.fn, ir.SetAttr):
        owner, given = map(place, call.args)
        return (None, []) if owner is None else (below(owner, call.fn.name), [given])
    value = stmt.rhs if isinstance(stmt, (ir.Assign, ir.Effect)) else None
    value = stmt.value if isinstance(stmt, ir.Store) else value
    return None if call is not None else target, map(place, map(ir.Name, ir.names(value)))


def _is_inside(one: Place, other: Place) -> bool:
    """Whether one object is the other, or a part of it."""
    return one[0] == other[0] and one[1][: len(other[1])] == other[1]


def _moved(
    function: ir.Function, holder: Holder, aliases: Mapping[str, Place], into: Place
) -> bool:
    """Whether an object goes from one variable to another, and the old one is done with."""
    if holder.target is None or holder.held[1] or into[0] == holder.held[0]:
        return False
    live = live_after(function, holder.stmt)
    names = {holder.held[0], *(n for n, p in aliases.items() if p[0] == holder.held[0])}
    params = {p.name for p in function.params}
    return not names & live and holder.held[0] not in params


def _refusal(stmt: ir.Stmt, since: ir.Stmt) -> TransformError:
    line = since.loc.line
    return refused("objects.other_name", stmt.loc, since=f" (since line {line})" if line else "")


def step(base: ir.Name, key: object) -> ir.Call:
    """An attribute or an item of a value."""
    if isinstance(key, Member):
        return ir.Call(ir.Attr(str(key)), (base,))
    return ir.Call(operator.getitem, (base, ir.Const(key)))
