"""`check_nan`, `check_inf` and `detect_anomaly`: what is said, and when."""

import pickle
import threading

import numpy as np
import pytest

import srcdiff
from srcdiff.autograd import detect_anomaly
from srcdiff.errors import AnomalyError
from tests.support.differences import close

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
BAD = np.array([1.0, 0.0, 2.0])


def roots(x):
    total = 0.0
    for i in range(len(x)):
        h = np.sqrt(x[i])
        total += h * h
    return total


def products(x):
    y = np.log(x)
    z = y * 0.0
    for k in range(2):
        for j in range(2):
            z[j] += y[j] * x[k]
    return np.sum(z)


def inverse(x):
    return np.sum(1.0 / x)


def test_the_line_the_variable_and_the_counters():
    with pytest.raises(AnomalyError) as info:
        srcdiff.grad(roots, check_nan=True)(BAD)
    first, place, forward = str(info.value).split("\n")
    assert first == "the adjoint of `x` is nan"
    assert place.endswith("test_anomaly.py:21:21: h = np.sqrt(x[i]), i = 1")
    assert forward == "No value of the forward part that carries a derivative is nan."


def test_the_place_as_attributes():
    with pytest.raises(AnomalyError) as info:
        srcdiff.grad(roots, check_nan=True)(BAD)
    error = info.value
    assert (error.file, error.line, error.col) == (__file__, 21, 21)
    assert (error.text, error.variable) == ("h = np.sqrt(x[i])", "x")
    assert error.counters == {"i": 1}
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error) and vars(again) == vars(error)


def test_the_forward_value_that_was_bad_already():
    with pytest.raises(AnomalyError) as info:
        srcdiff.grad(products, check_nan=True)(np.array([-1.0, 2.0]))
    text = str(info.value)
    assert ", k = 1, j = 0\n" in text
    assert "forward part already:\nthe value of `y` is nan\n" in text
    assert text.endswith(":27:5: y = np.log(x)")


def test_infinity():
    x = np.array([1.0, 0.0])
    close(srcdiff.grad(inverse, check_nan=True)(x), [-1.0, -np.inf])
    with pytest.raises(AnomalyError, match="is inf"):
        srcdiff.grad(inverse, check_inf=True)(x)
    with pytest.raises(AnomalyError, match="forward part that carries.* nan or inf"):
        srcdiff.grad(roots, check_nan=True, check_inf=True)(BAD)


def test_inside_of_a_context():
    g = srcdiff.grad(roots)
    with detect_anomaly(), pytest.raises(AnomalyError, match="sqrt"):
        g(BAD)
    assert np.isnan(g(BAD)[1])
    with detect_anomaly():
        close(g(BAD + 1.0), np.ones(3))
        with detect_anomaly(check_nan=False, check_inf=True):
            assert np.isnan(g(BAD)[1])
        with pytest.raises(AnomalyError):
            g(BAD)


@detect_anomaly()
def gradient(x):
    return srcdiff.grad(roots)(x)


def test_as_a_decorator():
    with pytest.raises(AnomalyError):
        gradient(BAD)
    assert gradient.__name__ == "gradient"


@pytest.mark.parametrize(
    "derivative",
    [
        lambda x: srcdiff.vjp(roots, x)[1](),
        lambda x: srcdiff.autograd.run(roots, x).grad("x"),
        lambda x: srcdiff.jacobian(roots)(x),
        lambda x: srcdiff.value_and_grad(roots)(x),
        lambda x: srcdiff.backward(roots)(x, into={}),
    ],
)
def test_every_way_to_a_gradient(derivative):
    with detect_anomaly(), pytest.raises(AnomalyError, match="sqrt"):
        derivative(BAD)


def test_another_thread_is_not_checked():
    found = []
    with detect_anomaly():
        thread = threading.Thread(target=lambda: found.append(srcdiff.grad(roots)(BAD)))
        thread.start()
        thread.join()
    assert np.isnan(found[0][1])


def test_a_checked_gradient_is_differentiated():
    g = srcdiff.grad(lambda x: np.sum(x**3), check_nan=True)
    close(srcdiff.grad(g)(BAD, grad_outputs=np.ones(3)), 6.0 * BAD)


def test_containers_and_mutable_memory():
    def f(params, x):
        h = np.zeros(3)
        for k in range(2):
            h[k] = params["w"][k] * np.sqrt(x[k])
        return np.sum(h)

    params = {"w": np.ones(2)}
    with pytest.raises(AnomalyError, match=r"adjoint of `x` is inf\n.*, k = 1\n"):
        srcdiff.grad(f, ("params", "x"), check_inf=True)(params, np.array([1.0, 0.0]))
