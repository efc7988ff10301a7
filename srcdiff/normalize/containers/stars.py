"""List displays with `*xs` of unknown length, as joined lists: `[*xs, y]` is `xs + [y]`."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping
from itertools import groupby

from srcdiff import ir
from srcdiff.ir.builder import Lines
from srcdiff.ir.kinds import Kind, List, is_active_kind
from srcdiff.kinds.atoms import atom_kind

Kinds = Mapping[str, Kind]


def joined(call: ir.Call, target: ir.Name, lines: Lines, kinds: Kinds) -> bool:
    """Write `[a, *xs]` as a sum; False where there is no `*`, or nothing carries a derivative."""
    if not any(isinstance(a, ir.Star) for a in call.args):
        return False
    if not any(_carries(a, kinds) for a in call.args):
        return False
    whole, *rest = _parts(call.args, lines, kinds)
    if not rest:
        lines.assign(target, ir.Call(list, (whole,), text="list"))
        return True
    *inner, last = rest
    for part in inner:
        whole = lines.call(operator.add, whole, part)
    lines.assign(target, ir.Call(operator.add, (whole, last)))
    return True


def _carries(atom: ir.Atom, kinds: Kinds) -> bool:
    """Whether an item of a display may carry a derivative, or one of those that it stands for."""
    return is_active_kind(atom_kind(atom.value if isinstance(atom, ir.Star) else atom, kinds))


def _parts(items: tuple[ir.Atom, ...], lines: Lines, kinds: Kinds) -> Iterator[ir.Atom]:
    """The lists that a display joins."""
    for starred, group in groupby(items, lambda a: isinstance(a, ir.Star)):
        if not starred:
            made = lines.fresh()
            lines.assign(made, ir.Call(ir.make_list, tuple(group)))
            yield made
            continue
        for atom in group:
            assert isinstance(atom, ir.Star)
            known = isinstance(atom_kind(atom.value, kinds), List)
            yield atom.value if known else lines.call(list, atom.value)
