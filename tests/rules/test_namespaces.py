"""No public name of NumPy is left undecided: a rule, a definition, zero on purpose, or refused."""

import math
import types
import warnings

import numpy as np
import pytest

import srcdiff
from srcdiff.errors import MissingRuleError
from srcdiff.primitives import registry

# Tests, deprecated spellings, and classes of which nobody calls the constructor.
LEFT_OUT = {
    "test", "row_stack", "ufunc", "LinAlgError", "trapz", "in1d",
    "SpecialFunctionError", "SpecialFunctionWarning", "LinAlgWarning",
}  # fmt: skip


def public(space):
    """The callables of a namespace, but for abstract classes and deprecated names."""
    for name in sorted(dir(space)):
        if name.startswith("_") or name in LEFT_OUT:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                value = getattr(space, name)
            except (AttributeError, Warning):
                continue
        abstract = isinstance(value, type) and issubclass(value, np.generic)
        if callable(value) and not isinstance(value, types.ModuleType) and not abstract:
            yield name, value


SPACES = {"numpy": np, "numpy.linalg": np.linalg, "numpy.fft": np.fft, "math": math}


@pytest.mark.parametrize("space", SPACES.values(), ids=SPACES)
def test_every_function_is_decided(space):
    known = registry.lookup, registry.given
    undecided = [n for n, f in public(space) if not any(ask(f) for ask in known)]
    assert not undecided


@pytest.mark.parametrize("name", ["scipy.special", "scipy.linalg"])
def test_every_function_of_scipy_is_decided(name):
    space = pytest.importorskip(name, reason="SciPy is an extra")
    test_every_function_is_decided(space)


def test_every_method_of_arrays_is_decided():
    gone = {"itemset", "newbyteorder", "ptp", "tostring"}  # they are there and raise
    names = [n for n in dir(np.ndarray) if not n.startswith("_") and n not in gone]
    undecided = [n for n in names if registry.lookup(getattr(np.ndarray, n)) is None]
    assert not undecided


def test_what_is_not_supported_says_what_to_do():
    def f(x):
        return np.histogramdd(x)[0]

    with pytest.raises(MissingRuleError, match="histogramdd.*not differentiated") as info:
        srcdiff.grad(f)(np.ones(3))
    assert "np.bincount" in info.value.remedy


def test_declared_reasons_are_sentences():
    for rule in registry.builtin().rules:
        assert rule.flavour != "unsupported" or rule.reason.endswith(".")
