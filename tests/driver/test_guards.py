"""What is generated once is used again only while everything that it was made from is the same."""

import concurrent.futures
import copy
import functools
import gc
import importlib.util
import linecache
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
import types
import weakref
from pathlib import Path

import numpy as np
import pytest

import srcdiff
from srcdiff import ir
from srcdiff.driver import guards, pipeline
from srcdiff.driver.options import Options, request_of
from srcdiff.ir import GENERATED
from tests.support import caches_model as model
from tests.support.differences import check_gradient, check_second_order, define

ROOT = Path(__file__).parents[2]
X = np.array([0.3, 0.7, 1.1])
ONES = np.ones(2)


def close(a, b):
    np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)


# --- what changes outside -----------------------------------------------------------------------

# A text, and steps: what is done, and the sum of the gradient at 3.0 after it.
CHANGES = {
    "global number": ("k = 2.0\ndef f(x): return k*x\n", [("k = 5.0", 5), ("k = 4", 4)]),
    "global array": (
        "k = np.ones(3)\ndef f(x): return np.sum(k*x)\n",
        [("", 3), ("k = np.ones((2, 2))", 4), ("k = 7.0", 7), ("k = 7", 7)],
    ),
    "none or a number": (
        "k = None\ndef f(x): return x*x if k is None else k*x\n",
        [("", 6), ("k = 5.0", 5), ("k = None", 6)],
    ),
    "none in a class": (
        "class C:\n    k = None\ndef f(x):\n    if C.k is not None:\n        return C.k*x\n"
        "    return x*x\n",
        [("", 6), ("C.k = 5.0", 5), ("C.k = None", 6)],
    ),
    "flag": ("k = True\ndef f(x): return x*x if k else x\n", [("", 6), ("k = False", 1)]),
    "global list": (
        "k = [1.0, 2.0]\ndef f(x): return k[0]*x + len(k)*x\n",
        [("", 3), ("k.append(3.0)", 4), ("k[0] = 5.0", 8), ("k[0] = 5", 8)],
    ),
    "kinds in a list": (
        "k = [1.0, 2.0]\ndef f(x):\n    t = 0.0\n    for v in k: t = t + v*x\n"
        "    return np.sum(t)\n",
        [("", 3), ("k[1] = np.ones(2)", 4), ("k[0] = None; k.pop(0)", 2), ("k.clear()", 0)],
    ),
    "dict": (
        "k = {'a': 1.0}\ndef f(x):\n    for name in k: x = x*k[name]\n    return np.sum(x)\n",
        [("", 1), ("k['b'] = 4.0", 4), ("k['a'] = np.array([1.0, 2.0])", 12)],
    ),
    "helper": (
        "def h(x): return x*x\ndef f(x): return h(x)\n", [("", 6), ("def h(x): return x**3", 27)]
    ),
    "helper of a helper": (
        "def h(x): return x*x\ndef g(x): return h(x)\ndef f(x): return g(x)\n",
        [("", 6), ("def h(x): return x**3", 27)],
    ),
    "helper in a comprehension": (
        "def h(x): return x\ndef f(x): return sum([h(x)*v for v in (1.0, 2.0)])\n",
        [("", 3), ("def h(x): return x*x", 18)],
    ),
    "helper in a lambda": (
        "def h(x): return x*x\ndef f(x): return (lambda t: h(t))(x)\n",
        [("", 6), ("def h(x): return x**3", 27)],
    ),
    "helper in a table": (
        "k = {'a': lambda x: x*x}\ndef f(x): return k['a'](x)\n",
        [("", 6), ("k['a'] = lambda x: x**3", 27)],
    ),
    "code": ("def f(x): return x*x\n", [("", 6), ("f.__code__ = (lambda x: x**3).__code__", 27)]),
    "default": (
        "def f(x, k=2.0): return np.sum(k*x)\n",
        [("", 2), ("f.__defaults__ = (7.0,)", 7), ("f.__defaults__ = (np.ones(2),)", 2)],
    ),
    "keyword default": (
        "def f(x, *, k=2.0): return k*x\n",
        [("", 2), ("f.__kwdefaults__['k'] = 4.0", 4), ("f.__kwdefaults__ = {'k': 5.0}", 5)],
    ),
    "mutable default": (
        "k = [2.0]\ndef f(x, v=k): return v[0]*x*len(v)\n", [("", 2), ("k.append(1.0)", 4)]
    ),
    "default of a helper": (
        "def h(x, k=2.0): return k*x\ndef f(x): return h(x)\n",
        [("", 2), ("h.__defaults__ = (7.0,)", 7)],
    ),
    "shadowed builtin": (
        "def f(x): return max(x, 2.0)\n",
        [("", 1), ("def max(a, b): return a*b", 2), ("del max", 1)],
    ),
    "attribute of a module": (
        "def f(x): return model.helper(x)\n",
        [("", 6), ("model.helper = lambda x: x**3", 27), ("model.helper = kept", 6)],
    ),
    "imported inside": (
        "def f(x):\n    from tests.support.caches_model import helper\n    return helper(x)\n",
        [("", 6), ("model.helper = lambda x: x**3", 27), ("model.helper = kept", 6)],
    ),
    "constant of a module": (
        "def f(x): return np.sum(model.FACTOR*x)\n",
        [("", 2), ("model.FACTOR = np.ones(3)", 3), ("model.FACTOR = 2.0", 2)],
    ),
    "derivative": (
        "k = 2.0\ndef h(x): return k*x*x\ng = srcdiff.grad(h)\ndef f(x): return g(x)*x\n",
        [("", 24), ("k = 3.0", 36), ("g = srcdiff.grad(lambda x: x)", 1)],
    ),
    "wrapper": (
        "k = 2.0\ndef d(f):\n    @functools.wraps(f)\n    def w(*a): return k*f(*a)\n    return w\n"
        "@d\ndef f(x): return x*x\n",
        [("", 12), ("k = 5.0", 30)],
    ),
    "callable object": (
        "k = 2.0\nclass C:\n    def __call__(self, x): return k*x\nf = C()\n",
        [("", 2), ("k = 5.0", 5)],
    ),
    "partial": (
        "k = 2.0\ndef g(a, x): return a[0]*k*x*len(a)\na = [1.0]\nf = functools.partial(g, a)\n",
        [("", 2), ("k = 5.0", 5), ("a.append(1.0)", 10)],
    ),
}


@pytest.mark.parametrize("name", sorted(CHANGES))
def test_change_outside(name):
    text, steps = CHANGES[name]
    space = {
        "np": np, "functools": functools, "srcdiff": srcdiff, "model": model, "kept": model.helper,
    }  # fmt: skip
    f = define(text, "f", space)
    g = srcdiff.grad(f, materialize_grads=True)
    for step, expected in steps:
        define(step + "\n", "np", space)
        for _ in range(3):  # the third call is a direct one
            assert g(3.0) == pytest.approx(expected), step
        assert srcdiff.vjp(f, 3.0, inputs=0)[1]() == pytest.approx(expected) or expected == 0


def test_cells():
    def make():
        k, h = 2.0, helper_of(2.0)

        def f(x):
            return np.sum(k * h(x))

        def change(new_k, new_h):
            nonlocal k, h
            k, h = new_k, new_h

        return f, change

    def helper_of(p):
        return lambda x: x**p

    f, change = make()
    first, second = srcdiff.grad(f), srcdiff.grad(lambda x: srcdiff.grad(f)(x) * x)
    assert (first(3.0), second(3.0)) == (12.0, 24.0)
    change(np.ones(2), helper_of(2.0))
    assert (first(3.0), second(3.0)) == (12.0, 24.0)
    change(1.0, helper_of(3.0))
    assert (first(3.0), second(3.0)) == (27.0, 81.0)
    change(1.0, helper_of(1.0))
    assert first(3.0) == 1.0


def test_functions_as_arguments():
    k = 2.0

    def scaled(x):
        return k * x

    g = srcdiff.grad(lambda x, h: h(x))
    assert (g(3.0, lambda t: t * t), g(3.0, lambda t: t**3), g(3.0, scaled)) == (6.0, 27.0, 2.0)
    k = 4.0
    assert g(3.0, scaled) == 4.0
    tables = srcdiff.grad(lambda x, hs: hs["a"][0](x))
    assert tables(3.0, {"a": [scaled]}) == 4.0
    k = 5.0
    assert tables(3.0, {"a": [scaled]}) == 5.0


def test_functions_of_other_sorts_as_arguments():
    """They are told apart by identity, as plain functions are."""
    g = srcdiff.grad(lambda x, h: h(x) * x)
    tables = srcdiff.grad(lambda x, hs: hs[0](x) * x)

    def times(k, x):
        return k * x

    for k in (2.0, 5.0):
        spring = model.Spring(k)
        assert g(3.0, functools.partial(times, k)) == 6.0 * k
        assert tables(3.0, [functools.partial(times, k)]) == 6.0 * k
        assert g(3.0, spring.energy) == 27.0 * k
        spring.k = 2.0 * k
        assert g(3.0, spring.energy) == 54.0 * k
    for power in (2, 3):
        f = functools.partial(pow_of, n=power)
        assert g(2.0, srcdiff.grad(f)) == pytest.approx(power**2 * 2.0 ** (power - 1))
    assert g(2.0, srcdiff.differentiable(lambda x: x * x)) == 12.0
    assert g(2.0, srcdiff.differentiable(lambda x: x**3)) == 32.0


def pow_of(x, n):
    return x**n


def test_a_rule_that_is_written_anew():
    def doubled(x):
        return np.frompyfunc(lambda t: 2.0 * t, 1, 1)(x)

    def template(x):
        z = doubled(x)
        yield z
        d[x] += 2.0 * d[z]

    from srcdiff.primitives.notation import d

    def wrong(x):
        z = doubled(x)
        yield z
        d[x] += 100.0 * d[z]

    g = srcdiff.grad(lambda x: doubled(x) * 1.0)
    srcdiff.rules.rule(doubled)(wrong)
    assert g(1.0) == 100.0
    srcdiff.rules.rule(doubled)(template)
    assert g(1.0) == 2.0


# --- made once ----------------------------------------------------------------------------------


def test_generated_once(monkeypatch):
    def f(x):
        return x * x

    made = []
    derive = pipeline.derive
    monkeypatch.setattr(
        pipeline, "derive", lambda *a, **k: made.append(a[-1]) or derive(*a, **k)
    )
    for _ in range(3):
        assert srcdiff.grad(f)(3.0) == 6.0
        assert srcdiff.grad(f, "x")(3.0) == 6.0
    assert len(made) == 1
    for _ in range(3):
        srcdiff.grad(f)(np.float32(3.0))
    assert len(made) == 2


def test_a_wrapper_has_specialisations_of_its_own():
    def f(x):
        return x * x

    assert srcdiff.grad(f)(3.0) == 6.0

    @functools.wraps(f)
    def doubled(*args):
        return 2.0 * f(*args)

    assert srcdiff.grad(doubled)(3.0) == 12.0
    assert srcdiff.grad(f)(3.0) == 6.0
    assert "lock" not in repr(pickle.loads(pickle.dumps(f.__dict__)))


def test_very_many_kinds_are_forgotten():
    g = srcdiff.grad(lambda x, name: x * x)
    from srcdiff.driver import executable

    for k in range(executable._MOST + 2):
        executable.keep(g._cache, ("made up", k), None)
    assert len(g._cache) == executable._MOST
    assert g(3.0, "a") == 6.0 and len(g._cache) == executable._MOST


# --- copies, processes, threads, memory ---------------------------------------------------------


def test_copies():
    g = srcdiff.grad(model.power)
    for other in (copy.copy(g), copy.deepcopy(g), pickle.loads(pickle.dumps(g))):
        close(other(X), 2.0 * X)
    assert copy.deepcopy(model.decorated) is model.decorated
    assert copy.deepcopy(srcdiff.differentiable(model.power)).grad(2.0) == 4.0


SENT = {
    "grad": (srcdiff.grad(model.through_helper), 4.0),
    "decorated": (model.decorated, 12.0),
    "method": (srcdiff.grad(model.Spring(3.0).energy), 12.0),
    "partial": (srcdiff.grad(functools.partial(model.power, n=3)), 12.0),
    "primitive": (srcdiff.grad(np.square), 4.0),
    "second": (srcdiff.grad(srcdiff.grad(model.power)), 2.0),
    "value": (model.made, (4.0, 4.0)),
}


def called(g):
    """What a derivative gives in another process."""
    return g(2.0)


def check_pool(method):
    """Derivatives that were sent to another process give there what they give here."""
    context = multiprocessing.get_context(method)
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
        found = list(pool.map(called, [g for g, _ in SENT.values()]))
    assert found == [expected for _, expected in SENT.values()]


@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_process_pool(method):
    """In an interpreter of its own: a fork of one with other threads may wait for ever."""
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip("this system has no such processes")
    program = f"from tests.driver.test_guards import check_pool\ncheck_pool({method!r})\n"
    command = [sys.executable, "-c", program]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr


def test_threads_at_the_first_call():
    text = "def f(x):\n" + "".join(f"    y{k} = np.sin({k}.0 * x)\n" for k in range(20))
    text += "    return " + " + ".join(f"y{k}" for k in range(20)) + "\n"
    functions = [define(text.replace("0.0", f"{n}.5"), "f", {"np": np}) for n in range(3)]
    gradients = [srcdiff.grad(f) for f in functions]
    barrier, found = threading.Barrier(9), {}

    def work(k):
        barrier.wait()
        found[k] = gradients[k % 3](0.5)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(9)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    step = 1e-6
    for k in range(9):
        f = functions[k % 3]
        assert found[k] == pytest.approx((f(0.5 + step) - f(0.5 - step)) / (2 * step), rel=1e-6)


LONG = "def f{n}(x):\n" + "".join(f"    y{k} = np.sin({k}.5 * x)\n" for k in range(20))
LONG += "    return " + " + ".join(f"y{k}" for k in range(20)) + "\n\n"
IN_A_NEW_PROCESS = f"""
import sys, threading
import numpy as np
import srcdiff

sys.setswitchinterval(1e-5)

{LONG.format(n=0)}{LONG.format(n=1)}{LONG.format(n=2)}
gradients = [srcdiff.grad(f) for f in (f0, f1, f2)]
barrier, found = threading.Barrier(9), []

def work(k):
    barrier.wait()
    found.append(gradients[k % 3](0.5))

threads = [threading.Thread(target=work, args=(k,)) for k in range(9)]
for t in threads:
    t.start()
for t in threads:
    t.join()
print(len(found), len(set(found)))
"""


@pytest.mark.parametrize("time", range(3))
def test_threads_at_the_first_call_of_a_process(tmp_path, time):
    """What is read and put together when it is first asked for is asked for by all at once."""
    script = tmp_path / "many.py"
    script.write_text(IN_A_NEW_PROCESS)
    done = subprocess.run(
        [sys.executable, str(script)], capture_output=True, text=True, check=False
    )
    assert (done.stdout, done.stderr) == ("9 1\n", "")


def used(use):
    """Weak references to closures whose derivative was used."""
    big = np.ones(1000)

    def inner(x):
        return np.sum(big * x)

    def f(x):
        return inner(x) * x

    use(f)
    return weakref.ref(f), weakref.ref(inner)


USES = {
    "grad": lambda f: srcdiff.grad(f)(2.0),
    "source": lambda f: srcdiff.source(f),
    "vjp": lambda f: srcdiff.vjp(f, 2.0)[1](),
    "jvp": lambda f: srcdiff.jvp(f, (2.0,), (1.0,)),
    "second": lambda f: srcdiff.grad(srcdiff.grad(f))(2.0),
    "inner grad": lambda f: srcdiff.grad(lambda x: srcdiff.grad(f)(x) * x)(2.0),
    "argument": lambda f: srcdiff.grad(lambda x, h: h(x))(2.0, f),
    "map": lambda f: srcdiff.grad(lambda x: sum(map(f, [x, x])))(2.0),
}


@pytest.mark.parametrize("name", sorted(USES))
def test_closures_are_not_kept_alive(name):
    found = used(USES[name])
    gc.collect()
    assert [r() for r in found] == [None, None]


def test_texts_are_not_kept_alive():
    def texts():
        gc.collect()
        return {name for name in linecache.cache if name.startswith(GENERATED)}

    before = texts()  # of tests that have run, which may go any time
    kept = srcdiff.grad(lambda x: x * x)
    kept(1.0)
    assert texts() - before
    del kept
    for _ in range(5):
        srcdiff.grad(lambda x: x * x)(1.0)
    assert texts() <= before


# --- partials, classes and texts -----------------------------------------------------------------

LAWS = "def one(x): return x*x\ndef two(x): return x**3\n"
OBJECT = "class C:\n    def law(self, x): return x*x\no = C()\n"
REPLACED = [("", 6), ("C.law = lambda self, x: x**3", 27)]

# A text, and steps: what is done, and the gradient at 3.0 after it.
CHANGES_BEHIND = {
    "keyword of a partial": (
        "def g(x, k): return x*x*k\nP = functools.partial(g, k=2.0)\ndef f(x): return P(x)\n",
        [("", 12), ("P.keywords['k'] = 5.0", 30), ("P.keywords['k'] = 5", 30)],
    ),
    "another keyword of a partial": (
        "def g(x, k=2.0): return x*x*k\nP = functools.partial(g)\ndef f(x): return P(x)\n",
        [("", 12), ("P.keywords['k'] = 5.0", 30), ("P.keywords.clear()", 12)],
    ),
    "partial itself": (
        "def g(x, k): return x*x*k\nf = functools.partial(g, k=2.0)\n",
        [("", 12), ("f.keywords['k'] = 5.0", 30)],
    ),
    "keys of a dict that is spread out": (
        "def g(x, k=1.0, m=1.0): return x*x*k*m\nD = {'k': 2.0}\ndef f(x): return g(x, **D)\n",
        [("", 12), ("D['m'] = 5.0", 60), ("D.clear()", 6), ("D = {'m': 3.0}", 18)],
    ),
    "keys of a dict of a class": (
        "class C:\n    D = {'k': 2.0}\ndef g(x, k=1.0, m=1.0): return x*x*k*m\n"
        "def f(x): return g(x, **C.D)\n",
        [("", 12), ("C.D['m'] = 5.0", 60), ("C.D = {}", 6)],
    ),
    "keys of a dict for a nested function": (
        "D = {}\ndef f(x):\n    def g(k=1.0, **rest): return x*x*k*(1 + len(rest))\n"
        "    return g(**D)\n",
        [("", 6), ("D['k'] = 5.0", 30), ("D['m'] = 5.0", 60)],
    ),
    "items that are spread out": (
        "def g(x, k=1.0, m=1.0): return x*x*k*m\nD = [2.0]\ndef f(x): return g(x, *D)\n",
        [("", 12), ("D.append(5.0)", 60), ("D = ()", 6)],
    ),
    "partial in a class": (
        "def g(x, k): return x*x*k\nclass C:\n    P = functools.partial(g, k=2.0)\n"
        "def f(x): return C.P(x)\n",
        [("", 12), ("C.P.keywords['k'] = 5.0", 30)],
    ),
    "dict of a class": (
        LAWS + "class C:\n    table = {'law': one}\ndef f(x): return C.table['law'](x)\n",
        [("", 6), ("C.table['law'] = two", 27), ("C.table = {'law': one}", 6)],
    ),
    "list of a class": (
        LAWS + "class C:\n    table = [one]\ndef f(x):\n    for law in C.table: x = law(x)\n"
        "    return x\n",
        [("", 6), ("C.table.append(two)", 6 * 3**5), ("C.table[:] = [two]", 27)],
    ),
    "list of the class of an object": (
        LAWS + "class C:\n    table = [one]\no = C()\ndef f(x): return o.table[0](x)\n",
        [("", 6), ("C.table[0] = two", 27)],
    ),
    "table of an inner class": (
        LAWS + "class C:\n    class D:\n        table = {'law': one}\n"
        "def f(x): return C.D.table['law'](x)\n",
        [("", 6), ("C.D.table['law'] = two", 27)],
    ),
    "kinds in a list of a class": (
        "class C:\n    k = [1.0, 2.0]\ndef f(x):\n    t = 0.0\n    for v in C.k: t = t + v*x\n"
        "    return np.sum(t)\n",
        [("", 3), ("C.k[1] = np.ones(2)", 4), ("C.k.pop(0)", 2)],
    ),
    "method by a text": (OBJECT + "def f(x): return getattr(o, 'law')(x)\n", REPLACED),
    "method of a local object by a text": (
        OBJECT + "def f(x):\n    o = C()\n    return getattr(o, 'law')(x)\n", REPLACED
    ),
    "method by one of several texts": (
        OBJECT + "def f(x):\n    for n in ('law',): x = getattr(o, n)(x)\n    return x\n", REPLACED
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(CHANGES_BEHIND))
def test_change_inside_of_what_is_outside(name):
    text, steps = CHANGES_BEHIND[name]
    space = {"np": np, "functools": functools}
    f = define(text, "f", space)
    g, jacobian = srcdiff.grad(f), srcdiff.jacobian(f, mode="forward")
    for step, expected in steps:
        define(step + "\n", "np", space)
        for _ in range(3):  # the third call is a direct one
            assert g(3.0) == pytest.approx(expected), step
        assert jacobian(3.0) == pytest.approx(expected), step
        assert srcdiff.jvp(f, (3.0,), (1.0,))[1] == pytest.approx(expected), step


def test_texts_are_no_names_of_variables(monkeypatch):
    space = {"np": np}
    f = define("w = 1.0\ndef f(d): return getattr(np, 'sin')(d['w'])\n", "f", space)
    g = srcdiff.grad(f)
    assert g({"w": 0.0}) == {"w": 1.0}
    monkeypatch.setattr(pipeline, "derive", None)
    space["w"] = 2.0
    assert g({"w": 0.0}) == {"w": 1.0}


# --- functions as values -------------------------------------------------------------------------


def test_a_changed_cell_is_a_changed_function():
    def make():
        w = 2.0

        def f(x):
            return w * x * x

        def change(value):
            nonlocal w
            w = value

        return f, change

    f, change = make()
    g = srcdiff.grad(f)
    assert g(3.0) == 12.0
    change(5.0)
    assert g(3.0) == 30.0


def test_closures_of_one_factory_are_different_functions():
    def make(w):
        return lambda x: w * x * x

    first, second = srcdiff.grad(make(2.0)), srcdiff.grad(make(3.0))
    assert (first(1.0), second(1.0), first(1.0)) == (4.0, 6.0, 4.0)


def test_a_helper_that_is_defined_again_is_seen():
    namespace = {"np": np}
    define("def helper(x):\n    return x * x\n", "helper", namespace)
    f = define("def f(x):\n    return helper(x) + 1.0\n", "f", namespace)
    g = srcdiff.grad(f)
    assert g(3.0) == 6.0
    define("def helper(x):\n    return x * x * x\n", "helper", namespace)
    assert g(3.0) == 27.0


def test_helpers_of_one_name():
    one = define("def step(x, n):\n    return x if n == 0 else 2.0 * step(x, n - 1)\n", "step", {})
    two = define("def step(x, n):\n    return x if n == 0 else step(x * x, n - 1)\n", "step", {})
    text = "def f(x):\n    return first(x, 2) * second(x, 2)\n"
    f = define(text, "f", {"first": one, "second": two})
    check_gradient(f, (1.3,))
    check_second_order(f, (1.3,))


def test_functions_as_arguments_have_derivatives_of_their_own():
    def apply(f, x):
        return f(x) * x

    g = srcdiff.grad(apply, 1)
    assert g(np.square, 2.0) == 12.0
    assert g(lambda t: t, 2.0) == 4.0
    assert g(np.square, 2.0) == 12.0


# --- what an earlier process has generated for Numba ----------------------------------------------

needs_numba = pytest.mark.skipif(importlib.util.find_spec("numba") is None, reason="needs Numba")
HELPERS = "SCALE = {scale}\ndef bent(x, by={by}):\n    return x * x * by  # {comment}\n"
BOWL = """
import numpy as np
import helpers
def bowl(x):
    return np.sum(helpers.bent(x) * helpers.SCALE)
"""
PROGRAM = """
import sys, numpy as np, srcdiff, bowls
g = srcdiff.grad(bowls.bowl, compile="numba")
print(g(np.array([1.0])).tolist(), "srcdiff.driver.pipeline" in sys.modules)
"""


def run_in_a_process(folder, **said):
    """What the program prints in a process of its own."""
    said = {"scale": 1.0, "by": 1.0, "comment": "bent", **said}
    (folder / "helpers.py").write_text(HELPERS.format(**said))
    (folder / "bowls.py").write_text(BOWL)
    (folder / "program.py").write_text(PROGRAM)
    path = os.pathsep.join([str(folder), *sys.path])
    named = {"SRCDIFF_CACHE_DIR": str(folder / "kept"), "PYTHONPATH": path}
    environment = {**os.environ, **named, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, str(folder / "program.py")], env=environment, text=True,
        capture_output=True, check=False,
    )  # fmt: skip
    assert not done.returncode, done.stderr
    return done.stdout.strip()


@needs_numba
def test_a_later_process_generates_nothing(tmp_path):
    assert run_in_a_process(tmp_path) == "[2.0] True"
    assert run_in_a_process(tmp_path) == "[2.0] False"
    assert run_in_a_process(tmp_path, scale=3.0) == "[6.0] True", "a global variable is another"
    assert run_in_a_process(tmp_path, by=5.0) == "[10.0] True", "a default is another"
    assert run_in_a_process(tmp_path, scale=3.0) == "[6.0] False"


def key(f):
    """What a gradient is found by."""
    options = Options()
    request, kinds = request_of(f, options), {"x": ir.Array("float64", (ir.Sym("x.0"),))}
    return guards.said_by(f, request, kinds, ir.Target(compiler="numba"), guards.watched(f, kinds))


def reading(**outside):
    """A function that reads variables outside."""
    space = {"np": np, "__name__": "made", **outside}
    code = compile("def f(x):\n    return np.sum(x * y)\n", "<made>", "exec")
    exec(code, space)
    return space["f"]


@needs_numba
def test_what_holds_more_than_can_be_said_is_not_found(tmp_path, monkeypatch):
    monkeypatch.setenv("SRCDIFF_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(guards, "user_rules", lambda: ())  # other tests have made some
    assert key(reading(y=2.0)) == key(reading(y=2.0)) != key(reading(y=3.0))
    assert key(reading(y=2)) != key(reading(y=2.0))
    assert key(reading(y=np.ones(3))) is None

    def like(x):
        return np.sin(x) + 1.0

    like.__module__, like.__qualname__ = "numpy", "sin"  # as `functools.wraps` does
    assert guards._home(like) is None
    assert guards._home(np.linalg.norm) and guards._home(np.sin)
    assert guards._home(types.SimpleNamespace(__name__="x", __module__="numpy")) is None


def test_nothing_is_kept_without_a_folder(monkeypatch):
    monkeypatch.setenv("SRCDIFF_CACHE_DIR", "")
    assert key(reading(y=2.0)) is None
