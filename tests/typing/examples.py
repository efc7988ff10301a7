"""What a type checker knows of derivatives; it is read by mypy and pyright, and not run.

Every line that ends in `# error` is one that a checker has to refuse.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from typing_extensions import assert_type

import srcdiff

if TYPE_CHECKING:
    from srcdiff.api.differentiable import Differentiable
    from srcdiff.api.grad import Gradient
    from srcdiff.api.jacobian import Hessian, Jacobian
    from srcdiff.api.jvp import Linear
    from srcdiff.driver.pullback import Pullback

Array = np.ndarray[Any, Any]


def loss(w: Array, x: Array, scale: float = 1.0) -> float:
    return float(np.sum(np.tanh(w * x)) * scale)


def with_aux(w: Array, n: int) -> tuple[float, dict[str, int]]:
    return float(np.sum(w)), {"n": n}


w, x = np.ones(3), np.ones(3)


def gradients() -> None:
    g = srcdiff.grad(loss)
    g(w, x)
    g(w, x, scale=2.0)
    g(w, x, grad_outputs=2.0)
    assert_type(g(w, x), Any)
    assert_type(g.source, str)
    g(w)  # error
    g(w, x, "large")  # error
    g(w, x, size=3)  # error
    known: srcdiff.Derivative = g
    known.release_workspace()
    srcdiff.grad(loss, ("w", "x"), compile="numba", verify="first")
    srcdiff.grad(loss, verify="always")  # error
    srcdiff.grad(loss, compiled=True)  # error
    srcdiff.grad(3.0)  # error
    second = srcdiff.grad(g)
    second(w, x, grad_outputs=w)
    second(w)  # error


def values() -> None:
    v = srcdiff.value_and_grad(loss)
    assert_type(v(w, x), tuple[float, Any])
    v(x=x)  # error
    a = srcdiff.value_and_grad(with_aux, has_aux=True)
    assert_type(a(w, 3), tuple[tuple[float, dict[str, int]], Any])


@srcdiff.grad
def slope(a: float, b: int) -> float:
    return a**b


@srcdiff.value_and_grad(inputs="a")
def value_and_slope(a: float, b: int) -> float:
    return a**b


def decorators() -> None:
    slope(1.0, 2)
    slope("a", 2)  # error
    assert_type(value_and_slope(1.0, 2), tuple[float, Any])
    value_and_slope()  # error


@srcdiff.differentiable
def power(a: float, b: int) -> float:
    return a**b


@srcdiff.differentiable(inputs=("a",), compile="numba")
def compiled(a: float, b: int) -> float:
    return a**b


def functions() -> None:
    assert_type(power(2.0, 3), float)
    assert_type(compiled(2.0, 3), float)
    power(2.0)  # error
    assert_type(power.value_and_grad(2.0, 3), tuple[float, Any])
    compiled.grad(2.0, "b")  # error
    power.hessian(2.0)  # error
    taken(power)
    assert_type(power.jvp((2.0, 3), (1.0, None)), tuple[float, Any])


class Model:
    def __init__(self, w: Array) -> None:
        self.w = w

    @srcdiff.differentiable(inputs="self.w")
    def loss(self, x: Array) -> float:
        return float(np.sum(self.w * x))


def methods(model: Model) -> None:
    model.loss(x)
    model.loss.grad(x)
    srcdiff.grad(model.loss)(x)
    assert_type(srcdiff.value_and_grad(Model.loss)(model, x), tuple[float, Any])
    Model.loss(x)  # error


def taken(f: Callable[[float, int], float]) -> None:
    """It is called as it is."""


def runs() -> None:
    value, pullback = srcdiff.vjp(loss, w, x, inputs="w", verify="first")
    assert_type(value, float)
    pullback(2.0, retain_graph=False)
    assert_type(srcdiff.jvp(loss, (w, x), (x, None)), tuple[float, Any])
    both = srcdiff.linearize(with_aux, w, 3)
    assert_type(both[0], tuple[float, dict[str, int]])
    both[1](w, None)
    b = srcdiff.backward(loss, "w")
    assert_type(b(w, x, into={}), float)
    b(w, x)  # error
    srcdiff.autograd.run(loss, w, x).grad("w")


def checks() -> None:
    assert_type(srcdiff.testing.gradcheck(loss, (w, x), eps=1e-5, scale=2.0), bool)
    check = srcdiff.testing.gradcheck(loss, inputs="w", check_forward_ad=True)
    assert_type(check(w, x, scale=2.0), bool)
    check(w)  # error
    srcdiff.testing.gradcheck(loss, step=1e-5)  # error
    srcdiff.testing.gradgradcheck(loss, eps=1e-5)(w, "x")  # error


def curried() -> None:
    v = srcdiff.vjp(loss, inputs="w", unused="zeros")
    v(w, x, scale=2.0)
    v(w)  # error
    srcdiff.vjp(loss, unused="never")  # error
    j = srcdiff.jvp(loss, inputs=("w", "x"))
    j(w, x, tangents=(x, w))
    j(w, x)  # error
    srcdiff.linearize(loss, inputs="w")(w, x, scale=2.0)
    srcdiff.hvp(loss, compile="numba")(w, x, v=w)
    srcdiff.vhp(loss, compiled=True)  # error
    assert_type(srcdiff.vjp(with_aux, w, 3, has_aux=True), tuple[float, Pullback, Any])
    assert_type(srcdiff.jvp(with_aux, (w, 3), (w, None), has_aux=True), tuple[float, Any, Any])
    assert_type(srcdiff.linearize(with_aux, w, 3, has_aux=True), tuple[float, Linear, Any])


@srcdiff.vjp(inputs="a")
def pulled(a: float, b: int) -> float:
    return a**b


def decorated() -> None:
    pulled(1.0, b=2)
    pulled(1.0, "b")  # error


def matrices() -> None:
    j = srcdiff.jacobian(loss, mode="reverse")
    j(w, x)
    j(w)  # error
    srcdiff.jacobian(loss, mode="backward")  # error
    h = srcdiff.hessian(loss, workspace=True)
    h(w, x, scale=3.0)
    h(w, y=x)  # error
    assert_type(h.source, str)
    srcdiff.hvp(loss, (w, x), w)


if TYPE_CHECKING:
    Names = (
        Gradient[[Array, Array, float], Any] | Jacobian[[Array]] | Hessian[[Array]]
        | Differentiable[[float, int], float] | Pullback | Linear
    )  # fmt: skip
    """What they are called in messages."""
