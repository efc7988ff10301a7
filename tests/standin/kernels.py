"""Kernels of the stand-in: their bodies are read as C++, and computed by NumPy.

The types are those of C++: operands become of one type by its rules (`long long` and `float` make
`float`), functions want floats of one width, and what C++ would do silently otherwise than NumPy
is an error: quotients of integers, doubles that become floats, names that are bound twice, arrays
that are written at other elements than they are read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .arrays import COUNTS, ndarray

_TOKEN = re.compile(
    r"\s*(?:(//[^\n]*)|(\d+\.?\d*(?:e[+-]?\d+)?(?:f|LL)?)|([A-Za-z_]\w*)|(&&|\|\||[-+*/<>=!]=|[-+*/<>=!?:;,()]))"
)
_TYPES = {"double": np.float64, "float": np.float32, "long long": np.int64, "bool": np.bool_}
_RANKS = (np.bool_, np.int32, np.int64, np.float32, np.float64)
_BINARY: Mapping[str, tuple[int, Any]] = {
    "||": (1, np.logical_or), "&&": (2, np.logical_and), "==": (3, np.equal),
    "!=": (3, np.not_equal), "<": (4, np.less), ">": (4, np.greater), "<=": (4, np.less_equal),
    ">=": (4, np.greater_equal), "+": (5, np.add), "-": (5, np.subtract), "*": (6, np.multiply),
    "/": (6, np.divide),
}  # fmt: skip
_SAME = """cbrt ceil cos cosh exp exp2 expm1 fabs floor fmax fmin hypot isfinite isinf isnan log
    log10 log1p log2 rint sin sinh sqrt tan tanh trunc"""
_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "acos": np.arccos, "acosh": np.arccosh, "asin": np.arcsin, "asinh": np.arcsinh,
    "atan": np.arctan, "atan2": np.arctan2, "atanh": np.arctanh, "pow": np.power,
    **{n: getattr(np, n) for n in _SAME.split()},
}  # fmt: skip


class KernelError(SyntaxError):
    """What a body says that a compiler would refuse, or that NumPy would do otherwise."""


class ElementwiseKernel:
    """A kernel over elements, with what `cupy.ElementwiseKernel` checks."""

    __module__ = "cupy"

    def __init__(
        self,
        in_params: str,
        out_params: str,
        operation: str,
        name: str = "kernel",
        options: tuple[str, ...] = (),
    ):
        if options not in ((), ("--fmad=false",)):
            raise ValueError(f"options: {options}")
        if not name.isidentifier() or not name.isascii():
            raise ValueError(f'Invalid kernel name: "{name}"')
        self.in_params, self.out_params = _parameters(in_params), _parameters(out_params)
        self.operation, self.name = operation, name
        names = [n for _, n in (*self.in_params, *self.out_params)]
        if len(set(names)) < len(names) or {"i", "n"} & {*names}:
            raise ValueError(f"parameters: {names}")
        if any(n.startswith("_") or not n.isascii() for n in names):
            raise ValueError(f"reserved names: {names}")
        Body(operation)

    def __call__(self, *args: Any) -> Any:
        """The results, or what is given behind the operands."""
        nin, nout = len(self.in_params), len(self.out_params)
        if len(args) not in (nin, nin + nout):
            raise TypeError(f"Wrong number of arguments for {self.name!r}: given {len(args)}")
        operands, outs = args[:nin], args[nin:]
        values = {n: _operand(a, t, n) for a, (t, n) in zip(operands, self.in_params)}
        arrays = [a.held for a in args if isinstance(a, ndarray)]
        if not arrays:
            raise ValueError("Loop size is undecided.")
        shape = np.broadcast_shapes(*(a.shape for a in arrays))
        if not outs:
            made = [_made(np.empty(shape, t)) for t, _ in self.out_params]
        else:
            made = [_given(a, t, shape) for a, (t, _) in zip(outs, self.out_params, strict=True)]
        results = {n: a.held for a, (_, n) in zip(made, self.out_params, strict=True)}
        _check_apart(values, results, shape)
        COUNTS.launches += 1
        if 0 not in shape:
            with np.errstate(all="ignore"):
                Body(self.operation).run(values, results, shape)
        return made[0] if nout == 1 else tuple(made)


def _parameters(text: str) -> list[tuple[type, str]]:
    """The types and names of `float64 x, bool y`."""
    found = []
    for part in filter(None, text.split(",")):
        dtype, name = part.split()
        if np.dtype(dtype).name != dtype:
            raise ValueError(f"Wrong type {dtype}")
        found.append((np.dtype(dtype).type, name))
    return found


def _operand(value: Any, dtype: type, name: str) -> Any:
    """An operand: an array of the very dtype, or a number."""
    if isinstance(value, ndarray):
        if value.dtype != dtype:
            raise TypeError(f"Type is mismatched. {name} {value.dtype} {dtype.__name__}")
        return value.held
    if type(value) not in (bool, int, float) and not isinstance(value, np.generic):
        raise TypeError(f"Unsupported type {type(value)}")
    return dtype(value)


def _made(array: np.ndarray) -> ndarray:
    COUNTS.allocations += 1
    made = ndarray.__new__(ndarray)
    made.held = array
    return made


def _given(value: Any, dtype: type, shape: tuple[int, ...]) -> ndarray:
    """An array that is written into."""
    if not isinstance(value, ndarray):
        raise TypeError("Output arguments type must be cupy.ndarray")
    if value.dtype != dtype:
        raise TypeError(f"Type is mismatched. {value.dtype} {dtype.__name__}")
    if value.shape != shape:
        raise ValueError("Out shape is mismatched")
    return value


def _check_apart(values: Mapping[str, Any], results: Mapping[str, Any], shape: Any) -> None:
    """Raise where an element is written that another one reads, or writes."""
    for name, out in results.items():
        others = [v for v in values.values() if isinstance(v, np.ndarray)]
        others = [np.broadcast_to(v, shape) for v in others]
        for other in (*others, *(o for n, o in results.items() if n < name)):
            same = _address(other) == _address(out)
            if np.shares_memory(other, out) and not (same and other.strides == out.strides):
                raise KernelError(f"{name} is written at other elements than it is read")


def _address(array: np.ndarray) -> int:
    return int(array.__array_interface__["data"][0])


class Body:
    """The statements of a body."""

    def __init__(self, text: str) -> None:
        self.tokens: list[str] = []
        at, text = 0, text.strip()
        while at < len(text):
            found = _TOKEN.match(text, at)
            if found is None:
                raise KernelError(f"what is {text[at : at + 20]!r}?")
            at = found.end()
            if not found.group(1):
                self.tokens.append(found.group(0).strip())
        self.place = 0

    def run(self, values: Mapping[str, Any], results: Mapping[str, Any], shape: Any) -> None:
        """Compute the results."""
        self.values, self.results, self.shape = dict(values), results, shape
        self.written: set[str] = set()
        while self.place < len(self.tokens):
            self.statement()
        if self.written != set(results):
            raise KernelError(f"not written: {set(results) - self.written}")

    def next(self, wanted: str | None = None) -> str:
        """The next token."""
        token = self.tokens[self.place]
        if wanted is not None and token != wanted:
            raise KernelError(f"expected {wanted}, found {token}")
        self.place += 1
        return token

    def peek(self, ahead: int = 0) -> str:
        """A token that stays."""
        at = self.place + ahead
        return self.tokens[at] if at < len(self.tokens) else ""

    def type(self) -> type | None:
        """A type, if one comes next."""
        both = f"{self.peek()} {self.peek(1)}"
        name = both if both in _TYPES else self.peek()
        if name not in _TYPES:
            return None
        self.place += 1 + (name == both)
        return _TYPES[name]

    def statement(self) -> None:
        """`const double x = ...;` or `x = ...;` of a result."""
        const = self.peek() == "const"
        self.place += const
        declared = self.type()
        name = self.next()
        sign = self.next() if self.peek() in ("+=", "-=", "*=", "/=") else self.next("=")
        value = self.choice()
        if len(sign) == 2:
            one, value = _alike(self.results[name], value)
            value = _BINARY[sign[0]][1](one, value)
        self.next(";")
        if declared is not None:
            if not const or name in self.values or name in self.results:
                raise KernelError(f"{name} is bound twice, or no constant")
            self.values[name] = _converted(value, declared)
        elif name not in self.results:
            raise KernelError(f"{name} is not declared")
        else:
            out = self.results[name]
            out[...] = _converted(value, out.dtype.type)
            self.written.add(name)

    def choice(self) -> Any:
        """`a ? b : c`."""
        test = self.binary(1)
        if self.peek() != "?":
            return test
        self.next()
        one = self.choice()
        self.next(":")
        one, other = _alike(one, self.choice())
        return np.where(_bool(test), one, other)

    def binary(self, level: int) -> Any:
        """Operators that bind as tightly as a level, or more."""
        if level > 6:
            return self.unary()
        left = self.binary(level + 1)
        while _BINARY.get(self.peek(), (0,))[0] == level:
            sign = self.next()
            right = self.binary(level + 1)
            if level < 3:
                left = _BINARY[sign][1](_bool(left), _bool(right))
                continue
            left, right = _alike(left, right)
            if sign == "/" and left.dtype.kind != "f":
                raise KernelError("a quotient of integers")
            left = _BINARY[sign][1](left, right)
        return left

    def unary(self) -> Any:
        """`-x`, `!x`, `(double)x`."""
        token = self.peek()
        if token == "-":
            self.next()
            return -_alike(self.unary(), np.int32(0))[0]
        if token == "!":
            self.next()
            return ~_bool(self.unary())
        if token == "(":
            self.next()
            cast = self.type()
            if cast is not None:
                self.next(")")
                return np.asarray(self.unary()).astype(cast)
            inner = self.choice()
            self.next(")")
            return inner
        return self.single()

    def single(self) -> Any:
        """A number, a name or a call."""
        token = self.next()
        if token[0].isdigit():
            return _number(token)
        if token in ("true", "false"):
            return np.bool_(token == "true")
        if self.peek() != "(":
            if token in self.results:
                return self.results[token]
            if token not in self.values:
                raise KernelError(f"{token} is not declared")
            return self.values[token]
        args = []
        while self.next() != ")":
            args.append(np.asarray(self.choice()))
            if self.peek() not in (",", ")"):
                raise KernelError(f"in a call of {token}: {self.peek()}")
        if token in self.values or token in self.results:
            raise KernelError(f"{token} is no function")
        dtypes = {a.dtype for a in args}
        if len(dtypes) != 1 or dtypes.pop().kind != "f":
            raise KernelError(f"{token} of {[a.dtype.name for a in args]}")
        return _FUNCTIONS[token](*args)


def _number(token: str) -> Any:
    if token.endswith("LL"):
        return np.int64(int(token[:-2]))
    if token.endswith("f"):
        return np.float32(token[:-1])
    return np.float64(token) if re.search("[.e]", token) else np.int32(int(token))


def _bool(value: Any) -> Any:
    return np.asarray(value) != 0


def _alike(one: Any, other: Any) -> tuple[Any, Any]:
    """Two operands in the type that C++ computes in."""
    ranks = [_RANKS.index(np.asarray(v).dtype.type) for v in (one, other)]
    common = _RANKS[max(1, *ranks)]
    return np.asarray(one).astype(common), np.asarray(other).astype(common)


def _converted(value: Any, dtype: type) -> Any:
    """A value as one of a type that a name or a result has."""
    value = np.asarray(value)
    if _RANKS.index(value.dtype.type) > max(_RANKS.index(dtype), 1):
        raise KernelError(f"a {value.dtype} becomes a {dtype.__name__}")
    return value.astype(dtype)
