"""Generated files of which the source has changed: whatever a text depends on is noticed."""

import importlib
import linecache
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import srcdiff
from srcdiff.aot.fingerprint import described

X = np.array([0.4, 0.9, 1.3])
HEAD = """
import numpy as np, srcdiff, functools, collections, enum, types
from dataclasses import dataclass, field
def a(x): return x * x
def b(x): return x ** 3
"""
MAKE = """
def make(k):
    def h(x): return x * k
    return h
"""
DECORATED = """
def twice(f):
    @functools.wraps(f)
    def g(*args): return {} * f(*args)
    return g
@twice
def h(x): return x * x
"""
CLASS = "class K:\n    s = {}\n"
METHOD = "class K:\n    def m(self, x): return x ** {}\no = K()"
CLASSMETHOD = CLASS + "    @classmethod\n    def m(cls, x): return x * x * cls.s"
OBJECT = "class K:\n    def __init__(s, w): s.w = w\no = K({})"
DATA = "@dataclass\nclass K:\n    x: object\n    s: object = {}"
TAKEN = "np.sum(K(x).x ** 2) * K(x).s"

# What is defined, with a place where two texts differ; what the function returns; the two texts.
CASES = {
    "ufunc": ("act = {}", "np.sum(act(x))", "np.sin", "np.cos"),
    "import": ("from numpy import {} as act", "np.sum(act(x))", "sin", "cos"),
    "module": ("import {} as m", "np.sum(x * m.sin(2.0))", "math", "numpy"),
    "ufunc in a dict": ("T = {{'a': {}}}", "np.sum(T['a'](x))", "np.sin", "np.cos"),
    "slice": ("S = slice({})", "np.sum(x[S] ** 2)", "0, 2", "1, 3"),
    "range": ("S = range({})", "sum([np.sum(x ** k) for k in S])", "3", "4"),
    "dtype": ("S = np.dtype('{}')", "np.sum(x.astype(S) * x)", "float64", "float32"),
    "type": ("S = np.{}", "np.sum(x.astype(S) * x)", "float64", "float32"),
    "set": ("S = {{{}}}", "np.sum(x * x) if 2 in S else np.sum(x)", "1, 2", "1"),
    "partial": ("h = functools.partial(make, {})", "np.sum(h()(x) * x)", "2.0", "3.0"),
    "partial by name": ("def g(x, k): return x * x * k\nh = functools.partial(g, k={})",
                        "np.sum(h(x))", "2.0", "np.arange(3.0)"),
    "default": ("C = {}\ndef h(x, k=C): return x * x * k", "np.sum(h(x))", "1.0", "9.0"),
    "default by name": ("C = {}\ndef h(x, *, k=C): return x * k", "np.sum(h(x))", "1.0", "9.0"),
    "field": (DATA, TAKEN, "2.0", "3.0"),
    "field that is made": (DATA, TAKEN, "field(default_factory=lambda: 2.0)",
                           "field(default_factory=lambda: 3.0)"),
    "named tuple": ("K = collections.namedtuple('K', 'x s', defaults=({},))", TAKEN, "2.0", "3.0"),
    "order of fields": ("K = collections.namedtuple('K', '{}')", "np.sum(K(x, x * x).u)",
                        "u v", "v u"),
    "decorator": (DECORATED, "np.sum(h(x))", "2.0", "3.0"),
    "class, None": (CLASS, "np.sum(x) if K.s is None else np.sum(x * x)", "None", "5.0"),
    "object, None": (OBJECT, "np.sum(x) if o.w is None else np.sum(x * x)", "None", "2"),
    "object, function": (OBJECT, "np.sum(o.w(x))", "a", "b"),
    "class method": (CLASSMETHOD, "np.sum(K.m(x))", "2.0", "3.0"),
    "class of an object": (CLASS + "o = K()", "np.sum(x ** o.s)", "2", "3"),
    "base": ("class A:\n    s = 2\nclass B:\n    s = 3\nclass K({}): pass", "np.sum(x ** K.s)",
             "A", "B"),
    "functions in a list": ("H = [{}]", "np.sum(H[0](x))", "a, b", "b, a"),
    "functions in a dict": ("H = {{'a': {}}}", "np.sum(H['a'](x))", "a, 'b': b", "b, 'b': a"),
    "function in a class": (CLASS, "np.sum(K.s['u'](x))", "{'u': a}", "{'u': b}"),
    "closures in a list": (MAKE + "H = [make({})]", "np.sum(H[0](x) * x)",
                           "2.0), make(3.0", "3.0), make(2.0"),
    "closures": (MAKE + "g, h = {}", "np.sum(g(x) * x)", "make(2.0), make(3.0)",
                 "make(3.0), make(2.0)"),
    "getattr": (METHOD, "np.sum(getattr(o, 'm')(x))", "2", "3"),
    "bound method": (METHOD + "\nh = o.m", "np.sum(h(x))", "2", "3"),
    "enumeration": ("class E(enum.Enum):\n    A = {}", "np.sum(x ** E.A.value)", "2", "3"),
    "derivative": ("def p(u, v): return np.sum(u * u * v)\ng = srcdiff.grad(p, {})",
                   "np.sum(g(x, x))", "0", "1"),
    "cached": ("@functools.lru_cache\ndef h(n): return n * {}", "np.sum(x * x) * h(3)", "2.0",
               "3.0"),
    "number": ("S = {}", "np.sum(x * S)", "2.0", "3.0"),
    "array": ("S = np.array([1.0, 2.0, {}])", "np.sum(x * S)", "2.0", "3.0"),
    "helper": ("def h(x): return {}", "np.sum(h(x))", "x * x", "x ** 3"),
    "name of a builtin": ("{}", "sum(x * x)", "from numpy import prod as sum", ""),
    "function called as a builtin": ("{}", "abs(x)[0]", "def abs(x): return x * x", ""),
    "attribute of a function": ("def h(x): return x * x * h.k\nh.k = {}", "np.sum(h(x))", "2.0",
                                "3.0"),
    "hidden method": (
        "class K:\n    def __m(self, x): return x ** {}\n    def m(self, x): return self.__m(x)\n"
        "o = K()", "np.sum(o.m(x))", "2", "3",
    ),
    "special method": (
        "class K:\n    def __init__(self, w): self.w = w\n{}o = K(2.0)",
        "np.sum(x * x) if o else np.sum(x)", "    def __bool__(self): return False\n", "",
    ),
}  # fmt: skip


def text_of(name, k):
    """The module of a case, before and after the change."""
    definition, returned, *texts = CASES[name]
    if name.startswith("partial") and "make" in definition:
        definition = MAKE + definition
    return f"{HEAD}{definition.format(texts[k])}\ndef f(x):\n    return {returned}\n"


def imported(name, text):
    """A module with a text, imported anew."""
    with open(f"{name}.py", "w") as file:
        file.write(text)
    sys.modules.pop(name, None)
    for known in [k for k in linecache.cache if k.endswith(f"{name}.py")]:
        del linecache.cache[known]
    importlib.invalidate_caches()
    return importlib.import_module(name)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder that modules are imported from."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    known = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - known:
        if name.startswith("stale_"):
            del sys.modules[name]


@pytest.mark.parametrize("name", sorted(CASES))
@pytest.mark.parametrize("options", [{"example": (X,)}, {"any": True}], ids=["example", "generic"])
def test_change_is_noticed(name, options, folder):
    module = f"stale_{sorted(CASES).index(name)}"
    f = imported(module, text_of(name, 0)).f
    srcdiff.aot.generate(f, "g.py", **options)
    f = imported(module, text_of(name, 0)).f
    g = srcdiff.aot.generated("g.py", f, stale="error")
    np.testing.assert_allclose(g(X), srcdiff.grad(f)(X), rtol=1e-12)
    f = imported(module, text_of(name, 1)).f
    with pytest.raises(srcdiff.errors.StaleError, match="was changed"):
        srcdiff.aot.generated("g.py", f, stale="error")


def test_no_change_in_another_process(folder):
    """Nothing of a hash depends on where things are in memory, or on the order of a set."""
    for k, name in enumerate(sorted(CASES)):
        f = imported(f"stale_{k}", text_of(name, 0)).f
        srcdiff.aot.generate(f, f"g{k}.py", example=(X,))
    code = f"""
        import importlib, srcdiff
        for k in range({len(CASES)}):
            f = importlib.import_module(f"stale_{{k}}").f
            srcdiff.aot.generated(f"g{{k}}.py", f, stale="error")
    """
    for seed in ("1", "2"):
        root = os.path.dirname(os.path.dirname(srcdiff.__file__))
        env = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": f"{folder}{os.pathsep}{root}"}
        command = [sys.executable, "-c", textwrap.dedent(code)]
        done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


def test_names_below_the_call_are_not_missed(folder):
    """A module may ask for its derivative before all that it calls is defined."""
    text = "import numpy as np, srcdiff\ndef f(x): return np.sum(h(x) * S)\n"
    below = "S = 2.0\ndef h(x): return x * x\n"
    srcdiff.aot.generate(imported("stale_below", text + below).f, "g.py", example=(X,))
    made = "g = srcdiff.aot.generated('g.py', f, stale='error')"
    g = imported("stale_below", f"{text}{made}\n{below}").g
    np.testing.assert_allclose(g(X), 4.0 * X)


def test_what_the_example_alone_leads_to(folder):
    """Its classes are not at hand when the file is used."""
    text = """
        import numpy as np
        S = 2.0
        class K:
            def __init__(self, w): self.w = w
            def m(self, x): return x * self.w * S
        def f(x, k): return np.sum(k.m(x))
    """
    module = imported("stale_example", textwrap.dedent(text))
    srcdiff.aot.generate(module.f, "g.py", example=(X, module.K(2.0)))
    module = imported("stale_example", textwrap.dedent(text))
    g = srcdiff.aot.generated("g.py", module.f, stale="error")
    np.testing.assert_allclose(g(X, module.K(3.0)), np.full(3, 6.0))
    module = imported("stale_example", textwrap.dedent(text).replace("S = 2.0", "S = 3.0"))
    with pytest.raises(srcdiff.errors.StaleError, match=r"stale_example\.S"):
        srcdiff.aot.generated("g.py", module.f, stale="error")


def test_what_is_read_when_a_file_runs_may_change(folder):
    """Numbers of objects, and large arrays: they are imported, and other ones at each start."""
    text = """
        import numpy as np
        class K:
            def __init__(self, w): self.w = w
        o, big, both = K({0}), np.full(100, {0}), dict(w={0}, big=np.full(100, {0}))
        def f(x): return np.sum(x * x * o.w) * big[1] + both["w"] * np.sum(x * both["big"][2])
    """
    f = imported("stale_runs", textwrap.dedent(text).format(2.0)).f
    srcdiff.aot.generate(f, "g.py", example=(X,))
    f = imported("stale_runs", textwrap.dedent(text).format(3.0)).f
    g = srcdiff.aot.generated("g.py", f, stale="error")
    np.testing.assert_allclose(g(X), 18.0 * X + 9.0)


class Raises:
    """Whatever is asked of it."""

    __slots__ = ("s",)

    @property
    def __class__(self):
        raise ValueError

    def __getattr__(self, name):
        raise RuntimeError(name)

    __eq__ = __hash__ = __repr__ = __iter__ = __len__ = __getattr__


class Meta(type):
    def __getattribute__(cls, name):
        raise RuntimeError(name)


class RaisesItself(metaclass=Meta):
    pass


def unbound():
    def h():
        return later

    return h
    later = 1


def deep(n, wide):
    """Lists in lists."""
    found = []
    for _ in range(n):
        found = [found] * wide
    return found


STRANGE = [
    Raises(), RaisesItself(), RaisesItself, unbound(), deep(10_000, 1), deep(500, 2), 10**5000,
    slice(Raises(), None), {(1, Raises): Raises()}, "\ud800", object(), np.array([None, 1], object),
    np.dtype([("a", float)]), (x for x in ()), open, np.random.default_rng(0), np.ma.array([1.0]),
    [0.5] * 100_000, {Raises, RaisesItself}, np.vectorize(lambda x: x), np.random.normal,
]  # fmt: skip


@pytest.mark.parametrize("k", range(len(STRANGE)))
def test_strange_values(k):
    text = described(STRANGE[k])
    assert " at 0x" not in text and described(STRANGE[k]) == text and len(text) < 500


def test_cycles():
    one, two = [1], [1]
    for item in (one, two):
        item.append({"up": item})
    assert described(one) == described(two) != described([1, {"up": [1]}])


# --- in memory ------------------------------------------------------------------------------------


def square(x):
    return x * x


def cube(x):
    return x**3


class Table:
    laws = {"u": square}

    def law(self, x):
        return x * x


TABLE = Table()


def by_table(x):
    return np.sum(Table.laws["u"](x))


def by_getattr(x):
    return np.sum(getattr(TABLE, "law")(x))  # noqa: B009


def test_functions_in_containers_of_classes_are_watched(monkeypatch):
    g = srcdiff.grad(by_table)
    np.testing.assert_allclose(g(X), 2.0 * X)
    monkeypatch.setitem(Table.laws, "u", cube)
    np.testing.assert_allclose(g(X), 3.0 * X**2)


def test_methods_read_by_getattr_are_watched(monkeypatch):
    g = srcdiff.grad(by_getattr)
    np.testing.assert_allclose(g(X), 2.0 * X)
    monkeypatch.setattr(Table, "law", lambda self, x: x**3)
    np.testing.assert_allclose(g(X), 3.0 * X**2)
