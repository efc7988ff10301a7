"""One loop function for loops that are the same but for names and for where they start.

Takes a function that calls loops; gives it with fewer of them, which are compiled once.  Starts in
which they differ become parameters.  The invariant: each call runs the loops that it ran before.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import field
from itertools import count
from typing import TypeGuard

from srcdiff import ir
from srcdiff.ir.frozen import replace, state
from srcdiff.primitives.ops import Op, is_op

Starts = tuple[int, ...]


@state
class _Form:
    """Loops without their names: `starts` are those of each that has this form."""

    first: ir.Function
    starts: list[Starts] = field(default_factory=list)
    rows: list[ir.Rows | None] = field(default_factory=list)

    def differing(self) -> list[int]:
        """The places of the starts that are not the same in all."""
        rows = list(zip(*self.starts))
        return [k for k, row in enumerate(rows) if len(set(row)) > 1]


def with_shared_loops(function: ir.Function) -> ir.Function:
    """A function whose calls of loops that are the same call one function."""
    forms: dict[tuple[int, ir.Block], _Form] = {}
    of: dict[int, tuple[_Form, Starts]] = {}
    for call in ir.calls(function.body):
        if type(call.fn) is ir.Subroutine:
            loop = call.fn.function
            starts = tuple(s.value for s in _starts(loop))
            form = forms.setdefault(form_of(loop), _Form(loop))
            form.starts.append(starts)
            form.rows.append(call.fn.rows)
            of[id(call.fn)] = form, starts
    threads = function.target.threads > 1
    made = {id(f): _numbered(f, function.name, k, threads) for k, f in enumerate(forms.values())}

    def stmt(s: ir.Stmt) -> ir.Stmt:
        call = ir.call_of(s)
        if call is None or id(call.fn) not in of:
            return s
        form, starts = of[id(call.fn)]
        more = tuple(ir.Const(starts[k]) for k in form.differing())
        loop = made[id(form)]
        new = replace(call, fn=loop, args=(*call.args, *more), text=loop.__name__)
        return replace(s, rhs=new)  # type: ignore[arg-type]

    return ir.replaced_in(function, stmt)


def _numbered(form: _Form, base: str, number: int, threads: bool) -> ir.Subroutine:
    """The function of a form, called after what calls it; `threads` may share it."""
    name = f"{base}_loop_{number}" if number else f"{base}_loop"
    nest = replace(_with_parameters(form), name=name)
    return ir.Subroutine(nest, _joined(form) if threads else None)


def _joined(form: _Form) -> ir.Rows | None:
    """How threads share the loops of a form, of which some may start at other rows."""
    known = [rows for rows in form.rows if rows is not None]
    if len(known) < len(form.rows):
        return None
    ways = ("from" if "from" in each else each[0] for each in zip(*(r.given for r in known)))
    starts = ("whole",) * len(form.differing())
    return replace(known[0], given=(*ways, *starts))


def _with_parameters(form: _Form) -> ir.Function:
    """The loops with parameters for the starts that differ."""
    places = form.differing()
    if not places:
        return form.first
    fresh = ir.Fresh(ir.all_names(form.first))
    new = {k: fresh("start") for k in places}
    params = tuple(ir.Param(n.id) for n in new.values())
    body = _mapped(form.first, lambda k, start: new.get(k, start))
    return replace(form.first, params=(*form.first.params, *params), body=body)


# --- what two functions have in common ------------------------------------------------------------


def form_of(loop: ir.Function) -> tuple[int, ir.Block]:
    """The loops with names by their order, and without the numbers where they start."""
    body = _mapped(loop, lambda k, start: ir.Const(...))
    names = [p.name for p in loop.params]
    names += [n for s in ir.walk(body) for n in ir.writes(s)]
    new = {n: f"v{k}" for k, n in enumerate(dict.fromkeys(names))}
    return len(loop.params), ir.rename(body, new)


def _starts(loop: ir.Function) -> list[ir.Const]:
    """The numbers from which indices of the loops start."""
    found: list[ir.Const] = []

    def note(k: int, start: ir.Const) -> ir.Atom:
        found.append(start)
        return start

    _mapped(loop, note)
    return found


def _mapped(loop: ir.Function, one: Callable[[int, ir.Const], ir.Atom]) -> ir.Block:
    """The body with other starts, of which `one` is given the number and the value."""
    body = loop.body
    counters = {s.target.id for s in ir.walk(body) if type(s) is ir.For and _has_loops(s)}
    sums = {s.target.id: s.rhs for s in ir.assignments(body) if _counts(s.rhs, counters)}
    fresh, numbers = ir.Fresh(ir.all_names(loop)), count()

    def stmt(s: ir.Stmt) -> ir.Stmt | ir.Block:
        if isinstance(s, ir.Store) and s.index is not None:
            before, index = placed(s.index, s.loc)
            return (*before, replace(s, index=index))
        if type(s) is not ir.Assign or not is_op(s.rhs, Op.GETITEM):
            return () if type(s) is ir.Assign and s.target.id in sums else s
        before, index = placed(s.rhs.args[1], s.loc)
        return (*before, replace(s, rhs=replace(s.rhs, args=(s.rhs.args[0], index))))

    def placed(index: ir.Atom, loc: ir.Loc) -> tuple[list[ir.Stmt], ir.Atom]:
        before: list[ir.Stmt] = []

        def item(i: ir.Atom) -> ir.Atom:
            if type(i) is ir.Slice:
                return replace(i, lower=other(i.lower))
            known = sums.get(i.id) if type(i) is ir.Name else None
            counter, start = known.args if known is not None else (i, ir.Const(0))
            if type(counter) is not ir.Name or counter.id not in counters:
                return i
            start = other(start)
            if start == ir.Const(0):
                return counter
            place = fresh("_t")
            before.append(ir.Assign(place, ir.Call(operator.add, (counter, start)), loc))
            return place

        items = index.items if type(index) is ir.Tup else (index,)
        new = tuple(map(item, items))
        return before, ir.Tup(new) if type(index) is ir.Tup else new[0]

    def other(start: ir.Atom) -> ir.Atom:
        is_known = type(start) is ir.Const and type(start.value) is int
        return one(next(numbers), start) if is_known and type(start) is ir.Const else start

    return ir.replaced(body, stmt)


def _has_loops(loop: ir.For) -> bool:
    """Whether a loop is no innermost one, in which LLVM has to see from where an index starts."""
    return any(type(s) is ir.For for s in ir.walk(loop.body))


def _counts(rhs: ir.Rhs, counters: set[str]) -> TypeGuard[ir.Call]:
    """Whether a value is the place of an iteration behind a start."""
    first = rhs.args[0] if is_op(rhs, Op.ADD) else None
    return type(first) is ir.Name and first.id in counters
