"""The invariants of the IR, each broken once."""

import operator

import pytest

from srcdiff.errors import InternalError
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
    Function,
    If,
    Method,
    Name,
    Opaque,
    Pair,
    Param,
    Permute,
    Reset,
    Return,
    SetItem,
    Slice,
    Star,
    Tup,
    While,
)
from srcdiff.ir.verifier import verify

X, Y, T = Name("x"), Name("y"), Name("t")
GET = Call(operator.getitem, (X, Slice(Const(1), NONE, NONE)))
TRUE = Const(True)


PARAMS = (Param("x"), Param("y"))


def function(*body, params=PARAMS):
    """A function of x and y with a body that returns x."""
    return Function("f", params, (*body, Return(X)))


GOOD = {
    "nothing": (),
    "maybe bound": (If(X, (Assign(T, Y),)), Effect(Call(print, (T,)))),
    "carried": (For(Name("i"), X, (If(X, (Effect(Call(print, (T,))),)), Assign(T, X))),),
    "while": (While((Assign(T, X),), T, (Assign(Name("s"), TRUE),), Name("s")),),
    "slices": (Assign(T, GET), SetItem(X, Tup((Slice(NONE, NONE, NONE), Const(0))), Y)),
    "star": (Effect(Call(print, (Star(X), Star(Tup((X, Y)))), ((None, X), ("sep", Y)))),),
    "pair": (Pair(Assign(T, X), (Accum(Name("d_x"), Name("d_t"), X), Reset(Name("d_t")))),),
}
BAD = {
    "unbound": ((Assign(T, Name("z")),), "`z` is read before it is bound"),
    "unbound store": ((SetItem(T, Const(0), X),), "`t` is read"),
    "unbound in test": ((If(T, (Assign(T, X),)),), "`t` is read"),
    "bound later": ((Effect(Call(print, (T,))), Assign(T, X)), "`t` is read"),
    "unbound stop": ((For(Name("i"), X, (), T),), "`t` is read"),
    "unbound while": ((While((), T, ()),), "`t` is read"),
    "callee": ((Effect(Call(T)),), "`t` is read"),
    "opaque": ((Assign(T, Opaque("t + 1", (T,))),), "`t` is read"),
    "empty opaque": ((Assign(T, Opaque(" ")),), "no text"),
    "two returns": ((Return(X),), "more than one Return"),
    "inner return": ((If(X, (Return(X),)),), "more than one Return"),
    "operator": ((AugAssign(X, Y, Y, "+="),), "no operator"),
    "permute": ((Permute((X, Y), (Y, Y)),), "no permutation"),
    "permute twice": ((Permute((X, X), (X, X)),), "no permutation"),
    "slice": ((Assign(T, Slice(NONE, NONE, NONE)),), "outside a subscript"),
    "slice in tuple": ((Assign(T, Tup((Slice(NONE, NONE, NONE),))),), "outside a subscript"),
    "star": ((Assign(T, Star(X)),), "no atom"),
    "call as atom": ((If(GET, ()),), "no atom"),
    "call in call": ((Effect(Call(print, (GET,))),), "no atom"),
    "effect": ((Effect(X),), "no call"),
    "method": ((Effect(Call(Method("sum"))),), "no object"),
    "attribute": ((Assign(T, Call(Attr("T"), (X, Y))),), "has arguments"),
    "keyword": ((Effect(Call(print, (), (("a b", X),))),), "no keyword"),
    "name": ((Assign(Name("a b"), X),), "no name"),
    "opaque loop": ((For(T, Opaque("x", (X,)), ()),), "opaque"),
}


@pytest.mark.parametrize("name", sorted(GOOD))
def test_good(name):
    verify(function(*GOOD[name]))


@pytest.mark.parametrize("name", sorted(BAD))
def test_bad(name):
    body, message = BAD[name]
    with pytest.raises(InternalError, match=message) as info:
        verify(function(*body))
    assert info.value.statement is not None and repr(info.value.statement) in str(info.value)


@pytest.mark.parametrize(
    "stmt", [Pair(None, ()), Accum(X, Y, X), Demand(X, X), Reset(X)], ids=lambda s: type(s).__name__
)
def test_left_over(stmt):
    verify(function(stmt))
    with pytest.raises(InternalError, match=f"{type(stmt).__name__} is left"):
        verify(function(stmt), final=True)


def test_functions():
    with pytest.raises(InternalError, match="does not end"):
        verify(Function("f", (), ()))
    with pytest.raises(InternalError, match="does not end"):
        verify(Function("f", (Param("x"),), (Return(X), Assign(T, X))))
    with pytest.raises(InternalError, match="not distinct"):
        verify(function(params=(Param("x"), Param("x"))))
    with pytest.raises(InternalError, match="style"):
        verify(function(params=(Param("x", style="any?"),)))
