"""List displays that are only an argument."""

import numpy as np

from srcdiff import ir_text
from srcdiff.displays import displays
from srcdiff.lower import lower
from srcdiff.parse import parse


def text(f):
    """The function after the pass, without its first and last line."""
    return ir_text.show(displays(lower(parse(f)))).splitlines()[1:-1]


def test_a_list_of_variables_goes_into_the_call():
    def f(x, y):
        z = np.stack([x, y])
        return z

    assert len(text(f)) == 1 and "(x, y)" in text(f)[0]


def test_nested_lists():
    def f(x, y):
        z = np.array([[x, y], [y, x]])
        return z

    assert len(text(f)) == 1 and "((x, y), (y, x))" in text(f)[0]


def test_other_lists_stay():
    def named(x, y):
        items = [x, y]
        return np.stack(items)

    def constant(x):
        z = np.take(x, [0, 1])
        return z

    def index(x, k):
        z = x[[k, 0]]
        return z

    def rebound(x, y):
        x = np.stack([x, y])
        return x

    for f in (named, constant, index, rebound):
        assert any("[" in line or "list" in line for line in text(f)), f.__name__
