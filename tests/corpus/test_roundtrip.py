"""Printed text means what the IR means: lowered again it is the same, and it runs the same."""

from __future__ import annotations

import operator

import pytest

from srcdiff.frontend.lowering import lower
from srcdiff.frontend.source.parse import parse
from tests.corpus.roundtrip import WHOLE, again, is_incomplete, printed
from tests.frontend.test_lowering import Writer, _outcome, _same, outcome
from tests.support.differences import define
from tests.support.lowering_loops import ALL
from tests.support.part import lots

SEEDS = range(120)
FUNCTIONS = list(dict.fromkeys(p.function for p in WHOLE))
LOOPS = [(f, cases) for f, cases in ALL if not is_incomplete(lower(parse(f)))]


@lots("functions", FUNCTIONS, operator.attrgetter("__name__"))
def test_texts_of_programs_read_back(functions):
    for function in functions:
        check_text(function)


def check_text(f):
    text, function = printed(f)
    assert again(function) == text


@pytest.mark.parametrize("f,cases", LOOPS, ids=[f.__name__ for f, _ in LOOPS])
def test_text_reads_back_and_runs_the_same(f, cases):
    text, function = printed(f)
    assert again(function) == text
    for case in cases:
        expected = _outcome(lambda g, *args: g(*args), f, case)
        found = _outcome(lambda g, *args: g(*args), function, case)
        assert _same(expected, found), (case, expected, found, text)


def test_random_control_flow_runs_the_same():
    for seed in SEEDS:
        source = Writer(seed).text()
        f = define(source, "f", {})
        text, function = printed(f)
        for args in ((0, 1), (2, 3), (-1, 5)):
            expected, found = outcome(f, *args), outcome(function, *args)
            assert found == expected, f"seed {seed}, arguments {args}:\n{source}\n{text}"
