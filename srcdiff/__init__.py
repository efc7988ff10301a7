"""srcdiff: a compiler from NumPy functions to the source of their gradients.

Here are the transforms, and what programs are written with that are differentiated.  `autograd` has
torch's names, `aot` writes files, `rules` is for rules of your own, `testing` compares with
differences, `errors` has all errors.
"""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING
from typing import Any as _Any

from srcdiff import errors as errors
from srcdiff.api.grad import grad, source, value_and_grad
from srcdiff.driver.derivative import Derivative
from srcdiff.errors import SrcdiffError, TransformError, UnsupportedError
from srcdiff.runtime.arrays import stop_gradient
from srcdiff.runtime.service import install as _install
from srcdiff.version import VERSION

if TYPE_CHECKING:
    from srcdiff import aot as aot
    from srcdiff import autograd as autograd
    from srcdiff import rules as rules
    from srcdiff import testing as testing
    from srcdiff.api.backward import backward as backward
    from srcdiff.api.differentiable import differentiable as differentiable
    from srcdiff.api.jacobian import hessian as hessian
    from srcdiff.api.jacobian import jacobian as jacobian
    from srcdiff.api.jvp import jvp as jvp
    from srcdiff.api.jvp import linearize as linearize
    from srcdiff.api.products import hvp as hvp
    from srcdiff.api.products import vhp as vhp
    from srcdiff.api.profile import profile as profile
    from srcdiff.api.vjp import vjp as vjp
    from srcdiff.runtime.checkpoint import checkpoint as checkpoint
    from srcdiff.runtime.checkpoint import checkpointed as checkpointed
    from srcdiff.runtime.implicit import fixed_point as fixed_point
    from srcdiff.runtime.implicit import implicit as implicit

__version__ = VERSION

__all__ = [
    "Derivative", "SrcdiffError", "TransformError", "UnsupportedError", "aot", "autograd",
    "backward", "checkpoint", "checkpointed", "differentiable", "errors", "fixed_point", "grad",
    "hessian", "hvp", "implicit", "jacobian", "jvp", "linearize", "profile", "rules", "source",
    "stop_gradient", "testing", "value_and_grad", "vhp", "vjp",
]  # fmt: skip


_ON_FIRST_USE = {
    "aot": "aot", "autograd": "autograd", "rules": "rules", "testing": "testing",
    "backward": "api.backward", "differentiable": "api.differentiable", "profile": "api.profile",
    "hessian": "api.jacobian", "hvp": "api.nested", "jacobian": "api.jacobian",
    "vhp": "api.nested", "jvp": "api.nested", "linearize": "api.nested", "vjp": "api.nested",
    "checkpoint": "runtime.checkpoint", "checkpointed": "runtime.checkpoint",
    "fixed_point": "runtime.implicit", "implicit": "runtime.implicit",
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
