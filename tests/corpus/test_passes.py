"""The passes on the whole corpus: invariants after each, and what is saved."""

import numpy as np
import pytest

import srcdiff
from srcdiff import ir
from srcdiff.driver import pipeline
from srcdiff.driver.options import Options, request_of
from srcdiff.ir.verifier import verify
from srcdiff.kinds.lattice import kind_of
from tests.programs import PROGRAMS, arrays_inplace, golden_programs, linear_algebra, loops
from tests.support import structures as st
from tests.support.part import part

CHECKED = part(PROGRAMS, lambda p: p.name, 16)


def states(program):
    """The state after every pass, specialised on the program's arguments."""
    names = st.bound_arguments(program.function, program.arguments())
    kinds = {name: kind_of(value, name) for name, value in names.items()}
    request = request_of(program.function, Options(program.inputs, program.outputs))
    return list(pipeline.run(program.function, request, kinds, ir.HOST))


@pytest.mark.parametrize("program", CHECKED, ids=lambda p: p.name)
def test_invariants_after_every_pass(program):
    final = False
    for label, state in states(program):
        final = final or label == "tape"
        try:
            verify(state.function, final)
        except Exception as error:
            raise AssertionError(f"after {label}") from error


def program_of(function):
    """The first registered program of a function."""
    return next(p for p in PROGRAMS if p.function is function)


def pushes(function):
    """The pushes on lists in the gradient of a function, by what is pushed."""
    final = states(program_of(function))[-1][1].function
    calls = [s.rhs for s in ir.walk(final.body) if isinstance(s, ir.Effect)]
    return [
        call.args[1:]
        for call in calls
        if isinstance(call, ir.Call) and call.fn == ir.Method("append")
    ]


def saved(function):
    """The names that hold what the gradient of a function keeps: lists, and copies to put back."""
    final = states(program_of(function))[-1][1].function
    return sorted(name for name in ir.bound(final.body) if "_saved" in name)


@pytest.mark.parametrize(
    "function",
    [golden_programs.jacobi, golden_programs.convolve, linear_algebra.triple_loop_product],
    ids=lambda f: f.__name__,
)
def test_linear_loops_save_nothing(function):
    assert pushes(function) == [] and saved(function) == []


def _layer(w, h):
    return np.tanh(h @ w)


def layers(w, h, n):
    for k in range(n):
        h = _layer(w[k], h)
    return np.sum(h)


def test_what_a_helper_returns_is_saved_once():
    text = srcdiff.source(layers, example=(np.ones((2, 3, 3)), np.ones(3), 2))
    assert text.count("_saved = []") == 1


def test_a_tanh_recurrence_saves_one_value_a_step():
    assert len(pushes(golden_programs.tanh_recurrence)) == 1
    assert saved(golden_programs.tanh_recurrence) == ["x_saved"]
    assert saved(golden_programs.view_chain) == ["first_saved"]  # a copy to put back counts


def test_a_carried_value_is_saved_once():
    assert len(pushes(loops.recurrence)) == 1


@pytest.mark.parametrize(
    "function",
    [
        golden_programs.least_squares,
        golden_programs.logistic_regression,
        golden_programs.mlp,
        golden_programs.rosenbrock,
        golden_programs.cross_entropy,
        golden_programs.black_scholes,
        golden_programs.gaussian_mixture,
    ],
    ids=lambda f: f.__name__,
)
def test_straight_line_code_saves_nothing(function):
    final = states(program_of(function))[-1][1].function
    assert pushes(function) == [] and saved(function) == []
    assert not [s for s in ir.walk(final.body) if isinstance(s, (ir.For, ir.While))]


@pytest.mark.parametrize(
    "function",
    [golden_programs.rnn, golden_programs.cumulative_product, arrays_inplace.prefix_products],
    ids=lambda f: f.__name__,
)
def test_a_buffer_written_once_saves_nothing(function):
    """What is needed below still stands in the buffer."""
    assert pushes(function) == [] and saved(function) == []


def test_no_push_that_nothing_pops():
    for function in (golden_programs.kalman, golden_programs.settle, golden_programs.rk4):
        final = states(program_of(function))[-1][1].function
        effects = [s.rhs for s in ir.walk(final.body) if isinstance(s, ir.Effect)]
        pushed = {
            c.args[0] for c in effects if isinstance(c, ir.Call) and c.fn == ir.Method("append")
        }
        popped = {
            s.rhs.args[0]
            for s in ir.walk(final.body)
            if isinstance(s, ir.Assign)
            and isinstance(s.rhs, ir.Call)
            and s.rhs.fn == ir.Method("pop")
        }
        assert pushed == popped
