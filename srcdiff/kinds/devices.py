"""The kinds of results where arrays are on a device.

Where a function of NumPy returns a number, one of CuPy returns an array without axes: it can be
written into, and `x[0]` is a view of `x`.  What is computed from numbers of the host alone stays
there, and is computed by NumPy.
"""

from __future__ import annotations

import operator
from typing import Any

from srcdiff import ir
from srcdiff.ir.kinds import Array, Dict, Kind, List, Maybe, Object, Scalar, Tuple, Unknown, inside
from srcdiff.primitives.effects import module_of
from srcdiff.runtime import records
from srcdiff.runtime.devices import on_device

Args = tuple[Kind, ...]

_ASIDE = (ir.make_list, ir.make_dict, ir.make_function, ir.captured, ir.is_function)
_ASKS = (bool, int, float, complex, round, operator.not_, operator.truth, operator.contains)
_ANSWERS = (
    "may_share_memory", "shares_memory", "can_cast", "issubdtype", "isscalar", "iscomplexobj",
    "isrealobj",
)  # fmt: skip
_ON_HOST = ("dtype", "ellipsis", "numpy.random.Generator", "numpy.random.RandomState")


def may_be_device(kind: Kind) -> bool:
    """Whether a value may be an array, or hold one."""
    if isinstance(kind, Array):
        return True
    if isinstance(kind, Maybe):
        return may_be_device(kind.kind)
    if isinstance(kind, Unknown):
        return True
    if isinstance(kind, Object):
        return kind.type not in _ON_HOST
    if isinstance(kind, Tuple) and kind.items is None and kind.item is None:
        return True
    return isinstance(kind, (Tuple, List, Dict)) and any(map(may_be_device, inside(kind)))


def placed(kind: Kind, fn: Any, args: Args) -> Kind:
    """The kind of a call's result, numbers that are computed on the device as arrays."""
    if isinstance(fn, (ir.Derived, ir.Name)) or fn in _ASIDE or records.is_record(fn):
        return kind
    if getattr(fn, "__name__", "") in _ANSWERS:
        return kind
    if fn is sum and isinstance(kind, Scalar) and any(map(may_be_device, args)):
        return Array(kind.dtype, (), maybe_scalar=True)
    if not isinstance(fn, (ir.Method, ir.Attr)) and is_of_numpy(fn):
        return as_arrays(kind, True) if any(map(may_be_device, args)) else kind
    return as_arrays(kind) if any(isinstance(a, (Array, Unknown)) for a in args) else kind


def as_arrays(kind: Kind, flags: bool = False) -> Kind:
    """A kind with NumPy's numbers in it as arrays without axes; `flags`: bools of Python too."""
    if isinstance(kind, Scalar):
        number = kind.python is not True or (flags and kind.dtype == "bool")
        return Array(kind.dtype, ()) if number else kind
    if isinstance(kind, Tuple):
        items = None if kind.items is None else tuple(as_arrays(k, flags) for k in kind.items)
        return Tuple(items, None if kind.item is None else as_arrays(kind.item, flags))
    if isinstance(kind, List):
        items = None if kind.items is None else tuple(as_arrays(k, flags) for k in kind.items)
        return List(None if kind.item is None else as_arrays(kind.item, flags), items, kind.site)
    return kind


def is_transfer(fn: Any, args: Args) -> bool:
    """Whether a call asks the device for a value."""
    if not on_device():
        return False
    asks = fn in _ASKS if not isinstance(fn, ir.Method) else fn.name in ("item", "tolist", "get")
    return asks and any(map(may_be_device, args))


def is_of_numpy(fn: Any) -> bool:
    """Whether a function belongs to NumPy or SciPy, or is a helper that is written in them."""
    if isinstance(fn, type):
        return False
    return module_of(fn).partition(".")[0] in ("numpy", "scipy", "srcdiff")


def is_host_call(fn: Any, args: Args, result: Kind) -> bool:
    """Whether a call of NumPy computes numbers of the host from such."""
    if isinstance(fn, (ir.Method, ir.Attr, ir.Derived, ir.Name)) or not is_of_numpy(fn):
        return False
    return not any(map(may_be_device, args)) and not may_be_device(result)
