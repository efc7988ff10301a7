"""Dicts that nobody writes into, their keys, and the lists of names that are made of them."""

from __future__ import annotations

import operator
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Any

from srcdiff import ir
from srcdiff.frontend.closures.settled import definitions
from srcdiff.ir.kinds import Array, Dict, Kind, List, NoneKind, Scalar, Text, Tuple
from srcdiff.specialize.objects.places import item_at, read_key

Kinds = Mapping[str, Kind]

_LOOKS = (operator.getitem, operator.contains, len, list, sorted)
_ASKS = ("get", "keys", "values", "items", "copy")


def fixed_dicts(function: ir.Function, params: Kinds) -> dict[str, tuple[str, ...]]:
    """The dicts that nobody writes into, and their keys."""
    found: dict[str, tuple[str, ...]] = {}
    for param in function.params:
        kind = params.get(param.name)
        if isinstance(kind, Dict) and kind.item is None and kind.cls is None:
            _add(found, param.name, [k for k, _ in kind.items])
    for stmt in ir.walk(function.body):
        rhs = stmt.rhs if isinstance(stmt, ir.Assign) else None
        if isinstance(stmt, ir.Assign) and isinstance(rhs, ir.Call):
            if rhs.fn is ir.make_dict:
                keys = [k.value if isinstance(k, ir.Const) else None for k in rhs.args[::2]]
                _add(found, stmt.target.id, keys)
            elif rhs.fn is dict and not rhs.args:
                _add(found, stmt.target.id, [k for k, _ in rhs.kwargs])
    count = definitions(function.body, (p.name for p in function.params))
    other = {n for stmt in ir.walk(function.body) for n in _looks_not_only(stmt)}
    own = {n: k for n, k in found.items() if count[n] == 1 and n not in other}
    given = [p.name for p in function.params if count[p.name] == 1]
    items = list(_calls(function.body))
    return {**{n: k for p in given for n, k in _inner(items, p, params.get(p), other)}, **own}


def _calls(body: ir.Block) -> Iterator[tuple[str, str, ir.Call]]:
    """The names of what calls bind, those of their first arguments, and the calls."""
    for stmt in ir.walk(body):
        call = ir.call_of(stmt)
        base = call.args[0] if call is not None and call.args else None
        if call is not None and isinstance(stmt, ir.Assign) and isinstance(base, ir.Name):
            yield stmt.target.id, base.id, call


def _inner(
    items: Iterable[tuple[str, str, ir.Call]],
    param: str,
    kind: Kind | None,
    other: Container[str],
) -> list[tuple[str, tuple[str, ...]]]:
    """The dicts in a parameter, where nobody writes into it or into what comes out of it."""
    kinds: dict[str, Kind | None] = {param: kind}
    for name, base, call in items:  # a name is bound before it is read
        if base in kinds and looks(call) and call.fn not in (len, operator.contains):
            kinds[name] = None if name in kinds else _taken(call, kinds[base])
    found: dict[str, tuple[str, ...]] = {}
    for name, inner in kinds.items():
        if name in other and not isinstance(inner, (Scalar, Array, Text, NoneKind)):
            return []
        if name != param and isinstance(inner, Dict) and inner.item is None and inner.cls is None:
            _add(found, name, [k for k, _ in inner.items])
    return list(found.items())


def _taken(call: ir.Call, kind: Kind | None) -> Kind | None:
    """The kind of what a call takes out of a value, None where that is not known."""
    key = read_key(call)
    if key is not None and not (call.text == ir.LOOP and isinstance(kind, Dict)):
        return item_at(kind, key.value)
    if call.fn is not operator.getitem or not isinstance(kind, (List, Tuple)):
        return None
    if not kind.items:
        return kind.item  # dicts of other keys are not joined to one of known keys
    return kind.items[0] if len(set(map(_keys, kind.items))) == 1 else None


def _keys(kind: Kind) -> object:
    """What tells containers of other keys apart."""
    if isinstance(kind, Dict):
        return tuple((k, _keys(v)) for k, v in kind.items), kind.item is None
    if isinstance(kind, (List, Tuple)):
        return None if kind.items is None else tuple(map(_keys, kind.items))
    return type(kind)


def _add(found: dict[str, tuple[str, ...]], name: str, keys: list[Any]) -> None:
    if all(isinstance(k, str) for k in keys):
        found[name] = tuple(dict.fromkeys(keys))


def _looks_not_only(stmt: ir.Stmt) -> tuple[str, ...]:
    """The names in a statement that it may write into or keep, were they dicts."""
    call = ir.call_of(stmt)
    if call is None:
        return ir.reads(stmt)
    rest = [*call.args, *(v for k, v in call.kwargs if k is not None)]
    if call.fn == ir.Method("update"):
        return tuple(n for a in (call.args[0], *rest[len(call.args) :]) for n in ir.names(a))
    return tuple(n for a in (rest[1:] if looks(call) else rest) for n in ir.names(a))


def outside_keys(atom: ir.Atom, function: ir.Function) -> tuple[str, ...] | None:
    """The keys of a dict from outside, where the function only looks at it; else None.

    Whoever gives it another key gets another derivative: it is watched.
    """
    value = _only_looked_at(atom, function)
    named = type(value) is dict and all(isinstance(k, str) for k in value)
    return tuple(value) if named else None


def outside_items(atom: ir.Atom, function: ir.Function) -> int | None:
    """How long a list or tuple from outside is, where the function only looks at it; else None."""
    value = _only_looked_at(atom, function)
    return len(value) if type(value) in (list, tuple) else None


def _only_looked_at(atom: ir.Atom, function: ir.Function) -> Any:
    """What a variable from outside holds; None where the function may change or keep it."""
    if not isinstance(atom, ir.Ref) or any(atom in _kept(s) for s in ir.walk(function.body)):
        return None
    return atom.value


def _kept(stmt: ir.Stmt) -> tuple[ir.Atom, ...]:
    """The atoms in a statement that it may write into or keep, were they dicts."""
    call = ir.call_of(stmt)
    if call is None:
        return tuple(a for o in ir.operands(stmt) for a in ir.atoms(o))
    positional = [a for a in call.args if not isinstance(a, ir.Star)]
    rest = [*positional, *(v for k, v in call.kwargs if k is not None)]
    return tuple(a for o in (rest[1:] if looks(call) else rest) for a in ir.atoms(o))


def looks(call: ir.Call) -> bool:
    """Whether a call only looks at its first argument, or takes something out of it."""
    asks = isinstance(call.fn, ir.Method) and call.fn.name in _ASKS
    return asks or isinstance(call.fn, ir.Attr) or call.fn in _LOOKS


class Names:
    """The names, as text, that a sequence or a dict gives in turn."""

    def __init__(self, function: ir.Function, kinds: Kinds) -> None:
        self.kinds = kinds
        self.dicts = fixed_dicts(function, kinds)
        count = definitions(function.body, (p.name for p in function.params))
        self.made = {
            s.target.id: s.rhs for s in ir.walk(function.body)
            if isinstance(s, ir.Assign) and isinstance(s.rhs, ir.Call) and count[s.target.id] == 1
        }  # fmt: skip

    def of(self, atom: ir.Atom) -> tuple[str, ...] | None:
        """What something gives in turn, None where that is not known."""
        if not isinstance(atom, ir.Name):
            return None
        if atom.id in self.dicts:
            return self.dicts[atom.id]
        made = self.made.get(atom.id)
        if made is not None and not made.kwargs and len(made.args) == 1:
            inner = self.of(made.args[0])
            if inner is not None and made.fn in (list, tuple, sorted, ir.Method("keys")):
                return tuple(sorted(inner)) if made.fn is sorted else inner
        return _texts(self.kinds.get(atom.id))

    def number(self, atom: ir.Atom) -> int | None:
        """How many names there are, where a value is the length of what gives them."""
        made = self.made.get(atom.id) if isinstance(atom, ir.Name) else None
        found = self.of(made.args[0]) if made is not None and made.fn is len else None
        return None if found is None else len(found)


def _texts(kind: Kind | None) -> tuple[str, ...] | None:
    """The items of a tuple or list of known strings."""
    if not isinstance(kind, (Tuple, List)) or kind.items is None:
        return None
    values = [k.value for k in kind.items if isinstance(k, Text) and k.value is not None]
    return tuple(values) if len(values) == len(kind.items) else None
