"""A backward part for a batch of cotangents, in one pass.

Takes the backward part of a derivative, the kinds of its names for a single item, and the names of
the residuals that are shadows; returns a function with one parameter more, the size of the batch,
in which everything that depends on the cotangents has a leading batch axis.  What depends on them
does so linearly, so that few operations meet it: each has a form with the axis (`forms`), and what
has none is computed for each item of the batch in a loop of its own.  Control flow never depends on
a cotangent.

`with_axis` says which names have the axis: what depends on the cotangents, and the memory that it
goes into.  A name has it everywhere or nowhere.  What is written into takes the axis from what is
written, and hands it on to the memory that it is a view of.

Tangents of forward mode are linear in their directions just so: `batch_forward` gives the function
that computes a value once and its tangents for a batch of them.

Raises `NoBatchError` where a statement can be written neither way: the caller then runs the
backward part once for each item.

Before, `gathered` multiplies factors that have no batch axis with each other.  It takes the
function for a single item and the names that will have the axis; it returns it with `_k = a * b; t
= d * _k` for `s = d * a; t = s * b` where `d` has the axis, and with `_k = a + b; t = d * _k` for a
sum of two products of the same `d`: what is done once for the batch in place of once for each item.
What nobody reads any more is left for `remove_dead`.  Factors are numbers in double precision: sums
of truth values, and products of small integers or in single precision, would be something else.

Behind, `columns_together` lays batches of vectors with the batch axis last in memory, where parts
of them are written into.  It takes a function with batch axes and what is known of its names; it
returns it with `order="F"` on the vectors that it makes, or as it is.  Invariant: strides differ
and nothing else.  `d[:, 1:-1] += t` is a loop for each item of the batch where rows lie together,
and one loop in all where columns do.  Where both meet, every operation costs more than that saves:
so all batches have to be vectors or numbers that arithmetic, copies and slices make out of each
other.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any

from srcdiff import ir
from srcdiff.analysis.links import Groups, joined, reached
from srcdiff.analysis.points_to import PointsTo
from srcdiff.analysis.shadows import laid_classes
from srcdiff.autodiff.batch.forms import Context, NoBatchError
from srcdiff.autodiff.batch.statements import block
from srcdiff.ir.builder import Rewriter
from srcdiff.ir.frozen import frozen, replace, state
from srcdiff.kinds.calls import kind_of_call
from srcdiff.primitives.effects import written_into
from srcdiff.primitives.operation import Meaning, op_of
from srcdiff.primitives.ops import Op, calling, is_op
from srcdiff.runtime import batched

# --- which names have the axis -------------------------------------------------------------------


Pairs = tuple[tuple[str, str], ...]
"""Names that share memory from the start."""


def with_axis(
    function: ir.Function, kinds: ir.Kinds, start: frozenset[str], shared: Pairs = ()
) -> frozenset[str]:
    """The names that have a batch axis."""
    found, written = set(start), all_written(function, kinds, shared)
    views = [*shared, *_links(function, kinds)]
    flows = [(_values(s), (*ir.writes(s), *written_into(s, kinds))) for s in ir.walk(function)]
    count = 0
    while count != len(found):
        count = len(found)
        for values, targets in flows:
            if not found.isdisjoint(values):
                found.update(targets)
        found.update(s for target, s in views if target in found and target in written)
    return frozenset(found)


def all_written(function: ir.Function, kinds: ir.Kinds, shared: Pairs = ()) -> frozenset[str]:
    """The names whose memory is written into, by themselves or by a view."""
    found = {n for stmt in ir.walk(function) for n in written_into(stmt, kinds)}
    return sharing(function, kinds, found, shared)


def sharing(
    function: ir.Function, kinds: ir.Kinds, start: Iterable[str], shared: Pairs = ()
) -> frozenset[str]:
    """The names that may share memory with one of `start`, and these."""
    pairs = (*shared, *_links(function, kinds))
    return reached(start, (way for a, b in pairs for way in ((a, b), (b, a))))


def _links(function: ir.Function, kinds: ir.Kinds) -> Iterator[tuple[str, str]]:
    """Names that may share memory with others, or hold them, with those."""
    return ((k.target, k.source) for k in PointsTo.of(function, kinds).links)


def _values(stmt: ir.Stmt) -> tuple[str, ...]:
    """The names whose values what a statement writes depends on."""
    call = ir.call_of(stmt)
    if call is not None and op_of(call.fn).is_asked:
        return ()
    if isinstance(stmt, ir.Store):
        return ir.names(stmt.value)
    return () if isinstance(stmt, (ir.If, ir.While)) else ir.reads(stmt)


# --- factors without the axis, together ----------------------------------------------------------


@frozen
class _Product:
    """`base * factor`, or `base / factor`."""

    base: ir.Name
    factor: ir.Atom
    divided: bool = False


def gathered(
    function: ir.Function,
    names: frozenset[str],
    kinds: Mapping[str, ir.Kind],
    before: Sequence[ir.Stmt] = (),
    shared: Pairs = (),
) -> tuple[ir.Function, dict[str, ir.Kind]]:
    """The function, and the kinds of its names; the statements `before` it bind some as well.

    `shared` are names that share memory from the start.
    """
    bound = ir.binding_counts((*before, *function.body), function.params)
    written = all_written(function, kinds, shared)
    group = joined((*shared, *_links(function, kinds)))
    gather = _Gather(function, names, written, bound, dict(kinds), group)
    return gather.function(function), gather.kinds


@state
class _Gather(Rewriter):
    """The pass over a function that multiplies factors."""

    whole: ir.Function
    names: frozenset[str]
    written: frozenset[str]  # the names whose memory is written into
    bound: Mapping[str, int]  # how often each name is bound
    kinds: dict[str, ir.Kind]
    group: Groups  # the names that may share memory
    known: dict[str, _Product] = field(default_factory=dict)  # of this block and those around it

    def __post_init__(self) -> None:
        super().__init__(ir.Fresh(ir.all_names(self.whole)))

    def block(self, block: ir.Block) -> ir.Block:
        """A block, in which products of the blocks around it are known."""
        around = self.known
        self.known = dict(around)
        done = super().block(block)
        self.known = around
        return done

    def stmt(self, stmt: ir.Stmt) -> ir.Stmt | ir.Block:
        """A statement, what it computes as a product."""
        if isinstance(stmt, ir.AugAssign) and self.merged(stmt):
            return ()
        for name in {n for s in ir.walk((stmt,)) for n in written_into(s, self.kinds)}:
            self.known = {n: one for n, one in self.known.items() if not self.group.share(n, name)}
        return self.gathered(stmt) if isinstance(stmt, ir.Assign) else self.inside(stmt)

    def gathered(self, stmt: ir.Assign) -> ir.Assign:
        """An assignment, as a product of what has the axis with a single factor."""
        call = ir.call_of(stmt)
        name = stmt.target.id
        if call is None or self.bound[name] != 1 or call.kwargs:
            return stmt
        product = self.product(call)
        if product is None:
            return stmt
        self.known[name] = product
        fn = operator.truediv if product.divided else operator.mul
        return replace(stmt, rhs=ir.Call(fn, (product.base, product.factor)))

    def product(self, call: ir.Call) -> _Product | None:
        """What a call computes as a product, None where it is none."""
        if is_op(call, Op.NEG):
            one = self.of(call.args[0])
            return one and self.times(one, ir.Const(-1.0), False)
        if is_op(call, Op.ADD, Op.SUB):
            one, two = (self.of(a) for a in call.args)
            return self.both(call.fn, one, two) if one and two else None
        if not is_op(call, Op.MUL, Op.DIV):
            return None
        first, second = call.args
        divided = is_op(call, Op.DIV)
        if self.is_steady(first) and not divided:
            first, second = second, first
        if not isinstance(first, ir.Name) or first.id not in self.names:
            return None
        if not self.is_steady(second):
            return None
        one = self.of(first)
        if one is None:
            return _Product(first, second, divided) if self.is_base(first) else None
        return self.times(one, second, divided)

    def of(self, atom: ir.Atom) -> _Product | None:
        """An operand as the product that it is here."""
        return self.known.get(atom.id) if isinstance(atom, ir.Name) else None

    def is_base(self, name: ir.Name) -> bool:
        """Whether something with the axis has the same value wherever it is read."""
        return self.bound[name.id] < 2 and name.id not in self.written

    def is_steady(self, atom: ir.Atom) -> bool:
        """Whether something without the axis has the same value wherever it is read."""
        if isinstance(atom, ir.Const):
            return isinstance(atom.value, (int, float, complex))
        if not isinstance(atom, ir.Name) or atom.id in self.names:
            return False
        if getattr(self.kinds.get(atom.id), "dtype", None) not in ("float64", "complex128"):
            return False
        return self.bound[atom.id] < 2 and atom.id not in self.written

    def times(self, one: _Product, factor: ir.Atom, divided: bool) -> _Product:
        """A product times a factor, or divided by it."""
        if one.divided and divided:
            return replace(one, factor=self.factor(operator.mul, one.factor, factor))
        if one.divided:
            one, factor = _Product(one.base, factor), one.factor
            divided = True
        fn = operator.truediv if divided else operator.mul
        return _Product(one.base, self.factor(fn, one.factor, factor))

    def both(self, fn: Any, one: _Product, two: _Product) -> _Product | None:
        """The sum or difference of two products of the same, None for others."""
        if one.base != two.base:
            return None
        first, second = (self.undivided(p) for p in (one, two))
        return _Product(one.base, self.factor(fn, first, second))

    def undivided(self, one: _Product) -> ir.Atom:
        """What is multiplied with the base."""
        if not one.divided:
            return one.factor
        return self.factor(operator.truediv, ir.Const(1.0), one.factor)

    def factor(self, fn: Any, a: ir.Atom, b: ir.Atom) -> ir.Name:
        """A name for what is computed of two factors."""
        call = ir.Call(fn, (a, b))
        if is_op(call, Op.MUL) and isinstance(b, ir.Const):
            call = ir.Call(fn, (b, a))  # as people write it
        name, kind = self.temp(call, "_factor"), kind_of_call(call, self.kinds, False)
        if kind is not None:
            self.kinds[name.id] = kind
        return name

    def merged(self, stmt: ir.AugAssign) -> bool:
        """`d_x += d * k` behind `d_x = d * a` as one product, if nobody has read `d_x` between."""
        if stmt.index is not None or stmt.op not in ("+", "-"):
            return False
        out, name, two = self.out, stmt.base.id, self.of(stmt.value)
        at = next((k for k, s in enumerate(out) if name in ir.writes(s)), None)
        one = self.known.get(name)
        if at is None or one is None or two is None:
            return False
        if any(name in ir.mentions(s) for s in out[at + 1 :]):
            return False
        total = self.both(ir.OPERATORS[stmt.op], one, two)
        if total is None:
            return False
        self.known[name] = total
        call = ir.Call(operator.mul, (total.base, total.factor))
        out[at:] = [*out[at + 1 :], ir.Assign(ir.Name(name), call, stmt.loc)]
        return True


# --- columns together in memory ------------------------------------------------------------------


_ORDER = ("order", ir.Const("F"))
_MAKES = (Op.ZEROS, Op.COTANGENTS)
_KEEPS = (Meaning.ELEMENTS, Meaning.COMPARED, Meaning.LIKE, Meaning.CONVERTED)


def columns_together(function: ir.Function, b: Context) -> ir.Function:
    """The function with its vectors column by column in memory, if it gains by that."""
    statements = list(ir.walk(function))
    if not _writes_parts(function.body, b) or not all(_is_plain(s, b) for s in statements):
        return function
    return ir.replaced_in(function, lambda s: _ordered(s, b) if isinstance(s, ir.Assign) else s)


def _writes_parts(body: ir.Block, b: Context) -> bool:
    """Whether a loop writes into parts of vectors."""
    loops = (s for s in ir.walk(body) if isinstance(s, (ir.For, ir.While)))
    inner = (s for loop in loops for s in ir.walk(loop.body) if isinstance(s, ir.Store))
    return any(b.has(s.base) and _is_part(s.index) for s in inner)


def _is_part(index: ir.Atom | None) -> bool:
    """Whether an index takes some of the numbers of every item."""
    behind = index.items[1:] if isinstance(index, ir.Tup) else ()
    return any(isinstance(i, ir.Slice) and i != ir.ALL for i in behind)


def _is_plain(stmt: ir.Stmt, b: Context) -> bool:
    """Whether a statement leaves batches of vectors and numbers in the order that they have."""
    if isinstance(stmt, ir.Assign):
        if not (b.has(stmt.rhs) or stmt.target.id in b.names):
            return True
        return _is_vector(stmt.target, b) and _keeps_order(stmt.rhs, b)
    if isinstance(stmt, ir.Store):
        return not b.has(stmt.base) or stmt.index is None or _is_simple(stmt.index, b)
    if isinstance(stmt, ir.Permute):
        return all(_is_vector(n, b) or not b.has(n) for n in (*stmt.targets, *stmt.sources))
    if isinstance(stmt, (ir.If, ir.For, ir.While, ir.Return, ir.Backward)):
        return True
    return not b.names.intersection((*ir.reads(stmt), *ir.writes(stmt)))


def _is_vector(name: ir.Name, b: Context) -> bool:
    """Whether a name has the axis, and is a vector or number for each item."""
    known = b.is_number(name) or isinstance(b.kind(name), ir.Array)
    return name.id in b.names and known and b.rank(name) in (0, 1)


def _keeps_order(rhs: ir.Rhs, b: Context) -> bool:
    """Whether a value has the order of the batches that it is made of."""
    if not isinstance(rhs, ir.Call):
        return isinstance(rhs, ir.Name)
    if isinstance(rhs.fn, (ir.Method, ir.Attr, ir.Name, ir.Derived)):
        return False
    if is_op(rhs, Op.GETITEM):
        return _is_simple(rhs.args[1], b)
    return op_of(rhs.fn).means(*_KEEPS) or is_op(rhs, *_MAKES, Op.UNBROADCAST_EACH)


def _is_simple(index: ir.Atom, b: Context) -> bool:
    """Whether an index has numbers and slices behind the batch axis."""
    if not isinstance(index, ir.Tup) or not index.items or index.items[0] != ir.ALL:
        return False
    return all(isinstance(i, ir.Slice) or b.is_number(i) for i in index.items[1:])


def _ordered(stmt: ir.Assign, b: Context) -> ir.Assign:
    """An assignment of a batch of vectors that is made, column by column."""
    call = ir.call_of(stmt)
    makes = call is not None and stmt.target.id in b.names and is_op(call, *_MAKES)
    if call is None or not makes or b.rank(stmt.target) != 1:
        return stmt
    return replace(stmt, rhs=replace(call, kwargs=(*call.kwargs, _ORDER)))


# --- the function for a batch --------------------------------------------------------------------


SIZE = "batch"


def batch_backward(
    function: ir.Function,
    kinds: Mapping[str, ir.Kind],
    shadows: frozenset[int],
    classes: Sequence[str],
    columns: bool = True,
) -> ir.Function:
    """A backward part for a batch; `shadows` are the places of those among the residuals.

    `classes`: of each residual, a name for the memory that it may share with others; `columns`:
    vectors may lie column by column in memory.

    Raises:
        NoBatchError: there is none.
    """
    residuals, seed = (p.name for p in function.params)
    items = calling(function.body, Op.GETITEM)
    unpacked: list[ir.Stmt] = [s for s, call in items if call.args[0] == ir.Name(residuals)]
    rest = ir.rebuilt(function, body=tuple(s for s in function.body if s not in unpacked))
    ours = {n for s in unpacked for n in ir.writes(s) if _place(s) in shadows}
    theirs = {n for s in unpacked for n in ir.writes(s)} - ours
    shared = _sharing(unpacked, classes)
    names = with_axis(rest, kinds, frozenset({seed}) | ours, shared)
    rest, kinds = gathered(rest, names, kinds, unpacked, shared)
    b = _context(function, rest, kinds, frozenset({seed}) | ours, theirs, shared)
    copies = ((s.target, s.rhs) for s in ir.assignments(rest) if isinstance(s.rhs, ir.Name))
    renamed = frozenset(n.id for both in copies for n in both)
    b = replace(b, renamed=renamed, shadows=sharing(rest, kinds, ours, shared))
    body = (*_with_shadows(unpacked, ours, b), *block(b, rest.body))
    params = (*function.params[:1], ir.Param(seed), ir.Param(b.size.id))
    made = replace(function, params=params, body=body)
    return _finished(columns_together(made, b) if columns else made, "cotangents")


def batch_forward(
    function: ir.Function, kinds: Mapping[str, ir.Kind], tangents: frozenset[str]
) -> ir.Function:
    """A function of forward mode for a batch of tangents, the last parameters.

    Raises:
        NoBatchError: there is none.
    """
    theirs = {p.name for p in function.params} - tangents
    function, kinds = gathered(function, with_axis(function, kinds, tangents), kinds)
    b = replace(_context(function, function, kinds, tangents, theirs), owned=False)
    body = block(b, function.body)
    last = max(k for k, p in enumerate(function.params) if p.name in tangents) + 1
    size = ir.Param(b.size.id, None, function.params[last - 1].style)
    params = (*function.params[:last], size, *function.params[last:])
    return _finished(replace(function, params=params, body=body), "directions")


def _context(
    function: ir.Function,
    rest: ir.Function,
    kinds: Mapping[str, ir.Kind],
    start: frozenset[str],
    theirs: set[str],
    shared: Pairs = (),
) -> Context:
    """What is known of the names of a function, without the statements that are no part of it.

    Raises:
        NoBatchError: one of `theirs` would have a batch axis, or it matters how a batch lies.
    """
    fresh = ir.Fresh(ir.all_names(function) | ir.all_names(rest))
    size = ir.Name(SIZE) if SIZE not in fresh.taken else fresh(SIZE)
    fresh.taken.add(size.id)
    names = with_axis(rest, kinds, start, shared)
    if theirs & names:
        raise NoBatchError("a derivative is written into a value without one")
    if names & laid_classes(rest, kinds):
        raise NoBatchError("the order in memory decides what is written into")
    written = all_written(rest, kinds, shared)
    literals = (s.target.id for s in ir.assignments(rest) if isinstance(s.rhs, ir.Const))
    return Context(dict(kinds), names, written, frozenset(literals), size, fresh)


def _finished(function: ir.Function, what: str) -> ir.Function:
    doc = f"{(function.doc or '').rstrip('.')}, for a batch of {what}."
    return replace(function, name=f"{function.name}_batch", doc=doc)


def _sharing(unpacked: Sequence[ir.Stmt], classes: Sequence[str]) -> Pairs:
    """The residuals that may share memory, each with the first of them."""
    first: dict[str, str] = {}
    names = ((n, classes[_place(s)]) for s in unpacked for n in ir.writes(s))
    found = ((name, first.setdefault(group, name)) for name, group in names)
    return tuple((name, one) for name, one in found if name != one)


def _place(stmt: ir.Stmt) -> int:
    """The place of a residual in the tuple of them."""
    call = ir.call_of(stmt)
    index = call.args[1] if is_op(call, Op.GETITEM) else None
    return index.value if isinstance(index, ir.Const) else -1


def _with_shadows(unpacked: list[ir.Stmt], ours: set[str], b: Context) -> ir.Block:
    """The residuals, with shadows for the batch in place of those of a single item."""
    single = {n: b.fresh() for s in unpacked for n in ir.writes(s) if n in ours}
    out = [*ir.substituted(tuple(unpacked), single)]
    if single:
        made = b.fresh()
        call = ir.Call(batched.shadows, (b.size, *single.values()))
        out.append(ir.Assign(made, call))
        for k, name in enumerate(single):
            out.append(ir.Assign(ir.Name(name), ir.Call(operator.getitem, (made, ir.Const(k)))))
    return tuple(out)
