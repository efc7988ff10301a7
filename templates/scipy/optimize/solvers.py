"""Solvers of `scipy.optimize`: the equation says what the derivative of a solution is.

And a function to try them on.
"""

import numpy as np
from scipy import optimize

from srcdiff.rules import *
from srcdiff.runtime.implicit import (
    fixed_adjoint,
    fixed_tangent,
    pulled,
    pushed,
    solve_adjoint,
    solve_tangent,
)
from srcdiff.runtime.scipy.roots import found_root, found_root_scalar

EQUATION = "lambda x, a, b: x * x * x + a * x - b"
SLOPE = "lambda x, a, b: 3.0 * x * x + a"


@rule(
    optimize.brentq, optimize.brenth, optimize.bisect, optimize.ridder, calls=("f", "args"),
    constant="a b",
)  # fmt: skip
@samples(f"{EQUATION}, 0.0, 3.0, args=(P(), P())", f"{EQUATION}, 0.0, 3.0, (P(), 2.0), 1e-13")
def bracketed(f, a, b, args=(), xtol=2e-12, rtol=8.9e-16, maxiter=100, full_output=False):
    if full_output:
        refuse("`full_output=True`: take the root alone")
    adjoint = solve_adjoint(f, z, d[z], *args)
    for k in range(len(args)):
        d[args][k] += -pulled(f, k + 1, adjoint, z, *args)


@forward(
    optimize.brentq, optimize.brenth, optimize.bisect, optimize.ridder, optimize.toms748,
    found_root_scalar,
)  # fmt: skip
def root_tangent(f, args):
    for k in range(len(args)):
        if not known(d[args][k]):
            d[z] += -solve_tangent(f, z, pushed(f, k + 1, d[args][k], z, *args), *args)


@rule(optimize.toms748, calls=("f", "args"), constant="a b")
@samples(f"{EQUATION}, 0.0, 3.0, args=(P(), P())", f"{EQUATION}, 0.0, 3.0, (P(), 2.0)")
def toms748(f, a, b, args=(), k=1, xtol=2e-12, rtol=8.9e-16, maxiter=100, full_output=False):
    if full_output:
        refuse("`full_output=True`: take the root alone")
    adjoint = solve_adjoint(f, z, d[z], *args)
    for i in range(len(args)):
        d[args][i] += -pulled(f, i + 1, adjoint, z, *args)


@rule(optimize.newton, calls=("func", "fprime", "fprime2", "args"), constant="x0 x1")
@samples(
    f"{EQUATION}, 1.0, {SLOPE}, (P(), P())", f"{EQUATION}, np.ones(3), args=(P(3), P())",
    f"{EQUATION}, 1.0, args=(P(), P())",
)  # fmt: skip
def newton(func, x0, fprime=None, args=(), tol=1.48e-08, maxiter=50, fprime2=None, x1=None):
    adjoint = solve_adjoint(func, z, d[z], *args)
    for k in range(len(args)):
        d[args][k] += -pulled(func, k + 1, adjoint, z, *args)


@rule(optimize.fsolve, calls=("func", "fprime", "args"), constant="x0")
@samples(
    f"{EQUATION}, np.ones(3), args=(P(3), P())",
    f"{EQUATION}, np.ones(1), (P(), P()), lambda x, a, b: np.reshape(3.0 * x * x + a, (1, 1))",
)  # fmt: skip
def fsolve(func, x0, args=(), fprime=None, full_output=False, col_deriv=False, xtol=1.49012e-08):
    if full_output:
        refuse("`full_output=True`: take the solution alone")
    adjoint = solve_adjoint(func, z, d[z], *args)
    for k in range(len(args)):
        d[args][k] += -pulled(func, k + 1, adjoint, z, *args)


@forward(optimize.newton, optimize.fsolve)
def solver_tangent(func, args):
    for k in range(len(args)):
        if not known(d[args][k]):
            d[z] += -solve_tangent(func, z, pushed(func, k + 1, d[args][k], z, *args), *args)


@rule(optimize.fixed_point, calls=("func", "args"), constant="x0")
@samples("lambda x, a: np.cos(a * x), np.full(3, 0.5), (U(3),)")
def fixed_point(func, x0, args=(), xtol=1e-08, maxiter=500, method="del2"):
    adjoint = fixed_adjoint(func, z, d[z], *args)
    for k in range(len(args)):
        d[args][k] += pulled(func, k + 1, adjoint, z, *args)


@forward(optimize.fixed_point)
def fixed_point_tangent(func, args):
    for k in range(len(args)):
        if not known(d[args][k]):
            d[z] += fixed_tangent(func, z, pushed(func, k + 1, d[args][k], z, *args), *args)


# What they return is an object, of which the root has a derivative.


class Root:
    """What `scipy.optimize.root` returns, as far as it is known."""

    def __init__(self, x):
        self.x = x
        self.success = True


class ScalarRoot:
    """What `scipy.optimize.root_scalar` returns, as far as it is known."""

    def __init__(self, root):
        self.root = root
        self.converged = True


@composed(optimize.root, early=True)
def root(fun, x0, args=(), method="hybr", jac=None, tol=None, callback=None, options=None):
    if jac is True:
        refuse("`jac=True`: give the Jacobian as a function of its own")
    return Root(found_root(fun, x0, args, jac, method=method, tol=tol, options=options))


@composed(optimize.root_scalar, early=True)
def root_scalar(
    f, args=(), method=None, bracket=None, fprime=None, fprime2=None, x0=None, x1=None,
    xtol=None, rtol=None, maxiter=None,
):  # fmt: skip
    found = found_root_scalar(
        f, args, fprime, fprime2, method=method, bracket=bracket, x0=x0, x1=x1, xtol=xtol,
        rtol=rtol, maxiter=maxiter,
    )  # fmt: skip
    return ScalarRoot(found)


@rule(found_root, calls=("fun", "jac", "args"), constant="x0")
@samples(
    f"{EQUATION}, np.ones(3), (P(3), P())", f"{EQUATION}, np.ones(3), (P(3), P()), method='lm'"
)
def found_root_(fun, x0, args=(), jac=None, *, method="hybr", tol=None, options=None):
    adjoint = solve_adjoint(fun, z, d[z], *args)
    for k in range(len(args)):
        d[args][k] += -pulled(fun, k + 1, adjoint, z, *args)


@forward(found_root)
def found_root_tangent(fun, args):
    for k in range(len(args)):
        if not known(d[args][k]):
            d[z] += -solve_tangent(fun, z, pushed(fun, k + 1, d[args][k], z, *args), *args)


@rule(found_root_scalar, calls=("f", "fprime", "fprime2", "args"), constant="x0 x1 bracket")
@samples(f"{EQUATION}, (P(), P()), bracket=(0.0, 3.0)", f"{EQUATION}, (P(), 2.0), {SLOPE}, x0=1.0")
def found_root_scalar_(
    f, args=(), fprime=None, fprime2=None, *, method=None, bracket=None, x0=None, x1=None,
    xtol=None, rtol=None, maxiter=None,
):  # fmt: skip
    adjoint = solve_adjoint(f, z, d[z], *args)
    for k in range(len(args)):
        d[args][k] += -pulled(f, k + 1, adjoint, z, *args)


# --- the Rosenbrock function and its derivatives -----------------------------------------------


made_of(
    optimize.rosen,
    value=lambda x: np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2, axis=0),
    samples=("A(4)", "A(3, 2)"),
)


@composed(optimize.rosen_der)
@samples("A(4)", "A(3)")
def rosen_der(x):
    step = 200.0 * (x[1:] - x[:-1] ** 2)
    first = -2.0 * step * x[:-1] - 2.0 * (1.0 - x[:-1])
    return np.append(first, 0.0) + np.append(0.0, step)


@composed(optimize.rosen_hess)
@samples("A(4)", "A(3)")
def rosen_hess(x):
    beside = np.diag(-400.0 * x[:-1], 1)
    first = 1200.0 * x[:-1] ** 2 - 400.0 * x[1:] + 2.0
    last = np.append(0.0, 200.0 * np.ones(len(x) - 1))
    return beside + beside.T + np.diag(np.append(first, 0.0) + last)


made_of(
    optimize.rosen_hess_prod, value=lambda x, p: optimize.rosen_hess(x) @ p,
    samples=("A(4), A(4)",),
)


unsupported(
    "Give a function that calls it, and the equation that it solves, to `srcdiff.implicit`.",
    optimize.broyden1, optimize.broyden2, optimize.anderson, optimize.newton_krylov,
)  # fmt: skip
unsupported(
    "Give a function that calls it, and the gradient that is zero at the solution, to "
    "`srcdiff.implicit`.",
    *members(optimize, "minimize minimize_scalar fmin fmin_bfgs fmin_l_bfgs_b fmin_cg "
                       "least_squares leastsq curve_fit"),
)  # fmt: skip
unsupported(
    "It has no derivative where the choice changes: differentiate the cost of the solution.",
    optimize.linear_sum_assignment, optimize.linprog, optimize.nnls,
    optimize.differential_evolution,
)  # fmt: skip
