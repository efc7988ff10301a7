"""The programs of the corpus on the stand-in: as they would be with `cp` in the place of `np`."""

from __future__ import annotations

import importlib
import inspect
import linecache
import sys
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import srcdiff
from srcdiff.backends.cupy.helpers import for_cupy
from srcdiff.errors import SrcdiffError
from srcdiff.runtime.devices import is_device_array
from tests.programs import PROGRAMS, Program
from tests.support import structures as st
from tests.support.differences import Problem, positional

from .arrays import ndarray
from .device import Device
from .exceptions import MOVED

_modules: dict[str, types.ModuleType] = {}


@dataclass(frozen=True)
class Outcome:
    """What became of a program: "right", or why not."""

    program: str
    verdict: str  # right, primal (does not run on the device), refused, wrong, moved, failed
    detail: str = ""


def on_cupy(program: Program) -> Callable[..., Any]:
    """The function of a program, as it would have been written with CuPy."""
    name = program.function.__module__
    if name not in _modules:
        _modules[name] = _translated(name)
    return getattr(_modules[name], program.function.__name__)  # type: ignore[no-any-return]


def _translated(name: str) -> types.ModuleType:
    """A module of programs with `cp` in the place of `np`."""
    source = for_cupy(importlib.import_module(name).__loader__.get_source(name))  # type: ignore
    made = types.ModuleType(name)
    made.__package__ = "tests.programs"
    file = made.__file__ = f"<{name} on CuPy>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    registry = sys.modules["tests.programs.registry"]
    before = registry.sample
    registry.sample = lambda *args, **options: None  # type: ignore[attr-defined]
    try:
        exec(compile(source, file, "exec"), vars(made))
    finally:
        registry.sample = before  # type: ignore[attr-defined]
    return made


def to_device(value: Any, device: Device) -> Any:
    """A structure with its arrays on the device."""
    return st.mapped(lambda x: device.array(x) if isinstance(x, np.ndarray) else x, value)


def to_host(value: Any) -> Any:
    """A structure with its arrays on the host."""
    if is_device_array(value):
        return value.held if isinstance(value, ndarray) else value.get()
    if isinstance(value, dict):
        return {k: to_host(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return st.rebuilt(value, [to_host(v) for v in value])
    return st.mapped(to_host, value) if st.is_record(value) else value


def run(
    program: Program, device: Device, as_written: bool = False, compile: str | None = None
) -> Outcome:
    """One program: its gradient on the device against that of NumPy, and what went to the host.

    `as_written`: the derivative is that of the function as it is, written with NumPy.
    """

    def outcome(verdict: str, detail: Any = "") -> Outcome:
        return Outcome(program.name, verdict, f"{type(detail).__name__}: {detail}"[:300])

    try:
        on_device = on_cupy(program)
        value, moved = _primal(program, on_device, device)
    except Exception as error:  # whatever CuPy refuses
        return outcome("primal", error)
    problem = Problem(program.function, program.arguments(), program.inputs, program.outputs)
    if not any(isinstance(x, np.ndarray) for x in st.leaves(problem.arguments())):
        return Outcome(program.name, "numbers")  # nothing says that it is for CuPy
    host = problem.output()
    if not alike(host, _picked(program, value)):
        return _by_differences(program, on_device, outcome, device, compile)
    ct = st.random_like(np.random.default_rng(5), host)
    pos, kw = positional(program.function, problem.arguments())
    expected = srcdiff.grad(program.function, program.inputs, program.outputs)(
        *pos, grad_outputs=ct, **kw
    )
    pos, kw = positional(program.function, to_device(problem.arguments(), device))
    function = program.function if as_written else on_device
    g = srcdiff.grad(function, program.inputs, program.outputs, compile=compile)
    try:
        g.specialised(*pos, **kw)
        before = device.transfers
        found = g(*pos, grad_outputs=_seed(ct, _picked(program, value), device), **kw)
    except SrcdiffError as error:
        return outcome("refused", error)
    except Exception as error:  # is the result of this run
        return outcome("failed", error)
    if not alike(expected, found):
        return outcome("wrong", g.source)
    numbers = sum(isinstance(x, (float, complex)) for x in st.leaves(to_host(found)))
    extra = device.transfers - before - moved - numbers
    extra = 0 if program.name in MOVED else extra
    return (
        outcome("moved", f"{extra} more than the primal\n{g.source}")
        if extra > 0
        else outcome("right")
    )


def _by_differences(
    program: Program, function: Any, outcome: Any, device: Device, compile: str | None
) -> Outcome:
    """A program that gives something else on the device (`x[0]` is a view), by differences."""

    def on_host(*args: Any, **kwargs: Any) -> Any:
        names = to_device(st.bound_arguments(program.function, args), device)
        result = st.call(function, names)
        for name, value in names.items():  # what it writes into
            _copy_back(st.bound_arguments(program.function, args)[name], value)
        return to_host(result)

    on_host.__signature__ = inspect.signature(program.function)  # type: ignore[attr-defined]
    problem = Problem(on_host, program.arguments(), program.inputs, program.outputs)
    rng = np.random.default_rng(5)
    ct, way = st.random_like(rng, problem.output()), st.random_like(rng, problem.at)
    pos, kw = positional(program.function, to_device(problem.arguments(), device))
    g = srcdiff.grad(function, program.inputs, program.outputs, compile=compile)
    try:
        found = to_host(g(*pos, grad_outputs=to_device(ct, device), **kw))
    except SrcdiffError as error:
        return outcome("refused", error)
    slope, error = problem.slope(way, ct)
    close = abs(st.inner(found, way) - slope) <= 1e-5 * max(1.0, abs(slope)) + 10 * error
    return outcome("right" if close else "wrong", g.source)


def _copy_back(host: Any, device: Any) -> None:
    for x, y in zip(st.leaves(host), st.leaves_as(host, to_host(device)), strict=True):
        if isinstance(x, np.ndarray):
            x[...] = y


def _primal(program: Program, function: Callable[..., Any], device: Device) -> tuple[Any, int]:
    """What a program returns and leaves on the device, and how often it asked for a value."""
    names = to_device(st.bound_arguments(program.function, program.arguments()), device)
    before = device.transfers
    result = st.call(function, names)
    return (result, names), device.transfers - before


def _picked(program: Program, run: Any) -> Any:
    from tests.support.differences import pick

    return pick(run[0], program.outputs, run[1])


def _seed(ct: Any, value: Any, device: Device) -> Any:
    """A cotangent with arrays where the output has them."""
    if ct is None:
        return None
    if is_device_array(value):
        return device.array(np.array(ct, value.dtype))
    if st.children(value) is None:
        return ct
    items = [_seed(st.child(ct, k), v, device) for k, v in st.children(value) or ()]
    return st.rebuilt(value, items)


def alike(host: Any, device: Any) -> bool:
    """Whether two structures hold the same numbers."""
    try:
        pairs = list(zip(st.leaves(host), st.leaves_as(host, to_host(device)), strict=True))
    except (ValueError, TypeError, KeyError, IndexError, AttributeError):
        return False
    return all(_close(x, y) for x, y in pairs)


def _close(x: Any, y: Any) -> bool:
    if not st.is_numeric(x):
        return not st.is_numeric(y)
    if y is None or np.shape(x) != np.shape(y):
        return False
    rtol = 1e-4 if np.result_type(x).itemsize < 8 else 1e-9
    return bool(np.allclose(x, y, rtol=rtol, atol=1e-9, equal_nan=True))


def outcomes(
    device: Device, only: str = "", as_written: bool = False, compile: str | None = None
) -> Iterator[Outcome]:
    """The programs of the corpus, or some of them."""
    for program in PROGRAMS:
        if only in program.name:
            yield run(program, device, as_written, compile)
