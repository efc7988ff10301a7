"""Statements that Python says in one expression or target.

Takes blocks and the names that are nested; finds `a, b = f(x)` in names bound to all items of a
value, one after the other; `[e for x in xs if c]` and `{k: v for ...}` in loops that only fill a
list or a dict; `a and b`, `a or b`, `x if c else y` in conditionals.  Says also what of a block is
still to be seen once expressions are nested, and about how many columns an expression takes.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Mapping, Set
from typing import Any

from srcdiff.analysis.effects import Scan, is_pure, stmt_reads
from srcdiff.ir import (
    Assign,
    Attr,
    Block,
    Call,
    Comment,
    Const,
    Derived,
    Effect,
    For,
    If,
    Method,
    Name,
    Opaque,
    Ref,
    Rhs,
    SetItem,
    Slice,
    Star,
    Stmt,
    Tup,
    Unpacks,
    bound,
    operands,
    walk,
    writes,
)
from srcdiff.ir.frozen import frozen, replace
from srcdiff.primitives.ops import Op, is_op


def visible(block: Block, inline: Set[str]) -> list[Stmt]:
    """The statements of a block that are not nested into others."""
    return [s for s in block if not _is_nested(s, inline)]


def _is_nested(stmt: Stmt, inline: Set[str]) -> bool:
    if isinstance(stmt, Assign):
        return stmt.target.id in inline
    if isinstance(stmt, For):
        return filled_name(stmt) in inline
    # The last name that a conditional binds can only be nested if all of the conditional is.
    return isinstance(stmt, If) and result_name(stmt) in inline


def result_name(stmt: If) -> str | None:
    """The name that a conditional binds last."""
    block = stmt.body or stmt.orelse
    last = block[-1] if block else None
    if isinstance(last, Assign):
        return last.target.id
    return result_name(last) if isinstance(last, If) else None


def filled_name(loop: For) -> str | None:
    """The temporary that the last statement of a loop puts something into."""
    last: Stmt | None = loop
    while isinstance(last, (For, If)):
        last = last.body[-1] if last.body else None
    found = container(last)
    if found is None or not found.startswith("_"):
        return None
    return None if found in bound((loop,)) else found  # `(a if c else b)[0] = v` fills another one


def container(stmt: Stmt | None) -> str | None:
    """The container that a statement puts something into."""
    if isinstance(stmt, SetItem) and stmt.op is None and stmt.index is not None:
        return stmt.base.id
    if isinstance(stmt, Effect) and isinstance(stmt.rhs, Call):
        call = stmt.rhs
        if is_op(call, Op.APPEND) and len(call.args) == 2 and isinstance(call.args[0], Name):
            return call.args[0].id
    return None


# --- about how many columns an expression takes --------------------------------------------------


_OPERATORS: frozenset[Any] = frozenset(vars(operator)[n] for n in operator.__all__)


# A temporary and the name that it gets once it is seen have the same width, so that naming
# changes nothing about what is nested.
_NAME = re.compile(r"((?:d_)*)_*(.*?)(?:_\d+)*\Z")


def name_width(name: str) -> int:
    """About how many columns a name takes, whatever its number is."""
    match = _NAME.match(name)
    assert match is not None
    return len(match[1]) + len(match[2] or "t") + 2


def rhs_width(rhs: Rhs) -> int:
    """About how many columns a right-hand side takes."""
    if isinstance(rhs, Call):
        return _callee_width(rhs) + sum(rhs_width(a) + 2 for a in rhs.args) + _keywords(rhs)
    if isinstance(rhs, Name):
        return name_width(rhs.id)
    if isinstance(rhs, Const):
        return len(repr(rhs.value))
    if isinstance(rhs, (Opaque, Ref)):
        return len(rhs.text)
    if isinstance(rhs, Star):
        return 1 + rhs_width(rhs.value)
    if isinstance(rhs, Slice):
        bounds = (b for b in (rhs.lower, rhs.upper, rhs.step) if b != Const(None))
        return 1 + sum(rhs_width(b) for b in bounds)
    assert isinstance(rhs, Tup)
    return sum(rhs_width(a) + 2 for a in rhs.items)


def _keywords(call: Call) -> int:
    return sum(len(key or "**") + 3 + rhs_width(value) for key, value in call.kwargs)


def _callee_width(call: Call) -> int:
    fn = call.fn
    if isinstance(fn, Derived):
        return 20  # it gets its name later
    if isinstance(fn, (Method, Attr)):
        return len(fn.name) + 1
    if isinstance(fn, Name):
        return len(fn.id)
    if call.text is not None:
        return len(call.text)
    if type(fn).__name__ == "builtin_function_or_method" and fn in _OPERATORS:
        return 0
    home = _HOMES.get(str(getattr(fn, "__module__", "")), "np.")
    return len(home) + len(getattr(fn, "__name__", "fn"))


_HOMES = {"numpy.fft": "np.fft.", "numpy.linalg": "np.linalg."}


# --- `a, b = f(x)`: names bound to all items of a value, one after the other ---------------------


Target = tuple[Any, int]


def items_of(block: Block, index: int) -> tuple[str, tuple[str, ...]] | None:
    """The base and the targets, if the statements from `index` on take all items of a value."""
    count = _count(block[index]) if index < len(block) else 0
    group = block[index : index + count]
    base = _base(block[index]) if count else None
    if base is None or len(group) < count:
        return None
    targets = {_position(s, base, count): s.target.id for s in group if isinstance(s, Assign)}
    if set(targets) != set(range(count)):
        return None
    found = tuple(targets[k] for k in range(count))
    return (base, found) if len(set(found)) == count and base not in found else None


def unpacked(
    block: Block, index: int, uses: Mapping[str, int], defs: Mapping[str, int]
) -> tuple[str, ...]:
    """The targets if the statements after `index` take all items of what it binds; else ()."""
    stmt = block[index]
    found = items_of(block, index + 1)
    if found is None or not isinstance(stmt, Assign) or stmt.target.id != found[0]:
        return ()
    if isinstance(stmt.rhs, Tup):
        return ()  # that would read back as assignments one by one
    return found[1] if (uses[found[0]], defs[found[0]]) == (len(found[1]), 1) else ()


def loop_target(body: Block, name: str, uses: Mapping[str, int], start: int = 0) -> Target:
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


def _count(stmt: Stmt) -> int:
    """How many items there are, of which a statement takes one; 0 if it does not.

    They are the only ones that there are, so that unpacking can do without a subscript.  Some of
    them may have been dropped as unused since.
    """
    if not isinstance(stmt, Assign) or not isinstance(stmt.rhs, Call):
        return 0
    role = stmt.rhs.role
    return role.before if isinstance(role, Unpacks) and role.after is None else 0


def _base(stmt: Stmt) -> str | None:
    """The name whose item a statement takes."""
    base = stmt.rhs.args[0] if isinstance(stmt, Assign) and isinstance(stmt.rhs, Call) else None
    return base.id if isinstance(base, Name) else None


def _position(stmt: Assign, base: str, count: int) -> int | None:
    """The position in `target = base[position]`, one of `count` items."""
    index = stmt.rhs.args[1] if isinstance(stmt.rhs, Call) and _count(stmt) == count else None
    position = index.value if isinstance(index, Const) and _base(stmt) == base else None
    return position if isinstance(position, int) else None


# --- loops that only fill a list or a dict: `[e for x in xs if c]`, `{k: v for ...}` -------------


Targets = Mapping[str, tuple[object, int]]


@frozen
class Join:
    """A loop or conditional whose only result is one temporary, used once after it.

    `first` is the assignment before an `and` or `or`.
    """

    name: str
    first: Assign | None
    reads: frozenset[str]
    impure: bool
    width: int


def _join(name: str, first: Assign | None, within: list[Stmt], width: int) -> Join:
    """The expression that some statements are; `width` is what they take beside their operands."""
    reads = frozenset(n for s in within for n in stmt_reads(s)) - {name}
    others = (s for s in within if isinstance(s, Assign) and s is not first)
    width += sum(rhs_width(o) for s in within for o in operands(s))
    return Join(name, first, reads, any(not is_pure(s.rhs) for s in others), width)


def filled(scan: Scan) -> frozenset[str]:
    """The containers that some statements put something into."""
    return frozenset(n for s in scan.stmts if (n := container(s)) is not None)


def find_collection(
    block: Block, index: int, loop: For, inline: Set[str], scan: Scan, targets: Targets
) -> Join | None:
    """What the loop at `index` collects, if it does nothing else."""
    uses, defs = scan.uses, scan.defs
    name = filled_name(loop)
    if name is None or name in scan.held or (uses[name], defs[name]) != (2, 1):
        return None
    if not _is_empty(block[:index], name):
        return None
    inner = [s for s in walk((loop,)) if isinstance(s, For)]
    if not _only_fills(loop, name, inline, targets) or any(f.stop is not None for f in inner):
        return None
    variables = bound((loop,)) - inline
    if any(uses[v] != scan.reads_in((loop,), v) or defs[v] > 1 and uses[v] for v in variables):
        return None
    found = _join(name, None, list(walk((loop,))), 12)
    return replace(found, reads=found.reads - bound((loop,)))


def _is_empty(before: Block, name: str) -> bool:
    """Whether a name is an empty list or dict when the loop begins."""
    for stmt in reversed(before):
        if isinstance(stmt, Assign) and stmt.target.id == name:
            rhs = stmt.rhs
            made = isinstance(rhs, Call) and (is_op(rhs, Op.MAKE_LIST) or is_op(rhs, Op.MAKE_DICT))
            return made and not rhs.args  # type: ignore[union-attr]
    return False


def _only_fills(
    stmt: Stmt, name: str, inline: Set[str], starts: Targets
) -> bool:
    """Whether a statement is a loop or test around nothing but one that fills the container."""
    if isinstance(stmt, If):
        return not stmt.orelse and _fills_last(stmt.body, name, inline, starts)
    if isinstance(stmt, For):
        start = starts.get(stmt.target.id, (None, 0))[1]
        return _fills_last(stmt.body[start:], name, inline, starts)
    return container(stmt) == name


def _fills_last(
    block: Block, name: str, inline: Set[str], starts: Targets
) -> bool:
    shown = visible(block, inline)
    return len(shown) == 1 and shown[0] is block[-1] and _only_fills(shown[0], name, inline, starts)


# --- conditionals that are expressions: `a and b`, `a or b`, `x if c else y` ---------------------


def find_join(block: Block, index: int, inline: Set[str], scan: Scan) -> Join | None:
    """The expression that the `If` at `index` is, if it is one."""
    stmt = block[index] if index < len(block) else None
    if not isinstance(stmt, If):
        return None
    name = value_target(stmt, inline)
    if name is None or name in scan.held:
        return None
    first = None
    inside: Block = (stmt,)
    if is_continued(stmt, name):
        before = block[index - 1] if index else None
        if not isinstance(before, Assign) or before.target.id != name:
            return None
        first, inside = before, (before, stmt)
    return _checked(name, first, inside, scan)


def _checked(name: str, first: Assign | None, inside: Block, scan: Scan) -> Join | None:
    """The join, unless the name is bound elsewhere or read more than once after it."""
    within = list(walk(inside))
    bindings = sum(name in writes(s) for s in within)
    read = [n for s in within for n in stmt_reads(s)]
    if scan.defs[name] != bindings or scan.uses[name] != read.count(name) + 1:
        return None
    return _join(name, first, within, 6 * len(inside))


def is_continued(stmt: If, name: str) -> bool:
    """Whether a conditional goes on with an `and` or `or` of a name."""
    return stmt.test == Name(name) and (not stmt.body or not stmt.orelse)


def value_target(stmt: If, inline: Set[str]) -> str | None:
    """The temporary that a conditional computes, if it does nothing else."""
    name = result_name(stmt)
    if name is None or not name.startswith("_") or name.startswith("_ret"):
        return None  # `_ret` holds what several `return` statements return
    if is_continued(stmt, name):
        return name if _computes(stmt.body or stmt.orelse, name, inline) else None
    both = _computes(stmt.body, name, inline) and _computes(stmt.orelse, name, inline)
    return name if both else None


def _computes(block: Block, name: str, inline: Set[str]) -> bool:
    """Whether a block does nothing but compute a value for `name`."""
    shown = visible(block, inline)
    if any(isinstance(s, Comment) for s in shown) or not 1 <= len(shown) <= 2:
        return False
    first, last = shown[0], shown[-1]
    if len(shown) == 2:
        return (
            isinstance(first, Assign)
            and first.target.id == name
            and isinstance(last, If)
            and is_continued(last, name)
            and value_target(last, inline) == name
        )
    if isinstance(first, If):
        return not is_continued(first, name) and value_target(first, inline) == name
    return isinstance(first, Assign) and first.target.id == name
