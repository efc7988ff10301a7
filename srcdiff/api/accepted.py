"""Whether Numba compiles what was generated for a file."""

from __future__ import annotations

import inspect
from typing import Any

from srcdiff.api.job import Job
from srcdiff.api.native import in_memory, places_in
from srcdiff.backends import native
from srcdiff.backends.numpy import compile_module


def accepted(job: Job, text: str) -> None:
    """Raise unless Numba compiles the functions of a file for the example.

    Raises:
        ExtraError: Numba is not installed.
        UnsupportedError: it does not compile one of them; with the place.
    """
    if not job.wanted.compile:
        return
    native.numba()
    emitted = job.emitted
    places = places_in(text, emitted.text, emitted.lines)
    space = compile_module(in_memory(text), {}, job.request.name, "generated", places)
    given: tuple[Any, ...] = ()
    for name in job.names():
        function = native.compiled(space[name])
        try:
            given = given or native.types_of(_arguments(job, function))
            result = native.compile_for(function, given)
        except Exception as error:
            native.retell(error, function, places)
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
