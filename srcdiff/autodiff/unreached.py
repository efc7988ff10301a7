"""The error for an input from which no derivative flows to a selected output, with the reason.

Takes the function as it is analysed, and where derivatives flow in it.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator

import numpy as np

from srcdiff import ir
from srcdiff.analysis.activity import Edges, reachable
from srcdiff.errors import UnusedInputError
from srcdiff.primitives.arguments import spelling
from srcdiff.runtime.arrays import stop_gradient

_COMPARED = frozenset({
    operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne, operator.not_,
    operator.is_, operator.is_not, bool, np.less, np.less_equal, np.greater, np.greater_equal,
    np.equal, np.not_equal,
})  # fmt: skip
_MOST = 3
"""How many ends are told."""


def unused_input(
    param: str, params: Iterable[str], function: ir.Function, found: Edges
) -> UnusedInputError:
    """The error for an input that no output depends on; `params` are the names of its parts."""
    return UnusedInputError(
        f"One of the differentiated inputs appears to not have been used in the graph: "
        f"no output of `{function.name}` depends differentiably on `{param}`, which is "
        f"{_fate(frozenset(params), function, found)}",
        function.loc,
        remedy="Pass allow_unused=True to get None, or materialize_grads=True to get zeros.",
    )


def _fate(params: frozenset[str], function: ir.Function, found: Edges) -> str:
    """What becomes of an input: `only compared (line 12)`."""
    ends = list(dict.fromkeys(_ends(function.body, reachable(params, found), found)))
    if not ends:
        used = params & ir.used(function.body)
        return "only used for what nobody uses" if used else "not used"
    told = [f"{what} (line {line})" if line else what for what, line in ends[:_MOST]]
    return f"only {' and '.join(told)}{', among others' * (len(ends) > _MOST)}"


def _ends(block: ir.Block, there: frozenset[str], found: Edges) -> Iterator[tuple[str, int]]:
    """(what is done with a value, the line) where no derivative flows on from it."""
    flowing = {(source, id(stmt)) for source, _, stmt in found}
    for stmt in ir.walk(block):
        own = {n for a in ir.operands(stmt) for n in ir.names(a)} & there
        own -= {stmt.base.id} if isinstance(stmt, ir.SetItem) else set()
        if any((n, id(stmt)) not in flowing for n in own):
            what = _done(stmt, own)
            if what:
                yield what, stmt.loc.line


def _done(stmt: ir.Stmt, own: set[str]) -> str:
    """What a statement does with values whose derivatives end there."""
    if isinstance(stmt, ir.Return):
        return "returned where it is no selected output"
    if isinstance(stmt, ir.SetItem):
        kept = own & set(ir.names(stmt.value))
        return "stored in what has no derivative" if kept else "used as an index"
    call = ir.call_of(stmt)
    if call is None:
        return "compared" if isinstance(stmt, (ir.If, ir.While)) else ""
    if call.fn in _COMPARED:
        return "compared"
    if call.fn is stop_gradient:
        return "held constant"
    if isinstance(call.fn, ir.Attr):
        return f"asked for its `{call.fn.name}`"
    return f"passed to {spelling(call)}"
