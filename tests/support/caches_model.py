"""Functions for the tests of caches, found by their names from other processes."""

import numpy as np

import srcdiff

FACTOR = 2.0


def helper(x):
    return x * x


def through_helper(x):
    return helper(x) + 1.0


def power(x, n=2):
    return np.sum(x**n)


@srcdiff.grad
def decorated(x):
    return x**3


made = srcdiff.value_and_grad(power)


class Spring:
    def __init__(self, k):
        self.k = k

    def energy(self, x):
        return self.k * x * x
