"""Refuse writes into memory that no statement shows.

`np.add(*xs)` writes into the third of the items, if there are three; `memoryview(y)[0] = v` into
`y`, of which no rule says that it is a view.

Nor does a statement show what a method, or a lambda, changes that is handed on as a value:
`add = xs.append; add(v)` changes `xs`, which the call does not name; so does
`each(lambda v: xs.append(v))` where `each` stays a call.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator
from typing import TypeGuard

import numpy as np

from srcdiff import ir
from srcdiff.analysis.links import Link, classes_of, groups, reached, refusal
from srcdiff.analysis.points_to import PointsTo
from srcdiff.errors import refused
from srcdiff.frontend.closures.closures import Closure
from srcdiff.normalize.summaries.effects import is_user_call
from srcdiff.primitives.arguments import KEYS, parameters, spelling
from srcdiff.primitives.effects import is_foreign, returns_view
from srcdiff.primitives.operation import ADDRESS_ATTRIBUTES, MUTATORS
from srcdiff.primitives.registry import lookup
from srcdiff.specialize.inline import is_user_function


def check_written(function: ir.Function, kinds: ir.Kinds) -> None:
    """Refuse calls of which it is not known whether they are given an `out`."""
    for stmt in ir.walk(function.body):
        call = ir.call_of(stmt)
        if call is None or not _has_out(call.fn):
            continue
        for name in (*_spread(call, kinds), *_options(call, kinds)):
            raise refused("memory.out_unknown", stmt.loc, callee=spelling(call), name=ir.said(name))


def check_views(function: ir.Function, kinds: ir.Kinds) -> None:
    """Refuse views that no rule describes, if something is written into their memory meanwhile."""
    made = [s for s in ir.walk(function.body) if _is_unknown_view(s, kinds)]
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


def check_kept(function: ir.Function, kinds: ir.Kinds) -> None:
    """Refuse writes into what a function under `functools.cache` gives, which keeps it."""
    made = [s for s in ir.walk(function.body) if _is_kept(s)]
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


def _has_out(fn: ir.Callee) -> bool:
    """Whether a function may be given an array that it writes into."""
    return isinstance(fn, np.ufunc) or not {*KEYS}.isdisjoint(parameters(fn))


def _spread(call: ir.Call, kinds: ir.Kinds) -> tuple[str, ...]:
    """The names of what is given as `*args` and may hold what is written into."""
    stars = [a for a in call.args if isinstance(a, ir.Star)]
    names = [n for a in stars for n in ir.names(a)]
    counts = [_count(kinds.get(n)) for n in names]
    given = len(call.args) - len(stars) + sum(c for c in counts if c is not None)
    known = None not in counts and len(counts) == len(stars)
    if not stars or (known and given <= _place(call.fn)):
        return ()
    return tuple(n for n in names if _may_hold_arrays(kinds.get(n)))


def _count(kind: ir.Kind | None) -> int | None:
    """How many items a list or a tuple has, if known."""
    items = kind.items if isinstance(kind, (ir.List, ir.Tuple)) else None
    return None if items is None else len(items)


def _place(fn: ir.Callee) -> int:
    """How many positional arguments come before `out`."""
    if isinstance(fn, np.ufunc):
        return fn.nin
    names = parameters(fn)
    return next(k for k, n in enumerate(names) if n in KEYS)


def _may_hold_arrays(kind: ir.Kind | None) -> bool:
    """Whether there may be an array among the items of what has this kind."""
    if isinstance(kind, (ir.List, ir.Tuple, ir.Dict)):
        return any(map(ir.is_mutable, ir.inside(kind)))
    return kind is None or ir.is_mutable(kind)


def _options(call: ir.Call, kinds: ir.Kinds) -> tuple[str, ...]:
    """The names of what is given as `**options` and may have an `out`."""
    given = (n for key, value in call.kwargs if key is None for n in ir.names(value))
    return tuple(n for n in given if _may_have_out(kinds.get(n)))


def _may_have_out(kind: ir.Kind | None) -> bool:
    if isinstance(kind, ir.Dict) and kind.items and kind.item is None:
        return any(k in KEYS and ir.is_mutable(inner) for k, inner in kind.items)
    return _may_hold_arrays(kind)


# --- hidden --------------------------------------------------------------------------------------


_CHANGES = MUTATORS | {"__setitem__", "__delitem__", "__iadd__"}


def check_changes(function: ir.Function, kinds: ir.Kinds) -> None:
    """Refuse values that are methods, or lambdas, that change what may have a derivative.

    And loops over lists that become longer or shorter meanwhile, and calls that may be given `out`
    among `*args`.
    """
    if any(isinstance(s, ir.For) for s in ir.walk(function.body)):
        from srcdiff.check.lists import check_loops

        check_loops(function, kinds)
    check_written(function, kinds)
    check_views(function, kinds)
    check_kept(function, kinds)
    made: dict[str, str] = {}  # lambdas, and what they change
    for stmt in ir.walk(function.body):
        rhs = stmt.rhs if isinstance(stmt, ir.Assign) else None
        if isinstance(rhs, ir.Call) and isinstance(rhs.fn, ir.Attr) and rhs.fn.name in _CHANGES:
            _check_method(rhs, rhs.fn.name, kinds, stmt.loc)
        if isinstance(stmt, ir.Assign) and isinstance(rhs, Closure):
            made.update((stmt.target.id, n) for n in _changed(rhs) if _matters(kinds.get(n)))
        call = ir.call_of(stmt)
        if made and call is not None and (is_user_call(call) or is_user_function(call.fn)):
            for name in made.keys() & set(ir.names(call)):
                raise refused("callees.changing", stmt.loc, name=ir.said(made[name]))


def _check_method(call: ir.Call, name: str, kinds: ir.Kinds, loc: ir.Loc) -> None:
    """Refuse a method that changes its object, as a value."""
    for base in ir.names(call):
        if _matters(kinds.get(base)):
            raise refused("callees.method", loc, name=name, base=ir.said(base), plain=base)


def _matters(kind: ir.Kind | None) -> bool:
    """Whether a value may be a container or an array that something with a derivative goes into."""
    kind = None if kind is None else ir.sure(kind)
    if isinstance(kind, ir.Dict) and kind.cls is not None:
        return False
    if isinstance(kind, (ir.List, ir.Dict)):
        return not ir.contents(kind) or ir.is_active_kind(kind)
    return (
        kind is None
        or isinstance(kind, (ir.Array, ir.Scalar, ir.Unknown))
        and ir.is_active_kind(kind)
    )


def _changed(closure: Closure) -> Iterator[str]:
    """The variables around a lambda that it changes when it is called."""
    function, variables = closure.function, closure.variables
    if function is None or variables is None:
        return
    for stmt in ir.walk(function.body):
        call = ir.call_of(stmt)
        changes = call is not None and isinstance(call.fn, ir.Method) and call.fn.name in MUTATORS
        base = call.args[0] if changes and call is not None else None
        if isinstance(stmt, ir.SetItem):
            base = stmt.base
        outer = variables.get(base.id) if isinstance(base, ir.Name) else None
        if isinstance(outer, ir.Name):
            yield outer.id
