"""Rules of functions of matrices.

The derivative of an analytic function `f` at `a` along `e` is a block of `f([[a, e], [0, a]])`
(Higham, Functions of Matrices, 2008, theorem 3.6).
"""

import numpy as np
from scipy import linalg

from srcdiff.rules import *
from srcdiff.runtime.linalg import block_triangular, off_the_cut


@rule(linalg.expm)
@samples("A(3, 3)", "A(2, 2)", "C(3, 3)", "A(2, 3, 3)")
def expm(a):
    if np.ndim(a) == 2:
        d[a] += linalg.expm_frechet(conj(a.mT), d[z], compute_expm=False)
    else:  # of stacks SciPy before 1.16 has no derivative
        n = np.shape(a)[-1]
        d[a] += linalg.expm(block_triangular(conj(a.mT), d[z]))[..., :n, n:]


@composed(linalg.expm_frechet)
@samples("A(3, 3), A(3, 3)", "A(3, 3), A(3, 3), compute_expm=False")
def expm_frechet(A, E, *, compute_expm=True):
    n = np.shape(A)[-1]
    z = linalg.expm(block_triangular(A, E))
    if compute_expm:
        return z[..., :n, :n], z[..., :n, n:]
    return z[..., :n, n:]


@rule(linalg.logm)
@samples("S(3)", "C(3, 3) + 4 * np.eye(3)")
def logm(a):
    ah = np.conj(off_the_cut(a, z).mT)
    g = linalg.logm(block_triangular(ah, d[z]))[: len(a), len(a) :]
    d[a] += g if iscomplex(a) else np.real(g)


@rule(linalg.sqrtm)
@samples("S(3)", "C(3, 3) + 4 * np.eye(3)")
def sqrtm(a):
    zh = np.conj(z.mT)
    g = linalg.solve_sylvester(zh, zh, d[z])
    d[a] += g if iscomplex(a) else np.real(g)


def analytic(of):
    """The rule of a function whose derivative is a block of it."""

    @rule(of)
    @samples("A(3, 3)")
    def of_matrix(a):
        d[a] += of(block_triangular(conj(a.mT), d[z]))[: len(a), len(a) :]


analytic(linalg.cosm)
analytic(linalg.sinm)
analytic(linalg.coshm)
analytic(linalg.sinhm)


made_of(
    linalg.tanm, value=lambda a: np.linalg.solve(linalg.cosm(a), linalg.sinm(a)),
    samples=("0.3 * A(3, 3)",),
)
made_of(
    linalg.tanhm, value=lambda a: np.linalg.solve(linalg.coshm(a), linalg.sinhm(a)),
    samples=("A(3, 3)",),
)
