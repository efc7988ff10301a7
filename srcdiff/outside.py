"""Arrays and containers from outside, written into under a name and read by themselves.

What is stored into one has its derivative under the name alone: another mention of the same object
would be a constant, and so would one of a later iteration.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Iterator, Mapping

import numpy as np

from srcdiff import ir
from srcdiff.analyses.activity import Edges, reachable
from srcdiff.analyses.aliases import Aliases
from srcdiff.analyses.effects import mutated_args
from srcdiff.analyses.kind_types import Kind
from srcdiff.errors import UnsupportedError


def check_outside(
    function: ir.Function,
    kinds: Mapping[str, Kind],
    inputs: tuple[str, ...],
    found: Edges,
    shared: Aliases,
) -> None:
    """Refuse stores of values with a derivative into what is from outside and has two mentions."""
    refs = {id(r.value): r for s in ir.walk(function.body) for r in _mutable(s)}
    if not refs:
        return
    names = _bound(function.body, shared)
    counts = _counted(function.body, False)
    varied = reachable(inputs, found)
    for stmt in ir.walk(function.body):
        for base in _written(stmt, kinds):
            for key in names.get(shared.classes.get(base, base), ()) if base in varied else ():
                if counts[key] > 1:
                    raise UnsupportedError(
                        f"a store into {ir.said(refs[key].text)}, which is not local to the "
                        "function and is read elsewhere",
                        stmt.loc,
                        remedy="Pass it as an argument.",
                    )


def _mutable(stmt: ir.Stmt) -> Iterator[ir.Ref]:
    """The arrays and containers from outside that a statement mentions itself."""
    for operand in ir.operands(stmt):
        yield from _mutable_in(operand)


def _mutable_in(rhs: ir.Rhs) -> Iterator[ir.Ref]:
    for atom in ir.atoms(rhs):
        if isinstance(atom, ir.Ref) and isinstance(atom.value, (np.ndarray, list, dict)):
            yield atom


def _bound(block: ir.Block, shared: Aliases) -> dict[str, set[int]]:
    """What from outside the names of a class of memory may stand for, or be a view of."""
    out: dict[str, set[int]] = {}
    for stmt in ir.walk(block):
        if isinstance(stmt, ir.Assign):
            name = shared.classes.get(stmt.target.id, stmt.target.id)
            for ref in _mutable_in(stmt.rhs) if _is_part(stmt.rhs) else ():
                out.setdefault(name, set()).add(id(ref.value))
    return out


def _is_part(rhs: ir.Rhs) -> bool:
    """Whether a value is that of one operand, or an item or a slice of it."""
    if not isinstance(rhs, ir.Call):
        return isinstance(rhs, ir.Ref)
    return rhs.fn is operator.getitem and isinstance(rhs.args[1], (ir.Const, ir.Slice))


def _counted(block: ir.Block, repeated: bool) -> Counter[int]:
    """How often each is mentioned; in a loop, more than once."""
    out: Counter[int] = Counter()
    for stmt in block:
        for ref in _mutable(stmt):
            out[id(ref.value)] += 2 if repeated else 1
        for inner in ir.blocks(stmt):
            out += _counted(inner, repeated or isinstance(stmt, (ir.For, ir.While)))
    return out


def _written(stmt: ir.Stmt, kinds: Mapping[str, Kind]) -> tuple[str, ...]:
    """The names that a statement writes into."""
    if isinstance(stmt, ir.SetItem):
        return (stmt.base.id,)
    call = ir.call_of(stmt)
    written = () if call is None else mutated_args(call, kinds)
    return tuple(n for a in written for n in ir.names(a))
