"""Functions that are kept as values: in variables, lists and dicts, chosen by a test.

A function that the program makes and keeps becomes data (`ir.make_function`): what tells it from
the others that it may meet, and the values that it captures.  A call of one of several functions
becomes a choice between calls.  `data_functions` replaces the data by strings and tuples at the
end.
"""

from __future__ import annotations

import operator
from collections.abc import Container, Iterator, Mapping
from dataclasses import replace
from typing import Any

from srcdiff import ir
from srcdiff.errors import UnsupportedError
from srcdiff.frontend.closures.lifted import free
from srcdiff.frontend.closures.settled import definitions
from srcdiff.frontend.lowering import Closure
from srcdiff.ir.kinds import (
    UNKNOWN,
    Callable,
    Dict,
    Kind,
    List,
    Object,
    Tuple,
    Unknown,
    class_of,
    contents,
    inside,
)
from srcdiff.kinds.atoms import atom_kind
from srcdiff.runtime import records
from srcdiff.specialize.closures.data_functions import site_of
from srcdiff.specialize.objects.places import classes

Kinds = Mapping[str, Kind]

# --- functions become data -----------------------------------------------------------------------


def marked(function: ir.Function) -> ir.Function:
    """The function whose closures know the place where they are made."""

    def stmt(s: ir.Stmt) -> ir.Stmt:
        if isinstance(s, ir.Assign) and isinstance(s.rhs, Closure) and s.rhs.site is None:
            made = s.rhs
            s = replace(s, rhs=replace(made, site=ir.Site(made.name, made)))
        return ir.map_blocks(s, lambda b: tuple(map(stmt, b)))

    return replace(function, body=tuple(map(stmt, function.body)))


def kept(function: ir.Function, kinds: Kinds) -> ir.Function:
    """The function with closures as data, but for those that something unknown may call."""
    count = definitions(function.body, (p.name for p in function.params))
    opened = _opened(function, kinds)

    def stmt(s: ir.Stmt) -> ir.Stmt:
        made = s.rhs if isinstance(s, ir.Assign) else None
        if isinstance(s, ir.Assign) and isinstance(made, Closure) and made.site not in opened:
            data = _data(made, count)
            return s if data is None else replace(s, rhs=data)
        return ir.map_blocks(s, lambda b: tuple(map(stmt, b)))

    return replace(function, body=tuple(map(stmt, function.body)))


def _data(made: Closure, count: Mapping[str, int]) -> ir.Call | None:
    """A closure as data; `count` says how often each variable is bound."""
    variables = made.variables
    if made.function is None or variables is None or made.site is None:
        return None
    values: list[ir.Name] = []
    needed = free(made.function)  # the text may read more
    for name, value in variables.items():
        if name not in needed:
            continue
        assert isinstance(value, ir.Name)
        if name in made.held:
            values += [value] if count.get(value.id, 0) > 1 else []
        elif name in made.marks and count.get(made.marks[name].id, 0) > 1:
            raise _late(made, value.id)
    made.site.closure = replace(made, site=None)
    made.site.values = tuple(values)
    return ir.Call(ir.make_function, (ir.Ref(made.name, made.site), *dict.fromkeys(values)))


def _late(made: Closure, name: str) -> UnsupportedError:
    return UnsupportedError(
        f"the function `{made.name}`, which is kept as a value, reads `{name}`, which is assigned "
        "again after it is made",
        made.loc,
        remedy=f"Bind the value that it means: `{name}={name}` among its parameters.",
    )


def check_kept(function: ir.Function, kinds: Kinds) -> None:
    """Refuse functions that are data by now, and that something unknown may call after all."""
    opened = _opened(function, kinds)
    for stmt in ir.walk(function.body):
        site = site_of(stmt)
        if site is not None and site in opened:
            raise UnsupportedError(
                f"the function `{site.name}`, which is kept as a value, comes to where it is not "
                "known what is done with it",
                stmt.loc,
                remedy="Pass it only to functions of your own that call it.",
            )


# --- what else is done with them -----------------------------------------------------------------

_CARRY = frozenset((
    "append", "insert", "extend", "pop", "get", "items", "values", "keys", "setdefault", "update",
    "copy", "reverse",
))  # fmt: skip
_CARRIERS = (
    ir.make_list, ir.make_dict, ir.make_function, ir.is_function, ir.captured, operator.getitem,
    operator.is_, operator.is_not, operator.add, list, tuple, dict, len,
)  # fmt: skip


def _opened(function: ir.Function, kinds: Kinds) -> set[object]:
    """The sites whose functions come to where it is not known what is done with them."""
    held = _held(function, kinds)
    given = {c for p in function.params for c in classes(kinds.get(p.name))}
    found = {s for name, sites in held.items() if _hides(kinds.get(name)) for s in sites}
    for stmt in ir.walk(function.body):
        for name in (*_open_uses(stmt, kinds), *_given_to(stmt, kinds, given)):
            found |= {*_sites(kinds.get(name)), *held.get(name, ())}
    return found


def _held(function: ir.Function, kinds: Kinds) -> dict[str, set[object]]:
    """The names that may hold functions of each site, whatever their kinds say."""
    held: dict[str, set[object]] = {}
    flows = [pair for s in ir.walk(function.body) for pair in _carried(s)]
    for stmt in ir.walk(function.body):
        made = stmt.rhs if isinstance(stmt, ir.Assign) else None
        site = made.site if isinstance(made, Closure) else site_of(stmt)
        if isinstance(stmt, ir.Assign) and site is not None:
            held.setdefault(stmt.target.id, set()).add(site)
    size = -1
    while size != sum(map(len, held.values())):
        size = sum(map(len, held.values()))
        for source, target in flows:
            kind = kinds.get(target)
            if source in held and (_hides(kind) or any(_sites(kind))):
                held.setdefault(target, set()).update(held[source])
    return held


def _carried(stmt: ir.Stmt) -> Iterator[tuple[str, str]]:
    """(source, target) names of a statement by which a value may come to another name."""
    if isinstance(stmt, ir.Assign) and isinstance(stmt.rhs, ir.Call):
        given = (*stmt.rhs.args, *(v for _, v in stmt.rhs.kwargs))
        yield from ((n, stmt.target.id) for a in given for n in ir.names(a))
    elif isinstance(stmt, ir.Assign) and not isinstance(stmt.rhs, ir.Opaque):
        yield from ((n, stmt.target.id) for n in ir.names(stmt.rhs))
    elif isinstance(stmt, ir.SetItem):
        yield from ((n, stmt.base.id) for n in ir.names(stmt.value))
    elif isinstance(stmt, ir.Permute):
        yield from ((s.id, t.id) for s, t in zip(stmt.sources, stmt.targets))
    call = ir.call_of(stmt)
    if call is not None and call.fn is ir.set_attr:
        yield from ((n, b) for b in ir.names(call.args[0]) for n in ir.names(call.args[2]))
    if call is not None and isinstance(call.fn, ir.Method):
        into = ir.names(call.args[0])
        yield from ((n, b) for b in into for a in call.args[1:] for n in ir.names(a))


def _hides(kind: Kind | None) -> bool:
    """Whether a value may be or hold functions that its kind does not tell."""
    if kind is None or isinstance(kind, (Unknown, Object)):
        return True
    if isinstance(kind, Callable):
        return not kind.choices
    if isinstance(kind, Tuple):
        inner = (kind.item or UNKNOWN,) if kind.items is None else kind.items
        return any(map(_hides, inner))
    return isinstance(kind, (List, Dict)) and any(map(_hides, contents(kind)))


def _open_uses(stmt: ir.Stmt, kinds: Kinds) -> tuple[str, ...]:
    """The names that a statement hands on to something unknown."""
    if isinstance(stmt, (ir.Return, ir.Verbatim)):
        return ir.reads(stmt)
    rhs = stmt.rhs if isinstance(stmt, (ir.Assign, ir.Effect)) else None
    if isinstance(rhs, ir.Opaque):
        return () if isinstance(rhs, Closure) and rhs.function is not None else ir.names(rhs)
    if not isinstance(rhs, ir.Call):
        return ()
    if isinstance(rhs.fn, ir.Method):
        return () if rhs.fn.name in _CARRY else ir.names(rhs)
    if rhs.fn in _CARRIERS or isinstance(rhs.fn, ir.Attr) or records.plain_fields(rhs.fn):
        return ()
    if rhs.fn is ir.set_attr:
        return () if class_of(atom_kind(rhs.args[0], kinds)) is not None else ir.names(rhs)
    if isinstance(rhs.fn, ir.Name) and known_choices(kinds.get(rhs.fn.id)):
        return ()  # written out here
    return ir.names(rhs)


def _given_to(stmt: ir.Stmt, kinds: Kinds, given: Container[type]) -> tuple[str, ...]:
    """What a statement stores into an object that may be the caller's."""
    call = ir.call_of(stmt)
    if call is None or call.fn is not ir.set_attr:
        return ()
    return ir.names(call.args[2]) if class_of(atom_kind(call.args[0], kinds)) in given else ()


def _sites(kind: Kind | None) -> Iterator[ir.Site]:
    """The sites of the functions that a value is or holds."""
    if isinstance(kind, Callable):
        for value, kinds in kind.choices:
            if isinstance(value, ir.Site):
                yield value
            for held in kinds:
                yield from _sites(held)
    for inner in inside(kind):
        yield from _sites(inner)


def known_choices(kind: Kind | None) -> tuple[Any, ...]:
    """The functions that a value may be, () if they are not all known."""
    if not isinstance(kind, Callable):
        return ()
    return tuple(f for f, _ in kind.choices if f is not None)  # None is not called


# --- calls become choices ------------------------------------------------------------------------


def chosen(function: ir.Function, kinds: Kinds) -> ir.Function:
    """The function with calls of one of several functions as choices."""
    fresh = ir.Fresh(ir.all_names(function))

    def block(inner: ir.Block) -> ir.Block:
        return tuple(s for stmt in inner for s in _choice(stmt, kinds, fresh, block))

    return replace(function, body=block(function.body))


def _choice(stmt: ir.Stmt, kinds: Kinds, fresh: ir.Fresh, block: Any) -> ir.Block:
    """A call of a function that is one of several."""
    call = ir.call_of(stmt)
    if call is not None and isinstance(call.fn, ir.Name):
        choices = known_choices(kinds.get(call.fn.id))
        data = all(not isinstance(f, ir.Site) or f.values is not None for f in choices)
        if choices and data and all(k is not None for k, _ in call.kwargs):
            return _tested(stmt, call, call.fn, choices, fresh)
    return (ir.map_blocks(stmt, block),)


def _tested(
    stmt: Any, call: ir.Call, fn: ir.Name, choices: tuple[Any, ...], fresh: ir.Fresh
) -> ir.Block:
    """A call of the first of some functions that it is."""
    value, rest = choices[0], choices[1:]
    body = _called(stmt, call, fn, value, fresh)
    if not rest:
        return body
    test = fresh("_t")
    asked = ir.Call(ir.is_function, (fn, ir.Ref("", value)))
    orelse = _tested(stmt, call, fn, rest, fresh)
    return (ir.Assign(test, asked, stmt.loc), ir.If(test, body, orelse, stmt.loc))


def _called(
    stmt: Any, call: ir.Call, fn: ir.Name, value: Any, fresh: ir.Fresh
) -> ir.Block:
    """A call of one known function."""
    if not isinstance(value, ir.Site):
        return (replace(stmt, rhs=replace(call, fn=value, text=None)),)
    out: list[ir.Stmt] = []
    new: dict[str, ir.Name] = {}
    for k, name in enumerate(dict.fromkeys(value.values or ())):
        new[name.id] = fresh("_t" if name.id.startswith("_") else name.id)
        item = ir.Call(ir.captured, (fn, ir.Ref(value.name, value), ir.Const(k)))
        out.append(ir.Assign(new[name.id], item, stmt.loc))
    made = fresh("_t")
    closure = ir.map_opaque(lambda n: new.get(n.id, n), value.closure)
    out.append(ir.Assign(made, closure, stmt.loc))
    out.append(replace(stmt, rhs=replace(call, fn=made)))
    return tuple(out)
