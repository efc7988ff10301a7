"""The arrays of the stand-in."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np


class TransferError(RuntimeError):
    """Something went to the host that was not to."""


class Counts:
    """What was done: values moved to the host, arrays made, and kernels launched, about."""

    def __init__(self) -> None:
        self.transfers = 0
        self.allocations = 0
        self.launches = 0
        self.forbidden = False

    def made(self) -> None:
        """Count one array that a launch fills."""
        self.allocations += 1
        self.launches += 1

    def transfer(self, how: str) -> None:
        """Count one value that goes to the host."""
        self.transfers += 1
        if self.forbidden:
            raise TransferError(f"{how} moves a value to the host")


COUNTS = Counts()


class ndarray:  # noqa: N801
    """An array on the device; NumPy computes with what it holds."""

    __module__ = "cupy"
    __array_priority__ = 100
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, shape: Any, dtype: Any = float, memptr: Any = None, strides: Any = None):
        if memptr is None:
            self.held = np.empty(shape, dtype)
        else:
            memory = memptr.memory
            self.held = np.ndarray(shape, dtype, memory, memptr.offset, strides)

    # --- what stays on the device or is known without it ---

    shape = property(lambda self: self.held.shape, lambda self, v: setattr(self.held, "shape", v))
    dtype = property(lambda self: self.held.dtype)
    ndim = property(lambda self: self.held.ndim)
    size = property(lambda self: self.held.size)
    strides = property(lambda self: self.held.strides)
    __cuda_array_interface__ = property(lambda self: {"shape": self.shape, "version": 3})
    itemsize = property(lambda self: self.held.itemsize)
    nbytes = property(lambda self: self.held.nbytes)
    flags = property(lambda self: self.held.flags)
    T = property(lambda self: wrapped(self.held.T))
    mT = property(lambda self: wrapped(self.held.mT))  # noqa: N815

    @property
    def real(self) -> Any:
        return wrapped(self.held.real)

    @real.setter
    def real(self, value: Any) -> None:
        self.held.real = plain(value)

    @property
    def imag(self) -> Any:
        return wrapped(self.held.imag)

    @imag.setter
    def imag(self, value: Any) -> None:
        self.held.imag = plain(value)

    @property
    def base(self) -> Any:
        return wrapped(self.held.base) if isinstance(self.held.base, np.ndarray) else None

    @property
    def data(self) -> MemoryPointer:
        return MemoryPointer(self.held)

    def __len__(self) -> int:
        return len(self.held)

    def __iter__(self) -> Any:
        return (self[k] for k in range(len(self)))

    def __getitem__(self, key: Any) -> Any:
        found = plain(_index(key))
        items = found if isinstance(found, tuple) else (found,)
        basic = all(isinstance(k, (int, np.integer, slice, type(None), type(...))) for k in items)
        basic = basic and not any(isinstance(k, bool) for k in items)
        if basic and ... not in items:
            found = (*items, ...)  # an array without axes is a view too
        return wrapped(self.held[found])

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(value, np.ndarray):
            raise TypeError("Unsupported type <class 'numpy.ndarray'>")
        key, value = plain(_index(key)), plain(value)
        if isinstance(key, np.ndarray) and key.ndim == 1 and key.dtype != bool:
            # CuPy does not say which of the values for one place stays: here it is the first.
            value = np.broadcast_to(value, self.held[key].shape)[::-1]
            key = key[::-1]
        self.held[key] = value
        COUNTS.launches += 1

    def __copy__(self) -> Any:
        return wrapped(self.held.copy())

    def __deepcopy__(self, memo: Any) -> Any:
        return wrapped(self.held.copy())

    def __repr__(self) -> str:
        return f"device{self.held!r}"

    # --- what goes to the host ---

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(
            "Implicit conversion to a NumPy array is not allowed. Please use `.get()` to construct "
            "a NumPy array explicitly."
        )

    def __float__(self) -> float:
        COUNTS.transfer("float()")
        return float(self.held)

    def __int__(self) -> int:
        COUNTS.transfer("int()")
        return int(self.held)

    def __complex__(self) -> complex:
        COUNTS.transfer("complex()")
        return complex(self.held)

    def __bool__(self) -> bool:
        COUNTS.transfer("bool()")
        return bool(self.held)

    def __str__(self) -> str:
        COUNTS.transfer("str()")
        return str(self.held)

    def item(self, *args: Any) -> Any:
        COUNTS.transfer("item()")
        return self.held.item(*args)

    def tolist(self) -> Any:
        COUNTS.transfer("tolist()")
        return self.held.tolist()

    def get(self) -> Any:
        COUNTS.transfer("get()")
        return self.held.copy()

    # --- NumPy's functions on these arrays ---

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method != "__call__":  # `np.add.at`, `np.add.reduce`: CuPy answers only to its own
            return NotImplemented
        return computed(ufunc, inputs, kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if func.__name__ in ("may_share_memory", "shares_memory", "shape", "ndim", "size"):
            return func(*map(plain, args), **kwargs)
        return computed(func, args, kwargs)


class MemoryPointer:
    """Where an array begins in the memory of the array that owns it."""

    def __init__(self, array: np.ndarray, offset: int = 0) -> None:
        self.array, self.moved = array, offset
        self.ptr = array.__array_interface__["data"][0] + offset

    @property
    def memory(self) -> Any:
        """The memory of the array that owns it."""
        owner = self.array
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        self.offset = self.ptr - owner.__array_interface__["data"][0]
        return owner.data if owner.flags.c_contiguous else owner.T.data

    def __add__(self, offset: int) -> MemoryPointer:
        return MemoryPointer(self.array, self.moved + offset)


def wrapped(value: Any) -> Any:
    """A result of NumPy as one of the device."""
    if isinstance(value, (np.ndarray, np.generic, bool)):
        made = ndarray.__new__(ndarray)
        made.held = np.asarray(value)
        if not isinstance(value, np.ndarray) or value.base is None:
            COUNTS.made()
        return made
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(wrapped, value))
    if isinstance(value, (tuple, list)):
        return type(value)(map(wrapped, value))
    return value


def plain(value: Any) -> Any:
    """An operand for NumPy; arrays of NumPy are none."""
    if isinstance(value, ndarray):
        return value.held
    if isinstance(value, np.ndarray):
        raise TypeError("Unsupported type <class 'numpy.ndarray'>")
    if isinstance(value, (tuple, list)) and not hasattr(value, "_fields"):
        return type(value)(map(plain, value))
    if isinstance(value, slice):
        return slice(*(_bound(v) for v in (value.start, value.stop, value.step)))
    return value


def _index(key: Any) -> Any:
    """An index, which holds no list of arrays."""
    for item in key if isinstance(key, tuple) else (key,):
        if isinstance(item, list) and any(isinstance(v, ndarray) for v in item):
            raise TypeError("Implicit conversion to a NumPy array is not allowed.")
    return key


def _bound(value: Any) -> Any:
    if isinstance(value, ndarray):
        COUNTS.transfer("the end of a slice")
        return operator.index(value.held)
    return value


def computed(function: Any, args: Any, kwargs: Any) -> Any:
    """What a function of NumPy gives for operands on the device; `out=` is what it was."""
    result = function(*map(plain, args), **{k: plain(v) for k, v in kwargs.items()})
    out = kwargs.get("out")
    if isinstance(out, tuple):
        out = out[0]
    return wrapped(result) if out is None else out


_NAMES = {"and": "and_", "or": "or_"}


def _operators() -> None:
    """The operators, forwards, reflected and in place, which refuse lists and NumPy's arrays."""
    for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or",
                 "xor", "lshift", "rshift", "divmod"):  # fmt: skip
        function = divmod if name == "divmod" else getattr(operator, _NAMES.get(name, name))
        onto = getattr(operator, f"i{name}", None)

        def forwards(self: Any, other: Any, function: Any = function) -> Any:
            _check_operand(other)
            return wrapped(function(self.held, plain(other)))

        def reflected(self: Any, other: Any, function: Any = function) -> Any:
            _check_operand(other)
            return wrapped(function(plain(other), self.held))

        def in_place(self: Any, other: Any, function: Any = onto) -> Any:
            _check_operand(other)
            held = function(self.held, plain(other))
            if held is not self.held:  # NumPy makes a number of an array without axes
                self.held[...] = held
            COUNTS.launches += 1
            return self

        setattr(ndarray, f"__{name}__", forwards)
        setattr(ndarray, f"__r{name}__", reflected)
        if name not in ("matmul", "divmod"):
            setattr(ndarray, f"__i{name}__", in_place)
    for name in ("lt", "le", "gt", "ge", "eq", "ne"):
        function = getattr(operator, name)

        def compared(self: Any, other: Any, function: Any = function) -> Any:
            _check_operand(other)
            return wrapped(function(self.held, plain(other)))

        setattr(ndarray, f"__{name}__", compared)
    for name in ("neg", "pos", "abs", "invert"):
        function = getattr(operator, name)

        def unary(self: Any, function: Any = function) -> Any:
            return wrapped(function(self.held))

        setattr(ndarray, f"__{name}__", unary)


def _check_operand(other: Any) -> None:
    if isinstance(other, (np.ndarray, list, tuple)):
        raise TypeError(f"Unsupported type {type(other)}")


def _methods(names: Any) -> None:
    """The methods that CuPy's arrays have, computed by NumPy's."""
    for name in names:
        if name in vars(ndarray) or not callable(getattr(np.ndarray, name, None)):
            continue

        def method(self: Any, *args: Any, name: str = name, **kwargs: Any) -> Any:
            if name in ("dot", "choose") and not isinstance(args[0], ndarray):
                raise TypeError(f"Argument 'b' has incorrect type (got {type(args[0]).__name__})")
            return computed(getattr(self.held, name), args, kwargs)

        method.__name__ = name
        setattr(ndarray, name, method)


_operators()
