"""Programs that are not accepted yet are refused before anything runs, and the error says where."""

import linecache

import numpy as np
import pytest

import srcdiff

from . import structures as st
from .check import with_cotangent
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


TOPICS = (".found", ".aliases", ".scaled")
ONCE = [p for p in PROGRAMS if not p.order2 and p.function.__module__.endswith(TOPICS)]


@pytest.mark.parametrize("program", ONCE, ids=[p.name for p in ONCE])
def test_second_order_that_is_not_accepted_yet(program):
    """Right to first order; the gradient of the gradient is refused, with its place."""
    args = program.arguments()

    first = srcdiff.grad(program.function, program.inputs)
    names = program.inputs if isinstance(program.inputs, tuple) else 0
    cotangent = np.ones_like(program.function(*program.arguments()))
    pulled = with_cotangent(first, program.function)
    with pytest.raises(srcdiff.UnsupportedError) as info:
        srcdiff.grad(pulled, names, materialize_grads=True)(*args, ct_=cotangent)
    assert info.value.loc is not None and info.value.loc.line > 0
    assert info.value.remedy.endswith(".")
