"""Calls of Python functions that stay calls: of a function in itself.

`user_calls` marks them, with the kind of their result, and refuses callees that write into their
arguments.  `call_adjoint` turns an active one into a call of the function's forward part, and, on
the way down, of its backward part; the pipeline generates both, once for each combination of kinds
and active parameters.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from srcdiff import ir, trees
from srcdiff.analyses.kind_atoms import kind_of_call
from srcdiff.analyses.kind_types import (
    UNKNOWN,
    Array,
    Callable,
    Kind,
    List,
    Scalar,
    Tuple,
    contents,
    join,
    join_all,
)
from srcdiff.analyses.kind_values import kind_of
from srcdiff.analyses.kinds import infer
from srcdiff.analyses.links import written_params
from srcdiff.bind import bind
from srcdiff.errors import UnsupportedError
from srcdiff.facts import Facts
from srcdiff.inline import function_of, inline, is_user_function
from srcdiff.iterate import iterated
from srcdiff.lower import Lifted
from srcdiff.prepare import inplace, prepare
from srcdiff.webs import webs

Kinds = Mapping[str, Kind]


@dataclass(frozen=True)
class Key:
    """A function for arguments of some kinds, the active ones named, and the kind of the result."""

    function: Any
    kinds: tuple[tuple[str, Kind], ...]
    active: tuple[str, ...] = ()
    result: Kind = field(default=UNKNOWN, compare=False)


def user_calls(function: ir.Function, kinds: Kinds) -> ir.Function:
    """The function with calls of Python functions marked as `Derived` calls of their primal."""
    return replace(function, body=_marked(function.body, kinds))


def _marked(block: ir.Block, kinds: Kinds) -> ir.Block:
    out: list[ir.Stmt] = []
    for stmt in block:
        if isinstance(stmt, (ir.Assign, ir.Effect)) and isinstance(stmt.rhs, ir.Call):
            if is_user_function(stmt.rhs.fn):
                stmt = replace(stmt, rhs=_marked_call(stmt.rhs, kinds, stmt.loc))
        out.append(ir.map_stmt(stmt, lambda n: n, lambda n: n, lambda b: _marked(b, kinds)))
    return tuple(out)


def _marked_call(call: ir.Call, kinds: Kinds, loc: ir.Loc) -> ir.Call:
    """A call with its arguments in the order of the parameters."""
    fn: Any = call.fn
    try:
        callee = function_of(fn)
    except UnsupportedError:
        return call
    bound = bind(callee, call, loc)
    given = tuple((p, _plain(_kind(a, kinds))) for p, a in bound.items())
    key = Key(fn, given, (), _result(fn, dict(given)))
    mark = ir.Derived(fn.__name__, "primal", key)
    return ir.Call(mark, tuple(bound.values()), (), call.text)


def _rhs_kind(rhs: ir.Rhs, kinds: Kinds) -> Kind:
    if isinstance(rhs, ir.Opaque):
        return UNKNOWN
    return kind_of_call(rhs, kinds) if isinstance(rhs, ir.Call) else _kind(rhs, kinds)


def _kind(atom: ir.Atom, kinds: Kinds) -> Kind:
    if isinstance(atom, ir.Name):
        return kinds.get(atom.id, UNKNOWN)
    if isinstance(atom, (ir.Const, ir.Ref)):
        return kind_of(atom.value, "x")
    if isinstance(atom, ir.Tup):
        return Tuple(tuple(_kind(a, kinds) for a in atom.items))
    return UNKNOWN


def _plain(kind: Kind, depth: int = 0) -> Kind:
    """A kind without what differs from call to call: values, names of lengths, deep structure."""
    if isinstance(kind, Scalar):
        return Scalar(kind.dtype, kind.python)
    if isinstance(kind, Array):
        dims = None if kind.dims is None else (None,) * len(kind.dims)
        return Array(kind.dtype, dims, kind.maybe_scalar)
    if isinstance(kind, Tuple) and kind.items is not None and depth < 2:
        return Tuple(tuple(_plain(k, depth + 1) for k in kind.items))
    if isinstance(kind, List) and depth < 2:
        found = join_all(_plain(k, depth + 1) for k in contents(kind))
        return List(UNKNOWN if found is None else found)
    if isinstance(kind, Callable):
        return kind
    return UNKNOWN


def _result(fn: Any, kinds: Kinds) -> Kind:
    """The kind of what a function returns, by induction over its calls of itself."""
    assumed = _base_case(fn, kinds)
    for _ in range(6):
        found = _plain(_result_if(fn, kinds, assumed))
        if join(assumed, found) == assumed:
            return assumed
        assumed = join(assumed, found) if type(assumed) is type(found) else found
    return UNKNOWN


def _base_case(fn: Any, kinds: Kinds) -> Kind:
    """The kind of what a function returns where it does not call itself."""
    function, inferred = _inferred(fn, kinds, UNKNOWN)
    last = function.body[-1]
    assert isinstance(last, ir.Return)
    given = (
        _plain(_rhs_kind(s.rhs, inferred))
        for s in ir.walk(function.body)
        if isinstance(s, ir.Assign) and s.target == last.value
    )
    known = [k for k in given if k != UNKNOWN]
    return join_all(known) or Scalar("float64", None)


def _result_if(fn: Any, kinds: Kinds, assumed: Kind) -> Kind:
    """The kind of what a function returns if its calls of itself return the kind assumed."""
    function, inferred = _inferred(fn, kinds, assumed)
    last = function.body[-1]
    assert isinstance(last, ir.Return)
    return _kind(last.value, inferred)


def _inferred(fn: Any, kinds: Kinds, assumed: Kind) -> tuple[ir.Function, Kinds]:
    """A function and the kinds of its names if its calls of itself return the kind assumed."""
    function = webs(prepare(inline(function_of(fn), fn)))
    function = replace(function, body=_assuming(function.body, assumed))
    function = iterated(function, infer(function, kinds), kinds)
    function = webs(inplace(function, infer(function, kinds)))
    inferred = infer(function, kinds)
    written = written_params(function, inferred)
    if written:
        raise UnsupportedError(
            f"the recursive function `{function.name}` writes into its argument `{written[0]}`",
            function.loc,
            remedy="Return a new array instead, or write a loop.",
        )
    return function, inferred


def _assuming(block: ir.Block, assumed: Kind) -> ir.Block:
    """A block whose calls of Python functions return a kind."""
    out: list[ir.Stmt] = []
    for stmt in block:
        if isinstance(stmt, (ir.Assign, ir.Effect)) and isinstance(stmt.rhs, ir.Call):
            if is_user_function(stmt.rhs.fn):
                mark = ir.Derived("", "primal", Key(stmt.rhs.fn, (), (), assumed))
                stmt = replace(stmt, rhs=replace(stmt.rhs, fn=mark))
        out.append(ir.map_stmt(stmt, lambda n: n, lambda n: n, lambda b: _assuming(b, assumed)))
    return tuple(out)


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
    adjoint: list[ir.Stmt] = []
    d_target = facts.adjoint(stmt.target.id)
    backward = ir.Call(ir.Derived(call.fn.name, "backward", back), (kept, d_target))
    adjoint += [ir.Assign(grads, backward, loc), ir.Reset(d_target, loc)]
    for k, param in enumerate(active):
        atom = call.args[params.index(param)]
        if not isinstance(atom, ir.Name):
            raise _display_argument(param, call.fn.name, loc)
        piece = facts.fresh()
        adjoint.append(ir.Assign(piece, _item(grads, k, len(active)), loc))
        adjoint.append(ir.Accum(facts.adjoint(atom.id), piece, atom, loc))
    return (
        *copies,
        ir.Pair(ir.Assign(both, forward, loc), (), loc),
        ir.Pair(ir.Assign(kept, _item(both, 1), loc), (), loc),
        ir.Pair(ir.Assign(stmt.target, _item(both, 0), loc), tuple(adjoint), loc),
    )


def _own_arguments(
    call: ir.Call, facts: Facts, loc: ir.Loc
) -> tuple[ir.Block, tuple[ir.Atom, ...]]:
    """Copies of the arguments that somebody writes into: residuals may hold them for long."""
    new = {
        n: facts.fresh(f"_{n.lstrip('_')}")
        for a in call.args
        for n in ir.names(a)
        if n in facts.aliases.classes
    }
    copies = tuple(
        ir.Pair(ir.Assign(copy, ir.Call(trees.kept, (ir.Name(n),)), loc), (), loc)
        for n, copy in new.items()
    )
    return copies, tuple(ir.map_atom(lambda n: new.get(n.id, n), a) for a in call.args)


def _gradient_kind(kind: Kind) -> Kind:
    """The kind of the gradient of an argument: a number of Python or of NumPy."""
    return Scalar(kind.dtype, None) if isinstance(kind, Scalar) else kind


def _item(base: ir.Name, k: int, of: int = 2) -> ir.Call:
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
                stmt = replace(stmt, rhs=replace(call, fn=call.fn.key.function))
        out.append(ir.map_stmt(stmt, lambda n: n, lambda n: n, unmarked))
    return tuple(out)
