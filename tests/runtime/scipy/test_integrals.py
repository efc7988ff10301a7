"""Solutions of differential equations: `odeint` and `solve_ivp`, in both modes and every order."""

import numpy as np
import pytest

import srcdiff

pytest.importorskip("scipy", reason="SciPy is an extra")
from scipy import integrate  # noqa: E402

A = np.array([0.7, 1.3])


def pendulum(y0, k):
    def slope(y, t):
        return [y[1], -k * np.sin(y[0]) - 0.1 * y[1]]

    y = integrate.odeint(slope, y0, np.linspace(0.0, 2.0, 5), rtol=1e-11, atol=1e-11)
    return np.sum(y[1:, 0] ** 2)


def at_times(y0, k, c, t):
    def slope(y, t, c):
        return -k * y * y + c * t

    y = integrate.odeint(slope, y0, t, args=(c,), rtol=1e-11, atol=1e-11)
    return np.sum(y[-1] * y[1]) + y[0, 0]


def oscillator(y0, k):
    """Values between the ends, and the times among them."""
    found = integrate.solve_ivp(
        lambda t, y: np.array([y[1], k * (1.0 - y[0] ** 2) * y[1] - y[0]]), (0.0, 2.0), y0,
        t_eval=[0.5, 1.0, 1.7], rtol=1e-10, atol=1e-10,
    )  # fmt: skip
    if not found.success:
        raise ArithmeticError("not solved")
    return np.sum(found.y[0] * found.t) + found.y[1, -1]


def steps_of_the_solver(y0, k, rates):
    found = integrate.solve_ivp(
        lambda t, y, k: -k * y * rates, (0.0, 2.0), [y0, 2.0], "LSODA", args=(k,), rtol=1e-10,
        atol=1e-10,
    )  # fmt: skip
    return found.y[0, -1] + found.y[1, -1] ** 2


def until(start, end, y0, k):
    """The ends of the span; the times of the last step and of the first are those."""
    found = integrate.solve_ivp(
        lambda t, y: np.array([y[1], -k * np.sin(y[0]) + np.cos(t) * y[1]]), (start, end), y0,
        "DOP853", rtol=1e-11, atol=1e-11,
    )  # fmt: skip
    return np.sum(found.y[:, -1] ** 2) * found.t[-1] + found.t[0] * found.y[0, 0]


def between(times, start, k):
    found = integrate.solve_ivp(
        lambda t, y: -k * y * y * t, (start, 3.0), [1.0, k], "DOP853", t_eval=times,
        rtol=1e-11, atol=1e-11,
    )  # fmt: skip
    return np.sum(found.y[0] * found.y[1] * found.t)


def in_an_array(span, k):
    found = integrate.solve_ivp(
        lambda t, y: -k * y * y * t, span, [1.0], "DOP853", rtol=1e-11, atol=1e-11
    )
    return found.y[0, -1] * found.t[-1]


def slope(y, t, a, b):
    return -a * y * y + b


def arguments(p):
    """Of a tuple that is an input."""
    return integrate.odeint(slope, [1.0, 0.5], [0.0, 1.0], args=p, rtol=1e-11, atol=1e-11)[-1, 0]


def some_arguments(p):
    y = integrate.odeint(
        slope, [1.0, 0.5], [0.0, 1.0], args=(p[0], *p[1:]), rtol=1e-11, atol=1e-11
    )
    return y[-1, 1]


def more_arguments(p):
    found = integrate.solve_ivp(
        lambda t, y, a, b: slope(y, t, a, b), (0.0, 1.0), [1.0], "DOP853", args=tuple(p),
        rtol=1e-11, atol=1e-11,
    )  # fmt: skip
    return found.y[0, -1]


def whole_numbers(k, m):
    """As times, and as the start."""
    y = integrate.odeint(lambda y, t: -k * y * t, [1, 2], np.arange(3), rtol=1e-11, atol=1e-11)
    found = integrate.solve_ivp(
        lambda t, y, p, q: [y[1], -k * y[0] * p[0] * q], [0, 2], [1, 0], args=(m, 3), rtol=1e-10,
        atol=1e-10,
    )  # fmt: skip
    return np.sum(y**2) * found.y[0, -1]


EQUATIONS = {
    "whole numbers": (whole_numbers, (1.2, A), (0, 1)),
    "ends": (until, (0.2, 1.5, A, 1.2), (0, 1, 2, 3)),
    "t_eval": (between, (np.array([0.5, 1.0, 2.0]), 0.2, 1.2), (0, 1, 2)),
    "span": (in_an_array, (np.array([0.2, 1.5]), 1.2), (0, 1)),
    "tuple": (arguments, ((1.2, 0.3),), 0),
    "part of a tuple": (some_arguments, ((1.2, 0.3),), 0),
    "tuple of a list": (more_arguments, ([1.2, 0.3],), 0),
    "odeint": (pendulum, (A, 1.3), (0, 1)),
    "times": (at_times, (A, 1.3, 0.4, np.array([0.1, 0.4, 1.1])), (0, 1, 2, 3)),
    "solve_ivp": (oscillator, (A, 1.2), (0, 1)),
    "steps": (steps_of_the_solver, (1.0, 0.7, A), (0, 1, 2)),
}


@pytest.mark.parametrize("name", EQUATIONS)
def test_differential_equations(name):
    """Gradients, tangents, and gradients of gradients."""
    f, args, inputs = EQUATIONS[name]
    assert srcdiff.testing.gradcheck(f, args, inputs=inputs, check_forward_ad=True)
    assert srcdiff.testing.gradgradcheck(f, args, inputs=inputs, fast_mode=True)


ALONG = {
    "start of odeint": (pendulum, (A, 1.3), (np.array([0.3, -0.1]), None)),
    "argument of odeint": (pendulum, (A, 1.3), (None, 0.7)),
    "item of a start": (steps_of_the_solver, (1.0, 0.7, A), (1.0, None, None)),
    "item and argument": (steps_of_the_solver, (1.0, 0.7, A), (1.0, 0.5, None)),
}


@pytest.mark.parametrize("name", ALONG)
def test_tangents_along_some_inputs(name):
    """What has no tangent may be all arguments, or an item of a list."""
    f, args, tangents = ALONG[name]
    moved = [k for k, t in enumerate(tangents) if t is not None]
    gradients = srcdiff.grad(f, tuple(moved))(*args)
    expected = sum(np.sum(g * tangents[k]) for k, g in zip(moved, gradients))
    assert srcdiff.jvp(f, args, tangents)[1] == pytest.approx(expected, rel=1e-5)


def test_the_adjoint_is_stable_where_the_equation_forgets():
    """Run backwards, the equation itself would grow by exp(200)."""

    def f(y0, k):
        y = integrate.odeint(lambda y, t: -200.0 * (y - k * t), y0, [0.0, 1.0], rtol=1e-9)
        return y[-1, 0]

    by_start, by_k = srcdiff.grad(f, (0, 1))(2.0, 3.0)
    assert abs(by_start) < 1e-8 and by_k == pytest.approx(1.0 - 1.0 / 200.0, rel=1e-6)


def test_large_constants_are_not_integrated():
    text = srcdiff.source(steps_of_the_solver, "k", example=(1.0, 0.7, A))
    assert "found = ivp_adjoint(f, (0,), d_y, (0.0, 2.0), [y0, 2.0], t, (k, rates)" in (
        text.replace("\n        ", " ").replace("( f", "(f").replace("(y0, 2.0)", "[y0, 2.0]")
    )


def dense(y0):
    return integrate.solve_ivp(lambda t, y: -y, (0.0, 1.0), y0, dense_output=True).sol(0.5)


def appended(p):
    args = []
    for i in range(len(p)):
        args.append(p[i])
    return integrate.odeint(slope, [1.0], [0.0, 1.0], args=tuple(args))[-1, 0]


@pytest.mark.parametrize(
    "f, x, reason",
    [
        (dense, A, "`dense_output`"),
        (appended, A, "how many arguments it passes on"),
    ],
)
def test_what_is_not_followed_is_refused(f, x, reason):
    with pytest.raises(srcdiff.errors.MissingRuleError, match=reason):
        srcdiff.grad(f)(x)
    with pytest.raises(srcdiff.errors.MissingRuleError, match=reason):
        srcdiff.jvp(f, (x,), (x,))


# --- higher orders --------------------------------------------------------------------------------

V, W = np.array([0.3, -0.2]), np.array([0.2, 0.5, -0.3])
TIMES = np.array([0.1, 0.4, 1.1])


def along_everything(y0, k, c, t):
    return srcdiff.jvp(at_times, (y0, k, c, t), (V, 0.7, 0.2, W))[1]


def along_k(y0, k):
    return srcdiff.jvp(pendulum, (y0, k), (None, 0.7))[1]


def along_an_item(y0, k, rates):
    return srcdiff.jvp(steps_of_the_solver, (y0, k, rates), (0.3, None, None))[1]


def penalty(y0, k):
    return np.sum(srcdiff.grad(pendulum)(y0, k) ** 2)


HIGHER = {
    "tangent along everything": (along_everything, (A, 1.3, 0.4, TIMES)),
    "tangent along an argument": (along_k, (A, 1.3)),
    "tangent along an item": (along_an_item, (1.0, 0.7, A)),
    "gradient penalty": (penalty, (A, 1.3)),
}


@pytest.mark.parametrize("name", HIGHER)
def test_derivatives_of_derivatives(name):
    """Reverse and forward over forward, and over reverse."""
    f, args = HIGHER[name]
    inputs = tuple(range(len(args)))
    assert srcdiff.testing.gradcheck(f, args, inputs=inputs, check_forward_ad=True)


def logistic(y0, k):
    """The solution is known."""
    y = integrate.odeint(
        lambda y, t: k * y * (1.0 - y), y0, [0.0, 0.5, 1.5], rtol=1e-12, atol=1e-12
    )
    return y[-1, 0] + y[1, 0] ** 2


def exact(y0, k):
    late = y0 / (y0 + (1.0 - y0) * np.exp(-k * 1.5))
    early = y0 / (y0 + (1.0 - y0) * np.exp(-k * 0.5))
    return late + early**2


def test_second_derivatives_of_a_known_solution():
    assert logistic(0.3, 1.7) == pytest.approx(exact(0.3, 1.7), rel=1e-10)
    for inputs in (0, 1):
        expected = srcdiff.hessian(exact, inputs)(0.3, 1.7)
        found = srcdiff.hessian(logistic, inputs)(0.3, 1.7)
        twice = srcdiff.grad(srcdiff.grad(logistic, inputs), inputs)(0.3, 1.7)
        assert found == pytest.approx(expected, rel=1e-8)
        assert twice == pytest.approx(expected, rel=1e-8)
    found = srcdiff.hvp(logistic, (0.3, 1.7), (0.4, -0.6), inputs=(0, 1))
    expected = srcdiff.hvp(exact, (0.3, 1.7), (0.4, -0.6), inputs=(0, 1))
    for one, other in zip(found, expected, strict=True):
        assert one == pytest.approx(other, rel=1e-8)


def thrice(f):
    return srcdiff.grad(srcdiff.grad(srcdiff.grad(f, 1), 0), 1)(0.3, 1.7)


def test_third_derivatives_of_a_known_solution():
    """Of gradients, and of a tangent."""
    assert thrice(logistic) == pytest.approx(thrice(exact), rel=1e-7)

    def along(f):
        return srcdiff.grad(srcdiff.grad(lambda y0, k: srcdiff.jvp(f, (y0, k), (0.4, -0.6))[1], 1))

    assert along(logistic)(0.3, 1.7) == pytest.approx(along(exact)(0.3, 1.7), rel=1e-7)


def test_the_second_derivative_is_stable_where_the_equation_forgets():
    def f(y0, k):
        y = integrate.odeint(lambda y, t: -200.0 * (y - k * k * t), y0, [0.0, 1.0], rtol=1e-9)
        return y[-1, 0]

    expected = 2.0 * (1.0 - 1.0 / 200.0)
    assert srcdiff.hessian(f, 1)(2.0, 3.0) == pytest.approx(expected, rel=1e-6)
    assert srcdiff.grad(srcdiff.grad(f, 1), 1)(2.0, 3.0) == pytest.approx(expected, rel=1e-6)


def test_differential_equations_are_real():
    def f(k):
        y = integrate.solve_ivp(lambda t, y: -k * y, (0.0, 1.0), np.array([1.0 + 0.0j])).y
        return np.abs(y[0, -1])

    for k in (1.0, 1.0 + 0.5j):
        with pytest.raises(TypeError, match="are for real"):
            srcdiff.grad(f)(k)
        with pytest.raises(TypeError, match="are for real"):
            srcdiff.jvp(f, (k,), (1.0,))


def at_some_times(y0, k, t):
    return integrate.odeint(lambda y, t: -k * y, y0, t, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("count", [0, 1, 2])
def test_few_times(count):
    """At the first of them the solution is its start."""
    args = np.array([0.5, -1.0]), 0.7, np.linspace(0.0, 1.0, count)
    w = np.arange(1.0, 1.0 + 2 * count).reshape(count, 2)
    by_start, by_rate = srcdiff.grad(at_some_times, (0, 1))(*args, grad_outputs=w)
    decayed = np.exp(-0.7 * args[2])[:, None]
    np.testing.assert_allclose(by_start, np.sum(w * decayed, axis=0), rtol=1e-6)
    slope = -args[2][:, None] * decayed * args[0]
    np.testing.assert_allclose(by_rate, np.sum(w * slope), rtol=1e-6)
    _, tangent = srcdiff.jvp(at_some_times, args, (None, 1.0, None))
    np.testing.assert_allclose(tangent, slope, rtol=1e-6, atol=1e-9)
