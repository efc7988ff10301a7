"""`try` around linear algebra that may fail, and with handlers that only raise."""

import numpy as np
import scipy.linalg
from numpy.linalg import LinAlgError, inv

from .registry import sample


def _vector(r):
    return (np.array([0.7, 0.4, 0.55]),)


def log_likelihood_or_nothing(x, y):
    K = np.exp(-(np.subtract.outer(x, x) ** 2)) + 0.1 * np.eye(3)
    try:
        L = np.linalg.cholesky(K)
    except np.linalg.LinAlgError:
        return -np.inf
    alpha = np.linalg.solve(L.T, np.linalg.solve(L, y))
    return -0.5 * y @ alpha - np.sum(np.log(np.diag(L)))


sample(log_likelihood_or_nothing, lambda r: (r.random(3), r.random(3)), (0, 1))


def growing_jitter(x):
    K, jitter = np.outer(x, x) - 0.01 * np.eye(3), 1e-3
    for _ in range(8):
        try:
            L = np.linalg.cholesky(K + jitter * np.eye(3))
            break
        except LinAlgError:
            jitter *= 10
    return np.sum(np.log(np.diag(L))) * jitter


sample(growing_jitter, _vector)


def jitter_until_it_works(x):
    jitter = 1e-6
    while True:
        try:
            factor = scipy.linalg.cho_factor(np.outer(x, x) + (jitter - 0.2) * np.eye(3))
            return np.sum(scipy.linalg.cho_solve(factor, x))
        except LinAlgError:
            jitter = max(jitter * 10, 1e-3)


sample(jitter_until_it_works, _vector)


def falls_back(x):
    A = np.outer(x, x)
    try:
        B = inv(A * 0.0)
        total = np.sum(B)
    except LinAlgError:
        B = np.linalg.pinv(A + np.eye(3))
        total = np.sum(B * x)
    else:
        total = total * 2.0
    try:
        total += np.sum(inv(A + np.eye(3)))
    except LinAlgError:
        total = 0.0
    else:
        total *= x[0]
    return total


sample(falls_back, _vector)


def written_before_it_fails(x):
    y = x.copy()
    try:
        y[0] *= 2.0
        z = np.linalg.solve(np.zeros((3, 3)), y)
        y[1] = z[1]
    except LinAlgError:
        y[2] = y[0] ** 2
    return np.sum(y * y)


sample(written_before_it_fails, _vector)


def several_in_one_expression(x):
    def smoothed(y):
        try:
            return np.linalg.solve(inv(np.diag(y)), x) @ x
        except LinAlgError:
            return np.sum(y * x)

    return smoothed(x) + smoothed(x * np.array([0.0, 1.0, 1.0]))


sample(several_in_one_expression, _vector)


def attempts_in_a_list(x):
    rows = []
    for k in range(3):
        try:
            rows.append(np.sum(inv(np.diag(x) * (k - 1))))
        except LinAlgError:
            rows.append(x[0] ** 2)
    return rows[0] * rows[1] + rows[2]


sample(attempts_in_a_list, _vector)


def message_for_what_is_missing(x, table):
    try:
        scale = table["scale"]
        offset = x[0] * table["offset"]
    except KeyError as error:
        message = "there is no {}".format(error)
        raise ValueError(message) from error
    else:
        offset = offset + scale
    return np.sum(x * scale) * offset


sample(message_for_what_is_missing, lambda r: (r.random(3), {"scale": 2.0, "offset": -0.5}))


def quotient_of_entries(values, k):
    try:
        return values[k] / values[k + 1]
    except IndexError:
        raise ValueError("k is beyond the values") from None
    except TypeError:
        raise


def helper_with_a_message(x):
    return quotient_of_entries(x, 0) * quotient_of_entries(x, 1)


sample(helper_with_a_message, _vector)
