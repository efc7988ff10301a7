"""One name for what has two.

`_t = e` with `y = _t` as its only use becomes `y = e`; so does an adjoint with a second name.

`u_1 = u` where `u` is not read afterwards: `u_1` becomes `u`, as the user wrote it.
`with_first_names` takes a finished function and the kinds of its names.  A variable that is bound
again has names of its own for what it was at first, of which later statements may ask the shape and
dtype: what it is afterwards has the same.

Loop variables may have one name if none of their loops stands inside another.  `shared` takes a
function and returns new names for some of its loop variables; a variable takes part if only loops
bind it and only their bodies read it, so that it means nothing between them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping

from srcdiff import ir
from srcdiff.ir.frozen import replace
from srcdiff.ir.kinds import Array, Kinds, same_shape
from srcdiff.optimize.rewrite import is_unnamed, mark_in
from srcdiff.optimize.shapes import same_dtype
from srcdiff.primitives.effects import asks_form
from srcdiff.primitives.ops import Op, is_op


def coalesce(function: ir.Function) -> ir.Function:
    """The function with temporaries bound to the name that they are copied to."""
    reads, bound = ir.use_counts(function.body), ir.binding_counts(function.body)
    single = frozenset(
        n for n, count in bound.items() if count == 1 and is_unnamed(n) and reads[n] == 1
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
        for name in ir.mentions(stmt):
            touched[name] = place
        out.append(ir.map_blocks(stmt, lambda b: _block(b, single)))
    return tuple(out)


# --- adjoints with two names ----------------------------------------------------------------------


def with_one_name(function: ir.Function) -> ir.Function:
    """The function without `d_y = d_x` where `d_x` is mentioned nowhere but before, in its block.

    Only the generated part is looked at.
    """
    cut = mark_in(function.body) or 0
    if not any(_is_second(s) for s in ir.walk(function.body[cut:])):
        return function
    mentions = ir.mention_counts(function.body)
    body = (*function.body[:cut], *_renamed(function.body[cut:], mentions))
    return ir.rebuilt(function, body=body)


def _is_second(stmt: ir.Stmt) -> bool:
    """Whether a statement gives an adjoint, or a part of one, another name."""
    if not isinstance(stmt, ir.Assign) or not isinstance(stmt.rhs, ir.Name):
        return False
    first = stmt.rhs.id
    return stmt.target.id.startswith("d_") and (first.startswith("d_") or is_unnamed(first))


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
        later = ir.mention_counts(tuple(out[k:]))
        if _is_plainer(first, second) and later[second] == mentions[second]:
            out[k + 1 :] = ir.rename(tuple(out[k + 1 :]), {second: first})
            first, second = second, first
        else:
            out[start:k] = ir.rename(tuple(out[start:k]), {first: second})
        mentions[second] += mentions.pop(first) - 2
        del out[k]
    return tuple(out)


def _is_plainer(first: str, second: str) -> bool:
    """Whether of two adjoints only the first is that of something that has a name."""
    return _UNNAMED.match(second) is not None and not is_unnamed(first.removeprefix("d_"))


_UNNAMED = re.compile(r"(d_)+_t[_\d]*\Z")


def _made_at(block: list[ir.Stmt], end: int, mentions: Counter[str]) -> int | None:
    """Where a name that is copied at `end` is made, if all mentions of it stand between."""
    copy = block[end]
    assert isinstance(copy, ir.Assign) and isinstance(copy.rhs, ir.Name)
    name, left = copy.rhs.id, mentions[copy.rhs.id] - 1
    for k in range(end - 1, -1, -1):
        found = ir.mention_counts((block[k],))
        if found[copy.target.id] or (found[name] and ir.blocks(block[k])):
            return None  # a name that a loop carries means something by itself
        left -= found[name]
        if name in ir.writes(block[k]) and not left:
            return k if isinstance(block[k], ir.Assign) else None
    return None


# --- `u_1 = u` where `u` is not read afterwards: `u_1` becomes `u`, as the user wrote it ---------


def with_first_names(function: ir.Function, kinds: Kinds) -> ir.Function:
    """The function without second names for what has no use under its first."""
    body, at = function.body, 0
    while at < len(body):
        stmt, rest = body[at], body[at + 1 :]
        if isinstance(stmt, ir.Assign) and isinstance(stmt.rhs, ir.Name):
            first, second = stmt.rhs.id, stmt.target.id
            if _are_alike(first, second) and _may_stand(first, second, body[:at], rest, kinds):
                body = (*body[:at], *ir.rename(rest, {second: first}))
                continue
        at += 1
    return replace(function, body=body)


_NUMBER = re.compile(r"(_\d+)+\Z")


def _are_alike(first: str, second: str) -> bool:
    """Whether names are of one variable."""
    return not first.startswith(("d_", "_")) and _NUMBER.sub("", first) == _NUMBER.sub("", second)


def _may_stand(first: str, second: str, before: ir.Block, rest: ir.Block, kinds: Kinds) -> bool:
    """Whether a name may stand for what its second name is bound to from here on."""
    if first in ir.bound(rest) or second in ir.bound(before):
        return False
    reading = [s for s in ir.walk(rest) if first in ir.itself_mentions(s)]
    return all(_asks_alike(s, first, second, kinds) for s in reading)


def _asks_alike(stmt: ir.Stmt, first: str, second: str, kinds: Kinds) -> bool:
    """Whether a statement asks of a name what is the same for its second name."""
    call = ir.call_of(stmt)
    place = None if call is None else asks_form(call)
    if call is None or place is None or ir.occurrences(call).count(first) != 1:
        return False
    if len(call.args) <= place or call.args[place] != ir.Name(first):
        return False
    one, two = kinds.get(first), kinds.get(second)
    if not isinstance(one, Array) or not isinstance(two, Array) or not same_shape(one, two):
        return False
    plain = not one.maybe_scalar and not two.maybe_scalar
    return plain and (not is_op(call, Op.ZEROS_LIKE, Op.COTANGENT) or same_dtype(one, two))


# --- loop variables that may have one name: those of loops of which none stands inside another ---


def shared(function: ir.Function, families: Mapping[str, str]) -> dict[str, str]:
    """The variables that take another's name: `families` says which `i` an `i_1` is called after.

    That is the name itself, or another variable that is called after it.
    """
    if not families:
        return {}
    known = _Loops(function)
    first = {n: None for n in known.around if n in families}
    found: dict[str, str] = {}
    same: dict[str, list[str]] = {}
    for name in first:
        family = families[name]
        others = same.setdefault(family, [family] if family in known.around else [])
        taken = next((n for n in others if n not in known.around[name]), None)
        if taken is None:
            others.append(name)
        else:
            found[name] = taken
            known.join(name, taken)
    return found


class _Loops:
    """The variables that mean something in their loops alone, and those of loops around each."""

    def __init__(self, function: ir.Function) -> None:
        self.around: dict[str, set[str]] = {}
        self.others = {p.name for p in function.params}
        for stmt, loops in ir.walk_in_loops(function.body):
            outer = [s.target.id for s in loops if isinstance(s, ir.For)]
            self.others.update(n for n in ir.itself_reads(stmt) if n not in outer or _is_text(stmt))
            if isinstance(stmt, ir.For):
                self.enter(stmt.target.id, outer)
            else:
                self.others.update(ir.writes(stmt))
        self.around = {n: a for n, a in self.around.items() if n not in self.others}

    def enter(self, name: str, outer: list[str]) -> None:
        """The variable of a loop inside of others."""
        self.around.setdefault(name, set()).update((name, *outer))
        for other in outer:
            self.around[other].add(name)

    def join(self, name: str, taken: str) -> None:
        """Give a variable another one's name."""
        for other in self.around.pop(name) - {name}:
            self.around[taken].add(other)
            self.around.get(other, set()).add(taken)


def _is_text(stmt: ir.Stmt) -> bool:
    """Whether a function in a text that is taken over may look at names later."""
    return any(isinstance(o, (ir.Opaque, ir.Verbatim)) for o in (stmt, *ir.operands(stmt)))
