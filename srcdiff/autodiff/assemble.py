"""The seeds of the adjoints, and the finished derivative.

Takes a paired function and starts the adjoints of its outputs; takes the two parts that
`tape.split` makes of it, and returns one function that gives the gradients, or a pair of functions.
The invariant: what a generated function returns beside gradients is kept where its backward part
changes it.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Any

import numpy as np

from srcdiff import ir
from srcdiff.analysis.facts import Facts
from srcdiff.autodiff.containers import resized
from srcdiff.autodiff.reverse import through_views
from srcdiff.autodiff.tape.needs import exposed
from srcdiff.autodiff.tape.split import Parts
from srcdiff.frontend.request import Input, Request
from srcdiff.ir.builder import Builder
from srcdiff.ir.frozen import replace
from srcdiff.kinds.calls import atom_kind
from srcdiff.primitives.operation import Effect, op_of
from srcdiff.primitives.views import is_array
from srcdiff.runtime import layout, trees
from srcdiff.runtime.copies import kept_together
from srcdiff.runtime.devices import on_device
from srcdiff.specialize.objects.places import item_at, step


def kept_value(
    value: ir.Atom,
    parts: Parts,
    facts: Facts,
    b: Builder,
    arrays: tuple[ir.Atom, ...],
    copied: Callable[..., Any] = np.copy,
) -> ir.Atom:
    """The value of the primal, kept where the backward part would change it.

    What is a part of `arrays`, which stand behind it, is one of their copies.
    """
    changed = ir.bound(parts.backward)
    whole = ir.names(ir.Tup(arrays))
    new: dict[str, ir.Name] = _held_together(value, facts, b)
    for name in dict.fromkeys((*whole, *ir.names(value))):
        if name in new:
            continue
        mine = facts.aliases.classes.get(name)
        near = [h for h in whole if mine is not None and facts.aliases.classes.get(h) == mine]
        if near and is_array(facts.kinds.get(name)):
            new[name] = _part_of_copies(name, near, new, b)
        elif name in facts.aliases.classes or name in changed:
            written = name in facts.aliases.classes
            array = is_array(facts.kinds.get(name))
            copying = ir.Call(copied if array else trees.kept, (ir.Name(name),))
            rhs: ir.Rhs = copying if written else ir.Name(name)
            new[name] = b.temp(rhs, f"{name.lstrip('_') or 'value'}_out")
    return ir.map_atom(lambda n: new.get(n.id, n), value)


def _part_of_copies(
    name: str,
    near: list[str],
    new: Mapping[str, ir.Name],
    b: Builder,
) -> ir.Name:
    """A copy of an array, or the part of other copies that it is of the arrays `near`."""
    base = f"{name.lstrip('_') or 'value'}_out"
    found = b.call(layout.laid_copy, ir.Name(name), base=base)
    for other in near:
        if other in new:
            args = (new[other], ir.Name(name), ir.Name(other), found)
            found = b.call(layout.view_like, *args, base=base)
    return found


def _held_together(value: ir.Atom, facts: Facts, b: Builder) -> dict[str, ir.Name]:
    """Copies of what may share memory in the value of a function that was generated."""
    classes = facts.aliases.classes
    names = [n for n in dict.fromkeys(ir.names(value)) if n in classes]
    held = Counter(classes[n] for n in names)
    names = [n for n in names if held[classes[n]] > 1]
    if not names or not b.loc.file.startswith(ir.GENERATED):
        return {}
    together = b.call(kept_together, ir.Tup(tuple(map(ir.Name, names))), base="_out")
    new = {}
    for k, name in enumerate(names):
        item = ir.Call(operator.getitem, (together, ir.Const(k)))
        new[name] = b.temp(item, f"{name.lstrip('_') or 'value'}_out")
    return new


# --- the seeds of the adjoints, and the finished derivative --------------------------------------


# --- seeds -------------------------------------------------------------------------------------


def is_plain_scalar(value: ir.Atom, facts: Facts) -> bool:
    """Whether an output is surely one real number, whose cotangent is 1.0 unless given."""
    kind = facts.kinds.get(value.id) if isinstance(value, ir.Name) else None
    if kind is None or not ir.is_float(kind) or not ir.is_real(kind):
        return False
    return isinstance(kind, ir.Scalar) or (
        on_device() and is_array(kind) and ir.dims_of(kind) == ()
    )


def seeds(function: ir.Function, facts: Facts, request: Request) -> ir.Function:
    """The paired function with the adjoints of its outputs started, and of its lists made."""
    body = function.body[:-1]
    last = function.body[-1]
    pair = last.primal if isinstance(last, ir.Pair) else last
    assert isinstance(pair, ir.Return) and isinstance(pair.value, ir.Tup)
    value = pair.value.items[1]
    b = Builder(facts.fresh, pair.loc)
    source = ir.Name(facts.seed)
    if not is_plain_scalar(value, facts) and not request.internal:
        source = b.temp(ir.Call(trees.cotangent, (source, value)), "_g")
    elif on_device() and not request.internal:
        source = _on_device(value, source, facts, b)
    elif not request.internal and _mixes_precisions(function, facts):
        # A number of Python would take the precision of what it meets.
        source = b.temp(ir.Call(np.float64, (source,), text="np.float64"), "_g")
    _seed(value, source, facts, b)
    lists = sorted(n for n in _resized_active(function, facts))
    demands = tuple(ir.Demand(facts.adjoint(n), ir.Name(n), pair.loc) for n in lists)
    made = (ir.Pair(None, demands, pair.loc),) if demands else ()
    seed = ir.Pair(None, through_views(tuple(b.out), facts, pair.loc), pair.loc)
    return replace(function, body=(*body, *made, seed, pair))


_LOW = ("float16", "float32")


def _mixes_precisions(function: ir.Function, facts: Facts) -> bool:
    """Whether something active has double precision, and something that it may meet has less."""
    double = (facts.kinds.get(n) for n in facts.active)
    if not any(_dtype(k) == "float64" for k in double):
        return False
    refs = chain.from_iterable(map(ir.refs_of, ir.walk(function.body)))
    met: Iterator[ir.Kind] = chain(facts.kinds.values(), (atom_kind(r, {}) for r in refs))
    return any(_dtype(k) in _LOW for k in met)


def _dtype(kind: ir.Kind | None) -> str | None:
    """The dtype of a number or array of NumPy."""
    if isinstance(kind, ir.Scalar):
        return None if kind.python else kind.dtype
    return kind.dtype if isinstance(kind, ir.Array) else None


def _on_device(value: ir.Atom, seed: ir.Name, facts: Facts, b: Builder) -> ir.Name:
    """The cotangent of one number as an array: it may be given, and returned, as a number."""
    kind = facts.kinds.get(value.id) if isinstance(value, ir.Name) else None
    if not isinstance(kind, (ir.Array, ir.Scalar)):
        return seed
    dtype = ir.Ref(f"np.{kind.dtype}", getattr(np, str(kind.dtype)))
    return b.temp(ir.Call(np.array, (seed, dtype)), "_g")


def _resized_active(function: ir.Function, facts: Facts) -> set[str]:
    """The lists whose adjoints start with the items that there are in the end.

    Not those of a loop or branch, nor those that have gone into another name or container.
    """
    there = {p.name for p in function.params}
    for stmt in function.body:
        if isinstance(stmt, ir.Pair) and stmt.primal is not None:
            there.update(ir.writes(stmt.primal))
    found = {n for n in resized(function.body) if n in facts.active}
    return (found & there) - facts.aliases.moved


def _seed(value: ir.Atom, source: ir.Name, facts: Facts, b: Builder) -> None:
    """Give the names in an output their parts of the cotangent."""
    if isinstance(value, ir.Name) and value.id in facts.active:
        b.out.append(ir.Accum(facts.adjoint(value.id), source, value, b.loc))
    if not isinstance(value, ir.Tup):
        return
    # A cotangent that has been checked has as many items as there are outputs.
    role = ir.Unpacks(len(value.items)) if source.id != facts.seed else None
    for k, item in enumerate(value.items):
        if any(n in facts.active for n in ir.names(item)):
            get = ir.Call(operator.getitem, (source, ir.Const(k)), role=role)
            _seed(item, b.temp(get, "_g"), facts, b)


# --- the finished function ---------------------------------------------------------------------


def assemble(
    function: ir.Function, parts: Parts, facts: Facts, request: Request, final: ir.Block
) -> ir.Function:
    """One function that runs forwards, then backwards, and returns the gradients."""
    last = parts.forward[-1]
    assert isinstance(last, ir.Return) and isinstance(last.value, ir.Tup)
    b = Builder(facts.fresh, last.loc)
    b.out += parts.forward[:-1]
    value = last.value.items[0]
    if request.value:
        value = kept_value(value, parts, facts, b, ())
    b.out += [ir.Comment("backward"), *parts.backward, *final]
    grads = _result(request, facts, b)
    result = ir.Tup((value, grads)) if request.value else grads
    plain = is_plain_scalar(last.value.items[1], facts)
    params = _with_seed(function.params, facts.seed, ir.Const(1.0) if plain else ir.NONE)
    return replace(
        function,
        name=request.name,
        params=params,
        doc=_doc(function, request),
        body=(*b.out, ir.Return(result, last.loc)),
    )


def _with_seed(params: tuple[ir.Param, ...], seed: str, default: ir.Atom) -> tuple[ir.Param, ...]:
    """The parameters with `grad_outputs` behind the positional ones."""
    plain = not any(p.style in ("*", "kw", "**") for p in params)
    at = next((k for k, p in enumerate(params) if p.style == "**"), len(params))
    return (*params[:at], ir.Param(seed, default, "any" if plain else "kw"), *params[at:])


def _result(request: Request, facts: Facts, b: Builder) -> ir.Atom:
    """The gradients in the form that was asked for."""
    grads: list[ir.Atom] = []
    for k, item in enumerate(request.inputs):
        again = any(other.param == item.param for other in request.inputs[:k])
        grads.append(_gradient(item, request, facts, b, again))
    if request.form == "bare":
        return grads[0]
    if request.form == "tuple":
        return ir.Tup(tuple(grads))
    items = [a for key, g in zip(request.form, grads) for a in (ir.Const(key), g)]
    return b.temp(ir.Call(ir.make_dict, tuple(items)), "_grads")


def _gradient(item: Input, request: Request, facts: Facts, b: Builder, again: bool) -> ir.Atom:
    """One gradient, in the structure of its input; a copy if it was asked for before."""
    param = ir.Name(item.param)
    if item.parts:
        return _object_gradient(item, request, facts, b)
    if item.param not in facts.adjoints:
        if not request.materialize:
            return ir.NONE
        for key in item.path:
            param = b.temp(step(param, key), "_like")
        return b.temp(ir.Call(trees.zero_tree, (param,)), "_zero")
    if request.internal:
        return facts.adjoint(item.param)
    grad: ir.Name = b.fresh("_grad")
    adjoint = facts.adjoint(item.param)
    for key in item.path:  # the adjoint of an object is a dict
        index = ir.Const(str(key) if isinstance(key, str) else key)
        adjoint = b.temp(ir.Call(operator.getitem, (adjoint, index)), "_grad")
        param = b.temp(step(param, key), "_like")
    b.assign(grad, ir.Call(trees.like_tree, (adjoint, param)))
    return b.temp(_copied(grad, facts.kinds.get(item.param)), "_grad") if again else grad


def _object_gradient(item: Input, request: Request, facts: Facts, b: Builder) -> ir.Atom:
    """The gradient of an object: one like it, with the gradients that there are."""
    wanted = replace(request, materialize=False)
    found = {p: _gradient(part, wanted, facts, b, False) for p, part in item.parts}
    found = {path: grad for path, grad in found.items() if grad != ir.NONE}
    return _like(ir.Name(item.param), facts.kinds[item.param], found, b)


def _like(
    base: ir.Name, kind: ir.Kind | None, found: Mapping[tuple[Any, ...], ir.Atom], b: Builder
) -> ir.Atom:
    """Something like `base` with the gradients found at some paths, zeros elsewhere."""
    if () in found:
        return found[()]
    made = b.fresh("_grad")
    if not found:
        zero = b.temp(ir.Call(trees.zero_tree, (base,)), "_zero")
        b.assign(made, ir.Call(trees.like_tree, (zero, base)))
        return made
    parts: dict[Any, ir.Atom] = {}
    for key in _keys(kind, found):
        inner = {path[1:]: grad for path, grad in found.items() if path[0] == key}
        part = b.fresh("_part")
        if () not in inner:
            b.assign(part, step(base, key))
        parts[key] = _like(part, item_at(kind, key), inner, b)
    if isinstance(kind, ir.Tuple):
        return ir.Tup(tuple(parts.values()))
    b.assign(made, _display(base, kind, parts))
    return made


def _keys(kind: ir.Kind | None, found: Mapping[tuple[Any, ...], ir.Atom]) -> list[Any]:
    """What a gradient like a value has to be given: all items of a container."""
    if isinstance(kind, (ir.Tuple, ir.List)) and kind.items is not None:
        return list(range(len(kind.items)))
    if isinstance(kind, ir.Dict) and kind.cls is None:
        return [key for key, _ in kind.items]
    return list(dict.fromkeys(path[0] for path in found))


def _display(base: ir.Name, kind: ir.Kind | None, parts: Mapping[Any, ir.Atom]) -> ir.Call:
    """A list, dict or object like `base` that holds these gradients."""
    if isinstance(kind, ir.List):
        return ir.Call(ir.make_list, tuple(parts.values()))
    if isinstance(kind, ir.Dict) and kind.cls is None:
        items = (a for k, v in parts.items() for a in (ir.Const(k), v))
        return ir.Call(ir.make_dict, tuple(items))
    kwargs = tuple((str(k), v) for k, v in parts.items())
    return ir.Call(trees.like_object, (base,), kwargs)


def _copied(grad: ir.Name, like: ir.Kind | None) -> ir.Rhs:
    """A copy of the gradient of an input of a kind."""
    if isinstance(like, ir.Scalar):
        return grad
    if isinstance(like, ir.Array) and not like.maybe_scalar:
        return ir.Call(ir.Method("copy"), (grad,))
    return ir.Call(trees.kept, (grad,))


def _doc(function: ir.Function, request: Request, forward: bool = False) -> str:
    names = ", ".join(f"`{i.param}`" for i in request.inputs)
    what = "Value and gradient" if request.value else "Gradient"
    if forward:
        what = "Forward part of the gradient"
    place = ir.origin(function)
    source = f" from {place}" if place else ""
    return f"{what} of `{function.name}` with respect to {names}. Generated by srcdiff{source}."


def assemble_pair(
    function: ir.Function, parts: Parts, facts: Facts, request: Request, final: ir.Block
) -> tuple[ir.Function, ir.Function]:
    """The forward part, which returns the value and the residuals, and the backward part."""
    last = parts.forward[-1]
    assert isinstance(last, ir.Return) and isinstance(last.value, ir.Tup)
    back = Builder(facts.fresh, last.loc)
    back.out += (*parts.backward, *final)
    result, down = _result(request, facts, back), back.out
    there = ir.bound(parts.forward) | {p.name for p in function.params}
    up, _ = exposed((*down, ir.Return(result)))
    kept = tuple(ir.Name(n) for n in sorted(up & there))
    b = Builder(facts.fresh, last.loc)
    b.out += parts.forward[:-1]
    value = last.value.items[0]
    written = value.items[1:] if request.internal and request.written else ()  # type: ignore[union-attr]
    # The caller's next reshape of an array is a view or a copy as it lies in memory.
    copied = layout.laid_copy if request.internal else np.copy
    value = kept_value(value, parts, facts, b, written, copied)
    both = ir.Return(ir.Tup((value, ir.Tup(kept))), last.loc)
    # A residual of a branch that is not taken is None, or a number as where it is taken.
    sure = exposed(tuple(b.out))[1] | {p.name for p in function.params}
    unsure = [n for n in kept if n.id not in sure]
    unset = (ir.Assign(n, _unset(facts.kinds.get(n.id)), last.loc) for n in unsure)
    body = (*unset, *b.out, both)
    base = request.name
    plain_params = tuple(ir.Param(p.name) for p in function.params)
    given = plain_params if request.internal else function.params  # called by position
    doc = _doc(function, request, True)
    forward = replace(function, name=f"{base}_forward", params=given, doc=doc, body=body)
    plain = is_plain_scalar(last.value.items[1], facts)
    residuals = facts.fresh("residuals")
    params = (ir.Param(residuals.id), ir.Param(facts.seed, ir.Const(1.0) if plain else ir.NONE))
    unpack = tuple(
        ir.Assign(n, ir.Call(operator.getitem, (residuals, ir.Const(k))), last.loc)
        for k, n in enumerate(kept)
    )
    body = (*unpack, *down, ir.Return(result, last.loc))
    backward = ir.Function(
        f"{base}_backward", params, body, f"Backward part of `{base}_forward`.", function.loc
    )
    return forward, backward


def _unset(kind: ir.Kind | None) -> ir.Const:
    """What stands for a residual that is not computed."""
    number = isinstance(kind, ir.Scalar) and kind.dtype == "float64"
    return ir.Const(0.0) if number else ir.NONE


def consumes(function: ir.Function, facts: Facts) -> bool:
    """Whether a backward part uses its residuals up: it can run once on the same ones."""
    if facts.shadows & ir.all_names(function):
        return True  # they are added into, by whatever name
    adjoints = facts.value_adjoints
    for stmt in ir.walk(function.body):
        if isinstance(stmt, ir.SetItem) and stmt.base.id in facts.kinds:
            return True
        call = ir.call_of(stmt)
        if call is None:
            continue
        changes = isinstance(call.fn, ir.Method) and op_of(call.fn).effect is Effect.WRITES
        primal = changes and not adjoints & set(ir.names(call.args[0]))
        if primal or isinstance(call.fn, ir.Derived):
            return True
    return False
