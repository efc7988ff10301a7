"""Names that share memory that is written."""

import numpy as np
import pytest

from srcdiff.analysis.aliases import Aliases, aliases
from srcdiff.frontend.lowering import lower
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


def aliases_of(function, *args):
    return aliases(*lowered(function, *args))


def bases(found):
    return {name: view.base for name, view in found.views.items()}


def test_memory_that_nothing_writes_into_has_no_class():
    def read(x):
        y = x
        v = y[1:]
        return np.sum(v)

    assert aliases_of(read, X) == Aliases()


def test_a_view_that_is_written_through_is_one_of_its_owner():
    def written(x):
        a = x * 1.0
        v = a[1:]
        v[0] = x[2]
        return a

    found = aliases_of(written, X)
    assert found.classes == {"a": "a", "v": "a"} and found.stored == {"v"}
    assert bases(found) == {"v": "a"} and found.owner("v") == "a"
    assert not found.shadows


def test_a_view_of_a_view_leads_to_the_owner():
    def chain(x):
        a = x * 1.0
        v = a[1:]
        w = v[:1]
        a[1] = x[0]
        return np.sum(w)

    found = aliases_of(chain, X)
    assert bases(found) == {"v": "a", "w": "v"}
    assert found.owner("w") == "a" == found.owner("a")


def test_memory_is_moved_from_a_name_that_is_dead():
    def moved(x):
        a = x * 1.0
        b = a
        b[0] = 2.0
        return b

    found = aliases_of(moved, X)
    assert found.classes == {"a": "a", "b": "a"} and found.views == {}


def test_a_second_name_of_what_is_used_on_is_a_view():
    def named_again(x):
        a = x * 1.0
        b = a
        b[0] = x[1]
        return a + b

    assert bases(aliases_of(named_again, X)) == {"b": "a"}


def test_a_copy_has_memory_of_its_own():
    def copied(x):
        a = x * 1.0
        b = a.copy()
        b[0] = x[1]
        return a + b

    found = aliases_of(copied, X)
    assert found.classes == {"b": "b"} and not found.views


def one_of_two(x, flag):
    a = x * 1.0
    b = x * 2.0
    c = a
    if flag:
        c = b
    c[0] = x[1]
    return a + b


def last_of_a_loop(x, n):
    a = x * 1.0
    v = a[:]
    for i in range(n):
        v = a[i:]
    v[0] = x[2]
    return a


def element_of_a_list(x, n):
    a = x * 1.0
    rows = [a]
    v = rows[n - 1]
    v[1] = x[2]
    return a


@pytest.mark.parametrize(
    ("function", "names"),
    [(one_of_two, "abc"), (last_of_a_loop, "av"), (element_of_a_list, ("a", "rows", "v"))],
)
def test_what_the_source_does_not_decide_is_shadowed(function, names):
    found = aliases_of(function, X, 1)
    assert {*names} <= found.shadows
    assert all(found.is_unclear(name) for name in names)


def test_names_beside_an_unclear_class_stay_clear():
    def beside(x, flag):
        a, b = x * 1.0, x * 2.0
        c = a if flag else b
        c[0] = x[1]
        d = x * 3.0
        v = d[1:]
        v[0] = x[0]
        return a + b + d

    found = aliases_of(beside, X, True)
    assert all(found.is_unclear(name) for name in "abc") and not found.is_unclear("d")
    assert found.owner("v") == "d" and not {"d", "v"} & found.shadows


def test_a_list_that_grows_is_reshaped():
    def grows(x):
        rows = []
        for i in range(3):
            rows.append(x[i])
        return rows[0]

    assert aliases_of(grows, X).reshaped == {"rows"}
