"""Random assignments, views, and stores into arrays."""

from __future__ import annotations

from typing import ClassVar

from tests.fuzz.kinds import LONG, NUMBER, Kind, matrix, pick_slice, vector
from tests.fuzz.writer import Writer

KINDS = (NUMBER, vector(), vector(), matrix(), vector(3), vector(2))
OPERATORS = ("+=", "-=", "*=", "+=", "-=", "*=", "+=", "-=", "*=", "/=", "**=", "%=", "//=")


class Stores(Writer):
    """Binds names, and writes into arrays."""

    weights: ClassVar[dict[str, int]] = {
        "assign": 5, "store": 6, "augment": 4, "augment_item": 5, "alias": 2, "view": 4, "swap": 1,
        "pair": 2, "method": 1, "chain": 1,
    }  # fmt: skip

    def write_assign(self, loop: bool) -> None:
        kind = self.r.choice(KINDS)
        text = self.of(kind, self.r.randint(1, 3))
        name = self.target(kind)
        self.line(f"{name} = {text}")
        self.bind(name, kind)

    def write_chain(self, loop: bool) -> None:
        kind = self.r.choice(KINDS)
        text = self.of(kind, 2)
        one, two = self.target(kind), self.target(kind)
        self.line(f"{one} = {two} = {text}")
        self.bind(one, kind)
        self.bind(two, kind)

    def write_pair(self, loop: bool) -> None:
        kinds = [self.r.choice(KINDS) for _ in range(self.r.choice([2, 2, 3]))]
        values = [self.of(k, 1) for k in kinds]
        targets = [self.target(k) for k in kinds]
        if len(set(targets)) < len(targets):
            return
        for k, kind in enumerate(kinds):
            places = [a for a in self.scope.arrays() if a not in targets]
            if kind == NUMBER and places and self.r.random() < 0.5:
                name = self.r.choice(places)
                targets[k] = name + self.place(self.scope.names[name])
        self.line(f"{', '.join(targets)} = {', '.join(values)}")
        for name, kind in zip(targets, kinds, strict=True):
            if "[" not in name:
                self.bind(name, kind)

    def write_alias(self, loop: bool) -> None:
        names = self.scope.arrays()
        if names:
            old = self.r.choice(names)
            new = self.target(self.scope.names[old])
            self.line(f"{new} = {old}")
            self.bind(new, self.scope.names[old])

    def write_swap(self, loop: bool) -> None:
        for kind in self.r.sample(KINDS, len(KINDS)):
            names = [n for n in self.scope.of(kind) if n not in self.scope.constant]
            if len(names) > 1:
                chosen = self.r.sample(names, self.r.choice([2, min(3, len(names))]))
                self.line(f"{', '.join(chosen)} = {', '.join(chosen[1:] + chosen[:1])}")
                return

    def write_view(self, loop: bool) -> None:
        names = self.scope.arrays()
        if not names:
            return
        old = self.r.choice(names)
        text, kind = self.view(old, self.scope.names[old])
        new = self.target(kind)
        self.line(f"{new} = {text}")
        self.bind(new, kind)

    def view(self, name: str, kind: Kind) -> tuple[str, Kind]:
        """A view of an array, and its kind."""
        if kind.rank == 1:
            text, count = pick_slice(self.r, kind.lengths[0])
            if kind.lengths[0] == 4 and self.r.random() < 0.2:
                return f"{name}.reshape(2, 2)", matrix(2, 2)
            return f"{name}[{text}]", vector(count)
        n, m = kind.lengths
        text, count = pick_slice(self.r, m)
        copied = [(f"{name}.ravel()", vector(n * m)), (f"{name}.reshape(-1)", vector(n * m))]
        return self.r.choice(
            [
                (f"{name}[{self.index(n)}]", vector(m)),
                (f"{name}[:, {self.index(m)}]", vector(n)),
                (f"{name}.T", matrix(m, n)),
                (f"{name}[:, {text}]", matrix(n, count)),
                (f"{name}[::-1]", kind),
                (f"{name}[{self.index(n)}, {text}]", vector(count)),
                *(copied if "ravel" in self.features else []),
            ]
        )

    def place_of(self, name: str) -> tuple[str, Kind]:
        """A place in an array to write to, and the kind of what it holds."""
        kind = self.scope.names[name]
        while "deep" in self.features and self.r.random() < 0.3:
            text, part = self.view(name, kind)
            if 0 in part.lengths:
                break
            name, kind = text, part
        return self.place_in(name, kind)

    def place_in(self, name: str, kind: Kind) -> tuple[str, Kind]:
        """A place in an array that a text stands for."""
        choice = self.r.random()
        if choice < 0.35:
            return name + self.place(kind), NUMBER
        first, count = pick_slice(self.r, kind.lengths[0])
        if kind.rank == 1:
            if choice < 0.6:
                return f"{name}[{first}]", vector(count)
            if choice < 0.75 and "indices" in self.features:
                n = self.r.choice([2, 3])
                return f"{name}[{self.indices(kind.lengths[0], n)}]", vector(n)
            if choice < 0.9 and "masks" in self.features:
                return f"{name}[{self.mask(kind)}]", NUMBER
            return f"{name}[{self.r.choice([':', '...'])}]", kind
        n, m = kind.lengths
        text, count_m = pick_slice(self.r, m)
        one, two = self.indices(n, 2), self.indices(m, 2)
        return self.r.choice(
            [
                *([(f"{name}[{name} > 0.4]", NUMBER)] if "masks" in self.features else []),
                *(
                    [
                        (f"{name}[{one}]", matrix(2, m)),
                        (f"{name}[{one}, {two}]", vector(2)),
                        (f"{name}[:, {two}]", matrix(n, 2)),
                        (f"{name}[{first}, {two}]", matrix(count, 2)),
                    ]
                    if "indices" in self.features
                    else []
                ),
                (f"{name}[{self.index(n)}]", vector(m)),
                (f"{name}[:, {self.index(m)}]", vector(n)),
                (f"{name}[{first}, {text}]", matrix(count, count_m)),
                (f"{name}[...]", kind),
                (f"{name}[{first}]", matrix(count, m)),
            ]
        )

    def write_store(self, loop: bool) -> None:
        names = self.scope.arrays()
        if names:
            place, kind = self.place_of(self.r.choice(names))
            value = self.smaller(kind, self.r.randint(0, 2)) if kind.rank else self.of(kind, 2)
            self.line(f"{place} = {value}")

    def write_augment_item(self, loop: bool) -> None:
        names = self.scope.arrays()
        if names:
            place, kind = self.place_of(self.r.choice(names))
            self.augmented(place, self.smaller(kind, 1) if kind.rank else self.of(kind, 1))

    def augmented(self, place: str, value: str) -> None:
        """An operator in place, whose value stays finite."""
        operator = self.r.choice(OPERATORS)
        if operator == "/=":
            value = f"2.0 + ({value}) ** 2"
        elif operator == "**=":
            value = self.r.choice(["2", "2", "2.0", "3"])
        elif operator in ("%=", "//="):
            value = "7.0"
        self.line(f"{place} {operator} {value}")

    def write_augment(self, loop: bool) -> None:
        names = self.scope.arrays() + self.scope.of(NUMBER)
        names = [n for n in names if n not in self.scope.constant]
        if names:
            name = self.r.choice(names)
            kind = self.scope.names[name]
            if kind.rank and kind.lengths[-1] == LONG and self.r.random() < 0.05:
                self.line(f"{name} @= {self.named(matrix(LONG, LONG), 1)}")
                return
            self.augmented(name, self.smaller(kind, self.r.randint(0, 2)))

    def write_method(self, loop: bool) -> None:
        names = self.scope.of(vector())
        if names:
            name = self.r.choice(names)
            self.line(
                self.r.choice(
                    [
                        f"{name}.fill({self.of(NUMBER, 1)})",
                        f"np.add.at({name}, {self.indices(LONG, 3)}, {self.of(vector(3), 1)})",
                        f"np.copyto({name}, {self.of(vector(), 1)})",
                        f"{name}.sort()",
                    ]
                )
            )
