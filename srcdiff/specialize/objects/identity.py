"""Whether two objects are one and the same: answered, or refused, where objects are taken apart.

An object that a function makes or stores into is made anew wherever it is used as a whole, so that
neither `is` nor a search among objects that are compared as they are would find it again.
"""

from __future__ import annotations

import operator
from typing import Any, Protocol

from srcdiff import ir
from srcdiff.errors import UnsupportedError
from srcdiff.ir.kinds import Dict, Kind, List, Object, Tuple, Unknown, class_of
from srcdiff.kinds.atoms import atom_kind
from srcdiff.runtime import records
from srcdiff.specialize.objects.places import Kinds, Place, is_made

_SAME: dict[Any, bool] = {
    operator.is_: True, operator.eq: True, operator.is_not: False, operator.ne: False,
}  # fmt: skip
_SEARCHES = ("index", "remove", "count", "get", "setdefault", "pop")


class Objects(Protocol):
    """What is asked of the objects of a function."""

    kinds: Kinds
    boxed: frozenset[str]
    params: set[str]

    def place(self, atom: ir.Atom) -> Place | None:
        """Where an object is."""

    def stores_below(self, place: Place) -> bool:
        """Whether anything in an object is assigned."""

    def makers(self, name: str) -> list[ir.Stmt]:
        """The statements that bind a name."""


def same(o: Objects, call: ir.Call, loc: ir.Loc) -> bool | None:
    """What a comparison of two objects gives, None where it is to be asked when it runs.

    Raises:
        UnsupportedError: nothing tells whether they are the same.
    """
    compared = [a for a in _compared(call) if _by_identity(o, call, a)]
    if not compared or (call.fn in _SAME and not _may_meet(o, call)):
        return None
    a, b = call.args[0], call.args[-1]
    if call.fn in _SAME and o.place(a) is not None:
        if o.place(a) == o.place(b):
            return _SAME[call.fn]
        if _are_new(o, a, b):
            return not _SAME[call.fn]
    if not any(is_taken_apart(o, a) for a in compared):
        return None
    raise refused(loc)


def refused(loc: ir.Loc) -> UnsupportedError:
    """The error for objects of which nothing tells whether they are the same."""
    return UnsupportedError(
        "whether two objects are the same one is known only when the program runs, and one of "
        "them is made here or stored into",
        loc,
        remedy="Compare a name or a number that they hold; or write `__eq__`, for `==`, `in`.",
    )


def of_boxed(o: Objects, call: ir.Call) -> bool:
    """Whether objects out of containers are compared as they are."""
    compared = [a for a in _compared(call) if isinstance(a, ir.Name) and a.id in o.boxed]
    return any(_by_identity(o, call, a) for a in compared)


def _compared(call: ir.Call) -> tuple[ir.Atom, ...]:
    """The arguments that a call compares with others, or of which it takes the identity."""
    if call.fn in _SAME or call.fn in (id, hash):
        return call.args
    if call.fn is operator.contains or (
        isinstance(call.fn, ir.Method) and call.fn.name in _SEARCHES
    ):
        return call.args[1:2]
    return ()


def _by_identity(o: Objects, call: ir.Call, atom: ir.Atom) -> bool:
    """Whether a value is an object that is taken for none but itself."""
    cls = class_of(atom_kind(atom, o.kinds)) if isinstance(atom, ir.Name) else None
    if cls is None or call.fn in (operator.is_, operator.is_not, id):
        return cls is not None
    return records.member(cls, "__eq__") is object.__dict__["__eq__"]


def _may_meet(o: Objects, call: ir.Call) -> bool:
    """Whether both sides of a comparison may be one object."""
    return len(call.args) == 2 and all(_may_be_object(atom_kind(a, o.kinds)) for a in call.args)


def _may_be_object(kind: Kind) -> bool:
    return class_of(kind) is not None or isinstance(kind, (Unknown, Object, Tuple, List, Dict))


def is_taken_apart(o: Objects, atom: ir.Atom) -> bool:
    """Whether an object is none that the function was given, nor one that is in a container."""
    place = o.place(atom)
    return place is not None and (place[0] not in o.params or o.stores_below(place))


def _are_new(o: Objects, a: ir.Atom, b: ir.Atom) -> bool:
    """Whether two objects are made by statements of their own."""
    places = [o.place(x) for x in (a, b)]
    if None in places or any(p[1] for p in places if p is not None):
        return False
    makers = [o.makers(p[0]) for p in places if p is not None]
    new = all(len(m) == 1 and is_made(getattr(m[0], "rhs", None)) for m in makers)
    return new and places[0] != places[1]
