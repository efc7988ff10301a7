"""What a rule is: a template or a definition, and the functions that it is for."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from srcdiff.ir import Accum, Attr, Const, Demand, Method, walk

if TYPE_CHECKING:
    from srcdiff.lower.template import Template


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

    @functools.cached_property
    def lowered(self) -> Template:
        """The template in the intermediate representation, lowered at the first use."""
        from srcdiff.lower.template import lower_template
        from srcdiff.parse import parse

        assert self.template is not None, f"{self.name} has no template"
        return lower_template(parse(self.template), self.mutates)

    @functools.cached_property
    def lowered_tangent(self) -> Template:
        """The tangent's template in the intermediate representation."""
        from srcdiff.lower.template import lower_template
        from srcdiff.parse import parse

        assert self.tangent is not None, f"{self.name} has no tangent of its own"
        return lower_template(parse(self.tangent), self.mutates)

    @functools.cached_property
    def differentiable(self) -> frozenset[str]:
        """The parameters that the template gives a derivative, not one that is zero on purpose."""
        if self.template is None:
            return frozenset()
        below = tuple(walk(self.lowered.below))
        zero = {s for s in below if isinstance(s, Accum) and isinstance(s.value, Const)}
        found = (s for s in below if isinstance(s, (Accum, Demand)) and s not in zero)
        return frozenset(s.like.id for s in found)

    @functools.cached_property
    def mentioned(self) -> frozenset[str]:
        """The parameters whose adjoint the template writes."""
        return frozenset(
            s.like.id for s in walk(self.lowered.below) if isinstance(s, (Accum, Demand))
        )


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
