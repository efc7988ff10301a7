"""Whether `+` and `*` join lists is seen where they run: called by generated code."""

from __future__ import annotations

from typing import Any

from srcdiff.errors import UnsupportedError
from srcdiff.ir import Loc


def one_value(d: Any, file: str, line: int) -> Any:
    """The adjoint of a number or array.

    Raises:
        UnsupportedError: it is that of a list, tuple or dict, made by `+` or `*` of values of which
            it is not known where the gradient is generated what they are.
    """
    if isinstance(d, (list, tuple, dict)):
        raise UnsupportedError(
            "`+` or `*` makes a list or tuple here, of items that are lists or tuples in one step "
            "and something else in another",
            Loc(file, line),
            remedy="Keep lists and numbers in containers of their own.",
        )
    return d
