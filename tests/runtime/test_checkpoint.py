"""`checkpointed` and `checkpoint`: the schedule is the best, and what runs again is the same."""

import functools

import numpy as np
import pytest

import srcdiff
from srcdiff.runtime.checkpoint import (
    Slots,
    fewest_steps,
    reversed_steps,
    run_steps,
    steps_with_tangents,
)
from tests.support.differences import close

X = np.array([0.5, -1.0])


@functools.cache
def best(n, slots):
    """The fewest steps of all schedules, by trying every place of the next state."""
    if n <= 1:
        return 0
    if slots == 1:
        return n * (n - 1) // 2
    return min(m + best(n - m, slots - 1) + best(m, slots) for m in range(1, n))


@pytest.mark.parametrize("slots", range(1, 8))
def test_the_formula_is_the_least_of_all_schedules(slots):
    for n in range(1, 60):
        assert fewest_steps(n, slots) == best(n, slots)


def halved(i, x):
    return (0.5 * x,)


@pytest.mark.parametrize("slots", range(1, 7))
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 8, 13, 20, 35, 56])
def test_the_steps_that_run_again_are_the_fewest(n, slots):
    held = Slots(range(n), slots)
    run_steps(halved, held, 1, 1.0)
    (d,) = reversed_steps(halved, held, 1, [1.0], 1.0)
    close(d, 0.5**n)
    # The way to the last step is run by the forward part.
    assert held.again == fewest_steps(n, slots) - (n - 1)
    assert held.most == min(n, slots) and held.states == {}


def halved_slowly(i, x):
    return (0.9999 * x,)


# --- in functions -------------------------------------------------------------------------------


def checkpointed_pendulum(x, k, n):
    v = x * 0.0
    energy = 0
    for i in srcdiff.checkpointed(range(n), slots=3):
        a = -k * np.sin(x)
        v = v + 0.1 * a
        if i % 2:
            x = x + 0.1 * v
        else:
            x = x + 0.1 * v * np.cos(v)
        energy += np.sum(v * v)
    return np.sum(x * v) + energy


def plain_pendulum(x, k, n):
    v = x * 0.0
    energy = 0
    for i in range(n):
        a = -k * np.sin(x)
        v = v + 0.1 * a
        if i % 2:
            x = x + 0.1 * v
        else:
            x = x + 0.1 * v * np.cos(v)
        energy += np.sum(v * v)
    return np.sum(x * v) + energy


@pytest.mark.parametrize("n", [0, 1, 2, 30])
def test_a_loop_of_values(n):
    found = [srcdiff.grad(f, ("x", "k"), materialize_grads=True)(X, 2.0, n)
             for f in (checkpointed_pendulum, plain_pendulum)]  # fmt: skip
    close(found[0][0], found[1][0])
    close(found[0][1], found[1][1])
    assert checkpointed_pendulum(X, 2.0, n) == plain_pendulum(X, 2.0, n)


def test_a_pullback_twice_and_tangents():
    value, pull = srcdiff.vjp(checkpointed_pendulum, X, 2.0, 30, inputs="x")
    close(pull(), pull())
    close(pull(), srcdiff.grad(plain_pendulum)(X, 2.0, 30))
    tangents = [srcdiff.jvp(f, (X, 2.0, 30), (X, 0.5, None))[1]
                for f in (checkpointed_pendulum, plain_pendulum)]  # fmt: skip
    close(*tangents)


def heat(u, c, n):
    for _ in srcdiff.checkpointed(range(n), slots=4):
        u[1:-1] += c * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        u[0] = u[1] * u[1]
    return np.sum(u * u)


def plain_heat(u, c, n):
    for _ in range(n):
        u[1:-1] += c * (u[2:] - 2.0 * u[1:-1] + u[:-2])
        u[0] = u[1] * u[1]
    return np.sum(u * u)


def test_a_loop_that_writes_in_place():
    u = np.linspace(0.0, 1.0, 8)
    for name in ("u", "c"):
        close(srcdiff.grad(heat, name)(u, 0.1, 25), srcdiff.grad(plain_heat, name)(u, 0.1, 25))
    close(u, np.linspace(0.0, 1.0, 8))


def nested(x, w):
    total = 0.0
    for i in srcdiff.checkpointed(range(4), slots=2):
        for j in srcdiff.checkpointed(range(3), slots=2):
            x = np.tanh(w * x) + 0.1 * j
        total = total + i * np.sum(x)
    return total


def plain_nested(x, w):
    total = 0.0
    for i in range(4):
        for j in range(3):
            x = np.tanh(w * x) + 0.1 * j
        total = total + i * np.sum(x)
    return total


def test_loops_in_each_other():
    close(srcdiff.grad(nested)(X, 0.7), srcdiff.grad(plain_nested)(X, 0.7))
    close(srcdiff.grad(nested, "w")(X, 0.7), srcdiff.grad(plain_nested, "w")(X, 0.7))


def noisy(x, rng):
    for _ in srcdiff.checkpointed(range(9), slots=2):
        x = x * (1.0 + 0.1 * rng.standard_normal(2)) * (1.0 + 0.1 * np.random.rand())
    return np.sum(x * x)


def plain_noisy(x, rng):
    for _ in range(9):
        x = x * (1.0 + 0.1 * rng.standard_normal(2)) * (1.0 + 0.1 * np.random.rand())
    return np.sum(x * x)


def late(x, k):
    for _ in srcdiff.checkpointed(range(12), slots=3):
        if isinstance(k, float):  # from the second step on
            x = x * (1.0 + 0.1 * np.random.rand())
        k = k * 1.0
        x = np.sin(x) + k * 0.01
    return np.sum(x)


def late_plain(x, k):
    for i in range(12):
        if i:
            x = x * (1.0 + 0.1 * np.random.rand())
        x = np.sin(x) + k * 0.01
    return np.sum(x)


def test_steps_that_draw_later_than_the_first():
    found = []
    for f in (late, late_plain):
        np.random.seed(3)
        found.append([*srcdiff.grad(f)(X, 2), np.random.rand()])
    np.testing.assert_allclose(*found, rtol=1e-13)


@pytest.mark.parametrize("steps", [50, 200])
def test_steps_that_draw_nothing_leave_the_generator_alone(steps, monkeypatch):
    """What takes a tenth of a millisecond is done for a loop, not for each of its steps."""
    calls = []
    for name in ("get_state", "set_state"):
        real = getattr(np.random, name)
        monkeypatch.setattr(np.random, name, lambda *a, real=real: calls.append(1) or real(*a))

    def f(x):
        for _ in srcdiff.checkpointed(range(steps), slots=4):
            x = np.sin(x) + 0.01 * x
        return np.sum(x)

    srcdiff.grad(f)(X)
    assert len(calls) <= 6


def test_random_steps_are_the_same_again():
    found = []
    for f in (noisy, plain_noisy):
        np.random.seed(3)
        rng = np.random.default_rng(4)
        found.append([*srcdiff.grad(f)(X, rng), np.random.rand(), rng.random()])
    close(*found)


# --- what is refused ----------------------------------------------------------------------------


def appends(x):
    xs = []
    for _ in srcdiff.checkpointed(range(5), 2):
        x = x * x
        xs.append(x)
    return sum(xs)


def assigns_late(x):
    for _ in srcdiff.checkpointed(range(5), 2):
        y = x * x
        x = y * 0.5
    return y


def always_leaves(x):
    for _ in srcdiff.checkpointed(range(5), 2):
        x = x * x
        if x > 2.0:
            break
        else:
            return x
    return x


def leaves_between(x):
    for i in range(3):
        for _ in srcdiff.checkpointed(range(2), 2):
            y = x * x
            x = y * 0.5
        if i == 1:
            break
        y = x * 3.0
    return y


def made_anew(x):
    total = 0.0
    for _ in range(3):
        for _ in srcdiff.checkpointed(range(2), 2):
            y = np.sin(x)
            x = y * 0.5
        y = x * 3.0
        total = total + np.sum(y)
    return total


LATE = "`y` has no value"


@pytest.mark.parametrize(
    ("f", "what"),
    [
        (appends, "call"), (assigns_late, LATE), (leaves_between, LATE),
        (made_anew, LATE),
        (always_leaves, "no step comes"),
    ],  # fmt: skip
)
def test_what_a_step_cannot_do(f, what):
    with pytest.raises(srcdiff.UnsupportedError, match=f"{what}.* over `checkpointed`"):
        srcdiff.grad(f)(1.1)


def by_another_name(x):
    def run(y):
        for _ in steps_of(range(5), 2):
            y = np.sin(y) * x
        return y

    return np.sum(run(x))


steps_of = srcdiff.checkpointed


def by_hand(x):
    y = x
    for _ in range(5):
        y = np.sin(y) * x
    return np.sum(y)


def rounded(x, w):
    total = np.sum(x) * 7.3
    for _ in srcdiff.checkpointed(range(5), 2):
        x = np.sin(x) + 0.1 * np.tanh(x * w)
        total = total + np.sum(x * x) * w
        total = total + np.sum(x * x) * w
    return total


def test_loops_by_another_name_and_in_functions_inside():
    assert "run_steps" in srcdiff.source(by_another_name, example=(X,))
    close(srcdiff.grad(by_another_name)(X), srcdiff.grad(by_hand)(X))


def test_a_step_may_round_in_another_way_when_it_runs_again():
    for seed in range(20):
        srcdiff.grad(rounded)(np.random.default_rng(seed).normal(size=3), 0.9)


def squared_into(a):
    a *= a
    return 1.0


def test_hidden_writes_are_refused():
    def f(x, y):
        for _ in srcdiff.checkpointed(range(3), 2):
            x = x * squared_into(y)
        return np.sum(x * y)

    with pytest.raises(srcdiff.UnsupportedError, match="writes into `y`"):
        srcdiff.grad(f)(X, X + 1.0)


def test_shared_memory_is_refused():
    def f(x):
        u = x * 1.0
        v = u[:1]
        for _ in srcdiff.checkpointed(range(3), 2):
            u[0] = 2.0 * u[1] * v[0]
        return np.sum(u)

    with pytest.raises(srcdiff.UnsupportedError, match="share"):
        srcdiff.grad(f)(X)


# --- second derivatives --------------------------------------------------------------------------

V, W = np.array([1.0, 0.3]), np.array([-0.2, 0.4])


def later(x, k, n):
    count = 0
    for i in srcdiff.checkpointed(range(n), slots=2):
        x = np.sin(k * x)
        if i > 2:
            count = count + np.sum(x)
    return count


A = np.array([0.3, -0.4, 0.5, 0.2])


def slope(f):
    return lambda x, k: srcdiff.jvp(f, (x, k, 12), (A, 0.3, None))[1]


@pytest.mark.parametrize(
    ("f", "plain", "args"),
    [
        (checkpointed_pendulum, plain_pendulum, (A, 0.7, 12)),
        (heat, plain_heat, (A, 0.7, 12)),
        (nested, plain_nested, (A, 0.7)),
    ],
)
def test_second_derivatives(f, plain, args):
    for of in (srcdiff.vhp, srcdiff.hvp):
        found, expected = (of(g, args, (A * A, 0.3), inputs=(0, 1)) for g in (f, plain))
        close(np.append(*found), np.append(*expected))
    if f is not nested:
        close(*(srcdiff.grad(slope(g))(A, 0.7) for g in (f, plain)))


def test_a_variable_that_becomes_a_number_later():
    with pytest.raises(srcdiff.UnsupportedError, match="floating point number from the start"):
        srcdiff.hvp(later, (A, 0.7, 5), A)


def test_second_derivatives_in_few_states():
    held = Slots(range(100), 3)
    run_steps(halved_slowly, held, 1, 1.0)
    args = (halved_slowly, held, 1, [2.0], (None, [1.0]), 1.0)
    (moved,), (by_value,), (by_tangent,) = steps_with_tangents(*args)
    assert held.most <= 3
    close(by_tangent, reversed_steps(halved_slowly, held, 1, [1.0], 1.0)[0])
    close(moved, 2.0 * by_tangent)


def test_random_steps_are_the_same_again_at_order_two():
    for of in (srcdiff.vhp, srcdiff.hvp):
        found = []
        for f in (noisy, plain_noisy):
            np.random.seed(3)
            rng = np.random.default_rng(4)
            found.append([*of(f, (X, rng), V), np.random.rand(), rng.random()])
        close(*found)


def test_a_pullback_of_random_steps_twice():
    _, pull = srcdiff.vjp(noisy, X, np.random.default_rng(4), inputs="x")
    close(pull(), pull())


def test_third_derivatives_are_refused():
    def bend(x):
        return np.sum(V * srcdiff.grad(lambda x: np.sum(V * srcdiff.grad(heat)(x, 0.7, 3)))(x))

    with pytest.raises(srcdiff.errors.MissingRuleError, match="Use a plain loop"):
        srcdiff.grad(bend)(X)


# --- calls that run again ------------------------------------------------------------------------

X3 = np.array([0.5, -1.0, 2.0])
counts = []


def layer(w, x):
    h = np.sin(x)
    return np.tanh(w * h * np.exp(h))


def network(w, x):
    for _ in range(3):
        x = srcdiff.checkpoint(layer)(w, x)
    return np.sum(x * x)


def plain(w, x):
    for _ in range(3):
        x = layer(w, x)
    return np.sum(x * x)


def drawing(x, rng):
    mask = rng.random(3) > 0.5
    return x * mask * np.random.rand(3), np.sum(x)


drawing_again = srcdiff.checkpoint(drawing)


def twice_again(x, rng):
    y, s = drawing_again(x * x, rng)
    z, t = drawing_again(y + x, rng)
    return np.sum(z * y) + s * t


def twice(x, rng):
    y, s = drawing(x * x, rng)
    z, t = drawing(y + x, rng)
    return np.sum(z * y) + s * t


def test_a_checkpointed_call_has_the_same_gradient():
    close(*(srcdiff.grad(f, ("w", "x"))(X3, X3 + 1.0) for f in (network, plain)))
    value, pull = srcdiff.vjp(network, X3, X3 + 1.0)
    close(pull(), pull())
    close(value, plain(X3, X3 + 1.0))


def test_nothing_of_its_inside_is_kept():
    text = srcdiff.source(network, "w", example=(X3, X3))
    assert "np.sin" not in text and "gradients_again(f, " in text


def test_random_numbers_are_the_same_again():
    found = []
    for f in (twice_again, twice):
        np.random.seed(0)
        rng = np.random.default_rng(1)
        found.append([*srcdiff.grad(f)(X3, rng), np.random.rand(), rng.random()])
    close(*found)


def test_it_runs_twice():
    counts.clear()

    def counted(x):
        counts.append(1)
        return x * x

    g = srcdiff.grad(lambda x: np.sum(srcdiff.checkpoint(counted)(x)))
    close(g(X3), 2.0 * X3)
    assert len(counts) == 2


GENERATOR = np.random.default_rng(0)


def unseen(x):
    return x * GENERATOR.random(3)


def writing(x):
    x[0] = 2.0
    return x * x


@pytest.mark.parametrize(
    ("f", "error", "words"),
    [(unseen, RuntimeError, "when it runs again"), (writing, srcdiff.UnsupportedError, "writes")],
)
def test_what_cannot_run_again(f, error, words):
    with pytest.raises(error, match=words):
        srcdiff.grad(lambda x: np.sum(srcdiff.checkpoint(f)(x) * x))(X3)


def test_tangents():
    close(srcdiff.jvp(network, (X3, X3), (X3, X3))[1], srcdiff.jvp(plain, (X3, X3), (X3, X3))[1])
    found = []
    for f in (twice_again, twice):
        np.random.seed(0)
        rng = np.random.default_rng(1)
        found.append([srcdiff.jvp(f, (X3, rng), (X3, None))[1], np.random.rand(), rng.random()])
    close(*found)


V3, W3 = np.array([1.0, 0.3, -0.2]), np.array([0.4, -0.1, 0.7])


def along(f):
    """The derivative along a direction as a function."""
    return lambda w, x: srcdiff.jvp(f, (w, x), (V3, None))[1]


def gradient_along(f):
    return lambda w, x: np.sum(V3 * srcdiff.grad(f, "w")(w, x))


@pytest.mark.parametrize(
    "of",
    [
        lambda f: srcdiff.vhp(f, (X3, X3 + 1.0), (V3, W3), inputs=("w", "x")),
        lambda f: srcdiff.hvp(f, (X3, X3 + 1.0), (V3, W3), inputs=("w", "x")),
        lambda f: srcdiff.hessian(f, ("w", "x"))(X3, X3 + 1.0),
        lambda f: srcdiff.grad(along(f), ("w", "x"))(X3, X3 + 1.0),
        lambda f: srcdiff.jvp(along(f), (X3, X3 + 1.0), (V3, W3))[1],
        lambda f: srcdiff.grad(gradient_along(gradient_along(f)), ("w", "x"))(X3, X3 + 1.0),
        lambda f: srcdiff.hessian(along(f), ("w", "x"))(X3, X3 + 1.0),
    ],
    ids=["vhp", "hvp", "hessian", "slope then gradient", "two slopes", "third", "mixed third"],
)
def test_higher_orders(of):
    close(of(network), of(plain))


def test_random_numbers_are_the_same_again_at_order_two():
    for of in (srcdiff.vhp, srcdiff.hvp):
        found = []
        for f in (twice_again, twice):
            np.random.seed(0)
            rng = np.random.default_rng(1)
            found.append([*of(f, (X3, rng), V3), np.random.rand(), rng.random()])
        close(*found)


def test_three_times_forwards_is_refused():
    with pytest.raises(srcdiff.UnsupportedError, match="differentiated three times"):
        srcdiff.jvp(along(along(network)), (X3, X3), (X3, X3))


def outer(w, x):
    return np.sum(srcdiff.checkpoint(lambda w, x: srcdiff.checkpoint(layer)(w, x) * w)(w, x) ** 2)


def outer_plain(w, x):
    return np.sum((layer(w, x) * w) ** 2)


def test_a_checkpoint_inside_of_another_at_order_two():
    close(*(srcdiff.hessian(f, ("w", "x"))(X3, X3 + 1.0) for f in (outer, outer_plain)))


def of_primitives(x):
    y = srcdiff.checkpoint(np.multiply)(x, srcdiff.checkpoint(np.tanh)(x))
    return srcdiff.checkpoint(np.linalg.norm)(y) * srcdiff.checkpoint(abs)(x[0])


def of_a_number(x):
    y = srcdiff.checkpoint(lambda v: v * v)(x[0]) * x[1]
    for _ in srcdiff.checkpointed(range(3), slots=2):
        y = np.sin(y) * 1.1
    return y * x[1]


@pytest.mark.parametrize("f", [of_primitives, of_a_number])
def test_primitives_and_numbers_without_a_tangent(f):
    """Functions of NumPy and builtins; and directions in which an argument does not move."""
    x = np.array([0.3, 1.2])
    assert srcdiff.testing.gradcheck(f, (x,), check_forward_ad=True)
    assert srcdiff.testing.gradgradcheck(f, (x,))
