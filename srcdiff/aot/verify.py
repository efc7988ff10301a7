"""A generated file compared with differences, and with the derivative in memory."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from srcdiff.aot.job import Job
from srcdiff.api.compare import random_like
from srcdiff.api.gradcheck import gradcheck
from srcdiff.api.jvp import Forward
from srcdiff.api.point import Point, leaves
from srcdiff.backends.numpy import compile_module
from srcdiff.driver.chosen import at
from srcdiff.driver.native import in_memory
from srcdiff.driver.options import Options
from srcdiff.errors import GradcheckError
from srcdiff.runtime.trees import kept


def verified(job: Job, text: str) -> None:
    """Raise unless a file is right at the example that it was made for.

    Raises:
        ValueError: there is no example.
        GradcheckError: it does not agree with differences, or with the derivative in memory.
    """
    if job.example is None:
        raise ValueError("verify: needs an example, the arguments to check the derivative at")
    wanted = job.wanted
    if wanted.backend == "cupy":
        raise ValueError("verify: derivatives for CuPy are not compared; verify the one for NumPy")
    inner, forward = wanted.inner(job.f), wanted.mode == "forward"
    outputs = wanted.outputs if wanted.order == 1 else None
    aux = wanted.has_aux and wanted.order == 1
    gradcheck(
        inner, kept(job.example), inputs=wanted.inputs, outputs=0 if aux else outputs,
        check_forward_ad=forward, check_backward_ad=not forward,
    )  # fmt: skip
    options = Options(wanted.inputs, outputs, materialize_grads=True, has_aux=aux)
    point = Point(inner, options, kept(job.example), {})
    functions = compile_module(in_memory(text), {}, job.request.name, "generated")
    run = _along if forward else _back
    found, expected = run(job, point, functions)
    known = dict(leaves(found))
    for path, leaf in leaves(expected):
        if not np.allclose(known.get(path, np.nan), leaf, rtol=1e-12, atol=1e-14, equal_nan=True):
            raise GradcheckError(
                f"the file does not give what the derivative gives in memory, at {path}: "
                f"{at(found, path)!r}, expected {leaf!r}"
            )


def _back(job: Job, point: Point, functions: dict[str, Any]) -> tuple[Any, Any]:
    """What a file and the derivative in memory give for one cotangent."""
    value, _ = point.pullback()
    cotangent = random_like(np.random.default_rng(0), point.output(value))
    expected = job.made(*kept(job.example), grad_outputs=cotangent)
    names, given = job.names(), kept(job.arguments)
    if job.wanted.split:
        _, residuals = functions[names[0]](*given)
        return functions[names[1]](residuals, cotangent), expected
    return functions[names[0]](*given, grad_outputs=cotangent), expected


def _along(job: Job, point: Point, functions: dict[str, Any]) -> tuple[Any, Any]:
    """What a file and the derivative in memory give for one direction."""
    assert isinstance(job.made, Forward)
    rng = np.random.default_rng(0)
    tangents = tuple(random_like(rng, t) for t in point.request.listed(point.inputs))
    expected = job.made.along(kept(job.arguments), {}, tangents)
    function = functions[job.names()[0]]
    names = job.made.keywords(inspect.unwrap(function))
    given = dict(zip(names.values(), tangents))
    return function(*kept(job.arguments), **given), expected
