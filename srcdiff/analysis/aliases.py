"""Which names may share memory, and how each name of memory that is written relates to its owner.

Takes a function (after `webs`) and the kinds of its names.  Returns the alias classes that are
written in place, the views in them (with the expression that makes each) and the class of every
name.  The invariant: a name of a written class is its owner (fresh memory, or memory moved from a
name that is dead afterwards), a view that can be made again from its owner wherever it is used, or
an element of a container that is only read.  Where the source does not decide which, the names
that may share memory are shadowed: their adjoints are made, and aliased, in the forward part.

The adjoint of a container has its structure: the number of its items, their shapes, its keys.  As
long as that stays, it can be made at any time; else it is made from the container as it is at the
place where it is needed.

It may not be known of a name that it is a container: `z = y` of a list `y`, where `z` is an array
at other times.  The adjoints of `z` and of `y` are two then, and so an item of `y` must not change
while `z` may show the one before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import field

from srcdiff import ir
from srcdiff.analysis.links import (
    Link,
    are_containers,
    between,
    classes_of,
    groups,
    holds_containers,
    is_copy,
    named_container,
    reached,
)
from srcdiff.analysis.liveness import live_after
from srcdiff.analysis.points_to import (
    PointsTo,
    View,
    chain_is_steady,
    changes,
    is_part,
    is_taken,
    owner_of,
    queues,
    view_of,
)
from srcdiff.analysis.shadows import Shadowed, shadowed
from srcdiff.errors import TransformError, refused
from srcdiff.ir.frozen import frozen
from srcdiff.kinds.calls import atom_kind
from srcdiff.kinds.indexing import item_kind
from srcdiff.primitives.operation import LIST_MUTATORS


def keeps_shape(stmt: ir.Store, kinds: ir.Kinds) -> bool:
    """Whether what is stored has surely the shape of what was at its place, if anything was."""
    base = kinds.get(stmt.base.id)
    if base is None or stmt.index is None:
        return False
    old = item_kind(base, atom_kind(stmt.index, kinds))
    return ir.same_shape(old, atom_kind(stmt.value, kinds))


_RESIZERS = LIST_MUTATORS | {"popitem"}
"""What takes items out of a container or puts them into it, other than by a store."""


def reshaped(block: ir.Block, kinds: ir.Kinds, classes: Mapping[str, str]) -> frozenset[str]:
    """The classes of containers whose structure some statement changes (new keys apart)."""
    found: set[str] = set()
    for stmt in ir.walk(block):
        if isinstance(stmt, ir.Store):
            kind = kinds.get(stmt.base.id)
            numeric = kind is not None and ir.is_numeric(kind)
            if not numeric and not keeps_shape(stmt, kinds):
                found.add(stmt.base.id)
        call = ir.call_of(stmt)
        if call is not None and isinstance(call.fn, ir.Method) and call.fn.name in _RESIZERS:
            found.update(ir.names(call.args[0]))
    return frozenset(classes[n] for n in found if n in classes)


def may_be_dict(base: ir.Kind, key: ir.Kind) -> bool:
    """Whether what is indexed may be a dict: what is not known is one where the index is a text."""
    base = ir.sure(base)
    return isinstance(base, ir.Dict) or (base == ir.UNKNOWN and isinstance(key, ir.Text))


# --- containers under names of which it is not known that they are containers --------------------


def check_veiled(links: list[Link], scene: PointsTo) -> None:
    """Refuses a container that changes while a name that may be it, or hold it, is used.

    Raises:
        UnsupportedError: it does.
    """
    for link in links:
        if _is_veiled(link, scene.kinds):
            names = _reached(link, links, scene.kinds)
            if any(names & live_after(scene.function, s) for s in _changes(link, scene)):
                raise _refusal(link)


def _is_veiled(link: Link, kinds: ir.Kinds) -> bool:
    """Whether a container, or one inside of it, gets a name that may be of something else."""
    if not named_container(link.source, kinds) or not _is_open(link.target, kinds):
        return False
    return link.how == "alias" or (link.how == "element" and holds_containers(kinds[link.source]))


def _is_open(name: str, kinds: ir.Kinds) -> bool:
    """Whether a name may be a container, and may be something else."""
    return type(ir.sure(kinds.get(name, ir.UNKNOWN))) in (ir.Unknown, ir.NoneKind)


def _reached(link: Link, links: list[Link], kinds: ir.Kinds) -> Set[str]:
    """The names that show what the target of a link is: itself, other names, what holds them."""
    nested = holds_containers(kinds[link.source])
    shown = (
        k for k in links
        if k.how == "stored" or (_is_open(k.target, kinds) and (nested or k.how == "alias"))
    )  # fmt: skip
    return reached((link.target,), ((k.source, k.target) for k in shown))


def _changes(link: Link, scene: PointsTo) -> Iterator[ir.Stmt]:
    """The statements that change what a link names, or what that holds."""
    slots = scene.slots
    nodes = set[str]()
    node = slots.node(link.target)
    while node not in nodes:
        nodes.add(node)
        node = slots.node(slots.inner.get(node, node))
    for name, stmt in changes(scene.function.body, scene.kinds):
        if named_container(name, scene.kinds) and slots.node(name) in nodes:
            yield stmt


def _refusal(link: Link) -> TransformError:
    """The refusal, with the name of the list as the user knows it."""
    target, source = ir.said(link.target), ir.said(link.source)
    if target == source or ir.is_temporary(link.target):
        what = f"what is named here may be {source} or an array"
    elif link.how == "element":
        what = f"{target} may be a list in {source} or an array"
    else:
        what = f"{target} may be {source} or an array"
    return refused("memory.list_or_array", link.stmt.loc, what=what)


# --- classes of names, their owners and views ----------------------------------------------------


@frozen
class Aliases:
    """The written classes (name -> class), the views in them, and the names stored into.

    `shadows` are the names with shadows; `copies` those of them whose memory is as good as new
    where they are bound; `unclear` the classes of names with shadows.
    """

    classes: Mapping[str, str] = field(default_factory=dict)
    views: Mapping[str, View] = field(default_factory=dict)
    stored: frozenset[str] = frozenset()
    shadows: frozenset[str] = frozenset()
    copies: frozenset[str] = frozenset()
    unclear: frozenset[str] = frozenset()
    moved: frozenset[str] = frozenset()  # containers that go on under another name, or inside one
    reshaped: frozenset[str] = frozenset()  # classes of containers whose structure changes
    taken: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # apart: all of their items
    flat: frozenset[str] = frozenset()  # containers that are stored into, not what they hold

    def owner(self, name: str) -> str:
        """The name whose memory `name` is a view of (itself if it is none)."""
        return owner_of(name, self.views)

    def is_unclear(self, name: str) -> bool:
        """Whether it is not known which other names hold the memory of a name."""
        return self.classes.get(name) in self.unclear


def aliases(function: ir.Function, kinds: ir.Kinds) -> Aliases:
    """The aliases of a function whose memory is written in place.

    Raises:
        UnsupportedError: memory that is written in place can neither be followed nor shadowed.
    """
    scene = PointsTo.of(function, kinds)
    apart = [k for k in scene.links if is_taken(k, scene)]
    links = [k for k in scene.links if k not in apart]
    queued = queues(links, scene)
    plain = [k for k in links if not {k.target, k.source} & queued]
    stored, resized = scene.stored
    one = _Resolved(plain, stored, scene)
    inside = between(plain, kinds)
    two = _Resolved(inside, resized, scene)
    check_veiled(plain, scene)
    classes = _through(queued, links, {**two.classes, **one.classes})
    views = {**_parts(plain, classes, scene), **two.views, **one.views}
    unclear = [*one.unclear, *two.unclear]
    shadows = shadowed(links, unclear, scene) if unclear else Shadowed({}, {}, frozenset())
    classes |= shadows.classes
    views = {**{n: v for n, v in views.items() if n not in shadows.classes}, **shadows.views}
    return Aliases(
        classes,
        views,
        stored,
        frozenset(shadows.classes.keys() - shadows.views.keys()),
        shadows.copies,
        unclear=frozenset(shadows.classes.values()),
        moved=frozenset(k.source for k in inside if k.target not in views),
        reshaped=reshaped(function.body, kinds, classes),
        taken={k.source: tuple(i.target for i in apart if i.source == k.source) for k in apart},
        flat=frozenset(n for n in resized if _is_flat(n, scene)),
    )


def _is_flat(name: str, scene: PointsTo) -> bool:
    """Whether nothing writes into what a container holds: into itself alone."""
    slots = scene.slots
    written = {slots.node(n) for n in scene.written if scene.near.of(n) == scene.near.of(name)}
    inside: set[str] = set()
    node = slots.node(name)
    while (held := slots.inner.get(node)) is not None and slots.node(held) not in inside:
        node = slots.node(held)
        inside.add(node)
    return slots.node(name) not in inside and inside.isdisjoint(written)


def _through(
    queued: frozenset[str], links: list[Link], classes: Mapping[str, str]
) -> dict[str, str]:
    """The classes, what is moved into a list being one with what is taken off it again."""
    found = dict(classes)
    for name in sorted(queued):
        moved = {k.source for k in links if k.target == name}
        moved |= {k.target for k in links if k.source == name}
        own = sorted({found[n] for n in moved if n in found})
        if own:
            found = {n: own[0] if c in own else c for n, c in found.items()}
            found |= dict.fromkeys(sorted(moved), own[0])
    return found


def _parts(links: list[Link], classes: Mapping[str, str], scene: PointsTo) -> dict[str, View]:
    """Containers that are parts of a container that nobody writes into: views of it."""
    return {
        k.target: view_of(k)
        for k in links
        if k.how in ("element", "alias") and is_part(k.stmt) and are_containers(k, scene.kinds)
        if k.target not in classes and scene.steady(k)
    }


class _Resolved:
    """The classes of what is written, the views in them, and the links that are unclear."""

    def __init__(self, links: list[Link], stored: frozenset[str], scene: PointsTo) -> None:
        self.scene = scene
        self.stored = stored
        self.classes = classes_of(links, stored)
        # What an element is handed on to: whoever writes into that writes into the element.
        self.handed = groups(k for k in links if k.how != "element")
        self.written = set(map(self.handed.of, stored))
        self.views: dict[str, View] = {}
        self.unclear: list[Link] = []
        self.parts = {k.target for k in links if k.how in ("alias", "view", "element")}
        mine = [k for k in links if k.target in self.classes]
        derived = frozenset(k.source for k in links)
        for link in [k for k in mine if self.judge(k, derived) and self.is_moved(k)]:
            self.check_moved(link)
        for link in mine:
            base = link.source
            if link.target in self.views and self.views[link.target].base == base:
                if not chain_is_steady(link, self.views, self.scene):
                    self.unclear.append(link)

    def judge(self, link: Link, derived: frozenset[str]) -> bool:
        """Whether the memory is moved or only read; a view is noted, and so is what is unclear."""
        if link.how == "view" and link.target in derived and self.is_written_later(link):
            self.unclear.append(link)
            return False
        if self.is_given(link):
            return True
        if self.is_view(link):
            self.views[link.target] = view_of(link)
        else:
            self.unclear.append(link)
        return False

    def is_given(self, link: Link) -> bool:
        """Whether the target is the only one to use the memory from here on, or only reads it."""
        scene = self.scene
        if link.how == "permute":
            return True
        if link.how in ("alias", "stored"):
            # What a statement puts into two places nobody has alone.
            return scene.dead_after(link) and ir.reads_of(link.stmt).count(link.source) == 1
        if link.how == "view":
            if scene.is_array_view(link):
                return False
            # Nobody writes while it is used: a copy would be as good.
            read = link.target not in self.stored and scene.within(link)
            return read and not scene.overwritten(link, self.classes)
        if named_container(link.target, scene.kinds):
            own = link.source not in self.parts and scene.dead_after(link)
            if link.target == link.source or not is_copy(link.stmt):
                return own or not is_part(link.stmt)
            return own or not holds_containers(scene.kinds[link.source])
        return self.handed.of(link.target) not in self.written

    def is_view(self, link: Link) -> bool:
        """Whether the target can be made again from the source wherever it is used."""
        scene = self.scene
        if not isinstance(link.stmt, ir.Assign):
            return False
        if link.how == "view":
            return scene.is_array_view(link) and scene.steady(link)
        element = link.how == "element" and named_container(link.target, scene.kinds)
        part = element and is_part(link.stmt)  # a slice or a copy can be stored into by itself
        return (link.how == "alias" or part) and scene.steady(link)

    def is_written_later(self, link: Link) -> bool:
        """Whether what may be a view or a copy, and has views itself, is written into after."""
        scene = self.scene
        return not scene.is_array_view(link) and scene.written_later(link, self.classes)

    def is_moved(self, link: Link) -> bool:
        """Whether what is given is the memory of the source, or containers that are held there."""
        kinds = self.scene.kinds
        if link.how != "element" or not named_container(link.target, kinds):
            return link.how in ("alias", "stored")
        return is_part(link.stmt) or (is_copy(link.stmt) and holds_containers(kinds[link.source]))

    def check_moved(self, link: Link) -> None:
        """Memory that is moved comes from its owner, and no view of it is in use."""
        if self.is_free(link):
            return
        if link.how != "stored" and self.is_view(link):
            self.views[link.target] = view_of(link)
        else:
            self.unclear.append(link)

    def is_free(self, link: Link) -> bool:
        """Whether the source owns its memory and no view of that is used any more."""
        if link.source in self.views:
            return False
        live = live_after(self.scene.function, link.stmt)
        return not any(owner_of(n, self.views) == link.source and n in live for n in self.views)
