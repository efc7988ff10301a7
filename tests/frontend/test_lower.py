"""What parsing and lowering refuse: the class, the message, the line and the caret."""


import numpy as np
import pytest
import scipy.linalg

from srcdiff import errors
from srcdiff.frontend.lowering import lower, lower_template
from srcdiff.frontend.source.parse import parse
from tests.support.differences import define

TABLE = np.array([1.0, 2.0])


def refused(text, read=lower, **namespace):
    """The error for the function `f` of a text."""
    f = define(text, "f", {"np": np, "TABLE": TABLE, "len": len, **namespace})
    with pytest.raises(errors.TransformError) as info:
        read(parse(f))
    return info.value


# What stands in the body of `def f(x, xs):`; the caret stands under `^`'s line and column.
STATEMENTS = {
    "try": ("try:\n    y = x\nfinally:\n    pass", 1, 1, "`try`"),
    "with": ("y = x\nwith open('a') as h:\n    pass", 2, 1, "`with`"),
    "global": ("global y\ny = x", 1, 1, "`global`"),
    "class": ("class C:\n    pass", 1, 1, "`class`"),
    "match": ("match x:\n    case [1, y]:\n        pass", 1, 1, "`match`"),
    "async def": ("async def g():\n    pass", 1, 1, "`async def`"),
    "yield": ("y = (yield x)", 1, 6, "`yield`"),
    "yield from": ("yield from xs", 1, 1, "`yield`"),
    "attribute loop": ("for x.value in xs:\n    pass", 1, 5, "attribute"),
    "global store": ("TABLE[0] = x", 1, 1, "store into `TABLE`"),
    "global augmented": ("TABLE[0] += x", 1, 1, "store into `TABLE`"),
    "del attribute": ("del x, xs.a", 1, 8, "`del`"),
    "unknown name": ("y = x + unknown(x)", 1, 9, "`unknown` is not defined"),
    "unknown attribute": ("y = x + np.nothing.at(x)", 1, 9, "`np` has no attribute `nothing`"),
    "unpack": ("y, z = x, x, x", 1, 1, "3 values for 2 names"),
    "eval": ("y = eval('x')", 1, 5, "`eval`"),
    "locals": ("y = locals()['x']", 1, 5, "`locals`"),
    "vars": ("y = vars()", 1, 5, "`vars`"),
    "generator": ("y = np.sum(v for v in xs)", 1, 11, "generator"),
    "generator keyword": ("y = sorted(xs, key=(v for v in xs))", 1, 20, "generator"),
    "generator loop": ("for v in (w for w in xs):\n    pass", 1, 10, "generator"),
    "generator kept": ("y = (v for v in xs)\nfor v in y:\n    pass", 1, 5, "generator"),
    "zip strict": ("for v, w in zip(xs, xs, strict=x):\n    pass", 1, 13, "strict"),
    "reversed zip": ("for v in reversed(zip(xs)):\n    pass", 1, 19, "`reversed`"),
    "function early": ("y = g(x)\ndef g(v):\n    return v", 1, 5, "before its definition"),
    "function nonlocal": ("def g():\n    nonlocal x\n    x = 1\ny = [g]", 1, 1, "`nonlocal`"),
    "function nonlocal recursive": (
        "def g(v):\n    nonlocal x\n    x = 1\n    return g(v)\ny = g(x)", 1, 1, "`nonlocal`",
    ),
    "function missing": ("def g(v, w):\n    return v\ny = g(x)", 3, 5, "do not fit"),
    "function extra": ("def g(v):\n    return v\ny = g(x, u=1)", 3, 5, "do not fit"),
    "function in text": (
        "def g(v):\n    return v\nif x[0] > 9.0:\n    raise ValueError(f'{g(x)}')", 4, 11, "`g`"),
    "walrus in text": ("y = f'{(z := x)}'", 1, 5, "`:=`"),
    "walrus in slice": ("y = x[x:, (x := 1)]", 1, 7, "`:=`"),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(STATEMENTS))
def test_refused_statement(name):
    body, line, column, message = STATEMENTS[name]
    lines = body.split("\n")
    text = "def f(x, xs):\n" + "".join(f"    {t}\n" for t in lines)
    error = refused(text)
    assert type(error) is errors.UnsupportedError
    assert message in error.reason
    assert (error.loc.line, error.loc.col) == (line + 1, column + 4)
    first, code, caret, remedy = str(error).splitlines()
    assert first == f"{error.loc.file}:{line + 1}:{column + 4}: {error.reason}"
    shown = lines[line - 1]
    assert code == "    " + shown.strip()
    assert caret == " " * (4 + column - 1 - (len(shown) - len(shown.lstrip()))) + "^"
    assert remedy.startswith("  ") and remedy.endswith(".")


def test_coroutine():
    error = refused("async def f(x):\n    return x\n")
    assert "coroutine" in error.reason and error.loc.line == 1


def test_the_object_of_a_method_cannot_be_assigned():
    namespace = {}
    define("class C:\n    def f(self, x):\n        self = x\n        return x\n", "C", namespace)
    with pytest.raises(errors.UnsupportedError, match="`self`"):
        lower(parse(namespace["C"]().f))


def test_caret_after_wide_characters_and_tabs():
    error = refused("def f(x):\n\ty = '∂∂' if x else unknown\n")
    assert error.loc.col == 21
    assert str(error).splitlines()[2] == " " * 4 + " " * 19 + "^"


def test_deep_nesting():
    text = "def f(x):\n    return " + "(" * 150 + "x" + "[0])" * 150 + "\n"
    deep = "def f(x):\n    if x == 0: return 0\n"
    deep += "".join(f"    elif x == {i}: return {i}\n" for i in range(1, 400))
    lower(parse(define(text, "f", {})))
    assert "nested too deeply" in refused(deep).reason


def test_long_sums_are_not_deep():
    f = define("def f(x):\n    return " + " + ".join(["x"] * 2000) + "\n", "f", {})
    assert len(lower(parse(f)).body) == 2000


# --- no source ---


@pytest.mark.parametrize("f", [len, np.sin, np.linalg.norm.__class__, 3.0, "text", dict])
def test_no_python_function(f):
    with pytest.raises(errors.TransformError, match="no Python source"):
        parse(f)


def test_code_of_exec():
    namespace = {}
    # Not "<string>", under which Python 3.13 shows the code of `python -c`.
    exec(compile("def f(x):\n    return x\n", "<made>", "exec"), namespace)
    with pytest.raises(errors.TransformError, match="cannot be found") as info:
        parse(namespace["f"])
    assert str(info.value).startswith("<made>:1: ") and "linecache" in info.value.remedy


def test_empty_cell():
    def outer():
        def inner(x):
            return x * later

        error = pytest.raises(errors.UnsupportedError, lambda: lower(parse(inner))).value
        later = 1.0
        return error, later

    error, _ = outer()
    assert "`later`" in error.reason and error.line.strip() == "return x * later"


# --- templates ---

TEMPLATES = {
    "of a local name": ("def f(x):\n    y = x\n    d[x] += d[y]\n", 3, "neither an argument"),
    "bound z": ("def f(x):\n    z = x\n", 1, "`z` is the result"),
    "two yields": ("def f(x):\n    yield x\n    d[x] += 1\n    yield x\n", 4, "one `yield`"),
    "inner yield": ("def f(x):\n    yield x\n    if x:\n        yield x\n", 4, "one `yield`"),
    "return": ("def f(x):\n    yield x\n    if x:\n        return x\n", 4, "no `return`"),
    "bound d": ("def f(x):\n    d = x\n    yield d\n", 1, "cannot be bound"),
    "bare d": ("def f(x):\n    yield x\n    y = d\n", 3, "`d` stands alone"),
    "constant": ("def f(x):\n    yield x\n    d[0] += x\n", 3, "takes a name"),
    "global": ("def f(x):\n    yield x\n    d[np] += x\n", 3, "takes a name"),
}


@pytest.mark.parametrize("name", sorted(TEMPLATES))
def test_refused_template(name):
    text, line, message = TEMPLATES[name]
    error = refused(text, lower_template)
    assert message in error.reason and error.loc.line == line


# --- `try` ---


def _own(x):
    return x


# What is asked beforehand has to be all that may fail, and asking must not change anything.
ATTEMPTS = {
    "a function of one's own": "y = solved(x)",
    "a condition in an expression": "y = inv(x) if xs else x",
    "something that changes before": "y = [xs.pop(), inv(x)]",
    "something that grows before": "y = [xs.append(1.0), inv(x)]",
    "an array that is sorted before": "y = (x.sort(), inv(x))",
    "the error itself": "if xs:\n            raise LinAlgError",
    "an argument that may be overwritten": "y = inverse(x, overwrite_a=True)",
    "a call in a branch": "if xs:\n            y = inv(x)",
}


@pytest.mark.parametrize("name", sorted(ATTEMPTS))
def test_refused_attempts(name):
    text = f"def f(x, xs):\n    try:\n        {ATTEMPTS[name]}\n    except LinAlgError:\n"
    linalg = {"inv": np.linalg.inv, "LinAlgError": np.linalg.LinAlgError}
    text += "        y = x\n    return y"
    error = refused(text, solved=_own, inverse=scipy.linalg.inv, **linalg)
    assert "`try` is not supported" in str(error) and error.loc.line == 2


HANDLERS = ("except:", "except Exception:", "except LinAlgError as e:", "except (LinAlgError,):")


@pytest.mark.parametrize("handler", HANDLERS)
def test_refused_handlers(handler):
    linalg = {"inv": np.linalg.inv, "LinAlgError": np.linalg.LinAlgError}
    text = f"def f(x):\n    try:\n        y = inv(x)\n    {handler}\n        y = x\n    return y"
    assert "`try` is not supported" in str(refused(text, **linalg))
