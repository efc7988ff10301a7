"""What `docs/refusals.md` says is refused is refused, with the very message that stands there."""

import pytest

import srcdiff

from . import limits
from .documents import REFUSALS, ROOT
from .limits.places import unreached
from .limits.table import LIMITS

PAGE = REFUSALS.read_text()


@pytest.mark.parametrize("limit", LIMITS, ids=lambda limit: limit.title)
def test_limit(limit):
    """`make golden` writes the page anew."""
    if limit.topic == "Matrices and objects of SciPy":
        pytest.importorskip("scipy.sparse", reason="SciPy is an extra")
    assert limits.entry(limit) in PAGE
    error = limits.run(limit)
    assert "_t_" not in str(error)
    if isinstance(error, srcdiff.TransformError):
        assert error.remedy.endswith((".", "B\"."))


def test_the_page_lists_nothing_else():
    assert PAGE.count("\n### ") == len(LIMITS)
    assert PAGE.startswith(limits.HEAD)


def test_the_page_in_plain_words_leads_to_every_topic():
    plain = (ROOT / "docs" / "limits.md").read_text()
    topics = {limit.topic for limit in LIMITS}
    assert {t for t in topics if f"(refusals.md#{limits.anchor(t)})" not in plain} == set()


UNREACHED = {
    "driver/callables.py": "an object of Numba's, which need not be installed",
    "backends/numba/cache.py": "what Numba says, which need not be installed",
    "frontend/lower/builder.py": "an expression that only later versions of Python have",
    "normalize/overlaps.py": "a NumPy before 2.3 (`test_overlaps.py` sets it so)",
    "runtime/workspace.py": "a Python without reference counts, or without its global lock",
}


def test_every_refusal_is_on_the_page():
    """What refuses something and is reached by no program wants one, or is dead code."""
    pytest.importorskip("scipy.sparse", reason="SciPy is an extra")
    found = [str(p) for p in unreached()]
    assert sorted(p.partition(":")[0] for p in found) == sorted(UNREACHED), "\n".join(found)
