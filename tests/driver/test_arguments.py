"""One derivative called with arguments of many kinds, in turn: each has its own generated code."""

import decimal
import enum
import fractions
import itertools

import numpy as np
import pytest

import srcdiff

X = np.array([0.3, 0.7, 1.1])
READ_ONLY = X.copy()
READ_ONLY.flags.writeable = False


def mixed(x, y=None, n=2):
    """Uses what differs between kinds: truth, length, in-place operators, powers, broadcasting."""
    z = x * 1.0
    z += x
    if y is not None:
        z = z * y
    return z**n


INPUTS = {
    "float": 2.0,
    "float64": np.float64(2.0),
    "float32": np.float32(2.0),
    "float16": np.float16(2.0),
    "complex": 2.0 + 1.0j,
    "complex64": np.complex64(2.0 + 1.0j),
    "rank 0": np.array(2.0),
    "rank 0, float32": np.array(2.0, np.float32),
    "rank 0, complex": np.array(2.0 + 1.0j),
    "float64s": X,
    "float32s": X.astype(np.float32),
    "long doubles": X.astype(np.longdouble),
    "complexes": X + 1.0j,
    "one": X[:1],
    "none": X[:0],
    "rank 2": np.outer(X, X),
    "a row": X[None, :],
    "strided": np.arange(6.0)[::2],
    "reversed": X[::-1],
    "Fortran": np.asfortranarray(np.outer(X, X)),
    "spread": np.broadcast_to(np.array(2.0), (3,)),
    "read-only": READ_ONLY,
    "big-endian": X.astype(">f8"),
    "big-endian float32": X.astype(">f4"),
}
OTHERS = {
    "None": None,
    "int": 2,
    "float": 2.0,
    "bool": True,
    "complex": 1.5 + 1.0j,
    "uint8s": np.arange(3, dtype=np.uint8),
    "bools": np.array([True, False, True]),
    "array": X,
    "float32s": X.astype(np.float32),
    "column": X[:, None],
    "rank 0": np.array(2.0),
    "enum": enum.IntEnum("Number", "ONE TWO").TWO,
}
G = srcdiff.grad(mixed)


def expected_type(x):
    """What the gradient of an input is: numbers for numbers, arrays for arrays."""
    return (type(x), getattr(x, "dtype", np.dtype(type(x))).newbyteorder("="), np.shape(x))


def called(x, y, n):
    """The gradient for a cotangent of ones, and what it should be."""
    args = (x, y, n)
    with np.errstate(all="ignore"):
        out = mixed(*args)
        ones = np.ones(np.shape(out), np.result_type(np.asarray(out).dtype, np.float16))
        found = G(*args, grad_outputs=ones if np.ndim(out) else ones[()])
        factor = 1.0 if y is None else np.asarray(y).astype(np.result_type(y, 1.0))
        wide = np.asarray(x).astype(np.result_type(np.asarray(x).dtype, np.float64))
        slope = np.conj(n * (2.0 * wide * factor) ** (n - 1) * 2.0 * factor) * ones
    if np.ndim(slope) > np.ndim(x):
        slope = slope.sum(axis=tuple(range(np.ndim(slope) - np.ndim(x))))
    for axis, (have, want) in enumerate(zip(np.shape(slope), np.shape(x), strict=True)):
        if have != want:
            slope = slope.sum(axis=axis, keepdims=True)
    return found, slope if np.iscomplexobj(x) else np.real(slope)


@pytest.mark.parametrize("name", INPUTS)
def test_inputs_and_other_arguments(name):
    x = INPUTS[name]
    for (other, y), n in itertools.product(OTHERS.items(), (2, 2.0)):
        if type(n) is float and other not in ("None", "float"):
            continue
        if name == "none" and np.size(y) > 1:
            continue
        before = np.array(x)
        found, expected = called(x, y, n)
        assert (type(found), np.asarray(found).dtype.newbyteorder("="), np.shape(found)) == (
            expected_type(x)
        ), (other, n)
        low = expected_type(x)[1].itemsize < 8 or (y is not None and np.result_type(x, y).itemsize)
        np.testing.assert_allclose(
            found, expected, rtol=2e-2 if "16" in name else 1e-4 if low else 1e-12, atol=1e-6
        )
        np.testing.assert_array_equal(x, before)


def test_memory_mapped_arrays(tmp_path):
    x = np.memmap(tmp_path / "x", dtype=float, mode="w+", shape=(3,))
    x[:] = X
    y = np.memmap(tmp_path / "x", dtype=float, mode="r", shape=(3,))
    g = srcdiff.grad(lambda x, y: np.sum(x * y * x), (0, 1))
    for args in ((x, y), (X, y), (x, X)):
        for found, expected in zip(g(*args), (2.0 * X * X, X * X), strict=True):
            np.testing.assert_allclose(found, expected)


def test_lengths_of_containers():
    def total(xs, ys):
        t = 0.0
        for k, x in enumerate(xs):
            t = t + len(xs) * np.sum(x) * (k + 1)
        return t * len(ys)

    g = srcdiff.grad(total)
    shapes = ([1.0], [1.0, X], (1.0, X), [X, 1.0], [], [1.0, X, 2.0], {"never": 0.0})
    for xs, ys in itertools.product(shapes[:-1], ([], [1], {"a": 1})):
        if xs:
            count = len(xs) * len(ys)
            for k, (x, d) in enumerate(zip(xs, g(xs, ys), strict=True)):
                np.testing.assert_allclose(d, np.full(np.shape(x), count * (k + 1.0)))
                assert type(d) is type(x)
            assert type(g(xs, ys)) is type(xs)


class Sub(np.ndarray):
    """An array that could do anything."""


REFUSED = {
    "int": (2, "dtype int64"),
    "bool": (True, "dtype bool"),
    "ints": (np.arange(3), "dtype int64"),
    "bools": (np.array([True]), "dtype bool"),
    "dates": (np.array(["2000"], "M8[D]"), "dtype datetime64"),
    "nothing": (None, "type NoneType"),
    "text": ("a", "type str"),
    "set": ({1.0}, "type set"),
    "range": (range(3), "type range"),
    "generator": ((v for v in [1.0]), "type generator"),
    "fraction": (fractions.Fraction(1, 2), "type Fraction"),
    "decimal": (decimal.Decimal(1), "type Decimal"),
    "matrix": (X.view(np.matrix), r"`x` is a np.matrix.*np.asarray\(x\)"),
    "masked": (np.ma.array([1.0, 2.0], mask=[0, 1]), "`x` is a masked array.*filled"),
    "subclass": (X.view(Sub), r"`x` is of class Sub.*np.asarray\(x\)"),
    "records": (np.rec.array([(1.0,)], dtype=[("a", float)]), "`x` is of class recarray"),
    "fields": (np.zeros(2, [("a", float)]), "array with fields"),
    "objects": (np.array([1.0, 2.0], object), "array of Python objects"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_input(name):
    value, message = REFUSED[name]
    for derivative in (srcdiff.grad(mixed), srcdiff.grad(srcdiff.grad(mixed))):
        with pytest.raises(srcdiff.errors.DtypeError, match=message):
            derivative(value)
    with pytest.raises(srcdiff.errors.DtypeError, match=message):
        srcdiff.vjp(mixed, value, inputs=0)


MASKED = np.ma.array([1.0, 2.0, 5.0], mask=[0, 1, 0])


@pytest.mark.parametrize("y", [MASKED, X.view(np.matrix), [1.0, {"a": X.view(Sub)}]])
def test_refused_argument(y):
    """Also where the derivative does not go to: `np.sum` would leave out what is masked."""
    with pytest.raises(srcdiff.errors.DtypeError, match=r"`y(\[1\]\['a'\])?` is "):
        srcdiff.grad(lambda x, y: np.sum(x * y))(X, y)


class Converted:
    """What NumPy makes an array of, as many packages have it."""

    def __init__(self):
        self.data = np.arange(3.0)

    def __array__(self, dtype=None, copy=None):
        raise AssertionError("compiling runs nothing of the user's")


class Column(Converted):
    __module__ = "frames.core"

    def to_numpy(self):
        return self.data


class Tensor(Converted):
    __module__ = "tensors"

    def detach(self):
        return self


class Quantity:
    __module__ = "units"

    def __array_ufunc__(self, *args, **kwargs):
        raise AssertionError("compiling runs nothing of the user's")


PACKAGES = {
    "column": (Column(), r"`%s` is a frames Column, no array of NumPy: pass `%s\.to_numpy\(\)`"),
    "tensor": (Tensor(), r"`%s` is a tensors Tensor.*: pass `%s\.detach\(\)\.numpy\(\)`"),
    "quantity": (Quantity(), r"`%s` is an? units Quantity.*: pass `np\.asarray\(%s\)`"),
}
ENTRIES = {
    "grad": lambda f, x: srcdiff.grad(f)(x),
    "value_and_grad": lambda f, x: srcdiff.value_and_grad(f)(x),
    "vjp": srcdiff.vjp,
    "run": srcdiff.autograd.run,
    "jvp": lambda f, x: srcdiff.jvp(f, (x,), (np.ones(3),)),
    "jacobian": lambda f, x: srcdiff.jacobian(f)(x),
    "hessian": lambda f, x: srcdiff.hessian(f)(x),
    "hvp": lambda f, x: srcdiff.hvp(f, (x,), np.ones(3)),
    "backward": lambda f, x: srcdiff.backward(f)(x, into={}),
    "source": lambda f, x: srcdiff.source(f, example=(x,)),
    "generate": lambda f, x: srcdiff.aot.generate(f, example=(x,)),
}


@pytest.mark.parametrize("entry", ENTRIES)
@pytest.mark.parametrize("name", PACKAGES)
def test_arrays_of_other_packages(name, entry):
    value, message = PACKAGES[name]
    with pytest.raises(srcdiff.errors.DtypeError, match=message.replace("%s", "x")):
        ENTRIES[entry](lambda x: np.sum(x**2), value)


def test_arrays_of_other_packages_in_containers():
    with pytest.raises(srcdiff.errors.DtypeError, match=r"`d\['a'\]\[0\]` is a frames Column"):
        srcdiff.grad(lambda x, d: np.sum(x) * len(d))(X, {"a": [Column()]})


class Installed(Converted):
    """Of a package whose code nobody looks into."""

    __module__ = "xarray.core"


HELD = {"a": Installed()}
READ = Installed()


class Model:
    def __init__(self):
        self.table, self.masked, self.w = Installed(), MASKED, np.ones(3)

    def plain(self, x):
        return np.sum(x * self.w)

    def reads(self, x):
        return np.sum(x * self.table)

    def masks(self, x):
        return np.sum(x * self.masked)


def reads_held(x):
    return np.sum(x * HELD["a"])


def converts(x):
    return np.sum(x * np.asarray(READ))


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (Model().reads, r"`self\.table` is an xarray Installed.*pass `np.asarray\(self\.table\)`"),
        (Model().masks, r"`self\.masked` is a masked array"),
        (reads_held, r"a part of the expression is an xarray Installed"),
        (converts, r"`READ` is an xarray Installed"),
        (lambda x, held=READ: np.sum(x) * len(held), r"`held` is an xarray Installed"),
    ],
)
def test_arrays_of_other_packages_that_are_read(f, message):
    """With the line that reads it."""
    with pytest.raises(srcdiff.errors.DtypeError, match=message):
        srcdiff.grad(f)(X)


def test_arrays_of_other_packages_that_are_not_read():
    np.testing.assert_array_equal(srcdiff.grad(Model().plain)(X), np.ones(3))


def test_attributes_of_what_becomes_an_array():
    """Objects of the user's own classes that are read from outside are objects."""
    held = Converted()
    np.testing.assert_array_equal(srcdiff.grad(lambda x: np.sum(x * held.data))(X), held.data)


def test_refused_global():
    with pytest.raises(srcdiff.errors.DtypeError, match="`MASKED` is a masked array"):
        srcdiff.grad(lambda x: np.sum(x * MASKED))(X)
    with pytest.raises(srcdiff.errors.DtypeError, match="`MASKED` is a masked array"):
        srcdiff.vjp(lambda x: np.sum(x * MASKED), X)
