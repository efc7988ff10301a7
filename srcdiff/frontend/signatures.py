"""Parameters of functions and arguments of calls: what is bound to what.

`bind` binds the arguments of a call to the parameters of a lowered function.

Some functions are one call and have no source of their own: primitives, `functools.partial`.
`as_call` makes the function that a person would have written around the call.  It has the
parameters that are given a kind: what a caller leaves out is left out of the call as well.

`WithFree` is a function with some of its free variables, of its module or of the functions around
it, as keyword parameters.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from srcdiff import ir
from srcdiff.errors import TransformError, UnsupportedError
from srcdiff.frontend.source.parse import describe, no_function, parse
from srcdiff.ir import SEED
from srcdiff.ir.frozen import frozen
from srcdiff.primitives.arguments import named_constant
from srcdiff.primitives.registry import Rule, find, is_builtin, lookup, of_class
from srcdiff.runtime.service import is_derivative, once


def bind(callee: ir.Function, call: ir.Call, loc: ir.Loc) -> dict[str, ir.Atom]:
    """Parameter -> atom, with defaults filled in.

    Raises:
        TransformError: the call does not fit the signature.
    """
    bound = bind_displays(callee, call, loc)
    if any(param.style == "**" for param in callee.params):
        raise UnsupportedError(
            f"`{callee.name}` takes `**` arguments, which is not supported", loc,
            remedy="Name the keyword parameters.",
        )  # fmt: skip
    return bound  # type: ignore[return-value]


def bind_displays(callee: ir.Function, call: ir.Call, loc: ir.Loc) -> dict[str, ir.Atom | ir.Call]:
    """Parameter -> atom, or a dict display for a parameter `**kwargs`."""
    bound: dict[str, ir.Atom | ir.Call] = {}
    positional = list(spliced(call.args))
    keywords = dict(call.kwargs)
    if None in keywords:
        raise no_keywords(callee.name, loc)
    for param in callee.params:
        if param.style == "*":
            bound[param.name] = _rest(positional, callee, loc)
            positional = []
        elif param.style == "**":
            bound[param.name] = dict_display(keywords.items())
            keywords = {}
        elif positional and param.style != "kw":
            bound[param.name] = _one(positional.pop(0), callee, loc)
        elif param.name in keywords and param.style != "pos":
            bound[param.name] = keywords.pop(param.name)
        elif param.default is not None:
            bound[param.name] = param.default
        else:
            raise TransformError(
                f"{callee.name}() is called without its argument `{param.name}`", loc,
                remedy="Give it, or give the parameter a default.",
            )  # fmt: skip
    if positional or keywords:
        extra = ", ".join([*("one more positional" for _ in positional), *map(str, keywords)])
        raise TransformError(
            f"{callee.name}() is called with arguments that it does not take: {extra}", loc,
            remedy="Compare the call with the definition.",
        )  # fmt: skip
    return bound


def dict_display(keywords: Iterable[tuple[str | None, ir.Atom]]) -> ir.Call:
    """The dict of keyword arguments."""
    return ir.Call(ir.make_dict, tuple(a for k, v in keywords for a in (ir.Const(k), v)))


def spliced(args: Iterable[ir.Atom]) -> Iterator[ir.Atom]:
    """Positional arguments with `*(a, b)` written out."""
    for arg in args:
        if type(arg) is ir.Star and type(arg.value) is ir.Tup:
            yield from spliced(arg.value.items)
        else:
            yield arg


def _one(arg: ir.Atom, callee: ir.Function, loc: ir.Loc) -> ir.Atom:
    """An argument of a parameter."""
    if isinstance(arg, ir.Star):
        raise many(callee.name, loc)
    return arg


def _rest(args: list[ir.Atom], callee: ir.Function, loc: ir.Loc) -> ir.Atom | ir.Call:
    """The arguments of a parameter `*args`."""
    if len(args) == 1 and isinstance(args[0], ir.Star):
        return ir.Call(tuple, (args[0].value,), text="tuple")
    return ir.Tup(tuple(_one(a, callee, loc) for a in args))


def takes_rest(callee: ir.Function, call: ir.Call) -> bool:
    """Whether a parameter `*args` takes just what the one `*xs` of a call stands for."""
    styles = [p.style for p in callee.params]
    if "*" not in styles or any(k is None for k, _ in call.kwargs) or not call.args:
        return False
    before = styles.index("*")
    stars = [isinstance(a, ir.Star) for a in call.args]
    return stars == [False] * before + [True]


def many(name: str, loc: ir.Loc) -> UnsupportedError:
    """The error for `*xs` that may stand for any number of arguments."""
    return UnsupportedError(
        f"`*` in a call of `{name}` is not supported: it is not known how many arguments there are",
        loc,
        remedy="Write the arguments out.",
    )


def no_keywords(name: str, loc: ir.Loc) -> UnsupportedError:
    """The error for `**d` whose keys are not known."""
    return UnsupportedError(
        f"`**` in a call of `{name}` is not supported: the keys of the dict are not known here",
        loc,
        remedy="Write the keyword arguments out.",
    )


# --- functions that are one call and have no source of their own ---------------------------------


STYLES: Mapping[Any, str] = {
    inspect.Parameter.POSITIONAL_ONLY: "pos",
    inspect.Parameter.POSITIONAL_OR_KEYWORD: "any",
    inspect.Parameter.VAR_POSITIONAL: "*",
    inspect.Parameter.KEYWORD_ONLY: "kw",
    inspect.Parameter.VAR_KEYWORD: "**",
}


def is_one_call(f: Any) -> bool:
    """Whether a function is differentiated as the call of it: it has a rule, or is a partial."""
    return isinstance(f, functools.partial) or lookup(f) is not None


def leaves_out(f: Any) -> bool:
    """Whether generated functions have no parameters for arguments that are left out."""
    while is_derivative(f):
        f = f.primal
    return is_one_call(f)


def signature_of(f: Any) -> inspect.Signature:
    """The signature of a function, of a derivative without its `grad_outputs`.

    Raises:
        TransformError: it is no function, or one that tells nothing of its parameters.
    """
    if isinstance(f, functools.partial):
        return _partial_signature(f)
    found = _own_signature(f)
    if is_derivative(f):
        kept = [p for p in found.parameters.values() if p.name != SEED]
        return found.replace(parameters=kept)
    return found


def _own_signature(f: Any) -> inspect.Signature:
    """What a function says of itself; the parameters of a rule come first, as the rule has them."""
    rule = lookup(f)
    if rule is None and of_class(f) is not None:
        find(ir.Call(f), {})  # says what to write instead
    try:
        found = _declared(f) if rule is None else inspect.signature(f)
    except (TypeError, ValueError):
        if rule is None:
            raise no_function(f) from None
        found = inspect.Signature()
    return found if rule is None else found.replace(parameters=_of_primitive(f, rule, found))


def _declared(f: Any) -> inspect.Signature:
    """The parameters of what runs, whatever it says itself.

    Those of what a wrapper wraps only if it passes them all on.
    """
    call = inspect.getattr_static(type(f), "__call__", None)
    if isinstance(call, types.FunctionType) and not hasattr(f, "__signature__"):
        f = types.MethodType(call, f)
    function = f.__func__ if isinstance(f, types.MethodType) else f
    if not isinstance(function, types.FunctionType) or function.__dict__.keys().isdisjoint(_SAYING):
        return inspect.signature(f)
    runs = _passed_on_to(function)
    code, defaults = runs.__code__, runs.__defaults__
    plain = types.FunctionType(code, {}, runs.__name__, defaults, runs.__closure__)
    plain.__kwdefaults__, plain.__annotations__ = runs.__kwdefaults__, runs.__annotations__
    return inspect.signature(plain if function is f else types.MethodType(plain, f.__self__))


_SAYING = ("__wrapped__", "__signature__")
"""Where a function says that its parameters are others."""


@once
def _passed_on_to(function: types.FunctionType) -> types.FunctionType:
    """The function that has the parameters of one that may be a wrapper."""
    return parse(function).declared.function


def _of_primitive(f: Any, rule: Rule, found: inspect.Signature) -> list[inspect.Parameter]:
    """The parameters of a primitive; further ones by keyword, or as the function has them.

    By position where those of the rule are the first of the function.
    """
    own = [p for p in rule.params if p.kind is not p.VAR_KEYWORD]
    if isinstance(f, np.ufunc) and not own:
        names = ("x",) if f.nin == 1 else tuple(f"x{i + 1}" for i in range(f.nin))
        own = [inspect.Parameter(n, inspect.Parameter.POSITIONAL_ONLY) for n in names]
    if not own:
        return list(found.parameters.values())
    known = {p.name for p in own}
    more = [p for p in found.parameters.values() if p.default is not p.empty]
    more = [p for p in more if p.name not in known]
    alike = list(found.parameters)[: len(own)] == [p.name for p in own if _is_positional(p)]
    more = [p if alike and _is_positional(p) else p.replace(kind=p.KEYWORD_ONLY) for p in more]
    kind = own[-1].kind
    return [*own, *(p.replace(kind=kind) if _is_positional(p) else p for p in more)]


def _is_positional(param: inspect.Parameter) -> bool:
    return param.kind in (param.POSITIONAL_ONLY, param.POSITIONAL_OR_KEYWORD)


def _partial_signature(f: functools.partial[Any]) -> inspect.Signature:
    """The parameters that a partial leaves open."""

    def stand_in() -> None:
        """What has the signature of the function that is called."""

    stand_in.__signature__ = signature_of(f.func)  # type: ignore[attr-defined]
    try:
        return inspect.signature(functools.partial(stand_in, *f.args, **f.keywords))
    except ValueError:
        raise TransformError(
            f"the arguments of this partial do not fit {describe(f.func)}",
            place_of(f),
            "Give the partial arguments that the function takes.",
        ) from None


def arguments(
    f: Any, inputs: Iterable[str], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> dict[str, Any]:
    """The arguments of a call by parameter, with the defaults of those that are left out.

    A function that is one call has none but those of its inputs.
    """
    bound = bound_to_call(f, signature_of(f), args, kwargs)
    given = {*bound.arguments, *inputs}
    bound.apply_defaults()
    found = bound.arguments
    return {n: v for n, v in found.items() if n in given} if leaves_out(f) else dict(found)


def bound_to_call(
    f: Any, signature: inspect.Signature, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> inspect.BoundArguments:
    """The arguments of a call of what has a signature.

    Raises:
        TypeError: they do not fit; with the name of the function.
    """
    try:
        return signature.bind(*args, **kwargs)
    except TypeError as error:
        name = getattr(_called(f), "__name__", type(f).__name__)
        raise TypeError(f"{name}(): {error}") from None


def _called(f: Any) -> Any:
    """What a partial calls in the end."""
    while isinstance(f, functools.partial):
        f = f.func
    return f


def module_of(f: Any) -> str:
    """The module that the derivative of a function belongs to: the function's own."""
    f = _called(f)
    return "generated" if lookup(f) is not None else str(getattr(f, "__module__", "generated"))


def named(f: Any) -> str:
    """The name of a function; that of what a partial calls."""
    f = _called(f)
    name = str(getattr(f, "__name__", type(f).__name__))
    return name if name.isidentifier() else "function"


def as_call(f: Any, kinds: Mapping[str, ir.Kind]) -> ir.Function:
    """The function that makes the call; its parameters are those that have a kind."""
    params = list(signature_of(f).parameters.values())
    value, loc = ir.Fresh(set(kinds))(), place_of(f)
    body = (ir.Assign(value, _call(f, params, kinds), loc), ir.Return(value, loc))
    given = _with_defaults([p for p in params if p.name in kinds])
    return ir.Function(named(f), given, body, None, loc, returns=(loc,))


def place_of(f: Any) -> ir.Loc:
    """Where the function stands that is called, if the user wrote it."""
    f = _called(f)
    code = getattr(inspect.unwrap(f), "__code__", None)
    rule = lookup(f)
    if code is None or (rule is not None and is_builtin(rule)):
        return ir.NOWHERE
    return ir.Loc(code.co_filename, code.co_firstlineno)


def _with_defaults(given: list[inspect.Parameter]) -> tuple[ir.Param, ...]:
    """The parameters; a default can only stand where all that follow have one."""
    made: list[ir.Param] = []
    optional = True
    for param in reversed(given):
        has = param.default is not param.empty
        if _is_positional(param):
            optional = has = optional and has
        default = named_constant(param.name, param.default) if has else None
        made.append(ir.Param(param.name, default, STYLES[param.kind]))
    return tuple(reversed(made))


def _call(f: Any, params: list[inspect.Parameter], kinds: Mapping[str, ir.Kind]) -> ir.Call:
    """`f(a, b, k=k)`; what a partial holds comes first, and keywords given anew win."""
    args: list[ir.Atom] = []
    kwargs: dict[str | None, ir.Atom] = {}
    in_order = True
    for param in params:
        name = ir.Name(param.name)
        if param.name not in kinds:
            in_order = False  # what comes after it can only be given by its name
        elif param.kind is param.VAR_POSITIONAL:
            args.append(ir.Star(name))
        elif param.kind is param.VAR_KEYWORD:
            kwargs[None] = name
        elif param.kind is not param.KEYWORD_ONLY and in_order:
            args.append(name)
        else:
            kwargs[param.name] = name
    while isinstance(f, functools.partial):
        names = list(signature_of(f.func).parameters)
        padded = [*names, *["item"] * len(f.args)]
        args = [*map(named_constant, padded, f.args), *args]
        kwargs = {**{k: named_constant(k, v) for k, v in f.keywords.items()}, **kwargs}
        f = f.func
    return ir.Call(_function(f), tuple(args), tuple(kwargs.items()))


def _function(f: Any) -> Any:
    """A function as it is, a callable object as its method."""
    method = inspect.getattr_static(type(f), "__call__", None)
    return f.__call__ if isinstance(method, types.FunctionType) and not is_derivative(f) else f


# --- variables outside as parameters: `inputs="global:W"` ----------------------------------------


PREFIX = "global:"


@frozen
class Variable:
    """A variable: of a module (its namespace), or a closure cell."""

    name: str
    place: Any

    def value(self) -> Any:
        """What it holds now."""
        if isinstance(self.place, types.CellType):
            return self.place.cell_contents
        return self.place[self.name]


class WithFree:
    """A function whose free variables are parameters, some of those that it and its helpers see."""

    def __init__(self, primal: Any, variables: tuple[Variable, ...]) -> None:
        self.primal, self.variables = primal, variables
        names = [v.name for v in variables]
        self.__name__ = str(getattr(primal, "__name__", "function"))
        self.__qualname__ = str(getattr(primal, "__qualname__", self.__name__))
        self.__doc__ = primal.__doc__
        self.__module__ = primal.__module__
        found = signature_of(primal)
        taken = [n for n in names if n in found.parameters]
        if taken:
            raise TransformError(
                f"`{self.__name__}` has a parameter called `{taken[0]}`, which hides the variable",
                place_of(primal),
                remedy="Rename the parameter.",
            )
        more = [inspect.Parameter(n, inspect.Parameter.KEYWORD_ONLY) for n in names]
        params = sorted((*found.parameters.values(), *more), key=lambda p: p.kind)
        self.__signature__ = found.replace(parameters=params)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The function; the variables are what they are."""
        names = {v.name for v in self.variables}
        return self.primal(*args, **{k: v for k, v in kwargs.items() if k not in names})

    def values(self) -> dict[str, Any]:
        """What the variables hold now."""
        return {v.name: v.value() for v in self.variables}


def with_free(f: Any, names: Iterable[str]) -> WithFree:
    """A function with free variables of its own as parameters, by their names.

    Raises:
        TransformError: it reads no variable of such a name.
    """
    return WithFree(f, tuple(_variable(f, name) for name in names))


def _variable(f: Any, name: str) -> Variable:
    """A free variable of a function."""
    function = inspect.unwrap(f)
    function = getattr(function, "__func__", function)
    if not isinstance(function, types.FunctionType):
        raise TransformError(
            f"`{PREFIX}{name}` is an input of functions written in Python only",
            remedy="Pass the value as an argument.",
        )
    if name in function.__code__.co_freevars:
        place = function.__code__.co_freevars.index(name)
        assert function.__closure__ is not None
        return Variable(name, function.__closure__[place])
    if name not in function.__globals__:
        raise TransformError(
            f"`{function.__name__}` has no input '{PREFIX}{name}': no variable of that name is "
            "around it or in its module",
            place_of(function),
            remedy="Check the name.",
        )
    return Variable(name, function.__globals__)
