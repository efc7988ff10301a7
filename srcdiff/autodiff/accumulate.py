"""Decide how every adjoint is added to: bound first, added in place where it owns its memory.

Takes the `Pair` tree of `reverse`; returns it with every `Accum`, `Demand` and `Reset` replaced by
plain statements.  The walk follows the run order of the backward part, with the state of every
adjoint's name: what it stands for at a point, and where paths meet.  The invariant: an adjoint that
is absent is zero and has no memory; one that is written in place owns its memory.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from enum import IntEnum

import numpy as np

from srcdiff import ir
from srcdiff.analysis.facts import Facts
from srcdiff.ir.frozen import replace
from srcdiff.primitives.effects import is_pure, makes_new, returns_view
from srcdiff.primitives.operation import op_of
from srcdiff.primitives.ops import Op, is_op
from srcdiff.primitives.views import is_array, is_reshaping
from srcdiff.runtime import trees


class State(IntEnum):
    """What an adjoint's name stands for at a point of the backward part."""

    ABSENT = 0
    SHARED = 1  # present; its memory may belong to something else
    OWNED = 2  # present; nobody else has its memory


States = dict[str, State]


def join(a: States, b: States) -> States:
    """The states where two paths meet: present if present on either, owned if owned on both."""
    out: States = {}
    for name in (*a, *b):
        one, two = a.get(name, State.ABSENT), b.get(name, State.ABSENT)
        out[name] = max(one, two) if not (one and two) else min(one, two)
    return out


def loop_join(start: States, end: States) -> States:
    """The states at the start of a loop's body; what is absent before the loop starts as zeros."""
    out = join(start, end)
    for name, state in end.items():
        if state and not start.get(name, State.ABSENT):
            out[name] = State.OWNED
    return out


def zero_adjoint(like: ir.Name, kind: ir.Kind) -> ir.Rhs:
    """A zero adjoint for a primal of a kind."""
    if ir.is_scalar(kind):
        return ir.Const(0.0)
    if is_array(kind) and ir.is_float(kind):
        return ir.Call(np.zeros_like, (like,))
    if ir.is_numeric(kind) or _is_mixed(kind):
        return ir.Call(trees.zeros_like, (like,))  # that of whole numbers has fractions
    return ir.Call(trees.zero_tree, (like,))


def _is_mixed(kind: ir.Kind) -> bool:
    """Whether a list or dict may hold whole numbers among others, which have adjoints then."""
    items = ir.contents(kind) if isinstance(kind, (ir.List, ir.Dict)) else ()
    mixed = any(ir.dtype_of(k) is None for k in items)
    return mixed and all(map(ir.is_numeric, items))


# --- decide how every adjoint is added to: bound first, added in place where it owns its memory --


def accumulate(
    function: ir.Function, facts: Facts, wanted: Mapping[str, ir.Name]
) -> tuple[ir.Function, ir.Block]:
    """The function with plain adjoints, and the statements that make the wanted ones present.

    `wanted` maps adjoints that are returned to their primals: at the end each owns its memory.
    """
    pass_, now = _Accumulate(facts, frozenset(wanted)), States()
    body = pass_.block(function.body, now)
    final: list[ir.Stmt] = []
    for target, like in wanted.items():
        final += pass_.demand(ir.Name(target), like, now, ir.NOWHERE)
    return ir.rebuilt(function, body=body), tuple(final)


class _Accumulate:
    """The pass over a Pair tree, backwards; `now` are the states, which become those before it."""

    def __init__(self, facts: Facts, wanted: frozenset[str]) -> None:
        self.facts, self.wanted = facts, wanted
        # The adjoint of a reshaped array is reshaped as a view only if it lies in C order as well.
        views = facts.aliases.views
        self.in_c_order = {facts.aliases.owner(v) for v in views if is_reshaping(views[v].rhs)}
        self.viewed = {facts.aliases.owner(v) for v in views}
        self.like = {a: ir.Name(n) for n, a in facts.adjoints.items()}

    def block(self, block: ir.Block, now: States) -> ir.Block:
        """A block, its last statement first."""
        out: list[ir.Stmt] = []
        for stmt in reversed(block):
            out += reversed(self.stmt(stmt, now))
        return tuple(reversed(out))

    def stmt(self, stmt: ir.Stmt, now: States) -> ir.Block:
        """One statement of the Pair tree."""
        if type(stmt) is ir.Pair:
            return (ir.Pair(stmt.primal, self.adjoint(stmt.adjoint, now), stmt.loc),)
        if type(stmt) is ir.If:
            return (self.branch(stmt, now),)
        return self.loop(stmt, now) if isinstance(stmt, (ir.For, ir.While)) else (stmt,)

    def branch(self, stmt: ir.If, now: States) -> ir.If:
        """Both branches; an adjoint that only one of them makes is made zero in the other.

        One that is returned is copied in that branch in which it shares memory.
        """
        one, two = dict(now), dict(now)
        body, orelse = self.block(stmt.body, one), self.block(stmt.orelse, two)
        first, second = self.copies(one, two, stmt.loc), self.copies(two, one, stmt.loc)
        joined = join(one, two)
        body = (*self.zeros(one, joined, stmt.loc), *first, *body)
        orelse = (*self.zeros(two, joined, stmt.loc), *second, *orelse)
        now.clear()
        now.update(joined)
        return replace(stmt, body=body, orelse=orelse)

    def loop(self, stmt: ir.For | ir.While, now: States) -> ir.Block:
        """A loop to a fixpoint of the states at the start of its backward body.

        Shared adjoints that the loop writes into are copied once, before it.
        """
        demanded = {s.target.id for s in ir.walk((stmt,)) if type(s) is ir.Demand}
        copies = self.owned((n for n in demanded if now.get(n) == State.SHARED), now, stmt.loc)
        outside = dict(now)
        while True:
            end = dict(now)
            body = self.block(stmt.body, end)
            self.block(stmt.cond if type(stmt) is ir.While else (), end)
            start = loop_join(now, end)
            if start == now:
                break
            now.update(start)
        body = (*self.zeros(end, now, stmt.loc), *body)
        return (replace(stmt, body=body), *copies, *self.zeros(outside, now, stmt.loc))

    def owned(self, names: Iterable[str], now: States, loc: ir.Loc) -> ir.Block:
        """Pairs that copy adjoints which may share memory."""
        copies = (tuple(self.demand(ir.Name(n), self.like[n], now, loc)) for n in sorted(names))
        return tuple(ir.Pair(None, copy, loc) for copy in copies)

    def copies(self, have: States, other: States, loc: ir.Loc) -> ir.Block:
        """Pairs that copy the wanted adjoints that share memory only in this branch."""
        shared = (n for n in self.wanted if have.get(n) == State.SHARED != other.get(n))
        return self.owned(shared, have, loc)

    def zeros(self, have: States, want: States, loc: ir.Loc) -> ir.Block:
        """Pairs that make zero adjoints for the names that are present only in `want`."""
        return tuple(ir.Pair(None, (s,), loc) for s in self.missing(have, want, loc))

    def missing(self, have: States, want: States, loc: ir.Loc) -> list[ir.Stmt]:
        """Statements that make zero adjoints for the names that are present only in `want`."""
        names = sorted(n for n in want if want[n] and not have.get(n, State.ABSENT))
        return [ir.Assign(ir.Name(n), self.zero(self.like[n]), loc) for n in names]

    def zero(self, like: ir.Name) -> ir.Rhs:
        """A zero adjoint for a primal."""
        return zero_adjoint(like, self.facts.kind(like))

    def adjoint(self, block: ir.Block, now: States) -> ir.Block:
        """The adjoint statements of one pair."""
        if self.nothing_flows(block, now):
            return ()
        block = _doubled(block, self.facts.fresh)
        self.uses = ir.use_counts(block)
        self.fresh_temps: set[str] = set()
        self.cotangents: set[str] = set()
        self.resets = {s.target.id for s in block if type(s) is ir.Reset}
        out = [made for stmt in block for made in self.adjoint_stmt(stmt, now)]
        for name in ir.bound(block):
            if name not in self.like:
                now.pop(name, None)
        return tuple(out)

    def nothing_flows(self, block: ir.Block, states: States) -> bool:
        """Whether every adjoint that a pair starts from is absent, so that it adds nothing.

        To an item of a container the cotangent is added by reading it, absent as it is.
        """
        if self.facts.seed in ir.used(block):
            return False
        sources = {n for s in ir.walk(block) for n in self.sources(s)}
        return bool(sources) and all(self.absent(n, states) for n in sources)

    def sources(self, stmt: ir.Stmt) -> list[str]:
        """The adjoints whose value a statement passes on (not those that it adds to)."""
        if isinstance(stmt, (ir.Demand, ir.Reset)):
            return []
        target = stmt.target.id if type(stmt) is ir.Assign else ""
        if target in self.like and self.is_view(target):
            return []
        if type(stmt) is ir.AugAssign and stmt.base.id in self.like:
            return [n for n in ir.names(stmt.value) if n in self.like]
        return [n for n in ir.reads(stmt) if n in self.like]

    def absent(self, adjoint: str, states: States) -> bool:
        """Whether an adjoint (or the one that it is a view of) is absent."""
        owner = self.facts.aliases.owner(self.like[adjoint].id)
        if owner in self.facts.shadowed:
            return False
        return states.get(self.facts.adjoints[owner], State.ABSENT) == State.ABSENT

    def adjoint_stmt(self, stmt: ir.Stmt, now: States) -> list[ir.Stmt]:
        """One adjoint statement, with its effect on the states."""
        if type(stmt) is ir.Accum:
            return self.accum(stmt, now)
        if type(stmt) is ir.Demand:
            return self.demand(stmt.target, stmt.like, now, stmt.loc)
        if type(stmt) is ir.Reset:
            now.pop(stmt.target.id, None)
            return []
        if type(stmt) is ir.If:
            return self.inner_if(stmt, now)
        if type(stmt) is ir.For:
            return self.inner_for(stmt, now)
        if type(stmt) is ir.Assign:
            self.note_fresh(stmt, now)
        return [*self.present(stmt, now), stmt]

    def present(self, stmt: ir.Stmt, now: States) -> list[ir.Stmt]:
        """Zeros for the adjoints that a plain statement reads and that are absent."""
        out: list[ir.Stmt] = []
        for name in ir.reads(stmt):
            made = name not in self.like or self.like[name].id in self.facts.shadowed
            if not made and name not in now and not self.is_view(name):
                out += self.demand(ir.Name(name), self.like[name], now, ir.NOWHERE)
        return out

    def is_view(self, adjoint: str) -> bool:
        """Whether an adjoint is a view of another one, made where it is used."""
        return self.like[adjoint].id in self.facts.aliases.views

    def inner_if(self, stmt: ir.If, now: States) -> list[ir.Stmt]:
        """A run-time `if` of a template."""
        one, two = dict(now), dict(now)
        body = [made for s in stmt.body for made in self.adjoint_stmt(s, one)]
        orelse = [made for s in stmt.orelse for made in self.adjoint_stmt(s, two)]
        now.clear()
        now.update(join(one, two))
        body += self.missing(one, now, stmt.loc)
        orelse += self.missing(two, now, stmt.loc)
        return [replace(stmt, body=tuple(body), orelse=tuple(orelse))]

    def inner_for(self, stmt: ir.For, now: States) -> list[ir.Stmt]:
        """A run-time loop of a template; what it adds to is there before it."""
        out: list[ir.Stmt] = []
        for inner in ir.walk(stmt.body):
            if type(inner) is ir.Accum:
                out += self.demand(inner.target, inner.like, now, stmt.loc)
            out += self.present(inner, now)
        body = tuple(s for inner in stmt.body for s in self.adjoint_stmt(inner, now))
        return [*out, replace(stmt, body=body)]

    def note_fresh(self, stmt: ir.Assign, now: States) -> None:
        """Remember a temporary that holds new memory."""
        rhs, name = stmt.rhs, stmt.target.id
        if type(rhs) is not ir.Call:
            return
        # A cotangent is a copy all through; each of its items is taken once.
        item = is_op(rhs, Op.GETITEM) and set(ir.names(rhs.args[0])) & self.cotangents
        if item or is_op(rhs, Op.COTANGENT):
            self.cotangents.add(name)
        new = makes_new(rhs.fn) and not returns_view(rhs, self.facts.kinds)
        if item or new or (op_of(rhs.fn).is_whole_view and self.owns_alone(rhs.args[0], now)):
            self.fresh_temps.add(name)

    def owns_alone(self, value: ir.Atom, now: States) -> bool:
        """Whether a value has memory of its own, and nobody uses it once more."""
        if type(value) is not ir.Name or self.uses.get(value.id) != 1:
            return False
        given_up = value.id in self.resets and now.get(value.id) == State.OWNED
        return given_up or value.id in self.fresh_temps

    def accum(self, stmt: ir.Accum, now: States) -> list[ir.Stmt]:
        """`target += value`, in the form that the target's state allows."""
        target = stmt.target.id
        assert target not in self.like or not self.is_view(target), f"{target} is a view"
        state = now.get(target, State.ABSENT)
        value = stmt.value
        if type(value) is ir.Name and value.id in self.like and self.absent(value.id, now):
            return []
        if stmt.like.id in self.facts.shadowed:
            return [self.added_into(stmt)]
        if stmt.like.id in self.in_c_order or self.is_zero_dimensional(stmt.like):
            made = self.demand(stmt.target, stmt.like, now, stmt.loc)
            return [*made, ir.AugAssign(stmt.target, None, value, "+", loc=stmt.loc)]
        if state == State.ABSENT:
            now[target] = self.state_of(value, now)
            return [ir.Assign(stmt.target, value, stmt.loc)]
        kind = self.facts.kind(stmt.like)
        # What may be a whole number may have been given None by the container that it was in.
        numeric = ir.is_numeric(kind) and ir.dtype_of(kind) is not None
        owned = state == State.OWNED
        # Where there are views of it, they show what is added.
        stays = owned and stmt.like.id in self.viewed
        if stays and not numeric:
            return [self.added_into(stmt)]
        if stays or (owned and numeric and is_array(kind)):
            return [ir.AugAssign(stmt.target, None, value, "+", loc=stmt.loc)]
        now[target] = State.OWNED
        total = ir.Call(operator.add if numeric else trees.add_tree, (stmt.target, value))
        return [ir.Assign(stmt.target, total, stmt.loc)]

    def added_into(self, stmt: ir.Accum) -> ir.Stmt:
        """`target += value` in the memory of a shadow, or of what has views."""
        if is_array(self.facts.kinds.get(stmt.like.id)):
            return ir.AugAssign(stmt.target, None, stmt.value, "+", loc=stmt.loc)
        return ir.Effect(ir.Call(trees.add_into, (stmt.target, stmt.value)), stmt.loc)

    def is_zero_dimensional(self, like: ir.Name) -> bool:
        """Whether a primal is an array without axes: sums of its adjoint would be numbers."""
        kind = self.facts.kinds.get(like.id)
        return is_array(kind) and kind.dims == () and not self.facts.target.on_device

    def state_of(self, value: ir.Atom, now: States) -> State:
        """Who owns the memory of a contribution that is the first one."""
        if type(value) is not ir.Name:
            return State.OWNED
        if self.uses.get(value.id, 0) > 1:
            return State.SHARED
        if value.id in self.fresh_temps:
            return State.OWNED
        return now.get(value.id, State.SHARED) if value.id in self.resets else State.SHARED

    def demand(self, target: ir.Name, like: ir.Name, now: States, loc: ir.Loc) -> list[ir.Stmt]:
        """Statements after which `target` is present and owns its memory."""
        if like.id in self.facts.shadowed:
            return []
        state = now.get(target.id, State.ABSENT)
        now[target.id] = State.OWNED
        if state == State.OWNED:
            return []
        new = self.zero(like) if state == State.ABSENT else self.copied(target, like)
        return [ir.Assign(target, new, loc)]

    def copied(self, target: ir.Name, like: ir.Name) -> ir.Rhs:
        """A copy of an adjoint that may share memory."""
        kind = self.facts.kind(like)
        if ir.is_scalar(kind):
            return target
        return ir.Call(np.copy if is_array(kind) else trees.copy_tree, (target,))


def _doubled(block: ir.Block, fresh: ir.Fresh) -> ir.Block:
    """A block in which two equal contributions to one adjoint (of `x * x`) are one, doubled."""
    targets = [s.target.id for s in block if type(s) is ir.Accum]
    if len(targets) == len(set(targets)):
        return block
    values = {s.target.id: s.rhs for s in block if type(s) is ir.Assign}
    last: dict[tuple[str, ir.Rhs], int] = {}
    out: list[ir.Stmt | None] = []
    for stmt in block:
        read = ir.names(stmt.value) if type(stmt) is ir.Accum else ()
        made = values.get(read[0]) if read else None
        if type(stmt) is not ir.Accum or type(made) is not ir.Call or not is_pure(made.fn):
            out.append(stmt)
            continue
        key = (stmt.target.id, made)
        if key in last:
            out[last.pop(key)] = None
            twice = fresh()
            double = ir.Call(operator.mul, (ir.Const(2.0), stmt.value))
            out.append(ir.Assign(twice, double, stmt.loc))
            stmt = replace(stmt, value=twice)
        else:
            last[key] = len(out)
        out.append(stmt)
    return tuple([s for s in out if s is not None])
