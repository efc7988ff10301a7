"""The work of generating a gradient grows with the length of the function, and no faster.

Calls are counted, which do not depend on the machine: a pass that looked through all statements for
each of them would take four times as many for twice the lines.
"""

from __future__ import annotations

import numpy as np
import pytest

import srcdiff

from .bench.hydrodynamics import misfit, shock_tube
from .bench.transform import calls


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
