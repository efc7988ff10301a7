"""Slices that are values, in the index of a list or tuple: `xs[s]` as `xs[s.start:s.stop:s.step]`.

Takes a function and the kinds of its names.  A slice of an array is a view, by whatever name the
slice goes; one of a list is a list of its own, which the passes that follow know by its colons.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import replace

from srcdiff import ir
from srcdiff.ir.builder import Lines
from srcdiff.ir.kinds import Kind, List, NoneKind, SliceKind, Tuple, sure
from srcdiff.kinds.atoms import atom_kind

Kinds = Mapping[str, Kind]

_PARTS = ("start", "stop", "step")


def written_slices(function: ir.Function, kinds: Kinds) -> ir.Function:
    """The function with the slices of its lists and tuples written out."""
    if not any(_index(s, kinds) for s in ir.walk(function.body)):
        return function
    fresh = ir.Fresh(ir.all_names(function))

    def block(inner: ir.Block) -> ir.Block:
        out: list[ir.Stmt] = []
        for stmt in inner:
            index = _index(stmt, kinds)
            if index is None:
                out.append(ir.map_blocks(stmt, block))
                continue
            lines = Lines(fresh, stmt.loc)
            written = _written(index, sure(atom_kind(index, kinds)), lines)
            out += (*lines.out, _with_index(stmt, written))
        return tuple(out)

    return replace(function, body=block(function.body))


def _index(stmt: ir.Stmt, kinds: Kinds) -> ir.Atom | None:
    """The index of a list or tuple that a statement reads or changes, if it is such a slice."""
    call = ir.call_of(stmt)
    if isinstance(stmt, ir.SetItem):
        base, index = stmt.base, stmt.index
    elif call is not None and call.fn in (operator.getitem, operator.delitem):
        base, index = call.args  # type: ignore[assignment]
    else:
        return None
    if not isinstance(index, (ir.Name, ir.Ref)):
        return None
    if not isinstance(sure(atom_kind(base, kinds)), (List, Tuple)):
        return None
    return index if isinstance(sure(atom_kind(index, kinds)), SliceKind) else None


def _written(index: ir.Atom, kind: Kind, lines: Lines) -> ir.Slice:
    """The slice with its parts; a step that is surely None is left out."""
    value = index.value if isinstance(index, ir.Ref) else None
    if isinstance(value, slice):
        return ir.Slice(*(ir.Const(getattr(value, part)) for part in _PARTS))
    plain = isinstance(kind, SliceKind) and isinstance(kind.step, NoneKind)
    lower, upper = (lines.call(ir.Attr(part), index) for part in _PARTS[:2])
    return ir.Slice(lower, upper, ir.NONE if plain else lines.call(ir.Attr("step"), index))


def _with_index(stmt: ir.Stmt, index: ir.Slice) -> ir.Stmt:
    """A statement with another index."""
    if isinstance(stmt, ir.SetItem):
        return replace(stmt, index=index)
    assert isinstance(stmt, (ir.Assign, ir.Effect)) and isinstance(stmt.rhs, ir.Call)
    return replace(stmt, rhs=replace(stmt.rhs, args=(stmt.rhs.args[0], index)))
