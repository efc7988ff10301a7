"""Functions of `cmath`: those of NumPy, of a number that is complex."""

import cmath

import numpy as np

from srcdiff.rules import *


def of_numpy(function, plain, *calls):
    """The definition of a function by that of NumPy."""
    made_of(function, value=lambda z: plain(complex(z)), samples=calls)


of_numpy(cmath.exp, np.exp, "C()", "A()")
of_numpy(cmath.sqrt, np.sqrt, "C()", "-P()")
for _name in "log10 sin cos tan sinh cosh tanh".split():
    of_numpy(getattr(cmath, _name), getattr(np, _name), "C()")
for _name in "sin cos tan sinh cosh tanh".split():
    of_numpy(getattr(cmath, f"a{_name}"), getattr(np, f"arc{_name}"), "C()")


@composed(cmath.log)
@samples("C()", "C(), 2.0", "-P()")
def log(z, base=None):
    return np.log(complex(z)) if base is None else np.log(complex(z)) / np.log(complex(base))


made_of(cmath.phase, value=lambda z: np.angle(z), samples=("C()",))
made_of(
    cmath.rect, value=lambda r, phi: r * (np.cos(phi) + 1j * np.sin(phi)), samples=("P(), A()",),
)
made_of(
    complex, given="imag", value=lambda real=0, imag=0: real + 1j * imag,
    samples=("A(), A()", "A(), imag=A()"),
)
