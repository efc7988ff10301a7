"""Where derivatives are wanted: `no_grad`, `enable_grad`, `set_grad_enabled` and `hook`.

They are read in the source of the functions that are differentiated; when they run they do nothing.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any


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
    """What is computed inside is a constant: `with srcdiff.no_grad():`, or a decorator.

    It is read in the source of the function that is differentiated, and does nothing when it runs.
    Names that are bound to other names, and items put into lists and dicts or taken out of them,
    keep their derivatives, as in torch.  An array that carries one must not be written into.

    >>> import srcdiff
    >>> def f(x):
    ...     with srcdiff.no_grad():
    ...         scale = x * x
    ...     return x * scale
    >>> f(3.0), srcdiff.grad(f)(3.0)
    (27.0, 9.0)
    """
    return Mode(False) if f is None else Mode(False)(f)


def enable_grad(f: Callable[..., Any] | None = None) -> Any:
    """Inside `no_grad`, derivatives flow again: `with srcdiff.enable_grad():`, or a decorator.

    >>> import srcdiff
    >>> def f(x):
    ...     with srcdiff.no_grad():
    ...         scale = x * x
    ...         with srcdiff.enable_grad():
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
    ...     with srcdiff.set_grad_enabled(train):
    ...         scale = x * x
    ...     return x * scale
    >>> srcdiff.grad(f)(3.0, True), srcdiff.grad(f)(3.0, False)
    (27.0, 9.0)
    """
    return Mode(bool(mode))


MODES = (no_grad, enable_grad, set_grad_enabled)
