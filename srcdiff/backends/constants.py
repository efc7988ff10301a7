"""Values as Python text that makes them again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from srcdiff.codegen.literals import literal

LARGEST = 64
"""Arrays of more elements are not written out."""

_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis))


def value_text(value: Any, numpy: Callable[[], str]) -> str | None:
    """The text of a value, None if it cannot be written; `numpy` gives the name of that module."""
    if type(value) in _PLAIN:
        return literal(value)
    if isinstance(value, np.dtype) and value.names is None:
        return f'{numpy()}.dtype("{value.name}")'
    if isinstance(value, (np.number, np.bool_)):
        return f"{numpy()}.{type(value).__name__}({literal(value.item())})"
    if type(value) is np.ndarray:
        return _array(value, numpy)
    if isinstance(value, slice):
        parts = [value_text(p, numpy) for p in (value.start, value.stop, value.step)]
        return None if None in parts else f"slice({', '.join(map(str, parts))})"
    if type(value) is range:
        return repr(value)
    return _container(value, numpy)


def _container(value: Any, numpy: Callable[[], str]) -> str | None:
    """A tuple, list or dict of such values."""
    if type(value) is dict:
        keys, held = [literal(k) for k in value if type(k) in _PLAIN], list(value.values())
        texts = [value_text(v, numpy) for v in held]
        if None in texts or len(keys) != len(held):
            return None
        return "{" + ", ".join(f"{k}: {t}" for k, t in zip(keys, texts)) + "}"
    if type(value) not in (tuple, list):
        return None
    items = [value_text(v, numpy) for v in value]
    if None in items:
        return None
    inner = ", ".join(map(str, items))
    if type(value) is list:
        return f"[{inner}]"
    return f"({inner},)" if len(items) == 1 else f"({inner})"


def _array(value: Any, numpy: Callable[[], str]) -> str | None:
    """A small array, as a call of `np.array`."""
    if value.size > LARGEST or value.dtype.kind not in "biufc" or not value.flags.c_contiguous:
        return None
    if value.size == 0 and value.ndim > 1:
        return None
    text, items = _nested(value.tolist()), np.array(value.tolist())
    dtype = "" if items.dtype == value.dtype else f', dtype="{value.dtype.name}"'
    return f"{numpy()}.array({text}{dtype})"


def _nested(items: Any) -> str:
    """Nested lists of numbers."""
    return f"[{', '.join(map(_nested, items))}]" if isinstance(items, list) else literal(items)
