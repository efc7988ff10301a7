"""Iterators of which a loop may leave some items to whoever looks at them next.

A loop here takes all items of an iterator at its beginning.  That is the same as long as it comes
to its end, or nobody else looks.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from srcdiff import ir
from srcdiff.errors import UnsupportedError
from srcdiff.ir.kinds import Kind, Object

_MAKERS: tuple[Any, ...] = (
    iter, map, filter, zip, enumerate, reversed, itertools.chain, itertools.islice,
    itertools.accumulate, itertools.takewhile, itertools.dropwhile, itertools.cycle,
)  # fmt: skip


def check_left(
    loop: ir.For,
    bases: Sequence[ir.Atom],
    before: Sequence[ir.Stmt],
    whole: ir.Function,
    kinds: Mapping[str, Kind],
    marked: Callable[[ir.Stmt], bool],
) -> None:
    """Refuse a loop that may leave items in an iterator which somebody else may look at.

    `bases` are what it runs over, `before` the statements before it in its block; `marked` says
    which statements take the items of a loop.
    """
    if loop.stop is None and not _is_shorter(loop, before):
        return
    for base in dict.fromkeys(bases):
        if isinstance(base, ir.Name) and _is_iterator(base.id, whole, kinds):
            if _is_elsewhere(base, before, whole, marked):
                raise UnsupportedError(
                    f"a loop may leave items in the iterator {ir.said(base.id)}, which is looked "
                    "at elsewhere too",
                    loop.loc,
                    remedy="Make a list of its items first: `xs = list(it)`.",
                )


def _is_shorter(loop: ir.For, before: Sequence[ir.Stmt]) -> bool:
    """Whether a loop ends with the shortest of several sequences."""
    count = ir.names(loop.iter)
    made = (s.rhs for s in before if isinstance(s, ir.Assign) and s.target.id in count)
    return any(isinstance(rhs, ir.Call) and rhs.fn is min for rhs in made)


def _is_iterator(name: str, whole: ir.Function, kinds: Mapping[str, Kind]) -> bool:
    """Whether a name may stand for an iterator, as far as the function shows."""
    given: dict[str, list[ir.Rhs]] = {}
    for stmt in ir.walk(whole.body):
        if isinstance(stmt, ir.Assign):
            given.setdefault(stmt.target.id, []).append(stmt.rhs)
    names = [name]
    for n in names:  # it grows
        kind = kinds.get(n)
        if isinstance(kind, Object) and hasattr(type(kind.value), "__next__"):
            return True
        for rhs in given.get(n, ()):
            if isinstance(rhs, ir.Call) and any(rhs.fn is fn for fn in _MAKERS):
                return True
            if isinstance(rhs, ir.Name) and rhs.id not in names:
                names.append(rhs.id)
    return False


def _is_elsewhere(
    base: ir.Name,
    before: Sequence[ir.Stmt],
    whole: ir.Function,
    marked: Callable[[ir.Stmt], bool],
) -> bool:
    """Whether anybody but one loop may look at an iterator."""
    length = ir.Call(len, (base,))
    reads = [s for s in ir.walk(whole.body) if base.id in ir.reads(s)]
    loops = [s for s in ir.walk(whole.body) if isinstance(s, ir.For)]
    taking = sum(any(marked(s) and base.id in ir.reads(s) for s in f.body) for f in loops)
    other = (s for s in reads if not marked(s) and getattr(s, "rhs", None) != length)
    new = any(isinstance(s, ir.Assign) and s.target == base for s in before)
    return not new or taking > 1 or any(other)
