"""Slices written out, iterators as lists, loops by index, containers that change plainly."""

from __future__ import annotations

from srcdiff.kinds.typed import Typed
from srcdiff.normalize.containers.flat import without_flat
from srcdiff.normalize.containers.iterators import listed_iterators
from srcdiff.normalize.containers.methods import plain_methods
from srcdiff.normalize.containers.slices import written_slices
from srcdiff.normalize.iterate import iterated


def plain_containers(typed: Typed) -> Typed:
    """The function with iterators as lists, loops by index, and containers changed plainly."""
    typed = typed.then(written_slices(typed.function, typed.kinds))
    typed = typed.then(without_flat(typed.function, typed.kinds))
    typed = typed.then(listed_iterators(typed.function, typed.kinds))
    # `min(zip(xs, ys))` takes the list that has just been made.
    typed = typed.then(listed_iterators(typed.function, typed.kinds))
    typed = typed.then(iterated(typed.function, typed.kinds, typed.params))
    return typed.then(plain_methods(typed.function, typed.kinds))
