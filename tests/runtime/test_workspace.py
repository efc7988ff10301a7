"""`workspace=True`: the same gradients, in memory that nobody holds any more."""

import copy
import ctypes
import gc
import pickle
import sys
import threading
import tracemalloc
import weakref

import numpy as np
import pytest

import srcdiff
from srcdiff.runtime import workspace
from srcdiff.runtime.workspace import Memory
from tests.programs import PROGRAMS
from tests.support import structures as st
from tests.support.differences import Problem

SIZE = 20_000


def chain(x, y):
    t = np.tanh(x * y)
    return np.sum(np.exp(-(t**2)) * (x + 2.0))


def vectors(seed=0, size=SIZE):
    rng = np.random.default_rng(seed)
    return rng.standard_normal(size), rng.standard_normal(size)


def kept(f=chain, inputs=("x", "y"), **options):
    """A gradient of a function of its own, whose workspace nobody else uses."""
    own = type(f)(f.__code__, f.__globals__, f.__name__, f.__defaults__, f.__closure__)
    own.__module__ = f.__module__
    return srcdiff.grad(own, inputs, workspace=True, **options)


def memory_of(g):
    """The one workspace of a gradient."""
    (found,) = {w for made in g._cache.values() for w in workspace.workspaces(made.function)}
    return found


def assert_same(found, wanted):
    """Two structures have the same numbers, bit by bit, and lie alike in memory."""
    found, wanted = (list(filter(st.is_number, st.leaves(t))) for t in (found, wanted))
    assert len(found) == len(wanted)
    for x, y in zip(found, wanted, strict=True):
        assert type(x) is type(y)
        x, y = np.asarray(x), np.asarray(y)
        assert (x.dtype, x.shape, x.strides) == (y.dtype, y.shape, y.strides)
        same = x.tobytes() == y.tobytes()  # on CI pytest spends hours on how bytes differ
        assert same


@pytest.fixture
def tiny(monkeypatch):
    """Arrays of every size are used again."""
    monkeypatch.setattr(workspace, "_SMALL", 1)
    monkeypatch.setattr(workspace, "_BYTES", 0)


# --- the same gradients ------------------------------------------------------------------------


@pytest.mark.parametrize("start", range(0, 80, 20))
def test_programs_have_the_same_gradients(start, tiny):
    for program in PROGRAMS[start::80]:
        f, inputs, outputs = program.function, program.inputs, program.outputs
        plain = srcdiff.grad(f, inputs, outputs)
        g = srcdiff.grad(f, inputs, outputs, workspace=True)
        runs = []
        for seed in (0, 1, 2):
            problem = Problem(f, program.arguments(seed), inputs, outputs)
            cotangent = st.random_like(np.random.default_rng(seed), problem.output())
            wanted = problem.gradient(plain, cotangent)
            runs.append((problem.gradient(g, cotangent), wanted))
            for found, wanted in runs:  # what was returned before is still what it was
                assert_same(found, wanted)
            if seed == 1:
                runs.pop(0)


def test_what_is_tested_fails_where_arrays_in_use_are_handed_out(tiny, monkeypatch):
    def wave(x, y):
        return np.sum(np.sin(x * y) * y)

    alone = workspace._counted()
    monkeypatch.setattr(workspace, "_counted", lambda: alone + 1)
    g = kept(wave)
    first = g(*vectors(0))
    before = copy.deepcopy(first)
    g(*vectors(1))
    with pytest.raises(AssertionError):
        assert_same(first, before)


def test_the_text():
    text = srcdiff.source(chain, ("x", "y"), workspace=True, example=vectors(0))
    assert text[text.index("    t =") :] == """\
    t = memory.tanh(memory.multiply(x, y))
    t_1 = memory.exp(memory.negative(memory.square(t)))
    # backward
    t_2 = memory.multiply(-2.0 * grad_outputs, t)
    d_t = memory.multiply(t_2, memory.multiply(memory.add(x, 2.0), t_1))
    d_t_4 = memory.multiply(d_t, memory.subtract(1.0, memory.multiply(t, t)))
    t_3 = memory.multiply(d_t_4, y)
    d_x = memory.add(memory.multiply(grad_outputs, t_1), t_3)
    d_y = memory.multiply(d_t_4, x)
    return d_x, d_y
"""
    assert "memory" not in srcdiff.source(chain, ("x", "y"), example=vectors(0))


def test_a_variable_called_memory():
    def f(x):
        memory = np.sin(x)
        return np.sum(memory * memory)

    x = vectors()[0]
    g = kept(f, "x")
    assert_same(g(x), srcdiff.grad(f)(x))
    assert "memory_1.sin(x)" in g.source


# --- whose arrays are whose --------------------------------------------------------------------


def test_a_later_call_makes_no_large_array():
    g = kept()
    x, y = vectors()
    for _ in range(2):  # the second one makes what later ones are checked by
        g(x, y)
    before = memory_of(g).kept
    tracemalloc.start()
    try:
        g(x, y)
        most = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert most < x.nbytes / 2
    assert memory_of(g).kept == before > 0


HOLDERS = {
    "a list": lambda a: [a],
    "a view": lambda a: a[::2],
    "a view of a view": lambda a: a.reshape(100, -1).T[1:],
    "real": lambda a: a.real,
    "flat": lambda a: a.flat,
    "another dtype": lambda a: a.view(np.int64),
    "a subclass": lambda a: a.view(np.recarray),
    "broadcast": lambda a: np.broadcast_to(a, (2, a.size)),
    "strides": lambda a: np.lib.stride_tricks.as_strided(a, (3,), (8,)),
    "a window": lambda a: np.lib.stride_tricks.sliding_window_view(a, 3),
    "an iterator": lambda a: np.nditer(a),
    "a broadcast object": lambda a: np.broadcast(a, 1.0),
    "a memoryview": lambda a: memoryview(a)[1:],
    "frombuffer": lambda a: np.frombuffer(a),
    "ctypes": lambda a: (ctypes.c_double * 3).from_buffer(a),
    "a pointer": lambda a: a.ctypes.data_as(ctypes.POINTER(ctypes.c_double)),
    "DLPack": lambda a: np.from_dlpack(a),
    "a capsule": lambda a: a.__dlpack__(),
    "a picklable buffer": lambda a: pickle.PickleBuffer(a),
    "a masked array": lambda a: np.ma.array(a, copy=False),
    "the array interface": lambda a: np.asarray(type("A", (), {
        "__array_interface__": a.__array_interface__, "held": a})()),
    "a closure": lambda a: lambda: a,
    "a generator": lambda a: (v for v in a),
    "a bound method": lambda a: a.sum,
    "a traceback": lambda a: pytest.raises(ZeroDivisionError, lambda a: len(a) // 0, a),
    "a cycle": lambda a: _cycle(a),
}  # fmt: skip


def _cycle(a):
    found = [a]
    found.append(found)


def _address(a):
    return a.__array_interface__["data"][0]


@pytest.fixture(scope="module")
def shared():
    """One gradient for many tests."""
    return kept()


@pytest.mark.parametrize("kind", HOLDERS)
def test_what_is_held_in_any_way_stays_as_it_is(kind, shared):
    g = shared
    g.release_workspace()  # many arrays of other tests may be free, used one after the other
    gc.disable()
    try:
        results = g(*vectors(0))
        where = [_address(a) for a in results]
        held = [HOLDERS[kind](a) for a in results]
        del results
        taken = []
        for seed in range(1, 5):
            taken += [_address(a) for a in g(*vectors(seed))]
        assert len(set(taken)) < len(taken)  # the others are used again
        found = [np.frombuffer(ctypes.string_at(a, 8 * SIZE)) for a in where]
        assert_same(found, srcdiff.grad(chain, ("x", "y"))(*vectors(0)))
        del held
    finally:
        gc.enable()


def test_a_weak_reference_sees_what_it_was_of_or_nothing(tiny):
    g = kept()
    refs = [weakref.ref(a) for a in g(*vectors(0))]
    wanted = srcdiff.grad(chain, ("x", "y"))(*vectors(0))
    for seed in range(1, 5):
        g(*vectors(seed))
        for ref, array in zip(refs, wanted, strict=True):
            assert ref() is None or np.array_equal(ref(), array)


def test_scipy_sparse_matrices_hold_their_data(tiny):
    sparse = pytest.importorskip("scipy.sparse")
    g = kept()
    d_x, d_y = g(*vectors(0))
    held = sparse.dia_array((d_x[None], [0]), shape=(SIZE, SIZE), copy=False)
    before = held.data.copy()
    del d_x, d_y
    g(*vectors(1))
    assert np.array_equal(held.data, before)


def test_a_caller_may_change_the_form_of_a_result():
    g = kept()
    wanted = srcdiff.grad(chain, ("x", "y"))
    for seed in range(12):
        d_x, d_y = g(*vectors(seed))
        assert_same((d_x, d_y), wanted(*vectors(seed)))
        d_x.resize((100, SIZE // 100), refcheck=False)
        d_y.setflags(write=False)
    assert memory_of(g).kept < 20 * d_x.nbytes


@pytest.mark.parametrize("keep_every", [1, 3, 10**9])
def test_never_twice_what_is_in_use(keep_every):
    def steps(x, n):
        for _ in range(n):
            x = np.sin(x) * x
        return np.sum(x)

    g = kept(steps, "x")
    x = vectors()[0]
    results, most = [], 0
    for k in range(30):
        n = (5, 20, 40)[k % 3]
        result = g(x, n)
        if k % keep_every == 0:
            results.append(result)
        most = max(most, 2 * n + len(results) + 4)  # two tapes, and temporaries
        layouts = memory_of(g).thread().layouts.values()
        assert all(len(layout.arrays) <= 2 * most for layout in layouts)
    assert sum(len(layout.arrays) for layout in layouts) >= 40


def test_shapes_that_change_from_call_to_call(monkeypatch):
    monkeypatch.setattr(workspace, "_FLOOR", 0)
    g, plain = kept(), srcdiff.grad(chain, ("x", "y"))
    one = 0
    for size in range(SIZE, SIZE + 90):
        x, y = vectors(size, size)
        assert_same(g(x, y), plain(x, y))
        one = one or memory_of(g).kept
        assert memory_of(g).kept <= 8 * one
    assert len(memory_of(g).thread().signatures) < 200


def test_dtypes_and_orders_that_change():
    def f(x, y):
        return np.sum(np.sqrt(x * x + 1.0) * y.reshape(x.shape) * 1e300 * 1e-300)

    g, plain = kept(f), srcdiff.grad(f, ("x", "y"))
    base = np.arange(1.0, 20_001.0).reshape(100, 200)
    for dtype in (np.float64, np.float32, np.complex128):
        for x in (base, base.T, base[::-1], np.asfortranarray(base), base[:, ::2]):
            x, y = x.astype(dtype), np.ones(x.size, dtype)
            with np.errstate(over="ignore"):
                arguments = (x, y, np.complex128(1)) if dtype is np.complex128 else (x, y, None)
                cotangent = arguments[2]
                assert_same(
                    g(x, y, grad_outputs=cotangent), plain(x, y, grad_outputs=cotangent)
                )


def test_reuse_of_layouts_as_numpy_has_them():
    memory = Memory()
    base = np.arange(60_000.0)
    operands = (
        base.reshape(200, 300), np.asfortranarray(base.reshape(200, 300)), base.reshape(300, 200).T,
        base.reshape(20, 30, 100).transpose(1, 0, 2)[::2], base.reshape(200, 300)[::-1, ::2],
        base.astype(">f8").reshape(200, 300), base.astype(np.float32), base > 5.0,
    )  # fmt: skip
    calls = {
        "negative": np.negative, "exp2": np.exp2, "zeros_like": np.zeros_like, "copy": np.copy,
        "ones_like": np.ones_like, "array": np.array, "cumsum": np.cumsum, "isnan": np.isnan,
    }  # fmt: skip
    for name, fn in calls.items():
        for x in operands:
            if name == "negative" and x.dtype == bool:
                continue
            for _ in range(3):
                with np.errstate(over="ignore"):
                    found, wanted = getattr(memory, name)(x), fn(x)
                assert_same(found, wanted)
                assert found.flags.num == wanted.flags.num
    for x in operands:
        for y in (2, 2.0, 1e300, True, np.float32(2), np.float64(2), np.array(2.0), 1j, 2**70):
            for _ in range(3):
                with np.errstate(over="ignore", invalid="ignore"):
                    wanted = _outcome(np.multiply, x, y)
                    assert_same(_outcome(memory.multiply, x, y), wanted)
                    wanted = _outcome(np.greater, x, y)
                    assert_same(_outcome(memory.greater, x, y), wanted)


def _outcome(fn, *args):
    """The result of a call, or the name of its error."""
    try:
        return fn(*args)
    except (OverflowError, TypeError) as error:
        return type(error).__name__


def test_products_joins_and_new_arrays():
    memory = Memory()
    a, b = np.arange(40_000.0).reshape(200, 200), np.arange(40_000.0).reshape(200, 200).T
    v = np.arange(200.0)
    for _ in range(3):
        for x, y in ((a, b), (a, a.T), (a, v), (v, a), (v, v), (a[:2], b)):
            assert_same(memory.matmul(x, y), np.matmul(x, y))
            assert_same(memory.dot(x, y), np.dot(x, y))
            assert_same(memory.outer(x[:10], y[:10]), np.outer(x[:10], y[:10]))
        assert_same(memory.multiply(v[:, None], v), v[:, None] * v)
        for spec in ("ij,jk->ik", "ij,ij->ij", "ij->ji", "ii->i"):
            args = (a, b) if "," in spec else (a,)
            assert_same(memory.einsum(spec, *args), np.einsum(spec, *args))
        for axis in (0, 1, None):
            assert_same(memory.concatenate((a, b), axis), np.concatenate((a, b), axis))
            assert_same(memory.cumsum(a, axis=axis), np.cumsum(a, axis=axis))
        assert_same(memory.stack([a, b], axis=-1), np.stack([a, b], axis=-1))
        assert_same(memory.zeros((90, 90)), np.zeros((90, 90)))
        assert_same(memory.ones(9000, dtype="f4"), np.ones(9000, dtype="f4"))
        assert_same(memory.full(9000, 1.5), np.full(9000, 1.5))
        assert_same(memory.full_like(a, 7), np.full_like(a, 7))
        assert memory.empty((90, 90), dtype=int).dtype == int
    assert memory.add(2, 3) == 5 and type(memory.multiply(2, 3)) is int
    assert memory.einsum("ij->ji", a).base is not None  # a view, as NumPy's


def test_powers_as_operators():
    def f(x):
        return np.sum(x**2 + x**0.5 + x**-1 + x**3 + x**1.5 + x**x + x**1 + x**0)

    x = np.abs(vectors()[0]) + 0.1
    g = kept(f, "x")
    for _ in range(3):
        assert_same(g(x), srcdiff.grad(f)(x))
        assert_same(g(x.astype(np.float32)), srcdiff.grad(f)(x.astype(np.float32)))


# --- programs ----------------------------------------------------------------------------------


def test_nested_calls_hold_their_temporaries(tiny):
    memory = Memory()
    a, b, c, d = (np.full(10, float(k)) for k in range(1, 5))
    for _ in range(100):
        found = memory.add(memory.multiply(a, b), memory.multiply(c, d))
        found = memory.multiply(memory.add(found, memory.multiply(a, b)), memory.add(b, b))
        assert np.all(found == 64.0)
        for pair in zip([memory.add(a, b)], [memory.add(b, c)], strict=True):
            assert pair[0][0] == 3.0 and pair[1][0] == 5.0
        listed = [memory.add(a, float(k)) for k in range(5)]
        assert [v[0] for v in listed] == [1.0, 2.0, 3.0, 4.0, 5.0]


@pytest.mark.parametrize("hook", [sys.settrace, sys.setprofile])
def test_under_a_tracer(hook, tiny):
    def look(frame, event, arg):
        dict(frame.f_locals)
        return look

    g, plain = kept(), srcdiff.grad(chain, ("x", "y"))
    x, y = vectors(0, 10)
    plain(x, y)
    runs = []
    before = sys.gettrace() if hook is sys.settrace else sys.getprofile()
    hook(look)
    try:
        for seed in range(4):
            runs.append(g(*vectors(seed, 10)))
    finally:
        hook(before)
    for seed, found in enumerate(runs):
        assert_same(found, plain(*vectors(seed, 10)))
    assert_same(g(x, y), plain(x, y))


def test_threads():
    g, plain = kept(), srcdiff.grad(chain, ("x", "y"))
    wanted = [plain(*vectors(seed)) for seed in range(4)]
    wrong, sizes = [], []

    def work(seed):
        held = []
        for k in range(20):
            found = g(*vectors((seed + k) % 4))
            held = [*held[-2:], ((seed + k) % 4, found)]
            wrong.extend(s for s, f in held if not np.array_equal(f[0], wanted[s][0]))
        sizes.append(memory_of(g).kept)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and len(sizes) == 3 and min(sizes) > 0
    assert memory_of(g).kept == 0  # this thread made nothing


def test_a_gradient_that_calls_itself_again(tiny):
    calls = []

    def watched(x):
        if len(calls) < 3:
            calls.append(None)
            found.append(g(*vectors(len(calls))))
        return x

    def f(x, y):
        return np.sum(np.sin(srcdiff.autograd.hook(x * y, watched)) * y)

    found = []
    g = srcdiff.grad(f, ("x", "y"), workspace=True)
    outer = g(*vectors(0))
    plain = srcdiff.grad(f, ("x", "y"))
    assert_same(outer, plain(*vectors(0)))
    assert_same(found, [plain(*vectors(3 - k)) for k in range(3)])


def test_after_an_exception():
    def f(x, fails):
        y = np.exp(x) * x
        if fails:
            raise KeyError("midway")
        return np.sum(np.log(y * y))

    g = kept(f, "x")
    x = vectors()[0]
    wanted = srcdiff.grad(f)(x, False)
    for _ in range(3):
        with pytest.raises(KeyError):
            g(x, True)
        with np.errstate(all="raise"), pytest.raises(FloatingPointError):
            g(x * 1e200, False)
        assert_same(g(x, False), wanted)


def test_recursive_functions_and_methods():
    def power(x, n):
        return x if n == 0 else np.sin(x) * power(x, n - 1)

    class Model:
        def __init__(self, w):
            self.w = w

        def loss(self, x):
            return np.sum(np.tanh(self.w * x) ** 2)

    def f(x):
        return np.sum(power(x, 3))

    x, w = vectors()
    g = srcdiff.grad(f, workspace=True)
    m = srcdiff.grad(Model(w).loss, workspace=True)
    for _ in range(2):
        assert_same(g(x), srcdiff.grad(f)(x))
        assert_same(m(x), srcdiff.grad(Model(w).loss)(x))
    assert g.source.count("memory.") > 4 and "memory." in m.source


def test_with_every_other_option():
    def f(x, y):
        z = np.sqrt(x * x) * y
        return np.sum(z), z

    def rows(x, y):
        return np.stack([np.sum(np.sin(x) * y), np.sum(x * y * y)])

    x, y = vectors()
    for options in (
        {"check_nan": True}, {"check_inf": True}, {"strong_zeros": True}, {"outputs": 0},
        {"inputs": {"x": "x"}}, {"materialize_grads": True}, {"allow_unused": True},
    ):  # fmt: skip
        options = {"has_aux": True, **options}
        if "outputs" in options:
            options["has_aux"] = False
        for make in (srcdiff.grad, srcdiff.value_and_grad):
            assert_same(make(f, workspace=True, **options)(x, y), make(f, **options)(x, y))
    batched = srcdiff.grad(rows, ("x", "y"), is_grads_batched=True, workspace=True)
    plain = srcdiff.grad(rows, ("x", "y"), is_grads_batched=True)
    for seed in range(3):
        cotangents = np.random.default_rng(seed).standard_normal((4, 2))
        assert_same(
            batched(x, y, grad_outputs=cotangents), plain(x, y, grad_outputs=cotangents)
        )
    assert "memory.sin" in batched.source and "memory.multiply" in batched.source
    batched.release_workspace()
    assert srcdiff.value_and_grad(chain, workspace=True)(x, y)[0] == chain(x, y)


def test_derivatives_of_it():
    def f(x):
        return np.sum(np.sin(x) * x)

    x = vectors(0, 10)[0]
    g = srcdiff.grad(f, workspace=True)

    def total(x):
        return np.sum(g(x))

    def penalty(x):
        return np.sum(srcdiff.grad(f, workspace=True)(x) ** 2)

    def plain_penalty(x):
        return np.sum(srcdiff.grad(f)(x) ** 2)

    again = srcdiff.grad(total, workspace=True)
    assert np.allclose(again(x), 2 * np.cos(x) - x * np.sin(x))
    assert_same(srcdiff.grad(penalty)(x), srcdiff.grad(plain_penalty)(x))
    assert_same(srcdiff.hvp(f, (x,), x), srcdiff.jvp(g, (x,), (x,))[1])
    batched = srcdiff.grad(f, workspace=True, is_grads_batched=True)
    one = np.ones((1,))
    found = srcdiff.grad(lambda x: np.sum(batched(x, grad_outputs=one)))(x)
    assert np.allclose(found, srcdiff.grad(total)(x))


def test_variables_outside():
    weight = vectors()[1]

    def f(x):
        return np.sum(np.sin(x * weight))

    x = vectors()[0]
    g = srcdiff.grad(f, "global:weight", workspace=True)
    assert_same(g(x), srcdiff.grad(f, "global:weight")(x))
    assert "memory." in g.source
    g.release_workspace()


def test_functions_known_only_when_running():
    def f(x, fs):
        for k in fs:
            x = k(x)
        return np.sum(x * x)

    x = vectors()[0]
    fs = [lambda x: np.sin(x), lambda x: x * x]
    assert_same(kept(f, "x")(x, fs), srcdiff.grad(f)(x, fs))


def test_release():
    g = kept()
    found = g(*vectors())
    before = copy.deepcopy(found)
    held = memory_of(g)
    assert held.kept > 0
    g.release_workspace()
    assert held.kept == 0
    g(*vectors(1))
    assert_same(found, before)


def test_memory_goes_with_its_thread_and_its_function():
    refs = []

    def work(g):
        g(*vectors())
        layouts = memory_of(g).thread().layouts.values()
        refs.extend(weakref.ref(a) for layout in layouts for a in layout.arrays)

    g = kept()
    thread = threading.Thread(target=work, args=(g,))
    thread.start()
    thread.join()
    assert refs and all(r() is None for r in refs)
    work(g)
    del g
    gc.collect()
    assert all(r() is None for r in refs)


def test_pickles_and_copies_without_its_memory():
    g = srcdiff.grad(chain, ("x", "y"), workspace=True)
    x, y = vectors()
    wanted = g(x, y)
    for other in (pickle.loads(pickle.dumps(g)), copy.copy(g), copy.deepcopy(g)):
        assert_same(other(x, y), wanted)
    assert len(pickle.dumps(g)) < 2000


def test_as_a_decorator_and_for_cupy():
    @srcdiff.grad(workspace=True)
    def f(x):
        return np.sum(x * x)

    assert_same(f(np.ones(3)), np.full(3, 2.0))
    text = srcdiff.source(chain, workspace=True, backend="cupy", example=vectors(0))
    assert text == srcdiff.source(chain, backend="cupy", example=vectors(0))


def test_only_where_reference_counts_tell(monkeypatch):
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: False, raising=False)
    with pytest.raises(srcdiff.UnsupportedError, match="global lock"):
        srcdiff.grad(chain, workspace=True)
    monkeypatch.setattr(sys, "_is_gil_enabled", lambda: True, raising=False)
    monkeypatch.setattr(workspace, "getrefcount", lambda x: 3)
    with pytest.raises(srcdiff.UnsupportedError, match="CPython"):
        srcdiff.grad(chain, workspace=True)
