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
    positional = list(_spread(call.args, callee, loc))
    keywords = dict(call.kwargs)
    if None in keywords:
        raise UnsupportedError(
            f"`**` in a call of `{callee.name}` is not supported",
            loc,
            remedy="Write the keyword arguments out.",
        )
    for param in callee.params:
        if param.style == "*":
            bound[param.name] = ir.Tup(tuple(positional))
            positional = []
        elif param.style == "**":
            bound[param.name] = _dict_display(keywords)
            keywords = {}
        elif positional and param.style != "kw":
            bound[param.name] = positional.pop(0)
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


def _spread(args: tuple[ir.Atom, ...], callee: ir.Function, loc: ir.Loc) -> tuple[ir.Atom, ...]:
    """The positional arguments with literal `*` arguments written out."""
    out: list[ir.Atom] = []
    for arg in args:
        if isinstance(arg, ir.Star):
            if not isinstance(arg.value, ir.Tup):
                raise UnsupportedError(
                    f"`*` in a call of `{callee.name}` is not supported",
                    loc,
                    remedy="Write the arguments out.",
                )
            out += arg.value.items
        else:
            out.append(arg)
    return tuple(out)


def _no_double_star(callee: ir.Function, loc: ir.Loc) -> UnsupportedError:
    return UnsupportedError(
        f"`{callee.name}` takes `**` arguments, which is not supported",
        loc,
        remedy="Name the keyword parameters.",
    )
