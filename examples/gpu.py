"""One training step of a small network and a heat equation, on the GPU if there is one.

`python examples/gpu.py` says where it ran; the functions are the same for NumPy and CuPy.
"""

from __future__ import annotations

import time
from types import ModuleType

import numpy as np

import srcdiff


def network(w1, w2, x, y):
    """Half the mean squared error of a network with one hidden layer."""
    r = np.tanh(x @ w1) @ w2 - y
    return 0.5 * np.sum(r * r) / len(x)


def heat(u, steps, rate):
    """What is left of the heat after some steps of an explicit scheme."""
    u = u.copy()
    for _ in range(steps):
        u[1:-1, 1:-1] += rate * (
            u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4.0 * u[1:-1, 1:-1]
        )
    return np.sum(u * u)


def array_module() -> tuple[ModuleType, str]:
    """CuPy and the name of its GPU, or NumPy."""
    try:
        import cupy

        name = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
        return cupy, f"CuPy {cupy.__version__} on {name}"
    except Exception as error:  # no CuPy, no driver, no GPU: each has an error of its own
        return np, f"NumPy {np.__version__} on the CPU ({type(error).__name__}: no GPU with CuPy)"


def seconds(xp: ModuleType, call) -> float:
    """The time of one call, once it has been compiled."""
    call()
    wait = getattr(xp, "cuda", None)
    if wait is not None:
        wait.Stream.null.synchronize()
    start = time.perf_counter()
    call()
    if wait is not None:
        wait.Stream.null.synchronize()
    return time.perf_counter() - start


def main() -> None:
    """Run both, and check the gradients along a direction."""
    xp, where = array_module()
    print(f"running with {where}")
    rng = np.random.default_rng(0)
    w1, w2, x, y = (
        xp.asarray(rng.normal(size=s)) for s in ((32, 64), (64, 4), (256, 32), (256, 4))
    )
    step = srcdiff.value_and_grad(network, ("w1", "w2"))
    value, (d_w1, d_w2) = step(w1, w2, x, y)
    lower = network_on(xp, w1 - 0.1 * d_w1, w2 - 0.1 * d_w2, x, y)
    print(f"network: loss {float(value):.4f}, after a step {lower:.4f}")
    print(f"  a step takes {1e3 * seconds(xp, lambda: step(w1, w2, x, y)):.2f} ms")

    u = xp.asarray(rng.normal(size=(128, 128)))
    g = srcdiff.grad(heat)
    along = float((g(u, 20, 0.1) * u).sum())
    print(f"heat: slope along u {along:.6f}, twice the value {2 * float(heat(u, 20, 0.1)):.6f}")
    print(f"  a gradient takes {1e3 * seconds(xp, lambda: g(u, 20, 0.1)):.2f} ms")


def network_on(xp: ModuleType, *args) -> float:
    """The loss as a number of the host."""
    return float(network(*args))


if __name__ == "__main__":
    main()
