"""The verdict on a program: its gradient is right, refused, wrong, or could not be computed."""

from __future__ import annotations

import copy
import functools
import os
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any

import numpy as np

import srcdiff
from srcdiff.errors import (
    SrcdiffError,
    TransformError,
    UnsupportedError,
    UnusedInputError,
    ValidationError,
)
from tests.support import structures as st
from tests.support.differences import (
    Problem,
    assert_form,
    assert_unchanged,
    define,
    difference,
    is_scalar,
    magnitude,
    positional,
    with_cotangent,
)

PACKAGE = os.path.dirname(srcdiff.__file__) + os.sep

RIGHT, REFUSED, CRASHED, WRONG, INVALID = "RIGHT", "REFUSED", "CRASHED", "WRONG", "INVALID"
LARGEST = 1e4  # programs whose values or slopes are larger are not judged
EVERYTHING = ("value", "pair", "gradient", "tangent", "shared", "single", "twice")
TURNS = (
    ("gradient", "tangent", "twice"), ("value", "shared"), ("pair", "tangent"),
    ("gradient", "tangent", "single"), ("value", "tangent"), ("pair",),
)  # fmt: skip
"""Of what is judged, in turn: every text that is generated takes time."""
TOLERANCE = 1e-6
ROUNDING = 1e-9  # of the sums in two orders, of which terms may be larger than the result
SINGLE = 1e-2  # the same in single precision
SECONDS = 3  # a program that takes longer to run hangs
LONGEST = 60  # and to transform
FAILURES = (ArithmeticError, LookupError, NameError, TypeError, ValueError, RecursionError)


Cases = list[tuple[Any, Any, float, float]]
"""Directions and cotangents, with the slope by differences and its error."""


@dataclass(frozen=True)
class Verdict:
    """What became of one program, and why."""

    kind: str
    reason: str = ""
    where: str = ""

    @property
    def bad(self) -> bool:
        """Whether the program shows a mistake of srcdiff."""
        return self.kind in (CRASHED, WRONG)

    @property
    def label(self) -> str:
        """What a reduction must keep: the verdict, and for a crash the place; or the pass."""
        return f"{self.kind} {self.where}".strip()


class HangError(Exception):
    """A program takes too long."""


@contextmanager
def limited(seconds: int) -> Iterator[None]:
    """An alarm around what may not end, by the time that this process computes."""

    def ring(*_: Any) -> None:
        raise HangError(f"no result after {seconds} s")

    before = signal.signal(signal.SIGPROF, ring)
    # Again and again, for an exception in a finalizer is lost.
    signal.setitimer(signal.ITIMER_PROF, seconds, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


def turn(seed: int) -> tuple[str, ...]:
    """What is judged of the program of a seed."""
    return TURNS[seed % len(TURNS)]


def judge_text(text: str, args: tuple[Any, ...], parts: Sequence[str] = EVERYTHING) -> Verdict:
    """The verdict on the function `f` of a module's text."""
    try:
        function = define(text, "f", {"np": np})
    except (SyntaxError, TypeError, ValueError, KeyError, NameError) as error:
        return Verdict(INVALID, str(error))
    if not callable(function):
        return Verdict(INVALID, "no function")  # what a reduction leaves
    return judge(function, args, parts=parts)


def judge(
    function: Callable[..., Any],
    args: tuple[Any, ...],
    inputs: Any = None,
    seed: int = 1,
    parts: Sequence[str] = EVERYTHING,
) -> Verdict:
    """The verdict on a function at some arguments, for all that can have a derivative."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        if inputs is None:
            inputs = _inputs(function, args)
        problem = Problem(function, args, inputs)
        before = _outside(function)
        cases = _cases(problem, seed)
        if isinstance(cases, Verdict):
            return cases
        if _outside(function) != before:
            return Verdict(INVALID, "an array from outside is written into")
        for part in parts:
            found = _judged(_JUDGES[part], problem, cases)
            if _outside(function) != before:
                return Verdict(WRONG, f"{part}: an array from outside was changed")
            if found.kind == REFUSED and "tangent" in parts:
                ahead = _judged(_along, problem, cases)
                return ahead if ahead.bad else found
            if found.kind != RIGHT:
                return found
        return Verdict(RIGHT)


def _judged(part: Callable[[Problem, Cases], Verdict], problem: Problem, cases: Cases) -> Verdict:
    """The verdict on one of the parts."""
    try:
        with limited(LONGEST):
            return part(problem, cases)
    except AssertionError as failed:
        if traceback.extract_tb(failed.__traceback__)[-1].filename.startswith(PACKAGE):
            return Verdict(CRASHED, f"AssertionError: {failed}", _place(failed))
        return Verdict(WRONG, str(failed))
    except SrcdiffError as error:
        return _refusal(error)
    except Exception as error:
        return Verdict(CRASHED, f"{type(error).__name__}: {error}", _place(error))


def _outside(function: Callable[..., Any]) -> list[bytes]:
    """What the arrays hold that a function sees beside its arguments."""
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    found = [v for k, v in function.__globals__.items() if not k.startswith("__")]
    seen = st.arrays([*found, *cells, *(function.__defaults__ or ())])
    return [array.tobytes() for array in seen]


def _along(problem: Problem, cases: Cases) -> Verdict:
    """Tangents against slopes by differences."""
    for direction, cotangent, slope, error in cases:
        found = _tangent(problem, direction, cotangent)
        if not np.isfinite(found) and _overflows(problem):
            return Verdict(INVALID, "a value is infinite or nan")
        if not abs(found - slope) <= TOLERANCE * max(abs(slope), 1.0) + 4 * error:
            along = functools.partial(_tangent, direction=direction, cotangent=cotangent)
            if _jump(problem, along, direction) > 0.1 * abs(found - slope):
                return Verdict(INVALID, "a derivative of rounding errors")
            if _grows(problem):
                return Verdict(INVALID, "a number on the way is large")
            return Verdict(WRONG, f"slope {slope}, found {found}")
    return Verdict(RIGHT)


def _dual(problem: Problem, cases: Cases) -> Verdict:
    """Whether <ct, J u> = <J^T ct, u>, but for rounding: the two modes against each other."""
    direction, cotangent, *_ = cases[0]
    gradient = problem.gradient(_by_gradient(problem), cotangent)
    try:
        ahead = _tangent(problem, direction, cotangent)
    except UnsupportedError as error:
        return Verdict(RIGHT, f"no tangent: {error}")
    return _off(ahead, st.inner(gradient, direction), magnitude(gradient, direction))


def _single(problem: Problem, cases: Cases) -> Verdict:
    """The same in single precision, where numbers of two dtypes meet."""
    near = copy.copy(problem)
    near.names, near.at = _narrow(problem.names), _narrow(problem.at)
    direction = _narrow(cases[0][0])
    cotangent = st.random_like(np.random.default_rng(5), near.output())
    g = _by_gradient(problem)
    gradient = near.gradient(g, cotangent)
    try:
        ahead = _tangent(near, direction, cotangent)
    except UnsupportedError as error:
        return Verdict(RIGHT, f"no tangent: {error}")
    size = SINGLE / ROUNDING * (1.0 + abs(ahead) + 100 * magnitude(gradient, direction))
    found = _off(ahead, st.inner(gradient, direction), size)
    by_gradient = functools.partial(_inner, g=g, cotangent=cotangent, direction=direction)
    if found.kind == WRONG and _jump(near, by_gradient, direction, 1e-6) > 0.1 * SINGLE:
        return Verdict(INVALID, "a derivative of rounding errors")
    return found


def _narrow(value: Any) -> Any:
    """Arrays of single precision in the place of others."""
    found: dict[int, Any] = {}  # an array that is there twice stays one

    def one(x: Any) -> Any:
        if not isinstance(x, np.ndarray):
            return x
        return found.setdefault(id(x), x.astype(np.float32))

    return st.mapped(one, value)


def _off(ahead: float, back: float, size: float) -> Verdict:
    """Whether two slopes by derivatives are further from each other than rounding brings them."""
    if abs(ahead - back) <= ROUNDING * max(abs(ahead), abs(back), size, 1.0):
        return Verdict(RIGHT)
    if not np.isfinite(ahead) and not np.isfinite(back):
        return Verdict(INVALID, "a derivative is infinite")
    return Verdict(WRONG, f"dual: the tangent gives {ahead}, the gradient {back}")


def _tangent(problem: Problem, direction: Any, cotangent: Any) -> Any:
    """The slope of a function along a direction, by its tangent."""
    names = problem.arguments()
    args, kwargs = positional(problem.function, names)
    moves = dict(zip(problem.inputs, direction, strict=True))
    tangents = tuple(moves.get(n) for n in list(names)[: len(args)])
    _, tangent = srcdiff.jvp(problem.function, unused="zeros")(*args, tangents=tangents, **kwargs)
    assert_unchanged(problem.names, names)
    return st.inner(cotangent, tangent)


def _inner(
    problem: Problem, g: Callable[..., Any], cotangent: Any, direction: Any, **extra: Any
) -> Any:
    """The slope of a function along a direction, by its gradient."""
    with_extra = functools.partial(g, **extra) if extra else g
    return st.inner(problem.gradient(with_extra, cotangent), direction)


def _inputs(function: Callable[..., Any], args: tuple[Any, ...]) -> tuple[str, ...]:
    """The parameters that hold floating point numbers only."""
    names = st.bound_arguments(function, args)
    number = {k: list(map(st.is_number, st.leaves(v))) for k, v in names.items()}
    return tuple(k for k, found in number.items() if found and all(found))


def _cases(problem: Problem, seed: int) -> Verdict | Cases:
    """Directions and cotangents with the slope by differences; a verdict where there is none."""
    rng = np.random.default_rng(seed)
    cases = []
    try:
        for _ in range(2):
            with limited(SECONDS):
                value = problem.output()
                direction = st.random_like(rng, problem.at)
                cotangent = st.random_like(rng, value)
                slope, error = problem.slope(direction, cotangent)
            sizes = [np.max(np.abs(v), initial=0.0) for v in st.leaves(value) if st.is_number(v)]
            if not sizes or not max(*sizes, abs(slope)) < LARGEST:
                return Verdict(INVALID, "not finite, or large")
            if error > 1e-7 * max(1.0, abs(slope)):
                return Verdict(INVALID, "not smooth")
            cases.append((direction, cotangent, slope, error))
    except Exception as error:
        return Verdict(INVALID, f"{type(error).__name__}: {error}")
    return cases


def _sloped(
    way: Callable[[Problem], Callable[..., Any]], problem: Problem, cases: Cases
) -> Verdict:
    """Gradients, which come in one way or another, against slopes by differences."""
    g = way(problem)
    for direction, cotangent, slope, error in cases:
        found = st.inner(problem.gradient(g, cotangent), direction)
        if not np.isfinite(found) and _divides_by_zero(problem, g, cotangent):
            return Verdict(INVALID, "a derivative is infinite")  # that of sqrt(0)
        if not np.isfinite(found) and _overflows(problem):
            return Verdict(INVALID, "a value is infinite or nan")  # and is overwritten, or tamed
        if not abs(found - slope) <= TOLERANCE * max(abs(slope), 1.0) + 4 * error:
            by_gradient = functools.partial(_inner, g=g, cotangent=cotangent, direction=direction)
            if _jump(problem, by_gradient, direction) > 0.1 * abs(found - slope):
                return Verdict(INVALID, "a derivative of rounding errors")  # std of equal numbers
            if not _agree(problem, direction, cotangent, slope):
                return Verdict(INVALID, "differences do not agree")  # the sine of 1e4 x
            if _grows(problem):
                return Verdict(INVALID, "a number on the way is large")
            return Verdict(WRONG, f"slope is {found}, differences give {slope}")
    return Verdict(RIGHT)


def _by_gradient(problem: Problem) -> Callable[..., Any]:
    """The gradient alone."""
    g: Callable[..., Any] = srcdiff.grad(problem.function, problem.inputs, materialize_grads=True)
    return g


def _by_value(problem: Problem) -> Callable[..., Any]:
    """The gradient with the value, which has to be that of the function."""
    both = srcdiff.value_and_grad(problem.function, problem.inputs, materialize_grads=True)

    def gradient(*args: Any, grad_outputs: Any, **kwargs: Any) -> Any:
        expected = problem.function(*copy.deepcopy(args), **copy.deepcopy(kwargs))
        value, found = both(*args, grad_outputs=grad_outputs, **kwargs)
        _assert_same("value", expected, value, 1e-12)
        return found

    return gradient


def _by_pair(problem: Problem) -> Callable[..., Any]:
    """The two parts of a derivative, the second of them run twice."""
    plain = _by_gradient(problem)

    def gradient(*args: Any, grad_outputs: Any, **kwargs: Any) -> Any:
        expected = problem.function(*copy.deepcopy(args), **copy.deepcopy(kwargs))
        options = {"inputs": problem.inputs, "unused": "zeros"}
        try:
            value, pullback = srcdiff.vjp(problem.function, *args, **options, **kwargs)
        except (UnsupportedError, UnusedInputError):
            return plain(*args, grad_outputs=grad_outputs, **kwargs)
        _assert_same("value", expected, value, 1e-12)
        found = pullback(grad_outputs)
        _assert_same("second pullback", found, pullback(grad_outputs), 1e-9)
        return found

    return gradient


def _assert_same(what: str, expected: Any, found: Any, tolerance: float) -> None:
    """What a derivative gives is what it has to be."""
    for x, y in _pairs(expected, found):
        same = not st.is_numeric(x) or np.allclose(x, y, tolerance, tolerance, equal_nan=True)
        assert same, f"{what} is {y}, expected {x}"


def _divides_by_zero(problem: Problem, g: Callable[..., Any], cotangent: Any) -> bool:
    """Whether the derivative of some function in the program is infinite at its argument."""
    try:
        with np.errstate(divide="raise"):
            problem.gradient(g, cotangent)
    except FloatingPointError:
        return True
    return False


def _agree(problem: Problem, direction: Any, cotangent: Any, slope: float) -> bool:
    """Whether the plain difference of a small step is the extrapolated one."""
    step = 1e-6
    ends = (problem.output(st.plus(problem.at, t, direction)) for t in (step, -step))
    one, two = (st.inner(cotangent, end) for end in ends)
    return bool(abs((one - two) / (2 * step) - slope) <= 1e-3 * max(abs(slope), 1.0))


def _overflows(problem: Problem) -> bool:
    """Whether a number becomes nan, or too large for its dtype, on the way to the result."""
    try:
        with np.errstate(over="raise", invalid="raise"):
            problem.output(_told(problem.at))
    except FloatingPointError:
        return True
    return False


def _grows(problem: Problem) -> bool:
    """Whether a variable ends as a number in which the steps of differences are lost."""
    sizes = [0.0]

    def look(frame: FrameType, event: str, _: Any) -> None:
        if event == "return" and frame.f_code.co_filename.startswith("<checked"):
            found = (v for value in frame.f_locals.values() for v in st.leaves(value))
            sizes.extend(np.max(np.abs(v), initial=0.0) for v in found if st.is_number(v))

    sys.setprofile(look)
    try:
        problem.output()
    finally:
        sys.setprofile(None)
    return not max(sizes) < 1e9


def _told(value: Any) -> Any:
    """Values with numbers of NumPy in place of Python's own, which overflow without a word."""
    if isinstance(value, (tuple, list)):
        return type(value)(map(_told, value))
    if isinstance(value, dict):
        return {key: _told(item) for key, item in value.items()}
    return np.float64(value) if type(value) is float else value


def _jump(
    problem: Problem, slope: Callable[[Problem], Any], direction: Any, step: float = 1e-9
) -> float:
    """How much a slope by a derivative changes between points that are very near to each other."""
    found = []
    for k in range(9):
        near = copy.copy(problem)
        values = st.plus(problem.at, k * step, direction)
        near.names = st.replaced(problem.function, problem.inputs, problem.names, values)
        found.append(slope(near))
    return float(np.ptp(found))


def _shared(problem: Problem, cases: Cases) -> Verdict:
    """One array given for several parameters: right, or refused where it is written into."""
    names = problem.arguments()
    flat = [n for n, v in names.items() if isinstance(v, np.ndarray) and v.ndim == 1]
    if len(flat) < 2:
        return Verdict(RIGHT)
    one, two = flat[:2]
    length = min(len(names[one]), len(names[two]))
    for k in range(2):
        names = problem.arguments()  # those of the case before are changed
        base = np.concatenate([names[one], names[two][:1]])
        found = _given(problem, {**names, one: base[:length], two: base[k : k + length]})
        if found.kind != RIGHT:
            return found
    return Verdict(RIGHT)


def _given(problem: Problem, names: dict[str, Any]) -> Verdict:
    """What is wrong for arguments that share memory, if anything is."""
    g = srcdiff.value_and_grad(problem.function, problem.inputs, materialize_grads=True)
    apart = {name: copy.deepcopy(value) for name, value in names.items()}
    kept = copy.deepcopy(apart)
    try:
        value = st.call(problem.function, copy.deepcopy(apart))
    except (*FAILURES, HangError):
        return Verdict(RIGHT)  # at other values the function itself may fail
    cotangent = st.random_like(np.random.default_rng(3), value)
    expected = g(*copy.deepcopy(apart).values(), grad_outputs=cotangent)
    try:
        found = g(*names.values(), grad_outputs=cotangent)
    except UnsupportedError as error:
        return Verdict(RIGHT if "share memory" in str(error) else CRASHED, str(error))
    assert_unchanged(kept, names)
    real = st.call(problem.function, names)  # as it is, on memory that is shared
    _assert_same("shared arguments: value", real, found[0], 1e-9)
    _assert_same("shared arguments: gradient", expected[1], found[1], 1e-9)
    return Verdict(RIGHT)


def _pairs(expected: Any, found: Any) -> list[tuple[Any, Any]]:
    """The leaves of a structure, each with that of another one."""
    return list(zip(st.leaves(expected), st.leaves_as(expected, found), strict=True))


def _twice(problem: Problem, cases: Cases) -> Verdict:
    """The derivative of a scalar function's gradient in one direction."""
    rng = np.random.default_rng(2)
    value = problem.output()
    g = _by_gradient(problem)
    inner, extra = g, {}
    if not is_scalar(value):
        inner = with_cotangent(g, problem.function)
        extra = {"ct_": st.random_like(rng, value)}
    second = srcdiff.grad(inner, problem.inputs, materialize_grads=True)
    w, u = st.random_like(rng, problem.at), st.random_like(rng, problem.at)

    def phi(t: float) -> float:
        moved = st.replaced(
            problem.function, problem.inputs, problem.names, st.plus(problem.at, t, u)
        )
        return st.inner(w, g(*moved.values(), grad_outputs=extra.get("ct_")))

    slope, error = difference(phi)
    if not abs(slope) < 100 * LARGEST or error > 1e-6 * max(1.0, abs(slope)):
        return Verdict(RIGHT, "order 2 not smooth")
    names = problem.arguments()
    result = second(*names.values(), **extra, grad_outputs=w)
    assert_unchanged(problem.names, names)
    assert_form(result, problem.at, st.arrays(names) + st.arrays(w))
    found = st.inner(result, u)
    if not abs(found - slope) <= 10 * TOLERANCE * max(abs(slope), 1.0) + 4 * error:
        again = functools.partial(_inner, g=second, cotangent=w, direction=u, **extra)
        if _jump(problem, again, u) > 0.1 * abs(found - slope):
            return Verdict(INVALID, "a derivative of rounding errors")
        if _grows(problem):
            return Verdict(INVALID, "a number on the way is large")
        return Verdict(WRONG, f"order 2: slope is {found}, differences give {slope}")
    return _dual_twice(problem, inner, extra, (w, u), result)


def _dual_twice(
    problem: Problem, inner: Callable[..., Any], extra: Any, pair: tuple[Any, Any], result: Any
) -> Verdict:
    """The tangent of a gradient against the gradient of it."""
    w, u = pair
    moves = dict(zip(problem.inputs, u, strict=True))
    names = problem.arguments()
    tangents = tuple(map(moves.get, names))
    try:
        _, tangent = srcdiff.jvp(inner, unused="zeros")(*names.values(), tangents=tangents, **extra)
    except UnsupportedError as error:
        return Verdict(RIGHT, f"no tangent: {error}")
    return _off(st.inner(w, tangent), st.inner(result, u), magnitude(result, u))


_JUDGES: Mapping[str, Callable[[Problem, Cases], Verdict]] = {
    "gradient": functools.partial(_sloped, _by_gradient),
    "value": functools.partial(_sloped, _by_value),
    "pair": functools.partial(_sloped, _by_pair),
    "tangent": _dual, "shared": _shared, "single": _single, "twice": _twice, "forward": _along,
}  # fmt: skip
"""What may be judged: a gradient in three ways, and what has to agree with it."""


def _refusal(error: SrcdiffError) -> Verdict:
    """A refusal has a place and a remedy."""
    reason = str(error).splitlines()[0]
    if isinstance(error, ValidationError):
        return Verdict(WRONG, str(error), error.step)
    if not isinstance(error, TransformError):
        return Verdict(CRASHED, f"{type(error).__name__}: {error}", _place(error))
    if error.loc is None or error.loc.line <= 0:
        return Verdict(CRASHED, f"refused without a place: {error}", _place(error))
    if not error.remedy:
        return Verdict(CRASHED, f"refused without a remedy: {error}", _place(error))
    return Verdict(REFUSED, reason, _place(error))


def _place(error: BaseException) -> str:
    """The innermost line of srcdiff in a traceback, or that it was generated code."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if f.filename.startswith(PACKAGE)]
    if own and own[-1] is frames[-1]:
        return f"{own[-1].filename.removeprefix(PACKAGE)}:{own[-1].lineno}"
    inner = [f for f in frames if f.filename.startswith("<")]
    if not own:
        return "outside"
    if inner and frames.index(inner[-1]) > frames.index(own[-1]):
        return f"generated, {type(error).__name__}"
    return f"{own[-1].filename.removeprefix(PACKAGE)}:{own[-1].lineno}"
