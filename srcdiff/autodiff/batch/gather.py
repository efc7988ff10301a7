"""Factors that have no batch axis are multiplied with each other first.

Takes the function for a single item and the names that will have the axis; returns it with
`_k = a * b; t = d * _k` for `s = d * a; t = s * b` where `d` has the axis, and with `_k = a + b;
t = d * _k` for a sum of two products of the same `d`: what is done once for the batch in place of
once for each item.  What nobody reads any more is left for `remove_dead`.  Factors are numbers in
double precision: sums of truth values, and products of small integers or in single precision, would
be something else.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from srcdiff import ir
from srcdiff.autodiff.batch.names import Pairs, written_into
from srcdiff.ir.kinds import Kind
from srcdiff.kinds.interpreter import kind_of_call


@dataclass(frozen=True)
class _Product:
    """`base * factor`, or `base / factor`."""

    base: ir.Name
    factor: ir.Atom
    divided: bool = False


Products = Mapping[str, _Product]


def gathered(
    function: ir.Function,
    names: frozenset[str],
    kinds: Mapping[str, Kind],
    before: Sequence[ir.Stmt] = (),
    shared: Pairs = (),
) -> tuple[ir.Function, dict[str, Kind]]:
    """The function, and the kinds of its names; the statements `before` it bind some as well.

    `shared` are names that share memory from the start.
    """
    bound = Counter(n for s in (*before, *ir.walk(function.body)) for n in ir.writes(s))
    bound.update(p.name for p in function.params)
    written = written_into(function, kinds, shared)
    gather = _Gather(names, written, bound, dict(kinds), ir.Fresh(ir.all_names(function)))
    return replace(function, body=gather.block(function.body, {})), gather.kinds


@dataclass(frozen=True)
class _Gather:
    """`written` are the names whose memory is written into, `bound` how often each is bound."""

    names: frozenset[str]
    written: frozenset[str]
    bound: Mapping[str, int]
    kinds: dict[str, Kind]
    fresh: ir.Fresh

    def block(self, block: ir.Block, outside: Products) -> ir.Block:
        """A block, in which products of the blocks around it are known."""
        known = dict(outside)
        out: list[ir.Stmt] = []
        for stmt in block:
            if isinstance(stmt, ir.SetItem) and self.merged(stmt, known, out):
                continue
            if isinstance(stmt, ir.Assign):
                stmt = self.assign(stmt, known, out)
            elif isinstance(stmt, (ir.If, ir.For, ir.While)):
                stmt = ir.map_blocks(stmt, lambda inner: self.block(inner, known))
            out.append(stmt)
        return tuple(out)

    def assign(
        self, stmt: ir.Assign, known: dict[str, _Product], out: list[ir.Stmt]
    ) -> ir.Assign:
        """An assignment, as a product of what has the axis with a single factor."""
        call = ir.call_of(stmt)
        name = stmt.target.id
        if call is None or self.bound[name] != 1 or call.kwargs:
            return stmt
        product = self.product(call, known, out, stmt.loc)
        if product is None:
            return stmt
        known[name] = product
        fn = operator.truediv if product.divided else operator.mul
        return replace(stmt, rhs=ir.Call(fn, (product.base, product.factor)))

    def product(
        self, call: ir.Call, known: Products, out: list[ir.Stmt], loc: ir.Loc
    ) -> _Product | None:
        """What a call computes as a product, None where it is none."""
        if call.fn is operator.neg:
            one = self.of(call.args[0], known)
            return one and self.times(one, ir.Const(-1.0), False, out, loc)
        if call.fn in (operator.add, operator.sub):
            one, two = (self.of(a, known) for a in call.args)
            return self.both(call.fn, one, two, out, loc) if one and two else None
        if call.fn not in (operator.mul, operator.truediv):
            return None
        first, second = call.args
        divided = call.fn is operator.truediv
        if self.is_steady(first) and not divided:
            first, second = second, first
        if not isinstance(first, ir.Name) or first.id not in self.names:
            return None
        if not self.is_steady(second):
            return None
        one = self.of(first, known)
        if one is None:
            return _Product(first, second, divided) if self.is_base(first) else None
        return self.times(one, second, divided, out, loc)

    def of(self, atom: ir.Atom, known: Products) -> _Product | None:
        """An operand as the product that it is wherever it is read."""
        steady = isinstance(atom, ir.Name) and atom.id not in self.written
        return known.get(atom.id) if steady else None  # type: ignore[union-attr]

    def is_base(self, name: ir.Name) -> bool:
        """Whether something with the axis has the same value wherever it is read."""
        return self.bound[name.id] < 2 and name.id not in self.written

    def is_steady(self, atom: ir.Atom) -> bool:
        """Whether something without the axis has the same value wherever it is read."""
        if isinstance(atom, ir.Const):
            return isinstance(atom.value, (int, float, complex))
        if not isinstance(atom, ir.Name) or atom.id in self.names:
            return False
        if getattr(self.kinds.get(atom.id), "dtype", None) not in ("float64", "complex128"):
            return False
        return self.bound[atom.id] < 2 and atom.id not in self.written

    def times(
        self, one: _Product, factor: ir.Atom, divided: bool, out: list[ir.Stmt], loc: ir.Loc
    ) -> _Product:
        """A product times a factor, or divided by it."""
        if one.divided and divided:
            return replace(one, factor=self.emit(operator.mul, one.factor, factor, out, loc))
        if one.divided:
            one, factor = _Product(one.base, factor), one.factor
            divided = True
        fn = operator.truediv if divided else operator.mul
        return _Product(one.base, self.emit(fn, one.factor, factor, out, loc))

    def both(
        self, fn: Any, one: _Product, two: _Product, out: list[ir.Stmt], loc: ir.Loc
    ) -> _Product | None:
        """The sum or difference of two products of the same, None for others."""
        if one.base != two.base:
            return None
        first, second = (self.undivided(p, out, loc) for p in (one, two))
        return _Product(one.base, self.emit(fn, first, second, out, loc))

    def undivided(self, one: _Product, out: list[ir.Stmt], loc: ir.Loc) -> ir.Atom:
        """What is multiplied with the base."""
        if not one.divided:
            return one.factor
        return self.emit(operator.truediv, ir.Const(1.0), one.factor, out, loc)

    def emit(
        self, fn: Any, a: ir.Atom, b: ir.Atom, out: list[ir.Stmt], loc: ir.Loc
    ) -> ir.Name:
        """A name for what is computed of two factors."""
        if fn is operator.mul and isinstance(b, ir.Const):
            a, b = b, a  # as people write it
        name, call = self.fresh("_factor"), ir.Call(fn, (a, b))
        kind = kind_of_call(call, self.kinds)
        if kind is not None:
            self.kinds[name.id] = kind
        out.append(ir.Assign(name, call, loc))
        return name

    def merged(self, stmt: ir.SetItem, known: dict[str, _Product], out: list[ir.Stmt]) -> bool:
        """`d_x += d * k` behind `d_x = d * a` as one product, if nobody has read `d_x` between."""
        if stmt.index is not None or stmt.op not in ("+", "-"):
            return False
        name, two = stmt.base.id, self.of(stmt.value, known)
        at = next((k for k, s in enumerate(out) if name in ir.writes(s)), None)
        one = known.get(name)
        if at is None or one is None or two is None:
            return False
        if any(name in _mentioned(s) for s in out[at + 1 :]):
            return False
        fn = operator.add if stmt.op == "+" else operator.sub
        total = self.both(fn, one, two, out, stmt.loc)
        if total is None:
            return False
        known[name] = total
        call = ir.Call(operator.mul, (total.base, total.factor))
        out[at:] = [*out[at + 1 :], ir.Assign(ir.Name(name), call, stmt.loc)]
        return True


def _mentioned(stmt: ir.Stmt) -> frozenset[str]:
    """The names that a statement and those inside it read or bind."""
    return frozenset(ir.used((stmt,))) | ir.bound((stmt,))
