"""`gradcheck` and `gradgradcheck`: what they pass, what they find, how they say it."""

import importlib

import numpy as np
import pytest

import srcdiff
from srcdiff.errors import GradcheckError
from srcdiff.primitives.notation import d
from srcdiff.primitives.registry import rule
from srcdiff.testing import gradcheck
from tests.support import models

X = np.array([0.5, -1.0, 2.0])
Y = np.array([2.0, 3.0, 4.0])


def wrong_square(x):
    return x * x


@rule(wrong_square)
def wrong_square_rule(x):
    z = wrong_square(x)
    yield z
    d[x] += d[z] * x


def uses_wrong(x, y):
    return wrong_square(x) * y


@pytest.mark.parametrize("fast", [False, True])
def test_what_is_right_passes(fast):
    options = {"check_forward_ad": True, "check_batched_grad": True, "check_grad_dtypes": True}
    assert gradcheck(models.pair, (X, 2.0), fast_mode=fast, **options)
    z = X + 1j * Y
    assert gradcheck(models.vector, (z,), fast_mode=fast, **options)
    assert gradcheck(
        models.kernel, (3, X, Y), inputs=("A", "B"), outputs="B", fast_mode=fast, **options
    )


@pytest.mark.parametrize("fast", [False, True])
def test_what_is_wrong_is_found(fast):
    with pytest.raises(GradcheckError) as info:
        gradcheck(uses_wrong, (X, 2.0), check_forward_ad=True, fast_mode=fast)
    assert isinstance(info.value, RuntimeError)
    text = str(info.value)
    assert "uses_wrong" in text and "reverse" in text and "forward" in text
    assert not gradcheck(uses_wrong, (X, 2.0), raise_exception=False, fast_mode=fast)


def test_the_report_names_elements():
    with pytest.raises(GradcheckError) as info:
        gradcheck(uses_wrong, (X, 2.0))
    assert "d output[2] / d x[2] (reverse): analytic 4, numeric 8" in str(info.value)
    assert "/ d y" not in str(info.value)


def test_a_kink_is_called_one():
    def ramp(x):
        return np.where(x > 0.0, x, 0.0)

    with pytest.raises(GradcheckError, match="kink: slope 0 to the left, 1 to the right"):
        gradcheck(ramp, (np.array([0.0, 1.0]),))


def ramp(x):
    return np.where(x > 0.0, x, 0.0)


def roots(x):
    return np.sum(np.sqrt(x))


@pytest.mark.parametrize("options", [{"fast_mode": True}, {"check_forward_ad": True}])
def test_kinks_are_called_so_in_every_mode(options):
    at_kink = (np.array([0.0, 1.0]),)
    with pytest.raises(GradcheckError, match="a kink: slope"):
        gradcheck(ramp, at_kink, **options)
    with pytest.raises(GradcheckError) as info:
        gradcheck(ramp, at_kink, check_backward_ad=False, check_forward_ad=True)
    assert "(forward)" in str(info.value) and "(reverse)" not in str(info.value)
    with pytest.raises(GradcheckError) as info:  # one that is wrong is no kink
        gradcheck(uses_wrong, (X, 2.0), **options)
    assert "kink" not in str(info.value)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_one_infinite_element_is_reported_alone():
    with pytest.raises(GradcheckError) as info:
        gradcheck(roots, (np.array([0.0, 1.0]),))
    assert "x[0] (reverse): analytic inf" in str(info.value) and "x[1]" not in str(info.value)


def test_gradients_that_are_not_the_same_again():
    noise = iter(1e-8 * k for k in range(1000))

    def noisy(x):
        return np.sum(srcdiff.autograd.hook(x, lambda d: d + next(noise)) ** 2)

    with pytest.raises(GradcheckError, match="two runs of the gradient differ by .*e-08"):
        gradcheck(noisy, (X,))
    assert gradcheck(noisy, (X,), nondet_tol=1e-6)


def test_a_batch_that_is_wrong_is_found(monkeypatch):
    module = importlib.import_module("srcdiff.api.gradcheck")

    assert gradcheck(models.vector, (X,), check_batched_grad=True)
    right = module.batched

    def wrong(*args):
        return tuple(g + 1e-9 for g in right(*args))

    monkeypatch.setattr(module, "batched", wrong)
    with pytest.raises(GradcheckError, match="the batched gradient of x differs"):
        gradcheck(models.vector, (X,), check_batched_grad=True)
    assert gradcheck(models.vector, (X,))


def test_a_dtype_that_is_wrong_is_found(monkeypatch):
    from srcdiff.api.point import Point

    right = Point.pullback

    def wrong(self, at_once=False):
        value, pull = right(self, at_once)
        return value, lambda v: tuple(g.astype(np.complex64) for g in pull(v))

    monkeypatch.setattr(Point, "pullback", wrong)
    x = (np.array([0.5, -1.0, 2.0]),)
    with pytest.raises(GradcheckError, match="of x has dtype complex64, the input float64"):
        gradcheck(models.vector, x, check_grad_dtypes=True)
    assert gradcheck(models.vector, x)


def test_an_array_stands_for_itself_alone():
    assert gradcheck(lambda x: np.sum(x * x), X)


def test_a_batch_of_tangents_that_is_wrong_is_found(monkeypatch):
    options = {"check_forward_ad": True, "check_batched_forward_grad": True}
    assert gradcheck(lambda x: np.sin(x) * x, (X,), **options)
    module = importlib.import_module("srcdiff.api.gradcheck")
    monkeypatch.setattr(module, "pushed", lambda point, t, *rest: 2.0 * t[0])
    with pytest.raises(GradcheckError, match="batched tangent of the output differs"):
        gradcheck(lambda x: np.sin(x) * x, (X,), **options)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"check_backward_ad": False}, "at least one of check_forward_ad or check_backward_ad"),
        ({"check_batched_forward_grad": True}, "requires check_forward_ad to be True"),
        (
            {"check_forward_ad": True, "check_backward_ad": False, "check_batched_grad": True},
            "requires check_backward_ad to be True",
        ),
    ],
)
def test_checks_that_would_check_nothing(options, words):
    with pytest.raises(ValueError, match=words):
        gradcheck(wrong_square, (X,), **options)


def test_the_step():
    assert gradcheck(models.scalar, (2.0,), eps=1e-4)
    assert not gradcheck(models.scalar, (2.0,), eps=0.5, raise_exception=False)


def test_tolerances():
    assert gradcheck(uses_wrong, (X, 2.0), rtol=1.0)
    assert gradcheck(uses_wrong, (X, 2.0), atol=10.0)


def test_single_precision_is_warned_of():
    single = X.astype(np.float32)
    for check in (gradcheck, srcdiff.testing.gradgradcheck):
        with pytest.warns(UserWarning, match="double precision") as seen:
            check(models.vector, (single,), raise_exception=False)
            check(models.vector, raise_exception=False)(single)
        assert {one.filename for one in seen} == {__file__} and len(seen) == 2


def test_gradgradcheck():
    assert srcdiff.testing.gradgradcheck(models.pair, (X, 2.0))
    assert srcdiff.testing.gradgradcheck(models.vector, (X,), np.ones(3))
    assert srcdiff.testing.gradgradcheck(np_exp, (X,), check_forward_ad=True)


def test_gradgradcheck_takes_the_parameters_of_gradcheck():
    options = {"check_batched_grad": True, "check_forward_ad": True, "check_grad_dtypes": True}
    for fast in (False, True):
        assert srcdiff.testing.gradgradcheck(np_exp, (X,), fast_mode=fast, eps=1e-5, **options)
    assert srcdiff.testing.gradgradcheck(models.linear, (X,))
    at_kink = (np.array([0.0, 1.0]),)
    assert not srcdiff.testing.gradgradcheck(ramp, at_kink, raise_exception=False)
    with pytest.raises(GradcheckError, match="a kink"):
        srcdiff.testing.gradgradcheck(ramp, at_kink)


def of_the_names_of_options(x, eps=1.0, fast_mode=2.0, order="C"):
    return x**3 * eps * (1.0 if fast_mode == 3.0 else np.abs(x)) * (order == "F")


def test_a_function_may_have_parameters_called_as_options():
    """The check is at the arguments: with the defaults the function is zero, and all agrees."""
    for check in (gradcheck, srcdiff.testing.gradgradcheck):
        given = {"eps": 2.0, "fast_mode": 3.0, "order": "F"}
        assert check(of_the_names_of_options, atol=0.0)(0.7, **given)
        with pytest.raises(srcdiff.TransformError, match=r"may be given `eps` itself"):
            check(of_the_names_of_options, (0.7,), eps=2.0)
        with pytest.raises(TypeError, match="there is no option 'epsilon'; they are inputs, "):
            check(of_the_names_of_options, epsilon=2.0)
    assert srcdiff.testing.check_rule(np.ravel)(np.ones((2, 3)), order="F")
    assert srcdiff.testing.check_rule(np.tanh, X, order=1, eps=1e-5)
    with pytest.raises(srcdiff.TransformError, match="`ravel` may be given `order` itself"):
        srcdiff.testing.check_rule(np.ravel, np.ones((2, 3)), order="F")


def test_a_check_is_at_the_keyword_arguments_of_the_call():
    seen = []

    def recorded(x, eps):
        seen.append(eps)
        return uses_wrong(x, 2.0) * eps

    with pytest.raises(GradcheckError):
        gradcheck(uses_wrong, eps=1e-5)(X, y=2.0)
    found = gradcheck(recorded, inputs="x", raise_exception=False, fast_mode=True)(X, eps=7.0)
    assert not found and set(seen) == {7.0}


def test_gradgradcheck_takes_keyword_arguments_of_the_function():
    assert srcdiff.testing.gradgradcheck(models.pair, (X,), b=2.0)
    assert srcdiff.testing.gradgradcheck(models.vector, grad_outputs=np.ones(3))(X)


def test_check_rule():
    from srcdiff.testing import check_rule

    assert check_rule(np.sin, X)
    assert check_rule(np.sum, np.ones((2, 3)), axis=1)
    assert check_rule(np.linalg.solve, np.eye(3) + 0.1, X)
    with pytest.raises(GradcheckError):
        check_rule(wrong_square, X)
    with pytest.raises(GradcheckError):
        check_rule(wrong_square_rule, X)
    with pytest.raises(srcdiff.errors.MissingRuleError):
        check_rule(np_exp, X)


def wrong_value(x):
    return x * 3.0


@rule(wrong_value)
def wrong_value_rule(x):
    z = x * 2.0
    yield z
    d[x] += 3.0 * d[z]


def test_lines_that_compute_something_else():
    with pytest.raises(GradcheckError, match="above the `yield`"):
        srcdiff.testing.check_rule(wrong_value, X)


def np_exp(x):
    return np.exp(x) * x


def scaled(x, k):
    return x * k


@rule(scaled)
def with_another_parameter(x, factor):
    z = x * factor
    yield z
    d[x] += d[z] * factor
    d[factor] += d[z] * x


def halved(x):
    return x / 2.0


@rule(halved)
def with_a_name_too_many(x):
    z = x / 2.0
    yield z
    g = d[z] / 2.0
    twice = 2.0 * g  # noqa: F841
    d[x] += g


@pytest.mark.parametrize(
    ("rule", "args", "words"),
    [
        (with_another_parameter, (X, 2.0), "the function has no parameter `factor`"),
        (with_a_name_too_many, (X,), "`twice` is computed and never used"),
    ],
)
def test_near_misses_of_rules(rule, args, words):
    with pytest.raises(GradcheckError, match=words):
        srcdiff.testing.check_rule(rule, *args)
