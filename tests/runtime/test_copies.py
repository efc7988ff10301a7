"""Copies, of residuals too, in which what shared memory shares it again."""

import types
from collections import deque

import numpy as np
import pytest

import srcdiff
from srcdiff.runtime.copies import copied, kept_together


@pytest.mark.parametrize("order", ["C", "F", "permuted"])
def test_views_stay_views(order):
    base = np.arange(24.0).reshape(2, 3, 4)
    owner = np.array(base, order="F") if order == "F" else base.copy()
    if order == "permuted":
        owner = np.add(np.transpose(base, (1, 0, 2)), 0.0)
    views = (owner, owner[::-1, 1:], owner.T[1], owner[1, 1, 2:3])
    again = copied(views)
    for old, new in zip(views, again, strict=True):
        np.testing.assert_array_equal(old, new)
        assert not np.shares_memory(old, new)
    again[0][...] *= 2.0
    for old, new in zip(views, again, strict=True):
        np.testing.assert_array_equal(2.0 * old, new)


def test_lists_keep_their_identity():
    array = np.ones(3)
    saved = [array, array[1:]]
    one, two, table = copied((saved, saved, {"a": array}))
    assert one is two and one[0] is table["a"]
    one[0][1] = 7.0
    assert one[1][0] == 7.0 and array[1] == 1.0


OUTSIDE = np.array([1.0, 2.0])
TABLE = {"w": np.array([1.0, 2.0]), "names": ["a"]}


def of_an_array_outside(x):
    return np.sum(np.sin(OUTSIDE * x))


def of_a_dict_outside(x):
    return np.sum(np.sin(TABLE["w"] * x))


def power_outside(x, n):
    return OUTSIDE * x if n == 0 else np.sin(OUTSIDE * power_outside(x, n - 1))


def of_a_recursive_function(x):
    return np.sum(power_outside(x, 2))


@pytest.mark.parametrize(
    "f", [of_an_array_outside, of_a_dict_outside, of_a_recursive_function], ids=lambda f: f.__name__
)
def test_what_is_written_outside_after_the_run(f):
    x = np.array([0.3, 0.4])
    expected = srcdiff.grad(f)(x)
    _, pull = srcdiff.vjp(f, x)
    run = srcdiff.autograd.run(f, x)
    held = OUTSIDE.copy(), TABLE["w"].copy()
    try:
        OUTSIDE[:] = 7.0
        TABLE["w"][:] = 7.0
        np.testing.assert_array_equal(pull(), expected)
        np.testing.assert_array_equal(run.grad(retain_graph=True), expected)
        batch = run.grad(grad_outputs=np.array([1.0, 2.0]), is_grads_batched=True)
        np.testing.assert_allclose(batch, [expected, 2.0 * expected], rtol=1e-14)
    finally:
        OUTSIDE[:], TABLE["w"][:] = held
    np.testing.assert_array_equal(pull(2.0), 2.0 * expected)


class Law:
    scale = 2.0

    def __init__(self, w):
        self.w = w
        self.itself = self

    def of(self, x):
        return np.sin(self.w * x) * self.scale


class Slotted:
    __slots__ = ("w",)

    def __init__(self, w):
        self.w = w


def pair():
    return np.array([1.0, 2.0])


class Settings:
    pass


class Own(Law):
    pass


MODULE = types.ModuleType("settings")
MODULE.inner = types.ModuleType("settings.inner")
OWN = Own(np.array([1.0, 2.0]))


def as_at_first():
    """Put back what is read from outside by name."""
    Settings.A, Settings.s, Settings.flag, Settings.rows = pair(), 2.0, True, [1.0, 2.0]
    MODULE.W = MODULE.inner.W = pair()
    Own.scale = 2.0


def array_of_a_class():
    return (lambda x: np.sum(x * x * Settings.A)), (lambda: Settings.A.__imul__(10.0))


def number_of_a_class():
    return (lambda x: np.sum(x * x * Settings.s)), (lambda: setattr(Settings, "s", 20.0))


def condition_of_a_class():
    f = lambda x: np.sum(x**Settings.s) if Settings.flag else np.sum(np.sin(x))  # noqa: E731
    return f, (lambda: setattr(Settings, "flag", False))


def list_of_a_class():
    def f(x):
        for w in Settings.rows:
            x = np.sin(w * x)
        return np.sum(x)

    return f, (lambda: Settings.rows.__setitem__(0, 5.0))


def number_of_the_class_of_an_object():
    return (lambda x: np.sum(OWN.of(OWN.of(x)))), (lambda: setattr(Own, "scale", 7.0))


def array_of_a_module():
    return (lambda x: np.sum(x * x * MODULE.W)), (lambda: MODULE.W.__imul__(10.0))


def name_of_a_module():
    return (lambda x: np.sum(x * x * MODULE.W)), (lambda: setattr(MODULE, "W", MODULE.W * 10.0))


def name_of_a_module_in_a_cell():
    m = types.ModuleType("settings")
    m.W = pair()
    return (lambda x: np.sum(x * x * m.W)), (lambda: setattr(m, "W", m.W * 10.0))


def attribute_by_a_text():
    f = lambda x: np.sum(x * x * getattr(MODULE, "W"))  # noqa: B009, E731
    return f, (lambda: MODULE.W.__imul__(10.0))


def array_of_an_inner_module():
    return (lambda x: np.sum(x * x * MODULE.inner.W)), (lambda: MODULE.inner.W.__imul__(10.0))


def through(laws):
    def f(x):
        for w in laws:
            x = np.sin(w * x)
        return np.sum(x)

    return f


def tuple_of_arrays():
    T = (pair(), pair())
    return through(T), (lambda: T[0].__imul__(10.0))


def queue_of_arrays():
    Q = deque([pair(), pair()])
    return through(Q), (lambda: Q.__setitem__(0, Q[0] * 10.0))


def object_in_a_loop(make=Law):
    o = make(pair())

    def f(x):
        t = 0.0
        for i in range(2):
            t = t * o.w[i] + x[i] ** 2
        return t

    return f, (lambda: o.w.__imul__(10.0))


def object_with_slots_in_a_loop():
    return object_in_a_loop(Slotted)


def list_of_objects(make=list):
    laws = make([Law(pair()), Law(2.0)])

    def f(x):
        for law in laws:
            x = law.of(x)
        return np.sum(x)

    return f, (lambda: setattr(laws[0], "w", laws[0].w * 10.0))


def tuple_of_objects():
    return list_of_objects(tuple)


def namespace():
    space = types.SimpleNamespace(w=pair())
    return (lambda x: np.sum(np.sin(space.w * x))), (lambda: setattr(space, "w", 3.0))


def sparse_matrix():
    A = pytest.importorskip("scipy.sparse").csr_matrix(np.diag([1.0, 2.0]))
    return (lambda x: np.sum((A @ x) ** 2)), (lambda: A.data.__imul__(10.0))


READ = [
    array_of_a_class, number_of_a_class, condition_of_a_class, list_of_a_class,
    number_of_the_class_of_an_object, array_of_a_module, name_of_a_module,
    name_of_a_module_in_a_cell, attribute_by_a_text, array_of_an_inner_module, tuple_of_arrays,
    queue_of_arrays, object_in_a_loop, object_with_slots_in_a_loop, list_of_objects,
    tuple_of_objects, namespace, sparse_matrix,
]  # fmt: skip


@pytest.mark.parametrize("make", READ, ids=lambda m: m.__name__)
def test_pullbacks_read_what_was_outside_at_the_run(make):
    as_at_first()
    f, change = make()
    x = np.array([0.4, 0.9])
    expected = srcdiff.grad(f)(x)
    _, pull = srcdiff.vjp(f, x)
    run = srcdiff.autograd.run(f, x)
    change()
    assert not np.allclose(srcdiff.grad(f)(x), expected)
    for _ in range(2):
        np.testing.assert_allclose(pull(), expected, rtol=1e-14)
    np.testing.assert_allclose(run.grad(retain_graph=True), expected, rtol=1e-14)
    batch = run.grad(grad_outputs=np.array([1.0, 2.0]), is_grads_batched=True, retain_graph=True)
    np.testing.assert_allclose(batch, [expected, 2.0 * expected], rtol=1e-14)
    with pytest.raises(srcdiff.UnsupportedError, match="changed since the run of .* to run"):
        run.grad(create_graph=True)


def of_numbers(ws, x):
    for w in ws:
        x = np.sin(w * x) * w
    return np.sum(x)


def of_laws(laws, x):
    for law in laws:
        x = law.of(x)
    return np.sum(x)


def of_a_matrix(a, x):
    return np.sum((a @ x) ** 2)


GIVEN = {
    "list of numbers": (of_numbers, lambda: [0.5, 2.0], lambda a: a.__setitem__(0, 9.0)),
    "queue": (of_numbers, lambda: deque([0.5, 2.0]), lambda a: a.__setitem__(0, 9.0)),
    "arrays of objects": (of_laws, lambda: [Law(pair())], lambda a: a[0].w.__imul__(9.0)),
    "objects": (of_laws, lambda: [Law(2.0), Law(3.0)], lambda a: setattr(a[0], "w", 9.0)),
    "sparse matrix": (of_a_matrix, lambda: sparse([1.0, 2.0]), lambda a: a.data.__imul__(9.0)),
}


def sparse(diagonal):
    return pytest.importorskip("scipy.sparse").csr_matrix(np.diag(diagonal))


@pytest.mark.parametrize("name", GIVEN)
def test_pullbacks_read_what_the_arguments_were_at_the_run(name):
    f, make, change = GIVEN[name]
    x, given = np.array([0.4, 0.9]), make()
    expected = srcdiff.grad(f, "x")(given, x)
    _, pull = srcdiff.vjp(f, given, x, inputs="x")
    change(given)
    assert not np.allclose(srcdiff.grad(f, "x")(given, x), expected)
    np.testing.assert_allclose(pull(), expected, rtol=1e-14)


def test_copies_of_objects():
    law = Law(pair())
    again, words = copied(law), copied(law, None, {"w"})
    assert again.itself is again and again.w is not law.w and type(again) is Law
    assert words.itself is law and words.w is not law.w


# --- copies of several arrays at once ------------------------------------------------------------

A = np.arange(12.0).reshape(3, 4)


@pytest.mark.parametrize(
    "view",
    [
        lambda a: a,
        lambda a: a[1:],
        lambda a: a[::-1, ::2],
        lambda a: a.T[1],
        lambda a: a.ravel()[3:],
        lambda a: a.view(complex),
    ],
)
def test_parts_of_one_array(view):
    a = A.copy()
    whole, (part,) = kept_together((a, [view(a)]))
    np.testing.assert_array_equal(part, view(a))
    assert part.strides == view(a).strides and not np.shares_memory(whole, a)
    part[...] = -1.0
    view(a)[...] = -1.0
    np.testing.assert_array_equal(whole, a)


def test_parts_that_overlap_without_the_whole():
    a = A.ravel().copy()
    kept = kept_together({"end": a[4:], "start": a[7::-1], "other": A, "count": 3})
    kept["end"][0] = 50.0
    assert kept["start"][3] == 50.0 and a[4] == 4.0 and kept["count"] == 3
    assert not np.shares_memory(kept["other"], A)


def test_what_shares_nothing():
    wide = np.broadcast_to(np.float64(2.0), (3,))
    names = np.array(["a", None], object)
    a, b, c, d = kept_together([np.ones(2), np.zeros((0, 3)), wide, names])
    assert a.base is None and b.shape == (0, 3) and list(d) == ["a", None]
    c[0] = 1.0
    assert list(c) == [1.0, 2.0, 2.0]
