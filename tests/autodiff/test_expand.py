"""One template at one call: what is folded, what is left out, what is refused."""

import math
import operator

import numpy as np
import pytest

import srcdiff
from srcdiff import ir
from srcdiff.analysis.aliases import Aliases
from srcdiff.analysis.facts import Facts
from srcdiff.autodiff.expand.adjoint import expand
from srcdiff.errors import MissingRuleError
from srcdiff.frontend.lowering import flows
from srcdiff.ir import NONE, Attr, Call, Const, Method, Name, Ref, Slice, Star, Tup, printer
from srcdiff.ir.kinds import NUMERIC, Array, List, NoneKind, Scalar, Sym, Tuple
from srcdiff.primitives import registry
from tests.support.differences import check_gradient

X, Y, W, I = map(Name, "xywi")  # noqa: E741
HERE = ir.Loc("model.py", 7, 9)
FLOAT = Scalar("float64")
INT = Scalar("int64")


def array(*names, dtype="float64"):
    """The kind of an array; a number is a known length, a name one that is not 1."""
    dims = tuple(Sym(n, 0, True) if isinstance(n, str) else n for n in names)
    return Array(dtype, dims)


VECTOR, MATRIX = array("n"), array("n", "m")


def adjoint(call, kinds=None, active="xy", target="z"):
    """The lines of the adjoint of `z = call`."""
    kinds = {"z": NUMERIC, "x": NUMERIC, "y": NUMERIC, **(kinds or {})}
    taken = {*kinds, "d_x", "d_y", "d_z"}
    adjoints = {n: f"d_{n}" for n in kinds}
    facts = Facts(kinds, Aliases(), frozenset({*active, target}), adjoints, ir.Fresh(taken))
    stmt = ir.Assign(Name(target), call, HERE) if target else ir.Effect(call, HERE)
    if isinstance(call, ir.SetItem):
        rule = registry.lookup(registry.Store(None))
        stmt, args = call, {"x": call.base, "i": call.index, "v": call.value}
        bound = registry.Bound(rule, {p.name: args[p.name] for p in rule.params}, "the store")
    else:
        bound = registry.find(call, kinds, HERE)
    block = expand(bound, stmt, facts)
    text = printer.show(ir.Function("f", (), block))
    return [line[4:] for line in text.splitlines()[1:]]


def test_only_lines_for_active_arguments_are_kept():
    both = adjoint(Call(operator.mul, (X, Y)), {"x": FLOAT, "y": FLOAT, "z": FLOAT})
    one = adjoint(Call(operator.mul, (X, Y)), {"x": FLOAT, "y": FLOAT, "z": FLOAT}, "x")
    assert len(both) == 4 and both[:2] == one
    assert adjoint(Call(operator.mul, (X, Y)), active="") == []


def test_broadcasting_is_undone_as_far_as_it_may_happen():
    def lines(x, y, z):
        text = " ".join(adjoint(Call(operator.add, (X, Y)), {"x": x, "y": y, "z": z}))
        return "unbroadcast" in text, text.count("np.sum")

    assert lines(MATRIX, MATRIX, MATRIX) == (False, 0)
    assert lines(MATRIX, array("m"), MATRIX) == (False, 1)
    assert lines(MATRIX, array("n", 1), MATRIX) == (False, 1)
    assert lines(MATRIX, FLOAT, MATRIX) == (False, 1)
    assert lines(FLOAT, FLOAT, FLOAT) == (False, 0)
    assert lines(NUMERIC, NUMERIC, NUMERIC) == (True, 0)


@pytest.mark.parametrize(
    "x, y, helper",
    [
        (MATRIX, array("m", "k"), 0),
        (MATRIX, array("m"), 0),
        (VECTOR, VECTOR, 0),
        (NUMERIC, MATRIX, 2),
    ],
)
def test_matmul_is_plain_where_ranks_are_known(x, y, helper):
    text = " ".join(adjoint(Call(operator.matmul, (X, Y)), {"x": x, "y": y}))
    assert text.count("matmul_") == helper


@pytest.mark.parametrize("exponent, calls", [(2, 2), (1, 0), (0, 0), (3, 3), (0.5, 3), (2.5, 3)])
def test_powers_of_known_exponent(exponent, calls):
    lines = adjoint(Call(operator.pow, (X, Const(exponent))), {"x": FLOAT, "z": FLOAT})
    assert len(lines) == (calls + 1 if exponent else 0)
    assert "power_slope" not in " ".join(lines)


def test_exponents_are_written_as_people_do():
    text = " ".join(adjoint(Call(operator.pow, (X, Const(1.2))), {"x": FLOAT, "z": FLOAT}))
    assert "0.2" in text and "0.19" not in text


def test_a_global_number_is_not_taken_as_known():
    two = Ref("SETTING", 2)
    text = " ".join(adjoint(Call(operator.pow, (X, two)), {"x": FLOAT, "z": FLOAT}))
    assert "power_slope" in text
    norm = Call(np.linalg.vector_norm, (X,), (("ord", Ref("np.inf", np.inf)),))
    assert "winners" in " ".join(adjoint(norm, {"x": VECTOR, "z": FLOAT}))


@pytest.mark.parametrize(
    "axis, keepdims, expected",
    [
        (None, False, ["np.broadcast_to"]),
        (0, False, ["np.expand_dims", "np.broadcast_to"]),
        (0, True, ["np.broadcast_to"]),
    ],
)
def test_sums_are_spread_by_numpy(axis, keepdims, expected):
    call = Call(np.sum, (X,), (("axis", Const(axis)), ("keepdims", Const(keepdims))))
    text = " ".join(adjoint(call, {"x": MATRIX, "z": VECTOR}))
    assert [name for name in ("np.expand_dims", "spread", "np.broadcast_to") if name in text] == (
        expected
    )
    assert ".shape(x)" in text


def test_an_axis_known_only_when_running_goes_through_a_helper():
    call = Call(np.sum, (X,), (("axis", I),))
    assert "spread" in " ".join(adjoint(call, {"x": MATRIX, "i": INT}))
    assert "spread" not in " ".join(adjoint(call, {"x": MATRIX, "i": NoneKind()}))


@pytest.mark.parametrize(
    "index, kind, plain",
    [
        (I, INT, True),
        (I, NUMERIC, False),
        (I, array("k", dtype="int64"), False),
        (I, array("n", dtype="bool"), True),
        (Slice(Const(1), I, NONE), INT, True),
        (Tup((Const(...), I)), INT, True),
        (Const(True), INT, False),
    ],
)
def test_indices_that_select_nothing_twice_are_added_to_in_place(index, kind, plain):
    lines = adjoint(Call(operator.getitem, (X, index)), {"x": MATRIX, "i": kind})
    assert ("add.at" in " ".join(lines) or ".at(" in " ".join(lines)) is not plain


def test_display_arguments_are_taken_apart():
    call = Call(np.concatenate, (Tup((X, W, Y)),))
    kinds = {"x": VECTOR, "y": VECTOR, "w": VECTOR, "z": array("k")}
    lines = adjoint(call, kinds)
    assert [line.split()[1] for line in lines if "+=" in line] == ["d_x", "d_y"]
    assert not any("for" in line for line in lines)


def test_lists_of_unknown_length_are_looped_over():
    lines = adjoint(Call(np.stack, (X,)), {"x": List(VECTOR), "z": MATRIX})
    text = "\n".join(lines)
    assert "for _k in range(" in text
    assert lines.index(next(x for x in lines if x.startswith("demand"))) < lines.index(
        next(x for x in lines if x.startswith("for"))
    )


def test_passive_items_of_a_list_have_no_adjoint():
    kinds = {"x": List(None, (INT, FLOAT)), "z": VECTOR}
    lines = [x for x in adjoint(Call(np.array, (X,)), kinds) if "+=" in x]
    assert len(lines) == 1 and "d_x[1]" in lines[0]


def test_math_functions_stay_math():
    kinds = {"x": FLOAT, "z": FLOAT}
    assert "math.cos" in " ".join(adjoint(Call(math.sin, (X,)), kinds))
    assert "np.cos" in " ".join(adjoint(Call(np.sin, (X,)), kinds))


def test_conj_only_where_something_is_complex():
    real = {"x": VECTOR, "y": VECTOR, "z": VECTOR}
    assert "conj" not in " ".join(adjoint(Call(np.multiply, (X, Y)), real))
    both = {n: array("n", dtype="complex128") for n in "xyz"}
    assert " ".join(adjoint(Call(np.multiply, (X, Y)), both)).count("np.conj") == 2
    mixed = {**both, "x": VECTOR}
    assert "np.real" in " ".join(adjoint(Call(np.multiply, (X, Y)), mixed))


def test_stores_that_overwrite_themselves_keep_the_last():
    repeated = {"x": VECTOR, "y": VECTOR, "i": array("k", dtype="int64")}
    assert "last_writes" in " ".join(adjoint(ir.SetItem(X, I, Y), repeated))
    single = {**repeated, "i": INT}
    lines = adjoint(ir.SetItem(X, I, Y), single)
    assert "last_writes" not in " ".join(lines)
    assert lines[-1] == "d_x[i] = 0.0"


def test_mutating_methods_undo_before_they_read_the_old_value():
    lines = adjoint(Call(Method("sort"), (X,)), {"x": VECTOR}, "x", target="")
    assert lines[0].startswith("undo")


@pytest.mark.parametrize(
    "call, kinds, reason",
    [
        (Call(np.pad, (X, Const(1), Const("linear_ramp"))), {}, "the mode must be"),
        (Call(np.linalg.norm, (X, Const("nuc"))), {"x": MATRIX}, "this order of the norm"),
        (Call(np.repeat, (Const(1.0), X)), {}, "no derivative for the argument `repeats`"),
    ],
)
def test_refusals_are_located(call, kinds, reason):
    with pytest.raises(MissingRuleError) as caught:
        adjoint(call, kinds)
    assert reason in caught.value.reason and caught.value.loc == HERE


def test_flows_leave_out_what_has_no_derivative():
    kinds = {"x": VECTOR, "y": VECTOR, "i": NUMERIC}
    assert flows(Call(np.copysign, (X, Y)), kinds) == (X,)
    assert flows(Call(operator.getitem, (X, I)), kinds) == (X,)
    assert flows(Call(np.argmax, (X,)), kinds) == ()
    assert flows(Call(Attr("shape"), (X,)), kinds) == ()
    assert flows(Call(np.fft.fft, (X,)), kinds) == (X,)
    assert flows(Call(np.add, (Star(X),)), kinds) == (Star(X),)


def test_zero_on_purpose_expands_to_nothing():
    assert adjoint(Call(np.floor, (X,))) == []
    assert adjoint(Call(np.copysign, (Const(1.0), Y))) == []


def test_known_lengths_of_tuples_are_used():
    kinds = {"x": Tuple((VECTOR, VECTOR)), "z": VECTOR}
    lines = adjoint(Call(np.concatenate, (X,)), kinds, "x")
    assert not any(line.startswith("for") for line in lines)


# --- rules of users ----------------------------------------------------------------------------


def two_results(x):
    """The sine and cosine."""
    return np.sin(x), np.cos(x)


def factor_and_scale(a, x):
    """A function whose rule uses a line above the `yield` below it."""
    return x / np.sqrt(a)


@pytest.fixture
def user_rules():
    """Rules declared here are forgotten after the test."""
    saved = registry._user

    @registry.rule(two_results)
    def two(x):
        s, c = two_results(x)
        yield s, c
        d[x] += d[s] * c - d[c] * s  # noqa: F821

    @registry.rule(factor_and_scale)
    def scale(a, x):
        root = np.sqrt(a)
        z = x / root
        yield z
        d[x] += d[z] / root  # noqa: F821
        d[a] += -0.5 * d[z] * z / (root * root)  # noqa: F821

    yield
    registry._user = saved
    registry._so_far.cache_clear()


def test_templates_with_several_results(user_rules):
    def f(x):
        s, c = two_results(x)
        return s * 2.0 + c * 3.0

    found = srcdiff.grad(f)(0.4)
    assert found == pytest.approx(2.0 * math.cos(0.4) - 3.0 * math.sin(0.4))


def test_lines_above_the_yield_are_there_below(user_rules):
    def f(a, x):
        return factor_and_scale(a, x)

    d_a, d_x = srcdiff.grad(f, (0, 1))(4.0, 3.0)
    assert d_a == pytest.approx(-0.5 * 3.0 / 8.0)
    assert d_x == pytest.approx(0.5)


def test_det_has_a_gradient_at_a_singular_matrix():
    def f(a):
        return np.linalg.det(a)

    np.testing.assert_allclose(
        srcdiff.grad(f)(np.diag([1.0, 2.0, 0.0])), np.diag([0.0, 0.0, 2.0]), atol=1e-12
    )


def test_a_part_that_begins_at_the_start_has_no_zero():
    def joined(x, y):
        return np.sum(np.concatenate((x, y)) ** 2) + np.sum(np.hstack((x[0:2], y)))

    args = np.ones(3), np.ones(2)
    text = srcdiff.source(joined, inputs=("x", "y"), example=args)
    back = text.partition("# backward")[2]
    assert "d_x[0:2] = " in back  # as the user wrote it
    assert back.count("[0:") == 1 and back.count("[:t_") == 2
    check_gradient(joined, args, inputs=("x", "y"))
