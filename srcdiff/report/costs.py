"""How many operations the lines of a function cost, estimated from the kinds of its values.

A count is a sum of products of lengths.  Only arithmetic counts: views, copies, new arrays and
indices are free, and an expensive function (`exp`) costs what a cheap one does.  What stands in a
branch counts as if it was taken, what stands in a `while` as if it ran n times, n being any length
that is not known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np

from srcdiff import ir
from srcdiff.kinds.interpreter import infer
from srcdiff.optimize.rewrite import mark_in
from srcdiff.primitives.operation import Meaning, op_of
from srcdiff.primitives.ops import Op, is_op, which_op
from srcdiff.primitives.registry import lookup

Count = Counter[tuple[str, ...]]
"""Products of lengths (their names, sorted) and how often each is to be added."""

UNKNOWN = "n"
_BELOW = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
_ABOVE = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_PRODUCTS: Mapping[Op | None, int] = {
    **dict.fromkeys((Op.MATMUL, Op.NP_MATMUL, Op.DOT, Op.INNER, Op.VDOT, Op.TENSORDOT), -1),
    Op.DOT_METHOD: -1, Op.MATMUL_LEFT: -1, Op.DOT_LEFT: -1, Op.MATMUL_RIGHT: -2, Op.DOT_RIGHT: -2,
}  # fmt: skip
"""Products of matrices, and the axis of the first operand that they sum over."""

_FREE = (Meaning.ASKED, Meaning.LIKE, Meaning.STRUCTURE, Meaning.CONVERTED)
_MAKERS = (
    Op.RANGE, Op.LIST, Op.TUPLE, Op.ZEROS, Op.ONES, Op.EMPTY, Op.FULL, Op.FULL_LIKE, Op.ARANGE,
)  # fmt: skip
_HELPERS = "srcdiff.runtime.trees."
"""Where what goes over the parts of adjoints is: it copies, adds and makes zeros."""


# --- counts --------------------------------------------------------------------------------------


def constant(number: int) -> Count:
    """A count that is a number."""
    return Counter({(): number})


def length(dim: ir.Dim, known: Mapping[str, int]) -> Count:
    """The length of an axis; `known` has the lengths of the example."""
    if isinstance(dim, int):
        return constant(dim)
    if not isinstance(dim, ir.Sym) or "@" in dim.name or dim.name == "?":
        return Counter({(UNKNOWN,): 1})
    if dim.name in known:
        return constant(max(0, known[dim.name] + dim.offset))
    return Counter({(dim.name,): 1, (): dim.offset})


def product(one: Count, other: Count) -> Count:
    """The product of two counts."""
    found: Count = Counter()
    for a, m in one.items():
        for b, n in other.items():
            found[tuple(sorted((*a, *b)))] += m * n
    return found


def size(kind: ir.Kind | None, known: Mapping[str, int]) -> Count:
    """The number of elements of a value."""
    if isinstance(kind, ir.Scalar):
        return constant(1)
    if not isinstance(kind, ir.Array) or kind.dims is None:
        return Counter({(UNKNOWN,): 1})
    found = constant(1)
    for dim in kind.dims:
        found = product(found, length(dim, known))
    return found


def shown(count: Count) -> str:
    """A count for a reader: `2·x₀·x₁ + 3·x₀`."""
    terms = [(names, n) for names, n in count.items() if n > 0]
    terms.sort(key=lambda t: (-len(t[0]), t[0]))
    texts = []
    for names, n in terms[:3]:
        number = [f"{n:,}".replace(",", "\u2009")] if n != 1 or not names else []
        powers = [_short(name) + _power(many) for name, many in Counter(names).items()]
        texts.append("·".join([*number, *powers]))
    return " + ".join([*texts, *(["…"] if len(terms) > 3 else [])]) or "0"


def _power(exponent: int) -> str:
    return str(exponent).translate(_ABOVE) if exponent > 1 else ""


def _short(name: str) -> str:
    """`x₀` for the name of the first axis of `x`."""
    base, dot, axis = name.rpartition(".")
    return base + axis.translate(_BELOW) if dot and axis.isdigit() else name


# --- statements ----------------------------------------------------------------------------------


class Costs:
    """What the statements of a function cost, by place, forwards and backwards."""

    def __init__(
        self, function: ir.Function, params: Mapping[str, ir.Kind], known: Mapping[str, int]
    ) -> None:
        self.kinds = infer(function, params)
        self.known = known
        self.forward, self.backward = map(self._by_line, halves(function))

    def _by_line(self, block: ir.Block) -> dict[ir.Loc, Count]:
        """What the lines of a block cost."""
        found: dict[ir.Loc, Count] = {}
        for stmt, loops in ir.walk_in_loops(block):
            count = self._cost(stmt)
            for loop in loops if count else ():
                count = product(self._trips(loop), count)
            if count:
                at = ir.Loc(stmt.loc.file, stmt.loc.line)
                found[at] = found.get(at, Counter()) + count
        return found

    def _cost(self, stmt: ir.Stmt) -> Count:
        """What a plain statement costs once."""
        if isinstance(stmt, ir.AugAssign):
            value = stmt.value
            kind = self._kind(value)
            return size(self.kinds.get(stmt.base.id) if stmt.index is None else kind, self.known)
        call = ir.call_of(stmt)
        if call is None or not isinstance(stmt, ir.Assign):
            return Counter()
        return self._call(call, self.kinds.get(stmt.target.id))

    def _call(self, call: ir.Call, result: ir.Kind | None) -> Count:
        """What a call costs."""
        args, callee, rule = [self._kind(a) for a in call.args], op_of(call.fn), lookup(call.fn)
        if isinstance(call.fn, ir.Attr) or rule is None or rule.view is not None:
            return Counter()
        if is_op(call, *_MAKERS) or callee.means(*_FREE) or callee.name.startswith(_HELPERS):
            return Counter()
        if isinstance(result, ir.Scalar) and result.dtype in ("int64", "bool"):
            return Counter()
        axis = _PRODUCTS.get(which_op(call))
        if axis is not None:
            return self._matrix_product(result, args[0], axis)
        if ".linalg." in callee.name and args:
            return self._cubed(args[0])
        sizes = [size(k, self.known) for k in (result, *args) if k is not None]
        return max(sizes, key=_weight)

    def _matrix_product(self, result: ir.Kind | None, first: ir.Kind | None, axis: int) -> Count:
        """2 m n k."""
        dims = first.dims if isinstance(first, ir.Array) else None
        if dims is None:
            return Counter({(UNKNOWN,) * 3: 2})
        inner = length(dims[axis], self.known) if len(dims) >= -axis else constant(1)
        return product(constant(2), product(size(result, self.known), inner))

    def _cubed(self, kind: ir.Kind | None) -> Count:
        """The order of what linear algebra does with a matrix: its size times its shorter side."""
        dims = kind.dims if isinstance(kind, ir.Array) else None
        if dims is None or len(dims) < 2:
            return Counter({(UNKNOWN,) * 3: 1}) if dims is None else size(kind, self.known)
        return product(size(kind, self.known), length(dims[-1], self.known))

    def _kind(self, atom: ir.Atom) -> ir.Kind | None:
        """The kind of an argument."""
        if isinstance(atom, ir.Name):
            return self.kinds.get(atom.id)
        return ir.Scalar("float64") if isinstance(atom, ir.Const) else None

    def _trips(self, stmt: ir.For | ir.While) -> Count:
        """How often a loop runs."""
        if isinstance(stmt, ir.For) and is_op(stmt.iter, Op.RANGE):
            return self._range(stmt.iter)
        return Counter({(UNKNOWN,): 1})

    def _range(self, call: ir.Call) -> Count:
        """The length of a range with a step of 1 or -1."""
        ends = [self._whole(a) for a in call.args]
        step = ends[2] if len(ends) == 3 else constant(1)
        if None in ends or step not in (constant(1), constant(-1)):
            return Counter({(UNKNOWN,): 1})
        start, stop = (constant(0), ends[0]) if len(ends) == 1 else ends[:2]
        assert start is not None and stop is not None
        if step == constant(-1):
            start, stop = stop, start
        found = Counter(stop)
        found.subtract(start)
        return found

    def _whole(self, atom: ir.Atom) -> Count | None:
        """An int, as far as it is known."""
        if isinstance(atom, ir.Const):
            return constant(atom.value) if isinstance(atom.value, int) else None
        kind = self._kind(atom)
        if not isinstance(kind, ir.Scalar) or kind.value is None and kind.size_of is None:
            return None
        return length(kind.size_of if kind.value is None else kind.value, self.known)


def halves(function: ir.Function) -> tuple[ir.Block, ir.Block]:
    """The forward and the backward statements."""
    mark = mark_in(function.body)
    cut = len(function.body) if mark is None else mark
    return function.body[:cut], function.body[cut + 1 :]


def _weight(count: Count) -> tuple[int, int]:
    """What makes one count larger than another: its longest product, then its number."""
    return max(map(len, count), default=0), sum(count.values())


def lengths(values: Mapping[str, Any]) -> dict[str, int]:
    """The lengths that kinds name, as they are for some arguments."""
    found: dict[str, int] = {}
    for name, value in values.items():
        if isinstance(value, np.ndarray):
            found.update({f"{name}.{k}": n for k, n in enumerate(value.shape)})
        elif isinstance(value, (int, np.integer)):
            found[name] = int(value)
    return found
