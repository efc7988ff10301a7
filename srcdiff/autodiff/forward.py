"""Forward mode: beside every value stands its tangent.

Takes a normalised function and the facts about it, whose `adjoints` are the names of the tangents;
returns the function that computes the value and its tangent.  The invariant: the memory of tangents
mirrors that of the primal, statement by statement.  A view of an array has for tangent the same
view of the array's tangent, two names of one array are two names of one tangent, a store is a
store.  So nothing about memory has to be proved.

A view of a tangent is made by the same call as that of its value.  Whether `y.ravel()` is a view
depends on how `y` lies: where it matters, what is computed beside `y` is put in the same order.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping

import numpy as np

from srcdiff import ir
from srcdiff.analysis.activity import activity, edges
from srcdiff.analysis.aliases import Aliases
from srcdiff.analysis.facts import Facts, adjoint_names, sampled, with_alias
from srcdiff.analysis.links import DISPLAYS
from srcdiff.analysis.points_to import PointsTo
from srcdiff.analysis.shadows import as_copies, laid_classes
from srcdiff.autodiff.assemble import doc_of, with_params
from srcdiff.autodiff.calls import active_key, item_of, may_be_written, unmarked
from srcdiff.autodiff.containers import clear_cut, on_companions, permuted
from srcdiff.autodiff.tangents import (
    Scribe,
    call_tangent,
    check_own_memory,
    effect_tangent,
    joins,
)
from srcdiff.errors import refused
from srcdiff.frontend.lowering import flows
from srcdiff.frontend.request import Request
from srcdiff.ir.frozen import replace
from srcdiff.kinds.calls import atom_kind, kind_of_call
from srcdiff.normalize.copy_in import lent_names
from srcdiff.normalize.summaries.effects import is_user_call
from srcdiff.normalize.summaries.induction import computes_complex
from srcdiff.primitives.effects import returns_view, written_into
from srcdiff.primitives.ops import Op, is_op
from srcdiff.primitives.views import is_array
from srcdiff.runtime import layout, trees
from srcdiff.runtime.copies import kept_together


def laid_names(
    function: ir.Function, kinds: Mapping[str, ir.Kind], classes: Mapping[str, str]
) -> frozenset[str]:
    """The names whose tangents have to lie in memory as they do."""
    lent = {classes[n] for n in lent_names(function) if n in classes}
    return laid_classes(function, kinds) | {n for n, owner in classes.items() if owner in lent}


def laid_tangent(stmt: ir.Assign, tangent: ir.Rhs | None, scribe: Scribe) -> ir.Rhs | None:
    """The tangent of an assignment, in the order in memory of its value if that matters."""
    call = stmt.rhs
    if stmt.target.id not in scribe.facts.laid or not isinstance(call, ir.Call):
        return tangent
    if tangent is None or isinstance(tangent, ir.Const) or is_op(call, *DISPLAYS):
        return tangent
    if is_op(tangent, Op.ZEROS_LIKE) and tangent.args == (stmt.target,):
        return tangent  # the zeros lie as the value
    if returns_view(call, scribe.facts.kinds):
        return tangent
    if is_op(tangent, Op.ARRAY) and not tangent.kwargs:
        tangent = tangent.args[0]  # the copy is made in that order
    value = scribe.temp(tangent) if isinstance(tangent, ir.Call) else tangent
    assert isinstance(value, (ir.Name, ir.Tup, ir.Const))
    return ir.Call(layout.laid_like, (value, stmt.target))


# --- forward mode: beside every value stands its tangent -----------------------------------------


def tangent_facts(
    function: ir.Function,
    kinds: Mapping[str, ir.Kind],
    request: Request,
    outputs: tuple[str, ...],
    theirs: frozenset[str],
) -> Facts:
    """What forward mode knows of a function: the names that carry a derivative, their tangents."""
    inputs = tuple(i.param for i in request.inputs)
    classes = PointsTo.of(function, kinds).classes
    shared = Aliases(classes, copies=as_copies(function, kinds, classes, classes.keys()))
    found = edges(function.body, kinds, shared, flows)
    flowing = activity(inputs, outputs, found)
    active = flowing | {*inputs}
    fresh = ir.Fresh(ir.all_names(function))
    plain = frozenset(n for n in active if not ir.is_temporary(n))
    names = adjoint_names(function, plain, fresh, "t_")
    names.update((n, fresh().id) for n in sorted(active - plain))
    mixed = request.mixed or computes_complex(function, kinds)
    known = sampled(function, kinds)
    laid = laid_names(function, kinds, classes)
    return Facts(
        kinds, shared, active, names, fresh, "", theirs, mixed, known, laid=laid,
        target=function.target, unused=frozenset(inputs) - flowing,
    )  # fmt: skip


def tangent_kinds(facts: Facts, request: Request) -> dict[str, ir.Kind]:
    """The kinds of the tangents of the inputs: those of the inputs."""

    def plain(kind: ir.Kind) -> ir.Kind:
        return ir.Scalar(kind.dtype, kind.python) if isinstance(kind, ir.Scalar) else kind

    params = [item.param for item in request.inputs]
    return {facts.adjoints[p]: plain(facts.kinds.get(p, ir.UNKNOWN)) for p in params}


def forward(function: ir.Function, facts: Facts, request: Request) -> ir.Function:
    """The function with tangents: it takes those of the inputs, and returns `(value, tangent)`."""
    last = function.body[-1]
    assert isinstance(last, ir.Return) and isinstance(last.value, ir.Tup)
    value, outputs = last.value.items
    scribe = Scribe(facts, last.loc)
    tangent = scribe.tangent(outputs)
    lines = ir.replaced(function.body[:-1], lambda s: _stmt(s, facts))
    body = (*_constants(function, facts, request), *lines)
    end = ir.Return(ir.Tup((value, tangent)), last.loc)
    return replace(
        function,
        name=request.name,
        params=_with_tangents(function.params, facts, request),
        doc=doc_of(function, request, "Value", "and its derivative along a direction of"),
        body=unmarked((*body, *scribe.out, end)),
    )


def _constants(function: ir.Function, facts: Facts, request: Request) -> ir.Block:
    """Zero for the parameters that are no inputs, and are bound again to something active."""
    scribe, inputs = Scribe(facts, function.loc), {i.param for i in request.inputs}
    for param in function.params:
        if param.name in facts.active and param.name not in inputs:
            zero = scribe.zero(ir.Name(param.name))
            scribe.out.append(ir.Assign(facts.adjoint(param.name), zero, function.loc))
    return tuple(scribe.out)


def _with_tangents(
    params: tuple[ir.Param, ...], facts: Facts, request: Request
) -> tuple[ir.Param, ...]:
    """The parameters with the tangents of the inputs behind them."""
    names = [facts.adjoints[i.param] for i in request.inputs]
    if request.internal:  # called with all arguments, by position
        return tuple(ir.Param(n) for n in (*(p.name for p in params), *names))
    return with_params(params, names)


# --- statements --------------------------------------------------------------------------------


def _stmt(stmt: ir.Stmt, facts: Facts) -> ir.Block:
    """A statement with what happens to the tangents; control flow keeps its shape."""
    scribe = Scribe(facts, stmt.loc)
    if isinstance(stmt, ir.Assign):
        _assign(stmt, scribe)
    elif isinstance(stmt, ir.Store):
        _set_item(stmt, scribe)
    elif isinstance(stmt, ir.Effect):
        _effect(stmt, scribe)
    else:
        scribe.out.append(stmt)
        scribe.out += permuted(stmt, facts.active, facts) if isinstance(stmt, ir.Permute) else ()
    return tuple(scribe.out)


def _set_item(stmt: ir.Store, scribe: Scribe) -> None:
    """A store, and the same store into the tangent."""
    facts = scribe.facts
    active = not facts.active.isdisjoint(ir.names(stmt.value))
    mine, plain = stmt.base.id in facts.active, isinstance(stmt, ir.SetItem)
    if mine and isinstance(stmt, ir.AugAssign) and stmt.op in ("*", "/"):
        _scale(stmt, active, scribe)
        mine = False
    scribe.out.append(stmt)
    if not mine or not (plain or active):
        return
    inside = not ir.is_numeric(facts.kind(stmt.base))  # of a container the tangent has items alike
    value = scribe.tangent(stmt.value) if active or inside else ir.Const(0.0)
    scribe.out.append(replace(stmt, base=facts.adjoint(stmt.base.id), value=value))
    stored = ir.names(stmt.value) if plain else ()
    clear_cut(stmt.base, stmt.index, stored, scribe, made=True)


def _scale(stmt: ir.AugAssign, active: bool, scribe: Scribe) -> None:
    """What `x[i] *= v` and `x[i] /= v` do to the tangent, before they are done."""
    scale = replace(stmt, base=scribe.facts.adjoint(stmt.base.id))
    if not active:
        scribe.out.append(scale)
        return
    old = scribe.item(stmt.base, ir.Const(...) if stmt.index is None else stmt.index)
    for _ in range(2 if stmt.op == "/" else 0):
        old = scribe.apply(operator.truediv, old, stmt.value)
    change = scribe.apply(operator.mul, old, scribe.tangent(stmt.value))
    # The tangent of v may be a view of that of x; real items take the real part of either term.
    scribe.out += scale, replace(scale, value=change, op="-" if stmt.op == "/" else "+")


def _effect(stmt: ir.Effect, scribe: Scribe) -> None:
    """A call for its effect, and the same effect on the tangent."""
    call, facts = stmt.rhs, scribe.facts
    written = written_into(stmt, facts.kinds)
    # What a user's function writes into is stored behind it.
    if isinstance(call, ir.Opaque) or is_user_call(call) or facts.active.isdisjoint(written):
        scribe.out.append(stmt)
    elif isinstance(call.fn, ir.Method) and facts.is_container(call.args[0]):
        same = _on_container(call, scribe)
        scribe.out += stmt, ir.Effect(same, stmt.loc)
    else:
        effect_tangent(stmt, call, scribe)
        for name in written:
            clear_cut(ir.Name(name), None, ir.names(call), scribe, made=True)


_CONTENTS = (Op.APPEND, Op.EXTEND, Op.INSERT, Op.POP, Op.CLEAR, Op.REVERSE, Op.UPDATE)


def _on_container(call: ir.Call, scribe: Scribe) -> ir.Call:
    """A method of a list or dict, on its tangent."""
    if call.kwargs or not is_op(call, *_CONTENTS):
        assert isinstance(call.fn, ir.Method)
        raise refused("inputs.container_tangent", scribe.loc, name=call.fn.name)
    return on_companions(call, scribe.tangent)


# --- assignments -------------------------------------------------------------------------------


def _assign(stmt: ir.Assign, scribe: Scribe) -> None:
    """`z = ...` and its tangent."""
    target, rhs, facts = stmt.target, stmt.rhs, scribe.facts
    if target.id in facts.active and is_user_call(rhs):
        _user_call(stmt, scribe)
    elif target.id in facts.active and target.id in ir.names(rhs):
        scribe.out += _self_assign(stmt, facts)
    else:
        scribe.out.append(stmt)
        if target.id in facts.active:
            _bind_tangent(stmt, facts.adjoint(target.id), scribe)
        elif is_op(rhs, Op.POP) and not facts.active.isdisjoint(ir.names(rhs.args[0])):
            # Of an item that is taken off a list without use the tangent is taken off as well.
            scribe.out.append(ir.Effect(_on_container(rhs, scribe), stmt.loc))


def _self_assign(stmt: ir.Assign, facts: Facts) -> ir.Block:
    """`z = f(z)`: the tangent reads the old z, the new one, or both."""
    result = facts.fresh("_" + stmt.target.id.lstrip("_"))
    tangent = facts.adjoint(stmt.target.id)
    inner = with_alias(facts, result.id, stmt.target.id, tangent.id)
    new = replace(stmt, target=result)
    lines = Scribe(inner, stmt.loc)
    _bind_tangent(new, tangent, lines)
    if result.id not in ir.used(tuple(lines.out)):
        return (*lines.out, stmt)
    held, lines = facts.fresh("_" + tangent.id), Scribe(inner, stmt.loc)
    _bind_tangent(new, held, lines)
    lines.assign(stmt.target, result)
    lines.assign(tangent, held)
    return (new, *lines.out)


def _bind_tangent(stmt: ir.Assign, tangent: ir.Name, scribe: Scribe) -> None:
    """Bind the tangent of the target of an assignment."""
    written = stmt.target.id in scribe.facts.aliases.classes
    rhs = laid_tangent(stmt, _tangent(stmt, scribe), scribe)
    if rhs is None:
        if isinstance(stmt.rhs, ir.Call) and written:
            check_own_memory(stmt, stmt.rhs, scribe.facts)
        rhs = scribe.zero(stmt.rhs if isinstance(stmt.rhs, ir.Const) else stmt.target)
    elif written:
        rhs = _of_number(stmt.rhs, rhs, scribe)
    scribe.assign(tangent, rhs)


def _of_number(value: ir.Rhs, tangent: ir.Rhs, scribe: Scribe) -> ir.Rhs:
    """The tangent of what is written into later: where a number is, or is made an array, a number.

    An array of no axes would be shared where a number is not.
    """
    kinds, device = scribe.facts.kinds, scribe.facts.target.on_device
    kind = kind_of_call(value, kinds, device) if isinstance(value, ir.Call) else ir.UNKNOWN
    kind = atom_kind(value, kinds) if isinstance(value, ir.Name) else kind
    if ir.is_scalar(kind):
        own = is_op(tangent, Op.ARRAY) and not tangent.kwargs
        return _as_number(tangent.args[0] if own else tangent, scribe)  # type: ignore[union-attr]
    if not isinstance(value, ir.Call) or not isinstance(tangent, ir.Call):
        return tangent
    if not returns_view(value, kinds) or not ir.is_scalar(atom_kind(value.args[0], kinds)):
        return tangent
    number = scribe.temp(_as_number(tangent.args[0], scribe))
    return replace(tangent, args=(number, *tangent.args[1:]))


def _as_number(tangent: ir.Rhs, scribe: Scribe) -> ir.Rhs:
    """A tangent of a number that is a number: what arithmetic gives, even of arrays of no axes."""
    last = scribe.out[-1] if scribe.out else None
    if isinstance(last, ir.Assign) and last.target == tangent:
        tangent = last.rhs
        scribe.out.pop()
    computed = is_op(tangent, *_ARITHMETIC)
    if computed or isinstance(tangent, ir.Const):
        return tangent
    atom = scribe.temp(tangent) if isinstance(tangent, (ir.Call, ir.Opaque)) else tangent
    return ir.Call(operator.pos, (atom,))


_ARITHMETIC = (Op.ADD, Op.SUB, Op.MUL, Op.DIV, Op.NEG)


def _tangent(stmt: ir.Assign, scribe: Scribe) -> ir.Rhs | None:
    """The tangent of a right-hand side, None for zero."""
    rhs, facts = stmt.rhs, scribe.facts
    if is_op(rhs, Op.MAKE_LIST) and not rhs.args:
        return rhs  # what it is filled with will have tangents
    if not any(n in facts.active for n in ir.names(rhs)) and not isinstance(rhs, ir.Tup):
        return None
    if isinstance(rhs, ir.Opaque):
        return None
    return _call(stmt, rhs, scribe) if isinstance(rhs, ir.Call) else scribe.tangent(rhs)


def _call(stmt: ir.Assign, call: ir.Call, scribe: Scribe) -> ir.Rhs | None:
    """The tangent of a call: on containers here, everything else by its rule."""
    facts = scribe.facts
    copied = is_op(call, Op.REVERSED) and facts.is_container(call.args[0])
    if is_op(call, Op.MAKE_LIST, Op.MAKE_DICT) or copied or facts.copies_container(call):
        return on_companions(call, scribe.tangent)
    if joins(call, facts):

        def joined(atom: ir.Atom) -> ir.Atom:  # a count stays as it is
            numeric = ir.is_numeric(atom_kind(atom, facts.kinds))
            return atom if numeric else scribe.tangent(atom)

        return on_companions(call, joined)
    if is_op(call, Op.POP):
        return _on_container(call, scribe)
    if is_op(call, Op.GETITEM):
        base = call.args[0]
        if ir.is_scalar(facts.kind(base)):
            return scribe.tangent(base)
        if not ir.is_numeric(facts.kind(base)):
            return on_companions(call, scribe.tangent)
    return call_tangent(stmt, call, scribe, stmt.target.id in facts.aliases.classes)


def _user_call(stmt: ir.Assign, scribe: Scribe) -> None:
    """A call of a recursive function: of its own forward-mode function."""
    call = stmt.rhs
    assert isinstance(call, ir.Call) and isinstance(call.fn, ir.Derived)
    tangent = scribe.facts.adjoint(stmt.target.id)
    key, given = active_key(call, scribe.facts)
    if not given:
        scribe.out.append(stmt)
        _bind_tangent(stmt, tangent, scribe)
        return
    key = replace(key, result=ir.Tuple((key.result, ir.UNKNOWN)))
    args = (*call.args, *map(scribe.tangent, given))
    both = scribe.temp(ir.Call(ir.Derived(call.fn.name, "jvp", key), args))
    scribe.assign(stmt.target, item_of(both, 0))
    found = item_of(both, 1)
    if not (key.returned or key.taken) and may_be_written(stmt.target.id, key, scribe.facts):
        found = _own(scribe.temp(found), stmt.target, key.together, scribe)
    scribe.assign(tangent, found)


def _own(tangent: ir.Name, value: ir.Name, together: bool, scribe: Scribe) -> ir.Call:
    """A copy of what a function gives as the tangent of a new value: it may be an argument's."""
    kind = scribe.facts.kind(value)
    if ir.is_numeric(kind):
        if is_array(kind) and value.id not in scribe.facts.laid:
            return ir.Call(np.copy, (tangent,))
        return ir.Call(layout.laid_like, (tangent, value))
    return ir.Call(kept_together if together else trees.kept, (tangent,))
