"""Random programs (see `tests/fuzz`): a gradient is right or refused, never wrong."""

from collections import Counter

import numpy as np
import pytest

import srcdiff
from tests.fuzz.judge import (
    CRASHED,
    INVALID,
    REFUSED,
    RIGHT,
    WRONG,
    judge_text,
    turn,
)
from tests.fuzz.programs import program
from tests.fuzz.reduce import reduced
from tests.support.part import ALL

TOGETHER = 25
PROGRAMS = 200 if ALL else 100
FORWARD = 48
BLOCKS = 6


@pytest.mark.parametrize("first", range(0, PROGRAMS, TOGETHER))
def test_random_programs(first):
    """With every feature: none is wrong, none crashes, and hardly any is refused."""
    verdicts, bad = Counter(), []
    for seed in range(first, first + TOGETHER):
        made = program(seed)
        verdict = judge_text(made.text, made.args, turn(seed))
        verdicts[verdict.kind] += 1
        if verdict.bad:
            bad.append(f"seed {seed}: {verdict}\n{made.text}")
    assert not bad, "\n".join(bad)
    assert sum(verdicts[kind] for kind in (RIGHT, REFUSED, INVALID)) == TOGETHER
    assert verdicts[REFUSED] <= 3, verdicts
    assert verdicts[INVALID] <= 5, verdicts  # numbers that are too large to judge


@pytest.mark.parametrize("block", range(BLOCKS))
def test_forward_mode_of_random_programs(block):
    verdicts = {}
    for seed in range(block, FORWARD, BLOCKS):
        made = program(seed)
        verdict = judge_text(made.text, made.args, ("forward",))
        assert verdict.kind not in (WRONG, CRASHED), f"seed {seed}: {verdict}\n{made.text}"
        verdicts[seed] = verdict.kind
    assert sum(v == RIGHT for v in verdicts.values()) >= len(verdicts) // 2


def test_programs_are_the_same_for_the_same_seed():
    assert [program(s) for s in range(5)][2].text == program(2).text


CONSTRUCTS = (
    ".swapaxes(", ".T", ".reshape(", ".diagonal(", ".transpose(", "[::-1]", "::2]", "[::-2]",
    ".ravel()", ".view()", "np.split(", "np.copyto(", ".fill(", "out=", "np.add.at(", ".append(",
    "stir(", "bump(", "two(", "Data(", "Pair(", "Box(", ".u *= ", "[0] *= ", "*= ", "+= ",
)  # fmt: skip


def test_programs_share_memory_in_every_way():
    """What is in less than three programs of a hundred is not tried."""
    texts = [program(seed).text for seed in range(400)]
    shares = {c: sum(c in text for text in texts) / len(texts) for c in CONSTRUCTS}
    assert {c: share for c, share in shares.items() if share < 0.03} == {}


def test_a_wrong_gradient_is_found():
    """The judge sees what differences see: here a step function hides a slope."""
    text = "import numpy as np\ndef f(x):\n    return np.sum(x * int(x[0] * 1e9)) * 1e-9\n"
    made = program(0)
    assert judge_text(text, made.args[:1]).kind == WRONG


def test_reduction_keeps_what_matters():
    text = "def f(x):\n    y = x\n    if x:\n        y = 2 * x\n        z = 3\n    return y\n"
    assert reduced(text, lambda t: "2 * x" in t and "return y" in t) == (
        "def f(x):\n    y = 2 * x\n    return y\n"
    )


ROUNDED = """
import numpy as np
def f(x):
    return 300.0 * np.sum(np.sin(x)) + np.std(np.full(12, x[0]))
"""


def test_a_derivative_of_rounding_errors_is_not_judged():
    """The spread of equal numbers is zero, or what rounding makes of it, beside larger terms."""
    x = np.array([0.48448229, 0.7])
    assert judge_text(ROUNDED, (x,)).kind in (INVALID, RIGHT)
    again = [judge_text(ROUNDED, (x + k * 0.01,)) for k in range(20)]
    assert {v.kind for v in again} == {INVALID, RIGHT}


def test_a_gradient_that_is_slightly_off_is_wrong(monkeypatch):
    grad = srcdiff.grad

    def off(*args, **kwargs):
        g = grad(*args, **kwargs)
        return lambda *a, **k: tuple(d * (1.0 + 1e-5) for d in g(*a, **k))

    monkeypatch.setattr(srcdiff, "grad", off)
    text = "import numpy as np\ndef f(x):\n    return np.sum(np.sin(x))\n"
    assert judge_text(text, (np.array([0.3, 0.4]),)).kind == WRONG


def test_a_tangent_that_is_hardly_off_is_wrong(monkeypatch):
    """The two modes agree to rounding, which differences cannot tell."""
    jvp = srcdiff.jvp

    def off(f, **options):
        def along(*args, **kwargs):
            value, tangent = jvp(f, **options)(*args, **kwargs)
            return value, tangent * (1.0 + 1e-8)

        return along

    monkeypatch.setattr(srcdiff, "jvp", off)
    text = "import numpy as np\ndef f(x):\n    return np.sum(np.exp(x + 2.0))\n"
    verdict = judge_text(text, (np.array([0.3, 0.4]),), ("tangent",))
    assert verdict.kind == WRONG and "dual" in verdict.reason


def test_structures_of_results_are_judged_at_order_two():
    text = "import numpy as np\ndef f(x):\n    y = x * x\n    return [y, y[::-1]], np.sum(y * y)\n"
    assert judge_text(text, (np.array([0.3, 0.4]),)).reason == ""


def test_recursion_without_end_at_other_values_is_the_programs_own():
    """The same memory for `x` and `y` makes the recursion endless."""
    text = (
        "def down(a, n):\n"
        "    if n[0] <= 0.0:\n        return a @ a\n"
        "    a += 1.0\n    return down(a * 0.5, n - a)\n"
        "def f(x, y):\n    return down(x, y)\n"
    )
    assert judge_text(text, (np.array([2.0, 1.0]), np.array([1.0, 0.5]))).kind != CRASHED


def test_a_slope_in_which_steps_are_lost_is_not_judged():
    """The sine of a number so large that differences say nothing of it."""
    text = "import numpy as np\ndef f(x):\n    y = x + 1e20\n    return np.sum(np.sin(y) + x)\n"
    assert judge_text(text, (np.array([0.3, 0.4]),)).kind == INVALID
