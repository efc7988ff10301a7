"""Random expressions of a kind, of bounded size and smooth almost everywhere."""

from __future__ import annotations

import random
import re

from tests.fuzz.kinds import (
    FORMS,
    INT,
    LONG,
    NUMBER,
    ROWS,
    Kind,
    Scope,
    list_of,
    matrix,
    slices,
    vector,
)

UNARY = ("np.sin({})", "np.tanh({})", "np.cos({})", "np.exp(-{0} * {0})", "-{}", "{} ** 2",
         "1.0 / (1.5 + {} ** 2)", "np.sqrt(1.0 + {} ** 2)", "abs({})", "0.5 * {}")  # fmt: skip
BINARY = ("{} + {}", "{} - {}", "{} * {}", "{} * {}", "{} / (2.0 + {} ** 2)", "np.maximum({}, {})",
          "np.arctan2({}, 1.0 + {} ** 2)", "0.3 * {} + {}")  # fmt: skip
REDUCED = ("np.sum({})", "{}.sum()", "np.mean({})", "{}.mean()", "np.max({})", "{}.min()",
           "np.sqrt(np.sum({0} * {0}) + 1.0)", "np.std({}) * 1.0")  # fmt: skip


COPIES = (
    "1.0 * {0}", "{0} * 1", "{0} + 0.0", "0 + {0}", "{0} - 0.0", "{0} / 1.0", "{0} ** 1",
    "{0} ** 1.0", "+{0}", "-(-{0})", "np.array({0})", "{0}.copy()", "np.copy({0})",
    "1.0 * {0}[:]", "{0}[:] + 0", "np.positive({0})", "np.maximum({0}, {0})",
    "np.where(True, {0}, {0})", "{0}.astype(float)", "{0} * np.ones({0}.shape)",
    "np.add({0}, 0.0)", "np.multiply(1.0, {0})", "np.array([q for q in {0}])",
    "np.stack(list({0}))", "{0}[...] / 1", "{0} + {0} * 0.0", "np.zeros_like({0}) + {0}",
    "{0}.T.T * 1.0", "{0}.reshape(-1).reshape({0}.shape) + 0.0", "np.clip({0}, -9.0, 9.0)",
    "np.roll({0}, 0)", "np.asarray({0}) * 1.0", "np.concatenate([{0}])", "0.5 * {0} + 0.5 * {0}",
    "abs({0})", "0.3 * {0}",
)  # fmt: skip


class Expressions:
    """Writes expressions over the names of a scope."""

    def __init__(self, r: random.Random) -> None:
        self.r = r
        self.scope = Scope()
        self.functions: list[tuple[str, tuple[Kind, ...], Kind | None]] = []
        self.features: frozenset[str] = frozenset()
        self.outside: dict[str, Kind] = {}  # arrays that no program writes into

    def of(self, kind: Kind, depth: int = 2) -> str:
        """An expression of a kind."""
        names = self.scope.of(kind)
        if kind.form or kind.listed:
            return self.r.choice(names) if names and self.r.random() < 0.7 else self.base(kind)
        if names and (depth <= 0 or self.r.random() < 0.25):
            return self.r.choice(names)
        if depth <= 0:
            return self.base(kind)
        options = [self.unary, self.binary, self.binary, self.special, self.special]
        return self.r.choice(options)(kind, depth - 1)

    def base(self, kind: Kind) -> str:
        """A value of a kind where no name has it."""
        if kind.form:
            return self.display(kind)
        if kind.listed:
            return f"[{self.base(Kind(kind.lengths))}, {self.of(Kind(kind.lengths), 0)}]"
        if kind == INT:
            return str(self.r.randint(0, 2))
        if kind.rank == 0:
            reads = [f"{a}{self.place(self.scope.names[a])}" for a in self.scope.arrays()]
            return self.r.choice([*reads, self.constant()])
        lengths = ", ".join(map(str, kind.lengths))
        shape = lengths if kind.rank == 1 else f"({lengths})"
        return self.r.choice([f"np.zeros({shape})", f"np.ones({shape})", f"np.full({shape}, 0.7)"])

    def display(self, kind: Kind) -> str:
        """A container of containers."""
        return self.filled(FORMS[kind.form].display)

    def filled(self, display: str) -> str:
        """A display with a vector for each V and a number for each N."""
        kinds = {"V": vector(), "N": NUMBER}
        parts = re.split(r"([VN])", display)
        return "".join(self.of(kinds[p], 1) if p in kinds else p for p in parts)

    def deep(self, name: str, kind: Kind) -> tuple[str, Kind]:
        """What is two deep in a container of containers, and its kind."""
        form = FORMS[kind.form]
        one, two = self.r.randrange(2), self.r.randrange(2)
        outer = self.index(2) if form.outer[0] == "0" else form.outer[one]
        inner = self.index(2) if form.lists else form.inner[two]
        return f"{name}[{outer}][{inner}]", form.items[two]

    def constant(self) -> str:
        """A number."""
        return str(self.r.choice([0.5, 1.5, 2.0, -0.7, 0.3, 1.0]))

    def unary(self, kind: Kind, depth: int) -> str:
        """A function of one value."""
        inner = self.of(kind, depth)
        return self.r.choice(UNARY).format(f"({inner})" if " " in inner else inner)

    def binary(self, kind: Kind, depth: int) -> str:
        """A function of two values, one of which may be broadcast."""
        pair = [self.of(kind, depth), self.smaller(kind, depth)]
        self.r.shuffle(pair)
        return "(" + self.r.choice(BINARY).format(*pair) + ")"

    def smaller(self, kind: Kind, depth: int) -> str:
        """A value that broadcasts to a kind."""
        options = [kind, kind, NUMBER]
        if kind.rank == 2:
            options.append(vector(kind.lengths[1]))
            if self.r.random() < 0.2:
                return f"({self.of(vector(kind.lengths[0]), depth)})[:, None]"
        return self.of(self.r.choice(options), depth)

    def special(self, kind: Kind, depth: int) -> str:
        """What only this kind has; calls of the program's own functions."""
        made = [f for f in self.functions if f[2] == kind]
        if made and self.r.random() < 0.4:
            return self.call(self.r.choice(made), depth)
        given = [n for n, k in self.outside.items() if k == kind and k.rank]
        if given and self.r.random() < 0.5:
            return f"({self.r.choice(COPIES)})".format(self.r.choice(given))
        return (self.number, self.vector, self.matrix)[kind.rank](kind, depth)

    def call(self, function: tuple[str, tuple[Kind, ...], Kind | None], depth: int) -> str:
        """A call of one of the program's functions."""
        name, params, _ = function
        given = [self.argument(k, depth) for k in params]
        if params[-1] == INT and self.r.random() < 0.8:  # what recurs writes into one array of two
            given[1] = f"1.0 * ({given[1]})"
        return f"{name}({', '.join(given)})"

    def argument(self, kind: Kind, depth: int) -> str:
        """An argument: often a name, or a view of one."""
        names = self.scope.of(kind)
        if names and self.r.random() < 0.7:
            return self.r.choice(names)
        return self.of(kind, min(depth, 1))

    def number(self, kind: Kind, depth: int) -> str:
        """A number from arrays, lists and conditions."""
        array = self.r.choice([vector(), matrix(), vector(2)])
        lists = self.scope.of(list_of(NUMBER))
        options = [
            lambda: self.r.choice(REDUCED).format(self.named(array, depth)),
            lambda: self.r.choice(REDUCED).format(self.named(array, depth)),
            lambda: f"{self.named(vector(), depth)} @ {self.named(vector(), depth)}",
            lambda: f"np.dot({self.of(vector(3), depth)}, {self.of(vector(3), depth)})",
            lambda: self.base(NUMBER),
            lambda: self.base(NUMBER),
            lambda: f"({self.of(NUMBER, depth)} if {self.condition()} else {self.of(NUMBER, 0)})",
        ]
        if lists:
            name = self.r.choice(lists)
            options += [lambda: f"{name}[{self.r.choice([0, -1])}]", lambda: f"sum({name})"]
        if "p" in self.scope.names or "dict" in self.features:
            options += [lambda: 'p["b"]', lambda: f'p["w"][{self.index(LONG)}]'] * 2
        return self.r.choice(options)()

    def named(self, kind: Kind, depth: int) -> str:
        """A name of a kind, or an expression in parentheses."""
        names = self.scope.of(kind)
        return self.r.choice(names) if names else f"({self.of(kind, depth)})"

    def vector(self, kind: Kind, depth: int) -> str:
        """A vector from matrices, other vectors, numbers."""
        n = kind.lengths[0]
        options = [
            lambda: f"np.where({self.mask(kind)}, {self.of(kind, depth)}, {self.of(kind, 0)})",
            lambda: f"{self.named(kind, depth)}[::-1]",
            lambda: f"np.cumsum({self.of(kind, depth)})",
            lambda: f"{self.named(vector(), depth)}[{self.indices(LONG, n)}]",
            lambda: "np.array([" + ", ".join(self.of(NUMBER, 0) for _ in range(n)) + "])",
            lambda: f"np.roll({self.of(kind, depth)}, 1)",
            lambda: f"{self.named(kind, depth)}.copy()",
        ]
        options += [lambda: self.part_of(n, depth)] * 2
        if n == LONG:
            options += [
                lambda: f"{self.named(matrix(), depth)}.sum(axis=0)",
                lambda: f"{self.named(vector(3), depth)} @ {self.named(matrix(), depth)}",
                lambda: f"{self.named(matrix(), depth)}[{self.index(ROWS)}]",
                lambda: f"np.concatenate([{self.of(vector(3), 0)}, {self.of(vector(1), 0)}])",
                lambda: (
                    f"np.array([{self.of(NUMBER, 0)} * q for q in {self.named(vector(), depth)}])"
                ),
            ]
        if n == ROWS:
            options += [
                lambda: f"{self.named(matrix(), depth)} @ {self.named(vector(), depth)}",
                lambda: f"{self.named(matrix(), depth)}[:, {self.index(LONG)}]",
                lambda: f"np.max({self.named(matrix(), depth)}, axis=1)",
            ]
        return self.r.choice(options)()

    def part_of(self, n: int, depth: int) -> str:
        """A slice of a longer vector."""
        for text in slices(self.r, LONG, n):
            return f"{self.named(vector(), depth)}[{text}]"
        return self.base(vector(n))

    def matrix(self, kind: Kind, depth: int) -> str:
        """A matrix from vectors and other matrices."""
        n, m = kind.lengths
        rows = ", ".join(self.of(vector(m), 0) for _ in range(n))
        return self.r.choice(
            [
                lambda: f"np.outer({self.of(vector(n), depth)}, {self.of(vector(m), depth)})",
                lambda: f"np.stack([{rows}])",
                lambda: f"np.array([{rows}])",
                lambda: f"{self.named(matrix(m, n), depth)}.T",
                lambda: f"{self.named(kind, depth)}[::-1]",
                lambda: f"np.where({self.mask(kind)}, {self.of(kind, depth)}, {self.constant()})",
                lambda: f"{self.named(kind, depth)}[{self.indices(n, n)}]",
                lambda: f"({self.named(kind, 0)} - {self.named(kind, 0)}.mean(axis=0))",
                lambda: (
                    f"{self.named(kind, 0)} / (9.0 + np.sum({self.named(kind, 0)}, axis=1, "
                    "keepdims=True) ** 2)"
                ),
            ]
        )()

    def index(self, length: int) -> str:
        """An integer index of an axis."""
        counters = [n for n, k in self.scope.names.items() if k == INT]
        if counters and self.r.random() < 0.6:
            name = self.r.choice(counters)
            return self.r.choice([f"{name} % {length}", f"-({name} % {length}) - 1",
                                  f"({name} + 1) % {length}", f"{name} % 2 - 1"])  # fmt: skip
        return str(self.r.randint(-length, max(0, length - 1)))  # of nothing: an invalid program

    def indices(self, length: int, count: int) -> str:
        """A list of indices, often with repeats."""
        return str([self.r.randint(-length, max(0, length - 1)) for _ in range(count)])

    def place(self, kind: Kind) -> str:
        """A subscript that selects one number."""
        return "[" + ", ".join(self.index(n) for n in kind.lengths) + "]"

    def mask(self, kind: Kind) -> str:
        """A boolean array."""
        return f"{self.named(kind, 0)} > {self.r.choice([0.2, 0.6, 0.9, -0.1])}"

    def condition(self) -> str:
        """A test."""
        counters = [n for n, k in self.scope.names.items() if k == INT]
        value = self.of(NUMBER, self.r.choice([0, 0, 1]))
        options = [f"{value} > {self.constant()}", f"{value} < {self.constant()}"]
        if counters:
            name = self.r.choice(counters)
            options += [f"{name} % 2 == 0", f"{name} > 1", f"{name} == 1"] * 2
        test = self.r.choice(options)
        if self.r.random() < 0.15:
            test = f"{test} {self.r.choice(['and', 'or'])} {self.r.choice(options)}"
        return test if self.r.random() > 0.1 else f"not ({test})"
