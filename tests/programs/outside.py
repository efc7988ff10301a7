"""Arrays and lists of the module beside active values that have another shape."""

import numpy as np

from .registry import sample

STEPS = np.arange(7.0)
TIMES = np.linspace(0.3, 1.1, 8)
POINTS = np.arange(12.0).reshape(4, 3) / 7
METRIC = np.eye(3) + 0.1
WEIGHTS = [3.0, 9.0, 1.0]
COUNTS = np.arange(3)
BOOK = {"steps": STEPS, "weights": [1.0, 2.0, 3.0]}


def number_added(b):
    return np.sum((b + POINTS)[2:5] ** 2) + np.sum(b + STEPS) * np.sum(STEPS - b)


def residuals_of_a_number(b):
    c = TIMES - b
    s = c @ np.linalg.solve(np.eye(8), c)
    for t in range(1, 8):
        s += (c[t] - 0.5 * c[t - 1]) ** 2
    return s


def parts_of_what_was_added(b):
    d = TIMES - b
    total = np.sum((TIMES + b).reshape(2, 4)[0]) + sum(TIMES + b) + np.sort(TIMES + b)[3]
    for v in TIMES + b:
        total = total + v**2
    return total + np.sum(d[d > 0]) + np.interp(0.4, TIMES, TIMES + b)


def written_after_it_was_added(b):
    w = b + STEPS
    w[0] = 2 * b
    return np.sum(w * w) + np.sum(np.mean(POINTS + b, axis=0) ** 2)


def row_added(c):
    d = POINTS - c
    total = np.einsum("ni,ij,nj->", d, METRIC, d) + np.trace(d @ METRIC @ d.T)
    total += np.sum(np.sum(POINTS + c, axis=1) ** 2)
    return total + np.sum(np.concatenate([d, POINTS]) ** 2)


def list_of_the_module(c):
    total = np.sum((c + WEIGHTS) ** 2) + np.sum(WEIGHTS - c) + np.sum(WEIGHTS * c * c)
    return total + np.sum(np.float64(c[0]) * np.array(WEIGHTS)) + np.dot(c, WEIGHTS)


def list_in_place(c):
    y = c * 1.0
    y += WEIGHTS
    y *= WEIGHTS
    z = WEIGHTS + c
    z /= WEIGHTS
    return np.sum(y * z * c)


def lists_joined_to_one_of_the_module(c):
    xs = [c[0], c[1]] + WEIGHTS
    return sum(v * v for v in xs) + sum(v for v in WEIGHTS + [c[2] ** 2])


def functions_of_two(c):
    total = np.sum((c + COUNTS) ** 2 + np.maximum(c, POINTS)) + np.sum(np.hypot(c, POINTS))
    total += np.sum(np.arctan2(c, POINTS + 1)) + np.sum(np.where(POINTS > 0.5, c, POINTS))
    return total + np.sum(BOOK["steps"] + c[0]) * np.sum(np.array(BOOK["weights"]) - c)


def through_a_helper(b):
    def moved(q):
        return q + STEPS

    return np.sum(moved(b) ** 2) + np.sum((lambda q: WEIGHTS - np.float64(q))(b))


for _program in (
    number_added, residuals_of_a_number, parts_of_what_was_added, written_after_it_was_added,
    through_a_helper,
):  # fmt: skip
    sample(_program, lambda r: (0.7,))
for _program in (
    row_added, list_of_the_module, list_in_place, lists_joined_to_one_of_the_module,
    functions_of_two,
):  # fmt: skip
    sample(_program, lambda r: (np.array([0.1, 0.2, 0.3]),))


def powers_at_zero(x, c):
    s = 0.0
    for k in range(len(c)):
        s = s + c[k] * x**k
    return s + np.sum(c * x ** np.arange(4))


sample(powers_at_zero, lambda r: (0.0, np.array([1.0, 2.0, 3.0, 4.0])))
sample(powers_at_zero, lambda r: (np.float64(0.0), np.array([1.0, 2.0, 3.0, 4.0])))


_KEPT = np.array([0.3, 0.6, 0.9, 0.5])
_BOOK = {"w": np.array([0.9, 0.35, 0.15, 0.65])}


def quotient_in_a_list_of_lists(x, y, s):
    a = _BOOK["w"]
    d = y[:, None]
    rows = [[x, _KEPT], [x, a / s]]
    return 0.67 * s + np.sum(rows) + np.sum(np.sin(d))


sample(
    quotient_in_a_list_of_lists,
    lambda r: (r.standard_normal(4), r.standard_normal(4), 0.5),
    ("x", "y", "s"),
)
