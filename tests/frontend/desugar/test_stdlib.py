"""Deques, defaultdicts and questions whether a module has an attribute, in plain Python."""

import ast
import collections
import inspect
import textwrap
import types
from collections import defaultdict, deque

import gast
import numpy as np
import pytest

import srcdiff
from srcdiff import UnsupportedError
from srcdiff.frontend.desugar.stdlib import plain_collections
from srcdiff.frontend.source.parse import parse
from tests.support.differences import check_gradient


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


# --- questions whether a module has an attribute -------------------------------------------------

X = np.array([0.7, 1.3, 0.4, 2.1])


def test_the_branch_that_names_what_is_there_is_differentiated():
    def area(y):
        if hasattr(np, "no_such_name"):
            return np.no_such_name(y)
        elif not hasattr(np, "tanh"):
            y = np.nothing_like_that(y)
        else:
            y = np.tanh(y)
        return np.sum(y) * y[0]

    check_gradient(area, (X,))
    assert "hasattr" not in srcdiff.source(area, example=(X,))


def test_an_expression_and_a_part_of_a_condition():
    def f(y):
        g = np.no_such_name if hasattr(np, "no_such_name") else np.sin
        if hasattr(np.linalg, "norm") and y[0] > 0.0:
            y = y * 2.0
        return np.sum(g(y))

    check_gradient(f, (X,))


def test_statements_that_stay_are_those_that_are_done():
    def f(y):
        if not hasattr(np, "sin"):
            y = y * 3.0
        if hasattr(np, "cos"):
            if hasattr(np, "no_such_name"):
                return y[1]
            y = y * y[0]
        return np.sum(y * y)

    check_gradient(f, (X,))


def test_a_name_of_the_function_is_no_module():
    def f(y, np):
        return y[0] * 2.0 if hasattr(np, "sin") else y[1] * 3.0

    class Empty:
        pass

    made = Empty()
    assert srcdiff.grad(f)(X, made).tolist() == [0.0, 3.0, 0.0, 0.0]


def test_an_object_is_asked_when_the_program_runs():
    holder = types.SimpleNamespace(rate=2.0)

    def f(y):
        return y[0] * holder.rate if hasattr(holder, "rate") else y[0]

    assert srcdiff.grad(f)(X)[0] == 2.0
    del holder.rate
    assert srcdiff.grad(f)(X)[0] == 1.0


def test_what_is_not_there_is_refused_without_a_question():
    def f(y):
        if y[0] > 0.0:
            return np.no_such_name(y)
        return y[0]

    with pytest.raises(UnsupportedError, match="`np` has no attribute `no_such_name`"):
        srcdiff.grad(f)(X)
