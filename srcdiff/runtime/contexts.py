"""What stands for `with` and `try`: modes, `saved_hooks`, and whether a call succeeds.

`no_grad`, `enable_grad` and `set_grad_enabled` say where derivatives are wanted.  They are read in
the source of the functions that are differentiated; when they run they do nothing.

`saved_hooks` holds for the thread that entered it: what the forward part of a gradient saves goes
through functions of the user's.  Generated code calls `packed` where it saves an array and
`unpacked` where it loads one, in a variant that is generated when it is asked for: `autodiff`
writes the calls.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextvars import ContextVar, Token
from typing import Any, ClassVar

import numpy as np

from srcdiff.errors import SavedValueError
from srcdiff.runtime.trees import is_array


class Mode:
    """What `with` takes and a decorator is: it does nothing when it runs."""

    def __init__(self, enabled: bool) -> None:
        self.enabled = enabled

    def __enter__(self) -> None:
        """Nothing happens."""

    def __exit__(self, *error: object) -> None:
        """Nothing happens."""

    def __call__(self, f: Callable[..., Any]) -> Callable[..., Any]:
        """A function that calls `f` in this mode."""
        enabled = self.enabled

        @functools.wraps(f)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            with set_grad_enabled(enabled):
                return f(*args, **kwargs)

        return wrapper


def no_grad(f: Callable[..., Any] | None = None) -> Any:
    """What is computed inside is a constant: `with srcdiff.autograd.no_grad():`, or a decorator.

    It is read in the source of the function that is differentiated, and does nothing when it runs.
    Names that are bound to other names, and items put into lists and dicts or taken out of them,
    keep their derivatives, as in torch.  An array that carries one must not be written into.

    >>> import srcdiff
    >>> def f(x):
    ...     with srcdiff.autograd.no_grad():
    ...         scale = x * x
    ...     return x * scale
    >>> f(3.0), srcdiff.grad(f)(3.0)
    (27.0, 9.0)
    """
    return Mode(False) if f is None else Mode(False)(f)


def enable_grad(f: Callable[..., Any] | None = None) -> Any:
    """Inside `no_grad`, derivatives flow again: `with autograd.enable_grad():`, or a decorator.

    >>> import srcdiff
    >>> def f(x):
    ...     with srcdiff.autograd.no_grad():
    ...         scale = x * x
    ...         with srcdiff.autograd.enable_grad():
    ...             y = x * scale
    ...     return y
    >>> srcdiff.grad(f)(3.0)
    9.0
    """
    return Mode(True) if f is None else Mode(True)(f)


def set_grad_enabled(mode: bool) -> Mode:
    """`no_grad` or `enable_grad` by a flag, which may be known only when the function runs.

    >>> import srcdiff
    >>> def f(x, train):
    ...     with srcdiff.autograd.set_grad_enabled(train):
    ...         scale = x * x
    ...     return x * scale
    >>> srcdiff.grad(f)(3.0, True), srcdiff.grad(f)(3.0, False)
    (27.0, 9.0)
    """
    return Mode(bool(mode))


# --- whether a call succeeds: what stands for `try` in generated code ----------------------------


def succeeds(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> bool:
    """Whether a function of linear algebra comes to its end: False if it raises `LinAlgError`.

    >>> succeeds(np.linalg.inv, np.zeros((2, 2)))
    False
    """
    try:
        fn(*args, **kwargs)
    except np.linalg.LinAlgError:
        return False
    return True


# --- contexts that hold for the thread that entered them -----------------------------------------


class Holding:
    """What `now` is between `__enter__` and `__exit__`; of nested contexts the innermost."""

    is_used: ClassVar[bool] = False
    """Whether one was ever entered: it may still hold for a task that began inside."""

    def __init__(self, now: ContextVar[Any]) -> None:
        self._now = now
        self._tokens: list[Token[Any]] = []

    def __enter__(self) -> None:
        """From here on."""
        Holding.is_used = True
        self._tokens.append(self._now.set(self))

    def __exit__(self, *error: object) -> None:
        """As it was before."""
        self._now.reset(self._tokens.pop())


# --- `saved_hooks` -------------------------------------------------------------------------------


_now: ContextVar[saved_hooks | None] = ContextVar("srcdiff.autograd.saved_hooks", default=None)


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
    >>> with srcdiff.autograd.saved_hooks(pack, unpack):
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
    """The value that was given to `packed`; a SavedValueError if a hook made another kind of it."""
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
