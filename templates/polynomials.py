"""Rules of polynomials, given by their coefficients or their roots."""

import operator

import numpy as np
from numpy.polynomial import chebyshev, hermite, hermite_e, laguerre, legendre, polynomial

from srcdiff.rules import *
from srcdiff.runtime.arrays import unbroadcast
from srcdiff.runtime.indexing import paired
from srcdiff.runtime.linalg import leading_zeros


@rule(np.polyval)
@samples(
    "A(3), A(4)", "A(3), A()", "A(1), A(2, 2)", "[A(), A()], A(3)", "C(3), C(2)",
    "A(3, 3), np.array([1.0, 2.0, 3.0])", "A(3, 2), A()", "A(3, 2), A(2)", "A(3, 2), A(4, 2)",
    "A(3, 2, 1), A(4)", "C(2, 3), C(1)", "A(1, 3), A()",
)  # fmt: skip
def polyval(p, x):
    if rank(p) == 1:
        d[x] += d[z] * conj(np.polyval(np.polyder(p), x))
        d[p] += np.ravel(d[z]) @ conj(np.vander(np.ravel(x), len(p)))
    else:
        one, n = (1,) * (np.ndim(p) - 1), len(p)
        # With the zeros first, of which a derivative of constants has nothing else.
        rows = np.roll(p * np.reshape(np.arange(n - 1, -1, -1), (-1,) + one), 1, 0)
        d[x] += unbroadcast(d[z] * conj(np.polyval(rows, x)), x)
        beside = (1,) * (np.ndim(z) - np.ndim(x))
        powers = np.reshape(np.vander(np.ravel(x), n).T, (n,) + beside + np.shape(x))
        beside = (1,) * (np.ndim(z) + 1 - np.ndim(p))
        like = np.reshape(p, (n,) + beside + np.shape(p)[1:])
        d[p] += np.reshape(unbroadcast(d[z] * conj(powers), like), np.shape(p))

@composed(np.polyder)
@samples("A(4)", "A(4), 2", "A(1)")
def polyder(p, m=1):
    z = np.asarray(p)
    for _ in range(m):
        z = z[:-1] * np.arange(len(z) - 1, 0, -1)
    return z


@composed(np.polyint)
@samples("A(3)", "A(3), 2", "A(3), 1, A()")
def polyint(p, m=1, k=None):
    if k is not None and m > 1:
        refuse("constants of integration of more than one integral")
    z = np.asarray(p)
    for _ in range(m):
        last = 0.0 if k is None else k
        z = np.append(z / np.arange(len(z), 0, -1), last)
    return z


def by_terms(of, joined):
    """The definition of a sum or difference of polynomials."""

    @composed(of)
    @samples("A(3), A(3)", "A(2), A(4)", "A(4), A(2)", "A(3), 2.0", "A(), A(3)", "A(), A()")
    def polynomial(a1, a2):
        left, right = _aligned(_terms(a1), _terms(a2))
        return joined(left, right)


by_terms(np.polyadd, operator.add)
by_terms(np.polysub, operator.sub)


def _terms(p):
    return p if rank(p) == 1 else np.atleast_1d(p)


def _aligned(a1, a2):
    n = max(len(a1), len(a2))
    return np.pad(a1, (n - len(a1), 0)), np.pad(a2, (n - len(a2), 0))


made_of(
    np.polymul, value=lambda a1, a2: np.convolve(_leading(_terms(a1)), _leading(_terms(a2))),
    samples=(
        "A(3), A(2)", "np.append(0.0, A(3)), np.append([0.0, 0.0], A(2))", "A(3), 2.0", "A(), A(3)",
        "A(), A()",
    ),
)


def _leading(p):
    return np.zeros(1) if len(p) == 0 else p[leading_zeros(p) :]


@composed(np.polydiv)
@samples("A(4), P(2)", "A(5), P(3)", "A(3), P(1)", "A(2), A(3)", "V([0.0, 0.0, 2.0, 1.0]), P(2)")
def polydiv(u, v):
    v = np.asarray(v)
    r = np.asarray(u) + 0.0 * np.zeros_like(v[:1])
    q = np.zeros_like(r, shape=max(len(u) - len(v) + 1, 1))
    for k in range(len(u) - len(v) + 1):
        q[k] = r[k] / v[0]
        r[k : k + len(v)] -= q[k] * v
    return q, r[leading_zeros(r, 1e-8) :]


@composed(np.polyfit)
@samples(
    "A(5), A(5), 1", "A(5), A(5), 2, w=P(5)", "A(5), A(5, 2), 1",
    "[0.0, 1.0, 2.0], A(3), 1, w=[1.0, 2.0, 3.0]", "A(3), A(3, 2), 1, w=[1.0, 2.0, 3.0]",
)  # fmt: skip
def polyfit(x, y, deg, rcond=None, full=False, w=None, cov=False):
    if full or cov:
        refuse("`full` and `cov`")
    a = np.vander(x, deg + 1)
    scale = np.sqrt(np.sum(a * a, axis=0))
    b = y
    if w is not None:
        weights = np.asarray(w)
        a = a * weights[:, None]
        b = weights * y if np.ndim(y) == 1 else weights[:, None] * y
    z = np.linalg.lstsq(a / scale, b, rcond)[0]
    return z / scale if np.ndim(y) == 1 else z / scale[:, None]


@composed(np.poly)
@samples(
    "A(3)", "S(3)", "np.roots(V([1.0, 2.0, 3.0]))", "C(3)", "C(2, 2)",
    "V([[1.0, 2.0], [-3.0, 0.5]])",
)  # fmt: skip
def poly(seq_of_zeros):
    if np.size(seq_of_zeros) == 0:
        return 1.0
    roots = seq_of_zeros
    if np.ndim(seq_of_zeros) == 2:
        roots = np.linalg.eigvals(seq_of_zeros)
    z, nothing = np.ones(1, np.result_type(roots)), np.zeros(1, np.result_type(roots))
    for k in range(len(roots)):
        z = np.concatenate((z, nothing)) - np.concatenate((nothing, roots[k] * z))
    return paired(z, roots)


# Leading zeros are left out, and count as constants; a root that is there twice has no derivative.
@rule(np.roots)
@samples(
    "V([1.0, -3.0, 1.0])", "V([2.0, 1.0, 3.0, 5.0])", "np.append([0.0, 0.0], P(3))",
    "np.append(V([1.0, -3.0, 1.0]), 0.0)", "[1.0, A() + 4.0, 1.0]", "C(4)", "V([3.0])",
)  # fmt: skip
def roots(p):
    left = np.arange(len(p)) >= leading_zeros(p)
    g = d[z] / np.conj(np.polyval(np.polyder(p), z))
    g = g @ np.conj(np.vander(z, len(p)))
    if iscomplex(p):
        d[p] -= left * g
    else:
        d[p] -= left * np.real(g)


@composed(np.vander)
@samples("A(3)", "A(3), 3", "A(3), 4, increasing=True", "A(3), 1")
def vander(x, N=None, increasing=False):
    n = len(x) if N is None else N
    powers = np.arange(n) if increasing else np.arange(n - 1, -1, -1)
    return np.asarray(x)[:, None] ** powers


def series(function, after):
    """The rule of a series of polynomials, each of which comes `after` the two before it."""

    @composed(function)
    @samples(
        "A(3), A(4)", "A(), A(3)", "A(2, 2), A(1)", "C(2), A(3)", "A(2), C(3)", "A(3), A(4, 2)",
        "A(3), A(4, 3), tensor=False", "A(), A(3, 2)", "[A(), A()], A(2)",
    )  # fmt: skip
    def made(x, c, tensor=True):
        c = np.asarray(c)
        if isinstance(x, (tuple, list)):
            x = np.asarray(x)
        if tensor:
            c = np.reshape(c, np.shape(c) + (1,) * np.ndim(x))
        before, now = 0.0 * x, 1.0 + 0.0 * x
        z = c[0] * now
        for k in range(len(c) - 1):
            before, now = now, after(k, x, before, now)
            z = z + c[k + 1] * now
        return z


series(polynomial.polyval, lambda k, x, before, now: x * now)
series(chebyshev.chebval, lambda k, x, before, now: min(k + 1.0, 2.0) * x * now - before)
series(legendre.legval, lambda k, x, before, now: ((2 * k + 1) * x * now - k * before) / (k + 1))
series(hermite.hermval, lambda k, x, before, now: 2.0 * x * now - 2.0 * k * before)
series(hermite_e.hermeval, lambda k, x, before, now: x * now - k * before)
series(laguerre.lagval, lambda k, x, before, now: ((2 * k + 1 - x) * now - k * before) / (k + 1))
