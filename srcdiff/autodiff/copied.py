"""The numbers in copies of containers whose items have shadows.

A copy of a list has a copy of its shadow, which holds the same shadows of arrays and zeros in the
place of numbers.  The backward part gives what is added to these to the numbers that were copied.
"""

from __future__ import annotations

import operator

from srcdiff import ir
from srcdiff.analysis.facts import Facts
from srcdiff.autodiff.containers import take
from srcdiff.errors import UnsupportedError
from srcdiff.ir.builder import Lines
from srcdiff.ir.kinds import UNKNOWN, Dict, Kind, List, contents, is_active_kind, is_container
from srcdiff.primitives.views import is_array_if_any
from srcdiff.runtime import sequences, trees
from srcdiff.runtime.devices import on_device

_WHOLE = (list, tuple, dict, ir.Method("copy"))
"""What makes a new container of all the items of another."""


def copied_numbers(stmt: ir.Assign, facts: Facts) -> ir.Block:
    """The adjoint of a copy of containers: its numbers are numbers of their own."""
    call = stmt.rhs
    if not isinstance(call, ir.Call) or not call.args or not _is_copy(stmt, call, facts):
        return ()
    if not any(map(_may_be_number, _items(facts.kinds[stmt.target.id]))):
        return ()
    lines = Lines(facts.fresh, stmt.loc)
    if on_device() or call.fn is operator.mul:  # there they have arrays as adjoints
        raise UnsupportedError(
            "a container of numbers that is known by several names, or holds arrays that are "
            "written in place, cannot be copied here",
            stmt.loc,
            remedy="Keep the numbers in a container of their own.",
        )
    if call.fn is operator.add:
        _add_joined(call, facts.adjoint(stmt.target.id), facts, lines)
    else:
        _add_part(call, facts.adjoint(stmt.target.id), facts, lines)
    return tuple(lines.out)


def check_part(stmt: ir.SetItem, facts: Facts) -> None:
    """Refuse `xs[1:] = ys` of lists that may hold numbers."""
    kind = facts.kinds.get(stmt.base.id)
    if not isinstance(stmt.index, ir.Slice) or is_array_if_any(kind):
        return
    if any(map(_may_be_number, _items(kind or UNKNOWN))):
        raise UnsupportedError(
            "numbers are stored in a part of a list whose memory has another name",
            stmt.loc,
            remedy="Store them one by one.",
        )


def _add_part(call: ir.Call, source: ir.Name, facts: Facts, lines: Lines) -> None:
    """Numbers of a copy of a container, or of a slice of it."""
    (base, *rest) = call.args
    if isinstance(base, ir.Tup):
        _add_items(base, 0, source, facts, lines)
        return
    if not isinstance(base, ir.Name) or base.id not in facts.active:
        return
    to = facts.adjoint(base.id)
    if call.fn is operator.getitem and rest[0] != ir.Slice(ir.NONE, ir.NONE, ir.NONE):
        _effect(sequences.add_to_part, (to, source, rest[0]), lines)
    else:
        _effect(trees.add_numbers, (to, source), lines)


def _add_items(
    display: ir.Tup, first: int, source: ir.Name, facts: Facts, lines: Lines
) -> None:
    """Numbers of a display, which are found from the place `first` on."""
    for k, item in enumerate(display.items, first):
        if isinstance(item, ir.Name) and item.id in facts.active and _is_number(item, facts):
            lines.out += take(source, (ir.Const(k),), item, facts, lines.loc)


def _add_joined(call: ir.Call, source: ir.Name, facts: Facts, lines: Lines) -> None:
    """Numbers of the operands of a concatenation."""
    one, two = call.args
    split: ir.Atom
    if isinstance(one, ir.Tup):
        split = ir.Const(len(one.items))
        _add_items(one, 0, source, facts, lines)
    else:
        split = lines.call(len, one)
    if isinstance(two, ir.Tup):
        _add_items(two, -len(two.items), source, facts, lines)
    places = ir.Slice(ir.NONE, split, ir.NONE), ir.Slice(split, ir.NONE, ir.NONE)
    for name, place in zip((one, two), places):
        if isinstance(name, ir.Name) and name.id in facts.active:
            _effect(trees.add_numbers, (facts.adjoint(name.id), lines.item(source, place)), lines)


def _effect(fn: ir.Callee, args: tuple[ir.Atom, ...], lines: Lines) -> None:
    lines.out.append(ir.Effect(ir.Call(fn, args), lines.loc))


def _is_copy(stmt: ir.Assign, call: ir.Call, facts: Facts) -> bool:
    """Whether a statement makes a new container of the items of others."""
    if is_array_if_any(facts.kinds.get(stmt.target.id)):
        return False
    if call.fn is operator.getitem:
        return isinstance(call.args[1], ir.Slice)
    return call.fn in (*_WHOLE, operator.add, operator.mul)


def _is_number(name: ir.Name, facts: Facts) -> bool:
    """Whether an item of a display has no shadow."""
    return not facts.aliases.is_unclear(name.id)


def _items(kind: Kind) -> tuple[Kind, ...]:
    """The kinds of the items of a container."""
    if isinstance(kind, (List, Dict)):
        return contents(kind)
    return (getattr(kind, "items", None) or ()) or (getattr(kind, "item", None) or UNKNOWN,)


def _may_be_number(kind: Kind) -> bool:
    """Whether an item of a container may be an active number."""
    return is_active_kind(kind) and not is_array_if_any(kind) and not is_container(kind)
