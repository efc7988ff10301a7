"""Writes statements at one place of the source, and functions anew, statement by statement."""

from __future__ import annotations

import operator
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from srcdiff import ir
from srcdiff.ir.frozen import replace

T = TypeVar("T")


class Builder:
    """A block being written, at one place of the user's source."""

    def __init__(self, fresh: ir.Fresh, loc: ir.Loc = ir.NOWHERE) -> None:
        self.fresh = fresh
        self.loc = loc
        self.out: list[ir.Stmt] = []

    def temp(self, rhs: ir.Rhs, base: str = "_t") -> ir.Name:
        """A new name for a value."""
        name = self.fresh(base)
        self.out.append(ir.Assign(name, rhs, self.loc))
        return name

    def apply(self, fn: ir.Callee, *args: ir.Atom) -> ir.Name:
        """The result of a call in its usual spelling."""
        return self.temp(ir.Call(fn, args))

    def call(self, fn: ir.Callee, *args: ir.Atom, base: str = "_t") -> ir.Name:
        """The result of a call, of a helper in short: by its name alone."""
        spelled = str(getattr(fn, "__module__", "")).startswith(("numpy", "_operator"))
        text = None if spelled else getattr(fn, "__name__", None)
        return self.temp(ir.Call(fn, args, text=text), base)

    def item(self, base: ir.Atom, key: ir.Atom) -> ir.Name:
        """`base[key]`."""
        return self.apply(operator.getitem, base, key)

    def attribute(self, base: ir.Atom, name: str) -> ir.Name:
        """`base.name`."""
        return self.apply(ir.Attr(name), base)

    def method(self, name: str, *args: ir.Atom) -> ir.Name:
        """The result of a method."""
        return self.call(ir.Method(name), *args)

    def assign(self, target: ir.Name, rhs: ir.Rhs) -> None:
        """`target = rhs`."""
        self.out.append(ir.Assign(target, rhs, self.loc))

    def effect(self, fn: ir.Callee | str, *args: ir.Atom) -> None:
        """A call, or a method by its name, for its effect."""
        callee = ir.Method(fn) if isinstance(fn, str) else fn
        self.out.append(ir.Effect(ir.Call(callee, args), self.loc))

    def store(self, base: ir.Name, key: ir.Atom, value: ir.Atom) -> None:
        """`base[key] = value`."""
        self.out.append(ir.SetItem(base, key, value, loc=self.loc))

    def add(self, base: ir.Name, key: ir.Atom, value: ir.Atom) -> None:
        """`base[key] += value`."""
        self.out.append(ir.AugAssign(base, key, value, "+", loc=self.loc))

    def loop(self, count: ir.Atom, body: Callable[[Builder, ir.Name], None]) -> None:
        """`for k in range(count)`."""
        k = self.fresh("_k")
        inner = Builder(self.fresh, self.loc)
        body(inner, k)
        header = ir.Call(range, (count,), text="range")
        self.out.append(ir.For(k, header, tuple(inner.out), None, self.loc))

    def branch(
        self, test: ir.Atom, body: Callable[[Builder], None], orelse: Callable[[Builder], None]
    ) -> None:
        """`if test: ... else: ...`."""
        one, other = Builder(self.fresh, self.loc), Builder(self.fresh, self.loc)
        body(one)
        orelse(other)
        self.out.append(ir.If(test, tuple(one.out), tuple(other.out), self.loc))

    def collect(self, write: Callable[[], T]) -> tuple[ir.Block, T]:
        """What is written meanwhile, and a result."""
        around, self.out = self.out, []
        found = write()
        done, self.out = tuple(self.out), around
        return done, found

    def again(self, stmt: ir.Stmt) -> None:
        """A statement at this place."""
        self.out.append(replace(stmt, loc=self.loc))


def place_of(loc: ir.Loc) -> tuple[ir.Const, ir.Const]:
    """The file and the line of a statement, for a message of the generated code."""
    return ir.Const(Path(loc.file).name), ir.Const(loc.line)


# --- rewriter ------------------------------------------------------------------------------------


class Rewriter(Builder):
    """Goes over the statements in source order; what is written meanwhile stands before each.

    A subclass says in `stmt` what stands for a statement.  What does not change stays the same
    object.
    """

    def function(self, function: ir.Function) -> ir.Function:
        """A function anew."""
        return ir.rebuilt(function, body=self.block(function.body))

    def block(self, block: ir.Block) -> ir.Block:
        """A block anew."""
        around, self.out = self.out, []
        for stmt in block:
            self.loc = stmt.loc
            new = self.stmt(stmt)
            if type(new) is tuple:
                self.out += new
            else:
                self.out.append(new)  # type: ignore[arg-type]
        done, self.out = tuple(self.out), around
        return done

    def stmt(self, stmt: ir.Stmt) -> ir.Stmt | ir.Block:
        """What stands for a statement: another one, or several or none in a tuple."""
        return self.inside(stmt)

    def inside(self, stmt: ir.Stmt) -> ir.Stmt:
        """A statement with its inner blocks written anew."""
        if type(stmt) in ir.PLAIN:
            return stmt
        new = ir.map_blocks(stmt, self.inner)
        self.loc = stmt.loc
        return new

    def inner(self, block: ir.Block) -> ir.Block:
        """A block inside a statement, written anew."""
        return self.block(block)


class OneName(Rewriter):
    """Leaves out what has a name already in its block.

    A subclass notes in `known` the names of what was computed, and in `same` those to use instead.
    """

    def __init__(self, fresh: ir.Fresh) -> None:
        super().__init__(fresh)
        self.known: dict[Any, str] = {}
        self.same: dict[str, str] = {}

    def function(self, function: ir.Function) -> ir.Function:
        """A function in which all of it has one name."""
        done = super().function(function)
        return ir.rebuilt(done, body=ir.rename(done.body, self.same)) if self.same else done

    def block(self, block: ir.Block) -> ir.Block:
        """A block, behind which nothing is known of what it computes."""
        known = dict(self.known)
        done = super().block(block)
        self.known = known
        return done
