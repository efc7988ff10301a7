"""Forward mode on every program of the corpus: against differences, and against reverse mode."""

import inspect

import numpy as np
import pytest

import srcdiff

from . import structures as st
from .check import Problem, assert_slope, assert_unchanged, positional
from .programs import PROGRAMS

IDS = [f"{i:03d}-{p.name}" for i, p in enumerate(PROGRAMS)]


def tangents_of(problem, direction):
    """A tangent for every positional argument: None for those that no input is part of."""
    some = st.random_like(np.random.default_rng(7), problem.names)
    still = st.mapped(lambda x: None if x is None else 0.0 * x, some)
    moved = st.replaced(problem.function, problem.inputs, still, direction)
    paths = st.paths(problem.function, problem.inputs)
    params = {p.partition("[")[0].partition(".")[0] for p in paths}
    args, _ = positional(problem.function, problem.arguments())
    names = list(inspect.signature(problem.function).parameters)
    return tuple(moved[n] if n in params else None for n in names[: len(args)])


def along(program, problem, direction):
    """The tangent of a program's outputs along a direction of its inputs."""
    names = problem.arguments()
    args, kwargs = positional(program.function, names)
    _, tangent = srcdiff.jvp(
        program.function, args, tangents_of(problem, direction), outputs=program.outputs, **kwargs
    )
    assert_unchanged(problem.names, names)
    return tangent


@pytest.mark.parametrize("program", PROGRAMS, ids=IDS)
def test_along_a_direction(program):
    rng = np.random.default_rng(5)
    problem = Problem(program.function, program.arguments(), program.inputs, program.outputs)
    g = srcdiff.grad(program.function, program.inputs, program.outputs)
    for _ in range(2):
        output = problem.output()
        cotangent = st.random_like(rng, output)
        direction = st.random_like(rng, problem.at)
        tangent = along(program, problem, direction)
        found = st.inner(cotangent, tangent)
        gradient = problem.gradient(g, cotangent)
        expected = st.inner(gradient, direction)
        scale = max(1.0, abs(expected), abs(found))
        loose = program.tolerance > 1e-6
        if np.isnan(expected):
            assert np.isnan(found)
            continue
        assert abs(found - expected) <= (1e-4 if loose else 1e-9) * scale
        if program.gradient is None:
            slope = problem.slope(direction, cotangent)
            assert_slope(found, slope, 1e-2 * scale, program.tolerance)
