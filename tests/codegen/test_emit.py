"""Printing: nesting without a change of meaning, spelling, comments, places, namespaces."""

import inspect
import linecache
import math
import operator
import traceback

import numpy as np
import pytest

import srcdiff
from srcdiff.backends.loader import compile_module, compile_text
from srcdiff.codegen.emit import emit
from srcdiff.ir import (
    NONE,
    Assign,
    Attr,
    AugAssign,
    Backward,
    Call,
    Const,
    Derived,
    Effect,
    For,
    Function,
    If,
    Loc,
    Method,
    Name,
    Opaque,
    Param,
    Permute,
    Ref,
    Return,
    SetItem,
    Slice,
    Star,
    Tup,
    Unpack,
    Unpacks,
    Verbatim,
    While,
    make_dict,
    make_list,
)

X, Y = Name("x"), Name("y")
INDEX = Name("i")


def atom(value):
    return Name(value) if isinstance(value, str) else value


def call(fn, *args, **kwargs):
    pairs = tuple((k, atom(v)) for k, v in kwargs.items())
    return Call(fn, tuple(atom(a) for a in args), pairs)


def put(target, rhs, line=0):
    return Assign(Name(target), rhs, Loc("model.py", line) if line else Loc("<unknown>", 0))


def function(*body, params="x y", **options):
    return Function("f", tuple(Param(p) for p in params.split()), body, **options)


def body(*statements, **options):
    """The lines of a function's body, without their indentation."""
    return [line[4:] for line in emit(function(*statements, **options)).text.splitlines()[1:]]


def value(rhs):
    """The text of a right-hand side."""
    (line,) = body(put("a", rhs))
    return line.removeprefix("a = ")


# --- expressions -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "rhs,text",
    [
        (call(operator.mul, "x", "y"), "x * y"),
        (call(operator.pow, "x", Const(2)), "x**2"),
        (call(operator.matmul, "x", "y"), "x @ y"),
        (call(operator.contains, "y", "x"), "x in y"),
        (call(operator.not_, "x"), "not x"),
        (call(operator.neg, "x"), "-x"),
        (call(operator.is_not, "x", NONE), "x is not None"),
        (call(operator.add, "x", Const(-2.0)), "x + -2.0"),
        (call(operator.getitem, "x", INDEX), "x[i]"),
        (call(operator.getitem, "x", Slice(INDEX, NONE, NONE)), "x[i:]"),
        (call(operator.getitem, "x", Tup((Slice(NONE, INDEX, NONE), Const(None)))), "x[:i, None]"),
        (call(operator.getitem, "x", Tup((Const(...), Const(0)))), "x[..., 0]"),
        (call(operator.getitem, "x", Tup(())), "x[()]"),
        (call(Method("sum"), "x", axis=Const(0)), "x.sum(axis=0)"),
        (call(Attr("T"), "x"), "x.T"),
        (call(make_list, "x", Star(Y)), "[x, *y]"),
        (call(make_dict, Const("a"), "x"), '{"a": x}'),
        (Tup((X, Const(1))), "(x, 1)"),
        (call(np.where, "x", "y", Const(0.0)), "np.where(x, y, 0.0)"),
        (call(np.linalg.norm, "x"), "np.linalg.norm(x)"),
        (call(np.add.at, "x", INDEX, "y"), "np.add.at(x, i, y)"),
        (call(np.float64, "x"), "np.float64(x)"),
        (call(math.sin, "x"), "math.sin(x)"),
        (call(len, "x"), "len(x)"),
        (call(operator.add, "x"), "operator.add(x)"),
        (call(Name("y"), "x", Star(X)), "y(x, *x)"),
        (Call(Name("y"), (), ((None, X),)), "y(**x)"),
        (Const(float("inf")), "np.inf"),
        (Const(float("-inf")), "-np.inf"),
        (Const(float("nan")), "np.nan"),
        (Const(0.1), "0.1"),
        (Const(2j), "2j"),
        (Const("a'b"), '"a\'b"'),
        (Ref("np.pi", np.pi), "np.pi"),
        (Opaque("{x, 1}", (X,)), "{x, 1}"),
        (call(np.sum, Slice(Const(0), X, NONE)), "np.sum(slice(0, x, None))"),
    ],
)
def test_right_hand_sides(rhs, text):
    assert value(rhs) == text


def test_the_spelling_of_the_user_is_kept_where_it_leads_to_the_function():
    assert value(Call(np.sin, (X,), text="numpy.sin")) == "numpy.sin(x)"
    assert value(Call(np.sin, (X,), text="sin")) == "sin(x)"
    assert value(Call(np.absolute, (X,), text="np.abs")) == "np.abs(x)"
    assert value(Call(np.sin, (X,), text="self.f")) == "np.sin(x)"
    assert value(Call(np.sin, (X,), text="math.sin")) == "np.sin(x)"


def test_the_namespace_tells_what_the_users_names_mean():
    class helpers:  # noqa: N801
        f = staticmethod(lambda x: x)

    f = function(put("a", Call(helpers.f, (X,), text="helpers.f")))
    assert "helpers.f(x)" in emit(f, namespace={"helpers": helpers}).text
    assert emit(f, namespace={"helpers": helpers}).refs == {"helpers": helpers}


def helper(x):
    return x + 1


def test_global_names_and_their_objects():
    other = Ref("SIGMA", [2.0])
    f = function(
        put("a", call(helper, "x")),
        put("b", call(operator.add, Ref("SIGMA", 1.0), other)),
        put("c", call(np.sin, Ref("np.pi", np.pi))),
        put("e", call(len, "x")),
    )
    emitted = emit(f)
    assert emitted.refs == {"helper": helper, "SIGMA": 1.0, "SIGMA_1": other.value, "np": np}
    assert "b = SIGMA + SIGMA_1" in emitted.text


def test_a_local_name_hides_a_module_and_a_builtin():
    f = function(put("a", call(np.sin, "np")), put("b", call(len, "len")), params="np len")
    emitted = emit(f)
    assert "a = np_1.sin(np)" in emitted.text
    assert "b = len_1(len)" in emitted.text
    assert emitted.refs == {"np_1": np, "len_1": len}


def test_functions_still_to_be_generated_are_called_by_their_name():
    emitted = emit(function(put("a", call(Derived("g_forward", "forward", 1), "x"))))
    assert "a = g_forward(x)" in emitted.text
    assert emitted.refs == {}


# --- nesting -----------------------------------------------------------------------------------


def test_temporaries_used_once_are_nested():
    found = body(
        put("_1", call(operator.matmul, "x", "y")),
        put("h", call(np.tanh, "_1")),
        put("_2", call(operator.mul, "h", "h")),
        put("_3", call(operator.sub, Const(1.0), "_2")),
        Return(Name("_3")),
    )
    assert found == ["h = np.tanh(x @ y)", "return 1.0 - h * h"]


def test_temporaries_used_twice_and_names_of_the_user_stay():
    found = body(
        put("_1", call(np.sin, "x")),
        put("a", call(np.cos, "x")),
        put("b", call(operator.mul, "_1", "_1")),
        Return(call(operator.add, "a", "b")),
    )
    assert found[:3] == ["_1 = np.sin(x)", "a = np.cos(x)", "b = _1 * _1"]


def test_adjoints_of_temporaries_are_nested():
    found = body(
        put("d__1", call(operator.mul, "x", Const(2.0))),
        put("d_x", call(operator.mul, "d__1", "y")),
        Return(Name("d_x")),
    )
    assert found[0] == "d_x = x * 2.0 * y"


def barrier(stmt, first=None):
    """What is printed of a temporary, a statement, and the use of the temporary."""
    first = put("_1", call(np.sin, "x")) if first is None else first
    return body(first, stmt, Return(Name("_1")))[-1]


def test_nothing_moves_over_what_changes_its_operands():
    stays = "return _1"
    assert barrier(put("x", call(np.cos, "y"))) == stays
    assert barrier(SetItem(Name("y"), INDEX, X)) == stays
    assert barrier(AugAssign(Name("y"), None, X, "+")) == stays
    assert barrier(Effect(call(Method("sort"), "y"))) == stays
    assert barrier(Effect(call(helper, "y"))) == stays
    assert barrier(put("z", call(helper, "y"))) == stays
    assert barrier(put("z", call(np.sin, "y", out="y"))) == stays
    assert barrier(put("z", call(np.random.normal))) == stays
    assert barrier(For(Name("x"), call(range, "y"), ())) == stays
    assert barrier(If(Y, (put("x", Const(1)),))) == stays
    assert barrier(While((SetItem(Name("y"), INDEX, X),), Y, ())) == stays
    assert barrier(Permute((X, Y), (Y, X))) == stays


def test_pure_expressions_move_over_pure_statements():
    assert barrier(put("z", call(np.cos, "x"))) == "return np.sin(x)"
    assert barrier(If(Y, (put("z", Const(1)),))) == "return np.sin(x)"


def test_what_no_store_can_change_moves_over_stores():
    store = SetItem(Name("y"), INDEX, X)
    assert barrier(store, put("_1", call(Attr("shape"), "x"))) == "return x.shape"
    assert barrier(store, put("_1", call(len, "x"))) == "return len(x)"
    assert barrier(store, put("_1", X)) == "return x"


def test_appending_to_a_private_list_is_no_obstacle():
    found = body(
        put("saved", call(make_list)),
        put("_1", call(np.sin, "x")),
        Effect(call(Method("append"), "saved", "y")),
        put("z", call(np.cos, "_1")),
        put("a", call(Method("pop"), "saved")),
        Return(Name("z")),
    )
    assert found[2] == "z = np.cos(np.sin(x))"


def test_effects_keep_their_order():
    pop = call(Method("pop"), "x")
    found = body(put("_1", pop), put("_2", pop), put("a", call(operator.sub, "_1", "_2")))
    assert found == ["a = x.pop() - x.pop()"]
    found = body(put("_1", pop), put("_2", pop), put("a", call(operator.sub, "_2", "_1")))
    assert found == ["_1 = x.pop()", "a = x.pop() - _1"]
    found = body(put("_1", pop), put("b", call(len, "x")), put("a", call(np.sin, "_1")))
    assert found == ["_1 = x.pop()", "b = len(x)", "a = np.sin(_1)"]


def test_a_read_does_not_move_past_an_effect_in_the_same_expression():
    pop = call(Method("pop"), "x")
    read = call(operator.getitem, "x", Const(0))
    found = body(put("_1", read), put("_2", pop), put("a", call(operator.sub, "_2", "_1")))
    assert found == ["_1 = x[0]", "a = x.pop() - _1"]
    found = body(put("_1", read), put("_2", pop), put("a", call(operator.sub, "_1", "_2")))
    assert found == ["a = x[0] - x.pop()"]


def test_an_effect_does_not_move_into_an_operator_on_a_target():
    found = body(put("_1", call(helper, "x")), AugAssign(Name("x"), INDEX, Name("_1"), "+"))
    assert found == ["_1 = helper(x)", "x[i] += _1"]
    found = body(put("_1", call(helper, "x")), AugAssign(Name("x"), None, Name("_1"), "+"))
    assert found == ["x += helper(x)"]


def test_nothing_moves_into_a_loop_or_a_branch():
    use = (put("a", call(np.sin, "_1")),)
    first = put("_1", call(np.sin, "x"))
    assert body(first, For(INDEX, call(range, "y"), use))[0] == "_1 = np.sin(x)"
    assert body(first, If(Y, use))[0] == "_1 = np.sin(x)"
    assert body(first, While((), Y, use))[0] == "_1 = np.sin(x)"


def test_a_check_of_an_unpacking_binds_what_nothing_reads():
    check = Unpack(X, Unpacks(1, 2))
    assert body(check) == ["_, *_, _, _ = x"]
    assert body(Unpack(X, Unpacks(1))) == ["(_,) = x"]
    read = For(Name("_"), X, (Effect(call(print, "_")), Effect(call(print, "_"))))
    assert body(read, check)[-1] == "__, *__, __, __ = x"


def test_long_backward_lines_are_not_nested():
    name = "a_rather_long_name_of_a_value"
    statements = [Backward(), put("_0", X)]
    for k in range(4):
        statements.append(put(f"_{k + 1}", call(operator.mul, f"_{k}", name)))
    lines = body(*statements, Return(Name("_4")))
    assert lines[1:] == [f"_2 = x * {name} * {name}", f"return _2 * {name} * {name}"]


def test_a_loop_is_left_at_its_end_if_that_is_the_same():
    leave = If(X, (STOP,))
    loop = For(INDEX, call(range, "y"), (leave, put("a", INDEX)), Name("_stop"))
    assert body(put("_stop", Const(False)), loop) == [
        "for i in range(y):", "    a = i", "    if x:", "        break",
    ]  # fmt: skip


def test_long_docstrings_are_wrapped():
    lines = body(Return(X), doc="One sentence " * 6 + "ends. Another one begins here.")
    assert lines[1:3] == ["", "Another one begins here."]
    lines = body(Return(X), doc="word " * 30)
    assert len(lines) == 4
    assert max(map(len, lines)) <= 96


# --- statements --------------------------------------------------------------------------------


def test_simple_statements():
    found = body(
        SetItem(X, INDEX, Y),
        AugAssign(X, INDEX, Y, "+"),
        AugAssign(X, None, Y, "*"),
        put("x", call(operator.add, "x", "y")),
        Permute((X, Y), (Y, X)),
        Effect(call(print, "x")),
        Verbatim("assert x > SIGMA, 'no'", (X,), (), (("SIGMA", 1),)),
        Backward(),
        Return(Tup((X, Y))),
    )
    assert found == [
        "x[i] = y",
        "x[i] += y",
        "x *= y",
        "x = x + y",
        "x, y = y, x",
        "print(x)",
        'assert x > SIGMA, "no"',
        "# backward",
        "return x, y",
    ]


def test_an_empty_body_is_a_pass():
    assert body(Return(NONE)) == ["pass"]
    found = body(For(INDEX, call(range, "x"), ()), Return(NONE))
    assert found == ["for i in range(x):", "    pass"]


def items(base, *targets, count=None):
    role = Unpacks(count or len(targets))
    return [
        put(t, Call(operator.getitem, (Name(base), Const(k)), role=role))
        for k, t in enumerate(targets)
    ]


def test_unpacking():
    assert body(put("_1", call(np.unique, "x")), *items("_1", "a", "b")) == ["a, b = np.unique(x)"]
    assert body(*items("x", "a", "b")) == ["a, b = x"]


def test_items_some_of_which_are_not_taken_are_no_unpacking():
    found = body(put("_1", call(np.shape, "x")), *items("_1", "a", "b", count=3))
    assert found == ["_1 = np.shape(x)", "a = _1[0]", "b = _1[1]"]


def test_signatures():
    params = (
        Param("a", style="pos"),
        Param("b", Const(1.0), annotation="np.ndarray"),
        Param("c", style="*"),
        Param("e", Ref("np.pi", np.pi), "kw"),
        Param("k", style="**"),
    )
    emitted = emit(Function("f", params, (Return(Name("a")),)))
    assert emitted.text.startswith("def f(a, /, b: np.ndarray = 1.0, *c, e=np.pi, **k):\n")
    assert emit(Function("f", (Param("a", style="kw"),), ())).text.startswith("def f(*, a):")


def test_docstrings():
    assert body(Return(X), doc="One line.") == ['"""One line."""', "return x"]
    assert body(Return(X), doc="One.\n\n  Two.\n  ") == ['"""One.', "", "Two.", '"""', "return x"]


# --- conditionals and loops --------------------------------------------------------------------


def test_and_or_not_and_chains():
    found = body(
        put("_1", call(operator.lt, "x", "y")),
        If(Name("_1"), (put("_1", call(operator.lt, "y", Const(3))),)),
        put("a", Name("_1")),
        put("_2", X),
        If(Name("_2"), (), (put("_2", Y),)),
        put("b", Name("_2")),
        put("_3", call(operator.contains, "x", "y")),
        put("_4", call(operator.not_, "_3")),
        Return(Name("_4")),
    )
    assert found == ["a = x < y < 3", "b = x or y", "return y not in x"]


def test_ternaries():
    found = body(
        put("_1", call(operator.gt, "x", "y")),
        If(Name("_1"), (put("_2", X),), (put("_2", call(np.sin, "y")),)),
        put("a", call(np.cos, "_2")),
    )
    assert found == ["a = np.cos(x if x > y else np.sin(y))"]


def test_a_conditional_with_statements_stays_one():
    found = body(
        If(X, (put("a", Y), put("_2", X)), (put("_2", Y),)),
        put("b", call(np.cos, "_2")),
    )
    assert found == ["if x:", "    a = y", "    _2 = x", "else:", "    _2 = y", "b = np.cos(_2)"]


def test_elif_and_empty_branches():
    found = body(
        If(X, (put("a", X),), (If(Y, (put("a", Y),), (put("a", INDEX),)),)),
        If(X, (), (put("a", X),)),
    )
    assert found == [
        "if x:", "    a = x", "elif y:", "    a = y", "else:", "    a = i",
        "if not x:", "    a = x",
    ]  # fmt: skip


def test_a_while_loop_whose_condition_takes_statements():
    cond = (put("a", call(np.sin, "x")), put("_1", call(operator.gt, "a", "y")))
    found = body(While(cond, Name("_1"), (put("x", Name("a")),)))
    assert found == [
        "while True:", "    a = np.sin(x)", "    if not a > y:", "        break", "    x = a",
    ]  # fmt: skip


STOP = put("_stop", Const(True))


def test_break():
    loop = For(INDEX, call(range, "y"), (If(X, (STOP,), (put("x", INDEX),)),), Name("_stop"))
    assert body(put("_stop", Const(False)), loop, Return(X)) == [
        "for i in range(y):", "    if x:", "        break", "    x = i", "return x",
    ]  # fmt: skip


def test_a_stop_flag_that_is_read_stays_a_variable():
    loop = For(INDEX, call(range, "y"), (If(X, (STOP,), (put("x", INDEX),)),), Name("_stop"))
    assert body(put("_stop", Const(False)), loop, Return(Name("_stop"))) == [
        "_stop = False", "for i in range(y):", "    if x:", "        _stop = True", "    else:",
        "        x = i", "    if _stop:", "        break", "return _stop",
    ]  # fmt: skip


def test_a_stop_flag_set_before_other_statements_stays_a_variable():
    inside = (If(X, (STOP,)), put("x", INDEX))  # which the condition reads
    found = body(put("_stop", Const(False)), For(INDEX, call(range, "y"), inside, Name("_stop")))
    assert found[-2:] == ["    if _stop:", "        break"]


def test_for_else():
    loop = For(INDEX, call(range, "y"), (If(X, (STOP,)),), Name("_stop"))
    orelse = If(Name("_stop"), (), (put("x", Y),))
    assert body(put("_stop", Const(False)), loop, orelse, Return(X)) == [
        "for i in range(y):", "    if x:", "        break", "else:", "    x = y", "return x",
    ]  # fmt: skip


def test_continue():
    inside = (put("a", INDEX), If(X, (), (put("x", INDEX), put("y", INDEX))))
    assert body(For(INDEX, call(range, "y"), inside)) == [
        "for i in range(y):", "    a = i", "    if x:", "        continue", "    x = i",
        "    y = i",
    ]  # fmt: skip


def test_early_returns():
    inner = If(Y, (put("_ret", Y),), (put("_ret", INDEX),))
    assert body(If(X, (put("_ret", X),), (put("a", Y), inner)), Return(Name("_ret"))) == [
        "if x:", "    return x", "a = y", "if y:", "    return y", "return i",
    ]  # fmt: skip


def test_a_result_that_is_not_returned_at_once_stays_a_variable():
    found = body(If(X, (put("_ret", X),), (put("_ret", Y),)), put("a", X), Return(Name("_ret")))
    assert found[-1] == "return _ret"


# --- loops over items, comprehensions ----------------------------------------------------------


def over(*targets, counter="_k", inside=()):
    """A loop that reads one item of each of x, y, ... at the same index."""
    bases = ("x", "y", "z")[: len(targets)]
    lengths = [put(f"_n{b}", call(len, b)) for b in bases]
    count = f"_n{bases[0]}"
    if len(bases) > 1:
        lengths.append(put("_n", call(min, *(f"_n{b}" for b in bases))))
        count = "_n"
    loc = Loc("model.py", 3)
    reads = [
        Assign(Name(t), call(operator.getitem, b, counter), loc) for t, b in zip(targets, bases)
    ]
    return *lengths, For(Name(counter), call(range, count), (*reads, *inside), None, loc)


def test_loops_over_items():
    use = (Effect(call(print, "a")),)
    assert body(*over("a", inside=use)) == ["for a in x:", "    print(a)"]
    assert body(*over("a", "b", inside=use))[0] == "for a, b in zip(x, y):"
    assert body(*over("a", counter="i", inside=use))[0] == "for i, a in enumerate(x):"
    taken = (*items("_a", "b", "c"), *use)
    assert body(*over("_a", inside=taken))[0] == "for b, c in x:"


def test_a_sequence_that_changes_is_read_by_index():
    grow = (Effect(call(Method("append"), "x", "a")),)
    assert body(*over("a", inside=grow))[:2] == ["for _k in range(len(x)):", "    a = x[_k]"]
    other = (put("x", Y),)
    assert body(*over("a", inside=other))[0] == "for _k in range(len(x)):"
    index = (put("b", call(operator.getitem, "y", "_k")),)
    assert body(*over("a", inside=index))[0] == "for _k, a in enumerate(x):"
    after = Effect(call(print, "_k"))
    assert body(*over("a"), after)[0] == "for _k in range(len(x)):"


def test_comprehensions():
    square = put("_s", call(operator.mul, "a", "a"))
    fill = Effect(call(Method("append"), "_l", "_s"))
    loop = For(Name("a"), X, (square, fill))
    made = put("_l", call(make_list))
    assert body(made, loop, put("b", Name("_l"))) == ["b = [a * a for a in x]"]
    assert body(made, loop, put("b", call(sum, "_l"))) == ["b = sum(a * a for a in x)"]
    some = For(Name("a"), X, (If(Name("a"), (square, fill)),))
    assert body(made, some, put("b", Name("_l"))) == ["b = [a * a for a in x if a]"]
    read = body(made, loop, put("b", Name("_l")), Return(Name("a")))
    assert read[1] == "for a in x:"


def test_dict_comprehensions():
    loop = For(Name("a"), X, (SetItem(Name("_d"), Name("a"), Y),))
    found = body(put("_d", call(make_dict)), loop, put("b", Name("_d")))
    assert found == ["b = {a: y for a in x}"]


# --- comments and places -----------------------------------------------------------------------


def commented(**options):
    return Function(
        "f",
        (Param("x"),),
        (
            put("h", call(np.tanh, "x"), 13),
            put("r", call(operator.sub, "h", "x"), 15),
            Backward(),
            put("d_r", call(operator.mul, "r", Const(2.0)), 16),
            Assign(Name("d_h"), call(operator.neg, "d_r"), Loc("model.py", 13)),
            Return(Name("d_h"), Loc("model.py", 13)),
        ),
        doc="Doc.",
        loc=Loc("model.py", 12),
        **options,
    )


def test_every_line_has_its_place():
    emitted = emit(commented())
    assert [emitted.lines.get(i, Loc("", 0)).line for i in range(1, 9)] == [
        12, 12, 13, 15, 0, 16, 13, 13,
    ]  # fmt: skip


def test_comments_of_the_user():
    found = emit(commented(comments={13: "# hidden", 14: "# the misfit", 17: "# nothing"}))
    assert found.text.splitlines()[2:6] == [
        "    h = np.tanh(x)  # hidden",
        "    # the misfit",
        "    r = h - x",
        "    # backward",
    ]


def test_a_comment_of_the_user_does_not_end_the_forward_part():
    found = emit(commented(comments={14: "# backward", 15: "# the misfit"}))
    lines = ["    # backward", "    r = h - x  # the misfit", "    # backward"]
    assert found.text.splitlines()[3:6] == lines


def remarked(x, k):
    h = 0.0
    # all steps
    for i in range(len(x)):
        # one step
        h = np.tanh(k * h + x[i])
    return h * h


def test_comments_of_a_loop_stay_in_it():
    text = srcdiff.source(remarked, example=(np.ones(4), 0.5))
    loop = "    # all steps\n    for i in range(n):\n"
    assert loop + "        h_saved.append(h)\n        # one step\n        h = " in text


def ended(x, k):
    # stored
    x = x * k
    x[0] = x[1] ** 2
    # kept

    # halved
    x[0] *= k  # here
    # the loss
    loss = np.sum(x * x)
    # and out
    return loss


def test_comments_of_the_forward_part_end_with_it():
    """What stood before a save stands before the statement that it is made for."""
    text = srcdiff.source(ended, ("x", "k"), example=(np.ones(4), 0.5))
    forward, _, back = text.partition("    # backward\n")
    lines = "    # halved\n    x_1[0] *= k  # here\n"
    assert "    x_saved = x_1[0]\n    # kept\n" + lines in forward
    assert "# stored\n" in forward and "#" not in back
    assert "# the loss" not in text and "# and out" not in text


def test_comments_before_what_only_looks_like_a_save_stay():
    saved = put("a_saved", call(np.sin, "x"), 14), put("b", call(np.cos, "a_saved"), 16)
    body = (*saved, Return(Name("b"), Loc("model.py", 16)))
    f = Function("f", (Param("x"),), body, loc=Loc("model.py", 12), comments={13: "# first"})
    assert emit(f).text.splitlines()[1:3] == ["    # first", "    a_saved = np.sin(x)"]


def commented_loop(x, k):
    h = 0.0  # the state
    for i in range(len(x)):  # every step
        h = np.tanh(k * h + x[i])  # squashed
        if h > 0.1:  # large ones
            h = h * 0.5  # halved
        x[i] *= x[i - 1]  # in place
    return h * h


def test_comments_stand_on_the_line_that_they_stood_on():
    """What is saved for the backward part stands before it, and has none."""
    text = srcdiff.source(commented_loop, ("x", "k"), example=(np.ones(4), 0.5))
    found = [line.strip() for line in text.splitlines() if "#" in line]
    assert found == [
        "h = 0.0  # the state",
        "for i in range(n):  # every step",
        "h = np.tanh(k * h + x[i])  # squashed",
        "if test:  # large ones",
        "h = h * 0.5  # halved",
        "x[i] *= t  # in place",
        "# backward",
    ]


def both(x, k):
    return x * x, k * k


def test_a_cotangent_that_nobody_needs_is_looked_at():
    args, options = (np.ones(3), 2.0), {"outputs": 0, "allow_unused": True}
    text = srcdiff.source(both, ("k",), example=args, **options)
    assert "\n    cotangent(grad_outputs, x * x)\n    return (None,)" in text
    g = srcdiff.grad(both, ("k",), **options)
    assert g(*args, grad_outputs=np.ones(3)) == (None,)
    with pytest.raises(srcdiff.errors.CotangentError, match="expected shape"):
        g(*args, grad_outputs=np.ones(2))


# --- running -----------------------------------------------------------------------------------


def test_a_compiled_text_shows_itself():
    text = "def g(x):\n    y = x\n    return 1 / y\n"
    g = compile_text(text, {}, "g", helper)
    linecache.checkcache()
    assert inspect.getsource(g) == text
    assert g.__module__ == __name__
    with pytest.raises(ZeroDivisionError) as error:
        g(0)
    shown = "".join(traceback.format_tb(error.tb))
    assert "<generated by srcdiff: g " in shown
    assert "return 1 / y" in shown


def test_a_text_is_forgotten_with_its_function():
    g = compile_text("def g():\n    pass\n", {}, "g")
    filename = g.__code__.co_filename
    assert filename in linecache.cache
    del g
    import gc

    gc.collect()
    assert filename not in linecache.cache


def test_the_functions_of_a_module_see_each_other():
    text = "def f(x: Unknown):\n    return g(x) + k\n\n\ndef g(x):\n    return 2 * x\n"
    assert compile_module(text, {"k": 1}, "f")["f"](3) == 7
