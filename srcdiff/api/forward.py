"""The function of forward mode: the value and its derivative along a direction, and tangents.

Takes a function and options; gives what the transforms that go forwards are written with.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np

from srcdiff import ir
from srcdiff.backends.loader import with_place
from srcdiff.driver.callables import with_keywords
from srcdiff.driver.derivative import Derivative
from srcdiff.driver.executable import CANNOT, Compiled
from srcdiff.driver.options import Options, where_of
from srcdiff.ir import TANGENT
from srcdiff.kinds.lattice import kind_of
from srcdiff.runtime.devices import is_any_array
from srcdiff.runtime.service import made_once
from srcdiff.runtime.trees import check_leaf, items_like, like_sequence


class Forward(Derivative):
    """The function that computes a value and its derivative along a direction of some inputs."""

    def along(
        self, primals: tuple[Any, ...], kwargs: dict[str, Any], tangents: tuple[Any, ...]
    ) -> Any:
        """`(value, tangent)` at some arguments, for the tangents of the inputs."""
        primals = (*self.receiver, *primals)
        return pushed(self._found(primals, kwargs), primals, kwargs, tangents)

    def along_many(
        self, primals: tuple[Any, ...], kwargs: dict[str, Any], tangents: tuple[Any, ...], size: int
    ) -> Any:
        """`(value, tangent)` for a batch of tangents; `CANNOT` where they go one by one."""
        primals = (*self.receiver, *primals)
        found = self._found(primals, kwargs)
        if found.many is None:
            return CANNOT
        names = last_params(found.many[0], len(tangents) + 1)
        return found.called_many(*primals, **kwargs, **dict(zip(names, (*tangents, size))))

    def call_signature(self) -> inspect.Signature:
        """The parameters of the function, and the tangents by keyword."""
        return with_keywords(super().call_signature(), **dict.fromkeys(self.tangents(), ...))

    def keywords(self, function: Any) -> Mapping[str | None, str]:
        """The names of the tangents in a generated function."""
        names = self.tangents()
        return dict(zip(names, last_params(function, len(names))))

    def for_kinds(self, kinds: Mapping[str, ir.Kind], arrays: str = ir.HOST.arrays) -> Any:
        """The generated function for arguments of these kinds; tangents are like their inputs."""
        tangents = set(self.tangents())
        return super().for_kinds({n: k for n, k in kinds.items() if n not in tangents}, arrays)

    def tangents(self) -> list[str]:
        """Keywords for the tangents of the inputs."""
        return [f"{TANGENT}{i.param}" for i in self.request.inputs]


def pushed(
    found: Compiled, primals: tuple[Any, ...], kwargs: Mapping[str, Any], tangents: tuple[Any, ...]
) -> Any:
    """`(value, tangent)` by a specialisation of forward mode."""
    names = last_params(found.function, len(tangents))
    return with_place(None, found.function, *primals, **kwargs, **dict(zip(names, tangents)))


def last_params(function: Any, count: int) -> list[str]:
    """The names of the tangents, which come last."""
    code = function.__code__
    return list(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount][-count:])


def forward_of(f: Any, options: Options, inputs: tuple[Any, ...]) -> Forward:
    """The forward-mode function of `f` by some parameters, made once as long as `f` lives."""
    asked = Options(
        inputs, options.outputs, options.unused, options.has_aux, mode="forward",
        again=options.again, **where_of(options),
    )  # fmt: skip
    return made_once(f, ("forward", repr(asked)), lambda: Forward(f, asked))


# --- tangents of arguments ------------------------------------------------------------------------


def tangent_like(given: Any, like: Any, path: str) -> Any:
    """A copy of a tangent, checked against its argument; zero where it is None."""
    if isinstance(like, dict):
        given = items_like(given, like, path, "argument")
        return {k: tangent_like(given.get(k), v, f"{path}[{k!r}]") for k, v in like.items()}
    if isinstance(like, (list, tuple)):
        given = items_like(given, like, path, "argument")
        items = [tangent_like(g, v, f"{path}[{k}]") for k, (g, v) in enumerate(zip(given, like))]
        return like_sequence(like, items)
    if not _is_numeric(like):
        return None
    return _leaf(given, like, path)


def _is_numeric(value: Any) -> bool:
    number = isinstance(value, (int, float, complex, np.generic)) and not isinstance(value, bool)
    return number or is_any_array(value)


def _leaf(given: Any, like: Any, path: str) -> Any:
    """The tangent of a number or array, in its shape, dtype and layout."""
    given = 0.0 if given is None and np.shape(like) == () else given
    if given is None:
        return np.zeros_like(like)
    check_leaf(given, like, path, "argument")
    if not ir.is_active_kind(kind_of(like, "x")):
        return np.zeros(np.shape(like))[()]
    if not is_any_array(like):
        return type(like)(given)
    new = np.empty_like(like)
    new[...] = given
    return new
