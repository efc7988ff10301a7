"""Generated source for CuPy is compared as text, and the text is executed on the stand-in."""

import re

import numpy as np
import pytest

import srcdiff
from tests.corpus.test_golden import UGLY
from tests.golden_update import CUPY
from tests.standin import Device
from tests.standin.corpus import to_device, to_host
from tests.support import structures as st
from tests.support.cupy_models import models
from tests.support.differences import difference

MODELS = models()
HOST = {"attention": ["np.sqrt(q.shape[-1])"], "likelihood": []}
"""What stays NumPy's: it is computed from numbers of the host, by the function as well."""


@pytest.fixture(scope="module")
def device():
    made = Device()
    with made.installed():
        yield made


def kept(name):
    return (CUPY / f"{name}.py").read_text()


@pytest.mark.parametrize("name", MODELS)
def test_text(name):
    """`make golden` rewrites the files: read the difference as a reviewer would."""
    assert MODELS[name].text == kept(name)


@pytest.mark.parametrize("name", MODELS)
def test_text_is_for_the_device(name):
    text = re.sub(r'""".*?"""', "", kept(name), flags=re.S)
    assert re.findall(r"\bnp\.[\w.]+\([^()]*\)", text) == HOST.get(name, [])
    assert not re.search(r"\.get\(\)|asnumpy|\.item\(|\.tolist\(|\bbool\(", text)
    loops = re.findall(r"^ *(?:for|while)\b", text, flags=re.M)
    assert len(loops) == (2 if name in ("heat", "until") else 0)
    assert not [line for line in text.splitlines() if UGLY.search(line) and "_t" not in line]
    assert all(len(line) <= 100 for line in text.splitlines())


@pytest.mark.parametrize("name", MODELS)
def test_text_runs(device, name):
    """The text gives NumPy's gradients, and those of differences, and moves nothing."""
    model = MODELS[name]
    function = model.on(device.cupy)
    args = [to_device(a, device) for a in model.args]
    seed = np.random.default_rng(1).normal(size=np.shape(model.function(*model.args)))
    g = srcdiff.grad(function, model.wanted)
    g(*args, grad_outputs=device.array(seed))
    assert g.source.rstrip() + "\n" == kept(name)
    before = device.transfers
    found = g(*args, grad_outputs=device.array(seed))
    moved = device.transfers - before - sum(type(x) is float for x in st.leaves(found))
    assert moved == loop_tests(*model.args) if name == "until" else moved == 0
    check(model, [found] if len(model.inputs) == 1 else found, seed)


def loop_tests(y, tol):
    """How often the loop asks whether it goes on."""
    count = 1
    while np.sum(y * y) > tol:
        y, count = 0.5 * y * np.cos(y), count + 1
    return count


def check(model, found, seed):
    """Gradients against those of NumPy, and against differences along a direction."""
    expected = srcdiff.grad(model.function, model.inputs)(*model.args, grad_outputs=seed)
    found = [to_host(x) for x in found]
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-13)
    rng = np.random.default_rng(2)
    names = model.function.__code__.co_varnames
    way = {n: rng.normal(size=np.shape(model.args[names.index(n)])) for n in model.inputs}

    def along(t):
        args = [a + t * way[n] if n in way else a for n, a in zip(names, model.args)]
        return float(np.sum(seed * model.function(*args)))

    slope, error = difference(along)
    total = sum(np.sum(g * way[n]) for g, n in zip(found, model.inputs))
    assert abs(total - slope) <= 1e-7 * max(1.0, abs(slope)) + 10 * error


def test_no_file_is_left_over():
    assert {p.stem for p in CUPY.glob("*.py")} == set(MODELS)
