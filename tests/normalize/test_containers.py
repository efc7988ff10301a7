"""What methods of containers and iterators are written out as does what Python does."""

import copy
import itertools

import pytest

import srcdiff
from srcdiff.normalize.containers.expand import definitions

XS = [3.0, 1.0, 2.0, 1.0]
D = {"a": 1.0, "b": 2.0}

CHANGES = {
    "extend": [(list.extend, XS, [5.0, 6.0]), (list.extend, XS, (5.0,))],
    "insert": [(list.insert, XS, k, 7.0) for k in (-9, -2, 1, 3, 9)],
    "pop": [(list.pop, XS, k) for k in (-1, -2, -4)],
    "remove": [(list.remove, XS, 1.0)],
    "clear": [(list.clear, XS)],
    "sort": [(list.sort, XS)],
    "delete": [(list.__delitem__, XS, k) for k in (-3, 1, slice(1, 3), slice(None), slice(3, 1))],
    "put": [(list.__setitem__, XS, slice(*s), (8.0, 9.0)) for s in ((1, 3), (0, 0), (-1, None))],
    "update": [(dict.update, D, {"b": 3.0, "c": 4.0}), (dict.update, D, [("c", 5.0)])],
    "get": [(dict.get, D, "a"), (dict.get, D, "z"), (dict.get, D, "z", 0.5)],
    "setdefault": [(dict.setdefault, D, "a", 9.0), (dict.setdefault, D, "z", 9.0)],
    "pop_key": [(dict.pop, D, "a", 9.0), (dict.pop, D, "z", 9.0)],
    "clear_dict": [(dict.clear, D)],
}
ITERATORS = {
    "zipped": [(zip, XS, XS[1:]), (zip, XS), (zip, XS, XS[::-1], XS[:2])],
    "columns": [(lambda rows: zip(*rows), [(1.0, 2.0, 3.0), (4.0, 5.0)])],
    "enumerated": [(enumerate, XS), (enumerate, XS, 3)],
    "backwards": [(reversed, XS)],
    "chained": [(itertools.chain, XS, (4.0,), [])],
    "flattened": [(itertools.chain.from_iterable, [XS, (), (5.0,)])],
    "total": [(sum, [[1.0], [2.0, 3.0]], [0.5]), (sum, [(1.0,), ()], (0.5,))],
    "in_pairs": [(itertools.pairwise, XS), (itertools.pairwise, [])],
    "part_of": [(itertools.islice, XS, *b) for b in ((2,), (1, 3), (0, 4, 2))],
    "again": [(itertools.repeat, 2.0, 3)],
    "combined": [(itertools.combinations, XS, 2)],
    "permuted": [(itertools.permutations, XS, 2)],
    "products": [(itertools.product, XS, [1.0, 2.0])],
    "sorted_items": [(sorted, XS)],
    "repeated": [(list.__mul__, XS, 3), (list.__mul__, XS, 0)],
    "values": [(dict.values, D)],
    "pairs_of": [(dict.items, D)],
}


def cases(table):
    return [(name, *case) for name, found in table.items() for case in found]


@pytest.mark.parametrize("case", cases(CHANGES), ids=str)
def test_changes(case):
    name, method, base, *args = case
    one, two = copy.copy(base), copy.copy(base)
    expected = method(one, *args)
    result = getattr(definitions(), name)(two, *args)
    assert two == one
    assert list(two) == list(one)
    if name not in ("delete", "put"):
        assert result == expected


@pytest.mark.parametrize("case", cases(ITERATORS), ids=lambda c: f"{c[0]}{c[2:]}")
def test_iterators(case):
    name, made, *args = case
    assert list(getattr(definitions(), name)(*args)) == list(made(*args))


def test_loops_over_what_is_long_stay_loops():
    def f(x):
        return sum([0.5 * x] * 1000) + sum(sorted([x, x * x] * 2))

    source = srcdiff.source(f, example=(2.0,))
    assert "range(1000)" in source and len(source) < 2000
    assert srcdiff.grad(f)(2.0) == 500.0 + 2.0 * (1.0 + 4.0)
