"""The whole corpus and all rules on the stand-in for CuPy (by hand: `python -m tests.standin`)."""

import pytest

from .part import part
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


# All of them: `python -m tests.standin`.
CALLED_CP = part(PROGRAMS, lambda p: p.name, 6)
CALLED_NP = part(PROGRAMS, lambda p: p.name, 16, which=1)
# Functions of NumPy that stand in tables are compared with CuPy's.
TABLES = ("functions-activation_by_name", "functions-network_by_names")
CALLED_NP += [p for p in PROGRAMS if p.name in TABLES and p not in CALLED_NP]
SAMPLES = part(collected(), lambda s: s.id, 8)


@pytest.mark.parametrize("program", CALLED_CP, ids=lambda p: p.name)
def test_program(device, program):
    """The same gradient as NumPy's, and nothing goes to the host that the primal does not take."""
    outcome = run(program, device, False)
    assert outcome.verdict in ("right", "numbers", "refused", "primal"), outcome.detail


@pytest.mark.parametrize("program", CALLED_NP, ids=lambda p: p.name)
def test_program_written_with_np(device, program):
    """The same but for the names."""
    outcome = run(program, device, True)
    assert outcome.verdict in ("right", "numbers", "refused", "primal"), outcome.detail


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda s: s.id)
def test_rule(device, sample):
    outcome = samples.run(sample, device)
    assert outcome.verdict in ("right", "numbers", "missing", "refused"), outcome.detail


def test_exceptions_are_in_the_corpus():
    assert {p.name for p in PROGRAMS} >= {*MOVED}
