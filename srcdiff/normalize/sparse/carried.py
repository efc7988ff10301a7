"""Which sparse matrices of a function carry a derivative."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

from srcdiff import ir
from srcdiff.analysis.activity import Edges, edges_of, reachable
from srcdiff.frontend.flow import flows
from srcdiff.ir.kinds import UNKNOWN, Kind, Sparse, is_container
from srcdiff.kinds.atoms import atom_kind
from srcdiff.kinds.sparse import holds_sparse
from srcdiff.primitives.effects import shares_entries
from srcdiff.primitives.registry import lookup
from srcdiff.runtime.scipy import sparse

Kinds = Mapping[str, Kind]


def has_sparse(function: ir.Function, kinds: Kinds) -> bool:
    """Whether there is a sparse matrix in a function, a variable or one from outside."""
    if any(isinstance(k, Sparse) for k in kinds.values()):
        return True
    every = (a for s in ir.walk(function.body) for o in ir.operands(s) for a in ir.atoms(o))
    return any(isinstance(a, ir.Ref) and sparse.is_sparse(a.value) for a in every)


def carrying(
    function: ir.Function, kinds: Kinds, inputs: tuple[str, ...], outputs: tuple[str, ...]
) -> frozenset[str]:
    """The names that carry a derivative, sparse matrices among them.

    What is taken out of a container is a constant: no other matrix is ever put into one.
    """
    loose = {n: UNKNOWN if holds_sparse(k) else k for n, k in kinds.items()}

    def held(edge: tuple[str, str, ir.Stmt]) -> bool:
        fn = _callee(edge[2])
        taken = fn is operator.getitem or isinstance(fn, (ir.Attr, ir.Method, type(None)))
        from_one = taken and is_container(kinds.get(edge[0], UNKNOWN))
        return from_one and isinstance(kinds.get(edge[1]), Sparse)

    found = edges_of(function, loose, lambda call, _: _flows(call, kinds))
    found += [e for s in ir.walk(function.body) for e in _parts(s, kinds)]
    varied = reachable(inputs, [e for e in found if not held(e)])
    return varied & reachable(outputs, found, backward=True)


def _flows(call: ir.Call, kinds: Kinds) -> tuple[ir.Atom, ...]:
    """The arguments that a derivative flows from; of a rule all that are sparse matrices."""
    known = flows(call, kinds)
    rule = lookup(call.fn)
    beside = getattr(call.fn, "__module__", "") == sparse.__name__
    if beside or rule is None or rule.template is None:
        return known
    return (*known, *(a for a in call.args if isinstance(atom_kind(a, kinds), Sparse)))


def _parts(stmt: ir.Stmt, kinds: Kinds) -> Edges:
    """What is written into a part of a matrix is written into the matrix."""
    call = ir.call_of(stmt)
    if not isinstance(stmt, ir.Assign) or call is None or not _shares(call):
        return []
    sources = [n for n in ir.names(call.args[0]) if isinstance(kinds.get(n), Sparse)]
    return [(stmt.target.id, n, stmt) for n in sources]


def _shares(call: ir.Call) -> bool:
    """Whether what is read of a matrix may share its memory."""
    if isinstance(call.fn, ir.Attr):
        return call.fn.name in ("data", "T", "H")
    return isinstance(call.fn, ir.Method) and shares_entries(call.fn.name)


def _callee(stmt: ir.Stmt) -> Any:
    call = ir.call_of(stmt)
    return None if call is None else call.fn
