"""Whether complex numbers can occur in a function, which is asked of the whole of it.

Takes a function and the kinds of its names.  A value of unknown dtype counts as real where nothing
in the function is complex: parameters of which nothing is known are real numbers.  Where something
is, it may have come from there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from srcdiff import ir
from srcdiff.kinds.lattice import kind_of
from srcdiff.primitives.effects import module_of
from srcdiff.primitives.operation import op_of
from srcdiff.runtime.records import is_record

_COMPLEX_MODULES = ("numpy.fft", "numpy.lib.scimath", "scipy.fft")


def has_complex(function: ir.Function, kinds: Mapping[str, ir.Kind]) -> bool:
    """Whether a complex number may occur: a constant, a known kind, or a function that makes it."""
    if any(map(is_complex_kind, kinds.values())):
        return True
    for stmt in ir.walk(function):
        if any(map(_makes_complex, _constants(stmt))) or _reads_object(stmt, kinds):
            return True
    return False


def is_complex_kind(kind: ir.Kind) -> bool:
    """Whether a value is known to be able to be complex, or to hold what is."""
    if type(kind) is ir.Scalar or type(kind) is ir.Array:
        return kind.dtype is not None and kind.dtype[:5] in ("compl", "clong")
    if any(map(is_complex_kind, ir.inside(kind))):
        return True
    return str(getattr(kind, "dtype", None)).startswith(("complex", "clong"))


def may_be_complex(kind: ir.Kind) -> bool:
    """Whether a value may be complex, or hold what is, where complex numbers occur."""
    if isinstance(kind, (ir.Scalar, ir.Array)):
        return kind.dtype is None or is_complex_kind(kind)
    return kind == ir.UNKNOWN or any(map(may_be_complex, ir.inside(kind)))


def _reads_object(stmt: ir.Stmt, kinds: Mapping[str, ir.Kind]) -> bool:
    """Whether a value of unknown dtype comes out of an object that nobody looks into."""
    call = ir.call_of(stmt)
    if call is None or type(stmt) is not ir.Assign or not call.args:
        return False
    if not may_be_complex(kinds.get(stmt.target.id, ir.UNKNOWN)):
        return False
    read = call.args[0]
    kind = kinds.get(read.id) if type(read) is ir.Name else None
    return isinstance(kind_of(read.value, "") if type(read) is ir.Ref else kind, ir.Object)


def _constants(stmt: ir.Stmt) -> Iterator[Any]:
    """The callees, constants and objects that a statement mentions itself."""
    for operand in ir.operands(stmt):
        for atom in ir.atoms(operand):
            if isinstance(atom, (ir.Const, ir.Ref)):
                yield atom.value
    rhs = getattr(stmt, "rhs", getattr(stmt, "iter", None))
    for _, value in getattr(stmt if type(stmt) is ir.Verbatim else rhs, "refs", ()):
        yield value
    if type(rhs) is ir.Call and not isinstance(rhs.fn, (ir.Name, ir.Method, ir.Attr)):
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
    return op_of(value).turns_complex or module_of(value).startswith(_COMPLEX_MODULES)
