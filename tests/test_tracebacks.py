"""Errors in generated code: the generated line is shown, and the user's in a note."""

import sys
import traceback

import numpy as np
import pytest

import srcdiff

X = np.array([0.5, 0.2])


def lookup(x, i):
    y = np.sin(x)
    return y[i] * 2.0  # out of bounds


def looped(x, table):
    total = 0.0
    for k in range(3):
        total += np.sum(x @ table[k])
    return total


def halved(x, n):
    if n == 0:
        return np.sum(x @ X)
    return halved(x * 0.5, n - 1)


def shown(call):
    """The text of an error, as a program prints it."""
    with pytest.raises((IndexError, ValueError)) as info:
        call()
    return "".join(traceback.format_exception(info.value))


LINE = {
    f: f"{__file__}:{f.__code__.co_firstlineno + at}: "
    for f, at in ((lookup, 2), (looped, 3), (halved, 2))
}  # fmt: skip
CALLS = {
    "gradient": (lookup, lambda: srcdiff.grad(lookup)(X, 7)),
    "forward": (lookup, lambda: srcdiff.jvp(lookup, (X, 7), (X, None))),
    "pullback": (lookup, lambda: srcdiff.vjp(lookup, X, 7)),
    "second": (lookup, lambda: srcdiff.grad(srcdiff.grad(lookup))(X, 7)),
    "loop": (looped, lambda: srcdiff.grad(looped)(X, [X, X, np.ones(3)])),
    "recursion": (halved, lambda: srcdiff.grad(halved)(np.ones(3), 2)),
    "hessian": (lookup, lambda: srcdiff.hvp(lookup, (X, 7), X)),
}


@pytest.mark.parametrize("name", CALLS)
def test_errors_show_both_lines(name):
    f, call = CALLS[name]
    text = shown(call)
    assert 'File "<srcdiff ' in text
    if sys.version_info >= (3, 11):
        assert text.count("in the derivative of ") == 1
        assert f"in the derivative of {LINE[f]}" in text, text


def test_generated_line_is_shown():
    text = shown(CALLS["loop"][1])
    assert "    d_x += grad_outputs * table[k]" in text


def test_errors_elsewhere_have_no_note():
    with pytest.raises(TypeError) as info:
        srcdiff.grad(lookup)(X)
    assert not getattr(info.value, "__notes__", [])
    with pytest.raises(srcdiff.CotangentError) as info:
        srcdiff.grad(looped)(X, [X] * 3, grad_outputs=X)
    assert not getattr(info.value, "__notes__", [])
