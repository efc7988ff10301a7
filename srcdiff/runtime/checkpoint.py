"""Less memory for more time: calls and loops that run again in the backward part.

`checkpoint` runs a call again.  `checkpointed` is a loop of which some states are kept and the
others computed again: `frontend` makes a function of the body of such a loop; here is what runs it,
forwards and backwards, by the binomial schedule of Griewank and Walther (revolve).  The schedule is
a matter of numbers alone: `n` steps are reversed with a given number of slots, each of which holds
the state before a step; to come to another one, steps are computed again.

The rules stand in `templates/srcdiff/api/recompute.py`; what they are made of generates derivatives
when it is called, and needs srcdiff itself.
"""

from __future__ import annotations

import copy
import functools
import itertools
import math
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from srcdiff.errors import UnsupportedError
from srcdiff.runtime.copies import copied
from srcdiff.runtime.devices import canonical, is_any_array, is_device_array
from srcdiff.runtime.implicit import numbered, with_source
from srcdiff.runtime.records import FOREIGN
from srcdiff.runtime.service import T, compiler, once
from srcdiff.runtime.trees import add_tree, like_sequence, zero_tree, zeros_like


def checkpoint(f: Callable[..., Any], preserve_rng_state: bool = True) -> Callable[..., Any]:
    """`f` as a function of which nothing is kept but its arguments: it runs again backwards.

    Args:
        f: a function without side effects; it may draw random numbers from `numpy.random` or from
            generators among its arguments, which give the same numbers when it runs again.
        preserve_rng_state: keep the state of `numpy.random`; False saves time where `f` draws none.

    Returns:
        A function with the parameters of `f`, given by position, for use anywhere in
        differentiated functions.

    Raises:
        RuntimeError: in the backward part, `f` gives something else than it did before.
        UnsupportedError: in the backward part, `f` writes into an argument.

    >>> import numpy as np
    >>> import srcdiff
    >>> def layer(w, x):
    ...     return np.tanh(w * np.exp(np.sin(x)))
    >>> def f(w, x):
    ...     for _ in range(3):
    ...         x = srcdiff.checkpoint(layer)(w, x)
    ...     return x
    >>> def plain(w, x):
    ...     for _ in range(3):
    ...         x = layer(w, x)
    ...     return x
    >>> srcdiff.grad(f)(0.5, 2.0) == srcdiff.grad(plain)(0.5, 2.0)
    True
    """

    @functools.wraps(f)
    def again(*args: Any) -> Any:
        return run_again(f, Before(preserve_rng_state, *args), *args)

    if str(again.__module__).split(".")[0] in FOREIGN:  # this is no part of that module
        again.__module__ = ""
    return again


checkpoint.__srcdiff_transform__ = True  # type: ignore[attr-defined]


class Before:
    """What a run leaves for a later one: the states of random generators, and a trace."""

    def __init__(self, globally: bool, *args: Any) -> None:
        self.globally = np.random.get_state() if globally else None
        self.states = [g.bit_generator.state for g in _generators(args)]
        self.trace: Trace | None = None

    @contextmanager
    def restored(self, args: tuple[Any, ...]) -> Iterator[None]:
        """Run with the random generators as they were; afterwards they are as they are now."""
        now = Before(self.globally is not None, *args)
        self.put_back(args)
        try:
            yield
        finally:
            now.put_back(args)

    def put_back(self, args: tuple[Any, ...], globally: bool = True) -> None:
        """Set the random generators, `numpy.random` among them."""
        if globally and self.globally is not None:
            np.random.set_state(self.globally)
        for generator, state in zip(_generators(args), self.states, strict=True):
            generator.bit_generator.state = state


def _generators(args: tuple[Any, ...]) -> list[Any]:
    return [a for a in args if isinstance(a, np.random.Generator)]


Trace = tuple[Any, ...]


def trace(value: Any) -> Trace:
    """What tells a value from another one, almost certainly; see `alike`."""
    if isinstance(value, dict):
        return tuple((repr(k), trace(v)) for k, v in value.items())
    if isinstance(value, (list, tuple)):
        return tuple(map(trace, value))
    if not is_any_array(value):
        value = np.asarray(value)
    if value.dtype.kind not in "fc":
        text = repr(value) if is_device_array(value) else repr(value.tolist())
        return (zlib.crc32(text.encode()),)
    flat = value.reshape(-1)
    with np.errstate(all="ignore"):
        sums = (flat.sum(), flat[::2].sum(), abs(flat).sum() * np.finfo(flat.dtype).eps ** 0.5)
    return tuple(complex(one) for one in sums)


def alike(one: Trace, other: Trace) -> bool:
    """Whether two traces may be of one value, computed in two orders of its operations."""
    if len(one) == 3 and all(isinstance(x, complex) for x in (*one, *other)):
        return not any(abs(a - b) > one[2].real for a, b in zip(one[:2], other[:2]))
    return len(one) == len(other) and all(
        alike(a, b) if isinstance(a, tuple) and isinstance(b, tuple) else a == b
        for a, b in zip(one, other)
    )


def run_again(f: Any, before: Before | None, *args: Any) -> Any:
    """The value of a call that runs again in the backward part."""
    value = f(*args)
    if before is not None:
        before.trace = trace(value)
    return copied(value)


def gradients_again(f: Any, before: Before | None, d: Any, *args: Any) -> tuple[Any, ...]:
    """The gradients of a call, which runs once more; None where an argument has none."""

    def run() -> tuple[Any, tuple[Any, ...]]:
        value, pull = pullback(f, args)
        return value, pull(d)

    return _as_before(f, before, args, run)


def pullback(f: Any, args: tuple[Any, ...], writes: bool = False) -> tuple[Any, Any]:
    """The value of a call, and its pullback to all its arguments: None where one has no gradient.

    It is called once, before anyone can write; the call writes into arguments only if `writes`.
    """
    active = compiler().active(f, args)
    if not active:
        return f(*args), lambda d: (None,) * len(args)
    value, pull = compiler().pullback(f, active, args, writes=writes, at_once=True)

    def back(d: Any) -> tuple[Any, ...]:
        found = dict(zip(active, pull(d, retain_graph=False)))
        return tuple(found.get(k) for k in range(len(args)))

    return value, back


def tangent_again(f: Any, before: Before | None, t: tuple[Any, ...], *args: Any) -> Any:
    """The tangent of a call, which runs once more, along tangents of its arguments."""
    moved = absent(t)

    def run() -> tuple[Any, Any]:
        if any(one is not None for one in moved):
            return compiler().along(f, moved, *args)  # type: ignore[no-any-return]
        value = f(*args)
        return value, zero_tree(value)

    return _as_before(f, before, args, run)


# --- derivatives of the derivatives ---------------------------------------------------------------


def gradients_by(f: Any, args: tuple[Any, ...]) -> Any:
    """The gradients of `f` at arguments of these kinds as a function `(d, *args)` with a source."""
    return _pulled(f, compiler().active(f, args), len(args))


@once
def _pulled(f: Any, active: tuple[int, ...], count: int) -> Any:
    params = ", ".join(numbered("x", range(count)))
    found = ", ".join(numbered("g", range(count), active))
    given = ", ".join(numbered("g", active))
    body = [f"{given}, = gradient({params}, grad_outputs=d)", f"return ({found},)"]
    space = {"gradient": compiler().gradient(f, active)}
    return with_source(f"def gradients(d, {params}):", body, space)


def tangent_by(f: Any, t: tuple[Any, ...]) -> Any:
    """The tangent of `f` along such tangents as a function `(t, *args)` with a source."""
    along = absent(t)
    if any(isinstance(one, (list, tuple)) and None in one for one in along):
        raise UnsupportedError(
            "a call of srcdiff.checkpoint is differentiated three times, forwards at first",
            remedy="Take the gradient first, or use the function without srcdiff.checkpoint.",
        )
    moved = tuple("None" if one is None else f"t[{k}]" for k, one in enumerate(along))
    return tangent_of(f, ("t", *numbered("x", range(len(t)))), moved)


@once
def tangent_of(f: Any, params: tuple[str, ...], along: tuple[str, ...]) -> Any:
    """The tangent of `f` as a function with a source.

    It has some parameters, of which those called `x0`, `x1`, ... are the arguments of `f`, and
    `along` are their directions.
    """
    args = ", ".join(numbered("x", range(len(along))))
    line = f"return along(f, ({', '.join(along)},), {args})[1]"
    space = {"along": compiler().along, "f": f}
    return with_source(f"def tangent({', '.join(params)}):", [line], space)


def again(before: Before | None) -> Before | None:
    """The random generators as for another function, of another value, in place of the first."""
    new = copy.copy(before)
    if new is not None:
        new.trace = None
    return new


def absent(tangents: tuple[Any, ...]) -> tuple[Any, ...]:
    """Tangents, None in place of zeros that have no shape, also inside of lists and tuples."""
    return tuple(map(_absent, tangents))


def _absent(t: Any) -> Any:
    if isinstance(t, (list, tuple)):
        items = [_absent(one) for one in t]
        return None if all(one is None for one in items) else like_sequence(t, items)
    return None if is_nothing(t) else t


def _as_before(
    f: Any, before: Before | None, args: tuple[Any, ...], run: Callable[[], tuple[Any, T]]
) -> T:
    """What `run` gives beside the value of `f`, with the random generators as they were."""
    if before is None:
        return run()[1]
    with before.restored(args):
        value, found = run()
    if before.trace is not None and not alike(before.trace, trace(value)):
        name = getattr(f, "__name__", f)
        raise RuntimeError(
            f"`{name}` gives something else when it runs again: it draws random numbers from "
            "a generator that is none of its arguments, or its inputs change"
        )
    return found


# --- the binomial schedule: which states of a loop to keep, and for how long ---------------------


Kept = tuple[int, tuple[int, ...]]  # how many steps run, and the places


def split(n: int, slots: int) -> int:
    """How far the next state to keep is from the first of `n` steps, with that one in a slot."""
    r = _repetitions(n, slots)
    # The bounds of Griewank and Walther: every place between them is optimal.
    low = max(math.comb(slots + r - 2, slots) if r > 1 else 0, n - math.comb(slots - 1 + r, r))
    return max(1, low)


def _repetitions(n: int, slots: int) -> int:
    """How often any of `n` steps is run at the most."""
    return next(r for r in itertools.count() if math.comb(slots + r, slots) >= n)


def fewest_steps(n: int, slots: int) -> int:
    """The fewest steps that reverse `n` steps, but for those that are differentiated: Griewank."""
    r = _repetitions(n, slots)
    return r * n - math.comb(slots + r, r - 1) if r else 0


def first_states(n: int, slots: int) -> Iterator[int]:
    """The steps before which a state is kept in the forward part."""
    at = 0
    while n > 0:
        yield at
        if n == 1 or slots == 1:
            return
        m = split(n, slots)
        at, n, slots = at + m, n - m, slots - 1


class Places:
    """Where states are kept on the way forwards, one place after the other.

    The states of the schedule for `n` steps are kept for good.  If the run may stop anywhere, other
    slots are not left empty until they are needed: they hold states of levels, as in the dynamic
    checkpointing of Wang, Moin and Iaccarino.  A state makes room if a later one has a higher
    level; if there is none, the last one does, and what comes in its place has a level more.
    """

    def __init__(self, n: int, slots: int, may_stop: bool) -> None:
        self.fixed = frozenset(first_states(n, slots))
        self.slots = slots
        self.may_stop = may_stop
        self.levels: dict[int, float] = {}

    def leaving(self, at: int) -> int | None:
        """The place whose state makes room for that of the next; that itself if it is not kept."""
        if at not in self.fixed and not self.may_stop:
            return at
        level = math.inf if at in self.fixed else 0
        out = None
        if len(self.levels) == self.slots:
            last = next(reversed(self.levels))
            out = self.below_a_later_one(level)
            if out is None:
                out, level = last, self.levels[last] + 1
            if self.levels[out] == math.inf:
                return at
            del self.levels[out]
        self.levels[at] = level
        return out

    def below_a_later_one(self, level: float) -> int | None:
        """The last place of a level below that of a later one, `level` the last of all."""
        for at in reversed(self.levels):
            if self.levels[at] < level:
                return at
            level = max(level, self.levels[at])
        return None


def worth_keeping(places: tuple[int, ...], end: int, slots: int) -> tuple[int, ...]:
    """The places of those states with which the steps up to an end are reversed in the fewest.

    The steps begin at the first of `places`, which are in order, and have the slots from there on.
    """

    @functools.cache
    def best(k: int, slots: int) -> Kept:
        start = places[k]
        found: list[Kept] = [(fewest_steps(end - start, slots), (start,))]
        for j in range(k + 1, len(places) if slots > 1 else 0):
            steps, kept = best(j, slots - 1)
            found.append((steps + fewest_steps(places[j] - start, slots), (start, *kept)))
        return min(found)

    return best(0, slots)[1]


# --- loops: `checkpointed` -----------------------------------------------------------------------


def checkpointed(steps: Iterable[Any], slots: int = 10) -> Iterable[Any]:
    """The steps of a loop of which few states are kept for the backward part.

    When the function is differentiated, `for i in checkpointed(range(n), k)` keeps at most `k`
    states of its variables at a time, and the one that it is at; the others are computed again
    from them, as few times as is possible.  Otherwise it is just `range(n)`.

    Args:
        steps: a `range`.
        slots: how many states are kept; with 10 of them, each of 10,000 steps is computed again
            seven times or fewer.

    The variables that the body changes have values before the loop.  Where `break` or `return`
    ends the loop, the states that are held then are used as well as they can be; the step that
    ends it is run twice.  Third derivatives are refused.

    >>> import numpy as np
    >>> import srcdiff
    >>> def f(x):
    ...     for i in srcdiff.checkpointed(range(100), slots=3):
    ...         x = np.sin(x) + 0.01 * i * x
    ...     return x
    >>> def plain(x):
    ...     for i in range(100):
    ...         x = np.sin(x) + 0.01 * i * x
    ...     return x
    >>> srcdiff.grad(f)(0.5) == srcdiff.grad(plain)(0.5)
    True
    """
    return steps


# --- running -------------------------------------------------------------------------------------

State = tuple[tuple[Any, ...], Before]


class Slots:
    """The states that a loop keeps; `again` counts the steps that were computed again."""

    def __init__(self, steps: range, slots: int = 10) -> None:
        if not isinstance(steps, range):
            raise TypeError(f"checkpointed: expected a range, given {type(steps).__name__}")
        if slots < 1:
            raise ValueError(f"checkpointed: expected at least one slot, given {slots}")
        self.steps, self.slots = steps, slots
        self.states: dict[int, State] = {}
        self.last: State | None = None  # before the last step
        self.start: Before | None = None
        self.draws = False  # whether a step has drawn from `numpy.random`
        self.ran = 0  # the steps before the one that stops
        self.result: Trace = ()
        self.again = self.most = 0

    def now(self, rest: tuple[Any, ...]) -> Before:
        """The random generators; `numpy.random` is as before the loop until a step draws."""
        made = Before(self.draws, *rest)
        if not self.draws and self.start is not None:
            made.globally = self.start.globally
        return made

    def keep(self, at: int, state: State) -> None:
        """Keep a state."""
        self.states[at] = state
        self.most = max(self.most, len(self.states))

    def choose(self, end: int) -> None:
        """Keep only what helps to reverse the steps up to an end."""
        places = tuple(sorted(at for at in self.states if at < end))
        wanted = worth_keeping(places, end, self.slots) if places else ()
        self.states = {at: self.states[at] for at in wanted}


def run_steps(step: Any, held: Slots, count: int, *values: Any) -> tuple[Any, ...]:
    """The states after a loop; `values` are those before, `count` of them, and what is constant.

    A step that raises the exception of its loop has stopped it, and counts as not begun: it is for
    the caller to run it as the first of the `remaining` ones.
    """
    _check_step(step, count, held.steps, values)
    held.start = Before(True, *values[count:])
    return _run(step, held, held.steps, copied(values[:count]), values[count:])


def _run(
    step: Any, held: Slots, steps: range, state: tuple[Any, ...], rest: tuple[Any, ...]
) -> tuple[Any, ...]:
    """The states after some steps, all of them or those before one that stops."""
    stop: Any = getattr(canonical(step), "__srcdiff_stop__", ())
    places = Places(len(steps), held.slots, bool(stop))
    held.states.clear()
    held.ran, held.draws = 0, False
    for at, i in enumerate(steps):
        held.draws = held.draws or compiler().draws(step, (i, *state, *rest))
        leaving = places.leaving(at)
        if stop or leaving != at or at == len(steps) - 1:
            before = copied(state), held.now(rest)
        if leaving is not None:
            held.states.pop(leaving, None)
        if leaving != at:
            held.keep(at, before)
        try:
            state = step(i, *state, *rest)
        except stop:
            state = before[0]
            before[1].put_back(rest, held.draws)
            break
        held.ran, held.last = at + 1, before
    held.result = trace(state)
    return tuple(copied(state))


def remaining(held: Slots) -> tuple[int, int, int]:
    """The arguments of the range of the steps from the one on that stopped a loop."""
    left = held.steps[held.ran :]
    return left.start, left.stop, left.step


def has_run(held: Slots) -> bool:
    """Whether a loop has run any step."""
    return held.ran > 0


def reversed_steps(step: Any, held: Slots, count: int, d: Any, *values: Any) -> tuple[Any, ...]:
    """The gradients of `run_steps` by its values, from the adjoint of its result."""
    rest = values[count:]
    if held.ran and 0 not in held.states:  # a second time: as it was before
        assert held.start is not None, "the loop has run"
        with held.start.restored(rest):
            _run(step, held, held.steps[: held.ran], copied(values[:count]), rest)
    work = _Reversal(step, held, rest, list(d))
    with Before(True, *rest).restored(rest):
        work.all_steps()
    held.states.clear()
    found = (*work.adjoint, *work.rest_adjoint)
    return tuple(zeros_like(v) if d is None else d for v, d in zip(values, found))


def pushed_steps(
    step: Any, held: Slots, count: int, t: tuple[Any, ...], *values: Any
) -> tuple[Any, ...]:
    """The tangent of `run_steps` along tangents of its values."""
    state, rest = copied(values[:count]), values[count:]
    tangents = absent(t)
    moved, fixed = tangents[:count], tangents[count:]
    assert held.start is not None, "the loop has run"
    with held.start.restored(rest):
        for i in held.steps[: held.ran]:
            if any(one is not None for one in (*moved, *fixed)):
                state, moved = compiler().along(step, (None, *moved, *fixed), i, *state, *rest)
    return tuple(zeros_like(v) if d is None else d for v, d in zip(state, moved))


# --- derivatives of the derivatives of loops -----------------------------------------------------


def steps_with_tangents(
    step: Any, held: Slots, count: int, t: Any, d: tuple[Any, Any], *values: Any
) -> tuple[Any, Any, Any]:
    """A loop whose states are `values` and tangents `t` of them, forwards and backwards.

    `d` are the adjoints of the values after the loop, and of their tangents.  It gives the tangents
    after the loop, and the adjoints of the values and of the tangents before it.
    """
    assert held.start is not None, "the loop has run"
    values = (*_as_they_become(step, held, values[:count], values[count:]), *values[count:])
    t = [zeros_like(v) if is_nothing(one) else one for v, one in zip(values, t)]
    both = (*values[:count], *t[:count], *values[count:], *t[count:])
    active = compiler().active(step, (0, *values))
    made = with_tangents(step, count, active, len(values))
    work = Slots(held.steps[: held.ran], held.slots)
    first, second = ([None] * count if is_nothing(one) else one for one in d)
    with held.start.restored(values[count:]):
        moved = run_steps(made, work, 2 * count, *both)[count:]
        found = reversed_steps(made, work, 2 * count, (*first, *second), *both)
    half = len(values) - count
    mine, theirs = found[: 2 * count], found[2 * count :]
    return moved, (*mine[:count], *theirs[:half]), (*mine[count:], *theirs[half:])


def _as_they_become(
    step: Any, held: Slots, values: tuple[Any, ...], rest: tuple[Any, ...]
) -> tuple[Any, ...]:
    """The variables before a loop, integers as the floating point numbers that a step makes."""
    if not held.ran or held.start is None:
        return values
    with held.start.restored(rest):
        after = step(held.steps[0], *copied(values), *rest)
    pairs = zip(values, after)
    return tuple(_like(v, a) if _is_whole(v) and not _is_whole(a) else v for v, a in pairs)


def _is_whole(value: Any) -> bool:
    """Whether a value is a number or an array of integers."""
    return isinstance(value, (int, np.integer, np.ndarray)) and np.result_type(value).kind in "iub"


def _like(value: Any, other: Any) -> Any:
    """An integer, or an array of them, in the type of something else."""
    if isinstance(value, np.ndarray):
        return value.astype(np.result_type(other))
    return np.result_type(other).type(value).item()


def unmoved(value: Any, name: str) -> Any:
    """A variable that carries no derivative, and is refused if it is floating point by now."""
    floats = (float, complex, np.inexact, np.ndarray)
    if isinstance(value, floats) and not _is_whole(value):
        raise UnsupportedError(
            f"the variable `{name}` of a loop over `checkpointed` is an integer at first and a "
            "floating point number later: it has no second derivative",
            remedy="Let it be a floating point number from the start.",
        )
    return value


def is_nothing(t: Any) -> bool:
    """Whether a tangent or adjoint is the zero that has no shape, or None."""
    return t is None or (isinstance(t, float) and t == 0.0)


@once
def with_tangents(step: Any, count: int, active: tuple[int, ...], total: int) -> Any:
    """A step of the values and of tangents of them, both of which stand where the values did.

    The states are `count` values and their tangents; behind them come what is constant, `total`
    values with the others, and the tangents of that.
    """
    xs, ts = (numbered(letter, range(total)) for letter in "xt")
    moved = ["None", *(t if k + 1 in active else "None" for k, t in enumerate(ts))]
    params = ["i", *xs[:count], *ts[:count], *xs[count:], *ts[count:]]
    space = {"along": compiler().along, "step_": step, "unmoved": unmoved}
    call = f"z, t = along(step_, ({', '.join(moved)},), i, {', '.join(xs)})"
    names = step.__code__.co_varnames[1 : 1 + count]
    items = [
        f"z[{k}]" if k + 1 in active else f"unmoved(z[{k}], {name!r})"
        for k, name in enumerate(names)
    ]
    items += [f"t[{k}]" for k in range(count)]
    body = [call, f"return ({', '.join(items)},)"]
    made = with_source(f"def step({', '.join(params)}):", body, space)
    made.__srcdiff_loop__ = getattr(step, "__srcdiff_loop__", None)
    return made


def _check_step(step: Any, count: int, steps: range, values: tuple[Any, ...]) -> None:
    """Refuse a step that writes into what is none of its variables, or whose variables share it."""
    if not steps:
        return
    args = (steps[0], *values)
    active = compiler().active(step, args)
    written = compiler().written(step, active, args) if active else ()
    others = [n for n in written if n not in step.__code__.co_varnames[1 : 1 + count]]
    mine = [v for v in values[:count] if isinstance(v, np.ndarray)]
    arrays = [v for v in values if isinstance(v, np.ndarray)]
    if others or any(np.may_share_memory(a, b) for a in mine for b in arrays if a is not b):
        what = f"writes into `{others[0]}`" if others else "has variables that share memory"
        raise UnsupportedError(
            f"a loop over `checkpointed` {what}",
            canonical(step).__srcdiff_loop__,
            remedy="Let every array that it writes into have one name, or use a plain loop.",
        )


class _Reversal:
    """One run of a loop backwards."""

    def __init__(self, step: Any, held: Slots, rest: tuple[Any, ...], adjoint: list[Any]) -> None:
        self.step, self.held, self.rest = step, held, rest
        self.adjoint: list[Any] = adjoint
        self.rest_adjoint: list[Any] = [None] * len(rest)

    def all_steps(self) -> None:
        """Go back over all the steps that ran."""
        end = self.held.ran - 1
        if self.held.last is not None and end >= 0:
            last, self.held.last = self.held.last, None
            self.back(end, last)
            self.held.choose(end)
            self.reverse(0, end, self.held.slots)

    def reverse(self, start: int, n: int, slots: int) -> None:
        """Go back over `n` steps, the state before the first of which is kept."""
        while n > 1 and slots > 1:
            m = min((at - start for at in self.held.states if start < at < start + n), default=0)
            if not m:
                m = split(n, slots)
                self.held.keep(start + m, self.advanced(start, m))
            self.reverse(start + m, n - m, slots - 1)
            del self.held.states[start + m]
            n = m
        for k in range(n - 1, -1, -1):
            self.back(start + k, self.advanced(start, k))

    def advanced(self, start: int, m: int) -> State:
        """The state `m` steps after one that is kept."""
        values, before = self.held.states[start]
        values = copied(values)
        before.put_back(self.rest, self.held.draws)
        for at in range(start, start + m):
            values = self.step(self.held.steps[at], *values, *self.rest)
            self.held.again += 1
        return values, self.held.now(self.rest)

    def back(self, at: int, state: State) -> None:
        """Go back over one step."""
        values, before = state
        before.put_back(self.rest, self.held.draws)
        args = (self.held.steps[at], *values, *self.rest)
        value, pull = pullback(self.step, args, writes=True)
        if at == self.held.ran - 1 and not alike(self.held.result, trace(value)):
            raise RuntimeError("a step of a checkpointed loop gives something else when run again")
        adjoint = zip(value, self.adjoint)
        found = pull(tuple(zero_tree(v) if d is None else d for v, d in adjoint))
        mine = found[1 : 1 + len(values)]
        self.adjoint = list(mine)
        self.rest_adjoint = list(map(add_tree, self.rest_adjoint, found[1 + len(values) :]))
