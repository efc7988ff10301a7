"""The benchmark's programs compute the same in every form, and its judge sees what is wrong."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from tests.standin import Device

from . import memory, tables
from .compare import Cell, compare, geometric_means
from .programs import loops
from .rivals import ON_CPU, ON_GPU, NotWrittenError, Rival

HERE = tuple(r for r in ON_CPU if r.name in ("function", "srcdiff", "by hand"))
COMPILED = tuple(r for r in ON_CPU if r.name in ("srcdiff", "by hand, Numba"))
NUMBA = tuple(r for r in ON_CPU if r.name in ("srcdiff", "srcdiff, compiled"))


def failures(name, rivals):
    """What fails but what is not written."""
    cells = compare(loops.PROGRAMS[name], "small", rivals, is_timed=False)
    assert [c.rival for c in cells] == [r.name for r in rivals]
    return [c for c in cells if c.failure not in (None, "not written")]


@pytest.mark.parametrize("name", loops.PROGRAMS)
def test_gradients_are_those_of_differences_and_of_hand(name):
    assert not failures(name, HERE)


@pytest.mark.parametrize("name", loops.PROGRAMS)
def test_loops_by_hand_are_right(name):
    pytest.importorskip("numba")
    assert not failures(name, COMPILED)


@pytest.mark.parametrize("name", ("go_fast", "seidel_2d", "trisolv"))
def test_compiled_gradients_are_right(name):
    pytest.importorskip("numba")
    assert not failures(name, NUMBA)


@pytest.fixture(scope="module")
def device():
    """The stand-in for CuPy, with a stream that there is nothing to wait for."""
    made = Device()
    stream = SimpleNamespace(synchronize=lambda: None)
    made.cupy.cuda = SimpleNamespace(get_current_stream=lambda: stream)
    with made.installed():
        yield made


@pytest.mark.parametrize("name", loops.PROGRAMS)
def test_gradients_are_right_on_a_device(name, device):
    assert not failures(name, ON_GPU[:1])


def test_at_least_eight_are_written_by_hand():
    by_hand, by_hand_numba = ON_CPU[-2:]
    for rival in (by_hand, by_hand_numba):
        written = 0
        for program in loops.PROGRAMS.values():
            try:
                rival.make(program, program.arguments("small"))
            except NotWrittenError:
                continue
            except ImportError:
                pytest.skip("Numba is not installed")
            written += 1
        assert written >= 8


# --- the judge ------------------------------------------------------------------------------------


def rival(name, factor=1.0, error=None):
    """A gradient of the sum of squares, times a factor, or an error."""

    def make(program, args):
        if error:
            raise error
        (x,) = args
        return lambda: (np.sum(x * x), (2.0 * factor * x,))

    return Rival(name, make)


def judged(*rivals):
    """What fails of rivals, by name."""
    cells = compare(loops.SQUARES, "small", rivals, is_timed=False)
    return {c.rival: c.failure for c in cells}


def test_a_wrong_gradient_is_seen():
    found = judged(rival("right"), rival("wrong", 1.0 + 1e-6))
    assert found["right"] is None
    assert found["wrong"] == "wrong: the gradient by argument 0 is another than others"
    assert "differences" in judged(rival("wrong", 1.001))["wrong"]


def test_failures_are_shown():
    refuses, lacks = ValueError("no | such"), ImportError("x")
    rivals = (
        rival("right"), rival("refuses", error=refuses), rival("lacks", error=lacks),
        rival("unwritten", error=NotWrittenError()),
    )  # fmt: skip
    cells = compare(loops.SQUARES, "small", rivals, is_timed=False)
    text = tables.report(cells)
    assert "| program | right | refuses | lacks | unwritten |" in text
    assert "| (1) | (2) | – |" in text
    assert "1. `refuses on squares: ValueError: no | such`" in text
    assert "2. `lacks: not installed (x)`" in text


def test_geometric_means_are_of_what_both_have():
    times = {("a", "f"): 1.0, ("a", "g"): 4.0, ("b", "f"): 2.0, ("b", "g"): 2.0, ("c", "g"): 9.0}
    cells = [Cell(p, "large", r, seconds=s) for (p, r), s in times.items()]
    found = list(geometric_means(cells, "f", "large"))
    assert found == [("f", 1.0, 2), ("g", pytest.approx(2.0), 2)]


def test_a_document_gets_the_tables(tmp_path):
    document, start = tmp_path / "performance.md", tables.STARTS["CPU"]
    document.write_text(f"before\n{start}\nold\n{tables.END}\nafter\n")
    cells = compare(loops.SQUARES, "small", (rival("srcdiff"),))
    tables.write(cells, document, "python -m tests.bench", tmp_path / "performance.svg")
    text = document.read_text()
    assert text.startswith("before\n") and text.endswith("after\n")
    assert "old" not in text and "| squares |" in text


@pytest.mark.parametrize(
    "value, text",
    ((None, ""), (0.0, "0"), (0.00012, "0.0001"), (0.01234, "0.0123"), (0.9996, "1.00"),
     (9.996, "10.0"), (99.96, "100"), (1234.5, "1234")),
)  # fmt: skip
def test_numbers_have_three_digits(value, text):
    assert tables.number(value) == text


def test_memory_of_a_call_is_what_it_holds_at_once():
    def product():
        a, b = np.ones(2**20), np.ones(2**20)
        return a * b

    found = memory.peak(product)
    if found is None:
        pytest.skip("the system does not count this")
    assert 23 < found < 26
