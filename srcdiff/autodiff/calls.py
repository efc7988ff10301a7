"""Calls of Python functions that stay calls: of a function in itself.

`call_adjoint` turns an active one, which `marks` has marked, into a call of the function's forward
part, and, on the way down, of its backward part; the pipeline generates both, once for each
combination of kinds and active parameters.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from srcdiff import ir
from srcdiff.analysis.facts import Facts
from srcdiff.errors import UnsupportedError
from srcdiff.frontend.lowering import Lifted
from srcdiff.ir.kinds import UNKNOWN, Dict, Kind, List, Scalar, Tuple, is_numeric
from srcdiff.normalize.summaries.assumed import Key, is_user_call
from srcdiff.primitives.views import is_array
from srcdiff.runtime import layout, trees
from srcdiff.runtime.arrays import with_slope
from srcdiff.runtime.together import kept_together


def call_adjoint(stmt: ir.Assign, facts: Facts) -> ir.Block:
    """An active call as pairs: the forward part runs; its backward part is the adjoint."""
    call = stmt.rhs
    assert isinstance(call, ir.Call) and isinstance(call.fn, ir.Derived)
    key = call.fn.key.within(facts.complex)
    params = [name for name, _ in key.kinds]
    active = [p for p, a in zip(params, call.args) if any(n in facts.active for n in ir.names(a))]
    kinds = dict(key.kinds)
    gradients = Tuple(tuple(_gradient_kind(kinds[p]) for p in active))
    there = replace(key, active=tuple(active), result=Tuple((key.result, UNKNOWN)))
    back = replace(key, active=tuple(active), result=gradients)
    both, kept = facts.fresh("_both"), facts.fresh(f"{call.fn.name}_residuals")
    loc = stmt.loc
    copies, args = _own_arguments(call, facts, loc)
    forward = ir.Call(ir.Derived(call.fn.name, "forward", there), args)
    grads = facts.fresh("_grads")
    d_target = facts.adjoint(stmt.target.id)
    backward = ir.Call(ir.Derived(call.fn.name, "backward", back), (kept, d_target))
    given = [call.args[params.index(p)] for p in active]
    taken = gradients_taken(grads, given, facts, loc)
    adjoint = (ir.Assign(grads, backward, loc), ir.Reset(d_target, loc), *taken)
    if key.returned or key.taken or not _may_be_written(stmt.target.id, key, facts):
        return (*copies, *paired_parts(stmt, forward, both, kept, adjoint))
    # What is kept for the backward part may hold the value that is written into from here on.
    result = facts.fresh(f"_{stmt.target.id.lstrip('_')}")
    copy = replace(_copy(stmt.target.id, facts), args=(result,))
    copy = replace(copy, fn=kept_together) if key.together else copy
    own = ir.Pair(ir.Assign(stmt.target, copy, loc), adjoint, loc)
    return (*copies, *paired_parts(replace(stmt, target=result), forward, both, kept, ()), own)


def _may_be_written(name: str, key: Key, facts: Facts) -> bool:
    """Whether something may write into what a call returns, or into a part of it."""
    if name in facts.aliases.classes or key.written:
        return True
    kind = facts.kinds.get(name, UNKNOWN)
    return bool(facts.aliases.classes) and not is_numeric(kind)


def gradients_taken(
    grads: ir.Name, given: Sequence[ir.Atom], facts: Facts, loc: ir.Loc
) -> Iterator[ir.Stmt]:
    """Statements that add the gradients of a call to the adjoints of what it was given."""
    for k, atom in enumerate(given):
        assert isinstance(atom, ir.Name)
        piece = facts.fresh()
        yield ir.Assign(piece, item_of(grads, k, len(given)), loc)
        yield ir.Accum(facts.adjoint(atom.id), piece, atom, loc)


def paired_parts(
    stmt: ir.Assign, forward: ir.Call, both: ir.Name, kept: ir.Name, adjoint: ir.Block
) -> ir.Block:
    """A call whose forward part gives the value and what is kept, as pairs."""
    loc = stmt.loc
    return (
        ir.Pair(ir.Assign(both, forward, loc), (), loc),
        ir.Pair(ir.Assign(kept, item_of(both, 1), loc), (), loc),
        ir.Pair(ir.Assign(stmt.target, item_of(both, 0), loc), adjoint, loc),
    )


def _own_arguments(
    call: ir.Call, facts: Facts, loc: ir.Loc
) -> tuple[ir.Block, tuple[ir.Atom, ...]]:
    """Copies of the arguments that somebody writes into: residuals may hold them for long."""
    assert isinstance(call.fn, ir.Derived)
    key: Key = call.fn.key
    lent = [a for (p, _), a in zip(key.kinds, call.args) if p not in key.written]
    names = [n for a in lent for n in ir.names(a) if n in facts.aliases.classes]
    new = {n: facts.fresh(f"_{n.lstrip('_')}") for n in names}
    copies = tuple(
        ir.Pair(ir.Assign(copy, _copy(n, facts), loc), (), loc) for n, copy in new.items()
    )
    return copies, tuple(ir.map_atom(lambda n: new.get(n.id, n), a) for a in call.args)


def _copy(name: str, facts: Facts) -> ir.Call:
    """A copy of a variable that lies in memory as it does."""
    array = is_array(facts.kinds.get(name))
    return ir.Call(layout.laid_copy if array else trees.kept, (ir.Name(name),))


def _gradient_kind(kind: Kind) -> Kind:
    """The kind of the gradient of an argument: its numbers are those of Python or of NumPy."""
    if isinstance(kind, (Tuple, List, Dict)):
        item = None if kind.item is None else _gradient_kind(kind.item)
        if isinstance(kind, Dict):
            known = tuple((k, _gradient_kind(v)) for k, v in kind.items)
            return replace(kind, items=known, item=item)
        items = None if kind.items is None else tuple(map(_gradient_kind, kind.items))
        return replace(kind, items=items, item=item)
    return Scalar(kind.dtype, None) if isinstance(kind, Scalar) else kind


def item_of(base: ir.Name, k: int, of: int = 2) -> ir.Call:
    """One of several things that a call gives."""
    return ir.Call(operator.getitem, (base, ir.Const(k)), text=f"item of {of}")


def unmarked(block: ir.Block) -> ir.Block:
    """A block whose marked calls that have no derivative are plain calls again.

    A value with another slope than its own is itself again.
    """
    out: list[ir.Stmt] = []
    for stmt in block:
        if isinstance(stmt, ir.Assign) and getattr(stmt.rhs, "fn", None) is with_slope:
            stmt = replace(stmt, rhs=stmt.rhs.args[0])  # type: ignore[union-attr]
        if isinstance(stmt, (ir.Assign, ir.Effect)) and is_user_call(stmt.rhs):
            call: Any = stmt.rhs
            if not isinstance(call.fn.key.function, Lifted):  # that has no name of its own
                stmt = replace(stmt, rhs=_primal_call(call))
            elif call.fn.key.written:
                raise UnsupportedError(
                    f"the nested recursive function `{call.fn.name}` writes into an argument",
                    stmt.loc,
                    remedy="Move it out of the function.",
                )
        out.append(ir.map_blocks(stmt, unmarked))
    return tuple(out)


def _primal_call(call: ir.Call) -> ir.Call:
    """A marked call as one of the function itself, on copies of what that writes into."""
    assert isinstance(call.fn, ir.Derived)
    key: Key = call.fn.key
    if not key.written:
        return replace(call, fn=key.function)
    at = [k for k, (p, _) in enumerate(key.kinds) if p in key.written]
    fn = ir.Ref(call.text or call.fn.name, key.function)
    return ir.Call(trees.on_copies, (fn, ir.Tup(tuple(map(ir.Const, at))), *call.args))
