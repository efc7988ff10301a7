"""The public transforms."""

from srcdiff.api import callback  # fills the slot of `service`
from srcdiff.api.anomaly import detect_anomaly
from srcdiff.api.backward import backward
from srcdiff.api.check import gradcheck, gradgradcheck
from srcdiff.api.dense import hessian, jacobian
from srcdiff.api.derivative import Derivative
from srcdiff.api.differentiable import Differentiable, differentiable
from srcdiff.api.forward import jvp
from srcdiff.api.inside import hvp, linearize, vhp, vjp
from srcdiff.api.profile import profile
from srcdiff.api.pullback import Pullback
from srcdiff.api.run import Run, run
from srcdiff.api.transforms import grad, source, stages, value_and_grad

__all__ = [
    "callback", "Derivative", "Differentiable", "Pullback", "Run", "backward", "detect_anomaly",
    "differentiable", "grad", "gradcheck", "gradgradcheck", "hessian",
    "hvp", "jacobian", "jvp", "linearize", "profile", "run", "source", "stages", "value_and_grad",
    "vhp", "vjp",
]  # fmt: skip
