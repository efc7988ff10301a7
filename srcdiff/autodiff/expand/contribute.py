"""What an expansion writes: temporaries, and contributions to the adjoints of arguments."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Union

import numpy as np

from srcdiff import ir
from srcdiff.analysis.complexes import is_complex_kind
from srcdiff.analysis.facts import Facts
from srcdiff.errors import MissingRuleError, UnsupportedError
from srcdiff.ir.kinds import UNKNOWN, Kind, List, Tuple, is_active_kind, is_numeric, is_real, sure
from srcdiff.kinds.calls import surely
from srcdiff.primitives.arguments import REMEDY
from srcdiff.primitives.registry import Bound
from srcdiff.runtime import arrays, trees
from srcdiff.specialize.folding import Folder

Statement = Union[ir.Assign, ir.Effect, ir.SetItem]


class Writer:
    """The statements written so far, for one call with its rule."""

    def __init__(self, bound: Bound, stmt: Statement, facts: Facts) -> None:
        self.bound, self.stmt, self.facts = bound, stmt, facts
        self.rule = bound.rule
        self.env: dict[str, ir.Atom] = dict(bound.args)
        self.out: list[ir.Stmt] = []
        rhs = None if isinstance(stmt, ir.SetItem) else stmt.rhs
        scalar_math = getattr(getattr(rhs, "fn", None), "__module__", "") == "math"
        kinds = _without_none(rhs, facts.kinds)
        self.folder = Folder(kinds, self.temp, scalar_math, facts.complex)
        self.result: ir.Name | None = None

    @property
    def loc(self) -> ir.Loc:
        """The place of the user's statement."""
        return self.stmt.loc

    def active(self, name: str) -> bool:
        """Whether a name carries a derivative."""
        return name in self.facts.active

    def error(self, what: str) -> MissingRuleError:
        """The located error for a call that the rule does not cover."""
        return MissingRuleError(f"the rule of {self.bound.name} {what}", self.loc, REMEDY)

    def misused(self, what: str, line: ir.Loc) -> UnsupportedError:
        """The error for a line of the template that says nothing about derivatives."""
        return UnsupportedError(
            f"the rule of {self.bound.name} {what}", line,
            remedy="See templates/README.md for how a rule is written.",
        )  # fmt: skip

    def temp(self, rhs: ir.Rhs, base: str = "_t") -> ir.Name:
        """A new name for a value."""
        name = self.facts.fresh(base)
        self.folder.note(name, rhs)
        self.out.append(ir.Assign(name, rhs, self.loc))
        return name

    # --- contributions ---

    def add(self, target: ir.Atom, value: ir.Atom, param: str) -> None:
        """Add a value to the adjoint of an argument, item by item where that is a sequence."""
        if isinstance(value, ir.Const) or not any(map(self.active, ir.names(target))):
            return
        if isinstance(target, ir.Tup):
            for k, item in enumerate(target.items):
                if any(map(self.active, ir.names(item))):
                    self.add(item, self.item(value, ir.Const(k)), param)
            return
        assert isinstance(target, ir.Name)
        kind = self.folder.kind(target)
        if isinstance(kind, (List, Tuple)):
            self.add_items(self.demand(target), kind, value, target, self.is_shadow(target))
            return
        value = self.fitted(value, target, param)
        self.out.append(ir.Accum(self.facts.adjoint(target.id), value, target, self.loc))

    def item(self, value: ir.Atom, key: ir.Atom) -> ir.Name:
        """`value[key]`."""
        return self.temp(ir.Call(operator.getitem, (value, key)))

    def fitted(self, value: ir.Atom, target: ir.Name, param: str) -> ir.Atom:
        """A contribution in the shape of its operand, and real where that is."""
        if self.rule.flavour == "elementwise" and self.result is not None:
            kind = self.folder.kind(self.result)
            if self.facts.strong and self._reads_primal(value):
                args = (self.facts.adjoint(self.result.id), value)
                value = self.temp(ir.Call(trees.where_nonzero, args))
            value = self.folder.unbroadcast(value, target, kind, self._other_kinds(target))
        return self.real_part(value, self.folder.kind(target), lambda: target)

    def real_part(self, value: ir.Atom, kind: Kind, like: Callable[[], ir.Atom]) -> ir.Atom:
        """A contribution to something of a kind, real where that is; `like` gives what it is to."""
        kind = sure(kind)
        known = not is_numeric(kind) and kind != UNKNOWN  # as something else than a number
        if known or is_complex_kind(kind) or not self.folder.is_complex(value):
            return value
        if is_real(kind):
            return self.temp(ir.Call(np.real, (value,), text="np.real"))
        return self.temp(ir.Call(arrays.real_like, (value, like())))

    def _reads_primal(self, value: ir.Atom) -> bool:
        """Whether a contribution is more than a multiple of the cotangent by a literal."""
        assert self.result is not None
        wanted = set(ir.names(value))
        for stmt in reversed(self.out):
            if isinstance(stmt, ir.Assign) and stmt.target.id in wanted:
                wanted = (wanted - {stmt.target.id}) | set(ir.names(stmt.rhs))
        return wanted != {self.facts.adjoint(self.result.id).id}

    def _other_kinds(self, target: ir.Name) -> list[Kind]:
        """The kinds of the other operands of an elementwise call."""
        found = [a for a in self.bound.args.values() if a not in (target, ir.NONE)]
        return [self.folder.kind(a) for a in found]

    def add_items(
        self,
        adjoint: ir.Name,
        kind: List | Tuple,
        value: ir.Atom,
        like: ir.Atom,
        shared: bool,
    ) -> None:
        """Add the items of an array to those of the adjoint of a list; `shared`: of a shadow."""
        if kind.items is not None:
            for k, item in enumerate(kind.items):
                at = ir.Const(k)
                self.add_item(adjoint, like, at, item, self.item(value, at), shared)
            return
        inner = kind.item if isinstance(kind, List) and kind.item is not None else UNKNOWN
        saved, self.out = self.out, []
        count = self.facts.fresh("_k")
        self.add_item(adjoint, like, count, inner, self.item(value, count), shared)
        body, self.out = tuple(self.out), saved
        length = self.temp(ir.Call(len, (like,), text="len"), "_n")
        loop = ir.Call(range, (length,), text="range")
        self.out.append(ir.For(count, loop, body, None, self.loc))

    def add_item(
        self,
        adjoint: ir.Name,
        like: ir.Atom,
        key: ir.Atom,
        kind: Kind,
        value: ir.Atom,
        shared: bool,
    ) -> None:
        """`adjoint[key] += value`, of an item of a given kind of `like`."""
        if isinstance(kind, (List, Tuple)):
            inner = self.item(like, key) if self.folder.is_complex(value) else value
            self.add_items(self.item(adjoint, key), kind, value, inner, shared)
            return
        value = self.real_part(value, kind, lambda: self.item(like, key))
        if shared and (not is_numeric(kind) or getattr(kind, "dtype", None) is None):
            call = ir.Call(trees.add_shared, (adjoint, key, value))
            self.out.append(ir.Effect(call, self.loc))
        elif not is_numeric(kind) or getattr(kind, "dtype", None) is None:
            # What may be an integer need not have an adjoint.
            total = self.temp(ir.Call(trees.add_tree, (self.item(adjoint, key), value)))
            self.out.append(ir.SetItem(adjoint, key, total, None, self.loc))
        elif is_active_kind(kind):
            self.out.append(ir.SetItem(adjoint, key, value, "+", self.loc))

    def is_shadow(self, target: ir.Name) -> bool:
        """Whether the adjoint of a name is a variable of the forward part."""
        return target.id in self.facts.shadowed

    def demand(self, target: ir.Name) -> ir.Name:
        """The adjoint of a name, as a buffer from here on."""
        adjoint = self.facts.adjoint(target.id)
        self.out.append(ir.Demand(adjoint, target, self.loc))
        return adjoint

    def store(
        self, primal: str, index: ir.Atom | None, value: ir.Atom, op: str | None
    ) -> None:
        """A store into the adjoint of an argument, or into that of an item of a display."""
        target = self.env[primal]
        if isinstance(target, ir.Tup):
            at = None if index is None else self.folder.static(index)
            if op != "+" or not isinstance(at, int):
                raise self.error("needs to know which item of a sequence is meant")
            self.add(target.items[at], value, primal)
            return
        if not isinstance(target, ir.Name) or not self.active(target.id):
            return
        kind = self.folder.kind(target)
        if op == "+" and isinstance(value, ir.Const):
            return
        adjoint = self.demand(target)
        if isinstance(kind, (List, Tuple)) and index is not None:
            found = self.item_kind(kind, index)
            self.add_item(adjoint, target, index, found, value, self.is_shadow(target))
        else:
            self.out.append(ir.SetItem(adjoint, index, value, op, self.loc))

    def item_kind(self, kind: List | Tuple, index: ir.Atom) -> Kind:
        """The kind of an item of a sequence."""
        at = self.folder.static(index)
        if kind.items is not None and isinstance(at, int):
            return kind.items[at]
        return getattr(kind, "item", None) or UNKNOWN


def _without_none(rhs: ir.Rhs | None, kinds: Mapping[str, Kind]) -> Mapping[str, Kind]:
    """The kinds of names where a call has succeeded: of its operands, not None."""
    names = [a for a in getattr(rhs, "args", ()) if isinstance(a, ir.Name)]
    if not isinstance(rhs, ir.Call) or len(names) < len(rhs.args):
        return kinds
    found = [kinds.get(n.id, UNKNOWN) for n in names]
    better = surely(rhs.fn, found)
    return kinds if better is found else {**kinds, **{n.id: k for n, k in zip(names, better)}}


def adjoint_of(name: str) -> str | None:
    """The `x` of the name `d[x]`; None for other names."""
    return name[2:-1] if name.startswith("d[") else None
