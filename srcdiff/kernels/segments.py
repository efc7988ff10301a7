"""In which inner loop of a nest each step stands.

Takes the steps of a group; gives for each the number of its segment: what goes over a row is in the
inner loop of that number, what is one value a row stands before it.  The invariant: what a step
reads is complete where it stands, and what is written anew is so behind all that read what was
there.  Two parts of one array are added to in segments of their own.
"""

from __future__ import annotations

from collections.abc import Mapping

from srcdiff.ir.frozen import state
from srcdiff.kernels.groups import Group, Step
from srcdiff.kernels.places import Place


@state
class Segments:
    """The segment of every step (`of`), and the places whose elements another one reads."""

    of: list[int]
    crossing: set[Place]

    @property
    def count(self) -> int:
        """How many inner loops there are, one at least."""
        return 1 + max(self.of, default=0)


def segments_of(group: Group) -> Segments:
    """The segments of the steps of a group."""
    found = Segments([], set())
    ready: dict[Place, int] = {}  # the first segment in which the value is complete
    made: dict[Place, int] = {}  # the segment in which elements were computed
    used: dict[Place, int] = {}  # the last segment that reads or writes
    free: dict[Place, int] = {}  # the first segment behind all inner loops that do so
    added: dict[Place, int] = {}  # the segment in which elements are added to a part of an array
    for step in group.steps:
        before = is_once_a_row(group, step)  # the inner loop
        at = _segment(step, ready, free if before else used)
        if step.place in group.added:
            others = [k for p, k in added.items() if p != step.place and p.root == step.place.root]
            if at > added.get(step.place, -1):
                at = max([at, *(k + 1 for k in others)])
            added[step.place] = max(at, added.get(step.place, 0))
        found.of.append(at)
        read = [o.place for o in step.operands if o.place is not None]
        for place in (*read, step.place):
            used[place] = max(used.get(place, 0), at)
            free[place] = max(free.get(place, 0), at if before else at + 1)
        for place in read:
            if made.get(place, at) != at and not is_row(group, place_frame(group, place)):
                found.crossing.add(place)
        made[step.place] = at
        ready[step.place] = at + 1 if step.over else at
    return found


def _segment(step: Step, ready: Mapping[Place, int], free: Mapping[Place, int]) -> int:
    """The first segment in which a step may stand."""
    read = [ready.get(o.place, 0) for o in step.operands if o.place is not None]
    return max([*read, free.get(step.place, 0)])


def place_frame(group: Group, place: Place) -> tuple[int | None, ...]:
    """The frame of what is at a place in the group, or of how it is loaded."""
    value = group.values.get(place)
    return value.frame if value is not None else group.loads[place].own


def is_once_a_row(group: Group, step: Step) -> bool:
    """Whether a step stands outside of the inner loops."""
    if not step.over:
        return is_row(group, step.frame)
    places = (o.place for o in step.operands if o.place is not None)
    return all(is_row(group, place_frame(group, p)) for p in places)


def is_row(group: Group, frame: tuple[int | None, ...]) -> bool:
    """Whether a value with a frame is the same for all elements of a row."""
    split = group.rank if group.split is None else group.split
    inner = [k for k in frame if k is not None and k >= split]
    return not inner and group.split is not None
