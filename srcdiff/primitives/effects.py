"""What calls do besides returning a value: the one place that knows.

`is_pure(callee)`: a call may be left out, or moved where its operands are the same; nothing but its
result comes of it (an error that it might raise does not count).  `mutated_args(call)`: the atoms
whose memory a call may write into.  `returns_view(call)`: the atoms whose memory its result may
share.  A callee that nobody knows is impure, may write into every argument and return any of them.
"""

from __future__ import annotations

import builtins
import logging
import operator
import warnings
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from srcdiff import ir
from srcdiff.ir.kinds import Kind, List, Object, Sparse, Tuple, is_mutable
from srcdiff.primitives.foreign import buffer_of, shares_memory
from srcdiff.primitives.given_back import asks_no_copy, copies, may_give_back
from srcdiff.primitives.item_copies import copies_items, is_array_or_number
from srcdiff.primitives.made_objects import makes_object, object_parts
from srcdiff.primitives.outs import outs, overwrites
from srcdiff.primitives.purity import has_no_effect
from srcdiff.runtime import layout, sequences, trees

Kinds = Mapping[str, Kind]

_HELPERS = (
    "arrays", "linalg", "trees", "layout", "together", "sequences", "batched", "records",
    "checkpoint.recompute", "checkpoint.schedules", "second_order", "hooks", "implicit",
    "scipy.curves", "scipy.integrals", "scipy.normal", "scipy.odes", "scipy.roots",
    "scipy.sparse", "cofactors", "ufunc_methods", "attempts", "scipy.filters", "pieces",
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
    found: tuple[ir.Atom, ...] | None = call.__dict__.get("_mutated")
    if found is None:
        # Remembered beside the fields: it depends on nothing else.
        found = tuple(dict.fromkeys((*_mutated_positional(call), *outs(call))))
        call.__dict__["_mutated"] = found
    if found and (_reads_sparse(call, kinds) or _tells(call, kinds)):
        found = outs(call)
    return tuple([a for a in found if _has_memory(a, kinds)]) if found else ()


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
    if "_viewed" not in call.__dict__:  # it depends on nothing but the fields
        call.__dict__["_viewed"] = _viewed_by_callee(call)
    return call.__dict__["_viewed"]  # type: ignore[no-any-return]


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
