"""What a derivative depends on through partials, classes and texts: it is generated anew."""

import functools

import numpy as np
import pytest

import srcdiff
from srcdiff.driver import derivative

from .check import define

LAWS = "def one(x): return x*x\ndef two(x): return x**3\n"
OBJECT = "class C:\n    def law(self, x): return x*x\no = C()\n"
REPLACED = [("", 6), ("C.law = lambda self, x: x**3", 27)]

# A text, and steps: what is done, and the gradient at 3.0 after it.
CHANGES = {
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


@pytest.mark.parametrize("name", sorted(CHANGES))
def test_change_inside_of_what_is_outside(name):
    text, steps = CHANGES[name]
    space = {"np": np, "functools": functools}
    f = define(text, "f", space)
    g, jacobian = srcdiff.grad(f), srcdiff.jacobian(f, mode="forward")
    for step, expected in steps:
        define(step + "\n", "np", space)
        assert g(3.0) == pytest.approx(expected), step
        assert jacobian(3.0) == pytest.approx(expected), step
        assert srcdiff.jvp(f, (3.0,), (1.0,))[1] == pytest.approx(expected), step


def test_texts_are_no_names_of_variables(monkeypatch):
    space = {"np": np}
    f = define("w = 1.0\ndef f(d): return getattr(np, 'sin')(d['w'])\n", "f", space)
    g = srcdiff.grad(f)
    assert g({"w": 0.0}) == {"w": 1.0}
    monkeypatch.setattr(derivative, "derive", None)
    space["w"] = 2.0
    assert g({"w": 0.0}) == {"w": 1.0}
