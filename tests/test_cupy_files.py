"""Files for arrays of CuPy, on the stand-in: they import CuPy, and give what NumPy gives."""

import numpy as np
import pytest
import scipy.special

import srcdiff
from srcdiff.errors import DtypeError

from .programs import GOLDEN
from .standin import Device
from .standin.corpus import to_host

X = np.array([0.3, 1.2, -0.4, 0.7])
TABLE = np.array([1.0, 2.0, 3.0, 4.0])
PROGRAMS = ["cross_entropy", "heat", "mlp", "view_chain", "kepler"]


@pytest.fixture(scope="module")
def device():
    made = Device()
    with made.installed():
        yield made


def typed(x: np.ndarray, k: float):
    return np.sum(scipy.special.erf(x) ** 2) * np.sqrt(k)


def written(x, y):
    x[1:] += y[:-1]
    return np.max(x * y)


def looked_up(x):
    return np.sum(TABLE * x)


def on_device(device, value):
    if isinstance(value, np.ndarray):
        return device.cupy.asarray(value)
    return [on_device(device, v) for v in value] if isinstance(value, list) else value


def check(device, f, args, inputs=0, **options):
    """The file gives what the gradient in memory gives for NumPy."""
    text = srcdiff.generate(f, inputs=inputs, example=args, backend="cupy", **options)
    space = {"__name__": "alone"}
    exec(compile(text, "alone.py", "exec"), space)
    value, pull = srcdiff.vjp(f, *args, inputs=inputs)
    seed = [np.ones_like(v) for v in value] if isinstance(value, tuple) else np.ones_like(value)
    expected = pull(seed)
    given = [on_device(device, a) for a in args]
    cotangent = {} if np.ndim(value) == 0 and not isinstance(value, tuple) else {
        "grad_outputs": on_device(device, seed)
    }
    found = space[f"{f.__name__}_grad"](*given, **cotangent)
    pairs = zip(found, expected) if isinstance(expected, tuple) else [(found, expected)]
    for one, other in pairs:
        np.testing.assert_allclose(to_host(one), other, rtol=1e-13)
    return text


@pytest.mark.parametrize("f, args", [(typed, (X, 2.0)), (written, (X, X + 1.0))])
def test_file(device, f, args):
    text = check(device, f, args)
    assert "import cupy as cp\n" in text and "cp." in text
    if f is typed:
        assert "x: cp.ndarray" in text or "import numpy as np" in text
    else:
        assert "numpy" not in text.partition("__all__")[2] and "import numpy" not in text


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(device, name):
    p = next(p for p in GOLDEN if p.function.__name__ == name)
    args = tuple(p.arguments())
    text = check(device, p.function, args, p.inputs)
    assert "import numpy" not in text


def test_forward_mode(device):
    text = srcdiff.generate(written, mode="forward", example=(X, X), backend="cupy")
    space = {}
    exec(text, space)
    x, y, t = (device.cupy.asarray(v) for v in (X, X + 1.0, TABLE))
    value, tangent = space["written_jvp"](x, y, t)
    expected = srcdiff.jvp(written, (X, X + 1.0), (TABLE, None))
    np.testing.assert_allclose([to_host(value), to_host(tangent)], expected, rtol=1e-13)


def order(x):
    return flat(x, 2) + np.arange(len(x))


def flat(x, n):
    return np.zeros(len(x)) if n <= 0 else flat(x, n - 1)


def ordered(x):
    return np.sum(order(x) * x)


def test_functions_of_the_users_are_copied(device):
    """What calls NumPy by its name would make arrays of NumPy where it is imported from."""
    text = check(device, ordered, (X,))
    assert "import numpy" not in text and "test_cupy_files import" not in text


def test_arguments_are_arrays_of_cupy(device):
    text = srcdiff.generate(written, example=(X, X), backend="cupy")
    space = {}
    exec(text, space)
    with pytest.raises(TypeError, match="x: `written_grad` was generated for an array of float64"):
        space["written_grad"](X, X + 1.0)


def test_what_is_refused():
    with pytest.raises(DtypeError, match="`TABLE` is an array of NumPy"):
        srcdiff.generate(looked_up, example=(X,), backend="cupy")
    with pytest.raises(ValueError, match="backend: expected 'numpy' or 'cupy', given 'jax'"):
        srcdiff.generate(written, backend="jax")
    with pytest.raises(ValueError, match="verify: derivatives for CuPy are not compared"):
        srcdiff.generate(written, backend="cupy", example=(X, X), verify=True)
    with pytest.raises(ValueError, match="Numba compiles for NumPy"):
        srcdiff.generate(written, backend="cupy", example=(X, X), compile="numba")
