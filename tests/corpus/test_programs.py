"""Every program of the corpus: its gradient, the gradient of that, and the printed source."""

import re

import numpy as np
import pytest

import srcdiff
from tests.corpus.native import check_text, shared_passes
from tests.corpus.roundtrip import check_gradient_reads_back
from tests.programs import PROGRAMS
from tests.support import structures as st
from tests.support.differences import (
    Problem,
    check_gradient,
    check_second_order,
    from_source,
    is_scalar,
    positional,
    with_cotangent,
)
from tests.support.part import part

IDS = [f"{i:03d}-{p.name}" for i, p in enumerate(PROGRAMS)]
NAMED = list(zip(PROGRAMS, IDS, strict=True))
# Every program is differentiated in every run, and some of them twice: one in twelve against
# differences, and one in twelve as the printed text of its gradient.
SECOND = part([n for n in NAMED if n[0].order2], lambda n: n[0].name, 12)
PRINTED = part(NAMED, lambda n: n[0].name, 12, which=1)
COMPILED = {p.name for p in part(PROGRAMS, lambda p: p.name, 2)}


@pytest.mark.parametrize("program", PROGRAMS, ids=IDS)
def test_gradient(program):
    """It is right and reads back, and every second one for Numba is the same or is refused."""
    with shared_passes():
        if program.gradient is not None:
            check_by_hand(program)
        else:
            check_gradient(
                program.function,
                program.arguments(),
                program.inputs,
                program.outputs,
                tolerance=program.tolerance,
            )
        check_gradient_reads_back(program)
        if program.name in COMPILED:
            check_text(program)


def check_by_hand(program):
    """The gradient of a program against one written by hand."""
    args = program.arguments()
    problem = Problem(program.function, args, program.inputs, program.outputs)
    ct = st.random_like(np.random.default_rng(3), problem.output())
    g = srcdiff.grad(program.function, program.inputs, program.outputs)
    rtol = 1e-5 if program.tolerance > 1e-6 else 1e-12
    found, expected = problem.gradient(g, ct), program.gradient(*args, ct)
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=1e-15)


def check_second_by_hand(program):
    """The gradient of the gradient of a program against one written by hand."""
    rng = np.random.default_rng(3)
    args = program.arguments()
    problem = Problem(program.function, args, program.inputs, program.outputs)
    ct, u = st.random_like(rng, problem.output()), st.random_like(rng, problem.at)
    g = srcdiff.grad(program.function, program.inputs, program.outputs)
    twice = srcdiff.grad(
        with_cotangent(g, program.function), program.inputs, materialize_grads=True
    )
    rtol = 1e-5 if program.tolerance > 1e-6 else 1e-12
    found, expected = twice(*args, ct_=ct, grad_outputs=u), program.second(*args, ct, u)
    assert found.dtype == args[0].dtype
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=1e-15)


@pytest.mark.parametrize("program", [p for p, _ in SECOND], ids=[name for _, name in SECOND])
def test_gradient_of_gradient(program):
    if program.second is not None:
        check_second_by_hand(program)
        return
    check_second_order(
        program.function,
        program.arguments(),
        program.inputs,
        program.outputs,
        tolerance=program.tolerance,
    )


@pytest.mark.parametrize("program", part(PROGRAMS, lambda p: p.name, 10), ids=lambda p: p.name)
def test_a_pullback_called_twice(program):
    """It gives the same, to the last bit."""
    problem = Problem(program.function, program.arguments(), program.inputs, program.outputs)
    ct = st.random_like(np.random.default_rng(5), problem.output())
    pos, kw = positional(program.function, problem.arguments())
    choice = {"inputs": program.inputs, "outputs": program.outputs}
    _, pullback = srcdiff.vjp(program.function, **choice, unused="zeros")(*pos, **kw)
    assert_same(pullback(ct), pullback(ct), 0.0)


@pytest.mark.parametrize("program", [p for p, _ in PRINTED], ids=[name for _, name in PRINTED])
def test_printed_source(program):
    """The printed text computes the same; differentiating it does too, or is refused at a line."""
    rng = np.random.default_rng(4)
    function, inputs = program.function, program.inputs
    problem = Problem(function, program.arguments(), inputs, program.outputs)
    ct = st.random_like(rng, problem.output())
    g = srcdiff.grad(function, inputs, program.outputs)
    pos, kw = positional(function, problem.arguments())
    value = g(*pos, grad_outputs=ct, **kw)
    text = re.sub(r"\bgrad_outputs\b", "ct_", g.source)
    more = g.specialised(*pos, **kw).__globals__
    printed = from_source(text, f"{function.__name__}_grad", function, more)
    pos, kw = positional(function, problem.arguments())
    assert_same(printed(*pos, ct_=ct, **kw), value, 0.0)
    if not program.order2:
        return
    w = st.random_like(rng, problem.at)
    again = srcdiff.grad(printed, inputs, materialize_grads=True)
    nested, extra = g, {}
    if not (is_scalar(problem.output()) and program.outputs is None):
        nested, extra = with_cotangent(g, function), {"ct_": ct}
    twice = srcdiff.grad(nested, inputs, materialize_grads=True)
    pos, kw = positional(function, problem.arguments())
    try:
        found = again(*pos, ct_=extra.get("ct_", 1.0), grad_outputs=w, **kw)
    except srcdiff.UnsupportedError as error:
        assert error.loc.file == printed.__code__.co_filename and error.loc.line > 1
        return
    pos, kw = positional(function, problem.arguments())
    assert_same(found, twice(*pos, **extra, grad_outputs=w, **kw), 1e-10)


def assert_same(found, expected, rtol):
    """Two structures hold the same numbers."""
    pairs = zip(st.leaves_as(expected, found), st.leaves(expected), strict=True)
    for x, y in pairs:
        if st.is_numeric(y) and st.is_numeric(x):
            np.testing.assert_allclose(x, y, rtol=rtol, atol=rtol)
        else:
            assert x is None and y is None
