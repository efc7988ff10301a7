"""srcdiff: a compiler from NumPy functions to the source of their gradients."""

from srcdiff.api import (
    Derivative,
    Differentiable,
    Pullback,
    differentiable,
    grad,
    jvp,
    linearize,
    source,
    stages,
    value_and_grad,
    vjp,
)
from srcdiff.errors import (
    AnomalyError,
    CotangentError,
    CotangentTypeError,
    DtypeError,
    MissingRuleError,
    ReleasedError,
    SrcdiffError,
    TransformError,
    UnsupportedError,
    UnusedInputError,
)
from srcdiff.rules import elementwise, forward, linear, load_rules, nondifferentiable, rule
from srcdiff.runtime import stop_gradient

__version__ = "0.1.0"

__all__ = [
    "AnomalyError", "CotangentError", "CotangentTypeError", "Derivative", "Differentiable",
    "DtypeError", "MissingRuleError", "Pullback", "ReleasedError", "SrcdiffError", "TransformError",
    "UnsupportedError", "UnusedInputError", "differentiable", "elementwise", "forward", "grad",
    "jvp", "linear", "linearize", "load_rules", "nondifferentiable", "rule", "source", "stages",
    "stop_gradient", "value_and_grad", "vjp",
]  # fmt: skip
