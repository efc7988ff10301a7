"""A user's module that needs SciPy."""

import numpy as np
from scipy import special


def bell(x):
    return np.sum(special.erf(x) * x)
