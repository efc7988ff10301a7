"""Arrays and containers from outside, written into under a name and read by themselves.

What is stored into one has its derivative under the name alone: another mention of the same object
would be a constant, and so would one of a later iteration. And what `x += y` writes may be a new
`x`: what is from outside would stay as it was where it is read next.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from srcdiff import ir
from srcdiff.analysis.links import (
    MUTABLE,
    Link,
    between,
    groups,
    kept_outside,
    marked_names,
    named_container,
)
from srcdiff.analysis.points_to import PointsTo
from srcdiff.errors import TransformError, refused
from srcdiff.ir.frozen import replace
from srcdiff.kinds.calls import atom_kind
from srcdiff.primitives.effects import written_into
from srcdiff.primitives.ops import Op, is_op
from srcdiff.runtime.records import attributes, is_record


def check_outside(
    function: ir.Function, kinds: Mapping[str, ir.Kind], others: Iterable[ir.Ref], recursive: bool
) -> tuple[Any, ...]:
    """Refuse stores, and operators in place as the source says them, into what is read again.

    Of a recursive function another part may read it. `others` are read as well.  The containers
    that values with a derivative are put into are returned.
    """
    refs = {id(r.value): r for s in ir.walk(function.body) for r in _mutable(s)}
    if not refs:
        return ()
    put = _put_into(function, kinds)
    mentioned = (o for s in ir.walk(function.body) for o in ir.operands(s)) if put else ()
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
    read = {id(r.value) for s in ir.walk(function.body) for r in _mutable(s) if not _puts(s, r)}
    for stmt in ir.walk(named.body):
        for base in (*written_into(stmt, known), *marked_names(stmt)):
            # `xs[0] += y` writes into what a list holds, `xs[0] = y` into the list itself.
            whole = named_container(base, known) and not (isinstance(stmt, ir.SetItem) and stmt.op)
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
    function: ir.Function, kinds: Mapping[str, ir.Kind]
) -> tuple[tuple[ir.Stmt, ir.Ref], ...]:
    """The containers from outside that values with a derivative are put into, and by what."""
    own, _ = kept_outside(function, kinds)
    found: list[tuple[ir.Stmt, ir.Ref]] = []
    for stmt in ir.walk(function.body):
        if all(n in kinds and not ir.is_active_kind(kinds[n]) for n in ir.reads(stmt)):
            continue
        found += [(stmt, r) for r in _mutable(stmt) if _puts(stmt, r)]
        if not own.isdisjoint(written_into(stmt, kinds)):  # a part of one of them
            found += [(stmt, r) for s in ir.walk(function.body) for r in _mutable(s)]
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
        return replace(stmt, value=atom(stmt.value)) if isinstance(stmt, ir.SetItem) else stmt

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
