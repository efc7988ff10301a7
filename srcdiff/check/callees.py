"""Calls of which it is not known enough where a derivative would have to pass through them.

A statement does not show what a method, or a lambda, changes that is handed on as a value:
`add = xs.append; add(v)` changes `xs`, which the call does not name; so does
`each(lambda v: xs.append(v))` where `each` stays a call.

A call may return a list or dict that it is given, or something that holds it.  What it is given is
kept as it is then, so what it returns would not show what is changed later, nor the other way
round.  The invariant: of a container that a call may return nothing is changed once it has been
called, by any name.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Set
from typing import Any

import numpy as np

from srcdiff import ir
from srcdiff.analysis.activity import edges_of, reachable
from srcdiff.errors import refused
from srcdiff.frontend.closures import Closure
from srcdiff.frontend.lowering import flows, mentioned
from srcdiff.kinds.calls import atom_kind
from srcdiff.normalize.summaries.effects import is_user_call, is_value, marked_arguments, together
from srcdiff.normalize.summaries.induction import is_at_run_time
from srcdiff.primitives.arguments import spelling
from srcdiff.primitives.effects import is_pure, module_of, mutated_args, written_into
from srcdiff.primitives.operation import MUTATORS
from srcdiff.primitives.ops import Op, calling, is_op
from srcdiff.primitives.registry import find, lookup
from srcdiff.runtime import records
from srcdiff.specialize.inline import is_user_function, is_written_out
from srcdiff.specialize.resolve import is_declined, refuse_strange


def check_callees(
    function: ir.Function, kinds: ir.Kinds, inputs: tuple[str, ...], outputs: tuple[str, ...]
) -> None:
    """Refuse calls through which a derivative would have to pass and of which nothing is known."""
    if not any(_is_suspect(s, kinds) for s in ir.walk(function)):
        return
    found = edges_of(function, kinds, flows)
    varied = reachable(inputs, found)
    useful = reachable(outputs, found, backward=True)
    made = _capturing(function, {n for n in varied if ir.carries(n, kinds)})
    methods = _methods_by_name(function, varied)
    for stmt in ir.walk(function):
        if isinstance(stmt, ir.Store) and _is_item_store(stmt, kinds) and stmt.base.id in varied:
            raise refused("objects.stored", stmt.loc, name=ir.said(stmt.base.id))
        call = ir.call_of(stmt)
        if call is None:
            continue
        result = not useful.isdisjoint(ir.writes(stmt))
        depends = result and not varied.isdisjoint(ir.writes(stmt))
        if result and is_declined(call) and not varied.isdisjoint(ir.names(call)):
            find(call, kinds, stmt.loc)  # says what to write instead
        if result:
            _check_captured(call, made, kinds, stmt.loc)
        if depends and _combines_objects(call, kinds):
            raise refused("objects.combined", stmt.loc, callee=spelling(call))
        strange = depends and _is_own_container(call)
        strange = strange or (isinstance(call.fn, ir.Name) and call.fn.id in methods)
        if not strange and _is_strange(call, kinds):
            active = {n for n in ir.names(call) if n in varied and ir.carries(n, kinds)}
            strange = bool(active and (result or active & useful & {*written_into(stmt, kinds)}))
        if strange:
            refuse_strange(call, stmt.loc, function, kinds)


def _is_suspect(stmt: ir.Stmt, kinds: ir.Kinds) -> bool:
    """Whether a statement may be, or make, what `check_callees` refuses."""
    call = ir.call_of(stmt)
    if call is not None:
        known = not _is_strange(call, kinds) and not _combines_objects(call, kinds)
        return is_declined(call) or not known or _is_own_container(call)
    if isinstance(stmt, ir.Store):
        return _is_item_store(stmt, kinds)
    rhs = stmt.rhs if isinstance(stmt, ir.Assign) else None
    return isinstance(rhs, ir.Opaque) and not rhs.harmless


def _capturing(function: ir.Function, varied: Container[str]) -> dict[str, str]:
    """The names that may hold a function made here that reads one of some names, and that."""
    found: dict[str, str] = {}
    makers = [s for s in ir.walk(function) if isinstance(s, ir.Assign)]
    makers = [s for s in makers if not isinstance(s.rhs, ir.Call) or is_op(s.rhs, *_HOLDING)]
    for _ in makers:
        before = len(found)
        for stmt in makers:
            own = isinstance(stmt.rhs, ir.Opaque) and not stmt.rhs.harmless
            for name in ir.names(stmt.rhs):
                if name in found or (own and name in varied):
                    found.setdefault(stmt.target.id, found.get(name, name))
        if len(found) == before:
            break
    return found


def _methods_by_name(function: ir.Function, varied: frozenset[str]) -> frozenset[str]:
    """The names of what `getattr` gives of something: methods, which may change it."""
    made = (s for s in ir.walk(function) if is_op(ir.call_of(s), Op.GETATTR))
    return frozenset(n for s in made if varied.intersection(ir.reads(s)) for n in ir.writes(s))


_HOLDING = (Op.MAKE_LIST, Op.MAKE_DICT, Op.GETITEM, Op.LIST, Op.TUPLE, Op.DICT)


def _check_captured(call: ir.Call, made: Mapping[str, str], kinds: ir.Kinds, loc: ir.Loc) -> None:
    """Refuse a function that a rule says nothing of, and that reads values with a derivative."""
    rule = None if made.keys().isdisjoint(ir.names(call)) else lookup(call.fn)
    if rule is None or rule.template is None or is_op(call, *_HOLDING):
        return
    for param, atom in find(call, kinds, loc).args.items():
        active = [made[n] for n in ir.names(atom) if n in made]
        if active and param not in mentioned(rule):
            raise refused(
                "callees.captured", loc, param=param, callee=spelling(call), name=ir.said(active[0])
            )


def _is_strange(call: ir.Call, kinds: ir.Kinds) -> bool:
    """Whether nothing is known of what a call does."""
    fn = call.fn
    if isinstance(fn, (ir.Name, ir.Attr, ir.Derived)):
        return isinstance(fn, ir.Name)
    first = call.args[0] if call.args else ir.NONE
    kind = kinds.get(first.id) if isinstance(first, ir.Name) else None
    container = kind is not None and ir.is_container(kind)
    if is_op(call, Op.LIST):
        return kind is not None and not isinstance(kind, (ir.Array, ir.Scalar)) and not container
    if records.is_record(fn) and not is_written_out(call):
        return True
    if is_pure(fn) or lookup(fn) is not None:
        return False
    return not container if isinstance(fn, ir.Method) else bool(mutated_args(call))


def _is_own_container(call: ir.Call) -> bool:
    """Whether a call makes a list or dict of a class that has operators of its own."""
    cls = call.fn if isinstance(call.fn, type) else object
    base = next((b for b in (dict, list) if issubclass(cls, b)), None)
    return base is not None and bool(records.own_operators(cls, base))


def _combines_objects(call: ir.Call, kinds: ir.Kinds) -> bool:
    """Whether a call compares or joins objects, as operators of their class say."""
    numpy = isinstance(call.fn, np.ufunc) or module_of(call.fn).startswith("numpy")
    asked = numpy or is_op(call, Op.MAX, Op.MIN, Op.SUM)
    return asked and any(_holds_object(atom_kind(a, kinds)) for a in call.args)


def _holds_object(kind: ir.Kind) -> bool:
    """Whether a value is, or holds, an object with attributes that is no named tuple."""
    cls = ir.class_if_any(kind)
    return any(map(_holds_object, ir.inside(kind))) if cls is None else not issubclass(cls, tuple)


def _is_item_store(stmt: ir.Store, kinds: ir.Kinds) -> bool:
    """Whether a statement stores an item into an object that is no array."""
    kind = kinds.get(stmt.base.id)
    return isinstance(kind, ir.Object) and kind.type != "numpy.ndarray"


# --- calls of what only the running program knows, and expressions that are kept as text ---------


def check_used(function: ir.Function, active: Set[str]) -> None:
    """Refuse marked calls that no derivative passes through: what they write is not known."""
    for stmt in ir.assignments(function):
        call: Any = stmt.rhs
        if is_at_run_time(call) and stmt.target.id not in active:
            raise refused("callees.not_used", stmt.loc, name=ir.said(call.text or call.fn.name))


def check_texts(function: ir.Function, active: Set[str]) -> None:
    """Refuse expressions that are kept as text and read values with a derivative."""
    for stmt in ir.assignments(function):
        if isinstance(stmt.rhs, ir.Opaque) and not stmt.rhs.harmless and stmt.target.id in active:
            if not active.isdisjoint(ir.names(stmt.rhs)):
                raise refused("callees.text", stmt.loc, text=stmt.rhs.text)


def check_first_order(function: ir.Function) -> None:
    """Refuse the derivative of a text that calls functions found when it runs."""
    for stmt, _ in calling(function, Op.CALL_VJP, Op.PULL_BACK):
        raise refused("inputs.second_order", stmt.loc)


# --- methods and lambdas as values, that change something ----------------------------------------


_CHANGES = MUTATORS | {"__setitem__", "__delitem__", "__iadd__"}


def check_changes(function: ir.Function, kinds: ir.Kinds) -> None:
    """Refuse values that are methods, or lambdas, that change what may have a derivative."""
    made: dict[str, str] = {}  # lambdas, and what they change
    for stmt in ir.walk(function):
        rhs = stmt.rhs if isinstance(stmt, ir.Assign) else None
        if isinstance(rhs, ir.Call) and isinstance(rhs.fn, ir.Attr) and rhs.fn.name in _CHANGES:
            for base in (n for n in ir.names(rhs) if _matters(kinds.get(n))):
                fields = {"name": rhs.fn.name, "base": ir.said(base), "plain": base}
                raise refused("callees.method", stmt.loc, **fields)
        if isinstance(stmt, ir.Assign) and isinstance(rhs, Closure):
            made.update((stmt.target.id, n) for n in _changed(rhs) if _matters(kinds.get(n)))
        call = ir.call_of(stmt)
        if made and call is not None and (is_user_call(call) or is_user_function(call.fn)):
            for name in made.keys() & set(ir.names(call)):
                raise refused("callees.changing", stmt.loc, name=ir.said(made[name]))


def _matters(kind: ir.Kind | None) -> bool:
    """Whether a value may be a container or an array that something with a derivative goes into."""
    kind = None if kind is None else ir.sure(kind)
    if isinstance(kind, ir.Dict) and kind.cls is not None:
        return False
    if isinstance(kind, (ir.List, ir.Dict)):
        return not ir.contents(kind) or ir.is_active_kind(kind)
    return (
        kind is None
        or isinstance(kind, (ir.Array, ir.Scalar, ir.Unknown))
        and ir.is_active_kind(kind)
    )


def _changed(closure: Closure) -> Iterator[str]:
    """The variables around a lambda that it changes when it is called."""
    function, variables = closure.function, closure.variables
    if function is None or variables is None:
        return
    for stmt in ir.walk(function):
        call = ir.call_of(stmt)
        changes = call is not None and isinstance(call.fn, ir.Method) and call.fn.name in MUTATORS
        base = call.args[0] if changes and call is not None else None
        if isinstance(stmt, ir.Store):
            base = stmt.base
        outer = variables.get(base.id) if isinstance(base, ir.Name) else None
        if isinstance(outer, ir.Name):
            yield outer.id


# --- calls that may return a list or dict that they are given, or something that holds it --------


def check_returned(function: ir.Function, kinds: ir.Kinds) -> None:
    """Refuse changes of containers that calls, which are marked, may have returned."""
    places = list(ir.walk_in_loops(function.body))
    changed = [(k, loops, _changed_here(s, kinds)) for k, (s, loops) in enumerate(places)]
    group = together(function, kinds)
    for k, (stmt, loops) in enumerate(places):
        target = stmt.target.id if isinstance(stmt, ir.Assign) else None
        if target is None or is_value(kinds.get(target, ir.UNKNOWN)):
            continue
        for param in _returned(stmt, kinds):
            # In one loop either of two statements may run after the other.
            other = (ns for j, around, ns in changed if j > k or loops and loops[:1] == around[:1])
            if any(group.share(target, n) for ns in other for n in ns):
                name = ir.callee_of(stmt).name  # type: ignore[union-attr]
                raise refused("callees.recursive_container", stmt.loc, name=name, param=param)


def _changed_here(stmt: ir.Stmt, kinds: ir.Kinds) -> list[str]:
    """The lists and dicts that a statement changes."""
    found = [*written_into(stmt, kinds)]
    for key, param, atom in marked_arguments(stmt):
        found += ir.names(atom) if param in key.written else ()
    return [n for n in found if not is_value(kinds.get(n, ir.UNKNOWN))]


def _returned(stmt: ir.Stmt, kinds: ir.Kinds) -> list[str]:
    """The parameters that get containers which the result of a call may be, or hold."""
    found: list[str] = []
    for key, param, atom in marked_arguments(stmt):
        value = all(is_value(kinds.get(n, ir.UNKNOWN)) for n in ir.names(atom))
        if param in key.returned and param not in key.items and not value:
            found.append(param)
    return found
