"""Reverse mode: every statement of the primal is paired with its adjoint.

Takes a function and the facts about it; returns the same function with a body of `Pair`s, nested in
the same control flow.  The invariant: run backwards, the adjoint of a statement adds to the
adjoints of what it read, and leaves the adjoint of what it bound absent.  Adjoints read primal
names as they are after the statement, or, behind an `Undo`, as they were before it.
"""

from __future__ import annotations

from srcdiff import ir
from srcdiff.analysis.facts import Facts, on_adjoint, with_alias
from srcdiff.autodiff.calls import (
    call_adjoint,
    check_flows,
    is_at_run_time,
    run_time_adjoint,
)
from srcdiff.autodiff.containers import (
    added_item,
    change_adjoint,
    check_items,
    checked_sum,
    concatenation_adjoint,
    cut_adjoint,
    display_adjoint,
    displayed,
    element_adjoint,
    permuted,
    pop_adjoint,
    store_adjoint,
    taken,
)
from srcdiff.autodiff.expand.adjoint import expand
from srcdiff.ir.frozen import replace
from srcdiff.normalize.summaries.effects import is_user_call
from srcdiff.normalize.unpacking import Unpacking, counts, unpacking
from srcdiff.primitives.effects import written_into
from srcdiff.primitives.ops import Op, is_op
from srcdiff.primitives.registry import Store, find


def reverse(function: ir.Function, facts: Facts) -> tuple[ir.Function, Facts]:
    """The function with every statement paired with its adjoint, and what is known of it now."""
    made: dict[str, tuple[str, str]] = {}
    body = _block(function.body, replace(facts, made=made, uses=counts(function)))
    for new, (old, adjoint) in made.items():
        facts = with_alias(facts, new, old, adjoint)
    return replace(function, body=body), facts


def _block(block: ir.Block, facts: Facts) -> ir.Block:
    out: list[ir.Stmt] = []
    at = 0
    while at < len(block):
        found = unpacking(block, at, facts, facts.uses)
        out += _stmt(block[at], facts) if found is None else _unpacked(found, facts)
        at += 1 if found is None else 1 + len(found.rest)
    return tuple(out)


def _unpacked(found: Unpacking, facts: Facts) -> ir.Block:
    """A result unpacked at once: the adjoint of the call stands with the last name."""
    *front, last = (found.call, *found.rest)
    block = _contributions(found.call, found.facts(facts))
    ends = sorted(facts.adjoints[n] for n in found.names.values() if n in facts.active)
    resets = tuple(ir.Reset(ir.Name(n), last.loc) for n in ends)
    adjoint = through_views((*block, *resets), facts, found.call.loc)
    return (*(ir.Pair(s, (), s.loc) for s in front), ir.Pair(last, adjoint, last.loc))


def _stmt(stmt: ir.Stmt, facts: Facts) -> ir.Block:
    """A statement as pairs; control flow keeps its shape."""
    if isinstance(stmt, (ir.If, ir.For)):
        return (ir.map_blocks(stmt, lambda b: _block(b, facts)),)
    if isinstance(stmt, ir.While):
        assert ir.bound(stmt.cond).isdisjoint(ir.used(stmt.body)), "it does more than decide"
        return (replace(stmt, cond=_deciding(stmt.cond), body=_block(stmt.body, facts)),)
    pairs = _shadow_pairs(stmt, facts) or _call_pairs(stmt, facts)
    if pairs:
        return tuple(_pair_through_views(p, facts) for p in pairs)
    if isinstance(stmt, ir.Assign) and stmt.target.id in ir.names(stmt.rhs):
        return _self_assign(stmt, facts)
    return (ir.Pair(stmt, through_views(_adjoint(stmt, facts), facts, stmt.loc), stmt.loc),)


def _deciding(block: ir.Block) -> ir.Block:
    """The condition of a loop as pairs: it does nothing but decide, so nothing flows back.

    A view in it of an array that has an adjoint has none for that.
    """
    return ir.replaced(block, lambda s: ir.Pair(s, (), s.loc) if type(s) in ir.PLAIN else s)


def _shadow_pairs(stmt: ir.Stmt, facts: Facts) -> ir.Block:
    """The pairs of a statement on memory that has shadows, nothing for other statements."""
    if not facts.shadowed:
        return ()
    from srcdiff.autodiff.shadows import shadow_pairs, touches_shadows

    if not touches_shadows(stmt, facts):
        return ()
    return shadow_pairs(stmt, lambda s: _call_pairs(s, facts) or _adjoint(s, facts), facts)


def _call_pairs(stmt: ir.Stmt, facts: Facts) -> ir.Block:
    """The pairs of a call that stays one, nothing for other statements."""
    if isinstance(stmt, ir.Assign) and is_at_run_time(stmt.rhs):
        return run_time_adjoint(stmt, facts)
    if isinstance(stmt, ir.Assign) and is_user_call(stmt.rhs) and stmt.target.id in facts.active:
        return call_adjoint(stmt, facts)
    return ()


def _pair_through_views(stmt: ir.Stmt, facts: Facts) -> ir.Stmt:
    """A pair whose adjoint goes through the adjoints of views."""
    assert isinstance(stmt, ir.Pair)
    return replace(stmt, adjoint=through_views(stmt.adjoint, facts, stmt.loc))


def _self_assign(stmt: ir.Assign, facts: Facts) -> ir.Block:
    """`z = f(z)`: the result and the argument share a name; their values must not be confused."""
    result = facts.fresh("_" + stmt.target.id.lstrip("_"))
    inner = with_alias(facts, result.id, stmt.target.id)
    adjoint = _adjoint(replace(stmt, target=result), inner)
    read = ir.used(adjoint)
    if stmt.target.id in read and result.id in read:
        copy = ir.Assign(stmt.target, result, stmt.loc)
        facts.made[result.id] = stmt.target.id, inner.adjoints.get(result.id, "")
        return (*_stmt(replace(stmt, target=result), inner), *_stmt(copy, inner))
    # The adjoint of the result is moved aside before that of the argument is added to.
    held = inner.adjoint(result.id) if stmt.target.id in facts.active else None
    moved: ir.Block = ()
    if held is not None:
        target = facts.adjoint(stmt.target.id)
        moved = (ir.Accum(held, target, stmt.target, stmt.loc), ir.Reset(target, stmt.loc))
    if result.id in read:
        body = (*moved, *ir.rename(adjoint, {result.id: stmt.target.id}))
    else:
        body = (*moved, ir.Undo(stmt.loc), *adjoint)
    return (ir.Pair(stmt, through_views(body, facts, stmt.loc), stmt.loc),)


def _adjoint(stmt: ir.Stmt, facts: Facts) -> ir.Block:
    """The adjoint statements of one statement."""
    if isinstance(stmt, ir.Assign):
        return _assign(stmt, facts)
    if isinstance(stmt, ir.SetItem):
        return _set_item(stmt, facts)
    if isinstance(stmt, ir.Permute):
        return _permute(stmt, facts)
    if isinstance(stmt, ir.Effect):
        return _effect(stmt, facts)
    return ()


def _assign(stmt: ir.Assign, facts: Facts) -> ir.Block:
    """The adjoint of `target = rhs`; the adjoint of the target ends there."""
    target, rhs = stmt.target, stmt.rhs
    if target.id in facts.aliases.views:
        return ()
    if is_op(rhs, Op.POP):
        return pop_adjoint(stmt, facts)
    if target.id not in facts.active:
        return ()
    reset = ir.Reset(facts.adjoint(target.id), stmt.loc)
    return (*_contributions(stmt, facts), reset)


def _contributions(stmt: ir.Assign, facts: Facts) -> ir.Block:
    """What the adjoint of the target adds to the adjoints of what was read."""
    target, rhs = stmt.target, stmt.rhs
    if isinstance(rhs, ir.Name):
        return taken(facts.adjoint(target.id), rhs, (), facts, stmt.loc)
    shown = displayed(rhs)
    if shown is not None:
        return display_adjoint(facts.adjoint(target.id), shown, facts, stmt.loc)
    if isinstance(rhs, ir.Call):
        return _call(stmt, rhs, facts)
    check_flows(rhs, facts, stmt.loc)
    return ()


def _reads_active(rhs: ir.Rhs, facts: Facts) -> bool:
    return any(n in facts.active for n in ir.names(rhs))


def _call(stmt: ir.Assign, call: ir.Call, facts: Facts) -> ir.Block:
    """The adjoint of a call: containers here, everything else by its rule."""
    if not _reads_active(call, facts):
        return ()
    if facts.copies_container(call):  # the items are the same
        return _contributions(replace(stmt, rhs=call.args[0]), facts)
    if is_op(call, Op.ADD) and any(facts.is_container(a) for a in call.args):
        return concatenation_adjoint(stmt, call, facts)
    if is_op(call, Op.GETITEM) and ir.is_scalar(facts.kind(call.args[0])):
        return _contributions(replace(stmt, rhs=call.args[0]), facts)
    if is_op(call, Op.GETITEM) and not ir.is_numeric(facts.kind(call.args[0])):
        return element_adjoint(stmt, call, facts)
    bound = find(call, facts.kinds, stmt.loc)
    return (*checked_sum(stmt, call, facts), *expand(bound, stmt, facts))


def _set_item(stmt: ir.SetItem, facts: Facts) -> ir.Block:
    """The adjoint of a store: what was stored takes the adjoint of its place, which is cleared."""
    base = stmt.base.id
    if base not in facts.active:
        return ()
    if facts.is_container(stmt.base):
        return store_adjoint(stmt, facts)
    check_items(stmt, facts)
    whole = stmt.index is None
    args = (stmt.base, stmt.value) if stmt.index is None else (stmt.base, stmt.index, stmt.value)
    call = ir.Call(Store(stmt.op, whole), args)  # type: ignore[arg-type]
    block = expand(find(call, facts.kinds, stmt.loc), stmt, facts)
    stored = () if stmt.op is not None else ir.names(stmt.value)  # `+=` with fractions fails
    cut = cut_adjoint(stmt.base, stmt.index, stored, facts, stmt.loc)
    if not _may_hold_itself(stmt, facts):
        return (*cut, *block)
    # What was stored may be a part of the same memory: it takes its adjoint after the clearing.
    return (*cut, *sorted(block, key=lambda s: isinstance(s, ir.Accum)))


def _may_hold_itself(stmt: ir.SetItem, facts: Facts) -> bool:
    """Whether what is stored may be a part of the memory that it is stored into."""
    classes = facts.aliases.classes
    mine = classes.get(stmt.base.id)
    return mine is None or any(classes.get(n) == mine for n in ir.names(stmt.value))


def _permute(stmt: ir.Permute, facts: Facts) -> ir.Block:
    """The adjoints of permuted names are permuted back."""
    inverse = ir.Permute(stmt.sources, stmt.targets, stmt.loc)
    names = sorted(facts.active.intersection(ir.writes(stmt)))
    demands = (ir.Demand(facts.adjoint(n), ir.Name(n), stmt.loc) for n in names)
    return (*demands, *permuted(inverse, facts.active, facts))


def _effect(stmt: ir.Effect, facts: Facts) -> ir.Block:
    """The adjoint of a call for its effect."""
    call = stmt.rhs
    if not isinstance(call, ir.Call) or not _reads_active(call, facts):
        return ()
    if is_user_call(call):
        return ()  # what it writes into is stored behind it
    if isinstance(call.fn, ir.Method) and facts.is_container(call.args[0]):
        return change_adjoint(stmt, call, facts)
    written = written_into(stmt, facts.kinds)
    if not facts.active.intersection(written):
        return ()  # no output depends on what is written into
    bound = find(call, facts.kinds, stmt.loc)
    cuts = (cut_adjoint(ir.Name(n), None, ir.names(call), facts, stmt.loc) for n in written)
    return (*(s for cut in cuts for s in cut), *expand(bound, stmt, facts))


def through_views(block: ir.Block, facts: Facts, loc: ir.Loc) -> ir.Block:
    """Adjoints of views are made from the adjoint of their owner, and written through."""
    views = facts.aliases.views
    touched = {s.like.id for s in ir.walk(block) if isinstance(s, (ir.Accum, ir.Demand))}
    touched |= {facts.views[n] for n in ir.used(block) if n in facts.views}
    mine = [v for v in sorted(touched) if v in views]
    if not mine:
        return block
    prefix: list[ir.Stmt] = []
    made: set[str] = set()
    for name in mine:
        _make_view(name, facts, loc, prefix, made)
    return (*prefix, *ir.replaced(block, lambda s: _written_through(s, made, facts)))


def _make_view(name: str, facts: Facts, loc: ir.Loc, out: list[ir.Stmt], made: set[str]) -> None:
    """Statements that make the adjoint of a view from that of its base."""
    if name in made:
        return
    view = facts.aliases.views[name]
    if view.base in facts.aliases.views:
        _make_view(view.base, facts, loc, out, made)
    else:
        out.append(ir.Demand(facts.adjoint(view.base), ir.Name(view.base), loc))
    made.add(name)
    part = on_adjoint(view.of(facts.adjoint(view.base)))
    out.append(ir.Assign(facts.adjoint(name), part, loc))


def _written_through(stmt: ir.Stmt, made: set[str], facts: Facts) -> ir.Block:
    """A statement on the adjoint of a view, as a store into it or into what it is a view of."""
    if isinstance(stmt, ir.Accum) and stmt.like.id in made:
        view = facts.aliases.views[stmt.like.id]
        if is_op(view.rhs, Op.GETITEM):
            kind, at = facts.kind(stmt.like), view.rhs.args[1]
            return added_item(facts.adjoint(view.base), at, stmt.value, kind, facts, stmt.loc)
        if isinstance(view.rhs, ir.Name):
            base = ir.Accum(facts.adjoint(view.base), stmt.value, view.rhs, stmt.loc)
            return _written_through(base, made, facts)
        return (ir.SetItem(stmt.target, None, stmt.value, "+", stmt.loc),)
    if isinstance(stmt, (ir.Demand, ir.Reset)) and facts.views.get(stmt.target.id) in made:
        return ()
    return (stmt,)
