"""A backward part for a batch of cotangents, in one pass.

Takes the backward part of a derivative, the kinds of its names for a single item, and the names of
the residuals that are shadows; returns a function with one parameter more, the size of the batch,
in which everything that depends on the cotangents has a leading batch axis.  What depends on them
does so linearly, so that few operations meet it: each has a form with the axis (`forms`,
`shapes`, `index`), and what has none is computed for each item of the batch in a loop of its own.
Control flow never depends on a cotangent.

Tangents of forward mode are linear in their directions just so: `batch_forward` gives the function
that computes a value once and its tangents for a batch of them.

Raises `NoBatchError` where a statement can be written neither way: the caller then runs the
backward part once for each item.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import replace

from srcdiff import ir
from srcdiff.analysis.laid import laid_classes
from srcdiff.autodiff.batch.context import Context, NoBatchError
from srcdiff.autodiff.batch.gather import gathered
from srcdiff.autodiff.batch.memory import columns_together
from srcdiff.autodiff.batch.names import (
    Pairs,
    is_unpacking,
    numbers,
    renamed,
    sharing,
    with_axis,
    written_into,
)
from srcdiff.autodiff.batch.statements import block
from srcdiff.ir.kinds import Kind
from srcdiff.runtime import batched

SIZE = "batch"


def batch_backward(
    function: ir.Function,
    kinds: Mapping[str, Kind],
    shadows: frozenset[int],
    classes: Sequence[str],
    columns: bool = True,
) -> ir.Function:
    """A backward part for a batch; `shadows` are the places of those among the residuals.

    `classes`: of each residual, a name for the memory that it may share with others; `columns`:
    vectors may lie column by column in memory.

    Raises:
        NoBatchError: there is none.
    """
    residuals, seed = (p.name for p in function.params)
    unpacked = [s for s in function.body if is_unpacking(s, residuals)]
    rest = replace(function, body=tuple(s for s in function.body if s not in unpacked))
    ours = {n for s in unpacked for n in ir.writes(s) if _place(s) in shadows}
    theirs = {n for s in unpacked for n in ir.writes(s)} - ours
    shared = _sharing(unpacked, classes)
    names = with_axis(rest, kinds, frozenset({seed}) | ours, shared)
    rest, kinds = gathered(rest, names, kinds, unpacked, shared)
    b = _context(function, rest, kinds, frozenset({seed}) | ours, theirs, shared)
    b = replace(b, renamed=renamed(rest), shadows=sharing(rest, kinds, ours, shared))
    body = (*_with_shadows(unpacked, ours, b), *block(b, rest.body))
    params = (*function.params[:1], ir.Param(seed), ir.Param(b.size.id))
    made = replace(function, params=params, body=body)
    return _finished(columns_together(made, b) if columns else made, "cotangents")


def batch_forward(
    function: ir.Function, kinds: Mapping[str, Kind], tangents: frozenset[str]
) -> ir.Function:
    """A function of forward mode for a batch of tangents, the last parameters.

    Raises:
        NoBatchError: there is none.
    """
    theirs = {p.name for p in function.params} - tangents
    function, kinds = gathered(function, with_axis(function, kinds, tangents), kinds)
    b = replace(_context(function, function, kinds, tangents, theirs), owned=False)
    body = block(b, function.body)
    last = max(k for k, p in enumerate(function.params) if p.name in tangents) + 1
    size = ir.Param(b.size.id, None, function.params[last - 1].style)
    params = (*function.params[:last], size, *function.params[last:])
    return _finished(replace(function, params=params, body=body), "directions")


def _context(
    function: ir.Function,
    rest: ir.Function,
    kinds: Mapping[str, Kind],
    start: frozenset[str],
    theirs: set[str],
    shared: Pairs = (),
) -> Context:
    """What is known of the names of a function, without the statements that are no part of it.

    Raises:
        NoBatchError: one of `theirs` would have a batch axis, or it matters how a batch lies.
    """
    fresh = ir.Fresh(ir.all_names(function) | ir.all_names(rest))
    size = ir.Name(SIZE) if SIZE not in fresh.taken else fresh(SIZE)
    fresh.taken.add(size.id)
    names = with_axis(rest, kinds, start, shared)
    if theirs & names:
        raise NoBatchError("a derivative is written into a value without one", function.loc)
    if names & laid_classes(rest, kinds):
        raise NoBatchError("the order in memory decides what is written into", function.loc)
    written = written_into(rest, kinds, shared)
    return Context(dict(kinds), names, written, numbers(rest), size, fresh)


def _finished(function: ir.Function, what: str) -> ir.Function:
    doc = f"{(function.doc or '').rstrip('.')}, for a batch of {what}."
    return replace(function, name=f"{function.name}_batch", doc=doc)


def _sharing(unpacked: Sequence[ir.Stmt], classes: Sequence[str]) -> Pairs:
    """The residuals that may share memory, each with the first of them."""
    first: dict[str, str] = {}
    names = ((n, classes[_place(s)]) for s in unpacked for n in ir.writes(s))
    found = ((name, first.setdefault(group, name)) for name, group in names)
    return tuple((name, one) for name, one in found if name != one)


def _place(stmt: ir.Stmt) -> int:
    """The place of a residual in the tuple of them."""
    call = ir.call_of(stmt)
    index = None if call is None else call.args[1]
    return index.value if isinstance(index, ir.Const) else -1


def _with_shadows(unpacked: list[ir.Stmt], ours: set[str], b: Context) -> ir.Block:
    """The residuals, with shadows for the batch in place of those of a single item."""
    out: list[ir.Stmt] = []
    single: dict[str, ir.Name] = {}
    for stmt in unpacked:
        if isinstance(stmt, ir.Assign) and stmt.target.id in ours:
            single[stmt.target.id] = b.fresh()
            stmt = replace(stmt, target=single[stmt.target.id])
        out.append(stmt)
    if single:
        made = b.fresh()
        call = ir.Call(batched.shadows, (b.size, *single.values()))
        out.append(ir.Assign(made, call))
        for k, name in enumerate(single):
            out.append(ir.Assign(ir.Name(name), ir.Call(operator.getitem, (made, ir.Const(k)))))
    return tuple(out)


__all__ = ["NoBatchError", "batch_backward", "batch_forward", "with_axis"]
