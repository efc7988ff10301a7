"""Programs whose first derivative is accepted and whose second is refused, with its place."""

import numpy as np
import pytest

import srcdiff

from .check import with_cotangent
from .programs import PROGRAMS

TOPICS = (".found", ".aliases")
ONCE = [p for p in PROGRAMS if not p.order2 and p.function.__module__.endswith(TOPICS)]


@pytest.mark.parametrize("program", ONCE, ids=[p.name for p in ONCE])
def test_second_order_that_is_not_accepted_yet(program):
    """Right to first order; the gradient of the gradient is refused, with its place."""
    args = program.arguments()

    first = srcdiff.grad(program.function, program.inputs)
    names = program.inputs if isinstance(program.inputs, tuple) else 0
    cotangent = np.ones_like(program.function(*program.arguments()))
    pulled = with_cotangent(first, program.function)
    with pytest.raises(srcdiff.UnsupportedError) as info:
        srcdiff.grad(pulled, names, materialize_grads=True)(*args, ct_=cotangent)
    assert info.value.loc is not None and info.value.loc.line > 0
    assert info.value.remedy.endswith(".")
