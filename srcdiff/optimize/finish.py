"""The last forms of a finished derivative: gradients as they are, arrays from a workspace.

`finish` takes an assembled derivative, in which every gradient passes through `like_tree`; it
returns it with plain names, `float(...)` or `.astype(...)` where shapes, dtypes and types are known
to be right, so that this is all that it does.

`reused` is what `workspace=True` asks for.  It takes a finished function and the kinds of its
parameters; it returns it with `memory.multiply(x, y)` for `x * y` and `np.multiply(x, y)`, where
that certainly is an array with axes.  What a workspace mirrors is in `runtime`.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Mapping
from typing import TypeGuard

import numpy as np

from srcdiff import ir
from srcdiff.ir.frozen import replace
from srcdiff.kinds.calls import atom_kind, kind_of_call
from srcdiff.kinds.interpreter import infer
from srcdiff.optimize.displays import is_number
from srcdiff.optimize.memory import Sharers
from srcdiff.optimize.shapes import BINARY
from srcdiff.primitives.operation import op_of
from srcdiff.primitives.ops import Op, is_op
from srcdiff.primitives.views import is_array
from srcdiff.runtime import sequences
from srcdiff.runtime.workspace import FUNCTIONS, MEMORY, OPERATORS, POWERS


def finish(function: ir.Function, kinds: ir.Kinds) -> ir.Function:
    """The derivative with its results in their plain form."""
    body: list[ir.Stmt] = []
    same: dict[str, str] = {}
    for k, stmt in enumerate(function.body):
        plain = _finished(stmt, kinds)
        if type(stmt) is ir.Assign and plain is not None:
            if type(plain) is ir.Name and _is_tail(function.body[k:]):
                same[stmt.target.id] = plain.id
                continue
            stmt = replace(stmt, rhs=plain)
        body += ir.rename((stmt,), same) if same else (stmt,)
    return ir.rebuilt(function, body=tuple(body))


def _is_tail(rest: ir.Block) -> bool:
    """Whether what follows only puts the results together, each under a name of its own."""
    place = {n: k for k, s in enumerate(rest) for n in ir.writes(s)}
    plain = all(isinstance(s, (ir.Assign, ir.Return)) for s in rest)
    once = len(place) == sum(len(ir.writes(s)) for s in rest)
    after = all(place.get(n, -1) < k for k, s in enumerate(rest) for n in ir.reads(s))
    return plain and once and after


def spell(function: ir.Function, kinds: ir.Kinds, ours: frozenset[str]) -> ir.Function:
    """The function with `x = x + y` as `x += y`, where the user or we meant that.

    Of arrays only those that nobody else has are written into.
    """

    def stmt(s: ir.Stmt) -> ir.Stmt:
        if type(s) is not ir.Assign or type(s.rhs) is not ir.Call:
            return s
        plain = _attribute(s.rhs, kinds) or _zeros(s.rhs, kinds, function.target.on_device)
        if plain is not None:
            return replace(s, rhs=plain)
        return _in_place(s, s.rhs, function, kinds, ours)

    return ir.replaced_in(function, stmt)


def repeated(function: ir.Function, params: ir.Kinds) -> ir.Function:
    """The function with sums of integers where they are read, `x[1 : n + 1]`, for a NumPy text.

    Loops and kernels tell parts of arrays apart by the names of their ends.
    """
    found = {} if function.target.fused or function.target.kernels else _sums(function)
    kinds = {**params, **infer(function, params)} if found else {}
    sums = {n: c for n, c in found.items() if all(_is_integer(a, kinds) for a in c.args)}
    if not sums:
        return function
    fresh = ir.Fresh(ir.all_names(function))

    def written(name: str, loc: ir.Loc) -> tuple[ir.Block, str]:
        made = {n: written(n, loc) for n in ir.names(sums[name]) if n in sums}
        new = fresh("_t")
        sum_of = ir.map_rhs(lambda n: ir.Name(made[n.id][1]) if n.id in made else n, sums[name])
        before = (s for block, _ in made.values() for s in block)
        return (*before, ir.Assign(new, sum_of, loc)), new.id

    def stmt(s: ir.Stmt) -> ir.Block:
        if type(s) is ir.Assign and s.target.id in sums:
            return ()
        mine = [n for n in dict.fromkeys(ir.reads(s)) if n in sums] if type(s) in ir.PLAIN else []
        if not mine:
            return (s,)
        made = {n: written(n, s.loc) for n in mine}
        before = (one for block, _ in made.values() for one in block)
        return (*before, *ir.rename((s,), {n: new for n, (_, new) in made.items()}))

    return ir.replaced_in(function, stmt)


def _sums(function: ir.Function) -> dict[str, ir.Call]:
    """The sums of steady names that several statements read, all in the loops of the sum."""
    counts = ir.binding_counts(function, function.params)
    targets = Counter(s.target.id for s in ir.walk(function.body) if type(s) is ir.For)
    counts.subtract(targets)  # a loop's own are the same in all of its body
    loops = {id(s): around for s, around in ir.walk_in_loops(function.body)}
    reading: dict[str, list[ir.Stmt]] = {}
    for s in ir.walk(function.body):
        for name in ir.itself_mentions(s):
            reading.setdefault(name, []).append(s)
    found: dict[str, ir.Call] = {}
    for s in ir.assignments(function.body):
        call, name = ir.call_of(s), s.target.id
        if call is None or not is_op(call, Op.ADD, Op.SUB) or not ir.is_temporary(name):
            continue
        others = [r for r in reading[name] if r is not s]
        here = all(type(r) in ir.PLAIN and loops[id(r)] == loops[id(s)] for r in others)
        operands = ir.names(call)
        steady = counts[name] == 1 and all(counts[n] <= (n not in targets) for n in operands)
        named = all(n in found or not ir.is_temporary(n) for n in operands)
        if here and steady and named and len(others) > 1:
            found[name] = call
    return found


def _is_integer(atom: ir.Atom, kinds: ir.Kinds) -> bool:
    """Whether an atom is an integer of Python."""
    kind = atom_kind(atom, kinds)
    return ir.is_integer(kind) and bool(kind.python)


def _zeros(call: ir.Call, kinds: ir.Kinds, device: bool) -> ir.Call | None:
    """`[0.0] * len(xs)` for zeros in the form of a list of numbers; None for other calls."""
    like = call.args[0] if is_op(call, Op.ZERO_TREE) and not call.kwargs else None
    kind = kinds.get(like.id) if type(like) is ir.Name else None
    if like is None or not isinstance(kind, (ir.List, ir.Tuple)):
        return None
    items = ir.items_of(kind)
    if not items or not all(is_number(k, device) for k in items):
        return None
    return ir.Call(sequences.zeros_of, (like,), text="zeros_of")


def returned(function: ir.Function) -> frozenset[str]:
    """The variables that take what a recursive function returns.

    Its kind cannot be told from the text, so that `+=` might mean an array.
    """
    both: set[str] = set()
    for stmt in ir.assignments(function):
        taken = is_op(stmt.rhs, Op.GETITEM) and not both.isdisjoint(ir.names(stmt.rhs.args[0]))
        if taken or type(ir.callee_of(stmt)) is ir.Derived:
            both.add(stmt.target.id)
    return frozenset(both)


def _attribute(call: ir.Call, kinds: ir.Kinds) -> ir.Call | None:
    """`x.name` of an object that came out of a container; None for other calls."""
    if not is_op(call, Op.GETITEM) or type(call.args[1]) is not ir.Const:
        return None
    name, is_object = call.args[1].value, ir.class_of(atom_kind(call.args[0], kinds)) is not None
    named = isinstance(name, str) if is_object else call.role is ir.Role.ATTRIBUTE
    return ir.Call(ir.Attr(name), call.args[:1]) if named else None


def _in_place(
    stmt: ir.Assign, call: ir.Call, function: ir.Function, kinds: ir.Kinds, ours: frozenset[str]
) -> ir.Stmt:
    """`x = x + y` as `x += y`."""
    name, kind = stmt.target.id, kinds.get(stmt.target.id)
    marked = call.role is ir.Role.IN_PLACE
    symbol = op_of(call.fn).symbol if is_op(call, *BINARY) else ""
    plain = replace(stmt, rhs=replace(call, role=None)) if marked else stmt
    if name in ours and is_op(call, Op.MUL) and call.args[1] == stmt.target:
        call = replace(call, args=(call.args[1], call.args[0]))
    if not (marked or name in ours) or not symbol or call.args[0] != stmt.target:
        return plain
    if name in ir.names(call.args[1]):
        return plain
    # Of an array whose shape and dtype are the same all the time both forms give the same.
    steady = type(kind) is ir.Scalar or _is_steady(kind)
    array = type(kind) is ir.Array
    if not steady or array and not Sharers.of(function, kinds).is_own(name, stmt):
        return plain
    return ir.AugAssign(stmt.target, None, call.args[1], symbol, loc=stmt.loc)


def _is_steady(kind: ir.Kind | None) -> bool:
    """Whether a name always stands for an array of one shape and dtype."""
    return _has_axes(kind) and None not in (kind.dtype, *(kind.dims or ()))


def _finished(stmt: ir.Stmt, kinds: ir.Kinds) -> ir.Rhs | None:
    """The plain form of a result, None for any other statement and where there is none."""
    call = ir.call_of(stmt)
    if type(stmt) is not ir.Assign or not is_op(call, Op.LIKE_TREE):
        return None
    have, want = (atom_kind(a, kinds) for a in call.args)
    return _plain(call.args[0], have, want)


def _plain(grad: ir.Atom, have: ir.Kind, want: ir.Kind) -> ir.Rhs | None:
    """The gradient itself or converted, None where only `like_tree` is sure."""
    if type(want) is ir.Scalar:
        return _plain_number(grad, have, want)
    if type(have) is ir.Array and type(want) is ir.Array and ir.same_shape(have, want):
        if have.dtype == want.dtype:
            return grad
        if have.dtype is not None and want.dtype is not None and ir.is_real(have):
            dtype = ir.Ref(f"np.{want.dtype}", getattr(np, want.dtype))
            return ir.Call(ir.Method("astype"), (grad, dtype))
    return None


def _plain_number(grad: ir.Atom, have: ir.Kind, want: ir.Scalar) -> ir.Rhs | None:
    """A gradient for an input that is a number."""
    have_dtype, python = ir.dtype_of(have), {"float64": float, "complex128": complex}
    as_python = ir.Call(python[want.dtype], (grad,)) if want.dtype in python else None
    if type(have) is ir.Array:  # without axes, as numbers on a device are
        sure = have.dims == () and bool(want.python) and have_dtype is not None
        return as_python if sure and (want.dtype != "float64" or ir.is_real(have)) else None
    known = type(have) is ir.Scalar and have_dtype == want.dtype and want.python is not None
    if not known or have_dtype is None:
        return None
    if want.python is have.python:  # type: ignore[union-attr]
        return grad
    numpys = ir.Call(getattr(np, have_dtype), (grad,), text=f"np.{want.dtype}")
    return as_python if want.python else numpys


# --- calls that make arrays as calls of a workspace: what `workspace=True` asks for --------------


Named = tuple[str | None, tuple[ir.Atom, ...]]

@functools.cache
def _names() -> Mapping[str, str]:
    """What a workspace calls operations."""
    functions = {**OPERATORS, **{getattr(np, name): name for name in FUNCTIONS}}
    return {op_of(fn).name: name for fn, name in functions.items()}


# Where other arguments than arrays and numbers stand first.
_FIRST = ("einsum", "zeros", "ones", "empty", "full", "concatenate", "stack")
_TAKEN: Mapping[str, tuple[int, str]] = {
    **dict.fromkeys(("zeros", "ones", "empty"), (1, "dtype")),
    **dict.fromkeys(("concatenate", "stack", "cumsum", "cumprod"), (2, "axis")),
    **dict.fromkeys(("zeros_like", "ones_like", "empty_like", "copy", "array"), (1, "")),
    **dict.fromkeys(("full_like", "matmul", "dot", "outer"), (2, "")),
    "full": (2, "dtype"),
}
"""How many arguments by position a workspace takes, and which one by keyword."""


def reused(function: ir.Function, params: ir.Kinds) -> ir.Function:
    """The function with its arrays from a workspace, if its target has one.

    CuPy keeps the memory of its arrays itself.
    """
    if not function.target.workspace or function.target.on_device:
        return function
    kinds = infer(function, params)

    return ir.with_values(
        function, lambda s: _reused(s.rhs, kinds) if type(s.rhs) is ir.Call else s.rhs
    )


def _reused(call: ir.Call, kinds: ir.Kinds) -> ir.Call:
    """A call as that of a workspace, if its result is an array with axes for certain."""
    name, args = _named(call, kinds)
    if name is None or not _has_axes(kind_of_call(call, kinds, False)):
        return call
    if any(type(a) is ir.Star for a in args) or not _fits(name, args, call):
        return call
    plain = args[1:] if name in _FIRST else args
    if not all(isinstance(atom_kind(a, kinds), (ir.Array, ir.Scalar)) for a in plain):
        return call
    return replace(call, fn=getattr(MEMORY, name), args=args, text=f"memory.{name}")


def _has_axes(kind: ir.Kind | None) -> TypeGuard[ir.Array]:
    """Whether a value is an array with axes."""
    return is_array(kind) and bool(kind.dims)


def _named(call: ir.Call, kinds: ir.Kinds) -> Named:
    """The function of NumPy that a call is, and its arguments."""
    if is_op(call, Op.POW):
        base, exponent = call.args
        return _power(base, exponent, kinds)
    return _names().get(op_of(call.fn).name), call.args


def _power(base: ir.Atom, exponent: ir.Atom, kinds: ir.Kinds) -> Named:
    """What `**` is of an array: for some numbers another function than `power`."""
    kind = atom_kind(base, kinds)
    inexact = type(kind) is ir.Array and (kind.dtype or "").startswith(("float", "complex"))
    if type(exponent) is not ir.Const:
        whole = _has_axes(atom_kind(exponent, kinds))
        return "power" if whole else None, (base, exponent)
    if not inexact or exponent.value in (0, 1):
        return None, ()
    other = POWERS.get(exponent.value)
    return (other, (base,)) if other else ("power", (base, exponent))


def _fits(name: str, args: tuple[ir.Atom, ...], call: ir.Call) -> bool:
    """Whether a call has the arguments that a workspace takes."""
    most, keyword = _TAKEN.get(name, (len(args), ""))
    if any(k != keyword for k, _ in call.kwargs):
        return False
    fn = getattr(np, name)
    return len(args) == fn.nin if isinstance(fn, np.ufunc) else len(args) <= most
