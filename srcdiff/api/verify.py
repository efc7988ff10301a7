"""Derivatives held against their functions at the first call, as `verify="first"` asks for.

Takes what was generated for a call, and its arguments; raises a `WrongDerivativeError` where it is
wrong, and says in an `UnverifiedWarning` why it could not be told.  Everything runs on copies of
the arguments, and in the world as it was; what prints or draws random numbers is not run again.

Along one random direction `u` of the inputs, and for one random cotangent `v` of the outputs,
reverse mode has to give what forward mode gives, `<J^T v, u> = <v, J u>`, and both what differences
of `<v, f(x + t u)>` by `t` say.  The elements of `u` are as large as those of the inputs, so that
`t` is a relative step.  A central difference of step `h` is off by about `h**2` (what is left out)
and `eps / h` (rounding), relative to the numbers at hand: least, `eps**(2/3)`, for `h = eps**(1/3)`
(Nocedal and Wright, Numerical Optimization, section 8.1).  Two more, of steps eight times as long
and as short, say how far it is off here, and whether the slopes to both sides come together.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from srcdiff import ir
from srcdiff.api.forward import last_params, pushed
from srcdiff.api.point import Point
from srcdiff.driver.derivative import Derivative
from srcdiff.driver.executable import Compiled, CompiledPair
from srcdiff.driver.options import Options, star_of
from srcdiff.driver.pullback import recorded
from srcdiff.driver.replay import World
from srcdiff.driver.second_order import effects
from srcdiff.driver.snapshots import contents
from srcdiff.driver.structures import (
    Path,
    at,
    behind_aux,
    inner,
    leaves,
    magnitude,
    plus,
    random_like,
    with_leaf,
    zeros,
)
from srcdiff.errors import UnverifiedWarning, WrongDerivativeError, placed
from srcdiff.frontend.request import Input, spelled
from srcdiff.frontend.signatures import named, place_of, signature_of
from srcdiff.ir import SEED
from srcdiff.ir.frozen import frozen
from srcdiff.primitives.arguments import spelling
from srcdiff.primitives.effects import module_of
from srcdiff.primitives.ops import MODES, Op, is_op
from srcdiff.primitives.registry import Rule, is_builtin, lookup
from srcdiff.runtime.batched import taken
from srcdiff.runtime.copies import copied
from srcdiff.runtime.service import is_derivative, made_once
from srcdiff.specialize.inline import lowered

# --- a function along a direction, and its differences -------------------------------------------


@frozen(eq=False)
class Line:
    """The outputs of a function along a direction of its inputs."""

    point: Point
    direction: Any

    def outputs(self, t: float) -> Any:
        """The outputs so far along the direction."""
        return self.point.outputs_at(plus(self.point.inputs, t, leaves(self.direction)))

    def product(self, t: float, cotangent: Any) -> float:
        """The inner product of these with a cotangent."""
        return inner(self.outputs(t), cotangent)


def scaled_like(rng: np.random.Generator, tree: Any) -> Any:
    """Random numbers in a structure, each as large as what stands there."""
    found = random_like(rng, tree)
    for path, leaf in leaves(found):
        new = np.asarray(leaf * _sizes(at(tree, path)), np.result_type(leaf))
        found = with_leaf(found, path, new if isinstance(leaf, np.ndarray) else type(leaf)(new))
    return found


def _sizes(leaf: Any) -> Any:
    """How large the elements of an array are; those that are zero as the others, or one."""
    sizes = np.abs(leaf)
    others = sizes[np.isfinite(sizes) & (sizes > 0.0)]
    return np.where(sizes > 0.0, sizes, np.mean(others) if others.size else 1.0)


APART = 8.0
"""How much longer and shorter the two other steps are."""


@frozen
class Differences:
    """The slope of a function of one number at zero, by central differences.

    `error` is by how much it may be off, as far as other steps tell; `sides` are the slopes to the
    left and to the right, and `bent` by how much they differ where shorter steps do not bring them
    together: at a kink.  `torn` is by how much they differ where shorter steps drive them apart:
    at a jump.  `noise` is by how much values of the function are off a line, which is what is
    rounded on the way to them where the function is smooth.
    """

    slope: float
    error: float
    sides: tuple[float, float]
    bent: float
    torn: float
    noise: float


def differences(run: Callable[[float], float], step: float) -> Differences:
    """The slope at zero, by central differences of three steps around the one given."""
    here = run(0.0)
    sides = [((here - run(-h)) / h, (run(h) - here) / h) for h in _around(step)]
    coarse, middle, fine = ((left + right) / 2.0 for left, right in sides)
    # Of the middle one less is left out than of the coarse one, and less rounded than of the fine.
    error = abs(coarse - middle) / (APART**2 - 1.0) + abs(fine - middle) / APART
    gaps = [abs(right - left) for left, right in sides]
    stays = gaps[1] > max(gaps[0] / 2.0, gaps[2] / 2.0, 20.0 * error)
    bent, torn = gaps[1] if stays else 0.0, gaps[2] if gaps[2] > gaps[1] > gaps[0] else 0.0
    return Differences(middle, error, sides[1], bent, torn, gaps[2] * step / APART)


def supported(run: Callable[[float], float], step: float, slope: float) -> bool:
    """Whether a slope is that of shorter steps, as it is of waves that are shorter than others."""
    steps = (step / APART**k for k in range(1, 8))
    return any(abs((run(h) - run(-h)) / (2.0 * h) - slope) <= 1e-2 * abs(slope) for h in steps)


def _around(step: float) -> tuple[float, float, float]:
    """Three steps."""
    return step * APART, step, step / APART


def said_of_kink(left: float, right: float) -> str:
    """What is said of a kink."""
    return f"a kink: slope {left:.4g} to the left, {right:.4g} to the right"


# --- one specialisation --------------------------------------------------------------------------


def verify(
    made: Derivative, found: Compiled, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> None:
    """Hold what was generated for some arguments against the function.

    Raises:
        WrongDerivativeError: it is wrong.
    """
    if is_derivative(made.origin) and made.origin.request.verify:
        made.origin.specialised(*args, **{k: v for k, v in kwargs.items() if k != SEED})
    reason = _obstacle(made, found, (args, kwargs))
    reason = reason or _Check(made, found, *copied((args, dict(kwargs)))).reason()
    if reason:
        mode = "tangent" if found.request.mode == "forward" else "gradient"
        said = f"the {mode} of `{named(made.origin)}` is not verified: {reason}"
        made_once(made.origin, ("unverified", said), lambda: _warned(said, made.origin))


def _warned(said: str, f: Any) -> bool:
    """Say something of a function, at its place."""
    place = place_of(f)
    warnings.warn_explicit(said, UnverifiedWarning, place.file or "srcdiff", place.line)
    return True


def _obstacle(made: Derivative, found: Compiled, given: Any) -> str:
    """Why a function is not run again, or its derivative is not that of what it computes."""
    if found.target.on_device:
        return "its arrays are on a device"
    if made.options.saves:
        return "what it keeps goes through the functions of `saved_hooks`"
    if any(hasattr(type(one), "__next__") for one, _ in contents(given)):
        return "an argument is an iterator, which is used up when the function runs again"
    # What has a rule of the user's computes: that is what there are rules for.
    calls = [c for c in effects(_plain_function(made, found)) if _own_rule(c) is None]
    calls += filter(_is_seen, _calls(found))  # in functions that are handed on as well
    if calls:
        return f"{spelling(calls[0])} may do something else when the function runs again"
    call = next(filter(_declares, _calls(found)), None)
    if call is not None:
        return f"{spelling(call)} says what the derivative is, whatever the function computes"
    return "it is a constant: create_graph=False" if _is_constant(made.origin) else ""


def _is_seen(call: ir.Call) -> bool:
    """Whether a call prints, or draws random numbers from a state that all share."""
    return is_op(call, Op.PRINT) or module_of(call.fn).startswith(("numpy.random", "random"))


def _is_constant(f: Any) -> bool:
    """Whether a function is a gradient that has no derivative, or the gradient of one."""
    return is_derivative(f) and (f.options.create_graph is False or _is_constant(f.primal))


def _plain_function(made: Derivative, found: Compiled) -> Any:
    """What was generated, as NumPy runs it."""
    if found.target == ir.HOST:
        return found.function
    return Derivative(made.origin, _options(made, found.kinds)).for_kinds(found.kinds)


def _calls(found: Compiled) -> Iterator[ir.Call]:
    """The calls in the functions that something was generated from."""
    for f, *_ in found.watch.functions:
        function = lowered(f)
        yield from () if function is None else ir.calls(function)


def _declares(call: ir.Call) -> bool:
    """Whether a derivative of a call is what somebody says, such as zero."""
    if is_op(call, Op.STOP_GRADIENT, Op.HOOK, *MODES) or "create_graph" in dict(call.kwargs):
        return True
    rule = _own_rule(call)
    return _is_constant(call.fn) or rule is not None and rule.flavour == "nondifferentiable"


def _own_rule(call: ir.Call) -> Rule | None:
    """The rule of the user's for what is called."""
    rule = None if isinstance(call.fn, (ir.Name, ir.Derived)) else lookup(call.fn)
    return None if rule is None or is_builtin(rule) else rule


def _options(made: Derivative, kinds: ir.Kinds) -> Options:
    """The options of the derivatives that one is compared with."""
    own = made._own
    inputs = tuple(_parts(made, kinds))
    if own.mode == "reverse":
        items = made.request.inputs
        inputs = tuple(spelled(items[k].param, items[k].path) for k in _apart(items))
    outputs = own.outputs
    if own.has_aux:
        outputs = behind_aux(own.outputs, signature_of(made.origin).parameters)
    return Options(
        inputs, outputs, "zeros", strong_zeros=own.strong_zeros, verify="off"
    )


def _apart(items: Sequence[Input]) -> list[int]:
    """Which of some inputs are no parts of others, nor others once more."""
    return [
        k for k, one in enumerate(items)
        if not any(_holds(other, one) and (other != one or j < k) for j, other in enumerate(items))
    ]  # fmt: skip


def _holds(whole: Input, part: Input) -> bool:
    """Whether an input is another one, or a part of it."""
    return whole.param == part.param and part.path[: len(whole.path)] == whole.path


def _parts(made: Derivative, kinds: ir.Kinds) -> Iterator[str]:
    """The inputs of forward mode, the items of `*args` one by one."""
    star = star_of(made.origin)
    name = None if star is None else list(signature_of(made.origin).parameters)[star]
    for item in made.request.inputs:
        kind = kinds[item.param]
        many = item.param == name and isinstance(kind, ir.Tuple) and kind.items or ()
        listed = enumerate(many)
        yield from (f"{name}[{k}]" for k, one in listed if ir.is_active_kind(one))
        if not many:
            yield spelled(item.param, item.path)


_DIVERGE = "differences of the function do not converge"


@frozen
class _Judged:
    """What came of a comparison: nothing, a reason why it says nothing, or what was expected."""

    reason: str = ""
    found: float = 0.0
    size: float = 0.0
    expected: float | None = None
    said: str = ""


class _Check:
    """What was generated of a derivative, and copies of the arguments of a call."""

    def __init__(
        self, made: Derivative, found: Compiled, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        self.made, self.made_now = made, found
        self.given = args, kwargs
        self.point = Point(made.origin, _options(made, found.kinds), args, kwargs)
        self.world = World({"args": args, "kwargs": kwargs}, {})
        watch = found.watch
        self.world.outside = [v for *_, v in watch.names] + [v for v, _ in watch.held]
        self.trouble = ""

    def ran(self, do: Callable[[], Any]) -> Any:
        """What something gives, in the world as it was; None, and `trouble`, where it raises."""
        self.trouble = ""
        try:
            with self.world.as_it_was():
                return do()
        except WrongDerivativeError:
            raise  # of a derivative that the function itself calls
        except Exception as error:  # is what comes of it
            self.trouble = f"{type(error).__name__}: {error}".split("\n")[0]
            return None

    def reason(self) -> str:
        """Why nothing can be told, if that is so; raises where the derivative is wrong."""
        rng, inputs = np.random.default_rng(0), self.point.inputs
        self.outputs = self.ran(lambda: Line(self.point, zeros(inputs)).outputs(0.0))
        if self.trouble:
            return f"the function raises {self.trouble}"
        direction, self.cotangent = scaled_like(rng, inputs), random_like(rng, self.outputs)
        judged = self.judged(direction)
        if judged.expected is not None:
            self.check_each(direction)
        return judged.reason

    @functools.cached_property
    def eps(self) -> float:
        """How far apart the numbers at hand are, the coarsest of them."""
        trees = self.point.inputs, self.outputs
        found = (np.finfo(np.result_type(leaf)).eps for tree in trees for _, leaf in leaves(tree))
        return float(max(found, default=0.0))

    # --- the derivative along a direction, as it was generated, and by the other mode

    @functools.cached_property
    def gradient(self) -> Any:
        """The gradient that was generated, for the random cotangent."""
        (args, kwargs), found = copied(self.given), self.made_now
        request = found.request

        def run() -> Any:
            if isinstance(found, CompiledPair):
                gradients = recorded(found, args, kwargs, True)[1](self.cotangent)
            else:
                gradients = request.gradients_of(found.called(args, kwargs, self.cotangent))
            listed = request.listed(gradients)
            return tuple(listed[k] for k in _apart(request.inputs))

        return self.ran(run)

    @functools.cached_property
    def pulled(self) -> Any:
        """The gradient that forward mode is compared with."""
        return self.ran(lambda: self.point.pullback()[1](self.cotangent))

    def tangent(self, direction: Any) -> Any:
        """The tangent of the outputs that was generated."""
        (args, kwargs), point = copied(self.given), self.point
        tangents = point.tangents(direction)
        found = self.ran(lambda: pushed(self.made_now, args, kwargs, tangents))
        return None if found is None else point.tangent_of_outputs(found[1], found[0])

    def along(self, direction: Any) -> Any:
        """The tangent that reverse mode is compared with."""
        found = self.ran(lambda: self.point.along(direction))
        return None if found is None else found[1]

    def products(self, direction: Any) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
        """What has to have the same inner product, of what was generated and of the other mode."""
        if self.made.options.mode == "forward":
            tangent = self.tangent(direction), self.cotangent
            return tangent, (None if tangent[0] is None else self.pulled, direction)
        gradient = self.gradient, direction
        other = None if gradient[0] is None else self.along(direction)
        return gradient, (other, self.cotangent)

    # --- what comes of a comparison

    def judged(self, direction: Any) -> _Judged:
        """What comes of the comparison along a direction."""
        one, two = self.products(direction)
        if one[0] is None:
            return _Judged(f"it raises {self.trouble}")
        found, size = inner(*one), magnitude(*one)
        crossed = None if two[0] is None else inner(*two)
        step, line = self.eps ** (1.0 / 3.0), Line(self.point, direction)

        def run(t: float) -> float:
            with self.world.as_it_was():  # the same for each run
                return line.product(t, self.cotangent)

        known = self.ran(lambda: differences(run, step))
        if known is None:
            return _Judged(f"the function raises {self.trouble} at arguments nearby")
        judged = self.compared(found, size, crossed, two, known)
        far = judged.expected == known.slope and abs(found - known.slope) > 0.1 * abs(found)
        if far and self.ran(lambda: supported(run, step, found)):
            return _Judged(_DIVERGE)
        return judged

    def compared(
        self, found: float, size: float, crossed: float | None, two: Any, known: Differences
    ) -> _Judged:
        """What comes of a derivative, the other mode and differences along one direction."""
        if not np.isfinite([found, known.slope, known.error, crossed or 0.0]).all():
            return _Judged("there are numbers that are nan or infinite")
        noise = self.eps ** (2.0 / 3.0) * (4.0 * magnitude(self.outputs, self.cotangent) + size)
        allowed = 10.0 * known.error + noise
        largest = max(abs(found), abs(known.slope))
        unsure = 10.0 * known.error > noise + 1e-2 * largest or known.torn > APART * noise + largest
        kink = said_of_kink(*known.sides) if known.bent > noise else ""
        near = abs(found - known.slope) <= allowed
        mode = "reverse" if self.made.options.mode == "forward" else "forward"
        said = "" if crossed is None else f"; {mode} mode: {crossed:.12g}"
        if crossed is not None and (unsure or kink or not near):
            rounded = self.eps**0.5 * (size + magnitude(*two)) + 1e3 * known.noise
            if abs(found - crossed) > rounded:
                by = f"{mode} mode" + (f" ({kink})" if kink else "")
                return _Judged("", found, size, crossed, f"by {by} {crossed:.12g}")
        if kink or unsure:
            return _Judged(kink or _DIVERGE)
        if near:
            return _Judged()
        return _Judged("", found, size, known.slope, f"by differences {known.slope:.12g}{said}")

    def check_each(self, direction: Any) -> None:
        """Raise where the derivative by one of the inputs is wrong.

        It is where it is off by more than the square root of what differences can tell, relative to
        the terms: what a function loses on the way is less, and what is wrong in a rule is more.
        """
        still = zeros(self.point.inputs)
        for path, leaf in leaves(direction):
            one = self.judged(with_leaf(still, path, leaf))
            if one.expected is not None:
                off = abs(one.found - one.expected)
                if off > self.eps ** (1.0 / 3.0) * max(one.size, abs(one.expected)):
                    raise self.wrong(path, leaf, one)

    def wrong(self, path: Path, direction: Any, judged: _Judged) -> WrongDerivativeError:
        """The error for a derivative by one of the inputs."""
        mode = "tangent" if self.made.options.mode == "forward" else "gradient"
        name, here = source_of(self.point, path), at(self.point.inputs, path)
        said = (
            f"the {mode} of `{named(self.made.origin)}` by `{name}` is wrong: along a random "
            f"direction it is {judged.found:.12g}, {judged.said}"
        )
        message = placed(WrongDerivativeError(said), [place_of(self.made.origin)]).args[0]
        message += f"\n  {name} = {_shown(here)}\n  direction = {_shown(direction)}"
        found, expected = judged.found, float(judged.expected or 0.0)
        return WrongDerivativeError(message, name, here, direction, found, expected)


def source_of(point: Point, path: Path, index: tuple[int, ...] = ()) -> str:
    """The spelling of an element of the inputs."""
    form = point.request.form
    labels = [spelled(i.param, i.path) for i in point.request.inputs]
    if form == "bare":
        return labels[0] + element(path, index)
    at_input = path[0] if form == "tuple" else list(form).index(path[0])
    return labels[at_input] + element(path[1:], index)


def element(path: Path, index: tuple[int, ...]) -> str:
    """The spelling of an element of a structure."""
    return spelled("", path) + (f"[{', '.join(map(str, index))}]" if index else "")


def _shown(value: Any) -> str:
    """A value as text on one line."""
    with np.printoptions(threshold=12, edgeitems=3):
        return " ".join(repr(value).split())[:300]


# --- batches -------------------------------------------------------------------------------------


def verified_batch(found: Compiled, function: Callable[..., Any]) -> Callable[..., Any]:
    """A function for a batch, whose first call is held against that for a single one."""
    todo = [True]

    def first(*args: Any, **kwargs: Any) -> Any:
        """The same, compared item by item."""
        if todo:
            _check_batch(found, function, *args, **kwargs)
            todo.clear()
        return function(*args, **kwargs)

    return first


def _check_batch(found: Compiled, function: Callable[..., Any], *args: Any, **kwargs: Any) -> None:
    """Raise unless a batch gives what its first and last item give alone."""
    given, named_ = copied((args, kwargs))
    many = function(*given, **named_)
    forward = found.request.mode == "forward"
    size = kwargs[last_params(function, 1)[0]] if forward else args[-1]
    for k in dict.fromkeys((0, size - 1)):
        one = (_pushed_alone if forward else _pulled_alone)(found, function, k, args, kwargs)
        for path, part in leaves(one):
            item = at(many[1] if forward else many, path)[k]
            scale = np.max(np.abs(part), initial=0.0)
            allowed = np.finfo(np.result_type(part)).eps ** 0.5 * scale
            if np.isfinite(scale) and not np.all(np.abs(item - part) <= allowed):
                raise _wrong_in_batch(found, item, part)


def _pulled_alone(found: Any, function: Any, k: int, args: Any, kwargs: Any) -> Any:
    """The gradients for one of a batch of cotangents."""
    residuals, cotangents, _ = args
    return found.backward(copied(residuals), taken(cotangents, k))


def _pushed_alone(found: Any, function: Any, k: int, args: Any, kwargs: Any) -> Any:
    """The tangent for one of a batch of directions."""
    count = len(found.request.inputs)
    *names, size = last_params(function, count + 1)
    primals, others = copied((args, {n: v for n, v in kwargs.items() if n not in (*names, size)}))
    return pushed(found, primals, others, tuple(taken(kwargs[n], k) for n in names))[1]


def _wrong_in_batch(found: Compiled, item: Any, one: Any) -> WrongDerivativeError:
    """The error for an item of a batch that is not what it is alone."""
    off = np.argmax(np.abs(np.asarray(item) - one))
    pair = float(np.abs(np.ravel(item)[off])), float(np.abs(np.ravel(one)[off]))
    what = "tangents" if found.request.mode == "forward" else "gradients"
    said = (
        f"the {what} of `{named(found.origin)}` for a batch are wrong: an element is {pair[0]:.12g}"
        f" in it, and alone {pair[1]:.12g}"
    )
    message = placed(WrongDerivativeError(said), [place_of(found.origin)]).args[0]
    return WrongDerivativeError(message, found=pair[0], expected=pair[1])
