"""Whole random programs: helper functions, the function that is differentiated, its arguments."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.fuzz.generic import generic
from tests.fuzz.kinds import INT, NUMBER, Kind, Scope, list_of, matrix, vector
from tests.fuzz.sharing import preamble, results, used
from tests.fuzz.statements import ALL, Statements

PARAMS = {"x": vector(), "y": vector(), "m": matrix(), "s": NUMBER}
OUTSIDE = (
    ("W", "W = np.array([0.3, -0.6, 0.9, 0.5])", vector()),
    ("V", "V = np.linspace(-0.8, 0.9, 12).reshape(3, 4)", matrix()),
    ("TABLE[1]", "TABLE = [np.ones(4), np.array([0.8, 0.1, -0.4, 0.6])]", vector()),
    ('BOOK["w"]', 'BOOK = {"w": np.array([-0.9, 0.35, 0.15, 0.65])}', vector()),
)  # fmt: skip
SHARED = {"mingle", "objects", "shows", "results"}
ENCLOSED = ("K", "np.array([0.45, 0.75, -0.25, 0.85])", vector())


@dataclass(frozen=True)
class Program:
    """The text of a module with a function `f`, and arguments for it."""

    text: str
    args: tuple[Any, ...]


def program(seed: int, features: frozenset[str] = ALL) -> Program:
    """The program of a seed."""
    r = random.Random(seed)
    writer = Statements(r, chosen(r, features))
    before = preamble(writer)
    lines = list[str]()
    if "outside" in writer.features:
        for text, line, kind in r.sample(OUTSIDE, r.choice([1, 2])):
            lines.append(line)
            writer.outside[text] = kind
    if "several" in writer.features:
        for k in range(r.choice([1, 1, 2])):
            text, kinds = generic(r, f"k{k}")
            lines += ["", *text, ""]
            writer.generic.append((f"k{k}", kinds, 3))
    if "helper" in writer.features:
        for k in range(r.choice([0, 1, 1, 2])):
            lines += ["", *helper(writer, f"h{k}"), ""]
    lines += ["", *(enclosed(writer, seed) if enclose(writer) else main(writer, seed))]
    lines = ["import numpy as np", *used(before, "\n".join(lines)), "", *lines]
    return Program("\n".join(lines) + "\n", arguments(seed, writer.features))


def enclose(writer: Statements) -> bool:
    """Whether the function is made by another one, with an array of that."""
    return "outside" in writer.features and writer.r.random() < 0.3


def enclosed(writer: Statements, seed: int) -> list[str]:
    """The function `f`, made by another one."""
    name, value, kind = ENCLOSED
    writer.outside[name] = kind
    inner = [f"    {line}" for line in main(writer, seed)]
    return [f"def make({name}):", *inner, "    return f", "", "", f"f = make({value})"]


def chosen(r: random.Random, features: frozenset[str]) -> frozenset[str]:
    """The features of one program: some are left out, so that others meet more often.

    Every other program is about shared memory.
    """
    about, chance = (SHARED, 0.3) if r.random() < 0.5 else (set(), 0.55)
    always = {"assign", "store", "if"} | about
    return frozenset(f for f in sorted(features) if f in always or r.random() < chance)


def arguments(seed: int, features: frozenset[str]) -> tuple[Any, ...]:
    """Values for the parameters of `f`."""
    r = np.random.default_rng(seed)
    args: tuple[Any, ...] = (r.uniform(0.2, 1.4, 4), r.uniform(-1.0, 1.0, 4))
    args += (r.uniform(-1.0, 1.2, (3, 4)), float(r.uniform(0.3, 1.2)))
    if "dict" in features:
        args += ({"w": r.uniform(0.2, 1.4, 4), "b": 0.6},)
    if "argument" in features:
        one, two, three, four = r.uniform(0.2, 1.4, (4, 4))
        args += (([[one, two], [three, four]], {"u": [one, two], "w": [three, four]})[seed % 2],)
    return args


def begin(writer: Statements, names: dict[str, Kind], result: Kind | None) -> None:
    """Start a new function."""
    writer.lines, writer.indent, writer.result = [], 1, result
    writer.scope = Scope(dict(names))


def helper(writer: Statements, name: str) -> list[str]:
    """A function that may write into its arguments, return one or a view, or call itself."""
    r, features = writer.r, writer.features
    recursive = "recursion" in features and r.random() < 0.4
    given = [vector(), vector(), matrix(), NUMBER]
    if "nest" in features:
        given += [list_of(vector()), Kind(form="rows"), Kind(form="book")]
    kinds = {"a": r.choice(given)}
    kinds["b"] = r.choice([vector(), NUMBER])
    result = r.choice([NUMBER, vector(), kinds["a"], None])
    if recursive and result is None:
        result = vector()
    writer.features = features - {"dict", "closure", "nonlocal"}
    if result is None:
        writer.features -= {"leave"}
    default = [n for n in writer.outside if n.isidentifier()] if r.random() < 0.3 else []
    if default and not recursive:
        writer.outside["k"] = writer.outside[default[0]]
    begin(writer, {**kinds, **({"n": INT} if recursive else {})}, result)
    writer.scope.constant |= {"n"}
    if recursive:
        with writer.block("if n <= 0:"):
            writer.line(f"return {ending(writer, result)}")
    writer.body(4, False)
    if recursive:
        again = f"{name}({writer.of(kinds['a'], 1)}, {writer.of(kinds['b'], 1)}, n - 1)"
        writer.line(f"r = {again}")
        writer.bind("r", result)
        writer.body(2, False)
    if result is not None:
        writer.line(f"return {ending(writer, result)}")
    params = [*kinds.values(), *([INT] if recursive else [])]
    writer.functions.append((name, tuple(params), result))
    writer.features = features
    last = ["n"] if recursive else [f"k={default[0]}"] if default else []
    writer.outside.pop("k", None)
    return [f"def {name}({', '.join([*kinds, *last])}):", *writer.lines]


def ending(writer: Statements, kind: Kind) -> str:
    """What a helper returns: an expression, one of its names, or a view."""
    names = writer.scope.of(kind)
    return writer.r.choice(names) if names and writer.r.random() < 0.4 else writer.of(kind, 2)


def main(writer: Statements, seed: int) -> list[str]:
    """The function `f`."""
    r = writer.r
    result = r.choice([NUMBER, NUMBER, NUMBER, vector()])
    result = None if "results" in writer.features and r.random() < 0.4 else result
    nested = {"z": Kind(form=("rows", "book")[seed % 2])} if "argument" in writer.features else {}
    begin(writer, {**PARAMS, **nested}, result)
    params = [*PARAMS, *(["p"] if "dict" in writer.features else []), *nested]
    for name, kind in (("a", vector()), ("d", matrix()), ("t", NUMBER)):
        if r.random() < 0.6:
            writer.line(f"{name} = {writer.of(kind, 2)}")
            writer.bind(name, kind)
    about = writer.features >= SHARED
    for _ in range(r.choice([1, 1, 2]) if about else 0):
        writer.body(1, False)
        writer.write_mingle(False)
    writer.body(3 if about else 9, False)
    value = everything(writer, result or NUMBER, few=0.1 if about else 0.4)
    writer.line(f"return {value if result else results(writer, value)}")
    return [f"def f({', '.join(params)}):", *writer.lines]


def everything(writer: Statements, kind: Kind, few: float) -> str:
    """A value that depends on most of the names, or on a few."""
    if writer.r.random() < few / 2:
        return writer.of(kind, 3)
    parts = []
    for name, found in writer.scope.names.items():
        weight = round(writer.r.uniform(0.5, 1.5), 2)
        if found.listed:
            item = f"{name}[{writer.r.choice([0, -1])}]"
            parts.append(f"{weight} * {f'np.sum({item})' if found.rank else item}")
        elif found.form:
            parts.append(f"{weight} * np.sum({writer.deep(name, found)[0]})")
        elif found.rank and found != kind:
            parts.append(f"{weight} * np.sum(np.sin({name}))")
        elif found != INT:
            parts.append(f"{weight} * {name}")
    writer.r.shuffle(parts)
    if parts and writer.r.random() < few:
        return " + ".join(parts[: writer.r.randint(1, 3)])  # most of the names end here
    return " + ".join([*parts, writer.of(kind, 1)])
