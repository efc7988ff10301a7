"""What a rule is: a template or a definition, and the functions that it is for."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from srcdiff.ir import Attr, Method


@dataclass(frozen=True)
class Store:
    """The function of the statement `x[i] op= v`, or of `x op= v` where `whole`."""

    op: str | None
    whole: bool = False


@dataclass(frozen=True)
class Given:
    """A function where its optional argument `argument` is given: `np.sum(x, where=mask)`."""

    function: Any
    argument: str


@dataclass(frozen=True, eq=False)
class Rule:
    """The derivative of some functions: a template, or nothing where it is zero on purpose.

    A `definition` says what the functions are made of, and stands in place of their calls.

    `view` names the parameter whose memory the result may share, `mutates` the one that is written
    into, `gather` the one that takes all remaining positional arguments of a method call; `calls`
    those that are functions, and last the one that holds what these get behind their arguments.
    """

    name: str
    flavour: str
    functions: tuple[Any, ...]
    template: Callable[..., Any] | None = None
    view: str | None = None
    mutates: str | None = None
    gather: str | None = None
    samples: tuple[str, ...] = ()
    params: tuple[inspect.Parameter, ...] = ()
    definition: Callable[..., Any] | None = field(default=None, repr=False)
    early: bool = False
    reason: str = ""  # why no derivative is given, where that is on purpose
    calls: tuple[str, ...] | None = None
    tangent: Callable[..., Any] | None = field(default=None, repr=False)
    lowered: dict[str, Any] = field(default_factory=dict, repr=False)  # `lower.template` keeps it


def key_of(function: Any) -> Any:
    """What a function is filed under: methods and attributes of arrays by their name."""
    kind = type(function)
    if kind is _ATTRIBUTE:
        return Attr(function.__name__)
    if kind in _METHODS and function.__objclass__ is np.ndarray:
        return Method(function.__name__)
    return function


_ATTRIBUTE = type(vars(np.ndarray)["T"])
_METHODS = (type(np.ndarray.sum), type(np.ndarray.__add__))
