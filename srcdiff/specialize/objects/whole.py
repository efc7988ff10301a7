"""The variables that stand for attributes, and objects made where they are used as a whole."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

from srcdiff import ir
from srcdiff.errors import UnsupportedError
from srcdiff.frontend.request import Member, spelled
from srcdiff.ir.kinds import Dict, Kind, List, Tuple, class_of
from srcdiff.runtime import records
from srcdiff.specialize.objects import identity
from srcdiff.specialize.objects.places import Place, Places, stores

Kinds = Mapping[str, Kind]

_NUMBER = re.compile(r"(?<=\w)_\d+\Z")


class Variables(Places):
    """One attempt; `known` are the places that are used as a whole, as far as was found out."""

    def __init__(
        self,
        function: ir.Function,
        given: Kinds,
        kinds: Kinds,
        known: frozenset[Place],
        kept: frozenset[type],
    ) -> None:
        super().__init__(function, given, kinds, kept)
        self.known = known
        self.whole: frozenset[Place] = known
        self.fresh = ir.Fresh(ir.all_names(function))
        self.renamed: dict[str, str] = {}
        self.changed: set[str] = set()
        self.variables: dict[Place, str] = {}
        self.leaves: dict[str, Place] = {}
        self.passive: dict[str, Place] = {}
        self.out: list[ir.Stmt] = []
        self.in_place: set[Place] = set()
        self.copied: list[str] = []
        self.copies = False
        self.compares: list[ir.Loc] = []
        self.there: set[Place] = set()
        """What objects may have by now: an attribute that is assigned later is no part of them."""

    def block(self, block: ir.Block) -> ir.Block:
        """A block without attributes."""
        raise NotImplementedError

    # --- are they the same? ----------------------------------------------------------------------

    def compared(self, call: ir.Call, loc: ir.Loc) -> bool | None:
        """What a comparison of two objects gives, where that is known here."""
        if call.fn is hasattr and identity.is_taken_apart(self, call.args[0]):
            raise _depends(call.args[1], loc)
        if identity.of_boxed(self, call):
            self.compares.append(loc)
        return identity.same(self, call, loc)

    def makers(self, name: str) -> list[ir.Stmt]:
        """The statements that bind a name."""
        return self.order.defined.get(name, [])

    def length(self, call: ir.Call) -> int | None:
        """How many items a sequence in a parameter has, where that is known."""
        place = self.place(call.args[0]) if call.fn is len and call.args else None
        kind = None if place is None else self.kind_at(place)
        if not isinstance(kind, (List, Tuple)) or kind.items is None:
            return None
        return len(kind.items)

    def note_copies(self, names: tuple[str, ...]) -> None:
        """Note whether objects are made where they go on to something else."""
        self.copies |= any(identity.is_taken_apart(self, ir.Name(n)) for n in names)

    def check_compared(self) -> None:
        """Refuse comparisons of what came out of containers where those hold copies."""
        if self.copies and self.compares:
            raise identity.refused(self.compares[0])

    # --- what there is ---------------------------------------------------------------------------

    def inner(self, stmt: ir.Stmt) -> Callable[[ir.Block], ir.Block]:
        """What takes the blocks of a statement, of which any one may run, or none."""
        before = frozenset(self.there)
        if isinstance(stmt, (ir.For, ir.While)):
            before |= self.stored_in(stmt)
        self.there |= before

        def block(inner: ir.Block) -> ir.Block:
            others, self.there = self.there, set(before)
            done = self.block(inner)
            self.there |= others
            return done

        return block

    def stored_in(self, loop: ir.Stmt) -> frozenset[Place]:
        """The attributes that a loop assigns, and all of the objects that it copies."""
        found: set[Place] = set()
        for _, base, key in stores((loop,)):
            place = self.place(base)
            if place is not None:
                found |= {below(place, key.value), *self.inside(below(place, key.value))}
        for name in ir.bound((loop,)):
            if self.cls(name) is not None:
                found |= self.inside((name, ()))
        return frozenset(found)

    def inside(self, place: Place) -> set[Place]:
        """Every attribute of an object, and those of its own objects."""
        kind = self.kind_at(place)
        if not isinstance(kind, Dict) or kind.cls is None:
            return set()
        found = {below(place, key) for key, _ in kind.items}
        return found.union(*map(self.inside, found))

    def gone(self, place: Place) -> None:
        """A new object is at a place: it has no attributes yet."""
        self.there -= self.inside(place)

    def is_there(self, place: Place) -> bool:
        """Whether an attribute may be there by now."""
        if place in self.there or self.kind_given(place) is not None:
            return True
        given = place[0] in self.params and self.kind_given((place[0], place[1][:-1])) is not None
        return given and self.class_value(place) is not None

    def class_value(self, place: Place) -> ir.Ref | None:
        """What an attribute is while the class alone has it; None where that is no plain value."""
        cls = class_of(self.kind_at((place[0], place[1][:-1])))
        name = str(place[1][-1])
        if cls is None or records.default(cls, name) is records.MISSING:
            return None
        return ir.Ref(f"{cls.__name__}.{name}", records.default(cls, name))

    def defaults(self, place: Place, loc: ir.Loc) -> None:
        """The attributes of a new object start with the values that its class has."""
        self.gone(place)
        kind = self.kind_at(place)
        assert isinstance(kind, Dict)
        for key, inner in kind.items:
            value = self.class_value(below(place, key))
            if value is not None and class_of(inner) is None:
                self.there.add(below(place, key))
                self.out.append(ir.Assign(self.variable(below(place, key)), value, loc))

    def starts(self, name: str) -> dict[str, ir.Atom]:
        """The attributes that a new object starts with, as its class has values for them."""
        kind = self.kind_at((name, ()))
        assert isinstance(kind, Dict)
        found = {key: self.class_value(below((name, ()), key)) for key, _ in kind.items}
        return {key: value for key, value in found.items() if value is not None}

    def check_there(self, place: Place, loc: ir.Loc) -> None:
        """Refuse an attribute that the object does not have."""
        if self.kind_at(place) is None:
            cls = class_of(self.kind_at((place[0], place[1][:-1])))
            raise UnsupportedError(
                f"`{cls.__name__ if cls else place[0]}` has no attribute `{place[1][-1]}` that is "
                "known here",
                loc,
                remedy="Assign it in `__init__`; attributes that `__getattr__` makes up are not "
                "seen.",
            )

    def value(self, place: Place, loc: ir.Loc) -> ir.Rhs:
        """What is at a place, as an expression."""
        for k in range(len(place[1])):
            above = (place[0], place[1][:k])
            if above in self.known and not self.is_stored(place):
                found: ir.Atom = self.leaf(above)
                for key in place[1][k:-1]:
                    step = self.fresh()
                    self.out.append(ir.Assign(step, part(found, key), loc))
                    found = step
                return part(found, place[1][-1])
        return self.variable(place)

    def variable(self, place: Place) -> ir.Name:
        """The variable of a place."""
        if place[0] in self.params and not self.is_stored(place):
            return self.leaf(place)
        if place not in self.variables:
            named = place[0] in self.params and isinstance(place[1][0], str)
            base = "" if named else _NUMBER.sub("", place[0])
            words = [str(k) for k in (base, *place[1]) if str(k)]
            self.variables[place] = self.fresh("_".join(words)).id
        return ir.Name(self.variables[place])

    def leaf(self, place: Place) -> ir.Name:
        """The parameter that stands for a place in a parameter."""
        name = spelled(*place)
        self.leaves[name] = place
        return ir.Name(name)

    # --- objects as a whole ----------------------------------------------------------------------

    def used(self, name: ir.Name, loc: ir.Loc, passive: bool) -> ir.Atom:
        """A variable where it is used as a whole."""
        place = self.place(name)
        if place is None:
            return name
        if place[0] in self.params and not self.stores_below(place):
            if passive:
                dotted = spelled(*place)
                self.passive[dotted] = place
                return ir.Name(dotted)
            self.whole |= {place}
            return self.leaf(place)
        return self.made(place, loc)

    def made(self, place: Place, loc: ir.Loc) -> ir.Name:
        """An object with the attributes that there are now."""
        kind = self.kind_at(place)
        if not isinstance(kind, Dict) or kind.cls is None:
            raise strange(loc)
        values: dict[str, ir.Atom] = {}
        for key, inner in kind.items:
            inside = below(place, key)
            if not self.is_there(inside):
                continue
            if class_of(inner) is not None:
                values[key] = self.made(inside, loc)
            else:
                rhs = self.value(inside, loc)
                values[key] = rhs if isinstance(rhs, ir.Name) else self._held(rhs, loc)
        return self._held(built(kind.cls, values), loc)

    def _held(self, rhs: ir.Rhs, loc: ir.Loc) -> ir.Name:
        taken = self.fresh()
        self.out.append(ir.Assign(taken, rhs, loc))
        return taken


def below(place: Place, name: str) -> Place:
    """The place of an attribute of an object."""
    return place[0], (*place[1], Member(name))


ATTRIBUTE = "attribute"
"""The text of an item that is an attribute of an object, whatever is known of that."""


def part(base: ir.Atom, key: Any) -> ir.Call:
    """An attribute or item of an object that is kept as one."""
    index = ir.Const(str(key) if isinstance(key, str) else key)
    text = ATTRIBUTE if isinstance(key, Member) else None
    return ir.Call(operator.getitem, (base, index), text=text)


def built(cls: type, values: Mapping[str, ir.Atom]) -> ir.Call:
    """An object of a class with these attributes."""
    fields = records.plain_fields(cls)
    if fields is not None and set(fields) == set(values):
        return ir.Call(cls, tuple(values[f] for f in fields), text=cls.__name__)
    return ir.Call(records.instance, (ir.Ref(cls.__name__, cls),), tuple(values.items()))


def _depends(name: ir.Atom, loc: ir.Loc) -> UnsupportedError:
    """The error for an attribute that is assigned on some ways to a question, and not on others."""
    which = f" `{name.value}`" if isinstance(name, ir.Const) else ""
    return UnsupportedError(
        f"whether an object has the attribute{which} depends on what ran before", loc,
        remedy="Assign None in `__init__`, and ask whether it is None.",
    )  # fmt: skip


def strange(loc: ir.Loc) -> UnsupportedError:
    """The error for an object of which it is not known which one it is."""
    return UnsupportedError(
        "what this object is is known only when the program runs", loc,
        remedy="Use one object by its name, or a tuple of numbers and arrays.",
    )  # fmt: skip
