"""Rules of classical orthogonal polynomials in `x` (DLMF 18.9); degrees are constants."""

import numpy as np
from scipy import special

from srcdiff.rules import *

DEGREES = ("3, U(3)", "np.array([0, 1, 2]), U(3)", "0, U()", "2.5, U(3)")
WHOLE = ("3, A(3)", "np.array([0, 1, 2]), A(3)", "0, A()")


@elementwise(special.eval_jacobi)
@samples("3, 0.5, 1.5, U(3)", "np.array([0, 1, 2]), 1.0, 0.5, U(3)", "2.5, 0.5, 0.5, U()")
def eval_jacobi(n, alpha, beta, x):
    # DLMF 18.9.15
    slope = special.eval_jacobi(n - 1, alpha + 1, beta + 1, x) * (0.5 * (n + alpha + beta + 1))
    d[x] += d[z] * conj(slope)


scalar_rule(
    special.eval_legendre, samples=(*DEGREES, "3, C(3)"),
    slope=lambda n, x, z: (None, conj(special.eval_jacobi(n - 1, 1, 1, x) * (0.5 * (n + 1)))),
)
scalar_rule(  # DLMF 18.9.21
    special.eval_chebyt, slope=lambda n, x, z: (None, conj(special.eval_chebyu(n - 1, x) * n)),
    samples=DEGREES,
)
scalar_rule(
    special.eval_chebyu, samples=DEGREES,
    slope=lambda n, x, z: (None, conj(2.0 * special.eval_gegenbauer(n - 1, 2, x))),
)
scalar_rule(  # 18.9.19
    special.eval_gegenbauer,
    slope=lambda n, alpha, x, z: (
        None, None, conj(special.eval_gegenbauer(n - 1, alpha + 1, x) * (2 * alpha)),
    ),
    samples=("3, 0.5, U(3)", "np.array([0, 1, 2]), 1.5, U(3)", "2.5, 0.5, U()"),
)
scalar_rule(  # DLMF 18.9.23
    special.eval_laguerre, slope=lambda n, x, z: (None, -special.eval_genlaguerre(n - 1, 1, x)),
    samples=WHOLE,
)
scalar_rule(
    special.eval_genlaguerre,
    slope=lambda n, alpha, x, z: (None, None, -special.eval_genlaguerre(n - 1, alpha + 1, x)),
    samples=("3, 0.5, A(3)", "np.array([0, 1, 2]), 1.5, A(3)"),
)
scalar_rule(  # DLMF 18.9.25
    special.eval_hermite, samples=WHOLE,
    slope=lambda n, x, z: (None, special.eval_hermite(np.maximum(n - 1, 0), x) * (2.0 * n)),
)
scalar_rule(  # DLMF 18.9.27
    special.eval_hermitenorm, samples=WHOLE,
    slope=lambda n, x, z: (None, special.eval_hermitenorm(np.maximum(n - 1, 0), x) * n),
)


# --- by a change of variable -------------------------------------------------------------------


def shifted(of, plain):
    """The definition of a polynomial on the interval from 0 to 1."""
    made_of(of, value=lambda n, x: plain(n, 2.0 * x - 1.0), samples=("3, U(3)",))


shifted(special.eval_sh_legendre, special.eval_legendre)
shifted(special.eval_sh_chebyt, special.eval_chebyt)
shifted(special.eval_sh_chebyu, special.eval_chebyu)


@composed(special.eval_sh_jacobi)
@samples("3, 2.5, 1.5, U(3)")
def eval_sh_jacobi(n, p, q, x):
    scale = special.binom(2 * n + p - 1, n)
    return special.eval_jacobi(n, p - q, q - 1, 2.0 * x - 1.0) / scale


made_of(
    special.eval_chebyc, value=lambda n, x: 2.0 * special.eval_chebyt(n, 0.5 * x),
    samples=("3, A(3)",),
)
made_of(
    special.eval_chebys, value=lambda n, x: special.eval_chebyu(n, 0.5 * x), samples=("3, A(3)",),
)
