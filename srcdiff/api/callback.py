"""A call of a function that was not known when the derivative around it was generated."""

from __future__ import annotations

from typing import Any

import numpy as np

from srcdiff.analyses.kind_types import Callable, Object, is_active_kind
from srcdiff.analyses.kind_values import kind_of
from srcdiff.api.derivative import Derivative
from srcdiff.api.made import made_once
from srcdiff.api.options import Options
from srcdiff.api.pullback import Pullback, recorded
from srcdiff.api.residuals import copied
from srcdiff.device import canonical, is_any_array
from srcdiff.errors import UnsupportedError
from srcdiff.onecall import place_of, signature_of


def gradient_of(f: Any, k: int) -> Derivative:
    """The gradient of a function by its argument at a position, zeros where it is not used."""
    options = Options(k, materialize_grads=True)
    return made_once(f, ("gradient_of", k), lambda: Derivative(f, options))


def pullback_of(f: Any, *args: Any) -> tuple[Any, Pullback]:
    """The value of a function, and its pullback to the first argument."""
    made = gradient_of(f, 0)
    return recorded(made.pair(*args), (*made.receiver, *args), {})


def gradients_of(f: Any, d: Any, args: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    """The value of a call, and its gradients by all arguments that can carry a derivative.

    Raises:
        UnsupportedError: the function writes into an argument.
    """
    active = active_arguments(f, args)
    value, pull = recorded_call(f, active, args)
    found = dict(zip(active, pull(d, retain_graph=False)))
    return value, tuple(found.get(k) for k in range(len(args)))


def active_arguments(f: Any, args: tuple[Any, ...]) -> tuple[int, ...]:
    """The positions of the arguments that can carry a derivative."""
    kinds = [kind_of(arg, f"x{k}") for k, arg in enumerate(args)]
    plain = [is_active_kind(kind) and not isinstance(kind, (Object, Callable)) for kind in kinds]
    return tuple(k for k, is_active in enumerate(plain) if is_active)


def _step(step: Any, args: tuple[Any, ...]) -> tuple[Derivative, tuple[int, ...]]:
    """The derivative of a step by the arguments that can carry one, and their positions."""
    active = active_arguments(step, args)
    options = Options(active, materialize_grads=True)
    return made_once(step, ("step", active), lambda: Derivative(step, options)), active


def check_step(step: Any, count: int, steps: range, values: tuple[Any, ...]) -> None:
    """Raise where a step writes into something that is none of its variables.

    Raises:
        UnsupportedError: it does, or variables share memory.
    """
    if not steps:
        return
    args = (steps[0], *values)
    derivative, active = _step(step, args)
    names = list(signature_of(step).parameters)
    written = derivative.pair(*args).written if active else ()
    others = [n for n in written if n not in names[1 : 1 + count]]
    mine = [v for v in values[:count] if isinstance(v, np.ndarray)]
    arrays = [v for v in values if isinstance(v, np.ndarray)]
    if others or any(np.may_share_memory(a, b) for a in mine for b in arrays if a is not b):
        what = f"writes into `{others[0]}`" if others else "has variables that share memory"
        raise UnsupportedError(
            f"a loop over `checkpointed` {what}",
            canonical(step).__srcdiff_loop__,
            remedy="Let every array that it writes into have one name, or use a plain loop.",
        )


def step_back(step: Any, args: tuple[Any, ...]) -> tuple[Any, Any]:
    """The value of a step, and its pullback to all its arguments."""
    derivative, active = _step(step, args)
    if not active:
        return step(*args), lambda d: (None,) * len(args)
    value, pull = recorded(derivative.pair(*args), (*derivative.receiver, *args), {})

    def back(d: Any) -> tuple[Any, ...]:
        found = dict(zip(active, pull(tuple(d), retain_graph=False)))
        return tuple(found.get(k) for k in range(len(args)))

    return value, back


def recorded_call(
    f: Any, active: tuple[int, ...], args: tuple[Any, ...], strong_zeros: bool = False
) -> tuple[Any, Pullback]:
    """The value of a call, and its pullback to the arguments at some positions.

    Raises:
        UnsupportedError: the function writes into an argument, which its caller could not know.
    """
    options = Options(active, materialize_grads=True, strong_zeros=strong_zeros)
    made = made_once(f, ("call_vjp", active, strong_zeros), lambda: Derivative(f, options))
    pair = made.pair(*args)
    if pair.written:
        raise UnsupportedError(
            f"`{getattr(f, '__name__', f)}`, which is known only when the program runs, writes "
            f"into its argument `{pair.written[0]}`",
            place_of(f),
            remedy="Call it by its name, or let it return a new array.",
        )
    value, pull = recorded(pair, (*made.receiver, *args), {})
    arrays = [a for a in args if is_any_array(a)]
    if is_any_array(value) and any(np.may_share_memory(value, a) for a in arrays):
        value = copied(value)
    return value, pull
