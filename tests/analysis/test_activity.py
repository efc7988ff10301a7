"""Names that carry a derivative from the inputs to the outputs."""

import numpy as np

from srcdiff import ir
from srcdiff.analysis.activity import activity, edges, reachable
from srcdiff.analysis.aliases import aliases
from srcdiff.frontend.lowering import flows, lower
from srcdiff.frontend.source.parse import parse
from srcdiff.kinds.interpreter import infer
from srcdiff.kinds.lattice import kind_of
from srcdiff.normalize.live_ranges import webs

X = np.ones(3)


def lowered(function, *args):
    """The function, and the kinds of its names for these arguments."""
    found = webs(lower(parse(function)))
    given = {p.name: kind_of(v, p.name) for p, v in zip(found.params, args, strict=True)}
    return found, infer(found, given)


def active(function, *args, by=None):
    """The names that lead from a parameter (the first) to what is returned."""
    found, kinds = lowered(function, *args)
    returned = [s for s in ir.walk(found.body) if isinstance(s, ir.Return)]
    outputs = [n for s in returned for n in ir.names(s.value)]
    all_edges = edges(found.body, kinds, aliases(found, kinds), flows)
    return activity([by or found.params[0].name], outputs, all_edges)


def two_inputs(x, y):
    a = x * y
    b = y * 2.0
    c = a * x  # noqa: F841
    return a + b


def test_names_between_an_input_and_the_output():
    by_x, by_y = active(two_inputs, X, X), active(two_inputs, X, X, by="y")
    assert {"x", "a"} <= by_x and not by_x & {"y", "b", "c"}
    assert {"y", "a", "b"} <= by_y and not by_y & {"x", "c"}


def test_whole_numbers_and_steps_carry_nothing():
    def cut(x):
        n = int(x[0])
        y = np.floor(x)
        z = np.sum(x > 0)
        return y * z + x * n

    assert not active(cut, X) & {"n", "y", "z"}


def test_a_store_makes_its_base_active():
    def stored(x):
        out = np.zeros(3)
        rest = np.zeros(3)
        out[0] = x[1]
        rest[0] = 1.0
        return out + rest

    found = active(stored, X)
    assert "out" in found and "rest" not in found


def test_a_store_into_a_view_makes_its_owner_active():
    def through(x):
        out = np.zeros(3)
        v = out[1:]
        v[0] = x[1]
        return out

    assert {"out", "v"} <= active(through, X)


def test_what_is_carried_round_a_loop_is_active():
    def carried(x, n):
        a = 0.0
        b = 1.0
        for i in range(n):
            b = b + a
            a = a + x[i]
        return b

    assert {"a", "b"} <= active(carried, X, 2)


def test_edges_are_followed_both_ways():
    found = [("a", "b", None), ("b", "c", None), ("d", "c", None)]
    assert reachable(["a"], found) == {"a", "b", "c"}
    assert reachable(["c"], found, backward=True) == {"a", "b", "c", "d"}
    assert activity(["d"], ["b"], found) == set()
    assert activity(["a"], ["b"], found) == {"a", "b"}
