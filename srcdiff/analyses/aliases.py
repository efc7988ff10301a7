"""Which names may share memory, and how each name of memory that is written relates to its owner.

Takes a function (after `webs`) and the kinds of its names.  Returns the alias classes that are
written in place, the views in them (with the expression that makes each) and the class of every
name.  The invariant: a name of a written class is its owner (fresh memory, or memory moved from a
name that is dead afterwards), a view that can be made again from its owner wherever it is used, or
an element of a container that is only read; everything else is refused.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from srcdiff import ir
from srcdiff.analyses.effects import mutated_args, returns_view
from srcdiff.analyses.kind_types import Kind, Object, is_container, is_scalar
from srcdiff.analyses.liveness import live_after
from srcdiff.analyses.views import is_array, is_sure_view
from srcdiff.errors import UnsupportedError

Kinds = Mapping[str, Kind]


@dataclass(frozen=True)
class View:
    """A name of part of another name's memory: `rhs`, an expression over `base`."""

    base: str
    rhs: ir.Rhs


@dataclass(frozen=True)
class Aliases:
    """The written classes (name -> class), the views in them, and the names stored into."""

    classes: Mapping[str, str] = field(default_factory=dict)
    views: Mapping[str, View] = field(default_factory=dict)
    stored: frozenset[str] = frozenset()

    def owner(self, name: str) -> str:
        """The name whose memory `name` is a view of (itself if it is none)."""
        while name in self.views:
            name = self.views[name].base
        return name


@dataclass(frozen=True)
class Link:
    """`target` may share memory with `source` after the statement `stmt`; `how` it comes about."""

    target: str
    source: str
    how: str  # "alias", "view", "element", "stored"
    stmt: ir.Stmt
    rest: ir.Block  # what follows the statement in its block
    inside: bool  # in a loop


def aliases(function: ir.Function, kinds: Kinds) -> Aliases:
    """The aliases of a function whose memory is written in place."""
    links = [k for k in _links(function.body, kinds, False) if not _is_taken(k, function)]
    counts = _definitions(function), _use_counts(function.body)
    stored, resized = _stored(function.body, kinds)
    one = _resolve(function, links, stored, kinds, counts)
    between = [
        k for k in links if _named_container(k.target, kinds) and _named_container(k.source, kinds)
    ]
    two = _resolve(function, between, resized, kinds, counts)
    parts = _parts(links, {**two.classes, **one.classes}, kinds, counts)
    return Aliases({**two.classes, **one.classes}, {**parts, **two.views, **one.views}, stored)


def _parts(
    links: list[Link],
    classes: Mapping[str, str],
    kinds: Kinds,
    counts: tuple[Mapping[str, int], Mapping[str, int]],
) -> dict[str, View]:
    """Containers that are parts of a container that nobody writes into: views of it."""
    found: dict[str, View] = {}
    for link in links:
        both = _named_container(link.target, kinds) and _named_container(link.source, kinds)
        part = link.how in ("element", "alias") and _is_part(link.stmt)
        if both and part and link.target not in classes:
            if isinstance(link.stmt, ir.Assign) and _steady(link, *counts):
                found[link.target] = View(link.source, link.stmt.rhs)
    return found


def _is_part(stmt: ir.Stmt) -> bool:
    """Whether a statement names a container again or an item of one (not a slice, a copy)."""
    rhs = stmt.rhs if isinstance(stmt, ir.Assign) else None
    if isinstance(rhs, ir.Name):
        return True
    item = isinstance(rhs, ir.Call) and rhs.fn is operator.getitem
    return item and not isinstance(rhs.args[1], ir.Slice)  # type: ignore[union-attr]


def linked_names(function: ir.Function, kinds: Kinds) -> frozenset[str]:
    """The names that may share memory with another name."""
    links = _links(function.body, kinds, False)
    found = {n for k in links for n in (k.target, k.source)}
    # What an operator in place on a shared array gives is that array.
    marks = [s for s in ir.walk(function.body) if isinstance(s, ir.Assign) and _is_marked(s.rhs)]
    while True:
        more = {s.target.id for s in marks if found & set(ir.names(s.rhs.args[0]))} - found  # type: ignore[union-attr]
        if not more:
            return frozenset(found)
        found |= more


def _is_marked(rhs: ir.Rhs) -> bool:
    """Whether an expression stands for an operator in place (see `prepare`)."""
    return isinstance(rhs, ir.Call) and (rhs.text or "").endswith("=")


def _named_container(name: str, kinds: Kinds) -> bool:
    return name in kinds and is_container(kinds[name])


def _resolve(
    function: ir.Function,
    links: list[Link],
    stored: frozenset[str],
    kinds: Kinds,
    counts: tuple[Mapping[str, int], Mapping[str, int]],
) -> Aliases:
    """The classes of what is written, and the views in them."""
    classes = _classes(links, stored)
    views: dict[str, View] = {}
    moved: list[Link] = []
    derived = frozenset(k.source for k in links)
    for link in links:
        if link.how == "view" and link.target in classes and link.target in derived:
            _check_derived(link, function, classes, kinds)
        if link.target in classes:
            view = _judge(link, function, *counts, stored, classes, kinds)
            if view is not None:
                views[link.target] = view
            elif link.how in ("alias", "stored"):
                moved.append(link)
    for link in moved:
        if not _is_free(link, views, function):
            if link.how != "alias" or not _steady(link, *counts):
                raise _refusal(link)
            assert isinstance(link.stmt, ir.Assign)
            views[link.target] = View(link.source, link.stmt.rhs)
    _check_chains(links, views)
    return Aliases(classes, views, stored)


def _arrays(rhs: ir.Rhs | None, kinds: Kinds) -> list[str]:
    """The names in an expression that may have memory to share."""
    return [n for n in ir.names(rhs) if not _has_no_memory(kinds.get(n))]


def _has_no_memory(kind: Kind | None) -> bool:
    return kind is not None and is_scalar(kind)


def _links(block: ir.Block, kinds: Kinds, inside: bool) -> Iterator[Link]:
    """Every way in which a statement lets two names share memory."""
    for k, stmt in enumerate(block):
        rest = block[k + 1 :]
        for target, source, how in _shares(stmt, kinds):
            if not _has_no_memory(kinds.get(target)):
                yield Link(target, source, how, stmt, rest, inside)
        for inner in ir.blocks(stmt):
            yield from _links(inner, kinds, inside or isinstance(stmt, (ir.For, ir.While)))


def _shares(stmt: ir.Stmt, kinds: Kinds) -> Iterator[tuple[str, str, str]]:
    """(target, source, how) of one statement."""
    if isinstance(stmt, ir.Assign):
        yield from _assign_shares(stmt, kinds)
    elif isinstance(stmt, ir.Permute):
        for other in stmt.sources[1:]:
            yield other.id, stmt.sources[0].id, "permute"
    elif isinstance(stmt, ir.SetItem) and stmt.op is None and _container(stmt.base, kinds):
        for name in _arrays(stmt.value, kinds):
            yield stmt.base.id, name, "stored"
    elif isinstance(stmt, ir.Effect) and isinstance(stmt.rhs, ir.Call):
        call = stmt.rhs
        if isinstance(call.fn, ir.Method) and call.args and _container(call.args[0], kinds):
            for atom in call.args[1:]:
                for name in _arrays(atom, kinds):
                    yield ir.names(call.args[0])[0], name, "stored"


def _container(atom: ir.Atom, kinds: Kinds) -> bool:
    return isinstance(atom, ir.Name) and atom.id in kinds and is_container(kinds[atom.id])


def _assign_shares(stmt: ir.Assign, kinds: Kinds) -> Iterator[tuple[str, str, str]]:
    """What the target of an assignment may share memory with."""
    rhs, target = stmt.rhs, stmt.target.id
    if isinstance(rhs, ir.Name):
        if not _has_no_memory(kinds.get(rhs.id)):
            yield target, rhs.id, "alias"
    elif isinstance(rhs, ir.Tup):
        yield from ((target, n, "stored") for n in _arrays(rhs, kinds))
    elif isinstance(rhs, ir.Call):
        if rhs.fn in (ir.make_list, ir.make_dict, list, tuple, dict, reversed, sorted):
            yield from ((target, n, "stored") for n in _arrays(rhs, kinds))
        elif rhs.args and _container(rhs.args[0], kinds) and not returns_fresh(rhs):
            yield target, ir.names(rhs.args[0])[0], "element"
        else:
            for atom in returns_view(rhs, kinds):
                yield from ((target, n, "view") for n in _arrays(atom, kinds))


def returns_fresh(call: ir.Call) -> bool:
    """Whether a call on a container returns new memory (`len(xs)`, `np.stack(xs)`)."""
    element = call.fn is operator.getitem or (
        isinstance(call.fn, ir.Method) and call.fn.name in ("pop", "get", "copy", "items", "values")
    )
    return not element


def _stored(block: ir.Block, kinds: Kinds) -> tuple[frozenset[str], frozenset[str]]:
    """The arrays and the containers that some statement writes into."""
    found: set[str] = set()
    for stmt in ir.walk(block):
        if isinstance(stmt, ir.SetItem):
            found.add(stmt.base.id)
        rhs = stmt.rhs if isinstance(stmt, (ir.Assign, ir.Effect)) else None
        if isinstance(rhs, ir.Call):
            found.update(n for a in mutated_args(rhs, kinds) for n in ir.names(a))
    found = {n for n in found if not isinstance(kinds.get(n), Object)}  # random generators
    containers = {n for n in found if _named_container(n, kinds)}
    return frozenset(found - containers), frozenset(containers)


def _classes(links: list[Link], stored: frozenset[str]) -> dict[str, str]:
    """Name -> representative, for the classes that are written."""
    parent: dict[str, str] = {}

    def find(name: str) -> str:
        while parent.setdefault(name, name) != name:
            parent[name] = parent[parent[name]]
            name = parent[name]
        return name

    for link in links:
        parent[find(link.target)] = find(link.source)
    written = {find(n) for n in stored}
    first: dict[str, str] = {}
    for name in sorted({*parent, *stored}):
        first.setdefault(find(name), name)
    return {n: first[find(n)] for n in sorted({*parent, *stored}) if find(n) in written}


def _definitions(function: ir.Function) -> dict[str, int]:
    """How many statements bind each name (a parameter counts as one)."""
    count = {p.name: 1 for p in function.params}
    for stmt in ir.walk(function.body):
        for name in ir.writes(stmt):
            count[name] = count.get(name, 0) + 1
    return count


def _use_counts(block: ir.Block) -> dict[str, int]:
    """How many statements read each name."""
    count: dict[str, int] = {}
    for stmt in ir.walk(block):
        for name in ir.reads(stmt):
            count[name] = count.get(name, 0) + 1
    return count


def _judge(
    link: Link,
    function: ir.Function,
    defs: Mapping[str, int],
    uses: Mapping[str, int],
    stored: frozenset[str],
    classes: Mapping[str, str],
    kinds: Kinds,
) -> View | None:
    """The view that a link makes, None where the memory is moved or only read; else refuse."""
    if link.how == "permute":
        return None
    if link.how == "view" and not _is_array_view(link, kinds, function):
        if link.target in stored or not _within(link, defs, uses):
            raise _refusal(link)
        if _overwritten(link, classes, kinds):
            raise _refusal(link)
        return None  # nobody writes while it is used: a copy would be as good
    if link.how == "alias" and _dead_after(link, function):
        return None
    if link.how in ("alias", "view") and _steady(link, defs, uses):
        assert isinstance(link.stmt, ir.Assign)
        return View(link.source, link.stmt.rhs)
    if link.how == "stored" and _dead_after(link, function):
        return None
    if link.how == "element" and _named_container(link.target, kinds):
        if not _is_part(link.stmt) or _dead_after(link, function):
            return None
        if isinstance(link.stmt, ir.Assign) and _steady(link, defs, uses):
            return View(link.source, link.stmt.rhs)
    elif link.how == "element" and link.target not in stored:
        return None
    raise _refusal(link)


def _check_chains(links: list[Link], views: Mapping[str, View]) -> None:
    """A view of a view is made again through all of them: none of their names may change before."""
    for link in links:
        base = link.source
        if link.target not in views or views[link.target].base != base:
            continue
        later = ir.bound(_until_last_use(link))
        while base in views:
            if later & set(ir.names(views[base].rhs)):
                raise _refusal(link)
            base = views[base].base


def _is_free(link: Link, views: Mapping[str, View], function: ir.Function) -> bool:
    """Whether memory may be moved: from its owner, and not while a view of it is in use."""
    if link.source in views:
        return False
    live = live_after(function, link.stmt)
    for name in views:
        base = name
        while base in views:
            base = views[base].base
        if base == link.source and name in live:
            return False
    return True


def _check_derived(
    link: Link, function: ir.Function, classes: Mapping[str, str], kinds: Kinds
) -> None:
    """What may be a view or a copy, and has views itself: nothing may be written after it."""
    rhs = link.stmt.rhs if isinstance(link.stmt, ir.Assign) else None
    if rhs is not None and is_array(kinds.get(link.target)) and is_sure_view(rhs, kinds, function):
        return
    written, _ = _stored(function.body if link.inside else link.rest, kinds)
    if any(classes.get(n) == classes[link.target] for n in written):
        raise _refusal(link)


def _steady(link: Link, defs: Mapping[str, int], uses: Mapping[str, int]) -> bool:
    """Whether the view can be made again, with the same meaning, wherever it is used."""
    assert isinstance(link.stmt, ir.Assign)
    until = _until_last_use(link)
    needed = {link.target, *ir.names(link.stmt.rhs)}
    return (
        defs[link.target] == 1
        and not (needed & ir.bound(until))
        and _use_counts(until).get(link.target, 0) == uses.get(link.target, 0)
    )


def _is_taken(link: Link, function: ir.Function) -> bool:
    """Whether the target takes an item out of a container that nobody else looks at."""
    return link.how == "element" and _taken_apart(link, function)


def _taken_apart(link: Link, function: ir.Function) -> bool:
    """Whether the container is new, and only there for each of its items to be taken once."""
    made = [s for s in ir.walk(function.body) if link.source in ir.writes(s)]
    if len(made) != 1 or link.inside or not isinstance(made[0], ir.Assign):
        return False
    rhs = made[0].rhs
    if not isinstance(rhs, ir.Call) or returns_view(rhs) or rhs.fn is ir.make_list:
        return False
    uses = [s for s in ir.walk(function.body) if link.source in ir.reads(s)]
    keys = [s.rhs.args[1] for s in uses if _takes_item(s, link.source)]  # type: ignore[union-attr]
    return len(keys) == len(uses) == len(set(keys))


def _takes_item(stmt: ir.Stmt, source: str) -> bool:
    """Whether a statement is `x = source[literal]`."""
    rhs = stmt.rhs if isinstance(stmt, ir.Assign) else None
    return (
        isinstance(rhs, ir.Call)
        and rhs.fn is operator.getitem
        and rhs.args[0] == ir.Name(source)
        and isinstance(rhs.args[1], ir.Const)
    )


def _until_last_use(link: Link) -> ir.Block:
    """The statements of the block from the link to the last one that uses its target."""
    for k in range(len(link.rest) - 1, -1, -1):
        if link.target in ir.used((link.rest[k],)):
            return link.rest[: k + 1]
    return ()


def _within(link: Link, defs: Mapping[str, int], uses: Mapping[str, int]) -> bool:
    """Whether all uses of the target follow in the block of its only definition."""
    until = _until_last_use(link)
    used = _use_counts(until).get(link.target, 0)
    return defs[link.target] == 1 and used == uses.get(link.target, 0)


def _is_array_view(link: Link, kinds: Kinds, function: ir.Function) -> bool:
    """Whether the target is certainly an array that is a view of the source."""
    rhs = link.stmt.rhs if isinstance(link.stmt, ir.Assign) else None
    return (
        rhs is not None and is_array(kinds.get(link.target)) and is_sure_view(rhs, kinds, function)
    )


def _overwritten(link: Link, classes: Mapping[str, str], kinds: Kinds) -> bool:
    """Whether the memory of the link is written into before the last use of its target."""
    written, _ = _stored(_until_last_use(link), kinds)
    return any(classes.get(n) == classes[link.target] for n in written)


def _dead_after(link: Link, function: ir.Function) -> bool:
    """Whether the source is never read again after the statement, before it is bound anew."""
    return link.source not in live_after(function, link.stmt)


def _refusal(link: Link) -> UnsupportedError:
    """The refusal of memory whose owner the source does not decide."""
    what = {
        "alias": f"`{link.target}` and `{link.source}` may name the same array",
        "view": f"`{link.target}` may be a view of `{link.source}`",
        "element": f"`{link.target}` is an element of the container `{link.source}`",
        "stored": f"the array `{link.source}` is stored in the container `{link.target}`",
    }[link.how]
    return UnsupportedError(
        f"{what}, and its memory is written in place",
        link.stmt.loc,
        remedy=f"Make a copy here (`{link.source}.copy()`), or write through one name only.",
    )


def written_params(function: ir.Function, kinds: Kinds) -> tuple[str, ...]:
    """The parameters whose memory the function writes into, by their own name or another."""
    links = list(_links(function.body, kinds, False))
    stored, resized = _stored(function.body, kinds)
    between = [
        k for k in links if _named_container(k.target, kinds) and _named_container(k.source, kinds)
    ]
    written = {**_classes(links, stored), **_classes(between, resized)}
    return tuple(p.name for p in function.params if p.name in written)
