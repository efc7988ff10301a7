"""Whole numbers that change their roles as places in arrays and lists."""

from __future__ import annotations

from typing import ClassVar

from tests.fuzz.blocks import Blocks
from tests.fuzz.kinds import INT, LONG, NUMBER, ROWS, Kind, matrix, vector


class Rotations(Blocks):
    """Swapped and rotated indices, and lists and arrays of indices in other orders."""

    weights: ClassVar[dict[str, int]] = {"rotate": 2, "order": 1}

    def write_rotate(self, loop: bool) -> None:
        """A loop that reads a buffer at some places and writes it at others."""
        count = self.r.choice([2, 2, 3])
        names = [self.counter("i") for _ in range(count)]
        buffer, kind, length = self.buffer()
        firsts = self.r.sample(range(-1, length - 1), count)
        self.line(f"{', '.join(names)} = {', '.join(map(str, firsts))}")
        for name in names:
            self.bind(name, INT)
            self.scope.constant.add(name)
        counter = self.counter("k")
        stores = [self.moved(buffer, kind, names) for _ in range(self.r.choice([1, 1, 2]))]
        swap = [self.swapped(names, length)]
        if self.r.random() < 0.3:
            swap = [f"if {self.condition()}:", f"    {swap[0]}"]
        lines = [*stores, *swap] if self.r.random() < 0.7 else [*swap, *stores]
        rounds = self.r.choice([2, 3, 4])
        if self.r.random() < 0.7:
            header = f"for {counter} in range({rounds}):"
        else:
            self.line(f"{counter} = 0")
            header, lines = f"while {counter} < {rounds}:", [*lines, f"{counter} += 1"]
        if self.r.random() < 0.5:
            self.inside(header, {counter: INT}, lines)
            return
        with self.block(header):
            for line in lines:
                self.line(line)

    def buffer(self) -> tuple[str, Kind, int]:
        """An array or a list, what it holds, and how many of it."""
        choice = self.r.random()
        name = self.counter("u")
        if choice < 0.4:
            names = self.scope.arrays()
            names = [n for n in names if self.scope.names[n].lengths[0] >= ROWS]
            if names:
                kind = self.scope.names[old := self.r.choice(names)]
                return old, Kind(kind.lengths[1:]), kind.lengths[0]
        if choice < 0.6:
            self.line(f"{name} = {self.of(vector(), 1)} * 1.0")
            self.bind(name, vector())
            return name, NUMBER, LONG
        if choice < 0.8:
            self.line(f"{name} = np.zeros((3, {LONG}))")
            self.line(f"{name}[0] = {self.of(vector(), 1)}")
            self.bind(name, matrix())
            return name, vector(), ROWS
        if choice < 0.9:
            self.line(f"{name} = list({self.of(vector(), 1)})")
            return name, NUMBER, LONG
        values = ", ".join(self.of(vector(), 1) for _ in range(3))
        self.line(f"{name} = [{values}]")
        return name, vector(), 3

    def moved(self, buffer: str, kind: Kind, names: list[str]) -> str:
        """A store into one place of what is computed from others."""
        new, old, *more = self.r.sample(names, len(names))
        last = more[0] if more else old
        factor = self.of(NUMBER, 0)
        array = buffer in self.scope.names
        if kind.rank == 0:
            options = [
                f"{buffer}[{new}] = {buffer}[{old}] * {buffer}[{last}] + {factor}",
                f"{buffer}[{new}] = np.sin({buffer}[{old}]) * {factor}",
                f"{buffer}[{new}] += {buffer}[{old}] * {buffer}[{last}] * 0.3",
                f"{buffer}[{new}] *= {buffer}[{old}]",
            ]
            if array:
                options += [
                    f"{buffer}[[{new}, {old}]] = {buffer}[[{old}, {new}]] * {factor}",
                    f"{buffer}[{new} % 2:][:2] = {buffer}[{old} % 2:][:2] ** 2",
                ]
        else:
            item = f"{buffer}[{old}, 1:]" if array else f"{buffer}[{old}][1:]"
            place = f"{buffer}[{new}, :-1]" if array else f"{buffer}[{new}][:-1]"
            options = [
                f"{buffer}[{new}] = {buffer}[{old}] * {buffer}[{last}] + {factor}",
                f"{buffer}[{new}][1:] = {buffer}[{old}][:-1] * {factor}",
                f"{place} = {item} ** 2 * 0.5",
                f"{place} += {item} * {factor}",
                f"{buffer}[{new}] *= np.cos({buffer}[{old}])",
            ]
        return self.r.choice(options)

    def swapped(self, names: list[str], length: int) -> str:
        """The places in other roles."""
        first, *rest = names
        return self.r.choice(
            [
                f"{', '.join(names)} = {', '.join([*rest, first])}",
                f"{', '.join(names)} = {', '.join([*rest, first])}",
                f"{', '.join(names)} = {', '.join([names[-1], *names[:-1]])}",
                f"{', '.join(names)} = {', '.join([*rest, f'({first} + 1) % {length}'])}",
                f"{first} = ({first} + 1) % {length}",
                f"{first} = 1 - {first}",
            ]
        )

    def write_order(self, loop: bool) -> None:
        """A list or an array of indices that is changed between reads and stores."""
        names = self.scope.of(vector())
        if not names:
            return
        name, order, got = self.r.choice(names), self.counter("o"), self.counter("g")
        places = self.indices(LONG, 3)
        if self.r.random() < 0.5:
            self.line(f"{order} = {places}")
            changes = [
                f"{order}[0], {order}[1] = {order}[1], {order}[0]",
                f"{order} = {order}[1:] + {order}[:1]",
                f"{order}.append({order}.pop(0))",
                f"{order}.reverse()",
                f"{order}[2] = {self.r.randrange(LONG)}",
            ]
        else:
            self.line(f"{order} = np.array({places})")
            changes = [
                f"{order} = np.roll({order}, 1)",
                f"{order}[[0, 1]] = {order}[[1, 0]]",
                f"{order}[0] = {self.r.randrange(LONG)}",
                f"{order} = {order}[::-1]",
                f"{order} += 1; {order} %= {LONG}",
            ]
        self.line(f"{name}[{order}] = {self.of(vector(3), 1)}")
        self.line(self.r.choice(changes))
        self.augmented(f"{name}[{order}]", self.smaller(vector(3), 1))
        self.line(self.r.choice(changes))
        self.line(f"{got} = {name}[{order}[{self.r.randrange(3)}]] * {name}[{order}][0]")
        self.bind(got, NUMBER)
