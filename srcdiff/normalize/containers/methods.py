"""Methods and operators of lists, tuples and dicts, as the few that have adjoints.

Takes a function and the kinds of its names.  Where a container may hold values with a derivative,
`extend`, `+=`, `insert` at any place, `del`, stores into slices and so on become `append`, `pop`,
`insert` and stores at known places, in the order in which Python does them; `[*xs, y]` with `xs` of
unknown length is `xs + [y]`.  What holds no such values stays as it is.

`plain_containers` does this after slices are written out, iterators are lists, and loops go by
index.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from itertools import groupby

from srcdiff import ir
from srcdiff.errors import UnsupportedError
from srcdiff.ir.builder import Builder, place_of
from srcdiff.ir.frozen import replace
from srcdiff.ir.kinds import (
    Dict,
    Kind,
    Kinds,
    List,
    Range,
    Scalar,
    Tuple,
    is_active_kind,
    is_container,
)
from srcdiff.kinds.calls import atom_kind
from srcdiff.kinds.elementwise import meets_lists
from srcdiff.kinds.interpreter import Typed
from srcdiff.normalize.containers.indexing import without_flat, written_slices
from srcdiff.normalize.containers.iterators import listed_iterators, ordered
from srcdiff.normalize.containers.mappings import (
    DICT_METHODS,
    check_merges,
    dict_made,
    merged,
    updated,
)
from srcdiff.normalize.iteration import iterated
from srcdiff.runtime.sequences import repeats


def joined(call: ir.Call, target: ir.Name, lines: Builder, kinds: Kinds) -> bool:
    """Write `[a, *xs]` as a sum; False where there is no `*`, or nothing carries a derivative."""
    if not any(isinstance(a, ir.Star) for a in call.args):
        return False
    if not any(_carries(a, kinds) for a in call.args):
        return False
    whole, *rest = _parts(call.args, lines, kinds)
    if not rest:
        lines.assign(target, ir.Call(list, (whole,), text="list"))
        return True
    *inner, last = rest
    for part in inner:
        whole = lines.call(operator.add, whole, part)
    lines.assign(target, ir.Call(operator.add, (whole, last)))
    return True


def _carries(atom: ir.Atom, kinds: Kinds) -> bool:
    """Whether an item of a display may carry a derivative, or one of those that it stands for."""
    return is_active_kind(atom_kind(atom.value if isinstance(atom, ir.Star) else atom, kinds))


def _parts(items: tuple[ir.Atom, ...], lines: Builder, kinds: Kinds) -> Iterator[ir.Atom]:
    """The lists that a display joins."""
    for starred, group in groupby(items, lambda a: isinstance(a, ir.Star)):
        if not starred:
            made = lines.fresh()
            lines.assign(made, ir.Call(ir.make_list, tuple(group)))
            yield made
            continue
        for atom in group:
            assert isinstance(atom, ir.Star)
            known = isinstance(atom_kind(atom.value, kinds), List)
            yield atom.value if known else lines.call(list, atom.value)


# --- methods and operators of lists, tuples and dicts, as the few that have adjoints -------------


def plain_methods(function: ir.Function, kinds: Kinds) -> ir.Function:
    """The function with containers of active values changed in plain ways only."""
    pass_ = _Plain(function, kinds)
    return replace(function, body=pass_.block(function.body))


class _Plain:
    """The pass over the blocks of a function."""

    def __init__(self, function: ir.Function, kinds: Kinds) -> None:
        self.kinds = kinds
        self.fresh = ir.Fresh(ir.all_names(function))

    def block(self, block: ir.Block) -> ir.Block:
        """A block with plain methods only."""
        out: list[ir.Stmt] = []
        made: dict[str, ir.Call] = {}  # displays, as long as nobody can have changed them
        for stmt in block:
            stmt = ir.map_blocks(stmt, self.block)
            lines = Builder(self.fresh, stmt.loc)
            done = self.stmt(stmt, lines, made)
            out += lines.out if done else [stmt]
            _forget(made, stmt)
            rhs = stmt.rhs if isinstance(stmt, ir.Assign) else None
            if isinstance(rhs, ir.Call) and rhs.fn in (ir.make_list, ir.make_dict):
                made[stmt.target.id] = rhs  # type: ignore[union-attr]
        return tuple(out)

    def stmt(self, stmt: ir.Stmt, lines: Builder, made: Mapping[str, ir.Call]) -> bool:
        """Write what stands for a statement; False if it may stay."""
        if isinstance(stmt, ir.SetItem):
            return self.slice_store(stmt, lines, made)
        call = ir.call_of(stmt)
        if call is None or not call.args and not call.kwargs:
            return False
        target = stmt.target if isinstance(stmt, ir.Assign) else None
        if call.fn is operator.delitem:
            return self.delete(call, lines)
        if target is not None and call.fn is ir.make_list:
            return joined(call, target, lines, self.kinds)
        if target is not None and call.fn is dict:
            return dict_made(call, target, lines, self.kinds, made)
        if target is not None and call.fn in (operator.add, operator.mul, operator.or_):
            return self.operator(call, target, lines, made)
        if isinstance(call.fn, ir.Method) and isinstance(call.args[0], ir.Name):
            return self.method(call.fn.name, call, target, lines, made)
        return False

    def kind(self, atom: ir.Atom) -> Kind:
        """What is known of an atom."""
        return atom_kind(atom, self.kinds)

    def method(
        self,
        name: str,
        call: ir.Call,
        target: ir.Name | None,
        lines: Builder,
        made: Mapping[str, ir.Call],
    ) -> bool:
        """A method of a list or dict that may hold active values."""
        kind = self.kind(call.args[0])
        given = [*call.args[1:], *(v for _, v in call.kwargs)]
        if not any(is_active_kind(self.kind(a)) for a in (call.args[0], *given)):
            return False
        if isinstance(kind, Dict) and kind.cls is None and name in DICT_METHODS:
            return DICT_METHODS[name](call, target, lines, self.kinds, made)
        if isinstance(kind, List) and name in _LIST_METHODS and (name == "sort" or not call.kwargs):
            return _LIST_METHODS[name](self, call, target, lines, made)
        return False

    # --- lists ---

    def extend(
        self, call: ir.Call, target: ir.Name | None, lines: Builder, made: Mapping[str, ir.Call]
    ) -> bool:
        """`xs.extend(ys)`."""
        base, items = call.args
        assert isinstance(base, ir.Name)
        self.appended(base, items, lines, made)
        return True

    def appended(
        self, base: ir.Name, items: ir.Atom, lines: Builder, made: Mapping[str, ir.Call]
    ) -> None:
        """Every item is appended."""
        known = self.display(items, made)
        if known is not None:
            for atom in known:
                lines.effect("append", base, atom)
            return
        lines.each(self.indexed(items, lines), lambda inner, v: inner.effect("append", base, v))

    def display(self, items: ir.Atom, made: Mapping[str, ir.Call]) -> tuple[ir.Atom, ...] | None:
        """The items of a display, None for anything else."""
        found: tuple[ir.Atom, ...] | None = None
        if isinstance(items, ir.Tup):
            found = items.items
        elif isinstance(items, ir.Name) and items.id in made:
            call = made[items.id]
            found = call.args if call.fn is ir.make_list else None
        if found is None or any(isinstance(a, ir.Star) for a in found):
            return None
        return found

    def indexed(self, items: ir.Atom, lines: Builder) -> ir.Atom:
        """A sequence with the items of something."""
        kind = self.kind(items)
        if isinstance(items, ir.Name) and isinstance(kind, (List, Tuple, Range)):
            return items
        if isinstance(items, ir.Name) and getattr(kind, "dims", None):
            return items
        return lines.call(list, items)

    def insert(
        self, call: ir.Call, target: ir.Name | None, lines: Builder, made: Mapping[str, ir.Call]
    ) -> bool:
        """`xs.insert(i, v)`: the place from 0 to the length."""
        base, place, value = call.args
        if place == ir.Const(0):
            return False
        count = lines.call(len, base, base="_n")
        at = lines.fresh("_at")

        def from_end(inner: Builder) -> None:
            moved = inner.call(operator.add, count, place)
            inner.assign(at, ir.Call(max, (moved, ir.Const(0)), text="max"))

        def from_start(inner: Builder) -> None:
            inner.assign(at, ir.Call(min, (place, count), text="min"))

        if isinstance(place, ir.Const):
            (from_end if place.value < 0 else from_start)(lines)
        else:
            negative = lines.call(operator.lt, place, ir.Const(0))
            lines.branch(negative, from_end, from_start)
        lines.effect("insert", base, at, value)
        return True

    def pop(
        self, call: ir.Call, target: ir.Name | None, lines: Builder, made: Mapping[str, ir.Call]
    ) -> bool:
        """`xs.pop(i)`: the place from the start."""
        base, *place = call.args
        if not place or target is None:
            return False
        if place[0] == ir.Const(-1):
            lines.assign(target, ir.Call(ir.Method("pop"), (base,)))
            return True
        if isinstance(place[0], ir.Const) and place[0].value >= 0:
            return False
        lines.assign(target, ir.Call(ir.Method("pop"), (base, self.place(base, place[0], lines))))
        return True

    def place(self, base: ir.Atom, index: ir.Atom, lines: Builder) -> ir.Atom:
        """An index counted from the start; one that is out of range is the error that it is."""
        if isinstance(index, ir.Const) and index.value >= 0:
            return index
        return lines.item(lines.call(range, lines.call(len, base, base="_n")), index)

    def clear(
        self, call: ir.Call, target: ir.Name | None, lines: Builder, made: Mapping[str, ir.Call]
    ) -> bool:
        """`xs.clear()`."""
        base = call.args[0]
        count = lines.call(len, base, base="_n")
        lines.loop(count, lambda inner, _: inner.assign(inner.fresh("_gone"), _pop(base)))
        return True

    def remove(
        self, call: ir.Call, target: ir.Name | None, lines: Builder, made: Mapping[str, ir.Call]
    ) -> bool:
        """`xs.remove(v)`."""
        base, value = call.args
        at = lines.method("index", base, value)
        lines.assign(lines.fresh("_gone"), _pop(base, at))
        return True

    def sort(
        self, call: ir.Call, target: ir.Name | None, lines: Builder, made: Mapping[str, ir.Call]
    ) -> bool:
        """`xs.sort()`: every item is stored at its new place."""
        base = call.args[0]
        assert isinstance(base, ir.Name)
        order = ordered(base, call, lines)
        old = lines.call(list, base)
        count = lines.call(len, order, base="_n")

        def put(inner: Builder, k: ir.Name) -> None:
            inner.store(base, k, inner.item(old, inner.item(order, k)))

        lines.loop(count, put)
        return True

    # --- parts ---

    def delete(self, call: ir.Call, lines: Builder) -> bool:
        """`del xs[i]`, `del d[k]`."""
        base, index = call.args
        kind = self.kind(base)
        if isinstance(kind, List) and isinstance(index, ir.Slice):
            self.cut(base, index, lines)
            return True
        if isinstance(kind, (List, Dict)):
            at = self.place(base, index, lines) if isinstance(kind, List) else index
            lines.assign(lines.fresh("_gone"), _pop(base, at))
            return True
        raise UnsupportedError(
            "`del` of an item of something that may be no list or dict",
            lines.loc,
            remedy="Give an example of the arguments, or build the container without it.",
        )

    def cut(self, base: ir.Atom, index: ir.Slice, lines: Builder) -> ir.Name:
        """Take out the items of a slice; gives the place where they were."""
        if index.step not in (ir.NONE, ir.Const(1)):
            raise UnsupportedError(
                "a slice with a step of a list of active values is changed",
                lines.loc,
                remedy="Change the items one by one in a loop.",
            )
        count = lines.call(len, base, base="_n")
        part = lines.item(lines.call(range, count), index)
        start = lines.call(ir.Attr("start"), part)
        inside = lines.call(len, part, base="_n")
        lines.loop(
            inside, lambda inner, _: inner.assign(inner.fresh("_gone"), _pop(base, start))
        )
        return start

    def slice_store(self, stmt: ir.SetItem, lines: Builder, made: Mapping[str, ir.Call]) -> bool:
        """`xs[a:b] = ys`: the old items are taken out, the new ones inserted."""
        kind = self.kind(stmt.base)
        if not isinstance(kind, List) or not isinstance(stmt.index, ir.Slice):
            return False
        if stmt.op is not None or not (is_active_kind(kind) or self.is_active(stmt.value)):
            return False
        known = self.display(stmt.value, made)
        places = self.places(kind, stmt.index)
        if known is not None and places is not None and len(places) == len(known):
            for k, atom in zip(places, known, strict=True):
                lines.store(stmt.base, ir.Const(k), atom)
            return True
        items = lines.call(list, stmt.value)
        start = self.cut(stmt.base, stmt.index, lines)

        def put(inner: Builder, k: ir.Name) -> None:
            at = inner.call(operator.add, start, k)
            inner.effect("insert", stmt.base, at, inner.item(items, k))

        lines.loop(lines.call(len, items, base="_n"), put)
        return True

    def is_active(self, atom: ir.Atom) -> bool:
        return is_active_kind(self.kind(atom))

    def places(self, kind: List, index: ir.Slice) -> range | None:
        """The places of a slice of a list of known length."""
        bounds = [b.value for b in ir.parts(index) if isinstance(b, ir.Const)]
        if kind.items is None or len(bounds) < 3:
            return None
        return range(len(kind.items))[slice(*bounds)]

    # --- operators ---

    def operator(
        self, call: ir.Call, target: ir.Name, lines: Builder, made: Mapping[str, ir.Call]
    ) -> bool:
        """`xs + ys`, `xs * n`, `d | e`, and their forms in place."""
        if len(call.args) != 2:  # an operator of a table, in a branch for others
            return False
        one, two = call.args
        kinds = self.kind(one), self.kind(two)
        if not any(map(is_container, kinds)):
            return False
        augmented = (call.text or "").endswith("=")
        if not any(map(is_active_kind, kinds)) and not augmented:
            return False
        if call.fn is operator.mul:
            if not is_container(kinds[0]):
                one, two = two, one
            if meets_lists(call.fn, self.kind(two)):
                return False
            return self.repeated(one, two, target, augmented, lines, made)
        if not augmented:
            return call.fn is operator.or_ and merged(call, target, lines, self.kinds, made)
        if isinstance(kinds[0], Tuple):
            lines.assign(target, replace(call, text=None))
            return True
        assert isinstance(one, ir.Name)
        if isinstance(kinds[0], List):
            self.appended(one, two, lines, made)
        else:
            check_merges(one, call, kinds[0], lines)
            updated(one, two, lines, self.kinds, made)
        if target != one:
            lines.assign(target, one)
        return True

    def repeated(
        self,
        items: ir.Atom,
        count: ir.Atom,
        target: ir.Name,
        augmented: bool,
        lines: Builder,
        made: Mapping[str, ir.Call],
    ) -> bool:
        """`xs * n`."""
        kind = self.kind(items)
        if augmented and isinstance(kind, List):
            raise UnsupportedError(
                "`*=` repeats a list of active values in place",
                lines.loc,
                remedy="Bind a new list: `xs = xs * n`.",
            )
        if not isinstance(self.kind(count), Scalar):
            count = lines.call(repeats, count, *place_of(lines.loc))
        known = self.display(items, made)
        whole = lines.fresh() if isinstance(kind, Tuple) else target
        if ir.Name(target.id) == items:
            whole = lines.fresh()
        lines.assign(whole, ir.Call(ir.make_list))

        def more(inner: Builder, _: ir.Name) -> None:
            for atom in known or ():
                inner.effect("append", whole, atom)
            if known is None:
                inner.each(items, lambda last, v: last.effect("append", whole, v))

        lines.loop(count, more)
        if isinstance(kind, Tuple):
            lines.assign(target, ir.Call(tuple, (whole,), text="tuple"))
        elif whole != target:
            lines.assign(target, whole)
        return True


def _forget(made: dict[str, ir.Call], stmt: ir.Stmt) -> None:
    """A display that a statement reads may change there, or one of its items be bound anew."""
    new = ir.bound((stmt,))
    touched = ir.used((stmt,)) | new
    for name, call in [*made.items()]:
        if name in touched or new & set(ir.names(call)):
            del made[name]


def _pop(base: ir.Atom, *place: ir.Atom) -> ir.Call:
    """`base.pop()`."""
    return ir.Call(ir.Method("pop"), (base, *place))


_Write = Callable[[_Plain, ir.Call, ir.Name | None, Builder, Mapping[str, ir.Call]], bool]

_LIST_METHODS: dict[str, _Write] = {
    "extend": _Plain.extend,
    "insert": _Plain.insert,
    "pop": _Plain.pop,
    "clear": _Plain.clear,
    "remove": _Plain.remove,
    "sort": _Plain.sort,
}


# --- slices written out, iterators as lists, loops by index, containers that change plainly ------


def plain_containers(typed: Typed) -> Typed:
    """The function with iterators as lists, loops by index, and containers changed plainly."""
    typed = typed.by(written_slices, typed.kinds)
    typed = typed.by(without_flat, typed.kinds)
    typed = typed.by(listed_iterators, typed.kinds)
    # `min(zip(xs, ys))` takes the list that has just been made.
    typed = typed.by(listed_iterators, typed.kinds)
    typed = typed.by(iterated, typed.kinds, typed.params)
    return typed.by(plain_methods, typed.kinds)
