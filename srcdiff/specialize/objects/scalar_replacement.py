"""Objects taken apart: every attribute that a function reads or stores is a variable.

Takes a function after `methods`, the kinds of its parameters and the request; returns it without
attributes.  An attribute of a parameter is a parameter of its own, called as it is written
(`self.w`, `model.layers[0].w`), as long as nothing assigns it; one that is assigned, and those of
objects made here, are variables.  An object that is used as a whole (returned, put in a list,
passed on) is made there; one that came out of a container stays an object, read like a dict.

`take_apart` makes as many attempts as it takes to find what must stay whole: what is used as a
whole is found on the way, and so are the classes whose objects several names or containers hold
while one is stored into: those objects are dicts.  `restored` is the way back: parameters as the
caller gives them, attributes as they are read.

The invariant: an object that is stored into has one name.  Where two names or a copy of it could
be told apart by a store, the function is refused.  An object that is made where it is used as a
whole is another one each time, so that neither `is` nor a search among objects that are compared as
they are would find the first again: the question whether two such objects are the same is refused.
"""

from __future__ import annotations

import operator
import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any

from srcdiff import ir
from srcdiff.errors import TransformError, UnsupportedError, refused
from srcdiff.frontend.request import Input, Member, Request, Stored, spelled
from srcdiff.ir.builder import Rewriter
from srcdiff.ir.frozen import frozen, replace
from srcdiff.kinds.calls import atom_kind
from srcdiff.kinds.interpreter import Typed, infer
from srcdiff.primitives.ops import Op, is_op
from srcdiff.runtime import records
from srcdiff.specialize.objects.boxes import as_dicts, check_uses
from srcdiff.specialize.objects.places import (
    Place,
    Places,
    Shared,
    above,
    below,
    is_passive,
    read_apart,
    shared_store,
    step,
    stores,
)
from srcdiff.specialize.objects.reflection import check_ways


def forwarded(function: ir.Function) -> ir.Function:
    """The function without `_t = x` where every use of `_t` may read `x` itself."""
    defined, used = ir.binding_counts(function), ir.reader_counts(function)
    return ir.rebuilt(function, body=_block(function.body, defined, used))


def _block(block: ir.Block, defined: Counter[str], used: Counter[str]) -> ir.Block:
    """A block without what only repeats a variable."""
    todo = [
        ir.map_blocks(s, lambda b: _block(b, defined, used)) for s in block
    ]
    out: list[ir.Stmt] = []
    while todo:
        stmt = todo.pop(0)
        source = _repeated(stmt, defined)
        if source is not None and isinstance(stmt, ir.Assign):
            name = stmt.target.id
            span = max((k + 1 for k, s in enumerate(todo) if name in ir.used_in(s)), default=0)
            part = tuple(todo[:span])
            steady = ir.rebound(part).isdisjoint((source, name))
            if ir.reader_counts(part)[name] == used[name] and steady:
                todo[:span] = ir.rename(part, {name: source})
                continue
        out.append(stmt)
    return tuple(out)


def _repeated(stmt: ir.Stmt, defined: Counter[str]) -> str | None:
    """The variable that a statement gives a temporary name."""
    if not isinstance(stmt, ir.Assign) or not isinstance(stmt.rhs, ir.Name):
        return None
    once = defined[stmt.target.id] == 1 and ir.is_temporary(stmt.target.id)
    return stmt.rhs.id if once else None


@frozen
class Fields:
    """What became of the parameters: the old ones, and where each new one leads.

    `stored` are the objects in them whose attributes are assigned, and the arrays in them that
    are copied to be written into; `at_once` the sequences of which the user took all items at once.
    """

    params: tuple[ir.Param, ...] = ()
    places: Mapping[str, Place] = field(default_factory=dict)
    stored: tuple[str, ...] = ()
    at_once: Mapping[Place, ir.Unpacks] = field(default_factory=dict)


@frozen
class Split:
    """A function without attributes, its parameters, what is asked of it, and the way back."""

    function: ir.Function
    params: ir.Kinds
    request: Request
    fields: Fields


_COMPARED = (Op.IS, Op.IS_NOT, Op.EQ, Op.NE)
_SEARCHES = (
    Op.CONTAINS, Op.INDEX, Op.REMOVE, Op.COUNT, Op.GET, Op.SETDEFAULT, Op.POP,
)  # fmt: skip
_NUMBER = re.compile(r"(?<=\w)_\d+\Z")


class Attempt(Rewriter, Places):
    """One attempt at taking the objects apart; `known` are the places used as a whole so far."""

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

    # --- statements ------------------------------------------------------------------------------

    def run(self) -> ir.Block | Shared:
        """The body without attributes, or why an object has to be a dict."""
        if self.kept:
            check_uses(self.whole_function, self.kinds, self.kept)
        names = frozenset(n for n in self.boxed if self.cls(n) in self.kept)
        body = self.block(as_dicts(self.whole_function.body, names, self.starts))
        if self.copies and self.compares:  # of what came out of containers that hold copies
            raise identity_refusal(self.compares[0])
        return shared_store(self.whole_function, self.order, self.place, self.aliases) or body

    def stmt(self, stmt: ir.Stmt) -> ir.Stmt | ir.Block:
        """One statement."""
        if isinstance(stmt, ir.Assign):
            return self.assignment(stmt)
        call = ir.call_of(stmt)
        if call is not None and isinstance(call.fn, ir.SetAttr):
            self.put_attribute(call.fn, *call.args)
            return ()
        return self.other(stmt)

    def other(self, stmt: ir.Stmt) -> ir.Stmt:
        """A statement that may use objects as a whole."""
        passive = isinstance(stmt, (ir.Unpack, ir.Verbatim)) or is_passive(stmt)
        if isinstance(stmt, ir.Assign) and isinstance(stmt.rhs, ir.Call):
            self.check_questions(stmt.rhs)
            if (known := self.length(stmt.rhs)) is not None:
                return replace(stmt, rhs=ir.Const(known))
        if not passive and not isinstance(stmt, ir.Return):
            self.copies |= any(self.is_taken_apart(ir.Name(n)) for n in ir.reads(stmt))

        def read(name: ir.Name) -> ir.Atom:
            return self.used(name, passive)

        return ir.map_stmt(stmt, read, lambda n: n, self.blocks_of(stmt))

    def assignment(self, stmt: ir.Assign) -> ir.Stmt | ir.Block:
        """`x = e`."""
        name, rhs = stmt.target.id, stmt.rhs
        if name in self.aliases:
            return ()
        if self.cls(name) is not None and name not in self.boxed:
            self.object_(stmt)
            return ()
        if isinstance(rhs, ir.Call):
            place = self.read_place(rhs)
            if place is not None:
                return self.taken(stmt, place)
            base = rhs.args[0] if isinstance(rhs.fn, ir.Attr) else None
            if isinstance(base, ir.Name) and base.id in self.boxed:
                name = rhs.fn.name  # type: ignore[union-attr]
                kept = self.cls(base.id) in self.kept
                return replace(stmt, rhs=part(base, name if kept else Member(name)))
        return self.other(stmt)

    def taken(self, stmt: ir.Assign, place: Place) -> ir.Stmt | ir.Block:
        """`x = y.name`: the variable of that place; a temporary is just another name of it."""
        if place[1] and self.kind_at(place) is None and (first := self.class_value(place)):
            return replace(stmt, rhs=first)
        if self.owner(place) is not None:
            self.check_there(place)
        if isinstance(stmt.rhs, ir.Call) and isinstance(stmt.rhs.role, ir.Unpacks):
            self.at_once[above(place)] = stmt.rhs.role
        rhs = self.value(place)
        name = stmt.target.id
        steady = isinstance(rhs, ir.Name) and rhs.id in self.leaves
        if steady and ir.is_temporary(name) and len(self.order.defined[name]) == 1:
            assert isinstance(rhs, ir.Name)
            self.renamed[name] = rhs.id
            return ()
        return replace(stmt, rhs=rhs)

    # --- objects ---------------------------------------------------------------------------------

    def object_(self, stmt: ir.Assign) -> None:
        """A variable becomes an object."""
        rhs, place = stmt.rhs, (stmt.target.id, ())
        if is_op(rhs, Op.NEW_OBJECT):
            self.defaults(place)
            return
        fields = records.plain_fields(rhs.fn) if isinstance(rhs, ir.Call) else None
        if fields is not None:
            assert isinstance(rhs, ir.Call)
            for name, value in zip(fields, rhs.args):
                self.put(below(place, name), value, None)
            return
        source = self.read_place(rhs) if isinstance(rhs, ir.Call) else None
        if source is not None:
            self.copy(source, place)
        else:
            self.object_at(place, rhs)

    def object_at(self, place: Place, value: ir.Rhs) -> None:
        """An object at a place."""
        source = self.place(value) if isinstance(value, ir.Name) else None
        if source is not None:
            self.copy(source, place)
        elif isinstance(value, ir.Name):  # an object out of a container
            self.unpacked(value, place)
        else:
            raise strange(self.loc)

    def copy(self, source: Place, target: Place) -> None:
        """Every attribute of an object under another name."""
        if source == target:
            return
        if source[0] != target[0]:
            self.gone(target)
        have = {where for where, _ in self.attributes(source)}
        for two, inner in self.attributes(target):
            one = below(source, two[1][-1])
            if one not in have or not self.is_there(one):
                continue  # an attribute that only the other one has
            self.there.add(two)
            if ir.class_of(inner) is not None:
                self.copy(one, two)
            else:
                self.assign(self.variable(two), self.value(one))

    def unpacked(self, source: ir.Name, target: Place) -> None:
        """The attributes of an object that came out of a container."""
        for place, _ in self.attributes(target):
            self.put(place, self.temp(part(source, place[1][-1])), None)

    def put_attribute(self, store: ir.SetAttr, base: ir.Atom, value: ir.Atom) -> None:
        """`x.name = v`, `x.name op= v`."""
        place = self.place(base)
        if isinstance(base, ir.Name) and base.id in self.boxed:
            return self.store_boxed(store, base, value)
        if place is None or ir.class_of(self.kind_at(place)) is None:
            raise _no_store(base, store.name, self.loc)
        self.put(below(place, store.name), value, store.op)

    def store_boxed(self, store: ir.SetAttr, base: ir.Name, value: ir.Atom) -> None:
        """`x.name = v` of an object that is a dict; of any other nobody reads what is stored."""
        if self.cls(base.id) not in self.kept:
            return
        key, atom = ir.Const(store.name), ir.map_atom(lambda n: self.used(n, False), value)
        if store.op is None:
            self.out.append(ir.SetItem(base, key, atom, loc=self.loc))
        else:
            self.out.append(ir.AugAssign(base, key, atom, store.op, loc=self.loc))

    def put(self, place: Place, value: ir.Atom, op: str | None) -> None:
        """A value at a place."""
        self.there.add(place)
        if ir.class_of(self.kind_at(place)) is not None:
            self.object_at(place, value)
            return
        atom = ir.map_atom(lambda n: self.used(n, False), value)
        target = self.variable(place)
        if op is None:
            self.assign(target, atom)
        else:
            self.in_place.add(place)
            self.out.append(ir.AugAssign(target, None, atom, op, loc=self.loc))

    # --- the result ------------------------------------------------------------------------------

    def finished(self, body: ir.Block, params: ir.Kinds, request: Request) -> Split:
        """The function with its new parameters."""
        start = self.started()
        body = (*start, *body[:-1], *self.written_back(), body[-1])
        body = ir.rename(body, self.renamed)
        inputs = tuple(self.input(i) for i in request.inputs)
        found = {**self.leaves, **self.passive}
        for item in inputs:
            found.update({n: self.leaves[n] for n in item.params if n in self.leaves})
        places = {n: p for n, p in found.items() if p[1] or p[0] in self.params}
        kept = [p for p in self.whole_function.params if p.name not in self.params]
        new = [ir.Param(n) for n in sorted(places)]
        kinds = {**params, **{n: self.new_kind(n, p) for n, p in places.items()}}
        function = forwarded(replace(self.whole_function, params=(*new, *kept), body=body))
        changed = self.changed_objects()
        fields = Fields(self.whole_function.params, places, changed, self.at_once)
        return Split(function, kinds, replace(request, inputs=inputs), fields)

    def changed_objects(self) -> tuple[str, ...]:
        """The objects in parameters whose attributes are assigned, and the arrays copied."""
        found = (self.place(base) for _, base, _ in stores(self.whole_function.body))
        paths = {spelled(*p) for p in found if p is not None and p[0] in self.params}
        return (*map(Stored, sorted(paths)), *self.copied)

    def new_kind(self, name: str, place: Place) -> ir.Kind:
        """The kind of a new parameter."""
        kind = self.kind_given(place)
        return ir.Object(f"object {name}") if kind is None or name in self.changed else kind

    def started(self) -> list[ir.Stmt]:
        """The attributes of parameters that are assigned start as they are given."""
        out: list[ir.Stmt] = []
        for place, name in self.variables.items():
            kind = self.kind_given(place)
            if place[0] not in self.params:
                continue
            if kind is None:
                value = self.class_value(place)
                if value is not None:
                    out.append(ir.Assign(ir.Name(name), value, self.whole_function.loc))
                continue
            leaf = self.leaf(place)
            rhs: ir.Rhs = leaf
            if isinstance(kind, ir.Array) and place in self.in_place:
                self.copied.append(leaf.id)  # an operator in place would write into it
                rhs = ir.Call(ir.Method("copy"), (leaf,))
            out.append(ir.Assign(ir.Name(name), rhs, self.whole_function.loc))
        return out

    def written_back(self) -> list[ir.Stmt]:
        """Attributes of parameters without a derivative (counts, flags) are stored, once."""
        out: list[ir.Stmt] = []
        outer = tuple(s for s in self.whole_function.body if type(s) in ir.PLAIN)
        always = {below(where, n) for _, b, n in stores(outer) if (where := self.place(b))}
        for place, name in self.variables.items():
            kind = self.kind_at(place)
            if place[0] not in self.params or kind is None:
                continue
            if ir.is_active_kind(kind) or ir.is_container(kind) or isinstance(kind, ir.Array):
                continue  # it may carry a derivative, or be written into
            given = self.kind_given(place) is not None or self.class_value(place) is not None
            if place in always or given:
                base = above(place)
                dotted = spelled(*base)
                self.passive[dotted] = base
                self.changed.add(dotted)
                store = ir.Call(ir.SetAttr(str(place[1][-1])), (ir.Name(dotted), ir.Name(name)))
                out.append(ir.Effect(store, self.whole_function.body[-1].loc))
        return out

    def input(self, item: Input) -> Input:
        """An input by the new parameters."""
        if item.param not in self.params:
            return item
        size = len(item.path)
        used = {n: p for n, p in self.leaves.items() if p[0] == item.param}
        for name, place in used.items():
            if item.path[: len(place[1])] == place[1]:
                return Input(name, item.path[len(place[1]) :])
        below = {n: p[1][size:] for n, p in sorted(used.items()) if p[1][:size] == item.path}
        place = (item.param, item.path)
        name = spelled(*place)
        if not below:
            self.leaves[name] = place
            return Input(name)
        self.passive[name] = place
        return Input(name, (), tuple((path, Input(n)) for n, path in below.items()))


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


def _no_store(base: ir.Atom, name: str, loc: ir.Loc) -> TransformError:
    """The error for a store into what is no known object of this function."""
    if isinstance(base, ir.Ref):
        return refused("memory.outside_attribute", loc, name=f"{base.text}.{name}")
    plain = "Keep the value in a local variable, and return it."
    of_array = f"Of an array, store into its items: `x.{name}[:] = ...`."
    remedy = of_array if name in ("real", "imag", "flat") else plain
    return refused("objects.unknown", loc, remedy=remedy)


# --- objects taken apart, in as many attempts as it takes to find what must stay whole -----------


def take_apart(function: ir.Function, params: ir.Kinds, request: Request) -> Split:
    """The function with its objects taken apart."""
    # `s = s.step()` where `step` returns `self`
    function = ir.replaced_in(
        function, lambda s: () if isinstance(s, ir.Assign) and s.rhs == s.target else s
    )
    kinds = infer(function, params)
    check_ways(function, kinds)
    first: TransformError | None = None
    kept: frozenset[type] = frozenset()  # the classes of objects that are dicts
    reverse = request.mode == "reverse"
    apart = read_apart(Typed(function, params)) if reverse else frozenset[str]()
    whole: frozenset[Place] = frozenset()
    while True:
        try:
            work = Attempt(function, params, kinds, whole, kept, apart)
            body = work.run()
        except UnsupportedError as error:
            raise first or error from None
        if isinstance(body, Shared):
            first, cls = first or body.error, ir.class_of(work.kind_at(body.into))
            if cls is None or cls in kept:
                raise first
            kept, whole = kept | {cls}, frozenset()
        elif work.whole != whole:
            whole = work.whole
        else:
            return work.finished(body, params, request)


# --- restore -------------------------------------------------------------------------------------


def restored(function: ir.Function, fields: Fields) -> ir.Function:
    """A finished function with its old parameters, reading attributes where it needs them."""
    own = {p.name: p for p in function.params if p.name not in fields.places}
    theirs = {p.name for p in fields.params}
    # A variable may have been given the name of a parameter of which only parts were left.
    apart = ir.Fresh(ir.all_names(function) | theirs)
    clashes = sorted(theirs & ir.bound(function) - {p.name for p in function.params})
    renamed = ir.rename(function.body, {n: apart(n).id for n in clashes})
    function = ir.rebuilt(function, body=renamed)
    params = list(fields.params)
    new = [p for p in own.values() if p.name not in theirs]  # the cotangent
    if any(p.style in ("*", "kw", "**") for p in params):
        new = [replace(p, style="kw") for p in new]
    at = next((k for k, p in enumerate(params) if p.style == "**"), len(params))
    params[at:at] = new
    body = _Unfold(function, fields).block(function.body)
    return replace(function, params=tuple(params), body=body)


class _Unfold(Rewriter):
    """Reads of attributes before the statements that use them."""

    def __init__(self, function: ir.Function, fields: Fields) -> None:
        super().__init__(ir.Fresh(ir.all_names(function) | {p.name for p in fields.params}))
        self.places = {n: p for n, p in fields.places.items() if p[1]}
        self.at_once = fields.at_once

    def stmt(self, stmt: ir.Stmt) -> ir.Stmt:
        """A statement behind the reads before it."""
        if isinstance(stmt, ir.Verbatim):
            return replace(stmt, reads=tuple(map(self.root, stmt.reads)))
        rhs = stmt.rhs if isinstance(stmt, (ir.Assign, ir.Effect)) else None
        if isinstance(rhs, ir.Opaque):
            return ir.rebuilt(stmt, rhs=replace(rhs, reads=tuple(map(self.root, rhs.reads))))
        if isinstance(stmt, ir.Assign) and isinstance(rhs, ir.Name) and rhs.id in self.places:
            root, path = self.places[rhs.id]  # the read is the statement
            base = root, path[:-1]
            read = replace(step(self.read(base), path[-1]), role=self.at_once.get(base))
            return replace(stmt, rhs=read)
        if isinstance(stmt, ir.While):
            return self.while_(stmt)
        return ir.map_stmt(stmt, self.named, lambda n: n, self.block)

    def named(self, name: ir.Name) -> ir.Name:
        """A name, or what is at the place that it stands for."""
        place = self.places.get(name.id)
        return name if place is None else self.read(place)

    def while_(self, stmt: ir.While) -> ir.While:
        """A loop whose condition may read attributes."""
        before, test = self.collect(lambda: ir.map_atom(self.named, stmt.test))
        cond = (*self.block(stmt.cond), *before)
        return replace(stmt, cond=cond, test=test, body=self.block(stmt.body))

    def root(self, name: ir.Name) -> ir.Name:
        """The parameter that a name in a text begins with."""
        place = self.places.get(name.id)
        return name if place is None else ir.Name(place[0])

    def read(self, place: Place) -> ir.Name:
        """What is at a place, in a temporary."""
        found = ir.Name(place[0])
        for key in place[1]:
            found = self.temp(step(found, key))
        return found


def plain_names(function: ir.Function) -> ir.Function:
    """A function that binds no attribute."""
    dotted = sorted(n for n in ir.bound(function) if not n.isidentifier())
    fresh = ir.Fresh(ir.all_names(function))
    return ir.rebuilt(function, body=ir.rename(function.body, {n: fresh(n).id for n in dotted}))


def residual_kinds(backward: ir.Function, kinds: Mapping[str, ir.Kind]) -> dict[str, ir.Kind]:
    """The kinds of the residuals that a backward part unpacks, by name."""
    unpacked = backward.body[: unpack_count(backward)]
    names = [s.target.id for s in unpacked if isinstance(s, ir.Assign)]
    return {n: kinds.get(n, ir.UNKNOWN) for n in names}


def unpack_count(function: ir.Function) -> int:
    """How many statements at the start of a backward part unpack the residuals."""
    packed, body = function.params[0].name, function.body
    return next((k for k, s in enumerate(body) if packed not in ir.reads(s)), len(body))
