"""Derivatives as methods of an object, and what they are found by when they are pickled."""

from __future__ import annotations

import functools
import inspect
import sys
import types
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from srcdiff.driver.completion import offers
from srcdiff.driver.options import Options
from srcdiff.errors import UnsupportedError
from srcdiff.frontend.source.parse import describe
from srcdiff.runtime import records
from srcdiff.runtime.devices import canonical, is_of_numba
from srcdiff.runtime.service import is_derivative
from srcdiff.runtime.tracebacks import entry
from srcdiff.specialize.nested.columns import is_jacobian, written_columns


def receiver_of(f: Any) -> tuple[Any, tuple[Any, ...]]:
    """The function that a method or callable object calls, and the object, its first argument."""
    if is_derivative(f):
        return (f.unbound, f.receiver) if f.receiver else (f, ())
    if is_jacobian(f):
        return written_columns(f), ()
    found = f = canonical(f) if isinstance(f, types.FunctionType) or is_of_numba(f) else f
    if is_of_numba(f):
        raise UnsupportedError(
            f"{describe(f)} is an object of Numba's that means more than its Python function",
            remedy="Differentiate that, or `np.vectorize` of it; `numba.njit` and `jit` are read.",
        )
    while isinstance(found, Bound) or "__srcdiff_primal__" in vars(type(found)):
        found = found.__srcdiff_primal__
    if isinstance(found, types.MethodType) and isinstance(found.__func__, types.FunctionType):
        return (found.__func__, (found.__self__,)) if _is_object(found.__self__) else (f, ())
    if not isinstance(found, (types.FunctionType, type)) and _is_object(found):
        call = inspect.getattr_static(type(found), "__call__", None)
        if isinstance(call, types.FunctionType) and "__wrapped__" not in found.__dict__:
            return call, (found,)
    return f, ()


def _is_object(x: Any) -> bool:
    """Whether an object is one whose attributes are looked into."""
    return records.is_record(type(x))


def behind_receiver(options: Options) -> Options:
    """The options for the function whose first parameter is the object."""
    return replace(options, inputs=_moved(options.inputs))


def _moved(inputs: Any) -> Any:
    """Positions behind the object."""
    if isinstance(inputs, Mapping):
        return {k: _moved(v) for k, v in inputs.items()}
    if isinstance(inputs, (tuple, list)):
        return tuple(map(_moved, inputs))
    plain = isinstance(inputs, int) and not isinstance(inputs, bool) and inputs >= 0
    return inputs + 1 if plain else inputs


@offers("grad", "hessian", "jacobian", "jvp", "primal", "source", "value_and_grad", "vjp")
class Bound:
    """A derivative or a differentiable function whose first argument is an object."""

    def __init__(self, made: Any, instance: Any) -> None:
        self.made = made
        self.instance = instance
        functools.update_wrapper(self, types.MethodType(made.primal, instance), updated=())
        self.__signature__ = inspect.signature(self)
        del self.__dict__["__wrapped__"]  # a derivative is not the method

    @entry
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The method, called."""
        return self.made(self.instance, *args, **kwargs)

    @property
    def primal(self) -> Any:
        """The method itself."""
        return types.MethodType(self.made.primal, self.instance)

    @property
    @entry
    def source(self) -> str:
        """The text of the gradient."""
        text: str = self.made.source
        return text

    @property
    def __srcdiff_primal__(self) -> Any:
        """What a transform of the method, or a function that calls it, looks into.

        Raises:
            UnsupportedError: this is a derivative of the method.
        """
        if not hasattr(self.made, "__srcdiff_primal__"):
            raise UnsupportedError(
                f"the derivative of the method `{self.primal.__name__}` of an object is not "
                "differentiated again",
                remedy="Leave the method as it is, and use nested `srcdiff.grad` of it.",
            )
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

    @entry
    def jvp(self, primals: Any, tangents: Any, **kwargs: Any) -> Any:
        """The value at some arguments, and its derivative along a direction."""
        return self.made.jvp((self.instance, *primals), (None, *tangents), **kwargs)

    @entry
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
