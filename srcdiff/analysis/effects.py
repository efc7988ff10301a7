"""What a function reads and binds, and what evaluating a right-hand side can do.

Takes a function, which is walked over once (`Scan`), or a right-hand side; says whether that may be
moved: what it reads, whether it is pure, and what the statements between could change.
"""

from __future__ import annotations

import builtins
import operator
import re
from collections import Counter
from collections.abc import Iterable
from itertools import chain
from types import BuiltinFunctionType
from typing import Any

from srcdiff.ir import (
    Assign,
    Atom,
    Attr,
    Block,
    Call,
    Const,
    Effect,
    For,
    Function,
    Method,
    Name,
    Opaque,
    Permute,
    Ref,
    Rhs,
    SetItem,
    Slice,
    Stmt,
    Verbatim,
    While,
    occurrences,
    operands,
    parts,
    walk,
    writes,
)
from srcdiff.primitives import effects
from srcdiff.primitives.arguments import outs, overwrites
from srcdiff.primitives.operation import PURE_METHODS, only_checks
from srcdiff.primitives.ops import Op, is_op

_TEMPORARY = re.compile(r"(d_)*_")


def is_temporary(name: str) -> bool:
    """Whether a name is the compiler's: it starts with `_`, or is the adjoint of such a one."""
    return _TEMPORARY.match(name) is not None


def stmt_reads(stmt: Stmt) -> tuple[str, ...]:
    """The names that a statement itself reads, and the test of a `while`."""
    if type(stmt) is Assign:
        return occurrences(stmt.rhs)
    found = [n for operand in operands(stmt) for n in occurrences(operand)]
    return (*found, *occurrences(stmt.test)) if isinstance(stmt, While) else tuple(found)


class Scan:
    """The statements of a function, outer ones first, with how often names are read and bound.

    `held` are the names that are read where no expression can stand, such as inside a text.
    """

    def __init__(self, function: Function) -> None:
        self.function = function
        self.stmts: list[Stmt] = list(walk(function.body))
        self._reads = {id(s): stmt_reads(s) for s in self.stmts}
        self.uses = Counter(chain.from_iterable(map(self.reads, self.stmts)))
        self.defs = Counter(chain.from_iterable(map(writes, self.stmts)))
        self.held = {n for s in self.stmts for n in _held(s, self.reads(s))}
        self.names = {p.name for p in function.params}
        self.names.update(self.uses, self.defs, self.held)

    def reads(self, stmt: Stmt) -> tuple[str, ...]:
        """The names that a statement itself reads."""
        found = self._reads.get(id(stmt))
        return stmt_reads(stmt) if found is None else found

    def reads_in(self, block: Block, name: str) -> int:
        """How often the statements of a block read a name."""
        return sum(self.reads(s).count(name) for s in walk(block))


def _held(stmt: Stmt, reads: tuple[str, ...]) -> tuple[str, ...]:
    """The names that a statement reads where no expression can stand."""
    if isinstance(stmt, (Verbatim, Permute)):
        return reads
    if isinstance(stmt, (For, While)):
        return () if stmt.stop is None else (stmt.stop.id,)
    if isinstance(stmt, SetItem):
        return (stmt.base.id,) if stmt.index is None else ()
    rhs = getattr(stmt, "rhs", None)
    return reads if isinstance(rhs, Opaque) else ()


# --- what evaluating a right-hand side can do, as far as moving it is concerned ------------------


_FIXED_ATTRIBUTES = frozenset(("shape", "ndim", "size", "dtype", "nbytes", "itemsize"))
_IMPURE_OPERATORS = frozenset(("setitem", "delitem", "methodcaller", "call"))
# What gives numbers and tuples from numbers and tuples: nothing that a store can change.
_NUMBER_MAKERS: frozenset[Any] = frozenset((len, int, float, bool, min, max, abs, range, slice))
_IN_PLACE = "iadd isub imul itruediv ifloordiv imod ipow imatmul iand ior ixor ilshift irshift"
_ARITHMETIC = frozenset(
    f for n, f in vars(operator).items()
    if callable(f) and not n.startswith("_") and n not in {*_IN_PLACE.split(), *_IMPURE_OPERATORS}
)  # fmt: skip


def is_pure(rhs: Rhs) -> bool:
    """Whether evaluating a right-hand side changes nothing and may be moved over other reads."""
    if isinstance(rhs, Opaque):
        return rhs.harmless or _is_plain_lambda(rhs)
    if not isinstance(rhs, Call):
        return True
    return (effects.is_pure(rhs.fn) or only_checks(rhs.fn)) and not _has_out(rhs)


def _is_plain_lambda(rhs: Opaque) -> bool:
    """Whether an expression makes a function of its parameters alone."""
    return rhs.text.startswith("lambda") and not rhs.reads


def _has_out(call: Call) -> bool:
    """Whether a call may write into one of its arguments: `out=`, by keyword or by position."""
    return bool(outs(call)) or overwrites(call) or any(key is None for key, _ in call.kwargs)


def reads_memory(rhs: Rhs, fixed: frozenset[str]) -> bool:
    """Whether the value depends on what a store can change; `fixed` names hold plain numbers."""
    if isinstance(rhs, Opaque):
        return not _is_plain_lambda(rhs)
    if not isinstance(rhs, Call):
        return False
    if isinstance(rhs.fn, Attr) and (rhs.fn.name in _FIXED_ATTRIBUTES or rhs.fn.name == "T"):
        return False
    return not is_fixed(rhs, fixed)


def is_length(rhs: Rhs) -> bool:
    """Whether a value is a length, which is another one when a container has changed."""
    return is_op(rhs, Op.LEN)


def is_fixed(rhs: Rhs, fixed: Iterable[str]) -> bool:
    """Whether a value is a plain number, or a tuple of such, for certain."""
    if isinstance(rhs, Opaque):
        return False
    if not isinstance(rhs, Call):
        return _is_fixed_atom(rhs, fixed)
    fn = rhs.fn
    if isinstance(fn, Attr):
        return fn.name in _FIXED_ATTRIBUTES
    if fn is builtins.len or fn is builtins.range:
        return True
    makes_number = _hashed(fn) and (fn in _NUMBER_MAKERS or fn in _ARITHMETIC)
    return makes_number and all(_is_fixed_atom(a, fixed) for a in rhs.args)


def _hashed(fn: Any) -> bool:
    return type(fn) is BuiltinFunctionType or isinstance(fn, type)


def _is_fixed_atom(atom: Atom, fixed: Iterable[str]) -> bool:
    if isinstance(atom, Name):
        return atom.id in fixed
    if isinstance(atom, Ref):
        return isinstance(atom.value, (bool, int, float, complex, str))
    return all(_is_fixed_atom(a, fixed) for a in parts(atom))


def fixed_names(scan: Scan) -> frozenset[str]:
    """The names that only ever hold plain numbers, or tuples of such."""
    definitions = _definitions(scan)
    fixed = set(definitions) - {p.name for p in scan.function.params}
    while True:
        lost = {n for n in fixed if not _all_fixed(definitions[n], fixed)}
        if not lost:
            return frozenset(fixed)
        fixed -= lost


def _all_fixed(values: Iterable[Rhs | None], fixed: set[str]) -> bool:
    return all(v is not None and is_fixed(v, fixed) for v in values)


def _definitions(scan: Scan) -> dict[str, list[Rhs | None]]:
    """Every name with what it is bound to; None where that is not an expression."""
    found: dict[str, list[Rhs | None]] = {}
    for stmt in scan.stmts:
        for name in writes(stmt):
            found.setdefault(name, []).append(_bound_value(stmt))
    return found


def _bound_value(stmt: Stmt) -> Rhs | None:
    if isinstance(stmt, Assign):
        return stmt.rhs
    if isinstance(stmt, For) and is_op(stmt.iter, Op.RANGE):
        return Const(0)
    return None


def slots(scan: Scan) -> frozenset[str]:
    """The names of lists that are only ever appended to and popped: nobody else sees them."""
    made = {s.target.id for s in scan.stmts if isinstance(s, Assign) and _is_empty_list(s.rhs)}
    if not made:
        return frozenset()
    seen: set[str] = {p.name for p in scan.function.params}
    for stmt in scan.stmts:
        if not (isinstance(stmt, Assign) and _is_empty_list(stmt.rhs)):
            seen.update(writes(stmt))
        slot = slot_of(stmt.rhs) if isinstance(stmt, (Assign, Effect)) else None
        seen.update(n for n in scan.reads(stmt) if n != slot)
    return frozenset(made - seen)


def _is_empty_list(rhs: Rhs) -> bool:
    return is_op(rhs, Op.MAKE_LIST) and not rhs.args


def slot_of(rhs: Rhs) -> str | None:
    """The list that `xs.append(v)` or `xs.pop()` works on."""
    if isinstance(rhs, Call) and isinstance(rhs.fn, Method) and rhs.fn.name in ("append", "pop"):
        base = rhs.args[0]
        if isinstance(base, Name) and occurrences(rhs).count(base.id) == 1:
            return base.id
    return None


def resizes(scan: Scan, private: frozenset[str]) -> bool:
    """Whether some container that is no private list may become longer or shorter."""
    lists = {s.target.id for s in scan.stmts if isinstance(s, Assign) and _makes_list(s.rhs)}
    return any(_resizes(s, private, lists) for s in scan.stmts)


def _makes_list(rhs: Rhs) -> bool:
    return is_op(rhs, Op.MAKE_LIST, Op.LIST, Op.SORTED)


def _resizes(stmt: Stmt, private: frozenset[str], lists: set[str]) -> bool:
    if isinstance(stmt, SetItem):
        return isinstance(stmt.index, Slice) and stmt.base.id in lists
    call = stmt.rhs if isinstance(stmt, (Effect, Assign)) else None
    if not isinstance(call, Call) or not isinstance(call.fn, Method):
        return False
    return call.fn.name not in PURE_METHODS and slot_of(call) not in private


def is_slot_effect(stmt: Stmt, private: frozenset[str]) -> bool:
    """Whether a statement only appends to or pops from a private list."""
    if isinstance(stmt, (Effect, Assign)):
        return slot_of(stmt.rhs) in private
    return False
