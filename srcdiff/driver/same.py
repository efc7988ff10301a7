"""Whether values are what copies of them say that they were."""

from __future__ import annotations

import collections
import types
from collections.abc import Mapping
from typing import Any

import numpy as np

from srcdiff.runtime.devices import is_any_array, is_device_array
from srcdiff.runtime.residuals import Words, attributes, is_open
from srcdiff.runtime.scipy.sparse import is_sparse

_EQUAL = (str, bytes, range, slice, np.dtype, types.MethodType, set, frozenset)
"""Types whose values are the same where they are equal."""

Seen = set[tuple[int, int]]


def same(now: Any, then: Any, words: Words = None, seen: Seen | None = None) -> bool:
    """Whether a value is what it was when it was copied; of objects the attributes among words."""
    if now is then:
        return True
    if type(now) is not type(then) and not (is_any_array(now) and is_any_array(then)):
        return False
    one, two = _parts(now, words), _parts(then, words)
    if one is None or two is None:
        return _same_leaf(now, then)
    seen = set() if seen is None else seen
    if not isinstance(now, tuple):  # of an object that holds itself once
        if (id(now), id(then)) in seen:
            return True
        seen.add((id(now), id(then)))
    return list(one) == list(two) and all(same(one[k], v, words, seen) for k, v in two.items())


def _parts(value: Any, words: Words) -> Mapping[Any, Any] | None:
    """What a container, an object or a sparse matrix holds, None for other values."""
    if isinstance(value, dict):
        return value
    if isinstance(value, (list, tuple, collections.deque)):
        return dict(enumerate(value))
    if is_sparse(value):
        held = {k: v for k, v in vars(value).items() if isinstance(v, (np.ndarray, dict))}
        return {**held, "shape": value.shape}
    if not is_open(value):
        return None
    found = attributes(value)
    return found if words is None else {k: v for k, v in found.items() if k in words}


def _same_leaf(now: Any, then: Any) -> bool:
    """Whether an array, a number or a text is what it was; another object is another value."""
    if is_any_array(then):
        return now.shape == then.shape and now.dtype == then.dtype and _same_array(now, then)
    if isinstance(then, (int, float, complex, np.generic)):
        return bool(now == then or (now != now and then != then))
    return isinstance(then, _EQUAL) and bool(now == then)


def _same_array(now: Any, then: Any) -> bool:
    """Whether the elements of an array are what they were."""
    if is_device_array(now) or is_device_array(then):
        return type(now) is type(then) and bool((now == then).all())
    if then.dtype.hasobject:
        return all(map(same, now.ravel(), then.ravel()))
    return np.array_equal(now, then, equal_nan=then.dtype.kind in "fc")
