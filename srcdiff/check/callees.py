"""Refuse calls of which nothing is known where a derivative would have to pass through them.

So are arrays of Python objects that a value with a derivative is put into: NumPy keeps such a value
as it is, so that a derivative would have to pass; it has no place in an array of zeros of that
dtype.  And with `strong_zeros=True`, calls of functions whose derivative that does not reach.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Set
from typing import NoReturn

import numpy as np

from srcdiff import ir
from srcdiff.analysis.activity import edges_of, reachable
from srcdiff.errors import DtypeError, placed, refused
from srcdiff.frontend.lowering import flows, mentioned
from srcdiff.frontend.request import Request
from srcdiff.kinds.calls import atom_kind
from srcdiff.primitives.arguments import spelling
from srcdiff.primitives.effects import is_pure, module_of, mutated_args, written_into
from srcdiff.primitives.ops import Op, is_op
from srcdiff.primitives.registry import find, lookup
from srcdiff.runtime import records
from srcdiff.specialize.inline import is_user_function
from srcdiff.specialize.resolve import is_declined, refuse_strange


def check_boxed(function: ir.Function, kinds: ir.Kinds, inputs: tuple[str, ...]) -> None:
    """Refuse an array of objects that holds what depends on the inputs.

    Raises:
        UnsupportedError: a value that carries a derivative is stored in it, or it is made of one.
    """
    boxes = {n for n, k in kinds.items() if isinstance(k, ir.Array) and k.dtype == "object"}
    boxes |= {n for s in ir.walk(function.body) if _makes_box(ir.call_of(s)) for n in ir.writes(s)}
    if not boxes:
        return
    found = edges_of(function, {**kinds, **dict.fromkeys(boxes, ir.UNKNOWN)}, flows)
    varied = reachable(inputs, found)
    for source, target, stmt in found:
        if target in boxes and source in varied and source not in boxes:
            raise refused("memory.boxed", stmt.loc, name=ir.said(target))


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


# --- refuse calls of which nothing is known where a derivative would have to pass through them ---


def check_callees(
    function: ir.Function, kinds: ir.Kinds, inputs: tuple[str, ...], outputs: tuple[str, ...]
) -> None:
    """Refuse calls through which a derivative would have to pass and of which nothing is known."""
    check_boxed(function, kinds, inputs)
    if not any(_is_suspect(s, kinds) for s in ir.walk(function.body)):
        return
    found = edges_of(function, kinds, flows)
    varied = reachable(inputs, found)
    useful = reachable(outputs, found, backward=True)
    made = _capturing(function, {n for n in varied if ir.carries(n, kinds)})
    methods = _methods_by_name(function, varied)
    for stmt in ir.walk(function.body):
        if isinstance(stmt, ir.SetItem) and _is_item_store(stmt, kinds) and stmt.base.id in varied:
            _refuse_store(stmt)
        call = ir.call_of(stmt)
        if call is None:
            continue
        result = not useful.isdisjoint(ir.writes(stmt))
        depends = result and not varied.isdisjoint(ir.writes(stmt))
        if result and is_declined(call) and not varied.isdisjoint(ir.names(call)):
            find(call, kinds, stmt.loc)  # says what to write instead
        if result:
            _check_captured(call, made, kinds, stmt.loc)
        if depends and _combines_objects(call, kinds):
            _refuse_objects(call, stmt.loc)
        strange = depends and _is_own_container(call)
        strange = strange or (isinstance(call.fn, ir.Name) and call.fn.id in methods)
        if not strange and _is_strange(call, kinds):
            active = {n for n in ir.names(call) if n in varied and ir.carries(n, kinds)}
            strange = bool(active and (result or active & useful & {*written_into(stmt, kinds)}))
        if strange:
            refuse_strange(call, stmt.loc, function, kinds)


def _is_suspect(stmt: ir.Stmt, kinds: ir.Kinds) -> bool:
    """Whether a statement may be, or make, what `check_callees` refuses."""
    call = ir.call_of(stmt)
    if call is not None:
        known = not _is_strange(call, kinds) and not _combines_objects(call, kinds)
        return is_declined(call) or not known or _is_own_container(call)
    if isinstance(stmt, ir.SetItem):
        return _is_item_store(stmt, kinds)
    rhs = stmt.rhs if isinstance(stmt, ir.Assign) else None
    return isinstance(rhs, ir.Opaque) and not rhs.harmless


def _capturing(function: ir.Function, varied: Container[str]) -> dict[str, str]:
    """The names that may hold a function made here that reads one of some names, and that."""
    found: dict[str, str] = {}
    makers = [s for s in ir.walk(function.body) if isinstance(s, ir.Assign)]
    makers = [s for s in makers if not isinstance(s.rhs, ir.Call) or is_op(s.rhs, *_HOLDING)]
    for _ in makers:
        before = len(found)
        for stmt in makers:
            own = isinstance(stmt.rhs, ir.Opaque) and not stmt.rhs.harmless
            for name in ir.names(stmt.rhs):
                if name in found or (own and name in varied):
                    found.setdefault(stmt.target.id, found.get(name, name))
        if len(found) == before:
            break
    return found


def _methods_by_name(function: ir.Function, varied: frozenset[str]) -> frozenset[str]:
    """The names of what `getattr` gives of something: methods, which may change it."""
    made = (s for s in ir.walk(function.body) if is_op(ir.call_of(s), Op.GETATTR))
    return frozenset(n for s in made if varied.intersection(ir.reads(s)) for n in ir.writes(s))


_HOLDING = (Op.MAKE_LIST, Op.MAKE_DICT, Op.GETITEM, Op.LIST, Op.TUPLE, Op.DICT)


def _check_captured(call: ir.Call, made: Mapping[str, str], kinds: ir.Kinds, loc: ir.Loc) -> None:
    """Refuse a function that a rule says nothing of, and that reads values with a derivative."""
    rule = None if made.keys().isdisjoint(ir.names(call)) else lookup(call.fn)
    if rule is None or rule.template is None or is_op(call, *_HOLDING):
        return
    for param, atom in find(call, kinds, loc).args.items():
        active = [made[n] for n in ir.names(atom) if n in made]
        if active and param not in mentioned(rule):
            raise refused(
                "callees.captured", loc, param=param, callee=spelling(call), name=ir.said(active[0])
            )


def _is_strange(call: ir.Call, kinds: ir.Kinds) -> bool:
    """Whether nothing is known of what a call does."""
    fn = call.fn
    if isinstance(fn, (ir.Name, ir.Attr, ir.Derived)):
        return isinstance(fn, ir.Name)
    first = call.args[0] if call.args else ir.NONE
    kind = kinds.get(first.id) if isinstance(first, ir.Name) else None
    container = kind is not None and ir.is_container(kind)
    if is_op(call, Op.LIST):
        return kind is not None and not isinstance(kind, (ir.Array, ir.Scalar)) and not container
    if is_pure(fn) or lookup(fn) is not None:
        return False
    return not container if isinstance(fn, ir.Method) else bool(mutated_args(call))


def _is_own_container(call: ir.Call) -> bool:
    """Whether a call makes a list or dict of a class that has operators of its own."""
    cls = call.fn if isinstance(call.fn, type) else object
    base = next((b for b in (dict, list) if issubclass(cls, b)), None)
    return base is not None and bool(records.own_operators(cls, base))


def _combines_objects(call: ir.Call, kinds: ir.Kinds) -> bool:
    """Whether a call compares or joins objects, as operators of their class say."""
    numpy = isinstance(call.fn, np.ufunc) or module_of(call.fn).startswith("numpy")
    asked = numpy or is_op(call, Op.MAX, Op.MIN, Op.SUM)
    return asked and any(_holds_object(atom_kind(a, kinds)) for a in call.args)


def _holds_object(kind: ir.Kind) -> bool:
    """Whether a value is, or holds, an object with attributes that is no named tuple."""
    cls = ir.class_if_any(kind)
    return any(map(_holds_object, ir.inside(kind))) if cls is None else not issubclass(cls, tuple)


def _refuse_objects(call: ir.Call, loc: ir.Loc) -> NoReturn:
    raise refused("objects.combined", loc, callee=spelling(call))


def _is_item_store(stmt: ir.SetItem, kinds: ir.Kinds) -> bool:
    """Whether a statement stores an item into an object that is no array."""
    kind = kinds.get(stmt.base.id)
    return isinstance(kind, ir.Object) and kind.type != "numpy.ndarray"


def _refuse_store(stmt: ir.SetItem) -> NoReturn:
    raise refused("objects.stored", stmt.loc, name=ir.said(stmt.base.id))


# --- arrays of other classes than NumPy's own ----------------------------------------------------


def check_arrays(function: ir.Function, kinds: ir.Kinds) -> None:
    """Refuse what is done with an array of a class that is not NumPy's own.

    Raises:
        DtypeError: with the line that does it.
    """
    for stmt in ir.walk(function.body):
        for atom in _operands(stmt):
            kind = atom_kind(atom, kinds)
            if isinstance(kind, ir.OtherArray):
                own = atom.text if isinstance(atom, ir.Ref) else next(iter(ir.names(atom)), "_")
                said = ir.said(own)
                name = said.strip("`") if said.startswith("`") else "x"
                raise placed(DtypeError(f"{said} {own_meaning(kind.cls, name)}"), [stmt.loc])


def _operands(stmt: ir.Stmt) -> tuple[ir.Atom, ...]:
    """What a statement computes with, or iterates over."""
    if isinstance(stmt, ir.SetItem):
        return stmt.base, stmt.value
    if isinstance(stmt, ir.For):
        return (stmt.iter,) if isinstance(stmt.iter, (ir.Name, ir.Ref)) else ()
    call = ir.call_of(stmt)
    if call is None or is_op(call, Op.IS, Op.IS_NOT, *_HOLDING[:2]):
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


# --- calls of functions whose derivative `strong_zeros=True` does not reach ----------------------


def check_strong(
    function: ir.Function, active: Set[str], kinds: ir.Kinds, request: Request
) -> None:
    """With `strong_zeros`, refuse calls that differentiate the function that they are given.

    That derivative is generated when they run, as it is without `strong_zeros`.
    """
    if not request.strong_zeros:
        return
    for stmt in ir.walk(function.body):
        call = ir.call_of(stmt)
        if call is None or isinstance(call.fn, ir.Derived) or is_op(call, Op.HOOK):
            continue
        if not active.isdisjoint(ir.writes(stmt)) and _is_given_one(call, kinds):
            raise refused("inputs.strong_zeros", stmt.loc, callee=ir.said(call.text or ""))


def _is_given_one(call: ir.Call, kinds: ir.Kinds) -> bool:
    """Whether a function is among the arguments of a call."""
    given = (*call.args, *(a for _, a in call.kwargs))
    made = any(isinstance(a, ir.Ref) and is_user_function(a.value) for a in given)
    names = (a.id for a in given if isinstance(a, ir.Name))
    return made or any(isinstance(kinds.get(n), ir.Callable) for n in names)
