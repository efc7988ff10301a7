"""The arguments of a call, bound to the parameters of a template."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import Parameter
from types import MappingProxyType
from typing import Any

from srcdiff.errors import MissingRuleError
from srcdiff.ir import NONE, Atom, Attr, Call, Const, Loc, Method, Ref, Slice, Star, Tup

Params = tuple[Parameter, ...]

REMEDY = (
    "Give it a rule with @srcdiff.rule (see templates/README.md), or wrap its arguments in "
    "srcdiff.stop_gradient\nif it is to count as a constant."
)

MEMBER_REMEDY = (
    "Give an example of the arguments, and let a variable hold values of one class only.\n" + REMEDY
)

# Arguments that mean nothing where they have these values.
NEUTRAL: Mapping[str, tuple[Any, ...]] = MappingProxyType(
    {
        "out": (None,),
        "where": (True,),
        "dtype": (None,),
        "casting": ("same_kind",),
        "order": ("K", "C", "A", "F"),
        "subok": (True, False),
        "like": (None,),
        "device": (None,),
        "copy": (True, None),
        "mode": ("raise",),
        "optimize": (True, False, "greedy", "optimal"),
        "UPLO": ("L",),
        "kind": (None, "stable", "quicksort", "heapsort", "mergesort"),
        "stable": (None, True, False),
        "overwrite_input": (False,),
        "return_index": (False,),
        "return_inverse": (False,),
        "return_counts": (False,),
        "retstep": (False,),
        "upper": (False,),
        "deg": (False,),
        "overwrite_a": (False,),
        "overwrite_b": (False,),
        "overwrite_ab": (False,),
        "overwrite_x": (False,),
        "overwrite_data": (False,),
        "check_finite": (True, False),
        "lapack_driver": (None, "gesdd", "gesvd", "gelsd", "gelsy", "gelss"),
    }
)

# Other names that NumPy has for parameters.
ALIASES: Mapping[str, str] = MappingProxyType(
    {"min": "a_min", "max": "a_max", "newshape": "shape", "seq": "arrays", "repetitions": "reps"}
)


def spelling(call: Call) -> str:
    """How a callee is named in messages."""
    fn = call.fn
    if isinstance(fn, Method):
        return f"the method `{fn.name}`"
    if isinstance(fn, Attr):
        return f"the attribute `{fn.name}`"
    name = call.text or getattr(fn, "__srcdiff_name__", None)
    name = name or getattr(fn, "__qualname__", None) or getattr(fn, "__name__", None)
    return f"`{name or repr(fn)}`"


def bind(params: Params, gather: str | None, call: Call, loc: Loc) -> dict[str, Atom]:
    """The argument for every parameter of the template."""
    args = _gathered(gather, call)
    names = {p.name for p in params}
    if any(isinstance(a, Star) for a in args) or any(k is None for k, _ in call.kwargs):
        raise _misfit(call, loc, "`*` and `**` arguments")
    bound, rest = _positional(params, args)
    if rest:
        raise _misfit(call, loc, _too_many(len(args) - len(rest) - isinstance(call.fn, Method)))
    for key, value in call.kwargs:
        name = key if key in names else ALIASES.get(key or "", key)
        assert name is not None
        if name in names and name not in bound:
            bound[name] = value
        elif not is_neutral(name, value):
            raise _misfit(call, loc, f"the argument `{key}`")
    return _with_defaults(params, call, bound, loc)


def _gathered(gather: str | None, call: Call) -> tuple[Atom, ...]:
    """The positional arguments; `x.reshape(2, 3)` is `x.reshape((2, 3))`."""
    if gather and isinstance(call.fn, Method) and len(call.args) > 2:
        return (call.args[0], Tup(call.args[1:]))
    return call.args


def _positional(params: Params, args: tuple[Atom, ...]) -> tuple[dict[str, Atom], tuple[Atom, ...]]:
    """The positional arguments by parameter, and those that find none."""
    bound: dict[str, Atom] = {}
    for param in params:
        if param.kind is param.VAR_POSITIONAL:
            bound[param.name] = Tup(args)
            return bound, ()
        if param.kind is param.KEYWORD_ONLY or not args:
            break
        bound[param.name], args = args[0], args[1:]
    return bound, args


def _with_defaults(params: Params, call: Call, bound: dict[str, Atom], loc: Loc) -> dict[str, Atom]:
    """Every parameter, those that are left out by their default."""
    for param in params:
        if param.name not in bound:
            if param.kind is param.VAR_POSITIONAL:
                bound[param.name] = Tup(())
            elif param.default is param.empty:
                raise _misfit(call, loc, f"a call without `{param.name}`", "Give this argument")
            else:
                bound[param.name] = as_atom(param.default)
    return bound


def as_atom(value: Any) -> Atom:
    """A constant as an atom."""
    if isinstance(value, tuple):
        return Tup(tuple(map(as_atom, value)))
    if isinstance(value, slice):
        return Slice(as_atom(value.start), as_atom(value.stop), as_atom(value.step))
    if value is None:
        return NONE
    if value is ... or type(value) in (bool, int, float, complex, str, bytes):
        return Const(value)
    return Ref(getattr(value, "__name__", repr(value)), value)


def named_constant(name: str, value: Any) -> Atom:
    """A value as an atom: a literal, or the object under a name."""
    if value is None or type(value) in (bool, int, float, complex, str):
        return Const(value)
    return Ref(name, value)


def is_neutral(name: str, value: Atom) -> bool:
    """Is the extra argument `name` given in a way that changes nothing?"""
    return isinstance(value, Const) and any(
        value.value == v and type(value.value) is type(v) for v in NEUTRAL.get(name, ())
    )


def _too_many(count: int) -> str:
    """What is said of more positional arguments than there are parameters for."""
    if count == 0:
        return "positional arguments"
    return f"more than {count} positional argument{'' if count == 1 else 's'}"


def _misfit(
    call: Call, loc: Loc, what: str, remedy: str = "Write the call without it"
) -> MissingRuleError:
    """The error for a call that the template does not cover."""
    instead = " (`x[...] = f(y)` for `out=x`)" if what == "the argument `out`" else ""
    return MissingRuleError(
        f"the rule of {spelling(call)} does not cover {what}",
        loc,
        f"{remedy}{instead}, or give a rule of your own with @srcdiff.rule.",
    )
