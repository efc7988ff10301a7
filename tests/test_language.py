"""What of the language is differentiated, and what is refused with the place and the reason."""

import functools
import re

import numpy as np
import pytest

import srcdiff
from tests.support.differences import check_gradient, define

from .programs.aliases import reshaped_parameter_written
from .test_errors import assert_located

X = np.array([0.7, -1.2, 0.4])


def refused(text, args, line, code, caret, reason, inputs="x", namespace=None, name="f"):
    """Differentiating `text` is refused at a place, for a reason."""
    f = define(text, name, {"np": np, **(namespace or {})})
    with pytest.raises(srcdiff.UnsupportedError) as info:
        srcdiff.grad(f, inputs)(*args)
    message = str(info.value)
    assert_located(message, line, code, caret)
    assert reason in message


# --- loops over dicts and sets -------------------------------------------------------------------


def over_keys(params):
    total = 0.0
    for name in params:
        if name != "bias":
            total += np.sum(params[name] ** 2)
    return total


def over_nested_keys(params, x):
    total = 0.0
    for group in params:
        for name in params[group]:
            total += params[group][name] * x
    return total


def over_known_set(x):
    total = 0.0
    for power in {2}:
        total += x**power
    for power in frozenset((3,)):
        total += x**power
    return total


def zipped_keys(params, x):
    total = 0.0
    for name, factor in zip(params, x):
        total += params[name] * factor
    return total


def keys_collected(params):
    return sum([params[k] * params[k] for k in params])


def test_keys_of_a_dict():
    check_gradient(over_keys, ({"w": X, "bias": X * 2.0, "v": X[:2]},))
    check_gradient(over_nested_keys, ({"a": {"b": 0.3, "c": 1.2}, "d": {"e": 0.5}}, 0.8), (0, 1))
    check_gradient(zipped_keys, ({"a": 0.3, "c": 1.2}, X), ("params", "x"))
    check_gradient(keys_collected, ({"a": 0.3, "c": 1.2},))


def test_sets_of_passive_values():
    check_gradient(over_known_set, (0.8,))


def test_what_is_iterated_is_known_only_at_run_time():
    text = "def f(x, box):\n    s = 0.0\n    for v in box(x):\n        s = s + v\n    return s\n"
    refused(text, (0.8, Box()), 3, "for v in box(x):", "box(x)", "known only when")


class Box:
    """A callable object that cannot be looked into."""

    __call__ = functools.partialmethod(lambda self, *args: args)


# --- unpacking -----------------------------------------------------------------------------------


def unpacks_two(x):
    a, b = x
    return a * b


def unpacks_unused(x):
    a, b, c = x
    return a * b


def unpacks_all_unused(x, y):
    a, b = y
    return x * x


def unpacks_rows(table, x):
    total = 0.0
    for i, j, _weight in table:
        total += x[int(i)] * x[int(j)]
    return total


def unpacks_starred(x, y):
    first, *rest, last = y
    return x * first * last


def unpacks_keys(x, options):
    a, b = options
    return x * options[a] * options[b]


def test_unpacking():
    check_gradient(unpacks_two, (X[:2],))
    check_gradient(unpacks_unused, (X,))
    check_gradient(unpacks_all_unused, (0.5, X[:2]))
    check_gradient(unpacks_rows, (np.array([[0.0, 1.0, 9.0], [2.0, 1.0, 9.0]]), X), "x")
    check_gradient(unpacks_rows, ([(0, 1, 9.0), (2, 1, 9.0)], X), "x")
    check_gradient(unpacks_starred, (0.5, X))
    check_gradient(unpacks_keys, (0.5, {"u": 2.0, "v": 3.0}), ("x", "options"))


@pytest.mark.parametrize(
    "function,args",
    [
        (unpacks_two, (np.ones(3),)),
        (unpacks_two, (np.ones(1),)),
        (unpacks_unused, (np.ones(4),)),
        (unpacks_all_unused, (0.5, np.ones(3))),
        (unpacks_all_unused, (0.5, [1.0, 2.0, 3.0])),
        (unpacks_starred, (0.5, np.ones(1))),
        (unpacks_keys, (0.5, {"u": 2.0})),
        (unpacks_rows, (np.ones((2, 4)), np.ones(3))),
    ],
)
def test_unpacking_the_wrong_length(function, args):
    with pytest.raises(ValueError) as expected:
        function(*args)
    inputs = "x" if function is unpacks_rows else 0
    with pytest.raises(ValueError) as found:
        srcdiff.grad(function, inputs)(*args)
    assert str(found.value) == str(expected.value)


def test_unpacking_prints_as_such():
    assert "    a, b = x\n" in srcdiff.source(unpacks_two, example=(X[:2],))
    assert "    _, _ = y\n" in srcdiff.source(unpacks_all_unused, example=(0.5, X))
    assert "    a, b, t = x\n" in srcdiff.source(unpacks_unused, example=(X,))


def unpacks_list(x):
    h = x * 2.0
    for _ in range(3):
        a, b = h
        h = np.array([a * b, b])
    return np.sum(h)


def unpacks_columns(x):
    first, *_ = zip(*[(x[0], x[1]), (x[1], x[2])])
    return np.linalg.norm(first)


@pytest.mark.parametrize("function, x", [(unpacks_list, X[:2]), (unpacks_columns, X)])
def test_the_number_of_items_is_checked_once(function, x):
    forward, _, backward = srcdiff.source(function, example=(x,)).partition("# backward")
    assert len(re.findall(r"^ *\S+, \S+ = ", forward, re.M)) == 1
    assert "_, _ = " not in backward


# --- * and ** ------------------------------------------------------------------------------------


def affine(x, w, b=0.5, *, scale=1.0):
    return scale * (x * w + b)


def spread(x):
    args = (x[0], x[1])
    options = {"scale": x[2]}
    return affine(*args, **options) + affine(*args, b=x[2]) + affine(*(x[0], x[2]))


def any_number(*xs):
    return affine(*xs)


def in_numpy(x):
    bounds = (-1.0, 0.5)
    return np.sum(np.clip(x, *bounds))


def test_spread_arguments():
    for function in (spread, in_numpy):
        check_gradient(function, (X,))


def test_helpers_that_pass_arguments_on():
    text = "def f(x, g):\n    return g(*x)\n"
    f = define(text, "f", {})
    check_gradient(f, ((0.3, 0.8), affine), "x")
    check_gradient(f, ((0.3, 0.8, 1.5), any_number), "x")


def test_spread_of_unknown_length():
    text = "def f(x, g):\n    return g(*x)\n"
    refused(text, (X, affine), 2, "return g(*x)", "return", "`*` in a call of `affine`")


# --- functions as values -------------------------------------------------------------------------


def trapezoid(f, a, b, n):
    h = (b - a) / n
    s = 0.5 * (f(a) + f(b))
    for i in range(1, n):
        s += f(a + i * h)
    return s * h


def integral(k, b):
    return trapezoid(lambda t: np.exp(-k * t) * np.cos(t), 0.0, b, 4)


def double_integral(k, b):
    return trapezoid(
        lambda t: trapezoid(lambda s: np.sin(s * t * k), 0.0, t, 3), 0.0, b, 3
    )


def nested_function_passed(k, b):
    def integrand(t, rate=k):
        if t > 0.5:
            return np.exp(-rate * t)
        return rate * t

    return trapezoid(integrand, 0.0, b, 4)


def make(k):
    def scaled(x, m=k):
        return k * x + m * m

    return scaled


def late_binding(x):
    a = 2.0 * x
    g = make(a)
    a = 3.0
    h = lambda t: a * t + g(t, m=x)  # noqa: E731
    a = 5.0 * x
    return g(x) * a + trapezoid(h, 0.0, x, 2)


def compose(f, g):
    return lambda t: f(g(t))


def composed(x):
    c = compose(np.sin, compose(lambda u: u * x, np.exp))
    return c(x)


def made_in_a_loop(x):
    total = 0.0
    for i in range(3):
        g = make(x * i)
        if i > 1:
            total += g(x)
        total += trapezoid(g, 0.0, x, 2)
    return total


@pytest.mark.parametrize("function", [integral, double_integral, nested_function_passed])
def test_functions_made_here_are_passed_on(function):
    check_gradient(function, (0.8, 1.3), (0, 1))


@pytest.mark.parametrize("function", [late_binding, composed, made_in_a_loop])
def test_captured_variables_are_those_of_the_call(function):
    check_gradient(function, (1.3,))


def runge_kutta(f, y, h=0.1):
    for _ in range(3):
        y = y + h * f(y + 0.5 * h * f(y))
    return y


def decay(y):
    return -y * y


TABLE = {"square": lambda t: t * t, "sine": np.sin}


def from_a_table(x):
    act = TABLE["square"]
    return act(x) * TABLE["sine"](x)


def from_a_list(fs, x):
    return fs[0](x) * fs[1](x)


def test_functions_as_arguments():
    check_gradient(runge_kutta, (decay, 1.3), "y")
    check_gradient(runge_kutta, (np.sin, 1.3), "y")
    g = srcdiff.grad(runge_kutta, "y")
    assert g(decay, 1.3) != g(np.sin, 1.3)
    check_gradient(from_a_list, ((np.sin, decay), 1.3), "x")


def test_functions_in_a_table():
    check_gradient(from_a_table, (1.3,))


def test_a_changed_table_is_noticed():
    table = {"f": np.sin}
    f = define("def f(x):\n    return table['f'](x)\n", "f", {"table": table})
    g = srcdiff.grad(f)
    np.testing.assert_allclose(g(0.3), np.cos(0.3))
    table["f"] = np.exp
    np.testing.assert_allclose(g(0.3), np.exp(0.3))


def test_keys_of_functions_that_are_passive():
    text = "def f(x, d):\n    return x * sorted(d, key=lambda t: -t)[0]\n"
    check_gradient(define(text, "f", {}), (0.5, [1, 3, 2]))


FUNCTIONS = {
    "class": ("def f(x, box):\n    s = Point(x, x)\n    return s.a * s.b\n", 2,
              "s = Point(x, x)", "s = ", "`Point` makes an object"),
    "changed": ("def f(x, box):\n    k = 1.0\n    key = lambda t: -t * k\n    keep = [key]\n"
                "    k = 2.0\n    return x * sorted([1, 2], key=keep[0])[0]\n", 3,
                "key = lambda t: -t * k", "lambda", "`k`, which is assigned more than once"),
    "kept": ("def f(x, box):\n    k = 1.0\n    keep = [lambda t: -t * k]\n    k = 2.0\n"
             "    return x * sorted([1, 2], key=keep[0])[0]\n", 3,
             "keep = [lambda t: -t * k]", "lambda", "`k`, which is assigned more than once"),
    "callee": ("def g(x):\n    with open('f'):\n        return x\ndef f(x, box):\n"
               "    return g(x) * x\n", 2, "with open('f'):", "with", "`with`"),
}  # fmt: skip


class Point:
    """A class that makes its objects in a way of its own."""

    def __new__(cls, a, b):
        made = object.__new__(cls)
        made.a, made.b = a, b
        return made


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
@pytest.mark.parametrize("x", [0.5, X], ids=["number", "array"])
def test_functions_known_only_when_running(name, x):
    text, line, code, caret, reason = FUNCTIONS[name]
    namespace = {"TABLE": TABLE, "Point": Point}
    refused(text, (x, Box()), line, code, caret, reason, namespace=namespace)


def test_unknown_functions_of_passive_values():
    text = "def f(x, box):\n    box('hello')\n    return x * len(box(1, 2))\n"
    check_gradient(define(text, "f", {}), (0.5, Box()), "x")


# --- order of evaluation -------------------------------------------------------------------------


def doubled_in_place(a, k):
    a[k] = a[k] * 2.0
    return a[k]


def reads_before_the_call(x):
    a = x * 1.0
    a[0] += doubled_in_place(a, 0)
    a[1] *= doubled_in_place(a, 1)
    return a


def with_a_buffer(x):
    buf = np.zeros(2)
    buf[0] = x[1]
    buf[1] = x[0]
    return buf[0] * buf[1]


def calls_in_a_sum(x):
    a = np.zeros(3)
    for i in range(3):
        a[i] += with_a_buffer(x) * x[i]
    return a * x


def test_an_item_is_read_before_the_value_is_computed():
    check_gradient(reads_before_the_call, (X,))


def test_a_callee_that_writes_nothing_else_is_no_obstacle():
    check_gradient(calls_in_a_sum, (X,))
    assert "a[i] += " in srcdiff.source(calls_in_a_sum, example=(X,))


# --- the same memory twice -----------------------------------------------------------------------


def writes_one(a, b):
    a[0] = b[1] * 2.0
    return np.sum(a * b)


def reads_only(a, b):
    return np.sum(a * b)


def writes_an_element(xs, a):
    xs[0] += a
    return np.sum(xs[0] * xs[1])


@pytest.mark.parametrize("part", [slice(None), slice(None, None, -1), slice(0, 2)])
def test_arguments_that_share_memory(part):
    x = np.arange(3.0)
    with pytest.raises(srcdiff.UnsupportedError, match=r"`a` and `b` share.*writes into `a`"):
        srcdiff.grad(writes_one, ("a", "b"))(x, x[part])
    with pytest.raises(srcdiff.UnsupportedError, match=r"`b.copy\(\)`"):
        srcdiff.vjp(writes_one, x, x[part])
    check_gradient(writes_one, (x[:2], x[1:] + 0.0), (0, 1))
    check_gradient(reads_only, (x, x), "a")


def test_memory_that_does_not_overlap():
    x = np.arange(6.0)
    a, b = srcdiff.grad(writes_one, (0, 1))(x[::2], x[1::2])
    c, d = srcdiff.grad(writes_one, (0, 1))(x[::2].copy(), x[1::2].copy())
    np.testing.assert_array_equal([a, b], [c, d])


def test_a_global_array_as_the_argument():
    f = define("def f(a):\n    a[0] = 2.0\n    return (a * G).sum()\n", "f", {"G": X})
    srcdiff.grad(f)(X.copy())
    with pytest.raises(srcdiff.UnsupportedError, match="`a` and `G` share memory"):
        srcdiff.grad(f)(X)


def test_a_container_that_holds_an_array_twice():
    check_gradient(writes_an_element, ([X, X * 2.0], X + 1.0), ("xs", "a"))
    with pytest.raises(srcdiff.UnsupportedError, match=r"`xs\[0\]` and `xs\[1\]` share memory"):
        srcdiff.grad(writes_an_element, "a")([X, X], X + 1.0)
    with pytest.raises(srcdiff.UnsupportedError, match=r"`xs\[0\]` and `a` share memory"):
        srcdiff.grad(writes_an_element, "a")([X, X * 2.0], X)


ELEMENTS = {
    "place": "    p = [x * 1.0, x * 2.0]\n    p[1] = p[0]\n    p[0] += a\n    return p[1] * x\n",
    "name": "    y = x * 1.0\n    p = [y, x * 2.0]\n    p[0] += a\n    return y * p[1]\n",
    "element": "    d = {'w': x * 1.0}\n    z = d['w']\n    d['w'] *= a\n    return z * x\n",
    "twice": "    y = x * 1.0\n    p = [y, y]\n    p[0] += a\n    return p[1] * x\n",
    "parameter": "    p = [x]\n    p[0] += a\n    return p[0] * a * x\n",
}


@pytest.mark.parametrize("name", sorted(ELEMENTS))
def test_elements_that_something_else_holds(name):
    """An operator in place on an element writes into the array, wherever else that is held."""
    f = define("def f(x, a):\n" + ELEMENTS[name], "f", {})
    check_gradient(f, (X, X + 1.0), ("x", "a"))


def own_elements(x, a):
    d = {"w": x * 1.0}
    xs = [np.zeros(3) for _ in range(3)]
    for i in range(3):
        xs[i] += x * a * i
    d["w"] *= a
    d["w"] += xs[1] * xs[2]
    return d["w"] * x


def test_elements_that_nothing_else_holds():
    check_gradient(own_elements, (X, X + 1.0), (0, 1))


# --- what can be asked ---------------------------------------------------------------------------


def test_a_parameter_with_the_name_of_the_cotangent():
    def f(x, *, grad_outputs):
        return x * grad_outputs

    with pytest.raises(srcdiff.TransformError, match="`f` has a parameter called `grad_outputs`"):
        srcdiff.grad(f)


def test_nothing_to_differentiate_by():
    with pytest.raises(srcdiff.TransformError, match="has no parameters"):
        srcdiff.grad(lambda: 1.0)


def test_inputs_that_stand_for_any_number_of_arguments():
    def f(x, *rest, **options):
        return x * x

    for inputs, shown in (("rest", r"`\*rest`"), ("options", r"`\*\*options`")):
        with pytest.raises(srcdiff.UnsupportedError, match=shown):
            srcdiff.grad(f, inputs)
    assert srcdiff.grad(f)(3.0) == 6.0


MATRIX = np.array([[0.3, -1.2, 0.7], [1.1, 0.4, -0.6]])
LAYOUTS = {
    "rows": np.array,
    "columns": np.asfortranarray,
    "gaps": lambda m: np.kron(m, np.ones((2, 2)))[::2, ::2],
    "backwards": lambda m: m[::-1, ::-1].copy()[::-1, ::-1],
}


@pytest.mark.parametrize("layout", sorted(LAYOUTS))
def test_the_layout_decides_between_view_and_copy(layout):
    """`reshape` of what does not lie row behind row copies it: `x` is not written into."""
    laid = LAYOUTS[layout]
    weights = np.arange(6.0).reshape(2, 3)
    gradient = srcdiff.grad(reshaped_parameter_written)(laid(MATRIX), 1.7, grad_outputs=weights)
    for k in np.ndindex(2, 3):
        step = np.zeros((2, 3))
        step[k] = 1e-6
        ends = (reshaped_parameter_written(laid(m), 1.7) for m in (MATRIX - step, MATRIX + step))
        low, high = (np.sum(weights * end) for end in ends)
        np.testing.assert_allclose(gradient[k], (high - low) / 2e-6, rtol=1e-6)
