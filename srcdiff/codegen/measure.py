"""About how many columns an expression takes."""

from __future__ import annotations

import operator
import re
from typing import Any

from srcdiff.ir import Attr, Call, Const, Derived, Method, Name, Opaque, Ref, Rhs, Slice, Star, Tup

_OPERATORS: frozenset[Any] = frozenset(vars(operator)[n] for n in operator.__all__)


# A temporary and the name that it gets once it is seen have the same width, so that naming
# changes nothing about what is nested.
_NAME = re.compile(r"((?:d_)*)_*(.*?)(?:_\d+)*\Z")


def name_width(name: str) -> int:
    """About how many columns a name takes, whatever its number is."""
    match = _NAME.match(name)
    assert match is not None
    return len(match[1]) + len(match[2] or "t") + 2


def rhs_width(rhs: Rhs) -> int:
    """About how many columns a right-hand side takes."""
    if isinstance(rhs, Call):
        return _callee_width(rhs) + sum(rhs_width(a) + 2 for a in rhs.args) + _keywords(rhs)
    if isinstance(rhs, Name):
        return name_width(rhs.id)
    if isinstance(rhs, Const):
        return len(repr(rhs.value))
    if isinstance(rhs, (Opaque, Ref)):
        return len(rhs.text)
    if isinstance(rhs, Star):
        return 1 + rhs_width(rhs.value)
    if isinstance(rhs, Slice):
        bounds = (b for b in (rhs.lower, rhs.upper, rhs.step) if b != Const(None))
        return 1 + sum(rhs_width(b) for b in bounds)
    assert isinstance(rhs, Tup)
    return sum(rhs_width(a) + 2 for a in rhs.items)


def _keywords(call: Call) -> int:
    return sum(len(key or "**") + 3 + rhs_width(value) for key, value in call.kwargs)


def _callee_width(call: Call) -> int:
    fn = call.fn
    if isinstance(fn, Derived):
        return 20  # it gets its name later
    if isinstance(fn, (Method, Attr)):
        return len(fn.name) + 1
    if isinstance(fn, Name):
        return len(fn.id)
    if call.text is not None:
        return len(call.text)
    if type(fn).__name__ == "builtin_function_or_method" and fn in _OPERATORS:
        return 0
    return len(getattr(fn, "__name__", "fn")) + 3
