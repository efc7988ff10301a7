"""Whether complex numbers can occur in a function at all.

A value of unknown dtype counts as real where nothing in the function is complex: parameters of
which nothing is known are real numbers.  Where something is, it may have come from there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from srcdiff import ir
from srcdiff.ir.kinds import UNKNOWN, Array, Kind, Object, Scalar, inside
from srcdiff.kinds.of_values import kind_of
from srcdiff.primitives.effects import module_of
from srcdiff.runtime.records import is_record

_MAKERS: tuple[Any, ...] = (
    np.roots, np.linalg.eig, np.linalg.eigvals, np.sort_complex,
)  # fmt: skip
_SCIPY_MAKERS = frozenset(
    {"lambertw", "h1vp", "h2vp", "eig", "eigvals", "sqrtm", "logm", "fractional_matrix_power"}
)


def has_complex(function: ir.Function, kinds: Mapping[str, Kind]) -> bool:
    """Whether a complex number may occur: a constant, a known kind, or a function that makes it."""
    if any(map(is_complex_kind, kinds.values())):
        return True
    for stmt in ir.walk(function.body):
        if any(map(_makes_complex, _constants(stmt))) or _reads_object(stmt, kinds):
            return True
    return False


def is_complex_kind(kind: Kind) -> bool:
    """Whether a value is known to be able to be complex, or to hold what is."""
    if any(map(is_complex_kind, inside(kind))):
        return True
    return str(getattr(kind, "dtype", None)).startswith(("complex", "clong"))


def may_be_complex(kind: Kind) -> bool:
    """Whether a value may be complex, or hold what is, where complex numbers occur."""
    if isinstance(kind, (Scalar, Array)):
        return kind.dtype is None or is_complex_kind(kind)
    return kind == UNKNOWN or any(map(may_be_complex, inside(kind)))


def _reads_object(stmt: ir.Stmt, kinds: Mapping[str, Kind]) -> bool:
    """Whether a value of unknown dtype comes out of an object that nobody looks into."""
    call = ir.call_of(stmt)
    if call is None or not isinstance(stmt, ir.Assign) or not call.args:
        return False
    if not may_be_complex(kinds.get(stmt.target.id, UNKNOWN)):
        return False
    read = call.args[0]
    kind = kinds.get(read.id) if isinstance(read, ir.Name) else None
    return isinstance(kind_of(read.value, "") if isinstance(read, ir.Ref) else kind, Object)


def _constants(stmt: ir.Stmt) -> Iterator[Any]:
    """The callees, constants and objects that a statement mentions itself."""
    for operand in ir.operands(stmt):
        for atom in ir.atoms(operand):
            if isinstance(atom, (ir.Const, ir.Ref)):
                yield atom.value
    rhs = getattr(stmt, "rhs", getattr(stmt, "iter", None))
    for _, value in getattr(stmt if isinstance(stmt, ir.Verbatim) else rhs, "refs", ()):
        yield value
    if isinstance(rhs, ir.Call) and not isinstance(rhs.fn, (ir.Name, ir.Method, ir.Attr)):
        yield rhs.fn


def _makes_complex(value: Any) -> bool:
    """Whether a constant is complex, names a complex dtype, or is a function that makes such."""
    if isinstance(value, (complex, np.complexfloating)):
        return True
    if isinstance(value, (np.ndarray, dict, list, tuple)) or is_record(type(value)):
        return is_complex_kind(kind_of(value, ""))
    if isinstance(value, str):
        return value.startswith(("complex", "c8", "c16"))
    if isinstance(value, np.dtype):
        return value.kind == "c"
    if isinstance(value, type):
        return issubclass(value, (complex, np.complexfloating))
    if isinstance(value, np.ufunc):
        return all(loop[-1] in "FDG" for loop in value.types)  # `scipy.special.hankel1`
    module = module_of(value)
    if module.startswith("scipy."):
        return module.startswith("scipy.fft") or getattr(value, "__name__", "") in _SCIPY_MAKERS
    made = any(value is maker for maker in _MAKERS)
    return made or module.startswith(("numpy.fft", "numpy.lib.scimath"))
