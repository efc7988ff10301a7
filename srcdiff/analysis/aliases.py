"""Which names may share memory, and how each name of memory that is written relates to its owner.

Takes a function (after `webs`) and the kinds of its names.  Returns the alias classes that are
written in place, the views in them (with the expression that makes each) and the class of every
name.  The invariant: a name of a written class is its owner (fresh memory, or memory moved from a
name that is dead afterwards), a view that can be made again from its owner wherever it is used, or
an element of a container that is only read.  Where the source does not decide which, the names
that may share memory are shadowed: their adjoints are made, and aliased, in the forward part.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from srcdiff import ir
from srcdiff.analysis.links import (
    Link,
    between,
    classes_of,
    groups,
    holds_containers,
    is_copy,
    links_of,
    named_container,
)
from srcdiff.analysis.liveness import live_after
from srcdiff.analysis.scene import Scene, View, chain_is_steady, is_part, is_taken, queues
from srcdiff.analysis.shadowed import Shadowed, shadowed
from srcdiff.analysis.structure import reshaped
from srcdiff.analysis.veiled import check_veiled
from srcdiff.ir.kinds import Kind

Kinds = Mapping[str, Kind]


@dataclass(frozen=True)
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

    def owner(self, name: str) -> str:
        """The name whose memory `name` is a view of (itself if it is none)."""
        while name in self.views:
            name = self.views[name].base
        return name

    def is_unclear(self, name: str) -> bool:
        """Whether it is not known which other names hold the memory of a name."""
        return self.classes.get(name) in self.unclear


def aliases(function: ir.Function, kinds: Kinds) -> Aliases:
    """The aliases of a function whose memory is written in place.

    Raises:
        UnsupportedError: memory that is written in place can neither be followed nor shadowed.
    """
    scene = Scene(function, kinds)
    every = list(links_of(function.body, kinds, False))
    apart = [k for k in every if is_taken(k, scene)]
    links = [k for k in every if k not in apart]
    queued = queues(links, scene)
    plain = [k for k in links if not {k.target, k.source} & queued]
    stored, resized = scene.stored
    one = _Resolved(plain, stored, scene)
    inside = between(plain, kinds)
    two = _Resolved(inside, resized, scene)
    check_veiled(plain, scene)
    classes = {**two.classes, **one.classes}
    views = {**_parts(plain, classes, scene), **two.views, **one.views}
    unclear = [*one.unclear, *two.unclear]
    found = Aliases(classes, views, stored)
    if unclear:
        found = _with_shadows(classes, views, stored, shadowed(links, unclear, scene))
    return replace(
        found,
        moved=frozenset(k.source for k in inside if k.target not in found.views),
        reshaped=reshaped(function.body, kinds, found.classes),
        taken={k.source: tuple(i.target for i in apart if i.source == k.source) for k in apart},
    )


def _with_shadows(
    classes: Mapping[str, str],
    views: Mapping[str, View],
    stored: frozenset[str],
    found: Shadowed,
) -> Aliases:
    """Clear aliases and shadowed ones together."""
    clear = {n: v for n, v in views.items() if n not in found.classes}
    return Aliases(
        {**classes, **found.classes},
        {**clear, **found.views},
        stored,
        frozenset(found.classes) - frozenset(found.views),
        found.copies,
        frozenset(found.classes.values()),
    )


def _parts(links: list[Link], classes: Mapping[str, str], scene: Scene) -> dict[str, View]:
    """Containers that are parts of a container that nobody writes into: views of it."""
    found: dict[str, View] = {}
    for link in links:
        part = link.how in ("element", "alias") and is_part(link.stmt)
        if scene.are_containers(link) and part and link.target not in classes:
            if isinstance(link.stmt, ir.Assign) and scene.steady(link):
                found[link.target] = View(link.source, link.stmt.rhs)
    return found


def _is_held_twice(link: Link) -> bool:
    """Whether a statement puts what it names into two places: neither is the only one."""
    read = [n for o in ir.operands(link.stmt) for n in ir.occurrences(o)]
    return read.count(link.source) > 1


class _Resolved:
    """The classes of what is written, the views in them, and the links that are unclear."""

    def __init__(self, links: list[Link], stored: frozenset[str], scene: Scene) -> None:
        self.scene = scene
        self.stored = stored
        self.classes = classes_of(links, stored)
        # What an element is handed on to: whoever writes into that writes into the element.
        self.handed = groups(k for k in links if k.how != "element")
        self.written = {self.handed.get(n, n) for n in stored}
        self.views: dict[str, View] = {}
        self.unclear: list[Link] = []
        self.parts = {k.target for k in links if k.how in ("alias", "view", "element")}
        mine = [k for k in links if k.target in self.classes]
        derived = frozenset(k.source for k in links)
        moved = [k for k in mine if self.judge(k, derived) and k.how in ("alias", "stored")]
        for link in moved:
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
            assert isinstance(link.stmt, ir.Assign)
            self.views[link.target] = View(link.source, link.stmt.rhs)
        else:
            self.unclear.append(link)
        return False

    def is_given(self, link: Link) -> bool:
        """Whether the target is the only one to use the memory from here on, or only reads it."""
        scene = self.scene
        if link.how == "permute":
            return True
        if link.how in ("alias", "stored"):
            return scene.dead_after(link) and not _is_held_twice(link)
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
        return self.handed.get(link.target, link.target) not in self.written

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

    def check_moved(self, link: Link) -> None:
        """Memory that is moved comes from its owner, and no view of it is in use."""
        if self.is_free(link):
            return
        if link.how == "alias" and self.scene.steady(link):
            assert isinstance(link.stmt, ir.Assign)
            self.views[link.target] = View(link.source, link.stmt.rhs)
        else:
            self.unclear.append(link)

    def is_free(self, link: Link) -> bool:
        """Whether the source owns its memory and no view of that is used any more."""
        if link.source in self.views:
            return False
        live = live_after(self.scene.function, link.stmt)
        return not any(self.owner(n) == link.source and n in live for n in self.views)

    def owner(self, name: str) -> str:
        """The name that a view is a view of in the end."""
        while name in self.views:
            name = self.views[name].base
        return name
