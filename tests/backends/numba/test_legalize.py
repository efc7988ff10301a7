"""What Numba computes otherwise than NumPy, written so that it does not: dtypes."""

import importlib
import math

import numpy as np
import pytest

import srcdiff
from srcdiff.backends.numba import legalize
from srcdiff.errors import UnsupportedError
from tests.corpus.native import assert_same_bits, interpreted
from tests.standin.device import words
from tests.support import structures as st

SINGLE = np.float32
X = np.linspace(0.1, 1.0, 7, dtype=SINGLE)
A = np.linspace(-1.0, 1.0, 20, dtype=SINGLE).reshape(4, 5)
W, B = np.linspace(-0.5, 0.5, 15, dtype=SINGLE).reshape(5, 3), np.zeros(3, SINGLE)


def dense(p, x):
    h = np.tanh(x @ p["w"] + p["b"])
    r = np.where(h > 0.1, 0.5 * h, h * h)
    return np.sum(r * r) / 2.0


def chain(x, k):
    return np.exp(-k * x) * x**2 / (1.0 + x)


def softmax(a):
    e = np.exp(a - np.max(a, axis=-1, keepdims=True))
    return np.sum((e / np.sum(e, axis=-1, keepdims=True)) ** 2) * 3.0


def steps(x, n):
    h = x[0]
    for i in range(1, n):
        h = np.tanh(0.5 * h + x[i])
    return h * h


def stored(x):
    y = x.copy()
    y *= 2.0
    y[1:] += 0.1 * y[:-1]
    return np.sum(y), np.mean(y * y)


def at_a_threshold(x):
    return np.sum(np.where(x > 0.1, x * 2.0, x * 3.0))


def in_double(x):
    return np.sum(x * np.float64(0.1)) + np.sum(x.astype(np.float64) ** 2)


def statistics(x):
    return np.std(x), np.linalg.norm(x) + np.max(np.clip(x, 0.2, 0.7) * x)


def of_powers(x):
    return np.sum(2.0**x + x**1.5 + x**-2) + np.log(np.sum(np.exp(x))) + np.pi


def with_integers(x):
    return np.sum(x * np.arange(len(x))), np.sum(SINGLE(2.5) * x + 1)


CASES = [
    (dense, ({"w": W, "b": B}, A)), (chain, (X, 0.5)), (chain, (X, SINGLE(0.5))),
    (chain, (X, np.float64(0.5))), (softmax, (A,)), (steps, (X, 5)), (stored, (X,)),
    (at_a_threshold, (X,)), (statistics, (X,)), (of_powers, (X,)), (with_integers, (X,)),
    (in_double, (X,)), (chain, (X.astype(float), SINGLE(0.3))),
]  # fmt: skip


@pytest.mark.parametrize("compile", ["numba", "loops"])
@pytest.mark.parametrize("f, args", CASES, ids=lambda v: getattr(v, "__name__", ""))
def test_dtypes_are_those_of_numpy(f, args, compile):
    ct = st.random_like(np.random.default_rng(1), f(*args))
    expected = srcdiff.value_and_grad(f)(*args, grad_outputs=ct)
    with interpreted():
        found = srcdiff.value_and_grad(f, compile=compile)(*args, grad_outputs=ct)
    agree(found, expected)


def agree(found, expected):
    """Results of the same types and dtypes, and of the same values to the last places."""
    for one, two in zip(st.leaves_as(expected, found), st.leaves(expected), strict=True):
        assert type(one) is type(two) and one.dtype == two.dtype
        np.testing.assert_allclose(one, two, rtol=2e-6, atol=2e-6)


def test_numbers_beside_float32_are_cast():
    with interpreted():
        g = srcdiff.value_and_grad(dense, compile="numba")
        g({"w": W, "b": B}, A)
    loop = g.source.split("@numba")[1]
    assert "h > np.float32(0.1)" in loop and "np.float32(0.5) * h" in loop
    assert "return np.float32(" in g.source.split("def dense_value_and_grad(")[1]


def test_refused():
    with interpreted(), pytest.raises(UnsupportedError, match="of dtype float16"):
        srcdiff.grad(softmax, compile="numba")(A.astype(np.float16))


@pytest.mark.skipif(importlib.util.find_spec("numba") is None, reason="needs Numba")
@pytest.mark.filterwarnings("ignore::numba.NumbaPerformanceWarning")
@pytest.mark.parametrize("k", [0, 4], ids=["dense", "softmax"])
def test_compiled(k):
    f, args = CASES[k]
    agree(srcdiff.value_and_grad(f, compile="numba")(*args), srcdiff.value_and_grad(f)(*args))


# --- strict: every bit of Python's ---------------------------------------------------------------

EXACT = words("""acos acosh asin asinh atan atanh cos cosh exp expm1 fabs log log10 log1p sin sinh
    sqrt tan tanh""")


def test_functions_of_math_have_the_bits_that_python_gives():
    numba = pytest.importorskip("numba")
    drawn = np.random.default_rng(0)
    values = [*drawn.uniform(-1.0, 1.0, 500), *drawn.uniform(-30.0, 30.0, 500), 0.0, -0.0, 1e-300]
    for name in EXACT:
        function = getattr(math, name)
        assert f"math.{name}" in legalize._MOVES
        compiled = numba.njit(lambda x, function=function: function(x))
        low = {"acosh": 1.0, "log": 1e-300, "log10": 1e-300, "log1p": -0.99, "sqrt": 0.0}
        high = 1.0 - 1e-9 if name in ("acos", "asin", "atanh") else np.inf
        taken = [float(v) for v in values if low.get(name, -high) <= v <= high]
        assert len(taken) > 100
        assert [compiled(v).hex() for v in taken] == [function(v).hex() for v in taken]


def energy(x, k):
    return math.exp(-k * x) * math.sin(x) / (1.0 + x * x)


def by_products(x, n):
    total = 0.0
    for i in range(n):
        total += x[i] * x[i + 1] / 3.0
    return total


def test_strict_code_is_compiled_whole_where_it_rounds_alike():
    pytest.importorskip("numba")
    drawn = np.random.default_rng(1).normal(size=50)
    for f, args in ((energy, (0.7, 1.3)), (by_products, (drawn, 49))):
        g = srcdiff.value_and_grad(f, compile="numba", strict=True)
        assert_same_bits(g(*args), srcdiff.value_and_grad(f)(*args))


@pytest.mark.parametrize("f, args", [
    (lambda x: np.sum(x), (X,)), (lambda x: (x @ x) * 1.0, (X,)), (lambda x: np.exp(x), (0.5,)),
    (lambda x: x**3, (0.5,)), (lambda x: np.maximum(x, 0.0) + x, (X,)),
    (lambda x: abs(x + 1j), (0.5,)),
])  # fmt: skip
def test_strict_code_that_may_round_otherwise_is_refused(f, args):
    with interpreted(), pytest.raises(UnsupportedError, match="strict"):
        srcdiff.value_and_grad(f, compile="numba", strict=True)(*args)
