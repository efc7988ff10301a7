"""Gradients compiled by Numba: `grad(f, compile="numba")`, `generate --compile numba`."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping
from typing import Any

from srcdiff import ir
from srcdiff.backends.loader import compile_module
from srcdiff.backends.numba import jit
from srcdiff.backends.standalone import Standalone, spaces_of
from srcdiff.codegen.emit import Made
from srcdiff.driver.arguments import arrays_of
from srcdiff.driver.derivative import Derivative
from srcdiff.driver.snapshots import same
from srcdiff.errors import CotangentError, DtypeError
from srcdiff.frontend.signatures import module_of, place_of
from srcdiff.ir import Loc
from srcdiff.ir.frozen import replace
from srcdiff.runtime.copies import copied
from srcdiff.runtime.devices import on_device


class Native(Derivative):
    """A gradient whose generated function Numba compiles."""

    def _function(self, made: Made, refs: Mapping[str, Any]) -> tuple[Any, str]:
        """The function of a generated text, to be compiled at its first call, and its module."""
        if on_device():
            raise DtypeError("compile='numba': the arguments are arrays of CuPy, pass NumPy's")
        jit.numba()
        jit.check(made)
        file = Standalone(spaces_of(self.primal), place_of(self.primal), True, native=True)
        file.reserve(self.request.name)
        text = file.add(replace(made.emitted, refs=refs))
        text = file.laid_out(file.import_lines(False)[1:], "", text, [])
        name = self.request.name
        places = places_in(text, made.emitted.text, made.emitted.lines)
        space = compile_module(in_memory(text), {}, name, module_of(self.primal), places)
        return Called(space[name], places, [v for _, v in arrays_of(file.names)]), text

    def _generate(self, kinds: Mapping[str, ir.Kind], pair: bool = False) -> Any:
        """The specialisation for some kinds, for as long as the arrays outside hold the same.

        They are constants of a compiled function.
        """
        found = super()._generate(kinds, pair)
        held = [] if pair else found.function.held
        if not held:
            return found
        then = copied(held)
        reads = [*found.watch.reads, ((lambda: same(held, then)), True)]
        return replace(found, watch=replace(found.watch, reads=reads))


class Called:
    """A compiled function, whose errors say what Numba does not take, and where.

    `held` are the arrays from outside that are constants of it.
    """

    def __init__(self, function: Any, places: Mapping[int, Loc], held: list[Any]) -> None:
        self.function, self.places, self.held = function, places, held
        self.__signature__ = inspect.signature(function.py_func)
        self.__code__ = function.py_func.__code__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """What the function gives.

        Raises:
            UnsupportedError: Numba does not compile it.
            CotangentError: the cotangent does not fit.
        """
        try:
            return self.function(*args, **kwargs)
        except Exception as error:
            jit.retell(error, self.function, self.places)
            if isinstance(error, ValueError) and str(error).startswith("grad_outputs: "):
                raise CotangentError(str(error)) from None
            raise


def in_memory(text: str) -> str:
    """A text that Numba compiles, without the cache, which is kept beside files."""
    return text.replace("cache=True, ", "")


def places_in(text: str, made: str, lines: Mapping[int, Loc]) -> dict[int, Loc]:
    """The places of the lines of a file, from those of the functions that were put into it."""
    ends = {n.name: n.end_lineno for n in _functions(text)}
    found: dict[int, Loc] = {}
    for node in _functions(made):
        assert node.end_lineno is not None
        away = (ends[node.name] or 0) - node.end_lineno
        own = (k for k in range(node.lineno, node.end_lineno + 1) if k in lines)
        found.update({k + away: lines[k] for k in own})
    return found


def _functions(text: str) -> list[ast.FunctionDef]:
    return [n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef)]
