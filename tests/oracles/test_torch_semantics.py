"""What torch does with the same parameters, asked of torch itself (`make oracles`)."""

import numpy as np
import pytest

import srcdiff
from srcdiff import autograd

pytestmark = [pytest.mark.oracles, pytest.mark.filterwarnings("ignore")]

X = np.array([0.5, -1.0, 2.0])
Y = np.array([2.0, 3.0, 4.0])


@pytest.fixture(scope="module")
def torch():
    return pytest.importorskip("torch", reason="torch is not installed: extra oracles")


def vector(x):
    return x * x


def total(x):
    return np.sum(x * x)


def both(x, y):
    return x * y, np.sum(x * x)


def linear(x):
    return np.sum(3.0 * x)


def cube(x):
    return np.sum(x * x * x)


def leaf(torch, x):
    return torch.tensor(x, requires_grad=True)


# --- errors: the same class, the same words -----------------------------------------------------


def of_torch(torch, case):
    """What raises in torch."""
    x, y = leaf(torch, X), leaf(torch, Y)
    out, loss = x * y, (x * x).sum()
    grad = torch.autograd.grad
    if case == "no cotangent":
        grad(x * x, x)
    elif case == "wrong shape":
        grad(x * x, x, torch.ones(2))
    elif case == "wrong rank":
        grad(loss, x, torch.ones(1))
    elif case == "complex cotangent":
        grad(x * x, x, torch.ones(3, dtype=torch.complex128))
    elif case == "real cotangent":
        z = leaf(torch, X * 1j)
        grad(z * z, z, torch.ones(3, dtype=torch.float64))
    elif case == "complex output":
        z = leaf(torch, X * 1j)
        grad((z * z).sum(), z)
    elif case == "zero axes for one":
        grad(loss.reshape(1), x, torch.ones(()))
    elif case == "text":
        grad(x * x, x, "text")
    elif case == "unused":
        grad(loss, (x, y))
    elif case == "unused and materialised":
        grad(loss, (x, y), allow_unused=False, materialize_grads=True)
    elif case == "no inputs":
        grad(loss, ())
    elif case == "backward without inputs":
        torch.autograd.backward(loss, inputs=())
    elif case == "twice":
        grad(loss, x)
        grad(loss, x)
    elif case == "integer input":
        torch.tensor([1, 2], requires_grad=True)
    elif case == "batch of unequal sizes":
        grad((out, loss), x, (torch.ones(2, 3), torch.ones(3)), is_grads_batched=True)
    elif case == "linear, twice":
        (first,) = grad((3.0 * x).sum(), x, create_graph=True)
        grad(first.sum(), x)
    elif case == "detached":
        (first,) = grad((x * x).sum(), x, create_graph=False)
        grad(first.sum(), x)
    elif case == "both names of a cotangent":
        torch.autograd.backward(loss, torch.tensor(1.0), grad_variables=torch.tensor(1.0))


def of_srcdiff(case):
    """What raises here."""
    if case == "no cotangent":
        srcdiff.grad(vector)(X)
    elif case == "wrong shape":
        srcdiff.grad(vector)(X, grad_outputs=np.ones(2))
    elif case == "wrong rank":
        srcdiff.grad(total)(X, grad_outputs=np.ones(1))
    elif case == "complex cotangent":
        srcdiff.grad(vector)(X, grad_outputs=np.ones(3, complex))
    elif case == "real cotangent":
        srcdiff.grad(vector)(X * 1j, grad_outputs=np.ones(3))
    elif case == "complex output":
        srcdiff.grad(total)(X * 1j)
    elif case == "zero axes for one":
        srcdiff.grad(vector)(np.ones(1), grad_outputs=np.ones(()))
    elif case == "text":
        srcdiff.grad(vector)(X, grad_outputs="text")
    elif case == "unused":
        srcdiff.autograd.run(both, X, Y)[1].grad(("x", "y"))
    elif case == "unused and materialised":
        srcdiff.grad(both, "y", outputs=1, allow_unused=False, materialize_grads=True)
    elif case == "no inputs":
        srcdiff.grad(total, ())
    elif case == "backward without inputs":
        autograd.backward(srcdiff.autograd.run(total, X), inputs=())
    elif case == "twice":
        run = srcdiff.autograd.run(total, X)
        run.grad("x")
        run.grad("x")
    elif case == "integer input":
        srcdiff.grad(total)(np.array([1, 2]))
    elif case == "batch of unequal sizes":
        g = srcdiff.grad(both, is_grads_batched=True)
        g(X, Y, grad_outputs=(np.ones((2, 3)), np.ones(3)))
    elif case == "linear, twice":
        srcdiff.grad(srcdiff.grad(linear))(X, grad_outputs=np.ones(3))
    elif case == "detached":
        srcdiff.grad(srcdiff.grad(total, create_graph=False))(X, grad_outputs=np.ones(3))
    elif case == "both names of a cotangent":
        autograd.backward(srcdiff.autograd.run(total, X), 1.0, grad_variables=1.0)


CASES = {
    "no cotangent": "grad can be implicitly created only for scalar outputs",
    "wrong shape": "",
    "wrong rank": "",
    "complex cotangent": "",
    "real cotangent": "",
    "complex output": "grad can be implicitly created only for ",
    "zero axes for one": "",
    "text": "",
    "unused": "appears to not have been used in the graph",
    "unused and materialised": "Expected allow_unused to be True or not passed when "
    "materialize_grads=True, but got: allow_unused=False.",
    "no inputs": "`inputs` argument to `grad()` cannot be empty",
    "backward without inputs": "`inputs` argument to `backward()` cannot be empty.",
    "twice": "Trying to backward through the graph a second time",
    "integer input": "",
    "batch of unequal sizes": "",
    "linear, twice": "",
    "detached": "",
    "both names of a cotangent": "Please only use `grad_tensors`.",
}


@pytest.mark.parametrize("case", CASES)
def test_errors(torch, case):
    with pytest.raises(Exception) as theirs:
        of_torch(torch, case)
    with pytest.raises(Exception) as ours:
        of_srcdiff(case)
    assert isinstance(ours.value, theirs.type), (ours.type, theirs.type)
    assert CASES[case] in str(ours.value) and CASES[case] in str(theirs.value)


# --- values -------------------------------------------------------------------------------------


def test_unused_inputs(torch):
    x, y = leaf(torch, X), leaf(torch, Y)
    loss = (x * x).sum()
    run = srcdiff.autograd.run(both, X, Y)[1]
    _, none = torch.autograd.grad(loss, (x, y), retain_graph=True, allow_unused=True)
    assert none is None
    assert autograd.grad(run, ("x", "y"), retain_graph=True, allow_unused=True)[1] is None
    theirs = torch.autograd.grad(loss, (x, y), materialize_grads=True)
    ours = autograd.grad(run, ("x", "y"), materialize_grads=True)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(a, b.numpy())


@pytest.mark.parametrize("cotangent", [np.ones(3, np.float32), np.arange(3), X > 0.0])
def test_cotangents_of_other_dtypes(torch, cotangent):
    x = leaf(torch, X)
    (theirs,) = torch.autograd.grad(x * x, x, torch.tensor(cotangent))
    ours = srcdiff.grad(vector)(X, grad_outputs=cotangent)
    assert str(ours.dtype) == str(theirs.dtype).removeprefix("torch.")
    np.testing.assert_array_equal(ours, theirs.numpy())


@pytest.mark.parametrize("shape", [(), (1,), (1, 1)])
def test_one_element_needs_no_cotangent(torch, shape):
    x = leaf(torch, np.full(shape, 3.0))
    (theirs,) = torch.autograd.grad(x * x, x)
    np.testing.assert_array_equal(srcdiff.grad(vector)(np.full(shape, 3.0)), theirs.numpy())


def test_none_among_several_cotangents(torch):
    x, y = leaf(torch, X), leaf(torch, Y)
    theirs = torch.autograd.grad((x * y, (x * x).sum()), (x, y), (torch.tensor(Y), None))
    ours = srcdiff.grad(both, (0, 1))(X, Y, grad_outputs=(Y, None))
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(a, b.numpy())


def test_a_detached_gradient_is_a_constant(torch):
    def torchs(x, create):
        (first,) = torch.autograd.grad((x * x * x).sum(), x, create_graph=create, retain_graph=True)
        return (first * x).sum()

    for create in (True, False):
        inner = srcdiff.grad(cube, create_graph=create)
        x = leaf(torch, X)
        (theirs,) = torch.autograd.grad(torchs(x, create), x)
        ours = srcdiff.grad(lambda x: np.sum(inner(x) * x))(X)  # noqa: B023
        np.testing.assert_allclose(ours, theirs.numpy())


def test_linear_at_order_two(torch):
    x = leaf(torch, X)
    (first,) = torch.autograd.grad((3.0 * x).sum(), x, create_graph=True)
    assert not first.requires_grad
    second = srcdiff.grad(srcdiff.grad(linear), materialize_grads=True)
    np.testing.assert_array_equal(second(X, grad_outputs=np.ones(3)), np.zeros(3))


def test_retained_and_released(torch):
    x = leaf(torch, X)
    loss, run = (x * x).sum(), srcdiff.autograd.run(total, X)
    for retain in (True, True, None):
        torch.autograd.grad(loss, x, retain_graph=retain)
        autograd.grad(run, "x", retain_graph=retain)
    for late in (lambda: torch.autograd.grad(loss, x), lambda: autograd.grad(run, "x")):
        with pytest.raises(RuntimeError, match="Trying to backward through the graph a second"):
            late()


def test_only_inputs(torch):
    x = leaf(torch, X)
    for warns in (
        lambda: torch.autograd.grad((x * x).sum(), x, only_inputs=False),
        lambda: autograd.grad(srcdiff.autograd.run(total, X), "x", only_inputs=False),
    ):
        with pytest.warns(FutureWarning, match="only_inputs argument is deprecated"):
            warns()


def test_the_same_input_and_output_twice(torch):
    x = leaf(torch, X)
    loss = (x * x).sum()
    theirs = torch.autograd.grad((loss, loss), (x, x))
    ours = autograd.grad((run := srcdiff.autograd.run(total, X), run), ("x", "x"))
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(a, b.numpy())


@pytest.mark.parametrize("size", [1, 4])
def test_batches(torch, size):
    v = np.arange(3.0 * size).reshape(size, 3)
    x, y = leaf(torch, X), leaf(torch, Y)
    theirs = torch.autograd.grad(x * y, (x, y), torch.tensor(v), is_grads_batched=True)
    ours = srcdiff.grad(both, (0, 1), outputs=0, is_grads_batched=True)(X, Y, grad_outputs=(v))
    for a, b in zip(ours, theirs, strict=True):
        assert a.shape == tuple(b.shape)
        np.testing.assert_allclose(a, b.numpy())


def test_create_graph(torch):
    x = leaf(torch, X)
    (first,) = torch.autograd.grad((x * x * x).sum(), x, create_graph=True)
    (theirs,) = torch.autograd.grad(first, x, torch.tensor(Y))
    (output,) = autograd.grad(srcdiff.autograd.run(cube, X), "x", create_graph=True)
    (ours,) = autograd.grad(output, "x", Y)
    np.testing.assert_allclose(ours, theirs.numpy())


def test_backward_accumulates(torch):
    x = leaf(torch, X)
    run = srcdiff.autograd.run(total, X)
    loss = (x * x).sum()
    for retain in (True, False):
        loss.backward(retain_graph=retain)
        run.backward(retain_graph=retain)
    np.testing.assert_array_equal(run.grads["x"], x.grad.numpy())


def test_jacobians_and_hessians(torch):
    functional = torch.autograd.functional
    theirs = functional.jacobian(lambda x, y: x * y, (torch.tensor(X), torch.tensor(Y)))
    ours = srcdiff.jacobian(both, (0, 1), outputs=0)(X, Y)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(a, b.numpy())
    hessian = functional.hessian(lambda x: (x * x * x).sum(), torch.tensor(X))
    np.testing.assert_allclose(srcdiff.hessian(cube)(X), hessian.numpy())
    _, product = functional.hvp(lambda x: (x * x * x).sum(), torch.tensor(X), torch.tensor(Y))
    np.testing.assert_allclose(srcdiff.hvp(cube, (X,), Y), product.numpy())
    zero = functional.hessian(lambda x: (3.0 * x).sum(), torch.tensor(X))
    np.testing.assert_array_equal(srcdiff.hessian(linear)(X), zero.numpy())


# --- conventions at kinks -----------------------------------------------------------------------

KINKS = {
    "abs": ("np.abs(x)", "torch.abs(x)", [0.0, -1.0, 2.0]),
    "sign": ("x + np.sign(x)", "x + torch.sign(x)", [0.0, 1.0]),
    "floor": ("x + np.floor(x)", "x + torch.floor(x)", [0.0, 1.0, 1.5]),
    "maximum": ("np.maximum(x, 0.0 * x)", "torch.maximum(x, 0.0 * x)", [0.0, 1.0]),
    "minimum": ("np.minimum(x, 0.0 * x)", "torch.minimum(x, 0.0 * x)", [0.0, 1.0]),
    "max": ("np.max(x)", "torch.amax(x)", [2.0, 2.0, 1.0]),
    "min": ("np.min(x)", "torch.amin(x)", [2.0, 1.0, 1.0, 1.0]),
    "clip": ("np.clip(x, 0.0, 1.0)", "torch.clip(x, 0.0, 1.0)", [-1.0, 0.0, 0.5, 1.0, 2.0]),
    "sort": ("np.sort(x) * v", "torch.sort(x, stable=True)[0] * v", [2.0, 1.0, 2.0, 1.0]),
    "sqrt": ("np.sqrt(x)", "torch.sqrt(x)", [0.0, 4.0]),
    "power": ("x ** 2.0", "x ** 2.0", [0.0, 1.0]),
    "zeroth power": ("x ** 0.0", "x ** 0.0", [0.0, 1.0]),
    "powers of zero": ("0.0 ** x", "torch.zeros(2).double() ** x", [2.0, 1.0]),
    "norm": ("np.linalg.norm(x)", "torch.linalg.norm(x)", [0.0, 0.0]),
    "std": ("np.std(x)", "torch.std(x, correction=0)", [1.0, 1.0, 1.0]),
    "hypot": ("np.hypot(x, x)", "torch.hypot(x, x)", [0.0, 1.0]),
    "arctan2": ("np.arctan2(x, x)", "torch.atan2(x, x)", [0.0, 1.0]),
    "sinc": ("np.sinc(x)", "torch.sinc(x)", [0.0, 0.5]),
    "prod": ("np.prod(x)", "torch.prod(x)", [2.0, 0.0, 3.0]),
    "prod with two zeros": ("np.prod(x)", "torch.prod(x)", [0.0, 0.0, 3.0]),
    "cumprod": ("np.cumprod(x)", "torch.cumprod(x, 0)", [2.0, 0.0, 3.0, 0.0]),
    "where": ("np.where(x > 0.0, np.sqrt(x), 0.0)",
              "torch.where(x > 0.0, torch.sqrt(x), 0.0)", [0.0, 4.0]),
    "gather": ("x[[0, 0, 2]]", "x[[0, 0, 2]]", [1.0, 2.0, 3.0]),
    "det": ("np.linalg.det(x.reshape(2, 2))", "torch.linalg.det(x.reshape(2, 2))",
            [1.0, 2.0, 2.0, 5.0]),
}  # fmt: skip


@pytest.mark.parametrize("name", KINKS)
def test_kinks(torch, name):
    from tests.support.differences import define

    ours, theirs, at = KINKS[name]
    x = np.array(at)
    v = np.arange(1.0, 1.0 + len(x))
    text = f"def kink(x, v):\n    return {ours}\n"
    f = define(text, "kink", {"np": np})
    w = np.linspace(1.0, 2.0, np.size(f(x, v))).reshape(np.shape(f(x, v)))
    t = leaf(torch, x)
    space = {"torch": torch, "x": t, "v": torch.tensor(v)}
    (expected,) = torch.autograd.grad(eval(theirs, space), t, torch.tensor(w))
    found = srcdiff.grad(f)(x, v, grad_outputs=w)
    np.testing.assert_allclose(found, expected.numpy(), rtol=1e-12, atol=1e-14)


def test_a_store_with_repeated_indices_differs_on_purpose(torch):
    """Torch gives a gradient to values that are overwritten; here they get zero."""
    idx = np.array([0, 0, 2])

    def store(v):
        y = np.zeros(3)
        y[idx] = v
        return y

    w = np.array([1.0, 2.0, 4.0])
    np.testing.assert_array_equal(srcdiff.grad(store)(X, grad_outputs=w), [0.0, 1.0, 4.0])


def test_complex_gradients(torch):
    z = X + 1j * Y
    t = torch.tensor(z, requires_grad=True)
    (theirs,) = torch.autograd.grad((t * t.conj() + t * t).real.sum(), t)

    def f(z):
        return np.sum(np.real(z * np.conj(z) + z * z))

    np.testing.assert_allclose(srcdiff.grad(f)(z), theirs.numpy())
