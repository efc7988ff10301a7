"""srcdiff: a compiler from NumPy functions to the source of their gradients."""

from collections.abc import Mapping as _Mapping
from importlib import import_module as _import_module
from typing import Any as _Any

from srcdiff import autograd, testing
from srcdiff.api import (
    Derivative,
    Differentiable,
    Pullback,
    Run,
    backward,
    detect_anomaly,
    differentiable,
    grad,
    gradcheck,
    gradgradcheck,
    hessian,
    hvp,
    jacobian,
    jvp,
    linearize,
    profile,
    run,
    source,
    stages,
    value_and_grad,
    vhp,
    vjp,
)
from srcdiff.api.generate import generate
from srcdiff.api.generated import generated
from srcdiff.errors import (
    AnomalyError,
    CotangentError,
    CotangentTypeError,
    DtypeError,
    ExtraError,
    GradcheckError,
    HeadError,
    MissingRuleError,
    ReleasedError,
    SavedValueError,
    SrcdiffError,
    StaleError,
    StaleWarning,
    TargetError,
    TransformError,
    UnsupportedError,
    UnusedInputError,
)
from srcdiff.modes import enable_grad, no_grad, set_grad_enabled
from srcdiff.recompute import checkpoint
from srcdiff.rules import elementwise, forward, linear, load_rules, nondifferentiable, rule
from srcdiff.runtime import stop_gradient
from srcdiff.saving import saved_hooks
from srcdiff.schedules import checkpointed
from srcdiff.solutions import fixed_point, implicit
from srcdiff.trees import hook
from srcdiff.version import VERSION

__version__ = VERSION

__all__ = [
    "AnomalyError", "CotangentError", "CotangentTypeError", "Derivative", "Differentiable",
    "DtypeError", "ExtraError", "GradcheckError", "HeadError", "MissingRuleError", "Pullback",
    "ReleasedError", "Run", "SavedValueError", "SrcdiffError", "StaleError", "StaleWarning",
    "TargetError", "TransformError", "UnsupportedError", "UnusedInputError", "autograd", "backward",
    "checkpoint", "checkpointed", "detect_anomaly", "differentiable", "elementwise", "enable_grad",
    "fixed_point", "forward", "generate", "generated", "grad", "gradcheck", "gradgradcheck",
    "hessian", "hook", "hvp", "implicit", "jacobian", "jvp", "linear", "linearize", "load_rules",
    "no_grad", "nondifferentiable", "profile", "rule", "run", "saved_hooks", "set_grad_enabled",
    "source", "stages", "stop_gradient", "testing", "value_and_grad", "vhp", "vjp",
]  # fmt: skip


def _shown(derivative: Derivative, kinds: _Mapping[str, _Any]) -> str | None:
    """What a notebook shows of a derivative; the report is read when one is shown."""
    page: str | None = _import_module("srcdiff.report.html").shown(derivative, kinds)
    return page


Derivative.shown_in_notebooks = _shown


def __dir__() -> list[str]:
    """The public names: the modules of the compiler are no interface."""
    return sorted([*__all__, *(name for name in globals() if name.startswith("__"))])
