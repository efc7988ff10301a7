"""Calls of Python functions by what is known or assumed of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from srcdiff import ir
from srcdiff.analysis.complexes import may_be_complex
from srcdiff.frontend.bind import bind
from srcdiff.ir.kinds import UNKNOWN, Kind, List, Tuple, inside
from srcdiff.kinds.of_values import kind_of
from srcdiff.specialize.inline import function_of, is_user_function

Kinds = Mapping[str, Kind]
Does = Callable[[ir.Call], "Summary | None"]


@dataclass(frozen=True)
class Key:
    """A function for arguments of some kinds, the active ones named, and the kind of the result.

    `written` are the parameters whose final contents it returns behind its result, `resized` the
    lists among them, which it changes but not what they hold; `returned` those whose memory the
    result may share.  `mixed`: what has no known dtype may be complex.
    """

    function: Any
    kinds: tuple[tuple[str, Kind], ...]
    active: tuple[str, ...] = ()
    result: Kind = field(default=UNKNOWN, compare=False)
    written: tuple[str, ...] = ()
    returned: tuple[str, ...] = field(default=(), compare=False)
    taken: bool = field(default=False, compare=False)  # its caller copies what it returns
    mixed: bool = False
    entangled: bool = field(default=False, compare=False)  # the result may hold one array twice
    together: bool = field(default=False, compare=False)  # so it may, and copies of it hold it so
    resized: tuple[str, ...] = field(default=(), compare=False)
    items: tuple[str, ...] = field(default=(), compare=False)  # lists of which it holds only items

    def within(self, mixed: bool) -> Key:
        """The same, called where complex numbers may occur."""
        return replace(self, mixed=mixed and any(may_be_complex(k) for _, k in self.kinds))


@dataclass(frozen=True)
class Summary:
    """What a call of a function does: the kind of its result, and what it does to memory."""

    result: Kind
    written: tuple[str, ...] = ()
    returned: tuple[str, ...] = ()
    entangled: bool = False  # the result may hold one array twice
    together: bool = False  # so may that of a function that was generated
    resized: tuple[tuple[str, Kind], ...] = ()  # lists that it changes, as they are in the end
    same: tuple[str, ...] = ()  # lists that it, or an item of a tuple that it is, may be: no more
    items: tuple[str, ...] = ()  # lists of which it may hold items, and not themselves


NOTHING_YET = Summary(None)  # type: ignore[arg-type]  # what calls make of it has no kind either


def calls_function(stmt: ir.Stmt) -> bool:
    """Whether a statement calls a Python function."""
    call = ir.call_of(stmt)
    return call is not None and is_user_function(call.fn)


def kind_of_atom(atom: ir.Atom, kinds: Kinds) -> Kind:
    """The kind of an argument of a call."""
    if isinstance(atom, ir.Name):
        return kinds.get(atom.id, UNKNOWN)
    if isinstance(atom, (ir.Const, ir.Ref)):
        return kind_of(atom.value, "x")
    if isinstance(atom, ir.Tup):
        return Tuple(tuple(kind_of_atom(a, kinds) for a in atom.items))
    return UNKNOWN


def assuming(block: ir.Block, does: Does, fresh: ir.Fresh, lent: bool = False) -> ir.Block:
    """A block whose calls of Python functions do what is known or assumed of them.

    `lent`: whoever has what they return may write into the containers that it may be.
    """
    out: list[ir.Stmt] = []
    for stmt in block:
        if isinstance(stmt, (ir.Assign, ir.Effect)) and calls_function(stmt):
            assert isinstance(stmt.rhs, ir.Call)
            found = does(stmt.rhs)
            out += [stmt] if found is None else _assumed_call(stmt, stmt.rhs, found, fresh, lent)
            continue
        out.append(ir.map_blocks(stmt, lambda b: assuming(b, does, fresh, lent)))
    return tuple(out)


def _assumed_call(
    stmt: ir.Assign | ir.Effect, call: ir.Call, assumed: Summary, fresh: ir.Fresh, lent: bool
) -> Iterator[ir.Stmt]:
    """A call that returns what is assumed, and stores into the arguments that it writes into."""
    fn: Any = call.fn
    bound = bind(function_of(fn), call, stmt.loc)
    given = tuple((p, UNKNOWN) for p in bound)
    key = Key(
        fn, given, (), assumed.result, (), assumed.returned, entangled=assumed.entangled,
        items=assumed.items,
    )  # fmt: skip
    mark = ir.Call(ir.Derived("", "primal", key), tuple(bound.values()), (), call.text)
    yield replace(stmt, rhs=mark)
    lists = dict(assumed.resized)
    for param in assumed.written:
        base = bound.get(param)
        if isinstance(base, ir.Name) and param in lists:
            yield from _appended(base, lists[param], key, fresh, stmt.loc)
        elif isinstance(base, ir.Name):
            yield ir.SetItem(base, ir.Const(...), fresh(), None, stmt.loc)
    same = assumed.same if isinstance(stmt, ir.Assign) else ()
    if lent and same and isinstance(stmt, ir.Assign):
        own = [bound[p] for p in same]
        yield from _may_be(stmt.target, assumed.result, own, key, fresh, stmt.loc)
    gone = {*lists, *same}
    held = [p for p in assumed.returned if p not in assumed.items]
    others = [p for p in (*assumed.written, *held) if p not in gone]
    if lent and others:
        yield ir.Effect(ir.Call(fresh(), tuple(bound[p] for p in others if p in bound)), stmt.loc)


def _may_be(
    target: ir.Name, kind: Kind, given: list[ir.Atom], key: Key, fresh: ir.Fresh, loc: ir.Loc
) -> Iterator[ir.Stmt]:
    """What a call has returned, of which every list may be each of those that it was given."""
    if isinstance(kind, List):
        for atom in given:
            yield ir.If(fresh(), (ir.Assign(target, atom, loc),), (), loc)
    elif isinstance(kind, Tuple) and kind.items is not None:
        items = tuple(fresh() for _ in kind.items)
        for name, item in zip(items, kind.items):
            yield ir.Assign(name, _result(key, item), loc)
            yield from _may_be(name, item, given, key, fresh, loc)
        yield ir.If(fresh(), (ir.Assign(target, ir.Tup(items), loc),), (), loc)


def _result(key: Key, kind: Kind) -> ir.Call:
    """A call that returns something of a kind, and shares memory with nothing."""
    mark = ir.Derived("", "primal", replace(key, result=kind, returned=()))
    return ir.Call(mark, tuple(ir.NONE for _ in key.kinds))


def _appended(
    base: ir.Name, kind: Kind, key: Key, fresh: ir.Fresh, loc: ir.Loc
) -> Iterator[ir.Stmt]:
    """A change of a list, which then holds what a kind says."""
    for item in inside(kind) or (UNKNOWN,):
        made = fresh()
        yield ir.Assign(made, _result(key, item), loc)
        yield ir.Effect(ir.Call(ir.Method("append"), (base, made)), loc)


def is_user_call(rhs: ir.Rhs) -> bool:
    """Whether a right-hand side is a marked call."""
    return isinstance(rhs, ir.Call) and isinstance(rhs.fn, ir.Derived) and rhs.fn.part == "primal"
