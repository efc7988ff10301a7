"""A function at some arguments: its inputs, its outputs, tangents and pullbacks there."""

from __future__ import annotations

import inspect
import types
from collections.abc import Mapping
from typing import Any

from srcdiff.api.forward import Forward, forward_of, tangent_like
from srcdiff.driver.derivative import derivative_of
from srcdiff.driver.executable import CANNOT
from srcdiff.driver.options import Options
from srcdiff.driver.pullback import Pullback
from srcdiff.driver.snapshots import same
from srcdiff.driver.structures import at, names_parameter, selected, tangent_of, with_leaf, zeros
from srcdiff.errors import CotangentError, UnsupportedError
from srcdiff.frontend.request import Request
from srcdiff.frontend.signatures import WithFree, arguments, place_of, signature_of
from srcdiff.runtime import records
from srcdiff.runtime.batched import repeated
from srcdiff.runtime.copies import copied
from srcdiff.runtime.devices import is_any_array


class Point:
    """A function at some arguments, with the inputs and outputs that are asked for."""

    def __init__(
        self, f: Any, options: Options, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> None:
        self.f, self.options = f, options
        made = self.made = derivative_of(f, options)
        self.request = made.request
        self.params = self.request.params
        self.args, self.kwargs = args, dict(kwargs)
        values = None if made.receiver else made.in_order(args, kwargs)
        if values is None:
            values = arguments(f, self.params, args, kwargs)
            given = bound_to(f, values)
            self.args, self.kwargs = given.args, given.kwargs
        self.values = values
        made.check_values(values)

    @property
    def inputs(self) -> Any:
        """The inputs, in the structure of a gradient."""
        found = [at(self.values[i.param], i.path) for i in self.request.inputs]
        return self.request.arranged(found)

    @property
    def holds_objects(self) -> bool:
        """Whether an input is an object or a part of one, which forward mode does not follow."""
        values = (self.values[p] for p in self.params)
        return any(records.is_record(type(v)) and not isinstance(v, tuple) for v in values)

    def along(self, direction: Any) -> tuple[Any, Any]:
        """The value of the function, and the tangent of the outputs along a direction."""
        value, tangent = self._forward().along(self.args, self.kwargs, self.tangents(direction))
        return value, self.tangent_of_outputs(tangent, value)

    def tangents(self, direction: Any) -> tuple[Any, ...]:
        """The tangents of the parameters that have inputs, for a direction of the inputs."""
        tangents = {p: tangent_like(None, self.values[p], p) for p in self.params}
        self._place(tangents, direction)
        return tuple(tangent_like(tangents[p], self.values[p], p) for p in self.params)

    def along_many(self, directions: Any, size: int) -> Any:
        """The value, and the tangents of the outputs along a batch of directions, that in front.

        `CANNOT` where the function has no form for a batch.
        """
        paths = ((self.values[i.param], i.path[:-1]) for i in self.request.inputs if i.path)
        if any(is_any_array(at(value, path)) for value, path in paths):
            return CANNOT  # the keys of an array's parts are not those of a batch of arrays
        single = {p: tangent_like(None, self.values[p], p) for p in self.params}
        tangents = {p: repeated(zero, size) for p, zero in single.items()}
        self._place(tangents, directions)
        found = self._forward().along_many(self.args, self.kwargs, tuple(tangents.values()), size)
        return found if found is CANNOT else (found[0], self.tangent_of_outputs(*found[::-1]))

    def _forward(self) -> Forward:
        """The function of forward mode."""
        return forward_of(self.f, self.options, self.params)

    def _place(self, tangents: dict[str, Any], direction: Any) -> None:
        """Put a direction of the inputs into tangents of the parameters."""
        check_form(self.request, direction)
        for item, one in zip(self.request.inputs, self.request.listed(direction)):
            tangents[item.param] = with_leaf(tangents[item.param], item.path, one)

    def tangent_of_outputs(self, tangent: Any, value: Any) -> Any:
        """The tangent of the outputs, None where they are no floating point numbers."""
        output = value[0] if self.request.has_aux else value
        return tangent_of(tangent, output, self.request.outputs, self.values)

    def pullback(self, at_once: bool = False, keep: bool = False) -> tuple[Any, Pullback]:
        """What the function returns, and the pullback of one run, as `recorded` makes it."""
        return self.made.recorded(self.args, self.kwargs, at_once, keep)

    def at(self, given: tuple[Any, Any]) -> Point:
        """The function at other arguments, before which the object of a method stands."""
        (args, kwargs), f = given, self.f
        for old in self.made.receiver:
            f, args = _of_object(f, self.made.origin, old, args[0]), args[1:]
        return Point(f, self.options, args, kwargs)

    def outputs_at(self, inputs: Any) -> Any:
        """The selected outputs of a run of the function itself at other inputs, on copies."""
        values = copied(self.values)
        for item, new in zip(self.request.inputs, self.request.listed(inputs)):
            values[item.param] = with_leaf(values[item.param], item.path, copied(new))
        bound = bound_to(self.f, values)
        value = self._run(bound.args, bound.kwargs)
        return selected(value, self.request.outputs, values)

    def _run(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """What the function returns; with variables outside as arguments its forward part does."""
        if type(self.f) is WithFree:
            return self.made.recorded(args, kwargs, at_once=True)[0]
        return self.f(*args, **kwargs)

    def output(self, value: Any) -> Any:
        """The selected outputs of what the function returned, or something of their structure."""
        outputs = self.request.outputs
        if self.request.has_aux:
            value = value[0]
        if not names_parameter(outputs, self.values):
            return selected(value, outputs, {})
        written = selected(value, outputs, self.values)
        parts = written if isinstance(outputs, tuple) else (written,)
        # An array has its shape for ever; what becomes of a list only a run knows.
        return written if all(map(is_any_array, parts)) else self.along(zeros(self.inputs))[1]


def check_form(request: Request, direction: Any) -> None:
    """Raise unless a direction has an item for each of the inputs, where these are several."""
    form, count = request.form, len(request.inputs)
    if form == "bare":
        return
    cls = (tuple, list) if form == "tuple" else Mapping
    known = form if isinstance(form, tuple) else range(count)
    if not isinstance(direction, cls) or len(direction) != count:
        what = f"{count} items" if form == "tuple" else f"the keys {', '.join(map(repr, known))}"
        given = f"{len(direction)}" if isinstance(direction, cls) else type(direction).__name__
        raise CotangentError(f"tangents: expected {what}, as `inputs` has them, given {given}")
    missing = [key for key in known if isinstance(direction, Mapping) and key not in direction]
    if missing:
        raise CotangentError(f"tangents: expected the key {missing[0]!r}, which `inputs` has")


def _of_object(f: Any, origin: Any, old: Any, new: Any) -> Any:
    """A callable object, or a method of an object, as that of another one; no derivative of it."""
    if isinstance(origin, types.FunctionType):
        return types.MethodType(origin, new)
    if same(old, new):
        return f
    raise UnsupportedError(
        f"the object of `{getattr(f, '__name__', f)}` has changed since the run",
        place_of(f),
        remedy="Take gradients of the run before it changes.",
    )


def bound_to(f: Any, values: Mapping[str, Any]) -> inspect.BoundArguments:
    """Arguments by name as those of a call; by keyword behind one that is left out."""
    params = signature_of(f).parameters
    bound = inspect.BoundArguments(signature_of(f), {})
    bound.arguments.update({n: values[n] for n in params if n in values})
    return bound
