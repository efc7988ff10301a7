"""What can stand left of `=`: names, subscripts, tuples of those.

Of the parts of `a, *rest, z = xs` also the rest, and the marks of the items.
"""

from __future__ import annotations

import operator
from collections.abc import MutableMapping, MutableSequence, Sequence, Set
from types import FunctionType

import gast

from srcdiff import ir
from srcdiff.frontend.lower.builder import Builder, LocalFunction, Node
from srcdiff.frontend.scopes import at, has_star, scan_nodes
from srcdiff.ir import names
from srcdiff.primitives.effects import is_pure
from srcdiff.primitives.ops import Op, is_op

SEQUENCES = ("Tuple", "List")


def has_places(target: Node) -> bool:
    """Whether a target has items of containers, or attributes, among its parts."""
    if type(target).__name__ in SEQUENCES:
        return any(map(has_places, target.elts))
    if type(target).__name__ == "Starred":
        return has_places(target.value)
    return type(target).__name__ != "Name"


def rest_of(b: Builder, base: ir.Atom, ends: tuple[int, int], loc: ir.Loc) -> ir.Call:
    """`*rest` of an unpacking: a list of the items between."""
    upper = ir.Const(-ends[1]) if ends[1] else ir.NONE
    lower = ir.Const(ends[0]) if ends[0] else ir.NONE
    index = ir.Slice(lower, upper, ir.NONE)
    between = b.temp(ir.Call(operator.getitem, (base, index), role=ir.Unpacks(*ends)), loc)
    return ir.Call(list, (between,), text="list")


def assign(b: Builder, targets: Sequence[Node], value: Node, loc: ir.Loc) -> None:
    """`a = b = value`."""
    if len(targets) == 1:
        assign_one(b, targets[0], value, loc)
        return
    first = targets[0]
    later = scan_nodes(targets[1:]).bound
    if type(first).__name__ == "Name" and first.id not in later:
        assign_one(b, first, value, loc)
        made = b.out[-1]
        rhs = made.rhs if isinstance(made, ir.Assign) else None
        source: ir.Atom = rhs if isinstance(rhs, ir.Const) else b.target(first.id)
    else:
        source = b.atom(value)
        bound = frozenset(b.ir_name(n) for n in scan_nodes(targets).bound)
        source = b.held(source, bound, value)
    for target in targets[1:] if source == _target_name(b, first) else targets:
        store(b, target, source, loc)


def _target_name(b: Builder, node: Node) -> ir.Name | None:
    return b.target(node.id) if type(node).__name__ == "Name" else None


def assign_one(b: Builder, target: Node, value: Node, loc: ir.Loc) -> None:
    """`target = value`."""
    kind = type(target).__name__
    if kind in SEQUENCES:
        b.eager.add(id(value))
        _assign_tuple(b, target, value, loc)
    elif kind == "Subscript":
        given, base, index = b.operands((value, target.value, target.slice))
        b.emit(_stored_item(b, (base, index, given), target, loc))
    else:
        store(b, target, b.rhs(value), loc)


def store(b: Builder, target: Node, value: ir.Rhs, loc: ir.Loc) -> None:
    """Bind a value that is computed already to a target."""
    kind = type(target).__name__
    if kind == "Attribute":
        given = b.as_atom(value, target)
        b.emit(_stored_attribute(b, target, b.atom(target.value), given, None))
    elif kind == "Name":
        b.emit(ir.Assign(b.target(target.id), value, loc))
    elif kind == "Subscript":
        given = b.as_atom(value, target)
        base, index = b.operands((target.value, target.slice))
        b.emit(_stored_item(b, (base, index, given), target, loc))
    elif kind in SEQUENCES:
        unpack(b, target, b.as_atom(value, target), loc)
    else:
        refuse_target(b, target)


def refuse_target(b: Builder, target: Node) -> None:
    """Refuse whatever else there may be."""
    b.refuse(
        target, f"an {type(target).__name__.lower()} cannot be assigned here",
        "Assign a name, and the rest on a line of its own.",
    )  # fmt: skip


def _stored_attribute(
    b: Builder, target: Node, base: ir.Atom, value: ir.Atom, op: str | None
) -> ir.Stmt:
    """`base.name = value`, or `base.name op= value`."""
    if target.attr == "__class__":
        b.refuse(target, f"`{target.attr}` is assigned", "Assign the attributes by their names.")
    store = ir.SetAttr(b.source.attribute(target.attr), op)
    return ir.Effect(ir.Call(store, (base, value)), b.loc(target))


def _augmented_attribute(b: Builder, target: Node, value: Node, op: str) -> None:
    """`x.name op= value`: the old attribute is read before a value that may store another."""
    base = b.held(b.atom(target.value), b.rebound([value]), target)
    block, given = b.collected(lambda: b.atom(value))
    if any(map(_may_write, ir.walk(block))):
        old = b.temp(ir.Call(ir.Attr(b.source.attribute(target.attr)), (base,)), b.loc(target))
        b.out += block
        b.emit(ir.AugAssign(old, None, given, op, loc=b.loc(target)))
        b.emit(_stored_attribute(b, target, base, old, None))
    else:
        b.out += block
        b.emit(_stored_attribute(b, target, base, given, op))


def _stored_item(
    b: Builder, args: tuple[ir.Atom, ir.Atom, ir.Atom], target: Node, loc: ir.Loc
) -> ir.Stmt:
    """`base[index] = value`."""
    base, index, value = args
    if _is_container(base):
        return ir.Effect(ir.Call(ir.set_item, args), loc)
    return ir.SetItem(_base(b, base, target), index, value, loc=loc)


def _is_container(atom: ir.Atom) -> bool:
    """Whether an atom is a list or dict from outside: a store into one is an effect."""
    return isinstance(atom, ir.Ref) and isinstance(atom.value, (MutableMapping, MutableSequence))


def _base(b: Builder, atom: ir.Atom, target: Node) -> ir.Name:
    """The name of the container of a store."""
    if isinstance(atom, ir.Ref):
        b.refuse(
            target, f"a store into `{atom.text}`, which is not local to the function",
            "Pass it as an argument.",
        )  # fmt: skip
    return b.as_name(atom, target.value)


def augmented(b: Builder, target: Node, value: Node, op: str, loc: ir.Loc) -> None:
    """`target op= value`."""
    kind = type(target).__name__
    if kind == "Name":
        _augmented_name(b, target, value, op, loc)
    elif kind == "Subscript":
        base, index = b.operands((target.value, target.slice))
        if b.walrus:
            bound = b.rebound([value])
            base, index = b.held(base, bound, target), b.held(index, bound, target)
        if _is_container(base):
            args = base, index, b.atom(value), ir.Const(op)
            b.emit(ir.Effect(ir.Call(ir.set_item, args), loc))
        else:
            _augmented_item(b, _base(b, base, target), index, value, op, loc)
    elif kind == "Attribute":
        _augmented_attribute(b, target, value, op)
    else:
        refuse_target(b, target)


def _augmented_item(
    b: Builder, base: ir.Name, index: ir.Atom, value: Node, op: str, loc: ir.Loc
) -> None:
    """`x[i] op= value`: the old `x[i]` is read before a value that may write into x."""
    # The role of the old item lets `together` undo this where the value writes nothing.
    read = ir.Call(operator.getitem, (base, index), role=ir.Role.OLD)
    before, old = b.collected(lambda: b.temp(read, loc))
    block, given = b.collected(lambda: b.atom(value))
    if _may_write_outside(block):
        b.out += [*before, *block]
        b.emit(ir.AugAssign(old, None, given, op, loc=loc))
        b.emit(ir.SetItem(base, index, old, loc=loc))
    else:
        b.out += block
        b.emit(ir.AugAssign(base, index, given, op, loc=loc))


def _may_write_outside(block: ir.Block) -> bool:
    """Whether statements may write into anything but a list or dict made by one of them."""
    made = {
        s.target.id for s in ir.walk(block)
        if isinstance(s, ir.Assign) and is_op(s.rhs, Op.MAKE_LIST, Op.MAKE_DICT)
    }  # fmt: skip
    return any(_may_write(s) and not _stores_into(s, made) for s in ir.walk(block))


def _stores_into(stmt: ir.Stmt, made: Set[str]) -> bool:
    """Whether a statement does nothing but put something into one of some containers."""
    if isinstance(stmt, ir.Store):
        return stmt.base.id in made
    call = ir.call_of(stmt)
    if call is None or call.fn != ir.Method("append"):
        return False
    return isinstance(call.args[0], ir.Name) and call.args[0].id in made


def _may_write(stmt: ir.Stmt) -> bool:
    """Whether a statement may write into an array."""
    fn = ir.callee_of(stmt)
    if isinstance(fn, FunctionType) and (fn.__module__ or "").startswith("srcdiff."):
        return False  # helpers of generated code write into nothing
    called = isinstance(fn, (ir.Method, ir.Name, FunctionType)) and not is_pure(fn)
    return called or isinstance(stmt, ir.Store)


def _augmented_name(b: Builder, target: Node, value: Node, op: str, loc: ir.Loc) -> None:
    """`y op= value`: the old `y` counts, even where the value rebinds it."""
    name = b.target(target.id)
    held = b.held(name, b.rebound([value]), target)
    given = b.atom(value)
    assert isinstance(held, ir.Name)
    b.emit(ir.AugAssign(held, None, given, op, loc=loc))
    if held != name:
        b.emit(ir.Assign(name, held, loc))


# --- tuples ------------------------------------------------------------------------------------


def _assign_tuple(b: Builder, target: Node, value: Node, loc: ir.Loc) -> None:
    """`a, b = value`."""
    if type(value).__name__ in SEQUENCES and not has_star((*target.elts, *value.elts)):
        if len(value.elts) != len(target.elts):
            b.refuse(
                target, f"{len(value.elts)} values for {len(target.elts)} names",
                "Give as many values as names.",
            )  # fmt: skip
        _assign_pairwise(b, *_flat(target, value), loc)
        return
    if type(value).__name__ == "GeneratorExp":  # an unpacking uses it up at once
        b.eager.add(id(value))
    unpack(b, target, b.atom(value), loc)


def _flat(target: Node, value: Node) -> tuple[Node, Node]:
    """`a, b, c = x, y, z` for `(a, b), c = (x, y), z`."""
    targets: list[Node] = []
    values: list[Node] = []
    for one, two in zip(target.elts, value.elts, strict=True):
        nested = all(type(e).__name__ in SEQUENCES and not has_star(e.elts) for e in (one, two))
        if nested and len(one.elts) == len(two.elts):
            one, two = _flat(one, two)
            targets += one.elts
            values += two.elts
        else:
            targets.append(one)
            values.append(two)
    return at(gast.Tuple(targets, gast.Store()), target), at(gast.Tuple(values, gast.Load()), value)


def _assign_pairwise(b: Builder, target: Node, value: Node, loc: ir.Loc) -> None:
    """`a, b = e, f`: a swap, assignments in order, or through temporaries."""
    if all(type(e).__name__ == "Name" for e in target.elts):
        targets = [b.target(e.id) for e in target.elts]
        if len(set(targets)) == len(targets):
            if _is_swap(b, targets, value):
                sources = tuple(b.target(e.id) for e in value.elts)
                b.emit(ir.Permute(tuple(targets), sources, loc))
            else:
                _assign_names(b, targets, value.elts, loc)
            return
    bound = frozenset(b.ir_name(n) for n in scan_nodes([target]).bound)
    atoms = [b.held(a, bound, value) for a in b.operands(value.elts)]
    for part, atom in zip(target.elts, atoms, strict=False):
        store(b, part, atom, loc)


def _is_swap(b: Builder, targets: Sequence[ir.Name], value: Node) -> bool:
    """Whether the values are the targets in another order."""
    if not all(type(e).__name__ == "Name" for e in value.elts) or len(targets) < 2:
        return False
    sources = [b.scope.get(e.id) for e in value.elts]
    return (
        sources != targets
        and len(set(map(repr, sources))) == len(targets)
        and all(t in sources for t in targets)
    )


def _assign_names(
    b: Builder, targets: Sequence[ir.Name], values: Sequence[Node], loc: ir.Loc
) -> None:
    """Assignments from left to right; those late whose target a later value still reads."""
    late: list[tuple[ir.Name, ir.Atom]] = []
    for i, (target, value) in enumerate(zip(targets, values, strict=False)):
        later = _read(b, values[i + 1 :])
        rhs = b.rhs(value)
        if target.id in later:
            late.append((target, _kept(b, rhs, target, targets, value)))
        else:
            b.emit(ir.Assign(target, rhs, loc))
    for target, atom in late:
        b.emit(ir.Assign(target, atom, loc))


def _kept(
    b: Builder, rhs: ir.Rhs, target: ir.Name, targets: Sequence[ir.Name], node: Node
) -> ir.Atom:
    """The value of a late assignment, safe from the assignments before it."""
    if isinstance(rhs, (ir.Const, ir.Ref)):
        return rhs
    if isinstance(rhs, ir.Name) and rhs not in targets:
        return b.held(rhs, b.rebound([node]), node)
    return b.temp(rhs, b.loc(node))


def _read(b: Builder, nodes: Sequence[Node]) -> frozenset[str]:
    """The names that some expressions read or bind, nested functions that they call included."""
    found: set[str] = set()
    todo = [scan_nodes(nodes)]
    seen: set[int] = set()
    while todo:
        scan = todo.pop()
        for name in scan.identifiers:
            meaning = b.scope.get(name)
            if isinstance(meaning, LocalFunction) and id(meaning.node) not in seen:
                seen.add(id(meaning.node))
                todo.append(scan_nodes([meaning.node]))
            else:
                found.add(b.ir_name(name))
    return frozenset(found)


def unpack(b: Builder, target: Node, source: ir.Atom, loc: ir.Loc) -> None:
    """`a, *rest, z = source`, item by item."""
    bound = frozenset(b.ir_name(n) for n in scan_nodes([target]).bound)
    rest = [i for i, e in enumerate(target.elts) if type(e).__name__ == "Starred"]
    after = len(target.elts) - rest[0] - 1 if rest else 0
    # Which tells the printer and `iteration` that these are all the items.
    role = ir.Unpacks(rest[0], after) if rest else ir.Unpacks(len(target.elts))
    if _is_thrown_away(b, target) and isinstance(source, ir.Name) and source.id not in bound:
        b.emit(ir.Unpack(source, role, loc))
        return
    base = b.held(source, bound, target) if set(names(source)) & bound else source
    base = b.as_name(base, target) if not isinstance(base, (ir.Name, ir.Ref)) else base
    late: list[tuple[Node, ir.Atom]] = []  # all items are taken before one of them is stored
    apart = has_places(target)
    for i, part in enumerate(target.elts):
        if rest and i == rest[0]:
            part, rhs = part.value, rest_of(b, base, (i, after), loc)
        else:
            index = i if not rest or i < rest[0] else i - len(target.elts)
            rhs = ir.Call(operator.getitem, (base, ir.Const(index)), role=role)
        if apart:
            late.append((part, b.temp(rhs, loc)))
        else:
            store(b, part, rhs, loc)
    for part, item in late:
        store(b, part, item, loc)


def _is_thrown_away(b: Builder, target: Node) -> bool:
    """Whether all items are bound to one name (`_`) that nothing reads, as a check does it."""
    names = {getattr(getattr(e, "value", e), "id", None) for e in target.elts}
    return len(names) == 1 and None not in names and not names & b.loaded
