"""Which names may have no value where a function reads them.

The paths through a function are followed together: a state is what is bound on a path, and the
numbers that tests by name are known to be there, so that a branch that binds a name and a later one
by the same test that reads it are seen to go together.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from srcdiff import ir

_MOST = 16
"""Of more paths than these what they have in common is kept."""


class _Path(NamedTuple):
    bound: frozenset[str]
    known: frozenset[tuple[str, bool]] = frozenset()

    def bind(self, names: Iterable[str]) -> _Path:
        """The path behind what binds some names."""
        names = frozenset(names)
        return _Path(self.bound | names, frozenset(k for k in self.known if k[0] not in names))

    def knowing(self, name: str, value: bool) -> _Path:
        """The path on which a test is known."""
        return _Path(self.bound, self.known | {(name, value)})

    def covers(self, other: _Path) -> bool:
        """Whether another path is one of those that this one stands for."""
        return self.bound <= other.bound and self.known <= other.known

    def value(self, atom: ir.Rhs) -> bool | None:
        """What is known of a test."""
        if isinstance(atom, ir.Call) and atom.fn is operator.not_:
            found = self.value(atom.args[0])
            return None if found is None else not found
        if isinstance(atom, ir.Const):
            return bool(atom.value)
        known = dict(self.known)
        return known.get(atom.id) if isinstance(atom, ir.Name) else None


_Paths = frozenset[_Path]


def maybe_unbound(function: ir.Function) -> Mapping[int, frozenset[str]]:
    """The names that a statement, by its `id`, reads and that may have no value there."""
    found = _Reads(ir.bound(function.body))
    found.block(function.body, frozenset({_Path(frozenset(p.name for p in function.params))}))
    return found.unbound


class _Reads:
    """The walk: `unbound` takes what it finds; a name counts as bound behind its first reading."""

    def __init__(self, own: frozenset[str]) -> None:
        self.own = own
        self.unbound: dict[int, frozenset[str]] = {}

    def block(self, block: ir.Block, paths: _Paths) -> _Paths:
        """The paths behind a block."""
        for stmt in block:
            paths = self.stmt(stmt, self.read(stmt, ir.reads(stmt), paths))
        return paths

    def read(self, stmt: ir.Stmt, names: Iterable[str], paths: _Paths) -> _Paths:
        """The paths on which some names have been read."""
        read = self.own.intersection(names)
        missing = frozenset(n for n in read for p in paths if n not in p.bound)
        if missing:
            self.unbound[id(stmt)] = self.unbound.get(id(stmt), frozenset()) | missing
        return frozenset(_Path(p.bound | missing, p.known) for p in paths)

    def stmt(self, stmt: ir.Stmt, paths: _Paths) -> _Paths:
        """The paths behind a statement whose operands have been read."""
        if isinstance(stmt, ir.If):
            return self.branches(stmt, paths)
        if isinstance(stmt, (ir.For, ir.While)):
            return self.loop(stmt, paths)
        if isinstance(stmt, ir.Verbatim) and stmt.text.startswith("raise"):
            return frozenset()
        after = frozenset(p.bind(ir.writes(stmt)) for p in paths)
        if isinstance(stmt, ir.Assign):
            name = stmt.target.id
            values = ((p, p.value(stmt.rhs)) for p in paths)
            after = frozenset(
                p.bind((name,)) if v is None else p.bind((name,)).knowing(name, v)
                for p, v in values
            )  # fmt: skip
        return _fewer(after)

    def branches(self, stmt: ir.If, paths: _Paths) -> _Paths:
        """The paths behind a condition."""
        ways: list[_Paths] = []
        for truth, block in ((True, stmt.body), (False, stmt.orelse)):
            here = (p for p in paths if p.value(stmt.test) is not (not truth))
            if isinstance(stmt.test, ir.Name):
                here = (p.knowing(stmt.test.id, truth) for p in here)
            ways.append(self.block(block, frozenset(here)))
        return _fewer(ways[0] | ways[1])

    def loop(self, stmt: ir.For | ir.While, paths: _Paths) -> _Paths:
        """The paths behind a loop, after no turn or any number of them."""
        if isinstance(stmt, ir.While):
            paths = self.cond(stmt, paths)
        left = frozenset() if _runs(stmt) else paths
        while True:
            new = paths
            if isinstance(stmt, ir.For):
                new = frozenset(p.bind((stmt.target.id,)) for p in new)
            new = self.block(stmt.body, new)
            if isinstance(stmt, ir.While):
                new = self.cond(stmt, new)
            left = _fewer(left | new)
            if all(any(p.covers(n) for p in paths) for n in new):
                return left
            paths = _fewer(paths | new)

    def cond(self, stmt: ir.While, paths: _Paths) -> _Paths:
        """The paths on which the condition of a loop has been asked."""
        return self.read(stmt, ir.names(stmt.test), self.block(stmt.cond, paths))


def _fewer(paths: _Paths) -> _Paths:
    """Some paths without those that others cover, or of many what they have in common."""
    paths = frozenset(p for p in paths if not any(q.covers(p) for q in paths if q != p))
    if len(paths) <= _MOST:
        return paths
    bound = frozenset.intersection(*(p.bound for p in paths))
    return frozenset({_Path(bound, frozenset.intersection(*(p.known for p in paths)))})


def _runs(stmt: ir.For | ir.While) -> bool:
    """Whether the body of a loop certainly runs."""
    call = stmt.iter if isinstance(stmt, ir.For) else None
    if not isinstance(call, ir.Call) or call.fn is not range:
        return False
    values = [a.value for a in call.args if isinstance(a, ir.Const)]
    return len(values) == len(call.args) and len(range(*values)) > 0
