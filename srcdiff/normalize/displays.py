"""Lists and tuples that are written out, and only handed on or taken apart, are not made.

`displays` takes a function and returns it with `_t = [a, b]; z = np.stack(_t)` as
`z = np.stack((a, b))` where the function has a rule and `_t` is read there alone, so that the
adjoint goes to `a` and `b` themselves and not through a list.

Helpers return several values, and inlining them leaves tuples of which nobody sees more than the
items.  `apart` takes a function and returns it without such tuples: `t = (a, b); x = t[0]` becomes
`x = a`.  The invariant: between the place where a tuple was made and the places where it was read,
none of its items is bound again.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TypeVar

from srcdiff import ir
from srcdiff.ir.frozen import frozen, replace
from srcdiff.primitives.effects import ufunc_method
from srcdiff.primitives.operation import op_of
from srcdiff.primitives.ops import Op, is_op
from srcdiff.primitives.registry import lookup

_Rhs = TypeVar("_Rhs", ir.Tup, ir.Call)


def displays(function: ir.Function) -> ir.Function:
    """The function with list displays put into the calls that read them."""
    return ir.rebuilt(function, body=_with_displays(function.body, ir.use_counts(function)))


def returned(function: ir.Function) -> ir.Function:
    """The function with the tuple that it returns in its `return`, not in a variable before.

    Through a variable its items would seem to be one another.
    """
    before, last = function.body[:-1], function.body[-1]
    value = last.value if type(last) is ir.Return else None
    made = {s.target: (k, s.rhs) for k, s in enumerate(before) if type(s) is ir.Assign}
    count = ir.binding_counts(function, function.params, True)
    while type(value) is ir.Name and value in made and count[value.id] == 1:
        at, rhs = made[value]
        items = ir.names(rhs)
        if not isinstance(rhs, (ir.Name, ir.Tup)) or not ir.bound(before[at:]).isdisjoint(items):
            break
        value = rhs
    if type(value) is not ir.Tup:
        return function
    body = (*before, ir.Return(value, last.loc))
    return ir.rebuilt(function, body=ir.without(body, _copies(before) - ir.used(body)))


def _copies(block: ir.Block) -> frozenset[str]:
    """The names that a block binds to tuples and to other names."""
    plain = (s for s in block if type(s) is ir.Assign and isinstance(s.rhs, (ir.Name, ir.Tup)))
    return frozenset(s.target.id for s in plain)


def with_names(function: ir.Function) -> ir.Function:
    """The function with a name for every display that is indexed."""
    fresh = ir.Fresh(ir.all_names(function))

    def one(stmt: ir.Stmt) -> ir.Stmt | ir.Block:
        call = ir.call_of(stmt)
        if not is_op(call, Op.GETITEM) or type(call.args[0]) is not ir.Tup:
            return stmt
        display, index = call.args
        held = fresh()
        named = ir.rebuilt(stmt, rhs=replace(call, args=(held, index)))
        return (ir.Assign(held, display, stmt.loc), named)

    return ir.replaced_in(function, one)


def _with_displays(block: ir.Block, uses: Mapping[str, int]) -> ir.Block:
    """A block with its displays put where they are read."""
    known: dict[str, ir.Tup] = {}  # displays of which no item has been bound again
    tuples: dict[str, ir.Tup] = {}
    parts: dict[str, list[str]] = {}  # the displays inside of each
    gone: set[str] = set()
    out: list[ir.Stmt] = []
    for stmt in block:
        new = ir.map_blocks(stmt, lambda b: _with_displays(b, uses))
        if type(new) is ir.Assign:
            new = _with_tuples(new, tuples)
        call = ir.call_of(new)
        if isinstance(new, (ir.Assign, ir.Effect)) and call is not None:
            if takes_sequences(call):
                new = _put_in(new, _of_kind(call, known, parts), gone)
        known, tuples = _still(known, new), _still(tuples, new)
        name, tuple_ = _made(new) or ("", ir.Tup(()))
        if tuple_.items and name not in ir.names(tuple_):
            tuples[name] = tuple_
            if uses[name] == 1:
                known[name], parts[name] = tuple_, []
        if type(new) is ir.Assign and call is not None and _is_display(new.target, call, uses):
            args = call.args
            parts[new.target.id] = [n for n in ir.names(ir.Tup(args)) if n in known]
            known[new.target.id] = replace(_put(known, ir.Tup(args)), listed=True)
        out.append(new)
    for name in reversed(parts):
        gone.update(parts[name] if name in gone else ())
    return tuple(s for s in out if not (type(s) is ir.Assign and s.target.id in gone))


def _still(known: dict[str, ir.Tup], stmt: ir.Stmt) -> dict[str, ir.Tup]:
    """The displays that a statement leaves as they are; a number in `s += x` is another one."""
    if not known:
        return known
    after = ir.rebound((stmt,))
    return {n: t for n, t in known.items() if not after & {n, *ir.names(t)}}


def _with_tuples(stmt: ir.Assign, tuples: Mapping[str, ir.Tup]) -> ir.Assign:
    """`t = (a, b) + (c,)` as `t = (a, b, c)`."""
    call = stmt.rhs
    if not is_op(call, Op.ADD) or len(call.args) != 2:
        return stmt
    one, two = (tuples.get(a.id, a) if type(a) is ir.Name else a for a in call.args)
    if type(one) is ir.Tup and type(two) is ir.Tup:
        return replace(stmt, rhs=ir.Tup((*one.items, *two.items)))
    return stmt


def takes_sequences(call: ir.Call) -> bool:
    """Whether a list and a tuple of the same items mean the same to a callee.

    To an index, and so to `at` of ufuncs, a list is one of elements, a tuple one of axes; they
    cannot be joined or compared; a copy is what is copied.
    """
    if isinstance(call.fn, (ir.Method, ir.Attr, ir.Name, ir.Derived)):
        return False
    at = ufunc_method(call.fn) == "at"
    if at or is_op(call, Op.DEEP_COPY) or op_of(call.fn).package == "operator":
        return False
    if is_op(call, Op.MIN, Op.MAX) and len(call.args) > 1:
        return False
    rule = lookup(call.fn)
    return rule is not None and (rule.template or rule.definition) is not None


def _of_kind(
    call: ir.Call, known: Mapping[str, ir.Tup], parts: Mapping[str, list[str]]
) -> Mapping[str, ir.Tup]:
    """The displays that a callee may have: a list of lists is one of tuples to NumPy alone."""
    if op_of(call.fn).package != "builtins":
        return known
    return {name: display for name, display in known.items() if not parts.get(name)}


def _is_display(target: ir.Name, call: ir.Call, uses: Mapping[str, int]) -> bool:
    """Whether an assignment is a list display of variables and functions that is read once."""
    if not is_op(call, Op.MAKE_LIST) or uses[target.id] != 1 or target.id in ir.names(call):
        return False
    if any(type(a) is ir.Star for a in call.args):
        return False
    return any(ir.names(a) or (type(a) is ir.Ref and callable(a.value)) for a in call.args)


def _put(known: Mapping[str, ir.Tup], rhs: _Rhs) -> _Rhs:
    """A display or call with displays in the place of their names."""
    return ir.map_rhs(lambda name: known.get(name.id, name), rhs)  # type: ignore[return-value]


def _spelled(display: ir.Tup, call: ir.Call) -> ir.Tup:
    """A display as a list, as the user wrote it, for `np.array`; else as a tuple.

    Numba joins and stacks tuples alone, and takes no list of lists of whole numbers and others.
    """
    inner = any(type(i) is ir.Tup for i in display.items)
    if is_op(call, Op.ARRAY) and not inner:
        return display
    return _as_tuple(display)


def _as_tuple(display: ir.Tup) -> ir.Tup:
    """A display as a tuple, and those in it."""
    items = (_as_tuple(i) if type(i) is ir.Tup else i for i in display.items)
    return ir.Tup(tuple(items))


def _put_in(
    stmt: ir.Assign | ir.Effect, known: Mapping[str, ir.Tup], gone: set[str]
) -> ir.Assign | ir.Effect:
    """A call with displays for the names of lists; `gone` takes the names."""
    call = stmt.rhs
    assert type(call) is ir.Call
    target = ir.writes(stmt)
    chosen = {
        a.id: _spelled(known[a.id], call)
        for a in (*call.args, *(v for _, v in call.kwargs))
        if type(a) is ir.Name and a.id in known and not {*target} & {*ir.names(known[a.id])}
    }
    gone.update(chosen)
    return ir.with_rhs(stmt, _put(chosen, call))


# --- tuples that are only taken apart are not made: `t = (a, b); x = t[0]` becomes `x = a` -------


Tuples = Mapping[str, ir.Tup]


def apart(function: ir.Function) -> ir.Function:
    """The function without tuples that are only taken apart."""
    if not any(map(_made, ir.walk(function))):
        return function
    while True:
        made = _candidates(function.body)
        while made:
            lost: set[str] = set()
            body = _with_items(function.body, made, {}, lost)
            if not lost:
                break
            made = {n: t for n, t in made.items() if n not in lost}
        if not made:
            return function
        function = ir.rebuilt(function, body=body)


@frozen
class Read:
    """An assignment of an item at a fixed place; `of` is its role."""

    stmt: ir.Assign
    base: str
    index: int
    of: ir.Role | ir.Unpacks | None

    def is_inside(self, made: ir.Tup) -> bool:
        """Whether a tuple has the item, and as many items as an unpacking has names."""
        count = len(made.items)
        names = self.of if isinstance(self.of, ir.Unpacks) else ir.Unpacks(0, 0)
        least = names.before + (names.after or 0)
        exact = names.after is None
        fits = count == least if exact else count >= least
        return fits and -count <= self.index < count


def _candidates(body: ir.Block) -> Tuples:
    """The tuples that are made once, and of which nothing but items are read."""
    made: dict[str, ir.Tup] = {}
    items: list[Read] = []
    other: set[str] = set()
    for stmt in ir.walk(body):
        read, tuple_ = item_read(stmt), _made(stmt)
        if read is not None:
            items.append(read)
            other.update(ir.writes(stmt))
        elif tuple_ is not None and tuple_[0] not in made:
            made[tuple_[0]] = tuple_[1]
            other.update(ir.reads(stmt))
        else:
            other |= ir.itself_mentions(stmt)
    other.update(r.base for r in items if r.base in made and not r.is_inside(made[r.base]))
    return {n: t for n, t in made.items() if n not in other}


def _made(stmt: ir.Stmt) -> tuple[str, ir.Tup] | None:
    """The name and the tuple, if a statement makes one of so many items."""
    if type(stmt) is not ir.Assign or type(stmt.rhs) is not ir.Tup:
        return None
    known = not any(isinstance(i, (ir.Star, ir.Slice)) for i in stmt.rhs.items)
    return (stmt.target.id, stmt.rhs) if known else None


def item_read(stmt: ir.Stmt) -> Read | None:
    """The item that a statement reads, if it does no more than that."""
    rhs = stmt.rhs if type(stmt) is ir.Assign else None
    if type(stmt) is not ir.Assign or not is_op(rhs, Op.GETITEM):
        return None
    base, index = rhs.args
    if type(base) is not ir.Name or type(index) is not ir.Const:
        return None
    return Read(stmt, base.id, index.value, rhs.role) if type(index.value) is int else None


def _with_items(block: ir.Block, made: Tuples, known: Tuples, lost: set[str]) -> ir.Block:
    """A block with items for subscripts; tuples whose items may have changed are `lost`."""
    out: list[ir.Stmt] = []
    for stmt in block:
        read, tuple_ = item_read(stmt), _made(stmt)
        if tuple_ is not None and tuple_[0] in made:
            known = {**known, tuple_[0]: tuple_[1]}
            continue
        if read is not None and read.base in known:
            stmt = replace(read.stmt, rhs=known[read.base].items[read.index])
        elif read is not None and read.base in made:
            lost.add(read.base)
        after = ir.rebound((stmt,))
        known = {n: t for n, t in known.items() if not after & set(ir.names(t))}
        inside = functools.partial(_with_items, made=made, known=known, lost=lost)
        out.append(ir.map_blocks(stmt, inside))
    return tuple(out)
