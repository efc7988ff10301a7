"""Functions made here that are arguments of a primitive: they become functions of the text.

`quad(lambda t: np.exp(-k * t), 0.0, 1.0)` becomes `quad(func, 0.0, 1.0, args=(k,))`, where `func`
is a function of `t` and `k` that stands beside the derivative.  What it captures is an argument
then, to which the rule of the primitive gives a derivative as to any other.
"""

from __future__ import annotations

import keyword
from collections.abc import Mapping
from dataclasses import replace
from inspect import Parameter

from srcdiff import ir
from srcdiff.known import Known, Made
from srcdiff.lower import Closure, Lifted
from srcdiff.lower.lifted import lifted_closure
from srcdiff.rules import Rule, lookup


def with_lifted(call: ir.Call, known: Mapping[str, Known]) -> ir.Call:
    """A call whose function made here is one of the text, what that captures passed on."""
    rule = None if isinstance(call.fn, (ir.Name, ir.Method, ir.Attr)) else lookup(call.fn)
    if rule is None or rule.calls is None:
        return call
    function, rest = rule.calls
    atom = _argument(rule, call, function)
    made = known.get(atom.id) if isinstance(atom, ir.Name) else None
    if not isinstance(made, Made):
        return call
    given = _argument(rule, call, rest)
    passed = _passed(made.closure, given not in (None, ir.Tup(())))
    if passed is None:
        return call
    lifted = _lifted(made.closure, function)
    call = _with(rule, call, function, ir.Ref(lifted.__name__, lifted))
    return _with(rule, call, rest, _more(given, passed)) if passed else call


def _argument(rule: Rule, call: ir.Call, name: str) -> ir.Atom | None:
    """The argument of a call for a parameter, rest arguments as a tuple; None if not given."""
    at = _place(rule, name)
    if rule.params[at].kind is Parameter.VAR_POSITIONAL:
        return ir.Tup(call.args[at:])
    return call.args[at] if at < len(call.args) else dict(call.kwargs).get(name)


def _place(rule: Rule, name: str) -> int:
    return [p.name for p in rule.params].index(name)


def _lifted(closure: Closure, name: str) -> Lifted:
    """A function made here by itself; a lambda is called as the parameter that it is for."""
    made = lifted_closure(closure)
    assert made.function is not None
    read = ir.used(made.function.body)
    made.captured = tuple(n for n in made.captured if n in read)
    params = (*made.own, *made.captured)
    made.function = replace(made.function, params=tuple(map(ir.Param, params)))
    if not made.__name__.isidentifier() or keyword.iskeyword(made.__name__):
        made.__name__ = name
    return made


def _passed(closure: Closure, given: bool) -> tuple[ir.Atom, ...] | None:
    """What a function gets behind its arguments, None if it cannot be lifted.

    That is the defaults of its parameters, unless arguments are `given` for them, and what it
    captures.
    """
    variables = closure.variables
    if closure.function is None or variables is None:
        return None
    params = closure.function.params
    defaults = [p.default for p in params if p.default is not None]
    if any(p.style not in ("pos", "any") for p in params) or (defaults and given):
        return None
    now = (variables.get(a.id, a) if isinstance(a, ir.Name) else a for a in defaults)
    read = ir.used(closure.function.body)
    return (*now, *(v for n, v in variables.items() if n in read))


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
