"""Values that are unpacked: checks of their length, `_, _ = xs`, and results of several parts.

`is_checked` finds a check of the number of items that is there already.  At the end `unpacked` lets
it print as the unpacking that the user wrote.

Of a result that is unpacked at once, `w, v = np.linalg.eigh(a)`, the adjoints of `w` and `v` are
the parts of the adjoint, so that it needs no tuple of its own.  The adjoint of the call then stands
with the last of the names, all of which it may read.
"""

from __future__ import annotations

import operator
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from srcdiff import ir
from srcdiff.analysis.facts import Facts
from srcdiff.frontend.lower.targets import length_check
from srcdiff.frontend.lowering import template_of
from srcdiff.ir.frozen import frozen, replace, state
from srcdiff.primitives.ops import Op, is_op
from srcdiff.primitives.registry import lookup

_WORD = re.compile(r"\*?(\w+)")


def mark(stmt: ir.Stmt) -> ir.Role | ir.Unpacks | None:
    """The role of a statement that takes an item, None if it has none."""
    rhs = stmt.rhs if isinstance(stmt, ir.Assign) else None
    return rhs.role if is_op(rhs, Op.GETITEM) else None


def base_of(stmt: ir.Stmt) -> ir.Atom:
    """What a marked statement takes an item of."""
    assert isinstance(stmt, ir.Assign) and isinstance(stmt.rhs, ir.Call)
    return stmt.rhs.args[0]


def is_checked(
    base: ir.Atom, before: int, after: int | None, block: Sequence[ir.Stmt]
) -> bool:
    """Whether a block ends in the very check, perhaps of a name that was made for it."""
    last = block[-1] if block else None
    word = _WORD.match(last.text) if isinstance(last, ir.Verbatim) and last.reads else None
    if word is None:
        return False
    assert isinstance(last, ir.Verbatim)
    (name, *_) = last.reads
    made = block[-2:-1]
    same = name == base or made == [ir.Assign(name, base)]
    return same and last == length_check(name, before, after, word[1], last.loc)


# --- at the end ---------------------------------------------------------------------------------

_CHECK = re.compile(r"(_\w*)(?:, \1)*,? = (\w+)\Z")


@state
class _Unpacking:
    """A check, what it takes apart, and the items that are still taken after it."""

    base: str
    count: int
    items: dict[int, ir.Assign]


def unpacked(function: ir.Function) -> ir.Function:
    """The function with checks of lengths as unpackings, where items are taken at all."""
    fresh = ir.Fresh(ir.all_names(function))

    def block(inner: ir.Block) -> ir.Block:
        return tuple(_joined(inner, fresh, block))

    return replace(function, body=block(function.body))


def _joined(block: ir.Block, fresh: ir.Fresh, inner: object) -> Iterator[ir.Stmt]:
    """The statements of a block, the items after a check completed."""
    skip = 0
    for index, stmt in enumerate(block):
        if skip:
            skip -= 1
            continue
        found = _unpacking(stmt, block, index + 1)
        if found is not None and found.items:
            skip = len(found.items)
            yield from _all_items(found, stmt.loc, fresh)
        else:
            yield ir.map_blocks(stmt, inner)  # type: ignore[arg-type]


def _unpacking(stmt: ir.Stmt, block: ir.Block, after: int) -> _Unpacking | None:
    """What a check and the statements after it take apart, None for any other statement."""
    match = _CHECK.match(stmt.text) if isinstance(stmt, ir.Verbatim) else None
    if match is None:
        return None
    assert isinstance(stmt, ir.Verbatim)
    found = _Unpacking(match[2], stmt.text.split(" = ")[0].strip(",").count(",") + 1, {})
    targets = {found.base}
    for item in block[after:]:
        position = _position(item, found)
        if position is None or position in found.items:
            break
        assert isinstance(item, ir.Assign)
        if item.target.id in targets:
            break
        targets.add(item.target.id)
        found.items[position] = item
    return found


def _position(stmt: ir.Stmt, found: _Unpacking) -> int | None:
    """Which item of what is taken apart a statement takes, None if none."""
    if mark(stmt) != ir.Unpacks(found.count) or base_of(stmt) != ir.Name(found.base):
        return None
    assert isinstance(stmt, ir.Assign) and isinstance(stmt.rhs, ir.Call)
    index = stmt.rhs.args[1]
    return index.value if isinstance(index, ir.Const) else None


def _all_items(found: _Unpacking, loc: ir.Loc, fresh: ir.Fresh) -> Iterator[ir.Stmt]:
    """Every item in order, those that nobody needs too."""
    for k in range(found.count):
        if k in found.items:
            yield found.items[k]
        else:
            args = (ir.Name(found.base), ir.Const(k))
            role = ir.Unpacks(found.count)
            yield ir.Assign(fresh("_"), ir.Call(operator.getitem, args, role=role), loc)


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
    if not isinstance(call, ir.Assign) or not _yields_parts(call.rhs):
        return None
    rest: list[ir.Assign] = []
    names: dict[int, str] = {}
    for stmt in block[at + 1 :]:
        part = _part(stmt, call.target)
        if part is None or part in names:
            break
        assert isinstance(stmt, ir.Assign)
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


def _yields_parts(rhs: ir.Rhs) -> bool:
    """Whether a call has a rule that yields several values."""
    rule = lookup(rhs.fn) if isinstance(rhs, ir.Call) else None
    if rule is None or rule.template is None:
        return False
    return isinstance(template_of(rule).result, ir.Tup)


def _part(stmt: ir.Stmt, whole: ir.Name) -> int | None:
    """The k of `name = whole[k]`."""
    rhs = stmt.rhs if isinstance(stmt, ir.Assign) else None
    if not is_op(rhs, Op.GETITEM) or rhs.args[0] != whole:
        return None
    index = rhs.args[1]
    plain = isinstance(index, ir.Const) and type(index.value) is int and index.value >= 0
    return index.value if plain and isinstance(index, ir.Const) else None
