"""Derivatives as methods of an object, and what they are found by when they are pickled."""

from __future__ import annotations

import functools
import sys
import types
from typing import Any


class Bound:
    """A derivative or a differentiable function whose first argument is an object."""

    def __init__(self, made: Any, instance: Any) -> None:
        self.made = made
        self.instance = instance
        functools.update_wrapper(self, types.MethodType(made.primal, instance), updated=())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The method, called."""
        return self.made(self.instance, *args, **kwargs)

    @property
    def primal(self) -> Any:
        """The method itself."""
        return types.MethodType(self.made.primal, self.instance)

    @property
    def source(self) -> str:
        """The text of the gradient."""
        text: str = self.made.source
        return text

    @property
    def __srcdiff_primal__(self) -> Any:
        """What a transform of the method, or a function that calls it, looks into."""
        return self.primal

    @property
    def grad(self) -> Bound:
        """The gradient of the method, with positions and names of the function's parameters."""
        return Bound(self.made.grad, self.instance)

    @property
    def value_and_grad(self) -> Bound:
        """The value and the gradient of the method."""
        return Bound(self.made.value_and_grad, self.instance)

    @property
    def jacobian(self) -> Bound:
        """The Jacobian of the method, with positions and names of the function's parameters."""
        return Bound(self.made.jacobian, self.instance)

    @property
    def hessian(self) -> Bound:
        """The Hessian of the method."""
        return Bound(self.made.hessian, self.instance)

    def jvp(self, primals: Any, tangents: Any, **kwargs: Any) -> Any:
        """The value at some arguments, and its derivative along a direction."""
        return self.made.jvp((self.instance, *primals), (None, *tangents), **kwargs)

    def vjp(self, *args: Any, **kwargs: Any) -> Any:
        """The value at some arguments, and a pullback."""
        return self.made.vjp(self.instance, *args, **kwargs)


def found_as(made: Any) -> str | None:
    """The name under which an object is found in its module: it pickles by it, like a function."""
    name: str = getattr(made, "__qualname__", "")
    found: Any = sys.modules.get(made.__module__)
    for part in name.split("."):
        found = getattr(found, part, None)
    return name if found is made else None
