"""`saved_hooks`: what the forward part of a gradient saves goes through functions of the user's.

Generated code calls `packed` where it saves an array and `unpacked` where it loads one, in a
variant that is generated when it is asked for: `packing` writes the calls.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import numpy as np

from srcdiff.errors import SavedValueError
from srcdiff.runtime.holding import Holding
from srcdiff.runtime.trees import is_array

_now: ContextVar[saved_hooks | None] = ContextVar("srcdiff.saved_hooks", default=None)


class saved_hooks(Holding):  # noqa: N801
    """Let what gradients save for their backward parts go through `pack`, and then `unpack`.

    A context manager, as torch's `saved_tensors_hooks`: `grad`, `value_and_grad`, `vjp`, `run`,
    `backward` and `jacobian` that run inside call `pack` with every floating point or complex array
    that their forward part saves: arguments, intermediate results, and in a loop those of every
    iteration.  `pack` gets an array of its own and returns anything (the array in half the
    precision, the name of a file); `unpack` gets that when the backward part needs the array, be it
    after the `with`, and returns an array of the same shape and dtype.  A pullback that is called
    twice unpacks twice.  Of nested contexts the innermost holds.  It holds for this thread; outside
    it costs nothing, as derivatives are generated once more for it.

    Numbers, and arrays of integers and truth values, are kept as they are, and so is memory that
    the backward part restores in place.

    Args:
        pack, unpack: the two functions.

    Raises:
        SavedValueError: at the backward part, `unpack` returned something else.

    >>> import numpy as np
    >>> import srcdiff
    >>> packed = []
    >>> def pack(x):
    ...     packed.append(x.dtype.name)
    ...     return x.astype(np.float32)
    >>> def unpack(x):
    ...     return x.astype(np.float64)
    >>> with srcdiff.saved_hooks(pack, unpack):
    ...     srcdiff.grad(lambda x: np.sum(np.exp(x)))(np.array([0.0, 1.0]))
    array([1.        , 2.71828175])
    >>> packed
    ['float64']
    """

    def __init__(self, pack: Callable[[Any], Any], unpack: Callable[[Any], Any]) -> None:
        for name, hook in (("pack", pack), ("unpack", unpack)):
            if not callable(hook):
                raise TypeError(f"{name}: expected a function, given {type(hook).__name__}")
        self.pack, self.unpack = pack, unpack
        super().__init__(_now)


def hooks_hold() -> bool:
    """Whether this runs inside `saved_hooks`."""
    return _now.get() is not None


class Saved:
    """What `pack` made of an array, and how it becomes that array again."""

    __slots__ = ("value", "unpack", "like")

    def __init__(self, value: Any, unpack: Callable[[Any], Any], like: tuple[Any, ...]) -> None:
        self.value, self.unpack, self.like = value, unpack, like


def packed(x: Any) -> Any:
    """A value that is saved, packed by the hooks that hold; containers item by item."""
    now = _now.get()
    if now is None:
        return x
    if type(x) in (list, tuple):
        return type(x)([packed(item) for item in x])
    if type(x) is dict:
        return {key: packed(item) for key, item in x.items()}
    if not is_array(x) or x.dtype.kind not in "fc":
        return x
    return Saved(now.pack(x.copy(order="K")), now.unpack, (type(x), x.shape, x.dtype))


def unpacked(x: Any) -> Any:
    """The value that was given to `packed`.

    Raises:
        SavedValueError: a hook made something else of an array.
    """
    if type(x) in (list, tuple):
        return type(x)([unpacked(item) for item in x])
    if type(x) is dict:
        return {key: unpacked(item) for key, item in x.items()}
    if not isinstance(x, Saved):
        return x
    found = x.unpack(x.value)
    given = (type(found), np.shape(found), getattr(found, "dtype", None))
    if given != x.like:
        kind, shape, dtype = x.like
        raise SavedValueError(
            f"unpack: expected the array that was given to pack, a {kind.__name__} of shape "
            f"{shape} and dtype {dtype}, given {_said(found)}"
        )
    return found


def _said(value: Any) -> str:
    """What a hook returned."""
    name = type(value).__name__
    return f"a {name} of shape {value.shape} and dtype {value.dtype}" if is_array(value) else name
