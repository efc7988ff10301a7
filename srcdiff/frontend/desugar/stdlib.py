"""Calls of the standard library as what says the same in plain Python.

Takes the tree of a function and returns it:

`deque`, `defaultdict` and `Counter` as lists and dicts, where nobody can tell: with `q = []` for `q
= deque()` and `q.pop(0)` for `q.popleft()`, with `d = {}` for `d = defaultdict(list)` and
`d.setdefault(k, [])` for `d[k]`.  The invariant: such a name is bound to nothing else, and occurs
only where a list or dict does the same; any other name stays as it is.

`itemgetter(1)`, `attrgetter("y")` and `methodcaller("sum")` as the lambdas that do the same: with
`lambda item: item[1]` for a call that makes such a getter of constants, and for a name from outside
that stands for one.

`hasattr(np, "trapezoid")` as what it is here: with `True` or `False` for questions whether a module
has an attribute, and with the branch that is taken for conditions that ask nothing else.  The
invariant: a module is asked by a name that the function does not bind, and by no other expression.
"""

from __future__ import annotations

import builtins
import copy
import functools
import types
from collections import Counter, defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence, Set
from operator import attrgetter, itemgetter, methodcaller
from typing import Any

import gast
import numpy as np

from srcdiff.frontend.scopes import (
    at,
    children,
    expression,
    found,
    has_star,
    instead,
    local_names,
    meaning,
    outside_names,
    replaced,
    scan_function,
    statements,
)
from srcdiff.frontend.source.parse import Source
from srcdiff.ir.frozen import frozen, replace
from srcdiff.runtime import records

Node = Any

_EMPTY: Mapping[type, str] = {
    list: "[]", dict: "{}", tuple: "()", int: "0", float: "0.0", complex: "0j", str: "''",
}  # fmt: skip
_QUEUE_METHODS = frozenset((
    "append", "appendleft", "clear", "count", "index", "pop", "popleft", "remove", "reverse",
))  # fmt: skip
_UNBOUNDED_METHODS = frozenset(("extend", "insert"))
_DICT_METHODS = frozenset((
    "clear", "get", "items", "keys", "pop", "setdefault", "update", "values",
))  # fmt: skip
_READERS = (len, list, tuple, sum, min, max, sorted, enumerate, zip, reversed, any, all)
_CLOSED = ("FunctionDef", "AsyncFunctionDef", "Lambda", "ClassDef", "JoinedStr")
_MADE = (deque, defaultdict, Counter)


def plain_collections(source: Source) -> Source:
    """A function with lists and dicts in the place of its own deques and defaultdicts.

    Each function inside it has its own: those that another one reads stay.
    """
    names = outside_names(source.function.__code__)
    if not any(n == made.__name__ or found(source, n) is made for n in names for made in _MADE):
        return source
    tree = copy.deepcopy(source.tree)
    look = _Look(source, local_names(source.function.__code__))
    for scope in [n for n in gast.walk(tree) if n is tree or type(n).__name__ == "FunctionDef"]:
        _PlainContainers(_collections(scope, look)).visit(scope)
    return replace(source, tree=tree)


@frozen
class _Kind:
    """What a name holds: a queue of at most `most` items, or a dict that makes each `item`.

    Both are texts.
    """

    most: str = ""
    item: str = ""
    counts: bool = False  # what is only read is not made


def _collections(tree: Node, look: _Look) -> dict[str, _Kind]:
    """The names that may hold lists and dicts instead."""
    scan = scan_function(tree)
    made: dict[str, list[_Kind | None]] = {}
    for stmt in gast.walk(tree):
        for name, value in _given(stmt):
            made.setdefault(name, []).append(look.kind(value))
    nested = {*scan.rebound, *scan.outer}
    found = {
        name: one
        for name, (one, *more) in made.items()
        if one is not None and more == [one] * len(more)
        if scan.bound.get(name) == 1 + len(more) and name not in nested
    }
    for name, above in _occurrences(tree, ()):
        if name in found and not look.fits(found[name], above):
            del found[name]
    return found


def _given(stmt: Node) -> list[tuple[str, Node]]:
    """The names that a statement assigns, each with what it is given."""
    kind = type(stmt).__name__
    targets = stmt.targets if kind == "Assign" else [stmt.target] if kind == "AnnAssign" else []
    if len(targets) != 1:
        return []
    both = targets[0], stmt.value
    if all(type(n).__name__ == "Tuple" for n in both) and len(both[0].elts) == len(both[1].elts):
        pairs = list(zip(both[0].elts, both[1].elts, strict=True))
    else:
        pairs = [both]
    return [(t.id, v) for t, v in pairs if type(t).__name__ == "Name" and v is not None]


def _occurrences(node: Node, above: tuple[Node, ...]) -> Iterator[tuple[str, tuple[Node, ...]]]:
    """Every name in a tree with the nodes around it, from the inside, itself first."""
    above = (node, *above)
    if type(node).__name__ == "Name":
        yield node.id, above
    for child in children(node):
        yield from _occurrences(child, above)


@frozen
class _Look:
    """What is known of names: `local` ones are bound in the function or inside it."""

    source: Source
    local: Set[str]

    def outside(self, node: Node) -> Any:
        """The object that a name or an attribute of one stands for, if it is found outside."""
        return meaning(self.source, self.local, node)

    def kind(self, value: Node) -> _Kind | None:
        """What a call makes, None for any other expression."""
        if type(value).__name__ != "Call" or any(k.arg is None for k in value.keywords):
            return None
        fn, count = self.outside(value.func), len(value.args)
        if has_star(value.args):
            return None
        if fn is deque and not value.keywords and count <= 1:
            return _Kind()
        if fn is deque and count <= 1 and [k.arg for k in value.keywords] == ["maxlen"]:
            return self.bounded(value.keywords[0].value, bool(count))
        if fn is defaultdict and not value.keywords and self.is_filled(value.args[1:]):
            item = self.item(value.args[0]) if count else ""
            return _Kind(item=item) if item else None
        if fn is Counter and not value.keywords and not count:
            return _Kind(item="0", counts=True)
        return None

    def is_filled(self, given: list[Node]) -> bool:
        """Whether a dict can be made of what a `defaultdict` is filled with."""
        if len(given) > 1:
            return False
        literal = all(type(a).__name__ == "Dict" for a in given)
        return literal or self.outside(gast.Name("dict", gast.Load(), None, None)) is dict

    def bounded(self, most: Node, filled: bool) -> _Kind | None:
        """A queue of at most `most` items, which has some from the start or none."""
        number = getattr(most, "value", None)
        plain = type(number) is int and number > 0
        plain = plain or (type(most).__name__ == "Name" and not filled)
        count = self.outside(gast.Name("len", gast.Load(), None, None)) is len
        return _Kind(gast.unparse(most).strip()) if plain and count else None

    def item(self, factory: Node) -> str:
        """What a factory makes, as an expression that may be computed for nothing, if it may."""
        if type(factory).__name__ == "Lambda":
            return gast.unparse(factory.body).strip() if self.is_harmless(factory.body) else ""
        made = self.outside(factory)
        return _EMPTY.get(made, "") if isinstance(made, type) else ""

    def is_harmless(self, node: Node) -> bool:
        """Whether an expression reads names and calls functions that make arrays, and no more."""
        kind = type(node).__name__
        if kind == "Call":
            fn = self.outside(node.func)
            given = (*node.args, *(k.value for k in node.keywords))
            return fn in (np.zeros, np.ones, np.full, np.empty) and all(map(is_plain, given))
        return is_plain(node) or (kind in ("List", "Dict") and not children_of(node))

    def fits(self, kind: _Kind, above: tuple[Node, ...]) -> bool:
        """Whether a list or dict does the same at one place."""
        name, parent = above[:2]
        if any(type(n).__name__ in _CLOSED for n in above[1:-1]):
            return False
        if type(name.ctx).__name__ != "Load":
            return type(name.ctx).__name__ == "Store"
        what = type(parent).__name__
        if what == "Attribute":
            return _fits_method(kind, *above[1:4])
        if what == "Subscript":
            return _fits_item(kind, name, *above[1:3])
        if what == "Call" and name is not parent.func:
            fn = self.outside(parent.func)
            arrays = getattr(fn, "__module__", None) == "numpy" and not kind.item
            return arrays or any(fn is f for f in _READERS)
        if what in ("If", "While", "IfExp"):
            return parent.test is name
        if what == "For" or what == "comprehension":
            return parent.iter is name
        if what == "Compare":
            return parent.left is not name and type(parent.ops[0]).__name__ in ("In", "NotIn")
        return what == "UnaryOp" and type(parent.op).__name__ == "Not"


def _fits_method(kind: _Kind, attribute: Node, call: Node, stmt: Node) -> bool:
    """Whether a method of a list or dict does the same."""
    called = type(call).__name__ == "Call" and call.func is attribute
    name = attribute.attr
    if kind.item:
        known = name in _DICT_METHODS and not (kind.counts and name == "update")  # which adds
        return name == "get" or (called and known)
    if not kind.most:
        return called and name in _QUEUE_METHODS | _UNBOUNDED_METHODS
    alone = name not in ("append", "appendleft") or type(stmt).__name__ == "Expr"
    return called and name in _QUEUE_METHODS and alone


def _fits_item(kind: _Kind, name: Node, item: Node, around: Node) -> bool:
    """Whether `xs[i]` means the same."""
    if item.value is not name:
        return False
    twice = type(around).__name__ == "AugAssign" and around.target is item
    return not kind.item or not twice or is_plain(item.slice)


def is_plain(node: Node) -> bool:
    """Whether an expression of names and constants may be computed twice."""
    kind = type(node).__name__
    if kind in ("Name", "Constant"):
        return True
    parts = ("Tuple", "BinOp", "UnaryOp", "Attribute", "Subscript", "Compare")
    return kind in parts and all(map(is_plain, children_of(node)))


def children_of(node: Node) -> list[Node]:
    """The expressions in an expression."""
    return [c for c in children(node) if hasattr(c, "lineno")]


class _PlainContainers(gast.NodeTransformer):  # type: ignore[misc]
    """Writes what stands for them, in a tree of its own."""

    def __init__(self, found: Mapping[str, _Kind]) -> None:
        self.found = found

    def kind(self, node: Node) -> _Kind | None:
        """What a name holds."""
        return self.found.get(node.id) if type(node).__name__ == "Name" else None

    def visit_Assign(self, node: Node) -> Node:
        """`q = deque()`, and perhaps others beside."""
        made = {id(v): self.found[n] for n, v in _given(node) if n in self.found}
        self.generic_visit(node)
        if made:
            node.value = replaced(
                node.value, lambda n: _made(made[id(n)], n) if id(n) in made else None
            )
        return node

    def visit_AnnAssign(self, node: Node) -> Node:
        """`q: deque = deque()`."""
        return self.visit_Assign(node)

    def visit_Expr(self, node: Node) -> Any:
        """`q.append(v)`, where the first one may have to go."""
        func: Any = getattr(node.value, "func", None)
        kind = self.kind(getattr(func, "value", None))
        self.generic_visit(node)
        if kind is None or not kind.most or func.attr not in ("append", "appendleft"):
            return node
        last = "" if func.attr == "appendleft" else "0"
        text, most = f"if len(queue) > most: queue.pop({last})", expression(kind.most, node)
        return [node, *statements(text, node, queue=func.value.id, most=most)]

    def visit_Call(self, node: Node) -> Node:
        """`q.popleft()`, `q.appendleft(v)`."""
        func = node.func
        kind = self.kind(getattr(func, "value", None))
        self.generic_visit(node)
        if kind is None or kind.item or func.attr not in ("popleft", "appendleft"):
            return node
        name = "pop" if func.attr == "popleft" else "insert"
        return expression(f"queue.{name}(0, *given)", node, queue=func.value, given=node.args)

    def visit_Subscript(self, node: Node) -> Node:
        """`d[k]`, which makes an item where there is none."""
        kind = self.kind(node.value)
        self.generic_visit(node)
        if kind is None or not kind.item or type(node.ctx).__name__ != "Load":
            return node
        method = "get" if kind.counts else "setdefault"
        return self.item(method, kind, node, node)

    def visit_AugAssign(self, node: Node) -> Any:
        """`d[k] += v`."""
        target = node.target
        kind = self.kind(getattr(target, "value", None))
        self.generic_visit(node)
        if type(target).__name__ != "Subscript" or kind is None or not kind.item:
            return node
        return [at(gast.Expr(self.item("setdefault", kind, target, node)), node), node]

    def item(self, method: str, kind: _Kind, place: Node, node: Node) -> Node:
        """`d.setdefault(k, [])` or the like for `d[k]`."""
        parts = {"d": place.value.id, "k": place.slice, "made": expression(kind.item, node)}
        return expression(f"d.{method}(k, made)", node, **parts)


def _made(kind: _Kind, call: Node) -> Node:
    """The list or dict in the place of a call."""
    given = call.args[1:] if kind.item else call.args
    if not given:
        return expression("{}" if kind.item else "[]", call)
    if kind.item:
        literal = type(given[0]).__name__ == "Dict"
        return given[0] if literal else expression("dict(given)", call, given=given[0])
    if not kind.most:
        return expression("[*given]", call, given=given[0])
    return expression("[*given][-most:]", call, given=given[0], most=expression(kind.most, call))


# --- `itemgetter`, `attrgetter` and `methodcaller` as lambdas, `hasattr` as what it is here ------


_MAKERS = (itemgetter, attrgetter, methodcaller)
_CONSTANTS = (int, float, complex, str, type(None))


def plain_lookups(source: Source) -> Source:
    """A function with lambdas for getters, and without questions what a module has."""
    names = outside_names(source.function.__code__)
    if "hasattr" not in names and not any(_is_meant(source, n) for n in names):
        return source
    lookups = _PlainLookups(source, local_names(source.function.__code__))
    return replace(source, tree=lookups.visit(copy.deepcopy(source.tree)))


def _is_meant(source: Source, name: str) -> bool:
    """Whether a name, or an attribute by that name, is a getter or makes one."""
    value = found(source, name)
    made = type(value) in _MAKERS or any(value is m for m in _MAKERS)
    return made or name in ("itemgetter", "attrgetter", "methodcaller")


class _PlainLookups(gast.NodeTransformer):  # type: ignore[misc]
    """Writes the lambdas, and what is known for the questions."""

    def __init__(self, source: Source, bound: Set[str]) -> None:
        self.meaning = functools.partial(meaning, source, bound)

    def visit_Call(self, node: Node) -> Node:
        """`itemgetter(1)`, `hasattr(module, "name")`."""
        self.generic_visit(node)
        fn = self.meaning(node.func)
        if not node.args or node.keywords:
            return node
        if fn is builtins.hasattr and len(node.args) == 2:
            module, name = self.meaning(node.args[0]), getattr(node.args[1], "value", None)
            if not isinstance(module, types.ModuleType) or not isinstance(name, str):
                return node
            there = records.looked_up(module, name) is not records.MISSING
            return instead(gast.Constant(there, None), node)
        values = [getattr(a, "value", ...) for a in node.args]
        return _getter(fn, values, node)

    def visit_Name(self, node: Node) -> Node:
        """A name from outside."""
        value = self.meaning(node)
        if type(value) not in _MAKERS:
            return node
        maker, args = value.__reduce__()
        return _getter(maker, args, node)

    def visit_UnaryOp(self, node: Node) -> Node:
        """`not hasattr(module, "name")`."""
        self.generic_visit(node)
        known = _known(node.operand) if type(node.op).__name__ == "Not" else None
        return node if known is None else instead(gast.Constant(not known, None), node)

    def visit_If(self, node: Node) -> Any:
        """The statements that are run."""
        taken = self.taken(node)
        if taken is None:
            return self.generic_visit(node)
        node.body, node.orelse = taken, []
        return self.generic_visit(node).body or at(gast.Pass(), node)

    def visit_IfExp(self, node: Node) -> Node:
        """The value that is taken."""
        taken = self.taken(node)
        if taken is None:
            return self.generic_visit(node)
        value = self.visit(taken)
        return instead(value, value)

    def taken(self, node: Node) -> Any:
        """The branch of a condition that asks nothing else; a literal stays as it was written."""
        asked = type(node.test).__name__ != "Constant"
        node.test = self.visit(node.test)
        known = _known(node.test) if asked else None
        return None if known is None else node.body if known else node.orelse


def _getter(maker: Any, args: Sequence[Any], node: Node) -> Node:
    """The lambda of a getter of constants, in the place of a node; itself for anything else."""
    if not any(maker is m for m in _MAKERS) or not all(isinstance(a, _CONSTANTS) for a in args):
        return node
    if maker is methodcaller:
        items = [f"item.{args[0]}({', '.join(map(repr, args[1:]))})"]
    else:
        items = [f"item[{a!r}]" if maker is itemgetter else f"item.{a}" for a in args]
    return instead(expression(f"lambda item: ({', '.join(items)})", node), node)


def _known(node: Node) -> bool | None:
    """The truth of a condition that is known."""
    value = node.value if type(node).__name__ == "Constant" else None
    return value if isinstance(value, bool) else None
