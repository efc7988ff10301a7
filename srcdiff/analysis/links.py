"""Every way in which two names may come to share memory, and what is written into.

A `Link` is one such way at one statement.  `classes_of` joins what is linked, without regard to the
order of statements, and keeps the classes that something writes into.
"""

from __future__ import annotations

import itertools
from collections.abc import (
    Callable,
    Hashable,
    Iterable,
    Iterator,
    Mapping,
    MutableMapping,
    MutableSequence,
    MutableSet,
    Set,
)
from typing import TypeGuard, TypeVar

import numpy as np

from srcdiff import ir
from srcdiff.errors import TransformError, refused
from srcdiff.ir.disjoint import Disjoint
from srcdiff.ir.frozen import frozen
from srcdiff.primitives.effects import (
    computes,
    makes_object,
    mutated_args,
    object_parts,
    picks_number,
    returns_view,
    written_into,
)
from srcdiff.primitives.ops import CONTAINERS, Op, is_op, which_op

N = TypeVar("N", bound=Hashable)


@frozen
class Link:
    """`target` may share memory with `source` after the statement `stmt`; `how` it comes about."""

    target: str
    source: str
    how: str  # "alias", "view", "element", "stored"
    stmt: ir.Stmt
    rest: ir.Block  # what follows the statement in its block
    inside: bool  # in a loop
    span: int  # how much of `rest` there is to the last use of the target


def reached(start: Iterable[N], steps: Iterable[tuple[N, N]]) -> frozenset[N]:
    """Some nodes, names say, and all those to which steps lead from them."""
    nexts: dict[N, list[N]] = {}
    for source, target in steps:
        nexts.setdefault(source, []).append(target)
    seen = set(start)
    todo = list(seen)
    while todo:
        new = [n for n in nexts.get(todo.pop(), ()) if n not in seen]
        seen.update(new)
        todo += new
    return frozenset(seen)


def in_place(function: ir.Function) -> Iterator[Link]:
    """What operators in place give may be the array that they write into."""
    for stmt in ir.walk(function):
        for name in marked_names(stmt):
            yield Link(ir.writes(stmt)[0], name, "alias", stmt, (), False, 0)


def is_marked(rhs: ir.Rhs | None) -> TypeGuard[ir.Call]:
    """Whether an expression stands for an operator in place on a name (see `prepare`)."""
    marked = isinstance(rhs, ir.Call) and rhs.role is ir.Role.IN_PLACE
    return marked and isinstance(rhs.args[0], ir.Name)  # type: ignore[union-attr]


def marked_names(stmt: ir.Stmt) -> tuple[str, ...]:
    """The names of which `x op= y` says that they may be written into."""
    call = ir.call_of(stmt)
    return ir.names(call.args[0]) if is_marked(call) else ()


def named_container(name: str, kinds: ir.Kinds) -> bool:
    """Whether a name is certainly a list, tuple or dict."""
    return name in kinds and ir.is_container(kinds[name])


def _arrays(rhs: ir.Rhs | None, kinds: ir.Kinds) -> list[str]:
    """The names in an expression that may have memory to share."""
    return [n for n in ir.names(rhs) if may_have_memory(kinds.get(n))]


def may_have_memory(kind: ir.Kind | None) -> bool:
    """Whether a value may be more than a number or a text."""
    return not isinstance(kind, (ir.Scalar, ir.Text, ir.Key))


def _holds_only_values(kind: ir.Kind | None) -> bool:
    """Whether a container certainly holds nothing that has memory to share."""
    items = ir.items_of(kind)
    return bool(items) and not any(map(may_have_memory, items))


def links_of(
    block: ir.Block, kinds: ir.Kinds, device: bool, inside: bool = False
) -> Iterator[Link]:
    """Every way in which a statement lets two names share memory."""
    last: Mapping[str, int] | None = None
    for k, stmt in enumerate(block):
        for target, source, how in shares(stmt, kinds, device):
            # A list of the numbers of an array or a list holds nothing of that.
            numbers = (how == "stored" or is_copy(stmt)) and _holds_only_values(kinds.get(target))
            if not numbers and may_have_memory(kinds.get(target)):
                last = _last_uses(block) if last is None else last
                span = max(0, last.get(target, 0) - k)
                yield Link(target, source, how, stmt, block[k + 1 :], inside, span)
        for inner in ir.blocks(stmt):
            loops = inside or isinstance(stmt, (ir.For, ir.While))
            yield from links_of(inner, kinds, device, loops)


def _last_uses(block: ir.Block) -> dict[str, int]:
    """The last statement of a block that uses each name."""
    return {n: k for k, stmt in enumerate(block) for n in ir.used_in(stmt)}


Holds = Callable[[str, ir.Kinds], bool]
"""Whether a name may stand for what holds others."""


def shares(
    stmt: ir.Stmt, kinds: ir.Kinds, device: bool, holds: Holds = named_container
) -> Iterator[tuple[str, str, str]]:
    """(target, source, how) of one statement; on a device, an item of an array is a part of it."""
    if isinstance(stmt, ir.Assign):
        if type(stmt.rhs) is ir.Call and computes(stmt.rhs, kinds):
            return
        yield from _assign_shares(stmt, kinds, device, holds)
    elif isinstance(stmt, ir.Permute):
        for other in stmt.sources[1:]:
            yield other.id, stmt.sources[0].id, "permute"
    elif isinstance(stmt, ir.Store) and holds(stmt.base.id, kinds):
        for name in _arrays(stmt.value, kinds):
            # A sum with a number or an array is new, or in the memory that was there.
            if type(stmt) is ir.SetItem or not isinstance(kinds.get(name), (ir.Array, ir.Scalar)):
                yield stmt.base.id, name, "stored"
    elif isinstance(stmt, ir.For):
        yield from ((stmt.target.id, n, "element") for n in _arrays(stmt.iter, kinds))
    elif isinstance(stmt, ir.Effect):
        yield from _stores(stmt, kinds, holds)


def _stores(
    stmt: ir.Assign | ir.Effect, kinds: ir.Kinds, holds: Holds
) -> Iterator[tuple[str, str, str]]:
    """What a call may put into what it writes into."""
    call = ir.call_of(stmt)
    into = [n for n in written_into(stmt, kinds) if holds(n, kinds)]
    if call is None or not into or is_op(call, Op.POP):
        return
    put = _arrays(ir.Tup(call.args[2:] if is_op(call, Op.INSERT) else call.args), kinds)
    yield from ((base, n, "stored") for base in into for n in put if n != base)


def kept_outside(function: ir.Function, kinds: ir.Kinds) -> tuple[frozenset[str], frozenset[str]]:
    """The names of what is from outside, and those of what is put into that."""
    if not any(isinstance(r.value, MUTABLE) for r in ir.refs_in(function)):
        return frozenset(), frozenset()
    own, put = set[tuple[str, str]](), set[tuple[str, str]]()
    for stmt in ir.walk(function):
        if isinstance(stmt, ir.Assign):
            numbers = is_copy(stmt) and _holds_only_values(kinds.get(stmt.target.id))
            parts = () if numbers else _outside(_parts_of(stmt.rhs, kinds))
            own.update((n, stmt.target.id) for n in parts)
        call = ir.call_of(stmt)
        if call is not None:
            into = _outside(mutated_args(call, kinds))
            put.update(itertools.product(into, _arrays(call, kinds)))
        if isinstance(stmt, ir.SetItem):
            put.update((stmt.base.id, n) for n in _arrays(stmt.value, kinds))
    known = reached((_OUTSIDE,), own | put)
    own_names, put_names = (frozenset(t for s, t in steps if s in known) for steps in (own, put))
    return own_names, put_names


def _parts_of(rhs: ir.Rhs, kinds: ir.Kinds) -> tuple[ir.Atom, ...]:
    """What a value may be, or may be a part of; a new container is a part of nothing."""
    if isinstance(rhs, ir.Call):
        return () if is_op(rhs, *CONTAINERS) else returns_view(rhs, kinds)
    return () if isinstance(rhs, (ir.Opaque, ir.Tup)) else (rhs,)


_OUTSIDE = ""
"""Stands for all that is from outside and can be written into."""


def _outside(atoms: Iterable[ir.Atom]) -> list[str]:
    """The names in some values, and what stands for those from outside."""
    found = [n for a in atoms for n in ([] if isinstance(a, ir.Ref) else ir.names(a))]
    mutable = any(isinstance(a, ir.Ref) and isinstance(a.value, MUTABLE) for a in atoms)
    return [_OUTSIDE, *found] if mutable else found


MUTABLE = (np.ndarray, MutableSequence, MutableMapping, MutableSet)
"""The classes of arrays and containers."""


def _container(atom: ir.Atom, kinds: ir.Kinds) -> bool:
    return isinstance(atom, ir.Name) and named_container(atom.id, kinds)


def _assign_shares(
    stmt: ir.Assign, kinds: ir.Kinds, device: bool, holds: Holds
) -> Iterator[tuple[str, str, str]]:
    """What the target of an assignment may share memory with."""
    rhs, target = stmt.rhs, stmt.target.id
    if isinstance(rhs, ir.Name):
        yield from ((target, n, "alias") for n in _arrays(rhs, kinds))
    elif isinstance(rhs, ir.Tup):
        yield from ((target, n, "stored") for n in _arrays(rhs, kinds))
    elif isinstance(rhs, ir.Call) and not takes_keys(rhs, kinds):
        op = which_op(rhs)
        if makes_object(rhs.fn):
            yield from ((target, n, "stored") for n in _arrays(ir.Tup(object_parts(rhs)[1]), kinds))
        elif op in DISPLAYS or (op in JOINS and _joins(rhs, kinds)):
            yield from ((target, n, "stored") for n in _arrays(rhs, kinds))
        elif op in _ELEMENTS and _container(rhs.args[0], kinds):
            yield target, ir.names(rhs.args[0])[0], "element"
        else:
            stored = tuple(_stores(stmt, kinds, holds)) if mutated_args(rhs) else ()
            yield from stored
            number = ir.is_scalar(ir.sure(kinds.get(target, ir.UNKNOWN)))
            if not stored and (number or not device and picks_number(rhs, kinds)):
                return  # a number shares nothing
            # What is put into a container may come back, or what was there.
            viewed = ir.Tup(rhs.args if stored else returns_view(rhs, kinds))
            yield from ((target, n, "view") for n in _arrays(viewed, kinds))


def takes_keys(call: ir.Call, kinds: ir.Kinds) -> bool:
    """Whether a call makes a sequence of the keys of a dict: they share and carry nothing."""
    first = call.args[0] if which_op(call) in _TAKING and call.args else None
    return isinstance(first, ir.Name) and isinstance(kinds.get(first.id), ir.Dict)


_TAKING = (Op.LIST, Op.TUPLE, Op.SORTED, Op.REVERSED, Op.SET, Op.ITER)
_COPYING = (Op.LIST, Op.TUPLE, Op.DICT, Op.REVERSED, Op.SORTED)
DISPLAYS = (Op.MAKE_LIST, Op.MAKE_DICT, *_COPYING)
"""What makes a new container that holds what it is given, or the items of that."""

JOINS = (Op.ADD, Op.MUL, Op.OR)
"""The operators that join containers, where an operand is one."""

_ELEMENTS = (Op.COPY_METHOD, Op.GET, Op.GETITEM, Op.ITEMS, Op.POP, Op.VALUES)
"""What gives an item of a container, or several."""


def _joins(call: ir.Call, kinds: ir.Kinds) -> bool:
    """Whether an operator joins containers: the new one holds what they hold."""
    return any(isinstance(a, ir.Tup) or _container(a, kinds) for a in call.args)


def stored_names(block: ir.Block, kinds: ir.Kinds) -> tuple[frozenset[str], frozenset[str]]:
    """The arrays and the containers that some statement writes into."""
    found = {n for s in ir.walk(block) for n in written_into(s, kinds)}
    found = {n for n in found if not isinstance(kinds.get(n), ir.Object)}  # random generators
    containers = {n for n in found if named_container(n, kinds)}
    return frozenset(found - containers), frozenset(containers)


def classes_of(links: Iterable[Link], stored: Set[str]) -> dict[str, str]:
    """Name -> representative, for the classes that are written."""
    first = groups(links)
    first.update((n, n) for n in stored if n not in first)
    written = {first[n] for n in stored}
    return {n: first[n] for n in sorted(first) if first[n] in written}


def makes_empty_list(stmt: ir.Stmt) -> bool:
    """Whether a statement binds a name to a new list with nothing in it."""
    call = ir.call_of(stmt)
    return isinstance(stmt, ir.Assign) and is_op(call, Op.MAKE_LIST) and not call.args


class Groups(dict[str, str]):
    """The names that something joins, by the first of each group; any other is alone."""

    def of(self, name: str) -> str:
        """The name that stands for the group of a name."""
        return self.get(name, name)

    def share(self, one: str, two: str) -> bool:
        """Whether two names are in one group."""
        return self.of(one) == self.of(two)

    def with_all(self, name: str) -> set[str]:
        """The names in the group of a name, that name among them."""
        return {name, *(n for n, first in self.items() if first == self.get(name))}


def groups(links: Iterable[Link]) -> Groups:
    """The names that may share memory by some links, whether it is written into or not."""
    return joined((link.target, link.source) for link in links)


def joined(pairs: Iterable[tuple[str, str]]) -> Groups:
    """The names that some pairs of them join."""
    sets, names = Disjoint[str](), dict[str, None]()
    for one, two in pairs:
        names |= {one: None, two: None}
        sets.join(*sorted((sets.find(one), sets.find(two))))
    return Groups((n, sets.find(n)) for n in names)


def until_last_use(link: Link) -> ir.Block:
    """The statements of the block from the link to the last one that uses its target."""
    return link.rest[: link.span]


def refusal(link: Link) -> TransformError:
    """The refusal of memory whose owner the source does not decide."""
    target, source = _made(link), ir.said(link.source)
    if source == ir.said("_") and link.how == "view":
        source = "its argument"
    into, of = (
        "a container" if ir.is_temporary(n) else f"the container {ir.said(n)}"
        for n in (link.target, link.source)
    )
    what = {
        "alias": f"{target} and {source} may name the same array",
        "view": f"{target} may be a view of {source}",
        "element": f"{target} is an element of {of}",
        "stored": f"{source} is stored in {into}",
    }[link.how]
    return refused("memory.unclear", link.stmt.loc, what=what)


def _made(link: Link) -> str:
    """What a link makes, as the user knows it: where it has no name, by what gives it."""
    call = ir.call_of(link.stmt)
    if not ir.is_temporary(link.target) or call is None:
        return ir.said(link.target)
    if is_op(call, Op.GETITEM):
        return "a part that is taken here"
    if isinstance(call.fn, (ir.Method, ir.Attr)):
        return f"what `.{call.fn.name}` gives"
    return f"what `{call.text}` gives" if call.text else ir.said(link.target)


def between(links: Iterable[Link], kinds: ir.Kinds) -> list[Link]:
    """The links of containers of which one may be the other, or a part of it."""
    both = [k for k in links if are_containers(k, kinds)]
    return [k for k in both if not is_copy(k.stmt) or holds_containers(kinds[k.source])]


def are_containers(link: Link, kinds: ir.Kinds) -> bool:
    """Whether both names of a link are certainly lists, tuples or dicts."""
    return named_container(link.target, kinds) and named_container(link.source, kinds)


def is_copy(stmt: ir.Stmt) -> bool:
    """Whether a statement makes a new container that holds the same items as an old one."""
    rhs = stmt.rhs if isinstance(stmt, ir.Assign) else None
    if is_op(rhs, Op.GETITEM):
        return isinstance(rhs.args[1], ir.Slice)
    return is_op(rhs, *_COPYING, *JOINS, Op.COPY_METHOD)


def holds_containers(kind: ir.Kind) -> bool:
    """Whether a container may hold other containers."""
    return any(
        not isinstance(k, (ir.Scalar, ir.Array, ir.Text, ir.NoneKind)) for k in ir.items_of(kind)
    )
