"""Arrays that constant sparse matrices keep, and that are written into afterwards: refused.

A sparse matrix shares memory with the arrays that it is made of, which the alias analysis does not
know: what it knows is where arrays are written that a matrix was made of before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from srcdiff import ir
from srcdiff.analysis.links import groups, links_of
from srcdiff.errors import UnsupportedError
from srcdiff.ir.frozen import frozen
from srcdiff.ir.kinds import UNKNOWN, Kinds, Scalar, is_container
from srcdiff.kinds.matrices import class_made, holds_sparse
from srcdiff.primitives.effects import mutated_args
from srcdiff.runtime.scipy import sparse


@frozen
class _Event:
    """A statement, when it comes, and the loops around it."""

    stmt: ir.Stmt
    order: int
    loops: tuple[ir.Stmt, ...]


def check_kept(function: ir.Function, kinds: Kinds, apart: frozenset[str]) -> None:
    """Refuse writes into what matrices keep; the entries of those in `apart` stand beside them.

    Raises:
        UnsupportedError: an array is written into after a matrix has been made of it.
    """
    events = list(_events(function.body))
    made = [e for e in events if class_made(getattr(ir.call_of(e.stmt), "fn", None))]
    if not made:
        return
    plain = _used_plainly(function, kinds) - apart
    made = [e for e in made if plain & {*ir.writes(e.stmt)}]
    same = groups(links_of(function.body, kinds, False))
    written = [(same.get(n, n), e) for e in events for n in _written(e.stmt, kinds)]
    for event in made:
        kept = {same.get(n, n) for n in (*ir.reads(event.stmt), *ir.writes(event.stmt))}
        for group, write in written:
            if group in kept and _may_follow(write, event, group, same, events):
                raise UnsupportedError(
                    "a sparse matrix keeps the arrays that it is made of, and one of them is "
                    "written into afterwards",
                    event.stmt.loc,
                    "Make the matrix of a copy, `data.copy()`.",
                )


def _used_plainly(function: ir.Function, kinds: Kinds) -> frozenset[str]:
    """The matrices of which not only the places of the entries are used."""
    read: set[str] = set()
    derived: list[tuple[str, tuple[str, ...]]] = []
    for stmt in ir.walk(function.body):
        found = tuple(n for n in ir.reads(stmt) if holds_sparse(kinds.get(n, UNKNOWN)))
        targets = [*ir.writes(stmt), *(found if isinstance(stmt, ir.Effect) else ())]
        targets = [n for n in targets if holds_sparse(kinds.get(n, UNKNOWN))]
        derived += [(target, found) for target in targets]
        if not targets and not _of_places(stmt):
            read |= {*found}
    for _ in derived:
        read |= {n for target, found in derived if target in read for n in found}
    return frozenset(read)


def _of_places(stmt: ir.Stmt) -> bool:
    """Whether a statement calls a function that takes the entries beside a matrix."""
    fn = getattr(ir.call_of(stmt), "fn", None)
    return getattr(fn, "__module__", "") == sparse.__name__


def _events(block: ir.Block) -> Iterator[_Event]:
    stmts = enumerate(ir.walk_in_loops(block))
    return (_Event(stmt, order, loops) for order, (stmt, loops) in stmts)


def _written(stmt: ir.Stmt, kinds: Kinds) -> tuple[str, ...]:
    """The arrays and matrices that a statement writes into."""
    if isinstance(stmt, ir.SetItem):
        return () if is_container(kinds.get(stmt.base.id, UNKNOWN)) else (stmt.base.id,)
    call = ir.call_of(stmt)
    if call is None:
        return ()
    if call.role is ir.Role.IN_PLACE and isinstance(call.args[0], ir.Name):
        return () if isinstance(kinds.get(call.args[0].id), Scalar) else (call.args[0].id,)
    if not isinstance(stmt, ir.Effect):
        return ()
    found = [n for a in mutated_args(call, kinds) for n in ir.names(a)]
    return tuple(n for n in found if not is_container(kinds.get(n, UNKNOWN)))


def _may_follow(
    write: _Event, made: _Event, group: str, same: Mapping[str, str], events: list[_Event]
) -> bool:
    """Whether a write may come after a matrix was made, of an array that is not made anew."""
    if write.order > made.order:
        return True
    around = [loop for loop in made.loops if any(loop is other for other in write.loops)]
    if not around:
        return False
    anew = [
        e for e in events
        if any(same.get(n, n) == group for n in ir.writes(e.stmt)) and e.order < write.order
    ]  # fmt: skip
    return not all(any(loop is around[-1] for loop in e.loops) for e in anew) or not anew
