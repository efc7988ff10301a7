"""Items of containers that are memory of other containers too, and are written into."""

import numpy as np

from .registry import sample


def views_in_a_list(x):
    layers = [x * 1.0]
    flat = [a.ravel() for a in layers]
    flat[0] += 1.0
    return np.sum(layers[0] ** 2)


def views_in_two_lists(x):
    whole = x * 1.0
    first, second = [whole.ravel()], [whole[0]]
    first[0] += 1.0
    return np.sum(second[0] ** 2)


def one_view_twice(x):
    whole = x * 1.0
    rows = []
    for _ in range(2):
        rows.append(whole[0])
    rows[0] *= x[1]
    return np.sum(rows[1] ** 2)


def copy_of_a_dict(x):
    d = {"a": x * 1.0}
    old = d.copy()
    old["a"] *= 2.0
    old["a"][0] = 0.0
    return np.sum(d["a"] ** 2)


def slice_of_a_list(x):
    layers = [x * 1.0, x * 2.0]
    part = layers[:1]
    part[0] *= 3.0
    return np.sum(layers[0] ** 2)


def views_that_are_joined(x):
    layers = [x]
    for _ in range(2):
        layers.append(layers[-1] * 2.0)
        layers[-1] *= 1.5
    return np.concatenate([a.T for a in layers])


def views_or_copies(x):
    both = [x, x.T]
    both[-1] *= 1.5
    flat = []
    for a in both:
        flat.append(a.reshape(-1))
    flat[0] *= 2.0
    return np.concatenate(flat) * np.sum(both[0] ** 2)


def item_of_a_display(x):
    a = b = x * 1.0
    b += x.T
    c = (a, b)[1]
    c *= a
    return np.sum(c)


def item_of_a_display_by_index(x, i=0):
    a, b = x * 1.0, x * 2.0
    c = (a, b)[i]
    c *= b
    return np.sum(a * b)


for _function in (
    item_of_a_display, item_of_a_display_by_index, views_in_a_list, views_in_two_lists,
    one_view_twice, copy_of_a_dict, slice_of_a_list, views_that_are_joined, views_or_copies,
):  # fmt: skip
    sample(_function, lambda r: (r.uniform(0.2, 0.8, (2, 2)),))


def argument_in_an_item_that_moves(y):
    """The argument itself is returned."""
    z = [[1.0], [y]]
    o = z[1]
    z[0] = o
    return y


def argument_in_lists_turned_round(y):
    z = [[y * 2, np.ones(3)], [y, y - 1.0]]
    kept = z[1]
    z.reverse()
    return kept[0]


def arguments_in_an_item_that_moves(x, y):
    z = [[x], [y]]
    o = z[1]
    z[0] = o
    return x, (y, x * y)


for _function in (argument_in_an_item_that_moves, argument_in_lists_turned_round):
    sample(_function, lambda r: (r.standard_normal(3),))
sample(
    arguments_in_an_item_that_moves,
    lambda r: (r.standard_normal(3), r.standard_normal(3)),
    (0, 1),
)


class _Held:
    def __init__(self, u):
        self.u = u


def a_dict_twice_in_a_list(x):
    a = {"u": x * 1.0}
    t = [a, a]
    t[0]["u"] = x * 5.0
    return np.sum(t[1]["u"] * x)


def a_list_twice_in_a_dict(x):
    a = [x * 1.0]
    t = {"p": a, "q": a}
    t["p"][0] = x * x
    return np.sum(t["q"][0] * x)


def an_object_twice_in_a_list(x):
    a = _Held(x * 1.0)
    t = [a, a]
    t[0].u = x * 5.0
    return np.sum(t[1].u * x)


for _function in (a_dict_twice_in_a_list, a_list_twice_in_a_dict, an_object_twice_in_a_list):
    sample(_function, lambda r: (r.uniform(0.5, 1.5, 3),))
