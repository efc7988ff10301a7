"""Questions about objects that their kinds answer: `isinstance`, `is None`, `getattr`.

Takes the pass over a function and a call; gives the answer, a read or a store of an attribute, or
None where the kinds do not tell.  Attributes have names: one that is known only when the program
runs, and the dict that keeps them (`x.__dict__`, `vars(x)`), are refused.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Mapping
from typing import Any, Union

from srcdiff import ir
from srcdiff.errors import refused
from srcdiff.primitives.ops import Op, is_op
from srcdiff.primitives.registry import is_in_template
from srcdiff.runtime import records
from srcdiff.runtime.records import MISSING
from srcdiff.specialize.objects import construct
from srcdiff.specialize.unroll import Known

Rule = Callable[[Any, ir.Call], Union[ir.Rhs, None]]


def _isinstance(m: Known, call: ir.Call) -> ir.Rhs | None:
    """`isinstance(x, Model)`."""
    if len(call.args) != 2:
        return None
    wanted = call.args[1]
    classes = wanted.items if isinstance(wanted, ir.Tup) else (wanted,)
    if not all(isinstance(c, ir.Ref) and isinstance(c.value, type) for c in classes):
        return None
    kind, cls = m.kind(call.args[0]), m.cls(call.args[0])
    types_ = tuple(c.value for c in classes if isinstance(c, ir.Ref))
    check_own(cls, m.loc)
    if cls is not None:
        return ir.Const(issubclass(cls, types_))
    unknown = isinstance(kind, (ir.Unknown, ir.Object, ir.Sparse))
    if unknown or not all(map(records.is_record, types_)):
        return None
    return ir.Const(False)


def check_own(cls: type | None, loc: ir.Loc) -> None:
    """Refuse the class of an object that a rule describes by one of its own."""
    if is_in_template(cls):
        raise refused("objects.library", loc)


def check_descriptor(own: object, name: str, loc: ir.Loc) -> None:
    """Refuse an attribute that a descriptor of the user's gives, or takes when it is assigned."""
    cls = type(own)
    ways = (getattr(cls, way, None) for way in ("__get__", "__set__"))
    written = any(isinstance(w, types.FunctionType) for w in ways)
    if written and not cls.__module__.startswith(("functools", "srcdiff")):
        raise refused("objects.descriptor", loc, name=name, cls=cls.__name__)


def _is(m: Known, call: ir.Call) -> ir.Rhs | None:
    """`x is None`, `x is not None`."""
    a, b = call.args
    none = ir.is_none(m.kind(a)) if b == ir.NONE else None
    return None if none is None else ir.Const(none == is_op(call, Op.IS))


def _not(m: Known, call: ir.Call) -> ir.Rhs | None:
    """`not x` of what is known."""
    atom = call.args[0]
    if m.cls(atom) is not None:
        atom = m.truth(atom)
        return ir.Const(not atom.value) if isinstance(atom, ir.Const) else ir.Call(call.fn, (atom,))
    found = ir.known_truth(m.kind(atom))
    return None if found is None else ir.Const(not found)


def _type(m: Known, call: ir.Call) -> ir.Rhs | None:
    """`type(x)`."""
    cls = m.cls(call.args[0]) if len(call.args) == 1 else None
    check_own(cls, m.loc)
    return None if cls is None else ir.Ref(cls.__name__, cls)


def _getattr(m: Known, call: ir.Call) -> ir.Rhs | None:
    """`getattr(x, "name")`, with a default or without."""
    found = _named(m, call)
    if found is None:
        return None
    base, name = found
    read = ir.Call(ir.Attr(name), (base,))
    if len(call.args) == 2 or m.member(base, name) is not MISSING:
        return read
    there = m.is_there(base, name)
    if there is not None:
        return read if there else None if m.is_pending() else call.args[2]
    result = m.fresh("_t")
    has = m.call(hasattr, base, ir.Const(name))
    m.branch(has, lambda b: b.assign(result, read), lambda b: b.assign(result, call.args[2]))
    return result


def _hasattr(m: Known, call: ir.Call) -> ir.Rhs | None:
    """`hasattr(x, "name")`."""
    found = _named(m, call)
    if found is None:
        return None
    if m.member(*found) is not MISSING:
        return ir.Const(True)
    there = m.is_there(*found)
    return None if there is None or (not there and m.is_pending()) else ir.Const(there)


def _setattr(m: Known, call: ir.Call) -> ir.Rhs | None:
    """`setattr(x, "name", v)`."""
    found = _named(m, call)
    if found is None:
        return None
    store = ir.SetAttr(found[1], made=is_op(call, Op.OBJECT_SETATTR))
    return ir.Call(store, (found[0], call.args[2]))


def _named(m: Known, call: ir.Call) -> tuple[ir.Atom, str] | None:
    """The object and the name that `getattr` and its like are given."""
    if len(call.args) < 2 or m.cls(call.args[0]) is None:
        return None
    key = call.args[1]
    value = key.value if isinstance(key, ir.Const) else None
    return (call.args[0], value) if isinstance(value, str) else None


RULES: Mapping[Op | None, Rule] = {
    Op.ISINSTANCE: _isinstance,
    Op.IS: _is,
    Op.IS_NOT: _is,
    Op.NOT: _not,
    Op.TYPE: _type,
    Op.GETATTR: _getattr,
    Op.HASATTR: _hasattr,
    Op.SETATTR: _setattr,
    Op.OBJECT_SETATTR: _setattr,
    Op.DATACLASS_REPLACE: construct.replaced,
    Op.SHALLOW_COPY: construct.copied,
    Op.DEEPCOPY: construct.copied,
}


# --- what reads or stores attributes by other ways -----------------------------------------------


DICT = "__dict__"


def check_ways(function: ir.Function, kinds: ir.Kinds) -> None:
    """Refuse what is left: attributes by unknown names, and the dict that keeps them."""
    for stmt in ir.walk(function):
        call = ir.call_of(stmt)
        if call is None or not call.args:
            continue
        kind = kinds.get(getattr(call.args[0], "id", ""))
        known = ir.class_of(kind) is not None
        if known and isinstance(call.fn, ir.Attr):
            _check_kept(call.fn.name, kind, stmt.loc)
        if known and is_op(call, Op.SETATTR, Op.OBJECT_SETATTR, Op.DELATTR):
            raise refused("objects.setattr", stmt.loc)
        named = isinstance(call.fn, (ir.Attr, ir.SetAttr)) and call.fn.name == DICT
        if named or is_op(call, Op.VARS):
            raise refused("objects.dict", stmt.loc)


def _check_kept(name: str, kind: Any, loc: ir.Loc) -> None:
    """Refuse the read of a property that keeps its value, if nothing took its place."""
    own = records.member(kind.cls, name)
    if isinstance(own, functools.cached_property) and name not in dict(kind.items):
        what = "is read of an object that something unknown may change"
        raise refused("objects.cached_property", loc, name=name, what=what)
