"""`python -m tests.corpus.blind [each] [SEED] [MODE ...] [NAME ...]`: the corpus without spellings.

Names and texts are for people.  Here every local variable that is not a parameter gets a random
name after a pass, of the same looks as any other: one of the user's may begin with `_` or `d_`,
and one of the compiler's with neither; and calls lose the texts that they are shown by.  What a
program gives then has to be what it gives otherwise.

A pass is a row of the pipeline, or one inside of a row (`Typed.by`).  Parameters keep their names,
as callers know them: those of the function, of objects in them that were taken apart, of cotangents
and of tangents.  Outputs are asked for by position, by key or as parameters.  The names inside of
functions that the program makes are renamed once these are part of it.

Of each program, or of those in whose names one of the words occurs, the gradient (`grad`), the two
parts of a pullback (`vjp`) and the tangent (`jvp`) are made blind after all passes; with `each`
after each pass alone as well.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import random
import sys
import warnings
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, KeysView, Mapping, ValuesView
from typing import Any
from unittest import mock

import numpy as np

from srcdiff import ir
from srcdiff.api.forward import forward_of
from srcdiff.driver import executable, pipeline
from srcdiff.driver.derivative import Derivative
from srcdiff.driver.options import Options
from srcdiff.driver.pipeline import State
from srcdiff.driver.pullback import recorded
from srcdiff.driver.replay import difference, leaves, size
from srcdiff.driver.structures import random_like
from srcdiff.errors import SrcdiffError
from srcdiff.ir.frozen import replace
from srcdiff.ir.nodes import Reader, Statement
from srcdiff.kinds.interpreter import Typed
from srcdiff.normalize.summaries import induction
from srcdiff.runtime import service
from tests.programs import PROGRAMS, Program
from tests.support import structures as st
from tests.support.differences import Problem, positional

MODES = ("grad", "vjp", "jvp")
ROUNDING = 2.0**-42  # sums are formed in another order where other names are sorted
EVERY = "every"

_FRONTS = ("", "", "_", "_t_", "_n_", "d_", "d__", "d__t_", "steps_")
_ENDS = ("", "", "_saved", "_out", "_1", "_2_3")


class Blind:
    """Takes the spelling out of functions after some passes, deterministically."""

    def __init__(self, after: str, seed: int) -> None:
        self.after = after
        self.random = random.Random(seed)
        self.labels: dict[str, None] = {}
        self.count = 0
        self.now: dict[str, str] = {}  # what names are called by now, inside of a row
        self.inside = False

    def is_after(self, label: str) -> bool:
        """Whether a pass is one of those after which spellings go."""
        self.labels[label] = None
        return self.after in (EVERY, label)

    def name(self) -> str:
        """A name that no function has."""
        self.count += 1
        letters = "".join(self.random.choices("abcdefghijklmnopqrstuvwxyz", k=5))
        front, end = self.random.choice(_FRONTS), self.random.choice(_ENDS)
        return f"{front}{letters}{self.count}{end}"

    def names(self, function: ir.Function, kept: set[str], more: set[str]) -> dict[str, str]:
        """New names for the variables of a function that are not kept."""
        old = (ir.all_names(function) | more) - kept - {p.name for p in function.params}
        return {n: self.name() for n in sorted(old)}

    def by(self, plain: Callable[..., Typed], typed: Typed, one: Any, *more: Any) -> Typed:
        """A function after a pass inside of a row, which is given what went before it is blind."""
        if self.inside:
            return plain(typed, one, *more)
        here = ir.all_names(typed.function)
        past = {old: new for old, new in self.now.items() if old not in here}
        self.inside = True
        try:
            after = plain(typed, one, *map(_Renamed(past), more))
        finally:
            self.inside = False
        if not self.is_after(one.__name__):
            return after
        seeds = ir.all_names(after.function) - ir.bound(after.function.body)
        new = self.names(after.function, {*typed.params, *seeds}, set())
        self.now = {old: new.get(now, now) for old, now in {**new, **self.now}.items()}
        return Typed(_Renamed(new)(after.function), after.params, after.seen)

    def state(self, label: str, state: State) -> State:
        """What the passes hand on after one of them."""
        here = ir.all_names(state.function)
        past = _Renamed({old: new for old, new in self.now.items() if old not in here})
        state = _renamed(state, state.function, past)
        if not self.is_after(label):
            return state
        facts = state.facts
        kept = {*state.params, *state.outside}
        kept |= set() if state.fields is None else set(state.fields.places)
        more: set[str] = set()
        if facts is not None:
            kept.add(facts.seed)
            more = {*facts.kinds, *facts.adjoints, *facts.adjoints.values(), *facts.made}
        new = self.names(state.function, kept, more)
        renamed = _Renamed(new)
        return _renamed(state, renamed(state.function), renamed)


def _renamed(state: State, function: ir.Function, renamed: _Renamed) -> State:
    """A state with another function, and what is known of it with other names."""
    facts, extra, theirs = map(renamed, (state.facts, state.extra, state.theirs))
    return replace(state, function=function, facts=facts, extra=extra, theirs=theirs)


class _Renamed:
    """What holds nodes and names with other names, and calls without texts."""

    def __init__(self, new: Mapping[str, str]) -> None:
        self.new = new

    def __call__(self, value: Any) -> Any:
        """A value with the names in it replaced."""
        if isinstance(value, str):
            return self.new.get(value, value)
        if isinstance(value, ir.Function):
            return replace(value, body=self.block(value.body))
        if isinstance(value, Statement):
            return self.block((value,))[0]
        if isinstance(value, (ir.Name, Reader)):
            return ir.map_rhs(lambda n: ir.Name(self(n.id)), value)
        if isinstance(value, ir.Fresh):
            value.taken.update(self.new.values())
            return value
        if isinstance(value, Counter):
            return Counter({self(k): v for k, v in value.items()})
        if isinstance(value, (KeysView, ValuesView)):
            return list(map(self, value))
        if isinstance(value, Mapping):
            return {self(k): self(v) for k, v in value.items()}
        if isinstance(value, (tuple, list, set, frozenset)):
            return type(value)(map(self, value))
        if type(value).__module__ in _FACTS and dataclasses.is_dataclass(value):
            fields = [f.name for f in dataclasses.fields(value) if f.init]
            return replace(value, **{n: self(getattr(value, n)) for n in fields})
        return value

    def block(self, block: ir.Block) -> ir.Block:
        """A block with other names, and calls without texts."""
        return ir.replaced(ir.rename(block, self.new), _without_text)


_FACTS = ("srcdiff.analysis.facts", "srcdiff.analysis.aliases", "srcdiff.analysis.points_to")


def _without_text(stmt: ir.Stmt) -> ir.Stmt:
    """A statement whose call has no text."""
    if isinstance(stmt, ir.For) and isinstance(stmt.iter, ir.Call):
        return replace(stmt, iter=replace(stmt.iter, text=None))
    call = ir.call_of(stmt)
    return stmt if call is None else replace(stmt, rhs=replace(call, text=None))


@contextlib.contextmanager
def anew() -> Iterator[None]:
    """Nothing that was made is found again."""
    with (
        mock.patch.object(service, "_table", lambda f: service._Table()),
        mock.patch.object(executable, "_kept", OrderedDict()),
    ):
        yield


@contextlib.contextmanager
def blindly(blind: Blind) -> Iterator[None]:
    """Passes are blind."""

    def blinded(label: str, one: Callable[[State], State]) -> Callable[[State], State]:
        def row(state: State) -> State:
            around, blind.now = (blind.now, blind.inside), {}
            blind.inside = False
            try:
                return blind.state(label, one(state))
            finally:
                blind.now, blind.inside = around

        return row

    def assumed(*given: Any) -> Typed:
        """What is assumed of a recursive function while its summary is made is no row."""
        around, blind.inside = blind.inside, True
        try:
            return typed(*given)
        finally:
            blind.inside = around

    typed = induction._typed
    by = functools.partialmethod(_by, blind, Typed.by)
    with anew(), contextlib.ExitStack() as stack:
        for row in ("PASSES", "FORWARD_PASSES", "PAIR_PASSES"):
            passes = tuple((label, blinded(label, one)) for label, one in getattr(pipeline, row))
            stack.enter_context(mock.patch.object(pipeline, row, passes))
        stack.enter_context(mock.patch.object(Typed, "by", by))
        stack.enter_context(mock.patch.object(induction, "_typed", assumed))
        yield


def _by(typed: Typed, blind: Blind, plain: Callable[..., Typed], one: Any, *more: Any) -> Typed:
    return blind.by(plain, typed, one, *more)


def found(program: Program, mode: str) -> Any:
    """The value and a derivative of a program at its arguments."""
    problem = Problem(program.function, program.arguments(), program.inputs, program.outputs)
    rng = np.random.default_rng(1)
    weights = random_like(rng, problem.output())
    args, kwargs = positional(program.function, problem.arguments())
    options = Options(program.inputs, program.outputs, "zeros", value=mode == "grad")
    if mode == "jvp":
        inputs = tuple(st.paths(program.function, program.inputs))
        if not set(inputs) <= set(problem.names):
            raise SrcdiffError("a part of an argument is an input")
        tangents = tuple(random_like(rng, problem.names[n]) for n in inputs)
        return forward_of(program.function, options, inputs).along(args, kwargs, tangents)
    made = Derivative(program.function, options)
    if mode == "grad":
        return made(*args, grad_outputs=weights, **kwargs)
    value, pull = recorded(made.pair(*args, **kwargs), (*made.receiver, *args), kwargs)
    return value, pull(weights)


class SpellingError(AssertionError):
    """A spelling decides what a program computes."""


def plain(program: Program, mode: str) -> Any:
    """What a program gives."""
    with anew(), quiet():
        return found(program, mode)


def check(program: Program, mode: str, blind: Blind, expected: Any) -> None:
    """Compare what a program gives with what it gives otherwise.

    Raises:
        SpellingError: it is refused, fails or gives something else blind.
    """
    with blindly(blind), quiet():
        try:
            given = found(program, mode)
        except Exception as error:
            raise SpellingError(f"{type(error).__name__}: {error}") from error
    slack = ROUNDING * max([1.0, *map(size, leaves(expected))])
    changed = difference(expected, given, slack)
    if changed is not None:
        raise SpellingError(f"{changed[1]!r} instead of {changed[0]!r}")


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Without warnings."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def run(
    chosen: list[Program], modes: tuple[str, ...], each: bool, seed: int, say: Callable[[str], None]
) -> Counter[str]:
    """Check programs; how many runs gave the same, were refused, failed, or showed a spelling.

    `each`: after each pass alone, too.
    """
    counts: Counter[str] = Counter()
    for program in chosen:
        for mode in modes:
            try:
                expected = plain(program, mode)
            except SrcdiffError:
                counts["refused"] += 1
                continue
            except Exception as error:  # is the result of this run
                say(f"{program.name} {mode}: {type(error).__name__}: {error}")
                counts["FAILED"] += 1
                continue
            left = [EVERY]
            for label in left:  # it grows
                blind = Blind(label, seed)
                try:
                    check(program, mode, blind, expected)
                except SpellingError as error:
                    said = " ".join(str(error).split())[:300]
                    say(f"{program.name} {mode} {label}: {said}")
                    counts["SPELLED"] += 1
                else:
                    counts["same"] += 1
                left += blind.labels if each and label == EVERY else ()
    say(str(dict(counts)))
    return counts


def main(words: list[str]) -> int:
    """Check the programs that are named, or all."""
    modes = tuple(w for w in words if w in MODES) or MODES
    seeds = [int(w) for w in words if w.isdigit()]
    names = [w for w in words if w not in (*MODES, "each") and not w.isdigit()]
    chosen = [p for p in PROGRAMS if not names or any(n in p.name for n in names)]
    say = functools.partial(print, flush=True)
    counts = run(chosen, modes, "each" in words, *(seeds or [1]), say)
    return 1 if counts["SPELLED"] + counts["FAILED"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
