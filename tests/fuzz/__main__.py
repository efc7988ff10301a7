"""`python -m tests.fuzz --count N --seed S`: judge random programs, and reduce the bad ones."""

from __future__ import annotations

import argparse
import functools
import os
import time
from collections import Counter
from typing import Any

from srcdiff.driver.options import VALIDATE
from tests.fuzz.judge import EVERYTHING, INVALID, Verdict, judge_text, turn
from tests.fuzz.programs import Program, program
from tests.fuzz.reduce import reduced
from tests.fuzz.statements import ALL


def main() -> None:
    """Judge programs, print the bad ones and the counts."""
    options = _options()
    features = (frozenset(options.only) if options.only else ALL) - frozenset(options.without)
    counts: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    seen: set[str] = set()
    start = time.monotonic()
    if options.validate:
        os.environ[VALIDATE] = "1"
    for seed in range(options.seed, options.seed + options.count):
        made = program(seed, features)
        verdict = _judged(seed, made.text, made, options)
        counts[verdict.kind] += 1
        if options.show or verdict.bad and (verdict.kind == "WRONG" or verdict.label not in seen):
            seen.add(verdict.label)
            _report(seed, made, verdict, options)
        elif verdict.kind in ("REFUSED", INVALID):
            reasons[f"{verdict.kind} {verdict.where} {_general(verdict.reason)}"] += 1
        elif verdict.bad:
            print(f"seed {seed}: {verdict.label} again", flush=True)
    print(dict(sorted(counts.items())), f"{time.monotonic() - start:.0f} s")
    for reason, number in reasons.most_common(options.reasons):
        print(f"{number:5d} {reason}")


def _judged(seed: int, text: str, made: Program, options: argparse.Namespace) -> Verdict:
    """The verdict on a text, by what is asked for or has its turn."""
    return judge_text(text, made.args, options.parts or turn(seed))


def _report(seed: int, made: Program, verdict: Verdict, options: argparse.Namespace) -> None:
    """Print a program as small as it gets."""
    text = made.text
    if verdict.bad and options.reduce:
        label = verdict.label
        same = functools.partial(_judged, seed, made=made, options=options)
        text = reduced(text, lambda t: same(t).label == label, options.reduce)
        verdict = same(text)
    print(f"seed {seed}: {verdict.label}: {verdict.reason}\n{text}", flush=True)


def _general(reason: str) -> str:
    """A reason without the place and the names."""
    text = reason.split(": ", 1)[-1]
    return "".join(part if k % 2 == 0 else "_" for k, part in enumerate(text.split("`")))[:90]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parts: dict[str, Any] = {"dest": "parts", "action": "store_const"}
    parser.add_argument("--all", const=EVERYTHING, help="judge all, not in turn", **parts)
    parser.add_argument("--forward", const=("forward",), help="judge tangents alone", **parts)
    parser.add_argument("--validate", action="store_true", help="run every pass as well")
    parser.add_argument("--without", nargs="*", default=[], help="features to leave out")
    parser.add_argument("--only", nargs="*", default=[], help="features to use")
    parser.add_argument("--reduce", type=int, default=250, help="trials of a reduction, 0: none")
    parser.add_argument("--reasons", type=int, default=12, help="reasons of refusals to print")
    parser.add_argument("--show", action="store_true", help="print every program")
    return parser.parse_args()


if __name__ == "__main__":
    main()
