"""`gradcheck` and `gradgradcheck`: derivatives against differences, element by element.

Take a function at some arguments; compare its Jacobian with differences of its values in reverse
and forward mode, and raise where an element disagrees, with the place of the element.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ParamSpec, TypedDict, TypeVar, overload

import numpy as np

from srcdiff.api.batch import batched, with_cotangent
from srcdiff.api.matrices import pushed
from srcdiff.api.point import Point
from srcdiff.api.run import active_parameters
from srcdiff.api.verify import Line, element, said_of_kink, source_of
from srcdiff.driver.callables import with_keywords
from srcdiff.driver.derivative import Derivative
from srcdiff.driver.options import Options, check_unambiguous
from srcdiff.driver.pullback import Pullback
from srcdiff.driver.structures import (
    Path,
    at,
    inner,
    leaves,
    plus,
    random_like,
    unit,
    with_leaf,
    with_leaves,
    zeros,
)
from srcdiff.errors import GradcheckError, entry, level_outside
from srcdiff.frontend.request import spelled
from srcdiff.ir.frozen import frozen, replace
from srcdiff.runtime.trees import kept

if TYPE_CHECKING:
    from typing_extensions import Unpack

F = TypeVar("F", bound=Callable[..., Any])
P = ParamSpec("P")
Function = Callable[[Any], Any]


@frozen
class Wrong:
    """One element of a Jacobian that differs from differences."""

    mode: str
    source: str
    target: str
    found: float
    expected: float
    kink: str = ""

    def __str__(self) -> str:
        return (
            f"  d {self.target} / d {self.source} ({self.mode}): analytic {self.found:.8g}, "
            f"numeric {self.expected:.8g}{self.kink}"
        )


Column = tuple[Path, tuple[int, ...], Any]
"""An element of a structure: its path and index, and the direction along it."""


class Check:
    """A function at some arguments, with its Jacobian by differences of a step.

    They agree with derivatives up to `tolerances`: an absolute and a relative one.
    """

    def __init__(
        self,
        f: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        inputs: Any,
        outputs: Any,
        eps: float,
        tolerances: tuple[float, float] = (0.0, 0.0),
    ) -> None:
        names = active_parameters(f, args, kwargs) if inputs is None else inputs
        options = Options(names, outputs, unused="zeros")
        self.point = Point(f, options, args, kwargs)
        self.eps, self.tolerances = eps, tolerances
        self.at = self.point.inputs
        self.columns = list(_columns(self.at))

    def moved(self, path: Path, unit: Any, step: float) -> Any:
        """The outputs where one element of the inputs is moved."""
        return self.point.outputs_at(plus(self.at, step, [(path, unit)]))

    def slope(self, path: Path, unit: Any) -> dict[Path, Any]:
        """The central difference of the outputs along a direction of one leaf of the inputs."""
        right = dict(leaves(self.moved(path, unit, self.eps)))
        left = dict(leaves(self.moved(path, unit, -self.eps)))
        return {p: (right[p] - left[p]) / (2.0 * self.eps) for p in right}

    def kink(self, path: Path, unit: Any, place: Path, index: tuple[int, ...]) -> str:
        """What the differences to both sides say, where they do not agree."""
        here = at(self.point.outputs_at(self.at), place)
        sides = [
            (at(self.moved(path, unit, step), place) - here) / step
            for step in (-self.eps, self.eps)
        ]
        return _kink(*(np.asarray(s)[index] + 0.0 for s in sides))

    def agree(self, found: float, expected: float) -> bool:
        """Whether an analytic and a numeric derivative agree: finite, or both of them nan."""
        atol, rtol = self.tolerances
        near = abs(found - expected) <= atol + rtol * abs(expected) < np.inf
        return near or bool(np.isnan(found) and np.isnan(expected))

    def wrong(
        self, mode: str, column: Column, place: Path, index: tuple[int, ...], a: float, b: float
    ) -> Wrong:
        """A derivative by an element of the inputs that differs from differences."""
        path, source, move = column
        target = "output" + element(place, index)
        kink = self.kink(path, move, place, index)
        return Wrong(mode, source_of(self.point, path, source), target, a, b, kink)


def _kink(left: Any, right: Any) -> str:
    """That slopes to both sides do not agree, if so."""
    if abs(left - right) <= 1e-2 * max(abs(left), abs(right), 1e-3):
        return ""
    return f" ({said_of_kink(left, right)})"


def _columns(tree: Any) -> Iterator[Column]:
    """The elements of a structure, real and imaginary part, with the direction of each."""
    for path, leaf in leaves(tree):
        for index in np.ndindex(np.shape(leaf)):
            for factor in (1.0, 1j) if np.iscomplexobj(leaf) else (1.0,):
                yield path, index, unit(leaf, index, factor)


# --- comparing ---------------------------------------------------------------------------------


def _reverse(check: Check, numeric: list[dict[Path, Any]]) -> Iterator[Wrong]:
    """The elements of the Jacobian that reverse mode gets wrong."""
    value, pull = check.point.pullback()
    output = check.point.output(value)
    for place, index, seed in _columns(output):
        gradient = pull(with_leaf(zeros(output), place, seed))
        for column, slopes in zip(check.columns, numeric):
            path, source, move = column
            found = _entry(at(gradient, path), source, move)
            expected = _entry(slopes[place], index, seed)
            if not check.agree(found, expected):
                yield check.wrong("reverse", column, place, index, found, expected)


def _entry(gradient: Any, index: tuple[int, ...], unit: Any) -> float:
    """The element of a gradient that a unit vector selects: its real or its imaginary part."""
    return inner(np.asarray(gradient)[index], np.asarray(unit)[index])


def _forward(check: Check, numeric: list[dict[Path, Any]]) -> Iterator[Wrong]:
    """The elements of the Jacobian that forward mode gets wrong."""
    still = zeros(check.at)
    for column, slopes in zip(check.columns, numeric):
        path, _, move = column
        _, tangent = check.point.along(with_leaf(still, path, move))
        for place, expected in slopes.items():
            found = np.asarray(at(tangent, place))
            for index in np.ndindex(np.shape(expected)):
                a, b = complex(found[index]), complex(np.asarray(expected)[index])
                pairs = ((a.real, b.real), (a.imag, b.imag))
                off = next((pair for pair in pairs if not check.agree(*pair)), None)
                if off is not None:
                    yield check.wrong("forward", column, place, index, *off)


def _along(check: Check, modes: Sequence[str]) -> list[Wrong]:
    """Both modes along one random direction, between random cotangents and tangents."""
    rng = np.random.default_rng(0)
    direction = random_like(rng, check.at)
    line = Line(check.point, direction)
    moved = [line.outputs(s * check.eps) for s in (1.0, 0.0, -1.0)]
    cotangent = random_like(rng, moved[0])
    right, here, left = (inner(m, cotangent) for m in moved)
    expected = (right - left) / (2.0 * check.eps)
    kink = _kink((here - left) / check.eps, (right - here) / check.eps)
    found: dict[str, float] = {}
    if "reverse" in modes:
        gradient = check.point.pullback()[1](cotangent)
        found["reverse"] = inner(gradient, direction)
    if "forward" in modes:
        found["forward"] = inner(cotangent, check.point.along(direction)[1])
    names = "a random direction of the inputs", "a random combination of the outputs"
    wrong = ((m, a) for m, a in found.items() if not check.agree(a, expected))
    return [Wrong(m, *names, a, expected, kink) for m, a in wrong]


def _everything(check: Check, modes: Sequence[str]) -> list[Wrong]:
    """Every element of the Jacobian."""
    numeric = [check.slope(path, unit) for path, _, unit in check.columns]
    wrong: list[Wrong] = []
    if "reverse" in modes:
        wrong += _reverse(check, numeric)
    if "forward" in modes:
        wrong += _forward(check, numeric)
    return wrong


# --- the checks -----------------------------------------------------------------------------------


MOST = 12
"""How many wrong elements a report shows."""


class OfChecks(TypedDict, total=False):
    """The options of `gradcheck`."""

    inputs: Any
    outputs: Any
    eps: float
    atol: float
    rtol: float
    raise_exception: bool
    nondet_tol: float
    check_grad_dtypes: bool
    check_batched_grad: bool
    check_forward_ad: bool
    check_backward_ad: bool
    check_batched_forward_grad: bool
    fast_mode: bool


@frozen
class Asked:
    """The options of `gradcheck`, and what they are where they are not given."""

    inputs: Any = None
    outputs: Any = None
    eps: float = 1e-6
    atol: float = 1e-5
    rtol: float = 1e-3
    raise_exception: bool = True
    nondet_tol: float = 0.0
    check_grad_dtypes: bool = False
    check_batched_grad: bool = False
    check_forward_ad: bool = False
    check_backward_ad: bool = True
    check_batched_forward_grad: bool = False
    fast_mode: bool = False


def shows(asked: Any) -> Callable[[F], F]:
    """What makes a function a check: its signature shows options."""

    def decorate(f: Any) -> Any:
        called = entry(f)
        options = {name: getattr(asked, name) for name in asked.__srcdiff_fields__}
        called.__signature__ = with_keywords(inspect.signature(f), **options)  # type: ignore[attr-defined]
        return called

    return decorate


@overload
def gradcheck(f: Callable[P, Any], /, **options: Unpack[OfChecks]) -> Callable[P, bool]: ...
@overload
def gradcheck(f: Callable[..., Any], /, args: Any, **given: Any) -> bool: ...
@shows(Asked())
def gradcheck(f: Callable[..., Any], /, args: Any = None, **given: Any) -> Any:
    """Whether the derivatives of a function agree with central differences.

    Args:
        f: the function.
        args: its positional arguments, in a tuple or list; an array stands for itself alone.
        inputs, outputs: as in `grad`; None for all arguments that can carry a derivative.
        eps: the step of the differences.
        atol, rtol: they agree where `|analytic - numeric| <= atol + rtol * |numeric|`.
        raise_exception: raise where they do not agree, instead of returning False.
        nondet_tol: by how much two runs of the derivative may differ.
        check_grad_dtypes: check that gradients have the dtypes of their inputs.
        check_batched_grad: check that a batch of cotangents gives what they give one by one.
        check_forward_ad, check_backward_ad: which modes are checked; one at least.
        check_batched_forward_grad: check that a batch of tangents gives what they give one by one.
        fast_mode: one random direction instead of every element.
        given: keyword arguments of the function, which may not be called as an option is.

    Returns:
        True.  Without `args`, a function that takes those of `f`, whatever they are called.

    Raises:
        ValueError: no mode is checked, or a batch of one that is not.
        GradcheckError: they do not agree; the message names input, element, both numbers, and
            says where the function has a kink.

    >>> import numpy as np
    >>> import srcdiff
    >>> srcdiff.testing.gradcheck(lambda x, y: np.sin(x) * y, (np.array([0.3, 0.7]), 2.0))
    True
    >>> srcdiff.testing.gradcheck(lambda x, eps: x * x + eps, inputs="x")(0.3, eps=2.0)
    True
    """
    return checked_by("gradcheck", _checked, f, args, given, Asked)


def checked_by(
    name: str, run: Any, f: Any, args: Any, given: Mapping[str, Any], of: Any, like: Any = None
) -> Any:
    """What a check says of a function at some arguments; without them, a function of these.

    What `f` is like has its parameters.

    Raises:
        TransformError: the function may mean an option itself.
    """
    known = of.__srcdiff_fields__
    options = {key: value for key, value in given.items() if key in known}
    kwargs = {key: value for key, value in given.items() if key not in known}
    if args is None:
        if kwargs:
            raise TypeError(f"there is no option {[*kwargs][0]!r}; they are {', '.join(known)}")
        return functools.partial(entry(run), f, of(**options))
    check_unambiguous(f, options, name, like)
    args = args if isinstance(args, (tuple, list)) else (args,)
    return run(f, of(**options), *args, **kwargs)


def _checked(f: Any, asked: Asked, /, *args: Any, **kwargs: Any) -> bool:
    """Whether derivatives agree with differences at some arguments."""
    batches = asked.check_batched_grad, asked.check_batched_forward_grad
    forward, backward = asked.check_forward_ad, asked.check_backward_ad
    _check_modes(forward, backward, *batches)
    tolerances = asked.atol, asked.rtol
    check = Check(f, args, kwargs, asked.inputs, asked.outputs, asked.eps, tolerances)
    _warn_single(check)
    modes = [m for m, on in (("reverse", backward), ("forward", forward)) if on]
    wrong = (_along if asked.fast_mode else _everything)(check, modes)
    report = [_title(f, wrong), *map(str, wrong[:MOST])] if wrong else []
    if len(wrong) > MOST:
        report.append(f"  and {len(wrong) - MOST} more")
    if backward:
        report += _further(check, asked)
    if asked.check_batched_forward_grad:
        report += _batch_of_tangents(check)
    if report and asked.raise_exception:
        raise GradcheckError("\n".join(report))
    return not report


def _check_modes(forward: bool, backward: bool, batch: bool, batch_forward: bool) -> None:
    """Raise where nothing is checked, or what is not differentiated."""
    text = "Setting check_batched{}_grad=True requires check_{}_ad to be True"
    if not (forward or backward):
        names = "check_forward_ad or check_backward_ad"
        raise ValueError(f"Expected at least one of {names} to be True")
    if batch and not backward:
        raise ValueError(text.format("", "backward"))
    if batch_forward and not forward:
        raise ValueError(text.format("_forward", "forward"))


def _title(f: Any, wrong: list[Wrong]) -> str:
    name = getattr(f, "__name__", type(f).__name__)
    kinks = sum(bool(w.kink) for w in wrong)
    at_kinks = f", {kinks} of them at a kink" if kinks else ""
    count = f"{len(wrong)} element{'s' if len(wrong) != 1 else ''}"
    return f"the Jacobian of `{name}` does not agree with differences: {count}{at_kinks}"


def _warn_single(check: Check) -> None:
    for _, leaf in leaves(check.at):
        if np.result_type(leaf).itemsize < (16 if np.iscomplexobj(leaf) else 8):
            warnings.warn(
                f"an input has dtype {np.result_type(leaf)}: differences need double precision, "
                "and this check will likely fail",
                stacklevel=level_outside(),
            )
            return


def _further(check: Check, asked: Asked) -> list[str]:
    """What else is asked of the gradients."""
    value, pull = check.point.pullback()
    output = check.point.output(value)
    cotangent = random_like(np.random.default_rng(1), output)
    first, second = pull(cotangent), check.point.pullback()[1](cotangent)
    report: list[str] = []
    again = dict(leaves(second))
    off = max((np.max(np.abs(g - again[p]), initial=0.0) for p, g in leaves(first)), default=0.0)
    if off > asked.nondet_tol:
        most = f"{asked.nondet_tol:.3g}"
        report.append(f"two runs of the gradient differ by {off:.3g}, more than {most}")
    if asked.check_grad_dtypes:
        mine = dict(leaves(first))
        for path, leaf in leaves(check.at):
            if np.result_type(mine[path]) != np.result_type(leaf):
                report.append(
                    f"the gradient of {source_of(check.point, path)} has dtype "
                    f"{np.result_type(mine[path])}, the input {np.result_type(leaf)}"
                )
    if asked.check_batched_grad:
        report += _batch_of_cotangents(check, pull, output)
    return report


def _batch(
    seed: int, like: Any, many: Function, single: Function, said: Callable[[Path], str]
) -> list[str]:
    """Whether a batch of random numbers gives what they give one by one."""
    rng = np.random.default_rng(seed)
    each = [random_like(rng, like) for _ in range(3)]
    together = {p: np.stack([at(m, p) for m in each]) for p, _ in leaves(like)}
    found = dict(leaves(many(with_leaves(like, together))))
    for k, one in enumerate(each):
        for path, part in leaves(single(one)):
            tol = 1e3 * np.finfo(np.result_type(part)).eps
            if not np.allclose(found[path][k], part, rtol=tol, atol=tol):
                return [f"the batched {said(path)} differs"]
    return []


def _batch_of_cotangents(check: Check, pull: Pullback, output: Any) -> list[str]:
    """Whether a batch of cotangents gives what they give one by one."""
    return _batch(
        2, output, lambda many: batched(pull, many, output, check.at), pull,
        lambda path: f"gradient of {source_of(check.point, path)}",
    )  # fmt: skip


def _batch_of_tangents(check: Check) -> list[str]:
    """Whether a batch of tangents gives what they give one by one."""
    return _batch(
        4, check.at, lambda many: pushed(check.point, many, check.at, 3)[1],
        lambda one: check.point.along(one)[1],
        lambda path: f"tangent of {spelled('the output', path)}",
    )  # fmt: skip


@frozen
class AskedTwice(Asked):
    """Those of `gradgradcheck`."""

    grad_outputs: Any = None


@overload
def gradgradcheck(
    f: Callable[P, Any], /, *, grad_outputs: Any = None, **options: Unpack[OfChecks]
) -> Callable[P, bool]: ...
@overload
def gradgradcheck(
    f: Callable[..., Any], /, args: Any, grad_outputs: Any = None, **given: Any
) -> bool: ...
@shows(Asked())
def gradgradcheck(
    f: Callable[..., Any], /, args: Any = None, grad_outputs: Any = None, **given: Any
) -> Any:
    """Whether the second derivatives of a function agree with differences of the first.

    The gradient is checked as a function of the arguments and of the cotangent.

    Args:
        f, args, inputs, outputs: as in `gradcheck`.
        grad_outputs: a cotangent; random numbers if None.
        given: the other options of `gradcheck`, and keyword arguments of the function.

    Returns:
        True; without `args`, a function of those of `f`.

    Raises:
        GradcheckError: they do not agree.

    >>> import numpy as np
    >>> import srcdiff
    >>> srcdiff.testing.gradgradcheck(lambda x: np.sum(x ** 3), (np.array([0.3, 0.7]),))
    True
    """
    given = {**given, "grad_outputs": grad_outputs} if grad_outputs is not None else given
    return checked_by("gradgradcheck", _checked_twice, f, args, given, AskedTwice)


def _checked_twice(f: Any, asked: AskedTwice, /, *args: Any, **kwargs: Any) -> bool:
    """Whether second derivatives agree with differences at some arguments."""
    check = Check(f, args, kwargs, asked.inputs, asked.outputs, 1e-6)
    value, _ = check.point.pullback()
    output, grad_outputs = check.point.output(value), asked.grad_outputs
    if grad_outputs is None:
        grad_outputs = random_like(np.random.default_rng(3), output)
    made: Derivative = check.point.made
    function, seed = with_cotangent(made, check.point.values)
    full = {**check.point.kwargs, seed: kept(grad_outputs)}
    names = (*check.point.params, seed)
    return _checked(function, replace(asked, inputs=names, outputs=None), *check.point.args, **full)
