"""What computes the value and the gradient of a program: a program and arguments give a call.

A call returns what its library returns, finished, on a device as well.  What a library lacks, fails
to import, or refuses is an error of `make`, which the one that measures shows.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import srcdiff

from .programs.loops import Program

Call = Callable[[], Any]
THREADS = int(os.environ.get("NUMBA_NUM_THREADS", "1"))
"""How many threads a library may use, as the command of the benchmark says."""


class NotWrittenError(Exception):
    """There is no such form of a program."""


@dataclass(frozen=True)
class Rival:
    """A name, what makes the call, and what makes NumPy arrays of its results."""

    name: str
    make: Callable[[Program, tuple[Any, ...]], Call]
    to_numpy: Callable[[Any], Any] = np.asarray


def form(module: str, program: Program) -> Callable[..., Any]:
    """The form of a program in a module of `programs`."""
    functions: Any = importlib.import_module(f"{__package__}.programs.{module}")
    try:
        return getattr(functions, program.name)
    except AttributeError:
        raise NotWrittenError(f"not written in {module}") from None


def form_with_arrays(module: str, program: Program) -> Callable[..., Any]:
    """The form in a module, or the one in `arrays` with the module's namespace."""
    library: Any = importlib.import_module(f"{__package__}.programs.{module}")
    if hasattr(library, program.name):
        return getattr(library, program.name)
    function = form("arrays", program)
    return lambda *args: function(library.XP, *args)


# --- on the CPU -----------------------------------------------------------------------------------


def primal(program: Program, args: tuple[Any, ...]) -> Call:
    """The function itself, which has no gradient."""
    return lambda: (program.function(*args), None)


def by_srcdiff(**options: Any) -> Callable[[Program, tuple[Any, ...]], Call]:
    """The gradient of the program as it is written."""

    def make(program: Program, args: tuple[Any, ...]) -> Call:
        g = srcdiff.value_and_grad(program.function, program.inputs, **options)
        return lambda: g(*args)

    return make


def by_hand(module: str) -> Callable[[Program, tuple[Any, ...]], Call]:
    """The adjoint that a person wrote."""

    def make(program: Program, args: tuple[Any, ...]) -> Call:
        function = form(module, program)
        return lambda: function(*args)

    return make


def by_autograd(program: Program, args: tuple[Any, ...]) -> Call:
    """HIPS autograd."""
    autograd: Any = importlib.import_module("autograd")
    g = autograd.value_and_grad(form_with_arrays("in_autograd", program), program.inputs)
    return lambda: g(*args)


def by_torch(device: str) -> Callable[[Program, tuple[Any, ...]], Call]:
    """torch, eager."""

    def make(program: Program, args: tuple[Any, ...]) -> Call:
        torch: Any = importlib.import_module("torch")
        if device == "cuda" and not torch.cuda.is_available():
            raise RuntimeError("torch sees no GPU")
        function = form_with_arrays("in_torch", program)
        given = [_tensor(torch, a, i in program.inputs, device) for i, a in enumerate(args)]
        by = [given[i] for i in program.inputs]

        def call() -> Any:
            value = function(*given)
            gradients = torch.autograd.grad(value, by)
            if device == "cuda":
                torch.cuda.synchronize()
            return value.detach(), gradients

        return call

    return make


def _tensor(torch: Any, value: Any, is_input: bool, device: str) -> Any:
    """An argument for torch: what is differentiated by, and every array, is a tensor."""
    if not is_input and not isinstance(value, np.ndarray):
        return value
    return torch.tensor(value, dtype=torch.float64, device=device, requires_grad=is_input)


def by_jax(device: str) -> Callable[[Program, tuple[Any, ...]], Call]:
    """JAX, compiled for the shapes of these arguments; integers are part of the program."""

    def make(program: Program, args: tuple[Any, ...]) -> Call:
        jax: Any = importlib.import_module("jax")
        jax.config.update("jax_enable_x64", True)
        jax.config.update("jax_cpu_enable_async_dispatch", False)  # faster: each call is awaited
        at = jax.devices(device)[0]
        g = jax.value_and_grad(form_with_arrays("in_jax", program), program.inputs)
        static = tuple(i for i, a in enumerate(args) if isinstance(a, int))
        compiled = jax.jit(g, static_argnums=static)
        given = [a if i in static else jax.device_put(a, at) for i, a in enumerate(args)]
        return lambda: jax.block_until_ready(compiled(*given))

    return make


ON_CPU = (
    Rival("function", primal),
    Rival("srcdiff", by_srcdiff()),
    Rival("srcdiff, compiled", by_srcdiff(compile="auto", threads=THREADS)),
    Rival("JAX", by_jax("cpu")),
    Rival("torch", by_torch("cpu")),
    Rival("autograd", by_autograd),
    Rival("by hand", by_hand("by_hand")),
    Rival("by hand, Numba", by_hand("by_hand_numba")),
)

# --- on a GPU -------------------------------------------------------------------------------------


def on_cupy(program: Program, args: tuple[Any, ...]) -> Call:
    """The gradient of the program as it is written, for CuPy arrays."""
    cupy: Any = importlib.import_module("cupy")
    g = srcdiff.value_and_grad(program.function, program.inputs)
    given = [cupy.asarray(a) if isinstance(a, np.ndarray) else a for a in args]

    def call() -> Any:
        result = g(*given)
        cupy.cuda.get_current_stream().synchronize()
        return result

    return call


def _from_device(value: Any) -> Any:
    """A NumPy array of a value on a device or not."""
    return np.asarray(value.get() if hasattr(value, "get") else value)


ON_GPU = (
    Rival("srcdiff, CuPy", on_cupy, _from_device),
    Rival("JAX", by_jax("gpu")),
    Rival("torch", by_torch("cuda"), lambda value: np.asarray(value.cpu())),
)
