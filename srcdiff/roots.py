"""Roots that SciPy finds, where it returns an object: the root alone.

The rules in `templates/scipy/optimize/` are written with them.
"""

from __future__ import annotations

from typing import Any


def found_root(
    fun: Any, x0: Any, args: tuple[Any, ...] = (), jac: Any = None, **options: Any
) -> Any:
    """The solution that `scipy.optimize.root` finds.

    Raises:
        ArithmeticError: it finds none.
    """
    from scipy.optimize import root

    found = root(fun, x0, args, jac=jac, **options)
    if not found.success:
        raise ArithmeticError(f"no root is found: {found.message}")
    return found.x


def found_root_scalar(
    f: Any, args: tuple[Any, ...] = (), fprime: Any = None, fprime2: Any = None, **options: Any
) -> float:
    """The root that `scipy.optimize.root_scalar` finds.

    Raises:
        ArithmeticError: it finds none.
    """
    from scipy.optimize import root_scalar

    found = root_scalar(f, args, fprime=fprime, fprime2=fprime2, **options)
    if not found.converged:
        raise ArithmeticError(f"no root is found: {found.flag}")
    return float(found.root)
