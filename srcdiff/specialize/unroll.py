"""What is known of the values of a function, and loops over objects of several kinds.

Takes a function and the kinds of its names; gives the keys of dicts that nobody writes into, the
lists of names that are made of them, the function without the branches that conditions of known
values do not take, and with loops over objects and functions that have nothing in common written
out.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Container, Iterator, Mapping
from typing import Any, TypeGuard

from srcdiff import ir
from srcdiff.analysis.liveness import live_after, live_before
from srcdiff.ir.builder import Rewriter
from srcdiff.kinds.calls import atom_kind
from srcdiff.primitives.effects import is_pure
from srcdiff.primitives.operation import Which, op_of
from srcdiff.primitives.ops import Op, is_op
from srcdiff.runtime import records
from srcdiff.runtime.records import MISSING
from srcdiff.specialize.objects.places import has_objects, item_at, read_key, stores

_LOOKS = (
    Op.GETITEM, Op.CONTAINS, Op.LEN, Op.LIST, Op.SORTED, Op.GET, Op.KEYS, Op.VALUES, Op.ITEMS,
    Op.COPY_METHOD,
)  # fmt: skip


def fixed_dicts(function: ir.Function, params: ir.Kinds) -> dict[str, tuple[str, ...]]:
    """The dicts that nobody writes into, and their keys."""
    found: dict[str, tuple[str, ...]] = {}
    for param in function.params:
        kind = params.get(param.name)
        if _is_known_dict(kind):
            _add(found, param.name, [k for k, _ in kind.items])
    for stmt in ir.assignments(function):
        rhs = stmt.rhs
        if is_op(rhs, Op.MAKE_DICT):
            keys = [k.value if isinstance(k, ir.Const) else None for k in rhs.args[::2]]
            _add(found, stmt.target.id, keys)
        elif is_op(rhs, Op.DICT) and not rhs.args:
            _add(found, stmt.target.id, [k for k, _ in rhs.kwargs])
    count = ir.binding_counts(function, function.params, True)
    kept = (a for stmt in ir.walk(function) for a in _kept(stmt))
    other = {a.id for a in kept if isinstance(a, ir.Name)}
    own = {n: k for n, k in found.items() if count[n] == 1 and n not in other}
    given = [p.name for p in function.params if count[p.name] == 1]
    spread = _spread(function.body)
    inner = (_inner(function.body, p, params.get(p), other, spread) for p in given)
    return {**{n: k for found in inner for n, k in found}, **own}


def _spread(body: ir.Block) -> frozenset[str]:
    """The names of which a call that may write into them gets what they hold."""
    calls = [c for c in ir.calls(body) if op_of(c.fn).writes is not Which.NO]
    stars = (a for c in calls for a in c.args if isinstance(a, ir.Star))
    given = (v for c in calls for k, v in c.kwargs if k is None)
    return frozenset(n for atom in (*stars, *given) for n in ir.names(atom))


def _inner(
    body: ir.Block,
    param: str,
    kind: ir.Kind | None,
    other: Container[str],
    spread: Container[str],
) -> list[tuple[str, tuple[str, ...]]]:
    """The dicts in a parameter, where nobody writes into it or into what comes out of it.

    Whoever gets what one of `spread` holds may write into a dict in it.
    """
    kinds: dict[str, ir.Kind | None] = {param: kind}
    for stmt in ir.assignments(body):  # a name is bound before it is read
        call, name = stmt.rhs, stmt.target.id
        base = call.args[0] if isinstance(call, ir.Call) and call.args else None
        if isinstance(call, ir.Call) and isinstance(base, ir.Name) and base.id in kinds:
            if looks(call) and not is_op(call, Op.LEN, Op.CONTAINS):
                kinds[name] = None if name in kinds else _taken(call, kinds[base.id])
    found: dict[str, tuple[str, ...]] = {}
    held = [part for name, inner in kinds.items() if name in spread for part in _parts(inner)]
    for name, inner in kinds.items():
        if name in other and not isinstance(inner, (ir.Scalar, ir.Array, ir.Text, ir.NoneKind)):
            return []
        if inner in held:
            continue
        if name != param and _is_known_dict(inner):
            _add(found, name, [k for k, _ in inner.items])
    return list(found.items())


def _is_known_dict(kind: ir.Kind | None) -> TypeGuard[ir.Dict]:
    """Whether a value is a dict all of whose keys are known."""
    return isinstance(kind, ir.Dict) and kind.item is None and kind.cls is None


def _parts(kind: ir.Kind | None) -> Iterator[ir.Kind]:
    """The kinds of all that a value holds."""
    for part in ir.inside(kind):
        yield part
        yield from _parts(part)


def _taken(call: ir.Call, kind: ir.Kind | None) -> ir.Kind | None:
    """The kind of what a call takes out of a value, None where that is not known."""
    key = read_key(call)
    if key is not None and not (call.role is ir.Role.LOOP and isinstance(kind, ir.Dict)):
        return item_at(kind, key.value)
    if not is_op(call, Op.GETITEM) or not isinstance(kind, (ir.List, ir.Tuple)):
        return None
    if not kind.items:
        return kind.item  # dicts of other keys are not joined to one of known keys
    return kind.items[0] if len(set(map(_keys, kind.items))) == 1 else None


def _keys(kind: ir.Kind) -> object:
    """What tells containers of other keys apart."""
    if isinstance(kind, ir.Dict):
        return tuple((k, _keys(v)) for k, v in kind.items), kind.item is None
    if isinstance(kind, (ir.List, ir.Tuple)):
        return None if kind.items is None else tuple(map(_keys, kind.items))
    return type(kind)


def _add(found: dict[str, tuple[str, ...]], name: str, keys: list[Any]) -> None:
    if all(isinstance(k, str) for k in keys):
        found[name] = tuple(dict.fromkeys(keys))


def only_looked_at(atom: ir.Atom, function: ir.Function) -> Any:
    """What a variable from outside holds; None where the function may change or keep it.

    Whoever gives a dict another key gets another derivative: it is watched.
    """
    if not isinstance(atom, ir.Ref) or any(atom in _kept(s) for s in ir.walk(function)):
        return None
    return atom.value


def _kept(stmt: ir.Stmt) -> tuple[ir.Atom, ...]:
    """The atoms in a statement that it may write into or keep, were they dicts."""
    call = ir.call_of(stmt)
    given: tuple[ir.Rhs, ...] = ir.operands(stmt)
    if call is not None:
        args = tuple(a for a in call.args if not isinstance(a, ir.Star))
        args = args[1:] if looks(call) else args[:1] if is_op(call, Op.UPDATE) else args
        given = (*args, *(v for k, v in call.kwargs if k is not None))
    return tuple(a for o in given for a in ir.atoms(o))


def looks(call: ir.Call) -> bool:
    """Whether a call only looks at its first argument, or takes something out of it."""
    return isinstance(call.fn, ir.Attr) or is_op(call, *_LOOKS)


class Names:
    """The names, as text, that a sequence or a dict gives in turn."""

    def __init__(self, function: ir.Function, kinds: ir.Kinds) -> None:
        self.kinds = kinds
        self.dicts = fixed_dicts(function, kinds)
        count = ir.binding_counts(function, function.params, True)
        self.made = {
            s.target.id: s.rhs for s in ir.assignments(function)
            if isinstance(s.rhs, ir.Call) and count[s.target.id] == 1
        }  # fmt: skip

    def of(self, atom: ir.Atom) -> tuple[str, ...] | None:
        """What something gives in turn, None where that is not known."""
        if not isinstance(atom, ir.Name):
            return None
        if atom.id in self.dicts:
            return self.dicts[atom.id]
        made = self.made.get(atom.id)
        if made is not None and not made.kwargs and len(made.args) == 1:
            inner = self.of(made.args[0])
            if inner is not None and is_op(made, Op.LIST, Op.TUPLE, Op.SORTED, Op.KEYS):
                return tuple(sorted(inner)) if is_op(made, Op.SORTED) else inner
        items = ir.known_items(self.kinds.get(atom.id))
        texts = [k.value if isinstance(k, ir.Text) else None for k in items or ()]
        known = tuple(t for t in texts if t is not None)
        return known if items is not None and len(known) == len(items) else None

    def number(self, atom: ir.Atom) -> int | None:
        """How many names there are, where a value is the length of what gives them."""
        made = self.made.get(atom.id) if isinstance(atom, ir.Name) else None
        found = self.of(made.args[0]) if is_op(made, Op.LEN) else None
        return None if found is None else len(found)


_NOTHING: ir.Kinds = {}


class _Decided(Rewriter):
    """Takes the place of conditions that the kinds of the arguments decide."""

    def __init__(self, kinds: ir.Kinds) -> None:
        super().__init__(ir.Fresh(frozenset()))
        self.kinds = kinds

    def stmt(self, stmt: ir.Stmt) -> ir.Stmt | ir.Block:
        """One statement; of a condition that is known only what is taken."""
        if type(stmt) is ir.If and (known := self.truth(stmt.test)) is not None:
            return self.block(stmt.body if known else stmt.orelse)
        if type(stmt) is ir.Assign and type(stmt.rhs) is ir.Call and is_pure(stmt.rhs.fn):
            known = self.truth(stmt.target)
            return stmt if known is None else ir.with_rhs(stmt, ir.Const(known))
        return self.inside(stmt)

    def truth(self, test: ir.Atom) -> bool | None:
        """The value of a condition, None if it is not known."""
        return ir.known_truth(self.kinds.get(test.id)) if type(test) is ir.Name else None


_ASKS = (Op.IS, Op.IS_NOT, Op.ISINSTANCE, Op.HASATTR)
"""What may ask for the class of a name that stands for something else afterwards."""


def asks_kinds(function: ir.Function) -> bool:
    """Whether a function has conditions, which the kinds of its arguments may decide."""
    asks = (s for s in ir.walk(function) if type(s) is ir.If or is_op(ir.call_of(s), *_ASKS))
    return any(True for _ in asks)


def decided(function: ir.Function, kinds: ir.Kinds) -> ir.Function:
    """The function without the branches that arguments of these kinds do not take."""
    return _Decided(kinds).function(function)


class Known(Rewriter):
    """What is known of the values of a function.

    `hopes` are kinds that hold as long as the calls that are not resolved yet change nothing.
    Methods are looked up by them; `assumed` are the classes that have to turn out right.  `own` are
    attributes of classes that their objects may have as well, `taken` those read as the class's.
    """

    def __init__(
        self,
        function: ir.Function,
        kinds: ir.Kinds,
        hopes: ir.Kinds,
        own: frozenset[tuple[type, str]] = frozenset(),
        params: ir.Kinds = _NOTHING,
    ) -> None:
        super().__init__(ir.Fresh(ir.all_names(function)))
        self.whole = function
        self.params = params
        self.kinds = kinds
        self.items: dict[str, ir.Name] = {}  # of objects that are iterated, by their names
        self.hopes = hopes
        self.assumed: dict[str, tuple[type, ir.Loc]] = {}
        self.own = own
        self.taken: set[tuple[type, str]] = set()

    def kind(self, atom: ir.Atom) -> ir.Kind:
        """What is known of a value."""
        return atom_kind(atom, self.kinds)

    def cls(self, atom: ir.Atom) -> type | None:
        """The class of an object, None for anything else."""
        if not isinstance(atom, (ir.Name, ir.Ref)):
            return None
        found = ir.class_of(self.kind(atom))
        if found is None and isinstance(atom, ir.Name):
            found = ir.class_of(self.hopes.get(atom.id))
            if found is not None:
                self.assumed[atom.id] = found, self.loc
        return found

    def cls_if_any(self, atom: ir.Atom) -> type | None:
        """The class of an object that is read or called: None there is an error."""
        found = self.cls(atom)
        maybe = found is None and isinstance(atom, (ir.Name, ir.Ref))
        return ir.class_if_any(self.kind(atom)) if maybe else found

    def member(self, atom: ir.Atom, name: str) -> Any:
        """What the class of an object has under a name."""
        cls = self.cls(atom)
        return MISSING if cls is None else records.member(cls, name)

    def written(self, atom: ir.Atom, name: str) -> types.FunctionType | None:
        """The method, written in Python, that the class of an object has under a name."""
        own = self.member(atom, name)
        return own if isinstance(own, types.FunctionType) else None

    def truth(self, atom: ir.Atom) -> ir.Atom:
        """Whether an object counts as true."""
        own = self.written(atom, "__bool__") or self.written(atom, "__len__")
        return ir.Const(True) if own is None else self.apply(own, atom)

    def has(self, atom: ir.Atom, name: str) -> bool:
        """Whether an object has an attribute of its own."""
        for kind in (self.kind(atom), atom_kind(atom, self.hopes)):
            held = ir.sure(kind)
            if isinstance(held, ir.Dict) and name in dict(held.items):
                return True
        return False

    def is_there(self, base: ir.Atom, name: str) -> bool | None:
        """Whether an object has an attribute of its own; None where it may depend on what ran.

        One that the function is given has its attributes from the beginning, and none has one that
        its kind does not know.
        """
        if not isinstance(base, ir.Name):
            return self.has(base, name)
        given, kind = self.given(base), self.kinds.get(base.id)
        if isinstance(given, ir.Dict) and name in dict(given.items):
            return True
        known = isinstance(kind, ir.Dict) and kind.item is None and name not in dict(kind.items)
        return False if known else None

    def given(self, base: ir.Name) -> ir.Kind | None:
        """The kind of a parameter, or of a part of one that nothing assigns; None of others."""
        body = self.whole.body
        if ir.binding_counts(body, self.whole.params, True).get(base.id) != 1:
            return None
        rhs = next((s.rhs for s in ir.assignments(body) if s.target == base), None)
        if rhs is None or isinstance(rhs, ir.Name):
            return self.params.get(base.id) if rhs is None else self.given(rhs)
        key = read_key(rhs) if isinstance(rhs, ir.Call) else None
        if key is None or any(stored == key.value for _, _, stored in stores(body)):
            return None
        of = rhs.args[0]  # type: ignore[union-attr]
        return item_at(self.given(of), key.value) if isinstance(of, ir.Name) else None

    def is_pending(self) -> bool:
        """Whether there are calls that may assign attributes, and are not written out yet."""
        return any(map(self.may_assign, ir.calls(self.whole.body)))

    def may_assign(self, call: ir.Call) -> bool:
        """Whether a call may assign attributes of objects."""
        fn = call.fn
        if isinstance(fn, ir.Name) or (isinstance(fn, type) and records.is_record(fn)):
            return records.plain_fields(fn) is None
        given = map(self.kind, (*call.args, *(v for _, v in call.kwargs)))
        objects = any(map(has_objects, given))
        if isinstance(fn, ir.Method):
            return objects and ir.class_of(self.kind(call.args[0])) is not None
        if op_of(fn).holds or is_op(call, Op.DEEPCOPY):
            return False
        return objects and (isinstance(fn, types.FunctionType) or is_op(call, Op.SETATTR))


class Unroller(Known):
    """Loops over objects and functions that have nothing in common, written out."""

    def for_(self, stmt: ir.For) -> ir.Stmt | ir.Block:
        """A loop; over items that have nothing in common, its body for each of them."""
        counts = self.unrolled(stmt)
        if counts is None:
            return self.inside(stmt)
        after = live_after(self.whole, stmt)
        own = ir.bound(stmt.body) - live_before(stmt.body, after)
        keyed = self.keyed(stmt)
        for k in counts:
            names = own if k != counts[-1] else own - after if keyed else ()
            new = {n: self.fresh(n).id for n in sorted(names)}
            known = {n: ir.Const(texts[k]) for n, texts in keyed.items()}
            self.assign(stmt.target, ir.Const(k))
            body = ir.substituted(stmt.body, {stmt.target.id: ir.Const(k), **known})
            self.out += ir.rename(body, new)
        return ()

    def unrolled(self, stmt: ir.For) -> range | None:
        """What a loop over items of different kinds counts, None for any other loop."""
        asked = stmt.iter
        if stmt.stop is not None or not is_op(asked, Op.RANGE):
            return None
        bounds = [self.bound(a) for a in asked.args]
        if stmt.target.id in ir.bound(stmt.body) or not all(isinstance(b, int) for b in bounds):
            return None
        counts = range(*bounds)  # type: ignore[arg-type]
        items = [self.items_at(inner, stmt.target) for inner in ir.assignments(stmt.body)]
        if any(_differ(k) for k in items if k is not None) or self.stores_into_items(stmt):
            return counts
        return counts if self.asks_by_name(stmt.body, self.keyed(stmt)) else None

    def stores_into_items(self, stmt: ir.For) -> bool:
        """Whether a loop assigns attributes of objects in a list that the function is given."""
        items = {
            inner.target.id for inner in ir.assignments(stmt.body)
            if self.items_at(inner, stmt.target) is not None and self.cls(inner.target) is not None
        }  # fmt: skip
        return bool(items) and any(
            isinstance(base, ir.Name) and base.id in items for _, base, _ in stores(stmt.body)
        )

    def bound(self, atom: ir.Atom) -> int | None:
        """The value of a bound of a loop."""
        value: int | None = getattr(self.kind(atom), "value", None)
        return self.names.number(atom) if value is None else value

    @functools.cached_property
    def names(self) -> Names:
        """The names that lists and dicts give in turn."""
        return Names(self.whole, self.kinds)

    def keyed(self, stmt: ir.For) -> dict[str, tuple[str, ...]]:
        """What in a loop is a string: one of these in turn."""
        found: dict[str, tuple[str, ...]] = {}
        count = ir.binding_counts(stmt.body, repeated=True)
        for inner in ir.assignments(stmt.body):
            if count[inner.target.id] == 1:
                texts = self.texts(inner.rhs, stmt.target, found)
                if texts is not None:
                    found[inner.target.id] = texts
        return found

    def texts(
        self, rhs: ir.Rhs, target: ir.Name, found: Mapping[str, tuple[str, ...]]
    ) -> tuple[str, ...] | None:
        """The strings that an expression gives in turn, None if it is anything else."""
        if isinstance(rhs, ir.Name):
            return found.get(rhs.id)
        if not is_op(rhs, Op.GETITEM) or rhs.args[1] != target:
            return None
        keys = isinstance(self.kind(rhs.args[0]), ir.Dict) and rhs.role is not ir.Role.LOOP
        return None if keys else self.names.of(rhs.args[0])

    def asks_by_name(self, block: ir.Block, keyed: Mapping[str, object]) -> bool:
        """Whether attributes of objects are read or stored by the names that a loop gives."""
        for call in ir.calls(block):
            key = call.args[1] if is_op(call, *_BY_NAME) and len(call.args) > 1 else None
            if isinstance(key, ir.Name) and key.id in keyed:
                return self.cls(call.args[0]) is not None
        return False

    def items_at(self, stmt: ir.Assign, target: ir.Name) -> tuple[ir.Kind, ...] | None:
        """The kinds of the items of which a statement takes one, where they are all known."""
        rhs = stmt.rhs
        if not is_op(rhs, Op.GETITEM) or rhs.args[1] != target:
            return None
        return ir.known_items(self.kind(rhs.args[0]))


_BY_NAME = (Op.GETATTR, Op.HASATTR, Op.SETATTR, Op.OBJECT_SETATTR, Op.DELATTR)
"""What takes an object and the name of an attribute."""


def _differ(items: tuple[ir.Kind, ...]) -> bool:
    """Whether items are functions or objects that are not all of one class and make."""
    shapes = {_make(k) for k in items}
    return len(shapes) > 1 and any(s is not None for s in shapes)


def _make(kind: ir.Kind) -> Any:
    """What tells functions and objects apart, None for numbers and arrays."""
    if isinstance(kind, ir.Dict) and kind.cls is not None:
        return kind.cls, tuple((k, _make(v)) for k, v in kind.items)
    if (items := ir.known_items(kind)) is not None:
        made = tuple(map(_make, items))
        return made if any(m is not None for m in made) else None
    if isinstance(kind, ir.NoneKind):
        return ir.NoneKind
    if isinstance(kind, (ir.Scalar, ir.Array, ir.Text)):
        return None
    return getattr(kind, "value", None)
