"""Simplify a finished function: copies, algebra, shapes, dead code.

Takes the function that `tape` has put together (forward statements, the comment "backward",
backward statements, `Return`) and the kinds of its parameters; returns a function that computes the
same: the same shapes and dtypes, the same floating-point results but for the sign of a zero and the
rounding of products with adjoints, and the same memory shared by what is returned.  Statements
before the comment are the user's: there only temporaries are replaced and dead statements dropped.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from srcdiff import ir
from srcdiff.ir.kinds import Kind
from srcdiff.kinds.interpreter import infer
from srcdiff.optimize.cleared import without_clearing
from srcdiff.optimize.coalesce import coalesce, with_one_name
from srcdiff.optimize.copies import without_copies
from srcdiff.optimize.dead_code import remove_dead
from srcdiff.optimize.forms import without_outputs
from srcdiff.optimize.order import reorder
from srcdiff.optimize.paired import simplify_pairs
from srcdiff.optimize.rewrite import rewrite
from srcdiff.optimize.scalars import derived

ROUNDS = 5


def simplify(
    function: ir.Function,
    params: Mapping[str, Kind],
    kinds: dict[str, Kind] | None = None,
    seeds: Collection[str] = (),
) -> ir.Function:
    """The function without what nobody needs, in its plainest form.

    `kinds` are those of its names, inferred if not given; new names are added to them.  `seeds`
    are the cotangents: in products with what is computed from them numbers are multiplied first.
    """
    function = remove_dead(function)
    kinds = infer(function, params) if kinds is None else kinds
    seeds = [p.name for p in function.params if p.name in seeds]
    for k in range(ROUNDS):
        # What is computed twice is found first: then products are taken apart.
        adjoints = derived(function, seeds) if k else frozenset[str]()
        made = rewrite(function, kinds, adjoints)
        left = remove_dead(without_copies(made.function, kinds), kinds)
        plain = without_outputs(without_clearing(left, kinds), kinds)
        new = reorder(with_one_name(coalesce(plain)), kinds)
        # What rewriting has made plain it leaves as it is, but for products.
        if (k or not seeds) and (new == function or (new == plain and not adjoints)):
            return new
        # Copies are dropped where what has died was their last reader but one.
        if k and new == left and made.is_plainest(new) and without_copies(new, kinds) is new:
            return new
        function = new
    return function


__all__ = ["simplify", "simplify_pairs"]
