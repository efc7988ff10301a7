"""Functions as values: partial, known only when running, refused; and the text."""

import collections
import functools
import math
import operator

import gast
import numpy as np
import pytest

import srcdiff
from srcdiff.frontend.desugar.flatten import flattened
from srcdiff.frontend.source.parse import parse
from tests.programs.functions import callbacks
from tests.support.differences import check_gradient, define, with_cotangent

X = np.array([0.3, -0.2, 0.7])


# --- partial ------------------------------------------------------------------------------------


def test_partial_takes_the_values_as_they_are():
    def f(x):
        a = x
        g = functools.partial(np.multiply, a)
        a = x * 100.0
        return g(x)

    assert srcdiff.grad(f)(3.0) == 6.0


def test_callbacks_that_may_be_none():
    text = srcdiff.source(callbacks, example=(0.7, 1.3))
    assert "None" not in text.replace("grad_outputs=None", "")


# --- functions that only the running program knows ------------------------------------------------

MANY = {f"f{k}": (lambda t, k=k: np.sin(k * t)) for k in range(30)}
PAIRS = {f"g{k}": (lambda a, b, k=k: a * b**k) for k in range(20)}


def from_a_large_table(x, names):
    for name in names:
        x = MANY[name](x) * x
    return x


def two_arguments(x, w, name):
    return PAIRS[name](x, w) + PAIRS["g2"](w, x) * PAIRS[name](2.0, x)


def from_an_argument(x, table, k):
    y = table[k](x)
    return np.sum(y * x)


TURNS = {k: (lambda k: lambda x: 1j * x + k * x**2)(k) for k in range(20)}


def complex_from_an_argument(x, table, k):
    z = table[k](x)
    return np.sum(np.abs(z * z + x * z * z * z))


class Scaled:
    """An object that can be called."""

    def __init__(self, factor):
        self.factor = factor

    def __call__(self, x):
        return self.factor * x * x


BY_NAME = {k: MANY[f"f{k}"] for k in range(20)}
AT_RUN_TIME = [
    (from_a_large_table, (X, ["f3", "f7"]), 0),
    (two_arguments, (0.7, 1.3, "g4"), (0, 1)),
    (from_an_argument, (X, BY_NAME, 5), 0),
    (complex_from_an_argument, (X, TURNS, 3), 0),
]


@pytest.mark.parametrize("f,args,inputs", AT_RUN_TIME, ids=[f.__name__ for f, _, _ in AT_RUN_TIME])
def test_functions_that_only_the_running_program_knows(f, args, inputs):
    check_gradient(f, args, inputs)
    assert "call_vjp(" in srcdiff.source(f, inputs, example=args)
    second = with_cotangent(srcdiff.grad(f, inputs), f)
    ct = np.ones_like(f(*args))
    with pytest.raises(srcdiff.UnsupportedError, match="first derivatives only") as info:
        srcdiff.grad(second, inputs, materialize_grads=True)(*args, ct_=ct)
    assert info.value.loc.line > 0 and info.value.remedy.endswith(".")


def test_a_function_from_outside_that_writes_into_its_argument():
    def writes(a):
        a[0] = 1.0
        return np.sum(a)

    table = {**BY_NAME, 99: writes}
    with pytest.raises(srcdiff.UnsupportedError, match="writes into its argument `a`"):
        srcdiff.grad(from_an_argument)(X, table, 99)


def test_a_function_from_outside_that_returns_its_argument():
    def kept(x, table, k):
        y = table[k](x)
        y[0] = y[1] * 2.0
        return y * x

    table = {**BY_NAME, 99: lambda a: a[::-1]}
    assert isinstance(kept(X.copy(), table, 5), np.ndarray)
    check_gradient(kept, (X, table, 5))


def test_what_only_looks_at_a_value_with_a_derivative():
    def f(x, table, k):
        return x * x if table[k](x) > 0 else x

    with pytest.raises(srcdiff.UnsupportedError, match="gets values with a derivative") as info:
        srcdiff.grad(f)(0.7, BY_NAME, 5)
    assert info.value.loc.line > 0


class Power:
    def __init__(self, n):
        self.n = n

    def __call__(self, x):
        return x**self.n


class Compared(Power):
    def __eq__(self, other):
        return isinstance(other, Compared) and self.n == other.n


CURVES = {"square": Power(2), "cube": Compared(3), "sine": np.sin}


def of_a_table(x, names):
    total = 0.0
    for name in names:
        total = total + np.sum(CURVES[name](x) * x)
    return total


def test_objects_in_a_table():
    x = np.array([0.3, -0.7])
    expected = 3.0 * x**2 + 4.0 * x**3 + np.cos(x) * x + np.sin(x)
    found = srcdiff.grad(of_a_table)(x, ("square", "cube", "sine"))
    np.testing.assert_allclose(found, expected, rtol=1e-14)
    with pytest.raises(srcdiff.UnsupportedError) as info:
        srcdiff.grad(lambda x: np.sum(srcdiff.grad(of_a_table)(x, ("square",)) ** 2))(x)
    assert info.value.remedy and "^" in str(info.value)


# --- refused ------------------------------------------------------------------------------------

REFUSED = {
    "rebound in a loop": (
        "def f(x):\n    fs = []\n    for j in range(3):\n"
        "        gs = [lambda y: y * x * k for k in range(j + 1)]\n"
        "        for g in gs:\n            fs.append(g)\n"
        "    return sum([g(x) for g in fs])\n",
        4, "reads `k`, which is assigned again",
    ),
    "without end": (
        "def f(x):\n    g = lambda y: y\n    for i in range(3):\n"
        "        g = lambda y, h=g: h(y) * x\n    return g(x)\n",
        5, "known only when the program runs",
    ),
    "or a number": (
        "def f(x):\n    r = lambda: x * 2.0\n    while callable(r):\n        r = r()\n"
        "    return r\n",
        4, "known only when the program runs",
    ),
    "nonlocal value": (
        "def f(x):\n    c = x\n    def add(v):\n        nonlocal c\n        c = c + v\n"
        "    gs = [add]\n    gs[0](x)\n    return c\n",
        3, "`nonlocal`",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_refused(name):
    text, line, reason = REFUSED[name]
    with pytest.raises(srcdiff.UnsupportedError) as info:
        srcdiff.grad(define(text, "f", {"np": np}))(0.7)
    assert reason in info.value.reason
    assert info.value.loc.line == line
    assert info.value.remedy.endswith(".")


# --- the text -----------------------------------------------------------------------------------


def test_functions_are_told_apart_by_their_names():
    def f(x, w, name):
        table = {"scale": lambda t: t * w, "sine": np.sin}
        return table[name](x)

    text = srcdiff.source(f, example=(0.7, 1.3, "sine"))
    assert "is np.sin" in text or '== "lambda"' in text
    assert "is_function" not in text and "Site" not in text


def test_what_a_closure_holds_is_a_tuple():
    def f(x, w):
        fs = []
        for i in range(3):
            fs.append(lambda y, i=i: y * w**i)
        total = 0.0
        for g in fs:
            total += g(x)
        return total

    text = srcdiff.source(f, example=(0.7, 1.3))
    assert "fs.append((i,))" in text


def measured(x, m):
    return m.sin(x) * m.pi


def test_modules_tell_derivatives_apart():
    """What is generated for one module is not taken for another."""
    g = srcdiff.grad(measured)
    assert g(0.5, math) == g(0.5, np) == math.cos(0.5) * math.pi
    assert "np.cos(x)" in g.source
    with pytest.raises(srcdiff.UnsupportedError, match="`operator` has no attribute `sin`"):
        g(0.5, operator)


def _relu(v):
    return v if v > 0.0 else 0.0


relu = np.vectorize(_relu)


def of_whole_rows(x):
    return np.sum(np.vectorize(np.sum, signature="(n)->()")(x))


def of_an_excluded_argument(x):
    return np.sum(np.vectorize(lambda v, w: v * w, excluded={1})(x, 2.0))


def of_objects(x):
    return np.sum(np.frompyfunc(lambda v: abs(v), 1, 1)(x))


@pytest.mark.parametrize("f", [of_whole_rows, of_an_excluded_argument, of_objects])
def test_what_vectorize_makes_of_other_things_has_a_located_refusal(f):
    x = np.ones(3)
    for differentiate in (lambda: srcdiff.grad(f)(x), lambda: srcdiff.jvp(f, (x,), (x,))):
        with pytest.raises(srcdiff.errors.MissingRuleError, match="is not differentiated") as info:
            differentiate()
        assert info.value.loc.line > f.__code__.co_firstlineno
        assert "`np.array([f(v) for v in x])`" in info.value.remedy


def test_what_vectorize_makes_of_constants_takes_keywords():
    scaled = np.vectorize(lambda v, k=2.0: v * k)
    found = srcdiff.grad(lambda x: np.sum(scaled(np.ones(3), k=3.0) * x))(np.ones(3))
    np.testing.assert_array_equal(found, [3.0, 3.0, 3.0])


def test_the_first_value_decides_on_the_dtype_of_what_vectorize_makes():
    """NumPy cuts what follows to whole numbers; so does the function that is differentiated."""
    stepped = np.vectorize(lambda v: 1 if v > 0.6 else 2.5 * v)
    x = np.array([0.7, 0.3])
    assert srcdiff.value_and_grad(lambda x: np.sum(stepped(x) * x))(x)[0] == np.sum(stepped(x) * x)
    np.testing.assert_array_equal(srcdiff.grad(lambda x: np.sum(stepped(x) * x))(x), stepped(x))


def test_what_vectorize_makes_is_refused_by_itself():
    with pytest.raises(srcdiff.errors.MissingRuleError, match="`_relu` is not differentiated"):
        srcdiff.grad(relu)(2.0)
    assert srcdiff.grad(lambda x, m: np.sum(x * m))(1.0, relu(np.ones(2))) == 2.0


def test_numbers_of_an_array_that_is_written_into_while_they_are_taken():
    def running(x):
        y, k = np.outer(x, x), 0
        for v in y.flat:
            if k < 8:
                y.flat[k + 1] += 0.5 * v
            k += 1  # noqa: SIM113
        return np.sum(y**2)

    assert srcdiff.testing.gradcheck(running, (np.array([0.7, 0.4, 0.55]),))
    assert srcdiff.testing.gradgradcheck(running, (np.array([0.7, 0.4, 0.55]),))


def attempted(x):
    try:
        return np.sum(np.linalg.solve(np.linalg.inv(np.diag(x)), x))
    except np.linalg.LinAlgError:
        return np.sum(x)


def test_what_stands_for_try_leaves_the_tree_of_the_source():
    source = parse(attempted)
    before = gast.dump(source.tree)
    assert gast.dump(flattened(source).tree) != before
    assert gast.dump(source.tree) == before
    np.testing.assert_allclose(srcdiff.grad(attempted)(np.array([0.5, 2.0])), [1.0, 4.0])
    np.testing.assert_allclose(srcdiff.grad(attempted)(np.array([0.0, 2.0])), [1.0, 1.0])


LAWS = collections.OrderedDict(square=lambda v: v**2)


def test_a_callee_known_only_when_running_gets_what_a_list_holds():
    """The list is filled through the dict that holds it."""

    def f(x):
        h = {"y": []}
        h["y"].append(x[0] * x[1])
        return LAWS["square"](h["y"][0]) + x[2]

    np.testing.assert_allclose(srcdiff.grad(f)(np.array([1.0, 2.0, 3.0])), [8.0, 4.0, 1.0])


def test_an_array_of_objects_gets_what_a_list_holds():
    def f(x):
        h = [[], []]
        h[0].append(x * x)
        b = np.empty(2, dtype=object)
        b[0] = h[0][0]
        return np.sum(b[0]) + x[0]

    with pytest.raises(srcdiff.UnsupportedError, match="array of Python objects"):
        srcdiff.grad(f)(np.array([1.0, 2.0, 3.0]))


def test_a_primitive_takes_by_position_what_its_rule_leaves_to_another():
    both = srcdiff.grad(complex, (0, 1))
    assert both(1.0, 2.0, grad_outputs=3.0 + 1j) == (3.0, 1.0)
    assert srcdiff.grad(complex)(1.0, grad_outputs=3.0 + 1j) == 3.0
    assert srcdiff.jvp(complex, (1.0, 2.0), (3.0, 4.0)) == (1.0 + 2j, 3.0 + 4j)
    assert srcdiff.testing.gradcheck(lambda a, b: abs(complex(a, b)), (1.0, 2.0))
