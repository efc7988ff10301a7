"""Recurrences by tuple assignment, indices that index themselves, and arrays kept in lists."""

from __future__ import annotations

from typing import ClassVar

from srcdiff.normalize.overlaps import INDEX_IS_READ_LATE
from tests.fuzz.blocks import Blocks
from tests.fuzz.kinds import INT, LONG, NUMBER, vector


class Recurrences(Blocks):
    """Writes what reads the values of before beside those of now."""

    # Before NumPy 2.3 an index that is stored into at itself has no certain value.
    weights: ClassVar[dict[str, int]] = {
        "recurrence": 1, "itself": 0 if INDEX_IS_READ_LATE else 1, "kept": 1,
    }  # fmt: skip

    def write_recurrence(self, loop: bool) -> None:
        """`a, b = b, 2.0 * x * b - a`, a few times."""
        kind = self.r.choice([NUMBER, vector()])
        x, one, two = self.of(kind, 0), self.counter("p"), self.counter("q")
        first = self.r.choice([self.of(kind, 1), one if self.r.random() < 0.3 else x])
        self.line(f"{one} = {x} * 1.0" if first == one else f"{one} = {self.of(kind, 1)}")
        self.line(f"{two} = {first}")
        step = self.r.choice(
            [
                f"{one}, {two} = {two}, 0.4 * {x} * {two} - {one}",
                f"{one}, {two} = {two} + 0.2 * {one}, {one}",
                f"{one}, {two} = 0.3 * {one} * {two}, np.sin({two})",
                f"{two}, {one} = np.cos({two} - {one}), {two}",
            ]
        )
        counter = self.counter("k")
        if kind == NUMBER or self.r.random() < 0.6:
            self.inside(f"for {counter} in range({self.r.choice([2, 3])}):", {counter: INT}, [step])
        else:
            more = self.r.choice([f"{one} *= 0.9", f"{two}[1:] += {one}[:-1]", f"{one}[0] = 0.5"])
            lines = [step, more] if self.r.random() < 0.5 else [more, step]
            self.inside(f"for {counter} in range(2):", {counter: INT}, lines)
        for name in (one, two):
            self.bind(name, kind)

    def write_itself(self, loop: bool) -> None:
        """An array of indices that stands in its own index, between uses of it."""
        names = self.scope.of(vector())
        if not names:
            return
        name, order = self.r.choice(names), self.counter("o")
        places = self.r.sample(range(LONG), LONG)
        view = self.r.choice([order, order, f"{order}[1:]", f"{order}[::-1]"])
        change = self.r.choice(
            [
                f"{order}[{order}] = np.arange({LONG})",
                f"{order}[{order}] = {order}[::-1].copy()",
                f"{order}[{view}] = {self.r.randrange(LONG)}",
                f"{order}[{order}] += 1; {order} %= {LONG}",
            ]
        )
        self.line(f"{order} = np.array({places})")
        use = [
            f"{name}[{order}] = {self.of(vector(), 1)}",
            f"{name}[{order}] *= {self.of(vector(), 0)}",
            f"{name}[{order}] = np.sin({name}[{order}]) * 0.7",
        ]
        self.line(self.r.choice(use))
        self.line(change)
        self.line(self.r.choice(use))

    def write_kept(self, loop: bool) -> None:
        """An item of a list changed in place, which is an array that has been."""
        names = [n for n in self.scope.of(vector()) if n not in self.scope.constant]
        if not names:
            return
        name, held = self.r.choice(names), self.counter("held")
        before = self.r.choice([f"{name} *= 0.8", f"{name} -= {self.of(vector(), 0)}", ""])
        if before and self.r.random() < 0.7:
            self.line(before)
        self.line(f"{held} = [{name}]" if self.r.random() < 0.7 else f"{held} = [{name}, {name}]")
        if before and self.r.random() < 0.5:
            self.line(before)
        self.line(f"{held}[0] {self.r.choice(['-=', '+=', '*='])} {self.of(vector(), 1)}")
        if self.r.random() < 0.5:
            self.line(f"{name}[{self.r.randrange(LONG)}] = {held}[-1][0] * 0.5")
