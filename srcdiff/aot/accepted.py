"""Whether Numba compiles what was generated for a file."""

from __future__ import annotations

import inspect
from typing import Any

from srcdiff.aot.job import Job
from srcdiff.backends.numba import compiled
from srcdiff.backends.numpy import compile_module
from srcdiff.driver.native import in_memory, places_in


def accepted(job: Job, text: str) -> None:
    """Raise unless Numba compiles the functions of a file for the example.

    Raises:
        ExtraError: Numba is not installed.
        UnsupportedError: it does not compile one of them; with the place.
    """
    if not job.wanted.compile:
        return
    compiled.numba()
    emitted = job.emitted
    places = places_in(text, emitted.text, emitted.lines)
    space = compile_module(in_memory(text), {}, job.request.name, "generated", places)
    given: tuple[Any, ...] = ()
    for name in job.names():
        function = compiled.compiled(space[name])
        try:
            given = given or compiled.types_of(_arguments(job, function))
            result = compiled.compile_for(function, given)
        except Exception as error:
            compiled.retell(error, function, places)
            raise
        given = tuple(getattr(result, "types", ())[1:])  # the residuals, behind the value


def _arguments(job: Job, function: Any) -> tuple[Any, ...]:
    """The example, and for tangents what is like their inputs."""
    if job.wanted.mode != "forward":
        return job.arguments
    params = list(inspect.signature(function).parameters)
    given = dict(zip(params, job.arguments))
    inputs = (given[i.param] for i in job.request.inputs)
    return (*job.arguments, *inputs)
