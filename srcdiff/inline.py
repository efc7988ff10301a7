"""Replace calls of Python functions by their bodies.

Takes a lowered function; returns one in which every call of a Python function that has source and
no rule is replaced by the function's statements, with names of its own.  Calls of a function in
itself stay calls.  What cannot be lowered stays a call as well, and is refused later if a
derivative has to flow through it.
"""

from __future__ import annotations

import types
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from srcdiff import ir
from srcdiff.augmented import together
from srcdiff.bind import bind_displays
from srcdiff.errors import TransformError
from srcdiff.lower import Closure, Lifted, lower
from srcdiff.parse import parse
from srcdiff.rules import find

_FOREIGN = (
    "numpy", "scipy", "math", "functools", "itertools", "collections", "random", "copy", "srcdiff",
    "builtins", "operator", "typing", "os", "sys", "time", "warnings",
)  # fmt: skip

_DEEP = 60
"""How many calls may be inlined into each other."""


def inline(function: ir.Function, origin: object) -> ir.Function:
    """The function with the bodies of the functions that it calls."""
    fresh = ir.Fresh(ir.all_names(function))
    inliner = _Inline(fresh, (origin,))
    return together(_without_unused(replace(function, body=inliner.block(function.body))))


def is_user_function(fn: object) -> bool:
    """Whether a callee is a Python function that is ours to look into."""
    if isinstance(fn, Lifted):
        return True
    if not isinstance(fn, (types.FunctionType, types.MethodType)) or find(fn) is not None:
        return False
    return not is_foreign(str(getattr(fn, "__module__", None) or ""))


def is_foreign(module: str) -> bool:
    """Whether a module is a library whose functions are not looked into."""
    return module.split(".")[0] in _FOREIGN


@dataclass(frozen=True)
class _Made:
    """A function made by a statement before, and what was being inlined there."""

    closure: Closure
    stack: tuple[object, ...]


class _Inline:
    """The pass, with the functions being inlined and the names that stand for functions."""

    def __init__(
        self,
        fresh: ir.Fresh,
        stack: tuple[object, ...],
        known: dict[str, _Made | ir.Ref] | None = None,
        depth: int = 0,
    ) -> None:
        self.fresh = fresh
        self.stack = stack
        self.known = {} if known is None else known
        self.depth = depth

    def block(self, block: ir.Block) -> ir.Block:
        """A block with its calls replaced."""
        return tuple(s for stmt in block for s in self.stmt(stmt))

    def stmt(self, stmt: ir.Stmt) -> ir.Block:
        """One statement; a call of a function of the user becomes its body."""
        if isinstance(stmt, (ir.If, ir.For, ir.While)):
            return (self.nested(stmt),)
        if isinstance(stmt, (ir.Assign, ir.Effect)) and isinstance(stmt.rhs, ir.Call):
            stmt = replace(stmt, rhs=self.resolved(stmt.rhs))
            assert isinstance(stmt.rhs, ir.Call)
            body = self.body_of(stmt.rhs, stmt)
            if body is not None:
                return body
        self.learn(stmt)
        return (stmt,)

    def nested(self, stmt: ir.If | ir.For | ir.While) -> ir.Stmt:
        """A statement with blocks: what they bind is not known at the head of a loop or after."""
        if not isinstance(stmt, ir.If):
            self.forget(ir.bound((stmt,)))
        new = ir.map_stmt(stmt, lambda n: n, lambda n: n, self.scoped)
        self.forget(ir.bound((new,)))
        return new

    def scoped(self, block: ir.Block) -> ir.Block:
        """A block; what is learned in it is forgotten."""
        before = dict(self.known)
        done = self.block(block)
        self.known.clear()
        self.known.update(before)
        return done

    def forget(self, names: Iterable[str]) -> None:
        """These names are bound anew."""
        for name in names:
            self.known.pop(name, None)

    def learn(self, stmt: ir.Stmt) -> None:
        """A name that stands for a function from here on."""
        found: _Made | ir.Ref | None = None
        rhs = stmt.rhs if isinstance(stmt, ir.Assign) else None
        if isinstance(rhs, Closure):
            found = _Made(rhs, self.stack)
        elif isinstance(rhs, ir.Name):
            found = self.known.get(rhs.id)
        elif isinstance(rhs, ir.Ref) and callable(rhs.value):
            found = rhs
        self.forget(ir.writes(stmt))
        if found is not None and isinstance(stmt, ir.Assign):
            self.known[stmt.target.id] = found

    def resolved(self, call: ir.Call) -> ir.Call:
        """A call of a name that stands for a function found outside."""
        found = self.known.get(call.fn.id) if isinstance(call.fn, ir.Name) else None
        return replace(call, fn=found.value, text=found.text) if isinstance(found, ir.Ref) else call

    def body_of(self, call: ir.Call, stmt: ir.Assign | ir.Effect) -> ir.Block | None:
        """The statements of a call, None if it stays a call."""
        if not is_written_out(call) or self.depth > _DEEP:
            return None
        target = stmt.target if isinstance(stmt, ir.Assign) else None
        if isinstance(call.fn, ir.Name):
            made = self.known.get(call.fn.id)
            return self.called(made, call, target, stmt.loc) if isinstance(made, _Made) else None
        fn = getattr(call.fn, "__srcdiff_primal__", call.fn)
        if not is_user_function(fn) or fn in self.stack:
            return None
        callee = lowered(fn)
        if callee is None or _calls_any(callee.body, self.stack + (fn,)):
            return None
        bound = bind_displays(callee, call, stmt.loc)
        return self.renamed(callee, bound, target, (*self.stack, fn), stmt.loc)

    def called(
        self, made: _Made, call: ir.Call, target: ir.Name | None, loc: ir.Loc
    ) -> ir.Block | None:
        """The body of a function made here; it reads the variables as they are at the call."""
        function, variables = made.closure.function, made.closure.variables
        if function is None or variables is None or any(function is s for s in self.stack):
            return None
        kwargs = tuple((made.closure.keywords.get(str(k), k), v) for k, v in call.kwargs)

        def now(n: ir.Name) -> ir.Atom:
            return variables.get(n.id, n)

        params = tuple(
            p if p.default is None else replace(p, default=ir.map_atom(now, p.default))
            for p in function.params
        )
        bound = bind_displays(replace(function, params=params), replace(call, kwargs=kwargs), loc)
        return self.renamed(function, bound, target, (*made.stack, function), loc, variables)

    def renamed(
        self,
        callee: ir.Function,
        bound: Mapping[str, ir.Atom | ir.Call],
        target: ir.Name | None,
        stack: tuple[object, ...],
        loc: ir.Loc,
        outer: Mapping[str, ir.Atom] | None = None,
    ) -> ir.Block:
        """The callee's body with fresh names, parameters bound, and the result in `target`.

        A parameter that a function made there captures is a variable of its own: what is
        passed for it may be bound anew before that function is called.
        """
        changed = ir.bound(callee.body) | _rebound(callee.body) | _captured(callee.body)
        stored = _stored_bases(callee.body)
        start: list[ir.Stmt] = []
        new: dict[str, ir.Atom] = dict(outer or {})
        for param, value in bound.items():
            moved = param in stored and not isinstance(value, ir.Name)
            if param in changed or moved or isinstance(value, (ir.Tup, ir.Call)):
                new[param] = self.fresh(param)
                start.append(ir.Assign(new[param], value, loc))  # type: ignore[arg-type]
            else:
                new[param] = value
        for name in sorted(ir.bound(callee.body) - set(bound)):
            new[name] = self.fresh(name if not name.startswith("_") else "_t")
        body = _substituted(callee.body, new)
        last = body[-1]
        assert isinstance(last, ir.Return)
        end = () if target is None else (ir.Assign(target, last.value, loc),)
        inner = _Inline(self.fresh, stack, self.known, self.depth + 1)
        return inner.block((*start, *body[:-1], *end))


def is_written_out(call: ir.Call) -> bool:
    """Whether a call has no `*args` or `**kwargs` but displays."""
    stars = (a.value for a in call.args if isinstance(a, ir.Star))
    return all(isinstance(v, ir.Tup) for v in stars) and all(k is not None for k, _ in call.kwargs)


def _captured(block: ir.Block) -> frozenset[str]:
    """The variables that functions made in a block read when they are called."""
    made = (s.rhs for s in ir.walk(block) if isinstance(s, ir.Assign))
    return frozenset(n.id for rhs in made if isinstance(rhs, Closure) for n in rhs.reads)


def _without_unused(function: ir.Function) -> ir.Function:
    """The function without the functions that it makes and nobody uses any more."""
    made = {
        s.target.id
        for s in ir.walk(function.body)
        if isinstance(s, ir.Assign) and isinstance(s.rhs, Closure)
    }
    while made:
        used = ir.used(function.body)
        aliases = {
            s.target.id
            for s in ir.walk(function.body)
            if isinstance(s, ir.Assign) and isinstance(s.rhs, ir.Name) and s.rhs.id in made
        }
        gone = (made | aliases) - used
        if not gone:
            break
        made |= aliases
        function = replace(function, body=_without(function.body, gone))
        made -= gone
    return function


def _without(block: ir.Block, gone: set[str]) -> ir.Block:
    """A block without what binds some names to functions."""
    kept = (s for s in block if not _only_names_function(s, gone))
    return tuple(
        ir.map_stmt(s, lambda n: n, lambda n: n, lambda b: _without(b, gone)) for s in kept
    )


def _only_names_function(stmt: ir.Stmt, gone: set[str]) -> bool:
    return (
        isinstance(stmt, ir.Assign)
        and stmt.target.id in gone
        and isinstance(stmt.rhs, (Closure, ir.Name))
    )


def _stored_bases(block: ir.Block) -> frozenset[str]:
    """The names that a block stores into (they must stay names)."""
    return frozenset(s.base.id for s in ir.walk(block) if isinstance(s, ir.SetItem))


def _rebound(block: ir.Block) -> frozenset[str]:
    """The names that `y += x` may bind anew, if they are numbers."""
    found = (s for s in ir.walk(block) if isinstance(s, ir.SetItem) and s.index is None)
    return frozenset(s.base.id for s in found)


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


def lowered(fn: object) -> ir.Function | None:
    """The lowered callee, None if it has no source or is not accepted."""
    try:
        return function_of(fn)
    except TransformError:
        return None


def function_of(fn: object) -> ir.Function:
    """The IR of a function of the user; a TransformError where it has none."""
    if isinstance(fn, Lifted):
        assert fn.function is not None
        return fn.function
    return lower(parse(fn))  # type: ignore[arg-type]


def _calls_any(block: ir.Block, functions: tuple[object, ...]) -> bool:
    """Whether a block calls one of the functions: then the callee is recursive."""
    for stmt in ir.walk(block):
        rhs = stmt.rhs if isinstance(stmt, (ir.Assign, ir.Effect)) else None
        if isinstance(rhs, ir.Call) and rhs.fn in functions:
            return True
    return False
