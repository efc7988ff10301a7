"""The work of generating a gradient grows with the length of the function, and no faster.

Calls are counted, which do not depend on the machine: a pass that looked through all statements for
each of them would take four times as many for twice the lines.
"""

from __future__ import annotations

import gc

import numpy as np
import pytest

import srcdiff

from .bench.hydrodynamics import misfit, shock_tube
from .bench.transform import calls, program
from .support.differences import define


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # the numbers of long programs overflow
@pytest.mark.parametrize("repeated", [False, True], ids=["once", "in a loop"])
def test_the_work_grows_with_the_lines(repeated: bool) -> None:
    calls(33, repeated)  # loads the rules
    short, middle, long = (calls(lines, repeated) for lines in (33, 63, 123))
    assert long - middle == pytest.approx(2 * (middle - short), rel=0.03)


def test_a_solver_of_two_hundred_lines() -> None:
    left, right, seen = shock_tube()
    way, step = np.array([0.3, -0.2, 0.5]), 1e-6
    ends = [misfit(left + h * way, right, seen) for h in (step, -step)]
    found = srcdiff.grad(misfit, "left")(left, right, seen) @ way
    assert found == pytest.approx((ends[0] - ends[1]) / (2.0 * step), rel=1e-7)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_is_no_longer_needed_is_freed_at_once() -> None:
    """Nothing in a compilation refers to itself, so that the collector would have to find it."""
    x = np.linspace(0.1, 0.8, 8)
    srcdiff.grad(define(program(33), "f", {"np": np}))(x)  # loads the rules
    g = srcdiff.grad(define(program(33), "f", {"np": np}))
    gc.collect()
    gc.disable()
    try:
        g(x)
        assert gc.collect() < 20
    finally:
        gc.enable()
