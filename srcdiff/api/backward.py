"""`backward`: gradients that are added into buffers, as in a training loop."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from srcdiff.api.accumulate import add_into
from srcdiff.driver.bound import Bound, found_as
from srcdiff.driver.completion import offers
from srcdiff.driver.declared import with_keywords
from srcdiff.driver.derivative import Derivative
from srcdiff.driver.options import Options, parameter_names
from srcdiff.driver.pickled import parts
from srcdiff.frontend.onecall import signature_of
from srcdiff.frontend.request import Input, spelled
from srcdiff.runtime.tracebacks import entry


@offers("primal", "source")
class Backward:
    """Runs `primal`, and adds its gradients in place into the buffers of a store."""

    def __init__(self, primal: Any, options: Options) -> None:
        self.primal, self.options = primal, options
        self.derivative = Derivative(primal, options)
        self.keys = store_keys(self.derivative.request.inputs, parameter_names(primal))
        functools.update_wrapper(self, primal, updated=())
        del self.__dict__["__wrapped__"]  # who differentiates this does not want the function
        self.__signature__ = with_keywords(signature_of(primal), into=..., grad_outputs=None)

    @entry
    def __call__(self, *args: Any, into: Any, grad_outputs: Any = None, **kwargs: Any) -> Any:
        """The value; the gradients are added to the entries of `into`."""
        value, gradients = self.derivative(*args, grad_outputs=grad_outputs, **kwargs)
        add_into(into, self.keys, self.derivative.request.listed(gradients))
        return value

    @property
    @entry
    def source(self) -> str:
        """The text that computes the value and the gradients."""
        return self.derivative.source

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        """The same of a method."""
        return self if instance is None else Bound(self, instance)

    def __reduce__(self) -> Any:
        """Pickled by reference: to itself where its name leads to it, else to its function."""
        return found_as(self) or parts(Backward, self.primal, self.options)


def store_keys(inputs: tuple[Input, ...], names: tuple[str, ...]) -> list[tuple[Any, ...]]:
    """The keys under which a store may have the gradient of each input: its name, its position."""
    return [store_key(item.param, item.path, names) for item in inputs]


def store_key(name: str, path: tuple[Any, ...], names: Sequence[str]) -> tuple[Any, ...]:
    """The keys under which a store may have the gradient at a place."""
    return (spelled(name, path),) if path else (name, names.index(name))


@entry
def backward(
    f: Callable[..., Any] | None = None,
    inputs: Any = 0,
    outputs: Any = None,
    *,
    allow_unused: bool | None = None,
    materialize_grads: bool = False,
    has_aux: bool = False,
) -> Any:
    """A function that returns the value of `f` and adds its gradients into buffers, in place.

    Args:
        f: the function; without it, a decorator.
        inputs, outputs, allow_unused, materialize_grads, has_aux: as in `grad`.

    Returns:
        `b` with `b(*args, into=store, grad_outputs=None, **kwargs)`.  `store` maps names or
        positions of inputs to arrays (or is a list of arrays); an input that is a container has an
        entry of its structure.  An entry that is absent or None becomes a copy of the gradient.

    Raises:
        CotangentError: at the call, an entry is of another shape or dtype than its gradient, or
            read-only; then nothing has been added to any.

    >>> import numpy as np
    >>> import srcdiff
    >>> b = srcdiff.backward(lambda w, x: np.sum(w * x), inputs="w")
    >>> store = {}
    >>> w, x = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    >>> for _ in range(2):
    ...     value = b(w, x, into=store)
    >>> store["w"]
    array([6., 8.])
    """
    options = Options(inputs, outputs, allow_unused, materialize_grads, has_aux, value=True)
    return (lambda g: Backward(g, options)) if f is None else Backward(f, options)
