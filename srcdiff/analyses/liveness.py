"""Which names may still be read: after every statement of a function.

A name is live after a statement if some path from there reads it before binding it again.  Lists
and arrays are named by what they are bound to: a store or a method reads the name and binds none.
"""

from __future__ import annotations

from collections.abc import Mapping

from srcdiff import ir

Names = frozenset[str]


def liveness(function: ir.Function) -> Mapping[int, Names]:
    """The names live after each statement, by the `id` of the statement (joined where shared)."""
    found: dict[int, Names] = {}
    _block(function.body, frozenset(), found)
    return found


def live_after(function: ir.Function, stmt: ir.Stmt) -> Names:
    """The names that are live after a statement of a function (the object itself)."""
    found = function.__dict__.get("_liveness")
    if found is None:
        # Remembered beside the fields: a frozen function keeps its statements.
        found = function.__dict__["_liveness"] = liveness(function)
    after: Names = found[id(stmt)]
    return after


def live_before(block: ir.Block, live_out: Names) -> Names:
    """The names that are live before a block if `live_out` are live after it."""
    return _block(block, live_out, {})


def live_out_sets(block: ir.Block, live_out: Names) -> tuple[Names, ...]:
    """The names live after each statement of a block itself."""
    found: dict[int, Names] = {}
    _block(block, live_out, found)
    return tuple(found[id(s)] for s in block)


def _block(block: ir.Block, live: Names, found: dict[int, Names]) -> Names:
    """The names live before a block; records those after each of its statements."""
    for stmt in reversed(block):
        found[id(stmt)] = found.get(id(stmt), frozenset()) | live
        live = _stmt(stmt, live, found)
    return live


def _stmt(stmt: ir.Stmt, live: Names, found: dict[int, Names]) -> Names:
    """The names live before a statement."""
    if isinstance(stmt, ir.If):
        one, other = _block(stmt.body, live, found), _block(stmt.orelse, live, found)
        return one | other | frozenset(ir.names(stmt.test))
    if isinstance(stmt, ir.For):
        return _for(stmt, live, found) | frozenset(ir.names(stmt.iter))
    if isinstance(stmt, ir.While):
        return _while(stmt, live, found)
    if isinstance(stmt, ir.Pair):
        inner = (*(() if stmt.primal is None else (stmt.primal,)), *stmt.adjoint)
        return _block(inner, live, found)
    if isinstance(stmt, (ir.Accum, ir.Demand)):
        # They add to what the target holds, so they read it.
        return live | frozenset((*ir.reads(stmt), stmt.target.id))
    return live.difference(ir.writes(stmt)).union(reads_of(stmt))


def _for(stmt: ir.For, live: Names, found: dict[int, Names]) -> Names:
    """The names live at the head of a `for`, which may run not at all."""
    stop = _stop(stmt)
    head = live | found.get(-id(stmt), frozenset())
    while True:
        before = _block(stmt.body, head | stop, found) - {stmt.target.id}
        if before <= head:
            found[-id(stmt)] = head
            return head
        head |= before


def _while(stmt: ir.While, live: Names, found: dict[int, Names]) -> Names:
    """The names live before a `while`, whose condition runs at least once."""
    stop, test = _stop(stmt), frozenset(ir.names(stmt.test))
    head: Names = found.get(-id(stmt), frozenset())
    while True:
        body = _block(stmt.body, head | live | stop, found)
        before = _block(stmt.cond, body | live | test, found)
        if before <= head:
            found[-id(stmt)] = head
            return head
        head |= before


def _stop(stmt: ir.For | ir.While) -> Names:
    """The flag that is read after each iteration."""
    return frozenset() if stmt.stop is None else frozenset((stmt.stop.id,))


def names_in(rhs: ir.Rhs) -> tuple[str, ...]:
    """The names that an atom or right-hand side reads, as often as they occur (fast)."""
    return ir.occurrences(rhs)


def reads_of(stmt: ir.Stmt) -> tuple[str, ...]:
    """The names that a statement itself reads, as often as they occur (fast)."""
    if type(stmt) is ir.Assign:
        return ir.occurrences(stmt.rhs)
    return tuple([n for operand in ir.operands(stmt) for n in ir.occurrences(operand)])


def uses(block: ir.Block) -> list[str]:
    """Every read of a name in a block, as often as it occurs, tests and stop flags included."""
    found: list[str] = []
    for stmt in ir.walk(block):
        found += reads_of(stmt)
        if type(stmt) in ir.PLAIN:
            continue
        if isinstance(stmt, ir.While):
            found += ir.names(stmt.test)
        if isinstance(stmt, (ir.For, ir.While)) and stmt.stop is not None:
            found.append(stmt.stop.id)
    return found


def mentioned(stmt: ir.Stmt) -> set[str]:
    """Every name that a statement reads or binds, inner blocks included."""
    if type(stmt) in ir.PLAIN:
        return {*reads_of(stmt), *ir.writes(stmt)}
    found = set(uses((stmt,)))
    for inner in ir.walk((stmt,)):
        found.update(ir.writes(inner))
    return found
