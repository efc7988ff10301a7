"""Where the calls of a derivative for CuPy arrays are computed, and those that CuPy lacks.

Takes a finished function and the kinds of its parameters; returns it with the calls of NumPy marked
that compute numbers of the host from such: they stay NumPy's.  Whatever else NumPy has is called by
the same name in CuPy, or refused.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from srcdiff import ir
from srcdiff.backends.cupy.conform import Conformer
from srcdiff.backends.cupy.fetched import plain_tests
from srcdiff.errors import MissingRuleError
from srcdiff.ir.kinds import Kind
from srcdiff.kinds.atoms import atom_kind, kind_of_call
from srcdiff.kinds.devices import is_host_call
from srcdiff.kinds.interpreter import infer
from srcdiff.primitives.effects import is_ufunc_at, module_of
from srcdiff.primitives.views import is_array
from srcdiff.runtime import arrays
from srcdiff.runtime.devices import OnHost, on_device


def placed_calls(function: ir.Function, params: Mapping[str, Kind]) -> ir.Function:
    """The function with its calls on the host marked, where it is for CuPy arrays.

    Raises:
        MissingRuleError: it calls a function that CuPy does not have.
    """
    if not on_device():
        return function
    function = plain_tests(function)
    kinds = infer(function, params)
    conformer = Conformer(kinds, ir.Fresh(ir.all_names(function)))

    def block(inner: ir.Block) -> ir.Block:
        return tuple(new for s in inner for new in stmt(s))

    def stmt(s: ir.Stmt) -> ir.Block:
        conformer.before = []
        if isinstance(s, (ir.Assign, ir.Effect)) and isinstance(s.rhs, ir.Call):
            s = replace(s, rhs=_placed(s.rhs, conformer, s.loc))
        elif isinstance(s, ir.For) and isinstance(s.iter, ir.Call):
            s = replace(s, iter=_placed(s.iter, conformer, s.loc))
        before = tuple(conformer.before)
        return (*before, ir.map_blocks(s, block))

    return replace(function, body=block(function.body))


def _placed(call: ir.Call, conformer: Conformer, loc: ir.Loc) -> ir.Call:
    """A call as it is made beside arrays of CuPy."""
    other = call.args[1] if call.fn is operator.is_ else None
    if isinstance(other, ir.Ref) and _path_of(other.value):
        # What stands in a container may be the function of either module.
        either = (other, ir.Ref(other.text, OnHost(other.value)))
        return ir.Call(operator.contains, (ir.Tup(either), call.args[0]))
    if getattr(call.fn, "__name__", "") in _OF_NUMPY and module_of(call.fn) == "numpy":
        return replace(call, fn=OnHost(call.fn))
    kinds = conformer.kinds
    operands = tuple(atom_kind(a, kinds) for a in (*call.args, *(v for _, v in call.kwargs)))
    if is_host_call(call.fn, operands, kind_of_call(call, kinds)):
        # The name of a helper means its twin for CuPy, which takes numbers as well.
        return replace(call, fn=OnHost(call.fn)) if _path_of(call.fn) else call
    if _is_number(call.fn) and len(operands) == 1 and is_array(operands[0]):
        dtype = ir.Ref(f"np.{call.fn.__name__}", call.fn)  # type: ignore[union-attr]
        return ir.Call(ir.Method("astype"), (call.args[0], dtype))
    if call.fn in (operator.getitem, arrays.unbroadcast) and is_array(operands[0]):
        return replace(call, args=(call.args[0], conformer.listed(call.args[1], loc)))
    check_known(call.fn, loc)
    if is_ufunc_at(call.fn):
        return conformer.at(call, loc)
    if _is_outer(call.fn):
        return conformer.outer(call, loc)
    if isinstance(call.fn, ir.Method) and call.fn.name == "dot":
        return conformer.outer(call, loc)
    path = _path_of(call.fn)
    return conformer.call(call, path, loc) if path else call


def _is_number(fn: Any) -> bool:
    """Whether a function is a class of NumPy's numbers."""
    return isinstance(fn, type) and issubclass(fn, np.number)


def _is_outer(fn: Any) -> bool:
    """Whether a function is `outer` of a ufunc."""
    return isinstance(getattr(fn, "__self__", None), np.ufunc) and fn.__name__ == "outer"


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
    """A module as users call it."""
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


def _names(text: str) -> frozenset[str]:
    """The words of a text."""
    return frozenset(text.split())


_OF_SCIPY = {
    "srcdiff.runtime.scipy.curves": "scipy.interpolate",
    "srcdiff.runtime.scipy.sparse": "scipy.sparse",
    "srcdiff.runtime.scipy.integrals": "scipy.integrate",
    "srcdiff.runtime.scipy.normal": "scipy.stats",
    "srcdiff.runtime.scipy.odes": "scipy.integrate",
    "srcdiff.runtime.scipy.roots": "scipy.optimize",
}
"""Helpers that call SciPy with arrays of the host, and what they are of."""

_OF_NUMPY = ("seterr", "geterr", "errstate", "seterrcall", "set_printoptions")
"""What tells NumPy how to behave, and CuPy has no part in."""

_METHODS: Mapping[str, frozenset[str]] = {
    "reduce": _names("add multiply"),
    "accumulate": _names("add multiply"),
    "reduceat": _names("add"),
    "at": _names("add subtract maximum minimum bitwise_and bitwise_or bitwise_xor"),
}
"""The ufuncs of CuPy that have a method."""

MISSING: Mapping[str, frozenset[str]] = {
    "numpy": _names(
        """asmatrix block bmat einsum_path frompyfunc geomspace histogram_bin_edges insert matvec
        nanpercentile nanquantile ndenumerate nditer polyder polydiv polyint spacing
        unstack vecdot vecmat isnat"""
    ),
    "numpy.linalg": _names(
        """diagonal matrix_norm multi_dot outer svdvals tensordot trace vecdot vector_norm"""
    ),
}
"""What NumPy has and CuPy 14 lacks."""

KNOWN: Mapping[str, frozenset[str]] = {
    "scipy.special": _names(
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
    "scipy.linalg": _names(
        """bandwidth block_diag circulant dft expm hadamard hankel helmert hilbert khatri_rao kron
        leslie lu lu_factor lu_solve companion convolution_matrix fiedler
        fiedler_companion solve_triangular toeplitz tri tril triu"""
    ),
    "scipy.fft": _names(
        """dct dctn dst dstn fft fft2 fftfreq fftn fftshift fht hfft hfft2 hfftn idct idctn idst
        idstn ifft ifft2 ifftn ifftshift ifht ihfft ihfft2 ihfftn irfft irfft2 irfftn
        next_fast_len rfft rfft2 rfftfreq rfftn"""
    ),
    "scipy.signal": _names(
        """convolve convolve2d correlate correlate2d detrend fftconvolve lfilter oaconvolve"""
    ),
    "scipy.ndimage": _names(
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
