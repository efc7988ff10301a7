"""What the writer of random programs knows of a name: a number, a vector, a matrix, a list."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Kind:
    """A number (no lengths), an array (its lengths), or a list of numbers or arrays."""

    lengths: tuple[int, ...] = ()
    listed: bool = False
    whole: bool = False
    form: str = ""  # of containers in containers, see FORMS

    @property
    def rank(self) -> int:
        """The number of axes."""
        return len(self.lengths)


NUMBER = Kind()
INT = Kind(whole=True)
LONG = 4  # length of vectors
ROWS = 3  # rows of matrices


def vector(n: int = LONG) -> Kind:
    """An array with one axis."""
    return Kind((n,))


def matrix(rows: int = ROWS, columns: int = LONG) -> Kind:
    """An array with two axes."""
    return Kind((rows, columns))


def list_of(kind: Kind) -> Kind:
    """A list of values of one kind."""
    return Kind(kind.lengths, listed=True)


@dataclass(frozen=True)
class Form:
    """A container in a container: how it is written (V: a vector, N: a number), what it holds."""

    display: str
    outer: tuple[str, str]
    inner: tuple[str, str]
    items: tuple[Kind, Kind]
    lists: bool = False  # whether what it holds are lists of vectors


FORMS = {
    "rows": Form("[[V, V], [V, V]]", ("0", "1"), ("0", "1"), (vector(), vector()), True),
    "book": Form(
        '{"u": [V, V], "w": [V, V]}', ('"u"', '"w"'), ("0", "1"), (vector(), vector()), True
    ),
    "pairs": Form("[(V, N), (V, N)]", ("0", "1"), ("0", "1"), (vector(), NUMBER)),
    "tree": Form(
        '{"a": {"u": V, "n": N}, "b": {"u": V, "n": N}}',
        ('"a"', '"b"'),
        ('"u"', '"n"'),
        (vector(), NUMBER),
    ),
}


@dataclass
class Scope:
    """The names that can be read at a place of a program."""

    names: dict[str, Kind] = field(default_factory=dict)
    constant: set[str] = field(default_factory=set)  # not to be bound again, like loop counters

    def of(self, kind: Kind) -> list[str]:
        """The names of one kind."""
        return [n for n, k in self.names.items() if k == kind]

    def arrays(self) -> list[str]:
        """The names of arrays."""
        return [n for n, k in self.names.items() if k.rank and not k.listed]

    def lists(self) -> list[str]:
        """The names of lists."""
        return [n for n, k in self.names.items() if k.listed]

    def nested(self) -> list[str]:
        """The names of containers of containers."""
        return [n for n, k in self.names.items() if k.form]

    def free(self) -> list[str]:
        """The names that may be bound again."""
        return [n for n in self.names if n not in self.constant]

    def inner(self) -> Scope:
        """A copy for a block that may not run, or may run again."""
        return Scope(dict(self.names), set(self.constant))

    def merge(self, branches: list[Scope]) -> None:
        """After a block: what is certain whichever way was taken."""
        for name in list(self.names):
            if any(b.names.get(name) != self.names[name] for b in branches):
                del self.names[name]
        first, *rest = branches
        for name, kind in first.names.items():
            if all(b.names.get(name) == kind for b in rest):
                self.names.setdefault(name, kind)


def pick_slice(r: random.Random, length: int) -> tuple[str, int]:
    """A slice of an axis, and the length of what it selects."""
    text = r.choice(["1:", ":-1", "::2", "::-1", "1:3", ":2", "-2:", ":", "::-2", "1::2", "2:0:-1"])
    start, stop, *step = [int(p) if p else None for p in (*text.split(":"), "", "")[:3]]
    return text, len(range(length)[slice(start, stop, step[0])])


def slices(r: random.Random, length: int, wanted: int) -> Iterator[str]:
    """Slices that select a number of items."""
    for _ in range(12):
        text, count = pick_slice(r, length)
        if count == wanted:
            yield text
