"""Gradients for a batch of cotangents: one forward run, and one backward run for all of them.

Takes a pullback and cotangents with a batch axis; gives gradients with that axis in front.  A
function whose backward part cannot be written for a batch runs it once for each item.

Where such gradients are differentiated again they are a plain function, which takes the gradient
for one cotangent after the other, in a loop, and is read and differentiated like any other.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Container, Iterable, Mapping
from typing import Any

import numpy as np

from srcdiff import ir
from srcdiff.api.point import Point
from srcdiff.backends.loader import compile_text
from srcdiff.driver.callables import with_keywords
from srcdiff.driver.derivative import Derivative, derivative_of
from srcdiff.driver.executable import CANNOT
from srcdiff.driver.options import Options
from srcdiff.driver.pipeline import analysed
from srcdiff.driver.pullback import Pullback
from srcdiff.driver.structures import Path, at, leaves, part_of, with_leaves, zeros
from srcdiff.errors import CotangentError, UnsupportedError, entry, placed
from srcdiff.frontend.request import Input, spelled
from srcdiff.frontend.signatures import place_of, signature_of
from srcdiff.ir import SEED
from srcdiff.ir.frozen import replace
from srcdiff.runtime.batched import by_attribute, stacked, taken
from srcdiff.runtime.devices import is_device_array
from srcdiff.runtime.implicit import with_source
from srcdiff.runtime.service import made_once

_HELD = 1 << 21
"""More numbers than these do not stay with the process: they get memory of their own each time."""


def batched(
    pull: Pullback, grad_outputs: Any, output: Any, inputs: Any, retain_graph: bool = True
) -> Any:
    """The gradients for a batch of cotangents, each with the batch axis in front.

    `retain_graph=False`: it is the last use of the pullback.
    """
    arrays, size = as_batch(grad_outputs, output)
    if size == 0:  # one run says which gradients there are
        return zeros(pull(zeros(output)), 0)
    width = max((np.size(leaf) for tree in (inputs, output) for _, leaf in leaves(tree)), default=1)
    found = in_parts(pull, arrays, inputs, size, width or 1, retain_graph)
    return stacked([pull(taken(arrays, k)) for k in range(size)]) if found is CANNOT else found


def in_parts(
    pull: Pullback, cotangents: Any, inputs: Any, size: int, width: int, retain_graph: bool
) -> Any:
    """The gradients for a batch of cotangents, for as many at a time as stay in the cache.

    They have the dtypes of their inputs, and memory of their own.  `CANNOT` where the function has
    no backward part for batches.
    """
    step = pull.step(size, width)
    hold_memory(size * sum(np.size(x) for _, x in leaves(inputs)) + 2 * step * width)
    held = [leaf for _, leaf in leaves(cotangents)]
    new: dict[Path, Any] = {}
    for start in range(0, size, step):
        count = min(step, size - start)
        part = taken(cotangents, slice(start, start + count))
        found = pull.many(part, count, retain_graph or step < size)
        if found is CANNOT:
            return CANNOT
        for path, leaf in leaves(inputs):
            gradient, dtype = at(found, path), np.result_type(leaf)
            if gradient is None:
                continue
            assert np.shape(gradient) == (count, *np.shape(leaf))
            if step >= size and _is_own(gradient, dtype, [*held, *new.values()]):
                new[path] = gradient
                continue
            if path not in new:
                new[path] = np.empty((size, *np.shape(leaf)), dtype)
            new[path][start : start + count] = gradient
    return with_leaves(inputs, new)


def _is_own(gradient: Any, dtype: Any, others: list[Any]) -> bool:
    """Whether a gradient is an array of a dtype that can be handed out: in memory of its own."""
    plain = isinstance(gradient, np.ndarray) and gradient.dtype == dtype
    ready = plain and gradient.flags.writeable and gradient.flags.c_contiguous
    return ready and not any(np.may_share_memory(gradient, other) for other in others)


def hold_memory(numbers: int) -> None:
    """Let memory for so many numbers stay with the process when it is freed.

    The C library gives free memory back to the system as soon as it is more than twice the largest
    block that has been freed so far.  To get it again, page by page, takes longer than the
    arithmetic of a batch.  So a block of this size is freed, which nobody has touched.
    """
    if numbers <= _HELD:
        np.empty(numbers)


def as_batch(grad_outputs: Any, output: Any) -> tuple[Any, int]:
    """A batch of cotangents with arrays for leaves, and the length of the batch axis."""
    sizes: dict[str, int] = {}
    arrays = as_arrays(grad_outputs, output, "grad_outputs", sizes)
    if not sizes:
        raise _no_batch()
    if len(set(sizes.values())) > 1:
        found = ", ".join(f"{path} has {n}" for path, n in sizes.items())
        raise CotangentError(f"grad_outputs: expected one size of the batch axis, but {found}")
    return arrays, next(iter(sizes.values()))


def _no_batch() -> CotangentError:
    """The error for cotangents that are all left out."""
    return CotangentError(
        "grad_outputs: expected at least one cotangent with a batch axis, as "
        "is_grads_batched=True says, given None"
    )


def as_arrays(given: Any, output: Any, path: str, sizes: dict[str, int]) -> Any:
    """Cotangents as arrays in the structure of the output; the length of each by its path."""
    if given is None:
        return None
    given, output = by_attribute(given, output)
    if isinstance(output, (dict, list, tuple)):
        keys = output if isinstance(output, dict) else range(len(output))
        if isinstance(given, Mapping) != isinstance(output, dict) or len(given) != len(output):
            raise CotangentError(f"{path}: expected {len(output)} items like the output")
        made = {k: as_arrays(given[k], output[k], f"{path}[{k!r}]", sizes) for k in keys}
        return made if isinstance(output, dict) else list(made.values())
    shape, expected = np.shape(given), np.shape(output)
    if len(shape) != len(expected) + 1 or shape[1:] != expected:
        wanted = f"(B, {', '.join(map(str, expected))})" if expected else "(B,)"
        raise CotangentError(
            f"{path}: expected shape {wanted}, the batch axis before that of the output, "
            f"given shape {shape}"
        )
    sizes[path] = shape[0]
    return given if is_device_array(given) else np.asarray(given)


# --- a gradient as a plain function of the arguments and the cotangent ----------------------------


def with_cotangent(made: Derivative, given: Container[str]) -> tuple[Any, str]:
    """`g(*args, cotangents=ct)` as a function that takes no `grad_outputs`, and that parameter.

    It has the parameters that are `given` an argument.
    """
    fresh = ir.Fresh({*signature_of(made.primal).parameters})
    seed, gradient = fresh("cotangents").id, fresh("gradient").id
    head, uses = head_and_uses(made.primal, given, seed)
    name = f"{made.request.name}_again"
    given = ", ".join([*uses, f"{SEED}={seed}"])
    text = f"def {name}{head}:\n    return {gradient}({given})\n"
    return compile_text(text, {gradient: made}, name, made.primal), seed


def head_and_uses(f: Any, given: Container[str], seed: str) -> tuple[str, list[str]]:
    """The parameters of `f` that are given an argument, with another one, and how to pass them."""
    own = signature_of(f)
    params = [p for p in own.parameters.values() if p.name in given]
    plain = [p.replace(annotation=p.empty, default=p.empty) for p in params]
    uses = [f"{p.name}={p.name}" if p.kind is p.KEYWORD_ONLY else str(p) for p in plain]
    return str(with_keywords(own.replace(parameters=plain), **{seed: ...})), uses


# --- parameters that lead to an output ------------------------------------------------------------


def reached(made: Derivative, outputs: Any, kinds: Mapping[str, ir.Kind]) -> frozenset[str]:
    """The parameters of which some of the selected outputs are functions, by the source."""

    def reach() -> frozenset[str]:
        request = replace(made.request, outputs=outputs, allow_unused=True)
        state = analysed(made.primal, request, kinds, ir.HOST)
        assert state.facts is not None
        places = {} if state.fields is None else state.fields.places
        found = (places.get(n, (n,))[0] for n in state.facts.active.intersection(state.inputs))
        return frozenset(found) & {i.param for i in request.inputs}

    key = "reached", repr(outputs), *sorted((n, repr(k)) for n, k in kinds.items())
    return made_once(made, key, reach)


# --- the gradients as a plain function ------------------------------------------------------------


def rows_of(
    made: Derivative, value: bool, kinds: Mapping[str, ir.Kind], seed: ir.Kind, used: Container[str]
) -> Any:
    """The gradients for a batch as a function of the arguments and of `grad_outputs`.

    `made` is the gradient for one cotangent, `used` the parameters that have one; with `value` what
    the function returns comes first.
    """
    text = _Text(made, kinds)
    results = [text.result(item, k, used) for k, item in enumerate(made.request.inputs)]
    given = text.built(SEED, seed, text.cotangent)
    if not text.seeds:
        raise _no_batch()
    head, uses = head_and_uses(made.primal, kinds, SEED)
    k, size, first, own = text.k, text.size, text.value, text.own
    body = [f"{first} = {own['f']}({', '.join(uses)})"] if value else []
    body += [f"{size} = {own['len']}({text.seeds[0]})"]
    for other in text.seeds[1:]:
        body += [f"if {own['len']}({other}) != {size}:", f"    raise ValueError({_UNEQUAL!r})"]
    body += [f"{name} = {own['np']}.zeros({form})" for name, form, _ in text.rows]
    body += [f"for {k} in {own['range']}({size}):"]
    body += [f"    {text.g} = {own['gradient']}({', '.join([*uses, f'{SEED}={given}'])})"]
    body += [f"    {name}[{k}] = {part}" for name, _, part in text.rows]
    form = made.request.form
    shown = ir.Tuple if form == "tuple" else ir.Dict
    found = results[0] if form == "bare" else _display(shown, form, results)
    body += [f"return {first}, {found}" if value else f"return {found}"]
    meant = {"np": np, "f": made.primal, "gradient": made, "len": len, "range": range}
    space = {own[base]: value for base, value in meant.items()}
    return with_source(f"def {made.request.name}_batch{head}:", body, space)


_UNEQUAL = "grad_outputs: expected one size of the batch axis"


class _Text:
    """What a text is made of.

    `rows` are the arrays for the gradients, how large each is, and what is put into it; `seeds` are
    the arrays in the batch of cotangents.
    """

    def __init__(self, made: Derivative, kinds: Mapping[str, ir.Kind]) -> None:
        self.made, self.kinds = made, kinds
        self.rows: list[tuple[str, str, str]] = []
        self.seeds: list[str] = []
        params = signature_of(made.primal).parameters
        self.fresh = ir.Fresh({SEED, "ValueError", *params})
        self.k, self.size, self.value, self.g = map(self.name, ("k", "size", "value", "g"))
        self.own = {base: self.name(base) for base in ("np", "f", "gradient", "len", "range")}

    def name(self, base: str) -> str:
        """A name that no parameter has."""
        return self.fresh(base).id

    def built(
        self, what: str, kind: ir.Kind, leaf: Callable[[str, ir.Kind], str], path: str = ""
    ) -> str:
        """A container of a kind written out, with what `leaf` says of the kinds at paths in it."""
        inner = _inner(kind)
        open_ended = isinstance(kind, (ir.Tuple, ir.List, ir.Dict)) and not inner
        if open_ended or isinstance(kind, ir.Object) or getattr(kind, "cls", None) is not None:
            raise UnsupportedError(
                f"`{what}` is or holds an object, or a container of unknown length, and the "
                "gradients for a batch of cotangents (`is_grads_batched`) are differentiated again",
                place_of(self.made.primal),
                remedy="Pass arrays, or tuples, lists and dicts that are written out; or take the "
                "gradient for each cotangent, in a loop.",
            )
        if not inner:
            return leaf(path, kind)
        items = [self.built(what, one, leaf, f"{path}[{key!r}]") for key, one in inner]
        return _display(type(kind), [key for key, _ in inner], items)

    def cotangent(self, path: str, kind: ir.Kind) -> str:
        """One cotangent of a batch, that at `k`."""
        if isinstance(kind, ir.NoneKind):
            return "None"
        self.seeds.append(f"{SEED}{path}")
        return f"{SEED}{path}[{self.k}]"

    def result(self, item: Input, k: int, used: Container[str]) -> str:
        """The gradient of one input, None of one that has none."""
        x, form = spelled(item.param, item.path), self.made.request.form
        key = k if form == "tuple" else None if form == "bare" else form[k]
        part = self.g if form == "bare" else f"{self.g}[{key!r}]"

        def rows(path: str, kind: ir.Kind) -> str:
            if not ir.is_active_kind(kind):
                return "None"
            name = self.name("rows")
            form = self.shape(x + path, kind) + self.dtype(x + path, kind)
            self.rows.append((name, form, part + path))
            return name

        kind = part_of(self.kinds.get(item.param, ir.UNKNOWN), item, self.made.primal)
        is_used = item.param in used
        found = self.built(x, kind, rows if is_used else lambda *_: "None")
        return found if is_used else "None"

    def shape(self, x: str, kind: ir.Kind) -> str:
        """The shape of a batch of gradients of an input."""
        rank, size = ir.rank_of(kind), self.size
        if not rank:
            return size if rank == 0 else f"({size}, *{self.own['np']}.shape({x}))"
        return f"({size}, {', '.join(f'{x}.shape[{k}]' for k in range(rank))})"

    def dtype(self, x: str, kind: ir.Kind) -> str:
        """The dtype of a gradient as another argument, if it needs one."""
        is_double = getattr(kind, "dtype", None) == "float64"
        return "" if is_double else f", {self.own['np']}.result_type({x})"


def _inner(kind: ir.Kind) -> list[tuple[Any, ir.Kind]]:
    """The items of a container by their keys."""
    if isinstance(kind, (ir.Tuple, ir.List)):
        return list(enumerate(kind.items or ()))
    return list(kind.items) if isinstance(kind, ir.Dict) else []


def _display(cls: type[ir.Kind], keys: Iterable[Any], items: list[str]) -> str:
    """A container of some items."""
    if cls is ir.Dict:
        return "{" + ", ".join(f"{key!r}: {item}" for key, item in zip(keys, items)) + "}"
    listed = ", ".join(items)
    return f"[{listed}]" if cls is ir.List else f"({listed},)"


# --- the transform --------------------------------------------------------------------------------


def batched_of(f: Any, options: Options) -> Batched:
    """The gradients for a batch of cotangents, made once as long as the function lives."""
    return made_once(f, ("batched", repr(options)), lambda: Batched(f, options))


class Batched(Derivative):
    """The gradients for a batch of cotangents: one forward and one backward run.

    Where the backward part cannot be written for a batch, it runs once for each item.
    """

    _many: str | None = None

    @entry
    def __call__(self, *args: Any, grad_outputs: Any = None, **kwargs: Any) -> Any:
        """The gradients, each with the batch axis of the cotangents in front."""
        point = Point(self.primal, self._single, args, kwargs)
        value, pull = point.pullback(at_once=True)
        try:
            output = point.output(value)
            gradients = batched(pull, grad_outputs, output, point.inputs, retain_graph=False)
        except CotangentError as error:
            raise placed(error, pull.returns) from None
        self._many = pull.many_source or pull.source
        return self.request.packed(value, gradients)

    @functools.cached_property
    def _single(self) -> Options:
        """The options for one cotangent."""
        return replace(self.options, is_grads_batched=False, value=False)

    def call_signature(self) -> inspect.Signature:
        """The parameters of the function, and the cotangents, which have a structure."""
        return self.__signature__

    def for_kinds(self, kinds: Mapping[str, ir.Kind], arrays: str = ir.HOST.arrays) -> Any:
        """A function that takes the gradients one by one, for arguments of these kinds."""
        kinds = dict(kinds)
        seed = kinds.pop(SEED, ir.NoneKind())
        if self.options.has_aux:
            raise UnsupportedError(
                "gradients for a batch of cotangents (`is_grads_batched`) with `has_aux` are not "
                "differentiated again",
                place_of(self.primal),
                remedy="Let the function return its output alone.",
            )
        options = replace(
            self._single, compile=None, workspace=False, threads=1, again=True
        )
        single = Derivative(self.primal, options)
        single.for_kinds(kinds, arrays)
        keep = self.options.unused != "none"
        params = frozenset(i.param for i in single.request.inputs)
        completed = single.completed(kinds)
        used = params if keep else reached(single, single.request.outputs, completed)
        return rows_of(single, self.options.value, kinds, seed, used)

    def release_workspace(self) -> None:
        """Let go of the memory that `workspace=True` keeps; what somebody holds stays theirs."""
        derivative_of(self.primal, self._single).release_workspace()

    @property
    def source(self) -> str:
        """The forward part and the backward part for a batch, as of the latest call.

        Of one cotangent where they go through it one by one; the plain gradient before a call.
        """
        return self._many or super().source
