"""Containers of containers: read and written into two deep, walked through, and their aliases."""

from __future__ import annotations

from typing import ClassVar

from tests.fuzz.blocks import Blocks
from tests.fuzz.kinds import FORMS, NUMBER, Kind, list_of, vector


class Nested(Blocks):
    """Lists of lists, dicts of lists, tuples in lists, dicts of dicts."""

    weights: ClassVar[dict[str, int]] = {"nest": 3, "deep_store": 3, "walk": 2, "slot": 2}

    def write_nest(self, loop: bool) -> None:
        names = self.scope.nested()
        if not names or self.r.random() < 0.25:
            name, kind = self.counter("z"), Kind(form=self.r.choice(sorted(FORMS)))
            self.line(f"{name} = {self.display(kind)}")
            self.bind(name, kind)
            return
        name = self.r.choice(names)
        self.r.choice([self.inner_alias, self.deep_read, self.deep_read, self.exchanged])(name)

    def inner_alias(self, name: str) -> None:
        """A name for a list in a container, or for the whole container."""
        kind = self.scope.names[name]
        new = self.counter("xs")
        if FORMS[kind.form].lists and self.r.random() < 0.8:
            self.line(f"{new} = {name}[{self.r.choice(FORMS[kind.form].outer)}]")
            self.bind(new, list_of(vector()))
        else:
            self.line(f"{new} = {name}")
            self.bind(new, kind)

    def deep_read(self, name: str) -> None:
        """A name for what is two deep: another name of the same array."""
        text, kind = self.deep(name, self.scope.names[name])
        new = self.target(kind)
        self.line(f"{new} = {text}")
        self.bind(new, kind)

    def exchanged(self, name: str) -> None:
        """The items of a container in another order."""
        first, second = (f"{name}[{key}]" for key in FORMS[self.scope.names[name].form].outer)
        self.line(f"{first}, {second} = {second}, {first}")

    def write_deep_store(self, loop: bool) -> None:
        """Into an array two deep, or another value in its place."""
        names = self.scope.nested()
        if not names:
            self.write_nest(loop)
            return
        name = self.r.choice(names)
        text, kind = self.deep(name, self.scope.names[name])
        if kind.rank and self.r.random() < 0.6:
            place, part = self.place_in(text, kind)
            value = self.smaller(part, 1) if part.rank else self.of(part, 1)
            if self.r.random() < 0.5:
                self.augmented(place, value)
            else:
                self.line(f"{place} = {value}")
        elif self.scope.names[name].form == "pairs":
            outer = text[: text.rindex("[")]
            self.line(f"{outer} = ({self.of(vector(), 1)}, {self.of(NUMBER, 1)})")
        elif self.r.random() < 0.5:
            self.augmented(text, self.smaller(kind, 1))
        else:
            self.line(f"{text} = {self.of(kind, 1)}")

    def write_slot(self, loop: bool) -> None:
        """A name for an item whose place is given to another one, then a value of both."""
        names = self.scope.nested()
        if not names:
            self.write_nest(loop)
            return
        name = self.r.choice(names)
        form = FORMS[self.scope.names[name].form]
        held, got, place = self.counter("o"), self.counter("g"), self.r.choice(form.outer)
        if form.outer[0] == "0" and self.r.random() < 0.3:
            place = self.index(2)
        self.line(f"{held} = {name}[{place}]")
        self.replaced(name, place)
        if self.r.random() < 0.3:
            self.statement(loop)
        (one, two), other = form.inner, self.r.choice(form.outer)
        if self.scope.names.get(name) is not None:
            self.line(f"{got} = {held}[{one}] * {held}[{two}] + {name}[{other}][{one}]")
            self.bind(got, vector())
        if form.lists and self.r.random() < 0.5:
            self.bind(held, list_of(vector()))

    def replaced(self, name: str, place: str) -> None:
        """Another item at a place of a container, or all of them moved."""
        form = FORMS[self.scope.names[name].form]
        new = {"rows": "[V, V]", "book": "[V, V]", "pairs": "(V, N)", "tree": '{"u": V, "n": N}'}
        item = self.filled(new[self.scope.names[name].form])
        ways = [f"{name}[{place}] = {item}"] * 3
        if name in self.scope.constant:
            pass  # a loop runs over it
        elif form.outer[0] == "0":
            ways += [f"{name}.reverse()", f"{name}.insert(0, {item}); {name}.pop()"]
        else:
            ways += [f"{name}.update({{{place}: {item}}})"]
        self.line(self.r.choice(ways))

    def write_walk(self, loop: bool) -> None:
        """A loop over a container, or a sum over what it holds."""
        names = self.scope.nested()
        if not names:
            self.write_nest(loop)
            return
        name = self.r.choice(names)
        kind = self.scope.names[name]
        row, one, two, got = (self.counter(stem) for stem in ("row", "q", "t", "g"))
        of = f"{name}.values()" if kind.form in ("book", "tree") else name
        parts = {
            "rows": (row, f"{row}[0] * {row}[1]", {row: list_of(vector())}),
            "book": (row, f"{row}[0] * {row}[-1]", {row: list_of(vector())}),
            "pairs": (f"({one}, {two})", f"{one} * {two}", {one: vector(), two: NUMBER}),
            "tree": (row, f'{row}["u"] * {row}["n"]', {}),
        }
        target, value, bound = parts[kind.form]
        if bound and self.indent < 4 and self.r.random() < 0.5:
            if self.r.random() < 0.3:
                target = f"k, {target}"
                of = f"{name}.items()" if of.endswith("()") else f"enumerate({of})"
            self.inside(f"for {target} in {of}:", {**bound, name: kind})
            return
        summed = [f"sum([{value} for {target} in {of}])", f"sum({value} for {target} in {of})"]
        if kind.form == "rows":
            summed += [
                f"sum([{one} * 0.7 for {row} in {of} for {one} in {row}])",
                f"sum([{one} * {two} for {one}, {two} in zip(*{of})])",
                f"np.array({of}).sum(axis=(0, 1))",
                f"np.asarray({of}).sum(axis=0)[0]",
                f"np.reshape({of}, (4, -1)).sum(axis=0)",
            ]
        self.line(f"{got} = {self.r.choice(summed)}")
        self.bind(got, vector())
