"""The tangent of a call from its backward lines, which are linear in `d[z]`: they are transposed.

Takes the adjoint statements of one call (`expand`) and the tangents of its operands; returns the
statements that compute the tangent of its result.  The backward lines map `g`, the adjoint of `z`,
to those of the operands; run backwards, by the rules of the calls in them, they map the tangents of
the operands to that of `z`.  `g` and what depends on it have no value here: where their shape is
asked for, `z` stands in for `g`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from srcdiff import ir
from srcdiff.analysis.facts import Facts
from srcdiff.autodiff.expand.template import expand
from srcdiff.errors import InternalError, MissingRuleError
from srcdiff.frontend.flow import flows
from srcdiff.ir.kinds import Array, Kind, Scalar, Tuple
from srcdiff.normalize.composed import in_full
from srcdiff.normalize.definitions import inferred
from srcdiff.primitives.registry import Bound, find
from srcdiff.runtime import trees

Contributions = dict[str, list[ir.Atom]]

TANGENT_REMEDY = "Write its tangent with @srcdiff.forward (see templates/README.md)."


def transposed(bound: Bound, stmt: ir.Assign, facts: Facts) -> tuple[list[ir.Stmt], ir.Atom | None]:
    """The statements that compute the tangent of a call's result, and the tangent (None: zero)."""
    operands = [n for n in ir.names(stmt.rhs) if n in facts.active]
    result = facts.fresh("_g")
    own = {n: facts.fresh("_d").id for n in operands}
    inner = replace(
        facts,
        active=frozenset({stmt.target.id, *operands}),
        adjoints={**own, stmt.target.id: result.id},
    )
    known = dict(facts.kinds)
    if stmt.target.id in known:  # the adjoint of a result is of its kind
        known[result.id] = known[stmt.target.id]
    block = in_full(expand(bound, stmt, inner).adjoint, known, facts.fresh)
    tangents = {own[n]: facts.adjoint(n) for n in operands}
    return _Transposition(bound, stmt, result, tangents, replace(facts, kinds=known)).run(block)


class _Transposition:
    """One call: the statements written so far, and what is to be added to each adjoint."""

    def __init__(
        self,
        bound: Bound,
        stmt: ir.Assign,
        result: ir.Name,
        tangents: Mapping[str, ir.Name],
        facts: Facts,
    ) -> None:
        self.name = bound.name
        self.stmt, self.loc = stmt, stmt.loc
        self.result = result
        self.tangents = tangents
        self.facts = facts
        self.out: list[ir.Stmt] = []
        self.parts: dict[int, list[ir.Atom]] = {}
        self.sums: Contributions = {}
        self.buffers: dict[str, ir.Name] = {}
        self.kinds: Mapping[str, Kind] = facts.kinds
        self.linear: frozenset[str] = frozenset()

    def run(self, block: ir.Block) -> tuple[list[ir.Stmt], ir.Atom | None]:
        """Transpose the backward lines."""
        made = tuple(s for s in block if isinstance(s, ir.Assign))
        self.kinds = {**self.facts.kinds, **inferred(made, self.facts.kinds)}
        self.linear = self._linear(made)
        self.out += made
        for stmt in reversed(block):
            self.one(stmt)
        found = self._tuple() if self.parts else self.total(self.result.id)
        stand_in = {self.result.id: self.stmt.target.id}
        lines = ir.rename(tuple(self.out), stand_in)
        return list(lines), found

    def _linear(self, made: tuple[ir.Assign, ...]) -> frozenset[str]:
        """The names that depend linearly on the adjoint of the result."""
        found = {self.result.id}
        for stmt in made:
            read = stmt.rhs
            atoms = flows(read, self.kinds) if isinstance(read, ir.Call) else (read,)
            if any(n in found for a in atoms for n in ir.names(a)):
                found.add(stmt.target.id)
        return frozenset(found)

    def error(self, what: str) -> MissingRuleError:
        """The refusal of a rule whose backward lines cannot be transposed."""
        return MissingRuleError(
            f"{self.name} has no tangent: its rule {what}", self.loc, TANGENT_REMEDY
        )

    def temp(self, rhs: ir.Rhs) -> ir.Name:
        """A new name for a value."""
        name = self.facts.fresh()
        self.out.append(ir.Assign(name, rhs, self.loc))
        return name

    def add(self, name: str, value: ir.Atom) -> None:
        """A contribution to the adjoint of a name of the backward lines."""
        self.sums.setdefault(name, []).append(value)

    def total(self, name: str) -> ir.Atom | None:
        """The sum of the contributions to a name, None for none."""
        found = self.sums.pop(name, [])
        if name in self.buffers:
            found.append(self.buffers.pop(name))
        return summed(found, self.temp)

    def _tuple(self) -> ir.Atom:
        """The tangent of a result that is a tuple."""
        kind = self.facts.kinds.get(self.stmt.target.id)
        if not isinstance(kind, Tuple) or kind.items is None:
            raise InternalError(f"nobody knows how many values {self.name} gives", self.stmt)
        items: list[ir.Atom] = []
        for k in range(len(kind.items)):
            value = summed(self.parts.get(k, []), self.temp)
            if value is None:
                part = self.temp(ir.Call(operator.getitem, (self.stmt.target, ir.Const(k))))
                value = self.temp(ir.Call(trees.zeros_like, (part,)))
            items.append(value)
        return ir.Tup(tuple(items))

    # --- the backward lines, last first ---

    def one(self, stmt: ir.Stmt) -> None:
        """The transpose of one statement."""
        if isinstance(stmt, ir.Assign):
            self.assign(stmt)
        elif isinstance(stmt, ir.Accum):
            self.take(stmt.target.id, None, stmt.value)
        elif isinstance(stmt, ir.SetItem) and stmt.op == "+":
            self.take(stmt.base.id, stmt.index, stmt.value)
        elif isinstance(stmt, ir.Effect) and _adds_at(stmt.rhs):
            base, index, value = stmt.rhs.args  # type: ignore[union-attr]
            self.take(ir.names(base)[0], index, value)
        elif not isinstance(stmt, (ir.Demand, ir.Comment)):
            raise self.error("has run-time control flow or writes over an adjoint")

    def take(self, target: str, index: ir.Atom | None, value: ir.Atom) -> None:
        """`d[x][i] += v`: what is to be added to v is the tangent of `x[i]`."""
        if not isinstance(value, ir.Name) or value.id not in self.linear:
            return
        tangent: ir.Atom = self.tangents[target]
        if index is not None:
            tangent = self.temp(ir.Call(operator.getitem, (tangent, index)))
        self.add(value.id, tangent)

    def assign(self, stmt: ir.Assign) -> None:
        """`t = f(v)`: by the rule of f."""
        if stmt.target.id not in self.linear:
            return
        value = self.total(stmt.target.id)
        if value is None:
            return
        rhs = stmt.rhs
        if isinstance(rhs, ir.Name):
            self.add(rhs.id, value)
        elif isinstance(rhs, ir.Tup):
            self.items(rhs, value)
        elif isinstance(rhs, ir.Call) and self._is_part(rhs):
            at: Any = rhs.args[1]
            self.parts.setdefault(at.value, []).append(value)
        elif isinstance(rhs, ir.Call):
            self.call(stmt, rhs, value)

    def items(self, rhs: ir.Tup, value: ir.Atom) -> None:
        """The items of a display."""
        for k, item in enumerate(rhs.items):
            if isinstance(item, ir.Name) and item.id in self.linear:
                self.add(item.id, self.temp(ir.Call(operator.getitem, (value, ir.Const(k)))))

    def _is_part(self, call: ir.Call) -> bool:
        """Whether a call takes one of several results."""
        several = isinstance(self.kinds.get(self.result.id), Tuple)
        return several and call.fn is operator.getitem and call.args[0] == self.result

    def call(self, stmt: ir.Assign, call: ir.Call, value: ir.Atom) -> None:
        """The adjoint of a call in the backward lines, for the names that depend on `g`."""
        held = value if isinstance(value, ir.Name) else self.temp(value)
        names = [n for n in ir.names(call) if n in self.linear]
        own = {n: self.facts.fresh("_a").id for n in names}
        facts = replace(
            self.facts,
            kinds=self.kinds,
            active=frozenset({stmt.target.id, *names}),
            adjoints={**own, stmt.target.id: held.id},
        )
        back = {a: n for n, a in own.items()}
        for inner in expand(find(call, self.kinds, self.loc), stmt, facts).adjoint:
            self.back(inner, back)

    def back(self, stmt: ir.Stmt, back: Mapping[str, str]) -> None:
        """A statement of the adjoint of a call in the backward lines."""
        if isinstance(stmt, ir.Accum):
            self.add(back[stmt.target.id], stmt.value)
        elif isinstance(stmt, ir.Demand):
            self.buffer(back[stmt.target.id])
        elif isinstance(stmt, (ir.Assign, ir.SetItem, ir.Effect)):
            new = {a: self.buffers[n].id for a, n in back.items() if n in self.buffers}
            self.out += ir.rename((stmt,), new)
        else:
            raise self.error("needs run-time control flow")

    def buffer(self, name: str) -> None:
        """Zeros of the shape of a name, to be added to."""
        if name not in self.buffers:
            several = not isinstance(self.kinds.get(name), (Array, Scalar))
            zeros = trees.zero_tree if several else np.zeros_like
            self.buffers[name] = self.temp(ir.Call(zeros, (ir.Name(name),)))


def summed(
    values: list[ir.Atom], temp: Callable[[ir.Rhs], ir.Name], add: Any = operator.add
) -> ir.Atom | None:
    """The sum of some values, None for none."""
    if not values:
        return None
    total = values[0]
    for value in values[1:]:
        total = temp(ir.Call(add, (total, value)))
    return total


def _adds_at(rhs: ir.Rhs) -> bool:
    """Whether a call is `np.add.at(d[x], i, v)`."""
    return isinstance(rhs, ir.Call) and getattr(rhs.fn, "__self__", None) is np.add
