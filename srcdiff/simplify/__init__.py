"""Simplify a finished function: copies, algebra, shapes, dead code.

Takes the function that `tape` has put together (forward statements, the comment "backward",
backward statements, `Return`) and the kinds of its parameters; returns a function that computes the
same: the same shapes and dtypes, the same floating-point results but for the sign of a zero, and
the same memory shared by what is returned.  Statements before the comment are the user's: there
only temporaries are replaced and dead statements dropped.
"""

from __future__ import annotations

from collections.abc import Mapping

from srcdiff import ir
from srcdiff.analyses.kind_types import Kind
from srcdiff.analyses.kinds import infer
from srcdiff.simplify.cleared import without_clearing
from srcdiff.simplify.coalesce import coalesce, with_one_name
from srcdiff.simplify.copies import read_at_once, without_copies
from srcdiff.simplify.dead import remove_dead
from srcdiff.simplify.forms import without_outputs
from srcdiff.simplify.order import reorder
from srcdiff.simplify.paired import simplify_pairs
from srcdiff.simplify.rewrite import rewrite

ROUNDS = 4


def simplify(
    function: ir.Function, params: Mapping[str, Kind], kinds: dict[str, Kind] | None = None
) -> ir.Function:
    """The function without what nobody needs, in its plainest form.

    `kinds` are those of its names, inferred if not given; new names are added to them.
    """
    function = remove_dead(function)
    kinds = infer(function, params) if kinds is None else kinds
    for _ in range(ROUNDS):
        plain = remove_dead(without_copies(rewrite(function, kinds), kinds), kinds)
        plain = read_at_once(without_outputs(without_clearing(plain, kinds), kinds), kinds)
        new = reorder(with_one_name(coalesce(plain)), kinds)
        if new in (plain, function):
            return new  # what rewriting has made plain it leaves as it is
        function = new
    return function


__all__ = ["simplify", "simplify_pairs"]
