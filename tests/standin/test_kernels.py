"""The interpreter of kernels: what C++ computes, and what it refuses."""

import numpy as np
import pytest

from tests.standin import Device
from tests.standin.kernels import ElementwiseKernel, KernelError


@pytest.fixture(scope="module")
def device():
    made = Device()
    with made.installed():
        yield made


def computed(device, body, out="float64 z", **given):
    """What a body gives for operands."""
    dtypes = {n: np.asarray(v).dtype.name for n, v in given.items()}
    kernel = ElementwiseKernel(", ".join(f"{t} {n}" for n, t in dtypes.items()), out, body)
    made = kernel(*(device.array(v) for v in given.values()))
    return made.held


X, K = np.array([1.0, -2.0, 3.0]), np.array([3, 2, 1])
RIGHT = {
    "z = x - k - 1.0;": X - K - 1.0,
    "z = -x * (k + 2LL) / 4.0;": -X * (K + 2) / 4.0,
    "z = x > 0.0 && k > 2 ? x : k == 2 ? -x : 0.5;": np.array([1.0, 2.0, 0.5]),
    "const bool b = !(x < 0.0) || false; z = b * x;": np.where(X < 0.0, -0.0, X),
    "const double t = fmax(x, (double)k); z = t;  // said": np.fmax(X, K),
    "z = x; z += 2.0 * x; z /= 3.0;": (X + 2.0 * X) / 3.0,
}


@pytest.mark.parametrize("body", RIGHT)
def test_what_is_computed(device, body):
    assert np.array_equal(computed(device, body, x=X, k=K), RIGHT[body])


def test_single_width(device):
    x = np.float32([0.1, 0.2])
    z = computed(device, "z = x * 0.1f + 1.0f;", "float32 z", x=x)
    assert z.dtype == np.float32 and np.array_equal(z, x * np.float32(0.1) + np.float32(1.0))
    with pytest.raises(KernelError, match="a float64 becomes a float32"):
        computed(device, "z = x * 0.1;", "float32 z", x=x)


WRONG = {
    "z = k / 2LL;": "a quotient of integers",
    "z = sin(k);": "sin of",
    "z = x + y;": "y is not declared",
    "x = 1.0; z = x;": "x is not declared",
    "const double t = x; const double t = x; z = t;": "bound twice",
    "double t = x; z = t;": "no constant",
    "const double t = x;": "not written",
    "z = x $ 2.0;": "what is",
}


@pytest.mark.parametrize("body", WRONG)
def test_what_is_refused(device, body):
    with pytest.raises(KernelError, match=WRONG[body]):
        computed(device, body, x=X, k=K)


def test_operands_and_results(device):
    kernel = ElementwiseKernel("float64 x, float64 k", "float64 z", "z = x * k;")
    x = device.array(X)
    assert np.array_equal(kernel(x, 2).held, 2.0 * X)
    assert kernel(x[:0], 2.0).shape == (0,)
    square = device.array(np.empty((3, 3)))
    before = device.launches
    kernel(x[:, None], x, square)
    assert device.launches == before + 1
    for args, error in (
        ((device.array(K), 2.0), TypeError), ((X, 2.0), TypeError), ((1.0, 2.0), ValueError),
        ((x, x[:2]), ValueError), ((x,), TypeError), ((x, 1.0, x[:, None]), ValueError),
    ):  # fmt: skip
        with pytest.raises(error):
            kernel(*args)
    with pytest.raises(KernelError, match="other elements"):
        kernel(x[1:], 2.0, x[:-1])
    kernel(x, 2.0, x)  # in place
    assert np.array_equal(x.held, 2.0 * X)


@pytest.mark.parametrize("params", ["float64 i", "float64 _x", "double x", "float64 x, bool x"])
def test_parameters_that_cupy_refuses(params):
    with pytest.raises((ValueError, TypeError)):
        ElementwiseKernel(params, "float64 z", "z = 1.0;")
