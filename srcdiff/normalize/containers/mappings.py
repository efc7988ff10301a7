"""Methods of dicts, as reads and stores of items."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping

from srcdiff import ir
from srcdiff.errors import UnsupportedError
from srcdiff.ir.builder import Builder
from srcdiff.ir.kinds import Dict, Kind, Kinds, List, Tuple, class_of, is_active_kind
from srcdiff.kinds.calls import atom_kind

Made = Mapping[str, ir.Call]


def check_merges(base: ir.Name, call: ir.Call, kind: Kind, lines: Builder) -> None:
    """Refuse `xs += ys` where `xs` may be a list or an array for all that is known."""
    if not isinstance(kind, Dict) or (call.fn is not operator.or_ and class_of(kind) is None):
        raise UnsupportedError(
            f"an operator in place joins a container to {ir.said(base.id)}, of which it is not "
            "known whether it is a list",
            lines.loc,
            remedy="Let a variable be a list from the beginning: `xs = []`, not None.",
        )


def updated(base: ir.Name, other: ir.Atom, lines: Builder, kinds: Kinds, made: Made) -> None:
    """Every item of another dict, or every pair of a sequence, is stored."""
    cls = class_of(atom_kind(base, kinds))
    if cls is not None:
        raise UnsupportedError(
            f"an operator in place changes an attribute that is an object of `{cls.__name__}`",
            lines.loc,
            remedy="Write it out, with the new object on the right: `p.a = p.a + b`.",
        )
    display = made.get(other.id) if isinstance(other, ir.Name) else None
    if display is not None and display.fn is ir.make_dict:
        for key, value in zip(display.args[::2], display.args[1::2], strict=True):
            lines.store(base, key, value)
        return
    kind = atom_kind(other, kinds)
    if isinstance(kind, Dict):
        keys = lines.call(list, other)
        lines.each(keys, lambda inner, key: inner.store(base, key, inner.item(other, key)))
    elif isinstance(kind, (List, Tuple)):
        lines.each(other, lambda inner, pair: _put(inner, base, pair))
    else:
        raise UnsupportedError(
            "a dict is filled from something that is known only when the program runs",
            lines.loc,
            remedy="Store the items in a loop: `for k in other: d[k] = other[k]`.",
        )


def _put(lines: Builder, base: ir.Name, pair: ir.Name) -> None:
    """`base[pair[0]] = pair[1]`."""
    key = lines.item(pair, ir.Const(0))
    lines.store(base, key, lines.item(pair, ir.Const(1)))


def named(base: ir.Name, call: ir.Call, lines: Builder, kinds: Kinds, made: Made) -> None:
    """The keywords of a call are stored."""
    for key, value in call.kwargs:
        if key is None:
            updated(base, value, lines, kinds, made)
        else:
            lines.store(base, ir.Const(key), value)


def dict_made(call: ir.Call, target: ir.Name, lines: Builder, kinds: Kinds, made: Made) -> bool:
    """`dict(...)`: a copy of a dict, pairs, keywords."""
    given = (*call.args, *(v for _, v in call.kwargs))
    if not any(is_active_kind(atom_kind(a, kinds)) for a in given):
        return False
    copied = [a for a in call.args if isinstance(atom_kind(a, kinds), Dict)]
    if copied and not call.kwargs:
        return False
    if not call.args and all(k is not None for k, _ in call.kwargs):
        items = [a for k, v in call.kwargs for a in (ir.Const(k), v)]
        lines.assign(target, ir.Call(ir.make_dict, tuple(items)))
        return True
    whole = lines.fresh() if target.id in ir.names(call) else target
    lines.assign(whole, ir.Call(dict, call.args, text="dict") if copied else _EMPTY)
    for other in () if copied else call.args:
        updated(whole, other, lines, kinds, made)
    named(whole, call, lines, kinds, made)
    if whole != target:
        lines.assign(target, whole)
    return True


_EMPTY = ir.Call(ir.make_dict)


def merged(call: ir.Call, target: ir.Name, lines: Builder, kinds: Kinds, made: Made) -> bool:
    """`d | e`."""
    one, two = call.args
    whole = lines.fresh() if target.id in ir.names(call) else target
    lines.assign(whole, ir.Call(dict, (one,), text="dict"))
    updated(whole, two, lines, kinds, made)
    if whole != target:
        lines.assign(target, whole)
    return True


def _update(
    call: ir.Call, target: ir.Name | None, lines: Builder, kinds: Kinds, made: Made
) -> bool:
    """`d.update(e, k=v)`."""
    base = call.args[0]
    assert isinstance(base, ir.Name)
    for other in call.args[1:]:
        updated(base, other, lines, kinds, made)
    named(base, call, lines, kinds, made)
    return True


def _get(call: ir.Call, target: ir.Name | None, lines: Builder, kinds: Kinds, made: Made) -> bool:
    """`d.get(k, v)`: the item, if there is one."""
    if target is None:
        return False
    base, key, *rest = call.args
    default = rest[0] if rest else ir.NONE
    if _lacks(base, key, kinds):
        lines.assign(target, default)
        return True
    has = lines.call(operator.contains, base, key)
    lines.branch(
        has,
        lambda inner: inner.assign(target, ir.Call(operator.getitem, (base, key))),
        lambda inner: inner.assign(target, default),
    )
    return True


def _lacks(base: ir.Atom, key: ir.Atom, kinds: Kinds) -> bool:
    """Whether a dict certainly never has a key: everything that may be stored in it is known."""
    kind = atom_kind(base, kinds)
    if not isinstance(kind, Dict) or kind.cls is not None or not isinstance(key, ir.Const):
        return False
    return kind.item is None and all(key.value != k for k, _ in kind.items)


def _setdefault(
    call: ir.Call, target: ir.Name | None, lines: Builder, kinds: Kinds, made: Made
) -> bool:
    """`d.setdefault(k, v)`: stored if there is none."""
    base, key, *rest = call.args
    assert isinstance(base, ir.Name)
    default = rest[0] if rest else ir.NONE
    has = lines.call(operator.contains, base, key)
    lines.branch(
        lines.call(operator.not_, has),
        lambda inner: inner.store(base, key, default),
        lambda inner: None,
    )
    if target is not None:
        lines.assign(target, ir.Call(operator.getitem, (base, key)))
    return True


def _pop(call: ir.Call, target: ir.Name | None, lines: Builder, kinds: Kinds, made: Made) -> bool:
    """`d.pop(k, v)`: taken out, if there is one."""
    if target is None or len(call.args) < 3:
        return False
    base, key, default = call.args
    if _lacks(base, key, kinds):
        lines.assign(target, default)
        return True
    has = lines.call(operator.contains, base, key)
    taken = ir.Call(ir.Method("pop"), (base, key))
    lines.branch(
        has,
        lambda inner: inner.assign(target, taken),
        lambda inner: inner.assign(target, default),
    )
    return True


def _clear(call: ir.Call, target: ir.Name | None, lines: Builder, kinds: Kinds, made: Made) -> bool:
    """`d.clear()`."""
    base = call.args[0]
    keys = lines.call(list, base)

    def gone(inner: Builder, key: ir.Name) -> None:
        inner.assign(inner.fresh("_gone"), ir.Call(ir.Method("pop"), (base, key)))

    lines.each(keys, gone)
    return True


DICT_METHODS: dict[
    str, Callable[[ir.Call, ir.Name | None, Builder, Kinds, Made], bool]
] = {
    "update": _update,
    "get": _get,
    "setdefault": _setdefault,
    "pop": _pop,
    "clear": _clear,
}
