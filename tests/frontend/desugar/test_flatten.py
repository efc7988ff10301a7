"""Jumps out of loops over `checkpointed`: the states that are held, and what is computed."""

import heapq
import itertools
import re

import numpy as np
import pytest

import srcdiff
from srcdiff.runtime import checkpoint
from srcdiff.runtime.checkpoint import Places, fewest_steps, worth_keeping
from tests.standin import Device
from tests.standin.corpus import to_device, to_host
from tests.support.differences import define

X, V = np.array([0.3, -0.5, 0.8]), np.array([1.0, 0.3, -0.2])


# --- the schedule --------------------------------------------------------------------------------


def cost(places, end, slots):
    """The steps that run again with the states worth keeping, by Griewank's formula."""
    if end < 1:
        return 0
    kept = (*worth_keeping(tuple(p for p in places if p < end), end, slots), end)
    return sum(fewest_steps(b - a, slots - k) for k, (a, b) in enumerate(itertools.pairwise(kept)))


def least(places, end, slots):
    """The fewest steps of all ways to go on, by Dijkstra's algorithm."""
    todo, seen = [(0, end, tuple(places))], set()
    while todo:
        steps, end, held = heapq.heappop(todo)
        if end == 0:
            return steps
        if (end, held) in seen:
            continue
        seen.add((end, held))
        left = tuple(p for p in held if p < end - 1) or (0,)
        ways = [(end - 1 - held[-1], end - 1, left)]
        if len(held) == slots:
            ways += [(0, end, tuple(q for q in held if q != p)) for p in held[1:]]
        else:
            for new in set(range(1, end)) - {*held}:
                near = max(p for p in held if p < new)
                ways.append((new - near, end, tuple(sorted((*held, new)))))
        for more, *way in ways:
            heapq.heappush(todo, (steps + more, *way))
    raise AssertionError


@pytest.mark.parametrize("slots", [1, 2, 3])
def test_what_is_kept_is_the_best_of_all_choices(slots):
    for count in range(slots):
        for places in itertools.combinations(range(1, 7), count):
            for end in range(1 + max((0, *places)), 8):
                assert cost((0, *places), end, slots) == least((0, *places), end, slots)


@pytest.mark.parametrize("slots", [1, 2, 3, 5, 10])
def test_a_run_that_may_stop_anywhere(slots):
    n = 60
    places, extra, total = Places(n, slots, True), 0, 0
    for ran in range(1, n + 1):
        out = places.leaving(ran - 1)
        assert len(places.levels) <= slots and 0 in places.levels and out not in places.levels
        again, best = cost(places.levels, ran - 1, slots), fewest_steps(ran, slots) - (ran - 1)
        assert best <= again <= max(best, fewest_steps(ran - 1, slots))
        extra, total = extra + again - best, total + best
    assert again == best  # of a run to the end
    assert extra <= 0.15 * total


class StopError(Exception):
    """What a step raises."""


@pytest.mark.parametrize("slots", [1, 2, 3, 4])
def test_the_steps_that_run_again(slots):
    n = 12
    for stop in range(n + 1):
        calls = []

        def step(i, x):
            calls.append(i)
            if i == stop:
                raise StopError
            return (0.5 * x,)

        step.__srcdiff_stop__ = StopError
        held = checkpoint.Slots(range(n), slots)
        places = Places(n, slots, True)
        for at in range(min(stop + 1, n)):
            places.leaving(at)
        (x,) = run(step, held)
        assert (x, held.ran) == (0.5**stop, stop)
        assert checkpoint.remaining(held) == (stop, n, 1)
        assert calls == list(range(min(stop + 1, n)))
        assert held.most <= slots and held.states.keys() == places.levels.keys()
        del calls[:]
        back(step, held)
        expected = cost(places.levels, stop - 1, slots) if stop > 1 else 0
        assert held.again == expected and held.most <= slots and held.states == {}
        back(step, held)  # a second time: to a step that is known
        assert held.again == expected + fewest_steps(stop, slots) - max(stop - 1, 0)


def run(step, held):
    return checkpoint._run(step, held, held.steps, (1.0,), ())


def back(step, held):
    """A loop backwards, but for the derivatives."""
    held.start = held.start or checkpoint.Before(True)
    if held.ran and 0 not in held.states:
        checkpoint._run(step, held, held.steps[: held.ran], (1.0,), ())
    work = checkpoint._Reversal(step, held, (), [1.0])
    places = []
    work.back = lambda at, state: places.append((at, state[0]))
    work.all_steps()
    held.states.clear()
    assert places == [(at, (0.5**at,)) for at in reversed(range(held.ran))]


# --- programs ------------------------------------------------------------------------------------

PROGRAMS = {
    "continue": """
    for i in LOOP(n):
        if i == s:
            continue
        u = np.sin(w * u) + 0.1 * i
        if u[0] > 0.6:
            u = u * 0.5
            continue
        total = total + u[0]
""",
    "break": """
    for i in LOOP(n):
        u = np.sin(w * u) + 0.1 * i
        if i == s:
            break
        total = total + u[0]
    else:
        u = u * u
""",
    "return": """
    for i in LOOP(n):
        u = np.sin(w * u) + 0.1 * i
        if i + 1 == s:
            return total * u[1] + w
        if i == s:
            u = u * w
            return np.sum(u)
        total = total + u[0]
""",
    "all": """
    for i in LOOP(n):
        u[1:] += 0.1 * w * u[:-1]
        if total > 2.0:
            continue
        elif i > s and u[0] > 0.4:
            break
        for j in range(3):
            u = np.cos(u) * w
            if i * j == s:
                return total * u[1]
            if j == 1 and i == s:
                break
        else:
            total = total + np.sum(u)
            if i == s:
                break
            continue
        total = total - 0.5 * u[0]
""",
    "inner": """
    for i in LOOP(n):
        for j in LOOP(3):
            u = np.sin(w * u) + 0.1 * j
            if i == s and j == 1:
                break
            if j == 1:
                continue
            u[0] *= 1.1
        else:
            u = u * 1.1
        total = total + np.sum(u * u)
""",
    "both": """
    for i in LOOP(n):
        for j in LOOP(3):
            u = np.sin(w * u) + 0.1 * j
            if i == s and j == 1:
                return total + u[2]
            if j == 2 and i + 1 == s:
                break
        else:
            if total > 4.0:
                break
            total = total + np.sum(u * u)
        total = total * w
    else:
        u = u * w
""",
    "after": """
    i = 7
    for a in range(2):
        for i in LOOP(n):
            u = np.tanh(u * w) + 0.05 * i
            if i == s + a:
                break
        total = total + i * np.sum(u)
""",
    "random": """
    rng = np.random.default_rng(4)
    np.random.seed(3)
    for i in LOOP(n):
        if rng.random() > 0.9 and i > s:
            break
        u = u * (1.0 + 0.1 * rng.standard_normal(3)) * (1.0 + 0.1 * np.random.rand())
        if rng.random() > 0.8 or i == s:
            return np.sum(u) * rng.random()
    total = rng.random() * np.random.rand()
""",
}
BODY = """def f(x, w, n, k, s):
    u = x * 1.0
    total = 0.0{}    return np.sum(u * u) + total * w
"""


def pair(name):
    """A program with slots, and with a plain loop."""
    return in_slots_and_plain(BODY.format(PROGRAMS[name]))


def in_slots_and_plain(text):
    """A text with `LOOP` as a function with slots, and as one with a plain loop."""
    kinds = r"checkpointed(range(\1), k)", r"range(\1)"
    space = {"np": np, "checkpointed": srcdiff.checkpointed}
    return [define(re.sub(r"LOOP\((\w+)\)", kind, text), "f", space) for kind in kinds]


def same(found, expected, tolerance=1e-14):
    found, expected = (np.concatenate([np.ravel(p) for p in parts]) for parts in (found, expected))
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * np.max(np.abs(expected)))


@pytest.fixture(params=PROGRAMS)
def functions(request):
    return pair(request.param)


def test_gradients_of_every_stop(functions):
    ours, theirs = (srcdiff.value_and_grad(g, ("x", "w")) for g in functions)
    for n in (0, 3, 12):
        for s in range(n + 1):
            value, expected = theirs(X, 0.9, n, 1, s)
            for slots in (1, 2, 3, 4):
                found = ours(X, 0.9, n, slots, s)
                same([found[0]], [value])
                same(found[1], expected)


@pytest.mark.parametrize("name", ["return", "random", "inner"])
def test_other_derivatives(name):
    functions, args = pair(name), (X, 0.9, 6, 2, 3)
    found = []
    for f in functions:
        pull = srcdiff.vjp(f, *args, inputs=("x", "w"))[1]
        tangent = srcdiff.jvp(f, args, (V, 0.5, None, None, None))[1]
        found.append([*pull(1.5), *pull(1.5), tangent])
        if name != "inner":
            of = srcdiff.hvp if name == "return" else srcdiff.vhp
            found[-1].append(of(f, args, V))
    for one, other in zip(*found):
        same([one], [other], 1e-13)


vector, plain_vector = in_slots_and_plain("""
def f(x, w, n, k, s):
    for i in LOOP(n):
        x = np.sin(w * x) + 0.1 * x[0]
        if i == s:
            break
        if i % 2:
            continue
        x = 1.1 * x
    return x * w
""")


@pytest.mark.parametrize("s", [0, 3, 9])
def test_many_cotangents(s):
    batch = np.cos(np.arange(12.0)).reshape(4, 3)
    args, found = (X, 0.9, 6, 2, s), []
    for f in (vector, plain_vector):
        rows = srcdiff.grad(f, ("x", "w"), is_grads_batched=True)(*args, grad_outputs=batch)
        found.append([*rows, *srcdiff.jacobian(f, ("x", "w"))(*args)])
        found[-1] += srcdiff.jacobian(f, ("x", "w"), mode="forward")(*args)
    for one, other in zip(*found):
        same([one], [other])


def test_a_gradient_of_a_gradient():
    def length(f, s):
        return lambda x: np.sum(V * srcdiff.grad(lambda x: np.sum(f(x, 0.9, 6, 2, s) ** 2))(x))

    same(*([srcdiff.grad(length(f, 3))(X)] for f in (vector, plain_vector)))


@pytest.fixture(scope="module")
def device():
    made = Device()
    with made.installed():
        yield made


@pytest.mark.parametrize("name", ["return", "break"])
def test_arrays_of_cupy(device, name):
    f, _ = pair(name)
    gradient = srcdiff.grad(f, ("x", "w"))
    for s in (0, 2, 9):
        found = gradient(to_device(X, device), 0.9, 6, 2, s)
        same([to_host(g) for g in found], gradient(X, 0.9, 6, 2, s), 1e-13)


def decay(x, rate, n):
    for _ in srcdiff.checkpointed(range(n), 10):
        x = rate * x
        if x < 0.25:
            return x * x
    return x


@pytest.mark.parametrize("rate", [0.9999, 0.999])
def test_ten_thousand_steps_through_grad(monkeypatch, rate):
    made = []

    class Counted(checkpoint.Slots):
        def __init__(self, *args):
            super().__init__(*args)
            made.append(self)

    monkeypatch.setattr("srcdiff.frontend.desugar.flatten.Slots", Counted)
    n = 10_000
    found = srcdiff.grad(lambda x: decay(x, rate, n))(1.0)
    (held,) = made
    assert held.most == 10
    if rate == 0.9999:
        assert (held.ran, held.again) == (n, fewest_steps(n, 10) - (n - 1))
        same([found], [rate**n], 1e-12)
    else:
        ran = 1385
        assert held.ran == ran and rate**ran > 0.25 > rate ** (ran + 1)
        assert 0 <= held.again - (fewest_steps(ran, 10) - (ran - 1)) < 0.3 * ran
        same([found], [2.0 * rate ** (2 * (ran + 1))], 1e-12)


# --- handlers that only raise --------------------------------------------------------------------


def test_what_fails_where_handlers_only_raise_fails_with_the_error_itself():
    text = """
def f(x, k):
    try:
        y = x[k]
    except IndexError as error:
        raise ValueError(f"no {k}") from error
    return y * y
"""
    gradient = srcdiff.grad(define(text, "f", {"np": np}))
    np.testing.assert_array_equal(gradient(X, 1), [0.0, 2 * X[1], 0.0])
    with pytest.raises(IndexError):
        gradient(X, 3)


@pytest.mark.parametrize(
    "handler",
    [
        "except ValueError: print('singular'); raise",  # which would not be printed
        "except LinAlgError: raise ValueError from None\n    finally: x = x + 1",
    ],
)
def test_handlers_that_do_more_are_refused(handler):
    text = f"""
def f(x):
    try: y = np.linalg.inv(np.outer(x, x))
    {handler}
    return np.sum(y)
"""
    with pytest.raises(srcdiff.UnsupportedError, match="handlers that only raise"):
        srcdiff.grad(define(text, "f", {"np": np, "LinAlgError": np.linalg.LinAlgError}))(X)


def test_an_error_that_becomes_another_one_is_not_looked_for_outside():
    text = """
def f(x):
    try:
        try: y = np.linalg.inv(np.outer(x, x))
        except LinAlgError: raise ValueError from None
    except LinAlgError:
        y = x
    return np.sum(y)
"""
    with pytest.raises(srcdiff.UnsupportedError, match="handlers that only raise"):
        srcdiff.grad(define(text, "f", {"np": np, "LinAlgError": np.linalg.LinAlgError}))(X)
