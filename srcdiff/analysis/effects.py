"""What a function reads and binds, and what evaluating a right-hand side can do.

Takes a function, which is walked over once (`Scan`), or a right-hand side; says whether that may be
moved: what it reads, whether it is pure, and what the statements between could change.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Set
from itertools import chain

from srcdiff import ir
from srcdiff.analysis.links import makes_empty_list
from srcdiff.primitives.effects import only_computes
from srcdiff.primitives.operation import PURE_METHODS, Effect, op_of
from srcdiff.primitives.ops import Op, is_op


def stmt_reads(stmt: ir.Stmt) -> tuple[str, ...]:
    """The names that a statement itself reads, and the test of a `while`."""
    if type(stmt) is ir.While:
        return ir.reads_of(stmt) + ir.occurrences(stmt.test)
    return ir.reads_of(stmt)


class Scan:
    """The statements of a function, outer ones first, with how often names are read and bound.

    `held` are the names that are read where no expression can stand, such as inside a text.
    """

    def __init__(self, function: ir.Function) -> None:
        self.function = function
        self.stmts = list(ir.walk(function))
        self.uses = Counter(chain.from_iterable(map(stmt_reads, self.stmts)))
        self.defs = ir.binding_counts(function)
        self.held = {n for s in self.stmts for n in held(s)}
        self.names = {p.name for p in function.params}
        self.names.update(self.uses, self.defs, self.held)

    def reads_in(self, block: ir.Block, name: str) -> int:
        """How often the statements of a block read a name."""
        return sum(stmt_reads(s).count(name) for s in ir.walk(block))


def held(stmt: ir.Stmt) -> tuple[str, ...]:
    """The names that a statement reads where no expression can stand."""
    if type(stmt) is ir.Assign or type(stmt) is ir.Effect:
        opaque = type(stmt.rhs) is not ir.Call and isinstance(stmt.rhs, ir.Opaque)
        return ir.reads_of(stmt) if opaque else ()
    if type(stmt) is ir.AugAssign:
        return (stmt.base.id,) if stmt.index is None else ()
    if type(stmt) is ir.For or type(stmt) is ir.While:
        return () if stmt.stop is None else (stmt.stop.id,)
    return ir.reads_of(stmt) if isinstance(stmt, (ir.Verbatim, ir.Permute)) else ()


# --- what evaluating a right-hand side can do, as far as moving it is concerned ------------------


def may_move(rhs: ir.Rhs) -> bool:
    """Whether a right-hand side may be evaluated behind other reads: at most it raises an error."""
    checks = type(rhs) is ir.Call and op_of(rhs.fn).effect is Effect.CHECKS
    return checks or only_computes(rhs) or _is_plain_lambda(rhs)


def _is_plain_lambda(rhs: ir.Rhs) -> bool:
    """Whether an expression makes a function of its parameters alone."""
    return isinstance(rhs, ir.Opaque) and rhs.is_lambda and not rhs.reads


def reads_memory(rhs: ir.Rhs, fixed: frozenset[str]) -> bool:
    """Whether the value depends on what a store can change; `fixed` names hold plain numbers."""
    if isinstance(rhs, ir.Opaque):
        return not _is_plain_lambda(rhs)
    if type(rhs) is not ir.Call:
        return False
    return not is_op(rhs, Op.T) and not is_fixed(rhs, fixed)


def is_length(rhs: ir.Rhs) -> bool:
    """Whether a value is a length, which is another one when a container has changed."""
    return is_op(rhs, Op.LEN)


def is_fixed(rhs: ir.Rhs | None, fixed: Set[str]) -> bool:
    """Whether a value is a plain number, or a tuple of such, for certain."""
    if rhs is None or isinstance(rhs, ir.Opaque):
        return False
    if type(rhs) is not ir.Call:
        return _is_fixed_atom(rhs, fixed)
    if type(rhs.fn) is ir.Attr:
        return op_of(rhs.fn).is_asked
    if is_op(rhs, Op.LEN, Op.RANGE):
        return True
    return _makes_numbers(rhs) and all(_is_fixed_atom(a, fixed) for a in rhs.args)


def _makes_numbers(call: ir.Call) -> bool:
    """Whether of numbers and tuples a call makes such: nothing that a store can change."""
    called = op_of(call.fn)
    of_python = called.package in ("operator", "builtins")
    return (called.probed and of_python) or is_op(call, Op.MAX, Op.MIN, Op.SLICE)


def _is_fixed_atom(atom: ir.Atom, fixed: Set[str]) -> bool:
    if type(atom) is ir.Name:
        return atom.id in fixed
    if type(atom) is ir.Const:
        return True
    if type(atom) is ir.Ref:
        return isinstance(atom.value, (bool, int, float, complex, str))
    return all(_is_fixed_atom(a, fixed) for a in ir.parts(atom))


def fixed_names(scan: Scan) -> frozenset[str]:
    """The names that only ever hold plain numbers, or tuples of such."""
    definitions: dict[str, list[ir.Rhs | None]] = {}
    for stmt in scan.stmts:
        for name in ir.writes(stmt):
            definitions.setdefault(name, []).append(_bound_value(stmt))
    fixed = set(definitions) - {p.name for p in scan.function.params}
    readers: dict[str, set[str]] = {}
    for name in fixed:
        for read in {n for v in definitions[name] for n in ir.occurrences(v)}:
            readers.setdefault(read, set()).add(name)
    asked = set(fixed)
    while asked:
        lost = {n for n in asked if not all(is_fixed(v, fixed) for v in definitions[n])}
        fixed -= lost
        asked = fixed.intersection(chain.from_iterable(readers.get(n, ()) for n in lost))
    return frozenset(fixed)


def _bound_value(stmt: ir.Stmt) -> ir.Rhs | None:
    """What a statement binds a name to; None where that is not an expression."""
    if type(stmt) is ir.Assign:
        return stmt.rhs
    if type(stmt) is ir.For and is_op(stmt.iter, Op.RANGE):
        return ir.Const(0)
    return None


def slots(scan: Scan) -> frozenset[str]:
    """The names of lists that are only ever appended to and popped: nobody else sees them."""
    made = {n for s in scan.stmts if makes_empty_list(s) for n in ir.writes(s)}
    if not made:
        return frozenset()
    seen: set[str] = {p.name for p in scan.function.params}
    for stmt in scan.stmts:
        seen.update(() if makes_empty_list(stmt) else ir.writes(stmt))
        slot = slot_of(ir.call_of(stmt))
        seen.update(n for n in stmt_reads(stmt) if n != slot)
    return frozenset(made - seen)


def slot_of(rhs: ir.Rhs | None) -> str | None:
    """The list that `xs.append(v)` or `xs.pop()` works on."""
    if is_op(rhs, Op.APPEND, Op.POP):
        base = rhs.args[0]
        if type(base) is ir.Name and ir.occurrences(rhs).count(base.id) == 1:
            return base.id
    return None


def resizes(scan: Scan, private: frozenset[str]) -> bool:
    """Whether some container that is no private list may become longer or shorter."""
    made = (s for s in scan.stmts if is_op(ir.call_of(s), Op.MAKE_LIST, Op.LIST, Op.SORTED))
    lists = {n for s in made for n in ir.writes(s)}
    return any(_resizes(s, private, lists) for s in scan.stmts)


def _resizes(stmt: ir.Stmt, private: frozenset[str], lists: set[str]) -> bool:
    call = ir.call_of(stmt)
    if call is None and isinstance(stmt, ir.Store):
        return type(stmt.index) is ir.Slice and stmt.base.id in lists
    if call is None or type(call.fn) is not ir.Method:
        return False
    return call.fn.name not in PURE_METHODS and slot_of(call) not in private


def is_slot_effect(stmt: ir.Stmt, private: frozenset[str]) -> bool:
    """Whether a statement only appends to or pops from a private list."""
    return slot_of(ir.call_of(stmt)) in private
