"""Lists, dicts and what is read from them."""

from __future__ import annotations

from typing import ClassVar

from tests.fuzz.kinds import NUMBER, Kind, list_of, vector
from tests.fuzz.writer import Writer


class Lists(Writer):
    """Makes and changes lists and dicts of numbers or arrays."""

    weights: ClassVar[dict[str, int]] = {
        "list": 2, "dict": 2, "grow": 2, "table": 2, "collect": 3, "star": 1,
        "measure": 2,
    }  # fmt: skip

    def write_list(self, loop: bool) -> None:
        lists = self.scope.lists()
        if not lists or self.r.random() < 0.2:
            name, kind = self.counter("xs"), self.r.choice([NUMBER, NUMBER, vector()])
            self.line(f"{name} = [{self.of(kind, 1)}, {self.of(kind, 1)}]")
            self.bind(name, list_of(kind))
            return
        name = self.r.choice(lists)
        kind = Kind(self.scope.names[name].lengths)
        choice = self.r.choice(["append", "append", "item", "store", "pop"])
        if choice == "append":
            self.line(f"{name}.append({self.of(kind, 1)})")
        elif choice == "store":
            self.line(f"{name}[{self.r.choice([0, 1, -1])}] = {self.of(kind, 1)}")
        else:
            end = self.r.choice(["[0]", "[-1]"]) if choice == "item" else ".pop()"
            target = self.target(kind)
            self.line(f"{target} = {name}{end}")
            self.bind(target, kind)
            if choice == "pop":
                self.line(f"{name}.append({self.of(kind, 1)})")

    def write_grow(self, loop: bool) -> None:
        """A list that changes its length and gets it back."""
        lists = self.scope.lists()
        if not lists:
            self.write_list(loop)
            return
        name = self.r.choice(lists)
        kind = Kind(self.scope.names[name].lengths)
        item = self.of(kind, 1)
        one, two = self.counter("g"), self.counter("g")
        place = self.r.choice(["0", "1", "-1"])
        lines = self.r.choice(
            [
                [f"{name}.insert({place}, {item})", f"{one} = {name}.pop({place})"],
                [f"{one} = {name}.pop({place})", f"{name}.insert({place}, {item})"],
                [f"{name}.extend([{item}, {self.of(kind, 1)}])", f"{one} = {name}.pop(0)"],
                [f"{name} += [{item}]", f"{one} = {name}[0]", f"del {name}[0]"],
                [f"{name}.reverse()", f"{one} = {name}[0]"],
                [f"{one} = {name}[1]", f"{name}[1:2] = [{item}, {one}]", f"del {name}[-1]"],
                [f"{name} = {name}[::-1]", f"{one} = {name}[-1]"],
                [f"{name} = [*{name}, {item}][1:]", f"{one} = {name}[0]"],
                [f"{name} = {name} + [{item}]", f"{one} = {name}[-1]"],
                [f"{two} = {name}.copy()", f"{two}[0] = {item}", f"{one} = {two}[0]"],
            ]
        )
        for line in lines:
            self.line(line)
        self.bind(one, kind)

    def write_table(self, loop: bool) -> None:
        """A dict of numbers or arrays."""
        name, key, got = self.counter("d"), self.counter("k"), self.counter("g")
        kind = self.r.choice([NUMBER, vector()])
        first, item = self.of(kind, 1), self.of(kind, 1)
        self.line(f'{name} = {{"u": {first}}}')
        self.line(
            self.r.choice(
                [
                    f'{name}["v"] = {item}',
                    f'{name}.update({{"v": {item}}})',
                    f'{name} = {name} | {{"v": {item}}}',
                    f'{name}.setdefault("v", {item})',
                    f'{name}["v"] = {name}.pop("u"); {name}["u"] = {item}',
                ]
            )
        )
        self.line(
            self.r.choice(
                [
                    f'{got} = {name}["v"] * {name}.get("u")',
                    f'{got} = {name}.get("w", {item})',
                    f"{got} = sum({name}.values())",
                    f"{got} = sum([{name}[{key}] * 0.5 for {key} in {name}])",
                    f"{got} = sum([0.7 * {key} for _, {key} in {name}.items()])",
                ]
            )
        )
        self.bind(got, kind)

    def write_collect(self, loop: bool) -> None:
        """Comprehensions, generators and builtins over the items of arrays and lists."""
        one, two = self.named(vector(), 1), self.named(vector(), 1)
        item, other, got = self.counter("q"), self.counter("q"), self.counter("g")
        pairs = f"enumerate(zip({one}, {two}))"
        value = self.r.choice(
            [
                f"sum([{item} * {item} for {item} in {one}])",
                f"sum({item} * {other} for {item}, {other} in zip({one}, {two}))",
                f"sum([{item} for {item} in {one} if {item} > 0.4], 0.1)",
                f"sum(map(lambda {item}: np.sin({item}), {one}))",
                f"sum([k * {item} for k, {item} in enumerate({one})])",
                f"max([{item} * 2.0 for {item} in {one}])",
                f"sum(list({one})[1:])",
                f"sum(tuple({one})[::2])",
                f"sorted({one})[1]",
                f"sum({item} * {other} for {item} in {one} for {other} in {two}[:2])",
                f"sum([{item} - {other} for {item}, {other} in zip({one}, reversed({two}))])",
                f"sum([k * {item} * {other} for k, ({item}, {other}) in {pairs}])",
                f"sum([{item} ** k for k, {item} in enumerate(reversed({one}), 1)])",
                f"sum([{item} * {other} for {item}, {other} in zip({one}[::2], {two}[1:])])",
                f"sum({{k: {item} * 0.5 for k, {item} in enumerate({one})}}.values())",
                f"sum([sum([{other} * {item} for {other} in {two}]) for {item} in {one}])",
                f"max([*{one}[:2], *{two}[2:], 0.1])",
                f"np.sum(np.stack([{item} * {two} for {item} in {one}]) ** 2)",
                f"sum({item} for {item}, in zip({one})) * 0.5",
                f"[{item} * 2.0 for {item} in {one}][::-1][1]",
            ]
        )
        self.line(f"{got} = {value}")
        self.bind(got, NUMBER)

    def write_measure(self, loop: bool) -> None:
        """A loop with a number that says what a container holds, which then holds something else.

        The containers hold numbers with and without derivatives.
        """
        name, k, got = self.counter("held"), self.counter("k"), self.counter("g")
        item = self.r.choice([f"{k} + 1.5", f"{k} + 1.5", self.of(NUMBER, 1)])
        asks = [f"len({name})", f"min({name})", f"max({name})", f"sum({name})"]
        keys = [f"len({name})", f"(0.4 if 1 in {name} else 1.2)", f"{name}.get(2, 0.7)"]
        made, said, changed = self.r.choice([
            (f"[{self.r.choice(['1.0', self.of(NUMBER, 1)])}, 3.0, 2.0]", [*asks, f"{name}[-1]"],
             [f"{name}[{k}] = {item}", f"{name}.append({item})", f"{name}.insert(1, {item})"]),
            ("np.ones(4)", [*asks, f"{name}.max()", f"{name}[1:].sum()"],
             [f"{name}[{k}] = {item}", f"{name}[1:] *= 1.5", f"{name}[{k}:] = {item}"]),
            ("{0: 1.0}", keys,
             [f"{name}[{k}] = {item}", f"{name}[{k} + 3] = {item}", f"{name}.pop({k}, 0.0)",
              f"{name}.clear()"]),
        ])  # fmt: skip
        self.line(f"{name} = {made}")
        self.line(f"{got} = {self.of(NUMBER, 1)}")
        lines = [f"{got} = {got} * {self.r.choice(said)} * 0.4 * {got}", self.r.choice(changed)]
        if self.r.random() < 0.3:
            lines.append(f"{got} = {got} + {self.r.choice(said)}")
        with self.block(f"for {k} in range({self.r.choice([2, 3])}):"):
            for line in lines:
                self.line(line)
        self.bind(got, NUMBER)

    def write_star(self, loop: bool) -> None:
        """An unpacking with a star."""
        source = self.named(vector(), 1)
        one, rest, last = self.counter("g"), self.counter("xs"), self.counter("g")
        self.line(
            self.r.choice(
                [
                    f"{one}, *{rest}, {last} = {source}",
                    f"{one}, {last}, *{rest} = list({source})",
                    f"*{rest}, {one}, {last} = {source}[::-1]",
                    f"{one}, *{rest}, {last} = [{self.of(NUMBER, 1)}, *{source}]",
                    f"({one}, *{rest}), {last} = {source}, {self.of(NUMBER, 0)}",
                    f"{one}, ({last}, *{rest}) = {self.of(NUMBER, 0)}, tuple({source})",
                    f"*{rest}, {one}, {last} = reversed({source})",
                    f"{one}, *{rest}, {last} = [q * 0.5 for q in {source}]",
                ]
            )
        )
        self.bind(one, NUMBER)
        self.bind(rest, list_of(NUMBER))
        self.bind(last, NUMBER)

    def write_dict(self, loop: bool) -> None:
        choice = self.r.choice(["read", "read", "set", "item"])
        if choice == "read":
            name = self.target(vector())
            self.line(f'{name} = p["w"]')
            self.bind(name, vector())
        elif choice == "set":
            self.line(f'p["b"] = {self.of(NUMBER, 1)}')
        else:
            self.line(f'p["w"]{self.place(vector())} = {self.of(NUMBER, 1)}')
