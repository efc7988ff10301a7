"""The outputs that a request selects.

Takes a function; returns it with `(what it returned, the selected outputs)` as its value.  Where
the kind of what it returns is known, an output that does not exist is refused at once.
"""

from __future__ import annotations

import functools
import operator
from typing import Any

from srcdiff import ir
from srcdiff.errors import TransformError, refused
from srcdiff.frontend.request import Nested, Request
from srcdiff.ir.builder import Builder
from srcdiff.ir.frozen import replace, state
from srcdiff.kinds.calls import atom_kind
from srcdiff.kinds.interpreter import infer
from srcdiff.normalize.live_ranges import webs
from srcdiff.primitives.effects import displayed
from srcdiff.primitives.ops import Op, is_op


def select(function: ir.Function, request: Request, kinds: ir.Kinds | None = None) -> ir.Function:
    """The function that returns `(what it returned, the selected outputs)`."""
    last = function.body[-1]
    assert isinstance(last, ir.Return)
    chosen = _Chosen(function, last, kinds or {})
    value = last.value
    if request.has_aux:
        value = chosen.first(value)
    if request.outputs is not None:
        value = chosen.selected(value, request.outputs)
    elif isinstance(value, ir.Const) and isinstance(value.value, (float, complex)):
        value = chosen.lines.temp(value, "_out")  # that no input reaches
    elif isinstance(value, ir.Const):
        fields = {"function": function.name, "value": value.value}
        raise refused("inputs.constant", last.loc, TransformError, **fields)
    both = replace(last, value=ir.Tup((last.value, value)))
    return ir.rebuilt(function, body=(*function.body[:-1], *chosen.lines.out, both))


def selected_names(function: ir.Function) -> tuple[str, ...]:
    """The names of the selected outputs, in what `select` made."""
    last = function.body[-1]
    assert isinstance(last, ir.Return) and isinstance(last.value, ir.Tup)
    return ir.names(last.value.items[1])


def with_written(function: ir.Function, params: tuple[str, ...], kinds: ir.Kinds) -> ir.Function:
    """The function that returns the final contents of some parameters behind its result.

    A list is changed by its own name alone, which calls in the function bind anew.
    """
    if not params:
        return function
    fresh = ir.Fresh(ir.all_names(function))
    held = {p: fresh(f"_{p}") for p in params if not isinstance(kinds.get(p), ir.List)}
    start = tuple(ir.Assign(n, ir.Name(p), function.loc) for p, n in held.items())
    last = function.body[-1]
    assert isinstance(last, ir.Return)
    value = ir.Tup((last.value, *(held.get(p, ir.Name(p)) for p in params)))
    return ir.rebuilt(function, body=(*start, *function.body[:-1], replace(last, value=value)))


@state
class _Chosen:
    """The items of what a function returns, with the lines that take them out of it."""

    function: ir.Function
    last: ir.Return
    kinds: ir.Kinds

    def __post_init__(self) -> None:
        self.lines = Builder(ir.Fresh(ir.all_names(self.function)), self.last.loc)
        self.written_out = _written_out(self.function)

    def first(self, value: ir.Atom) -> ir.Atom:
        """The output of `(output, aux)`."""
        kind = atom_kind(value, self.kinds)
        single = isinstance(value, ir.Const) or isinstance(
            kind, (ir.Scalar, ir.Array, ir.Dict, ir.NoneKind)
        )
        items = kind.items if isinstance(kind, ir.Tuple) else None
        if single or (items is not None and len(items) != 2):
            raise refused("inputs.aux", self.last.loc, TransformError, function=self.function.name)
        return self.item(value, 0)

    def selected(self, value: ir.Atom, outputs: Any) -> ir.Atom:
        """One selected output, or a tuple of them."""
        if isinstance(outputs, Nested):
            return functools.reduce(self.item, outputs, value)
        if isinstance(outputs, (tuple, list)):
            return ir.Tup(tuple(self.selected(value, o) for o in outputs))
        if isinstance(outputs, str) and outputs in {p.name for p in self.function.params}:
            return ir.Name(outputs)
        return self.item(value, outputs)

    def item(self, value: ir.Atom, key: Any) -> ir.Atom:
        """One item of what the function returns."""
        there = self.written_out.get(value.id, {}) if isinstance(value, ir.Name) else {}
        if key in there:
            return there[key]
        kind = atom_kind(value, self.kinds)
        known = _known(kind)
        if known is None or isinstance(value, ir.Const):
            if key in (0, -1) and not isinstance(key, str):
                return value
            raise self.unknown(key, "it returns a single value")
        if (known or isinstance(value, ir.Tup)) and key not in known:
            raise self.unknown(key, _listed(kind, known))
        if isinstance(value, ir.Tup):
            return value.items[int(key)]
        return self.lines.temp(ir.Call(operator.getitem, (value, ir.Const(key))), "_out")

    def unknown(self, key: Any, why: str) -> TransformError:
        """The error for an output that the function does not have."""
        fields = {"function": self.function.name, "key": key, "why": why}
        return refused("inputs.output", self.last.loc, TransformError, **fields)


def _written_out(function: ir.Function) -> dict[str, dict[Any, ir.Atom]]:
    """The items of what is written out as a tuple, list or dict, under a name that is bound once.

    Of what has one value, at the end of the function as where it was written; a list or dict is
    used nowhere else.
    """
    count = ir.binding_counts(function)
    count.update(p.name for p in function.params)
    used = ir.use_counts(function)
    found: dict[str, dict[Any, ir.Atom]] = {}
    for stmt in function.body:
        if isinstance(stmt, ir.Assign) and count[stmt.target.id] == 1:
            immutable = isinstance(stmt.rhs, ir.Tup)
            items = _items(stmt.rhs) if immutable or used[stmt.target.id] == 1 else {}
            if items and all(count[n] == 1 for i in items.values() for n in ir.names(i)):
                found[stmt.target.id] = items
    return found


def _items(rhs: ir.Rhs) -> dict[Any, ir.Atom]:
    """The items of a tuple, list or dict by key, or by position from either end."""
    shown = list(displayed(rhs) or ())
    if not all(isinstance(k, ir.Const) and not isinstance(v, ir.Star) for k, v in shown):
        return {}
    items = {k.value: v for k, v in shown if isinstance(k, ir.Const)}
    placed = isinstance(rhs, ir.Tup) or is_op(rhs, Op.MAKE_LIST)
    return {**items, **({k - len(items): v for k, v in items.items()} if placed else {})}


def _known(kind: ir.Kind) -> tuple[Any, ...] | None:
    """The keys of what is returned: none where they are unknown, None for a single value."""
    if isinstance(kind, ir.Array) and kind.maybe_scalar:
        return ()
    if isinstance(kind, (ir.Scalar, ir.Array)):
        return None
    if isinstance(kind, ir.Dict) and kind.item is None:
        return tuple(key for key, _ in kind.items)
    if isinstance(kind, (ir.Tuple, ir.List)) and kind.items is not None:
        return tuple(range(-len(kind.items), len(kind.items)))
    return ()


def _listed(kind: ir.Kind, known: tuple[Any, ...]) -> str:
    """What there is instead."""
    if isinstance(kind, ir.Dict):
        return f"the keys are {', '.join(map(repr, known))}"
    count = len(known) // 2
    return f"it returns {count} value{'s' if count != 1 else ''}"


def returned_kinds(function: ir.Function, params: ir.Kinds) -> ir.Kinds:
    """The kinds of the names that a function returns."""
    last, named = function.body[-1], webs(function)
    final = named.body[-1]
    assert isinstance(last, ir.Return) and isinstance(final, ir.Return)
    kinds = infer(named, params)
    new = zip(ir.names(last.value), ir.names(final.value))
    return {old: kinds[n] for old, n in new if n in kinds}
