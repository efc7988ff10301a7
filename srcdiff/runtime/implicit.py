"""Solutions of equations, differentiated at the solution: `implicit` and `fixed_point`.

The rules in `templates/srcdiff/api/solutions.py` are written with the functions below, which
generate the derivatives of the equation when they are first called: they need srcdiff itself.
"""

from __future__ import annotations

import functools
import itertools
import re
import types
from collections.abc import Callable, Container, Iterable, Sequence
from typing import Any

import numpy as np

from srcdiff import ir, texts
from srcdiff.errors import UnsupportedError
from srcdiff.runtime.copies import copied
from srcdiff.runtime.service import compiler, once

DENSE = 50
"""Up to so many unknowns a linear system is solved by its matrix."""


def implicit(solver: Callable[..., Any], residual: Callable[..., Any]) -> Callable[..., Any]:
    """The solver of an equation as a function that is differentiated at its solution.

    The derivative follows from the implicit function theorem: the steps of the solver are not
    differentiated, and need not be differentiable.  It is right only where the solver has
    converged, and where the Jacobian of the residual by the solution is invertible.

    Args:
        solver: `solver(*args)` gives `x`, a number or an array, with `residual(x, *args) == 0`.  It
            gets copies of its arguments.
        residual: `residual(x, *args)`, of the shape of `x`; a function that srcdiff can
            differentiate.

    Returns:
        A function with the parameters of `solver`, for use anywhere in differentiated functions.

    Raises:
        ValueError: when differentiated, the residual does not have the shape of the solution.
        UnsupportedError: when differentiated, the residual gives a list or a tuple.
        numpy.linalg.LinAlgError: the Jacobian of the residual is singular.

    >>> import srcdiff
    >>> def newton(a):
    ...     x = 1.0
    ...     for _ in range(50):
    ...         x = x - (x**3 - a) / (3.0 * x**2)
    ...     return x
    >>> cube_root = srcdiff.implicit(newton, lambda x, a: x**3 - a)
    >>> cube_root(8.0), round(srcdiff.grad(cube_root)(8.0), 12)
    (2.0, 0.083333333333)
    """

    def solve(*args: Any) -> Any:
        return solution(solver, residual, *args)

    if isinstance(solver, types.FunctionType):  # with its parameters
        functools.update_wrapper(solve, solver)
    else:
        solve.__module__ = residual.__module__
    return solve


implicit.__srcdiff_transform__ = True  # type: ignore[attr-defined]


def fixed_point(f: Callable[..., Any], x0: Any, *args: Any) -> Any:
    """The fixed point `x == f(x, *args)` that iteration from `x0` converges to.

    It is differentiated at the fixed point, by `args`; the derivative by `x0` is zero.

    Raises:
        ArithmeticError: it does not converge, in 100,000 steps or at all.

    >>> import numpy as np
    >>> import srcdiff
    >>> def kepler(e, mean):
    ...     return srcdiff.fixed_point(lambda x, e, m: m + e * np.sin(x), mean, e, mean)
    >>> round(kepler(0.5, 1.0), 6), round(srcdiff.grad(kepler)(0.5, 1.0), 6)
    (1.498701, 1.034444)
    """
    x, best, since = x0, np.inf, 0
    for _ in range(100_000):
        new = f(x, *args)
        step = _largest(new - x)
        x = new
        if not np.isfinite(step):
            break
        since = 0 if step < best else since + 1
        best = min(step, best)
        # Steps that shrink no more are those of rounding.
        eps = float(np.finfo(np.result_type(x, np.float16)).eps)
        tiny = 64.0 * eps * max(1.0, _largest(x))
        if step == 0.0 or (since >= 3 and step <= tiny):
            return x
    raise ArithmeticError(f"no fixed point is reached: the last step changes it by {step:g}")


def _largest(x: Any) -> float:
    """The greatest magnitude in a number or an array."""
    return float(np.max(np.abs(x))) if np.size(x) else 0.0


def solution(solver: Any, residual: Any, *args: Any) -> Any:
    """What a solver gives for copies of its arguments."""
    return copied(solver(*copied(args)))


# --- what the rules are made of ------------------------------------------------------------------


def pulled(f: Any, k: int, d: Any, *args: Any) -> Any:
    """The vector-Jacobian product of `f(*args)` by its argument at position `k`."""
    return compiler().gradient(_plain(f, args), k)(*args, grad_outputs=d)


def pushed(f: Any, k: int, t: Any, *args: Any) -> Any:
    """The Jacobian-vector product of `f(*args)` by its argument at position `k`."""
    tangents = [None] * len(args)
    tangents[k] = t
    return compiler().along(_plain(f, args), tuple(tangents), *args)[1]


class Slope:
    """The derivative of `f` by an argument as a function: `(*args, d)` gives `pulled` or `pushed`.

    >>> import srcdiff
    >>> slope = vjp_by(pow, 0)
    >>> slope(3.0, 2.0, 1.0)
    6.0
    """

    def __init__(self, along: Callable[..., Any], f: Any, k: int) -> None:
        self.along, self.f, self.k = along, f, k
        self.plain = functools.cache(self._written)

    def __call__(self, *args: Any) -> Any:
        """The product of the last argument with the derivative at the others."""
        return self.along(self.f, self.k, args[-1], *args[:-1])

    def _written(self, count: int) -> Any:
        """It as a function of so many parameters, whose source can be read."""
        params, name = numbered("x", range(count - 1)), self.along.__name__
        line = f"return {name}(f, {self.k}, {', '.join(['d', *params])})"
        space = {"f": _plain(self.f, params), name: self.along}
        return with_source(f"def slope({', '.join([*params, 'd'])}):", [line], space)


@once
def vjp_by(f: Any, k: int) -> Slope:
    """`(*args, d)`: the vector-Jacobian product of `f(*args)` by its argument at position `k`."""
    return Slope(pulled, f, k)


@once
def jvp_by(f: Any, k: int) -> Slope:
    """`(*args, t)`: the Jacobian-vector product of `f(*args)` by its argument at position `k`."""
    return Slope(pushed, f, k)


def _plain(f: Any, args: Sequence[Any]) -> Any:
    """A function whose source can be read."""
    return f.plain(len(args)) if isinstance(f, Slope) else f


def with_source(head: str, body: list[str], space: dict[str, Any]) -> Any:
    """A function or class that is written here, in a namespace."""
    text = f"{head}\n" + "".join(f"    {line}\n" for line in body)
    name = re.split(r"\W", head)[1]
    file = f"<{name} {next(_numbers)}>"
    texts.show(file, text)
    exec(compile(text, file, "exec"), space)
    return space[name]


_numbers = itertools.count()


def numbered(
    letter: str, numbers: Iterable[int], known: Container[int] | None = None
) -> tuple[str, ...]:
    """Names of a letter and a number; "None" for numbers that are not known."""
    return tuple(f"{letter}{k}" if known is None or k in known else "None" for k in numbers)


def solve_adjoint(f: Any, x: Any, d: Any, *args: Any) -> Any:
    """`v` with `pulled(f, 0, v, x, *args) == d`."""
    value, pull = compiler().pullback(f, 0, (x, *args), writes=True)
    _check(f, value, x)
    return _solved(pull, d)


def solve_tangent(f: Any, x: Any, r: Any, *args: Any) -> Any:
    """`t` with `pushed(f, 0, t, x, *args) == r`."""
    _check(f, f(x, *args), x)
    return _solved(lambda t: pushed(f, 0, t, x, *args), r)


def fixed_adjoint(f: Any, x: Any, d: Any, *args: Any) -> Any:
    """`v` with `v - pulled(f, 0, v, x, *args) == d`."""
    value, pull = compiler().pullback(f, 0, (x, *args), writes=True)
    _check(f, value, x)
    return _solved(lambda v: v - pull(v), d)


def fixed_tangent(f: Any, x: Any, r: Any, *args: Any) -> Any:
    """`t` with `t - pushed(f, 0, t, x, *args) == r`."""
    _check(f, f(x, *args), x)
    return _solved(lambda t: t - pushed(f, 0, t, x, *args), r)


def basis_of(x: Any) -> Any:
    """The unit vectors of the space of a real number or array.

    Raises:
        TypeError: it is something else.
    """
    if np.iscomplexobj(x):
        raise TypeError("derivatives of Jacobians are by real numbers and arrays")
    return units_of(x)


def units_of(x: Any) -> Any:
    """The unit vectors of the space of a number or array, that of complex ones over real ones.

    Raises:
        TypeError: it is something else.
    """
    if isinstance(x, (dict, list, tuple)):
        raise TypeError(
            "second derivatives of solutions, and derivatives of Jacobians, are by numbers and "
            "arrays"
        )
    units = np.eye(np.size(x), dtype=np.result_type(x))
    if np.iscomplexobj(x):
        units = np.concatenate([units, 1j * units])
    return np.reshape(units, (len(units), *np.shape(x)))


def as_reals(v: Any, like: Any) -> Any:
    """A number or array as a vector of real numbers: where `like` is complex, both its parts."""
    flat = np.ravel(v)
    if np.iscomplexobj(like):
        return np.concatenate([np.real(flat), np.imag(flat)])
    return flat.copy()


def of_reals(v: Any, like: Any) -> Any:
    """A vector of real numbers as a number or array like another one."""
    if np.iscomplexobj(like):
        v = v[: np.size(like)] + 1j * v[np.size(like) :]
    if isinstance(like, (float, complex, np.generic)):
        return type(like)(v[0])
    return np.array(np.reshape(v, np.shape(like)))


def solved(a: Any, b: Any) -> Any:
    """The solution of a linear system with one right side."""
    return np.linalg.solve(a, b)


def _check(f: Any, value: Any, x: Any) -> None:
    """Refuse an equation whose value is no number or array of the shape of the solution."""
    if isinstance(value, (list, tuple)):
        code = getattr(f, "__code__", None)
        loc = None if code is None else ir.Loc(code.co_filename, code.co_firstlineno)
        raise UnsupportedError(
            f"the equation `{getattr(f, '__name__', f)}` returns a {type(value).__name__}, "
            "where its derivative at the solution is that of an array",
            loc,
            remedy="Return an array: `np.array([...])`.",
        )
    if np.shape(value) != np.shape(x):
        raise ValueError(
            f"the result of `{getattr(f, '__name__', f)}` has shape {np.shape(value)}, expected "
            f"that of the solution, {np.shape(x)}"
        )


def _solved(apply: Callable[[Any], Any], b: Any) -> Any:
    """The solution of a system that is linear in real and imaginary parts."""
    right = as_reals(b, b)

    def matrix(v: Any) -> Any:
        return as_reals(apply(of_reals(v, b)), b)

    found = None if right.size <= DENSE else gmres(matrix, right)
    if found is None:
        columns = [matrix(e) for e in np.eye(right.size, dtype=right.dtype)]
        found = np.linalg.solve(np.stack(columns, axis=1), right) if columns else right
    return of_reals(found, b)


def gmres(apply: Callable[[Any], Any], b: Any, most: int = 200) -> Any:
    """The solution of a linear system by GMRES without restarts; None if it does not converge."""
    size = float(np.linalg.norm(b))
    if size == 0.0:
        return b
    enough = 8.0 * float(np.finfo(b.dtype).eps) * size
    basis = [b / size]
    rows = np.zeros((most + 1, most), b.dtype)
    for k in range(min(most, b.size)):
        new = apply(basis[k])
        for j, q in 2 * [*enumerate(basis)]:  # twice, so that the basis stays orthogonal
            more = q @ new
            rows[j, k] += more
            new = new - more * q
        rows[k + 1, k] = np.linalg.norm(new)
        right = np.zeros(k + 2, b.dtype)
        right[0] = size
        y = np.linalg.lstsq(rows[: k + 2, : k + 1], right, rcond=None)[0]
        left = float(np.linalg.norm(rows[: k + 2, : k + 1] @ y - right))
        if left <= enough or rows[k + 1, k] == 0.0:
            return np.stack(basis[: k + 1], axis=1) @ y if left <= 64.0 * enough else None
        basis.append(new / rows[k + 1, k])
    return None
