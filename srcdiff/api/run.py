"""`run`: one recorded execution of a function, from which gradients are taken as from a graph."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from srcdiff.analyses.kind_types import is_active_kind
from srcdiff.analyses.kind_values import kind_of
from srcdiff.api.chosen import Path, at
from srcdiff.api.completion import offers
from srcdiff.api.options import Options
from srcdiff.api.point import Point
from srcdiff.api.shared import Held
from srcdiff.api.values import check_plain
from srcdiff.device import is_any_array
from srcdiff.errors import DtypeError, TransformError, UnsupportedError
from srcdiff.frames import entry
from srcdiff.onecall import arguments, place_of, signature_of
from srcdiff.request import parse_path

Place = tuple[str, Path]
"""A parameter, and the keys that lead to a part of its argument."""


@offers("backward", "grad", "grads", "release", "value")
class Output:
    """A recorded execution, or a part of what it returned."""

    def __init__(self, run: Run, path: Path) -> None:
        self.run, self.path = run, path

    @property
    def value(self) -> Any:
        """What was returned."""
        return at(self.run.returned, self.path)

    @property
    def parts(self) -> tuple[Output, ...]:
        """The outputs of one run each of which this is the sum: itself."""
        return (self,)

    @entry
    def __getitem__(self, key: Any) -> Output:
        """One output: a position or key of what was returned."""
        value = self.value
        try:
            value[key]
        except (TypeError, KeyError, IndexError) as error:
            name = self.run.name
            raise TransformError(
                f"`{name}` has no output {key!r} in this run",
                remedy="Give a position or key of what it returned.",
            ) from error
        if is_any_array(value):
            raise TransformError(
                f"`{self.run.name}` returns an array here: {key!r} is no output",
                remedy="Take the array as a whole; `grad_outputs` selects elements of it.",
            )
        return Output(self.run, (*self.path, key))

    def __iter__(self) -> Any:
        """The outputs, one by one."""
        value = self.value
        if not isinstance(value, (tuple, list)):
            raise TypeError(f"this output of `{self.run.name}` is no tuple or list")
        return iter([self[k] for k in range(len(value))])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """The value as an array."""
        return np.array(self.value, dtype)

    def __float__(self) -> float:
        """The value as a number."""
        return float(self.value)

    def __repr__(self) -> str:
        path = "".join(f"[{k!r}]" for k in self.path)
        return f"<run of {self.run.name}{path}: {self.value!r}>"

    @entry
    def grad(
        self,
        inputs: Any = None,
        grad_outputs: Any = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        *,
        allow_unused: bool | None = None,
        is_grads_batched: bool = False,
        materialize_grads: bool = False,
    ) -> Any:
        """The gradients of this output: bare for one input, a tuple or dict for several.

        Args:
            inputs: names, positions, paths, or the very arrays that were passed; None for all
                arguments that can carry a derivative.
            grad_outputs: the cotangent, as in `grad`.
            retain_graph: False frees the residuals afterwards; None: as `create_graph` says.
            create_graph: the gradients are outputs of a run of their own.
            allow_unused, is_grads_batched, materialize_grads: as in `grad`.

        Raises:
            ReleasedError: the residuals have been freed already.
            UnusedInputError: this output does not depend on an input.
        """
        from srcdiff.api.graph import gradients

        given = self.run.default_inputs() if inputs is None else inputs
        items, arrange = _items(given)
        found = gradients(
            [self], items, [grad_outputs], retain_graph, create_graph, allow_unused,
            is_grads_batched, materialize_grads,
        )  # fmt: skip
        return arrange(found)

    @entry
    def backward(
        self,
        grad_outputs: Any = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Any = None,
        into: Any = None,
    ) -> None:
        """Add the gradients in place into the entries of `into`, or of `.grads` of the run.

        An input that the output does not depend on adds nothing.  With `create_graph` the entries
        of `.grads` become outputs again, and `into` is refused.
        """
        from srcdiff.api.graph import accumulate

        given = None if inputs is None else _items(inputs)[0]
        accumulate([self], [grad_outputs], retain_graph, create_graph, given, into)


class Run(Output):
    """One recorded execution: its value, and what is needed for its gradients.

    `run[0]` and `run["loss"]` select an output; `.grads` holds what `.backward()` has added up.
    The run of a gradient (`create_graph=True`) adds to `.grads` of the run that it is `of`.
    """

    def __init__(
        self, f: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], of: Run | None = None
    ) -> None:
        super().__init__(self, ())
        names = tuple(n for n in active_parameters(f, args, kwargs) if n.isidentifier())
        if not names:
            raise UnsupportedError(
                f"a run of `{getattr(f, '__name__', f)}` has no input but any number of arguments",
                place_of(f),
                remedy="Use srcdiff.vjp with `inputs`, or name the parameters.",
            )
        self.point = Point(f, Options(names, allow_unused=True), args, kwargs)
        self.returned, self.pull = self.point.pullback(keep=True)
        self.passed: dict[str, Any] = {**self.point.values, **({} if of is None else of.passed)}
        self.held: tuple[Held, ...] = () if of is None else of.held
        self.held = (Held().add(self.point.values), *self.held)
        self.grads: dict[str, Any] = {} if of is None else of.grads
        self.leaves: tuple[str, ...] = self.inputs if of is None else of.leaves

    @property
    def name(self) -> str:
        """The name of the function."""
        return str(getattr(self.point.f, "__name__", type(self.point.f).__name__))

    @functools.cached_property
    def kept(self) -> Point:
        """The function at copies of what it was given."""
        return self.point.at(self.pull.given)

    def again(self) -> Point:
        """The same, to be run again.

        Raises:
            UnsupportedError: what the function reads from outside is not as it was.
        """
        changed = self.pull.changed(self.kept.made)
        if changed is None:
            return self.kept
        raise UnsupportedError(
            f"{changed} has changed since the run of `{self.name}`, which has to run again here",
            place_of(self.point.f),
            remedy="Take such gradients before it changes, or make it an argument.",
        )

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of the parameters that can carry a derivative."""
        return self.point.params

    def default_inputs(self) -> Any:
        """All inputs: a bare one, or a tuple of them."""
        return self.inputs[0] if len(self.inputs) == 1 else self.inputs

    def release(self) -> None:
        """Free the residuals; a later gradient raises ReleasedError."""
        self.pull.release()

    def places(self, item: Any) -> list[Place]:
        """Where an input stands: one place, or those of an array that was passed."""
        names = list(self.point.values)
        if isinstance(item, (int, np.integer)) and not isinstance(item, bool):
            if not -len(names) <= item < len(names):
                raise self.unknown(str(item))
            return [(names[int(item)], ())]
        if isinstance(item, str):
            return [self._named(item)]
        values = self.kept.values if any(h.has(item) for h in self.held) else {}
        found = [p for n, v in values.items() if n in self.inputs
                 for p in _found(self.passed[n], v, item, (n, ()))]  # fmt: skip
        if not found:
            raise self.unknown(f"that is this object of type `{type(item).__name__}`")
        return found

    def _named(self, text: str) -> Place:
        """A name or a path."""
        try:
            found = parse_path(text)
            at(self.kept.values[found.param], found.path)
        except (ValueError, SyntaxError, KeyError, IndexError, TypeError) as error:
            raise self.unknown(repr(text)) from error
        return found.param, found.path

    def unknown(self, item: str) -> TransformError:
        """The error for an input that the run does not have."""
        return TransformError(
            f"the run of `{self.name}` has no input {item}",
            place_of(self.point.f),
            remedy=f"Its parameters are: {', '.join(self.point.values)}.  An array must be one "
            "that was passed, not a copy of it.",
        )


def _items(inputs: Any) -> tuple[list[Any], Callable[[Sequence[Any]], Any]]:
    """Inputs as a list, and how their gradients are arranged."""
    if isinstance(inputs, Mapping):
        keys = list(inputs)
        return list(inputs.values()), lambda found: dict(zip(keys, found))
    if isinstance(inputs, (tuple, list)):
        return list(inputs), tuple
    return [inputs], lambda found: found[0]


def _found(value: Any, then: Any, item: Any, place: Place) -> list[Place]:
    """The places in an argument, which was like `then`, at which an object stands."""
    if value is item:
        return [place]
    name, path = place
    keys: Iterable[Any] = ()
    if isinstance(value, dict) and isinstance(then, dict):
        keys = [k for k in value if k in then]
    elif isinstance(value, (list, tuple)) and isinstance(then, (list, tuple)):
        keys = range(min(len(value), len(then)))
    return [p for k in keys for p in _found(value[k], then[k], item, (name, (*path, k)))]


def active_parameters(f: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[str, ...]:
    """The parameters, and items of `*args` and `**kwargs`, that can carry a derivative."""
    params = signature_of(f).parameters
    whole = arguments(f, (), args, kwargs)
    check_plain(whole)
    given: dict[str, Any] = {}
    for name, value in whole.items():
        if params[name].kind == inspect.Parameter.VAR_POSITIONAL:
            given.update((f"{name}[{k}]", item) for k, item in enumerate(value))
        elif params[name].kind == inspect.Parameter.VAR_KEYWORD:
            given.update((f"{name}[{k!r}]", item) for k, item in value.items())
        else:
            given[name] = value
    found = tuple(n for n, v in given.items() if is_active_kind(kind_of(v, n)))
    if not found:
        raise DtypeError(
            "no argument of the run is a floating point or complex number or array, or holds one"
        )
    return found


@entry
def run(f: Callable[..., Any], *args: Any, **kwargs: Any) -> Run:
    """Run a function once, and record what its gradients need.

    Args:
        f: the function.
        args, kwargs: its arguments.  It may draw random numbers or print: it does so once.

    Returns:
        A `Run`: `.value`; `.grad(inputs, grad_outputs)` and `.backward()` like those of torch;
        `.release()`; `run[0]` and `run["loss"]` select an output.

    >>> import srcdiff
    >>> r = srcdiff.run(lambda x, y: (x * y, x + y), 3.0, 4.0)
    >>> r.value
    (12.0, 7.0)
    >>> r[0].grad(("x", "y"), retain_graph=True)
    (4.0, 3.0)
    >>> r.grad("x")
    5.0
    """
    return Run(f, args, kwargs)
