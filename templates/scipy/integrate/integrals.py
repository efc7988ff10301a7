"""Rules of integrals of functions and of samples in `scipy.integrate`."""

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
def integral_(f, a, b, args=(), **options):
    for k in range(len(args)):
        d[args][k] += integral(vjp_by(f, k + 1), a, b, (*args, d[z]), **options)
    d[a] += -np.sum(d[z] * f(a, *args))
    d[b] += np.sum(d[z] * f(b, *args))


@forward(integral)
def integral_tangent(f, a, b, args, **options):
    d[z] += integral_along(f, a, b, args, (d[a], d[b], *d[args]), **options)


nondifferentiable(vjp_by, jvp_by)
unsupported("Differentiate the gradient instead: srcdiff.jvp of srcdiff.grad.", integral_along)


# --- of samples --------------------------------------------------------------------------------


made_of(
    integrate.trapezoid, value=lambda y, x=None, dx=1.0, axis=-1: np.trapezoid(y, x, dx, axis),
    samples=("A(4)", "A(3, 4), None, 0.5, 0", "A(4), A(4)", "A(3, 4), A(4)", "A(4), dx=A()"),
)


@composed(integrate.cumulative_trapezoid)
@samples(
    "A(4)", "A(3, 4), None, 0.5, 0", "A(4), A(4)", "A(3, 4), A(4)", "A(4), dx=A()",
    "A(3, 4), initial=0",
)  # fmt: skip
def cumulative_trapezoid(y, x=None, dx=1.0, axis=-1, initial=None):
    rows = np.moveaxis(y, axis, -1)
    step = dx if x is None else np.diff(x, axis=-1)
    z = np.cumsum(0.5 * step * (rows[..., 1:] + rows[..., :-1]), axis=-1)
    if initial is not None:
        z = np.concatenate((np.zeros_like(rows[..., :1]), z), axis=-1)
    return np.moveaxis(z, -1, axis)


# The weights of the rule are what it makes of an identity matrix.


@linear(integrate.simpson)
@samples("A(5)", "A(6)", "A(3, 4), dx=0.5, axis=0", "A(4), np.array([0.0, 0.3, 1.0, 1.5])")
def simpson(y, x=None, *, dx=1.0, axis=-1):
    weights = integrate.simpson(np.eye(np.shape(y)[axis]), x, dx=dx)
    if rank(y) == 1:
        d[y] += d[z] * weights
    else:
        d[y] += np.moveaxis(np.multiply.outer(d[z], weights), -1, axis)


@linear(integrate.romb)
@samples("A(5)", "A(3, 5), 0.5", "A(3, 2), axis=0")
def romb(y, dx=1.0, axis=-1):
    weights = integrate.romb(np.eye(np.shape(y)[axis]), dx)
    if rank(y) == 1:
        d[y] += d[z] * weights
    else:
        d[y] += np.moveaxis(np.multiply.outer(d[z], weights), -1, axis)


unsupported(
    "Sum over nodes and weights (`scipy.special.roots_legendre`), or step with a loop of your own.",
    *members(integrate, "dblquad tplquad nquad quad_vec solve_bvp fixed_quad"),
)
