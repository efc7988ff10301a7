"""Functions of `cmath`: those of NumPy, of a number that is complex."""

import cmath

import numpy as np

from srcdiff.rules import *


def of_numpy(function, plain, *calls):
    """The definition of a function by that of NumPy."""

    @composed(function)
    @samples(*calls)
    def of_complex(z):
        return plain(complex(z))


of_numpy(cmath.exp, np.exp, "C()", "A()")
of_numpy(cmath.log10, np.log10, "C()")
of_numpy(cmath.sqrt, np.sqrt, "C()", "-P()")
of_numpy(cmath.sin, np.sin, "C()")
of_numpy(cmath.cos, np.cos, "C()")
of_numpy(cmath.tan, np.tan, "C()")
of_numpy(cmath.asin, np.arcsin, "C()")
of_numpy(cmath.acos, np.arccos, "C()")
of_numpy(cmath.atan, np.arctan, "C()")
of_numpy(cmath.sinh, np.sinh, "C()")
of_numpy(cmath.cosh, np.cosh, "C()")
of_numpy(cmath.tanh, np.tanh, "C()")
of_numpy(cmath.asinh, np.arcsinh, "C()")
of_numpy(cmath.acosh, np.arccosh, "C()")
of_numpy(cmath.atanh, np.arctanh, "C()")


@composed(cmath.log)
@samples("C()", "C(), 2.0", "-P()")
def log(z, base=None):
    return np.log(complex(z)) if base is None else np.log(complex(z)) / np.log(complex(base))


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
