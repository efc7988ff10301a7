"""Which names share memory, for how long, and what happens meanwhile (`PointsTo`).

Takes a function and the kinds of its names; gives the groups of names that may share memory and
what is written into.  Of one link it says how long that lasts, whether what makes it can be done
again, and whether the place of a container still holds the item that a name was given from there
(`Slots`).

Which names may be one container is found as by Steensgaard ("Points-to analysis in almost linear
time", 1996): each name has a node, each node one for what it holds, and statements join nodes.  The
invariant: names with different nodes are different containers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

from srcdiff import ir
from srcdiff.analysis.links import (
    Groups,
    Link,
    between,
    classes_of,
    groups,
    in_place,
    is_copy,
    kept_outside,
    links_of,
    makes_empty_list,
    may_have_memory,
    named_container,
    reached,
    shares,
    stored_names,
    until_last_use,
)
from srcdiff.analysis.liveness import live_after
from srcdiff.analysis.manager import Analysis
from srcdiff.ir.disjoint import Disjoint
from srcdiff.ir.frozen import frozen
from srcdiff.primitives.effects import returns_view, written_into
from srcdiff.primitives.ops import Op, is_op
from srcdiff.primitives.views import is_array, is_sure_view

_ADDS = (Op.APPEND, Op.EXTEND)
_PUTS = (Op.APPEND, Op.INSERT)
_TAKES = (Op.GETITEM, Op.POP, Op.GET)


class Slots:
    """The containers of a function, and what changes the items that they have at their places."""

    def __init__(self, links: Iterable[Link], kinds: ir.Kinds) -> None:
        self.kinds = kinds
        self.sets = Disjoint[str]()
        self.inner: dict[str, str] = {}
        for link in links:
            self.link(link)

    def lasts(self, link: Link, rhs: ir.Rhs, base: str) -> bool:
        """Whether the item `rhs` of `base` stays at its place up to the last use of a link."""
        if not is_op(rhs, Op.GETITEM):
            return True
        if not named_container(base, self.kinds):
            return True  # a view of an array shows what is stored there later
        mine = self.node(base)
        found = changes(until_last_use(link), self.kinds)
        return not any(
            self.node(name) == mine and not self._elsewhere(stmt, rhs.args[1], base)
            for name, stmt in found
        )

    def _elsewhere(self, stmt: ir.Stmt, index: ir.Atom, base: str) -> bool:
        """Whether a change certainly leaves the item at an index where it is."""
        key = index.value if isinstance(index, ir.Const) else None
        counted = type(key) is int and key >= 0
        if isinstance(stmt, ir.Store):
            other = stmt.index.value if isinstance(stmt.index, ir.Const) else None
            texts = isinstance(key, str) and isinstance(other, str)
            return key != other and (texts or (counted and type(other) is int and other >= 0))
        adds = is_op(ir.call_of(stmt), *_ADDS)
        return adds and counted and not isinstance(self.kinds.get(base), ir.Dict)

    # --- nodes ---

    def link(self, link: Link) -> None:
        """Join what one statement lets be one container, or be held by one."""
        target, source = link.target, link.source
        call = link.stmt.rhs if isinstance(link.stmt, ir.Effect) else None  # of what it stores
        if is_copy(link.stmt):
            self.join(self.held(target), self.held(source))
        elif link.how in ("alias", "permute"):
            self.join(target, source)
        elif link.how == "stored" and (call is None or is_op(call, *_PUTS)):
            self.join(self.held(target), source)
        elif link.how == "element" and is_op(ir.call_of(link.stmt), *_TAKES):
            self.join(target, self.held(source))
        else:  # a part, or items of items
            self.join(target, source)
            self.join(self.held(target), target)

    def node(self, name: str) -> str:
        """The node of a name, or of what is held."""
        return self.sets.find(name)

    def held(self, name: str) -> str:
        """The node of what a container holds."""
        return self.node(self.inner.setdefault(self.node(name), f"{self.node(name)}[]"))

    def join(self, one: str, two: str) -> None:
        """Make two nodes one, and so what they hold."""
        one, two = self.node(one), self.node(two)
        if not self.sets.join(one, two):
            return
        inner = self.inner.pop(two, None)
        if inner is not None:
            self.join(self.inner.setdefault(one, inner), inner)


def changes(block: ir.Block, kinds: ir.Kinds) -> Iterator[tuple[str, ir.Stmt]]:
    """The names that statements store into or change the length of, with the statement."""
    return ((n, stmt) for stmt in ir.walk(block) for n in written_into(stmt, kinds))


# --- what the alias analysis asks of one link: how long it lasts, and what happens meanwhile -----


@frozen
class View:
    """A name of part of another name's memory: `rhs`, an expression over `base`."""

    base: str
    rhs: ir.Rhs

    def of(self, base: ir.Atom) -> ir.Rhs:
        """The same part of something else than the base."""
        return ir.map_rhs(lambda n: base if n.id == self.base else n, self.rhs)


def view_of(link: Link) -> View:
    """The part of the source's memory that the target of a link is."""
    assert isinstance(link.stmt, ir.Assign)
    return View(link.source, link.stmt.rhs)


def owner_of(name: str, views: Mapping[str, View]) -> str:
    """The name whose memory a name is a view of in the end (itself if it is none)."""
    while name in views:
        name = views[name].base
    return name


class PointsTo(Analysis):
    """Which names of a function may share memory, for how long, and what it writes into."""

    @cached_property
    def links(self) -> tuple[Link, ...]:
        """Every way in which two names come to share memory."""
        return tuple(links_of(self.function.body, self.kinds, self.function.target.on_device))

    @cached_property
    def marks(self) -> tuple[Link, ...]:
        """The same of operators in place, which may give what they write into."""
        return tuple(in_place(self.function))

    @cached_property
    def groups(self) -> Groups:
        """The names that may share memory."""
        return groups(self.links)

    @cached_property
    def near(self) -> Groups:
        """The names that may share memory, operators in place included."""
        return groups((*self.links, *self.marks))

    @cached_property
    def stored(self) -> tuple[frozenset[str], frozenset[str]]:
        """The arrays and the containers that some statement writes into."""
        return stored_names(self.function.body, self.kinds)

    @cached_property
    def written(self) -> frozenset[str]:
        """Both of them."""
        return frozenset().union(*self.stored)

    @cached_property
    def classes(self) -> dict[str, str]:
        """The class of every name that may share memory with one that is written into."""
        stored, resized = self.stored
        inside = between(self.links, self.kinds)
        return {**classes_of(inside, resized), **classes_of(self.links, stored)}

    @property
    def written_params(self) -> tuple[str, ...]:
        """The parameters whose memory is written into, by their own name or another."""
        return tuple(p.name for p in self.function.params if p.name in self.classes)

    @cached_property
    def seen(self) -> dict[str, str]:
        """The class of every name through which one may see what another one writes.

        Containers that are changed count as the memory of all that they hold, and what an operator
        in place stands on as written into if it shares memory.
        """
        stored, marks = self.written, list(self.marks)
        if marks:
            linked = self.linked()
            marks = [
                k for k in marks if k.source in linked and may_have_memory(self.kinds.get(k.source))
            ]
            stored |= {k.source for k in marks}
        return classes_of((*self.links, *marks), stored) if stored else {}

    def linked(self, others: frozenset[str] = frozenset()) -> frozenset[str]:
        """The names that may share memory with another name, or with what somebody else holds."""
        linked = (n for k in self.links for n in (k.target, k.source))
        # What an operator in place on a shared array gives is that array.
        return reached((*others, *linked), ((k.source, k.target) for k in self.marks))

    @cached_property
    def outside(self) -> tuple[frozenset[str], frozenset[str]]:
        """The names of what is from outside, and those of what is put into that."""
        return kept_outside(self.function, self.kinds)

    @cached_property
    def defs(self) -> Mapping[str, int]:
        """How many statements bind each name."""
        return ir.binding_counts(self.function, self.function.params)

    @cached_property
    def uses(self) -> Mapping[str, int]:
        """How many statements read each name."""
        return ir.reader_counts(self.function)

    @cached_property
    def slots(self) -> Slots:
        """Which containers may be one."""
        return Slots(self.links, self.kinds)

    def within(self, link: Link) -> bool:
        """Whether all uses of the target follow in the block of its only definition."""
        used = ir.reader_counts(until_last_use(link)).get(link.target, 0)
        return self.defs[link.target] == 1 and used == self.uses.get(link.target, 0)

    def steady(self, link: Link) -> bool:
        """Whether the view can be made again, with the same meaning, wherever it is used."""
        view = view_of(link)
        needed = {link.target, *ir.names(view.rhs)}
        same = self.within(link) and not needed & ir.bound(until_last_use(link))
        return same and self.lasts(link, view)

    def lasts(self, link: Link, view: View) -> bool:
        """Whether what is an item of a container is still that one at the last use of a link."""
        return self.slots.lasts(link, view.rhs, view.base)

    def dead_after(self, link: Link) -> bool:
        """Whether the source is never read again after the statement, before it is bound anew."""
        return link.source not in live_after(self.function, link.stmt)

    def overwritten(self, link: Link, classes: Mapping[str, str]) -> bool:
        """Whether the memory of the link is written into before the last use of its target."""
        return self._writes_into(link, classes, until_last_use(link))

    def written_later(self, link: Link, classes: Mapping[str, str]) -> bool:
        """Whether the memory of the link may be written into while its target has views."""
        return self._writes_into(link, classes, self.function.body if link.inside else link.rest)

    def _writes_into(self, link: Link, classes: Mapping[str, str], block: ir.Block) -> bool:
        """Whether a block writes into the memory of a link."""
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


def chain_is_steady(link: Link, views: Mapping[str, View], scene: PointsTo) -> bool:
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
    if is_op(rhs, Op.GETITEM):
        return not isinstance(rhs.args[1], ir.Slice)
    return isinstance(rhs, ir.Name)


def queues(links: list[Link], scene: PointsTo) -> frozenset[str]:
    """The lists that arrays are only moved into, to be dead then, and taken off again.

    What is moved there must be memory of its own: no view or part of something else.
    """
    parts = {k.target for k in links if k.how in ("alias", "view", "element", "permute")}
    made = {n for s in ir.walk(scene.function) if makes_empty_list(s) for n in ir.writes(s)}
    return frozenset(
        name
        for name in made
        if all(_moves(k, name, parts, scene) for k in links if name in (k.target, k.source))
    )


def _moves(link: Link, name: str, parts: set[str], scene: PointsTo) -> bool:
    """Whether a link of a list is an append of what is dead then, or a pop."""
    call = ir.call_of(link.stmt)
    if call is None:
        return False
    if link.target == name:
        own = link.source not in parts
        return own and is_op(call, Op.APPEND) and scene.dead_after(link)
    return is_op(call, Op.POP) and len(call.args) == 1


def is_taken(link: Link, scene: PointsTo) -> bool:
    """Whether the target takes an item out of a container that nobody else looks at."""
    return link.how == "element" and _taken_apart(link, scene.function, scene.kinds)


def _taken_apart(link: Link, function: ir.Function, kinds: ir.Kinds) -> bool:
    """Whether the container is new, and only there for each of its items to be taken once."""
    made = [s for s in ir.walk(function) if link.source in ir.writes(s)]
    call = ir.call_of(made[0]) if len(made) == 1 and not link.inside else None
    if call is None or returns_view(call) or any(shares(made[0], kinds, function.target.on_device)):
        return False
    uses = [s for s in ir.walk(function) if link.source in ir.reads(s)]
    keys = [s.rhs.args[1].value for s in uses if _takes_item(s, link.source)]  # type: ignore[union-attr]
    return len(keys) == len(uses) and _are_apart(keys, kinds.get(link.source))


def _are_apart(keys: Sequence[Any], kind: ir.Kind | None) -> bool:
    """Whether keys are those of different items: of two items, 0 and -2 are the same."""
    if isinstance(kind, (ir.List, ir.Tuple)) and kind.items:
        keys = [k % len(kind.items) for k in keys]
    elif not isinstance(kind, ir.Dict) and len({k < 0 for k in keys if isinstance(k, int)}) > 1:
        return False
    return len(keys) == len(set(keys))


def _takes_item(stmt: ir.Stmt, source: str) -> bool:
    """Whether a statement is `x = source[literal]`."""
    rhs = stmt.rhs if isinstance(stmt, ir.Assign) else None
    return (
        is_op(rhs, Op.GETITEM)
        and rhs.args[0] == ir.Name(source)
        and isinstance(rhs.args[1], ir.Const)
    )
