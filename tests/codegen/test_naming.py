"""Names of temporaries that remain: short, stable, and never in the way of others."""

import operator
import re
from dataclasses import replace

import numpy as np

import srcdiff
from srcdiff.codegen.emit import emit, renamed, shown
from srcdiff.codegen.naming import name, new_names
from srcdiff.driver import pipeline
from srcdiff.ir import (
    Assign,
    Call,
    Const,
    Effect,
    For,
    Function,
    Method,
    Name,
    Opaque,
    Param,
    Ref,
    Return,
    SetItem,
    While,
    make_list,
)
from tests.programs import PROGRAMS
from tests.support.differences import check_gradient


def assign(target, fn, *args):
    return Assign(Name(target), Call(fn, tuple(Name(a) if isinstance(a, str) else a for a in args)))


def function(*body, params="x"):
    return Function("f", tuple(Param(p) for p in params.split()), body)


def lines(f):
    return emit(name(f)).text.splitlines()[1:]


def test_temporaries_get_short_names_in_order():
    found = new_names({n: n for n in ("_t_9", "_t_3", "_k_2", "_ret")}, ())
    assert found == {"_t_9": "t", "_t_3": "t_1", "_k_2": "k", "_ret": "ret"}


def test_adjoints_and_saved_values_are_called_after_their_primal():
    found = new_names({n: n for n in ("d__t_3", "_t_7", "_t_3", "_t_3_saved_1", "d_d__t_3")}, ())
    assert found["_t_7"] == "t"
    assert found["_t_3"] == "t_1"
    assert found["d__t_3"] == "d_t_1"
    assert found["d_d__t_3"] == "d_d_t_1"
    assert found["_t_3_saved_1"] == "t_1_saved"


def test_adjoints_of_what_is_not_seen():
    assert new_names({"d__t_3": "d__t_3", "d__t_5": "d__t_5"}, ()) == {
        "d__t_3": "d_t",
        "d__t_5": "d_t_1",
    }


def test_names_in_use_keywords_and_builtins_are_left_alone():
    found = new_names({n: n for n in ("_t_1", "_lambda", "_len", "_x", "_")}, {"t", "x"})
    assert found == {"_t_1": "t_1", "_lambda": "lambda_1", "_len": "len_1", "_x": "x_1", "_": "t_2"}


def test_nested_temporaries_are_not_renamed():
    f = function(assign("_t_1", np.sin, "x"), assign("y", np.cos, "_t_1"), Return(Name("y")))
    assert name(f) == f
    assert lines(f) == ["    y = np.cos(np.sin(x))", "    return y"]


def test_visible_temporaries_are_renamed_everywhere():
    f = function(
        assign("_t_4", np.sin, "x"),
        Effect(Opaque("print(_t_4)", (Name("_t_4"),))),
        SetItem(Name("x"), Const(0), Name("_t_4")),
        Return(Name("_t_4")),
    )
    assert lines(f) == ["    t = np.sin(x)", "    print(t)", "    x[0] = t", "    return t"]


def test_a_global_name_is_not_taken():
    sigma = Ref("t", 2.0)
    product = assign("_t_1", operator.mul, "x", sigma)
    f = function(product, assign("y", operator.mul, "_t_1", "_t_1"))
    assert lines(f)[0] == "    t_1 = x * t"


def test_lists_of_saved_temporaries():
    f = function(
        Assign(Name("t_3_saved"), Call(make_list)),
        For(
            Name("i"),
            Call(range, (Name("x"),)),
            (
                assign("_t_3", np.sin, "i"),
                Effect(Call(Method("append"), (Name("t_3_saved"), Name("_t_3")))),
                SetItem(Name("x"), Name("i"), Name("_t_3")),
            ),
        ),
        Return(Name("t_3_saved")),
    )
    assert lines(f)[0] == "    t_saved = []"


def test_the_result_is_deterministic():
    f = function(*(assign(f"_t_{k}", np.sin, "x") for k in range(20)))
    assert emit(name(f)).text == emit(name(f)).text


def test_a_list_of_a_nested_temporary_is_called_after_no_number():
    def saved(value):
        append = Effect(Call(Method("append"), (Name("t_9_saved"), Name(value))))
        body = (assign(value, np.sin, "i"), append)
        loop = For(Name("i"), Call(range, (Name("x"),)), body)
        return function(Assign(Name("t_9_saved"), Call(make_list)), loop, Return(Name("t_9_saved")))

    assert lines(saved("_t_9")) == lines(saved("_t_2"))
    assert lines(saved("_t_2"))[0] == "    t_saved = []"


def normalised(A, v, n):
    for _ in range(n):
        w = np.exp(A @ v)
        v = w / np.sqrt(w @ w)
    return np.sum(v)


def test_a_saved_temporary_keeps_its_name():
    example = (np.eye(3), np.ones(3), 4)
    text = srcdiff.source(normalised, inputs=("A", "v"), example=example)
    forward, _, back = text.partition("# backward")
    (saved,) = re.findall(r"    saved\.append\(\((t\b.*)\)\)", forward)
    assert f"    {saved} = saved.pop()" in back


def taken(at):
    """A list of saved temporaries that is taken back where the first name is used still, or not."""
    append = Effect(Call(Method("append"), (Name("t_1_saved"), Name("_t_1"))))
    loop = For(Name("i"), Call(range, (Name("x"),)), (assign("_t_1", np.sin, "i"), append))
    take = Assign(Name("_t_7"), Call(Method("pop"), (Name("t_1_saved"),)))
    shown = Effect(Call(print, (Name("_t_7"), Name("_t_7"))))
    back = For(Name("k"), Call(range, (Name("x"),)), (take, shown))
    late = Effect(Call(print, (Name("_t_1"), Name("_t_1"))))
    body = [Assign(Name("t_1_saved"), Call(make_list)), loop, back]
    body.insert(at, late)
    return lines(function(*body, Return(Name("x"))))


def test_a_name_is_not_used_again_before_its_last_use():
    assert "        t = t_saved.pop()" in taken(2)
    assert "        t = t_saved.pop()" not in taken(3)


# --- variables of loops ---------------------------------------------------------------------------


def over(target, *body):
    return For(Name(target), Call(range, (Name("x"),)), body)


def shows(*names):
    return Effect(Call(print, tuple(Name(n) for n in names)))


def test_loops_beside_each_other_share_a_name():
    f = function(over("_k_1", shows("_k_1")), over("_k_2", over("_k_3", shows("_k_2", "_k_3"))))
    found = [line.strip() for line in lines(f) if "for" in line]
    assert found == ["for k in range(x):", "for k in range(x):", "for k_1 in range(x):"]


def test_a_loop_takes_the_name_of_a_loop_of_the_user():
    f = function(over("k", shows("k")), over("_k_1", shows("_k_1")))
    assert lines(f)[2:] == ["    for k in range(x):", "        print(k)"]


def test_variables_that_mean_something_between_loops_keep_their_names():
    for between in (shows("k"), assign("k", np.sin, "x"), Effect(Opaque("g(k)", (Name("k"),)))):
        f = function(over("k", shows("k")), between, over("_k_1", shows("_k_1")))
        assert "    for k_1 in range(x):" in lines(f)


def test_variables_that_a_text_reads_keep_their_names():
    later = Effect(Opaque("fs.append(lambda: k)", (Name("k"),)))
    f = function(over("k", later), over("_k_1", shows("_k_1")))
    assert "    for k_1 in range(x):" in lines(f)


def test_variables_of_flags_and_conditions_keep_their_names():
    asked = While((), Name("k"), (shows("x"),))
    f = function(over("k", shows("k")), asked, over("_k_1", shows("_k_1")))
    assert "    for k_1 in range(x):" in lines(f)


def test_loops_that_only_repeat_take_no_name():
    f = function(over("_k_1", shows("x")), over("_k_2", shows("_k_2")))
    assert [line for line in lines(f) if "for" in line] == [
        "    for _ in range(x):",
        "    for k in range(x):",
    ]


def test_loops_of_the_user_keep_their_names_in_both_parts():
    def solve(x, y):
        for i in range(len(x)):
            y = y * np.sin(x[i])
        for i in range(len(x) - 1, -1, -1):
            y = y + np.cos(x[i] * y)
        for j in range(len(x)):
            for i in range(j):
                y = y * x[i] + x[j]
        return y

    args = np.array([0.3, 0.4, 0.6]), 0.7
    check_gradient(solve, args, inputs=("x", "y"))
    text = srcdiff.source(solve, inputs=("x", "y"), example=args)
    assert set(re.findall(r"for (\w+) in", text)) == {"i", "j"}


def test_a_variable_of_a_loop_that_is_read_behind_it_is_not_bound_by_another():
    def last(x, y):
        for i in range(len(x)):
            y = y * np.sin(x[i])
        parts = [v * y * k for k, v in enumerate(x)]
        for k in range(len(parts)):
            y = y + parts[k] * x[i]
        return y

    check_gradient(last, (np.array([0.3, 0.4, 0.6]), 0.7), inputs=("x", "y"))


def test_names_do_not_change_what_is_nested(monkeypatch):
    named = []

    def keep(f):
        named.append(name(f))
        return named[-1]

    monkeypatch.setattr(pipeline, "name", keep)
    for program in PROGRAMS[::60]:
        with np.errstate(all="ignore"):
            srcdiff.source(
                program.function,
                program.inputs,
                outputs=program.outputs,
                example=program.arguments(),
            )
    planned = [f for f in named if "_plan" in vars(f)]
    assert len(planned) > 15
    for f in planned:
        assert emit(f).text == emit(replace(f)).text  # planned anew: it remembers nothing


def test_names_that_become_one_are_planned_anew():
    """`_a` reads the first `_t`: it cannot move past what becomes another `t`."""
    f = function(
        assign("_t", np.sin, "x"),
        assign("_a", np.cos, "_t"),
        assign("_t_1", np.exp, "x"),
        Effect(Call(print, (Name("_t_1"), Name("_t_1"), Name("_a")))),
        Return(Name("_t")),
    )
    assert list(shown(f)) == ["_t", "_t_1"]
    one = renamed(f, {"_t": "t", "_t_1": "t_1"})
    both = renamed(f, {"_t": "t", "_t_1": "t"})
    assert "_plan" in vars(one) and "_plan" not in vars(both)
    assert emit(both).text.splitlines()[2] == "    _a = np.cos(t)"


def test_loops_that_other_names_make_loops_over_items_are_planned_anew():
    """Once the counters of two loops share a name, one of them is printed with `enumerate`."""

    def f(x):
        b = [(x[0], [1]), (x[1], [2])]
        for v in x:
            b = [(c * v, s + [1]) for c, s in b][::-1]
            b.sort(key=lambda t: t[0])
        return b[0][0] ** 2 * b[1][0]

    x, v = np.arange(1.0, 6.0), np.ones(5)
    _, found = srcdiff.jvp(f, (x,), (v,))
    assert found == np.sum(srcdiff.grad(f)(x))
