"""The operations that passes know by name: which callees are which, and that passes ask."""

import ast
import copy
import dataclasses
import functools
import importlib
import itertools
import math
import operator
import warnings
from pathlib import Path

import numpy as np
import pytest

import srcdiff
from srcdiff import ir
from srcdiff.primitives.ops import Op, is_op, op_named, which_op
from srcdiff.runtime import trees

PACKAGE = Path(srcdiff.__file__).parent


def found(spelling):
    """The callee that a spelling stands for."""
    if spelling.startswith("."):
        name = spelling[1:].removesuffix("()")
        return ir.Method(name) if spelling.endswith("()") else ir.Attr(name)
    parts = spelling.split(".")
    if spelling.startswith(("srcdiff.", "scipy.")):
        return getattr(importlib.import_module(".".join(parts[:-1])), parts[-1])
    homes = (np, operator, math, copy, functools, itertools, dataclasses, warnings)
    held = {home.__name__.strip("_"): home for home in homes}.get(parts[0])
    if held is None:
        held, parts = importlib.import_module("builtins"), ["", *parts]
    for part in parts[1:]:
        held = getattr(held, part)
    return held


def test_each_spelling_is_the_operation():
    for op, spelling in [(o, s) for o in Op for s in o.value.split()]:
        callee = found(spelling)
        assert op_named(callee) is op, spelling
        assert is_op(ir.Call(callee, (ir.Name("x"),)), op), spelling
        others = [o for o in Op if o is not op]
        assert not is_op(ir.Call(callee, (ir.Name("x"),)), *others), spelling


def test_no_callee_is_two_operations():
    spellings = [spelling for op in Op for spelling in op.value.split()]
    assert len(spellings) == len(set(spellings))


def test_other_expressions_are_no_operation():
    assert not is_op(None, *Op)
    assert not is_op(ir.Name("x"), *Op)
    assert not is_op(ir.Const(2), *Op)


def imitation(like):
    """A function that says of itself that it is another one."""

    @functools.wraps(like)
    def own(*args, **kwargs):
        return like(*args, **kwargs)

    return own


class Equal:
    """What calls itself equal to everything, and has no hash."""

    __hash__ = None

    def __eq__(self, other):
        raise AssertionError("asked whether it is equal")

    def __call__(self, x):
        return x


@pytest.mark.parametrize("callee", [
    ir.Method("pop", after=dict), ir.Method("append", foreign=True), ir.Attr("T", after=np.ndarray),
    ir.Name("len"), np.multiply.at, np.add.reduce, np.vectorize(len), imitation(np.copy),
    imitation(len), imitation(trees.cotangent), Equal(), np.frompyfunc(len, 1, 1),
])  # fmt: skip
def test_what_only_looks_like_an_operation_is_none(callee):
    assert op_named(callee) is None
    assert which_op(ir.Call(callee, (ir.Name("x"),))) is None


def test_passes_ask_for_operations_and_compare_no_callees():
    compared = [
        f"{path.relative_to(PACKAGE)}:{node.lineno}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if path.relative_to(PACKAGE).parts[0] not in ("primitives", "frontend")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Compare)
        and isinstance(node.left, ast.Attribute)
        and node.left.attr == "fn"
    ]
    assert not compared


def tables_of(path):
    """What stands behind a `*` in the questions of a file whether a call is one of some."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "is_op":
            tables = [a.value for a in node.args if isinstance(a, ast.Starred)]
            yield from (t.id for t in tables if isinstance(t, ast.Name))


def test_tables_hold_operations():
    """A function among them would never be found, and nothing would say so."""
    for path in PACKAGE.rglob("*.py"):
        for name in tables_of(path):
            parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
            table = vars(importlib.import_module(".".join(parts))).get(name, ())  # or local
            assert all(isinstance(op, Op) for op in table), (path, name)
