"""Which values of a loop's body to save, and which to compute again, so that least is saved.

Arithmetic on arrays costs little beside keeping one more array for every iteration.  What the
backward part needs and what it is computed from are a network; the cheapest set of values that cuts
the needed ones off from all that cannot be computed again is what is saved (a minimum cut, found by
blocking flows; Dinitz, 1970).  Among equal cuts the one nearest to what is needed is taken, so that
nothing is computed again for nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

SAVE = 10
"""What saving an array costs, where computing it again costs 1 (a view) to 2 (arithmetic)."""

NEVER = 1 << 40
"""The cost of what is not to be saved."""

_SOURCE, _SINK = ("", False), ("", True)
Node = tuple[str, bool]  # a name, before or after the decision to save it


@dataclass(frozen=True)
class Value:
    """A value: what saving it costs, and if it can be computed again: at what cost, from what."""

    save: int
    again: int | None = None
    reads: tuple[str, ...] = ()


@dataclass(frozen=True)
class Choice:
    """The names that are saved, and those that are computed again."""

    saved: frozenset[str] = frozenset()
    again: frozenset[str] = frozenset()


@dataclass
class _Network:
    """Capacities that are left between nodes."""

    left: dict[Node, dict[Node, int]] = field(default_factory=dict)

    def edge(self, a: Node, b: Node, capacity: int) -> None:
        """Add an edge, and its way back."""
        there, back = self.left.setdefault(a, {}), self.left.setdefault(b, {})
        there[b] = there.get(b, 0) + capacity
        back.setdefault(a, 0)

    def levels(self) -> dict[Node, int]:
        """How many edges with capacity left lead from the source to each node."""
        found, todo = {_SOURCE: 0}, deque([_SOURCE])
        while todo:
            node = todo.popleft()
            for other, left in self.left.get(node, {}).items():
                if left and other not in found:
                    found[other] = found[node] + 1
                    todo.append(other)
        return found

    def fill(self) -> None:
        """Send as much as the network carries, all that shortest ways carry at a time."""
        while _SINK in (levels := self.levels()):
            ahead = {n: [o for o in self.left[n] if levels.get(o) == levels[n] + 1] for n in levels}
            while way := self.path(ahead):
                steps = list(zip(way, way[1:]))
                amount = min(self.left[a][b] for a, b in steps)
                for a, b in steps:
                    self.left[a][b] -= amount
                    self.left[b][a] += amount

    def path(self, ahead: Mapping[Node, list[Node]]) -> list[Node]:
        """A way from the source to the sink; edges of `ahead` that lead nowhere are taken out."""
        way = [_SOURCE]
        while way and way[-1] != _SINK:
            onward = ahead[way[-1]]
            if onward and self.left[way[-1]][onward[-1]]:
                way.append(onward[-1])
            elif onward:
                onward.pop()
            else:
                way.pop()
                if way:
                    ahead[way[-1]].pop()
        return way

    def before_sink(self) -> set[Node]:
        """The nodes from which there is capacity left to the sink."""
        found, todo = {_SINK}, [_SINK]
        while todo:
            node = todo.pop()
            for other in self.left[node]:
                if other not in found and self.left[other].get(node):
                    found.add(other)
                    todo.append(other)
        return found


def fewest(values: Mapping[str, Value], needed: Iterable[str]) -> Choice:
    """The cheapest way to have all that is needed.  Names that are no key cost nothing."""
    network = _Network()
    for name, value in values.items():
        before, after = (name, False), (name, True)
        network.edge(before, after, value.save)
        network.edge(_SOURCE, before, NEVER if value.again is None else value.again)
        for read in value.reads:
            if read in values:
                network.edge((read, True), before, NEVER)
    for name in needed:
        network.edge((name, True), _SINK, NEVER)
    if _SINK not in network.left:
        return Choice()
    network.fill()
    mine = network.before_sink()
    again = frozenset(n for n in values if (n, False) in mine)
    return Choice(frozenset(n for n in values if (n, True) in mine) - again, again)
