"""`checkpoint`: a call that runs again in the backward part."""

import numpy as np
import pytest

import srcdiff

from .check import close

X = np.array([0.5, -1.0, 2.0])
counts = []


def layer(w, x):
    h = np.sin(x)
    return np.tanh(w * h * np.exp(h))


def network(w, x):
    for _ in range(3):
        x = srcdiff.checkpoint(layer)(w, x)
    return np.sum(x * x)


def plain(w, x):
    for _ in range(3):
        x = layer(w, x)
    return np.sum(x * x)


def drawing(x, rng):
    mask = rng.random(3) > 0.5
    return x * mask * np.random.rand(3), np.sum(x)


drawing_again = srcdiff.checkpoint(drawing)


def twice_again(x, rng):
    y, s = drawing_again(x * x, rng)
    z, t = drawing_again(y + x, rng)
    return np.sum(z * y) + s * t


def twice(x, rng):
    y, s = drawing(x * x, rng)
    z, t = drawing(y + x, rng)
    return np.sum(z * y) + s * t


def test_a_checkpointed_call_has_the_same_gradient():
    close(*(srcdiff.grad(f, ("w", "x"))(X, X + 1.0) for f in (network, plain)))
    value, pull = srcdiff.vjp(network, X, X + 1.0)
    close(pull(), pull())
    close(value, plain(X, X + 1.0))


def test_nothing_of_its_inside_is_kept():
    text = srcdiff.source(network, "w", example=(X, X))
    assert "np.sin" not in text and "gradients_again(f, " in text


def test_random_numbers_are_the_same_again():
    found = []
    for f in (twice_again, twice):
        np.random.seed(0)
        rng = np.random.default_rng(1)
        found.append([*srcdiff.grad(f)(X, rng), np.random.rand(), rng.random()])
    close(*found)


def test_it_runs_twice():
    counts.clear()

    def counted(x):
        counts.append(1)
        return x * x

    g = srcdiff.grad(lambda x: np.sum(srcdiff.checkpoint(counted)(x)))
    close(g(X), 2.0 * X)
    assert len(counts) == 2


GENERATOR = np.random.default_rng(0)


def unseen(x):
    return x * GENERATOR.random(3)


def writing(x):
    x[0] = 2.0
    return x * x


@pytest.mark.parametrize(
    ("f", "error", "words"),
    [(unseen, RuntimeError, "when it runs again"), (writing, srcdiff.UnsupportedError, "writes")],
)
def test_what_cannot_run_again(f, error, words):
    with pytest.raises(error, match=words):
        srcdiff.grad(lambda x: np.sum(srcdiff.checkpoint(f)(x) * x))(X)


def test_tangents():
    close(srcdiff.jvp(network, (X, X), (X, X))[1], srcdiff.jvp(plain, (X, X), (X, X))[1])
    found = []
    for f in (twice_again, twice):
        np.random.seed(0)
        rng = np.random.default_rng(1)
        found.append([srcdiff.jvp(f, (X, rng), (X, None))[1], np.random.rand(), rng.random()])
    close(*found)


def test_higher_orders_are_refused():
    with pytest.raises(srcdiff.MissingRuleError, match="without srcdiff.checkpoint"):
        srcdiff.grad(srcdiff.grad(network))(X, X, grad_outputs=X)
