"""The other derivatives of functions of CuPy arrays on the stand-in, against those of NumPy."""

import numpy as np
import pytest

import srcdiff
from tests.standin import Device
from tests.standin.corpus import to_device, to_host
from tests.support.cupy_models import models

MODELS = models()
SCALAR = [n for n in MODELS if n != "attention"]
SMOOTH = [n for n in SCALAR if n not in ("mlp", "chosen", "until")]


@pytest.fixture(scope="module")
def device():
    made = Device()
    with made.installed():
        yield made


def both(device, name, compute):
    """What `compute(function, args, move)` gives for NumPy and on the stand-in."""
    model = MODELS[name]
    host = compute(model.function, list(model.args), lambda x: x)
    move = lambda x: to_device(x, device)  # noqa: E731
    there = compute(model.on(device.cupy), [move(a) for a in model.args], move)
    return host, to_host(there)


def same(one, other):
    if isinstance(one, (tuple, list)):
        assert len(one) == len(other)
        for x, y in zip(one, other):
            same(x, y)
    elif one is not None:
        np.testing.assert_allclose(other, one, rtol=1e-10, atol=1e-12)


def ways(model, seed=3):
    rng = np.random.default_rng(seed)
    names = model.function.__code__.co_varnames
    return [
        (rng.normal(size=a.shape) if isinstance(a, np.ndarray) else rng.normal())
        if n in model.inputs else None
        for n, a in zip(names, model.args)
    ]  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_jvp(device, name):
    def compute(f, args, move):
        along = srcdiff.jvp(f, unused="zeros")
        return along(*args, tangents=tuple(map(move, ways(MODELS[name]))))

    same(*both(device, name, compute))


@pytest.mark.parametrize("name", MODELS)
def test_vjp(device, name):
    def compute(f, args, move):
        value, pull = srcdiff.vjp(f, inputs=MODELS[name].inputs, unused="zeros")(*args)
        seed = move(np.cos(np.arange(float(np.size(to_host(value)))).reshape(value.shape)))
        return value, pull(seed), pull(2.0 * seed)

    same(*both(device, name, compute))


@pytest.mark.parametrize("name", MODELS)
def test_batched(device, name):
    def compute(f, args, move):
        shape = np.shape(to_host(f(*args))) if name == "attention" else ()
        seeds = move(np.cos(np.arange(3.0 * np.prod(shape, dtype=int)).reshape(3, *shape)))
        g = srcdiff.grad(f, MODELS[name].inputs, is_grads_batched=True)
        return g(*args, grad_outputs=seeds)

    same(*both(device, name, compute))


@pytest.mark.parametrize("name", SMOOTH)
def test_second_order(device, name):
    def compute(f, args, move):
        model = MODELS[name]
        k = model.function.__code__.co_varnames.index(model.inputs[0])
        return (
            srcdiff.hvp(f, tuple(args), move(ways(model)[k]), inputs=k),
            srcdiff.hessian(f, k)(*args),
        )

    same(*both(device, name, compute))


@pytest.mark.parametrize("name", ["attention", "running", "methods", "blurred"])
def test_jacobian(device, name):
    def compute(f, args, move):
        return [
            srcdiff.jacobian(f, MODELS[name].inputs, mode=m)(*args) for m in ("reverse", "forward")
        ]

    same(*both(device, name, compute))


def body(x, w):
    return np.tanh(x @ w)


def checkpointed(x, w):
    run = srcdiff.checkpoint(body)
    return np.sum(run(run(x, w), w) ** 2)


def test_checkpoint(device):
    x, w = np.cos(np.arange(6.0)).reshape(2, 3), np.sin(np.arange(9.0)).reshape(3, 3)
    g = srcdiff.grad(checkpointed, ("x", "w"))
    expected = g(x, w)
    found = g(to_device(x, device), to_device(w, device))
    same(expected, to_host(found))
