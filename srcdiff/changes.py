"""Slices written out, iterators as lists, loops by index, containers that change plainly."""

from __future__ import annotations

from srcdiff.analyses.typed import Typed
from srcdiff.flat import without_flat
from srcdiff.iterate import iterated
from srcdiff.iterators import listed_iterators
from srcdiff.methods import plain_methods
from srcdiff.slices import written_slices


def plain_containers(typed: Typed) -> Typed:
    """The function with iterators as lists, loops by index, and containers changed plainly."""
    typed = typed.then(written_slices(typed.function, typed.kinds))
    typed = typed.then(without_flat(typed.function, typed.kinds))
    typed = typed.then(listed_iterators(typed.function, typed.kinds))
    # `min(zip(xs, ys))` takes the list that has just been made.
    typed = typed.then(listed_iterators(typed.function, typed.kinds))
    typed = typed.then(iterated(typed.function, typed.kinds, typed.params))
    return typed.then(plain_methods(typed.function, typed.kinds))
