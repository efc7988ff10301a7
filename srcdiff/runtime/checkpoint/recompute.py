"""Less memory for more time: `checkpoint` runs a call again in the backward part.

The rules stand in `templates/recompute.py`; what they are made of generates derivatives when it is
called, and needs srcdiff itself.
"""

from __future__ import annotations

import copy
import functools
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np

from srcdiff.errors import UnsupportedError
from srcdiff.runtime.devices import is_any_array, is_device_array
from srcdiff.runtime.implicit import with_source
from srcdiff.runtime.records import FOREIGN
from srcdiff.runtime.residuals import copied
from srcdiff.runtime.service import compiler, made_once
from srcdiff.runtime.trees import like_sequence, zero_tree


def checkpoint(f: Callable[..., Any], preserve_rng_state: bool = True) -> Callable[..., Any]:
    """`f` as a function of which nothing is kept but its arguments: it runs again backwards.

    Args:
        f: a function without side effects; it may draw random numbers from `numpy.random` or from
            generators among its arguments, which give the same numbers when it runs again.
        preserve_rng_state: keep the state of `numpy.random`; False saves time where `f` draws none.

    Returns:
        A function with the parameters of `f`, for use anywhere in differentiated functions.

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

    def unchecked(self) -> Before:
        """The same states of random generators, for what gives another value."""
        new = copy.copy(self)
        new.trace = None
        return new

    @contextmanager
    def restored(self, args: tuple[Any, ...]) -> Iterator[None]:
        """Run with the random generators as they were; afterwards they are as they are now."""
        now = Before(self.globally is not None, *args)
        self.put_back(args)
        try:
            yield
        finally:
            now.put_back(args)

    def put_back(self, args: tuple[Any, ...]) -> None:
        """Set the random generators."""
        if self.globally is not None:
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
    active = compiler().active(f, args)
    with _as_before(f, before, args) as check:
        value, pull = compiler().pullback(f, active, args)
        found = dict(zip(active, pull(d, retain_graph=False)))
        check(value)
    return tuple(found.get(k) for k in range(len(args)))


def tangent_again(f: Any, before: Before | None, t: tuple[Any, ...], *args: Any) -> Any:
    """The tangent of a call, which runs once more, along tangents of its arguments."""
    moved = absent_inside(t)
    still = all(one is None for one in moved)
    with _as_before(f, before, args) as check:
        value, tangent = (f(*args), None) if still else compiler().jvp(f, args, moved)
        check(value)
    return zero_tree(value) if still else tangent


# --- derivatives of the derivatives ---------------------------------------------------------------


def gradients_by(f: Any, args: tuple[Any, ...], inputs: tuple[int, ...] | None = None) -> Any:
    """The gradients of `f` at arguments of these kinds as a function `(d, *args)` with a source.

    `inputs` are the positions of the arguments to differentiate by; all that can be if None.
    """
    active = compiler().active(f, args) if inputs is None else inputs
    return made_once(f, ("gradients by", active, len(args)), lambda: _pulled(f, active, len(args)))


def _pulled(f: Any, active: tuple[int, ...], count: int) -> Any:
    params = [f"x{k}" for k in range(count)]
    found = [f"g{k}" if k in active else "None" for k in range(count)]
    call = f"gradient({', '.join(params)}, grad_outputs=d)"
    body = [f"{', '.join(f'g{k}' for k in active)}, = {call}", f"return ({', '.join(found)},)"]
    space = {"gradient": compiler().gradient(f, active)}
    return with_source(f"def gradients({', '.join(['d', *params])}):", body, space)


def tangent_by(f: Any, t: tuple[Any, ...]) -> Any:
    """The tangent of `f` along such tangents as a function `(t, *args)` with a source."""
    along = absent_inside(t)
    if any(isinstance(one, (list, tuple)) and None in one for one in along):
        raise UnsupportedError(
            "a call of srcdiff.checkpoint is differentiated three times, forwards at first",
            remedy="Take the gradient first, or use the function without srcdiff.checkpoint.",
        )
    moved = tuple(k for k, one in enumerate(along) if one is not None)
    return made_once(f, ("tangent by", moved, len(t)), lambda: _pushed(f, moved, len(t)))


def _pushed(f: Any, moved: tuple[int, ...], count: int) -> Any:
    params = [f"x{k}" for k in range(count)]
    along = [f"t[{k}]" if k in moved else "None" for k in range(count)]
    call = f"jvp(f, ({', '.join(params)},), ({', '.join(along)},))"
    head = f"def tangent({', '.join(['t', *params])}):"
    return with_source(head, [f"return {call}[1]"], {"jvp": compiler().jvp, "f": f})


def again(before: Before | None) -> Before | None:
    """The random generators as for another function that runs in place of the first."""
    return before and before.unchecked()


def absent(tangents: tuple[Any, ...]) -> tuple[Any, ...]:
    """Tangents, None in place of zeros that have no shape."""
    return tuple(None if isinstance(t, float) and t == 0.0 else t for t in tangents)


def absent_inside(tangents: tuple[Any, ...]) -> tuple[Any, ...]:
    """Tangents, None in place of zeros that have no shape, also inside of lists and tuples."""
    return tuple(map(_absent, tangents))


def _absent(t: Any) -> Any:
    if isinstance(t, (list, tuple)):
        items = [_absent(one) for one in t]
        return None if all(one is None for one in items) else like_sequence(t, items)
    return absent((t,))[0]


@contextmanager
def _as_before(
    f: Any, before: Before | None, args: tuple[Any, ...]
) -> Iterator[Callable[[Any], None]]:
    """Run with the random generators as they were; gives a check of the value."""

    def check(value: Any) -> None:
        known = None if before is None else before.trace
        if known is not None and not alike(known, trace(value)):
            name = getattr(f, "__name__", f)
            raise RuntimeError(
                f"`{name}` gives something else when it runs again: it draws random numbers from "
                "a generator that is none of its arguments, or its inputs change"
            )

    with nullcontext() if before is None else before.restored(args):
        yield check
