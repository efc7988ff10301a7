"""SciPy's functions that take functions: what these capture, and their arguments, are active."""

import numpy as np
import pytest

import srcdiff

from .check import close

pytest.importorskip("scipy", reason="SciPy is an extra")
from scipy import integrate  # noqa: E402

RATE = 1.3


def checked(f, args, inputs, second=True, **options):
    """Whether a program's derivatives agree with differences: both modes, and those of them."""
    assert srcdiff.gradcheck(f, args, inputs=inputs, check_forward_ad=True, **options)
    if second:
        assert srcdiff.gradgradcheck(f, args, inputs=inputs, **options)


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


def test_a_variable_outside_of_the_integrand():
    def f(b):
        return integrate.quad(lambda t: np.exp(-RATE * t), 0.0, b)[0]

    exact = -(1.0 - np.exp(-2.0 * RATE) * (1.0 + 2.0 * RATE)) / RATE**2
    assert srcdiff.grad(f, "global:RATE")(2.0) == pytest.approx(exact, rel=1e-10)


def test_large_arrays_in_the_integrand():
    a = np.linspace(0.5, 1.5, 7)
    g = srcdiff.grad(lambda a: integrate.quad(lambda t: np.sum(np.exp(-a * t)), 0.0, 3.0)[0])(a)
    close(g, (np.exp(-3 * a) * (1 + 3 * a) - 1) / a**2)


def test_what_is_asked_of_quad_besides_the_value_is_refused():
    def f(k):
        return integrate.quad(lambda t: np.cos(k * t), 0.0, 1.0, weight="cos", wvar=2.0)[0]

    with pytest.raises(srcdiff.MissingRuleError, match="the argument `weight`"):
        srcdiff.grad(f)(1.0)


# --- functions that cannot be passed on -----------------------------------------------------------


def test_a_choice_of_functions_that_capture_is_refused():
    def f(k, flag):
        g = (lambda x: np.cos(k * x)) if flag else (lambda x: np.sin(k * x))
        return k + srcdiff.fixed_point(g, 0.5)

    with pytest.raises(srcdiff.UnsupportedError) as info:
        srcdiff.grad(f)(0.5, True)
    assert info.value.loc.line
