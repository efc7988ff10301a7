"""Rules of differential equations in `scipy.integrate`, by the adjoint method."""

import numpy as np
from scipy import integrate

from srcdiff.odes import ivp_adjoint, ivp_along, ivp_values, ode_adjoint, ode_along
from srcdiff.rules import active, composed, d, forward, refuse, rule, samples, unsupported

DECAY = "lambda y, t, k, c: -k * y + c * np.cos(t)"
TIMES = "np.array([0.0, 0.3, 1.0])"


@rule(integrate.odeint, calls=("func", "Dfun", "args"))
@samples(
    f"{DECAY}, P(2), {TIMES}, (P(2), P())",
    f"{DECAY}, P(2), V([0.0, 0.3, 1.0]), (P(), 0.5), rtol=1e-10, atol=1e-10",
)  # fmt: skip
def odeint(
    func, y0, t, args=(), Dfun=None, col_deriv=0, full_output=0, ml=None, mu=None, rtol=None,
    atol=None,
):  # fmt: skip
    y = integrate.odeint(func, y0, t, args, Dfun, rtol=rtol, atol=atol)
    yield y
    if full_output:
        refuse("`full_output`: take the solution alone")
    places = active(args)
    found = ode_adjoint(
        func, places, d[y], t, y, args, first="y", method="LSODA",
        rtol=1.49e-8 if rtol is None else rtol, atol=1.49e-8 if atol is None else atol,
    )  # fmt: skip
    d[y0] += np.reshape(found[0], np.shape(y0))
    d[t] += found[1]
    for k in range(len(places)):
        d[args][places[k]] += found[2 + k]


@forward(integrate.odeint)
def odeint_tangent(
    func, y0, t, args=(), Dfun=None, col_deriv=0, full_output=0, ml=None, mu=None, rtol=None,
    atol=None,
):  # fmt: skip
    y = integrate.odeint(func, y0, t, args, Dfun, rtol=rtol, atol=atol)
    yield y
    d[y] += ode_along(
        func, t, y, args, (d[y0], d[t], *d[args]), first="y", method="LSODA",
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
    t, y = ivp_values(
        fun, t_span, y0, () if args is None else args, t_eval=t_eval, method=method, rtol=rtol,
        atol=atol, first_step=first_step, max_step=max_step,
    )  # fmt: skip
    return Solution(t, y)


@rule(ivp_values, calls=("f", "args"))
@samples(
    "lambda t, y, k: -k * y, (0.0, 1.0), P(2), (P(),), t_eval=np.array([0.0, 0.5, 1.0]), "
    "rtol=1e-10, atol=1e-10",
)  # fmt: skip
def ivp_values_(
    f, t_span, y0, args=(), *, t_eval=None, method="RK45", rtol=1e-3, atol=1e-6, first_step=None,
    max_step=np.inf,
):  # fmt: skip
    t, y = ivp_values(
        f, t_span, y0, args, t_eval=t_eval, method=method, rtol=rtol, atol=atol,
        first_step=first_step, max_step=max_step,
    )  # fmt: skip
    yield t, y
    places = active(args)
    found = ivp_adjoint(
        f, places, d[y], t_span, y0, t, y, args, method=method, rtol=rtol, atol=atol,
        first_step=first_step, max_step=max_step,
    )  # fmt: skip
    d[y0] += found[0]
    for k in range(len(places)):
        d[args][places[k]] += found[1 + k]


@forward(ivp_values)
def ivp_values_tangent(
    f, t_span, y0, args=(), *, t_eval=None, method="RK45", rtol=1e-3, atol=1e-6, first_step=None,
    max_step=np.inf,
):  # fmt: skip
    z = ivp_values(
        f, t_span, y0, args, t_eval=t_eval, method=method, rtol=rtol, atol=atol,
        first_step=first_step, max_step=max_step,
    )  # fmt: skip
    yield z
    d[z] += ivp_along(
        f, t_span, y0, z[0], z[1], args, (d[y0], *d[args]), method=method, rtol=rtol, atol=atol,
        first_step=first_step, max_step=max_step,
    )  # fmt: skip


unsupported(
    "It has first derivatives only: step with a loop of your own.",
    ivp_adjoint, ivp_along, ode_adjoint, ode_along,
)  # fmt: skip
