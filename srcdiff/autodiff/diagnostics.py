"""What tells the user why a derivative is missing, or is nan.

`unused_input` takes the function as it is analysed, and where derivatives flow in it; it gives the
error for an input from which no derivative flows to a selected output, with the reason.

`checked` takes a function whose statements are paired with their adjoints, and the facts about it;
it returns it with a check for nan or infinity behind every statement that changes an adjoint, and
with a note of the first forward value that is bad, which a check that fails reports.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import Any

from srcdiff import ir
from srcdiff.analysis.activity import Edges, reachable
from srcdiff.analysis.facts import Facts
from srcdiff.errors import TransformError, UnusedInputError, refused
from srcdiff.ir.frozen import frozen, replace
from srcdiff.primitives.arguments import spelling
from srcdiff.primitives.operation import Meaning, op_of
from srcdiff.primitives.ops import Op, is_op
from srcdiff.runtime import trees
from srcdiff.texts import line_of

_ASKED = (Op.NOT, Op.IS, Op.IS_NOT, Op.BOOL)
_MOST = 3
"""How many ends are told."""


def unused_input(
    param: str, params: Iterable[str], function: ir.Function, found: Edges
) -> TransformError:
    """The error for an input that no output depends on; `params` are the names of its parts."""
    fate = _fate(frozenset(params), function, found)
    fields = {"function": function.name, "param": param, "fate": fate}
    return refused("inputs.unused", function.loc, UnusedInputError, **fields)


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
    if op_of(call.fn).means(Meaning.COMPARED) or is_op(call, *_ASKED):
        return "compared"
    if is_op(call, Op.STOP_GRADIENT):
        return "held constant"
    if isinstance(call.fn, ir.Attr):
        return f"asked for its `{call.fn.name}`"
    return f"passed to {spelling(call)}"


# --- checks for nan and infinity in the backward part of a derivative, on request ----------------


Counters = tuple[ir.Name, ...]


def checked(function: ir.Function, facts: Facts, what: str) -> ir.Function:
    """A paired function with its adjoints checked for `what`: "nan", "inf" or "nan or inf"."""
    primal = {d: p for p, d in facts.adjoints.items()}
    checks = _Checks(ir.Const(what), facts.fresh("seen"), primal, facts.active)
    made = ir.Call(trees.nothing_seen, text="nothing_seen")
    start = ir.Pair(ir.Assign(checks.seen, made, function.loc), (), function.loc)
    return replace(function, body=(start, *checks.block(function.body, ())))


@frozen
class _Checks:
    """What the checks have in common."""

    what: ir.Const
    seen: ir.Name
    primal: Mapping[str, str]
    active: frozenset[str]

    def block(self, block: ir.Block, counters: Counters) -> ir.Block:
        """A block with its adjoints checked."""
        out: list[ir.Stmt] = []
        for stmt in block:
            if isinstance(stmt, ir.Pair):
                out.append(replace(stmt, adjoint=self.block(stmt.adjoint, counters)))
                out += self.noted(stmt, counters)
                continue
            inner = (*counters, stmt.target) if isinstance(stmt, ir.For) else counters
            out.append(ir.map_blocks(stmt, partial(self.block, counters=inner)))
            changed = _changed(stmt)
            if changed in self.primal and not self.is_passing(stmt):
                value = self.primal[changed], ir.Name(changed)
                out.append(self.call(trees.check_adjoint, *value, stmt, counters))
        return tuple(out)

    def is_passing(self, stmt: ir.Stmt) -> bool:
        """Whether a value is only handed to a part of an expression: a variable comes next."""
        copy = isinstance(stmt, ir.Assign) and isinstance(stmt.rhs, ir.Name)
        return copy and ir.is_temporary(self.primal[_changed(stmt)])

    def noted(self, pair: ir.Pair, counters: Counters) -> ir.Block:
        """The note of a forward value that carries a derivative."""
        primal = pair.primal
        if not isinstance(primal, (ir.Assign, ir.SetItem)):
            return ()
        name = primal.target if isinstance(primal, ir.Assign) else primal.base
        if name.id not in self.active:
            return ()
        note = self.call(trees.note_value, name.id, name, primal, counters)
        return (ir.Pair(note, (), pair.loc),)

    def call(
        self, fn: Any, primal: str, value: ir.Name, stmt: ir.Stmt, counters: Counters
    ) -> ir.Effect:
        """`check_adjoint(seen, d_h, "nan", "`h`", "model.py:3:9: h = np.sqrt(x)", i=i)`."""
        loc: ir.Loc = stmt.loc
        name = "an intermediate result" if ir.is_temporary(primal) else f"`{primal}`"
        line = line_of(loc.file, loc.line).strip()
        place = f"{loc.file}:{loc.line}:{loc.col}: {line}"
        args = (self.seen, value, self.what, ir.Const(name), ir.Const(place))
        named = tuple((c.id, c) for c in counters if not ir.is_temporary(c.id))
        return ir.Effect(ir.Call(fn, args, named), loc)


def _changed(stmt: ir.Stmt) -> str:
    """The name that a statement gives a new value, other than zero."""
    if isinstance(stmt, ir.SetItem):
        return stmt.base.id
    if not isinstance(stmt, ir.Assign) or isinstance(stmt.rhs, ir.Const):
        return ""
    new = is_op(stmt.rhs, Op.ZEROS_LIKE, Op.TREE_ZEROS_LIKE, Op.ZERO_TREE, Op.ZEROS_OF)
    return "" if new else stmt.target.id
