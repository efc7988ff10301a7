"""Objects that are stored into after they were taken from a container, as dicts.

All objects of such a class must be made by the function and seen by nobody else: they become dicts,
so that whatever names one, and whatever holds it, sees the stores.  Stores of attributes that
nobody reads (`self.x = x` in a `forward`) are left out.

`as_dicts` takes a block, the names of such objects, and what their classes have for them to start
with; it returns the block with a dict display in place of each constructor and of the stores of its
`__init__`.  One is made as late as something else mentions it, or changes what it is to hold.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator

from srcdiff import ir
from srcdiff.errors import TransformError, refused
from srcdiff.frontend.signatures import dict_display
from srcdiff.ir.frozen import frozen, replace
from srcdiff.kinds.lattice import kind_of
from srcdiff.primitives.operation import op_of
from srcdiff.primitives.ops import Op, is_op
from srcdiff.runtime import records

Stored = list[tuple[ir.Atom, str]]


def stored_classes(
    found: Stored,
    boxed: frozenset[str],
    function: ir.Function,
    kinds: ir.Kinds,
    more: frozenset[type],
) -> frozenset[type]:
    """The classes of boxed objects that are stored into, and of what has one as an attribute.

    `more` are classes of objects of which that is known.
    """
    stmts = ir.walk(function)
    held = {
        ir.class_if_any(kinds.get(base.id))
        for base, name in found
        if isinstance(base, ir.Name) and base.id in boxed
        if any(_may_read(stmt, name, kinds) for stmt in stmts)
    }
    classes = {c for c in held if c is not None} | more
    size = -1
    while size != len(classes):
        size = len(classes)
        classes |= {c for k in kinds.values() for c in _holders(k, classes)}
    return frozenset(classes)


def _holders(kind: ir.Kind, classes: set[type]) -> Iterator[type]:
    """The classes of objects of which an attribute is an object of one of some classes."""
    own = ir.class_of(ir.sure(kind))
    if own is not None and any(
        ir.class_if_any(part) in classes for part in ir.inside(ir.sure(kind))
    ):
        yield own
    for part in ir.inside(kind):
        yield from _holders(part, classes)


# --- attributes that nobody reads ----------------------------------------------------------------

_LOOKS = (Op.HASATTR, Op.GETATTR, Op.SHALLOW_COPY, Op.DEEPCOPY)


def _may_read(stmt: ir.Stmt, name: str, kinds: ir.Kinds) -> bool:
    """Whether a statement reads an attribute of any object, or hands one on to who may."""
    objects = any(any(ir.classes_in(kinds.get(n))) for n in ir.reads(stmt))
    call = ir.call_of(stmt)
    if call is None:
        text = isinstance(stmt, ir.Assign) and isinstance(stmt.rhs, ir.Opaque)
        held = isinstance(stmt, (ir.Assign, ir.Store, ir.If, ir.For, ir.While)) and not text
        return objects and not held
    if isinstance(call.fn, ir.SetAttr):
        return call.fn.name == name and call.fn.op is not None
    read = isinstance(call.fn, ir.Attr) and call.fn.name == name
    if read or call.args[1:2] == (ir.Const(name),):
        return True
    return objects and (is_op(call, *_LOOKS) or not _is_known(call))


def _is_known(call: ir.Call) -> bool:
    """Whether a callee does not look into objects: it is of Python, or of ours."""
    if isinstance(call.fn, (ir.Name, ir.Derived)):
        return False
    holds = op_of(call.fn).holds or is_op(call, Op.INSTANCE)
    return holds or isinstance(call.fn, (ir.Attr, ir.Method)) or not hasattr(call.fn, "__code__")


# --- what they may be used for -------------------------------------------------------------------


def check_uses(function: ir.Function, kinds: ir.Kinds, kept: frozenset[type]) -> None:
    """Refuse what tells such objects from dicts, and functions that would have to know of them."""
    names = {n for n, k in kinds.items() if not kept.isdisjoint(ir.classes_in(k))}
    shared = {n for n in names if _is_shared(kinds[n], kept)}
    for stmt in ir.walk(function):
        if isinstance(stmt, (ir.If, ir.While)):
            asked = (ir.class_if_any(kinds.get(n)) for n in ir.names(stmt.test))
            if any(cls in kept for cls in asked):
                raise _refused(stmt.loc)  # an empty dict is false
        if isinstance(stmt, (ir.For, ir.If, ir.While)):
            continue
        used = names & {*ir.reads(stmt), *ir.writes(stmt)}
        if used and (shared & {*ir.writes(stmt)} or not _only_holds(stmt)):
            raise _refused(stmt.loc)


def _is_shared(kind: ir.Kind, kept: frozenset[type]) -> bool:
    """Whether something of which nothing is known may hold an object in a value as well."""
    shared = isinstance(kind, ir.Dict) and kind.cls in kept and kind.item is not None
    return shared or any(_is_shared(part, kept) for part in ir.inside(kind))


def _only_holds(stmt: ir.Stmt) -> bool:
    """Whether a statement holds objects, or takes them out, and does not ask what they are."""
    call = ir.call_of(stmt)
    if call is None:
        rhs = stmt.rhs if isinstance(stmt, ir.Assign) else None
        plain = isinstance(stmt, (ir.Store, ir.Permute))
        return plain or isinstance(rhs, (ir.Name, ir.Tup, ir.Const))
    makes = isinstance(call.fn, ir.Attr) or records.plain_fields(call.fn) is not None
    return makes or op_of(call.fn).holds or is_op(call, Op.LEN, Op.IS, Op.IS_NOT)


def _refused(loc: ir.Loc) -> TransformError:
    return refused("objects.boxed_whole", loc)


def outside(function: ir.Function) -> dict[str, ir.Kind]:
    """What a function mentions of the variables around it, and their kinds."""
    refs = (r for s in ir.walk(function) for r in ir.refs_of(s))
    return {r.text: kind_of(r.value, r.text) for r in refs}


def check_given(kept: frozenset[type], given: ir.Kinds, loc: ir.Loc) -> None:
    """Refuse stores into objects that are, or may be, those of an argument or from outside."""
    for name, kind in given.items():
        if not kept.isdisjoint(ir.classes_in(kind)):
            raise refused("objects.boxed_given", loc, name=ir.said(name))


# --- objects of some classes as dicts, from where they are made ----------------------------------


Start = Callable[[str], dict[str, ir.Atom]]


def as_dicts(block: ir.Block, names: Container[str], start: Start) -> ir.Block:
    """The block with dicts for objects."""
    out: list[ir.Stmt] = []
    pending: dict[str, _Pending] = {}

    def finish(done: Iterable[str]) -> None:
        out.extend(pending.pop(name).stmt() for name in list(done))

    for stmt in block:
        call = ir.call_of(stmt)
        base = call.args[0] if call is not None and call.args else None
        mine = pending.get(base.id) if isinstance(base, ir.Name) else None
        if mine is not None and call is not None:
            if mine.takes(call, pending):
                continue
            if isinstance(stmt, ir.Assign):
                stmt = replace(stmt, rhs=mine.attribute(call))
        changed = ir.rebound((stmt,))
        used = ir.used((stmt,)) | changed
        finish(n for n, p in pending.items() if n in used or changed & p.reads())
        made = isinstance(stmt, ir.Assign) and is_op(stmt.rhs, Op.NEW_OBJECT)
        if isinstance(stmt, ir.Assign) and made and stmt.target.id in names:
            pending[stmt.target.id] = _Pending(stmt, start(stmt.target.id), set())
            continue
        stmt = _with_fields(stmt, names)
        out.append(ir.map_blocks(stmt, lambda b: as_dicts(b, names, start)))
    if not out or not isinstance(out[-1], ir.Return):
        finish(pending)
    return tuple(out)


@frozen
class _Pending:
    """An object that is not made yet, what it will hold, and which of that was stored."""

    made: ir.Assign
    values: dict[str, ir.Atom]
    stored: set[str]

    def takes(self, call: ir.Call, pending: Container[str]) -> bool:
        """Whether a call stores an attribute that the object may as well be made with."""
        if not isinstance(call.fn, ir.SetAttr) or call.fn.op is not None:
            return False
        name, value = call.fn.name, call.args[1]
        if name in self.stored or any(n in pending for n in ir.names(value)):
            return False
        self.values[name] = value
        self.stored.add(name)
        return True

    def attribute(self, call: ir.Call) -> ir.Rhs:
        """What a call reads of the object, if it reads an attribute; else the call."""
        known = isinstance(call.fn, ir.Attr) and call.fn.name in self.values
        return self.values[call.fn.name] if known else call  # type: ignore[union-attr]

    def reads(self) -> frozenset[str]:
        """The names that it is made of."""
        return frozenset(n for v in self.values.values() for n in ir.names(v))

    def stmt(self) -> ir.Stmt:
        """The statement that makes it."""
        return replace(self.made, rhs=dict_display(self.values.items()))


def _with_fields(stmt: ir.Stmt, names: Container[str]) -> ir.Stmt:
    """A statement that makes an object of its fields, as one that makes a dict."""
    call = ir.call_of(stmt)
    fields = None if call is None else records.plain_fields(call.fn)
    if call is None or fields is None or not isinstance(stmt, ir.Assign):
        return stmt
    if stmt.target.id not in names:
        return stmt
    return replace(stmt, rhs=dict_display(zip(fields, call.args, strict=True)))
