"""What the alias analysis asks of one link: how long it lasts, and what happens meanwhile."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from srcdiff import ir
from srcdiff.analysis.links import (
    Link,
    definitions,
    links_of,
    named_container,
    shares,
    stored_names,
    until_last_use,
    use_counts,
)
from srcdiff.analysis.liveness import live_after
from srcdiff.analysis.slots import Slots
from srcdiff.ir.kinds import Dict, Kind, List, Tuple
from srcdiff.primitives.effects import returns_view
from srcdiff.primitives.views import is_array, is_sure_view

Kinds = Mapping[str, Kind]


@dataclass(frozen=True)
class View:
    """A name of part of another name's memory: `rhs`, an expression over `base`."""

    base: str
    rhs: ir.Rhs


@dataclass(frozen=True, eq=False)
class Scene:
    """A function and the kinds of its names, to look links up in."""

    function: ir.Function
    kinds: Kinds

    @cached_property
    def defs(self) -> Mapping[str, int]:
        """How many statements bind each name."""
        return definitions(self.function)

    @cached_property
    def uses(self) -> Mapping[str, int]:
        """How many statements read each name."""
        return use_counts(self.function.body)

    @cached_property
    def stored(self) -> tuple[frozenset[str], frozenset[str]]:
        """The arrays and the containers that some statement writes into."""
        return stored_names(self.function.body, self.kinds)

    @cached_property
    def slots(self) -> Slots:
        """Which containers may be one."""
        return Slots(links_of(self.function.body, self.kinds, False), self.kinds)

    def within(self, link: Link) -> bool:
        """Whether all uses of the target follow in the block of its only definition."""
        used = use_counts(until_last_use(link)).get(link.target, 0)
        return self.defs[link.target] == 1 and used == self.uses.get(link.target, 0)

    def steady(self, link: Link) -> bool:
        """Whether the view can be made again, with the same meaning, wherever it is used."""
        assert isinstance(link.stmt, ir.Assign)
        rhs = link.stmt.rhs
        needed = {link.target, *ir.names(rhs)}
        same = self.within(link) and not needed & ir.bound(until_last_use(link))
        return same and self.lasts(link, View(link.source, rhs))

    def lasts(self, link: Link, view: View) -> bool:
        """Whether what is an item of a container is still that one at the last use of a link."""
        return self.slots.lasts(link, view.rhs, view.base)

    def dead_after(self, link: Link) -> bool:
        """Whether the source is never read again after the statement, before it is bound anew."""
        return link.source not in live_after(self.function, link.stmt)

    def overwritten(self, link: Link, classes: Mapping[str, str]) -> bool:
        """Whether the memory of the link is written into before the last use of its target."""
        written, _ = stored_names(until_last_use(link), self.kinds)
        return any(classes.get(n) == classes[link.target] for n in written)

    def written_later(self, link: Link, classes: Mapping[str, str]) -> bool:
        """Whether the memory of the link may be written into while its target has views."""
        block = self.function.body if link.inside else link.rest
        written, _ = stored_names(block, self.kinds)
        return any(classes.get(n) == classes[link.target] for n in written)

    def is_array_view(self, link: Link) -> bool:
        """Whether the target is certainly an array that is a view of the source."""
        rhs = link.stmt.rhs if isinstance(link.stmt, ir.Assign) else None
        return (
            rhs is not None
            and is_array(self.kinds.get(link.target))
            and is_sure_view(rhs, self.kinds, self.function)
        )

    def are_containers(self, link: Link) -> bool:
        """Whether both names of a link are certainly lists, tuples or dicts."""
        return named_container(link.target, self.kinds) and named_container(
            link.source, self.kinds
        )


def chain_is_steady(link: Link, views: Mapping[str, View], scene: Scene) -> bool:
    """Whether nothing through which a view of views is made changes before its use."""
    later = ir.bound(until_last_use(link))
    base = link.source
    while base in views:
        if later & set(ir.names(views[base].rhs)) or not scene.lasts(link, views[base]):
            return False
        base = views[base].base
    return True


def is_part(stmt: ir.Stmt) -> bool:
    """Whether a statement names a container again or an item of one (not a slice, a copy)."""
    rhs = stmt.rhs if isinstance(stmt, ir.Assign) else None
    if isinstance(rhs, ir.Name):
        return True
    item = isinstance(rhs, ir.Call) and rhs.fn is operator.getitem
    return item and not isinstance(rhs.args[1], ir.Slice)  # type: ignore[union-attr]


def queues(links: list[Link], scene: Scene) -> frozenset[str]:
    """The lists that arrays are only moved into, to be dead then, and taken off again.

    What is moved there must be memory of its own: no view or part of something else.
    """
    parts = {k.target for k in links if k.how in ("alias", "view", "element", "permute")}
    made = {
        s.target.id
        for s in ir.walk(scene.function.body)
        if isinstance(s, ir.Assign) and s.rhs == ir.Call(ir.make_list)
    }
    return frozenset(
        name
        for name in made
        if all(_moves(k, name, parts, scene) for k in links if name in (k.target, k.source))
    )


def _moves(link: Link, name: str, parts: set[str], scene: Scene) -> bool:
    """Whether a link of a list is an append of what is dead then, or a pop."""
    call = ir.call_of(link.stmt)
    if call is None:
        return False
    if link.target == name:
        own = link.source not in parts
        return own and call.fn == ir.Method("append") and scene.dead_after(link)
    return call.fn == ir.Method("pop") and len(call.args) == 1


def is_taken(link: Link, scene: Scene) -> bool:
    """Whether the target takes an item out of a container that nobody else looks at."""
    return link.how == "element" and _taken_apart(link, scene.function, scene.kinds)


def _taken_apart(link: Link, function: ir.Function, kinds: Kinds) -> bool:
    """Whether the container is new, and only there for each of its items to be taken once."""
    made = [s for s in ir.walk(function.body) if link.source in ir.writes(s)]
    if len(made) != 1 or link.inside or not isinstance(made[0], ir.Assign):
        return False
    rhs = made[0].rhs
    if not isinstance(rhs, ir.Call) or returns_view(rhs) or any(shares(made[0], kinds)):
        return False
    uses = [s for s in ir.walk(function.body) if link.source in ir.reads(s)]
    keys = [s.rhs.args[1].value for s in uses if _takes_item(s, link.source)]  # type: ignore[union-attr]
    return len(keys) == len(uses) and _are_apart(keys, kinds.get(link.source))


def _are_apart(keys: Sequence[Any], kind: Kind | None) -> bool:
    """Whether keys are those of different items: of two items, 0 and -2 are the same."""
    if isinstance(kind, (List, Tuple)) and kind.items:
        keys = [k % len(kind.items) for k in keys]
    elif not isinstance(kind, Dict) and len({k < 0 for k in keys if isinstance(k, int)}) > 1:
        return False
    return len(keys) == len(set(keys))


def _takes_item(stmt: ir.Stmt, source: str) -> bool:
    """Whether a statement is `x = source[literal]`."""
    rhs = stmt.rhs if isinstance(stmt, ir.Assign) else None
    return (
        isinstance(rhs, ir.Call)
        and rhs.fn is operator.getitem
        and rhs.args[0] == ir.Name(source)
        and isinstance(rhs.args[1], ir.Const)
    )
