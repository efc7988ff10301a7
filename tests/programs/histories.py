"""Lists that are filled through what holds them, and what NumPy makes of them."""

import numpy as np

import srcdiff

from .registry import sample


def scaled_history(x):
    history = {"y": []}
    for i in range(3):
        history["y"].append(x[i] ** 2)
    return np.mean(np.multiply(history["y"], 2))


def two_histories(x):
    h = {"y": [], "z": []}
    for i in range(3):
        h["y"].append(x[i] * x[i])
        h["z"].append(10 * x[i])
    return np.add(h["y"], h["z"])[1] * np.add(h["y"], h["y"])[2]


def lists_in_a_list(x):
    found = [[], []]
    for i in range(3):
        found[0].append(x[i] ** 2)
        found[1].append(x[i])
    return np.mean(np.add(found[0], found[1])) * np.linalg.norm(found[1])


def grouped(x):
    g = {}
    for i in range(3):
        g.setdefault(i % 2, []).append(x[i])
    return np.prod(g[0])


def grouped_by_a_question(x):
    g = {}
    for i in range(3):
        if i % 2 not in g:
            g[i % 2] = []
        g[i % 2].append(x[i])
    return np.max(g[0]) ** 2 + np.var(g[0]) * np.prod(g[0]) * g[1][0] + np.sum(np.exp(g[0]))


def functions_made_of_others(x):
    h = {"y": [], "t": [0.0, 1.0, 2.0]}
    for i in range(3):
        h["y"].append(x[i])
    y = h["y"]
    fit = np.polyfit(h["t"], y, 1)[0] ** 2
    spread = np.percentile(y, 30) + np.cov(y) + np.gradient(y)[0]
    return fit + spread + np.average(y, weights=[1, 2, 3])


def by_two_names(x):
    y = []
    record = {"y": y}
    for i in range(3):
        record["y"].append(x[i] ** 2)
    return np.trapezoid(y) + np.median(record["y"])


def table_by_rows(x):
    g = [[0.0] * 3 for _ in range(3)]
    for i in range(3):
        for j in range(3):
            g[i][j] = x[i] * x[j]
    return np.sum(np.power(g, 2)) + np.linalg.norm(g)


def columns_of_pairs(x):
    a, b = zip(*[(x[0], x[1]), (x[1], x[2])])
    return np.linalg.norm(a) * np.interp(0.3, [0.0, 1.0], b)


def constant_in_a_region(x):
    h = {"y": []}
    h["y"].append(x[0] * x[1])
    with srcdiff.autograd.no_grad():
        s = h["y"][0] * 2
    return s * x[2] ** 2


for _function in (
    scaled_history, two_histories, lists_in_a_list, grouped, grouped_by_a_question,
    functions_made_of_others, by_two_names, columns_of_pairs,
):  # fmt: skip
    sample(_function, lambda r: (r.uniform(0.4, 1.6, 3),))
sample(table_by_rows, lambda r: (r.uniform(0.4, 1.6, 3),))
sample(
    constant_in_a_region,
    lambda r: (r.uniform(0.4, 1.6, 3),),
    gradient=lambda x, ct: ct * np.array([0.0, 0.0, 4.0 * x[0] * x[1] * x[2]]),
    second=lambda x, ct, u: ct * u[2] * np.array([0.0, 0.0, 4.0 * x[0] * x[1]]),
)


def _first_two(x, n):
    return [x[0], x[1]] if n == 0 else _first_two(x, n - 1)


def list_of_a_recursion(x):
    v = _first_two(x, 2)
    return np.mean(np.multiply(v, 2)) * np.add(v, v)[1]


def list_or_array(x, flag):
    d = {"a": [x[0], x[1] ** 2], "b": x}
    v = d["a" if flag else "b"]
    return np.mean(np.add(v, v)) ** 2


sample(list_of_a_recursion, lambda r: (r.uniform(0.4, 1.6, 3),))
sample(list_or_array, lambda r: (r.uniform(0.4, 1.6, 3), True))
