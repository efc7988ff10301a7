"""The kind of a result, found by calling the function on tiny stand-ins for its operands.

A stand-in is a tiny value that stands for all values of a kind.

Every unknown length is given a length of its own, twice; a length of the result that is that of the
same operand both times is that operand's length.  Where a function fails on lengths that all differ
(the inner lengths of a product), lengths are made equal in pairs, then by position, then all, and
at last to one that is known.
Lengths that may be 1 are also tried as 1, since a function may drop or stretch such axes.  What is
not known of an operand (rank, dtype, the value of an integer) is tried in several ways, and the
results are joined.

Only functions that are listed as safe to run are called, and methods of arrays that have no effect
(see `operation`); the callers see to it that the shape of the result does not depend on the data.
"""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Callable as Function
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from srcdiff import ir
from srcdiff.kinds.lattice import Args, Kwargs, join, join_all, kind_of
from srcdiff.primitives.operation import op_of
from srcdiff.runtime.scipy.sparse import is_sparse

Key = tuple[Any, ...]  # what tells one unknown length of the operands from another
Lengths = dict[Key, int]


class NoStandInError(Exception):
    """There is no stand-in for this kind."""


def key_of_length(dim: ir.Dim, path: tuple[int, ...]) -> Key:
    """What tells a length from others; known integers are varied as well."""
    if isinstance(dim, ir.Sym) and dim.name != ir.BIG.name:
        return dim.name, dim.offset
    return ("", dim) if isinstance(dim, int) else ("?", *path)


def stand_in(
    kind: ir.Kind, path: tuple[int, ...], lengths: Lengths, fill: float, whole: int
) -> Any:
    """A value of a kind; `whole` for integers of which nothing is known."""
    if isinstance(kind, ir.Scalar):
        return _number(kind, fill, whole)
    if isinstance(kind, ir.Array):
        return _filled(kind, path, lengths, fill)
    if isinstance(kind, (ir.Tuple, ir.List)):
        inner = enumerate(kind.items or ())
        items = [stand_in(k, (*path, i), lengths, fill, whole) for i, k in inner]
        return tuple(items) if isinstance(kind, ir.Tuple) else items
    if isinstance(kind, ir.NoneKind):
        return None
    if isinstance(kind, (ir.Text, ir.Callable, ir.Object)) and kind.value is not None:
        if not isinstance(kind, ir.Callable) or is_number_type(kind.value):
            return kind.value
    if isinstance(kind, ir.SliceKind):
        parts = (kind.lower, kind.upper, kind.step)
        return slice(*(stand_in(k, path, lengths, fill, whole) for k in parts))
    raise NoStandInError


def is_number_type(value: Any) -> bool:
    """Whether a value is a type of numbers (no other callable operand is passed on)."""
    return any(value is t for t in (bool, int, float, complex)) or (
        isinstance(value, type) and issubclass(value, np.generic)
    )


_NUMBERS = "biufc"
"""The kinds of the dtypes of numbers."""


def _dtype(kind: ir.Scalar | ir.Array) -> np.dtype[Any]:
    """The dtype of numbers; the names of some others, as that of texts, say nothing to NumPy."""
    try:
        return np.dtype(kind.dtype)
    except TypeError:
        raise NoStandInError from None


def _number(kind: ir.Scalar, fill: float, whole: int) -> Any:
    """A number of a dtype."""
    dtype = _dtype(kind)
    if dtype.kind not in _NUMBERS:  # an item of an array of texts, or of times
        raise NoStandInError
    value: Any = kind.value
    if value is None:
        value = fill if dtype.kind in "fc" else True if dtype.kind == "b" else whole
    if dtype.kind == "u":
        value = abs(value)  # where any integer is asked for, one below zero is among them
    if not kind.python:
        return dtype.type(value)
    return {"b": bool, "i": int, "u": int, "f": float, "c": complex}[dtype.kind](value)


def _filled(kind: ir.Array, path: tuple[int, ...], lengths: Lengths, fill: float) -> Any:
    """An array of a dtype and of the given lengths, of full rank: invertible where it is square."""
    dims = kind.dims or ()
    shape = tuple(
        1 if d == 1 else lengths[key_of_length(d, (*path, axis))] for axis, d in enumerate(dims)
    )
    dtype = _dtype(kind)
    if dtype.kind not in _NUMBERS:
        return np.zeros(shape, dtype)
    result = np.full(shape, fill if dtype.kind in "fc" else 1, dtype)
    if len(shape) > 1 and dtype.kind in "fc":
        result += 3 * np.eye(*shape[-2:], dtype=dtype)
    return result


FIRST = (5, 7, 11, 13, 17, 19, 23, 29)
SECOND = (23, 21, 18, 16, 14, 12, 9, 6)  # in falling order: a length may be the least of two

# What a function may do on an operand that it does not accept; LAPACK has an error of its own.
FAILURES = Exception


_MOST = 96
"""Combinations of kinds that are tried for one call."""


@lru_cache(maxsize=8192)
def probe(fn: ir.Callee, args: Args, kwargs: Kwargs = (), any_int: bool = False) -> ir.Kind | None:
    """The kind of `fn(*args, **kwargs)`, None if unknown; `any_int`: integers do not matter."""
    if not isinstance(fn, (ir.Attr, ir.Method)) and not op_of(fn).probed:
        return None
    names = tuple(k for k, _ in kwargs)
    operands = (*args, *(v for _, v in kwargs))
    # A tuple of several unknown arrays stands for more combinations than anybody can try.
    choices = [list(itertools.islice(_variants(k, any_int), _MOST + 1)) for k in operands]
    if not 0 < math.prod(map(len, choices)) <= _MOST:
        return None
    results = (_probe_one(fn, v, names) for v in itertools.product(*choices))
    return join_all(r for r in results if r is not None)


def _variants(kind: ir.Kind, any_int: bool) -> Iterator[ir.Kind]:
    """Kinds with nothing unknown but lengths, that stand for all values of a kind."""
    if isinstance(kind, ir.Scalar):
        yield from _scalar_variants(kind, any_int)
    elif isinstance(kind, ir.Array):
        for dtype in (kind.dtype,) if kind.dtype else ("float64", "complex64"):
            if kind.maybe_scalar:
                yield from (ir.Scalar(dtype, False), ir.Scalar("float64", True))
            ranks = [(None,) * rank for rank in range(4)]
            yield from (ir.Array(dtype, d) for d in (ranks if kind.dims is None else (kind.dims,)))
    elif isinstance(kind, ir.Tuple) and kind.items is not None:
        for items in itertools.product(*(list(_variants(i, any_int)) for i in kind.items)):
            yield ir.Tuple(items)
    elif isinstance(kind, ir.List):
        yield from (ir.List(None, items) for items in _items_variants(kind, any_int))
    elif isinstance(kind, (ir.NoneKind, ir.Text, ir.Callable, ir.Object, ir.SliceKind)):
        yield kind


def _items_variants(kind: ir.List, any_int: bool) -> Iterator[tuple[ir.Kind, ...]]:
    """What a list may hold; where that is too much to try, what is the same everywhere.

    Functions stack items, which have to be alike then, or join them, where the kind of the result
    for items of several kinds is among those that join what these give.
    """
    if kind.items is not None:
        each = [list(_variants(i, any_int)) for i in kind.items]
        alike = all(variants == each[0] for variants in each)
        if alike and math.prod(map(len, each)) > _MOST:
            yield from ((chosen,) * len(each) for chosen in each[0])
        else:
            yield from itertools.product(*each)
        return
    choices = list(itertools.islice(_variants(kind.item or ir.UNKNOWN, any_int), _MOST + 1))
    for length in (2, 3):
        if len(choices) ** length <= _MOST:
            yield from itertools.product(choices, repeat=length)
        else:
            yield from ((chosen,) * length for chosen in choices)


def _scalar_variants(kind: ir.Scalar, any_int: bool) -> Iterator[ir.Scalar]:
    """Numbers of every dtype, origin and (for an integer) value that a kind stands for."""
    for dtype in (kind.dtype,) if kind.dtype else ("float64", "complex64", "int64"):
        for python in (kind.python,) if kind.python is not None else (True, False):
            values: tuple[int | None, ...] = (kind.value,)
            if kind.value is None and not any_int:  # a bool may be `keepdims`
                flag = dtype == "bool"
                values = (0, 1, 2, -1) if "int" in dtype else (False, True) if flag else values
            yield from (ir.Scalar(dtype, python, v) for v in values)


# --- one combination ---------------------------------------------------------------------------


def _probe_one(
    fn: ir.Callee, operands: Sequence[ir.Kind], names: tuple[str, ...]
) -> ir.Kind | None:
    """The kind of the result for operands of known rank and dtype; None if the call fails."""
    keys = _keys(operands)
    for groups, certain in _groupings(keys):
        first = _run(fn, operands, names, _assign(groups, FIRST))
        if first is not _FAILED:
            return _probe_again(fn, operands, names, keys, groups, certain, first)
    for length in sorted({n for kind in operands for n in _fixed(kind)} if keys else ()):
        found = _run(fn, operands, names, dict.fromkeys(keys, length))
        if found is not _FAILED:
            return _kind(found, _FAILED, {}, False)
    return None


def _fixed(kind: ir.Kind) -> Iterator[int]:
    """The lengths in an operand that are known, which unknown ones may have to be equal to."""
    if isinstance(kind, ir.Array):
        yield from (n for n in kind.dims or () if isinstance(n, int) and n > 1)
    elif isinstance(kind, (ir.Tuple, ir.List)):
        yield len(kind.items or ())
        yield from (n for item in kind.items or () for n in _fixed(item))


def _probe_again(
    fn: ir.Callee,
    operands: Sequence[ir.Kind],
    names: tuple[str, ...],
    keys: dict[Key, ir.Dim],
    groups: list[list[Key]],
    certain: bool,
    first: Any,
) -> ir.Kind | None:
    """The kind of a result of which one value is known, by two more."""
    # Of other numbers as well, which might say how long the result is.
    second = _run(fn, operands, names, _assign(groups, SECOND), others=True)
    table: dict[tuple[int, int], ir.Dim] = {
        (FIRST[i], SECOND[i]): _representative([keys[k] for k in group], certain)
        for i, group in enumerate(groups)
    }
    result = _kind(first, second, table if keys else None, all(map(_is_known, operands)))
    loose = {k for k, dim in keys.items() if not ir.is_big(dim)}
    if loose and result is not None:
        third = _run(fn, operands, names, {**_assign(groups, FIRST), **dict.fromkeys(loose, 1)})
        if third is not _FAILED and not _agrees(third, result):
            return _without_rank(result)
    return result


def _keys(operands: Sequence[ir.Kind]) -> dict[Key, ir.Dim]:
    """The unknown lengths of the operands; those that need not be equal have keys of their own."""
    return {
        key_of_length(dim, (*path, axis)): dim
        for place, kind in enumerate(operands)
        for array, path in _arrays(kind, (place,))
        for axis, dim in enumerate(array.dims or ())
        if dim != 1
    }


def _arrays(kind: ir.Kind, path: tuple[int, ...]) -> Iterator[tuple[ir.Array, tuple[int, ...]]]:
    """The arrays in an operand and where they are."""
    if isinstance(kind, ir.Array):
        yield kind, path
    elif isinstance(kind, (ir.Tuple, ir.List)):
        for k, item in enumerate(kind.items or ()):
            yield from _arrays(item, (*path, k))


def _groupings(keys: dict[Key, ir.Dim]) -> Iterator[tuple[list[list[Key]], bool]]:
    """Partitions of the lengths to try, and whether lengths of a group must then be equal."""
    every = list(keys)
    if len(every) > len(FIRST):
        yield [every], False
        return
    yield [[k] for k in every], True
    pairs = list(itertools.combinations(every, 2)) if len(every) <= 6 else []
    twos = itertools.combinations(pairs if len(every) <= 5 else (), 2)
    for some in (*((p,) for p in pairs), *((p, q) for p, q in twos if not {*p} & {*q})):
        equal = [k for pair in some for k in pair]
        yield [*map(list, some), *([k] for k in every if k not in equal)], True
    if len(every) > 2:
        yield [every], False


def _assign(groups: list[list[Key]], lengths: Sequence[int]) -> Lengths:
    return {key: lengths[i] for i, group in enumerate(groups) for key in group}


def _representative(dims: list[ir.Dim], certain: bool) -> ir.Dim:
    """The length that stands for a group of lengths."""
    if len(set(dims)) == 1:
        return dims[0]
    if not certain:
        return ir.BIG if all(map(ir.is_big, dims)) else None
    known = [d for d in dims if ir.is_big(d) and d != ir.BIG]
    ints = [d for d in known if isinstance(d, int)]
    return (ints or known or ([ir.BIG] if ir.BIG in dims else [None]))[0]


_FAILED = object()


def _run(
    fn: ir.Callee,
    operands: Sequence[ir.Kind],
    names: tuple[str, ...],
    lengths: Lengths,
    others: bool = False,
) -> Any:
    """The result on stand-ins of these lengths, or `_FAILED`; `others`: of other numbers."""
    whole = 3 if others else 2
    for number, fill in (((2.6, 0.5),) if others else ()) + ((0.5, 0.5), (1.5, 1.5)):
        try:
            values = [
                stand_in(k, (i,), lengths, number if isinstance(k, ir.Scalar) else fill, whole)
                for i, k in enumerate(operands)
            ]
        except NoStandInError:
            return _FAILED
        split = len(values) - len(names)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                return apply(fn, values[:split], dict(zip(names, values[split:])))
            except FAILURES:
                continue
    return _FAILED


def apply(fn: ir.Callee, args: list[Any], kwargs: dict[str, Any]) -> Any:
    """Call a callee of the IR on values."""
    if isinstance(fn, ir.Method):
        return getattr(args[0], fn.name)(*args[1:], **kwargs)
    if isinstance(fn, ir.Attr):
        return getattr(args[0], fn.name)
    assert not isinstance(fn, (ir.SetAttr, ir.Derived, ir.Name))
    return fn(*args, **kwargs)


def _is_known(kind: ir.Kind) -> bool:
    """Whether the value of an operand, not only its kind, is known."""
    if isinstance(kind, (ir.Scalar, ir.Text)):
        return kind.value is not None
    if isinstance(kind, ir.Tuple):
        return kind.items is not None and all(map(_is_known, kind.items))
    return isinstance(kind, ir.NoneKind)


# --- results -----------------------------------------------------------------------------------


def _kind(
    a: Any, b: Any, table: dict[tuple[int, int], ir.Dim] | None, known: bool
) -> ir.Kind | None:
    """The kind of a result from its values on two sets of lengths; `table` None: none varied."""
    if b is _FAILED:
        b, table = a, {}
    if type(a) is not type(b):
        return ir.UNKNOWN
    if isinstance(a, np.ndarray):
        return _array_kind(a, b, table)
    if isinstance(a, (np.generic, bool, int, float, complex)):
        value = a if known and isinstance(a, int) and a == b else None
        python = _PYTHON.get(type(a))
        return ir.Scalar(python or np.dtype(type(a)).name, python is not None, value)
    if isinstance(a, (tuple, list)):
        return _sequence_kind(a, b, table, known)
    if isinstance(a, str):
        return ir.Text(a if known and a == b else None)
    if a is None or isinstance(a, np.dtype) or is_sparse(a):
        return kind_of(a, "")
    return ir.Object(f"{type(a).__module__}.{type(a).__qualname__}")


_PYTHON: dict[type, str] = {bool: "bool", int: "int64", float: "float64", complex: "complex128"}
"""The names of the dtypes of numbers of Python, the same on every platform."""


def _array_kind(a: Any, b: Any, table: dict[tuple[int, int], ir.Dim] | None) -> ir.Kind:
    """The kind of an array from two values of it."""
    if type(a) is not np.ndarray or a.dtype.hasobject or a.dtype != b.dtype:
        return ir.UNKNOWN
    if a.ndim != b.ndim:
        return ir.Array(a.dtype.name)
    if table is None:
        return ir.Array(
            a.dtype.name, tuple(m if m == n else None for m, n in zip(a.shape, b.shape))
        )
    ones: dict[tuple[int, int], ir.Dim] = {(1, 1): 1}
    return ir.Array(a.dtype.name, tuple({**table, **ones}.get(p) for p in zip(a.shape, b.shape)))


def _sequence_kind(
    a: Any, b: Any, table: dict[tuple[int, int], ir.Dim] | None, known: bool
) -> ir.Kind:
    """The kind of a tuple or list from two values of it."""
    if isinstance(a, tuple):
        if len(a) != len(b):
            return ir.Tuple(None)
        return ir.Tuple(tuple(_kind(x, y, table, known) or ir.UNKNOWN for x, y in zip(a, b)))
    items = [_kind(x, y, table, known) or ir.UNKNOWN for x, y in zip(a, b)]
    return ir.List(join_all(items) or ir.UNKNOWN)


def _agrees(value: Any, kind: ir.Kind) -> bool:
    """Whether a result at lengths of 1 fits the kind that was found at others."""
    if isinstance(kind, ir.Array):
        if not isinstance(value, np.ndarray) or kind.dims is None or len(kind.dims) != value.ndim:
            return False
        return all(d is None or (n != 1) == ir.is_big(d) for n, d in zip(value.shape, kind.dims))
    if isinstance(kind, ir.Tuple) and kind.items is not None:
        same = isinstance(value, tuple) and len(value) == len(kind.items)
        return same and all(map(_agrees, value, kind.items))
    return not isinstance(value, np.ndarray)


def _without_rank(kind: ir.Kind) -> ir.Kind:
    """A kind with its shapes forgotten."""
    if isinstance(kind, (ir.Array, ir.Scalar)):
        return join(ir.Array(kind.dtype), kind)
    return ir.UNKNOWN


# --- what a function of Python returns, which is not run -----------------------------------------


Question = Function[[Any, tuple[ir.Kind, ...]], ir.Kind]
"""What a Python function returns for arguments of some kinds."""

_answers: list[Question] = []


def answered_by(question: Question) -> Question:
    """Let what infers the kinds of whole functions answer what a call of one returns."""
    _answers[:] = [question]
    return question


def returned(function: Any, args: tuple[ir.Kind, ...]) -> ir.Kind:
    """What a Python function returns for arguments of some kinds."""
    return _answers[0](function, args)
