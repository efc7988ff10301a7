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
from collections.abc import Iterable, Iterator
from itertools import groupby

from srcdiff import ir
from srcdiff.errors import refused
from srcdiff.ir.builder import Builder, place_of
from srcdiff.ir.frozen import replace
from srcdiff.kinds.elementwise import meets_lists
from srcdiff.kinds.interpreter import Typed
from srcdiff.normalize.containers.expand import Definitions, display
from srcdiff.normalize.containers.indexing import without_flat, written_slices
from srcdiff.normalize.iteration import check_apart, iterated, used_up_at_once
from srcdiff.primitives.ops import Op, is_op, which_op
from srcdiff.runtime.sequences import repeats

# --- iterators as the lists of what they give ----------------------------------------------------


def listed_iterators(function: ir.Function, kinds: ir.Kinds) -> ir.Function:
    """The function with lists in the place of iterators over active values."""
    return ir.replaced_in(function, _Iterators(function, kinds).stmt)


class _Iterators(Definitions):
    """The pass over the statements of a function."""

    def stmt(self, stmt: ir.Stmt) -> ir.Stmt | ir.Block:
        """A statement, or the list that stands for the iterator that it makes."""
        call = stmt.rhs if type(stmt) is ir.Assign else None
        if type(call) is not ir.Call or type(stmt) is not ir.Assign or not call.args:
            return stmt
        name = self.name(call)
        if name is None or not self.is_active((*call.args, *(v for _, v in call.kwargs))):
            return stmt
        if not is_op(call, *_LASTING) and not used_up_at_once(stmt.target.id, self.whole):
            return stmt
        if any(type(a) is ir.Star for a in call.args):
            if not is_op(call, Op.ZIP) or len(call.args) > 1 or call.kwargs:
                return stmt
            rows = call.args[0].value  # type: ignore[union-attr]
            name, call = "columns", replace(call, args=(rows, *_width(self.kind(rows))))
        if is_op(call, Op.MAX, Op.MIN):
            items = call.args[0] if len(call.args) == 1 else ir.Tup(call.args)
            call = replace(call, args=(items,))
            name = self.extreme(call, name)
        if is_op(call, Op.ZIP):
            check_apart(call.args, self.whole, self.kinds, stmt.loc)
        lines = Builder(self.fresh, stmt.loc)
        listed = name is not None and self.write(name, call, stmt.target, lines)
        return tuple(lines.out) if listed else stmt

    def name(self, call: ir.Call) -> str | None:
        """What a function, or a method of a dict, does."""
        name, kind = _ITERATORS.get(which_op(call)), self.kind(call.args[0])
        plain = type(call.fn) is not ir.Method or type(kind) is ir.Dict and kind.cls is None
        return name if plain else None

    def extreme(self, call: ir.Call, name: str) -> str | None:
        """What `max` and `min` do: of what may be empty, and of lists and tuples."""
        if [k for k, _ in call.kwargs] == ["default"]:
            return f"{name}_or"
        kind = self.kind(call.args[0])
        rows = ir.inside(kind) if isinstance(kind, (ir.List, ir.Tuple)) else ()
        found = not call.kwargs and any(isinstance(ir.sure(k), (ir.List, ir.Tuple)) for k in rows)
        return name if found else None


def _width(rows: ir.Kind) -> tuple[ir.Const, ...]:
    """The length of all rows, where it is known that there are some of one length."""
    known = ir.inside(rows) if isinstance(rows, (ir.List, ir.Tuple)) else ()
    lengths = {len(getattr(k, "items", None) or ()) for k in known}
    return (ir.Const(*lengths),) if len(lengths) == 1 and 0 not in lengths else ()


_ITERATORS: dict[Op | None, str] = {
    Op.ZIP: "zipped", Op.ENUMERATE: "enumerated", Op.REVERSED: "backwards",
    Op.SORTED: "sorted_items", Op.SUM: "total", Op.MAX: "greatest", Op.MIN: "least",
    Op.CHAIN: "chained", Op.CHAIN_FROM_ITERABLE: "flattened", Op.PAIRWISE: "in_pairs",
    Op.ISLICE: "part_of", Op.REPEAT: "again", Op.COMBINATIONS: "combined",
    Op.PERMUTATIONS: "permuted", Op.PRODUCT: "products", Op.VALUES: "values", Op.ITEMS: "pairs_of",
}  # fmt: skip
_LASTING = (Op.SORTED, Op.MAX, Op.MIN, Op.SUM)
"""These give what lasts: a list, a number."""

# --- methods and operators of lists, tuples and dicts, as the few that have adjoints -------------


def plain_methods(function: ir.Function, kinds: ir.Kinds) -> ir.Function:
    """The function with containers of active values changed in plain ways only."""
    return ir.rebuilt(function, body=_Plain(function, kinds).block(function.body))


class _Plain(Definitions):
    """The pass over the blocks of a function."""

    made: dict[str, ir.Call]
    """Displays, as long as nobody can have changed them."""

    def block(self, block: ir.Block) -> ir.Block:
        """A block with plain methods only."""
        out: list[ir.Stmt] = []
        made: dict[str, ir.Call] = {}
        for stmt in block:
            stmt = ir.map_blocks(stmt, self.block)
            self.made = made
            lines = Builder(self.fresh, stmt.loc)
            done = self.stmt(stmt, lines)
            out += lines.out if done else [stmt]
            _forget(made, stmt)
            rhs = stmt.rhs if type(stmt) is ir.Assign else None
            if is_op(rhs, Op.MAKE_LIST, Op.MAKE_DICT):
                made[stmt.target.id] = rhs  # type: ignore[union-attr]
        return tuple(out)

    def stmt(self, stmt: ir.Stmt, lines: Builder) -> bool:
        """Write what stands for a statement; False if it may stay."""
        if type(stmt) is ir.SetItem:
            return self.slice_store(stmt, lines)
        call = ir.call_of(stmt)
        if call is None or not call.args and not call.kwargs:
            return False
        target = stmt.target if type(stmt) is ir.Assign else None
        if is_op(call, Op.DELITEM):
            _check_step(call.args[1], lines)
            return self.write("delete", call, None, lines)
        if target is not None and is_op(call, Op.MAKE_LIST):
            return self.joined(call, target, lines)
        if target is not None and is_op(call, Op.DICT):
            return self.dict_made(call, target, lines)
        if target is not None and is_op(call, Op.ADD, Op.MUL, Op.OR):
            return self.operator(call, target, lines)
        if type(call.fn) is ir.Method and type(call.args[0]) is ir.Name:
            return self.method(call, target, lines)
        return False

    def method(self, call: ir.Call, target: ir.Name | None, lines: Builder) -> bool:
        """A method of a list or dict that may hold active values."""
        assert type(call.fn) is ir.Method and type(call.args[0]) is ir.Name
        base, given = call.args[0], call.args[1:]
        kind, name = self.kind(base), call.fn.name
        if not self.is_active((*call.args, *(v for _, v in call.kwargs))):
            return False
        if type(kind) is ir.List:
            known = name in ("extend", "insert", "pop", "remove", "clear", "sort")
            return known and self.write(name, call, target, lines, self.made)
        if type(kind) is not ir.Dict or kind.cls is not None:
            return False
        if name == "update":
            self.update(base, _sources(given, call), lines)
            return True
        absent = name in ("get", "pop") and given and _lacks(kind, given[0])
        definition = "lacking" if absent else _DICT_METHODS.get(name)
        return definition is not None and self.write(definition, call, target, lines)

    # --- lists ---

    def joined(self, call: ir.Call, target: ir.Name, lines: Builder) -> bool:
        """Write `[a, *xs]` as a sum; False where there is no `*`, or nothing has a derivative."""
        if not any(type(a) is ir.Star for a in call.args) or not self.is_active(call.args):
            return False
        whole, *rest = self.parts(call.args, lines)
        for part in rest[:-1]:
            whole = lines.call(operator.add, whole, part)
        last = ir.Call(operator.add, (whole, rest[-1])) if rest else None
        lines.assign(target, last or ir.Call(list, (whole,), text="list"))
        return True

    def parts(self, items: tuple[ir.Atom, ...], lines: Builder) -> Iterator[ir.Atom]:
        """The lists that a display joins."""
        for starred, group in groupby(items, lambda a: type(a) is ir.Star):
            if not starred:
                yield lines.temp(ir.Call(ir.make_list, tuple(group)))
                continue
            for atom in group:
                assert type(atom) is ir.Star
                known = type(self.kind(atom)) is ir.List
                yield atom.value if known else lines.call(list, atom.value)

    def slice_store(self, stmt: ir.SetItem, lines: Builder) -> bool:
        """`xs[a:b] = ys`: the old items are taken out, the new ones inserted."""
        kind = self.kind(stmt.base)
        if type(kind) is not ir.List or type(stmt.index) is not ir.Slice:
            return False
        if not self.is_active((stmt.base, stmt.value)):
            return False
        known = display(stmt.value, self.made)
        places = _places(kind, stmt.index)
        if known is not None and places is not None and len(places) == len(known):
            for k, atom in zip(places, known, strict=True):
                lines.store(stmt.base, ir.Const(k), atom)
            return True
        _check_step(stmt.index, lines)
        call = ir.Call(list, (stmt.base, stmt.index, stmt.value))
        return self.write("put", call, None, lines)

    # --- dicts ---

    def update(self, base: ir.Name, others: Iterable[ir.Atom], lines: Builder) -> None:
        """Every item of other dicts, or every pair of sequences, is stored."""
        for other in others:
            shown = self.made.get(other.id) if type(other) is ir.Name else None
            if is_op(shown, Op.MAKE_DICT):
                pairs = zip(shown.args[::2], shown.args[1::2], strict=True)
                other = ir.Tup(tuple(map(ir.Tup, pairs)))
            self.write("update", ir.Call(dict, (base, other)), None, lines)

    def dict_made(self, call: ir.Call, target: ir.Name, lines: Builder) -> bool:
        """`dict(...)`: a copy of a dict, pairs, keywords."""
        if not self.is_active((*call.args, *(v for _, v in call.kwargs))):
            return False
        copied = any(type(self.kind(a)) is ir.Dict for a in call.args)
        if copied and not call.kwargs:
            return False
        if not call.args and all(k is not None for k, _ in call.kwargs):
            items = [a for k, v in call.kwargs for a in (ir.Const(k), v)]
            lines.assign(target, ir.Call(ir.make_dict, tuple(items)))
            return True
        start = ir.Call(dict, call.args, text="dict") if copied else ir.Call(ir.make_dict)
        return self.filled(start, _sources(() if copied else call.args, call), target, lines)

    def filled(
        self, start: ir.Call, others: tuple[ir.Atom, ...], target: ir.Name, lines: Builder
    ) -> bool:
        """A dict that is made and then filled, under another name if one of these is its own."""
        mine = target.id in (n for a in (*start.args, *others) for n in ir.names(a))
        whole = lines.fresh() if mine else target
        lines.assign(whole, start)
        self.update(whole, others, lines)
        if mine:
            lines.assign(target, whole)
        return True

    # --- operators ---

    def operator(self, call: ir.Call, target: ir.Name, lines: Builder) -> bool:
        """`xs + ys`, `xs * n`, `d | e`, and their forms in place."""
        if len(call.args) != 2:  # an operator of a table, in a branch for others
            return False
        one, two = call.args
        kind = self.kind(one)
        if not ir.is_container(kind) and not ir.is_container(self.kind(two)):
            return False
        augmented = call.role is ir.Role.IN_PLACE
        if not self.is_active(call.args) and not augmented:
            return False
        if is_op(call, Op.MUL):
            if not ir.is_container(kind):
                one, two = two, one
            if meets_lists(call.fn, self.kind(two)):
                return False
            return self.repeated(one, two, target, augmented, lines)
        if not augmented:
            start = ir.Call(dict, (one,), text="dict")
            return is_op(call, Op.OR) and self.filled(start, (two,), target, lines)
        if type(kind) is ir.Tuple:
            lines.assign(target, replace(call, role=None))
            return True
        assert type(one) is ir.Name
        if type(kind) is ir.List:
            self.write("extend", ir.Call(list, (one, two)), None, lines, self.made)
        else:
            _check_merges(one, call, kind, lines)
            self.update(one, (two,), lines)
        if target != one:
            lines.assign(target, one)
        return True

    def repeated(
        self, items: ir.Atom, count: ir.Atom, target: ir.Name, augmented: bool, lines: Builder
    ) -> bool:
        """`xs * n`."""
        if augmented and type(self.kind(items)) is ir.List:
            raise refused("memory.repeated", lines.loc)
        if type(self.kind(count)) is not ir.Scalar:
            count = lines.call(repeats, count, *place_of(lines.loc))
        elif type(count) is ir.Const and count.value > _MANY:
            count = lines.temp(count)  # a loop stays one
        call = ir.Call(list, (items, count))
        if type(self.kind(items)) is ir.Tuple:
            whole = lines.fresh()
            self.write("repeated", call, whole, lines, self.made)
            lines.assign(target, ir.Call(tuple, (whole,), text="tuple"))
            return True
        return self.write("repeated", call, target, lines, self.made)


_MANY = 8
"""How often a display is repeated in the text at most."""


_DICT_METHODS = {
    "get": "get", "setdefault": "setdefault", "pop": "pop_key", "clear": "clear_dict",
}  # fmt: skip


def _check_step(index: ir.Atom, lines: Builder) -> None:
    """Refuse to change a part of a list that is not of one piece."""
    if type(index) is ir.Slice and index.step not in (ir.NONE, ir.Const(1)):
        raise refused("memory.slice_with_step", lines.loc)


def _places(kind: ir.List, index: ir.Slice) -> range | None:
    """The places of a slice of a list of known length."""
    bounds = [b.value for b in ir.parts(index) if type(b) is ir.Const]
    if kind.items is None or len(bounds) < 3:
        return None
    return range(len(kind.items))[slice(*bounds)]


def _sources(others: Iterable[ir.Atom], call: ir.Call) -> tuple[ir.Atom, ...]:
    """What a dict is filled from, and after it from the keywords of a call."""
    named = (v if k is None else ir.Tup((ir.Tup((ir.Const(k), v)),)) for k, v in call.kwargs)
    return (*others, *named)


def _check_merges(base: ir.Name, call: ir.Call, kind: ir.Kind, lines: Builder) -> None:
    """Refuse `xs += ys` where `xs` may be a list or an array for all that is known."""
    cls = ir.class_of(kind)
    if cls is not None:
        raise refused("memory.joined_object", lines.loc, cls=cls.__name__)
    if type(kind) is not ir.Dict or not is_op(call, Op.OR):
        raise refused("memory.joined_unknown", lines.loc, name=ir.said(base.id))


def _forget(made: dict[str, ir.Call], stmt: ir.Stmt) -> None:
    """A display that a statement reads may change there, or one of its items be bound anew."""
    new = ir.bound((stmt,))
    touched = ir.used((stmt,)) | new
    for name, call in [*made.items()]:
        if name in touched or new & set(ir.names(call)):
            del made[name]


def _lacks(kind: ir.Kind, key: ir.Atom) -> bool:
    """Whether a dict certainly never has a key: everything that may be stored in it is known."""
    if type(kind) is not ir.Dict or type(key) is not ir.Const:
        return False
    return kind.item is None and all(key.value != k for k, _ in kind.items)


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
