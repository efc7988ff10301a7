"""Bounds of subscripts that are sums of a variable and a literal, by the ranges of loops."""

from __future__ import annotations

import operator
from dataclasses import dataclass, field

from srcdiff import ir
from srcdiff.analysis.facts import Facts


@dataclass
class Known:
    """What names are bound to, and the ranges of the targets of loops."""

    facts: Facts
    definitions: dict[str, list[ir.Rhs]] = field(default_factory=dict)
    ranges: dict[str, tuple[ir.Atom, ir.Atom, int]] = field(default_factory=dict)
    targets: set[str] = field(default_factory=set)  # of all loops


def bound(atom: ir.Atom, var: str | None, known: Known, side: int, depth: int = 0) -> int | None:
    """A bound of `atom - var` (of `atom` itself for None): upper for side 1, lower for -1."""
    if depth > 8:
        return None
    if isinstance(atom, ir.Slice):
        return _bound_of_slice(atom, var, known, side, depth)
    if isinstance(atom, ir.Const):
        number = type(atom.value) is int and var is None
        return atom.value if number else None
    if not isinstance(atom, ir.Name):
        return None
    if atom.id == var:
        return 0
    if var in known.ranges and var not in known.definitions:
        # j <= i + c in a loop `for j in range(i + c + 1)` says i - j >= -c.
        other = _bound_of_target(var, atom.id, known, -side, depth)
        if other is not None:
            return -other
    if atom.id in known.ranges and atom.id not in known.definitions:
        return _bound_of_target(atom.id, var, known, side, depth)
    # The target of a loop that is bound elsewhere too has no range, and no definition.
    defined = [] if atom.id in known.targets else known.definitions.get(atom.id, [])
    return _bound_of_sum(defined[0], var, known, side, depth) if len(defined) == 1 else None


def _bound_of_slice(
    item: ir.Slice, var: str | None, known: Known, side: int, depth: int
) -> int | None:
    """A bound of the positions in `a:b`, if b cannot be negative."""
    top = bound(item.upper, None, known, -1, depth + 1)
    if top is None or top < 0:
        return None
    if side == 1:
        found = bound(item.upper, var, known, 1, depth + 1)
        return None if found is None else found - 1
    lower = ir.Const(0) if item.lower == ir.NONE else item.lower
    return bound(lower, var, known, -1, depth + 1)


def _bound_of_target(
    name: str, var: str | None, known: Known, side: int, depth: int
) -> int | None:
    """A bound of a loop's target by the loop's range."""
    start, stop, step = known.ranges[name]
    if (side == 1) == (step == 1):
        found = bound(stop, var, known, side, depth + 1)
        return None if found is None else found - step
    return bound(start, var, known, side, depth + 1)


def _bound_of_sum(
    rhs: ir.Rhs, var: str | None, known: Known, side: int, depth: int
) -> int | None:
    """A bound of `a + c`, `c + a` or `a - c` with a literal c."""
    if isinstance(rhs, (ir.Name, ir.Const)):
        return bound(rhs, var, known, side, depth + 1)
    if not isinstance(rhs, ir.Call) or rhs.fn not in (operator.add, operator.sub):
        return None
    a, b = rhs.args
    if rhs.fn is operator.add and isinstance(a, ir.Const):
        a, b = b, a
    if not isinstance(b, ir.Const) or type(b.value) is not int:
        return None
    found = bound(a, var, known, side, depth + 1)
    if found is None:
        return None
    return found + b.value if rhs.fn is operator.add else found - b.value
