"""What can be iterated: `range`, sequences, `zip`, `enumerate`, `reversed`, dicts.

Takes the expression that a loop goes over; gives the number of its items and the item at an index.
`map`, `filter` and `starmap` are what they compute of each item.
"""

from __future__ import annotations

import collections.abc
import itertools
import operator
from itertools import starmap
from typing import Any

import gast
import numpy as np

from srcdiff.frontend.lower.builder import Builder, LocalFunction, Node
from srcdiff.frontend.scopes import at, has_star, read
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
    if kind != "Call" or node.keywords or len(node.args) < 2 or has_star(node.args):
        return False
    named = getattr(node.func, "attr", getattr(node.func, "id", "")) in _NAMES
    return named and b.means(node.func, *LAZY)


def generator(b: Builder, node: Node) -> Node:
    """`map(f, xs)`, `filter(f, xs)` and `starmap(f, xs)` as generator expressions."""
    if type(node).__name__ == "GeneratorExp":
        return node
    if not b.means(node.func, filter):
        return b.quoted("(x for x in xs)", node, x=read(b.variable("_t"), node), xs=node)
    function, over = node.args[:2]
    item = read(b.variable("item"), node)  # which is no variable of the comprehension's own
    plain = type(function).__name__ == "Constant"  # filter(None, xs)
    test = item if plain else call_of(b, function, [item.id], node)
    return b.quoted("(x for x in xs if test)", node, x=item, xs=over, test=test)


def mapped_step(b: Builder, node: Node, sources: list[Node]) -> tuple[list[str], Node]:
    """What `map` or `starmap` computes of the items of sources, and the names of these."""
    names = [b.variable("item") for _ in sources]
    call = call_of(b, node.args[0], names, node)
    if sources == node.args[1:] and b.means(node.func, starmap):
        call.args = [at(gast.Starred(call.args[0], gast.Load()), node)]
    return names, call


def sources_of(b: Builder, node: Node) -> list[Node]:
    """What `map` takes items from: `starmap(f, zip(xs, ys))` from `xs` and `ys`."""
    inner, found = node.args[1], node.args[1:]
    plain = type(inner).__name__ == "Call" and not inner.keywords and not has_star(inner.args)
    zipped = plain and inner.args and b.means(inner.func, zip) and b.means(node.func, starmap)
    return inner.args if zipped else found  # type: ignore[no-any-return]


def from_keys(b: Builder, node: Node) -> Node:
    """`dict.fromkeys(keys, value)` as `{key: value for key in keys}`, the value computed once."""
    keys, *value = [b.taken(a, "keys") for a in node.args]
    if not value:
        return b.quoted("{key: None for key in keys}", node, keys=keys)
    return b.quoted("{key: value for key in keys}", node, keys=keys, value=value[0])


def call_of(b: Builder, function: Node, names: collections.abc.Sequence[str], node: Node) -> Node:
    """A call of the function that an argument is; one that has to be computed is computed now."""
    given = [read(n, node) for n in names]
    function = function if _is_ready(b, function) else b.taken(function, "function")
    return b.quoted("function(*given)", node, function=function, given=given)


def _is_ready(b: Builder, function: Node) -> bool:
    """Whether an expression means the same function wherever it stands."""
    kind = type(function).__name__
    if kind == "Lambda":
        return not function.args.defaults
    if kind == "Name" and isinstance(b.scope.get(function.id), (LocalFunction, Name)):
        return True
    return kind in ("Name", "Attribute") and b.static(function) is not None


_ONE, _ZERO, _BACK = Const(1), Const(0), Const(-1)

# An item: how to compute it, or a tuple of such.
Element = Any


def _arithmetic(b: Builder, op: Any, x: Atom, y: Atom, loc: Loc) -> Atom:
    """`x op y` of whole numbers; of two literals, the literal."""
    if isinstance(x, Const) and isinstance(y, Const):
        return Const(op(x.value, y.value))
    return b.temp(Call(op, (x, y), role=Role.COUNT), loc)


class Items:
    """What can be iterated, with as many items as what it is made of."""

    inner: Items

    def length(self, b: Builder, loc: Loc) -> Atom:
        """The number of items."""
        return self.inner.length(b, loc)

    def at(self, b: Builder, k: Atom, loc: Loc) -> Element:
        """The item at an index."""
        raise NotImplementedError


@frozen
class Sequence(Items):
    """A list, tuple or array: `len(base)` items `base[k]`."""

    base: Atom

    def length(self, b: Builder, loc: Loc) -> Atom:
        return b.temp(Call(len, (self.base,), text="len", role=Role.LOOP), loc, "_n")

    def at(self, b: Builder, k: Atom, loc: Loc) -> Element:
        # A loop takes it: of a dict that would be a key.
        return Call(operator.getitem, (self.base, k), role=Role.LOOP)


@frozen
class Range(Items):
    """`range(*args)`; of one or two arguments unless it is the whole of what is iterated.

    A negative number of items also means none.
    """

    args: tuple[Atom, ...]

    def length(self, b: Builder, loc: Loc) -> Atom:
        if len(self.args) == 1:
            return self.args[0]
        start, stop = self.args
        return _arithmetic(b, operator.sub, stop, start, loc)

    def at(self, b: Builder, k: Atom, loc: Loc) -> Element:
        if len(self.args) == 1:
            return k
        return Call(operator.add, (self.args[0], k), role=Role.COUNT)


@frozen
class Zipped(Items):
    """`zip(*parts)`; `strict`: they are of one length."""

    parts: tuple[Items, ...]
    strict: bool = False

    def length(self, b: Builder, loc: Loc) -> Atom:
        ending = [p for p in self.parts if not isinstance(p, Endless)] or self.parts
        lengths = tuple(p.length(b, loc) for p in ending)
        if len(lengths) == 1:
            return lengths[0]
        least = sequences.same_length if self.strict else min
        return b.temp(Call(least, lengths, text=least.__name__), loc, "_n")

    def at(self, b: Builder, k: Atom, loc: Loc) -> Element:
        return tuple(p.at(b, k, loc) for p in self.parts)


@frozen
class Enumerated(Items):
    """`enumerate(inner, start)`."""

    inner: Items
    start: Atom | None

    def at(self, b: Builder, k: Atom, loc: Loc) -> Element:
        number: Rhs = k
        if self.start is not None:
            number = Call(operator.add, (k, self.start), role=Role.COUNT)
        return number, self.inner.at(b, k, loc)


@frozen
class Reverse(Items):
    """`reversed(inner)`."""

    inner: Sequence | Range

    def at(self, b: Builder, k: Atom, loc: Loc) -> Element:
        if isinstance(self.inner, Sequence):
            after = _arithmetic(b, operator.add, k, _ONE, loc)
            return self.inner.at(b, b.temp(Call(operator.neg, (after,)), loc), loc)
        top = self.inner.args[-1]  # of a range
        below = _arithmetic(b, operator.sub, top, _ONE, loc)
        return Call(operator.sub, (below, k), role=Role.COUNT)


@frozen
class DictItems(Items):
    """`base.items()` and so on, by a list of the keys; `np.ndenumerate` by one of all indices."""

    inner: Sequence
    base: Atom
    what: str

    def at(self, b: Builder, k: Atom, loc: Loc) -> Element:
        key = self.inner.at(b, k, loc)
        if self.what == "keys":
            return key
        name = b.temp(key, loc)
        value = Call(operator.getitem, (self.base, name))
        return value if self.what == "values" else (name, value)


@frozen
class Mapped(Items):
    """`map(f, *inner)`: `call` is what computes an item from those of the parts, by `names`."""

    inner: Zipped
    names: list[str]
    call: Node

    def at(self, b: Builder, k: Atom, loc: Loc) -> Element:
        for name, item in zip(self.names, self.inner.at(b, k, loc), strict=True):
            b.emit(Assign(Name(name), element_rhs(b, item, self.call), loc))
        return b.rhs(self.call)


@frozen
class Chosen(Items):
    """`combinations(xs, 2)` and the like: of lists made of what is given, items at `inner`."""

    inner: Sequence
    pools: tuple[Atom, ...]

    def at(self, b: Builder, k: Atom, loc: Loc) -> Element:
        places = b.temp(self.inner.at(b, k, loc), loc)
        asks = Unpacks(len(self.pools))
        numbers = [
            b.temp(Call(operator.getitem, (places, Const(j)), role=asks), loc)
            for j in range(len(self.pools))
        ]
        pairs = zip(self.pools, numbers, strict=True)
        return tuple(Call(operator.getitem, pair, role=Role.LOOP) for pair in pairs)


@frozen
class Endless(Items):
    """`count(start, step)`, `cycle(xs)`, `repeat(v)`: only beside something that ends."""

    node: Node
    what: Any
    args: tuple[Atom, ...]

    def length(self, b: Builder, loc: Loc) -> Atom:
        return b.refuse(
            self.node, f"a loop over `itertools.{self.what.__name__}` has no end",
            "Write `while`, or `zip` it with something that ends.",
        )  # fmt: skip

    def at(self, b: Builder, k: Atom, loc: Loc) -> Element:
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


def items_of(b: Builder, node: Node, bound: frozenset[str], nested: bool = False) -> Items:
    """What an expression iterates over; names that the loop binds (`bound`) are copied first."""
    if type(node).__name__ == "Call" and not has_star(node.args):
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
    if type(node).__name__ != "Call" or len(node.args) != 1 or node.keywords:
        return None
    return node.args[0].value if has_star(node.args) and b.means(node.func, zip) else None


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
    if any(fn is f for f in _CHOOSING) and not keywords and args:
        return _chosen(b, node, known, bound)
    if fn in (map, itertools.starmap) and len(args) > 1 and not keywords:
        sources = sources_of(b, node)
        names, step = mapped_step(b, node, sources)
        parts = tuple(items_of(b, a, bound, nested=True) for a in sources)
        return Mapped(Zipped(parts), names, step)
    return None


_COUNT = itertools.count
_ENDLESS = (itertools.count, itertools.cycle, itertools.repeat)


_CHOOSING = (
    itertools.combinations, itertools.combinations_with_replacement, itertools.permutations,
    itertools.product,
)  # fmt: skip


def _chosen(b: Builder, node: Node, known: Ref, bound: frozenset[str]) -> Items | None:
    """`combinations(xs, 2)`, `product(xs, ys)`: by places, of lists made at the beginning."""
    sources: list[Node] = node.args
    size: tuple[Const, ...] = ()
    times = 1
    if known.value is not itertools.product:
        count = getattr(node.args[-1], "value", None)
        if len(node.args) != 2 or type(count) is not int or not 1 <= count <= _WRITTEN_OUT:
            return None
        sources, size, times = node.args[:1], (Const(count),), count
    loc = b.loc(node)
    given = tuple(b.held(a, bound, node) for a in b.operands(sources))
    if all(type(a).__name__ == "Call" and b.means(a.func, range) for a in sources):
        return Sequence(_places(b, known, (*given, *size), loc))
    pools = tuple(b.temp(Call(list, (g,), text="list"), loc, "_pool") for g in given)
    counts = [b.temp(Call(len, (p,), text="len"), loc, "_n") for p in pools]
    ranges = tuple(b.temp(Call(range, (n,), text="range"), loc) for n in counts)
    places = Sequence(_places(b, known, (*ranges, *size), loc))
    return Chosen(places, pools * times)


def _places(b: Builder, known: Ref, args: tuple[Atom, ...], loc: Loc) -> Name:
    """The list of what one of `_CHOOSING` gives of ranges."""
    chosen = b.temp(Call(known.value, args, text=known.text), loc)
    return b.temp(Call(list, (chosen,), text="list"), loc)


_WRITTEN_OUT = 8
"""As many items of a combination have names of their own."""


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
    keys = b.temp(Call(list, (base,), text="list"), b.loc(node))
    return DictItems(Sequence(keys), base, node.func.attr)


def _elements(b: Builder, node: Node, bound: frozenset[str]) -> Items:
    """`np.ndenumerate(x)`: the indices and elements of an array."""
    loc = b.loc(node)
    array = b.temp(Call(np.asarray, (b.atom(node.args[0]),), text="np.asarray"), loc)
    shape = b.temp(Call(np.shape, (array,), text="np.shape"), loc)
    places = b.temp(Call(np.ndindex, (shape,), text="np.ndindex"), loc)
    indices = b.temp(Call(list, (places,), text="list"), loc)
    return DictItems(Sequence(indices), array, "items")


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
