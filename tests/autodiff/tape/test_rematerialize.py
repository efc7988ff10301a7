"""What is saved of a loop's body is the least that the backward part can do with."""

import itertools
import random

import numpy as np
import pytest

import srcdiff
from srcdiff.autodiff.tape.rematerialize import SAVE, Choice, Value, fewest
from tests.support.differences import check_gradient


def cost(values, choice):
    """What a choice costs in all."""
    return sum(values[n].save for n in choice.saved) + sum(values[n].again for n in choice.again)


def is_enough(values, needed, choice):
    """Whether everything that is needed is saved or computed from what is there."""
    have = choice.saved | choice.again
    reads = {r for n in choice.again for r in values[n].reads if r in values}
    return set(needed) <= have and reads <= have


def test_a_chain_is_saved_at_its_start():
    values = {
        "e": Value(SAVE),
        "t": Value(SAVE, 2, ("e",)),
        "o": Value(SAVE, 2, ("t",)),
    }
    assert fewest(values, ["e", "t", "o"]) == Choice(frozenset("e"), frozenset("to"))


def test_nothing_is_computed_again_for_nothing():
    values = {"e": Value(SAVE), "t": Value(SAVE, 2, ("e",))}
    assert fewest(values, ["t"]) == Choice(frozenset("t"), frozenset())


def test_what_is_there_anyway_costs_nothing():
    assert fewest({"t": Value(SAVE, 2, ("x",))}, ["t"]) == Choice(frozenset(), frozenset("t"))


def test_no_choice_is_cheaper():
    chance = random.Random(5)
    for _ in range(60):
        values = {}
        for k in range(5):
            reads = tuple(n for n in values if chance.random() < 0.4)
            again = chance.choice((None, 1, 2)) if reads else None
            values[f"v{k}"] = Value(SAVE, again, reads)
        needed = [n for n in values if chance.random() < 0.5]
        found = fewest(values, needed)
        assert is_enough(values, needed, found)
        best = min(
            cost(values, choice)
            for choice in every_choice(values)
            if is_enough(values, needed, choice)
        )
        assert cost(values, found) == best


def every_choice(values):
    """Every way to leave out, save or compute each value."""
    ways = [(0, 1) if v.again is None else (0, 1, 2) for v in values.values()]
    for picked in itertools.product(*ways):
        named = dict(zip(values, picked))
        yield Choice(
            frozenset(n for n, p in named.items() if p == 1),
            frozenset(n for n, p in named.items() if p == 2),
        )


def test_what_is_made_of_nothing_is_made_again():
    def steps(x, q):
        p = np.zeros((2, 2))
        for _ in range(3):
            noise = q * np.eye(2)
            p = np.tanh(p @ x) + noise
            p = p * np.arange(2.0)
        return np.sum(p)

    g = srcdiff.grad(steps, "q")
    x = np.array([[0.5, 0.2], [0.1, -0.3]])
    slope = g(x, 0.7)
    back = g.source.split("# backward")[1]
    assert "np.eye(2)" in back
    assert "np.arange(2.0)" in back
    difference = (steps(x, 0.7 + 1e-6) - steps(x, 0.7 - 1e-6)) / 2e-6
    assert slope == pytest.approx(difference, rel=1e-8)


def test_zeros_that_are_written_into_are_saved():
    def steps(x):
        total = 0.0
        for k in range(3):
            c = np.zeros(2)
            c[0] = x[k] ** 2
            total = total + c @ c
        return total

    x = np.array([0.5, 1.5, 2.5])
    g = srcdiff.grad(steps)(x)
    assert np.allclose(g, 4.0 * x**3, rtol=1e-14)


# --- what is asked for its shape alone ------------------------------------------------------------


def _field(e, h, steps):
    e, h = e.copy(), h.copy()
    for _ in range(steps):
        e[:, 1:] -= 0.5 * (h[:, 1:] - h[:, :-1])
        h[:-1, :] -= 0.7 * e[1:, :] + 0.1
    return np.sum(e * h)


def _window(x):
    y = x.copy()
    for i in range(1, len(x) - 1):
        w = y[i - 1 : i + 2]
        t = 0.5 * w[1]
        w[1] = 0.25 * w[0] + t * w[1] + 0.25 * w[2]
    return np.sum(y * y)


def _grown(s, v, w):
    for k in range(len(w)):
        p = np.maximum(v, 0.0)
        t = v + 0.3 * (1.0 - p) * s
        v = t + np.sqrt(p + 0.1) * w[k]
    return np.sum(v)


def test_nothing_is_saved_for_a_shape():
    e, h = np.cos(np.arange(12.0)).reshape(3, 4), np.sin(np.arange(12.0)).reshape(3, 4)
    assert "saved" not in srcdiff.source(_field, ("e", "h"), example=(e, h, 2))
    check_gradient(_field, (e, h, 2), ("e", "h"))


def test_an_element_of_a_part_is_more_than_a_shape():
    check_gradient(_window, (np.cos(np.arange(6.0)),))


def test_a_number_that_becomes_an_array_has_one_shape_at_a_time():
    args = 0.2, 0.4, np.cos(np.arange(8.0)).reshape(2, 4)
    text = srcdiff.source(_grown, ("s", "v"), example=args)
    assert "unbroadcast(d_t, v)" not in text and "t_saved" not in text
    check_gradient(_grown, args, ("s", "v"))


def _widened(v, w):
    total = 0.0
    for k in range(len(w)):
        p = np.maximum(v, 0.0)
        for _ in range(2):
            v += w[k]
        total = total + np.sum(p * (v + 1.0))
        v = v * p
    return total


def test_what_is_added_to_in_a_loop_inside_has_another_shape():
    check_gradient(_widened, (0.4, np.cos(np.arange(8.0)).reshape(2, 4)), ("v", "w"))


def scaled_before_it_is_stored(A, w):
    out = np.zeros_like(A)
    for i in range(len(A)):
        t = np.sin(A[i])
        t[1:] *= w
        out[i] = t
    return np.sum(out**2)


def scaled_by_a_view(A, w):
    out, s = np.zeros_like(A), 0.0
    for i in range(len(A)):
        t = np.sin(A[i])
        u = t[1:]
        s += np.sum(t * A[i])
        u *= w
        out[i] = t
    return np.sum(out**2) + s


@pytest.mark.parametrize("f", [scaled_before_it_is_stored, scaled_by_a_view])
def test_what_was_stored_is_not_what_was_there_before_a_store_into_it(f):
    A = np.arange(12.0).reshape(4, 3) / 7.0
    for strict in (False, True):
        g = srcdiff.grad(f, (0, 1), strict=strict)
        check_gradient(f, (A, 1.7), (0, 1), g=g)
