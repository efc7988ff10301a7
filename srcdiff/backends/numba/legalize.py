"""What Numba computes otherwise than NumPy, written so that it does not.

In a text that Numba compiles an operator in place reads its operand while it writes, a function
that gives its argument back where nothing is to be done copies it, a name that is not bound is
zero, and an integer stays one when it is raised to a negative power.

Helpers have forms of their own that Numba compiles, which are copied beside a gradient compiled by
it.  They are for arrays of float64 and complex128 alone: others are refused before.  What a form
takes no argument for, Numba refuses.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np

from srcdiff import ir
from srcdiff.analysis.points_to import PointsTo
from srcdiff.backends.numba.unbound import is_first, unbound_reads
from srcdiff.errors import UnsupportedError
from srcdiff.ir.builder import Rewriter
from srcdiff.ir.frozen import replace
from srcdiff.kernels.elements import rounds_once
from srcdiff.kinds.calls import atom_kind
from srcdiff.kinds.interpreter import infer
from srcdiff.kinds.lattice import join
from srcdiff.primitives.effects import gives_back, returns_view
from srcdiff.primitives.operation import op_of
from srcdiff.primitives.ops import Op, is_op, op_named
from srcdiff.primitives.views import is_array

_POWERS = frozenset({Op.POW, Op.IPOW, Op.POWER, Op.BUILTIN_POW})
NEGATIVE = "Integers to negative powers are not allowed with Numba: write 2.0 ** n for 2 ** n"


def for_numba(function: ir.Function, params: ir.Kinds) -> ir.Function:
    """A finished function that computes the same when Numba compiles it."""
    kinds = {**params, **infer(function, params)}
    function = _Apart(function, kinds).function(function)
    unbound = unbound_reads(function)
    return _Asked(function, unbound).function(function) if unbound else function


def check_axes(function: ir.Function, params: ir.Kinds) -> None:
    """Refuse a recursive function of ever more axes, which Numba compiles for each number of them.

    Raises:
        UnsupportedError: the axes of a parameter are not known.
    """
    for name, kind in params.items():
        if isinstance(kind, ir.Array) and kind.dims is None:
            what = f"`{name}` is an array whose number of axes changes from call to call"
            refuse(what, function.loc, "Give it as many axes in every call")


def check_rounding(function: ir.Function, params: ir.Kinds) -> None:
    """Refuse what Numba may round otherwise than NumPy or Python.

    Raises:
        UnsupportedError: with the place of the first call that is not known to be the same.
    """
    kinds = {**params, **infer(function, params)}
    for stmt in ir.walk(function):
        call = ir.call_of(stmt)
        if type(stmt) is ir.AugAssign and stmt.op not in "+-*/":
            call = ir.Call(ir.Method(f"{stmt.op}="), (stmt.base, stmt.value))
        if call is not None and not _rounds_alike(call, kinds):
            op = op_of(call.fn)
            said = op.symbol or call.text or getattr(call.fn, "__name__", op.name)
            what = f"strict=True: Numba may round `{said}` otherwise than it is without it"
            loc = stmt.loc if stmt.loc.line else function.loc
            remedy = "Give compile='loops', which leaves such calls to NumPy, or leave out strict."
            raise UnsupportedError(what, loc, remedy)


def _rounds_alike(call: ir.Call, kinds: ir.Kinds) -> bool:
    """Whether Numba certainly gives the bits of a call that are there without it."""
    if type(call.fn) in (ir.Subroutine, ir.Name) or rounds_once(call.fn, call.args, kinds):
        return True
    given = [a for a in (*call.args, *(v for _, v in call.kwargs)) if type(a) is not ir.Ref]
    if not any(_computes_with(atom_kind(a, kinds)) for a in given):
        return True
    op = op_of(call.fn)
    return op.name in _MOVES or op.gives_array or op.is_asked or op.is_shaped


def _computes_with(kind: ir.Kind) -> bool:
    """Whether a value may hold floats."""
    if type(kind) in (ir.Array, ir.Scalar):
        return ir.dtype_of(kind) not in ("int64", "bool")
    return kind == ir.UNKNOWN or any(map(_computes_with, ir.inside(kind)))


_MOVED = """
    builtins.float builtins.len builtins.bool builtins.enumerate builtins.zip builtins.reversed
    builtins.tuple builtins.list operator.getitem operator.is_ operator.is_not operator.not_
    operator.truth numpy.copy numpy.zeros_like numpy.ones_like numpy.empty_like numpy.full_like
    numpy.full numpy.float64 numpy.concatenate numpy.stack numpy.take numpy.repeat numpy.roll
    srcdiff.ir.nodes.make_list srcdiff.runtime.trees.cotangent srcdiff.runtime.trees.like_tree
    math.acos math.acosh math.asin math.asinh math.atan math.atan2 math.atanh math.cos math.cosh
    math.exp math.expm1 math.fabs math.isfinite math.isinf math.isnan math.log math.log10 math.log1p
    math.sin math.sinh math.sqrt math.tan math.tanh append pop copy
"""
_MOVES = frozenset(_MOVED.split())
"""What moves numbers, and functions of C's library, the same for Python and for Numba."""


def refuse(what: str, loc: ir.Loc, instead: str) -> NoReturn:
    """Refuse what Numba does not take."""
    raise UnsupportedError(what, loc, f"{instead}, or leave out compile='numba' (--compile).")


def with_plain_calls(function: ir.Function, params: ir.Kinds) -> ir.Function:
    """A function whose indices and copies are written as Numba takes them."""
    return _PlainCalls(function, {**params, **infer(function, params)}).function(function)


class _PlainCalls(Rewriter):
    """`...` as slices, axes that are inserted as an index, and copies of arrays by their name."""

    def __init__(self, function: ir.Function, kinds: ir.Kinds) -> None:
        super().__init__(ir.Fresh(ir.all_names(function)))
        self.kinds = kinds

    def stmt(self, stmt: ir.Stmt) -> ir.Stmt:
        """A statement with a plain index or copy."""
        call = ir.call_of(stmt)
        if isinstance(stmt, ir.Store) and stmt.index is not None:
            return replace(stmt, index=self.plain(stmt.base, stmt.index))
        if not isinstance(stmt, ir.Assign) or call is None:
            return self.inside(stmt)
        if any(_spelled(v) is not v for _, v in call.kwargs):
            call = replace(call, kwargs=tuple((k, _spelled(v)) for k, v in call.kwargs))
            stmt = replace(stmt, rhs=call)
        if is_op(call, Op.GETITEM):
            base, index = call.args
            plain = self.plain(base, index)
            if self.is_element(plain):  # with `...` it is an array without axes
                return stmt
            return replace(stmt, rhs=replace(call, args=(base, plain)))
        if is_op(call, Op.BROADCAST_TO) and self.is_number(stmt.target, (*call.args, ir.NONE)[0]):
            return replace(stmt, rhs=call.args[0])
        if op_of(call.fn).name == "numpy.expand_dims":
            return replace(stmt, rhs=self.inserted(call))
        if is_op(call, Op.RESHAPE):
            return replace(stmt, rhs=self.reshaped(call, stmt.target))
        if is_op(call, Op.ARRAY) and len(call.args) == 1 and not call.kwargs:
            if is_array(atom_kind(call.args[0], self.kinds)):
                return replace(stmt, rhs=ir.Call(np.copy, call.args))
        return stmt

    def is_number(self, target: ir.Name, atom: ir.Atom) -> bool:
        """Whether a number is broadcast to the shape of one."""
        kinds = self.kinds.get(target.id, ir.UNKNOWN), atom_kind(atom, self.kinds)
        return type(kinds[1]) is ir.Scalar and ir.rank_of(kinds[0]) == 0

    def plain(self, base: ir.Atom, index: ir.Atom) -> ir.Atom:
        """An index without `...`, where the number of axes is known."""
        items = index.items if isinstance(index, ir.Tup) else (index,)
        rank = ir.rank_of(atom_kind(base, self.kinds))
        if rank is None or _ELLIPSIS not in items or not self.takes_one_axis_each(items):
            return index
        at, used = items.index(_ELLIPSIS), sum(i not in (_ELLIPSIS, ir.NONE) for i in items)
        found = (*items[:at], *(ir.ALL,) * (rank - used), *items[at + 1 :])
        return found[0] if len(found) == 1 else ir.Tup(found)

    def is_element(self, index: ir.Atom) -> bool:
        """Whether an index has integers alone, of which each takes an axis away."""
        items = index.items if isinstance(index, ir.Tup) else (index,)
        return all(type(atom_kind(i, self.kinds)) is ir.Scalar for i in items)

    def takes_one_axis_each(self, items: tuple[ir.Atom, ...]) -> bool:
        """Whether no item of an index is an array of truth values."""
        kinds = (atom_kind(i, self.kinds) for i in items)
        return all(ir.is_basic(k) or ir.dtype_of(k) == "int64" for k in kinds)

    def inserted(self, call: ir.Call) -> ir.Rhs:
        """`np.expand_dims` by an index, where the axes are known."""
        base, axis = (*call.args, dict(call.kwargs).get("axis", ir.NONE))[:2]
        items = axis.items if isinstance(axis, ir.Tup) else (axis,)
        places = [a.value for a in items if isinstance(a, ir.Const) and type(a.value) is int]
        rank = ir.rank_of(atom_kind(base, self.kinds))
        if rank is None or len(places) < len(items):
            return call
        rank += len(places)
        new = {p % rank for p in places}
        if type(atom_kind(base, self.kinds)) is ir.Scalar:
            return ir.Call(np.full, (ir.Tup((ir.Const(1),) * rank), base))
        index = tuple(ir.NONE if k in new else ir.ALL for k in range(rank))
        return ir.Call(operator.getitem, (base, ir.Tup(index)))


    def reshaped(self, call: ir.Call, target: ir.Name) -> ir.Call:
        """`np.reshape` by an index, where axes of length 1 alone come and go."""
        base, kinds = call.args[0], self.kinds
        old = ir.dims_of(kinds.get(base.id, ir.UNKNOWN)) if type(base) is ir.Name else None
        new = ir.dims_of(kinds.get(target.id, ir.UNKNOWN))
        index = _index_between(old, new) if old and new else None
        if index is None:
            return call
        return ir.Call(operator.getitem, (base, index[0] if len(index) == 1 else ir.Tup(index)))


def _index_between(old: tuple[ir.Dim, ...], new: tuple[ir.Dim, ...]) -> tuple[ir.Atom, ...] | None:
    """The index that takes an array of some lengths to others that differ in ones alone."""
    first: ir.Atom
    if old and new and ir.same_dim(old[0], new[0]):
        first, rest = ir.ALL, (old[1:], new[1:])
    elif old and old[0] == 1:
        first, rest = ir.Const(0), (old[1:], new)
    elif new and new[0] == 1:
        first, rest = ir.NONE, (old, new[1:])
    else:
        return None
    if rest == ((), ()):
        return (first,)
    behind = _index_between(*rest)
    return None if behind is None else (first, *behind)


_ELLIPSIS = ir.Const(...)


def _spelled(atom: ir.Atom) -> ir.Atom:
    """A dtype as Numba knows it."""
    if type(atom) is not ir.Ref or type(atom.value) is not type:
        return atom
    if atom.value is float:
        return ir.Ref("np.float64", np.float64)
    return ir.Ref("np.complex128", np.complex128) if atom.value is complex else atom


def with_seed(function: ir.Function, params: ir.Kinds) -> ir.Kinds:
    """The kinds of parameters, with that of the cotangent of a number where some are float32."""
    if not any(_SINGLE in ir.dtypes_in(kind) for kind in params.values()):
        return params
    seeds = (p.name for p in function.params if p.default == ir.Const(1.0))
    return {**params, **{n: ir.Scalar("float64") for n in seeds if n not in params}}


def with_exact_dtypes(function: ir.Function, params: ir.Kinds) -> ir.Function:
    """A function of which Numba makes float32 what NumPy does: numbers of Python are cast to it."""
    kinds = {**params, **infer(function, params)}
    if not any(ir.dtype_of(kind) == _SINGLE for kind in kinds.values()):
        return function
    inside = kinds_in_loops(function, kinds)
    return with_loops(
        _Exact(function, kinds).function(function),
        lambda loop: _Exact(loop.function, inside[id(loop)]).function(loop.function),
    )


def with_loops(
    function: ir.Function, changed: Callable[[ir.Subroutine], ir.Function]
) -> ir.Function:
    """A function that calls other loops: what each becomes is asked once."""
    made: dict[int, ir.Subroutine] = {}

    def stmt(s: ir.Stmt) -> ir.Stmt:
        call = ir.call_of(s)
        if call is None or type(call.fn) is not ir.Subroutine:
            return s
        if id(call.fn) not in made:
            made[id(call.fn)] = replace(call.fn, function=changed(call.fn))
        return replace(s, rhs=replace(call, fn=made[id(call.fn)]))  # type: ignore[arg-type]

    return ir.replaced_in(function, stmt)


def kinds_in_loops(function: ir.Function, kinds: ir.Kinds) -> dict[int, ir.Kinds]:
    """The kinds of the names in each function of loops that is called, by its identity."""
    given: dict[int, tuple[ir.Function, list[tuple[ir.Kind, ...]]]] = {}
    for call in ir.calls(function):
        if type(call.fn) is ir.Subroutine:
            _, rows = given.setdefault(id(call.fn), (call.fn.function, []))
            rows.append(tuple(atom_kind(a, kinds) for a in call.args))
    found: dict[int, ir.Kinds] = {}
    for key, (loop, rows) in given.items():
        joined = [functools.reduce(join, row) for row in zip(*rows)]
        params = dict(zip((p.name for p in loop.params), joined))
        found[key] = {**params, **infer(loop, params)}
    return found


_SINGLE = "float32"


class _Exact(Rewriter):
    """Numbers of Python beside float32 cast to it, and what Numba makes float64 of it as well."""

    def __init__(self, function: ir.Function, kinds: ir.Kinds) -> None:
        super().__init__(ir.Fresh(ir.all_names(function)))
        self.kinds = dict(kinds)

    def stmt(self, stmt: ir.Stmt) -> ir.Stmt:
        """A statement with casts."""
        if type(stmt) is ir.If:
            stmt = self.chosen(stmt)
        if isinstance(stmt, ir.Store) and self.is_single(stmt.base):
            power = isinstance(stmt, ir.AugAssign) and stmt.op == "**"
            return stmt if power else replace(stmt, value=self.cast(stmt.value))
        call = ir.call_of(stmt)
        if type(stmt) is not ir.Assign or call is None or type(call.fn) is ir.Name:
            return self.inside(stmt)
        return self.assigned(stmt, call)

    def assigned(self, stmt: ir.Assign, call: ir.Call) -> ir.Stmt:
        """`x = f(..)`, of the dtype that NumPy gives it."""
        by_element = op_of(call.fn).is_elementwise or is_op(call, Op.WHERE)
        if by_element and self.is_of_single(call.args):
            count = len(call.args)
            if is_op(call, *_POWERS) and type(call.args[1]) is ir.Const:
                count -= type(call.args[1].value) is int  # with it float32 stays what it is
            call = replace(call, args=(*map(self.cast, call.args[:count]), *call.args[count:]))
            self.becomes_single(stmt.target)
            return replace(stmt, rhs=call)
        kind = self.kinds.get(stmt.target.id, ir.UNKNOWN)
        if ir.dtype_of(kind) != _SINGLE or self.is_exact(call) or returns_view(call, self.kinds):
            return stmt
        found = self.temp(call)
        if type(kind) is ir.Scalar:
            return replace(stmt, rhs=ir.Call(np.float32, (found,)))
        return replace(stmt, rhs=ir.Call(ir.Method("astype"), (found, _FLOAT32)))

    def chosen(self, stmt: ir.If) -> ir.If:
        """A number that one of two branches chooses, float32 in both if it is so in one."""
        ways = [b[0] for b in (stmt.body, stmt.orelse) if len(b) == 1 and type(b[0]) is ir.Assign]
        values = [w.rhs for w in ways if type(w) is ir.Assign and type(w.rhs) is not ir.Call]
        if len(values) < 2 or not self.is_of_single(values):  # type: ignore[arg-type]
            return stmt
        one, other = ((replace(w, rhs=self.cast(v)),) for w, v in zip(ways, values))  # type: ignore[arg-type]
        self.becomes_single(ways[0].target)
        return replace(stmt, body=one, orelse=other)

    def becomes_single(self, name: ir.Name) -> None:
        """A number of a loop of which it was not known what it is, before the casts."""
        kind = self.kinds.get(name.id, ir.UNKNOWN)
        if type(kind) in (ir.Unknown, ir.Scalar) and ir.dtype_of(kind) is None:
            self.kinds[name.id] = ir.Scalar(_SINGLE, False)

    def is_single(self, atom: ir.Atom) -> bool:
        """Whether an operand is certainly float32."""
        return ir.dtype_of(atom_kind(atom, self.kinds)) == _SINGLE

    def is_weak(self, atom: ir.Atom) -> bool:
        """Whether an operand is a number of Python, which takes the dtype of what it meets."""
        kind = atom_kind(atom, self.kinds)
        return type(kind) is ir.Scalar and kind.python is True and kind.dtype in _WEAK

    def is_of_single(self, atoms: Sequence[ir.Atom]) -> bool:
        """Whether NumPy computes with operands in float32."""
        numbers = [a for a in atoms if ir.dtype_of(atom_kind(a, self.kinds)) != "bool"]
        known = all(self.is_single(a) or self.is_weak(a) for a in numbers)
        return known and any(map(self.is_single, numbers))

    def cast(self, atom: ir.Atom) -> ir.Atom:
        """A number of Python as float32."""
        return self.temp(ir.Call(np.float32, (atom,))) if self.is_weak(atom) else atom

    def is_exact(self, call: ir.Call) -> bool:
        """Whether Numba makes float32 of what a call is given."""
        name = op_of(call.fn).name
        if name in _EXACT:
            return all(self.is_single(a) or not ir.is_float(atom_kind(a, self.kinds))
                       for a in call.args)  # fmt: skip
        told = _FLOAT32 in call.args or any(k == "dtype" for k, _ in call.kwargs)
        return told or is_op(call, Op.LIKE_TREE, Op.COTANGENT)


_WEAK = ("float64", "int64")
_FLOAT32 = ir.Ref("np.float32", np.float32)
_EXACT = frozenset((
    "operator.matmul", "numpy.matmul", "numpy.dot", "numpy.zeros_like", "numpy.ones_like",
    "numpy.empty_like", "numpy.copy", "numpy.sum", "numpy.max", "numpy.min", "numpy.amax",
    "numpy.amin", "operator.getitem",
))  # fmt: skip
"""Functions that give float32 for it with Numba as well."""


class _Apart(Rewriter):
    """Operands apart from what is written, and powers of integers that are asked for their sign."""

    def __init__(self, function: ir.Function, kinds: ir.Kinds) -> None:
        super().__init__(ir.Fresh(ir.all_names(function)))
        self.kinds = kinds
        self.group = PointsTo.of(function, kinds).near
        self.count = ir.binding_counts(function, function.params)
        self.made = {s.target.id: s.rhs for s in ir.walk(function) if isinstance(s, ir.Assign)}

    def stmt(self, stmt: ir.Stmt) -> ir.Stmt:
        """A statement, and what it needs."""
        call = ir.call_of(stmt)
        if isinstance(stmt, ir.Assign) and call is not None and gives_back(call, self.kinds):
            return replace(stmt, rhs=call.args[0])
        if isinstance(stmt, ir.AugAssign):
            if stmt.op == "**":
                self.power(stmt.base, stmt.value)
            return self.stored(stmt)
        if is_op(call, *_POWERS) and len(call.args) == 2:
            self.power(*call.args)
        return self.inside(stmt)

    def stored(self, stmt: ir.AugAssign) -> ir.AugAssign:
        """An operator in place, its operand copied if that may share memory with another part."""
        value = stmt.value
        if not isinstance(value, ir.Name) or not self.overlap(stmt, value.id):
            return stmt
        return replace(stmt, value=self.call(np.copy, value))

    def overlap(self, stmt: ir.AugAssign, value: str) -> bool:
        """Whether an operand may be another part of what is written."""
        base = stmt.base.id
        if any(isinstance(self.kinds.get(n), ir.Scalar) for n in (value, base)):
            return False
        if value == base:
            return stmt.index is not None
        return self.group.share(value, base) and not self.same(stmt)

    def same(self, stmt: ir.AugAssign) -> bool:
        """Whether an operand is just the part that is written."""
        steady = (n for n in ir.names(stmt.index) if self.count.get(n, 0) > 1)
        name = stmt.value.id if isinstance(stmt.value, ir.Name) else ""
        made = self.made.get(name) if self.count.get(name) == 1 else None
        part = is_op(made, Op.GETITEM)
        return part and made.args == (stmt.base, stmt.index) and not any(steady)  # type: ignore[union-attr]

    def power(self, base: ir.Atom, exponent: ir.Atom) -> None:
        """The question for the sign of an exponent, where both operands may be integers."""
        one, two = (atom_kind(a, self.kinds) for a in (base, exponent))
        known = isinstance(two, ir.Scalar) and two.value is not None and two.value >= 0
        if known or ir.is_float(one) or ir.is_float(two):
            return
        negative = self.call(operator.lt, exponent, ir.Const(0))
        if not isinstance(two, ir.Scalar):
            negative = self.call(np.any, negative)
        raised = ir.Verbatim(f"raise ValueError({NEGATIVE!r})", raises=True, loc=self.loc)
        self.out.append(ir.If(negative, (raised,), loc=self.loc))


class _Asked(Rewriter):
    """Names that may not be bound asked for, as Python does, where they are read."""

    def __init__(self, function: ir.Function, unbound: Mapping[int, frozenset[str]]) -> None:
        super().__init__(ir.Fresh(ir.all_names(function)))
        self.unbound = unbound
        names = sorted(frozenset().union(*unbound.values()))
        self.flags = {n: self.fresh(f"{n.lstrip('_')}_is_bound") for n in names}

    def function(self, function: ir.Function) -> ir.Function:
        """The function, with a flag for every such name."""
        start = (ir.Assign(f, ir.Const(False)) for f in self.flags.values())
        return replace(function, body=(*start, *self.block(function.body)))

    def stmt(self, stmt: ir.Stmt) -> ir.Stmt | ir.Block:
        """A statement between what asks for its names and what notes those that it binds."""
        if isinstance(stmt, ir.While):
            cond, body = self.block(stmt.cond), self.block(stmt.body)
            self.loc = stmt.loc
            asked, _ = self.collect(lambda: self.ask(ir.names(stmt.test)))
            return replace(stmt, cond=(*cond, *asked), body=body)
        self.ask(self.unbound.get(id(stmt), ()))
        if is_first(stmt):
            return stmt
        flags = (self.flags[n] for n in ir.writes(stmt) if n in self.flags)
        bound = tuple(ir.Assign(f, ir.Const(True), stmt.loc) for f in flags)
        new = self.inside(stmt)
        if isinstance(new, ir.For):
            return replace(new, body=(*bound, *new.body))
        return (new, *bound)

    def ask(self, names: Iterable[str]) -> None:
        """The questions for some names."""
        for name in sorted(self.flags.keys() & set(names)):
            said = name.lstrip("_")
            text = f"cannot access local variable '{said}' where it is not associated with a value"
            raised = ir.Verbatim(f"raise UnboundLocalError({text!r})", raises=True, loc=self.loc)
            missing = self.call(operator.not_, self.flags[name])
            self.out.append(ir.If(missing, (raised,), loc=self.loc))


# --- the forms of helpers that Numba compiles -----------------------------------------------------


def cotangent(grad_outputs: Any, output: Any) -> Any:
    """A copy of `grad_outputs`, which has the shape of the output; one where it is left out."""
    if grad_outputs is None:
        if output.size != 1:
            raise ValueError("grad_outputs: may be left out only for an output of one number")
        return np.ones_like(output)
    if grad_outputs.shape != output.shape:
        raise ValueError("grad_outputs: expected an array of the shape of the output")
    return grad_outputs.astype(output.dtype)


def like_tree(d: Any, x: Any) -> Any:
    """An array of the shape and dtype of `x` with the values of `d`."""
    out = np.empty_like(x)
    out[...] = d
    return out


def unbroadcast(d: Any, x: Any) -> Any:
    """`d` summed over the axes along which `x` was broadcast, so that it has the shape of `x`."""
    parts, shape = np.asarray(d), np.shape(x)
    extra = parts.ndim - len(shape)
    if extra < 0:
        out = np.asarray(np.zeros(shape, parts.dtype) + parts).ravel()
    elif parts.size == 0:
        out = np.zeros(np.asarray(x).size, parts.dtype)
    else:
        out = np.ascontiguousarray(parts).ravel()
        lengths, sizes = parts.shape + (1,), shape + (1,)  # Numba looks for the type of an item
        kept, rest = 1, parts.size
        for k in range(parts.ndim):
            n = lengths[k]
            rest = rest // max(n, 1)
            if k >= extra and sizes[k - extra] == n:
                kept *= n
                continue
            total = np.zeros((kept, rest), parts.dtype)
            for i in range(kept):
                for j in range(n):
                    for m in range(rest):
                        total[i, m] += out[(i * n + j) * rest + m]
            out = total.ravel()
    return out.reshape(shape)[()]


def axis_size(x: Any, axis: Any = None) -> Any:
    """The number of elements of `x` along `axis` (an int, a tuple, None: all), nan if it is 0."""
    size = x.size
    if axis is not None:
        size = 1
        for k in np.asarray(axis).ravel():
            size *= x.shape[k]
    return float(size) or np.nan


def winners(x: Any, z: Any) -> Any:
    """The share of every element of `x` in its extreme value `z`."""
    hit = np.equal(x, z)
    return hit / np.sum(hit)


def scatter(d: Any, index: Any, x: Any) -> Any:
    """Zeros of the shape of `x` with `d` added at the flat positions `index`, repeats adding up."""
    values, at, like = np.asarray(d), np.asarray(index), np.asarray(x)
    out = np.zeros(like.size, values.dtype)
    places, parts = at.ravel(), np.broadcast_to(values, at.shape).ravel()
    for k in range(places.size):
        out[places[k]] += parts[k]
    return out.reshape(like.shape)


def undiff(d: Any, x: Any, n: int, axis: int) -> Any:
    """The adjoint of `x` in `np.diff(x, n, axis)`."""
    last = np.copy(np.swapaxes(d, axis, -1))
    for _ in range(n):
        wide = np.zeros(last.shape[:-1] + (last.shape[-1] + 1,), last.dtype)
        wide[..., 1:] += last
        wide[..., :-1] -= last
        last = wide
    return np.swapaxes(last[..., : x.shape[axis]], axis, -1)


def others(x: Any) -> Any:
    """The product of all other elements, exact where some are zero."""
    flat = x.ravel()
    out = np.ones_like(flat)
    before = after = np.ones_like(flat[:1])
    for k in range(flat.size):
        out[k] *= before[0]
        before = before * flat[k]
    for k in range(flat.size - 1, -1, -1):
        out[k] *= after[0]
        after = after * flat[k]
    return out.reshape(x.shape)


def cofactor(a: Any) -> Any:
    """The cofactors of one matrix, exact where it is singular."""
    u, s, vt = np.linalg.svd(a)
    sign = np.linalg.det(u) * np.linalg.det(vt)
    return sign * np.conj((u * others(s)) @ vt)


def power_slope(x: Any, y: Any) -> Any:
    """`y * x ** (y - 1)`, zero where `y` is."""
    return y * x ** ((y - 1) * (y != 0))


_FORMS: Mapping[Op | None, Any] = {
    Op.COTANGENT: cotangent, Op.LIKE_TREE: like_tree, Op.UNBROADCAST: unbroadcast,
    Op.AXIS_SIZE: axis_size, Op.WINNERS: winners, Op.SCATTER: scatter, Op.UNDIFF: undiff,
    Op.OTHERS: others, Op.COFACTOR: cofactor, Op.POWER_SLOPE: power_slope,
}  # fmt: skip


def twin(value: Any) -> Any:
    """The form of a helper that Numba compiles; anything else is itself."""
    return _FORMS.get(op_named(value), value)
