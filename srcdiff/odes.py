"""Solutions of differential equations that SciPy finds, and their derivatives.

The adjoint runs backwards along an interpolation of the solution, which is found once more: to run
the equation itself backwards would be unstable where it forgets its past.  The rules stand in
`templates/scipy/integrate/`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from srcdiff.recompute import absent

Args = tuple[Any, ...]


def ivp_values(
    f: Any,
    t_span: Any,
    y0: Any,
    args: Args = (),
    *,
    t_eval: Any = None,
    method: Any = "RK45",
    rtol: Any = 1e-3,
    atol: Any = 1e-6,
    first_step: float | None = None,
    max_step: float = np.inf,
) -> tuple[Any, Any]:
    """The times and the values that `scipy.integrate.solve_ivp` finds.

    Raises:
        ArithmeticError: it fails.
    """
    from scipy.integrate import solve_ivp

    found = solve_ivp(
        f, t_span, y0, method, t_eval, args=args, rtol=rtol, atol=atol, first_step=first_step,
        max_step=max_step,
    )  # fmt: skip
    if not found.success:
        raise ArithmeticError(f"the differential equation is not solved: {found.message}")
    return found.t, found.y


def ivp_adjoint(
    f: Any,
    places: tuple[int, ...],
    d: Any,
    t_span: Any,
    y0: Any,
    t: Any,
    y: Any,
    args: Args,
    *,
    method: Any = "RK45",
    rtol: Any = 1e-3,
    atol: Any = 1e-6,
    first_step: float | None = None,
    max_step: float = np.inf,
) -> tuple[Any, ...]:
    """The gradients of `ivp_values` by the start and some of `args`, from that of its values."""
    nothing, start = np.zeros(len(d)), np.asarray(y0)
    times, rows = np.append(t_span[0], t), np.vstack((start, np.transpose(y)))
    d_y0, _, *found = ode_adjoint(
        f, places, np.vstack((nothing, np.transpose(d))), times, rows, args,
        method=method, rtol=rtol, atol=atol, first_step=first_step, max_step=max_step,
    )  # fmt: skip
    return d_y0, *found


def ivp_along(
    f: Any,
    t_span: Any,
    y0: Any,
    t: Any,
    y: Any,
    args: Args,
    moved: tuple[Any, ...],
    *,
    method: Any = "RK45",
    rtol: Any = 1e-3,
    atol: Any = 1e-6,
    first_step: float | None = None,
    max_step: float = np.inf,
) -> tuple[Any, Any]:
    """The tangent of `ivp_values` along those of the start and of the arguments."""
    times = np.append(t_span[0], t)
    rows = np.vstack((np.asarray(y0), np.transpose(y)))
    t_y0, *t_args = moved
    found = ode_along(
        f, times, rows, args, (t_y0, 0.0, *t_args),
        method=method, rtol=rtol, atol=atol, first_step=first_step, max_step=max_step,
    )  # fmt: skip
    return np.zeros(len(t)), found[1:].T


def ode_adjoint(
    f: Any,
    places: tuple[int, ...],
    d: Any,
    t: Any,
    y: Any,
    args: Args,
    *,
    first: str = "t",
    **options: Any,
) -> tuple[Any, ...]:
    """The gradients of a solution `y`, a row for every time: by its start, `t` and some of `args`.

    `places` are the positions of the arguments; `first` says whether the function takes the time
    or the state first.
    """
    work = _Equation(f, args, first == "t", options)
    d, t = np.asarray(d), np.asarray(t)
    if np.iscomplexobj(y):
        raise TypeError("the derivatives of differential equations are for real solutions")
    like = [np.asarray(args[k], float) for k in places]
    adjoint, rest = np.array(d[-1]), np.zeros(sum(a.size for a in like))
    path = work.solved(lambda s, z: work.slope(s, z), t[0], t[-1], y[0], dense=True).sol
    last = len(t) - 1
    for i in [*(k for k in range(last - 1, 0, -1) if np.any(d[k])), 0]:
        back = work.adjoint_slope(path, places, adjoint.size)
        start = np.concatenate((adjoint, rest))
        end = work.solved(back, t[last], t[i], start).y[:, -1] if t[last] != t[i] else start
        adjoint, rest, last = end[: adjoint.size] + d[i], end[adjoint.size :], i
    moved = np.array([d[i] @ work.slope(t[i], y[i]) for i in range(len(t))])
    moved[0] -= adjoint @ work.slope(t[0], y[0])
    parts = np.split(rest, np.cumsum([a.size for a in like])[:-1]) if like else []
    found = (_like(p, args[k]) for p, k in zip(parts, places, strict=True))
    return adjoint, moved, *found


def ode_along(
    f: Any,
    t: Any,
    y: Any,
    args: Args,
    moved: tuple[Any, ...],
    *,
    first: str = "t",
    **options: Any,
) -> Any:
    """The tangent of a solution along those of its start, of the times and of the arguments."""
    work = _Equation(f, args, first == "t", options)
    if np.iscomplexobj(y):
        raise TypeError("the derivatives of differential equations are for real solutions")
    t_y, t_t, *t_args = absent(moved)
    size = len(y[0])
    start = np.zeros(size) if t_y is None else np.array(t_y, float)
    if t_t is not None:
        start = start - t_t[0] * work.slope(t[0], y[0])

    def slope(s: float, z: Any) -> Any:
        return np.concatenate(work.along(s, z[:size], z[size:], t_args))

    both = np.concatenate((y[0], start))
    found = work.solved(slope, t[0], t[-1], both, dense=True).sol(t)[size:].T
    if t_t is None:
        return found
    return found + np.array([t_t[i] * work.slope(t[i], y[i]) for i in range(len(t))])


class _Equation:
    """A differential equation with its arguments, and how it is solved."""

    def __init__(self, f: Any, args: Args, time_first: bool, options: dict[str, Any]) -> None:
        if any(map(np.iscomplexobj, args)):
            raise TypeError("the derivatives of differential equations are for real arguments")
        self.f, self.args, self.time_first = f, args, time_first
        self.options = {k: v for k, v in options.items() if v is not None}

    def given(self, t: float, y: Any) -> Args:
        """The arguments of the function."""
        return (t, y, *self.args) if self.time_first else (y, t, *self.args)

    def slope(self, t: float, y: Any) -> Any:
        """The right side, as a vector."""
        return np.asarray(self.f(*self.given(float(t), y)), float).reshape(-1)

    def adjoint_slope(
        self, path: Any, places: tuple[int, ...], size: int
    ) -> Callable[[float, Any], Any]:
        """The right side of the adjoint equation, with the gradients by arguments behind it."""
        from srcdiff.api.callback import recorded_call

        active = (int(self.time_first), *(k + 2 for k in places))

        def slope(t: float, z: Any) -> Any:
            value, pull = recorded_call(self.f, active, self.given(float(t), path(t)))
            found = pull(_shaped(z[:size], value), retain_graph=False)
            return -np.concatenate([np.ravel(g) for g in found])

        return slope

    def along(self, t: float, y: Any, t_y: Any, t_args: list[Any]) -> tuple[Any, Any]:
        """The right side and its tangent."""
        from srcdiff.api.forward import jvp

        first = (None, t_y) if self.time_first else (t_y, None)
        given = self.given(float(t), y)
        still = [None] * (len(given) - len(first) - len(t_args))  # where no argument has a tangent
        value, tangent = jvp(self.f, given, (*first, *t_args, *still))
        return np.ravel(np.asarray(value, float)), np.ravel(np.asarray(tangent, float))

    def solved(
        self, slope: Any, start: float, end: float, y: Any, dense: bool = False
    ) -> Any:
        """What `solve_ivp` finds.

        Raises:
            ArithmeticError: it fails.
        """
        from scipy.integrate import solve_ivp

        found = solve_ivp(slope, (start, end), y, dense_output=dense, **self.options)
        if not found.success:
            raise ArithmeticError(f"the adjoint equation is not solved: {found.message}")
        return found


def _shaped(adjoint: Any, value: Any) -> Any:
    """The adjoint of a right side, in the form in which the function returns it."""
    if isinstance(value, (list, tuple)):
        return type(value)(float(a) for a in adjoint)
    return np.reshape(adjoint, np.shape(value)).astype(np.result_type(value), copy=False)


def _like(g: Any, x: Any) -> Any:
    """The gradient by a number or an array."""
    if isinstance(x, np.ndarray):
        return np.reshape(g, x.shape).astype(x.dtype, copy=False)
    return float(g[0])
