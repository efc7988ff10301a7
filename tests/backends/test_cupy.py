"""CuPy arrays without a GPU, on the stand-in in `tests/standin/`: in memory and in files."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.special

import srcdiff
from srcdiff.backends.cupy.calls import KNOWN, MISSING
from srcdiff.errors import CotangentTypeError, DtypeError, MissingRuleError, UnsupportedError
from tests.corpus import test_gpu
from tests.programs import GOLDEN, PROGRAMS
from tests.rules.samples import collected
from tests.standin import Device, samples
from tests.standin.arrays import ndarray
from tests.standin.corpus import run, to_host
from tests.standin.device import recorded
from tests.support.differences import difference


@pytest.fixture(scope="module")
def device():
    """The stand-in as `cupy`, as long as the tests of this file run."""
    made = Device()
    with made.installed():
        yield made
    assert "cupy" not in sys.modules or sys.modules["cupy"] is not made.cupy


X = np.array([0.3, 1.2, -0.4, 0.7])


def test_what_cupy_has_is_written_down():
    """The table of what is refused by its name agrees with the record of CuPy itself."""
    have = recorded()
    for name, missing in MISSING.items():
        assert not missing & set(have[name.replace("numpy", "cupy")])
    assert KNOWN["scipy.special"] <= set(have["cupyx.scipy.special"])


def first(x):
    a = x * 1.0
    b = a[0]
    a[0] = 5.0
    return b * x[1] + np.sum(a * a)


def in_place(x):
    s = np.sum(x)
    t = s
    s += x[0]
    return t * s


def rows(x):
    total = 0.0
    for v in x:
        v += 1.0
        total = total + v * v
    return total


@pytest.mark.parametrize("function", [first, in_place, rows])
def test_what_is_a_view_there(device, function):
    """`x[0]` is a view, and `+=` writes into arrays without axes: not the gradients of NumPy."""

    def primal(t):
        moved = device.array(X + t * way)
        with_cp = {**function.__globals__, "np": device.cupy}
        return float(type(function)(function.__code__, with_cp)(moved))

    way = np.array([0.7, -0.2, 0.4, 1.1])
    found = to_host(srcdiff.grad(function)(device.array(X)))
    slope, error = difference(primal)
    assert abs(found @ way - slope) < 1e-8 + error
    with device.without_transfers():
        srcdiff.grad(function)(device.array(X))


def scaled(x, k):
    return np.sum(np.sin(k * x)) * np.sqrt(k)


def test_kinds_of_values(device):
    value, (d_x, d_k) = srcdiff.value_and_grad(scaled, (0, 1))(device.array(X), 2.0)
    assert isinstance(value, ndarray) and value.shape == ()
    assert isinstance(d_x, ndarray) and type(d_k) is float
    text = srcdiff.source(scaled, (0, 1), example=(device.array(X), 2.0))
    assert " = np.sqrt(k)" in text  # a number of the host stays there
    assert "cp.sin(" in text


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
def test_dtypes_stay(device, dtype):
    def f(x, w):
        h = np.tanh(x @ w) if w.dtype.kind == "f" else x @ w
        return np.sum(np.abs(h) ** 2)

    x, w = (device.array(np.ones(s).astype(dtype)) for s in ((3, 2), (2, 2)))
    for g in srcdiff.grad(f, (0, 1))(x, w):
        assert g.dtype == np.dtype(dtype)


# --- errors ------------------------------------------------------------------------------------

TABLE = np.arange(4.0)


def with_table(x):
    return np.sum(x * TABLE)


def test_arrays_of_two_modules(device):
    x = device.array(X)
    with pytest.raises(DtypeError, match=r"`x` is an array of CuPy and `p\['w'\]` one of NumPy"):
        srcdiff.grad(lambda x, p: np.sum(x * p["w"]))(x, {"w": X})
    with pytest.raises(DtypeError, match="`TABLE` is an array of NumPy"):
        srcdiff.grad(with_table)(x)
    assert np.array_equal(srcdiff.grad(with_table)(X), TABLE)


def test_cotangents_of_the_other_module(device):
    x = device.array(X)
    square = srcdiff.grad(lambda x: x * x)
    for given, at in ((X, x), (x, X)):
        with pytest.raises(CotangentTypeError, match="expected a number or an array of"):
            square(at, grad_outputs=given)
    total = srcdiff.grad(lambda x: np.sum(x * x))
    assert np.allclose(to_host(total(x, grad_outputs=device.array(3.0))), 6 * X)
    assert np.allclose(to_host(total(x, grad_outputs=3.0)), 6 * X)
    with pytest.raises(CotangentTypeError, match="given an array of NumPy"):
        total(x, grad_outputs=np.array(3.0))
    with pytest.raises(CotangentTypeError):
        total(X, grad_outputs=device.array(3.0))


def inserted(x):
    return np.sum(np.insert(x, 1, x[0] ** 2))


def test_what_cupy_lacks(device):
    with pytest.raises(MissingRuleError, match=r"CuPy has no `np.insert`(.|\n)*np.concatenate"):
        srcdiff.grad(inserted)(device.array(X))
    assert srcdiff.grad(inserted)(X).shape == (4,)


def running_maximum(x):
    return np.sum(x * np.maximum.accumulate(x))


def test_methods_of_ufuncs(device):
    """CuPy has `accumulate` of sums and products alone."""
    with pytest.raises(MissingRuleError, match=r"CuPy has no `np.maximum.accumulate`"):
        srcdiff.grad(running_maximum)(device.array(X))
    sums = srcdiff.grad(lambda x: np.sum(x * np.add.accumulate(x)))
    np.testing.assert_allclose(to_host(sums(device.array(X))), sums(X), rtol=1e-14)


def copied_numbers(x, s):
    u = x * 1.0
    items = [u, s]
    again = list(items)
    again[0][0] = again[1] ** 2
    return u * again[1]


def test_refused_there(device):
    g = srcdiff.grad(copied_numbers, (0, 1))
    g(X, 2.0, grad_outputs=X)
    with pytest.raises(UnsupportedError, match="a container of numbers that is known by"):
        g(device.array(X), 2.0, grad_outputs=device.array(X))


def as_a_number(x):
    return float(np.mean(x))


def test_a_number_that_was_fetched(device):
    g = srcdiff.value_and_grad(as_a_number)
    value, found = g(device.array(X))
    assert type(value) is float
    assert np.array_equal(to_host(found), np.full(4, 0.25))
    assert np.array_equal(to_host(g(device.array(X), grad_outputs=2.0)[1]), np.full(4, 0.5))


FACTOR = 2.0


def flat(a, n):
    """Makes arrays with NumPy's name, and calls itself."""
    if n <= 0:
        return np.array([a, a, a, a]) * FACTOR
    return flat(np.floor(a), n - 1)


def step(z, x):
    return np.concatenate((np.zeros(1), 0.5 * np.cos(z[1:]) + x[1:]))


def called_as_they_are(x):
    z = srcdiff.fixed_point(step, np.ones(4), x)
    return np.sum(x * flat(x[0], 2)) + np.sum(z * x)


def test_functions_that_are_called_as_they_are(device, monkeypatch):
    """They have CuPy where they say NumPy, and read what is outside as it is by now."""
    x = device.array(X + 1.0)
    g = srcdiff.grad(called_as_they_are)
    for factor in (2.0, 3.0):
        monkeypatch.setitem(globals(), "FACTOR", factor)
        expected = srcdiff.grad(called_as_they_are)(X + 1.0)
        assert abs(expected[3] - factor - 1.0) > 1e-3
        np.testing.assert_allclose(to_host(g(x)), expected, rtol=1e-10)


def test_the_module_of_the_arguments(device):
    """`xp = cp.get_array_module(x)` and `x.__array_namespace__()` are the module of the call."""
    cp = device.cupy

    def asked(x, y):
        xp = cp.get_array_module(x, y)
        z = xp.zeros_like(x)
        z[1:] = xp.tanh(x[1:] * y)
        return xp.linalg.norm(z)

    def standard(x, y):
        xp = x.__array_namespace__()
        return xp.linalg.norm(xp.tanh(x[1:] * y))

    def compared(x):
        xp = cp.get_array_module(x)
        return xp.sum(x) if xp is cp else xp.sum(2.0 * x)

    def plain(x, y):
        return np.linalg.norm(np.tanh(x[1:] * y))

    expected = srcdiff.grad(plain)(X, 2.0)
    for f in (asked, standard):
        g = srcdiff.grad(f)
        np.testing.assert_allclose(g(X, 2.0), expected, rtol=1e-14)
        assert "np.tanh" in g.source
        np.testing.assert_allclose(to_host(g(device.array(X), 2.0)), expected, rtol=1e-14)
        assert "cp.tanh" in g.source and "np." not in g.source
    with pytest.raises(UnsupportedError, match="the module of arrays is compared"):
        srcdiff.grad(compared)(X)


def passed_on(x, xp=None):
    if xp is None:
        xp = np
    return helper(x, xp) + helper(x, np)


def helper(x, xp):
    return xp.linalg.norm(xp.zeros(1) + xp.tanh(x))


def test_a_module_as_an_argument(device):
    """It means that of the arrays, as a name for it does."""
    cp, x = device.cupy, device.array(X)
    expected = srcdiff.grad(passed_on)(X)
    g = srcdiff.grad(passed_on)
    for args in ((x,), (x, cp), (x, np)):
        np.testing.assert_allclose(to_host(g(*args)), expected, rtol=1e-14)
        assert "np." not in g.source.replace("cp.", "")
    np.testing.assert_allclose(g(X, np), expected, rtol=1e-14)


# --- the rest of the interface ------------------------------------------------------------------


def loss(x, k):
    y = np.zeros_like(x)
    for i in range(1, len(x)):
        y[i] = np.tanh(k * y[i - 1] + x[i])
    return np.sum(y * y)


def test_other_transforms(device):
    x, v = device.array(X), device.array(X[::-1])
    value, pullback = srcdiff.vjp(loss, x, 0.5, inputs=0)
    expected = srcdiff.grad(loss)(X, 0.5)
    assert np.allclose(to_host(pullback()), expected, rtol=1e-14)
    assert np.allclose(to_host(pullback(2.0)), 2 * expected, rtol=1e-14)
    _, tangent = srcdiff.jvp(loss, (x, 0.5), (v, None))
    assert isinstance(tangent, ndarray)
    assert np.allclose(float(tangent), expected @ X[::-1], rtol=1e-13)
    run_ = srcdiff.autograd.run(loss, x, 0.5)
    assert np.allclose(to_host(run_.grad("x")), expected, rtol=1e-14)
    store = {"x": device.array(X)}
    srcdiff.backward(loss, "x")(x, 0.5, into=store)
    assert np.allclose(to_host(store["x"]), X + expected, rtol=1e-14)
    found = srcdiff.hvp(loss, (x, 0.5), v)
    assert np.allclose(to_host(found), srcdiff.hvp(loss, (X, 0.5), X[::-1]), rtol=1e-12)
    second = srcdiff.grad(lambda x: np.sum(srcdiff.grad(loss)(x, 0.5) ** 2))
    assert np.allclose(to_host(second(x)), second(X), rtol=1e-12)
    dense = srcdiff.jacobian(lambda x: np.tanh(x) * x[0])
    assert np.allclose(to_host(dense(x)), dense(X), rtol=1e-13)


def test_nothing_is_moved(device):
    """Neither a second derivative nor a pullback asks the device for anything."""
    x = device.array(X)
    g = srcdiff.grad(loss)
    g(x, 0.5)
    with device.without_transfers():
        g(x, 0.5)
        _, pullback = srcdiff.vjp(loss, x, 0.5, inputs=0)
        pullback()
    made = device.allocations
    g(x, 0.5)
    assert device.allocations - made < 12 * len(X)


# --- text --------------------------------------------------------------------------------------

# Some of their numbers stay on the host.
NUMBERS = ("kalman",)


def test_the_sum_of_a_list_may_have_axes(device):
    def total(x, n):
        terms = [x]
        for k in range(n):
            terms.append(x * k)
        return sum(terms) * terms[-1]

    there = srcdiff.grad(total)(device.cupy.asarray(X), 3, grad_outputs=device.cupy.ones(4))
    np.testing.assert_allclose(to_host(there), 16.0 * X, rtol=1e-14)


def on_arrays(program):
    arrays = any(isinstance(a, np.ndarray) for a in program.arguments())
    return arrays and program.function.__name__ not in NUMBERS


@pytest.mark.parametrize("program", list(filter(on_arrays, GOLDEN)), ids=lambda p: p.name)
def test_text_for_cupy(program):
    """Without CuPy: no NumPy is left, and nothing that moves data."""
    text = srcdiff.source(
        program.function, program.inputs, outputs=program.outputs, backend="cupy",
        example=program.arguments(),
    )  # fmt: skip
    code = re.sub(r'""".*?"""', "", text, flags=re.S)
    assert not re.search(r"\bnp\.|\.get\(\)|asnumpy|\.item\(|\.tolist\(", code)


def test_scipy_is_that_of_cupy():
    text = srcdiff.source(
        lambda x: np.sum(scipy.special.erf(x) ** 2), example=(X,), backend="cupy"
    )
    assert "cupyx.scipy.special.erf(x)" in text and " scipy." not in text


def noisy(x):
    noise = np.random.standard_normal(4)
    z = np.fft.rfft(x * noise + np.linspace(0.0, 1.0, 4))
    return np.sum(np.abs(z) ** 2) + np.sum(np.linalg.inv(np.eye(4) + np.outer(x, x)))


def test_random_numbers_and_transforms(device):
    """Drawn once, on the device, where the function says NumPy; so are arrays that it makes."""
    g, x = srcdiff.grad(noisy), device.array(X)
    np.random.seed(3)
    expected = g(X)
    np.random.seed(3)
    np.testing.assert_allclose(to_host(g(x)), expected, rtol=1e-12)
    with device.without_transfers():
        g(x)
    code = g.source.partition("\n")[2]
    for name in ("random.standard_normal", "fft.rfft", "linalg.inv", "linspace", "eye"):
        assert f"cp.{name}(" in code
    assert not re.search(r"\bnp\.", code)


def test_work_goes_to_the_current_stream(device):
    """Nothing asks for a stream, and nothing waits: the stand-in has none, no file names one."""
    assert not hasattr(device.cupy, "cuda")
    for path in Path(srcdiff.__file__).parent.rglob("*.py"):
        asks = re.search(r"\bcuda\.|Stream\(|synchronize", path.read_text())
        assert not asks or path.parent.name == "cli", path  # `srcdiff doctor` names the GPU
    x = device.array(X)
    assert np.allclose(to_host(srcdiff.grad(loss)(x, 0.5)), srcdiff.grad(loss)(X, 0.5))


def test_source_needs_no_cupy():
    before = dict(sys.modules)
    text = srcdiff.source(scaled, (0, 1), backend="cupy")
    assert "cp.sum(" in text
    assert "cupy" not in set(sys.modules) - set(before)
    with pytest.raises(ValueError, match="backend: expected 'numpy' or 'cupy'"):
        srcdiff.source(scaled, backend="jax")


def test_numba_takes_no_arrays_of_cupy(device):
    x = device.array(X)
    for asked in (
        lambda: srcdiff.grad(loss, compile="numba")(x, 0.5),
        lambda: srcdiff.vjp(loss, x, 0.5, compile="numba"),
        lambda: srcdiff.hessian(loss, compile="numba")(x, 0.5),
        lambda: srcdiff.source(loss, backend="cupy", compile="numba"),
    ):
        with pytest.raises(DtypeError, match="the arguments are arrays of CuPy, pass NumPy's"):
            asked()


def test_what_runs_on_a_gpu_runs(device):
    """The tests of `test_gpu.py` find what they need; here CuPy is the stand-in."""
    gpu = test_gpu.Gpu()
    program = next(p for p in PROGRAMS if p.name.endswith("mlp"))
    assert run(program, gpu).verdict == run(program, gpu, True).verdict == "right"
    sample = next(s for s in collected() if s.rule.name == "dot")
    assert samples.run(sample, gpu).verdict == "right"
    test_gpu.test_model("running")


# --- files ---------------------------------------------------------------------------------------

WEIGHTS = np.array([1.0, 2.0, 3.0, 4.0])
NAMES = ["cross_entropy", "heat", "mlp", "view_chain", "kepler"]


def typed(x: np.ndarray, k: float):
    return np.sum(scipy.special.erf(x) ** 2) * np.sqrt(k)


def written(x, y):
    x[1:] += y[:-1]
    return np.max(x * y)


def looked_up(x):
    return np.sum(WEIGHTS * x)


def on_device(device, value):
    if isinstance(value, np.ndarray):
        return device.cupy.asarray(value)
    return [on_device(device, v) for v in value] if isinstance(value, list) else value


def check(device, f, args, inputs=0, **options):
    """The file gives what the gradient in memory gives for NumPy."""
    text = srcdiff.aot.generate(f, inputs=inputs, example=args, backend="cupy", **options)
    space = {"__name__": "alone"}
    exec(compile(text, "alone.py", "exec"), space)
    value, pull = srcdiff.vjp(f, *args, inputs=inputs)
    seed = [np.ones_like(v) for v in value] if isinstance(value, tuple) else np.ones_like(value)
    expected = pull(seed)
    given = [on_device(device, a) for a in args]
    cotangent = {} if np.ndim(value) == 0 and not isinstance(value, tuple) else {
        "grad_outputs": on_device(device, seed)
    }
    found = space[f"{f.__name__}_grad"](*given, **cotangent)
    pairs = zip(found, expected) if isinstance(expected, tuple) else [(found, expected)]
    for one, other in pairs:
        np.testing.assert_allclose(to_host(one), other, rtol=1e-13)
    return text


@pytest.mark.parametrize("f, args", [(typed, (X, 2.0)), (written, (X, X + 1.0))])
def test_file(device, f, args):
    text = check(device, f, args)
    assert "import cupy as cp\n" in text and "cp." in text
    if f is typed:
        assert "x: cp.ndarray" in text or "import numpy as np" in text
    else:
        assert "numpy" not in text.partition("__all__")[2] and "import numpy" not in text


@pytest.mark.parametrize("name", NAMES)
def test_program(device, name):
    p = next(p for p in GOLDEN if p.function.__name__ == name)
    args = tuple(p.arguments())
    text = check(device, p.function, args, p.inputs)
    assert "import numpy" not in text


def test_forward_mode(device):
    text = srcdiff.aot.generate(written, mode="forward", example=(X, X), backend="cupy")
    space = {}
    exec(text, space)
    x, y, t = (device.cupy.asarray(v) for v in (X, X + 1.0, WEIGHTS))
    value, tangent = space["written_jvp"](x, y, t)
    expected = srcdiff.jvp(written, (X, X + 1.0), (WEIGHTS, None))
    np.testing.assert_allclose([to_host(value), to_host(tangent)], expected, rtol=1e-13)


def order(x):
    return zeros_of(x, 2) + np.arange(len(x))


def zeros_of(x, n):
    return np.zeros(len(x)) if n <= 0 else zeros_of(x, n - 1)


def ordered(x):
    return np.sum(order(x) * x)


def test_functions_of_the_users_are_copied(device):
    """What calls NumPy by its name would make arrays of NumPy where it is imported from."""
    text = check(device, ordered, (X,))
    assert "import numpy" not in text and "test_cupy import" not in text


def test_arguments_are_arrays_of_cupy(device):
    text = srcdiff.aot.generate(written, example=(X, X), backend="cupy")
    space = {}
    exec(text, space)
    with pytest.raises(TypeError, match="x: expected an array of float64 with 1 axis"):
        space["written_grad"](X, X + 1.0)


def test_what_is_refused():
    with pytest.raises(DtypeError, match="`WEIGHTS` is an array of NumPy"):
        srcdiff.aot.generate(looked_up, example=(X,), backend="cupy")
    with pytest.raises(ValueError, match="backend: expected 'numpy' or 'cupy', given 'jax'"):
        srcdiff.aot.generate(written, backend="jax")
    with pytest.raises(ValueError, match="verify: derivatives for CuPy are not compared"):
        srcdiff.aot.generate(written, backend="cupy", example=(X, X), verify=True)
    with pytest.raises(ValueError, match="Numba compiles for NumPy"):
        srcdiff.aot.generate(written, backend="cupy", example=(X, X), compile="numba")
