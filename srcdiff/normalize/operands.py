"""Lists that NumPy takes for arrays become arrays, where a derivative flows through the call.

Takes a function, the kinds of its names, and its inputs and outputs; returns it with
`_t = np.array(xs); z = np.power(_t, 2)` in place of `z = np.power(xs, 2)`.  A rule may then compute
with its operands: `2 * xs` of a list is a longer list, and `xs == ys` of two lists one bool.
Linear functions only read how long their operands are, and take lists as they are.  Tangents have
the form of the values, so in forward mode (`loose`) what may be a list becomes an array as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from srcdiff import ir
from srcdiff.analysis.activity import activity, edges_of
from srcdiff.analysis.links import is_marked, reached
from srcdiff.frontend.lowering import flows
from srcdiff.ir.builder import Builder
from srcdiff.ir.frozen import replace
from srcdiff.kinds.calls import atom_kind, rhs_kind
from srcdiff.kinds.elementwise import meets_lists
from srcdiff.primitives.effects import module_of
from srcdiff.primitives.operation import op_of
from srcdiff.primitives.ops import Op, is_op
from srcdiff.primitives.registry import lookup
from srcdiff.primitives.views import is_array
from srcdiff.runtime.sequences import as_array

_COMPOSED = frozenset({
    Op.AVERAGE, Op.GRADIENT, Op.EDIFF1D, Op.CORRELATE, Op.COV, Op.CORRCOEF, Op.LINALG_MATRIX_POWER,
})  # fmt: skip
"""Functions that are made of others and take arrays alone, with those of `_ARRAYS_ALONE`."""

_ARRAYS_ALONE = ("scipy.stats", "scipy.special", "scipy.linalg", "scipy.fft", "scipy.ndimage")
_PAIRS = frozenset(f"scipy.linalg.{name}" for name in (
    "lu_solve", "cho_solve", "cho_solve_banded", "solve_banded", "solveh_banded", "matmul_toeplitz",
    "solve_toeplitz",
))  # fmt: skip
"""Operations that take a pair of arrays, or of numbers, first."""
_SEQUENCES = (
    Op.ARRAY, Op.ASARRAY, Op.BLOCK, Op.CHOOSE, Op.COLUMN_STACK, Op.CONCATENATE, Op.DSTACK,
    Op.HSTACK, Op.LINALG_MULTI_DOT, Op.SELECT, Op.STACK, Op.VSTACK,
)  # fmt: skip
"""What makes arrays of lists, or takes lists of arrays."""


def with_arrays(
    function: ir.Function,
    kinds: ir.Kinds,
    inputs: tuple[str, ...],
    outputs: tuple[str, ...],
    loose: bool = False,
) -> ir.Function:
    """The function with an array in place of every list that a rule has to compute with."""
    unclear = _unclear(function, kinds) if loose else _at_times(function, kinds)
    unsure = np.asarray if loose else as_array
    if not any(_listed(s, kinds, unclear, loose) for s in ir.walk(function)):
        return function
    found = edges_of(function, kinds, flows)
    active = activity(inputs, outputs, found)
    fresh = ir.Fresh(ir.all_names(function))

    def one(stmt: ir.Stmt) -> ir.Stmt | ir.Block:
        changed = (stmt.base.id,) if isinstance(stmt, ir.Store) else ir.writes(stmt)
        lists = _listed(stmt, kinds, unclear, loose) if active & {*changed} else ()
        return _converted(stmt, lists, unclear, unsure, fresh) if lists else stmt

    return ir.replaced_in(function, one)


def _unclear(function: ir.Function, kinds: ir.Kinds) -> frozenset[str]:
    """The names of which it is not known whether they are lists, though something is known."""
    if all(isinstance(kinds.get(p.name, ir.Unknown()), ir.Unknown) for p in function.params):
        return frozenset()  # the text is for arrays and numbers
    made = [s for s in ir.walk(function) if type(s) is ir.Assign]
    arrays = {s.target.id for s in made if is_op(s.rhs, Op.ASARRAY)}
    numeric = (ir.Array, ir.Scalar)  # None beside these is an error in any form
    unknown = (k for k in kinds if isinstance(kinds[k], ir.Unknown))
    return frozenset(n for n in unknown if not isinstance(ir.sure(kinds[n]), numeric)) - arrays


def _at_times(function: ir.Function, kinds: ir.Kinds) -> frozenset[str]:
    """The names that are lists at some times and something else at others."""
    unknown = {n for n, k in kinds.items() if isinstance(k, ir.Unknown)}
    made = [s for s in ir.walk(function) if type(s) is ir.Assign]
    bound = [(s.target.id, s.rhs) for s in made if s.target.id in unknown]
    device = function.target.on_device
    listed = (ir.List, ir.Tuple)
    found = {n for n, rhs in bound if isinstance(rhs_kind(rhs, kinds, device), listed)}
    return reached(found, ((rhs.id, n) for n, rhs in bound if type(rhs) is ir.Name))


def _listed(
    stmt: ir.Stmt, kinds: ir.Kinds, unclear: frozenset[str], loose: bool
) -> tuple[ir.Atom, ...]:
    """The operands of a call that are lists where arrays are meant.

    Of `y[i] += xs` that is the value: what stands for it may be a sum.  `@` takes tangents
    (`loose`) that are lists as they are.
    """
    if isinstance(stmt, ir.Store):
        meant = isinstance(stmt, ir.AugAssign) and is_array(kinds.get(stmt.base.id))
        return (stmt.value,) if meant and _is_list(stmt.value, kinds, True) else ()
    call = stmt.rhs if type(stmt) is ir.Assign else None
    if type(call) is not ir.Call or isinstance(
        call.fn, (ir.Attr, ir.Method, ir.Name, ir.Derived)
    ):
        return ()
    drawn = module_of(call.fn).startswith("scipy.stats.") and hasattr(call.fn, "__self__")
    # Every list stands for an array, whatever it holds.
    whole = op_of(call.fn).is_elementwise or is_op(call, Op.INTERP) or drawn
    taken = call.args if whole else flows(call, kinds)
    written = call.args[:1] if is_marked(call) else ()  # an array that others may know it by
    unsure = [a for a in call.args if a in taken and _is_one_of(a, unclear) and a not in written]
    lists = [a for a in call.args if a in taken and _is_list(a, kinds, whole)]
    lists += [v for k, v in call.kwargs if k and v in taken and _is_list(v, kinds, drawn)]
    if not (unsure or lists) or not _takes_lists(call, kinds):
        return ()
    if (loose and is_op(call, Op.MATMUL)) or is_op(call, *_SEQUENCES):
        unsure = []
    return (*lists, *unsure) if _computes(call) else (*unsure,)


def _is_list(atom: ir.Atom, kinds: ir.Kinds, whole: bool = False) -> bool:
    """Whether an operand is a list of numbers: of any (`whole`), or of ones with a derivative."""
    kind = atom_kind(atom, kinds) if isinstance(atom, (ir.Name, ir.Tup, ir.Ref)) else None
    if type(kind) is ir.Range:
        return whole
    return isinstance(kind, (ir.List, ir.Tuple)) and (whole or ir.is_active_kind(kind))


def _is_one_of(atom: ir.Atom | None, names: frozenset[str]) -> bool:
    return type(atom) is ir.Name and atom.id in names


def _computes(call: ir.Call) -> bool:
    """Whether a rule computes with its operands."""
    rule = lookup(call.fn)
    found = rule is not None and rule.flavour in ("elementwise", "rule")
    return found or is_op(call, *_COMPOSED) or module_of(call.fn).startswith(_ARRAYS_ALONE)


def _takes_lists(call: ir.Call, kinds: ir.Kinds) -> bool:
    """Whether NumPy takes lists among the operands for arrays."""
    if lookup(call.fn) is None or is_op(call, Op.EINSUM):  # that may be given lists of axes
        return False
    op = op_of(call.fn)
    if op.package == "operator":
        return any(meets_lists(call.fn, atom_kind(a, kinds)) for a in call.args)
    if op.name in _PAIRS:
        return False
    return isinstance(call.fn, np.ufunc) or module_of(call.fn).startswith(("numpy", *_ARRAYS_ALONE))


def _converted(
    stmt: ir.Stmt, lists: Sequence[ir.Atom], unclear: frozenset[str], unsure: Any, fresh: ir.Fresh
) -> ir.Block:
    """The statement on arrays made of its lists."""
    lines = Builder(fresh, stmt.loc)

    def array(operand: ir.Atom) -> ir.Atom:
        if operand not in lists:
            return operand
        return lines.call(unsure if _is_one_of(operand, unclear) else np.array, operand)

    call = ir.call_of(stmt)
    if call is None:
        new = ir.rebuilt(stmt, value=array(stmt.value))  # type: ignore[union-attr]
    else:
        args = tuple(map(array, call.args))
        kwargs = tuple((k, array(v)) for k, v in call.kwargs)
        new = ir.rebuilt(stmt, rhs=replace(call, args=args, kwargs=kwargs))
    return (*lines.out, new)
