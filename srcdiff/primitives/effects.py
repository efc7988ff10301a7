"""What calls do besides returning a value: the one place that knows.

`is_pure(callee)`: a call may be left out, or moved where its operands are the same; nothing but its
result comes of it (an error that it might raise does not count).  `mutated_args(call)`: the atoms
whose memory a call may write into.  `returns_view(call)`: the atoms whose memory its result may
share.  A callee that nobody knows is impure, may write into every argument and return any of them.

First comes what this is made of: results that share memory with what a call is given, and of which
that is all we know (`memoryview(y)`, `np.ndarray(shape, buffer=y)`, masked arrays: no rule says
where in `y` they are), arrays that are given back where there is nothing to do, items in memory of
their own, objects made out of the values of their attributes; last, calls that are made for their
effect alone: they write into an operand, and return None.
"""

from __future__ import annotations

import builtins
import logging
import operator
import warnings
from functools import lru_cache
from types import ModuleType
from typing import Any

import numpy as np

from srcdiff import ir
from srcdiff.ir.frozen import remember
from srcdiff.ir.kinds import (
    Array,
    Kinds,
    List,
    Object,
    Scalar,
    Sparse,
    Tuple,
    indexes_as_array,
    is_container,
    is_mutable,
    rank_of,
    sure,
)
from srcdiff.primitives.arguments import outs, overwrites
from srcdiff.primitives.purity import has_no_effect
from srcdiff.runtime import layout, records, sequences, trees
from srcdiff.runtime.devices import is_device_array, on_device

_WINDOWS = np.lib.stride_tricks.sliding_window_view
_WINDOW_FUNCTIONS = frozenset(
    {
        memoryview, np.ndarray, np.matrix, np.asmatrix, np.recarray, np.frombuffer, np.from_dlpack,
        np.nditer, np.lib.stride_tricks.as_strided, _WINDOWS,
    }
)  # fmt: skip
_WINDOW_MODULES = ("numpy.ma", "numpy.rec", "numpy.core.records", "numpy.ctypeslib")
WINDOW_METHODS = frozenset({"getfield", "__array__"})
WINDOW_ATTRIBUTES = frozenset({"data", "flat", "base"})
ADDRESS_ATTRIBUTES = frozenset({"ctypes", "__array_interface__", "__array_struct__"})
"""Attributes that give the address of an array's memory."""


def shares_memory(fn: Any) -> bool:
    """Whether what a function returns may be a view of any of its arguments."""
    if getattr(type(fn), "__hash__", None) is None:
        return False
    module = getattr(fn, "__module__", None)
    known = isinstance(module, str) and module.startswith(_WINDOW_MODULES)
    return known or fn in _WINDOW_FUNCTIONS


def is_foreign(call: ir.Call) -> bool:
    """Whether what a call returns may be a view that no rule describes, if there is no rule."""
    fn = call.fn
    if isinstance(fn, ir.Attr):
        return fn.name in WINDOW_ATTRIBUTES
    if isinstance(fn, ir.Method):
        return fn.name in WINDOW_METHODS
    return shares_memory(fn) and (fn is not np.ndarray or bool(buffer_of(call)))


def buffer_of(call: ir.Call) -> tuple[ir.Atom, ...]:
    """The memory that `np.ndarray(shape, dtype, buffer)` is given, if it is given any."""
    return (*call.args[2:3], *(v for k, v in call.kwargs if k == "buffer"))


# --- functions that give an array back that they are given, where they have nothing to do --------


_TIMES: dict[Any, tuple[str, int, int]] = {
    np.diff: ("n", 1, 0),
    np.polyder: ("m", 1, 0),
    np.polyint: ("m", 1, 0),
    np.linalg.matrix_power: ("n", 0, 1),
}
"""How often something is done, its default, and the number for which nothing is."""


def may_give_back(call: ir.Call, kinds: Kinds | None) -> bool:
    """Whether what a call returns may be its first argument itself."""
    if isinstance(call.fn, type) and issubclass(call.fn, np.generic):
        return bool(call.args) and _dtype(call, kinds) in (None, np.dtype(call.fn).name)
    return _times(call) in (None, True)


def gives_back(call: ir.Call, kinds: Kinds) -> bool:
    """Whether what a call returns certainly is its first argument itself, an array."""
    if isinstance(call.fn, type) and issubclass(call.fn, np.generic):
        return len(call.args) == 1 and _dtype(call, kinds) == np.dtype(call.fn).name
    return _times(call) is True


def _dtype(call: ir.Call, kinds: Kinds | None) -> str | None:
    """The dtype of the first argument of a call, if that certainly is an array with axes."""
    first = call.args[0] if call.args else None
    kind = (kinds or {}).get(first.id) if isinstance(first, ir.Name) else None
    known = isinstance(kind, Array) and not kind.maybe_scalar and rank_of(kind)
    return kind.dtype if known else None  # type: ignore[union-attr]


def _times(call: ir.Call) -> bool | None:
    """Whether something is certainly done no times, None where that is not known."""
    if isinstance(call.fn, (ir.Method, ir.Attr, ir.Name, ir.Derived)) or call.fn not in _TIMES:
        return False
    name, default, nothing = _TIMES[call.fn]
    number = dict(call.kwargs).get(name, call.args[1] if len(call.args) > 1 else ir.Const(default))
    return number.value == nothing if isinstance(number, ir.Const) else None


def asks_copy(call: ir.Call) -> bool:
    """Whether a call is told to copy: `x.reshape(n, copy=True)`."""
    return any(k == "copy" and v == ir.Const(True) for k, v in call.kwargs)


def copies(call: ir.Call) -> bool:
    """Whether what may give a view is told to copy, as `np.array` is unless told otherwise."""
    return asks_copy(call) or (call.fn is np.array and not asks_no_copy(call))


def asks_no_copy(call: ir.Call) -> bool:
    """Whether `np.array` is told that it need not copy."""
    return any(k == "copy" and v != ir.Const(True) for k, v in call.kwargs) or len(call.args) > 2


# --- which items are certainly in memory of their own, and no views of what they are taken from --


def copies_items(call: ir.Call, kinds: Kinds | None) -> bool:
    """Whether `x[i]` certainly makes new memory: a number, or an index with an array in it."""
    base, index = call.args[0], call.args[1]
    if not is_array_or_number(base, kinds):
        return False
    items = index.items if isinstance(index, ir.Tup) else (index,)
    return any(_is_array_index(i, kinds) for i in items) or _picks_one(base, items, kinds)


def _is_array_index(atom: ir.Atom, kinds: Kinds | None) -> bool:
    """Whether an index item is certainly an array, be it without axes, or a list."""
    if isinstance(atom, ir.Ref):  # of the module
        return isinstance(atom.value, (np.ndarray, list)) or is_device_array(atom.value)
    kind = kinds.get(atom.id) if kinds is not None and isinstance(atom, ir.Name) else None
    return kind is not None and indexes_as_array(kind)


def _picks_one(base: ir.Atom, items: tuple[ir.Atom, ...], kinds: Kinds | None) -> bool:
    """Whether an index certainly selects one number; on a device it would be a view."""
    kind = kinds.get(base.id) if kinds is not None and isinstance(base, ir.Name) else None
    rank = None if kind is None else rank_of(kind)
    return rank == len(items) and not on_device() and all(_is_integer(i, kinds) for i in items)


def _is_integer(atom: ir.Atom, kinds: Kinds | None) -> bool:
    """Whether an index item is certainly one integer."""
    if isinstance(atom, ir.Const):
        return isinstance(atom.value, int) and not isinstance(atom.value, bool)
    kind = kinds.get(atom.id) if kinds is not None and isinstance(atom, ir.Name) else None
    return isinstance(kind, Scalar) and kind.dtype is not None and "int" in kind.dtype


def is_array_or_number(atom: ir.Atom, kinds: Kinds | None) -> bool:
    """Whether an atom is certainly an array or a number, not a container; it may be None."""
    kind = kinds.get(atom.id) if kinds is not None and isinstance(atom, ir.Name) else None
    return kind is not None and isinstance(sure(kind), (Array, Scalar))


# --- calls that make an object out of the values of its attributes -------------------------------


def makes_object(fn: Any) -> bool:
    """Whether a callee makes an object out of the values of its attributes."""
    if isinstance(fn, type):
        return records.plain_fields(fn) is not None
    return fn is records.instance or fn is trees.like_object


def object_parts(call: ir.Call) -> tuple[tuple[str, ...], tuple[ir.Atom, ...]]:
    """The attributes of an object that a call makes: their names and values."""
    fields = records.plain_fields(call.fn)
    if fields is not None:
        return fields, call.args
    return tuple(str(k) for k, _ in call.kwargs), tuple(v for _, v in call.kwargs)


# --- what has an effect --------------------------------------------------------------------------


_HELPERS = (
    "arrays", "linalg", "trees", "layout", "copies", "sequences", "batched", "records",
    "checkpoint", "second_order", "contexts", "implicit", "indexing", "scipy.filters",
    "scipy.curves", "scipy.integrals", "scipy.normal", "scipy.roots", "scipy.sparse",
)  # fmt: skip
_KNOWN_MODULES = (
    "numpy", "math", "cmath", "_operator", "operator", "scipy", "copy",
    *(f"srcdiff.runtime.{m}" for m in _HELPERS),
)  # fmt: skip

# Operators that write into their first operand.
IN_PLACE_OPERATORS = frozenset(
    getattr(operator, name)
    for name in ("setitem", "delitem", *(n for n in dir(operator) if n.startswith("i")))
    if name in ("setitem", "delitem") or hasattr(operator, name[1:]) or name in ("iand", "ior")
) - {operator.is_, operator.is_not, operator.inv, operator.invert, operator.index}

IN_PLACE_FUNCTIONS = frozenset(
    {
        sequences.add_to_part, trees.add_at, trees.add_into, trees.add_numbers, trees.add_shared,
        trees.put_back, np.copyto, np.put, np.place, np.putmask, np.put_along_axis,
        np.fill_diagonal,
    }
)  # fmt: skip

ARRAY_MUTATORS = frozenset(
    {"fill", "sort", "partition", "put", "itemset", "resize", "setfield", "setflags"}
)
LIST_MUTATORS = frozenset(
    {"append", "extend", "insert", "pop", "remove", "clear", "reverse", "sort"}
)
DICT_MUTATORS = frozenset({"update", "setdefault", "pop", "popitem", "clear"})
MUTATORS = ARRAY_MUTATORS | LIST_MUTATORS | DICT_MUTATORS | {"add", "discard", "write"}

# Methods of arrays, numbers and containers that have no effect.
PURE_METHODS = frozenset(
    name
    for cls in (np.ndarray, np.float64, float, int, complex, list, dict, tuple, str)
    for name in dir(cls)
    if not name.startswith("_")
) - (MUTATORS | {"tofile", "dump", "byteswap"})

VIEW_METHODS = frozenset(
    {
        "reshape", "ravel", "transpose", "swapaxes", "squeeze", "diagonal", "view",
        "conj", "conjugate", "__array__", "getfield",
    }
)  # fmt: skip
ELEMENT_METHODS = frozenset({"get", "pop", "setdefault", "popitem", "items", "values", "copy"})
PLAIN_ATTRIBUTES = frozenset({"shape", "ndim", "size", "dtype", "itemsize", "nbytes", "strides"})


# Functions that tell somebody something, and methods of a `logging.Logger` that do.
_TELLING_METHODS = frozenset(
    {"debug", "info", "warning", "error", "critical", "exception", "log", "isEnabledFor"}
)
_TELLING = frozenset(
    {warnings.warn, *(getattr(logging, n) for n in _TELLING_METHODS if hasattr(logging, n))}
)
_LOGGERS = frozenset({"logging.Logger", "logging.RootLogger", "logging.LoggerAdapter"})


def _numpy_functions(*names: str) -> frozenset[Any]:
    """The functions of NumPy with these names that this version has."""
    return frozenset(getattr(np, n) for n in names if hasattr(np, n))


# Functions whose result may share the memory of their first argument.
VIEW_FUNCTIONS = _numpy_functions(
    "reshape", "ravel", "transpose", "permute_dims", "matrix_transpose", "swapaxes", "moveaxis",
    "rollaxis", "squeeze", "expand_dims", "broadcast_to", "diagonal", "diag", "flip", "flipud",
    "fliplr", "rot90", "asarray", "asanyarray", "ascontiguousarray", "asfortranarray",
    "asarray_chkfinite", "require", "real", "imag", "real_if_close", "array",
    "trim_zeros", "astype", "resize",
) | {np.linalg.matrix_transpose, np.linalg.diagonal}  # fmt: skip

# Functions whose result holds views of all their arguments.
VIEW_ALL_FUNCTIONS = _numpy_functions(
    "atleast_1d", "atleast_2d", "atleast_3d", "broadcast_arrays", "split", "array_split", "hsplit",
    "vsplit", "dsplit", "unstack", "ix_", "meshgrid",
)  # fmt: skip


_DISPLAYS = (ir.make_list, ir.make_dict, ir.make_function, ir.is_function, ir.captured)


def is_pure(callee: ir.Callee) -> bool:
    """Whether nothing but its result comes of a call (see `mutated_args` for `out=`)."""
    kind = type(callee)
    if kind is ir.Attr:
        return True
    if isinstance(callee, ir.Method):
        return callee.name in PURE_METHODS
    if kind is ir.Derived or kind is ir.Name:
        return False
    if has_no_effect(callee):
        return True
    if any(callee is d for d in (*_DISPLAYS, ir.new_object)) or makes_object(callee):
        return True
    return hasattr(kind, "for_kinds")  # a derivative copies what its primal writes into


def module_of(fn: Any) -> str:
    """The name of the module that a function belongs to, "" if it has none."""
    if isinstance(fn, ModuleType):
        return ""
    name = getattr(fn, "__module__", None)
    if isinstance(name, str):
        return name
    owner = getattr(fn, "__self__", None)
    return "numpy" if isinstance(owner, np.ufunc) else str(type(owner).__module__)


def _is_known(fn: Any) -> bool:
    """Whether a function belongs to a module whose functions write into no argument but these."""
    return isinstance(fn, np.ufunc) or _is_known_module(module_of(fn))


@lru_cache(maxsize=4096)
def _is_known_module(module: str) -> bool:
    """Whether the functions of a module write into nothing but what is said above."""
    return any(module == m or module.startswith(m + ".") for m in _KNOWN_MODULES)


def is_ufunc_at(fn: Any) -> bool:
    """Whether a function is `np.add.at` or its like."""
    return isinstance(getattr(fn, "__self__", None), np.ufunc) and fn.__name__ == "at"


# --- writing -----------------------------------------------------------------------------------


def mutated_args(call: ir.Call, kinds: Kinds | None = None) -> tuple[ir.Atom, ...]:
    """The arguments whose memory a call may write into; `kinds` leaves out what has none."""
    found = call._mutated
    if found is None:
        every = tuple(dict.fromkeys((*_mutated_positional(call), *outs(call))))
        found = remember(call, "_mutated", every)
    if found and (_reads_sparse(call, kinds) or _tells(call, kinds)):
        found = outs(call)
    return tuple([a for a in found if _has_memory(a, kinds)]) if found else ()


def written_into(stmt: ir.Stmt, kinds: Kinds | None = None) -> tuple[str, ...]:
    """The names into whose memory a statement itself may write; `kinds` as above."""
    if isinstance(stmt, ir.SetItem):
        return (stmt.base.id,)
    call = ir.call_of(stmt)
    written = () if call is None else mutated_args(call, kinds)
    return tuple([n for a in written for n in ir.occurrences(a)])


def only_computes(rhs: ir.Rhs) -> bool:
    """Whether leaving out the evaluation of a right-hand side changes nothing else."""
    if isinstance(rhs, ir.Call):
        return is_pure(rhs.fn) and not mutated_args(rhs)
    return not isinstance(rhs, ir.Opaque) or rhs.is_pure


def _reads_sparse(call: ir.Call, kinds: Kinds | None) -> bool:
    """Whether a call is of a method of a sparse matrix that writes into nothing."""
    if kinds is None or not isinstance(call.fn, ir.Method):
        return False
    return _is_sparse(call.args[0], kinds) and call.fn.name not in SPARSE_MUTATORS


def _tells(call: ir.Call, kinds: Kinds | None) -> bool:
    """Whether a call is of a method of a logger that writes into nothing that it is given."""
    if not isinstance(call.fn, ir.Method) or call.fn.name not in _TELLING_METHODS:
        return False
    receiver = call.args[0]
    if isinstance(receiver, ir.Ref):
        cls = type(receiver.value)
        return f"{cls.__module__}.{cls.__qualname__}" in _LOGGERS
    kind = kinds.get(receiver.id) if kinds is not None and isinstance(receiver, ir.Name) else None
    return isinstance(kind, Object) and kind.type in _LOGGERS


def _is_sparse(atom: ir.Atom, kinds: Kinds | None) -> bool:
    known = kinds is not None and isinstance(atom, ir.Name)
    return known and isinstance(kinds.get(atom.id), Sparse)  # type: ignore[union-attr]


def _mutated_positional(call: ir.Call) -> tuple[ir.Atom, ...]:
    """The positional arguments that a call may write into."""
    fn = call.fn
    if isinstance(fn, ir.Method):
        return call.args[:1] if fn.name in MUTATORS else _unknown_method(call, fn.name)
    if isinstance(fn, (ir.Attr, ir.Derived)) or fn in _DISPLAYS:
        return ()
    if fn is ir.set_attr or fn is ir.set_item:
        return call.args[:1]
    if makes_object(fn):
        return ()
    if isinstance(fn, np.ufunc):
        return call.args[fn.nin :]
    if fn in IN_PLACE_OPERATORS or fn in IN_PLACE_FUNCTIONS or is_ufunc_at(fn):
        return _first(call)
    if fn in _TELLING:
        return ()
    if isinstance(fn, ir.Name):
        return (*call.args, *(v for _, v in call.kwargs))
    if getattr(fn, "__name__", "") in ("shuffle", "setattr", "delattr", "next"):
        return call.args[:1]
    if _is_known(fn):
        return _every(call) if overwrites(call) else ()
    if getattr(builtins, getattr(fn, "__name__", ""), None) is fn:
        return ()
    return (*call.args, *(v for _, v in call.kwargs))


def _every(call: ir.Call) -> tuple[ir.Atom, ...]:
    return (*call.args, *(v for _, v in call.kwargs))


def _first(call: ir.Call) -> tuple[ir.Atom, ...]:
    """The first argument; any of them where all are given by keyword."""
    return call.args[:1] or tuple(v for _, v in call.kwargs)


def _unknown_method(call: ir.Call, name: str) -> tuple[ir.Atom, ...]:
    """What a method may write into that is none of those that are known to write."""
    if name in PURE_METHODS:
        return ()
    return call.args


def _has_memory(atom: ir.Atom, kinds: Kinds | None) -> bool:
    """Whether an atom may be something that can be written into."""
    if isinstance(atom, (ir.Const, ir.Slice)):
        return False
    kind = kinds.get(atom.id) if kinds is not None and isinstance(atom, ir.Name) else None
    return kind is None or is_mutable(kind)


# --- sharing -----------------------------------------------------------------------------------


def returns_view(call: ir.Call, kinds: Kinds | None = None) -> tuple[ir.Atom, ...]:
    """The arguments whose memory the result of a call may share, or that it may hold or be."""
    viewed = _viewed(call, kinds)
    if viewed and (call.fn in VIEW_FUNCTIONS or call.fn in VIEW_ALL_FUNCTIONS):
        # An array of what a list holds is a copy.
        viewed = tuple([a for a in viewed if not _is_sequence(a, kinds)])
    return tuple([a for a in viewed if _has_memory(a, kinds)]) if viewed else ()


def _is_sequence(atom: ir.Atom, kinds: Kinds | None) -> bool:
    """Whether an argument is certainly a list or tuple."""
    if kinds is None or not isinstance(atom, ir.Name):
        return isinstance(atom, ir.Tup)
    return isinstance(kinds.get(atom.id), (List, Tuple))


def _viewed(call: ir.Call, kinds: Kinds | None) -> tuple[ir.Atom, ...]:
    """What the result may share memory with."""
    if into := outs(call):
        return into
    if isinstance(call.fn, ir.Method):
        return _viewed_by_method(call, call.fn.name, kinds)
    if call.fn is operator.getitem:
        return () if copies_items(call, kinds) else call.args[:1]
    if call.fn in (operator.add, operator.mul):  # a longer list of the same items
        return tuple([a for a in call.args if _is_sequence(a, kinds)])
    if may_give_back(call, kinds):
        return () if _is_sequence(call.args[0], kinds) else call.args[:1]
    found = call._viewed
    return remember(call, "_viewed", _viewed_by_callee(call)) if found is None else found


def _viewed_by_callee(call: ir.Call) -> tuple[ir.Atom, ...]:
    """What the result may share memory with, by the callee alone."""
    fn, args = call.fn, call.args
    if isinstance(fn, ir.Attr):
        return () if fn.name in PLAIN_ATTRIBUTES else args[:1]
    if isinstance(fn, ir.Derived):
        if fn.part == "at run time":
            return ()  # `call_vjp` gives memory of its own
        # A marked call says which of its arguments it may return.
        if fn.part != "primal":
            return args
        return tuple(a for (p, _), a in zip(fn.key.kinds, args) if p in fn.key.returned)
    if isinstance(fn, np.ufunc):
        return args[fn.nin :]
    if fn in VIEW_FUNCTIONS:
        return () if copies(call) else _first(call)
    if fn is np.einsum:  # of one operand it may be a view
        return () if len(args) > 2 and isinstance(args[0], ir.Const) else args
    if fn in IN_PLACE_OPERATORS:
        return args[:1]
    if makes_object(fn):
        return object_parts(call)[1]
    if fn is np.ndarray:
        return buffer_of(call)
    if fn in VIEW_ALL_FUNCTIONS or fn in _DISPLAYS or shares_memory(fn):
        return (*args, *(v for _, v in call.kwargs))
    return _viewed_by_function(call)


def _viewed_by_method(call: ir.Call, name: str, kinds: Kinds | None) -> tuple[ir.Atom, ...]:
    """What the result of a method call may share memory with."""
    if name == "astype":
        return call.args[:1] if asks_no_copy(call) else ()
    if _is_generator(call.args[0], kinds):
        return ()
    if _is_sparse(call.args[0], kinds):
        return call.args[:1] if shares_entries(name) else ()
    if copies(call):
        return ()
    held = name in ELEMENT_METHODS and not is_array_or_number(call.args[0], kinds)
    if held or name in VIEW_METHODS:
        return call.args[:1]
    return () if name in PURE_METHODS or name in MUTATORS else call.args


def _viewed_by_function(call: ir.Call) -> tuple[ir.Atom, ...]:
    """What the result of a plain function may share memory with."""
    fn = call.fn
    if module_of(fn).startswith("srcdiff.") and module_of(fn) in _KNOWN_MODULES:
        if fn is layout.view_like:
            return (call.args[0], call.args[3])
        name = getattr(fn, "__name__", "")
        return call.args[:1] if name in _VIEWING_HELPERS else ()
    if fn is sum and len(call.args) == 1 and not call.kwargs:
        return ()  # 0 + the first item is new memory
    if fn is dict:
        return (*call.args, *(v for _, v in call.kwargs))
    if fn in (list, tuple, dict, reversed, sorted, zip, enumerate, min, max, sum, getattr, next):
        return call.args
    if not isinstance(fn, (ir.Name, ir.Derived)) and (
        _is_known(fn) or getattr(builtins, getattr(fn, "__name__", ""), None) is fn
    ):
        return ()
    return (*call.args, *(v for _, v in call.kwargs))


_VIEWING_HELPERS = (
    "hook", "stop_gradient", "unbroadcast", "real_like", "uncut", "spread", "keep_axes", "rows",
    "unrows", "matmul_left", "matmul_right", "dot_left", "dot_right", "beside", "own_numbers",
    "unbroadcast_each", "broadcast_each", "keep_axes_each", "spread_each",
)  # fmt: skip


_NEW_HELPERS = frozenset(
    {
        "scatter", "shift", "undiff", "power_slope", "log_or_zero", "divide_or_zero", "winners",
        "before", "after", "recur", "recur_back", "cofactor", "zeros_like",
    }
)  # fmt: skip


def makes_new(fn: ir.Callee) -> bool:
    """Whether what a callee returns, where it is no view, is memory that can be written into."""
    helper = getattr(fn, "__module__", "") == "srcdiff.runtime.arrays"
    return not helper or getattr(fn, "__name__", "") in _NEW_HELPERS


def _is_generator(atom: ir.Atom, kinds: Kinds | None) -> bool:
    """Whether an atom is a generator of random numbers, which returns new arrays."""
    kind = kinds.get(atom.id) if kinds is not None and isinstance(atom, ir.Name) else None
    return isinstance(kind, Object) and kind.type.startswith("numpy.random.")


SPARSE_MUTATORS = frozenset(
    {"setdiag", "sum_duplicates", "eliminate_zeros", "sort_indices", "prune", "resize", "update",
     "check_format", "clear", "pop", "popitem", "setdefault"}
)  # fmt: skip
"""The methods of sparse matrices that write into them."""


def shares_entries(method: str) -> bool:
    """Whether what a method of a sparse matrix returns may have the memory of its entries."""
    dense = method in ("toarray", "todense")
    return method in ("transpose", "conj", "conjugate") or (method[:2] == "to" and not dense)


# --- calls that are made for their effect alone: they write into an operand, and return None -----


_SILENT_METHODS = frozenset({
    "append", "extend", "insert", "remove", "clear", "reverse", "sort", "update", "fill",
    "partition", "put", "itemset", "setfield", "setflags",
})  # fmt: skip
_SILENT_FUNCTIONS = frozenset({
    np.copyto, np.put, np.place, np.putmask, np.put_along_axis, np.fill_diagonal,
    operator.setitem, operator.delitem,
})  # fmt: skip


def returns_nothing(rhs: ir.Rhs, kinds: Kinds) -> bool:
    """Whether a right-hand side is a call that returns None."""
    if not isinstance(rhs, ir.Call) or not rhs.args:
        return False
    if isinstance(rhs.fn, ir.Method):
        base = rhs.args[0]
        kind = kinds.get(base.id) if isinstance(base, ir.Name) else None
        known = kind is not None and (isinstance(kind, Array) or is_container(kind))
        return known and rhs.fn.name in _SILENT_METHODS
    if isinstance(rhs.fn, (ir.Name, ir.Attr, ir.Derived)):
        return False
    return is_ufunc_at(rhs.fn) or rhs.fn in _SILENT_FUNCTIONS
