"""Gradients for a batch of cotangents as a plain function, where they are differentiated again.

Such a function takes the gradient for one cotangent after the other, in a loop, and is read and
differentiated like any other.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from typing import Any

import numpy as np

from srcdiff import ir
from srcdiff.api.again import heads_and_uses
from srcdiff.driver.derivative import Derivative
from srcdiff.driver.options import part_of
from srcdiff.errors import CotangentError, UnsupportedError
from srcdiff.frontend.onecall import place_of, signature_of
from srcdiff.frontend.request import Input, spelled
from srcdiff.ir import SEED
from srcdiff.ir.kinds import (
    UNKNOWN,
    Dict,
    Kind,
    List,
    NoneKind,
    Object,
    Tuple,
    is_active_kind,
    rank_of,
)
from srcdiff.runtime.implicit import with_source


def rows_of(
    made: Derivative, value: bool, kinds: Mapping[str, Kind], seed: Kind, used: Container[str]
) -> Any:
    """The gradients for a batch as a function of the arguments and of `grad_outputs`.

    `made` is the gradient for one cotangent, `used` the parameters that have one; with `value` what
    the function returns comes first.
    """
    for what, kind in _asked(made, kinds, seed):
        _check_known(what, kind, made.primal)
    text = _Text(made, kinds)
    leaves = list(_leaves(SEED, seed))
    if not leaves:
        raise CotangentError(
            "grad_outputs: expected at least one cotangent with a batch axis, as "
            "is_grads_batched=True says, given None"
        )
    results = [text.result(item, k, used) for k, item in enumerate(made.request.inputs)]
    heads, uses = heads_and_uses(made.primal, kinds, SEED)
    k, size, first, own = text.k, text.size, text.value, text.own
    body = [f"{first} = {own['f']}({', '.join(uses)})"] if value else []
    body += [f"{size} = {own['len']}({leaves[0]})"]
    for other in leaves[1:]:
        body += [f"if {own['len']}({other}) != {size}:", f"    raise ValueError({_UNEQUAL!r})"]
    body += [f"{name} = {own['np']}.zeros({zero})" for name, zero in text.zeros]
    body += [f"for {k} in {own['range']}({size}):"]
    given = [*uses, f"{SEED}={_item(SEED, seed, k)}"]
    body += [f"    {text.g} = {own['gradient']}({', '.join(given)})"]
    body += [f"    {name}[{k}] = {part}" for name, part in text.parts]
    found = _arranged(made.request.form, results)
    body += [f"return {first}, {found}" if value else f"return {found}"]
    meant = {"np": np, "f": made.primal, "gradient": made, "len": len, "range": range}
    space = {own[base]: value for base, value in meant.items()}
    return with_source(f"def {made.request.name}_batch({', '.join(heads)}):", body, space)


def _asked(
    made: Derivative, kinds: Mapping[str, Kind], seed: Kind
) -> Iterator[tuple[str, Kind]]:
    """The inputs and the cotangents with their kinds."""
    for item in made.request.inputs:
        yield spelled(item.param, item.path), _kind_of(item, made, kinds)
    yield SEED, seed


def _kind_of(item: Input, made: Derivative, kinds: Mapping[str, Kind]) -> Kind:
    """The kind of an input."""
    return part_of(kinds.get(item.param, UNKNOWN), item, made.primal)


_UNEQUAL = "grad_outputs: expected one size of the batch axis"


def _leaves(text: str, kind: Kind) -> Iterator[str]:
    """The arrays in a batch of cotangents."""
    for key, inner in _inner(kind):
        yield from _leaves(f"{text}[{key!r}]", inner)
    if not _is_structure(kind) and not isinstance(kind, NoneKind):
        yield text


def _item(text: str, kind: Kind, k: str) -> str:
    """One cotangent of a batch, that at `k`."""
    if isinstance(kind, NoneKind):
        return "None"
    if not _is_structure(kind):
        return f"{text}[{k}]"
    return _display(kind, [_item(f"{text}[{key!r}]", inner, k) for key, inner in _inner(kind)])


class _Text:
    """The arrays for the gradients, what each begins as, and what is put into it."""

    def __init__(self, made: Derivative, kinds: Mapping[str, Kind]) -> None:
        self.made, self.kinds = made, kinds
        self.zeros: list[tuple[str, str]] = []
        self.parts: list[tuple[str, str]] = []
        params = signature_of(made.primal).parameters
        self.fresh = ir.Fresh({SEED, "ValueError", *params})
        self.k, self.size, self.value, self.g = map(self.name, ("k", "size", "value", "g"))
        self.own = {base: self.name(base) for base in ("np", "f", "gradient", "len", "range")}

    def name(self, base: str) -> str:
        """A name that no parameter has."""
        return self.fresh(base).id

    def result(self, item: Input, k: int, used: Container[str]) -> str:
        """The gradient of one input, None of one that has none."""
        if item.param not in used:
            return "None"
        kind = _kind_of(item, self.made, self.kinds)
        form = self.made.request.form
        key = k if form == "tuple" else None if form == "bare" else form[k]
        part = self.g if form == "bare" else f"{self.g}[{key!r}]"
        return self.arrays(spelled(item.param, item.path), part, kind)

    def arrays(self, x: str, part: str, kind: Kind) -> str:
        """The gradient of a part of an input."""
        if _is_structure(kind):
            inner = [self.arrays(f"{x}[{k!r}]", f"{part}[{k!r}]", v) for k, v in _inner(kind)]
            return _display(kind, inner)
        if not is_active_kind(kind):
            return "None"
        name = self.name("rows")
        self.zeros.append((name, self.shape(x, kind) + self.dtype(x, kind)))
        self.parts.append((name, part))
        return name

    def shape(self, x: str, kind: Kind) -> str:
        """The shape of a batch of gradients of an input."""
        rank, size = rank_of(kind), self.size
        if not rank:
            return size if rank == 0 else f"({size}, *{self.own['np']}.shape({x}))"
        return f"({size}, {', '.join(f'{x}.shape[{k}]' for k in range(rank))})"

    def dtype(self, x: str, kind: Kind) -> str:
        """The dtype of a gradient as another argument, if it needs one."""
        is_double = getattr(kind, "dtype", None) == "float64"
        return "" if is_double else f", {self.own['np']}.result_type({x})"


def _is_structure(kind: Kind) -> bool:
    """Whether a value is a container of arrays or of containers, all known."""
    return any(True for _ in _inner(kind))


def _inner(kind: Kind) -> list[tuple[Any, Kind]]:
    """The items of a container by their keys."""
    if isinstance(kind, (Tuple, List)):
        return list(enumerate(kind.items or ()))
    return list(kind.items) if isinstance(kind, Dict) else []


def _display(kind: Kind, items: list[str]) -> str:
    """A container of a kind with other items."""
    if isinstance(kind, Dict):
        pairs = zip((key for key, _ in kind.items), items)
        return "{" + ", ".join(f"{key!r}: {item}" for key, item in pairs) + "}"
    listed = ", ".join(items)
    return f"[{listed}]" if isinstance(kind, List) else f"({listed},)"


def _arranged(form: Any, results: list[str]) -> str:
    """The gradients of all inputs in the structure of these."""
    if form == "bare":
        return results[0]
    if form == "tuple":
        return f"({', '.join(results)},)"
    return "{" + ", ".join(f"{key!r}: {item}" for key, item in zip(form, results)) + "}"


def _check_known(what: str, kind: Kind, f: Any) -> None:
    """Refuse objects, and containers of which nothing is known."""
    inner = [kind for _, kind in _inner(kind)]
    for one in inner:
        _check_known(what, one, f)
    open_ended = isinstance(kind, (Tuple, List, Dict)) and not inner
    if open_ended or isinstance(kind, Object) or getattr(kind, "cls", None) is not None:
        raise UnsupportedError(
            f"`{what}` is or holds an object, or a container of unknown length, and the gradients "
            "for a batch of cotangents (`is_grads_batched`) are differentiated again",
            place_of(f),
            remedy="Pass arrays, or tuples, lists and dicts that are written out; or take the "
            "gradient for each cotangent, in a loop.",
        )
