"""Other kinds that a text is right for: what the arguments of a file may be besides its example.

Takes a kind; gives weaker ones, that more values have.
"""

from __future__ import annotations

from collections.abc import Iterator

from srcdiff import ir
from srcdiff.ir.frozen import replace


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
