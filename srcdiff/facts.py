"""What the passes after the analyses know of a function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from srcdiff import ir
from srcdiff.analyses.aliases import Aliases
from srcdiff.analyses.kind_types import Kind


@dataclass(frozen=True)
class Facts:
    """Kinds, aliases and active names of one function, and the names of its adjoints."""

    kinds: Mapping[str, Kind]
    aliases: Aliases
    active: frozenset[str]
    adjoints: Mapping[str, str]
    fresh: ir.Fresh
    seed: str = "grad_outputs"

    def adjoint(self, name: str) -> ir.Name:
        """The name of the adjoint of a primal name."""
        return ir.Name(self.adjoints[name])


def adjoint_names(function: ir.Function, active: frozenset[str], fresh: ir.Fresh) -> dict[str, str]:
    """`d_` + name for every active name, in the order of appearance."""
    order = [p.name for p in function.params]
    for stmt in ir.walk(function.body):
        order += [*ir.writes(stmt), *ir.reads(stmt)]
    return {n: fresh(f"d_{n}").id for n in dict.fromkeys(order) if n in active}


Select = Callable[[ir.Stmt], bool]
