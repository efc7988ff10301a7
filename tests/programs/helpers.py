"""A second module of helpers, some of them named like helpers elsewhere."""

import numpy as np


def shift(x):
    return np.roll(x, 1) * x


def sigmoid(z):
    """Not the one of `calls`: half as steep."""
    return 1.0 / (1.0 + np.exp(-0.5 * z))


class inner:
    scale = 3.0
