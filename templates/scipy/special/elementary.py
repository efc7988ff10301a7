"""Rules of elementary functions of `scipy.special`: logistic, powers, entropies, losses, angles."""

import math

import numpy as np
from scipy import special

from srcdiff.rules import composed, conj, d, divisor, elementwise, nondifferentiable, samples
from srcdiff.runtime.arrays import log_or_zero, power_slope


@elementwise(special.expit)
@samples("A(3)", "A()")
def expit(x):
    z = special.expit(x)
    yield z
    d[x] += d[z] * z * (1.0 - z)


@elementwise(special.logit)
@samples("np.abs(U(3))", "0.5 + 0.5 * U()")
def logit(x):
    z = special.logit(x)
    yield z
    d[x] += d[z] / (divisor(x, z) * (1.0 - x))


@elementwise(special.log_expit)
@samples("A(3)", "A()")
def log_expit(x):
    z = special.log_expit(x)
    yield z
    d[x] += d[z] * special.expit(-x)


@composed(getattr(special, "softplus", None))
@samples("A(3)", "A()")
def softplus(x):
    return np.logaddexp(0.0, x)


@elementwise(special.xlogy)
@samples("P(3), P(3)", "P(2, 3), P(3)", "P(), P()", "np.array([0.0, 1.0, 2.0]), P(3)", "C(3), C(3)")
def xlogy(x, y):
    z = special.xlogy(x, y)
    yield z
    d[x] += d[z] * conj(special.xlogy((x != 0) | (y != 0), y))  # 0 at (0, 0), as torch has it
    d[y] += d[z] * conj(x / divisor(y, z))


@elementwise(special.xlog1py)
@samples("P(3), P(3)", "P(2, 3), P(3)", "P(), P()", "C(3), C(3)")
def xlog1py(x, y):
    z = special.xlog1py(x, y)
    yield z
    d[x] += d[z] * conj(special.xlog1py((x != 0) | (y != -1), y))
    d[y] += d[z] * conj(x / (1.0 + divisor(y, z)))


@elementwise(special.exp2)
@samples("A(3)", "A()")
def exp2(x):
    z = special.exp2(x)
    yield z
    d[x] += d[z] * z * math.log(2.0)


@elementwise(special.exp10)
@samples("A(3)", "A()")
def exp10(x):
    z = special.exp10(x)
    yield z
    d[x] += d[z] * z * math.log(10.0)


@elementwise(special.expm1)
@samples("A(3)", "A()", "C(3)")
def expm1(x):
    z = special.expm1(x)
    yield z
    d[x] += d[z] * conj(z + 1.0)


@elementwise(special.log1p)
@samples("P(3)", "P()", "C(3)")
def log1p(x):
    z = special.log1p(x)
    yield z
    d[x] += d[z] / conj(1.0 + divisor(x, z))


@elementwise(special.cbrt)
@samples("P(3)", "-P()")
def cbrt(x):
    z = special.cbrt(x)
    yield z
    d[x] += d[z] / (3.0 * z * z)


@elementwise(special.cosm1)
@samples("A(3)", "A()")
def cosm1(x):
    z = special.cosm1(x)
    yield z
    d[x] += -d[z] * np.sin(x)


@elementwise(special.powm1)
@samples("P(3), A(3)", "P(2, 3), A(3)", "A(3), 2")
def powm1(x, y):
    z = special.powm1(x, y)
    yield z
    d[x] += d[z] * power_slope(x, y)
    d[y] += d[z] * (z + 1.0) * log_or_zero(x)


@elementwise(special.exprel)
@samples("A(3)", "A()", "V([0.0, 1e-3])")
def exprel(x):
    z = special.exprel(x)
    yield z
    d[x] += d[z] * 0.5 * special.hyp1f1(2.0, 3.0, x)  # exprel(x) = M(1, 2, x); DLMF 13.3.15


@elementwise(special.boxcox)
@samples("P(3), A(3)", "P(2, 3), A()", "P(), 0.0", "P(3), V([0.0, 1e-3, 2.0])")
def boxcox(x, lmbda):
    z = special.boxcox(x, lmbda)
    yield z
    log = np.log(x)
    d[x] += d[z] * x ** (lmbda - 1.0)
    d[lmbda] += d[z] * 0.5 * log * log * special.hyp1f1(2.0, 3.0, lmbda * log)


@elementwise(special.boxcox1p)
@samples("P(3), A(3)", "P(2, 3), A()", "P(3), V([0.0, 1e-3, 2.0])")
def boxcox1p(x, lmbda):
    z = special.boxcox1p(x, lmbda)
    yield z
    log = np.log1p(x)
    d[x] += d[z] * (1.0 + x) ** (lmbda - 1.0)
    d[lmbda] += d[z] * 0.5 * log * log * special.hyp1f1(2.0, 3.0, lmbda * log)


@elementwise(special.inv_boxcox)
@samples("0.2 * P(3), U(3)", "0.2 * P(2, 3), U()", "A(3), V([0.0, 1e-3, 0.2])")
def inv_boxcox(y, lmbda):
    z = special.inv_boxcox(y, lmbda)
    yield z
    log = np.log(z)
    slope = d[z] * z ** (1.0 - lmbda)
    d[y] += slope
    d[lmbda] += -slope * 0.5 * log * log * special.hyp1f1(2.0, 3.0, lmbda * log)


@elementwise(special.inv_boxcox1p)
@samples("0.2 * P(3), U(3)", "A(3), V([0.0, 1e-3, 0.2])")
def inv_boxcox1p(y, lmbda):
    z = special.inv_boxcox1p(y, lmbda)
    yield z
    log = np.log1p(z)
    slope = d[z] * (1.0 + z) ** (1.0 - lmbda)
    d[y] += slope
    d[lmbda] += -slope * 0.5 * log * log * special.hyp1f1(2.0, 3.0, lmbda * log)


@elementwise(special.entr)
@samples("P(3)", "P()")
def entr(x):
    z = special.entr(x)
    yield z
    d[x] += -d[z] * (np.log(x) + 1.0)


@elementwise(special.rel_entr)
@samples("P(3), P(3)", "P(2, 3), P(3)", "P(), 0.5")
def rel_entr(x, y):
    z = special.rel_entr(x, y)
    yield z
    d[x] += d[z] * (np.log(x / divisor(y, z)) + 1.0)
    d[y] += -d[z] * x / divisor(y, z)


@elementwise(special.kl_div)
@samples("P(3), P(3)", "P(2, 3), P(3)", "P(), 0.5")
def kl_div(x, y):
    z = special.kl_div(x, y)
    yield z
    d[x] += d[z] * np.log(x / divisor(y, z))
    d[y] += d[z] * (1.0 - x / divisor(y, z))


@elementwise(special.huber)
@samples("0.6, A(4)", "P(3), A(2, 3)", "P(), 3.0", "0.5 * P(4), A(4)")
def huber(delta, r):
    z = special.huber(delta, r)
    yield z
    size = np.abs(r)
    d[delta] += d[z] * (size - delta) * (size > delta)
    d[r] += d[z] * np.sign(r) * np.minimum(size, delta)


@elementwise(special.pseudo_huber)
@samples("0.6, A(4)", "P(3), A(2, 3)", "P(), 3.0")
def pseudo_huber(delta, r):
    z = special.pseudo_huber(delta, r)
    yield z
    root = np.sqrt(1.0 + (r / delta) ** 2)
    d[delta] += d[z] * (2.0 * z / delta - r * r / (delta * root))
    d[r] += d[z] * r / root


@elementwise(special.sindg)
@samples("50.0 * A(3)", "30.0 * A()")
def sindg(x):
    z = special.sindg(x)
    yield z
    d[x] += d[z] * special.cosdg(x) * (math.pi / 180.0)


@elementwise(special.cosdg)
@samples("50.0 * A(3)", "30.0 * A()")
def cosdg(x):
    z = special.cosdg(x)
    yield z
    d[x] += -d[z] * special.sindg(x) * (math.pi / 180.0)


@elementwise(special.tandg)
@samples("20.0 * A(3)", "20.0 * A()")
def tandg(x):
    z = special.tandg(x)
    yield z
    d[x] += d[z] * (1.0 + z * z) * (math.pi / 180.0)


@elementwise(special.cotdg)
@samples("20.0 * P(3)", "20.0 * P()")
def cotdg(x):
    z = special.cotdg(x)
    yield z
    d[x] += -d[z] * (1.0 + z * z) * (math.pi / 180.0)


@elementwise(special.radian)
@samples("A(3), A(3), A(3)", "A(), 5.0, 20.0")
def radian(degrees, minutes, seconds):
    z = special.radian(degrees, minutes, seconds)
    yield z
    d[degrees] += d[z] * (math.pi / 180.0)
    d[minutes] += d[z] * (math.pi / 10800.0)
    d[seconds] += d[z] * (math.pi / 648000.0)


nondifferentiable(special.round, special.gammasgn)
