"""A function with the kinds of its names, which are inferred once as long as it stays the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from srcdiff import ir
from srcdiff.ir.kinds import Kind
from srcdiff.kinds.interpreter import infer


@dataclass(frozen=True, eq=False)
class Typed:
    """A function and the kinds of its parameters."""

    function: ir.Function
    params: Mapping[str, Kind]

    @cached_property
    def kinds(self) -> Mapping[str, Kind]:
        """The kinds of all its names."""
        return infer(self.function, self.params)

    def then(self, new: ir.Function) -> Typed:
        """The function after a pass; where that changed nothing but texts, its kinds are known."""
        after = Typed(new, self.params)
        if new == self.function and "kinds" in vars(self):
            vars(after)["kinds"] = self.kinds
        return after
