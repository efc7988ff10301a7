"""The lowering: IR that does exactly what Python does."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from srcdiff.lower import lower
from srcdiff.parse import parse
from srcdiff.verify import verify
from tests import ir_interpreter
from tests.lowering_loops import ALL


def _outcome(call, function, case):
    """What a call gives or raises, and what became of its arguments."""
    args = [copy.deepcopy(a() if callable(a) else a) for a in case]
    try:
        result = call(function, *args)
    except Exception as error:
        return type(error), str(error), args
    return "value", result, args


def _same(a, b):
    """Whether two results are equal, types and dtypes included."""
    if type(a) is not type(b):
        return False
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(_same, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(_same(v, b[k]) for k, v in a.items())
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and np.array_equal(a, b)
    return bool(a == b)


@pytest.mark.parametrize("f,cases", ALL, ids=[f.__name__ for f, _ in ALL])
def test_the_ir_does_what_python_does(f, cases):
    function = lower(parse(f))
    verify(function, final=True)
    for case in cases:
        expected = _outcome(lambda g, *args: g(*args), f, case)
        found = _outcome(ir_interpreter.run, function, case)
        assert _same(expected, found), (case, expected, found)


def body(f):
    return lower(parse(f)).body
