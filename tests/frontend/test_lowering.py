"""The lowering: IR that does exactly what Python does; templates as IR."""
# ruff: noqa: F821 -- `d` of a template is the compiler's

from __future__ import annotations

import copy
import cProfile
import operator
import pstats
import random

import numpy as np
import pytest

from srcdiff import ir
from srcdiff.frontend.lowering import adjoint_name, adjoint_of, lower, lower_template
from srcdiff.frontend.source.parse import parse
from srcdiff.ir import (
    NONE,
    Accum,
    Assign,
    Attr,
    AugAssign,
    Call,
    Const,
    Demand,
    Effect,
    For,
    If,
    Method,
    Name,
    Opaque,
    Permute,
    Return,
    SetItem,
    Slice,
    Tup,
    Verbatim,
    While,
    make_list,
)
from srcdiff.ir import interpreter as ir_interpreter
from srcdiff.ir.verifier import verify
from srcdiff.kinds.interpreter import infer
from srcdiff.kinds.lattice import kind_of
from srcdiff.normalize.iteration import iterated
from tests.corpus.roundtrip import WHOLE
from tests.programs import TOPICS
from tests.support.differences import define
from tests.support.lowering_loops import ALL
from tests.support.structures import bound_arguments


def _outcome(call, function, case):
    """What a call gives or raises, and what became of its arguments."""
    args = [copy.deepcopy(a() if callable(a) else a) for a in case]
    try:
        result = call(function, *args)
    except Exception as error:
        return type(error), str(error), args
    return "value", result, args


def _same(a, b):
    """Whether two results are equal, types and dtypes included."""
    if type(a) is not type(b):
        return False
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(_same, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(_same(v, b[k]) for k, v in a.items())
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and bool(np.all((a == b) | ((a != a) & (b != b))))
    if hasattr(a, "__dict__"):
        return _same(vars(a), vars(b))
    return bool(a == b or (a != a and b != b))


@pytest.mark.parametrize("f,cases", ALL, ids=[f.__name__ for f, _ in ALL])
def test_the_ir_does_what_python_does(f, cases):
    function = lower(parse(f))
    verify(function, final=True)
    for case in cases:
        expected = _outcome(lambda g, *args: g(*args), f, case)
        found = _outcome(ir_interpreter.run, function, case)
        assert _same(expected, found), (case, expected, found)


@pytest.mark.parametrize("topic", TOPICS)
def test_the_corpus(topic):
    for program in WHOLE:
        if program.name.startswith(f"{topic}-"):
            function = lower(parse(program.function))
            expected, found = program.arguments(), program.arguments()
            named = bound_arguments(program.function, found)
            params = {n: kind_of(v, n) for n, v in named.items()}
            function = iterated(function, infer(function, params), params)
            result = ir_interpreter.run(function, *found)
            assert _same(program.function(*expected), result), program.name
            assert _same(expected, found), program.name


# --- the forms that the printer turns back ---


def body(text):
    """The statements of a function of these lines, without locations."""
    lines = "".join(f"    {line}\n" for line in text.split("\n"))
    f = define(f"def f(x, y, xs, ys):\n{lines}", "f", {})
    return lower(parse(f)).body


X, Y, XS, YS, II, N, K = (Name(n) for n in ("x", "y", "xs", "ys", "i", "_n", "_k"))
T0, T1, STOP, DONE, RET = (Name(n) for n in ("_t_0", "_t_1", "_stop", "_done", "_ret"))
TRUE, FALSE = Const(True), Const(False)


def count(n):
    return Call(range, (n,))


def item(xs, k):
    return Call(operator.getitem, (xs, k))


PATTERNS = {
    "return x and y": (Assign(T0, X), If(T0, (Assign(T0, Y),)), Return(T0)),
    "return x or y": (Assign(T0, X), If(T0, (), (Assign(T0, Y),)), Return(T0)),
    "return x if xs else y": (If(XS, (Assign(T0, X),), (Assign(T0, Y),)), Return(T0)),
    "return x < y < 3": (
        Assign(T0, Call(operator.lt, (X, Y))),
        If(T0, (Assign(T0, Call(operator.lt, (Y, Const(3)))),)),
        Return(T0),
    ),
    "x, y = y, x": (Permute((X, Y), (Y, X)), Return(NONE)),
    "x, y = y, x + y": (
        Assign(T0, Y), Assign(Y, Call(operator.add, (X, Y))), Assign(X, T0), Return(NONE),
    ),
    "x, y = xs, ys": (Assign(X, XS), Assign(Y, YS), Return(NONE)),
    "x, y = xs": (Assign(X, item(XS, Const(0))), Assign(Y, item(XS, Const(1))), Return(NONE)),
    "x[0][1] += y": (
        Assign(T0, item(X, Const(0))), AugAssign(T0, Const(1), Y, "+"), Return(NONE),
    ),
    "x += y": (AugAssign(X, None, Y, "+"), Return(NONE)),
    "x = y = xs": (Assign(X, XS), Assign(Y, X), Return(NONE)),
    "return -1, -x": (Assign(T0, Call(operator.neg, (X,))), Return(Tup((Const(-1), T0)))),
    "for x in xs: y": (
        Assign(N, Call(len, (XS,))), For(K, count(N), (Assign(X, item(XS, K)),)), Return(NONE),
    ),
    "for i in range(1, x): y": (For(II, Call(range, (Const(1), X)), ()), Return(NONE)),
    "for i in reversed(range(3)): y": (
        For(II, Call(range, (Const(2), Const(-1), Const(-1))), ()), Return(NONE),
    ),
    "for i, x in enumerate(xs): y": (
        Assign(N, Call(len, (XS,))), For(II, count(N), (Assign(X, item(XS, II)),)), Return(NONE),
    ),
    "return [x for x in xs if y]": (
        Assign(T0, Call(make_list)),
        Assign(N, Call(len, (XS,))),
        For(K, count(N), (
            Assign(Name("x_1"), item(XS, K)),
            If(Y, (Effect(Call(Method("append"), (T0, Name("x_1")))),)),
        )),
        Return(T0),
    ),
    "for i in range(x):\n    if y: break\n    y = i": (
        Assign(STOP, FALSE),
        For(II, count(X), (If(Y, (Assign(STOP, TRUE),), (Assign(Y, II),)),), STOP),
        Return(NONE),
    ),
    "for i in range(x):\n    if y: continue\n    y = i": (
        For(II, count(X), (If(Y, (), (Assign(Y, II),)),)), Return(NONE),
    ),
    "while x:\n    if y:\n        if xs: continue\n        x = 1\n    y = x": (
        While((), X, (
            Assign(Name("_skip"), FALSE),
            If(Y, (If(XS, (Assign(Name("_skip"), TRUE),), (Assign(X, Const(1)),)),)),
            If(Name("_skip"), (), (Assign(Y, X),)),
        )),
        Return(NONE),
    ),
    "while True:\n    if x: break": (
        Assign(STOP, FALSE), While((), TRUE, (If(X, (Assign(STOP, TRUE),)),), STOP), Return(NONE),
    ),
    "if x: return y\nreturn xs": (
        If(X, (Assign(RET, Y),), (Assign(RET, XS),)), Return(RET),
    ),
    "for i in range(x):\n    if y: return i\nreturn xs": (
        Assign(DONE, FALSE),
        For(II, count(X), (If(Y, (Assign(RET, II), Assign(DONE, TRUE))),), DONE),
        If(DONE, (), (Assign(RET, XS),)),
        Return(RET),
    ),
    "if x:\n    if y: return\n    x = 1\ny = 2": (
        Assign(DONE, FALSE),
        If(X, (If(Y, (Assign(DONE, TRUE),), (Assign(X, Const(1)),)),)),
        If(DONE, (), (Assign(Y, Const(2)),)),
        Return(NONE),
    ),
    "for i in range(x):\n    if y: break\nelse:\n    y = 1": (
        Assign(STOP, FALSE),
        For(II, count(X), (If(Y, (Assign(STOP, TRUE),)),), STOP),
        If(STOP, (), (Assign(Y, Const(1)),)),
        Return(NONE),
    ),
    "assert x, y\ndel y\npass": (Verbatim("assert x, y", (X, Y)), Return(NONE)),
    "return f'{x:.2f}'": (Assign(T0, Opaque("f'{x:.2f}'", (X,), (), True)), Return(T0)),
    "return [{x, i} for i in xs][0].real": (
        Assign(T0, Call(make_list)),
        Assign(N, Call(len, (XS,))),
        For(K, count(N), (
            Assign(II, item(XS, K)),
            Assign(T1, Opaque("{x, i}", (X, II))),
            Effect(Call(Method("append"), (T0, T1))),
        )),
        Assign(Name("_t_2"), item(T0, Const(0))),
        Assign(Name("_t_3"), Call(Attr("real"), (Name("_t_2"),))),
        Return(Name("_t_3")),
    ),
}  # fmt: skip


@pytest.mark.parametrize("text", PATTERNS)
def test_patterns(text):
    assert body(text) == PATTERNS[text]


def test_function():
    def f(x: float, /, y=2, *rest, k: "int" = None, **more):  # noqa: UP037
        """Says what it does."""
        if x:
            return y  # one
        return x

    found = lower(parse(f))
    styles = [(p.name, p.style, p.default, p.annotation) for p in found.params]
    assert styles == [
        ("x", "pos", None, "float"), ("y", "any", Const(2), None), ("rest", "*", None, None),
        ("k", "kw", NONE, '"int"'), ("more", "**", None, None),
    ]  # fmt: skip
    assert found.doc == "Says what it does." and found.name == "f"
    first = found.loc.line
    assert [r.line - first for r in found.returns] == [3, 4]
    assert found.comments == {first: "# noqa: UP037", first + 3: "# one"}
    assert [s.loc.line - first for s in found.body] == [2, 4]


def test_callees_are_objects():
    f = define("def f(x, g):\n    return np.linalg.norm(g(x)), np.add.at, e(x)\n", "f",
               {"np": np, "e": np.exp})  # fmt: skip
    calls = [s.rhs for s in lower(parse(f)).body[:-1]]
    assert [c.fn for c in calls] == [Name("g"), np.linalg.norm, np.exp]
    assert [c.text for c in calls] == ["g", "np.linalg.norm", "e"]
    assert lower(parse(f)).body[-1].value.items[1].text == "np.add.at"


def test_temporaries_avoid_every_name():
    f = define("def f(_t_0, _n):\n    return _t_1(_t_0 + 1) + _n\n", "f", {"_t_1": len})
    names = ir.bound(lower(parse(f)).body)
    assert not names & {"_t_0", "_t_1", "_n"} and len(names) == 3


def test_calls_grow_with_the_lines():
    def calls(lines):
        text = "".join(f"    x = np.tanh(x @ y + {i}) * x[{i}:, None]\n" for i in range(lines))
        source = parse(define(f"def f(x, y):\n{text}    return x\n", "f", {"np": np}))
        profile = cProfile.Profile()
        profile.runcall(lower, source)
        return pstats.Stats(profile).total_calls

    calls(1)  # what is found once
    assert calls(1000) < 60 * calls(20)  # 50 times the lines


# --- templates: the two halves, `d[x]`, and what is asked for before a part is written -----------

Z, T2 = Name("z"), Name("_t_2")
DX, DY, DZ, DV = (Name(f"d[{n}]") for n in "xyzv")


def basic(i):
    return isinstance(i, int)


def unbroadcast(d, x):
    return d


def multiply(x, y):
    """Product."""
    z = x * y
    yield z
    d[x] += d[z] * y
    d[y] -= d[z]


def getitem(x, i):
    yield x[i]
    if basic(i):
        d[x][i] += 1.0
    else:
        np.add.at(d[x], i, 2.0)


def setitem(x, i, v):
    old = np.copy(x[i])
    x[i] = v
    yield
    x[i] = old
    d[v] += unbroadcast(np.copy(d[x][i]), v)
    d[x][i] = 0


def others(x, i, *, axis=None):
    h = x
    yield h
    d[x] *= 2.0
    d[x] = d[h]
    d[x][i][1:] += d[h]
    np.copyto(d[x][i], 0.0)
    for k in range(axis):
        d[h] += k


def test_names():
    assert adjoint_name("x") == DX and adjoint_of("d[x]") == "x" and adjoint_of("dx") is None


def test_elementwise():
    t = lower_template(parse(multiply))
    assert (t.name, t.doc, t.result, t.forward_names) == ("multiply", "Product.", Z, {"z"})
    assert [p.name for p in t.params] == ["x", "y"] and t.loc.line > 1
    assert t.above == (Assign(Z, Call(operator.mul, (X, Y))),)
    assert t.below == (
        Assign(T0, Call(operator.mul, (DZ, Y))),
        Accum(DX, T0, X),
        Assign(T1, Call(operator.neg, (DZ,))),
        Accum(DY, T1, Y),
    )


def test_parts():
    t = lower_template(parse(getitem))
    assert t.above == (Assign(T0, Call(operator.getitem, (X, II))),) and t.result == T0
    assert t.below == (
        Assign(T1, Call(basic, (II,))),
        If(
            T1,
            (Demand(DX, X), AugAssign(DX, II, Const(1.0), "+")),
            (Demand(DX, X), Effect(Call(np.add.at, (DX, II, Const(2.0))))),
        ),
    )


def test_mutation():
    t = lower_template(parse(setitem), "x")
    old, v = Name("old"), Name("v")
    assert t.result is None
    assert t.above == (
        Assign(T0, Call(operator.getitem, (X, II))),
        Assign(old, Call(np.copy, (T0,))),
        SetItem(X, II, v),
    )
    assert t.below == (
        SetItem(X, II, old),
        Assign(T1, Call(operator.getitem, (DX, II))),
        Assign(T2, Call(np.copy, (T1,))),
        Assign(Name("_t_3"), Call(unbroadcast, (T2, v))),
        Accum(DV, Name("_t_3"), v),
        Demand(DX, X),
        SetItem(DX, II, Const(0)),
    )


def test_other_stores():
    t = lower_template(parse(others), "x")
    h, dh = Name("h"), Name("d[h]")
    assert t.result == h and t.params[2].style == "kw" and t.params[2].default == NONE
    assert t.below[:8] == (
        Demand(DX, X),
        AugAssign(DX, None, Const(2.0), "*"),
        Assign(DX, dh),
        Demand(DX, X),
        Assign(T0, Call(operator.getitem, (DX, II))),
        AugAssign(T0, Slice(Const(1), NONE, NONE), dh, "+"),
        Demand(DX, X),
        Assign(T2, Call(operator.getitem, (DX, II))),
    )
    assert t.below[8] == Effect(Call(np.copyto, (T2, Const(0.0))))
    assert t.below[9].body == (Accum(dh, Name("k"), h),)


# --- random control flow and evaluation order ----------------------------------------------------

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
