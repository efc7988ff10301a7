"""Last touches on a finished derivative: whole numbers folded, names without needless endings.

`fold` takes a function and the kinds of its names, and returns it with `n - 1 - 1` as `n - 2`.
`shorten` returns it with `u_1` named `u` where nothing else needs that name any more: a copy of a
parameter takes the parameter's name (`u = u.copy()`).
"""

from __future__ import annotations

import builtins
import operator
import re
from collections.abc import Iterable, Mapping, Set
from dataclasses import replace

import numpy as np

from srcdiff import ir
from srcdiff.codegen.naming import global_words
from srcdiff.ir.kinds import Kind, Scalar
from srcdiff.optimize.counters import shared
from srcdiff.runtime.sequences import zeros_of
from srcdiff.runtime.trees import zero_tree

_ENDING = re.compile(r"_\d+\Z")
_SLOT = re.compile(r"(.+)_\d+_saved\Z")
_SIGNS = {operator.add: 1, operator.sub: -1}


def fold(function: ir.Function, kinds: Mapping[str, Kind]) -> ir.Function:
    """The function with sums of a whole number and literals as one sum."""
    return replace(function, body=_folded(function.body, kinds))


def _folded(block: ir.Block, kinds: Mapping[str, Kind]) -> ir.Block:
    """A block, with what its temporaries are sums of, as long as that does not change."""
    sums: dict[str, tuple[ir.Name, int]] = {}
    out: list[ir.Stmt] = []
    for stmt in block:
        if isinstance(stmt, ir.Assign):
            stmt = _folded_assign(stmt, sums, kinds)
        else:
            stmt = ir.map_blocks(stmt, lambda b: _folded(b, kinds))
        changed = ir.bound((stmt,)) if sums else ()
        sums = {t: p for t, p in sums.items() if t not in changed and p[0].id not in changed}
        parts = sum_of(stmt.rhs, kinds) if isinstance(stmt, ir.Assign) else None
        if parts is not None and isinstance(stmt, ir.Assign) and parts[0] != stmt.target:
            sums[stmt.target.id] = parts
        out.append(stmt)
    return tuple(out)


def _folded_assign(
    stmt: ir.Assign, sums: Mapping[str, tuple[ir.Name, int]], kinds: Mapping[str, Kind]
) -> ir.Assign:
    """`t = u + 1`, where `u` is itself a sum."""
    parts = sum_of(stmt.rhs, kinds)
    if parts is None or not parts[0].id.startswith("_") or parts[0].id not in sums:
        return stmt
    base, number = sums[parts[0].id]
    return replace(stmt, rhs=sum_with(base, number + parts[1]))


def sum_of(rhs: ir.Rhs, kinds: Mapping[str, Kind]) -> tuple[ir.Name, int] | None:
    """`(x, c)` for `x + c` and `x - c` with a whole number x and a literal c."""
    if not isinstance(rhs, ir.Call) or rhs.fn not in _SIGNS or len(rhs.args) != 2:
        return None
    base, number = rhs.args
    if not isinstance(base, ir.Name) or not isinstance(number, ir.Const):
        return None
    kind = kinds.get(base.id)
    whole = isinstance(kind, Scalar) and kind.dtype == "int64" and bool(kind.python)
    if not whole or type(number.value) is not int:
        return None
    return base, _SIGNS[rhs.fn] * number.value


def sum_with(base: ir.Atom, number: int) -> ir.Rhs:
    """`base + number` in its plain form."""
    if number == 0:
        return base
    fn = operator.add if number > 0 else operator.sub
    return ir.Call(fn, (base, ir.Const(abs(number))))


def in_order(function: ir.Function, names: Iterable[str]) -> ir.Function:
    """The function with zeros that are bound one after the other in the order of `names`."""
    rank = {n: k for k, n in enumerate(names)}
    return replace(function, body=_in_order(function.body, rank))


def _in_order(block: ir.Block, rank: Mapping[str, int]) -> ir.Block:
    out: list[ir.Stmt] = []
    zeros: list[ir.Assign] = []
    for stmt in block:
        new = ir.map_blocks(stmt, lambda b: _in_order(b, rank))
        if isinstance(new, ir.Assign) and new.target.id in rank and _is_zero(new):
            if {new.target.id, *ir.names(new.rhs)}.isdisjoint(z.target.id for z in zeros):
                zeros.append(new)
                continue
        out += _sorted(zeros, rank)
        zeros = []
        out.append(new)
    return (*out, *_sorted(zeros, rank))


def _sorted(zeros: list[ir.Assign], rank: Mapping[str, int]) -> list[ir.Assign]:
    return sorted(zeros, key=lambda stmt: rank[stmt.target.id])


def _is_zero(stmt: ir.Assign) -> bool:
    """Whether a statement makes zeros that nobody else has, of something other than its target."""
    rhs = stmt.rhs
    if isinstance(rhs, ir.Call):
        new = rhs.fn in (np.zeros_like, zero_tree, zeros_of)
        return new and stmt.target.id not in ir.names(rhs)
    return isinstance(rhs, ir.Const) and rhs.value == 0


def shorten(function: ir.Function, theirs: frozenset[str]) -> ir.Function:
    """The function with shorter names where they are free; `theirs` are the user's own."""
    params = {p.name for p in function.params}
    taken = {*ir.all_names(function), *global_words(function), *dir(builtins)}
    new: dict[str, str] = {}
    for name in sorted(ir.bound(function.body) - theirs):
        base = _ENDING.sub("", name)
        slot = _SLOT.match(name)
        if slot and f"{slot[1]}_saved" not in {*taken, *new.values()}:
            new[name] = f"{slot[1]}_saved"
            continue
        if base == name or base.startswith("_") or base in new.values():
            continue
        if base not in taken or (base in params and _takes_over(name, base, function)):
            new[name] = base
    function = _with_shared(function, theirs | new.keys())
    if not new:
        return function
    body = ir.rename(function.body, new)
    return replace(function, body=tuple(s for s in body if not _is_idle(s)))


def _with_shared(function: ir.Function, kept: Set[str]) -> ir.Function:
    """The function with `i_1` named `i` where both are variables of loops apart from each other."""
    loops = {s.target.id for s in ir.walk(function.body) if isinstance(s, ir.For)}
    families = {n: _ENDING.sub("", n) for n in loops - kept if not n.startswith("_")}
    new = shared(function, {n: base for n, base in families.items() if n != base})
    return replace(function, body=ir.rename(function.body, new)) if new else function


def _takes_over(name: str, param: str, function: ir.Function) -> bool:
    """Whether a variable starts as (a copy of) a parameter that nothing reads afterwards."""
    for k, stmt in enumerate(function.body):
        if name in ir.writes(stmt):
            rest = function.body[k + 1 :]
            starts = isinstance(stmt, ir.Assign) and param in ir.names(stmt.rhs)
            return starts and param not in ir.used(rest) and param not in ir.bound(rest)
        if name in ir.bound((stmt,)) or name in ir.used((stmt,)):
            return False
    return False


def _is_idle(stmt: ir.Stmt) -> bool:
    return isinstance(stmt, ir.Assign) and type(stmt.rhs) is ir.Name and stmt.rhs == stmt.target
