"""What the helpers of generated code ask of the compiler while a program runs."""

from __future__ import annotations

from typing import Any

import numpy as np

from srcdiff.api.jvp import jvp
from srcdiff.driver.derivative import Derivative
from srcdiff.driver.options import Options
from srcdiff.driver.pullback import recorded
from srcdiff.errors import UnsupportedError
from srcdiff.frontend.onecall import place_of
from srcdiff.ir.kinds import Callable, Object, is_active_kind
from srcdiff.kinds.of_values import kind_of
from srcdiff.runtime.devices import is_any_array
from srcdiff.runtime.residuals import copied
from srcdiff.runtime.service import Inputs, made_once


class _Compiler:
    """Derivatives of functions that only the running program knows."""

    jvp = staticmethod(jvp)

    def gradient(self, f: Any, inputs: Inputs, strong_zeros: bool = False) -> Derivative:
        """The gradient of a function by some arguments, zeros where one is not used."""
        options = Options(inputs, materialize_grads=True, strong_zeros=strong_zeros)
        key = "gradient by", inputs, strong_zeros
        return made_once(f, key, lambda: Derivative(f, options))

    def pullback(
        self,
        f: Any,
        inputs: Inputs,
        args: tuple[Any, ...],
        strong_zeros: bool = False,
        writes: bool = False,
    ) -> tuple[Any, Any]:
        """The value of a call and its pullback.

        Raises:
            UnsupportedError: the function writes into an argument, which its caller could not know.
        """
        made = self.gradient(f, inputs, strong_zeros)
        pair = made.pair(*args)
        if pair.written and not writes:
            raise UnsupportedError(
                f"`{getattr(f, '__name__', f)}`, which is known only when the program runs, writes "
                f"into its argument `{pair.written[0]}`",
                place_of(f),
                remedy="Call it by its name, or let it return a new array.",
            )
        value, pull = recorded(pair, (*made.receiver, *args), {})
        arrays = [] if writes else [a for a in args if is_any_array(a)]
        if is_any_array(value) and any(np.may_share_memory(value, a) for a in arrays):
            value = copied(value)
        return value, pull

    def written(self, f: Any, inputs: tuple[int, ...], args: tuple[Any, ...]) -> tuple[str, ...]:
        """The names of the parameters that such a call writes into."""
        return tuple(self.gradient(f, inputs).pair(*args).written)

    def active(self, f: Any, args: tuple[Any, ...]) -> tuple[int, ...]:
        """The positions of the arguments that can carry a derivative."""
        kinds = [kind_of(arg, f"x{k}") for k, arg in enumerate(args)]
        objects = (Object, Callable)
        plain = [is_active_kind(kind) and not isinstance(kind, objects) for kind in kinds]
        return tuple(k for k, is_active in enumerate(plain) if is_active)


COMPILER = _Compiler()
