"""Functions that are kept as data, as the strings and tuples that they are in generated code."""

from __future__ import annotations

import operator
import types
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from srcdiff import ir
from srcdiff.ir.kinds import Callable, Kind, inside
from srcdiff.runtime.devices import on_device

Kinds = Mapping[str, Kind]

_PLAIN = (types.FunctionType, types.BuiltinFunctionType, np.ufunc, type)
"""The types of functions that are equal to themselves alone."""


def plain(function: ir.Function, kinds: Kinds) -> ir.Function:
    """The function with strings and tuples for the functions that it makes."""
    layout = _Layout(function, kinds)

    def block(inner: ir.Block) -> ir.Block:
        return tuple(s for stmt in inner for s in one(stmt))

    def one(stmt: ir.Stmt) -> ir.Block:
        rhs = stmt.rhs if isinstance(stmt, ir.Assign) else None
        if isinstance(stmt, ir.Assign) and isinstance(rhs, ir.Call):
            if rhs.fn is ir.make_function:
                return (replace(stmt, rhs=layout.made(rhs)),)
            if rhs.fn is ir.captured:
                return (replace(stmt, rhs=layout.item(rhs)),)
            if rhs.fn is ir.is_function:
                return layout.test(stmt, rhs)
        return (ir.map_blocks(stmt, block),)

    return replace(function, body=block(function.body))


def has_data(function: ir.Function) -> bool:
    """Whether functions are kept as data."""
    callees = (ir.make_function, ir.is_function, ir.captured)
    calls = (s.rhs for s in ir.walk(function.body) if isinstance(s, ir.Assign))
    return any(isinstance(c, ir.Call) and c.fn in callees for c in calls)


class _Layout:
    """How the functions of each site are written as data: alike where they may meet."""

    def __init__(self, function: ir.Function, kinds: Kinds) -> None:
        self.fresh = ir.Fresh(ir.all_names(function))
        sites = [site_of(s) for s in ir.walk(function.body)]
        self.group: dict[int, list[ir.Site]] = {id(s): [s] for s in sites if s is not None}
        for kind in kinds.values():
            for meeting in _meetings(kind):
                self.join([s for s in meeting if isinstance(s, ir.Site) and id(s) in self.group])
        self.tags = self.named()

    def join(self, sites: list[ir.Site]) -> None:
        """These may meet."""
        for site in sites[1:]:
            one, other = self.group[id(sites[0])], self.group[id(site)]
            if one is not other:
                one += other
                self.group.update((id(s), one) for s in other)

    def named(self) -> dict[int, str]:
        """A name for every site that no other has which it may meet."""
        tags: dict[int, str] = {}
        for key, group in self.group.items():
            taken = {tags.get(id(s)) for s in group}
            site = next(s for s in group if id(s) == key)
            tag, number = site.name, 0
            while tag in taken:
                number += 1
                tag = f"{site.name}_{number}"
            tags[key] = tag
        return tags

    def bare(self, site: ir.Site) -> bool:
        """Whether nothing is captured in the group of a site: then the name is enough."""
        return not any(s.values for s in self.group[id(site)])

    def tagged(self, site: ir.Site) -> bool:
        """Whether the name is needed."""
        return self.bare(site) or len(self.group[id(site)]) > 1

    def made(self, call: ir.Call) -> ir.Rhs:
        """A function as data."""
        site = _value(call.args[0])
        tag = ir.Const(self.tags[id(site)])
        if self.bare(site):
            return tag
        return ir.Tup(((tag,) if self.tagged(site) else ()) + call.args[1:])

    def item(self, call: ir.Call) -> ir.Call:
        """What a function captures."""
        fn, site, k = call.args
        assert isinstance(k, ir.Const)
        place = k.value + (1 if self.tagged(_value(site)) else 0)
        return ir.Call(operator.getitem, (fn, ir.Const(place)))

    def test(self, stmt: ir.Assign, call: ir.Call) -> ir.Block:
        """Whether a function is a known one."""
        fn, other = call.args
        site = _value(other)
        if not isinstance(site, ir.Site):
            # `is` would be a warning where the data is known to be a string or a tuple.
            # For CuPy arrays it is asked by `is` whether it is the function of either module.
            plain = type(site) in _PLAIN and not on_device()
            same = operator.eq if plain else operator.is_
            return (replace(stmt, rhs=ir.Call(same, (fn, other))),)
        tag = ir.Const(self.tags[id(site)])
        if self.bare(site):
            return (replace(stmt, rhs=ir.Call(operator.eq, (fn, tag))),)
        first = self.fresh()
        return (
            ir.Assign(first, ir.Call(operator.getitem, (fn, ir.Const(0))), stmt.loc),
            replace(stmt, rhs=ir.Call(operator.eq, (first, tag))),
        )


def _value(atom: ir.Atom) -> Any:
    assert isinstance(atom, ir.Ref)
    return atom.value


def site_of(stmt: ir.Stmt) -> ir.Site | None:
    """The site of a statement that makes a function."""
    rhs = stmt.rhs if isinstance(stmt, ir.Assign) else None
    if isinstance(rhs, ir.Call) and rhs.fn is ir.make_function:
        found: ir.Site = _value(rhs.args[0])
        return found
    return None


def _meetings(kind: Kind | None) -> Iterator[list[Any]]:
    """The functions that may be one value, for every function in a kind."""
    if isinstance(kind, Callable):
        yield [f for f, _ in kind.choices]
        for _, kinds in kind.choices:
            for held in kinds:
                yield from _meetings(held)
    for inner in inside(kind):
        yield from _meetings(inner)
