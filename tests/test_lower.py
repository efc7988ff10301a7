"""The lowering: IR that does exactly what Python does."""

from __future__ import annotations

import copy
import operator
import time

import numpy as np
import pytest

from srcdiff import ir
from srcdiff.frontend.lowering import lower
from srcdiff.frontend.source.parse import parse
from srcdiff.ir import (
    NONE,
    Assign,
    Attr,
    Call,
    Const,
    Effect,
    For,
    If,
    Method,
    Name,
    Opaque,
    Permute,
    Return,
    SetItem,
    Tup,
    Verbatim,
    While,
    make_list,
)
from srcdiff.ir.verifier import verify
from srcdiff.kinds.interpreter import infer
from srcdiff.kinds.lattice import kind_of
from srcdiff.normalize.iteration import iterated
from tests import ir_interpreter
from tests.check import define
from tests.lowering_loops import ALL
from tests.programs import TOPICS
from tests.roundtrip import WHOLE
from tests.structures import bound_arguments


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
        Assign(T0, item(X, Const(0))), SetItem(T0, Const(1), Y, "+"), Return(NONE),
    ),
    "x += y": (SetItem(X, None, Y, "+"), Return(NONE)),
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


def test_time_grows_with_the_lines():
    def seconds(lines):
        text = "".join(f"    x = np.tanh(x @ y + {i}) * x[{i}:, None]\n" for i in range(lines))
        source = parse(define(f"def f(x, y):\n{text}    return x\n", "f", {"np": np}))
        times = []
        for _ in range(5):
            start = time.perf_counter()
            lower(source)
            times.append(time.perf_counter() - start)
        return min(times)

    assert seconds(20) < 0.1  # a twentieth of that on an idle machine
    assert seconds(1000) < 400 * seconds(20)  # 50 times the lines
