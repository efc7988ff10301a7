"""Programs that are not accepted yet are refused before anything runs, and the error says where."""

import linecache

import numpy as np
import pytest

import srcdiff

from . import structures as st
from .programs import PROGRAMS
from .programs.refused import REFUSED

IDS = [f"{i}-{p.function.__name__}" for i, p in enumerate(REFUSED)]


@pytest.mark.parametrize("program", REFUSED, ids=IDS)
def test_refused_program(program):
    args = program.args(np.random.default_rng(0))
    output = program.function(*args)
    assert any(np.all(np.isfinite(v)) for v in st.leaves(output) if st.is_number(v))
    with pytest.raises(srcdiff.TransformError) as info:
        srcdiff.grad(program.function, program.inputs)(*args)
    error = info.value
    assert program.reason in error.reason
    assert error.remedy.endswith(".")
    if program.line:
        assert linecache.getline(error.loc.file, error.loc.line).strip() == program.line
        assert error.loc.col > 0
        assert "^" in str(error)


def second_by_hand(name, x, direction):
    """The gradient of <gradient, direction> of a program whose gradient is given by hand."""
    if name == "peers_break-nan_kept":
        return np.zeros(2)  # linear in x, though it depends on a nan
    square = np.tanh(x) ** 2
    return (1 - square) * (1 - 3 * square) * direction


@pytest.mark.parametrize("name", ["peers_break-nan_kept", "elementary-single_precision"])
def test_second_order_by_hand(name):
    """Where differences say nothing: beside nan, and in single precision."""
    program = next(p for p in PROGRAMS if p.name == name)
    assert not program.order2
    args = program.arguments()
    direction = np.array([0.5, -1.5, 2.0, 0.3])[: len(args[0])].astype(args[0].dtype)
    g = srcdiff.grad(program.function, program.inputs)
    twice = srcdiff.grad(g, program.inputs, materialize_grads=True, allow_unused=True)
    found = twice(*args, grad_outputs=direction)
    assert found.dtype == args[0].dtype
    np.testing.assert_allclose(found, second_by_hand(name, args[0], direction), rtol=1e-5)
