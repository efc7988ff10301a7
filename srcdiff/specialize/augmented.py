"""`x[i] += f(x)`: Python reads `x[i]` before it calls `f`.

Lowering reads the old item first wherever the value calls a function that may write.  After
inlining `together` sees what the function does: where it writes into nothing but its own arrays
the statement is an operator in place on an item again.
"""

from __future__ import annotations

from dataclasses import replace

from srcdiff import ir
from srcdiff.frontend.lower.targets import OLD
from srcdiff.primitives.effects import is_pure, mutated_args, returns_view


def together(function: ir.Function) -> ir.Function:
    """The function with items read first only where that makes a difference."""
    if not any(_reads_old(s) for s in ir.walk(function.body)):
        return function
    return replace(function, body=_block(function.body))


def _reads_old(stmt: ir.Stmt) -> bool:
    rhs = stmt.rhs if isinstance(stmt, ir.Assign) else None
    return isinstance(rhs, ir.Call) and rhs.text == OLD


def _block(block: ir.Block) -> ir.Block:
    """A block with its reads put back into the stores that they belong to."""
    out = [ir.map_blocks(s, _block) for s in block]
    # From the end, so that inner ones are put together before those around them.
    for start in reversed(range(len(out))):
        end = _end(out, start) if _reads_old(out[start]) else 0
        if end and not _writes(tuple(out[start + 1 : end])):
            operation, store = out[end : end + 2]
            assert isinstance(operation, ir.SetItem) and isinstance(store, ir.SetItem)
            out[end : end + 2] = [replace(store, value=operation.value, op=operation.op)]
            del out[start]
    return tuple(out)


def _end(block: list[ir.Stmt], start: int) -> int:
    """Where the operation on an item that was read stands; the store follows it."""
    read = block[start]
    assert isinstance(read, ir.Assign) and isinstance(read.rhs, ir.Call)
    base, index = read.rhs.args
    for k in range(start + 1, len(block) - 1):
        one, two = block[k], block[k + 1]
        if isinstance(one, ir.SetItem) and one.base == read.target and one.index is None:
            same = isinstance(two, ir.SetItem) and (two.base, two.index) == (base, index)
            return k if same else 0
    return 0


def _writes(inner: ir.Block) -> bool:
    """Whether statements may write into something that they did not make."""
    own = {
        s.target.id for s in ir.walk(inner) if isinstance(s, ir.Assign) and _makes_new(s.rhs)
    } - {s.target.id for s in ir.walk(inner) if isinstance(s, ir.Assign) and not _makes_new(s.rhs)}
    return any(n not in own for s in ir.walk(inner) for n in _written(s))


def _makes_new(rhs: ir.Rhs) -> bool:
    """Whether an expression makes new memory."""
    if not isinstance(rhs, ir.Call):
        return isinstance(rhs, ir.Const)
    return is_pure(rhs.fn) and not returns_view(rhs)


def _written(stmt: ir.Stmt) -> tuple[str, ...]:
    """The names that a statement may write into."""
    if isinstance(stmt, ir.SetItem):
        return (stmt.base.id,)
    call = ir.call_of(stmt)
    if call is None:
        return ()
    if isinstance(call.fn, ir.Name):
        return (call.fn.id,)
    return tuple(n for a in mutated_args(call) for n in ir.names(a))
