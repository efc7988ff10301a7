"""Which names are live after a statement."""

import numpy as np

from srcdiff import ir
from srcdiff.analysis.liveness import live_after, live_before, liveness
from srcdiff.frontend.lowering import lower
from srcdiff.frontend.source.parse import parse


def lowered(function):
    return lower(parse(function))


def assignment(function, name, number=0):
    found = [s for s in ir.walk(function.body) if name in ir.writes(s)]
    return found[number]


def test_straight_line():
    def line(x, y):
        a = x * y
        b = a + x
        return b

    f = lowered(line)
    assert live_after(f, assignment(f, "a")) == {"a", "x"}
    assert live_after(f, assignment(f, "b")) == {"b"}
    assert live_before(f.body, frozenset()) == {"x", "y"}
    assert live_after(f, f.body[-1]) == frozenset()


def test_loop_carried_names_are_live_round_the_loop():
    def loop(x, n):
        acc = 0.0
        for i in range(n):
            t = acc * x
            acc = t + i
        return acc

    f = lowered(loop)
    assert live_after(f, assignment(f, "acc", 1)) == {"acc", "x"}
    assert live_after(f, assignment(f, "t")) == {"t", "i", "x"}
    assert live_after(f, assignment(f, "acc")) >= {"acc", "x", "n"}


def test_branches_are_joined():
    def branch(x, flag):
        a = x
        b = x * 2
        if flag:
            a = b
        return a

    f = lowered(branch)
    assert live_after(f, assignment(f, "b")) == {"a", "b", "flag"}


def test_while_reads_its_test_every_time():
    def halve(x):
        while x > 1.0:
            x = x / 2
        return x

    f = lowered(halve)
    inside = assignment(f, "x")
    assert "x" in live_after(f, inside)


def test_stores_read_their_base():
    def store(n):
        out = np.zeros(n)
        out[0] = 1.0
        return n

    f = lowered(store)
    assert "out" in live_after(f, assignment(f, "out"))


def test_every_statement_has_its_set():
    def program(x):
        y = x
        for _ in range(3):
            if y > 0:
                y = y - x
        return y

    f = lowered(program)
    assert {id(s) for s in ir.walk(f.body)} <= set(liveness(f))
    assert ir.use_counts(f.body)["x"] == 2
