"""Printed text means what the IR means: lowered again it is the same IR, and it runs the same."""

from __future__ import annotations

import pytest

from srcdiff.lower import lower
from srcdiff.parse import parse
from tests.check import define
from tests.lowering_loops import ALL
from tests.programs import PROGRAMS
from tests.roundtrip import difference, printed
from tests.test_lower import _outcome, _same
from tests.test_lower_fuzz import Log, Writer

FUNCTIONS = list(dict.fromkeys(p.function for p in PROGRAMS))


@pytest.mark.parametrize("f", FUNCTIONS, ids=[f.__name__ for f in FUNCTIONS])
def test_text_of_a_program_lowers_to_the_same(f):
    function, again = printed(f)
    assert difference(function, lower(parse(again))) is None


@pytest.mark.parametrize("f,cases", ALL, ids=[f.__name__ for f, _ in ALL])
def test_text_lowers_to_the_same_and_runs_the_same(f, cases):
    function, again = printed(f)
    assert difference(function, lower(parse(again))) is None
    for case in cases:
        expected = _outcome(lambda g, *args: g(*args), f, case)
        found = _outcome(lambda g, *args: g(*args), again, case)
        assert _same(expected, found), (case, expected, found)
