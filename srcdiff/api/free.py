"""Derivatives by variables outside of the function: `grad(f, "global:W")`."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from srcdiff.driver.completion import offers
from srcdiff.driver.derivative import Derivative
from srcdiff.driver.options import Options
from srcdiff.driver.pickled import parts
from srcdiff.driver.reusing import Reusing
from srcdiff.errors import UnsupportedError
from srcdiff.frontend.free import PREFIX, WithFree
from srcdiff.frontend.onecall import place_of, signature_of
from srcdiff.runtime.tracebacks import entry


def free_names(inputs: Any) -> tuple[str, ...]:
    """The names after `global:` among some inputs."""
    if isinstance(inputs, Mapping):
        inputs = tuple(inputs.values())
    items = inputs if isinstance(inputs, (tuple, list)) else (inputs,)
    found = (i for i in items if isinstance(i, str) and i.startswith(PREFIX))
    return tuple(dict.fromkeys(_name(i) for i in found))


def _name(item: str) -> str:
    """`W` of `global:W['w'][0]`."""
    return item[len(PREFIX) :].partition("[")[0].strip()


def _plain(inputs: Any) -> Any:
    """Inputs without `global:`."""
    if isinstance(inputs, Mapping):
        return {k: _plain(v) for k, v in inputs.items()}
    if isinstance(inputs, (tuple, list)):
        return tuple(map(_plain, inputs))
    is_free = isinstance(inputs, str) and inputs.startswith(PREFIX)
    return inputs[len(PREFIX) :] if is_free else inputs


@offers("primal", "release_workspace", "source")
class FreeDerivative:
    """A derivative that reads the variables when it is called."""

    described = "a gradient by a variable (`global:`)"

    def __init__(self, f: Any, options: Options) -> None:
        self.options = options
        self.primal = f
        free = isinstance(f, FreeDerivative)
        self.variables: WithFree = f.variables if free else WithFree(f, free_names(options.inputs))
        inner: Any = f.made if free else self.variables
        made = Reusing if options.workspace else Derivative
        self.made = made(inner, replace(options, inputs=_plain(options.inputs)))
        functools.update_wrapper(self, f, updated=())
        del self.__dict__["__wrapped__"]  # who differentiates this does not want the function
        self.__signature__ = signature_of(f)

    @entry
    def __call__(self, *args: Any, grad_outputs: Any = None, **kwargs: Any) -> Any:
        """The gradients for these arguments and for what the variables hold."""
        return self.made(*args, grad_outputs=grad_outputs, **kwargs, **self.variables.values())

    def generic(self) -> Any:
        """The specialisation for parameters of which nothing is known."""
        return self.made.generic()

    def specialised(self, *args: Any, **kwargs: Any) -> Any:
        """The generated Python function for these arguments."""
        return self.made.specialised(*args, **kwargs, **self.variables.values())

    def release_workspace(self) -> None:
        """Let go of the memory that `workspace=True` keeps."""
        if isinstance(self.made, Reusing):
            self.made.release_workspace()

    @property
    @entry
    def source(self) -> str:
        """The generated text."""
        return self.made.source

    def __reduce__(self) -> Any:
        """Pickled by reference to its function."""
        return parts(FreeDerivative, self.primal, self.options)

    def __repr__(self) -> str:
        return repr(self.made)


def derivative(f: Any, options: Options, kind: type[Derivative]) -> Any:
    """The derivative of a function, by parameters or by variables outside."""
    if not isinstance(f, FreeDerivative) and not free_names(options.inputs):
        return kind(f, options)
    if kind not in (Derivative, Reusing):
        raise UnsupportedError(
            "variables outside of the function are no inputs of batched or compiled gradients",
            place_of(f),
            remedy="Make them parameters.",
        )
    return FreeDerivative(f, options)
