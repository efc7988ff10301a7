"""Where the function comes from: primitives, partials, consoles, notebooks, generated code."""

import functools
import importlib
import importlib.util
import inspect
import linecache
import math
import operator
import pickle

import numpy as np
import pytest

import srcdiff
from srcdiff.errors import MissingRuleError
from srcdiff.ir import Const
from srcdiff.ir.renaming import rename_text
from srcdiff.primitives import registry
from srcdiff.primitives.notation import d

X = np.array([0.3, 0.7, 1.1])
A = np.arange(12.0).reshape(3, 4)


def close(a, b):
    np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)


# --- bare primitives ----------------------------------------------------------------------------


def test_ufuncs():
    close(srcdiff.grad(np.sin)(X, grad_outputs=np.ones(3)), np.cos(X))
    assert srcdiff.grad(np.sin)(0.5) == math.cos(0.5)
    close(srcdiff.grad(np.multiply, inputs=(0, 1))(X, 2.0, grad_outputs=X)[1], np.sum(X * X))
    assert srcdiff.source(np.sin, example=(1.0,)).startswith("def sin_grad(x, grad_outputs=1.0):")


def test_other_primitives():
    assert srcdiff.grad(math.exp)(1.0) == math.e
    assert srcdiff.grad(operator.mul, inputs=(0, 1))(3.0, 4.0) == (4.0, 3.0)
    assert srcdiff.grad(abs)(-3.0) == -1.0
    assert srcdiff.grad(float)(2.0) == 1.0
    close(srcdiff.grad(np.dot, inputs=(0, 1))(X, 2.0 * X), (2.0 * X, X))
    close(srcdiff.grad(np.dot, inputs="b")(X, X), X)
    value, pullback = srcdiff.vjp(np.linalg.solve, np.eye(3) * 2.0, X)
    d_a, d_b = pullback(X)
    close(value, X / 2.0)
    close(d_b, X / 2.0)
    close(d_a, -np.outer(X, X) / 4.0)


def test_arguments_of_a_primitive_that_are_left_out():
    close(srcdiff.grad(np.sum)(A), np.ones((3, 4)))
    close(srcdiff.grad(np.sum)(A, 0, grad_outputs=np.ones(4)), np.ones((3, 4)))
    ones = np.ones((3, 1))
    close(srcdiff.grad(np.sum)(A, keepdims=True, axis=1, grad_outputs=ones), np.ones((3, 4)))
    text = srcdiff.source(np.sum, example=(A,))
    assert text.startswith("def sum_grad(a, grad_outputs=1.0):") and "axis" not in text
    # Older versions of NumPy do not say which parameters `asarray` has.
    with pytest.raises((MissingRuleError, TypeError), match="['`]like['`]"):
        srcdiff.grad(np.asarray)(A, like=A)
    assert srcdiff.grad(np.sum)(A, dtype=np.float32).dtype == A.dtype


def test_primitives_that_write():
    d_v = srcdiff.grad(np.copyto, "src", outputs="dst")(np.zeros(3), X, grad_outputs=X)
    close(d_v, X)
    assert srcdiff.grad(operator.setitem, "v", "x")(np.zeros(3), 1, 2.0, grad_outputs=X) == X[1]


def test_second_order_of_a_primitive():
    close(srcdiff.grad(srcdiff.grad(np.log))(2.0), -0.25)
    close(srcdiff.grad(lambda x: srcdiff.grad(np.log)(x) * x * x)(2.0), 1.0)
    close(srcdiff.grad(srcdiff.grad(np.prod))(X, grad_outputs=np.ones(3)), [1.8, 1.4, 1.0])


def test_primitives_pickle_and_decorate():
    again = pickle.loads(pickle.dumps(srcdiff.grad(np.log)))
    assert again(2.0) == 0.5
    assert srcdiff.differentiable(np.log).grad(4.0) == 0.25
    names = list(inspect.signature(srcdiff.grad(np.dot)).parameters)
    assert names[:2] == ["a", "b"] and names[-1] == "grad_outputs"


def test_a_function_with_a_rule_of_its_own_is_not_read():
    def tripled(x):
        return 3.0 * x

    @srcdiff.rules.rule(tripled)
    def template(x):
        z = tripled(x)
        yield z
        d[x] += 100.0 * d[z]

    assert srcdiff.grad(tripled)(1.0) == srcdiff.grad(lambda x: tripled(x))(1.0) == 100.0


def test_a_rule_that_loops():
    def weighted(x, n):
        return sum(k * x * x for k in range(1, n + 1))

    @srcdiff.rules.rule(weighted)
    def template(x, n):
        z = weighted(x, n)
        yield z
        for k in range(1, n + 1):
            d[x] += 2.0 * k * x * d[z]

    assert srcdiff.grad(lambda x, n: weighted(x, n) * x)(3.0, 4) == 270.0
    found = srcdiff.grad(lambda x, n: weighted(x, n) * x)(X, 4, grad_outputs=np.ones(3))
    close(found, 30.0 * X**2)


def test_a_rule_that_scales_an_adjoint_in_place():
    def doubled(v):
        v *= 2.0

    @srcdiff.rules.rule(doubled, mutates="v")
    def template(v):
        doubled(v)
        yield
        d[v] *= 2.0

    def f(x):
        y = x * x
        doubled(y)
        return np.sum(y * x)

    close(srcdiff.grad(f)(X), 6.0 * X**2)


def test_a_rule_that_forgets_a_parameter():
    def scaled(x, k):
        return k * x

    @srcdiff.rules.rule(scaled)
    def template(x, k):
        z = scaled(x, k)
        yield z
        d[x] += k * d[z]

    assert srcdiff.grad(lambda x: scaled(x, 3.0))(2.0) == 3.0
    for f in (lambda k: scaled(3.0, k) * k, scaled):
        with pytest.raises(MissingRuleError, match="no derivative for the argument `k`"):
            srcdiff.grad(f, "k")(*(3.0, 2.0)[-len(inspect.signature(f).parameters) :])


@pytest.mark.parametrize("f", [np.frompyfunc(lambda x: x, 1, 1), X.dot, 3.0, "text", np, None])
def test_no_function_and_no_rule(f):
    if f is None:
        f = object()
    with pytest.raises(srcdiff.TransformError, match="no Python source and no rule") as info:
        srcdiff.grad(f)(X)
    assert "@srcdiff.rules.rule" in info.value.remedy


def test_integer_valued_primitive():
    with pytest.raises(srcdiff.errors.UnusedInputError, match="`floor`.*`x`"):
        srcdiff.grad(np.floor)(2.5)


def test_rules_take_arguments_where_their_functions_do():
    """Else `np.sum(x, 0, np.float32)` would be read as `keepdims=np.float32`."""
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    other = {("a_min", "min"), ("a_max", "max"), ("y", "exp")}
    for function, rule in registry.registry().by_key.items():
        name = getattr(function, "name", None)
        plain = getattr(np.ndarray, name, None) if isinstance(name, str) else function
        try:
            own = list(inspect.signature(plain).parameters.values())
        except (TypeError, ValueError):
            continue
        if getattr(getattr(function, "__self__", None), "shapes", 0) != 0:
            shapes = (function.__self__.shapes or "").replace(",", "").split()
            given = [own[0].name, *shapes, "loc", "scale"]
            assert [p.name for p in rule.params] == given[: len(rule.params)]
            continue
        for i, param in enumerate(rule.params):
            if param.kind not in positional or param.default is param.empty or rule.gather:
                continue
            if param.name == "how" and function in (np.r_.__getitem__, np.c_.__getitem__):
                continue  # the text in `np.r_["0,2", x]`, which lowering takes out of the key
            there = own[i] if i < len(own) and own[i].kind in positional else None
            same = there is not None and (
                there.name == param.name or (param.name, there.name) in other
            )
            assert same, (rule.name, function, param.name)


# --- functools.partial --------------------------------------------------------------------------


def line(a, x, b=0.0, *, k=1.0):
    return a * x * x + b * k


class Spring:
    w = 2.0

    def energy(self, x):
        return self.w * x * x

    def __call__(self, x):
        return self.w * x**3


PARTIALS = {
    "position": (functools.partial(line, 3.0), 0, (2.0,), {}, 12.0),
    "keyword": (functools.partial(line, b=3.0, k=2.0), (0, 1), (2.0, 3.0), {}, (9.0, 12.0)),
    "by name": (functools.partial(line, b=3.0, k=2.0), "b", (2.0, 3.0), {}, 2.0),
    "given anew": (functools.partial(line, b=3.0, k=2.0), "b", (2.0, 3.0), {"b": 1.0}, 2.0),
    "default": (functools.partial(line, 3.0), "b", (2.0,), {}, 1.0),
    "nested": (functools.partial(functools.partial(line, 3.0), k=2.0), "k", (2.0, 5.0), {}, 5.0),
    "array": (functools.partial(line, X), 0, (2.0,), {"grad_outputs": X}, 4.0 * np.sum(X * X)),
    "method": (functools.partial(Spring().energy), 0, (3.0,), {}, 12.0),
    "object": (functools.partial(Spring.energy, Spring()), 0, (3.0,), {}, 12.0),
    "callable": (functools.partial(Spring()), 0, (3.0,), {}, 54.0),
    "primitive": (functools.partial(np.dot, X), 0, (X,), {}, X),
    "option": (functools.partial(np.sum, axis=0), 0, (A,), {"grad_outputs": X[0]}, None),
    "derivative": (functools.partial(srcdiff.grad(line, "x"), 3.0), 0, (2.0,), {}, 6.0),
}


@pytest.mark.parametrize("name", sorted(set(PARTIALS) - {"option"}))
def test_partial(name):
    f, inputs, args, kwargs, expected = PARTIALS[name]
    found = srcdiff.grad(f, inputs)(*args, **kwargs)
    assert type(found) is type(expected) or name == "array"
    close(found, expected)


def test_partial_of_a_primitive():
    f = functools.partial(np.sum, axis=0)
    g = srcdiff.grad(f)
    close(g(A, grad_outputs=np.arange(4.0)), np.broadcast_to(np.arange(4.0), (3, 4)))
    close(g(A, axis=1, grad_outputs=X), np.broadcast_to(X[:, None], (3, 4)))
    close(pickle.loads(pickle.dumps(g))(A, grad_outputs=np.ones(4)), np.ones((3, 4)))


def test_text_of_a_partial():
    text = srcdiff.source(functools.partial(line, 3.0), example=(2.0,))
    assert text.startswith("def line_grad(x, grad_outputs=1.0):")
    assert "6.0 * grad_outputs * x" in text and "test_source.py" in text


def test_partial_that_does_not_fit():
    with pytest.raises(srcdiff.TransformError, match="do not fit `line`"):
        srcdiff.grad(functools.partial(line, 1.0, 2.0, 3.0, 4.0))


def test_second_order_of_a_partial():
    close(srcdiff.grad(srcdiff.grad(functools.partial(line, 3.0)))(2.0), 6.0)


# --- text that has changed ----------------------------------------------------------------------


def cell(name, text, namespace):
    """Run a notebook cell as IPython does: its text is known under the name of the cell."""
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    exec(compile(text, name, "exec"), namespace)


@pytest.fixture
def names():
    """Names of cells that are forgotten afterwards."""
    made = [f"/tmp/ipykernel_1/{k}.py" for k in range(5)]
    yield made
    for name in made:
        linecache.cache.pop(name, None)


def test_notebook(names):
    space = {"np": np}
    cell(names[0], "def h(x):\n    return x * x\n\ndef f(x):\n    return h(x) + 1\n", space)
    first = srcdiff.grad(space["f"])
    assert first(3.0) == 6.0
    cell(names[1], "def h(x):\n    return x ** 3\n", space)
    assert first(3.0) == 27.0
    cell(names[2], "def f(x):\n    return 7 * h(x)\n", space)
    assert srcdiff.grad(space["f"])(1.0) == 21.0
    assert first(3.0) == 27.0


def test_cells_that_are_no_module(names):
    """A cell may await something, and a front end may keep its magics in the text."""
    body = "def f(x):\n    return x * x\n"
    for name, first in zip(names, ("await None\n", "%time\n", "return 1\n"), strict=False):
        text, space = first + body, {}
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        exec(compile("\n" + body, name, "exec"), space)
        assert srcdiff.grad(space["f"])(3.0) == 6.0


def test_cell_that_is_run_again(names):
    space = {}
    cell(names[0], "def f(x):\n    return 8 * x\n", space)
    old, before = space["f"], srcdiff.grad(space["f"])
    assert before(1.0) == 8.0
    cell(names[0], "def f(x):\n    return 9 * x\n", space)
    assert srcdiff.grad(space["f"])(1.0) == 9.0
    with pytest.raises(srcdiff.TransformError, match="not at its place") as info:
        srcdiff.grad(old)(X)  # what was generated for numbers stays right
    assert "cell has been run again" in info.value.remedy
    assert before(1.0) == 8.0


def test_function_that_has_moved_in_its_file(tmp_path):
    file = tmp_path / "moved_model.py"
    body = "def f(x):\n    return 8 * x\n"
    file.write_text(body)
    spec = importlib.util.spec_from_file_location("moved_model", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    file.write_text("import math\n\n\ndef g(x):\n    return x\n\n\n" + body)
    assert srcdiff.grad(module.f)(1.0) == 8.0
    file.write_text("import math\n\n\ndef g(x):\n    return x\n\n\n" + body.replace("8", "9"))
    with pytest.raises(srcdiff.TransformError, match="not at its place"):
        srcdiff.grad(module.f)(X)


def test_line_that_has_left_its_block(tmp_path):
    """The same instructions, but for where a jump leads."""
    file = tmp_path / "left_model.py"
    text = "def f(x):\n    y = x\n    if x > 9.0:\n        y = y * x\n        y = y * 3\n"
    text += "    return y\n"
    file.write_text(text)
    spec = importlib.util.spec_from_file_location("left_model", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    file.write_text(text.replace("        y = y * 3", "    y = y * 3"))
    with pytest.raises(srcdiff.TransformError, match="not at its place"):
        srcdiff.grad(module.f)(1.0)


def test_assert_that_pytest_has_rewritten():
    def f(x):
        assert x > 0.0
        return x * x

    assert srcdiff.grad(f)(3.0) == 6.0


def test_lambdas_in_a_cell_that_is_run_again(names):
    space = {}
    cell(names[0], "fs = [lambda x: 2 * x, lambda x: 3 * x]\n", space)
    old = space["fs"]
    assert [srcdiff.grad(f)(1.0) for f in old] == [2.0, 3.0]
    cell(names[0], "fs = [lambda x: 5 * x, lambda x: 2 * x, lambda x: 3 * x]\n", space)
    assert [srcdiff.grad(f)(1.0) for f in (*old, *space["fs"])] == [2.0, 3.0, 5.0, 2.0, 3.0]


def test_part_of_a_text_that_is_compiled_by_itself(names):
    """A part without the import is compiled to other instructions, which do the same."""
    top = "import numpy as np\n\n"
    part = "def f(x):\n    for i in range(2):\n        x = np.sin(x)\n"
    part += "    return x if x > 0.0 else np.exp(-x) * {1.0: x}[1.0]\n"
    text, space = top + part, {"np": np}
    linecache.cache[names[0]] = (len(text), None, text.splitlines(keepends=True), names[0])
    exec(compile("\n\n" + part, names[0], "exec"), space)
    assert srcdiff.grad(space["f"])(1.0) == np.cos(np.sin(1.0)) * np.cos(1.0)
    text = top + part.replace("sin", "cos")
    linecache.cache[names[0]] = (len(text), None, text.splitlines(keepends=True), names[0])
    with pytest.raises(srcdiff.TransformError, match="not at its place"):
        srcdiff.grad(space["f"])(X)


def test_generic_text_adds_up_what_is_picked_twice():
    def joined(c, i):
        return np.concatenate((c, c))[i]

    g = srcdiff.grad(joined)
    c, i, w = np.array([1.0, 2.0, 3.0]), np.array([[0, 0], [1, 3]]), np.ones((2, 2))
    for function in (g, g.generic().function):
        np.testing.assert_array_equal(function(c, i, grad_outputs=w), [3.0, 1.0, 0.0])


def test_modules_that_name_each_other(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    folder = tmp_path / "named_by_parts"
    folder.mkdir()
    texts = {
        "__init__": "from . import first, second\n",
        "first": "import named_by_parts\n\n\ndef outer(x):\n"
        "    return named_by_parts.second.middle(x) * 2.0\n\n\ndef inner(x):\n    return x * x\n",
        "second": "import named_by_parts\n\n\ndef middle(x):\n"
        "    return named_by_parts.first.inner(x) + 1.0\n",
    }
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text)
    module = importlib.import_module("named_by_parts")
    g = srcdiff.grad(module.first.outer)
    assert g(3.0) == 12.0
    monkeypatch.setattr(module.second, "middle", lambda x: x**3)
    assert g(3.0) == 54.0  # another function is seen through both
    text = srcdiff.aot.generate(module.first.outer, example=(3.0,))
    assert "# source named_by_parts.first.outer" in text


FORMATTED = [
    ("f'unknown: {kind}'", "square"), ("f'{kind!r:>10} {kind.upper()} {{x}} {kind=}'", "it's"),
    ("f\'\'\'\"{kind}\" {x[0]:{kind}}\'\'\'", "a\nb"),
    ("f\"{kind}\" f'{kind!s}'", 'say "it\'s" \\'),
    ("f\"{f'{kind}'} {', '.join([kind])}\"", "square"), ("rf'\\n{kind[0]}'", ("one", b"it's")),
    ("f'{kind}'", ""),
]  # fmt: skip


@pytest.mark.parametrize("text, kind", FORMATTED)
def test_texts_in_f_strings(names, text, kind):
    """A helper is given a text by name: before Python 3.12 it stands there in other quotes."""
    helper = f"def helper(x, kind):\n    if kind == {kind!r}:\n        return x * x\n"
    helper += f"    raise ValueError({text})\n\n\n"
    space = {"np": np}
    cell(names[0], f"{helper}def f(x):\n    return np.sum(helper(x, {kind!r}))\n", space)
    g = srcdiff.grad(space["f"])
    np.testing.assert_array_equal(g(X), 2.0 * X)
    shown = {"x": [_Spelled()]}
    renamed = rename_text(text, {"kind": Const(kind)})
    assert eval(renamed, shown) == eval(text, {**shown, "kind": kind})


def test_a_constant_in_an_f_string_is_part_of_its_text():
    new = {"kind": Const("it's"), "n": Const(3)}
    assert rename_text("f'{kind}: {x!r} {n}'", new) == 'f"it\'s: {x!r} 3"'
    assert rename_text("f'{kind} {n}'", new) == '"it\'s 3"'


class _Spelled:
    """A value whose text is the format that it is given."""

    def __format__(self, spec):
        return spec
