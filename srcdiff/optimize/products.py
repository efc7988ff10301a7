"""Chains of products: signs taken out, numbers gathered in front.

Taking a minus sign out of a chain of products and sums is exact in floating point.  Numbers are
gathered: `2.0 * x * (g / n)` becomes `2.0 * g / n * x`.

A chain of products and quotients is looked at as a whole: through temporaries of one use, down to
the operands.  Its numbers (what has no axes) are multiplied first, so that they meet the arrays
once.  The results are the same up to rounding, as long as no product of the numbers alone
overflows.  Only products with adjoints are looked at: what is computed again as in the forward part
may be compared with what was saved there, and has to be the same to the last bit.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from dataclasses import field
from typing import Any, Union

import numpy as np

from srcdiff import ir
from srcdiff.analysis.activity import Edges, reachable
from srcdiff.ir.frozen import frozen, replace, state
from srcdiff.kinds.calls import atom_kind, kind_of_call
from srcdiff.optimize.memory import Available
from srcdiff.primitives.ops import Op, is_op, which_op
from srcdiff.primitives.views import is_array

PRODUCTS = (Op.MUL, Op.DIV, Op.MATMUL, Op.OUTER)
DEPTH = 12


def literal(atom: ir.Atom) -> float | None:
    """The value of a float that is written out."""
    if type(atom) is ir.Const and type(atom.value) is float:
        return atom.value
    return None


def is_linear(call: ir.Call) -> bool:
    """Whether a call is a sum, which is linear in what it adds up: not from another value on."""
    plain = all(k in ("axis", "keepdims") for k, _ in call.kwargs)
    return plain and is_op(call, Op.NP_SUM) and len(call.args) in (1, 2)


@state
class Signs:
    """Finds negations inside chains of temporaries that are used once, and builds the chain anew.

    New statements are put into `pending`; the walk places them before the present statement, of
    which it says the place in `loc`.
    """

    kinds: MutableMapping[str, ir.Kind]
    available: Available
    uses: Mapping[str, int]
    fresh: ir.Fresh
    device: bool  # whether arrays live on one
    pending: list[ir.Assign] = field(default_factory=list)
    loc: ir.Loc = ir.NOWHERE

    def is_inexact(self, atom: ir.Atom) -> bool:
        """Whether an atom is certainly a float or complex, number or array."""
        return ir.is_float(atom_kind(atom, self.kinds))

    def is_real(self, atom: ir.Atom) -> bool:
        """Whether an atom is certainly a real float, number or array."""
        return _is_real_float(atom_kind(atom, self.kinds))

    def is_read_once(self, atom: ir.Atom) -> bool:
        """Whether an atom is a name that is read nowhere else."""
        return type(atom) is ir.Name and self.uses.get(atom.id) == 1

    def negated(self, atom: ir.Atom, depth: int = DEPTH) -> ir.Atom | None:
        """`x` where the atom is `-x`, of real floats; None if there is no sign to take out."""
        if type(atom) is not ir.Name:
            number = literal(atom)
            return ir.Const(-number) if number is not None and number < 0 else None
        fact = self.available.facts.get(atom.id)
        value = None if fact is None else fact.rhs
        if type(value) is not ir.Call:
            return None
        negative = which_op(value) is Op.NEG
        if not (negative or (depth > 0 and self.is_read_once(atom))) or not self.is_real(atom):
            return None
        if self.available.value(atom) is None:
            return None  # it was so, and is no more: asked last, as it takes longest
        if negative:
            inner = value.args[0]
            # Both would then have to be variables.
            both = self.is_read_once(inner) and self.uses.get(atom.id, 0) > 1
            return inner if self.is_inexact(inner) and not both else None
        return self._inside(value, atom_kind(atom, self.kinds), depth)

    def _inside(self, call: ir.Call, kind: ir.Kind, depth: int) -> ir.Atom | None:
        """The call without the sign of one of its operands."""
        op = which_op(call)
        product = op in PRODUCTS and len(call.args) == 2 and not call.kwargs
        summed = op is Op.NP_SUM and is_linear(call)
        for k, arg in enumerate(call.args[: 2 if product else int(summed)]):
            plain = self.negated(arg, depth - 1)
            if plain is not None:
                args = (*call.args[:k], plain, *call.args[k + 1 :])
                return self.named(replace(call, args=args), kind)
        return None

    def named(self, call: ir.Call, kind: ir.Kind) -> ir.Name:
        """A new temporary for a call."""
        name = self.fresh()
        self.kinds[name.id] = kind
        self.pending.append(ir.Assign(name, call, self.loc))
        self.available.memory.note(self.pending[-1])
        return name

    def computed(self, call: ir.Call) -> ir.Name:
        """A new temporary for a call, whose kind follows from its operands."""
        return self.named(call, kind_of_call(call, self.kinds, self.device))


# --- numbers gathered in front of products: `2.0 * x * (g / n)` becomes `2.0 * g / n * x` --------


CHAIN: Mapping[Op, Callable[..., Any]] = {
    Op.MUL: operator.mul,
    Op.DIV: operator.truediv,
    Op.NEG: operator.neg,
}
"""What a chain is made of, and how it is written."""

_WRITTEN: Mapping[Op, Callable[..., Any]] = {**CHAIN, Op.EXPAND_DIMS: np.expand_dims}
"""Also what may stand around factors of a chain."""


def derived(function: ir.Function, seeds: Iterable[str]) -> frozenset[str]:
    """The names of what is computed from some parameters: from cotangents, the adjoints."""
    found: Edges = [(n, s.target.id, s) for s in ir.assignments(function) for n in ir.reads(s)]
    for stmt in (s for s in ir.walk(function) if type(s) is not ir.Assign):
        names = (stmt.base.id,) if isinstance(stmt, ir.Store) else ir.writes(stmt)
        found += [(n, b, stmt) for b in names for n in ir.reads(stmt)]
    return reachable(seeds, found)


@frozen
class Tree:
    """An operation on expressions; those of the chain have been opened."""

    op: Op
    args: tuple[Expr, ...]


Expr = Union[ir.Atom, Tree]

_MANY = 99
_SLOT = ir.Ref("number", object())  # where the numbers of a chain stand: above an array


class Products:
    """Finds chains with adjoints, and puts them in order."""

    def __init__(self, signs: Signs, adjoints: frozenset[str]) -> None:
        self.kinds = signs.kinds
        self.signs = signs
        self.adjoints = adjoints
        self.available = signs.available

    def gathered(self, call: ir.Call) -> ir.Call | ir.Atom | None:
        """A product with its numbers in front, None if it has none or they are there."""
        if self.adjoints.isdisjoint(ir.names(call)):
            return None
        chain = self.tree(call, DEPTH)
        if not self.is_uniform(chain):
            return None
        found = _Factors(self)
        new = found.joined(found.taken(chain))
        if new is None or new == chain or not self.is_better(new, chain):
            return None
        return self.placed(new) if isinstance(new, Tree) else new

    def summed(self, call: ir.Call, kind: ir.Kind) -> ir.Call | None:
        """A sum of products with the numbers before it, None if there are none."""
        if self.adjoints.isdisjoint(ir.names(call)):
            return None
        chain = self.opened(call.args[0], DEPTH)
        if not isinstance(chain, Tree) or not self.is_uniform(chain):
            return None
        found = _Factors(self)
        arrays = found.taken(chain)
        numbers = found.literals or found.tops or found.bottoms or found.under
        if arrays is None or found.slots or not numbers:
            return None
        plain = replace(call, args=(self.atom(arrays), *call.args[1:]))
        new = found.before(self.signs.named(plain, kind))
        return self.placed(new) if isinstance(new, Tree) else None

    # --- chains ---

    def opened(self, atom: ir.Atom, depth: int) -> Expr:
        """An operand, as the product that it is if it serves nothing else."""
        once = type(atom) is ir.Name and ir.is_unnamed(atom.id) and self.signs.is_read_once(atom)
        if not once:
            return atom
        call = self.available.value(atom)
        if not is_op(call, *CHAIN, Op.EXPAND_DIMS) or call.kwargs or not depth:
            return atom
        if is_op(call, Op.EXPAND_DIMS) and not self.gets_axis(call):
            return atom
        return self.tree(call, depth - 1) if self.signs.is_real(atom) else atom

    def tree(self, call: ir.Call, depth: int) -> Tree:
        """A product with its operands opened."""
        op = which_op(call)
        assert op is not None
        return Tree(op, tuple(self.opened(a, depth) for a in call.args))

    def gets_axis(self, call: ir.Call) -> bool:
        """Whether what gets another axis, at a known place, has some."""
        rank = ir.rank_of(atom_kind(call.args[0], self.kinds))
        return bool(rank) and list(map(type, call.args[1:])) == [ir.Const]

    def is_uniform(self, chain: Expr) -> bool:
        """Whether all factors are real floats of one dtype, numbers of Python aside."""
        atoms = list(_atoms(chain))
        if any(type(a) is ir.Const and type(a.value) not in (int, float) for a in atoms):
            return False
        factors = [atom_kind(a, self.kinds) for a in atoms if type(a) is not ir.Const]
        strong = [k for k in factors if not _is_pythons(k)]
        if not all(map(_is_real_float, strong)) or not any(map(_is_real_float, factors)):
            return False
        return len({getattr(k, "dtype", None) for k in strong}) <= 1

    def is_number(self, expr: Expr) -> bool:
        """Whether an expression surely has no axes."""
        if isinstance(expr, Tree):
            return expr.op is not Op.EXPAND_DIMS and all(map(self.is_number, expr.args))
        kind = atom_kind(expr, self.kinds)
        # On a device an operation on a number takes as long as one on an array, but on the host.
        return _is_pythons(kind) or (not self.signs.device and ir.dims_of(kind) == ())

    def may_divide(self, expr: Expr) -> bool:
        """Whether a number of Python may be divided by a number: it fails where that is 0."""
        if isinstance(expr, Tree):
            return False
        kind = atom_kind(expr, self.kinds)
        if type(expr) is ir.Const:
            return bool(expr.value)
        if type(kind) is ir.Scalar:
            return kind.python is False or ir.is_filled(kind.size_of)
        return is_array(kind)

    def is_better(self, new: Expr, old: Expr) -> bool:
        """Whether a form takes fewer operations, or the same and reads better."""
        one, two = self.cost(new), self.cost(old)
        if one != two:
            return one < two
        literal = any(type(a) is ir.Const for a in _atoms(old))
        return one[0] > 0 or (literal and not any(a.op is Op.DIV for a in _ops(old)))

    def cost(self, expr: Expr) -> tuple[int, int]:
        """The operations on arrays, and all."""
        ops = list(_ops(expr))
        return sum(not self.is_number(op) for op in ops), len(ops)

    # --- statements ---

    def placed(self, op: Tree) -> ir.Call:
        """The call of an operation, whose operands get names."""
        return ir.Call(_WRITTEN[op.op], tuple(map(self.atom, op.args)))

    def atom(self, expr: Expr) -> ir.Atom:
        """An expression as an operand."""
        return self.signs.computed(self.placed(expr)) if isinstance(expr, Tree) else expr


@state
class _Factors:
    """The numbers of a chain."""

    chain: Products
    literals: list[ir.Const] = field(default_factory=list)
    under: list[ir.Const] = field(default_factory=list)  # literals that are divided by
    tops: list[Expr] = field(default_factory=list)
    bottoms: list[Expr] = field(default_factory=list)
    negative: bool = False
    slots: int = 0

    # --- taking apart ---

    def taken(self, expr: Expr) -> Expr | None:
        """What is left of an expression without its numbers, None if nothing is."""
        if not isinstance(expr, Tree):
            if not self.chain.is_number(expr):
                return expr
            self.add(expr, self.literals, self.tops)
            return None
        if expr.op is Op.NEG:
            self.negative = not self.negative
            return self.taken(expr.args[0])
        if expr.op is Op.DIV:
            return self.divided(*expr.args)
        if expr.op is Op.EXPAND_DIMS:
            inner = self.taken(expr.args[0])
            return None if inner is None else replace(expr, args=(inner, *expr.args[1:]))
        left, right = map(self.taken, expr.args)
        if left is None or right is None:
            return right if left is None else left
        return Tree(expr.op, (left, right))

    def add(self, expr: Expr, literals: list[ir.Const], others: list[Expr]) -> None:
        """A number goes to those of its sort."""
        if type(expr) is ir.Const and 1e-20 < abs(expr.value) < 1e20:
            literals.append(expr)
        else:
            others.append(expr)

    def divided(self, over: Expr, under: Expr) -> Expr | None:
        """What is left of a quotient."""
        left = self.taken(over)
        if isinstance(under, Tree) and under.op is Op.MUL:
            number, rest = under.args
            if type(number) is ir.Const and number.value:
                self.add(number, self.under, self.bottoms)
                under = rest
        if not self.chain.is_number(under):
            self.slots += left is None
            return Tree(Op.DIV, (_SLOT if left is None else left, under))
        if left is not None and not self.chain.may_divide(under):
            return Tree(Op.DIV, (left, under))
        self.add(under, self.under, self.bottoms)
        return left

    # --- putting together ---

    def joined(self, arrays: Expr | None) -> Expr | None:
        """The product of the numbers and of the arrays, None if there is nothing to gather."""
        if self.slots > 1 or not (self.literals or self.tops):
            return None
        if arrays is None or self.slots:
            number = self.before(None)
            return number if arrays is None else _filled(arrays, number)
        return self.in_front(arrays, self.before)

    def before(self, expr: Expr | None) -> Expr:
        """The numbers, before an expression; without any it is itself divided."""
        first, last = self.literal()
        tops, bottoms = [*first, *self.tops], [*self.bottoms, *last]
        if not tops:
            return _product([ir.Const(1.0) if expr is None else expr], bottoms, self.negative)
        number = _product(tops, bottoms, self.negative)
        return number if expr is None else Tree(Op.MUL, (number, expr))

    def literal(self) -> tuple[list[Expr], list[Expr]]:
        """The literals as one, none if that is 1.0 or -1.0, and what is left to divide by."""
        if len(self.literals) < 2 and not self.under and not self.negative:
            return [c for c in self.literals if c.value != 1.0], []
        number, rest = _ratio(self.literals, self.under), list[Expr]()
        if len(repr(number)) > sum(len(repr(c.value)) for c in (*self.literals, *self.under)):
            number, rest = _ratio(self.literals, ()), [*self.under]
        number = -number if self.negative else number
        self.negative = number == -1.0
        return ([] if abs(number) == 1.0 else [ir.Const(number)]), rest

    def in_front(self, arrays: Expr, change: Callable[[Expr], Expr]) -> Expr:
        """A product whose first operand is changed, or a smaller one, which comes first."""
        if not isinstance(arrays, Tree):
            return change(arrays)
        first, second = arrays.args
        if arrays.op is Op.MUL and self.size(second) < self.size(first):
            first, second = second, first
        return Tree(arrays.op, (self.in_front(first, change), second))

    def size(self, arrays: Expr) -> int:
        """How many axes the smallest factor of a product has along which it is not repeated."""
        if isinstance(arrays, Tree):
            factors = arrays.args if arrays.op is Op.MUL else arrays.args[:1]
            return min(map(self.size, factors))
        dims = ir.dims_of(atom_kind(arrays, self.chain.kinds))
        return _MANY if dims is None else sum(d != 1 for d in dims)


def _product(tops: list[Expr], bottoms: list[Expr], negative: bool) -> Expr:
    """A product of some expressions over others."""
    result = Tree(Op.NEG, (tops[0],)) if negative else tops[0]
    for expr in tops[1:]:
        result = Tree(Op.MUL, (result, expr))
    for expr in bottoms:
        result = Tree(Op.DIV, (result, expr))
    return result


def _ratio(over: Iterable[ir.Const], under: Iterable[ir.Const]) -> float:
    """The product of literals, as written, over that of others."""
    from decimal import Decimal  # in few programs: it is a large module

    value = Decimal(1)
    for literal in over:
        value *= Decimal(repr(literal.value))
    for literal in under:
        value /= Decimal(repr(literal.value))
    return float(value)


def _filled(arrays: Expr, factor: Expr) -> Expr:
    """A product with its numbers in the place that was left for them."""
    if not isinstance(arrays, Tree):
        return factor if arrays is _SLOT else arrays
    return Tree(arrays.op, tuple(_filled(a, factor) for a in arrays.args))


def _ops(expr: Expr) -> Iterator[Tree]:
    """The operations of an expression."""
    if isinstance(expr, Tree):
        yield expr
        for inner in expr.args:
            yield from _ops(inner)


def _atoms(expr: Expr) -> Iterator[ir.Atom]:
    """The operands of an expression."""
    if isinstance(expr, Tree):
        for inner in expr.args[:1] if expr.op is Op.EXPAND_DIMS else expr.args:
            yield from _atoms(inner)
    else:
        yield expr


def _is_real_float(kind: ir.Kind) -> bool:
    """Whether a value is certainly real and floating."""
    dtype = kind.dtype if type(kind) is ir.Array or type(kind) is ir.Scalar else None
    return dtype is not None and dtype[:5] in ("float", "longd")


def _is_pythons(kind: ir.Kind) -> bool:
    """Whether a value is a float or int of Python, which leaves the dtype of an array as it is."""
    return (
        type(kind) is ir.Scalar and kind.python is True and kind.dtype in ("float64", "int64")
    )
