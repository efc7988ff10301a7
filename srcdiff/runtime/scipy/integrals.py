"""Solutions of differential equations, and integrals, that SciPy finds, and their derivatives.

The adjoint of a solution runs backwards along an interpolation of it, which is found once more: to
run the equation itself backwards would be unstable where it forgets its past.  Integrals are those
of functions that srcdiff differentiates.  The rules stand in `templates/scipy/integrate/`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from srcdiff.runtime.checkpoint import absent
from srcdiff.runtime.implicit import jvp_by, numbered, vjp_by, with_source
from srcdiff.runtime.service import compiler, once

Args = tuple[Any, ...]
Places = tuple[int, ...]
"""The positions of arguments."""


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
    """The times and the values that `scipy.integrate.solve_ivp` finds."""
    found = _solved(
        "differential", f, t_span, y0, method=method, t_eval=t_eval, args=args, rtol=rtol,
        atol=atol, first_step=first_step, max_step=max_step,
    )  # fmt: skip
    return found.t, found.y


def _solved(what: str, f: Any, t_span: Any, y0: Any, **options: Any) -> Any:
    """What `solve_ivp` finds, with those of the options that are not None.

    Raises:
        ArithmeticError: it fails.
    """
    from scipy.integrate import solve_ivp

    given = {k: v for k, v in options.items() if v is not None}
    found = solve_ivp(f, t_span, y0, **given)
    if not found.success:
        raise ArithmeticError(f"the {what} equation is not solved: {found.message}")
    return found


def ivp_adjoint(
    f: Any, places: Places, d: Any, t_span: Any, y0: Any, t: Any, args: Args, **options: Any
) -> tuple[Any, ...]:
    """The gradients of `ivp_values` by the start, the times and some of `args`.

    That by the times has the start of the span before all others.
    """
    times = np.concatenate((np.reshape(t_span[0], (1,)), t))
    rows = np.concatenate((np.zeros((1, np.size(y0))), np.transpose(d)))
    return ode_adjoint(f, places, rows, y0, times, args, **options)


def ivp_along(
    f: Any, places: Places, t_span: Any, y0: Any, t: Any, args: Args, moved: Args, **options: Any
) -> Any:
    """The tangent of the values of `ivp_values` along those of the start and of some of `args`."""
    times = np.concatenate((np.reshape(t_span[0], (1,)), t))
    return np.transpose(ode_along(f, places, y0, times, args, moved, **options)[1:])


def ode_values(
    f: Any, y0: Any, t: Any, args: Args = (), *, first: str = "t", **options: Any
) -> Any:
    """A solution: a row for every time, of which the first is that of the start `y0`."""
    return _path(_slope(f, _given(y0, args, first)), y0, t, options)(t).T


def _given(y0: Any, args: Args, first: str) -> Callable[[float, Any], Args]:
    """What gives the arguments of a right side, which are real, at a time and a state."""
    for what, values in (("solutions", (y0,)), ("arguments", args)):
        if any(map(np.iscomplexobj, values)):
            raise TypeError(f"the derivatives of differential equations are for real {what}")
    if first == "t":
        return lambda t, y: (float(t), y, *args)
    return lambda t, y: (y, float(t), *args)


def _slope(f: Any, given: Callable[[float, Any], Args]) -> Callable[[float, Any], Any]:
    """A right side as a function of the time and the state, and as a vector."""
    return lambda t, y: np.asarray(f(*given(t, y)), float).reshape(-1)


def _path(slope: Any, y0: Any, t: Any, options: dict[str, Any]) -> Any:
    """A solution as a function of the time, between the first and the last of some."""
    span, start = (t[0], t[-1]), np.array(y0, float).reshape(-1)
    return _solved("differential", slope, span, start, dense_output=True, **options).sol


def ode_adjoint(
    f: Any, places: Places, d: Any, y0: Any, t: Any, args: Args, *, first: str = "t", **options: Any
) -> tuple[Any, ...]:
    """The gradients of a solution, a row for every time: by its start, `t` and some of `args`.

    `places` are the positions of the arguments; `first` says whether the function takes the time
    or the state first.
    """
    given, active = _given(y0, args, first), (int(first == "t"), *(k + 2 for k in places))
    slope = _slope(f, given)
    d, t, size = np.asarray(d), np.asarray(t), np.size(y0)
    like = [np.asarray(args[k], float) for k in places]
    if not len(t):
        return np.zeros(np.shape(y0))[()], np.zeros(0), *(0.0 * args[k] for k in places)
    path = _path(slope, y0, t, options)

    def back(t: float, z: Any) -> Any:
        value, pull = compiler().pullback(f, active, given(t, path(t)))
        found = pull(_shaped(z[:size], value), retain_graph=False)
        return -np.concatenate([np.ravel(g) for g in found])

    z = np.concatenate((d[-1], np.zeros(sum(a.size for a in like))))  # the gradients stand behind
    last = len(t) - 1
    for i in [*(k for k in range(last - 1, 0, -1) if np.any(d[k])), 0]:
        if t[last] != t[i]:
            z = _solved("adjoint", back, (t[last], t[i]), z, **options).y[:, -1]
        if i < last:  # of one time alone it is there already
            z[:size] += d[i]
        last = i
    moved = np.array([d[i] @ slope(t[i], path(t[i])) for i in range(len(t))])
    moved[0] -= z[:size] @ slope(t[0], np.array(y0, float).reshape(-1))
    parts = np.split(z[size:], np.cumsum([a.size for a in like])[:-1]) if like else []
    found = (_like(p, args[k]) for p, k in zip(parts, places, strict=True))
    return np.reshape(z[:size].copy(), np.shape(y0))[()], moved, *found


# --- along a direction: an equation of twice the size -----------------------------------------


def ode_along(
    f: Any,
    places: Places,
    y0: Any,
    t: Any,
    args: Args,
    moved: Args,
    *,
    first: str = "t",
    **options: Any,
) -> Any:
    """The tangent of a solution along those of its start, of `t` and of some of `args`.

    What has no tangent may have the number zero for it.
    """
    plain, n = slope_of(f, len(args), first), np.size(y0)
    if not len(t):
        return np.zeros((0, n))
    way, given = along_of(f, places, len(args), first), args + moved[2:]
    t, ahead, w, both = widened(plain, y0, t, args, moved)
    z = ode_values(way, both, t, given, **options)
    return z[:, n:] + np.reshape(w, (-1, 1)) * at_rows(plain, (t, z[:, :n]), args)


def ode_curved(
    f: Any,
    places: Places,
    d: Any,
    y0: Any,
    t: Any,
    args: Args,
    moved: Args,
    by: Places,
    *,
    first: str = "t",
    **options: Any,
) -> tuple[Any, ...]:
    """The gradients of the sum of `d * ode_along(...)`: by the start, `t` and `args` at `by`.

    The second derivatives of a solution are symmetric, so that these are the tangents of
    `ode_adjoint` as well.
    """
    plain, n = slope_of(f, len(args), first), np.size(y0)
    way, given = along_of(f, places, len(args), first), args + moved[2:]
    if not len(t):
        return np.zeros(np.shape(y0))[()], np.zeros(0), *(0.0 * given[k] for k in by)
    t, ahead, w, both = widened(plain, y0, t, args, moved)
    z = ode_values(way, both, t, given, **options)
    rows, c = (t, z[:, :n]), (np.reshape(w, (-1, 1)) * d,)
    pulled = np.concatenate((at_rows(vjp_by(plain, 1), rows, args, c), d), axis=1)
    found = ode_adjoint(way, by, pulled, both, t, given, **options)
    back = (-w[0] * np.reshape(found[0][n:], (1, -1)),)
    by_start = found[0][:n] + at_rows(vjp_by(plain, 1), ahead, args, back)[0]
    by_time = at_rows(vjp_by(plain, 0), ahead, args, back)
    by_times = found[1] + at_rows(vjp_by(plain, 0), rows, args, c)
    second: tuple[Any, ...] = (
        np.reshape(by_start, np.shape(y0))[()],
        np.concatenate((by_times[:1] + by_time, by_times[1:])),
    )
    for k in range(len(by)):
        slope = vjp_by(plain, 2 + by[k])
        along = np.sum(at_rows(slope, rows, args, c), axis=0)
        second = second + (found[2 + k] + along + at_rows(slope, ahead, args, back)[0],)
    return second


def widened(plain: Any, y0: Any, t: Any, args: Args, moved: Args) -> tuple[Any, ...]:
    """The times, the first row, the tangents of the times, and the start of both equations."""
    t, start = np.asarray(t, float), np.ravel(y0) + 0.0
    ahead, w = (t[:1], np.reshape(start, (1, -1))), np.ravel(moved[1]) + np.zeros(len(t))
    both = np.concatenate((start, np.ravel(moved[0]) - w[0] * at_rows(plain, ahead, args)[0]))
    return t, ahead, w, both


def at_rows(f: Any, rows: Args, args: Args, more: Args = ()) -> Any:
    """`f(*rows, *args, *more)` for every row of `rows` and `more`."""
    count = range(len(rows[0]))
    return np.stack([f(*(a[i] for a in rows), *args, *(a[i] for a in more)) for i in count])


@once
def slope_of(f: Any, count: int, first: str) -> Any:
    """The right side as a function of the time, the state and so many arguments: a vector."""
    given = "t, y" if first == "t" else "y, t"
    line = f"return np.reshape(np.asarray(f({_listed(given, 'a', range(count))})), np.shape(y))"
    head = f"def slope({_listed('t, y', 'a', range(count))}):"
    return with_source(head, [line], {"np": np, "f": f})


def along_of(f: Any, places: Places, count: int, first: str) -> Any:
    """The right side of an equation and of that of its tangents, as one equation.

    Behind its arguments it takes the tangents of those at `places`; a number stands for an array
    of such numbers.
    """
    return _along(slope_of(f, count, first), places, count)


@once
def _along(slope: Any, places: Places, count: int) -> Any:
    ways = (f"np.zeros(np.shape(a{k})) + b{k}" if k in places else "None" for k in range(count))
    given = _listed("", "a", range(count))
    lines = [
        "n = len(y) // 2",
        f"both = along(slope, (None, y[n:], {', '.join(ways)}), t, y[:n], {given})",
        "return np.concatenate(both)",
    ]
    head = f"def tangent({_listed(_listed('t, y', 'a', range(count)), 'b', places)}):"
    return with_source(head, lines, {"np": np, "along": compiler().along, "slope": slope})


def _listed(start: str, letter: str, numbers: Iterable[int]) -> str:
    """Names in a list behind others."""
    return ", ".join(filter(None, (start, *numbered(letter, numbers))))


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


# --- integrals -----------------------------------------------------------------------------------


ACCURACY = 1.49e-8
"""The tolerances of `scipy.integrate.quad`."""


def integral(
    f: Any,
    a: float,
    b: float,
    args: Args = (),
    epsabs: float = ACCURACY,
    epsrel: float = ACCURACY,
    limit: int = 50,
    points: Sequence[float] | None = None,
) -> Any:
    """The integral of `f(t, *args)`, a number or an array, over `t` from `a` to `b`.

    Raises:
        ArithmeticError: it is not found with these tolerances.
        TypeError: the function returns something else.
    """
    from scipy.integrate import quad, quad_vec

    with np.errstate(all="ignore"):
        like = f(_between(a, b), *args)
    if not isinstance(like, (np.ndarray, np.number, int, float, complex)):
        raise TypeError(
            f"an integral is of numbers or arrays, not of {type(like).__name__}: let the function "
            "read numbers and arrays in local variables (`k = self.k`) in place of objects"
        )
    if not isinstance(like, np.ndarray) and not np.iscomplexobj(like):
        return quad(f, a, b, args, 0, epsabs, epsrel, limit, points)[0]
    if np.size(like) == 0 or a == b:
        return 0.0 * like
    epsrel = max(epsrel, 64.0 * float(np.finfo(np.result_type(like)).eps))
    found, _, info = quad_vec(
        lambda t: f(t, *args), a, b, epsabs, epsrel, limit=10 * limit, points=points,
        full_output=True,
    )  # fmt: skip
    if not info.success:
        raise ArithmeticError(f"an integral is not found: {info.message}")
    return np.asarray(found, np.result_type(like))[()]


def integral_along(f: Any, a: float, b: float, args: Args, moved: Args, **options: Any) -> Any:
    """The tangent of `integral` along tangents of the limits and of the arguments."""
    t_a, t_b, *rest = absent(moved)
    total: Any = 0.0
    for k, t in enumerate(rest):
        if t is not None:
            total = total + integral(jvp_by(f, k + 1), a, b, (*args, t), **options)
    if t_a is not None:
        total = total - t_a * f(a, *args)
    return total if t_b is None else total + t_b * f(b, *args)


def _between(a: float, b: float) -> float:
    """A number between two that may be infinite."""
    if np.isfinite(a) and np.isfinite(b):
        return float(a + 0.43 * (b - a))
    if np.isfinite(a):
        return float(a + np.copysign(0.43, b))
    return float(b - np.copysign(0.43, a)) if np.isfinite(b) else 0.43
