"""Values that a program asks the device for: each is asked for once, where the program does.

Takes a function for CuPy arrays and the kinds of its names.  A test that is an array is made a bool
before the branch, and the ends of ranges and slices are made ints, so that the backward part, which branches
and loops in the same way, need not ask again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from srcdiff import ir
from srcdiff.analyses.kind_atoms import atom_kind
from srcdiff.analyses.kind_device import may_be_device
from srcdiff.analyses.kind_types import Kind
from srcdiff.analyses.views import is_array

Kinds = Mapping[str, Kind]


def fetched(function: ir.Function, kinds: Kinds) -> ir.Function:
    """The function with tests and ends of ranges on the host."""
    fresh = ir.Fresh(ir.all_names(function))

    def block(inner: ir.Block) -> ir.Block:
        return tuple(new for s in inner for new in stmt(s))

    def ask(fn: Any, atom: ir.Atom, loc: ir.Loc, out: list[ir.Stmt]) -> ir.Atom:
        if not isinstance(atom, ir.Name) or not may_be_device(atom_kind(atom, kinds)):
            return atom
        out.append(ir.Assign(fresh(), ir.Call(fn, (atom,), text=fn.__name__), loc))
        return out[-1].target  # type: ignore[attr-defined, no-any-return]

    def sliced(atom: ir.Atom, loc: ir.Loc, out: list[ir.Stmt]) -> ir.Atom:
        if isinstance(atom, ir.Tup):
            return ir.Tup(tuple(sliced(a, loc, out) for a in atom.items))
        if not isinstance(atom, ir.Slice):
            return atom
        ends = (atom.lower, atom.upper, atom.step)
        return ir.Slice(*(ask(int, a, loc, out) if is_array(atom_kind(a, kinds)) else a for a in ends))

    def stmt(s: ir.Stmt) -> ir.Block:
        s = ir.map_blocks(s, block)
        before: list[ir.Stmt] = []
        if isinstance(s, ir.If):
            s = replace(s, test=ask(bool, s.test, s.loc, before))
        elif isinstance(s, ir.While):
            test = ask(bool, s.test, s.loc, before)
            return (replace(s, cond=(*s.cond, *before), test=test),)
        elif isinstance(s, ir.Assign) and isinstance(s.rhs, ir.Call):
            args = tuple(sliced(a, s.loc, before) for a in s.rhs.args)
            s = replace(s, rhs=replace(s.rhs, args=args))
        elif isinstance(s, ir.SetItem) and s.index is not None:
            s = replace(s, index=sliced(s.index, s.loc, before))
        elif isinstance(s, ir.For) and isinstance(s.iter, ir.Call) and s.iter.fn is range:
            ends = tuple(ask(int, a, s.loc, before) for a in s.iter.args)
            s = replace(s, iter=replace(s.iter, args=ends))
        return (*before, s)

    return replace(function, body=block(function.body))


def plain_tests(function: ir.Function) -> ir.Function:
    """The function without `bool(...)` around tests that nothing else reads."""
    reads: dict[str, int] = {}
    for stmt in ir.walk(function.body):
        for name in ir.reads(stmt):
            reads[name] = reads.get(name, 0) + 1

    def block(inner: ir.Block) -> ir.Block:
        out: list[ir.Stmt] = []
        for s in (ir.map_blocks(t, block) for t in inner):
            asked = _asked(out[-1]) if out and isinstance(s, ir.If) else None
            if asked is not None and s.test == asked[0] and reads.get(asked[0].id) == 1:
                out.pop()
                s = replace(s, test=asked[1])
            out.append(s)
        return tuple(out)

    return replace(function, body=block(function.body))


def _asked(stmt: ir.Stmt) -> tuple[ir.Name, ir.Atom] | None:
    """The name and the operand of `t = bool(x)`."""
    rhs = stmt.rhs if isinstance(stmt, ir.Assign) else None
    if isinstance(stmt, ir.Assign) and isinstance(rhs, ir.Call) and rhs.fn is bool:
        return stmt.target, rhs.args[0]
    return None
