"""Gradients compiled by Numba, in memory and in files; and what is refused."""

import functools
import importlib
import os
import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import srcdiff
from srcdiff.backends.numba import legalize
from srcdiff.errors import CotangentError, ExtraError, UnsupportedError
from srcdiff.runtime import arrays
from tests.corpus.test_programs import assert_same
from tests.programs import GOLDEN
from tests.rules import native as rule_native
from tests.support import structures as st
from tests.support.differences import Problem, check_gradient, define, positional

ROOT = Path(__file__).parents[2]
same = functools.partial(assert_same, rtol=1e-12)
X = np.array([0.3, -0.5, 0.2, 0.9])


def test_what_is_no_compiler():
    with pytest.raises(ValueError, match="'numba', 'loops', 'auto' or 'cupy', given 'cython'"):
        srcdiff.grad(recurrence, compile="cython")
    with pytest.raises(ValueError, match="compile: expected None, 'numba' or 'cupy', given 'auto'"):
        srcdiff.aot.generate(recurrence, compile="auto", example=(X, 0.5))
    with pytest.raises(ValueError, match="compile: needs an example"):
        srcdiff.aot.generate(recurrence, compile="numba")
    with pytest.raises(ValueError, match="expected None, .numba. or .cupy., given .loops."):
        srcdiff.aot.generate(recurrence, compile="loops", example=(X, 0.5))


def weighted(params, x):
    h = np.tanh(x * params["w"] + params["b"])
    return {"loss": np.sum(h * h), "mean": h.mean()}


def test_loops_alone_are_compiled(tmp_path, monkeypatch):
    pytest.importorskip("numba")
    monkeypatch.setenv("SRCDIFF_CACHE_DIR", str(tmp_path))
    params, x = {"w": X + 1.0, "b": 0.5 * X}, np.sin(X)
    g = srcdiff.value_and_grad(weighted, compile="loops")
    cts = {"loss": 1.0, "mean": 2.0}
    found, expected = (
        f(params, x, grad_outputs=cts) for f in (g, srcdiff.value_and_grad(weighted))
    )
    assert type(found[0]["loss"]) is np.float64
    for one, two in zip(st.leaves(found), st.leaves(expected), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-14)
    (kept,) = (tmp_path / "numba").glob("*.py")
    assert "cache=True" in kept.read_text() and "weighted_value_and_grad(" not in kept.read_text()
    swapped = {k: v.astype(">f8") for k, v in params.items()}
    with pytest.raises(UnsupportedError, match="Numba does not compile this"):
        g(swapped, x, grad_outputs=cts)


def test_without_numba(monkeypatch):
    monkeypatch.setitem(sys.modules, "numba", None)
    with pytest.raises(ExtraError, match=r"needs Numba .*pip install 'srcdiff\[numba\]'"):
        srcdiff.grad(recurrence, compile="numba")(X, 0.5)
    with pytest.raises(ExtraError, match="needs Numba"):
        srcdiff.aot.generate(recurrence, compile="numba", example=(X, 0.5))


FACTOR = np.array([1.5])
FACTORS = (np.array([1.5]), np.array([1.0]))


def by_factor(x):
    return np.sum(x * x) * FACTOR[0]


def by_factors(x):
    return np.sum(x * x * FACTORS[0]) * FACTORS[1][0]


def by_default(x, k=FACTOR):
    return np.sum(x * x) * k[0]


@pytest.mark.parametrize(
    "f, array",
    [(by_factor, FACTOR), (by_factors, FACTORS[0]), (by_default, FACTOR)],
    ids=lambda f: getattr(f, "__name__", ""),
)
def test_arrays_outside_are_read_at_every_call(f, array):
    pytest.importorskip("numba")
    g, plain, first = srcdiff.grad(f, "x", compile="numba"), srcdiff.grad(f, "x"), array.copy()
    try:
        same(g(X), plain(X))
        compiled = g.specialised(X)
        same(g(X), plain(X))
        assert g.specialised(X) is compiled
        array[...] = 7.0
        same(g(X), plain(X))
    finally:
        array[...] = first
    same(g(X), plain(X))


def by_keyword(x, *, k, power=2):
    return np.sum(k * np.sin(power * x))


def behind_any_number(x, *more, k=0.5):
    return np.sum(x * more[0] * k)


@pytest.mark.parametrize("compile", ["numba", "loops", "auto"])
def test_arguments_that_are_given_by_keyword(compile):
    """Numba knows no parameters that can be given by keyword only, the cotangent's included."""
    pytest.importorskip("numba")
    for f, args, kwargs in (
        (by_keyword, (X,), {"k": X + 1.0}),
        (by_keyword, (X,), {"power": 3, "k": 1.5}),
        (behind_any_number, (X, X), {"k": 2.0}),
        (behind_any_number, (X, X + 1.0), {}),
        (recurrence, (X,), {"k": 0.5}),
    ):
        g, plain = (srcdiff.value_and_grad(f, compile=how) for how in (compile, None))
        for _ in range(2):
            same(g(*args, **kwargs), plain(*args, **kwargs))
            same(g(*args, grad_outputs=2.0, **kwargs), plain(*args, grad_outputs=2.0, **kwargs))


def weighted_powers(x, w, n):
    return np.sum(w * x**n)


def powers_one_by_one(x, n):
    total = 0.0
    for i in range(len(x)):
        total += x[i] ** n
    return total


def recurrence(x, k):
    h = 0.0
    for i in range(len(x)):
        h = np.tanh(k * h + x[i])
    return h * h


def vectors(x, k):
    h = np.zeros(2)
    for i in range(len(x)):
        h = np.tanh(k * h + x[i])
    return h @ h


def bowl(x, k):
    return np.sum(np.tanh(k * x) ** 2)


def positive(v):
    return v * v if v > 0 else 0.0


def calls(x):
    total = 0.0
    for v in x:
        total += positive(v)
    return total


def products(x, y):
    return np.sin(x) * y


def peaks(x):
    y = 2.0 * x
    return np.sum(np.exp(y - np.max(y, axis=0, keepdims=True)))


class Held:
    """An object with an array."""

    def __init__(self, a):
        self.a = a


def of_object(p):
    return np.sum(p.a)


def doubled(x):
    return np.sum(x * 2.0)


def outside(x, i):
    return x[i] * 2.0


def power(x, n):
    return 1.0 if n == 0 else x * power(x, n - 1)


def steps(x):
    return np.diff(x, 2)


def others(x):
    return np.prod(x)


def highest(x):
    return np.max(x)


def taken(x):
    return np.take(x, np.array([[0, 2], [2, 1]]))


def turned(x):
    return np.flip(x)


def volume(x):
    return np.linalg.det(np.outer(x, x) + 0.5 * np.outer(x[::-1], np.ones(4)))


# Their derivatives call helpers, which have a form for Numba; two elements are largest, one is 0.
HELPED = [steps, others, highest, taken, turned, volume]
TIES = np.array([0.3, 0.9, 0.0, 0.9])
SHAPES = [
    ((2, 3), (3,)), ((4, 2, 3), (2, 1)), ((0, 3), (1, 3)), ((2, 3), ()), ((), ()), ((), (2, 2)),
]  # fmt: skip


def shifted(u):
    u[1:] += u[:-1]
    u[:-1] *= u[1:]
    return np.sum(u**2)


def symmetric(a):
    a += a.T
    return np.sum(a**2)


def through_a_name(u):
    v = u[::-1]
    v -= u
    return np.sum(u**3)


def given_back(u):
    y = u * 1.0
    z = np.diff(y, n=0)
    z *= 2.0
    return np.sum(y * y)


def last_of(x, n):
    for i in range(n):
        y = x * i
    return y * x


def on_one_side(x, n):
    if n > 0:
        y = x
    return y * x


def by_one_condition(x, n):
    big = n > 1
    if big:
        y = 2.0 * x
    z = x * x
    if big:
        z = z * y
    return z


def returned_early(x, n):
    if n > 1:
        y = x * n
        return y
    for i in range(3):
        h = x * i
        if h > 1.0:
            break
    return h


def with_power(x, n):
    return np.sum(x * np.arange(3) ** n)


def as_a_length(x, n):
    return np.sum(x[: 2**n] ** 2)


def float_power(x, n):
    return x * 2.0**n


def integer_power(x, n):
    return x * 2**n


def as_a_text(x):
    return np.sum(x) * len(f"{x.shape}")


def as_str(x):
    return x * len(str(x))


def in_a_dict(x):
    return {"square": x * x, "row": np.ones(2) * x}


def apart_from_each_other(x):
    y, z = x * 2.0, x * x
    for i in range(1, len(x)):
        y[i] += y[i - 1] * z[i]
        y *= y
        y -= z
    return np.sum(y)


def stacked(a, n):
    return a if n <= 0 else stacked(np.stack([a, 2.0 * a]), n - 1)


def ever_more_axes(x):
    return np.sum(stacked(x, 2))


def some_unpacked(x):
    first, *rest = list(x)
    return first * sum(rest)


def of_several_types(x):
    state = {"u": x, "n": 2.0}
    for _ in range(2):
        state["n"] = state["n"] * np.sum(state["u"])
    return state["n"]


def by_columns(x):
    return np.sum(x.reshape(6, order="F") ** 2)


OVERLAPS = [(shifted, X), (through_a_name, X), (given_back, X), (symmetric, np.outer(X, X + 1.0))]

REFUSED = [
    (peaks, (np.ones((2, 3)),), r"test_numba\.py:\d+:\d+: Numba does not compile this: .* max "),
    (of_object, (Held(X),), r"test_numba\.py:\d+:\d+: `p` is an object of `Held`"),
    (doubled, (np.ones(3, np.float16),), r"`x` is of dtype float16, which Numba turns into"),
    (power, (2.0, 3), r"test_numba\.py:\d+:\d+: Numba does not compile this"),
    (integer_power, (2.0, 3), r"test_numba\.py:\d+:\d+: it is not known of which type the output"),
    (as_a_text, (X,), r"test_numba\.py:\d+:\d+: the text of a value that is neither an integer"),
    (ever_more_axes, (X,), r"test_numba\.py:\d+:\d+: `a` is an array whose number of axes ch"),
    (some_unpacked, (X,), r"test_numba\.py:\d+:\d+: .*unsupported opcode \(UNPACK_EX\)"),
    (as_str, (2.0,), r"test_numba\.py:\d+:\d+: the text of a value that is neither an integer"),
]  # fmt: skip
needs_numba = pytest.mark.skipif(
    importlib.util.find_spec("numba") is None, reason="needs Numba, which is an extra"
)
native = [needs_numba, pytest.mark.filterwarnings("ignore::numba.NumbaPerformanceWarning")]
if importlib.util.find_spec("numba") is None:
    native = [needs_numba]


class TestNative:
    """What needs Numba."""

    pytestmark = native

    def test_rules_that_are_said_to_be_compiled(self):
        names = frozenset(("np.tanh", "np.dot", "math.sin", "x.ravel()", "np.einsum", "np.fft.fft"))
        assert {*rule_native.asked(names)} == names & rule_native.compiled() != names

    @pytest.mark.parametrize("f", HELPED, ids=lambda f: f.__name__)
    def test_helpers(self, f):
        v = np.ones_like(f(TIES)) * 1.5
        expected = srcdiff.grad(f)(TIES, grad_outputs=v)
        same(srcdiff.grad(f, compile="numba")(TIES, grad_outputs=v), expected)

    @pytest.mark.parametrize("compile", ["numba", "loops"])
    @pytest.mark.parametrize("n", [3, 0, -2, 2.5, np.arange(-1, 3), np.arange(4.0)], ids=str)
    def test_powers_by_what_is_an_argument(self, n, compile):
        g, plain = (srcdiff.grad(weighted_powers, compile=how) for how in (compile, None))
        same(g(X * X + 0.1, X, n), plain(X * X + 0.1, X, n))
        single = X.astype(np.float32)
        assert g(single * single, single, 3).dtype == np.float32
        if np.ndim(n) == 0:
            g, plain = (srcdiff.grad(powers_one_by_one, compile=how) for how in (compile, None))
            same(g(X * X + 0.1, n), plain(X * X + 0.1, n))

    @pytest.mark.parametrize("given, shape", SHAPES)
    def test_sums_over_broadcast_axes(self, given, shape):
        numba = importlib.import_module("numba")
        rng = np.random.default_rng(0)
        d, x = rng.standard_normal(given), rng.standard_normal(shape)
        found = numba.njit(legalize.unbroadcast)(d, x if shape else 1.5)
        expected = arrays.unbroadcast(d, x)
        assert np.shape(found) == np.shape(expected)
        same(found, expected)

    @pytest.mark.parametrize("f, x", OVERLAPS, ids=lambda v: getattr(v, "__name__", ""))
    def test_operands_that_overlap(self, f, x):
        g = srcdiff.value_and_grad(f, compile="numba")
        same(g(x.copy()), srcdiff.value_and_grad(f)(x.copy()))

    def test_operands_apart_are_not_copied(self):
        g, plain = (srcdiff.grad(apart_from_each_other, compile=c) for c in ("numba", None))
        same(g(X), plain(X))
        assert g.source.count("np.copy") == plain.source.count("np.copy")

    def test_a_dict_of_several_types(self):
        g, plain = (srcdiff.value_and_grad(of_several_types, compile=c) for c in ("numba", None))
        same(g(X), plain(X))

    @pytest.mark.parametrize("f", [last_of, on_one_side], ids=lambda f: f.__name__)
    def test_names_without_a_value(self, f):
        for g in (srcdiff.grad(f), srcdiff.grad(f, compile="numba")):
            same(g(2.0, 2), 4.0)
            with pytest.raises(UnboundLocalError, match="local variable 'y'"):
                g(2.0, 0)

    @pytest.mark.parametrize("f", [by_one_condition, returned_early], ids=lambda f: f.__name__)
    def test_names_that_have_a_value(self, f):
        g = srcdiff.grad(f, compile="numba")
        for n in (0, 2):
            same(g(1.5, n), srcdiff.grad(f)(1.5, n))
        assert "is_bound" not in g.source

    def test_powers_of_integers(self):
        for f in (with_power, as_a_length):
            g = srcdiff.grad(f, compile="numba")
            same(g(X[:3], 1), srcdiff.grad(f)(X[:3], 1))
            with pytest.raises(ValueError, match="Integers to negative powers are not allowed"):
                g(X[:3], -1)
        same(srcdiff.value_and_grad(float_power, compile="numba")(3.0, -1), (1.5, 0.5))

    def test_a_dict_is_given_back(self):
        g = srcdiff.value_and_grad(in_a_dict, outputs="square", compile="numba")
        value, gradient = g(2.0)
        same((value["square"], value["row"], gradient), (4.0, np.full(2, 2.0), 4.0))

    def test_errors_inside_of_numba(self):
        with pytest.raises(UnsupportedError, match=r"numba\.py:\d+:\d+: Numba does not compile"):
            srcdiff.grad(by_columns, compile="numba")(np.ones((2, 3)))

    def test_in_memory(self):
        g = srcdiff.grad(recurrence, inputs=("x", "k"), compile="numba")
        same(g(X, 0.5), srcdiff.grad(recurrence, inputs=("x", "k"))(X, 0.5))
        assert type(g(X, 0.5)[1]) is float
        head, _ = g.source.split("\n\n\n@numba.njit(", 1)
        assert head.startswith("import numba\nimport numpy as np\n")
        assert hasattr(g.specialised(X, 0.5).function, "signatures")
        same(pickle.loads(pickle.dumps(g))(X, 0.5), g(X, 0.5))
        assert "njit" not in srcdiff.source(recurrence, example=(X, 0.5))
        same(srcdiff.value_and_grad(calls, compile="numba")(X), (0.94, [0.6, 0.0, 0.4, 1.8]))

    def test_second_order_of_what_saves_numbers(self):
        g = srcdiff.grad(srcdiff.grad(recurrence, inputs="k"), inputs=("x", "k"))
        compiled = srcdiff.grad(
            srcdiff.grad(recurrence, inputs="k"), inputs=("x", "k"), compile="numba"
        )
        same(compiled(X, 0.5), g(X, 0.5))

    def test_it_is_differentiated_as_a_function_of_numpy(self):
        twice = srcdiff.grad(srcdiff.grad(recurrence, "k", compile="numba"), "k")
        same(twice(X, 0.5), srcdiff.grad(srcdiff.grad(recurrence, "k"), "k")(X, 0.5))

    def test_cotangents(self):
        g = srcdiff.grad(products, compile="numba")
        same(g(X, X, grad_outputs=np.ones(4)), np.cos(X) * X)
        same(g(X[:1], X[:1]), np.cos(X[:1]) * X[:1])
        with pytest.raises(CotangentError, match="left out only for an output of one number"):
            g(X, X)
        with pytest.raises(CotangentError, match=r"of the shape of the output\n.*np\.sin\(x\)"):
            g(X, X, grad_outputs=np.ones(3))

    def test_indices_are_checked(self):
        with pytest.raises(IndexError):
            srcdiff.grad(outside, compile="numba")(X, 4)

    @pytest.mark.parametrize("f, args, match", REFUSED, ids=lambda v: getattr(v, "__name__", ""))
    def test_refused(self, f, args, match):
        with pytest.raises(UnsupportedError, match=match):
            srcdiff.grad(f, compile="numba")(*args)
        with pytest.raises(UnsupportedError, match=match):
            srcdiff.aot.generate(f, compile="numba", example=args)

    @pytest.mark.parametrize("options", [
        {"value": True}, {"mode": "forward"}, {"split": True}, {"mode": "forward", "order": 2}
    ], ids=str)  # fmt: skip
    def test_files(self, options):
        text = srcdiff.aot.generate(
            bowl, compile="numba", example=(X, 0.5), verify=True, **options
        )
        count = text.count("@numba.njit(cache=True, boundscheck=True)\ndef bowl_")
        assert count == 1 + ("split" in options)
        of_loops = "error_model=\"numpy\", no_cpython_wrapper=True, no_cfunc_wrapper=True"
        assert len(re.findall(rf"@numba.njit\(.*{of_loops}\)\ndef bowl_", text)) == count
        assert "srcdiff." not in text.split("def ", 1)[1], "the file needs this package"

    def test_what_is_compiled_is_kept_for_other_processes(self, tmp_path):
        """The second process compiles nothing: it finds what the first one has compiled."""
        module = "import numpy as np\ndef bowl(x):\n    return np.sum(np.exp(x) * x)\n"
        (tmp_path / "bowls.py").write_text(module)
        program = "import numpy as np, srcdiff, bowls\n"
        program += "g = srcdiff.grad(bowls.bowl, compile='numba')\n"
        program += "print(g(np.array([0.5, 1.0])).tolist(), 'numba' in g.source)"
        where = {**os.environ, "SRCDIFF_CACHE_DIR": str(tmp_path / "kept"), "PYTHONPATH": str(ROOT)}
        said = []
        seen = []
        for _ in range(2):
            done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True,
                                  capture_output=True, text=True, env=where)  # fmt: skip
            said.append(done.stdout)
            files = (tmp_path / "kept").rglob("*.nb[ic]")
            seen.append({path.name: path.stat().st_mtime_ns for path in files})
        assert said[0] == said[1] != ""
        assert seen[0] and seen[0] == seen[1]

    def test_what_two_processes_have_kept_stays_apart(self, tmp_path):
        """Functions of one name: Numba tells them apart by what each process counts for itself."""
        for module, aux in {"one": "x * k", "two": "x > k"}.items():
            text = f"import numpy as np\ndef f(x, k):\n    return np.sum(x * x), {aux}\n"
            (tmp_path / f"{module}.py").write_text(text)
        program = "import sys, numpy as np, srcdiff\nfor module in sys.argv[1:]:\n"
        program += "    g = srcdiff.grad(__import__(module).f, compile='numba', has_aux=True)\n"
        program += "    print(*g(np.array([0.25, 1.0]), 0.5))\n"
        where = {**os.environ, "SRCDIFF_CACHE_DIR": str(tmp_path / "kept"), "PYTHONPATH": str(ROOT)}

        def said(*modules: str) -> str:
            command = [sys.executable, "-c", program, *modules]
            return subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True,
                                  env=where).stdout  # fmt: skip

        apart = said("one") + said("two")
        assert apart == "[0.5 2. ] [0.125 0.5  ]\n[0.5 2. ] [False  True]\n"
        assert said("one", "two") == apart

    @pytest.mark.skipif(sys.platform != "linux", reason="of the allocator of glibc")
    @pytest.mark.parametrize("told", [{}, {"MALLOC_TRIM_THRESHOLD_": "131072"}])
    def test_memory_is_kept_from_call_to_call_unless_somebody_has_said_so(self, told, tmp_path):
        text = "def f(x):\n    s = np.zeros(x.shape[1])\n    for t in range(x.shape[0]):\n"
        text += "        s = np.sin(s + x[t])\n    return np.sum(s)\n"
        (tmp_path / "paths.py").write_text(f"import numpy as np\n{text}")
        program = (
            "import resource, numpy as np, srcdiff, paths\n"
            "g, x = srcdiff.grad(paths.f, compile='numba'), np.ones((20, 20_000))\n"
            "for _ in range(3):\n"
            "    g(x)\n"
            "before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt\n"
            "g(x)\n"
            "print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)\n"
        )
        where = {**os.environ, "SRCDIFF_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(ROOT), **told}
        done = subprocess.run([sys.executable, "-c", program], check=True, cwd=tmp_path,
                              capture_output=True, text=True, env=where)  # fmt: skip
        pages = 20 * 20_000 * 8 // 4096  # of what is saved
        assert int(done.stdout) < pages // 8 if not told else int(done.stdout) > pages

    def test_what_is_kept_serves_functions_of_no_module(self, tmp_path):
        """Numba imports the module that a function stood in when it was compiled."""
        program = (
            "import linecache, numpy as np, srcdiff\n"
            "text = 'import numpy as np\\ndef bowl(x):\\n    return np.sum(np.exp(x) * x)'\n"
            "linecache.cache['<cell>'] = len(text), None, text.splitlines(True), '<cell>'\n"
            "exec(compile(text, '<cell>', 'exec'), space := {'__name__': 'nowhere'})\n"
            "print(srcdiff.grad(space['bowl'], compile='numba')(np.zeros(2)).tolist())\n"
        )
        where = {**os.environ, "SRCDIFF_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(ROOT)}
        for _ in range(2):
            done = subprocess.run([sys.executable, "-c", program], check=False,
                                  capture_output=True, text=True, env=where)  # fmt: skip
            assert done.stdout.strip() == "[1.0, 1.0]", done.stderr

    def test_nothing_is_kept_where_nothing_can_be_written(self, tmp_path, monkeypatch):
        (tmp_path / "file").write_text("")
        monkeypatch.setenv("SRCDIFF_CACHE_DIR", str(tmp_path / "file"))
        with pytest.warns(RuntimeWarning, match="not kept for other processes.*SRCDIFF_CACHE_DIR"):
            found = srcdiff.grad(bowl, compile="numba")(X, 0.5)
        same(found, srcdiff.grad(bowl)(X, 0.5))

    def test_what_other_modules_say_is_not_kept(self, tmp_path, monkeypatch):
        """An array that the text takes from a module may hold something else in another process."""
        monkeypatch.setenv("SRCDIFF_CACHE_DIR", str(tmp_path))
        srcdiff.grad(by_factor, "x", compile="numba")(X)
        assert not list(tmp_path.rglob("*.py"))

    def test_file_by_itself(self, tmp_path):
        srcdiff.aot.generate(calls, tmp_path / "calls_grad.py", compile="numba", example=(X,))
        program = "import sys, numpy as np, calls_grad; g = calls_grad.calls_grad\n"
        program += "print(g(np.array([2.0, -1.0])).tolist()); print('srcdiff' in sys.modules)"
        done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True,
                              capture_output=True, text=True, env={"PATH": ""})  # fmt: skip
        assert done.stdout.split("\n")[:2] == ["[4.0, 0.0]", "False"]
        assert list((tmp_path / "__pycache__").glob("*.nbi")), "nothing is cached"


def helpers():
    """Functions that call what Numba compiles, with arguments."""
    numba = pytest.importorskip("numba", reason="needs Numba, which is an extra")
    space = {"numba": numba, "np": np}
    return from_text(HELPERS, space)


HELPERS = """
@numba.njit
def step(u, k):
    for i in range(1, len(u)):
        u[i] = u[i] + k * u[i - 1] ** 2
    return u

@numba.njit(parallel=True, fastmath=True)
def total(x):
    s = 0.0
    for i in numba.prange(len(x)):
        s += np.sin(x[i])
    return s

@numba.jit(forceobj=True)
def cube(x):
    return x ** 3

@numba.njit("f8(f8)")
def eager(x):
    return x * np.exp(x)

@numba.njit
def power(x, n):
    return 1.0 if n == 0 else x * power(x, n - 1)

@numba.vectorize
def one_by_one(x):
    return x * 2 if x > 0 else x * x

@numba.guvectorize(["void(f8[:], f8[:])"], "(n)->(n)")
def by_rows(x, y):
    for i in range(len(x)):
        y[i] = x[i]

def steps(x):
    return np.sum(step(x.copy(), 0.3))

def totals(x):
    return total(x) * 2 + sum(map(eager, [x[0], x[1]]))

def cubes(x):
    return np.sum(cube(x)) + eager(x[0])

def turns(x):
    s = 0.0
    for i in numba.prange(1, len(x)):
        s += x[i] * x[i - 1]
    return s

def powers(x):
    return power(x[0], 3)

def applied(x, h):
    return h(x[0])

def calls_a_ufunc(x):
    return np.sum(one_by_one(x))

def calls_a_gufunc(x):
    return np.sum(by_rows(x))
"""


def from_text(text, space):
    """The functions of a text."""
    define(text, "steps", space)
    return space


class TestCompiledByTheUser:
    """Functions that call what the user has Numba compile."""

    pytestmark = native

    @pytest.mark.parametrize("name", ["steps", "totals", "cubes", "turns", "powers", "total"])
    def test_helpers(self, name):
        f = helpers()[name]
        check_gradient(f, (X + 1.0,))

    @pytest.mark.parametrize("name", ["steps", "totals", "cubes", "turns"])
    def test_compiled_again(self, name):
        f = helpers()[name]
        same(srcdiff.value_and_grad(f, compile="numba")(X), srcdiff.value_and_grad(f)(X))

    def test_as_an_argument(self):
        space = helpers()
        same(srcdiff.grad(space["applied"])(X, space["eager"])[0], np.exp(X[0]) * (1.0 + X[0]))

    def test_another_helper_is_another_function(self):
        space = helpers()
        g = srcdiff.grad(space["steps"])
        before = g(X)
        space["step"] = space["cube"].__class__(lambda u, k: u * k)
        assert not np.array_equal(g(X), before)
        same(g(X), np.full(4, 0.3))

    @pytest.mark.parametrize("name", ["calls_a_ufunc", "calls_a_gufunc"])
    def test_more_than_a_function(self, name):
        with pytest.raises(UnsupportedError, match="has no rule that says what its derivative is"):
            srcdiff.grad(helpers()[name])(X)

    @pytest.mark.parametrize("name", ["one_by_one", "by_rows"])
    def test_differentiated_itself(self, name):
        with pytest.raises(UnsupportedError, match=f"`{name}` is an object of Numba's"):
            srcdiff.grad(helpers()[name])(X)


COMPILED = ["newton_root", "gauss_seidel", "kalman"]


@pytest.mark.parametrize("name", COMPILED)
def test_program(name):
    """Programs of the corpus, the same as NumPy runs them (19 of the 26 golden ones compile)."""
    pytest.importorskip("numba", reason="needs Numba, which is an extra")
    p = next(p for p in GOLDEN if p.function.__name__ == name)
    problem = Problem(p.function, p.arguments(), p.inputs, p.outputs)
    ct = st.random_like(np.random.default_rng(4), problem.output())
    pos, _ = positional(p.function, problem.arguments())
    plain = srcdiff.grad(p.function, p.inputs, p.outputs)
    compiled = srcdiff.grad(p.function, p.inputs, p.outputs, compile="numba")
    same(compiled(*pos, grad_outputs=ct), plain(*pos, grad_outputs=ct))
