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


V, W = np.array([1.0, 0.3, -0.2]), np.array([0.4, -0.1, 0.7])


def slope(f):
    """The derivative along a direction as a function."""
    return lambda w, x: srcdiff.jvp(f, (w, x), (V, None))[1]


def gradient_along(f):
    return lambda w, x: np.sum(V * srcdiff.grad(f, "w")(w, x))


@pytest.mark.parametrize(
    "of",
    [
        lambda f: srcdiff.vhp(f, (X, X + 1.0), (V, W), inputs=("w", "x")),
        lambda f: srcdiff.hvp(f, (X, X + 1.0), (V, W), inputs=("w", "x")),
        lambda f: srcdiff.hessian(f, ("w", "x"))(X, X + 1.0),
        lambda f: srcdiff.grad(slope(f), ("w", "x"))(X, X + 1.0),
        lambda f: srcdiff.jvp(slope(f), (X, X + 1.0), (V, W))[1],
        lambda f: srcdiff.grad(gradient_along(gradient_along(f)), ("w", "x"))(X, X + 1.0),
        lambda f: srcdiff.hessian(slope(f), ("w", "x"))(X, X + 1.0),
    ],
    ids=["vhp", "hvp", "hessian", "slope then gradient", "two slopes", "third", "mixed third"],
)
def test_higher_orders(of):
    close(of(network), of(plain))


def test_random_numbers_are_the_same_again_at_order_two():
    for of in (srcdiff.vhp, srcdiff.hvp):
        found = []
        for f in (twice_again, twice):
            np.random.seed(0)
            rng = np.random.default_rng(1)
            found.append([*of(f, (X, rng), V), np.random.rand(), rng.random()])
        close(*found)


def test_three_times_forwards_is_refused():
    with pytest.raises(srcdiff.UnsupportedError, match="differentiated three times"):
        srcdiff.jvp(slope(slope(network)), (X, X), (X, X))


def outer(w, x):
    return np.sum(srcdiff.checkpoint(lambda w, x: srcdiff.checkpoint(layer)(w, x) * w)(w, x) ** 2)


def outer_plain(w, x):
    return np.sum((layer(w, x) * w) ** 2)


def test_a_checkpoint_inside_of_another_at_order_two():
    close(*(srcdiff.hessian(f, ("w", "x"))(X, X + 1.0) for f in (outer, outer_plain)))


def of_primitives(x):
    y = srcdiff.checkpoint(np.multiply)(x, srcdiff.checkpoint(np.tanh)(x))
    return srcdiff.checkpoint(np.linalg.norm)(y) * srcdiff.checkpoint(abs)(x[0])


def of_a_number(x):
    y = srcdiff.checkpoint(lambda v: v * v)(x[0]) * x[1]
    for _ in srcdiff.checkpointed(range(3), slots=2):
        y = np.sin(y) * 1.1
    return y * x[1]


@pytest.mark.parametrize("f", [of_primitives, of_a_number])
def test_primitives_and_numbers_without_a_tangent(f):
    """Functions of NumPy and builtins; and directions in which an argument does not move."""
    x = np.array([0.3, 1.2])
    assert srcdiff.gradcheck(f, (x,), check_forward_ad=True) and srcdiff.gradgradcheck(f, (x,))
