"""The texts of kernels: those of some models stand in `tests/golden/kernels/`.

That they compute what the statements do is tested in `tests/kernels/test_launches.py`, by the
stand-in; that all of them are C++ was tested with NVRTC, which needs no GPU.
"""

import ast

import numpy as np
import pytest

import srcdiff
from srcdiff.codegen import kernel_text
from srcdiff.kernels import elements
from tests.golden_update import FUSED, KERNELS, text_with_kernels


@pytest.mark.parametrize("name", FUSED)
def test_text(name):
    assert text_with_kernels(name) == (KERNELS / f"{name}.py").read_text()


def test_every_file_is_compared():
    assert {path.stem for path in KERNELS.glob("*.py")} == set(FUSED)


def test_every_operation_on_elements_has_a_text():
    own = {*kernel_text._BINARY, *kernel_text._UNARY, *kernel_text._FUNCTIONS}
    own |= {*kernel_text._SEVERAL, *map(elements.named, ("numpy.square", "numpy.power"))}
    named = elements._ARITHMETIC | elements._OF_FLOATS | elements._OF_TRUTHS | elements._COMPARED
    assert named <= own


@pytest.mark.parametrize(
    "value, dtype, text",
    [
        (0.1, "float64", "0.1"), (0.1, "float32", "0.1f"), (2, "float64", "2.0"),
        (2, "int64", "2LL"), (-1e-9, "float64", "-1e-09"), (3e10, "float32", "3e+10f"),
        (True, "bool", "true"),
    ],
)  # fmt: skip
def test_numbers(value, dtype, text):
    assert kernel_text._literal(value, dtype)[0] == text


def test_a_file_makes_its_kernels_where_it_is_loaded():
    x = np.ones(4)
    text = srcdiff.aot.generate(
        smooth, example=(x, x), backend="cupy", compile="cupy", checks=False, value=True
    )
    names = [n.targets[0].id for n in ast.parse(text).body if isinstance(n, ast.Assign)]
    assert names == ["__all__", "smooth_value_and_grad_kernel"]
    with pytest.raises(ValueError, match="choose its backend"):
        srcdiff.aot.generate(smooth, example=(x, x), compile="cupy")


def smooth(x, y):
    return np.sum(np.tanh(x * y) ** 2)


def test_source_needs_no_cupy():
    assert "cp.tanh(x * y)" in srcdiff.grad(smooth, compile="cupy").source


def test_long_lines_are_wrapped():
    def f(x):
        return np.sum(np.exp(x * 0.123456789) * np.log(x + 0.123456789) / np.cosh(x * 0.123456789)
                      + np.exp(x * 0.234567891) * np.log(x + 0.234567891) * np.sinh(x))  # fmt: skip

    text = srcdiff.source(f, example=(np.ones(3),), backend="cupy", compile="cupy")
    assert max(map(len, text.splitlines())) <= 100


def test_no_name_is_bound_twice():
    names = kernel_text._c_names(["i", "new", "_t_1", "t_1", "é"])
    assert names == {"i": "i_1", "new": "new_1", "_t_1": "t_1", "t_1": "t_1_1", "é": "t"}
