"""Calls of a program's own functions, and functions inside."""

from __future__ import annotations

from typing import ClassVar

from tests.fuzz.kinds import NUMBER, vector
from tests.fuzz.stores import Stores


class Calls(Stores):
    """Calls functions."""

    weights: ClassVar[dict[str, int]] = {"helper": 2, "closure": 1, "nonlocal": 1, "several": 1}

    def write_helper(self, loop: bool) -> None:
        if self.functions:
            function = self.r.choice(self.functions)
            text = self.call(function, 1)
            if function[2] is None or self.r.random() < 0.3:
                self.line(text)
            else:
                name = self.target(function[2])
                self.line(f"{name} = {text}")
                self.bind(name, function[2])

    def write_closure(self, loop: bool) -> None:
        """A function inside, which sees the names of now as they are when it is called."""
        if self.indent > 1:
            return
        name, before = self.counter("g"), self.scope
        self.scope = before.inner()
        with self.block(f"def {name}(e):"):
            self.scope.names["e"] = vector()
            for _ in range(self.r.randint(0, 2)):
                self.r.choice([self.write_store, self.write_augment_item])(False)
            self.line(f"return {self.of(vector(), 2)}")
        self.scope = before
        self.functions.append((name, (vector(),), vector()))

    def write_nonlocal(self, loop: bool) -> None:
        """A function inside that binds a name outside of it."""
        if self.indent > 1:
            return
        kind, name, bound = self.r.choice([NUMBER, vector()]), self.counter("g"), self.counter("a")
        self.line(f"{bound} = {self.of(kind, 1)}")
        self.bind(bound, kind)
        self.scope.constant.add(bound)
        before, result = self.scope, self.r.choice([None, kind])
        self.scope = before.inner()
        with self.block(f"def {name}(e):"):
            self.scope.names["e"] = NUMBER
            self.line(f"nonlocal {bound}")
            value = self.r.choice([f"{bound} * 0.5 + e", f"{bound} * e", self.of(kind, 2)])
            if kind.rank and self.r.random() < 0.5:
                self.line(f"{bound} = {value} + 0.0 * {bound}")
            else:
                self.line(f"{bound} = {value}")
            if result is not None:
                self.line(f"return {self.of(kind, 1)}")
        self.scope = before
        self.functions.append((name, (NUMBER,), result))

    def write_several(self, loop: bool) -> None:
        """A call of a function whose results are of one kind or another."""
        if not self.generic:
            return
        name, kinds, rounds = self.r.choice(self.generic)
        got = self.counter("g")
        one, two = (self.of(self.r.choice(kinds), 1) for _ in range(2))
        count = self.r.randrange(rounds)
        choice = self.r.random()
        if choice < 0.5:
            self.line(f"{got} = np.sum({name}({one}, {count}) * {self.of(NUMBER, 0)})")
        elif choice < 0.75:
            value = f"{name}({one}, {count}) if {self.condition()} else {name}({two}, {count})"
            self.line(f"{got} = {value}")
            self.line(f"{got} = np.sum(np.sin({got}))")
        else:
            other = self.counter("k")
            self.line(f"{got} = {self.of(NUMBER, 0)}")
            with self.block(f"for {other} in range({rounds}):"):
                self.line(f"{got} = {got} + np.sum({name}({one}, {other})) * 0.5")
        self.bind(got, NUMBER)
