"""Names of a function for a module: `xp = np`, `xp = cp.get_array_module(x)`.

Takes the value of an assignment; returns the module that it is, NumPy for either of the modules of
arrays: which of them it is when the function runs is that of the arrays it is called with.
"""

from __future__ import annotations

import sys
import types

import numpy as np

from srcdiff.frontend.lower.builder import Builder, Node, Static
from srcdiff.ir import Atom, Const, Ref


def module_of(b: Builder, value: Node) -> types.ModuleType | None:
    """The module that an expression gives, None where it gives anything else."""
    kind = type(value).__name__
    if kind == "Call":
        return np if _asks_for_module(b, value.func) else None
    if kind not in ("Name", "Attribute"):
        return None
    found = b.static(value)
    return found.value if found is not None and isinstance(found.value, types.ModuleType) else None


def learn(b: Builder, name: str, module: types.ModuleType) -> None:
    """Let a local name mean a module from here on."""
    b.scope[name] = Static(module)


def _asks_for_module(b: Builder, function: Node) -> bool:
    """Whether a function answers with the module of its arguments."""
    kind = type(function).__name__
    if kind == "Attribute" and function.attr == "__array_namespace__":
        return b.static(function.value) is None
    cupy = sys.modules.get("cupy")
    if kind == "Attribute" and function.attr == "get_array_module":
        return cupy is not None and _outer(b, function.value) is cupy
    outer = _outer(b, function) if kind == "Name" else None
    if getattr(outer, "__name__", "") == "array_namespace":  # of SciPy, and where that has it from
        return str(getattr(outer, "__module__", "")).startswith(("scipy.", "array_api_compat"))
    return outer is not None and outer is getattr(cupy, "get_array_module", None)


def _outer(b: Builder, node: Node) -> object:
    """The object that a name means outside the function, None for anything else."""
    if type(node).__name__ != "Name" or b.scope.get(node.id) is not None:
        return None
    b.resolve(node.id, node)
    return b.source.namespace.resolve(node.id)


def check_compared(b: Builder, operands: tuple[Atom, ...], node: Node) -> None:
    """Refuse a comparison with NumPy or CuPy, which are one to the compiler."""
    known = any(isinstance(a, Ref) and a.value is np for a in operands)
    if known and Const(None) not in operands:
        b.refuse(
            node, "the module of arrays is compared: NumPy and CuPy are one here",
            "Decide outside of the function, and pass it as an argument.",
        )  # fmt: skip
