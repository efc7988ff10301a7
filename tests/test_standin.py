"""The stand-in for CuPy itself: what moves a value to the host is counted, or an error."""

import math
import operator

import numpy as np
import pytest

from .standin import Device, TransferError


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
