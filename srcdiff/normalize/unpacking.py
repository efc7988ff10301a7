"""Unpackings: checks of the number of items, `_, _ = xs`, and results that are taken apart at once.

At the end `unpacked` lets a check of the number of items print as the unpacking that the user
wrote.

Of a result that is unpacked at once, `w, v = np.linalg.eigh(a)`, the adjoints of `w` and `v` are
the parts of the adjoint, so that it needs no tuple of its own (`unpacking`).  The adjoint of the
call then stands with the last of the names, all of which it may read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping

from srcdiff import ir
from srcdiff.analysis.facts import Facts
from srcdiff.frontend.lowering import template_of
from srcdiff.ir.frozen import frozen, replace
from srcdiff.normalize.displays import Read, item_read
from srcdiff.primitives.ops import Op, is_op
from srcdiff.primitives.registry import lookup


def mark(stmt: ir.Stmt) -> ir.Role | ir.Unpacks | None:
    """The role of a statement that takes an item, None if it has none."""
    rhs = stmt.rhs if type(stmt) is ir.Assign else None
    return rhs.role if is_op(rhs, Op.GETITEM) else None


def base_of(stmt: ir.Stmt) -> ir.Atom:
    """What a marked statement takes an item of."""
    assert type(stmt) is ir.Assign and type(stmt.rhs) is ir.Call
    return stmt.rhs.args[0]


def unpacked(function: ir.Function) -> ir.Function:
    """The function with checks of lengths as unpackings, where items are taken at all."""
    if ir.Unpack not in map(type, ir.walk(function)):
        return function
    fresh = ir.Fresh(ir.all_names(function))

    def block(inner: ir.Block) -> ir.Block:
        return tuple(_joined(inner, fresh, block))

    return ir.rebuilt(function, body=block(function.body))


def _joined(
    block: ir.Block, fresh: ir.Fresh, inner: Callable[[ir.Block], ir.Block]
) -> Iterator[ir.Stmt]:
    """The statements of a block, the items after a check completed."""
    skip = 0
    for at, stmt in enumerate(block):
        if skip:
            skip -= 1
            continue
        items = _items_after(stmt, block[at + 1 :]) if type(stmt) is ir.Unpack else {}
        skip = len(items)
        if items:
            yield from _all_items(items, stmt.loc, fresh)
        else:
            yield ir.map_blocks(stmt, inner)


def _items_after(check: ir.Unpack, rest: ir.Block) -> dict[int, Read]:
    """The items that are taken after a check of their number, by their places."""
    found: dict[int, Read] = {}
    targets = {*ir.names(check.value)} if check.items.after is None else set()
    for read in map(item_read, rest if targets else ()):
        same = read is not None and (ir.Name(read.base), read.of) == (check.value, check.items)
        if read is None or not same or read.index in found or read.stmt.target.id in targets:
            break
        targets.add(read.stmt.target.id)
        found[read.index] = read
    return found


def _all_items(items: Mapping[int, Read], loc: ir.Loc, fresh: ir.Fresh) -> Iterator[ir.Stmt]:
    """Every item in order, those that nobody needs too."""
    call = next(iter(items.values())).stmt.rhs
    assert type(call) is ir.Call and isinstance(call.role, ir.Unpacks)
    for k in range(call.role.before):
        if k in items:
            yield items[k].stmt
        else:
            yield ir.Assign(fresh("_"), replace(call, args=(call.args[0], ir.Const(k))), loc)


# --- results that are unpacked at once: `w, v = np.linalg.eigh(a)` -------------------------------


@frozen
class Unpacking:
    """A call, the statements that unpack its result, and the name of each part."""

    call: ir.Assign
    rest: tuple[ir.Assign, ...]
    names: Mapping[int, str]

    def facts(self, facts: Facts) -> Facts:
        """The facts for the expansion of the rule of the call."""
        return replace(facts, parts=self.names)


def counts(function: ir.Function) -> Counter[str]:
    """How often each name is read or bound."""
    body = function.body
    return ir.reader_counts(body) + ir.binding_counts(body, function.params)


def unpacking(block: ir.Block, at: int, facts: Facts, uses: Counter[str]) -> Unpacking | None:
    """The unpacking that starts with the statement at a place of a block, None if none does."""
    call = block[at]
    if type(call) is not ir.Assign or not parts_given(call.rhs):
        return None
    rest: list[ir.Assign] = []
    names: dict[int, str] = {}
    for stmt in block[at + 1 :]:
        part = _part(stmt, call.target)
        if part is None or part in names:
            break
        assert type(stmt) is ir.Assign
        rest.append(stmt)
        names[part] = stmt.target.id
    # Views need no adjoints, and shadows are made before.
    apart = {*facts.aliases.views, *facts.shadowed}
    views = apart & {call.target.id, *names.values()}
    alone = uses[call.target.id] == len(rest) + 1
    plain = len({*names.values(), *ir.names(call.rhs)}) == len(names) + len({*ir.names(call.rhs)})
    if not rest or views or not alone or not plain:
        return None
    return Unpacking(call, tuple(rest), names)


def parts_given(rhs: ir.Rhs) -> int:
    """How many values the rule of a call yields, if these are several; else 0."""
    rule = lookup(rhs.fn) if type(rhs) is ir.Call else None
    result = None if rule is None or rule.template is None else template_of(rule).result
    return len(result.items) if type(result) is ir.Tup else 0


def _part(stmt: ir.Stmt, whole: ir.Name) -> int | None:
    """The k of `name = whole[k]`."""
    read = item_read(stmt)
    return read.index if read and read.base == whole.id and read.index >= 0 else None
