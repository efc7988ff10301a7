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

import operator
from collections.abc import Iterable
from types import BuiltinFunctionType, ModuleType
from typing import Any

import numpy as np

from srcdiff import ir
from srcdiff.ir.frozen import remember
from srcdiff.primitives.arguments import outs, overwrites
from srcdiff.primitives.operation import (
    SPARSE_MUTATORS,
    TELLING_METHODS,
    Effect,
    Result,
    Which,
    op_of,
)
from srcdiff.primitives.ops import Op, is_op, op_named, which_op
from srcdiff.runtime import records
from srcdiff.runtime.devices import is_device_array


def is_foreign(call: ir.Call) -> bool:
    """Whether what a call returns may be a view that no rule describes, if there is no rule."""
    unplaced = op_of(call.fn).result is Result.UNPLACED
    return unplaced and (not is_op(call, Op.NDARRAY) or bool(buffer_of(call)))


def buffer_of(call: ir.Call) -> tuple[ir.Atom, ...]:
    """The memory that `np.ndarray(shape, dtype, buffer)` is given, if it is given any."""
    return (*call.args[2:3], *(v for k, v in call.kwargs if k == "buffer"))


# --- functions that give an array back that they are given, where they have nothing to do --------


_TIMES: dict[Op | None, tuple[str, int, int]] = {
    Op.DIFF: ("n", 1, 0),
    Op.POLYDER: ("m", 1, 0),
    Op.POLYINT: ("m", 1, 0),
    Op.LINALG_MATRIX_POWER: ("n", 0, 1),
}
"""How often something is done, its default, and the number for which nothing is."""


def gives_back(call: ir.Call, kinds: ir.Kinds | None) -> bool | None:
    """Whether what a call returns is its first argument itself, an array; None: perhaps."""
    if not (isinstance(call.fn, type) and issubclass(call.fn, np.generic)):
        return _times(call) if which_op(call) in _TIMES else False
    dtype = _dtype(call, kinds)
    if not call.args or dtype not in (None, np.dtype(call.fn).name):
        return False
    return True if dtype is not None and len(call.args) == 1 else None


def _kind(atom: ir.Atom | None, kinds: ir.Kinds | None) -> ir.Kind | None:
    """What is known of a variable."""
    return kinds.get(atom.id) if kinds is not None and type(atom) is ir.Name else None


def _dtype(call: ir.Call, kinds: ir.Kinds | None) -> str | None:
    """The dtype of the first argument of a call, if that certainly is an array with axes."""
    kind = _kind(call.args[0] if call.args else None, kinds)
    known = type(kind) is ir.Array and not kind.maybe_scalar and ir.rank_of(kind)
    return kind.dtype if known else None  # type: ignore[union-attr]


def _times(call: ir.Call) -> bool | None:
    """Whether something is certainly done no times, None where that is not known."""
    name, default, nothing = _TIMES[which_op(call)]
    number = dict(call.kwargs).get(name, call.args[1] if len(call.args) > 1 else ir.Const(default))
    return number.value == nothing if type(number) is ir.Const else None


def asks_copy(call: ir.Call) -> bool:
    """Whether a call is told to copy: `x.reshape(n, copy=True)`."""
    return any(k == "copy" and v == ir.Const(True) for k, v in call.kwargs)


def copies(call: ir.Call) -> bool:
    """Whether what may give a view is told to copy, as `np.array` is unless told otherwise."""
    return asks_copy(call) or (is_op(call, Op.ARRAY) and not asks_no_copy(call))


def asks_no_copy(call: ir.Call) -> bool:
    """Whether `np.array` is told that it need not copy."""
    return any(k == "copy" and v != ir.Const(True) for k, v in call.kwargs) or len(call.args) > 2


# --- which items are certainly in memory of their own, and no views of what they are taken from --


def copies_items(call: ir.Call, kinds: ir.Kinds | None) -> bool:
    """Whether `x[i]` certainly makes new memory: there is an array in the index.

    Where it is a number, which shares nothing, the kind of the result says so.
    """
    base, index = call.args[0], call.args[1]
    if not is_array_or_number(base, kinds):
        return False
    items = index.items if type(index) is ir.Tup else (index,)
    return any(_is_array_index(i, kinds) for i in items)


def picks_number(call: ir.Call, kinds: ir.Kinds) -> bool:
    """Whether a call is `x[i, j]` of an array with as many axes as integers."""
    if not is_op(call, Op.GETITEM):
        return False
    base, index = call.args
    items = index.items if type(index) is ir.Tup else (index,)
    kind = _kind(base, kinds)
    rank = None if kind is None else ir.rank_of(kind)
    return rank == len(items) and all(_is_integer(i, kinds) for i in items)


def _is_integer(atom: ir.Atom, kinds: ir.Kinds) -> bool:
    """Whether an index item is certainly one integer."""
    if type(atom) is ir.Const:
        return isinstance(atom.value, int) and not isinstance(atom.value, bool)
    kind = _kind(atom, kinds)
    return type(kind) is ir.Scalar and kind.dtype is not None and "int" in kind.dtype


def _is_array_index(atom: ir.Atom, kinds: ir.Kinds | None) -> bool:
    """Whether an index item is certainly an array, be it without axes, or a list."""
    if type(atom) is ir.Ref:  # of the module
        return isinstance(atom.value, (np.ndarray, list)) or is_device_array(atom.value)
    kind = _kind(atom, kinds)
    return kind is not None and ir.indexes_as_array(kind)


def is_array_or_number(atom: ir.Atom, kinds: ir.Kinds | None) -> bool:
    """Whether an atom is certainly an array or a number, not a container; it may be None."""
    kind = _kind(atom, kinds)
    return kind is not None and isinstance(ir.sure(kind), (ir.Array, ir.Scalar))


# --- calls that make an object out of the values of its attributes -------------------------------


def makes_object(fn: Any) -> bool:
    """Whether a callee makes an object out of the values of its attributes."""
    if isinstance(fn, type):
        return records.plain_fields(fn) is not None
    return op_named(fn) in (Op.INSTANCE, Op.LIKE_OBJECT)


def object_parts(call: ir.Call) -> tuple[tuple[str, ...], tuple[ir.Atom, ...]]:
    """The attributes of an object that a call makes: their names and values."""
    fields = records.plain_fields(call.fn)
    if fields is not None:
        return fields, call.args
    return tuple(str(k) for k, _ in call.kwargs), tuple(v for _, v in call.kwargs)


Shown = Iterable[tuple[ir.Atom, ir.Atom]]
"""The keys and items of a display."""


def displayed(rhs: ir.Rhs | None) -> Shown | None:
    """What is in a display of a tuple, list, dict or object; None of anything else."""
    if type(rhs) is ir.Tup:
        return numbered(rhs.items)
    if is_op(rhs, Op.MAKE_LIST):
        return numbered(rhs.args)
    if is_op(rhs, Op.MAKE_DICT):
        return zip(rhs.args[::2], rhs.args[1::2])
    if type(rhs) is ir.Call and makes_object(rhs.fn):
        names, values = object_parts(rhs)
        return zip(map(ir.Const, names), values)
    return None


def numbered(items: Iterable[ir.Atom], first: int = 0) -> Shown:
    """Items with their places, from the place `first` on."""
    return ((ir.Const(k), item) for k, item in enumerate(items, first))


def makes_whole(call: ir.Call) -> bool:
    """Whether a call makes an object that has nothing but what the call gives it."""
    if not makes_object(call.fn) or is_op(call, Op.LIKE_OBJECT):
        return False
    names, values = object_parts(call)
    cls = call.args[0].value if is_op(call, Op.INSTANCE) else call.fn  # type: ignore[union-attr]
    more = {k for k in records.class_values(cls) if not k.startswith("__")}  # type: ignore[arg-type]
    return len(names) == len(values) and more.issubset(names)


# --- what has an effect --------------------------------------------------------------------------


_LOGGERS = frozenset({"logging.Logger", "logging.RootLogger", "logging.LoggerAdapter"})


def is_pure(callee: ir.Callee) -> bool:
    """Whether nothing but its result comes of a call (see `mutated_args` for `out=`)."""
    if op_of(callee).effect is Effect.NONE or makes_object(callee):
        return True
    return hasattr(type(callee), "for_kinds")  # a derivative copies what its primal writes into


def only_writes(callee: ir.Callee) -> bool:
    """Whether nothing comes of a call but what it writes into its first argument."""
    return op_of(callee).effect is Effect.WRITES


def asks_form(call: ir.Call) -> int | None:
    """Which argument a call asks for its shape and dtype, and for nothing that it holds."""
    return None if call.kwargs and is_op(call, Op.ZEROS_LIKE) else op_of(call.fn).asks


def asked(call: ir.Call | None) -> frozenset[str]:
    """The names of which a call asks the shape and dtype, and looks at nothing that they hold."""
    place = None if call is None else asks_form(call)
    if call is None or place is None or len(call.args) <= place:
        return frozenset()
    others = (*call.args[:place], *call.args[place + 1 :], *(v for _, v in call.kwargs))
    return frozenset(ir.names(call.args[place])).difference(*map(ir.names, others))


def module_of(fn: Any) -> str:
    """The name of the module that a function belongs to, "" if it has none."""
    if isinstance(fn, ModuleType):
        return ""
    name = getattr(fn, "__module__", None)
    if isinstance(name, str):
        return name
    owner = getattr(fn, "__self__", None)
    return "numpy" if isinstance(owner, np.ufunc) else str(type(owner).__module__)


def ufunc_method(fn: Any) -> str:
    """The name of a method of a ufunc, as `outer`; "" of all else."""
    of_ufunc = type(fn) is BuiltinFunctionType and isinstance(fn.__self__, np.ufunc)
    return str(fn.__name__) if of_ufunc else ""


def _chosen(call: ir.Call, which: Which) -> tuple[ir.Atom, ...]:
    """Some of the arguments of a call; all of them for the first where none stands first."""
    named = tuple(v for _, v in call.kwargs)
    if which is Which.FIRST:
        return call.args[:1] or named
    return () if which is Which.NO else call.args if which is Which.PLACED else (*call.args, *named)


# --- writing -----------------------------------------------------------------------------------


def mutated_args(call: ir.Call, kinds: ir.Kinds | None = None) -> tuple[ir.Atom, ...]:
    """The arguments whose memory a call may write into; `kinds` leaves out what has none."""
    found = call._mutated
    if found is None:
        plain = not call.kwargs and type(call.fn) is BuiltinFunctionType and call.fn in _ARITHMETIC
        every = () if plain else (*_mutated_positional(call), *outs(call))
        found = remember(call, "_mutated", tuple(dict.fromkeys(every)))
    if found and (_reads_sparse(call, kinds) or _tells(call, kinds)):
        found = outs(call)
    return tuple([a for a in found if _has_memory(a, kinds)]) if found else ()


def written_into(stmt: ir.Stmt, kinds: ir.Kinds | None = None) -> tuple[str, ...]:
    """The names into whose memory a statement itself may write; `kinds` as above."""
    if type(stmt) is not ir.Assign and type(stmt) is not ir.Effect:
        return (stmt.base.id,) if isinstance(stmt, ir.Store) else ()
    written = mutated_args(stmt.rhs, kinds) if type(stmt.rhs) is ir.Call else ()
    return tuple([n for a in written for n in ir.occurrences(a)]) if written else ()


def only_computes(rhs: ir.Rhs) -> bool:
    """Whether leaving out the evaluation of a right-hand side changes nothing else."""
    if type(rhs) is ir.Call:
        return is_pure(rhs.fn) and not mutated_args(rhs)
    return not isinstance(rhs, ir.Opaque) or rhs.is_pure


def _reads_sparse(call: ir.Call, kinds: ir.Kinds | None) -> bool:
    """Whether a call is of a method of a sparse matrix that writes into nothing."""
    sparse = type(call.fn) is ir.Method and type(_kind(call.args[0], kinds)) is ir.Sparse
    return sparse and call.fn.name not in SPARSE_MUTATORS  # type: ignore[union-attr]


def _tells(call: ir.Call, kinds: ir.Kinds | None) -> bool:
    """Whether a call is of a method of a logger that writes into nothing that it is given."""
    if type(call.fn) is not ir.Method or call.fn.name not in TELLING_METHODS:
        return False
    receiver = call.args[0]
    if type(receiver) is ir.Ref:
        cls = type(receiver.value)
        return f"{cls.__module__}.{cls.__qualname__}" in _LOGGERS
    kind = _kind(receiver, kinds)
    return isinstance(kind, ir.Object) and kind.type in _LOGGERS


def _mutated_positional(call: ir.Call) -> tuple[ir.Atom, ...]:
    """The positional arguments that a call may write into."""
    fn = call.fn
    if type(fn) is ir.Derived or makes_object(fn):
        return ()
    if isinstance(fn, np.ufunc):
        return call.args[fn.nin :]
    return _chosen(call, Which.EVERY if overwrites(call) else op_of(fn).writes)


def _has_memory(atom: ir.Atom, kinds: ir.Kinds | None) -> bool:
    """Whether an atom may be something that can be written into."""
    if isinstance(atom, (ir.Const, ir.Slice)):
        return False
    kind = _kind(atom, kinds)
    return kind is None or ir.is_mutable(kind)


# --- sharing -----------------------------------------------------------------------------------


def returns_view(call: ir.Call, kinds: ir.Kinds | None = None) -> tuple[ir.Atom, ...]:
    """The arguments whose memory the result of a call may share, or that it may hold or be."""
    if computes(call, kinds):
        return ()
    viewed = _viewed(call, kinds)
    if viewed and type(call.fn) is not ir.Method and op_of(call.fn).gives_array:
        # An array of what a list holds is a copy.
        viewed = tuple([a for a in viewed if not _is_sequence(a, kinds)])
    return tuple([a for a in viewed if _has_memory(a, kinds)]) if viewed else ()


def computes(call: ir.Call, kinds: ir.Kinds | None) -> bool:
    """Whether a call is an operator or a ufunc on numbers and arrays alone: its result is new.

    It says so of most calls, at once.
    """
    fn = call.fn
    if kinds is None or call.kwargs:
        return False
    if type(fn) is np.ufunc:
        if len(call.args) > fn.nin:
            return False
    elif type(fn) is not BuiltinFunctionType or fn not in _ARITHMETIC:
        return False
    for atom in call.args:
        if type(atom) is ir.Name:
            kind = kinds.get(atom.id)
            if type(kind) is not ir.Array and type(kind) is not ir.Scalar:
                return False
        elif type(atom) is not ir.Const:
            return False
    return True


_ARITHMETIC = frozenset((*ir.OPERATORS.values(), operator.neg))


def _is_sequence(atom: ir.Atom, kinds: ir.Kinds | None) -> bool:
    """Whether an argument is certainly a list or tuple."""
    kind = type(kinds.get(atom.id)) if kinds is not None and type(atom) is ir.Name else None
    return kind is ir.List or kind is ir.Tuple or type(atom) is ir.Tup


def _viewed(call: ir.Call, kinds: ir.Kinds | None) -> tuple[ir.Atom, ...]:
    """What the result may share memory with."""
    if into := outs(call):
        return into
    op = which_op(call)
    if op is Op.NP_ROUND and (_dtype(call, kinds) or "").startswith(("int", "uint")):
        return call.args[:1]  # of whole numbers NumPy may give back the array itself
    if type(call.fn) is ir.Method:
        return _viewed_by_method(call, call.fn.name, kinds)
    if op is Op.GETITEM:
        return () if copies_items(call, kinds) else call.args[:1]
    if op is Op.ADD or op is Op.MUL:  # a longer list of the same items
        return tuple([a for a in call.args if _is_sequence(a, kinds)])
    if gives_back(call, kinds) is not False:
        return () if _is_sequence(call.args[0], kinds) else call.args[:1]
    found = call._viewed
    return remember(call, "_viewed", _viewed_by_callee(call)) if found is None else found


def _viewed_by_callee(call: ir.Call) -> tuple[ir.Atom, ...]:
    """What the result may share memory with, by the callee alone."""
    fn, args = call.fn, call.args
    if type(fn) is ir.Attr:
        return () if op_of(fn).is_asked else args[:1]
    if type(fn) is ir.Derived:
        if fn.part == "at run time":
            return ()  # `call_vjp` gives memory of its own
        # A marked call says which of its arguments it may return.
        if fn.part != "primal":
            return args
        return tuple(a for (p, _), a in zip(fn.key.kinds, args) if p in fn.key.returned)
    if isinstance(fn, np.ufunc):
        return args[fn.nin :]
    if is_op(call, Op.EINSUM) and len(args) > 2 and type(args[0]) is ir.Const:
        return ()  # of one operand it may be a view
    if makes_object(fn):
        return object_parts(call)[1]
    if is_op(call, Op.NDARRAY):
        return buffer_of(call)
    if is_op(call, Op.VIEW_LIKE):
        return (args[0], args[3])
    if is_op(call, Op.SUM) and len(args) == 1 and not call.kwargs:
        return ()  # 0 + the first item is new memory
    if overwrites(call):
        return _chosen(call, Which.EVERY)
    made = op_of(fn)
    alone = made.gives_array and made.shares is Which.FIRST
    return () if alone and copies(call) else _chosen(call, made.shares)


def _viewed_by_method(call: ir.Call, name: str, kinds: ir.Kinds | None) -> tuple[ir.Atom, ...]:
    """What the result of a method call may share memory with."""
    if name == "astype":
        return call.args[:1] if asks_no_copy(call) else ()
    if _is_generator(call.args[0], kinds):
        return ()
    if type(_kind(call.args[0], kinds)) is ir.Sparse:
        return call.args[:1] if shares_entries(name) else ()
    made = op_of(call.fn)
    item = made.result is Result.PART and made.shares is Which.FIRST  # of a container
    alone = copies(call) or (item and is_array_or_number(call.args[0], kinds))
    return () if alone else _chosen(call, made.shares)


def makes_new(fn: ir.Callee) -> bool:
    """Whether what a callee returns, where it is no view, is memory that can be written into.

    Our own helpers may give what `np.broadcast_to` makes of a number.
    """
    made = op_of(fn)
    return not made.gives_array or not made.name.startswith("srcdiff.runtime.arrays.")


def _is_generator(atom: ir.Atom, kinds: ir.Kinds | None) -> bool:
    """Whether an atom is a generator of random numbers, which returns new arrays."""
    kind = _kind(atom, kinds)
    return isinstance(kind, ir.Object) and kind.type.startswith("numpy.random.")


def shares_entries(method: str) -> bool:
    """Whether what a method of a sparse matrix returns may have the memory of its entries."""
    dense = method in ("toarray", "todense")
    return method in ("transpose", "conj", "conjugate") or (method[:2] == "to" and not dense)


# --- calls that are made for their effect alone: they write into an operand, and return None -----


def returns_nothing(rhs: ir.Rhs, kinds: ir.Kinds) -> bool:
    """Whether a right-hand side is a call that returns None."""
    if type(rhs) is not ir.Call or not rhs.args or not op_of(rhs.fn).returns_none:
        return False
    if type(rhs.fn) is not ir.Method:
        return True
    kind = _kind(rhs.args[0], kinds)
    return kind is not None and (type(kind) is ir.Array or ir.is_container(kind))
