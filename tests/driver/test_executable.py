"""Closures that are made anew in each call: one text for all that are alike, never one too few."""

import gc
import sys
import types
import weakref

import numpy as np
import pytest

import srcdiff
from srcdiff.driver import executable, pipeline
from tests.support.differences import define

X = np.array([1.0, 2.0, 3.0])


@pytest.fixture(autouse=True)
def counted(monkeypatch):
    """How often something is generated, from the start of a test."""
    executable._kept.clear()
    made = []
    real = pipeline.derive

    def derive(*args, **options):
        made.append(args)
        return real(*args, **options)

    monkeypatch.setattr(pipeline, "derive", derive)
    return made


def weighted(a):
    return lambda x: np.sum(a * x)


def test_arrays_are_those_of_each_closure(counted):
    for k in range(4):
        a = np.arange(3.0) + k
        np.testing.assert_array_equal(srcdiff.grad(weighted(a))(X), a)
    assert len(counted) == 1


def test_functions_that_capture_nothing(counted):
    for k in range(3):
        np.testing.assert_array_equal(srcdiff.grad(lambda x: np.sum(x * x))(X), 2.0 * X)

        def cube(x, scale=1.0):
            return np.sum(x**3) * scale

        _, pull = srcdiff.vjp(cube, X, scale=float(k))
        np.testing.assert_array_equal(pull(), 3.0 * X * X * k)
    assert len(counted) == 2


def test_other_entries(counted):
    for k in range(1, 4):
        f = weighted(np.full(3, float(k)))
        value, pull = srcdiff.vjp(f, X)
        assert value == 6.0 * k and pull(2.0)[0] == 2.0 * k
        assert srcdiff.jvp(f, (X,), (X,))[1] == 6.0 * k
    assert len(counted) == 2


def helped(h, t):
    def helper(x, scale=2.0):
        return h * x * scale + t

    return lambda x: np.sum(helper(x) ** 2)


def test_helpers_that_are_made_anew(counted):
    for k in range(3):
        h = np.arange(3.0) - k
        expected = 2.0 * (2.0 * h * X + 1.5) * 2.0 * h
        np.testing.assert_allclose(srcdiff.grad(helped(h, 1.5))(X), expected, rtol=1e-14)
    assert len(counted) == 1


@pytest.mark.parametrize("values", [(2, 2.0, 3.0, -3.0), (0.0, -0.0), (True, 1), (1.0, 1j)])
def test_numbers_are_compared(values, counted):
    def power(n):
        return lambda x: np.sum(x**n).real

    for n in values:
        np.testing.assert_allclose(srcdiff.grad(power(n))(X), np.real(n * X ** (n - 1)), rtol=1e-14)


def of_range(n):
    def f(x):
        y = x
        for _ in range(int(n)):
            y = y * x
        return np.sum(y)

    return f


def of_condition(t):
    return lambda x: np.sum(x * x * t) if t > 1 else np.sum(x**3)


def of_helper(t):
    def helper(x, scale=3.0):
        return x * scale * t

    return lambda x: np.sum(helper(x) ** 2)


def of_text(t):
    def f(x):
        name = f"{t}"
        return np.sum(x) * float(name)

    return f


def of_local(t):
    def f(x):
        square = lambda y: y * t  # noqa: E731
        d = {"a": t, "b": square(x)}
        return np.sum(d["a"] * d["b"] ** 2)

    return f


def of_store(t):
    def f(x):
        y = np.zeros(3)
        y[:] = x * t
        y *= t
        return np.sum(y * x)

    return f


def of_gradient(t):
    def loss(x):
        return np.sum(x**3) * t

    return lambda x: loss(x) + np.sum(srcdiff.grad(loss)(x) ** 2)


def of_index(t):
    return lambda x: x[int(t)] ** 2 * np.sum(x)


def of_power(t):
    return lambda x: np.sum(x**t)


LENT = (of_range, of_condition, of_helper, of_text, of_local, of_store, of_index, of_power)


def in_every_way(f):
    value, pull = srcdiff.vjp(f, X)
    second = srcdiff.hvp(f, (X,), X)
    return [srcdiff.grad(f)(X), pull()[0], *srcdiff.jvp(f, (X,), (X,)), value, second]


@pytest.mark.parametrize("number", [float, int, np.float32])
@pytest.mark.parametrize("made", LENT)
def test_numbers_that_change_are_compiled_for_once(made, number, counted):
    """At first a constant, then for any: as what is made for each number alone, bit by bit."""
    found = [in_every_way(made(number(n))) for n in (2, 1)]
    count = len(counted)
    found.append(in_every_way(made(number(0))))
    assert len(counted) == count
    for n, values in zip((2, 1, 0), found):
        executable._kept.clear()
        for one, other in zip(values, in_every_way(made(number(n))), strict=True):
            assert np.array_equal(one, other) and np.asarray(one).dtype == np.asarray(other).dtype


def test_numbers_of_many_calls(counted):
    for k in range(50):
        t = 0.5 + k
        found = srcdiff.grad(lambda x: np.sum(np.sin(t * x)))(X)
        np.testing.assert_array_equal(found, t * np.cos(t * X))
    assert len(counted) == 2


def test_derivatives_of_derivatives(counted):
    """Of any order; an error names the user's line, though the first text is gone."""
    def of(t):
        def f(x):
            return np.sin(t * x) / (x - 1.0)

        return f

    def expected(t, x):
        s, c, y = np.sin(t * x), np.cos(t * x), x - 1.0
        return -t * t * s / y - 2.0 * t * c / y**2 + 2.0 * s / y**3

    for t in (0.5, 1.5, -2.0):
        found = srcdiff.grad(srcdiff.grad(of(t)))(0.25)
        np.testing.assert_allclose(found, expected(t, 0.25), rtol=1e-13)
    count = len(counted)
    gc.collect()
    g = srcdiff.grad(srcdiff.grad(of(3.0)))
    with pytest.raises(RuntimeWarning, match="divide by zero") as raised:
        g(1.0)
    notes = getattr(raised.value, "__notes__", ["test_executable.py"])  # from Python 3.11 on
    assert "test_executable.py" in notes[0] and len(counted) == count


def test_a_variable_that_changes_under_a_derivative(counted):
    t = 0.0

    def f(x):
        return np.sum(x * x) * t

    g = srcdiff.grad(f)
    for k in range(20):
        t = float(k)
        np.testing.assert_array_equal(g(X), 2.0 * X * t)
    assert len(counted) == 2


def axis_of(n):
    return lambda x: np.sum(np.sum(np.outer(x, x * x), axis=n)[0] * x)


def test_numbers_that_have_to_be_known(counted):
    """Where the compiler has to know the number there is a text for each, as before."""
    for _ in range(2):
        for n in (0, 1, -1, -2):
            expected = gradient_of_axis(n)
            np.testing.assert_allclose(srcdiff.grad(axis_of(n))(X), expected, rtol=1e-13)
    assert len(counted) <= 6


def test_numbers_of_a_derivative_inside(counted):
    for t in (2.0, 0.5, -1.0):
        expected = 3.0 * X**2 * t + 36.0 * t**2 * X**3
        np.testing.assert_allclose(srcdiff.grad(of_gradient(t))(X), expected, rtol=1e-14)


def gradient_of_axis(n):
    if n in (0, -2):  # sum(x) * x[0]**2 * sum(x)
        return 2.0 * np.sum(X) * X[0] ** 2 + np.sum(X) ** 2 * 2.0 * X[0] * np.eye(3)[0]
    return (
        np.eye(3)[0] * np.sum(X**2) * np.sum(X)
        + X[0] * 2.0 * X * np.sum(X)
        + X[0] * np.sum(X**2)
    )


SCRIPT = """
T, N, AXIS = 1.0, 2, 0

def scaled(x):
    return x * T

def made():
    return lambda x: np.sum(scaled(x[N:]) ** 2) + np.sum(np.cumsum(x, axis=AXIS))
"""


def test_numbers_of_a_script(counted):
    """Those that change alone are lent: another one may have to be known."""
    space = {"np": np}
    made = define(SCRIPT, "made", space)
    for t, n in ((1.0, 1), (2.0, 1), (3.0, 1), (3.0, 2), (0.5, 0), (1.0, 1)):
        space["T"], space["N"] = t, n
        expected = np.arange(3.0, 0.0, -1.0) + 2.0 * t**2 * np.where(np.arange(3) < n, 0.0, X)
        np.testing.assert_allclose(srcdiff.grad(made())(X), expected, rtol=1e-15)
    assert len(counted) == 3  # a constant, for any T, and for any T and N


MODULE = """
axis = 0

def chosen(x):
    return x[axis]
"""


def test_a_number_that_is_read_of_a_module_as_well(counted, monkeypatch):
    """What the compiler has to know of it is not what it was for another number."""
    module = types.ModuleType("some_settings")
    monkeypatch.setitem(sys.modules, "some_settings", module)
    define(MODULE, "chosen", vars(module))
    text = "def made():\n    return lambda x: np.sum(np.outer(x, x * x), axis=settings.axis)[0]"
    made = define(f"{text} * settings.chosen(x)\n", "made", {"np": np, "settings": module})
    for axis in (0, 1, 0, 1):
        module.axis = axis
        one, other = (X, X**2) if axis == 0 else (X**2, X)  # sum(one) * other[0] * x[axis]
        slope = np.ones(3) if axis == 0 else 2.0 * X
        first = np.eye(3)[0] * (2.0 * X[0] if axis == 0 else 1.0)
        expected = (slope * other[0] + np.sum(one) * first) * X[axis]
        expected += np.sum(one) * other[0] * np.eye(3)[axis]
        np.testing.assert_allclose(srcdiff.grad(made())(X), expected, rtol=1e-14)


def test_two_variables_of_one_name(counted):
    def scaled(t):
        return lambda x: x * t

    def f(t):
        helper = scaled(t + 1.0)
        return lambda x: np.sum(helper(x) * t)

    for t in (2.0, 3.0, 2.0, 0.5):
        np.testing.assert_allclose(srcdiff.grad(f(t))(X), np.full(3, t * (t + 1.0)), rtol=1e-15)


def test_a_part_of_an_array_is_captured_too(counted):
    """Minibatches: views of one array; what overlaps is not what does not."""
    data = np.arange(12.0).reshape(4, 3)
    for k in range(4):
        np.testing.assert_array_equal(srcdiff.grad(weighted(data[k]))(X), data[k])
    assert len(counted) == 1


def test_what_differs_is_generated_anew(counted):
    for a in (np.ones(3), np.ones(1), np.ones(3, "f"), np.ones((3, 3)), 2.0, np.ones(3)):
        srcdiff.grad(weighted(a))(X)
    assert len(counted) == 5


def two(a, b):
    return lambda x: np.sum(a * x) + np.sum(b * x)


def test_one_array_twice_is_not_two(counted):
    a, b, whole = np.ones(3), np.full(3, 2.0), np.arange(6.0)
    for one, other in ((a, b), (a, a), (b, b), (b, a), (whole[:3], whole[2:5])):
        np.testing.assert_array_equal(srcdiff.grad(two(one, other))(X), one + other)
    assert len(counted) == 3


def test_a_changed_closure_is_noticed(counted):
    a, t = np.ones(3), 1.0

    def f(x):
        return np.sum(a * x) * t

    g = srcdiff.grad(f)
    np.testing.assert_array_equal(g(X), a)
    a[1] = 5.0
    np.testing.assert_array_equal(g(X), a)
    a = np.array([7.0, 8.0, 9.0])
    np.testing.assert_array_equal(g(X), a)
    t = 2.0
    np.testing.assert_array_equal(g(X), 2.0 * a)
    assert len(counted) == 2


SCALE = 2.0


def test_globals_are_compared(counted, monkeypatch):
    def scaled(a):
        return lambda x: np.sum(a * x) * SCALE

    for scale in (2.0, 3.0, 2.0):
        monkeypatch.setitem(globals(), "SCALE", scale)
        np.testing.assert_array_equal(srcdiff.grad(scaled(X))(X), scale * X)
    assert len(counted) == 2


def test_empty_variables(counted):
    def late(assigned):
        def f(x):
            return x * 2.0 if a is None else x * 3.0

        if assigned:
            a = None
        return f

    assert srcdiff.grad(late(True))(1.0) == 2.0
    with pytest.raises((srcdiff.SrcdiffError, NameError)):
        srcdiff.grad(late(False))(1.0)


def test_captured_arrays_are_not_held(counted):
    a = np.arange(3.0)
    held = weakref.ref(a)
    srcdiff.grad(weighted(a))(X)
    assert executable._kept
    del a
    counted.clear()
    gc.collect()
    assert held() is None


def test_few_are_kept(monkeypatch):
    monkeypatch.setattr(executable, "_MOST_ALIKE", 2)
    for k in range(4):
        srcdiff.grad(lambda x, n=0: np.sum(x) * k)(X)
    assert len(executable._kept) == 2


def test_a_direct_call_is_for_arguments_of_its_kind_alone():
    """Of the same specialisation; errors name the user's line in it as well."""
    def f(x, k=2.0):
        return np.sum(1.0 / (x * k))

    g = srcdiff.grad(f)
    for _ in range(3):
        assert g(2.0) == -0.125
    assert g._direct is not None and g._direct((2.0,)) == -0.125
    others = ((2,), (np.float64(2.0),), (2.0, 4.0), (X,), (np.float32(2.0),))
    assert all(g._direct(args) is executable.MISSED for args in others)
    np.testing.assert_allclose(g(X), -0.5 / X**2)
    assert g(2.0, grad_outputs=2.0) == -0.25 and g(2.0, k=4.0) == -0.0625
    for _ in range(3):
        with pytest.raises(ZeroDivisionError) as raised:
            g(0.0)
    notes = getattr(raised.value, "__notes__", ["test_executable.py"])  # from Python 3.11 on
    assert "test_executable.py" in notes[0]


def test_a_direct_call_sees_a_context_that_holds():
    g = srcdiff.grad(np.sqrt)
    f = srcdiff.grad(lambda x: np.sqrt(x) * 1.0)
    for h in (g, f):
        with np.errstate(all="ignore"):
            for _ in range(3):
                assert h(np.float64(0.0)) == np.inf
            checks = srcdiff.autograd.detect_anomaly(check_inf=True)
            with checks, pytest.raises(srcdiff.SrcdiffError):
                h(np.float64(0.0))
