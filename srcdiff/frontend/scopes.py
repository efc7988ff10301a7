"""What names a function binds, reads and only calls, and what those from outside stand for.

Takes the syntax tree of a function, which is walked over once.  Also makes nodes in the place of
others, with their locations.
"""

from __future__ import annotations

import copy
import functools
import types
from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import field
from typing import Any

import gast

from srcdiff.frontend.source.locate import nodes_of
from srcdiff.frontend.source.parse import EmptyCellError, Source
from srcdiff.ir.frozen import state
from srcdiff.runtime import records

Node = Any

COMPREHENSIONS = frozenset({"ListComp", "SetComp", "DictComp", "GeneratorExp"})


@state
class Scan:
    """The names of one scope; nested scopes only contribute what they read from outside."""

    bound: dict[str, int] = field(default_factory=dict)  # name -> how often it is bound
    loaded: dict[str, None] = field(default_factory=dict)  # read otherwise than to be called
    called: dict[str, None] = field(default_factory=dict)
    functions: dict[str, Node] = field(default_factory=dict)  # bound to a def or a lambda
    imports: dict[str, tuple[str, str | None]] = field(default_factory=dict)
    named: dict[str, None] = field(default_factory=dict)  # bound by `:=`
    outer: dict[str, None] = field(default_factory=dict)  # declared nonlocal
    rebound: dict[str, int] = field(default_factory=dict)  # by nested functions, and how often

    @property
    def walrus(self) -> bool:
        """Whether an expression in this scope may bind a name."""
        return bool(self.named or self.rebound or self.outer)

    @property
    def free(self) -> tuple[str, ...]:
        """The names read but not bound here, in order."""
        return tuple(n for n in {**self.loaded, **self.called} if n not in self.bound)

    @property
    def identifiers(self) -> frozenset[str]:
        """Every name that occurs in this scope itself."""
        return frozenset(self.bound) | frozenset(self.loaded) | frozenset(self.called)

    def bind(self, name: str) -> None:
        """Count one more binding of a name."""
        self.bound[name] = self.bound.get(name, 0) + 1


def scan_function(node: Node) -> Scan:
    """The names in the body of a def or lambda, parameters included."""
    scan = Scan()
    for name in parameters(node.args):
        scan.bind(name)
    _each(node.body if isinstance(node.body, list) else [node.body], scan)
    passed_on = (n for n, times in scan.rebound.items() if scan.bound[n] == times)
    for name in (*scan.outer, *passed_on):
        scan.bound.pop(name, None)
    return scan


def scan_nodes(nodes: Iterable[Node]) -> Scan:
    """The names in some statements or expressions."""
    scan = Scan()
    _each(nodes, scan)
    return scan


def parameters(args: Node) -> Iterator[str]:
    """The names of all parameters of a definition."""
    return (node.id for node, _, _ in declared(args))


def declared(args: Node) -> Iterator[tuple[Node, str, Node | None]]:
    """The parameters of a definition: each node, how it is given (as `Param`) and its default."""
    positional = [*args.posonlyargs, *args.args]
    without = len(positional) - len(args.defaults)
    for k, node in enumerate(positional):
        style = "pos" if k < len(args.posonlyargs) else "any"
        yield node, style, args.defaults[k - without] if k >= without else None
    if args.vararg is not None:
        yield args.vararg, "*", None
    for node, default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
        yield node, "kw", default
    if args.kwarg is not None:
        yield args.kwarg, "**", None


def _each(nodes: Iterable[Node], scan: Scan) -> None:
    for node in nodes:
        _walk(node, scan)


def read_names(tree: Node) -> frozenset[str]:
    """Every name that is read in a tree, in the scopes inside it too; `y += x` reads `y`."""
    nodes = nodes_of(tree)
    read = {n.id for n in nodes if type(n).__name__ == "Name" and type(n.ctx).__name__ == "Load"}
    targets = (n.target for n in nodes if type(n).__name__ == "AugAssign")
    return frozenset(read.union(t.id for t in targets if type(t).__name__ == "Name"))


def inside(nodes: Iterable[Node]) -> Iterator[Node]:
    """Nodes and what is inside of them, in source order; nothing inside functions and classes."""
    todo = [*nodes][::-1]
    while todo:
        node = todo.pop()
        yield node
        if type(node).__name__ not in ("FunctionDef", "Lambda", "ClassDef"):
            todo += [*children(node)][::-1]


def children(node: Node) -> Iterator[Node]:
    """The nodes directly inside a node, in field order, but for contexts and operators."""
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, list):
            yield from [v for v in value if hasattr(v, "_fields")]
        elif getattr(value, "_fields", None):
            yield value


def _walk(node: Node, scan: Scan) -> None:
    kind = type(node).__name__
    special = _SPECIAL.get(kind)
    if special is not None:
        special(node, scan)
    elif kind != "Constant":
        _each(children(node), scan)


def _name(node: Node, scan: Scan) -> None:
    if type(node.ctx).__name__ == "Load":
        scan.loaded[node.id] = None
    else:
        scan.bind(node.id)


def _call(node: Node, scan: Scan) -> None:
    if type(node.func).__name__ == "Name":
        scan.called[node.func.id] = None
    else:
        _walk(node.func, scan)
    _each(node.args, scan)
    _each(node.keywords, scan)


def _def(node: Node, scan: Scan) -> None:
    scan.bind(node.name)
    scan.functions[node.name] = node
    _each(node.decorator_list, scan)
    _function(node, scan)


def _function(node: Node, scan: Scan) -> None:
    _each(node.args.defaults, scan)
    _each((d for d in node.args.kw_defaults if d is not None), scan)
    _absorb(scan_function(node), scan)


def _absorb(inner: Scan, scan: Scan) -> None:
    """Count what a nested scope reads from this one."""
    scan.loaded.update((n, None) for n in inner.loaded if n not in inner.bound)
    scan.called.update((n, None) for n in inner.called if n not in inner.bound)
    for name in (*inner.outer, *inner.rebound):
        if name not in inner.bound:
            scan.bind(name)
            scan.rebound[name] = scan.rebound.get(name, 0) + 1


def _nonlocal(node: Node, scan: Scan) -> None:
    scan.outer.update(dict.fromkeys(node.names))


def _comprehension(node: Node, scan: Scan) -> None:
    inner = Scan()
    generators = node.generators
    _walk(generators[0].iter, scan)
    for i, part in enumerate(generators):
        _walk(part.target, inner)
        _each(([part.iter] if i else []) + part.ifs, inner)
    _each((n for n in (getattr(node, f, None) for f in ("key", "elt", "value")) if n), inner)
    for name in inner.named:  # `:=` inside binds in the function
        del inner.bound[name]
        scan.bind(name)
        scan.named[name] = None
    _absorb(inner, scan)


def _named(node: Node, scan: Scan) -> None:
    scan.named[node.target.id] = None
    _each((node.target, node.value), scan)


def _assign(node: Node, scan: Scan) -> None:
    _each((*node.targets, node.value), scan)
    if type(node.value).__name__ == "Lambda" and len(node.targets) == 1:
        target = node.targets[0]
        if type(target).__name__ == "Name":
            scan.functions[target.id] = node.value


def _annotated(node: Node, scan: Scan) -> None:
    _each((node.target, *(() if node.value is None else (node.value,))), scan)


def _import(node: Node, scan: Scan) -> None:
    for name, path, attribute in imported(node):
        scan.bind(name)
        scan.imports[name] = path, attribute


def imported(node: Node) -> Iterator[tuple[str, str, str | None]]:
    """The names that an import binds, each with a module, and the name of what is in it."""
    for alias in node.names:
        if type(node).__name__ == "ImportFrom":
            path = "." * (node.level or 0) + (node.module or "")
            yield alias.asname or alias.name, path, alias.name
        else:
            name = alias.asname or alias.name.partition(".")[0]
            yield name, alias.name if alias.asname else name, None


def _class(node: Node, scan: Scan) -> None:
    scan.bind(node.name)


def _binary(node: Node, scan: Scan) -> None:
    rights = []
    while type(node).__name__ == "BinOp":  # a long sum: no recursion
        rights.append(node.right)
        node = node.left
    _each((node, *reversed(rights)), scan)


_SPECIAL = {
    "BinOp": _binary,
    "Name": _name,
    "Call": _call,
    "FunctionDef": _def,
    "Lambda": _function,
    "NamedExpr": _named,
    "Assign": _assign,
    "AnnAssign": _annotated,
    "Import": _import,
    "ImportFrom": _import,
    "ClassDef": _class,
    "Nonlocal": _nonlocal,
    **dict.fromkeys(COMPREHENSIONS, _comprehension),
}


def has_star(nodes: Iterable[Node]) -> bool:
    """Whether there is a `*xs` among some arguments or items."""
    return any(type(n).__name__ == "Starred" for n in nodes)


# --- nodes of a syntax tree that are made in the place of others, with their locations -----------


def at(new: Node, node: Node) -> Node:
    """A new node at the place of another."""
    return gast.copy_location(new, node)


def instead(new: Node, node: Node) -> Node:
    """A new node at the place of another, whose text is not that of the source."""
    new.in_place_of = type(node).__name__
    return at(new, node)


def read(name: str, node: Node) -> Node:
    """A name that is read."""
    return at(gast.Name(name, gast.Load(), None, None), node)


def statements(text: str, where: Node, **holes: Any) -> list[Node]:
    """Statements of a text at the place of a node, in which `holes` stand for some of the names.

    A hole is another name, an expression, or a list: of expressions among others, of statements.
    """

    def one(node: Node) -> Any:
        name = node.value if type(node).__name__ in ("Expr", "Starred") else node
        hole = holes.get(name.id) if type(name).__name__ == "Name" else None
        if isinstance(hole, str):
            return at(gast.Name(hole, node.ctx, None, None), where) if name is node else None
        return hole if name is node or isinstance(hole, list) else None

    return replaced_all(_parsed(text), one, where)


def assigned(name: str, value: Node) -> Node:
    """`name = value`."""
    return statements("name = value", value, name=name, value=value)[0]


def expression(text: str, where: Node, **holes: Any) -> Node:
    """An expression of a text, as `statements`."""
    return statements(text, where, **holes)[0].value


@functools.lru_cache(maxsize=256)
def _parsed(text: str) -> tuple[Node, ...]:
    """The statements of a text, which nobody changes."""
    return tuple(gast.parse(text).body)


def replaced(node: Node, one: Callable[[Node], Any], where: Node = None) -> Any:
    """A copy of a tree with what `one` gives for nodes: another, several in a list, or None.

    What stays is a copy, at the place of `where` if there is one.
    """
    new = one(node)
    if new is not None:
        return new
    new = copy.copy(node)
    for name, value in gast.iter_fields(node):
        if isinstance(value, list):
            setattr(new, name, replaced_all(value, one, where))
        elif isinstance(value, gast.AST):
            setattr(new, name, replaced(value, one, where))
    return new if where is None else at(new, where)


def replaced_all(
    nodes: Iterable[Node], one: Callable[[Node], Any], where: Node = None
) -> list[Node]:
    """Copies of trees, as `replaced`."""
    found = [replaced(n, one, where) if isinstance(n, gast.AST) else n for n in nodes]
    return [m for n in found for m in (n if isinstance(n, list) else [n])]


# --- what the names of a function that come from outside stand for -------------------------------


def local_names(code: types.CodeType) -> set[str]:
    """The names that a function and those inside it bind."""
    inner = (c for c in code.co_consts if isinstance(c, types.CodeType))
    return {*code.co_varnames, *code.co_cellvars}.union(*map(local_names, inner))


def outside_names(code: types.CodeType) -> set[str]:
    """The names from outside in a function and those inside it, attributes included."""
    inner = (c for c in code.co_consts if isinstance(c, types.CodeType))
    return {*code.co_names, *code.co_freevars}.union(*map(outside_names, inner))


def found(source: Source, name: str) -> Any:
    """The object of a name from outside, None if there is none."""
    try:
        value = source.namespace.resolve(name)
    except (NameError, EmptyCellError):
        return None
    return None if records.is_closed(value) else value


def meaning(source: Source, bound: Set[str], node: Node) -> Any:
    """The object of a dotted name that a function does not bind, else None.

    An attribute is looked up in modules and classes alone: others run code.
    """
    if type(node).__name__ == "Attribute":
        base = meaning(source, bound, node.value)
        if not isinstance(base, (types.ModuleType, type)):
            return None
        value = records.looked_up(base, node.attr)
        return None if value is records.MISSING else value
    if type(node).__name__ != "Name" or node.id in bound:
        return None
    return found(source, node.id)
