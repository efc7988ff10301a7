"""What lists and dicts hold, wherever in the function they were made and whoever writes into them.

A list may have several names, so its contents belong to the place that made it (its site), not to a
name.  Sites that one name may hold are one site.
"""

from __future__ import annotations

import operator
from functools import partial
from itertools import pairwise
from typing import Any

from srcdiff import ir
from srcdiff.ir.disjoint import Disjoint
from srcdiff.ir.frozen import replace
from srcdiff.kinds.calls import call_kind
from srcdiff.kinds.indexing import slice_bounds
from srcdiff.kinds.lattice import join, join_all, kind_of
from srcdiff.primitives.operation import ELEMENT_METHODS, LIST_MUTATORS
from srcdiff.primitives.ops import CONTAINERS, Op, is_op
from srcdiff.primitives.views import is_array
from srcdiff.runtime import records


class Heap:
    """Contents by site; `changed` is set by whatever makes them more general.

    `device`: arrays live on a device.
    """

    def __init__(self, device: bool) -> None:
        self.device = device
        self.held: dict[str, ir.List | ir.Dict] = {}
        self.sets = Disjoint[str]()
        self.changed = False
        self.escaping: set[str] = set()  # what `escape` is at: a list may hold itself

    def intern(self, kind: ir.Kind, site: str) -> ir.Kind:
        """A kind whose lists and dicts refer to their sites, new ones made here."""
        if type(kind) is ir.Tuple and kind.items is not None:
            items = tuple(self.intern(k, f"{site}[{i}]") for i, k in enumerate(kind.items))
            return kind if items == kind.items else ir.Tuple(items)
        if isinstance(kind, ir.Maybe):
            return ir.maybe(self.intern(kind.kind, site))
        if not isinstance(kind, (ir.List, ir.Dict)):
            return kind
        if kind.site and kind.site in self.held and not ir.contents(kind):
            return self.reference(kind)
        name = kind.site or site
        self.hold(name, self._inner(kind, name))
        return self.reference(kind, name)

    def _inner(self, kind: ir.List | ir.Dict, site: str) -> ir.List | ir.Dict:
        """The contents of a new list or dict, themselves interned."""

        def held(inner: ir.Kind, key: object) -> ir.Kind:
            return localless(self.intern(inner, f"{site}[{key}]"))

        item = None if kind.item is None else held(kind.item, "")
        if type(kind) is ir.Dict:
            pairs = tuple((k, held(v, repr(k))) for k, v in kind.items)
            return ir.Dict(pairs, item, site, kind.cls)
        items = None if kind.items is None else [held(k, i) for i, k in enumerate(kind.items)]
        return ir.List(item, None if items is None else tuple(items), site)

    def reference(self, kind: ir.List | ir.Dict, site: str | None = None) -> ir.Kind:
        """A list or dict by its site alone."""
        name = self.sets.find(kind.site if site is None else site)
        if type(kind) is ir.List:
            return ir.List(None, None, name)
        return ir.Dict((), None, name, kind.cls)

    def at(self, kind: ir.List | ir.Dict) -> tuple[str, ir.List | ir.Dict]:
        """The site of a list or dict, and what that holds."""
        site = self.sets.find(kind.site)
        return site, self.held.get(site, kind)

    def hold(self, site: str, kind: ir.List | ir.Dict) -> None:
        """Let a site hold this as well."""
        site = self.sets.find(site)
        old = self.held.get(site)
        new = kind if old is None else self._merged(old, kind, site)
        if new != old:
            self.held[site], self.changed = new, True

    def _merged(self, a: ir.List | ir.Dict, b: ir.List | ir.Dict, site: str) -> ir.List | ir.Dict:
        """What a site holds that holds both of these."""
        item = a.item if b.item is None else b.item if a.item is None else self.join(a.item, b.item)
        if type(a) is ir.List and type(b) is ir.List:
            if a.items is not None and b.items is not None and len(a.items) == len(b.items):
                return ir.List(item, tuple(map(self.join, a.items, b.items)), site)
            return ir.List(join_all((*ir.contents(a), *ir.contents(b)), self.join), None, site)
        if type(a) is ir.Dict and type(b) is ir.Dict and a.cls is b.cls:
            pairs = dict(a.items)
            for key, kind in b.items:
                pairs[key] = self.join(pairs[key], kind) if key in pairs else kind
            return ir.Dict(tuple(pairs.items()), item, site, a.cls)
        return ir.List(ir.UNKNOWN, None, site)

    def resolve(self, kind: ir.Kind, depth: int = 0) -> ir.Kind:
        """A kind with the contents of its lists and dicts, as far as they are not circular."""
        if type(kind) not in (ir.Tuple, ir.Maybe, ir.List, ir.Dict):
            return kind
        if isinstance(kind, (ir.List, ir.Dict)):
            if depth > 4:
                return ir.UNKNOWN
            kind, depth = self.at(kind)[1], depth + 1
        return ir.mapped(partial(self.resolve, depth=depth), kind)

    # --- writing ---

    def add(self, kind: ir.List | ir.Dict, item: ir.Kind) -> None:
        """Something is appended, inserted or stored under an unknown key."""
        site, held = self.at(kind)
        item = localless(self.intern(item, f"{site}[]"))
        if type(held) is ir.List:
            self.hold(site, ir.List(join_all((*ir.contents(held), item), self.join), None, site))
        else:
            rest = item if held.item is None else self.join(held.item, item)
            self.hold(site, ir.Dict(held.items, rest, site, held.cls))

    def shrink(self, kind: ir.List | ir.Dict) -> None:
        """Items are taken out or moved."""
        site, held = self.at(kind)
        if type(held) is ir.List and held.items is not None:
            self.hold(site, ir.List(join_all(ir.contents(held), self.join), None, site))

    def store(self, kind: ir.List | ir.Dict, key: ir.Kind, value: ir.Kind) -> None:
        """`kind[key] = value`."""
        if type(key) is ir.SliceKind:
            self.store_part(kind, key, value)
            return
        site, held = self.at(kind)
        known: Any = key.value if isinstance(key, (ir.Scalar, ir.Text)) else None
        value = localless(self.intern(value, f"{site}[{known!r}]"))
        if type(held) is ir.Dict and known is not None:
            self.hold(site, ir.Dict(((known, value),), None, site, held.cls))
        elif type(held) is ir.List and held.items is not None and isinstance(known, int):
            items = list(held.items)
            if -len(items) <= known < len(items):
                items[known] = self.join(items[known], value)
                self.hold(site, ir.List(held.item, tuple(items), site))
        else:
            self.add(kind, value)

    def store_part(self, kind: ir.List | ir.Dict, part: ir.SliceKind, value: ir.Kind) -> None:
        """`kind[a:b] = value`: item by item where there are surely as many."""
        bounds = slice_bounds(part)
        new = self.resolve(value)
        items, given = ir.known_items(self.resolve(kind)), ir.known_items(new)
        if bounds is not None and items is not None and given is not None:
            places = range(len(items))[bounds]
            if len(places) == len(given):
                for place, item in zip(places, given, strict=True):
                    self.store(kind, ir.Scalar("int64", True, place), item)
                return
        for item in ir.items_of(new):
            self.add(kind, item)
        self.shrink(kind)

    def escape(self, kind: ir.Kind) -> None:
        """Somebody unknown may write into a kind's lists and dicts."""
        kind = ir.sure(kind)
        if type(kind) is ir.Tuple:
            for item in kind.items or ():
                self.escape(item)
        elif isinstance(kind, (ir.List, ir.Dict)):
            site, held = self.at(kind)
            done = held.item == ir.UNKNOWN and (not held.items or type(held) is ir.Dict)
            if done or site in self.escaping:
                return
            self.escaping.add(site)
            unknown: ir.List | ir.Dict = ir.List(ir.UNKNOWN, None, site)
            if type(held) is ir.Dict:
                names = held.items if held.cls is not None else ()
                items = tuple((k, ir.UNKNOWN) for k, _ in names)
                unknown = ir.Dict(items, ir.UNKNOWN, site, held.cls)
            self.hold(site, unknown)
            for item in ir.contents(held):
                self.escape(item)
            self.escaping.discard(site)

    # --- calls ---

    def call(self, name: str, base: ir.List | ir.Dict, rest: list[ir.Kind]) -> None:
        """What a method of a list or dict does to its contents."""
        if name in ("append", "insert", "add") and rest:
            self.add(base, rest[-1])
        elif name == "setdefault" and len(rest) == 2:
            self.store(base, rest[0], rest[1])
        elif name in ("extend", "update"):
            for kind in rest:
                self.extend(base, kind)
        elif name in LIST_MUTATORS and type(base) is ir.List:
            self.shrink(base)

    def attribute(self, base: ir.Dict, store: ir.SetAttr, value: ir.Kind) -> None:
        """`base.name = value`, `base.name op= value`; it was what the class has before."""
        key = ir.Text(store.name)
        first = records.MISSING if base.cls is None else records.default(base.cls, store.name)
        if first is not records.MISSING:
            self.store(base, key, kind_of(first, store.name))
        if store.op is not None:
            value = self.updated(base, key, store.op, value)
        self.store(base, key, value)

    def updated(self, base: ir.List | ir.Dict, key: ir.Kind, op: str, value: ir.Kind) -> ir.Kind:
        """What stands at a place after `base[key] op= value`: an array stays what it is."""
        old = call_kind(operator.getitem, (self.resolve(base), key), (), self.device)
        if is_array(old):
            return old
        new = call_kind(ir.OPERATORS[op], (old, self.resolve(value)), (), self.device)
        return join(old, new) if type(old) is ir.Array else new

    def extend(self, base: ir.List | ir.Dict, kind: ir.Kind) -> None:
        """Every item of `kind` is added."""
        held = ir.sure(self.resolve(kind))
        if type(base) is ir.List and isinstance(held, (ir.List, ir.Tuple)):
            for item in ir.items_of(held):
                self.add(base, item)
        elif type(base) is ir.Dict and type(held) is ir.Dict and held.cls is None:
            for key, item in held.items:
                known = ir.Text(key) if isinstance(key, str) else ir.Scalar("int64", True, key)
                self.store(base, known, item)
            if held.item is not None:
                self.add(base, held.item)
        else:
            self.add(base, ir.UNKNOWN)

    # --- joining ---

    def join(self, a: ir.Kind, b: ir.Kind) -> ir.Kind:
        """The join of two kinds; lists that it may be either of become one site."""
        if a is b or a == b:
            return a
        result = join(self._unified(a, b), self._unified(b, a))
        if result == ir.UNKNOWN:
            self.escape(a)
            self.escape(b)
        return result

    def taken(self, call: ir.Call, args: list[ir.Kind]) -> None:
        """A call may give any one of a container's items: lists and dicts among them are one."""
        if not args or _keeps_apart(call, args):
            return
        kind = args[0]
        if isinstance(kind, (ir.List, ir.Dict)):
            kind = self.at(kind)[1]
        nested = [k for k in ir.inside(kind) if isinstance(k, (ir.List, ir.Dict, ir.Tuple))]
        for one, other in pairwise(nested):
            self._unified(one, other)

    def _unified(self, a: ir.Kind, b: ir.Kind) -> ir.Kind:
        """`a`, after its sites and those of `b` were made one."""
        if isinstance(a, ir.Maybe) or isinstance(b, ir.Maybe):
            new = self._unified(ir.sure(a), ir.sure(b))
            return ir.maybe(new) if isinstance(a, ir.Maybe) else new
        if type(a) is ir.Tuple and type(b) is ir.Tuple:
            if a.items is None or b.items is None or len(a.items) != len(b.items):
                return a
            return ir.Tuple(tuple(map(self._unified, a.items, b.items)))
        same = ir.class_of(a) is ir.class_of(b)
        if isinstance(a, (ir.List, ir.Dict)) and type(a) is type(b) and same:
            self._union(a.site, b.site)
            return replace(a, site=self.sets.find(a.site))
        return a

    def _union(self, a: str, b: str) -> None:
        """Make two sites one."""
        one, two = sorted((self.sets.find(a), self.sets.find(b)))
        if self.sets.join(one, two):
            self.changed = True
            held, other = self.held.pop(two, None), self.held.get(one)
            if held is not None:
                self.hold(one, self._with_defaults(held, other))
            if held is not None and other is not None:
                self.hold(one, self._with_defaults(other, held))

    def _with_defaults(
        self, kind: ir.List | ir.Dict, other: ir.List | ir.Dict | None
    ) -> ir.List | ir.Dict:
        """An object with what its class has of the attributes that only the other one has."""
        if type(kind) is not ir.Dict or type(other) is not ir.Dict or kind.cls is None:
            return kind
        own = {name for name, _ in kind.items}
        missing = ((k, records.of_class(kind.cls, k)) for k, _ in other.items if k not in own)
        found = ((k, f"{kind.site}:{k}", v) for k, v in missing if v is not records.MISSING)
        pairs = tuple((k, localless(self.intern(_default(v, at), at))) for k, at, v in found)
        return replace(kind, items=(*kind.items, *pairs))


def _default(value: Any, name: str) -> ir.Kind:
    """The kind of what a class has for its objects; methods and objects are not looked into."""
    method = hasattr(type(value), "__get__") or records.is_record(type(value))
    return ir.UNKNOWN if method else kind_of(value, name)


def has_no_item(args: list[ir.Kind]) -> bool:
    """Whether nothing was put into a list so far, or nothing under this key of a dict."""
    base = args[0]
    if type(base) is ir.Dict and base.cls is None and len(args) == 2:
        key = args[1].value if isinstance(args[1], (ir.Scalar, ir.Text)) else None
        missing = not base.items or (key is not None and key not in dict(base.items))
        return missing and base.item is None
    return type(base) is ir.List and base.item is None and not base.items


def _keeps_apart(call: ir.Call, args: list[ir.Kind]) -> bool:
    """Whether what a call returns is none of its first argument's items, or a certain one."""
    if not isinstance(args[0], (ir.List, ir.Dict, ir.Tuple)) or type(call.fn) is ir.Attr:
        return True
    if is_op(call, Op.LEN, Op.SET_ATTR, Op.COPY_METHOD, *CONTAINERS):
        return True
    if type(call.fn) is ir.Method:
        return call.fn.name not in ELEMENT_METHODS
    index = args[1] if is_op(call, Op.GETITEM) else None
    return isinstance(index, (ir.Scalar, ir.Text)) and index.value is not None


def localless(kind: ir.Kind, depth: int = 1) -> ir.Kind:
    """A kind without the lengths that only one iteration of a loop (of this depth, or one inside
    it) knows by name.
    """
    if type(kind) is ir.Array and kind.dims is not None:
        dims = tuple(_lasting(d, depth) for d in kind.dims)
        return kind if dims == kind.dims else ir.Array(kind.dtype, dims, kind.maybe_scalar)
    if type(kind) is ir.Scalar and kind.size_of is not None:
        return ir.Scalar(kind.dtype, kind.python, kind.value, _lasting(kind.size_of, depth))
    held = isinstance(kind, (ir.Tuple, ir.Maybe))
    return ir.mapped(partial(localless, depth=depth), kind) if held else kind


def _lasting(dim: ir.Dim, depth: int) -> ir.Dim:
    """A length, if its name means the same in the next iteration."""
    if isinstance(dim, ir.Sym) and "@" in dim.name:
        depths = [int(part[0]) for part in dim.name.split("@")[1:]]
        if max(depths) >= depth:
            return ir.BIG if dim.big else None
    return dim


def widened(old: ir.Kind | None, new: ir.Kind, count: int) -> ir.Kind:
    """A kind at the head of a loop that does not settle is given up, shape first."""
    if old is None or old == new or count < 4:
        return new
    if count < 8 and type(new) is ir.Array:
        return ir.Array(new.dtype, None, new.maybe_scalar)
    return ir.UNKNOWN
