"""Methods of ufuncs at ties, zeros and nan, where an index selects a place many times."""

import numpy as np
import pytest

import srcdiff

AT = np.array([0, 2, 2, 0, 2])


def multiplied(a, b):
    out = np.array(a)
    np.multiply.at(out, AT, b)
    return out


def highest(a, b):
    out = np.array(a)
    np.maximum.at(out, AT, b)
    return out


def lowest(a, b):
    out = np.array(a)
    np.minimum.at(out, AT, b)
    return out


def one_by_one(a, b):
    """What `multiplied` does, step by step."""
    out = np.array(a)
    for k in range(len(AT)):
        out[AT[k]] *= b[k]
    return out


PLAIN = [1.5, -2.0, 0.5, 3.0], [0.5, 2.0, -1.0, 3.0, 0.7]
TIES = [3.0, -2.0, 2.0, 3.0], [3.0, 2.0, 2.0, 3.0, 0.0]
ZEROS = [1.5, 0.0, 0.0, 3.0], [0.0, 0.0, 2.0, 3.0, 0.7]
BY_TORCH = {multiplied: "prod", highest: "amax", lowest: "amin"}


@pytest.mark.oracles
@pytest.mark.parametrize("f", BY_TORCH, ids=lambda f: f.__name__)
@pytest.mark.parametrize("values", [PLAIN, TIES, ZEROS], ids=["plain", "ties", "zeros"])
def test_like_scatter_of_torch(f, values):
    """Those that tie share equally, however many; products are exact where factors are zero."""
    torch = pytest.importorskip("torch", reason="torch is not installed: extra oracles")
    a, b = map(np.array, values)
    w = np.array([1.0, 10.0, 100.0, 1000.0])
    x, y = (torch.tensor(v, requires_grad=True) for v in (a, b))
    out = x.scatter_reduce(0, torch.tensor(AT), y, BY_TORCH[f])
    expected = torch.autograd.grad(out, (x, y), torch.tensor(w))
    found = srcdiff.grad(f, (0, 1))(a, b, grad_outputs=w)
    for g, e in zip(found, expected, strict=True):
        np.testing.assert_allclose(g, e.numpy(), rtol=1e-12)


@pytest.mark.parametrize("values", [PLAIN, ZEROS], ids=["plain", "zeros"])
def test_second_derivatives_are_those_of_single_steps(values):
    a, b = map(np.array, values)
    w = np.array([1.0, 10.0, 100.0, 1000.0])
    found, expected = (
        srcdiff.hessian(lambda b, f=f: np.dot(w, f(a, b)))(b) for f in (multiplied, one_by_one)
    )
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def segment_log_sum(x):
    out = np.full(4, -np.inf)
    np.logaddexp.at(out, AT, x)
    return out[0] * out[2]


def test_a_sum_of_exponentials_from_nothing():
    x = np.array([0.1, 0.2, -0.4, 0.9, 1.3])
    first, second = np.exp(x[[0, 3]]), np.exp(x[[1, 2, 4]])
    share = np.zeros(5)
    share[[0, 3]] = first / np.sum(first) * np.log(np.sum(second))
    share[[1, 2, 4]] = second / np.sum(second) * np.log(np.sum(first))
    np.testing.assert_allclose(srcdiff.grad(segment_log_sum)(x), share, rtol=1e-12)
    assert srcdiff.testing.gradgradcheck(segment_log_sum, (x,))


def test_several_cotangents_at_once():
    a, b = map(np.array, PLAIN)
    for f in BY_TORCH:
        rows = srcdiff.grad(f, (0, 1), is_grads_batched=True)(a, b, grad_outputs=np.eye(4))
        for k in range(4):
            one = srcdiff.grad(f, (0, 1))(a, b, grad_outputs=np.eye(4)[k])
            for row, g in zip(rows, one, strict=True):
                np.testing.assert_array_equal(row[k], g)


def test_no_items():
    a, none = np.ones(3), np.zeros(0)
    for method in (np.multiply.at, np.divide.at, np.maximum.at, np.logaddexp.at):

        def f(a, b, at=method):
            out = np.array(a)
            at(out, np.zeros(0, int), b)
            return out

        g, h = srcdiff.grad(f, (0, 1))(a, none, grad_outputs=a)
        np.testing.assert_array_equal(g, a)
        assert h.shape == (0,)


def accumulated(x):
    return np.maximum.accumulate(x)


def without_nan(x):
    return np.fmax.reduce(x) + np.fmin.reduce(x)


def test_nan():
    """It stays in a running maximum, and counts for nothing in `fmax` and `fmin`."""
    x = np.array([1.0, np.nan, 2.0, 5.0])
    value, pullback = srcdiff.vjp(accumulated, x)
    np.testing.assert_array_equal(value, np.maximum.accumulate(x))
    np.testing.assert_array_equal(pullback(np.ones(4)), [1.0, 3.0, 0.0, 0.0])
    value, slope = srcdiff.value_and_grad(without_nan)(x)
    assert value == 6.0
    np.testing.assert_array_equal(slope, [1.0, 0.0, 0.0, 1.0])


def counted(x):
    values, counts = np.unique(x, return_counts=True)
    return np.sum(values * counts * values)


def test_counts_of_unique_numbers():
    """There are as many as the data has, not one."""
    x = np.array([3.0, 1.0, 3.0, 2.0])
    g = srcdiff.grad(counted)(x)
    np.testing.assert_array_equal(g, [12.0, 2.0, 0.0, 4.0])


def doubled_by_itself(a):
    out = np.array(a)
    np.multiply.at(out, AT[:4], out)
    return out


def added_to_itself(a):
    out = a * 1.0
    out += out[AT[:4]]
    return out


PLACES = np.array([0, 2, 2, 0])


def added_by_places_of_the_module(a):
    out = a * 1.0
    out += out[PLACES]
    return out


@pytest.mark.parametrize(
    "f", [doubled_by_itself, added_to_itself, added_by_places_of_the_module],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_operands_that_share_memory(f):
    """An index of the module copies what it selects, as any other array does."""
    a = np.array([1.5, -2.0, 0.5, 3.0])
    expected = np.stack([(f(a + 1e-3 * e) - f(a - 1e-3 * e)) / 2e-3 for e in np.eye(4)], 1)
    for mode in ("reverse", "forward"):
        np.testing.assert_allclose(srcdiff.jacobian(f, mode=mode)(a), expected, atol=1e-5)
