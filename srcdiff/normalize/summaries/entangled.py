"""Results of recursive functions that hold one array twice: `return y, y[1:]`.

What a call gives is kept and copied item by item.  Where the caller writes into one item and reads
another one that shares its memory it would not see what it has written: such calls are refused.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from srcdiff import ir
from srcdiff.analysis.links import Link, groups, in_place, is_marked, links_of
from srcdiff.ir.kinds import UNKNOWN, Kind, is_scalar
from srcdiff.primitives.effects import mutated_args

Kinds = Mapping[str, Kind]


def is_entangled(function: ir.Function, kinds: Kinds) -> bool:
    """Whether two parts of what a function returns may share memory.

    What a call gives holds nothing twice, unless its own summary says so.
    """
    last = function.body[-1]
    assert isinstance(last, ir.Return)
    names = _occurrences(last.value)
    calls = [s for s in ir.walk(function.body) if isinstance(s, ir.Assign) and _calls(s)]
    if any(s.rhs.fn.key.entangled for s in calls):  # type: ignore[union-attr]
        return True
    given = {s.target.id for s in calls}
    links = [_apart(k) if k.source in given else k for k in links_of(function.body, kinds, False)]
    group = groups((*(k for k in links if k.how != "stored"), *in_place(function)))
    held: dict[str, list[Link]] = {}
    for link in links:
        if link.how == "stored":
            held.setdefault(group.get(link.target, link.target), []).append(link)
    memory = _Memory(kinds, group, held, _looped(function))
    return any(count > 1 for count in Counter(memory.parts(names, frozenset())).values())


def _calls(stmt: ir.Assign) -> bool:
    """Whether a statement keeps what a Python function gives."""
    return isinstance(stmt.rhs, ir.Call) and isinstance(stmt.rhs.fn, ir.Derived)


def _occurrences(value: ir.Rhs | None) -> list[str]:
    """The names in a value, as often as they stand there."""
    return [a.id for a in ir.atoms(value) if isinstance(a, ir.Name)]


def _stored(stmt: ir.Stmt) -> ir.Rhs | None:
    """The value of a statement that stores something."""
    if isinstance(stmt, ir.SetItem):
        return stmt.value
    return stmt.rhs if isinstance(stmt, (ir.Assign, ir.Effect)) else None


def _apart(link: Link) -> Link:
    """A link whose source is an item of what a call gives, in place of all of that."""
    rhs = link.stmt.rhs if isinstance(link.stmt, ir.Assign) else None
    if not isinstance(rhs, ir.Call) or rhs.fn is not operator.getitem:
        return link
    index = rhs.args[1]
    if not isinstance(index, ir.Const):
        return link
    return replace(link, source=f"{link.source}[{index.value}]")


def _looped(function: ir.Function) -> frozenset[str]:
    """The names that loops bind."""
    loops = (s for s in ir.walk(function.body) if isinstance(s, (ir.For, ir.While)))
    return frozenset(n for loop in loops for n in ir.bound(loop.body))


@dataclass(frozen=True)
class _Memory:
    """The memory of names (by `group`), and what containers hold."""

    kinds: Kinds
    group: Mapping[str, str]
    held: Mapping[str, list[Link]]
    looped: frozenset[str]

    def parts(self, names: list[str], seen: frozenset[str]) -> Iterator[str]:
        """The memory of all that some names hold, each as often as it may be held."""
        for name in names:
            mine = self.group.get(name, name)
            if is_scalar(self.kinds.get(name, UNKNOWN)) or mine in seen:
                continue
            yield mine
            for link in self.held.get(mine, ()):
                yield from self.parts(self.sources(link), seen | {mine})

    def sources(self, link: Link) -> list[str]:
        """The name that a statement stores, as often as it does."""
        times = max(1, _occurrences(_stored(link.stmt)).count(link.source))
        again = link.inside and link.source not in self.looped
        return [link.source] * (times + 1 if again else times)


def written_names(function: ir.Function, kinds: Kinds) -> frozenset[str]:
    """The names whose memory some statement writes into, in a function whose calls are marked."""
    found: set[str] = set()
    for stmt in ir.walk(function.body):
        if isinstance(stmt, ir.SetItem):
            found.add(stmt.base.id)
        call = ir.call_of(stmt)
        if call is None:
            continue
        if is_marked(call):
            found.update(ir.names(call.args[0]))
        else:
            found.update(n for a in mutated_args(call, kinds) for n in ir.names(a))
    return frozenset(found)
