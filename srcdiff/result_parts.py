"""Tuples that functions of NumPy and SciPy return are taken apart where something is written into.

Takes a function and the kinds of its names; returns it with `_t = np.linalg.eigh(a); w, v = _t` for
`p = np.linalg.eigh(a)`, and `w` for `p[0]`.  The rule of the call reads its results: what is
written into one of them under another name is then known to be written into a result.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping
from dataclasses import replace

from srcdiff import ir
from srcdiff.analyses.effects import mutated_args
from srcdiff.analyses.kind_types import Kind, Tuple
from srcdiff.analyses.links import is_marked
from srcdiff.lower.settled import definitions
from srcdiff.unpackings import takes_part, yields_parts

Kinds = Mapping[str, Kind]


def with_parts(function: ir.Function, kinds: Kinds) -> ir.Function:
    """The function with tuples of names for such results."""
    if not any(_writes(s, kinds) for s in ir.walk(function.body)):
        return function
    fresh = ir.Fresh(ir.all_names(function))
    count = definitions(function.body, (p.name for p in function.params))
    parts: dict[str, tuple[ir.Name, ...]] = {}

    def block(inner: ir.Block) -> ir.Block:
        out: list[ir.Stmt] = []
        for k, stmt in enumerate(inner):
            number = _count(stmt, kinds)
            if not isinstance(stmt, ir.Assign) or not number or _is_unpacked(inner[k:], number):
                out.append(ir.map_blocks(_of_part(stmt, parts), block))
                continue
            names = tuple(fresh() for _ in range(number))
            out += _apart(stmt, names, fresh())
            if count[stmt.target.id] == 1:
                parts[stmt.target.id] = names
        return tuple(out)

    body = block(function.body)
    return replace(function, body=ir.without(body, parts.keys() - ir.used(body)))


def _of_part(stmt: ir.Stmt, parts: Mapping[str, tuple[ir.Name, ...]]) -> ir.Stmt:
    """`x = p[1]` as `x = v`."""
    rhs = stmt.rhs if isinstance(stmt, ir.Assign) else None
    if not isinstance(stmt, ir.Assign) or not isinstance(rhs, ir.Call):
        return stmt
    names = parts.get(getattr(rhs.args[0], "id", "")) if rhs.fn is operator.getitem else None
    key = rhs.args[1].value if names and isinstance(rhs.args[1], ir.Const) else None
    if names is None or type(key) is not int or not -len(names) <= key < len(names):
        return stmt
    return replace(stmt, rhs=names[key])


def _writes(stmt: ir.Stmt, kinds: Kinds) -> bool:
    """Whether a statement writes into something."""
    call = ir.call_of(stmt)
    if call is None:
        return isinstance(stmt, ir.SetItem)
    return is_marked(call) or bool(mutated_args(call, kinds))


def _count(stmt: ir.Stmt, kinds: Kinds) -> int:
    """How many results a statement binds to one name; 0 for any other."""
    if not isinstance(stmt, ir.Assign) or not yields_parts(stmt.rhs):
        return 0
    kind = kinds.get(stmt.target.id)
    return len(kind.items) if isinstance(kind, Tuple) and kind.items else 0


def _is_unpacked(block: ir.Block, count: int) -> bool:
    """Whether the statements behind the first one of a block take all of its results."""
    first, rest = block[0], block[1 : count + 1]
    assert isinstance(first, ir.Assign)
    return {takes_part(s, first.target) for s in rest} == set(range(count))


def _apart(stmt: ir.Assign, parts: tuple[ir.Name, ...], whole: ir.Name) -> Iterator[ir.Stmt]:
    """The call, its results under names of their own, and the tuple of these."""
    yield replace(stmt, target=whole)
    for k, part in enumerate(parts):
        item = ir.Call(operator.getitem, (whole, ir.Const(k)), text=f"item of {len(parts)}")
        yield ir.Assign(part, item, stmt.loc)
    yield ir.Assign(stmt.target, ir.Tup(parts), stmt.loc)
