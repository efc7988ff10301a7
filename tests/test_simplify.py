"""Before and after `simplify`: what goes, what stays, and that the result computes the same."""

import numpy as np
import pytest

from srcdiff import ir, runtime
from srcdiff.analyses.kinds import kind_of
from srcdiff.emit import emit
from srcdiff.lower import lower
from srcdiff.parse import parse
from srcdiff.simplify import simplify
from srcdiff.webs import webs

from . import ir_interpreter
from . import structures as st
from .programs import PROGRAMS

IDS = [f"{i:03d}-{p.name}" for i, p in enumerate(PROGRAMS)]


def equal(a, b):
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and a.dtype == b.dtype and np.array_equal(a, b, True)
    if isinstance(a, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(map(equal, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(equal(v, b[k]) for k, v in a.items())
    if type(a) is type(b) and hasattr(a, "__dict__") and not callable(a):
        return equal(vars(a), vars(b))
    return type(a) is type(b) and (a == b or (a != a and b != b))


def outcome(function, args):
    value = ir_interpreter.run(function, *args)
    return value, args


@pytest.mark.parametrize("rename", [webs, lambda f: f], ids=["webs", "plain"])
@pytest.mark.parametrize("program", PROGRAMS, ids=IDS)
def test_simplified_programs_compute_the_same(program, rename):
    function = rename(lower(parse(program.function)))
    named = st.bound_arguments(program.function, program.arguments())
    after = simplify(function, {n: kind_of(v, n) for n, v in named.items()})
    value, args = outcome(function, program.arguments())
    new_value, new_args = outcome(after, program.arguments())
    assert equal(value, new_value)
    assert equal(args, new_args)
