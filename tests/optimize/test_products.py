"""Numbers in front of products: before and after, and which products stay as they are."""

import math
from inspect import getsource

import numpy as np
import pytest

import srcdiff
from srcdiff.codegen.emit import emit
from srcdiff.frontend.lowering import lower
from srcdiff.frontend.source.parse import parse
from srcdiff.kinds.lattice import kind_of
from srcdiff.normalize.live_ranges import webs
from srcdiff.optimize.simplify import simplify
from tests.support.differences import check_gradient

X, W, G = np.array([0.3, -0.2, 0.7, 0.4]), np.array([1.1, 0.6, -0.5, 0.9]), np.float64(1.5)


def gathered(function, **arguments):
    """What a function returns, in the backward part, with `g` and `d` as cotangents."""
    kinds = {n: kind_of(v, n) for n, v in arguments.items()}
    after = simplify(webs(lower(parse(function))), kinds, None, ("g", "d"))
    lines = [line.strip() for line in emit(after).text.strip().splitlines()[1:]]
    return lines[-1].removeprefix("return ") if len(lines) == 1 else lines


@pytest.mark.parametrize(
    "function, result",
    [
        (lambda x, g, s: x * 2.0 * g, "2.0 * g * x"),
        (lambda x, g, s: 2.0 * x * (g / s), "2.0 * g / s * x"),
        (lambda x, g, s: x * g * s, "g * s * x"),
        (lambda x, g, s: x * g / s, "g / s * x"),
        (lambda x, g, s: x / s * g, "g / s * x"),
        (lambda x, g, s: g * x, "g * x"),
        (lambda x, g, s: g * (1.0 / s) * x, "g / s * x"),
        (lambda x, g, s: x * g, "g * x"),
        (lambda x, g, s: g * (x * x) * s, "g * s * x * x"),
        (lambda x, g, s: g * (s / x), "g * s / x"),
        (lambda x, g, s: x * (g * (s / x)), "x * (g * s / x)"),
        (lambda x, g, s: -x * g, "-g * x"),
        (lambda x, g, s: -(x * g * 2.0), "-2.0 * g * x"),
        (lambda x, g, s: 2.0 * (g * x) * 0.5, "g * x"),
        (lambda x, g, s: -2.0 * (0.5 * x) * g, "-g * x"),
        (lambda x, g, s: g * x / (2.0 * np.sin(x)) * 2.0, "g * x / np.sin(x)"),
        (lambda x, g, s: g * 0.07056 * x * 3.0, "0.21168 * g * x"),
        (lambda x, g, s: 2.0 * (g * x) / 3.0, "2.0 * g / 3.0 * x"),
        (lambda x, g, s: 3.0 * (g * x) / 2.0, "1.5 * g * x"),
        (lambda x, g, s: g * x * np.sin(s) * x, "g * np.sin(s) * x * x"),
        (lambda x, g, s: 2.0 * (g * s), "2.0 * g * s"),
        (lambda x, g, s: g * (s / 3.0), "g * (s / 3.0)"),
        (lambda x, g, s: np.outer(x, x) * (g * x), "g * x * np.outer(x, x)"),
        (lambda x, g, s: np.sum(-x * g), "-(g * np.sum(x))"),
        (lambda x, g, s: np.sum(g * x * x), "g * (x @ x)"),
        (lambda x, g, s: np.sum(np.outer(x, x) * g, axis=0), "g * np.sum(np.outer(x, x), axis=0)"),
        (lambda x, g, s: np.sum(x * g, initial=2.0), "np.sum(g * x, initial=2.0)"),
    ],
)
def test_numbers_are_multiplied_first(function, result):
    assert gathered(function, x=X, g=G, s=np.float64(0.7)) == result
    plain = eval("lambda x, g, s: " + result, {"np": np})
    for s in (0.7, -1.3):
        np.testing.assert_allclose(plain(X, G, s), function(X, G, s), rtol=1e-14)


@pytest.mark.parametrize(
    "function, result",
    [
        (lambda x, d: 2.0 * (0.5 * d), "np.copy(d)"),
        (lambda x, d: d * (0.5 * x) * 2.0, "d * x"),
        (lambda x, d: (2.0 * d) / (2.0 * x), "d / x"),
        (lambda x, d: np.sum(-d * x), "-(d @ x)"),
        (lambda x, d: np.sum(d / 3.0), "np.sum(d) / 3.0"),
    ],
)
def test_literals_cancel(function, result):
    assert gathered(function, x=X, d=W) == result


NUMBERS = {"x": X, "g": 1.5, "n": 3, "s": 0.7}


@pytest.mark.parametrize(
    "function, given",
    [
        (lambda x, g: x * np.sin(x) * g * 2.0, {"x": np.float32(X), "g": G}),
        (lambda x, g: x * g * g, {"x": X, "g": np.float32(1.5)}),
        (lambda x, g: x * g * 2.0, {"x": X + 1j, "g": 1.5}),
        (lambda x, g: x * g * 2.0, {"x": X, "g": 1.5j}),
        (lambda x, g: x * g * 2.0, {"x": np.arange(4), "g": 1.5}),
        (lambda x, g: x * True * g, {"x": X, "g": 1.5}),
        (lambda x, g, n: x / n * g, {"x": X, "g": 1.5, "n": 3}),
        (lambda x, s: x * s * 2.0, {"x": X, "s": G}),
    ],
    ids=["float32", "float32 number", "complex", "complex number", "int", "bool", "zero", "primal"],
)
def test_products_that_stay(function, given):
    text = getsource(function).split(": ", 1)[1].split(", {")[0]
    assert gathered(function, **given) in (text, text.replace("x / n * g", "g * x / n"))


def test_python_numbers_leave_float32_as_it_is():
    def before(x, g):
        return x * g * 2.0 * g

    assert gathered(before, x=np.float32(X), g=1.5) == "2.0 * g * g * x"


def test_products_of_two_uses_stay():
    def before(x, g):
        _t = x * g
        return _t * 2.0, _t * g

    assert gathered(before, x=X, g=G) == ["_t = g * x", "return 2.0 * _t, g * _t"]


def test_a_division_by_zero_that_did_not_fail_does_not_fail():
    def f(x, s, n):
        return np.sum(x / n * s)

    with np.errstate(all="ignore"):
        assert np.all(np.isinf(srcdiff.grad(f)(X, 0.5, 0)))


def largest(x, s):
    """The largest item is looked for among values that are computed once more."""
    y = 0.0
    for k in range(len(x) - 2):
        y = y + 3.0 * np.max(x[k:] * 0.1 * s)
    return y


def test_what_is_computed_again_is_the_same():
    for seed in range(20):
        x = np.random.default_rng(seed).normal(size=7)
        expected = np.zeros(7)
        for k in range(5):
            expected[k + np.argmax(x[k:])] += 0.09
        np.testing.assert_allclose(srcdiff.grad(largest)(x, 0.3), expected, rtol=1e-14)


def test_statements_of_the_user_stay():
    def f(x, w):
        y = x * 2.0 * 3.0
        return np.mean((y * w.size * 0.1 - w) ** 2)

    g = srcdiff.grad(f, inputs=("x", "w"))
    text = getsource(g.specialised(X, W))
    assert "y = x * 2.0 * 3.0" in text and "(y * t * 0.1 - w)" in text
    assert srcdiff.value_and_grad(f)(X, W)[0] == f(X, W)


def least_squares(x, w):
    return np.mean((x * w - 0.5) ** 2)


def scaled(x, w):
    return -2.0 * np.sum(np.sin(x * w[0]) * 0.5) / (w[1] * 3.0)


def softened(x, w):
    e = np.exp(x / w[3] * 0.1)
    return np.sum(e * w / np.sum(e) / 4.0)


@pytest.mark.parametrize("f", (least_squares, scaled, softened), ids=lambda f: f.__name__)
def test_gradients_are_right(f):
    check_gradient(f, (X, W), (0, 1), None)
    again = srcdiff.grad(lambda x, w: np.sum(np.sin(srcdiff.grad(f)(x, w))), (0, 1))
    assert srcdiff.testing.gradcheck(lambda x, w: np.sum(np.sin(srcdiff.grad(f)(x, w))), (X, W))
    assert all(map(np.any, again(X, W)))


def test_least_squares_reads_as_written_by_hand():
    text = getsource(srcdiff.grad(least_squares).specialised(X, W))
    assert "2.0 * grad_outputs / w.size * (x * w - 0.5) * w" in text.replace("x.size", "w.size")


def straight(x):
    return np.sum(np.sin(x) * 3.0) / 4.0


def shared_factor(x, w):
    return x * x + w * w


def opened_later(x):
    y = np.array(x)
    y *= y
    y += y
    y -= 0.5 * y
    return y


@pytest.mark.parametrize(
    "function, inputs, line",
    [
        (straight, 0, "d_x = 0.75 * grad_outputs * np.cos(x)"),
        (shared_factor, (0, 1), "t = 2.0 * cotangent(grad_outputs, x)"),
        (opened_later, 0, "d_y = 4.0 * d_y_2 * y"),
    ],
)
def test_gathered_numbers_are_equal_to_others_or_meet_others(function, inputs, line):
    assert line in srcdiff.source(function, inputs, example=(X, W)[: 1 + bool(inputs)])


SINGULAR = [
    (np.log, 0.0, np.inf),
    (np.log2, 0.0, np.inf),
    (np.log10, 0.0, np.inf),
    (np.log1p, -1.0, np.inf),
    (np.arctanh, 1.0, np.inf),
    (math.sqrt, 0.0, np.inf),
    (math.asin, 1.0, np.inf),
    (math.acosh, 1.0, np.inf),
    (lambda x: np.divide(1.0, x), 0.0, -np.inf),
    (lambda x: np.power(x, -1.5), 0.0, -np.inf),
    (lambda x: x**0.5, 0.0, np.inf),
    (lambda x: x**0.3, 0.0, np.inf),
    (lambda x: x**1.5, 0.0, 0.0),
    (lambda x: math.pow(x, 0.5), 0.0, np.inf),
    (lambda x: 0.5 + x ** (x + 0.5), 0.0, np.inf),
    (lambda x: max(x, 0.0) ** 0.5, -1.0, np.nan),
    (lambda x: math.hypot(x, 0.0), 0.0, np.nan),
    (lambda x: np.hypot(x, x), 0.0, np.nan),
    (lambda x: math.dist([x, 1.0], [0.0, 1.0]), 0.0, np.nan),
    (lambda x: math.atan2(x, x), 0.0, 0.0),
    (lambda x: x**0, 0.0, 0.0),
]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("number", [float, np.float64])
@pytest.mark.parametrize("function, at, slope", SINGULAR)
def test_slopes_at_singular_points_are_those_of_numpy(function, at, slope, number):
    """Of a number of Python as of one of NumPy, in both modes; second derivatives are alike too."""
    x = number(at)
    found = srcdiff.grad(function)(x)
    np.testing.assert_equal(found, slope)
    assert type(found) is number
    if slope or slope != slope:
        np.testing.assert_equal(srcdiff.jvp(function, (x,), (number(1.0),))[1], slope)
    second = srcdiff.grad(srcdiff.grad(function), materialize_grads=True)
    np.testing.assert_equal(second(x), second(np.float64(at)))


@pytest.mark.parametrize("function", [lambda x: 1.0 / x, lambda x: x / x, lambda x: x**-0.5])
def test_what_python_does_not_divide_is_an_error_as_before(function):
    for call in (function, srcdiff.grad(function), srcdiff.grad(srcdiff.grad(function))):
        with pytest.raises(ZeroDivisionError) as caught:
            call(0.0)
    notes = getattr(caught.value, "__notes__", None)
    assert notes is None or any("np.float64(x)" in note for note in notes)


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning")
def test_distances_that_are_zero_have_no_direction():
    assert np.isnan(srcdiff.grad(math.hypot, (0, 1))(0.0, 0.0)).all()
    assert np.isnan(srcdiff.grad(math.dist)([1.0, 2.0], [1.0, 2.0])).all()
    angle = srcdiff.grad(lambda a, b: np.angle(a + 1j * b), (0, 1))
    assert np.isnan(angle(0.0, 0.0)).all()
