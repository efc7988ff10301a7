"""The Rosenbrock function of `scipy.optimize` and its derivatives."""

import numpy as np
from scipy import optimize

from srcdiff.rules import *

made_of(
    optimize.rosen,
    value=lambda x: np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2, axis=0),
    samples=("A(4)", "A(3, 2)"),
)


@composed(optimize.rosen_der)
@samples("A(4)", "A(3)")
def rosen_der(x):
    step = 200.0 * (x[1:] - x[:-1] ** 2)
    first = -2.0 * step * x[:-1] - 2.0 * (1.0 - x[:-1])
    return np.append(first, 0.0) + np.append(0.0, step)


@composed(optimize.rosen_hess)
@samples("A(4)", "A(3)")
def rosen_hess(x):
    beside = np.diag(-400.0 * x[:-1], 1)
    first = 1200.0 * x[:-1] ** 2 - 400.0 * x[1:] + 2.0
    last = np.append(0.0, 200.0 * np.ones(len(x) - 1))
    return beside + beside.T + np.diag(np.append(first, 0.0) + last)


made_of(
    optimize.rosen_hess_prod, value=lambda x, p: optimize.rosen_hess(x) @ p,
    samples=("A(4), A(4)",),
)
