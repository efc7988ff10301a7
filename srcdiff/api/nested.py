"""Derivatives inside of differentiated functions, and those that a running program asks for.

A call of `vjp`, `jvp`, `linearize`, `hvp` or `vhp` in a differentiated function becomes that of a
Python function, written here for its arguments, which is inlined like any other.  A pullback runs
its function again each time that it is called.

`runtime.service` is filled here: the helpers of generated code ask the compiler through it for
derivatives of functions that only the running program knows.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from srcdiff import ir
from srcdiff.api.grad import grad
from srcdiff.api.jacobian import gradient
from srcdiff.api.jvp import Jvp, Linearized, along_by, jvp, linearize
from srcdiff.api.products import Product, ReverseProduct, hvp, vhp
from srcdiff.api.vjp import Vjp, vjp
from srcdiff.driver.derivative import Derivative
from srcdiff.driver.executable import key_of_call
from srcdiff.driver.options import Options, constants_apart, parameter_names
from srcdiff.driver.pullback import recorded
from srcdiff.driver.second_order import active_places
from srcdiff.errors import UnsupportedError
from srcdiff.frontend.request import items_of
from srcdiff.frontend.signatures import place_of
from srcdiff.ir.frozen import frozen, replace
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
            names = parameter_names(self)[self._start : self._stop]
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
    "as_now": as_now, "pulled": pulled, "along_by": along_by, "gradient": gradient, "grad": grad,
}  # fmt: skip
Named = dict[str | None, ir.Atom]
"""Keyword arguments of a call."""


@functools.lru_cache(maxsize=256)
def _written(head: str, lines: tuple[str, ...], keeps_first: bool) -> Any:
    """A function; what its first argument reads is to be as it is now."""
    made = with_source(f"def {head}:", list(lines), dict(_SPACE))
    made.__srcdiff_keeps_first__ = keeps_first
    return made


class _Arguments:
    """The arguments of a function in a call of a transform, and their names in what is written."""

    def __init__(self, args: tuple[ir.Atom, ...], given: Named) -> None:
        self.args, self.given = args, given
        self.positional, self.named = _names("x", len(args)), _names("y", len(given))
        self.names = [*self.positional, *self.named]
        self.atoms = (*args, *given.values())

    def spelled(self, form: str = "{}") -> str:
        """The arguments of a call, each in a form."""
        named = (f"{key}={form.format(n)}" for key, n in zip(self.given, self.named))
        return ", ".join([*map(form.format, self.positional), *named])

    def kept(self) -> list[str]:
        """The lines that keep the arguments as they are now."""
        return [f"kept_{n} = as_now({n})" for n in self.names]


def _names(letter: str, count: int) -> list[str]:
    return [f"{letter}{k}" for k in range(count)]


def _vjp(asked: Options, f: ir.Atom, args: tuple[ir.Atom, ...], given: Named) -> ir.Call | None:
    """`vjp(f, x, y, inputs=..., k=k)`: `f` runs again for each call of the pullback."""
    if not args:
        return None
    of = _Arguments(args, given)
    options = ", ".join(f"{n}={getattr(asked, n)!r}" for n in ("inputs", "outputs", "unused"))
    lines = [*of.kept(), f"value = f({of.spelled('as_now({})')})"]
    lines += ["def pullback(grad_outputs=None, retain_graph=True):"]
    lines += [f"    pullback = pulled(k, {len(args)}, {options}, has_aux={asked.has_aux})"]
    back = f"pullback({of.spelled('kept_{}')}, grad_outputs=grad_outputs)"
    lines += [f"    return {back}{'[0]' if asked.has_aux else ''}"]
    lines += [f"return {_result('value', 'pullback', asked)}"]
    made = _written(_head("vjp", "k", "f", *of.names), tuple(lines), True)
    return ir.Call(made, (f, f, *of.atoms))


def _result(value: str, found: str, asked: Options) -> str:
    """What a transform returns that gives the value as well."""
    return f"{value}[0], {found}, {value}[1]" if asked.has_aux else f"{value}, {found}"


def _jvp(asked: Options, f: ir.Atom, args: tuple[ir.Atom, ...], given: Named) -> ir.Call | None:
    """`jvp(f, (x, y), (v, None), k=k)`: a tangent for each argument, or those of the inputs."""
    tangents = given.pop("tangents", ir.NONE)
    directions: tuple[ir.Atom, ...] = (tangents,)
    if asked.inputs is None:
        if not isinstance(tangents, ir.Tup) or len(tangents.items) != len(args):
            return None
        directions = tangents.items
    elif tangents == ir.NONE:
        return None
    t = ["t"] if asked.inputs is not None else _names("t", len(args))
    of, (before, display) = _Arguments(args, given), _directions(t, asked.inputs)
    lines = (
        *before,
        f"along = along_by({_asked(asked)})",
        f"found = along(f, ({display}), {of.spelled()})",
        f"return {_result('found[0]', 'found[1]', asked)}",
    )
    made = _written(_head("jvp", "f", *t, *of.names), lines, False)
    return ir.Call(made, (f, *directions, *of.atoms))


def _asked(asked: Options, **more: Any) -> str:
    """The options of `along_by`, as its arguments."""
    places = None if asked.inputs is None else tuple(items_of(asked.inputs)[1])
    own = {"inputs": places, "outputs": asked.outputs, "unused": asked.unused}
    return ", ".join(f"{n}={v!r}" for n, v in {**own, "has_aux": asked.has_aux, **more}.items())


def _directions(names: Sequence[str], inputs: Any) -> tuple[list[str], str]:
    """The display of the tangents of all inputs, and the lines that go before.

    There are as many names as tangents, or one of a direction in the form of the inputs.
    """
    form, items = (None, ()) if inputs is None else items_of(inputs)
    (name, *more) = names
    if more or form in (None, "bare"):
        return [], _listed(names)
    if form != "tuple":
        return [], _listed(f"{name}[{key!r}]" for key in form)
    parts = _listed(f"{name}{k}" for k in range(len(items)))
    return [f"{parts}= {name}"], parts


def _linearize(
    asked: Options, f: ir.Atom, args: tuple[ir.Atom, ...], given: Named
) -> ir.Call | None:
    """`linearize(f, x, y)`: `f` runs again for each call of the linear function."""
    if not args:
        return None
    form, items = ("tuple", args) if asked.inputs is None else items_of(asked.inputs)
    t = _names("t", len(items) if form == "tuple" else 1)
    of, (before, display) = _Arguments(args, given), _directions(t, asked.inputs)
    lines = [*of.kept(), f"value = f({of.spelled('as_now({})')})"]
    lines += [f"def {_head('linear', *t)}:", *(f"    {line}" for line in before)]
    lines += [f"    along = along_by({_asked(asked, again=True)})"]
    lines += [f"    return along(f, ({display}), {of.spelled('kept_{}')})[1]"]
    lines += [f"return {_result('value', 'linear', asked)}"]
    made = _written(_head("linearize", "f", *of.names), tuple(lines), False)
    return ir.Call(made, (f, *of.atoms))


def _hvp(asked: Options, f: ir.Atom, args: tuple[ir.Atom, ...], given: Named) -> ir.Call | None:
    """`hvp(f, (x, n), v)`: the tangent of the gradient."""
    along = _asked(replace(asked, outputs=None, unused="zeros"))
    before, display = _directions(["v"], asked.inputs)
    return _product(
        asked, f, args, given, *before,
        f"along = along_by({along})",
        f"found = along(made, ({display}), {{}})",
        f"return {'found[1], found[0][1]' if asked.has_aux else 'found[1]'}",
    )  # fmt: skip


def _vhp(asked: Options, f: ir.Atom, args: tuple[ir.Atom, ...], given: Named) -> ir.Call | None:
    """`vhp(f, (x, n), v)`: the gradient of the gradient."""
    return _product(
        asked, f, args, given,
        f"back = grad(made, {asked.inputs!r}, unused='zeros', has_aux={asked.has_aux})",
        "return back({}, grad_outputs=v)",
    )  # fmt: skip


def _product(
    asked: Options, f: ir.Atom, args: tuple[ir.Atom, ...], given: Named, *lines: str
) -> ir.Call | None:
    """A product with the Hessian by its lines, in which `made` is the gradient."""
    v = given.pop("v", ir.NONE)
    if v == ir.NONE or not args or asked.unused == "none":
        return None
    of = _Arguments(args, given)
    more = f"{asked.outputs!r}, {asked.unused!r}, has_aux={asked.has_aux}"
    made = f"made = gradient(f, {asked.inputs!r}, {more})"
    body = (made, *(line.format(of.spelled()) for line in lines))
    return ir.Call(_written(_head("product", "f", "v", *of.names), body, False), (f, v, *of.atoms))


def _head(name: str, *params: str) -> str:
    return f"{name}({', '.join(params)})"


def _listed(items: Any) -> str:
    """The items of a tuple display."""
    return "".join(f"{item}, " for item in items)


# --- the calls that are such: at once, with options alone, of what was made before ---------------


@frozen(eq=False)
class Asked:
    """A transform with its options, as a function of what it transforms and the arguments."""

    made: type
    options: Options

    @property
    def __srcdiff_name__(self) -> str:
        """What messages call it."""
        return next(f"srcdiff.{f.__name__}" for f, made, _ in _CALLED if made is self.made)

    def __call__(self, f: Any, /, *args: Any, **kwargs: Any) -> Any:
        """What the transform gives for these arguments."""
        return self.made(f, self.options)(*args, **kwargs)

    def __srcdiff_written__(self, call: ir.Call) -> ir.Call | None:
        """A call of it as one of the function that computes it; None if there is none."""
        if not call.args or not _is_plain(call):
            return None
        inputs, given, (f, *args) = self.options.inputs, dict(call.kwargs), call.args
        if ir.SEED in given or isinstance(inputs, Mapping) and not issubclass(self.made, Jvp):
            return None
        asked = replace(self.options, inputs=tuple(inputs) if type(inputs) is list else inputs)
        return _WRITERS[self.made](asked, f, tuple(args), given)


def _is_plain(call: ir.Call) -> bool:
    """Whether all arguments of a call are written out."""
    return None not in dict(call.kwargs) and not any(isinstance(a, ir.Star) for a in call.args)


def _asked_in(
    made: type, given: Sequence[tuple[str | None, ir.Atom]]
) -> tuple[Asked, Named] | None:
    """The transform with the options among some arguments, and the others; as `constants_apart`."""
    found = constants_apart(given, 0 if issubclass(made, Product) else None)
    return None if found is None else (Asked(made, found[0]), found[1])


def _with_options(made: type) -> Any:
    """Of `transform(f, inputs="x")` the function that is called with `f` and the arguments."""

    def curried(call: ir.Call) -> Asked | None:
        found = _asked_in(made, call.kwargs) if len(call.args) == 1 and _is_plain(call) else None
        return found[0] if found is not None and not found[1] else None

    return curried


def _at_once(made: type, names: tuple[str, ...]) -> Any:
    """`transform(f, *args)`, or with names `transform(f, args, v)`, as what it is with options."""

    def written(call: ir.Call) -> ir.Call | None:
        if not _is_plain(call):
            return None
        f, *args = call.args or (ir.NONE,)
        found = _asked_in(made, (*zip(names, args), *call.kwargs))
        if found is None:
            return None
        asked, given = found
        listed = given.pop(names[0], ir.NONE) if names else ir.Tup(tuple(args))
        if not isinstance(listed, ir.Tup):
            return None
        return asked.__srcdiff_written__(ir.Call(asked, (f, *listed.items), (*given.items(),)))

    return written


def _of_object(self: Any, call: ir.Call) -> ir.Call | None:
    """A call of what a transform made elsewhere."""
    primal = ir.Ref(self.primal.__name__, self.primal)
    again = replace(call, args=(primal, *call.args))
    return Asked(type(self), self.options).__srcdiff_written__(again)


_WRITERS: Mapping[type, Callable[..., ir.Call | None]] = {
    Vjp: _vjp, Jvp: _jvp, Linearized: _linearize, Product: _hvp, ReverseProduct: _vhp,
}  # fmt: skip
_CALLED: tuple[tuple[Any, type, tuple[str, ...]], ...] = (
    (vjp, Vjp, ()), (linearize, Linearized, ()), (jvp, Jvp, ("primals", "tangents", "inputs")),
    (hvp, Product, ("args", "v", "inputs")), (vhp, ReverseProduct, ("args", "v", "inputs")),
)  # fmt: skip
for _transform, _made, _order in _CALLED:
    _transform.__srcdiff_written__ = _at_once(_made, _order)
    _transform.__srcdiff_curried__ = _with_options(_made)
    _made.__srcdiff_written__ = _of_object  # type: ignore[attr-defined]


# --- what the helpers of generated code ask of the compiler while a program runs -----------------


class _Compiler:
    """Derivatives of functions that only the running program knows."""

    along = staticmethod(along_by(unused="zeros"))

    def gradient(self, f: Any, inputs: Inputs, strong_zeros: bool = False) -> Derivative:
        """The gradient of a function by some arguments, zeros where one is not used."""

        def make() -> Derivative:
            return Derivative(f, Options(inputs, unused="zeros", strong_zeros=strong_zeros))

        return made_once(f, ("gradient by", inputs, strong_zeros), make)

    def pullback(
        self,
        f: Any,
        inputs: Inputs,
        args: tuple[Any, ...],
        strong_zeros: bool = False,
        writes: bool = False,
        at_once: bool = False,
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
        value, pull = recorded(pair, (*made.receiver, *args), {}, at_once)
        arrays = [] if writes else [a for a in args if is_any_array(a)]
        if is_any_array(value) and any(np.may_share_memory(value, a) for a in arrays):
            value = copied(value)
        return value, pull

    def written(self, f: Any, inputs: tuple[int, ...], args: tuple[Any, ...]) -> tuple[str, ...]:
        """The names of the parameters that such a call writes into."""
        return tuple(self.gradient(f, inputs).pair(*args).written)

    def draws(self, f: Any, args: tuple[Any, ...]) -> bool:
        """Whether a call may do more than compute, such as draw random numbers."""
        active = self.active(f, args)
        return not active or self.gradient(f, active).pair(*args).has_effects

    def active(self, f: Any, args: tuple[Any, ...]) -> tuple[int, ...]:
        """The positions of the arguments that can carry a derivative."""

        def find() -> tuple[int, ...]:
            return active_places([kind_of(arg, f"x{k}") for k, arg in enumerate(args)])

        return made_once(f, ("active", key_of_call(args, {})), find)

    def verify(self, made: Any, found: Any, args: tuple[Any, ...], kwargs: Any) -> None:
        """Hold what was generated of a derivative against its function, at some arguments."""
        from srcdiff.api.verify import verify

        verify(made, found, args, kwargs)

    def verified_batch(self, found: Any, function: Callable[..., Any]) -> Callable[..., Any]:
        """A function for a batch, whose first call is held against that for a single one."""
        from srcdiff.api.verify import verified_batch

        return verified_batch(found, function)


COMPILER = _Compiler()
