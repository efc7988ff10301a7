"""The parameters of `grad` and the conventions at kinks; `promises` says where each is tested."""

import ast
import math
from pathlib import Path

import numpy as np
import pytest

import srcdiff
from srcdiff.errors import CotangentError
from tests.support import models
from tests.support.differences import close
from tests.support.promises import CELLS

X = np.array([0.5, -1.0, 2.0])


@pytest.mark.parametrize("cell", CELLS)
def test_every_cell_has_its_tests(cell):
    assert CELLS[cell]
    for item in CELLS[cell].split():
        file, name = item.split(":")
        folder, _, base = file.rpartition("/")
        text = (Path(__file__).parent / folder / f"test_{base}.py").read_text()
        tests = (n.name for n in ast.parse(text).body if isinstance(n, ast.FunctionDef))
        assert f"test_{name}" in tests, item


# --- grad_outputs -------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
def test_one_real_element_of_any_rank_needs_no_cotangent(shape):
    close(srcdiff.grad(models.vector)(np.full(shape, 3.0)), np.full(shape, 6.0))


def test_non_scalar_output_needs_one():
    words = "grad can be implicitly created only for scalar outputs"
    with pytest.raises(CotangentError, match=words) as info:
        srcdiff.grad(models.vector)(X)
    assert isinstance(info.value, RuntimeError)


def test_complex_output_needs_one():
    with pytest.raises(CotangentError):
        srcdiff.grad(models.scalar)(1.0 + 2.0j)


@pytest.mark.parametrize(
    "cotangent",
    [np.ones(2), np.ones((3, 1)), np.ones(()), np.ones((1, 3)), np.ones(3) * 1j],
)
def test_cotangent_of_wrong_shape_or_complex(cotangent):
    with pytest.raises(CotangentError) as info:
        srcdiff.grad(models.vector)(X, grad_outputs=cotangent)
    assert "(3,)" in str(info.value) or "complex" in str(info.value)


def test_shape_is_exact():
    with pytest.raises(CotangentError, match=r"\(1,\)"):
        srcdiff.grad(models.loss)(2.0, X, grad_outputs=np.ones(1))
    with pytest.raises(CotangentError):
        srcdiff.grad(models.vector)(np.ones(1), grad_outputs=np.ones(()))


@pytest.mark.parametrize("cotangent", ["text", object(), [1.0, 2.0, 3.0], {"a": 1.0}])
def test_cotangent_of_wrong_type(cotangent):
    with pytest.raises(srcdiff.errors.CotangentTypeError) as info:
        srcdiff.grad(models.vector)(X, grad_outputs=cotangent)
    assert isinstance(info.value, TypeError)


def test_error_shows_the_return_line():
    with pytest.raises(CotangentError, match="return x \\* x"):
        srcdiff.grad(models.vector)(X, grad_outputs=np.ones(2))


def test_a_number_for_a_0d_output():
    g = srcdiff.grad(models.loss, "w")
    close(g(2.0, X, grad_outputs=2), 2.0 * g(2.0, X))
    close(g(2.0, X, grad_outputs=np.float32(2.0)), 2.0 * g(2.0, X))
    close(g(2.0, X, grad_outputs=np.array(2.0)), 2.0 * g(2.0, X))


def test_too_many_cotangents():
    g = srcdiff.grad(models.pair, "a")
    with pytest.raises(CotangentError):
        g(X, 2.0, grad_outputs=(X, 1.0, 1.0))
    with pytest.raises(CotangentError):
        g(X, 2.0, grad_outputs=(X,))


def test_none_among_several_cotangents():
    """None means one where the output has one element."""
    g = srcdiff.grad(models.pair, "a")
    close(g(X, 2.0, grad_outputs=(X, None)), 2.0 * X + 1.0)
    with pytest.raises(CotangentError):
        g(X, 2.0, grad_outputs=(None, 1.0))


@pytest.mark.parametrize("dtype", [np.float32, np.float16, int])
def test_cotangent_of_another_real_dtype(dtype):
    g = srcdiff.grad(models.vector)(X, grad_outputs=np.ones(3, dtype))
    assert g.dtype == np.float64
    close(g, 2.0 * X)


def test_cotangent_does_not_widen_single_precision():
    g = srcdiff.grad(models.vector)(X.astype(np.float32), grad_outputs=np.ones(3))
    assert g.dtype == np.float32


def test_cotangent_is_not_changed():
    def loop(x):
        y = x.copy()
        y[0] = y[1] * y[2]
        y *= 2.0
        return y

    v = np.array([1.0, 2.0, 3.0])
    srcdiff.grad(loop)(X, grad_outputs=v)
    close(v, [1.0, 2.0, 3.0])


# --- inputs, outputs ----------------------------------------------------------------------------


def test_unknown_input_lists_the_known_ones():
    with pytest.raises(srcdiff.TransformError) as info:
        srcdiff.grad(models.loss, "weights")(2.0, X)
    for word in ("weights", "w", "x", "y"):
        assert word in str(info.value)


def test_position_out_of_range():
    with pytest.raises(srcdiff.TransformError):
        srcdiff.grad(models.loss, 7)(2.0, X)


def test_empty_inputs():
    with pytest.raises(
        (srcdiff.TransformError, ValueError), match="grad requires non-empty inputs"
    ):
        srcdiff.grad(models.loss, ())(2.0, X)


@pytest.mark.parametrize("value", [3, True, np.arange(3), np.array([True, False])])
def test_integer_input(value):
    with pytest.raises(srcdiff.errors.DtypeError, match="x") as info:
        srcdiff.grad(models.vector)(value)
    assert isinstance(info.value, TypeError)


def test_unknown_output():
    with pytest.raises(srcdiff.TransformError):
        srcdiff.grad(models.pair, "a", outputs=5)(X, 2.0)
    with pytest.raises(srcdiff.TransformError):
        srcdiff.grad(models.named, "a", outputs="nothing")(X, 2.0)


def test_scalar_gradient_of_integer_exponent():
    assert srcdiff.grad(models.integer_part, "x")(2.0, 3) == 12.0
    with pytest.raises(srcdiff.errors.DtypeError, match="n"):
        srcdiff.grad(models.integer_part, "n")(2.0, 3)


# --- unused inputs ------------------------------------------------------------------------------


def test_unused_input_is_an_error_with_the_reason():
    with pytest.raises(srcdiff.errors.UnusedInputError) as info:
        srcdiff.grad(models.unused, "k")(2.0, 3.0)
    assert "k" in str(info.value) and isinstance(info.value, RuntimeError)


def test_unused_input_allowed_gives_none():
    assert srcdiff.grad(models.unused, "k", allow_unused=True)(2.0, 3.0) is None
    dx, dk = srcdiff.grad(models.unused, ("x", "k"), allow_unused=True)(2.0, 3.0)
    assert dx == 2.0 and dk is None


def test_unused_input_materialised_gives_zeros():
    assert srcdiff.grad(models.unused, "k", materialize_grads=True)(2.0, 3.0) == 0.0
    g = srcdiff.grad(models.unused, "k", materialize_grads=True)(2.0, np.array(3.0, np.float32))
    assert g.shape == () and g.dtype == np.float32


def test_allow_unused_false_with_materialize_grads():
    with pytest.raises(ValueError, match="allow_unused"):
        srcdiff.grad(models.unused, "k", allow_unused=False, materialize_grads=True)(2.0, 3.0)


def test_output_that_no_input_reaches():
    def two(x, y):
        return x * 2.0, y * 3.0

    with pytest.raises(srcdiff.errors.UnusedInputError):
        srcdiff.grad(two, "x", outputs=1)(2.0, 3.0)
    assert srcdiff.grad(two, "x", outputs=1, materialize_grads=True)(2.0, 3.0) == 0.0


def test_a_path_not_taken_gives_zeros():
    def maybe(x, y, flag):
        if flag:
            return x * y
        return x * 2.0

    g = srcdiff.grad(maybe, "y")
    assert g(2.0, 3.0, True) == 2.0
    assert g(2.0, 3.0, False) == 0.0
    out = srcdiff.grad(maybe, "y")(2.0, X, False)
    close(out, np.zeros(3))


def test_the_first_that_fits():
    def first(x, least):
        return next(v * v for v in x if v > least) * x[0]

    x = np.array([0.5, 2.0, 3.0])
    np.testing.assert_array_equal(srcdiff.grad(first)(x, 1.0), [4.0, 2.0, 0.0])
    with pytest.raises(StopIteration):
        srcdiff.grad(first)(x, 4.0)


def test_linear_function_at_order_two():
    first = srcdiff.grad(models.linear)
    with pytest.raises(srcdiff.errors.UnusedInputError):
        srcdiff.grad(first)(X, grad_outputs=np.ones(3))
    zeros = srcdiff.grad(first, materialize_grads=True)(X, grad_outputs=np.ones(3))
    close(zeros, np.zeros(3))


# --- conventions at kinks -----------------------------------------------------------------------


def at(f, *args, inputs=0, grad_outputs=None):
    return srcdiff.grad(f, inputs)(*args, grad_outputs=grad_outputs)


def test_abs_and_sign_at_zero():
    assert at(lambda x: np.abs(x), 0.0) == 0.0
    assert at(lambda x: abs(x), 0.0) == 0.0
    assert at(lambda x: x + np.sign(x), 0.0) == 1.0
    assert at(lambda x: x + np.floor(x), 0.0) == 1.0


def test_ties_of_maximum_and_minimum():
    def both(x, y):
        return np.maximum(x, y) + 3.0 * np.minimum(x, y)

    assert at(both, 2.0, 2.0, inputs=(0, 1)) == (2.0, 2.0)
    assert at(lambda x: np.maximum(x, 0.0), 0.0) == 0.5


def test_ties_of_reductions_share():
    def top(x):
        return np.max(x)

    def bottom(x):
        return x.min()

    close(at(top, np.array([1.0, 2.0, 2.0])), [0.0, 0.5, 0.5])
    close(at(bottom, np.array([1.0, 1.0, 1.0, 2.0])), [1 / 3, 1 / 3, 1 / 3, 0.0])


def test_clip_at_its_bounds():
    def clipped(x):
        return np.clip(x, 0.0, 1.0)

    close(
        at(clipped, np.array([-1.0, 0.0, 0.5, 1.0, 2.0]), grad_outputs=np.ones(5)), [0, 1, 1, 1, 0]
    )


def test_square_root_at_zero():
    with np.errstate(divide="ignore"):
        assert at(lambda x: np.sqrt(x), np.array(0.0)) == np.inf


def test_powers_at_zero():
    def power(x, b):
        return x**b

    assert at(power, 0.0, 0.0) == 0.0
    assert at(power, 0.0, 2.0) == 0.0
    assert at(power, 0.0, 1.0) == 1.0
    with np.errstate(all="ignore"):
        assert at(power, np.array(0.0), np.array(2.0), inputs=1) == 0.0


def test_spread_at_zero():
    with np.errstate(all="ignore"):
        close(at(lambda x: np.std(x), np.ones(3)), np.zeros(3))


def test_hypot_at_zero():
    with np.errstate(all="ignore"):
        dx = at(lambda x, y: np.hypot(x, y), np.array(0.0), np.array(0.0))
    assert math.isnan(dx)


def distance_kernel(x):
    d = np.linalg.norm(x, axis=-1)
    return np.sum(np.exp(-d * d) + np.exp(-0.5 * (d / 2.0) ** 2))


def root_mean_square(x):
    return np.std(x[0]) ** 2 + x[1].std(ddof=1) * np.std(x[1], ddof=1)


def of_one_distance(x):
    r = np.linalg.norm(x, axis=1, keepdims=True)
    return r[1, 0] * r[1, 0] + (r[:, 0] @ r[:, 0]) / 2.0 + np.linalg.norm(r) ** 4


def halved(r):
    return 0.5 * r * r


SMOOTH = {
    "square of a norm": (lambda x: np.linalg.norm(x) ** 2, lambda x: np.sum(x * x)),
    "Frobenius": (lambda x: np.linalg.norm(x, "fro") ** 2.0, lambda x: np.sum(x * x)),
    "of a helper": (lambda x: halved(np.linalg.norm(x)), lambda x: 0.5 * np.sum(x * x)),
    "fourth power": (lambda x: np.linalg.norm(x) ** 4, lambda x: np.sum(x * x) ** 2),
    "kernels": (
        distance_kernel,
        lambda x: np.sum(np.exp(-np.sum(x * x, 1)) + np.exp(-np.sum(x * x, 1) / 8.0)),
    ),
    "scaled": (
        lambda x: np.exp(-((3.0 * np.linalg.norm(x) / 2.0) ** 2)),
        lambda x: np.exp(-2.25 * np.sum(x * x)),
    ),
    "spread": (root_mean_square, lambda x: np.var(x[0]) + np.var(x[1], ddof=1)),
    "abs": (lambda x: np.sum(np.abs(x) ** 2 * x[0]), lambda x: np.sum(x * x * x[0])),
    "parts": (
        of_one_distance,
        lambda x: np.sum(x[1] ** 2) + np.sum(x * x) / 2.0 + np.sum(x * x) ** 2,
    ),
}


@pytest.mark.parametrize("name", SMOOTH)
def test_squares_are_smooth_at_zero(name):
    """Squares of norms, `abs` and `std` have the derivatives of sums of squares, to every order."""
    root, plain = SMOOTH[name]
    zero, v, w = np.zeros((2, 2)), np.array([[1.0, -2.0], [0.5, 3.0]]), np.array([[2.0, 1], [0, 1]])

    def along(f):
        return lambda x: np.sum(w * srcdiff.grad(f)(x))

    close(srcdiff.grad(root)(zero), srcdiff.grad(plain)(zero))
    close(srcdiff.hvp(root, (zero,), v), srcdiff.hvp(plain, (zero,), v))
    close(srcdiff.grad(along(root))(zero), srcdiff.grad(along(plain))(zero))
    close(
        srcdiff.jvp(srcdiff.grad(along(root)), (zero,), (v,), unused="zeros")[1],
        srcdiff.jvp(srcdiff.grad(along(plain)), (zero,), (v,), unused="zeros")[1],
    )


def test_square_of_a_modulus_is_smooth_at_zero():
    z, v = np.zeros(2, complex), np.array([1.0 + 2.0j, -1.0j])
    close(srcdiff.hvp(lambda z: np.sum(np.abs(z) ** 2), (z,), v), 2.0 * v)
    close(srcdiff.hvp(lambda z: np.linalg.norm(z) ** 2, (z,), v), 2.0 * v)
    close(srcdiff.hvp(lambda x: np.linalg.norm(x) ** 3, (np.zeros(2),), np.ones(2)), np.zeros(2))
    assert srcdiff.grad(srcdiff.grad(lambda x: abs(x) ** 2))(0.0) == 2.0
    assert srcdiff.grad(srcdiff.grad(lambda x: abs(x) * math.fabs(x)))(0.0) == 2.0


def test_square_of_what_has_changed_is_that_of_what_it_was():
    """The derivative is taken of what the norm was computed from, or by the norm itself."""

    def moved(x):
        y = x * 1.0
        total = 0.0
        for k in range(3):
            if k != 1:
                r = np.linalg.norm(y)
            y[0] += k
            total = total + r * r + k * r**2
        return total

    def expected(x):
        y = x * 1.0
        a = np.sum(y * y)
        y[0] += 1
        b = np.sum(y * y)
        return a + 2.0 * a + 3.0 * b

    x = np.array([0.3, -0.2])
    close(srcdiff.grad(moved)(x), srcdiff.grad(expected)(x))
    close(srcdiff.hessian(moved)(x), srcdiff.hessian(expected)(x))


def test_arctan2_at_zero():
    with np.errstate(all="ignore"):
        dx, dy = at(lambda y, x: np.arctan2(y, x), np.array(0.0), np.array(0.0), inputs=(0, 1))
    assert dx == 0.0 and dy == 0.0


def test_product_with_zeros():
    def product(x):
        return np.prod(x)

    close(at(product, np.array([2.0, 0.0, 3.0])), [0.0, 6.0, 0.0])
    close(at(product, np.array([0.0, 0.0, 3.0])), [0.0, 0.0, 0.0])


def test_second_derivatives_at_singular_spots():
    def det(x):
        return np.linalg.det(x.reshape(2, 2))

    flipped = np.array([[0, 0, 0, 1.0], [0, 0, -1, 0], [0, -1, 0, 0], [1, 0, 0, 0]])
    for singular in ([1.0, 2.0, 2.0, 4.0], [0.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]):
        np.testing.assert_allclose(srcdiff.hessian(det)(np.array(singular)), flipped, atol=1e-14)
    product = srcdiff.hessian(lambda x: np.prod(x))(np.array([0.0, 0.0, 3.0]))
    close(product, [[0.0, 3.0, 0.0], [3.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    assert srcdiff.hessian(lambda x: np.sinc(x))(0.0) == pytest.approx(-(np.pi**2) / 3)
    with np.errstate(all="ignore"):
        close(srcdiff.hessian(lambda x: np.linalg.norm(x))(np.zeros(2)), np.zeros((2, 2)))


def test_equal_eigenvalues():
    """Vectors of different values have derivatives, those of equal ones have none."""

    def vector(x, k):
        return np.linalg.eigh(x)[1][0, k] ** 2

    def matrix_function(x):
        w, v = np.linalg.eigh(x)
        return np.sum((v * np.exp(w)) @ v.T)

    x = np.diag([1.0, 1.0, 2.0])
    close(srcdiff.grad(vector)(x, 2), np.zeros((3, 3)))
    assert np.isnan(srcdiff.grad(matrix_function)(x)).any()  # not the zero that it is not
    close(srcdiff.grad(lambda x: np.sum(np.linalg.eigvalsh(x)))(np.eye(3)), np.eye(3))
    singular = srcdiff.grad(lambda x: np.sum(np.linalg.svd(x)[1]))(np.eye(2))
    close(singular, np.eye(2))


def test_untaken_branch_of_where_flows():
    def root(x):
        return np.where(x > 0.0, np.sqrt(x), 0.0)

    with np.errstate(all="ignore"):
        g = at(root, np.array([4.0, 0.0]), grad_outputs=np.ones(2))
    assert g[0] == 0.25 and not np.isfinite(g[1])


def test_repeated_indices():
    idx = np.array([0, 0, 2])

    def read(x):
        return x[idx]

    def store(v):
        y = np.zeros(3)
        y[idx] = v
        return y

    v = np.array([1.0, 2.0, 4.0])
    close(at(read, X, grad_outputs=v), [3.0, 0.0, 4.0])
    close(at(store, X, grad_outputs=v), [0.0, 1.0, 4.0])


def test_complex_convention():
    def square_modulus(z):
        return np.abs(z) ** 2

    assert at(square_modulus, np.array(1.0 + 2.0j)) == pytest.approx(2.0 + 4.0j)


def test_gradient_of_a_real_input_is_real():
    def rotated(x):
        z = x * np.exp(1j * x)
        return np.real(z) + np.abs(z)

    g = at(rotated, X, grad_outputs=np.ones(3))
    assert g.dtype == np.float64


def test_single_precision_stays():
    def chain(x):
        return np.sum(np.tanh(x) * 2.0 + x[::-1] ** 2) / 3.0

    g = at(chain, X.astype(np.float32))
    assert g.dtype == np.float32


# --- outputs without a derivative ---------------------------------------------------------------


def mixture(x):
    return x * 2.0, 3, True, None, "text", np.arange(3)


def test_integers_truth_values_none_and_texts_take_no_cotangent():
    assert at(mixture, 1.5) == 2.0
    assert at(mixture, 1.5, grad_outputs=(3.0, None, None, None, None, None)) == 6.0
    for k in range(1, 6):
        given = [None] * 6
        given[k] = 1.0
        with pytest.raises(CotangentError, match=f"grad_outputs.{k}.: expected None"):
            at(mixture, 1.5, grad_outputs=tuple(given))


@pytest.mark.parametrize("output", [1, 2, 4, 5])
def test_an_output_without_a_derivative_is_reached_by_no_input(output):
    with pytest.raises(srcdiff.errors.UnusedInputError):
        srcdiff.grad(mixture, outputs=output)(1.5)
    assert srcdiff.grad(mixture, outputs=output, allow_unused=True)(1.5) is None
    assert srcdiff.grad(mixture, outputs=output, materialize_grads=True)(1.5) == 0.0


def test_a_position_and_a_parameter_as_outputs():
    def f(a, b):
        b[0] = a * 2.0
        return a * 3.0

    g = srcdiff.grad(f, "a", outputs=(0, "b"))
    assert g(1.0, np.zeros(2), grad_outputs=(1.0, np.array([10.0, 0.0]))) == 23.0


@pytest.mark.parametrize("given", [1.0, np.float32(1.0), np.array(1.0), 2])
def test_real_cotangent_of_a_complex_output(given):
    with pytest.raises(CotangentError, match="expected complex numbers"):
        srcdiff.grad(models.scalar)(1.0 + 2.0j, grad_outputs=given)
    with pytest.raises(CotangentError, match="expected complex numbers"):
        srcdiff.grad(models.vector)(X * 1j, grad_outputs=np.ones(3))
    batched = srcdiff.grad(models.vector, is_grads_batched=True)
    with pytest.raises(CotangentError, match="expected complex numbers"):
        batched(X * 1j, grad_outputs=np.ones((2, 3)))


def test_expected_and_given_and_the_return_line():
    with pytest.raises(CotangentError) as info:
        srcdiff.grad(models.vector)(X, grad_outputs=np.ones((3, 1)))
    first, line, caret = str(info.value).splitlines()
    assert first == "grad_outputs: expected shape (3,), given shape (3, 1)"
    assert "models.py:" in line and line.endswith(":5: return x * x")
    assert caret.strip() == "^" and line[caret.index("^") :] == "return x * x"


def test_an_error_never_releases():
    _, pull = srcdiff.vjp(models.vector, X)
    for wrong in (np.ones(2), np.ones(3) * 1j, "text"):
        with pytest.raises(CotangentError):
            pull(wrong, retain_graph=False)
    close(pull(np.ones(3), retain_graph=False), 2.0 * X)
    with pytest.raises(srcdiff.errors.ReleasedError, match="Trying to backward through the graph"):
        pull(np.ones(3))


# --- what becomes of an input that no output depends on -----------------------------------------


def compared(x, k):
    if k > 0.0:
        return x * 2.0
    return x


def rounded(x, k):
    return x * np.floor(k)


def held(x, k):
    return x * srcdiff.stop_gradient(k)


def measured(x, k):
    return x * k.shape[0]


def stored(x, k):
    n = np.zeros(2, int)
    n[0] = k
    return x * n[0]


def forgotten(x, k):
    y = k * 2.0  # noqa: F841
    return x * 3.0


def not_named(x, k):
    return x * 3.0


def elsewhere(x, k):
    return x * 3.0, k * 2.0


FATES = {
    compared: "only compared (line {1})",
    rounded: "only passed to `np.floor` (line {1})",
    held: "only held constant (line {1})",
    measured: "only asked for its `shape` (line {1})",
    stored: "only stored in what has no derivative (line {2})",
    forgotten: "only used for what nobody uses",
    not_named: "not used",
    elsewhere: "only returned where it is no selected output (line {1})",
}


@pytest.mark.parametrize("f", FATES, ids=lambda f: f.__name__)
def test_the_reason_why_an_input_is_unused(f):
    first = f.__code__.co_firstlineno
    fate = FATES[f].format(*range(first, first + 4))
    k = np.ones(2) if f is measured else 2.0
    with pytest.raises(srcdiff.errors.UnusedInputError) as info:
        srcdiff.grad(f, "k", outputs=0 if f is elsewhere else None)(1.0, k)
    assert info.value.reason.endswith(f"depends differentiably on `k`, which is {fate}")
    assert info.value.loc.line == first


# --- the time of an error: when the derivative is generated, or when it runs --------------------


def declared(x: float, n: int, flag: bool):
    return x * n if flag else x


def calls_nothing_known(x):
    return np.sum(np.unwrap(x, period=3.0) * np.histogramdd(x)[0][0, 0])


def tries(x):
    try:
        return x * x
    finally:
        pass


AT_TRANSFORM = {
    "unknown input": (models.loss, {"inputs": "z"}, srcdiff.TransformError, RuntimeError),
    "position": (models.loss, {"inputs": 9}, srcdiff.TransformError, RuntimeError),
    "no inputs": (models.loss, {"inputs": ()}, srcdiff.TransformError, ValueError),
    "unknown output": (models.pair, {"outputs": 5}, srcdiff.TransformError, RuntimeError),
    "unused": (models.unused, {"inputs": "k"}, srcdiff.errors.UnusedInputError, RuntimeError),
    "output not reached": (mixture, {"outputs": 1}, srcdiff.errors.UnusedInputError, RuntimeError),
    "both options": (
        models.unused, {"allow_unused": False, "materialize_grads": True}, ValueError, ValueError,
    ),
    "integer": (declared, {"inputs": "n"}, srcdiff.errors.DtypeError, TypeError),
    "truth value": (declared, {"inputs": "flag"}, srcdiff.errors.DtypeError, TypeError),
    "statement": (tries, {}, srcdiff.UnsupportedError, NotImplementedError),
    "rule": (calls_nothing_known, {}, srcdiff.errors.MissingRuleError, NotImplementedError),
    "aux": (models.loss, {"has_aux": True}, srcdiff.TransformError, RuntimeError),
}  # fmt: skip


@pytest.mark.parametrize("case", AT_TRANSFORM)
def test_errors_of_transform_time(case):
    """Generating the text is enough, and every error is a builtin one as well."""
    f, options, error, builtin = AT_TRANSFORM[case]
    with pytest.raises(error) as info:
        srcdiff.source(f, **options)
    assert isinstance(info.value, builtin)
    if isinstance(info.value, srcdiff.TransformError) and case != "no inputs":
        assert info.value.loc.file.endswith(".py") and info.value.loc.line > 0
        assert info.value.reason and info.value.remedy


def square_roots(x):
    return np.sum(np.sqrt(x))


def released():
    _, pull = srcdiff.vjp(models.scalar, 2.0)
    pull.release()
    pull()


AT_CALL = {
    "missing": (lambda: srcdiff.grad(models.vector)(X), CotangentError, RuntimeError),
    "shape": (
        lambda: srcdiff.grad(models.vector)(X, grad_outputs=np.ones(2)),
        CotangentError, ValueError,
    ),
    "type": (
        lambda: srcdiff.grad(models.vector)(X, grad_outputs="text"),
        srcdiff.errors.CotangentTypeError, TypeError,
    ),
    "batch": (
        lambda: srcdiff.grad(models.vector, is_grads_batched=True)(X, grad_outputs=X),
        CotangentError, ValueError,
    ),
    "into": (
        lambda: srcdiff.backward(models.loss)(2.0, X, into={"w": np.zeros(2)}),
        CotangentError, ValueError,
    ),
    "dtype": (lambda: srcdiff.grad(models.scalar)(2), srcdiff.errors.DtypeError, TypeError),
    "released": (released, srcdiff.errors.ReleasedError, RuntimeError),
    "anomaly": (
        lambda: srcdiff.grad(square_roots, check_inf=True)(np.zeros(2)),
        srcdiff.errors.AnomalyError, FloatingPointError,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", AT_CALL)
def test_errors_of_call_time(case):
    """The text is there, and the call raises."""
    f, error, builtin = AT_CALL[case]
    with np.errstate(all="ignore"), pytest.raises(error) as info:
        f()
    assert isinstance(info.value, builtin) and isinstance(info.value, RuntimeError)
    assert isinstance(info.value, srcdiff.SrcdiffError)
    assert not isinstance(info.value, srcdiff.TransformError)


# --- kinks that have no test of their own above -------------------------------------------------


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    ("f", "x", "expected"),
    [
        (lambda x: np.linalg.norm(x), [0.0, 0.0], [0.0, 0.0]),
        (lambda x: np.sinc(x), [0.0], [0.0]),
        (lambda x: np.sum(np.sort(x) * np.arange(4.0)), [2.0, 1.0, 2.0, 1.0], [2.0, 0.0, 3.0, 1.0]),
        (lambda x: np.sum(np.cumprod(x)), [2.0, 0.0, 3.0], [1.0, 8.0, 0.0]),
        (lambda x: np.linalg.det(x.reshape(2, 2)), [1.0, 2.0, 2.0, 4.0], [4.0, -2.0, -2.0, 1.0]),
        (lambda x: np.linalg.det(x.reshape(2, 2)), [0.0] * 4, [0.0] * 4),
        (lambda x: np.sum(0.0**x), [0.0, 2.0], [0.0, 0.0]),
        (lambda x: np.sum(np.sign(x) + np.floor(x) + x), [0.0, 1.0], [1.0, 1.0]),
    ],
    ids=["norm", "sinc", "sort", "cumprod", "det", "det of zero", "power of zero", "steps"],
)  # fmt: skip
def test_kinks(f, x, expected):
    x = np.array(x)
    v = np.ones_like(f(x)) if np.shape(f(x)) else None
    np.testing.assert_allclose(srcdiff.grad(f)(x, grad_outputs=v), expected, atol=1e-15)
