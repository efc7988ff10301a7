"""`u_1 = u` where `u` is not read afterwards: `u_1` becomes `u`, as the user wrote it.

Takes a finished function and the kinds of its names.  A variable that is bound again has names of
its own for what it was at first, of which later statements may ask the shape and dtype: what it is
afterwards has the same.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from srcdiff import ir
from srcdiff.ir.kinds import Array, Kind, same_shape
from srcdiff.optimize.shapes import asks_form, same_dtype
from srcdiff.runtime.trees import cotangent

Kinds = Mapping[str, Kind]


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


def _may_stand(
    first: str, second: str, before: ir.Block, rest: ir.Block, kinds: Kinds
) -> bool:
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
    return plain and (call.fn not in (np.zeros_like, cotangent) or same_dtype(one, two))
