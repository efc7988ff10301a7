"""Code objects: those that a text compiles to, and whether two of them compute the same."""

from __future__ import annotations
import __future__

import dis
import functools
import types
from collections.abc import Iterable, Iterator
from typing import Any

_FLAGS = [getattr(__future__, name).compiler_flag for name in __future__.all_feature_names]


def future_flags(code: types.CodeType) -> int:
    """The `from __future__ import` features that a code object was compiled with."""
    return sum(flag for flag in _FLAGS if code.co_flags & flag)


@functools.lru_cache(maxsize=16)
def compiled(text: str, flags: int) -> tuple[types.CodeType, ...]:
    """Every code object of a text."""
    return tuple(all_codes(compile(text, "<text>", "exec", flags, dont_inherit=True)))


def all_codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """A code object and all that it holds."""
    yield code
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield from all_codes(const)


def alike(code: types.CodeType, known: Iterable[types.CodeType]) -> list[types.CodeType]:
    """Those of some code objects that compute the same under the same name."""
    same = [c for c in known if c.co_name == code.co_name]
    rewritten = any(name.startswith("@") for name in code.co_names)
    return [c for c in same if (_is_part(c, code) if rewritten else same_code(c, code))]


def _is_part(code: types.CodeType, whole: types.CodeType) -> bool:
    """Whether a code object may have become another one by what pytest does to `assert`."""
    return set(code.co_names) <= set(whole.co_names) and code.co_firstlineno == whole.co_firstlineno


def same_code(a: types.CodeType, b: types.CodeType) -> bool:
    """Whether two code objects compute the same, wherever they stand."""
    names = ("co_names", "co_varnames", "co_freevars", "co_cellvars", "co_argcount")
    if any(getattr(a, n) != getattr(b, n) for n in names):
        return False
    if a.co_code != b.co_code and _operations(a) != _operations(b):
        return False
    return len(a.co_consts) == len(b.co_consts) and all(map(_same, a.co_consts, b.co_consts))


def _operations(code: types.CodeType) -> list[tuple[str, str]]:
    """What a code object does, one step after the other.

    How a method is found depends on whether the text imports the name before the dot, and a cell
    or a doctest may not be the text that does.
    """
    steps = (i for i in dis.get_instructions(code) if i.opname not in _SILENT)
    return [(i.opname.replace("METHOD", "ATTR"), _operand(i)) for i in steps]


_SILENT = frozenset({"PUSH_NULL", "CACHE", "PRECALL", "EXTENDED_ARG"})


def _operand(step: dis.Instruction) -> str:
    """The operand of a step, unless that is a place in the code or a code object."""
    if isinstance(step.argval, types.CodeType) or step.opcode in (*dis.hasjrel, *dis.hasjabs):
        return ""
    return repr(step.argval)


def _same(a: Any, b: Any) -> bool:
    """Whether two constants of code objects are the same (1 and 1.0, 0.0 and -0.0 are not)."""
    if isinstance(a, types.CodeType) and isinstance(b, types.CodeType):
        return same_code(a, b)
    if isinstance(a, frozenset) and isinstance(b, frozenset):
        return sorted(map(repr, a)) == sorted(map(repr, b))
    return type(a) is type(b) and repr(a) == repr(b)
