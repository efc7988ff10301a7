"""Rules of derivatives of Kelvin and Bessel functions, and of spherical Bessel functions."""

import numpy as np
from scipy import special

from srcdiff.rules import conj, d, elementwise, refuse, samples, scalar_rule

scalar_rule(  # DLMF 10.61.3
    special.berp, slope=lambda x, z: -(special.bei(x) + z / x),
    samples=("P(3)", "P()"),
)
scalar_rule(special.beip, slope=lambda x, z: special.ber(x) - z / x, samples=("P(3)", "P()"))
scalar_rule(special.kerp, slope=lambda x, z: -(special.kei(x) + z / x), samples=("P(3)", "P()"))
scalar_rule(special.keip, slope=lambda x, z: special.ker(x) - z / x, samples=("P(3)", "P()"))


@elementwise(special.jvp)
@samples("2, P(3)", "1.5, P(3), 2", "1, P(), n=0")
def jvp(v, z, n=1):
    w = special.jvp(v, z, n)
    yield w
    d[z] += d[w] * conj(special.jvp(v, z, n + 1))


@elementwise(special.yvp)
@samples("2, P(3)", "1.5, P(3), 2")
def yvp(v, z, n=1):
    w = special.yvp(v, z, n)
    yield w
    d[z] += d[w] * conj(special.yvp(v, z, n + 1))


@elementwise(special.ivp)
@samples("2, P(3)", "1.5, P(3), 2")
def ivp(v, z, n=1):
    w = special.ivp(v, z, n)
    yield w
    d[z] += d[w] * conj(special.ivp(v, z, n + 1))


@elementwise(special.kvp)
@samples("2, P(3)", "1.5, P(3), 2")
def kvp(v, z, n=1):
    w = special.kvp(v, z, n)
    yield w
    d[z] += d[w] * conj(special.kvp(v, z, n + 1))


@elementwise(special.h1vp)
@samples("2, P(3)", "1.5, P(3), 2")
def h1vp(v, z, n=1):
    w = special.h1vp(v, z, n)
    yield w
    d[z] += d[w] * np.conj(special.h1vp(v, z, n + 1))


@elementwise(special.h2vp)
@samples("2, P(3)", "1.5, P(3), 2")
def h2vp(v, z, n=1):
    w = special.h2vp(v, z, n)
    yield w
    d[z] += d[w] * np.conj(special.h2vp(v, z, n + 1))


# The derivative at 0 needs the form that does not divide by z: DLMF 10.51.1 and 10.51.4.


@elementwise(special.spherical_jn)
@samples("2, A(3)", "0, P()", "np.array([0, 1, 3]), A(3)")
def spherical_jn(n, z, derivative=False):
    w = special.spherical_jn(n, z)
    yield w
    if derivative:
        refuse("of the derivative: differentiate the function twice")
    below, above = special.spherical_jn(np.maximum(n - 1, 0), z), special.spherical_jn(n + 1, z)
    d[z] += d[w] * conj((n * below - (n + 1) * above) / (2 * n + 1))


@elementwise(special.spherical_yn)
@samples("2, P(3)", "0, P()")
def spherical_yn(n, z, derivative=False):
    w = special.spherical_yn(n, z)
    yield w
    if derivative:
        refuse("of the derivative: differentiate the function twice")
    below, above = special.spherical_yn(np.maximum(n - 1, 0), z), special.spherical_yn(n + 1, z)
    d[z] += d[w] * conj((n * below - (n + 1) * above) / (2 * n + 1))


@elementwise(special.spherical_in)
@samples("2, A(3)", "0, P()")
def spherical_in(n, z, derivative=False):
    w = special.spherical_in(n, z)
    yield w
    if derivative:
        refuse("of the derivative: differentiate the function twice")
    below, above = special.spherical_in(np.maximum(n - 1, 0), z), special.spherical_in(n + 1, z)
    d[z] += d[w] * conj((n * below + (n + 1) * above) / (2 * n + 1))


@elementwise(special.spherical_kn)
@samples("2, P(3)", "0, P()")
def spherical_kn(n, z, derivative=False):
    w = special.spherical_kn(n, z)
    yield w
    if derivative:
        refuse("of the derivative: differentiate the function twice")
    below, above = special.spherical_kn(np.maximum(n - 1, 0), z), special.spherical_kn(n + 1, z)
    d[z] += -d[w] * conj((n * below + (n + 1) * above) / (2 * n + 1))
