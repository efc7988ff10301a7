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
from collections.abc import Callable, Mapping

from srcdiff import ir
from srcdiff.optimize.memory import Sharers
from srcdiff.optimize.rewrite import in_ours
from srcdiff.optimize.shapes import BINARY, are_alike, asks_dtype
from srcdiff.primitives.effects import asked
from srcdiff.primitives.operation import op_of
from srcdiff.primitives.ops import Op, is_op


def coalesce(function: ir.Function) -> ir.Function:
    """The function with temporaries bound to the name that they are copied to."""
    if not any(map(ir.is_temporary, map(_first, _copies(function)))):
        return function
    mentions = ir.mention_counts(function)

    def is_second(stmt: ir.Stmt) -> bool:
        first = _first(stmt)
        return ir.is_temporary(first) and mentions[first] == 2

    return ir.rebuilt(function, body=_renamed(function.body, mentions, is_second))


def with_one_name(function: ir.Function) -> ir.Function:
    """The function without `d_y = d_x` where `d_x` is mentioned nowhere but before, in its block.

    Only the generated part is looked at.
    """
    if not any(map(_names_adjoint, _copies(function))):
        return function
    mentions = ir.mention_counts(function)
    return in_ours(function, lambda block: _renamed(block, mentions, _names_adjoint))


def _copies(function: ir.Function) -> list[ir.Stmt]:
    """The statements that give a name another one."""
    return [s for s in ir.walk(function) if type(s) is ir.Assign and type(s.rhs) is ir.Name]


def _first(stmt: ir.Stmt) -> str:
    """The name to which a statement gives another one, "" if it does something else."""
    return stmt.rhs.id if type(stmt) is ir.Assign and type(stmt.rhs) is ir.Name else ""


def _is_ours(name: str) -> bool:
    """Whether a variable is an adjoint or a temporary."""
    return ir.is_adjoint(name) or ir.is_temporary(name)


def _names_adjoint(stmt: ir.Stmt) -> bool:
    """Whether a statement gives an adjoint, or a part of one, another name."""
    return ir.is_adjoint(ir.writes(stmt)[0]) and _is_ours(_first(stmt))


def _renamed(
    block: ir.Block, mentions: Counter[str], is_second: Callable[[ir.Stmt], bool]
) -> ir.Block:
    """A block and the blocks inside it, their second names carried back to the definition."""

    def inside(inner: ir.Block) -> ir.Block:
        return _renamed(inner, mentions, is_second)

    out = [s if type(s) in ir.PLAIN else ir.map_blocks(s, inside) for s in block]
    k = 0
    while k < len(out):
        stmt = out[k]
        found = None
        if type(stmt) is ir.Assign and type(stmt.rhs) is ir.Name and is_second(stmt):
            first, second = stmt.rhs.id, stmt.target.id
            found = _span(out, k, mentions, first, second)
        if found is None:
            k += 1
            continue
        start, end = found
        # Of two adjoints only the first may be that of something that has a name.
        plainer = _UNNAMED.match(second) and not ir.is_temporary(ir.primal_name(first))
        if plainer and ir.mention_counts(tuple(out[k:]))[second] == mentions[second]:
            out[k + 1 :] = ir.rename(tuple(out[k + 1 :]), {second: first})
            first, second = second, first
        else:
            out[start:end] = ir.rename(tuple(out[start:end]), {first: second})
        mentions[second] += mentions.pop(first) - 2
        del out[k]
    return tuple(out)


_UNNAMED = re.compile(r"(d_)+_t[_\d]*\Z")


def _span(
    block: list[ir.Stmt], at: int, mentions: Counter[str], first: str, second: str
) -> tuple[int, int] | None:
    """Where the first name is made, and where its last mention ends, if one name may do for both.

    Most are mentioned no more after `at`: what is made of them is found right before it.
    """
    start, end = _made_at(block, at, at, mentions, first, second), at
    if start is None and (end := _end_of(block, at, first, second)) > at:
        start = _made_at(block, at, end, mentions, first, second)
    return None if start is None else (start, end)


def _end_of(block: list[ir.Stmt], at: int, first: str, second: str) -> int:
    """Where the last mention of the first name ends; `at` if the two are not one value to there."""
    later = [k for k in range(at + 1, len(block)) if first in ir.mentions(block[k])]
    if not later or not (ir.is_unnamed(first) or _are_of_one(first, second)):
        return at
    end = later[-1] + 1
    return end if ir.rebound(tuple(block[at + 1 : end])).isdisjoint((first, second)) else at


def _made_at(
    block: list[ir.Stmt], at: int, end: int, mentions: Counter[str], first: str, second: str
) -> int | None:
    """Where the first name that is read at a place is made, if all mentions stand before `end`.

    The second one, which is bound there, is not mentioned between.
    """
    left = mentions[first] - 1 - ir.mention_counts(tuple(block[at + 1 : end]))[first]
    for k in range(at - 1, -1, -1):
        stmt = block[k]
        if first in ir.mentions(stmt):
            left -= 1
            if ir.blocks(stmt):
                return None  # a name that a loop carries means something by itself
            if not left:
                return k if type(stmt) is ir.Assign and stmt.target.id == first else None
        if second in ir.mentions(stmt):
            return None
    return None


# --- `d_y = d_x * v` where `d_x` is not read afterwards: `d_y *= v`, with one name for both ------


def with_last_names(function: ir.Function, kinds: ir.Kinds) -> ir.Function:
    """The function with one array, and one name, for an adjoint and for what it becomes.

    Until then it is only added to: what serves for something else as well keeps its name.
    """
    found = [s for s in ir.assignments(function) if _becomes(s, kinds)]
    if not found or function.target.fused or function.target.on_device:
        return function
    sharers, mentions = Sharers.of(function, kinds), ir.mention_counts(function)
    inputs = {p.name for p in function.params}
    found = [s for s in found if _reads_well(_becomes(s, kinds), s.target.id, inputs)]
    own = {id(s) for s in found if sharers.is_own(_becomes(s, kinds), s)}

    def block(inner: ir.Block) -> ir.Block:
        out = [s if type(s) in ir.PLAIN else ir.map_blocks(s, block) for s in inner]
        for k, stmt in enumerate(out):
            if type(stmt) is ir.Assign and id(inner[k]) in own:
                _in_its_place(out, k, _becomes(stmt, kinds), mentions)
        return tuple(out)

    return in_ours(function, block)


def _in_its_place(block: list[ir.Stmt], at: int, first: str, mentions: Counter[str]) -> None:
    """What is made of an array at a place in a block is made in it, under the better name."""
    stmt = block[at]
    assert type(stmt) is ir.Assign and type(stmt.rhs) is ir.Call
    second = stmt.target.id
    unnamed = ir.is_unnamed(first), ir.is_unnamed(second)
    if mentions[first] == 2 or mentions[second] == 2 and unnamed[1]:
        return
    start = _made_at(block, at, at, mentions, first, second)
    if start is None or not _serves_itself(block[start:at], first, mentions):
        return
    name, other = second, first
    (value,) = (a for a in stmt.rhs.args if a != ir.Name(first))
    if unnamed == (False, True):
        if ir.mention_counts(tuple(block[at:]))[second] != mentions[second]:
            return
        name, other = first, second
    block[start:] = ir.rename(tuple(block[start:]), {other: name})
    block[at] = ir.AugAssign(ir.Name(name), None, value, op_of(stmt.rhs.fn).symbol, loc=stmt.loc)
    mentions[name] += mentions.pop(other)


def _reads_well(first: str, second: str, inputs: set[str]) -> bool:
    """Whether one name may stand for both: of two variables that of an input alone, a result."""
    named = not ir.is_unnamed(first) and not ir.is_unnamed(second)
    return not named or ir.primal_name(second) in inputs


def _serves_itself(block: list[ir.Stmt], name: str, mentions: Counter[str]) -> bool:
    """Whether a name is read in some statements only for what it is bound to there again."""
    parts = {name}
    for stmt in reversed(block):
        made = (stmt.base.id,) if isinstance(stmt, ir.Store) else ir.writes(stmt)
        if not parts.isdisjoint(made):
            parts |= {n for n in ir.reads(stmt) if mentions[n] == 2}
        elif name in ir.mentions(stmt):
            return False
    return True


def _becomes(stmt: ir.Assign, kinds: ir.Kinds) -> str:
    """The adjoint of which a statement makes another one of the same form, "" if there is none."""
    rhs = stmt.rhs
    if not is_op(rhs, *BINARY) or not ir.is_adjoint(stmt.target.id):
        return ""
    operands = rhs.args if is_op(rhs, Op.MUL) else rhs.args[:1]
    names = [a.id for a in operands if type(a) is ir.Name and rhs.args.count(a) == 1]
    kind = kinds.get(stmt.target.id)
    alike = (n for n in names if ir.is_adjoint(n) and are_alike(kinds.get(n), kind, dtype=True))
    return next((n for n in alike if n != stmt.target.id), "")


# --- `u_1 = u` where `u` is not read afterwards: `u_1` becomes `u`, as the user wrote it ---------


def with_first_names(
    function: ir.Function, kinds: ir.Kinds, copies: bool = True
) -> ir.Function:
    """The function without second names for what has no use under its first.

    Where it is a copy, or anything computed of that (`copies` False).
    """
    body, at = function.body, 0
    while at < len(body):
        first = _first(body[at]) if copies else _former(body[at])
        if not first or not _may_stand(first, body, at, kinds):
            at += 1
            continue
        (second,), rest = ir.writes(body[at]), body[at + 1 if copies else at :]
        body = (*body[:at], *ir.rename(rest, {second: first}))
        at += not copies
    return ir.rebuilt(function, body=body)


_NUMBER = re.compile(r"(_\d+)+\Z")


def _former(stmt: ir.Stmt) -> str:
    """What a value of a variable is computed of that is a value of the same one, empty if none."""
    if type(stmt) is not ir.Assign:
        return ""
    variable = _NUMBER.sub("", stmt.target.id)
    found = (n for n in ir.reads(stmt) if _NUMBER.sub("", n) == variable)
    return next((n for n in found if n != stmt.target.id), "")


def _are_of_one(first: str, second: str) -> bool:
    """Whether two names are those of values of one variable."""
    return _NUMBER.sub("", first) == _NUMBER.sub("", second)


def _may_stand(first: str, body: ir.Block, at: int, kinds: ir.Kinds) -> bool:
    """Whether a name may stand for what its second name is bound to from here on."""
    (second,), before, rest = ir.writes(body[at]), body[:at], body[at + 1 :]
    if _is_ours(first) or not _are_of_one(first, second):
        return False
    if first in ir.bound(rest) or second in ir.bound(before):
        return False
    reading = [s for s in ir.walk(rest) if first in ir.itself_mentions(s)]
    pair = kinds.get(first), kinds.get(second)
    calls = map(ir.call_of, reading)  # they ask what is the same for both
    return all(first in asked(c) and are_alike(*pair, asks_dtype(c)) for c in calls)


# --- loop variables that may have one name: those of loops of which none stands inside another ---


def shared(function: ir.Function, families: Mapping[str, str]) -> dict[str, str]:
    """The variables that take another's name: `families` says which `i` an `i_1` is called after.

    That is the name itself, or another variable that is called after it.
    """
    if not families:
        return {}
    around = _around(function)
    found: dict[str, str] = {}
    same: dict[str, list[str]] = {}
    for name in [n for n in around if n in families]:
        family = families[name]
        others = same.setdefault(family, [family] if family in around else [])
        taken = next((n for n in others if n not in around[name]), None)
        if taken is None:
            others.append(name)
        else:
            found[name] = taken
            for other in around.pop(name) - {name}:
                around[taken].add(other)
                around.get(other, set()).add(taken)
    return found


def _around(function: ir.Function) -> dict[str, set[str]]:
    """The variables that mean something in their loops alone: those of loops around and inside."""
    around: dict[str, set[str]] = {}
    others = {p.name for p in function.params}
    for stmt, loops in ir.walk_in_loops(function.body):
        outer = [s.target.id for s in loops if type(s) is ir.For]
        reads = ir.itself_reads(stmt)
        others.update([n for n in reads if n not in outer or _is_text(stmt)] if outer else reads)
        if type(stmt) is ir.For:
            name = stmt.target.id
            around.setdefault(name, set()).update((name, *outer))
            for other in outer:
                around[other].add(name)
        else:
            others.update(ir.writes(stmt))
    return {n: a for n, a in around.items() if n not in others}


def _is_text(stmt: ir.Stmt) -> bool:
    """Whether a function in a text that is taken over may look at names later."""
    return any(isinstance(o, (ir.Opaque, ir.Verbatim)) for o in (stmt, *ir.operands(stmt)))
