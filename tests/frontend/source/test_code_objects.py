"""Printed gradients whose text is refused when it is differentiated again, and their functions."""

import re

import numpy as np
import pytest

import srcdiff
from srcdiff.frontend.source.code_objects import named_primal, same_function
from tests.driver.test_second_order import energy, transform
from tests.support.differences import define, from_source

X = np.array([0.4, 0.7, 1.1, 0.9])
U = np.array([0.3, -0.2, 0.5, 1.0])


def printed(edits=(), more=None, at=(X, 1.0)):
    """The gradient of `energy` as a text in a module, with changes."""
    g = srcdiff.grad(energy)
    names = g.specialised(*at).__globals__
    text = re.sub(r"\bgrad_outputs\b", "ct", g.source)
    for old, new in edits:
        assert len(re.findall(old, text)) > 0, text
        text = re.sub(old, new, text)
    return from_source(text, "energy_grad", energy, {**names, **(more or {})})


def twice(f):
    """The product of the derivative of a gradient with `U`."""
    return srcdiff.grad(f)(X, 1.0, ct=1.0, grad_outputs=U)


def expected():
    h = 1e-5
    g = srcdiff.grad(energy)
    return (g(X + h * U, 1.0) - g(X - h * U, 1.0)) / (2.0 * h)  # the Hessian is symmetric


def test_the_text_goes_by_the_tangent():
    f = printed()
    np.testing.assert_allclose(twice(f), expected(), rtol=1e-8)
    nested = srcdiff.grad(srcdiff.grad(energy))(X, 1.0, grad_outputs=U)
    np.testing.assert_allclose(twice(f), nested, rtol=1e-14)


def test_names_of_variables_do_not_matter():
    f = printed([(r"\bd_x\b", "by_x"), (r"\by\b", "moved"), (r"\bct\b", "seed")])
    found = srcdiff.grad(f)(X, 1.0, seed=1.0, grad_outputs=U)
    np.testing.assert_allclose(found, expected(), rtol=1e-8)


def test_pullback_and_cotangent():
    f = printed()
    value, pull = srcdiff.vjp(f, X, 1.0, 2.0, inputs=("x", "ct"))
    np.testing.assert_allclose(value, 2.0 * srcdiff.grad(energy)(X, 1.0), rtol=1e-14)
    by_x, by_ct = pull(U)
    np.testing.assert_allclose(by_x, 2.0 * expected(), rtol=1e-8)
    np.testing.assert_allclose(by_ct, srcdiff.grad(energy)(X, 1.0) @ U, rtol=1e-14)


@pytest.mark.parametrize(
    "edit",
    [
        (r"3\.0", "3.5"),
        (r"np\.cos\(", "np.sin("),
        (r"Gradient of `energy`", "Gradient of `transform`"),
        (r"Gradient of `energy`", "Derivative of `energy`"),
        (r"Gradient of `energy`", "Gradient of `unknown`"),
        (r"with respect to `x`", "with respect to `scale`"),
        (r"with respect to `x`", "with respect to `other`"),
    ],
)
def test_an_edited_text_is_refused(edit):
    with pytest.raises(srcdiff.UnsupportedError, match="energy_grad"):
        twice(printed([edit]))


def test_other_arguments_than_those_of_the_text_are_refused():
    """For numbers of integers another text would have been generated."""
    f = printed(at=(X, 1.0))
    with pytest.raises(srcdiff.UnsupportedError):
        srcdiff.grad(f)(X.astype(complex), 1.0, ct=1.0, grad_outputs=U)


def other_transform(a):
    a *= 2.0


def test_a_primal_that_has_changed_since():
    """The text is not its gradient any more, and is refused again."""
    code = transform.__code__
    again = srcdiff.grad(printed())
    again(X, 1.0, ct=1.0, grad_outputs=U)
    try:
        transform.__code__ = other_transform.__code__
        with pytest.raises(srcdiff.UnsupportedError):
            again(X, 1.0, ct=1.0, grad_outputs=U)
    finally:
        transform.__code__ = code
    np.testing.assert_allclose(again(X, 1.0, ct=1.0, grad_outputs=U), expected(), rtol=1e-8)


# --- functions that do the same ------------------------------------------------------------------

ONE = "def f(x, y=1.0):\n    '''One.'''\n    t = np.sin(x)\n    return h(t, b=y) + 0.0\n"
CALLEE = "def h(a, b):\n    return [a * i for i in range(3)][-1] - b\n"


def function(text, callee=CALLEE, **names):
    h = define(callee, "h", {})
    return define(text, "f", {"np": np, "h": h, **names})


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        ("t", "t", True),
        ("One", "Another docstring", True),
        (r"\bt\b", "u", True),
        (r"\bx\b", "z", True),
        (r"\+ 0\.0", "+ -0.0", False),
        (r"0\.0", "0", False),
        (r"y=1\.0", "y=2.0", False),
        (r"y=1\.0", "*, y=1.0", False),
        (r"np\.sin", "np.cos", False),
        (r"h\(t, b=y\)", "h(t, a=y)", False),
        (r"f\(x, y=1.0\)", "f(y, x=1.0)", False),
    ],
)
def test_same_function(old, new, same):
    assert same_function(function(ONE), function(re.sub(old, new, ONE))) is same


@pytest.mark.parametrize(
    ("old", "new", "same"),
    [
        (r"\bi\b", "j", True),
        (r"range\(3\)", "range(4)", False),
        ("a", "b", False),
        (r"- b", "- a", False),
        (r"\ba\b(.*)\bb\b", r"b\1a", False),
    ],
)
def test_same_callee(old, new, same):
    if old == "a":
        new_text = "def h(b, a):\n    return [b * i for i in range(3)][-1] - a\n"
    else:
        new_text = re.sub(old, new, CALLEE)
    assert same_function(function(ONE), function(ONE, new_text)) is same


def test_same_values_outside():
    text = "def f(x):\n    return x * k\n"
    first = function(text, k=1.0)
    assert same_function(first, function(text, k=1.0))
    assert not same_function(first, function(text, k=1))
    held = np.ones(2)
    assert same_function(function(text, k=held), function(text, k=held))
    assert not same_function(function(text, k=held), function(text, k=np.ones(2)))
    assert not same_function(first, function(text))


def test_recursive_functions():
    text = "def f(x, n):\n    return x if n == 0 else f(x * %s, n - 1)\n"
    assert same_function(function(text % "2.0"), function(text % "2.0"))
    assert not same_function(function(text % "2.0"), function(text % "3.0"))


def test_no_claim():
    assert named_primal(energy) is None
    assert named_primal(np.sin) is None
    assert named_primal(printed()) == (energy, ("x",))
