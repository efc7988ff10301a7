"""Translation validation: what a function computes before and after every pass.

Takes what a derivative is made from and the arguments of a call; runs the row of passes once more,
and what each pass takes and gives on the interpreter, on copies of the arguments.  Raises a
`ValidationError` that names the first pass after which something else is computed.  This is what
`SRCDIFF_VALIDATE=1` asks for.

Passes give the same bit by bit; those in `REORDERING` up to rounding.  Differentiation itself gives
the value, and a derivative that agrees with differences along a random direction, where these
agree with each other.  What a program prints is kept to itself and compared; a program that may do
something else to the world is not run.  What was left out, and why, is logged.
"""

from __future__ import annotations

import functools
import itertools
import logging
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from srcdiff import ir
from srcdiff.codegen.link import part_request
from srcdiff.driver.arguments import arrays_of, overlap
from srcdiff.driver.pipeline import PRIMAL_PASSES, State, Watch, pair_of, run
from srcdiff.driver.replay import (
    Look,
    Outcome,
    Runner,
    Values,
    World,
    called_with,
    difference,
    effect,
    leaves,
    size,
)
from srcdiff.driver.structures import at, given_at, inner, plus, random_like, with_leaf
from srcdiff.driver.structures import leaves as leaves_of
from srcdiff.errors import TransformError, ValidationError
from srcdiff.frontend.closures import Lifted
from srcdiff.frontend.request import Input, Request
from srcdiff.ir.frozen import frozen, replace
from srcdiff.ir.interpreter import Env, Interpreter, bound_arguments
from srcdiff.primitives.ops import Op, is_op
from srcdiff.primitives.registry import is_builtin, lookup
from srcdiff.runtime.batched import taken
from srcdiff.runtime.copies import copied
from srcdiff.runtime.devices import is_device_array

REORDERING = frozenset(
    {
        "compose", "composed", "with_arrays", "rewrite", "merge_stores", "reorder", "simplify",
        "polished", "forward", "backward", "vectorized", "analyse",
    }
)  # fmt: skip
"""The passes, and rows of passes, that may compute in another order, or NumPy's numbers."""

ROUNDING = 2.0**-42
"""By how much these may change a number, relative to the largest on the way to it."""

_STEPS = (2e-4, 2e-3, 2e-5)
_SLOPE = 1e-5
"""How far a derivative may be from differences by these steps."""
_AGREE = 0.05
"""How far these may be from each other, and bend, by how far they are from the derivative."""
_LARGE = 1e9
"""Numbers in which such steps are lost."""

_log = logging.getLogger("srcdiff.validation")


@frozen(eq=False)
class Step:
    """A pass, and the function before and after it; `row` is the pass of the row it belongs to.

    `marked`: whether before, and after it, operators in place are so by their roles.
    """

    row: str
    name: str
    before: ir.Function
    after: ir.Function
    marked: tuple[bool, bool] = (False, False)

    @property
    def said(self) -> str:
        """What it is called in messages."""
        return f"{self.row}: {self.name}" if self.name else self.row

    @property
    def is_exact(self) -> bool:
        """Whether it gives the same bit by bit."""
        return not {self.row if not self.name else self.name} & REORDERING


# --- one derivative ------------------------------------------------------------------------------


def validate(origin: Any, request: Request, kinds: ir.Kinds, values: Values, pair: bool) -> None:
    """Run all passes of a derivative, or of its two parts, on arguments; raise where one errs."""
    if any(map(is_device_array, values.values())):
        return _log.info("%s: skipped: arrays on a device", request.name)
    plain = replace(request, saves=False)
    _Validation(origin, plain, kinds, values).run(pair)


@dataclass
class _Validation:
    """What is known of one derivative: its passes, the arguments, and what has been run."""

    origin: Any
    request: Request
    kinds: ir.Kinds
    values: Values
    steps: list[Step] = field(default_factory=list)
    outcomes: dict[tuple[int, bool], Outcome | None] = field(default_factory=dict)
    parts: dict[Any, ir.Function] = field(default_factory=dict)
    callees: list[tuple[_Validation, bool]] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    state: State = State(ir.Function("", (), ()), Request(()), {}, None)  # after the last pass
    compared: int = 0

    def run(self, pair: bool) -> None:
        """Run and compare all that there is; of what is refused, what came before that."""
        refusal: TransformError | None = None
        asked = self.origin, self.request, self.kinds
        try:
            watch = lambda *step: self.steps.append(Step(*step))  # noqa: E731
            for _, state in run(*asked, ir.HOST, watch, pair):
                self.state = state
        except TransformError as error:
            refusal = error
        lent = {n: r.value for n, r in self.state.outside.items()}
        self.world = World({**self.values, **lent}, self.values)
        for step in self.steps:
            self.world.add(step.after)
        self.primal_passes()
        if refusal is not None:
            raise refusal
        out = self.outcome(self.primal)
        if out is None or out.error is not None:
            self.left_out["the function raises" if out else "the function is not run"] += 1
        elif self.request.mode == "forward":
            self.forward(out)
        elif pair:
            self.pair(out)
        else:
            self.reverse(out)
        left_out = dict(self.left_out)
        _log.info("%s: %d compared, left out: %s", self.request.name, self.compared, left_out)
        for callee, in_two_parts in self.callees:
            callee.run(in_two_parts)

    # --- what is run

    def outcome(self, function: ir.Function, marked: bool = False) -> Outcome | None:
        """What comes of a function, run once; None where it may not be run.

        `marked`: its operators in place are so by their roles.
        """
        key = id(function), marked
        if key not in self.outcomes:
            reason = effect(function)
            if reason is not None:
                self.left_out[reason] += 1
            self.outcomes[key] = None if reason else self.ran(function, marked)
        return self.outcomes[key]

    def ran(self, function: ir.Function, marked: bool, look: Look | None = None) -> Outcome:
        """What comes of a function."""
        runner = Runner(self.part, look, marked)
        return self.world.run(lambda values: runner.run(function, self.env(function, values)))

    def called(self) -> Outcome | None:
        """What comes of the function itself, as Python runs it."""
        if isinstance(self.origin, Lifted):
            return None
        return self.world.run(
            lambda values: called_with(self.origin, {n: values[n] for n in self.values})
        )

    def env(self, function: ir.Function, values: Values) -> Env:
        """What the parameters of a function stand for."""
        places = {} if self.state.fields is None else self.state.fields.places
        found: Env = {}
        for p in function.params:
            if p.name in values:
                found[p.name] = values[p.name]
            elif p.name in places:
                root, path = places[p.name]
                found[p.name] = at(values[root], path)
            elif p.default is not None:
                found[p.name] = Interpreter().atom(p.default, {})
        return found

    def part(self, fn: ir.Derived, args: list[Any]) -> ir.Function:
        """A function that is generated for a call that stays a call; it is validated later."""
        key = fn.part, fn.key
        if key not in self.parts:
            request = part_request(fn.key, fn.name, fn.part, self.request)
            made = pair_of(fn.key.function, request, dict(fn.key.kinds), ir.HOST)
            names = ("forward", "backward") if fn.part in ("forward", "backward") else (fn.part,)
            if fn.part != "backward":
                kinds = dict(fn.key.kinds)
                given = dict(zip(kinds, copied(args)))
                callee = _Validation(fn.key.function, request, kinds, given)
                self.callees.append((callee, fn.part == "forward"))
            self.parts.update(((name, fn.key), one) for name, one in zip(names, made))
        return self.parts[key]

    # --- what is compared

    def primal_passes(self) -> None:
        """Compare what passes make of the function itself."""
        rows = [s for s in self.steps if s.row in PRIMAL_PASSES]
        at = PRIMAL_PASSES.index("select")
        after = [s for s in rows if PRIMAL_PASSES.index(s.row) >= at]
        selected = {id(s.after) for s in after} | {id(s.before) for s in after if s.row != "select"}
        # From the last time on that operators in place are resolved, marks mean nothing.
        resolved = [k for k, s in enumerate(rows) if s.name == "inplace"]
        last = max(resolved, default=len(rows))
        early = {id(f) for s in rows[:last] for f in (s.before, s.after)}
        for k, step in enumerate(rows):
            whole = not step.name and step.row == "inplace" and id(step.before) in early
            rows[k] = replace(step, marked=(k <= last or whole, k < last))
        whole = self.state.fields is None
        for step in rows:
            if step.row == "lower":
                before = self.called() if self.outcome(step.after, step.marked[1]) else None
            else:
                before = self.outcome(step.before, step.marked[0])
            here = functools.partial(self.whole, selected)
            contents = whole and step.row not in ("inplace", "analyse")
            self.compare(step, before, self.outcome(step.after, step.marked[1]), contents, here)
        self.primal = rows[-1].after if rows else self.state.function

    def whole(self, selected: set[int], function: ir.Function, value: Any) -> Any:
        """What the function returns, without the outputs that are selected from it."""
        if id(function) not in selected:
            return value
        return value[0][0] if self.request.written else value[0]

    def forward(self, out: Outcome) -> None:
        """Compare the function with tangents, and the tangents."""
        facts, rng = self.state.facts, np.random.default_rng(1)
        assert facts is not None
        names = {i.param: facts.adjoints[i.param] for i in self.request.inputs}
        moves = {n: random_like(rng, self.values[n]) for n in names}
        self.world.values.update({names[n]: along for n, along in moves.items()})
        weights = random_like(rng, out.value[1])
        made = self.row("tangents")
        found = self.outcome(made.after)
        self.compare(made, out, found, False, lambda _, value: value[0])
        if found is not None and found.error is None:
            slope = inner(found.value[1], weights)
            self.check_slope([(Input(n), d) for n, d in moves.items()], weights, slope, made)
        self.compare_all("simplify", "name")

    def reverse(self, out: Outcome) -> None:
        """Compare the value beside a gradient, and the gradient."""
        facts = self.state.facts
        assert facts is not None
        weights = self.world.values[facts.seed] = self.cotangent(out)
        made = self.row("tape")
        found = self.outcome(made.after)
        if self.request.value:
            self.compare(made, out, found, False, lambda _, value: value[0])
        self.check_kept(made, found)
        if found is not None and found.error is None:
            gradient = self.request.gradients_of(found.value)
            self.check_gradient(gradient, weights, made)
        self.compare_all("simplify", "name")

    def pair(self, out: Outcome) -> None:
        """Compare the value of a forward part, and what a backward part gives."""
        one, two = self.state.extra["parts"]
        made = replace(self.row("pair"), after=one)
        forward = self.outcome(one)
        self.compare(made, out, forward, False, lambda _, value: value[0])
        self.check_kept(made, forward)
        if forward is None or forward.error is not None:
            return
        residuals, seed = (p.name for p in two.params)
        weights = self.cotangent(out)
        self.world.values.update({residuals: forward.value[1], seed: weights})
        backward = self.outcome(two)
        if backward is None or (backward.error is not None and self.request.internal):
            self.left_out["a cotangent of a call"] += 1
            return
        if not self.request.internal:
            self.check_kept(replace(made, after=two), backward)
            self.check_gradient(backward.value, weights, made)
        down = self.state.extra["backward"]
        ends = ("forward", one, self.state.function), ("backward", two, down)
        self.steps += [Step("simplify", *end) for end in ends]
        self.compare_all("pair", "simplify")

    def cotangent(self, out: Outcome) -> Any:
        """A random cotangent of the outputs."""
        value = out.value[1]
        if type(value) is int:  # the sum of no numbers
            value = float(value)
        return random_like(np.random.default_rng(1), value)

    def row(self, label: str) -> Step:
        """A pass of the row."""
        return [s for s in self.steps if s.row == label and not s.name][-1]

    def compare_all(self, *rows: str) -> None:
        """Compare what passes make of a finished function."""
        with_adjoints = [s.before for s in self.steps if s.row == "pair" and not s.name]
        for step in self.steps:
            if step.row in rows and not any(step.before is f for f in with_adjoints):
                self.compare(step, self.outcome(step.before), self.outcome(step.after), True)

    def compare(
        self,
        step: Step,
        before: Outcome | None,
        after: Outcome | None,
        contents: bool,
        part: Callable[[ir.Function, Any], Any] = lambda _, value: value,
    ) -> None:
        """Compare what a function computes before and after a pass.

        `contents`: what the arguments hold in the end as well; `part` takes out what is returned.
        """
        if before is None or after is None or before.error is not None:
            return
        if step.row in ("lower", "inline") and type(after.error) is NameError:
            self.left_out["a function made in the function"] += 1
            return
        self.compared += 1
        self.check_error(step, after)
        one = part(step.before, before.value), before.left if contents else None
        two = part(step.after, after.value), after.left if contents else None
        found = difference(one, two, None)
        if found is not None and not step.is_exact:
            found = difference(one, two, self.slack(step))
        if found is not None:
            raise self.changed(step, found)
        if before.printed != after.printed:
            raise self.changed(step, (before.printed, after.printed))

    def slack(self, step: Step) -> float | None:
        """By how much a pass may change a number, None if by nothing."""
        return None if step.is_exact else ROUNDING * self.largest(step.before, step.marked[0])

    def largest(self, function: ir.Function, marked: bool = False) -> float:
        """The largest number on the way to what a function gives, as large as it is rounded."""
        found = [1.0]

        def look(_: ir.Loc, name: str, value: Any) -> None:
            found.extend(map(_slack, leaves(value)))

        self.ran(function, marked, look)
        return max(size for size in found if np.isfinite(size))

    def check_kept(self, step: Step, out: Outcome | None) -> None:
        """A derivative leaves its arguments as they are."""
        if out is None:
            return
        self.check_error(step, out)
        if self.state.fields is not None and self.state.fields.stored:
            return  # what is stored in objects, beside what has a derivative, is stored
        found = difference(dict(self.values), out.left, None)
        if found is not None:
            raise self.changed(step, found)

    def check_error(self, step: Step, out: Outcome) -> None:
        """A function raises no error that it did not; what it calls may be refused."""
        if isinstance(out.error, TransformError):
            raise out.error
        if out.error is not None:
            said = f"{type(out.error).__name__}: {out.error}"
            raise self.changed(step, (_Said("no error"), _Said(said)))

    def changed(self, step: Step, found: tuple[Any, Any]) -> ValidationError:
        """The error that names a pass, with the first statement that computes something else."""
        place, one, two = self.first(step) or (step.after.body[-1].loc, *found)
        return ValidationError(step.said, step.after.name, place, *_shown(one, two))

    def first(self, step: Step) -> tuple[ir.Loc, Any, Any] | None:
        """The first statement at which a variable stands for something else than before."""
        if step.row == "lower" or step.row not in PRIMAL_PASSES and step.row != "simplify":
            return None
        before: dict[Any, list[Any]] = defaultdict(list)
        for variable, _, value in self.bound(step.before, step.marked[0]):
            before[variable].append(value)
        after, slack = self.bound(step.after, step.marked[1]), self.slack(step)
        # Of temporaries there may be others now: they come last.
        for variable, loc, value in sorted(after, key=lambda found: found[0][-1].startswith("_")):
            olds = before[variable]
            if olds and difference(old := olds.pop(0), value, slack):
                return loc, old, value
        return None

    def bound(self, function: ir.Function, marked: bool) -> list[tuple[Any, ir.Loc, Any]]:
        """What a function binds, in order: variables of the user's by their lines, with values."""
        found: list[tuple[Any, ir.Loc, Any]] = []

        def look(loc: ir.Loc, name: str, value: Any) -> None:
            own = name.rstrip("0123456789").rstrip("_")  # whatever it is called there
            found.append(((loc.file, loc.line, own), loc, copied(value)))

        self.ran(function, marked, look)
        return found

    # --- derivatives against differences

    def check_gradient(self, gradient: Any, weights: Any, step: Step) -> None:
        """Compare a gradient along a random direction with differences."""
        rng, moves, slope = np.random.default_rng(2), [], 0.0
        for item, part in zip(self.request.inputs, self.request.listed(gradient)):
            along = random_like(rng, given_at(self.values[item.param], item, self.origin))
            moves.append((item, along))
            slope += inner(part, along)
        self.check_slope(moves, weights, slope, step)

    def check_slope(
        self, moves: list[tuple[Input, Any]], weights: Any, slope: float, step: Step
    ) -> None:
        """Compare a derivative along a direction of the inputs with differences, if it is one."""
        reason = self.no_differences() if np.isfinite(slope) else "a derivative that is not finite"
        found = None if reason else self.differences(moves, weights, slope)
        if found is None:
            self.left_out[reason or "not smooth"] += 1
            return
        self.compared += 1
        if abs(found - slope) > _SLOPE * max(1.0, abs(slope)):
            if self.largest(self.primal) > _LARGE:
                self.left_out["numbers in which differences are lost"] += 1
                return
            made = replace(step, row=f"differentiation ({step.row})")
            said = _Said(f"{found!r} along a random direction, by differences"), _Said(repr(slope))
            raise self.changed(made, said)

    def no_differences(self) -> str | None:
        """Why differences say nothing of a derivative; None if they do."""
        found = list(leaves(dict(self.values)))
        if any(np.asarray(v).dtype.itemsize * (1 + np.isrealobj(v)) < 16 for v in found):
            return "not in double precision"
        if any(itertools.starmap(overlap, itertools.combinations(arrays_of(self.values), 2))):
            return "arguments share memory"
        if self.request.strong_zeros or any(map(_is_declared, ir.calls(self.primal.body))):
            return "a derivative that is declared"
        return None

    def differences(
        self, moves: list[tuple[Input, Any]], weights: Any, slope: float
    ) -> float | None:
        """The slope by differences that is nearest to one; None if these do not agree."""
        base, bend, found = self.moved(moves, weights, 0.0), 0.0, []
        for step in _STEPS:
            up, down = (self.moved(moves, weights, t) for t in (step, -step))
            half, back = (self.moved(moves, weights, t) for t in (step / 2, -step / 2))
            if None in (base, up, down, half, back):
                return None
            coarse, fine = (up - down) / (2 * step), (half - back) / step
            found.append(float(4 * fine - coarse) / 3)
            bend = abs(up - 2 * base + down) / step
            if abs(found[-1] - slope) <= _SLOPE * max(1.0, abs(slope)):
                return found[-1]
        error = min(abs(d - slope) for d in found)
        smooth = max(found) - min(found) < _AGREE * error and bend < _AGREE * error
        return found[-1] if smooth else None

    def moved(self, moves: list[tuple[Input, Any]], weights: Any, step: float) -> Any:
        """The weighted outputs, some way along a direction; None where they are not finite."""
        def run(values: dict[str, Any]) -> Any:
            for item, along in moves:
                value = values[item.param]
                new = plus(at(value, item.path), step, leaves_of(along))
                values[item.param] = with_leaf(value, item.path, new)
            runner = Runner(self.part, None, False, True)
            return runner.run(self.primal, self.env(self.primal, values))

        out = self.world.run(run)
        if out.error is not None:
            return None
        found = inner(out.value[1], weights)
        return found if np.isfinite(found) else None


# --- batches -------------------------------------------------------------------------------------


def validate_batch(
    derive: Callable[[Watch], Any], args: tuple[Any, ...], kwargs: Values, tangents: int
) -> None:
    """Run the passes that make a function for a batch, which `derive` runs, on its arguments.

    Of what it gives each item has to be what the function for a single one gives.  `tangents` is
    how many it takes, 0 for a backward part, which takes residuals and a cotangent.

    Raises:
        ValidationError: one of them changes what is computed.
    """
    steps: list[Step] = []
    derive(lambda *step: steps.append(Step(*step)))
    first = next(s for s in steps if len(s.after.params) > len(s.before.params))
    single = {p.name for p in first.before.params}
    place = next(k for k, p in enumerate(first.after.params) if p.name not in single)
    values = bound_arguments(steps[-1].after, args, kwargs)
    length = values[first.after.params[place].name]
    many = [p.name for p in first.after.params[place - (tangents or 1) : place]]
    world = World(values, {})
    world.add(first.after)

    def ran(function: ir.Function, given: Values) -> Outcome:
        runner = Runner(_no_part, None, False)
        return world.run(lambda now: runner.run(function, {**now, **given}))

    before = [
        ran(first.before, {n: taken(values[n], k) for n in many}) for k in range(min(length, 3))
    ]
    if any(out.error for out in before):
        return
    for step in steps[steps.index(first) :]:
        after = ran(step.after, {})
        for k, out in enumerate(before):
            one = out.value[1] if tangents else out.value
            two = after.error or taken(after.value[1] if tangents else after.value, k)
            slack = ROUNDING * max([1.0, *map(_slack, leaves(one))])
            found = difference(one, two, slack)
            if found is not None:
                raise ValidationError(step.said, step.after.name, step.after.loc, *_shown(*found))


def _no_part(fn: ir.Derived, args: list[Any]) -> ir.Function:
    """Functions for batches call none that are still to be generated."""
    raise NotImplementedError(fn.name)


def _is_declared(call: ir.Call) -> bool:
    """Whether the derivative of a function is what somebody has said, whatever it computes."""
    if is_op(call, Op.STOP_GRADIENT, Op.HOOK):
        return True
    rule = None if isinstance(call.fn, (ir.Name, ir.Derived)) else lookup(call.fn)
    return rule is not None and not is_builtin(rule)


def _slack(leaf: Any) -> float:
    """How large the largest number in a leaf is, and how much more is rounded than in doubles."""
    return size(leaf) * float(np.finfo(np.asarray(leaf).dtype).eps) * 2.0**52


class _Said(str):
    """A value in words."""

    __slots__ = ()


def _shown(one: Any, two: Any) -> tuple[str, str]:
    """Two values that differ, of large arrays the first elements that do."""
    if isinstance(one, np.ndarray) and isinstance(two, np.ndarray) and one.shape == two.shape:
        other = np.argwhere(~((one == two) | ((one != one) & (two != two))))
        if one.size > _FEW and len(other):
            at = tuple(map(int, other[0]))
            return f"{one[at]!r} at {list(at)}", f"{two[at]!r} at {list(at)}"
    return _repr(one), _repr(two)


_FEW = 8


def _repr(value: Any) -> str:
    """A value as text on one line."""
    if isinstance(value, _Said):
        return str(value)
    with np.printoptions(floatmode="unique", threshold=_FEW, edgeitems=2):
        return " ".join(repr(value).split())[:200]
