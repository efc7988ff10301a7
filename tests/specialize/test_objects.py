"""Objects: what a derivative of a method is, leaves alone, notices and refuses."""

import copy
import pickle
from dataclasses import dataclass, replace

import numpy as np
import pytest

import srcdiff
from tests.programs import objects
from tests.support.differences import check_gradient, define

X = np.array([0.3, -0.2, 0.5])


class Model:
    """A linear model with a count of its calls."""

    unit = 1.0

    def __init__(self, w, b=None):
        self.w, self.b = w, b
        self.calls = 0
        self.name = "model"

    def predict(self, x):
        y = self.w * x * self.unit
        return y if self.b is None else y + self.b

    def loss(self, x):
        self.calls += 1
        return np.sum(self.predict(x) ** 2)

    def plain(self, x):
        return np.sum(self.predict(x) ** 2)

    def __call__(self, x):
        return np.sum(np.sin(self.w * x))

    @property
    def size(self):
        return np.sum(self.w**2)

    def cached(self, x):
        self.last = np.sum(self.w * x)
        return self.last**2


class Derived(Model):
    """One that overrides a method."""

    def predict(self, x):
        return np.tanh(super().predict(x))


def close(found, expected):
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def model():
    return Model(np.array([1.0, 2.0, 3.0]))


# --- bound methods -------------------------------------------------------------------------------


def test_bound_method_by_position_and_name():
    m = model()
    close(srcdiff.grad(m.loss)(X), 2 * m.w**2 * X)
    close(srcdiff.grad(m.loss, "x")(X), 2 * m.w**2 * X)
    close(srcdiff.grad(m.loss, -1)(x=X), 2 * m.w**2 * X)


def test_bound_method_by_attributes():
    m = Model(np.array([1.0, 2.0, 3.0]), 0.5)
    residual = m.w * X + 0.5
    close(srcdiff.grad(m.loss, "self.w")(X), 2 * residual * X)
    w, b = srcdiff.grad(m.loss, ("self.w", "self.b"))(X)
    close(w, 2 * residual * X)
    close(b, 2 * np.sum(residual))
    found = srcdiff.grad(m.loss, {"slope": "self.w", "x": 0})(X)
    close(found["slope"], 2 * residual * X)
    close(found["x"], 2 * residual * m.w)


def test_bound_method_follows_its_object():
    m = model()
    g = srcdiff.grad(m.loss, "self.w")
    g(X)
    m.w = np.array([0.5, 0.5, 0.5])
    close(g(X), 2 * m.w * X**2)


def test_callable_object():
    m = model()
    close(srcdiff.grad(m)(X), m.w * np.cos(m.w * X))
    close(srcdiff.grad(m, "self.w")(X), X * np.cos(m.w * X))


def test_value_pullback_and_second_order_of_a_method():
    m = model()
    value, gradient = srcdiff.value_and_grad(m.loss)(X)
    close(value, np.sum((m.w * X) ** 2))
    close(gradient, 2 * m.w**2 * X)
    value, pullback = srcdiff.vjp(m.loss, X)
    close(pullback(2.0), 4 * m.w**2 * X)
    again = srcdiff.grad(lambda x: np.sum(srcdiff.grad(m.plain)(x) * x))
    close(again(X), 4 * m.w**2 * X)
    twice = srcdiff.grad(srcdiff.grad(m.loss), 0)
    close(twice(X, grad_outputs=np.ones(3)), 2 * m.w**2)


def test_overridden_method_and_super():
    d = Derived(np.array([1.0, 2.0, 3.0]))
    t = np.tanh(d.w * X)
    close(srcdiff.grad(d.loss)(X), 2 * t * (1 - t * t) * d.w)


def test_the_text_of_a_method_reads_its_attributes():
    g = srcdiff.grad(model().predict, "self.w")
    g(X, grad_outputs=X)
    assert g.source.startswith("def predict_grad(self, x, grad_outputs=None):")
    assert "cotangent(grad_outputs, self.w)" in g.source and "`self.w`" in g.source


def test_bound_gradient_pickles():
    g = srcdiff.grad(model().loss)
    close(pickle.loads(pickle.dumps(g))(X), g(X))


# --- whole objects -------------------------------------------------------------------------------


def size_of(m, x):
    return m.size * x


def test_gradient_of_an_object_is_one_of_its_class():
    m = Model(np.array([1.0, 2.0, 3.0]), 0.5)
    found = srcdiff.grad(size_of)(m, 2.0)
    assert type(found) is Model
    close(found.w, 4 * m.w)
    assert found.b == 0.0 and found.name is None and found.calls is None


@dataclass(frozen=True)
class Pair:
    """A frozen dataclass."""

    a: float
    b: np.ndarray
    label: str = "pair"


def of_pair(p):
    return p.a**2 + np.sum(replace(p, a=2.0).b)


def test_gradient_of_a_frozen_dataclass():
    found = srcdiff.grad(of_pair)(Pair(3.0, np.ones(2)))
    assert type(found) is Pair and found.a == 6.0 and found.label is None
    close(found.b, np.ones(2))


def test_gradient_of_a_named_tuple():
    state = objects.State(np.ones(2), np.full(2, 3.0))
    found = srcdiff.grad(lambda s: np.sum(s.position * s.velocity))(state)
    assert type(found) is objects.State
    close(found.position, 3.0)
    close(found.velocity, 1.0)


def test_cotangent_of_an_object():
    g = srcdiff.grad(lambda x: Pair(3.0 * x, np.array([x, x * x])))
    like = g(2.0, grad_outputs=Pair(1.0, np.array([10.0, 100.0]), None))
    assert like == 3.0 + 10.0 + 400.0
    assert g(2.0, grad_outputs={"a": 1.0, "b": np.zeros(2)}) == 3.0


# --- what the caller's objects keep --------------------------------------------------------------


def test_what_is_done_once_is_done_once():
    m = model()
    srcdiff.grad(m.loss)(X)
    assert m.calls == 1
    srcdiff.value_and_grad(m.loss)(X)
    assert m.calls == 2
    value, pullback = srcdiff.vjp(m.loss, X)
    pullback()
    pullback()
    assert m.calls == 3


def test_numbers_and_arrays_of_the_caller_stay():
    m = model()
    before = copy.deepcopy(vars(m))
    close(srcdiff.grad(m.cached)(X), 2 * np.sum(m.w * X) * m.w)
    assert "last" not in vars(m)
    body = objects.Body(np.ones(2), np.zeros(2))
    srcdiff.grad(objects.leapfrog)(body, 1.0, 0.1)
    close(body.x, 1.0)
    close(body.v, 0.0)
    assert body.count == 5
    close(m.w, before["w"])


def two_bodies(a, b):
    a.x = a.x * 2.0
    return np.sum(a.x * b.x)


def test_one_object_given_twice():
    one = objects.Body(np.ones(2), np.zeros(2))
    other = objects.Body(np.ones(2), np.zeros(2))
    close(srcdiff.grad(two_bodies, "a.x")(one, other), 2.0)
    with pytest.raises(srcdiff.UnsupportedError, match="`a` and `b` share memory"):
        srcdiff.grad(two_bodies, "a.x")(one, one)


# --- what is noticed -----------------------------------------------------------------------------


def loss_of(m, x):
    return m.loss(x)


def test_two_objects_of_one_class_that_hold_different_things():
    g = srcdiff.grad(loss_of, "m.w")
    plain, biased = model(), Model(np.array([1.0, 2.0, 3.0]), np.ones(3))
    close(g(plain, X), 2 * plain.w * X * X)
    close(g(biased, X), 2 * (biased.w * X + 1.0) * X)
    close(g(Model(2.0), X), np.sum(4 * X * X))
    close(g(plain, X), 2 * plain.w * X * X)


def test_objects_of_a_derived_class():
    g = srcdiff.grad(loss_of, "x")
    d = Derived(np.array([1.0, 2.0, 3.0]))
    close(g(model(), X), 2 * d.w**2 * X)
    t = np.tanh(d.w * X)
    close(g(d, X), 2 * t * (1 - t * t) * d.w)


def test_a_method_that_is_redefined(monkeypatch):
    g = srcdiff.grad(loss_of, "x")
    m = model()
    close(g(m, X), 2 * m.w**2 * X)
    new = define("def predict(self, x):\n    return self.w * x * x\n", "predict", {})
    monkeypatch.setattr(Model, "predict", new)
    close(g(m, X), 4 * m.w**2 * X**3)
    monkeypatch.undo()
    close(g(m, X), 2 * m.w**2 * X)


def test_a_property_and_a_value_of_the_class_that_change(monkeypatch):
    g = srcdiff.grad(size_of, "m.w")
    m = model()
    close(g(m, 1.0), 2 * m.w)
    new = define("def size(self):\n    return np.sum(self.w**3)\n", "size", {"np": np})
    monkeypatch.setattr(Model, "size", property(new))
    close(g(m, 1.0), 3 * m.w**2)
    h = srcdiff.grad(loss_of, "x")
    close(h(m, X), 2 * m.w**2 * X)
    monkeypatch.setattr(Model, "unit", 3.0)
    close(h(m, X), 18 * m.w**2 * X)


GLOBAL = Model(2.0)


def by_a_global(x):
    return GLOBAL.predict(x)


def test_an_object_from_outside_that_changes(monkeypatch):
    g = srcdiff.grad(by_a_global)
    close(g(3.0), 2.0)
    monkeypatch.setattr(GLOBAL, "w", 5.0)
    close(g(3.0), 5.0)
    monkeypatch.setattr(GLOBAL, "w", np.array([5.0, 1.0]))
    close(g(3.0, grad_outputs=np.ones(2)), 6.0)
    monkeypatch.setattr(GLOBAL, "b", 1.0)
    close(g(3.0, grad_outputs=np.ones(2)), 6.0)


class Chosen:
    """An object that holds a function."""

    def __init__(self, f):
        self.f = f

    def apply(self, x):
        return self.f(x)


def test_functions_in_objects():
    g = srcdiff.grad(lambda c, x: c.apply(x), "x")
    close(g(Chosen(np.sin), 0.3), np.cos(0.3))
    close(g(Chosen(np.exp), 0.3), np.exp(0.3))
    close(g(Chosen(Chosen(np.exp).apply), 0.3), np.exp(0.3))


# --- what is refused -----------------------------------------------------------------------------

CLASSES = """
class Point:
    def __init__(self, x):
        self.x = x

    @property
    def double(self):
        return 2.0 * self.x

    def grown(self, n):
        return self.x if n == 0 else self.grown(n - 1) * self.x

    def __radd__(self, other):
        return self.x + other

    def __mul__(self, other):
        return NotImplemented

class Special:
    def __new__(cls, x):
        return object.__new__(cls)

OUTSIDE = Point(2.0)
"""

REFUSED = {
    "a property without a setter": (
        "p = Point(x)\n    p.double = x\n    return p.x", "p.double = x",
        "does not let `double` be assigned"),
    "a class with a `__new__`": (
        "s = Special(x)\n    return x", "s = Special(x)", "`Special` makes an object"),
    "a store into an object from outside": (
        "OUTSIDE.x = x\n    return OUTSIDE.x * x", "OUTSIDE.x = x", "a store into `OUTSIDE.x`"),
    "an object that is compared with others of a list": (
        "ps = [Point(x), Point(2.0 * x)]\n    for p in ps:\n        p.x = p.x * x\n"
        "    return ps[0].x * (ps[0] == ps[1])", "return ps[0].x * (ps[0] == ps[1])",
        "used here as a whole"),
    "a list that is sorted by what objects have": (
        "ps = [Point(x), Point(2.0 * x)]\n    for p in ps:\n        p.x = p.x * x\n"
        "    ps.sort(key=lambda p: p.x)\n    return ps[0].x", "ps.sort(key=lambda p: p.x)",
        "used here as a whole"),
    "an object that is printed": (
        "ps = [Point(x), Point(2.0 * x)]\n    for p in ps:\n        p.x = p.x * x\n"
        "        print(f'{p.x}')\n    return ps[0].x", "print(f'{p.x}')", "used here as a whole"),
    "objects that are returned": (
        "ps = [Point(x), Point(2.0 * x)]\n    for p in ps:\n        p.x = p.x * x\n"
        "    return ps", "return ps", "used here as a whole"),
    "objects of which one is from outside": (
        "ps = [Point(x), OUTSIDE]\n    for p in ps:\n        p.x = p.x * x\n"
        "    return ps[0].x", "p.x = p.x * x", "one that the caller has, in `OUTSIDE`"),
    "an object that has two names, and is returned": (
        "p = Point(x)\n    ps = [p]\n    p.x = x * x\n    return ps[0].x, p", "p.x = x * x",
        "has another name, or is in a container"),
    "an attribute that is not there": (
        "p = Point(x)\n    return p.y * x", "return p.y * x", "`Point` has no attribute `y`"),
    "a method without end": (
        "return Point(x).grown(int(x))", "return self.x if n == 0 else self.grown(n - 1) * self.x",
        "`grown`"),
    "an operator of an array and an object": (
        "return np.sum(np.ones(3) * x + Point(x))", "return np.sum(np.ones(3) * x + Point(x))",
        "NumPy applies this operator"),
    "an attribute of a number": (
        "x.value = 1.0\n    return x", "x.value = 1.0", "attribute"),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_refused(name):
    body, line, reason = REFUSED[name]
    namespace = {"np": np}
    text = f"{CLASSES}\ndef f(x):\n    {body}\n"
    f = define(text, "f", namespace)
    with pytest.raises(srcdiff.UnsupportedError) as info:
        srcdiff.grad(f)(0.8)
    assert reason in info.value.reason
    assert text.splitlines()[info.value.loc.line - 1].strip() == line
    assert info.value.remedy.endswith(".")


def test_an_input_that_is_no_attribute():
    with pytest.raises(srcdiff.TransformError, match="`Model` has no attribute `v`"):
        srcdiff.grad(loss_of, "m.v")(model(), X)


def test_an_input_without_a_derivative():
    with pytest.raises(srcdiff.errors.DtypeError, match=r"`m\.calls` has dtype int64"):
        srcdiff.grad(loss_of, "m.calls")(model(), X)


def test_attributes_of_copies():
    check_gradient(copied, (Pair(0.3, X), 2.0), ("p.a", "x"))


def copied(p, x):
    q = copy.copy(p)
    q = replace(q, a=q.a * x)
    return q.a * p.a + np.sum(q.b) * x




class Unit:
    def __init__(self, w):
        self.w = w


class Chain:
    def __init__(self):
        self.units = [Unit(np.array([0.3, 0.5])), Unit(np.array([-0.2, 0.7]))]

    def apply(self, x):
        for unit in self.units:
            x = np.tanh(unit.w * x)
        return x


@pytest.mark.parametrize("inputs", ["self.units[0].w", ("self.units[1].w", "x")])
def test_pullbacks_by_a_path_through_objects_in_a_list(inputs):
    x = np.array([1.0, 2.0])
    expected = srcdiff.grad(Chain.apply, inputs)(Chain(), x, grad_outputs=x)
    _, pullback = srcdiff.vjp(Chain.apply, Chain(), x, inputs=inputs)
    np.testing.assert_array_equal(pullback(x), expected)
    jacobian = srcdiff.jacobian(Chain.apply, inputs, mode="reverse")(Chain(), x)
    rows = jacobian if isinstance(inputs, tuple) else (jacobian,)
    wanted = expected if isinstance(inputs, tuple) else (expected,)
    for row, one in zip(rows, wanted, strict=True):
        np.testing.assert_allclose(x @ row, one, rtol=1e-14)


class Shaper:
    def __init__(self, w):
        self.w = w

    def shape(self, x):
        return x * x


def _shaped(units, x):
    return sum([u.shape(u.w * x) for u in units])


def test_a_method_that_one_object_of_a_list_replaces_is_refused():
    units = [Shaper(2.0), Shaper(3.0)]
    assert srcdiff.grad(_shaped, "x")(units, 1.5) == 2.0 * 1.5 * (4.0 + 9.0)
    units[1].shape = np.cos  # called for this object alone: not for all, and not for none
    with pytest.raises(srcdiff.UnsupportedError, match="`shape`.*known only when the program runs"):
        srcdiff.grad(_shaped, "units")(units, 1.5)


def _held_twice(x):
    a = x * 2.0
    y = copy.deepcopy([a, a])
    y[0][0] = 3.0
    return np.sum(y[1] * x)


def test_a_deep_copy_of_what_holds_an_array_twice_is_refused():
    with pytest.raises(srcdiff.UnsupportedError, match="holds the same array"):
        srcdiff.grad(_held_twice)(X)
