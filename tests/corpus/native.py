"""The programs of the corpus with `compile="numba"`: right, or refused with a reason.

`python -m tests.corpus.native [NAME ...]` compiles all of them (half an hour), or those in whose
names one of the words occurs.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import sys
import types
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import srcdiff
from srcdiff.driver import derivative, pipeline
from srcdiff.driver.pipeline import State
from srcdiff.errors import UnsupportedError
from srcdiff.frontend.request import Request
from srcdiff.frontend.signatures import Variable
from srcdiff.ir import HOST, Target
from tests.programs import PROGRAMS, Program
from tests.support import structures as st
from tests.support.differences import Problem, assert_form, assert_unchanged, positional

if importlib.util.find_spec("numba") is not None:  # the modules ask for Numba, replaced below
    for module in ("array_math", "vector_math"):
        importlib.import_module(f"srcdiff.backends.numba.{module}")


def njit(**options: Any) -> Callable[[Any], Any]:
    """Numba's decorator, which compiles nothing."""

    def decorated(function: Any) -> Any:
        function.py_func = function
        return function

    return decorated


@contextlib.contextmanager
def interpreted() -> Iterator[None]:
    """Texts for Numba are run by Python, where Numba need not be installed."""
    stand_in: Any = types.ModuleType("numba")
    stand_in.njit = njit
    stand_in.__version__ = ""
    stand_in.__spec__ = importlib.util.spec_from_loader("numba", None)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "numba", stand_in)
        patch.setenv("SRCDIFF_CACHE_DIR", "")
        yield


@contextlib.contextmanager
def shared_passes() -> Iterator[None]:
    """A derivation for Numba is that for NumPy made just before, but for the last pass.

    So nothing is relied on that the lengths of arguments have in common.
    """
    known: list[Any] = []
    run = pipeline.run

    def shared(
        origin: Any,
        request: Request,
        params: Any,
        target: Target,
        watch: Any = None,
        pair: bool = False,
        numbers: Sequence[Variable] = (),
    ) -> Iterator[tuple[str, State]]:
        if pair or numbers:
            yield from run(origin, request, params, target, watch, pair, numbers)
            return
        if known[:1] != [origin] or known[1:3] != [request, params]:
            states = run(origin, request, params, HOST)
            state = next(state for label, state in states if label == "simplify")
            known[:] = origin, request, params, state
        function = replace(known[3].function, target=target)
        yield "name", pipeline.name_pass(replace(known[3], function=function))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pipeline, "run", shared)
        patch.setattr(derivative, "relations_of", lambda lengths: ())
        yield


def check(
    program: Program,
    transform: Callable[..., Any] = srcdiff.value_and_grad,
    compile: str = "numba",
) -> str:
    """Ask a program for its value and gradient; why it was refused, empty if it was not.

    Raises:
        AssertionError: they are not those of NumPy.
    """
    function, options = program.function, {"inputs": program.inputs, "outputs": program.outputs}
    problem = Problem(function, program.arguments(), **options)
    ct = st.random_like(np.random.default_rng(4), problem.output())
    pos, kw = positional(function, problem.arguments())
    expected = transform(function, **options)(*pos, grad_outputs=ct, **kw)
    names = problem.arguments()
    pos, kw = positional(function, names)
    g = transform(function, **options, compile=compile)
    try:
        found = g(*pos, grad_outputs=ct, **kw)
    except UnsupportedError as error:
        assert error.loc is not None and len(str(error).splitlines()) > 1, error
        return str(error)
    assert_unchanged(problem.names, names)
    gradient = found if transform is srcdiff.grad else found[1]
    assert_form(gradient, problem.at, st.arrays(names) + st.arrays(ct))
    for x, y in zip(st.leaves_as(expected, found), st.leaves(expected), strict=True):
        if st.is_numeric(y):
            assert np.shape(x) == np.shape(y)
            dtype = np.result_type(y)
            rounding = 2.0 * float(np.finfo(dtype).eps) if dtype.kind in "fc" else 0.0
            np.testing.assert_allclose(x, y, rtol=max(1e-9, rounding), atol=1e-9)
    return ""


def check_bits(program: Program, compile: str = "loops") -> str:
    """Ask for value and gradient with `strict=True`; the text of it, or why it was refused.

    Raises:
        AssertionError: some number has other bits than that of NumPy.
    """
    function, options = program.function, {"inputs": program.inputs, "outputs": program.outputs}
    problem = Problem(function, program.arguments(), **options)
    ct = st.random_like(np.random.default_rng(4), problem.output())
    pos, kw = positional(function, problem.arguments())
    plain = srcdiff.value_and_grad(function, **options, strict=True)
    expected = plain(*pos, grad_outputs=ct, **kw)
    g = srcdiff.value_and_grad(function, **options, compile=compile, strict=True)
    pos, kw = positional(function, problem.arguments())
    try:
        found = g(*pos, grad_outputs=ct, **kw)
    except UnsupportedError as error:
        return str(error)
    assert_same_bits(found, expected)
    return g.source


def assert_same_bits(found: Any, expected: Any) -> None:
    """All numbers are the same to the last bit, zeros with their signs; a NaN is a NaN."""
    for x, y in zip(st.leaves_as(expected, found), st.leaves(expected), strict=True):
        if st.is_numeric(y):
            assert np.shape(x) == np.shape(y) and np.result_type(x) == np.result_type(y)
            assert bits(x) == bits(y), (x, y)


def bits(value: Any) -> bytes:
    """The bytes of numbers, in which all NaNs are one."""
    numbers = np.array(value, order="C")
    if numbers.dtype.kind in "fc":
        parts = numbers.reshape(-1).view(numbers.real.dtype)
        parts[np.isnan(parts)] = np.nan
    return numbers.tobytes()


def check_text(program: Program, compile: str = "numba") -> str:
    """The text that Numba is given, run by Python, gives the gradient that NumPy does."""
    with interpreted(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return check(program, srcdiff.grad, compile)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    for one in PROGRAMS:
        if not sys.argv[1:] or any(word in one.name for word in sys.argv[1:]):
            try:
                print(one.name, check(one).partition("\n")[0] or "right", flush=True)
            except Exception as error:  # is the result of this run
                print(one.name, "WRONG", type(error).__name__, error, flush=True)
