"""Which names may share memory, which memory is written into, and which leaves the function."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from srcdiff import ir
from srcdiff.analysis.links import kept_outside
from srcdiff.analysis.liveness import names_in
from srcdiff.ir.kinds import Array, Kind, is_mutable
from srcdiff.primitives.effects import mutated_args, returns_view
from srcdiff.runtime import trees

Kinds = Mapping[str, Kind]
M = TypeVar("M", bound="Remembered")


class Remembered:
    """What is found out about a function and the kinds of its names, which never change."""

    def __init__(self, function: ir.Function, kinds: Kinds) -> None:
        self.kinds = kinds

    @classmethod
    def of(cls: type[M], function: ir.Function, kinds: Kinds) -> M:
        """What was found out, remembered beside the fields of the function."""
        found: M | None = vars(function).get(cls.__name__)
        if found is None or found.kinds is not kinds:
            found = vars(function)[cls.__name__] = cls(function, kinds)
        return found


class Memory(Remembered):
    """Classes of names that may share memory; flow-insensitive.  `leaving` are handed out."""

    def __init__(
        self, function: ir.Function, kinds: Kinds, leaving: Iterable[str] = ()
    ) -> None:
        super().__init__(function, kinds)
        self.parent: dict[str, str] = {}
        written: list[str] = []
        _, put = kept_outside(function, kinds)
        leaving = [*leaving, *put]
        for stmt in ir.walk(function.body):
            _, shared, into = self._known(stmt)
            for name, source in shared:
                self._union(name, source)
            written += into
            if isinstance(stmt, ir.Return):
                leaving += [n for n in names_in(stmt.value) if self.has_memory(n)]
        self.mutated = frozenset(map(self.find, written))
        self.escaping = frozenset(map(self.find, leaving))
        self.put = frozenset(map(self.find, put))  # into what is from outside

    def find(self, name: str) -> str:
        """The name that stands for a class."""
        root = name
        while root in self.parent:
            root = self.parent[root]
        while name != root:
            self.parent[name], name = root, self.parent[name]
        return root

    def has_memory(self, name: str) -> bool:
        """Whether a name may stand for something that can be written into."""
        kind = self.kinds.get(name)
        return kind is None or is_mutable(kind)

    def is_array(self, name: str) -> bool:
        """Whether a name certainly stands for an array."""
        kind = self.kinds.get(name)
        return isinstance(kind, Array) and not kind.maybe_scalar

    def is_mutated(self, name: str) -> bool:
        """Whether something writes into the memory behind a name, anywhere in the function."""
        return self.has_memory(name) and self.find(name) in self.mutated

    def may_share(self, target: str, source: str) -> bool:
        """Whether `target` may be the very memory of `source` instead of equal new memory."""
        if not self.has_memory(source):
            return True
        return not self.is_mutated(source) and self.is_only_read(target)

    def is_only_read(self, target: str) -> bool:
        """Whether nothing writes into the memory behind a name, which stays in the function."""
        return not self.is_mutated(target) and self.find(target) not in self.escaping

    def written_by(self, stmt: ir.Stmt) -> tuple[str, ...]:
        """The classes that a statement itself writes into."""
        _, _, written = self._known(stmt)
        return tuple(dict.fromkeys(map(self.find, written))) if written else ()

    def note(self, stmt: ir.Stmt) -> None:
        """A statement that a walk adds: the new name that it binds shares what others share."""
        for name, source in self._shared(stmt):
            assert self.find(name) in (name, self.find(source)), "it joins what was apart"
            self.parent[name] = self.find(source)

    def _union(self, a: str, b: str) -> None:
        one, two = self.find(a), self.find(b)
        if one != two:
            self.parent[max(one, two)] = min(one, two)

    def _known(self, stmt: ir.Stmt) -> tuple[Kinds, list[tuple[str, str]], list[str]]:
        """What a statement shares and writes into, remembered beside its fields with the kinds."""
        found: tuple[Kinds, list[tuple[str, str]], list[str]] | None = vars(stmt).get("_memory")
        if found is None or found[0] is not self.kinds:
            found = self.kinds, self._shared(stmt), self._written(stmt)
            vars(stmt)["_memory"] = found
        return found

    def _written(self, stmt: ir.Stmt) -> list[str]:
        """The names whose memory a statement itself writes into."""
        if type(stmt) is ir.SetItem:
            return [stmt.base.id]
        call = ir.call_of(stmt)
        written = None if call is None else mutated_args(call, self.kinds)
        return [n for a in written for n in names_in(a)] if written else []

    def _shared(self, stmt: ir.Stmt) -> list[tuple[str, str]]:
        """Pairs of names that may share memory after a statement."""
        if type(stmt) is ir.Assign:
            if not self.has_memory(stmt.target.id):
                return []
            return self._pairs(stmt.target.id, self._sources(stmt.rhs))
        if isinstance(stmt, ir.Permute):
            return [(stmt.sources[0].id, s.id) for s in stmt.sources[1:]]
        if isinstance(stmt, ir.SetItem) and not self.is_array(stmt.base.id):
            kept = [n for n in names_in(stmt.value) if stmt.op is None or not self.is_array(n)]
            return self._pairs(stmt.base.id, kept)  # a sum with an array is in memory of its own
        if isinstance(stmt, ir.For):
            return self._pairs(stmt.target.id, names_in(stmt.iter))
        if isinstance(stmt, ir.Effect) and isinstance(stmt.rhs, ir.Call):
            names = [n for a in mutated_args(stmt.rhs, self.kinds) for n in names_in(a)]
            if any(not self.is_array(n) for n in names):
                return self._pairs(names[0], names_in(stmt.rhs))
        return []

    def _pairs(self, target: str, sources: Sequence[str]) -> list[tuple[str, str]]:
        if not sources or not self.has_memory(target):
            return []
        return [(target, s) for s in dict.fromkeys(sources) if s != target and self.has_memory(s)]

    def _sources(self, rhs: ir.Rhs) -> Sequence[str]:
        """The names whose memory a value may share."""
        if isinstance(rhs, ir.Call):
            atoms = (*returns_view(rhs, self.kinds), *self._kept(rhs))
            if rhs.fn is trees.like_tree:
                atoms += rhs.args[:1]  # `finish` returns it as it is where its kind is right
            return tuple(n for a in atoms for n in names_in(a))
        return names_in(rhs)

    def _kept(self, call: ir.Call) -> tuple[ir.Atom, ...]:
        """What a call that returns something may keep: the items of a container it writes into."""
        return call.args if mutated_args(call, self.kinds) else ()
