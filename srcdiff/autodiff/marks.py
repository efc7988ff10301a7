"""Marks on calls of Python functions that stay calls, with what each does to its arguments.

`user_calls` marks them, with the kind of their result, and refuses callees that write into what
somebody else can see.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from srcdiff import ir
from srcdiff.analysis.links import written_classes
from srcdiff.autodiff.calls import item_of
from srcdiff.check.returned_lists import check_returned
from srcdiff.errors import UnsupportedError
from srcdiff.frontend.bind import bind
from srcdiff.ir.builder import Lines
from srcdiff.ir.kinds import UNKNOWN, Kind, Tuple
from srcdiff.kinds.typed import Typed
from srcdiff.normalize.summaries.assumed import (
    Key,
    Summary,
    calls_function,
    is_user_call,
    kind_of_atom,
)
from srcdiff.normalize.summaries.consistent import plain_kind
from srcdiff.normalize.summaries.entangled import written_names
from srcdiff.normalize.summaries.induction import Near, refined_kinds, summary
from srcdiff.normalize.summaries.resized import Names, holds_values, item_writes
from srcdiff.primitives.views import is_array
from srcdiff.runtime import layout
from srcdiff.specialize.inline import function_of

Kinds = Mapping[str, Kind]


def user_calls(typed: Typed) -> ir.Function:
    """The function with calls of Python functions marked as `Derived` calls of their primal.

    A call that writes into an argument becomes one that returns the final contents as well, and a
    store of these: `y = h(a)` becomes `t = h(a); a[...] = t[1]; y = t[0]`.  What it returns of an
    array that somebody writes into is looked up there: `y = view_like(a, t[0], t[1], copy)`.

    Raises:
        UnsupportedError: what is written into is no array, or may be another argument.
    """
    function, kinds = typed.function, refined_kinds(typed)
    marker = _Marker(function, kinds, {}, None, frozenset())
    marked = replace(function, body=marker.block(function.body))
    if not any(s.written or s.returned or s.entangled or s.together for s in marker.known.values()):
        return marked
    check_returned(marked, kinds)
    # What that shows of memory decides what may be written into, and what is looked up.
    stored = frozenset(written_classes(marked, kinds))
    names = written_names(marked, kinds)
    changed = names - item_writes(marked, kinds)
    near, lists = Near(marked, kinds), Names(marked, kinds)
    marker = _Marker(function, kinds, marker.known, near, stored, names, changed, lists)
    return replace(function, body=marker.block(function.body))


@dataclass
class _Marker:
    """The pass over the blocks of a function; `stored`: the names of memory that is written."""

    function: ir.Function
    kinds: Kinds
    known: dict[Any, Summary]
    near: Near | None
    stored: frozenset[str]
    written: frozenset[str] = frozenset()  # the names by which it is
    changed: frozenset[str] = frozenset()  # lists among these whose items are not written into
    lists: Names | None = None  # which names may stand for one list, the calls being marked

    def __post_init__(self) -> None:
        self.fresh = ir.Fresh(ir.all_names(self.function))
        self.names = Names(self.function, self.kinds)

    def block(self, block: ir.Block) -> ir.Block:
        """A block with its calls marked."""
        out: list[ir.Stmt] = []
        for stmt in block:
            if isinstance(stmt, (ir.Assign, ir.Effect)) and calls_function(stmt):
                assert isinstance(stmt.rhs, ir.Call)
                call = _marked_call(stmt.rhs, self.kinds, stmt.loc, self.known)
                call = self.with_names(call, stmt.loc, out)
                self.check_entangled(stmt, call)
                if is_user_call(call) and (call.fn.key.written or self.shared(stmt, call)):  # type: ignore[union-attr]
                    out += self.stored_back(stmt, call)
                    continue
                stmt = replace(stmt, rhs=call)
            out.append(ir.map_blocks(stmt, self.block))
        return tuple(out)

    def with_names(self, call: ir.Call, loc: ir.Loc, out: list[ir.Stmt]) -> ir.Call:
        """A call whose `*args` from a sequence, and displays of variables, have a name."""
        args: list[ir.Atom] = []
        for atom in call.args:
            if isinstance(atom, ir.Call) or (isinstance(atom, ir.Tup) and ir.names(atom)):
                name = self.fresh()
                out.append(ir.Assign(name, atom, loc))
                atom = name
            args.append(atom)
        return replace(call, args=tuple(args)) if is_user_call(call) else call

    def check_entangled(self, stmt: ir.Assign | ir.Effect, call: ir.Call) -> None:
        """Of what shares memory in the result of a call nothing is written into."""
        if self.near is None or not isinstance(stmt, ir.Assign) or not is_user_call(call):
            return
        assert isinstance(call.fn, ir.Derived)
        found = self.known.get((call.fn.key.function, call.fn.key.kinds))
        if found is None or not (found.entangled or found.together):
            return
        written = (n for n in self.written if not self.is_own_list(ir.Name(n)))
        if any(self.shows(stmt.target.id, n) for n in written):
            raise UnsupportedError(
                f"the recursive function `{call.fn.name}` returns arrays that may share memory, "
                "and one of them is written into here",
                stmt.loc,
                remedy="Return a copy of one of them.",
            )

    def shows(self, result: str, name: str) -> bool:
        """Whether a result shows what is written into something by a name."""
        assert self.near is not None and self.lists is not None
        if name in self.changed:
            return self.lists.may_be_one(result, name)
        return self.near.share(result, name)

    def shared(self, stmt: ir.Assign | ir.Effect, call: ir.Call) -> tuple[str, ...]:
        """The parameters whose memory the result may share, and that somebody writes into."""
        assert isinstance(call.fn, ir.Derived)
        key: Key = call.fn.key
        result: Any = key.result
        result = result.items[0] if key.written else result
        if not isinstance(stmt, ir.Assign) or not is_array(result):
            return ()
        args = {p: a for (p, _), a in zip(key.kinds, call.args)}
        return tuple(
            p
            for p in key.returned
            if p not in key.resized
            and (p in key.written or any(n in self.stored for n in ir.names(args[p])))
        )

    def stored_back(self, stmt: ir.Assign | ir.Effect, call: ir.Call) -> Iterator[ir.Stmt]:
        """A call that writes into arguments, and what it has written stored in them."""
        assert isinstance(call.fn, ir.Derived)
        key: Key = call.fn.key
        shared = self.shared(stmt, call)
        args = {p: a for (p, _), a in zip(key.kinds, call.args)}
        if self.near is not None:
            _check_apart(key, shared, args, self.near, stmt)
        fresh, loc, of = self.fresh, stmt.loc, 1 + len(key.written)
        lines = Lines(fresh, loc)
        olds = {p: _copied(args[p], lines) for p in shared if p not in key.written}
        both = fresh()
        for_nothing = isinstance(stmt, ir.Effect) and not key.resized
        rest = () if for_nothing else tuple(p for p in key.returned if p not in shared)
        taken = bool(shared) or for_nothing
        fn = replace(call.fn, key=replace(key, returned=rest, taken=taken))
        given = tuple(olds.get(p, a) for p, a in args.items())
        lines.assign(both, replace(call, fn=fn, args=given))
        for k, param in enumerate(key.written, 1):
            base = args[param]
            if param in key.resized and self.is_own_list(base):
                if isinstance(base, ir.Name):
                    changed = fresh()
                    lines.assign(changed, item_of(both, k, of))
                    lines.assign(base, ir.Call(list, (changed,), text="list"))
                continue
            if not isinstance(base, ir.Name) or not is_array(self.kinds.get(base.id)):
                raise _unclear_argument(param, call.fn.name, loc)
            olds[param] = fresh()
            lines.assign(olds[param], item_of(both, k, of))
            lines.store(base, ir.Const(...), olds[param])
        if isinstance(stmt, ir.Assign):
            result = item_of(both, 0, of) if key.written else both
            if shared:
                result = _looked_up(result, [(args[p], olds[p]) for p in shared], lines)
            lines.assign(stmt.target, result)
        yield from lines.out


    def is_own_list(self, base: ir.Atom) -> bool:
        """Whether a list that a call changes has no other name here."""
        if not isinstance(base, ir.Name):
            return False
        return holds_values(self.kinds.get(base.id)) and self.names.is_alone(base.id)


def _looked_up(
    result: ir.Rhs, shared: Sequence[tuple[ir.Atom, ir.Name]], lines: Lines
) -> ir.Call:
    """What a call returns, as a part of the arrays whose copies it may be a part of."""
    given = lines.fresh()
    lines.assign(given, result)
    other = _copied(given, lines)
    *first, last = shared
    for base, old in first:
        other = lines.call(layout.view_like, base, given, old, other)
    return ir.Call(layout.view_like, (last[0], given, last[1], other), text="view_like")


def _copied(atom: ir.Atom, lines: Lines) -> ir.Name:
    """A copy of an array that lies in memory as it does."""
    copy = lines.fresh()
    lines.assign(copy, ir.Call(layout.laid_copy, (atom,)))
    return copy


def _check_apart(
    key: Key,
    shared: tuple[str, ...],
    args: Mapping[str, ir.Atom],
    near: Near,
    stmt: ir.Assign | ir.Effect,
) -> None:
    """What is written into is no other argument, and is returned only as an array."""
    name, loc = getattr(key.function, "__name__", "the function"), stmt.loc
    inside = set(key.written) - set(key.resized)
    if isinstance(stmt, ir.Assign) and set(key.returned) & inside - set(shared):
        raise UnsupportedError(
            f"the recursive function `{name}` writes into its argument `{key.returned[0]}` and "
            "may return it, or a part of it in something else",
            loc,
            remedy="Return a copy of it, or nothing.",
        )
    for param in key.written:
        for other, atom in args.items():
            one, two = ir.names(args[param]), ir.names(atom)
            same = operator.eq if param in key.resized else near.share
            if other != param and any(same(a, b) for a in one for b in two):
                raise UnsupportedError(
                    f"the recursive function `{name}` writes into its argument `{param}`, which "
                    f"may share memory with `{other}`",
                    loc,
                    remedy="Pass a copy of one of them.",
                )


def _unclear_argument(param: str, name: str, loc: ir.Loc) -> UnsupportedError:
    return UnsupportedError(
        f"the recursive function `{name}` writes into its argument `{param}`, which is not surely "
        "an array, or a list of numbers and arrays that has no other name",
        loc,
        remedy="Return a new value instead, or write a loop.",
    )


def _marked_call(
    call: ir.Call, kinds: Kinds, loc: ir.Loc, known: dict[Any, Summary]
) -> ir.Call:
    """A call with its arguments in the order of the parameters; `known` takes its summary."""
    fn: Any = call.fn
    try:
        callee = function_of(fn)
    except UnsupportedError:
        return call
    bound = bind(callee, call, loc)
    given = tuple((p, plain_kind(kind_of_atom(a, kinds))) for p, a in bound.items())
    if (fn, given) not in known:
        known[fn, given] = summary(fn, dict(given))
    mark = _mark(fn, given, known[fn, given])
    return ir.Call(mark, tuple(bound.values()), (), call.text)


def _mark(fn: Any, given: tuple[tuple[str, Kind], ...], found: Summary) -> ir.Derived:
    """The callee of a marked call."""
    result = found.result
    if found.written:
        last = {**dict(given), **dict(found.resized)}
        result = Tuple((result, *(last.get(p, UNKNOWN) for p in found.written)))
    lists = tuple(p for p, _ in found.resized)
    key = Key(
        fn, given, (), result, found.written, found.returned, together=found.together,
        resized=lists, items=found.items,
    )  # fmt: skip
    return ir.Derived(getattr(fn, "__name__", ""), "primal", key)
