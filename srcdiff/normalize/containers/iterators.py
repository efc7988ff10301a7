"""Iterators over active values, as the lists of what they give.

Takes a function and the kinds of its names.  `zip`, `enumerate`, `reversed`, views of dicts and the
like that are used up where they are made (by a loop, an unpacking, `list`, `sum`) become lists,
built item by item.  What has no values with a derivative in it stays as it is.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from typing import Any

from srcdiff import ir
from srcdiff.ir.builder import Builder
from srcdiff.ir.kinds import (
    Array,
    Dict,
    Kind,
    Kinds,
    List,
    Range,
    Tuple,
    inside,
    is_active_kind,
    sure,
)
from srcdiff.kinds.calls import atom_kind
from srcdiff.kinds.containers import ENDLESS
from srcdiff.normalize.iteration import endless
from srcdiff.runtime import sequences as joined
from srcdiff.runtime import trees

Write = Callable[["_Lists", ir.Call, ir.Name, Builder], bool]


def listed_iterators(function: ir.Function, kinds: Kinds) -> ir.Function:
    """The function with lists in the place of iterators over active values."""
    return ir.replaced_in(function, _Lists(function, kinds).stmt)


class _Lists:
    """The pass over the blocks of a function."""

    def __init__(self, function: ir.Function, kinds: Kinds) -> None:
        self.kinds = kinds
        self.fresh = ir.Fresh(ir.all_names(function))

    def stmt(self, stmt: ir.Stmt) -> ir.Stmt | ir.Block:
        """A statement, with lists in it."""
        lines = Builder(self.fresh, stmt.loc)
        return tuple(lines.out) if self.write(stmt, lines) else stmt

    def write(self, stmt: ir.Stmt, lines: Builder) -> bool:
        """Write the list that stands for an iterator; False where there is none."""
        call = stmt.rhs if isinstance(stmt, ir.Assign) else None
        if not isinstance(call, ir.Call) or not isinstance(stmt, ir.Assign) or not call.args:
            return False
        given = (*call.args, *(v for _, v in call.kwargs))
        if not any(is_active_kind(self.kind(a)) for a in given):
            return False
        if isinstance(call.fn, ir.Method) and call.fn.name in ("values", "items"):
            kind = self.kind(call.args[0])
            mine = isinstance(kind, Dict) and kind.cls is None
            return mine and _view(self, call, stmt.target, lines)
        for fn, write in _WRITE:
            if call.fn is fn or call.fn == fn:
                named = not stmt.target.id.startswith("_") and fn not in _LASTING
                return not named and write(self, call, stmt.target, lines)
        return False

    def kind(self, atom: ir.Atom) -> Kind:
        """What is known of an atom."""
        if isinstance(atom, ir.Star):
            return self.kind(atom.value)
        return atom_kind(atom, self.kinds)

    def indexed(self, items: ir.Atom, lines: Builder) -> ir.Atom:
        """A sequence with the items of something."""
        kind = self.kind(items)
        plain = isinstance(kind, (List, Tuple, Range)) or (
            isinstance(kind, Array) and not kind.maybe_scalar
        )
        if kind == ENDLESS:
            raise endless(lines.loc)
        if not plain:
            return lines.call(list, items)
        if isinstance(items, ir.Name):
            return items
        held = lines.fresh()
        lines.assign(held, items)
        return held

    def length(self, sequences: list[ir.Atom], lines: Builder, of: Any = min) -> ir.Atom:
        """The least length, or that which another function says."""
        counts = [lines.call(len, s, base="_n") for s in sequences]
        return counts[0] if len(counts) == 1 else lines.call(of, *counts, base="_n")


def _collected(
    target: ir.Name, count: ir.Atom, lines: Builder, item: Callable[[Builder, ir.Name], ir.Atom]
) -> bool:
    """`target = [item(k) for k in range(count)]`."""
    whole = lines.fresh()
    lines.assign(whole, ir.Call(ir.make_list))
    lines.loop(count, lambda inner, k: inner.effect("append", whole, item(inner, k)))
    lines.assign(target, whole)
    return True


def _has_star(call: ir.Call) -> bool:
    return any(isinstance(a, ir.Star) for a in call.args)


def _zip(self: _Lists, call: ir.Call, target: ir.Name, lines: Builder) -> bool:
    """`zip(xs, ys)`, and `zip(*rows)`, the columns."""
    strict = dict(call.kwargs).get("strict", ir.Const(False))
    if not isinstance(strict, ir.Const):
        return False
    if _has_star(call):
        plain = len(call.args) == 1 and not strict.value
        return plain and _columns(self, call, target, lines)
    parts = [self.indexed(a, lines) for a in call.args]
    count = self.length(parts, lines, joined.same_length if strict.value else min)
    return _collected(
        target, count, lines, lambda inner, k: ir.Tup(tuple(inner.item(p, k) for p in parts))
    )


def _columns(self: _Lists, call: ir.Call, target: ir.Name, lines: Builder) -> bool:
    """`zip(*rows)`."""
    assert isinstance(call.args[0], ir.Star)
    rows = self.indexed(call.args[0].value, lines)
    count = lines.call(len, rows, base="_n")
    width = _width(self.kind(rows), rows, lines)

    def column(inner: Builder, j: ir.Atom) -> ir.Name:
        made = inner.fresh()
        inner.assign(made, ir.Call(ir.make_list))
        inner.loop(count, lambda last, k: last.effect("append", made, _at(last, rows, k, j)))
        return inner.call(tuple, made)

    if isinstance(width, int):
        columns = tuple(column(lines, ir.Const(j)) for j in range(width))
        lines.assign(target, ir.Call(ir.make_list, columns))
        return True
    return _collected(target, width, lines, column)


def _at(lines: Builder, rows: ir.Atom, k: ir.Atom, j: ir.Atom) -> ir.Name:
    """`rows[k][j]`."""
    return lines.item(lines.item(rows, k), j)


def _width(kind: Kind, rows: ir.Atom, lines: Builder) -> int | ir.Name:
    """The length of the shortest row."""
    known = _row_kinds(kind)
    if known is not None:
        lengths = {len(k.items) for k in known if isinstance(k, (Tuple, List)) and k.items}
        if len(lengths) == 1 and all(getattr(k, "items", None) for k in known):
            return lengths.pop()
    width = lines.fresh("_width")
    lines.assign(width, ir.Call(len, (lines.item(rows, ir.Const(0)),), text="len"))

    def less(inner: Builder, row: ir.Name) -> None:
        count = inner.call(len, row, base="_n")
        inner.assign(width, ir.Call(min, (width, count), text="min"))

    lines.each(rows, less)
    return width


def _row_kinds(kind: Kind) -> tuple[Kind, ...] | None:
    """The kinds of the rows, if there surely is one."""
    if isinstance(kind, (List, Tuple)) and kind.items:
        return kind.items
    return (kind.item,) if isinstance(kind, List) and kind.item is not None else None


def _enumerate(self: _Lists, call: ir.Call, target: ir.Name, lines: Builder) -> bool:
    """`enumerate(xs, start)`."""
    items = self.indexed(call.args[0], lines)
    start = [*call.args[1:], *(v for _, v in call.kwargs)]

    def pair(inner: Builder, k: ir.Name) -> ir.Atom:
        number = inner.call(operator.add, k, start[0]) if start else k
        return ir.Tup((number, inner.item(items, k)))

    return _collected(target, lines.call(len, items, base="_n"), lines, pair)


def _reversed(self: _Lists, call: ir.Call, target: ir.Name, lines: Builder) -> bool:
    """`reversed(xs)`."""
    items = self.indexed(call.args[0], lines)
    count = lines.call(len, items, base="_n")
    last = lines.call(operator.sub, count, ir.Const(1))
    return _collected(
        target, count, lines,
        lambda inner, k: inner.item(items, inner.call(operator.sub, last, k)),
    )  # fmt: skip


def _view(self: _Lists, call: ir.Call, target: ir.Name, lines: Builder) -> bool:
    """`d.values()` and `d.items()`, where they are used up at once."""
    if not target.id.startswith("_"):
        return False
    base = call.args[0]
    keys = lines.call(list, base)
    pairs = call.fn == ir.Method("items")

    def item(inner: Builder, k: ir.Name) -> ir.Atom:
        key = inner.item(keys, k)
        value = inner.item(base, key)
        return ir.Tup((key, value)) if pairs else value

    return _collected(target, lines.call(len, keys, base="_n"), lines, item)


def _chain(self: _Lists, call: ir.Call, target: ir.Name, lines: Builder) -> bool:
    """`itertools.chain(xs, ys)`."""
    if _has_star(call):
        return False
    whole = lines.fresh()
    parts = [self.indexed(a, lines) for a in call.args]
    lines.assign(whole, ir.Call(ir.make_list))
    for part in parts:
        lines.each(part, lambda inner, v: inner.effect("append", whole, v))
    lines.assign(target, whole)
    return True


def _flattened(self: _Lists, call: ir.Call, target: ir.Name, lines: Builder) -> bool:
    """`itertools.chain.from_iterable(rows)`."""
    rows = self.indexed(call.args[0], lines)
    whole = lines.fresh()
    lines.assign(whole, ir.Call(ir.make_list))
    lines.each(
        rows, lambda inner, row: inner.each(row, lambda last, v: last.effect("append", whole, v))
    )
    lines.assign(target, whole)
    return True


def _sum(self: _Lists, call: ir.Call, target: ir.Name, lines: Builder) -> bool:
    """`sum(lists, [])`."""
    if len(call.args) != 2 or call.kwargs:
        return False
    start = self.kind(call.args[1])
    if not isinstance(start, (List, Tuple)):
        return False
    rows = self.indexed(call.args[0], lines)
    whole = lines.call(list, call.args[1])
    lines.each(
        rows, lambda inner, row: inner.each(row, lambda last, v: last.effect("append", whole, v))
    )
    lines.assign(target, ir.Call(tuple, (whole,)) if isinstance(start, Tuple) else whole)
    return True


def _pairwise(self: _Lists, call: ir.Call, target: ir.Name, lines: Builder) -> bool:
    """`itertools.pairwise(xs)`."""
    items = self.indexed(call.args[0], lines)
    count = lines.call(operator.sub, lines.call(len, items, base="_n"), ir.Const(1))

    def pair(inner: Builder, k: ir.Name) -> ir.Atom:
        after = inner.call(operator.add, k, ir.Const(1))
        return ir.Tup((inner.item(items, k), inner.item(items, after)))

    return _collected(target, count, lines, pair)


def _islice(self: _Lists, call: ir.Call, target: ir.Name, lines: Builder) -> bool:
    """`itertools.islice(xs, stop)`."""
    if not 2 <= len(call.args) <= 4 or call.kwargs or _has_star(call):
        return False
    bounds = call.args[1:] if len(call.args) > 2 else (ir.NONE, call.args[1])
    part = ir.Slice(*bounds, *[ir.NONE] * (3 - len(bounds)))
    items = self.indexed(call.args[0], lines)
    lines.assign(target, ir.Call(operator.getitem, (items, part)))
    return True


def _repeat(self: _Lists, call: ir.Call, target: ir.Name, lines: Builder) -> bool:
    """`itertools.repeat(v, n)`."""
    if len(call.args) != 2 or _has_star(call):
        return False
    value, count = call.args
    return _collected(target, count, lines, lambda inner, k: value)


def _chosen(self: _Lists, call: ir.Call, target: ir.Name, lines: Builder) -> bool:
    """`itertools.combinations(xs, 2)` and `permutations`: of the positions."""
    size = call.args[1] if len(call.args) == 2 else None
    if not isinstance(size, ir.Const) or call.kwargs:
        return False
    items = self.indexed(call.args[0], lines)
    places = lines.call(range, lines.call(len, items, base="_n"))
    iterator = lines.call(call.fn, places, size)
    return _picked(target, lines.call(list, iterator), [items] * size.value, lines)


def _product(self: _Lists, call: ir.Call, target: ir.Name, lines: Builder) -> bool:
    """`itertools.product(xs, ys)`: of the positions."""
    again = dict(call.kwargs).get("repeat", ir.Const(1))
    if _has_star(call) or not isinstance(again, ir.Const):
        return False
    parts = [self.indexed(a, lines) for a in call.args] * again.value
    places = [lines.call(range, lines.call(len, p, base="_n")) for p in parts]
    return _picked(target, lines.call(list, lines.call(call.fn, *places)), parts, lines)


def _picked(target: ir.Name, choices: ir.Name, parts: list[ir.Atom], lines: Builder) -> bool:
    """The items at chosen positions."""

    def item(inner: Builder, k: ir.Name) -> ir.Atom:
        chosen = inner.item(choices, k)
        places = [inner.item(chosen, ir.Const(j)) for j in range(len(parts))]
        return ir.Tup(tuple(inner.item(p, at) for p, at in zip(parts, places, strict=True)))

    return _collected(target, lines.call(len, choices, base="_n"), lines, item)


def _sorted(self: _Lists, call: ir.Call, target: ir.Name, lines: Builder) -> bool:
    """`sorted(xs)`: the items in the order of their positions."""
    items = self.indexed(call.args[0], lines)
    order = ordered(items, call, lines)
    count = lines.call(len, order, base="_n")
    return _collected(
        target, count, lines, lambda inner, k: inner.item(items, inner.item(order, k))
    )


def ordered(items: ir.Atom, call: ir.Call, lines: Builder) -> ir.Name:
    """The positions of items in the order that `sorted` or `sort` gives them."""
    keywords = dict(call.kwargs)
    reverse = keywords.get("reverse", ir.Const(False))
    given = (reverse, keywords["key"]) if "key" in keywords else (reverse,)
    return lines.call(trees.order, items, *(given if keywords else ()))


def _extreme(self: _Lists, call: ir.Call, target: ir.Name, lines: Builder) -> bool:
    """`max(xs, default=v)`, and `max(pairs)`: the first one of those that are the greatest."""
    if not call.args or _has_star(call):
        return False
    if [k for k, _ in call.kwargs] == ["default"]:
        return _default(self, call, target, lines)
    source = call.args[0] if len(call.args) == 1 else ir.Tup(call.args)
    kind = self.kind(source)
    rows = inside(kind) if isinstance(kind, (List, Tuple)) else ()
    if call.kwargs or not rows or not any(isinstance(sure(k), (List, Tuple)) for k in rows):
        return False
    items = self.indexed(source, lines)
    place = lines.call(joined.first_greatest if call.fn is max else joined.first_least, items)
    lines.assign(target, ir.Call(operator.getitem, (items, place)))
    return True


def _default(self: _Lists, call: ir.Call, target: ir.Name, lines: Builder) -> bool:
    """`max(xs, default=v)`."""
    items = self.indexed(call.args[0], lines)
    default = call.kwargs[0][1]
    extreme = ir.Call(call.fn, (items,), text=call.text)
    lines.branch(
        lines.call(operator.ne, lines.call(len, items, base="_n"), ir.Const(0)),
        lambda inner: inner.assign(target, extreme),
        lambda inner: inner.assign(target, default),
    )
    return True


# These give what lasts: a list, a number.
_LASTING = (sorted, max, min, sum)

_WRITE: tuple[tuple[Any, Write], ...] = (
    (zip, _zip),
    (enumerate, _enumerate),
    (reversed, _reversed),
    (sorted, _sorted),
    (max, _extreme),
    (min, _extreme),
    (sum, _sum),
    (itertools.chain, _chain),
    (itertools.chain.from_iterable, _flattened),
    (itertools.pairwise, _pairwise),
    (itertools.islice, _islice),
    (itertools.repeat, _repeat),
    (itertools.combinations, _chosen),
    (itertools.permutations, _chosen),
    (itertools.product, _product),
)
__all__ = ["listed_iterators", "ordered"]
