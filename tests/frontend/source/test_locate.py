"""Functions as people write them: formatting, decorators, lambdas wherever they stand."""

import code
import functools
import math
import sys
import textwrap

import numpy as np
import pytest

import srcdiff
from tests.support.differences import define

TEXTS = {
    "continued": ("def f(x):\n    y = x * \\\n        x\n    return y + \\\n  x\n", 7.0),
    "semicolons": ("def f(x): y = x*x; z = y*x; return z\n", 27.0),
    "tabs": ("def f(x):\n\tif x > 0:\n\t\ty = x*x\n\telse:\n\t\ty = x\n\treturn y\n", 6.0),
    "form feed": ("def g(x): return x\n\x0c\ndef f(x):\n    return x*x\n", 6.0),
    "carriage returns": ("def f(x):\r\n    y = x*x\r\n    return y\r\n", 6.0),
    "strange strings": (
        "def f(x):\n    s = '''\ndef f(x): return 1\n  # no\n'''; t = '# no'\n    return x*x\n", 6.0
    ),
    "other alphabets": ("def f(θ):\n    ñandú = θ*θ + θ\n    return ñandú\n", 7.0),
    "compatible letters": ("def f(ﬁ):\n    y = fi*ﬁ\n    return y\n", 6.0),
    "soft keywords": ("def f(match, case=2.0):\n    _ = match*case\n    return _\n", 2.0),
    "shadowed": ("def f(x, np=2.0):\n    sum = x*np\n    return sum\n", 2.0),
    "our names": ("def f(x, d_x=2.0, grad=1.0):\n    return x*d_x*grad\n", 2.0),
    "declared global": ("k = 2.0\ndef f(x):\n    global k\n    return k*x\n", 2.0),
    "future annotations": (
        "from __future__ import annotations\ndef f(x: Unknown, y: 'Also[Unknown]' = 2.0) -> More:\n"
        "    z: Other = x*x\n    return z*y\n",
        12.0,
    ),
    "defined twice": ("def f(x): return x\ndef f(x): return x*x\n", 6.0),
    "in a branch": ("if True:\n    def f(x): return x*x\nelse:\n    def f(x): return x\n", 6.0),
    "renamed": ("def g(x): return x*x\ng.__name__ = g.__qualname__ = 'a b'\nf = g\n", 6.0),
    "decorators": (
        "def d(f):\n    @functools.wraps(f)\n    def w(*a, **k): return 2*f(*a, **k)\n"
        "    return w\n@d\n@d\ndef f(\n    x,\n):\n    return x*x\n",
        24.0,
    ),
    "decorator with options": (
        "def scale(s, t=None):\n    def d(f):\n        @functools.wraps(f)\n"
        "        def w(*a, **k): return s*f(*a, **k)\n        return w\n    return d\n"
        "@scale(\n    3.0,\n    t=lambda x: x,\n)\n@scale(2.0)\ndef f(x): return x*x\n",
        36.0,
    ),
    "decorator that hides": (
        "def d(f):\n    def w(x): return 2*f(x)\n    return w\n@d\ndef f(x): return x*x\n", 12.0
    ),
    "cached": ("@functools.lru_cache(maxsize=None)\ndef f(x): return x*x\n", 6.0),
    "partialmethod": (
        "class A:\n    def m(self, k, x): return k*x*x\n"
        "    two = functools.partialmethod(m, 2.0)\nf = A().two\n",
        12.0,
    ),
    "nested classes": (
        "class A:\n    class B:\n        __k = 3.0\n        def f(self, x):\n"
        "            __y = self.__k*x\n            return __y\nf = A.B().f\n",
        3.0,
    ),
    "lambda as default": ("def f(x, h=lambda t: t*t*t): return h(x)\n", 27.0),
    "lambda in a dict": ("f = {'a': lambda x: x*2, 'b': lambda x: x*x}['b']\n", 6.0),
    "lambda in a call": ("f = max(lambda x: x*x, lambda x: x**3, key=id and (lambda h: 1))\n", 6.0),
    "lambda in a lambda": ("f = (lambda a: (lambda x: a*x*x))(2.0)\n", 12.0),
    "lambda like its outer one": ("f = (lambda x: (lambda x: x*x)(x))\n", 6.0),
    "lambda over lines": ("f = (lambda x:\n       x*\n       x)\n", 6.0),
    "lambda or lambda": ("f = (lambda x: x*x) if True else (lambda x: x*3)\n", 6.0),
    "lambdas of a comprehension": ("f = [lambda x, k=k: k*x for k in range(3)][2]\n", 2.0),
    "closures of a comprehension": ("f = [lambda x: k*x for k in range(3)][0]\n", 2.0),
    "equal lambdas": ("f = [lambda x: x*x, lambda x: x*x][1]\n", 6.0),
    "lambdas of other keywords": (
        "def h(a=2.0, b=3.0, c=1.0): return a*b*b*c\n"
        "f = [lambda x: h(x, b=x), lambda x: h(c=x, a=x)][1]\n",
        54.0,
    ),
    "lambda with walrus": ("f = lambda x: (y := x*x) + y\n", 12.0),
    "lambda in a decorator": (
        "def apply(h): return lambda f: (lambda x: h(f(x)))\n"
        "@apply(lambda v: v*v)\ndef f(x): return x*3\n",
        54.0,
    ),
    "long sum": ("def f(x):\n    return " + " + ".join(["x"] * 500) + "\n", 500.0),
}
TYPED = {
    "type parameters": ("def f[T](x: T) -> T:\n    return x*x\n", 6.0),
    "class with type parameters": (
        "class C[T]:\n    def m(self, x: T) -> T:\n        return x*x\nf = C().m\n", 6.0
    ),
    "type statement": ("type Number = float\ndef f(x: Number) -> Number:\n    return x*x\n", 6.0),
}
if sys.version_info >= (3, 12):
    TEXTS |= TYPED


@pytest.mark.parametrize("name", sorted(TEXTS))
def test_text(name):
    text, expected = TEXTS[name]
    f = define(text, "f", {"np": np, "functools": functools, "math": math})
    g = srcdiff.grad(f)
    assert g(3.0) == pytest.approx(expected, rel=1e-14)
    assert g.source.startswith("def ")
    compile(g.source, "<shown>", "exec")


REFUSED = {
    "coroutine": ("async def f(x):\n    return x\n", "a coroutine has no derivative", 1),
    "generator": ("def f(x):\n    yield x*x\n", "`yield` is not supported", 2),
    "stored global": ("def f(x):\n    global k\n    k = x\n    return x\n", "`global`", 2),
    "any arguments": ("f = lambda **xs: xs[\"a\"]\n", "any number of arguments", 1),
}


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_refused_text(name):
    text, reason, line = REFUSED[name]
    with pytest.raises(srcdiff.UnsupportedError) as info:
        srcdiff.grad(define(text, "f", {}))(3.0)
    assert reason in info.value.reason and info.value.loc.line == line
    assert info.value.remedy.endswith(".")


# --- code that is generated ---------------------------------------------------------------------

# What SymPy's `lambdify` makes: names from NumPy in the namespace, the text only in `linecache`.
LAMBDIFIED = "def _lambdifygenerated(x, y):\n    x0 = sin(x)\n    return y*x0 + exp(x*y)\n"


def test_generated_code():
    f = define(LAMBDIFIED, "_lambdifygenerated", {"sin": np.sin, "exp": np.exp})
    dx, dy = srcdiff.grad(f, (0, 1))(1.0, 2.0)
    assert dx == pytest.approx(2.0 * math.cos(1.0) + 2.0 * math.exp(2.0))
    assert dy == pytest.approx(math.sin(1.0) + math.exp(2.0))


@pytest.mark.oracles
def test_lambdify():
    sympy = pytest.importorskip("sympy", reason="SymPy is not installed: extra oracles")
    x, y = sympy.symbols("x y")
    f = sympy.lambdify((x, y), sympy.sin(x) * y + sympy.sin(x) ** 2, "numpy", cse=True)
    exact = 2.0 * math.cos(1.0) + 2.0 * math.sin(1.0) * math.cos(1.0)
    assert srcdiff.grad(f)(1.0, 2.0) == pytest.approx(exact)


def test_code_without_a_text():
    namespace = {}
    exec("def f(x):\n    return x*x\ng = lambda x: x*x\n", namespace)
    for f in (namespace["f"], namespace["g"], eval("lambda x: x*x")):
        f.__code__ = f.__code__.replace(co_filename="<nowhere>")  # 3.13 has a "<string>"
        with pytest.raises(srcdiff.TransformError, match=r"<nowhere>:\d: .* be found") as info:
            srcdiff.grad(f)(1.0)
        assert "linecache" in info.value.remedy


def test_doctest(capsys):
    import doctest

    text = """
        >>> import srcdiff
        >>> def f(x):
        ...     return x * x
        >>> srcdiff.grad(f)(3.0)
        6.0
        >>> srcdiff.grad(lambda x: x**3)(1.0)
        3.0
    """
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner()
    runner.run(parser.get_doctest(textwrap.dedent(text), {}, "example", None, 0))
    assert runner.summarize().failed == 0


class History:
    """What a console knows of `readline`."""

    def __init__(self):
        self.lines = []

    def get_current_history_length(self):
        return len(self.lines)

    def get_history_item(self, k):
        return self.lines[k - 1]


CONSOLE = """\
def f(x):
    return x + 1
def f(x):
    y = x * x
    return y
first = srcdiff.grad(f)(3.0)
second = srcdiff.grad(lambda x: x**3)(1.0)
pair = [lambda x: x, lambda x: 2.0 * x]; third = srcdiff.grad(pair[1])(1.0)
fourth = srcdiff.grad(kept)(1.0)
"""


def test_console(monkeypatch):
    history = History()
    monkeypatch.setitem(sys.modules, "readline", history)
    namespace = {"srcdiff": srcdiff}
    console = code.InteractiveConsole(namespace)
    history.lines += ["kept = lambda x: 5.0 * x", "kept = lambda x: 6.0 * x"]
    console.push("kept = lambda x: 5.0 * x")  # the last thing typed is not always the last done
    for line in CONSOLE.splitlines():
        if not line.startswith(" "):
            console.push("")
        history.lines.append(line)
        console.push(line)
    found = [namespace[n] for n in ("first", "second", "third", "fourth")]
    assert found == [6.0, 3.0, 2.0, 5.0]
