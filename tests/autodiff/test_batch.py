"""The backward pass for a batch of cotangents: the numbers of one by one, in one run."""

import collections
import operator
import zlib

import numpy as np
import pytest

import srcdiff
from srcdiff import ir
from srcdiff.api import matrices
from srcdiff.api.batch import batched
from srcdiff.api.point import Point
from srcdiff.autodiff.batch import forms
from srcdiff.driver import pullback
from srcdiff.driver.executable import CANNOT
from srcdiff.driver.options import Options
from srcdiff.driver.structures import leaves, with_leaves
from srcdiff.ir.interpreter import Interpreter
from srcdiff.ir.kinds import Array
from srcdiff.kinds.lattice import kind_of
from srcdiff.primitives.arguments import as_atom
from srcdiff.primitives.operation import _FACTS, Meaning, op_of
from srcdiff.primitives.registry import Given, Store
from srcdiff.runtime import arrays, linalg, trees
from srcdiff.runtime import batched as runtime_batched
from tests.programs import PROGRAMS
from tests.rules.samples import collected
from tests.support import structures as st
from tests.support.differences import define

SAMPLE = [p for p in PROGRAMS if zlib.crc32(p.name.encode()) % 37 == 0]
RNG = np.random.default_rng(7)
A, B3, V, W = RNG.random((3, 3)) + 0.5, RNG.random((2, 3, 4)), RNG.random(3), RNG.random(3) + 1.0
I = np.array([0, 2, 0])  # noqa: E741
ARGS = (V + 0.1, W)


def pulled(f, args, inputs=0, outputs=None):
    """The output of a run, its pullback, and the inputs."""
    point = Point(f, Options(inputs, outputs), args, {})
    value, pull = point.pullback()
    return point.output(value), pull, point.inputs


def assert_same_as_one_by_one(f, args, inputs=0, outputs=None, size=3):
    """A batch gives what its cotangents give one by one; whether they went in one run."""
    output, pull, at = pulled(f, args, inputs, outputs)
    rng = np.random.default_rng(5)
    many = [dict(leaves(st.random_like(rng, output))) for _ in range(size)]
    together = with_leaves(output, {p: np.stack([m[p] for m in many]) for p in many[0]})
    rows = [pull(runtime_batched.taken(together, k)) for k in range(size)]
    expected = dict(leaves(runtime_batched.stacked(rows)))
    found = dict(leaves(batched(pull, together, output, at)))
    assert set(found) == set(expected)
    for path, row in expected.items():
        assert found[path].dtype == row.dtype and found[path].shape == row.shape
        tol = 1e-12 if row.dtype in (np.float64, np.complex128) else 1e-5
        scale = max(1.0, np.max(np.abs(row), initial=0.0))
        np.testing.assert_allclose(found[path] / scale, row / scale, rtol=tol, atol=tol)
    return pull.many_source is not None


@pytest.mark.parametrize("program", SAMPLE, ids=[p.name for p in SAMPLE])
def test_corpus(program):
    assert_same_as_one_by_one(
        program.function, program.arguments(), program.inputs, program.outputs
    )


# --- every form ----------------------------------------------------------------------------------


def loop_of_numbers(x, y):
    total, out = 0.0, np.zeros(3)
    for i in range(3):
        total = total + x[i] * y[2 - i]
        out[i] = total * x[i]
    return out * total


def views_written(x, y):
    z = np.zeros((3, 3))
    z[0] = x
    row = z[1]
    row[:] = y
    row[0] *= x[1]
    z.T[2] += x * y
    z[1, 1] = z[0, 0] * 2.0
    return z


def element_kept(x, y):
    z = x * 2.0
    first = z[0]
    z[0] = first * y[0]
    return z * first


def chosen_buffer(x, y):
    a, b = x * 1.0, y * 1.0
    c = a if x[0] > 0.5 else b
    c[1:] += b[:-1]
    return a * b * c


def lists(x, y):
    parts = []
    for k in range(3):
        parts.append(x * y[k])
    parts[1] = parts[0] * parts[2]
    return parts[1] + np.array([p[0] for p in parts])


def repeated_indices(x, y):
    z = x[I] * y
    out = np.zeros(4)
    np.add.at(out, I, z)
    out[I] += y
    return out


def apart(x, y):
    z = np.multiply.outer(np.outer(x, y), y)
    return z[I, :, I] * x


def whole_or_part(x, y):
    s = 0.0
    for k in range(2):
        s = s * y + x[k]
    return s


FORMS = {
    "broadcast": lambda x, y: x[:, None] * y + np.sum(x),
    "number": lambda x, y: np.sum(x) * y * x[0],
    "ranks": lambda x, y: np.sum(A * x, axis=1) + np.mean(B3 * y[:, None], axis=(0, 2)),
    "negative": lambda x, y: np.sum(A * x, axis=-1, keepdims=True) * y,
    "spread": lambda x, y: np.max(A * x) * y + np.max(A * y, axis=0) * x,
    "keepdims": lambda x, y: x / np.sum(x, keepdims=True) * y,
    "vectors": lambda x, y: (A @ x) * (y @ A) * (x @ y),
    "matrices": lambda x, y: (A * x) @ (A.T * y),
    "stacks": lambda x, y: np.swapaxes(B3, 1, 2) @ (A * x) @ y,
    "higher": lambda x, y: (B3 * x[:, None]).transpose(2, 0, 1) @ y,
    "dot": lambda x, y: np.dot(A * x, y) + np.dot(x, A),
    "outer": lambda x, y: np.outer(x, y) * np.outer(y, W),
    "einsum": lambda x, y: np.einsum("ij,j,k->ik", A, x, y),
    "dots": lambda x, y: np.einsum("...j,j->...", A * x, y),
    "solve": lambda x, y: np.linalg.solve(A * y + 3.0 * np.eye(3), x),
    "inverse": lambda x, y: np.linalg.inv(A * y + 3.0 * np.eye(3)) * x,
    "eigh": lambda x, y: np.linalg.eigh(np.outer(x, x) + np.diag(y))[0],
    "cholesky": lambda x, y: np.linalg.cholesky(np.outer(x, x) + np.diag(y + 1.0)),
    "svd": lambda x, y: np.linalg.svd(A * x + np.diag(y), compute_uv=False),
    "transposed": lambda x, y: (A * x).T + np.transpose(B3 * y[:, None], (2, 0, 1))[0, 0],
    "moved": lambda x, y: np.moveaxis(B3 * x[:, None], 0, -1) * np.swapaxes(A * y, 0, 1)[0, 0],
    "reshaped": lambda x, y: np.reshape(A * x, (9,)) * np.ravel(A * y) + (A * x).reshape(-1),
    "expanded": lambda x, y: np.expand_dims(x, 0) * np.expand_dims(y, -1),
    "squeezed": lambda x, y: np.squeeze(x[None, :, None], axis=(0, 2)) * y,
    "joined": lambda x, y: np.concatenate((x, np.ones(2), y * x)) * np.stack((x, y))[0, 1],
    "columns": lambda x, y: np.concatenate((A * x, A), axis=1).T * y[0],
    "flipped": lambda x, y: np.flip(A * x) + np.flip(A * y, 1) + np.flipud(x * A),
    "rolled": lambda x, y: np.roll(x, 1) * y + np.roll(A * x, 1, axis=0)[1],
    "running": lambda x, y: np.cumsum(x) * y + np.cumsum(A * y, axis=0)[2],
    "triangles": lambda x, y: np.tril(A * x) + np.triu(A * y, 1) + np.diag(x * y),
    "diagonals": lambda x, y: np.diagonal(A * x) * y + np.trace(A * y),
    "sorted": lambda x, y: np.sort(x * y) + np.sort(A * x, axis=0)[1],
    "differences": lambda x, y: np.diff(A * x, axis=0) * np.diff(A * y, axis=1)[0, 0],
    "selected": lambda x, y: np.where(x > 0.6, x * y, A) + np.maximum(x, y),
    "parts": lambda x, y: x[1:] * y[:-1] + (A * x)[..., 1][1:] + (A * x)[1:, 0] * x[0],
    "masked": lambda x, y: (A * x)[A > 1.0] * y[0] + x[x > -1.0][0],
    "paired": lambda x, y: (A * x)[I, I] * y + (A * y)[I][0],
    "products": lambda x, y: np.prod(A * x, axis=0) * y * np.prod(x),
    "fft": lambda x, y: np.real(np.fft.fft(x * y)) + np.abs(np.fft.rfft(A * x, axis=0)[0]),
    "norms": lambda x, y: np.linalg.norm(A * x, axis=1) * np.std(x * y),
    "complex": lambda x, y: np.abs((x + 1j * y) ** 2 * np.exp(1j * x)),
    "tuple": lambda x, y: (x * y, np.sum(x), {"a": A @ x, "n": 3}),
    "casts": lambda x, y: (x.astype(np.float32) * y.astype(np.float32)).astype(float),
    "repeats": lambda x, y: np.repeat(x, 2) * np.tile(y, 2),
    "padded": lambda x, y: np.pad(x * y, (1, 2)) * np.kron(x, y)[0],
    "convolved": lambda x, y: np.convolve(x, y) + np.interp(0.3, V.cumsum(), x),
    "tensordot": lambda x, y: np.tensordot(B3 * x[:, None], A * y, ((1,), (0,))),
    "items": lambda x, y: np.ascontiguousarray(np.sum(x))[0] * y,
    "stacked products": lambda x, y: (B3[:, :, :3] * x) @ (A * y) + A @ (B3[:, :, :3] * y),
    "powers": lambda x, y: x**y + np.linalg.matrix_power(A * x, 3)[0],
    **{f.__name__: f for f in (loop_of_numbers, views_written, element_kept, chosen_buffer)},
    **{f.__name__: f for f in (lists, repeated_indices, apart, whole_or_part)},
}



@pytest.mark.parametrize("name", FORMS)
def test_forms(name):
    for size in (2, 3):
        assert assert_same_as_one_by_one(FORMS[name], ARGS, ("x", "y"), size=size)


LAWS = collections.OrderedDict(
    both=lambda x, y: x * x * y, one=np.sin, pair=lambda x, y: (x * y, [np.sum(x), y])
)


@pytest.mark.parametrize(
    "f",
    [
        lambda x, y: LAWS["both"](x, y),
        lambda x, y: LAWS["one"](x) * y,
        lambda x, y: LAWS["pair"](x, y)[0] * LAWS["pair"](x * y, y)[1][0],
    ],
)
def test_callees_that_only_the_running_program_knows(f):
    """Their gradients are tuples of batches, whatever the size of a batch is."""
    for size in (1, 2, 3):
        assert_same_as_one_by_one(f, ARGS, ("x", "y"), size=size)
    assert_same_as_one_by_one(f, ARGS, "x", size=2)


@pytest.mark.parametrize(
    "name", ["k", "size", "g", "value", "np", "f", "gradient", "rows", "len", "range", "cotangents"]
)
def test_parameters_with_names_of_the_loop_over_a_batch(name):
    """Such a loop is written as a text where it is differentiated again."""
    f = define(f"def f(x, {name}):\n    return num.sum(x * x * {name})\n", "f", {"num": np})
    run = srcdiff.autograd.run(f, V, 1.3)
    rows = run.grad("x", W[:2], create_graph=True, is_grads_batched=True).value
    np.testing.assert_allclose(rows, 2.6 * np.outer(W[:2], V), rtol=1e-14)
    again = srcdiff.value_and_grad(f, is_grads_batched=True)
    at = srcdiff.grad(lambda x, w: np.sum(again(x, w, grad_outputs=W[:2])[1] ** 2))(V, 1.3)
    np.testing.assert_allclose(at, 2.0 * 2.6**2 * np.sum(W[:2] ** 2) * V, rtol=1e-14)
    once = srcdiff.autograd.run(f, V, 1.3).grad("x", create_graph=True).value
    np.testing.assert_allclose(once, 2.6 * V, rtol=1e-14)


@pytest.mark.parametrize("name", ["number", "reshaped", "loop_of_numbers", "tuple"])
def test_an_empty_batch(name):
    output, pull, at = pulled(FORMS[name], ARGS, ("x", "y"))
    none = {p: np.zeros((0, *np.shape(x)), np.result_type(x)) for p, x in leaves(output)}
    found = batched(pull, with_leaves(output, none), output, at)
    assert [g.shape for g in found] == [(0, 3), (0, 3)]


# --- what it runs --------------------------------------------------------------------------------


def counted(x):
    print("ran")
    return x * np.sum(x)


def test_the_function_runs_once(capsys):
    srcdiff.grad(counted, is_grads_batched=True)(V, grad_outputs=np.eye(3))
    assert capsys.readouterr().out == "ran\n"


def test_the_text():
    g = srcdiff.grad(lambda x, y: np.sum(x * y) * (A @ x), is_grads_batched=True)
    g(V, W, grad_outputs=np.eye(3))
    _, _, text = g.source.partition("_backward_batch(residuals, grad_outputs, batch):")
    assert "(d_t_2 @ t_1)[:, None] * y" in text and "for k" not in text


def power(x, n):
    return x if n == 1 else x * power(x, n - 1)


def chained(x, y):
    return np.sin(x) * y + np.exp(-x * x) / (1.0 + y * y) - x / y / 3.0


def smoothed(x, y, steps=3):
    a, b = x.copy(), np.zeros_like(x)
    for _ in range(steps):
        b[1:-1] = 0.5 * a[:-2] * y[1:-1] + a[2:]
        a, b = b, a
    return a + b


def smoothed_by_matrices(x, y):
    a = x.copy()
    for _ in range(3):
        a[1:] += np.ones((2, 3)) @ a
    return a * y


def smoothed_beside_rows(x, y):
    a, rows = x.copy(), []
    for _ in range(3):
        a[1:] += a[:-1] * y[1:]
        rows.append(a * 2.0)
    return a + rows[1]


LAYOUTS = {
    "rows": np.ascontiguousarray,
    "columns": np.asfortranarray,
    "backwards": lambda d: np.ascontiguousarray(d[::-1, ::-1])[::-1, ::-1],
}


@pytest.mark.parametrize("size", [1, 3, 40])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("f", [smoothed, smoothed_by_matrices, smoothed_beside_rows])
def test_batches_in_any_order_of_memory(f, layout, size):
    batch = np.random.default_rng(2).random((size, 3))
    one, many = srcdiff.grad(f, (0, 1)), srcdiff.grad(f, (0, 1), is_grads_batched=True)
    for k, found in enumerate(many(*ARGS, grad_outputs=LAYOUTS[layout](batch))):
        expected = np.stack([one(*ARGS, grad_outputs=row)[k] for row in batch])
        np.testing.assert_allclose(found, expected, rtol=1e-13)
        assert found.flags.c_contiguous and found.flags.owndata
    # Where products or lists make rows, columns would meet them.
    assert (many.source.count('order="F"') > 1) == (f is smoothed)


def test_factors_without_the_axis_meet_first():
    """One product with the cotangents for each gradient."""
    _, pull, _ = pulled(chained, ARGS, (0, 1))
    lines = [line for line in pull.many_source.splitlines() if "d_t" in line]
    assert len(lines) == 3 and all(line.count("d_t") == 1 for line in lines)
    assert assert_same_as_one_by_one(chained, ARGS, (0, 1))


def masks(x, y):
    a, b = x > 0.2, y > 1.2
    return x * a + x * b


def small_integers(x, y):
    n = np.full(3, 200, np.uint8)
    return x * n * n + (x * n - x * n * 2.0)


def single(x, y):
    return x * y.astype(np.float32) * np.float32(1.1) + x * y.astype(np.float32)


def used_twice(x, y):
    z = x * y
    z += np.sin(x)
    w = z * y
    for i in range(3):
        z = z * w[i] + x * y
    return z * y + w * x


def read_between(x, y):
    out = np.zeros((3, 3))
    out[0] = x * y
    h = out[0] * y
    out[1] = h * h
    return out * x


def written_by_another_name(x, y):
    a, m = x * y, x
    m[0] = x[1] * 0.3
    return np.sum(a * x)


def written_by_a_view(x, y):
    a, m = x * y, x[1:]
    m[0] = x[0] * 0.3
    return a * x


@pytest.mark.parametrize("f", [written_by_another_name, written_by_a_view])
def test_residuals_share_memory(f):
    """What is put back under one name changes under the others, and is not gathered."""
    assert assert_same_as_one_by_one(f, ARGS, (0, 1))


@pytest.mark.parametrize("f", [masks, small_integers, single, used_twice, read_between])
def test_what_must_not_be_gathered(f):
    assert assert_same_as_one_by_one(f, ARGS, (0,))
    assert assert_same_as_one_by_one(f, ARGS, (0,), size=2)


def test_sums_that_may_be_empty():
    def f(x, y):
        rows = [[x[0] * y[0], y[1]], [], [x[2]]]
        return sum(sum(r) for r in rows) * x

    assert assert_same_as_one_by_one(f, ARGS, (0, 1))


def grown(x, y, n):
    s = x[1] + y[0]
    items = [x[0], x[1]]
    if n > 1:
        held = {"u": items}
        held["u"][-1] = s
    if n % 2:
        held = (items,)
        held[0][0] = s
    return s + sum(items) + y.sum()


@pytest.mark.parametrize("count", [1, 2, 3])
def test_numbers_that_grow_are_not_the_cotangents(count):
    """`d_s = grad_outputs; d_s += t` is a new number, where `grad_outputs` is read again."""
    assert_same_as_one_by_one(grown, (*ARGS, count), (0, 1))


def test_the_text_of_what_goes_one_by_one():
    """That of the two parts, also where no text holds for all arguments."""

    def raised(x, y, n):  # a recursion has no form for a batch
        return grown(x, y, n) + power(y[0], n)

    many = srcdiff.grad(raised, (0, 1), is_grads_batched=True)
    many(*ARGS, 2, grad_outputs=np.ones(2))
    with pytest.raises(srcdiff.UnsupportedError):
        srcdiff.source(raised, (0, 1))
    assert "def raised_grad_forward" in many.source and "def raised_grad_backward(" in many.source


def test_what_has_no_batched_form_goes_one_by_one():
    assert not assert_same_as_one_by_one(power, (V, 4))


def test_gradients_share_no_memory():
    g = srcdiff.grad(lambda x, y: x + y, ("x", "y"), is_grads_batched=True)
    v = np.eye(3)
    dx, dy = g(V, W, grad_outputs=v)
    assert not np.shares_memory(dx, dy) and not np.shares_memory(dx, v)
    assert dx.flags.writeable and dy.flags.writeable


def test_the_cotangents_are_the_callers():
    v = np.eye(3)
    same = srcdiff.grad(lambda x: x.T, is_grads_batched=True)(V, grad_outputs=v)
    assert not np.shares_memory(same, v)
    srcdiff.grad(views_written, is_grads_batched=True)(V, W, grad_outputs=np.ones((2, 3, 3)))
    written = srcdiff.grad(element_kept, ("x", "y"), is_grads_batched=True)(V, W, grad_outputs=v)
    np.testing.assert_array_equal(v, np.eye(3))
    assert not any(np.shares_memory(d, v) for d in written)


@pytest.mark.parametrize("f", [FORMS["broadcast"], element_kept, loop_of_numbers])
def test_parts_of_a_batch(f, monkeypatch):
    whole = srcdiff.grad(f, ("x", "y"), is_grads_batched=True)
    many = np.random.default_rng(3).random((7, *np.shape(f(V, W))))
    expected = whole(V, W, grad_outputs=many)
    monkeypatch.setattr(pullback, "_CACHED", 10)
    for one, two in zip(whole(V, W, grad_outputs=many), expected, strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-13)


def test_a_parameter_that_is_written_into_takes_one_run():
    runs = []

    def kernel(a, b):
        runs.append(len(a))
        b[1:] = a[1:] * a[:-1]

    g = srcdiff.grad(kernel, "a", outputs="b", is_grads_batched=True)
    rows = g(V, W, grad_outputs=np.eye(3))
    assert runs == [3]
    np.testing.assert_allclose(rows, srcdiff.jacobian(kernel, "a", "b", "forward")(V, W))


def test_outputs_that_are_objects():
    program = next(p for p in PROGRAMS if p.name == "objects-returned_dataclass")
    assert_same_as_one_by_one(program.function, program.arguments(), program.inputs)


def test_residuals_are_not_used_up():
    _, pull = srcdiff.vjp(loop_of_numbers, V, W, inputs=("x", "y"))
    first = pull.many(np.eye(3), 3)
    for one, two in zip(first, pull.many(np.eye(3), 3), strict=True):
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("given", [np.ones((2, 4)), [np.ones((2, 3)), np.ones(3)]])
def test_batches_that_do_not_fit(given):
    f = (lambda x: x * x) if isinstance(given, np.ndarray) else (lambda x: (x * x, np.sum(x)))
    with pytest.raises(ValueError, match="batch axis"):
        srcdiff.grad(f, is_grads_batched=True)(V, grad_outputs=given)


@pytest.mark.parametrize("given", [np.ones((2, 3)) * 1j])
def test_cotangents_of_the_wrong_type(given):
    with pytest.raises(srcdiff.errors.CotangentError):
        srcdiff.grad(lambda x: x * x, is_grads_batched=True)(V, grad_outputs=given)


class Pair:
    def __init__(self, a, b):
        self.a, self.b = a, b


def weighted(pair, x):
    return pair.a * x + pair.b


def test_gradients_of_an_object():
    found = srcdiff.grad(weighted, "pair", is_grads_batched=True)(
        Pair(2.0, V), W, grad_outputs=np.eye(3)
    )
    np.testing.assert_allclose(found.a, W)
    np.testing.assert_allclose(found.b, np.eye(3))


# --- directions, Jacobians and Hessians -----------------------------------------------------------


def assert_same_directions(f, args, inputs, outputs=None):
    """A batch of directions gives what they give one by one; whether they went in one run."""
    point = Point(f, Options(inputs, outputs), args, {})
    rng = np.random.default_rng(5)
    many = [dict(leaves(st.random_like(rng, point.inputs))) for _ in range(3)]
    together = with_leaves(point.inputs, {p: np.stack([m[p] for m in many]) for p in many[0]})
    found = point.along_many(together, 3)
    if found is CANNOT:
        return False
    found = dict(leaves(found[1]))
    for k, one in enumerate(many):
        for path, tangent in leaves(point.along(with_leaves(point.inputs, one))[1]):
            tol = 1e-12 if np.result_type(tangent).itemsize >= 8 else 1e-5
            np.testing.assert_allclose(found[path][k], tangent, rtol=tol, atol=tol)
    return True


@pytest.mark.parametrize("name", FORMS)
def test_directions(name):
    assert assert_same_directions(FORMS[name], ARGS, ("x", "y"))


def chained_rosenbrock(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def test_hessian_of_many_variables_is_that_of_nested_reverse_mode():
    x = np.random.default_rng(0).standard_normal(80)
    H = srcdiff.hessian(chained_rosenbrock)(x)
    rows = srcdiff.grad(srcdiff.grad(chained_rosenbrock), is_grads_batched=True)
    nested = np.array([srcdiff.grad(srcdiff.grad(chained_rosenbrock))(x, grad_outputs=v)
                       for v in np.eye(80)])  # fmt: skip
    scale = np.max(np.abs(nested))
    np.testing.assert_allclose(H / scale, nested / scale, rtol=0.0, atol=1e-14)
    np.testing.assert_allclose(rows(x, grad_outputs=np.eye(80)), nested, rtol=1e-12, atol=1e-9)


@pytest.mark.parametrize("mode", ["reverse", "forward"])
def test_a_jacobian_in_parts(mode, monkeypatch):
    whole = srcdiff.jacobian(FORMS["tuple"], ("x", "y"), mode=mode)(*ARGS)
    monkeypatch.setattr(matrices, "_MOST", 30)
    parts = srcdiff.jacobian(FORMS["tuple"], ("x", "y"), mode=mode)(*ARGS)
    for (path, one), (_, two) in zip(leaves(whole), leaves(parts), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-14, err_msg=str(path))


def test_a_jacobian_by_an_object():
    pair = Pair(2.0, V)
    found = srcdiff.jacobian(weighted, "pair")(pair, W)
    np.testing.assert_allclose(found.a, W)
    np.testing.assert_allclose(found.b, np.eye(3))
    np.testing.assert_allclose(srcdiff.jacobian(weighted, "pair.a")(pair, W), W)
    with pytest.raises(srcdiff.UnsupportedError, match="attributes of objects"):
        srcdiff.jacobian(weighted, "pair.a", mode="forward")(pair, W)


@pytest.mark.parametrize("shape", [(1,), (3,), (1, 3), (3, 1), (1, 1)])
def test_squeezed_in_columns(shape):
    """Which axes are left out, the shape of the value says when it is there."""
    x = np.linspace(0.3, 0.9, np.prod(shape)).reshape(shape)
    columns = srcdiff.jacobian(lambda x: np.squeeze(x * x) * 2.0, mode="forward")(x)
    rows = srcdiff.jacobian(lambda x: np.squeeze(x * x) * 2.0, mode="reverse")(x)
    np.testing.assert_allclose(columns, rows)
    assert columns.shape == rows.shape == (*np.squeeze(x).shape, *shape)


def test_fields_of_records_in_rows_and_columns():
    def f(x):
        y = np.zeros(2, dtype=[("a", float), ("b", float)])
        y["a"] = x[:2]
        for name in ("a", "b"):
            y["b"] += x[2:] * y[name]
        return y["a"] * y["b"]

    x = np.array([0.3, 0.7, 1.1, 0.5])
    assert srcdiff.testing.gradcheck(f, (x,))
    columns = srcdiff.jacobian(f, mode="forward")(x)
    np.testing.assert_allclose(columns, srcdiff.jacobian(f, mode="reverse")(x))


# --- what operations say of their axes ------------------------------------------------------------

M, N2, T4 = RNG.random((3, 4)), RNG.random((4, 4)), RNG.random((2, 3, 4, 4))
Z, J, K = V + 1j * W, np.array([[1, 2, 3]]), np.array([3, 0, 2])
VALUES, VECTORS = np.linalg.eigh(A + A.T)
LEFT, SINGULAR, RIGHT = np.linalg.svd(A)


PLAIN = "shape ndim size dtype itemsize nbytes strides"


def calls(functions, *many):
    """Each function with each of some arguments."""
    return [(fn, args, {}) for fn in functions for args in many]


CALLS = [
    *calls((np.sum, np.mean, np.cumsum, np.cumprod, np.flip, np.fft.fftshift), (V,), (M,), (B3,),
           (B3, 1), (B3, -1), (M, None)),
    *calls((np.sum, np.mean, np.cumsum, np.cumprod), (0.5,)),
    (np.sum, (B3,), {"axis": (0, 2)}), (np.sum, (B3,), {"axis": (-1, 0), "keepdims": True}),
    (np.mean, (B3,), {"keepdims": True}), (np.flip, (B3,), {"axis": (0, -1)}),
    (ir.Method("sum"), (B3, 1), {}), (ir.Method("mean"), (M,), {"axis": 0}),
    (ir.Method("cumsum"), (B3,), {"axis": 1}), (ir.Method("trace"), (B3,), {}),
    (np.take, (V, I), {}), (np.take, (B3, I), {"axis": 1}), (np.take, (M, 1, -1), {}),
    (np.take, (M, I), {}), (np.repeat, (M, 2), {}), (np.repeat, (B3, I, 1), {}),
    (np.expand_dims, (M, 1), {}), (np.expand_dims, (M,), {"axis": (0, -1)}),
    (np.squeeze, (B3[:, :1],), {"axis": 1}), *calls((np.squeeze,), (B3[:1, :, :1],), (M,)),
    (np.roll, (V, 2), {}),
    (np.roll, (B3, (1, 2), (0, -1)), {}), (np.diff, (M,), {}), (np.diff, (B3, 1, 0), {}),
    (np.diff, (B3, 2), {"axis": 1}), (np.moveaxis, (B3, 0, -1), {}),
    (np.moveaxis, (B3, (0, 1), (2, 0)), {}), (np.swapaxes, (B3, 0, 2), {}),
    (ir.Method("swapaxes"), (B3, -1, 1), {}), (np.trace, (M,), {}), (np.trace, (B3, 1, 0, 2), {}),
    (np.trace, (B3, 0), {"axis1": 1, "axis2": -1}), (np.diagonal, (M, 1), {}),
    (np.diagonal, (B3,), {"axis1": 1, "axis2": 2}), (np.rot90, (M,), {}),
    (np.rot90, (B3, 3), {"axes": (1, 2)}),
    *calls((np.fft.fft, np.fft.ifft, np.fft.irfft, np.fft.hfft), (Z,), (Z, 4), (Z * M.T, None, 0),
           (M, 5, -2)),
    *calls((np.fft.rfft, np.fft.ihfft), (V,), (V, 4), (M, None, 0), (B3, 5, -2)),
    *calls((np.fft.fft2, np.fft.ifft2, np.fft.rfft2, np.fft.irfft2, np.fft.fftn, np.fft.ifftn,
            np.fft.rfftn, np.fft.irfftn), (M,), (B3,), (B3, (3, 2), (0, 1))),
    (np.fft.fft, (M,), {"norm": "ortho"}), *calls((np.fft.ifftshift,), (B3,), (B3, (0, -1))),
    *calls((arrays.keep_axes,), (M, 1), (M, (0, -1), False), (M,), (M, 1, True)),
    *calls((arrays.shift,), (B3, 1, 1), (M, -1, -1)),
    *calls((arrays.undiff,), (M[1:], M, 1, 0), (M[:, 2:], M, 2, -1)),
    *calls((np.transpose,), (V,), (M,), (B3,), (B3, (1, -1, 0))),
    (np.transpose, (B3,), {"axes": (2, 0, 1)}), (ir.Method("transpose"), (B3, 2, 0, 1), {}),
    *calls((ir.Method("transpose"),), (B3, (1, 0, 2)), (M,)), *calls((ir.Attr("T"),), (M,), (B3,)),
    *((f, ((M, 2.0 * M),), kwargs) for f in (np.concatenate, np.stack)
      for kwargs in ({}, {"axis": 1}, {"axis": -1})),
    *calls((np.reshape,), (B3, (4, -1)), (B3, -1), (0.5, (1, 1))),
    *calls((ir.Method("reshape"),), (B3, 6, 4), (B3, (2, 12))),
    (np.ravel, (M,), {}), (ir.Method("ravel"), (B3,), {}),
    *calls((np.triu, np.tril), (M,), (M, 1), (B3, -1)), (np.matrix_transpose, (B3,), {}),
    (ir.Attr("mT"), (M,), {}), (linalg.eigvalsh_back, (A, VALUES, VECTORS, V), {}),
    (linalg.svdvals_back, (A, LEFT, SINGULAR, RIGHT, V), {}),
    *calls((operator.matmul, np.matmul), (V, W), (V, M), (M, V @ M), (M, N2), (B3, N2), (N2, T4),
           (M.T, B3[0]), (M, T4), (T4, T4[0]), (T4, N2), (T4[0], T4), (T4, N2[0])),
    *calls((np.dot, ir.Method("dot")), (M, N2), (M, V @ M)), *calls((np.dot,), (V, W), (V, M)),
    *calls((len, np.shape, np.ndim, np.size, np.iscomplexobj, np.result_type), (M,)),
    (np.may_share_memory, (M, V), {}), *calls(map(ir.Attr, PLAIN.split()), (M,)),
    *calls((np.copy, np.zeros_like, np.ones_like, np.empty_like), (M,), (0.5,)),
    *calls((trees.zero_tree, trees.zeros_like, trees.copy_tree), (M,)),
    *calls((operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne,
            operator.floordiv, np.isclose, np.less, np.less_equal, np.greater, np.greater_equal,
            np.equal, np.not_equal), (V, M.T), (M, 0.5)),
    *calls((operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift), (J, K)),
    (operator.invert, (J,), {}),
    *calls((np.round, np.around), (10.0 * M, 1)), *calls((np.isreal, np.iscomplex), (Z,)),
]  # fmt: skip
BY_ROWS = calls((np.flip, np.fft.fftshift), (0.5,)) + [
    (np.roll, (M, 2), {}), (np.dot, (B3, N2), {}),
    (np.triu, (V,), {}), (np.transpose, (B3,), {"axes": J[0]}), (np.ravel, (M, "F"), {}),
    (np.reshape, (M, (4, 3), "F"), {}), (np.sum, (M,), {"where": M > 0.5}),
    (np.sum, (0.5, None, None, None, True), {}), (np.zeros_like, (M,), {"shape": (2,)}),
    (np.array, (V,), {"ndmin": 2}), (np.ascontiguousarray, (0.5,), {}),
    (np.matmul, (T4[0, 0, 0], T4), {}),
]
"""What is made for each item, as the batch axis cannot just be put in front."""
SAMPLES = [
    (s.function, *s.arguments()) for s in collected()
    if not isinstance(s.function, (Given, Store)) and op_of(s.function).axes is not None
]  # fmt: skip


class Whole:
    """A call, and what it is for a batch of one of the arrays and numbers that it is given."""

    def __init__(self, fn, args, kwargs, named=False):
        self.env, self.named = {}, named
        atoms = tuple(map(self.atom, args))
        self.call = ir.Call(fn, atoms, tuple((k, self.atom(v)) for k, v in kwargs.items()))
        self.axes = op_of(fn).axes
        self.name = getattr(fn, "name", None) or fn.__name__.replace("absolute", "abs")

    def atom(self, value):
        """An operand, by a name where it is an array or number; axes too if they are `named`."""
        if isinstance(value, (tuple, list)) and any(isinstance(v, np.ndarray) for v in value):
            return ir.Tup(tuple(map(self.atom, value)))
        axes = isinstance(value, (int, tuple)) and self.named
        if not isinstance(value, (np.ndarray, np.inexact, float, complex)) and not axes:
            return as_atom(value)
        name = ir.Name(f"x{len(self.env)}")
        self.env[name.id] = value
        return name

    def places(self):
        """The operands that may have the axis."""
        whole = op_of(self.call.fn).is_elementwise  # numbers that count nothing
        numbers = (np.ndarray, np.inexact, float, complex)
        found = ((n, x) for n, x in self.env.items() if isinstance(x, numbers))
        return [n for n, x in found if whole or np.result_type(x).kind in "fc"]

    def form(self, name, ranks=True):
        """What the call is for a batch of one operand, and what runs before it.

        Without `ranks` nobody knows how many axes an array has.
        """
        kinds = {n: kind_of(x, n) for n, x in self.env.items()}
        if not ranks:
            kinds = {n: Array(k.dtype) if isinstance(k, Array) else k for n, k in kinds.items()}
        fresh, none = ir.Fresh({*self.env, "batch"}), frozenset()
        b = forms.Context(kinds, frozenset({name}), none, none, ir.Name("batch"), fresh)
        return forms.for_batch(b, self.call), b.out

    def check(self, name, ranks=True):
        """Whether there is a form; it gives what the call gives for each item."""
        form, before = self.form(name, ranks)
        if form is None:
            return False
        x, run = self.env[name], Interpreter()
        step = np.asarray(x).dtype.type(1)
        step = 2 * step if step.dtype.kind in "biu" else 0.1 * x + 0.01
        items = [x + k * step for k in range(3)]
        env = {**self.env, name: np.stack(items), "batch": 3}
        with np.errstate(all="ignore"):
            run.block((*before, ir.Assign(ir.Name("z"), form)), env)
            expected = [run.rhs(self.call, {**self.env, name: item}) for item in items]
        if self.axes.meaning is Meaning.STACKED and np.ptp(np.stack(expected), axis=0).max() == 0.0:
            return False  # no tangent goes where nothing depends on it
        self.compare(env["z"], expected)
        return True

    def compare(self, found, expected):
        """A batch of results has the items that it is to have."""
        if self.axes.meaning is Meaning.ASKED:
            assert found == expected[0]
            return
        for k, other in enumerate(expected):
            one = runtime_batched.taken(found, k)
            several = isinstance(other, tuple)
            for x, y in zip(one, other, strict=True) if several else [(one, other)]:
                assert np.shape(x) == np.shape(y)
                if self.name != "empty_like":
                    np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-13)


def test_what_operations_say_of_their_axes_is_true():
    """Each call that some operation says the axes of, for a batch and for each item of it."""
    tried = set()
    for fn, args, kwargs in [*CALLS, *BY_ROWS, *SAMPLES]:
        for named, ranks in ((False, True), (True, True), (False, False)):
            whole = Whole(fn, args, kwargs, named)
            for name in whole.places():
                print(whole.name, {n: np.shape(x) for n, x in whole.env.items()}, name)
                if whole.check(name, ranks):
                    tried.add((whole.name, whole.axes))
    declared = {(n, facts["axes"]) for (_, n), facts in _FACTS.items() if "axes" in facts}
    assert not declared - tried


def test_what_is_made_at_once_and_what_by_rows():
    assert not [c for c in CALLS if (w := Whole(*c)).places() and w.form(w.places()[0])[0] is None]
    assert not [c for c in BY_ROWS if (w := Whole(*c)).form(w.places()[0])[0] is not None]
