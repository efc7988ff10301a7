"""Rules of solutions of equations, by the implicit function theorem."""

import numpy as np

from srcdiff import grad, hessian, hvp, jacobian, jvp, linearize, vhp, vjp
from srcdiff.rules import *
from srcdiff.runtime.implicit import (
    as_reals,
    basis_of,
    fixed_adjoint,
    fixed_point,
    fixed_tangent,
    of_reals,
    pulled,
    pushed,
    solution,
    solve_adjoint,
    solve_tangent,
    solved,
    units_of,
)

SQUARES = "lambda a, b: np.sqrt(a * b), lambda x, a, b: x * x - a * b"


@rule(solution)
@samples(f"{SQUARES}, P(3), P(3)", f"{SQUARES}, P(), 2.0")
def solution_(solver, residual, *args):
    adjoint = solve_adjoint(residual, z, d[z], *args)
    for k in range(len(args)):
        d[args][k] += -pulled(residual, k + 1, adjoint, z, *args)


@forward(solution)
def solution_tangent(residual, *args):
    for k in range(len(args)):
        if not known(d[args][k]):
            moved = pushed(residual, k + 1, d[args][k], z, *args)
            d[z] += -solve_tangent(residual, z, moved, *args)


@rule(fixed_point, calls=("f", "args"))
@samples("lambda x, a: np.cos(a * x), 0.5, U(3)", "lambda x, a: np.cos(a * x), 0.5, U()")
def fixed_point_(f, x0, *args):
    adjoint = fixed_adjoint(f, z, d[z], *args)
    for k in range(len(args)):
        d[args][k] += pulled(f, k + 1, adjoint, z, *args)
    d[x0] += 0.0


@forward(fixed_point)
def fixed_point_tangent(f, *args):
    for k in range(len(args)):
        if not known(d[args][k]):
            d[z] += fixed_tangent(f, z, pushed(f, k + 1, d[args][k], z, *args), *args)


# Of their derivatives, dense: the matrix of the system is part of the text.  Complex numbers
# are pairs of real ones there.


@linear(as_reals)
@samples("A(2, 3), A(2, 3)", "C(3), C(3)", "A(), 2.0")
def as_reals_(v, like):
    d[v] += of_reals(d[z], v)
    d[like] += 0.0


@linear(of_reals)
@samples("A(6), A(2, 3)", "A(6), C(3)")
def of_reals_(v, like):
    d[v] += as_reals(d[z], like)
    d[like] += 0.0


@composed(solve_adjoint, early=True)
@samples("lambda x, a: x * x * a, P(3), A(3), P(3)", "lambda x, a: x * x * a, P(), A(), P()")
def solve_adjoint_(f, x, g, *args):
    columns = [as_reals(pulled(f, 0, e, x, *args), x) for e in units_of(x)]
    return of_reals(solved(np.stack(columns, axis=1), as_reals(g, x)), x)


@composed(solve_tangent, early=True)
@samples("lambda x, a: x * x * a, P(3), A(3), P(3)", "lambda x, a: x * x * a, P(), A(), P()")
def solve_tangent_(f, x, r, *args):
    rows = [as_reals(pulled(f, 0, e, x, *args), x) for e in units_of(x)]
    return of_reals(solved(np.stack(rows), as_reals(r, x)), x)


@composed(fixed_adjoint, early=True)
@samples("lambda x, a: x * x * a, P(3), A(3), P(3)", "lambda x, a: x * x * a, P(), A(), P()")
def fixed_adjoint_(f, x, g, *args):
    columns = [as_reals(e - pulled(f, 0, e, x, *args), x) for e in units_of(x)]
    return of_reals(solved(np.stack(columns, axis=1), as_reals(g, x)), x)


@composed(fixed_tangent, early=True)
@samples("lambda x, a: x * x * a, P(3), A(3), P(3)", "lambda x, a: x * x * a, P(), A(), P()")
def fixed_tangent_(f, x, r, *args):
    rows = [as_reals(e - pulled(f, 0, e, x, *args), x) for e in units_of(x)]
    return of_reals(solved(np.stack(rows), as_reals(r, x)), x)


@composed(pulled, early=True)
@samples("lambda x, a: x * x * a, 1, A(3), A(3), A(3)", "lambda x, a: x * a, 0, A(3), A(3), A(3)")
def pulled_(f, k, g, *args):
    return grad(f, k, materialize_grads=True)(*args, grad_outputs=g)


@composed(pushed, early=True)
@samples("lambda x, a: x * x * a, 1, A(3), A(3), A(3)", "lambda x, a: x * a, 0, A(), A(), A()")
def pushed_(f, k, t, *args):
    z = f(*args)
    rows = [as_reals(pulled(f, k, e, *args), args[k]) for e in units_of(z)]
    return of_reals(np.stack(rows) @ as_reals(t, args[k]), z)


@rule(solved)
@samples("S(3), A(3)")
def solved_(a, b):
    adjoint = solved(np.transpose(a), d[z])
    d[b] += adjoint
    d[a] += -np.outer(adjoint, z)


@forward(solved)
def solved_tangent(a, b):
    d[z] += solved(a, d[b])
    d[z] += -solved(a, d[a] @ z)


nondifferentiable(basis_of, units_of)
unsupported(
    "Where it is differentiated, it is of a function that is known there, by one array or number "
    "and without other options, and its value is one array or number.",
    jacobian, hessian,
)  # fmt: skip
unsupported(
    "Where it is differentiated, it is of a function that is known there, and its arguments are "
    "written out one by one; names and positions are constants.",
    vjp, jvp, linearize, hvp, vhp,
)  # fmt: skip
