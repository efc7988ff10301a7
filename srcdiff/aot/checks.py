"""The checks of arguments in a file: lines at the top of the functions that it offers.

What Numba compiles cannot look at types: a function of Python with its name stands before it.
"""

from __future__ import annotations

import builtins
import inspect
import re
import types
from collections.abc import Iterator, Mapping
from typing import Any

from srcdiff import ir
from srcdiff.backends.function_text import begun, header
from srcdiff.backends.kind_checks import Checks, Leaf
from srcdiff.backends.standalone import Standalone
from srcdiff.codegen.emit import Emitted
from srcdiff.codegen.printer import wrap
from srcdiff.driver.structures import part_of
from srcdiff.frontend.request import Input, spelled
from srcdiff.ir.frozen import frozen, replace


@frozen
class Checked:
    """What the arguments of a function of a file have to be.

    `kinds` are those of the parameters, of which some are `written` into; `inputs` those that have
    cotangents or tangents.
    """

    kinds: ir.Kinds
    inputs: tuple[Input, ...]
    written: tuple[str, ...] = ()
    forward: bool = False

    def lines(self, function: types.FunctionType, file: Standalone, mixed: bool) -> list[str]:
        """The lines that check its arguments, to stand at the top of a function."""
        params = inspect.signature(function).parameters
        kinds = {n: k for n, k in self.kinds.items() if n in params}
        taken = frozenset((*function.__code__.co_varnames, *function.__code__.co_cellvars))

        def fresh(name: str, depth: int) -> str:
            numbers = range(depth - 1, depth + len(taken))
            names = (f"{name}_{k}" if k else name for k in numbers)
            return next(n for n in names if n not in taken)

        def name(value: Any, wanted: str) -> str:
            return file.name_of(value, wanted, taken)

        def builtin(wanted: str) -> str:
            hidden = wanted in taken or wanted in file.names
            return f"{name(builtins, 'builtins')}.{wanted}" if hidden else wanted

        checks = Checks(name, builtin, file.dotted, fresh, file.target.on_device, mixed)
        whole = frozenset(i.param for i in self.inputs if not i.path)
        found = checks.lines(kinds, whole, self._further(params, checks))
        if self.written:
            found += checks.apart(kinds, self.written)
        return found

    def _further(
        self, params: Mapping[str, inspect.Parameter], checks: Checks
    ) -> Iterator[Leaf]:
        """The tests of cotangents and tangents."""
        seed = params.get("grad_outputs")
        if seed is not None and seed.default is not None:
            yield checks.seed("grad_outputs")
        elif self.forward:
            plain = [n for n, p in params.items() if p.kind is not p.VAR_KEYWORD]
            for name, item in zip(plain[-len(self.inputs) :], self.inputs):
                kind = part_of(self.kinds.get(item.param, ir.UNKNOWN), item, None)
                yield checks.tangent(name, spelled(item.param, item.path), kind)


# --- what Numba compiles ------------------------------------------------------------------------


def compiled_name(name: str, emitted: Emitted) -> str:
    """The name of what Numba compiles, behind the function of Python that has its name."""
    wanted = f"{name}_compiled"
    while wanted in emitted.functions or wanted in emitted.refs:
        wanted += "_1"
    return wanted


def renamed(emitted: Emitted, names: tuple[str, ...]) -> Emitted:
    """Functions of which those that Numba compiles, of some names, have other names."""
    texts = {}
    for name, text in emitted.functions.items():
        new = name
        if name in names and name not in emitted.outer:
            new = compiled_name(name, emitted)
            text = re.sub(rf"^def {name}\(", f"def {new}(", text, count=1, flags=re.M)
        texts[new] = text
    return replace(emitted, functions=texts)


_ANY_NUMBER = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def front(function: types.FunctionType, text: str, compiled: str, lines: list[str]) -> str:
    """A function of Python with the head of a text that checks, and calls what is compiled."""
    given = []
    for name, param in inspect.signature(function).parameters.items():
        named = param.kind is param.KEYWORD_ONLY
        stars = ("**" if param.kind is param.VAR_KEYWORD else "*") * (param.kind in _ANY_NUMBER)
        given.append(f"{stars}{name}={name}" if named else f"{stars}{name}")
    call = wrap("return ", f"{compiled}({', '.join(given)})", "", 4)
    return begun("\n".join([header(text), *call]), function.__name__, lines)


# --- what else may be passed ----------------------------------------------------------------------


def has_unknown_dtype(kind: ir.Kind) -> bool:
    """Whether a value is or holds a number or array that may be real or complex."""
    if isinstance(kind, (ir.Scalar, ir.Array)):
        return kind.dtype is None
    return any(map(has_unknown_dtype, ir.inside(kind)))


def weaker(kind: ir.Kind) -> Iterator[ir.Kind]:
    """Kinds that more values have, the weakest first."""
    for big, either in ((False, True), (False, False), (True, True), (True, False)):
        yield _weakened(kind, big, either)


def _weakened(kind: ir.Kind, big: bool, either: bool) -> ir.Kind:
    """A kind of which axes may be shorter (or of length 1), and numbers Python's or NumPy's."""
    if isinstance(kind, ir.Array) and kind.dims is not None:
        return replace(kind, dims=tuple(_shorter(d, big) for d in kind.dims))
    if isinstance(kind, ir.Scalar) and either and kind.value is None and kind.dtype == "float64":
        return replace(kind, python=None)
    if isinstance(kind, (ir.Tuple, ir.List)) and kind.items is not None:
        return replace(kind, items=tuple(_weakened(k, big, either) for k in kind.items))
    if isinstance(kind, ir.Dict):
        return replace(kind, items=tuple((n, _weakened(k, big, either)) for n, k in kind.items))
    return kind


def _shorter(dim: ir.Dim, big: bool) -> ir.Dim:
    return replace(dim, big=big, least=0) if isinstance(dim, ir.Sym) else dim
