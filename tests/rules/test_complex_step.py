"""Tangents against complex steps, to rounding, wherever there is one.

`WITHOUT` says where there is none of what takes complex numbers, and why; it is tested too.
"""

import operator
from fnmatch import fnmatchcase

import numpy as np
import pytest

import srcdiff
from tests.rules import complex_step
from tests.rules.sample_checks import copies, leaves, weighted
from tests.rules.samples import collected, direction
from tests.support.part import lots

ONCE = {(s.rule, s.call): s for s in collected()}.values()
APART = ("as_reals_", "of_reals_")  # they take complex numbers apart: their shape is another one
CANDIDATES = complex_step.candidates([s for s in ONCE if s.rule.name not in APART])

WITHOUT = {
    "it is not holomorphic": (
        "cho_solve:*", "cholesky:*", "cond:*", "conjugate:*", "eigvalsh:*", "lu_solve:*trans=2)",
        "matrix_norm:*", "polar:*", "correlate:*", "correlate2d:*", "correlate1d:*, A(*",
        "eig_back:*", "from_triangle:*", "to_triangle:*",
        "lstsq:*", "norm:*",
        "norm_order:*(A(?, ?*", "norm_order:*(A(4), [12-]*", "norm_order:*(A(4), np*",
        "pinv:*(A([34], [34]))", "pinv:*(A(2, *", "qr:*",
        "qr_along:*A(*", "squared_modulus_:*A(*", "eigvalsh_back_along:*A(3), A(3, 3)*",
        "svdvals_back_part:*",
        "poly:poly(V(*", "poly:poly(np.roots*",
        "real:*", "sign:*", "slogdet:*", "solve:*'pos')", "std:*", "svdvals:*",
        "toeplitz:toeplitz(A(3))", "var:*", "var_mean*", "var_where*", "vdot:*", "vecdot:*",
        "vecmat:*",
        "vector_norm:*ord=[31-]*", "vector_norm:*ord=0.5)", "vector_norm:*ord=np.inf)",
        "vector_norm:*(A(4))", "irfft:*", "irfft2:irfft2(A*", "irfftn:*", "hfft:*",
    ),
    "it is complex for real arguments": (
        "eigvals:*V(*", "fft:*", "fft2:*", "fftn:*", "hankel[12]*", "ifft*:*",
        "lambertw:*-1)", "log:log(-P())", "roots:*2.0, 1.0*", "roots:*0.0, 0.0*", "sqrt:sqrt(-P())",
        "fftn_s:*", "ifftn_s:*", "wofz:*",
    ),
    "some of its arguments must be real": (
        "interp:interp([0V]*", "interp:*A(1), A(1))", "interpolant_:*",
        "nanmean_dtype:*float*",
    ),
    "it rounds both parts together": (
        "convolve:*fft')", "convolve:convolve(A(4, 5)*", "convolve:*mode='[cmwn]*",
        "convolve:*mode='grid-[cmw]*",
        "convolve1d:*'wrap')", "convolve1d:convolve1d(A(5), A(3))",
        "convolve:convolve(A(5), A(3))", "expi:*", "fftconvolve_along*", "gamma:gamma(-0.3*",
        "hyp0f1:hyp0f1(1.5, A(3))",
        "jv:jv([12n]*", "logm:*S*", "shichi:*", "sici:*", "sqrtm:*S*", "yv:*",
    ),
}  # fmt: skip
# Series and quotients of what is small: not quite to rounding.
ROUGH = ("eval_legendre", "hyp2f1", "sinc")
EVERY = [p for found in WITHOUT.values() for p in found]


def stands_in_table(sample):
    return any(fnmatchcase(sample.id, p) for p in EVERY)


WITH = [s for s in CANDIDATES if not stands_in_table(s)]
NONE = [s for s in CANDIDATES if stands_in_table(s)]


def moving(sample):
    """The program of a sample, weights of its results, and a direction."""
    program, w = weighted(sample)
    rng = np.random.default_rng(4)
    return program, w, [direction(a, rng) for a in program.args]


@pytest.mark.parametrize("sample", WITH, ids=lambda s: s.id)
def test_tangent_is_that_of_a_complex_step(sample):
    program, w, way = moving(sample)
    assert complex_step.exists(program, w, way)
    _, tangent = srcdiff.jvp(
        program.function, copies(program.args), tuple(way), unused="zeros"
    )
    rtol = 1e-12 if sample.rule.name in ROUGH else 1e-13
    for t, expected in zip(leaves(tangent), complex_step.derivative(program, way), strict=True):
        if t is not None:  # of integers
            scale = np.max(np.abs(expected), initial=1.0)
            np.testing.assert_allclose(t, expected, rtol=0.0, atol=rtol * scale)


def test_there_are_as_many_as_there_were():
    pytest.importorskip("scipy", reason="SciPy is an extra")
    assert len(WITH) >= 360


@lots("samples", NONE, operator.attrgetter("id"))
def test_where_there_is_no_complex_step(samples):
    for sample in samples:
        check_that_there_is_none(sample)


def check_that_there_is_none(sample):
    if sample.rule.name in ("logm", "sqrtm"):  # the forms of Schur: right to 1e-9
        return
    program, w, way = moving(sample)
    if sample.rule.name in ("interp", "interpolant_", "nanmean_dtype"):
        with pytest.raises((TypeError, np.exceptions.ComplexWarning)):
            complex_step.derivative(program, way)
    else:
        with np.errstate(all="ignore"):
            assert not complex_step.exists(program, w, way)


@pytest.mark.parametrize("pattern", EVERY)
def test_the_table_names_samples(pattern):
    pytest.importorskip("scipy", reason="SciPy is an extra")
    assert any(fnmatchcase(s.id, pattern) for s in CANDIDATES)
