"""Statements that Python says in one expression or target.

Takes blocks and the names that are nested; finds `a, b = f(x)` in names bound to all items of a
value, one after the other; `[e for x in xs if c]` and `{k: v for ...}` in loops that only fill a
list or a dict; `a and b`, `a or b`, `x if c else y` in conditionals.  Says also what of a block is
still to be seen once expressions are nested, and about how many columns an expression takes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from functools import lru_cache
from typing import Any

from srcdiff import ir
from srcdiff.analysis.effects import Scan, may_move, stmt_reads
from srcdiff.ir.frozen import frozen, replace
from srcdiff.primitives.effects import module_of
from srcdiff.primitives.operation import op_of
from srcdiff.primitives.ops import Op, is_op


def visible(block: ir.Block, inline: Set[str]) -> list[ir.Stmt]:
    """The statements of a block that are not nested into others."""
    return [s for s in block if not _is_nested(s, inline)]


def _is_nested(stmt: ir.Stmt, inline: Set[str]) -> bool:
    if type(stmt) is ir.Assign:
        return stmt.target.id in inline
    if type(stmt) is ir.For:
        return filled_name(stmt) in inline
    # The last name that a conditional binds can only be nested if all of the conditional is.
    return type(stmt) is ir.If and result_name(stmt) in inline


def result_name(stmt: ir.If) -> str | None:
    """The name that a conditional binds last."""
    block = stmt.body or stmt.orelse
    last = block[-1] if block else None
    if type(last) is ir.Assign:
        return last.target.id
    return result_name(last) if type(last) is ir.If else None


def filled_name(loop: ir.For) -> str | None:
    """The temporary that the last statement of a loop puts something into."""
    last: ir.Stmt | None = loop
    while isinstance(last, (ir.For, ir.If)):
        last = last.body[-1] if last.body else None
    found = container(last)
    if found is None or not ir.is_temporary(found):
        return None
    # `(a if c else b)[0] = v` fills another one.
    return None if found in ir.bound((loop,)) else found


def container(stmt: ir.Stmt | None) -> str | None:
    """The container that a statement puts something into."""
    if type(stmt) is ir.SetItem:
        return stmt.base.id
    call = stmt.rhs if type(stmt) is ir.Effect else None
    if is_op(call, Op.APPEND) and len(call.args) == 2 and type(call.args[0]) is ir.Name:
        return call.args[0].id
    return None


# --- about how many columns an expression takes --------------------------------------------------


# A temporary and the name that it gets once it is seen have the same width, so that naming
# changes nothing about what is nested.
_NAME = re.compile(r"((?:d_)*)_*(.*?)(?:_\d+)*\Z")


@lru_cache(maxsize=4096)
def name_width(name: str) -> int:
    """About how many columns a name takes, whatever its number is."""
    match = _NAME.match(name)
    assert match is not None
    return len(match[1]) + len(match[2] or "t") + 2


def rhs_width(rhs: ir.Rhs) -> int:
    """About how many columns a right-hand side takes."""
    if type(rhs) is ir.Call:
        given = sum(len(key or "**") + 3 + rhs_width(value) for key, value in rhs.kwargs)
        return _callee_width(rhs) + sum(rhs_width(a) + 2 for a in rhs.args) + given
    if type(rhs) is ir.Name:
        return name_width(rhs.id)
    if type(rhs) is ir.Const:
        return len(repr(rhs.value))
    if isinstance(rhs, (ir.Opaque, ir.Ref)):
        return len(rhs.text)
    if type(rhs) is ir.Tup:
        return sum(rhs_width(a) + 2 for a in rhs.items)
    return 1 + sum(rhs_width(a) for a in ir.parts(rhs) if a != ir.NONE)  # `*x`, `a:b:c`


def _callee_width(call: ir.Call) -> int:
    fn = call.fn
    if type(fn) is ir.Derived:
        return 20  # it gets its name later
    if isinstance(fn, (ir.Method, ir.Attr)):
        return len(fn.name) + 1
    if type(fn) is ir.SetAttr:
        return len(fn.name) + 4
    if type(fn) is ir.Name:
        return len(fn.id)
    if call.text is not None:
        return len(call.text)
    if op_of(fn).symbol:
        return 0
    home = _HOMES.get(module_of(fn), "np.")
    return len(home) + len(getattr(fn, "__name__", "fn"))


_HOMES = {"numpy.fft": "np.fft.", "numpy.linalg": "np.linalg."}


# --- `a, b = f(x)`: names bound to all items of a value, one after the other ---------------------


Target = tuple[Any, int]


def items_of(block: ir.Block, index: int) -> tuple[str, tuple[str, ...]] | None:
    """The base and the targets, if the statements from `index` on take all items of a value."""
    first = _taken(block[index]) if index < len(block) else None
    if first is None:
        return None
    base, count, _ = first
    targets: dict[int, str] = {}
    for stmt in block[index : index + count]:
        taken = _taken(stmt)
        if taken is None or taken[:2] != (base, count):
            return None
        targets[taken[2]] = ir.writes(stmt)[0]
    if targets.keys() != set(range(count)):
        return None
    found = tuple(targets[k] for k in range(count))
    return (base, found) if len(set(found)) == count and base not in found else None


def _taken(stmt: ir.Stmt) -> tuple[str, int, int] | None:
    """The base, the number of its items, and the position of the one that a statement takes.

    They are the only ones that there are, so that unpacking can do without a subscript.  Some of
    them may have been dropped as unused since.
    """
    call = stmt.rhs if type(stmt) is ir.Assign else None
    role = call.role if type(call) is ir.Call else None
    if type(call) is not ir.Call or not isinstance(role, ir.Unpacks) or role.after is not None:
        return None
    base, position = call.args
    if type(base) is not ir.Name or type(position) is not ir.Const:
        return None
    return base.id, role.before, position.value


def unpacked(
    block: ir.Block, index: int, uses: Mapping[str, int], defs: Mapping[str, int]
) -> tuple[str, ...]:
    """The targets if the statements after `index` take all items of what it binds; else ()."""
    stmt = block[index]
    found = items_of(block, index + 1)
    if found is None or type(stmt) is not ir.Assign or stmt.target.id != found[0]:
        return ()
    if type(stmt.rhs) is ir.Tup:
        return ()  # that would read back as assignments one by one
    return found[1] if (uses[found[0]], defs[found[0]]) == (len(found[1]), 1) else ()


def loop_target(body: ir.Block, name: str, uses: Mapping[str, int], start: int = 0) -> Target:
    """The target of a loop whose body begins by taking the items of `name` apart.

    A name or a tuple of targets, and where the rest of the body begins.
    """
    found = items_of(body, start)
    if found is None or found[0] != name or uses[name] != len(found[1]):
        return name, start
    position = start + len(found[1])
    parts = []
    for inner in found[1]:
        part, position = loop_target(body, inner, uses, position)
        parts.append(part)
    return tuple(parts), position


# --- loops that only fill a list or a dict: `[e for x in xs if c]`, `{k: v for ...}` -------------


Targets = Mapping[str, tuple[object, int]]


@frozen
class Join:
    """A loop or conditional whose only result is one temporary, used once after it.

    `first` is the assignment before an `and` or `or`.
    """

    name: str
    first: ir.Assign | None
    reads: frozenset[str]
    impure: bool
    width: int


def _join(name: str, first: ir.Assign | None, within: Sequence[ir.Stmt], width: int) -> Join:
    """The expression that some statements are; `width` is what they take beside their operands."""
    reads = frozenset(n for s in within for n in stmt_reads(s)) - {name}
    others = (s for s in within if type(s) is ir.Assign and s is not first)
    width += sum(rhs_width(o) for s in within for o in ir.operands(s))
    return Join(name, first, reads, any(not may_move(s.rhs) for s in others), width)


def filled(scan: Scan) -> frozenset[str]:
    """The containers that some statements put something into."""
    return frozenset(n for s in scan.stmts if (n := container(s)) is not None)


def find_collection(
    block: ir.Block, index: int, loop: ir.For, inline: Set[str], scan: Scan, targets: Targets
) -> Join | None:
    """What the loop at `index` collects, if it does nothing else."""
    uses, defs = scan.uses, scan.defs
    name = filled_name(loop)
    if name is None or name in scan.held or (uses[name], defs[name]) != (2, 1):
        return None
    if not _is_empty(block[:index], name):
        return None
    inner = [s for s in ir.walk((loop,)) if type(s) is ir.For]
    if not _only_fills(loop, name, inline, targets) or any(f.stop is not None for f in inner):
        return None
    variables = ir.bound((loop,)) - inline
    if any(uses[v] != scan.reads_in((loop,), v) or defs[v] > 1 and uses[v] for v in variables):
        return None
    found = _join(name, None, ir.walk((loop,)), 12)
    return replace(found, reads=found.reads - ir.bound((loop,)))


def _is_empty(before: ir.Block, name: str) -> bool:
    """Whether a name is an empty list or dict when the loop begins."""
    for stmt in reversed(before):
        if type(stmt) is ir.Assign and stmt.target.id == name:
            return is_op(stmt.rhs, Op.MAKE_LIST, Op.MAKE_DICT) and not stmt.rhs.args
    return False


def _only_fills(stmt: ir.Stmt, name: str, inline: Set[str], starts: Targets) -> bool:
    """Whether a statement is a loop or test around nothing but one that fills the container."""
    if type(stmt) is ir.If:
        return not stmt.orelse and _fills_last(stmt.body, name, inline, starts)
    if type(stmt) is ir.For:
        start = starts.get(stmt.target.id, (None, 0))[1]
        return _fills_last(stmt.body[start:], name, inline, starts)
    return container(stmt) == name


def _fills_last(block: ir.Block, name: str, inline: Set[str], starts: Targets) -> bool:
    shown = visible(block, inline)
    return len(shown) == 1 and shown[0] is block[-1] and _only_fills(shown[0], name, inline, starts)


# --- conditionals that are expressions: `a and b`, `a or b`, `x if c else y` ---------------------


def find_join(block: ir.Block, index: int, inline: Set[str], scan: Scan) -> Join | None:
    """The expression that the `If` at `index` is, if it is one."""
    stmt = block[index] if index < len(block) else None
    if type(stmt) is not ir.If:
        return None
    name = value_target(stmt, inline)
    if name is None or name in scan.held:
        return None
    first: ir.Assign | None = None
    inside: ir.Block = (stmt,)
    if is_continued(stmt, name):
        before = block[index - 1] if index else None
        if type(before) is not ir.Assign or before.target.id != name:
            return None
        first, inside = before, (before, stmt)
    within = ir.walk(inside)
    bindings = sum(name in ir.writes(s) for s in within)
    reads = sum(stmt_reads(s).count(name) for s in within)
    # It is bound nowhere else, and read once after it.
    if (scan.defs[name], scan.uses[name]) != (bindings, reads + 1):
        return None
    return _join(name, first, within, 6 * len(inside))


def is_continued(stmt: ir.If, name: str) -> bool:
    """Whether a conditional goes on with an `and` or `or` of a name."""
    return stmt.test == ir.Name(name) and (not stmt.body or not stmt.orelse)


def value_target(stmt: ir.If, inline: Set[str]) -> str | None:
    """The temporary that a conditional computes, if it does nothing else."""
    name = result_name(stmt)
    if name is None or ir.role_of(name) is not ir.VariableRole.TEMPORARY:
        return None
    if is_continued(stmt, name):
        return name if _computes(stmt.body or stmt.orelse, name, inline) else None
    both = _computes(stmt.body, name, inline) and _computes(stmt.orelse, name, inline)
    return name if both else None


def _computes(block: ir.Block, name: str, inline: Set[str]) -> bool:
    """Whether a block does nothing but compute a value for `name`."""
    shown = visible(block, inline)
    if any(type(s) is ir.Backward for s in shown) or not 1 <= len(shown) <= 2:
        return False
    first, last = shown[0], shown[-1]
    if len(shown) == 2:
        return (
            type(first) is ir.Assign
            and first.target.id == name
            and type(last) is ir.If
            and is_continued(last, name)
            and value_target(last, inline) == name
        )
    if type(first) is ir.If:
        return not is_continued(first, name) and value_target(first, inline) == name
    binds = type(first) is ir.Assign and first.target.id == name
    return binds and items_of((first,), 0) is None
