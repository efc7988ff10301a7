"""Whether residuals share memory, or containers and objects, with what somebody else holds."""

from __future__ import annotations

import collections
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from srcdiff.runtime.devices import is_any_array
from srcdiff.runtime.residuals import PLAIN, attributes, is_open
from srcdiff.runtime.scipy.sparse import is_sparse


@dataclass
class Held:
    """The arrays, and by their ids the containers and objects, that a value holds."""

    arrays: list[Any] = field(default_factory=list)
    others: dict[int, Any] = field(default_factory=dict)

    def add(self, value: Any) -> Held:
        """Look into a value."""
        if is_any_array(value):
            self.arrays.append(value)
        elif id(value) not in self.others:
            parts = _parts(value)
            if parts is not None:
                if type(value) is not tuple:
                    self.others[id(value)] = value
                for part in parts:
                    if type(part) not in PLAIN:
                        self.add(part)
        return self

    def has(self, item: Any) -> bool:
        """Whether something is in the value, of which only these are looked for."""
        if is_any_array(item):
            return any(a is item for a in self.arrays)
        return not isinstance(item, (list, dict)) or id(item) in self.others


def _parts(value: Any) -> Iterable[Any] | None:
    """What a container, an object or a sparse matrix holds, None for other values."""
    if isinstance(value, (list, tuple, collections.deque)):
        return value
    if isinstance(value, Mapping):
        return list(value.values())
    if is_sparse(value):
        return list(vars(value).values())
    return list(attributes(value).values()) if is_open(value) else None


def shares(mine: Any, theirs: Any) -> bool:
    """Whether two values have memory in common, or containers and objects."""
    one, two = Held().add(mine), Held().add(theirs)
    if not one.others.keys().isdisjoint(two.others):
        return True
    return any(np.may_share_memory(a, b) for a in one.arrays for b in two.arrays)
