"""What Numba computes otherwise than NumPy, written so that it does not.

In a text that Numba compiles an operator in place reads its operand while it writes, a function
that gives its argument back where nothing is to be done copies it, a name that is not bound is
zero, and an integer stays one when it is raised to a negative power.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from srcdiff import ir
from srcdiff.analysis.assigned import maybe_unbound
from srcdiff.analysis.links import definitions, near
from srcdiff.errors import UnsupportedError
from srcdiff.ir.kinds import Array, Kind, Scalar, is_float
from srcdiff.kinds.atoms import atom_kind
from srcdiff.kinds.interpreter import infer
from srcdiff.primitives.given_back import gives_back

Kinds = Mapping[str, Kind]

_POWERS = frozenset({operator.pow, operator.ipow, np.power, pow})
NEGATIVE = "Integers to negative powers are not allowed with Numba: write 2.0 ** n for 2 ** n"


def for_numba(function: ir.Function, params: Kinds) -> ir.Function:
    """A finished function that computes the same when Numba compiles it."""
    kinds = {**params, **infer(function, params)}
    function = replace(function, body=_Apart(function, kinds).block(function.body))
    unbound = maybe_unbound(function)
    return _Asked(function, unbound).function() if unbound else function


def check_axes(function: ir.Function, params: Kinds) -> None:
    """Refuse a recursive function of ever more axes, which Numba compiles for each number of them.

    Raises:
        UnsupportedError: the axes of a parameter are not known.
    """
    for name, kind in params.items():
        if isinstance(kind, Array) and kind.dims is None:
            raise UnsupportedError(
                f"`{name}` is an array whose number of axes changes from call to call",
                function.loc,
                "Give it as many axes in every call, or leave out compile='numba' (--compile).",
            )


class _Apart:
    """Operands apart from what is written, and powers of integers that are asked for their sign."""

    def __init__(self, function: ir.Function, kinds: Kinds) -> None:
        self.kinds = kinds
        self.group = near(function, kinds)
        self.fresh = ir.Fresh(ir.all_names(function))
        self.count = definitions(function)
        self.made = {
            s.target.id: s.rhs for s in ir.walk(function.body) if isinstance(s, ir.Assign)
        }

    def block(self, block: ir.Block) -> ir.Block:
        """A block, statements behind what they need."""
        return tuple(new for stmt in block for new in self.stmt(stmt))

    def stmt(self, stmt: ir.Stmt) -> ir.Block:
        """A statement, and what it needs."""
        call = ir.call_of(stmt)
        if isinstance(stmt, ir.Assign) and call is not None and gives_back(call, self.kinds):
            return (replace(stmt, rhs=call.args[0]),)
        if isinstance(stmt, ir.SetItem) and stmt.op is not None:
            power = self.power(stmt.base, stmt.value, stmt.loc) if stmt.op == "**" else ()
            return (*power, *self.store(stmt))
        if call is not None and call.fn in _POWERS and len(call.args) == 2:
            return (*self.power(*call.args, stmt.loc), stmt)
        return (ir.map_blocks(stmt, self.block),)

    def store(self, stmt: ir.SetItem) -> ir.Block:
        """An operator in place, its operand copied if that may share memory with another part."""
        value = stmt.value
        if not isinstance(value, ir.Name) or not self.overlap(stmt, value.id):
            return (stmt,)
        copy = self.fresh()
        made = ir.Assign(copy, ir.Call(np.copy, (value,)), stmt.loc)
        return made, replace(stmt, value=copy)

    def overlap(self, stmt: ir.SetItem, value: str) -> bool:
        """Whether an operand may be another part of what is written."""
        base = stmt.base.id
        if isinstance(self.kinds.get(value), Scalar) or isinstance(self.kinds.get(base), Scalar):
            return False
        if value == base:
            return stmt.index is not None
        return self.group.get(value, value) == self.group.get(base, base) and not self.same(stmt)

    def same(self, stmt: ir.SetItem) -> bool:
        """Whether an operand is just the part that is written."""
        steady = (n for n in ir.names(stmt.index) if self.count.get(n, 0) > 1)
        name = stmt.value.id if isinstance(stmt.value, ir.Name) else ""
        made = self.made.get(name) if self.count.get(name) == 1 else None
        part = isinstance(made, ir.Call) and made.fn is operator.getitem
        return part and made.args == (stmt.base, stmt.index) and not any(steady)  # type: ignore[union-attr]

    def power(self, base: ir.Atom, exponent: ir.Atom, loc: ir.Loc) -> ir.Block:
        """The question for the sign of an exponent, where both operands may be integers."""
        one, two = (atom_kind(a, self.kinds) for a in (base, exponent))
        known = isinstance(two, Scalar) and two.value is not None and two.value >= 0
        if known or is_float(one) or is_float(two):
            return ()
        negative = self.fresh()
        test = ir.Call(operator.lt, (exponent, ir.Const(0)))
        asked: ir.Block = (ir.Assign(negative, test, loc),)
        if not isinstance(two, Scalar):
            some = self.fresh()
            asked = (*asked, ir.Assign(some, ir.Call(np.any, (negative,)), loc))
            negative = some
        raised = ir.Verbatim(f"raise ValueError({NEGATIVE!r})", loc=loc)
        return (*asked, ir.If(negative, (raised,), loc=loc))


class _Asked:
    """Names that may not be bound asked for, as Python does, where they are read."""

    def __init__(self, function: ir.Function, unbound: Mapping[int, frozenset[str]]) -> None:
        self.whole, self.unbound = function, unbound
        self.fresh = ir.Fresh(ir.all_names(function))
        names = sorted(frozenset().union(*unbound.values()))
        self.flags = {n: self.fresh(f"{n.lstrip('_')}_is_bound") for n in names}

    def function(self) -> ir.Function:
        """The function, with a flag for every such name."""
        start = (ir.Assign(f, ir.Const(False)) for f in self.flags.values())
        return replace(self.whole, body=(*start, *self.block(self.whole.body)))

    def block(self, block: ir.Block) -> ir.Block:
        """A block, statements behind the questions for what they read."""
        return tuple(new for stmt in block for new in self.stmt(stmt))

    def stmt(self, stmt: ir.Stmt) -> ir.Block:
        """A statement between what asks for its names and what notes those that it binds."""
        asked = self.asked(self.unbound.get(id(stmt), ()), stmt.loc)
        bound = self.bound(ir.writes(stmt), stmt.loc)
        new = ir.map_blocks(stmt, self.block)
        if isinstance(new, ir.For):
            return (*asked, replace(new, body=(*bound, *new.body)))
        if isinstance(new, ir.While):
            tested = self.asked(ir.names(stmt.test), stmt.loc)  # type: ignore[union-attr]
            return (replace(new, cond=(*new.cond, *tested)),)
        return (*asked, new, *bound)

    def asked(self, names: Iterable[str], loc: ir.Loc) -> ir.Block:
        """The questions for some names."""
        return tuple(s for n in sorted(names) if n in self.flags for s in self.question(n, loc))

    def question(self, name: str, loc: ir.Loc) -> ir.Block:
        """The question for a name."""
        said = name.lstrip("_")
        text = f"cannot access local variable '{said}' where it is not associated with a value"
        missing = self.fresh()
        raised = ir.Verbatim(f"raise UnboundLocalError({text!r})", loc=loc)
        test = ir.Assign(missing, ir.Call(operator.not_, (self.flags[name],)), loc)
        return test, ir.If(missing, (raised,), loc=loc)

    def bound(self, names: Iterable[str], loc: ir.Loc) -> ir.Block:
        """The notes that some names are bound."""
        flags = (self.flags[n] for n in names if n in self.flags)
        return tuple(ir.Assign(f, ir.Const(True), loc) for f in flags)
