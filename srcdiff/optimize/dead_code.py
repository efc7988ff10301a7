"""Remove what nobody needs: assignments, stores, saves, loops and branches without effect.

A name is needed where a path leads to a read of it by a statement that is itself needed.  A list or
array that only this function has, under one name, is written into for nothing if no needed
statement looks at it: then its stores, appends and pops go, all of them.  Who asks for the shape of
an array does not look at what it holds.

A cotangent that is checked against an argument asks the output for its shape and dtype.  Where a
parameter that never changes has the same, and the output is needed for nothing else, what computes
it is left out: the adjoint of a linear function runs without the function.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence

from srcdiff import ir
from srcdiff.ir.frozen import remember, replace
from srcdiff.optimize.memory import Sharers
from srcdiff.optimize.shapes import COPIES, are_alike, copied
from srcdiff.primitives.effects import (
    asked,
    is_pure,
    mutated_args,
    only_computes,
    only_writes,
    returns_view,
)
from srcdiff.primitives.operation import ARRAY_MUTATORS, LIST_MUTATORS, op_of
from srcdiff.primitives.ops import Op, calling, is_op


def remove_dead(function: ir.Function, kinds: ir.Kinds | None = None) -> ir.Function:
    """The function without dead statements; `kinds` tell which names cannot share memory."""
    sweep = _Sweep(function, kinds or {})
    while True:
        body = sweep.block(function.body, set())
        # Another sweep leaves out the same, unless what it wrote into has become needed.
        if sweep.needed.isdisjoint(sweep.refused.values()):
            return ir.rebuilt(function, body=body)
        sweep.refused.clear()


def stored_into(stmt: ir.Stmt) -> str | None:
    """The one name that a statement writes into, if that is all that it does besides binding."""
    found = stmt._stored
    if found is None:
        call = ir.call_of(stmt)
        if call is not None:
            base = _stored_by(call)
        else:
            base = stmt.base.id if isinstance(stmt, ir.Store) else None
        found = remember(stmt, "_stored", base or "")
    return found or None


def _stored_by(call: ir.Call) -> str | None:
    """The one name that a call writes into, if that is all that it does besides its result."""
    written = mutated_args(call)
    if len(written) != 1 or written != call.args[:1]:
        return None
    if type(call.fn) is ir.Method:
        writes = call.fn.name in ARRAY_MUTATORS | LIST_MUTATORS
    else:
        writes = only_writes(call.fn)
    return written[0].id if writes and type(written[0]) is ir.Name else None


def _private(
    function: ir.Function, kinds: ir.Kinds, swapped: Mapping[str, frozenset[str]]
) -> frozenset[str]:
    """The names of what is written into that are only ever bound to new memory.

    Whether it stays private shows later.
    """
    statements = ir.walk(function)
    stored = {stored_into(s) for s in statements} - {p.name for p in function.params}
    stored |= {n for name, names in swapped.items() if name in stored for n in names}
    others = [s for s in statements if type(s) is not ir.Assign and type(s) is not ir.Permute]
    made = [s for s in statements if type(s) is ir.Assign and s.target.id in stored]
    shared = {n for s in others for n in ir.writes(s) if n in stored}
    shared |= {s.target.id for s in made if not _makes_new(s, kinds)}
    found = {s.target.id for s in made} - shared - _written_through(function, kinds)
    return frozenset(n for n in found if swapped.get(n, frozenset()) <= found)


def _swapped(function: ir.Function) -> dict[str, frozenset[str]]:
    """The names that take each other's values, for each of them."""
    found: dict[str, frozenset[str]] = {}
    for stmt in (s for s in ir.walk(function) if type(s) is ir.Permute):
        names = frozenset(ir.writes(stmt))
        names = names.union(*(found.get(n, ()) for n in names))
        found.update(dict.fromkeys(names, names))
    return found


def _written_through(function: ir.Function, kinds: ir.Kinds) -> set[str]:
    """The containers of which an item is written into: `xs[i] += v`, and others may have it too."""
    statements = ir.walk(function)
    bases = {s.base.id for s in statements if type(s) is ir.AugAssign}
    bases.update(n for _, c in calling(function, *_ITEM_WRITERS) for n in ir.names(c.args[0]))
    open_ = bases - kinds.keys()
    arrays = {n for s in statements if open_ and _makes_array(s) for n in ir.writes(s)}
    return {n for n in bases if (n not in arrays if n in open_ else ir.holds_memory(kinds[n]))}


_ITEM_WRITERS = (Op.ADD_INTO, Op.ADD_SHARED, Op.PUT_BACK)


def _makes_array(stmt: ir.Stmt) -> bool:
    """Whether a statement binds a name to what a function of NumPy makes."""
    call = ir.call_of(stmt)
    return call is not None and op_of(call.fn).name.rpartition(".")[0] == "numpy"


def _makes_new(stmt: ir.Assign, kinds: ir.Kinds) -> bool:
    """Whether a statement binds a name to memory that nothing else has."""
    if type(stmt.rhs) is ir.Call:
        if is_op(stmt.rhs, Op.COTANGENT):
            return type(kinds.get(stmt.target.id)) is ir.Array
        empty = is_op(stmt.rhs, Op.MAKE_LIST, Op.MAKE_DICT) and not stmt.rhs.args
        return empty or (is_pure(stmt.rhs.fn) and not returns_view(stmt.rhs, kinds))
    return type(stmt.rhs) is ir.Const


def _formed(function: ir.Function, private: frozenset[str], kinds: ir.Kinds) -> frozenset[str]:
    """The arrays among the private names whose shape no store changes."""
    found = frozenset(n for n in private if type(kinds.get(n)) is ir.Array)
    calls = ir.calls(function.body if found else ())
    reshaped = (c for c in calls if type(c.fn) is ir.Method and c.fn.name in _RESHAPES)
    return found.difference(*(ir.names(c.args[0]) for c in reshaped))


_RESHAPES = ("resize", "setfield", "setflags")


class _Sweep:
    """Backward walks with the live names; statements that are not needed are left out."""

    def __init__(self, function: ir.Function, kinds: ir.Kinds) -> None:
        self.kinds = kinds
        self.swapped = _swapped(function)
        self.private = _private(function, kinds, self.swapped)
        self.formed = _formed(function, self.private, kinds)
        self.sharers = functools.partial(Sharers.of, function, kinds)
        self.needed: set[str] = set()
        self.refused: dict[int, str] = {}  # what statements wrote into that were left out for that
        # What is live at the head of each loop, as far as is known: the more lists have become
        # needed the more is live, so another sweep starts from what the last one found.
        self.heads: dict[int, set[str]] = {}

    def block(self, block: ir.Block, live: set[str]) -> ir.Block:
        """The needed statements of a block; `live` becomes what is live before it."""
        found = [self.stmt(stmt, live) for stmt in reversed(block)]
        return tuple([stmt for stmt in reversed(found) if stmt is not None])

    def stmt(self, stmt: ir.Stmt, live: set[str]) -> ir.Stmt | None:
        """A statement as far as it is needed."""
        if type(stmt) is ir.Assign:
            return self.assign(stmt, live)
        if type(stmt) is ir.If:
            return self.branch(stmt, live)
        if isinstance(stmt, (ir.For, ir.While)):
            return self.loop(stmt, live)
        if type(stmt) is ir.Backward:
            return stmt
        base = stored_into(stmt)
        if not self.is_needed(stmt, base, live):
            return None
        if type(stmt) is ir.Permute and len(live.intersection(ir.writes(stmt))) == 1:
            target, source = next(p for p in zip(stmt.targets, stmt.sources) if p[0].id in live)
            return self.kept(ir.Assign(target, source, stmt.loc), base, live)
        return self.kept(stmt, base, live)

    def assign(self, stmt: ir.Assign, live: set[str]) -> ir.Stmt | None:
        """An assignment as far as it is needed."""
        base, dead = stored_into(stmt), stmt.target.id not in live
        if base is None and not dead:
            return self.kept(stmt, None, live)
        if not self.is_needed(stmt, base, live):
            return None
        call = ir.call_of(stmt)
        if dead and call is not None and _has_no_name(stmt, call):
            return self.kept(ir.Effect(call, stmt.loc), base, live)
        return self.kept(stmt, base, live)

    def kept(self, stmt: ir.Stmt, base: str | None, live: set[str]) -> ir.Stmt:
        """A statement that is needed, which writes into `base`."""
        if type(stmt) is ir.Assign:
            live.discard(stmt.target.id)
        else:
            live.difference_update(ir.writes(stmt))
        reads = ir.itself_reads(stmt)
        if base is None and self.private.isdisjoint(reads):
            live.update(reads)
            return stmt
        forms = self.forms(stmt)
        if base is None and not forms:
            self.need(reads, live)
            return stmt
        self.need(self.looked_at(stmt, base, forms), live)
        live.update(forms if base is None else (*forms, base))
        return stmt

    def need(self, names: Sequence[str], live: set[str]) -> None:
        """A needed statement looks at some names."""
        live.update(names)
        for name in self.private.intersection(names):
            self.needed.add(name)
            self.needed.update(self.swapped.get(name, ()))

    def is_needed(self, stmt: ir.Stmt, base: str | None, live: set[str]) -> bool:
        """Whether a plain statement, which writes into `base`, does something that is needed."""
        if base is not None and base in self.private:
            seen = self.is_seen(base, live) or not live.isdisjoint(ir.writes(stmt))
            self.refused[id(stmt)] = "" if seen or base in self.needed else base
            return seen
        if type(stmt) is ir.Assign:
            return stmt.target.id in live or not only_computes(stmt.rhs)
        return type(stmt) is not ir.Permute or not live.isdisjoint(ir.writes(stmt))

    def is_seen(self, base: str, live: set[str]) -> bool:
        """Whether somebody looks at what a private name holds from here on."""
        if base not in self.needed:
            return False
        return base in live or not self.sharers().is_alone(base, live)

    def looked_at(self, stmt: ir.Stmt, base: str | None, forms: frozenset[str]) -> Sequence[str]:
        """The names whose value a statement looks at; writing into one is not looking."""
        if base is None or base not in self.private:
            reads = ir.itself_reads(stmt)
            return [n for n in reads if n not in forms] if forms else reads
        if isinstance(stmt, ir.Store):
            index = () if stmt.index is None else ir.names(stmt.index)
            return [*index, *ir.names(stmt.value)]
        assert isinstance(stmt, (ir.Assign, ir.Effect)) and type(stmt.rhs) is ir.Call
        call = stmt.rhs
        others = (*call.args[1:], *(v for _, v in call.kwargs))
        seen = [n for a in others for n in ir.occurrences(a)]
        # A pop looks at the list.
        return [*seen, base] if type(stmt) is ir.Assign else seen

    def forms(self, stmt: ir.Stmt) -> frozenset[str]:
        """The names of which a statement does not look at what they hold."""
        if type(stmt) is ir.Permute:  # what one of them holds any of them may hold
            return self.formed.intersection(ir.writes(stmt))
        return self.formed and self.formed & asked(ir.call_of(stmt))

    def branch(self, stmt: ir.If, live: set[str]) -> ir.Stmt | None:
        """An `if`, unless nothing is left in it."""
        other = set(live)
        body, orelse = self.block(stmt.body, live), self.block(stmt.orelse, other)
        live |= other
        if _is_empty(body) and _is_empty(orelse):
            return None
        self.need(ir.names(stmt.test), live)
        return ir.rebuilt(stmt, body=body, orelse=orelse)

    def loop(self, stmt: ir.For | ir.While, live: set[str]) -> ir.Stmt | None:
        """A loop; a `for` goes if nothing is left in it and its target is not read later."""
        after, head = set(live), set(self.heads.get(id(stmt), ()))
        while True:
            inner = head | after
            if stmt.stop is not None:
                inner.add(stmt.stop.id)
            body = self.block(stmt.body, inner)
            inner.difference_update(ir.writes(stmt))
            inner |= after
            new = {"body": body}
            if type(stmt) is ir.While:
                self.need(ir.names(stmt.test), inner)
                new["cond"] = self.block(stmt.cond, inner)
            more = inner - head - after
            head |= inner
            if not self.matter_in(stmt, more):
                break
        if type(stmt) is ir.For:
            if _is_left_out(stmt, body, after):
                return None
            self.need(ir.names(stmt.iter), head)
        # What is live at its head already starts the next visit, if an outer loop makes one.
        self.heads[id(stmt)] = head
        live.clear()
        live.update(head)
        return ir.rebuilt(stmt, **new)

    def matter_in(self, stmt: ir.For | ir.While, live: set[str]) -> bool:
        """Whether it may matter inside of a loop that some names are live."""
        bases = self.private.intersection(map(stored_into, ir.walk((stmt,))))
        if not live.isdisjoint(bases.union(ir.bound_in(stmt))):
            return True
        held = {n for n in live if n not in self.kinds or ir.is_mutable(self.kinds[n])}
        return bool(held) and any(not held.isdisjoint(self.sharers().group(n)) for n in bases)


def _has_no_name(stmt: ir.Assign, call: ir.Call) -> bool:
    """Whether what nobody reads needs no name: a cotangent that may be wrong, an item taken out."""
    method = type(call.fn) is ir.Method and ir.is_temporary(stmt.target.id)
    return method or is_op(call, Op.COTANGENT)


def _is_left_out(loop: ir.For, body: ir.Block, after: set[str]) -> bool:
    """Whether all that is left of a loop is to compute the flag that ends it, which nobody reads.

    A `while` might never end: it stays.
    """
    unread = after.isdisjoint((loop.target.id, *([] if loop.stop is None else [loop.stop.id])))
    ends = loop.stop is not None and all(
        type(s) is ir.Assign and s.target.id not in after and only_computes(s.rhs) for s in body
    )
    return unread and (ends or _is_empty(body)) and only_computes(loop.iter)


def _is_empty(block: ir.Block) -> bool:
    return all(type(s) is ir.Backward for s in block)


# --- cotangents that are checked against an argument, where nothing else needs the output --------


def without_outputs(function: ir.Function, kinds: ir.Kinds) -> ir.Function:
    """The function without what computes an output whose form a parameter has too."""
    steady = [p.name for p in function.params if p.name not in ir.bound(function)]
    function = _without_forms(function, steady, kinds)
    asked = calling(function, Op.COTANGENT)
    body = tuple([_asking(s, steady, kinds) for s in function.body]) if asked else function.body
    if body == function.body:
        return function
    new = _without_forms(remove_dead(ir.rebuilt(function, body=body), kinds), steady, kinds)
    saved = len(ir.walk(function)) - len(ir.walk(new.body))
    return new if saved > 1 else function  # one is not worth a change


def _without_forms(function: ir.Function, steady: list[str], kinds: ir.Kinds) -> ir.Function:
    """The function without copies of parameters that are asked for their shapes alone."""
    outer = tuple([s for s in function.body if type(s) is ir.Assign])
    made = [(n, copied(c)) for s, c in calling(outer, *COPIES) for n in ir.writes(s)]
    found = {n: c.id for n, c in made if c is not None and c.id in steady}
    if not found:
        return function
    looked_at = {n for s in ir.walk(function) for n in {*ir.reads(s)} - asked(ir.call_of(s))}
    bound = ir.binding_counts(function)
    copies = {
        n: p for n, p in found.items()
        if n not in looked_at and bound[n] == 1
        and all(type(kinds.get(k)) is ir.Array for k in (n, p))
    }  # fmt: skip
    kept = tuple(s for s in function.body if copies.keys().isdisjoint(ir.writes(s)))
    return ir.rebuilt(function, body=ir.rename(kept, copies)) if copies else function


def _asking(stmt: ir.Stmt, steady: list[str], kinds: ir.Kinds) -> ir.Stmt:
    """A statement that takes a cotangent, with parameters in the place of outputs."""
    call = ir.call_of(stmt)
    if not is_op(call, Op.COTANGENT) or not isinstance(stmt, (ir.Assign, ir.Effect)):
        return stmt
    others = [n for n in steady if n not in ir.names(call.args[0])]
    output = ir.map_atom(lambda name: _of_same_form(name, others, kinds), call.args[1])
    args = (call.args[0], output, *call.args[2:])
    return replace(stmt, rhs=replace(call, args=args))


def _of_same_form(name: ir.Name, steady: list[str], kinds: ir.Kinds) -> ir.Atom:
    """A parameter of the same shape and dtype, or else the name itself."""
    kind = kinds.get(name.id)
    alike = (n for n in steady if are_alike(kind, kinds.get(n), True))
    return name if name.id in steady else ir.Name(next(alike, name.id))
