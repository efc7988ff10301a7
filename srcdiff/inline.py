"""Replace calls of Python functions by their bodies.

Takes a lowered function; returns one in which every call of a Python function that has source and
no rule is replaced by the function's statements, with names of its own.  Calls of a function in
itself stay calls.  What cannot be lowered stays a call as well, and is refused later if a
derivative has to flow through it.
"""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import replace

from srcdiff import ir
from srcdiff.bind import bind
from srcdiff.errors import TransformError
from srcdiff.lower import lower
from srcdiff.parse import parse
from srcdiff.rules import find

_FOREIGN = ("numpy", "scipy", "math", "functools", "itertools", "collections", "random", "copy",
            "srcdiff", "builtins", "operator", "typing", "os", "sys", "time", "warnings")  # fmt: skip


def inline(function: ir.Function, origin: object) -> ir.Function:
    """The function with the bodies of the functions that it calls."""
    fresh = ir.Fresh(ir.all_names(function))
    inliner = _Inline(fresh, (origin,))
    return replace(function, body=inliner.block(function.body))


def is_user_function(fn: object) -> bool:
    """Whether a callee is a Python function that is ours to look into."""
    if not isinstance(fn, (types.FunctionType, types.MethodType)) or find(fn) is not None:
        return False
    module = str(getattr(fn, "__module__", None) or "")
    return module.split(".")[0] not in _FOREIGN


class _Inline:
    """The pass, with the functions that are being inlined."""

    def __init__(self, fresh: ir.Fresh, stack: tuple[object, ...]) -> None:
        self.fresh = fresh
        self.stack = stack

    def block(self, block: ir.Block) -> ir.Block:
        """A block with its calls replaced."""
        return tuple(s for stmt in block for s in self.stmt(stmt))

    def stmt(self, stmt: ir.Stmt) -> ir.Block:
        """One statement; a call of a function of the user becomes its body."""
        if isinstance(stmt, (ir.Assign, ir.Effect)) and isinstance(stmt.rhs, ir.Call):
            body = self.body_of(stmt.rhs, stmt)
            if body is not None:
                return body
        return (ir.map_stmt(stmt, lambda n: n, lambda n: n, self.block),)

    def body_of(self, call: ir.Call, stmt: ir.Assign | ir.Effect) -> ir.Block | None:
        """The statements of a call, None if it stays a call."""
        fn = getattr(call.fn, "__srcdiff_primal__", call.fn)
        if not is_user_function(fn) or fn in self.stack:
            return None
        callee = _lowered(fn)
        if callee is None or _calls_any(callee.body, self.stack + (fn,)):
            return None
        bound = bind(callee, call, stmt.loc)
        target = stmt.target if isinstance(stmt, ir.Assign) else None
        return self.renamed(callee, bound, target, fn, stmt.loc)

    def renamed(
        self,
        callee: ir.Function,
        bound: Mapping[str, ir.Atom],
        target: ir.Name | None,
        fn: object,
        loc: ir.Loc,
    ) -> ir.Block:
        """The callee's body with fresh names, parameters bound, and the result in `target`."""
        changed = ir.bound(callee.body) | _stored_bases(callee.body)
        start: list[ir.Stmt] = []
        new: dict[str, ir.Atom] = {}
        for param, atom in bound.items():
            if param in changed or isinstance(atom, ir.Tup):
                new[param] = self.fresh(param)
                start.append(ir.Assign(new[param], atom, loc))  # type: ignore[arg-type]
            else:
                new[param] = atom
        for name in sorted(ir.bound(callee.body) - set(bound)):
            new[name] = self.fresh(name if not name.startswith("_") else "_t")
        body = _substituted(callee.body, new)
        inner = _Inline(self.fresh, (*self.stack, fn))
        done = inner.block(body[:-1])
        last = body[-1]
        assert isinstance(last, ir.Return)
        end = () if target is None else (ir.Assign(target, last.value, loc),)
        return (*start, *done, *end)


def _stored_bases(block: ir.Block) -> frozenset[str]:
    """The names that a block stores into (they must stay names)."""
    return frozenset(s.base.id for s in ir.walk(block) if isinstance(s, ir.SetItem))


def _substituted(block: ir.Block, new: Mapping[str, ir.Atom]) -> ir.Block:
    """A block with names replaced by atoms."""

    def read(n: ir.Name) -> ir.Atom:
        return new.get(n.id, n)

    def write(n: ir.Name) -> ir.Name:
        found = new.get(n.id, n)
        assert isinstance(found, ir.Name)
        return found

    def many(inner: ir.Block) -> ir.Block:
        return tuple(ir.map_stmt(s, read, write, many) for s in inner)

    return many(block)


def _lowered(fn: object) -> ir.Function | None:
    """The lowered callee, None if it has no source or is not accepted."""
    try:
        return lower(parse(fn))  # type: ignore[arg-type]
    except TransformError:
        return None


def _calls_any(block: ir.Block, functions: tuple[object, ...]) -> bool:
    """Whether a block calls one of the functions: then the callee is recursive."""
    for stmt in ir.walk(block):
        rhs = stmt.rhs if isinstance(stmt, (ir.Assign, ir.Effect)) else None
        if isinstance(rhs, ir.Call) and rhs.fn in functions:
            return True
    return False
