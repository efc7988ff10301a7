"""Elementary functions of float64 as arithmetic without branches: `Lanes` in, `Lanes` out.

They need a fused multiply-add and nothing else, are right for every argument (sin and cos: up to
NEAR, see `circular`), and give the same bits in vectors, in the remainder of a loop and in scalars.
Largest errors in units of the last place: exp 1.0, expm1 1.8, log 0.8, log1p 0.8, tanh 2.5, sin and
cos 1.5.
"""

from __future__ import annotations

from math import inf, nan

from srcdiff.backends.numba.vector_math.lanes import (
    Lanes,
    absolute,
    fma,
    polynomial,
    where,
    with_sign,
)

# x + ROUND - ROUND is x rounded to an integer, which is the low bits of x + ROUND less those of it.
ROUND, ROUND_BITS = 6755399441055744.0, 0x4338000000000000
LOG2E, LN2, LN2_LOW = 1.4426950408889634, 0.6931471805599453, 2.3190468138462996e-17
LN2_32, LN2_REST = 0.6931471803691238, 1.9082149292705877e-10  # k * LN2_32 is exact
ROOT_HALF_BITS, BIAS, FRACTION = 0x3FE6A09E667F3BCD, 1023, 52
SMALLEST_NORMAL, TINY = 2.0**-1022, 2.0**-54  # beside 1, x^2 is nothing for |x| < TINY
TWO_OVER_PI = 0.6366197723675814
PI_2, PI_2_MID, PI_2_LOW = 1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33
NEAR = 2.0**48
"""Up to here a pi / 2 in three parts leaves x less a multiple of it right to the last place."""

# Minimax polynomials (Remez exchange with 200 bits, rounded).
# (exp(r) - 1 - r) / r^2 for |r| <= ln 2 / 2.
EXP = (
    0.5000000000000012, 0.166666666666667, 0.04166666666651542, 0.008333333333307233,
    0.0013888888947016398, 0.00019841269917314117, 2.480148994181469e-05,
    2.755721636846741e-06, 2.763128046054737e-07, 2.5117838581732085e-08,
)  # fmt: skip
# (log((1 + s) / (1 - s)) - 2 s) / s^3 in s^2, for (1 + s) / (1 - s) between the roots of 1/2 and 2.
LOG = (
    0.6666666666666731, 0.3999999999943339, 0.28571428739030663, 0.22222198860689749,
    0.18183551604704937, 0.1531433098603796, 0.14793515439987825,
)  # fmt: skip
# (sin(r) - r) / r^3 and (cos(r) - 1 + r^2 / 2) / r^4 in r^2, for |r| <= pi / 4.
SIN = (
    -0.16666666666666632, 0.008333333333322554, -0.00019841269829899022,
    2.755731371889247e-06, -2.5050761824184565e-08, 1.5896988396611398e-10,
)  # fmt: skip
COS = (
    0.041666666666666616, -0.0013888888888876133, 2.480158729057612e-05,
    -2.755731463435408e-07, 2.0875758061972254e-09, -1.1361303184575047e-11,
)  # fmt: skip


def _between(x: Lanes, low: float, high: float) -> Lanes:
    """x, moved to the nearest end where it is outside; NaN becomes one of them."""
    x = where(x > low, x, low)
    return where(x < high, x, high)


def _power_of_two(biased: Lanes) -> Lanes:
    """2^(biased - BIAS)."""
    return (biased << FRACTION).as_float()


def _exp_parts(x: Lanes) -> tuple[Lanes, Lanes]:
    """(k, expm1(r)) with x = k ln 2 + r; |x| < 2^50."""
    shifted = fma(x, LOG2E, ROUND)
    minus_k = ROUND - shifted
    r = fma(minus_k, LN2_LOW, fma(minus_k, LN2, x))
    return shifted.bits() - ROUND_BITS, fma(r * r, polynomial(r, *EXP), r)


def exp(x: Lanes) -> Lanes:
    """The exponential function."""
    k, p = _exp_parts(_between(x, -746.0, 710.0))
    # 2^k in two factors: k may be beyond the exponents at both ends.
    half = (k + 2 * BIAS) >> 1
    y = (p + 1.0) * _power_of_two(half) * _power_of_two(k + 2 * BIAS - half)
    return where(x.is_equal(x), y, x)


def _expm1_between(x: Lanes) -> Lanes:
    """expm1(x) for -60 <= x <= 710, half of it computed: 2^k may be beyond the exponents."""
    k, p = _exp_parts(x)
    scale = _power_of_two(k + (BIAS - 1))
    return 2.0 * fma(scale, p, scale - 0.5)


def expm1(x: Lanes) -> Lanes:
    """exp(x) - 1."""
    return where(absolute(x) > TINY, _expm1_between(_between(x, -60.0, 710.0)), x)


def tanh(x: Lanes) -> Lanes:
    """The hyperbolic tangent."""
    m = _expm1_between(_between(-2.0 * absolute(x), -60.0, 0.0))
    y = with_sign(m / (m + 2.0), x)
    return where(absolute(x) > TINY, y, x)


def _log_parts(u: Lanes) -> tuple[Lanes, Lanes]:
    """(k, f) with u = 2^k (1 + f), 1 + f between the roots of 1/2 and 2; u normal and positive."""
    n = u.bits()
    biased = (n + ((BIAS << FRACTION) - ROOT_HALF_BITS)) >> FRACTION
    k = (biased + (ROUND_BITS - BIAS)).as_float() - ROUND
    return k, (n - ((biased - BIAS) << FRACTION)).as_float() - 1.0


def _log_sum(k: Lanes, f: Lanes, correction: Lanes | float) -> Lanes:
    """Give k ln 2 + log(1 + f) + a small correction."""
    s = f / (f + 2.0)
    z = s * s
    half = 0.5 * f * f
    low = k * LN2_REST + correction
    return k * LN2_32 - ((half - (s * (half + z * polynomial(z, *LOG)) + low)) - f)


def _at_limits(x: Lanes, y: Lanes, pole: float) -> Lanes:
    """A logarithm y of x: infinite at the pole and at infinity, NaN below the pole and of NaN."""
    y = where(x < inf, y, x)
    return where(x > pole, y, where(x.is_equal(pole), x.filled(-inf), nan))


def log(x: Lanes) -> Lanes:
    """The natural logarithm."""
    small = x < SMALLEST_NORMAL
    k, f = _log_parts(where(small, x * 2.0**54, x))
    return _at_limits(x, _log_sum(k - where(small, k.filled(54.0), 0.0), f, 0.0), 0.0)


def log1p(x: Lanes) -> Lanes:
    """log(1 + x)."""
    u = x + 1.0
    k, f = _log_parts(u)
    lost = where(u < 2.0, x - (u - 1.0), 1.0 - (u - x)) / u  # by rounding 1 + x
    y = _log_sum(k, f, where(k < 54.0, lost, 0.0))
    return where(absolute(x) > TINY, _at_limits(x, y, -1.0), x)


def near_sincos(x: Lanes) -> tuple[Lanes, Lanes]:
    """(sin(x), cos(x)) for |x| <= NEAR; NaN for NaN."""
    shifted = fma(x, TWO_OVER_PI, ROUND)
    minus_n = ROUND - shifted
    r = fma(minus_n, PI_2_LOW, fma(minus_n, PI_2_MID, fma(minus_n, PI_2, x)))
    z = r * r
    sine = fma(z * r, polynomial(z, *SIN), r)
    cosine = fma(z * z, polynomial(z, *COS), fma(z, -0.5, 1.0))
    n = shifted.bits()
    is_even = (n & 1).is_equal(0)
    s = where(is_even, sine, cosine)
    c = where(is_even, cosine, sine)
    s = where((n & 2).is_equal(0), s, -s)
    return where(x.is_equal(0.0), x, s), where(((n + 1) & 2).is_equal(0), c, -c)
