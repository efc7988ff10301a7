"""The way back from `fields`: parameters as the caller gives them, attributes as they are read."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import replace

from srcdiff import ir
from srcdiff.frontend.request import Member
from srcdiff.ir.kinds import UNKNOWN, Kind
from srcdiff.specialize.objects.fields import Fields
from srcdiff.specialize.objects.places import Place


def restored(function: ir.Function, fields: Fields) -> ir.Function:
    """A finished function with its old parameters, reading attributes where it needs them."""
    own = {p.name: p for p in function.params if p.name not in fields.places}
    theirs = {p.name for p in fields.params}
    # A variable may have been given the name of a parameter of which only parts were left.
    apart = ir.Fresh(ir.all_names(function) | theirs)
    clashes = sorted(theirs & ir.bound(function.body) - {p.name for p in function.params})
    renamed = ir.rename(function.body, {n: apart(n).id for n in clashes})
    function = replace(function, body=renamed)
    params = list(fields.params)
    new = [p for p in own.values() if p.name not in theirs]  # the cotangent
    if any(p.style in ("*", "kw", "**") for p in params):
        new = [replace(p, style="kw") for p in new]
    at = next((k for k, p in enumerate(params) if p.style == "**"), len(params))
    params[at:at] = new
    body = _Unfold(function, fields).block(function.body)
    return replace(function, params=tuple(params), body=body)


class _Unfold:
    """Reads of attributes before the statements that use them."""

    def __init__(self, function: ir.Function, fields: Fields) -> None:
        self.places = {n: p for n, p in fields.places.items() if p[1]}
        self.fresh = ir.Fresh(ir.all_names(function) | {p.name for p in fields.params})

    def block(self, block: ir.Block) -> ir.Block:
        """A block that reads attributes."""
        out: list[ir.Stmt] = []
        for stmt in block:
            out += self.stmt(stmt)
        return tuple(out)

    def stmt(self, stmt: ir.Stmt) -> list[ir.Stmt]:
        """A statement and the reads before it."""
        before: list[ir.Stmt] = []
        if isinstance(stmt, ir.Verbatim):
            return [replace(stmt, reads=tuple(map(self.root, stmt.reads)))]
        rhs = stmt.rhs if isinstance(stmt, (ir.Assign, ir.Effect)) else None
        if isinstance(rhs, ir.Opaque):
            new = replace(rhs, reads=tuple(map(self.root, rhs.reads)))
            return [replace(stmt, rhs=new)]  # type: ignore[arg-type]

        def read(name: ir.Name) -> ir.Atom:
            place = self.places.get(name.id)
            return name if place is None else self.read(place, stmt.loc, before)

        direct = self.alone(stmt)
        if direct is not None:
            return direct
        if isinstance(stmt, ir.While):
            return [self.while_(stmt)]
        new_stmt = ir.map_stmt(stmt, read, lambda n: n, self.block)
        return [*before, new_stmt]

    def alone(self, stmt: ir.Stmt) -> list[ir.Stmt] | None:
        """`x = self.w`: the read is the statement."""
        rhs = stmt.rhs if isinstance(stmt, ir.Assign) else None
        if not isinstance(rhs, ir.Name) or rhs.id not in self.places:
            return None
        before: list[ir.Stmt] = []
        root, path = self.places[rhs.id]
        base = self.read((root, path[:-1]), stmt.loc, before)
        assert isinstance(stmt, ir.Assign)
        return [*before, replace(stmt, rhs=step(base, path[-1]))]

    def while_(self, stmt: ir.While) -> ir.While:
        """A loop whose condition may read attributes."""
        before: list[ir.Stmt] = []
        test = stmt.test
        if isinstance(test, ir.Name) and test.id in self.places:
            test = self.read(self.places[test.id], stmt.loc, before)
        cond = (*self.block(stmt.cond), *before)
        return replace(stmt, cond=cond, test=test, body=self.block(stmt.body))

    def root(self, name: ir.Name) -> ir.Name:
        """The parameter that a name in a text begins with."""
        place = self.places.get(name.id)
        return name if place is None else ir.Name(place[0])

    def read(self, place: Place, loc: ir.Loc, out: list[ir.Stmt]) -> ir.Name:
        """What is at a place, in a temporary."""
        found = ir.Name(place[0])
        for key in place[1]:
            held = self.fresh()
            out.append(ir.Assign(held, step(found, key), loc))
            found = held
        return found


def step(base: ir.Name, key: object) -> ir.Call:
    """An attribute or an item of a value."""
    if isinstance(key, Member):
        return ir.Call(ir.Attr(str(key)), (base,))
    return ir.Call(operator.getitem, (base, ir.Const(key)))


def plain_names(function: ir.Function) -> ir.Function:
    """A function that binds no attribute."""
    dotted = sorted(n for n in ir.bound(function.body) if not n.isidentifier())
    fresh = ir.Fresh(ir.all_names(function))
    return replace(function, body=ir.rename(function.body, {n: fresh(n).id for n in dotted}))


def residual_kinds(backward: ir.Function, kinds: Mapping[str, Kind]) -> dict[str, Kind]:
    """The kinds of the residuals that a backward part unpacks, by name."""
    unpacked = backward.body[: unpack_count(backward)]
    names = [s.target.id for s in unpacked if isinstance(s, ir.Assign)]
    return {n: kinds.get(n, UNKNOWN) for n in names}


def unpack_count(function: ir.Function) -> int:
    """How many statements at the start of a backward part unpack the residuals."""
    for k, stmt in enumerate(function.body):
        if function.params[0].name not in ir.reads(stmt):
            return k
    return len(function.body)
