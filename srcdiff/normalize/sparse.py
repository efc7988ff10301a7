"""Sparse matrices that carry a derivative, with the array of their entries beside them.

Takes a function after `live_ranges`, the kinds of its names, and its inputs and outputs.  Beside
every definition of such a matrix comes one of its entries, and what is computed with the matrix is
computed with both: of `a = csr_array((x, i, p)); y = a @ z` is made `a_data = x` and
`y = matrix_product(a, a_data, z)`.  The matrix says where the entries stand; the derivative flows
through the array.  What is neither a definition nor a use that is known is refused.

A sparse matrix shares memory with the arrays that it is made of, which the alias analysis does not
know: what it knows is where arrays are written that a matrix was made of before.  That is refused.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Mapping

import numpy as np

from srcdiff import ir
from srcdiff.analysis.activity import Edges, edges_of, reachable
from srcdiff.analysis.links import marked_names, reached
from srcdiff.analysis.liveness import Order
from srcdiff.analysis.points_to import PointsTo
from srcdiff.errors import TransformError, refused
from srcdiff.frontend.lowering import flows
from srcdiff.ir.builder import Rewriter
from srcdiff.ir.frozen import replace
from srcdiff.kinds.calls import atom_kind
from srcdiff.kinds.matrices import FORMATS, class_made, format_of, holds_sparse, is_matrix
from srcdiff.primitives.effects import module_of, mutated_args, shares_entries, written_into
from srcdiff.primitives.operation import Meaning, op_of
from srcdiff.primitives.ops import Op, is_op
from srcdiff.primitives.registry import lookup
from srcdiff.primitives.views import is_array
from srcdiff.runtime.scipy import sparse


def carrying(
    function: ir.Function, kinds: ir.Kinds, inputs: tuple[str, ...], outputs: tuple[str, ...]
) -> frozenset[str]:
    """The names that carry a derivative, sparse matrices among them.

    What is taken out of a container is a constant: no other matrix is ever put into one.
    """
    loose = {n: ir.UNKNOWN if holds_sparse(k) else k for n, k in kinds.items()}

    def held(edge: tuple[str, str, ir.Stmt | None]) -> bool:
        call = ir.call_of(edge[2])
        taken = call is None or is_op(call, Op.GETITEM) or isinstance(call.fn, (ir.Attr, ir.Method))
        from_one = taken and ir.is_container(kinds.get(edge[0], ir.UNKNOWN))
        return from_one and isinstance(kinds.get(edge[1]), ir.Sparse)

    found = edges_of(function, loose, lambda call, _: _flows(call, kinds))
    found += [e for s in ir.walk(function) for e in _parts(s, kinds)]
    varied = reachable(inputs, [e for e in found if not held(e)])
    return varied & reachable(outputs, found, backward=True)


def _flows(call: ir.Call, kinds: ir.Kinds) -> tuple[ir.Atom, ...]:
    """The arguments that a derivative flows from; of a rule all that are sparse matrices."""
    known = flows(call, kinds)
    rule = lookup(call.fn)
    if _takes_entries(call) or rule is None or rule.template is None:
        return known
    return (*known, *(a for a in call.args if isinstance(atom_kind(a, kinds), ir.Sparse)))


def _parts(stmt: ir.Stmt, kinds: ir.Kinds) -> Edges:
    """What is written into a part of a matrix is written into the matrix."""
    call = ir.call_of(stmt)
    if not isinstance(stmt, ir.Assign) or call is None or not _shares(call):
        return []
    sources = [n for n in ir.names(call.args[0]) if isinstance(kinds.get(n), ir.Sparse)]
    return [(stmt.target.id, n, stmt) for n in sources]


def _shares(call: ir.Call) -> bool:
    """Whether what is read of a matrix may share its memory."""
    if isinstance(call.fn, ir.Attr):
        return call.fn.name in ("data", "T", "H")
    return isinstance(call.fn, ir.Method) and shares_entries(call.fn.name)


# --- sparse matrices that carry a derivative, with the array of their entries beside them --------


def entrywise(
    function: ir.Function, kinds: ir.Kinds, inputs: tuple[str, ...], outputs: tuple[str, ...]
) -> ir.Function:
    """The function with the entries of sparse matrices that carry a derivative beside them."""
    named = any(isinstance(k, ir.Sparse) for k in kinds.values())
    refs = (r.value for s in ir.walk(function) for r in ir.refs_of(s))
    if not named and not any(map(sparse.is_sparse, refs)):
        return function
    active = carrying(function, kinds, inputs, outputs)
    apart = _Apart(function, kinds, active)
    _check_kept(function, kinds, frozenset(apart.data))
    return apart.function(function)


class _Apart(Rewriter):
    """The pass over one function."""

    def __init__(self, function: ir.Function, kinds: ir.Kinds, active: frozenset[str]) -> None:
        super().__init__(ir.Fresh(ir.all_names(function)), function.loc)
        self.kinds, self.active = kinds, active
        made = sorted(n for n in active if isinstance(kinds.get(n), ir.Sparse))
        self.data = {n: self.fresh(f"{n}_data") for n in made}

    def function(self, function: ir.Function) -> ir.Function:
        """The function with entries of their own."""
        if any(p.name in self.data for p in function.params):
            raise refused("memory.sparse_entries", function.loc)
        return super().function(function)

    def stmt(self, stmt: ir.Stmt) -> ir.Stmt:
        """One statement, behind what it needs."""
        stmt = self.inside(stmt)
        call = ir.call_of(stmt)
        if isinstance(stmt, ir.Assign) and stmt.target.id in self.data:
            held = self.definition(stmt)
            if held is None:
                raise self.error("made")
            return ir.Assign(self.data[stmt.target.id], held, self.loc)
        flows = not self.active.isdisjoint(ir.writes(stmt))
        computes = flows and call is not None
        used = self.use(call) if computes and call is not None else None
        reads = not self.data.keys().isdisjoint(ir.reads(stmt))
        if used is None and (computes or reads and (flows or self.keeps(stmt, call))):
            raise self.error("used")
        return stmt if used is None else ir.rebuilt(stmt, rhs=used)

    def keeps(self, stmt: ir.Stmt, call: ir.Call | None) -> bool:
        """Whether a statement keeps what it reads, or writes into it."""
        if isinstance(stmt, ir.Return):
            return True
        if isinstance(stmt, ir.Store):
            return any(n in self.data for n in (stmt.base.id, *ir.names(stmt.value)))
        return call is not None and bool(mutated_args(call, self.kinds))

    def error(self, what: str) -> TransformError:
        """The refusal of what is no known definition or use."""
        return refused("callees.sparse", self.loc, done=what)

    # --- atoms ---

    def kind(self, atom: ir.Atom) -> ir.Kind:
        return atom_kind(atom, self.kinds)

    def entries(self, atom: ir.Atom) -> ir.Atom | None:
        """The entries of a sparse matrix, which may be a constant; None where they are unknown."""
        if isinstance(atom, ir.Name) and atom.id in self.data:
            return self.data[atom.id]
        if format_of(self.kind(atom)) not in FORMATS:
            return None
        return self.attribute(atom, "data")

    def is_sparse(self, atom: ir.Atom) -> bool:
        return isinstance(self.kind(atom), ir.Sparse)

    # --- definitions ---

    def definition(self, stmt: ir.Assign) -> ir.Rhs | None:
        """A matrix, and the array of its entries."""
        rhs, target = stmt.rhs, stmt.target
        if isinstance(rhs, ir.Call) and class_made(rhs.fn):
            self.out.append(stmt)
            return self.made(target, rhs)
        if isinstance(rhs, ir.Call) and self.leaves_coo(rhs):
            rows, columns = (self.attribute(rhs.args[0], n) for n in ("row", "col"))
            data = self.entries(rhs.args[0])
            self.out.append(stmt)
            return data and self.summed(data, target, rows, columns)
        if any(n in self.active for n in ir.names(rhs)):
            value = self.entries(rhs) if isinstance(rhs, ir.Name) else self.derived(rhs)
            held = self.temp(value) if isinstance(value, ir.Call) else value
            self.out.append(stmt)
            return held
        self.out.append(stmt)
        known = format_of(self.kind(target)) in FORMATS
        return ir.Call(ir.Attr("data"), (target,)) if known else None

    def leaves_coo(self, call: ir.Call) -> bool:
        """Whether entries that stand at the same place are added up."""
        named = isinstance(call.fn, ir.Method) and call.fn.name in ("tocsr", "tocsc")
        return named and len(call.args) == 1 and format_of(self.kind(call.args[0])) == "coo"

    def summed(self, data: ir.Atom, target: ir.Name, rows: ir.Atom, columns: ir.Atom) -> ir.Rhs:
        """The entries of a matrix out of those that are added up."""
        at = self.temp(ir.Call(sparse.places, (target, rows, columns)))
        return ir.Call(sparse.summed_entries, (data, at, target))

    def derived(self, call: ir.Rhs) -> ir.Rhs | None:
        """The entries of a matrix that is made of another one."""
        if not isinstance(call, ir.Call) or len(call.args) != 1 or call.kwargs:
            return self.scaled(call)
        op, base = op_of(call.fn), call.args[0]
        data = self.entries(base) if self.is_sparse(base) else None
        if data is None or op.means(Meaning.ORDERED):
            return data
        if op.means(Meaning.LIKE, Meaning.ELEMENTS):
            return ir.Call(call.fn, (data,))
        return self.converted(base, data, op.name[2:]) if op.name.startswith("to") else None

    def scaled(self, call: ir.Rhs) -> ir.Rhs | None:
        """The entries of a product with a number."""
        if not isinstance(call, ir.Call) or len(call.args) != 2 or call.kwargs:
            return None
        places = [k for k, a in enumerate(call.args) if self.is_sparse(a)]
        if len(places) != 1 or not isinstance(self.kind(call.args[1 - places[0]]), ir.Scalar):
            return None
        if not is_op(call, Op.MUL) and (not is_op(call, Op.DIV) or places != [0]):
            return None
        data = self.entries(call.args[places[0]])
        args = tuple(data if k in places else a for k, a in enumerate(call.args))
        return None if data is None else replace(call, args=args)  # type: ignore[arg-type]

    def converted(self, atom: ir.Atom, data: ir.Atom, to: str) -> ir.Rhs | None:
        """The entries of a matrix in another format."""
        source = format_of(self.kind(atom))
        if source == to or (to == "coo" and source in FORMATS):
            return data
        if source not in ("csr", "csc") or to not in FORMATS:
            return None
        order = self.temp(ir.Call(sparse.order_of, (atom, ir.Const(to))))
        return ir.Call(operator.getitem, (data, order))

    def made(self, target: ir.Name, call: ir.Call) -> ir.Rhs | None:
        """The entries of a matrix that is made of them."""
        kwargs = dict(call.kwargs)
        kind = self.kind(call.args[0]) if call.args else ir.UNKNOWN
        items = kind.items if isinstance(kind, ir.Tuple) else None
        to = format_of(self.kind(target))
        if not items or to not in FORMATS or len(call.args) > 2:
            return None
        listed = isinstance(items[0], (ir.List, ir.Tuple))
        if not set(kwargs) <= {"shape", "dtype", "copy"} or not (listed or _is_dense(items[0], 1)):
            return None
        data = self.entries_given(self.part(call.args[0], 0), listed, kwargs)
        if len(items) == 3 or to == "coo":
            return data
        if not isinstance(items[1], ir.Tuple):
            return None
        where = self.part(call.args[0], 1)
        return self.summed(data, target, self.part(where, 0), self.part(where, 1))

    def entries_given(
        self, data: ir.Atom, listed: bool, kwargs: Mapping[str | None, ir.Atom]
    ) -> ir.Atom:
        """The entries as the matrix has them: in another dtype, or copied."""
        dtype = kwargs.get("dtype", ir.NONE)
        if listed or not isinstance(self.kind(dtype), ir.NoneKind):
            args = (data,) if dtype == ir.NONE else (data, dtype)
            return self.call(np.array, *args)
        if kwargs.get("copy", ir.Const(False)) != ir.Const(False):
            return self.call(np.copy, data)
        return data

    def part(self, atom: ir.Atom, k: int) -> ir.Atom:
        if isinstance(atom, ir.Tup):
            return atom.items[k]
        return self.item(atom, ir.Const(k))

    # --- uses ---

    def use(self, call: ir.Call) -> ir.Call | ir.Atom | None:
        """A call through which a derivative flows, that may be of sparse matrices."""
        found = call
        if any(map(self.is_sparse, call.args)):
            if module_of(call.fn).startswith("numpy"):
                return None  # which does not know them
            if is_op(call, Op.MUL) and len(call.args) == 2:
                matrices = self.product_of(call)
                if matrices is None:
                    return None
                found = matrices
        if not any(n in self.data for n in ir.names(found)):
            return found
        first = found.args[0] if found.args else ir.NONE
        data = self.entries(first) if self.is_sparse(first) else None
        product = op_of(found.fn).means(Meaning.PRODUCT)
        if product and len(found.args) == 2 and not found.kwargs:
            return self.product(first, data, found.args[1])
        return None if data is None else self.read(found, first, data)

    def product_of(self, call: ir.Call) -> ir.Call | None:
        """`a * x`, where it is the product of matrices, as `a @ x`; None if that is unknown."""
        if not any(is_matrix(self.kind(a)) for a in call.args):
            return call
        if any(isinstance(self.kind(a), ir.Scalar) for a in call.args):
            return call
        known = all(ir.rank_of(self.kind(a)) for a in call.args)
        return ir.Call(operator.matmul, call.args) if known else None

    def product(self, a: ir.Atom, data: ir.Atom | None, b: ir.Atom) -> ir.Call | None:
        """A product with a dense vector or matrix on one side."""
        if data is not None:
            dense = _is_dense(self.kind(b))
            return ir.Call(sparse.matrix_product, (a, data, b)) if dense else None
        data = self.entries(b) if self.is_sparse(b) and _is_dense(self.kind(a)) else None
        if data is None:
            return None
        turned = self.attribute(b, "T")
        if ir.rank_of(self.kind(a)) == 1:
            return ir.Call(sparse.matrix_product, (turned, data, a))
        wide = self.attribute(a, "T")
        found = self.temp(ir.Call(sparse.matrix_product, (turned, data, wide)))
        return ir.Call(ir.Attr("T"), (found,))

    def read(self, call: ir.Call, a: ir.Atom, data: ir.Atom) -> ir.Call | ir.Atom | None:
        """What is read of one matrix, or solved with it."""
        name, more = op_of(call.fn).name, (*call.args[1:], *(v for _, v in call.kwargs))
        matrix = is_matrix(self.kind(a))
        if name == "scipy.sparse.linalg.spsolve" and len(call.args) == 2 and not call.kwargs:
            dense = _is_dense(self.kind(more[0]))
            return ir.Call(sparse.matrix_solution, (a, data, more[0])) if dense else None
        if name == "sum" and len(more) == 1 and not matrix and _is_axis(call, more[0]):
            return ir.Call(sparse.axis_sums, (a, data, more[0]))
        if more:
            return None
        if name == "toarray" or (name == "todense" and not matrix):
            return ir.Call(sparse.full_matrix, (a, data))
        if name == "sum":
            return ir.Call(np.sum, (data,))
        return data if name == "data" else None


def _is_axis(call: ir.Call, given: ir.Atom) -> bool:
    known = isinstance(given, ir.Const) and given.value in (0, 1, -1, -2)
    return known and all(k == "axis" for k, _ in call.kwargs)


def _is_dense(kind: ir.Kind, most: int = 2) -> bool:
    """Whether a value is certainly a vector or, with two axes at the most, a dense matrix."""
    return is_array(kind) and ir.rank_of(kind) in range(1, most + 1)


# --- arrays that constant matrices keep, and that are written into afterwards ---------------------


def _check_kept(function: ir.Function, kinds: ir.Kinds, apart: frozenset[str]) -> None:
    """Refuse writes into what matrices keep; the entries of those in `apart` stand beside them.

    Raises:
        UnsupportedError: an array is written into after a matrix has been made of it.
    """
    made = [s for s in ir.walk(function) if class_made(ir.callee_of(s))]
    if not made:
        return
    plain = _used_plainly(function, kinds) - apart
    same, order = PointsTo.of(function, kinds).groups, Order(function)
    written = [(n, s) for s in ir.walk(function) for n in _written(s, kinds)]
    for stmt in (s for s in made if plain & {*ir.writes(s)}):
        kept = {same.of(n) for n in (*ir.reads(stmt), *ir.writes(stmt))}
        for name, write in written:
            later = (order.may_follow(write, stmt, n) for n in same.with_all(name))
            if same.of(name) in kept and any(later):
                raise refused("memory.sparse_kept", stmt.loc)


def _used_plainly(function: ir.Function, kinds: ir.Kinds) -> frozenset[str]:
    """The matrices of which not only the places of the entries are used."""
    read: set[str] = set()
    derived: list[tuple[str, str]] = []
    for stmt in ir.walk(function):
        found = tuple(n for n in ir.reads(stmt) if holds_sparse(kinds.get(n, ir.UNKNOWN)))
        targets = [*ir.writes(stmt), *(found if isinstance(stmt, ir.Effect) else ())]
        targets = [n for n in targets if holds_sparse(kinds.get(n, ir.UNKNOWN))]
        derived += itertools.product(targets, found)
        if not targets and not _takes_entries(ir.call_of(stmt)):
            read |= {*found}
    return reached(read, derived)


def _takes_entries(call: ir.Call | None) -> bool:
    """Whether a call is of a function that takes the entries beside a matrix."""
    return call is not None and module_of(call.fn) == sparse.__name__


def _written(stmt: ir.Stmt, kinds: ir.Kinds) -> tuple[str, ...]:
    """The arrays and matrices that a statement writes into."""
    found = marked_names(stmt) if isinstance(stmt, ir.Assign) else written_into(stmt, kinds)
    known = ((n, kinds.get(n, ir.UNKNOWN)) for n in found)
    return tuple(n for n, kind in known if not ir.is_container(kind) and not ir.is_scalar(kind))
