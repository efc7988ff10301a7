"""The names whose memory nobody can follow, and how each of them comes by its shadow.

Takes all links and those that are unclear.  Whatever may share memory with an unclear name has a
shadow: an adjoint made in the forward part where the memory is made, and viewed, aliased, stored in
containers and swapped as that is, by the same statements.  The invariant: two names share memory if
and only if their shadows do.  Where a statement cannot be repeated on shadows it is refused.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Set
from dataclasses import dataclass

import numpy as np

from srcdiff import ir
from srcdiff.analysis.links import Link, groups, links_of, refusal
from srcdiff.analysis.liveness import live_after
from srcdiff.analysis.scene import Scene, View, chain_is_steady
from srcdiff.ir.kinds import Kind, is_container
from srcdiff.primitives.views import is_array_if_any, is_reshaping
from srcdiff.runtime import layout

Kinds = Mapping[str, Kind]


@dataclass(frozen=True)
class Shadowed:
    """Shadowed names with their classes; those that are views, and those that are new memory."""

    classes: dict[str, str]
    views: dict[str, View]
    copies: frozenset[str]


def shadowed(links: list[Link], unclear: list[Link], scene: Scene) -> Shadowed:
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
        if link.how == "view" and not is_mirrored(link.stmt):
            lasting = link.target in derived and scene.written_later(link, classes)
            if lasting or not _is_copy(link, classes, scene):
                raise refusal(link)
            copies.add(link.target)
        elif not is_mirrored(link.stmt):
            raise refusal(reasons[classes[link.target]] if link.how == "stored" else link)
    for name in sorted(classes):
        if not _has_shadow(name, scene):
            raise refusal(reasons[classes[name]])
    return Shadowed(classes, _views(mine, scene), frozenset(copies))


def _views(links: list[Link], scene: Scene) -> dict[str, View]:
    """The shadowed arrays whose shadow need not be kept: a view made where it is used."""
    found: dict[str, View] = {}
    for link in links:
        sure = link.how in ("alias", "view") and scene.is_array_view(link)
        if sure and scene.steady(link) and chain_is_steady(link, found, scene):
            assert isinstance(link.stmt, ir.Assign)
            found[link.target] = View(link.source, link.stmt.rhs)
    return found


def _is_copy(link: Link, classes: dict[str, str], scene: Scene) -> bool:
    """Whether what may be a view is as good as a copy: nobody writes while it is used."""
    read = link.target not in scene.stored[0] and scene.within(link)
    return read and not scene.overwritten(link, classes)


def as_copies(
    function: ir.Function, kinds: Kinds, classes: Mapping[str, str], asked: Set[str]
) -> frozenset[str]:
    """Those of some names that may be views of others, where nobody sees whether they are."""
    asked = asked & classes.keys()
    if not asked:
        return frozenset()
    scene, found = Scene(function, kinds), dict[str, bool]()
    for link in links_of(function.body, kinds, False):
        if link.how == "view" and link.target in asked:
            unseen = _is_copy(link, dict(classes), scene) or _is_alone(link, classes, function)
            found[link.target] = unseen and found.get(link.target, True)
    return frozenset(n for n, unseen in found.items() if unseen)


def _is_alone(link: Link, classes: Mapping[str, str], function: ir.Function) -> bool:
    """Whether no other name of the memory is used any more."""
    mine = classes.get(link.target)
    later = live_after(function, link.stmt)
    others = (n for n, owner in classes.items() if owner == mine and n != link.target)
    return mine is None or not any(n in later for n in others)


def _has_shadow(name: str, scene: Scene) -> bool:
    """Whether a name certainly stands for memory that a shadow can mirror."""
    kind = scene.kinds.get(name)
    return is_array_if_any(kind) or (kind is not None and is_container(kind))


# --- what can be repeated on shadows -------------------------------------------------------------

_VIEWS = frozenset(
    getattr(np, name)
    for name in (
        "transpose", "permute_dims", "matrix_transpose", "swapaxes", "moveaxis", "rollaxis",
        "squeeze", "expand_dims", "flip", "flipud", "fliplr", "rot90", "reshape", "ravel",
        "asarray", "asanyarray", "split", "array_split", "hsplit", "vsplit", "dsplit", "unstack",
        "real", "atleast_1d", "atleast_2d", "atleast_3d",
    )
    if hasattr(np, name)
)  # fmt: skip
_METHODS = frozenset(
    {
        "reshape", "ravel", "transpose", "swapaxes", "squeeze", "pop", "append", "insert",
        "reverse", "copy",
    }
)  # fmt: skip
_ATTRIBUTES = frozenset({"T", "mT", "real"})  # `imag` of real numbers is no view
_CONTAINERS = (ir.make_list, ir.make_dict, list, tuple, dict, operator.getitem, operator.add)


def is_mirrored(stmt: ir.Stmt) -> bool:
    """Whether a statement that shares memory does the same to shadows."""
    if isinstance(stmt, (ir.Permute, ir.SetItem)):
        return True
    rhs = stmt.rhs if isinstance(stmt, (ir.Assign, ir.Effect)) else None
    if isinstance(rhs, (ir.Name, ir.Tup)):
        return True
    if not isinstance(rhs, ir.Call) or any(isinstance(a, ir.Star) for a in rhs.args):
        return False
    if isinstance(rhs.fn, ir.Method):
        return rhs.fn.name in _METHODS
    if isinstance(rhs.fn, ir.Attr):
        return rhs.fn.name in _ATTRIBUTES
    return rhs.fn in _CONTAINERS or rhs.fn in _VIEWS or rhs.fn is layout.view_like


def may_copy(rhs: ir.Rhs) -> bool:
    """Whether the layout of the memory decides between a view and a copy."""
    if not isinstance(rhs, ir.Call):
        return False
    if rhs.fn in (np.asarray, np.asanyarray):
        return len(rhs.args) > 1 or bool(rhs.kwargs)
    fns = (np.reshape, np.ravel, ir.Method("reshape"), ir.Method("ravel"))
    return is_reshaping(rhs) or rhs.fn in fns
