"""Arrays of other classes than NumPy's own, and of Python objects, and objects with tangents.

NumPy keeps a value that is put into an array of Python objects as it is, so that a derivative would
have to pass; it has no place in an array of zeros of that dtype.
"""

from __future__ import annotations

from collections.abc import Set

import numpy as np

from srcdiff import ir
from srcdiff.analysis.activity import edges_of, reachable
from srcdiff.errors import DtypeError, placed, refused
from srcdiff.frontend.lowering import flows
from srcdiff.frontend.request import Request
from srcdiff.kinds.calls import atom_kind
from srcdiff.primitives.ops import Op, is_op
from srcdiff.runtime import records
from srcdiff.specialize.objects.places import has_objects


def check_arrays(function: ir.Function, kinds: ir.Kinds) -> None:
    """Raise a DtypeError for what is done with an array of a class that is not NumPy's own."""
    for stmt in ir.walk(function):
        for atom in _operands(stmt):
            kind = atom_kind(atom, kinds)
            if isinstance(kind, ir.OtherArray):
                own = atom.text if isinstance(atom, ir.Ref) else next(iter(ir.names(atom)), "_")
                said = ir.said(own)
                name = said.strip("`") if said.startswith("`") else "x"
                raise placed(DtypeError(f"{said} {own_meaning(kind.cls, name)}"), [stmt.loc])


def _operands(stmt: ir.Stmt) -> tuple[ir.Atom, ...]:
    """What a statement computes with, or iterates over."""
    if isinstance(stmt, ir.Store):
        return stmt.base, stmt.value
    if isinstance(stmt, ir.For):
        return (stmt.iter,) if isinstance(stmt.iter, (ir.Name, ir.Ref)) else ()
    call = ir.call_of(stmt)
    if call is None or is_op(call, Op.IS, Op.IS_NOT, Op.MAKE_LIST, Op.MAKE_DICT):
        return ()
    return (*call.args, *(v for _, v in call.kwargs))


def own_meaning(cls: type, name: str) -> str:
    """What is wrong with an array of a class, and what to do."""
    if issubclass(cls, np.ma.MaskedArray):
        return (
            "is a masked array, whose operations leave elements out: pass `x.filled(0.0)` and "
            "the mask as arrays of their own"
        )
    if issubclass(cls, np.matrix):
        return "is a np.matrix, whose `*` is a matrix product: pass `np.asarray(x)` and write `@`"
    if issubclass(cls, np.ndarray):
        what = f"is of class {cls.__name__}, which may give operators another meaning"
        return f"{what}: pass `np.asarray(x)`"
    package = str(cls.__module__).partition(".")[0]
    what = cls.__name__ if package in ("__main__", "builtins") else f"{package} {cls.__name__}"
    article = "an" if what[0] in "aeioxAEIO" else "a"
    return f"is {article} {what}, no array of NumPy: pass `{_converted(cls, name)}`"


def _converted(cls: type, name: str) -> str:
    """What makes an array of NumPy of an object."""
    if records.member(cls, "to_numpy") is not records.MISSING:
        return f"{name}.to_numpy()"
    if records.member(cls, "detach") is not records.MISSING:
        return f"{name}.detach().numpy()"
    return f"np.asarray({name})"


def check_boxed(function: ir.Function, kinds: ir.Kinds, inputs: tuple[str, ...]) -> None:
    """Refuse an array of objects that holds, or is made of, what depends on the inputs."""
    boxes = {n for n, k in kinds.items() if isinstance(k, ir.Array) and k.dtype == "object"}
    boxes |= {n for s in ir.walk(function) if _makes_box(ir.call_of(s)) for n in ir.writes(s)}
    if not boxes:
        return
    found = edges_of(function, {**kinds, **dict.fromkeys(boxes, ir.UNKNOWN)}, flows)
    varied = reachable(inputs, found)
    for source, target, stmt in found:
        if target in boxes and source in varied and source not in boxes:
            loc = function.loc if stmt is None else stmt.loc
            raise refused("memory.boxed", loc, name=ir.said(target))


def _makes_box(call: ir.Call | None) -> bool:
    """Whether a call is given the dtype of objects."""
    if call is None:
        return False
    dtypes = [v for k, v in call.kwargs if k == "dtype"] or call.args[1:]
    return any(isinstance(a, (ir.Ref, ir.Const)) and _is_object_dtype(a.value) for a in dtypes)


def _is_object_dtype(dtype: object) -> bool:
    """Whether something names the dtype of Python objects."""
    if type(dtype) is str:
        return dtype in ("O", "object")
    return dtype is object or dtype is np.object_ or (isinstance(dtype, np.dtype) and dtype == "O")


def check_objects(
    function: ir.Function, active: Set[str], kinds: ir.Kinds, request: Request
) -> None:
    """Refuse objects that carry a derivative, or hold one: their attributes have no tangents."""
    whole = [item.param for item in request.inputs if item.parts]
    objects = whole or sorted(n for n in active if n in kinds and has_objects(kinds[n]))
    if objects:
        raise refused("inputs.object_tangent", function.loc, name=ir.said(objects[0]))
