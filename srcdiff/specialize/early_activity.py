"""Which calls that are written out before kinds are known meet a derivative.

What they make may be an object (`CubicSpline(x, y)`), which matters where it is made of something
that depends on an input, or where such a thing meets it later: in a call of it, or of a method.
Everything else may stay as it is, with all that SciPy's own object can do.  Where more than that
is found to matter nothing is lost; what is missed is refused by `check_callees`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from srcdiff import ir
from srcdiff.analysis.activity import edges, reachable
from srcdiff.analysis.aliases import Aliases
from srcdiff.analysis.links import links_of
from srcdiff.frontend.lowering import flows
from srcdiff.primitives.effects import makes_object
from srcdiff.primitives.ops import Op, is_op

_HOLDING = (Op.MAKE_LIST, Op.MAKE_DICT, Op.SET_ATTR, Op.GETITEM, Op.LIST, Op.TUPLE, Op.DICT)


def met_calls(
    function: ir.Function, inputs: Iterable[str], wanted: Callable[[ir.Call | None], bool]
) -> list[ir.Call]:
    """Those of the wanted calls that meet something that depends on an input."""
    changing = varied(function, inputs)
    found: list[ir.Call] = []
    for stmt in ir.walk(function.body):
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
    for stmt in ir.walk(function.body):
        if isinstance(stmt, ir.Assign) and isinstance(stmt.rhs, ir.Opaque):
            found += [(n, stmt.target.id, stmt) for n in ir.names(stmt.rhs)]
    for link in links_of(function.body, {}, False):
        found.append((link.target, link.source, link.stmt))
    return reachable(inputs, found)


def _meets(function: ir.Function, made: frozenset[str], varied: frozenset[str]) -> bool:
    """Whether an object, or what holds it, is called together with what depends on an input."""
    named, held = set(made), set[str]()
    before = -1
    while len(named) + len(held) > before:
        before = len(named) + len(held)
        for stmt in ir.walk(function.body):
            _follow(stmt, named, held)
    calls = [c for s in ir.walk(function.body) if (c := _used(s)) is not None]
    every = named | held
    return any(not every.isdisjoint(c) and not varied.isdisjoint(c) for c in calls)


def _follow(stmt: ir.Stmt, named: set[str], held: set[str]) -> None:
    """Add the names that a statement gives an object, and those of what holds it."""
    rhs = stmt.rhs if isinstance(stmt, (ir.Assign, ir.Effect)) else None
    reads = set(ir.reads(stmt))
    if isinstance(rhs, ir.Name):
        if rhs.id in named:
            named.update(ir.writes(stmt))
        if rhs.id in held:
            held.update(ir.writes(stmt))
    elif isinstance(rhs, ir.Call) and isinstance(rhs.fn, ir.Attr):
        if reads & held:  # of the object itself, it is a value
            named.update(ir.writes(stmt))
            held.update(ir.writes(stmt))
    elif reads & (named | held) and not isinstance(stmt, (ir.Return, ir.If, ir.While)):
        if _used(stmt) is None:
            named.update(n for n in ir.writes(stmt) if rhs is not None)
            held.update({*ir.writes(stmt), *_written(stmt)})


def _written(stmt: ir.Stmt) -> tuple[str, ...]:
    """What a store or a call that holds its arguments puts something into."""
    if isinstance(stmt, ir.SetItem):
        return (stmt.base.id,)
    call = ir.call_of(stmt) if isinstance(stmt, ir.Effect) else None
    return ir.names(call.args[0]) if call is not None and call.args else ()


def _used(stmt: ir.Stmt) -> frozenset[str] | None:
    """The names in a call that may compute with an object; None of one that only holds it."""
    call = ir.call_of(stmt)
    if call is None or isinstance(call.fn, ir.Attr):
        return None
    if is_op(call, *_HOLDING) or makes_object(call.fn):
        return None
    if isinstance(call.fn, ir.Method) and call.fn.name in ("append", "extend", "insert"):
        return None
    callee = {call.fn.id} if isinstance(call.fn, ir.Name) else set()
    return frozenset({*callee, *ir.names(call)})
