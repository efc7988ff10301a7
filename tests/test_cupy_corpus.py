"""The whole corpus and all rules on the stand-in for CuPy (by hand: `python -m tests.standin`)."""

import zlib

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


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.name)
def test_program(device, program):
    """The same gradient as NumPy's, and nothing goes to the host that the primal does not take."""
    outcome = run(program, device, False)
    assert outcome.verdict in ("right", "numbers", "refused", "primal"), outcome.detail


# Written with `np` a program is the same but for its names; all of them: `python -m tests.standin`.
AS_WRITTEN = [p for p in PROGRAMS if zlib.crc32(p.name.encode()) % 4 == 0]


@pytest.mark.parametrize("program", AS_WRITTEN, ids=lambda p: p.name)
def test_program_written_with_np(device, program):
    outcome = run(program, device, True)
    assert outcome.verdict in ("right", "numbers", "refused", "primal"), outcome.detail


@pytest.mark.parametrize("sample", collected(), ids=lambda s: s.id)
def test_rule(device, sample):
    outcome = samples.run(sample, device)
    assert outcome.verdict in ("right", "numbers", "missing", "refused"), outcome.detail


def test_exceptions_are_in_the_corpus():
    assert {p.name for p in PROGRAMS} >= {*MOVED}
