"""The dict that an object keeps its attributes in: `x.__dict__` and `vars(x)`, as attributes."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Protocol

from srcdiff import ir
from srcdiff.runtime import records
from srcdiff.specialize.keys import Names
from srcdiff.specialize.objects import construct, own_dicts
from srcdiff.specialize.objects.presence import Answer


class Asker(Protocol):
    """What is asked of the pass over a function."""

    out: list[ir.Stmt]

    @property
    def names(self) -> Names:
        """The names that lists and dicts give in turn."""

    @property
    def own_dicts(self) -> Mapping[str, ir.Atom]:
        """The dicts that objects keep their attributes in."""

    def cls(self, atom: ir.Atom) -> type | None:
        """The class of an object."""

    def presence(self, base: ir.Atom, name: str) -> Answer:
        """Whether an object has an attribute of its own now."""

    def temp(self, rhs: ir.Rhs, loc: ir.Loc, base: str = "_t") -> ir.Name:
        """A new name for a value."""


def call(m: Asker, made: ir.Call, loc: ir.Loc) -> ir.Rhs | None:
    """What is done with the dict of an object, as what is done with its attributes."""
    base = m.own_dicts.get(getattr(made.args[0], "id", "")) if made.args else None
    if base is None:
        return None
    if made.fn == ir.Method("update"):
        pairs = _updates(m, made, loc)
        return None if pairs is None else _stored(m, base, pairs, loc)
    key = made.args[1] if len(made.args) > 1 else None
    if not isinstance(key, ir.Const) or not isinstance(key.value, str) or made.kwargs:
        return None
    if made.fn is operator.getitem:
        return ir.Call(ir.Attr(key.value), (base,))
    answer = m.presence(base, key.value)
    if made.fn is operator.contains and not answer.pending and answer.has is not None:
        return ir.Const(answer.has)
    return None


def set_item(m: Asker, stmt: ir.SetItem) -> bool:
    """`x.__dict__[name] = v`; False where it is anything else."""
    base, key = m.own_dicts.get(stmt.base.id), stmt.index
    if base is None or not isinstance(key, ir.Const) or not isinstance(key.value, str):
        return False
    if stmt.op is not None or not _is_plain(m, base, key.value):
        return False
    m.out.append(ir.Effect(_store(base, key.value, stmt.value), stmt.loc))
    return True


def replaced(m: Asker, made: ir.Call, loc: ir.Loc) -> ir.Rhs | None:
    """`x.__dict__ |= d`: what `update` does; `x.__dict__ = d` is refused."""
    base, _, value, *op = made.args
    if op == [ir.Const("|")]:
        pairs = _items(m, value, loc)
        if pairs is not None:
            return _stored(m, base, pairs, loc)
    raise own_dicts.refused(loc)


def _updates(m: Asker, made: ir.Call, loc: ir.Loc) -> list[tuple[str, ir.Atom]] | None:
    """What `update` stores, None if that is not known."""
    pairs: list[tuple[str, ir.Atom]] = []
    for other in (*made.args[1:], *(v for k, v in made.kwargs if k is None)):
        items = _items(m, other, loc)
        if items is None:
            return None
        pairs += items
    return [*pairs, *((k, v) for k, v in made.kwargs if k is not None)]


def _items(m: Asker, other: ir.Atom, loc: ir.Loc) -> list[tuple[str, ir.Atom]] | None:
    """The items of a dict that nobody writes into."""
    keys = m.names.dicts.get(other.id) if isinstance(other, ir.Name) else None
    if keys is None:
        return None
    return [(k, m.temp(ir.Call(operator.getitem, (other, ir.Const(k))), loc)) for k in keys]


def _stored(
    m: Asker, base: ir.Atom, pairs: list[tuple[str, ir.Atom]], loc: ir.Loc
) -> ir.Rhs | None:
    """Every attribute is stored."""
    if not all(_is_plain(m, base, name) for name, _ in pairs):
        return None
    m.out += [ir.Effect(_store(base, name, value), loc) for name, value in pairs]
    return ir.NONE


def _is_plain(m: Asker, base: ir.Atom, name: str) -> bool:
    """Whether nothing of the class stands before an attribute of that name."""
    cls = m.cls(base)
    return cls is not None and not hasattr(type(records.member(cls, name)), "__set__")


def _store(base: ir.Atom, name: str, value: ir.Atom) -> ir.Call:
    return ir.Call(ir.set_attr, (base, ir.Const(name), value), text=construct.MADE)
