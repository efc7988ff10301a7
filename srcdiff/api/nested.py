"""Derivatives inside of differentiated functions, and those that a running program asks for.

A call of `vjp`, `linearize`, `hvp` or `vhp` in a differentiated function becomes that of a Python
function, written here for its arguments, which is inlined like any other.  A pullback runs its
function again each time that it is called.

`runtime.service` is filled here: the helpers of generated code ask the compiler through it for
derivatives of functions that only the running program knows.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from srcdiff import ir
from srcdiff.api.grad import grad
from srcdiff.api.jacobian import gradient
from srcdiff.api.jvp import Linearized, jvp, jvp_again, jvp_zeros, linearize
from srcdiff.api.products import Product, ReverseProduct, hvp, vhp
from srcdiff.api.vjp import Vjp, vjp
from srcdiff.driver.derivative import Derivative
from srcdiff.driver.options import OfAll, Options, constants_apart, parameter_names
from srcdiff.driver.pullback import recorded
from srcdiff.driver.second_order import active_places
from srcdiff.errors import UnsupportedError
from srcdiff.frontend.signatures import place_of
from srcdiff.ir.frozen import replace
from srcdiff.kinds.lattice import kind_of
from srcdiff.runtime.copies import copied
from srcdiff.runtime.devices import is_any_array
from srcdiff.runtime.implicit import with_source
from srcdiff.runtime.service import Inputs, made_once
from srcdiff.runtime.trees import as_now

# --- what a pullback computes --------------------------------------------------------------------


class Pulled(Derivative):
    """The gradient by those of the arguments from `start` to `stop` that can carry a derivative.

    With other inputs among the `options`, by these.
    """

    def __init__(self, primal: Any, options: Options, start: int, stop: int) -> None:
        self._asked = options
        first = start if options.inputs is None else options.inputs
        super().__init__(primal, replace(options, inputs=first))
        self._start, self._stop = start, stop

    @functools.cached_property
    def unbound(self) -> Derivative:
        """The same of the function behind a method."""
        if not self.receiver:
            return self
        inputs = None if self._asked.inputs is None else self._own.inputs
        more = len(self.receiver)
        options = replace(self._asked, inputs=inputs)
        return Pulled(self.origin, options, self._start + more, self._stop + more)

    def for_kinds(self, kinds: Mapping[str, ir.Kind], arrays: str = ir.HOST.arrays) -> Any:
        """The generated function for arguments of these kinds."""
        options = self._asked
        if options.inputs is None:
            names = parameter_names(self.primal)[self._start : self._stop]
            found = [n for n in names if n in kinds and ir.is_active_kind(kinds[n])]
            options = replace(options, inputs=found[0] if len(found) == 1 else tuple(found))
        return Derivative(self.primal, replace(options, again=True)).for_kinds(kinds, arrays)


def pulled(f: Any, count: int, **given: Any) -> Pulled:
    """The gradient that a pullback of `f` at so many positional arguments computes."""
    options = Options(**given)
    make = functools.partial(Pulled, f, options, 0, count)
    return made_once(f, ("pulled", count, repr(options)), make)


pulled.__srcdiff_transform__ = True  # type: ignore[attr-defined]


# --- functions for calls -------------------------------------------------------------------------


_SPACE = {
    "as_now": as_now, "pulled": pulled, "jvp": jvp, "jvp_again": jvp_again, "gradient": gradient,
    "grad": grad,
}  # fmt: skip


@functools.lru_cache(maxsize=256)
def _written(head: str, lines: tuple[str, ...], keeps_first: bool) -> Any:
    """A function; what its first argument reads is to be as it is now."""
    made = with_source(f"def {head}:", list(lines), dict(_SPACE))
    made.__srcdiff_keeps_first__ = keeps_first
    return made


def _names(letter: str, count: int) -> list[str]:
    return [f"{letter}{k}" for k in range(count)]


def _vjp(call: ir.Call) -> ir.Call | None:
    """`vjp(f, x, y, inputs=..., k=k)`: `f` runs again for each call of the pullback."""
    found = constants_apart(call.kwargs)
    if found is None or not _is_plain(call):
        return None
    asked, given = found
    f, *args = call.args
    if not args:
        return None
    x, y = _names("x", len(args)), _names("y", len(given))
    options = ", ".join(f"{n}={getattr(asked, n)!r}" for n in ("inputs", "outputs", "unused"))
    lines = [f"kept_{n} = as_now({n})" for n in (*x, *y)]
    lines += [f"value = f({_given(x, given, y, 'as_now({})')})"]
    lines += ["def pullback(grad_outputs=None, retain_graph=True):"]
    lines += [f"    pullback = pulled(k, {len(args)}, {options}, has_aux={asked.has_aux})"]
    back = f"pullback({_given(x, given, y, 'kept_{}')}, grad_outputs=grad_outputs)"
    lines += [f"    return {back}{'[0]' if asked.has_aux else ''}"]
    lines += [f"return {_result('pullback', asked)}"]
    made = _written(_head("vjp", "k", "f", *x, *y), tuple(lines), True)
    return ir.Call(made, (f, f, *args, *given.values()))


def _result(found: str, asked: Options) -> str:
    """What a transform returns that gives the value as well."""
    return f"value[0], {found}, value[1]" if asked.has_aux else f"value, {found}"


def _given(x: list[str], keywords: Mapping[str | None, Any], y: list[str], form: str) -> str:
    """The arguments of a call, each in a form."""
    named = (f"{key}={form.format(n)}" for key, n in zip(keywords, y))
    return ", ".join([*map(form.format, x), *named])


def _linearize(call: ir.Call) -> ir.Call | None:
    """`linearize(f, x, y)`: `f` runs again for each call of the linear function."""
    found = constants_apart(call.kwargs)
    if found is None or found[1] or not _is_plain(call):
        return None
    asked, args = found[0], call.args[1:]
    if asked.inputs is not None or asked.outputs is not None or asked.has_aux:
        return None
    x, t = _names("x", len(args)), _names("t", len(args))
    given = f"({_listed(f'kept_{n}' for n in x)}), ({_listed(t)}), unused={asked.unused!r}"
    lines = [f"kept_{n} = as_now({n})" for n in x]
    lines += [f"value = f({_given(x, {}, [], 'as_now({})')})"]
    lines += [f"def {_head('linear', *t)}:", f"    return jvp_again(f, {given})[1]"]
    made = _written(_head("linearize", "f", *x), (*lines, "return value, linear"), False)
    return ir.Call(made, call.args)


def _hvp(call: ir.Call) -> ir.Call | None:
    """`hvp(f, (x, n), v)`, the inputs by their positions."""
    bound = _bound(call)
    if bound is None:
        return None
    f, args, v, inputs, gradient = bound
    places = inputs if isinstance(inputs, tuple) else (inputs,)
    if not all(type(k) is int and 0 <= k < len(args) for k in places):
        return None
    x, t = _names("x", len(args)), ["None"] * len(args)
    for k, place in enumerate(places):
        t[place] = f"v[{k}]" if isinstance(inputs, tuple) else "v"
    line = f"return jvp({gradient}, ({_listed(x)}), ({_listed(t)}), unused='zeros')[1]"
    return ir.Call(_written(_head("hvp", "f", *x, "v"), (line,), False), (f, *args, v))


def _vhp(call: ir.Call) -> ir.Call | None:
    """`vhp(f, (x, n), v)`."""
    bound = _bound(call)
    if bound is None:
        return None
    f, args, v, inputs, gradient = bound
    x = _names("x", len(args))
    outer = f"grad({gradient}, {inputs!r}, unused='zeros')"
    line = f"return {outer}({', '.join(x)}, grad_outputs=v)"
    return ir.Call(_written(_head("vhp", "f", *x, "v"), (line,), False), (f, *args, v))


def _bound(call: ir.Call) -> tuple[ir.Atom, tuple[ir.Atom, ...], ir.Atom, Any, str] | None:
    """The function, its arguments, the vector, the inputs and the gradient of a product."""
    positional = tuple(zip(("f", "args", "v", "inputs"), call.args))
    found = constants_apart((*positional, *call.kwargs), 0)
    if found is None or not _is_plain(call):
        return None
    asked, given = found
    args = given.get("args")
    listed = isinstance(args, ir.Tup) and not any(isinstance(a, ir.Star) for a in args.items)
    plain = asked.unused != "none" and not asked.has_aux
    if given.keys() != {"f", "args", "v"} or given["v"] == ir.NONE or not listed or not plain:
        return None
    made = f"gradient(f, {asked.inputs!r}, {asked.outputs!r}, {asked.unused!r})"
    return given["f"], args.items, given["v"], asked.inputs, made  # type: ignore[union-attr]


def _is_plain(call: ir.Call) -> bool:
    """Whether a call has arguments, all written out."""
    stars = any(isinstance(a, ir.Star) for a in call.args) or None in dict(call.kwargs)
    return bool(call.args or call.kwargs) and not stars


def _head(name: str, *params: str) -> str:
    return f"{name}({', '.join(params)})"


def _listed(items: Any) -> str:
    """The items of a tuple display."""
    return "".join(f"{item}, " for item in items)


_WRITTEN: tuple[tuple[Any, Any], ...] = (
    (vjp, _vjp), (linearize, _linearize), (hvp, _hvp), (vhp, _vhp),
)  # fmt: skip
for _transform, _write in _WRITTEN:
    _transform.__srcdiff_written__ = _write


# --- what a transform makes with options alone: it is called with the arguments ------------------

def _spread(transform: Any) -> Any:
    """`transform(f, args, v)` as a function of `f`, `v` and the arguments."""

    def spread(f: Any, v: Any, *args: Any, **options: Any) -> Any:
        return transform(f, args, v, **options)

    def written(call: ir.Call) -> ir.Call:
        f, v, *args = call.args
        return ir.Call(transform, (f, ir.Tup(tuple(args)), v), call.kwargs)

    spread.__srcdiff_written__ = written  # type: ignore[attr-defined]
    return spread


def _at(transform: Any) -> Any:
    """What `transform(f)` computes, with `f` and options as arguments."""
    head, line = "(f, *args, v, **options)", "return spread(f, v, *args, **options)"
    return with_source(f"def {transform.__name__}{head}:", [line], {"spread": _spread(transform)})


def _of_object(at: Any) -> Any:
    """The call of what a transform made elsewhere as one of what it computes."""

    def written(self: Any, call: ir.Call) -> ir.Call:
        asked = ((n, getattr(self.options, n)) for n in ("inputs", "outputs", "unused", "has_aux"))
        options = tuple((name, ir.Ref(name, value)) for name, value in asked)
        primal = ir.Ref(self.primal.__name__, self.primal)
        return ir.Call(at, (primal, *call.args), (*call.kwargs, *options))

    return written


_AT: tuple[tuple[Any, Any, Any], ...] = (
    (vjp, vjp, Vjp), (linearize, linearize, Linearized),
    (hvp, _at(hvp), Product), (vhp, _at(vhp), ReverseProduct),
)  # fmt: skip
for _transform, _made, _cls in _AT:
    _transform.__srcdiff_curried__ = _made, ("inputs", "outputs", *OfAll.__annotations__)
    _cls.__srcdiff_written__ = _of_object(_made)


# --- what the helpers of generated code ask of the compiler while a program runs -----------------


class _Compiler:
    """Derivatives of functions that only the running program knows."""

    jvp = staticmethod(jvp_zeros)

    def gradient(self, f: Any, inputs: Inputs, strong_zeros: bool = False) -> Derivative:
        """The gradient of a function by some arguments, zeros where one is not used."""
        options = Options(inputs, unused="zeros", strong_zeros=strong_zeros)
        key = "gradient by", inputs, strong_zeros
        return made_once(f, key, lambda: Derivative(f, options))

    def pullback(
        self,
        f: Any,
        inputs: Inputs,
        args: tuple[Any, ...],
        strong_zeros: bool = False,
        writes: bool = False,
    ) -> tuple[Any, Any]:
        """The value of a call and its pullback; it may write into arguments only if `writes`."""
        made = self.gradient(f, inputs, strong_zeros)
        pair = made.pair(*args)
        if pair.written and not writes:
            raise UnsupportedError(
                f"`{getattr(f, '__name__', f)}`, which is known only when the program runs, writes "
                f"into its argument `{pair.written[0]}`",
                place_of(f),
                remedy="Call it by its name, or let it return a new array.",
            )
        value, pull = recorded(pair, (*made.receiver, *args), {})
        arrays = [] if writes else [a for a in args if is_any_array(a)]
        if is_any_array(value) and any(np.may_share_memory(value, a) for a in arrays):
            value = copied(value)
        return value, pull

    def written(self, f: Any, inputs: tuple[int, ...], args: tuple[Any, ...]) -> tuple[str, ...]:
        """The names of the parameters that such a call writes into."""
        return tuple(self.gradient(f, inputs).pair(*args).written)

    def active(self, f: Any, args: tuple[Any, ...]) -> tuple[int, ...]:
        """The positions of the arguments that can carry a derivative."""
        return active_places([kind_of(arg, f"x{k}") for k, arg in enumerate(args)])

    def verify(self, made: Any, found: Any, args: tuple[Any, ...], kwargs: Any) -> None:
        """Hold what was generated of a derivative against its function, at some arguments."""
        from srcdiff.api.verify import verify

        verify(made, found, args, kwargs)

    def verified_batch(self, found: Any, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function for a batch, whose first call is held against that for a single one."""
        from srcdiff.api.verify import verified_batch

        return verified_batch(found, function)


COMPILER = _Compiler()
