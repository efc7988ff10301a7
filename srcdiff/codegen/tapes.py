"""What is saved in one place, and taken back in one place, is saved in one list.

`joined` takes a finished function and returns it with `saved.append((x, y))` for
`x_saved.append(x); y_saved.append(y)`, and with `x, y = saved.pop()` for the two that take them
back.  `normalize/stacks.py` takes such lists apart again.  The invariant: what is saved together is
taken back together, and each value is the one that its own list would have had.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Iterator, Mapping

from srcdiff import ir
from srcdiff.analysis.effects import slot_of
from srcdiff.ir.frozen import frozen, replace
from srcdiff.primitives.ops import Op, calling, is_op
from srcdiff.runtime import sequences

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


Places = tuple[tuple[int, ...], ...]
"""The places that residuals had before: of each that is a list now of several, all of them."""


def joined_pair(
    forward: ir.Function, backward: ir.Function
) -> tuple[ir.Function, ir.Function, Places]:
    """Both parts of a pair with one list, and so one residual, for what is saved together.

    They are looked at as one function, in which the lists are handed on by their names.
    """
    *body, last = forward.body
    assert type(last) is ir.Return and type(last.value) is ir.Tup
    value, kept = last.value.items
    assert type(kept) is ir.Tup
    residuals, known = backward.params[0].name, ir.all_names(forward) | ir.all_names(backward)
    fresh, lists = ir.Fresh(known), {}
    for name, place in _residuals(backward):
        item = kept.items[place]
        if type(item) is ir.Name and _TAPE.match(item.id):
            lists[name] = item.id
    apart = {n: lists.get(n) or fresh(n).id for n in ir.all_names(backward)}
    rest = tuple([s for s in backward.body if lists.keys().isdisjoint(ir.writes(s))])
    whole = replace(forward, body=(*body, ir.Backward(), *ir.rename(rest, apart)))
    tapes = _tapes(whole)
    groups = _groups(tapes) if len(tapes) > 1 else []
    if not groups:
        return forward, backward, ()
    join = _Join(whole, groups, known)
    made = join.function().body
    cut = next(k for k, s in enumerate(made) if type(s) is ir.Backward)
    places = [(k,) for k, i in enumerate(kept.items) if not join.gone.intersection(ir.names(i))]
    of = {i.id: k for k, i in enumerate(kept.items) if type(i) is ir.Name}
    joined = tuple(tuple(of[t.name] for t in group) for _, group in join.groups)
    names = tuple(name for name, _ in join.groups)
    items = (*(kept.items[k] for (k,) in places), *names)
    both = replace(last, value=ir.Tup((value, ir.Tup(items))))
    back = ir.rename(made[cut + 1 :], {a: n for n, a in apart.items()})
    named = ((n, of[i]) for n, i in lists.items() if i not in join.gone)
    unpack = (_unpacked(backward, n, k, last.loc) for n, k in named)
    layout = (*places, *joined)
    back = _moved((*unpack, *back), backward, layout)
    ends = (_unpacked(backward, n.id, len(places) + k, last.loc) for k, n in enumerate(names))
    first = next((k for k, s in enumerate(back) if residuals not in ir.reads(s)), len(back))
    back = (*back[:first], *ends, *back[first:])
    return replace(forward, body=(*made[:cut], both)), replace(backward, body=back), layout


def _unpacked(backward: ir.Function, name: str, place: int, loc: ir.Loc) -> ir.Assign:
    """The statement that gives a residual its name."""
    residuals = ir.Name(backward.params[0].name)
    return ir.Assign(ir.Name(name), ir.Call(operator.getitem, (residuals, ir.Const(place))), loc)


def _residuals(backward: ir.Function) -> Iterator[tuple[str, int]]:
    """The names that a backward part gives its residuals, and their places."""
    own = ir.Name(backward.params[0].name)
    for stmt, call in calling(backward, Op.GETITEM):
        if type(stmt) is ir.Assign and call.args[0] == own and type(call.args[1]) is ir.Const:
            yield stmt.target.id, call.args[1].value


def popped(backward: ir.Function) -> tuple[int, ...]:
    """The places of the residuals of which a backward part only pops what they hold."""
    stmts = ir.walk(backward.body)
    seen = {n for s in stmts for n in ir.reads(s) if n != slot_of(ir.call_of(s))}
    taken = {slot_of(ir.call_of(s)) for s in stmts if is_op(ir.call_of(s), Op.POP)}
    return tuple(k for name, k in _residuals(backward) if name in taken - seen)


def with_joined(backward: ir.Function, layout: Places) -> ir.Function:
    """A backward part that was made for residuals as they were, for those of a joined pair."""
    return replace(backward, body=_moved(backward.body, backward, layout)) if layout else backward


def _moved(block: ir.Block, backward: ir.Function, layout: Places) -> ir.Block:
    """Statements that take residuals from where they are now: parts of a list that is joined."""
    own = ir.Name(backward.params[0].name)

    def stmt(s: ir.Stmt) -> ir.Stmt:
        if type(s) is not ir.Assign or not is_op(s.rhs, Op.GETITEM) or s.rhs.args[0] != own:
            return s
        old = s.rhs.args[1]
        assert type(old) is ir.Const
        place = next(k for k, held in enumerate(layout) if old.value in held)
        args = own, ir.Const(place)
        if len(layout[place]) == 1:
            return replace(s, rhs=replace(s.rhs, args=args))
        part = ir.Const(layout[place].index(old.value))
        return replace(s, rhs=ir.Call(sequences.column, (*args, part), text="column"))

    return ir.replaced(block, stmt)


@frozen
class _Place:
    """A statement in a block, and from where to where in it the statement may as well stand."""

    block: int  # its identity
    at: int
    first: int
    last: int

    def common(self, other: _Place) -> _Place | None:
        """Where both of two statements may stand."""
        first, last = max(self.first, other.first), min(self.last, other.last)
        one = self.block == other.block and first <= last
        return _Place(self.block, self.at, first, last) if one else None


@frozen
class _Tape:
    """A list of saved values: the block that makes it, what fills it, and what empties it."""

    name: str
    made: int
    value: ir.Atom
    target: ir.Name
    saved: _Place
    taken: _Place


class _Block:
    """Where in a block names are mentioned, bound anew, and stand for what is written into."""

    def __init__(self, block: ir.Block) -> None:
        self.block = block
        self.mentioned: dict[str, list[int]] = {}
        self.rebound: dict[str, list[int]] = {}
        self.written: dict[str, int] = {}  # the last place
        for k, stmt in enumerate(block):
            for name in ir.mentions(stmt):
                self.mentioned.setdefault(name, []).append(k)
            for name in ir.rebound((stmt,)):
                self.rebound.setdefault(name, []).append(k)
            if isinstance(stmt, (ir.Store, ir.Effect)) and not _does(stmt)[0]:
                self.written.update(dict.fromkeys(ir.reads(stmt)[:1], k))

    def saves(self, name: str, at: int) -> _Place:
        """Where values may be saved in a list: neither bound before nor behind, nor it emptied."""
        values = ir.reads(self.block[at])
        stops = [k for n in values for k in self.rebound.get(n, ()) if k != at]
        stops += [k for k in self.mentioned[name] if k != at]
        first = max((k + 1 for k in stops if k < at), default=0)
        last = min((k for k in stops if k > at), default=len(self.block))
        if last < len(self.block) and _does(self.block[last])[0]:
            last = max(at + 1, self.takes(last).first)  # which may move as well
        return _Place(id(self.block), at, first, last)

    def takes(self, at: int) -> _Place:
        """Where a name may be bound to what is taken from a list: not behind what mentions it."""
        own = ir.itself_mentions(self.block[at])
        first = max((k + 1 for n in own for k in self.mentioned[n] if k < at), default=0)
        return _Place(id(self.block), at, first, at)

    def is_old(self, at: int, mentions: Mapping[str, int]) -> bool:
        """Whether a statement saves what is taken for it out of memory that is written into later.

        That reads best where it stands.
        """
        source = {*ir.reads(self.block[at])}
        for k in range(at - 1, -1, -1):
            stmt = self.block[k]
            (taken,) = ir.writes(stmt) if type(stmt) is ir.Assign else ("",)
            if taken not in source or mentions[taken] != 2 or not is_op(ir.call_of(stmt), *_TAKES):
                break
            source.update(ir.reads(stmt))
        return len(source) > 2 and any(self.written.get(n, -1) > at for n in source)


def _tapes(function: ir.Function) -> list[_Tape]:
    """The lists that are made, filled and emptied by one statement each, and not mentioned else."""
    mentions = ir.mention_counts(function)
    found: dict[str, dict[Op, tuple[_Block, int]]] = {}
    for block in map(_Block, ir.walk_blocks(function.body)):
        for k, stmt in enumerate(block.block):
            name, op = _does(stmt)
            if mentions[name] == 3 and not block.is_old(k, mentions):
                found.setdefault(name, {})[op] = block, k
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


def _tape(name: str, does: Mapping[Op, tuple[_Block, int]]) -> _Tape:
    """A list by its three statements."""
    (made, _), (block, at), (other, end) = (
        does[op] for op in (Op.MAKE_LIST, Op.APPEND, Op.POP)
    )
    push, pop = block.block[at], other.block[end]
    assert type(push) is ir.Effect and type(push.rhs) is ir.Call and type(pop) is ir.Assign
    places = block.saves(name, at), other.takes(end)
    return _Tape(name, id(made.block), push.rhs.args[1], pop.target, *places)


def _groups(tapes: list[_Tape]) -> list[list[_Tape]]:
    """The lists that may be one, each with at least another one."""
    groups: list[list[_Tape]] = []
    places: list[tuple[_Place, _Place]] = []
    for tape in tapes:
        for k, (group, (saved, taken)) in enumerate(zip(groups, places)):
            both = saved.common(tape.saved), taken.common(tape.taken)
            alike = tape.made == group[0].made and tape.target not in [t.target for t in group]
            if both[0] is not None and both[1] is not None and alike:
                group.append(tape)
                places[k] = both[0], both[1]
                break
        else:
            groups.append([tape])
            places.append((tape.saved, tape.taken))
    return [g for g in groups if len(g) > 1]


class _Join:
    """Writes the statements of each group at its places."""

    def __init__(
        self, function: ir.Function, groups: list[list[_Tape]], known: frozenset[str] = frozenset()
    ) -> None:
        self.whole = function
        self.fresh = ir.Fresh(ir.all_names(function) | known)
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
