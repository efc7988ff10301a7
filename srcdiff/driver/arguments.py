"""Arguments that no derivative is generated for: checks, which give nothing or raise.

Refused are arrays with operators of their own, inputs that hold no numbers, and arguments that
share memory with one that the function writes into.  A derivative copies what the primal writes
into, so that a write would not show in another argument as it does in the primal.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from srcdiff import ir
from srcdiff.errors import DtypeError, UnsupportedError, placed
from srcdiff.frontend.request import Stored
from srcdiff.frontend.signatures import place_of
from srcdiff.runtime import records
from srcdiff.runtime.copies import Leaf, with_memory
from srcdiff.runtime.devices import is_any_array
from srcdiff.runtime.layout import overlaps

_NUMBERLESS = ("builtins", "fractions", "decimal", "array", "datetime")
"""Modules whose objects hold no floating point numbers of NumPy or Python, or hold them apart."""


def check_plain(values: Mapping[str, Any]) -> None:
    """Raise a DtypeError if an array is of a class that gives operators a meaning of its own."""
    for name, value in values.items():
        for path, array in _others(name, value):
            from srcdiff.check.objects import own_meaning

            raise DtypeError(f"`{path}` {own_meaning(type(array), path)}")


def check_read(refs: Mapping[str, Any]) -> None:
    """The same of what is read from outside; of objects that is what they hold."""
    check_plain({n: v for n, v in refs.items() if not records.is_record(type(v))})


def _others(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    """The arrays of other classes than NumPy's own in a value."""
    for key, item in records.held_in(value):
        yield from _others(f"{path}[{key!r}]" if records.is_plain_key(key) else path, item)
    if records.becomes_array(type(value)):
        yield path, value


def check_input(name: str, value: Any, kind: ir.Kind, f: Any) -> None:
    """Raise a DtypeError if an input of a function cannot carry a derivative."""
    reason = _without_derivative(name, value, kind)
    if reason:
        raise placed(DtypeError(reason), [place_of(f)])


def _without_derivative(name: str, value: Any, kind: ir.Kind) -> str:
    """Why an input cannot carry a derivative, "" if it can."""
    if isinstance(kind, (ir.Scalar, ir.Array)) and not ir.is_active_kind(kind):
        return (
            f"the input `{name}` has dtype {kind.dtype}: only floating point and complex inputs "
            "have a derivative; pass a float, or `.astype(float)`"
        )
    if isinstance(value, np.ndarray) and isinstance(kind, ir.Object):
        what = "with fields" if value.dtype.names else "of Python objects"
        return (
            f"the input `{name}` is an array {what}: only floating point and complex inputs have "
            "a derivative; pass arrays of floats"
        )
    if isinstance(kind, ir.Sparse):
        return (
            f"the input `{name}` is a sparse matrix, which has no derivative of its own: pass the "
            "array of its entries, and make the matrix of it in the function, "
            "`sparse.csr_array((data, indices, indptr), shape=shape)`"
        )
    foreign = isinstance(kind, ir.Object) and type(value).__module__ in _NUMBERLESS
    if foreign or not ir.is_active_kind(kind):
        return (
            f"the input `{name}` is of type {type(value).__name__}, "
            "which holds no floating point number or array"
        )
    return ""


# --- arguments that share memory with one that is written into ------------------------------------


_WORK: Any = 100_000
"""How long `np.shares_memory` may look for a common element."""


def check_memory(
    values: Mapping[str, Any], written: Sequence[str], held: Sequence[Leaf], primal: Any
) -> None:
    """Raise an UnsupportedError if a written argument shares memory with another, or in itself."""
    leaves = arrays_of(values)
    for name in written:
        own = [leaf for leaf in leaves if _is_in(leaf[0], name)]
        others = [leaf for leaf in leaves if not _is_in(leaf[0], name)]
        for k, leaf in enumerate(own):
            if is_any_array(leaf[1]) and overlaps(leaf[1]):
                raise _shared(f"elements of `{leaf[0]}`", leaf[0], leaf[0], primal)
            for other in (*own[k + 1 :], *others, *held):
                if overlap(leaf, other):
                    raise _shared(f"`{leaf[0]}` and `{other[0]}`", leaf[0], other[0], primal)


def check_put(values: Mapping[str, Any], put: Sequence[Any], primal: Any) -> None:
    """Refuse an argument that holds a container from outside that a function puts values into."""
    if not put:
        return
    from srcdiff.check.memory import share

    for name, value in values.items():
        if any(share(value, container) for container in put):
            raise UnsupportedError(
                f"`{primal.__name__}` puts values into a container outside of it that is in its "
                f"argument `{name}` as well",
                place_of(primal),
                remedy="Pass a copy.",
            )


def _is_in(path: str, written: str) -> bool:
    """Whether a path leads to what is written into, or to a part of it."""
    if path == written or isinstance(written, Stored):
        return path == written
    return path.startswith((f"{written}.", f"{written}["))


def arrays_of(refs: Mapping[str, Any]) -> tuple[Leaf, ...]:
    """The arrays and containers in some values: arguments, or the global names of a text."""
    return tuple(leaf for name, value in refs.items() for leaf in with_memory(name, value))


LARGE = 1 << 12
"""The number of elements from which on the work on an array counts more than a call."""


def has_large(values: Iterable[Any]) -> bool:
    """Whether there are large arrays among some values, or in containers among these."""
    for value in values:
        kind = type(value)
        if kind is np.ndarray and value.size >= LARGE:
            return True
        inside = value.values() if kind is dict else value if kind in (list, tuple) else ()
        if inside and has_large(inside):
            return True
    return False


def overlap(one: Leaf, other: Leaf) -> bool:
    """Whether two arrays certainly or possibly share memory, or two containers are one."""
    a, b = one[1], other[1]
    if not is_any_array(a) or not is_any_array(b):
        return a is b
    if not np.may_share_memory(a, b):
        return False
    try:
        return bool(np.shares_memory(a, b, max_work=_WORK))
    except RuntimeError:  # too hard to decide (a class whose place depends on NumPy's version)
        return True


def _shared(what: str, written: str, other: str, primal: Any) -> UnsupportedError:
    """The error for memory that is shared with what is written into."""
    name, root = getattr(primal, "__name__", "the function"), re.split(r"[.\[]", written)[0]
    return UnsupportedError(
        f"{what} share memory, and `{name}` writes into `{root}`",
        place_of(primal),
        remedy=f"Pass a copy: `{other}.copy()`.",
    )
