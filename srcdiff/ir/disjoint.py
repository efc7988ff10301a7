"""Disjoint sets: which of some names, sites or definitions have been made one."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)


class Disjoint(Generic[K]):
    """Sets of keys, for each of which one key stands; a key that was never joined is alone."""

    def __init__(self) -> None:
        self.parent: dict[K, K] = {}

    def find(self, key: K) -> K:
        """The key that stands for the set of a key."""
        root = key
        while root in self.parent:
            root = self.parent[root]
        while key != root:
            self.parent[key], key = root, self.parent[key]
        return root

    def join(self, first: K, other: K) -> bool:
        """Make two sets one, for which stands what stood for the first; whether they were two."""
        one, two = self.find(first), self.find(other)
        if one == two:
            return False
        self.parent[two] = one
        return True
