"""Rewrite the generated source in `tests/golden/`: `python -m tests.golden_update [name ...]`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import srcdiff
from tests.corpus.native import interpreted
from tests.programs import GOLDEN, Program
from tests.support import structures as st
from tests.support.cupy_models import models
from tests.support.differences import Problem

FOLDER = Path(__file__).parent / "golden"
CUPY = FOLDER / "cupy"


def gradient(program: Program) -> Callable[..., Any]:
    """The gradient function, specialised by one call on the sample arguments."""
    g = srcdiff.grad(program.function, program.inputs, program.outputs)
    _call(g, program)
    return g


def second(program: Program) -> Callable[..., Any]:
    """The second derivative with respect to the first input of a scalar program."""
    first = program.inputs[0]
    g = srcdiff.grad(srcdiff.grad(program.function, first), first)
    g(*program.arguments())
    return g


NUMBA = FOLDER / "numba"
COMPILED = ("black_scholes", "cross_entropy", "gaussian_mixture", "heat", "mlp", "soft_kmeans")
"""Programs of which the text for Numba is golden too: what its loops fuse."""


def text_for_numba(name: str) -> str:
    """The module that Numba compiles for the gradient of a program; Python runs it here."""
    program, _ = FILES[name]
    with interpreted():
        g = srcdiff.grad(program.function, program.inputs, program.outputs, compile="numba")
        _call(g, program)
    return str(g.source).rstrip() + "\n"


KERNELS = FOLDER / "kernels"
FUSED = ("attention", "chosen", "heat", "likelihood", "methods", "mlp")
"""Models of which the text with kernels for CuPy is golden too: what one launch computes."""


def text_with_kernels(name: str) -> str:
    """The text of the gradient of a model whose statements are kernels."""
    model = models()[name]
    text = srcdiff.source(
        model.function, model.wanted, example=model.args, backend="cupy", compile="cupy"
    )
    return text.rstrip() + "\n"


def _call(g: Callable[..., Any], program: Program) -> None:
    args = program.arguments()
    problem = Problem(program.function, args, program.inputs, program.outputs)
    g(*args, grad_outputs=st.random_like(np.random.default_rng(0), problem.output()))


SECOND = ("rosenbrock",)
FILES: dict[str, tuple[Program, Callable[[Program], Callable[..., Any]]]] = {
    p.function.__name__: (p, gradient) for p in GOLDEN
}
FILES.update(
    {f"{name}_second": (program, second) for name, (program, _) in FILES.items() if name in SECOND}
)


def text(name: str) -> str:
    """The generated source of a golden program."""
    program, make = FILES[name]
    return make(program).source.rstrip() + "\n"


def main(names: list[str]) -> None:
    """Write the files whose text has changed."""
    for name in names or sorted(FILES):
        _write(FOLDER / f"{name}.py", text(name))
    if not names:
        for name, model in models().items():
            _write(CUPY / f"{name}.py", model.text)
        for name in COMPILED:
            _write(NUMBA / f"{name}.py", text_for_numba(name))
        for name in FUSED:
            _write(KERNELS / f"{name}.py", text_with_kernels(name))
        _remove_others(FOLDER, set(FILES))
        _remove_others(CUPY, set(models()))
        _remove_others(NUMBA, set(COMPILED))
        _remove_others(KERNELS, set(FUSED))


def _write(path: Path, new: str) -> None:
    """Write a file whose text has changed."""
    if not path.exists() or path.read_text() != new:
        path.write_text(new)
        print(f"wrote {path.relative_to(FOLDER)}")


def _remove_others(folder: Path, names: set[str]) -> None:
    """Remove the files of what is there no more."""
    for path in sorted(folder.glob("*.py")):
        if path.stem not in names:
            path.unlink()
            print(f"removed {path.relative_to(FOLDER)}")


if __name__ == "__main__":
    main(sys.argv[1:])
