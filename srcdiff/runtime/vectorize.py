"""Functions of numbers, called for every number of arrays: what `np.vectorize` makes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from srcdiff import ir


def each(pyfunc: Callable[..., Any], dtype: Any, *args: Any, **kwargs: Any) -> Any:
    """`np.vectorize(pyfunc, [dtype])(*args)`, which is written out by the number of arguments."""
    return np.vectorize(pyfunc, None if dtype is None else [dtype])(*args, **kwargs)


def each_of_one(pyfunc: Callable[..., Any], dtype: Any, x: Any) -> Any:
    """A function of one number, of every number of an array."""
    return each(pyfunc, dtype, x)


def each_of_two(pyfunc: Callable[..., Any], dtype: Any, x: Any, y: Any) -> Any:
    """A function of two numbers, of every pair of arrays that broadcast."""
    return each(pyfunc, dtype, x, y)


def each_of_three(pyfunc: Callable[..., Any], dtype: Any, x: Any, y: Any, z: Any) -> Any:
    """A function of three numbers, of those of arrays that broadcast."""
    return each(pyfunc, dtype, x, y, z)


def each_of_four(pyfunc: Callable[..., Any], dtype: Any, x: Any, y: Any, z: Any, u: Any) -> Any:
    """A function of four numbers, of those of arrays that broadcast."""
    return each(pyfunc, dtype, x, y, z, u)


_BY_NUMBER = {3: each_of_one, 4: each_of_two, 5: each_of_three, 6: each_of_four}


def _written(call: ir.Call) -> ir.Call | None:
    """The call of what takes so many arguments."""
    fn: Any = _BY_NUMBER.get(len(call.args))
    plain = not call.kwargs and not any(isinstance(a, ir.Star) for a in call.args)
    return ir.Call(fn, call.args) if fn is not None and plain else None


each.__srcdiff_written__ = _written  # type: ignore[attr-defined]
each.__srcdiff_name__ = "np.vectorize"  # type: ignore[attr-defined]


def as_partial(fn: Any) -> Any:
    """A callee; an object of `np.vectorize` as a partial object of what it does.

    What is given whole arrays (`signature`, `excluded`) or makes several stays itself.
    """
    if not isinstance(fn, np.vectorize) or fn.excluded or fn.signature is not None:
        return fn
    if fn.otypes is not None and len(fn.otypes) != 1:
        return fn
    dtype = None if fn.otypes is None else np.dtype(fn.otypes[0]).type
    return functools.partial(each, fn.pyfunc, dtype)
