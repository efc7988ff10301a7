"""Iterators as lists, loops by index, and containers that change in plain ways, in this order."""

from __future__ import annotations

from collections.abc import Mapping

from srcdiff import ir
from srcdiff.analyses.kind_types import Kind
from srcdiff.analyses.kinds import infer
from srcdiff.iterate import iterated
from srcdiff.iterators import listed_iterators
from srcdiff.methods import plain_methods

Kinds = Mapping[str, Kind]


def plain_containers(function: ir.Function, params: Kinds) -> ir.Function:
    """The function with iterators as lists, loops by index, and containers changed plainly."""
    function = listed_iterators(function, infer(function, params))
    function = iterated(function, infer(function, params), params)
    return plain_methods(function, infer(function, params))
