"""Templates as IR: the two halves, `d[x]`, and what is asked for before a part is written."""

import operator

import numpy as np

from srcdiff.frontend.lowering import adjoint_name, adjoint_of, lower_template
from srcdiff.frontend.source.parse import parse
from srcdiff.ir import NONE, Accum, Assign, Call, Const, Demand, Effect, If, Name, SetItem, Slice

X, Y, Z, II = (Name(n) for n in "xyzi")
DX, DY, DZ, DV = (Name(f"d[{n}]") for n in "xyzv")
T0, T1, T2 = (Name(f"_t_{i}") for i in range(3))
# ruff: noqa: F821


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
            (Demand(DX, X), SetItem(DX, II, Const(1.0), "+")),
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
    t = lower_template(parse(others))
    h, dh = Name("h"), Name("d[h]")
    assert t.result == h and t.params[2].style == "kw" and t.params[2].default == NONE
    assert t.below[:8] == (
        Demand(DX, X),
        SetItem(DX, None, Const(2.0), "*"),
        Assign(DX, dh),
        Demand(DX, X),
        Assign(T0, Call(operator.getitem, (DX, II))),
        SetItem(T0, Slice(Const(1), NONE, NONE), dh, "+"),
        Demand(DX, X),
        Assign(T2, Call(operator.getitem, (DX, II))),
    )
    assert t.below[8] == Effect(Call(np.copyto, (T2, Const(0.0))))
    assert t.below[9].body == (Accum(dh, Name("k"), h),)
