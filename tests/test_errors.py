"""Bad input gets a located error: the message, the line and the caret."""

import ast
import math
import pickle
import string

import numpy as np
import pytest

import srcdiff
from srcdiff import errors, ir
from srcdiff.errors import MissingRuleError
from srcdiff.frontend.source.parse import parse
from srcdiff.runtime import trees
from tests.limits.places import PACKAGE
from tests.support.differences import define


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
    message = refusal(text, MissingRuleError, args=(np.ones(3),))
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
    with pytest.raises(srcdiff.errors.CotangentError) as info:
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
    assert issubclass(MissingRuleError, srcdiff.UnsupportedError)
    assert issubclass(srcdiff.errors.UnusedInputError, srcdiff.TransformError)
    assert issubclass(srcdiff.errors.CotangentError, ValueError)
    assert issubclass(srcdiff.errors.CotangentTypeError, TypeError)
    assert issubclass(srcdiff.errors.DtypeError, TypeError)
    assert issubclass(srcdiff.errors.ReleasedError, RuntimeError)


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

    with pytest.raises(srcdiff.errors.DtypeError, match="`n` has dtype int64") as caught:
        srcdiff.grad(power, "n")(2.0, 3)
    line = power.__code__.co_firstlineno
    assert f"test_errors.py:{line}:5: def power(x, n):" in str(caught.value)


@pytest.mark.parametrize("name", ["Polynomial", "Chebyshev", "Legendre", "HermiteE"])
def test_polynomials_of_numpy_are_no_arguments(name):
    def f(x, p):
        return p(x) * x

    p = getattr(np.polynomial, name)([1.0, 2.0])
    with pytest.raises(MissingRuleError, match=f"an object of `{name}` is not diff") as caught:
        srcdiff.grad(f)(2.0, p)
    line = f.__code__.co_firstlineno + 1
    if hasattr(caught.value, "__notes__"):  # Python 3.11
        said = f"in the derivative of {__file__}:{line}: return p(x) * x"
        assert caught.value.__notes__ == [said]
    assert "`chebval(x, c)` for `Chebyshev(c)(x)`" in caught.value.remedy
    with pytest.raises(srcdiff.UnsupportedError, match="the function called here, `p`") as caught:
        srcdiff.grad(f, "p")(2.0, p)
    assert caught.value.loc.file == __file__
    assert_located(str(caught.value), line, "return p(x) * x", "p(x)")
    assert caught.value.remedy.startswith("Call functions by their names")


# --- where the function itself raises an error ---------------------------------------------------

A3, A4, A23, A24, A33, A43 = map(np.ones, (3, 4, (2, 3), (2, 4), (3, 3), (4, 3)))
RAISES = {
    "np.sum(x + y)": (A3, A4),
    "np.sum(x - y) * 2.0": (A23, A4),
    "np.sum(x * 1 + y)": (A3, A4),
    "np.mean(2.0 * (x + y))": (A23, A43),
    "-np.sum(np.sum(-x - y, axis=0))": (A23, A43),
    "np.sum(x[0] + y)": (A23, A4),
    "np.sum(x.T + y)": (A23, A23),
    "np.sum((x * y)[1:] + y)": (A3, A3),
    "np.sum(x * x + y)": (A3, A4),
    "np.sum(x) + 0 * np.sum(x * y)": (A3, A4),
    "np.sum(np.ones(3) + y) + np.sum(x)": (A3, A4),
    "np.sum(x + [1.0, 2.0]) + np.sum(y)": (A3, A3),
    "np.sum(np.maximum(x, y))": (A3, A4),
    "np.sum(np.clip(x, y, 3.0))": (A3, A4),
    "np.sum(np.where(x > 2.0, x, y))": (A3, A4),
    "np.sum(x @ y)": (A23, A43),
    "np.sum(x @ A3 - y)": (A43, A3),
    "np.sum(np.dot(x, y))": (A3, A4),
    "np.sum(np.inner(x, y))": (A23, A24),
    "np.sum(np.concatenate([x, y]))": (A23, A24),
    "np.sum(np.stack([x, y]))": (A3, A4),
    "np.sum(np.choose([0, 1, 0], [x, y]))": (A3, A4),
    "sum([x, y])[0]": (A3, A4),
    "np.sum(np.linalg.solve(x, y))": (A33, A4),
    "np.sum(np.linalg.solve(x, y) * 0)": (A33, A3),
    "np.einsum('ij,jk->', x, y)": (A23, A43),
    "np.sum(x['w'] + y)": ({"w": A3}, A4),
    "np.sum(x[0] + x[1]) + np.sum(y)": ([A3, A4], A3),
}
ALONE = {
    "np.sum(np.where(y > 2.0, x, x))": (A3, A4),
    "np.sum(x.reshape(2, 2))": (A3, 1.0),
    "np.sum(np.broadcast_to(x, (2, 4)))": (A3, 1.0),
    "x[3]": (A3, 1.0),
    "np.sum(x[[0, 3]])": (A3, 1.0),
    "np.sum(np.take(x, [0, 3]))": (A3, 1.0),
    "x / y": (1.0, 0.0),
    "x * math.sqrt(y)": (1.0, -1.0),
}
STORES = {
    "a[1:] = y": (A3, A3),
    "a += y": (A3, A4),
    "a[:] = y": (A4, A4),
    "z = x + y": (A3, A4),
    "b, c = y": (A3, A3),
    "assert y[0] > 1.0": (A3, A3),
}


def derivatives(f, args, inputs):
    """Every way to a derivative, called with these arguments."""
    yield lambda: srcdiff.grad(f, inputs)(*args)
    yield lambda: srcdiff.value_and_grad(f, inputs)(*args)
    yield lambda: srcdiff.vjp(f, *args, inputs=inputs)[1]()
    ways = [trees.copy_tree(a) if k in inputs else None for k, a in enumerate(args)]
    yield lambda: srcdiff.jvp(f, args, tuple(ways))


def assert_raises(text, args, used):
    """The function raises an error, and so do all its derivatives, of its own kind."""
    f = define(text, "f", {"np": np, "math": math, "A3": A3})
    with pytest.raises(Exception) as caught:  # noqa: PT011
        f(*args)
    assert not isinstance(caught.value, srcdiff.SrcdiffError)
    for inputs in used:
        for derivative in derivatives(f, args, inputs):
            with pytest.raises((type(caught.value), ValueError)) as found:
                derivative()
            assert not isinstance(found.value, srcdiff.SrcdiffError)


@pytest.mark.parametrize("expression", RAISES)
def test_no_numbers_where_the_function_raises(expression):
    text = f"def f(x, y):\n    return {expression}\n"
    assert_raises(text, RAISES[expression], ((0,), (1,), (0, 1)))


@pytest.mark.parametrize("expression", ALONE)
def test_no_numbers_where_the_input_does_not_fit(expression):
    assert_raises(f"def f(x, y):\n    return {expression}\n", ALONE[expression], ((0,),))


@pytest.mark.parametrize("statement", STORES)
def test_no_numbers_where_a_statement_raises(statement):
    text = f"def f(x, y):\n    a = np.zeros(3)\n    {statement}\n    return np.sum(a) + np.sum(x)\n"
    assert_raises(text, STORES[statement], ((0,),))


FITS = {
    "early": "if len(y) > 3:\n        return np.sum(x)\n    return np.sum(x + y)",
    "loop": "for k in range(len(y) - 4):\n        x = x + y\n    return np.sum(x)",
    "cut": "if len(y) > 3:\n        y = y[1:]\n    return np.sum(x + y)",
    "bound again": "y = y[1:]\n    return np.sum(x + y)",
    "stretched": "return np.sum(x + y[:1]) + np.sum(x + y[:, None])",
    "zip": "return sum(a + b for a, b in zip(x, y))",
}


@pytest.mark.parametrize("name", FITS)
def test_what_is_not_computed_need_not_fit(name):
    f = define(f"def f(x, y):\n    {FITS[name]}\n", "f", {"np": np})
    for inputs in ((0,), (1,)):
        g = srcdiff.grad(f, inputs, allow_unused=True)
        g(A3, A4)
        assert "\n    np.broadcast_shapes(" not in g.source


def test_what_a_derivative_has_no_use_for_may_fail():
    f = define("def f(x, y):\n    return x + 1.0 / y\n", "f", {})
    assert srcdiff.grad(f)(2.0, 0.0) == 1.0  # as the page of limits says
    asked = "    if y == 0.0:\n        raise ValueError('y')\n"
    checked = f"def f(x, y):\n{asked}    return x + 1.0 / y\n"
    with pytest.raises(ValueError, match="y"):
        srcdiff.grad(define(checked, "f", {}))(2.0, 0.0)


def test_what_is_used_is_not_checked_as_well():
    def loss(w, x, y):
        return np.mean((x @ w - y) ** 2)

    assert "broadcast_shapes" not in srcdiff.source(loss, (0, 1), example=(A3, A43, A4))


def test_a_check_is_one_line():
    f = define("def f(x, y):\n    return np.sum(x + y)\n", "f", {"np": np})
    lines = srcdiff.source(f, example=(A3, A3)).splitlines()
    assert lines[2].strip() == "np.broadcast_shapes(x.shape, y.shape)"
    assert lines[3].strip() == "# backward"


# --- the errors themselves -----------------------------------------------------------------------


def test_layout_without_place():
    assert str(errors.TransformError("why", remedy="what\nmore")) == "why\n  what\n  more"
    loc = ir.Loc("nowhere.py", 3, 5)
    assert str(errors.UnsupportedError("why", loc)) == "nowhere.py:3:5: why"
    text = str(errors.TransformError("why", ir.Loc("a.py", 3), "what", "    x = 1\n"))
    assert text == "a.py:3:5: why\n    x = 1\n    ^\n  what"


def test_line_is_read_from_the_file():
    define("a = 1\nb = 2\n", "a", {})
    file = parse(test_layout_without_place).file
    error = errors.MissingRuleError("why", ir.Loc(file, 1, 1))
    assert error.line.startswith('"""Bad input gets a located error')


@pytest.mark.parametrize(
    "name,bases",
    {
        "TransformError": (RuntimeError,),
        "UnsupportedError": (errors.TransformError, NotImplementedError),
        "MissingRuleError": (errors.UnsupportedError,),
        "UnusedInputError": (errors.TransformError,),
        "CotangentError": (RuntimeError, ValueError),
        "CotangentTypeError": (errors.CotangentError, TypeError),
        "DtypeError": (RuntimeError, TypeError),
        "ReleasedError": (RuntimeError,),
        "AnomalyError": (RuntimeError, FloatingPointError),
        "InternalError": (AssertionError,),
    }.items(),
)
def test_classes(name, bases):
    cls = getattr(errors, name)
    assert all(issubclass(cls, base) for base in (errors.SrcdiffError, *bases))
    copy = pickle.loads(pickle.dumps(cls("why")))
    assert type(copy) is cls and str(copy) == "why"


def test_located_errors_pickle():
    f = define("def f(x):\n    try: return x\n    finally: pass\n", "f", {})
    with pytest.raises(srcdiff.UnsupportedError) as info:
        srcdiff.grad(f)(2.0)
    error = info.value
    copy = pickle.loads(pickle.dumps(error))
    assert str(copy) == str(error) and copy.loc == error.loc and copy.remedy == error.remedy


def test_every_entry_of_the_table_is_raised_with_its_fields():
    table = {k: [t for t in v if not t.startswith("| ")] for k, v in errors.refusals().items()}
    nodes = [n for p in PACKAGE.rglob("*.py") for n in ast.walk(ast.parse(p.read_text()))]
    told = {n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)}
    assert {name for name, lines in table.items() if lines} == told & table.keys()
    for call in (n for n in nodes if isinstance(n, ast.Call)):
        known = getattr(call.func, "id", "") == "refused" and isinstance(call.args[0], ast.Constant)
        given = {k.arg for k in call.keywords}
        if known and None not in given:
            text = "\n".join(table[call.args[0].value])
            assert given == {f for _, f, _, _ in string.Formatter().parse(text) if f}, text
