"""`detect_anomaly`: the derivatives that are computed inside check their adjoints."""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from srcdiff.driver.options import Options
from srcdiff.ir.frozen import replace
from srcdiff.runtime.contexts import Holding, hooks_hold

_now: ContextVar[detect_anomaly | None] = ContextVar("srcdiff.detect_anomaly", default=None)


class detect_anomaly(Holding):  # noqa: N801
    """Let every derivative that is computed inside check its adjoints.

    A context manager, or a decorator.  It holds for this thread; derivatives are generated once
    more, with checks, so that it costs nothing outside.

    Args:
        check_nan, check_inf: what is an anomaly, as in `grad`.

    Raises:
        AnomalyError: inside, an adjoint is nan (or infinite).

    >>> import numpy as np
    >>> import srcdiff
    >>> def f(x):
    ...     h = np.sqrt(x)
    ...     return h * h
    >>> with np.errstate(all="ignore"), srcdiff.autograd.detect_anomaly():
    ...     srcdiff.grad(f)(0.0)
    Traceback (most recent call last):
        ...
    srcdiff.errors.AnomalyError: the adjoint of `x` is nan
      <doctest ...>:2:5: h = np.sqrt(x)
    No value of the forward part that carries a derivative is nan.
    """

    def __init__(self, check_nan: bool = True, check_inf: bool = False) -> None:
        self.check_nan, self.check_inf = check_nan, check_inf
        super().__init__(_now)

    def __call__(self, f: Callable[..., Any]) -> Callable[..., Any]:
        """A function that runs inside."""

        @functools.wraps(f)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            with detect_anomaly(self.check_nan, self.check_inf):
                return f(*args, **kwargs)

        return wrapper


def as_now(options: Options) -> Options:
    """The options with the checks and the hooks that hold now."""
    now, saves = _now.get(), options.saves or hooks_hold()
    if options.mode != "reverse" or now is None and saves == options.saves:
        return options
    nan = options.check_nan or now is not None and now.check_nan
    inf = options.check_inf or now is not None and now.check_inf
    new = replace(options, check_nan=nan, check_inf=inf, saves=saves)
    return options if new == options else new
