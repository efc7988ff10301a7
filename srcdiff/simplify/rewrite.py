"""One forward walk: copies replaced, calls put into plainer forms, equal values computed once."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import replace

from srcdiff import ir
from srcdiff.analyses.effects import is_pure, mutated_args, returns_view
from srcdiff.analyses.kind_types import Kind, is_float
from srcdiff.simplify.algebra import Algebra
from srcdiff.simplify.available import Available
from srcdiff.simplify.memory import Memory

MARK = "backward"


def rewrite(function: ir.Function, kinds: Mapping[str, Kind]) -> ir.Function:
    """The function with plainer statements; what has become dead is still there."""
    marked = any(isinstance(s, ir.Comment) and s.text == MARK for s in function.body)
    walk = _Rewrite(Memory(function, kinds), kinds, ours=not marked)
    return replace(function, body=walk.block(function.body))


def is_temporary(name: str) -> bool:
    """Whether a name was made by the compiler and means nothing to a reader."""
    return name.startswith("_")


class _Rewrite:
    """The walk; `ours`: past the comment that starts the generated part."""

    def __init__(self, memory: Memory, kinds: Mapping[str, Kind], ours: bool) -> None:
        self.memory = memory
        self.kinds = kinds
        self.ours = ours
        self.available = Available(memory)
        self.algebra = Algebra(kinds, self.available)
        self.blocks = 0

    def block(self, block: ir.Block) -> ir.Block:
        """A block, statement by statement."""
        self.blocks += 1
        here = self.blocks
        out: list[ir.Stmt] = []
        for stmt in block:
            new = self.stmt(stmt, here)
            if new is not None:
                out.append(new)
        return tuple(out)

    def read(self, name: ir.Name) -> ir.Atom:
        """What is read instead of a name: what it is a copy of."""
        value = self.available.value(name)
        return value if isinstance(value, (ir.Name, ir.Const, ir.Ref)) else name

    def stmt(self, stmt: ir.Stmt, here: int) -> ir.Stmt | None:
        """A statement in plainer form."""
        if isinstance(stmt, ir.Assign):
            return self.assign(stmt, here)
        if isinstance(stmt, ir.SetItem):
            return self.set_item(stmt)
        if isinstance(stmt, ir.Effect):
            rhs = self.rhs(stmt.rhs)
            assert isinstance(rhs, (ir.Call, ir.Opaque))
            new = replace(stmt, rhs=rhs)
            self.available.change(new)
            return new
        if isinstance(stmt, ir.Return):
            return replace(stmt, value=ir.map_atom(self.read, stmt.value))
        if isinstance(stmt, ir.If):
            return self.branch(stmt)
        if isinstance(stmt, ir.For):
            return self.for_loop(stmt)
        if isinstance(stmt, ir.While):
            return self.while_loop(stmt)
        if isinstance(stmt, ir.Comment):
            self.ours = self.ours or stmt.text == MARK
        for name in ir.writes(stmt):
            self.available.bind(name)
        return stmt

    def rhs(self, rhs: ir.Rhs) -> ir.Rhs:
        """A right-hand side with its copies replaced (text is left as it is)."""
        return rhs if isinstance(rhs, ir.Opaque) else ir.map_rhs(self.read, rhs)

    def assign(self, stmt: ir.Assign, here: int) -> ir.Stmt | None:
        """`target = rhs`."""
        target = stmt.target.id
        rhs = self.rhs(stmt.rhs)
        if self.ours:
            rhs = self.algebra.plain(target, rhs)
            rhs = self.known(target, rhs, here)
        if rhs == stmt.target:
            return None
        new = replace(stmt, rhs=rhs)
        self.available.bind(target)
        self.available.change(new)
        self.learn(target, rhs, here)
        return new

    def known(self, target: str, rhs: ir.Rhs, here: int) -> ir.Rhs:
        """A name that has the value of a right-hand side already, if computing it costs much."""
        if not isinstance(rhs, ir.Call) or not self.is_worth_keeping(target, rhs):
            return rhs
        name = self.available.same_value(rhs, here)
        if name is None or name == target or not self.memory.may_share(target, name):
            return rhs
        return ir.Name(name)

    def is_worth_keeping(self, target: str, call: ir.Call) -> bool:
        """Whether two such calls are better one: not for views, elements and integers."""
        if call.fn is operator.getitem or not is_pure(call.fn) or mutated_args(call, self.kinds):
            return False
        kind = self.kinds.get(target)
        return kind is not None and is_float(kind) and not returns_view(call, self.kinds)

    def learn(self, target: str, rhs: ir.Rhs, here: int) -> None:
        """What follows from an assignment."""
        if isinstance(rhs, ir.Call):
            self.available.learn(target, rhs, here)
        elif self.ours or is_temporary(target):
            if isinstance(rhs, ir.Name) and is_temporary(rhs.id) and not is_temporary(target):
                value = self.available.value(rhs)
                if isinstance(value, ir.Call):
                    self.available.learn(target, value, here)
                self.available.learn(rhs.id, ir.Name(target), here)
            else:
                self.available.learn(target, rhs, here)

    def set_item(self, stmt: ir.SetItem) -> ir.Stmt:
        """A store; the base of a whole update stays the name that it is."""
        base: ir.Atom = stmt.base
        if stmt.index is not None:
            new = self.read(stmt.base)
            base = new if isinstance(new, ir.Name) else base
        assert isinstance(base, ir.Name)
        index = None if stmt.index is None else ir.map_atom(self.read, stmt.index)
        value = ir.map_atom(self.read, stmt.value)
        result = replace(stmt, base=base, index=index, value=value)
        if self.ours:
            result = self.algebra.store(result)
        self.available.change(result)
        return result

    def branch(self, stmt: ir.If) -> ir.Stmt:
        """Both branches; neither sees what the other has learnt."""
        test = ir.map_atom(self.read, stmt.test)
        body = self.block(stmt.body)
        self.available.forget(stmt.body)
        orelse = self.block(stmt.orelse)
        self.available.forget(stmt.orelse)
        return replace(stmt, test=test, body=body, orelse=orelse)

    def for_loop(self, stmt: ir.For) -> ir.Stmt:
        """A loop: what its body changes is unknown at its head and after it."""
        it = self.rhs(stmt.iter)
        assert not isinstance(it, ir.Opaque)
        self.available.bind(stmt.target.id)
        self.available.forget(stmt.body)
        body = self.block(stmt.body)
        self.available.bind(stmt.target.id)
        self.available.forget(stmt.body)
        return replace(stmt, iter=it, body=body)

    def while_loop(self, stmt: ir.While) -> ir.Stmt:
        """A loop whose condition is computed before every iteration."""
        self.available.forget((*stmt.cond, *stmt.body))
        cond = self.block(stmt.cond)
        test = ir.map_atom(self.read, stmt.test)
        body = self.block(stmt.body)
        self.available.forget((*stmt.cond, *stmt.body))
        return replace(stmt, cond=cond, test=test, body=body)
