"""Sums of gradients, of which some may be outputs of runs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from srcdiff.api.run import Output
from srcdiff.trees import add_tree, like_tree


class Total(Output):
    """A sum of outputs of several runs, and of a constant."""

    def __init__(self, parts: tuple[Output, ...], constant: Any) -> None:
        super().__init__(parts[0].run, ())
        self._parts, self.constant = parts, constant

    @property
    def value(self) -> Any:
        """The sum of the values."""
        return _sum([p.value for p in self.parts] + [self.constant])

    @property
    def parts(self) -> tuple[Output, ...]:
        """The outputs of one run each that are added."""
        return self._parts

    def __getitem__(self, key: Any) -> Output:
        """The sum at a position or key of what is added."""
        parts = tuple(p[key] for p in self.parts)
        return Total(parts, None if self.constant is None else self.constant[key])

    def __repr__(self) -> str:
        names = " + ".join(dict.fromkeys(p.run.name for p in self.parts))
        return f"<sum of runs of {names}: {self.value!r}>"


def added(gradients: Iterable[Any]) -> Any:
    """The sum of gradients of one structure, None where all are; an output if one of them is."""
    there = [g for g in gradients if g is not None]
    outputs = [g for g in there if isinstance(g, Output)]
    if not outputs or len(there) == 1:
        return _sum(there)
    constants = [g for g in there if not isinstance(g, Output)]
    constants += [g.constant for g in outputs if isinstance(g, Total)]
    return Total(tuple(p for g in outputs for p in g.parts), _sum(constants))


def _sum(gradients: list[Any]) -> Any:
    """The sum of gradients of one structure, None where all are."""
    there = [g for g in gradients if g is not None]
    if not there:
        return None
    total = there[0]
    for one in there[1:]:
        total = like_tree(add_tree(total, one), total)
    return total
