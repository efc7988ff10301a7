"""The kind of a call's result: containers and helpers here, shapes beside, all others probed.

Takes a callee and the kinds of its arguments, or a call or an atom where the kinds of the names are
given.  An argument that is given by its name is looked at in its place: `np.ravel(a=x)`.

Where arrays are on a device, and a function of NumPy returns a number, one of CuPy returns an array
without axes: it can be written into, and `x[0]` is a view of `x`.  What is computed from numbers of
the host alone stays there, and is computed by NumPy.
"""

from __future__ import annotations

import logging
import operator
from collections.abc import Callable as Function
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache, partial
from types import BuiltinFunctionType, ModuleType
from typing import Any

import numpy as np

from srcdiff import ir
from srcdiff.ir.frozen import replace
from srcdiff.kinds import containers, matrices, methods
from srcdiff.kinds.elementwise import elementwise_kind, out_kind
from srcdiff.kinds.indexing import item_kind, least_dim, size_dim, size_scalar
from srcdiff.kinds.lattice import (
    Args,
    Keywords,
    Kwargs,
    Rule,
    always,
    binary,
    classes_of,
    join_all,
    kind_of,
    like,
)
from srcdiff.kinds.lengths import grid_kind, with_lengths, without_dims
from srcdiff.kinds.probing import probe
from srcdiff.primitives.arguments import parameters
from srcdiff.primitives.effects import module_of
from srcdiff.primitives.operation import Meaning, op_of
from srcdiff.primitives.ops import Op, op_named
from srcdiff.runtime import arrays, indexing, records, sequences, trees
from srcdiff.runtime.devices import OnHost

# --- the kinds of results where arrays are on a device -------------------------------------------


_STAY = (
    Op.MAKE_LIST, Op.MAKE_DICT, Op.MAKE_FUNCTION, Op.CAPTURED, Op.IS_FUNCTION, Op.CAN_CAST,
    Op.ISCOMPLEXOBJ, Op.ISREALOBJ, Op.ISSCALAR, Op.ISSUBDTYPE, Op.MAY_SHARE_MEMORY,
    Op.SHARES_MEMORY,
)  # fmt: skip
"""What makes no number, or one of the host."""
_CLASSES = (Op.ISINSTANCE, Op.HASATTR, Op.ISSCALAR)
"""What asks for the class of a value: arrays of the device are of another one."""
_TRANSFERS = (
    Op.BOOL, Op.COMPLEX, Op.CONTAINS, Op.FLOAT, Op.GET, Op.INT, Op.ITEM, Op.NOT, Op.ROUND,
    Op.TOLIST, Op.TRUTH,
)  # fmt: skip
_ON_HOST = ("dtype", "ellipsis", "numpy.random.Generator", "numpy.random.RandomState")


def may_be_device(kind: ir.Kind) -> bool:
    """Whether a value may be an array, or hold one."""
    if isinstance(kind, ir.Object):
        return kind.type not in _ON_HOST
    if isinstance(kind, (ir.Tuple, ir.List, ir.Dict, ir.Maybe)):
        held = ir.items_of(kind) if type(kind) is ir.Tuple else ir.inside(kind)
        return any(map(may_be_device, held))
    return isinstance(kind, (ir.Array, ir.Unknown))


def placed(kind: ir.Kind, fn: Any, args: Args) -> ir.Kind:
    """The kind of a call's result, numbers that are computed on the device as arrays."""
    op = op_named(fn)
    if op in _CLASSES and may_be_device(args[0]):
        return ir.Scalar("bool")
    if isinstance(fn, (ir.Derived, ir.Name)) or op in _STAY or records.is_record(fn):
        return kind
    if op is Op.SUM and type(kind) is ir.Scalar and any(map(may_be_device, args)):
        return ir.Array(kind.dtype, (), maybe_scalar=True)
    if not isinstance(fn, (ir.Method, ir.Attr)) and is_of_numpy(fn):
        return as_arrays(kind, True) if any(map(may_be_device, args)) else kind
    return as_arrays(kind) if any(isinstance(a, (ir.Array, ir.Unknown)) for a in args) else kind


def as_arrays(kind: ir.Kind, flags: bool = False) -> ir.Kind:
    """A kind with NumPy's numbers in it as arrays without axes; `flags`: bools of Python too."""
    if type(kind) is ir.Scalar:
        number = kind.python is not True or (flags and kind.dtype == "bool")
        # One of Python, where it may be either, is not computed there.
        return ir.Array(kind.dtype, (), kind.python is None) if number else kind
    held = isinstance(kind, (ir.Tuple, ir.List))
    return ir.mapped(partial(as_arrays, flags=flags), kind) if held else kind


def is_transfer(fn: Any, args: Args) -> bool:
    """Whether a call asks the device for a value, where arrays live on one."""
    return op_named(fn) in _TRANSFERS and any(map(may_be_device, args))


def is_of_numpy(fn: Any) -> bool:
    """Whether a function belongs to NumPy or SciPy, or is a helper that is written in them."""
    if isinstance(fn, type):
        return False
    return module_of(fn).partition(".")[0] in ("numpy", "scipy", "srcdiff")


def is_host_call(fn: Any, args: Args, result: ir.Kind) -> bool:
    """Whether a call of NumPy computes numbers of the host from such."""
    if isinstance(fn, (ir.Method, ir.Attr, ir.Derived, ir.Name)) or not is_of_numpy(fn):
        return False
    return not any(map(may_be_device, args)) and not may_be_device(result)


_ANY_INT = (Op.ALLCLOSE, Op.LINALG_MATRIX_POWER, Op.PAD, Op.POLYVAL, Op.ROLL)
"""The value of an integer operand has no part in the rank of the result."""
_LOOK_INTO = (Op.ENUMERATE, Op.GETITEM, Op.LEN, Op.RANGE, Op.REVERSED, Op.SETITEM)
"""What fails if its first operand is None."""
_WORK_ON_NONE = (
    Op.CLIP, Op.EQ, Op.EQUAL, Op.LOGICAL_AND, Op.LOGICAL_NOT, Op.LOGICAL_OR, Op.LOGICAL_XOR, Op.NE,
    Op.NOT_EQUAL, Op.NP_ROUND, Op.WHERE,
)  # fmt: skip
"""What accepts None."""

# Methods of arrays that are functions with the same operands.
_TWINS: dict[str, Any] = {
    "choose": np.choose, "flatten": np.ravel, "nonzero": np.nonzero, "ravel": np.ravel,
    "repeat": np.repeat,
}  # fmt: skip


def call_kind(fn: ir.Callee, args: Args, kwargs: Kwargs, device: bool) -> ir.Kind:
    """The kind of `fn(*args, **kwargs)`; lengths that nothing is known of are None.

    `device`: arrays live on a device.
    """
    if type(fn) is OnHost:
        return call_kind(fn.function, args, kwargs, False)
    if not kwargs and _NUMERIC.issuperset(map(type, args)) and _is_of_library(fn):
        return _of_numeric(fn, args, device)
    return _of_any(fn, args, kwargs, device)


def _of_any(fn: ir.Callee, args: Args, kwargs: Kwargs, device: bool) -> ir.Kind:
    """The same for all operands."""
    kind = out_kind(fn, args, kwargs) or _call_kind(fn, args, kwargs)
    return placed(kind, fn, args) if device else kind


def _is_of_library(fn: ir.Callee) -> bool:
    """Whether a callee is an operator, a function of a compiled module or a known ufunc."""
    if type(fn) is BuiltinFunctionType:
        return type(fn.__self__) is ModuleType
    return type(fn) is np.ufunc and "." in op_of(fn).name


_NUMERIC = frozenset((ir.Scalar, ir.Array))


@lru_cache(maxsize=8192)
def _of_numeric(fn: Any, args: Args, device: bool) -> ir.Kind:
    """The kind of a call on numbers and arrays, on the device or not, as it is asked for often."""
    return _of_any(fn, args, (), device)


def _call_kind(fn: ir.Callee, args: Args, kwargs: Kwargs) -> ir.Kind:
    """The kind of a call's result where it is computed by NumPy."""
    if ir.Sparse in map(type, args):
        return matrices.sparse_kind(fn, args, kwargs)
    if type(fn) is ir.Attr:
        return methods.attribute_kind(args[0], fn.name)
    if type(fn) is ir.Method:
        twin = _TWINS.get(fn.name) if ir.is_numeric(args[0]) else None
        if twin is not None:
            return _call_kind(twin, args, kwargs)
        return methods.method_kind(args, fn.name, kwargs)
    if type(fn) is ir.Derived:
        return getattr(fn.key, "result", ir.UNKNOWN)
    if type(fn) is ir.Subroutine:
        return _of_loops(fn.function) if fn.kinds is None else fn.result
    if type(fn) is ir.Kernel:
        made: ir.Kind = fn.result
        return made
    if type(fn) is ir.Name:
        return ir.UNKNOWN
    known = _by_rule(_SPECIAL, fn, args, kwargs)
    if known is None and str(getattr(fn, "__module__", "")).startswith(_FURTHER):
        known = _further_kind(fn, args, kwargs)
    if known is not None:
        return known
    if op_of(fn).is_elementwise:
        return elementwise_kind(fn, args, kwargs)
    fields = records.plain_fields(fn) if isinstance(fn, type) else None
    if fields is not None and len(fields) == len(args):
        return ir.Dict(tuple(zip(fields, args)), None, "", fn)  # type: ignore[arg-type]
    return probed_kind(fn, args, kwargs)


def _of_loops(function: ir.Function) -> ir.Kind:
    """The kind of what a function of loops returns: sums, which are floats of NumPy, or nothing."""
    last = function.body[-1]
    found = last.value if type(last) is ir.Return else ir.NONE
    if found == ir.NONE:
        return ir.NoneKind()
    number = ir.Scalar("float64", False)
    return ir.Tuple((number,) * len(found.items)) if type(found) is ir.Tup else number


def _by_rule(rules: Mapping[Any, Rule], fn: Any, args: Args, kwargs: Kwargs) -> ir.Kind | None:
    """What the rule for a callee says, if there is one, for the first argument by its position."""
    hashable = getattr(type(fn), "__hash__", None) is not None
    rule, named = rules.get(fn) if hashable else None, dict(kwargs)
    if rule is not None and named and not args:
        first = parameters(fn)[:1]
        args = tuple(named.pop(name) for name in first if name in named)
    return None if rule is None else rule(args, named)


_FURTHER = ("scipy.", "srcdiff.runtime.")


def _further_kind(fn: Any, args: Args, kwargs: Kwargs) -> ir.Kind | None:
    """The kind of what a function of SciPy or a helper that few programs call returns."""
    from srcdiff.kinds.higher_order import FUNCTIONS, scipy_kind

    found = _by_rule(FUNCTIONS, fn, args, kwargs)
    return scipy_kind(fn, args, kwargs) if found is None else found


def surely(fn: ir.Callee, args: Sequence[ir.Kind]) -> Sequence[ir.Kind]:
    """The kinds of the operands, without None where the call would fail on it."""
    if ir.Maybe not in map(type, args):
        return args
    count = _not_none(fn)
    # Of None in place of an array NumPy makes objects, with which nothing can be computed.
    named = isinstance(fn, (ir.Name, ir.Derived, ir.Attr, ir.Method))
    numpy = not named and module_of(fn).startswith("numpy")
    numeric = numpy and op_named(fn) not in _WORK_ON_NONE
    return [
        ir.sure(a) if k < count or (numeric and type(ir.sure(a)) is ir.Array) else a
        for k, a in enumerate(args)
    ]


def fails(fn: ir.Callee, args: Sequence[ir.Kind]) -> bool:
    """Whether a call certainly fails, because an operand is None."""
    return ir.NoneKind in map(type, args) and ir.NoneKind in map(type, args[: _not_none(fn)])


def _not_none(fn: ir.Callee) -> int:
    """How many operands of a call cannot be None, as it would fail."""
    op, called = op_named(fn), op_of(fn)
    if isinstance(fn, (ir.Attr, ir.Method)) or op in _LOOK_INTO:
        return 1
    computes = called.means(Meaning.PRODUCT) or called.is_elementwise
    return getattr(fn, "nin", 2) if computes and op not in _WORK_ON_NONE else 0


# --- probing -----------------------------------------------------------------------------------


def probed_kind(fn: Any, args: Args, kwargs: Kwargs) -> ir.Kind:
    """The kind of a function that may be called to see what it returns."""
    if hasattr(type(fn), "for_kinds"):
        return fn.result_kind(args, dict(kwargs))  # type: ignore[no-any-return]
    if not op_of(fn).probed:
        return ir.UNKNOWN
    keywords = dict(kwargs)
    op = op_named(fn)
    any_int = op in _ANY_INT or (op in (Op.ARRAY, Op.ASARRAY) and "ndmin" not in keywords)
    named = tuple((k, _anonymous(v)) for k, v in kwargs)
    result = probe(fn, tuple(map(_anonymous, args)), named, any_int)
    if result is None:
        return ir.UNKNOWN
    if op_of(fn).turns_complex:
        return _without_dtype(result)
    return with_lengths(fn, args, keywords, result)


def _anonymous(kind: ir.Kind) -> ir.Kind:
    """A kind without what a probe does not look at, so that more probes are the same."""
    if type(kind) is ir.Scalar and kind.size_of is not None:
        return ir.Scalar(kind.dtype, kind.python, kind.value)
    return ir.mapped(_anonymous, kind, new=True) if isinstance(kind, (ir.Tuple, ir.List)) else kind


def _without_dtype(kind: ir.Kind) -> ir.Kind:
    """A kind with its dtype forgotten, unless it is complex in any case."""
    if type(kind) is ir.Array and not str(kind.dtype).startswith("complex"):
        return ir.Array(None, kind.dims, kind.maybe_scalar)
    return ir.mapped(_without_dtype, kind)


# --- functions with a kind of their own --------------------------------------------------------


def _item(base: ir.Kind, index: ir.Kind) -> ir.Kind:
    return grid_kind(base, index) or item_kind(base, index)


def _len(kind: ir.Kind) -> ir.Kind:
    """The result of `len`."""
    dims = ir.dims_of(kind)
    if dims:
        return size_scalar(dims[0])
    if (items := ir.known_items(kind)) is not None:
        return size_scalar(len(items))
    return size_scalar(kind.length if type(kind) is ir.Range else None)


def _slice(args: Args, kwargs: Keywords) -> ir.Kind | None:
    """A slice of which only is known whether it has a step."""
    return ir.SliceKind(ir.UNKNOWN, ir.UNKNOWN, args[2] if len(args) == 3 else ir.NoneKind())


def _range(args: Args, kwargs: Keywords) -> ir.Kind:
    """`range(stop)` and `range(first, stop)`."""
    if len(args) == 1:
        stop = size_dim(args[0])
        return ir.Range(stop, 0, stop)
    first = getattr(args[0], "value", None) if len(args) == 2 else None
    return ir.Range(None, first, size_dim(args[1])) if first is not None else ir.Range()


def _make_dict(args: Args, kwargs: Keywords) -> ir.Kind | None:
    known: dict[Any, ir.Kind] = {}
    others: list[ir.Kind] = []
    for key, value in zip(args[::2], args[1::2]):
        if isinstance(key, (ir.Text, ir.Scalar)) and key.value is not None:
            known[key.value] = value
        else:
            others.append(value)
    return ir.Dict(tuple(known.items()), join_all(others))


def _extreme(args: Args, kwargs: Keywords) -> ir.Kind | None:
    """`max`: one of the operands."""
    if kwargs:
        return ir.UNKNOWN
    if len(args) > 1:
        found = join_all(args)
    elif isinstance(args[0], (ir.Tuple, ir.List)):
        found = join_all(ir.inside(args[0])) or ir.UNKNOWN
    else:
        found = item_kind(args[0], ir.Scalar("int64"))
    return _forgotten(found) if type(found) is ir.Scalar else found or ir.UNKNOWN


def _least(args: Args, kwargs: Keywords) -> ir.Kind | None:
    """`min`: one of the operands; of lengths one that is at most each of them."""
    shortest = None if kwargs else least_dim(args)
    return _extreme(args, kwargs) if shortest is None else size_scalar(shortest)


def _forgotten(kind: ir.Scalar) -> ir.Scalar:
    """A number of which only the type is known."""
    return ir.Scalar(kind.dtype, kind.python)


def _shaped_like(d: ir.Kind, x: ir.Kind) -> ir.Kind:
    """The shape of `x` with the dtype of `d`."""
    dtype = ir.dtype_of(d)
    if type(x) is ir.Scalar:
        return d if type(d) is ir.Scalar else ir.Scalar(dtype, None)
    if type(x) is ir.Tuple and x.items and all(type(k) is ir.Scalar for k in x.items):
        return ir.Array(dtype, (len(x.items),))  # numbers in place of an array
    return ir.Array(dtype, x.dims, x.maybe_scalar) if type(x) is ir.Array else ir.UNKNOWN


def _spread(args: Args, kwargs: Keywords) -> ir.Kind | None:
    d, x = args[:2]
    return ir.Array(ir.dtype_of(d), ir.dims_of(x), ir.dims_of(x) is None)


def _zeros(kind: ir.Kind) -> ir.Kind:
    """Zeros have the kind of what they are like, in arrays as floating numbers."""
    if type(kind) is ir.Scalar:
        return _forgotten(kind)
    if type(kind) is ir.Array:
        return float_like(kind, False)
    held = isinstance(kind, (ir.Tuple, ir.List, ir.Dict, ir.Maybe)) and ir.class_of(kind) is None
    return ir.mapped(_zeros, kind, new=True) if held else ir.UNKNOWN


def _make_function(args: Args, kwargs: Keywords) -> ir.Kind | None:
    """A function that the program makes, with the kinds of what it captures."""
    site = getattr(args[0], "value", None)
    return ir.Callable(((site, tuple(map(_plain, args[1:]))),)) if site is not None else ir.UNKNOWN


def _plain(kind: ir.Kind) -> ir.Kind:
    """The kind of what is captured, without the names of its lengths."""
    if type(kind) is ir.Array:
        return without_dims(kind)
    if type(kind) is ir.Scalar:
        return _forgotten(kind)
    if type(kind) is ir.Tuple and kind.items is not None:
        return ir.mapped(_plain, kind)
    return kind if isinstance(kind, (ir.Text, ir.NoneKind, ir.Callable)) else ir.UNKNOWN


def _captured(args: Args, kwargs: Keywords) -> ir.Kind | None:
    """What a function of a site captures."""
    fn, site, k = args
    if isinstance(fn, ir.Callable) and isinstance(site, ir.Callable) and type(k) is ir.Scalar:
        for value, kinds in fn.choices:
            if value is site.value and k.value is not None and k.value < len(kinds):
                found: ir.Kind = kinds[k.value]
                return found
    return ir.UNKNOWN


def _open_mesh(args: Args, kwargs: Keywords) -> ir.Kind | None:
    """`np.ix_(i, j)`: an array of places for every axis."""
    axes = range(len(args))
    return ir.Tuple(
        tuple(ir.Array("int64", tuple(None if i == k else 1 for i in axes)) for k in axes)
    )


def _limits(kind: ir.Kind) -> ir.Kind:
    """`np.finfo(x.dtype)`, of which the kind knows all that it says."""
    dtype: Any = ir.dtype_of(kind)
    if isinstance(kind, (ir.Callable, ir.Text, ir.Object)):
        dtype = kind.value
    floats = dtype in (float, np.float32, np.float64, "float32", "float64")
    return ir.Object("numpy.finfo", np.finfo(dtype)) if floats else ir.UNKNOWN


# --- questions that kinds answer -----------------------------------------------------------------


def _answer(found: Iterable[bool | None] = ()) -> ir.Scalar:
    """A bool, known where the answer is the same for all classes that a value may be of."""
    answers = set(found)
    known = len(answers) == 1 and None not in answers
    return ir.Scalar("bool", value=int(bool(answers.pop())) if known else None)


def _isinstance(args: Args, kwargs: Keywords) -> ir.Kind | None:
    """`isinstance(x, np.ndarray)`, `isinstance(x, (int, float))`."""
    if len(args) != 2:
        return _answer()
    kinds = ir.known_items(args[1]) or (args[1],)
    wanted = tuple(k.value for k in kinds if isinstance(k, ir.Callable) and _is_plain(k.value))
    if len(wanted) < len(kinds):
        return _answer()
    exact = type(args[0]) is ir.Scalar
    return _answer(_is_one_of(cls, wanted, exact) for cls in classes_of(args[0]))


def _is_plain(cls: Any) -> bool:
    """Whether a class does not say itself what its objects are."""
    return type(cls) is type or getattr(cls, "__module__", "") in ("numbers", "collections.abc")


def _is_one_of(cls: type, wanted: tuple[Any, ...], exact: bool) -> bool | None:
    """Whether values of a class, or if not `exact` of a derived one, are of one of others."""
    if issubclass(cls, wanted):
        return True
    return None if not exact and any(issubclass(w, cls) for w in wanted) else False


def _hasattr(args: Args, kwargs: Keywords) -> ir.Kind | None:
    """`hasattr(x, "shape")` of numbers and arrays."""
    name = args[1].value if len(args) == 2 and type(args[1]) is ir.Text else None
    if name is None or not ir.is_numeric(args[0]):
        return _answer()
    return _answer(hasattr(cls, name) for cls in classes_of(args[0]))


def _isscalar(kind: ir.Kind) -> ir.Kind:
    """`np.isscalar(x)`."""
    numbers = (int, float, complex, np.generic, str)
    return _answer(issubclass(cls, numbers) for cls in classes_of(kind))


def _compared(compare: Function[[Any, Any], bool]) -> Rule:
    """The rule for a comparison of whole numbers, or strings, that are known (`x.ndim == 1`)."""

    def rule(args: Args, kwargs: Keywords) -> ir.Kind | None:
        known = [k.value for k in args if isinstance(k, (ir.Scalar, ir.Text))]
        if len(known) < 2 or None in known or type(args[0]) is not type(args[1]):
            return None
        return _answer([bool(compare(*known))])

    return rule


def _truth(wanted: bool) -> Rule:
    """The rule for a flag, or for its opposite."""

    def rule(args: Args, kwargs: Keywords) -> ir.Kind | None:
        known = [k.value for k in args if type(k) is ir.Scalar and k.value is not None]
        return _answer(bool(value) == wanted for value in known)

    return rule


def _is_none(wanted: bool) -> Rule:
    """The rule for `x is None`, or for its opposite."""

    def rule(args: Args, kwargs: Keywords) -> ir.Kind | None:
        none = ir.is_none(args[0]) if type(args[1]) is ir.NoneKind else None
        return _answer([] if none is None else [none == wanted])

    return rule


_SPECIAL: dict[Any, Rule] = {
    isinstance: _isinstance,
    hasattr: _hasattr,
    np.isscalar: like(0, _isscalar),
    np.finfo: like(0, _limits),
    operator.is_: _is_none(True),
    operator.is_not: _is_none(False),
    operator.truth: _truth(True),
    operator.not_: _truth(False),
    **{
        fn: _compared(fn)
        for fn in (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)
    },
    ir.make_function: _make_function,
    ir.captured: _captured,
    operator.getitem: binary(_item),
    len: like(0, _len),
    range: _range,
    slice: _slice,
    ir.make_list: lambda args, kwargs: ir.List(None, args),
    ir.make_dict: _make_dict,
    min: _least,
    max: _extreme,
    print: always(ir.NoneKind()),
    np.ix_: _open_mesh,
    logging.getLogger: always(ir.Object("logging.Logger")),
    np.random.default_rng: always(ir.Object("numpy.random.Generator")),
    np.random.RandomState: always(ir.Object("numpy.random.RandomState")),
    **dict.fromkeys((str, repr, format), always(ir.Text())),
    **dict.fromkeys(
        (callable, issubclass, operator.contains, ir.is_function),
        always(ir.Scalar("bool")),
    ),
    arrays.unbroadcast: lambda args, kwargs: _shaped_like(*args),
    arrays.scatter: lambda args, kwargs: _shaped_like(args[0], args[2]),
    indexing.unsplit: lambda args, kwargs: _shaped_like(
        join_all(ir.inside(args[0])) or ir.UNKNOWN, args[2]
    ),
    arrays.spread: _spread,
    trees.zeros_like: like(0, _zeros),
    arrays.axis_size: always(ir.Scalar("float64")),
    sequences.as_array: always(ir.Array(None, None, True)),
    **dict.fromkeys(
        (sequences.first_greatest, sequences.first_least, sequences.same_length),
        always(ir.Scalar("int64")),
    ),
    np.linalg.eigh: lambda args, kwargs: (  # whichever triangle is read
        probed_kind(np.linalg.eigh, args[:1], ()) if len(args) > 1 or kwargs else None
    ),
    **methods.FUNCTIONS,
    **matrices.FUNCTIONS,
    **containers.FUNCTIONS,
}  # fmt: skip


# --- atoms and calls, where the kinds of the names are given -------------------------------------


def kind_of_call(call: ir.Call, kinds: Mapping[str, ir.Kind], device: bool) -> ir.Kind:
    """The kind of a call's result where the names have these kinds."""
    args = [atom_kind(a, kinds) for a in call.args]
    kwargs = tuple((k, atom_kind(v, kinds)) for k, v in call.kwargs if k is not None)
    if len(kwargs) < len(call.kwargs) or any(type(a) is ir.Star for a in call.args):
        return ir.UNKNOWN
    return call_kind(call.fn, tuple(surely(call.fn, args)), kwargs, device)


def rhs_kind(rhs: ir.Rhs, kinds: Mapping[str, ir.Kind], device: bool) -> ir.Kind:
    """The kind of what a right-hand side makes."""
    if isinstance(rhs, ir.Opaque):
        return ir.UNKNOWN
    return kind_of_call(rhs, kinds, device) if type(rhs) is ir.Call else atom_kind(rhs, kinds)


def atom_kind(atom: ir.Atom, kinds: Mapping[str, ir.Kind]) -> ir.Kind:
    """The kind of an atom; names that are not given are unknown."""
    if type(atom) is ir.Name:
        return kinds.get(atom.id, ir.UNKNOWN)
    if type(atom) is ir.Const:
        return constant_kind(atom.value)
    if type(atom) is ir.Ref:
        return kind_of(atom.value, atom.text)
    if type(atom) is ir.Tup:
        if ir.Star in map(type, atom.items):
            return ir.Tuple(None)
        return ir.Tuple(tuple([atom_kind(i, kinds) for i in atom.items]))
    if type(atom) is ir.Slice:
        return ir.SliceKind(*[atom_kind(p, kinds) for p in (atom.lower, atom.upper, atom.step)])
    return ir.UNKNOWN


@lru_cache(maxsize=1024, typed=True)
def constant_kind(value: Any) -> ir.Kind:
    """The kind of a literal."""
    if isinstance(value, (bool, int)):
        return ir.Scalar("bool" if isinstance(value, bool) else "int64", True, value)
    if isinstance(value, str):
        return ir.Text(value)
    return ir.Object("ellipsis") if value is ... else kind_of(value, "")


def float_like(kind: ir.Kind, device: bool) -> ir.Kind:
    """The kind of the adjoint of a value: its shape, with a floating dtype."""
    if type(kind) is ir.Scalar and device:
        return ir.Array(_float_dtype(kind.dtype), (), maybe_scalar=True)
    if type(kind) is ir.Scalar:
        return ir.Scalar(_float_dtype(kind.dtype), None)
    if type(kind) is ir.Array:
        return replace(kind, dtype=_float_dtype(kind.dtype))
    return ir.maybe(float_like(kind.kind, device)) if isinstance(kind, ir.Maybe) else ir.UNKNOWN


def _float_dtype(dtype: str | None) -> str | None:
    return dtype if dtype is None or ir.is_inexact_dtype(dtype) else "float64"
