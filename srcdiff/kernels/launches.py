"""Runs of array statements as kernels for the arrays of a device: one launch for each run.

Takes the runs of a function (`Launches` is the form of them); gives their kernels, which compute
one element of each result, and the calls.  Reductions stay the calls that they are, behind the
kernel that makes what they reduce.  The invariant: what is not sure to be one kernel, with operands
of one width, stays the statements that it was; nothing is asked of the device.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from srcdiff import ir
from srcdiff.ir.builder import Builder
from srcdiff.ir.frozen import replace, state
from srcdiff.kernels.elements import FLOATS, Element, Map, dims_in, element_of, is_cheap
from srcdiff.kernels.fusion import Fusion, Run
from srcdiff.kernels.groups import Group, Operand, Step
from srcdiff.kernels.interchange import Known, Turned
from srcdiff.kernels.loop_nests import shown
from srcdiff.kernels.places import Place
from srcdiff.kernels.sharing import form_of
from srcdiff.kinds.interpreter import infer
from srcdiff.primitives.operation import op_of

ROOM = 4000
"""The bytes that the parameters of a launch may take together."""


class Launches:
    """The form of kernels: one for each run that would be several launches.

    `base` is the name of the function that calls them, `target` its own; `made` are the kernels, by
    what they do.
    """

    reads_arrays = False
    loose = sys.maxsize

    def __init__(self, function: ir.Function) -> None:
        self.base, self.target = function.name, function.target
        self.made: dict[Any, ir.Kernel] = {}

    def taken(self, kinds: ir.Kinds) -> ir.Kinds:
        """The kinds as if all floats were of one width: a statement is of one, as is checked."""
        return {n: _as_double(k) for n, k in kinds.items()}

    def note(self, fusion: Fusion, stmt: ir.Stmt) -> None:
        """Keep what kernels may compute themselves."""
        number = _number_of(stmt, fusion)
        if number is not None and number.target is not None:
            fusion.numbers[number.target] = number

    def element(self, fusion: Fusion, stmt: ir.Stmt) -> Element | None:
        """What a kernel computes: no reductions, no numbers, no two widths of floats."""
        found = element_of(stmt, fusion.kinds, fusion.shapes)
        if not isinstance(found, Map) or not found.dims:
            return None
        return found if _is_of_one_width(found, fusion.given) else None

    def leaves(self, fusion: Fusion, stmt: ir.Stmt) -> bool:
        """Lengths, and parts of arrays: no launches."""
        arrays = [n for n in ir.writes(stmt) if type(fusion.given.get(n)) is ir.Array]
        return all(n in fusion.views for n in arrays)

    def turned(self, of: Known, fresh: ir.Fresh) -> Mapping[int, Turned | None]:
        """A loop is no kernel."""
        return {}

    def write_turned(self, loop: Turned | None, out: list[ir.Stmt]) -> None:
        """There is none."""

    def write(self, fusion: Fusion, run: Run) -> None:
        """A kernel and its launch, where that is one in the place of several."""
        needed = fusion.needed(run)
        if not run.group.steps:
            return
        body = _Body(run.group, fusion.given, needed, fusion.numbers)
        alone = sum(fusion.uses.get(n, 0) == 1 for n in body.numbers_made)
        if _launches(fusion, run) + alone < 2 or not body.fits():
            fusion.out += run.stmts
        else:
            _Launch(fusion, run, body).write(self.shared(body.kernel()))

    def shared(self, kernel: ir.Kernel) -> ir.Kernel:
        """The kernel that does the same, or this one under a name of its own."""
        kinds = tuple(kernel.kinds[p.name] for p in kernel.function.params)
        key = form_of(kernel.function), kinds, len(kernel.operands), kernel.result
        number = len(self.made)
        name = f"{self.base}_kernel_{number}" if number else f"{self.base}_kernel"
        named = replace(kernel, function=replace(kernel.function, name=name, target=self.target))
        return self.made.setdefault(key, named)

    def finished(self, function: ir.Function) -> ir.Function:
        """The function as it is."""
        return function


def _as_double(kind: ir.Kind) -> ir.Kind:
    """A kind with floats of double width."""
    if isinstance(kind, (ir.Array, ir.Scalar)) and kind.dtype == "float32":
        return replace(kind, dtype="float64")
    return kind


def _dtypes(element: Map, kinds: ir.Kinds) -> set[str]:
    """The dtypes that a statement reads and makes; real numbers of Python take any."""
    names = [a.id for a in element.operands if type(a) is ir.Name]
    found = [kinds[n] for n in (*names, element.target or element.base)]
    strong = [k for k in found if not (type(k) is ir.Scalar and k.python)]
    values = [getattr(a, "value", None) for a in element.operands]
    given = {str(np.asarray(v).dtype) for v in values if isinstance(v, (np.generic, complex))}
    return given.union(ir.dtype_of(k) or "" for k in strong)


def _widths(element: Map, kinds: ir.Kinds) -> set[str]:
    """The dtypes of the floats among them."""
    return _dtypes(element, kinds).intersection(FLOATS)


def _is_of_one_width(element: Map, kinds: ir.Kinds) -> bool:
    """Whether C++ computes in the dtype of NumPy, which takes integers and float32 as float64."""
    found = _dtypes(element, kinds)
    mixed = found >= set(FLOATS) or found >= {"int64", "float32"}
    return not mixed and found <= {*FLOATS, "int64", "bool"}


def _number_of(stmt: ir.Stmt, fusion: Fusion) -> Map | None:
    """What gives an array without axes, if a kernel may compute it as well where it is read.

    What it reads is bound once, and never written into.
    """
    kind = fusion.given.get(stmt.target.id) if type(stmt) is ir.Assign else None
    if type(stmt) is not ir.Assign or type(kind) is not ir.Array or kind.dims != ():
        return None
    number: dict[str, ir.Kind] = {stmt.target.id: ir.Scalar("float64", False)}
    found = element_of(stmt, {**fusion.kinds, **number}, fusion.shapes)
    if not isinstance(found, Map) or not is_cheap(found) or kind.dtype not in FLOATS:
        return None
    names = [stmt.target.id, *(a.id for a in found.operands if type(a) is ir.Name)]
    share = fusion.shared.share
    steady = all(fusion.counts.get(n, 0) == 1 for n in names)
    untouched = not any(share(n, w) for n in names for w in fusion.written)
    return found if steady and untouched and _is_of_one_width(found, fusion.given) else None


def _launches(fusion: Fusion, run: Run) -> int:
    """How many launches the statements of a run are, about."""
    maps = [s.element for s in run.group.steps if isinstance(s.element, Map)]
    filled = [e.stmt for e in maps if e.compute is None and e.target is not None]
    count = 0
    for stmt in run.stmts:
        steps, call = fusion.steps.get(id(stmt), (stmt,)), ir.call_of(stmt)
        helper = call is not None and op_of(call.fn).name.startswith("srcdiff.")
        count += 0 if stmt in filled else len(steps) if helper else 1
    return count


# --- the kernel -----------------------------------------------------------------------------------


@state
class _Given:
    """A parameter: its name, the kind of an element, and what it stands for."""

    name: ir.Name
    kind: ir.Kind
    atom: ir.Atom
    place: Place | None = None


class _Body:
    """One element of every result of a group.

    `given` are the parameters by what they stand for; `stored` those that are written into.
    """

    def __init__(
        self, group: Group, kinds: ir.Kinds, needed: set[str], numbers: Mapping[str, Map]
    ) -> None:
        self.group, self.kinds, self.numbers = group, kinds, numbers
        self.fresh = ir.Fresh()
        self.out = Builder(self.fresh)
        self.given: dict[Any, _Given] = {}
        self.elements: dict[Place, ir.Atom] = {}
        self.numbers_made: list[str] = []
        self.checked: list[tuple[ir.Name, str | None]] = []
        self.stored = [s.place for s in group.steps if self._is_store(s)]
        self.stored = list(dict.fromkeys(self.stored))
        made = dict.fromkeys(s.place for s in group.steps)
        self.made = [p for p in made if p.root in needed and p not in self.stored]
        self.results: dict[Place, ir.Name] = {}
        last = {s.place: k for k, s in enumerate(group.steps)}
        for k, step in enumerate(group.steps):
            self._step(step)
            if step.place in self.made and last[step.place] == k:
                self._result(step.place, self.fresh(shown(step.place.root)))
        for place in self.stored:  # behind all that reads what was there
            known = self.given.get(place)
            self._result(place, self.fresh(shown(place.root)) if known is None else known.name)

    def _is_store(self, step: Step) -> bool:
        """Whether a step writes into an array that is there before the kernel."""
        return step.access is not None

    def _step(self, step: Step) -> None:
        """The lines of a step."""
        element, place = step.element, step.place
        assert isinstance(element, Map)
        self.out.loc = element.stmt.loc
        if self.group.mark is not None and self.group.mark[0] is element.stmt:
            self.out.out.append(self.group.mark[1])
        width = next(iter(_widths(element, self.kinds)), "float64")
        values = [self._read(o, width) for o in step.operands]
        if element.compute is None:
            dtype = ir.dtype_of(self.kinds[place.root])
            self.elements[place] = self._cast(values[0], step.operands[0], dtype)
            return
        kept = place in self.made or element.target is None
        target = self.elements[place] = self.fresh("_t" if kept else place.root)
        self._compute(target, element, values, self.kinds[place.root])

    def _compute(
        self, target: ir.Name, element: Map, values: Sequence[ir.Atom], kind: ir.Kind
    ) -> None:
        """An element by the function of a statement; it is to have the dtype of a kind."""
        self.out.assign(target, ir.Call(element.compute, tuple(values)))
        self.checked.append((target, ir.dtype_of(kind)))

    def _cast(self, value: ir.Atom, operand: Operand, dtype: str | None) -> ir.Atom:
        """A value in the dtype of the array that it becomes an element of."""
        if type(value) is ir.Const:
            number = type(value.value) in (int, float) and dtype in FLOATS
            return ir.Const(float(value.value)) if number else value
        own = ir.dtype_of(self.kinds[operand.atom.id]) if type(operand.atom) is ir.Name else None
        if own == dtype or dtype not in FLOATS:
            return value
        return self.out.apply(getattr(np, dtype), value)

    def _result(self, place: Place, name: ir.Name) -> None:
        """Bind the name of a result."""
        self.results[place] = name
        if self.elements[place] != name:
            self.out.assign(name, self.elements[place])

    # --- parameters -------------------------------------------------------------------------------

    def _read(self, operand: Operand, width: str) -> ir.Atom:
        """The element of an operand, or a number, for a step of floats of some width."""
        atom, place = operand.atom, operand.place
        if place is not None and place in self.elements:
            return self.elements[place]
        if place is not None:
            own = ir.dtype_of(self.kinds[place.root]) or ""
            return self._param(place, operand.atom, _scalar(own), place)
        if type(atom) is not ir.Name:
            value = getattr(atom, "value", None)
            most = float(np.finfo(width).max)
            if isinstance(value, float) and not abs(value) <= most:  # C++ has no literal
                return self._param((repr(value), width), atom, _scalar(width), None)
            return ir.Const(value)
        return self._number(atom, width)

    def _number(self, atom: ir.Name, width: str) -> ir.Atom:
        """An array without axes, or a number of the host; the former is computed, if it may be."""
        known = self.numbers.get(atom.id)
        if known is not None:
            place = Place(atom.id)
            if place not in self.elements:
                values = [self._read(Operand(a), width) for a in known.operands]
                target = self.elements[place] = self.fresh("_t")
                self.numbers_made.append(atom.id)
                self._compute(target, known, values, self.kinds[atom.id])
            return self.elements[place]
        kind = self.kinds[atom.id]
        dtype = ir.dtype_of(kind) or ""
        weak = type(kind) is ir.Scalar and kind.python is True
        dtype = width if weak and dtype in FLOATS else dtype
        return self._param((atom.id, dtype), atom, _scalar(dtype, weak and dtype == "int64"), None)

    def _param(self, key: Any, atom: ir.Atom, kind: ir.Kind, place: Place | None) -> ir.Name:
        """The parameter that stands for something."""
        if key not in self.given:
            named = atom.id if type(atom) is ir.Name else "limit"
            if place is not None and ir.is_temporary(named):
                named = place.root
            self.given[key] = _Given(self.fresh(shown(named)), kind, atom, place)
        return self.given[key].name

    # --- what a kernel can be ---------------------------------------------------------------------

    def fits(self) -> bool:
        """Whether one launch computes the same: every axis is that of an operand, say."""
        return all((self._covers(), self._is_apart(), self._has_room(), self._has_dtypes()))

    def _covers(self) -> bool:
        """Whether the operands tell the lengths of all axes."""
        if self.stored:
            return True
        rank, ranks, axes = self.group.rank, [0], set[int | None]()
        for step in self.group.steps:
            for operand in step.operands:
                if operand.access is not None and type(operand.atom) is ir.Name:
                    ranks.append(len(dims_in(self.group.kinds, operand.atom.id) or ()))
                    axes.update(operand.access.own)
        ones = {k for k, d in enumerate(self.group.dims) if d == 1 and max(ranks) >= rank - k}
        return axes | ones >= set(range(rank))

    def _is_apart(self) -> bool:
        """Whether nothing that is written is the memory of an array without axes."""
        names = [g.atom.id for g in self.given.values()
                 if g.place is None and type(g.atom) is ir.Name]  # fmt: skip
        numbers = [n for n in names if type(self.kinds[n]) is ir.Array]
        share = self.group.shared.share
        return not any(share(n, p.root) for n in numbers for p in self.stored)

    def _has_room(self) -> bool:
        """Whether the parameters are not too many for a launch."""
        count = len(self.given) + len(self.results)
        return count * (24 + 16 * self.group.rank) <= ROOM

    def _has_dtypes(self) -> bool:
        """Whether numbers have the dtypes that elements of the arrays have."""
        found = infer(self.function(), self.param_kinds())
        return all(ir.dtype_of(found.get(n.id)) == dtype for n, dtype in self.checked)

    def param_kinds(self) -> dict[str, ir.Kind]:
        """The kinds of the parameters."""
        return {g.name.id: g.kind for g in self.given.values()}

    def function(self) -> ir.Function:
        """One element of everything."""
        params = tuple(ir.Param(g.name.id) for g in self.given.values())
        results = ir.Tup(tuple(self._ordered()))
        return ir.Function("kernel", params, (*self.out.out, ir.Return(results)))

    def _ordered(self) -> list[ir.Name]:
        """The results: arrays that are written into, then new ones."""
        return [self.results[p] for p in (*self.stored, *self.made)]

    def kernel(self) -> ir.Kernel:
        """The kernel, whose name is still to be given."""
        kinds = tuple(ir.Array(ir.dtype_of(self.kinds[p.root])) for p in self.made)
        result = kinds[0] if len(kinds) == 1 else ir.Tuple(kinds)
        names = tuple(n.id for n in self._ordered())
        return ir.Kernel(self.function(), self.param_kinds(), names, result)  # of any shape


def _scalar(dtype: str, python: bool = False) -> ir.Kind:
    return ir.Scalar(dtype, python)


# --- the launch -----------------------------------------------------------------------------------


class _Launch:
    """What stands for a group: the call, and names for its results."""

    def __init__(self, fusion: Fusion, run: Run, body: _Body) -> None:
        self.fusion, self.run, self.body = fusion, run, body

    def write(self, kernel: ir.Kernel) -> None:
        """The call that makes the results, or that is given arrays to write into."""
        fusion, body = self.fusion, self.body
        given = [g for g in body.given.values() if g.place not in body.stored or g.place is None]
        args = [self.argument(g) for g in given]
        if not body.stored:
            call = ir.Call(kernel, tuple(args), text=kernel.__name__)
            fusion.unpacked(call, [p.root for p in body.made], lambda name, result: result)
            return
        views = [fusion.name_of(p, self.run) for p in body.stored]
        new = [self.allocated(p.root, views[0]) for p in body.made]
        call = ir.Call(kernel, (*args, *views, *new), text=kernel.__name__)
        fusion.out.append(ir.Effect(call, fusion.loc))
        for place, name in zip(body.made, new):
            if name.id != place.root:
                fusion.assign(ir.Name(place.root), name)

    def argument(self, given: _Given) -> ir.Atom:
        """What a parameter is given: a name with the axes that the statements see."""
        place, atom = given.place, given.atom
        part = place is not None and place.index is not None and atom == ir.Name(place.root)
        return self.fusion.name_of(place, self.run) if part and place is not None else atom

    def allocated(self, root: str, like: ir.Name) -> ir.Name:
        """A new array for a result."""
        dtype = ir.dtype_of(self.fusion.given[root]) or "float64"
        return self.fusion.allocated(root, self.fusion.attribute(like, "shape"), dtype)
