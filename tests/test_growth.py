"""The work of generating a gradient grows with the length of the function, and no faster.

Calls are counted, which do not depend on the machine: a pass that looked through all statements for
each of them would take four times as many for twice the lines.
"""

from __future__ import annotations

import pytest

from .bench.transform import calls


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # the numbers of long programs overflow
@pytest.mark.parametrize("repeated", [False, True], ids=["once", "in a loop"])
def test_the_work_grows_with_the_lines(repeated: bool) -> None:
    calls(33, repeated)  # loads the rules
    short, middle, long = (calls(lines, repeated) for lines in (33, 63, 123))
    assert long - middle == pytest.approx(2 * (middle - short), rel=0.03)
