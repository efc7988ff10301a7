"""The operators of stores, by their text: `x[i] += v` is `SetItem(x, i, v, "+")`."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

OPERATORS: Mapping[str, Any] = MappingProxyType(
    {
        "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
        "//": operator.floordiv, "%": operator.mod, "**": operator.pow, "@": operator.matmul,
        "&": operator.and_, "|": operator.or_, "^": operator.xor, "<<": operator.lshift,
        ">>": operator.rshift,
    }
)  # fmt: skip
