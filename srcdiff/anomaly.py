"""Checks for nan in the backward part of a derivative, on request.

Takes an assembled derivative and the facts about its primal; returns it with a check behind every
statement that changes an adjoint.
"""

from __future__ import annotations

import linecache
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from srcdiff import ir, trees
from srcdiff.facts import Facts


def checked(function: ir.Function, facts: Facts) -> ir.Function:
    """A derivative, or the backward part of one, with its adjoints checked."""
    primal = {d: p for p, d in facts.adjoints.items()}
    at = next((k for k, s in enumerate(function.body) if isinstance(s, ir.Comment)), 0)
    back = _checked(function.body[at:], primal, ())
    return replace(function, body=(*function.body[:at], *back))


def _checked(block: ir.Block, primal: Mapping[str, str], counters: tuple[ir.Name, ...]) -> ir.Block:
    out: list[ir.Stmt] = []
    for stmt in block:
        inner = counters
        if isinstance(stmt, ir.For):
            inner = (*counters, stmt.target)

        def deeper(b: ir.Block, inner: tuple[ir.Name, ...] = inner) -> ir.Block:
            return _checked(b, primal, inner)

        out.append(ir.map_blocks(stmt, deeper))
        changed = _changed(stmt)
        if changed in primal:
            out.append(_check(ir.Name(changed), primal[changed], stmt.loc, counters))
    return tuple(out)


def _changed(stmt: ir.Stmt) -> str:
    """The name that a statement gives a new value that it computes."""
    if isinstance(stmt, ir.SetItem):
        return stmt.base.id
    if not isinstance(stmt, ir.Assign) or not isinstance(stmt.rhs, ir.Call):
        return ""
    new = stmt.rhs.fn in (np.zeros_like, trees.zeros_like, trees.zero_tree)
    return "" if new else stmt.target.id


def _check(adjoint: ir.Name, primal: str, loc: ir.Loc, counters: tuple[ir.Name, ...]) -> ir.Effect:
    """`check_nan(d_h, "`h`", "model.py:3: h = np.sqrt(x)", i=i)`."""
    what = "an intermediate result" if primal.startswith("_") else f"`{primal}`"
    line = linecache.getline(loc.file, loc.line).strip()
    args = (adjoint, ir.Const(what), ir.Const(f"  {loc.file}:{loc.line}: {line}"))
    named = tuple((c.id, c) for c in counters if not c.id.startswith("_"))
    return ir.Effect(ir.Call(trees.check_nan, args, named), loc)
