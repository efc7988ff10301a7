"""Results of functions that return several, where one of them is written into."""

import numpy as np

from .registry import sample


def vectors_are_cleared(x):
    p = np.linalg.eigh(x @ x.T)
    p[1][:, 0] = 0.0
    return p[0][0]


def vectors_are_scaled_by_their_name(x):
    r = np.linalg.eigh(x @ x.T)
    r.eigenvectors[:] *= 2.0
    return r.eigenvalues[0] + np.sum(r.eigenvectors**2 * [1.0, 2.0, 3.0])


def the_second_part_under_a_name(x):
    p = np.linalg.qr(x)
    r = p[1]
    r *= 2.0
    return np.sum(p[0]) + np.sum(r)


def a_view_of_a_solution(x):
    y = np.linalg.lstsq(x, np.eye(3), rcond=None)[0]
    z = y.ravel()
    z[1] = 7.0
    return np.sum(y)


def results_of_either_branch(x):
    p = np.linalg.eigh(x @ x.T) if x[0, 0] > 0 else np.linalg.eigh(x + x.T)
    p[1][:, 0] *= 2
    return p[0][0] + np.sum(p[1] ** 2 * [1.0, 2.0, 3.0])


def results_in_a_loop(x):
    total = 0.0
    for k in range(1, 3):
        p = np.linalg.svd(x * k)
        p[0][:] = np.sort(p[0], axis=0)
        total = total + np.sum(p[1] ** 3)
    return total


def _clear(p):
    p[1][:] = 0.0


def a_helper_clears_a_part(x):
    q = np.linalg.eigh(x @ x.T)
    _clear(q)
    return np.linalg.slogdet(x)[1] * q[0][1]


def results_in_a_list(x):
    found = [np.linalg.eigh(x @ x.T), np.linalg.eigh(2 * x @ x.T)]
    for p in found:
        p[1][:] *= 3
    return found[0][0][0] * found[1][0][1]


def results_in_a_dict(x):
    d = {"e": np.linalg.eigh(x @ x.T)}
    d["e"][1][:] = 0
    return d["e"][0][0]


def one_of_three(x):
    s = np.linalg.svd(x, compute_uv=False)
    s *= 2
    return np.sum(s**2)


def whole_and_broken(x):
    p = np.modf(3 * x)
    p[0][:] = 1
    return np.sum(p[0] * x) + np.sum(p[1])


for _function in (
    vectors_are_cleared,
    vectors_are_scaled_by_their_name,
    the_second_part_under_a_name,
    a_view_of_a_solution,
    results_of_either_branch,
    results_in_a_loop,
    a_helper_clears_a_part,
    results_in_a_list,
    results_in_a_dict,
    one_of_three,
    whole_and_broken,
):
    sample(_function, lambda r: (np.diag([1.0, 2.0, 3.1]) + 0.3 * r.standard_normal((3, 3)),))
