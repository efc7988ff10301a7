"""Kinds as a generated file states and checks them (see `srcdiff.runtime.guards`)."""

from __future__ import annotations

import sys
from collections.abc import Callable as _Function
from collections.abc import Iterator
from typing import Any

from srcdiff import ir
from srcdiff.codegen.expression_text import literal
from srcdiff.ir.frozen import frozen, replace
from srcdiff.runtime import guards

Name = _Function[[Any, str], str]
"""Gives the name of something in a file, where it is put if it is not there."""

_TYPES = {ir.Range: "range", ir.SliceKind: "slice", ir.Text: "str"}
_NUMBERS = {"float64": "float", "int64": "int", "complex128": "complex", "bool": "bool"}


@frozen
class Tests:
    """Writes the tests of `srcdiff.runtime.guards` for kinds.

    `place` gives the dotted name of a function that is passed.
    `mixed`: the text is right for complex numbers, too, where no dtype is known.
    """

    name: Name
    place: _Function[[Any], str]
    mixed: bool = True

    def text(self, kind: ir.Kind, is_input: bool = False) -> str:
        """The text of a test; none where nothing is known that it could check."""
        if isinstance(kind, ir.Scalar):
            return self._number(kind)
        if isinstance(kind, ir.Array):
            return self._array(kind, is_input)
        if isinstance(kind, (ir.Tuple, ir.List)) and kind.items is not None:
            name = "tuple" if isinstance(kind, ir.Tuple) else "list"
            return self.call(guards.sequence, name, *map(self._any, kind.items))
        if isinstance(kind, (ir.Tuple, ir.Dict)) and kind.item is not None:
            return self.call(guards.each, self._any(kind.item))
        if isinstance(kind, ir.Dict):
            return self._dict(kind)
        if isinstance(kind, ir.Callable):
            return self.call(guards.called, *(f'"{self.place(f)}"' for f, _ in kind.choices))
        if isinstance(kind, ir.Module):
            last = "np" if kind.name == "numpy" else kind.name.rpartition(".")[2]
            return self.call(guards.exactly, self.name(sys.modules[kind.name], last))
        if isinstance(kind, ir.Object):
            return self._object(kind)
        if isinstance(kind, ir.NoneKind):
            return self.call(guards.typed, "type(None)")
        return self.call(guards.typed, _TYPES[type(kind)]) if type(kind) in _TYPES else ""

    def call(self, function: Any, *args: str) -> str:
        """A call of one of the functions of `srcdiff.runtime.guards`."""
        return f"{self.name(function, function.__name__)}({', '.join(args)})"

    def _number(self, kind: ir.Scalar) -> str:
        if kind.dtype is None:
            return self._numeric("biuf")
        found = [_NUMBERS[kind.dtype]] if kind.python is not False else []
        if kind.python is not True:
            numpy = self.name(sys.modules["numpy"], "np")
            found.append(f"{numpy}.{'bool_' if kind.dtype == 'bool' else kind.dtype}")
        return self.call(guards.typed, *found)

    def _array(self, kind: ir.Array, is_input: bool) -> str:
        if kind.dtype is None or kind.dims is None or kind.maybe_scalar:
            return self._numeric("f" if is_input else "biuf")
        return self.call(guards.array, *(f'"{a}"' for a in (kind.dtype, *map(_axis, kind.dims))))

    def _numeric(self, kinds: str) -> str:
        return self.call(guards.numeric, f'"{kinds}{"c" * self.mixed}"')

    def _dict(self, kind: ir.Dict) -> str:
        items = [(k, self._any(v)) for k, v in kind.items]
        if kind.cls is None:
            pairs = (f"{literal(k)}: {text}" for k, text in items)
            return self.call(guards.mapping, "{" + ", ".join(pairs) + "}")
        cls = f'"{kind.cls.__module__}.{kind.cls.__qualname__}"'
        return self.call(guards.record, cls, *(f"{k}={text}" for k, text in items))

    def _object(self, kind: ir.Object) -> str:
        """An object of which the class is known, or a dtype."""
        if kind.value is None:
            return self.call(guards.record, f'"{kind.type}"')
        numpy = self.name(sys.modules["numpy"], "np")
        return self.call(guards.exactly, f'{numpy}.dtype("{kind.value.name}")')

    def _any(self, kind: ir.Kind) -> str:
        """The test of an item."""
        return self.text(kind) or 'lambda x, given: ""'


def has_unknown_dtype(kind: ir.Kind) -> bool:
    """Whether a value is or holds a number or array that may be real or complex."""
    if isinstance(kind, (ir.Scalar, ir.Array)):
        return kind.dtype is None
    return any(map(has_unknown_dtype, ir.inside(kind)))


def _axis(dim: ir.Dim) -> str:
    if isinstance(dim, ir.Sym):
        return f"{dim.least}:" if dim.least else "~1" if dim.big else ":"
    return ":" if dim is None else str(dim)


# --- weaker kinds ---------------------------------------------------------------------------------


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
