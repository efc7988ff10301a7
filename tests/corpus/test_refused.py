"""Programs that are not accepted yet are refused before anything runs, and the error says where."""

import linecache

import numpy as np
import pytest

import srcdiff
from tests.programs import refused_calls  # noqa: F401
from tests.programs.refused import REFUSED
from tests.support import structures as st

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
