"""Lists that recursive functions change: appended to, popped from, with other items stored.

A call that changes a list that has one name alone may as well return the new list, and the name be
bound to that.  The invariant: nobody else can see which of the two it was.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from srcdiff import ir
from srcdiff.analysis.links import (
    Link,
    between,
    classes_of,
    groups,
    holds_containers,
    is_copy,
    links_of,
    stored_names,
)
from srcdiff.ir.kinds import (
    UNKNOWN,
    Array,
    Kind,
    List,
    NoneKind,
    Scalar,
    Text,
    Tuple,
    contents,
    is_container,
)
from srcdiff.normalize.summaries.assumed import Key
from srcdiff.primitives.effects import mutated_args

Kinds = Mapping[str, Kind]


def resized_params(
    function: ir.Function, kinds: Kinds, again: frozenset[str]
) -> tuple[str, ...]:
    """The parameters that are lists with one name, changed while what they hold is not.

    `again` are the names that the function binds, in its text.
    """
    links = list(links_of(function.body, kinds, False))
    stored, containers = stored_names(function.body, kinds)
    inside, changed = classes_of(links, stored), classes_of(between(links, kinds), containers)
    names = Names(function, kinds)
    last = function.body[-1]
    returned = ir.names(last.value) if isinstance(last, ir.Return) else []
    return tuple(
        p.name
        for p in function.params
        if p.name in changed
        and p.name not in inside
        and p.name not in again
        and holds_values(kinds.get(p.name))
        and names.is_alone(p.name)
        and p.name not in returned
    )


def writes_items(function: ir.Function, kinds: Kinds) -> bool:
    """Whether an operator in place may write into an item of a list: `xs[i] += v`."""
    stores = (s for s in ir.walk(function.body) if isinstance(s, ir.SetItem) and s.op is not None)
    bases = (kinds.get(s.base.id) for s in stores)
    return not all(_holds_numbers(k) or isinstance(k, (Array, Scalar)) for k in bases)


def item_writes(function: ir.Function, kinds: Kinds) -> frozenset[str]:
    """The names through which something else may be written into than a list of values."""
    found: set[str] = set()
    for stmt in ir.walk(function.body):
        if isinstance(stmt, ir.SetItem):
            plain = stmt.op is None and stmt.index is not None
            found.update(() if plain and holds_values(kinds.get(stmt.base.id)) else (stmt.base.id,))
        call = ir.call_of(stmt)
        if call is not None:
            method = isinstance(call.fn, ir.Method)
            names = {n for a in mutated_args(call, kinds) for n in ir.names(a)}
            found |= {n for n in names if not (method and holds_values(kinds.get(n)))}
    return frozenset(found)


def _holds_numbers(kind: Kind | None) -> bool:
    return isinstance(kind, List) and all(isinstance(k, Scalar) for k in contents(kind))


def holds_values(kind: Kind | None) -> bool:
    """Whether a value is a list of numbers and arrays, which hold no containers."""
    return isinstance(kind, List) and all(map(is_value, contents(kind)))


def is_value(kind: Kind) -> bool:
    """Whether a value certainly is no list or dict, and holds none."""
    if isinstance(kind, Tuple) and kind.items is not None:
        return all(map(is_value, kind.items))
    return isinstance(kind, (Scalar, Array, Text, NoneKind))


class Names:
    """Which names may stand for one container, or for one that holds the other."""

    def __init__(self, function: ir.Function, kinds: Kinds) -> None:
        links = links_of(function.body, kinds, False)
        self.group = groups(k for k in links if _may_be_one(k, kinds))
        self.size = Counter(self.group.values())
        self.given = {p.name for p in function.params}
        self.made: dict[str, list[ir.Rhs]] = {}
        for stmt in ir.walk(function.body):
            if isinstance(stmt, ir.Assign):
                self.made.setdefault(stmt.target.id, []).append(stmt.rhs)
            else:
                for name in () if isinstance(stmt, (ir.If, ir.For, ir.While)) else ir.writes(stmt):
                    self.made.setdefault(name, []).append(ir.NONE)

    def may_be_one(self, one: str, two: str) -> bool:
        """Whether two names may stand for one container, or one for a container of the other."""
        return self.group.get(one, one) == self.group.get(two, two)

    def is_alone(self, name: str) -> bool:
        """Whether a container certainly has no other name, here or outside."""
        own = name in self.given or name in self.made
        fresh = all(map(makes_list, self.made.get(name, ())))
        return own and fresh and self.size.get(self.group.get(name, name), 1) == 1


def makes_list(rhs: ir.Rhs) -> bool:
    """Whether an expression makes a list that nobody else has."""
    if not isinstance(rhs, ir.Call):
        return False
    if rhs.fn is operator.getitem:
        return isinstance(rhs.args[1], ir.Slice)
    return rhs.fn in (ir.make_list, list, sorted, operator.add, operator.mul)


def _may_be_one(link: Link, kinds: Kinds) -> bool:
    """Whether two linked names may be one container, or parts of each other."""
    source = kinds.get(link.source)
    if is_copy(link.stmt) and source is not None and not holds_containers(source):
        return False
    if link.source in _given_items(link.stmt):
        return False
    return all(is_container(k) or not is_value(k) for k in _both(link, kinds))


def _given_items(stmt: ir.Stmt) -> list[str]:
    """The lists of which what a call gives holds items alone."""
    call = ir.call_of(stmt)
    given = () if call is None else marked_arguments(call)
    return [n for key, p, a in given if p in key.items for n in ir.names(a)]


def marked_arguments(call: ir.Call) -> Iterator[tuple[Key, str, ir.Atom]]:
    """What is known of a marked call, with every parameter of its callee and what that is given."""
    key = call.fn.key if isinstance(call.fn, ir.Derived) else None
    if isinstance(key, Key):
        yield from ((key, p, a) for (p, _), a in zip(key.kinds, call.args))


def _both(link: Link, kinds: Kinds) -> Iterable[Kind]:
    return (kinds.get(n, UNKNOWN) for n in (link.target, link.source))
