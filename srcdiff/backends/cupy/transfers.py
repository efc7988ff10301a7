"""Values that a program asks the device for: each is asked for once, where the program does.

Takes a function for CuPy arrays and the kinds of its names.  A test that is an array is made a
bool before the branch, the ends of ranges and slices are made ints and the operands of `math`
floats, so that the backward part, which branches and loops in the same way, need not ask again.
"""

from __future__ import annotations

from typing import Any

from srcdiff import ir
from srcdiff.ir.builder import Rewriter
from srcdiff.ir.frozen import replace
from srcdiff.kinds.calls import atom_kind, kind_of_call, may_be_device
from srcdiff.kinds.interpreter import infer
from srcdiff.primitives.effects import module_of
from srcdiff.primitives.ops import Op, is_op
from srcdiff.primitives.views import is_array


def fetched(function: ir.Function, params: ir.Kinds) -> ir.Function:
    """The function with tests, ends of ranges and slices, and operands of `math` on the host."""
    return _Fetcher(function, infer(function, params)).function(function)


class _Fetcher(Rewriter):
    """Makes bools, ints and floats of what is asked for; `flags` are only looked at as tests."""

    def __init__(self, function: ir.Function, kinds: ir.Kinds) -> None:
        super().__init__(ir.Fresh(ir.all_names(function)))
        self.kinds = kinds
        self.flags = _flags(function)

    def ask(self, fn: Any, atom: ir.Atom) -> ir.Atom:
        """`fn(atom)`, where that may be an array."""
        if not isinstance(atom, ir.Name) or not may_be_device(atom_kind(atom, self.kinds)):
            return atom
        return self.call(fn, atom)

    def test(self, atom: ir.Atom) -> ir.Atom:
        """A test; one that is nothing else is a bool where it is made."""
        made = isinstance(atom, ir.Name) and atom.id in self.flags
        return atom if made else self.ask(bool, atom)

    def stmt(self, stmt: ir.Stmt) -> ir.Stmt:
        """A statement behind those that fetch what it asks for."""
        s = self.inside(stmt)
        if isinstance(s, ir.If):
            return ir.rebuilt(s, test=self.test(s.test))
        if isinstance(s, ir.While):
            before, test = self.collect(lambda: self.test(s.test))
            return ir.rebuilt(s, cond=(*s.cond, *before), test=test)
        if isinstance(s, ir.Assign) and isinstance(s.rhs, ir.Call):
            return self.assign_call(s, s.rhs)
        if isinstance(s, ir.Store) and s.index is not None:
            return ir.rebuilt(s, index=self.sliced(s.index))
        if isinstance(s, ir.For) and is_op(s.iter, Op.RANGE):
            ends = tuple(self.ask(int, a) for a in s.iter.args)
            return ir.rebuilt(s, iter=replace(s.iter, args=ends))
        return s

    def assign_call(self, s: ir.Assign, rhs: ir.Call) -> ir.Assign:
        """A call with its slices and its operands for `math`; a flag is a bool."""
        args = tuple(map(self.sliced, rhs.args))
        if module_of(rhs.fn) == "math":
            args = tuple(map(self.number, args))
        rhs = replace(rhs, args=args)
        if s.target.id not in self.flags or not may_be_device(kind_of_call(rhs, self.kinds, True)):
            return replace(s, rhs=rhs)
        return replace(s, rhs=ir.Call(bool, (self.temp(rhs),), text="bool"))

    def number(self, atom: ir.Atom) -> ir.Atom:
        """An operand of a function of `math`: a number, or the list of those in a vector."""
        kind = atom_kind(atom, self.kinds)
        if not is_array(kind):
            return atom
        vector = len(ir.dims_of(kind) or ()) == 1
        return self.method("tolist", atom) if vector else self.ask(float, atom)

    def sliced(self, atom: ir.Atom) -> ir.Atom:
        """An index with the ends of its slices as ints."""
        if isinstance(atom, ir.Tup):
            return ir.Tup(tuple(map(self.sliced, atom.items)))
        if not isinstance(atom, ir.Slice):
            return atom
        kinds = [atom_kind(a, self.kinds) for a in ir.parts(atom)]
        ends = zip(ir.parts(atom), kinds)
        return ir.Slice(*(self.ask(int, a) if is_array(kind) else a for a, kind in ends))


def _flags(function: ir.Function) -> frozenset[str]:
    """The temporaries that nothing is done with but to test them, and to hand them on to others."""
    tests = {n for s in ir.walk(function) for n in _tested(s)}
    while True:
        kept = {n for n in tests if ir.is_temporary(n)} - {
            n for s in ir.walk(function) for n in _read_otherwise(s, tests)
        }
        if kept == tests:
            return frozenset(kept)
        tests = kept


def _tested(stmt: ir.Stmt) -> tuple[str, ...]:
    """The names that a statement tests, or hands on."""
    if isinstance(stmt, (ir.If, ir.While)):
        return tuple(ir.names(stmt.test))
    if isinstance(stmt, ir.Assign) and isinstance(stmt.rhs, ir.Name):
        return (stmt.rhs.id,)
    return ()


def _read_otherwise(stmt: ir.Stmt, flags: set[str]) -> tuple[str, ...]:
    """The names that a statement does something else with."""
    if isinstance(stmt, (ir.If, ir.While)):
        return ()
    if isinstance(stmt, ir.Assign) and isinstance(stmt.rhs, ir.Name):
        return () if stmt.target.id in flags else (stmt.rhs.id,)
    return ir.reads(stmt)


def plain_tests(function: ir.Function) -> ir.Function:
    """The function without `bool(...)` around tests that nothing else reads."""
    return _Plain(function).function(function)


class _Plain(Rewriter):
    """The pass: what is tested is made a bool right before, for that alone."""

    def __init__(self, function: ir.Function) -> None:
        super().__init__(ir.Fresh())
        self.reads = ir.reader_counts(function)

    def stmt(self, stmt: ir.Stmt) -> ir.Stmt:
        """A statement; the bool before it is gone."""
        new = self.inside(stmt)
        if isinstance(new, ir.If):
            return ir.rebuilt(new, test=self.asked(self.out, new.test))
        if isinstance(new, ir.While):
            cond = list(new.cond)
            test = self.asked(cond, new.test)
            return ir.rebuilt(new, cond=tuple(cond), test=test)
        return new

    def asked(self, before: list[ir.Stmt], test: ir.Atom) -> ir.Atom:
        """What is tested behind some statements, of which the last one may go."""
        made = before[-1] if before else None
        if not isinstance(made, ir.Assign) or made.target != test or not is_op(made.rhs, Op.BOOL):
            return test
        if self.reads[made.target.id] != 1:
            return test
        before.pop()
        return made.rhs.args[0]
