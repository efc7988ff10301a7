"""The seeds of the adjoints, and the finished derivative.

Takes a paired function and starts the adjoints of its outputs; takes the two parts that
`tape.split` makes of it, and returns one function that gives the gradients, or a pair of functions.
The invariant: what a generated function returns beside gradients is kept where its backward part
changes it.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from srcdiff import ir
from srcdiff.analysis.facts import Facts
from srcdiff.autodiff.accumulate import zero_adjoint
from srcdiff.autodiff.containers import Lines, copied, resized
from srcdiff.autodiff.reverse import through_views
from srcdiff.autodiff.tape.needs import exposed
from srcdiff.autodiff.tape.split import Parts
from srcdiff.frontend.request import Input, Request
from srcdiff.ir.builder import Builder
from srcdiff.ir.frozen import replace
from srcdiff.kinds.calls import atom_kind
from srcdiff.primitives.effects import numbered
from srcdiff.primitives.operation import Effect, op_of
from srcdiff.primitives.views import is_array
from srcdiff.runtime import layout, trees
from srcdiff.runtime.copies import kept_together
from srcdiff.specialize.objects.places import item_at, step


def kept_value(
    value: ir.Atom,
    parts: Parts,
    facts: Facts,
    b: Builder,
    arrays: tuple[ir.Atom, ...],
    array_copy: Callable[..., Any] = np.copy,
) -> ir.Atom:
    """The value of the primal, kept where the backward part would change it.

    What is a part of `arrays`, which stand behind it, is one of their copies.
    """
    classes, changed = facts.aliases.classes, ir.bound(parts.backward)
    whole = ir.names(ir.Tup(arrays))
    new: dict[str, ir.Name] = _held_together(value, facts, b)
    for name in dict.fromkeys((*whole, *ir.names(value))):
        if name in new:
            continue
        near = [h for h in whole if name in classes and classes.get(h) == classes[name]]
        if near and is_array(facts.kinds.get(name)):
            new[name] = _part_of_copies(name, near, new, b)
        elif name in classes:
            new[name] = b.temp(copied(name, facts, array_copy), _out(name))
        elif name in changed:
            new[name] = b.temp(ir.Name(name), _out(name))
    return ir.map_atom(lambda n: new.get(n.id, n), value)


def _out(name: str) -> str:
    """What a value that is returned is called."""
    return f"{name.lstrip('_') or 'value'}_out"


def _part_of_copies(name: str, near: list[str], new: Mapping[str, ir.Name], b: Builder) -> ir.Name:
    """A copy of an array, or the part of other copies that it is of the arrays `near`."""
    found = b.call(layout.laid_copy, ir.Name(name), base=_out(name))
    for other in near:
        if other in new:
            args = (new[other], ir.Name(name), ir.Name(other), found)
            found = b.call(layout.view_like, *args, base=_out(name))
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
    items = (ir.Call(operator.getitem, (together, ir.Const(k))) for k in range(len(names)))
    return {name: b.temp(item, _out(name)) for name, item in zip(names, items)}


# --- the seeds of the adjoints, and the finished derivative --------------------------------------


def is_plain_scalar(value: ir.Atom, facts: Facts) -> bool:
    """Whether an output is surely one real number, whose cotangent is 1.0 unless given."""
    kind = facts.kind(value)
    on_its_own = facts.target.on_device and is_array(kind) and ir.dims_of(kind) == ()
    return (ir.is_scalar(kind) or on_its_own) and ir.is_float(kind) and ir.is_real(kind)


def seeds(function: ir.Function, facts: Facts, request: Request) -> ir.Function:
    """The paired function with the adjoints of its outputs started, and of its lists made."""
    *body, last = function.body
    pair = last.primal if isinstance(last, ir.Pair) else last
    assert isinstance(pair, ir.Return) and isinstance(pair.value, ir.Tup)
    value = pair.value.items[1]
    b, made = Lines(facts, pair.loc), Lines(facts, pair.loc)
    source = ir.Name(facts.seed)
    if not is_plain_scalar(value, facts) and not request.internal:
        source = b.temp(ir.Call(trees.cotangent, (source, value)), "_g")
    elif facts.target.on_device and not request.internal:
        source = _on_device(value, source, b)
    elif not request.internal and _mixes_precisions(function, facts):
        # A number of Python would take the precision of what it meets.
        source = b.temp(ir.Call(np.float64, (source,), text="np.float64"), "_g")
    _seed(value, source, b)
    for name in sorted(_resized_active(function, facts)):
        made.demand(ir.Name(name))
    blocks = (
        *((tuple(made.out),) if made.out else ()),
        through_views(tuple(b.out), facts, pair.loc),
    )
    pairs = (ir.Pair(None, block, pair.loc) for block in blocks)
    return ir.rebuilt(function, body=(*body, *pairs, pair))


_LOW = ("float16", "float32")


def _mixes_precisions(function: ir.Function, facts: Facts) -> bool:
    """Whether something active has double precision, and something that it may meet has less."""
    double = (facts.kinds.get(n) for n in facts.active)
    if not any(_dtype(k) == "float64" for k in double):
        return False
    refs = dict.fromkeys(ir.refs_in(function))
    met: Iterator[ir.Kind] = chain(facts.kinds.values(), (atom_kind(r, {}) for r in refs))
    return any(_dtype(k) in _LOW for k in met)


def _dtype(kind: ir.Kind | None) -> str | None:
    """The dtype of a number or array of NumPy."""
    if isinstance(kind, ir.Scalar):
        return None if kind.python else kind.dtype
    return kind.dtype if isinstance(kind, ir.Array) else None


def _on_device(value: ir.Atom, seed: ir.Name, b: Lines) -> ir.Name:
    """The cotangent of one number as an array: it may be given, and returned, as a number."""
    kind = b.facts.kind(value)
    if not isinstance(kind, (ir.Array, ir.Scalar)):
        return seed
    dtype = ir.Ref(f"np.{kind.dtype}", getattr(np, str(kind.dtype)))
    return b.temp(ir.Call(np.array, (seed, dtype)), "_g")


def _resized_active(function: ir.Function, facts: Facts) -> frozenset[str]:
    """The lists whose adjoints start with the items that there are in the end.

    Not those of a loop or branch, nor those that have gone into another name or container.
    """
    primal = (s.primal for s in function.body if isinstance(s, ir.Pair) and s.primal is not None)
    there = {p.name for p in function.params}.union(*map(ir.writes, primal))
    return (resized(function.body) & facts.active & there) - facts.aliases.moved


def _seed(value: ir.Atom, source: ir.Name, b: Lines) -> None:
    """Give the names in an output their parts of the cotangent."""
    if isinstance(value, ir.Name) and value.id in b.facts.active:
        b.give(value, source)
    if not isinstance(value, ir.Tup):
        return
    # A cotangent that has been checked has as many items as there are outputs.
    role = ir.Unpacks(len(value.items)) if source.id != b.facts.seed else None
    for key, item in numbered(value.items):
        if not b.facts.active.isdisjoint(ir.names(item)):
            get = ir.Call(operator.getitem, (source, key), role=role)
            _seed(item, b.temp(get, "_g"), b)


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
    if request.value or request.has_aux:
        value = kept_value(value, parts, facts, b, ())
    if request.has_aux and not request.value:
        value = value.items[1] if isinstance(value, ir.Tup) else b.item(value, ir.Const(1))
    b.out += [ir.Backward(), *parts.backward, *final]
    result = _result(request, facts, b)
    if request.value or request.has_aux:
        result = ir.Tup((value, result) if request.value else (result, value))
    default = _seed_default(last.value.items[1], facts)
    params = with_params(function.params, (facts.seed,), default)
    return replace(
        function,
        name=request.name,
        params=params,
        doc=doc_of(function, request, "Value and gradient" if request.value else "Gradient"),
        body=(*b.out, ir.Return(result, last.loc)),
    )


def with_params(
    params: tuple[ir.Param, ...], new: Iterable[str], default: ir.Atom | None = None
) -> tuple[ir.Param, ...]:
    """Parameters and new ones behind them, by keyword where they cannot be given by position."""
    given = default is not None
    plain = all(p.style in ("pos", "any") and (given or p.default is None) for p in params)
    at = next((k for k, p in enumerate(params) if p.style == "**"), len(params))
    more = (ir.Param(n, default, "any" if plain else "kw") for n in new)
    return (*params[:at], *more, *params[at:])


def _result(request: Request, facts: Facts, b: Builder) -> ir.Atom:
    """The gradients in the form that was asked for."""
    given = set[str]()
    grads = [_gradient(item, request, facts, b, given) for item in request.inputs]
    if request.form == "bare":
        return grads[0]
    if request.form == "tuple":
        return ir.Tup(tuple(grads))
    items = [a for key, g in zip(request.form, grads) for a in (ir.Const(key), g)]
    return b.temp(ir.Call(ir.make_dict, tuple(items)), "_grads")


def _gradient(item: Input, request: Request, facts: Facts, b: Builder, given: set[str]) -> ir.Atom:
    """One gradient, in the structure of its input; a copy of what is `given` by now."""
    param = ir.Name(item.param)
    if item.parts:
        return _object_gradient(item, request, facts, b, given)
    again = item.param in given
    given.add(item.param)
    if item.param not in facts.adjoints:
        if not request.materialize:
            return ir.NONE
        for key in item.path:
            param = b.temp(step(param, key), "_like")
        return b.temp(ir.Call(trees.zero_tree, (param,)), "_zero")
    if request.internal:
        return facts.adjoint(item.param)
    adjoint = facts.adjoint(item.param)
    for key in item.path:  # the adjoint of an object is a dict
        index = ir.Const(str(key) if isinstance(key, str) else key)
        adjoint = b.temp(ir.Call(operator.getitem, (adjoint, index)), "_grad")
        param = b.temp(step(param, key), "_like")
    grad = b.temp(ir.Call(trees.like_tree, (adjoint, param)), "_grad")
    return b.temp(_again(grad, facts.kind(ir.Name(item.param))), "_grad") if again else grad


def _object_gradient(
    item: Input, request: Request, facts: Facts, b: Builder, given: set[str]
) -> ir.Atom:
    """The gradient of an object: one like it, with the gradients that there are."""
    wanted = replace(request, materialize=False)
    found = {p: _gradient(part, wanted, facts, b, given) for p, part in item.parts}
    kind = facts.kinds[item.param]
    found = {p: grad for p, grad in found.items() if grad != ir.NONE and _is_own(kind, p)}
    return _like(ir.Name(item.param), kind, found, b)


def _is_own(kind: ir.Kind | None, path: Sequence[Any]) -> bool:
    """Whether a value has what is at a path itself; what its class has is from outside."""
    for key in path:
        if isinstance(kind, ir.Dict) and kind.cls is not None and key not in dict(kind.items):
            return False
        kind = item_at(kind, key)
    return True


def _like(
    base: ir.Name, kind: ir.Kind | None, found: Mapping[tuple[Any, ...], ir.Atom], b: Builder
) -> ir.Atom:
    """Something like `base` with the gradients found at some paths, zeros elsewhere."""
    if () in found:
        return found[()]
    if not found:
        kind = kind or ir.UNKNOWN
        plain = ir.is_numeric(kind) or isinstance(kind, (ir.Text, ir.NoneKind))
        if plain and not ir.is_active_kind(kind):
            return ir.NONE
        zero = b.temp(zero_adjoint(base, kind), "_zero")
        return b.temp(ir.Call(trees.like_tree, (zero, base)), "_grad")
    parts: dict[Any, ir.Atom] = {}
    for key in _keys(kind, found):
        inner = {path[1:]: grad for path, grad in found.items() if path[0] == key}
        part = b.fresh("_part") if () in inner else b.temp(step(base, key), "_part")
        parts[key] = _like(part, item_at(kind, key), inner, b)
    if isinstance(kind, ir.Tuple):
        return ir.Tup(tuple(parts.values()))
    return b.temp(_display(base, kind, parts), "_grad")


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


def _again(grad: ir.Name, like: ir.Kind) -> ir.Rhs:
    """A copy of the gradient of an input of a kind."""
    if ir.is_scalar(like):
        return grad
    return ir.Call(ir.Method("copy") if is_array(like) else trees.kept, (grad,))


def doc_of(
    function: ir.Function, request: Request, what: str, by: str = "with respect to"
) -> str:
    """The docstring of a derivative."""
    names, place = ", ".join(f"`{i.param}`" for i in request.inputs), ir.origin(function)
    source = f" from {place}" if place else ""
    return f"{what} of `{function.name}` {by} {names}. Generated by srcdiff{source}."


def assemble_pair(
    function: ir.Function, parts: Parts, facts: Facts, request: Request, final: ir.Block
) -> tuple[ir.Function, ir.Function]:
    """The forward part, which returns the value and the residuals, and the backward part."""
    last = parts.forward[-1]
    assert isinstance(last, ir.Return) and isinstance(last.value, ir.Tup)
    value, output = last.value.items
    given = {p.name for p in function.params}
    back = Builder(facts.fresh, last.loc)
    back.out += (*parts.backward, *final)
    back.out.append(ir.Return(_result(request, facts, back), last.loc))
    up, _ = exposed(tuple(back.out))
    kept = tuple(ir.Name(n) for n in sorted(up & (ir.bound(parts.forward) | given)))
    b = Builder(facts.fresh, last.loc)
    b.out += parts.forward[:-1]
    written = value.items[1:] if request.internal and request.written else ()  # type: ignore[union-attr]
    # The caller's next reshape of an array is a view or a copy as it lies in memory.
    array_copy = layout.laid_copy if request.internal else np.copy
    value = kept_value(value, parts, facts, b, written, array_copy)
    # A residual of a branch that is not taken is None, or a number as where it is taken.
    sure = exposed(tuple(b.out))[1] | given
    unset = (ir.Assign(n, _unset(facts.kind(n)), last.loc) for n in kept if n.id not in sure)
    both = ir.Return(ir.Tup((value, ir.Tup(kept))), last.loc)
    plain_params = tuple(ir.Param(p.name) for p in function.params)
    forward = replace(
        function,
        name=f"{request.name}_forward",
        params=plain_params if request.internal else function.params,  # called by position
        doc=doc_of(function, request, "Forward part of the gradient"),
        body=(*unset, *b.out, both),
    )
    residuals, default = facts.fresh("residuals"), _seed_default(output, facts)
    items = (ir.Call(operator.getitem, (residuals, ir.Const(k))) for k in range(len(kept)))
    unpack = (ir.Assign(n, item, last.loc) for n, item in zip(kept, items))
    return forward, ir.Function(
        f"{request.name}_backward",
        (ir.Param(residuals.id), ir.Param(facts.seed, default)),
        (*unpack, *back.out),
        f"Backward part of `{request.name}_forward`.",
        function.loc,
        target=function.target,
    )


def _seed_default(output: ir.Atom, facts: Facts) -> ir.Const:
    """The cotangent of an output where none is given."""
    return ir.Const(1.0) if is_plain_scalar(output, facts) else ir.NONE


def _unset(kind: ir.Kind) -> ir.Const:
    """What stands for a residual that is not computed."""
    number = isinstance(kind, ir.Scalar) and kind.dtype == "float64"
    return ir.Const(0.0) if number else ir.NONE


def consumes(function: ir.Function, facts: Facts) -> bool:
    """Whether a backward part uses its residuals up: it can run once on the same ones."""
    if facts.shadows & ir.all_names(function):
        return True  # they are added into, by whatever name
    adjoints = facts.value_adjoints
    for stmt in ir.walk(function):
        if isinstance(stmt, ir.Store) and stmt.base.id in facts.kinds:
            return True
    for call in ir.calls(function):
        changes = isinstance(call.fn, ir.Method) and op_of(call.fn).effect is Effect.WRITES
        primal = changes and adjoints.isdisjoint(ir.names(call.args[0]))
        if primal or isinstance(call.fn, ir.Derived):
            return True
    return False
