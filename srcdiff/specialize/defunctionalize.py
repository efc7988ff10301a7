"""Functions that are kept as values, as data: in variables, lists and dicts, chosen by a test.

A function that the program makes and keeps becomes data (`ir.make_function`): what tells it from
the others that it may meet, and the values that it captures.  A call of one of several functions
becomes a choice between calls.  At the end `plain` replaces the data by the strings and tuples that
they are in generated code.  The invariant: nothing unknown may call a function that is data.
"""

from __future__ import annotations

import operator
import types
from collections.abc import Container, Iterator, Mapping
from typing import Any

import numpy as np

from srcdiff import ir
from srcdiff.errors import refused
from srcdiff.frontend.closures import Closure, free
from srcdiff.ir.frozen import replace
from srcdiff.kinds.calls import atom_kind
from srcdiff.primitives.operation import op_of
from srcdiff.primitives.ops import Op, is_op
from srcdiff.runtime import records

_PLAIN = (types.FunctionType, types.BuiltinFunctionType, np.ufunc, type)
"""The types of functions that are equal to themselves alone."""


def plain(function: ir.Function) -> ir.Function:
    """The function with strings and tuples for the functions that it makes."""
    layout = _Layout(function)

    def one(stmt: ir.Stmt) -> ir.Stmt | ir.Block:
        call = ir.call_of(stmt)
        if isinstance(stmt, ir.Assign) and is_op(call, Op.IS_FUNCTION):
            return layout.test(stmt, call)
        if is_op(call, Op.MAKE_FUNCTION, Op.CAPTURED):
            known = layout.made(call) if is_op(call, Op.MAKE_FUNCTION) else layout.item(call)
            return ir.rebuilt(stmt, rhs=known)
        return stmt

    return ir.replaced_in(function, one)


class _Layout:
    """How the functions of the sites of a function are written as data.

    The name is enough for one that captures nothing; others need it where there are several.
    """

    def __init__(self, function: ir.Function) -> None:
        self.device = function.target.on_device
        self.fresh, name = ir.Fresh(ir.all_names(function)), ir.Fresh()
        made = (s for s in map(site_of, ir.assignments(function)) if s is not None)
        sites = {id(s): s for s in made}
        self.tags = {key: ir.Const(name(s.name).id) for key, s in sites.items()}
        self.tagged = sum(bool(s.values) for s in sites.values()) > 1

    def made(self, call: ir.Call) -> ir.Rhs:
        """A function as data."""
        site = _value(call.args[0])
        tag = self.tags[id(site)]
        return ir.Tup((tag,) * self.tagged + call.args[1:]) if site.values else tag

    def item(self, call: ir.Call) -> ir.Call:
        """What a function captures."""
        fn, _, k = call.args
        assert isinstance(k, ir.Const)
        return ir.Call(operator.getitem, (fn, ir.Const(k.value + self.tagged)))

    def test(self, stmt: ir.Assign, call: ir.Call) -> ir.Block:
        """Whether a function is a known one."""
        fn, other = call.args
        site = _value(other)
        if not isinstance(site, ir.Site):
            # `is` would be a warning where the data is known to be a string or a tuple.
            # For CuPy arrays it is asked by `is` whether it is the function of either module.
            by_value = type(site) in _PLAIN and not self.device
            same = operator.eq if by_value else operator.is_
            return (replace(stmt, rhs=ir.Call(same, (fn, other))),)
        tag = self.tags[id(site)]
        if not site.values:
            return (replace(stmt, rhs=ir.Call(operator.eq, (fn, tag))),)
        first = self.fresh()
        return (
            ir.Assign(first, ir.Call(operator.getitem, (fn, ir.Const(0))), stmt.loc),
            replace(stmt, rhs=ir.Call(operator.eq, (first, tag))),
        )


def _value(atom: ir.Atom) -> Any:
    assert isinstance(atom, ir.Ref)
    return atom.value


def site_of(stmt: ir.Assign) -> ir.Site | None:
    """The site of a statement that makes a function."""
    found: ir.Site | None = None
    if is_op(stmt.rhs, Op.MAKE_FUNCTION):
        found = _value(stmt.rhs.args[0])
    return found


def _meetings(kind: ir.Kind | None) -> Iterator[list[Any]]:
    """The functions that may be one value, for every function in a kind."""
    if isinstance(kind, ir.Callable):
        yield [f for f, _ in kind.choices]
        for _, kinds in kind.choices:
            for held in kinds:
                yield from _meetings(held)
    for inner in ir.inside(kind):
        yield from _meetings(inner)


# --- functions become data -----------------------------------------------------------------------


def marked_closures(function: ir.Function) -> ir.Function:
    """The function whose closures know the place where they are made."""

    def one(stmt: ir.Assign) -> ir.Rhs:
        made = stmt.rhs
        if not isinstance(made, Closure) or made.site is not None:
            return made
        return replace(made, site=ir.Site(made.name, made))

    return ir.with_values(function, one)


def closures_as_data(function: ir.Function, kinds: ir.Kinds) -> ir.Function:
    """The function with closures as data, but for those that something unknown may call."""
    count = ir.binding_counts(function, function.params, True)
    opened = _opened(function, kinds)

    def one(stmt: ir.Assign) -> ir.Rhs:
        made = stmt.rhs
        if not isinstance(made, Closure) or made.site in opened:
            return made
        return _data(made, count) or made

    return ir.with_values(function, one)


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
            raise refused("callees.rebound", made.loc, name=made.name, read=value.id)
    made.site.closure = replace(made, site=None)
    made.site.values = tuple(values)
    return ir.Call(ir.make_function, (ir.Ref(made.name, made.site), *dict.fromkeys(values)))


def check_data(function: ir.Function, kinds: ir.Kinds) -> None:
    """Refuse functions that are data by now, and that something unknown may call after all."""
    opened = _opened(function, kinds)
    for stmt in ir.assignments(function):
        site = site_of(stmt)
        if site is not None and site in opened:
            raise refused("callees.data", stmt.loc, name=site.name)


# --- what else is done with them -----------------------------------------------------------------


def _opened(function: ir.Function, kinds: ir.Kinds) -> set[object]:
    """The sites whose functions come to where it is not known what is done with them."""
    given = {c for p in function.params for c in ir.classes_in(kinds.get(p.name))}
    found: set[object] = set()
    for stmt in ir.walk(function):
        # Until its kind tells no more, that of each name which holds one says so.
        lost = (source for source, name in _carried(stmt) if _hides(kinds.get(name)))
        for name in (*_open_uses(stmt, kinds, given), *lost):
            found.update(_sites(kinds.get(name)))
        if isinstance(stmt, ir.Assign) and _hides(kinds.get(stmt.target.id)):
            found.add(stmt.rhs.site if isinstance(stmt.rhs, Closure) else site_of(stmt))
    return found


def _carried(stmt: ir.Stmt) -> Iterator[tuple[str, str]]:
    """(source, target) names of a statement by which a value may come to another name."""
    if isinstance(stmt, ir.Assign) and isinstance(stmt.rhs, ir.Call):
        given = (*stmt.rhs.args, *(v for _, v in stmt.rhs.kwargs))
        yield from ((n, stmt.target.id) for a in given for n in ir.names(a))
    elif isinstance(stmt, ir.Assign) and not isinstance(stmt.rhs, ir.Opaque):
        yield from ((n, stmt.target.id) for n in ir.names(stmt.rhs))
    elif isinstance(stmt, ir.Store):
        yield from ((n, stmt.base.id) for n in ir.names(stmt.value))
    elif isinstance(stmt, ir.Permute):
        yield from ((s.id, t.id) for s, t in zip(stmt.sources, stmt.targets))
    call = ir.call_of(stmt)
    if is_op(call, Op.SET_ATTR):
        yield from ((n, b) for b in ir.names(call.args[0]) for n in ir.names(call.args[1]))
    if call is not None and isinstance(call.fn, ir.Method):
        into = ir.names(call.args[0])
        yield from ((n, b) for b in into for a in call.args[1:] for n in ir.names(a))


def _hides(kind: ir.Kind | None) -> bool:
    """Whether a value may be or hold functions that its kind does not tell."""
    if kind is None or isinstance(kind, (ir.Unknown, ir.Object)):
        return True
    if isinstance(kind, ir.Callable):
        return not kind.choices
    held = ir.items_of(kind) if isinstance(kind, ir.Tuple) else ir.inside(kind)
    return any(map(_hides, held))


def _open_uses(stmt: ir.Stmt, kinds: ir.Kinds, given: Container[type]) -> tuple[str, ...]:
    """The names that a statement hands on to something unknown, or that the caller has."""
    if isinstance(stmt, (ir.Return, ir.Verbatim)):
        return ir.reads(stmt)
    rhs = stmt.rhs if isinstance(stmt, (ir.Assign, ir.Effect)) else None
    if isinstance(rhs, ir.Opaque):
        return () if isinstance(rhs, Closure) and rhs.function is not None else ir.names(rhs)
    if not isinstance(rhs, ir.Call):
        return ()
    if is_op(rhs, Op.SET_ATTR):
        cls = ir.class_of(atom_kind(rhs.args[0], kinds))
        return ir.names(rhs) if cls is None else ir.names(rhs.args[1]) if cls in given else ()
    if op_of(rhs.fn).holds or is_op(rhs, Op.ADD, Op.LEN, Op.IS, Op.IS_NOT):
        return ()
    if isinstance(rhs.fn, ir.Attr) or records.plain_fields(rhs.fn):
        return ()
    if isinstance(rhs.fn, ir.Name) and known_choices(kinds.get(rhs.fn.id)):
        return ()  # written out here
    return ir.names(rhs)


def _sites(kind: ir.Kind | None) -> Iterator[ir.Site]:
    """The sites of the functions that a value is or holds."""
    return (f for meeting in _meetings(kind) for f in meeting if isinstance(f, ir.Site))


def known_choices(kind: ir.Kind | None) -> tuple[Any, ...]:
    """The functions that a value may be, () if they are not all known."""
    if not isinstance(kind, ir.Callable):
        return ()
    return tuple(f for f, _ in kind.choices if f is not None)  # None is not called


# --- calls become choices ------------------------------------------------------------------------


def calls_as_choices(function: ir.Function, kinds: ir.Kinds) -> ir.Function:
    """The function with calls of one of several functions as choices."""
    fresh = ir.Fresh(ir.all_names(function))

    return ir.replaced_in(function, lambda s: _choice(s, kinds, fresh))


def _choice(stmt: ir.Stmt, kinds: ir.Kinds, fresh: ir.Fresh) -> ir.Stmt | ir.Block:
    """A call of a function that is one of several."""
    call = ir.call_of(stmt)
    if call is not None and isinstance(call.fn, ir.Name):
        choices = known_choices(kinds.get(call.fn.id))
        data = all(not isinstance(f, ir.Site) or f.values is not None for f in choices)
        if choices and data and all(k is not None for k, _ in call.kwargs):
            # Those that capture something come last: no other data can be looked into.
            choices = tuple(sorted(choices, key=_captures))
            return _tested(stmt, call, call.fn, choices, fresh)
    return stmt


def _captures(value: Any) -> bool:
    """Whether a function is made by the program, with values that it captures."""
    return isinstance(value, ir.Site) and bool(value.values)


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


def _called(stmt: Any, call: ir.Call, fn: ir.Name, value: Any, fresh: ir.Fresh) -> ir.Block:
    """A call of one known function."""
    if not isinstance(value, ir.Site):
        return (replace(stmt, rhs=replace(call, fn=value, text=None)),)
    out: list[ir.Stmt] = []
    new: dict[str, ir.Name] = {}
    for k, name in enumerate(dict.fromkeys(value.values or ())):
        new[name.id] = fresh("_t" if ir.is_temporary(name.id) else name.id)
        item = ir.Call(ir.captured, (fn, ir.Ref(value.name, value), ir.Const(k)))
        out.append(ir.Assign(new[name.id], item, stmt.loc))
    made = fresh("_t")
    closure = ir.map_opaque(lambda n: new.get(n.id, n), value.closure)
    out.append(ir.Assign(made, closure, stmt.loc))
    out.append(replace(stmt, rhs=replace(call, fn=made)))
    return tuple(out)
