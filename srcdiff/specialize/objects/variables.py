"""The variables that stand for attributes, and objects made where they are used as a whole.

Takes a function and its places; gives each attribute its variable, and an object made of such
variables wherever one is used as a whole.  It is another object each time, so that neither `is` nor
a search among objects that are compared as they are would find the first again: the question
whether two such objects are one and the same is refused.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from typing import Any

from srcdiff import ir
from srcdiff.errors import TransformError, refused
from srcdiff.frontend.request import Member, spelled
from srcdiff.ir.builder import Rewriter
from srcdiff.kinds.calls import atom_kind
from srcdiff.primitives.ops import Op, is_op
from srcdiff.runtime import records
from srcdiff.specialize.objects.places import Place, Places, above, below, stores

_COMPARED = (Op.IS, Op.IS_NOT, Op.EQ, Op.NE)
_SEARCHES = (
    Op.CONTAINS, Op.INDEX, Op.REMOVE, Op.COUNT, Op.GET, Op.SETDEFAULT, Op.POP,
)  # fmt: skip
_NUMBER = re.compile(r"(?<=\w)_\d+\Z")


class Variables(Rewriter, Places):
    """One attempt; `known` are the places that are used as a whole, as far as was found out."""

    def __init__(
        self,
        function: ir.Function,
        given: ir.Kinds,
        kinds: ir.Kinds,
        known: frozenset[Place],
        kept: frozenset[type],
        apart: frozenset[str],
    ) -> None:
        Rewriter.__init__(self, ir.Fresh(ir.all_names(function)))
        Places.__init__(self, function, given, kinds, kept, apart)
        self.known = known
        self.whole: frozenset[Place] = known
        self.renamed: dict[str, str] = {}
        self.changed: set[str] = set()
        self.variables: dict[Place, str] = {}
        self.leaves: dict[str, Place] = {}
        self.at_once: dict[Place, ir.Unpacks] = {}
        self.passive: dict[str, Place] = {}
        self.in_place: set[Place] = set()
        self.copied: list[str] = []
        self.copies = False
        self.compares: list[ir.Loc] = []
        self.there: set[Place] = set()
        """What objects may have by now: an attribute that is assigned later is no part of them."""

    # --- are they the same? ----------------------------------------------------------------------

    def check_questions(self, call: ir.Call) -> None:
        """Refuse a question about an object of which nothing tells the answer."""
        if is_op(call, Op.HASATTR) and self.is_taken_apart(call.args[0]):
            name = call.args[1]
            which = f" `{name.value}`" if isinstance(name, ir.Const) else ""
            raise refused("objects.hasattr", self.loc, which=which)
        compared = [a for a in self.compared(call) if self.is_alone(call, a)]
        if any(map(self.is_taken_apart, compared)):
            raise identity_refusal(self.loc)
        if any(isinstance(a, ir.Name) and a.id in self.boxed for a in compared):
            self.compares.append(self.loc)

    def compared(self, call: ir.Call) -> tuple[ir.Atom, ...]:
        """The arguments that a call compares with others, or of which it takes the identity."""
        if is_op(call, *_COMPARED):
            kinds = [atom_kind(a, self.kinds) for a in call.args]
            open_ = (ir.Unknown, ir.Object, ir.Tuple, ir.List, ir.Dict)
            meet = all(isinstance(k, open_) for k in kinds)  # they may be one object
            return call.args if meet else ()
        if is_op(call, Op.ID, Op.HASH):
            return call.args
        return call.args[1:2] if is_op(call, *_SEARCHES) else ()

    def is_alone(self, call: ir.Call, atom: ir.Atom) -> bool:
        """Whether a value is an object that is taken for none but itself."""
        cls = ir.class_of(atom_kind(atom, self.kinds)) if isinstance(atom, ir.Name) else None
        if cls is None or is_op(call, Op.IS, Op.IS_NOT, Op.ID):
            return cls is not None
        return records.member(cls, "__eq__") is object.__dict__["__eq__"]

    def is_taken_apart(self, atom: ir.Atom) -> bool:
        """Whether an object is none that the function was given, nor one that is in a container."""
        place = self.place(atom)
        return place is not None and (place[0] not in self.params or self.stores_below(place))

    def length(self, call: ir.Call) -> int | None:
        """How many items a sequence in a parameter has, where that is known."""
        place = self.place(call.args[0]) if is_op(call, Op.LEN) and call.args else None
        items = None if place is None else ir.known_items(self.kind_at(place))
        return None if items is None else len(items)

    # --- what there is ---------------------------------------------------------------------------

    def blocks_of(self, stmt: ir.Stmt) -> Callable[[ir.Block], ir.Block]:
        """What takes the blocks of a statement, of which any one may run, or none."""
        before = frozenset(self.there)
        if isinstance(stmt, (ir.For, ir.While)):
            before |= self.stored_in(stmt)
        self.there |= before

        def block(inner: ir.Block) -> ir.Block:
            others, self.there = self.there, set(before)
            done = self.block(inner)
            self.loc = stmt.loc
            self.there |= others
            return done

        return block

    def stored_in(self, loop: ir.Stmt) -> frozenset[Place]:
        """The attributes that a loop assigns, and all of the objects that it copies."""
        found: set[Place] = set()
        for _, base, name in stores((loop,)):
            place = self.place(base)
            if place is not None:
                found |= {below(place, name), *self.parts_of(below(place, name))}
        for name in ir.bound_in(loop):
            if self.cls(name) is not None:
                found |= self.parts_of((name, ()))
        return frozenset(found)

    def parts_of(self, place: Place) -> set[Place]:
        """Every attribute of an object, and those of its own objects."""
        found = {inside for inside, _ in self.attributes(place)}
        return found.union(*map(self.parts_of, found))

    def gone(self, place: Place) -> None:
        """A new object is at a place: it has no attributes yet."""
        self.there -= self.parts_of(place)

    def is_there(self, place: Place) -> bool:
        """Whether an attribute may be there by now."""
        if place in self.there or self.kind_given(place) is not None:
            return True
        given = place[0] in self.params and self.kind_given(above(place)) is not None
        return given and self.class_value(place) is not None

    def class_value(self, place: Place) -> ir.Ref | None:
        """What an attribute is while the class alone has it; None where that is no plain value."""
        cls, name = self.owner(place), str(place[1][-1])
        if cls is None or records.default(cls, name) is records.MISSING:
            return None
        return ir.Ref(f"{cls.__name__}.{name}", records.default(cls, name))

    def defaults(self, place: Place) -> None:
        """The attributes of a new object start with the values that its class has."""
        self.gone(place)
        for inside, kind in self.attributes(place):
            value = self.class_value(inside)
            if value is not None and ir.class_of(kind) is None:
                self.there.add(inside)
                self.assign(self.variable(inside), value)

    def starts(self, name: str) -> dict[str, ir.Atom]:
        """The attributes that a new object starts with, as its class has values for them."""
        found = {p[1][-1]: self.class_value(p) for p, _ in self.attributes((name, ()))}
        return {str(key): value for key, value in found.items() if value is not None}

    def check_there(self, place: Place) -> None:
        """Refuse an attribute that the object does not have."""
        if self.kind_at(place) is None:
            cls = self.owner(place)
            said = cls.__name__ if cls else place[0]
            raise refused("objects.attribute", self.loc, cls=said, name=place[1][-1])

    def value(self, place: Place) -> ir.Rhs:
        """What is at a place, as an expression."""
        for k in range(len(place[1])):
            whole = (place[0], place[1][:k])
            if whole in self.known and not self.is_stored(place):
                found: ir.Atom = self.leaf(whole)
                for key in place[1][k:-1]:
                    found = self.temp(part(found, key))
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

    def used(self, name: ir.Name, passive: bool) -> ir.Atom:
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
        return self.made(place)

    def made(self, place: Place) -> ir.Name:
        """An object with the attributes that there are now."""
        kind = self.kind_at(place)
        if not isinstance(kind, ir.Dict) or kind.cls is None:
            raise strange(self.loc)
        values: dict[str, ir.Atom] = {}
        for inside, inner in self.attributes(place):
            if self.is_there(inside):
                rhs = self.made(inside) if ir.class_of(inner) is not None else self.value(inside)
                value = rhs if isinstance(rhs, ir.Name) else self.temp(rhs)
                values[str(inside[1][-1])] = value
        return self.temp(built(kind.cls, values))


def part(base: ir.Atom, key: Any) -> ir.Call:
    """An attribute or item of an object that is kept as one."""
    index = ir.Const(str(key) if isinstance(key, str) else key)
    role = ir.Role.ATTRIBUTE if isinstance(key, Member) else None
    return ir.Call(operator.getitem, (base, index), role=role)


def built(cls: type, values: Mapping[str, ir.Atom]) -> ir.Call:
    """An object of a class with these attributes."""
    fields = records.plain_fields(cls)
    if fields is not None and set(fields) == set(values):
        return ir.Call(cls, tuple(values[f] for f in fields), text=cls.__name__)
    return ir.Call(records.instance, (ir.Ref(cls.__name__, cls),), tuple(values.items()))


def strange(loc: ir.Loc) -> TransformError:
    """The error for an object of which it is not known which one it is."""
    return refused("objects.which", loc)


def identity_refusal(loc: ir.Loc) -> TransformError:
    """The error for objects of which nothing tells whether they are the same."""
    return refused("objects.same", loc)
