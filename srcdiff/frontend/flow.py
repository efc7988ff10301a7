"""Which arguments of a call a derivative flows from, by the template of its rule."""

from __future__ import annotations

from collections.abc import Mapping

from srcdiff import ir
from srcdiff.analysis.links import takes_keys
from srcdiff.errors import MissingRuleError
from srcdiff.frontend.lower.template import differentiable, mentioned
from srcdiff.ir.kinds import Kind, is_float
from srcdiff.primitives.registry import Bound, find, lookup


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
