"""One memory under many names: views of views, items, attributes, helpers, in all orders.

A walk begins with one array.  Every step gives it one more name, puts it into a container or an
object, writes into it through one of the names that it has by now, or reads it through another, so
that a store which is missed anywhere changes the result.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import ClassVar

from tests.fuzz.kinds import INT, NUMBER, Kind, Scope, list_of, vector
from tests.fuzz.views import ANY, KINDS, OF_MATRICES, OF_VECTORS, Lengths, Views

BOX = """

class Box:
    def __init__(self, u, w):
        self.u = u
        self.w = {kept}

    def bump(self, s):
        {bump}
        return {given}

    def part(self):
        return {part}
"""
DATA = """
from dataclasses import dataclass


@dataclass
class Data:
    u: object
    w: object
"""
PAIR = """
from typing import NamedTuple


class Pair(NamedTuple):
    u: object
    w: object
"""
SHOW = """

def show(a):
    return {}
"""
BUMP = """

def bump(a, s):
    {}
    return {}
"""
PAIRED = """

def two(a, b):
    {}
    return {}
"""
KEPT = ("w", "w", "w[...]", "w.T.T", "np.asarray(w)")
BUMPS = ("{0} += s", "{0} *= s", "{0}[1:] *= s", "{0}[::-1][:2] -= s", "q = {0}; q *= s",
         "q = {0}[::-1]; q[1:] += s * q[:-1]", "{0}[...] = {0} * s", "{0}[:] = {0}[::-1] * s",
         "{0} = {0}[::-1]; {0} *= s", "q = {0}; {0} = q * s; q += s")  # fmt: skip
STIRRED = """

def stir(o):
    {}
    return {}
"""
STIRS = ("{0} *= 0.7", "{1} = {0}[::-1]", "{0}[1:] += 0.5 * {1}[:-1]", "{0}, {1} = {1}, {0}",
         "{1}.T[0] -= 0.2", "q = {0}; q -= 0.3 * {1}", "{0} = {1}.copy()")  # fmt: skip
"""What a function does with the two arrays that its argument holds."""
GIVEN = ("{0}", "{0}[::-1]", "{0}.T.T", "None", "np.flip({0})")
"""What a function gives back that writes into its argument: nothing, or all of that."""
TWO = ("a += 0.5 * b; b *= 0.7", "a[1:] = b[:-1] * a[1:]", "a *= b; b -= a", "b[0] = a[-1]",
       "a[::-1][...] += b", "c = a; a = b; a *= 0.6; c += a")  # fmt: skip


@dataclass(frozen=True)
class Cell:
    """A text by which the memory is reached, and what may be done by it."""

    text: str
    kind: Kind
    closed: bool = False  # nobody writes through it
    fixed: bool = False  # it cannot be bound: an item of a tuple


@dataclass(frozen=True)
class Holder:
    """A container or an object that holds arrays: how each of them is reached."""

    name: str
    form: str
    slots: tuple[Cell, ...]

    @property
    def same(self) -> Kind | None:
        """The kind of all items, where there is one."""
        kinds = {slot.kind for slot in self.slots}
        return kinds.pop() if len(kinds) == 1 else None


FORMS: dict[str, tuple[str, tuple[str, ...]]] = {
    "list": ("[{0}, {1}]", ("[0]", "[-1]")),
    "dict": ('{{"u": {0}, "w": {1}}}', ('["u"]', '["w"]')),
    "tuple": ("({0}, {1})", ("[0]", "[1]")),
    "rows": ("[[{0}, {1}], [{1}]]", ("[0][0]", "[0][1]", "[1][0]")),
    "book": ('{{"u": [{0}], "w": ({1}, {0})}}', ('["u"][0]', '["w"][0]', '["w"][1]')),
    "Box": ("Box({0}, {1})", (".u", ".w")),
    "Data": ("Data({0}, {1})", (".u", ".w")),
    "Pair": ("Pair({0}, {1})", (".u", ".w")),
    "inner": ("Data([{0}, {1}], {0})", (".u[0]", ".u[1]", ".w")),
    "deep": ("Data(Data({0}, {1}), {0})", (".u.u", ".u.w", ".w")),
    "boxes": ("[Box({0}, {1}), Data({1}, {0})]", ("[0].u", "[1].u", "[-1].w")),
    "named": ('{{"u": Data({0}, {1}), "w": {1}}}', ('["u"].u', '["u"].w', '["w"]')),
}
"""How a holder of two arrays is written, and its slots."""
OBJECTS = frozenset({"Box", "Data", "Pair", "inner", "deep", "boxes", "named"})
THREE = {"rows": (0, 1, 1), "book": (0, 1, 0), "inner": (0, 1, 0), "deep": (0, 1, 0),
         "boxes": (0, 1, 0), "named": (0, 1, 1)}  # fmt: skip
"""Which of the two arrays is in which slot, where there are three."""
AGAIN = {"list": ("{}[:]", "list({})", "{}.copy()", "[*{}]"), "dict": ("dict({})", "{}.copy()")}
"""Other holders of the same arrays."""


def preamble(writer: Sharing) -> dict[str, str]:
    """Classes and functions by name: they hold their arguments, show them, or write into them."""
    r = writer.r
    attribute, part = r.choice(["self.u", "self.u", "self.w"]), r.choice(["[::-1]", "[:]", ""])
    text, writer.shown = r.choice(list(ANY.items()))
    given, writer.given_two = r.choice(GIVEN), r.choice(["a", "b", "a, b"])
    writer.gives = given != "None"
    box = BOX.format(
        kept=r.choice(KEPT), bump=_lines(r.choice(BUMPS).format(attribute), 8),
        given=r.choice(GIVEN).format("self.u"), part=f"self.u{part}",
    )  # fmt: skip
    writer.stirs, writer.hands_on = r.random() < 0.5, r.random() < 0.7
    places = ("o.u", "o.w") if writer.stirs else ("o[0]", "o[-1]")
    stir = "; ".join(r.sample(STIRS, r.choice([1, 2, 2]))).format(*places)
    return {
        "stir": STIRRED.format(_lines(stir, 4), "o" if writer.hands_on else "None"),
        "Box": box, "Data": DATA, "Pair": PAIR, "show": SHOW.format(text.format("a")),
        "bump": BUMP.format(_lines(r.choice(BUMPS).format("a"), 4), given.format("a")),
        "two": PAIRED.format(_lines(r.choice(TWO), 4), writer.given_two),
    }  # fmt: skip


def _lines(text: str, indent: int) -> str:
    """Statements that stand in one line, each in its own."""
    return text.replace("; ", "\n" + " " * indent)


def used(made: dict[str, str], text: str) -> list[str]:
    """What a text uses of the preamble."""
    return [line for name, line in made.items() if re.search(rf"\b{name}\(", text)]


class Sharing(Views):
    """Walks through the names of one memory."""

    weights: ClassVar[dict[str, int]] = {"mingle": 6}

    def __init__(self, r: random.Random, features: frozenset[str]) -> None:
        super().__init__(r, features)
        self.cells: list[Cell] = []
        self.holders: list[Holder] = []
        self.values: list[str] = []  # names of arrays that are made, which no step writes into
        self.total = ""
        self.shown: Callable[[Lengths], Lengths] = tuple
        self.gives, self.given_two = False, ""
        self.stirs = self.hands_on = False
        self.closures: list[tuple[str, Kind]] = []

    def write_mingle(self, loop: bool) -> None:
        """A walk from one array, or from two of one kind."""
        self.total = self.counter("g")
        self.line(f"{self.total} = {self.of(NUMBER, 0)}")
        self.bind(self.total, NUMBER)
        self.scope.constant.add(self.total)
        first = self.shared()
        kind = self.scope.names[first]
        others = [n for n in self.scope.of(kind) if n != first and n not in self.scope.constant]
        self.cells = [Cell(n, kind) for n in [first, *others[:1]]]
        self.holders, self.values, self.closures = [], [], []
        self.step_view()
        self.mingled(self.r.randint(4, 12) if self.indent == 1 else self.r.randint(2, 5))
        for _ in range(self.r.choice([1, 2, 3])):
            self.step_read()

    def shared(self) -> str:
        """An array that depends on the inputs."""
        names = self.scope.arrays()
        if names and self.r.random() < 0.4:
            return self.r.choice(names)
        name, kind = self.counter("m"), self.r.choice(KINDS)
        part = f"{self.named(vector(), 0)}[:{kind.lengths[-1]}]"
        part = self.r.choice([part, self.of(NUMBER, 0)])
        self.line(f"{name} = {self.of(kind, 1)} {self.r.choice('+-*')} {part}")
        self.bind(name, kind)
        return name

    def mingled(self, count: int) -> None:
        """Some steps."""
        steps: dict[Callable[[], None], int] = {
            self.step_view: 4, self.step_name: 1, self.step_update: 4, self.step_store: 3,
            self.step_read: 3, self.step_hold: 4, self.step_again: 1, self.step_slot: 3,
            self.step_rebind: 1, self.step_help: 3, self.step_swap: 1, self.step_branch: 1,
            self.step_loop: 1, self.step_each: 1, self.step_drop: 2, self.step_value: 3,
            self.step_parts: 2, self.step_call: 2, self.step_inner: 1, self.step_grow: 2,
            self.step_choice: 1,
        }  # fmt: skip
        for step in self.r.choices(list(steps), list(steps.values()), k=count):
            step()

    # --- one more name ---------------------------------------------------------------------------

    def named_cell(self, text: str, kind: Kind, closed: bool = False) -> None:
        """A new name for what a text gives."""
        name = self.counter("v")
        self.line(f"{name} = {text}")
        self.bind(name, kind)
        self.cells.append(Cell(name, kind, closed))

    def step_name(self) -> None:
        """`w = o.u`."""
        cell = self.r.choice(self.cells)
        self.named_cell(cell.text, cell.kind, cell.closed)

    def step_drop(self) -> None:
        """A name is not used any more: its memory goes on under the others alone."""
        names = [c for c in self.cells if c.text in self.scope.free()]
        if len(names) > 1:
            cell = self.r.choice(names)
            self.cells.remove(cell)
            del self.scope.names[cell.text]

    def step_view(self) -> None:
        """A view of what some text gives, or a view of a view."""
        cell = self.r.choice(self.cells[-3:] if self.r.random() < 0.5 else self.cells)
        text, kind, writable = self.any_view(cell.text, cell.kind)
        if kind.rank == 2 and self.r.random() < 0.2:
            text, kind = f"{text}[{self.index(kind.lengths[0])}]", Kind(kind.lengths[1:])
        elif self.r.random() < 0.2 and 0 not in kind.lengths:
            text, kind, also = self.any_view(text, kind)
            writable = writable and also
        if kind.rank and 0 not in kind.lengths:
            self.named_cell(text, kind, cell.closed or not writable)

    def same_view(self, cell: Cell) -> str:
        """A view that may stand where the memory itself does."""
        options = {**ANY, **(OF_VECTORS if cell.kind.rank == 1 else OF_MATRICES)}
        same = [t for t, f in options.items() if f(cell.kind.lengths) == cell.kind.lengths]
        return self.r.choice(["{}", *same]).format(cell.text)

    def step_parts(self) -> None:
        """Names for two parts of the memory, which are apart or overlap."""
        cell = self.r.choice(self.cells)
        n, *rest = cell.kind.lengths
        if n < 2:
            return
        text, first, second = self.r.choice([
            ("np.split({}, [1])", 1, n - 1), ("{0}[:1], {0}[1:]", 1, n - 1),
            ("{0}[:-1], {0}[1:]", n - 1, n - 1), ("{0}, {0}[::-1]", n, n),
            ("np.array_split({}, 2)", -(-n // 2), n // 2),
            ("{0}[::2], {0}[1::2]", -(-n // 2), n // 2),
            *([("{0}[0], {0}[-1]", 0, 0)] * 2 if rest else []),
        ])  # fmt: skip
        kinds = [Kind((k, *rest) if k else (*rest,)) for k in (first, second)]
        names = [self.counter("v"), self.counter("v")]
        self.line(f"{', '.join(names)} = {text.format(cell.text)}")
        for name, kind in zip(names, kinds, strict=True):
            self.bind(name, kind)
            self.cells.append(Cell(name, kind, cell.closed))

    def step_choice(self) -> None:
        """A name for one view or another."""
        cell = self.r.choice(self.cells)
        others = [c for c in self.cells if c.kind == cell.kind and c.closed == cell.closed]
        one, two = self.same_view(cell), self.same_view(self.r.choice(others))
        self.named_cell(f"{one} if {self.condition()} else {two}", cell.kind, cell.closed)

    def step_hold(self) -> None:
        """A container or an object that holds two of the cells, often the same one twice."""
        forms = [f for f in FORMS if f not in OBJECTS or "objects" in self.features]
        form = self.r.choice(forms)
        one, two = self.r.choice(self.cells), self.r.choice(self.cells)
        two = one if self.r.random() < 0.2 else two
        if form in ("Box", "boxes", "list") and self.r.random() < 0.6:
            two = replace(two, text=self.same_view(two))
        self.hold(form, one, two)

    def hold(self, form: str, one: Cell, two: Cell) -> None:
        """A holder of two cells."""
        name = self.counter("o")
        display, places = FORMS[form]
        self.line(f"{name} = {display.format(one.text, two.text)}")
        fixed = {"tuple": places, "Pair": places, "book": places[1:]}.get(form, ())
        cells = [(one, two)[k] for k in THREE.get(form, (0, 1))]
        self.held(name, form, [
            Cell(name + place, cell.kind, cell.closed, place in fixed)
            for place, cell in zip(places, cells, strict=True)
        ])  # fmt: skip

    def held(self, name: str, form: str, slots: Iterable[Cell]) -> None:
        """A holder is there."""
        holder = Holder(name, form, tuple(slots))
        self.holders.append(holder)
        self.cells += holder.slots
        if form == "list" and holder.same == vector() and not any(s.closed for s in holder.slots):
            self.bind(name, list_of(vector()))
            self.scope.constant.add(name)

    def step_again(self) -> None:
        """A second name for a holder, or another holder of the same arrays."""
        if not self.holders:
            return
        old, new = self.r.choice(self.holders), self.counter("o")
        text = self.r.choice(["{}", *AGAIN.get(old.form, ())]).format(old.name)
        self.line(f"{new} = {text}")
        slots = [replace(s, text=new + s.text.removeprefix(old.name)) for s in old.slots]
        self.held(new, old.form, slots)

    # --- writing and reading ---------------------------------------------------------------------

    def open(self, binds: bool = False) -> list[Cell]:
        """The cells through which a program may write, or which it may bind."""
        open_ = [c for c in self.cells if not (c.closed or binds and c.fixed)]
        return [c for c in open_ if not (binds and c.text in self.scope.constant)]

    def amount(self, kind: Kind) -> str:
        """A value for an array: what other names of the memory give, a number, another array."""
        cells = [c for c in self.cells if c.kind == kind]
        texts = [f"0.6 * {c.text}" for c in cells] + [f"np.cos({c.text})" for c in cells]
        texts += [f"{c.text}.T" for c in self.cells if c.kind.lengths == kind.lengths[::-1]]
        if texts and self.r.random() < 0.5:
            return self.r.choice(texts)
        return self.r.choice(["1.9", "0.7", f"np.sin({self.smaller(kind, 1)})", self.beside(kind)])

    def step_update(self) -> None:
        """An operator in place."""
        open_ = self.open(binds=True)
        if not open_:
            return
        cell = self.r.choice(open_)
        value, operator = self.amount(cell.kind), self.r.choice(["+=", "-=", "*=", "*="])
        name = {"+=": "add", "-=": "subtract", "*=": "multiply"}[operator]
        if self.r.random() < 0.1:
            self.line(f"np.{name}({cell.text}, {value}, out={cell.text})")
        else:
            self.line(f"{cell.text} {operator} {value}")

    def step_store(self) -> None:
        """A store into a part."""
        open_ = self.open()
        if not open_:
            return
        cell = self.r.choice(open_)
        place, kind = self.place_in(cell.text, cell.kind)
        value = self.amount(kind) if kind.rank else self.of(NUMBER, 1)
        self.line(f"{place} {self.r.choice(['=', '=', '+=', '-=', '*='])} {value}")

    def step_call(self) -> None:
        """A function of NumPy that writes into what it is given."""
        open_ = self.open()
        if not open_:
            return
        cell = self.r.choice(open_)
        value, number, text = self.amount(cell.kind), self.of(NUMBER, 0), cell.text
        forms = [
            f"np.copyto({text}, {value})", f"{text}.fill({number})", f"np.sin({text}, out={text})",
            f"np.add.at({text}, {self.indices(cell.kind.lengths[0], 2)}, {number})",
            f"np.maximum({text}, 0.9 * {value}, out={text})", f"np.put({text}, [0, -1], {number})",
            f"np.add({text}, 0.5 * {value}, out={text})", f"np.negative({text}, out={text})",
            f"np.cos(0.5 * {value}, out={text})",
        ]  # fmt: skip
        if cell.kind.rank == 2:
            forms += [f"np.fill_diagonal({text}, {number})"] * 2
        self.line(self.r.choice(forms))

    def step_read(self) -> None:
        """A number, or an array of its own, that depends on what is there now."""
        cell = self.r.choice(self.cells)
        other = self.r.choice([c for c in self.cells if c.kind == cell.kind])
        if self.r.random() < 0.2:
            name = self.counter("q")
            self.line(f"{name} = np.sin({cell.text}) * {other.text}")
            self.own(name, cell.kind)
            return
        value = self.r.choice([
            f"np.sum({cell.text} * {other.text})", f"np.sum(np.sin({cell.text}))",
            f"{cell.text}{self.place(cell.kind)} ** 2",
            *([f"np.sum({self.same_view(cell)}.diagonal() ** 2)"] * (cell.kind.rank - 1)),
            f"{cell.text}{self.place(cell.kind)} * {other.text}{self.place(other.kind)}",
        ])  # fmt: skip
        self.line(f"{self.total} {self.r.choice(['+=', '-='])} 0.3 * {value}")

    def step_value(self) -> None:
        """A new array whose cotangent is that of two others as it is, for which it is the last use.

        They are read before, so that more is added to one of the two cotangents.
        """
        kind = self.r.choice(self.cells).kind
        one = self.made(kind)
        two = self.made(kind, one)
        if self.r.random() < 0.7:
            self.line(f"{self.total} += 0.3 * np.sum({one} * {two})")
        name = one if self.r.random() < 0.3 else self.counter("q")
        text = self.r.choice(["{} + {}", "{} + {}", "{} - {}", "{} + {}[::-1]", "0.7 * {} + {}",
                              "({}.T + {}.T).T", "np.stack([{}, {}])[0]"])  # fmt: skip
        self.line(f"{name} = {text.format(one, two)}")
        self.line(f"{self.total} -= 0.3 * np.sum(np.sin({name}))")
        for dead in (one, two):
            if self.r.random() < 0.7:
                self.scope.names.pop(dead, None)
        self.own(name, kind)

    def made(self, kind: Kind, other: str = "") -> str:
        """An array into which no step writes: one that is there, but no other one, or a new one."""
        there = [n for n in self.values if self.scope.names.get(n) == kind and n != other]
        if there and self.r.random() < 0.5:
            return self.r.choice(there)
        name, cell = self.counter("q"), self.r.choice([c for c in self.cells if c.kind == kind])
        text = self.r.choice(["np.sin({})", "0.7 * {}", "{} ** 2"])
        self.line(f"{name} = {text.format(cell.text)}")
        self.own(name, kind)
        return name

    def own(self, name: str, kind: Kind) -> None:
        """A name of an array into which no step writes."""
        self.bind(name, kind)
        self.values.append(name)

    # --- other memory in the place of one --------------------------------------------------------

    def step_slot(self) -> None:
        """Into a slot, or under a name, another cell of its kind or a view of one."""
        open_ = self.open(binds=True)
        slots = [c for c in open_ if not c.text.isidentifier()]
        slots = slots if slots and self.r.random() < 0.7 else open_
        if not slots:
            return
        slot = self.r.choice(slots)
        cells = [c for c in self.open() if c.kind == slot.kind]
        self.line(f"{slot.text} = {self.same_view(self.r.choice(cells))}")

    def step_rebind(self) -> None:
        """New memory under one of the names."""
        open_ = self.open(binds=True)
        if open_:
            cell = self.r.choice(open_)
            other = self.r.choice([c for c in self.cells if c.kind == cell.kind])
            text = self.r.choice(["{} * 0.8", "np.sin({})", "{}.copy()", "{} + {}"])
            self.line(f"{cell.text} = {text.format(other.text, cell.text)}")

    def step_swap(self) -> None:
        """Two of the cells in each other's place."""
        open_ = self.open(binds=True)
        pairs = [(a, b) for a in open_ for b in open_ if a.kind == b.kind and a.text < b.text]
        if pairs:
            one, two = self.r.choice(pairs)
            self.line(f"{one.text}, {two.text} = {two.text}, {one.text}")

    # --- functions and methods -------------------------------------------------------------------

    def step_help(self) -> None:
        """A helper gives a view of its argument, or writes into it, or both."""
        ways = [self.help_by_methods] * ("objects" in self.features and bool(self.holders))
        if "shows" in self.features:
            ways += [self.help_show, self.help_bump, self.help_two]
        ways += [self.help_inner] * bool(self.closures)
        ways += [self.help_stir]
        if ways:
            self.r.choice(ways)()

    def step_inner(self) -> None:
        """A function inside that writes into what it sees, or shows it."""
        open_ = self.open(binds=True)
        if self.indent > 1 or not open_:
            return
        cell, name = self.r.choice(open_), self.counter("c")
        local = cell.text.isidentifier()  # and bound in the function it would be another name
        ways = [w for w in BUMPS if not (local and re.search(r"(^|; )\{0\} [-+*]?=", w))]
        with self.block(f"def {name}(s):"):
            for line in self.r.choice(ways).format(cell.text).split("; "):
                self.line(line)
            self.line(f"return {self.same_view(cell)}")
        self.closures.append((name, cell.kind))
        self.help_inner()

    def help_inner(self) -> None:
        """A call of a function inside."""
        name, kind = self.r.choice(self.closures)
        self.called(f"{name}({self.of(NUMBER, 0)})", kind, True)

    def help_stir(self) -> None:
        """A function writes into what its argument holds, or puts something else there."""
        form = "Data" if self.stirs else "list"
        if self.stirs and "objects" not in self.features or not self.open():
            return
        held = [h for h in self.holders if h.form == form and h.same is not None]
        held = [h for h in held if not any(s.closed for s in h.slots)]
        if not held or self.r.random() < 0.3:
            one = self.r.choice(self.open())
            two = self.r.choice([c for c in self.open() if c.kind == one.kind])
            self.hold(form, one, two)
            held = self.holders[-1:]
        old, new = self.r.choice(held), self.counter("o")
        self.line(f"{new} = stir({old.name})" if self.hands_on else f"stir({old.name})")
        if self.hands_on:
            slots = [replace(s, text=new + s.text.removeprefix(old.name)) for s in old.slots]
            self.held(new, old.form, slots)

    def step_grow(self) -> None:
        """A list of arrays gets longer, or another one has views of its items."""
        lists = [h for h in self.holders if h.form == "list" and h.same is not None]
        if not lists:
            return
        old, new = self.r.choice(lists), self.counter("o")
        kind = old.slots[0].kind
        closed = any(s.closed for s in old.slots)
        cells = [c for c in self.cells if c.kind == kind and c.closed == closed]
        cell = self.r.choice(cells or [old.slots[0]])
        q = self.counter("q")
        text = self.same_view(replace(cell, text=q))
        form = self.r.choice(["append", "insert", "pop", "views", "views", "zipped"])
        if form in ("append", "insert"):
            self.line(f"{old.name}.{form}({'0, ' * (form == 'insert')}{self.same_view(cell)})")
        elif form == "pop":
            self.line(f"{old.name}.append({cell.text})")
            self.named_cell(f"{old.name}.pop({self.r.choice(['', '0'])})", kind, closed)
        else:
            other = self.r.choice(lists)
            pairs = f"{q}, _ in zip({old.name}, {other.name})"
            each = pairs if form == "zipped" else f"{q} in {old.name}"
            self.line(f"{new} = [{text} for {each}]")
            self.held(new, "list", [Cell(new + p, kind, closed) for p in ("[0]", "[-1]")])

    def help_show(self) -> None:
        """A function gives a view of its argument."""
        cell = self.r.choice(self.cells)
        kind = Kind(self.shown(cell.kind.lengths))
        if 0 not in kind.lengths:
            self.named_cell(f"show({cell.text})", kind, cell.closed)

    def help_bump(self) -> None:
        """A function writes into its argument and may give it back."""
        open_ = self.open()
        if open_:
            cell = self.r.choice(open_)
            self.called(f"bump({cell.text}, {self.of(NUMBER, 0)})", cell.kind, self.gives)

    def called(self, text: str, kind: Kind, gives: bool) -> None:
        """A call that writes into a cell, and what it gives."""
        if gives and self.r.random() < 0.5:
            self.named_cell(text, kind)
        else:
            self.line(text)

    def help_two(self) -> None:
        """A function of two arguments, which may be one memory."""
        open_ = self.open()
        pairs = [(a, b) for a in open_ for b in open_ if a.kind == b.kind]
        if not pairs:
            return
        one, two = self.r.choice(pairs)
        text = f"two({one.text}, {two.text})"
        if self.given_two == "a, b":
            names = [self.counter("v"), self.counter("v")]
            self.line(f"{', '.join(names)} = {text}")
            for name in names:
                self.bind(name, one.kind)
                self.cells.append(Cell(name, one.kind))
        else:
            self.called(text, one.kind, True)

    def help_by_methods(self) -> None:
        """A method writes into an attribute, or gives a view of it."""
        boxes = [h for h in self.holders if h.form == "Box"]
        if not boxes:
            return
        box = self.r.choice(boxes)
        if any(slot.closed for slot in box.slots) or self.r.random() < 0.4:
            self.named_cell(f"{box.name}.part()", box.slots[0].kind, box.slots[0].closed)
        else:
            self.line(f"{box.name}.bump({self.of(NUMBER, 0)})")

    # --- blocks ----------------------------------------------------------------------------------

    def inside_walk(self, header: str, names: dict[str, Kind], cells: Iterable[Cell] = ()) -> None:
        """Steps in a block, after which what it binds for the first time is forgotten."""
        before, known, holders = self.scope, list(self.cells), list(self.holders)
        self.scope = before.inner()
        self.scope.names.update(names)
        self.scope.constant |= {n for n, kind in names.items() if kind == INT}
        self.cells = [*known, *cells]
        with self.block(header):
            self.step_update()
            self.mingled(self.r.randint(1, 3))
            self.line("pass")
        inside, self.scope = self.scope, before
        before.merge([Scope({n: k for n, k in inside.names.items() if n in before.names})])
        self.cells, self.holders = known, holders

    def step_loop(self) -> None:
        """A loop, which may reach the items of a list by its counter."""
        if self.indent > 3:
            return
        k = self.counter("k")
        lists = [h for h in self.holders if h.form == "list" and h.same is not None]
        cells = []
        if lists and self.r.random() < 0.6:
            held = self.r.choice(lists)
            cells.append(replace(held.slots[0], text=f"{held.name}[{k} % 2]"))
        self.inside_walk(f"for {k} in range({self.r.choice([2, 2, 3])}):", {k: INT}, cells)

    def step_each(self) -> None:
        """A loop over the rows of a matrix or the arrays of a list, which are written into."""
        if self.indent > 3:
            return
        q = self.counter("q")
        rows = [(c.text, Kind(c.kind.lengths[1:])) for c in self.open() if c.kind.rank == 2]
        held = [h for h in self.holders if h.form in ("list", "tuple") and h.same is not None]
        rows += [(h.name, h.slots[0].kind) for h in held if not any(s.closed for s in h.slots)]
        if rows:
            text, kind = self.r.choice(rows)
            self.inside_walk(f"for {q} in {text}:", {q: kind}, [Cell(q, kind)])

    def step_branch(self) -> None:
        """Steps that may not happen, or a name for one cell or another."""
        if self.indent > 3:
            return
        test = f"if {self.condition()}:"
        if self.r.random() < 0.5:
            self.inside_walk(test, {})
            return
        name, cell = self.counter("v"), self.r.choice(self.cells)
        others = [c for c in self.cells if c.kind == cell.kind and c.closed == cell.closed]
        with self.block(test):
            self.line(f"{name} = {self.same_view(cell)}")
        with self.block("else:"):
            other = self.r.choice(others).text
            self.line(f"{name} = {self.r.choice([other, other, f'{other} * 1.0'])}")
        self.bind(name, cell.kind)
        self.cells.append(Cell(name, cell.kind, cell.closed))


RESULTS = ("{0}, {1}, {1}", "[{1}, {2}], {0}", '{{"u": {1}, "w": [{1}, {2}], "n": {0}}}',
           "({1}, ({1}, {0}))", "{0}, {1}, {1}[::-1]", "[{1}, {1}.T, {2}, {0}]",
           "{0}, [{1}] * 2, {2}")  # fmt: skip
OBJECTS_AS_RESULTS = ("Pair({1}, ({1}, {0}))", "{0}, Pair({2}, {1}), {2}", "Pair({1}, {1})[0], {0}")


def results(writer: Sharing, value: str) -> str:
    """A structure in which arrays are more than once, beside a number."""
    names = writer.scope.arrays()[-8:]
    arrays = [writer.r.choice(names), writer.r.choice(names)]
    forms = RESULTS + (OBJECTS_AS_RESULTS if "objects" in writer.features else ())
    return writer.r.choice(forms).format(f"({value})", *arrays)
