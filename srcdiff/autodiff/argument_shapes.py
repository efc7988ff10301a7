"""Check that the arguments fit each other where what would have failed is not computed.

`np.sum(x + y)` has a gradient that looks at no element of either, but it has none where the shapes
do not fit.  The kinds of the primal say which lengths its operations have to find equal; where
nothing in the finished derivative needs them to be, `np.broadcast_shapes` does.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field

import numpy as np

from srcdiff import ir
from srcdiff.ir.builder import Builder
from srcdiff.ir.frozen import state
from srcdiff.kinds.calls import atom_kind
from srcdiff.kinds.interpreter import infer
from srcdiff.kinds.lengths import Equal
from srcdiff.primitives.ops import Op, is_op

Place = tuple[object, ...]
"""Where an array is among the arguments: the parameter, and keys and positions from there."""
Axis = tuple[Place, int]


def with_fitting(
    function: ir.Function, params: Mapping[str, ir.Kind], primal: Mapping[str, ir.Kind]
) -> ir.Function:
    """The function with checks of the lengths that the primal needs to be equal."""
    given = _arrays(function, params)
    needed = {place: a for place, a in _arrays(function, primal).items() if place in given}
    wanted = [
        (one, two) for one, two in _equal(needed)
        if not ir.same_dim(_dim(given, one), _dim(given, two))
    ]  # fmt: skip
    if not wanted:
        return function
    kinds = infer(function, params)
    known = _Known(_arrays(function, kinds), needed)
    for call in filter(None, map(ir.call_of, function.body)):
        if is_op(call, Op.LIKE_TREE):  # it raises an error where the shapes differ
            known.equal.learn(operator.add, tuple(atom_kind(a, kinds) for a in call.args))
    checks = _Checks(ir.Fresh(ir.all_names(function)), function.loc)
    for pair in wanted:
        if known.may_differ(*pair):
            checks.check(known.asked(*pair))
    return ir.rebuilt(function, body=_with(checks.out, function)) if checks.out else function


def _with(checks: Iterable[ir.Stmt], function: ir.Function) -> ir.Block:
    """The body with checks after the forward part, or before it where it gives names anew."""
    body = function.body
    ends = (k for k, s in enumerate(body) if isinstance(s, (ir.Backward, ir.Return)))
    end = 0 if ir.bound(body) & {p.name for p in function.params} else next(ends, 0)
    return (*body[:end], *checks, *body[end:])


# --- what is needed ------------------------------------------------------------------------------


def _arrays(function: ir.Function, kinds: Mapping[str, ir.Kind]) -> dict[Place, ir.Array]:
    """The arrays that the arguments are or hold, with the names of their lengths."""
    return dict(a for p in function.params for a in _held(kinds.get(p.name), (p.name,)))


def _held(kind: ir.Kind | None, place: Place) -> Iterator[tuple[Place, ir.Array]]:
    """The arrays in a value."""
    if isinstance(kind, ir.Array) and kind.dims and not kind.maybe_scalar:
        yield place, kind
    items: Iterable[tuple[object, ir.Kind]] = ()
    if isinstance(kind, ir.Dict) and kind.cls is None:
        items = kind.items
    elif isinstance(kind, (ir.List, ir.Tuple)) and kind.items is not None:
        items = enumerate(kind.items)
    for key, item in items:
        yield from _held(item, (*place, key))


def _equal(arrays: Mapping[Place, ir.Array]) -> Iterator[tuple[Axis, Axis | int]]:
    """The axes that have the same length as another one, or a known length."""
    axes = [((place, k), d) for place, a in arrays.items() for k, d in enumerate(a.dims or ())]
    for (one, p), (other, q) in itertools.combinations(axes, 2):
        if not isinstance(p, int) and ir.same_dim(p, q):
            yield one, other
    for axis, dim in axes:
        if isinstance(dim, int):
            yield axis, dim


def _dim(arrays: Mapping[Place, ir.Array], axis: Axis | int) -> ir.Dim:
    """The length of an axis, or the length itself."""
    if isinstance(axis, int):
        return axis
    array = arrays.get(axis[0])
    return array.dims[axis[1]] if array is not None and array.dims is not None else None


@state
class _Known:
    """Which lengths are equal wherever the derivative comes to its end."""

    arrays: Mapping[Place, ir.Array]
    needed: Mapping[Place, ir.Array]
    equal: Equal = field(default_factory=Equal)

    def may_differ(self, one: Axis, other: Axis | int) -> bool:
        """Whether lengths that are not 1 are not known to be equal."""
        p, q = _dim(self.arrays, one), _dim(self.arrays, other)
        if not (ir.is_big(p) and ir.is_big(q)):
            return False
        a, b = self.equal.kind(ir.Array(None, (p,))), self.equal.kind(ir.Array(None, (q,)))
        assert isinstance(a, ir.Array) and isinstance(b, ir.Array) and a.dims and b.dims
        return not ir.same_dim(a.dims[0], b.dims[0])

    def asked(self, one: Axis, other: Axis | int) -> list[Axis | Place | int]:
        """The lengths or shapes that have to fit; from here on they do."""
        if not isinstance(other, int) and self._broadcast(one, other):
            self.equal.learn(operator.add, (self.arrays[one[0]], self.arrays[other[0]]))
            return [one[0], other[0]]
        alone = (ir.Array(None, (_dim(self.arrays, axis),)) for axis in (one, other))
        self.equal.learn(operator.add, tuple(alone))
        return [one, other]

    def _broadcast(self, one: Axis, other: Axis) -> bool:
        """Whether two arrays need to fit each other, and these axes meet then."""
        p, q = (self.needed[axis[0]].dims or () for axis in (one, other))
        meet = one[0] != other[0] and one[1] - len(p) == other[1] - len(q)
        pairs = zip(reversed(p), reversed(q))
        return meet and all(a == 1 or b == 1 or ir.same_dim(a, b) for a, b in pairs)


# --- what asks for it ----------------------------------------------------------------------------


class _Checks(Builder):
    """The statements that raise an error where lengths do not fit."""

    def check(self, lengths: Iterable[Axis | Place | int]) -> None:
        """One more check, of shapes or of single lengths."""
        args = tuple(map(self._asked, lengths))
        call = ir.Call(np.broadcast_shapes, args, text="np.broadcast_shapes")
        self.out.append(ir.Effect(call, self.loc))

    def _asked(self, what: Axis | Place | int) -> ir.Atom:
        """A shape, the length of an axis, or a number."""
        if isinstance(what, int):
            return ir.Const(what)
        first, *rest = what
        if not isinstance(first, tuple):
            return self.attribute(self._array(what), "shape")
        return self.item(self.attribute(self._array(first), "shape"), ir.Const(rest[0]))

    def _array(self, place: Place) -> ir.Atom:
        """What an argument is or holds."""
        name, *keys = place
        atom: ir.Atom = ir.Name(str(name))
        for key in keys:
            atom = self.item(atom, ir.Const(key))
        return atom
