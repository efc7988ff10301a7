"""Whether complex numbers can occur in a function at all.

A value of unknown dtype counts as real where nothing in the function is complex: parameters of
which nothing is known are real numbers.  Where something is, it may have come from there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from srcdiff import ir
from srcdiff.analyses.effects import module_of
from srcdiff.analyses.kind_types import Kind, inside

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
    found = (value for stmt in ir.walk(function.body) for value in _constants(stmt))
    return any(map(_makes_complex, found))


def is_complex_kind(kind: Kind) -> bool:
    """Whether a value is known to be able to be complex, or to hold what is."""
    if any(map(is_complex_kind, inside(kind))):
        return True
    return str(getattr(kind, "dtype", None)).startswith(("complex", "clong"))


def _constants(stmt: ir.Stmt) -> Iterator[Any]:
    """The callees, constants and objects that a statement mentions itself."""
    for operand in ir.operands(stmt):
        for atom in ir.atoms(operand):
            if isinstance(atom, (ir.Const, ir.Ref)):
                yield atom.value
    rhs = getattr(stmt, "rhs", getattr(stmt, "iter", None))
    if isinstance(rhs, ir.Call) and not isinstance(rhs.fn, (ir.Name, ir.Method, ir.Attr)):
        yield rhs.fn


def _makes_complex(value: Any) -> bool:
    """Whether a constant is complex, names a complex dtype, or is a function that makes such."""
    if isinstance(value, (complex, np.complexfloating)):
        return True
    if isinstance(value, np.ndarray):
        return bool(np.iscomplexobj(value))
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
