"""Checks of a generated file: that Numba compiles it, that it is right, that it is up to date.

It is compared with differences and with the derivative in memory, and its head with what would be
generated now.  `Asked` is a file and what it offers, or why it cannot be used.
"""

from __future__ import annotations

import importlib.util
import inspect
from pathlib import Path
from typing import Any

import numpy as np

from srcdiff.aot.dependencies import differs, is_gone, sources_of
from srcdiff.aot.files import Head, current, meaning, read_head, rules_hash
from srcdiff.aot.job import Job, Wanted
from srcdiff.api.forward import Forward
from srcdiff.api.gradcheck import gradcheck
from srcdiff.api.point import Point
from srcdiff.backends.loader import compile_module
from srcdiff.backends.numba import cache, jit
from srcdiff.driver.options import Options, with_unused
from srcdiff.driver.structures import at, leaves, random_like
from srcdiff.errors import GradcheckError
from srcdiff.frontend.signatures import place_of
from srcdiff.ir.frozen import replace
from srcdiff.runtime.trees import kept
from srcdiff.version import VERSION


def accepted(job: Job) -> None:
    """Raise unless Numba compiles the functions of a file for the example.

    Raises:
        ExtraError: Numba is not installed.
        UnsupportedError: it does not compile one of them; with the place.
    """
    if not job.target.native:
        return
    cache.numba()
    text = job.in_memory()
    places = jit.places_in(text, job.printed(job.generated))
    space = compile_module(text, {}, job.request.name, "generated", places)
    given: tuple[Any, ...] = ()
    for name in job.names():
        function = space[name]
        try:
            given = given or _arguments(job, function)
            result = jit.compile_for(function, given)
        except Exception as error:
            cache.retell(error, function, places)
            raise
        given = _residuals(result)


def _residuals(result: Any) -> tuple[Any, ...]:
    """The types behind that of the value, of what a function returns several of."""
    return result[1:] if type(result) is tuple else ()


def checked_text(job: Job, verify: bool) -> str:
    """The text of a file, compiled and compared with differences where that is asked for."""
    text = job.text()
    accepted(job)
    if verify:
        verified(job)
    return text


def _arguments(job: Job, function: Any) -> tuple[Any, ...]:
    """The example, and for tangents what is like their inputs."""
    if job.wanted.mode != "forward":
        return job.arguments
    params = list(inspect.signature(function).parameters)
    given = dict(zip(params, job.arguments))
    inputs = (given[i.param] for i in job.request.inputs)
    return (*job.arguments, *inputs)


# --- compared with differences, and with the derivative in memory ---------------------------------


def verified(job: Job) -> None:
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
    aux = wanted.has_aux
    gradcheck(
        inner, kept(job.example), inputs=wanted.inputs, outputs=0 if aux else outputs,
        check_forward_ad=forward, check_backward_ad=not forward,
    )  # fmt: skip
    options = Options(wanted.inputs, outputs, "zeros", aux)
    point = Point(inner, options, kept(job.example), {})
    functions = compile_module(job.in_memory(), {}, job.request.name, "generated")
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


# --- whether a file is what would be generated now ------------------------------------------------


class Asked:
    """A file beside a function, and why it cannot be used: `why` is empty if it can."""

    def __init__(self, path: str | Path, f: Any, options: dict[str, Any]) -> None:
        self.f = f
        self.place = Path(place_of(f).file).parent / path
        text = current(self.place)
        if text is None:
            self.wanted, self.why = Wanted.of(options), "is not there"
            return
        head, whole = read_head(text, self.place)
        # An example given in Python is given again, or none.
        self.wanted = Wanted.of({**with_unused(head.options), **with_unused(options)})
        self.why = _outdated(head, Job(f, self.wanted), text) if whole else "has been edited"

    def anew(self) -> Any:
        """What the file would offer."""
        job = Job(self.f, replace(self.wanted, any=self.wanted.example is None))
        job.text()
        return _taken(compile_module(job.in_memory(), {}, job.request.name, self.f), job.names())

    def loaded(self) -> Any:
        """What the file offers."""
        spec = importlib.util.spec_from_file_location(self.place.stem, self.place)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return _taken(vars(module), tuple(module.__all__))


def _outdated(head: Head, job: Job, text: str) -> str:
    """What a file was made of that is not so now; nothing if it is up to date."""
    for then, now in zip((head.sources, head.values), sources_of(job.f, job.kinds)):
        changed = [name for name, found in now.items() if differs(name, then.get(name, ""), found)]
        if changed:
            return f"was made before `{changed[0]}` was changed"
        gone = [name for name in then if then is head.sources and is_gone(name)]
        if then is head.values:
            gone = [n for n, was in then.items() if differs(n, was, now.get(n))]
        if gone:
            return f"was made before `{gone[0]}` was changed"
    others = head.version != VERSION or head.rules != rules_hash(job.f, job.kinds)
    if not others or meaning(text) == meaning(job.text()):
        return ""
    if head.version != VERSION:
        return f"was written by srcdiff {head.version}"
    return "was made with other rules"


def _taken(space: dict[str, Any], names: tuple[str, ...]) -> Any:
    """One function, or a tuple of them."""
    found = tuple(space[name] for name in names)
    return found[0] if len(found) == 1 else found
