"""The derivative by a complex step, and where there is one.

Of a function that is holomorphic, and real for real arguments, the derivative along `v` is the
imaginary part of `f(x + 1j * h * v) / h`: no difference is taken, so that `h` may be so small that
nothing but rounding remains.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from srcdiff.primitives import registry
from tests.rules.sample_checks import close, in_single, inner, is_complex, leaves
from tests.rules.samples import Program, Sample, moved, slope

STEP = 1e-30


def candidates(samples: Sequence[Sample]) -> list[Sample]:
    """The real samples, in double precision, of functions that are said to take complex numbers:
    they have a complex sample too, or are ufuncs that have a loop for them.
    """
    takes = {(s.rule.name, s.function) for s in samples if is_complex(s)}
    return [
        s
        for s in samples
        if not is_complex(s) and not in_single(s)
        and ((s.rule.name, s.function) in takes or _has_loop(s.function))
    ]  # fmt: skip


def _has_loop(function: Any) -> bool:
    """Whether a function is a ufunc from complex numbers to complex numbers."""
    if isinstance(function, registry.Given):
        return _has_loop(function.function)
    if not isinstance(function, np.ufunc):
        return False
    return "D" * function.nin + "->" + "D" * function.nout in function.types


def derivative(program: Program, way: Sequence[Any]) -> list[Any]:
    """The imaginary parts of the results for a step, divided by it."""
    values = leaves(program.function(*moved(program.args, STEP * 1j, way)))
    return [np.imag(v) / STEP for v in values]


def exists(program: Program, w: Any, way: Sequence[Any]) -> bool:
    """Whether the complex step gives what differences of the function give.

    It does not where a function is not holomorphic, or complex for real arguments, or where its
    imaginary part is rounded together with the real one.
    """
    w = leaves(w)

    def along(h: float) -> float:
        return inner(w, leaves(program.function(*moved(program.args, h, way))))

    return close(inner(w, derivative(program, way)), slope(along))
