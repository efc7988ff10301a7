"""Operators in place, resolved by what they write into, and loops whose targets only they bind.

Takes a lowered function; brings it into the form that the analyses expect.  `prepare` comes before
`webs`: no loop's body binds the loop's target, and no name that a `while` condition binds is read
outside it; `y += x` on a variable is a new value of it, in the role of an operator in place.
`inplace` comes after the first analysis of kinds: operators in place on numbers and on arrays that
no other name shares are plain assignments; `*=` and its like on parts of arrays are a read, an
operation and a store; `r = xs.append(v)` is an append, and None.

`xs[i] += v` where `xs[i]` is an array writes into the array that the container holds.  Storing a
new array instead is the same as long as no other name and no other place holds that array: this is
what `shared_elements` asks.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Set

import numpy as np

from srcdiff import ir
from srcdiff.analysis.facts import sampled
from srcdiff.analysis.links import Link, groups, in_place, is_copy, is_marked
from srcdiff.analysis.liveness import live_after
from srcdiff.analysis.points_to import PointsTo
from srcdiff.errors import TransformError, refused
from srcdiff.ir.builder import Rewriter
from srcdiff.ir.frozen import replace
from srcdiff.kinds.calls import atom_kind, kind_of_call
from srcdiff.primitives.effects import mutated_args, returns_nothing
from srcdiff.primitives.operation import op_of
from srcdiff.primitives.ops import Op, is_op
from srcdiff.primitives.views import is_array, is_reshaping


def shared_elements(function: ir.Function, kinds: ir.Kinds) -> frozenset[int]:
    """The identities of operators in place on elements that are arrays and held elsewhere too.

    Raises:
        UnsupportedError: an element may be held elsewhere, and be a number or an array.
    """
    # A generated text writes into no array that another of its names holds.
    known = sampled(function, kinds) and not function.loc.file.startswith(ir.GENERATED)
    device = function.target.on_device
    stores = [s for s in ir.walk(function) if _is_store(s, kinds, known, device)]
    memory = PointsTo.of(function, kinds)
    links = [k for k in memory.links if not _takes_out(k)]
    # `b *= y` on an array gives the array that it was.
    links += [k for k in memory.marks if not ir.is_scalar(kinds.get(k.target, ir.UNKNOWN))]
    found: set[int] = set()
    for stmt in stores:
        assert isinstance(stmt, ir.AugAssign)
        other = _other_holder(stmt, links, function, kinds)
        if other is not None and not is_array(_element(stmt, kinds, device)):
            raise _unclear(stmt, other)
        if other is not None:
            found.add(id(stmt))
    return frozenset(found)


def _unclear(stmt: ir.AugAssign, other: str) -> TransformError:
    """The refusal of an element that may be a number or an array."""
    also = "another place" if ir.is_temporary(other) else ir.said(other)
    return refused(
        "memory.element", stmt.loc, op=stmt.op, container=ir.said(stmt.base.id), other=also
    )


def _element(stmt: ir.AugAssign, kinds: ir.Kinds, device: bool) -> ir.Kind:
    """The kind of the element that a store is about."""
    assert stmt.index is not None
    return kind_of_call(ir.Call(operator.getitem, (stmt.base, stmt.index)), kinds, device)


def _is_store(stmt: ir.Stmt, kinds: ir.Kinds, known: bool, device: bool) -> bool:
    """Whether a statement is an operator in place on an element that may be an array."""
    if not isinstance(stmt, ir.AugAssign) or stmt.index is None:
        return False
    kind = kinds.get(stmt.base.id, ir.UNKNOWN)
    kind = ir.sure(kind) if known else kind
    if not isinstance(kind, (ir.List, ir.Dict)) or ir.is_scalar(_element(stmt, kinds, device)):
        return False
    return any(ir.is_mutable(k) or type(k) is ir.Tuple for k in ir.contents(kind))


def _takes_out(link: Link) -> bool:
    """Whether a statement takes an element whose place in the container is given to another one."""
    call = ir.call_of(link.stmt)
    return is_op(call, Op.GETITEM) and any(_replaces(s, call, link) for s in link.rest[:2])


def _replaces(stmt: ir.Stmt, item: ir.Call, link: Link) -> bool:
    """Whether a statement stores something else where an item was taken."""
    if not isinstance(stmt, ir.SetItem):
        return False
    same = (stmt.base, stmt.index) == item.args
    return same and link.target not in ir.names(stmt.value)


def _other_holder(
    stmt: ir.AugAssign, links: list[Link], function: ir.Function, kinds: ir.Kinds
) -> str | None:
    """A name or place that may hold an array of the container too, None if there is none."""
    near = groups(links).with_all(stmt.base.id)
    params = {p.name for p in function.params}
    taken = {k.target for k in links if k.how == "element"}
    same = groups(k for k in links if k.how in ("alias", "view", "permute"))
    for link in links:
        if link.target in near and link.how == "stored":
            array = link.source not in kinds or not ir.is_container(kinds[link.source])
            # What is stored, and what it is a view of.
            whole = same.with_all(link.source)
            if ir.reads_of(link.stmt).count(link.source) > 1 or whole & taken:
                return link.source
            if whole & live_after(function, link.stmt) or (array and link.source in params):
                return link.source
    live = live_after(function, stmt)
    for name in sorted(near & live):
        if name not in kinds or not ir.is_container(kinds[name]):
            return name
    return _copy_of(stmt.base.id, links, live)


def _copy_of(name: str, links: list[Link], live: Set[str]) -> str | None:
    """A live container that was made of the items of another one, or that one, None if none is."""
    made = [k for k in links if k.how == "element" and is_copy(k.stmt)]
    same = groups(made + [k for k in links if k.how == "alias"])
    near = same.with_all(name)
    if near.isdisjoint(k.target for k in made):
        return None
    return min(near & live - {name}, default=None)


# --- bring a lowered function into the form that the analyses expect -----------------------------


def prepare(function: ir.Function) -> ir.Function:
    """The function with loop targets that only the loop binds, and plain `while` conditions."""
    fresh = ir.Fresh(ir.all_names(function))
    mentioned = ir.mention_counts(function)
    return ir.replaced_in(function, lambda s: _prepared(s, fresh, mentioned))


def _prepared(stmt: ir.Stmt, fresh: ir.Fresh, mentioned: Counter[str]) -> ir.Stmt | ir.Block:
    if type(stmt) is ir.For:  # its target is bound by nobody else
        return _apart(stmt, fresh) if stmt.target.id in ir.bound(stmt.body) else stmt
    if type(stmt) is ir.While:
        return _rotated(stmt, fresh, mentioned)
    made = ir.call_of(stmt)
    if is_op(made, Op.SETITEM) and len(made.args) == 3 and type(made.args[0]) is ir.Name:
        store = ir.SetItem(*made.args, loc=stmt.loc)  # type: ignore[arg-type]
        return (store, *(ir.Assign(ir.Name(n), ir.NONE, stmt.loc) for n in ir.writes(stmt)))
    if type(stmt) is ir.AugAssign and stmt.index is None:
        call = ir.Call(ir.OPERATORS[stmt.op], (stmt.base, stmt.value), role=ir.Role.IN_PLACE)
        return ir.Assign(stmt.base, call, stmt.loc)
    if type(stmt) is ir.Effect and is_op(stmt.rhs, Op.POP):
        return ir.Assign(fresh("_gone"), stmt.rhs, stmt.loc)
    return stmt


def _apart(stmt: ir.For, fresh: ir.Fresh) -> ir.For:
    """A loop with a counter of its own: `for _i in ...: i = _i; ...`."""
    first = stmt.body[0] if stmt.body else None
    if type(first) is ir.Assign and first.rhs == stmt.target:
        rest = stmt.body[1:]
        if stmt.target.id not in ir.used(rest) | ir.bound(rest):
            return stmt  # it has one
    target = fresh("_" + stmt.target.id)
    copy = ir.Assign(stmt.target, target, stmt.loc)
    return replace(stmt, target=target, body=(copy, *stmt.body))


def _rotated(stmt: ir.While, fresh: ir.Fresh, mentioned: Counter[str]) -> ir.Block:
    """A `while` whose condition does more than to decide evaluates it in its body.

    It binds names that are read elsewhere, or writes into memory.
    """
    inside = ir.mention_counts((replace(stmt, body=(), stop=None),))
    decides = all(inside[n] == mentioned[n] for n in ir.bound(stmt.cond))
    if decides and not any(map(_writes, ir.walk(stmt.cond))):
        return (stmt,)
    test = fresh("_go")
    check = (*stmt.cond, ir.Assign(test, stmt.test, stmt.loc))
    body = (*stmt.body, *check)
    if stmt.stop is not None:
        no_stop = fresh("_on")
        ask = ir.Assign(no_stop, ir.Call(operator.not_, (stmt.stop,)), stmt.loc)
        stopped = (ir.Assign(test, ir.Const(False), stmt.loc),)
        body = (*stmt.body, ask, ir.If(no_stop, check, stopped, stmt.loc))
    return (*check, ir.While((), test, body, None, stmt.loc))


def _writes(stmt: ir.Stmt) -> bool:
    """Whether a statement itself may write into memory."""
    call = ir.call_of(stmt)
    written = call is not None and bool(mutated_args(call))
    return written or is_marked(call) or isinstance(stmt, ir.Store)


def inplace(
    function: ir.Function, kinds: ir.Kinds, lent: frozenset[str] = frozenset()
) -> ir.Function:
    """The function with operators in place resolved by the kinds of what they write into.

    What is written into the parameters `lent` is seen by the caller.
    """
    held = shared_elements(function, kinds)
    new = _InPlace(function, kinds, lent, held).function(function)
    return _one_name(new, _in_place_pairs(function))


def _in_place_pairs(function: ir.Function) -> frozenset[tuple[str, str]]:
    """The names of a variable before and after an operator in place, parameters left alone."""
    params = {p.name for p in function.params}
    pairs = ((k.target, k.source) for k in in_place(function))
    return frozenset(pair for pair in pairs if params.isdisjoint(pair))


def _one_name(function: ir.Function, pairs: frozenset[tuple[str, str]]) -> ir.Function:
    """Where an array was written in place the variable keeps its name."""
    new: dict[str, str] = {}
    names: dict[str, frozenset[str]] = {}

    def first(name: str) -> str:
        while name in new:
            name = new[name]
        return name

    for stmt in ir.walk(function):
        if type(stmt) is ir.Assign and type(stmt.rhs) is ir.Name:
            one, two = first(stmt.target.id), first(stmt.rhs.id)
            if (stmt.target.id, stmt.rhs.id) in pairs and one != two:
                together = names.get(one, frozenset({one})) | names.get(two, frozenset({two}))
                if not _in_the_way(together, function):
                    new[one], names[two] = two, together
    if not new:
        return function
    renamed = ir.rename(function.body, {n: first(n) for n in new})
    left = ir.replaced(renamed, lambda s: () if type(s) is ir.Assign and s.rhs == s.target else s)
    return ir.rebuilt(function, body=left)


def _in_the_way(names: frozenset[str], function: ir.Function) -> bool:
    """Whether one of the names is bound while another one is read later (`a, x = x, a`)."""
    for stmt in ir.walk(function):
        bound = names.intersection(ir.writes(stmt))
        if bound:
            copied = type(stmt) is ir.Assign and type(stmt.rhs) is ir.Name
            same = ir.reads(stmt) if copied else ()
            if live_after(function, stmt) & (names - bound).difference(same):
                return True
    return False


def reshaped_names(function: ir.Function) -> frozenset[str]:
    """The variables that a function reshapes."""
    made = (s for s in ir.walk(function) if type(s) is ir.Assign)
    return frozenset(n for s in made if is_reshaping(s.rhs) for n in ir.reads(s))


class _InPlace(Rewriter):
    """The walk; `shared` are names with others of their memory, `held` stores into elements."""

    def __init__(
        self, function: ir.Function, kinds: ir.Kinds, lent: frozenset[str], held: frozenset[int]
    ) -> None:
        super().__init__(ir.Fresh(ir.all_names(function)))
        self.whole, self.kinds, self.held = function, kinds, held
        self.memory = PointsTo.of(function, kinds)
        self.shared = self.memory.linked(lent)
        self.kept = lent.union(p.name for p in function.params)
        self.device = function.target.on_device
        self.reshaped = reshaped_names(function)

    def stmt(self, stmt: ir.Stmt) -> ir.Stmt | ir.Block:
        """A statement without operators in place that mean one thing or another."""
        if type(stmt) is ir.AugAssign:
            if id(stmt) in self.held:
                return self.element(stmt)
            return stmt if stmt.index is None else self.in_item(stmt, stmt.index, stmt.op)
        if type(stmt) is ir.Assign and returns_nothing(stmt.rhs, self.kinds):
            assert type(stmt.rhs) is ir.Call
            return (ir.Effect(stmt.rhs, stmt.loc), ir.Assign(stmt.target, ir.NONE, stmt.loc))
        if type(stmt) is ir.Assign and is_marked(stmt.rhs):
            return self.resolved(stmt, stmt.rhs)
        if type(stmt) is ir.For and not _is_counter(self.kinds.get(stmt.target.id)):
            stmt = _apart(stmt, self.fresh)
        return self.inside(stmt)

    def resolved(self, stmt: ir.Assign, call: ir.Call) -> ir.Stmt | ir.Block:
        """`y op= x`: `y = y op x` of a number, or an array that nobody shares; else in place."""
        base, value = call.args
        assert type(base) is ir.Name
        op = ir.SYMBOLS[call.fn]
        kind = ir.sure(self.kinds.get(base.id, ir.UNKNOWN))
        if ir.is_container(kind):
            raise refused("memory.container_operator", stmt.loc, op=op, name=ir.said(base.id))
        # In place an array keeps its layout, on which it depends what is a view of it.
        reshaped = stmt.target.id in self.reshaped
        known = type(value) is not ir.Name or ir.is_numeric(
            self.kinds.get(value.id, ir.UNKNOWN)
        )
        alone = base.id not in self.shared and not reshaped
        # On a device what is computed of an array without axes is one.
        alone = alone and (self.device or not is_array(kind) or bool(kind.dims))
        alone = alone and (known or not is_array(kind))
        if alone or (kind is not None and ir.is_scalar(kind)):
            return self.rebound(stmt, call, kind)
        if not is_array(kind) and not reshaped and self.is_last(stmt, base):
            return self.rebound(stmt, call, kind)
        if not is_array(kind):
            name = ir.said(base.id).strip("`")
            raise refused("memory.in_place_or_new", stmt.loc, op=op, name=name)
        self.write(base, value, op)
        return () if stmt.target == base else ir.Assign(stmt.target, base, stmt.loc)

    def is_last(self, stmt: ir.Assign, base: ir.Name) -> bool:
        """Whether nobody reads the memory of `base` by another name once it is written into."""
        near = self.memory.near.with_all(base.id)
        live = live_after(self.whole, stmt)
        return near.isdisjoint(self.kept) and not any(n in live for n in near - {stmt.target.id})

    def write(self, base: ir.Name, value: ir.Atom, op: str) -> None:
        """`base op= value` in the memory of an array."""
        if op in _STORED:
            self.out.append(ir.AugAssign(base, None, value, op, loc=self.loc))
        else:
            self.store(base, ir.Const(...), self.apply(ir.OPERATORS[op], base, value))

    def element(self, stmt: ir.AugAssign) -> ir.Stmt:
        """`xs[i] op= v` in the memory of the array that is `xs[i]`."""
        assert stmt.index is not None
        held = self.item(stmt.base, stmt.index)
        self.write(held, stmt.value, stmt.op)
        return ir.SetItem(stmt.base, stmt.index, held, loc=stmt.loc)

    def rebound(self, stmt: ir.Assign, call: ir.Call, kind: ir.Kind | None) -> ir.Stmt:
        """`y op= x` on memory that nobody shares: `y = y op x`, in the dtype of y."""
        if type(kind) is not ir.Array or kind.maybe_scalar:
            return stmt
        if not _changes_dtype(call.args[1], kind, self.kinds):
            return stmt
        dtype = ir.Ref(f"np.{kind.dtype}", getattr(np, str(kind.dtype)))
        wide = self.temp(replace(call, text=None, role=None))
        return ir.Assign(stmt.target, ir.Call(ir.Method("astype"), (wide, dtype)), stmt.loc)

    def in_item(self, stmt: ir.AugAssign, index: ir.Atom, op: str) -> ir.Stmt:
        """`x[i] op= v`: kept where its adjoint is simple, else a read, an operation and a store."""
        kind = ir.sure(self.kinds.get(stmt.base.id, ir.UNKNOWN))
        kept = (
            is_array(kind) if op in ("*", "/") else op in ("+", "-") and not ir.is_container(kind)
        )
        if kept and _distinct(index, self.kinds):
            return stmt
        result = self.apply(ir.OPERATORS[op], self.item(stmt.base, index), stmt.value)
        return ir.SetItem(stmt.base, index, result, loc=stmt.loc)


def _is_counter(kind: ir.Kind | None) -> bool:
    """Whether a loop's target is nothing but a whole number; else it may have an adjoint."""
    return type(kind) is ir.Scalar and str(kind.dtype).startswith("int")


_STORED = ("+", "-", "*", "/")
"""The operators of stores that have rules."""


def _changes_dtype(atom: ir.Atom, kind: ir.Array, kinds: ir.Kinds) -> bool:
    """Whether `y op x` may have another dtype than y, where that of y is known."""
    value = kinds.get(atom.id) if type(atom) is ir.Name else None
    if kind.dtype is None or kind.dtype == "float64":
        return kind.dtype is not None and str(getattr(value, "dtype", "")).startswith("complex")
    return not (
        type(atom) is ir.Const
        or (type(value) is ir.Scalar and value.python)
        or (value is not None and getattr(value, "dtype", None) == kind.dtype)
    )


def _distinct(index: ir.Atom, kinds: ir.Kinds) -> bool:
    """Whether an index surely names no element twice."""
    items = index.items if type(index) is ir.Tup else (index,)
    for item in items:
        if type(item) is ir.Name:
            kind = kinds.get(item.id)
            integer = type(kind) is ir.Scalar and str(kind.dtype).startswith(("int", "uint"))
            plain = integer or type(kind) is ir.SliceKind
            if not plain and getattr(kind, "dtype", None) != "bool":
                return False
        elif not isinstance(item, (ir.Slice, ir.Const)):
            return False
    return True


# --- methods of objects of which nobody knows what they do ---------------------------------------


def with_foreign_methods(function: ir.Function, kinds: ir.Kinds) -> ir.Function:
    """The function with the methods of such objects told from those of arrays and containers."""
    arrays = _made_by_numpy(function)

    def stmt(s: ir.Stmt) -> ir.Stmt:
        call = ir.call_of(s)
        if call is None or not call.args or type(call.fn) is not ir.Method:
            return s
        known = arrays.issuperset(ir.names(call.args[0])) and bool(ir.names(call.args[0]))
        if known or not _is_foreign(call.args[0], kinds):
            return s
        assert isinstance(s, (ir.Assign, ir.Effect))
        return ir.with_rhs(s, replace(call, fn=replace(call.fn, foreign=True)))

    return ir.replaced_in(function, stmt)


def _made_by_numpy(function: ir.Function) -> frozenset[str]:
    """The names that calls of NumPy's functions alone bind, as in a branch that is never taken."""
    made = [(n, ir.call_of(s)) for s in ir.walk(function) for n in ir.writes(s)]
    others = {n for n, call in made if call is None or not _is_numpy(call.fn)}
    return frozenset(n for n, _ in made) - others - {p.name for p in function.params}


def _is_numpy(callee: ir.Callee) -> bool:
    """Whether a callee is a function of NumPy that is known to do nothing but compute."""
    found = op_of(callee)
    return found.probed and found.package == "numpy"


def _is_foreign(atom: ir.Atom, kinds: ir.Kinds) -> bool:
    """Whether an atom may be an object of a class of which nothing is known."""
    kind = atom_kind(atom, kinds)
    known = isinstance(kind, ir.Object) and kind.type.startswith(("numpy.", "scipy.", "dtype"))
    return kind == ir.UNKNOWN or (isinstance(kind, ir.Object) and not known)
