"""Nested functions: what a call of one by its name becomes, and what a closure in it sees.

The body takes the place of the call.  Where a function is written out in a loop, its variables are
new ones each time, though their names are the same.  So a closure that outlives the call must keep
the values.  It may where the variable is not bound again after the closure is made; such a variable
is *held*.  For any other the closure also reads a mark that is bound where the variables begin: a
mark that is bound once says that the variables are there once, too.

A wrapper, `def wrapper(*args, **kwargs)` around a function whose parameters are known, passes on
what it was given: `args` and `kwargs` stand for the parameters.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from srcdiff import ir
from srcdiff.errors import TransformError
from srcdiff.frontend.lower import jumps
from srcdiff.frontend.lower.builder import Builder, LocalFunction, Meaning, Node, Spread
from srcdiff.frontend.scopes import Scan, declared, has_star, scan_function
from srcdiff.frontend.signatures import bind, spliced
from srcdiff.ir.frozen import replace

MARK = "~"
_PLACED = ("pos", "any", "*")  # the parameters that are given by position


def settled(
    block: ir.Block, own: frozenset[str], fresh: ir.Fresh, params: Iterable[str] = ()
) -> ir.Block:
    """A block of a call, whose variables are `own`, with the closures in it told what they hold."""
    made = [s for s in ir.walk(block) if _captures(s, own)]
    if not made:
        return block
    params = tuple(params)
    lasting = _lasting(block, own, params)
    mark = fresh("_mark")
    marked = False

    def stmt(s: ir.Stmt) -> ir.Stmt:
        nonlocal marked
        if _captures(s, own):
            assert isinstance(s, ir.Assign)
            rhs: Any = s.rhs
            now = lasting[id(s)]
            held = {n for n, v in zip(rhs.captured, rhs.reads) if v.id in now}
            late = [n for n, v in zip(rhs.captured, rhs.reads) if v.id in own - now]
            if late:
                marked = True
                names = tuple(f"{MARK}{n}" for n in late)
                reads = (*rhs.reads, *[mark] * len(late))
                rhs = replace(rhs, reads=reads, captured=(*rhs.captured, *names))
            return replace(s, rhs=replace(rhs, held=rhs.held | held))
        return s

    # A statement is the same object in `walk` and here: what is looked up is not rebuilt before.
    found = ir.replaced(block, stmt)
    return (ir.Assign(mark, ir.NONE, ir.NOWHERE), *found) if marked else found


def _captures(stmt: ir.Stmt, own: frozenset[str]) -> bool:
    """Whether a statement makes a closure that reads some variables."""
    rhs: Any = stmt.rhs if isinstance(stmt, ir.Assign) else None
    if not hasattr(rhs, "held"):
        return False
    return any(n.id in own for n in rhs.reads)


def _lasting(
    block: ir.Block, own: frozenset[str], params: tuple[str, ...]
) -> dict[int, frozenset[str]]:
    """For every closure the variables that are bound before it, and never again."""
    closures: list[tuple[int, ir.Stmt, set[int]]] = []
    bound: list[tuple[int, str, set[int]]] = [(0, p, set()) for p in params]
    for place, (stmt, around) in enumerate(ir.walk_in_loops(block), 1):
        loops = {*map(id, around), *([id(stmt)] if isinstance(stmt, (ir.For, ir.While)) else ())}
        bound += [(place, name, loops) for name in ir.writes(stmt) if name in own]
        if _captures(stmt, own):
            closures.append((place, stmt, loops))
    found: dict[int, frozenset[str]] = {}
    for place, stmt, loops in closures:
        again = {n for at, n, theirs in bound if at > place or theirs & loops}
        before = {n for at, n, _ in bound if at < place}
        found[id(stmt)] = frozenset(before - again)
    return found


# --- wrappers: `def wrapper(*args, **kwargs)` around a function whose parameters are known -------


def declare(b: Builder, scan: Scan, params: tuple[ir.Param, ...]) -> None:
    """Let `*args` and `**kwargs` stand for the parameters of the wrapped function."""
    inner, args = b.source.wrapped, b.source.tree.args
    assert inner is not None
    taken = {p.name for p in params}
    b.fresh.taken |= taken
    for local in scan.bound:
        if local in taken:
            b.scope[local] = b.fresh(local)
    positional = [ir.Ref(name, value) for name, value in inner.bound.items()]
    given, keywords = passed_on(params)
    b.scope[args.vararg.id] = Spread((*positional, *given))
    if args.kwarg is not None:
        b.scope[args.kwarg.id] = Spread((), keywords)


def passed_on(
    params: tuple[ir.Param, ...],
) -> tuple[tuple[ir.Atom, ...], tuple[tuple[str | None, ir.Atom], ...]]:
    """The arguments of a call that passes on parameters."""
    values = [(p, ir.Name(p.name)) for p in params]
    args = [ir.Star(v) if p.style == "*" else v for p, v in values if p.style in _PLACED]
    named = [(p, v) for p, v in values if p.style not in _PLACED]
    return tuple(args), tuple((None if p.style == "**" else p.name, v) for p, v in named)


def without_spread(b: Builder, node: Node) -> tuple[list[Node], list[Node], Spread]:
    """The arguments and keywords of a call, and those of the wrapper that it passes on."""
    starred = [a.value if type(a).__name__ == "Starred" else None for a in node.args]
    args = [_meaning(b, a) for a in starred]
    kwargs = [_meaning(b, k.value if k.arg is None else None) for k in node.keywords]
    plain = [a for a, s in zip(node.args, args, strict=True) if s is None]
    spread = Spread(
        tuple(a for s in args if s is not None for a in s.args),
        tuple(pair for s in kwargs if s is not None for pair in s.kwargs),
    )
    return plain, [k for k, s in zip(node.keywords, kwargs, strict=True) if s is None], spread


def _meaning(b: Builder, node: Node | None) -> Spread | None:
    """The arguments that a starred name stands for."""
    found = b.scope.get(getattr(node, "id", ""))
    return found if isinstance(found, Spread) else None


# --- nested functions: what a call of one by its name becomes ------------------------------------


def arguments(
    b: Builder, before: Sequence[Node], node: Node
) -> tuple[tuple[ir.Atom, ...], tuple[tuple[str | None, ir.Atom], ...]]:
    """The positional and keyword arguments of a call, evaluated in Python's order."""
    positional, keywords, spread = without_spread(b, node)
    nodes = [*before, *positional, *(k.value for k in keywords)]
    atoms = b.operands(nodes)
    count = len(nodes) - len(keywords)
    kwargs = [(k.arg, a) for k, a in zip(keywords, atoms[count:], strict=True)]
    return (*spliced(atoms[:count]), *spread.args), (*kwargs, *spread.kwargs)


def local_function(b: Builder, node: Node, name: str) -> LocalFunction:
    """A nested definition, its defaults evaluated here."""
    defaults: dict[str, ir.Atom] = {}
    for param, _, default in declared(node.args):
        if default is not None:
            atom = b.atom(default)
            held = atom if isinstance(atom, (ir.Const, ir.Ref)) else b.temp(atom, b.loc(default))
            defaults[param.id] = held
    return LocalFunction(name, node, defaults, b.scope)


def needs_binding(node: Node, fn: LocalFunction) -> bool:
    """Whether it takes the kinds to tell which argument of a call is which parameter."""
    args = fn.node.args
    unknown = has_star(node.args) or any(k.arg is None for k in node.keywords)
    return unknown or bool(args.vararg or args.kwarg)


def inline(b: Builder, node: Node, fn: LocalFunction) -> ir.Rhs:
    """The body of a nested function in place of a call of it, its locals renamed apart."""
    given = _bound_arguments(b, node, fn)
    scan = scan_function(fn.node)
    b.walrus = b.walrus or scan.walrus
    b.rebinding |= {*scan.rebound, *scan.outer}
    scope: dict[str, Meaning] = dict(fn.scope)
    for local in scan.bound:
        scope[local] = b.fresh(local)
    start = len(b.out)
    for param, value in given.items():
        target = scope[param]
        assert isinstance(target, ir.Name)
        b.emit(ir.Assign(target, value, b.loc(node)))
    result = _inlined(b, fn, scope, scan)
    if isinstance(result, ir.Opaque):  # a function, which is to be among the statements
        result = b.temp(result, b.loc(node))
    own = frozenset(b.ir_name_in(scope, n) for n in scan.bound)
    b.out[start:] = settled(tuple(b.out[start:]), own, b.fresh)
    return result


def body_of(b: Builder, fn: LocalFunction, scope: dict[str, Meaning], scan: Any) -> ir.Atom:
    """The value of a nested function's body as an atom."""
    return b.as_atom(_inlined(b, fn, scope, scan), fn.node)


def _inlined(b: Builder, fn: LocalFunction, scope: dict[str, Meaning], scan: Any) -> ir.Rhs:
    """The value of a nested function's body, lowered in its scope."""
    saved = b.scope, b.frame, b.inlining
    b.scope, b.inlining = scope, (*b.inlining, fn.node)
    try:
        if not isinstance(fn.node.body, list):
            return b.rhs(fn.node.body)
        jumps.declare_functions(b, scan)
        b.frame = jumps.frame_of(b, fn.node.body)
        return jumps.function_body(b, fn.node.body)
    finally:
        b.scope, b.frame, b.inlining = saved


def _bound_arguments(b: Builder, node: Node, fn: LocalFunction) -> dict[str, ir.Atom]:
    """The value of each parameter at a call, evaluated in Python's order."""
    params = tuple(ir.Param(p.id, fn.defaults.get(p.id), s) for p, s, _ in declared(fn.node.args))
    call = ir.Call(ir.Name(fn.name), *arguments(b, (), node))
    try:
        return bind(ir.Function(fn.name, params, ()), call, b.loc(node))
    except TransformError:
        b.refuse(
            node, f"the arguments do not fit the nested function `{fn.name}`",
            f"Its parameters are: {', '.join(p.name for p in params) or 'none'}.",
        )  # fmt: skip
