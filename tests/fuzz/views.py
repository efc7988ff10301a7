"""One array under several names: views of every kind, and what is written through them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import ClassVar

from tests.fuzz.kinds import INT, ROWS, Kind, matrix, vector
from tests.fuzz.stores import Stores

Lengths = tuple[int, ...]
KINDS = (vector(), matrix(), matrix(ROWS, ROWS), vector(ROWS), matrix(2, ROWS))


def _all(n: Lengths) -> Lengths:
    return n


def _turned(n: Lengths) -> Lengths:
    return n[::-1]


def _flat(n: Lengths) -> Lengths:
    return (prod(n),)


def _shorter(n: Lengths) -> Lengths:
    return (n[0] - 1, *n[1:])


def _least(n: Lengths) -> Lengths:
    return (min(n),)


ANY: Mapping[str, Callable[[Lengths], Lengths]] = {
    "{}.T": _turned, "{}.transpose()": _turned, "np.transpose({})": _turned,
    "{}[::-1]": _all, "np.flip({})": _all, "np.flip({}, axis=0)": _all, "np.flipud({})": _all,
    "{}[...]": _all, "{}[:]": _all, "np.asarray({})": _all, "np.atleast_1d({})": _all,
    "np.squeeze({}[None])": _all, "{}[1:]": _shorter, "{}[:-1]": _shorter,
    "np.split({}, [1])[1]": _shorter, "np.array_split({}, 2)[0]": lambda n: (-(-n[0] // 2), *n[1:]),
    "np.moveaxis({}, 0, -1)": lambda n: (*n[1:], n[0]), "np.real({})": _all, "{}.real": _all,
    "{}[None][0]": _all, "np.expand_dims({}, 0)[0]": _all, "{0}.reshape({0}.shape)": _all,
    "np.moveaxis({}[None], 0, -1)[..., 0]": _all, "{}[1:][::-1]": _shorter, "{}.view()": _all,
    "{}[None].swapaxes(0, 1)[:, 0]": _all, "np.swapaxes({}[..., None], 0, -1)[0]": _turned,
    "{}.T[::-1]": _turned, "{0}.reshape({0}.shape)[::-1]": _all,
}  # fmt: skip
OF_VECTORS: Mapping[str, Callable[[Lengths], Lengths]] = {
    "{}[:, None]": lambda n: (*n, 1), "np.expand_dims({}, 0)": lambda n: (1, *n),
    "np.atleast_2d({})": lambda n: (1, *n), "{}[::2]": lambda n: (-(-n[0] // 2),),
    "{}[::-2]": lambda n: (-(-n[0] // 2),), "np.array_split({}, 2)[1]": lambda n: (n[0] // 2,),
    "{}[::-2][::-1]": lambda n: (-(-n[0] // 2),), "{}.reshape(1, -1)": lambda n: (1, *n),
    "{}.reshape(-1, 1)[::-1]": lambda n: (*n, 1), "{}[1:][::2]": lambda n: (n[0] // 2,),
}  # fmt: skip
OF_MATRICES: Mapping[str, Callable[[Lengths], Lengths]] = {
    "{}.swapaxes(0, 1)": _turned, "np.swapaxes({}, 0, 1)": _turned, "np.rollaxis({}, 1)": _turned,
    "np.moveaxis({}, -1, 0)": _turned, "np.rot90({})": _turned, "np.fliplr({})": _all,
    "np.atleast_2d({})": _all, "{}[0]": lambda n: n[1:], "{}[:, -1]": lambda n: n[:1],
    "{}[:, ::-1]": _all, "{}[:, 1:]": lambda n: (n[0], n[1] - 1), "{}[0][::-1]": lambda n: n[1:],
    "np.hsplit({}, [1])[0]": lambda n: (n[0], 1), "np.vsplit({}, [1])[1]": _shorter,
    "np.array_split({}, 2, axis=1)[1]": lambda n: (n[0], n[1] // 2), "np.rot90({}, 2)": _all,
    "np.rot90({}, -1)": _turned, "{}.transpose(1, 0)": _turned, "{}[::-1, ::-1]": _all,
    "{}[::2]": lambda n: (-(-n[0] // 2), n[1]), "{}[1:, ::2]": lambda n: (n[0] - 1, -(-n[1] // 2)),
    "{}.swapaxes(0, 1)[::-2]": lambda n: (-(-n[1] // 2), n[0]), "{}.swapaxes(-1, -2)": _turned,
    "{}[:, None].transpose(2, 1, 0)[:, 0]": _turned, "{}.T[1:]": lambda n: (n[1] - 1, n[0]),
    "{}[:, ::-2]": lambda n: (n[0], -(-n[1] // 2)), "{}[::-1].T[0]": lambda n: n[:1],
}  # fmt: skip
PERHAPS: Mapping[str, Callable[[Lengths], Lengths]] = {
    "{}.ravel()": _flat, "np.ravel({})": _flat, "{}.reshape(-1)": _flat,
    "np.reshape({}, (-1, 1))": lambda n: (prod(n), 1),
}  # fmt: skip
"""Views where the memory lies in order, which often nobody can tell."""
READ_ONLY: Mapping[str, Callable[[Lengths], Lengths]] = {
    "{}.diagonal()": _least, "{}.T.diagonal()": _least, "np.diagonal({})": _least,
    "np.broadcast_to({0}, {0}.shape)": _all, "np.broadcast_to({0}, (2, *{0}.shape))[1]": _all,
}  # fmt: skip
"""Views that are refused where something is written into what they show."""
COPIED: Mapping[str, Callable[[Lengths], Lengths]] = {
    "{}.diagonal().copy()": _least, "np.diagonal({}).copy()": _least,
    "(0.5 * {}[::-1].diagonal())": _least, "(np.diagonal({}.T[::-1]) * 1.0)": _least,
    "np.broadcast_to({0}, {0}.shape).copy()": _all, "(1.0 * np.broadcast_to({0}, {0}.shape))": _all,
    "np.diag({}[:2, :2]).copy()": lambda n: (2,), "(np.einsum('ij->ji', {}) + 0.0)": _turned,
}  # fmt: skip
"""Copies of them."""


class Views(Stores):
    """Names of one memory, in the order in which they come."""

    weights: ClassVar[dict[str, int]] = {"second": 4}

    def write_second(self, loop: bool) -> None:
        """Second names and views of an array, each written into before and after the others."""
        names = [self.shared()]
        read_only: set[str] = set()
        steps = [self.second_name, self.second_view, self.second_update, self.second_store]
        for step in [steps[1], *self.r.choices(steps, (3, 5, 6, 2), k=self.r.randint(2, 6))]:
            step(names, read_only)

    def shared(self) -> str:
        """An array to begin with."""
        names = self.scope.arrays()
        if names and self.r.random() < 0.4:
            return self.r.choice(names)
        name, kind = self.counter("m"), self.r.choice(KINDS)
        self.line(f"{name} = {self.of(kind, 1)} {self.r.choice(['* 1.0', '+ 0.4', '/ 1.7'])}")
        self.bind(name, kind)
        return name

    def second_name(self, names: list[str], read_only: set[str]) -> None:
        """`w = m`."""
        old, new = self.r.choice(names), self.counter("w")
        self.line(f"{new} = {old}")
        self.added(new, self.scope.names[old], names, read_only, old in read_only)

    def second_view(self, names: list[str], read_only: set[str]) -> None:
        """A view of one of the names."""
        old, new = self.r.choice(names), self.counter("v")
        text, kind, writable = self.any_view(old, self.scope.names[old])
        if kind.rank and 0 not in kind.lengths:
            self.line(f"{new} = {text}")
            self.added(new, kind, names, read_only, old in read_only or not writable)

    def added(
        self, name: str, kind: Kind, names: list[str], read_only: set[str], closed: bool
    ) -> None:
        """One more name of the memory; `closed`: nobody may write through it."""
        self.bind(name, kind)
        names.append(name)
        if closed:
            read_only.add(name)

    def any_view(self, name: str, kind: Kind) -> tuple[str, Kind, bool]:
        """A view of any kind, its kind, and whether it may be written through."""
        options = {**ANY, **(OF_VECTORS if kind.rank == 1 else OF_MATRICES)}
        chance, writable = self.r.random(), True
        if chance < 0.08:
            options = dict(PERHAPS)
        elif chance < 0.09 and kind.rank == 2:
            options, writable = dict(READ_ONLY), False
        elif chance < 0.12 and kind.rank == 2 and min(kind.lengths) > 1:
            options = dict(COPIED)
        elif chance < 0.2 and kind.lengths[0] > 1 and self.scope.of(INT):
            return self.window(name, kind)
        text, lengths = self.r.choice(list(options.items()))
        return text.format(name), Kind(lengths(kind.lengths)), writable

    def window(self, name: str, kind: Kind) -> tuple[str, Kind, bool]:
        """A view of which a counter says where it begins."""
        k, n = self.r.choice(self.scope.of(INT)), kind.lengths[0] - 1
        forms = [f"{k} % 2:{k} % 2 + {n}", f"{k} % 2:][:{n}", f"::-1][{k} % 2:][:{n}"]
        return f"{name}[{self.r.choice(forms)}]", Kind((n, *kind.lengths[1:])), True

    def second_update(self, names: list[str], read_only: set[str]) -> None:
        """An operator in place on one of the names."""
        open_ = [n for n in names if n not in read_only | self.scope.constant]
        if not open_:
            return
        name, operator = self.r.choice(open_), self.r.choice(["+=", "-=", "-=", "*=", "/="])
        value = self.r.choice(["1.9", self.beside(self.scope.names[name])])
        if operator == "/=":
            value = self.r.choice(["1.9", f"2.0 + ({value}) ** 2"])
        self.line(f"{name} {operator} {value}")

    def beside(self, kind: Kind) -> str:
        """A value for an array of a kind: often another array, or its transpose."""
        same = self.scope.of(kind)
        turned = [f"{n}.T" for n in self.scope.of(Kind(kind.lengths[::-1]))]
        found = self.r.choice([turned, turned, same, []])
        return self.r.choice(found) if found else self.smaller(kind, 1)

    def second_store(self, names: list[str], read_only: set[str]) -> None:
        """A store into a part of one of the names."""
        open_ = [n for n in names if n not in read_only]
        if not open_:
            return
        name = self.r.choice(open_)
        if self.r.random() < 0.1:
            size = prod(self.scope.names[name].lengths)
            self.augmented(f"{name}.flat[{self.r.randrange(size)}]", "0.7")
            return
        place, kind = self.place_of(name)
        value = self.smaller(kind, 1) if kind.rank else self.of(kind, 1)
        if self.r.random() < 0.4:
            self.line(f"{place} = {value}")
        else:
            self.augmented(place, value)
