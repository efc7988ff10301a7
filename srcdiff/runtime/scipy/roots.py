"""Roots that SciPy finds, where it returns an object: the root alone.

The rules in `templates/scipy/optimize/` are written with them.
"""

from __future__ import annotations

from typing import Any


def found_root(
    fun: Any,
    x0: Any,
    args: tuple[Any, ...] = (),
    jac: Any = None,
    *,
    method: str = "hybr",
    tol: float | None = None,
    options: Any = None,
) -> Any:
    """The solution that `scipy.optimize.root` finds; an ArithmeticError if it finds none."""
    from scipy.optimize import root

    found = root(fun, x0, args, method, jac, tol, options=options)
    if not found.success:
        raise ArithmeticError(f"no root is found: {found.message}")
    return found.x


def found_root_scalar(
    f: Any,
    args: tuple[Any, ...] = (),
    fprime: Any = None,
    fprime2: Any = None,
    *,
    method: str | None = None,
    bracket: Any = None,
    x0: Any = None,
    x1: Any = None,
    xtol: float | None = None,
    rtol: float | None = None,
    maxiter: int | None = None,
) -> float:
    """The root that `scipy.optimize.root_scalar` finds; an ArithmeticError if it finds none."""
    from scipy.optimize import root_scalar

    found = root_scalar(
        f, args, method, bracket, fprime, fprime2, x0, x1, xtol, rtol, maxiter
    )  # fmt: skip
    if not found.converged:
        raise ArithmeticError(f"no root is found: {found.flag}")
    return float(found.root)
