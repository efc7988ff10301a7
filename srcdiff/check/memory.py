"""Writes into memory that no statement shows, or that is read under no name of the function.

`np.add(*xs)` writes into the third of the items, if there are three; `memoryview(y)[0] = v` into
`y`, of which no rule says that it is a view.

What is stored into an array or a container from outside under a name has its derivative under the
name alone: another mention of the same object would be a constant, and so would one of a later
iteration.  And what `x += y` writes may be a new `x`: what is from outside would stay as it was
where it is read next.
"""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any, TypeGuard

import numpy as np

from srcdiff import ir
from srcdiff.analysis.links import (
    MUTABLE,
    Link,
    between,
    classes_of,
    groups,
    marked_names,
    named_container,
    reached,
    refusal,
)
from srcdiff.analysis.points_to import PointsTo
from srcdiff.errors import TransformError, refused
from srcdiff.ir.frozen import replace
from srcdiff.kinds.calls import atom_kind
from srcdiff.normalize.summaries.effects import is_user_call
from srcdiff.primitives.arguments import KEYS, parameters, spelling
from srcdiff.primitives.effects import is_foreign, returns_view, written_into
from srcdiff.primitives.operation import ADDRESS_ATTRIBUTES
from srcdiff.primitives.ops import Op, is_op
from srcdiff.primitives.registry import lookup
from srcdiff.runtime.records import attributes, is_record


def check_written(function: ir.Function, kinds: ir.Kinds) -> None:
    """Refuse calls of which it is not known whether they are given an `out`."""
    for stmt, call in ir.callers(function):
        out = isinstance(call.fn, np.ufunc) or not {*KEYS}.isdisjoint(parameters(call.fn))
        for name in (*_spread(call, kinds), *_options(call, kinds)) if out else ():
            raise refused("memory.out_unknown", stmt.loc, callee=spelling(call), name=ir.said(name))


def _spread(call: ir.Call, kinds: ir.Kinds) -> tuple[str, ...]:
    """The names of what is given as `*args` and may hold what is written into."""
    stars = [a for a in call.args if isinstance(a, ir.Star)]
    names = [n for a in stars for n in ir.names(a)]
    items = [ir.known_items(kinds.get(n)) for n in names]
    given = len(call.args) - len(stars) + sum(len(i) for i in items if i is not None)
    known = None not in items and len(items) == len(stars)
    if not stars or (known and given <= _place(call.fn)):
        return ()
    return tuple(n for n in names if _may_hold_arrays(kinds.get(n)))


def _place(fn: ir.Callee) -> int:
    """How many positional arguments come before `out`."""
    if isinstance(fn, np.ufunc):
        return fn.nin
    names = parameters(fn)
    return next(k for k, n in enumerate(names) if n in KEYS)


def _may_hold_arrays(kind: ir.Kind | None, keys: Collection[str] = ()) -> bool:
    """Whether there may be an array among the items of what has this kind, under some keys."""
    if keys and isinstance(kind, ir.Dict) and kind.items and kind.item is None:
        return any(k in keys and ir.is_mutable(inner) for k, inner in kind.items)
    if isinstance(kind, (ir.List, ir.Tuple, ir.Dict)):
        return any(map(ir.is_mutable, ir.inside(kind)))
    return kind is None or ir.is_mutable(kind)


def _options(call: ir.Call, kinds: ir.Kinds) -> tuple[str, ...]:
    """The names of what is given as `**options` and may have an `out`."""
    given = (n for key, value in call.kwargs if key is None for n in ir.names(value))
    return tuple(n for n in given if _may_hold_arrays(kinds.get(n), KEYS))


# --- views that no rule describes ----------------------------------------------------------------


def check_views(function: ir.Function, kinds: ir.Kinds) -> None:
    """Refuse views that no rule describes, if something is written into their memory meanwhile."""
    made = [s for s in ir.walk(function) if _is_unknown_view(s, kinds)]
    if not made:
        return
    scene = PointsTo.of(function, kinds)
    classes = classes_of(scene.links, scene.written)
    derived = {k.source for k in scene.links}
    for link in (k for k in scene.links if any(k.stmt is s for s in made) and k.target in classes):
        apart = groups(k for k in scene.links if k.stmt is not link.stmt)
        written = any(apart.share(link.target, n) for n in scene.written)
        later = link.target in derived and scene.written_later(link, classes)
        if written or later or not scene.within(link) or scene.overwritten(link, classes):
            raise refusal(link)


def _is_unknown_view(stmt: ir.Stmt, kinds: ir.Kinds) -> bool:
    """Whether a statement makes a view of which no rule says where it is."""
    call = stmt.rhs if isinstance(stmt, ir.Assign) else None
    if not isinstance(call, ir.Call):
        return False
    if isinstance(call.fn, ir.Attr) and call.fn.name in ADDRESS_ATTRIBUTES:
        _check_raw(call, kinds, stmt.loc)
    if is_foreign(call):
        return True
    rule = lookup(call.fn) if returns_view(call, kinds) else None
    return rule is not None and rule.flavour == "composed"


def _check_raw(call: ir.Call, kinds: ir.Kinds, loc: ir.Loc) -> None:
    """Refuse the address of an array."""
    base = call.args[0]
    if isinstance(base, ir.Name) and isinstance(kinds.get(base.id), ir.Array):
        name = spelling(call).split("`")[1]
        raise refused("memory.address", loc, name=name, array=ir.said(base.id))


# --- what a function under `functools.cache` gives -----------------------------------------------


def check_kept(function: ir.Function, kinds: ir.Kinds) -> None:
    """Refuse writes into what a function under `functools.cache` gives, which keeps it."""
    made = [s for s in ir.walk(function) if _is_kept(s)]
    if not made:
        return
    memory = PointsTo.of(function, kinds)
    links = (*memory.links, *memory.marks)
    stored = memory.written.union(k.source for k in memory.marks)
    for stmt in made:
        if not stored.isdisjoint(_names_of(stmt.target.id, links)):
            assert isinstance(stmt.rhs, ir.Call)
            raise refused("objects.kept", stmt.loc, callee=spelling(stmt.rhs))


def _names_of(name: str, links: Iterable[Link]) -> set[str]:
    """The names that may be the value of a name, or a part of it; not those that hold it."""
    found = reached([(name, "is")], (step for link in links for step in _steps(link)))
    return {n for n, how in found if how == "is"}


def _steps(link: Link) -> Iterator[tuple[tuple[str, str], tuple[str, str]]]:
    """Which names are a value, or hold it, by a link, if others do."""
    one, other = (link.source, "is"), (link.target, "is")
    holder, other_holder = (link.source, "holds"), (link.target, "holds")
    yield holder, other_holder
    if link.how == "stored":
        yield one, other_holder
        return
    yield one, other
    yield other_holder, holder
    if link.how == "element":
        yield holder, other
    if link.how == "permute":
        yield other, one


def _is_kept(stmt: ir.Stmt) -> TypeGuard[ir.Assign]:
    """Whether a statement calls a function that keeps its results."""
    rhs = stmt.rhs if isinstance(stmt, ir.Assign) else None
    return isinstance(rhs, ir.Call) and isinstance(rhs.fn, _MEMO)


_MEMO = type(functools.cache(lambda: None))


# --- what is from outside ------------------------------------------------------------------------


def check_objects_outside(
    written: Iterable[str], variables: Iterable[str], loc: ir.Loc
) -> None:
    """Refuse what changes the objects in variables around the function."""
    for name in variables:
        if any(w == name or w.startswith((f"{name}[", f"{name}.")) for w in written):
            raise refused("memory.outside_object", loc, name=ir.said(name))


def check_outside(
    function: ir.Function, kinds: ir.Kinds, others: Iterable[ir.Ref], internal: bool
) -> tuple[Any, ...]:
    """Refuse stores, and operators in place as the source says them, into what is read again.

    Of a recursive function another part may read it.  `others` are read as well.  The containers
    that values with a derivative are put into are returned.
    """
    refs = {id(r.value): r for s in ir.walk(function) for r in _mutable(s)}
    if not refs:
        return ()
    recursive = internal or any(map(is_user_call, ir.calls(function)))
    put = _put_into(function, kinds)
    mentioned = (o for s in ir.walk(function) for o in ir.operands(s)) if put else ()
    every = [*others, *(a for o in mentioned for a in ir.refs(o))]
    for stmt, ref in put:
        rest = [r.value for r in every if r.value is not ref.value]
        if recursive or any(share(value, ref.value) for value in rest):
            raise _refusal(ref, stmt)
    names = {key: f"_outside_{k}" for k, key in enumerate(refs)}
    named = replace(function, body=_renamed(function.body, names))
    known = {**kinds, **{names[key]: atom_kind(ref, kinds) for key, ref in refs.items()}}
    memory = PointsTo.of(named, known)
    links = [*memory.links, *memory.marks]
    links += [Link(names[a], names[b], "alias", function.body[0], (), False, 0)
              for a, b in _overlapping(refs)]  # fmt: skip
    group, inside = groups(links), groups(between(links, known))
    counts = _counted(function.body)
    read = {id(r.value) for s in ir.walk(function) for r in _mutable(s) if not _puts(s, r)}
    for stmt in ir.walk(named.body):
        for base in (*written_into(stmt, known), *marked_names(stmt)):
            # `xs[0] += y` writes into what a list holds, `xs[0] = y` into the list itself.
            whole = named_container(base, known) and not isinstance(stmt, ir.AugAssign)
            same = inside if whole else group
            found = [k for k, name in names.items() if same.share(name, base)]
            if sum(counts[key] for key in found) > 1 and not read.isdisjoint(found):
                raise _refusal(refs[found[0]], stmt)
    return tuple(r.value for _, r in put)


def share(one: Any, two: Any) -> bool:
    """Whether two values are, or hold, one container."""
    held = {id(c) for c in _containers(one)}
    return bool(held) and any(id(c) in held for c in _containers(two))


def _containers(value: Any, depth: int = 8) -> Iterator[Any]:
    """The containers in a value, itself among them."""
    items: Iterable[Any] = ()
    if isinstance(value, (*MUTABLE[1:], tuple)):
        yield from () if isinstance(value, tuple) else (value,)
        items = value.values() if isinstance(value, Mapping) else value
    elif is_record(type(value)):
        items = attributes(value).values()
    if depth and not _holds_numbers(value):
        for item in items:
            yield from _containers(item, depth - 1)


def _holds_numbers(value: Any) -> bool:
    """Whether a container has no room for another."""
    return isinstance(value, bytearray) or type(value).__module__ == "array"


def _put_into(
    function: ir.Function, kinds: ir.Kinds
) -> tuple[tuple[ir.Stmt, ir.Ref], ...]:
    """The containers from outside that values with a derivative are put into, and by what."""
    own, _ = PointsTo.of(function, kinds).outside
    found: list[tuple[ir.Stmt, ir.Ref]] = []
    for stmt in ir.walk(function):
        if all(n in kinds and not ir.is_active_kind(kinds[n]) for n in ir.reads(stmt)):
            continue
        found += [(stmt, r) for r in _mutable(stmt) if _puts(stmt, r)]
        if not own.isdisjoint(written_into(stmt, kinds)):  # a part of one of them
            found += [(stmt, r) for s in ir.walk(function) for r in _mutable(s)]
    return tuple((s, r) for s, r in found if not isinstance(r.value, np.ndarray))


def _refusal(ref: ir.Ref, stmt: ir.Stmt) -> TransformError:
    return refused("memory.outside", stmt.loc, name=ir.said(ref.text))


def _overlapping(refs: Mapping[int, ir.Ref]) -> Iterator[tuple[int, int]]:
    """The pairs of what is from outside that share memory."""
    for (a, one), (b, two) in itertools.combinations(refs.items(), 2):
        pairs = itertools.product(_arrays(one.value), _arrays(two.value))
        if any(np.may_share_memory(x, y) for x, y in pairs):
            yield a, b


def _arrays(value: Any) -> Iterator[np.ndarray]:
    """The arrays in a value."""
    if isinstance(value, np.ndarray):
        yield value
    elif isinstance(value, (list, tuple, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _arrays(item)


def _renamed(block: ir.Block, names: Mapping[int, str]) -> ir.Block:
    """A block with names for what is from outside."""

    def atom(old: ir.Atom) -> ir.Atom:
        if isinstance(old, ir.Ref):
            return ir.Name(names[id(old.value)]) if id(old.value) in names else old
        return ir.Tup(tuple(map(atom, old.items))) if isinstance(old, ir.Tup) else old

    def one(stmt: ir.Stmt) -> ir.Stmt:
        call = ir.call_of(stmt)
        if call is not None:
            kwargs = tuple((k, atom(v)) for k, v in call.kwargs)
            args = tuple(map(atom, call.args))
            return ir.rebuilt(stmt, rhs=replace(call, args=args, kwargs=kwargs))
        if isinstance(stmt, ir.Assign) and not isinstance(stmt.rhs, (ir.Call, ir.Opaque)):
            return replace(stmt, rhs=atom(stmt.rhs))
        return replace(stmt, value=atom(stmt.value)) if isinstance(stmt, ir.Store) else stmt

    return ir.replaced(block, one)


def _puts(stmt: ir.Stmt, ref: ir.Ref) -> bool:
    """Whether a statement does nothing but put something into one of what it mentions."""
    call = ir.call_of(stmt) if isinstance(stmt, ir.Effect) else None
    return is_op(call, *_PUTTING) and call.args[0] is ref


_PUTTING = (Op.SET_ITEM, Op.APPEND, Op.EXTEND, Op.INSERT, Op.ADD_METHOD)


def _mutable(stmt: ir.Stmt) -> Iterator[ir.Ref]:
    """The arrays and containers from outside that a statement mentions itself."""
    return (ref for ref in ir.refs_of(stmt) if isinstance(ref.value, MUTABLE))


def _counted(block: ir.Block) -> Counter[int]:
    """How often each is mentioned; in a loop, more than once."""
    out: Counter[int] = Counter()
    for stmt, loops in ir.walk_in_loops(block):
        for ref in _mutable(stmt):
            out[id(ref.value)] += 2 if loops else 1
    return out
