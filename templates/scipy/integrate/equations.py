"""Rules of differential equations in `scipy.integrate`, by the adjoint method."""

import numpy as np
from scipy import integrate

from srcdiff.rules import *
from srcdiff.runtime.implicit import vjp_by
from srcdiff.runtime.scipy import integrals

DECAY = "lambda y, t, k, c: -k * y + c * np.cos(t)"
LOGISTIC = "lambda t, y, k: k * y - y * y * t"
TIMES = "np.array([0.0, 0.3, 1.0])"
EXACT = "rtol=1e-11, atol=1e-11"
SMOOTH = f"method='DOP853', {EXACT}"


@rule(integrate.odeint, calls=("func", "Dfun", "args"))
@samples(
    f"{DECAY}, P(2), {TIMES}, (P(2), P()), {EXACT}",
    f"{DECAY}, P(2), V([0.0, 0.3, 1.0]), (P(), 0.5), {EXACT}",
)  # fmt: skip
def odeint(
    func, y0, t, args=(), Dfun=None, col_deriv=0, full_output=0, ml=None, mu=None, rtol=None,
    atol=None,
):  # fmt: skip
    if full_output:
        refuse("`full_output`: take the solution alone")
    places = active(args)
    found = integrals.ode_adjoint(
        func, places, d[z], y0, t, args, first="y", method="LSODA",
        rtol=1.49e-8 if rtol is None else rtol, atol=1.49e-8 if atol is None else atol,
    )  # fmt: skip
    d[y0] += found[0]
    d[t] += found[1]
    for k in range(len(places)):
        d[args][places[k]] += found[2 + k]


@forward(integrate.odeint)
def odeint_tangent(func, y0, t, args, rtol, atol):
    places = active(args)
    moved = (d[y0], d[t], *d[args])[:2]
    for k in range(len(places)):
        moved = moved + (d[args][places[k]],)
    d[z] += integrals.ode_along(
        func, places, y0, t, args, moved, first="y", method="LSODA",
        rtol=1.49e-8 if rtol is None else rtol, atol=1.49e-8 if atol is None else atol,
    )  # fmt: skip


class Solution:
    """What `scipy.integrate.solve_ivp` returns, as far as it is known."""

    def __init__(self, t, y):
        self.t = t
        self.y = y
        self.success = True
        self.status = 0


@composed(integrate.solve_ivp, early=True)
def solve_ivp(
    fun, t_span, y0, method="RK45", t_eval=None, dense_output=False, events=None,
    vectorized=False, args=None, *, rtol=1e-3, atol=1e-6, first_step=None, max_step=np.inf,
):  # fmt: skip
    if dense_output or events is not None or vectorized:
        refuse("`dense_output`, `events` and `vectorized`: give the times as `t_eval`")
    t, y = integrals.ivp_values(
        fun, t_span, y0, () if args is None else args, t_eval=t_eval, method=method, rtol=rtol,
        atol=atol, first_step=first_step, max_step=max_step,
    )  # fmt: skip
    return Solution(t, y)


@rule(integrals.ivp_values, calls=("f", "args"))
@samples(
    "lambda t, y, k: -k * y * y, (0.0, 1.0), P(2), (P(),), t_eval=np.array([0.0, 0.5, 1.0]), "
    f"{SMOOTH}",
)  # fmt: skip
def ivp_values_(f, t_span, y0, args=(), *, t_eval=None, **options):
    t, y = integrals.ivp_values(f, t_span, y0, args, t_eval=t_eval, **options)
    yield t, y
    places = active(args)
    found = integrals.ivp_adjoint(f, places, d[y], t_span, y0, t, args, **options)
    d[y0] += found[0]
    if t_eval is None:  # between its ends the solver chooses the times: they are constants
        d[t_span][0] += found[1][0] + found[1][1] + d[t][0]
        d[t_span][1] += found[1][-1] + d[t][-1]
    else:
        d[t_span][0] += found[1][0]
        d[t_eval] += found[1][1:] + d[t]
    for k in range(len(places)):
        d[args][places[k]] += found[2 + k]


@forward(integrals.ivp_values)
def ivp_values_tangent(f, t_span, y0, args, t_eval, **options):
    places = active(args)
    times, later = 0.0, np.zeros(len(z[0]))
    if not known(d[t_span]):
        times = _at_ends(len(later), d[t_span][0], d[t_span][1], t_eval is None)
        later = times[1:]
    if not known(d[t_eval]):
        times = times + np.concatenate((np.zeros(1), d[t_eval]))
        later = times[1:]
    moved = (d[y0], times, *d[args])[:2]
    for k in range(len(places)):
        moved = moved + (d[args][places[k]],)
    along = integrals.ivp_along(f, places, t_span, y0, z[0], args, moved, **options)
    d[z] += (later, along)


def _at_ends(count, start, end, chosen):
    """Tangents of the start and of so many times, where those of the ends of the span are given."""
    k = np.arange(1 + count)
    if chosen:  # the times begin and end as the span does
        return np.where(k < 2, start, 0.0) + np.where(k == count, end, 0.0)
    return np.where(k < 1, start, 0.0)


# Their derivatives are those of equations of twice the size.

inlined(integrals.ivp_adjoint)
inlined(integrals.ivp_along)
inlined(integrals.ode_along)
inlined(integrals.ode_curved)
inlined(integrals.widened)
nondifferentiable(integrals.slope_of, integrals.along_of)


@rule(integrals.ode_values)
@samples(f"{LOGISTIC}, P(1), V([0.0, 0.3, 1.0]), (P(),), {SMOOTH}")
def ode_values_(f, y0, t, args=(), **options):
    places = active(args)
    found = integrals.ode_adjoint(f, places, d[z], y0, t, args, **options)
    d[y0] += found[0]
    d[t] += found[1]
    for k in range(len(places)):
        d[args][places[k]] += found[2 + k]


@forward(integrals.ode_values)
def ode_values_tangent(f, y0, t, args, **options):
    places = active(args)
    moved = (d[y0], d[t], *d[args])[:2]
    for k in range(len(places)):
        moved = moved + (d[args][places[k]],)
    d[z] += integrals.ode_along(f, places, y0, t, args, moved, **options)


@rule(integrals.ode_adjoint)
@samples(f"{LOGISTIC}, (0,), A(3, 2), P(2), V([0.0, 0.3, 1.0]), (P(),), {SMOOTH}")
def ode_adjoint_(f, places, w, y0, t, args, **options):
    moved = (d[z][0], d[z][1])
    for k in range(len(places)):
        moved = moved + (d[z][2 + k],)
    d[w] += integrals.ode_along(f, places, y0, t, args, moved, **options)
    by = active(args)
    second = integrals.ode_curved(f, places, w, y0, t, args, moved, by, **options)
    d[y0] += second[0]
    d[t] += second[1]
    for k in range(len(by)):
        d[args][by[k]] += second[2 + k]


@forward(integrals.ode_adjoint)
def ode_adjoint_tangent(f, places, w, y0, t, args, **options):
    d[z] += integrals.ode_adjoint(f, places, d[w], y0, t, args, **options)
    by = active(args)
    moved = (d[y0], d[t], *d[args])[:2]
    for k in range(len(by)):
        moved = moved + (d[args][by[k]],)
    d[z] += integrals.ode_curved(f, by, w, y0, t, args, moved, places, **options)


@rule(integrals.at_rows)
@samples("lambda t, y, k, v: k * y * t + v, (A(2), A(2, 1)), (P(),), (A(2, 1),)")
def at_rows_(f, rows, args, more=()):
    for k in range(len(rows)):
        d[rows][k] += integrals.at_rows(vjp_by(f, k), rows, args, (*more, d[z]))
    for k in range(len(args)):
        at = len(rows) + k
        d[args][k] += np.sum(integrals.at_rows(vjp_by(f, at), rows, args, (*more, d[z])), axis=0)
    for k in range(len(more)):
        at = len(rows) + len(args) + k
        d[more][k] += integrals.at_rows(vjp_by(f, at), rows, args, (*more, d[z]))


@forward(integrals.at_rows)
def at_rows_tangent(f, rows, args, more):
    for k in range(len(rows)):
        if not known(d[rows][k]):
            d[z] += _pushed_rows(f, k, rows, args, more, z, d[rows][k])
    for k in range(len(args)):
        if not known(d[args][k]):
            moved = np.broadcast_to(d[args][k], (len(z), *np.shape(d[args][k])))
            d[z] += _pushed_rows(f, len(rows) + k, rows, args, more, z, moved)
    for k in range(len(more)):
        if not known(d[more][k]):
            at = len(rows) + len(args) + k
            d[z] += _pushed_rows(f, at, rows, args, more, z, d[more][k])


def _pushed_rows(f, k, rows, args, more, z, moved):
    """Products with the Jacobian, as the derivatives of those with its transpose."""
    back = vjp_by(vjp_by(f, k), len(rows) + len(args) + len(more))
    return integrals.at_rows(back, rows, args, (*more, np.zeros_like(z), moved))
