"""`differentiable`: a function that stays itself and knows its derivatives."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, overload

from srcdiff.api.grad import grad, value_and_grad
from srcdiff.api.jacobian import hessian, jacobian
from srcdiff.api.jvp import jvp
from srcdiff.api.vjp import vjp
from srcdiff.driver.callables import Transformed, offers
from srcdiff.driver.options import OfAll
from srcdiff.errors import entry

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from srcdiff.api.grad import Gradient
    from srcdiff.api.jacobian import Hessian, Jacobian
    from srcdiff.driver.options import OfGradients
    from srcdiff.driver.pullback import Pullback

P = ParamSpec("P")
R = TypeVar("R")

_OF_ALL = ("inputs", "outputs", *OfAll.__annotations__)
"""The options of `grad` that the other transforms have as well."""


@offers("grad", "hessian", "jacobian", "jvp", "primal", "source", "value_and_grad", "vjp")
class Differentiable(Transformed, Generic[P, R]):
    """A function, called as it is, with `.grad`, `.value_and_grad`, `.vjp`, `.jvp`, `.jacobian`,
    `.hessian` and `.source`.
    """

    __srcdiff_function__ = True

    def __init__(self, primal: Callable[P, R], options: dict[str, Any]) -> None:
        self.primal = primal
        self.options = options
        functools.update_wrapper(self, primal, updated=())

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """The function itself."""
        value: R = self.primal(*args, **kwargs)
        return value

    @property
    def __srcdiff_primal__(self) -> Any:
        """What a differentiated function that calls this one looks into."""
        return self.primal

    @functools.cached_property
    def grad(self) -> Gradient[P, Any]:
        """The gradient of the function."""
        made: Gradient[P, Any] = grad(self.primal, **self.options)
        return made

    @functools.cached_property
    def value_and_grad(self) -> Gradient[P, tuple[R, Any]]:
        """The value and the gradient of the function."""
        made: Gradient[P, tuple[R, Any]] = value_and_grad(self.primal, **self.options)
        return made

    @functools.cached_property
    def jacobian(self) -> Jacobian[P]:
        """The Jacobian of the function."""
        made: Jacobian[P] = jacobian(self.primal, **_options(self.options, _OF_ALL))
        return made

    @functools.cached_property
    def hessian(self) -> Hessian[P]:
        """The Hessian of the function."""
        made: Hessian[P] = hessian(self.primal, **_options(self.options, _OF_ALL))
        return made

    @entry
    def vjp(self, *args: Any, **kwargs: Any) -> tuple[R, Pullback]:
        """The value at some arguments, and a pullback."""
        options = _options(self.options, _OF_ALL)
        found: tuple[R, Pullback] = vjp(self.primal, *args, **{**options, **kwargs})
        return found

    @entry
    def jvp(self, primals: Any, tangents: Any, **kwargs: Any) -> tuple[R, Any]:
        """The value at some arguments, and its derivative along a direction."""
        options = _options(self.options, _OF_ALL[2:])
        return jvp(self.primal, primals, tangents, **{**options, **kwargs})

    @property
    @entry
    def source(self) -> str:
        """The text of the gradient."""
        text: str = self.grad.source
        return text


def _options(options: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """Those of the options that have some names."""
    return {k: v for k, v in options.items() if k in names}


@overload
def differentiable(
    f: Callable[P, R], *, inputs: Any = 0, outputs: Any = None, **options: Unpack[OfGradients]
) -> Differentiable[P, R]: ...
@overload
def differentiable(
    *, inputs: Any = 0, outputs: Any = None, **options: Unpack[OfGradients]
) -> Callable[[Callable[P, R]], Differentiable[P, R]]: ...
@entry
def differentiable(f: Callable[..., Any] | None = None, **options: Any) -> Any:
    """A decorator that leaves a function callable as it is and adds its derivatives.

    The options are those of `grad`.

    >>> import srcdiff
    >>> @srcdiff.differentiable(inputs="x")
    ... def f(x):
    ...     return x * x
    >>> f(3.0), f.grad(3.0)
    (9.0, 6.0)
    """
    return Differentiable.of(f, options)
