"""Whether an object has an attribute, and by which ways attributes may not be asked for.

An object that the function is given has its attributes from the beginning, and none has one that
its kind does not know.  Whether others are there at a statement depends on what ran before, and
nobody follows that.  Attributes have names: the dict that keeps them (`x.__dict__`, `vars(x)`) is
refused.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Mapping
from typing import Any

from srcdiff import ir
from srcdiff.errors import UnsupportedError
from srcdiff.kinds.calls import atom_kind
from srcdiff.primitives.operation import op_of
from srcdiff.primitives.ops import Op, is_op
from srcdiff.runtime import records
from srcdiff.specialize.objects.places import has_objects, item_at, read_key, stores


def is_there(
    function: ir.Function, params: ir.Kinds, kinds: ir.Kinds, base: ir.Name, name: str
) -> bool | None:
    """Whether an object has an attribute; None where that may depend on what ran before."""
    given, kind = _given_kind(function, params, base), kinds.get(base.id)
    if isinstance(given, ir.Dict) and name in dict(given.items):
        return True
    known = isinstance(kind, ir.Dict) and kind.item is None and name not in dict(kind.items)
    return False if known else None


def _given_kind(function: ir.Function, params: ir.Kinds, base: ir.Name) -> ir.Kind | None:
    """The kind of a parameter, or of a part of one that nothing assigns; None for other names."""
    if ir.binding_counts(function.body, function.params, True).get(base.id) != 1:
        return None
    rhs = next((s.rhs for s in ir.assignments(function.body) if s.target == base), None)
    if rhs is None or isinstance(rhs, ir.Name):
        return params.get(base.id) if rhs is None else _given_kind(function, params, rhs)
    key = read_key(rhs) if isinstance(rhs, ir.Call) else None
    if key is None or any(stored == key for _, _, stored in stores(function.body)):
        return None
    of = rhs.args[0]  # type: ignore[union-attr]
    kind = _given_kind(function, params, of) if isinstance(of, ir.Name) else None
    return None if kind is None else item_at(kind, key.value)


def is_pending(function: ir.Function, kinds: ir.Kinds) -> bool:
    """Whether there are calls that may assign attributes, and are not written out yet."""
    return any(_may_assign(call, kinds) for call in ir.calls(function.body))


def _may_assign(call: ir.Call, kinds: ir.Kinds) -> bool:
    """Whether a call may assign attributes of objects."""
    fn = call.fn
    if isinstance(fn, ir.Name) or (isinstance(fn, type) and records.is_record(fn)):
        return records.plain_fields(fn) is None
    given = (*call.args, *(v for _, v in call.kwargs))
    objects = any(has_objects(atom_kind(a, kinds)) for a in given)
    if isinstance(fn, ir.Method):
        return objects and ir.class_of(atom_kind(call.args[0], kinds)) is not None
    if op_of(fn).holds or is_op(call, Op.DEEPCOPY):
        return False
    return objects and (isinstance(fn, types.FunctionType) or is_op(call, Op.SETATTR))


# --- what reads or stores attributes by other ways -----------------------------------------------


DICT = "__dict__"


def check_ways(function: ir.Function, kinds: Mapping[str, Any]) -> None:
    """Refuse what is left: attributes by unknown names, and the dict that keeps them."""
    for stmt in ir.walk(function.body):
        call = ir.call_of(stmt)
        if call is None or not call.args:
            continue
        kind = kinds.get(getattr(call.args[0], "id", ""))
        known = ir.class_of(kind) is not None
        if known and isinstance(call.fn, ir.Attr):
            _check_kept(call.fn.name, kind, stmt.loc)
        if known and is_op(call, Op.SETATTR, Op.OBJECT_SETATTR, Op.DELATTR):
            raise UnsupportedError(
                "the name of an attribute that is assigned is known only when the program runs, or "
                "an attribute is deleted",
                stmt.loc,
                remedy="Write the assignment out; a loop over names that are known is written out "
                "too: those of a tuple, or of a dict of keywords.",
            )
        is_dict = is_op(call, Op.SET_ATTR) and call.args[1] == ir.Const(DICT)
        read = isinstance(call.fn, ir.Attr) and call.fn.name == DICT
        if is_dict or read or is_op(call, Op.VARS):
            raise UnsupportedError(
                "the dict of an object's attributes, `__dict__`, is used", stmt.loc,
                remedy="Read and assign attributes by their names; `getattr` and `setattr` take "
                "those of a tuple, or of a dict of keywords, in turn.",
            )  # fmt: skip


def _check_kept(name: str, kind: Any, loc: ir.Loc) -> None:
    """Refuse the read of a property that keeps its value, if nothing took its place."""
    own = records.member(kind.cls, name)
    if isinstance(own, functools.cached_property) and name not in dict(kind.items):
        raise UnsupportedError(
            f"the property `{name}`, whose value is kept, is read of an object that something "
            "unknown may change", loc,
            remedy="Make it a plain property, or a method.",
        )  # fmt: skip
