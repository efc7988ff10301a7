"""The whole corpus and all rules on the stand-in for CuPy (by hand: `python -m tests.standin`)."""

import pytest

from .programs import PROGRAMS
from .samples import collected
from .standin import Device, samples
from .standin.corpus import run
from .standin.exceptions import MOVED

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def device():
    """The stand-in as `cupy`, as long as the tests of this file run."""
    made = Device()
    with made.installed():
        yield made


@pytest.mark.parametrize("as_written", [False, True], ids=["cp", "np"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_program(device, program, as_written):
    """The same gradient as NumPy's, and nothing goes to the host that the primal does not take."""
    outcome = run(program, device, as_written)
    assert outcome.verdict in ("right", "numbers", "refused", "primal"), outcome.detail


@pytest.mark.parametrize("sample", collected(), ids=lambda s: s.id)
def test_rule(device, sample):
    outcome = samples.run(sample, device)
    assert outcome.verdict in ("right", "numbers", "missing", "refused"), outcome.detail


def test_exceptions_are_in_the_corpus():
    assert {p.name for p in PROGRAMS} >= {*MOVED}
