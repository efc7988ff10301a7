"""Refuse writes into memory that no statement shows.

`np.add(*xs)` writes into the third of the items, if there are three; `memoryview(y)[0] = v` into
`y`, of which no rule says that it is a view.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import TypeGuard

import numpy as np

from srcdiff import ir
from srcdiff.analysis.links import (
    Link,
    classes_of,
    groups,
    in_place,
    is_marked,
    links_of,
    refusal,
    stored_names,
)
from srcdiff.analysis.scene import Scene
from srcdiff.errors import UnsupportedError
from srcdiff.ir.kinds import Array, Dict, Kind, List, Tuple, inside, is_mutable
from srcdiff.primitives.effects import returns_view
from srcdiff.primitives.foreign import RAW, is_foreign
from srcdiff.primitives.outs import KEYS, parameters
from srcdiff.primitives.registry import lookup, spelling

Kinds = Mapping[str, Kind]


def check_written(function: ir.Function, kinds: Kinds) -> None:
    """Refuse calls of which it is not known whether they are given an `out`."""
    for stmt in ir.walk(function.body):
        call = ir.call_of(stmt)
        if call is None or not _has_out(call.fn):
            continue
        for name in (*_spread(call, kinds), *_options(call, kinds)):
            raise UnsupportedError(
                f"{spelling(call)} may write into what {ir.said(name)} holds: whether `out` is "
                "among it is known only when the program runs",
                stmt.loc,
                remedy="Write the arguments one by one, and what is written into as `out=`.",
            )


def check_views(function: ir.Function, kinds: Kinds) -> None:
    """Refuse views that no rule describes, if something is written into their memory meanwhile."""
    made = [s for s in ir.walk(function.body) if _is_unknown_view(s, kinds)]
    if not made:
        return
    links = list(links_of(function.body, kinds, False))
    stored = frozenset().union(*stored_names(function.body, kinds))
    classes, scene = classes_of(links, stored), Scene(function, kinds)
    derived = {k.source for k in links}
    for link in (k for k in links if any(k.stmt is s for s in made) and k.target in classes):
        apart = groups(k for k in links if k.stmt is not link.stmt)
        own = apart.get(link.target, link.target)
        written = any(apart.get(n, n) == own for n in stored)
        later = link.target in derived and scene.written_later(link, classes)
        if written or later or not scene.within(link) or scene.overwritten(link, classes):
            raise refusal(link)


def check_kept(function: ir.Function, kinds: Kinds) -> None:
    """Refuse writes into what a function under `functools.cache` gives, which keeps it."""
    made = [s for s in ir.walk(function.body) if _is_kept(s)]
    if not made:
        return
    links = [*links_of(function.body, kinds, False), *in_place(function)]
    stored = {n for names in stored_names(function.body, kinds) for n in names}
    stored |= {n for s in ir.walk(function.body) for n in _marked(s)}
    for stmt in made:
        if not stored.isdisjoint(_names_of(stmt.target.id, links)):
            assert isinstance(stmt.rhs, ir.Call)
            raise UnsupportedError(
                f"what {spelling(stmt.rhs)} gives is written into, and kept for the next call",
                stmt.loc,
                remedy="Make a copy here with `.copy()`.",
            )


def _names_of(name: str, links: Sequence[Link]) -> set[str]:
    """The names that may be the value of a name, or a part of it; not those that hold it."""
    being, holding = {name}, set[str]()
    before = (0, 0)
    while before != (len(being), len(holding)):
        before = len(being), len(holding)
        for link in links:
            if link.how == "stored":
                if link.source in being or link.source in holding:
                    holding.add(link.target)
                continue
            if link.source in being or (link.source in holding and link.how == "element"):
                being.add(link.target)
            if link.how == "permute" and link.target in being:
                being.add(link.source)
            if link.source in holding or link.target in holding:
                holding |= {link.source, link.target}
    return being


def _is_kept(stmt: ir.Stmt) -> TypeGuard[ir.Assign]:
    """Whether a statement calls a function that keeps its results."""
    rhs = stmt.rhs if isinstance(stmt, ir.Assign) else None
    return isinstance(rhs, ir.Call) and isinstance(rhs.fn, _MEMO)


_MEMO = type(functools.cache(lambda: None))


def _marked(stmt: ir.Stmt) -> tuple[str, ...]:
    """The names of which `x op= y` says that they may be written into."""
    if isinstance(stmt, ir.Assign) and isinstance(stmt.rhs, ir.Call) and is_marked(stmt.rhs):
        return ir.names(stmt.rhs.args[0])
    return ()


def _is_unknown_view(stmt: ir.Stmt, kinds: Kinds) -> bool:
    """Whether a statement makes a view of which no rule says where it is."""
    call = stmt.rhs if isinstance(stmt, ir.Assign) else None
    if not isinstance(call, ir.Call):
        return False
    if isinstance(call.fn, ir.Attr) and call.fn.name in RAW:
        _check_raw(call, kinds, stmt.loc)
    if is_foreign(call):
        return True
    rule = lookup(call.fn) if returns_view(call, kinds) else None
    return rule is not None and rule.flavour == "composed"


def _check_raw(call: ir.Call, kinds: Kinds, loc: ir.Loc) -> None:
    """Refuse the address of an array."""
    base = call.args[0]
    if isinstance(base, ir.Name) and isinstance(kinds.get(base.id), Array):
        raise UnsupportedError(
            f"the attribute `{spelling(call).split('`')[1]}` gives the address of the memory of "
            f"{ir.said(base.id)}, into which anybody may write",
            loc,
            remedy="Write into the array itself.",
        )


def _has_out(fn: ir.Callee) -> bool:
    """Whether a function may be given an array that it writes into."""
    return isinstance(fn, np.ufunc) or not {*KEYS}.isdisjoint(parameters(fn))


def _spread(call: ir.Call, kinds: Kinds) -> tuple[str, ...]:
    """The names of what is given as `*args` and may hold what is written into."""
    stars = [k for k, a in enumerate(call.args) if isinstance(a, ir.Star)]
    if not stars:
        return ()
    found = [n for k in stars for n in ir.names(call.args[k]) if _may_hold_arrays(kinds.get(n))]
    counts = [_count(kinds.get(n)) for k in stars for n in ir.names(call.args[k])]
    if None not in counts and len(counts) == len(stars):
        given = len(call.args) - len(stars) + sum(c for c in counts if c is not None)
        if given <= _place(call.fn):
            return ()
    return tuple(found)


def _count(kind: Kind | None) -> int | None:
    """How many items a list or a tuple has, if known."""
    items = kind.items if isinstance(kind, (List, Tuple)) else None
    return None if items is None else len(items)


def _place(fn: ir.Callee) -> int:
    """How many positional arguments come before `out`."""
    if isinstance(fn, np.ufunc):
        return fn.nin
    names = parameters(fn)
    return next(k for k, n in enumerate(names) if n in KEYS)


def _may_hold_arrays(kind: Kind | None) -> bool:
    """Whether there may be an array among the items of what has this kind."""
    if isinstance(kind, (List, Tuple, Dict)):
        return any(map(is_mutable, inside(kind)))
    return kind is None or is_mutable(kind)


def _options(call: ir.Call, kinds: Kinds) -> tuple[str, ...]:
    """The names of what is given as `**options` and may have an `out`."""
    given = (n for key, value in call.kwargs if key is None for n in ir.names(value))
    return tuple(n for n in given if _may_have_out(kinds.get(n)))


def _may_have_out(kind: Kind | None) -> bool:
    if isinstance(kind, Dict) and kind.items and kind.item is None:
        return any(k in KEYS and is_mutable(inner) for k, inner in kind.items)
    return _may_hold_arrays(kind)
