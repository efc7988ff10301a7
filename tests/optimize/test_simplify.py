"""Before and after `simplify`: what goes, what stays, and that the result computes the same."""

# ruff: noqa: B002, B007, F841

import operator
from inspect import getsource
from types import FunctionType

import numpy as np
import pytest

import srcdiff
from srcdiff import ir
from srcdiff.codegen.emit import emit
from srcdiff.frontend.lowering import lower
from srcdiff.frontend.source.parse import parse
from srcdiff.ir import interpreter as ir_interpreter
from srcdiff.ir.kinds import Array, Scalar, Sym
from srcdiff.kinds.interpreter import infer
from srcdiff.kinds.lattice import kind_of
from srcdiff.normalize.iteration import iterated
from srcdiff.normalize.live_ranges import webs
from srcdiff.optimize.simplify import simplify, simplify_pairs
from srcdiff.runtime import arrays
from tests.corpus.roundtrip import WHOLE
from tests.fuzz.judge import judge
from tests.programs import PROGRAMS
from tests.support import structures as st
from tests.support.differences import define
from tests.support.part import lots


def equal(a, b):
    if isinstance(a, np.ndarray):
        return isinstance(b, np.ndarray) and a.dtype == b.dtype and np.array_equal(a, b, True)
    if isinstance(a, (list, tuple)):
        return type(a) is type(b) and len(a) == len(b) and all(map(equal, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(equal(v, b[k]) for k, v in a.items())
    if isinstance(a, FunctionType):
        return isinstance(b, FunctionType) and a.__code__ == b.__code__
    if type(a) is type(b) and hasattr(a, "__dict__") and not isinstance(a, type):
        return equal(vars(a), vars(b))
    return type(a) is type(b) and (a == b or (a != a and b != b))


def outcome(function, args):
    value = ir_interpreter.run(function, *args)
    return value, args


@pytest.mark.parametrize("rename", [webs, lambda f: f], ids=["webs", "plain"])
@lots("programs", WHOLE, operator.attrgetter("name"))
def test_simplified_programs_compute_the_same(programs, rename):
    for program in programs:
        check_simplified(program, rename(lower(parse(program.function))))


def check_simplified(program, function):
    named = st.bound_arguments(program.function, program.arguments())
    params = {n: kind_of(v, n) for n, v in named.items()}
    function = iterated(function, infer(function, params), params)
    after = simplify(function, params)
    value, args = outcome(function, program.arguments())
    new_value, new_args = outcome(after, program.arguments())
    assert equal(value, new_value)
    assert equal(args, new_args)


# --- before and after --------------------------------------------------------------------------


def text_of(function):
    """The body of a function as text."""
    lines = emit(function).text.strip().splitlines()[1:]
    return [line.strip() for line in lines if line.strip()]


def simplified(function, **arguments):
    """The text of a function after simplification, all of it taken as generated."""
    lowered = webs(lower(parse(function)))
    return text_of(simplify(lowered, {n: kind_of(v, n) for n, v in arguments.items()}))


X, W, B = np.ones((5, 3)), np.ones((3, 4)), np.ones(4)


def test_copies_go():
    def before(x):
        a = x * 2.0
        b = a
        c = b
        return c + a

    assert simplified(before, x=X) == ["a = x * 2.0", "return 2.0 * a"]


def test_copies_stay_where_a_name_changes():
    def before(x):
        y = x
        for _ in range(3):
            old = y
            y = np.sin(y)
            x = x + old * y
        return x

    assert "old = y" in simplified(before, x=1.0)


def test_new_values_are_bound_after_the_last_use_of_the_old():
    def before(d, x, n):
        b = 0.0
        for _ in range(n):
            old = d
            d = d * x
            b = b + old
        return b

    text = simplified(before, d=1.0, x=2.0, n=3)
    assert text[-3:] == ["b = b + d", "d = d * x", "return b"]


@pytest.mark.parametrize(
    "function, result",
    [
        (lambda x: x * 1.0, "x"),
        (lambda x: 1.0 * x, "x"),
        (lambda x: x / 1.0, "x"),
        (lambda x: x**1, "x"),
        (lambda x: -(-x), "x"),
        (lambda x: x - 0.0, "x"),
        (lambda x: 0.0 + x, "x"),
        (lambda x: -1.0 * x, "-x"),
        (lambda x: x + (-x * 2.0), "x - x * 2.0"),
        (lambda x: x - (-x * 2.0), "x + x * 2.0"),
        (lambda x: -x * -x, "x * x"),
        (lambda x: 2.0 * (-x), "-2.0 * x"),
        (lambda x: -(2.0 * x), "-2.0 * x"),
        (lambda x: 2.0 * (3.0 * x), "6.0 * x"),
        (lambda x: x * (2.0 * 3.0), "x * 6.0"),
        (lambda x: x + x, "2.0 * x"),
        (lambda x: (x * x) + (x * x), "2.0 * (x * x)"),
        (lambda x: x * 3.0 * 2.0, "x * 3.0 * 2.0"),
        (lambda x: x + 1.0 + 2.0, "x + 1.0 + 2.0"),
        (lambda x: 0.0 * x, "0.0 * x"),
    ],
)
def test_algebra_on_floats(function, result):
    assert simplified(function, x=1.5) == [f"return {result}"]


@pytest.mark.parametrize(
    "function, result",
    [
        (lambda x: x * 1.0, "x * 1.0"),
        (lambda x: x + 0.0, "x + 0.0"),
        (lambda x: x + x, "x + x"),
        (lambda x: x / 1.0, "x / 1.0"),
    ],
)
def test_no_algebra_that_changes_a_type(function, result):
    assert simplified(function, x=3) == [f"return {result}"]
    assert simplified(function, x=np.ones(3, int)) == [f"return {result}"]


def test_complex_numbers_keep_their_products_with_one():
    assert simplified(lambda z: z * 1.0, z=1j) == ["return z * 1.0"]


def test_a_result_never_becomes_an_argument():
    assert simplified(lambda x: x * 1.0, x=X) == ["return np.copy(x)"]
    assert simplified(lambda x: -(-x), x=X) == ["return --x"]


def test_memory_that_is_written_keeps_its_copies():
    def before(x):
        a = x * 1.0
        b = -(-a)
        b[0] = 5.0
        return a[1] + b[1] + x[0]

    text = simplified(before, x=X)
    assert text == ["b = --x", "b[0] = 5.0", "return x[1] + b[1] + x[0]"]


def test_what_is_written_later_is_no_copy():
    def before(x):
        a = x * 1.0
        x[0] = 5.0
        return a[1] + x[0]

    assert simplified(before, x=X)[0] == "a = np.copy(x)"


def test_unbroadcast_by_kinds():
    def before(x, w, b):
        d = x @ w
        same = arrays.unbroadcast(d, d)
        d_b = arrays.unbroadcast(same, b)
        d_s = arrays.unbroadcast(d, 1.0)
        d_c = arrays.unbroadcast(d, x[:, :1])
        d_e = arrays.unbroadcast(d, x[:, 3:])
        return d_b, d_s, d_c, d_e

    assert simplified(before, x=X, w=W, b=B) == [
        "d = x @ w",
        "d_b = np.sum(d, axis=0)",
        "d_s = np.sum(d)",
        "d_c = np.sum(d, axis=1, keepdims=True)",
        "d_e = unbroadcast(d, x[:, 3:])",
        "return d_b, d_s, d_c, d_e",
    ]


def test_unbroadcast_to_a_column():
    def before(x, c):
        return arrays.unbroadcast(x * 2.0, c)

    after = simplified(before, x=X, c=np.ones((5, 1)))
    assert after == ["return np.sum(x * 2.0, axis=1, keepdims=True)"]


def test_an_axis_that_is_summed_and_reshaped_away():
    def before(x, v, w):
        d = x @ w
        one = np.sum(d * v[:, None], axis=1, keepdims=True).reshape(v.shape)
        two = np.reshape(np.sum(d * v[:, None], axis=1, keepdims=True), v.shape)
        other = np.reshape(np.sum(d, axis=0, keepdims=True), v.shape)
        return one, two, other

    last = simplified(before, x=X, v=X[:, 0], w=W)
    assert "two = np.sum(_t_1, axis=1)" in last
    assert "other = np.reshape(np.sum(d, axis=0, keepdims=True), v.shape)" in last


def test_tuples_of_displays():
    def before(x):
        return tuple((x, x)), tuple([x, x]), tuple(x)  # noqa: C409

    assert simplified(before, x=X)[-1].startswith("return (x, x), tuple([x, x]), tuple(x)")


def test_unbroadcast_stays_where_nothing_is_known():
    def before(x, y):
        return arrays.unbroadcast(x * y, y)

    lowered = lower(parse(before))
    assert "unbroadcast" in emit(simplify(lowered, {})).text


def test_spreading_before_a_product():
    def before(x, g):
        d = np.broadcast_to(g, x.shape)
        a = d * x
        b = arrays.spread(g, x) * x
        return a, b

    # The two results are equal, but must not be one array.
    assert simplified(before, x=X, g=1.0) == ["a = g * x", "b = g * x", "return a, b"]


def test_a_value_is_taken_again_before_its_memory_changes():
    def before(x, g):
        a = g / x
        a -= np.sum(g / x)
        b = g / x
        return a, b

    def viewed(x, g):
        a = g / x
        t = g / x
        v = t[1:]
        a[2] = 0.0
        return a, np.sum(v)

    # The quotient is still there for the sum, and is not any more behind it.
    lines = ["a = g / x", "a -= np.sum(a)", "b = g / x", "return a, b"]
    assert simplified(before, x=X[0], g=X[1]) == lines
    assert "t = g / x" in simplified(viewed, x=X[0], g=X[1])


def test_spreading_alone_stays():
    def before(x, g):
        return np.broadcast_to(g, x.shape) + 1.0

    assert simplified(before, x=X, g=1.0) == ["return np.broadcast_to(g, x.shape) + 1.0"]


# --- dead code ---------------------------------------------------------------------------------


def test_dead_statements_go():
    def before(x):
        a = np.sin(x)
        b = a * 2
        out = np.zeros(3)
        out[0] = b
        saved = []
        for i in range(3):
            saved.append(a)
            c = i * 2
        for i in range(3):
            d = saved.pop()
            e = d + 1
        if x > 0:
            f = 1.0
        else:
            f = 2.0
        return x

    assert simplified(before, x=1.0) == ["return x"]


def test_live_pops_keep_their_list():
    def before(x):
        saved = []
        y = x
        for _ in range(3):
            saved.append(y)
            y = np.sin(y)
        for _ in range(3):
            y = saved.pop()
            x = x + y
        return x

    text = simplified(before, x=1.0)
    assert "saved.append(y)" in text
    assert any("saved.pop()" in line for line in text)


def test_stores_through_another_name_stay():
    def before(x):
        out = np.zeros(3)
        part = out[1:]
        part[0] = x
        return out[1]

    assert "part[0] = x" in simplified(before, x=1.0)


def test_effects_stay():
    def before(x):
        a = print(x)
        rng = np.random.rand(3)
        x[0] = 1.0
        while x[0] < 0:
            b = 2.0
        return None

    text = simplified(before, x=X[0])
    assert any("print(x)" in line for line in text)
    assert any("np.random.rand(3)" in line for line in text)
    assert "x[0] = 1.0" in text
    assert any(line.startswith("while") for line in text)


def test_the_users_part_is_left_as_written():
    def before(x):
        y = x * 1.0
        z = y + y
        return z * 1.0

    body = list(webs(lower(parse(before))).body)
    body.insert(2, ir.Backward())
    function = ir.Function("f", (ir.Param("x"),), tuple(body))
    after = text_of(simplify(function, {"x": Scalar("float64")}))
    assert after[:2] == ["y = x * 1.0", "z = y + y"]
    assert after[-1] == "return z"


def test_simplify_is_stable():
    for program in PROGRAMS[:40]:
        function = webs(lower(parse(program.function)))
        kinds = {
            n: kind_of(v, n)
            for n, v in st.bound_arguments(program.function, program.arguments()).items()
        }
        once = simplify(function, kinds)
        assert simplify(once, kinds) == once


# --- beside the primal -------------------------------------------------------------------------


def name_(text):
    return ir.Name(text)


def paired(adjoint, primal=()):
    """A function with a loop over `t = x[:i] * 1.0` and an adjoint statement beside it."""
    loop_kinds = {
        "x": Array("float64", (Sym("x.0", 0, True),)),
        "t": Array("float64", (Sym("x.0[:i@1]"),)),
        "h": Array("float64", (Sym("x.0", 0, True),)),
        "i": Scalar("int64"),
    }
    index = ir.Slice(ir.NONE, name_("i"), ir.NONE)
    t = ir.Assign(name_("t"), ir.Call(operator.getitem, (name_("x"), index)))
    h = ir.Assign(name_("h"), ir.Call(np.sin, (name_("x"),)))
    loop = ir.For(
        name_("i"),
        ir.Call(range, (ir.Const(3),)),
        (ir.Pair(t, ()), ir.Pair(h, tuple(adjoint)), *primal),
    )
    body = (loop, ir.Return(name_("x")))
    function = ir.Function("f", (ir.Param("x"),), body)
    new = simplify_pairs(function, loop_kinds, {"x": "d_x", "t": "d_t", "h": "d_h"}, ["d_x"])
    return [s for s in ir.walk(new.body) if isinstance(s, (ir.Assign, ir.Store))][2:]


def test_shapes_are_asked_of_parameters():
    zeros = ir.Assign(name_("d_x"), ir.Call(np.zeros_like, (name_("h"),)))
    (after,) = paired([zeros])
    assert after.rhs == ir.Call(np.zeros_like, (name_("x"),))


def test_nothing_is_spread_before_a_product():
    steps = [
        ir.Assign(name_("_g"), ir.Const(2.0)),
        ir.Assign(name_("_t"), ir.Call(arrays.spread, (name_("_g"), name_("t")))),
        ir.Assign(name_("d_t"), ir.Call(operator.mul, (name_("_t"), name_("t")))),
        ir.AugAssign(name_("d_x"), ir.NONE, name_("d_t"), "+"),
    ]
    first, store = paired(steps)
    assert first.rhs == ir.Call(operator.mul, (ir.Const(2.0), name_("t")))
    assert store == steps[-1]


def test_dead_adjoints_need_nothing():
    steps = [
        ir.Assign(name_("_a"), ir.Call(np.cos, (name_("h"),))),
        ir.Assign(name_("_b"), ir.Call(operator.mul, (name_("_a"), name_("h")))),
        ir.Assign(name_("d_t"), name_("_b")),
    ]
    assert paired(steps) == []
    kept = ir.Assign(name_("d_x"), ir.Call(np.cos, (name_("h"),)))
    assert paired([kept]) == [kept]


def test_a_swap_of_which_one_result_is_needed():
    def before(x, y):
        x, y = y, x
        return x * 2.0

    function = lower(parse(before))
    assert any(isinstance(s, ir.Permute) for s in function.body)
    assert text_of(simplify(function, {}))[-1] == "return y * 2.0"


# --- memory that nobody looks at any more -------------------------------------------------------


def test_a_copy_of_what_is_not_needed_again_goes():
    def before(x):
        y = x * 2.0
        z = np.copy(y[1:])
        y[1:] = 0.0
        z = np.array(z)
        z[0] = 1.0
        return np.sum(z)

    text = simplified(before, x=np.ones(3))
    assert text[:2] == ["y = x * 2.0", "z = y[1:]"] and len(text) == 4, text


def test_the_last_look_takes_the_memory():
    def before(x):
        y = x * 2.0
        z = np.copy(y[1:])
        z *= 3.0
        return np.sum(z)

    text = simplified(before, x=np.ones(3))
    assert text[-3:] == ["z = y[1:]", "z *= 3.0", "return np.sum(z)"]


COPIED = {
    "what is returned is no part of something larger": """
def f(x):
    y = x * 2.0
    z = np.copy(y[1:])
    z[0] = 1.0
    return z
""",
    "what is stretched cannot be written into": """
def f(x):
    y = np.broadcast_to(2.0, (3,))
    z = np.array(y)
    z[0] = x[0]
    return np.sum(z * x)
""",
    "the argument is the caller's": """
def f(x):
    z = np.array(x)
    z[0] = 1.0
    return np.sum(z)
""",
    "a view of it is read later": """
def f(x):
    y = x * 2.0
    view = y[:2]
    z = np.array(y)
    z[0] = 1.0
    return np.sum(z) * view[0]
""",
    "a list holds it": """
def f(x):
    y = x * 2.0
    kept = [y]
    z = np.array(y)
    z[0] = 1.0
    return np.sum(z) * kept[0][0]
""",
    "the next iteration reads it": """
def f(x):
    y = x * 2.0
    total = 0.0
    for i in range(3):
        z = np.array(y)
        z[0] = i
        total = total + np.sum(z) * y[0]
    return total
""",
    "somebody else may keep it": """
def f(x, keep):
    y = x * 2.0
    keep(y)
    z = np.array(y)
    z[0] = 1.0
    return np.sum(z)
""",
}


@pytest.mark.parametrize("text", COPIED.values(), ids=COPIED)
def test_copies_that_stay(text):
    function = define(text, "f", {"np": np})
    simple = simplified(function, x=np.ones(3))
    assert any("np.copy(" in line or "np.array(" in line for line in simple), simple


def test_stores_behind_the_last_look_go():
    def before(x):
        y = x * 2.0
        total = np.sum(y[1:])
        y[0] = 0.0
        return total

    text = simplified(before, x=np.ones(3))
    assert text == ["y = x * 2.0", "total = np.sum(y[1:])", "return total"]


def test_stores_that_a_view_shows_stay():
    def before(x):
        y = x * 2.0
        view = y[1:]
        total = np.sum(y)
        y[1] = 0.0
        return total * view[0]

    assert "y[1] = 0.0" in simplified(before, x=np.ones(3))


# --- operators in place ---------------------------------------------------------------------------


def generated(function, *args):
    """The text of the gradient for the kinds of these arguments."""
    return getsource(srcdiff.grad(function).specialised(*args))


def test_arrays_that_nobody_else_has_are_written_into():
    def smoothed(x, steps):
        total = np.zeros_like(x)
        for _ in range(steps):
            total += np.roll(x, 1)
            x = np.tanh(x)
            x *= 0.5
        return total * x

    text = generated(smoothed, np.linspace(0.1, 0.5, 4), 3)
    assert "total += np.roll(x, 1)" in text and " = total + " not in text


@pytest.mark.parametrize("again", ["total * view[0]", "total * kept[0][0]"])
def test_arrays_that_others_have_are_made_anew(again):
    text = f"""
def f(x):
    total = x * 2.0
    view, kept = total[1:], [total]
    total = total + x
    return {again}
"""
    found = generated(define(text, "f", {"np": np}), np.linspace(0.1, 0.5, 4))
    assert "total_1 = total + x" in found or "total + x" in found


def test_loops_backwards_over_written_out_items():
    def neighbours(x):
        total = np.zeros_like(x)
        for shift in (-1, 0, 2):
            total = np.tanh(total + np.roll(x, shift))
        return np.sum(total)

    text = generated(neighbours, np.linspace(0.1, 0.5, 4))
    assert "for shift in (2, 0, -1):" in text and "len(" not in text


def test_positions_that_are_needed_otherwise_stay():
    def weighted(x):
        total = np.zeros_like(x)
        for k, shift in enumerate((-1, 0, 2)):
            total = np.tanh(total + k * np.roll(x, shift))
        return np.sum(total)

    assert "shift = t[k]" in generated(weighted, np.linspace(0.1, 0.5, 4))


def test_items_of_displays_are_what_was_put_in():
    def before(x):
        d = {"a": x[1:], "b": 2.0}
        t = d["b"]
        pair = (x, d["a"])
        return pair[1] * t

    lines = simplified(before, x=np.ones(3))
    assert not any('["' in line or "pair[" in line for line in lines), lines


def test_items_that_were_replaced_stay_items():
    def before(x):
        d = {"a": x, "b": 2.0}
        d["b"] = 3.0
        return x * d["b"]

    assert 'return x * d["b"]' in simplified(before, x=np.ones(3))


# --- what is asked for its shape alone ------------------------------------------------------------


def swept(u, f, steps):
    u = u.copy()
    v = np.zeros_like(u)
    for _ in range(steps):
        v[1:-1] = 0.5 * (u[2:] + u[:-2]) + f[1:-1]
        u, v = v, u
    return u


def scattered(x, at):
    out = np.zeros(7)
    for k in range(len(x)):
        out[at[k]] += 2.0 * x[k]
    return out


def into(A, B, steps):
    for _ in range(steps):
        B[1:-1] = 0.3 * (A[:-2] + A[2:])
        A[1:-1] = 0.3 * (B[:-2] + B[2:])


U, AT = np.linspace(0.1, 0.7, 5), np.array([0, 2, 2, 6, 1])


@pytest.mark.parametrize(
    "function, outputs, args",
    [(swept, None, (U, U + 1.0, 3)), (scattered, None, (U, AT)), (into, "A", (U, U + 1.0, 3))],
    ids=["swept", "scattered", "into"],
)
def test_adjoints_of_linear_functions_run_without_them(function, outputs, args):
    g = srcdiff.grad(function, inputs=0, outputs=outputs)
    text = getsource(g.specialised(*args))
    before, _, _ = text.partition("# backward")
    assert "for " not in before and ".copy()" not in before
    with pytest.raises(srcdiff.errors.CotangentError, match="shape"):
        g(*args, grad_outputs=np.ones(4))


def nonlinear(u, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:] = np.sin(u[1:]) * u[:-1]
    return u


def seen_through_a_view(u):
    y = np.zeros_like(u)
    view = y[1:]
    view += u[1:]
    return y, np.sum(view * view)


def swapped_and_looked_at(u, steps):
    u, v = u.copy(), np.zeros_like(u)
    for _ in range(steps):
        v[:] = 0.5 * u
        u, v = v, u
    return u * v[0]


@pytest.mark.parametrize(
    "function, args",
    [(nonlinear, (U, 2)), (seen_through_a_view, (U,)), (swapped_and_looked_at, (U, 3))],
)
def test_what_is_looked_at_stays(function, args):
    verdict = judge(function, args)
    assert verdict.kind == "RIGHT", verdict
