"""What changes the structure of a list or dict: the number of its items, their shapes, its keys.

The adjoint of a container has its structure.  As long as that stays, it can be made at any time;
else it is made from the container as it is at the place where it is needed.
"""

from __future__ import annotations

from collections.abc import Mapping

from srcdiff import ir
from srcdiff.ir.kinds import UNKNOWN, Dict, Kind, Text, is_numeric, same_shape, sure
from srcdiff.kinds.atoms import atom_kind
from srcdiff.kinds.indexing import item_kind
from srcdiff.primitives.effects import LIST_MUTATORS

Kinds = Mapping[str, Kind]


def keeps_shape(stmt: ir.SetItem, kinds: Kinds) -> bool:
    """Whether what is stored has surely the shape of what was at its place, if anything was."""
    base = kinds.get(stmt.base.id)
    if base is None or stmt.index is None:
        return False
    old = item_kind(base, atom_kind(stmt.index, kinds))
    return same_shape(old, atom_kind(stmt.value, kinds))


def reshaped(block: ir.Block, kinds: Kinds, classes: Mapping[str, str]) -> frozenset[str]:
    """The classes of containers whose structure some statement changes (new keys apart)."""
    found: set[str] = set()
    for stmt in ir.walk(block):
        if isinstance(stmt, ir.SetItem):
            kind = kinds.get(stmt.base.id)
            numeric = kind is not None and is_numeric(kind)
            if not numeric and not keeps_shape(stmt, kinds):
                found.add(stmt.base.id)
        elif isinstance(stmt, (ir.Assign, ir.Effect)) and isinstance(stmt.rhs, ir.Call):
            found.update(_resized(stmt.rhs))
    return frozenset(classes[n] for n in found if n in classes)


def may_be_dict(base: Kind, key: Kind) -> bool:
    """Whether what is indexed may be a dict: what is not known is one where the index is a text."""
    base = sure(base)
    return isinstance(base, Dict) or (base == UNKNOWN and isinstance(key, Text))


_RESIZERS = LIST_MUTATORS | {"popitem"}


def _resized(call: ir.Call) -> tuple[str, ...]:
    """What a method takes items out of or puts them into, other than by a store."""
    if isinstance(call.fn, ir.Method) and call.fn.name in _RESIZERS:
        return ir.names(call.args[0])
    return ()
