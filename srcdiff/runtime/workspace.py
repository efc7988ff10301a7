"""Memory that generated code uses again: `memory.multiply(x, y)` for `x * y`.

A workspace keeps the large arrays that its functions have returned, and makes the next result in
one of them as soon as nobody else refers to it, which the reference count of CPython tells: a view
refers to the array that it is of, as do lists, tapes, tracebacks and results in a caller's hands.
NumPy itself makes the first result of every signature of operands, so that shape, dtype and layout
are its own.  `Memory` has the functions of NumPy that make arrays as methods; what is small, and
what is no plain array or number of NumPy, goes to the plain function at once.
"""

from __future__ import annotations

import builtins
import math
import operator
import sys
import threading
from collections.abc import Callable, Iterable, Mapping
from sys import getrefcount
from typing import Any
from weakref import getweakrefcount

import numpy as np

from srcdiff.errors import UnsupportedError

_BYTES = 32 * 1024  # the least that an array has to take to be kept
_FLOOR = 64 * 1024 * 1024  # what a workspace may keep without ever looking for what is out of use
_MOST = 4096  # signatures that are remembered
_NEAR = 8  # arrays behind the one handed out last that may be free
_FEW = 4  # arrays of one layout that are never looked through

_ndarray = np.ndarray
NUMBERS = frozenset(
    (bool, int, float, complex, np.bool_, *(np.dtype(c).type for c in np.typecodes["AllInteger"]))
    + tuple(np.dtype(c).type for c in np.typecodes["AllFloat"])
)


class _Layout:
    """The arrays of one shape, dtype and order, and which of them was handed out last.

    `alone` is the reference count of an array that only the list holds, as `take` sees it.  The
    list is looked through only when it has twice as many items as were in use the last time.
    """

    __slots__ = ("alone", "arrays", "at", "dtype", "flags", "full", "nbytes", "shape", "used")

    def __init__(self, first: Any, alone: int) -> None:
        self.alone, self.arrays = alone, [first]
        self.at, self.full, self.used = 0, _FEW, True
        self.shape, self.dtype, self.flags = first.shape, first.dtype, first.flags.num
        self.nbytes = first.nbytes

    def take(self) -> Any:
        """An array that nobody else refers to, None if there is none at hand.

        The reference is taken before it is counted: a signal handler may run in between.
        """
        self.used = True
        arrays, at = self.arrays, self.at
        for _ in range(1 + _NEAR if arrays else 0):
            array = arrays[at]
            if getrefcount(array) == self.alone and self.is_as_made(array):
                self.at = at
                return array
            at = at + 1 if at + 1 < len(arrays) else 0
        return None if len(arrays) < self.full else self._searched()

    def is_as_made(self, array: Any) -> bool:
        """Whether nobody has changed the form of an array, or would notice that it lives on."""
        same: bool = array.flags.num == self.flags and array.shape == self.shape
        return same and array.dtype is self.dtype and not getweakrefcount(array)

    def _searched(self) -> Any:
        """An array that nobody else refers to, after a look at all; those that were changed go."""
        busy, free = [], []
        arrays = self.arrays
        for at in range(len(arrays)):
            array = arrays[at]
            if getrefcount(array) != self.alone:
                busy.append(array)
            elif self.is_as_made(array):
                free.append(array)
        self.full = max(_FEW, 2 * len(busy))
        self.at = len(busy) if free else max(0, len(busy) - 1)
        self.arrays = busy + free
        return free[0] if free else None

    def add(self, array: Any) -> bool:
        """Keep a new array, in the place of one that is free; whether it is one more."""
        if self.take() is not None:
            self.arrays[self.at] = array
            return False
        self.arrays.append(array)
        self.at = len(self.arrays) - 1
        return True


def _counted() -> int:
    """The reference count of an array that only a list holds, as `_Layout.take` sees it.

    A debugger that looks at the variables makes it larger: then it is what CPython documents.  It
    is 0 where reference counts do not tell who holds an array: then none is used again.
    """
    (inside,) = map(getrefcount, [np.empty(1)])
    most = inside + (sys.version_info < (3, 14))  # since then operands are borrowed from variables
    layout = _Layout(np.empty(1), 0)
    while layout.alone < most and layout.take() is None:
        layout.alone += 1
    held = layout.arrays[0]
    told = all(layout.take() is not held for _ in range(16))
    return layout.alone if told else 0


def check_counts() -> None:
    """Raise unless reference counts tell who holds an array, and dtypes follow from dtypes.

    Raises:
        UnsupportedError: another Python than CPython, one without its global lock, or NumPy with
            the promotion of its first version.
    """
    locked = getattr(sys, "_is_gil_enabled", lambda: True)()
    by_values = np.result_type(np.zeros(1, np.float32), np.float64(3.0)) != np.float64
    if sys.implementation.name != "cpython" or not locked or by_values or not _counted():
        what = "the promotion of NumPy 2" if by_values else "CPython with its global lock"
        raise UnsupportedError(
            f"workspace=True is not supported here: it needs {what}",
            remedy="Leave it out.  srcdiff.backward adds gradients into buffers that you keep.",
        )


class Thread(threading.local):
    """What a workspace keeps for each thread: layouts, and which signatures have which."""

    def __init__(self) -> None:
        self.alone = _counted()
        self.layouts: dict[Any, _Layout] = {}
        self.signatures: dict[Any, _Layout] = {}
        self.kept, self.most = 0, _FLOOR

    def taken(self, signature: Any) -> Any:
        """An array that is free, for the result of a signature; None: NumPy has to make it."""
        layout = self.signatures.get(signature)
        return None if layout is None else layout.take()

    def made(self, signature: Any, array: Any) -> Any:
        """The result that NumPy made for a signature; it is kept if it can be used again."""
        layout = self._layout(array)
        if layout is not None:
            if len(self.signatures) >= _MOST:
                self.signatures.clear()
            self.signatures[signature] = layout
        return array

    def _layout(self, array: Any) -> _Layout | None:
        """The layout of a new array, which it is added to."""
        if not _is_plain(array):
            return None
        key = array.shape, array.dtype, array.flags.num
        layout = self.layouts.get(key)
        if layout is None:
            layout = self.layouts[key] = _Layout(array, self.alone)
        elif not layout.add(array):
            return layout
        self._count(layout)
        return layout

    def _count(self, layout: _Layout) -> None:
        """Count a new array; at times let go of the layouts that are out of use."""
        self.kept += layout.nbytes
        if self.kept <= self.most:
            return
        self.layouts = {k: v for k, v in list(self.layouts.items()) if v.used}
        used = set(self.layouts.values())
        self.signatures = {k: v for k, v in list(self.signatures.items()) if v in used}
        for each in used:
            each.used = False
        self.kept = sum(len(v.arrays) * v.nbytes for v in used)
        if self.kept > 0.75 * self.most:  # hardly anything was out of use
            self.most = 2 * self.kept


def _is_plain(array: Any) -> bool:
    """Whether an array is large, in one piece, its own and of one of NumPy's own number types."""
    if type(array) is not _ndarray or array.nbytes < _BYTES:
        return False
    flags, dtype = array.flags, array.dtype
    plain = flags.owndata and flags.writeable and flags.forc and flags.aligned
    return plain and dtype.type in NUMBERS and dtype is np.dtype(dtype.type)


class Memory:
    """The memory of one compiled derivative, of which every thread has its own.

    It mirrors NumPy: `memory.tanh(x)`, `memory.zeros(3)`.
    """

    def __init__(self) -> None:
        self._thread = Thread()

    def release(self) -> None:
        """Let go of all arrays; those that somebody holds stay theirs."""
        self._thread = Thread()

    @property
    def kept(self) -> int:
        """How many bytes are kept for this thread, those in use included."""
        return sum(len(v.arrays) * v.nbytes for v in self._thread.layouts.values())

    def thread(self) -> Thread:
        """What is kept for this thread."""
        return self._thread

    def applied(self, fn: Any, signature: Any, args: tuple[Any, ...]) -> Any:
        """`fn(*args)`, in an array that is free, if there is one of its form."""
        thread = self._thread
        out = thread.taken(signature)
        if out is None:
            return thread.made(signature, fn(*args))
        return fn(*args, out=out)

    def filled(self, make: Any, signature: Any, fill: Any) -> Any:
        """What `make()` gives, or an array that is free after `fill(array)`."""
        thread = self._thread
        out = thread.taken(signature)
        if out is None:
            return thread.made(signature, make())
        fill(out)
        return out


# --- the functions of NumPy that make arrays, as methods of a workspace --------------------------


_SMALL = 4096  # the size of arrays below which a result is made as usual: 32 KiB of `float64`
_ARRAYS, _INTEGERS, _FLOATS = frozenset((_ndarray,)), frozenset((int,)), frozenset((float,))

OPERATORS: Mapping[Any, str] = {
    operator.add: "add", operator.sub: "subtract", operator.mul: "multiply",
    operator.truediv: "divide", operator.floordiv: "floor_divide", operator.mod: "remainder",
    operator.neg: "negative", builtins.abs: "absolute", operator.matmul: "matmul",
    operator.lt: "less", operator.le: "less_equal", operator.gt: "greater",
    operator.ge: "greater_equal", operator.and_: "bitwise_and", operator.or_: "bitwise_or",
    operator.xor: "bitwise_xor", operator.invert: "invert",
}  # fmt: skip
"""The operators, and the functions that they are of arrays.

Not `**`, which is other functions for some exponents, and not `==`, which accepts any shapes.
"""

POWERS: Mapping[float, str] = {2.0: "square", 0.5: "sqrt", -1.0: "reciprocal"}
"""The functions that `**` is for some exponents."""


def _unary(ufunc: Any, plain: Callable[..., Any]) -> Callable[..., Any]:
    """An elementwise function of one array; `plain` is the operator, or the function itself."""

    def call(self: Memory, x: Any) -> Any:
        if type(x) is not _ndarray or x.size < _SMALL:
            return plain(x)
        return self.applied(ufunc, (ufunc, x.shape, x.strides, x.dtype), (x,))

    return call


def _binary(ufunc: Any, plain: Callable[..., Any]) -> Callable[..., Any]:
    """An elementwise function of two arrays, or of an array and a number."""

    def call(self: Memory, x: Any, y: Any) -> Any:
        one, two = type(x), type(y)
        signature: tuple[Any, ...]
        if one is _ndarray and two is _ndarray:
            m, n = x.size, y.size
            if m < _SMALL and n < _SMALL and (m * n < _SMALL or x.shape == y.shape):
                return plain(x, y)
            signature = ufunc, x.shape, x.strides, x.dtype, y.shape, y.strides, y.dtype
        elif one is _ndarray and two in NUMBERS and x.size >= _SMALL:
            signature = ufunc, x.shape, x.strides, x.dtype, two
        elif two is _ndarray and one in NUMBERS and y.size >= _SMALL:
            signature = ufunc, one, y.shape, y.strides, y.dtype
        else:
            return plain(x, y)
        return self.applied(ufunc, signature, (x, y))

    return call


def _product(fn: Any, plain: Callable[..., Any], inner: bool) -> Callable[..., Any]:
    """A product of two arrays; `inner`: it sums over the last axis of the first one."""

    def call(self: Memory, x: Any, y: Any) -> Any:
        if type(x) is not _ndarray or type(y) is not _ndarray:
            return plain(x, y)
        most = x.size * y.size
        if inner and x.ndim:
            most //= max(1, x.shape[-1]) ** 2
        if most < _SMALL:
            return plain(x, y)
        signature = fn, x.shape, x.strides, x.dtype, y.shape, y.strides, y.dtype
        return self.applied(fn, signature, (x, y))

    return call


def _einsum(self: Memory, subscripts: Any, *operands: Any) -> Any:
    """Sums of products by Einstein's convention."""
    if type(subscripts) is not str or not _all_arrays(operands):
        return np.einsum(subscripts, *operands)
    signature = (np.einsum, subscripts, *map(_form, operands))
    return self.applied(np.einsum, signature, (subscripts, *operands))


def _joined(fn: Any) -> Callable[..., Any]:
    """`concatenate` and `stack`."""

    def call(self: Memory, arrays: Any, axis: Any = 0) -> Any:
        known = type(arrays) in (tuple, list) and _is_axis(axis) and _all_arrays(arrays)
        if not known or sum([x.size for x in arrays]) < _SMALL:
            return fn(arrays, axis)
        return self.applied(fn, (fn, axis, *map(_form, arrays)), (arrays, axis))

    return call


def _cumulative(fn: Any) -> Callable[..., Any]:
    """`cumsum` and `cumprod`."""

    def call(self: Memory, x: Any, axis: Any = None) -> Any:
        if type(x) is not _ndarray or not _is_axis(axis) or x.size < _SMALL:
            return fn(x, axis)
        return self.applied(fn, (fn, axis, *_form(x)), (x, axis))

    return call


def _new(make: Any, *put: Any) -> Callable[..., Any]:
    """`zeros`, `full` and the like, which put a value into an array if they are given none."""

    def call(self: Memory, shape: Any, *value: Any, dtype: Any = None) -> Any:
        sizes = shape if type(shape) is tuple else (shape,)
        known = isinstance(dtype, (type, np.dtype, str, type(None)))  # which mean one for ever
        known = known and _INTEGERS.issuperset(map(type, sizes)) and math.prod(sizes) >= _SMALL
        if not known or not _FLOATS.issuperset(map(type, value)):
            return make(shape, *value, dtype=dtype)
        return self.filled(
            lambda: make(shape, *value, dtype=dtype),
            (make, shape, dtype, len(value)),
            lambda out: _fill(out, value or put),
        )

    return call


def _like(make: Any, put: tuple[Any, ...] | None = None) -> Callable[..., Any]:
    """`zeros_like` and the like; without anything to put they copy an array."""

    def call(self: Memory, x: Any, *value: Any) -> Any:
        known = type(x) is _ndarray and NUMBERS.issuperset(map(type, value))
        if not known or x.size < _SMALL:
            return make(x, *value)
        return self.filled(
            lambda: make(x, *value),
            (make, *_form(x), *map(type, value)),
            lambda out: _fill(out, value or ((x,) if put is None else put)),
        )

    return call


def _fill(out: Any, values: Iterable[Any]) -> None:
    """Put a value into an array, if there is one."""
    for value in values:
        np.copyto(out, value, casting="unsafe")


def _all_arrays(values: Any) -> bool:
    """Whether all of some values are arrays of NumPy's own class."""
    return _ARRAYS.issuperset(map(type, values))


def _form(x: Any) -> tuple[Any, ...]:
    """What results depend on of an array but its contents."""
    return x.shape, x.strides, x.dtype


def _is_axis(axis: Any) -> bool:
    """Whether a value is an axis, or None for the flat array."""
    return axis is None or type(axis) is int


# --- all of them -------------------------------------------------------------------------------


def _elementwise() -> dict[str, Callable[..., Any]]:
    """The functions of NumPy with one result for one or two items of arrays."""
    plain, makers = {name: fn for fn, name in OPERATORS.items()}, {1: _unary, 2: _binary}
    own = {n: f for n, f in vars(np).items() if isinstance(f, np.ufunc) and f.__name__ == n}
    found = {n: f for n, f in own.items() if f.nout == 1 and f.signature is None}
    return {n: makers[f.nin](f, plain.get(n, f)) for n, f in found.items() if f.nin in makers}


FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    **_elementwise(),
    "matmul": _product(np.matmul, operator.matmul, True),
    "dot": _product(np.dot, np.dot, True),
    "outer": _product(np.outer, np.outer, False),
    "einsum": _einsum,
    "concatenate": _joined(np.concatenate),
    "stack": _joined(np.stack),
    "cumsum": _cumulative(np.cumsum),
    "cumprod": _cumulative(np.cumprod),
    "zeros": _new(np.zeros, 0),
    "ones": _new(np.ones, 1),
    "empty": _new(np.empty),
    "full": _new(np.full),
    "zeros_like": _like(np.zeros_like, (0,)),
    "ones_like": _like(np.ones_like, (1,)),
    "empty_like": _like(np.empty_like, ()),
    "full_like": _like(np.full_like, ()),
    "copy": _like(np.copy),
    "array": _like(np.array),
}
"""The functions of `np` that a workspace has, by their names."""

for _name, _call in FUNCTIONS.items():
    _call.__name__ = _name
    setattr(Memory, _name, _call)

MEMORY = Memory()
"""What a text calls `memory`, until it is compiled."""


def given(refs: Mapping[str, Any]) -> Mapping[str, Any]:
    """The global names of a text, with a workspace of its own in the place of `MEMORY`."""
    if not any(v is MEMORY for v in refs.values()):
        return refs
    own = Memory()
    return {n: own if v is MEMORY else v for n, v in refs.items()}


def workspaces(function: Any) -> list[Memory]:
    """The workspaces that a generated function uses."""
    return [v for v in function.__globals__.values() if isinstance(v, Memory)]
