"""The functions whose gradients Numba compiles: `python -m tests.rules.native` writes their names
to `native.txt`, from which `docs/rules.md` has them.

A function is among them if the gradient of one of its first samples is compiled, and agrees with
that for NumPy.  It takes half an hour: `backends/test_numba.py` asks Numba about a few of them
alone; names behind the command are asked about and printed.
"""

from __future__ import annotations

import functools
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import srcdiff
from srcdiff.errors import SrcdiffError
from srcdiff.primitives import registry
from tests.rules.sample_checks import copies, gradient, in_single, is_complex, leaves, weighted
from tests.rules.samples import Sample, collected

FILE = Path(__file__).parent / "native.txt"
TRIES = 6

# Rules of functions that leave some elements in an order that is not defined: Numba has its own.
UNORDERED = ("partition", "partition_method")


@functools.cache
def compiled() -> frozenset[str]:
    """The names in the file."""
    return frozenset(FILE.read_text().splitlines())


def samples_of(function: Any, samples: list[Sample]) -> list[Sample]:
    """The samples of real numbers of a function, small arrays first."""
    found = [s for s in samples if _key(s.function) == function]
    found = [s for s in found if not in_single(s) and not is_complex(s)]
    return sorted(found, key=_size)[:TRIES]


def _key(function: Any) -> Any:
    return function.function if isinstance(function, registry.Given) else function


def _size(sample: Sample) -> tuple[bool, int, int]:
    args = sample.program().args
    return not any(map(np.ndim, args)), len(args), sum(map(np.size, args))


def agrees(sample: Sample) -> bool:
    """Whether Numba compiles the gradient of a sample.

    Raises:
        AssertionError: to something else than NumPy computes.
    """
    program, w = weighted(sample)
    inputs = tuple(range(len(program.args)))
    g = srcdiff.grad(program.function, inputs, materialize_grads=True, compile="numba")
    try:
        found = g(*copies(program.args), grad_outputs=w)
    except (SrcdiffError, AttributeError, TypeError, NotImplementedError):  # Numba's own, too
        return False
    expected = gradient(program)(*copies(program.args), grad_outputs=w)
    for a, b in zip(leaves(found), leaves(expected), strict=True):
        if sample.rule.name in UNORDERED:
            a, b = np.sort(a), np.sort(b)
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)
    return True


def asked(names: frozenset[str] | None = None) -> list[str]:
    """The names of the functions of the tables (or of some of them) that Numba compiles."""
    from tests.rules import table as rule_table

    samples, found = collected(), []
    for title, functions in rule_table.groups().items():
        for name, function in functions.items():
            if "scipy" in title or (names is not None and name not in names):
                continue  # Numba knows nothing of SciPy
            if any(map(agrees, samples_of(function, samples))):
                found.append(name)
    return found


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        names = frozenset(sys.argv[1:])
        text = "".join(f"{name}\n" for name in sorted(asked(names or None)))
        if names:
            print(text, end="")
        else:
            FILE.write_text(text)
