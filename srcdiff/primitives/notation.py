"""What a template may say besides NumPy: adjoints, questions to the compiler, refusals.

The questions are answered when a derivative is generated, from what is known then; they never stand
in generated source.  Run as plain functions they answer for the values that they are given.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np


class _Adjoints:
    """The `d` of templates: `d[x]` is the adjoint of `x`.  It means something to srcdiff alone."""

    __srcdiff_adjoints__ = True

    def __getitem__(self, _: Any) -> Any:
        raise TypeError("`d[...]` has a meaning only in the source of a template")

    __setitem__ = __getitem__


d = _Adjoints()
z: Any = None
"""The result of the call, in a template without a `yield`: it means something to srcdiff alone."""


def conj(x: Any) -> Any:
    """The complex conjugate; vanishes from generated source where `x` is not known as complex."""
    return np.conj(x)


def divisor(x: Any, z: Any = None) -> Any:
    """`x` as a number that may be divided by where it is zero, as NumPy divides.

    Vanishes from generated source where `x` is known as no number of Python, or where the result
    `z` is one: Python has divided by `x` then, or raised its own error.
    """
    return x


def rank(x: Any) -> int | None:
    """The number of axes of `x`; None where it is not known when generating."""
    return int(np.ndim(x))


def isscalar(x: Any) -> bool:
    """Is `x` known as a number?"""
    return bool(np.ndim(x) == 0)


def iscomplex(x: Any) -> bool:
    """Is `x` known as complex?"""
    return bool(np.iscomplexobj(x))


def isarray(x: Any) -> bool:
    """Is `x` known as an array (not a number, a list or a tuple)?"""
    return isinstance(x, np.ndarray)


def known(x: Any) -> bool:
    """Is the value of `x` known when generating (a literal, a constant of a module)?"""
    return x is not None


def basic(i: Any) -> bool:
    """Is the index `i` known as made of integers, slices, None and `...` alone?"""
    items = i if isinstance(i, tuple) else (i,)
    plain = (int, np.integer, slice, type(None), type(...))
    return all(isinstance(k, plain) and not isinstance(k, bool) for k in items)


def picks_one(x: Any, i: Any) -> bool:
    """Is `x[i]` known as one number, not an array?"""
    items = i if isinstance(i, tuple) else (i,)
    return np.ndim(x) == len(items) and all(isinstance(k, (int, np.integer)) for k in items)


def reshapes(i: Any) -> bool:
    """Is the index `i` known to select everything, with more axes (`[:, None]`)?"""
    items = i if isinstance(i, tuple) else (i,)
    return all(k is None or k is ... or k == slice(None) for k in items)


def distinct(i: Any) -> bool:
    """Is the index `i` known to select no element twice?"""
    return basic(i) or getattr(i, "dtype", None) == np.bool_


def discrete(dtype: Any) -> bool:
    """Is `dtype` known as one whose values have no derivative?"""
    return dtype is not None and np.dtype(dtype).kind not in "fcO"


def stretchable(x: Any) -> bool:
    """May `x` have an axis of length 1, along which it was broadcast?"""
    return 1 in np.shape(x)


def weak_in_quantiles(q: Any) -> bool:
    """Is `q` known as a number that is as precise as the data in a quantile?

    Of a number of Python it makes no difference; of one of NumPy, versions differ.
    """
    return isscalar(q) and quantiles_are_as_data()


@cache
def quantiles_are_as_data() -> bool:
    """Whether a quantile of data in single precision by a `np.float64` is in single precision."""
    return bool(np.quantile(np.zeros(1, np.float32), np.float64(0.5)).dtype == np.float32)


def ignored(z: Any) -> bool:
    """Is `z`, one of several results, known to have no derivative flowing from it?"""
    return False


def apart(x: Any, y: Any) -> bool:
    """Are `x`, which is written into, and `y` known to share no memory?"""
    return not np.may_share_memory(x, y)


def active(xs: Any) -> tuple[int, ...]:
    """The positions in the sequence `xs` of what has a derivative."""
    return tuple(range(len(xs)))


def refuse(reason: str) -> None:
    """Say that the rule does not cover a call that comes here."""
    raise NotImplementedError(reason)


_QUESTIONS = frozenset(map(id, (
    rank, isscalar, iscomplex, isarray, known, basic, picks_one, reshapes, distinct, discrete,
    stretchable, weak_in_quantiles,
)))  # fmt: skip


def asks(fn: Any) -> bool:
    """Whether a callee is a question to the compiler."""
    return id(fn) in _QUESTIONS
