"""One loop function for loops that are the same but for names and for where they start.

Takes a function that calls loops, and what writes them (`Nest`); gives it with fewer of them, which
are compiled once.  Starts in which they differ become parameters.  The invariant: each call runs
the loops that it ran before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any

from srcdiff import ir
from srcdiff.ir.frozen import replace, state

Starts = tuple[ir.Atom, ...]


@state
class Nest:
    """A callee that is loops, what writes them with others of their starts, and which these are.

    A start is where the index of an array begins along an axis whose loop has others inside: in an
    innermost one LLVM has to see it.
    """

    callee: ir.Subroutine
    write: Callable[[Mapping[int, ir.Atom]], ir.Function]
    starts: Starts


@state
class _Form:
    """Loops without their names: `starts` are those of each that has this form."""

    first: Nest
    starts: list[Starts] = field(default_factory=list)
    rows: list[ir.Rows | None] = field(default_factory=list)

    def differing(self) -> list[int]:
        """The places of the starts that are not the same in all."""
        rows = list(zip(*self.starts))
        return [k for k, row in enumerate(rows) if len(set(row)) > 1]


def with_shared_loops(function: ir.Function, nests: Mapping[int, Nest]) -> ir.Function:
    """A function whose calls of loops that are the same call one function.

    `nests` are its loops by the identity of their callees.
    """
    forms: dict[Any, _Form] = {}
    of: dict[int, tuple[_Form, Starts]] = {}
    for call in ir.calls(function.body):
        if id(call.fn) in nests:
            nest = nests[id(call.fn)]
            anywhere = dict.fromkeys(range(len(nest.starts)), ir.Const(...))
            form = forms.setdefault(form_of(nest.write(anywhere)), _Form(nest))
            form.starts.append(nest.starts)
            form.rows.append(nest.callee.rows)
            of[id(call.fn)] = form, nest.starts
    threads = function.target.threads > 1
    made = {id(f): _numbered(f, function.name, k, threads) for k, f in enumerate(forms.values())}

    def stmt(s: ir.Stmt) -> ir.Stmt:
        call = ir.call_of(s)
        if call is None or id(call.fn) not in of:
            return s
        form, starts = of[id(call.fn)]
        more = tuple(starts[k] for k in form.differing())
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
    loop = form.first.callee.function
    fresh = ir.Fresh(ir.all_names(loop))
    new = {k: fresh("start") for k in form.differing()}
    params = tuple(ir.Param(n.id) for n in new.values())
    return replace(loop, params=(*loop.params, *params), body=form.first.write(new).body)


def form_of(loop: ir.Function) -> tuple[int, ir.Block]:
    """What loops, or a kernel, do: with names by their order."""
    names = [p.name for p in loop.params]
    names += [n for s in ir.walk(loop.body) for n in ir.writes(s)]
    new = {n: f"v{k}" for k, n in enumerate(dict.fromkeys(names))}
    return len(loop.params), ir.rename(loop.body, new)
