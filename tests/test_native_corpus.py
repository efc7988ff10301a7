"""Programs of the corpus compiled by Numba: each the same as with NumPy, or refused.

The text that Numba is given is run by Python for every program, in `test_programs.py`, which says
as much of what is written otherwise for it.  Compiling one takes a second: some are compiled here,
all of them by `python -m tests.native_corpus`.
"""

import importlib

import pytest

from .native_corpus import check
from .part import part
from .programs import PROGRAMS

pytestmark = pytest.mark.filterwarnings("ignore")
COMPILED = part(PROGRAMS, lambda p: p.name, 60, which=1)
# What Numba computed otherwise, or raised an error of its own for.
COMPILED += [
    p for p in PROGRAMS if p not in COMPILED and p.name in (
        "scaled-scaled_by_itself", "scaled-scaled_by_alias", "peers_break-overlapping_views",
        "layouts-differences_of_no_order", "effects_in_texts-a_step_in_a_text",
        "indexing-masked_matrix", "linear-bilinear_dict", "attempts-falls_back",
    )
]  # fmt: skip
needs_numba = pytest.mark.skipif(
    importlib.util.find_spec("numba") is None, reason="needs Numba, which is an extra"
)


@needs_numba
@pytest.mark.parametrize("program", COMPILED, ids=lambda p: p.name)
def test_compiled(program):
    check(program)
