"""`jvp` and `linearize`: derivatives along directions."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from srcdiff import ir
from srcdiff.backends.loader import with_place
from srcdiff.driver.callables import with_keywords
from srcdiff.driver.derivative import Derivative
from srcdiff.driver.executable import CANNOT, Compiled
from srcdiff.driver.options import (
    Options,
    apart,
    behind_aux,
    parameter_names,
    star_of,
    tangent_of,
    without_options,
)
from srcdiff.errors import CotangentError, CotangentTypeError, entry
from srcdiff.ir import TANGENT
from srcdiff.kinds.lattice import kind_of
from srcdiff.runtime.copies import copied
from srcdiff.runtime.devices import is_any_array
from srcdiff.runtime.service import made_once
from srcdiff.runtime.trees import check_leaf, items_like, like_sequence

R = TypeVar("R")


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
        return with_keywords(super().call_signature(), **dict.fromkeys(self._tangents(), ...))

    def keywords(self, function: Any) -> Mapping[str | None, str]:
        """The names of the tangents in a generated function."""
        names = self._tangents()
        return dict(zip(names, last_params(function, len(names))))

    def for_kinds(self, kinds: Mapping[str, ir.Kind], arrays: str = ir.HOST.arrays) -> Any:
        """The generated function for arguments of these kinds; tangents are like their inputs."""
        tangents = set(self._tangents())
        return super().for_kinds({n: k for n, k in kinds.items() if n not in tangents}, arrays)

    def _tangents(self) -> list[str]:
        """Keywords for the tangents of the inputs."""
        return [f"{TANGENT}{i.param}" for i in self.request.inputs]


def pushed(
    found: Compiled, primals: tuple[Any, ...], kwargs: Mapping[str, Any], tangents: tuple[Any, ...]
) -> Any:
    """`(value, tangent)` by a specialisation of forward mode."""
    names = last_params(found.function, len(tangents))
    return with_place(None, found.function, *primals, **kwargs, **dict(zip(names, tangents)))


def _direct(f: Any, call: ir.Call, again: bool = False) -> ir.Call | None:
    """`jvp(f, (x, n), (v, None))` in a differentiated function as a call of what it generates."""
    given = without_options(call.kwargs)
    sequences = [*call.args[1:], *(given.pop(k, None) for k in ("primals", "tangents"))]
    plain = [s for s in sequences if isinstance(s, ir.Tup)]
    if len(plain) != 2 or given or len(plain[0].items) != len(plain[1].items):
        return None
    primals, tangents = plain
    names, star = parameter_names(f), star_of(f)
    items = tangents.items[:star]
    pairs: list[tuple[str, ir.Atom]] = [(n, t) for n, t in zip(names, items) if t != ir.NONE]
    if len(items) < len(tangents.items) and star is not None:
        if ir.NONE in tangents.items[star:]:
            return None
        pairs.append((names[star], ir.Tup(tangents.items[star:])))
    made = forward_of(f, tuple(n for n, _ in pairs), again=again)
    kwargs = tuple((k, t) for k, (_, t) in zip(made._tangents(), pairs))
    return ir.Call(made, primals.items, kwargs)


def last_params(function: Any, count: int) -> list[str]:
    """The names of the tangents, which come last."""
    code = function.__code__
    return list(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount][-count:])


def forward_of(
    f: Any,
    inputs: tuple[Any, ...],
    outputs: Any = None,
    again: bool = False,
    **where: Any,
) -> Forward:
    """The forward-mode function of `f`, made once as long as `f` lives."""

    def make() -> Forward:
        return Forward(f, Options(inputs, outputs, mode="forward", again=again, **where))

    key = "forward", inputs, repr(outputs), again, *sorted((k, repr(v)) for k, v in where.items())
    return made_once(f, key, make)


@entry
def jvp(
    f: Callable[..., R],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    outputs: Any = None,
    **kwargs: Any,
) -> tuple[R, Any]:
    """The value of a function and its derivative along a direction (Jacobian-vector product).

    Args:
        f: the function.
        primals: its positional arguments.
        tangents: for each argument a direction of its structure and shapes; None for one that
            stays constant (numbers and arrays of integers, strings, ...).
        outputs: as in `grad`.
        kwargs: its keyword arguments, which stay constant; `has_aux`, `compile`, `workspace`,
            `threads` and `verify` are options, as in `grad`.

    Returns:
        `(value, tangent)`: the tangent has the structure and the shapes of the selected outputs.

    Raises:
        TransformError: the function cannot be differentiated, with the place and the reason.
        DtypeError: an argument with a tangent is no floating point or complex value.
        CotangentError: a tangent does not fit its argument.

    >>> import srcdiff
    >>> def f(x, n):
    ...     return x ** n
    >>> srcdiff.jvp(f, (2.0, 3), (1.0, None))
    (8.0, 12.0)
    """
    where, kwargs = apart(f, kwargs, "has_aux")
    names = parameter_names(f)
    outputs = behind_aux(outputs, names) if where.pop("has_aux", False) else outputs
    primals, tangents = _checked_pair(primals, tangents)
    given = _by_parameter(f, primals, tangents)
    made = forward_of(f, tuple(given), outputs, **where)
    value, tangent = made.along(primals, kwargs, tuple(given.values()))
    return value, tangent_of(tangent, value, outputs, names)


jvp.__srcdiff_direct__ = _direct  # type: ignore[attr-defined]


def jvp_again(f: Any, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    """`jvp` of a function that runs more than once, which must give the same each time."""
    return jvp(f, primals, tangents)


jvp_again.__srcdiff_direct__ = functools.partial(_direct, again=True)  # type: ignore[attr-defined]


def _checked_pair(primals: Any, tangents: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    """Arguments and their tangents as tuples of one length."""
    for name, given in (("primals", primals), ("tangents", tangents)):
        if not isinstance(given, (tuple, list)):
            raise CotangentTypeError(
                f"{name}: expected a tuple with an item for each argument, "
                f"given {type(given).__name__}"
            )
    if len(primals) != len(tangents):
        raise CotangentError(
            f"tangents: expected {len(primals)} items, one for each of the primals, "
            f"given {len(tangents)}"
        )
    if all(t is None for t in tangents):
        raise CotangentError("tangents: expected at least one that is not None")
    return tuple(primals), tuple(tangents)


def _by_parameter(
    f: Any, primals: tuple[Any, ...], tangents: tuple[Any, ...]
) -> dict[str | int, Any]:
    """The tangents by parameter: those of `*args` are one tuple, with zeros for None."""
    names, star = parameter_names(f), star_of(f)
    found: dict[str | int, Any] = {}
    for k, (p, t) in enumerate(zip(primals[:star], tangents[:star])):
        if t is not None:
            found[names[k] if k < len(names) else k] = tangent_like(t, p, f"tangents[{k}]")
    if star is not None and any(t is not None for t in tangents[star:]):
        rest = enumerate(zip(primals[star:], tangents[star:]), star)
        found[names[star]] = tuple(tangent_like(t, p, f"tangents[{k}]") for k, (p, t) in rest)
    return found


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


class Linear:
    """The derivative of a function at a point, as a linear function of the direction."""

    def __init__(
        self, f: Callable[..., Any], primals: tuple[Any, ...], where: dict[str, Any]
    ) -> None:
        self._f, self._where = f, where
        self._primals = copied(primals)

    @entry
    def __call__(self, *tangents: Any) -> Any:
        """The tangent of the value for the tangents of the arguments."""
        return jvp(self._f, self._primals, tangents, **self._where)[1]


@entry
def linearize(
    f: Callable[..., R],
    *primals: Any,
    compile: str | None = None,
    workspace: bool = False,
    threads: int = 1,
    verify: str | None = None,
) -> tuple[R, Linear]:
    """The value of a function and its derivative as a linear function of the direction.

    The linear function runs `f` again beside its tangents, at copies of the arguments, with
    `compile`, `workspace`, `threads` and `verify` as in `grad`.

    >>> import srcdiff
    >>> value, linear = srcdiff.linearize(lambda x: x * x, 3.0)
    >>> value, linear(1.0), linear(10.0)
    (9.0, 6.0, 60.0)
    """
    where: dict[str, Any] = {
        "compile": compile, "workspace": workspace, "threads": threads, "verify": verify
    }  # fmt: skip
    linear = Linear(f, primals, where)
    return f(*copied(primals)), linear
