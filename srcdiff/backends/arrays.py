"""Generated source made to run: for the arrays that a derivative is generated for."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

from srcdiff.runtime import trees
from srcdiff.runtime.allocating import given
from srcdiff.runtime.devices import on_device


def one_cotangent(given: Any) -> Any:
    """A cotangent of an output that is one real number of NumPy or Python."""
    return trees.cotangent(given, 1.0)


def seed_check() -> Callable[[Any], Any]:
    """What checks the cotangent of one real number, for the arrays at hand."""
    if not on_device():
        return one_cotangent
    from srcdiff.backends.cupy.helpers import number_cotangent

    return number_cotangent


def meanings(refs: Mapping[str, Any]) -> Mapping[str, Any]:
    """What the global names of a generated text mean, for the arrays at hand.

    Raises:
        DtypeError: one of them is an array of the other module.
    """
    if not on_device():
        return given(refs)
    from srcdiff.backends.cupy.helpers import meanings as for_cupy

    return for_cupy(refs)


def check_same_module(values: Mapping[str, Any]) -> str:
    """The module of the arrays among some arguments, `numpy` where there are none.

    Raises:
        DtypeError: there are arrays of both modules; with the names of two of them.
    """
    if "cupy" not in sys.modules:
        return "numpy"
    from srcdiff.backends.cupy.helpers import check_same_module as of_arrays

    return of_arrays(values)
