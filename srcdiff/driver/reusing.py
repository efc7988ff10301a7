"""Gradients that keep the memory of their arrays: `grad(f, workspace=True)`."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from srcdiff.driver.completion import offers
from srcdiff.driver.derivative import Derivative
from srcdiff.driver.pickled import parts
from srcdiff.ir import Call
from srcdiff.ir.kinds import Kind
from srcdiff.runtime.allocating import workspaces


@offers("primal", "release_workspace", "source")
class Reusing(Derivative):
    """A gradient that makes large arrays in memory that nobody uses any more.

    Differentiated again it is the gradient without a workspace.
    """

    def release_workspace(self) -> None:
        """Let go of the memory that is kept, of all threads; what somebody holds stays theirs.

        >>> import numpy as np, srcdiff
        >>> def f(x):
        ...     return np.sum(x * x)
        >>> g = srcdiff.grad(f, workspace=True)
        >>> gradient = g(np.ones(10_000))
        >>> g.release_workspace()
        >>> float(gradient[0])
        2.0
        """
        compiled = [made.function for made in list(self._cache.values())]
        compiled += [made.backward for made in list(self._pairs.values())]
        for function in compiled:
            for workspace in workspaces(function):
                workspace.release()

    def for_kinds(self, kinds: Mapping[str, Kind]) -> Any:
        """The generated Python function, to be differentiated."""
        return self._plain.for_kinds(kinds)

    def one_call(self, call: Call, kinds: Mapping[str, Kind]) -> Any:
        """A call of it as one whose derivative goes by the tangent."""
        return self._plain.one_call(call, kinds)

    @functools.cached_property
    def _plain(self) -> Derivative:
        return Derivative(self.primal, replace(self.options, workspace=False))

    @functools.cached_property
    def unbound(self) -> Derivative:
        """The derivative of the function behind a method."""
        return Reusing(self.origin, self._own) if self.receiver else self

    def __reduce__(self) -> Any:
        """Pickled by reference to its function, without the memory."""
        found = super().__reduce__()
        return found if isinstance(found, str) else parts(Reusing, self.primal, self.options)
