"""The one list of callees: what a call of each does to memory and to the world, and what it gives.

`op_of(callee)` is the `Operation` of a callee: whether nothing but its result comes of a call, what
it writes into, what its result may share memory with, and whether it may be run on stand-ins while
compiling.  A callee is found by identity, under a public name: what only says of itself that it
belongs to NumPy (`functools.wraps(np.dot)`, `np.vectorize(f)`, `np.frompyfunc(f, 1, 1)`) is not.
Whatever is not listed (files, printing, global state, random numbers, functions of the user) may do
anything: it is never run while compiling, and never left out of the text.

It also says what is done with the axes of the operands, as far as that is one of a few things: what
the operation is for a whole batch, with an axis more in front of its operands, follows from it by
one function for each `Meaning` (`autodiff/batch/forms.py`), and so does the kind of what works
element by element.

The distributions of `scipy.stats` are objects that never change, and are used as modules are.
"""

from __future__ import annotations

import builtins
import operator
import sys
import threading
from collections.abc import Iterator, Mapping
from functools import cached_property, lru_cache
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from srcdiff import ir
from srcdiff.ir.frozen import Choice, frozen, replace
from srcdiff.runtime import records

DISTRIBUTION_METHODS = frozenset(
    {"pdf", "logpdf", "pmf", "logpmf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf"}
)
"""The methods that draw nothing at random."""


def distribution(value: Any) -> str | None:
    """The name under which `scipy.stats` has a distribution; None of anything else."""
    stats = sys.modules.get("scipy.stats")
    if stats is None or not str(type(value).__module__).startswith("scipy.stats"):
        return None
    return next((name for name, held in vars(stats).items() if held is value), None)


# --- what is known of a callee -------------------------------------------------------------------


class Effect(Choice):
    """What comes of a call besides its result."""

    NONE = "nothing"
    CHECKS = "an error, which is the point of it"
    WRITES = "what it writes into its first argument"
    ANY = "anything: files, printing, global state, random numbers, code of the user's"


class Which(Choice):
    """Which arguments of a call."""

    NO = "none of them"
    FIRST = "the first one"
    PLACED = "any of those that are given by position"
    EVERY = "any of them"


class Result(Choice):
    """What a call returns."""

    NEW = "new memory, or a number"
    VIEW = "an array, which may be a view of an array that it is given"
    SURE_VIEW = "a view of the array that it is given first"
    STEADY_VIEW = "views of arrays that it is given, or not, as their shapes and dtypes say alone"
    PART = "what it is given, an item of that, or what holds it"
    UNPLACED = "a view of which no rule says where it is"


class Writing(Choice):
    """When a call writes into what it is given to write into."""

    AT_ONCE = "when it has read its operands"
    IN_PARTS = "when a part of its operands may be still to be read"
    AS_STORED = "as a store does: at once, but item by item along a single axis"
    UNSURE = "or not, which depends on the version of NumPy"


class Meaning(Choice):
    """What the axes of the operands mean."""

    ASKED = "nothing: the result says of the shape, dtype or memory, and has no numbers of them"
    ELEMENTS = "each number is made of those at its place in operands that broadcast"
    COMPARED = "the same, of which each says how they compare"
    LIKE = "the result has those of the first operand; the other arguments say how"
    STRUCTURE = "the result has those of the arrays in the first operand, which may be a container"
    CONVERTED = "a number or array of the first operand, or of a list of such"
    ALONG = "some arguments name those of the first operand"
    ORDERED = "an argument is their order in the result"
    JOINED = "an argument names one of the result, along which the arrays in a sequence lie"
    SHAPED = "an argument is the shape of the result, which has the numbers in their order"
    STACKED = "the last ones are those of vectors and matrices, all others of a stack of them"
    PRODUCT = "the last two are those of matrices, a single one that of a vector"


class Bare(Choice):
    """What is meant where no axis is named."""

    NEVER = "some axes that have to be named"
    NOTHING = "no axis"
    ALL = "all axes"
    ONES = "those of length 1"
    TOTAL = "all axes, of which none is left"
    FLAT = "the only axis of the flattened operand"
    AS_FLAT = "the same, but that the result has the shape of the operand"


@frozen
class Axis:
    """The argument that names an axis, or several: where it stands, and what it is if left out."""

    name: str
    place: int
    default: int | tuple[int, ...] | None = None


@frozen
class Axes:
    """What the axes of the operands mean.

    `named`: the arguments that name axes; `bare`: what they mean where they are None.  `least` and
    `most`: how many axes operands may have for this to be so.
    """

    meaning: Meaning
    named: tuple[Axis, ...] = ()
    bare: Bare = Bare.NEVER
    least: int = 0
    most: int = 64


@frozen
class Operation:
    """What a call of a callee does to memory, to the world, and with the axes of its operands.

    `writes` are the arguments that it may write into, besides `out`; `shares` those whose memory
    the `result` may share.  `probed`: it may be run on stand-ins while compiling.  `returns_none`:
    where it is made for its effect alone.  `folded`: in the text of a rule its result stands for a
    call whose arguments are known.  `made_again`: a call costs no more than keeping what it gives.
    `root`: it may give the root of a sum of squares, whose square has a derivative at zero.
    `turns_complex`: of real numbers it may give complex ones, which their values decide.  `asks`:
    the place of the argument of which it looks at the shape and dtype alone.  `symbol`: how an
    operator of Python is written between its operands; `-x` where there is a single one.  `holds`:
    its result holds what it is given, or is an item of that, and it looks at no item.
    """

    name: str
    effect: Effect = Effect.ANY
    probed: bool = False
    writes: Which = Which.NO
    result: Result = Result.NEW
    shares: Which = Which.NO
    returns_none: bool = False
    folded: bool = False
    made_again: bool = False
    writing: Writing = Writing.AT_ONCE
    root: bool = False
    turns_complex: bool = False
    asks: int | None = None
    symbol: str = ""
    holds: bool = False
    axes: Axes | None = None

    @cached_property
    def is_elementwise(self) -> bool:
        """Whether it works element by element, with broadcasting."""
        return self.means(Meaning.ELEMENTS, Meaning.COMPARED)

    @cached_property
    def is_asked(self) -> bool:
        """Whether what it says of a value is the same for all values of that shape and dtype."""
        return self.means(Meaning.ASKED)

    @cached_property
    def is_whole_view(self) -> bool:
        """Whether it gives all that an array holds, in its memory or in new memory."""
        return self.result is Result.SURE_VIEW or self.is_shaped

    @cached_property
    def is_shaped(self) -> bool:
        """Whether it gives all that an array holds in another shape."""
        return self.means(Meaning.SHAPED)

    def means(self, *meanings: Meaning) -> bool:
        """Whether the axes of the operands mean one of these."""
        return self.axes is not None and self.axes.meaning in meanings

    @cached_property
    def gives_array(self) -> bool:
        """Whether it gives an array that may be a view of one that it is given."""
        return self.result in (Result.VIEW, Result.SURE_VIEW, Result.STEADY_VIEW)

    @cached_property
    def package(self) -> str:
        """The first word of the name: `builtins`, `operator`, `numpy`."""
        return self.name.partition(".")[0]

    @cached_property
    def is_pure(self) -> bool:
        """Whether a call may be left out, or moved where its operands are the same."""
        return self.effect is Effect.NONE


UNKNOWN = Operation("unknown", writes=Which.EVERY, result=Result.PART, shares=Which.EVERY)
"""A callee of which nobody knows anything: it may do everything, and is never run."""


# --- what has no effect --------------------------------------------------------------------------


_LISTED = Path(__file__).with_name("callees.txt").read_text(encoding="utf-8").split("\n\n")
"""How the callees of each module are listed: `run` or `quiet`, the module, and their names."""
_RUN = {home: names for how, home, *names in map(str.split, _LISTED) if how == "run"}
"""What has no effect and may be run on stand-ins."""
_QUIET = {home: names for how, home, *names in map(str.split, _LISTED) if how == "quiet"}
"""What has no effect, but is not run; of builtins the kinds are known."""

_COMPUTING: Mapping[str, type] = {
    "math": BuiltinFunctionType, "cmath": BuiltinFunctionType,
    "numpy": np.ufunc, "scipy.special": np.ufunc,
}  # fmt: skip
"""The modules of which all that is of a class has no effect, and may be run on stand-ins."""

_SERIES = """
    2poly add companion der div fit fromroots gauss grid2d grid3d int line mul mulx pow pts1 pts2
    roots sub trim val val2d val3d valfromroots vander vander2d vander3d weight
"""
for _module, _short, _class in (
    ("polynomial", "poly", "Polynomial"), ("chebyshev", "cheb", "Chebyshev"),
    ("legendre", "leg", "Legendre"), ("hermite", "herm", "Hermite"),
    ("hermite_e", "herme", "HermiteE"), ("laguerre", "lag", "Laguerre"),
):  # fmt: skip
    _own = (f"{_short}{name}" for name in _SERIES.split())
    _RUN[f"numpy.polynomial.{_module}"] = ["ABCPolyBase", _class, f"poly2{_short}", *_own]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_HELPERS = _words("""
    arrays linalg trees layout copies sequences batched records scipy.curves scipy.sparse
    scipy.distributions scipy.filters indexing loops
""")
_PURE_HELPERS = _HELPERS | _words("""
    workspace checkpoint second_order contexts implicit scipy.integrals scipy.roots
""")
"""Helpers that are given functions, which are not run while compiling."""
_CHECKS = _words("check_adjoint check_indices check_shapes cotangent cotangents")
"""Helpers whose errors are the point: they are not left out, but may be moved."""
_ACTING = _words("""
    Mode no_grad enable_grad set_grad_enabled
    call_vjp fixed_point given_cotangents hooked note_value nothing_seen on_copies solution
    run_again gradients_again Before Slots run_steps reversed_steps steps_with_tangents
    tangent_again pushed_steps packed unpacked unmoved gradients_at gradients_at_back
    gradients_along has_run
    remaining add_at add_into add_numbers add_shared put_back add_to_part
""")
"""Helpers that write into what they are given, that run code nobody has seen, or that refuse."""

# --- what methods do, by their names --------------------------------------------------------------


ARRAY_MUTATORS = _words("fill sort partition put itemset resize setfield setflags")
LIST_MUTATORS = _words("append extend insert pop remove clear reverse sort")
DICT_MUTATORS = _words("update setdefault pop popitem clear")
MUTATORS = ARRAY_MUTATORS | LIST_MUTATORS | DICT_MUTATORS | {"add", "discard", "write"}
SPARSE_MUTATORS = _words("""
    setdiag sum_duplicates eliminate_zeros sort_indices prune resize update check_format clear pop
    popitem setdefault
""")
"""The methods of sparse matrices that write into them."""

ELEMENT_METHODS = _words("get pop setdefault popitem items values copy")
ADDRESS_ATTRIBUTES = _words("ctypes __array_interface__ __array_struct__")
"""Attributes that give the address of an array's memory."""

PURE_METHODS = _words("""
    T all any argmax argmin argpartition argsort as_integer_ratio astype base bit_count bit_length
    capitalize casefold center choose clip compress conj conjugate copy count ctypes cumprod cumsum
    data denominator device diagonal dot dtype dumps encode endswith expandtabs find flags flat
    flatten format format_map from_bytes fromhex fromkeys get getfield hex imag index is_integer
    isalnum isalpha isascii isdecimal isdigit isidentifier islower isnumeric isprintable isspace
    istitle isupper item items itemsize join keys ljust lower lstrip mT maketrans max mean min
    nbytes ndim newbyteorder nonzero numerator prod ptp ravel real removeprefix removesuffix repeat
    replace reshape rfind rindex rjust round rpartition rsplit rstrip searchsorted shape size split
    splitlines squeeze startswith std strides strip sum swapaxes swapcase take title to_bytes
    to_device tobytes tolist tostring trace translate transpose upper values var view zfill
""")
"""Methods of arrays, numbers and containers that have no effect."""

_MEMORY: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("numpy", """
        transpose permute_dims matrix_transpose swapaxes moveaxis rollaxis squeeze expand_dims flip
        flipud fliplr rot90
    """, {"result": Result.SURE_VIEW, "shares": Which.FIRST}),
    ("numpy", """
        reshape ravel broadcast_to diagonal diag ascontiguousarray asfortranarray asarray_chkfinite
        require imag real_if_close array trim_zeros astype
    """, {"result": Result.VIEW, "shares": Which.FIRST}),
    ("numpy", "asarray asanyarray real", {"result": Result.STEADY_VIEW, "shares": Which.FIRST}),
    ("numpy.linalg", "matrix_transpose diagonal", {"result": Result.VIEW, "shares": Which.FIRST}),
    ("numpy", """
        atleast_1d atleast_2d atleast_3d split array_split hsplit vsplit dsplit unstack
    """, {"result": Result.STEADY_VIEW, "shares": Which.EVERY}),
    ("numpy", "broadcast_arrays ix_ meshgrid", {"result": Result.VIEW, "shares": Which.EVERY}),
    ("scipy.linalg", "fractional_matrix_power", {"result": Result.PART, "shares": Which.FIRST}),
    ("scipy.interpolate", "splantider splder", {"result": Result.PART, "shares": Which.FIRST}),
    ("scipy.sparse", "permute_dims", {"result": Result.PART, "shares": Which.FIRST}),
    ("numpy.polynomial.polyutils", "trimseq", {"result": Result.PART, "shares": Which.FIRST}),
    ("numpy", "histogram histogram_bin_edges", {"result": Result.PART, "shares": Which.PLACED}),
    ("scipy.signal", "abcd_normalize bode freqresp",
     {"result": Result.PART, "shares": Which.PLACED}),
    ("numpy", "einsum", {"result": Result.PART, "shares": Which.PLACED}),  # of one operand
    ("numpy", "ndarray matrix asmatrix recarray frombuffer from_dlpack nditer",
     {"result": Result.UNPLACED, "shares": Which.EVERY}),
    ("numpy.lib.stride_tricks", "as_strided sliding_window_view",
     {"result": Result.UNPLACED, "shares": Which.EVERY}),
    ("builtins", "memoryview", {"result": Result.UNPLACED, "shares": Which.EVERY}),
    ("numpy", "copyto put place putmask put_along_axis fill_diagonal",
     {"effect": Effect.WRITES, "writes": Which.FIRST, "returns_none": True}),
    ("methods", " ".join(MUTATORS), {"effect": Effect.WRITES, "writes": Which.FIRST}),
    ("methods", """
        append extend insert remove clear reverse sort update fill partition put itemset setfield
        setflags
    """, {"returns_none": True}),
    ("methods", "view conj conjugate", {"result": Result.VIEW, "shares": Which.FIRST}),
    ("methods", " ".join(ELEMENT_METHODS), {"result": Result.PART, "shares": Which.FIRST}),
    ("methods", "astype", {"result": Result.NEW, "shares": Which.NO}),  # or it is told not to copy
    ("methods", "getfield __array__", {"result": Result.UNPLACED, "shares": Which.FIRST}),
    ("attributes", "T mT", {"result": Result.SURE_VIEW}),
    ("attributes", "real", {"result": Result.STEADY_VIEW}),  # `imag` of real numbers is no view
    ("attributes", "data flat base", {"result": Result.UNPLACED}),
    ("attributes", "shape size ndim", {"asks": 0}),
    ("logging", "debug info warning error critical exception log", {}),
    ("warnings", "warn", {}),
    ("srcdiff.ir.nodes", "make_list make_dict make_function is_function captured",
     {"effect": Effect.NONE, "result": Result.PART, "shares": Which.EVERY}),
    ("srcdiff.ir.nodes", "new_object",
     {"effect": Effect.NONE, "writes": Which.EVERY, "result": Result.PART, "shares": Which.EVERY}),
    ("srcdiff.ir.nodes", "set_attr set_item",
     {"writes": Which.FIRST, "result": Result.PART, "shares": Which.EVERY}),
    ("srcdiff.runtime", "add_to_part add_at add_into add_numbers add_shared put_back",
     {"effect": Effect.WRITES, "writes": Which.FIRST}),
    ("operator", "setitem delitem",
     {"writes": Which.FIRST, "result": Result.PART, "shares": Which.FIRST, "returns_none": True}),
    ("operator", """
        iadd iand iconcat ifloordiv ilshift imatmul imod imul ior ipow irshift isub itruediv ixor
    """, {"writes": Which.FIRST, "result": Result.PART, "shares": Which.FIRST}),
    ("builtins", "list tuple reversed sorted zip enumerate min max sum getattr next",
     {"result": Result.PART, "shares": Which.PLACED}),
    ("builtins", "dict", {"result": Result.PART, "shares": Which.EVERY}),
    ("builtins", "setattr delattr next", {"writes": Which.FIRST}),
    ("numpy.random", "shuffle", {"writes": Which.FIRST}),
    ("random", "shuffle", {"writes": Which.FIRST}),
    ("srcdiff.runtime", """
        hook stop_gradient unbroadcast real_like uncut spread keep_axes rows unrows matmul_left
        matmul_right dot_left dot_right beside own_numbers unbroadcast_each broadcast_each
        spread_each cut determined numbers of_items one_value paired einsum_back
    """, {"result": Result.VIEW, "shares": Which.FIRST}),
    ("srcdiff.runtime", "with_slope", {"result": Result.VIEW, "shares": Which.EVERY}),
    ("operator", """
        add sub mul neg pos mod floordiv eq ne lt le gt ge is_ is_not not_ contains getitem
    """, {"folded": True}),
    ("builtins", "len min max isinstance abs", {"folded": True}),
    ("srcdiff.runtime", """
        inverse_axes negated other_axes inside einsum_plain einsum_subscripts swapped_norm last_axes
        all_axes pad_mode
    """, {"folded": True}),
    ("srcdiff.ir.nodes", """
        make_list make_dict make_function is_function captured new_object set_attr set_item
    """, {"holds": True}),
    ("builtins", "list tuple dict reversed zip enumerate", {"holds": True}),
    ("operator", "getitem", {"holds": True}),
    ("copy", "copy", {"holds": True}),
    ("builtins", "range", {"made_again": True}),
    ("numpy", "arange eye full identity linspace ones tri zeros", {"made_again": True}),
    ("builtins", "abs", {"root": True}),
    ("operator", "abs", {"root": True}),
    ("math", "fabs", {"root": True}),
    ("numpy", "absolute fabs std", {"root": True}),
    ("numpy.linalg", "norm vector_norm", {"root": True}),
    ("scipy.spatial.distance", "cdist", {"root": True}),
    ("numpy", "roots sort_complex", {"turns_complex": True}),
    ("numpy.linalg", "eig eigvals", {"turns_complex": True}),
    ("scipy.linalg", "eig eigvals sqrtm logm fractional_matrix_power funm schur",
     {"turns_complex": True}),
    ("scipy.special", "lambertw h1vp h2vp", {"turns_complex": True}),
    ("numpy", "concatenate stack ptp fill_diagonal place put putmask",
     {"writing": Writing.IN_PARTS}),
    ("numpy", "copyto", {"writing": Writing.AS_STORED}),
    ("numpy.fft", "hfft irfft2", {"writing": Writing.UNSURE}),
    ("scipy.ndimage", """
        convolve convolve1d correlate correlate1d gaussian_filter gaussian_filter1d uniform_filter
        uniform_filter1d prewitt sobel
    """, {"writing": Writing.AT_ONCE}),
    ("srcdiff.runtime", "vjp_by slope_of along_of", {"made_again": True}),
    ("numpy", "shape size ndim zeros_like", {"asks": 0}),
    ("builtins", "len", {"asks": 0}),
    ("srcdiff.runtime", "unbroadcast spread cotangent", {"asks": 1}),
)  # fmt: skip
"""What writes into its arguments, shares memory with them, or looks at no number in one of them.

The others do neither.
"""

# --- what is done with axes ----------------------------------------------------------------------


def _along(bare: Bare, *named: Axis) -> Axes:
    return Axes(Meaning.ALONG, named, bare)


ELEMENTS = Axes(Meaning.ELEMENTS)
"""Of all ufuncs that work on numbers."""
_COMPARED = Axes(Meaning.COMPARED)
_ASKED = Axes(Meaning.ASKED)
_LIKE = Axes(Meaning.LIKE)
_CONVERTED = Axes(Meaning.CONVERTED)
_MATRICES = Axes(Meaning.STACKED)
_FIRST, _SECOND = Axis("axis", 1), Axis("axis", 2)
_TRANSFORM = _along(Bare.NEVER, Axis("axis", 2, -1))

_DECLARED: tuple[tuple[str, str, Axes], ...] = (
    ("operator", """
        add sub mul truediv floordiv mod pow neg pos abs invert and_ or_ xor lshift rshift
    """, ELEMENTS),
    ("operator", "lt le gt ge eq ne", _COMPARED),
    ("numpy", "less less_equal greater greater_equal equal not_equal", _COMPARED),
    ("builtins", "abs", ELEMENTS),
    ("numpy", """
        clip real imag sinc nan_to_num isclose i0 around round isreal iscomplex where conj conjugate
    """, ELEMENTS),
    ("srcdiff.runtime", """
        power_slope log_or_zero divide_or_zero squared_modulus where_nonzero
    """, ELEMENTS),
    ("builtins", "len", _ASKED),
    ("numpy", "shape ndim size iscomplexobj result_type may_share_memory", _ASKED),
    ("attributes", "shape ndim size dtype itemsize nbytes strides", _ASKED),
    ("numpy", "copy zeros_like ones_like empty_like astype", _LIKE),
    ("srcdiff.runtime", "real_like uncut", _LIKE),
    ("srcdiff.runtime", "zero_tree copy_tree zeros_like", Axes(Meaning.STRUCTURE)),
    ("builtins", "float complex", _CONVERTED),
    ("numpy", "float64 complex128 array asarray", _CONVERTED),
    ("numpy", "ascontiguousarray", Axes(Meaning.LIKE, least=1)),
    ("numpy", "sum mean max min prod", _along(Bare.TOTAL, _FIRST)),
    ("numpy", "cumsum cumprod", _along(Bare.FLAT, _FIRST)),
    ("numpy", "take repeat", _along(Bare.FLAT, _SECOND)),
    ("numpy", "flip", _along(Bare.ALL, _FIRST)),
    ("numpy", "expand_dims", _along(Bare.NEVER, _FIRST)),
    ("numpy", "squeeze", _along(Bare.ONES, _FIRST)),
    ("numpy", "roll", _along(Bare.AS_FLAT, _SECOND)),
    ("numpy", "diff", _TRANSFORM),
    ("numpy", "moveaxis", _along(Bare.NEVER, Axis("source", 1), Axis("destination", 2))),
    ("numpy", "swapaxes", _along(Bare.NEVER, Axis("axis1", 1), Axis("axis2", 2))),
    ("numpy", "trace diagonal", _along(Bare.NEVER, Axis("axis1", 2, 0), Axis("axis2", 3, 1))),
    ("numpy", "rot90", _along(Bare.NEVER, Axis("axes", 2, (0, 1)))),
    ("numpy.fft", "fft ifft rfft irfft hfft ihfft", _TRANSFORM),
    ("numpy.fft", "fft2 ifft2 rfft2 irfft2", _along(Bare.NEVER, Axis("axes", 2, (-2, -1)))),
    ("numpy.fft", "fftn ifftn rfftn irfftn", _along(Bare.ALL, Axis("axes", 2))),
    ("numpy.fft", "fftshift ifftshift", _along(Bare.ALL, Axis("axes", 1))),
    ("srcdiff.runtime", "keep_axes", _along(Bare.NOTHING, _FIRST)),
    ("srcdiff.runtime", "shift", _along(Bare.NEVER, _SECOND)),
    ("srcdiff.runtime", "undiff", _along(Bare.NEVER, Axis("axis", 3))),
    ("numpy", "transpose", Axes(Meaning.ORDERED, (Axis("axes", 1),))),
    ("attributes", "T", Axes(Meaning.ORDERED)),
    ("numpy", "concatenate stack", Axes(Meaning.JOINED, (Axis("axis", 1, 0),))),
    ("numpy", "reshape", Axes(Meaning.SHAPED, (Axis("shape", 1),))),
    ("numpy", "ravel", Axes(Meaning.SHAPED)),
    ("numpy", "triu tril", Axes(Meaning.STACKED, least=2)),
    ("numpy", "matrix_transpose", _MATRICES),
    ("attributes", "mT", _MATRICES),
    ("srcdiff.runtime", """
        eigh_back eig_back svd_back cholesky_back eigvalsh_back eigvalsh_back_along values_along
        vectors_along svdvals_back svdvals_back_along svdvals_back_part svdvals_back_turn
        singular_along from_triangle to_triangle
    """, Axes(Meaning.STACKED, least=1)),
    ("operator", "matmul", Axes(Meaning.PRODUCT, least=1)),
    ("numpy", "matmul", Axes(Meaning.PRODUCT, least=1)),
    ("numpy", "dot", Axes(Meaning.PRODUCT, least=1, most=2)),
)  # fmt: skip

_FACTS: dict[tuple[str, str], dict[str, Any]] = {}
"""What is said in both tables, by the module, `"methods"` or `"attributes"`, and the name.

Methods of arrays are as the functions of NumPy of their names, which take the array first.
"""
for _module, _names, _said_of in (*_MEMORY, *((h, n, {"axes": axes}) for h, n, axes in _DECLARED)):
    for _name in _names.split():
        _FACTS[_module, _name] = {**_FACTS.get((_module, _name), {}), **_said_of}

# --- all others, by their modules -----------------------------------------------------------------

_MASKED = ("numpy.ma.", "numpy.matlib.", "numpy.rec.", "numpy.core.records.", "numpy.ctypeslib.")
"""The modules whose functions make arrays with memory that no rule describes."""

_FILTERS = "scipy.ndimage"
"""The module whose functions write a part at a time, but where it is said above."""

_UNPLACED: dict[str, Any] = {"result": Result.UNPLACED, "shares": Which.EVERY}

_LIBRARIES = frozenset(("numpy", "scipy", "math", "cmath", "_operator", "operator", "copy"))
"""The modules whose functions write into no argument but where it is said above."""

TELLING_METHODS = _words("debug info warning error critical exception log isEnabledFor")
"""The methods of a `logging.Logger` that tell somebody something."""

_SYMBOLS: Mapping[Any, str] = {
    **{fn: symbol for symbol, fn in ir.OPERATORS.items()},
    operator.lt: "<", operator.le: "<=", operator.gt: ">", operator.ge: ">=", operator.eq: "==",
    operator.ne: "!=", operator.is_: "is", operator.is_not: "is not", operator.contains: "in",
    operator.getitem: "[]", operator.not_: "not x", operator.neg: "-x", operator.pos: "+x",
    operator.invert: "~x",
}  # fmt: skip
_JOINERS = (np.r_.__getitem__, np.c_.__getitem__)
_REDUCTIONS = frozenset(("reduce", "accumulate", "outer", "reduceat"))


class _Found(dict[int, tuple[Any, Operation]]):
    """What was found of callees, by identity: no object is asked for a hash."""

    def __missing__(self, key: int) -> tuple[Any, Operation]:
        """Of any other callee nothing was found."""
        return _NOBODY


_NOBODY = (object(), UNKNOWN)
_found = _Found()
_listed: dict[int, tuple[Any, str, dict[str, Any]]] = {}  # the object, its name, what is said of it
_missing = tuple(dict.fromkeys((*_COMPUTING, *_RUN, *_QUIET, *(home for home, _ in _FACTS))))
_collecting = threading.Lock()


def op_of(callee: ir.Callee) -> Operation:
    """What is known of a callee."""
    known, found = _found[id(callee)]
    if known is callee:
        return found
    kind = type(callee)
    if kind is ir.Method:
        found = _of_method(callee.name)  # type: ignore[union-attr]
        foreign = callee.foreign  # type: ignore[union-attr]
        return replace(found, effect=Effect.ANY, holds=False) if foreign else found
    if kind is ir.Attr:
        return _of_attribute(callee.name)  # type: ignore[union-attr]
    if kind is ir.SetAttr:
        return op_of(ir.set_attr)
    if kind is ir.Name or kind is ir.Derived:
        return UNKNOWN
    return _known(callee) or _of_kin(callee) or _of_library(callee) or UNKNOWN


def _known(fn: Any) -> Operation | None:
    """What the tables say of an object."""
    held = _found.get(id(fn))
    if held is None:
        if not sys.modules.keys().isdisjoint(_missing):
            _collect()
        said = _listed.get(id(fn))
        if said is None:
            return None
        more = _UNPLACED if said[1].startswith(_MASKED) else {}
        facts = {"axes": _axes_of_ufunc(fn), **said[2], **more}
        held = _found[id(fn)] = said[0], Operation(said[1], **facts)
    return held[1] if held[0] is fn else None


def _collect() -> None:
    """Find the callees of the modules that have been imported since."""
    global _missing
    with _collecting:
        for module in [n for n in _missing if n in sys.modules]:
            _collect_from(module)
            _missing = tuple(n for n in _missing if n != module)


def _collect_from(module: str) -> None:
    """Find the callees of a module."""
    held, facts = vars(sys.modules[module]), dict[int, tuple[str, dict[str, Any]]]()
    for name, more in _said(module):
        if (fn := held.get(name)) is not None:  # under another name as well: `np.concat`
            old = facts.get(id(fn))
            facts[id(fn)] = (name, more) if old is None else (old[0], {**old[1], **more})
    for name, found in facts.values():
        _listed.setdefault(id(held[name]), (held[name], f"{module}.{name}", found))


def _said(module: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """What the tables say of the callees of a module, one thing after another."""
    writing = {"writing": Writing.IN_PARTS} if module == _FILTERS else {}
    for names, probed in ((_QUIET.get(module, []), False), (_run(module), True)):
        more = {"effect": Effect.NONE, "probed": probed, **writing}
        for name in names:
            yield name, more
    for fn, symbol in _SYMBOLS.items() if module == "operator" else ():
        yield fn.__name__, {"symbol": symbol}
    yield from ((name, facts) for (home, name), facts in _FACTS.items() if home == module)


def _run(module: str) -> list[str]:
    """The names of what has no effect and may be run on stand-ins."""
    cls, held = _COMPUTING.get(module, ()), vars(sys.modules[module])
    own = sorted(n for n, fn in held.items() if isinstance(fn, cls) and not n.startswith("_"))
    same = _run("numpy") if module == "numpy.ma" else []  # under the same names
    return [*own, *_RUN.get(module, []), *same]


def _axes_of_ufunc(fn: Any) -> Axes | None:
    """What a ufunc says of itself; None of other functions."""
    return ELEMENTS if isinstance(fn, np.ufunc) and fn.signature is None else None


# --- callees that no table has: reductions of ufuncs, methods of distributions, our own helpers ---


def _of_kin(fn: Any) -> Operation | None:
    """What is known of a function by what it belongs to, None if that does not say it."""
    if isinstance(fn, MethodType):
        plain = fn in _JOINERS or _is_of_distribution(fn)
        return _PURE if plain else None
    if type(fn) is BuiltinFunctionType:
        return _of_ufunc(fn) if isinstance(fn.__self__, np.ufunc) else None
    if isinstance(fn, np.ufunc):
        return None
    if isinstance(fn, type) or type(fn) is FunctionType:
        same = fn.__dict__.get("__srcdiff_same__")
        return _of_helper(fn) if same is None else op_of(same)
    return _known(type(fn)) if not isinstance(fn, ModuleType) else None


_PURE = Operation("pure", Effect.NONE, probed=True)
_AT = Operation("at", Effect.WRITES, writes=Which.FIRST, returns_none=True)


def _of_ufunc(fn: Any) -> Operation | None:
    """What is known of `np.add.reduce`, `np.add.at`."""
    if fn.__name__ == "at":
        return _AT
    return _PURE if fn.__name__ in _REDUCTIONS and _known(fn.__self__) is not None else None


def _of_helper(fn: Any) -> Operation | None:
    """What is known of a function of srcdiff's own that generated code may call."""
    home, name = str(getattr(fn, "__module__", "")), str(fn.__name__)
    package, _, module = home.partition(".runtime.")
    ours = package == "srcdiff" and module in _PURE_HELPERS
    if not ours or vars(sys.modules[home]).get(name) is not fn:
        return None
    checks, acts = name in _CHECKS, name in _ACTING
    effect = Effect.CHECKS if checks else Effect.ANY if acts else Effect.NONE
    known: dict[str, Any] = {"effect": effect, "probed": module in _HELPERS}
    known |= _FACTS.get(("srcdiff.runtime", name), {})
    known["probed"] = known["probed"] and known["effect"] is Effect.NONE
    if module == "workspace":  # arrays that are there for the next call as well
        known |= {"writes": Which.EVERY, "result": Result.PART, "shares": Which.EVERY}
    found = Operation(f"{home}.{name}", **known)
    _found[id(fn)] = fn, found
    return found


def _of_library(fn: Any) -> Operation | None:
    """What is known of other callees of NumPy, SciPy and Python: they write into nothing."""
    home = _home(fn)
    known = home.split(".")[0] in _LIBRARIES or isinstance(fn, np.ufunc)
    builtin = getattr(builtins, getattr(fn, "__name__", ""), None) is fn
    masked = known and f"{getattr(fn, '__module__', '')}.".startswith(_MASKED)
    if not known and not builtin:
        return None
    return Operation(home, **(_UNPLACED if masked else {}), axes=_axes_of_ufunc(fn))


def _home(fn: Any) -> str:
    """The module that a callee is of, whatever it says of itself."""
    if isinstance(fn, MethodType):
        return _home(fn.__func__)
    if isinstance(fn, FunctionType):
        home = str(fn.__globals__.get("__name__"))
        wrapped = fn.__dict__.get("__wrapped__") if home == "contextlib" else None
        return home if wrapped is None else _home(wrapped)
    cls = fn if isinstance(fn, type) else type(fn)
    if cls is not fn and not isinstance(records.member(cls, "__call__"), FunctionType):
        wrapped = records.own_dict(fn).get("__wrapped__")
        bound = records.member(cls, "__self__") is not records.MISSING  # written in C
        owner = type(fn.__self__) if bound else type(None)
        home = str(getattr(fn, "__module__", None) or owner.__module__)
        return home if wrapped is None else _home(wrapped)
    module = sys.modules.get(str(cls.__module__))
    known = module is not None and vars(module).get(cls.__name__) is cls
    return str(cls.__module__) if known else ""


def _is_of_distribution(fn: MethodType) -> bool:
    """Whether a method is one of a distribution of SciPy's own that draws nothing."""
    owner = getattr(fn.__self__, "dist", fn.__self__) if _is_of_stats(fn.__self__) else None
    return fn.__name__ in DISTRIBUTION_METHODS and owner is not None and _is_of_stats(owner)


def _is_of_stats(value: Any) -> bool:
    """Whether the class of an object is one of `scipy.stats`."""
    return str(getattr(type(value), "__module__", "")).startswith("scipy.stats.")


# --- methods and attributes, by their names -------------------------------------------------------


_HOLDING_METHODS = _words("""
    append appendleft clear copy extend get insert items keys pop popleft reverse setdefault update
    values
""")


@lru_cache(maxsize=1024)
def _of_method(name: str) -> Operation:
    """What is known of a method of arrays, numbers, containers and sparse matrices."""
    facts = {"effect": Effect.NONE} if name in PURE_METHODS or name in MUTATORS else _ANY_METHOD
    as_function = _FACTS.get(("numpy", name), {}) if hasattr(np.ndarray, name) else {}
    axes = _FACTS.get(("numpy", name), {}).get("axes")
    own = {**_FACTS.get(("methods", name), {}), "holds": name in _HOLDING_METHODS}
    return Operation(name, **{**facts, **as_function, **own, "probed": False, "axes": axes})


_ANY_METHOD = {"writes": Which.PLACED, "result": Result.PART, "shares": Which.PLACED}


@lru_cache(maxsize=1024)
def _of_attribute(name: str) -> Operation:
    """What is known of an attribute."""
    own = _FACTS.get(("attributes", name), {})
    axes = own.get("axes") or _FACTS.get(("numpy", name), {}).get("axes")
    asked = axes is not None and axes.meaning is Meaning.ASKED
    shared = {} if asked else {"result": Result.PART, "shares": Which.FIRST}
    return Operation(name, Effect.NONE, **{**shared, **own, "axes": axes})
