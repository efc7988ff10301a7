"""Rules of integrals of functions in `scipy.integrate`."""

import numpy as np
from scipy import integrate

from srcdiff.rules import *
from srcdiff.runtime.implicit import jvp_by, vjp_by
from srcdiff.runtime.scipy.integrals import ACCURACY, integral, integral_along

WAVE = "lambda t, k, c: np.sin(k * t) + c * t"


@rule(integrate.quad, calls=("func", "args"))
@samples(f"{WAVE}, P(), P(), args=(P(), P())", f"{WAVE}, 0.0, np.pi, (P(), 2.0), epsrel=1e-10")
def quad(
    func, a, b, args=(), full_output=0, epsabs=ACCURACY, epsrel=ACCURACY, limit=50, points=None,
):  # fmt: skip
    y, error = integrate.quad(func, a, b, args)
    yield y, error
    if full_output:
        refuse("`full_output`: take the value and the estimate of its error alone")
    for k in range(len(args)):
        d[args][k] += integral(
            vjp_by(func, k + 1), a, b, (*args, d[y]), epsabs=epsabs, epsrel=epsrel, limit=limit,
            points=points,
        )  # fmt: skip
    d[a] += -d[y] * func(a, *args)
    d[b] += d[y] * func(b, *args)


@forward(integrate.quad)
def quad_tangent(func, a, b, args, full_output, epsabs, epsrel, limit, points):
    if full_output:
        refuse("`full_output`: take the value and the estimate of its error alone")
    moved = integral_along(
        func, a, b, args, (d[a], d[b], *d[args]), epsabs=epsabs, epsrel=epsrel, limit=limit,
        points=points,
    )  # fmt: skip
    d[z] += (moved, 0.0)


@rule(integral, calls=("f", "args"))
@samples(f"{WAVE}, P(), P(), (P(3), P(3))", f"{WAVE}, 0.0, 1.0, (P(3), P())")
def integral_(f, a, b, args=(), epsabs=ACCURACY, epsrel=ACCURACY, limit=50, points=None):
    for k in range(len(args)):
        d[args][k] += integral(
            vjp_by(f, k + 1), a, b, (*args, d[z]), epsabs=epsabs, epsrel=epsrel, limit=limit,
            points=points,
        )  # fmt: skip
    d[a] += -np.sum(d[z] * f(a, *args))
    d[b] += np.sum(d[z] * f(b, *args))


@forward(integral)
def integral_tangent(f, a, b, args, epsabs, epsrel, limit, points):
    d[z] += integral_along(
        f, a, b, args, (d[a], d[b], *d[args]), epsabs=epsabs, epsrel=epsrel, limit=limit,
        points=points,
    )  # fmt: skip


nondifferentiable(vjp_by, jvp_by)
unsupported("Differentiate the gradient instead: srcdiff.jvp of srcdiff.grad.", integral_along)
