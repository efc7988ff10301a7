"""A group of steps as a function of loops.

Takes a group, the segments of its steps, and the names that are read outside; gives the function
(`Writer`), and what it is called with.  Arrays that it makes are given to it.  The invariant:
elements are computed once in each iteration, in the order of the steps, and stored where something
else reads them.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from srcdiff import ir
from srcdiff.ir.builder import Builder
from srcdiff.ir.frozen import frozen
from srcdiff.kernels.elements import Map, Reduce, is_cheap
from srcdiff.kernels.groups import Group, Operand, Segments, Step, is_once_a_row, is_row
from srcdiff.kernels.places import Access, Frame, Place
from srcdiff.primitives.ops import Op, op_named
from srcdiff.runtime.loops import add

ZERO = ir.Const(0)
COMPILED = ir.Target(compiler="loops")
_NUMBERS = re.compile(r"(_\d+)+$")
Lines = dict[tuple[str, Frame, tuple[ir.Atom, ...]], ir.Name]
"""The lines of arrays along the innermost loop, by the array, its axes and where they start."""


@frozen
class Output:
    """An array that the loops fill: its name, the frame of its axes, and whether it starts at 0."""

    name: str
    frame: Frame
    dtype: str
    zeroed: bool


class Writer:
    """Writes the function of one group.

    `arrays` are the parameters that are arrays, by what the loops address; `numbers` those that
    are the same in all iterations; `results` the sums over all of them.  `starts` are those of
    indices along outer axes, in the order in which they are come by; `others` stand for some.
    """

    def __init__(
        self, group: Group, segments: Segments, needed: set[str],
        others: Mapping[int, ir.Atom] = MappingProxyType({}),
    ) -> None:  # fmt: skip
        self.group, self.segments, self.needed = group, segments, needed
        self.starts, self.others = list[ir.Atom](), others
        self.rank = group.rank
        self.split = 0 if group.split is None else group.split
        self.fresh = ir.Fresh()
        self.loops = [self.fresh(n) for n in _letters(self.rank, "ijkluvw")]
        self.lengths = [self.fresh(n) for n in _letters(self.rank, "nmpqrst")]
        self.arrays: dict[Place, ir.Name] = {}
        self.numbers: dict[str, ir.Name] = {}
        self.outputs: dict[Place, Output] = {}
        self.params: dict[Place, ir.Name] = {}
        self.results: dict[str, ir.Atom] = {}
        self.lines: Lines = {}
        self.buffers: dict[Place, ir.Name] = {}
        self.again: dict[Place, Step] = {}
        self.rows: dict[Place, ir.Atom] = {}
        self.top = Builder(self.fresh)
        self._outputs(needed)
        for step in group.steps:
            for operand in step.operands:
                self.number(operand)
        for found in self.accesses():
            for start in found.starts:
                self.number(Operand(start))

    def _outputs(self, needed: set[str]) -> None:
        """Arrays for what is read outside, or in another segment."""
        for step in self.group.steps:
            element, place = step.element, step.place
            if isinstance(element, Map) and element.target is None:
                continue
            if place.root in needed and step.frame:
                dtype = ir.dtype_of(self.group.kinds[place.root]) or "float64"
                column = bool(step.over) and not self.is_row(step.frame)
                self.outputs[place] = Output(place.root, step.frame, dtype, column)
        for place in self.outputs:
            self.params[place] = self.fresh(shown(place.root))
        for found in self.accesses():
            if found.array not in self.arrays:
                self.arrays[found.array] = self.fresh(shown(found.array.root))
        for step in self.group.steps:
            place = step.place
            if place in self.segments.crossing and place.root in self.group.bound:
                if place not in self.outputs and place not in self.buffers:
                    if self.is_again(step):
                        self.again[place] = step
                    else:
                        self.buffers[place] = self.fresh(place.root)

    def is_again(self, step: Step) -> bool:
        """Whether an element that another segment reads costs no more than keeping it.

        What it is computed from has to be there still.
        """
        element = step.element
        several = sum(s.place == step.place for s in self.group.steps) > 1
        if several or not isinstance(element, Map) or not is_cheap(element):
            return False
        return all(map(self._is_there, step.operands))

    def _is_there(self, operand: Operand) -> bool:
        """Whether what a step reads is there in every segment behind the step."""
        if operand.place is None:
            return True
        if operand.access is not None:
            return operand.place not in self.group.values  # which another array, or value, becomes
        return self.is_kept(operand.place)

    def is_kept(self, place: Place) -> bool:
        """Whether a value of the group is there in every segment behind the one that makes it."""
        if sum(s.place == place for s in self.group.steps) > 1:
            return False
        kept = place in self.outputs or place in self.buffers or place in self.again
        return kept or self.is_row(self.group.values[place].frame)

    def number(self, operand: Operand) -> ir.Atom:
        """What is the same in all iterations."""
        atom = operand.atom
        if operand.place is not None or type(atom) is not ir.Name:
            return atom
        if atom.id not in self.numbers:
            self.numbers[atom.id] = self.fresh(shown(atom.id))
        return self.numbers[atom.id]

    def is_row(self, frame: Frame) -> bool:
        """Whether a value with a frame is one a row."""
        return is_row(self.group, frame)

    def start(self, axis: int | None, atom: ir.Atom) -> ir.Atom:
        """Where the index of an array begins along an axis of the index space, or stays."""
        known = type(atom) is ir.Const and type(atom.value) is int
        if axis is None or axis == self.rank - 1 or not known:
            return self.number(Operand(atom))
        self.starts.append(atom)
        return self.others.get(len(self.starts) - 1, atom)

    # --- the function -----------------------------------------------------------------------------

    def function(self) -> ir.Function:
        """The function: lengths, what adds up, the loops, and what is returned.

        Its name is still to be given.
        """
        totals = Builder(self.fresh)
        body = self._outer(0, totals)
        for place, name in self.buffers.items():
            inner = self.lengths[self.split :]
            shape = inner[0] if len(inner) == 1 else ir.Tup(tuple(inner))
            dtype = ir.dtype_of(self.group.kinds[place.root]) or "float64"
            self.top.assign(name, ir.Call(np.empty, (shape, *dtype_atoms(dtype))))
        values = tuple(self.results.values())
        result: ir.Atom = values[0] if len(values) == 1 else ir.Tup(values) if values else ir.NONE
        params = [*self.arrays.values(), *self.params.values(), *self.numbers.values()]
        params += [self.lengths[axis] for axis in self.free_axes]
        return ir.Function(
            "loop",
            tuple(ir.Param(p.id) for p in params),
            (*self._known_lengths(), *self.top.out, *totals.out, *body, ir.Return(result)),
            target=COMPILED,
        )

    def _outer(self, axis: int, totals: Builder) -> ir.Block:
        """The loops over the rows, and what stands in them."""
        builder = Builder(self.fresh, self.group.steps[0].element.stmt.loc)
        if axis < self.split:
            return (self._loop(axis, self._outer(axis + 1, totals)),)
        for number in range(self.segments.count):
            _Segment(self, number, builder, totals).write()
        return tuple(builder.out)

    def _loop(self, axis: int, body: ir.Block) -> ir.For:
        header = ir.Call(range, (self.lengths[axis],), text="range")
        loc = self.group.steps[0].element.stmt.loc
        return ir.For(self.loops[axis], header, body, None, loc)

    # --- lengths ----------------------------------------------------------------------------------

    def length_of(self, axis: int) -> tuple[ir.Name, int] | None:
        """An array that has the length of an axis, and which of its axes that is."""
        for place, output in self.outputs.items():
            if axis in output.frame:
                return self.params[place], output.frame.index(axis)
        for found in self.accesses():
            if axis in found.own and found.array == found.place:
                return self.arrays[found.array], found.own.index(axis)
        return None

    def accesses(self) -> list[Access]:
        """How the loops address what they are given."""
        found: dict[Place, Access] = {}
        for step in self.group.steps:
            for access in (*(o.access for o in step.operands), step.access, step.base):
                if access is not None:
                    found.setdefault(access.place, access)
        return list(found.values())

    def _known_lengths(self) -> list[ir.Stmt]:
        """Lengths that arrays tell."""
        builder = Builder(self.fresh)
        for axis, name in enumerate(self.lengths):
            found = self.length_of(axis)
            if found is not None:
                shape = builder.attribute(found[0], "shape")
                builder.assign(name, ir.Call(operator.getitem, (shape, ir.Const(found[1]))))
        return builder.out

    @property
    def free_axes(self) -> list[int]:
        """The axes whose lengths no array tells that the loops are given."""
        return [axis for axis in range(self.rank) if self.length_of(axis) is None]


    # --- rows that threads share ------------------------------------------------------------------

    def thread_rows(self) -> ir.Rows | None:
        """How the outermost loop is shared out, if each row may be computed by another thread.

        It may not where loops stand one after the other, or something behind the loops.
        """
        in_a_row = [*(s.frame for s in self.group.steps if is_once_a_row(self.group, s)),
                    *(o.frame for o in self.outputs.values() if self.is_row(o.frame))]  # fmt: skip
        if not self.split and (self.segments.count > 1 or in_a_row):
            return None
        ways = [*map(self._way, self.arrays), *(_way(o.frame) for o in self.outputs.values())]
        ways += ["whole"] * len(self.numbers)
        ways += ["whole" if axis else "length" for axis in self.free_axes]
        params = [*self.arrays.values(), *self.params.values()]
        length = self.length_of(0)
        told = length is None or (ways[params.index(length[0])], length[1]) == ("rows", 0)
        totals = [self._together(name) for name in self.results]
        if not told or "" in ways or None in totals:
            return None
        return ir.Rows(tuple(ways), tuple(totals), len(totals) > 1)

    def _way(self, array: Place) -> str:
        """How an array is given to a thread, as `ir.Rows` says it; empty if it may not be."""
        found = [a for a in self.accesses() if a.array == array]
        ways = {"whole" if 0 not in a.frame else _way(a.frame, a.starts[0]) for a in found}
        at = [s.element for s in self.group.steps if s.base is not None and s.base.array == array]
        added = [e.compute for e in at if isinstance(e, Map) and e.adds_at]
        if added and ways == {"whole"}:
            sums = all(op_named(fn) is Op.ADD_AT_UFUNC for fn in added)
            return "totals" if sums else ""
        if len(ways) > 1:
            return "from" if ways == {"rows", "from"} else ""
        return ways.pop()

    def _together(self, name: str) -> Any:
        """What puts two totals together; None of what is no total of all rows."""
        step = next(s for s in reversed(self.group.steps) if s.place.root == name)
        of = step.element
        if not isinstance(of, Reduce) or self.is_complex(of):
            return None
        return operator.add if of.extreme is None else of.extreme

    def is_complex(self, element: Reduce) -> bool:
        """Whether what is put together are complex numbers."""
        return ir.dtype_of(self.group.kinds[element.operand.id]) == "complex128"


def _way(frame: Frame, start: ir.Atom = ZERO) -> str:
    """How an array is given to a thread whose axes have a frame, from a start on."""
    if 0 not in frame:
        return "totals"
    if frame[0] != 0 or frame.count(0) > 1:
        return ""
    return "rows" if start == ZERO else "from"


class _Segment:
    """One inner loop, and what stands before and behind it.

    `outside` is written into around the inner loops, `line` before the innermost one.
    """

    def __init__(self, writer: Writer, number: int, outside: Builder, totals: Builder) -> None:
        self.writer, self.number, self.outside, self.totals = writer, number, outside, totals
        self.group = writer.group
        one_line = writer.split == writer.rank - 1  # for all segments
        self.line = outside if one_line else Builder(writer.fresh)
        self.body = Builder(writer.fresh)
        self.elements: dict[Place, ir.Atom] = {}
        self.lines = writer.lines if one_line else {}
        self.single: dict[Place, ir.Atom] = {}

    def write(self) -> None:
        """Write what stands in the segment."""
        steps = zip(self.group.steps, self.writer.segments.of)
        mine = [(s, k) for k, (s, at) in enumerate(steps) if at == self.number]
        rows = [s for s, _ in mine if is_once_a_row(self.group, s)]
        for step in rows:
            self._row(step)
        again = self.writer.again.values()
        inner = [(s, k) for s, k in mine if s not in rows and s not in again]
        if not inner:
            return
        behind: list[Step] = []
        for step, k in inner:
            self._at(step.element.stmt.loc)
            if self.group.mark is not None and self.group.mark[0] is step.element.stmt:
                self.body.out.append(self.group.mark[1])
            if step.over:
                self._reduce(step, behind)
            else:
                self._map(step, k, [n for _, n in inner])
        self._loops()
        for step in behind:
            self._keep_row(step)

    def _at(self, loc: ir.Loc) -> None:
        """The primal place of what is written next."""
        self.line.loc = self.body.loc = self.outside.loc = loc

    def _loops(self) -> None:
        """The inner loops around what has been written."""
        writer = self.writer
        block: ir.Block = (writer._loop(writer.rank - 1, tuple(self.body.out)),)
        if self.line is not self.outside:
            block = (*self.line.out, *block)
        for axis in range(writer.rank - 2, writer.split - 1, -1):
            block = (writer._loop(axis, block),)
        self.outside.out += block

    # --- one value a row --------------------------------------------------------------------------

    def _row(self, step: Step) -> None:
        """A value that is computed once a row, or what adds up such values."""
        self._at(step.element.stmt.loc)
        values = [self._read(o) for o in step.operands]
        if isinstance(step.element, Reduce):
            self._total(step, step.element, values[0], self.outside, self.totals)
            return
        value = values[0]
        if step.element.compute is not None:
            value = target = self.writer.fresh(step.place.root)
            self._compute(self.outside, target, step.element, values)
        self.writer.rows[step.place] = value
        if not step.frame and step.place.root in self.writer.needed:
            self.writer.results[step.place.root] = value
        self._keep_row(step)

    def _keep_row(self, step: Step) -> None:
        """Store what is one value a row, where something outside reads it."""
        output = self.writer.outputs.get(step.place)
        if output is None or not self.writer.is_row(step.frame):
            return
        index = tuple(ZERO if k is None else self.writer.loops[k] for k in output.frame)
        key = index[0] if len(index) == 1 else ir.Tup(index)
        self.outside.store(self.writer.params[step.place], key, self.writer.rows[step.place])

    # --- elements ---------------------------------------------------------------------------------

    def _map(self, step: Step, number: int, mine: Sequence[int]) -> None:
        """An element, stored where something else than this segment reads it."""
        assert isinstance(step.element, Map)
        values = [self._read(o) for o in step.operands]
        writer, place = self.writer, step.place
        value: ir.Atom
        if step.base is not None:
            base, key = self._chosen(step, step.base, step.element)
            if step.element.target is None:
                op = "+" if op_named(step.element.compute) is Op.ADD_AT_UFUNC else "-"
                self.body.out.append(ir.AugAssign(base, key, values[0], op, loc=self.body.loc))
                return
            value = self.body.temp(ir.Call(operator.getitem, (base, key)), place.root)
        elif step.element.compute is None:
            value = values[0]
        else:
            named = place.root if step.element.target is not None else "_t"
            kept = place in writer.outputs
            value = target = writer.fresh("_t" if kept else named)
            self._compute(self.body, target, step.element, values)
        self.elements[place] = value
        later = [k for k in mine if k > number and self.group.steps[k].place == place]
        if not later:
            self._store(step, value)

    def _chosen(self, step: Step, base: Access, element: Map) -> tuple[ir.Name, ir.Atom]:
        """What is addressed by integers out of arrays, or a row of it, and the place in it."""
        writer, array = self.writer, self.writer.arrays[base.array]
        count = len(element.indices)
        places = [self._read(o) for o in step.operands[-count:]]
        inner: list[ir.Atom] = [ZERO if k is None else writer.loops[k] for k in base.own[count:]]
        last = writer.rank - 1
        once = not any(last in o.access.own for o in step.operands[-count:] if o.access is not None)
        if inner and once and base.own[-1] == last:
            row = ir.Tup((*places, *inner[:-1])) if len(base.own) > 2 else places[0]
            array = self.line.temp(ir.Call(operator.getitem, (array, row)), f"{array.id}_row")
            return array, inner[-1]
        key = (*places, *inner)
        return array, key[0] if len(key) == 1 else ir.Tup(key)

    def _store(self, step: Step, value: ir.Atom) -> None:
        writer, place = self.writer, step.place
        access = step.access
        if access is not None:
            self.body.store(*self._spot(writer.arrays[access.array], access), value)
        elif place in writer.params:
            self.body.store(*self._spot(writer.params[place], _whole(place, step.frame)), value)
        elif place in writer.buffers:
            found = _whole(place, step.frame[writer.split :])
            self.body.store(*self._spot(writer.buffers[place], found), value)

    def _reduce(self, step: Step, behind: list[Step]) -> None:
        """What adds up: over a row, over all rows, or along the outer axes."""
        assert isinstance(step.element, Reduce)
        writer = self.writer
        value = self._read(step.operands[0])
        if ir.dtype_of(self.group.kinds[step.element.operand.id]) == "bool":
            value = self.body.apply(operator.mul, ir.Const(1.0), value)
        if step.frame and not writer.is_row(step.frame):
            spot = self._spot(writer.params[step.place], _whole(step.place, step.frame))
            self.body.add(*spot, value)
            return
        over_row = self.group.split is not None and step.over[0] == writer.split
        start = self.outside if over_row else self.totals
        total = self._total(step, step.element, value, self.body, start)
        if over_row:
            writer.rows[step.place] = total
            behind.append(step)

    def _total(
        self, step: Step, element: Reduce, value: ir.Atom, body: Builder, start: Builder
    ) -> ir.Name:
        """What adds up in `body`, from a neutral value on."""
        writer, extreme = self.writer, element.extreme
        total = writer.fresh(step.place.root)
        is_complex = writer.is_complex(element)
        first = 0.0 if extreme is None else -np.inf if extreme is np.maximum else np.inf
        start.assign(total, ir.Const(0j if is_complex else float(first)))
        fn, text = (add, "add") if extreme is None else (extreme, None)
        fn, text = (operator.add, None) if is_complex else (fn, text)
        body.assign(total, ir.Call(fn, (total, value), text=text))
        if not step.frame and step.place.root in writer.needed:
            writer.results[step.place.root] = total
        return total

    def _compute(
        self, builder: Builder, target: ir.Name, element: Map, values: Sequence[ir.Atom]
    ) -> None:
        """One element by the function of the step."""
        if op_named(element.compute) is Op.WHERE:
            test, one, other = values
            yes, no = (ir.Assign(target, v, builder.loc) for v in (one, other))
            builder.out.append(ir.If(test, (yes,), (no,), builder.loc))
            return
        call = ir.call_of(element.stmt)
        same = call is not None and element.compute is call.fn
        text = call.text if call is not None and same else None
        builder.assign(target, ir.Call(element.compute, tuple(values), text=text))

    # --- reading ----------------------------------------------------------------------------------

    def _read(self, operand: Operand) -> ir.Atom:
        """The element of an operand, in the innermost loop or of the row."""
        place, writer = operand.place, self.writer
        if place is None:
            return writer.number(operand)
        known = self.elements.get(place) or writer.rows.get(place) or self.single.get(place)
        if known is not None:
            return known
        value = self.group.values.get(place)
        if operand.access is not None:
            return self._load(place, writer.arrays[operand.access.array], operand.access)
        assert value is not None
        if place in writer.again:
            return self._again(writer.again[place])
        if place in writer.params:
            return self._load(place, writer.params[place], _whole(place, value.frame))
        if place in writer.buffers:
            found = _whole(place, value.frame[writer.split :])
            return self._load(place, writer.buffers[place], found)
        stored = next(s.access for s in self.group.steps if s.place == place and s.access)
        return self._load(place, writer.arrays[stored.array], stored)

    def _again(self, step: Step) -> ir.Atom:
        """An element that is computed again."""
        assert isinstance(step.element, Map)
        values = [self._read(o) for o in step.operands]
        if step.element.compute is None:
            self.elements[step.place] = values[0]
            return values[0]
        target = self.writer.fresh(step.place.root)
        self._compute(self.body, target, step.element, values)
        self.elements[step.place] = target
        return target

    def _load(self, place: Place, array: ir.Name, found: Access) -> ir.Atom:
        """The element of an array: read once in the segment."""
        writer = self.writer
        if writer.is_row(found.own):
            value = self.outside.item(array, self._index(found.frame, found.starts, self.outside))
            writer.rows[place] = value
            return value
        if writer.rank - 1 not in found.frame:
            value = self.line.item(array, self._index(found.frame, found.starts, self.line))
            self.single[place] = value
            return value
        value = self.body.item(*self._spot(array, found))
        self.elements[place] = value
        return value

    def _spot(self, array: ir.Name, found: Access) -> tuple[ir.Name, ir.Atom]:
        """The line of an array along the innermost loop, and the place in it."""
        *outer, last = found.frame or (None,)
        if last != self.writer.rank - 1:
            return array, self._index(found.frame, found.starts, self.body)
        at = self._index((last,), found.starts[-1:], self.body)
        if not outer:
            return array, at
        key = array.id, tuple(outer), found.starts[:-1]
        if key not in self.lines:
            index = self._index(key[1], key[2], self.line)
            self.lines[key] = self.line.temp(
                ir.Call(operator.getitem, (array, index)), f"{array.id}_row"
            )
        return self.lines[key], at

    def _index(self, frame: Frame, starts: tuple[ir.Atom, ...], builder: Builder) -> ir.Atom:
        """The index of an element, or of the line through it."""
        items: list[ir.Atom] = []
        for axis, start in zip(frame, map(self.writer.start, frame, starts)):
            if axis is None or start == ZERO:
                items.append(start if axis is None else self.writer.loops[axis])
            else:
                items.append(builder.apply(operator.add, self.writer.loops[axis], start))
        return items[0] if len(items) == 1 else ir.Tup(tuple(items))


def _whole(place: Place, frame: Frame) -> Access:
    """How loops address an array that is theirs alone."""
    return Access(place, frame, place, frame, tuple(ZERO for _ in frame))


def shown(name: str) -> str:
    """A name that a parameter may have: those of temporaries are numbered anew."""
    plain = name.replace("__", "_").lstrip("_") or "t"
    return _NUMBERS.sub("", plain) if ir.is_unnamed(name) else plain


def _letters(count: int, letters: Sequence[str]) -> list[str]:
    """Names for axes."""
    return [letters[min(k, len(letters) - 1)] for k in range(count)]


def dtype_atoms(name: str) -> tuple[ir.Atom, ...]:
    """The dtype that `np.empty` is given, where it is not that of floats."""
    spelled = {"bool": "bool_"}.get(name, name)
    return () if name == "float64" else (ir.Ref(f"np.{spelled}", getattr(np, spelled)),)

