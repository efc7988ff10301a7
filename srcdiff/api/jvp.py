"""`jvp` and `linearize`: derivatives along directions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, Literal, ParamSpec, TypeVar, overload

from srcdiff import ir
from srcdiff.api.forward import Forward, forward_of, tangent_like
from srcdiff.api.point import Point
from srcdiff.driver.callables import Transformed, listed, offers
from srcdiff.driver.options import Options, parameter_names, request_of, star_of
from srcdiff.driver.structures import tangent_of
from srcdiff.errors import CotangentError, CotangentTypeError, TransformError, entry, refused
from srcdiff.frontend.request import items_of
from srcdiff.frontend.signatures import named, place_of
from srcdiff.ir.frozen import frozen, replace
from srcdiff.runtime.copies import copied

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from srcdiff.driver.options import OfAll

P = ParamSpec("P")
R = TypeVar("R")


# --- what is computed -----------------------------------------------------------------------------


def _along(
    f: Any, options: Options, primals: Any, kwargs: Mapping[str, Any], tangents: Any
) -> tuple[Any, Any]:
    """The value, and the tangent of the outputs along a direction of the inputs.

    Of all positional arguments where no inputs are named.
    """
    if tangents is None:
        raise CotangentTypeError("tangents: expected a direction of the inputs, given None")
    if options.inputs is not None:
        return Point(f, options, tuple(primals), kwargs).along(tangents)
    primals, tangents = _checked_pair(primals, listed("tangents", tangents))
    given = _by_parameter(f, primals, tangents)
    made = forward_of(f, options, tuple(given))
    value, tangent = made.along(primals, dict(kwargs), tuple(given.values()))
    output = value[0] if options.has_aux else value
    return value, tangent_of(tangent, output, options.outputs, parameter_names(f))


def _checked_pair(primals: Any, tangents: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Arguments and their tangents as tuples of one length."""
    if len(primals) != len(tangents):
        raise CotangentError(
            f"tangents: expected {len(primals)} items, one for each of the primals, "
            f"given {len(tangents)}"
        )
    if all(t is None for t in tangents):
        raise CotangentError("tangents: expected at least one that is not None")
    return tuple(primals), tuple(tangents)


def _by_parameter(
    f: Any, primals: tuple[Any, ...], tangents: tuple[Any, ...]
) -> dict[str | int, Any]:
    """The tangents by parameter: those of `*args` are one tuple, with zeros for None."""
    names, star = parameter_names(f), star_of(f)
    found: dict[str | int, Any] = {}
    for k, (p, t) in enumerate(zip(primals[:star], tangents[:star])):
        if t is not None:
            found[names[k] if k < len(names) else k] = tangent_like(t, p, f"tangents[{k}]")
    if star is not None and any(t is not None for t in tangents[star:]):
        rest = enumerate(zip(primals[star:], tangents[star:]), star)
        found[names[star]] = tuple(tangent_like(t, p, f"tangents[{k}]") for k, (p, t) in rest)
    return found


# --- in differentiated functions ------------------------------------------------------------------


@frozen(eq=False)
class Along:
    """What the transforms of forward mode compute with: `along(f, tangents, *args, **kwargs)`.

    There is a tangent for each of the inputs, or for each positional argument, None for constants.
    """

    options: Options

    def __call__(self, f: Any, tangents: Any, /, *args: Any, **kwargs: Any) -> tuple[Any, Any]:
        """The value, and the tangent of the outputs."""
        return _along(f, self.options, args, kwargs, tangents)

    def __srcdiff_direct__(self, f: Any, call: ir.Call) -> ir.Call:
        """A call of it as one of what is generated; itself where there is none."""
        _, tangents, *primals = call.args
        listed = isinstance(tangents, ir.Tup) and not any(map(_is_star, tangents.items))
        pairs = self._pairs(f, tangents.items) if listed else None  # type: ignore[union-attr]
        if pairs is None:
            return replace(call, text="srcdiff.jvp")
        made = forward_of(f, self.options, tuple(pairs))
        named = tuple(zip(made.tangents(), pairs.values()))
        return ir.Call(made, tuple(primals), (*call.kwargs, *named))

    def _pairs(self, f: Any, tangents: tuple[ir.Atom, ...]) -> dict[str, ir.Atom] | None:
        """The tangents by parameter; None for parts of parameters."""
        names, star = parameter_names(f), star_of(f)
        if self.options.inputs is not None:
            asked = request_of(f, self.options).inputs
            whole = not any(i.path for i in asked) and len(asked) == len({i.param for i in asked})
            return {i.param: t for i, t in zip(asked, tangents)} if whole else None
        pairs = {n: t for n, t in zip(names, tangents[:star]) if t != ir.NONE}
        if star is None or len(tangents) <= star:
            return pairs
        rest = ir.Tup(tangents[star:])
        return None if ir.NONE in rest.items else {**pairs, names[star]: rest}


def along_by(inputs: tuple[Any, ...] | None = None, **given: Any) -> Along:
    """What computes tangents by some inputs, with these options."""
    return Along(Options(inputs, **given))


along_by.__srcdiff_transform__ = True  # type: ignore[attr-defined]


def _is_star(atom: ir.Atom) -> bool:
    return isinstance(atom, ir.Star)


# --- the transforms -------------------------------------------------------------------------------


@offers("primal", "source")
class Jvp(Transformed, Generic[P, R]):
    """The function that computes the value of `primal` and its derivative along a direction."""

    what = "The value, and the derivative along a direction,"
    more: Mapping[str, Any] = MappingProxyType({"tangents": ...})

    @entry
    def __call__(self, /, *args: Any, tangents: Any, **kwargs: Any) -> Any:
        """The value and the tangent, at these arguments."""
        args, kwargs = self.given(args, kwargs)
        value, tangent = _along(self._function, self._asked, args, kwargs, tangents)
        return self.options.with_value(value, tangent)

    @property
    def made(self) -> Forward:
        """The function of forward mode, by the inputs or the first parameter."""
        inputs = 0 if self._asked.inputs is None else self._asked.inputs
        return forward_of(self._function, self._asked, tuple(items_of(inputs)[1]))


@overload
def jvp(
    f: Callable[P, R], /, *, inputs: Any = None, outputs: Any = None, **options: Unpack[OfAll]
) -> Jvp[P, R]: ...
@overload
def jvp(
    *, inputs: Any = None, outputs: Any = None, **options: Unpack[OfAll]
) -> Callable[[Callable[P, R]], Jvp[P, R]]: ...
@overload
def jvp(
    f: Callable[..., tuple[R, Any]],
    /,
    primals: Sequence[Any],
    tangents: Any,
    *,
    has_aux: Literal[True],
    **kwargs: Any,
) -> tuple[R, Any, Any]: ...
@overload
def jvp(
    f: Callable[..., R], /, primals: Sequence[Any], tangents: Any, **kwargs: Any
) -> tuple[R, Any]: ...
@entry
def jvp(f: Any = None, /, primals: Any = None, tangents: Any = None, **kwargs: Any) -> Any:
    """The value of a function and its derivative along a direction (Jacobian-vector product).

    Args:
        f: the function.
        primals: its positional arguments.
        tangents: for each argument a direction of its structure and shapes; None for one that
            stays constant (numbers and arrays of integers, strings, ...).  With `inputs`, a
            direction in the structure of these.
        kwargs: its keyword arguments, which stay constant; `inputs`, `outputs`, `has_aux`,
            `unused`, `compile`, `workspace`, `threads`, `strict` and `verify` are options, as in
            `grad`.

    Returns:
        `(value, tangent)`: the tangent has the structure and the shapes of the selected outputs.
        `(output, tangent, aux)` with `has_aux`.  Without `primals`, a function `j` with
        `j(*args, tangents=..., **kwargs)`, which gives that.

    Raises:
        TransformError: the function cannot be differentiated, with the place and the reason.
        UnusedInputError: no output depends on an argument that has a tangent.
        DtypeError: an argument with a tangent is no floating point or complex value.
        CotangentError: a tangent does not fit its argument.

    >>> import srcdiff
    >>> def f(x, n):
    ...     return x ** n
    >>> srcdiff.jvp(f, (2.0, 3), (1.0, None))
    (8.0, 12.0)
    >>> srcdiff.jvp(f, inputs="x")(2.0, n=3, tangents=1.0)
    (8.0, 12.0)
    """
    return Jvp.direct(f, listed("primals", primals), kwargs, None, tangents=tangents)


class Linear:
    """The derivative of a function at a point, as a linear function of the direction."""

    def __init__(self, f: Any, options: Options, args: Any, kwargs: Mapping[str, Any]) -> None:
        self._f, self._options = f, options
        self._args, self._kwargs = copied((args, kwargs))

    @entry
    def __call__(self, *tangents: Any) -> Any:
        """The tangent of the output for the tangents of the arguments, or of the inputs."""
        inputs = self._options.inputs
        if inputs is None or items_of(inputs)[0] == "tuple":
            return self._along(tangents)
        if len(tangents) != 1:
            raise CotangentError(f"tangents: expected 1, as `inputs` is, given {len(tangents)}")
        return self._along(tangents[0])

    def _along(self, direction: Any) -> Any:
        """The tangent of the output along a direction."""
        return _along(self._f, self._options, self._args, self._kwargs, direction)[1]


class Linearized(Jvp[P, R]):
    """The function that computes the value of `primal` and its derivative as a function."""

    what = "The value, and the derivative as a linear function,"
    more: Mapping[str, Any] = MappingProxyType({})

    @entry
    def __call__(self, /, *args: P.args, **kwargs: P.kwargs) -> Any:
        """The value at these arguments, and the linear function there."""
        linear = Linear(self._function, self._asked, *self.given(args, kwargs))
        again, more = copied((args, kwargs))
        value = self.primal(*again, **more)
        if self.options.has_aux and not (isinstance(value, tuple) and len(value) == 2):
            fields = {"function": named(self.primal)}
            raise refused("inputs.aux", place_of(self.primal), TransformError, **fields)
        return self.options.with_value(value, linear)


@overload
def linearize(
    f: Callable[P, R], /, *, inputs: Any = None, outputs: Any = None, **options: Unpack[OfAll]
) -> Linearized[P, R]: ...
@overload
def linearize(
    *, inputs: Any = None, outputs: Any = None, **options: Unpack[OfAll]
) -> Callable[[Callable[P, R]], Linearized[P, R]]: ...
@overload
def linearize(
    f: Callable[..., tuple[R, Any]], x: Any, /, *primals: Any, has_aux: Literal[True], **kwargs: Any
) -> tuple[R, Linear, Any]: ...
@overload
def linearize(f: Callable[..., R], x: Any, /, *primals: Any, **kwargs: Any) -> tuple[R, Linear]: ...
@entry
def linearize(f: Any = None, /, *primals: Any, **kwargs: Any) -> Any:
    """The value of a function and its derivative as a linear function of the direction.

    The linear function takes a tangent for each of the `primals`, or for each of the `inputs`.  It
    runs `f` again beside its tangents, at copies of the arguments.  `kwargs` are keyword arguments
    of `f`, which stay constant, and options as in `jvp`.

    Returns:
        `(value, linear)`; `(output, linear, aux)` with `has_aux`.  Without arguments of `f`, a
        function that takes these, and gives that.

    >>> import srcdiff
    >>> value, linear = srcdiff.linearize(lambda x: x * x, 3.0)
    >>> value, linear(1.0), linear(10.0)
    (9.0, 6.0, 60.0)
    """
    return Linearized.direct(f, primals or None, kwargs, None)
