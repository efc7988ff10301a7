"""Deques and defaultdicts as lists and dicts: the tree before and after, and what stays."""

import ast
import collections
import inspect
import textwrap
from collections import defaultdict, deque

import gast
import numpy as np
import pytest

import srcdiff
from srcdiff.frontend.desugar.stdlib import plain_collections
from srcdiff.frontend.source.parse import parse


def after(f):
    """The body of a function as it is lowered."""
    tree = gast.gast_to_ast(plain_collections(parse(f)).tree)
    return "\n".join(map(ast.unparse, tree.body))


def body(text):
    """A text as this version of Python writes it."""
    return ast.unparse(ast.parse(textwrap.dedent(text)))


def queue(x):
    q = deque([x])
    q.append(x * 2)
    q.appendleft(x)
    while q:
        x = x + q.popleft()
    return x


def bounded(x, n):
    a, b = deque(maxlen=3), collections.deque(maxlen=n)
    a.append(x)
    b.appendleft(x)
    return a[0] + sum(b)


def filled(x):
    window: deque = deque([0.0, 1.0], maxlen=2)
    window.append(x)
    return np.mean(window)


def items(x):
    d = defaultdict(list)
    d["a"].append(x)
    for k in d:
        x = x + d[k][0]
    return x


def sums(x, k):
    d = defaultdict(lambda: np.zeros(3))
    d[k, 1] += x
    d[k] = x
    return d[k]


def inside(x):
    def window(x):
        q = collections.deque(x)
        return q.popleft()

    return window(x)


AFTER = {
    inside: """
        def window(x):
            q = [*x]
            return q.pop(0)
        return window(x)""",
    queue: """
        q = [*[x]]
        q.append(x * 2)
        q.insert(0, x)
        while q:
            x = x + q.pop(0)
        return x""",
    bounded: """
        a, b = ([], [])
        a.append(x)
        if len(a) > 3:
            a.pop(0)
        b.insert(0, x)
        if len(b) > n:
            b.pop()
        return a[0] + sum(b)""",
    filled: """
        window: deque = [*[0.0, 1.0]][-2:]
        window.append(x)
        if len(window) > 2:
            window.pop(0)
        return np.mean(window)""",
    items: """
        d = {}
        d.setdefault('a', []).append(x)
        for k in d:
            x = x + d.setdefault(k, [])[0]
        return x""",
    sums: """
        d = {}
        d.setdefault((k, 1), np.zeros(3))
        d[k, 1] += x
        d[k] = x
        return d.setdefault(k, np.zeros(3))""",
}


@pytest.mark.parametrize("f", AFTER, ids=lambda f: f.__name__)
def test_before_and_after(f):
    assert after(f) == body(AFTER[f])


def returned(x):
    d = defaultdict(float)
    d["a"] += x
    return d


def handed_on(x):
    q = deque([x])
    helper(q)
    return q[0]


def helper(q):
    q.rotate(1)


def by_another_name(x):
    q = deque([x])
    p = q
    return p.popleft()


def bound_again(x, q):
    if x > 0:
        q = deque([x])
    return q.popleft()


def in_a_lambda(x):
    q = deque([x])
    take = lambda: q.popleft()  # noqa: E731
    return take()


def in_a_closure(x):
    d = defaultdict(float)

    def put(k, v):
        d[k] += v

    put(1, x[0])
    put(1, x[1] * x[0])
    return d[1] ** 2


def kept_whole(x):
    q = deque(maxlen=2)
    q.extend([x, x, x])
    return q[0]


def with_effects(x):
    count = iter(range(9))
    d = defaultdict(lambda: next(count))
    return x * d[0] + d[0]


def shadowed(x):
    deque = list  # the name means something else here
    q = deque([x])
    return q.pop()


@pytest.mark.parametrize(
    "f",
    [
        returned, handed_on, by_another_name, bound_again, in_a_lambda, in_a_closure, kept_whole,
        with_effects, shadowed,
    ],
)  # fmt: skip
def test_what_stays(f):
    source = parse(f)
    assert after(f) == "\n".join(map(ast.unparse, gast.gast_to_ast(source.tree).body))


def test_the_tree_of_the_source_stays():
    source = parse(queue)
    before = gast.dump(source.tree)
    plain_collections(source)
    assert gast.dump(source.tree) == before
    assert "popleft" in inspect.getsource(queue)


def test_a_dict_in_a_closure():
    found = srcdiff.grad(in_a_closure)(np.array([2.0, 0.5]))
    np.testing.assert_allclose(found, [2 * 3.0 * 1.5, 2 * 3.0 * 2.0], rtol=1e-14)


def test_a_dict_that_is_returned():
    value, pull = srcdiff.vjp(returned, 3.0)
    assert value == {"a": 3.0}
    assert pull({"a": 2.0}) == 2.0
