"""The intermediate representation as text, for people who look at a pass."""

from __future__ import annotations

from srcdiff import ir


def show(function: ir.Function) -> str:
    """A function, one statement a line; adjoints stand behind `|` under their statement."""
    params = ", ".join(p.name for p in function.params)
    return "\n".join([f"{function.name}({params}):", *_block(function.body, 1)]) + "\n"


def _block(block: ir.Block, depth: int) -> list[str]:
    return [line for stmt in block for line in _stmt(stmt, depth)]


def _stmt(stmt: ir.Stmt, depth: int) -> list[str]:
    pad = "    " * depth
    if isinstance(stmt, ir.Pair):
        primal = [] if stmt.primal is None else _stmt(stmt.primal, depth)
        return [*primal, *(f"{pad}| {line}" for line in _block(stmt.adjoint, 0))]
    if isinstance(stmt, ir.If):
        lines = [f"{pad}if {atom(stmt.test)}:", *_block(stmt.body, depth + 1)]
        return [*lines, *([f"{pad}else:", *_block(stmt.orelse, depth + 1)] if stmt.orelse else [])]
    until = f"  until {stop.id}" if (stop := getattr(stmt, "stop", None)) else ""
    if isinstance(stmt, ir.For):
        head = f"{pad}for {stmt.target.id} in {rhs(stmt.iter)}{until}:"
        return [head, *_block(stmt.body, depth + 1)]
    if isinstance(stmt, ir.While):
        lines = [f"{pad}while{until}:", *_block(stmt.cond, depth + 1)]
        return [*lines, f"{pad}  {atom(stmt.test)}:", *_block(stmt.body, depth + 1)]
    return [pad + _simple(stmt)]


def _simple(stmt: ir.Stmt) -> str:
    """A statement without blocks."""
    if isinstance(stmt, ir.Assign):
        return f"{stmt.target.id} = {rhs(stmt.rhs)}"
    if isinstance(stmt, ir.Permute):
        left = ", ".join(t.id for t in stmt.targets)
        return f"{left} = {', '.join(s.id for s in stmt.sources)}"
    if isinstance(stmt, ir.Store):
        place = stmt.base.id + ("" if stmt.index is None else f"[{atom(stmt.index)}]")
        op = stmt.op if isinstance(stmt, ir.AugAssign) else ""
        return f"{place} {op}= {atom(stmt.value)}"
    if isinstance(stmt, ir.Effect):
        return rhs(stmt.rhs)
    if isinstance(stmt, ir.Unpack):
        return f"{stmt.items.targets('_')} = {atom(stmt.value)}"
    if isinstance(stmt, ir.Accum):
        return f"accumulate {stmt.target.id} += {atom(stmt.value)}"
    if isinstance(stmt, ir.Demand):
        return f"demand {stmt.target.id}, like {stmt.like.id}"
    if isinstance(stmt, ir.Reset):
        return f"reset {stmt.target.id}"
    if isinstance(stmt, ir.Undo):
        return "undo"
    if isinstance(stmt, ir.Return):
        return f"return {atom(stmt.value)}"
    return "# backward" if isinstance(stmt, ir.Backward) else str(getattr(stmt, "text", stmt))


def rhs(node: ir.Rhs) -> str:
    """A right-hand side."""
    if isinstance(node, ir.Opaque):
        return node.text
    if not isinstance(node, ir.Call):
        return atom(node)
    if isinstance(node.fn, ir.SetAttr):
        base, value = map(atom, node.args)
        return f"{base}.{node.fn.name} {node.fn.op or ''}= {value}"
    args = [atom(a) for a in node.args]
    args += [f"{k}={atom(v)}" if k else f"**{atom(v)}" for k, v in node.kwargs]
    return f"{_callee(node)}({', '.join(args)})"


def _callee(call: ir.Call) -> str:
    if isinstance(call.fn, (ir.Method, ir.Attr)):
        return f".{call.fn.name}"
    if isinstance(call.fn, ir.Name):
        return call.fn.id
    return call.text or str(getattr(call.fn, "__name__", None) or getattr(call.fn, "name", call.fn))


def atom(node: ir.Atom) -> str:
    """An atom."""
    if isinstance(node, ir.Name):
        return node.id
    if isinstance(node, ir.Const):
        return "..." if node.value is ... else repr(node.value)
    if isinstance(node, ir.Ref):
        return node.text
    if isinstance(node, ir.Slice):
        parts = ["" if p == ir.NONE else atom(p) for p in (node.lower, node.upper, node.step)]
        return ":".join(parts if parts[2] else parts[:2])
    if isinstance(node, ir.Star):
        return f"*{atom(node.value)}"
    return f"({', '.join(map(atom, node.items))}{',' if len(node.items) == 1 else ''})"
