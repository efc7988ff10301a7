"""The whole corpus with `compile="numba"`: every program the same as with NumPy, or refused.

Compiling one takes a second: some are compiled, and more are run as Python from the text that Numba
is given, which says as much of what is written otherwise for it.
"""

import importlib

import pytest

from .native_corpus import check, interpreted
from .part import part
from .programs import PROGRAMS

pytestmark = pytest.mark.filterwarnings("ignore")
TEXTS = part(PROGRAMS, lambda p: p.name, 6)
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


@pytest.mark.parametrize("program", TEXTS, ids=lambda p: p.name)
def test_text(program):
    with interpreted():
        check(program)


@needs_numba
@pytest.mark.parametrize("program", COMPILED, ids=lambda p: p.name)
def test_compiled(program):
    reason = check(program)
    assert not reason or len(reason.splitlines()) > 1, f"no remedy: {reason}"
