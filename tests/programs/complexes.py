"""Real numbers beside complex ones: what is real has a real adjoint."""

import numpy as np

from .registry import sample


def _cubed(c):
    return np.abs(np.sum(c**3 * (1 + 2j)))


def real_part_in_a_list(x, y):
    w = x * (y + 0.8j)
    parts = [np.real(w), w * w]
    return _cubed(np.array(parts))


def modulus_in_nested_lists(x, y):
    z = x + 0.6j
    rows = [[np.abs(z * y), z], [np.real(z * z), z + y]]
    return _cubed(np.array(rows))


def exchanged_in_a_list(x, y):
    w = x * (y + 0.8j)
    parts = [np.real(w), w + 0.1j]
    parts[0], parts[1] = parts[1], parts[0]
    c = np.array(parts[::-1]) * np.array([1, 2j])
    return np.abs(c @ c)


def collected_beside_arrays(x, y):
    z = x + 1j * y
    rows = []
    for k in range(2):
        rows.append(np.abs(z) * (k + 1.0))
    rows.append(z)
    return _cubed(np.concatenate(rows)) + _cubed(np.stack([y, z], axis=1))


def tuple_of_arrays(x, y):
    z = x + 1j * y
    both = (x * 2.0, z)
    stacked = np.stack(both)
    return _cubed(stacked) + _cubed(sum([np.real(z * z), y, z]))


def read_again_as_real(x, y):
    z = x + 1j * y
    rows = [x * 2.0, y, z][:]
    table = np.vstack(rows)
    return _cubed(table) + np.sum(rows[0] * rows[1] ** 2)


def two(r):
    return r.standard_normal(3), r.standard_normal(3)


for _program in (real_part_in_a_list, modulus_in_nested_lists, exchanged_in_a_list):
    sample(_program, lambda r: (0.7, 0.3), (0, 1))
for _program in (collected_beside_arrays, tuple_of_arrays, read_again_as_real):
    sample(_program, two, (0, 1))


def item_of_a_dict_that_becomes_complex(x, y):
    psi = {"a": x * 2.0, "b": y}
    for _ in range(3):
        psi["a"] = psi["a"] * np.exp(-1j * x) + x
    psi["b"] = psi["b"] * (x + 0.3j)
    psi["b"] = psi["b"] + y
    return np.sum(np.abs(psi["a"] * psi["b"]) ** 2)


def items_of_a_list_in_a_dict(x, y):
    d = {"q": [x, y * 2]}
    for k in range(2):
        d["q"][k] = d["q"][k] * (x + 0.3j)
    d["q"][0] = np.abs(d["q"][1])
    return np.sum(np.abs(d["q"][0] * d["q"][1]) ** 2)


for _program in (item_of_a_dict_that_becomes_complex, items_of_a_list_in_a_dict):
    sample(_program, two, (0, 1))


def product_of_rows_with_names(x):
    M = np.eye(2, dtype=complex)
    for j in range(len(x)):
        one = [np.cos(x[j]), 1j * np.sin(x[j]) / x[j]]
        two = [1j * x[j] * np.sin(x[j]), np.cos(x[j])]
        rows = [one, two]
        M = M @ np.array(rows)
    b, c = M @ np.array([1.0, x[-1]])
    return np.abs(b * c)


sample(product_of_rows_with_names, lambda r: (r.uniform(0.4, 1.2, 3),))
