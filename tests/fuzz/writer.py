"""What writes the statements of a program, line by line."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager
from typing import ClassVar

from tests.fuzz.expressions import Expressions
from tests.fuzz.kinds import NUMBER, Kind

LOCALS = ("a", "b", "c", "d", "u", "v", "w", "t", "out", "total")
COMPOUND = ("if", "for", "while", "each", "forever", "rotate", "walk", "recurrence")


class Writer(Expressions):
    """Writes blocks of statements."""

    weights: ClassVar[dict[str, int]] = {}

    def __init__(self, r: random.Random, features: frozenset[str]) -> None:
        super().__init__(r)
        self.features = features
        self.lines: list[str] = []
        self.indent = 1
        self.loops = 0
        self.fresh = 0
        self.result: Kind | None = NUMBER
        self.generic: list[tuple[str, tuple[Kind, ...], int]] = []

    def line(self, text: str) -> None:
        """One line at the indentation of now."""
        self.lines.append("    " * self.indent + text)

    @contextmanager
    def block(self, header: str) -> Iterator[None]:
        """Lines below a header."""
        self.line(header)
        self.indent += 1
        yield
        self.indent -= 1

    def body(self, size: int, loop: bool) -> None:
        """Some statements."""
        count = len(self.lines)
        for _ in range(self.r.randint(1, size)):
            self.statement(loop)
        if len(self.lines) == count:
            self.line("pass")

    def statement(self, loop: bool) -> None:
        """One statement."""
        names = [k for k in self.weights if k in self.features]
        kind = self.r.choices(names, [self.weights[k] for k in names])[0]
        if self.indent > 3 and kind in COMPOUND:
            kind = "assign"
        getattr(self, f"write_{kind}")(loop)

    def target(self, kind: Kind) -> str:
        """A name to bind: a new one, or one that exists, even of another kind."""
        if self.r.random() < 0.45:
            same = [n for n in self.scope.of(kind) if n not in self.scope.constant]
            if same:
                return self.r.choice(same)
        other = [n for n in LOCALS if n not in self.scope.names]
        if other and (self.indent > 1 or self.r.random() < 0.8):
            return self.r.choice(other)
        free = [n for n in self.scope.free() if self.indent == 1 or self.scope.names[n] == kind]
        return self.r.choice(free) if free else self.counter("z")

    def bind(self, name: str, kind: Kind) -> None:
        """A name can be read from here on."""
        self.scope.names[name] = kind

    def counter(self, stem: str) -> str:
        """A new name."""
        self.fresh += 1
        return f"{stem}{self.fresh}"
