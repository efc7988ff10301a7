"""Names that have no value at first, with values that Numba can give a type.

A name that is bound in a branch, and saved before that, starts as None in a gradient: nobody looks
at it.  Takes a function and the kinds of its parameters; gives it with an empty array for that None
where each use of the name would fail with None, and asks for the name where Python would fail.
So has a list of saved values none to which nothing was saved, and Numba is not given an empty one.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Container, Mapping, Sequence

import numpy as np

from srcdiff import ir
from srcdiff.analysis.liveness import maybe_unbound
from srcdiff.ir.builder import Builder
from srcdiff.ir.frozen import replace
from srcdiff.kernels.loop_nests import dtype_atoms
from srcdiff.kinds.calls import atom_kind
from srcdiff.kinds.interpreter import infer
from srcdiff.kinds.lattice import join
from srcdiff.primitives.operation import Meaning, op_of
from srcdiff.primitives.ops import Op, is_op

_NEW = ir.Call(ir.make_list)
_ZEROS = {"float64": 0.0, "int64": 0, "bool": False, "complex128": 0j}


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


def with_items(function: ir.Function, params: ir.Kinds, popped: Sequence[int]) -> ir.Function:
    """A forward part of which each list has an item that it gives back at the places `popped`.

    The backward part takes as many values as were saved, and so never that item.
    """
    if not popped:
        return function
    *body, last = function.body
    assert type(last) is ir.Return and type(last.value) is ir.Tup
    kept = last.value.items[1]
    assert type(kept) is ir.Tup
    names = {n for k in popped for n in ir.names(kept.items[k])}
    early = {s.target.id: s for s in body if type(s) is ir.Assign and s.rhs == ir.NONE}
    function = _with_lists(function, names & early.keys())
    kinds = {**params, **infer(function, params)}
    pushes = [c for c in ir.calls(function) if is_op(c, Op.APPEND)]
    b = Builder(ir.Fresh(ir.all_names(function)), last.loc)
    for name in map(ir.Name, sorted(names)):
        pushed = [atom_kind(c.args[1], kinds) for c in pushes if c.args[0] == name]
        item = _some(functools.reduce(join, pushed)) if pushed else None
        if item is not None:
            push = Builder(b.fresh, last.loc)
            push.effect("append", name, push.temp(item))
            none = b.apply(operator.eq, b.apply(len, name), ir.Const(0))
            b.out.append(ir.If(none, tuple(push.out), (), b.loc))
    return ir.rebuilt(function, body=(*function.body[:-1], *b.out, last))


def _with_lists(function: ir.Function, names: Container[str]) -> ir.Function:
    """A function that makes lists at once which are None until a branch is taken."""

    def stmt(s: ir.Stmt) -> ir.Stmt | ir.Block:
        if type(s) is not ir.Assign or s.target.id not in names:
            return s
        if s.rhs == ir.NONE:
            return replace(s, rhs=_NEW)
        return () if s.rhs == _NEW else s

    return ir.replaced_in(function, stmt)


def _some(kind: ir.Kind) -> ir.Rhs | None:
    """A number, or an empty array, of a kind; None where it is not known well enough."""
    dtype, rank = ir.dtype_of(kind), ir.rank_of(kind)
    if type(kind) is ir.Scalar and dtype in _ZEROS:
        return ir.Const(_ZEROS[dtype])
    if type(kind) is ir.Scalar and dtype == "float32":
        return ir.Call(np.float32, (ir.Const(0.0),))
    if type(kind) is not ir.Array or kind.maybe_scalar or dtype is None or rank is None:
        return None
    return ir.Call(np.empty, (ir.Tup((ir.Const(0),) * rank), *dtype_atoms(dtype)))


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
        others = [s for s in self.reading[stmt.target.id] if s is not stmt]
        if type(stmt.rhs) is ir.Name:  # loops that ask for the shape
            return all(type(getattr(ir.call_of(s), "fn", None)) is ir.Subroutine for s in others)
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
