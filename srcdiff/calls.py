"""Calls of Python functions that stay calls: of a function in itself.

`user_calls` marks them, with the kind of their result, and refuses callees that write into their
arguments.  `call_adjoint` turns an active one into a call of the function's forward part, and, on
the way down, of its backward part; the pipeline generates both, once for each combination of kinds
and active parameters.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from srcdiff import ir, trees
from srcdiff.analyses.kind_types import UNKNOWN, Kind, Scalar, Tuple, is_numeric
from srcdiff.analyses.views import is_array
from srcdiff.bind import bind
from srcdiff.errors import UnsupportedError
from srcdiff.facts import Facts
from srcdiff.inline import function_of
from srcdiff.lower import Lifted
from srcdiff.summaries import Key, Near, Summary, calls_function, kind_of_atom, plain_kind, summary

Kinds = Mapping[str, Kind]


def user_calls(function: ir.Function, kinds: Kinds) -> ir.Function:
    """The function with calls of Python functions marked as `Derived` calls of their primal.

    A call that writes into an argument becomes one that returns the final contents as well, and a
    store of these: `y = h(a)` becomes `t = h(a); a[...] = t[1]; y = t[0]`.

    Raises:
        UnsupportedError: what is written into is no array, or may be an argument or result twice.
    """
    fresh = ir.Fresh(ir.all_names(function))
    near = Near(function, kinds)
    return replace(function, body=_marked(function.body, kinds, fresh, near))


def _marked(block: ir.Block, kinds: Kinds, fresh: ir.Fresh, near: Near) -> ir.Block:
    out: list[ir.Stmt] = []
    for stmt in block:
        if isinstance(stmt, (ir.Assign, ir.Effect)) and calls_function(stmt):
            assert isinstance(stmt.rhs, ir.Call)
            call = _marked_call(stmt.rhs, kinds, stmt.loc)
            if is_user_call(call) and call.fn.key.written:  # type: ignore[union-attr]
                out += _stored_back(stmt, call, kinds, fresh, near)
                continue
            stmt = replace(stmt, rhs=call)
        inner = ir.map_blocks(stmt, lambda b: _marked(b, kinds, fresh, near)
        )
        out.append(inner)
    return tuple(out)


def _stored_back(
    stmt: ir.Assign | ir.Effect, call: ir.Call, kinds: Kinds, fresh: ir.Fresh, near: Near
) -> Iterator[ir.Stmt]:
    """A call that writes into arguments, and what it has written stored in them."""
    assert isinstance(call.fn, ir.Derived)
    key: Key = call.fn.key
    args = {p: a for (p, _), a in zip(key.kinds, call.args)}
    _check_apart(key, args, near, stmt.loc)
    both, of = fresh(), 1 + len(key.written)
    yield ir.Assign(both, call, stmt.loc)
    for k, param in enumerate(key.written, 1):
        base = args[param]
        if not isinstance(base, ir.Name) or not is_array(kinds.get(base.id)):
            raise _unclear_argument(param, call.fn.name, stmt.loc)
        piece = fresh()
        yield ir.Assign(piece, item_of(both, k, of), stmt.loc)
        yield ir.SetItem(base, ir.Const(...), piece, None, stmt.loc)
    if isinstance(stmt, ir.Assign):
        yield ir.Assign(stmt.target, item_of(both, 0, of), stmt.loc)


def _check_apart(key: Key, args: Mapping[str, ir.Atom], near: Near, loc: ir.Loc) -> None:
    """What is written into is neither another argument nor what is returned."""
    name = getattr(key.function, "__name__", "the function")
    if set(key.returned) & set(key.written):
        raise UnsupportedError(
            f"the recursive function `{name}` writes into its argument `{key.returned[0]}` and "
            "may return it",
            loc,
            remedy="Return a copy of it, or nothing.",
        )
    for param in key.written:
        for other, atom in args.items():
            one, two = ir.names(args[param]), ir.names(atom)
            if other != param and any(near.share(a, b) for a in one for b in two):
                raise UnsupportedError(
                    f"the recursive function `{name}` writes into its argument `{param}`, which "
                    f"may share memory with `{other}`",
                    loc,
                    remedy="Pass a copy of one of them.",
                )


def _unclear_argument(param: str, name: str, loc: ir.Loc) -> UnsupportedError:
    return UnsupportedError(
        f"the recursive function `{name}` writes into its argument `{param}`, which is no array "
        "for certain",
        loc,
        remedy="Return a new value instead, or write a loop.",
    )


def _marked_call(call: ir.Call, kinds: Kinds, loc: ir.Loc) -> ir.Call:
    """A call with its arguments in the order of the parameters."""
    fn: Any = call.fn
    try:
        callee = function_of(fn)
    except UnsupportedError:
        return call
    bound = bind(callee, call, loc)
    given = tuple((p, plain_kind(kind_of_atom(a, kinds))) for p, a in bound.items())
    mark = _mark(fn, given, summary(fn, dict(given)))
    return ir.Call(mark, tuple(bound.values()), (), call.text)


def _mark(fn: Any, given: tuple[tuple[str, Kind], ...], found: Summary) -> ir.Derived:
    """The callee of a marked call."""
    result = found.result
    if found.written:
        result = Tuple((result, *(dict(given).get(p, UNKNOWN) for p in found.written)))
    key = Key(fn, given, (), result, found.written, found.returned)
    return ir.Derived(getattr(fn, "__name__", ""), "primal", key)


def is_user_call(rhs: ir.Rhs) -> bool:
    """Whether a right-hand side is a marked call."""
    return isinstance(rhs, ir.Call) and isinstance(rhs.fn, ir.Derived) and rhs.fn.part == "primal"


def call_adjoint(stmt: ir.Assign, facts: Facts) -> ir.Block:
    """An active call as pairs: the forward part runs; its backward part is the adjoint."""
    call = stmt.rhs
    assert isinstance(call, ir.Call) and isinstance(call.fn, ir.Derived)
    key = call.fn.key
    params = [name for name, _ in key.kinds]
    active = [p for p, a in zip(params, call.args) if any(n in facts.active for n in ir.names(a))]
    kinds = dict(key.kinds)
    gradients = Tuple(tuple(_gradient_kind(kinds[p]) for p in active))
    there = replace(key, active=tuple(active), result=Tuple((key.result, UNKNOWN)))
    back = replace(key, active=tuple(active), result=gradients)
    both, kept = facts.fresh("_both"), facts.fresh(f"{call.fn.name}_residuals")
    loc = stmt.loc
    copies, args = _own_arguments(call, facts, loc)
    forward = ir.Call(ir.Derived(call.fn.name, "forward", there), args)
    grads = facts.fresh("_grads")
    d_target = facts.adjoint(stmt.target.id)
    backward = ir.Call(ir.Derived(call.fn.name, "backward", back), (kept, d_target))
    given = [call.args[params.index(p)] for p in active]
    for param, atom in zip(active, given, strict=True):
        if not isinstance(atom, ir.Name):
            raise _display_argument(param, call.fn.name, loc)
    taken = gradients_taken(grads, given, facts, loc)
    adjoint = (ir.Assign(grads, backward, loc), ir.Reset(d_target, loc), *taken)
    if key.returned or not _may_be_written(stmt.target.id, key, facts):
        return (*copies, *paired_parts(stmt, forward, both, kept, adjoint))
    # What is kept for the backward part may hold the value that is written into from here on.
    result = facts.fresh(f"_{stmt.target.id.lstrip('_')}")
    copy = replace(_copy(stmt.target.id, facts), args=(result,))
    own = ir.Pair(ir.Assign(stmt.target, copy, loc), adjoint, loc)
    return (*copies, *paired_parts(replace(stmt, target=result), forward, both, kept, ()), own)


def _may_be_written(name: str, key: Key, facts: Facts) -> bool:
    """Whether something may write into what a call returns, or into a part of it."""
    if name in facts.aliases.classes or key.written:
        return True
    kind = facts.kinds.get(name, UNKNOWN)
    return bool(facts.aliases.classes) and not is_numeric(kind)


def gradients_taken(
    grads: ir.Name, given: Sequence[ir.Atom], facts: Facts, loc: ir.Loc
) -> Iterator[ir.Stmt]:
    """Statements that add the gradients of a call to the adjoints of what it was given."""
    for k, atom in enumerate(given):
        assert isinstance(atom, ir.Name)
        piece = facts.fresh()
        yield ir.Assign(piece, item_of(grads, k, len(given)), loc)
        yield ir.Accum(facts.adjoint(atom.id), piece, atom, loc)


def paired_parts(
    stmt: ir.Assign, forward: ir.Call, both: ir.Name, kept: ir.Name, adjoint: ir.Block
) -> ir.Block:
    """A call whose forward part gives the value and what is kept, as pairs."""
    loc = stmt.loc
    return (
        ir.Pair(ir.Assign(both, forward, loc), (), loc),
        ir.Pair(ir.Assign(kept, item_of(both, 1), loc), (), loc),
        ir.Pair(ir.Assign(stmt.target, item_of(both, 0), loc), adjoint, loc),
    )


def _own_arguments(
    call: ir.Call, facts: Facts, loc: ir.Loc
) -> tuple[ir.Block, tuple[ir.Atom, ...]]:
    """Copies of the arguments that somebody writes into: residuals may hold them for long."""
    assert isinstance(call.fn, ir.Derived)
    key: Key = call.fn.key
    lent = [a for (p, _), a in zip(key.kinds, call.args) if p not in key.written]
    names = [n for a in lent for n in ir.names(a) if n in facts.aliases.classes]
    new = {n: facts.fresh(f"_{n.lstrip('_')}") for n in names}
    copies = tuple(
        ir.Pair(ir.Assign(copy, _copy(n, facts), loc), (), loc) for n, copy in new.items()
    )
    return copies, tuple(ir.map_atom(lambda n: new.get(n.id, n), a) for a in call.args)


def _copy(name: str, facts: Facts) -> ir.Call:
    """A copy of a variable."""
    return ir.Call(np.copy if is_array(facts.kinds.get(name)) else trees.kept, (ir.Name(name),))


def _gradient_kind(kind: Kind) -> Kind:
    """The kind of the gradient of an argument: a number of Python or of NumPy."""
    return Scalar(kind.dtype, None) if isinstance(kind, Scalar) else kind


def item_of(base: ir.Name, k: int, of: int = 2) -> ir.Call:
    """One of several things that a call gives."""
    return ir.Call(operator.getitem, (base, ir.Const(k)), text=f"item of {of}")


def _display_argument(param: str, name: str, loc: ir.Loc) -> UnsupportedError:
    return UnsupportedError(
        f"the argument `{param}` of the recursive function `{name}` is a display of active values",
        loc,
        remedy="Bind it to a variable first, or pass its items one by one.",
    )


def unmarked(block: ir.Block) -> ir.Block:
    """A block whose marked calls that have no derivative are plain calls again."""
    out: list[ir.Stmt] = []
    for stmt in block:
        if isinstance(stmt, (ir.Assign, ir.Effect)) and is_user_call(stmt.rhs):
            call: Any = stmt.rhs
            if not isinstance(call.fn.key.function, Lifted):  # that has no name of its own
                stmt = replace(stmt, rhs=_primal_call(call))
            elif call.fn.key.written:
                raise UnsupportedError(
                    f"the nested recursive function `{call.fn.name}` writes into an argument",
                    stmt.loc,
                    remedy="Move it out of the function.",
                )
        out.append(ir.map_blocks(stmt, unmarked))
    return tuple(out)


def _primal_call(call: ir.Call) -> ir.Call:
    """A marked call as one of the function itself, on copies of what that writes into."""
    assert isinstance(call.fn, ir.Derived)
    key: Key = call.fn.key
    if not key.written:
        return replace(call, fn=key.function)
    at = [k for k, (p, _) in enumerate(key.kinds) if p in key.written]
    fn = ir.Ref(call.text or call.fn.name, key.function)
    return ir.Call(trees.on_copies, (fn, ir.Tup(tuple(map(ir.Const, at))), *call.args))
