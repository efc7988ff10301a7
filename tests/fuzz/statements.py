"""Random statements of every kind."""

from __future__ import annotations

from typing import ClassVar

from tests.fuzz.blocks import Blocks
from tests.fuzz.calls import Calls
from tests.fuzz.lists import Lists
from tests.fuzz.nested import Nested
from tests.fuzz.recurrences import Recurrences
from tests.fuzz.rotations import Rotations
from tests.fuzz.sharing import Sharing
from tests.fuzz.stores import Stores
from tests.fuzz.views import Views


class Statements(Nested, Rotations, Recurrences, Lists, Calls, Sharing):
    """Writes blocks of statements of every kind."""

    weights: ClassVar[dict[str, int]] = {
        **Stores.weights,
        **Blocks.weights,
        **Calls.weights,
        **Lists.weights,
        **Nested.weights,
        **Rotations.weights,
        **Recurrences.weights,
        **Views.weights,
        **Sharing.weights,
    }


OPTIONS = ("ravel", "indices", "masks", "recursion", "deep", "outside", "argument", "objects",
           "shows", "results")  # fmt: skip
ALL = frozenset(Statements.weights) | frozenset(OPTIONS)
