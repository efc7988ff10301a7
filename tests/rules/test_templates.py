"""Every rule by its samples: values, first and second derivatives, shapes, dtypes, no side effect.

A sample becomes a small program (see `samples.py`), which goes through the whole compiler.
"""

import inspect
import operator
import statistics
import types

import numpy as np
import pytest

import srcdiff
from srcdiff.errors import UnsupportedError
from srcdiff.primitives import registry
from srcdiff.runtime import sequences, trees
from tests.rules import counts, orders
from tests.rules.sample_checks import (
    TOLERANCE,
    close,
    copies,
    follow,
    gradient,
    in_single,
    is_complex,
    leaves,
    same_class,
    weighted,
    weights,
)  # fmt: skip
from tests.rules.samples import collected, direction, inner, moved, slope
from tests.support.part import part

SAMPLES = collected()
NAME = operator.attrgetter("id")
# One function of every rule, where the others would only repeat it.
ONCE = list({(id(s.rule), s.call): s for s in SAMPLES}.values())
_FIRST = {s.id for s in ONCE}
EACH = [*ONCE, *part([s for s in SAMPLES if s.id not in _FIRST], NAME, 3)]
TEMPLATES = [s for s in ONCE if s.rule.definition is None]
# Without knowledge of the arguments everything is real.
REAL = [s for s in ONCE if not is_complex(s)]
# Rules that refuse what they cannot tell from the source alone.
NEEDS_KNOWLEDGE = ("gradient", "kron", "pad", "tolist")


# They make objects, whose parts `runtime/test_scipy.py` differentiates.
MAKERS_OF_OBJECTS = (
    "root", "root_scalar", "solve_ivp", "cubic_spline", "make_interp_spline", "interp1d", "pchip",
)  # fmt: skip


def test_templates_are_short():
    assert statistics.median(counts.lengths()) < 8


# They go backwards over a loop that has run; `test_checkpoint.py` differentiates them.
OF_LOOPS = {"reversed_steps_", "pushed_steps_"}
# The derivatives of `odeint` and `ivp_values` are made of them; `test_integrals.py` has those.
OF_EQUATIONS = {"ivp_adjoint", "ivp_along", "ode_along", "ode_curved", "widened"}
# They hold for the values and vectors of a matrix alone; `test_linear_algebra.py` has those.
OF_VALUES = {"eigvalsh_back_", "svdvals_back_"}
ELSEWHERE = {*MAKERS_OF_OBJECTS, *OF_LOOPS, *OF_EQUATIONS, *OF_VALUES}


def is_elsewhere(name):
    return name in ELSEWHERE or name.startswith("frozen_")


def test_every_rule_has_samples():
    def made(rule):
        return rule.template is None and rule.definition is None

    without = [r.name for r in registry.builtin().rules if not r.samples and not made(r)]
    assert [name for name in without if not is_elsewhere(name)] == []


# They write into containers, which no sample holds; the programs of `aliases` differentiate them.
IN_CONTAINERS = {
    sequences.add_to_part, trees.add_into, trees.add_numbers, trees.add_shared, trees.put_back,
}  # fmt: skip


def test_every_function_has_a_sample_that_fits():
    have = {id(s.function) for s in SAMPLES} | {repr(s.function) for s in SAMPLES}
    for key in registry.builtin().by_key:
        rule = registry.lookup(key)
        made = rule.template is None and rule.definition is None
        known = made or key in IN_CONTAINERS or is_elsewhere(rule.name)
        assert known or id(key) in have or repr(key) in have, key


@pytest.mark.parametrize("sample", EACH, ids=NAME)
def test_first_derivative(sample):
    program, w = weighted(sample)
    args = copies(program.args)
    found = gradient(program)(*args, grad_outputs=w)
    for before, after, g in zip(program.args, args, found, strict=True):
        np.testing.assert_array_equal(before, after)
        assert np.shape(g) == np.shape(before)
        assert type(g) is type(before) and np.asarray(g).dtype == np.asarray(before).dtype
    rng = np.random.default_rng(2)
    for _ in range(2):
        way = [direction(a, rng) for a in args]

        def along(h, way=way):
            return inner(w, program.function(*moved(args, h, way)))

        assert close(inner(found, way), slope(along), 1e-3 if in_single(sample) else TOLERANCE)
    spread = tuple(map(apart, args))
    for a, b in zip(gradient(program)(*spread, grad_outputs=w), found, strict=True):
        np.testing.assert_allclose(a, b, 1e-5 if in_single(sample) else 1e-11, 1e-12)


def apart(x):
    """The same array backwards in memory, with gaps."""
    if not isinstance(x, np.ndarray) or x.ndim == 0:
        return x
    memory = np.zeros([2 * n for n in x.shape], x.dtype)
    view = memory[(slice(None, None, -2),) * x.ndim]
    view[...] = x
    return view


def norm_of(value):
    """The size of a structure."""
    return np.sqrt(max(inner(value, value), 0.0))


# Both modes choose steps of their own.
SOLVED_IN_STEPS = ("odeint", "ivp_values_", "ode_values_", "ode_adjoint_")


@pytest.mark.parametrize("sample", part(EACH, NAME, 8), ids=NAME)
def test_forward_mode(sample):
    program, w = weighted(sample)
    rng = np.random.default_rng(4)
    before = program.args
    for _ in range(2):
        args, way = copies(before), tuple(direction(a, rng) for a in before)
        value, tangent = srcdiff.jvp(program.function, args, way, unused="zeros")
        for x, y in zip(before, args, strict=True):
            np.testing.assert_array_equal(x, y)
        plain = program.function(*copies(before))
        for z, v, t in zip(leaves(plain), leaves(value), leaves(tangent), strict=True):
            # A definition computes the same in other steps, up to rounding.
            rounding = 1e-12 if sample.rule.definition is not None else 0.0
            np.testing.assert_allclose(v, z, rounding, rounding)
            assert same_class(v, z)
            dtype = np.asarray(z).dtype
            assert np.shape(t) == np.shape(z) or dtype.kind not in "fc"
            assert np.asarray(t).dtype == dtype or dtype.kind not in "fc"
        found = inner(w, tangent)
        back = gradient(program)(*args, grad_outputs=w)
        scale, single = norm_of(back) * norm_of(way), in_single(sample)
        rough = single or sample.rule.name in SOLVED_IN_STEPS
        assert abs(found - inner(back, way)) <= (1e-6 if rough else 1e-12) * max(scale, 1.0)

        def along(h, way=way):
            return inner(w, program.function(*moved(before, h, way)))

        assert close(found, slope(along), 1e-3 if single else TOLERANCE)


# Tangents that are written say what is left where some of their arguments have none.
OF_SEVERAL = [s for s in ONCE if s.rule.tangent is not None and len(s.kinds) > 1]


@pytest.mark.parametrize("sample", OF_SEVERAL, ids=NAME)
def test_forward_mode_along_one_argument(sample):
    program, w = weighted(sample)
    rng = np.random.default_rng(5)
    back = gradient(program)(*copies(program.args), grad_outputs=w)
    rough = in_single(sample) or sample.rule.name in SOLVED_IN_STEPS
    for k, (x, g) in enumerate(zip(program.args, back, strict=True)):
        way = [None] * len(back)
        way[k] = direction(x, rng)
        along = srcdiff.jvp(program.function, unused="zeros")
        found = inner(w, along(*copies(program.args), tangents=tuple(way))[1])
        scale = norm_of(g) * norm_of(way[k])
        assert abs(found - inner(g, way[k])) <= (1e-6 if rough else 1e-12) * max(scale, 1.0)


WITH_SOURCE = [s for s in TEMPLATES if inspect.isgeneratorfunction(s.rule.template)]


@pytest.mark.parametrize("sample", WITH_SOURCE, ids=NAME)
def test_lines_above_the_yield(sample):
    args, kwargs = sample.arguments()
    found = next(sample.rule.template(*copies(args), **kwargs), None)
    program = sample.program()
    expected = program.function(*copies(program.args))
    if sample.rule.mutates is not None:
        x, *rest = copies(args)
        next(sample.rule.template(x, *rest, **kwargs))
        found = x
    for a, b in zip(leaves(found), leaves(expected), strict=True):
        assert np.shape(a) == np.shape(b) and same_class(a, b)
        np.testing.assert_allclose(a, b, rtol=1e-14)


@pytest.mark.parametrize("sample", part(REAL, NAME, 10), ids=NAME)
def test_without_knowledge_of_the_arguments(sample):
    program, w = weighted(sample)
    expected = gradient(program)(*copies(program.args), grad_outputs=w)
    try:
        generic = gradient(program).generic().function
    except UnsupportedError as error:
        assert sample.rule.name in NEEDS_KNOWLEDGE, error
        return
    for a, b in zip(generic(*copies(program.args), grad_outputs=w), expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


TWICE = [s for s in ONCE if not orders.refused(s, 2)]
# The third derivatives of what `ode_values_` goes backwards with take 16 seconds:
# `python -m tests.rules.orders 3` has them, and `test_integrals.py` those of a solution that is
# known.
SLOW = ("ode_adjoint_",)


def _size(sample):
    """Small samples first, but those with arrays before those with numbers alone."""
    args = sample.program().args
    return not any(map(np.ndim, args)), sum(map(np.size, args)), len(sample.call)


# One real sample of every rule; `python -m tests.rules.orders 3` takes all.
REALS = [s for s in TWICE if not (is_complex(s) or orders.refused(s, 3))]
SMALL = {id(s.rule): s for s in sorted(REALS, key=_size, reverse=True)}
THRICE = [s for s in SMALL.values() if s.rule.name not in SLOW]
_IN_THRICE = {s.id for s in THRICE}
UP_TO_TWO = [s for s in TWICE if s.id not in _IN_THRICE]
REFUSED = [s for s in ONCE if orders.refused(s, 3)]


@pytest.mark.parametrize("sample", part(UP_TO_TWO, NAME, 8), ids=NAME)
def test_second_derivative(sample):
    follow(sample, 2)


@pytest.mark.parametrize("sample", part(THRICE, NAME, 10), ids=NAME)
def test_second_and_third_derivative(sample):
    follow(sample, 3)


@pytest.mark.parametrize("sample", REFUSED, ids=NAME)
def test_what_has_no_third_derivative(sample):
    with pytest.raises(UnsupportedError):
        follow(sample, 3)


def single(x):
    """An array of doubles in single precision."""
    return x.astype(np.float32) if isinstance(x, np.ndarray) and x.dtype == float else x


@pytest.mark.filterwarnings("ignore:logm result may be inaccurate")
@pytest.mark.parametrize("sample", part(ONCE, NAME, 8), ids=NAME)
def test_float32_stays(sample):
    program = sample.program()
    args = tuple(map(single, program.args))
    w = weights(program.function(*copies(args)), np.random.default_rng(1))
    for g, a in zip(gradient(program)(*args, grad_outputs=w), args, strict=True):
        assert np.asarray(g).dtype == np.asarray(a).dtype


def of_numpy(function):
    """Whether a sample calls a function of NumPy."""
    function = getattr(function, "function", function)
    return str(getattr(function, "__module__", "")).startswith("numpy")


# A list of arrays and numbers, whose common type is found step by step.
STEP_BY_STEP = ("select",)
DEFINED = [s for s in ONCE if s.rule.definition is not None and of_numpy(s.function)]


@pytest.mark.parametrize("sample", DEFINED, ids=NAME)
def test_definitions_are_as_precise_as_the_function(sample):
    program = sample.program()
    args = tuple(map(single, program.args))
    expected = program.function(*copies(args))
    value, _ = srcdiff.vjp(program.function, *copies(args), unused="zeros")
    assert all(map(same_class, leaves(expected), leaves(value)))
    if sample.rule.name not in STEP_BY_STEP:
        for a, b in zip(leaves(expected), leaves(value), strict=True):
            assert np.asarray(a).dtype == np.asarray(b).dtype


# --- helpers ------------------------------------------------------------------------------------


def _helpers():
    """The functions of srcdiff's own that have a rule: generated code may call them."""
    made = [r for r in registry.builtin().rules if r.flavour not in ("unsupported", "composed")]
    pairs = [(r, f) for r in made for f in r.functions if isinstance(f, types.FunctionType)]
    return [(r, f) for r, f in pairs if f.__module__.startswith("srcdiff.")]


def test_what_helpers_write_has_a_tangent():
    """Generated code is differentiated again, and no tangent follows from lines that restore."""
    without = [(r, f) for r, f in _helpers() if r.tangent is None and r.flavour != "linear"]
    assert without and [f.__name__ for r, f in without if r.mutates is not None] == []
