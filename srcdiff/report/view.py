"""What a report shows: the lines of a function and of its gradient, and what is known of them.

Takes a derivative and the kinds of its arguments; gives the lines with their partners, the values
that are saved, the work of every line, and what a reader should know of: kinks, branches, copies,
inputs without influence.
"""

from __future__ import annotations

import contextlib
import re
import types
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from srcdiff import ir
from srcdiff.analysis.activity import reachable
from srcdiff.api.profile import Tracer, backward_line
from srcdiff.autodiff.tape.needs import exposed
from srcdiff.backends.loader import compile_text
from srcdiff.codegen.emit import Made
from srcdiff.driver.derivative import Derivative
from srcdiff.driver.guards import watched
from srcdiff.driver.pipeline import State, analysed, derive
from srcdiff.driver.second_order import effects
from srcdiff.frontend.request import spelled
from srcdiff.frontend.signatures import arguments
from srcdiff.frontend.source.locate import definition, lines_of
from srcdiff.ir.frozen import frozen
from srcdiff.primitives.effects import asked
from srcdiff.primitives.operation import Meaning, op_of
from srcdiff.primitives.ops import Op, is_op
from srcdiff.primitives.registry import name_of
from srcdiff.report.costs import Costs, halves, lengths, shown
from srcdiff.runtime.service import is_derivative
from srcdiff.texts import line_of

_KINKS = (
    Op.ABS, Op.ABSOLUTE, Op.FABS, Op.MAXIMUM, Op.MINIMUM, Op.FMAX, Op.FMIN, Op.AMAX, Op.AMIN,
    Op.CLIP, Op.NP_SORT, Op.MEDIAN, Op.MAX, Op.MIN,
)  # fmt: skip
_STEPS = (
    Op.SIGN, Op.FLOOR, Op.CEIL, Op.NP_ROUND, Op.TRUNC, Op.RINT, Op.ARGMAX, Op.ARGMIN, Op.ARGSORT,
    Op.HEAVISIDE, Op.ROUND, Op.FLOORDIV, Op.FLOOR_DIVIDE,
)  # fmt: skip


def warnings(derivative: Derivative, kinds: Mapping[str, ir.Kind], made: Made) -> list[str]:
    """What a reader should know of, the unused inputs first."""
    state = analysed(derivative.origin, derivative.request, kinds, ir.HOST)
    assert state.facts is not None
    active = state.facts.active
    unused = (i for i in state.request.inputs if not active & set(i.params))
    out = [f"`{spelled(i.param, i.path)}` has no influence on the output." for i in unused]
    out += [f"`{name}` is copied, because the function writes into it." for name in made.written]
    if derivative.request.mode == "reverse":  # in forward mode the statements hold tangents, too
        out += _of_statements(state.function.body, active, _varied(state))
    return list(dict.fromkeys([*out, *_copies(made.functions[0][0])]))


def _varied(state: State) -> frozenset[str]:
    """The values that are computed from the inputs, whether they reach an output or not."""
    made = [s for s in ir.walk(state.function) if isinstance(s, ir.Assign)]
    kinds = [(s, state.kinds.get(s.target.id)) for s in made]
    real = [s for s, k in kinds if not isinstance(k, ir.Scalar) or k.dtype not in ("int64", "bool")]
    inputs = [p for i in state.request.inputs for p in i.params]
    return reachable(inputs, [(n, s.target.id, s) for s in real for n in ir.reads(s)])


def _of_statements(body: ir.Block, active: frozenset[str], varied: frozenset[str]) -> Iterator[str]:
    """Where the slope of a function jumps, as far as a derivative flows there."""
    compared: set[str] = set()
    for stmt in ir.walk(body):
        where = f"Line {stmt.loc.line}:"
        if isinstance(stmt, (ir.If, ir.While)) and compared.intersection(ir.names(stmt.test)):
            yield f"{where} the branch {_CHOOSES}"
        if not isinstance(stmt, ir.Assign):
            continue
        call, reads = ir.call_of(stmt), set(ir.reads(stmt))
        compares = call is not None and op_of(call.fn).means(Meaning.COMPARED)
        if compared & reads or varied & reads and compares:
            compared.add(stmt.target.id)
        if call is None or not reads & active or not stmt.loc.line:
            continue
        if is_op(call, *_KINKS):
            yield f"{where} {name_of(call.fn)} may have a kink, where the slope jumps."
        elif is_op(call, *_STEPS):
            yield f"{where} {name_of(call.fn)} has steps, and between them no slope."
        elif is_op(call, Op.WHERE) and compared & reads:
            yield f"{where} where {_CHOOSES}"


_CHOOSES = "depends on the inputs: the derivative is that of what is chosen."


def _copies(function: ir.Function) -> Iterator[str]:
    """Adjoints that are copied, since what they are added to may be the same memory."""
    for stmt in ir.walk(halves(function)[1]):
        if is_op(ir.call_of(stmt), Op.COPY) and stmt.loc.line:
            yield (
                f"Line {stmt.loc.line}: backwards a part of an adjoint is copied, because "
                "it shares memory with what it is added to."
            )


# --- the view -------------------------------------------------------------------------------------


@frozen
class Line:
    """One line: its number, its text, and the primal line that it shares with its partners."""

    number: int
    text: str
    key: str
    active: bool = False


@frozen
class Source:
    """The lines of one function."""

    title: str
    lines: tuple[Line, ...]


@frozen
class Saved:
    """A value that the backward part reads: where it was made, what for, and how large it was."""

    name: str
    reason: str
    key: str
    size: str


@frozen
class Work:
    """What one primal line costs: operations forwards and backwards."""

    key: str
    code: str
    forward: str
    backward: str


@frozen
class View:
    """A whole report."""

    title: str
    what: str
    inputs: tuple[str, ...]
    primals: tuple[Source, ...]
    adjoint: Source
    saved: tuple[Saved, ...]
    work: tuple[Work, ...]
    warnings: tuple[str, ...]

    @property
    def has_backward(self) -> bool:
        """Whether there is a backward part."""
        return self.what.startswith("Gradient")

    @property
    def has_symbols(self) -> bool:
        """Whether counts are in lengths that are not known."""
        return any(c.isalpha() for w in self.work for c in w.forward + w.backward)


def view(
    derivative: Derivative, kinds: Mapping[str, ir.Kind], example: tuple[Any, ...] | None = None
) -> View:
    """The report of a gradient for arguments of some kinds, with sizes if there are arguments."""
    made = derive(derivative.origin, derivative.request, kinds, ir.HOST)
    is_forward = derivative.request.mode == "forward"
    function = made.functions[0][0]
    adjoint = _adjoint(made)
    first = 0 if is_forward else _backward_line(adjoint)
    active = {line.key for line in adjoint.lines if line.number > first} - {""}
    shown = {line.key for line in adjoint.lines} - {""}
    sizes = {} if example is None or is_forward else _sizes(derivative, made, example)
    return View(
        function.name,
        "Derivative along a direction of" if is_forward else "Gradient with respect to",
        tuple(spelled(i.param, i.path) for i in derivative.request.inputs),
        _primals(derivative, kinds, shown, active),
        adjoint,
        () if is_forward else tuple(_saved(function, adjoint, sizes)),
        tuple(_work(made, derivative, example)),
        tuple(warnings(derivative, kinds, made)),
    )


def _key(loc: ir.Loc) -> str:
    """What lines of one primal line have in common."""
    return f"{loc.file.rsplit('/', 1)[-1]}:{loc.line}" if loc.line else ""


def _adjoint(made: Made) -> Source:
    """The generated text."""
    lines = []
    for k, line in enumerate(made.emitted.text.rstrip().split("\n"), 1):
        loc = made.emitted.lines.get(k, ir.NOWHERE)
        header = line.startswith("def ") or '"""' in line
        lines.append(Line(k, line, "" if header else _key(loc)))
    return Source(made.functions[0][0].name, tuple(lines))


def _backward_line(source: Source) -> int:
    """The line on which the backward part begins."""
    return backward_line([line.text for line in source.lines])


def _primals(
    derivative: Derivative, kinds: Mapping[str, ir.Kind], shown: set[str], active: set[str]
) -> tuple[Source, ...]:
    """The user's functions that some generated line comes from."""
    found: list[Source] = []
    origin = derivative.origin
    functions = [f for f, *_ in watched(origin, kinds).functions]
    if is_derivative(origin):  # what is differentiated is the text of a gradient
        functions.insert(0, origin.for_kinds(kinds))
    for function in functions:
        if function.__code__.co_filename.startswith("<string>"):
            continue
        source = _primal(function, shown, active)
        if not found or any(line.key for line in source.lines):
            found.append(source)
    return tuple(found)


def _primal(function: types.FunctionType, shown: set[str], active: set[str]) -> Source:
    """The lines of one function of the user's."""
    lines = lines_of(function)
    node = definition(function, lines)
    file = function.__code__.co_filename
    made = []
    for number in range(node.lineno, (node.end_lineno or node.lineno) + 1):
        key = _key(ir.Loc(file, number))
        known = key if key in shown else ""
        made.append(Line(number, lines[number - 1].rstrip("\n"), known, key in active))
    where = "generated" if file.startswith(ir.GENERATED) else file.rsplit("/", 1)[-1]
    return Source(f"{function.__qualname__} ({where})", tuple(made))


def _work(made: Made, derivative: Derivative, example: tuple[Any, ...] | None) -> Iterator[Work]:
    """The operations of the primal lines, in the order of their places."""
    known = {} if example is None else lengths(arguments(derivative.origin, (), example, {}))
    costs = Costs(*made.functions[0], known)
    for loc in sorted({*costs.forward, *costs.backward}, key=lambda at: (at.file, at.line)):
        counts = (part.get(loc, Counter()) for part in (costs.forward, costs.backward))
        code = line_of(loc.file, loc.line).strip()
        if loc.line and code:
            yield Work(_key(loc), f"{loc.line}: {code}", *map(shown, counts))


# --- what is saved -------------------------------------------------------------------------------


def _saved(function: ir.Function, adjoint: Source, sizes: Mapping[str, str]) -> list[Saved]:
    """The values of the forward part that the backward part reads."""
    forward, backward = halves(function)
    text = "\n".join(line.text for line in adjoint.lines[: _backward_line(adjoint)])
    needed = exposed(backward)[0] & ir.bound(forward)
    out = []
    for name in sorted(needed):
        if re.search(rf"^\s*(?:[\w, ()*]*\b)?{name}\b[\w, ()*]*(?: = |\[| [-+*/@]+= )", text, re.M):
            reader = _reader(backward, name)
            code = line_of(reader.loc.file, reader.loc.line).strip()
            reason = f"line {reader.loc.line}: {code}" if code else "the backward part"
            out.append(Saved(name, reason, _key(reader.loc), sizes.get(name, "")))
    return out


def _reader(block: ir.Block, name: str) -> ir.Stmt:
    """The statement that a value is kept for: for a list, that reads what is taken from it."""
    readers = [s for s in ir.walk(block) if name in ir.reads(s)]
    if name.endswith("_saved"):
        taken, places = ir.bound(tuple(readers[:1])), list(ir.walk(block))
        later = places[places.index(readers[0]) + 1 :]
        readers = [s for s in later if taken & set(ir.reads(s))] or readers
    looking = (s for s in readers if not asked(ir.call_of(s)).issuperset(ir.reads(s)))
    return next(looking, readers[0])


def _sizes(derivative: Derivative, made: Made, example: tuple[Any, ...]) -> dict[str, str]:
    """How many bytes the local variables hold when the backward part begins: it is run once.

    What prints, writes files or draws random numbers is not run; nothing is known of its sizes.
    """
    name, text = derivative.request.name, made.emitted.text
    tracer = Tracer(compile_text(text, made.emitted.refs, name), text)
    if next(effects(tracer.function), None) is None:
        # Where an output needs a cotangent the forward part has run.
        with contextlib.suppress(ValueError, RuntimeError):
            tracer.run(*example)
    return {variable: _size(count) for variable, count in tracer.held.items()}


def _size(count: float) -> str:
    """Bytes, as a person reads them."""
    for unit in ("B", "KiB", "MiB"):
        if count < 1024:
            return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"
        count /= 1024
    return f"{count:.1f} GiB"
