"""Variables around a function as parameters of it: what closures capture, containers of objects.

Functions made here that are arguments of a primitive become functions of the text:
`quad(lambda t: np.exp(-k * t), 0.0, 1.0)` becomes `quad(func, 0.0, 1.0, args=(k,))`, where `func`
is a function of `t` and `k` that stands beside the derivative.  What it captures is an argument
then, to which the rule of the primitive gives a derivative as to any other.

Variables outside of a function that hold containers of objects are parameters of it for a while:
what their methods do is found out from the kinds of parameters.  `lent` gives such variables to a
lowered function as parameters; `returned` takes them back from a finished one, which reads the
variables as the user's function does.  Numbers that differ from call to call are parameters from
the start (`pipeline.run`).
"""

from __future__ import annotations

import keyword
import types
from collections.abc import Collection, Iterator, Mapping
from inspect import Parameter
from typing import Any

from srcdiff import ir
from srcdiff.frontend.closures import Closure, Lifted, lifted_closure
from srcdiff.frontend.free_variables import Freed, with_keywords
from srcdiff.ir.frozen import replace
from srcdiff.kinds.lattice import kind_of
from srcdiff.primitives.registry import Rule, lookup
from srcdiff.specialize.objects.places import has_objects
from srcdiff.specialize.static_values import Known, Made


def with_lifted(call: ir.Call, known: Mapping[str, Known]) -> ir.Call:
    """A call whose functions made here are of the text, and get what they capture passed on."""
    rule = None if isinstance(call.fn, (ir.Name, ir.Method, ir.Attr)) else lookup(call.fn)
    if rule is None or rule.calls is None:
        return call
    *functions, rest = rule.calls
    given = {name: _argument(rule, call, name) for name in functions}
    made = {n: known[a.id] for n, a in given.items() if isinstance(a, ir.Name) and a.id in known}
    closures = {n: m.closure for n, m in made.items() if isinstance(m, Made)}
    arguments = _argument(rule, call, rest)
    passed = _passed(closures.values(), arguments not in (None, ir.Tup(())))
    others = [a for n, a in given.items() if n not in closures and a not in (None, ir.NONE)]
    if not closures or passed is None or (passed and others):
        return call
    for name, closure in closures.items():
        lifted = _lifted(closure, passed, name)
        call = _with(rule, call, name, ir.Ref(lifted.__name__, lifted))
    return _with(rule, call, rest, _more(arguments, passed)) if passed else call


def _argument(rule: Rule, call: ir.Call, name: str) -> ir.Atom | None:
    """The argument of a call for a parameter, rest arguments as a tuple; None if not given."""
    at = _place(rule, name)
    if rule.params[at].kind is Parameter.VAR_POSITIONAL:
        return ir.Tup(call.args[at:])
    return call.args[at] if at < len(call.args) else dict(call.kwargs).get(name)


def _place(rule: Rule, name: str) -> int:
    return [p.name for p in rule.params].index(name)


def _lifted(closure: Closure, passed: tuple[ir.Atom, ...], name: str) -> Lifted:
    """A function made here by itself, which takes what is `passed` behind its own parameters.

    A lambda is called as the parameter that it is for.
    """
    made = lifted_closure(closure)
    assert made.function is not None and closure.variables is not None
    inner = dict(zip(closure.variables.values(), made.captured))
    fresh = ir.Fresh(ir.all_names(made.function))
    if not _defaults(closure):
        made.captured = tuple(inner.get(a) or fresh("_unused").id for a in passed)
    else:
        made.captured = tuple(inner[a] for a in _read(closure))
    params = (*made.own, *made.captured)
    made.function = replace(made.function, params=tuple(map(ir.Param, params)))
    if not made.__name__.isidentifier() or keyword.iskeyword(made.__name__):
        made.__name__ = name
    return made


def _defaults(closure: Closure) -> list[ir.Atom]:
    """The defaults of the parameters of a function, as they are now."""
    assert closure.function is not None and closure.variables is not None
    found = [p.default for p in closure.function.params if p.default is not None]
    return [closure.variables.get(a.id, a) if isinstance(a, ir.Name) else a for a in found]


def _read(closure: Closure) -> list[ir.Atom]:
    """The variables that a function captures and reads when it is called."""
    assert closure.function is not None and closure.variables is not None
    read = ir.used(closure.function.body)
    return [a for n, a in closure.variables.items() if n in read]


def _passed(closures: Collection[Closure], given: bool) -> tuple[ir.Atom, ...] | None:
    """What functions get behind their arguments, None if they cannot be lifted.

    That is what they capture.  A function alone also gets the defaults of its parameters, unless
    arguments are `given` for them.
    """
    for closure in closures:
        if closure.function is None or closure.variables is None:
            return None
        if any(p.style not in ("pos", "any") for p in closure.function.params):
            return None
        if _defaults(closure) and (given or len(closures) > 1):
            return None
    if len(closures) == 1:
        return tuple(a for c in closures for a in (*_defaults(c), *_read(c)))
    return tuple(dict.fromkeys(a for c in closures for a in _read(c)))


def _more(given: ir.Atom | None, passed: tuple[ir.Atom, ...]) -> ir.Tup:
    """The rest of the arguments with what is passed behind them."""
    if given is None:
        return ir.Tup(passed)
    items = given.items if isinstance(given, ir.Tup) else (ir.Star(given),)
    return ir.Tup((*items, *passed))


def _with(rule: Rule, call: ir.Call, name: str, value: ir.Atom) -> ir.Call:
    """A call with another argument for a parameter."""
    at = _place(rule, name)
    if rule.params[at].kind is Parameter.VAR_POSITIONAL:
        assert isinstance(value, ir.Tup)
        return replace(call, args=(*call.args[:at], *value.items))
    if at < len(call.args):
        return replace(call, args=(*call.args[:at], value, *call.args[at + 1 :]))
    return replace(call, kwargs=tuple({**dict(call.kwargs), name: value}.items()))


# --- lent ----------------------------------------------------------------------------------------


Variables = Mapping[str, ir.Ref]


def lent(function: ir.Function, kinds: ir.Kinds) -> tuple[ir.Function, ir.Kinds, Variables]:
    """A lowered function with such variables as parameters, their kinds, and what they hold."""
    mine = ir.all_names(function) | {p.name for p in function.params}
    found = {
        r.text: r
        for s in ir.walk(function)
        for r in _outside(s)
        if r.text.isidentifier() and r.text not in mine and _holds_objects(r.value)
    }
    if not found:
        return function, kinds, {}
    params = with_keywords(function.params, found)
    named = ir.replaced(function.body, lambda s: _by_name(s, found))
    body = Freed(frozenset(found)).block(named)
    known = {name: kind_of(ref.value, name) for name, ref in found.items()}
    return replace(function, params=params, body=body), {**kinds, **known}, found


def returned(function: ir.Function, variables: Variables) -> ir.Function:
    """A finished function that reads the variables where they are."""
    if not variables:
        return function
    params = tuple(p for p in function.params if p.name not in variables)
    return replace(function, params=params, body=ir.substituted(function.body, variables))


def _outside(stmt: ir.Stmt) -> Iterator[ir.Ref]:
    """What a statement mentions of the variables around a function, callees among them."""
    for operand in ir.operands(stmt):
        yield from ir.refs(operand)
    call = ir.call_of(stmt)
    if call is not None and callable(call.fn):
        yield ir.Ref((call.text or type(call.fn).__name__.lower()).split(".")[0], call.fn)


def _holds_objects(value: Any) -> bool:
    """Whether a list, tuple or dict holds objects, or an object holds such a container."""
    if isinstance(value, (types.ModuleType, type)) or not hasattr(type(value), "__dict__"):
        return isinstance(value, (list, tuple, dict)) and has_objects(kind_of(value, "x"))
    return any(map(has_objects, ir.inside(kind_of(value, "x"))))


def _by_name(stmt: ir.Stmt, variables: Variables) -> ir.Stmt:
    """A statement that calls the objects by the names of the variables."""
    call = ir.call_of(stmt)
    if call is None or not isinstance(stmt, (ir.Assign, ir.Effect)):
        return stmt
    named = (ir.Name(n) for n, ref in variables.items() if ref.value is call.fn)
    name = next(named, None)
    return stmt if name is None else replace(stmt, rhs=replace(call, fn=name))
