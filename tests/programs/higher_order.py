"""Programs that differentiate inside, and functions for second derivatives."""

import functools

import numpy as np

import srcdiff

from .registry import sample


def potential(x):
    return np.sum(x**4) + x[0] * np.sin(x[1])


potential_gradient = srcdiff.grad(potential)


def gradient_penalty(x, weight):
    g = potential_gradient(x)
    return potential(x) + weight * np.sum(g * g)


sample(gradient_penalty, lambda r: (r.standard_normal(3), 0.3), (0, 1))


def grad_inside(x):
    slope = srcdiff.grad(cube)(x)
    return slope * x


def cube(x):
    return x**3


sample(grad_inside, lambda r: (0.9,))


def newton_step(x):
    g = srcdiff.grad(well)(x)
    h = srcdiff.grad(srcdiff.grad(well))(x)
    return x - g / h


def well(x):
    return x**4 - 2.0 * x**2 + 0.3 * x


sample(newton_step, lambda r: (1.6,))


def rosenbrock_sum(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


sample(rosenbrock_sum, lambda r: (r.standard_normal(4),))


def double_well_chain(x, k):
    e = 0.0
    for i in range(len(x)):
        e += (x[i] ** 2 - 1.0) ** 2
        if i > 0:
            e += k * (x[i] - x[i - 1]) ** 2
    return e


sample(double_well_chain, lambda r: (r.standard_normal(4), 0.7), (0, 1))


def horner_by_reduce(x):
    return functools.reduce(lambda a, c: a * x[0] + c, reversed(x))


def horner_over_a_range(x):
    whole = functools.reduce(lambda a, k: a * x[0] + k, reversed(range(4)))
    return whole * functools.reduce(lambda a, k: a * x[0] + k, reversed([x[1], x[2] ** 2]))


for _function in (horner_by_reduce, horner_over_a_range):
    sample(_function, lambda r: (r.uniform(0.5, 1.5, 5),))
