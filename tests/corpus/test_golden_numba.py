"""The modules that Numba compiles for gradients: what is fused stands in `tests/golden/numba/`.

That they compute what NumPy does is tested for every program, in `test_programs.py` by Python and
in `test_native.py` compiled.
"""

import pytest

from tests.golden_update import COMPILED, NUMBA, text_for_numba


@pytest.mark.parametrize("name", COMPILED)
def test_text(name):
    assert text_for_numba(name) == (NUMBA / f"{name}.py").read_text()


def test_every_file_is_compared():
    assert {path.stem for path in NUMBA.glob("*.py")} == set(COMPILED)
