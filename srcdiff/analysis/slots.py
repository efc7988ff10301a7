"""Whether the place of a container still holds the item that a name was given from there.

Which names may be one container is found as by Steensgaard ("Points-to analysis in almost linear
time", 1996): each name has a node, each node one for what it holds, and statements join nodes.  The
invariant: names with different nodes are different containers.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping

from srcdiff import ir
from srcdiff.analysis.links import Link, is_copy, named_container, until_last_use
from srcdiff.ir.kinds import Dict, Kind
from srcdiff.primitives.effects import mutated_args

Kinds = Mapping[str, Kind]

_ADDS = frozenset({"append", "extend"})
_PUTS = (ir.Method("append"), ir.Method("insert"))
_TAKES = (operator.getitem, *(ir.Method(name) for name in ("pop", "get")))


class Slots:
    """The containers of a function, and what changes the items that they have at their places."""

    def __init__(self, links: Iterable[Link], kinds: Kinds) -> None:
        self.kinds = kinds
        self.parent: dict[str, str] = {}
        self.inner: dict[str, str] = {}
        for link in links:
            self.link(link)

    def lasts(self, link: Link, rhs: ir.Rhs, base: str) -> bool:
        """Whether the item `rhs` of `base` stays at its place up to the last use of a link."""
        if not isinstance(rhs, ir.Call) or rhs.fn is not operator.getitem:
            return True
        if not named_container(base, self.kinds):
            return True  # a view of an array shows what is stored there later
        mine = self.node(base)
        found = changes(until_last_use(link), self.kinds)
        return not any(
            self.node(name) == mine and not self._elsewhere(stmt, rhs.args[1], base)
            for name, stmt in found
        )

    def _elsewhere(self, stmt: ir.Stmt, index: ir.Atom, base: str) -> bool:
        """Whether a change certainly leaves the item at an index where it is."""
        key = index.value if isinstance(index, ir.Const) else None
        counted = type(key) is int and key >= 0
        if isinstance(stmt, ir.SetItem):
            other = stmt.index.value if isinstance(stmt.index, ir.Const) else None
            texts = isinstance(key, str) and isinstance(other, str)
            return key != other and (texts or (counted and type(other) is int and other >= 0))
        call = ir.call_of(stmt)
        adds = isinstance(call and call.fn, ir.Method) and call.fn.name in _ADDS  # type: ignore[union-attr]
        return adds and counted and not isinstance(self.kinds.get(base), Dict)

    # --- nodes ---

    def link(self, link: Link) -> None:
        """Join what one statement lets be one container, or be held by one."""
        target, source = link.target, link.source
        if is_copy(link.stmt):
            self.join(self.held(target), self.held(source))
        elif link.how in ("alias", "permute"):
            self.join(target, source)
        elif link.how == "stored" and _stores_itself(link.stmt):
            self.join(self.held(target), source)
        elif link.how == "element" and _takes_item(link.stmt):
            self.join(target, self.held(source))
        else:  # a part, or items of items
            self.join(target, source)
            self.join(self.held(target), target)

    def node(self, name: str) -> str:
        """The node of a name, or of what is held."""
        while name in self.parent:
            name = self.parent[name]
        return name

    def held(self, name: str) -> str:
        """The node of what a container holds."""
        return self.node(self.inner.setdefault(self.node(name), f"{self.node(name)}[]"))

    def join(self, one: str, two: str) -> None:
        """Make two nodes one, and so what they hold."""
        one, two = self.node(one), self.node(two)
        if one == two:
            return
        self.parent[two] = one
        inner = self.inner.pop(two, None)
        if inner is not None:
            self.join(self.inner.setdefault(one, inner), inner)


def _stores_itself(stmt: ir.Stmt) -> bool:
    """Whether a statement puts what it names into a container, and not what that holds."""
    call = stmt.rhs if isinstance(stmt, ir.Effect) else None
    return call is None or (isinstance(call, ir.Call) and call.fn in _PUTS)


def _takes_item(stmt: ir.Stmt) -> bool:
    """Whether a statement gives a name to one item of a container."""
    rhs = stmt.rhs if isinstance(stmt, ir.Assign) else None
    return isinstance(rhs, ir.Call) and rhs.fn in _TAKES


def changes(block: ir.Block, kinds: Kinds) -> Iterator[tuple[str, ir.Stmt]]:
    """The names that statements store into or change the length of, with the statement."""
    for stmt in ir.walk(block):
        if isinstance(stmt, ir.SetItem):
            yield stmt.base.id, stmt
        call = ir.call_of(stmt)
        if call is not None:
            yield from ((n, stmt) for a in mutated_args(call, kinds) for n in ir.names(a))
