"""One template at one call: its parameters bound, its names made fresh, what is known folded away.

`expand` gives the adjoint statements of a call in the order in which they run.  The lines below
the `yield` are run through once, statement by statement, with what is known of the arguments: an
`if` that is decided disappears, a loop over known items is written out, and lines that only serve
arguments without a derivative are left out.
"""

from __future__ import annotations

from dataclasses import dataclass

from srcdiff import ir
from srcdiff.analysis.facts import Facts
from srcdiff.autodiff.expand.contribute import Statement
from srcdiff.autodiff.expand.expander import Expander
from srcdiff.autodiff.expand.tangent import Along, Tangent
from srcdiff.errors import InternalError
from srcdiff.primitives.registry import Bound

__all__ = ["Along", "Expansion", "Tangent", "expand"]


@dataclass(frozen=True)
class Expansion:
    """The adjoint statements of one call, in run order."""

    adjoint: ir.Block






def expand(bound: Bound, stmt: Statement, facts: Facts) -> Expansion:
    """The adjoint of a statement by its rule."""
    if bound.rule.definition is not None:
        raise InternalError(f"the definition of {bound.name} is not written out", stmt)
    if bound.rule.template is None:
        return Expansion(())
    expander = Expander(bound, stmt, facts)
    expander.check_arguments()
    return Expansion(expander.run())
