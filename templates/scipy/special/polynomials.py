"""Rules of classical orthogonal polynomials in `x` (DLMF 18.9); degrees are constants."""

import numpy as np
from scipy import special

from srcdiff.rules import composed, conj, d, elementwise, samples


@elementwise(special.eval_jacobi)
@samples("3, 0.5, 1.5, U(3)", "np.array([0, 1, 2]), 1.0, 0.5, U(3)", "2.5, 0.5, 0.5, U()")
def eval_jacobi(n, alpha, beta, x):
    z = special.eval_jacobi(n, alpha, beta, x)
    yield z
    # DLMF 18.9.15
    slope = special.eval_jacobi(n - 1, alpha + 1, beta + 1, x) * (0.5 * (n + alpha + beta + 1))
    d[x] += d[z] * conj(slope)


@elementwise(special.eval_legendre)
@samples("3, U(3)", "np.array([0, 1, 2]), U(3)", "0, U()", "2.5, U(3)", "3, C(3)")
def eval_legendre(n, x):
    z = special.eval_legendre(n, x)
    yield z
    d[x] += d[z] * conj(special.eval_jacobi(n - 1, 1, 1, x) * (0.5 * (n + 1)))


@elementwise(special.eval_chebyt)
@samples("3, U(3)", "np.array([0, 1, 2]), U(3)", "0, U()", "2.5, U(3)")
def eval_chebyt(n, x):
    z = special.eval_chebyt(n, x)
    yield z
    d[x] += d[z] * conj(special.eval_chebyu(n - 1, x) * n)  # DLMF 18.9.21


@elementwise(special.eval_chebyu)
@samples("3, U(3)", "np.array([0, 1, 2]), U(3)", "0, U()", "2.5, U(3)")
def eval_chebyu(n, x):
    z = special.eval_chebyu(n, x)
    yield z
    d[x] += d[z] * conj(2.0 * special.eval_gegenbauer(n - 1, 2, x))


@elementwise(special.eval_gegenbauer)
@samples("3, 0.5, U(3)", "np.array([0, 1, 2]), 1.5, U(3)", "2.5, 0.5, U()")
def eval_gegenbauer(n, alpha, x):
    z = special.eval_gegenbauer(n, alpha, x)
    yield z
    d[x] += d[z] * conj(special.eval_gegenbauer(n - 1, alpha + 1, x) * (2 * alpha))  # 18.9.19


@elementwise(special.eval_laguerre)
@samples("3, A(3)", "np.array([0, 1, 2]), A(3)", "0, A()")
def eval_laguerre(n, x):
    z = special.eval_laguerre(n, x)
    yield z
    d[x] += -d[z] * conj(special.eval_genlaguerre(n - 1, 1, x))  # DLMF 18.9.23


@elementwise(special.eval_genlaguerre)
@samples("3, 0.5, A(3)", "np.array([0, 1, 2]), 1.5, A(3)")
def eval_genlaguerre(n, alpha, x):
    z = special.eval_genlaguerre(n, alpha, x)
    yield z
    d[x] += -d[z] * conj(special.eval_genlaguerre(n - 1, alpha + 1, x))


@elementwise(special.eval_hermite)
@samples("3, A(3)", "np.array([0, 1, 2]), A(3)", "0, A()")
def eval_hermite(n, x):
    z = special.eval_hermite(n, x)
    yield z
    d[x] += d[z] * special.eval_hermite(np.maximum(n - 1, 0), x) * (2.0 * n)  # DLMF 18.9.25


@elementwise(special.eval_hermitenorm)
@samples("3, A(3)", "np.array([0, 1, 2]), A(3)", "0, A()")
def eval_hermitenorm(n, x):
    z = special.eval_hermitenorm(n, x)
    yield z
    d[x] += d[z] * special.eval_hermitenorm(np.maximum(n - 1, 0), x) * n  # DLMF 18.9.27


# --- by a change of variable -------------------------------------------------------------------


@composed(special.eval_sh_legendre)
@samples("3, U(3)")
def eval_sh_legendre(n, x):
    return special.eval_legendre(n, 2.0 * x - 1.0)


@composed(special.eval_sh_chebyt)
@samples("3, U(3)")
def eval_sh_chebyt(n, x):
    return special.eval_chebyt(n, 2.0 * x - 1.0)


@composed(special.eval_sh_chebyu)
@samples("3, U(3)")
def eval_sh_chebyu(n, x):
    return special.eval_chebyu(n, 2.0 * x - 1.0)


@composed(special.eval_sh_jacobi)
@samples("3, 2.5, 1.5, U(3)")
def eval_sh_jacobi(n, p, q, x):
    scale = special.binom(2 * n + p - 1, n)
    return special.eval_jacobi(n, p - q, q - 1, 2.0 * x - 1.0) / scale


@composed(special.eval_chebyc)
@samples("3, A(3)")
def eval_chebyc(n, x):
    return 2.0 * special.eval_chebyt(n, 0.5 * x)


@composed(special.eval_chebys)
@samples("3, A(3)")
def eval_chebys(n, x):
    return special.eval_chebyu(n, 0.5 * x)
