"""The operations that passes know by name, and the question whether a call is one of them.

An `Op` is what a call does, however it is spelled: its value lists the callees that do it,
functions by their modules and names, methods as `.name()`, attributes as `.name`.  What a callee
does to memory and to the world, and what its axes mean, is asked of `op_of`; an `Op` is for what a
pass does with one operation alone (the items of a display, the bounds of `range`, the factors of a
product).
A callee that no `Op` lists has none.  A method that is looked up behind a class (`super()`), or in
an object of which nobody knows what its methods do, is no operation, whatever it is called.
"""

from __future__ import annotations

import sys
from types import BuiltinFunctionType, FunctionType
from typing import Any, TypeGuard

import numpy as np

from srcdiff import ir
from srcdiff.ir.frozen import Choice, remember


class Op(Choice):
    """An operation, by the callees that do it."""

    # operators
    ABS = "abs operator.abs"
    ADD = "operator.add"
    AND = "operator.and_"
    CONTAINS = "operator.contains"
    DELITEM = "operator.delitem"
    DIV = "operator.truediv"
    EQ = "operator.eq"
    FLOORDIV = "operator.floordiv"
    GE = "operator.ge"
    GETITEM = "operator.getitem"
    GT = "operator.gt"
    INVERT = "operator.invert"
    IPOW = "operator.ipow"
    IS = "operator.is_"
    IS_NOT = "operator.is_not"
    LE = "operator.le"
    LSHIFT = "operator.lshift"
    LT = "operator.lt"
    MATMUL = "operator.matmul"
    MOD = "operator.mod"
    MUL = "operator.mul"
    NE = "operator.ne"
    NEG = "operator.neg"
    NOT = "operator.not_"
    OR = "operator.or_"
    POS = "operator.pos"
    POW = "operator.pow"
    RSHIFT = "operator.rshift"
    SETITEM = "operator.setitem"
    SUB = "operator.sub"
    TRUTH = "operator.truth"
    XOR = "operator.xor"

    # functions of Python
    ACCUMULATE = "itertools.accumulate"
    BOOL = "bool"
    BUILTIN_POW = "pow"
    CALLABLE = "callable"
    CHAIN = "itertools.chain"
    CHAIN_FROM_ITERABLE = "itertools.chain.from_iterable"
    COMBINATIONS = "itertools.combinations"
    COMPLEX = "complex"
    CYCLE = "itertools.cycle"
    DATACLASS_REPLACE = "dataclasses.replace"
    DEEPCOPY = "copy.deepcopy"
    DELATTR = "delattr object.__delattr__"
    DICT = "dict"
    DROPWHILE = "itertools.dropwhile"
    ENUMERATE = "enumerate"
    FILTER = "filter"
    FLOAT = "float"
    FORMAT = "format"
    GETATTR = "getattr"
    HASATTR = "hasattr"
    HASH = "hash"
    ID = "id"
    INT = "int"
    ISINSTANCE = "isinstance"
    ISLICE = "itertools.islice"
    ITER = "iter"
    LEN = "len"
    LIST = "list"
    MAP = "map"
    MATH_POW = "math.pow"
    MAX = "max"
    MIN = "min"
    NEXT = "next"
    OBJECT_SETATTR = "object.__setattr__"
    PAIRWISE = "itertools.pairwise"
    PARTIAL = "functools.partial"
    PERMUTATIONS = "itertools.permutations"
    PRINT = "print"
    PRODUCT = "itertools.product"
    RANGE = "range"
    REPEAT = "itertools.repeat"
    REPR = "repr"
    REVERSED = "reversed"
    ROUND = "round"
    SET = "set"
    SETATTR = "setattr"
    SHALLOW_COPY = "copy.copy"
    SLICE = "slice"
    SORTED = "sorted"
    STR = "str"
    SUM = "sum"
    TAKEWHILE = "itertools.takewhile"
    TUPLE = "tuple"
    TYPE = "type"
    VARS = "vars"
    WARN = "warnings.warn"
    ZIP = "zip"

    # methods and attributes
    ADD_METHOD = ".add()"
    APPEND = ".append()"
    CLEAR = ".clear()"
    COPY_METHOD = ".copy()"
    COUNT = ".count()"
    DOT_METHOD = ".dot()"
    EXTEND = ".extend()"
    FLAT = ".flat"
    GET = ".get()"
    INDEX = ".index()"
    INSERT = ".insert()"
    ITEM = ".item()"
    ITEMS = ".items()"
    KEYS = ".keys()"
    POP = ".pop()"
    POPITEM = ".popitem()"
    REAL_PART = ".real"
    REMOVE = ".remove()"
    REVERSE = ".reverse()"
    SETDEFAULT = ".setdefault()"
    SHAPE = ".shape"
    SIZE = ".size"
    SORT = ".sort()"
    T = ".T"
    TOLIST = ".tolist()"
    UPDATE = ".update()"
    VALUES = ".values()"
    VIEW = ".view()"

    # functions of NumPy
    ABSOLUTE = "numpy.absolute"
    ADD_AT_UFUNC = "numpy.add.at"
    ALLCLOSE = "numpy.allclose"
    AMAX = "numpy.max .max()"
    AMIN = "numpy.min .min()"
    ARANGE = "numpy.arange"
    ARGMAX = "numpy.argmax .argmax()"
    ARGMIN = "numpy.argmin .argmin()"
    ARGSORT = "numpy.argsort .argsort()"
    ARRAY = "numpy.array"
    ASANYARRAY = "numpy.asanyarray"
    ASARRAY = "numpy.asarray"
    ASCONTIGUOUSARRAY = "numpy.ascontiguousarray"
    ASFORTRANARRAY = "numpy.asfortranarray"
    AVERAGE = "numpy.average"
    BLOCK = "numpy.block"
    BROADCAST_SHAPES = "numpy.broadcast_shapes"
    BROADCAST_TO = "numpy.broadcast_to"
    CAN_CAST = "numpy.can_cast"
    CEIL = "numpy.ceil math.ceil"
    CHOOSE = "numpy.choose"
    CLIP = "numpy.clip .clip()"
    COLUMN_STACK = "numpy.column_stack"
    CONCATENATE = "numpy.concatenate"
    COPY = "numpy.copy"
    CORRCOEF = "numpy.corrcoef"
    CORRELATE = "numpy.correlate"
    COS = "numpy.cos"
    COSH = "numpy.cosh"
    COV = "numpy.cov"
    DIFF = "numpy.diff"
    DIVIDE = "numpy.divide"
    DOT = "numpy.dot"
    DSTACK = "numpy.dstack"
    EDIFF1D = "numpy.ediff1d"
    EINSUM = "numpy.einsum"
    EMPTY = "numpy.empty"
    EMPTY_LIKE = "numpy.empty_like"
    EQUAL = "numpy.equal"
    EXP = "numpy.exp"
    EXTREME_AT_UFUNC = "numpy.maximum.at numpy.minimum.at"
    EXPAND_DIMS = "numpy.expand_dims"
    EYE = "numpy.eye"
    FABS = "numpy.fabs math.fabs"
    FLOAT_POWER = "numpy.float_power"
    FLOOR = "numpy.floor math.floor"
    FLOOR_DIVIDE = "numpy.floor_divide"
    FMAX = "numpy.fmax"
    FMIN = "numpy.fmin"
    FULL = "numpy.full"
    FULL_LIKE = "numpy.full_like"
    GRADIENT = "numpy.gradient"
    HEAVISIDE = "numpy.heaviside"
    HSTACK = "numpy.hstack"
    IMAG = "numpy.imag"
    INNER = "numpy.inner"
    INTERP = "numpy.interp"
    ISCOMPLEXOBJ = "numpy.iscomplexobj"
    ISREALOBJ = "numpy.isrealobj"
    ISSCALAR = "numpy.isscalar"
    ISSUBDTYPE = "numpy.issubdtype"
    LINALG_MATRIX_POWER = "numpy.linalg.matrix_power"
    LINALG_MULTI_DOT = "numpy.linalg.multi_dot"
    LINALG_NORM = "numpy.linalg.norm"
    LINALG_SOLVE = "numpy.linalg.solve"
    LINALG_VECTOR_NORM = "numpy.linalg.vector_norm"
    LINSPACE = "numpy.linspace"
    LOG = "numpy.log"
    LOGICAL_AND = "numpy.logical_and"
    LOGICAL_NOT = "numpy.logical_not"
    LOGICAL_OR = "numpy.logical_or"
    LOGICAL_XOR = "numpy.logical_xor"
    MAXIMUM = "numpy.maximum"
    MAY_SHARE_MEMORY = "numpy.may_share_memory"
    MEAN = "numpy.mean .mean()"
    MEDIAN = "numpy.median"
    MINIMUM = "numpy.minimum"
    MULTIPLY = "numpy.multiply"
    NAN_TO_NUM = "numpy.nan_to_num"
    NDARRAY = "numpy.ndarray"
    NEGATIVE = "numpy.negative"
    NOT_EQUAL = "numpy.not_equal"
    NP_ADD = "numpy.add"
    NP_MATMUL = "numpy.matmul"
    NP_ROUND = "numpy.round numpy.around .round()"
    NP_SHAPE = "numpy.shape"
    NP_SORT = "numpy.sort"
    NP_SUM = "numpy.sum .sum()"
    ONES = "numpy.ones"
    ONES_LIKE = "numpy.ones_like"
    OUTER = "numpy.outer"
    PAD = "numpy.pad"
    POLYDER = "numpy.polyder"
    POLYINT = "numpy.polyint"
    POLYVAL = "numpy.polyval"
    POWER = "numpy.power"
    REAL = "numpy.real"
    REQUIRE = "numpy.require"
    RESHAPE = "numpy.reshape"
    RINT = "numpy.rint"
    ROLL = "numpy.roll"
    SEARCHSORTED = "numpy.searchsorted"
    SELECT = "numpy.select"
    SETTINGS = "numpy.seterr numpy.geterr numpy.errstate numpy.seterrcall numpy.set_printoptions"
    SHARES_MEMORY = "numpy.shares_memory"
    SIGN = "numpy.sign"
    SIN = "numpy.sin"
    SINH = "numpy.sinh"
    SQUARE = "numpy.square"
    STACK = "numpy.stack"
    STD = "numpy.std .std()"
    SUBTRACT = "numpy.subtract"
    SUBTRACT_AT_UFUNC = "numpy.subtract.at"
    TAKE = "numpy.take"
    TAKE_ALONG_AXIS = "numpy.take_along_axis"
    TENSORDOT = "numpy.tensordot"
    TRUNC = "numpy.trunc math.trunc"
    VDOT = "numpy.vdot"
    VSTACK = "numpy.vstack"
    WHERE = "numpy.where"
    ZEROS = "numpy.zeros"
    ZEROS_LIKE = "numpy.zeros_like"

    # what the IR has for displays, stores and functions
    CAPTURED = "srcdiff.ir.nodes.captured"
    IS_FUNCTION = "srcdiff.ir.nodes.is_function"
    MAKE_DICT = "srcdiff.ir.nodes.make_dict"
    MAKE_FUNCTION = "srcdiff.ir.nodes.make_function"
    MAKE_LIST = "srcdiff.ir.nodes.make_list"
    NEW_OBJECT = "srcdiff.ir.nodes.new_object"
    SET_ATTR = "srcdiff.ir.nodes.set_attr"
    SET_ITEM = "srcdiff.ir.nodes.set_item"

    # the notation of templates
    ACTIVE = "srcdiff.primitives.notation.active"
    APART = "srcdiff.primitives.notation.apart"
    IGNORED = "srcdiff.primitives.notation.ignored"
    KNOWN = "srcdiff.primitives.notation.known"
    REFUSE = "srcdiff.primitives.notation.refuse"

    # helpers of generated code
    ADD_AT = "srcdiff.runtime.trees.add_at"
    ADD_INTO = "srcdiff.runtime.trees.add_into"
    ADD_NUMBERS = "srcdiff.runtime.trees.add_numbers"
    ADD_SHARED = "srcdiff.runtime.trees.add_shared"
    ADD_TO_PART = "srcdiff.runtime.sequences.add_to_part"
    ADD_TREE = "srcdiff.runtime.trees.add_tree"
    AS_NOW = "srcdiff.runtime.trees.as_now"
    AXIS_SIZE = "srcdiff.runtime.arrays.axis_size"
    CALL_VJP = "srcdiff.runtime.trees.call_vjp"
    CHECKPOINTED = "srcdiff.runtime.checkpoint.checkpointed"
    CHECK_ADJOINT = "srcdiff.runtime.trees.check_adjoint"
    CHECK_INDICES = "srcdiff.runtime.loops.check_indices"
    CHECK_SHAPES = "srcdiff.runtime.loops.check_shapes"
    COFACTOR = "srcdiff.runtime.arrays.cofactor"
    COPY_TREE = "srcdiff.runtime.trees.copy_tree"
    COTANGENT = "srcdiff.runtime.trees.cotangent"
    COTANGENTS = "srcdiff.runtime.batched.cotangents"
    DEEP_COPY = "srcdiff.runtime.trees.deep_copy"
    DOT_LEFT = "srcdiff.runtime.arrays.dot_left"
    DOT_RIGHT = "srcdiff.runtime.arrays.dot_right"
    ENABLE_GRAD = "srcdiff.runtime.contexts.enable_grad"
    HOOK = "srcdiff.runtime.trees.hook"
    INSTANCE = "srcdiff.runtime.records.instance"
    INTEGRAL = "srcdiff.runtime.scipy.integrals.integral"
    KEPT = "srcdiff.runtime.trees.kept"
    LAID_COPY = "srcdiff.runtime.layout.laid_copy"
    LAID_LIKE = "srcdiff.runtime.layout.laid_like"
    LIKE_OBJECT = "srcdiff.runtime.trees.like_object"
    LIKE_TREE = "srcdiff.runtime.trees.like_tree"
    MATMUL_LEFT = "srcdiff.runtime.arrays.matmul_left"
    MATMUL_RIGHT = "srcdiff.runtime.arrays.matmul_right"
    NO_GRAD = "srcdiff.runtime.contexts.no_grad"
    OTHERS = "srcdiff.runtime.arrays.others"
    PART_SHAPE = "srcdiff.runtime.loops.part_shape"
    POWER_SLOPE = "srcdiff.runtime.arrays.power_slope"
    PULL_BACK = "srcdiff.runtime.trees.pull_back"
    PUT_BACK = "srcdiff.runtime.trees.put_back"
    SCATTER = "srcdiff.runtime.arrays.scatter"
    SET_GRAD_ENABLED = "srcdiff.runtime.contexts.set_grad_enabled"
    SPREAD = "srcdiff.runtime.arrays.spread"
    STOP_GRADIENT = "srcdiff.runtime.arrays.stop_gradient"
    TREE_ZEROS_LIKE = "srcdiff.runtime.trees.zeros_like"
    UNBROADCAST = "srcdiff.runtime.arrays.unbroadcast"
    UNBROADCAST_EACH = "srcdiff.runtime.batched.unbroadcast_each"
    UNCUT = "srcdiff.runtime.arrays.uncut"
    UNDIFF = "srcdiff.runtime.arrays.undiff"
    VIEW_LIKE = "srcdiff.runtime.layout.view_like"
    VJP_BY = "srcdiff.runtime.implicit.vjp_by"
    WHERE_NONZERO = "srcdiff.runtime.trees.where_nonzero"
    WINNERS = "srcdiff.runtime.arrays.winners"
    WITH_SLOPE = "srcdiff.runtime.arrays.with_slope"
    ZEROS_OF = "srcdiff.runtime.sequences.zeros_of"
    ZERO_TREE = "srcdiff.runtime.trees.zero_tree"

    # functions of SciPy
    CDIST = "scipy.spatial.distance.cdist"


MODES = (Op.NO_GRAD, Op.ENABLE_GRAD, Op.SET_GRAD_ENABLED)
"""What makes regions with and without derivatives."""

CONTAINERS = (Op.MAKE_LIST, Op.MAKE_DICT, Op.LIST, Op.TUPLE, Op.DICT)
"""What makes a container of what it is given, or of the items of that."""


def is_op(expr: ir.Rhs | None, *ops: Op) -> TypeGuard[ir.Call]:
    """Whether an expression is a call of one of these operations."""
    if type(expr) is not ir.Call:
        return False
    found = expr._op
    return (which_op(expr) if found is None else found) in ops


def which_op(call: ir.Call) -> Op | None:
    """The operation that a call is of, None of all others."""
    found = call._op
    if found is None:
        found = remember(call, "_op", op_named(call.fn) or False)
    return found or None


def calling(block: ir.Block | ir.Function, *ops: Op) -> list[tuple[ir.Assign | ir.Effect, ir.Call]]:
    """The statements of a block that make calls of these operations, with the calls."""
    made = ir.callers(block)
    return [(s, c) for s, c in made if (which_op(c) if c._op is None else c._op) in ops]


def op_named(callee: Any) -> Op | None:
    """The operation of a callee, None of all others."""
    found = _FOUND.get(id(callee))
    if found is not None:
        return found
    kind = type(callee)  # `isinstance` would ask an object of the user's for its class
    if kind is ir.Method:
        plain = callee.after is None and not callee.foreign
        return _NAMED.get(f".{callee.name}()") if plain else None
    if kind is ir.Attr:
        return _NAMED.get(f".{callee.name}") if callee.after is None else None
    if kind is ir.SetAttr:
        return Op.SET_ATTR
    if kind is FunctionType:
        return _of_later(callee) if str(callee.__module__).startswith(_LATER) else None
    return _FOUND.get(_key(callee))


def _of_later(fn: FunctionType) -> Op | None:
    """The operation of a function of a module that is read when it is needed."""
    found = _NAMED.get(f"{fn.__module__}.{fn.__name__}")
    home = None if found is None else sys.modules.get(fn.__module__)
    return found if home is not None and vars(home).get(fn.__name__) is fn else None


_LATER = ("srcdiff.", "scipy.")
_NAMED = {name: op for op in Op for name in op.value.split()}


def _object(name: str) -> Any:
    """What a dotted name stands for."""
    home, _, last = name.rpartition(".")
    held = sys.modules.get(home or "builtins")
    return getattr(_object(home) if held is None else held, last)


_OWNERS = (np.ufunc, type)


def _key(callee: Any) -> object:
    """A callee by identity: no object is asked for a hash.

    A method of a ufunc, or of a class, is another object whenever it is read.
    """
    if type(callee) is BuiltinFunctionType:
        owner = callee.__self__
        return (id(owner), callee.__name__) if issubclass(type(owner), _OWNERS) else id(callee)
    return id(callee)


_FOUND = {
    _key(_object(name)): op for name, op in _NAMED.items() if not name.startswith((".", *_LATER))
}
