"""Which names are the dict that an object keeps its attributes in, and what is left of them."""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from srcdiff import ir
from srcdiff.errors import UnsupportedError
from srcdiff.frontend.closures.settled import definitions
from srcdiff.ir.kinds import class_of

NAME = "__dict__"


def found(function: ir.Function, kinds: Mapping[str, Any]) -> dict[str, ir.Atom]:
    """The names of the dicts of attributes, and their objects."""
    count = definitions(function.body, (p.name for p in function.params))
    bound = Counter(n for s in ir.walk(function.body) for n in ir.writes(s))
    dicts: dict[str, ir.Atom] = {}
    for stmt in ir.walk(function.body):
        call = ir.call_of(stmt)
        if isinstance(stmt, ir.Assign) and call is not None and _reads(call):
            base = call.args[0]
            one = bound[stmt.target.id] == 1 and count.get(getattr(base, "id", "")) == 1
            if one and class_of(kinds.get(getattr(base, "id", ""))) is not None:
                dicts[stmt.target.id] = base
    return dicts


def _reads(call: ir.Call) -> bool:
    return call.fn == ir.Attr(NAME) or (call.fn is vars and len(call.args) == 1)


def unused(function: ir.Function, kinds: Mapping[str, Any]) -> ir.Function:
    """The function without dicts of attributes of which nothing is left but that they are read."""
    read = {n for stmt in ir.walk(function.body) for n in ir.reads(stmt)}
    gone = found(function, kinds).keys() - read

    def block(inner: ir.Block) -> ir.Block:
        return tuple(ir.map_blocks(s, block) for s in inner if not gone & set(ir.writes(s)))

    return replace(function, body=block(function.body)) if gone else function


def check(function: ir.Function, kinds: Mapping[str, Any]) -> None:
    """Refuse what is left: dicts of attributes that are written into, or read as a whole."""
    dicts = found(function, kinds)
    for stmt in ir.walk(function.body):
        made = ir.call_of(stmt)
        base = made.args[0] if made is not None and made.args else None
        name = getattr(base, "id", "")
        is_object = class_of(kinds.get(name)) is not None
        if made is not None and is_object and any(made.fn is f for f in _STORES):
            raise UnsupportedError(
                "the name of an attribute that is assigned is known only when the program runs, or "
                "an attribute is deleted",
                stmt.loc,
                remedy="Write the assignment out; a loop over names that are known is written out "
                "too: those of a tuple, or of a dict of keywords.",
            )
        other = made is not None and _reads(made) and not set(ir.writes(stmt)) & dicts.keys()
        if other or _uses(stmt, dicts):
            raise refused(stmt.loc)


def _uses(stmt: ir.Stmt, dicts: Mapping[str, ir.Atom]) -> bool:
    """Whether a statement may write into the dict of an object, or give it another name."""
    mine = dicts.keys() & set(ir.reads(stmt))
    made = ir.call_of(stmt)
    if not mine or made is None:
        return bool(mine)
    if isinstance(made.fn, ir.Method) and made.fn.name in _LOOKS:
        return bool(mine & {n for a in made.args[1:] for n in ir.names(a)})
    return not any(made.fn is f for f in _READERS)


_LOOKS = ("get", "keys", "values", "items", "copy")
_READERS: tuple[Any, ...] = (operator.contains, len, print, str, repr)
_STORES: tuple[Any, ...] = (setattr, object.__setattr__, delattr, object.__delattr__)


def refused(loc: ir.Loc) -> UnsupportedError:
    """The error for a dict of attributes of which not every key is known."""
    return UnsupportedError(
        "the dict of an object's attributes, `__dict__`, is used as a whole", loc,
        remedy="Assign attributes by their names; `update` works with a dict of known keys that "
        "nothing else changes, as `**kwargs` is.",
    )  # fmt: skip


def names_in(block: ir.Block, dicts: Mapping[str, ir.Atom]) -> Iterator[ir.Atom]:
    """The keys by which a block stores into dicts of attributes."""
    for stmt in ir.walk(block):
        if isinstance(stmt, ir.SetItem) and stmt.base.id in dicts and stmt.index is not None:
            yield stmt.index
