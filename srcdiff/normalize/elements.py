"""Operators in place on elements of containers: `xs[i] += v` where `xs[i]` is an array.

Python writes into the array that the container holds.  Storing a new array instead is the same as
long as no other name and no other place holds that array: this is what is asked here.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Set

from srcdiff import ir
from srcdiff.analysis.facts import sampled
from srcdiff.analysis.links import Link, groups, in_place, is_copy, links_of
from srcdiff.analysis.liveness import live_after
from srcdiff.errors import UnsupportedError
from srcdiff.ir.kinds import (
    UNKNOWN,
    Dict,
    Kind,
    List,
    Tuple,
    contents,
    is_container,
    is_mutable,
    is_scalar,
    sure,
)
from srcdiff.kinds.interpreter import kind_of_call
from srcdiff.primitives.views import is_array

Kinds = Mapping[str, Kind]


def shared_elements(function: ir.Function, kinds: Kinds) -> frozenset[int]:
    """The identities of operators in place on elements that are arrays and held elsewhere too.

    Raises:
        UnsupportedError: an element may be held elsewhere, and be a number or an array.
    """
    # A generated text writes into no array that another of its names holds.
    known = sampled(function, kinds) and not function.loc.file.startswith(ir.GENERATED)
    stores = [s for s in ir.walk(function.body) if _is_store(s, kinds, known)]
    links = [k for k in links_of(function.body, kinds, False) if not _takes_out(k)]
    # `b *= y` on an array gives the array that it was.
    links += [k for k in in_place(function) if not is_scalar(kinds.get(k.target, UNKNOWN))]
    found: set[int] = set()
    for stmt in stores:
        assert isinstance(stmt, ir.SetItem)
        other = _other_holder(stmt, links, function, kinds)
        if other is not None and not is_array(_element(stmt, kinds)):
            raise _unclear(stmt, other)
        if other is not None:
            found.add(id(stmt))
    return frozenset(found)


def _unclear(stmt: ir.SetItem, other: str) -> UnsupportedError:
    """The refusal of an element that may be a number or an array."""
    also = "another place" if other.startswith("_") else ir.said(other)
    return UnsupportedError(
        f"`{stmt.op}=` writes into the element of the container {ir.said(stmt.base.id)} if that "
        f"is an array, and {also} may hold the same array",
        stmt.loc,
        remedy=f"Store a new array, `xs[i] = xs[i] {stmt.op} ...`, or copy it first.",
    )


def _element(stmt: ir.SetItem, kinds: Kinds) -> Kind:
    """The kind of the element that a store is about."""
    assert stmt.index is not None
    return kind_of_call(ir.Call(operator.getitem, (stmt.base, stmt.index)), kinds)


def _is_store(stmt: ir.Stmt, kinds: Kinds, known: bool) -> bool:
    """Whether a statement is an operator in place on an element that may be an array."""
    if not isinstance(stmt, ir.SetItem) or stmt.index is None or stmt.op is None:
        return False
    kind = kinds.get(stmt.base.id, UNKNOWN)
    kind = sure(kind) if known else kind
    if not isinstance(kind, (List, Dict)) or is_scalar(_element(stmt, kinds)):
        return False
    return any(map(_is_shared, contents(kind)))


def _takes_out(link: Link) -> bool:
    """Whether a statement takes an element whose place in the container is given to another one."""
    rhs = link.stmt.rhs if isinstance(link.stmt, ir.Assign) else None
    if not isinstance(rhs, ir.Call) or rhs.fn is not operator.getitem:
        return False
    return any(_replaces(s, rhs, link) for s in link.rest[:2])


def _replaces(stmt: ir.Stmt, item: ir.Call, link: Link) -> bool:
    """Whether a statement stores something else where an item was taken."""
    if not isinstance(stmt, ir.SetItem) or stmt.op is not None:
        return False
    same = (stmt.base, stmt.index) == item.args
    return same and link.target not in ir.names(stmt.value)


def _is_shared(kind: Kind) -> bool:
    return is_mutable(kind) or isinstance(kind, Tuple)


def _other_holder(
    stmt: ir.SetItem, links: list[Link], function: ir.Function, kinds: Kinds
) -> str | None:
    """A name or place that may hold an array of the container too, None if there is none."""
    near = _component(stmt.base.id, links)
    params = {p.name for p in function.params}
    taken = {k.target for k in links if k.how == "element"}
    same = groups(k for k in links if k.how in ("alias", "view", "permute"))
    for link in links:
        if link.target in near and link.how == "stored":
            array = link.source not in kinds or not is_container(kinds[link.source])
            # What is stored, and what it is a view of.
            whole = {n for n in same if same[n] == same.get(link.source)} | {link.source}
            if _count(link.stmt, link.source) > 1 or whole & taken:
                return link.source
            if whole & live_after(function, link.stmt) or (array and link.source in params):
                return link.source
    live = live_after(function, stmt)
    for name in sorted(near & live):
        if name not in kinds or not is_container(kinds[name]):
            return name
    return _copy_of(stmt.base.id, links, live)


def _copy_of(name: str, links: list[Link], live: Set[str]) -> str | None:
    """A live container that was made of the items of another one, or that one, None if none is."""
    made = [k for k in links if k.how == "element" and is_copy(k.stmt)]
    same = groups(made + [k for k in links if k.how == "alias"])
    if name not in {n for k in made for n in same if same[n] == same[k.target]}:
        return None
    return min((n for n in live if same.get(n) == same[name] and n != name), default=None)


def _component(start: str, links: list[Link]) -> frozenset[str]:
    """Every name that may share memory with a container or with what is in it."""
    found = {start}
    size = 0
    while size != len(found):
        size = len(found)
        for link in links:
            if link.target in found or link.source in found:
                found |= {link.target, link.source}
    return frozenset(found)


def _count(stmt: ir.Stmt, name: str) -> int:
    """How often a statement reads a name."""
    return sum(
        isinstance(a, ir.Name) and a.id == name for o in ir.operands(stmt) for a in ir.atoms(o)
    )
