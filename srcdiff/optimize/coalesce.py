"""`_t = e` with `y = _t` as its only use becomes `y = e`; so does an adjoint with a second name."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

from srcdiff import ir
from srcdiff.analysis.liveness import mentioned, uses
from srcdiff.optimize.rewrite import is_temporary, mark_in


def coalesce(function: ir.Function) -> ir.Function:
    """The function with temporaries bound to the name that they are copied to."""
    reads = Counter(uses(function.body))
    bound = Counter([n for s in ir.walk(function.body) for n in ir.writes(s)])
    single = frozenset(
        n for n, count in bound.items() if count == 1 and is_temporary(n) and reads[n] == 1
    )
    return ir.rebuilt(function, body=_block(function.body, single))


def _block(block: ir.Block, single: frozenset[str]) -> ir.Block:
    """A block and the blocks inside it."""
    out: list[ir.Stmt] = []
    made: dict[str, int] = {}
    touched: dict[str, int] = {}
    for stmt in block:
        place = len(out)
        if isinstance(stmt, ir.Assign) and isinstance(stmt.rhs, ir.Name) and stmt.rhs.id in made:
            start = made[stmt.rhs.id]
            if touched.get(stmt.target.id, -1) <= start:
                first = out[start]
                assert isinstance(first, ir.Assign)
                out[start] = replace(first, target=stmt.target)
                touched[stmt.target.id] = start
                continue
        if isinstance(stmt, ir.Assign) and stmt.target.id in single:
            made[stmt.target.id] = place
        for name in mentioned(stmt):
            touched[name] = place
        out.append(_inside(stmt, single))
    return tuple(out)


def _inside(stmt: ir.Stmt, single: frozenset[str]) -> ir.Stmt:
    """A statement with its inner blocks coalesced."""
    if isinstance(stmt, ir.If):
        return ir.rebuilt(stmt, body=_block(stmt.body, single), orelse=_block(stmt.orelse, single))
    if isinstance(stmt, ir.For):
        return ir.rebuilt(stmt, body=_block(stmt.body, single))
    if isinstance(stmt, ir.While):
        return ir.rebuilt(stmt, cond=_block(stmt.cond, single), body=_block(stmt.body, single))
    return stmt


# --- adjoints with two names ----------------------------------------------------------------------


def with_one_name(function: ir.Function) -> ir.Function:
    """The function without `d_y = d_x` where `d_x` is mentioned nowhere but before, in its block.

    Only the generated part is looked at.
    """
    cut = mark_in(function.body) or 0
    if not any(_is_second(s) for s in ir.walk(function.body[cut:])):
        return function
    mentions = _mentions(function.body)
    body = (*function.body[:cut], *_renamed(function.body[cut:], mentions))
    return ir.rebuilt(function, body=body)


def _is_second(stmt: ir.Stmt) -> bool:
    """Whether a statement gives an adjoint, or a part of one, another name."""
    if not isinstance(stmt, ir.Assign) or not isinstance(stmt.rhs, ir.Name):
        return False
    first = stmt.rhs.id
    return stmt.target.id.startswith("d_") and (first.startswith("d_") or is_temporary(first))


def _mentions(block: ir.Block) -> Counter[str]:
    """How many statements of a block, inner ones included, mention each name."""
    return Counter(n for s in ir.walk(block) for n in ir.itself_mentions(s))


def _renamed(block: ir.Block, mentions: Counter[str]) -> ir.Block:
    """A block and the blocks inside it, their second names carried back to the definition."""
    out = [ir.map_blocks(s, lambda b: _renamed(b, mentions)) for s in block]
    k = 0
    while k < len(out):
        stmt = out[k]
        start = _made_at(out, k, mentions) if _is_second(stmt) else None
        if start is None:
            k += 1
            continue
        assert isinstance(stmt, ir.Assign) and isinstance(stmt.rhs, ir.Name)
        first, second = stmt.rhs.id, stmt.target.id
        if _is_plainer(first, second) and _mentions(tuple(out[k:]))[second] == mentions[second]:
            out[k + 1 :] = ir.rename(tuple(out[k + 1 :]), {second: first})
            first, second = second, first
        else:
            out[start:k] = ir.rename(tuple(out[start:k]), {first: second})
        mentions[second] += mentions.pop(first) - 2
        del out[k]
    return tuple(out)


def _is_plainer(first: str, second: str) -> bool:
    """Whether of two adjoints only the first is that of something that has a name."""
    return _UNNAMED.match(second) is not None and not is_temporary(first.removeprefix("d_"))


_UNNAMED = re.compile(r"(d_)+_t[_\d]*\Z")


def _made_at(block: list[ir.Stmt], end: int, mentions: Counter[str]) -> int | None:
    """Where a name that is copied at `end` is made, if all mentions of it stand between."""
    copy = block[end]
    assert isinstance(copy, ir.Assign) and isinstance(copy.rhs, ir.Name)
    name, left = copy.rhs.id, mentions[copy.rhs.id] - 1
    for k in range(end - 1, -1, -1):
        found = _mentions((block[k],))
        if found[copy.target.id] or (found[name] and ir.blocks(block[k])):
            return None  # a name that a loop carries means something by itself
        left -= found[name]
        if name in ir.writes(block[k]) and not left:
            return k if isinstance(block[k], ir.Assign) else None
    return None
