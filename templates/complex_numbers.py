"""Functions of `cmath`: those of NumPy, of a number that is complex."""

import cmath

import numpy as np

from srcdiff.rules import composed, samples


@composed(cmath.exp)
@samples("C()", "A()")
def exp(z):
    return np.exp(complex(z))


@composed(cmath.log)
@samples("C()", "C(), 2.0", "-P()")
def log(z, base=None):
    return np.log(complex(z)) if base is None else np.log(complex(z)) / np.log(complex(base))


@composed(cmath.log10)
@samples("C()")
def log10(z):
    return np.log10(complex(z))


@composed(cmath.sqrt)
@samples("C()", "-P()")
def sqrt(z):
    return np.sqrt(complex(z))


@composed(cmath.sin)
@samples("C()")
def sin(z):
    return np.sin(complex(z))


@composed(cmath.cos)
@samples("C()")
def cos(z):
    return np.cos(complex(z))


@composed(cmath.tan)
@samples("C()")
def tan(z):
    return np.tan(complex(z))


@composed(cmath.asin)
@samples("C()")
def asin(z):
    return np.arcsin(complex(z))


@composed(cmath.acos)
@samples("C()")
def acos(z):
    return np.arccos(complex(z))


@composed(cmath.atan)
@samples("C()")
def atan(z):
    return np.arctan(complex(z))


@composed(cmath.sinh)
@samples("C()")
def sinh(z):
    return np.sinh(complex(z))


@composed(cmath.cosh)
@samples("C()")
def cosh(z):
    return np.cosh(complex(z))


@composed(cmath.tanh)
@samples("C()")
def tanh(z):
    return np.tanh(complex(z))


@composed(cmath.asinh)
@samples("C()")
def asinh(z):
    return np.arcsinh(complex(z))


@composed(cmath.acosh)
@samples("C()")
def acosh(z):
    return np.arccosh(complex(z))


@composed(cmath.atanh)
@samples("C()")
def atanh(z):
    return np.arctanh(complex(z))


@composed(cmath.phase)
@samples("C()")
def phase(z):
    return np.angle(z)


@composed(cmath.rect)
@samples("P(), A()")
def rect(r, phi):
    return r * (np.cos(phi) + 1j * np.sin(phi))


@composed(complex, given="imag")
@samples("A(), A()", "A(), imag=A()")
def complex_parts(real=0, imag=0):
    return real + 1j * imag
