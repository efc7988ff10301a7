"""Stores into one place, one after the other, as one.

Takes a finished function and the kinds of its names; gives it with `d[i] = v` for `d[i] = 0.0` and
`d[i] += v`, with `d[i] += u + v` for two stores that add, and with `d[i] /= v` for a store of
`d[i] / v`, in its generated part.  The invariant: what lies between two stores that become one
neither looks at the memory that they write into nor writes into what they read.
What is added to parts of an adjoint that is zeros comes behind what is added to the whole of it,
which it begins with then; nobody has looked at it in between.

`with_first_stores` is given a function in its last order, and gives it with `d[1:] = v` for what is
added first to a part of an array of zeros.  The invariant: the part has nothing but zeros before.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import TypeGuard

from srcdiff import ir
from srcdiff.analysis.liveness import liveness
from srcdiff.analysis.subscripts import by_axis
from srcdiff.ir.builder import Builder
from srcdiff.ir.frozen import frozen, replace
from srcdiff.kinds.calls import atom_kind, rhs_kind
from srcdiff.kinds.indexing import item_kind
from srcdiff.optimize.displays import NEAR, makes_zeros
from srcdiff.optimize.memory import Memory, Sharers
from srcdiff.optimize.rewrite import in_ours, mark_in
from srcdiff.optimize.shapes import are_alike
from srcdiff.primitives.effects import makes_new, only_computes, returns_view
from srcdiff.primitives.operation import op_of
from srcdiff.primitives.ops import Op, is_op
from srcdiff.primitives.views import is_array


def merge_stores(function: ir.Function, kinds: dict[str, ir.Kind]) -> ir.Function:
    """The function with one store for several; `kinds` gets those of new temporaries."""
    return in_ours(function, _Merger(function, kinds).block)


class _Merger:
    """The walk over the blocks."""

    def __init__(self, function: ir.Function, kinds: dict[str, ir.Kind]) -> None:
        self.function, self.kinds, self.device = function, kinds, function.target.on_device
        # Loops add to what they have stored; a sum would be an array more.
        self.joins = not (function.target.fused or function.target.kernels)
        self.memory = Memory.of(function, kinds)
        self.count = ir.use_counts(function)
        self.bound = ir.binding_counts(function, function.params)
        self.all_ours = mark_in(function.body) is not None  # that is walked over
        self.fresh = ir.Fresh(ir.all_names(function) | set(kinds))

    def block(self, block: ir.Block) -> ir.Block:
        """A block, and those in it, with one store for several."""
        out: list[ir.Stmt] = []
        for stmt in block:
            stmt = stmt if type(stmt) in ir.PLAIN else ir.map_blocks(stmt, self.block)
            if isinstance(stmt, ir.Store) and self.is_part(stmt):
                stmt = self.stored(stmt, out)
                if type(stmt) is ir.SetItem:
                    self.drop_covered(stmt, out)
                    if self.is_there(stmt, out):
                        continue
            elif self.joins and isinstance(stmt, (ir.Assign, ir.AugAssign)):
                stmt, parts = self.whole_first(stmt, out)
                out += (self.begun(stmt, out) or stmt, *parts)
                continue
            out.append(stmt)
        return tuple(out)

    def drop_covered(self, stmt: ir.SetItem, out: list[ir.Stmt]) -> None:
        """Leaves out stores before a store that writes over all that they wrote, unread."""
        if self.meets(stmt, (*ir.names(stmt.value), *ir.names(stmt.index))):
            return
        for k in range(len(out) - 1, max(-1, len(out) - 1 - NEAR), -1):
            other = out[k]
            if isinstance(other, ir.Store) and self.covers(stmt, other):
                if not self.memory.keeps(out[k + 1 :], ir.names(stmt.index)):
                    return
                del out[k]
            elif not self.is_apart(other, stmt):
                return

    def covers(self, stmt: ir.SetItem, other: ir.Store) -> bool:
        """Whether a store writes over all that another one writes into."""
        return other.base == stmt.base and self.is_part(other) and stmt.index in (
            other.index, ir.Const(...)
        )  # fmt: skip

    def begun(self, stmt: ir.Assign | ir.AugAssign, out: list[ir.Stmt]) -> ir.Stmt | None:
        """`d = u + v` for `d = u` and `d += v`, where nobody looks at `d` in between."""
        added = _added_to(stmt)
        if added is None:
            return None
        first, other = added.args
        assert type(first) is ir.Name
        places = range(len(out) - 1, max(-1, len(out) - 1 - NEAR), -1)
        found = next((k for k in places if first.id in ir.mentions(out[k])), -1)
        one = out[found] if found >= 0 else None
        if type(one) is not ir.Assign or one.target != first or not self.is_fresh(one):
            return None
        assert type(one.rhs) is ir.Call
        if is_op(one.rhs, Op.ADD, Op.SUB) or self.is_sum(other, out):
            return None
        term = self.spread_term(one, other, out[:found])
        wide = 0 if term is not None else self.width(one.rhs, out[:found])
        if wide + self.width(added, out) > _WIDTH:
            return None
        if not self.holds(self.tree_of(one.rhs, found, out), out):
            return None
        del out[found]
        builder = Builder(self.fresh, one.loc)
        term = builder.temp(one.rhs) if term is None else term
        self.note(builder.out)
        out += builder.out
        self.bound[first.id] -= type(stmt) is ir.Assign
        self.count[first.id] -= 1
        return ir.Assign(first, replace(added, args=(term, other)), stmt.loc)

    def spread_term(self, one: ir.Assign, other: ir.Atom, out: list[ir.Stmt]) -> ir.Atom | None:
        """What was spread to the shape of another array, which is added to it."""
        rhs, like = one.rhs, atom_kind(other, self.kinds)
        copied = is_op(rhs, Op.COPY) and len(rhs.args) == 1
        call = self.made(rhs.args[0], out)[1] if copied else rhs  # type: ignore[union-attr]
        if not is_op(call, Op.BROADCAST_TO, Op.FULL) or call.kwargs or len(call.args) != 2:
            return None
        small = call.args[is_op(call, Op.FULL)]
        same = are_alike(self.kinds.get(one.target.id), like, dtype=True)
        known = ir.dtype_of(atom_kind(small, self.kinds)) == ir.dtype_of(like)
        return small if same and known else None

    def whole_first(
        self, stmt: ir.Assign | ir.AugAssign, out: list[ir.Stmt]
    ) -> tuple[ir.Assign | ir.AugAssign, list[ir.Stmt]]:
        """`d = v` and what was added to parts of `d`, zeros at first, for that and `d += v`.

        Where it is something else at first, what is added to parts comes after that to the whole.
        """
        added = _added_to(stmt)
        if added is None or not is_op(added, Op.ADD):
            return stmt, []
        first, whole = added.args
        assert type(first) is ir.Name
        near = range(len(out) - 1, max(-1, len(out) - 1 - NEAR), -1)
        places = [k for k in near if first.id in ir.mentions(out[k])]
        parts = [k for k in places if self.adds_to_part(out[k], first)]
        made = out[places[-1]] if places else None
        if type(made) is not ir.Assign or not parts or parts != places[:-1]:
            return stmt, []
        if not all(self.memory.keeps(out[k + 1 :], ir.reads(out[k])) for k in parts):
            return stmt, []
        is_zero = makes_zeros(made.rhs) and self.is_new_like(whole, first, out)
        if not is_zero and not self.is_fresh(made):
            return stmt, []
        moved = [out[k] for k in reversed(parts)]
        for k in places if is_zero else parts:
            del out[k]
        if not is_zero:
            return stmt, moved
        self.bound[first.id] -= type(stmt) is ir.Assign
        self.count[first.id] -= 1
        return ir.Assign(first, whole, stmt.loc), moved

    def adds_to_part(self, stmt: ir.Stmt, name: ir.Name) -> bool:
        """Whether a statement does nothing but add to a part of an array, or take away from it."""
        call = ir.call_of(stmt)
        if type(stmt) is ir.Effect and is_op(call, Op.ADD_AT_UFUNC, Op.SUBTRACT_AT_UFUNC):
            return call.args[0] == name and name.id not in ir.names(ir.Tup(call.args[1:]))
        if type(stmt) is not ir.AugAssign or stmt.index is None or stmt.op not in ("+", "-"):
            return False
        return stmt.base == name and name.id not in ir.names(stmt.value)

    def is_new_like(self, atom: ir.Atom, name: ir.Name, out: list[ir.Stmt]) -> bool:
        """Whether something is read once, in memory of its own, and an array as another one is."""
        call, kinds = self.made(atom, out)[1], self.kinds
        if call is None or not makes_new(call.fn) or returns_view(call, kinds):
            return False
        return are_alike(kinds.get(name.id), atom_kind(atom, kinds), dtype=True)

    def is_fresh(self, stmt: ir.Assign) -> bool:
        """Whether a statement makes a number, or an array that nobody else has, of an adjoint."""
        kind, call = self.kinds.get(stmt.target.id), stmt.rhs
        if ir.dtype_of(kind) not in _EXACT:
            return False
        if type(call) is not ir.Call or not only_computes(call) or makes_zeros(call):
            return False
        new = makes_new(call.fn) and not returns_view(call, self.kinds)
        return type(kind) is ir.Scalar or (new and is_array(kind) and bool(ir.rank_of(kind)))

    def is_there(self, stmt: ir.SetItem, out: list[ir.Stmt]) -> bool:
        """Whether a place has the value that is stored into it."""
        value, item = stmt.value, ir.Call(operator.getitem, (stmt.base, stmt.index))
        for k in range(len(out) - 1, max(-1, len(out) - 1 - NEAR), -1):
            other = out[k]
            if type(other) is ir.Assign and other.target == value:
                if not self.stays(stmt, out[k + 1 :], ir.names(value)):
                    return False
                if not is_op(other.rhs, Op.COPY) or self.is_item(stmt):
                    return other.rhs == item
                value = other.rhs.args[0]
            elif not self.is_apart(other, stmt):
                return False
        return False

    def stays(self, stmt: ir.Store, others: list[ir.Stmt], names: Sequence[str]) -> bool:
        """Whether a store does the same behind others that do not meet it, by what it reads."""
        if not self.is_item(stmt):
            return self.memory.keeps(others, names)
        bound = (bound for _, bound, _ in map(self.memory.changes, others))
        return all(set(names).isdisjoint(b) for b in bound)  # which array it is, not what is in it

    def is_part(self, stmt: ir.Store) -> bool:
        """Whether a store is into an item, or a part of an array that numbers and slices choose."""
        if stmt.index is None or type(stmt) is ir.AugAssign and stmt.op not in ("+", "-"):
            return False
        if not (self.all_ours or ir.is_adjoint(stmt.base.id)):  # the user's stays as it is
            return False
        if self.is_item(stmt):
            return ir.is_numeric(self.held(stmt))
        return self.chooses(stmt.index) and is_array(self.kinds.get(stmt.base.id))

    def chooses(self, index: ir.Atom) -> bool:
        """Whether a subscript is one that such parts are chosen with."""
        return ir.is_basic(atom_kind(index, self.kinds))

    def is_item(self, stmt: ir.Store) -> bool:
        """Whether a store is into a list or dict."""
        return type(self.kinds.get(stmt.base.id)) in (ir.List, ir.Dict)

    def held(self, stmt: ir.Store) -> ir.Kind:
        """The kind of an item that is stored into, or of the array."""
        base = self.kinds.get(stmt.base.id, ir.UNKNOWN)
        if stmt.index is None or not self.is_item(stmt):
            return base
        return item_kind(base, atom_kind(stmt.index, self.kinds))

    def stored(self, stmt: ir.Store, out: list[ir.Stmt]) -> ir.Store:
        """A store that does what the one before it does as well, which is taken out."""
        found = self.before(stmt, out) if type(stmt) is ir.AugAssign else None
        if found is not None and type(stmt) is ir.AugAssign:
            builder = Builder(self.fresh, stmt.loc)
            one = self.merged(found, stmt, out, builder)
            if one is not None:
                del out[found]
                self.note(builder.out)
                out += builder.out
                stmt = one
        return self.updated(stmt, out) if type(stmt) is ir.SetItem else stmt

    def note(self, made: list[ir.Stmt]) -> None:
        """The kinds of new temporaries."""
        for stmt in made:
            assert type(stmt) is ir.Assign
            name = stmt.target.id
            self.kinds[name] = rhs_kind(stmt.rhs, self.kinds, self.device)
            self.count[name] = self.bound[name] = 1

    def before(self, stmt: ir.AugAssign, out: list[ir.Stmt]) -> int | None:
        """Where a store into the same place stands that may as well run right before this one."""
        if self.meets(stmt, ir.names(stmt.value)):
            return None
        for k in range(len(out) - 1, max(-1, len(out) - 1 - NEAR), -1):
            other = out[k]
            if isinstance(other, ir.Store) and (other.base, other.index) == (stmt.base, stmt.index):
                apart = not self.meets(other, ir.names(other.value)) and self.is_part(other)
                return k if apart and self.stays(other, out[k + 1 :], ir.reads(other)) else None
            if not self.is_apart(other, stmt):
                return None
        return None

    def is_apart(self, other: ir.Stmt, stmt: ir.Store) -> bool:
        """Whether a plain statement has nothing to do with the memory that a store writes into."""
        if not isinstance(other, (ir.Assign, ir.Store)):
            return False
        names = ir.mentions(other)
        if self.is_item(stmt) and _is_elsewhere(other, stmt, self.kinds):
            names -= {stmt.base.id}
        return not self.meets(stmt, names)

    def meets(self, stmt: ir.Store, names: Iterable[str]) -> bool:
        """Whether some names may stand for the memory that a store writes into."""
        find, kinds = self.memory.find, self.kinds
        if self.is_item(stmt):  # an array that it holds is another one
            names = [n for n in names if not ir.is_numeric(kinds.get(n, ir.UNKNOWN))]
        return any(find(n) == find(stmt.base.id) for n in names)

    def merged(
        self, found: int, two: ir.AugAssign, out: list[ir.Stmt], builder: Builder
    ) -> ir.Store | None:
        """One store for two; None where that is no plainer."""
        one = out[found]
        if two.index is None:
            return None
        if type(one) is ir.SetItem and self.gives_back(one, two, out[:found]):
            return replace(one, value=two.value)
        if not self.is_exact(two):
            return None
        if type(one) is ir.SetItem:
            if one.value != ir.Const(0.0):
                return None
            value = two.value if two.op == "+" else builder.apply(operator.neg, two.value)
            return ir.SetItem(two.base, two.index, value, loc=two.loc)
        assert type(one) is ir.AugAssign
        if one.op != two.op or self.is_sum(one.value, out) or self.is_sum(two.value, out):
            return None
        trees = self.tree(one.value, out), self.tree(two.value, out)
        if trees[0].key == trees[1].key and self.holds(trees[0], out):
            return replace(two, value=builder.apply(operator.mul, ir.Const(2.0), two.value))
        return replace(two, value=builder.apply(operator.add, one.value, two.value))

    def gives_back(self, one: ir.SetItem, two: ir.AugAssign, out: list[ir.Stmt]) -> bool:
        """Whether an item that is an array was taken, zeros put there, and it is added to them."""
        zeros, array = self.made(one.value, out)[1], is_array(self.held(two))
        if not (self.is_item(two) and array and zeros and two.op == "+"):
            return False
        zero, value = (atom_kind(a, self.kinds) for a in (one.value, two.value))
        if not (is_op(zeros, Op.ZEROS_LIKE) and are_alike(zero, value, dtype=True)):
            return False
        assert type(two.value) is ir.Name
        group = Sharers.of(self.function, self.kinds).group(two.value.id)
        others = {n for n in group if is_array(self.kinds.get(n))}
        last = liveness(self.function)[id(two)].isdisjoint(others)
        return last and self.is_there(replace(one, value=two.value), out)

    def is_sum(self, atom: ir.Atom, out: list[ir.Stmt]) -> bool:
        """Whether what is read once has two terms already: with more of them a line says less."""
        return is_op(self.made(atom, out)[1], Op.ADD, Op.SUB)

    def is_exact(self, stmt: ir.Store) -> bool:
        """Whether a sum in an array, or of numbers, has the precision of Python's numbers."""
        held = self.held(stmt)
        exact = ir.dtype_of(held) in _EXACT
        return exact and (type(held) is ir.Scalar or not self.is_item(stmt))

    # --- values ---------------------------------------------------------------------------------

    def tree(self, atom: ir.Atom, out: list[ir.Stmt]) -> _Tree:
        """The expression of what is read once."""
        at, call = self.made(atom, out)
        if call is None:
            return _Tree(atom, len(out), ir.names(atom))
        return self.tree_of(call, at, out)

    def tree_of(self, call: ir.Call, at: int, out: list[ir.Stmt]) -> _Tree:
        """The expression of a call that stands at a place."""
        parts = [self.tree(a, out[:at]) for a in (*call.args, *(v for _, v in call.kwargs))]
        start = min([at, *(p.start for p in parts)])
        names = tuple(n for p in parts for n in p.names)
        form = call.fn, tuple(k for k, _ in call.kwargs)
        return _Tree((form, tuple(p.key for p in parts)), start, names)

    def made(self, atom: ir.Atom, out: list[ir.Stmt]) -> tuple[int, ir.Call | None]:
        """The plain call that only computes of what is read once, and where it stands."""
        if type(atom) is not ir.Name or self.count[atom.id] != 1 or self.bound[atom.id] != 1:
            return 0, None
        for k in range(len(out) - 1, max(-1, len(out) - 1 - NEAR), -1):
            stmt = out[k]
            if type(stmt) is ir.Assign and stmt.target == atom:
                call = stmt.rhs if type(stmt.rhs) is ir.Call else None
                plain = call is not None and only_computes(call)
                return k, call if plain and self.memory.keeps(out[k + 1 :], (atom.id,)) else None
        return 0, None

    def width(self, rhs: ir.Rhs, out: list[ir.Stmt]) -> int:
        """About how many columns an expression takes, with what is read once in it."""
        if type(rhs) is ir.Name:
            at, call = self.made(rhs, out)
            return len(rhs.id.lstrip("_")) if call is None else self.width(call, out[:at])
        if type(rhs) is not ir.Call:
            said = repr(rhs.value) if type(rhs) is ir.Const else ""
            said = rhs.text if type(rhs) is ir.Ref else said
            return len(said) + 8 * len(ir.names(rhs))
        said = "" if op_of(rhs.fn).symbol else str(rhs.text or getattr(rhs.fn, "__name__", ""))
        args = (*rhs.args, *(v for _, v in rhs.kwargs))
        return len(said) + sum(self.width(a, out) + 3 for a in args) + 5 * len(rhs.kwargs)

    def holds(self, tree: _Tree, out: list[ir.Stmt]) -> bool:
        """Whether an expression still has the value that it had."""
        return self.memory.keeps(out[tree.start :], tree.names)

    def updated(self, stmt: ir.SetItem, out: list[ir.Stmt]) -> ir.Store:
        """`d[i] /= v` for `d[i] = d[i] / v`."""
        last, call = self.made(stmt.value, out)
        op = next((s for o, s in _IN_PLACE.items() if is_op(call, o)), None)
        if op is None or call is None or op in "+-" and not ir.is_adjoint(stmt.base.id):
            return stmt
        old, value = call.args
        first, item = self.made(old, out[:last])
        if item != ir.Call(operator.getitem, (stmt.base, stmt.index)):
            return stmt
        between = [*out[first + 1 : last], *out[last + 1 :]]
        kept = self.memory.keeps(out[last + 1 :], ir.names(value))
        if not kept or any(self.meets(stmt, ir.mentions(s)) for s in between):
            return stmt
        if not self.is_of_one_dtype(stmt) or self.meets(stmt, ir.names(value)):
            return stmt
        del out[last], out[first]
        return ir.AugAssign(stmt.base, stmt.index, value, op, loc=stmt.loc)

    def is_of_one_dtype(self, stmt: ir.SetItem) -> bool:
        """Whether what is stored has the dtype of the array."""
        value = atom_kind(stmt.value, self.kinds)
        return ir.dtype_of(self.held(stmt)) == ir.dtype_of(value) and self.is_exact(stmt)


_WIDTH = 84  # of two terms on a line
_EXACT = ("float64", "complex128")
_IN_PLACE = {Op.MUL: "*", Op.DIV: "/", Op.ADD: "+", Op.SUB: "-"}


# --- what is added first to a part of an array of zeros ------------------------------------------


def with_first_stores(function: ir.Function, kinds: dict[str, ir.Kind]) -> ir.Function:
    """The function with stores for such sums; `kinds` gets those of new temporaries.

    Loops add to all parts of an array at once, but where signs of zeros have to be NumPy's.
    """
    target = function.target
    if (target.fused or target.kernels) and not target.strict:
        return function
    return in_ours(function, _First(function, kinds).block)


class _First(_Merger):
    """The walk, which knows the arrays of zeros of the present block, and what they have by now."""

    def block(self, block: ir.Block) -> ir.Block:
        """A block, and those in it, with stores for sums."""
        zeros: dict[str, list[ir.Atom]] = {}
        out: list[ir.Stmt] = []
        for stmt in block:
            stmt = stmt if type(stmt) in ir.PLAIN else ir.map_blocks(stmt, self.block)
            parts = self.parts(stmt, zeros)
            if parts is None:
                touched = set(map(self.memory.find, ir.mentions(stmt)))
                zeros = {n: p for n, p in zeros.items() if self.memory.find(n) not in touched}
            elif type(stmt) is ir.AugAssign:
                stmt = self.first(stmt, out)
            if isinstance(stmt, ir.Store) and parts is not None and stmt.index is not None:
                parts.append(stmt.index)
            if type(stmt) is ir.Assign and makes_zeros(stmt.rhs):
                zeros[stmt.target.id] = []
            out.append(stmt)
        return tuple(out)

    def chooses(self, index: ir.Atom) -> bool:
        """Whether a store does there what a sum does: the last one stays of a place named twice."""
        items = index.items if type(index) is ir.Tup else (index,)
        kinds = [atom_kind(i, self.kinds) for i in items]
        return all(ir.is_basic(k) or (self.joins and is_array(k)) for k in kinds)

    def parts(self, stmt: ir.Stmt, zeros: dict[str, list[ir.Atom]]) -> list[ir.Atom] | None:
        """What was stored into an array of zeros, where a statement stores apart from all that."""
        if not isinstance(stmt, ir.Store) or stmt.index is None or not self.is_part(stmt):
            return None
        parts = zeros.get(stmt.base.id)
        whole = (*ir.names(stmt.value), *ir.names(stmt.index))
        if parts is None or self.meets(stmt, whole) or not self.is_of_dtype(stmt):
            return None
        apart = all(_are_apart(stmt.index, p, self.kinds) for p in parts)
        return parts if apart else None

    def is_of_dtype(self, stmt: ir.Store) -> bool:
        """Whether storing a value into an array is as good as adding it to zeros."""
        kind = atom_kind(stmt.value, self.kinds)
        number = type(kind) is ir.Scalar and kind.python and kind.dtype in ("float64", "int64")
        same = ir.dtype_of(kind) == ir.dtype_of(self.held(stmt))
        return self.is_exact(stmt) and (number or same)

    def first(self, stmt: ir.AugAssign, out: list[ir.Stmt]) -> ir.SetItem:
        """The store of what is added, or subtracted."""
        value, builder = stmt.value, Builder(self.fresh, stmt.loc)
        if stmt.op == "-":
            value = builder.apply(operator.neg, value)
        self.note(builder.out)
        out += builder.out
        assert stmt.index is not None
        return ir.SetItem(stmt.base, stmt.index, value, loc=stmt.loc)


def _added_to(stmt: ir.Assign | ir.AugAssign) -> ir.Call | None:
    """The sum that a statement gives an adjoint which had the first of its terms."""
    name = stmt.target if type(stmt) is ir.Assign else stmt.base
    if not ir.is_adjoint(name.id):
        return None
    call: ir.Rhs = stmt.rhs if type(stmt) is ir.Assign else name
    if type(stmt) is ir.AugAssign and stmt.index is None and stmt.op in ("+", "-"):
        fn = operator.add if stmt.op == "+" else operator.sub
        call = ir.Call(fn, (name, stmt.value))
    if not is_op(call, Op.ADD, Op.SUB) or call.args[0] != name or call.args.count(name) != 1:
        return None
    return call


def _is_elsewhere(other: ir.Assign | ir.Store, stmt: ir.Store, kinds: ir.Kinds) -> bool:
    """Whether a statement reads, or stores into, one other item of what a store writes into."""
    base: ir.Atom
    if isinstance(other, ir.Store):
        base, index, value = other.base, other.index, other.value
    elif is_op(other.rhs, Op.GETITEM):
        (base, index), value = other.rhs.args, ir.NONE
    else:
        return False
    if base != stmt.base or value == base or index is None or stmt.index is None:
        return False
    return _are_apart(index, stmt.index, kinds)


def _are_apart(one: ir.Atom, two: ir.Atom, kinds: ir.Kinds) -> bool:
    """Whether two subscripts choose no element both: by two integers from one end, that differ."""
    if type(one) is ir.Const and type(two) is ir.Const and type(one.value) is str:
        return type(two.value) is str and one != two
    first, second = by_axis(one, kinds), by_axis(two, kinds)
    pairs = [(a.value, b.value) for a, b in zip(first, second) if _is_integer(a) and _is_integer(b)]
    return any(a != b and (a < 0) == (b < 0) for a, b in pairs)


def _is_integer(atom: ir.Atom) -> TypeGuard[ir.Const]:
    """Whether a subscript is an integer that is known."""
    return type(atom) is ir.Const and type(atom.value) is int


@frozen
class _Tree:
    """An expression, where the first of its parts is computed, and the names that it reads."""

    key: object
    start: int
    names: tuple[str, ...]
