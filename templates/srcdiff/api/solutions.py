"""Rules of solutions of equations, by the implicit function theorem."""

import operator

import numpy as np

from srcdiff import grad, hessian, hvp, jacobian, jvp, linearize, vhp, vjp
from srcdiff.api.jvp import Along, Jvp, Linearized
from srcdiff.api.nested import Asked
from srcdiff.api.products import Product, ReverseProduct
from srcdiff.api.vjp import Vjp
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


@rule(fixed_point, calls=("f", "args"), constant="x0")
@samples("lambda x, a: np.cos(a * x), 0.5, U(3)", "lambda x, a: np.cos(a * x), 0.5, U()")
def fixed_point_(f, x0, *args):
    adjoint = fixed_adjoint(f, z, d[z], *args)
    for k in range(len(args)):
        d[args][k] += pulled(f, k + 1, adjoint, z, *args)


@forward(fixed_point)
def fixed_point_tangent(f, *args):
    for k in range(len(args)):
        if not known(d[args][k]):
            d[z] += fixed_tangent(f, z, pushed(f, k + 1, d[args][k], z, *args), *args)


# Of their derivatives, dense: the matrix of the system is part of the text.  Complex numbers
# are pairs of real ones there.


@linear(as_reals, constant="like")
@samples("A(2, 3), A(2, 3)", "C(3), C(3)", "A(), 2.0")
def as_reals_(v, like):
    d[v] += of_reals(d[z], v)


@linear(of_reals, constant="like")
@samples("A(6), A(2, 3)", "A(6), C(3)")
def of_reals_(v, like):
    d[v] += as_reals(d[z], like)


def system(of, taken, axis):
    """The definition of what solves a system, whose matrix has what is `taken` along an axis."""

    @composed(of, early=True)
    @samples("lambda x, a: x * x * a, P(3), A(3), P(3)", "lambda x, a: x * x * a, P(), A(), P()")
    def solution(f, x, g, *args):
        parts = [as_reals(taken(e, pulled(f, 0, e, x, *args)), x) for e in units_of(x)]
        return of_reals(solved(np.stack(parts, axis=axis), as_reals(g, x)), x)


def _slope(unit, slope):
    return slope


system(solve_adjoint, _slope, 1)
system(solve_tangent, _slope, 0)
system(fixed_adjoint, operator.sub, 1)
system(fixed_tangent, operator.sub, 0)


@composed(pulled, early=True)
@samples("lambda x, a: x * x * a, 1, A(3), A(3), A(3)", "lambda x, a: x * a, 0, A(3), A(3), A(3)")
def pulled_(f, k, g, *args):
    return grad(f, k, unused="zeros")(*args, grad_outputs=g)


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
    "Where it is differentiated, it is of a function that is known there and has no parameter "
    "`grad_outputs`; by whole parameters, whose names or positions are constants and stand in no "
    "dict; and its arguments, and tangents of all of them, are written out one by one.",
    vjp, jvp, linearize, hvp, vhp, Along, Asked, Vjp, Jvp, Linearized, Product, ReverseProduct,
)  # fmt: skip
