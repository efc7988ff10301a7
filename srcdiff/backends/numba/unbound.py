"""Names that have no value at first, with values that Numba can give a type.

A name that is bound in a branch, and saved before that, starts as None in a gradient: nobody looks
at it.  Takes a function and the kinds of its parameters; gives it with an empty array for that None
where each use of the name would fail with None, and asks for the name where Python would fail.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from srcdiff import ir
from srcdiff.analysis.liveness import maybe_unbound
from srcdiff.ir.frozen import replace
from srcdiff.kinds.interpreter import infer
from srcdiff.primitives.operation import Meaning, op_of
from srcdiff.primitives.ops import Op, is_op


def with_first_values(function: ir.Function, params: ir.Kinds) -> ir.Function:
    """A function whose arrays are arrays from the start."""
    if not any(map(_is_none, function.body)):
        return function
    kinds = {**params, **infer(function, params)}
    uses = _Uses(function)
    body = tuple(
        _first(s, kinds[s.target.id])
        if type(s) is ir.Assign and _is_none(s) and uses.fail(s.target.id, kinds)
        else s
        for s in function.body
    )
    return ir.rebuilt(function, body=body)


def unbound_reads(function: ir.Function) -> Mapping[int, frozenset[str]]:
    """The names that a statement, by its `id`, reads and that may have no value there.

    What only keeps a value for the way back may keep none.
    """
    body = tuple(s for s in function.body if not is_first(s))
    found = maybe_unbound(ir.rebuilt(function, body=body))
    if len(body) == len(function.body):
        return found
    early = {n for s in function.body if is_first(s) for n in ir.writes(s)}
    uses = _Uses(function)
    kept = {id(s) for n in early for s in uses.reading.get(n, ()) if uses.keeps(s)}
    return {k: v - early if k in kept else v for k, v in found.items()}


def is_first(stmt: ir.Stmt) -> bool:
    """Whether a statement makes what a name stands for that has no value yet."""
    call = ir.call_of(stmt)
    return call is not None and call.role is ir.Role.UNBOUND


def _is_none(stmt: ir.Stmt) -> bool:
    return type(stmt) is ir.Assign and stmt.rhs == ir.NONE


def _first(stmt: ir.Assign, kind: ir.Kind) -> ir.Assign:
    """The statement with an empty array of the dtype and rank that the name will have."""
    assert isinstance(kind, ir.Maybe)
    shape = ir.Tup((ir.Const(0),) * (ir.rank_of(kind.kind) or 0))
    single = ir.dtype_of(kind.kind) == "complex128"
    dtype = (ir.Ref("np.complex128", np.complex128),) if single else ()
    return replace(stmt, rhs=ir.Call(np.empty, (shape, *dtype), role=ir.Role.UNBOUND))


class _Uses:
    """The statements that read each name."""

    def __init__(self, function: ir.Function) -> None:
        statements = ir.walk(function.body)
        back = next((k for k, s in enumerate(statements) if type(s) is ir.Backward), None)
        self.behind = set() if back is None else {id(s) for s in statements[back:]}
        self.reading: dict[str, list[ir.Stmt]] = {}
        for stmt in statements:
            for name in dict.fromkeys(ir.itself_mentions(stmt)):
                self.reading.setdefault(name, []).append(stmt)

    def fail(self, name: str, kinds: ir.Kinds) -> bool:
        """Whether a name stands for arrays but for None, with which no use of it works."""
        kind = kinds.get(name)
        array = kind.kind if isinstance(kind, ir.Maybe) else None
        if type(array) is not ir.Array or not ir.rank_of(array):
            return False
        if ir.dtype_of(array) not in ("float64", "complex128"):
            return False
        return all(self.fails(s, name) or self.keeps(s) for s in self.reading[name])

    def fails(self, stmt: ir.Stmt, name: str) -> bool:
        """Whether a statement binds a name, or computes with what it stands for."""
        if type(stmt) is ir.Assign and stmt.target.id == name and name not in ir.reads(stmt):
            return type(stmt.rhs) is ir.Call or stmt.rhs == ir.NONE
        call = ir.call_of(stmt)
        if type(stmt) is not ir.Assign or call is None or call.kwargs:
            return type(stmt) is ir.AugAssign
        callee = op_of(call.fn)
        compares = callee.means(Meaning.COMPARED) or is_op(call, Op.IS, Op.IS_NOT)
        if is_op(call, Op.GETITEM):
            return call.args[0] == ir.Name(name)
        return not compares and (callee.is_elementwise or callee.means(Meaning.PRODUCT))

    def keeps(self, stmt: ir.Stmt) -> bool:
        """Whether a statement keeps a value for the way back, asks for its form, or copies it."""
        if type(stmt) is ir.Effect:
            return is_op(stmt.rhs, Op.APPEND) and self.is_tape(stmt.rhs.args[0])
        if type(stmt) is not ir.Assign:
            return False
        if is_op(stmt.rhs, Op.ZEROS_LIKE):
            return id(stmt) in self.behind
        others = (s for s in self.reading[stmt.target.id] if s is not stmt)
        saved = all(type(s) is ir.Effect and self.keeps(s) for s in others)
        return is_op(stmt.rhs, Op.COPY) and saved

    def is_tape(self, atom: ir.Atom) -> bool:
        """Whether a list takes values on the way forward and gives them on the way back alone."""
        for stmt in self.reading.get(atom.id, ()) if type(atom) is ir.Name else ():
            call = ir.call_of(stmt)
            pops = is_op(call, Op.POP) and id(stmt) in self.behind
            if not (pops or is_op(call, Op.APPEND, Op.MAKE_LIST)):
                return False
        return type(atom) is ir.Name
