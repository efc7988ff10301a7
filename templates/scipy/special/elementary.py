"""Rules of elementary functions of `scipy.special`: logistic, powers, entropies, losses, angles."""

import math

import numpy as np
from scipy import special

from srcdiff.rules import *
from srcdiff.runtime.arrays import log_or_zero, power_slope

REAL = ("A(3)", "A()")

scalar_rule(special.expit, slope=lambda x, z: z * (1.0 - z), samples=REAL)
scalar_rule(
    special.logit, slope=lambda x, z: 1.0 / (divisor(x, z) * (1.0 - x)),
    samples=("np.abs(U(3))", "0.5 + 0.5 * U()"),
)
scalar_rule(special.log_expit, slope=lambda x, z: special.expit(-x), samples=REAL)
made_of(getattr(special, "softplus", None), value=lambda x: np.logaddexp(0.0, x), samples=REAL)
scalar_rule(  # 0 at (0, 0), as torch has it
    special.xlogy,
    slope=lambda x, y, z: (special.xlogy((x != 0) | (y != 0), y), conj(x / divisor(y, z))),
    samples=(
        "P(3), P(3)", "P(2, 3), P(3)", "P(), P()", "np.array([0.0, 1.0, 2.0]), P(3)", "C(3), C(3)",
    ),
)
scalar_rule(
    special.xlog1py,
    slope=lambda x, y, z: (
        special.xlog1py((x != 0) | (y != -1), y), conj(x / (1.0 + divisor(y, z))),
    ),
    samples=("P(3), P(3)", "P(2, 3), P(3)", "P(), P()", "C(3), C(3)"),
)
scalar_rule(special.exp2, slope=lambda x, z: z * math.log(2.0), samples=REAL)
scalar_rule(special.exp10, slope=lambda x, z: z * math.log(10.0), samples=REAL)
scalar_rule(special.expm1, slope=lambda x, z: z + 1.0, samples=("A(3)", "A()", "C(3)"))
scalar_rule(
    special.log1p, slope=lambda x, z: 1.0 / (1.0 + divisor(x, z)),
    samples=("P(3)", "P()", "C(3)"),
)
scalar_rule(special.cbrt, slope=lambda x, z: 1.0 / (3.0 * z * z), samples=("P(3)", "-P()"))
scalar_rule(special.cosm1, slope=lambda x, z: -np.sin(x), samples=REAL)
scalar_rule(
    special.powm1, slope=lambda x, y, z: (power_slope(x, y), (z + 1.0) * log_or_zero(x)),
    samples=("P(3), A(3)", "P(2, 3), A(3)", "A(3), 2"),
)
scalar_rule(  # exprel(x) = M(1, 2, x); DLMF 13.3.15
    special.exprel, slope=lambda x, z: 0.5 * special.hyp1f1(2.0, 3.0, x),
    samples=("A(3)", "A()", "V([0.0, 1e-3])"),
)


def power_transform(of, inverse, logarithm, shifted):
    """The rules of a power transform, also of `1 + x`, and of its inverse."""

    @elementwise(of)
    @samples("P(3), A(3)", "P(2, 3), A()", "P(), 0.0", "P(3), V([0.0, 1e-3, 2.0])")
    def transform(x, lmbda):
        log = logarithm(x)
        d[x] += d[z] * (1.0 + x if shifted else x) ** (lmbda - 1.0)
        d[lmbda] += d[z] * 0.5 * log * log * special.hyp1f1(2.0, 3.0, lmbda * log)

    @elementwise(inverse)
    @samples("0.2 * P(3), U(3)", "0.2 * P(2, 3), U()", "A(3), V([0.0, 1e-3, 0.2])")
    def inverted(y, lmbda):
        log = logarithm(z)
        slope = d[z] * (1.0 + z if shifted else z) ** (1.0 - lmbda)
        d[y] += slope
        d[lmbda] += -slope * 0.5 * log * log * special.hyp1f1(2.0, 3.0, lmbda * log)


power_transform(special.boxcox, special.inv_boxcox, np.log, False)
power_transform(special.boxcox1p, special.inv_boxcox1p, np.log1p, True)


scalar_rule(special.entr, slope=lambda x, z: -(np.log(x) + 1.0), samples=("P(3)", "P()"))
scalar_rule(
    special.rel_entr, slope=lambda x, y, z: (np.log(x / divisor(y, z)) + 1.0, -x / divisor(y, z)),
    samples=("P(3), P(3)", "P(2, 3), P(3)", "P(), 0.5"),
)
scalar_rule(
    special.kl_div, slope=lambda x, y, z: (np.log(x / divisor(y, z)), 1.0 - x / divisor(y, z)),
    samples=("P(3), P(3)", "P(2, 3), P(3)", "P(), 0.5"),
)


@elementwise(special.huber)
@samples("0.6, A(4)", "P(3), A(2, 3)", "P(), 3.0", "0.5 * P(4), A(4)")
def huber(delta, r):
    size = np.abs(r)
    d[delta] += d[z] * (size - delta) * (size > delta)
    d[r] += d[z] * np.sign(r) * np.minimum(size, delta)


@elementwise(special.pseudo_huber)
@samples("0.6, A(4)", "P(3), A(2, 3)", "P(), 3.0")
def pseudo_huber(delta, r):
    root = np.sqrt(1.0 + (r / delta) ** 2)
    d[delta] += d[z] * (2.0 * z / delta - r * r / (delta * root))
    d[r] += d[z] * r / root


scalar_rule(
    special.sindg, slope=lambda x, z: special.cosdg(x) * (math.pi / 180.0),
    samples=("50.0 * A(3)", "30.0 * A()"),
)
scalar_rule(
    special.cosdg, slope=lambda x, z: -special.sindg(x) * (math.pi / 180.0),
    samples=("50.0 * A(3)", "30.0 * A()"),
)
scalar_rule(
    special.tandg, slope=lambda x, z: (1.0 + z * z) * (math.pi / 180.0),
    samples=("20.0 * A(3)", "20.0 * A()"),
)
scalar_rule(
    special.cotdg, slope=lambda x, z: -(1.0 + z * z) * (math.pi / 180.0),
    samples=("20.0 * P(3)", "20.0 * P()"),
)


@elementwise(special.radian)
@samples("A(3), A(3), A(3)", "A(), 5.0, 20.0")
def radian(degrees, minutes, seconds):
    d[degrees] += d[z] * (math.pi / 180.0)
    d[minutes] += d[z] * (math.pi / 10800.0)
    d[seconds] += d[z] * (math.pi / 648000.0)


nondifferentiable(special.round, special.gammasgn)
