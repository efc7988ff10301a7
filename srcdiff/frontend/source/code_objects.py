"""Code objects: those that a text compiles to, and whether two of them compute the same."""

from __future__ import annotations
import __future__

import ast
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
    """Every code object of a text, which may be a notebook cell that awaits something.

    Raises:
        SyntaxError: the text is no Python.
    """
    flags |= ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    return tuple(all_codes(compile(text, "<text>", "exec", flags, dont_inherit=True)))


def nodes_of(tree: Any) -> list[Any]:
    """Every node of a tree, outer ones first, as `ast.walk` gives them in a third of the time."""
    found = [tree]
    for node in found:
        for value in node.__dict__.values():
            if type(value) not in _LEAVES:
                inside = value if type(value) is list else (value,)
                found += [n for n in inside if isinstance(n, ast.AST)]
    return found


_LEAVES = frozenset((int, str, type(None)))


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
    """Whether two code objects compute the same, wherever they stand.

    Instructions are compared by what they do: how `np.sin(x)` is called depends on whether `np` is
    imported in the same text, of which a front end may have compiled only a part.
    """
    if a == b:
        return True
    names = ("co_varnames", "co_freevars", "co_cellvars", "co_argcount", "co_kwonlyargcount")
    if any(getattr(a, n) != getattr(b, n) for n in names):
        return False
    one, two = _steps(a), _steps(b)
    return len(one) == len(two) and all(
        a[0] == b[0] and _same(a[1], b[1]) for a, b in zip(one, two)
    )


_JUMPS = frozenset((*dis.hasjrel, *dis.hasjabs))
_QUIET = frozenset({"CACHE", "EXTENDED_ARG", "NOP", "PRECALL", "PUSH_NULL", "RESUME"})
_ALIKE = {"LOAD_METHOD": "LOAD_ATTR", "CALL_METHOD": "CALL_FUNCTION"}


def _steps(code: types.CodeType) -> list[tuple[str, Any]]:
    """The instructions of a code object with their operands; where jumps lead is left out."""
    return [
        (_ALIKE.get(i.opname, i.opname), None if i.opcode in _JUMPS else i.argval)
        for i in dis.get_instructions(code)
        if i.opname not in _QUIET
    ]


def is_only_filled(name: str, codes: Iterable[types.CodeType]) -> bool:
    """Whether code does nothing with a variable but append to it, or to what it has at a key."""
    found = [_is_filled(steps, k) for c in codes for steps in [_steps(c)]
             for k, (op, value) in enumerate(steps) if value == name and op in _READS]  # fmt: skip
    return bool(found) and all(found)


def _is_filled(steps: list[tuple[str, Any]], k: int) -> bool:
    """Whether what an instruction loads is only appended to."""
    k += 1
    while [op for op, _ in steps[k : k + 2]] == ["LOAD_CONST", "BINARY_SUBSCR"]:
        k += 2
    return steps[k : k + 1] in ([("LOAD_ATTR", "append")], [("LOAD_ATTR", "extend")])


_READS = frozenset({"LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLASSDEREF"})


def _same(a: Any, b: Any) -> bool:
    """Whether two operands are the same (1 and 1.0, 0.0 and -0.0 are not)."""
    if isinstance(a, types.CodeType) and isinstance(b, types.CodeType):
        return same_code(a, b)
    if isinstance(a, frozenset) and isinstance(b, frozenset):
        return sorted(map(repr, a)) == sorted(map(repr, b))
    return type(a) is type(b) and repr(a) == repr(b)
