"""Checks kinds against the values that names have while the IR is run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from srcdiff import ir
from srcdiff.ir.interpreter import Env, Interpreter
from srcdiff.ir.kinds import (
    Array,
    Callable,
    Dict,
    Kind,
    List,
    Module,
    NoneKind,
    Object,
    Range,
    Scalar,
    Sym,
    Text,
    Tuple,
    sure,
)
from srcdiff.kinds.lattice import join_all
from srcdiff.runtime import records

Lengths = dict[str, int]


def is_number(value: Any) -> bool:
    return isinstance(value, (bool, int, float, complex, np.generic))


def dtype_of(value: Any) -> str:
    return {bool: "bool", int: "int64", float: "float64", complex: "complex128"}.get(
        type(value)
    ) or value.dtype.name


def check_dim(dim: Any, length: int, lengths: Lengths, where: str) -> None:
    """A length is as its kind says; the same symbol is the same length."""
    if dim is None:
        return
    if isinstance(dim, int):
        assert length == dim, f"{where}: length {length}, not {dim}"
        return
    assert isinstance(dim, Sym)
    assert not dim.big or length != 1, f"{where}: length 1, but {dim}"
    if dim.name == "?":
        return
    key = f"{dim.name} {dim.offset}"
    assert lengths.setdefault(key, length) == length, f"{where}: {dim} is {length} and {lengths}"
    base = lengths.get(dim.name)
    if base is not None:
        assert length == max(0, base + dim.offset), f"{where}: {dim}, {length}, base {base}"


def check(kind: Kind, value: Any, lengths: Lengths, where: str) -> None:
    """A value is as its kind says."""
    kind = sure(kind) if value is not None else kind
    if isinstance(kind, Scalar):
        assert is_number(value), f"{where}: {type(value)} is no number: {kind}"
        if type(value) is int and value == 0 and str(kind.dtype).startswith("float"):
            return  # the sum of an empty list: as good as 0.0 in whatever is computed with it
        assert kind.dtype is None or dtype_of(value) == kind.dtype, f"{where}: {value!r} {kind}"
        if kind.python is not None:
            assert kind.python == (not isinstance(value, np.generic)), f"{where}: {value!r} {kind}"
        assert kind.value is None or value == kind.value, f"{where}: {value!r} {kind}"
        if isinstance(kind.size_of, Sym) and kind.size_of.offset == 0:
            check_dim(kind.size_of, int(value), lengths, where)
    elif isinstance(kind, Array):
        if kind.maybe_scalar and is_number(value):
            return
        assert type(value) is np.ndarray, f"{where}: {type(value)} is no array: {kind}"
        assert kind.dtype is None or value.dtype.name == kind.dtype, f"{where}: {value!r} {kind}"
        if kind.dims is not None:
            assert value.ndim == len(kind.dims), f"{where}: rank {value.ndim}: {kind}"
            for dim, length in zip(kind.dims, value.shape, strict=True):
                check_dim(dim, length, lengths, where)
    elif isinstance(kind, (Tuple, List)):
        assert isinstance(value, tuple if isinstance(kind, Tuple) else list), f"{where}: {kind}"
        if kind.items is not None:
            assert len(value) == len(kind.items), f"{where}: {kind}"
            for k, (item, v) in enumerate(zip(kind.items, value, strict=True)):
                check(item, v, lengths, f"{where}[{k}]")
        elif kind.item is not None:
            for k, v in enumerate(value):
                check(kind.item, v, lengths, f"{where}[{k}]")
    elif isinstance(kind, Dict):
        known = dict(kind.items)
        if kind.cls is not None:
            assert type(value) is kind.cls, f"{where}: {value!r}"
            value = records.attributes(value)
        for key, v in value.items():
            if key in known or kind.item is not None:
                # What is stored under a key that is not known may be stored under this one.
                both = [k for k in (known.get(key), kind.item) if k is not None]
                check(join_all(both), v, lengths, f"{where}[{key!r}]")
    elif isinstance(kind, NoneKind):
        assert value is None, f"{where}: {value!r}"
    elif isinstance(kind, Text):
        assert isinstance(value, str), f"{where}: {value!r}"
    elif isinstance(kind, Range):
        assert isinstance(value, range), f"{where}: {value!r}"
    elif isinstance(kind, Callable):
        assert callable(value), f"{where}: {value!r}"
    elif isinstance(kind, (Module, Object)):
        assert not is_number(value), f"{where}: {value!r}"


class Checker(Interpreter):
    """Runs a function of the IR, looking at the names of every statement."""

    def __init__(self, kinds: Mapping[str, Kind]) -> None:
        self.kinds = kinds
        self.lengths: Lengths = {}

    def statement(self, stmt: ir.Stmt, env: Env) -> None:
        """Run a statement, with what it reads checked before and what it binds after."""
        here: Lengths = {}
        self.look(ir.reads(stmt), env, here, stmt)
        super().statement(stmt, env)
        if not ir.blocks(stmt):
            seen = (
                here if isinstance(stmt, ir.Assign) and stmt.target.id not in ir.reads(stmt) else {}
            )
            self.look(ir.writes(stmt), env, seen, stmt)

    def look(self, names: tuple[str, ...], env: Env, here: Lengths, stmt: Any) -> None:
        """Check names; lengths that only one iteration knows are compared within a statement."""
        for name in names:
            if name in env and name in self.kinds:
                local = {**self.lengths, **here}
                check(self.kinds[name], env[name], local, f"{name} in {stmt}")
                self.lengths.update({k: v for k, v in local.items() if "@" not in k})
                here.update({k: v for k, v in local.items() if "@" in k})


def run_checked(function: ir.Function, kinds: Mapping[str, Kind], args: Any) -> Any:
    """Run a function and check the kinds of all its names."""
    return Checker(kinds).call(function, *args)
