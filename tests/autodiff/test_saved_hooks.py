"""`saved_hooks`: what goes through the hooks, when, and what comes back."""

import threading
import zlib

import numpy as np
import pytest

import srcdiff
from srcdiff.api.point import Point
from srcdiff.driver.options import Options
from tests.programs import PROGRAMS
from tests.support import models
from tests.support import structures as st
from tests.support.differences import close

X = np.array([0.5, -1.0, 2.0])
SAMPLE = [p for p in PROGRAMS if zlib.crc32(p.name.encode()) % 61 == 5]


class Log:
    """Hooks that keep count: what is packed is a key into a table."""

    def __init__(self):
        self.table, self.events = {}, []

    def pack(self, x):
        self.events.append("pack")
        self.table[len(self.table)] = np.copy(x)
        x[...] = np.nan  # it is the hook's own
        return len(self.table) - 1

    def unpack(self, key):
        self.events.append("unpack")
        return self.table[key]

    def hooks(self):
        return srcdiff.autograd.saved_hooks(self.pack, self.unpack)

    def count(self):
        found = self.events.count("pack"), self.events.count("unpack")
        self.events.clear()
        return found


def loop(x, n):
    h = x
    for _ in range(n):
        h = np.tanh(h * x)
    return np.sum(h)


def straight(x):
    a = np.exp(x)
    return np.sum(a * np.sin(a))


def linear(x):
    return np.sum(x * 3.0)


def stored(x):
    b = np.zeros(3)
    for i in range(3):
        b[i] = x[i] * b[i - 1] + x[i]
    return np.sum(b * b)


def nested(x, n):
    s = 0.0
    for i in range(n):
        h = x * (i + 1.0)
        for _ in range(2):
            h = np.sin(h)
        s = s + np.sum(h * h)
    return s


def in_containers(params, x):
    h = x
    for p in params["layers"]:
        h = np.tanh(h * p[0] + p[1])
    return np.sum(h * params["k"])


PARAMS = {"layers": [(X, X + 1.0), (X * 2.0, X)], "k": 3.0}


def masked(x):
    return np.sum(np.where(x > 0.0, x * x, x))


COUNTS = {
    # Both factors of each product in the loop, one a loop constant; and the last value.
    loop: ((X, 4), 6),
    straight: ((X,), 2),
    linear: ((X,), 1),  # for its shape
    stored: ((X,), 1),  # the array is restored in place
    masked: ((X,), 1),  # the mask holds no real numbers
    in_containers: ((PARAMS, X), None),
    nested: ((X, 3), None),
}


@pytest.mark.parametrize("f", COUNTS, ids=lambda f: f.__name__)
def test_what_is_saved_goes_through_the_hooks(f):
    args, count = COUNTS[f]
    expected, log = srcdiff.grad(f)(*args), Log()
    with log.hooks():
        found = srcdiff.grad(f)(*args)
    packs, unpacks = log.count()
    assert packs == unpacks and (packs == count or count is None and packs > 2)
    for a, b in zip(st.leaves(found), st.leaves(expected), strict=True):
        close(a, b)
    srcdiff.grad(f)(*args)
    assert log.count() == (0, 0)  # outside of the context


def test_every_way_to_a_gradient():
    log, expected = Log(), srcdiff.grad(straight)(X)

    def through(thunk, count=2):
        with log.hooks():
            found = thunk()
        assert log.count() == (count, count)
        return found

    value, gradient = through(lambda: srcdiff.value_and_grad(straight)(X))
    close(value, straight(X))
    close(gradient, expected)
    store = {}
    through(lambda: srcdiff.backward(straight)(X, into=store))
    close(store["x"], expected)
    close(through(lambda: srcdiff.autograd.run(straight, X).grad("x")), expected)
    close(through(lambda: srcdiff.jacobian(straight)(X)), expected)
    batched = srcdiff.grad(straight, is_grads_batched=True)
    close(through(lambda: batched(X, grad_outputs=np.array([1.0, 2.0])))[1], 2.0 * expected)
    nothing = through(lambda: srcdiff.jvp(straight, (X,), (np.ones(3),)), 0)
    close(nothing[1], np.sum(expected))


def test_a_pullback_remembers_its_hooks():
    """It unpacks after the context, and as often as it is called."""
    log, expected = Log(), srcdiff.grad(loop)(X, 3)
    x = X.copy()
    with log.hooks():
        _, pull = srcdiff.vjp(loop, x, 3, inputs="x")
    assert log.count() == (5, 0)
    x[:] = np.nan
    for _ in range(2):
        close(pull(), expected)
        assert log.count() == (0, 5)


def test_arrays_of_a_loop_are_packed_and_unpacked_one_by_one():
    alive, most = [0], [0]

    def pack(x):
        alive[0] += 1
        most[0] = max(alive[0], most[0])
        return x.astype(np.float32)

    def unpack(x):
        alive[0] -= 1
        return x.astype(np.float64)

    with srcdiff.autograd.saved_hooks(pack, unpack):
        found = srcdiff.grad(loop)(X, 10)
    assert most == [12] and alive == [0]
    np.testing.assert_allclose(found, srcdiff.grad(loop)(X, 10), rtol=1e-5)
    assert np.any(found != srcdiff.grad(loop)(X, 10))  # it did go through half the precision


def test_files(tmp_path):
    def pack(x):
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.npy"
        np.save(path, x)
        return path

    with srcdiff.autograd.saved_hooks(pack, np.load):
        close(srcdiff.grad(loop)(X, 4), srcdiff.grad(loop)(X, 4))
    assert len(list(tmp_path.iterdir())) == 12


def test_the_innermost_context_holds():
    one, two = Log(), Log()
    with one.hooks():
        with two.hooks():
            srcdiff.grad(straight)(X)
        assert (one.count(), two.count()) == ((0, 0), (2, 2))
        srcdiff.grad(straight)(X)
    assert (one.count(), two.count()) == ((2, 2), (0, 0))


def test_another_thread_has_no_hooks():
    log = Log()
    with log.hooks():
        thread = threading.Thread(target=lambda: srcdiff.grad(straight)(X))
        thread.start()
        thread.join()
    assert log.count() == (0, 0)


def test_with_checks_and_again():
    log = Log()
    with log.hooks(), srcdiff.autograd.detect_anomaly():
        close(srcdiff.grad(straight)(X), srcdiff.grad(straight)(X))
        second = srcdiff.grad(srcdiff.grad(models.scalar))
        assert second(2.0) == 12.0
    assert log.count()[0] > 0
    with log.hooks():
        squares = srcdiff.grad(lambda x: np.sum(srcdiff.grad(straight)(x) ** 2))(X)
    close(squares, srcdiff.grad(lambda x: np.sum(srcdiff.grad(straight)(x) ** 2))(X))
    assert log.count()[0] > 2


@pytest.mark.parametrize(
    "given", ["text", 3.0, None, np.ones(2), np.ones(3, np.float32), np.ones((3, 1))]
)
def test_unpack_gives_something_else(given):
    words = r"unpack: expected the array .* of shape \(3,\) and dtype float64, given"
    hooks = srcdiff.autograd.saved_hooks(lambda x: x, lambda x: given)
    with hooks, pytest.raises(srcdiff.errors.SavedValueError, match=words) as info:
        srcdiff.grad(straight)(X)
    assert isinstance(info.value, TypeError)


def test_errors_of_hooks_come_through():
    def fails(x):
        raise OSError("disk full")

    with srcdiff.autograd.saved_hooks(fails, fails), pytest.raises(OSError, match="disk full"):
        srcdiff.grad(straight)(X)
    for hooks in ((1, fails), (fails, None)):
        with pytest.raises(TypeError, match="expected a function"):
            srcdiff.autograd.saved_hooks(*hooks)
    a = np.exp(X)
    close(srcdiff.grad(straight)(X), a * (np.sin(a) + a * np.cos(a)))  # nothing is left behind


@pytest.mark.oracles
@pytest.mark.filterwarnings("ignore")
def test_hooks_of_torch():
    """Torch packs what a node saves, here an array is packed once for all that need it."""
    torch = pytest.importorskip("torch", reason="torch is the oracle, an extra")
    log, theirs = Log(), []
    x = torch.tensor(X, requires_grad=True)
    graph = torch.autograd.graph
    with graph.saved_tensors_hooks(lambda t: theirs.append("pack") or t, lambda t: t):
        h = x
        for _ in range(4):
            h = torch.tanh(h * x)
        loss = h.sum()
    loss.backward()
    with log.hooks():
        close(srcdiff.grad(loop)(X, 4), x.grad.numpy())
    assert log.count()[0] <= len(theirs)
    with graph.saved_tensors_hooks(lambda t: t, lambda t: "text"):
        loss = torch.exp(x).sum()
    with pytest.raises(TypeError) as info:
        loss.backward()
    with srcdiff.autograd.saved_hooks(lambda t: t, lambda t: "text"), pytest.raises(info.type):
        srcdiff.grad(straight)(X)


@pytest.mark.parametrize("program", SAMPLE, ids=[p.name for p in SAMPLE])
def test_corpus(program):
    options = {"inputs": program.inputs, "outputs": program.outputs}
    _, plain = srcdiff.vjp(program.function, *program.arguments(), **options)
    with Log().hooks():
        value, pull = srcdiff.vjp(program.function, *program.arguments(), **options)
    made = Options(program.inputs, program.outputs)
    point = Point(program.function, made, program.arguments(), {})
    v = st.random_like(np.random.default_rng(3), point.output(value))
    for a, b in zip(st.leaves(pull(v)), st.leaves(plain(v)), strict=True):
        if a is not None or b is not None:
            close(a, b)
