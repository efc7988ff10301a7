"""The keys that a dict has from the start: a store under one of them replaces a value."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

from srcdiff import ir
from srcdiff.analysis.structure import may_be_dict
from srcdiff.ir.kinds import UNKNOWN, Dict, Kind, sure
from srcdiff.kinds.atoms import atom_kind
from srcdiff.runtime import trees

Keys = Mapping[str, frozenset[Any]]

_TAKEN_OUT = frozenset({"pop", "popitem", "clear"})
_HANDED_ON = (operator.getitem, *map(ir.Method, ("get", "pop", "setdefault")))


def first_keys(block: ir.Block, kinds: Mapping[str, Kind]) -> Keys:
    """By the place that makes a dict, the keys that it certainly has all the time."""
    found: dict[str, frozenset[Any]] = {}
    primal = [s.primal for s in ir.walk(block) if isinstance(s, ir.Pair) and s.primal is not None]
    bound = {n for s in primal for n in ir.writes(s)}
    for stmt in primal:
        for site, keys in _known(stmt, kinds, bound):
            found[site] = found.get(site, keys) & keys
    return found


def _known(
    stmt: ir.Stmt, kinds: Mapping[str, Kind], bound: set[str]
) -> list[tuple[str, frozenset[Any]]]:
    """The dicts that a statement makes, or takes something out of, and their certain keys.

    Of a copy they are known if it is one of a parameter (none of the names `bound`).
    """
    call = ir.call_of(stmt)
    if call is None:
        return []
    if isinstance(call.fn, ir.Method):
        base = kinds.get(call.args[0].id) if isinstance(call.args[0], ir.Name) else None
        if isinstance(base, Dict) and call.fn.name in _TAKEN_OUT:
            return [(base.site, frozenset())]
    made = kinds.get(stmt.target.id) if isinstance(stmt, ir.Assign) else None
    if not isinstance(made, Dict) or call.fn in _HANDED_ON:
        return []
    if call.fn is ir.make_dict:
        return [(made.site, frozenset(a.value for a in call.args[::2] if isinstance(a, ir.Const)))]
    source = call.args[0] if call.args and call.fn in (dict, trees.kept) else None
    if not isinstance(source, ir.Name) or source.id in bound:
        return [(made.site, frozenset())]
    return _copied(made, kinds.get(source.id))


def _copied(made: Kind, source: Kind | None) -> list[tuple[str, frozenset[Any]]]:
    """The keys of the dicts in a copy of a parameter."""
    if not isinstance(made, Dict) or not isinstance(source, Dict):
        return []
    inner, of = dict(made.items), dict(source.items)
    found = [(made.site, frozenset(of))]
    for key in inner.keys() & of.keys():
        found += _copied(inner[key], of[key])
    return found


def has_key(base: ir.Name, index: ir.Atom, kinds: Mapping[str, Kind], keys: Keys) -> bool:
    """Whether what a store replaces is certainly there: an item of no dict, or of a known key."""
    kind = sure(kinds.get(base.id, UNKNOWN))
    if not may_be_dict(kind, atom_kind(index, kinds)):
        return True
    known = keys.get(kind.site, frozenset()) if isinstance(kind, Dict) else ()
    return isinstance(index, ir.Const) and index.value in known
