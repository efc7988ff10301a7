"""Lists that are joined or searched, or of which a part is copied: called by generated code."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from srcdiff.errors import UnsupportedError

_NUMBER = (float, complex, np.inexact)


def one_value(d: Any, file: str, line: int) -> Any:
    """The adjoint of a number or array.

    Raises:
        UnsupportedError: it is that of a list, tuple or dict, made by `+` or `*` of values of which
            it is not known where the gradient is generated what they are.
    """
    if isinstance(d, (list, tuple, dict)):
        raise _refused(
            "`+` or `*` makes a list or tuple here, of items that are lists or tuples in one step "
            "and something else in another",
            file, line, "Keep lists and numbers in containers of their own.",
        )  # fmt: skip
    return d


def _refused(reason: str, file: str, line: int, remedy: str) -> UnsupportedError:
    """The error at a place, for which generated files have no `Loc`."""
    place: Any = SimpleNamespace(file=file, line=line, col=0)
    return UnsupportedError(reason, place, remedy=remedy)


def of_items(d: Any, x: Any, file: str, line: int) -> Any:
    """The adjoint of `x + ys` for a list `ys`, where that joins lists.

    Raises:
        UnsupportedError: `x` is an array, to which the list is added; it was not known what `x` is
            where the gradient was generated.
    """
    if not isinstance(x, (list, tuple)):
        raise _refused(
            "`+` adds a list or tuple to an array here, of which it was not known that it is one",
            file, line, "Add an array: `x + np.array([...])`.",
        )  # fmt: skip
    return d


def repeats(n: Any, file: str, line: int) -> Any:
    """How often `xs * n` of a list or tuple repeats it.

    Raises:
        UnsupportedError: `n` is an array, by which `xs` is multiplied; it was not known what `n` is
            where the gradient was generated.

    >>> repeats(2, "model.py", 3)
    2
    """
    if not isinstance(n, (int, np.integer)):
        raise _refused(
            "`*` multiplies a list or tuple with an array here, of which it was not known that it "
            "is one",
            file, line, "Multiply an array: `x * np.array([...])`.",
        )  # fmt: skip
    return n


def as_array(x: Any) -> Any:
    """The array of what is a list of numbers at times, and an array at others.

    >>> as_array([1.0, 2.0])
    array([1., 2.])
    """
    return np.array(x)[()]


def as_items(d: Any, x: Any) -> Any:
    """The adjoint of `as_array(x)` in the form of `x`, sharing no memory with it.

    >>> as_items(np.array([1.0, 2.0]), [3.0, 4.0])
    [np.float64(1.0), np.float64(2.0)]
    """
    if isinstance(x, (list, tuple)):
        return [as_items(one, item) for one, item in zip(d, x, strict=True)]
    return np.array(d)[()]


def zeros_of(xs: Any) -> list[float]:
    """Zeros in the form of a list of numbers; generated code has the expression itself.

    >>> zeros_of([1.0, 2.0])
    [0.0, 0.0]
    """
    return [0.0] * len(xs)


def column(residuals: Any, place: int, part: int) -> list[Any]:
    """One of several values that are saved together, in a list of its own.

    >>> column(([1, 2], [("a", 0.5), ("b", 1.5)]), 1, 1)
    [0.5, 1.5]
    """
    return [saved[part] for saved in residuals[place]]


def same_length(*counts: int) -> int:
    """The length of sequences that `zip(..., strict=True)` goes through.

    Raises:
        ValueError: one is shorter or longer than those before it.

    >>> same_length(2, 2)
    2
    """
    for k, count in enumerate(counts):
        if count != counts[0]:
            what = "shorter" if count < counts[0] else "longer"
            others = "argument 1" if k == 1 else f"arguments 1-{k}"
            raise ValueError(f"zip() argument {k + 1} is {what} than {others}")
    return counts[0]


def first_greatest(xs: Any) -> int:
    """The position of the first of the greatest items, as `max` finds it.

    >>> first_greatest([(1, 2), (3, 4), (3, 4)])
    1
    """
    return max(range(len(xs)), key=xs.__getitem__)


def first_least(xs: Any) -> int:
    """The position of the first of the least items, as `min` finds it."""
    return min(range(len(xs)), key=xs.__getitem__)


def numbers(d: Any, file: str, line: int) -> Any:
    """The adjoint of a number or array, also where it was added to that of a list of numbers.

    Raises:
        UnsupportedError: it is that of another container.

    >>> numbers([1.0, 2.0], "model.py", 3)
    array([1., 2.])
    """
    plain = isinstance(d, (list, tuple)) and all(isinstance(one, _NUMBER) for one in d)
    return np.array(d) if plain else one_value(d, file, line)


def add_to_part(a: Any, b: Any, part: slice) -> None:
    """Add the numbers in the adjoint of `xs[part]` to those in that of `xs`.

    >>> d_xs = [1.0, 2.0, 3.0]
    >>> add_to_part(d_xs, [10.0, 20.0], slice(1, None))
    >>> d_xs
    [1.0, 12.0, 23.0]
    """
    for place, value in zip(range(len(a))[part], b):
        if isinstance(a[place], _NUMBER) and value is not None:
            a[place] = a[place] + value
