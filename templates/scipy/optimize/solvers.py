"""Solvers of `scipy.optimize`: the equation says what the derivative of a solution is."""

from scipy import optimize

from srcdiff.rules import unsupported

unsupported(
    "Give a function that calls it, and the equation that it solves, to `srcdiff.implicit`.",
    optimize.root, optimize.root_scalar, optimize.brentq, optimize.brenth, optimize.bisect,
    optimize.ridder, optimize.newton, optimize.fsolve, optimize.toms748,
)  # fmt: skip
unsupported(
    "Give a function that calls it, and the function that is iterated, to `srcdiff.fixed_point`.",
    optimize.fixed_point,
)
unsupported(
    "Give a function that calls it, and the gradient that is zero at the solution, to "
    "`srcdiff.implicit`.",
    optimize.minimize, optimize.minimize_scalar, optimize.fmin, optimize.fmin_bfgs,
    optimize.fmin_l_bfgs_b, optimize.fmin_cg, optimize.least_squares, optimize.leastsq,
    optimize.curve_fit,
)  # fmt: skip
unsupported(
    "It has no derivative where the choice changes: differentiate the cost of the solution.",
    optimize.linear_sum_assignment, optimize.linprog, optimize.nnls,
    optimize.differential_evolution,
)  # fmt: skip
