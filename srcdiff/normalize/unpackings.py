"""Results that are unpacked at once: `w, v = np.linalg.eigh(a)`.

The adjoints of `w` and `v` are the parts of the adjoint of the result, so that it needs no tuple of
its own.  The adjoint of the call then stands with the last of the names, all of which it may read.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import chain

from srcdiff import ir
from srcdiff.analysis.facts import Facts
from srcdiff.frontend.lower.template import template_of
from srcdiff.primitives.registry import lookup


@dataclass(frozen=True)
class Unpacking:
    """A call, the statements that unpack its result, and the name of each part."""

    call: ir.Assign
    rest: tuple[ir.Assign, ...]
    names: Mapping[int, str]

    def facts(self, facts: Facts) -> Facts:
        """The facts for the expansion of the rule of the call."""
        return replace(facts, parts=self.names)


def counts(function: ir.Function) -> Counter[str]:
    """How often each name is read or bound."""
    stmts = ir.walk(function.body)
    mentioned = chain(map(ir.reads, stmts), map(ir.writes, stmts))
    return Counter([*(p.name for p in function.params), *chain.from_iterable(mentioned)])


def unpacking(block: ir.Block, at: int, facts: Facts, uses: Counter[str]) -> Unpacking | None:
    """The unpacking that starts with the statement at a place of a block, None if none does."""
    call = block[at]
    if not isinstance(call, ir.Assign) or not _yields_parts(call.rhs):
        return None
    rest: list[ir.Assign] = []
    names: dict[int, str] = {}
    for stmt in block[at + 1 :]:
        part = _part(stmt, call.target)
        if part is None or part in names:
            break
        assert isinstance(stmt, ir.Assign)
        rest.append(stmt)
        names[part] = stmt.target.id
    # Views need no adjoints, and shadows are made before.
    apart = {*facts.aliases.views, *facts.shadowed}
    views = apart & {call.target.id, *names.values()}
    alone = uses[call.target.id] == len(rest) + 1
    plain = len({*names.values(), *ir.names(call.rhs)}) == len(names) + len({*ir.names(call.rhs)})
    if not rest or views or not alone or not plain:
        return None
    return Unpacking(call, tuple(rest), names)


def _yields_parts(rhs: ir.Rhs) -> bool:
    """Whether a call has a rule that yields several values."""
    rule = lookup(rhs.fn) if isinstance(rhs, ir.Call) else None
    if rule is None or rule.template is None:
        return False
    return isinstance(template_of(rule).result, ir.Tup)


def _part(stmt: ir.Stmt, whole: ir.Name) -> int | None:
    """The k of `name = whole[k]`."""
    rhs = stmt.rhs if isinstance(stmt, ir.Assign) else None
    if not isinstance(rhs, ir.Call) or rhs.fn is not operator.getitem or rhs.args[0] != whole:
        return None
    index = rhs.args[1]
    plain = isinstance(index, ir.Const) and type(index.value) is int and index.value >= 0
    return index.value if plain and isinstance(index, ir.Const) else None
