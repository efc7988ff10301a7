"""What a derivative copies when it is entered: the parameters that its primal writes into.

`own_memory` makes a function ready for shadows.  It takes a function of which some names have
shadows; returns one of which no parameter has, and in which no such name is bound to new memory
that is made of what it was (`x = x + 1` becomes `t = x + 1; x = t`), and the parameters copied.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

import numpy as np

from srcdiff import ir
from srcdiff.analysis.aliases import Aliases, aliases
from srcdiff.analysis.links import classes_of, groups, marked_names, named_container
from srcdiff.analysis.points_to import PointsTo
from srcdiff.analysis.shadows import may_copy
from srcdiff.ir.frozen import replace
from srcdiff.kinds.interpreter import infer
from srcdiff.normalize.live_ranges import webs
from srcdiff.normalize.summaries.effects import is_user_call
from srcdiff.normalize.summaries.induction import reshapes
from srcdiff.primitives.ops import Op, is_op
from srcdiff.runtime import layout, trees


def with_copies(function: ir.Function, names: Iterable[str], kinds: ir.Kinds) -> ir.Function:
    """The function with some parameters copied to variables that take their place."""
    return bound_first(function, {p: _copy(p, kinds.get(p)) for p in names})


def bound_first(function: ir.Function, given: Mapping[str, ir.Rhs]) -> ir.Function:
    """The function with variables in the place of some parameters, bound to something at first."""
    fresh = ir.Fresh(ir.all_names(function))
    new = {p: fresh(p) for p in given}
    start = tuple(ir.Assign(new[p], rhs, function.loc) for p, rhs in given.items())
    renamed = ir.rename(function.body, {p: n.id for p, n in new.items()})
    return ir.rebuilt(function, body=(*start, *renamed))


def entered(
    function: ir.Function, kinds: ir.Kinds, params: ir.Kinds
) -> tuple[ir.Function, tuple[str, ...]]:
    """The function with copies of the parameters that it writes into, and these."""
    written = copied_params(function, kinds, params)
    if not written:
        return function, ()
    function = with_copies(function, written, params)
    function = same_layout(function, infer(function, params))
    return _deep_where_inside(function, infer(function, params)), written


def _deep_where_inside(function: ir.Function, kinds: ir.Kinds) -> ir.Function:
    """The function with all copied that a container holds, if something in it is written into."""
    memory = PointsTo.of(function, kinds)
    same = groups(k for k in memory.links if k.how == "alias")

    def deep(stmt: ir.Assign) -> ir.Stmt:
        own = stmt.target.id
        others = (n for n in memory.written if memory.groups.share(n, own))
        inside = not all(same.share(n, own) for n in others)
        return _deep_copy(function, stmt) if inside else stmt

    return _at_entry(function, deep)


def _copy(param: str, kind: ir.Kind | None) -> ir.Rhs:
    """A copy of a parameter that the function writes into."""
    arg = ir.Name(param)
    if isinstance(kind, ir.List):
        return ir.Call(list, (arg,))
    if isinstance(kind, ir.Dict):
        return ir.Call(dict, (arg,))
    if isinstance(kind, ir.Tuple):
        return ir.Call(trees.kept, (arg,))
    if isinstance(kind, ir.Array) and not kind.maybe_scalar:
        return ir.Call(ir.Method("copy"), (arg,))
    return ir.Call(np.array, (arg,))


def own_memory(function: ir.Function, params: ir.Kinds) -> tuple[ir.Function, tuple[str, ...]]:
    """The function ready for shadows, and the parameters that are copied now."""
    function = _deep_copies(function)
    shared = aliases(function, infer(function, params))
    more = tuple(p.name for p in function.params if p.name in shared.shadows)
    function = _deep_copies(with_copies(function, more, params))
    function = _same_layout(function, shared)
    return webs(_split_selfs(_chosen(function, shared.shadows), shared.shadows)), more


def mirrored_memory(function: ir.Function, kinds: ir.Kinds) -> ir.Function:
    """The function ready for forward mode: what is written in containers is copied as well."""
    memory = PointsTo.of(function, kinds)
    classes = classes_of(memory.links, memory.stored[0])
    copied = {s.target.id for s in function.body if isinstance(s, ir.Assign)} & set(classes)
    held = any(named_container(n, kinds) for n in copied)
    return _deep_copies(function) if held else function


def same_layout(function: ir.Function, kinds: ir.Kinds) -> ir.Function:
    """The function whose copies of parameters that it reshapes keep the layout of the memory."""
    memory = PointsTo.of(function, kinds)
    return _same_layout(function, Aliases(classes_of(memory.links, memory.stored[0])))


def _deep_copies(function: ir.Function) -> ir.Function:
    """The function with all copied that the parameters hold that are copied at its start."""
    return _at_entry(function, lambda stmt: _deep_copy(function, stmt))


def _deep_copy(function: ir.Function, stmt: ir.Assign) -> ir.Stmt:
    """A statement that copies a container among the parameters, with all that this holds."""
    own = {p.name for p in function.params}
    shallow = is_op(stmt.rhs, Op.LIST, Op.DICT)
    if not shallow or not own.issuperset(ir.names(stmt.rhs)):
        return stmt
    assert isinstance(stmt.rhs, ir.Call)
    return replace(stmt, rhs=ir.Call(trees.kept, stmt.rhs.args))


def _at_entry(function: ir.Function, change: Callable[[ir.Assign], ir.Stmt]) -> ir.Function:
    """The function with its first statements, which copy parameters, changed."""
    body = list(function.body)
    for k, stmt in enumerate(body):
        if not isinstance(stmt, ir.Assign) or stmt.loc != function.loc:
            break
        body[k] = change(stmt)
    return ir.rebuilt(function, body=tuple(body))


def _same_layout(function: ir.Function, shared: Aliases) -> ir.Function:
    """Copies of arrays in the layout that decides what is a view of them."""
    reshaped = {
        shared.classes[s.target.id]
        for s in ir.walk(function)
        if isinstance(s, ir.Assign) and s.target.id in shared.classes and may_copy(s.rhs)
    }
    reshaped |= {shared.classes[n] for n in lent_names(function) if n in shared.classes}

    def laid(stmt: ir.Assign) -> ir.Stmt:
        rhs = stmt.rhs
        array = is_op(rhs, Op.ARRAY, Op.COPY_METHOD)
        if not array or shared.classes.get(stmt.target.id) not in reshaped:
            return stmt
        assert isinstance(rhs, ir.Call)
        return replace(stmt, rhs=ir.Call(layout.laid_copy, rhs.args))

    return _at_entry(function, laid)


def lent_names(function: ir.Function) -> Iterator[str]:
    """The names given to functions that stay calls and reshape what they are given."""
    for call in ir.calls(function):
        if type(call.fn) is ir.Derived and is_user_call(call) and reshapes(call.fn.key.function):
            yield from ir.names(call)


def _chosen(function: ir.Function, shadows: frozenset[str]) -> ir.Function:
    """The function with `c = a if test else b` choosing `c` itself, not a temporary before it."""
    defs, uses = ir.binding_counts(function, function.params), ir.reader_counts(function)
    new: dict[str, str] = {}

    def choose(block: ir.Block) -> ir.Block:
        out: list[ir.Stmt] = []
        for stmt in block:
            rhs = stmt.rhs if isinstance(stmt, ir.Assign) else None
            if isinstance(stmt, ir.Assign) and isinstance(rhs, ir.Name) and out:
                source, target = rhs.id, stmt.target.id
                made = isinstance(out[-1], ir.If) and source in ir.bound((out[-1],))
                own = ir.is_temporary(source) and uses.get(source) == 1 and source in shadows
                if made and own and defs[target] == 1 and target not in ir.used((out[-1],)):
                    new[source] = target
                    continue
            out.append(ir.map_blocks(stmt, choose))
        return tuple(out)

    body = choose(function.body)
    return ir.rebuilt(function, body=ir.rename(body, new))


def _split_selfs(function: ir.Function, shadows: frozenset[str]) -> ir.Function:
    """The function with `x = x + 1`, for an x with a shadow, as `t = x + 1; x = t`."""
    fresh = ir.Fresh(ir.all_names(function))

    def split(stmt: ir.Stmt) -> ir.Stmt | ir.Block:
        if not isinstance(stmt, ir.Assign) or isinstance(stmt.rhs, ir.Name):
            return stmt
        if stmt.target.id not in shadows.intersection(ir.names(stmt.rhs)):
            return stmt
        temp = fresh("_" + stmt.target.id.lstrip("_"))
        return (replace(stmt, target=temp), ir.Assign(stmt.target, temp, stmt.loc))

    return ir.replaced_in(function, split)


def said_to_be_written(function: ir.Function, kinds: ir.Kinds, params: ir.Kinds) -> tuple[str, ...]:
    """The parameters of which `x += y` says that they are written into, whatever becomes of it."""
    bases = {n for s in ir.walk(function) for n in marked_names(s)}
    if not bases:
        return ()
    group = PointsTo.of(function, kinds).near
    written = set(map(group.of, bases))
    found = (p.name for p in function.params if group.of(p.name) in written)
    return tuple(p for p in found if _is_own(params.get(p, ir.UNKNOWN)))


def _is_own(kind: ir.Kind) -> bool:
    """Whether a value is copied where it is written into: random generators are shared."""
    return ir.is_mutable(kind) and not isinstance(kind, (ir.Object, ir.Sparse))


def copied_params(function: ir.Function, kinds: ir.Kinds, params: ir.Kinds) -> tuple[str, ...]:
    """The parameters that the function writes into; objects (random generators) are shared."""
    found = {p: params.get(p, ir.UNKNOWN) for p in PointsTo.of(function, kinds).written_params}
    return tuple(p for p, kind in found.items() if _is_own(kind))
