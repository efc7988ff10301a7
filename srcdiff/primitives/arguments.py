"""The arguments of a call: bound to the parameters of a template, and those written into.

`bind(params, ...)` is the argument for every parameter, or a located error for a call that the
template does not cover.

Functions of NumPy and SciPy write their results into `out`, by its name or by its place.
`named(call)` is a call that gives `out`, and all that follows it, by name; `outs(call)` are the
atoms given as `out`; `overwrites(call)` says whether a call may use what it is given as scratch
memory (`overwrite_input=True`).  `np.nan_to_num(y, copy=False)` has `y` as its `out`.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from functools import lru_cache
from inspect import Parameter
from types import BuiltinFunctionType, FunctionType, MappingProxyType, MethodType, ModuleType
from typing import Any, TypeVar

import numpy as np

from srcdiff import ir
from srcdiff.errors import MissingRuleError, TransformError, refused
from srcdiff.ir import NONE, Atom, Attr, Call, Const, Loc, Method, Ref, SetAttr, Slice, Star, Tup
from srcdiff.ir.frozen import remember, replace
from srcdiff.primitives.ops import Op, is_op
from srcdiff.runtime.records import is_ours

Params = tuple[Parameter, ...]

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
        "check_finite": (True, False),
        "lapack_driver": (None, "gesdd", "gesvd", "gelsd", "gelsy", "gelss"),
        **dict.fromkeys(
            (
                "deg", "overwrite_a", "overwrite_ab", "overwrite_b", "overwrite_data",
                "overwrite_input", "overwrite_x", "return_counts", "return_index",
                "return_inverse", "retstep", "upper",
            ), (False,),
        ),
    }
)  # fmt: skip

# Other names that NumPy has for parameters.
ALIASES: Mapping[str, str] = MappingProxyType(
    {"min": "a_min", "max": "a_max", "newshape": "shape", "seq": "arrays", "repetitions": "reps"}
)


def spelling(call: Call) -> str:
    """How a callee is named in messages."""
    fn = call.fn
    if type(fn) is Method:
        return f"the method `{fn.name}`"
    if type(fn) is Attr or type(fn) is SetAttr:
        return f"the attribute `{fn.name}`"
    name = call.text or getattr(fn, "__srcdiff_name__", None)
    name = name or getattr(fn, "__qualname__", None) or getattr(fn, "__name__", None)
    return f"`{name or repr(fn)}`"


def bind(params: Params, gather: str | None, call: Call, loc: Loc) -> dict[str, Atom]:
    """The argument for every parameter of the template; for `**options`, all others as a dict."""
    args = _gathered(gather, call)
    names = {p.name for p in params} if call.kwargs else set[str]()
    last = [p.name for p in params[-1:] if p.kind is p.VAR_KEYWORD]
    options, others = last[0] if last else None, list[Atom]()
    if Star in map(type, args) or None in [k for k, _ in call.kwargs]:
        raise _misfit(call, loc, "`*` and `**` arguments")
    bound, rest = _positional(params, args)
    if rest:
        raise _misfit(call, loc, _too_many(len(args) - len(rest) - isinstance(call.fn, Method)))
    for key, value in call.kwargs:
        name = key if key in names else ALIASES.get(key or "", key)
        assert name is not None
        if name in names and name not in bound:
            bound[name] = value
        elif options is not None:
            others += [Const(key), value]
        elif not is_neutral(name, value):
            raise _misfit(call, loc, f"the argument `{key}`")
    if options is not None:  # which definitions and rules may pass on
        bound[options] = Call(ir.make_dict, tuple(others))  # type: ignore[assignment]
    return _with_defaults(params, call, bound, loc)


def _gathered(gather: str | None, call: Call) -> tuple[Atom, ...]:
    """The positional arguments; `x.reshape(2, 3)` is `x.reshape((2, 3))`."""
    if gather and type(call.fn) is Method and len(call.args) > 2:
        return (call.args[0], Tup(call.args[1:]))
    return call.args


def _positional(params: Params, args: tuple[Atom, ...]) -> tuple[dict[str, Atom], tuple[Atom, ...]]:
    """The positional arguments by parameter, and those that find none."""
    bound: dict[str, Atom] = {}
    for param in params:
        kind = param.kind
        if kind is param.VAR_POSITIONAL:
            bound[param.name] = Tup(args)
            return bound, ()
        if not args or kind in (param.KEYWORD_ONLY, param.VAR_KEYWORD):
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
    cls = type(value)
    return Ref(called_by_name(value) or (cls.__name__ if is_ours(cls) else repr(value)), value)


def called_by_name(value: Any) -> str:
    """The name of a function, class or module; other objects of the user's have none."""
    if not isinstance(value, FUNCTIONS) and is_ours(type(value)):
        return ""
    return str(getattr(value, "__name__", ""))


FUNCTIONS = (FunctionType, BuiltinFunctionType, MethodType, ModuleType, type)
"""What has a name of its own."""


def named_constant(name: str, value: Any) -> Atom:
    """A value as an atom: a literal, or the object under a name."""
    if value is None or type(value) in (bool, int, float, complex, str):
        return Const(value)
    return Ref(name, value)


def is_neutral(name: str, value: Atom) -> bool:
    """Is the extra argument `name` given in a way that changes nothing?"""
    return type(value) is Const and any(
        value.value == v and type(value.value) is type(v) for v in NEUTRAL.get(name, ())
    )


def _too_many(count: int) -> str:
    """What is said of more positional arguments than there are parameters for."""
    if count == 0:
        return "positional arguments"
    return f"more than {count} positional argument{'' if count == 1 else 's'}"


def _misfit(
    call: Call, loc: Loc, what: str, instead: str = "Write the call without it"
) -> TransformError:
    """The error for a call that the template does not cover."""
    instead += " (`x[...] = f(y)` for `out=x`)" if what == "the argument `out`" else ""
    fields = {"name": spelling(call), "what": what, "instead": instead}
    return refused("callees.arguments", loc, MissingRuleError, **fields)


# --- where results are written: `out`, by its name or by its place -------------------------------


_T = TypeVar("_T")

KEYS = ("out", "output")
"""How the parameter is called that is written into; in `scipy.ndimage` by the second name."""

_PARAMETERS: Mapping[str, str] = {
    # Methods whose parameters are not those of the function of NumPy of that name.
    "conj()": "self out", "conjugate()": "self out",
    "copy()": "self order", "ravel()": "self order",
    # Of generators of random numbers.
    "random()": "self size dtype out", "standard_normal()": "self size dtype out",
    "standard_exponential()": "self size dtype method out",
    "standard_gamma()": "self shape size dtype out",
    # Of ufuncs.
    "add.reduce": "array axis dtype out keepdims initial where",
    "add.accumulate": "array axis dtype out", "add.reduceat": "array indices axis dtype out",
    # Functions written in C that may come without a signature.
    "dot": "a b out", "concatenate": "arrays axis out", "zeros": "shape dtype order",
    "empty": "shape dtype order", "empty_like": "prototype dtype order",
}  # fmt: skip
"""The parameters of what does not say them itself."""


def _listed(name: str) -> tuple[str, ...]:
    """The parameters that are listed under a name."""
    return tuple(_PARAMETERS.get(name, "").split())


def parameters(fn: ir.Callee) -> tuple[str, ...]:
    """The parameters of a function that can be given by position, as far as they are known.

    Of a method of an array the first is the array; the others are those of NumPy's function.
    """
    if type(fn) is ir.Method:
        return _of_method(fn.name)
    if type(fn) is np.ufunc:
        return ()
    if type(fn) is BuiltinFunctionType:
        if fn.__module__ == "_operator":
            return ()
        if type(fn.__self__) is np.ufunc:
            return _listed(f"add.{fn.__name__}")
    return () if getattr(type(fn), "__hash__", None) is None or not _is_library(fn) else _names(fn)


@lru_cache(maxsize=1024)
def _of_method(name: str) -> tuple[str, ...]:
    """The parameters of a method of arrays, or of a generator of random numbers."""
    if own := _listed(f"{name}()"):
        return own
    function = getattr(np, name, None) if hasattr(np.ndarray, name) else None
    found = () if function is None else parameters(function)
    return found if "out" in found else ()


def _is_library(fn: Any) -> bool:
    """Whether a function belongs to NumPy or SciPy."""
    module = getattr(fn, "__module__", None)
    return isinstance(module, str) and module.partition(".")[0] in ("numpy", "scipy")


@lru_cache(maxsize=4096)
def _names(fn: Any) -> tuple[str, ...]:
    """The names of the parameters of a function of NumPy or SciPy that is no ufunc."""
    if isinstance(fn, (np.ufunc, type)):
        return ()
    try:
        found = inspect.signature(fn).parameters.values()
    except (TypeError, ValueError):  # none is known
        return _listed(getattr(fn, "__name__", ""))
    return tuple(p.name for p in found if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD))


def named(call: ir.Call) -> ir.Call:
    """A call with `out` and all that follows it given by name; one of a ufunc as a tuple."""
    if type(call.fn) is np.ufunc:
        return _named_of_ufunc(call)
    if is_op(call, Op.NAN_TO_NUM):
        return _named_of_nan_to_num(call)
    if len(call.args) < 2:
        return call
    names = parameters(call.fn)
    place = next((k for k, n in enumerate(names) if n in KEYS), None)
    if place is None or len(call.args) <= place or len(call.args) > len(names):
        return call
    if any(type(a) is ir.Star for a in call.args):
        return call
    if place > 0 and names[place - 1] == "dtype":
        place -= 1  # which says nothing if it is None, but is no parameter of a rule
    given = tuple(zip(names[place:], call.args[place:], strict=False))
    return replace(call, args=call.args[:place], kwargs=(*given, *call.kwargs))


def _named_of_ufunc(call: ir.Call) -> ir.Call:
    """`np.divmod(x, y, q, r)` as `np.divmod(x, y, out=(q, r))`."""
    count = call.fn.nin  # type: ignore[union-attr]
    if len(call.args) <= count or any(type(a) is ir.Star for a in call.args):
        return call
    given = call.args[count:]
    rest = (ir.NONE,) * (call.fn.nout - len(given))  # type: ignore[union-attr]
    out = given[0] if len((*given, *rest)) == 1 else ir.Tup((*given, *rest))
    return replace(call, args=call.args[:count], kwargs=(("out", out), *call.kwargs))


def _named_of_nan_to_num(call: ir.Call) -> ir.Call:
    """`np.nan_to_num(y, copy=False)` as `np.nan_to_num(y, out=y)`."""
    copy, first = argument(call, "copy"), argument(call, "x")
    if first is None or _is(copy, True) or any(type(a) is ir.Star for a in call.args):
        return call
    names = parameters(call.fn)
    args = tuple(zip(names, call.args, strict=False))[1:]
    given = tuple((k, v) for k, v in (*args, *call.kwargs) if k not in ("x", "copy"))
    return replace(call, args=(first,), kwargs=(("out", first), *given))


def takes_out(fn: ir.Callee) -> bool:
    """Whether an argument `out` is what a function writes into.

    It may be an item of a dict, a field of an object, or a parameter of somebody's function.
    """
    if type(fn) is FunctionType:
        return _is_library(fn) or (fn.__module__ or "").startswith("srcdiff.")
    return not isinstance(fn, (type, ir.Name, ir.Derived))


def outs(call: ir.Call) -> tuple[ir.Atom, ...]:
    """The arrays given as `out`."""
    found = call._outs
    if found is None:
        found = remember(call, "_outs", _outs(call) if takes_out(call.fn) else ())
    return found


def _outs(call: ir.Call) -> tuple[ir.Atom, ...]:
    """What is given as `out` to a function that takes it."""
    found: list[ir.Atom] = []
    for key, value in named(call).kwargs:
        if key == "output" and type(value) is not ir.Name:
            continue  # a dtype
        if key in KEYS and value != ir.NONE:
            found += value.items if type(value) is ir.Tup else [value]
    return tuple(a for a in found if a != ir.NONE)


def given_out(fn: ir.Callee, args: Sequence[_T], kwargs: Mapping[str, _T]) -> _T | None:
    """What is given as `out` of a function; None also of one with several, by position."""
    if type(fn) is np.ufunc and fn.nout > 1:
        return kwargs.get("out")
    if not args or not takes_out(fn):
        return None
    if "out" in kwargs:
        return kwargs["out"]
    if type(fn) is np.ufunc:
        return args[fn.nin] if len(args) > fn.nin else None
    names = parameters(fn)
    place = names.index("out") if "out" in names else None
    return args[place] if place is not None and len(args) > place else None


def overwrites(call: ir.Call) -> bool:
    """Whether a call of a function of NumPy or SciPy may write into what it is given.

    That is scratch memory for it, of which nobody knows what it holds afterwards.
    """
    keys = [k for k, _ in call.kwargs] if call.kwargs else []
    if call.args[1:]:
        keys += parameters(call.fn)[: len(call.args)]
    asked = [k for k in keys if k is not None and k[:9] == "overwrite"]
    return bool(asked) and any(not _is(argument(call, k), False) for k in asked)


def argument(call: ir.Call, name: str) -> ir.Atom | None:
    """The argument of this name, None where it is left out."""
    for key, value in call.kwargs:
        if key == name:
            return value
    for known, value in zip(parameters(call.fn), call.args, strict=False):
        if known == name:
            return value
    return None


def axes_named(axis: Atom | None, rank: int) -> tuple[int, ...] | None:
    """The axes that an argument names, in order from the first one; None if they are not known."""
    if axis is None or axis == NONE:
        return tuple(range(rank))
    items = axis.items if type(axis) is Tup else (axis,)
    found = [a.value for a in items if type(a) is Const and type(a.value) is int]
    known = len(found) == len(items) and all(-rank <= k < rank for k in found)
    return tuple(sorted({k % rank for k in found})) if known else None


def _is(atom: ir.Atom | None, value: bool) -> bool:
    """Whether an argument is left out, or surely true or false."""
    return atom is None or (type(atom) is ir.Const and bool(atom.value) is value)
