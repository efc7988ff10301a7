"""Bind the arguments of a call to the parameters of a lowered function."""

from __future__ import annotations

from srcdiff import ir
from srcdiff.errors import TransformError, UnsupportedError


def bind(callee: ir.Function, call: ir.Call, loc: ir.Loc) -> dict[str, ir.Atom]:
    """Parameter -> atom, with defaults filled in.

    Raises:
        TransformError: the call does not fit the signature.
    """
    bound = bind_displays(callee, call, loc)
    if any(param.style == "**" for param in callee.params):
        raise _no_double_star(callee, loc)
    return bound  # type: ignore[return-value]


def bind_displays(callee: ir.Function, call: ir.Call, loc: ir.Loc) -> dict[str, ir.Atom | ir.Call]:
    """Parameter -> atom, or a dict display for a parameter `**kwargs`."""
    bound: dict[str, ir.Atom | ir.Call] = {}
    positional = list(_spread(call.args))
    keywords = dict(call.kwargs)
    if None in keywords:
        raise no_keywords(callee.name, loc)
    for param in callee.params:
        if param.style == "*":
            bound[param.name] = _rest(positional, callee, loc)
            positional = []
        elif param.style == "**":
            bound[param.name] = _dict_display(keywords)
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


def _dict_display(keywords: dict[str | None, ir.Atom]) -> ir.Call:
    """The dict of the keyword arguments that no parameter takes."""
    items: list[ir.Atom] = []
    for key, value in keywords.items():
        items += [ir.Const(key), value]
    return ir.Call(ir.make_dict, tuple(items))


def _spread(args: tuple[ir.Atom, ...]) -> tuple[ir.Atom, ...]:
    """The positional arguments with literal `*` arguments written out."""
    out: list[ir.Atom] = []
    for arg in args:
        if isinstance(arg, ir.Star):
            out += arg.value.items if isinstance(arg.value, ir.Tup) else [arg]
        else:
            out.append(arg)
    return tuple(out)


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


def _no_double_star(callee: ir.Function, loc: ir.Loc) -> UnsupportedError:
    return UnsupportedError(
        f"`{callee.name}` takes `**` arguments, which is not supported",
        loc,
        remedy="Name the keyword parameters.",
    )


def many(name: str, loc: ir.Loc) -> UnsupportedError:
    """The error for `*xs` that may stand for any number of arguments."""
    return UnsupportedError(
        f"`*` in a call of `{name}` is not supported: it is not known how many "
        "arguments there are",
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
