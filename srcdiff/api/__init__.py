"""The public transforms."""

from srcdiff.api.derivative import Derivative
from srcdiff.api.differentiable import Differentiable, differentiable
from srcdiff.api.forward import jvp, linearize
from srcdiff.api.pullback import Pullback, vjp
from srcdiff.api.transforms import grad, source, stages, value_and_grad

__all__ = [
    "Derivative", "Differentiable", "Pullback", "differentiable", "grad", "jvp", "linearize",
    "source", "stages", "value_and_grad", "vjp",
]  # fmt: skip
