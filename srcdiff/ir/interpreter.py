"""Runs a function of the IR as Python runs the function that it says.

Takes a function and arguments; gives what it returns.  Of statements with adjoints the primals run.
Who wants to see or to change what happens (the kinds of values, calls of functions that only the
compiler knows) overrides a method of `Interpreter`.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from srcdiff.ir import nodes as ir
from srcdiff.ir.visit import parts

_STYLES = {
    "pos": inspect.Parameter.POSITIONAL_ONLY,
    "any": inspect.Parameter.POSITIONAL_OR_KEYWORD,
    "kw": inspect.Parameter.KEYWORD_ONLY,
    "*": inspect.Parameter.VAR_POSITIONAL,
    "**": inspect.Parameter.VAR_KEYWORD,
}

Env = dict[str, Any]
"""What the variables of a function stand for."""


def run(function: ir.Function, *args: Any, **kwargs: Any) -> Any:
    """Call a function of the IR."""
    return Interpreter().call(function, *args, **kwargs)


def bound_arguments(function: ir.Function, args: Any, kwargs: Mapping[str, Any]) -> Env:
    """The arguments of a call by parameter, defaults included."""
    bound = _signature(function).bind(*args, **kwargs)
    bound.apply_defaults()
    return dict(bound.arguments)


def _signature(function: ir.Function) -> inspect.Signature:
    def default(p: ir.Param) -> Any:
        return inspect.Parameter.empty if p.default is None else Interpreter().atom(p.default, {})

    params = [(p.name, _STYLES[p.style], default(p)) for p in function.params]
    return inspect.Signature([inspect.Parameter(n, s, default=d) for n, s, d in params])


class Interpreter:
    """Runs statements, which read and bind variables."""

    def call(self, function: ir.Function, *args: Any, **kwargs: Any) -> Any:
        """What a function returns for some arguments."""
        return self.run(function, bound_arguments(function, args, kwargs))

    def run(self, function: ir.Function, env: Env) -> Any:
        """What a function returns where its parameters stand for these values."""
        *body, last = function.body
        self.block(tuple(body), env)
        last = last.primal if isinstance(last, ir.Pair) and last.primal else last
        assert isinstance(last, ir.Return)
        return self.atom(last.value, env)

    def block(self, statements: ir.Block, env: Env) -> None:
        """Run statements."""
        for stmt in statements:
            self.statement(stmt, env)

    def statement(self, stmt: ir.Stmt, env: Env) -> None:
        """Run one statement."""
        if isinstance(stmt, ir.Assign):
            env[stmt.target.id] = self.rhs(stmt.rhs, env)
        elif isinstance(stmt, ir.If):
            self.block(stmt.body if self.atom(stmt.test, env) else stmt.orelse, env)
        elif isinstance(stmt, ir.For):
            self.loop(stmt, env)
        elif isinstance(stmt, ir.While):
            self.repeat(stmt, env)
        elif isinstance(stmt, ir.Store):
            self.store(stmt, env)
        else:
            self.rare(stmt, env)

    def rare(self, stmt: ir.Stmt, env: Env) -> None:
        """Run one statement of the other kinds."""
        if isinstance(stmt, ir.Effect):
            self.rhs(stmt.rhs, env)
        elif isinstance(stmt, ir.Permute):
            values = [self.atom(s, env) for s in stmt.sources]
            env.update(zip([t.id for t in stmt.targets], values))
        elif isinstance(stmt, ir.Unpack):
            exec(f"{stmt.items.targets('_')} = value", {"value": self.atom(stmt.value, env)})
        elif isinstance(stmt, ir.Verbatim):
            space = self.space(stmt, env)
            exec(stmt.text, space)
            env.update({w.id: space[w.id] for w in stmt.writes})
        elif isinstance(stmt, ir.Pair):
            self.block(() if stmt.primal is None else (stmt.primal,), env)
        else:
            assert isinstance(stmt, ir.Backward), f"not run here: {stmt}"

    def loop(self, stmt: ir.For, env: Env) -> None:
        """Run a loop over items."""
        for item in self.rhs(stmt.iter, env):
            env[stmt.target.id] = item
            self.block(stmt.body, env)
            if stmt.stop is not None and self.atom(stmt.stop, env):
                break

    def repeat(self, stmt: ir.While, env: Env) -> None:
        """Run a loop with a condition."""
        while True:
            self.block(stmt.cond, env)
            if not self.atom(stmt.test, env):
                return
            self.block(stmt.body, env)
            if stmt.stop is not None and self.atom(stmt.stop, env):
                return

    def store(self, stmt: ir.Store, env: Env) -> None:
        """Run a store."""
        base, value = self.atom(stmt.base, env), self.atom(stmt.value, env)
        index = None if stmt.index is None else self.atom(stmt.index, env)
        if not isinstance(stmt, ir.AugAssign):
            base[index] = value
        elif stmt.index is None:
            env[stmt.base.id] = ir.IN_PLACE[stmt.op](base, value)
        else:
            base[index] = ir.IN_PLACE[stmt.op](base[index], value)

    def rhs(self, node: ir.Rhs, env: Env) -> Any:
        """The value of a right-hand side."""
        if isinstance(node, ir.Opaque):
            return eval(node.text, self.space(node, env))
        return self.called(node, env) if isinstance(node, ir.Call) else self.atom(node, env)

    def space(self, node: ir.Opaque | ir.Verbatim, env: Env) -> dict[str, Any]:
        """The names that a text reads, with what they stand for."""
        return {**dict(node.refs), **{n.id: self.atom(n, env) for n in node.reads}}

    def called(self, call: ir.Call, env: Env) -> Any:
        """What a call gives."""
        args = self.atoms(call.args, env)
        kwargs: Env = {}
        for key, value in call.kwargs:
            kwargs.update(self.atom(value, env) if key is None else {key: self.atom(value, env)})
        fn = self.atom(call.fn, env) if isinstance(call.fn, ir.Name) else call.fn
        return self.apply(fn, args, kwargs)

    def apply(self, fn: Any, args: list[Any], kwargs: Env) -> Any:
        """What a callee gives for the values of its arguments."""
        if isinstance(fn, ir.SetAttr):
            return ir.set_attr(args[0], fn.name, args[1], fn.op)
        if not isinstance(fn, (ir.Attr, ir.Method)):
            return fn(*args, **kwargs)
        base = args[0] if fn.after is None else super(fn.after, args[0])
        found = getattr(base, fn.name)
        return found if isinstance(fn, ir.Attr) else found(*args[1:], **kwargs)

    def atoms(self, nodes: tuple[ir.Atom, ...], env: Env) -> list[Any]:
        """The values of several atoms, those of `*xs` each for itself."""
        found: list[Any] = []
        for a in nodes:
            if isinstance(a, ir.Star):
                found.extend(self.atom(a.value, env))
            else:
                found.append(self.atom(a, env))
        return found

    def atom(self, node: ir.Atom, env: Env) -> Any:
        """The value of an atom."""
        if isinstance(node, ir.Name):
            if node.id not in env:
                raise UnboundLocalError(node.id)
            return env[node.id]
        if isinstance(node, ir.Tup):
            items = self.atoms(node.items, env)
            return items if node.listed else tuple(items)
        if isinstance(node, ir.Slice):
            return slice(*(self.atom(p, env) for p in parts(node)))
        assert isinstance(node, (ir.Const, ir.Ref))
        return node.value
