"""Generated files: what they hold, and that they need NumPy alone."""

import ast
import functools
import importlib
import os
import pickle
import re
import shutil
import subprocess
import sys
import types
from pathlib import Path

import numpy as np
import pytest

import srcdiff
from srcdiff.aot.files import read_head
from srcdiff.errors import HeadError
from srcdiff.primitives import registry
from srcdiff.primitives.notation import d
from tests.corpus.test_programs import assert_same
from tests.programs import GOLDEN
from tests.support import standalone as models
from tests.support import structures as st
from tests.support.differences import Problem, positional
from tests.support.standalone import root

ROOT = Path(__file__).parents[2]
X = np.array([0.3, 0.5, 0.2, 0.9, 0.4])

ALONE = """
import pickle, sys
sys.path.insert(0, sys.argv[1])
for name in ("srcdiff", "gast", "astunparse", "scipy"):
    try:
        __import__(name)
    except ImportError:
        continue
    raise SystemExit(f"{name} is there")
results = []
for text, names, args, kwargs in pickle.load(open(sys.argv[2], "rb")):
    space = {"__name__": "alone"}
    exec(compile(text, "alone.py", "exec"), space)
    value = args
    for name in names:
        value = space[name](*value, **kwargs[name])
        value = value[1:] if name.endswith("_forward") else value
    results.append(value)
pickle.dump(results, open(sys.argv[3], "wb"))
"""


@pytest.fixture(scope="module")
def run_alone(tmp_path_factory):
    """Runs files in an interpreter that finds NumPy and the standard library, and nothing else."""
    folder = tmp_path_factory.mktemp("alone")
    packages = folder / "packages"
    packages.mkdir()
    site = Path(np.__file__).parent.parent
    for found in (site / "numpy", *site.glob("numpy.libs")):
        (packages / found.name).symlink_to(found)

    def run(jobs):
        (folder / "jobs").write_bytes(pickle.dumps(jobs))
        command = [sys.executable, "-S", "-I", "-c", ALONE]
        command += [str(packages), str(folder / "jobs"), str(folder / "results")]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
        assert done.returncode == 0, done.stderr
        return pickle.loads((folder / "results").read_bytes())

    return run


def test_golden_programs_alone(run_alone):
    jobs, expected = [], []
    for program in GOLDEN:
        problem = Problem(program.function, program.arguments(), program.inputs, program.outputs)
        ct = st.random_like(np.random.default_rng(4), problem.output())
        pos, _ = positional(program.function, problem.arguments())
        options = {"inputs": program.inputs, "outputs": program.outputs}
        text = srcdiff.aot.generate(program.function, example=tuple(pos), **options)
        name = f"{program.function.__name__}_grad"
        jobs.append((text, (name,), pos, {name: {"grad_outputs": ct}}))
        expected.append(srcdiff.grad(program.function, **options)(*pos, grad_outputs=ct))
    for found, value in zip(run_alone(jobs), expected, strict=True):
        assert_same(found, value, 0.0)


def loaded(text, **more):
    """The namespace of a file."""
    space = {"__name__": "alone", **more}
    exec(compile(text, "alone.py", "exec"), space)
    return space


def imports(text):
    """The import statements of a file."""
    nodes = ast.walk(ast.parse(text))
    return {ast.unparse(n) for n in nodes if isinstance(n, (ast.Import, ast.ImportFrom))}


# --- what can be asked for ------------------------------------------------------------------------


def test_kinds_of_files(run_alone):
    """Every mode, against the derivative in memory."""
    args = (X, np.arange(15.0).reshape(5, 3).T @ np.eye(5)[:, :5], np.ones(3))
    g = np.random.default_rng(0).standard_normal
    v = g(5)
    f = models.loss
    cases = [
        ({}, "loss_grad", {}, srcdiff.grad(f)(*args)),
        ({"value": True}, "loss_value_and_grad", {}, srcdiff.value_and_grad(f)(*args)),
        ({"order": 2}, "loss_grad_grad", {"grad_outputs": v}, srcdiff.hvp(f, args, v)),
        ({"mode": "forward"}, "loss_jvp", {"t_w": v}, srcdiff.jvp(f, args, (v, None, None))),
        ({"mode": "forward", "order": 2}, "loss_hvp", {"t_w": v},
         (srcdiff.grad(f)(*args), srcdiff.hvp(f, args, v))),
        ({"name": "slope", "checks": False}, "slope", {}, srcdiff.grad(f)(*args)),
        ({"inputs": ("w", "y")}, "loss_grad", {}, srcdiff.grad(f, ("w", "y"))(*args)),
    ]  # fmt: skip
    jobs = [
        (srcdiff.aot.generate(f, example=args, **options), (name,), args, {name: kwargs})
        for options, name, kwargs, _ in cases
    ]
    text = srcdiff.aot.generate(f, example=args, split=True)
    names = ("loss_grad_forward", "loss_grad_backward")
    jobs.append((text, names, args, dict.fromkeys(names, {})))
    *found, split = run_alone(jobs)
    for value, case in zip(found, cases, strict=True):
        assert_same(value, case[-1], 1e-12)
    assert_same(split, srcdiff.grad(f)(*args), 1e-12)


def quartic(x: float):
    return x**4


def test_methods_and_any_order(run_alone):
    """`Class.method`, whose object may be anything with the attributes, and higher orders."""
    model = types.SimpleNamespace(w=np.array([0.5, 2.0]))
    x = np.array([1.0, 3.0])
    method, options = models.Model.predict, {"inputs": ("self.w", "x"), "checks": False}
    jobs = [(srcdiff.aot.generate(method, example=(models.Model(x), x), **options),
             ("predict_grad",), (model, x), {"predict_grad": {}})]  # fmt: skip
    for order in (1, 2, 3, 4):
        name = "quartic" + order * "_grad"
        jobs.append((srcdiff.aot.generate(quartic, order=order), (name,), (2.0,), {name: {}}))
    (d_w, d_x), *slopes = run_alone(jobs)
    assert np.array_equal(d_w, x) and np.array_equal(d_x, model.w)
    assert slopes == [32.0, 48.0, 48.0, 24.0]


def test_text_without_example():
    text = srcdiff.aot.generate(models.loss, any=True)
    space = loaded(text)
    a = (X, np.ones((3, 5)), np.ones(3))
    np.testing.assert_allclose(space["loss_grad"](*a), srcdiff.grad(models.loss)(*a))
    assert space["__all__"] == ["loss_grad"]
    assert "from __future__ import annotations" in imports(text)


def typed_loss(x: float, n: int):
    return x**n


def test_without_example_or_annotations():
    """A file says of what types its arguments are, unless it is asked for any."""
    with pytest.raises(srcdiff.UnsupportedError, match="types .* `loss` are: `w`, `x`, `y`") as e:
        srcdiff.aot.generate(models.loss)
    assert "--example" in str(e.value) and "--any" in str(e.value)
    assert loaded(srcdiff.aot.generate(typed_loss))["typed_loss_grad"](3.0, 2) == 6.0
    with pytest.raises(srcdiff.UnsupportedError, match="`intensities` are: `zs`, `more`"):
        srcdiff.aot.generate(models.intensities, inputs="zs[0]")
    text = srcdiff.aot.generate(models.loss, any=True)
    assert "def loss_grad(w" in text.replace(": np.ndarray", "")


def test_helpers_are_few():
    """Nothing is copied that is not needed."""
    text = srcdiff.aot.generate(models.total, example=(X,), checks=False)
    assert imports(text) == set()
    functions = [n.name for n in ast.parse(text).body if isinstance(n, ast.FunctionDef)]
    assert functions == ["total_grad"]
    text = srcdiff.aot.generate(models.total, example=(X,))
    functions = [n.name for n in ast.parse(text).body if isinstance(n, ast.FunctionDef)]
    assert functions == ["total_grad", "type_error"]


def test_files_are_short():
    """Those for the heat equation, in one and two dimensions."""
    u = np.ones((8, 8))
    for f, inputs, args in (
        (models.heat, ("u", "alpha"), (X, 0.1, 3)), (models.later, "u0", (u, 0.1, 3)),
    ):  # fmt: skip
        text = srcdiff.aot.generate(f, inputs=inputs, example=args)
        assert text.count("\n") <= 60 and imports(text) == {"import numpy as np"}
        g = loaded(text)[f"{f.__name__}_grad"]
        expected = srcdiff.grad(f, inputs)(*args, grad_outputs=args[0])
        assert_same(g(*args, grad_outputs=args[0]), expected, 0.0)
        for wrong in (None, args[0][1:], args[0] * 1j, 2.0):
            with pytest.raises(TypeError, match="grad_outputs: expected a real array of shape"):
                g(*args, grad_outputs=wrong)


def test_constants_are_written():
    text = srcdiff.aot.generate(models.weighted, example=(X,))
    assert imports(text) == {"import numpy as np"}
    assert "WEIGHTS = np.array([1.0, 2.0, 3.0, 4.0, 5.0])\n" in text
    np.testing.assert_array_equal(loaded(text)["weighted_grad"](X), models.WEIGHTS)


def test_functions_are_imported_or_copied():
    text = srcdiff.aot.generate(models.chosen, example=(X,))
    assert f"from {models.__name__} import order" in imports(text)
    expected = srcdiff.grad(models.chosen)(X)
    np.testing.assert_array_equal(loaded(text)["chosen_grad"](X), expected)
    text = srcdiff.aot.generate(models.chosen, example=(X,), inline=True)
    assert not any("standalone" in line for line in imports(text))
    assert "def order(x):" in text and "def descending(x):" in text
    np.testing.assert_array_equal(loaded(text)["chosen_grad"](X), expected)


def norm(x):
    return models.root(x @ x) + root(x[0])


def test_a_library_is_imported_as_it_is_where_a_module_of_the_users_hands_it_on():
    assert "from tests.support.standalone import root" in srcdiff.aot.generate(norm, example=(X,))
    text = srcdiff.aot.generate(norm, example=(X,), inline=True)
    assert imports(text) == {"import numpy as np", "from numpy import sqrt as root"}
    np.testing.assert_array_equal(loaded(text)["norm_grad"](X), srcdiff.grad(norm)(X))


def test_scipy_is_imported_where_it_is_used():
    pytest.importorskip("scipy", reason="SciPy is an extra")
    text = srcdiff.aot.generate(models.bell(), example=(X,))
    assert "from scipy import special" in imports(text)
    np.testing.assert_allclose(loaded(text)["bell_grad"](X), srcdiff.grad(models.bell())(X))


def test_objects():
    model = models.Model(X)
    text = srcdiff.aot.generate(models.Model.predict, inputs="self.w", example=(model, X))
    np.testing.assert_array_equal(loaded(text)["predict_grad"](model, X), X)
    with pytest.raises(TypeError, match="self: expected an object of .*Model, given one of "):
        loaded(text)["predict_grad"](X, X)


OWN = [
    ("number", "scale", 5.0), ("string", "kind", "square"), ("none", "bias", 3.0),
    ("flagged", "flag", False), ("power", "times", 1), ("method", "curve", models.squares),
    ("nested", "gain.factor", 5.0), ("nested", "gain.apply", models.cubes),
    ("listed", "gains[1].factor", 5.0), ("of_dict", "named['a'].factor", 5.0),
    ("asked", "extra", 1.0),
]  # fmt: skip


@pytest.mark.parametrize("name, path, value", OWN, ids=lambda v: v if isinstance(v, str) else "")
def test_objects_with_attributes_of_their_own(name, path, value):
    """A text reads from the class what the object of the example does not have itself."""
    f, plain, other = getattr(models.Chain, name), models.Chain(), models.Chain()
    outer, _, last = f"self.{path}".rpartition(".")
    setattr(eval(outer, {"self": other}), last, value)

    def made(example):
        return loaded(srcdiff.aot.generate(f, inputs="x", example=(example, X)))[f"{name}_grad"]

    for one, another in ((plain, other), (other, plain)):
        g = made(one)
        np.testing.assert_allclose(g(one, X), srcdiff.grad(f, "x")(one, X), rtol=1e-14)
        where = "the class alone" if one is plain else "the object itself"
        match = rf"self\.{re.escape(path)}: expected an attribute of {where}$"
        with pytest.raises(TypeError, match=f"^{match}"):
            g(another, X)


def test_functions_that_are_passed():
    text = srcdiff.aot.generate(models.of_function, inputs="x", example=(models.squares, X))
    g = loaded(text)["of_function_grad"]
    np.testing.assert_array_equal(g(models.squares, X), 2.0 * X)
    alike = functools.wraps(models.squares)(lambda x: models.cubes(x))
    for wrong in (models.cubes, models.power_of(2.0), alike):
        words = r"^f: expected tests\.support\.standalone\.squares, given"
        with pytest.raises(TypeError, match=words):
            g(wrong, X)


@pytest.mark.parametrize(
    "f",
    [models.power_of(2.0), models.Chain().curve, functools.partial(np.power, 2.0)],
    ids=["closure", "method", "partial"],
)
def test_functions_that_no_module_has(f):
    """Others of the same name hold other values."""
    with pytest.raises(srcdiff.TransformError, match="passed as an argument, and is in no module"):
        srcdiff.aot.generate(models.of_function, inputs="x", example=(f, X))
    text = srcdiff.aot.generate(models.of_function, inputs="x", example=(f, X), checks=False)
    found = loaded(text)["of_function_grad"](f, X)
    assert_same(found, srcdiff.grad(models.of_function, "x")(f, X), 1e-14)


@pytest.mark.parametrize(
    "f, choices",
    [(models.of_laws, models.Law), (models.of_numbers, range(3))],
    ids=["dict", "list"],
)
def test_functions_of_tables_are_themselves(f, choices):
    """A copy of a function is not equal to what the table holds."""
    text = srcdiff.aot.generate(f, inputs="x", example=(X, next(iter(choices))))
    for choice in choices:
        found = loaded(text)[f"{f.__name__}_grad"](X, choice)
        np.testing.assert_allclose(found, srcdiff.grad(f)(X, choice), rtol=1e-14)


def test_any_number_of_objects():
    first, second = models.Chain(), models.Chain()
    text = srcdiff.aot.generate(models.of_several, inputs="x", example=(X, first, second))
    g = loaded(text)["of_several_grad"]
    np.testing.assert_allclose(g(X, first, second, grad_outputs=0.5), 4.0 * X, rtol=1e-15)
    second.scale = 5.0
    with pytest.raises(TypeError, match=r"^chains\[1\]\.scale: expected an attribute of the class"):
        g(X, first, second)


def test_tangents_of_attributes_are_checked():
    model = models.Model(X)
    text = srcdiff.aot.generate(
        models.Model.predict, inputs=("self.w", "x"), mode="forward", example=(model, X)
    )
    assert "`self.w`, `x`." in text
    g = loaded(text)["predict_jvp"]
    assert_same(g(model, X, X, 2.0 * X), (np.sum(X * X), 3.0 * np.sum(X * X)), 1e-12)
    for wrong in (X[:2], X.astype(int)):
        with pytest.raises(TypeError, match="t_w: expected an array of the shape and dtype of "):
            g(model, X, wrong, X)


def test_objects_that_a_function_makes():
    text = srcdiff.aot.generate(models.made, example=(X,))
    ct = models.Pair(X, X + 1.0)
    expected = srcdiff.grad(models.made)(X, grad_outputs=ct)
    np.testing.assert_array_equal(loaded(text)["made_grad"](X, grad_outputs=ct), expected)


def test_containers():
    params = {"layers": [(X, 1.0), (2.0 * X, 0.5)]}
    text = srcdiff.aot.generate(models.network, example=(params,))
    expected = srcdiff.grad(models.network)(params)
    assert_same(loaded(text)["network_grad"](params), expected, 0.0)
    with pytest.raises(TypeError, match='params: expected a dict with the keys "layers"'):
        loaded(text)["network_grad"]({"layer": []})
    with pytest.raises(TypeError, match=r"params\['layers'\]\[1\]\[1\]: .* float or np.float64, "):
        loaded(text)["network_grad"]({"layers": [(X, 1.0), (X, 1)]})


def test_checks_beside_names_that_builtins_have():
    items = [X, 2.0 * X, {"a {b}": X}]
    text = srcdiff.aot.generate(models.hiding, example=(X, items, 3.0, 2.0))
    assert "import builtins" in text
    g = loaded(text)["hiding_grad"]
    assert_same(g(X, items, 3.0), srcdiff.grad(models.hiding)(X, items, 3.0), 0.0)
    wrong = [X, 2.0 * X, {"a {b}": 1.0}]
    with pytest.raises(TypeError, match=r"^list\[2\]\['a \{b\}'\]: expected an array of float64"):
        g(X, wrong, 3.0)


def test_alike_items_are_checked_in_a_loop():
    """Ten layers are as many lines as three."""
    files = []
    for n in (3, 10):
        params = {"layers": [(X, 1.0)] * n}
        files.append(srcdiff.aot.generate(models.network, example=(params,)))
        g = loaded(files[-1])["network_grad"]
        assert_same(g(params), srcdiff.grad(models.network)(params), 0.0)
        for wrong, match in (((X, 1), "[1]: expected float"), ((X,), ": expected a tuple of 2 it")):
            with pytest.raises(TypeError, match=rf"params\['layers'\]\[2\]{re.escape(match)}"):
                g({"layers": [(X, 1.0)] * 2 + [wrong] + [(X, 1.0)] * (n - 3)})
    assert files[0].count("\n") == files[1].count("\n")


def test_memory_mapped_arrays(tmp_path):
    np.save(tmp_path / "x.npy", X)
    x = np.load(tmp_path / "x.npy", mmap_mode="r")
    g = loaded(srcdiff.aot.generate(models.total, example=(X,)))["total_grad"]
    np.testing.assert_array_equal(g(x), 2.0 * X)


# --- what a file refuses --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "args, match",
    [
        ((X.astype(int),), "^x: expected an array of float64 with 1 axis, given ndarray of int64"),
        ((X + 1j,), "an array of float64"),
        ((np.ones((2, 2)),), r"given ndarray of float64, \(2, 2\)"),
        ((1.0,), "given float"),
        ((np.ma.array(X),), "given MaskedArray"),
    ],
)
def test_other_arguments_are_refused(args, match):
    """In memory a derivative is made for them; a file has one."""
    space = loaded(srcdiff.aot.generate(models.total, example=(X,)))
    with pytest.raises(TypeError, match=match):
        space["total_grad"](*args)


def test_cotangents_and_tangents_are_checked():
    space = loaded(srcdiff.aot.generate(models.total, example=(X,)))
    for wrong in (np.ones(2), 2, np.array(1.0), 1j):
        with pytest.raises(TypeError, match="a float"):
            space["total_grad"](X, grad_outputs=wrong)
    space = loaded(srcdiff.aot.generate(models.total, mode="forward", example=(X,)))
    for wrong in (np.ones(2), np.ones(5, int), 1.0):
        with pytest.raises(TypeError, match="t_x: expected an array of the shape and dtype of x"):
            space["total_jvp"](X, wrong)
    space = loaded(srcdiff.aot.generate(models.weighted, any=True))
    for wrong in (np.arange(5), np.ma.array(X), 3, None, [1.0]):
        with pytest.raises(TypeError, match="floating point numbers or arrays"):
            space["weighted_grad"](wrong)


COMPLEX = np.array([1.0 + 2.0j, 0.5 - 1.0j, 3.0, 1.0j, -1.0])
WAYS = [{}, {"split": True}, {"value": True}, {"order": 2}, {"mode": "forward"}]
WAYS += [{"mode": "forward", "order": 2}]


@pytest.mark.parametrize("options", WAYS, ids=str)
def test_complex_arguments_of_a_text_for_real_ones(options):
    """Nothing is conjugated in a text that was made for parameters of which nothing is known."""
    space = loaded(srcdiff.aot.generate(models.intensity, inputs=("z", "x"), any=True, **options))
    g = space[space["__all__"][0]]
    tangents = (X, X) if options.get("mode") else ()
    g(X, X, *tangents, **({"grad_outputs": (X, X)} if options == {"order": 2} else {}))
    for wrong in ((COMPLEX, X), (X, COMPLEX), (1j, X)):
        with pytest.raises(TypeError, match="real floating point .* complex ones give an example"):
            g(*wrong, *tangents)


def test_complex_arguments_of_a_text_that_is_right_for_them():
    for f, example in ((models.turned, None), (models.intensity, (COMPLEX, X))):
        text = srcdiff.aot.generate(f, inputs=("z", "x"), example=example, any=example is None)
        found = loaded(text)[f"{f.__name__}_grad"](COMPLEX, X)
        assert_same(found, srcdiff.grad(f, ("z", "x"))(COMPLEX, X), 1e-15)


def test_any_number_of_arguments():
    text = srcdiff.aot.generate(models.intensities, inputs="zs[0]", any=True)
    g = loaded(text)["intensities_grad"]
    expected = srcdiff.grad(models.intensities, "zs[0]")(X, X + 1.0, x=X)
    np.testing.assert_allclose(g(X, X + 1.0, x=X), expected, rtol=1e-15)
    for args, x in (((X, COMPLEX), X), ((X, X), COMPLEX)):
        with pytest.raises(TypeError, match="for complex ones give an example"):
            g(*args, x=x)
    with pytest.raises(TypeError, match="numbers or arrays"):
        g(X, [X], x=X)


def test_arguments_that_are_no_numbers():
    example = X, np.dtype("float64"), np, "mean", len, None
    text = srcdiff.aot.generate(models.cast, example=example)
    g = loaded(text)["cast_grad"]
    rest = (np.dtype("float64"), np, "mean", len, None)
    assert_same(g(X, *rest), srcdiff.grad(models.cast)(X, *rest), 0.0)
    for k, wrong in enumerate((np.dtype("float32"), np.linalg, 1, sum, 0.0)):
        with pytest.raises(TypeError, match="^(dtype|module|how|count|nothing): expected "):
            g(X, *rest[:k], wrong, *rest[k + 1 :])


def test_tangents_are_not_changed():
    text = srcdiff.aot.generate(
        models.moved, inputs=("u", "v"), outputs="u", mode="forward", example=(X, X + 1.0)
    )
    u, v, t_u, t_v = (X + k for k in range(4))
    value, tangent = loaded(text)["moved_jvp"](u, v, t_u, t_v)
    for k, given in enumerate((u, v, t_u, t_v)):
        np.testing.assert_array_equal(given, X + k)
        assert not np.shares_memory(given, tangent)
    assert value is None or not np.shares_memory(value, tangent)
    expected = srcdiff.jvp(models.moved, (u, v), (t_u, t_v), outputs="u")[1]
    np.testing.assert_array_equal(tangent, expected)


def test_lengths_count_only_where_they_matter():
    """The file for five elements is the one for any number of them, unless something differs."""
    assert ".shape[" not in srcdiff.aot.generate(models.total, example=(X,))
    text = srcdiff.aot.generate(models.inner, example=(X, X[:3]))
    own = "x.shape[0] < 4", "y.shape[0] == 1"
    assert all(f"or {part}" in text for part in own) and text.count(".shape[") == len(own)
    with pytest.raises(TypeError, match="x: expected .* 1 axis of length 4 or more"):
        loaded(text)["inner_grad"](X[:3], X[:1])
    np.testing.assert_allclose(
        srcdiff.grad(models.inner)(X[:3], X[:1]),
        loaded(srcdiff.aot.generate(models.inner, any=True))["inner_grad"](X[:3], X[:1]),
    )


def test_arguments_that_share_memory_are_refused():
    text = srcdiff.aot.generate(models.moved, inputs=("u", "v"), outputs="u", example=(X, X + 1.0))
    g = loaded(text)["moved_grad"]
    x = X.copy()
    found = g(x, X + 1.0, grad_outputs=X)
    assert_same(found, srcdiff.grad(models.moved, ("u", "v"), "u")(X, X + 1.0, grad_outputs=X), 0.0)
    np.testing.assert_array_equal(x, X)
    with pytest.raises(ValueError, match="^u and v share memory: pass a copy"):
        g(x, x[::-1], grad_outputs=X)


def test_memory_that_containers_share():
    table = {"a": X, "b": X + 1.0}
    text = srcdiff.aot.generate(models.stored, inputs="grid", example=(X, X, table))
    g = loaded(text)["stored_grad"]
    x = X.copy()
    assert_same(g(x, X, table), srcdiff.grad(models.stored, "grid")(x, X, table), 0.0)
    for args, name in (((x, x[1:], table), "grid"), ((x, X, {"a": X, "b": x}), r"table\['b'\]")):
        with pytest.raises(ValueError, match=f"^u and {name} share memory: pass a copy$"):
            g(*args)


def test_tangents_may_be_the_arguments():
    text = srcdiff.aot.generate(
        models.moved, inputs=("u", "v"), outputs="u", mode="forward", example=(X, X + 1.0)
    )
    u, v = X.copy(), X + 1.0
    found = loaded(text)["moved_jvp"](u, v, u, v)
    expected = srcdiff.jvp(models.moved, (X, v), (X, v), outputs="u")[1]
    np.testing.assert_array_equal(found[1], expected)
    np.testing.assert_array_equal(u, X)


OUTSIDE = [models.by_ordered, models.by_queue, models.by_cached]


def test_values_of_library_classes_outside():
    """The user's module is not there alone: what it holds is imported."""
    for f in OUTSIDE:
        for example in (None, (X,)):
            space = {"__name__": "not_in_sys_modules"}
            exec(srcdiff.aot.generate(f, example=example, any=example is None), space)
            np.testing.assert_array_equal(space[f"{f.__name__}_grad"](X), srcdiff.grad(f)(X))


def test_numbers_and_arrays_joined_alone(run_alone):
    a, b = np.eye(5) * 2.0 + 0.1, X
    text = srcdiff.aot.generate(models.solved, inputs=("a", "b"), any=True)
    found = run_alone([(text, ("solved_grad",), (a, b), {"solved_grad": {}})])
    assert_same(found[0], srcdiff.grad(models.solved, ("a", "b"))(a, b), 1e-14)


@pytest.mark.parametrize("example", [None, (X,)], ids=["generic", "example"])
def test_copied_functions_have_their_attributes(example, run_alone):
    jobs, expected = [], []
    for f in (models.by_attribute, models.by_decorated):
        name = f"{f.__name__}_grad"
        text = srcdiff.aot.generate(f, inline=True, example=example, any=example is None)
        jobs.append((text, (name,), (X,), {name: {}}))
        expected.append(srcdiff.grad(f)(X))
    assert "scaled.factor = 2.0\nscaled.power = 3\n" in jobs[0][0] and "unread" not in jobs[0][0]
    np.testing.assert_allclose(run_alone(jobs), expected, rtol=1e-15)


def test_attributes_that_cannot_be_written_are_refused():
    with pytest.raises(srcdiff.UnsupportedError, match="`values` is of type ndarray") as caught:
        srcdiff.aot.generate(models.by_weights, inline=True, example=(np.ones(500),))
    assert "standalone.py" in str(caught.value)


def test_what_needs_srcdiff_is_refused():
    with pytest.raises(srcdiff.UnsupportedError, match="known only when the program runs"):
        srcdiff.aot.generate(models.applied, example=(X, "f3"))


def test_values_of_no_module_are_refused():
    big = np.zeros(1000)

    def f(x):
        return np.sum(x * big)

    with pytest.raises(srcdiff.UnsupportedError, match="`big` .* cannot be written") as caught:
        srcdiff.aot.generate(f, example=(big,))
    assert "Make it a parameter" in str(caught.value) and __file__ in str(caught.value)


@pytest.mark.parametrize(
    "options, match",
    [
        ({"mode": "sideways"}, "mode: expected"),
        ({"order": 0}, "order: expected"),
        ({"split": True, "value": True}, "split:"),
        ({"split": True, "mode": "forward"}, "split:"),
        ({"name": "no name"}, "name: expected"),
        ({"verify": True}, "verify: needs an example"),
        ({"example": (X,)}, "any: the example says"),
    ],
)
def test_options_that_make_no_sense(options, match):
    with pytest.raises(ValueError, match=match):
        srcdiff.aot.generate(models.total, any=True, **options)


# --- files ----------------------------------------------------------------------------------------


def test_file_is_written_and_only_over_itself(tmp_path):
    path = tmp_path / "made" / "total_grad.py"
    text = srcdiff.aot.generate(models.total, path, any=True)
    assert path.read_text() == text
    before = path.stat().st_mtime_ns
    srcdiff.aot.generate(models.total, path, any=True)
    assert path.stat().st_mtime_ns == before
    srcdiff.aot.generate(models.total, path, name="other", any=True)
    assert "def other(" in path.read_text()

    path.write_text(path.read_text() + "\n# mine\n")
    with pytest.raises(HeadError, match="has been edited since"):
        srcdiff.aot.generate(models.total, path, any=True)
    assert path.read_text().endswith("# mine\n")
    srcdiff.aot.generate(models.total, path, force=True, any=True)
    assert path.read_text() == text

    for other in ("x = 1\n", "", "# Generated by srcdiff 0.1.0 from a:b. Do not\nx = 1\n"):
        path.write_text(other)
        with pytest.raises(HeadError, match="not written by srcdiff"):
            srcdiff.aot.generate(models.total, path, force=True, any=True)
        assert path.read_text() == other
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(HeadError, match="not written by srcdiff"):
        srcdiff.aot.generate(models.total, path, force=True, any=True)


def test_killed_run_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "total_grad.py"
    text = srcdiff.aot.generate(models.total, path, any=True)

    def killed(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        srcdiff.aot.generate(models.total, path, name="other", any=True)
    assert path.read_text() == text and os.listdir(tmp_path) == ["total_grad.py"]


def test_head_says_what_the_file_was_made_from():
    text = srcdiff.aot.generate(models.chosen, value=True, example="X", inputs=("x",))
    head, whole = read_head(text, "file")
    name = models.__name__
    assert whole and head.target == f"{name}:chosen"
    assert head.options == {"value": True, "example": "X", "inputs": ["x"]}
    assert set(head.sources) == {f"{name}.{n}" for n in ("chosen", "order", "descending")}
    assert set(head.values) == set()
    assert f"srcdiff generate {name}:chosen --inputs x, --value --example X\n" in text
    text = srcdiff.aot.generate(models.weighted, any=True)
    assert f"{name}.WEIGHTS" in read_head(text, "")[0].values
    assert str(ROOT) not in text and not re.search(r"\.py:\d", text)


def test_verify(monkeypatch):
    text = srcdiff.aot.generate(models.total, verify=True, example=(X,))
    assert text == srcdiff.aot.generate(models.total, example=(X,))
    for options in ({"mode": "forward"}, {"order": 2}, {"mode": "forward", "order": 2},
                    {"split": True}, {"value": True}):  # fmt: skip
        srcdiff.aot.generate(models.total, verify=True, example=(X,), **options)

    more = {"inputs": ("u", "v"), "outputs": "u", "example": (X, X + 1.0)}
    for mode in ("forward", "reverse"):
        srcdiff.aot.generate(models.moved, verify=True, mode=mode, **more)

    with pytest.raises(srcdiff.errors.GradcheckError, match="does not agree"):
        srcdiff.aot.generate(models.broken(), verify=True, example=(X,))


# --- the same bytes -------------------------------------------------------------------------------

SAME = """
import sys
import srcdiff
from tests.support import standalone as models
from tests.programs import GOLDEN
for f in (models.loss, models.chosen, models.network, models.moved, models.weighted):
    outputs = "u" if f is models.moved else None
    sys.stdout.write(srcdiff.aot.generate(f, inline=True, outputs=outputs, any=True))
for program in GOLDEN[:6]:
    sys.stdout.write(srcdiff.aot.generate(program.function, inputs=program.inputs, any=True))
"""


@functools.cache
def made_by(python, seed):
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [python, "-c", SAME], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def interpreter(version):
    """An interpreter of a version that has NumPy and gast, or None."""
    beside = Path(sys.executable).parent.parent.parent.glob(f"*{version}.*/bin/python")
    places = [str(ROOT / f".venv-{version}" / "bin" / "python"), f"python{version}"]
    places += map(str, sorted(beside))
    wanted = tuple(map(int, version.split(".")))
    code = f"import sys, numpy, gast, astunparse; assert sys.version_info[:2] == {wanted}"
    for place in places:
        if shutil.which(place) is not None:
            done = subprocess.run([place, "-c", code], capture_output=True, check=False)
            if done.returncode == 0:
                return place
    return None


def test_modules_of_python_that_are_loaded():
    """`array` is a module of Python's, too: `np.array` has nothing to do with it."""
    importlib.import_module("array")
    assert "array.array" not in srcdiff.aot.generate(models.stacked)


def test_hash_seeds():
    assert made_by(sys.executable, "0") == made_by(sys.executable, "1")


@pytest.mark.parametrize("version", ["3.10", "3.13"])
def test_python_versions(version):
    python = interpreter(version)
    if python is None:
        pytest.skip(f"no Python {version} with NumPy and gast here")
    assert made_by(python, "0") == made_by(sys.executable, "0")


def test_text_is_tidy():
    for f in (models.loss, models.chosen, models.network, models.weighted):
        text = srcdiff.aot.generate(f, inline=True, any=True)
        for line in text.splitlines():
            assert len(line) <= 100 and line == line.rstrip(), line
        assert "\n\n\n\n" not in text and text.endswith(")\n")
        assert "Any" not in text and "noqa" not in text


def ruled(x):
    return 3.0 * np.asarray(x)


def unruled(x):
    return np.sum(x * x)


TABLE = {"ruled": ruled}


def tabled(x):
    return np.sum(TABLE["ruled"](x))


def rules_line(f):
    return re.search(r"^# rules (\w+)$", srcdiff.aot.generate(f, any=True), re.M)[1]


def test_rules_of_the_user_count_where_they_may_be_used(monkeypatch):
    """Which other modules are loaded, with their rules, makes no difference to a file."""
    before = rules_line(unruled), rules_line(tabled)
    monkeypatch.setattr(registry, "_user", registry._user)

    @srcdiff.rules.rule(ruled)
    def _ruled(x):
        z = ruled(x)
        yield z
        d[x] += d[z] * 3.0

    try:
        assert rules_line(unruled) == before[0] and rules_line(tabled) != before[1]
    finally:
        monkeypatch.undo()
        registry._so_far.cache_clear()
