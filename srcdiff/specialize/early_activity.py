"""Which calls that are written out before kinds are known meet a derivative.

What they make may be an object (`CubicSpline(x, y)`), which matters where it is made of something
that depends on an input, or where such a thing meets it later: in a call of it, or of a method.
Everything else may stay as it is, with all that SciPy's own object can do.  Where more than that
is found to matter nothing is lost; what is missed is refused by `check_callees`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator

from srcdiff import ir
from srcdiff.analysis.activity import edges, reachable
from srcdiff.analysis.aliases import Aliases
from srcdiff.analysis.links import links_of, reached
from srcdiff.frontend.lowering import flows
from srcdiff.primitives.effects import makes_object
from srcdiff.primitives.operation import op_of


def met_calls(
    function: ir.Function, inputs: Iterable[str], wanted: Callable[[ir.Call | None], bool]
) -> list[ir.Call]:
    """Those of the wanted calls that meet something that depends on an input."""
    changing = varied(function, inputs)
    found: list[ir.Call] = []
    for stmt in ir.walk(function):
        call = ir.call_of(stmt)
        if call is None or not wanted(call):
            continue
        made = frozenset(ir.writes(stmt))
        if not changing.isdisjoint(ir.names(call)) or _meets(function, made, changing):
            found.append(call)
    return found


def varied(function: ir.Function, inputs: Iterable[str]) -> frozenset[str]:
    """The names that may depend on an input, or share memory with what does."""
    found = edges(function.body, {}, Aliases(), flows)
    for stmt in ir.assignments(function):
        if isinstance(stmt.rhs, ir.Opaque):
            found += [(n, stmt.target.id, stmt) for n in ir.names(stmt.rhs)]
    for link in links_of(function.body, {}, function.target.on_device):
        found.append((link.target, link.source, link.stmt))
    return reachable(inputs, found)


def _meets(function: ir.Function, made: frozenset[str], varied: frozenset[str]) -> bool:
    """Whether an object, or what holds it, is called together with what depends on an input."""
    steps = (step for s in ir.walk(function) for step in _steps(s))
    named = {n for n, how in reached([(n, "is") for n in made], steps) if how == "is"}
    calls = (set(ir.reads(s)) for s in ir.walk(function) if _computes(s))
    return any(not named.isdisjoint(c) and not varied.isdisjoint(c) for c in calls)


def _steps(stmt: ir.Stmt) -> Iterator[tuple[tuple[str, str], tuple[str, str]]]:
    """Which names are an object or what holds it, and which are the latter, if others are."""
    both = ("is", "holds")
    rhs = stmt.rhs if isinstance(stmt, ir.Assign) else None
    if isinstance(rhs, ir.Name):
        yield from (((rhs.id, how), (n, how)) for how in both for n in ir.writes(stmt))
    elif not _computes(stmt):
        read = isinstance(ir.callee_of(stmt), ir.Attr)  # of the object itself, it is a value
        sources = [(n, "holds" if read else "is") for n in ir.reads(stmt)]
        targets = itertools.product((*ir.writes(stmt), *_written(stmt)), both)
        yield from itertools.product(sources, targets)


def _written(stmt: ir.Stmt) -> tuple[str, ...]:
    """What a store or a call that holds its arguments puts something into."""
    if isinstance(stmt, ir.Store):
        return (stmt.base.id,)
    call = ir.call_of(stmt) if isinstance(stmt, ir.Effect) else None
    return ir.names(call.args[0]) if call is not None and call.args else ()


def _computes(stmt: ir.Stmt) -> bool:
    """Whether a statement may compute with an object, and not only hold it."""
    fn = ir.callee_of(stmt)
    if fn is None or isinstance(fn, ir.Attr):
        return False
    return not op_of(fn).holds and not makes_object(fn)
