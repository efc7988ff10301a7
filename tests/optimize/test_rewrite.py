"""What is the same in two places is there once: before an `if`, or under one name."""

import numpy as np

import srcdiff
from tests.support.differences import check_gradient

X = np.array([0.3, 0.7, -1.2])


def chosen(x, k):
    if k > 1:
        y = x[0] * x[1]
    else:
        y = x[2] * k
    return y


def only_one(x, k):
    y = x[1] * 2.0
    if k > 1:
        y = x[0] * y
    return y


def rebuilt(x, flag):
    if flag:
        v = np.sin(x)
        y = v[0] * v[1]
    else:
        v = np.cos(x)
        y = v[2] * v[1]
    return y


def test_zeros_stand_before_the_branches():
    text = srcdiff.source(chosen, example=(X, 2))
    assert text.count("np.zeros_like(x)") == 1
    np.testing.assert_array_equal(srcdiff.grad(chosen)(X, 2), [0.7, 0.3, 0.0])
    np.testing.assert_array_equal(srcdiff.grad(chosen)(X, 1), [0.0, 0.0, 1.0])


def test_what_stands_after_a_read_of_its_name_stays():
    np.testing.assert_array_equal(srcdiff.grad(only_one)(X, 2), [1.4, 0.6, 0.0])
    np.testing.assert_array_equal(srcdiff.grad(only_one)(X, 1), [0.0, 2.0, 0.0])


def test_zeros_of_the_same_form():
    a, b = np.sin(X), np.cos(X)
    expected = [a[1] * b[0], a[0] * b[1], 0.0]
    np.testing.assert_allclose(srcdiff.grad(rebuilt)(X, True), expected, rtol=1e-15)
    expected = [0.0, -a[1] * b[2], -a[2] * b[1]]
    np.testing.assert_allclose(srcdiff.grad(rebuilt)(X, False), expected, rtol=1e-15)


def whole(x, y):
    z = np.empty_like(x)
    z[...] = np.multiply(x, y)
    z[...] = np.add(z, x)
    return np.sum(z * y)


def test_the_whole_of_an_array_is_the_array():
    text = srcdiff.source(whole, ("x", "y"), example=(X, X))
    backward = text.partition("# backward")[2]
    assert "np.copy(d_z[...])" not in backward
    found = srcdiff.grad(whole, ("x", "y"))(X, 2.0 * X)
    np.testing.assert_allclose(found[0], 2.0 * X * (2.0 * X + 1.0), rtol=1e-14)
    np.testing.assert_allclose(found[1], 2.0 * 2.0 * X * X + X, rtol=1e-14)


# --- what the user computes twice ---------------------------------------------------------------


def spread(x, k):
    r = np.sqrt(k)
    return np.sum(np.sin(x * r) * (x * r)) + r * np.sqrt(k)


def test_a_value_that_is_needed_twice_is_computed_once():
    text = srcdiff.source(spread, ("x", "k"), example=(X, 2.0))
    assert text.count("np.sqrt(k)") == 1 and text.count("x * r") == 1
    check_gradient(spread, (X, 2.0), ("x", "k"))


def both_written(x):
    a, b = np.outer(x, x)[1:], np.outer(x, x)[1:]
    a[0] *= x
    return np.sum(a * b)


def drawn(x, draws):
    return x[0] * draws.pop() + x[1] * draws.pop() + draws.pop() * x[0] ** 2 * draws.pop()


def read_between(x):
    t = x.copy()
    first = t[0] * t[1] * t[0]
    t[0] = np.sin(t[1])
    return first * t[0] * t[1] * t[0]


def test_what_is_not_one_value_is_not_made_one():
    check_gradient(both_written, (X,))
    check_gradient(read_between, (X,))
    check_gradient(lambda x: drawn(x, [1.0, 2.0, 3.0, 4.0]), (X,))


# --- what the user computes twice, before it is differentiated ------------------------------------


def volatile(s, v, z, xi):
    for k in range(z.shape[0]):
        vp = np.maximum(v, 0.0)
        s = s + np.sqrt(vp * xi + 0.1) * z[k]
        v = v + xi * np.sqrt(vp * xi + 0.1) * z[k]
    return np.sum(s * v)


def of_elements(x, rows):
    return np.sum(np.exp(rows[0] * x) * x + np.exp(rows[0] * x))


def written_between(x):
    a = x * 1.0
    one = np.exp(a[1:] * x[1:])
    a[1] = np.sin(x[0])
    return np.sum(one * np.exp(a[1:] * x[1:]))


def equal_in_other_memory(x):
    a, b = np.outer(x, x)[1:], np.outer(x, x)[1:]
    one = np.sin(a * x)
    a[0] *= x
    return np.sum(one * np.sin(b * x) * np.sin(a * x))


def test_what_is_written_twice_is_saved_once():
    args = X, X + 1.0, np.cos(np.arange(12.0)).reshape(4, 3), 0.3
    text = srcdiff.source(volatile, ("s", "v", "xi"), example=args)
    forward, _, backward = text.partition("# backward")
    assert forward.count("np.sqrt") == 1 and "sqrt" not in backward
    assert backward.count("2.0 * t_1") == 1
    check_gradient(volatile, args, ("s", "v", "xi"))


def test_elements_are_computed_with_as_if_they_had_a_name():
    text = srcdiff.source(of_elements, ("x", "rows"), example=(X, [X, X]))
    assert text.count("np.exp") == 1
    check_gradient(of_elements, (X, [X, 2.0 * X]), ("x", "rows"))


def test_equal_values_are_two_after_a_store_into_one():
    check_gradient(written_between, (X,))
    check_gradient(equal_in_other_memory, (X,))
