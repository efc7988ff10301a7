"""Runs the IR directly: what a function lowered to must do what Python does with the function."""

from __future__ import annotations

import inspect
import operator
from typing import Any

from srcdiff import ir

INPLACE = {
    "+": operator.iadd,
    "-": operator.isub,
    "*": operator.imul,
    "/": operator.itruediv,
    "//": operator.ifloordiv,
    "%": operator.imod,
    "@": operator.imatmul,
    "**": operator.ipow,
    "<<": operator.ilshift,
    ">>": operator.irshift,
    "&": operator.iand,
    "|": operator.ior,
    "^": operator.ixor,
}
STYLES = {
    "pos": inspect.Parameter.POSITIONAL_ONLY,
    "any": inspect.Parameter.POSITIONAL_OR_KEYWORD,
    "kw": inspect.Parameter.KEYWORD_ONLY,
    "*": inspect.Parameter.VAR_POSITIONAL,
    "**": inspect.Parameter.VAR_KEYWORD,
}

Env = dict[str, Any]


def run(function: ir.Function, *args: Any, **kwargs: Any) -> Any:
    """Call a function of the IR."""
    env = _arguments(function, args, kwargs)
    block(function.body[:-1], env)
    last = function.body[-1]
    assert isinstance(last, ir.Return)
    return atom(last.value, env)


def _arguments(function: ir.Function, args: tuple[Any, ...], kwargs: Env) -> Env:
    def default(p: ir.Param) -> Any:
        return inspect.Parameter.empty if p.default is None else atom(p.default, {})

    params = [(p.name, STYLES[p.style], default(p)) for p in function.params]
    found = [inspect.Parameter(name, style, default=value) for name, style, value in params]
    bound = inspect.Signature(found).bind(*args, **kwargs)
    bound.apply_defaults()
    return dict(bound.arguments)


def block(statements: ir.Block, env: Env) -> None:
    """Run statements."""
    for stmt in statements:
        statement(stmt, env)


def statement(stmt: ir.Stmt, env: Env) -> None:
    """Run one statement."""
    if isinstance(stmt, ir.Assign):
        env[stmt.target.id] = rhs(stmt.rhs, env)
    elif isinstance(stmt, ir.Permute):
        values = [atom(s, env) for s in stmt.sources]
        env.update(zip([t.id for t in stmt.targets], values, strict=False))
    elif isinstance(stmt, ir.SetItem):
        _store(stmt, env)
    elif isinstance(stmt, ir.Effect):
        rhs(stmt.rhs, env)
    elif isinstance(stmt, ir.Verbatim):
        space = {**dict(stmt.refs), **{n.id: atom(n, env) for n in stmt.reads}}
        exec(stmt.text, space)
        env.update({w.id: space[w.id] for w in stmt.writes})
    elif isinstance(stmt, ir.If):
        block(stmt.body if atom(stmt.test, env) else stmt.orelse, env)
    elif isinstance(stmt, ir.For):
        for item in rhs(stmt.iter, env):
            env[stmt.target.id] = item
            block(stmt.body, env)
            if stmt.stop is not None and atom(stmt.stop, env):
                break
    elif isinstance(stmt, ir.While):
        _while(stmt, env)
    else:
        raise AssertionError(f"not run here: {stmt}")


def _while(stmt: ir.While, env: Env) -> None:
    while True:
        block(stmt.cond, env)
        if not atom(stmt.test, env):
            return
        block(stmt.body, env)
        if stmt.stop is not None and atom(stmt.stop, env):
            return


def _store(stmt: ir.SetItem, env: Env) -> None:
    base, value = atom(stmt.base, env), atom(stmt.value, env)
    if stmt.index is None:
        env[stmt.base.id] = INPLACE[stmt.op or ""](base, value)
        return
    index = atom(stmt.index, env)
    base[index] = value if stmt.op is None else INPLACE[stmt.op](base[index], value)


def rhs(node: ir.Rhs, env: Env) -> Any:
    """The value of a right-hand side."""
    if isinstance(node, ir.Opaque):
        return eval(node.text, {**dict(node.refs), **{n.id: atom(n, env) for n in node.reads}})
    if not isinstance(node, ir.Call):
        return atom(node, env)
    args: list[Any] = []
    for a in node.args:
        args += list(atom(a.value, env)) if isinstance(a, ir.Star) else [atom(a, env)]
    kwargs: Env = {}
    for key, value in node.kwargs:
        kwargs.update(atom(value, env) if key is None else {key: atom(value, env)})
    if isinstance(node.fn, ir.Attr):
        return getattr(args[0], node.fn.name)
    if isinstance(node.fn, ir.Method):
        return getattr(args[0], node.fn.name)(*args[1:], **kwargs)
    fn = atom(node.fn, env) if isinstance(node.fn, ir.Name) else node.fn
    return fn(*args, **kwargs)


def atom(node: ir.Atom, env: Env) -> Any:
    """The value of an atom."""
    if isinstance(node, ir.Name):
        if node.id not in env:
            raise UnboundLocalError(node.id)
        return env[node.id]
    if isinstance(node, ir.Tup):
        return tuple(atom(i, env) for i in node.items)
    if isinstance(node, ir.Slice):
        return slice(*(atom(p, env) for p in ir.parts(node)))
    assert isinstance(node, (ir.Const, ir.Ref))
    return node.value
