"""Random statements: stores, views, aliases, branches, loops."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import contextmanager

from tests.fuzz.expressions import Expressions
from tests.fuzz.kinds import (
    INT,
    LONG,
    NUMBER,
    Kind,
    Scope,
    list_of,
    matrix,
    pick_slice,
    vector,
)

KINDS = (NUMBER, vector(), vector(), matrix(), vector(3), vector(2))
LOCALS = ("a", "b", "c", "d", "u", "v", "w", "t", "out", "total")
WEIGHTS = {
    "assign": 5, "store": 6, "augment": 4, "augment_item": 4, "alias": 2, "view": 4, "swap": 1,
    "pair": 2, "if": 4, "for": 3, "while": 1, "each": 2, "helper": 2, "list": 2, "method": 1,
    "dict": 2, "leave": 2, "chain": 1, "closure": 1, "grow": 2, "table": 2, "collect": 2,
    "star": 1,
}  # fmt: skip
OPERATORS = ("+=", "-=", "*=")


class Statements(Expressions):
    """Writes blocks of statements."""

    def __init__(self, r: random.Random, features: frozenset[str]) -> None:
        super().__init__(r)
        self.features = features
        self.lines: list[str] = []
        self.indent = 1
        self.loops = 0
        self.fresh = 0
        self.result: Kind | None = NUMBER

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
        names = [k for k in WEIGHTS if k in self.features]
        kind = self.r.choices(names, [WEIGHTS[k] for k in names])[0]
        if self.indent > 3 and kind in ("if", "for", "while", "each"):
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
        if kind.rank == 0:
            return name, kind
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
        return self.r.choice(
            [
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
            value = self.smaller(kind, 1) if kind.rank else self.of(kind, 1)
            self.line(f"{place} {self.r.choice(OPERATORS)} {value}")

    def write_augment(self, loop: bool) -> None:
        names = self.scope.arrays() + self.scope.of(NUMBER)
        names = [n for n in names if n not in self.scope.constant]
        if names:
            name = self.r.choice(names)
            value = self.smaller(self.scope.names[name], self.r.randint(0, 2))
            self.line(f"{name} {self.r.choice(OPERATORS)} {value}")

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
            ]
        )
        self.line(f"{got} = {value}")
        self.bind(got, NUMBER)

    def write_star(self, loop: bool) -> None:
        """An unpacking with a star."""
        source = self.named(vector(), 1)
        one, rest, last = self.counter("g"), self.counter("xs"), self.counter("g")
        self.line(
            self.r.choice(
                [f"{one}, *{rest}, {last} = {source}", f"{one}, {last}, *{rest} = list({source})"]
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
            ]
        )
        self.inside(f"for {header}:", names)

    def inside(self, header: str, names: dict[str, Kind]) -> None:
        """The body of a loop: names keep their kinds, so that it may run again."""
        before = self.scope
        self.scope = before.inner()
        self.scope.names.update(names)
        self.scope.constant |= set(names)
        with self.block(header):
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
        before = self.scope
        self.scope = before.inner()
        self.scope.names[count] = INT
        self.scope.constant.add(count)
        with self.block(f"while {test}:"):
            self.line(f"{count} += 1")
            self.body(3, True)
        self.otherwise()
        after, self.scope = self.scope, before
        before.merge([Scope({n: k for n, k in after.names.items() if n in before.names})])


ALL = frozenset(WEIGHTS) | {"ravel", "indices", "masks", "recursion"}
