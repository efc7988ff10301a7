"""SciPy's functions that take functions, sparse matrices and solvers, and what is declined."""

import numpy as np
import pytest

import srcdiff
from srcdiff.runtime.scipy.curves import interpolant
from tests.support.differences import close

pytest.importorskip("scipy", reason="SciPy is an extra")
from scipy import integrate, interpolate, optimize, signal, stats  # noqa: E402

RATE = 1.3


def checked(f, args, inputs, second=True, **options):
    """Whether a program's derivatives agree with differences: both modes, and those of them."""
    assert srcdiff.testing.gradcheck(f, args, inputs=inputs, check_forward_ad=True, **options)
    if second:
        assert srcdiff.testing.gradgradcheck(f, args, inputs=inputs, **options)


# --- integrals ------------------------------------------------------------------------------------


def decay(k, b):
    return integrate.quad(lambda t: np.exp(-k * t), 0.0, b)[0]


def waves(k, c, a):
    def wave(t, c, shift=0.5):
        y = np.sin(k[0] * t)
        for i in range(2):
            y += k[i] * shift
        return y * c

    value, error = integrate.quad(wave, a, a + 2.0, args=(c,), epsrel=1e-10)
    return value * c


def bell(t, m, s):
    return np.exp(-(((t - m) / s) ** 2))


def over_everything(m, s):
    return integrate.quad(bell, -np.inf, np.inf, (m, s), limit=80)[0] * m


def nested(k):
    def inner(t):
        return integrate.quad(lambda s: np.cos(k * s * t), 0.0, 1.0)[0]

    return integrate.quad(inner, 0.0, k)[0]


def in_a_loop(k):
    total = 0.0
    for i in range(3):
        total += integrate.quad(lambda t, i=i: np.exp(-k * t) * t**i, 0.0, 1.0)[0]
    return total


def with_points(k, c):
    return integrate.quad(lambda t: np.abs(t - 0.5) ** k, 0.0, 1.0, points=(0.5,))[0] * c


INTEGRALS = {
    "decay": (decay, (1.3, 2.0), (0, 1)),
    "infinite": (over_everything, (0.3, 1.2), (0, 1)),
    "loop": (in_a_loop, (0.7,), 0),
    "points": (with_points, (1.5, 2.0), (0, 1)),
}


@pytest.mark.parametrize("name", INTEGRALS)
def test_integrals(name):
    checked(*INTEGRALS[name])


def test_integrals_of_integrals():
    checked(nested, (0.8,), 0, second=False)


def test_an_integrand_with_defaults_of_its_own_takes_its_arguments_by_position():
    with pytest.raises(srcdiff.UnsupportedError, match="the nested function `wave`"):
        srcdiff.grad(waves)(np.ones(2), 1.5, 0.2)


def test_the_text_of_an_integral():
    text = srcdiff.source(decay, ("k", "b"), example=(1.3, 2.0))
    assert "def func(t, k):\n    return np.exp(-k * t)\n" in text
    assert "d_k = integral(vjp_by(func, 1), 0.0, b, (k, grad_outputs))" in text
    assert "d_b = grad_outputs * func(b, k)" in text


def made_of_integrals(w, b):
    def wave(t, c):
        return np.sum(w * np.sin(c * t)) * b

    total = integrate.quad(wave, 0.0, b, args=(2.0,))[0]
    for i in range(2):
        total += integrate.quad(pulse, 0.0, b + i, (w[i], 0.5))[0] * w[i]
    return total


def pulse(t, k, c):
    return np.exp(-k * t * t) + c


FILES = {
    "decay": (decay, (1.3, 2.0), (0, 1), {}),
    "parts": (decay, (1.3, 2.0), (0, 1), {"split": True}),
    "arrays": (made_of_integrals, (np.array([0.4, -1.2]), 1.5), (0, 1), {}),
    "nested": (nested, (0.8,), 0, {}),
}


@pytest.mark.parametrize("name", FILES)
def test_files_of_integrals(name):
    """The gradient of the integrand is a function of the file."""
    f, args, inputs, options = FILES[name]
    text = srcdiff.aot.generate(f, inputs=inputs, example=args, **options)
    assert "import srcdiff" not in text and "from srcdiff" not in text and "vjp_by" not in text
    space = {"__name__": "alone"}
    exec(compile(text, "alone.py", "exec"), space)
    if options:
        _, residuals = space[f"{f.__name__}_grad_forward"](*args)
        found = space[f"{f.__name__}_grad_backward"](residuals)
    else:
        found = space[f"{f.__name__}_grad"](*args)
    expected = srcdiff.grad(f, inputs)(*args)
    pairs = zip(found, expected, strict=True) if inputs else [(found, expected)]
    for one, other in pairs:
        np.testing.assert_allclose(one, other, rtol=1e-12)


TWICE = {
    "decay": (decay, (1.3, 2.0), (0, 1), (0.4, -0.7)),
    "one input": (decay, (1.3, 2.0), 0, 1.0),
    "infinite": (over_everything, (0.3, 1.2), (0, 1), (0.4, -0.7)),
    "loop": (in_a_loop, (0.7,), 0, 1.0),
    "arrays": (
        made_of_integrals, (np.array([0.4, -1.2]), 1.5), (0, 1), (np.array([0.3, 0.8]), -0.7)
    ),
    "nested": (nested, (0.8,), 0, 1.0),
}  # fmt: skip


@pytest.mark.parametrize("name", TWICE)
def test_files_of_second_derivatives_of_integrals(name):
    """The gradient of the gradient of the integrand is a function of the file."""
    f, args, inputs, way = TWICE[name]
    text = srcdiff.aot.generate(f, inputs=inputs, example=args, order=2)
    assert "import srcdiff" not in text and "from srcdiff" not in text and "vjp_by" not in text
    space = {"__name__": "alone"}
    exec(compile(text, "alone.py", "exec"), space)
    found = space[f"{f.__name__}_grad_grad"](*args, grad_outputs=way)
    found = found if isinstance(inputs, tuple) else (found,)
    both = (inputs, way) if isinstance(inputs, tuple) else ((inputs,), (way,))
    expected = srcdiff.hvp(f, args, both[1], inputs=both[0])
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-7, atol=1e-9)


def test_files_that_generate_tangents_of_integrands_are_refused():
    with pytest.raises(srcdiff.UnsupportedError, match="needs srcdiff itself"):
        srcdiff.aot.generate(decay, inputs="k", example=(1.3, 2.0), mode="forward")


def test_a_variable_outside_of_the_integrand():
    def f(b):
        return integrate.quad(lambda t: np.exp(-RATE * t), 0.0, b)[0]

    exact = -(1.0 - np.exp(-2.0 * RATE) * (1.0 + 2.0 * RATE)) / RATE**2
    assert srcdiff.grad(f, "global:RATE")(2.0) == pytest.approx(exact, rel=1e-10)


def by_rate(t):
    return np.exp(-RATE * t)


def test_a_function_from_outside_that_reads_the_variable_is_refused():
    def f(b):
        return integrate.quad(by_rate, 0.0, b)[0] + RATE

    with pytest.raises(srcdiff.UnsupportedError, match="`by_rate`, an argument, reads"):
        srcdiff.grad(f, "global:RATE")(2.0)


class Decay:
    def __init__(self, rate):
        self.rate = rate

    def at(self, t):
        return np.exp(-self.rate * t)

    def until(self, b):
        return integrate.quad(self.at, 0.0, b)[0]

    def by_numbers(self, b):
        rate = self.rate
        return integrate.quad(lambda t: np.exp(-rate * t), 0.0, b)[0]


def test_what_a_function_reads_of_an_object():
    exact = srcdiff.grad(decay)(1.3, 2.0)
    found = srcdiff.grad(Decay.by_numbers, "self.rate")(Decay(1.3), 2.0)
    assert found == pytest.approx(exact, rel=1e-9)
    with pytest.raises(TypeError, match="local variables"):
        srcdiff.grad(Decay.until, "self.rate")(Decay(1.3), 2.0)


def test_large_arrays_in_the_integrand():
    a = np.linspace(0.5, 1.5, 7)
    g = srcdiff.grad(lambda a: integrate.quad(lambda t: np.sum(np.exp(-a * t)), 0.0, 3.0)[0])(a)
    close(g, (np.exp(-3 * a) * (1 + 3 * a) - 1) / a**2)


def test_what_is_asked_of_quad_besides_the_value_is_refused():
    def f(k):
        return integrate.quad(lambda t: np.cos(k * t), 0.0, 1.0, weight="cos", wvar=2.0)[0]

    with pytest.raises(srcdiff.errors.MissingRuleError, match="the argument `weight`"):
        srcdiff.grad(f)(1.0)


# --- roots ----------------------------------------------------------------------------------------


def bracketed(a, b):
    return optimize.brentq(lambda x: x**3 + a * x - b, 0.0, 3.0) * a


def with_slope(a, b):
    def slope(x):
        return 3.0 * x * x + a

    return optimize.newton(lambda x: x**3 + a * x - b, 1.0, fprime=slope, tol=1e-13)


def curves(v, a):
    return np.array([v[0] ** 2 + a[0] * v[1] - 2.0, v[1] - a[1] * v[0]])


def crossing(a):
    x, y = optimize.fsolve(curves, np.ones(2), args=(a,), xtol=1e-13)
    return x * y + a[0]


def crossing_of_captured(a):
    found = optimize.root(lambda v: curves(v, a * a), [1.0, 1.0], tol=1e-13)
    if not found.success:
        raise ValueError("no crossing")
    return np.sum(found.x**2)


def scalar_root(a, b):
    found = optimize.root_scalar(lambda x: np.exp(x) - a, bracket=[0.0, 3.0], method="brentq")
    return found.root * b if found.converged else b


def kepler(e, mean):
    return np.sum(optimize.fixed_point(lambda x: mean + e * np.sin(x), np.ones(2), xtol=1e-13))


def optimum(a, b):
    """The root of a derivative."""

    def cost(x):
        return (x - a) ** 2 + b * np.exp(x)

    return optimize.newton(srcdiff.grad(cost), 0.1, tol=1e-13)


A = np.array([0.7, 1.3])
ROOTS = {
    "brentq": (bracketed, (1.3, 2.0), (0, 1)),
    "newton": (with_slope, (1.3, 2.0), (0, 1)),
    "fsolve": (crossing, (A,), 0),
    "root": (crossing_of_captured, (A,), 0),
    "root_scalar": (scalar_root, (2.0, 1.5), (0, 1)),
    "fixed_point": (kepler, (0.4, A), (0, 1)),
}


@pytest.mark.parametrize("tangents", [(None, 1.0), (0.5, None)])
def test_tangents_of_integrals_along_some_inputs(tangents):
    """The limits alone, or an argument alone."""
    both = zip(srcdiff.grad(decay, (0, 1))(1.3, 2.0), tangents, strict=True)
    expected = sum(g * t for g, t in both if t is not None)
    assert srcdiff.jvp(decay, (1.3, 2.0), tangents)[1] == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("name", ROOTS)
def test_roots(name):
    checked(*ROOTS[name])


def listed(v, a):
    return [v[0] ** 2 + a[0] * v[1] - 2.0, v[1] - a[1] * v[0]]


def paired(v, a):
    return tuple(listed(v, a))


def crossing_of_listed(a):
    return np.sum(optimize.fsolve(listed, np.ones(2), args=(a,)))


def crossing_of_paired(a):
    return np.sum(optimize.root(paired, np.ones(2), args=(a,)).x)


LISTED = [(crossing_of_listed, listed), (crossing_of_paired, paired)]


@pytest.mark.parametrize("f, equation", LISTED)
def test_an_equation_that_returns_a_list_is_refused_with_its_line(f, equation):
    for derivative in (lambda: srcdiff.grad(f)(A), lambda: srcdiff.jvp(f, (A,), (A,))):
        with pytest.raises(srcdiff.UnsupportedError, match="of an array") as info:
            derivative()
        assert info.value.loc.line == equation.__code__.co_firstlineno
        assert "np.array" in info.value.remedy


def complex_root(k):
    """From a real first guess."""
    return np.abs(optimize.newton(lambda x: x * x - k, 1.0, tol=1e-13))


def complex_integral(k):
    return integrate.quad(lambda t: np.abs(np.exp(-k * t)), 0.0, 2.0)[0]


@pytest.mark.parametrize("f", [complex_root, complex_integral])
def test_complex_arguments(f):
    checked(f, (1.2 + 0.5j,), 0, second=False)


def with_both_slopes(a, b):
    """Halley's method, whose second slope captures as well."""
    return optimize.newton(
        lambda x: x * x * x + a * x - b, 1.0, lambda x: 3.0 * x * x + a, fprime2=lambda x: 6.0 * x
    )


def test_halley():
    checked(with_both_slopes, (1.2, 0.7), (0, 1))


def test_the_text_of_a_root():
    text = srcdiff.source(bracketed, ("a", "b"), example=(1.3, 2.0))
    assert "t = optimize.brentq(f, 0.0, 3.0, args=(a, b))" in text
    assert "adjoint = solve_adjoint(f, t, grad_outputs * a, a, b)" in text
    text = srcdiff.source(crossing_of_captured, example=(A,))
    assert "found_root(fun, [1.0, 1.0], (a,), tol=1e-13)" in text


def test_no_root_is_an_error():
    f = srcdiff.grad(lambda a: optimize.root(lambda v: v * v + a, np.ones(1)).x[0])
    with pytest.raises(ArithmeticError, match="no root is found"):
        f(1.0)


# --- curves ---------------------------------------------------------------------------------------

X = np.array([0.0, 0.4, 1.0, 1.7, 2.0])
Y = np.array([1.0, 0.5, -0.3, 0.2, 0.8])


def spline_and_slope(y, t):
    curve = interpolate.CubicSpline(X, y)
    return np.sum(curve(t) ** 2) + curve(0.3, 1)


def natural(y, t):
    """Several curves at once."""
    y = np.stack((y, y * y), axis=1)
    return np.sum(interpolate.CubicSpline(X, y, bc_type="natural")(t) ** 2)


def in_steps(y, t):
    cubic = interpolate.interp1d(X, y, kind="cubic")
    linear = interpolate.interp1d(X, y)
    total = 0.0
    for i in range(len(t)):
        total += cubic(t[i]) * linear(t[i])
    return total


def of_constants(y, t):
    return np.sum(interpolate.make_interp_spline(X, np.sin(X), k=2)(t) ** 2) * y[0]


def monotone(y, t):
    """Curves whose points move as well, and that are asked for a slope."""
    curve = interpolate.PchipInterpolator(X + 0.1 * y, np.stack((y, np.sin(3.0 * y)), axis=1))
    return curve(t)[:, 0] * curve(t, 1)[:, 1] + interpolate.PchipInterpolator(X, y)(0.3, nu=2)


@pytest.mark.parametrize("f", [spline_and_slope, natural, in_steps, of_constants, monotone])
def test_curves(f):
    checked(f, (Y, np.array([0.1, 0.6, 1.9])), (0, 1))


def rows_by_interp1d(y, t):
    """Whose points stand along the last axis."""
    rows = np.stack([y, 2.0 * y[::-1], y * y])
    return interpolate.interp1d(X, rows)(t) * interpolate.interp1d(X, rows, "cubic")(t)


def test_points_in_rows():
    checked(rows_by_interp1d, (Y, np.array([0.3, 0.9])), (0, 1))
    assert np.shape(rows_by_interp1d(Y, 0.3)) == (3,)
    checked(lambda y: rows_by_interp1d(y, 0.3), (Y,), 0)


FLAT = np.array([0.5, 0.5, 1.0, 3.0, 3.0])


def test_a_monotone_curve_that_is_flat_somewhere():
    """Where the slope at a point has a kink, it stays zero."""
    g = srcdiff.grad(lambda y, t: np.sum(interpolate.PchipInterpolator(X, y)(t)), (0, 1))
    d_y, d_t = g(FLAT, np.array([0.0, 0.2, 2.0]))
    s = 0.2 / 0.4
    np.testing.assert_allclose(d_y[1], 3.0 * s**2 - 2.0 * s**3, 1e-14)
    np.testing.assert_allclose(d_t, 0.0, atol=1e-15)


@pytest.mark.parametrize("x, y", [(X[::-1], Y), (X[:4], Y), (X, Y * np.nan), (X * 0.0, Y)])
def test_points_of_which_scipy_makes_no_monotone_curve(x, y):
    def f(x, y):
        return interpolate.PchipInterpolator(x, y)(0.3)

    for call in (f, srcdiff.grad(f)):
        with pytest.raises(ValueError):
            call(x, y)


def periodic(x):
    return interpolate.CubicSpline(X, x, bc_type="periodic")(0.3)


def knots(x):
    return interpolate.CubicSpline(x, Y)(0.3)


def outside(x):
    return interpolate.interp1d(X, x, fill_value=0.0)(0.3)


def test_derivatives_of_an_order_above_the_degree_are_zeros():
    """SciPy 1.15 aborts when it is asked for some of them."""
    for nu in range(2, 6):
        found = interpolant(1, X, np.stack([X, 1j * X], -1), np.ones((2, 3)), nu)
        assert found.shape == (2, 3, 2) and found.dtype == complex and not found.any()


@pytest.mark.parametrize(
    "f, reason",
    [
        (periodic, "`bc_type` other than 'not-a-knot', 'natural' and 'clamped'"),
        (knots, "no derivative for the argument `x`"),
        (outside, "does not cover the argument `fill_value`"),
    ],
)
def test_curves_that_are_not_followed_are_refused(f, reason):
    with pytest.raises(srcdiff.errors.MissingRuleError, match=reason):
        srcdiff.grad(f)(X)


def test_a_value_outside_of_the_points_is_an_error():
    with pytest.raises(ValueError, match="outside of the points"):
        srcdiff.grad(lambda y: interpolate.interp1d(X, y)(2.5))(Y)


# --- frozen distributions -------------------------------------------------------------------------


def likelihood(x, m, s):
    normal = stats.norm(m, scale=s)
    return np.sum(normal.logpdf(x)) + normal.cdf(0.3) + stats.norm(0.0, 1.0).std() * m


def likelihood_of_the_module(x, m, s):
    return np.sum(stats.norm.logpdf(x, m, s)) + stats.norm.cdf(0.3, m, s) + m


def counts(x, m, s):
    return stats.poisson(m).logpmf(3) + np.sum(stats.gamma(m, scale=s).logpdf(x))


def several(x, m, s):
    normal = stats.multivariate_normal(np.zeros(2), s * np.eye(2) + m)
    return normal.logpdf(x) + normal.pdf(x)


@pytest.mark.parametrize("f", [likelihood, counts, several])
def test_frozen_distributions(f):
    checked(f, (A, 1.2, 0.8), (0, 1, 2))


def test_a_frozen_distribution_is_that_of_the_module():
    found, expected = (
        srcdiff.grad(f, (0, 1, 2))(A, 1.2, 0.8) for f in (likelihood, likelihood_of_the_module)
    )
    for a, b in zip(found, expected, strict=True):
        close(a, b)


def test_what_a_frozen_distribution_draws_is_a_constant_or_refused():
    def drawn(x):
        return np.sum(x * stats.norm(0.0, 1.0).rvs(2, random_state=0))

    close(srcdiff.grad(drawn)(A), stats.norm(0.0, 1.0).rvs(2, random_state=0))
    with pytest.raises(srcdiff.errors.MissingRuleError, match="rvs"):
        srcdiff.grad(lambda m: stats.norm(m, 1.0).rvs(random_state=0))(1.0)


# --- functions that cannot be passed on -----------------------------------------------------------


def test_a_choice_of_functions_that_capture_is_refused():
    def f(k, flag):
        g = (lambda x: np.cos(k * x)) if flag else (lambda x: np.sin(k * x))
        return k + srcdiff.fixed_point(g, 0.5)

    with pytest.raises(srcdiff.UnsupportedError) as info:
        srcdiff.grad(f)(0.5, True)
    assert info.value.loc.line


# --- what no derivative meets ---------------------------------------------------------------------

PASSIVE = {
    "an option": lambda x: interpolate.CubicSpline(AT, HIGH, bc_type="natural", axis=-1)(0.5) * x,
    "outside": lambda x: interpolate.interp1d(AT, HIGH, fill_value="extrapolate")(7.5) * x,
    "derivative": lambda x: interpolate.CubicSpline(AT, HIGH).derivative()(0.5) * x,
    "coefficients": lambda x: interpolate.CubicSpline(AT, HIGH).c[0, 0] * x,
    "interval": lambda x: stats.norm(0.0, 1.0).interval(0.9)[0] * x,
    "cdf": lambda x: stats.multivariate_normal(np.zeros(2), np.eye(2)).cdf(np.ones(2)) * x,
    "dense": lambda x: integrate.solve_ivp(
        lambda t, y: -y, (0.0, 1.0), [1.0], dense_output=True
    ).sol(0.5)[0] * x,
    "counts": lambda x: integrate.solve_ivp(lambda t, y: -y, (0.0, 1.0), [1.0]).nfev * x,
    "residual": lambda x: optimize.root(lambda v: v**2 - 2.0, [1.0]).fun[0] * x,
    "iterations": lambda x: optimize.root_scalar(
        lambda v: v**2 - 2.0, bracket=(0.0, 2.0)
    ).iterations * x,
}  # fmt: skip
AT, HIGH = np.array([0.0, 1.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0, 5.0])


@pytest.mark.parametrize("name", PASSIVE)
def test_objects_that_no_derivative_meets_are_used_as_they_are(name):
    f = PASSIVE[name]
    slope = f(2.0) - f(1.0)
    assert srcdiff.grad(f)(1.0) == pytest.approx(slope)
    assert srcdiff.jvp(f, (1.0,), (1.0,))[1] == pytest.approx(slope)


def held_in_a_list(x):
    curves = [interpolate.CubicSpline(AT, HIGH), interpolate.CubicSpline(AT, 2.0 * HIGH)]
    return curves[0](x) * curves[1](0.5)


def captured(x):
    curve = interpolate.CubicSpline(AT, HIGH)
    return (lambda t: curve(t) * 2.0)(x)


def in_memory(x):
    rows = np.zeros((2, 4))
    row = rows[0]
    row[:] = x * HIGH
    return interpolate.CubicSpline(AT, rows[0])(0.5)


@pytest.mark.parametrize("f", [held_in_a_list, captured, in_memory])
def test_objects_that_a_derivative_meets_later(f):
    step = 1e-5
    slope = (f(0.8 + step) - f(0.8 - step)) / (2.0 * step)
    assert srcdiff.grad(f)(0.8) == pytest.approx(slope, rel=1e-8)
    assert srcdiff.jvp(f, (0.8,), (1.0,))[1] == pytest.approx(slope, rel=1e-8)


def test_squares_of_distances_are_smooth_where_points_meet():
    from scipy.spatial.distance import cdist, euclidean, pdist

    def roots(x):
        return np.sum(pdist(x) ** 2) + np.sum(np.exp(-(cdist(x, x[::-1]) ** 2)))

    def squares(x):
        s = cdist(x, x[::-1], "sqeuclidean")
        return np.sum(pdist(x, "sqeuclidean")) + np.sum(np.exp(-s))

    x, v = np.zeros((3, 2)), np.array([[1.0, 2.0], [3.0, -1.0], [0.5, 0.0]])
    close(srcdiff.hvp(roots, (x,), v), srcdiff.hvp(squares, (x,), v))
    two = srcdiff.hvp(lambda x: euclidean(x[0], x[1]) ** 2, (x,), v)
    close(two[0], 2.0 * (v[0] - v[1]))


def test_the_array_namespace_of_scipy_is_numpy():
    array_namespace = pytest.importorskip("scipy._lib._array_api").array_namespace

    def energy(x):
        xp = array_namespace(x)
        return xp.sum(xp.sin(x) ** 2) + optimize.rosen(x)

    x = np.array([0.3, -0.2, 0.7])
    close(srcdiff.grad(energy)(x), np.sin(2.0 * x) + optimize.rosen_der(x))


# --- sparse matrices, solvers, and what is declined ----------------------------------------------

sparse = pytest.importorskip("scipy.sparse", reason="SciPy is an extra")
from scipy.sparse.linalg import spsolve  # noqa: E402

DENSE = np.array([[2.0, 0.0, 1.0], [0.0, 3.0, 0.0], [0.5, 0.0, 4.0]])
SPARSE = sparse.csr_array(DENSE)
LOAD = np.array([1.0, -2.0, 0.5])


def product(a, x):
    return a @ x


def method(a, x):
    return a.dot(x)


def with_matrix(a, x):
    return a @ np.outer(x, x)


def from_the_left(a, x):
    return x @ a


def transposed(a, x):
    return a.T @ x


@pytest.mark.parametrize("f", [product, method, with_matrix, from_the_left, transposed])
@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csc_array, sparse.csr_matrix])
def test_products_with_a_sparse_matrix(f, make):
    w = np.cos(np.arange(float(f(DENSE, LOAD).size))).reshape(f(DENSE, LOAD).shape)
    g = srcdiff.grad(f, "x")
    close(g(make(DENSE), LOAD, grad_outputs=w), g(DENSE, LOAD, grad_outputs=w))
    tangent = srcdiff.jvp(lambda x: f(DENSE, x), (LOAD,), (LOAD * LOAD,))[1]
    a = make(DENSE)
    close(srcdiff.jvp(lambda x: f(a, x), (LOAD,), (LOAD * LOAD,))[1], tangent)


def test_a_global_sparse_matrix_and_a_solution():
    def solved(b):
        return np.sum(spsolve(SPARSE, b) ** 2) + np.sum(SPARSE @ b)

    def dense(b):
        return np.sum(np.linalg.solve(DENSE, b) ** 2) + np.sum(DENSE @ b)

    close(srcdiff.grad(solved)(LOAD), srcdiff.grad(dense)(LOAD))
    close(srcdiff.grad(srcdiff.grad(lambda b: spsolve(SPARSE, b)[0] ** 2))(LOAD, grad_outputs=LOAD),
          srcdiff.grad(srcdiff.grad(lambda b: np.linalg.solve(DENSE, b)[0] ** 2))(
              LOAD, grad_outputs=LOAD))  # fmt: skip


def test_the_remedy_for_solvers_works():
    root = srcdiff.implicit(
        lambda a: optimize.brentq(lambda t: t**3 - a, 0.0, 10.0), lambda x, a: x**3 - a
    )
    assert srcdiff.grad(lambda a: root(a) * 2.0)(8.0) == pytest.approx(2.0 / 12.0)


DECLINED = {
    "anderson": (lambda d: optimize.anderson(lambda t: t - d, LOAD), "srcdiff.implicit"),
    "minimize": (lambda d: optimize.minimize(lambda t: t @ d, LOAD).x, "srcdiff.implicit"),
    "dblquad": (lambda d: integrate.dblquad(lambda s, t: d[0], 0.0, 1.0, 0.0, 1.0)[0], "roots_l"),
    "bvp": (lambda d: integrate.solve_bvp(lambda x, y: y, lambda a, b: a, d, LOAD).y, "a loop"),
    "krogh": (lambda d: interpolate.KroghInterpolator([0.0, 1.0, 2.0], d)(0.5), "np.eye"),
    "akima": (lambda d: interpolate.Akima1DInterpolator([0.0, 1.0, 2.0], d)(0.5), "PchipInterp"),
}


@pytest.mark.parametrize("name", DECLINED)
def test_what_takes_functions_or_makes_objects_says_what_to_write(name):
    f, remedy = DECLINED[name]
    with pytest.raises(srcdiff.errors.MissingRuleError, match="is not differentiated") as info:
        srcdiff.grad(f)(LOAD)
    assert remedy in info.value.remedy


@pytest.mark.parametrize("states", [False, True])
def test_tangents_of_a_filter_stay_in_single_precision(states):
    def f(b, a, x, zi):
        return signal.lfilter(b, a, x, zi=zi)[0] if states else signal.lfilter(b, a, x)

    args = [np.array(v, np.float32) for v in ([0.5, 0.3], [2.0, 0.4], [1.0, 0.2, -0.3], [0.1])]
    for k in range(4 if states else 3):
        way = [a if i == k else None for i, a in enumerate(args)]
        value, tangent = srcdiff.jvp(f, tuple(args), tuple(way))
        assert value.dtype == tangent.dtype == np.float32


def test_states_of_another_shape_are_an_error():
    f = srcdiff.grad(lambda x, zi: np.sum(signal.lfilter([0.5, 0.2], [1.0, -0.4], x, zi=zi)[0]))
    for shape in ((2,), (0,), (1, 1)):
        with pytest.raises(ValueError):
            f(np.ones(4), np.ones(shape))
