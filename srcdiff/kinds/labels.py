"""Names of lengths that nothing is known of, after what has them: `h.0`, the first axis of `h`."""

from __future__ import annotations

from collections.abc import Iterable

from srcdiff import ir
from srcdiff.ir.kinds import BIG, Array, Dim, Kind, Maybe, Scalar, Sym, Tuple, maybe


class Labels:
    """What the lengths are called that statements make; in a loop of `depth` 1 `h.0@1`."""

    def __init__(self, params: Iterable[str]) -> None:
        self.depth = 0
        self.numbers: dict[tuple[str, int], int] = {}
        self.counts = dict.fromkeys(params, 1)

    def label(self, name: str, stmt: ir.Stmt) -> str:
        """What lengths made by a statement are called: `h`, or `h~1` where it is bound again."""
        key = (name, id(stmt))
        if key not in self.numbers:
            self.numbers[key] = self.counts.get(name, 0)
            self.counts[name] = self.numbers[key] + 1
        number = self.numbers[key]
        return f"{name}~{number}" if number else name

    def named(self, kind: Kind, label: str) -> Kind:
        """A kind whose unknown lengths are named after what has it."""
        if isinstance(kind, Array) and kind.dims is not None:
            dims = tuple(self._length(d, f"{label}.{k}") for k, d in enumerate(kind.dims))
            return kind if dims == kind.dims else Array(kind.dtype, dims, kind.maybe_scalar)
        if isinstance(kind, Tuple) and kind.items is not None:
            return Tuple(tuple(self.named(k, f"{label}[{i}]") for i, k in enumerate(kind.items)))
        if isinstance(kind, Maybe):
            return maybe(self.named(kind.kind, label))
        if isinstance(kind, Scalar) and kind.dtype == "int64" and kind.value is None:
            return Scalar(kind.dtype, kind.python, None, self._length(kind.size_of, label))
        return kind

    def _length(self, dim: Dim, label: str) -> Dim:
        if dim is not None and dim != BIG:
            return dim
        name = f"{label}@{min(self.depth, 9)}" if self.depth else label
        return Sym(name, 0, dim == BIG)
