"""What can be iterated: `range`, sequences, `zip`, `enumerate`, `reversed`, dicts.

Takes the expression that a loop goes over; gives the number of its items and the item at an index.
`map`, `filter` and `starmap` are what they compute of each item.
"""

from __future__ import annotations

import collections.abc
import itertools
import operator
from collections import OrderedDict
from itertools import starmap
from types import BuiltinMethodType
from typing import Any, Union

import gast
import numpy as np

from srcdiff.frontend.lower.builder import Builder, LocalFunction, Node, Static
from srcdiff.frontend.scopes import at, read
from srcdiff.ir import Assign, Atom, Call, Const, Loc, Name, Ref, Rhs, Role, Tup, Unpacks
from srcdiff.ir.frozen import frozen
from srcdiff.runtime import sequences

LAZY = (map, filter, starmap)
_NAMES = tuple(f.__name__ for f in LAZY)


def is_lazy(b: Builder, node: Node) -> bool:
    """Whether an expression makes an iterator: a generator, or a call of one of `LAZY`."""
    kind = type(node).__name__
    if kind == "GeneratorExp":
        return True
    if kind != "Call" or node.keywords or len(node.args) < 2:
        return False
    if getattr(node.func, "attr", getattr(node.func, "id", "")) not in _NAMES:
        return False
    known = b.static(node.func)
    starred = any(type(a).__name__ == "Starred" for a in node.args)
    return known is not None and any(known.value is f for f in LAZY) and not starred


def generator(b: Builder, node: Node) -> Node:
    """`map(f, xs)`, `filter(f, xs)` and `starmap(f, xs)` as generator expressions."""
    if type(node).__name__ == "GeneratorExp":
        return node
    known = b.static(node.func)
    assert known is not None
    names, value = mapped_step(b, node)
    targets: Any = [read(n, node) for n in names]
    target = targets[0] if len(targets) == 1 else at(gast.Tuple(targets, gast.Store()), node)
    test: list[Any] = []
    if known.value is filter:
        value, test = targets[0], [value]
    sources = sources_of(b, node)
    over = sources[0] if len(sources) == 1 else _zip(b, sources, node)
    part = gast.comprehension(target, over, test, 0)
    made = at(gast.GeneratorExp(value, [part]), node)
    b.made.append(made)
    return made


def mapped_step(b: Builder, node: Node) -> tuple[tuple[str, ...], Node]:
    """What is computed of an item, and the names of what it is computed from."""
    sources = sources_of(b, node)
    names = tuple(variable(b, "item") for _ in sources)
    if type(node.args[0]).__name__ == "Constant":  # filter(None, xs)
        return names, read(names[0], node)
    call = call_of(b, node.args[0], names, node)
    if sources == node.args[1:] and _means(b, node.func, starmap):
        call.args = [at(gast.Starred(call.args[0], gast.Load()), node)]
    return names, call


def sources_of(b: Builder, node: Node) -> list[Node]:
    """What a call of `LAZY` takes items from: `starmap(f, zip(xs, ys))` from `xs` and `ys`."""
    inner = node.args[1]
    plain = type(inner).__name__ == "Call" and inner.args and not inner.keywords
    starred = plain and any(type(a).__name__ == "Starred" for a in inner.args)
    zipped = plain and not starred and _means(b, inner.func, zip)
    found: list[Node] = inner.args if zipped and _means(b, node.func, starmap) else node.args[1:]
    return found


def _means(b: Builder, function: Node, meant: object) -> bool:
    """Whether an expression is the name of a function from outside."""
    known = b.static(function)
    return known is not None and known.value is meant


def is_from_keys(fn: object, node: Node) -> bool:
    """Whether a call is `dict.fromkeys(keys, value)`."""
    mine = isinstance(fn, BuiltinMethodType) and fn.__name__ == "fromkeys"
    starred = any(type(a).__name__ == "Starred" for a in node.args)
    known = mine and getattr(fn, "__self__", None) in (dict, OrderedDict)
    return known and not node.keywords and not starred and len(node.args) in (1, 2)


def from_keys(b: Builder, node: Node) -> Node:
    """`dict.fromkeys(keys, value)` as `{key: value for key in keys}`, the value computed once."""
    keys, *rest = (_held(b, a, "keys") for a in node.args)
    value = rest[0] if rest else at(gast.Constant(None, None), node)
    key = read(variable(b, "key"), node)
    return at(gast.DictComp(key, value, [gast.comprehension(key, keys, [], 0)]), node)


def _held(b: Builder, node: Node, base: str) -> Node:
    """An expression that is computed now, as a name."""
    held = b.fresh(base)
    b.emit(Assign(held, b.rhs(node), b.loc(node)))
    b.scope[held.id] = held
    return read(held.id, node)


def _zip(b: Builder, sources: list[Node], node: Node) -> Node:
    """`zip(xs, ys)` of the sources of a `map`."""
    name = b.fresh("zip").id
    b.scope[name] = Static(zip)
    return at(gast.Call(read(name, node), sources, []), node)


def variable(b: Builder, base: str) -> str:
    """A new source name, which means itself."""
    name = b.fresh(base)
    b.scope[name.id] = name
    return name.id


def call_of(b: Builder, function: Node, names: collections.abc.Sequence[str], node: Node) -> Node:
    """A call of the function that an argument is; one that has to be computed is computed now."""
    if not _is_ready(b, function):
        function = _held(b, function, "function")
    return at(gast.Call(function, [read(n, node) for n in names], []), node)


def _is_ready(b: Builder, function: Node) -> bool:
    """Whether an expression means the same function wherever it stands."""
    kind = type(function).__name__
    if kind == "Lambda":
        return not function.args.defaults
    if kind == "Name" and isinstance(b.scope.get(function.id), (LocalFunction, Name)):
        return True
    return kind in ("Name", "Attribute") and b.static(function) is not None


# --- what can be iterated: `range`, sequences, `zip`, `enumerate`, `reversed`, dicts -------------


_ONE, _ZERO, _BACK = Const(1), Const(0), Const(-1)

# An item: how to compute it, or a tuple of such.
Element = Any


def _arithmetic(b: Builder, op: Any, x: Atom, y: Atom, loc: Loc) -> Atom:
    """`x op y` of whole numbers; of two literals, the literal."""
    if isinstance(x, Const) and isinstance(y, Const):
        return Const(op(x.value, y.value))
    return b.temp(Call(op, (x, y), role=Role.COUNT), loc)


@frozen
class Sequence:
    """A list, tuple or array: `len(base)` items `base[k]`."""

    base: Atom

    def length(self, b: Builder, loc: Loc) -> Atom:
        """The number of items."""
        return b.temp(Call(len, (self.base,), text="len", role=Role.LOOP), loc, "_n")

    def at(self, b: Builder, k: Atom, loc: Loc) -> Element:
        """The item at an index."""
        # A loop takes it: of a dict that would be a key.
        return Call(operator.getitem, (self.base, k), role=Role.LOOP)


@frozen
class Range:
    """`range(*args)`; of one or two arguments unless it is the whole of what is iterated."""

    args: tuple[Atom, ...]

    def length(self, b: Builder, loc: Loc) -> Atom:
        """The number of items; negative also means none."""
        if len(self.args) == 1:
            return self.args[0]
        start, stop = self.args
        return _arithmetic(b, operator.sub, stop, start, loc)

    def at(self, b: Builder, k: Atom, loc: Loc) -> Element:
        """The item at an index."""
        if len(self.args) == 1:
            return k
        return Call(operator.add, (self.args[0], k), role=Role.COUNT)


@frozen
class Zipped:
    """`zip(*parts)`; `strict`: they are of one length."""

    parts: tuple[Items, ...]
    strict: bool = False

    def length(self, b: Builder, loc: Loc) -> Atom:
        """The least number of items."""
        ending = [p for p in self.parts if not isinstance(p, Endless)] or self.parts
        lengths = tuple(p.length(b, loc) for p in ending)
        if len(lengths) == 1:
            return lengths[0]
        if self.strict:
            return b.temp(Call(sequences.same_length, lengths, text="same_length"), loc, "_n")
        return b.temp(Call(min, lengths, text="min"), loc, "_n")

    def at(self, b: Builder, k: Atom, loc: Loc) -> Element:
        """A tuple of the items at an index."""
        return tuple(p.at(b, k, loc) for p in self.parts)


@frozen
class Enumerated:
    """`enumerate(inner, start)`."""

    inner: Items
    start: Atom | None

    def length(self, b: Builder, loc: Loc) -> Atom:
        """The number of items."""
        return self.inner.length(b, loc)

    def at(self, b: Builder, k: Atom, loc: Loc) -> Element:
        """The number and the item at an index."""
        number: Rhs = k
        if self.start is not None:
            number = Call(operator.add, (k, self.start), role=Role.COUNT)
        return number, self.inner.at(b, k, loc)


@frozen
class Reverse:
    """`reversed(inner)`."""

    inner: Sequence | Range

    def length(self, b: Builder, loc: Loc) -> Atom:
        """The number of items."""
        return self.inner.length(b, loc)

    def at(self, b: Builder, k: Atom, loc: Loc) -> Element:
        """The item at an index from the end."""
        if isinstance(self.inner, Sequence):
            after = _arithmetic(b, operator.add, k, _ONE, loc)
            return self.inner.at(b, b.temp(Call(operator.neg, (after,)), loc), loc)
        top = self.inner.args[-1]  # of a range
        below = _arithmetic(b, operator.sub, top, _ONE, loc)
        return Call(operator.sub, (below, k), role=Role.COUNT)


@frozen
class DictItems:
    """`base.items()` and so on, by a list of the keys; `np.ndenumerate` by one of all indices."""

    base: Atom
    keys: Name
    what: str

    def length(self, b: Builder, loc: Loc) -> Atom:
        """The number of items."""
        return b.temp(Call(len, (self.keys,), text="len"), loc, "_n")

    def at(self, b: Builder, k: Atom, loc: Loc) -> Element:
        """The key, the value or both at an index."""
        key = Call(operator.getitem, (self.keys, k))
        if self.what == "keys":
            return key
        name = b.temp(key, loc)
        value = Call(operator.getitem, (self.base, name))
        return value if self.what == "values" else (name, value)


@frozen
class Mapped:
    """`map(f, *parts)`: `call` is what computes an item from those of the parts, by `names`."""

    parts: Zipped
    names: tuple[str, ...]
    call: Node

    def length(self, b: Builder, loc: Loc) -> Atom:
        """The number of items."""
        return self.parts.length(b, loc)

    def at(self, b: Builder, k: Atom, loc: Loc) -> Element:
        """The function's value at an index."""
        for name, item in zip(self.names, self.parts.at(b, k, loc), strict=True):
            b.emit(Assign(Name(name), element_rhs(b, item, self.call), loc))
        return b.rhs(self.call)


@frozen
class Endless:
    """`count(start, step)`, `cycle(xs)`, `repeat(v)`: only beside something that ends."""

    node: Node
    what: Any
    args: tuple[Atom, ...]

    def length(self, b: Builder, loc: Loc) -> Atom:
        """There is none."""
        return b.refuse(
            self.node, f"a loop over `itertools.{self.what.__name__}` has no end",
            "Write `while`, or `zip` it with something that ends.",
        )  # fmt: skip

    def at(self, b: Builder, k: Atom, loc: Loc) -> Element:
        """The item at an index."""
        if self.what is itertools.repeat:
            return self.args[0]
        if self.what is itertools.cycle:
            count = b.temp(Call(len, self.args, text="len"), loc, "_n")
            place = b.temp(Call(operator.mod, (k, count)), loc)
            return Call(operator.getitem, (self.args[0], place))
        given: list[Atom] = [*self.args, *(_ZERO, _ONE)[len(self.args) :]]
        start, step = given
        moved = k if step == _ONE else b.temp(Call(operator.mul, (k, step)), loc)
        return moved if start == _ZERO else Call(operator.add, (start, moved))


Items = Union[Sequence, Range, Zipped, Enumerated, Reverse, DictItems, Mapped, Endless]


def items_of(b: Builder, node: Node, bound: frozenset[str], nested: bool = False) -> Items:
    """What an expression iterates over; names that the loop binds (`bound`) are copied first."""
    if type(node).__name__ == "Call" and not any(type(a).__name__ == "Starred" for a in node.args):
        known = b.static(node.func)
        if known is not None:
            found = _known(b, node, known, bound, nested)
            if found is not None:
                return found
        elif _is_view(node):
            return _dict_items(b, node, bound)
    if type(node).__name__ == "GeneratorExp":
        b.refuse(
            node, "a loop over a generator expression is not supported",
            "Loop over a list: use square brackets.",
        )  # fmt: skip
    return _sequence(b, node, bound)


def loop_items(b: Builder, target: Node, node: Node, bound: frozenset[str]) -> Items:
    """What a loop iterates over; `for x, y in zip(*rows)` runs over the two items of `rows`."""
    rows = _rows_of_zip(b, node)
    kinds = [type(e).__name__ for e in getattr(target, "elts", ())]
    if rows is None or not kinds or "Starred" in kinds:
        return items_of(b, node, bound)
    loc, base = b.loc(node), b.held(b.atom(rows), bound, node)
    if isinstance(base, Tup) and len(base.items) == len(kinds):
        return Zipped(tuple(Sequence(b.as_name(i, node)) for i in base.items))
    parts = [
        b.temp(Call(operator.getitem, (base, Const(i)), role=Unpacks(len(kinds))), loc)
        for i in range(len(kinds))
    ]
    return Zipped(tuple(map(Sequence, parts)))


def _rows_of_zip(b: Builder, node: Node) -> Node | None:
    """The `rows` of `zip(*rows)`."""
    if type(node).__name__ != "Call" or len(node.args) != 1:
        return None
    starred = type(node.args[0]).__name__ == "Starred" and not node.keywords
    known = b.static(node.func) if starred else None
    return node.args[0].value if known is not None and known.value is zip else None


_VIEWS = ("items", "keys", "values")


def _is_view(node: Node) -> bool:
    """Whether a call is `d.items()` or the like."""
    return getattr(node.func, "attr", None) in _VIEWS and not node.args and not node.keywords


def _known(b: Builder, node: Node, known: Ref, bound: frozenset[str], nested: bool) -> Items | None:
    """What a call of a builtin that makes an iterator iterates over."""
    fn, args, keywords = known.value, node.args, node.keywords
    if fn is range and not keywords and 1 <= len(args) <= (2 if nested else 3):
        return Range(tuple(b.held(a, bound, node) for a in b.operands(args)))
    if fn is enumerate and len(args) + len(keywords) <= 2 and args:
        return _enumerated(b, node, bound)
    if fn is zip and args:
        return _zipped(b, node, bound)
    if fn is reversed and len(args) == 1 and not keywords:
        return _reversed(b, args[0], bound)
    if fn is np.ndenumerate and len(args) == 1 and not keywords:
        return _elements(b, node, bound)
    if any(fn is f for f in _ENDLESS) and not keywords and len(args) <= (2 if fn is _COUNT else 1):
        return Endless(node, fn, tuple(b.held(a, bound, node) for a in b.operands(args)))
    if fn in (map, itertools.starmap) and len(args) > 1 and not keywords:
        names, step = mapped_step(b, node)
        parts = tuple(items_of(b, a, bound, nested=True) for a in sources_of(b, node))
        return Mapped(Zipped(parts), names, step)
    return None


_COUNT = itertools.count
_ENDLESS = (itertools.count, itertools.cycle, itertools.repeat)


def _enumerated(b: Builder, node: Node, bound: frozenset[str]) -> Items:
    """`enumerate(xs)`, `enumerate(xs, 1)`, `enumerate(xs, start=1)`."""
    inner = items_of(b, node.args[0], bound, nested=True)
    given = [*node.args[1:], *(k.value for k in node.keywords)]
    start = b.held(b.atom(given[0]), bound, node) if given else None
    return Enumerated(inner, None if start == _ZERO else start)


def _zipped(b: Builder, node: Node, bound: frozenset[str]) -> Items:
    """`zip(xs, ys)`, `zip(xs, ys, strict=True)`."""
    given = {k.arg: getattr(k.value, "value", None) for k in node.keywords}
    strict = given.get("strict", False)
    parts = tuple(items_of(b, a, bound, nested=True) for a in node.args)
    if not isinstance(strict, bool) or (strict and any(isinstance(p, Endless) for p in parts)):
        b.refuse(
            node, "`zip` with this `strict` is not supported",
            "Write `strict=True` for sequences, or leave it out.",
        )  # fmt: skip
    return Zipped(parts, strict)


def _reversed(b: Builder, node: Node, bound: frozenset[str]) -> Items:
    """`reversed(xs)` of a sequence or a range."""
    inner = items_of(b, node, bound, nested=True)
    if isinstance(inner, (Sequence, Range)):
        return Reverse(inner)
    return b.refuse(
        node, "`reversed` of this is not supported",
        "Reverse a list, a tuple, an array or a range.",
    )  # fmt: skip


def _dict_items(b: Builder, node: Node, bound: frozenset[str]) -> Items:
    """`d.items()`, `d.keys()`, `d.values()`."""
    base = b.held(b.atom(node.func.value), bound, node)
    loc = b.loc(node)
    return DictItems(base, b.temp(Call(list, (base,), text="list"), loc), node.func.attr)


def _elements(b: Builder, node: Node, bound: frozenset[str]) -> Items:
    """`np.ndenumerate(x)`: the indices and elements of an array."""
    loc = b.loc(node)
    array = b.temp(Call(np.asarray, (b.atom(node.args[0]),), text="np.asarray"), loc)
    shape = b.temp(Call(np.shape, (array,), text="np.shape"), loc)
    places = b.temp(Call(np.ndindex, (shape,), text="np.ndindex"), loc)
    return DictItems(array, b.temp(Call(list, (places,), text="list"), loc), "items")


def _sequence(b: Builder, node: Node, bound: frozenset[str]) -> Items:
    """Anything else is taken for a sequence."""
    atom = b.atom(node)
    if isinstance(atom, Ref):
        return Sequence(atom)
    return Sequence(b.held(b.as_name(atom, node), bound, node))


def header(b: Builder, items: Items, loc: Loc) -> Call:
    """The range that a loop over the items counts."""
    if isinstance(items, Range):
        return Call(range, items.args, text="range")
    if isinstance(items, Reverse):
        return _backwards(b, items.inner, loc)
    return Call(range, (items.length(b, loc),), text="range")


def _backwards(b: Builder, inner: Sequence | Range, loc: Loc) -> Call:
    """The range that counts down over the indices of a sequence or the items of a range."""
    start: Atom = _ZERO
    if isinstance(inner, Range):
        start, stop = (_ZERO, *inner.args) if len(inner.args) == 1 else inner.args
    else:
        stop = inner.length(b, loc)
    last = _arithmetic(b, operator.sub, stop, _ONE, loc)
    before = _BACK if start == _ZERO else _arithmetic(b, operator.sub, start, _ONE, loc)
    return Call(range, (last, before, _BACK), text="range")


def element_rhs(b: Builder, element: Element, node: Node) -> Rhs:
    """An item as a value."""
    if not isinstance(element, tuple):
        return element  # type: ignore[no-any-return]
    return Tup(tuple(b.as_atom(element_rhs(b, e, node), node) for e in element))
