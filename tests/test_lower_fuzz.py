"""Random control flow and evaluation order: the IR does what Python does."""

import random

import pytest

from srcdiff.frontend.lowering import lower
from srcdiff.frontend.source.parse import parse
from srcdiff.ir.verifier import verify
from tests import ir_interpreter
from tests.check import define

PROGRAMS = 150
LIMIT = 400  # steps of a program, so that each one ends


class StopError(Exception):
    """A program has run long enough."""


class Log(list):
    """What a program does, in order."""

    def __call__(self, value):
        self.append(value)
        if len(self) > LIMIT:
            raise StopError
        return value


class Writer:
    """Writes one random program."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = []
        self.depth = 0

    def text(self):
        """A function of `log` and two numbers."""
        self.lines = ["def f(log, a, b):", "    c = 1", "    i = 0"]
        self.block(1, 5, False)
        if self.random.random() < 0.7:
            self.line(1, f"return {self.expression(2)}")
        return "\n".join(self.lines) + "\n"

    def line(self, indent, text):
        self.lines.append("    " * indent + text)

    def block(self, indent, size, loop):
        for _ in range(self.random.randint(1, size)):
            self.statement(indent, loop)

    def statement(self, indent, loop):
        kinds = ["assign", "log", "augment", "pair"]
        if indent < 5:
            kinds += ["if", "if", "if", "for", "while"]
        kinds += ["return"] if self.random.random() < 0.4 else []
        kinds += ["break", "continue"] if loop else []
        getattr(self, "write_" + self.random.choice(kinds))(indent, loop)

    def write_assign(self, indent, loop):
        self.line(indent, f"{self.name()} = {self.expression(2)}")

    def write_pair(self, indent, loop):
        names = [self.name() for _ in range(self.random.randint(2, 3))]
        values = [self.expression(self.random.randint(0, 1)) for _ in names]
        self.line(indent, f"{', '.join(names)} = {', '.join(values)}")

    def write_augment(self, indent, loop):
        self.line(indent, f"{self.name()} += {self.expression(1)}")

    def write_log(self, indent, loop):
        self.line(indent, f"log({self.expression(2)})")

    def write_return(self, indent, loop):
        value = self.random.choice(["", self.expression(1), self.expression(2)])
        self.line(indent, f"return {value}")

    def write_break(self, indent, loop):
        self.line(indent, "break")

    def write_continue(self, indent, loop):
        self.line(indent, "continue")

    def write_if(self, indent, loop):
        self.line(indent, f"if {self.expression(2)}:")
        self.block(indent + 1, 3, loop)
        for _ in range(self.random.choice([0, 0, 1])):
            self.line(indent, f"elif {self.expression(1)}:")
            self.block(indent + 1, 2, loop)
        if self.random.random() < 0.4:
            self.line(indent, "else:")
            self.block(indent + 1, 3, loop)

    def write_for(self, indent, loop):
        header = self.random.choice(
            ["i in range(3)", "a in [c, b, 2]", "i, b in enumerate((a, 4))",
             "c, a in zip([a], [b])", "i in reversed(range(4))", "b in reversed([i, a])"]
        )  # fmt: skip
        self.line(indent, f"for {header}:")
        self.inside(indent)

    def write_while(self, indent, loop):
        test = "True" if self.random.random() < 0.3 else self.expression(2)
        self.line(indent, f"while {test}:")
        self.line(indent + 1, "log(0)")
        self.inside(indent)

    def inside(self, indent):
        self.block(indent + 1, 4, True)
        if self.random.random() < 0.3:
            self.line(indent, "else:")
            self.block(indent + 1, 2, False)

    def name(self):
        return self.random.choice("abci")

    def expression(self, depth):
        """An expression; where it ends in a name or a number, `log` shows the order."""
        if depth == 0 or self.random.random() < 0.2:
            return self.random.choice([*"abci", "0", "1", "-2"])
        kinds = ["{} + {}", "{} - {}", "({} and {})", "({} or {})", "({} < {})", "log({1})",
                 "({} if {} else {})", "({} < {} < {})", "(not {})", "(NAME := {})",
                 "sum(NAME + {} for NAME in [1, {}])", "max([{}, {}])",
                 "len([{} for i in (1, {})])",
                 "any(log({}) for a in [{}, 1])", "(lambda a, i={}: {})({})"]  # fmt: skip
        kind = self.random.choice(kinds).replace("NAME", self.name())
        inner = [self.expression(depth - 1) for _ in range(3)]
        if ":=" in kind or "for" in kind or "lambda" in kind:
            inner = [self.random.choice([*"abci", "7"]) for _ in range(3)]
        return "(" + kind.format(*inner) + ")"


def outcome(call, *args):
    """What a program gives or raises, and what it logs."""
    log = Log()
    try:
        result = call(log, *args)
    except (StopError, TypeError, UnboundLocalError, OverflowError) as error:
        result = type(error)
    return result, list(log)


@pytest.mark.parametrize("block", range(5))
def test_random_programs(block):
    for seed in range(block * PROGRAMS // 5, (block + 1) * PROGRAMS // 5):
        text = Writer(seed).text()
        f = define(text, "f", {})
        function = lower(parse(f))
        verify(function, final=True)
        for args in ((0, 1), (2, 3), (-1, 5)):
            expected = outcome(f, *args)
            found = outcome(lambda *a, g=function: ir_interpreter.run(g, *a), *args)
            assert found == expected, f"seed {seed}, arguments {args}:\n{text}"
