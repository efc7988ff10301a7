"""The corpus itself: its programs run, are finite, and differences say something about them."""

import operator

import numpy as np

from tests.programs import GOLDEN, PROGRAMS, TOPICS
from tests.support import structures as st
from tests.support.differences import Problem
from tests.support.part import lots

# Of a gradient that is given by hand differences may say nothing.
SMOOTH = [p for p in PROGRAMS if p.gradient is None]


@lots("programs", SMOOTH, operator.attrgetter("name"))
def test_programs_are_differentiable_by_differences(programs):
    for program in programs:
        check_differences(program)


def check_differences(program):
    problem = Problem(program.function, program.arguments(), program.inputs, program.outputs)
    rng = np.random.default_rng(5)
    output = problem.output()
    assert all(np.all(np.isfinite(v)) for v in st.leaves(output) if st.is_number(v))
    assert any(st.is_number(v) for v in st.leaves(output))
    assert any(st.is_number(v) for v in st.leaves(problem.at))
    direction = st.random_like(rng, problem.at)
    slope, error = problem.slope(direction, st.random_like(rng, output))
    assert error <= 0.1 * program.tolerance * max(abs(slope), 1e-2)
    assert slope != 0.0


def test_corpus_is_large_and_named_once():
    assert len({p.function for p in PROGRAMS}) >= 120
    assert len(GOLDEN) >= 25
    assert {p.function.__module__.rpartition(".")[2] for p in PROGRAMS} | {"helpers"} == set(TOPICS)
