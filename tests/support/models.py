"""Functions for the tests of the interface: in a module of their own, so that they pickle."""

import numpy as np

import srcdiff


def loss(w, x, y=1.0):
    """Squared error."""
    r = w * x - y
    return np.sum(r * r)


def pair(a, b):
    return a * b, np.sum(a) + b


def named(a, b):
    return {"product": a * b, "total": np.sum(a) + b, "count": len(a)}


def kernel(n, A, B):
    """Writes into B and returns nothing."""
    for i in range(1, n):
        B[i] = A[i] * A[i - 1] + B[i]


def write_and_return(x, out):
    out[:] = x * x
    return np.sum(out)


def scalar(x):
    return x * x * x


def with_state(params, scale):
    return scale * np.sum(params["w"] ** 2) * params["b"]


def mlp(layers, x):
    for W, b in layers:
        x = np.tanh(x @ W + b)
    return np.sum(x)


def counted(x, log):
    log.append("called")
    return x * x


def unused(x, k):
    if k > 2.0:
        return x * 2.0
    return x


def integer_part(x, n):
    return x**n


@srcdiff.grad
def decorated_grad(x):
    """The cube."""
    return x**3


@srcdiff.grad(inputs="b")
def decorated_options(a, b):
    return a * b * b


@srcdiff.value_and_grad
def decorated_value(x):
    return x**2


@srcdiff.differentiable
def cube(x):
    """A cube."""
    return x**3


@srcdiff.differentiable(inputs=("w", "b"))
def line(w, b, x):
    return np.sum(w * x + b * b)


class Model:
    """A method as a primal."""

    def __init__(self, k):
        self.k = k

    def energy(self, x):
        return self.k * x**2


def linear(x):
    return 3.0 * np.sum(x)


def vector(x):
    return x * x


def weighted_products(s, *xs, power=2):
    """Any number of arguments."""
    total = 0.0
    for x in xs:
        total = total + np.sum(x**power) * s
    return total * xs[-1][0]
