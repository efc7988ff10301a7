"""Runs of array statements as calls of loop functions, or of what else computes their elements.

Takes a finished function, the kinds of its parameters, and what is written of a run (`Form`); gives
the function in which each run of array statements that may be one loop nest is a call of that.  The
invariant: what lies between the statements of a run, and is put before it, neither reads nor binds
what the run does.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any, Protocol

import numpy as np

from srcdiff import ir
from srcdiff.analysis.effects import Scan, may_move, slot_of, slots
from srcdiff.analysis.liveness import first_uses
from srcdiff.analysis.points_to import PointsTo
from srcdiff.ir.builder import OneName, Rewriter
from srcdiff.ir.frozen import replace, state
from srcdiff.kernels.elements import (
    Element,
    Map,
    Reduce,
    dims_in,
    element_of,
    indexed_of,
    is_exact,
)
from srcdiff.kernels.expand import Expansion, added_to, with_known_shapes
from srcdiff.kernels.groups import Group, needed_outside, orders_of, segments_of, used_steps
from srcdiff.kernels.interchange import Known, Turned, turned_loops
from srcdiff.kernels.loop_nests import Output, Writer, dtype_atoms
from srcdiff.kernels.places import CHOSEN, Frame, Place, View, views_in
from srcdiff.kernels.sharing import Nest, with_shared_loops
from srcdiff.kinds.interpreter import infer
from srcdiff.normalize.live_ranges import webs
from srcdiff.optimize.coalesce import with_first_names
from srcdiff.optimize.dead_code import remove_dead
from srcdiff.primitives.operation import Meaning, op_of
from srcdiff.primitives.ops import Op, is_op
from srcdiff.primitives.views import asks_order
from srcdiff.runtime.loops import check_indices, check_shapes, empty_like


class Form(Protocol):
    """What is written of a run: which statements it may hold, its call, and the whole at last.

    `taken` are kinds in which the statements are judged; `note` is told of each before what stands
    behind it; `element` is what a statement does, None of what stays as it is; `leaves`: whether
    such a step of a statement may stand before the others.  `reads_arrays`: what has the elements
    of an array in other axes, or is its shape, is read as the array, and need not be there.
    `loose`: how many of the first axes are gone through in any order, so that no two of their
    iterations may add to one element.
    """

    reads_arrays: bool
    loose: int

    def taken(self, kinds: ir.Kinds) -> ir.Kinds: ...

    def note(self, fusion: Fusion, stmt: ir.Stmt) -> None: ...

    def element(self, fusion: Fusion, stmt: ir.Stmt) -> Element | None: ...

    def leaves(self, fusion: Fusion, stmt: ir.Stmt) -> bool: ...

    def write(self, fusion: Fusion, run: Run) -> None: ...

    def turned(self, of: Known, fresh: ir.Fresh) -> Mapping[int, Turned | None]: ...

    def write_turned(self, loop: Turned | None, out: list[ir.Stmt]) -> None: ...

    def finished(self, function: ir.Function) -> ir.Function: ...


def fused(function: ir.Function, params: ir.Kinds, form: Form) -> ir.Function:
    """A function whose array statements are those of a form."""
    function = with_steady_arrays(function, {**params, **infer(function, params)})
    function = _OneSum(function, {**params, **infer(function, params)}).function(function)
    kinds = form.taken({**params, **infer(function, params)})
    function = remove_dead(with_known_shapes(function, kinds))
    expansion = Expansion(function, form.taken({**params, **infer(function, params)}))
    done = remove_dead(Fusion(function, params, expansion, form).function(function))
    done = form.finished(done)
    done = with_first_names(done, {**params, **infer(done, params)}, copies=False)
    if len(done.body) > 1 and type(done.body[-2]) is ir.Backward:  # nothing is left behind it
        return ir.rebuilt(done, body=(*done.body[:-2], done.body[-1]))
    return done


def with_steady_arrays(function: ir.Function, kinds: ir.Kinds) -> ir.Function:
    """A function that binds the names of arrays and of counters once: others make no parts."""
    counters = {s.target.id for s in ir.walk(function.body) if type(s) is ir.For}

    def is_steady(name: str) -> bool:
        ours = ir.is_adjoint(name) or ir.is_temporary(name)
        return not ours and bool(dims_in(kinds, name)) or name in counters

    return webs(function, is_steady)


class _OneSum(OneName):
    """Sums of integers that are the same under one name, by which parts of arrays are the same.

    Those that stand elsewhere than in an index stay as they are.
    """

    def __init__(self, function: ir.Function, kinds: ir.Kinds) -> None:
        super().__init__(ir.Fresh())
        self.kinds, self.counts = kinds, _bindings(function, kinds)
        others = (s for s in ir.walk(function.body) if not _is_part(s))
        self.asked = {n for s in others for n in ir.itself_reads(s)}

    def stmt(self, stmt: ir.Stmt) -> ir.Stmt | ir.Block:
        """A sum, if it is new."""
        if type(stmt) is not ir.Assign or not is_op(stmt.rhs, Op.ADD, Op.SUB):
            return self.inside(stmt)
        names = (stmt.target.id, *ir.names(stmt.rhs))
        whole = all(self.counts[n] == 1 and ir.is_integer(self.kinds.get(n)) for n in names)
        if not whole or stmt.target.id in self.asked or not ir.is_temporary(stmt.target.id):
            return stmt
        args = ir.map_rhs(lambda n: ir.Name(self.same.get(n.id, n.id)), stmt.rhs)
        first = self.known.setdefault((op_of(stmt.rhs.fn), args), stmt.target.id)
        if first == stmt.target.id:
            return stmt
        self.same[stmt.target.id] = first
        return ()


def _is_part(stmt: ir.Stmt) -> bool:
    """Whether a statement takes or writes a part of an array."""
    return isinstance(stmt, ir.Store) or is_op(ir.call_of(stmt), Op.GETITEM)


class Fusion(Rewriter):
    """Goes through the blocks, and writes a call for each group.

    `given` are the kinds of its names, `kinds` those in which a form takes the statements;
    `numbers` are arrays without axes that a kernel may compute itself, as far as they are made.
    """

    def __init__(
        self, function: ir.Function, params: ir.Kinds, expansion: Expansion, form: Form
    ) -> None:
        whole = expansion.expanded
        target = function.target
        self.native, self.strict = target.native, target.strict
        self.laid_out = target.strict and not target.native  # what adds up asks for the order
        super().__init__(ir.Fresh(ir.all_names(whole)))
        self.form = form
        self.steps = expansion.steps
        self.given: ir.Kinds = {**params, **infer(whole, params)}
        self.kinds = form.taken(self.given)
        memory = PointsTo.of(whole, self.kinds)
        self.shared, self.written = memory.near, memory.written
        self.counts = _bindings(whole, self.kinds)
        self.lists = slots(Scan(whole))
        self.views = views_in(whole, self.kinds, self.counts)
        self.shapes = _shapes(whole, self.counts)
        self.arrays: dict[str, str] = {}
        if form.reads_arrays:
            self.arrays.update((n, v.whole) for n, v in self.views.items() if v.whole is not None)
            self.arrays.update((n, a.id) for n, a in self.shapes.items())
        self.uses = _readers(whole, self.arrays)
        self.made = {s.target.id: s for s in ir.assignments(whole) if s.target.id in self.arrays}
        self.alike: dict[str, str] = {}
        self.numbers: dict[str, Map] = {}
        stores = (s for s in ir.walk(whole.body) if isinstance(s, ir.Store))
        self.parts = {s.base.id for s in stores if s.index is not None}
        self.checked: set[tuple[str, ir.Dim]] = set()
        self.laid = _laid(whole, self.kinds)
        self.added = added_to(function)
        made = ir.assignments(whole.body)
        self.spread = {s.target.id for s in made if is_op(s.rhs, Op.BROADCAST_TO)}
        self.given_names = {p.name for p in whole.params}
        self.fills = self.filled(whole) if form.reads_arrays else {}
        self.turned = form.turned(self.known(function), self.fresh)

    def known(self, function: ir.Function) -> Known:
        """What is known of a function of which these are the steps."""
        return Known(
            function, self.kinds, self.views, self.shapes, self.lists, self.counts, self.shared,
            self.form.loose > 0, self.laid_out,
        )  # fmt: skip

    def filled(self, whole: ir.Function) -> dict[str, Map]:
        """The arrays that hold one number everywhere, by name: it is read instead of them."""
        found = {}
        for stmt in ir.assignments(whole.body):
            fill = element_of(stmt, self.kinds, self.shapes)
            if type(fill) is Map and fill.like is not None and self.is_steady(fill):
                found[stmt.target.id] = fill
        return found

    def is_steady(self, fill: Map) -> bool:
        """Whether an array holds the number that it is made of whenever it is read.

        It has the shape of an argument, which is there in any case.
        """
        assert fill.target is not None and fill.like is not None
        value = ir.names(fill.operands[0])
        once = all(self.counts.get(n, 0) <= 1 for n in (fill.target, fill.like.id, *value))
        once = once and fill.like.id in self.given_names
        number = all(dims_in(self.kinds, n) == () for n in value)
        return once and number and not any(self.shared.share(fill.target, w) for w in self.written)

    def is_fixed(self, name: str) -> bool:
        """Whether an array has the same elements all the time."""
        written = any(self.shared.share(name, w) for w in self.written)
        return self.counts.get(name, 0) == 1 and not written

    def is_product(self, stmt: ir.Stmt) -> bool:
        """Whether a statement by itself is better left to the routine that it calls."""
        call = ir.call_of(stmt)
        if call is None or not op_of(call.fn).means(Meaning.PRODUCT):
            return False
        matrices = [n for n in ir.names(call) if len(dims_in(self.kinds, n) or ()) > 1]
        # Numba copies a part of a matrix for the routine.
        return not self.native or bool(matrices) and self.views.keys().isdisjoint(matrices)

    def are_alike(self, one: ir.Name, two: ir.Name | None) -> bool:
        """Whether two arrays are known to have the same shape."""
        first = self.alike.get(one.id, one.id)
        return two is not None and first == self.alike.get(two.id, two.id)

    def alike_from_now(self, one: ir.Name, two: ir.Name) -> None:
        """From here on two arrays have the same shape."""
        if self.counts.get(one.id, 1) == 1 and self.counts.get(two.id, 1) == 1:
            self.alike[one.id] = self.alike.get(two.id, two.id)

    def block(self, block: ir.Block) -> ir.Block:
        """A block with its groups as calls."""
        around, alike, self.out = self.out, dict(self.alike), []
        numbers, checked = dict(self.numbers), set(self.checked)
        row = _Row(self)
        for stmt in block:
            if id(stmt) in self.turned:
                self.flush(row)
                row = _Row(self)
                self.form.write_turned(self.turned[id(stmt)], self.out)
            elif type(stmt) is ir.Backward and row.items:
                row.turn(stmt)
            elif not self.take(row, stmt):
                self.flush(row)
                row = _Row(self)
                self.out.append(self.inside(stmt))
        self.flush(row)
        done, self.out, self.alike = tuple(self.out), around, alike
        self.numbers, self.checked = numbers, checked
        return done

    def take(self, row: _Row, stmt: ir.Stmt) -> bool:
        """Put a statement into a row, if it only computes."""
        if not self.views.keys().isdisjoint(ir.writes(stmt)):
            return row.take(stmt, None)
        if id(stmt) not in self.steps:
            self.form.note(self, stmt)
        steps = self.steps.get(id(stmt), (stmt,))
        found = {id(s): e for s in steps if (e := self.element(s)) is not None}
        asked = [s for s in steps if id(s) not in found]  # lengths
        made = {n for e in found.values() for n in ir.writes(e.stmt)}
        before = found and all(made.isdisjoint(ir.reads(s)) for s in asked)
        before = before and all(self.form.leaves(self, s) for s in asked)
        if before and all(row.take(s, None) for s in asked):
            if row.take(stmt, list(found.values())):
                return True
        if any(isinstance(e, Reduce) and e.is_partial for e in found.values()) and len(steps) > 1:
            return all(row.take(s, [found[id(s)]] if id(s) in found else None) for s in steps)
        return row.take(stmt, None)

    def element(self, stmt: ir.Stmt) -> Element | None:
        """What a statement does to elements; what parts are written into is made as it is."""
        found = self.form.element(self, stmt)
        if self.strict and not is_exact(found, self.given):
            return None
        if not isinstance(found, Map) or found.target is None:
            return found
        in_parts = found.like is not None and found.target in self.parts
        return None if in_parts or found.target in self.laid else found

    def flush(self, row: _Row) -> None:
        """Write what has been put into a row, the groups of it as calls."""
        for item in row.items:
            if isinstance(item, Run):
                self.write(item)
            else:
                self.out.append(item)

    def may_move(self, stmt: ir.Stmt) -> bool:
        """Whether a statement only computes, stores, or works on a list that nobody else sees."""
        if isinstance(stmt, ir.Store):
            return dims_in(self.kinds, stmt.base.id) is not None
        if slot_of(ir.call_of(stmt)) in self.lists:
            return True
        return type(stmt) is ir.Assign and may_move(stmt.rhs)

    def counts_up(self, stmt: ir.Stmt) -> bool:
        """Whether a statement is an operator in place on a number, which binds its name."""
        if type(stmt) is not ir.AugAssign or stmt.index is not None:
            return False
        return dims_in(self.kinds, stmt.base.id) == ()

    def write(self, run: Run) -> None:
        """Write the call of a run, or its statements where that gains nothing."""
        self.loc = run.stmts[0].loc
        self.form.write(self, run)

    def needed(self, run: Run) -> set[str]:
        """The names bound in a run that something outside reads; steps for others are left out."""
        needed = needed_outside(run.group, self.uses, self.counts, self.arrays)
        run.group.steps = used_steps(run.group, needed)
        return needed

    def unpacked(
        self, call: ir.Call, names: Sequence[str], value: Callable[[str, ir.Call], ir.Call]
    ) -> None:
        """The results of a call under their names, `value` of each."""
        if not names:
            self.out.append(ir.Effect(call, self.loc))
        elif len(names) == 1:
            self.assign(ir.Name(names[0]), value(names[0], call))
        else:
            found = self.temp(call)
            for k, name in enumerate(names):
                taken = ir.Call(operator.getitem, (found, ir.Const(k)), role=ir.Unpacks(len(names)))
                self.assign(ir.Name(name), value(name, taken))

    def allocated(self, root: str, shape: ir.Atom, dtype: str, fn: Any = np.empty) -> ir.Name:
        """A new array for a result, which has another name where the root is bound again."""
        name = self.fresh("_out") if self.counts[root] > 1 else ir.Name(root)
        self.assign(name, ir.Call(fn, (shape, *dtype_atoms(dtype))))
        return name

    def name_of(self, place: Place, run: Run) -> ir.Name:
        """A name that stands for a place of a run in the function."""
        if place.index is None:
            return ir.Name(place.root)
        names = sorted(run.uses.read)
        known = next((n for n in names if self.views.get(n) == View(place)), None)
        return self.item(ir.Name(place.root), place.index) if known is None else ir.Name(known)


# --- statements that may run in another order -----------------------------------------------------


@state
class _Uses:
    """The names that statements read and bind, and those whose memory they read and write."""

    read: set[str]
    bound: set[str]
    looked: set[str]
    stored: set[str]

    def add(self, other: _Uses) -> None:
        """What other statements use as well."""
        self.read |= other.read
        self.bound |= other.bound
        self.looked |= other.looked
        self.stored |= other.stored


@state
class Run:
    """Statements that are one group, and what they use."""

    group: Group
    uses: _Uses
    stmts: list[ir.Stmt] = field(default_factory=list)


class _Row:
    """Runs, and statements that only compute, in the order in which they are to run.

    A statement joins the last run that it fits and that nothing behind keeps it from.
    """

    def __init__(self, fusion: Fusion) -> None:
        self.fusion = fusion
        self.items: list[Run | ir.Stmt] = []
        self.mark: ir.Backward | None = None
        self.before: list[Run] = []

    def turn(self, mark: ir.Backward) -> None:
        """The forward part ends between the statements before and those that follow."""
        self.mark, self.before = mark, [i for i in self.items if isinstance(i, Run)]
        self.items.append(mark)

    def take(self, stmt: ir.Stmt, elements: list[Element] | None) -> bool:
        """Put a statement into the row, unless it does more than compute."""
        if elements is None and not self.fusion.may_move(stmt):
            return False
        uses = self.uses(stmt, elements)
        place = len(self.items)
        for place in range(len(self.items), 0, -1):
            item = self.items[place - 1]
            if isinstance(item, Run) and elements and self.joins(item, stmt, elements):
                item.uses.add(uses)
                return True
            if self.keeps_apart(item, uses):
                break
        else:
            place = 0
        if elements is None or elements[0].is_number:
            while place < len(self.items) and not isinstance(self.items[place], (Run, ir.Backward)):
                place += 1  # statements of this kind stay in order
            self.items.insert(place, stmt)
            return True
        return self.starts(stmt, elements, uses)

    def starts(self, stmt: ir.Stmt, elements: list[Element], uses: _Uses) -> bool:
        """Begin a run with a statement."""
        fusion = self.fusion
        group = Group(fusion.kinds, fusion.shared, fusion.views, fusion.fills, fusion.form.loose)
        run = Run(group, uses)
        if not self.joins(run, stmt, elements):
            return False
        self.items.append(run)
        return True

    def joins(self, run: Run, stmt: ir.Stmt, elements: list[Element]) -> bool:
        """Put a statement into a run, with all its steps or not at all."""
        trial = run.group.copied()
        if not all(map(trial.add, elements)):
            return False
        first = run.group.mark is None and any(run is other for other in self.before)
        if self.mark is not None and first:  # the loops are forward and backward both
            trial.mark = elements[0].stmt, self.mark
        run.group = trial
        run.stmts.append(stmt)
        return True

    def keeps_apart(self, item: Run | ir.Stmt, uses: _Uses) -> bool:
        """Whether something has to run before what uses some names."""
        if type(item) is ir.Backward:
            return not self.before
        other = item.uses if isinstance(item, Run) else self.uses(item, None)
        named = uses.bound & (other.read | other.bound) or uses.read & other.bound
        in_memory = self.meet(uses.stored, other.looked | other.stored)
        return bool(named) or in_memory or self.meet(uses.looked, other.stored)

    def meet(self, one: set[str], two: set[str]) -> bool:
        """Whether some of two sets of names are the same, or may share memory."""
        share = self.fusion.shared.share
        return any(a == b or share(a, b) for a in one for b in two)

    def uses(self, stmt: ir.Stmt, elements: list[Element] | None) -> _Uses:
        """What a statement, or its steps, use; a view is made without a look at the memory.

        A list that only it is appended to and popped from is bound by that: its items stay.
        """
        stmts = [e.stmt for e in elements] if elements else [stmt]
        read = {n for s in stmts for n in ir.reads(s)}
        if elements:
            fills = [self.fusion.fills[n] for n in read if n in self.fusion.fills]
            read |= {n for f in fills for n in ir.reads(f.stmt)}
            read = {self.fusion.arrays.get(n, n) for n in read}
        bound = {n for s in stmts for n in ir.writes(s)}
        stored = {s.base.id for s in stmts if isinstance(s, ir.Store)}
        stored |= {e.base for e in elements or () if isinstance(e, Map) and e.adds_at}
        looked = read if bound.isdisjoint(self.fusion.views) else set()
        slot = slot_of(ir.call_of(stmt))
        bound |= {slot} if slot is not None else stored if self.fusion.counts_up(stmt) else set()
        return _Uses(read, bound, looked - {slot}, stored)


def _shapes(function: ir.Function, counts: Mapping[str, int]) -> dict[str, ir.Name]:
    """The names that stand for the shape of an array, with that."""
    found = {}
    for stmt in ir.assignments(function.body):
        of = stmt.rhs.args[0] if is_op(stmt.rhs, Op.SHAPE) else None
        if type(of) is ir.Name and counts[stmt.target.id] == counts.get(of.id) == 1:
            found[stmt.target.id] = of
    return found


def _readers(function: ir.Function, arrays: Mapping[str, str]) -> dict[str, int]:
    """How many statements read each array, under any name that is read for it."""
    uses = dict(ir.reader_counts(function.body))
    for name, array in arrays.items():
        uses[array] = uses.get(array, 0) + uses.get(name, 0) - 1
    return uses


def _bindings(function: ir.Function, kinds: ir.Kinds) -> dict[str, int]:
    """How often each name is bound; an operator in place on a number binds it.

    So does an iteration where the next one, or what stands behind the loop, may read it first.
    """
    counts = dict(ir.binding_counts(function.body, function.params))
    for name in first_uses(function.body)[0].intersection(ir.bound(function)):
        counts[name] = counts.get(name, 0) + 1
    for stmt in ir.walk(function.body):
        if type(stmt) is ir.AugAssign and stmt.index is None and not dims_in(kinds, stmt.base.id):
            counts[stmt.base.id] = counts.get(stmt.base.id, 0) + 1
    return counts


def _laid(function: ir.Function, kinds: ir.Kinds) -> set[str]:
    """The arrays on whose order in memory something depends.

    Loops make arrays in C order, NumPy in that of the operands.  What is reshaped is a view in one
    order and a copy in another, which matters where one of the two is written into.
    """
    memory = PointsTo.of(function, kinds)
    made: dict[str, list[str]] = {}
    waiting: list[str] = []
    for stmt in ir.assignments(function.body):
        if len(dims_in(kinds, stmt.target.id) or ()) > 1:
            made.setdefault(stmt.target.id, []).extend(ir.names(stmt.rhs))
        call = ir.call_of(stmt)
        if call is not None and op_of(call.fn).is_shaped:
            names = (stmt.target.id, *ir.names(call))
            written = any(memory.near.share(n, w) for n in names for w in memory.written)
            waiting += names if written or asks_order(call) else ()
    found: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += made.get(name, ())
    return found


class Loops:
    """The form of loops: a nest of them for each run, of which threads may share the rows.

    Strict ones leave each sum in its order.
    """

    reads_arrays = True

    def __init__(self, target: ir.Target) -> None:
        self.loose = sys.maxsize if target.strict else int(target.threads > 1)
        self.shares = target.threads > 1
        self.nests: dict[int, Nest] = {}

    def taken(self, kinds: ir.Kinds) -> ir.Kinds:
        """The kinds as they are."""
        return kinds

    def note(self, fusion: Fusion, stmt: ir.Stmt) -> None:
        """Nothing is kept of it."""

    def element(self, fusion: Fusion, stmt: ir.Stmt) -> Element | None:
        """Whatever loops over scalars compute."""
        found = element_of(stmt, fusion.kinds, fusion.shapes)
        if found is None and not fusion.strict:
            return indexed_of(stmt, fusion.kinds)
        if type(found) is not Map or found.target is not None:
            return found
        if id(stmt) in fusion.added or not fusion.spread.isdisjoint(ir.names(found.operands[0])):
            return replace(found, fits=True)
        return found

    def leaves(self, fusion: Fusion, stmt: ir.Stmt) -> bool:
        """Lengths and parts; sums are elements."""
        return True

    def write(self, fusion: Fusion, run: Run) -> None:
        """A loop function and its call, where something is computed."""
        steps = [s.element for s in run.group.steps]
        if len(run.stmts) == 1 and fusion.is_product(run.stmts[0]):
            fusion.out.append(run.stmts[0])
            return
        computes = any(self.gains(fusion, e) for e in steps)
        if not computes or (fusion.laid_out and orders_of(run.group) is None):
            first, *others = run.stmts
            fusion.out.append(first)
            for stmt in others:  # which may stand before what makes the names that they read
                names = [n for n in ir.reads(stmt) if n in fusion.arrays]
                fusion.out += (fusion.made[n] for n in names)
                fusion.out.append(stmt)
            return
        needed = fusion.needed(run)
        if run.group.steps:
            of = run.group, segments_of(run.group), needed
            writer = Writer(*of)
            nest = ir.Subroutine(writer.function(), writer.thread_rows())
            again = lambda starts: Writer(*of, starts).function()  # noqa: E731
            self.nests[id(nest)] = Nest(nest, again, tuple(writer.starts))
            _Call(fusion, run, writer).write(nest)

    def turned(self, of: Known, fresh: ir.Fresh) -> Mapping[int, Turned | None]:
        """The loops that are to have others outside, which threads do not share."""
        return {} if self.shares else turned_loops(of, fresh)

    def write_turned(self, loop: Turned | None, out: list[ir.Stmt]) -> None:
        """A loop with others outside; None: what it saves in needs no list."""
        if loop is not None:
            nest = loop.write(out)
            self.nests[id(nest)] = Nest(nest, lambda _: nest.function, ())

    def gains(self, fusion: Fusion, element: Element) -> bool:
        """Whether a loop is better than the statement: it computes, or Numba would copy an array.

        Of such a store Numba compiles more than of a loop.
        """
        if isinstance(element, Reduce) or element.adds_at:
            return True
        if element.compute is not None:
            return not element.indices
        copied = any(dims_in(fusion.kinds, n) for n in ir.names(element.operands[0]))
        return fusion.native and element.target is None and copied

    def finished(self, function: ir.Function) -> ir.Function:
        """One function for loops that are the same."""
        return with_shared_loops(function, self.nests)


class _Call:
    """What stands for a group: arrays for its results, checks of shapes, and the call."""

    def __init__(self, fusion: Fusion, run: Run, writer: Writer) -> None:
        self.fusion, self.run, self.writer = fusion, run, writer
        self.orders = (orders_of(run.group) or {}) if fusion.laid_out else {}
        self.whole: Frame = tuple(range(run.group.rank))
        found = {a.place: a for a in writer.accesses()}
        self.names = {p: fusion.name_of(p, run) for p in found}
        self.parts = {self.names[p] for p, a in found.items() if a.array != p}
        shaped = [(self.names[p], a.own) for p, a in found.items()]
        shaped += run.group.likes.items()
        for place, access in run.group.loads.items():  # what only results need that nobody reads
            if place not in found:
                shaped.append((fusion.name_of(place, run), access.own))
        known = dict.fromkeys(shaped)
        self.shaped = [s for s in known if CHOSEN not in s[1]]
        self.bases = [s for s in known if CHOSEN in s[1]]

    # --- shapes -----------------------------------------------------------------------------------

    def like(self) -> ir.Name | None:
        """What has the shape of the index space."""
        return next((n for n, own in self.shaped if own == self.whole), None)

    def source(self, axis: int) -> tuple[ir.Name, Frame] | None:
        """What has the length of an axis; None of one that only views have: it is 1."""
        like = self.like()
        if like is not None:
            return like, self.whole
        return next((s for s in (*self.shaped, *self.bases) if axis in s[1]), None)

    def length(self, axis: int) -> ir.Atom:
        """The length of an axis."""
        fusion, found = self.fusion, self.source(axis)
        if found is None:
            return ir.Const(1)
        name, own = found
        return fusion.item(fusion.attribute(name, "shape"), ir.Const(own.index(axis)))

    def shape(self, frame: Frame) -> ir.Atom:
        """The shape of an array with a frame."""
        like = self.like()
        if like is not None and frame == self.whole:
            return self.fusion.attribute(like, "shape")
        return ir.Tup(tuple(ir.Const(1) if k is None else self.length(k) for k in frame))

    def check(self) -> None:
        """Check the shapes of what is not known to have the shape that the loops go over.

        A part that loops address in its array is asked in any case: that checks its integers.
        """
        fusion, like = self.fusion, self.like()
        asked: dict[Frame, list[ir.Atom]] = {}
        for name, own in self.shaped:
            sources = {self.source(axis) for axis in own if axis is not None}
            same = own == self.whole and fusion.are_alike(name, like)
            others = sources - {(name, own), None}
            if not same and (others or (not sources and name in self.parts)):
                asked.setdefault(own, []).append(fusion.attribute(name, "shape"))
                if own == self.whole and like is not None:
                    fusion.alike_from_now(name, like)
        for name, own in self.bases:
            behind = tuple(axis for axis in own if axis != CHOSEN)
            told = [None if axis is None else self.source(axis) for axis in behind]
            if any(found != (name, own) for found in told):
                rest = ir.Slice(ir.Const(len(own) - len(behind)), ir.NONE, ir.NONE)
                shape = fusion.item(fusion.attribute(name, "shape"), rest)
                asked.setdefault(behind, []).append(shape)
        for own, shapes in asked.items():
            call = ir.Call(check_shapes, (self.shape(own), *shapes), text="check_shapes")
            fusion.out.append(ir.Effect(call, fusion.loc))

    def check_places(self) -> None:
        """Check the integers that choose elements, unless that has been done."""
        fusion = self.fusion
        for element in (s.element for s in self.run.group.steps):
            if not isinstance(element, Map) or not element.indices:
                continue
            lengths = dims_in(fusion.kinds, element.base) or ()
            keys = {(i.id, d) for i, d in zip(element.indices, lengths)}
            if not keys <= fusion.checked:
                shape = fusion.attribute(ir.Name(element.base), "shape")
                call = ir.Call(check_indices, (shape, *element.indices), text="check_indices")
                fusion.out.append(ir.Effect(call, fusion.loc))
            fusion.checked.update(k for k in keys if k[1] is not None and fusion.is_fixed(k[0]))

    # --- the call ---------------------------------------------------------------------------------

    def write(self, nest: ir.Subroutine) -> None:
        """Write it all."""
        fusion, writer = self.fusion, self.writer
        self.check()
        self.check_places()
        new = {p: self.allocate(p, o) for p, o in writer.outputs.items()}
        arrays = [self.names[p] if p in self.names else ir.Name(p.root) for p in writer.arrays]
        numbers = [ir.Name(n) for n in writer.numbers]
        lengths = [self.length(axis) for axis in writer.free_axes]
        call = ir.Call(nest, (*arrays, *new.values(), *numbers, *lengths), text=nest.__name__)
        fusion.unpacked(call, list(writer.results), self.number)
        for place, name in new.items():
            if name.id != place.root:
                fusion.assign(ir.Name(place.root), name)

    def allocate(self, place: Place, output: Output) -> ir.Name:
        """A new array for a result."""
        fusion, fn = self.fusion, np.zeros if output.zeroed else np.empty
        order = self.orders.get(place, ())
        if order:
            name = fusion.fresh("_out") if fusion.counts[output.name] > 1 else ir.Name(output.name)
            dtype = ir.Ref(f"np.{output.dtype}", getattr(np, output.dtype))
            arrays = (fusion.name_of(p, self.run) for p in order)
            fusion.assign(name, ir.Call(empty_like, (dtype, *arrays), text="empty_like"))
        else:
            name = fusion.allocated(output.name, self.shape(output.frame), output.dtype, fn)
        like = self.like()
        if output.frame == self.whole and like is not None:
            fusion.alike_from_now(name, like)
        return name

    def number(self, name: str, result: ir.Call) -> ir.Call:
        """The number that NumPy gives, of the one that Numba gives to Python."""
        fusion = self.fusion
        cls = getattr(np, ir.dtype_of(fusion.kinds[name]) or "float64")
        return result if fusion.native else ir.Call(cls, (fusion.temp(result),))
