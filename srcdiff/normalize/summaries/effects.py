"""What calls of Python functions that stay calls do to memory, as their summaries say it.

Takes a block, and what is known or assumed of the calls in it; gives the block with statements that
do to memory what the calls do.

What a call gives is kept and copied item by item.  Where the caller writes into one item and reads
another one that shares its memory (of `return y, y[1:]`) it would not see what it has written: such
calls are refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import field
from typing import Any

from srcdiff import ir
from srcdiff.analysis.links import (
    Groups,
    Link,
    groups,
    holds_containers,
    is_copy,
    marked_names,
)
from srcdiff.analysis.points_to import PointsTo
from srcdiff.frontend.signatures import bind
from srcdiff.ir.frozen import frozen, replace
from srcdiff.kinds.complexes import may_be_complex
from srcdiff.primitives.effects import written_into
from srcdiff.primitives.ops import Op, is_op
from srcdiff.specialize.inline import function_of, is_user_function

Does = Callable[[ir.Call], "Summary | None"]


@frozen
class Key:
    """A function for arguments of some kinds, the active ones named, and the kind of the result.

    `written` are the parameters whose final contents it returns behind its result, `returned` those
    whose memory the result may share.  `mixed`: what has no known dtype may be complex.
    """

    function: Any
    kinds: tuple[tuple[str, ir.Kind], ...]
    active: tuple[str, ...] = ()
    result: ir.Kind = field(default=ir.UNKNOWN, compare=False)
    written: tuple[str, ...] = ()
    returned: tuple[str, ...] = field(default=(), compare=False)
    taken: bool = field(default=False, compare=False)  # its caller copies what it returns
    mixed: bool = False
    entangled: bool = field(default=False, compare=False)  # the result may hold one array twice
    together: bool = field(default=False, compare=False)  # so it may, and copies of it hold it so
    items: tuple[str, ...] = field(default=(), compare=False)  # lists of which it holds only items

    def within(self, mixed: bool) -> Key:
        """The same, called where complex numbers may occur."""
        return replace(self, mixed=mixed and any(may_be_complex(k) for _, k in self.kinds))


@frozen
class Summary:
    """What a call of a function does: the kind of its result, and what it does to memory."""

    result: ir.Kind
    written: tuple[str, ...] = ()
    returned: tuple[str, ...] = ()
    entangled: bool = False  # the result may hold one array twice
    together: bool = False  # so may that of a function that was generated
    same: tuple[str, ...] = ()  # lists that it, or an item of a tuple that it is, may be: no more
    items: tuple[str, ...] = ()  # lists of which it may hold items, and not themselves


NOTHING_YET = Summary(None)  # type: ignore[arg-type]  # what calls make of it has no kind either


def calls_function(stmt: ir.Stmt) -> bool:
    """Whether a statement calls a Python function."""
    return is_user_function(ir.callee_of(stmt))


def assuming(block: ir.Block, does: Does, fresh: ir.Fresh, lent: bool = False) -> ir.Block:
    """A block whose calls of Python functions do what is known or assumed of them.

    `lent`: whoever has what they return may write into the containers that it may be.
    """

    def one(stmt: ir.Stmt) -> ir.Stmt | ir.Block:
        call = ir.call_of(stmt)
        found = does(call) if call is not None and is_user_function(call.fn) else None
        if call is None or found is None:
            return stmt
        return tuple(_assumed_call(stmt, call, found, fresh, lent))

    return ir.replaced(block, one)


def _assumed_call(
    stmt: ir.Stmt, call: ir.Call, assumed: Summary, fresh: ir.Fresh, lent: bool
) -> Iterator[ir.Stmt]:
    """A call that returns what is assumed, and stores into the arguments that it writes into."""
    fn: Any = call.fn
    bound = bind(function_of(fn), call, stmt.loc)
    given = tuple((p, ir.UNKNOWN) for p in bound)
    key = Key(
        fn, given, (), assumed.result, (), assumed.returned, entangled=assumed.entangled,
        items=assumed.items,
    )  # fmt: skip
    mark = ir.Call(ir.Derived("", "primal", key), tuple(bound.values()), (), call.text)
    yield ir.rebuilt(stmt, rhs=mark)
    for param in assumed.written:
        base = bound.get(param)
        if type(base) is ir.Name:
            yield ir.SetItem(base, ir.Const(...), fresh(), loc=stmt.loc)
    same = assumed.same if type(stmt) is ir.Assign else ()
    if lent and same and type(stmt) is ir.Assign:
        own = [bound[p] for p in same]
        yield from _may_be(stmt.target, assumed.result, own, key, fresh, stmt.loc)
    held = [p for p in assumed.returned if p not in (*assumed.items, *same)]
    others = (*assumed.written, *held)
    if lent and others:
        yield ir.Effect(ir.Call(fresh(), tuple(bound[p] for p in others if p in bound)), stmt.loc)


def _may_be(
    target: ir.Name, kind: ir.Kind, given: list[ir.Atom], key: Key, fresh: ir.Fresh, loc: ir.Loc
) -> Iterator[ir.Stmt]:
    """What a call has returned, of which every list may be each of those that it was given."""
    if type(kind) is ir.List:
        for atom in given:
            yield ir.If(fresh(), (ir.Assign(target, atom, loc),), (), loc)
    elif type(kind) is ir.Tuple and kind.items is not None:
        items = tuple(fresh() for _ in kind.items)
        for name, item in zip(items, kind.items):
            yield ir.Assign(name, _result(key, item), loc)
            yield from _may_be(name, item, given, key, fresh, loc)
        yield ir.If(fresh(), (ir.Assign(target, ir.Tup(items), loc),), (), loc)


def _result(key: Key, kind: ir.Kind) -> ir.Call:
    """A call that returns something of a kind, and shares memory with nothing."""
    mark = ir.Derived("", "primal", replace(key, result=kind, returned=()))
    return ir.Call(mark, tuple(ir.NONE for _ in key.kinds))


def is_user_call(rhs: ir.Rhs) -> bool:
    """Whether a right-hand side is a marked call."""
    return type(rhs) is ir.Call and type(rhs.fn) is ir.Derived and rhs.fn.part == "primal"


# --- lists, and which names may stand for one ----------------------------------------------------


def holds_values(kind: ir.Kind | None) -> bool:
    """Whether a value is a list of numbers and arrays, which hold no containers."""
    return type(kind) is ir.List and all(map(is_value, ir.contents(kind)))


def is_value(kind: ir.Kind) -> bool:
    """Whether a value certainly is no list or dict, and holds none."""
    if type(kind) is ir.Tuple and kind.items is not None:
        return all(map(is_value, kind.items))
    return isinstance(kind, (ir.Scalar, ir.Array, ir.Text, ir.NoneKind))


def together(function: ir.Function, kinds: ir.Kinds) -> Groups:
    """The names that may stand for one container, or for one that holds the other."""
    return groups(k for k in PointsTo.of(function, kinds).links if _may_be_one(k, kinds))


def _may_be_one(link: Link, kinds: ir.Kinds) -> bool:
    """Whether two linked names may be one container, or parts of each other."""
    source = kinds.get(link.source)
    if is_copy(link.stmt) and source is not None and not holds_containers(source):
        return False
    given = marked_arguments(link.stmt)
    if any(p in key.items and link.source in ir.names(a) for key, p, a in given):
        return False
    both = (kinds.get(n, ir.UNKNOWN) for n in (link.target, link.source))
    return all(ir.is_container(k) or not is_value(k) for k in both)


def marked_arguments(stmt: ir.Stmt) -> Iterator[tuple[Key, str, ir.Atom]]:
    """What is known of a marked call, with every parameter of its callee and what that is given."""
    call = ir.call_of(stmt)
    key = call.fn.key if call is not None and type(call.fn) is ir.Derived else None
    if call is not None and isinstance(key, Key):
        yield from ((key, p, a) for (p, _), a in zip(key.kinds, call.args))


# --- results of recursive functions that hold one array twice: `return y, y[1:]` -----------------


def is_entangled(function: ir.Function, kinds: ir.Kinds) -> bool:
    """Whether two parts of what a function returns may share memory.

    What a call gives holds nothing twice, unless its own summary says so.
    """
    last = function.body[-1]
    assert type(last) is ir.Return
    calls = [s for s in ir.walk(function) if type(s) is ir.Assign and is_user_call(s.rhs)]
    if any(s.rhs.fn.key.entangled for s in calls):  # type: ignore[union-attr]
        return True
    given = {s.target.id for s in calls}
    known = PointsTo.of(function, kinds)
    links = [_apart(k) if k.source in given else k for k in known.links]
    group = groups((*(k for k in links if k.how != "stored"), *known.marks))
    held: dict[str, list[Link]] = {}
    for link in links:
        if link.how == "stored":
            held.setdefault(group.of(link.target), []).append(link)
    memory = _Memory(kinds, group, held, _looped(function))
    parts = Counter(memory.parts(ir.occurrences(last.value), frozenset()))
    return any(count > 1 for count in parts.values())


def _apart(link: Link) -> Link:
    """A link whose source is an item of what a call gives, in place of all of that."""
    call = ir.call_of(link.stmt)
    key = call.args[1] if is_op(call, Op.GETITEM) else None
    if type(key) is not ir.Const:
        return link
    return replace(link, source=f"{link.source}[{key.value}]")


def _looped(function: ir.Function) -> frozenset[str]:
    """The names that loops bind."""
    loops = (s for s in ir.walk(function) if isinstance(s, (ir.For, ir.While)))
    return frozenset(n for loop in loops for n in ir.bound(loop.body))


@frozen
class _Memory:
    """The memory of names (by `group`), and what containers hold."""

    kinds: ir.Kinds
    group: Groups
    held: Mapping[str, list[Link]]
    looped: frozenset[str]

    def parts(self, names: Iterable[str], seen: frozenset[str]) -> Iterator[str]:
        """The memory of all that some names hold, each as often as it may be held."""
        for name in names:
            mine = self.group.of(name)
            if ir.is_scalar(self.kinds.get(name, ir.UNKNOWN)) or mine in seen:
                continue
            yield mine
            for link in self.held.get(mine, ()):
                yield from self.parts(self.sources(link), seen | {mine})

    def sources(self, link: Link) -> list[str]:
        """The name that a statement stores, as often as it does."""
        stored = ir.operands(link.stmt)[-1]
        times = max(1, ir.occurrences(stored).count(link.source))
        again = link.inside and link.source not in self.looped
        return [link.source] * (times + 1 if again else times)


def written_names(function: ir.Function, kinds: ir.Kinds) -> frozenset[str]:
    """The names whose memory some statement writes into, in a function whose calls are marked."""
    stmts = ir.walk(function)
    return frozenset(n for s in stmts for n in marked_names(s) or written_into(s, kinds))
