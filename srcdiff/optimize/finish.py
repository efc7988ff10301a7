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
import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from srcdiff import ir
from srcdiff.frontend.request import Request
from srcdiff.ir.frozen import replace
from srcdiff.ir.kinds import Array, Kind, Kinds, List, Scalar, Tuple, class_of, is_real, same_shape
from srcdiff.kinds.calls import atom_kind, kind_of_call
from srcdiff.kinds.interpreter import infer
from srcdiff.optimize.memory import OwnMemory
from srcdiff.primitives.ops import Op, is_op
from srcdiff.runtime import sequences
from srcdiff.runtime.devices import on_device
from srcdiff.runtime.workspace import FUNCTIONS, MEMORY, OPERATORS, POWERS


def finish(function: ir.Function, kinds: Kinds) -> ir.Function:
    """The derivative with its results in their plain form."""
    body: list[ir.Stmt] = []
    same: dict[str, ir.Name] = {}

    def read(name: ir.Name) -> ir.Atom:
        return same.get(name.id, name)

    for k, stmt in enumerate(function.body):
        plain = _finished(stmt, kinds)
        if isinstance(stmt, ir.Assign) and isinstance(plain, ir.Name):
            if _is_tail(function.body[k:]):
                same[stmt.target.id] = plain
                continue
        if isinstance(stmt, ir.Assign) and plain is not None:
            stmt = replace(stmt, rhs=plain)
        body.append(ir.map_stmt(stmt, read, lambda n: n, lambda b: b) if same else stmt)
    return replace(function, body=tuple(body))


def _is_tail(rest: ir.Block) -> bool:
    """Whether what follows only puts the results together, each under a name of its own."""
    bound = [n for s in rest for n in ir.writes(s)]
    plain = all(isinstance(s, (ir.Assign, ir.Return)) for s in rest)
    return plain and len(bound) == len(set(bound)) and not set(bound) & _read_before(rest)


def _read_before(rest: ir.Block) -> set[str]:
    """The names that statements read before one of them binds it."""
    found: set[str] = set()
    done: set[str] = set()
    for stmt in rest:
        found.update(n for n in ir.reads(stmt) if n not in done)
        done.update(ir.writes(stmt))
    return found


def spell(function: ir.Function, kinds: Kinds, ours: frozenset[str]) -> ir.Function:
    """The function with `x = x + y` as `x += y`, where the user or we meant that.

    Of arrays only those that nobody else has are written into.
    """
    own = functools.partial(OwnMemory.of, function, kinds)

    def stmt(s: ir.Stmt) -> ir.Stmt:
        if not isinstance(s, ir.Assign) or not isinstance(s.rhs, ir.Call):
            return s
        if _is_attribute(s.rhs, kinds):
            return replace(s, rhs=_attribute(s.rhs))
        return _zeros(s, s.rhs, kinds) or _in_place(s, s.rhs, kinds, ours, own)

    return ir.replaced_in(function, stmt)


_FEW = 4  # zeros that are written out


def _zeros(stmt: ir.Assign, call: ir.Call, kinds: Kinds) -> ir.Assign | None:
    """`[0.0] * len(xs)` for zeros in the form of a list of numbers; None for other calls."""
    like = call.args[0] if is_op(call, Op.ZERO_TREE) and not call.kwargs else None
    kind = kinds.get(like.id) if isinstance(like, ir.Name) else None
    if like is None or not isinstance(kind, (List, Tuple)):
        return None
    items = kind.items if kind.items is not None else (kind.item,)
    if not items or not all(map(_is_number, items)):
        return None
    zero = ir.Const(0.0)
    if kind.items is not None and len(items) <= _FEW:
        return replace(stmt, rhs=ir.Call(ir.make_list, (zero,) * len(items)))
    return replace(stmt, rhs=ir.Call(sequences.zeros_of, (like,), text="zeros_of"))


def _is_number(kind: Kind | None) -> bool:
    """Whether a value is a number, or the sum of a list: on a device an array, or 0 of none."""
    if isinstance(kind, Array):
        return on_device() and kind.maybe_scalar and kind.dims == () and kind.dtype == "float64"
    return isinstance(kind, Scalar) and kind.dtype == "float64"


def returned(function: ir.Function) -> frozenset[str]:
    """The variables that take what a recursive function returns.

    Its kind cannot be told from the text, so that `+=` might mean an array.
    """
    both: set[str] = set()
    for stmt in ir.walk(function.body):
        rhs = stmt.rhs if isinstance(stmt, ir.Assign) else None
        if isinstance(stmt, ir.Assign) and isinstance(rhs, ir.Call):
            taken = is_op(rhs, Op.GETITEM) and rhs.args[0] in {ir.Name(n) for n in both}
            if isinstance(rhs.fn, ir.Derived) or taken:
                both.add(stmt.target.id)
    return frozenset(both)


def _is_attribute(call: ir.Call, kinds: Kinds) -> bool:
    """Whether a call reads an attribute of an object that came out of a container."""
    if not is_op(call, Op.GETITEM) or not isinstance(call.args[1], ir.Const):
        return False
    if class_of(_kind(call.args[0], kinds)) is not None:
        return isinstance(call.args[1].value, str)
    return call.role is ir.Role.ATTRIBUTE


def _attribute(call: ir.Call) -> ir.Call:
    """`x.name`."""
    assert isinstance(call.args[1], ir.Const)
    return ir.Call(ir.Attr(call.args[1].value), call.args[:1])


_SYMBOLS: Mapping[Any, str] = {
    operator.add: "+", operator.sub: "-", operator.mul: "*", operator.truediv: "/",
}  # fmt: skip


def _in_place(
    stmt: ir.Assign,
    call: ir.Call,
    kinds: Kinds,
    ours: frozenset[str],
    own: Callable[[], OwnMemory],
) -> ir.Stmt:
    """`x = x + y` as `x += y`."""
    name, kind = stmt.target.id, kinds.get(stmt.target.id)
    marked = call.role is ir.Role.IN_PLACE
    symbol = _SYMBOLS.get(call.fn)
    plain = replace(stmt, rhs=replace(call, role=None)) if marked else stmt
    if name in ours and is_op(call, Op.MUL) and call.args[1] == stmt.target:
        call = replace(call, args=(call.args[1], call.args[0]))
    if not (marked or name in ours) or symbol is None or call.args[0] != stmt.target:
        return plain
    if name in ir.names(call.args[1]):
        return plain
    # Of an array whose shape and dtype are the same all the time both forms give the same.
    if isinstance(kind, Scalar) or (_is_steady(kind) and own().is_own(name, stmt)):
        return ir.SetItem(stmt.target, None, call.args[1], symbol, stmt.loc)
    return plain


def _is_steady(kind: Kind | None) -> bool:
    """Whether a name always stands for an array of one shape and dtype."""
    if not isinstance(kind, Array) or kind.maybe_scalar or kind.dtype is None:
        return False
    return bool(kind.dims) and None not in (kind.dims or ())


def _finished(stmt: ir.Stmt, kinds: Kinds) -> ir.Rhs | None:
    """The plain form of a result, None for any other statement and where there is none."""
    if not isinstance(stmt, ir.Assign) or not isinstance(stmt.rhs, ir.Call):
        return None
    if not is_op(stmt.rhs, Op.LIKE_TREE):
        return None
    grad, like = stmt.rhs.args
    have = _kind(grad, kinds)
    want = _kind(like, kinds)
    return None if have is None or want is None else _plain(grad, have, want)


def _kind(atom: ir.Atom, kinds: Kinds) -> Kind | None:
    return kinds.get(atom.id) if isinstance(atom, ir.Name) else None


def _plain(grad: ir.Atom, have: Kind, want: Kind) -> ir.Rhs | None:
    """The gradient itself or converted, None where only `like_tree` is sure."""
    if isinstance(have, Scalar) and isinstance(want, Scalar):
        return _plain_number(grad, have, want)
    if isinstance(want, Scalar) and isinstance(have, Array) and on_device():
        return _fetched(grad, have, want)
    if isinstance(have, Array) and isinstance(want, Array) and same_shape(have, want):
        if have.dtype == want.dtype:
            return grad
        if have.dtype is not None and want.dtype is not None and is_real(have):
            dtype = ir.Ref(f"np.{want.dtype}", getattr(np, want.dtype))
            return ir.Call(ir.Method("astype"), (grad, dtype))
    return None


def _fetched(grad: ir.Atom, have: Array, want: Scalar) -> ir.Rhs | None:
    """A gradient that may be an array on a device, for a number of Python."""
    number = want.python and want.dtype in ("float64", "complex128")
    if have.dtype is None or have.dims != () or not number:
        return None
    if want.dtype == "float64" and not is_real(have):
        return None
    return ir.Call(float if want.dtype == "float64" else complex, (grad,))


def _plain_number(grad: ir.Atom, have: Scalar, want: Scalar) -> ir.Rhs | None:
    """A gradient that is a number, for an input that is one."""
    if have.dtype is None or have.dtype != want.dtype or want.python is None:
        return None
    if want.python is have.python:
        return grad
    if want.python:
        return ir.Call(float if want.dtype == "float64" else complex, (grad,))
    return ir.Call(getattr(np, str(want.dtype)), (grad,), text=f"np.{want.dtype}")


# --- calls that make arrays as calls of a workspace: what `workspace=True` asks for --------------


Named = tuple[str | None, tuple[ir.Atom, ...]]

_NAMES: Mapping[Any, str] = {**OPERATORS, **{getattr(np, name): name for name in FUNCTIONS}}
# Where other arguments than arrays and numbers stand, and the keywords that a workspace takes.
_FIRST = ("einsum", "zeros", "ones", "empty", "full", "concatenate", "stack")
_KEYWORDS: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(("zeros", "ones", "empty", "full"), frozenset({"dtype"})),
    **dict.fromkeys(("concatenate", "stack", "cumsum", "cumprod"), frozenset({"axis"})),
}
_POSITIONAL: Mapping[str, int] = {
    "zeros": 1, "ones": 1, "empty": 1, "full": 2, "zeros_like": 1, "ones_like": 1, "empty_like": 1,
    "full_like": 2, "copy": 1, "array": 1, "concatenate": 2, "stack": 2, "cumsum": 2, "cumprod": 2,
    "matmul": 2, "dot": 2, "outer": 2,
}  # fmt: skip


def reused(function: ir.Function, params: Kinds, request: Request) -> ir.Function:
    """The function with its arrays from a workspace, if the request asks for that.

    CuPy keeps the memory of its arrays itself.
    """
    if not request.workspace or on_device():
        return function
    kinds = infer(function, params)

    def stmt(s: ir.Stmt) -> ir.Stmt:
        if isinstance(s, ir.Assign) and isinstance(s.rhs, ir.Call):
            return ir.rebuilt(s, rhs=_reused(s.rhs, kinds))
        return s

    return ir.replaced_in(function, stmt)


def _reused(call: ir.Call, kinds: Kinds) -> ir.Call:
    """A call as that of a workspace, if its result is an array with axes for certain."""
    name, args = _named(call, kinds)
    if name is None or not _is_array(kind_of_call(call, kinds)):
        return call
    if any(isinstance(a, ir.Star) for a in args) or not _fits(name, args, call):
        return call
    plain = args[1:] if name in _FIRST else args
    if not all(isinstance(atom_kind(a, kinds), (Array, Scalar)) for a in plain):
        return call
    return replace(call, fn=getattr(MEMORY, name), args=args, text=f"memory.{name}")


def _is_array(kind: Kind | None) -> bool:
    """Whether a value is an array with axes."""
    return isinstance(kind, Array) and not kind.maybe_scalar and bool(kind.dims)


def _named(call: ir.Call, kinds: Kinds) -> Named:
    """The function of NumPy that a call is, and its arguments."""
    if is_op(call, Op.POW):
        base, exponent = call.args
        return _power(base, exponent, kinds)
    try:
        return _NAMES.get(call.fn), call.args
    except TypeError:  # some callable object
        return None, ()


def _power(base: ir.Atom, exponent: ir.Atom, kinds: Kinds) -> Named:
    """What `**` is of an array: for some numbers another function than `power`."""
    kind = atom_kind(base, kinds)
    inexact = isinstance(kind, Array) and (kind.dtype or "").startswith(("float", "complex"))
    if not isinstance(exponent, ir.Const):
        whole = _is_array(atom_kind(exponent, kinds))
        return "power" if whole else None, (base, exponent)
    if not inexact or exponent.value in (0, 1):
        return None, ()
    other = POWERS.get(exponent.value)
    return (other, (base,)) if other else ("power", (base, exponent))


def _fits(name: str, args: tuple[ir.Atom, ...], call: ir.Call) -> bool:
    """Whether a call has the arguments that a workspace takes."""
    keywords = {k for k, _ in call.kwargs}
    if not keywords <= _KEYWORDS.get(name, frozenset()):
        return False
    fn = getattr(np, name)
    if isinstance(fn, np.ufunc):
        return len(args) == fn.nin
    return name == "einsum" or len(args) <= _POSITIONAL[name]
