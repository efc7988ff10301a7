"""Where the source of a function is found, and what its names mean."""

import functools
import inspect
import linecache
import types

import numpy as np
import pytest

import srcdiff
from srcdiff.errors import TransformError
from srcdiff.frontend.lowering import lower
from srcdiff.frontend.source.parse import EmptyCellError, parse
from srcdiff.ir import interpreter as ir_interpreter
from tests.support.differences import define

GLOBAL = 3.0


def value(f, *args, **kwargs):
    """What the lowered function gives."""
    return ir_interpreter.run(lower(parse(f)), *args, **kwargs)


# --- definitions ---


def test_file():
    source = parse(value)
    assert source.file == __file__ and source.name == "value"
    assert source.line(source.tree.lineno).startswith("def value")


def test_comments_and_lines():
    def f(x):
        # above
        y = x  # trailing
        text = "# none"
        return y, text  # last

    first = parse(f).tree.lineno
    assert parse(f).comments == {
        first + 1: "# above",
        first + 2: "# trailing",
        first + 4: "# last",
    }


def twice(f):
    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        y = f(*args, **kwargs)
        return 2.0 * y, y

    return wrapper


def tagged(f):
    return f


@tagged
@twice
def decorated(y, /, x=2.0, *, k: float = 3.0):
    return x * y * k


def test_a_wrapper_is_what_runs():
    function = lower(parse(decorated))
    assert [p.name for p in function.params] == ["y", "x", "k"]
    assert function.name == "decorated"
    assert value(decorated, 5.0, 7.0, k=1.0) == decorated(5.0, 7.0, k=1.0)
    assert function.comments == {}


def turned(f):
    @functools.wraps(f)
    def wrapper(y, x=0.5, *, k=2.0):
        return f(x, y) * k

    return wrapper


@turned
def product(x, y=3.0, k=5.0):
    return x * y * y * k


def longer(f):
    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        return len(args) * kwargs.get("k", 7.0) * f(*args)

    return wrapper


@longer
def halved(x, y=3.0, k=5.0):
    return x * y / 2.0


def test_a_wrapper_that_does_more_has_its_own_parameters():
    """And not those of what it wraps, of which some may be left out, or given by name."""
    assert product(4.0) == srcdiff.value_and_grad(product)(4.0)[0] == 80.0
    assert srcdiff.grad(product, ("y", "x"))(4.0, k=1.0) == (20.0, 80.0)
    assert halved(2.0) == srcdiff.value_and_grad(halved, "args[0]")(2.0)[0] == 21.0
    assert srcdiff.grad(halved, ("args[0]", "args[1]"))(2.0, 4.0, k=1.0) == (4.0, 2.0)


def test_what_a_function_says_of_its_parameters_is_not_asked():
    def f(y, x=2.0):
        return x * y * y

    f.__signature__ = inspect.signature(product.__wrapped__)
    assert srcdiff.grad(f)(5.0) == 20.0


@functools.lru_cache
def cached(x):
    return x + 1


def test_function_in_a_cache():
    assert value(cached, 2.0) == 3.0


@tagged
def plainly_decorated(x):
    return x + 1


def test_decorator_that_keeps_the_function():
    assert value(plainly_decorated, 2.0) == 3.0


class Scaled:
    factor = 2.0

    def __init__(self, w):
        self.w = w
        self.__hidden = 1.0

    def method(self, x, y=3.0):
        return self.w * x + y + self.factor + self.__hidden

    @twice
    def wrapped(self, x):
        return self.w * x

    @classmethod
    def of_class(cls, x):
        return cls.factor * x

    @staticmethod
    def static(x):
        return 2 * x

    def __call__(self, x):
        return self.w - x


def test_methods():
    s = Scaled(5.0)
    assert [p.name for p in lower(parse(s.method)).params] == ["x", "y"]
    assert parse(s.method).bound == {"self": s}
    assert value(s.method, 2.0) == s.method(2.0)
    assert value(s.wrapped, 2.0)[0] == s.wrapped(2.0)[0]
    assert value(Scaled.method, s, 2.0, y=1.0) == s.method(2.0, y=1.0)
    assert value(Scaled.of_class, 2.0) == 4.0
    assert value(Scaled.static, 2.0) == 4.0
    assert value(s, 2.0) == 3.0
    bound_again = types.MethodType(s.method, 4.0)
    with pytest.raises(TransformError):
        lower(parse(types.MethodType(len, 4.0)))
    assert bound_again() == s.method(4.0)


def test_code_known_to_linecache():
    f = define("def f(x):\n    return x + 1  # made\n", "f", {})
    assert value(f, 1.0) == 2.0
    assert parse(f).comments == {2: "# made"}


def test_cell_with_magics():
    text = "%matplotlib inline\ndef f(x):\n    return x + 1\n"
    file = "<cell with magics>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    namespace = {}
    exec(compile("\n" + text.split("\n", 1)[1], file, "exec"), namespace)
    assert value(namespace["f"], 1.0) == 2.0


def test_file_that_has_changed():
    f = define("def f(x):\n    y = x\n    return y\n", "f", {})
    file = f.__code__.co_filename
    texts = (
        "\ndef f(x):\n    return x\n", "def f(z):\n    return z\n", "def f(x): return x\n",
        "def f(x):\n    y = x\n    return -y\n", "!magic\ndef f(x):\n    y = x\n    return -y\n",
        "def f(x):\n    y = x * 2\n    return y\n",
    )  # fmt: skip
    for text in texts:
        linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
        with pytest.raises(TransformError, match="not at its place") as info:
            parse(f)
        assert info.value.loc.line == 1 and "define the function anew" in info.value.remedy


# --- lambdas ---

PAIR = (lambda x: x * 2.0), (lambda x: x * 3.0)
NESTED = lambda x: (lambda y: y + 1.0)(x) * 2.0  # noqa: E731
OVER_LINES = [lambda x: x + 1.0,
              lambda x: (x +
                         2.0), lambda x, y=1: x]  # fmt: skip


def test_lambdas():
    assert [value(f, 5.0) for f in PAIR] == [10.0, 15.0]
    assert value(NESTED, 1.0) == 4.0
    assert [value(f, 1.0) for f in OVER_LINES] == [2.0, 3.0, 1.0]
    assert lower(parse(NESTED)).name == "anonymous"


def test_lambda_in_a_lambda():
    outer = lambda a: lambda b: a - b  # noqa: E731
    assert value(outer(3.0), 1.0) == 2.0


def without_columns(f):
    """A function as Python 3.10 makes it, whose code knows no columns."""
    code = f.__code__
    return type(f)(code.replace(co_linetable=b""), f.__globals__)


def test_lambdas_told_apart_by_their_code():
    assert [value(without_columns(f), 5.0) for f in PAIR] == [10.0, 15.0]
    same = (lambda x: x * 1.5), (lambda x: x * 1.5)
    assert [value(without_columns(f), 2.0) for f in same] == [3.0, 3.0]
    signed = (lambda x: x * 0.0), (lambda x: x * -0.0)
    assert [str(value(without_columns(f), 2.0)) for f in signed] == ["0.0", "-0.0"]
    constants = (lambda x: x * 1), (lambda x: x * 1.0)
    assert [str(value(without_columns(f), 2)) for f in constants] == ["2", "2.0"]


def test_lambdas_of_one_code_compute_the_same():
    same = (lambda x: x * (2 * 3)), (lambda x: x * 6)
    assert [value(without_columns(f), 2.0) for f in same] == [12.0, 12.0]


# --- names ---


def test_names():
    a, b = 1.0, 2.0

    def f(x):
        return a + x + later + GLOBAL + len([b])

    space = parse(f).namespace
    assert space.resolve("a") == 1.0 and space.resolve("GLOBAL") == 3.0
    assert space.resolve("len") is len and space.resolve("np") is np
    with pytest.raises(NameError, match="`nothing`"):
        space.resolve("nothing")
    with pytest.raises(EmptyCellError, match="`later`"):
        space.resolve("later")
    later = 5.0
    assert space.resolve("later") == later
    a = 2.0
    assert space.resolve("a") == a


def test_defaults_are_the_values_of_the_definition():
    at_definition = [1.0]

    def f(x, y=at_definition, *, k=GLOBAL, n=-2):
        return x, y, k, n

    kept, at_definition = at_definition, [2.0]
    params = lower(parse(f)).params
    assert params[1].default.value is kept and params[1].default.text == "at_definition"
    assert value(f, 0.0) == (0.0, kept, GLOBAL, -2)


def test_text_of_many_lines():
    f = define(
        "def f(x):\n    assert (x >\n      0), f'''a\n{x}'''\n    return {x,\n 1}\n", "f", {}
    )
    assert value(f, 2.0) == {2.0, 1}
    with pytest.raises(AssertionError, match="a\n-1"):
        value(f, -1)
