"""Derivatives up to some order of every sample of every rule, against differences.

`python -m tests.rules.orders 3` runs them all (four minutes); words behind the order select
samples by parts of their names: `python -m tests.rules.orders 4 svd einsum`.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections import Counter
from fnmatch import fnmatchcase

import numpy as np

from srcdiff.errors import SrcdiffError
from tests.rules.sample_checks import TOLERANCES, follow
from tests.rules.samples import Sample, collected

# Samples, the order that is refused, and what it is that is refused.
MANY = "a function of any number of arguments"
NO_TRIGAMMA = "of complex numbers, for which SciPy has no trigamma function"
REFUSED = {
    "gamma:gamma(C(3))": (2, NO_TRIGAMMA),
    "integral_:*(P(3), P(3)))": (3, MANY),
    "loggamma:loggamma(C(3))": (2, NO_TRIGAMMA),
    "quad:*args=(P(), P()))": (3, MANY),
    "rgamma:rgamma(C(3))": (2, NO_TRIGAMMA),
    "run_steps_:*": (3, "a loop that runs as it is, with tangents"),
}


def refusals(sample: Sample) -> list[tuple[int, str]]:
    """The orders of derivatives of a sample that are refused, with what it is."""
    return [found for name, found in REFUSED.items() if fnmatchcase(sample.id, name)]


def refused(sample: Sample, order: int) -> bool:
    """Whether a sample stands in the list of what is refused."""
    return any(order >= n for n, _ in refusals(sample))


def outcome(sample: Sample, order: int) -> tuple[str, str]:
    """Right, refused or wrong, and why."""
    try:
        follow(sample, order)
    except SrcdiffError as error:
        known = "refused" if refused(sample, order) else "not listed as refused"
        return known, f"{type(error).__name__}: {error}".splitlines()[0]
    except AssertionError as error:
        return "wrong", " ".join(str(error).split())
    except Exception as error:  # every sample has its line, and the counts say that it is wrong
        return "wrong", f"{type(error).__name__}: {error}".splitlines()[0]
    return "right", ""


def main() -> int:
    """Print what is not right, and the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("order", type=int, choices=sorted(TOLERANCES))
    parser.add_argument("words", nargs="*", help="parts of the names of samples")
    wanted = parser.parse_args()
    once = {(s.rule, s.call): s for s in collected()}.values()
    samples = [s for s in once if all(w in s.id for w in wanted.words)]
    counts: Counter[str] = Counter()
    start = time.process_time()
    for k, sample in enumerate(samples, 1):
        found, why = outcome(sample, wanted.order)
        counts[found] += 1
        if why:
            print(f"{found}: {sample.id}: {why}", flush=True)
        if k % 200 == 0:
            print(f"# {k} of {len(samples)}, {time.process_time() - start:.0f} s", flush=True)
    print(", ".join(f"{n} {name}" for name, n in sorted(counts.items())))
    return 0 if {*counts} <= {"right", "refused"} else 1


if __name__ == "__main__":
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        raise SystemExit(main())
