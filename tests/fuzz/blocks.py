"""Branches and loops."""

from __future__ import annotations

from typing import ClassVar

from tests.fuzz.kinds import INT, NUMBER, Kind, Scope, matrix, vector
from tests.fuzz.stores import Stores


class Blocks(Stores):
    """Branches and loops."""

    weights: ClassVar[dict[str, int]] = {
        "if": 4, "for": 3, "while": 1, "forever": 1, "each": 2, "leave": 2,
    }  # fmt: skip

    def write_leave(self, loop: bool) -> None:
        options = ["break", "continue"] if loop else []
        if self.indent > 1 and self.r.random() < 0.4 or not options:
            if self.result is None or self.indent == 1 and self.r.random() < 0.5:
                return
            options = ["return"]
        with self.block(f"if {self.condition()}:"):
            word = self.r.choice(options)
            self.line(f"return {self.of(self.result, 1)}" if word == "return" else word)

    def write_if(self, loop: bool) -> None:
        before, ends = self.scope, []
        words = ["if"] + ["elif"] * self.r.choice([0, 0, 1]) + ["else"] * self.r.choice([0, 1])
        for word in words:
            header = "else:" if word == "else" else f"{word} {self.condition()}:"
            self.scope = before.inner()
            with self.block(header):
                self.body(3, loop)
            ends.append(self.scope)
            self.scope = before
        before.merge(ends if "else" in words else [*ends, before.inner()])

    def write_for(self, loop: bool) -> None:
        name = self.r.choice([n for n in "ijk" if n not in self.scope.constant] or ["l"])
        header = self.r.choice(
            ["range(3)", "range(1, 4)", "reversed(range(3))", "range(3, 0, -1)", "range(0, 4, 2)",
             "range(2)", "range(3, -1, -2)"]
        )  # fmt: skip
        self.inside(f"for {name} in {header}:", {name: INT})

    def write_each(self, loop: bool) -> None:
        one, two = self.named(vector(), 1), self.named(matrix(), 1)
        q, row = self.counter("q"), self.counter("row")
        header, names = self.r.choice(
            [
                (f"{q} in {one}", {q: NUMBER}),
                (f"k, {q} in enumerate({one})", {"k": INT, q: NUMBER}),
                (f"{q}, {row} in zip({one}, {two})", {q: NUMBER, row: vector()}),
                (f"{row} in {two}", {row: vector()}),
                (f"{row} in reversed({two})", {row: vector()}),
                (f"k, {row} in enumerate({two}[::-1], 1)", {"k": INT, row: vector()}),
                (
                    f"k, ({q}, {row}) in enumerate(zip({one}, {two}))",
                    {"k": INT, q: NUMBER, row: vector()},
                ),
                (f"{q}, {row} in zip(reversed({one}), {two}.T)", {q: NUMBER, row: vector(3)}),
            ]
        )
        self.inside(f"for {header}:", names)

    def inside(
        self, header: str, names: dict[str, Kind], first: tuple[str, ...] | list[str] = ()
    ) -> None:
        """The body of a loop: names keep their kinds, so that it may run again."""
        before = self.scope
        self.scope = before.inner()
        self.scope.names.update(names)
        self.scope.constant |= set(names)
        with self.block(header):
            for line in first:
                self.line(line)
            self.body(4, True)
        self.otherwise()
        after, self.scope = self.scope, before
        before.merge([Scope({n: k for n, k in after.names.items() if n in before.names})])

    def otherwise(self) -> None:
        """An `else` of a loop, at times."""
        if self.r.random() < 0.15:
            with self.block("else:"):
                self.write_augment(False)
                self.line("pass")

    def write_while(self, loop: bool) -> None:
        count = self.counter("n")
        self.line(f"{count} = 0")
        test = f"{count} < {self.r.choice([2, 3])}"
        if self.r.random() < 0.6:
            test = f"{self.condition()} and {test}"
        self.inside(f"while {test}:", {count: INT}, [f"{count} += 1"])

    def write_forever(self, loop: bool) -> None:
        """A loop that ends where the data say so, or after some rounds."""
        count = self.counter("n")
        self.line(f"{count} = 0")
        ends = [f"    if {self.condition()} or {count} > {self.r.choice([1, 2])}:", "        break"]
        lines = [f"{count} += 1", *(line[4:] for line in ends)]
        if self.r.random() < 0.3:
            lines = [lines[0], f"if {count} > 2:", "    break", *lines[1:]]
        self.inside(f"while {self.r.choice(['True', 'True', '1'])}:", {count: INT}, lines)
