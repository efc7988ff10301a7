"""Functions for compiled loops: what NumPy gives, in vectors, with and without libmvec."""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

numba = pytest.importorskip("numba")

import srcdiff.backends.numba.vector_math as vm  # noqa: E402  (needs Numba)
from srcdiff.backends.numba.vector_math import circular, libmvec  # noqa: E402

ROOT = Path(__file__).parents[3]
DTYPES = (np.float64, np.float32)
NAMES = tuple(libmvec.ARITIES)
ONE = tuple(n for n in NAMES if libmvec.ARITIES[n] == 1)
TWO = tuple(n for n in NAMES if libmvec.ARITIES[n] == 2)
ULPS = 4.0  # libmvec's own limit
OWN_ULPS = {"exp": 1.1, "expm1": 2.0, "log": 1.0, "log1p": 1.0, "tanh": 2.6, "sin": 1.6, "cos": 1.6}

# Arguments in which a function may go wrong, beside those that all are tried with.
EDGES = {
    "exp": (88.72, 88.73, -87.4, -103.9, -104.1, 709.78, 709.79, -708.5, -745.1, -745.2),
    "exp2": (127.9, 128.0, -126.5, -149.0, -150.5, 1023.9, 1024.0, -1074.0, -1075.5),
    "expm1": (88.72, 88.73, 709.78, 709.79, -37.0, -60.0, -745.0, 1e-17, -1e-17),
    "sinh": (89.4, 89.5, 710.47, 710.48, -710.48), "cosh": (89.4, 89.5, 710.47, 710.48),
    "tanh": (19.0, 22.0, -22.0, 400.0, 1e-17), "erf": (5.9, -6.1), "erfc": (10.05, 26.5, 27.3),
    "log1p": (-0.999999, 1e16, 1e-17, -1e-17), "acosh": (1.0000001,), "atanh": (0.9999999,),
    "asin": (0.9999999, 1.0000001), "acos": (0.9999999, 1.0000001),
}  # fmt: skip
EXTREME = (0.0, 1.0, 0.5, 2.0, 3.0, 1e-20, 1e10, 2.0**48, 2.0**48 + 1.0, 1e15, 1e22, 1e30)
# Ranges in which errors are measured.
RANGES = {
    "exp": ((-1, 1), (-80, 80), (-700, 700)), "exp2": ((-1, 1), (-120, 120), (-1000, 1000)),
    "expm1": ((-1e-3, 1e-3), (-1, 1), (-30, 80), (-30, 700)),
    "log": ((0.5, 2), (1e-10, 1e10), (1e-300, 1e300)), "log2": ((0.5, 2), (1e-10, 1e10)),
    "log10": ((0.5, 2), (1e-10, 1e10)), "log1p": ((-1e-3, 1e-3), (-0.9, 2), (0, 1e10)),
    "sin": ((-1, 1), (-1000, 1000), (-1e9, 1e9), (-2e14, 2e14), (-1e22, 1e22)),
    "cos": ((-1, 1), (-1000, 1000), (-1e9, 1e9), (-2e14, 2e14), (-1e22, 1e22)),
    "tan": ((-1, 1), (-1000, 1000), (-1e9, 1e9)), "asin": ((-1, 1), (-1e-3, 1e-3)),
    "acos": ((-1, 1),), "atan": ((-1, 1), (-1e5, 1e5)), "sinh": ((-1, 1), (-80, 80)),
    "cosh": ((-1, 1), (-80, 80)), "tanh": ((-1e-3, 1e-3), (-1, 1), (-20, 20)),
    "asinh": ((-1, 1), (-1e6, 1e6)), "acosh": ((1, 2), (1, 1e6)), "atanh": ((-1, 1),),
    "cbrt": ((-10, 10), (1e-30, 1e30)), "erf": ((-1, 1), (-6, 6)), "erfc": ((-1, 1), (-5, 9)),
}  # fmt: skip
PAIRS = {
    "atan2": (((-1, 1), (-1, 1)), ((-1e8, 1e8), (-1, 1))),
    "hypot": (((-1, 1), (-1, 1)), ((-1e18, 1e18), (-1e18, 1e18))),
    "pow": (((0.5, 2), (-10, 10)), ((1e-5, 1e5), (-5, 5))),
}


def is_own(name, bits):
    """Whether a function needs no libmvec to be vectorised."""
    has_own = circular.HAS_STRUCTS if name in ("sin", "cos") else name in OWN_ULPS
    return bits == 64 and vm.HAS_FMA and has_own


@cache
def over(name):
    """A function of this package over arrays, in a loop that may be vectorised."""
    f = getattr(vm, name)

    def one(x, out):
        vm.own_frame()
        for i in range(x.shape[0]):
            out[i] = f(x[i])

    def two(x, y, out):
        vm.own_frame()
        for i in range(x.shape[0]):
            out[i] = f(x[i], y[i])

    return numba.njit(error_model="numpy")(one if name in ONE else two)


def computed(name, *arrays):
    """What the loop computes."""
    arrays = [np.ascontiguousarray(a) for a in arrays]
    out = np.empty_like(arrays[0])
    over(name)(*arrays, out)
    return out


def reference(name, *arrays):
    """What is right, with more digits where NumPy has them."""
    with np.errstate(all="ignore"):
        if name in ("erf", "erfc"):
            return np.array([getattr(math, name)(float(x)) for x in arrays[0]])
        return getattr(np, name)(*(a.astype(np.longdouble) for a in arrays))


def errors(got, want):
    """The errors in units of the last place of the right values."""
    near = np.minimum(np.abs(want.astype(got.dtype)), got.dtype.type(0.9) * np.finfo(got.dtype).max)
    return np.abs(got.astype(np.longdouble) - want) / np.spacing(near)


def check_like_numpy(name, got, want):
    """The same NaN, infinities, zeros and signs, and elsewhere the same up to some last places."""
    np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
    some = ~np.isnan(want)
    np.testing.assert_array_equal(np.signbit(got[some]), np.signbit(want[some]))
    special = some & (np.isinf(want) | (want == 0))
    np.testing.assert_array_equal(got[special], want[special])
    finite = some & ~special
    assert np.all(got[finite] != 0)
    assert errors(got[finite], want[finite].astype(np.longdouble)).max() <= ULPS, name


def special(dtype, *more):
    """Arguments at the ends of what there is, of both signs."""
    info = np.finfo(dtype)
    ends = (info.max, info.tiny, 1.5 * info.tiny, info.smallest_subnormal, info.tiny / 8, info.eps)
    with np.errstate(over="ignore"):
        values = np.array([*ends, *EXTREME, *more, np.inf, np.nan], dtype)
    values = np.unique(np.concatenate((values, -values)))
    return np.concatenate((values, [-0.0], values)).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ONE)
def test_special_values_of_one_argument(name, dtype):
    x = np.repeat(special(dtype, *EDGES.get(name, ())), 9)
    with np.errstate(all="ignore"):
        want = reference(name, x).astype(dtype)
    check_like_numpy(name, computed(name, x), want)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", TWO)
def test_special_values_of_two_arguments(name, dtype):
    x, y = (a.ravel() for a in np.meshgrid(special(dtype), special(dtype)))
    with np.errstate(all="ignore"):
        want = reference(name, x, y).astype(dtype)
    check_like_numpy(name, computed(name, x, y), want)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ONE)
def test_errors_over_ranges(name, dtype):
    rng = np.random.default_rng(0)
    limit = OWN_ULPS[name] if is_own(name, 8 * np.dtype(dtype).itemsize) else ULPS
    for low, high in RANGES[name]:
        is_wide = low > 0 and high / low > 1e6
        x = rng.uniform(np.log(low), np.log(high), 10007) if is_wide else (
            rng.uniform(low, high, 10007)
        )  # fmt: skip
        with np.errstate(over="ignore"):
            x = (np.exp(x) if is_wide else x).astype(dtype)
            want = reference(name, x)
            in_range = np.isfinite(x) & np.isfinite(want.astype(dtype))
        found = errors(computed(name, x)[in_range], want[in_range])
        assert found.max() <= limit, (low, high)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", TWO)
def test_errors_of_two_arguments_over_ranges(name, dtype):
    rng = np.random.default_rng(0)
    for ranges in PAIRS[name]:
        x, y = (rng.uniform(*r, 10007).astype(dtype) for r in ranges)
        assert errors(computed(name, x, y), reference(name, x, y)).max() <= ULPS, ranges


# --- vectors --------------------------------------------------------------------------------------


def loops_of(function):
    """What LLVM has made of the body of a function that was compiled once."""
    (text,) = function.inspect_llvm().values()
    return re.search(r"^define [^\n]*i32 @.*?^}", text, re.M | re.S)[0]


@pytest.mark.parametrize("bits", (64, 32))
@pytest.mark.parametrize("name", NAMES)
def test_loops_are_vectors(name, bits):
    own = is_own(name, bits)
    if not own and not libmvec.variants(name, bits):
        pytest.skip("without this function in libmvec its loops are scalar")
    function = numba.njit(error_model="numpy")(over(name).py_func)
    array = numba.types.Array(numba.types.Float(f"float{bits}"), 1, "C")
    function.compile((array,) * (libmvec.ARITIES[name] + 1))
    kind = rf"<\d+ x {'double' if bits == 64 else 'float'}>"
    vectors = rf"fmul {kind}" if own else rf"call {kind} @_ZGV\w+_{name}f?\("
    if own and name in ("sin", "cos"):
        vectors = rf"call {{ {kind}, {kind} }} @srcdiff_sincos_\d"
    assert re.search(vectors, loops_of(function))


def test_sine_and_cosine_of_one_argument_are_one_call():
    if not is_own("sin", 64):
        pytest.skip("sin and cos are those of libmvec")

    @numba.njit("void(f8[::1], f8[::1])", error_model="numpy")
    def once(x, out):
        for i in range(x.shape[0]):
            out[i] = vm.sin(x[i])

    @numba.njit("void(f8[::1], f8[::1])", error_model="numpy")
    def both(x, out):
        for i in range(x.shape[0]):
            out[i] = vm.sin(x[i]) * vm.cos(x[i])

    calls = [loops_of(f).count("@srcdiff_sincos") for f in (once, both)]
    assert calls[0] == calls[1] > 0


@pytest.mark.parametrize("kind", ("f8", "f4"))
def test_sums_and_maxima_are_vectors(kind):
    @numba.njit(f"UniTuple({kind}, 2)({kind}[::1])", error_model="numpy")
    def reduced(x):
        total = top = x[0]
        for i in range(1, x.shape[0]):
            total = vm.add(total, x[i])
            top = vm.maximum(top, x[i])
        return total, top

    element = "double" if kind == "f8" else "float"
    assert re.search(rf"fadd reassoc nsz contract <\d+ x {element}>", loops_of(reduced))
    x = np.arange(1003.0).astype(kind)
    assert reduced(x) == (x.sum(dtype="f8"), x.max())
    x[7] = np.nan
    assert np.isnan(reduced(x)).all()


@pytest.mark.parametrize("name", OWN_ULPS)
def test_lanes_and_remainders_have_the_same_bits(name):
    if not is_own(name, 64):
        pytest.skip("libmvec has other last bits than libm")
    scale = 1e15 if name in ("sin", "cos") else 3.0  # for sin and cos some lanes are beyond NEAR
    x = np.abs(np.random.default_rng(0).normal(size=777)) * scale
    alone = np.concatenate([computed(name, x[i : i + 1]) for i in range(len(x))])
    np.testing.assert_array_equal(computed(name, x), alone)


# --- what calls them ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_python_computes_the_same(name):
    arguments = (1.25, 0.75)[: libmvec.ARITIES[name]]
    arguments = (0.5,) if name in ("asin", "acos", "atanh") else arguments
    expected = getattr(vm, name)(*arguments)
    arrays = [np.array([a]) for a in arguments]
    np.testing.assert_allclose(computed(name, *arrays), [expected], rtol=1e-15)


def test_types_of_results():
    @numba.njit
    def results(x, n):
        return vm.exp(x), vm.exp(n), vm.hypot(x, x), vm.hypot(x, n), vm.add(x, x), vm.add(x, n)

    results.compile((numba.float32, numba.int64))
    (made,) = results.overloads.values()
    single, double = numba.float32, numba.float64
    assert tuple(made.signature.return_type) == (single, double, single, double, single, double)


def test_sums_and_extremes_of_integers_are_integers():
    @numba.njit
    def of(i, j):
        return vm.add(i, j), vm.maximum(i, j), vm.minimum(i, j)

    large = 2**53
    assert of(large, -3) == (large - 3, large, -3)
    assert of(np.int32(1), large + 1) == (large + 2, large + 1, 1)
    for given in (True, np.uint64(1)):
        with pytest.raises(numba.TypingError, match="floats or signed integers"):
            of(given, given)


def test_arrays_and_complex_numbers_are_refused():
    @numba.njit
    def of(x):
        return vm.exp(x)

    for x in (np.ones(3), 1j):
        with pytest.raises(numba.TypingError, match="exp takes real scalars"):
            of(x)


CACHED = """
import ctypes, sys
import numpy as np
if sys.argv[1] == "without":
    opened = ctypes.CDLL
    def without(name, *args, **kwargs):
        if "mvec" in str(name):
            raise OSError(name)
        return opened(name, *args, **kwargs)
    ctypes.CDLL = without
import numba
from srcdiff.backends.numba.vector_math import atan2, exp2, exp, libmvec

@numba.njit(cache=True, error_model="numpy")
def loop(x, y, out):
    for i in range(x.shape[0]):
        out[i] = exp2(x[i]) + atan2(x[i], y[i]) + exp(x[i])

for dtype in ("f8", "f4"):
    x, y = np.linspace(-1, 1, 103).astype(dtype), np.linspace(-2, 3, 103).astype(dtype)
    out = np.empty_like(x)
    loop(x, y, out)
    np.testing.assert_allclose(out, np.exp2(x) + np.arctan2(x, y) + np.exp(x), rtol=1e-5)
print(libmvec.LIBRARY is not None, sum(loop.stats.cache_hits.values()))
"""


def test_cached_code_runs_without_the_library(tmp_path):
    """LLVM would end the process: it finds no function of the name that the code has."""
    if libmvec.LIBRARY is None:
        pytest.skip("there is no libmvec")
    (tmp_path / "model.py").write_text(CACHED)
    env = {**os.environ, "PYTHONPATH": str(ROOT), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    said = [
        subprocess.run(
            [sys.executable, "model.py", how], cwd=tmp_path, env=env, capture_output=True, text=True
        ).stdout.split()
        for how in ("with", "without", "with")
    ]
    assert said == [["True", "0"], ["False", "2"], ["True", "2"]]


def test_the_compiler_loads_numba_for_its_functions_alone():
    code = "import sys, srcdiff, srcdiff.backends.numba; print('numba' in sys.modules)"
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True)
    assert done.stdout.strip() == "False"
