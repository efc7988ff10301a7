"""The stand-in for CuPy itself: what moves a value to the host is counted, or an error."""

import math
import operator

import numpy as np
import pytest

from tests.standin import Device, TransferError


@pytest.fixture(scope="module")
def device():
    made = Device()
    with made.installed():
        yield made


MOVES = {
    "float": float,
    "int": lambda x: int(x),
    "complex": complex,
    "bool": bool,
    "if": lambda x: 1 if x else 2,
    "while": lambda x: next(iter(()), None) if not x else None,
    "and": lambda x: x and 1.0,
    "not": operator.not_,
    "comparison in a test": lambda x: 1 if x > 0.5 else 2,
    "item": lambda x: x.item(),
    "tolist": lambda x: x.tolist(),
    "get": lambda x: x.get(),
    "math": math.sin,
    "slice of the device": lambda x: x.reshape(1)[: x.astype(int)],
    "max": lambda x: max(x, 0.0),
    "in": lambda x: x in [2.0],
    "text": lambda x: f"{x}",
    "number of a format": lambda x: f"{float(x):.3f}",
    "str": str,
}
REFUSED = {
    "range": lambda x: range(x.astype(int)),
    "index of a list": lambda x: [1.0, 2.0][x.astype(int)],
    "slice of the host": lambda x: np.ones(3)[: x.astype(int)],
    "asarray": np.asarray,
    "array": lambda x: np.array(x),
    "array of a list": lambda x: np.array([x, x]),
    "item of an array of the host": lambda x: np.ones(1).__setitem__(slice(None), x.reshape(1)),
    "operand of the host": lambda x: x + np.ones(2),
    "operand on the left": lambda x: np.ones(2) * x,
    "argument of the host": lambda x: np.add(x, np.ones(2)),
    "store of the host": lambda x: x.reshape(1).__setitem__(0, np.ones(1)),
}
_MESSAGES = "Implicit conversion|Unsupported type|integer|slice indices"
STAYS = {
    "len": lambda x: len(x.reshape(1)),
    "shape": lambda x: x.shape,
    "iteration": lambda x: list(x.reshape(1)),
    "item of it": lambda x: x.reshape(1)[0],
    "operators": lambda x: -x * 2.0 + x**2 > 1.0,
    "in place": lambda x: operator.iadd(x, 1.0),
    "NumPy's function": lambda x: np.sin(x),
    "is None": lambda x: x is None,
    "isinstance": lambda x: isinstance(x, np.ndarray),
    "dtype": lambda x: x.dtype == np.float64,
    "where": lambda x: np.where(x > 0.5, x, 0.0),
}


@pytest.mark.parametrize("how", MOVES)
def test_what_moves_a_value(device, how):
    x = device.array(1.0)
    before = device.transfers
    MOVES[how](x)
    assert device.transfers == before + 1
    with device.without_transfers(), pytest.raises(TransferError, match="moves a value"):
        MOVES[how](x)


@pytest.mark.parametrize("how", REFUSED)
def test_what_is_refused(device, how):
    with pytest.raises(TypeError, match=_MESSAGES):
        REFUSED[how](device.array(1.0))


@pytest.mark.parametrize("how", STAYS)
def test_what_stays(device, how):
    before = device.transfers
    with device.without_transfers():
        STAYS[how](device.array(1.0))
    assert device.transfers == before


def test_allocations_are_counted(device):
    x = device.array(np.ones(3))
    before = device.allocations
    y = x + 1.0
    y[1:] *= 2.0
    assert device.allocations == before + 1  # a view is none


STRICT = {
    "complex add.at": lambda cp, x: cp.add.at(x + 0j, cp.array([0, 0]), 1.0),
    "subtract.at": lambda cp, x: cp.subtract.at(x, cp.array([0, 0]), 1.0),
    "NumPy's add.at": lambda cp, x: np.add.at(x, cp.array([0, 0]), 1.0),
    "size of a number": lambda cp, x: cp.size(1.0),
    "dot of a number": lambda cp, x: x.dot(2.0),
    "matrix of coefficients": lambda cp, x: cp.polyval(x.reshape(1, 3), x),
    "stacks": lambda cp, x: cp.linalg.solve(cp.ones((2, 3, 3)), cp.ones((3, 2))),
    "widths in a dict": lambda cp, x: cp.pad(x, {0: 1}),
    "no axes": lambda cp, x: cp.tensordot(x[0], x, ([], [])),
    "columns without axes": lambda cp, x: cp.column_stack([x, x[0]]),
    "order of arguments": lambda cp, x: cp.histogram2d(x, x, 2, None, None, x),
}


@pytest.mark.parametrize("how", STRICT)
def test_what_only_numpy_takes(device, how):
    with pytest.raises((TypeError, ValueError)):
        STRICT[how](device.cupy, device.array(np.arange(1.0, 4.0)))


def test_what_differs_in_value(device):
    cp, x = device.cupy, device.array(np.zeros(2))
    cp.maximum.at(x, cp.array([0, 0]), 0.1)
    assert x.held[0] == np.float32(0.1)  # CuPy compares as float32
    x[cp.array([1, 1])] = device.array(np.array([3.0, 4.0]))
    assert x.held[1] == 3.0  # not the last one
    a = np.diag([1.0, 2.0])
    assert np.any(cp.linalg.eigh(device.array(a))[1].held != np.linalg.eigh(a)[1])
