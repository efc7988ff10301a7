"""The corpus and the rules on a GPU, with CuPy: `pytest -m gpu`."""

import contextlib

import numpy as np
import pytest

from tests.corpus import test_cupy_models as modes
from tests.programs import PROGRAMS
from tests.rules import samples as rule_samples
from tests.standin import corpus, samples


def absent() -> str:
    """Why there is no GPU to test on, "" if there is one."""
    try:
        import cupy

        cupy.cuda.runtime.getDeviceCount()
    except Exception as error:  # no CuPy, no driver, no GPU: each has an error of its own
        return f"needs a GPU with CuPy: {type(error).__name__}"
    return ""


REASON = absent()
CORPUS = [None] if REASON else list(PROGRAMS)
SAMPLES = [None] if REASON else rule_samples.collected()
pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(bool(REASON), reason=REASON or "there is a GPU"),
    pytest.mark.filterwarnings("ignore"),
]


class Gpu:
    """CuPy as what the stand-in is: what goes to the host is not counted here."""

    transfers = 0

    @property
    def cupy(self):
        import cupy

        return cupy

    def array(self, value):
        import cupy

        return cupy.asarray(np.array(value))


@contextlib.contextmanager
def quiet():
    with np.errstate(all="ignore"):
        yield


@pytest.mark.parametrize("how", ["cp", "np", "kernels"])
@pytest.mark.parametrize("program", CORPUS, ids=lambda p: getattr(p, "name", "none"))
def test_program(program, how):
    compile = "cupy" if how == "kernels" else None
    with quiet():
        outcome = corpus.run(program, Gpu(), how == "np", compile)
    assert outcome.verdict not in ("wrong", "failed"), outcome.detail


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda s: getattr(s, "id", "none"))
def test_rule(sample):
    with quiet():
        outcome = samples.run(sample, Gpu())
    assert outcome.verdict not in ("wrong", "failed"), outcome.detail


@pytest.mark.parametrize("name", modes.MODELS)
def test_model(name):
    """The models of the golden texts: forward mode, pullbacks, batches, second derivatives."""
    gpu = Gpu()
    modes.test_jvp(gpu, name)
    modes.test_vjp(gpu, name)
    modes.test_batched(gpu, name)
    if name in modes.SMOOTH:
        modes.test_second_order(gpu, name)


def test_the_current_stream():
    """Work is issued on the stream that is current, and nothing waits for it."""
    import cupy

    import srcdiff

    g = srcdiff.grad(lambda x: np.sum(np.tanh(x) ** 2))
    x = cupy.arange(4.0)
    expected = g(x).get()
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        found = g(x)
    stream.synchronize()
    assert np.array_equal(found.get(), expected)
