"""One template at one call: its parameters bound, its names made fresh, what is known folded away.

`expand` gives the adjoint statements of a call in the order in which they run.  The lines below
the `yield` are run through once, statement by statement, with what is known of the arguments: an
`if` that is decided disappears, a loop over known items is written out, and lines that only serve
arguments without a derivative are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from srcdiff import ir
from srcdiff.analyses.kind_types import Kind, is_float
from srcdiff.analyses.links import takes_keys
from srcdiff.errors import InternalError, MissingRuleError
from srcdiff.facts import Facts
from srcdiff.lower.template import differentiable, mentioned
from srcdiff.rules import Bound, find, lookup

from .contribute import Statement
from .expander import Expander
from .tangent import Along, Tangent

__all__ = ["Along", "Expansion", "Tangent", "expand", "flows"]


@dataclass(frozen=True)
class Expansion:
    """The adjoint statements of one call, in run order."""

    adjoint: ir.Block


def flows(call: ir.Call, kinds: Mapping[str, Kind]) -> tuple[ir.Atom, ...]:
    """The arguments of a call that a derivative flows from; all of them where no rule says."""
    everything = (*call.args, *(v for _, v in call.kwargs))
    if takes_keys(call, kinds):
        return ()
    rule = lookup(call.fn)
    if rule is None or call.fn in (ir.make_list, ir.make_dict):
        return everything
    if rule.definition is not None or rule.reason:
        return everything
    if rule.template is None:
        return ()
    try:
        bound = find(call, kinds)
    except MissingRuleError:
        return everything  # the error comes, with its place, if one of them is active
    flowing = differentiable(rule) | _forgotten(bound, kinds)
    return tuple(atom for name, atom in bound.args.items() if name in flowing)


def _forgotten(bound: Bound, kinds: Mapping[str, Kind]) -> frozenset[str]:
    """The parameters that a rule says nothing of, and that are given floats: an error."""
    rule = bound.rule
    silent = (p for p in bound.args if p not in mentioned(rule) and p != rule.mutates)
    return frozenset(
        p for p in silent if any(is_float(kinds[n]) for n in ir.names(bound.args[p]) if n in kinds)
    )


def expand(bound: Bound, stmt: Statement, facts: Facts) -> Expansion:
    """The adjoint of a statement by its rule."""
    if bound.rule.definition is not None:
        raise InternalError(f"the definition of {bound.name} is not written out", stmt)
    if bound.rule.template is None:
        return Expansion(())
    expander = Expander(bound, stmt, facts)
    expander.check_arguments()
    return Expansion(expander.run())
