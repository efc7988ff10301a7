"""What values the helpers for adjoints may be given: decides which of their branches are copied."""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from typing import Any

from srcdiff import ir
from srcdiff.codegen.made import Made
from srcdiff.ir.kinds import (
    Array,
    Dict,
    Kind,
    List,
    NoneKind,
    Object,
    Scalar,
    Tuple,
    Unknown,
    inside,
)
from srcdiff.kinds.interpreter import infer
from srcdiff.runtime import arrays, records, trees


def holds_containers(made: Made) -> bool:
    """Whether they may be given tuples, lists or dicts."""
    recursive = made.emitted.text.count("\ndef ") + 1 > len(made.functions)
    return recursive or _takes_others(made, _is_number)


def holds_records(made: Made, kinds: Mapping[str, Kind]) -> bool:
    """Whether they may be given objects."""
    refs = made.emitted.refs.values()
    classes = any(records.is_record(v) or records.is_record(type(v)) for v in refs)
    return classes or any(map(_has_objects, kinds.values())) or _takes_others(made, _is_plain)


def _is_number(kind: Kind) -> bool:
    """Whether a value is certainly a number or an array."""
    return isinstance(kind, (Scalar, Array))


def _is_plain(kind: Kind) -> bool:
    """Whether a value is certainly a number or an array, or a container that has no objects."""
    if isinstance(kind, Dict) and kind.cls is not None:
        return False
    plain = isinstance(kind, (Scalar, Array, Tuple, List, Dict, NoneKind))
    return plain and all(map(_is_plain, inside(kind)))


def _has_objects(kind: Kind) -> bool:
    """Whether an argument is an object, or may be or hold one."""
    unknown = isinstance(kind, (Object, Unknown)) or isinstance(kind, Dict) and kind.cls is not None
    return unknown or any(map(_has_objects, inside(kind)))


def _takes_others(made: Made, known: Callable[[Kind], bool]) -> bool:
    """Whether a function gives a helper what is not certainly of the known kinds."""
    return any(_gives_others(f, infer(f, params), known) for f, params in made.functions)


def _gives_others(
    function: ir.Function, kinds: Mapping[str, Kind], known: Callable[[Kind], bool]
) -> bool:
    calls = [(s, c) for s in ir.walk(function.body) if (c := ir.call_of(s)) is not None]
    sure = {n for n, k in kinds.items() if known(k)}
    made = (s.target.id for s, c in calls if isinstance(s, ir.Assign) and _is_of(c.fn, arrays))
    sure.update(made)  # arrays of any rank
    tuples = known(Tuple(()))
    for _, call in calls:
        if _is_of(call.fn, trees):
            shaped = call.fn in (trees.cotangent, trees.like_tree)  # as their second argument is
            for arg in call.args[1:2] if shaped else call.args:
                if not sure.issuperset(ir.names(arg)) or isinstance(arg, ir.Tup) and not tuples:
                    return True
    return False


def _is_of(fn: Any, module: types.ModuleType) -> bool:
    return getattr(fn, "__module__", "") == module.__name__
