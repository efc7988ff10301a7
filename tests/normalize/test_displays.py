"""List displays that are only an argument."""

import numpy as np

import srcdiff
from srcdiff.frontend.lowering import lower
from srcdiff.frontend.source.parse import parse
from srcdiff.ir import printer
from srcdiff.normalize.displays import displays
from tests.support.differences import check_gradient


def text(f):
    """The function after the pass, without its first and last line."""
    return printer.show(displays(lower(parse(f)))).splitlines()[1:-1]


def test_a_list_of_variables_goes_into_the_call():
    def f(x, y):
        z = np.stack([x, y])
        return z

    assert len(text(f)) == 1 and "(x, y)" in text(f)[0]


def test_a_list_that_the_user_has_named_is_no_other():
    def f(x, y):
        items = [x, y]
        return np.stack(items)

    assert "(x, y)" in text(f)[0]


def test_nested_lists():
    def f(x, y):
        z = np.array([[x, y], [y, x]])
        return z

    assert len(text(f)) == 1 and "((x, y), (y, x))" in text(f)[0]


def test_other_lists_stay():
    def read_twice(x, y):
        items = [x, y]
        return np.stack(items) * len(items)

    def constant(x):
        z = np.take(x, [0, 1])
        return z

    def index(x, k):
        z = x[[k, 0]]
        return z

    def rebound(x, y):
        x = np.stack([x, y])
        return x

    for f in (read_twice, constant, index, rebound):
        assert any("[" in line or "list" in line for line in text(f)), f.__name__


def printed(f, *args):
    check_gradient(f, args)
    return srcdiff.source(f, example=args).replace(" ", "")


def test_lists_of_numbers_are_printed_as_lists():
    def listed(x):
        y = np.array([x[0], x[1] * 2.0])
        return y @ np.array((x[1], x[0]))

    text = printed(listed, np.array([0.3, 0.4]))
    assert "np.array([x[0],x[1]*2.0])" in text and "np.array((x[1],x[0]))" in text


def test_what_numba_takes_as_tuples_alone_is_printed_as_tuples():
    def joined(x):
        y = np.concatenate([x, x * 2.0])
        return np.stack([y, y]) * y @ np.array([[1, x[0]], [0.5, x[1]]]).ravel()

    text = printed(joined, np.array([0.3, 0.4]))
    assert "np.concatenate((x,x*2.0))" in text and "((1,x[0]),(0.5,x[1]))" in text


def test_a_list_stays_one_when_its_names_change():
    def rebound(x):
        for _ in range(2):
            x = np.array([x[1], np.sin(x[0])]) * x
        return x

    assert "=np.array([" in printed(rebound, np.array([0.3, 0.4])).partition("#backward")[0]


def test_tuples_of_variables_are_joined():
    def joined(x, y):
        t = (x, y)
        z = np.stack(t + (x,))
        return z

    def rebound(x, y):
        t = (x, y)
        x = x * y
        z = np.stack(t + (x,))
        return z

    def grown(x, y):
        t = (x, y)
        for _ in range(2):
            t = t + (x,)
        z = np.stack(t)
        return z

    assert text(joined)[-1].strip() == "z = np.stack((x, y, x))"
    for f in (rebound, grown):
        assert any("add(" in line for line in text(f)), f.__name__
        check_gradient(f, (np.array([0.3, 0.4]), np.array([1.3, -0.4])))
