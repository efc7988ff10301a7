"""What the compiler gives: a generated text, and what its callers have to know of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from srcdiff import ir
from srcdiff.codegen.emit import Emitted
from srcdiff.ir.kinds import Kind

Kinds = Mapping[str, Kind]


@dataclass(frozen=True)
class Made:
    """A generated text, the parameters that its primal writes into, and where that returns.

    `functions` are those that it was printed from, with the kinds of their parameters; not those
    of recursive functions.
    """

    emitted: Emitted
    written: tuple[str, ...]
    returns: tuple[ir.Loc, ...]
    functions: tuple[tuple[ir.Function, Kinds], ...]
    consumes: bool = False  # of a pair: the backward part uses its residuals up
    put: tuple[Any, ...] = ()  # containers outside that values with a derivative are put into
