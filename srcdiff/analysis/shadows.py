"""Names whose memory nobody can follow, how each comes by its shadow, and orders in memory.

Takes all links and those that are unclear.  Whatever may share memory with an unclear name has a
shadow: an adjoint made in the forward part where the memory is made, and viewed, aliased, stored in
containers and swapped as that is, by the same statements.  The invariant: two names share memory if
and only if their shadows do.  Where a statement cannot be repeated on shadows it is refused.

`y.ravel()` is a view of what lies in C order and a copy of anything else.  Where somebody writes
into one of the two while the other is used, nobody may change how `y` lies in memory: no rewriting
of what it is computed from, and a tangent beside it has to lie as it does (`laid`).
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Set
from types import FunctionType

from srcdiff import ir
from srcdiff.analysis.links import Link, groups, is_marked, reached, refusal
from srcdiff.analysis.liveness import live_after
from srcdiff.analysis.points_to import PointsTo, View, chain_is_steady, view_of
from srcdiff.ir.frozen import frozen, replace
from srcdiff.primitives.effects import is_pure, makes_whole, written_into
from srcdiff.primitives.operation import Result, op_of
from srcdiff.primitives.ops import CONTAINERS, Op, is_op, which_op
from srcdiff.primitives.views import (
    is_array_if_any,
    is_plain_view,
    is_sure_view,
    is_told_shape,
    makes_c_order,
)


@frozen
class Shadowed:
    """Shadowed names with their classes; those that are views, and those that are new memory."""

    classes: dict[str, str]
    views: dict[str, View]
    copies: frozenset[str]


def shadowed(links: list[Link], unclear: list[Link], scene: PointsTo) -> Shadowed:
    """What is shadowed if the links `unclear` are.

    Raises:
        UnsupportedError: a statement lets names share memory that cannot be repeated on shadows.
    """
    group = groups(links)
    reasons = {group[k.target]: k for k in reversed(unclear)}
    classes = {n: rep for n, rep in group.items() if rep in reasons}
    mine = [k for k in links if k.target in classes]
    derived = frozenset(k.source for k in mine)
    copies: set[str] = set()
    for link in mine:
        if link.how == "view" and not (is_mirrored(link.stmt) and _is_sure(link, scene)):
            if not _is_copy(link, classes, scene, derived):
                raise refusal(link)
            copies.add(link.target)
        elif not is_mirrored(link.stmt):
            raise refusal(reasons[classes[link.target]] if link.how == "stored" else link)
    for name in sorted(classes):
        if not _has_shadow(name, scene):
            raise refusal(reasons[classes[name]])
    return Shadowed(classes, _views(mine, scene), frozenset(copies))


def _is_sure(link: Link, scene: PointsTo) -> bool:
    """Whether a part of an array is certainly a view: the adjoint of a copy is its own."""
    rhs = link.stmt.rhs if type(link.stmt) is ir.Assign else None
    return not is_op(rhs, Op.GETITEM) or is_sure_view(rhs, scene.kinds, scene.function)


def _views(links: list[Link], scene: PointsTo) -> dict[str, View]:
    """The shadowed arrays whose shadow need not be kept: a view made where it is used."""
    found: dict[str, View] = {}
    for link in links:
        sure = link.how in ("alias", "view") and scene.is_array_view(link)
        if sure and scene.steady(link) and chain_is_steady(link, found, scene):
            found[link.target] = view_of(link)
    return found


def _is_copy(
    link: Link, classes: Mapping[str, str], scene: PointsTo, derived: Set[str]
) -> bool:
    """Whether what may be a view is as good as a copy: nobody writes while it is used.

    What is `derived` from has views of its own, which may be used for longer.
    """
    if link.target in derived and scene.written_later(link, classes):
        return False
    read = link.target not in scene.stored[0] and scene.within(link)
    return read and not scene.overwritten(link, classes)


def as_copies(
    function: ir.Function, kinds: ir.Kinds, classes: Mapping[str, str], asked: Set[str]
) -> frozenset[str]:
    """Those of some names that may be views of others, where nobody sees whether they are."""
    asked = asked & classes.keys()
    if not asked:
        return frozenset()
    scene, found = PointsTo.of(function, kinds), dict[str, bool]()
    derived = frozenset(k.source for k in scene.links)
    for link in scene.links:
        if link.how == "view" and link.target in asked:
            unseen = _is_copy(link, classes, scene, derived) or _is_alone(link, classes, function)
            found[link.target] = unseen and found.get(link.target, True)
    return frozenset(n for n, unseen in found.items() if unseen)


def _is_alone(link: Link, classes: Mapping[str, str], function: ir.Function) -> bool:
    """Whether no other name of the memory is used any more."""
    mine = classes.get(link.target)
    later = live_after(function, link.stmt)
    others = (n for n, owner in classes.items() if owner == mine and n != link.target)
    return mine is None or not any(n in later for n in others)


def _has_shadow(name: str, scene: PointsTo) -> bool:
    """Whether a name certainly stands for memory that a shadow can mirror."""
    kind = scene.kinds.get(name)
    return is_array_if_any(kind) or (kind is not None and ir.is_container(kind))


# --- what can be repeated on shadows -------------------------------------------------------------

_REPEATED = (
    *CONTAINERS, Op.ADD, Op.APPEND, Op.COPY_METHOD, Op.GETITEM, Op.INSERT, Op.POP, Op.REVERSE,
    Op.VIEW_LIKE,
)  # fmt: skip
"""What does the same to shadows, beside what gives views by shapes alone."""


def is_mirrored(stmt: ir.Stmt) -> bool:
    """Whether a statement that shares memory does the same to shadows."""
    if isinstance(stmt, (ir.Permute, ir.Store)):
        return True
    rhs = stmt.rhs if isinstance(stmt, (ir.Assign, ir.Effect)) else None
    if isinstance(rhs, (ir.Name, ir.Tup)):
        return True
    if type(rhs) is not ir.Call or any(type(a) is ir.Star for a in rhs.args):
        return False
    called = op_of(rhs.fn)
    view = called.is_whole_view or called.result is Result.STEADY_VIEW or is_plain_view(rhs)
    return view or is_op(rhs, *_REPEATED) or makes_whole(rhs)


def may_copy(rhs: ir.Rhs) -> bool:
    """Whether the layout of the memory decides between a view and a copy."""
    if type(rhs) is not ir.Call:
        return False
    if is_op(rhs, Op.ASARRAY, Op.ASANYARRAY):
        return len(rhs.args) > 1 or bool(rhs.kwargs)
    return op_of(rhs.fn).is_shaped


# --- arrays whose order in memory decides what is written into -----------------------------------


_BY_ORDER = (Op.ASCONTIGUOUSARRAY, Op.ASFORTRANARRAY, Op.REQUIRE)
_LAYING = (Op.ASARRAY, Op.ASANYARRAY, *_BY_ORDER)


def laid(function: ir.Function, kinds: ir.Kinds) -> frozenset[str]:
    """The arrays of which it matters whether a part that is reshaped is a view."""
    made = list(_unsure(function, kinds))
    if not made:
        return frozenset()
    function = _with_stores(function)
    classes = PointsTo.of(function, kinds).classes
    unseen = as_copies(function, kinds, classes, {target for target, _ in made})
    seen = (classes.keys() - unseen) | _leaving(function, kinds)
    return frozenset(n for target, names in made if target in seen for n in names)


def _with_stores(function: ir.Function) -> ir.Function:
    """The function with operators in place, which may be stores, as stores."""

    def one(stmt: ir.Stmt) -> ir.Block:
        if type(stmt) is not ir.Assign or not is_marked(stmt.rhs):
            return (stmt,)
        base, value = stmt.rhs.args
        store = ir.AugAssign(base, None, value, ir.SYMBOLS[stmt.rhs.fn], loc=stmt.loc)  # type: ignore[arg-type]
        return (store, replace(stmt, rhs=base))

    return ir.replaced_in(function, one)


def _leaving(function: ir.Function, kinds: ir.Kinds) -> set[str]:
    """What is returned beside something that it may share memory with, to be written into then."""
    group = PointsTo.of(function, kinds).groups
    returned = {n for s in function.body if type(s) is ir.Return for n in ir.reads(s)}
    count = Counter(group[n] for n in returned if n in group)
    return {n for n in returned if count[group.of(n)] > 1}


def laid_classes(function: ir.Function, kinds: ir.Kinds) -> frozenset[str]:
    """The names that may share memory with such an array."""
    bases = laid(function, kinds)
    if not bases:
        return frozenset()
    classes = PointsTo.of(function, kinds).classes
    mine = {classes[n] for n in bases if n in classes}
    return bases | {n for n, owner in classes.items() if owner in mine}


def laid_origins(
    function: ir.Function, kinds: ir.Kinds, lent: Iterable[str] = ()
) -> frozenset[str]:
    """Such arrays, and `lent` ones, and all that they are computed from, whose order they have."""
    found = {*laid(function, kinds), *lent, *_given_away(function, kinds)}
    return reached(found, _sources(function.body) if found else ())


def _given_away(function: ir.Function, kinds: ir.Kinds) -> Iterator[str]:
    """What functions are given that nobody knows, which may reshape it and write into it."""
    for stmt, call in ir.callers(function):
        if type(call.fn) is FunctionType and not is_pure(call.fn):
            yield from written_into(stmt, kinds)


def _sources(block: ir.Block) -> Iterator[tuple[str, str]]:
    """What is bound, and what may say in which order that lies."""
    for stmt in ir.walk(block):
        said = _orders(stmt.rhs) if type(stmt) is ir.Assign else ir.reads(stmt)
        yield from itertools.product(ir.writes(stmt), said)


def _orders(rhs: ir.Rhs) -> tuple[str, ...]:
    """The names in an expression that may say in which order its value lies."""
    if type(rhs) is ir.Call and makes_c_order(rhs):
        return ()
    if is_op(rhs, Op.LAID_LIKE):
        return ir.names(rhs.args[1])
    return ir.names(rhs)


def _unsure(function: ir.Function, kinds: ir.Kinds) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What is made of an array, and may be a view or a copy by how that lies in memory."""
    for stmt, call in ir.callers(function):
        if op_of(call.fn).is_shaped or which_op(call) in _LAYING:
            unsure = may_copy(call) or is_op(call, *_BY_ORDER)
            if type(stmt) is not ir.Assign or not unsure or not call.args:
                continue
            if not _is_sure_shape(call, kinds) and not is_sure_view(call, kinds, function):
                yield stmt.target.id, ir.names(call.args[0])


def _is_sure_shape(call: ir.Call, kinds: ir.Kinds) -> bool:
    """Whether a call gives another shape to an array with one axis at most: that is a view.

    What asks for items that lie side by side (`ravel`) copies such an array too where they do not.
    """
    base = call.args[0]
    rank = ir.rank_of(kinds.get(base.id, ir.UNKNOWN)) if type(base) is ir.Name else 0
    return rank is not None and rank < (2 if is_told_shape(call) else 1)
