"""What belongs to the caller stays as it is: arguments in containers, arrays from outside."""

import copy

import numpy as np
import pytest

import srcdiff

W = np.array([1.0, 2.0, 3.0])
X = np.array([0.5, 0.25, 0.75])
VIEW, TABLE = W[1:], [np.array([0.5, 1.5, 2.5]), np.array([1.0, 0.5, 0.25])]
ROWS = np.array([[0.25, 0.5, 1.0], [1.5, -0.5, 0.75]])


def times_one(x):
    y = 1.0 * W
    y[0] = x[1]
    return np.sum(y * x)


def plus_nothing(x):
    y = W + 0.0
    y *= x
    return np.sum(y * x)


def to_the_first_power(x):
    y = W**1
    y += x
    return np.sum(y * x)


def default(x, w=W):
    y = w / 1.0
    y[1] = x[0]
    return np.sum(y * x)


def swapped(x):
    n = x.copy()
    for _ in range(2):
        n[1:-1] = x[1:-1] * x[2:]
        x, n = n, x
    return x


def weighted(x):
    return np.sum(W * swapped(x))


def product(x):
    return W @ swapped(x)


def item_of_a_list_copied(x):
    a = np.array(TABLE[1])
    y = 1.0 * TABLE[1]
    y, a = a, y
    for _ in range(2):
        y += TABLE[1] * x
    return np.sum(y * x * a)


def rows_copied(x):
    rows = [np.copy(row) for row in ROWS]
    last = np.array(ROWS[1, 1:])
    last *= x[1:]
    rows[0] += x
    return np.sum(rows[0] * rows[1] * x) + np.sum(last)


@pytest.mark.parametrize(
    "f",
    [item_of_a_list_copied, rows_copied, times_one, plus_nothing, to_the_first_power, default]
    + [weighted, product],
)
def test_arrays_from_outside_stay(f):
    outside = [W, ROWS, *TABLE]
    before, value = copy.deepcopy(outside), f(X.copy())
    g = srcdiff.grad(f, 0)
    assert srcdiff.value_and_grad(f, 0)(X)[0] == value
    ways = {
        "gradient": lambda: g(X),
        "pullback": lambda: srcdiff.vjp(f, X)[1](X if np.ndim(value) else 1.0),
        "tangent": lambda: srcdiff.jvp(f, (X,), (X,)),
        "product with the Hessian": lambda: srcdiff.hvp(f, (X,), X),
        "gradient of a gradient": lambda: srcdiff.grad(g)(X, grad_outputs=X),
        "tangent of a gradient": lambda: srcdiff.jvp(g, (X,), (X,)),
    }
    for name, way in ways.items():
        way()
        for now, then in zip(outside, before, strict=True):
            np.testing.assert_array_equal(now, then, err_msg=name)
    assert srcdiff.testing.gradgradcheck(f, (X,))


def pulled(x):
    return srcdiff.vjp(lambda x: np.sum(W * x), x)[1]()


def test_results_are_no_arrays_from_outside():
    value, pull = srcdiff.vjp(pulled, X, inputs=0, unused="zeros")
    assert not np.shares_memory(value, W) and not np.shares_memory(pulled(X), W)


def two_deep(p, x):
    p["b"][0] *= x[:2]
    return np.sum(p["b"][0]) * x[0]


def added_two_deep(p, x):
    p["b"][0] += p["a"][:2] * x[0]
    p["c"] = np.sum(p["a"])
    return np.prod(p["b"][0]) * p["c"]


def each_in_turn(p, x):
    for q in (p["b"], p["d"]):
        q[0] *= x[1]
    return np.sum(p["b"][0]) + np.sum(p["d"][0] ** 2)


def rows_in_place(p, x):
    for row in p["d"]:
        row -= 0.5 * x[:2]
    return np.sum(p["d"][0] * p["d"][1])


@pytest.mark.parametrize("inputs", ["p", "x", ("p", "x")])
@pytest.mark.parametrize("f", [two_deep, added_two_deep, each_in_turn, rows_in_place])
def test_what_is_deep_in_arguments_stays(f, inputs):
    p = {"a": np.array([1.0, 2.0]), "b": [np.array([0.5, 2.0])], "d": [np.ones(2), np.ones(2)]}
    before = copy.deepcopy(p)
    for way in (
        lambda: srcdiff.grad(f, inputs)(p, X),
        lambda: srcdiff.jvp(f, (p, X), (copy.deepcopy(p), X)),
        lambda: srcdiff.vjp(f, p, X, inputs=inputs)[1](1.0),
    ):
        first, second = way(), way()
        assert repr(p) == repr(before) and repr(first) == repr(second)
    assert srcdiff.testing.gradcheck(f, (p, X))


def item_of_a_list(x):
    a, b = TABLE
    a *= x
    return np.sum(TABLE[0] * x)


def each_of_a_list(x):
    for q in TABLE:
        q *= x
    return np.sum(TABLE[0] * x)


def by_another_function(x):
    v = np.asarray(W)
    v *= x
    return np.sum(W * x)


def by_a_choice(x):
    v = W if x[0] < 9.0 else x
    v *= x
    return np.sum(W * x)


def in_a_new_list(x):
    v = list(TABLE)
    v[0] += x
    return np.sum(TABLE[0] * x)


def in_a_longer_list(x):
    v = [*TABLE, x]
    v[0] *= x
    return np.sum(TABLE[0] * x)


def in_a_dict(x):
    v = {"a": W}
    v["a"] += x
    return np.sum(W * x)


def copied_into(x):
    u = W * x
    np.copyto(W, x)
    return np.sum(W * u)


def of_a_view(x):
    v = np.ravel(W)
    v[1:] *= x[1:]
    return np.sum(VIEW * x[1:])


def in_a_loop(x):
    total = 0.0
    for _ in range(2):
        v = W[:]
        v += x
        total = total + np.sum(v * x)
    return total


@pytest.mark.parametrize(
    "f",
    [item_of_a_list, each_of_a_list, by_another_function, by_a_choice, in_a_new_list]
    + [in_a_longer_list, in_a_dict, copied_into, of_a_view, in_a_loop],
)
def test_what_is_from_outside_is_not_read_after_it_is_written_by_another_name(f):
    for way in (lambda: srcdiff.grad(f)(X), lambda: srcdiff.jvp(f, (X,), (X,))):
        with pytest.raises(srcdiff.UnsupportedError, match="not local to the function and is read"):
            way()


def held_beside_others(x):
    p = {"w": W, "b": x}
    p["b"] = p["b"] * 2.0
    rows = [W, W * 2.0]
    rows.append(x)
    rows[0] = rows[1] * x
    return np.sum(p["w"] * p["b"] * W) + np.sum(rows[0])


def test_containers_that_hold_what_is_from_outside_change():
    before = W.copy()
    assert srcdiff.testing.gradcheck(held_beside_others, (X,))
    np.testing.assert_array_equal(W, before)


def added(x, y):
    x += y
    return np.sum(x * y)


def raised(x, y):
    x **= 2
    return np.sum(y) * x[0]


def multiplied(x, y):
    y @= np.eye(3) * 2.0
    return np.sum(x * y)


def renamed(x, y):
    z = x
    z -= 1.0
    return y @ y + x[0]


def beside_one_from_outside(x, y):
    x += 1.0
    return np.sum(W * x) * y[0]


@pytest.mark.parametrize("f", [added, raised, multiplied, renamed])
def test_operators_in_place_on_shared_arguments_are_refused(f):
    x = np.arange(1.0, 5.0)
    for args in ((x[:3], x[:3]), (x[1:], x[:-1])):
        with pytest.raises(srcdiff.UnsupportedError, match="share memory"):
            srcdiff.value_and_grad(f, (0, 1))(*args)
        with pytest.raises(srcdiff.UnsupportedError, match="share memory"):
            srcdiff.jvp(f, args, (np.ones(3), np.ones(3)))
    assert srcdiff.testing.gradcheck(f, (X, X + 1.0))


def test_operators_in_place_on_an_array_from_outside_are_refused():
    with pytest.raises(srcdiff.UnsupportedError, match="`x` and `W` share memory"):
        srcdiff.grad(beside_one_from_outside, 0)(W, X)
    assert srcdiff.testing.gradcheck(beside_one_from_outside, (X, X + 1.0))
