"""Calls as CuPy takes them: their form, where they are computed, and those that it lacks.

Takes a finished function and the kinds of its parameters.  Calls of functions of NumPy and SciPy
beside arrays of CuPy get arrays in the place of numbers and lists where CuPy's function wants
arrays, and lose the arguments that only NumPy's has.  The calls of NumPy that compute numbers of
the host from such are marked: they stay NumPy's.  Whatever else NumPy has is called by the same
name in CuPy, or refused.
"""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from srcdiff import ir
from srcdiff.backends.cupy.transfers import plain_tests
from srcdiff.errors import MissingRuleError
from srcdiff.ir.builder import Rewriter
from srcdiff.ir.frozen import replace
from srcdiff.kinds.calls import atom_kind, is_host_call, kind_of_call
from srcdiff.kinds.interpreter import infer
from srcdiff.primitives.effects import module_of, ufunc_method
from srcdiff.primitives.ops import Op, is_op
from srcdiff.primitives.views import is_array
from srcdiff.runtime import indexing, trees
from srcdiff.runtime.devices import OnHost


class Conformer(Rewriter):
    """Puts arrays and positional arguments into calls, and marks those that are on the host."""

    def __init__(self, kinds: ir.Kinds, fresh: ir.Fresh) -> None:
        super().__init__(fresh)
        self.kinds = kinds

    def stmt(self, stmt: ir.Stmt) -> ir.Stmt:
        """A statement behind what its call needs."""
        if isinstance(stmt, (ir.Assign, ir.Effect)) and isinstance(stmt.rhs, ir.Call):
            return ir.rebuilt(stmt, rhs=_placed(stmt.rhs, self))
        if isinstance(stmt, ir.For) and isinstance(stmt.iter, ir.Call):
            stmt = replace(stmt, iter=_placed(stmt.iter, self))
        return self.inside(stmt)

    def conformed(self, call: ir.Call, path: str) -> ir.Call:
        """A call of the function at a path (`numpy.linalg.solve`) as CuPy takes it.

        Raises:
            MissingRuleError: it has an argument that CuPy's function has not.
        """
        kinds = [atom_kind(a, self.kinds) for a in call.args]
        if is_op(call, Op.ZEROS_LIKE) and ir.Maybe in map(type, kinds):  # of what has no value yet
            return replace(call, fn=trees.zeros_like, text=None)
        call = _options(_ordered(call, path), path, self.loc)
        name = path.rpartition(".")[2]
        self.check(name, call, path)
        if isinstance(call.fn, np.ufunc):
            args = [self.array(a, numbers=False) for a in call.args]
        elif name == "lfilter":
            args = [self.with_axes(a) for a in call.args[:2]]
            args += [self.array(call.args[2]), *call.args[3:]]
        elif name in _ANYTHING:
            args = list(call.args)
        else:
            wanted = _WANTED.get(name, (0,))
            args = [self.array(a) if k in wanted else a for k, a in enumerate(call.args)]
        if name in _JOINED and args and isinstance(args[0], ir.Tup):
            made = self.with_axes if name == "column_stack" else self.array
            args[0] = ir.Tup(tuple(made(a) for a in args[0].items))
        if name == "choose" and len(args) > 1:
            args[1] = self.stacked(args[1])
        return replace(call, args=tuple(args))

    def check(self, name: str, call: ir.Call, path: str) -> None:
        """Raise if CuPy's function does not take operands of these kinds.

        Raises:
            MissingRuleError: with what it does not take.
        """
        kinds = [atom_kind(a, self.kinds) for a in call.args]
        for names, lacks, what, remedy in _REFUSED:
            if name in names and lacks(kinds, call):
                short = _short(path)
                raise MissingRuleError(f"`{short}` of CuPy takes no {what}", self.loc, remedy)

    def with_axes(self, atom: ir.Atom) -> ir.Atom:
        """An operand as an array with one axis at least."""
        kind = atom_kind(atom, self.kinds)
        flat = isinstance(kind, ir.Scalar) or _rank(kind) == 0
        made = self.array(atom)
        return self.apply(np.atleast_1d, made) if flat else made

    def outer(self, call: ir.Call) -> ir.Call:
        """A call of `outer` of a ufunc, or of `dot` of an array: all operands are arrays."""
        return replace(call, args=tuple(self.array(a) for a in call.args))

    def at(self, call: ir.Call) -> ir.Call:
        """A call of `at` of a ufunc, in the dtypes for which CuPy has atomic operations."""
        dtype = getattr(atom_kind(call.args[0], self.kinds), "dtype", None)
        if is_op(call, Op.SUBTRACT_AT_UFUNC):
            minus = self.apply(np.negative, *call.args[2:])
            call = replace(call, fn=np.add.at, args=(*call.args[:2], minus), text=None)
        if is_op(call, Op.ADD_AT_UFUNC) and (dtype is None or dtype.startswith("complex")):
            return replace(call, fn=trees.add_at, text=None)
        if is_op(call, Op.EXTREME_AT_UFUNC) and dtype not in ("float32", "int32"):
            ufunc = call.fn.__self__  # type: ignore[union-attr]
            which = ir.Ref(f"np.{ufunc.__name__}", ufunc)
            return replace(call, fn=indexing.extreme_at, args=(which, *call.args), text=None)
        return call

    def array(self, atom: ir.Atom, numbers: bool = True) -> ir.Atom:
        """An operand as an array, if it is a list, or (`numbers`) a number."""
        kind = atom_kind(atom, self.kinds)
        if not isinstance(kind, (ir.Scalar, ir.List, ir.Tuple) if numbers else (ir.List, ir.Tuple)):
            return atom
        return self.apply(np.asarray, atom)

    def listed(self, atom: ir.Atom) -> ir.Atom:
        """An index or operand with arrays in the place of lists of arrays."""
        if isinstance(atom, ir.Tup):
            return ir.Tup(tuple(self.listed(a) for a in atom.items))
        kind = atom_kind(atom, self.kinds)
        of_arrays = isinstance(kind, ir.List) and any(
            isinstance(k, ir.Array) for k in ir.contents(kind)
        )
        return self.array(atom) if of_arrays else atom

    def stacked(self, atom: ir.Atom) -> ir.Atom:
        """A tuple or list of arrays as one array."""
        if not isinstance(atom_kind(atom, self.kinds), (ir.List, ir.Tuple)):
            return atom
        star = ir.Star(atom) if not isinstance(atom, ir.Tup) else None
        items: tuple[Any, ...] = (star,)
        if isinstance(atom, ir.Tup):
            items = tuple(self.array(a) for a in atom.items)
        same = self.apply(np.broadcast_arrays, *items)
        return self.apply(np.stack, same)


def _ordered(call: ir.Call, path: str) -> ir.Call:
    """A call with names for the arguments that CuPy has in another order."""
    place = _OTHERWISE.get(path, len(call.args))
    named = tuple(zip(("density", "weights"), call.args[place:]))
    return replace(call, args=call.args[:place], kwargs=(*call.kwargs, *named)) if named else call


def _rank(kind: ir.Kind) -> int | None:
    """The rank of an array of which it is known."""
    dims = getattr(kind, "dims", None)
    return None if dims is None else len(dims)


def _unlike_stacks(kinds: list[ir.Kind], call: ir.Call) -> bool:
    """Whether matrices and right-hand sides are in stacks of unlike ranks."""
    a, b = map(_rank, kinds[:2])
    return None not in (a, b) and b != 1 and a != b


def _is_listed(kind: ir.Kind) -> bool:
    """Whether a kind is that of a tuple or list with one in it."""
    return any(isinstance(k, (ir.List, ir.Tuple)) for k in ir.inside(kind))


def _options(call: ir.Call, path: str, loc: ir.Loc) -> ir.Call:
    """A call without keywords that CuPy's function does not know.

    Raises:
        MissingRuleError: one of them says something, and has no place.
    """
    args, kept = list(call.args), []
    name = path.rpartition(".")[2]
    for keyword, value in call.kwargs:
        place = _RENAMED.get(name, {}).get(keyword or "")
        if place is not None and place == len(args):
            args.append(value)
        elif place is not None or name in _LACKING.get(keyword or "", ()):
            if not _says_nothing(call.fn, keyword or "", value):
                short = _short(path)
                raise MissingRuleError(
                    f"`{short}` of CuPy has no argument `{keyword}`",
                    loc,
                    _REMEDY.get(keyword or "", "Leave it out, or pass NumPy arrays."),
                )
        else:
            kept.append((keyword, value))
    return replace(call, args=tuple(args), kwargs=tuple(kept))


def _says_nothing(fn: Any, keyword: str, value: ir.Atom) -> bool:
    """Whether an argument is what a function takes without it."""
    if not isinstance(value, ir.Const):
        return False
    default = _defaults(fn).get(keyword, inspect.Parameter.empty)
    if type(default).__name__ == "_NoValueType":
        return value.value is None
    return bool(value.value == default)


@lru_cache(maxsize=256)
def _defaults(fn: Any) -> Mapping[str, Any]:
    """The default values of a function's parameters, as far as they are known."""
    try:
        parameters = inspect.signature(fn).parameters
    except (TypeError, ValueError):
        return {}
    return {name: p.default for name, p in parameters.items()}


def _words(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


_OTHERWISE: Mapping[str, int] = {"numpy.histogramdd": 3, "numpy.histogram2d": 4}
"""From where on functions of NumPy take `density, weights`, and those of CuPy the reverse."""

_REFUSED: tuple[tuple[frozenset[str], Callable[..., bool], str, str], ...] = (
    (
        _words("erf erfc erfcx exp1 expi ndtr log_ndtr"),
        lambda kinds, call: (getattr(kinds[0], "dtype", None) or "").startswith("complex"),
        "complex numbers", "Take it of real numbers, or pass NumPy arrays.",
    ),
    (
        _words("convolve convolve1d correlate correlate1d gaussian_filter gaussian_filter1d "
               "uniform_filter uniform_filter1d"),
        lambda kinds, call: ("mode", ir.Const("grid-constant")) in call.kwargs,
        "mode 'grid-constant'", "Pad with `np.pad` first, or use mode 'constant'.",
    ),
    (
        _words("polyval"), lambda kinds, call: (_rank(kinds[0]) or 0) > 1,
        "coefficients with several axes", "Evaluate it with Horner's scheme in a loop.",
    ),
    (
        _words("solve"), _unlike_stacks,
        "stacks of unlike ranks", "Repeat the operand with `np.broadcast_to` first.",
    ),
    (
        _words("expm"), lambda kinds, call: (_rank(kinds[0]) or 2) > 2,
        "stacks of matrices", "Take it of each matrix in a loop.",
    ),
    (
        _words("pad"), lambda kinds, call: len(kinds) > 1 and isinstance(kinds[1], ir.Dict),
        "widths in a dict", "Write the widths as a tuple of pairs.",
    ),
    (
        _words("histogramdd histogram2d"),
        lambda kinds, call: any(map(_is_listed, kinds[1:3] if len(kinds) < 3 else kinds[1:2])),
        "edges in lists", "Make arrays of them.",
    ),
)  # fmt: skip
"""What functions of CuPy do not take, by their names: whether, what, and what to do instead."""

_ANYTHING = _words(
    """array asarray asanyarray ascontiguousarray asfortranarray full zeros ones empty arange
    linspace logspace eye identity tri indices fromfunction real imag angle isclose allclose select
    piecewise concatenate concat stack vstack hstack dstack column_stack meshgrid ix_ fftfreq
    rfftfreq atleast_1d atleast_2d atleast_3d copyto ravel_multi_index unravel_index append diag
    diagflat kron vander cross average cond tile resize around round nan_to_num tril triu diff
    gradient fftshift ifftshift block_diag hadamard hilbert helmert dft next_fast_len shape ndim
    size iscomplexobj isrealobj isscalar iterable result_type can_cast promote_types finfo iinfo
    may_share_memory shares_memory broadcast_shapes broadcast_arrays issubdtype min_scalar_type
    dtype einsum histogramdd apply_along_axis apply_over_axes tril_indices triu_indices diag_indices
    mask_indices vectorize seed default_rng bartlett blackman hamming hanning kaiser __getitem__"""
)
"""Functions of CuPy that take numbers and lists as well, or take no arrays."""

_WANTED: Mapping[str, tuple[int, ...]] = {
    **dict.fromkeys(
        ("dot", "inner", "outer", "vdot", "tensordot", "solve", "tensorsolve", "lstsq", "convolve",
         "correlate", "convolve2d", "correlate2d", "fftconvolve", "oaconvolve", "trapezoid",
         "searchsorted", "digitize", "bincount", "isin", "take_along_axis", "array_equal",
         "solve_triangular", "polygamma", "toeplitz", "convolve1d", "correlate1d"), (0, 1),
    ),
    **dict.fromkeys(("interp", "putmask"), (0, 1, 2)),
    "compress": (1,),
    "extract": (0, 1),
    "lu_solve": (1,),
}  # fmt: skip
"""The positions at which functions of CuPy want arrays, where these are not the first alone."""

_JOINED = _words("concatenate concat stack column_stack")
"""Functions of a tuple of arrays, in which CuPy wants no numbers."""

_WHERE = "Select first, or use `np.where`."
_REMEDY: Mapping[str, str] = {
    "where": _WHERE,
    "initial": "Take `np.maximum`, `np.minimum`, a sum or a product with it.",
    "upper": "Write `np.linalg.cholesky(a).conj().T`.",
    "hermitian": "Use the eigenvalues: `np.linalg.eigh`.",
}

_LACKING: Mapping[str, frozenset[str]] = {
    "where": _words(
        """all amax amin any max mean min nanmax nanmean nanmin nanprod nanstd nansum nanvar prod
        std sum var"""
    ),
    "initial": _words("amax amin max min nanmax nanmin nanprod nansum prod sum"),
    **dict.fromkeys(("mean", "correction"), _words("nanstd nanvar std var")),
    **dict.fromkeys(("stable", "order", "descending"), _words("sort argsort")),
    "device": _words(
        """asanyarray asarray astype empty empty_like eye full full_like linspace ones ones_like
        zeros zeros_like fftfreq rfftfreq"""
    ),
    "like": _words(
        """arange array asanyarray asarray ascontiguousarray asfortranarray empty eye full identity
        ones require tri zeros"""
    ),
    "subok": _words("broadcast_to broadcast_arrays copy"),
    "kind": _words("isin partition argpartition"),
    "weights": _words("percentile quantile"),
    "keepdims": _words("count_nonzero"),
    "sparse": _words("indices"),
    "mode": _words("take"),
    "upper": _words("cholesky"),
    "hermitian": _words("svd pinv matrix_rank"),
    "rtol": _words("pinv matrix_rank"),
    "sorted": _words("unique"),
    "out": _words("fft ifft fft2 ifft2 fftn ifftn rfft irfft rfft2 irfft2 rfftn irfftn hfft ihfft"),
    **dict.fromkeys(
        ("workers", "orthogonalize"),
        _words(
            """dct dctn dst dstn idct idctn idst idstn fft ifft fft2 ifft2 fftn ifftn rfft irfft
            rfft2 irfft2 rfftn irfftn hfft ihfft hfft2 hfftn ihfft2 ihfftn"""
        ),
    ),
    "radius": _words("gaussian_filter1d"),
}
"""Arguments of NumPy's and SciPy's functions (by name) that those of CuPy have not."""

_RENAMED: Mapping[str, Mapping[str, int]] = {
    "reshape": {"shape": 1},
    "unravel_index": {"shape": 1},
    **dict.fromkeys(("flip", "fliplr", "flipud", "rot90", "cov"), {"m": 0}),
    **dict.fromkeys(("concatenate", "concat", "stack"), {"arrays": 0}),
    **dict.fromkeys(("take_along_axis", "ediff1d"), {"arr": 0, "ary": 0}),
    **dict.fromkeys(("union1d", "intersect1d"), {"ar1": 0, "ar2": 1}),
    "delete": {"obj": 1},
    "extract": {"arr": 1},
    "corrcoef": {"x": 0},
    "histogram": {"a": 0},
    "clip": {"min": 1, "max": 2},
    "array": {"object": 0},
    "matrix_power": {"a": 0},
    "matrix_rank": {"A": 0},
}
"""Arguments that CuPy calls otherwise, with their positions."""


# --- where calls are computed, and those that CuPy lacks ------------------------------------------


def placed_calls(function: ir.Function, params: ir.Kinds) -> ir.Function:
    """The function with its calls on the host marked, where it is for CuPy arrays.

    Raises:
        MissingRuleError: it calls a function that CuPy does not have.
    """
    function = plain_tests(function)
    kinds = infer(function, params)
    return Conformer(kinds, ir.Fresh(ir.all_names(function))).function(function)


def _placed(call: ir.Call, conformer: Conformer) -> ir.Call:
    """A call as it is made beside arrays of CuPy."""
    other = call.args[1] if is_op(call, Op.IS) else None
    if isinstance(other, ir.Ref) and _path_of(other.value):
        # What stands in a container may be the function of either module.
        either = (other, ir.Ref(other.text, OnHost(other.value)))
        return ir.Call(operator.contains, (ir.Tup(either), call.args[0]))
    if is_op(call, Op.SETTINGS):
        return replace(call, fn=OnHost(call.fn))
    kinds = conformer.kinds
    operands = tuple(atom_kind(a, kinds) for a in (*call.args, *(v for _, v in call.kwargs)))
    if is_host_call(call.fn, operands, kind_of_call(call, kinds, True)):
        # The name of a helper means its twin for CuPy, which takes numbers as well.
        return replace(call, fn=OnHost(call.fn)) if _path_of(call.fn) else call
    if _is_number(call.fn) and len(operands) == 1 and is_array(operands[0]):
        dtype = ir.Ref(f"np.{call.fn.__name__}", call.fn)  # type: ignore[union-attr]
        return ir.Call(ir.Method("astype"), (call.args[0], dtype))
    if is_op(call, Op.GETITEM, Op.UNBROADCAST) and is_array(operands[0]):
        return replace(call, args=(call.args[0], conformer.listed(call.args[1])))
    check_known(call.fn, conformer.loc)
    if ufunc_method(call.fn) == "at":
        return conformer.at(call)
    if ufunc_method(call.fn) == "outer" or is_op(call, Op.DOT_METHOD):
        return conformer.outer(call)
    path = _path_of(call.fn)
    return conformer.conformed(call, path) if path else call


def _is_number(fn: Any) -> bool:
    """Whether a function is a class of NumPy's numbers."""
    return isinstance(fn, type) and issubclass(fn, np.number)


def check_known(fn: Any, loc: ir.Loc) -> None:
    """Raise if a function of NumPy or SciPy is not in CuPy.

    Raises:
        MissingRuleError: with what to write instead.
    """
    missing = _missing(fn)
    if missing:
        name = missing.rpartition(".")[2]
        remedy = _INSTEAD.get(name, "Write it with functions that CuPy has, or pass NumPy arrays.")
        raise MissingRuleError(f"CuPy has no `{missing}`", loc, remedy)


def _missing(fn: Any) -> str:
    """What users call a function that CuPy lacks, "" for one that it has."""
    owner = getattr(fn, "__self__", None)
    if isinstance(owner, np.ufunc):
        known = _METHODS.get(fn.__name__, (owner.__name__,))
        return "" if owner.__name__ in known else f"np.{owner.__name__}.{fn.__name__}"
    module, _, name = _path_of(fn).rpartition(".")
    known = KNOWN.get(module, frozenset()) if module.startswith("scipy") else (name,)
    there = not module or (name in known and name not in MISSING.get(module, ()))
    return "" if there else f"{_short(module)}.{name}"


def _short(module: str) -> str:
    """A module, or a function in it, as users call it."""
    return module.replace("numpy", "np", 1)


def _path_of(fn: Any) -> str:
    """The name of a function of NumPy or SciPy with its module, "" for anything else."""
    if isinstance(fn, (ir.Method, ir.Attr, ir.Name, ir.Derived, type)):
        return ""
    name, module = getattr(fn, "__name__", ""), module_of(fn)
    if module in _OF_SCIPY:
        return f"{_OF_SCIPY[module]}.{name}"
    if isinstance(fn, np.ufunc) and getattr(np, name, None) is not fn:
        return f"scipy.special.{name}"
    if isinstance(fn, np.ufunc):
        return f"numpy.{name}"
    parts = [p for p in module.split(".")[:2] if not p.startswith("_")]
    return ".".join((*parts, name)) if parts and parts[0] in ("numpy", "scipy") else ""


_OF_SCIPY = {
    "srcdiff.runtime.scipy.curves": "scipy.interpolate",
    "srcdiff.runtime.scipy.sparse": "scipy.sparse",
    "srcdiff.runtime.scipy.integrals": "scipy.integrate",
    "srcdiff.runtime.scipy.distributions": "scipy.stats",
    "srcdiff.runtime.scipy.roots": "scipy.optimize",
}
"""Helpers that call SciPy with arrays of the host, and what they are of."""

_METHODS: Mapping[str, frozenset[str]] = {
    "reduce": _words("add multiply"),
    "accumulate": _words("add multiply"),
    "reduceat": _words("add"),
    "at": _words("add subtract maximum minimum bitwise_and bitwise_or bitwise_xor"),
}
"""The ufuncs of CuPy that have a method."""

MISSING: Mapping[str, frozenset[str]] = {
    "numpy": _words(
        """asmatrix block bmat einsum_path frompyfunc geomspace histogram_bin_edges insert matvec
        nanpercentile nanquantile ndenumerate nditer polyder polydiv polyint spacing
        unstack vecdot vecmat isnat"""
    ),
    "numpy.linalg": _words(
        """diagonal matrix_norm multi_dot outer svdvals tensordot trace vecdot vector_norm"""
    ),
}
"""What NumPy has and CuPy 14 lacks."""

KNOWN: Mapping[str, frozenset[str]] = {
    "scipy.special": _words(
        """bdtr bdtrc bdtri beta betainc betaincinv betaln binom boxcox boxcox1p cbrt chdtr chdtrc
        chdtri cosdg cosm1 cotdg digamma ellipeinc ellipj ellipk ellipkinc ellipkm1 entr
        erf erfc erfcinv erfcx erfinv exp1 exp10 exp2 expi expit expm1 expn exprel fdtr
        fdtrc fdtri gamma gammainc gammaincc gammainccinv gammaincinv gammaln gammasgn
        gdtr gdtrc huber i0 i0e i1 i1e inv_boxcox inv_boxcox1p j0 j1 k0 k0e k1 k1e
        kl_div lambertw log1p log_expit log_ndtr log_softmax loggamma logit logsumexp
        lpmv multigammaln nbdtr nbdtrc nbdtri ndtr ndtri pdtr pdtrc pdtri poch polygamma
        pseudo_huber psi radian rel_entr rgamma round shichi sici sinc sindg softmax
        sph_harm_y spherical_yn tandg wright_bessel xlog1py xlogy y0 y1 yn zeta zetac"""
    ),
    "scipy.linalg": _words(
        """bandwidth block_diag circulant dft expm hadamard hankel helmert hilbert khatri_rao kron
        leslie lu lu_factor lu_solve companion convolution_matrix fiedler
        fiedler_companion solve_triangular toeplitz tri tril triu"""
    ),
    "scipy.fft": _words(
        """dct dctn dst dstn fft fft2 fftfreq fftn fftshift fht hfft hfft2 hfftn idct idctn idst
        idstn ifft ifft2 ifftn ifftshift ifht ihfft ihfft2 ihfftn irfft irfft2 irfftn
        next_fast_len rfft rfft2 rfftfreq rfftn"""
    ),
    "scipy.signal": _words(
        """convolve convolve2d correlate correlate2d detrend fftconvolve lfilter oaconvolve"""
    ),
    "scipy.ndimage": _words(
        """convolve convolve1d correlate correlate1d gaussian_filter gaussian_filter1d
        uniform_filter uniform_filter1d"""
    ),
}
"""What CuPy 14 has of SciPy, as far as it is used with a derivative."""

_INSTEAD: Mapping[str, str] = {
    "reduce": "Write the function that it is: `np.max` for `np.maximum.reduce`.",
    "block": "Write `np.concatenate` of `np.concatenate`s.",
    "geomspace": "Write `np.exp(np.linspace(np.log(a), np.log(b), n))`.",
    "insert": "Write `np.concatenate` of the parts.",
    "multi_dot": "Write `a @ b @ c`.",
    "unstack": "Index the axis: `x[0], x[1]`.",
    "vecdot": "Write `np.sum(x * y, axis=-1)`.",
    "matvec": "Write `(a @ x[..., None])[..., 0]`.",
    "vecmat": "Write `(x[..., None, :] @ a)[..., 0, :]`.",
    "vector_norm": "Write `np.sqrt(np.sum(x * x))`, or `np.linalg.norm`.",
    "matrix_norm": "Write `np.linalg.norm(a, axis=(-2, -1))`.",
    "svdvals": "Write `np.linalg.svd(a, compute_uv=False)`.",
    "nanquantile": "Select first: `np.quantile(x[~np.isnan(x)], q)`.",
    "nanpercentile": "Select first: `np.percentile(x[~np.isnan(x)], q)`.",
    "trapezoid": "Write `np.trapezoid`.",
    **dict.fromkeys(
        ("cholesky", "det", "eigh", "eigvalsh", "inv", "lstsq", "norm", "pinv", "qr", "solve",
         "svd"),
        "The function of this name in `np.linalg` has a counterpart.",
    ),
}  # fmt: skip
