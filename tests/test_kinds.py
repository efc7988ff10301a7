"""What is inferred of names is what they are; shapes that are called equal are equal."""

import numpy as np
import pytest

from srcdiff.analyses.kind_types import (
    BIG,
    UNKNOWN,
    Array,
    Dict,
    List,
    NoneKind,
    Scalar,
    Sym,
    Text,
    Tuple,
    broadcast_dims,
    broadcasts_to_itself,
    join,
    same_shape,
)
from srcdiff.analyses.kinds import infer, key_of, kind_of
from srcdiff.lower import lower
from srcdiff.parse import parse
from srcdiff.webs import webs

from .kind_checker import run_checked
from .programs import PROGRAMS
from .structures import bound_arguments

IDS = [f"{i:03d}-{p.name}" for i, p in enumerate(PROGRAMS)]


def lowered(function):
    return webs(lower(parse(function)))


@pytest.mark.parametrize("program", PROGRAMS, ids=IDS)
def test_kinds_of_the_corpus_are_true(program, monkeypatch):
    function = lowered(program.function)
    args = program.arguments()
    named = bound_arguments(program.function, args)
    kinds = infer(function, {n: kind_of(v, n) for n, v in named.items()})
    assert all(kinds[p.name] is not None for p in function.params)
    run_checked(function, kinds, args, monkeypatch)


@pytest.mark.parametrize("program", PROGRAMS, ids=IDS)
def test_kinds_without_arguments_are_true(program, monkeypatch):
    function = lowered(program.function)
    args = program.arguments()
    named = bound_arguments(program.function, args)
    plain = all(isinstance(v, (float, int, np.ndarray)) for v in named.values())
    kinds = infer(function, {} if plain else dict.fromkeys(named, UNKNOWN))
    run_checked(function, kinds, args, monkeypatch)
