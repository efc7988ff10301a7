"""Which names may share memory, and how each name of memory that is written relates to its owner.

Takes a function (after `webs`) and the kinds of its names.  Returns the alias classes that are
written in place, the views in them (with the expression that makes each) and the class of every
name.  The invariant: a name of a written class is its owner (fresh memory, or memory moved from a
name that is dead afterwards), a view that can be made again from its owner wherever it is used, or
an element of a container that is only read; everything else is refused.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass, field

from srcdiff import ir
from srcdiff.analyses.effects import returns_view
from srcdiff.analyses.kind_types import Kind
from srcdiff.analyses.links import (
    Link,
    classes_of,
    definitions,
    links_of,
    named_container,
    refusal,
    stored_names,
    until_last_use,
    use_counts,
)
from srcdiff.analyses.liveness import live_after
from srcdiff.analyses.views import is_array, is_sure_view

Kinds = Mapping[str, Kind]


@dataclass(frozen=True)
class View:
    """A name of part of another name's memory: `rhs`, an expression over `base`."""

    base: str
    rhs: ir.Rhs


@dataclass(frozen=True)
class Aliases:
    """The written classes (name -> class), the views in them, and the names stored into."""

    classes: Mapping[str, str] = field(default_factory=dict)
    views: Mapping[str, View] = field(default_factory=dict)
    stored: frozenset[str] = frozenset()

    def owner(self, name: str) -> str:
        """The name whose memory `name` is a view of (itself if it is none)."""
        while name in self.views:
            name = self.views[name].base
        return name


def aliases(function: ir.Function, kinds: Kinds) -> Aliases:
    """The aliases of a function whose memory is written in place."""
    links = [k for k in links_of(function.body, kinds, False) if not _is_taken(k, function)]
    queues = _queues(links, function)
    links = [k for k in links if not {k.target, k.source} & queues]
    counts = definitions(function), use_counts(function.body)
    stored, resized = stored_names(function.body, kinds)
    one = _resolve(function, links, stored, kinds, counts)
    between = [
        k for k in links if named_container(k.target, kinds) and named_container(k.source, kinds)
    ]
    two = _resolve(function, between, resized, kinds, counts)
    parts = _parts(links, {**two.classes, **one.classes}, kinds, counts)
    return Aliases({**two.classes, **one.classes}, {**parts, **two.views, **one.views}, stored)


def _parts(
    links: list[Link],
    classes: Mapping[str, str],
    kinds: Kinds,
    counts: tuple[Mapping[str, int], Mapping[str, int]],
) -> dict[str, View]:
    """Containers that are parts of a container that nobody writes into: views of it."""
    found: dict[str, View] = {}
    for link in links:
        both = named_container(link.target, kinds) and named_container(link.source, kinds)
        part = link.how in ("element", "alias") and _is_part(link.stmt)
        if both and part and link.target not in classes:
            if isinstance(link.stmt, ir.Assign) and _steady(link, *counts):
                found[link.target] = View(link.source, link.stmt.rhs)
    return found


def _is_part(stmt: ir.Stmt) -> bool:
    """Whether a statement names a container again or an item of one (not a slice, a copy)."""
    rhs = stmt.rhs if isinstance(stmt, ir.Assign) else None
    if isinstance(rhs, ir.Name):
        return True
    item = isinstance(rhs, ir.Call) and rhs.fn is operator.getitem
    return item and not isinstance(rhs.args[1], ir.Slice)  # type: ignore[union-attr]


def _resolve(
    function: ir.Function,
    links: list[Link],
    stored: frozenset[str],
    kinds: Kinds,
    counts: tuple[Mapping[str, int], Mapping[str, int]],
) -> Aliases:
    """The classes of what is written, and the views in them."""
    classes = classes_of(links, stored)
    views: dict[str, View] = {}
    moved: list[Link] = []
    derived = frozenset(k.source for k in links)
    for link in links:
        if link.how == "view" and link.target in classes and link.target in derived:
            _check_derived(link, function, classes, kinds)
        if link.target in classes:
            view = _judge(link, function, *counts, stored, classes, kinds)
            if view is not None:
                views[link.target] = view
            elif link.how in ("alias", "stored"):
                moved.append(link)
    for link in moved:
        if not _is_free(link, views, function):
            if link.how != "alias" or not _steady(link, *counts):
                raise refusal(link)
            assert isinstance(link.stmt, ir.Assign)
            views[link.target] = View(link.source, link.stmt.rhs)
    _check_chains(links, views)
    return Aliases(classes, views, stored)


def _judge(
    link: Link,
    function: ir.Function,
    defs: Mapping[str, int],
    uses: Mapping[str, int],
    stored: frozenset[str],
    classes: Mapping[str, str],
    kinds: Kinds,
) -> View | None:
    """The view that a link makes, None where the memory is moved or only read; else refuse."""
    if link.how == "permute":
        return None
    if link.how == "view" and not _is_array_view(link, kinds, function):
        if link.target in stored or not _within(link, defs, uses):
            raise refusal(link)
        if _overwritten(link, classes, kinds):
            raise refusal(link)
        return None  # nobody writes while it is used: a copy would be as good
    if link.how == "alias" and _dead_after(link, function):
        return None
    if link.how in ("alias", "view") and _steady(link, defs, uses):
        assert isinstance(link.stmt, ir.Assign)
        return View(link.source, link.stmt.rhs)
    if link.how == "stored" and _dead_after(link, function):
        return None
    if link.how == "element" and named_container(link.target, kinds):
        if not _is_part(link.stmt) or _dead_after(link, function):
            return None
        if isinstance(link.stmt, ir.Assign) and _steady(link, defs, uses):
            return View(link.source, link.stmt.rhs)
    elif link.how == "element" and link.target not in stored:
        return None
    raise refusal(link)


def _check_chains(links: list[Link], views: Mapping[str, View]) -> None:
    """A view of a view is made again through all of them: none of their names may change before."""
    for link in links:
        base = link.source
        if link.target not in views or views[link.target].base != base:
            continue
        later = ir.bound(until_last_use(link))
        while base in views:
            if later & set(ir.names(views[base].rhs)):
                raise refusal(link)
            base = views[base].base


def _is_free(link: Link, views: Mapping[str, View], function: ir.Function) -> bool:
    """Whether memory may be moved: from its owner, and not while a view of it is in use."""
    if link.source in views:
        return False
    live = live_after(function, link.stmt)
    for name in views:
        base = name
        while base in views:
            base = views[base].base
        if base == link.source and name in live:
            return False
    return True


def _check_derived(
    link: Link, function: ir.Function, classes: Mapping[str, str], kinds: Kinds
) -> None:
    """What may be a view or a copy, and has views itself: nothing may be written after it."""
    rhs = link.stmt.rhs if isinstance(link.stmt, ir.Assign) else None
    if rhs is not None and is_array(kinds.get(link.target)) and is_sure_view(rhs, kinds, function):
        return
    written, _ = stored_names(function.body if link.inside else link.rest, kinds)
    if any(classes.get(n) == classes[link.target] for n in written):
        raise refusal(link)


def _steady(link: Link, defs: Mapping[str, int], uses: Mapping[str, int]) -> bool:
    """Whether the view can be made again, with the same meaning, wherever it is used."""
    assert isinstance(link.stmt, ir.Assign)
    until = until_last_use(link)
    needed = {link.target, *ir.names(link.stmt.rhs)}
    return (
        defs[link.target] == 1
        and not (needed & ir.bound(until))
        and use_counts(until).get(link.target, 0) == uses.get(link.target, 0)
    )


def _queues(links: list[Link], function: ir.Function) -> frozenset[str]:
    """The lists that arrays are only moved into, to be dead then, and taken off again.

    What is moved there must be memory of its own: no view or part of something else.
    """
    parts = {k.target for k in links if k.how in ("alias", "view", "element", "permute")}
    made = {
        s.target.id
        for s in ir.walk(function.body)
        if isinstance(s, ir.Assign) and s.rhs == ir.Call(ir.make_list)
    }
    return frozenset(
        name
        for name in made
        if all(_moves(k, name, parts, function) for k in links if name in (k.target, k.source))
    )


def _moves(link: Link, name: str, parts: set[str], function: ir.Function) -> bool:
    """Whether a link of a list is an append of what is dead then, or a pop."""
    rhs = link.stmt.rhs if isinstance(link.stmt, (ir.Assign, ir.Effect)) else None
    if not isinstance(rhs, ir.Call):
        return False
    if link.target == name:
        own = link.source not in parts
        return own and rhs.fn == ir.Method("append") and _dead_after(link, function)
    return rhs.fn == ir.Method("pop") and len(rhs.args) == 1


def _is_taken(link: Link, function: ir.Function) -> bool:
    """Whether the target takes an item out of a container that nobody else looks at."""
    return link.how == "element" and _taken_apart(link, function)


def _taken_apart(link: Link, function: ir.Function) -> bool:
    """Whether the container is new, and only there for each of its items to be taken once."""
    made = [s for s in ir.walk(function.body) if link.source in ir.writes(s)]
    if len(made) != 1 or link.inside or not isinstance(made[0], ir.Assign):
        return False
    rhs = made[0].rhs
    if not isinstance(rhs, ir.Call) or returns_view(rhs) or rhs.fn is ir.make_list:
        return False
    uses = [s for s in ir.walk(function.body) if link.source in ir.reads(s)]
    keys = [s.rhs.args[1] for s in uses if _takes_item(s, link.source)]  # type: ignore[union-attr]
    return len(keys) == len(uses) == len(set(keys))


def _takes_item(stmt: ir.Stmt, source: str) -> bool:
    """Whether a statement is `x = source[literal]`."""
    rhs = stmt.rhs if isinstance(stmt, ir.Assign) else None
    return (
        isinstance(rhs, ir.Call)
        and rhs.fn is operator.getitem
        and rhs.args[0] == ir.Name(source)
        and isinstance(rhs.args[1], ir.Const)
    )


def _within(link: Link, defs: Mapping[str, int], uses: Mapping[str, int]) -> bool:
    """Whether all uses of the target follow in the block of its only definition."""
    until = until_last_use(link)
    used = use_counts(until).get(link.target, 0)
    return defs[link.target] == 1 and used == uses.get(link.target, 0)


def _is_array_view(link: Link, kinds: Kinds, function: ir.Function) -> bool:
    """Whether the target is certainly an array that is a view of the source."""
    rhs = link.stmt.rhs if isinstance(link.stmt, ir.Assign) else None
    return (
        rhs is not None and is_array(kinds.get(link.target)) and is_sure_view(rhs, kinds, function)
    )


def _overwritten(link: Link, classes: Mapping[str, str], kinds: Kinds) -> bool:
    """Whether the memory of the link is written into before the last use of its target."""
    written, _ = stored_names(until_last_use(link), kinds)
    return any(classes.get(n) == classes[link.target] for n in written)


def _dead_after(link: Link, function: ir.Function) -> bool:
    """Whether the source is never read again after the statement, before it is bound anew."""
    return link.source not in live_after(function, link.stmt)
