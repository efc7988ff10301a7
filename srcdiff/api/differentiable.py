"""`differentiable`: a function that stays itself and knows its derivatives."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from srcdiff.api.grad import grad, value_and_grad
from srcdiff.api.jacobian import hessian, jacobian
from srcdiff.api.jvp import jvp
from srcdiff.api.vjp import vjp
from srcdiff.driver.callables import Transformed, offers
from srcdiff.driver.options import WHERE
from srcdiff.errors import entry

_OF_ALL = ("inputs", "outputs", *WHERE)
"""The options of `grad` that the other transforms have as well."""


@offers("grad", "hessian", "jacobian", "jvp", "primal", "source", "value_and_grad", "vjp")
class Differentiable(Transformed):
    """A function, called as it is, with `.grad`, `.value_and_grad`, `.vjp`, `.jvp`, `.jacobian`,
    `.hessian` and `.source`.
    """

    __srcdiff_function__ = True

    def __init__(self, primal: Callable[..., Any], options: dict[str, Any]) -> None:
        self.primal = primal
        self.options = options
        functools.update_wrapper(self, primal, updated=())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The function itself."""
        return self.primal(*args, **kwargs)

    @property
    def __srcdiff_primal__(self) -> Any:
        """What a differentiated function that calls this one looks into."""
        return self.primal

    @functools.cached_property
    def grad(self) -> Any:
        """The gradient of the function."""
        return grad(self.primal, **self.options)

    @functools.cached_property
    def value_and_grad(self) -> Any:
        """The value and the gradient of the function."""
        return value_and_grad(self.primal, **self.options)

    @functools.cached_property
    def jacobian(self) -> Any:
        """The Jacobian of the function."""
        return jacobian(self.primal, **_options(self.options, _OF_ALL))

    @functools.cached_property
    def hessian(self) -> Any:
        """The Hessian of the function."""
        return hessian(self.primal, **_options(self.options, _OF_ALL))

    @entry
    def vjp(self, *args: Any, **kwargs: Any) -> Any:
        """The value at some arguments, and a pullback."""
        return vjp(self.primal, *args, **{**_options(self.options, _OF_ALL), **kwargs})

    @entry
    def jvp(self, primals: Any, tangents: Any, **kwargs: Any) -> Any:
        """The value at some arguments, and its derivative along a direction."""
        return jvp(self.primal, primals, tangents, **{**_options(self.options, WHERE), **kwargs})

    @property
    @entry
    def source(self) -> str:
        """The text of the gradient."""
        text: str = self.grad.source
        return text


def _options(options: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """Those of the options that have some names."""
    return {k: v for k, v in options.items() if k in names}


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
