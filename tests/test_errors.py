"""Bad input gets a located error: the message, the line and the caret."""

import numpy as np
import pytest

import srcdiff

from .check import define


def refusal(text, error=srcdiff.UnsupportedError, inputs=0, args=(2.0,), name="f"):
    """The message of the error that differentiating `text` raises."""
    f = define(text, name, {"np": np, "helper": helper})
    with pytest.raises(error) as info:
        srcdiff.grad(f, inputs)(*args)
    return str(info.value)


def helper(x):
    return np.sum(x)


def assert_located(message, line, code, caret=None):
    """The place, the source line, a caret under the right column, and something to do."""
    first, shown, under, *remedy = message.splitlines()
    assert f":{line}:" in first, message
    assert shown.strip() == code, message
    assert under.strip() == "^", message
    if caret is not None:
        assert shown[under.index("^") :].startswith(caret), message
    assert remedy and remedy[0].strip(), message


STATEMENTS = {
    "try": ("def f(x):\n    try:\n        y = x * x\n    except ValueError:\n        y = x\n"
            "    return y\n", 2, "try:", "try"),
    "with": ("def f(x):\n    with open('f') as h:\n        y = x * x\n    return y\n",
             2, "with open('f') as h:", "with"),
    "yield": ("def f(x):\n    yield x * x\n", 2, "yield x * x", "yield"),
    "global": ("def f(x):\n    global k\n    k = x * x\n    return k\n", 2, "global k", "global"),
    "class": ("def f(x):\n    class C:\n        y = x\n    return x\n", 2, "class C:", "class"),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(STATEMENTS))
def test_unsupported_statement(name):
    text, line, code, caret = STATEMENTS[name]
    message = refusal(text)
    assert_located(message, line, code, caret)
    assert caret in message


def test_async_function():
    refusal("async def f(x):\n    return x\n", srcdiff.TransformError)


def test_missing_rule():
    text = "def f(x):\n    y = x * 2.0\n    return np.sum(y) + np.histogramdd(y)[0][0, 0]\n"
    message = refusal(text, srcdiff.MissingRuleError, args=(np.ones(3),))
    line = "return np.sum(y) + np.histogramdd(y)[0][0, 0]"
    assert_located(message, 3, line, "np.histogramdd")
    assert "np.histogramdd" in message


def test_function_without_source():
    f = eval("lambda x: x * x")
    with pytest.raises(srcdiff.TransformError, match="source"):
        srcdiff.grad(f)(2.0)


def test_builtin_function():
    with pytest.raises(srcdiff.TransformError):
        srcdiff.grad(len)(2.0)


def test_not_a_function():
    with pytest.raises((TypeError, srcdiff.TransformError)):
        srcdiff.grad(3.0)(2.0)


def test_two_lambdas_that_are_alike_on_one_line():
    namespace = {}
    text = "first, second = (lambda x: x * x), (lambda x: x * x * 1.0)\n"
    define(text, "first", namespace)
    for name in ("first", "second"):
        assert srcdiff.grad(namespace[name])(3.0) == 6.0
    assert "1.0" in srcdiff.source(namespace["second"])
    assert "1.0" not in srcdiff.source(namespace["first"])


def test_lambda_picked_by_its_code():
    """By columns, and on Python 3.10, which has none, by what the lambdas are compiled to."""
    namespace = {}
    define("both = (lambda x: x * x), (lambda x: x * 5.0)\n", "both", namespace)
    found = [srcdiff.grad(function)(3.0) for function in namespace["both"]]
    assert found == [6.0, 5.0]


def test_unknown_input_name():
    text = "def f(alpha, beta):\n    return alpha * beta\n"
    message = refusal(text, srcdiff.TransformError, inputs="gamma", args=(1.0, 2.0))
    assert_located(message, 1, "def f(alpha, beta):", "def f")
    assert "`f` has no input 'gamma'" in message and "alpha, beta." in message


@pytest.mark.parametrize("given", [None, np.ones(2), np.ones(3) * 1j, "text"])
def test_cotangent_that_does_not_fit(given):
    f = define("def f(x):\n    y = x * x\n    return y\n", "f", {})
    with pytest.raises(srcdiff.CotangentError) as info:
        srcdiff.grad(f)(np.ones(3), grad_outputs=given)
    reason, shown, under = str(info.value).splitlines()
    assert "grad_outputs" in reason
    assert ":3:5: " in shown and shown[under.index("^") :] == "return y"


def test_unknown_method():
    text = "def f(x):\n    return x.byteswap(1)\n"
    message = refusal(text, srcdiff.TransformError, args=(np.ones(3),))
    assert ":2:" in message and "byteswap" in message


def test_error_in_a_callee_names_its_place():
    text = (
        "def inner(x):\n    try:\n        return x\n    finally:\n        pass\n"
        "def f(x):\n    return inner(x) * 2.0\n"
    )
    message = refusal(text)
    assert ":2:" in message and "try" in message


def test_set_of_active_values():
    message = refusal("def f(x):\n    s = {x, x * 2.0}\n    return sum(s)\n")
    assert ":" in message.splitlines()[0]


def test_refused_at_transform_time_not_after_running():
    ran = []
    text = "def f(x):\n    ran.append(1)\n    try:\n        return x\n    finally:\n        pass\n"
    f = define(text, "f", {"ran": ran})
    with pytest.raises(srcdiff.UnsupportedError):
        srcdiff.grad(f)(2.0)
    assert ran == []


def test_error_classes():
    assert issubclass(srcdiff.TransformError, (srcdiff.SrcdiffError, RuntimeError))
    assert issubclass(srcdiff.UnsupportedError, NotImplementedError)
    assert issubclass(srcdiff.MissingRuleError, srcdiff.UnsupportedError)
    assert issubclass(srcdiff.UnusedInputError, srcdiff.TransformError)
    assert issubclass(srcdiff.CotangentError, ValueError)
    assert issubclass(srcdiff.CotangentTypeError, TypeError)
    assert issubclass(srcdiff.DtypeError, TypeError)
    assert issubclass(srcdiff.ReleasedError, RuntimeError)


def test_syntax_of_inputs():
    def f(params):
        return params["w"] * 2.0

    with pytest.raises(srcdiff.TransformError):
        srcdiff.grad(f, "params[")({"w": 1.0})
    with pytest.raises((srcdiff.TransformError, KeyError)):
        srcdiff.grad(f, "params['b']")({"w": 1.0})


def test_the_logarithm_of_a_matrix_has_a_cut():
    linalg = pytest.importorskip("scipy.linalg", reason="SciPy is an extra")

    def size(a):
        return np.sum(np.abs(linalg.logm(a)) ** 2)

    with pytest.raises(ValueError, match="negative eigenvalues has no derivative"):
        srcdiff.grad(size)(np.array([[-1.0, 0.3], [0.2, 2.0]]))


def test_the_root_of_a_real_matrix_may_be_complex():
    linalg = pytest.importorskip("scipy.linalg", reason="SciPy is an extra")

    def size(a):
        return np.sum(np.abs(linalg.sqrtm(a)) ** 2)

    a, way = np.array([[-1.0, 0.3], [0.2, 2.0]]), np.array([[0.3, -0.2], [0.5, 1.0]])
    slope = (size(a + 1e-5 * way) - size(a - 1e-5 * way)) / 2e-5
    assert abs(np.sum(srcdiff.grad(size)(a) * way) - slope) < 1e-8


def test_an_input_without_a_derivative_is_shown_where_it_is_a_parameter():
    def power(x, n):
        return x**n

    with pytest.raises(srcdiff.DtypeError, match="`n` has dtype int64") as caught:
        srcdiff.grad(power, "n")(2.0, 3)
    line = power.__code__.co_firstlineno
    assert f"test_errors.py:{line}:5: def power(x, n):" in str(caught.value)
