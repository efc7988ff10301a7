"""Checks the invariants of the IR: run after every pass in tests."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NoReturn

from srcdiff import ir
from srcdiff.errors import InternalError

# `d[x]` stands in templates, `self.w` and `model.layers[0].w` for what an object holds.
_IDENTIFIER = re.compile(r"[^\W\d]\w*(\[[^\W\d]\w*\]|(\.[^\W\d]\w*|\[[^\]]*\])+)?\Z")
_ADJOINT = (ir.Pair, ir.Accum, ir.Demand, ir.Reset)


def verify(function: ir.Function, final: bool = False) -> None:
    """Raise an InternalError where a function breaks an invariant of the IR.

    `final`: statements that live only between two passes (`Pair`, `Accum`, ...) are none any more.
    """
    body = function.body
    if not body or not isinstance(body[-1], ir.Return):
        _fail("a function does not end in its Return", body[-1] if body else None)
    _check_params(function)
    returns = [s for s in ir.walk(body) if isinstance(s, ir.Return)]
    if len(returns) != 1:
        _fail("a function has more than one Return", returns[0])
    for stmt in ir.walk(body):
        if final and isinstance(stmt, _ADJOINT):
            _fail(f"{type(stmt).__name__} is left in a finished function", stmt)
        _check(stmt)
    _flow(body, {p.name for p in function.params})


def _fail(message: str, stmt: object) -> NoReturn:
    raise InternalError(message, stmt)


def _check_params(function: ir.Function) -> None:
    """Parameters have names of their own."""
    names = [p.name for p in function.params]
    if len(set(names)) != len(names):
        _fail(f"parameters {names} are not distinct", None)
    if any(p.style not in ("pos", "any", "kw", "*", "**") for p in function.params):
        _fail("a parameter has an unknown style", function.params)


# --- one statement -----------------------------------------------------------------------------


def _check(stmt: ir.Stmt) -> None:
    """The form of one statement."""
    for name in (*ir.reads(stmt), *ir.writes(stmt)):
        if not _IDENTIFIER.match(name):
            _fail(f"{name!r} is no name", stmt)
    index = stmt.index if isinstance(stmt, ir.Store) else None
    check = _check_rhs if isinstance(stmt, (ir.Assign, ir.Effect, ir.For)) else _check_atom
    for operand in (*ir.operands(stmt), *([stmt.test] if isinstance(stmt, ir.While) else [])):
        check(operand, operand is index, stmt)
    if isinstance(stmt, ir.Permute):
        _check_permute(stmt)
    elif isinstance(stmt, ir.AugAssign) and stmt.op not in ir.OPERATORS:
        _fail(f"{stmt.op!r} is no operator in place", stmt)
    elif isinstance(stmt, ir.Effect) and not isinstance(stmt.rhs, (ir.Call, ir.Opaque)):
        _fail("an Effect is no call", stmt)
    elif isinstance(stmt, ir.For) and isinstance(stmt.iter, ir.Opaque):
        _fail("a For runs over an opaque expression", stmt)


def _check_permute(stmt: ir.Permute) -> None:
    targets, sources = ([n.id for n in names] for names in (stmt.targets, stmt.sources))
    if sorted(targets) != sorted(sources) or len(set(targets)) != len(targets) or len(targets) < 2:
        _fail("a Permute is no permutation", stmt)


def _check_rhs(rhs: ir.Rhs, indexed: bool, stmt: ir.Stmt) -> None:
    """Slices stand in subscripts and stars in calls only."""
    if isinstance(rhs, ir.Call):
        _check_call(rhs, stmt)
    elif isinstance(rhs, ir.Opaque):
        if not rhs.text.strip():
            _fail("an Opaque has no text", stmt)
    else:
        _check_atom(rhs, indexed, stmt)


def _check_call(call: ir.Call, stmt: ir.Stmt) -> None:
    if isinstance(call.fn, (ir.Method, ir.Attr)) and not call.args:
        _fail("a method or attribute has no object", stmt)
    if isinstance(call.fn, ir.Attr) and (len(call.args) != 1 or call.kwargs):
        _fail("an attribute read has arguments", stmt)
    for arg in call.args:
        inner = arg.value if isinstance(arg, ir.Star) else arg
        # Helpers of the runtime take slices as arguments too, so a call does not refuse them.
        _check_atom(inner, True, stmt)
    for key, value in call.kwargs:
        if key is not None and not key.isidentifier():
            _fail(f"{key!r} is no keyword", stmt)
        _check_atom(value, False, stmt)


def _check_atom(atom: ir.Rhs, indexed: bool, stmt: ir.Stmt) -> None:
    if not isinstance(atom, (ir.Name, ir.Const, ir.Ref, ir.Slice, ir.Tup)):
        _fail(f"{atom!r} is no atom here", stmt)
    if isinstance(atom, ir.Slice) and not indexed:
        _fail("a Slice stands outside a subscript", stmt)
    for part in ir.parts(atom):
        _check_atom(part, indexed and isinstance(atom, ir.Tup), stmt)


# --- bound before read -------------------------------------------------------------------------


def _flow(block: Iterable[ir.Stmt], known: set[str]) -> None:
    """Check that every name may be bound where it is read; adds what the block binds."""
    for stmt in block:
        _flow_statement(stmt, known)


def _flow_statement(stmt: ir.Stmt, known: set[str]) -> None:
    if isinstance(stmt, ir.Pair):
        # Adjoint statements run later, in reverse: only their primal is in order here.
        if stmt.primal is not None:
            _flow_statement(stmt.primal, known)
        return
    _known(ir.reads(stmt), known, stmt)
    if isinstance(stmt, ir.If):
        _branches(stmt, known)
    elif isinstance(stmt, (ir.For, ir.While)):
        _loop(stmt, known)
    else:
        known.update(ir.writes(stmt))


def _known(names: Iterable[str], known: set[str], stmt: ir.Stmt) -> None:
    for name in names:
        if name not in known:
            _fail(f"`{name}` is read before it is bound", stmt)


def _branches(stmt: ir.If, known: set[str]) -> None:
    """Names bound in either branch may be bound after."""
    other = set(known)
    _flow(stmt.body, known)
    _flow(stmt.orelse, other)
    known |= other


def _loop(stmt: ir.For | ir.While, known: set[str]) -> None:
    """Names bound in the body may be bound at its start, from an iteration before."""
    cond, test = (stmt.cond, stmt.test) if isinstance(stmt, ir.While) else ((), None)
    known.update(ir.writes(stmt), ir.bound(ir.primal_only((*cond, *stmt.body))))
    _flow(cond, known)
    _known(ir.names(test), known, stmt)
    _flow(stmt.body, known)
    _known(ir.names(stmt.stop), known, stmt)
