"""srcdiff: a compiler from NumPy functions to the source of their gradients."""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING
from typing import Any as _Any

from srcdiff.api.grad import grad, source, stages, value_and_grad
from srcdiff.driver.derivative import Derivative
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
    UncompiledWarning,
    UnsupportedError,
    UnusedInputError,
    UnverifiedWarning,
    WrongDerivativeError,
)
from srcdiff.primitives.registry import (
    elementwise,
    forward,
    linear,
    load_rules,
    nondifferentiable,
    rule,
    scalar_rule,
)
from srcdiff.runtime.arrays import stop_gradient
from srcdiff.runtime.contexts import enable_grad, no_grad, saved_hooks, set_grad_enabled
from srcdiff.runtime.service import install as _install
from srcdiff.version import VERSION

if TYPE_CHECKING:
    from srcdiff import autograd as autograd
    from srcdiff import rules as rules
    from srcdiff import testing as testing
    from srcdiff.aot.generate import generate as generate
    from srcdiff.aot.generate import generated as generated
    from srcdiff.api.backward import backward as backward
    from srcdiff.api.differentiable import Differentiable as Differentiable
    from srcdiff.api.differentiable import differentiable as differentiable
    from srcdiff.api.gradcheck import gradcheck as gradcheck
    from srcdiff.api.gradcheck import gradgradcheck as gradgradcheck
    from srcdiff.api.jacobian import hessian as hessian
    from srcdiff.api.jacobian import jacobian as jacobian
    from srcdiff.api.jvp import jvp as jvp
    from srcdiff.api.jvp import linearize as linearize
    from srcdiff.api.products import hvp as hvp
    from srcdiff.api.products import vhp as vhp
    from srcdiff.api.profile import profile as profile
    from srcdiff.api.run import Run as Run
    from srcdiff.api.run import run as run
    from srcdiff.api.vjp import vjp as vjp
    from srcdiff.driver.anomaly import detect_anomaly as detect_anomaly
    from srcdiff.driver.pullback import Pullback as Pullback
    from srcdiff.runtime.checkpoint import checkpoint as checkpoint
    from srcdiff.runtime.checkpoint import checkpointed as checkpointed
    from srcdiff.runtime.implicit import fixed_point as fixed_point
    from srcdiff.runtime.implicit import implicit as implicit
    from srcdiff.runtime.trees import hook as hook

__version__ = VERSION

__all__ = [
    "AnomalyError", "CotangentError", "CotangentTypeError", "Derivative", "Differentiable",
    "DtypeError", "ExtraError", "GradcheckError", "HeadError", "MissingRuleError", "Pullback",
    "ReleasedError", "Run", "SavedValueError", "SrcdiffError", "StaleError", "StaleWarning",
    "TargetError", "TransformError", "UncompiledWarning", "UnsupportedError", "UnusedInputError",
    "UnverifiedWarning", "WrongDerivativeError", "autograd", "backward", "checkpoint",
    "checkpointed", "detect_anomaly", "differentiable", "elementwise", "enable_grad",
    "fixed_point", "forward", "generate", "generated", "grad", "gradcheck", "gradgradcheck",
    "hessian", "hook", "hvp", "implicit", "jacobian", "jvp", "linear", "linearize", "load_rules",
    "no_grad", "nondifferentiable", "profile", "rule", "rules", "run", "saved_hooks",
    "scalar_rule", "set_grad_enabled", "source", "stages", "stop_gradient", "testing",
    "value_and_grad", "vhp", "vjp",
]  # fmt: skip


_ON_FIRST_USE = {
    "autograd": "autograd", "rules": "rules", "testing": "testing",
    "generate": "aot.generate", "generated": "aot.generate", "backward": "api.backward",
    "Differentiable": "api.differentiable", "differentiable": "api.differentiable",
    "gradcheck": "api.gradcheck", "gradgradcheck": "api.gradcheck", "profile": "api.profile",
    "Run": "api.run", "run": "api.run",
    "hessian": "api.jacobian", "hvp": "api.nested", "jacobian": "api.jacobian",
    "vhp": "api.nested", "jvp": "api.nested", "linearize": "api.nested", "vjp": "api.nested",
    "Pullback": "driver.pullback", "detect_anomaly": "driver.anomaly",
    "checkpoint": "runtime.checkpoint", "checkpointed": "runtime.checkpoint",
    "fixed_point": "runtime.implicit", "implicit": "runtime.implicit", "hook": "runtime.trees",
}  # fmt: skip
"""The modules of public names that are read when one is first asked for.

Some with `api.nested`, which says what their calls in differentiated functions stand for.
"""


def __getattr__(name: str) -> _Any:
    """A public name that is not read with the package."""
    if name not in _ON_FIRST_USE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    place = _ON_FIRST_USE[name]
    module = _import_module(f"{__name__}.{place}")
    found = globals()[name] = module if place == name else getattr(module, name)
    return found


# The report is read when a derivative is shown.
Derivative.shown_in_notebooks = lambda *given: _import_module("srcdiff.report").shown(*given)
_install(lambda: _import_module("srcdiff.api.nested").COMPILER)


def __dir__() -> list[str]:
    """The public names: the modules of the compiler are no interface."""
    return sorted([*__all__, *(name for name in globals() if name.startswith("__"))])
