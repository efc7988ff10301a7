"""Reverse mode: every statement of the primal is paired with its adjoint.

Takes a function and the facts about it; returns the same function with a body of `Pair`s, nested in
the same control flow.  The invariant: run backwards, the adjoint of a statement adds to the
adjoints of what it read, and leaves the adjoint of what it bound absent.  Adjoints read primal
names as they are after the statement, or, behind an `Undo`, as they were before it.
"""

from __future__ import annotations

from srcdiff import ir
from srcdiff.analysis.facts import Facts, on_adjoint, with_alias
from srcdiff.autodiff.calls import call_adjoint, run_time_adjoint
from srcdiff.autodiff.containers import (
    Lines,
    Pairs,
    add_item,
    change_adjoint,
    check_items,
    check_sum,
    clear_cut,
    concatenation_adjoint,
    element_adjoint,
    may_store_tree,
    permuted,
    pop_adjoint,
    store_adjoint,
)
from srcdiff.autodiff.expand.adjoint import expand
from srcdiff.ir.frozen import replace
from srcdiff.normalize.summaries.effects import is_user_call
from srcdiff.normalize.summaries.induction import is_at_run_time
from srcdiff.normalize.unpacking import Unpacking, counts, unpacking
from srcdiff.primitives.effects import displayed, written_into
from srcdiff.primitives.ops import Op, is_op
from srcdiff.primitives.registry import Store, find


def reverse(function: ir.Function, facts: Facts) -> tuple[ir.Function, Facts]:
    """The function with every statement paired with its adjoint, and what is known of it now."""
    made: dict[str, tuple[str, str]] = {}
    body = _block(function.body, replace(facts, made=made, uses=counts(function)))
    for new, (old, adjoint) in made.items():
        facts = with_alias(facts, new, old, adjoint)
    return ir.rebuilt(function, body=body), facts


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
    b = Lines(found.facts(facts), found.call.loc)
    _contributions(found.call, b)
    b.loc = last.loc
    for name in sorted(facts.active.intersection(found.names.values())):
        b.reset(ir.Name(name))
    adjoint = through_views(tuple(b.out), facts, found.call.loc)
    return (*(ir.Pair(s, (), s.loc) for s in front), ir.Pair(last, adjoint, last.loc))


def _stmt(stmt: ir.Stmt, facts: Facts) -> ir.Block:
    """A statement as pairs; control flow keeps its shape."""
    if isinstance(stmt, (ir.If, ir.For)):
        return (ir.map_blocks(stmt, lambda b: _block(b, facts)),)
    if type(stmt) is ir.While:
        assert ir.bound(stmt.cond).isdisjoint(ir.used(stmt.body)), "it does more than decide"
        return (replace(stmt, cond=_deciding(stmt.cond), body=_block(stmt.body, facts)),)
    pairs = _shadow_pairs(stmt, facts) or _call_pairs(stmt, facts)
    if pairs:
        return tuple(replace(p, adjoint=through_views(p.adjoint, facts, p.loc)) for p in pairs)
    if type(stmt) is ir.Assign and stmt.target.id in ir.names(stmt.rhs):
        return _self_assign(stmt, facts)
    return (ir.Pair(stmt, through_views(_adjoint(stmt, facts), facts, stmt.loc), stmt.loc),)


def _deciding(block: ir.Block) -> ir.Block:
    """The condition of a loop as pairs: it does nothing but decide, so nothing flows back.

    A view in it of an array that has an adjoint has none for that.
    """
    return ir.replaced(block, lambda s: ir.Pair(s, (), s.loc) if type(s) in ir.PLAIN else s)


def _shadow_pairs(stmt: ir.Stmt, facts: Facts) -> Pairs:
    """The pairs of a statement on memory that has shadows, nothing for other statements."""
    if not facts.shadowed:
        return ()
    from srcdiff.autodiff.shadows import shadow_pairs, touches_shadows

    if not touches_shadows(stmt, facts):
        return ()

    def own(stmt: ir.Stmt) -> Pairs:
        return _call_pairs(stmt, facts) or (ir.Pair(stmt, _adjoint(stmt, facts), stmt.loc),)

    return shadow_pairs(stmt, own, facts)


def _call_pairs(stmt: ir.Stmt, facts: Facts) -> Pairs:
    """The pairs of a call that stays one, nothing for other statements."""
    if type(stmt) is ir.Assign and is_at_run_time(stmt.rhs):
        return run_time_adjoint(stmt, facts)
    if type(stmt) is ir.Assign and is_user_call(stmt.rhs) and stmt.target.id in facts.active:
        return call_adjoint(stmt, facts)
    return ()


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
    moved: ir.Block = ()
    if stmt.target.id in facts.active:
        held, target = inner.adjoint(result.id), facts.adjoint(stmt.target.id)
        moved = (ir.Accum(held, target, stmt.target, stmt.loc), ir.Reset(target, stmt.loc))
    if result.id in read:
        body = (*moved, *ir.rename(adjoint, {result.id: stmt.target.id}))
    else:
        body = (*moved, ir.Undo(stmt.loc), *adjoint)
    return (ir.Pair(stmt, through_views(body, facts, stmt.loc), stmt.loc),)


def _adjoint(stmt: ir.Stmt, facts: Facts) -> ir.Block:
    """The adjoint statements of one statement."""
    b = Lines(facts, stmt.loc)
    if type(stmt) is ir.Assign:
        _assign(stmt, b)
    elif isinstance(stmt, ir.Store):
        _set_item(stmt, b)
    elif type(stmt) is ir.Permute:
        _permute(stmt, b)
    elif type(stmt) is ir.Effect:
        _effect(stmt, b)
    return tuple(b.out)


def _assign(stmt: ir.Assign, b: Lines) -> None:
    """The adjoint of `target = rhs`; the adjoint of the target ends there."""
    if stmt.target.id in b.facts.aliases.views:
        return
    if is_op(stmt.rhs, Op.POP):
        pop_adjoint(stmt, stmt.rhs, b)
    elif stmt.target.id in b.facts.active:
        _contributions(stmt, b)
        b.reset(stmt.target)


def _contributions(stmt: ir.Assign, b: Lines) -> None:
    """What the adjoint of the target adds to the adjoints of what was read."""
    rhs, shown = stmt.rhs, displayed(stmt.rhs)
    if type(rhs) is ir.Name:
        b.take(b.facts.adjoint(stmt.target.id), rhs)
    elif shown is not None:
        b.show(b.facts.adjoint(stmt.target.id), shown)
    elif type(rhs) is ir.Call:
        _call(stmt, rhs, b)


def _call(stmt: ir.Assign, call: ir.Call, b: Lines) -> None:
    """The adjoint of a call: containers here, everything else by its rule."""
    facts = b.facts
    if facts.active.isdisjoint(ir.names(call)):
        return
    item = is_op(call, Op.GETITEM)
    number = item and all(ir.is_scalar(facts.kind(a)) for a in (call.args[0], stmt.target))
    if facts.copies_container(call) or number:
        _contributions(replace(stmt, rhs=call.args[0]), b)  # the items are the same
    elif is_op(call, Op.ADD) and any(map(facts.is_container, call.args)):
        concatenation_adjoint(stmt, call, b)
    elif item and not ir.is_numeric(facts.kind(call.args[0])):
        element_adjoint(stmt, call, b)
    else:
        bound = find(call, facts.kinds, stmt.loc)
        check_sum(stmt, call, b)
        b.out += expand(bound, stmt, facts)


def _set_item(stmt: ir.Store, b: Lines) -> None:
    """The adjoint of a store: what was stored takes the adjoint of its place, which is cleared."""
    facts = b.facts
    if stmt.base.id not in facts.active:
        return
    if facts.is_container(stmt.base):
        store_adjoint(stmt, b)
        return
    if may_store_tree(stmt, facts):
        clear_cut(stmt.base, stmt.index, ir.names(stmt.value), b)
        store_adjoint(stmt, b)
        return
    check_items(stmt, facts)
    op = stmt.op if isinstance(stmt, ir.AugAssign) else None
    call = ir.Call(Store(op, stmt.index is None), ir.operands(stmt))  # type: ignore[arg-type]
    block = expand(find(call, facts.kinds, stmt.loc), stmt, facts)
    # An operator in place with fractions fails.
    clear_cut(stmt.base, stmt.index, ir.names(stmt.value) if op is None else (), b)
    if _may_hold_itself(stmt, facts):
        # What was stored may be a part of the same memory: it takes its adjoint last.
        block = tuple(sorted(block, key=lambda s: type(s) is ir.Accum))
    b.out += block


def _may_hold_itself(stmt: ir.Store, facts: Facts) -> bool:
    """Whether what is stored may be a part of the memory that it is stored into."""
    classes = facts.aliases.classes
    mine = classes.get(stmt.base.id)
    return mine is None or any(classes.get(n) == mine for n in ir.names(stmt.value))


def _permute(stmt: ir.Permute, b: Lines) -> None:
    """The adjoints of permuted names are permuted back."""
    for name in sorted(b.facts.active.intersection(ir.writes(stmt))):
        b.demand(ir.Name(name))
    inverse = ir.Permute(stmt.sources, stmt.targets, stmt.loc)
    b.out += permuted(inverse, b.facts.active, b.facts)


def _effect(stmt: ir.Effect, b: Lines) -> None:
    """The adjoint of a call for its effect."""
    call, facts = stmt.rhs, b.facts
    if type(call) is not ir.Call or facts.active.isdisjoint(ir.names(call)):
        return
    if is_user_call(call):
        return  # what it writes into is stored behind it
    if type(call.fn) is ir.Method and facts.is_container(call.args[0]):
        change_adjoint(stmt, call, b)
        return
    written = written_into(stmt, facts.kinds)
    if not facts.active.intersection(written):
        return  # no output depends on what is written into
    bound = find(call, facts.kinds, stmt.loc)
    for name in written:
        clear_cut(ir.Name(name), None, ir.names(call), b)
    b.out += expand(bound, stmt, facts)


def through_views(block: ir.Block, facts: Facts, loc: ir.Loc) -> ir.Block:
    """Adjoints of views are made from the adjoint of their owner, and written through."""
    touched = {s.like.id for s in ir.walk(block) if isinstance(s, (ir.Accum, ir.Demand))}
    touched |= {facts.views[n] for n in ir.used(block) if n in facts.views}
    mine = sorted(touched & facts.aliases.views.keys())
    if not mine:
        return block
    b, made = Lines(facts, loc), set[str]()
    for name in mine:
        _make_view(name, b, made)
    return (*b.out, *ir.replaced(block, lambda s: _written_through(s, made, facts)))


def _make_view(name: str, b: Lines, made: set[str]) -> None:
    """Statements that make the adjoint of a view from that of its base."""
    if name in made:
        return
    view = b.facts.aliases.views[name]
    if view.base in b.facts.aliases.views:
        _make_view(view.base, b, made)
    else:
        b.demand(ir.Name(view.base))
    made.add(name)
    b.assign(b.facts.adjoint(name), on_adjoint(view.of(b.facts.adjoint(view.base))))


def _written_through(stmt: ir.Stmt, made: set[str], facts: Facts) -> ir.Block:
    """A statement on the adjoint of a view, as a store into it or into what it is a view of."""
    if type(stmt) is ir.Accum and stmt.like.id in made:
        view = facts.aliases.views[stmt.like.id]
        base = facts.adjoint(view.base)
        if is_op(view.rhs, Op.GETITEM):
            b = Lines(facts, stmt.loc)
            plain = ir.is_numeric(facts.kind(stmt.like))
            add_item(b, base, view.rhs.args[1], stmt.value, plain)
            return tuple(b.out)
        if type(view.rhs) is ir.Name:
            return _written_through(ir.Accum(base, stmt.value, view.rhs, stmt.loc), made, facts)
        return (ir.AugAssign(stmt.target, None, stmt.value, "+", loc=stmt.loc),)
    if isinstance(stmt, (ir.Demand, ir.Reset)) and facts.views.get(stmt.target.id) in made:
        return ()
    return (stmt,)
