"""What is known of the values of a function, and loops over objects of several kinds."""

from __future__ import annotations

import functools
import operator
from collections.abc import Mapping
from typing import Any

from srcdiff import ir
from srcdiff.analysis.liveness import live_after, live_before
from srcdiff.frontend.closures.settled import definitions
from srcdiff.ir.kinds import (
    Array,
    Dict,
    Kind,
    List,
    NoneKind,
    Scalar,
    Text,
    Tuple,
    class_if_any,
    class_of,
    sure,
)
from srcdiff.kinds.atoms import atom_kind
from srcdiff.runtime import records
from srcdiff.runtime.records import MISSING
from srcdiff.specialize.keys import Names
from srcdiff.specialize.objects import own_dicts
from srcdiff.specialize.objects.places import stores
from srcdiff.specialize.objects.presence import Answer, presence

Kinds = Mapping[str, Kind]
_NOTHING: Kinds = {}


class Known:
    """What is known of the values of a function.

    `hopes` are kinds that hold as long as the calls that are not resolved yet change nothing.
    Methods are looked up by them; `assumed` are the classes that have to turn out right.  `own` are
    attributes of classes that their objects may have as well, `taken` those read as the class's.
    """

    def __init__(
        self,
        function: ir.Function,
        kinds: Kinds,
        hopes: Kinds,
        own: frozenset[tuple[type, str]] = frozenset(),
        params: Kinds = _NOTHING,
    ) -> None:
        self.whole = function
        self.params = params
        self.now: ir.Stmt | None = None
        self.kinds = kinds
        self.items: dict[str, ir.Name] = {}  # of objects that are iterated, by their names
        self.hopes = hopes
        self.assumed: dict[str, tuple[type, ir.Loc]] = {}
        self.own = own
        self.taken: set[tuple[type, str]] = set()
        self.loc = ir.NOWHERE
        self.fresh = ir.Fresh(ir.all_names(function))
        self.out: list[ir.Stmt] = []

    def kind(self, atom: ir.Atom) -> Kind:
        """What is known of a value."""
        return atom_kind(atom, self.kinds)

    def cls(self, atom: ir.Atom) -> type | None:
        """The class of an object, None for anything else."""
        if not isinstance(atom, (ir.Name, ir.Ref)):
            return None
        found = class_of(self.kind(atom))
        if found is None and isinstance(atom, ir.Name):
            found = class_of(self.hopes.get(atom.id))
            if found is not None:
                self.assumed[atom.id] = found, self.loc
        return found

    def cls_if_any(self, atom: ir.Atom) -> type | None:
        """The class of an object that is read or called: None there is an error."""
        found = self.cls(atom)
        maybe = found is None and isinstance(atom, (ir.Name, ir.Ref))
        return class_if_any(self.kind(atom)) if maybe else found

    def member(self, atom: ir.Atom, name: str, after: type | None = None) -> Any:
        """What the class of an object has under a name."""
        cls = self.cls(atom)
        return MISSING if cls is None else records.member(cls, name, after)

    def has(self, atom: ir.Atom, name: str) -> bool:
        """Whether an object has an attribute of its own."""
        for kind in (self.kind(atom), atom_kind(atom, self.hopes)):
            held = sure(kind)
            if isinstance(held, Dict) and name in dict(held.items):
                return True
        return False

    def presence(self, base: ir.Atom, name: str) -> Answer:
        """Whether an object has an attribute of its own now."""
        if not isinstance(base, ir.Name) or self.now is None:
            return Answer(self.has(base, name), False)
        return presence(self.whole, self.params, self.kinds, self.now, base, name)

    def temp(self, rhs: ir.Rhs, loc: ir.Loc, base: str = "_t") -> ir.Name:
        """A new name for a value."""
        name = self.fresh(base)
        self.out.append(ir.Assign(name, rhs, loc))
        return name


class Unroller(Known):
    """Loops over objects and functions that have nothing in common, written out."""

    def block(self, block: ir.Block) -> ir.Block:
        """A block after this round."""
        raise NotImplementedError

    def for_(self, stmt: ir.For) -> None:
        """A loop; over items that have nothing in common, its body for each of them."""
        counts = self.unrolled(stmt)
        if counts is None:
            self.out.append(ir.map_blocks(stmt, self.block))
            return
        after = live_after(self.whole, stmt)
        own = ir.bound(stmt.body) - live_before(stmt.body, after)
        keyed = self.keyed(stmt)
        for k in counts:
            last = own - after if keyed and k == counts[-1] else frozenset()
            new = {n: self.fresh(n).id for n in sorted(last if k == counts[-1] else own)}
            known = {n: ir.Const(names[k]) for n, names in keyed.items()}
            self.out.append(ir.Assign(stmt.target, ir.Const(k), stmt.loc))
            self.out += ir.rename(_at(stmt.body, {stmt.target.id: ir.Const(k), **known}), new)

    def unrolled(self, stmt: ir.For) -> range | None:
        """What a loop over items of different kinds counts, None for any other loop."""
        if stmt.stop is not None or not isinstance(stmt.iter, ir.Call):
            return None
        if stmt.iter.fn is not range or stmt.target.id in ir.bound(stmt.body):
            return None
        bounds = [self.bound(a) for a in stmt.iter.args]
        if not all(isinstance(b, int) for b in bounds):
            return None
        counts = range(*bounds)  # type: ignore[arg-type]
        items = [self.items_at(inner, stmt.target) for inner in ir.walk(stmt.body)]
        if any(_differ(k) for k in items if k is not None) or self.stores_into_items(stmt):
            return counts
        return counts if self.asks_by_name(stmt.body, self.keyed(stmt)) else None

    def stores_into_items(self, stmt: ir.For) -> bool:
        """Whether a loop assigns attributes of objects in a list that the function is given."""
        items = {
            inner.target.id for inner in ir.walk(stmt.body)
            if isinstance(inner, ir.Assign) and self.items_at(inner, stmt.target) is not None
            and self.cls(inner.target) is not None
        }  # fmt: skip
        return bool(items) and any(
            isinstance(base, ir.Name) and base.id in items for _, base, _ in stores(stmt.body)
        )

    def bound(self, atom: ir.Atom) -> int | None:
        """The value of a bound of a loop."""
        value: int | None = getattr(self.kind(atom), "value", None)
        return self.names.number(atom) if value is None else value

    @functools.cached_property
    def names(self) -> Names:
        """The names that lists and dicts give in turn."""
        return Names(self.whole, self.kinds)

    def keyed(self, stmt: ir.For) -> dict[str, tuple[str, ...]]:
        """What in a loop is a string: one of these in turn."""
        found: dict[str, tuple[str, ...]] = {}
        count = definitions(stmt.body, ())
        for inner in ir.walk(stmt.body):
            if isinstance(inner, ir.Assign) and count[inner.target.id] == 1:
                texts = self.texts(inner.rhs, stmt.target, found)
                if texts is not None:
                    found[inner.target.id] = texts
        return found

    def texts(
        self, rhs: ir.Rhs, target: ir.Name, found: Mapping[str, tuple[str, ...]]
    ) -> tuple[str, ...] | None:
        """The strings that an expression gives in turn, None if it is anything else."""
        if isinstance(rhs, ir.Name):
            return found.get(rhs.id)
        if not isinstance(rhs, ir.Call) or rhs.fn is not operator.getitem or rhs.args[1] != target:
            return None
        keys = isinstance(self.kind(rhs.args[0]), Dict) and rhs.text != ir.LOOP
        return None if keys else self.names.of(rhs.args[0])

    def asks_by_name(self, block: ir.Block, keyed: Mapping[str, object]) -> bool:
        """Whether attributes of objects are read or stored by the names that a loop gives."""
        for stmt in ir.walk(block):
            call = ir.call_of(stmt)
            if call is not None and any(call.fn is f for f in BY_NAME):
                key = call.args[1] if len(call.args) > 1 else None
                if isinstance(key, ir.Name) and key.id in keyed:
                    return self.cls(call.args[0]) is not None
        keys = own_dicts.names_in(block, self.own_dicts)
        return any(isinstance(k, ir.Name) and k.id in keyed for k in keys)

    @functools.cached_property
    def own_dicts(self) -> dict[str, ir.Atom]:
        """The dicts that objects keep their attributes in."""
        return own_dicts.found(self.whole, self.kinds)

    def items_at(self, stmt: ir.Stmt, target: ir.Name) -> tuple[Kind, ...] | None:
        """The kinds of the items of which a statement takes one, where they are all known."""
        rhs = stmt.rhs if isinstance(stmt, ir.Assign) else None
        if not isinstance(rhs, ir.Call) or rhs.fn is not operator.getitem:
            return None
        if rhs.args[1] != target:
            return None
        kind = self.kind(rhs.args[0])
        return kind.items if isinstance(kind, (Tuple, List)) else None


def _same(name: ir.Name) -> ir.Name:
    return name


BY_NAME = (getattr, hasattr, setattr, object.__setattr__, delattr)
"""What takes an object and the name of an attribute."""


def _at(block: ir.Block, known: Mapping[str, ir.Const]) -> ir.Block:
    """A block for one value of a loop's target, and of what that decides."""

    def read(n: ir.Name) -> ir.Atom:
        return known.get(n.id, n)

    def many(inner: ir.Block) -> ir.Block:
        return tuple(ir.map_stmt(s, read, _same, many) for s in inner)

    return many(block)


def _differ(items: tuple[Kind, ...]) -> bool:
    """Whether items are functions or objects that are not all of one class and make."""
    shapes = {_make(k) for k in items}
    return len(shapes) > 1 and any(s is not None for s in shapes)


def _make(kind: Kind) -> Any:
    """What tells functions and objects apart, None for numbers and arrays."""
    if isinstance(kind, Dict) and kind.cls is not None:
        return kind.cls, tuple((k, _make(v)) for k, v in kind.items)
    if isinstance(kind, (Tuple, List)) and kind.items is not None:
        made = tuple(map(_make, kind.items))
        return made if any(m is not None for m in made) else None
    if isinstance(kind, NoneKind):
        return NoneKind
    if isinstance(kind, (Scalar, Array, Text)):
        return None
    return getattr(kind, "value", None)
