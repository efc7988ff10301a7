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
from srcdiff.device import is_any_array
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
    names = list(signature_of(f).parameters)
    kinds = (kind_of(a, n) for a, n in zip(args, names))
    plain = [is_active_kind(kind) and not isinstance(kind, (Object, Callable)) for kind in kinds]
    active = tuple(k for k, is_active in enumerate(plain) if is_active)
    value, pull = recorded_call(f, active, args)
    found = dict(zip(active, pull(d, retain_graph=False)))
    return value, tuple(found.get(k) for k in range(len(args)))


def recorded_call(f: Any, active: tuple[int, ...], args: tuple[Any, ...]) -> tuple[Any, Pullback]:
    """The value of a call, and its pullback to the arguments at some positions.

    Raises:
        UnsupportedError: the function writes into an argument, which its caller could not know.
    """
    options = Options(active, materialize_grads=True)
    made = made_once(f, ("call_vjp", active), lambda: Derivative(f, options))
    pair = made.pair(*args)
    if pair.written:
        raise UnsupportedError(
            f"`{getattr(f, '__name__', f)}`, which is known only when the program runs, writes "
            f"into its argument `{pair.written[0]}`",
            place_of(f),
            remedy="Call it by its name, or let it return a new array.",
        )
    value, pull = recorded(pair, args, {})
    arrays = [a for a in args if is_any_array(a)]
    if is_any_array(value) and any(np.may_share_memory(value, a) for a in arrays):
        value = copied(value)
    return value, pull
