"""What calls of Python functions do, by the kinds of what they are given, and these by those.

`consistent` takes the calls in a function, and what each does for arguments of some kinds; it
returns what is inferred of the function if each call does that for the kinds of its own arguments.
The invariant: calls that nothing has reached give nothing, so that what a loop or a recursion
brings back does not count before it is known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

from srcdiff import ir
from srcdiff.frontend.bind import bind
from srcdiff.ir.kinds import (
    UNKNOWN,
    UNREACHED,
    Array,
    Kind,
    List,
    Module,
    NoneKind,
    Scalar,
    Tuple,
    contents,
    inside,
)
from srcdiff.ir.kinds import Callable as Function
from srcdiff.kinds.lattice import join_all
from srcdiff.normalize.summaries.assumed import NOTHING_YET, Does, Summary, kind_of_atom
from srcdiff.specialize.inline import function_of

Kinds = Mapping[str, Kind]
T = TypeVar("T")

ROUNDS = 12


def consistent(
    calls: Sequence[ir.Call],
    first: Does,
    at: Callable[[Any, Kinds], Summary],
    make: Callable[[Does], tuple[T, Kinds]],
) -> T | None:
    """What `make` finds, with the kinds, if calls do what `at` says of these kinds.

    `first` is what they do to begin with.  None if that does not come to an end.
    """
    does, before, all_reached = first, None, False
    for _ in range(ROUNDS):
        found, kinds = make(does)
        given = [
            given_to(c, kinds) if all_reached or _is_reached(c, kinds) else None
            for c in calls
        ]
        if given == before and None not in given:
            return found
        # What is never reached is taken for reached: kinds may be missing for another reason.
        all_reached = all_reached or given == before
        before = given
        does = partial(_at, at, {id(c): g for c, g in zip(calls, given)})
    return None


def _at(
    at: Callable[[Any, Kinds], Summary], known: Mapping[int, Kinds | None], call: ir.Call
) -> Summary:
    """What a call does for what it is given, if anything."""
    kinds = known.get(id(call))
    return NOTHING_YET if kinds is None else at(call.fn, kinds)


def _is_reached(call: ir.Call, kinds: Kinds) -> bool:
    """Whether all that a call is given has a kind by now."""
    return all(kinds.get(n) is not UNREACHED for n in ir.names(call))


def given_to(call: ir.Call, kinds: Kinds) -> Kinds:
    """The kinds of what a call gives the parameters of a function."""
    bound = bind(function_of(call.fn), call, ir.NOWHERE)
    return {p: plain_kind(kind_of_atom(a, kinds)) for p, a in bound.items()}


_RANK = 4
"""How many axes an array has at most whose number of axes counts: recursion may add some."""

_DEPTH = 3
"""How deep containers are looked at: what a tangent returns is a pair of tuples with lists."""

_LENGTH = 8
"""How many items a tuple has at most that are told apart: recursion may add some as well."""


def plain_kind(kind: Kind, depth: int = 0) -> Kind:
    """A kind without what differs from call to call: values, names of lengths, deep structure."""
    if isinstance(kind, Scalar):
        return Scalar(kind.dtype, kind.python)
    if isinstance(kind, Array):
        known = kind.dims is not None and len(kind.dims) <= _RANK
        dims = (None,) * len(kind.dims or ()) if known else None
        return Array(kind.dtype, dims, kind.maybe_scalar)
    if isinstance(kind, Tuple) and depth < _DEPTH:
        items = tuple(plain_kind(k, depth + 1) for k in inside(kind))
        known = kind.items is not None and len(items) <= _LENGTH
        return Tuple(items) if known else Tuple(None, join_all(items))
    if isinstance(kind, List) and kind.items == () and kind.item is None:
        return List(None, ())
    if isinstance(kind, List) and depth < _DEPTH:
        return List(join_all(plain_kind(k, depth + 1) for k in contents(kind)))
    if isinstance(kind, (Function, Module, NoneKind)):
        return kind
    return UNKNOWN
