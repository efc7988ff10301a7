"""The registry: what is found by what, how calls are bound, what is refused."""

import builtins
import doctest
import math
import operator
import os
import shutil
import subprocess
import symtable
import sys
from pathlib import Path

import numpy as np
import pytest

import srcdiff
from srcdiff import rules
from srcdiff.errors import MissingRuleError
from srcdiff.frontend.lowering import differentiable, lower, mentioned, template_of
from srcdiff.frontend.source.parse import parse
from srcdiff.ir import NONE, Attr, Call, Const, Loc, Method, Name, Ref, Star, Tup
from srcdiff.ir.kinds import Array, List, Scalar
from srcdiff.primitives import notation, registry
from srcdiff.primitives.notation import d
from srcdiff.runtime import linalg
from tests.support.differences import define

HERE = Loc("model.py", 3, 5)
X, Y = Name("x"), Name("y")


def bound(fn, *args, kinds=None, **kwargs):
    """The arguments of a call by parameter."""
    return registry.find(Call(fn, args, tuple(kwargs.items())), kinds or {}, HERE).args


def test_functions_operators_methods_and_attributes_share_rules():
    assert registry.find(np.sum) is registry.find(Method("sum"))
    assert registry.find(np.multiply) is registry.find(operator.mul)
    assert registry.find(np.sin) is registry.find(math.sin)
    assert registry.find(np.real) is registry.find(Attr("real"))
    assert registry.find(np.add.at).name == "add_at"
    assert registry.find(abs).name == "absolute"
    assert registry.find(np.tanh) is registry.find(math.tanh)


def test_unknown_and_unhashable_functions_have_no_rule():
    class Callable:
        __hash__ = None

        def __call__(self):
            return 1

    assert registry.find(Callable()) is None
    assert registry.find(print).flavour == "nondifferentiable"
    assert registry.find(lambda x: x) is None


def test_defaults_are_filled_in():
    assert bound(np.sum, X) == {"a": X, "axis": NONE, "keepdims": Const(False)}
    assert bound(np.sum, X, axis=Const(1))["axis"] == Const(1)


def test_methods_take_the_receiver_first_and_gather():
    two, three = Const(2), Const(3)
    assert bound(Method("reshape"), X, two, three)["shape"] == Tup((two, three))
    assert bound(Method("reshape"), X, Const(-1))["shape"] == Const(-1)
    assert bound(Method("transpose"), X)["axes"] == NONE
    assert bound(np.reshape, X, Tup((two, three)))["shape"] == Tup((two, three))


def test_variable_positional_arguments():
    args = bound(np.einsum, Const("i,i"), X, Y)
    assert args["operands"] == Tup((X, Y))


def test_neutral_keywords_are_ignored():
    bound(np.add, X, Y, out=NONE, where=Const(True), dtype=NONE)
    assert bound(np.clip, X, min=Const(0.0))["a_min"] == Const(0.0)


@pytest.mark.parametrize(
    "call, reason",
    [
        (Call(np.add, (X, Y), (("out", X),)), "does not cover the argument `out`"),
        (Call(np.add, (X, Y), (("where", X),)), "does not cover the argument `where`"),
        (Call(np.add, (X, Y, X)), "more than 2 positional arguments"),
        (Call(Method("view"), (X, Y)), "does not cover positional arguments"),
        (Call(Method("clip"), (X, Y, Y, Y)), "more than 2 positional arguments"),
        (Call(np.add, (X,)), "a call without `y`"),
        (Call(np.add, (Star(X),)), "`*` and `**` arguments"),
        (Call(np.histogramdd, (X,)), "`histogramdd` is not differentiated"),
        (Call(Method("resize"), (X,)), "the method `resize` is not differentiated"),
        (Call(Attr("nothing"), (X,)), "the attribute `nothing` has no rule"),
    ],
)
def test_refusals_are_located(call, reason):
    with pytest.raises(MissingRuleError) as caught:
        registry.find(call, {}, HERE)
    assert reason in caught.value.reason
    assert caught.value.loc == HERE
    assert "@srcdiff.rules.rule" in caught.value.remedy
    assert ("`out=x`" in caught.value.remedy) is ("`out`" in reason)


def test_an_argument_that_a_rule_forgets_is_refused_where_it_matters():
    """Also where it depends on the input by a name of its own, which nothing else reads."""

    def f(x, s):
        order = 2.0 * s
        return np.linalg.norm(x, order) * s

    with pytest.raises(MissingRuleError, match="no derivative for the argument `ord`"):
        srcdiff.grad(f, "s")(np.ones(3), 1.5)


def test_methods_of_containers_are_not_those_of_arrays():
    kinds = {"x": List(Scalar("float64"))}
    with pytest.raises(MissingRuleError):
        registry.find(Call(Method("copy"), (X,)), kinds, HERE)
    assert registry.find(Call(Method("copy"), (X,)), {"x": Array("float64", None)}, HERE)


def test_every_parameter_of_a_template_has_an_adjoint_or_is_no_number():
    for rule in registry.registry().rules:
        if rule.template is not None:
            assert mentioned(rule), rule.name


def test_zero_on_purpose_is_not_differentiable():
    assert differentiable(registry.find(np.copysign)) == {"x"}
    assert differentiable(registry.find(np.arange)) == {"start", "step"}
    assert differentiable(registry.find(np.argmax)) == frozenset()


def test_templates_are_loaded_once_and_lowered_one_at_a_time():
    assert registry.registry() is registry.registry()
    assert template_of(registry.find(np.sinh)) is template_of(registry.find(np.sinh))


def test_the_index_leads_to_every_rule():
    entries = registry._entries()
    assert [name for name, *_ in entries] == [f.name for f in registry.files_of(registry.folder())]
    for name, size, *names in entries:
        file = registry.folder() / name
        assert int(size) == file.stat().st_size, "run `python -m tests.documents`"
        made = {registry.place_of(f) for r in registry.read_file(file) for f in r.functions}
        assert made <= set(names), "run `python -m tests.documents`"


def test_a_file_that_has_changed_is_not_looked_up_in_the_index(monkeypatch, tmp_path):
    shutil.copytree(registry.folder(), tmp_path / "templates")
    with (tmp_path / "templates" / "norms.py").open("a") as file:
        file.write("# changed\n")
    monkeypatch.setattr(registry, "folder", lambda: tmp_path / "templates")
    assert registry._index.__wrapped__() is None


def test_a_template_needs_functions_and_lines():
    with pytest.raises(TypeError, match="with the functions"):
        registry.rule()
    for decorator in (registry.rule, registry.elementwise, registry.linear, registry.forward):
        with pytest.raises(TypeError, match=r"write @\w+\(f\), with the functions"):

            @decorator
            def template(x):
                d[x] += d[registry]

    with pytest.raises(TypeError, match="written with `def`"):
        registry.rule(np.sin)(lambda x: x)


def test_a_decorator_without_its_function_says_so_where_it_is_called():
    @rules.rule
    def scaled(x):
        return 2.0 * x

    with pytest.raises(TypeError, match=r"@rule\(scaled\) .* given float: nothing stands above"):
        scaled(1.0)


def test_rules_of_a_family_have_the_names_of_their_functions():
    found = (np.fft.ifft, np.add.accumulate, np.maximum.at, np.ndarray.flatten, np.minimum)
    names = [registry.lookup(f).name for f in found]
    assert names == ["ifft", "add_accumulate", "maximum_at", "flatten", "minimum"]
    assert registry.given(np.fft.fftn)["s"].name == "fftn_s"


def test_a_function_that_is_inlined_is_its_own_definition():
    assert registry.lookup(linalg.gaps).definition is linalg.gaps


def test_a_scalar_rule_needs_functions_and_a_lambda():
    def slope(x, z):
        return z

    with pytest.raises(TypeError, match="needs the functions"):
        registry.scalar_rule(slope=lambda x, z: z)
    with pytest.raises(TypeError, match="is a lambda"):
        registry.scalar_rule(np.exp, slope=slope)


SCALAR = """
def f(x, y):
    return x * y


def g(x, y):
    return x / y


made = ({declared})


def both(x, y):
    return f(x, y) + g(x, y)
"""
ONE = "srcdiff.rules.scalar_rule(f, slope=lambda x, y, z: (y, x))"
OTHER = "srcdiff.rules.scalar_rule(g, slope=lambda x, y, z: (1.0 / y, -z / y))"


@pytest.mark.parametrize("between", [", ", ",\n    "])
@pytest.mark.parametrize("rules", [(ONE, OTHER), (OTHER, ONE)])
def test_the_slopes_of_rules_on_one_line_are_told_apart(own_rules, rules, between):
    f = define(SCALAR.format(declared=between.join(rules)), "both", {"srcdiff": srcdiff})
    assert srcdiff.grad(f, (0, 1))(3.0, 4.0) == (4.25, 3.0 - 3.0 / 16.0)
    assert srcdiff.jvp(f, (3.0, 4.0), (1.0, 1.0)) == (12.75, 7.0625)


SLOPES = {
    "1.0": [],
    "-1.0": ["neg"],
    "w": ["conj", "mul"],
    "-w": ["neg", "conj", "mul"],
    "2.0 * w": ["mul", "conj", "mul"],
    "-w / x": ["neg", "conj", "mul", "conj", "truediv"],
    "1.0 / (x * x)": ["mul", "conj", "truediv"],
    "conj(w) * x": ["conj", "mul", "mul"],
    "x - w": ["sub", "conj", "mul"],
    "1 / x": ["conj", "truediv"],
}


@pytest.mark.parametrize("slope", SLOPES)
def test_where_the_adjoint_stands_in_a_slope(own_rules, slope):
    """In place of the leftmost factor: no multiplication by one, no conjugate twice."""
    text = f"def f(x):\n    return x\n\n\nmade = scalar_rule(f, slope=lambda x, w: {slope})\n"
    known = {"scalar_rule": registry.scalar_rule, "conj": notation.conj}
    template = template_of(define(text, "made", known))
    *steps, last = template.below
    assert [s.rhs.fn.__name__ for s in steps] == SLOPES[slope]
    assert last.like == X and template.result == Name("w")
    value = steps[-1].target if steps else Name("d[w]")
    assert last.value == value


def test_an_operand_without_a_slope_is_refused_where_it_is_active():
    polygamma = registry.find(srcdiff.runtime.linalg.polygamma)
    assert mentioned(polygamma) == differentiable(polygamma) == {"x"}
    assert mentioned(registry.find(np.heaviside)) == {"x1", "x2"}
    assert differentiable(registry.find(np.heaviside)) == {"x2"}


def test_d_means_nothing_when_run():
    with pytest.raises(TypeError, match="has a meaning only in the source of a template"):
        notation.d[1]


@pytest.fixture
def own_rules():
    """Rules declared by a test are forgotten after it."""
    saved = registry._user
    yield
    registry._user = saved
    registry._so_far.cache_clear()


def test_a_user_rule_lies_above_the_others(own_rules):
    before = registry.registry()

    @registry.rule(np.sinh)
    def mine(x):
        z = np.sinh(x)
        yield z
        d[x] += d[z]  # noqa: F821

    assert registry.find(np.sinh) is mine
    assert before.find(np.sinh) is not mine


def test_rules_with_a_tangent_are_the_projects_own_too():
    assert all(map(registry.is_builtin, registry.builtin().by_key.values()))


def test_load_rules_reads_a_file_and_a_folder(own_rules, tmp_path):
    text = (
        "import numpy as np\nfrom srcdiff.rules import d, rule\n\n"
        "@rule(np.i0)\ndef i0(x):\n    z = np.i0(x)\n    yield z\n    d[x] += d[z]\n"
    )
    (tmp_path / "mine.py").write_text(text)
    assert [r.name for r in registry.load_rules(tmp_path)] == ["i0"]
    assert registry.find(np.i0).name == "i0"


@pytest.mark.parametrize("slope", [2.0, 3.0])
def test_files_of_a_folder_share_functions(own_rules, tmp_path, slope):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "_steps.py").write_text(f"def scaled(x):\n    return {slope} * x\n")
    (tmp_path / "mine" / "bessel.py").write_text(
        "import numpy as np\nfrom srcdiff.rules import composed\nfrom ._steps import scaled\n\n"
        "@composed(np.i0)\ndef i0(x):\n    return scaled(x)\n"
    )
    assert [r.name for r in srcdiff.rules.load_rules(tmp_path / "mine")] == ["i0"]
    assert srcdiff.grad(lambda x: np.i0(x))(0.5) == slope


FAMILY = """
import operator

import numpy as np
from srcdiff.rules import composed, d, rule


def extreme(of, wins, start):
    @rule(of.at, mutates="a")
    def at(a, indices, b):
        of.at(a, indices, b)
        yield
        d[a] += start * of(d[a], 1.5) * wins(a, b)
        d[b] += 0.0

    @composed(of.reduce, given="initial")
    def reduce(array, axis=0, dtype=None, out=None, keepdims=False, initial=start):
        return of(start, of(array[0], initial))


extreme(np.maximum, operator.gt, 2.5)
extreme(np.minimum, operator.lt, 3.5)
"""


def test_a_function_of_a_file_makes_the_rules_of_a_family(own_rules, tmp_path):
    """What it makes a rule for stands in it: numbers as literals, functions by usual names."""
    (tmp_path / "family.py").write_text(FAMILY)
    srcdiff.rules.load_rules(tmp_path / "family.py")
    for of, wins, start in ((np.maximum, operator.gt, 2.5), (np.minimum, operator.lt, 3.5)):
        calls = [s.rhs for s in template_of(registry.find(of.at)).below if hasattr(s, "rhs")]
        assert [c.fn for c in calls[:2]] == [of, operator.mul] and calls[2].fn is wins
        assert calls[1].args[0] == Const(start)
        assert [c.text for c in calls[:3]] == [None] * 3
        made = lower(parse(registry.given(of.reduce)["initial"].definition))
        assert made.params[-1].default == Const(start)


DECLARED = """
import numpy as np
from srcdiff.rules import composed, d, linear, made_of, z
from tests.primitives import test_registry as functions


@linear(functions.like, constant="x")
def like(g, x):
    d[g] += d[z]


made_of(functions.cube, getattr(functions, "of_later_versions", None), value=lambda x: x * x * x)


@composed(functions.total)
def total(x, **options):
    return np.sum(x, **options)
"""


def like(g, x):
    return g + 0.0 * x


def cube(x):
    return x**3


def total(x, axis=None, keepdims=False):
    return np.sum(x, axis, keepdims=keepdims)


def test_what_is_declared_beside_templates(own_rules, tmp_path):
    """Arguments without a derivative, definitions of one expression, options that are passed on."""
    (tmp_path / "declared.py").write_text(DECLARED)
    srcdiff.rules.load_rules(tmp_path / "declared.py")
    x = np.array([[1.0, 2.0], [3.0, 4.0]])
    found = srcdiff.grad(lambda g, x: np.sum(like(g, x * x)), inputs=("g", "x"))(x.copy(), x)
    np.testing.assert_array_equal(found, [np.ones((2, 2)), np.zeros((2, 2))])
    assert registry.find(cube).name == "cube" and srcdiff.grad(lambda x: cube(x))(2.0) == 12.0
    rows = srcdiff.grad(lambda x: np.sum(total(x, axis=1, keepdims=True) * x))(x)
    np.testing.assert_array_equal(rows, 2.0 * np.sum(x, axis=1, keepdims=True) + 0.0 * x)
    with pytest.raises(MissingRuleError, match="positional"):
        srcdiff.grad(lambda x: np.sum(total(x, 1)))(x)


def test_ref_arguments_are_kept():
    dtype = Ref("np.float32", np.float32)
    assert bound(Method("astype"), X, dtype)["dtype"] == dtype


def test_readme_examples(own_rules):
    path = Path(registry.folder()) / "README.md"
    result = doctest.testfile(str(path), module_relative=False)
    assert result.attempted and not result.failed


PROGRAM = """
import sys
import numpy as np
import srcdiff

def f(x):
    return np.sin(x) * np.exp(x)

def g(x):
    return special.gammaln(np.sin(x))

srcdiff.grad(f)(1.0)
print(*[m for m in sys.modules if m.startswith("scipy")])
from scipy import special
srcdiff.rules.find(np.sin)
print(*[m for m in sys.modules if m.startswith("srcdiff_templates.special")])
print(srcdiff.source(g))
"""


def test_rules_of_packages_are_read_when_the_program_uses_them(tmp_path):
    pytest.importorskip("scipy.special", reason="SciPy is an extra")
    (tmp_path / "model.py").write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "model.py"], cwd=tmp_path, capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )  # fmt: skip
    imported, read, source = done.stdout.split("\n", 2)
    assert imported == read == ""
    assert "special.psi(" in source and "scipy.special" not in source


STEEP = """
def steep(x, k):
    return np.where(x > 0.0, x * k, x) if k > 1.0 else np.zeros_like(x)


@srcdiff.rules.elementwise(steep)
def steep_rule(x, k):
    z = steep(x, k)
    yield z
    if k > 1.0:
        d[x] += d[z] * np.where(x > 0.0, k, 1.0)
        d[k] += d[z] * np.where(x > 0.0, x, 0.0)


def f(x, k):
    return steep(x, k) + x
"""


@pytest.mark.parametrize("k", [0.5, 2.0])
def test_a_tangent_of_a_rule_that_is_decided_when_it_runs(k):
    """In the branch that adds nothing it is zero."""
    f = define(STEEP, "f", {"np": np, "srcdiff": srcdiff})
    x, h = np.array([0.5, -1.0, 2.0]), 1e-6
    _, tangent = srcdiff.jvp(f, (x, k), (np.ones(3), 1.0))
    slope = (f(x + h, k + h) - f(x - h, k - h)) / (2.0 * h)
    np.testing.assert_allclose(tangent, slope, rtol=1e-8)


SUMS = """
def mixed(a, b, c):
    return np.where(a > 0.0, a * b, c) - c * c + b


@srcdiff.rules.rule(mixed)
def mixed_rule(a, b, c):
    z = mixed(a, b, c)
    yield z
    d[a] += np.where(a > 0.0, b, 0.0) * d[z]
    d[b] += np.where(a > 0.0, a, 0.0) * d[z] + d[z]
    d[c] += np.where(a > 0.0, 0.0, d[z]) - 2.0 * c * d[z]


@srcdiff.rules.forward(mixed)
def mixed_tangent(a, b, c):
    z = mixed(a, b, c)
    yield z
    product, square = d[a] * b + a * d[b], 2.0 * c * d[c]
    d[z] += np.where(a > 0.0, product, d[c]) - square + d[b]


def f(a, b, c):
    return mixed(a * 2.0, b + 1.0, c * c)
"""


def test_a_tangent_that_adds_what_has_none():
    """A term of a sum vanishes alone, whichever it is."""
    f = define(SUMS, "f", {"np": np, "srcdiff": srcdiff})
    args = tuple(map(np.array, ([0.5, -1.0], [0.7, 0.2], [1.1, -0.4])))
    backward = srcdiff.grad(f, (0, 1, 2))(*args, grad_outputs=np.ones(2))
    for moved in range(1, 8):
        way = tuple(np.ones(2) if moved >> k & 1 else None for k in range(3))
        _, tangent = srcdiff.jvp(f, args, way)
        expected = sum(g for g, t in zip(backward, way, strict=True) if t is not None)
        np.testing.assert_allclose(tangent, expected, rtol=1e-14)


# --- the files of templates ----------------------------------------------------------------------


def undefined(path):
    """The names in the functions of a file that nothing defines."""
    table = symtable.symtable(path.read_text(), str(path), "exec")
    symbols = table.get_symbols()
    known = {s.get_name() for s in symbols if s.is_assigned() or s.is_imported()}
    known |= {*rules.__all__, *dir(builtins)}
    tables, found = [*table.get_children()], set()
    while tables:
        table = tables.pop()
        tables += table.get_children()
        found |= {s.get_name() for s in table.get_symbols() if s.is_global()}
    return found - known


@pytest.mark.parametrize(
    "path", sorted(registry.folder().rglob("*.py")), ids=lambda p: p.stem
)
def test_every_name_in_a_template_means_something(path):
    assert undefined(path) == set()


def test_an_undefined_name_is_found(tmp_path):
    path = tmp_path / "rules.py"
    path.write_text("from srcdiff.rules import *\n\ndef f(x):\n    d[x] += gone(z)\n")
    assert undefined(path) == {"gone"}
