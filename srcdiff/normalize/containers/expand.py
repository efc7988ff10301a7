"""Calls on lists, tuples and dicts as their definitions in Python, for what they are given.

Takes a call, its definition (`templates/_containers.py`) and the kinds of the names; gives the
statements that stand for it.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Set
from typing import Any

from srcdiff import ir
from srcdiff.errors import UnsupportedError
from srcdiff.frontend.signatures import bind_displays
from srcdiff.ir.builder import Builder
from srcdiff.ir.frozen import replace
from srcdiff.kinds.calls import atom_kind
from srcdiff.kinds.containers import ENDLESS
from srcdiff.normalize.decompose import Specialiser
from srcdiff.normalize.iteration import endless
from srcdiff.primitives.ops import Op, calling, is_op
from srcdiff.primitives.registry import execute, folder
from srcdiff.primitives.views import is_array
from srcdiff.specialize.fold import Folder
from srcdiff.specialize.inline import function_of, written_out

Made = Mapping[str, ir.Call]
"""Displays, by the names of what is certainly still as they made it."""


@functools.cache
def definitions() -> Any:
    """The module of the definitions."""
    return execute(folder() / "_containers.py")


@functools.cache
def _lowered(definition: Callable[..., Any]) -> tuple[ir.Function, frozenset[str]]:
    """A definition as IR, and those of its parameters that are iterated."""
    found = inspect.signature(definition).parameters.values()
    iterated = frozenset(p.name for p in found if p.annotation == definitions().items)
    return function_of(definition), iterated


class Definitions:
    """Writes definitions in the place of calls."""

    def __init__(self, function: ir.Function, kinds: ir.Kinds) -> None:
        self.whole = function
        self.kinds = kinds
        self.fresh = ir.Fresh(ir.all_names(function))

    def kind(self, atom: ir.Atom) -> ir.Kind:
        """What is known of an atom."""
        return atom_kind(atom.value if isinstance(atom, ir.Star) else atom, self.kinds)

    def is_active(self, atoms: Iterable[ir.Atom]) -> bool:
        """Whether one of some atoms may carry a derivative."""
        return any(ir.is_active_kind(self.kind(a)) for a in atoms)

    def write(
        self,
        name: str,
        call: ir.Call,
        target: ir.Name | None,
        lines: Builder,
        made: Made | None = None,
    ) -> bool:
        """Write what a call does; False if it is none that the definition is for.

        With `made` the items of displays are written one by one.
        """
        callee, iterated = _lowered(getattr(definitions(), name))
        before = Builder(self.fresh, lines.loc)
        bound: dict[str, Any] = dict(bind_displays(callee, call, lines.loc))
        given = ir.names(ir.Call(list, tuple(bound.values())))
        for param in callee.params:
            if param.name in iterated:
                each = bound[param.name].items if param.style == "*" else [bound[param.name]]
                found = [self.items(a, before, made) for a in each]
                bound[param.name] = ir.Tup(tuple(found)) if param.style == "*" else found[0]
        body = written_out(callee, bound, target, lines.loc, self.fresh)
        body = self.decided(body, target, given)
        for reason in (call.args[0] for _, call in calling(body, Op.REFUSE)):
            if reason == ir.Const(""):
                return False
            what, remedy = reason.value.split("\n")  # type: ignore[union-attr]
            raise UnsupportedError(what, lines.loc, remedy=remedy)
        lines.out += [*before.out, *ir.replaced(body, lambda s: replace(s, loc=lines.loc))]
        return True

    def items(self, atom: ir.Atom, lines: Builder, made: Made | None) -> ir.Atom:
        """A sequence that has an index, with the items of something; displays if `made` says."""
        known = None if made is None else display(atom, made)
        if known is not None:
            return ir.Tup(known)
        kind = self.kind(atom)
        plain = isinstance(kind, (ir.List, ir.Tuple, ir.Range)) or is_array(kind)
        if kind == ENDLESS:
            raise endless(lines.loc)
        if plain and isinstance(atom, ir.Name):
            return atom
        return lines.temp(atom) if plain else lines.call(list, atom)

    def decided(
        self, body: ir.Block, target: ir.Name | None, given: tuple[str, ...]
    ) -> ir.Block:
        """A body for what is known of its arguments."""
        known = {n: _of_any_length(self.kinds[n]) for n in given if n in self.kinds}
        where = self.whole.target
        writer = Specialiser(known, self.fresh, "", ir.NOWHERE, where)
        before: ir.Block = ()
        while body != before:  # what a loop fills that is written out is known after it
            folder = Folder(known, writer.temp, where.on_device)
            before, body = body, writer.block(body, folder, {})
            body = _with_displays(body)
        own = ir.bound(body).difference(given, () if target is None else (target.id,))
        body = _without_copies(body, own)
        # What has a name in the definition is a temporary here.
        counters = {s.target.id for s in ir.walk(body) if isinstance(s, ir.For)}
        named = {n: "_" + n.rstrip("_0123456789") for n in own if not ir.is_temporary(n)}
        bases = sorted({**named, **dict.fromkeys(counters, "_k")}.items())
        return ir.rename(body, {n: self.fresh(base).id for n, base in bases})


def _of_any_length(kind: ir.Kind) -> ir.Kind:
    """A kind that does not say how many items or steps there are: loops over them stay loops."""
    if isinstance(kind, (ir.List, ir.Tuple)) and kind.items is not None:
        return type(kind)(None)
    return replace(kind, value=None) if isinstance(kind, ir.Scalar) else kind


def display(atom: ir.Atom, made: Made) -> tuple[ir.Atom, ...] | None:
    """The items of a display of which it is known that nobody has changed it, else None."""
    found = made.get(atom.id) if isinstance(atom, ir.Name) else None
    items = found.args if is_op(found, Op.MAKE_LIST) else None
    items = atom.items if isinstance(atom, ir.Tup) else items
    if any(isinstance(a, ir.Star) for a in items or ()):
        return None
    return items


def _with_displays(block: ir.Block) -> ir.Block:
    """A block whose lists are made where they are first looked at, with what was appended."""
    out: list[ir.Stmt] = []
    made: dict[str, ir.Assign] = {}
    for stmt in (ir.map_blocks(s, _with_displays) for s in block):
        call = ir.call_of(stmt)
        base = call.args[0] if call is not None and call.args else None
        start = made.get(base.id) if isinstance(base, ir.Name) else None
        items = start.rhs.args if start is not None and isinstance(start.rhs, ir.Call) else ()
        if is_op(call, Op.MAKE_LIST) and isinstance(stmt, ir.Assign):
            made[stmt.target.id] = stmt
        elif start is not None and is_op(call, Op.APPEND):
            filled = ir.Call(ir.make_list, (*items, call.args[1]))
            made[start.target.id] = replace(start, rhs=filled)
        elif start is not None and is_op(call, Op.TUPLE):
            out.append(ir.rebuilt(stmt, rhs=ir.Tup(items)))
        else:
            seen = {*ir.used_in(stmt), *ir.bound_in(stmt)} & made.keys()
            out += [*(made.pop(n) for n in sorted(seen)), stmt]
    return (*out, *made.values())


def _without_copies(body: ir.Block, own: Set[str]) -> ir.Block:
    """A body without copies of what is bound once."""
    count = ir.binding_counts(body)
    copies = {
        s.target.id: s.rhs.id
        for s in ir.walk(body)
        if isinstance(s, ir.Assign) and isinstance(s.rhs, ir.Name) and s.target.id in own
        and count[s.target.id] == 1 and (s.rhs.id not in own or count[s.rhs.id] == 1)
    }  # fmt: skip
    for name in copies:
        while copies[name] in copies:
            copies[name] = copies[copies[name]]
    return ir.rename(ir.without(body, copies.keys()), copies)
