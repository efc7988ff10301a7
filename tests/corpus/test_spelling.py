"""Names and texts are for people: no spelling decides what a program computes."""

import functools
import operator
import zlib

import numpy as np
import pytest

import srcdiff
from srcdiff import ir
from srcdiff.driver import pipeline
from srcdiff.ir.frozen import replace
from tests.corpus.blind import EVERY, MODES, Blind, SpellingError, check, plain
from tests.programs import PROGRAMS
from tests.support.part import part

CHECKED = part(PROGRAMS, lambda p: p.name, 10)


def mode_of(program):
    """One of the modes, the same in every run."""
    return MODES[zlib.crc32(program.name.encode()) // 10 % len(MODES)]


@pytest.mark.parametrize("program", CHECKED, ids=lambda p: p.name)
def test_no_spelling_decides_what_the_corpus_computes(program):
    mode = mode_of(program)
    try:
        expected = plain(program, mode)
    except srcdiff.SrcdiffError:
        return  # refused
    check(program, mode, Blind(EVERY, 1), expected)


def named(name):
    return next(p for p in PROGRAMS if p.name == name)


@pytest.mark.parametrize("mode", MODES)
def test_names_and_texts_go_after_all_passes(mode):
    program, blind = named("golden_programs-mlp"), Blind(EVERY, 1)
    check(program, mode, blind, plain(program, mode))
    rows = pipeline.FORWARD_PASSES if mode == "jvp" else pipeline.PASSES[:9]
    assert {label for label, _ in rows} <= {*blind.labels}
    assert {"webs", "apart", "finish", "spell", "sink"} <= {*blind.labels}
    assert blind.count > 200


def products_of_temporaries(stmt):
    """Reads a name: products that begin with `_` become sums."""
    call = ir.call_of(stmt)
    if call is None or call.fn is not operator.mul or not stmt.target.id.startswith("_"):
        return stmt
    return replace(stmt, rhs=replace(call, fn=operator.add))


def tangents_by_text(stmt):
    """Reads a text: hyperbolic tangents that are written as such become sines."""
    call = ir.call_of(stmt)
    if call is not None and call.text == "np.tanh":
        return replace(stmt, rhs=replace(call, fn=np.sin))
    return stmt


@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        (products_of_temporaries, "golden_programs-rosenbrock"),
        (tangents_by_text, "golden_programs-tanh_recurrence"),
    ],
    ids=["name", "text"],
)
def test_a_pass_that_reads_a_spelling_is_found(wrong, name, monkeypatch):
    right = pipeline.apart

    @functools.wraps(right)
    def apart(function):
        return ir.replaced_in(right(function), wrong)

    monkeypatch.setattr(pipeline, "apart", apart)
    expected = plain(named(name), "grad")
    check(named(name), "grad", Blind("apart", 1), expected)  # what comes later reads none
    with pytest.raises(SpellingError):
        check(named(name), "grad", Blind(EVERY, 1), expected)
