"""`out=None` says nothing: calls without it.

Takes a function and the kinds of its names; returns it without the arguments `out` that are surely
None.  One that is None at times is refused: what the call writes into is known only when it runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from srcdiff import ir
from srcdiff.errors import UnsupportedError
from srcdiff.ir.kinds import Kind, Maybe, NoneKind, Tuple
from srcdiff.kinds.atoms import atom_kind
from srcdiff.primitives.outs import named, takes_out

Kinds = Mapping[str, Kind]


def without_idle_outs(function: ir.Function, kinds: Kinds) -> ir.Function:
    """The function without what says that nothing is written into."""

    def block(inner: ir.Block) -> ir.Block:
        return tuple(_plain(ir.map_blocks(s, block), kinds) for s in inner)

    return replace(function, body=block(function.body))


def _plain(stmt: ir.Stmt, kinds: Kinds) -> ir.Stmt:
    """A statement without `out=None`."""
    call = ir.call_of(stmt)
    if call is None or not isinstance(stmt, (ir.Assign, ir.Effect)) or not takes_out(call.fn):
        return stmt
    by_name = named(call)
    given = dict(by_name.kwargs).get("out")
    if given is None:
        return stmt
    kinds_given = _inside(atom_kind(given, kinds))
    if any(isinstance(k, Maybe) for k in kinds_given):
        raise UnsupportedError(
            "`out` is None at times, and an array at others",
            stmt.loc,
            remedy="Call the function without it, and store the result: `out[...] = f(x)`.",
        )
    if not all(isinstance(k, NoneKind) for k in kinds_given):
        return stmt
    kwargs = tuple((k, v) for k, v in by_name.kwargs if k != "out")
    return ir.rebuilt(stmt, rhs=replace(by_name, kwargs=kwargs))


def _inside(kind: Kind) -> tuple[Kind, ...]:
    """The kinds of what is written into: of several results there are several."""
    return kind.items if isinstance(kind, Tuple) and kind.items else (kind,)
