"""Derivatives that are generated when they are needed, as functions of the text: for files.

`integral(vjp_by(f, 1), a, b, (k, d))` becomes `integral(f_grad_k, a, b, (k, d))`, where `f_grad_k`
is the gradient of `f` by its parameter `k`, generated for the kinds of these arguments.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from srcdiff import ir
from srcdiff.errors import TransformError
from srcdiff.ir.kinds import Kind, Scalar
from srcdiff.normalize.summaries.assumed import kind_of_atom
from srcdiff.normalize.summaries.consistent import plain_kind
from srcdiff.runtime.implicit import pulled, vjp_by, with_source
from srcdiff.runtime.scipy.integrals import integral
from srcdiff.specialize.inline import function_of

Kinds = Mapping[str, Kind]


@dataclass(frozen=True, eq=False)
class Gradient:
    """The gradient of a function by a parameter, for arguments of some kinds, then a cotangent."""

    function: Any
    param: str
    kinds: Kinds
    __srcdiff_function__ = True

    @property
    def __name__(self) -> str:
        """Its name in a text, unless that is taken."""
        return f"{self.function.__name__}_grad_{self.param}"

    def __call__(self, *args: Any) -> Any:
        """They are only printed."""
        raise NotImplementedError(f"`{self.__name__}` is known only as a part of a file")


def alone(function: ir.Function, kinds: Kinds) -> ir.Function:
    """A finished function that calls the gradients of integrands as functions of the text."""
    slopes = _slopes(function)
    if not slopes:
        return function
    body = _Alone(slopes, kinds).block(function.body)
    for name in reversed(slopes):  # those of others before these
        if name not in ir.used(body):
            body = ir.without(body, {name})
    return replace(function, body=body)


def _slopes(function: ir.Function) -> dict[str, tuple[Any, int]]:
    """The names that stand for a derivative, with the function and the position of the argument."""
    found: dict[str, tuple[Any, int]] = {}
    for stmt in ir.walk(function.body):
        call = ir.call_of(stmt)
        if isinstance(stmt, ir.Assign) and call is not None and call.fn is vjp_by:
            fn, place = call.args
            value = fn.value if isinstance(fn, ir.Ref) else None
            if isinstance(fn, ir.Name) and fn.id in found:
                value = _written(*found[fn.id])
            if value is not None and isinstance(place, ir.Const):
                found[stmt.target.id] = value, place.value
    return found


def _written(fn: Any, place: int) -> Any:
    """The gradient of a function as a function with source, None if it cannot be written."""
    params = _plain_params(fn)
    if params is None:
        return None
    fresh = ir.Fresh({*params, "pulled", "function"})
    seed, name = fresh("d").id, f"{fn.__name__}_grad_{params[place]}"
    line = f"return pulled(function, {place}, {', '.join([seed, *params])})"
    space = {"function": fn, "pulled": pulled}
    return with_source(f"def {name}({', '.join([*params, seed])}):", [line], space)


@dataclass
class _Alone:
    """The pass: `slopes` are names of derivatives; `made` takes what stands for them."""

    slopes: Mapping[str, tuple[Any, int]]
    kinds: Kinds
    made: dict[Any, Gradient] = field(default_factory=dict)

    def block(self, block: ir.Block) -> ir.Block:
        """A block with the integrals of derivatives changed."""
        return tuple(map(self.stmt, block))

    def stmt(self, stmt: ir.Stmt) -> ir.Stmt:
        """A statement."""
        call = ir.call_of(stmt)
        if isinstance(stmt, ir.Assign) and call is not None:
            if call.fn is integral:
                given = call.args[3] if len(call.args) > 3 else ir.NONE
                found = self.gradient(call.args[0], given)
                if found is not None:
                    args = (ir.Ref(found.__name__, found), *call.args[1:])
                    return replace(stmt, rhs=replace(call, args=args))
            elif isinstance(call.fn, ir.Name) and call.args and not call.kwargs:  # at a limit
                found = self.gradient(call.fn, ir.Tup(call.args[1:]))
                if found is not None:
                    return replace(stmt, rhs=ir.Call(found, call.args, text=found.__name__))
        return ir.map_blocks(stmt, self.block)

    def gradient(self, slope: ir.Atom, given: ir.Atom) -> Gradient | None:
        """A derivative for some arguments, None if it stays one that is generated when needed."""
        if not isinstance(slope, ir.Name) or slope.id not in self.slopes:
            return None
        if not isinstance(given, ir.Tup) or any(isinstance(a, ir.Star) for a in given.items):
            return None
        fn, place = self.slopes[slope.id]
        params = _plain_params(fn)
        if params is None or len(params) != len(given.items):
            return None
        kinds = [plain_kind(kind_of_atom(a, self.kinds)) for a in given.items[:-1]]
        known = dict(zip(params, (Scalar("float64", None), *kinds)))
        key = id(fn), place, tuple(known.items())
        return self.made.setdefault(key, Gradient(fn, params[place], known))


def _plain_params(fn: Any) -> list[str] | None:
    """The parameters of a function, None if it has others than plain ones or cannot be read."""
    try:
        params = function_of(fn).params
    except TransformError:
        return None
    return [p.name for p in params] if all(p.style in ("pos", "any") for p in params) else None
