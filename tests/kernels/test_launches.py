"""Which statements for CuPy's arrays become one kernel, and that it computes what they do.

There is no GPU here: the bodies of the kernels are read and computed by `tests/standin/kernels.py`.
"""

import re

import numpy as np
import pytest

import srcdiff
from srcdiff.errors import DtypeError
from tests.kernels.test_fusion import shifted, stepped
from tests.standin import Device
from tests.standin.arrays import ndarray

X = np.linspace(0.1, 1.3, 7)
A = np.linspace(-1.0, 1.0, 20).reshape(4, 5)


@pytest.fixture(scope="module")
def device():
    made = Device()
    with made.installed():
        yield made


class Case:
    """A function with kernels and without: the text, how far they are apart, and the launches."""

    def __init__(self, device, f, *args, dtype=None, **options):
        def given():
            return [self.moved(device, a, dtype) for a in args]

        plain = srcdiff.value_and_grad(f, **options)
        kernels = srcdiff.value_and_grad(f, compile="cupy", **options)
        for g in (plain, kernels):
            g(*given())
        first = given(), device.launches, device.transfers
        self.expected = _leaves(plain(*first[0]))
        second = given(), device.launches, device.transfers
        self.found = _leaves(kernels(*second[0]))
        self.launches = second[1] - first[1], device.launches - second[1]
        self.transfers = second[2] - first[2], device.transfers - second[2]
        self.text = kernels.source
        self.made = self.text.count("cp.ElementwiseKernel(")

    @staticmethod
    def moved(device, value, dtype):
        if not isinstance(value, np.ndarray):
            return value
        return device.array(value if dtype is None else value.astype(dtype))

    @property
    def gap(self):
        """The largest difference, beside the size of what is compared; dtypes are the same."""
        pairs = list(zip(self.found, self.expected, strict=True))
        assert all(x.dtype == y.dtype and x.shape == y.shape for x, y in pairs)
        assert all(np.array_equal(np.isnan(x), np.isnan(y)) for x, y in pairs)
        return max(np.max(np.abs(np.nan_to_num(x) - np.nan_to_num(y)) / (1.0 + np.abs(y)),
                          initial=0.0, where=~np.isnan(y)) for x, y in pairs)  # fmt: skip


def _leaves(value):
    if type(value) is tuple:
        return [leaf for part in value for leaf in _leaves(part)]
    return [value.held if isinstance(value, ndarray) else np.asarray(value)]


# --- what becomes one kernel ----------------------------------------------------------------------


def chain(x, y):
    t = np.sin(x) * y
    return np.sum(np.sqrt(1.0 + t * t))


def softmax(a):
    e = np.exp(a - np.max(a, axis=-1, keepdims=True))
    return np.sum((e / np.sum(e, axis=-1, keepdims=True)) ** 2)


def biased(a, b):
    return np.sum(np.tanh(a + b) ** 3)


def scaled(x, k):
    return np.sum(np.exp(-k * x) / (k + x * x))


def chosen(x, y):
    return np.sum(np.where((x > y) & (x != 1.0), np.maximum(x, 0.5 * y), np.abs(y) * x))


def flux(u):
    r = u[1:] - u[:-1]
    return np.sum(np.where(r > 0.2, 0.0, r) ** 2)


def in_place(u):
    u[1:-1] *= 2.0
    u[1:-1] += u[1:-1] ** 2
    return np.sum(u**3)


def outer(x, y):
    return np.sum(np.sin(x[:, None] * y[None, :]) * x[:, None])


def of_columns(a):
    z = (a - np.mean(a, axis=0)) / np.std(a, axis=0)
    return np.sum(z * z * a)


CASES = {
    "chain": (chain, (X, X + 1.0), 1, (15, 3)),
    "softmax": (softmax, (A,), 3, (16, 8)),
    "biased": (biased, (A, X[:5]), 1, (14, 4)),
    "scaled": (scaled, (X, 0.7), 1, (19, 6)),
    "chosen": (chosen, (X, X[::-1].copy()), 1, (30, 3)),
    "flux": (flux, (X,), 2, (15, 5)),
    "in_place": (in_place, (X,), 3, (21, 9)),
    "outer": (outer, (X, X[:5]), 2, (17, 8)),
    "of_columns": (of_columns, (A,), 3, (31, 10)),
}
"""What a function is called with, its kernels, and the launches without them and with them."""


@pytest.mark.parametrize("name", CASES)
def test_how_many_kernels_and_launches_there_are(device, name):
    f, args, count, launches = CASES[name]
    case = Case(device, f, *args, inputs=tuple(range(len(args))))
    assert case.gap < 1e-14
    assert (case.made, case.launches) == (count, launches)
    assert case.transfers[1] <= case.transfers[0]


@pytest.mark.parametrize("name", CASES)
def test_floats_of_single_width_stay_so(device, name):
    f, args, _, _ = CASES[name]
    case = Case(device, f, *args, dtype="float32")
    assert case.gap < 1e-6
    assert case.made and "double" not in case.text and "float64 " not in case.text


def two_products(x, w):
    return np.sum(np.sin(x @ w) ** 2) + np.sum(np.sin(w @ x) ** 2)


def test_what_is_done_twice_is_one_kernel(device):
    case = Case(device, two_products, A, np.ones((5, 4)) / 4.0, inputs=(0, 1))
    assert case.gap < 1e-14
    assert case.made == 1
    assert case.text.count("two_products_value_and_grad_kernel(") == 2


def test_users_names_and_comments(device):
    case = Case(device, chain, X, X + 1.0, inputs=(0, 1))
    assert "// backward" in case.text
    assert '"float64 x, float64 y, float64 d_t"' in case.text
    assert "t, d_y, d_x = chain_value_and_grad_kernel(x, y, " in case.text


# --- what may not be one kernel -------------------------------------------------------------------


def through_two_names(u):
    v = u[::2]
    v *= 3.0
    v += u[::2]
    return np.sum(u * u) + np.sum(v)


def element_that_changes(u):
    u = u * 1.0
    first = u[0]
    u *= 2.0
    u += first
    u *= first
    return np.sum(u * first)


def number_of_an_element_that_changes(u):
    u = u * 1.0
    twice = u[0] * 2.0
    u[:4] += 3.0
    v = np.sin(u) * twice
    return np.sum(v * u)


def filled(u):
    z = np.exp(np.full(u.shape, 2.0)) * 3.0 + 1.0
    return np.sum(z) * np.sum(u)


def summed_first(u):
    total = np.sum(u)
    u *= total
    u += 1.0
    return np.sum(u) * total


def bound_again(u):
    y = u
    for k in range(3):
        y = np.where(y > 0.5, y * 0.7, y + 0.1 * k)
        y[k] = y[k] ** 2
    return np.sum(y)


def turned(a):
    y = np.sin(a.T * 1.5)
    z = y.ravel()
    z *= 2.0
    return np.sum(y * y)


def of_scalars(x):
    return np.sum(x) * np.sin(np.sum(x * x) + 1.0)


def rows_in_other_axes(a):
    y = np.exp(a[0])
    b = a * 2.0
    column = a[:, 0][:, None]
    c = b + column
    z = y * 3.0
    return np.sum(c * np.sin(column) * y[None, :]) + np.sum(z * y)


def matrix_and_rows(a):
    return np.sum((a - a[0]) * (a[:, :1] - a[0, 0]) * a)


OTHERS = (
    shifted, stepped, through_two_names, element_that_changes, number_of_an_element_that_changes,
    filled, summed_first, bound_again, of_scalars,
)  # fmt: skip


@pytest.mark.parametrize("f", OTHERS)
def test_what_reads_other_elements_is_right(device, f):
    assert Case(device, f, X).gap < 1e-13


@pytest.mark.parametrize("f", [turned, rows_in_other_axes, matrix_and_rows])
def test_layouts_and_parts(device, f):
    assert Case(device, f, A).gap < 1e-13


def test_shapes_that_do_not_fit_are_an_error(device):
    g = srcdiff.grad(lambda x, y: np.sum(np.sin(x) * y + x), compile="cupy")
    with pytest.raises(ValueError, match="broadcast"):
        g(device.array(X), device.array(X[:4]))


def test_more_arrays_than_a_launch_takes(device):
    def f(x):
        t = [np.sin(x * k) * x for k in range(1, 130)]
        total = t[0] * 1.0
        for a, b in zip(t, t[1:]):
            total = total + a * b
        return np.sum(total)

    assert Case(device, f, X).gap < 1e-13


# --- numbers and dtypes ---------------------------------------------------------------------------


def whole_numbers(x, n, hit):
    y = x * n + hit * 3 - n / 2
    return np.sum(np.where(hit, y, -y) * (n > 2) + n * n * x)


def test_integers_and_truth_values(device):
    case = Case(device, whole_numbers, X, np.arange(7), X > 0.6)
    assert case.gap < 1e-14
    assert "int64 n_1" in case.text and "bool hit" in case.text
    assert "(double)n_1 / 2.0" in case.text


def test_integers_beside_single_width(device):
    """They are compared as float64, in which all of these integers are."""

    def f(x, n):
        return np.sum(np.where(x * 1.0 < n, x * 3.0, x * 2.0))

    x, n = np.float32([2**24, 2**24, 1.0]), np.array([2**24 + 1, 2**24, 3])
    expected = srcdiff.grad(f)(x, n)
    assert np.array_equal(expected, np.float32([3.0, 2.0, 3.0]))
    found = srcdiff.grad(f, compile="cupy")(device.array(x), device.array(n))
    assert np.array_equal(found.held, expected)


LIMITS = {
    "maximum": lambda x: np.maximum(x * 1.0, -1.0) * 2.0,
    "minimum": lambda x: np.minimum(x * 1.0, 2.0) * 2.0,
    "minimum of the second": lambda x: np.minimum(2.0, x * 1.0) * 2.0,
    "sign": lambda x: np.sign(x) * x,
    "where": lambda x: np.where(np.isfinite(x), x, np.inf) + 1.0,
}


@pytest.mark.parametrize("name", LIMITS)
def test_what_is_no_number_goes_through(device, name):
    x = np.array([0.0, -0.0, 1.0, np.nan, np.inf, -np.inf, -3.0])
    expected, pull = srcdiff.vjp(LIMITS[name], x)
    value, push = srcdiff.vjp(LIMITS[name], device.array(x), compile="cupy")
    assert np.array_equal(value.held, expected, equal_nan=True)
    found = push(device.array(X)).held
    assert np.array_equal(found, pull(X), equal_nan=True)


LEVEL = np.float64(0.1)


def test_numbers_of_double_width_beside_single(device):
    """Those of NumPy are compared as float64: float32(0.1) is above."""

    def f(x):
        return np.sum(np.where(x * 1.0 > LEVEL, x * 3.0, x * 2.0))

    x = np.float32([0.1, 0.2])
    found = srcdiff.grad(f, compile="cupy")(device.array(x))
    assert np.array_equal(found.held, srcdiff.grad(f)(x))
    assert np.array_equal(found.held, np.float32([3.0, 3.0]))


def test_complex_numbers_stay_statements(device):
    def f(x):
        z = np.exp(1j * x) * x
        return np.sum(np.abs(z * z) + np.sin(x) * x)

    case = Case(device, f, X)
    assert case.gap < 1e-14 and "complex" not in case.text.partition("def ")[0]


def test_numbers_beyond_single_width(device):
    def f(x):
        return np.sum(np.where(x < 1e300, x * x, np.minimum(x, np.inf) + 1.0))

    with np.errstate(over="ignore"):
        case = Case(device, f, X, dtype="float32")
    assert case.gap == 0.0 and case.made and "inff" not in case.text


def many(x):
    y = np.arctan2(x, 2.0) + np.hypot(x, 1) + np.cbrt(x) + np.expm1(x) + np.log1p(x) + np.exp2(x)
    y = y + np.arcsinh(x) * np.cosh(x) - np.tanh(x) ** 2.5 + np.logaddexp(x, y) + np.fmax(x, 0.5)
    y = y * np.power(x, 3) / np.abs(x) ** -2 + np.square(x) * np.rint(x) - np.absolute(-x)
    return np.sum(y + abs(x) * np.arccos(x / 2) + np.floor(x) * np.trunc(y))


@pytest.mark.parametrize("dtype, gap", [("float64", 1e-13), ("float32", 1e-4)])
def test_functions(device, dtype, gap):
    case = Case(device, many, X, dtype=dtype)
    assert case.gap < gap
    called = set(re.findall(r"cp\.(\w+)\(", case.text))
    assert called <= {"ElementwiseKernel", "array", "empty", "sum"}


def test_names_that_cpp_has_are_others(device):
    def f(double, sin, i, ñ):
        new = np.sin(double) * sin
        return np.sum(new * i + ñ * new * new)

    case = Case(device, f, X, X + 1.0, 2.0, X, inputs=(0, 1, 3))
    assert case.gap < 1e-14 and case.made == 1


# --- how it is asked for --------------------------------------------------------------------------


def test_arguments_are_arrays_of_cupy(device):
    g = srcdiff.grad(chain, compile="cupy")
    with pytest.raises(DtypeError, match="no argument is an array of CuPy"):
        g(X, X)
    with pytest.raises(ValueError, match="'auto' or 'cupy', given 'cuda'"):
        srcdiff.grad(chain, compile="cuda")


def test_all_transforms(device):
    x, y = device.array(X), device.array(X + 1.0)
    expected = srcdiff.hessian(chain)(X, X + 1.0)
    assert np.allclose(srcdiff.hessian(chain, compile="cupy")(x, y).held, expected, rtol=1e-12)
    value, slope = srcdiff.jvp(chain, (x, y), (y, x), compile="cupy")
    assert np.allclose(slope.held, srcdiff.jvp(chain, (X, X + 1.0), (X + 1.0, X))[1])
    value, pull = srcdiff.vjp(chain, x, y, compile="cupy")
    assert np.allclose(pull(1.0)[1].held, srcdiff.grad(chain, 1)(X, X + 1.0))


def test_other_options(device):
    options = {"workspace": True, "check_nan": True}
    g = srcdiff.grad(chain, compile="cupy", **options)
    found = g(device.array(X), device.array(X + 1.0))
    assert np.allclose(found.held, srcdiff.grad(chain)(X, X + 1.0), rtol=1e-14)


def test_strict_kernels_contract_nothing(device):
    def f(x, y):
        w = x * y - 2.0 * x
        return np.sum(np.exp(w * w + y) * x)

    strict = srcdiff.value_and_grad(f, (0, 1), compile="cupy", strict=True)
    plain = srcdiff.value_and_grad(f, (0, 1))
    args = device.array(X), device.array(X + 1.0)
    for found, expected in zip(_leaves(strict(*args)), _leaves(plain(*args)), strict=True):
        assert found.tobytes() == expected.tobytes()
    assert "cp.ElementwiseKernel(" in strict.source and "cp.exp(" in strict.source
    assert strict.source.count("--fmad=false") == strict.source.count("cp.ElementwiseKernel(")
    free = srcdiff.value_and_grad(f, (0, 1), compile="cupy")
    free(*args)
    assert "fmad" not in free.source and "cp.exp(" not in free.source
