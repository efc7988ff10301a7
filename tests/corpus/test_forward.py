"""Forward mode on every program of the corpus: against differences, and against reverse mode."""

import inspect
import zlib

import numpy as np
import pytest

import srcdiff
from srcdiff.api.forward import forward_of, tangent_like
from srcdiff.driver.options import Options
from tests.programs import PROGRAMS, calls
from tests.programs.registry import Program
from tests.support import structures as st
from tests.support.differences import (
    Problem,
    assert_slope,
    assert_unchanged,
    check_gradient,
    check_second_order,
    is_scalar,
    positional,
    with_cotangent,
)
from tests.support.part import ALL, part

# Their objects are constant, or hold nothing that forward mode would have to follow.
FOLLOWED = {
    f"objects-{name}"
    for name in (
        "class_and_static_methods", "class_methods_behind_others", "dict_with_a_method",
        "dual_numbers", "filled_matrix", "item_of_an_object_in_place", "iterated_object",
        "made_and_changed", "made_with_super",
        "made_without_init", "network_loss", "object_as_default", "object_from_outside",
        "object_without_a_hash", "one_kick", "operators_of_constants", "products_of_pairs",
        "property_in_place",
        "property_that_is_a_number", "table_of_an_extended_list", "trained",
        "vector_algebra", "with_post_init",
    )
}  # fmt: skip
# With respect to a vector beside the objects.
OF_CLASSES = {
    f"objects-{name}"
    for name in (
        "default_object", "defaults_in_turn", "none_by_default", "none_by_getattr",
        "object_in_the_place_of_an_argument", "one_of_two", "texts_and_lists_by_default",
    )
}  # fmt: skip


def is_followed(program):
    """Whether forward mode follows a program although it has objects."""
    by_class = program.name in OF_CLASSES and program.inputs in (0, "x", (0, 1))
    return program.name in FOLLOWED or by_class


REFUSED = [
    p
    for p in PROGRAMS
    if (p.name.startswith(("objects-", "best_so_far-")) and not is_followed(p))
    or p.name in (
        "slots-named_item_replaced", "objects_kept-network", "getters-attributes_of_objects",
        "copied-deep_copy_of_the_best", "hidden-kept_beside_what_changes",
        "stored_objects-caches_that_nobody_reads", "stored_objects-object_beside_what_it_holds",
        "stored_objects-object_in_a_dict_beside_what_it_holds",
        "stored_objects-object_of_an_array_and_a_view", "stored_objects-objects_of_windows",
        "stored_objects-named_tuple_in_two_places",
    )  # fmt: skip
]
# Where reverse mode has a rule for the whole, or knows that nobody looks any more.
OTHERWISE = {
    "flat-taken_and_stored_together": "may be a view of `y`, and its memory is written in place",
    "numpy_options-norm_of_an_order1": "`np.linalg.vector_norm` has no tangent",
}
FORWARD = [p for p in PROGRAMS if p not in REFUSED and p.name not in OTHERWISE]


def tangents_of(problem, direction):
    """A tangent for every positional argument: None for those that no input is part of."""
    some = st.random_like(np.random.default_rng(7), problem.names)
    still = st.mapped(lambda x: None if x is None else 0.0 * x, some)
    moved = st.replaced(problem.function, problem.inputs, still, direction)
    paths = st.paths(problem.function, problem.inputs)
    params = {p.partition("[")[0].partition(".")[0] for p in paths}
    args, _ = positional(problem.function, problem.arguments())
    names = list(inspect.signature(problem.function).parameters)
    found = [moved[n] if n in params else None for n in names[: len(args)]]
    return (*found, *[None] * (len(args) - len(found)))  # behind `*args`


def along(program, problem, direction):
    """The tangent of a program's outputs along a direction of its inputs."""
    names = problem.arguments()
    args, kwargs = positional(program.function, names)
    tangents = tangents_of(problem, direction)
    along = srcdiff.jvp(program.function, outputs=program.outputs, unused="zeros")
    _, tangent = along(*args, tangents=tangents, **kwargs)
    assert_unchanged(problem.names, names)
    return tangent


@pytest.mark.parametrize("program", REFUSED, ids=lambda p: p.name)
def test_objects_are_refused(program):
    problem = Problem(program.function, program.arguments(), program.inputs, program.outputs)
    direction = st.random_like(np.random.default_rng(5), problem.at)
    with pytest.raises(srcdiff.UnsupportedError, match="does not follow the attributes of objects"):
        along(program, problem, direction)


@pytest.mark.parametrize(
    "program", [p for p in PROGRAMS if p.name in OTHERWISE], ids=lambda p: p.name
)
def test_what_is_refused_otherwise(program):
    problem = Problem(program.function, program.arguments(), program.inputs, program.outputs)
    direction = st.random_like(np.random.default_rng(5), problem.at)
    with pytest.raises(srcdiff.TransformError, match=OTHERWISE[program.name]):
        along(program, problem, direction)


@pytest.mark.parametrize("program", part(FORWARD, lambda p: p.name, 8), ids=lambda p: p.name)
def test_along_a_direction(program):
    rng = np.random.default_rng(5)
    problem = Problem(program.function, program.arguments(), program.inputs, program.outputs)
    g = srcdiff.grad(program.function, program.inputs, program.outputs)
    for _ in range(2):
        output = problem.output()
        cotangent = st.random_like(rng, output)
        direction = st.random_like(rng, problem.at)
        tangent = along(program, problem, direction)
        found = st.inner(cotangent, tangent)
        gradient = problem.gradient(g, cotangent)
        expected = st.inner(gradient, direction)
        scale = max(1.0, abs(expected), abs(found))
        loose = program.tolerance > 1e-6
        if np.isnan(expected):
            assert np.isnan(found)
            continue
        assert abs(found - expected) <= (1e-4 if loose else 1e-9) * scale
        if program.gradient is None:
            slope = problem.slope(direction, cotangent)
            assert_slope(found, slope, 1e-2 * scale, program.tolerance)


# A part that does not change as programs are added.
SOME = [
    p
    for p in PROGRAMS
    if p.order2
    and not p.name.startswith(("objects-", "best_so_far-"))
    and zlib.crc32(p.name.encode()) % (8 if ALL else 40) == 0
]


def gradient_at(program, problem, cotangent):
    """The gradient of a program as a function of its arguments, and what else it takes."""
    g = srcdiff.grad(program.function, program.inputs, program.outputs)
    if is_scalar(problem.output()) and program.outputs is None:
        return g, {}
    return with_cotangent(g, program.function), {"ct_": cotangent}


@pytest.mark.parametrize("program", SOME, ids=lambda p: p.name)
def test_modes_over_modes(program):
    """Forward over reverse, reverse over reverse and reverse over forward are the same number."""
    rng = np.random.default_rng(6)
    function, inputs = program.function, program.inputs
    problem = Problem(function, program.arguments(), inputs, program.outputs)
    cotangent = st.random_like(rng, problem.output())
    u, v = st.random_like(rng, problem.at), st.random_like(rng, problem.at)
    inner, extra = gradient_at(program, problem, cotangent)
    args, kwargs = positional(function, problem.arguments())
    moves = tangents_of(problem, u)
    _, tangent = srcdiff.jvp(inner, unused="zeros")(*args, tangents=moves, **extra, **kwargs)
    one = st.inner(v, tangent)
    twice = srcdiff.grad(inner, inputs, materialize_grads=True)
    two = st.inner(twice(*args, **extra, grad_outputs=v, **kwargs), u)
    assert abs(one - two) <= 1e-8 * max(1.0, abs(one), abs(two))
    if kwargs:
        return
    made, given, names = forward_function(program, args, moves)
    back = srcdiff.grad(made, names, outputs=1, materialize_grads=True)
    ct = cotangent if extra else 1.0
    gradients = back(*positional(function, problem.arguments())[0], **given, grad_outputs=ct)
    along_v = [t for t in tangents_of(problem, v) if t is not None]
    three = st.inner(along_v, list(gradients))
    assert abs(one - three) <= 1e-8 * max(1.0, abs(one), abs(three))


def forward_function(program, args, moves):
    """The generated function of forward mode, the tangents that it takes, and its inputs."""
    params = list(inspect.signature(program.function).parameters)
    names = tuple(n for n, t in zip(params, moves, strict=False) if t is not None)
    options = Options(0, program.outputs, "zeros")
    made = forward_of(program.function, options, names).specialised(*args)
    given = [tangent_like(t, x, "t") for t, x in zip(moves, args, strict=True) if t is not None]
    last = list(inspect.signature(made).parameters)[-len(names) :]
    return made, dict(zip(last, given, strict=True)), names


def real_items_by_complex_numbers(x, v):
    """NumPy keeps the real part of what is stored, and warns of it."""
    z = x * 1.0
    z[0] *= v
    z[1] /= v
    z[2] -= v * z[1]
    z[-1] /= v * z[0]
    z[1] **= v
    return z


@pytest.mark.filterwarnings("ignore:Casting complex values to real")
def test_real_items_by_complex_numbers():
    """Adjoints and tangents of real items drop imaginary parts; no other operand's may go there."""
    sample = Program(
        real_items_by_complex_numbers, lambda r: (r.uniform(1.0, 2.0, 4), 0.7 + 0.5j), (0, 1)
    )
    check_gradient(sample.function, sample.arguments(), sample.inputs)
    check_second_order(sample.function, sample.arguments(), sample.inputs)
    test_along_a_direction(sample)
    test_modes_over_modes(sample)


def test_a_star_of_a_recursive_function():
    x = np.array([0.4, 0.7])
    _, tangent = srcdiff.jvp(calls.recursion_with_a_star, (x,), (np.ones(2),))
    # The sum of x**4 + 2 x**4 by element: each step multiplies by the first, which is squared.
    assert tangent == pytest.approx(np.sum(12.0 * x**3), rel=1e-14)
    gradient = srcdiff.grad(calls.recursion_with_a_star)(x)
    np.testing.assert_allclose(gradient, 12.0 * x**3, rtol=1e-14)


PRECISE = {
    "where": lambda x: np.where(x > 0.0, x, np.float64(0.0)),
    "maximum": lambda x: np.maximum(x, np.zeros(4)),
    "clip": lambda x: np.clip(x, np.float64(0.0), 1.0),
    "array": lambda x: np.array([x[0], 1, 2j, x[1]]),
    "append": lambda x: (np.append(x, 2j), [np.fmax(x[0], np.float64(9.0))]),
}


@pytest.mark.parametrize("f", PRECISE.values(), ids=PRECISE)
def test_tangents_are_as_precise_as_values(f):
    x = np.array([0.4, -0.7, 1.2, 0.1], np.float32)
    value, tangent = srcdiff.jvp(f, (x,), (np.ones_like(x),))
    for v, t in zip(st.leaves(value), st.leaves(tangent), strict=True):
        assert np.asarray(t).dtype == np.asarray(v).dtype


def _shifted(a, b, n):
    return a + np.sum(b) if n <= 0 else _shifted(a, b, n - 1) * 1.0


def _pair_of(a, n):
    return [a + 1.0, a * 1.0] if n <= 0 else _pair_of(a, n - 1)


def results_of_recursions_written(x, y):
    new, spread = _shifted(x, y, 1), _shifted(y, x, 0)
    new[::2] = 2.0
    spread[1:] *= x[1:]
    first, second = _pair_of(x, 1)
    first[0] = 3.0
    second *= y
    return new, spread, first, second, 2.0 * x


def test_tangents_of_what_recursions_return_share_no_memory():
    """The tangent of `a + 1` is that of `a`, and may not be written into where the sum is."""
    x, y = np.arange(1.0, 5.0), np.linspace(0.3, 0.9, 4)
    directions = np.array([0.5, -1.0, 2.0, 0.25]), np.array([1.0, 0.5, -0.5, 3.0])
    value, tangent = srcdiff.jvp(results_of_recursions_written, (x, y), directions)
    step = 1e-30  # the complex step
    moved = [v + 1j * step * d for v, d in zip((x, y), directions, strict=True)]
    for found, at in zip(tangent, results_of_recursions_written(*moved), strict=True):
        np.testing.assert_allclose(found, np.imag(at) / step, rtol=1e-14)
    np.testing.assert_array_equal(value[4], 2.0 * x)
