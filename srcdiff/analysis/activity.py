"""Which names carry a derivative from the selected inputs to the selected outputs.

Takes a function, the kinds of its names and its aliases; returns the names that depend
differentiably on an input (varied) and influence an output (useful).  Flow-insensitive, on webs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Union

from srcdiff import ir
from srcdiff.analysis.aliases import Aliases
from srcdiff.analysis.invariance import Flows, cancelled
from srcdiff.analysis.links import reached
from srcdiff.analysis.points_to import PointsTo
from srcdiff.primitives.effects import written_into

Edges = list[tuple[str, str, Union[ir.Stmt, None]]]


def edges(block: ir.Block, kinds: ir.Kinds, aliases: Aliases, flows: Flows) -> Edges:
    """(source, target, statement) wherever a derivative may flow from source to target.

    The statement is None between names that share memory.  By a maximum that cancels out there is
    no derivative.
    """
    found: Edges = []
    idle = cancelled(block, kinds, aliases.classes, flows)
    for stmt in ir.walk(block):
        for source, target in _flows(stmt, kinds, flows):
            if ir.carries(source, kinds) and ir.carries(target, kinds) and target not in idle:
                found.append((source, target, stmt))
    for name, rep in aliases.classes.items():
        if name != rep:
            found += [(name, rep, None), (rep, name, None)]
    return found


def edges_of(function: ir.Function, kinds: ir.Kinds, flows: Flows) -> Edges:
    """The same of a function whose aliases are not known yet: whatever may share memory does."""
    return edges(function.body, kinds, Aliases(PointsTo.of(function, kinds).seen), flows)


def _flows(stmt: ir.Stmt, kinds: ir.Kinds, flows: Flows) -> Iterator[tuple[str, str]]:
    """The (source, target) names of one statement."""
    if isinstance(stmt, (ir.Assign, ir.Effect)):
        targets = [*ir.writes(stmt), *written_into(stmt, kinds)]
        yield from ((s, t) for s in _sources(stmt.rhs, kinds, flows) for t in targets)
    elif type(stmt) is ir.Permute:
        yield from ((s.id, t.id) for s, t in zip(stmt.sources, stmt.targets))
    elif isinstance(stmt, ir.Store):
        yield from ((s, stmt.base.id) for s in ir.names(stmt.value))


def _sources(rhs: ir.Rhs, kinds: ir.Kinds, flows: Flows) -> tuple[str, ...]:
    """The names that a right-hand side depends on differentiably."""
    if isinstance(rhs, ir.Opaque) and rhs.harmless:
        return ()
    if type(rhs) is ir.Call:
        callee = (rhs.fn.id,) if type(rhs.fn) is ir.Name else ()
        return (*callee, *(n for a in flows(rhs, kinds) for n in ir.names(a)))
    return ir.names(rhs)


def reachable(start: Iterable[str], found: Edges, backward: bool = False) -> frozenset[str]:
    """The names reached from `start` along the edges (or against them)."""
    return reached(start, ((t, s) if backward else (s, t) for s, t, _ in found))


def activity(inputs: Iterable[str], outputs: Iterable[str], found: Edges) -> frozenset[str]:
    """The names on a path from an input to an output."""
    return reachable(inputs, found) & reachable(outputs, found, backward=True)
