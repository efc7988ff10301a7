"""Readable names for the temporaries that remain as variables in the printed text.

`shorten` returns a finished derivative with `u_1` named `u` where nothing else needs that name any
more: a copy of a parameter takes the parameter's name (`u = u.copy()`).
"""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Iterable, Iterator, Mapping, Set

from srcdiff import ir
from srcdiff.codegen.emit import renamed, shown
from srcdiff.codegen.tapes import joined
from srcdiff.normalize.displays import item_read
from srcdiff.optimize.coalesce import shared
from srcdiff.primitives.ops import Op, calling, is_op

_PARTS = re.compile(
    r"(?P<adjoint>(?:d_)*)_+(?P<base>[^\W\d_]\w*?)??(?P<number>(?:_\d+)*)(?P<saved>_saved)?(?:_\d+)*\Z"
)
_SLOT = re.compile(r"(?P<value>\w+)_saved(?:_\d+)?\Z")
_UNNAMED = re.compile(r"_t(_\d+)*\Z")
_OF_TEMPORARY = re.compile(r"(t(?:_\d+)?)_saved")


def name(function: ir.Function) -> ir.Function:
    """A function whose visible temporaries have short, readable names.

    Temporaries that are nested into expressions, and flags that are printed as jumps, keep theirs.
    """
    function, visible, unread = _counters(joined(function))
    known = ir.all_names(function)
    given, taken_back = _by_list(function, Op.APPEND), _by_list(function, Op.POP)
    saved = {n for n in visible if ir.is_unnamed(n)} | _appended(given, known)
    called = _called(function)
    seen = {n: called.get(n) or _temporary(n, saved) for n in visible}
    words = known | global_words(function)
    spans = _spans(function) if given and taken_back else {}
    unnamed = {n for n in visible if ir.is_unnamed(n)}
    tapes = _tapes(given, taken_back, spans, unnamed, known)
    seen.update((slot, f"{value}_saved") for slot, value, _ in tapes)
    again = {taken: value for _, value, taken in tapes if taken}
    for value, taken in _by_part(function):
        if value not in again.values() and _may_share(value, taken, spans, unnamed):
            again[taken] = value
    named = again.keys() | unread
    new = new_names({n: t for n, t in seen.items() if t and n not in named}, words)
    new.update((n, new.get(value, value)) for n, value in again.items())
    new.update((n, "_") for n in unread)
    return renamed(function, new)


def _called(function: ir.Function) -> dict[str, str]:
    """What temporaries are called that decide which branch is taken, and those that are lengths."""
    stmts = ir.walk(function)
    tests = (s.test for s in stmts if type(s) is ir.If)
    found = {t.id: "_test" for t in tests if type(t) is ir.Name and _UNNAMED.match(t.id)}
    made = (s.target.id for s in stmts if type(s) is ir.Assign and is_op(s.rhs, Op.LEN))
    return {**found, **{n: "_n" for n in made if ir.is_unnamed(n)}}


def _counters(function: ir.Function) -> tuple[ir.Function, list[str], set[str]]:
    """The function with names that loops share; what it shows, and temporaries of idle loops.

    Parameters are called by keyword: they are never renamed.
    """
    params = {p.name for p in function.params}
    visible = [n for n in shown(function) if n not in params]
    idle = _unread_counters(function)
    found = {n: _PARTS.match(n) for n in visible if ir.is_unnamed(n) and n not in idle}
    new = shared(function, {n: parts["base"] or "t" for n, parts in found.items() if parts})
    if new:
        function = renamed(function, new)
        visible = [n for n in shown(function) if n not in params]
    return function, visible, {n for n in visible if ir.is_unnamed(n) and n in idle}


def _unread_counters(function: ir.Function) -> set[str]:
    """The variables of loops that nothing reads."""
    loops = {s.target.id for s in ir.walk(function) if type(s) is ir.For}
    others = {n for s in ir.walk(function) if type(s) is not ir.For for n in ir.writes(s)}
    return loops - others - ir.used(function.body)


def _temporary(identifier: str, saved: set[str]) -> str | None:
    """A temporary as it was first called; the list that saves one is called after it."""
    if ir.is_unnamed(identifier):
        return identifier
    slot = _SLOT.match(identifier)
    return f"_{identifier}" if slot is not None and f"_{slot['value']}" in saved else None


def _appended(given: Mapping[str, list[str]], known: frozenset[str]) -> set[str]:
    """The temporaries that lists are called after to which one is appended, whatever its number.

    A list that is called after a known name stays the list of that one.
    """
    slots = [slot for slot, values in given.items() if any(map(ir.is_unnamed, values))]
    named = (match[1] for slot in slots if (match := _OF_TEMPORARY.match(slot)) is not None)
    return {f"_{n}" for n in named if n not in known}


def _tapes(
    given: Mapping[str, list[str]],
    taken: Mapping[str, list[str]],
    spans: Mapping[str, tuple[int, int]],
    seen: set[str],
    known: frozenset[str],
) -> list[tuple[str, str, str]]:
    """The lists of saved temporaries, what each saves, and what that is called where it is taken.

    The last is "" unless the two may have one name: all that mentions the first precedes the other.
    """
    found: dict[str, tuple[str, str, str]] = {}
    for slot, (value, *more) in given.items():
        named = _OF_TEMPORARY.match(slot)
        if named is None or named[1] in known or more or value not in seen or value in found:
            continue
        takes = taken.get(slot, [])
        same = len(takes) == 1 and _may_share(value, takes[0], spans, seen)
        found[value] = slot, value, takes[0] if same else ""
    return list(found.values())


def _may_share(
    value: str, taken: str, spans: Mapping[str, tuple[int, int]], seen: set[str]
) -> bool:
    """Whether what is saved and what is taken back, both temporaries, may have one name."""
    known = {value, taken} <= seen and value in spans and taken in spans
    return known and spans[value][1] < spans[taken][0]


def _by_part(function: ir.Function) -> Iterator[tuple[str, str]]:
    """What is saved as a part of a tuple, and what it is called where it is taken back."""
    pushes = [c.args for _, c in calling(function, Op.APPEND)]
    pushed = {base: item.items for base, *_, item in pushes if type(item) is ir.Tup}
    pops = calling(function, Op.POP) if pushed else []
    made = {n: pushed.get(c.args[0], ()) for s, c in pops for n in ir.writes(s)}
    for stmt in ir.walk(function) if made else ():
        read = item_read(stmt)
        items = made.get(read.base, ()) if read is not None else ()
        value = items[read.index] if read is not None and -1 < read.index < len(items) else None
        if read is not None and type(value) is ir.Name:
            yield value.id, read.stmt.target.id


def _by_list(function: ir.Function, op: Op) -> dict[str, list[str]]:
    """The names that are appended to each list, or bound to what is popped from it."""
    found: dict[str, list[str]] = {}
    for stmt, call in calling(function, op):
        slot, *rest = call.args
        other = stmt.target if type(stmt) is ir.Assign else rest[0] if rest else None
        if type(slot) is ir.Name:
            found.setdefault(slot.id, []).append(other.id if type(other) is ir.Name else "")
    return found


def _spans(function: ir.Function) -> dict[str, tuple[int, int]]:
    """The first and the last statement at the top of a function that mentions a name.

    Names in text that is taken over are left out: a function in it may look at them later.
    """
    found: dict[str, tuple[int, int]] = {}
    for k, stmt in enumerate(function.body):
        for n in ir.bound((stmt,)) | ir.used((stmt,)):
            found[n] = (found[n][0] if n in found else k, k)
    for stmt in ir.walk(function):
        texts = [stmt] if type(stmt) is ir.Verbatim else ir.operands(stmt)
        for text in texts:
            for read in text.reads if isinstance(text, (ir.Opaque, ir.Verbatim)) else ():
                found.pop(read.id, None)
    return found


def global_words(function: ir.Function) -> set[str]:
    """The first words of everything that a function names outside itself."""
    texts: list[str] = ["np", function.name]
    for stmt in ir.walk(function):
        texts += [name for name, _ in stmt.refs] if type(stmt) is ir.Verbatim else ()
        texts += [ref.text for ref in ir.refs_of(stmt)]
        for rhs in ir.operands(stmt):
            if type(rhs) is ir.Call:
                texts += [rhs.text or "", str(getattr(rhs.fn, "__name__", ""))]
            elif isinstance(rhs, ir.Opaque):
                texts += re.findall(r"\w+", rhs.text)
    return {t.partition(".")[0] for t in texts}


def new_names(temporaries: Mapping[str, str], taken: Iterable[str]) -> dict[str, str]:
    """A new name for every temporary, none of them taken.

    `temporaries` maps a name to what it was first called.  Adjoints and lists of saved values are
    called after their primal, one that is not seen after a name that nothing has.
    """
    used = {*(set(taken) - set(temporaries)), *keyword.kwlist, *keyword.softkwlist, *vars(builtins)}
    new: dict[str, str] = {}
    unseen: dict[str, str] = {}
    first: dict[str, int] = {}
    for old, parts in sorted(_parsed(temporaries), key=lambda item: _is_derived(item[1])):
        primal, base = f"_{parts['base']}{parts['number']}", parts["base"] or "t"
        if _is_derived(parts):
            if primal not in new and primal not in unseen:
                unseen[primal] = _free(base, used, first)
            base = new.get(primal) or unseen[primal]
        new[old] = _free(f"{parts['adjoint']}{base}{parts['saved'] or ''}", used, first)
    return new


def _parsed(temporaries: Mapping[str, str]) -> list[tuple[str, re.Match[str]]]:
    """Every temporary with the parts of its name."""
    found = ((old, _PARTS.match(first)) for old, first in temporaries.items())
    return [(old, parts) for old, parts in found if parts is not None]


def _is_derived(parts: re.Match[str]) -> bool:
    """Whether a name is that of an adjoint or of a list of saved values."""
    return bool(parts["adjoint"] or parts["saved"])


def _free(base: str, used: set[str], first: dict[str, int]) -> str:
    """The base, or the base with the first number that gives a free name; it is used from now on.

    No number below `first` does.
    """
    base = base if base.isidentifier() else f"t_{base}"
    number = first.get(base, 0)
    candidate = f"{base}_{number}" if number else base
    while candidate in used:
        number += 1
        candidate = f"{base}_{number}"
    first[base] = number
    used.add(candidate)
    return candidate


# --- names without needless endings, in a finished derivative ------------------------------------


_ENDING = re.compile(r"_\d+\Z")


_NUMBERED_SLOT = re.compile(r"(.+)_\d+_saved\Z")


def shorten(function: ir.Function, theirs: frozenset[str]) -> ir.Function:
    """The function with shorter names where they are free; `theirs` are the user's own."""
    params = {p.name for p in function.params}
    taken = {*ir.all_names(function), *global_words(function), *dir(builtins)}
    new: dict[str, str] = {}
    for name in sorted(ir.bound(function) - theirs):
        base = _ENDING.sub("", name)
        slot = _NUMBERED_SLOT.match(name)
        if slot and f"{slot[1]}_saved" not in {*taken, *new.values()}:
            new[name] = f"{slot[1]}_saved"
            continue
        if base == name or ir.is_temporary(base) or base in new.values():
            continue
        if base not in taken or (base in params and _takes_over(name, base, function)):
            new[name] = base
    function = _with_shared(function, theirs | new.keys())
    if not new:
        return function
    body = ir.rename(function.body, new)
    idle = [s for s in body if type(s) is ir.Assign and type(s.rhs) is ir.Name]
    idle = [s for s in idle if s.rhs == s.target]
    return ir.rebuilt(function, body=tuple([s for s in body if s not in idle]))


def _with_shared(function: ir.Function, kept: Set[str]) -> ir.Function:
    """The function with `i_1` named `i` where both are variables of loops apart from each other."""
    loops = {s.target.id for s in ir.walk(function) if type(s) is ir.For}
    families = {n: _ENDING.sub("", n) for n in loops - kept if not ir.is_temporary(n)}
    new = shared(function, {n: base for n, base in families.items() if n != base})
    return ir.rebuilt(function, body=ir.rename(function.body, new)) if new else function


def _takes_over(name: str, param: str, function: ir.Function) -> bool:
    """Whether a variable starts as (a copy of) a parameter that nothing reads afterwards."""
    for k, stmt in enumerate(function.body):
        if name in ir.writes(stmt):
            rest = function.body[k + 1 :]
            starts = type(stmt) is ir.Assign and param in ir.names(stmt.rhs)
            return starts and param not in ir.used(rest) and param not in ir.bound(rest)
        if name in ir.bound_in(stmt) or name in ir.used_in(stmt):
            return False
    return False
