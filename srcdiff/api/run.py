"""`run`: one recorded execution of a function, from which gradients are taken as from a graph."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from srcdiff import ir
from srcdiff.api.backward import add_into, store_key
from srcdiff.api.batch import as_arrays, as_batch, batched, batched_of, reached, with_cotangent
from srcdiff.api.point import Point
from srcdiff.driver.arguments import check_plain
from srcdiff.driver.callables import offers
from srcdiff.driver.derivative import Derivative, derivative_of
from srcdiff.driver.options import Options, apart, with_unused
from srcdiff.driver.pullback import Pullback, held_in
from srcdiff.driver.structures import Path, at, leaves, with_leaf, zeros
from srcdiff.errors import (
    CotangentError,
    DtypeError,
    EmptyInputsError,
    TransformError,
    UnsupportedError,
    UnusedInputError,
    entry,
)
from srcdiff.frontend.request import Nested, arranged, items_of, parse_path, spelled
from srcdiff.frontend.signatures import arguments, place_of, signature_of
from srcdiff.ir.frozen import replace
from srcdiff.kinds.lattice import kind_of
from srcdiff.runtime.batched import cotangents
from srcdiff.runtime.devices import is_any_array
from srcdiff.runtime.service import made_once
from srcdiff.runtime.trees import add_tree, cotangent, like_tree

Place = tuple[str, Path]
"""A parameter, and the keys that lead to a part of its argument."""


@offers("backward", "grad", "grads", "release", "value")
class Output:
    """A recorded execution, or a part of what it returned."""

    added: tuple[Output, ...] = ()

    def __init__(self, run: Run, path: Path) -> None:
        self.run, self.path = run, path

    @property
    def value(self) -> Any:
        """What was returned."""
        return at(self.run.returned, self.path)

    @property
    def parts(self) -> tuple[Output, ...]:
        """The outputs of one run each of which this is the sum: itself, if nothing was added."""
        return self.added or (self,)

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
        unused: str | None = None,
        is_grads_batched: bool = False,
        allow_unused: bool | None = None,
        materialize_grads: bool = False,
    ) -> Any:
        """The gradients of this output: bare for one input, a tuple or dict for several.

        Args:
            inputs: names, positions, paths, or the very arrays that were passed; None for all
                arguments that can carry a derivative.
            grad_outputs: the cotangent, as in `grad`.
            retain_graph: False frees the residuals afterwards; None: as `create_graph` says.
            create_graph: the gradients are outputs of a run of their own.
            unused, is_grads_batched, allow_unused, materialize_grads: as in `grad`.

        Raises:
            ReleasedError: the residuals have been freed already.
            UnusedInputError: this output does not depend on an input.
        """
        asked = with_unused({
            "unused": unused, "allow_unused": allow_unused, "materialize_grads": materialize_grads,
        })  # fmt: skip
        own = self.run.inputs
        form, items = items_of((own if len(own) > 1 else own[0]) if inputs is None else inputs)
        found = gradients(
            [self], items, [grad_outputs], retain_graph, create_graph, is_grads_batched, **asked
        )
        return arranged(form, found)

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
        given = None if inputs is None else items_of(inputs)[1]
        accumulate([self], [grad_outputs], retain_graph, create_graph, given, into)


class Run(Output):
    """One recorded execution: its value, and what is needed for its gradients.

    `run[0]` and `run["loss"]` select an output; `.grads` holds what `.backward()` has added up.
    The run of a gradient (`create_graph=True`) adds to `.grads` of the run that it is `of`.
    """

    def __init__(
        self,
        f: Any,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        options: Options,
        of: Run | None = None,
    ) -> None:
        super().__init__(self, ())
        names = tuple(n for n in active_parameters(f, args, kwargs) if n.isidentifier())
        if not names:
            raise UnsupportedError(
                f"a run of `{getattr(f, '__name__', f)}` has no input but any number of arguments",
                place_of(f),
                remedy="Use srcdiff.vjp with `inputs`, or name the parameters.",
            )
        self.point = Point(f, replace(options, inputs=names, unused="none"), args, kwargs)
        self.returned, self.pull = self.point.pullback(keep=True)
        self.passed, self.held = dict(self.point.values), held_in(self.point.values)
        self.grads: dict[str, Any] = {}
        self.leaves = self.inputs
        if of is not None:
            self.passed |= of.passed
            self.held |= of.held
            self.grads, self.leaves = of.grads, of.leaves

    @property
    def name(self) -> str:
        """The name of the function."""
        return str(getattr(self.point.f, "__name__", type(self.point.f).__name__))

    @functools.cached_property
    def kept(self) -> Point:
        """The function at copies of what it was given."""
        return self.point.at(self.pull.given)

    def again(self) -> Point:
        """The same, to be run again; refused where what it reads from outside is not as it was."""
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
        # What a list or dict holds since then has not been passed.
        known = id(item) in self.held or not (is_any_array(item) or isinstance(item, (list, dict)))
        values = self.kept.values if known else {}
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
    found = tuple(n for n, v in given.items() if ir.is_active_kind(kind_of(v, n)))
    if not found:
        raise DtypeError(
            "no argument of the run is a floating point or complex number or array, or holds one"
        )
    return found


@entry
def run(f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Run:
    """Run a function once, and record what its gradients need.

    Args:
        f: the function.
        args, kwargs: its arguments; `compile`, `workspace`, `threads`, `strict` and `verify` are
            options, as in `grad`.  It may draw random numbers or print: it does so once.

    Returns:
        A `Run`: `.value`; `.grad(inputs, grad_outputs)` and `.backward()` like those of torch;
        `.release()`; `run[0]` and `run["loss"]` select an output.

    >>> import srcdiff
    >>> r = srcdiff.autograd.run(lambda x, y: (x * y, x + y), 3.0, 4.0)
    >>> r.value
    (12.0, 7.0)
    >>> r[0].grad(("x", "y"), retain_graph=True)
    (4.0, 3.0)
    >>> r.grad("x")
    5.0
    """
    options, kwargs = apart(f, kwargs, None)
    return Run(f, args, kwargs, options)


# --- sums of gradients, of which some may be outputs of runs -------------------------------------


class Total(Output):
    """A sum of outputs of several runs, and of a constant."""

    def __init__(self, parts: tuple[Output, ...], constant: Any) -> None:
        super().__init__(parts[0].run, ())
        self.added, self.constant = parts, constant

    @property
    def value(self) -> Any:
        """The sum of the values."""
        return _sum([p.value for p in self.parts] + [self.constant])

    def __getitem__(self, key: Any) -> Output:
        """The sum at a position or key of what is added."""
        parts = tuple(p[key] for p in self.parts)
        return Total(parts, None if self.constant is None else self.constant[key])

    def __repr__(self) -> str:
        names = " + ".join(dict.fromkeys(p.run.name for p in self.parts))
        return f"<sum of runs of {names}: {self.value!r}>"


def added(gradients: Iterable[Any]) -> Any:
    """The sum of gradients of one structure, None where all are; an output if one of them is."""
    there = [g for g in gradients if g is not None]
    outputs = [g for g in there if isinstance(g, Output)]
    if not outputs or len(there) == 1:
        return _sum(there)
    constants = [g for g in there if not isinstance(g, Output)]
    constants += [g.constant for g in outputs if isinstance(g, Total)]
    return Total(tuple(p for g in outputs for p in g.parts), _sum(constants))


def _sum(gradients: list[Any]) -> Any:
    """The sum of gradients of one structure, None where all are."""
    there = [g for g in gradients if g is not None]
    if not there:
        return None
    total = there[0]
    for one in there[1:]:
        total = like_tree(add_tree(total, one), total)
    return total


# --- gradients of outputs: what `Run.grad`, `Run.backward` and `autograd` share -------------------


class Asked:
    """What is asked of one run: outputs with their cotangents, or batches of them, and inputs.

    `places` says where each of the inputs stands in the run.
    """

    def __init__(self, run: Run, batch: bool) -> None:
        self.run, self.batch = run, batch
        self.seeds: list[tuple[Output, Any]] = []
        self.places: list[list[Place]] = []

    @functools.cached_property
    def size(self) -> int | None:
        """The length of the batch axis of the cotangents, None where there is none."""
        given, values = [g for _, g in self.seeds], [output.value for output, _ in self.seeds]
        return as_batch(given, values)[1] if self.batch else None

    @functools.cached_property
    def selection(self) -> Any:
        """The outputs as `outputs` of a transform: None for all."""
        paths = dict.fromkeys(Nested(output.path) for output, _ in self.seeds)
        if any(not path for path in paths):
            return None
        inner = {p for p in paths if any(p[:k] in paths for k in range(1, len(p)))}
        return tuple(p for p in paths if p not in inner)

    @functools.cached_property
    def used(self) -> frozenset[str]:
        """The parameters that some of the outputs depend on."""
        point = self.run.kept
        kinds = {n: kind_of(v, n) for n, v in point.values.items()}
        return reached(point.made, self.selection, kinds)

    def checked(self, output: Output, given: Any) -> Any:
        """A cotangent of an output, or a batch of them; raises where it does not fit."""
        where = spelled("grad_outputs", output.path)
        if self.size is None:
            return cotangent(given, output.value, where)
        if self.size == 0:
            return zeros(output.value, 0)
        arrays = as_arrays(given, output.value, where, {})
        return cotangents(arrays, output.value, self.size, where)

    def seed(self) -> Any:
        """The cotangent of all that was returned, or a batch: zero for what is not selected."""
        total: Any = None
        for output, given in self.seeds:
            checked = self.checked(output, given)
            whole = with_leaf(zeros(self.run.returned, self.size), output.path, checked)
            total = whole if total is None else add_tree(total, whole)
        return total

    def gradients(self, create_graph: bool, materialize: bool = False) -> list[Any]:
        """The gradients of the inputs, None for those that no output depends on.

        They are outputs again with `create_graph`.
        """
        if create_graph:
            return self._again(materialize)
        used = None if self.selection is None else self.used
        found = self._selected(self.seed())
        return [
            added(at(found.get(n), path) for n, path in one if used is None or n in used)
            for one in self.places
        ]

    def _selected(self, seed: Any) -> dict[str, Any]:
        """The gradient of every parameter, or a batch of them."""
        run, selection = self.run, self.selection
        with np.errstate(all="warn" if selection is None else "ignore"):
            found = self._pulled(run.kept, run.pull, seed, run.returned)
        finite = all(np.all(np.isfinite(leaf)) for _, leaf in leaves(found))
        if selection is None or finite:
            return found
        # Zero times infinity: what was not selected must not be run through at all.
        point = run.again()
        options = replace(point.options, outputs=selection)
        again = Point(point.f, options, point.args, point.kwargs)
        value, pull = again.pullback()
        return self._pulled(again, pull, self._part(seed), again.output(value))

    def _pulled(self, point: Point, pull: Pullback, seed: Any, output: Any) -> dict[str, Any]:
        """The gradient of every parameter by a pullback, or a batch of them."""
        inputs = tuple(point.values[p] for p in point.params)
        found = batched(pull, seed, output, inputs) if self.batch else pull(seed)
        return dict(zip(point.params, found))

    def _part(self, seed: Any) -> Any:
        """What of a cotangent belongs to the outputs."""
        return seed if self.selection is None else tuple(at(seed, p) for p in self.selection)

    def _again(self, materialize: bool) -> list[Any]:
        """The gradients as outputs of a run of the gradient function, None for unused inputs."""
        run, point = self.run, self.run.again()
        options = replace(
            point.options, outputs=self.selection, unused="zeros" if materialize else "none",
            is_grads_batched=self.batch,
        )  # fmt: skip
        make: Callable[..., Derivative] = batched_of if self.batch else derivative_of
        made = make(point.f, options)
        key = "with cotangent", repr(options), tuple(point.values)
        function, name = made_once(point.f, key, lambda: with_cotangent(made, point.values))
        used = frozenset(run.inputs) if materialize else self.used
        seed = self.seed()
        seed = self._part(seed if self.batch else like_tree(seed, run.returned))
        own = Options(verify=point.options.verify)
        new = Run(function, point.args, {**point.kwargs, name: seed}, own, of=run)
        return [
            added(Output(new, (run.inputs.index(n), *path)) for n, path in one if n in used)
            for one in self.places
        ]


def gradients(
    outputs: Sequence[Output],
    inputs: Sequence[Any],
    grad_outputs: Sequence[Any],
    retain_graph: bool | None,
    create_graph: bool,
    is_grads_batched: bool,
    unused: str = "error",
) -> list[Any]:
    """The gradient of the sum of the outputs, for every input; None for an unused one."""
    if not inputs:
        raise EmptyInputsError()
    runs = _asked(outputs, grad_outputs, is_grads_batched)
    _place(runs, inputs)
    if unused == "error":
        _check_used(runs, inputs)
    parts = [asked.gradients(create_graph, unused == "zeros") for asked in runs]
    found = [added(p[k] for p in parts) for k in range(len(inputs))]
    if unused == "zeros":
        found = [_zero(runs, k) if g is None else g for k, g in enumerate(found)]
    _release(runs, create_graph if retain_graph is None else retain_graph)
    return found


def accumulate(
    outputs: Sequence[Output],
    grad_outputs: Sequence[Any],
    retain_graph: bool | None,
    create_graph: bool,
    inputs: Sequence[Any] | None,
    into: Any,
) -> None:
    """Add the gradients of outputs into a store, or into `.grads` of their runs."""
    if create_graph and into is not None:
        raise UnsupportedError(
            "create_graph=True: numbers in the buffers of `into` are no outputs of a run",
            remedy="Leave out `into`; `.grads` of the run holds gradients that are outputs again.",
        )
    runs = _asked(outputs, grad_outputs)
    if inputs is not None:
        _place(runs, inputs)
    for asked in runs if inputs is None else ():
        asked.places = [asked.run.places(n) for n in asked.run.leaves]
    parts = [asked.gradients(create_graph) for asked in runs]
    for asked, found in zip(runs, parts):
        _store(asked.run, into, asked.places, found)
    _release(runs, create_graph if retain_graph is None else retain_graph)


def _asked(
    outputs: Sequence[Output], grad_outputs: Sequence[Any], batch: bool = False
) -> list[Asked]:
    """What is asked of each of the runs that some outputs are of."""
    if len(outputs) != len(grad_outputs):
        raise CotangentError(
            f"grad_outputs: expected {len(outputs)} items, one for each of the outputs, "
            f"given {len(grad_outputs)}"
        )
    found: dict[Run, Asked] = {}
    for output, given in zip(outputs, grad_outputs):
        for part in output.parts:
            found.setdefault(part.run, Asked(part.run, batch)).seeds.append((part, given))
    return list(found.values())


def _place(runs: list[Asked], inputs: Sequence[Any]) -> None:
    """Find the places of inputs in the runs, of which one has to know each of them."""
    for one in inputs:
        for asked in runs:
            try:
                asked.places.append(asked.run.places(one))
            except TransformError:
                if asked is runs[-1] and not any(r.places[-1] for r in runs[:-1]):
                    raise
                asked.places.append([])


def _release(runs: list[Asked], retain_graph: bool) -> None:
    """Free the residuals of runs, unless they are kept."""
    for asked in () if retain_graph else runs:
        asked.run.release()


def _check_used(runs: list[Asked], inputs: Sequence[Any]) -> None:
    """Raise for an input that none of the outputs depends on; for a bad cotangent before that."""
    used = [asked.used for asked in runs]
    for k, one in enumerate(inputs):
        if not any(p in names for asked, names in zip(runs, used) for p, _ in asked.places[k]):
            what = f"`{one}`" if isinstance(one, str) else f"number {k}"
            for asked in runs:
                for output, given in asked.seeds:
                    asked.checked(output, given)
            raise UnusedInputError(
                "One of the differentiated inputs appears to not have been used in the graph: "
                f"no selected output depends differentiably on the input {what}",
                remedy="Set allow_unused=True if this is the desired behavior; it gives None, as "
                "unused='none' does; unused='zeros' gives zeros.",
            )


def _zero(runs: list[Asked], k: int) -> Any:
    """Zeros of the shape of an input, or a batch of them."""
    run, (name, path) = next((a.run, a.places[k][0]) for a in runs if a.places[k])
    sizes = [asked.size for asked in runs if asked.size is not None]
    return zeros(at(run.kept.values[name], path), max(sizes, default=None))


def _store(run: Run, into: Any, places: list[list[Place]], found: list[Any]) -> None:
    """Add gradients into a store, or into `.grads` of a run, where some are outputs."""
    names = list(run.point.values)
    there = [(store_key(*p[0], names), g) for p, g in zip(places, found) if p]
    if into is not None:
        add_into(into, [keys for keys, _ in there], [g for _, g in there])
        return
    for keys, gradient in there:
        old = run.grads.get(keys[0])
        if isinstance(old, Output) or isinstance(gradient, Output):
            run.grads[keys[0]] = added([old, gradient])
        else:
            add_into(run.grads, [keys], [gradient])
