"""What is saved in one place, and taken back in one place, is saved in one list.

`joined` takes a finished function and returns it with `saved.append((x, y))` for
`x_saved.append(x); y_saved.append(y)`, and with `x, y = saved.pop()` for the two that take them
back.  `normalize/stacks.py` takes such lists apart again.  The invariant: what is saved together is
taken back together, and each value is the one that its own list would have had.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Iterable, Iterator, Mapping, Set

from srcdiff import ir
from srcdiff.ir.frozen import frozen
from srcdiff.primitives.ops import Op, is_op

_TAKES = (
    Op.COPY, Op.COPY_METHOD, Op.DICT, Op.GETITEM, Op.KEPT, Op.LAID_COPY, Op.LIST
)  # fmt: skip
_TAPE = re.compile(r"\w*saved(_\d+)?\Z")


def joined(function: ir.Function) -> ir.Function:
    """The function with one list for what is saved together, where Python runs it."""
    if function.target.fused or function.target.kernels:
        return function
    tapes = _tapes(function)
    groups = _groups(tapes) if len(tapes) > 1 else []
    return _Join(function, groups).function() if groups else function


@frozen
class _Place:
    """A statement in a block, and from where to where in it the statement may as well stand."""

    block: int  # its identity
    at: int
    first: int
    last: int

    def meets(self, others: Iterable[_Place]) -> bool:
        """Whether a statement may stand where each of some others may."""
        places = (self, *others)
        one = len({p.block for p in places}) == 1
        return one and max(p.first for p in places) <= min(p.last for p in places)


@frozen
class _Tape:
    """A list of saved values: the block that makes it, what fills it, and what empties it."""

    name: str
    made: int
    value: ir.Atom
    target: ir.Name
    saved: _Place
    taken: _Place


def _tapes(function: ir.Function) -> list[_Tape]:
    """The lists that are made, filled and emptied by one statement each, and not mentioned else."""
    mentions = ir.mention_counts(function)
    found: dict[str, dict[Op, tuple[ir.Block, int, ir.Stmt]]] = {}
    for block in ir.walk_blocks(function.body):
        for k, stmt in enumerate(block):
            name, op = _does(stmt)
            if mentions[name] == 3 and not _is_old(block, k, mentions):
                found.setdefault(name, {})[op] = block, k, stmt
    return [_tape(name, does) for name, does in found.items() if len(does) == 3]


def _does(stmt: ir.Stmt) -> tuple[str, Op]:
    """The list of saved values that a statement makes, fills or empties, and which; or ""."""
    call = ir.call_of(stmt)
    if type(stmt) is ir.Assign and stmt.rhs == ir.Call(ir.make_list):
        name, op = stmt.target.id, Op.MAKE_LIST
    elif type(stmt) is ir.Effect and is_op(call, Op.APPEND) and type(call.args[-1]) is ir.Name:
        name, op = "".join(ir.names(call.args[0])), Op.APPEND
    elif type(stmt) is ir.Assign and is_op(call, Op.POP) and len(call.args) == 1:
        name, op = "".join(ir.names(call.args[0])), Op.POP
    else:
        return "", Op.POP
    return (name if _TAPE.match(name) else ""), op


def _is_old(block: ir.Block, at: int, mentions: Mapping[str, int]) -> bool:
    """Whether a statement saves what is taken for it out of memory that is written into behind it.

    That reads best where it stands.
    """
    source = {*ir.reads(block[at])}
    for stmt in reversed(block[:at]):
        (taken,) = ir.writes(stmt) if type(stmt) is ir.Assign else ("",)
        if taken not in source or mentions[taken] != 2 or not is_op(ir.call_of(stmt), *_TAKES):
            break
        source.update(ir.reads(stmt))
    stores = (s for s in block[at + 1 :] if isinstance(s, (ir.Store, ir.Effect)))
    written = {n for s in stores if not _does(s)[0] for n in ir.reads(s)[:1]}
    return len(source) > 2 and not written.isdisjoint(source)


def _tape(name: str, does: Mapping[Op, tuple[ir.Block, int, ir.Stmt]]) -> _Tape:
    """A list by its three statements."""
    (made, *_), (block, at, push), (other, end, pop) = (
        does[op] for op in (Op.MAKE_LIST, Op.APPEND, Op.POP)
    )
    assert type(push) is ir.Effect and type(push.rhs) is ir.Call and type(pop) is ir.Assign
    value = push.rhs.args[1]
    stays = [k for k, s in enumerate(block) if k != at and _stops(s, name, {*ir.names(value)})]
    first = max((k + 1 for k in stays if k < at), default=0)
    last = min((k for k in stays if k > at), default=len(block))
    if last < len(block) and _does(block[last])[0]:
        last = max(at + 1, _upwards(block, last))  # which may move as well
    taken = _Place(id(other), end, _upwards(other, end), end)
    return _Tape(name, id(made), value, pop.target, _Place(id(block), at, first, last), taken)


def _stops(stmt: ir.Stmt, name: str, saved: Set[str]) -> bool:
    """Whether values are saved in a list on the one side of a statement alone."""
    return name in ir.mentions(stmt) or not saved.isdisjoint(ir.rebound((stmt,)))


def _upwards(block: ir.Block, at: int) -> int:
    """How far up a statement may move that binds a name to what is taken from a list."""
    own = ir.itself_mentions(block[at])
    return next((k + 1 for k in range(at - 1, -1, -1) if own & ir.mentions(block[k])), 0)


def _groups(tapes: list[_Tape]) -> list[list[_Tape]]:
    """The lists that may be one, each with at least another one."""
    groups: list[list[_Tape]] = []
    for tape in tapes:
        for group in groups:
            alike = tape.made == group[0].made and tape.target not in [t.target for t in group]
            if alike and tape.saved.meets(t.saved for t in group):
                if tape.taken.meets(t.taken for t in group):
                    group.append(tape)
                    break
        else:
            groups.append([tape])
    return [g for g in groups if len(g) > 1]


class _Join:
    """Writes the statements of each group at its places."""

    def __init__(self, function: ir.Function, groups: list[list[_Tape]]) -> None:
        self.whole = function
        self.fresh = ir.Fresh(ir.all_names(function))
        self.groups = [(self.fresh("saved"), group) for group in groups]
        self.gone = {t.name for group in groups for t in group}

    def function(self) -> ir.Function:
        """The function anew."""
        return ir.rebuilt(self.whole, body=self.block(self.whole.body))

    def block(self, block: ir.Block) -> ir.Block:
        """A block anew."""
        more: dict[int, list[ir.Stmt]] = {}
        each = (w for name, group in self.groups for w in self.written(block, name, group))
        # At one place a value is saved before its name is bound to what is taken from a list.
        for at, stmts in sorted(each, key=lambda w: type(w[1][0]) is not ir.Effect):
            more.setdefault(at, []).extend(stmts)
        out: list[ir.Stmt] = []
        for k, stmt in enumerate(block):
            out += more.get(k, ())
            if _does(stmt)[0] not in self.gone:
                out.append(stmt if type(stmt) in ir.PLAIN else ir.map_blocks(stmt, self.block))
        return (*out, *more.get(len(block), ()))

    def written(
        self, block: ir.Block, name: ir.Name, group: list[_Tape]
    ) -> Iterator[tuple[int, list[ir.Stmt]]]:
        """What a group has in a block, and where."""
        first = group[0]
        if first.saved.block == id(block):
            at = min(max(t.saved.at for t in group), *(t.saved.last for t in group))
            push = ir.Call(ir.Method("append"), (name, ir.Tup(tuple(t.value for t in group))))
            yield at, [ir.Effect(push, block[first.saved.at].loc)]
        if first.taken.block == id(block):
            at = min(t.taken.at for t in group)
            yield at, self.taken(name, group, block[at].loc)
        if first.made == id(block):
            at = min(k for k, s in enumerate(block) if _does(s)[0] in {t.name for t in group})
            yield at, [ir.Assign(name, ir.Call(ir.make_list), block[at].loc)]

    def taken(self, name: ir.Name, group: list[_Tape], loc: ir.Loc) -> list[ir.Stmt]:
        """`x, y = saved.pop()`."""
        each, role = self.fresh(), ir.Unpacks(len(group))
        out: list[ir.Stmt] = [ir.Assign(each, ir.Call(ir.Method("pop"), (name,)), loc)]
        for k, tape in enumerate(group):
            item = ir.Call(operator.getitem, (each, ir.Const(k)), role=role)
            out.append(ir.Assign(tape.target, item, loc))
        return out
