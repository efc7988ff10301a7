"""`no_grad`, `enable_grad`, `set_grad_enabled` and `hook`: against `stop_gradient`, and torch."""

import numpy as np
import pytest

import srcdiff
from tests.support.differences import close, define

X = np.array([0.5, -1.0, 2.0])

# The text with a mode (`G` is `srcdiff.autograd` or torch), and the same with `stop`.
SAME = {
    "block": (
        """
        with G.no_grad():
            h = np.exp(x)
            n = len(x)
        return np.sum(h * x) / n
        """,
        "return np.sum(stop(np.exp(x)) * x) / len(x)",
    ),
    "enabled_inside": (
        """
        with G.no_grad():
            h = np.exp(x)
            with G.enable_grad():
                u = h * x
            v = u * x
        return np.sum(u * x + v)
        """,
        """
        u = stop(np.exp(x)) * x
        return np.sum(u * x + stop(u * x))
        """,
    ),
    "return_inside": (
        """
        y = np.sin(x)
        with G.no_grad():
            if x[0] > 0.0:
                return y
            y = y * y
        return y * x
        """,
        """
        y = np.sin(x)
        return y
        """,
    ),
    "loop": (
        """
        s = x[0] * 0.0
        for i in range(3):
            with G.no_grad():
                w = np.exp(x[i]) * s
                if w > 5.0:
                    break
                if x[i] < 0.0:
                    continue
            s = s + w * x[i] + x[i] * x[i]
        return s
        """,
        """
        s = x[0] * 0.0
        for i in range(3):
            w = stop(np.exp(x[i]) * s)
            if w > 5.0:
                break
            if x[i] < 0.0:
                continue
            s = s + w * x[i] + x[i] * x[i]
        return s
        """,
    ),
    "names_and_items_keep_theirs": (
        """
        with G.no_grad():
            y = x
            pair = [x, x * x]
            a, b = pair
            pair.append(y)
        return np.sum(y * a + b * pair[2])
        """,
        "return np.sum(x * x + stop(x * x) * x)",
    ),
    "flags": (
        """
        for i in range(4):
            with G.set_grad_enabled(i != 1):
                y = np.sin(x) * 1.5
            x = x * y
        return x
        """,
        """
        for i in range(4):
            y = np.sin(x) * 1.5
            x = x * y if i != 1 else x * stop(y)
        return x
        """,
    ),
    "stores": (
        """
        with G.no_grad():
            b = np.zeros(3)
            b[0] = x[1] * 2.0
            b += x
            b[1:] *= 3.0
        return b * x
        """,
        """
        b = stop(np.array([x[0] + 2.0 * x[1], 3.0 * x[1], 3.0 * x[2]]))
        return b * x
        """,
    ),
    "numbers_in_place": (
        """
        t = x[0] * x[1]
        with G.no_grad():
            total = 0.0
            for i in range(3):
                total += x[i] * t
            u = t * total
        return (t + total + u) * x
        """,
        """
        t = x[0] * x[1]
        total = stop(x[0] * t + x[1] * t + x[2] * t)
        return (t + total + stop(t * total)) * x
        """,
    ),
    "helper": (
        """
        return np.sum((x - target(x)) ** 2) + scaled(x, 2.0)[1]
        """,
        "return np.sum((x - stop(np.tanh(x))) ** 2) + stop(2.0 * x)[1]",
    ),
}  # fmt: skip
HELPERS = """
@G.no_grad()
def target(x):
    return np.tanh(x)

@G.no_grad()
def scaled(x, k):
    return k * x
"""


def made(body, **names):
    lines = (line.removeprefix(" " * 8) for line in body.strip("\n").split("\n"))
    text = "def f(x):\n" + "\n".join("    " + line for line in lines)
    return define((HELPERS if "target(" in text else "") + text, "f", names)


@pytest.mark.parametrize("name", SAME)
def test_a_mode_is_stop_gradient_of_what_is_computed(name):
    body, plain = SAME[name]
    f = made(body, np=np, G=srcdiff.autograd)
    g = made(plain, np=np, stop=srcdiff.stop_gradient)
    v = np.array([1.0, -0.5, 0.25]) if np.ndim(g(X)) else 1.0
    close(f(X), g(X))
    close(srcdiff.grad(f)(X, grad_outputs=v), srcdiff.grad(g)(X, grad_outputs=v))
    close(srcdiff.jvp(f, (X,), (X,))[1], srcdiff.jvp(g, (X,), (X,))[1])
    second = [srcdiff.grad(srcdiff.grad(h), materialize_grads=True) for h in (f, g)]
    if np.ndim(v) == 0:
        close(*(s(X, grad_outputs=X) for s in second))


@pytest.mark.oracles
@pytest.mark.parametrize("name", SAME)
def test_modes_mean_what_they_mean_to_torch(name):
    torch = pytest.importorskip("torch", reason="torch is not installed: extra oracles")
    body, _ = SAME[name]
    f, g = made(body, np=np, G=srcdiff.autograd), made(body, np=torch, G=torch)
    x = torch.tensor(X, requires_grad=True)
    y = g(x)
    v = np.array([1.0, -0.5, 0.25]) if y.ndim else np.array(1.0)
    (expected,) = torch.autograd.grad(y, x, torch.tensor(v))
    close(srcdiff.grad(f)(X, grad_outputs=v), expected.numpy())


def test_a_constant_output_is_an_unused_input():
    @srcdiff.autograd.no_grad
    def f(x):
        return x * x

    assert f(3.0) == 9.0
    with pytest.raises(srcdiff.errors.UnusedInputError):
        srcdiff.grad(f)(3.0)
    assert srcdiff.grad(f, materialize_grads=True)(3.0) == 0.0


def test_modes_are_no_ops_when_run():
    modes = srcdiff.autograd.enable_grad(), srcdiff.autograd.set_grad_enabled(False)
    with srcdiff.autograd.no_grad(), modes[0], modes[1]:
        assert srcdiff.grad(np.square)(3.0) == 6.0
    assert srcdiff.autograd.set_grad_enabled(True)(np.sin)(0.0) == 0.0


def test_a_known_flag_leaves_no_branch():
    def f(x):
        with srcdiff.autograd.set_grad_enabled(False):
            scale = x * x
        return scale * x

    text = srcdiff.source(f)
    assert "if " not in text and "scale = stop_gradient(x * x)" in text


class Scaler:
    def __init__(self):
        self.scale = 2.0

    def update(self, x):
        with srcdiff.autograd.no_grad():
            self.scale = self.scale * np.sum(x)


def test_attributes_are_constants():
    def f(scaler, x):
        scaler.update(x)
        return np.sum(x * scaler.scale)

    close(srcdiff.grad(f, "x")(Scaler(), X), np.full(3, 2.0 * np.sum(X)))


def test_what_is_recorded_is_not_written_into():
    def f(x):
        y = x * 2.0
        with srcdiff.autograd.no_grad():
            y[0] = 1.0
        return np.sum(y)

    with pytest.raises(srcdiff.UnsupportedError, match=r"`y` carries a derivative.*\n.*y\[0\] = 1"):
        srcdiff.grad(f)(X)


def test_a_mode_holds_for_the_body_of_a_with():
    def f(x):
        srcdiff.autograd.set_grad_enabled(False)
        return np.sum(x)

    with pytest.raises(srcdiff.UnsupportedError, match="body of a `with`"):
        srcdiff.grad(f)(X)


# --- hook ---------------------------------------------------------------------------------------


def clip(d):
    return np.clip(d, -1.0, 1.0)


def clipped(x):
    y = srcdiff.autograd.hook(x * x, clip)
    return np.sum(y * y)


def tripled(x):
    y = x * x
    srcdiff.autograd.hook(y, lambda d: 3.0 * d)
    return np.sum(y * y)


def test_a_hook_changes_the_adjoint():
    close(srcdiff.grad(clipped)(X), 2.0 * X * np.clip(2.0 * X * X, -1.0, 1.0))
    close(srcdiff.grad(tripled)(X), 12.0 * X**3)
    close(srcdiff.jvp(tripled, (X,), (X,))[1], 4.0 * np.sum(X**4))


@pytest.mark.oracles
@pytest.mark.parametrize("hook", [lambda d: 3.0 * d, lambda d: None])
def test_hooks_of_torch(hook):
    torch = pytest.importorskip("torch", reason="torch is not installed: extra oracles")

    def f(x):
        y = srcdiff.autograd.hook(x * x, hook)
        return np.sum(y * y)

    x = torch.tensor(X, requires_grad=True)
    y = x * x
    y.register_hook(hook)
    (first,) = torch.autograd.grad((y * y).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    g = srcdiff.grad(f)
    close(g(X), first.detach().numpy())
    close(srcdiff.grad(g)(X, grad_outputs=np.ones(3)), second.numpy())


def test_a_hook_that_returns_nothing_looks():
    seen = []

    def f(x):
        for _ in range(2):
            x = srcdiff.autograd.hook(np.sin(x), seen.append)
        return np.sum(x)

    g = srcdiff.grad(f)
    close(g(X), np.cos(np.sin(X)) * np.cos(X))
    close(seen[0], np.ones(3))
    close(seen[1], np.cos(np.sin(X)))


def test_a_hook_gets_what_it_cannot_write_into():
    def double(d):
        d *= 2.0

    def f(x):
        return np.sum(srcdiff.autograd.hook(x, double) ** 2)

    with pytest.raises(ValueError, match="read-only"):
        srcdiff.grad(f)(X)


def test_a_hook_keeps_the_shape():
    def f(x):
        return np.sum(srcdiff.autograd.hook(x, np.sum) ** 2)

    with pytest.raises(srcdiff.errors.CotangentError, match=r"\(3,\)"):
        srcdiff.grad(f)(X)


def test_a_hook_of_a_captured_value():
    def f(x, k):
        y = srcdiff.autograd.hook(np.sin(x), lambda d: k * d)
        return np.sum(y)

    close(srcdiff.grad(f)(X, 2.0), 2.0 * np.cos(X))
