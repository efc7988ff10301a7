"""Tuples, lists, dicts and records of arrays."""

from dataclasses import dataclass

import numpy as np

from .registry import sample


def network(params, x):
    h = x
    for W, b in params[:-1]:
        h = np.tanh(h @ W + b)
    W, b = params[-1]
    return h @ W + b


def layers(r, *sizes):
    return [(r.standard_normal((m, n)), r.standard_normal(n)) for m, n in zip(sizes, sizes[1:])]


sample(network, lambda r: (layers(r, 3, 4, 2), r.standard_normal((5, 3))), "params")
sample(network, lambda r: (layers(r, 3, 2), r.standard_normal((5, 3))), ("params", "x"))


def dict_params(params, x):
    h = np.tanh(params["w"] * x + params["b"])
    return np.sum(h * params["out"])


def three(r):
    return {k: r.standard_normal(3) for k in ("w", "b", "out")}


sample(dict_params, lambda r: (three(r), r.standard_normal(3)), "params")
sample(dict_params, lambda r: (three(r), r.standard_normal(3)), "params['w']")
sample(dict_params, lambda r: (three(r), r.standard_normal(3)), ("params['b']", "x"))


def list_of_states(x, n):
    states = [x]
    for i in range(n):
        states.append(np.sin(states[-1]) + states[0])
    return states[n] * states[1]


sample(list_of_states, lambda r: (r.standard_normal(2), 3))


def stacked_states(x, n):
    states = []
    h = x
    for i in range(n):
        h = h * np.cos(h)
        states.append(h)
    return np.stack(states)


sample(stacked_states, lambda r: (r.standard_normal(3), 4))


def comprehension(x):
    squares = [v * v for v in x]
    products = [squares[i] * x[i + 1] for i in range(len(x) - 1)]
    return sum(squares) + sum(products) + sum(np.sin(v) for v in x)


sample(comprehension, lambda r: (r.standard_normal(4),))


def filtered(x):
    return sum([v**2 for v in x if v > 0.0])


sample(filtered, lambda r: (np.array([0.4, -1.0, 2.0]),))


def dict_of_results(x):
    out = {}
    out["a"] = np.sum(x * x)
    out["b"] = x[0] * out["a"]
    out["a"] = out["a"] + 1.0
    return out


sample(dict_of_results, lambda r: (r.standard_normal(3),))
sample(dict_of_results, lambda r: (r.standard_normal(3),), outputs="b")


def dict_items(weights):
    total = 0.0
    for name, w in weights.items():
        if name != "bias":
            total += np.sum(w * w)
    for w in weights.values():
        total += np.sum(w)
    return total


sample(
    dict_items, lambda r: ({"w": r.standard_normal(3), "bias": r.standard_normal(1)},), "weights"
)


def list_stores(x):
    xs = [0.0, 0.0, 0.0]
    for i in range(3):
        xs[i] = x[i] * x[0]
    xs[0] = xs[1] * xs[2]
    return xs[0] + xs[1] * xs[2]


sample(list_stores, lambda r: (r.standard_normal(3),))


def two_outputs(x, y):
    return x * y, np.sum(x) * y


sample(two_outputs, lambda r: (r.standard_normal(3), r.standard_normal(3)), (0, 1))
sample(two_outputs, lambda r: (r.standard_normal(3), r.standard_normal(3)), (0, 1), outputs=1)
sample(two_outputs, lambda r: (r.standard_normal(3), r.standard_normal(3)), "x", outputs=(1, 0))


def mixed_outputs(x):
    return x * x, len(x), "label", None, {"twice": [2.0 * x, x[0] ** 3]}


sample(mixed_outputs, lambda r: (r.standard_normal(3),))


def nested_inputs(state):
    (p, q), extra = state["pq"], state["extra"]
    return np.sum(p * q) * extra[0] + extra[1] ** 2


sample(
    nested_inputs,
    lambda r: (
        {
            "pq": (r.standard_normal(2), r.standard_normal(2)),
            "extra": [0.3, 1.2],
            "n": 3,
            "name": "run",
        },
    ),
)


@dataclass
class Oscillator:
    mass: float
    springs: np.ndarray


def energy_of(system, x):
    return 0.5 * system.mass * x**2 + np.sum(system.springs * np.sin(x))


sample(energy_of, lambda r: (Oscillator(1.3, r.standard_normal(3)), 0.4), "x")


def same_array_twice(x):
    pair = [x, x]
    return pair[0] * pair[1] + pair[1]


sample(same_array_twice, lambda r: (r.standard_normal(2),))


def update_params(params, g, lr):
    return [p - lr * np.tanh(q) for p, q in zip(params, g)]


sample(
    update_params,
    lambda r: (
        [r.standard_normal(2), r.standard_normal(3)],
        [r.standard_normal(2), r.standard_normal(3)],
        0.1,
    ),
    ("params", "g", "lr"),
)


def dict_filled_and_run_through(x):
    terms = {}
    for i in range(len(x)):
        terms[i] = x[i] * i
    total = 0.0
    for key in terms:
        total += terms[key] ** 2 * key
    return total


sample(dict_filled_and_run_through, lambda r: (r.standard_normal(4),))


def after_a_list_of_any_length(x, xs, n):
    made = []
    for k in range(n):
        made.append(float(k))
    t = [x[0], *xs, x * x, x[1] * x]
    u = [*made, x[2] * x]
    return t[-2] * t[0] + t[len(xs) + 1] + u[n]


sample(after_a_list_of_any_length, lambda r: (r.standard_normal(3), np.ones(4), 2))


def number_of_keys_before_another_is_added(x, n):
    weights = {0: 1.0}
    for k in range(n):
        x = x * len(weights) * x
        weights[k + 5] = 1.0
    return x


def least_of_a_list_before_a_store(x, n):
    limits = [1.0, 3.0, 2.0]
    for k in range(n):
        x = x * min(limits) * x
        limits[k] = k + 4.0
    return x


def greatest_of_an_array_before_a_store(x, n):
    limits = np.ones(4)
    for k in range(n):
        x = x * max(limits) * x
        limits[k] = k + 4.0
    return x


def whether_a_key_is_there_before_it_is_added(x, n):
    seen = {"a": 1.0}
    for _ in range(n):
        x = x * (2.0 if "b" in seen else 1.0) * x
        seen["b"] = 1.0
    return x


for _function in (
    number_of_keys_before_another_is_added, least_of_a_list_before_a_store,
    greatest_of_an_array_before_a_store, whether_a_key_is_there_before_it_is_added,
):  # fmt: skip
    sample(_function, lambda r: (r.uniform(0.3, 0.8), 3))
