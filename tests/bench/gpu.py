"""Gradients of a network and of a stencil on a GPU, against torch on the same one.

`python -m tests.bench gpu`, where CuPy finds a GPU; without torch its columns stay empty.  Each is
measured with kernels (`compile="cupy"`) as well.  Times are between two events of the device,
around many calls: the median of some such measurements.  A second time is that of the host until
all calls are issued: where both are near, the host is what takes the time.
"""

from __future__ import annotations

import importlib
import itertools
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import srcdiff
from examples.gpu import heat, network

NETWORKS = ((256, 256, 64), (4096, 1024, 256), (16384, 2048, 512))  # samples, width, inputs
GRIDS = ((256, 20), (1024, 20), (4096, 20))  # side, steps
CALLS, ROUNDS = 20, 7


def main() -> None:
    """Print the times, or why there are none."""
    try:
        cupy: Any = importlib.import_module("cupy")
        name = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    except Exception as error:  # no CuPy, no driver, no GPU: each has an error of its own
        print(f"gpu: not measured, there is no GPU with CuPy ({type(error).__name__})")
        return
    torch = _torch()
    other = "no torch with CUDA" if torch is None else f"torch {torch.__version__}"
    print(f"gradients on {name}, CuPy {cupy.__version__}, {other}; ms by events (host)")
    for compile, dtype in itertools.product((None, "cupy"), ("float32", "float64")):
        how = f"{dtype}, kernels" if compile else dtype
        for sizes in NETWORKS:
            calls = network_calls(cupy, torch, sizes, dtype, compile)
            report(f"network {sizes} {how}", *calls, cupy, torch)
        for side, steps in GRIDS:
            calls = heat_calls(cupy, torch, side, steps, dtype, compile)
            report(f"heat {side} x {side}, {steps} steps {how}", *calls, cupy, torch)


def _torch() -> Any:
    """torch, if it sees a GPU."""
    try:
        torch: Any = importlib.import_module("torch")
    except ImportError:
        return None
    return torch if torch.cuda.is_available() else None


Call = Callable[[], Any]


def network_calls(
    cupy: Any, torch: Any, sizes: tuple[int, int, int], dtype: str, compile: str | None
) -> tuple[Call, Call | None]:
    """A gradient of the network by its weights, here and in torch."""
    samples, width, inputs = sizes
    rng = np.random.default_rng(0)
    shapes = ((inputs, width), (width, 4), (samples, inputs), (samples, 4))
    host = [(rng.normal(size=s) / np.sqrt(s[0])).astype(dtype) for s in shapes]
    here = [cupy.asarray(x) for x in host]
    g = srcdiff.grad(network, ("w1", "w2"), compile=compile)
    if torch is None:
        return (lambda: g(*here)), None
    w1, w2, x, y = (torch.tensor(v, device="cuda") for v in host)
    w1.requires_grad_(), w2.requires_grad_()

    def there() -> Any:
        r = torch.tanh(x @ w1) @ w2 - y
        return torch.autograd.grad(0.5 * torch.sum(r * r) / len(x), (w1, w2))

    check(g(*here), there())
    return (lambda: g(*here)), there


def heat_calls(
    cupy: Any, torch: Any, side: int, steps: int, dtype: str, compile: str | None
) -> tuple[Call, Call | None]:
    """A gradient of the stencil by its start, here and in torch."""
    host = np.random.default_rng(0).normal(size=(side, side)).astype(dtype)
    here = cupy.asarray(host)
    g = srcdiff.grad(heat, compile=compile)
    if torch is None:
        return (lambda: g(here, steps, 0.1)), None
    start = torch.tensor(host, device="cuda", requires_grad=True)

    def there() -> Any:
        u = start.clone()
        for _ in range(steps):
            v = u.clone()
            v[1:-1, 1:-1] = u[1:-1, 1:-1] + 0.1 * (
                u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4.0 * u[1:-1, 1:-1]
            )
            u = v
        return torch.autograd.grad(torch.sum(u * u), start)

    check((g(here, steps, 0.1),), there())
    return (lambda: g(here, steps, 0.1)), there


def check(ours: Any, theirs: Any) -> None:
    """Both compute the same."""
    for one, other in zip(ours, theirs, strict=True):
        other = other.detach().cpu().numpy()
        rtol = 1e-3 if other.dtype == np.float32 else 1e-9
        np.testing.assert_allclose(one.get(), other, rtol=rtol, atol=rtol * np.abs(other).max())


def report(what: str, here: Call, there: Call | None, cupy: Any, torch: Any) -> None:
    """One line: the times of both, and how many times torch's they are."""
    ours, host = measured(here, cupy.cuda.Event, _between_cupy(cupy))
    line = f"{what:48} {ours:9.3f} ({host:.3f})"
    if there is not None:
        theirs, host = measured(
            there, lambda: torch.cuda.Event(enable_timing=True), lambda a, b: a.elapsed_time(b)
        )
        line += f"  torch {theirs:9.3f} ({host:.3f})  {ours / theirs:6.2f} times"
    print(line)


def _between_cupy(cupy: Any) -> Callable[[Any, Any], float]:
    return lambda a, b: float(cupy.cuda.get_elapsed_time(a, b))


def measured(
    call: Call, event: Callable[[], Any], between: Callable[[Any, Any], float]
) -> tuple[float, float]:
    """Milliseconds of one call between events, and until the host has issued it."""
    for _ in range(3):
        call()
    found = []
    for _ in range(ROUNDS):
        start, end = event(), event()
        start.record()
        before = time.perf_counter()
        for _ in range(CALLS):
            call()
        issued = time.perf_counter() - before
        end.record()
        end.synchronize()
        found.append((between(start, end) / CALLS, 1e3 * issued / CALLS))
    times, issues = zip(*found)
    return statistics.median(times), statistics.median(issues)
