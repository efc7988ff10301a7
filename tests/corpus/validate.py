"""`python -m tests.corpus.validate [MODE ...] [NAME ...]`: the corpus, every pass before and after.

Of each program, or of those in whose names one of the words occurs, the passes that make the
gradient (`grad`), the two parts of a pullback (`vjp`) and the tangent (`jvp`) are run.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from unittest import mock

import numpy as np

from srcdiff.api.forward import forward_of
from srcdiff.driver.derivative import Derivative
from srcdiff.driver.options import VALIDATE, Options
from srcdiff.errors import SrcdiffError, ValidationError
from tests.programs import PROGRAMS, Program
from tests.support import structures as st
from tests.support.differences import Problem, positional

MODES = ("grad", "vjp", "jvp")
SLOW = 20  # seconds that are worth a line


class Counts(logging.Handler):
    """How many passes were compared, and what was left out for which reason."""

    def __init__(self) -> None:
        super().__init__()
        self.compared = 0
        self.left_out: Counter[str] = Counter()
        self.functions: Counter[str] = Counter()

    def emit(self, record: logging.LogRecord) -> None:
        """Take the counts out of a message of the validation."""
        if len(record.args or ()) == 3:
            name, compared, left_out = record.args  # type: ignore[misc]
            self.functions[str(name)] += 1
            self.compared += int(str(compared))
            self.left_out.update(left_out)  # type: ignore[arg-type]
        else:
            self.left_out[record.getMessage().partition(": ")[2]] += 1


@contextlib.contextmanager
def validating() -> Iterator[Counts]:
    """Every derivative that is made is validated."""
    log, counts = logging.getLogger("srcdiff.validation"), Counts()
    level = log.level
    log.addHandler(counts)
    log.setLevel(logging.INFO)
    try:
        with mock.patch.dict(os.environ, {VALIDATE: "1"}):
            yield counts
    finally:
        log.removeHandler(counts)
        log.setLevel(level)


def check(program: Program, mode: str = "grad") -> None:
    """Make one derivative of a program, at its arguments.

    Raises:
        ValidationError: a pass changes what is computed.
    """
    problem = Problem(program.function, program.arguments(), program.inputs, program.outputs)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        args, kwargs = positional(program.function, problem.arguments())
        options = Options(program.inputs, program.outputs, "zeros")
        made = Derivative(program.function, options)
        inputs = tuple(st.paths(program.function, program.inputs))
        if mode == "jvp" and set(inputs) <= set(problem.arguments()):
            made = forward_of(program.function, options, inputs)
        made.validate((*made.receiver, *args), kwargs, pair=mode == "vjp")


def run(chosen: list[Program], modes: tuple[str, ...], say: Callable[[str], None]) -> Counter[str]:
    """Check programs; how many passed, were refused, or show a mistake."""
    found: Counter[str] = Counter()
    with validating() as counts:
        for program in chosen:
            for mode in modes:
                start = time.process_time()
                try:
                    check(program, mode)
                except ValidationError as error:
                    found["CHANGED"] += 1
                    say(f"{program.name} {mode}: {error}")
                except SrcdiffError:
                    found["refused"] += 1
                except Exception as error:  # is the result of this run
                    found["FAILED"] += 1
                    say(f"{program.name} {mode}: {type(error).__name__}: {error}")
                else:
                    found["same"] += 1
                if time.process_time() - start > SLOW:
                    say(f"{program.name} {mode}: {time.process_time() - start:.0f} s")
    say(f"{dict(found)}, {counts.compared} passes compared")
    reasons: Counter[str] = Counter()
    for reason, count in counts.left_out.items():
        reasons[re.sub("`.*`", "`...`", reason)] += count
    for reason, count in reasons.most_common():
        say(f"{count:6d} left out: {reason}")
    return found


def main(words: list[str]) -> int:
    """Check the programs that are named, or all."""
    modes = tuple(w for w in words if w in MODES) or MODES
    words = [w for w in words if w not in MODES]
    chosen = [p for p in PROGRAMS if not words or any(w in p.name for w in words)]
    found = run(chosen, modes, lambda text: print(text, flush=True))
    return 1 if found["CHANGED"] + found["FAILED"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
