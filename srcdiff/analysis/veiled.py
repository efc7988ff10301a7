"""Containers under names of which it is not known that they are containers.

`z = y` of a list `y`, where `z` is an array at other times: the adjoints of `z` and of `y` are two,
and so an item of `y` must not change while `z` may show the one before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set

from srcdiff import ir
from srcdiff.analysis.links import Link, holds_containers, named_container
from srcdiff.analysis.liveness import live_after
from srcdiff.analysis.scene import Scene
from srcdiff.analysis.slots import changes
from srcdiff.errors import UnsupportedError
from srcdiff.ir.kinds import UNKNOWN, Kind, NoneKind, Unknown, sure

Kinds = Mapping[str, Kind]


def check_veiled(links: list[Link], scene: Scene) -> None:
    """Refuses a container that changes while a name that may be it, or hold it, is used.

    Raises:
        UnsupportedError: it does.
    """
    for link in links:
        if _is_veiled(link, scene.kinds):
            names = _reached(link, links, scene.kinds)
            if any(names & live_after(scene.function, s) for s in _changes(link, scene)):
                raise _refusal(link)


def _is_veiled(link: Link, kinds: Kinds) -> bool:
    """Whether a container, or one inside of it, gets a name that may be of something else."""
    if not named_container(link.source, kinds) or not _is_open(link.target, kinds):
        return False
    return link.how == "alias" or (link.how == "element" and holds_containers(kinds[link.source]))


def _is_open(name: str, kinds: Kinds) -> bool:
    """Whether a name may be a container, and may be something else."""
    return type(sure(kinds.get(name, UNKNOWN))) in (Unknown, NoneKind)


def _reached(link: Link, links: list[Link], kinds: Kinds) -> Set[str]:
    """The names that show what the target of a link is: itself, other names, what holds them."""
    nested = holds_containers(kinds[link.source])
    found = {link.target}
    while True:
        more = {
            k.target
            for k in links
            if k.source in found
            and (k.how == "stored" or (_is_open(k.target, kinds) and (nested or k.how == "alias")))
        }
        if more <= found:
            return found
        found |= more


def _later(link: Link, function: ir.Function) -> ir.Block:
    """The statements that may run after that of a link."""
    tops = [ir.walk((stmt,)) for stmt in function.body]
    at = next(k for k, top in enumerate(tops) if any(s is link.stmt for s in top))
    if link.inside:
        return function.body[at:]
    before = next(k for k, s in enumerate(tops[at]) if s is link.stmt)
    return (*tops[at][before + 1 :], *function.body[at + 1 :])


def _changes(link: Link, scene: Scene) -> Iterator[ir.Stmt]:
    """The statements that may run after that of a link and change what it names, or holds."""
    slots = scene.slots
    nodes = set[str]()
    node = slots.node(link.target)
    while node not in nodes:
        nodes.add(node)
        node = slots.node(slots.inner.get(node, node))
    for name, stmt in changes(_later(link, scene.function), scene.kinds):
        if named_container(name, scene.kinds) and slots.node(name) in nodes:
            yield stmt


def _refusal(link: Link) -> UnsupportedError:
    """The refusal, with the name of the list as the user knows it."""
    target, source = ir.said(link.target), ir.said(link.source)
    if target == source or link.target.startswith("_"):
        what = f"what is named here may be {source} or an array"
    elif link.how == "element":
        what = f"{target} may be a list in {source} or an array"
    else:
        what = f"{target} may be {source} or an array"
    return UnsupportedError(
        f"{what}, and the list changes while both are used",
        link.stmt.loc,
        remedy="Make a copy here with `.copy()`, or an array with `np.array(...)`.",
    )
