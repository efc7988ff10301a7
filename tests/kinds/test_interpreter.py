"""What is inferred of names is what they are."""

import collections
import collections.abc
import decimal
import numbers
import operator

import numpy as np
import pytest

import srcdiff
from srcdiff.frontend.lowering import lower
from srcdiff.frontend.source.parse import parse
from srcdiff.ir.kinds import (
    UNKNOWN,
    Array,
    List,
    Scalar,
    Sym,
    Text,
    Tuple,
    known_truth,
    same_shape,
)
from srcdiff.kinds.calls import call_kind
from srcdiff.kinds.interpreter import infer
from srcdiff.kinds.lattice import kind_of
from srcdiff.normalize.iteration import iterated
from srcdiff.normalize.live_ranges import webs
from srcdiff.runtime.scipy.filters import gaussian_weights
from tests.corpus.roundtrip import WHOLE
from tests.support.kind_checker import run_checked
from tests.support.part import lots
from tests.support.structures import bound_arguments

NAME = operator.attrgetter("name")


def lowered(function, params=None):
    found = webs(lower(parse(function)))
    if params is None:
        return found
    return iterated(found, infer(found, params), params)


@lots("programs", WHOLE, NAME)
def test_kinds_of_the_corpus_are_true(programs):
    for program in programs:
        check_kinds(program)


def check_kinds(program):
    args = program.arguments()
    named = bound_arguments(program.function, args)
    params = {n: kind_of(v, n) for n, v in named.items()}
    function = lowered(program.function, params)
    kinds = infer(function, params)
    assert all(kinds[p.name] is not None for p in function.params)
    run_checked(function, kinds, args)


@lots("programs", WHOLE, NAME)
def test_kinds_without_arguments_are_true(programs):
    for program in programs:
        check_kinds_without_arguments(program)


def check_kinds_without_arguments(program):
    args = program.arguments()
    named = bound_arguments(program.function, args)
    plain = all(isinstance(v, (float, int, np.ndarray)) for v in named.values())
    params = {} if plain else dict.fromkeys(named, UNKNOWN)
    function = lowered(program.function, params)
    kinds = infer(function, params)
    run_checked(function, kinds, args)


def measured(x, y, n):
    z = x + y
    if n > 2:
        z = z * y
    for k in range(n):
        z = z + np.sum(x) * k
    rows = [x, z]
    w = rows[0] * 2
    return w + z


def test_what_was_found_for_other_arguments_is_not_taken_over():
    """A statement remembers its kind: for what it reads, and where it stands."""
    float_, whole = Scalar("float64"), Scalar("int64")
    asked = [
        {"x": Array("float64", (Sym("x.0", 0, True),)), "y": float_, "n": whole},
        {"x": whole, "y": whole, "n": whole},
        {"x": Array("float32", (3, 4)), "y": Array("float32", (4,)), "n": whole},
        {"x": Array("float64", (Sym("a", 0, True),)), "y": Array("float64", (Sym("b", 0, True),)),
         "n": whole},
    ]  # fmt: skip
    function = lowered(measured)
    for params in (*asked, *reversed(asked)):
        assert infer(function, params) == infer(lowered(measured), params)


N, M = Sym("n", 0, True), Sym("m", 0, True)


def infer_for(function, **arguments):
    return infer(lowered(function), {n: kind_of(v, n) for n, v in arguments.items()})


def test_dimensions_of_a_layer():
    def layer(w, b, x):
        h = np.tanh(x @ w + b)
        loss = np.mean(h)
        return loss

    kinds = infer_for(layer, w=np.ones((3, 4)), b=np.ones(4), x=np.ones((5, 3)))
    assert kinds["h"] == Array("float64", (Sym("x.0", 0, True, 4), Sym("w.1", 0, True, 4)))
    assert kinds["loss"] == Scalar("float64", False)
    # `x @ w` says that these are equal, `... + b` that those are.
    assert kinds["w"].dims[0] == kinds["x"].dims[1]
    assert same_shape(kinds["b"], Array("float64", kinds["h"].dims[1:]))


def test_equalities_are_learnt_only_from_what_always_runs():
    def sometimes(x, y, flag):
        z = 0.0
        if flag:
            z = np.sum(x * y)
        return z

    kinds = infer_for(sometimes, x=np.ones(3), y=np.ones(3), flag=True)
    assert kinds["x"].dims != kinds["y"].dims


def test_slices_are_shorter_by_a_constant():
    def slices(u):
        a = u[1:-1]
        b = u[:-2] + u[2:]
        n = len(u)
        c = u[1 : n - 1]
        d = u[::2]
        e = u[:3]
        f = u[::-1]
        g = np.zeros(n + 1)
        return a, b, c, d, e, f, g

    kinds = infer_for(slices, u=np.ones(3))
    assert {kinds[n].dims for n in "abc"} == {(Sym("u.0", -2, False, 2),)}
    assert kinds["f"].dims == kinds["u"].dims
    assert kinds["g"].dims == (Sym("u.0", 1, True, 2),)
    assert kinds["d"].dims != kinds["e"].dims


def test_the_inside_of_a_long_array_is_not_one_element():
    def inside(u, f):
        a = u[1:-1] + f[1:-1]
        b = u[1:-2] + f[1:-2]
        return a, b

    kinds = infer_for(inside, u=np.ones(4), f=np.ones(5))
    assert kinds["a"].dims == (Sym("u.0", -2, True, 4),)
    assert not kinds["b"].dims[0].big


def test_lengths_inside_a_loop_end_with_the_iteration():
    def loop(x, n):
        last = x
        total = 0.0
        for i in range(n):
            t = x[: i + 1]
            u = t * 2.0
            total = total + np.sum(last) + np.sum(u)
            last = t
        return total

    kinds = infer_for(loop, x=np.ones(4), n=3)
    assert same_shape(kinds["t"], kinds["u"])
    assert not same_shape(kinds["t"], kinds["last"])
    assert kinds["last"].dims == (None,)


def test_lists_are_known_by_where_they_were_made():
    def stack(x):
        kept = []
        other = kept
        for k in range(3):
            other.append(x * k)
        y = kept.pop()
        return y

    kinds = infer_for(stack, x=np.ones((2, 1)))
    assert kinds["y"] == kinds["x"]
    assert isinstance(kinds["kept"], List)
    assert kinds["kept"].item == kinds["x"]


def test_dicts_by_key():
    def pick(p, x):
        h = x @ p["w"]
        p["h"] = h
        q = p["h"]
        return q

    kinds = infer_for(pick, p={"w": np.ones((2, 3))}, x=np.ones(2))
    assert kinds["q"] == Array("float64", (Sym("p['w'].1", 0, True, 2),))


def test_dtypes_follow_numpy():
    def dtypes(x, n):
        a = x * 2.0
        b = x * np.float64(2.0)
        c = x > 0
        d = np.argmax(x)
        e = n / 2
        f = x.astype(np.float64)
        g = np.exp(1j * x)
        return a, b, c, d, e, f, g

    kinds = infer_for(dtypes, x=np.ones(3, np.float32), n=3)
    assert [kinds[n].dtype for n in "abcdefg"] == [
        "float32", "float64", "bool", "int64", "float64", "float64", "complex64",
    ]  # fmt: skip


def test_squeezing_a_length_that_may_be_one_loses_the_rank():
    def squeezed(x):
        return np.squeeze(x[1:]), np.squeeze(x)

    function = lowered(squeezed)
    kinds = infer(function, {"x": kind_of(np.ones((2, 3)), "x")})
    results = [kinds[n] for n in kinds if n != "x"]
    assert Array("float64", None) in [Array(k.dtype, k.dims) for k in results]
    assert kinds["x"] in results


def test_lengths_that_follow_from_numbers_are_not_those_of_one_try():
    sigma, known = kind_of(0.5, "sigma"), Scalar("float64", True, 0.8)
    others = Scalar("int64", True, 1), Scalar("float64", True, 4.0)
    assert call_kind(gaussian_weights, (sigma, *others), (), False) == Array("float64", (None,))
    assert call_kind(gaussian_weights, (known, *others), (), False) == Array("float64", (7,))


@pytest.mark.parametrize("dim", [1, 4, None, Sym("n")])
def test_axes_padded_by_a_number_that_is_not_known(dim):
    """The rank is known, and the lengths of the axes that are not padded."""
    n, none = Scalar("int64", True), Scalar("int64", True, 0)
    x = Array("float64", (dim, dim, 6))
    pads = Tuple((Tuple((n, n)), Tuple((n, none)), Tuple((none, none))))
    assert call_kind(np.pad, (x, pads), (), False) == Array("float64", (None, None, 6))
    assert call_kind(np.pad, (Array("float64", (dim,)), n), (), False) == Array("float64", (None,))


def test_nothing_with_an_effect_is_called():
    calls = []

    def noisy(x):
        calls.append(x)
        return x

    def program(x):
        print("never")
        y = noisy(x)
        return y

    assert infer_for(program, x=np.ones(3))["y"] == UNKNOWN
    assert calls == []


class OwnFloat(float):
    pass


class OwnArray(np.ndarray):
    pass


class OwnTuple(tuple):
    pass


class SaysYes(type):
    def __instancecheck__(cls, other):
        return True


class Anything(metaclass=SaysYes):
    pass


Pair = collections.namedtuple("Pair", "a b")
VALUES = (
    1.5, 2, True, 1j, np.float64(1.5), np.float32(1.5), np.int64(3), np.int8(3), np.bool_(True),
    np.complex64(1j), np.ones(2), np.array(2.0), np.ones((2, 0), np.float32), "text", None, [1.0],
    (1.0, 2), {"a": 1.0}, range(3), slice(2), OwnFloat(2.0), np.ones(2).view(OwnArray),
    OwnTuple((1.0,)), Pair(1.0, 2.0), collections.OrderedDict(a=1.0),
    collections.defaultdict(float, a=1.0), np.sin, Anything(),
)  # fmt: skip
CLASSES = (
    int, float, complex, bool, str, list, tuple, dict, object, type(None), range, np.ndarray,
    np.memmap, np.generic, np.number, np.floating, np.integer, np.float64, np.float32, np.int8,
    numbers.Number, numbers.Real, numbers.Integral, collections.abc.Sequence, Anything,
    collections.abc.Iterable, collections.OrderedDict, decimal.Decimal, OwnFloat, OwnArray,
    OwnTuple, Pair, (int, float), (list, np.ndarray), (float, np.floating), (OwnFloat, int),
)  # fmt: skip
KNOWN = ((1.5, float), (1.5, np.ndarray), (2, (int, float)), (np.ones(2), np.ndarray),
         (np.ones(2), (int, float)), (np.ones(2), list), ([1.0], list), ([1.0], np.ndarray),
         (np.float64(1.5), float), (True, int), ("text", str), (None, np.ndarray))  # fmt: skip


def answered(question, *args):
    """What is known of the answer to a question about values; None if nothing is."""
    return known_truth(call_kind(question, tuple(kind_of(a, "x") for a in args), (), False))


@pytest.mark.parametrize("value", VALUES, ids=lambda v: type(v).__name__)
def test_what_kinds_answer_is_true(value):
    for cls in CLASSES:
        assert answered(isinstance, value, cls) in (None, isinstance(value, cls)), cls
    assert answered(np.isscalar, value) in (None, np.isscalar(value))
    assert answered(operator.is_, value, None) in (None, value is None)
    for name in ("shape", "__len__", "filename", "tolist", "a", "is_integer", "fields"):
        found = call_kind(hasattr, (kind_of(value, "x"), Text(name)), (), False)
        assert known_truth(found) in (None, hasattr(value, name)), name


def test_kinds_answer_what_is_asked_most():
    for value, cls in KNOWN:
        assert answered(isinstance, value, cls) is isinstance(value, cls), (value, cls)
    assert answered(np.isscalar, 1.5) and answered(np.isscalar, np.ones(2)) is False
    assert answered(isinstance, np.ones(2), Anything) is None
    array = kind_of(np.ones(2), "x"), kind_of(np.ndarray, "c")
    assert known_truth(call_kind(isinstance, array, (), True)) is None  # it may be one of CuPy


def rank_decides(x):
    y = x
    for _ in range(3):
        if y.ndim == 1 and isinstance(y, np.ndarray):
            y = y[None, :]
        elif y.ndim > 2:
            y = "never"
    return np.sum(y) if hasattr(y, "shape") else y


def test_what_no_argument_reaches_counts_for_nothing():
    x = kind_of(np.ones((2, 3)), "x")
    assert infer(lower(parse(rank_decides)), {"x": x})["y"] == x
    text = srcdiff.source(rank_decides, example=(np.ones((2, 3)),))
    assert "if y" not in text and "never" not in text and "np.full(y.shape, grad_outputs)" in text
    assert "never" in srcdiff.source(rank_decides, example=(np.ones(3),))
