"""Expressions on their way to the statement that uses them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from srcdiff.codegen.measure import name_width


@dataclass(frozen=True)
class Moved:
    """An expression that waits for its use, assigned at the statement `index`.

    It may consist of what several statements computed: `effects` is the first of them that has an
    effect, `memory` the first that reads what a store can change, `reads` the first that reads
    each name.
    """

    name: str
    index: int
    effects: int | None
    memory: int | None
    reads: Mapping[str, int]
    width: int


def merged(own: Moved, parts: list[Moved]) -> Moved:
    """An expression with those that moved into it."""
    if not parts:
        return own
    reads = dict(own.reads)
    for part in parts:
        for name, index in part.reads.items():
            reads[name] = min(index, reads.get(name, index))
    return replace(
        own,
        effects=_first([own.effects, *(p.effects for p in parts)]),
        memory=_first([own.memory, *(p.memory for p in parts)]),
        reads=reads,
        width=own.width + sum(p.width - name_width(p.name) for p in parts),
    )


def _first(found: Iterable[int | None]) -> int | None:
    return min((f for f in found if f is not None), default=None)


@dataclass
class Effects:
    """What running some statements does to what waits around them."""

    binds: set[str] = field(default_factory=set)
    stores: bool = False

    def add(self, other: Effects) -> None:
        self.binds |= other.binds
        self.stores |= other.stores


class Movement:
    """The expressions of one block that wait for their use, and what has happened since."""

    def __init__(self, inline: set[str]) -> None:
        self.inline = inline  # the names that move, for the whole function
        self.waiting: dict[str, Moved] = {}
        self.bound_at: dict[str, int] = {}
        self.stored_at = self.emitted_at = -1

    def happen(self, index: int, effects: Effects) -> None:
        """Notes that a statement stays where it is, and its effects."""
        self.emitted_at = index
        for name in effects.binds:
            self.bound_at[name] = index
        if effects.stores:
            self.stored_at = index

    def consume(
        self, index: int, reads: Sequence[str], room: int, accepts_effects: bool = True
    ) -> list[Moved]:
        """The waiting expressions that move into a statement, of those that it reads.

        `room` is how many columns they may take together.
        """
        if not self.waiting:
            return []
        while True:
            parts = [self.waiting[n] for n in reads if n in self.waiting]
            bad = self._obstacle(parts, index, accepts_effects) or _too_wide(parts, room)
            if bad is None:
                break
            self.stay(bad)
        for part in parts:
            del self.waiting[part.name]
            self.inline.add(part.name)
        return parts

    def stay(self, moved: Moved) -> None:
        """An expression stays a statement where it was."""
        del self.waiting[moved.name]
        self.inline.discard(moved.name)
        self.emitted_at = max(self.emitted_at, moved.index)
        if moved.effects is not None:
            self.stored_at = max(self.stored_at, moved.index)

    def _obstacle(self, parts: list[Moved], index: int, accepts_effects: bool) -> Moved | None:
        """The first part that may not move to the statement."""
        for part in parts:
            if self._is_stale(part) or not self._keeps_order(part, parts, accepts_effects):
                return part
        for i, part in enumerate(parts):
            for later in parts[i + 1 :]:
                if _conflict(part, later):
                    return later
        return None

    def _is_stale(self, part: Moved) -> bool:
        """Whether something after a part's beginning changed what it reads."""
        if part.memory is not None and self.stored_at > part.memory:
            return True
        return any(self.bound_at.get(n, -1) > index for n, index in part.reads.items())

    def _keeps_order(self, part: Moved, parts: list[Moved], accepts_effects: bool) -> bool:
        """Whether effects keep their order among all that moves and all that stays."""
        others = [w for w in self.waiting.values() if w not in parts]
        if part.effects is None:
            return part.memory is None or not any(
                w.effects is not None and part.memory < w.index for w in others
            )
        if not accepts_effects or self.emitted_at > part.effects:
            return False
        return not any(w.index > part.effects for w in others)


def _too_wide(parts: list[Moved], room: int) -> Moved | None:
    """The longest part, if all of them take more columns than there are."""
    if not parts or sum(p.width - name_width(p.name) for p in parts) <= room:
        return None
    return max(parts, key=lambda p: (p.width, -p.index))


def _conflict(first: Moved, second: Moved) -> bool:
    """Whether evaluating `first` before `second` changes the order of an effect and a read."""
    early = _first([second.memory, second.effects])
    if first.effects is not None and early is not None and first.index > early:
        return True
    if second.effects is not None and first.memory is not None:
        return first.index > second.effects
    return False
