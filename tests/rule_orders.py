"""Derivatives of one order of every sample of every rule, against differences.

`python -m tests.rule_orders 3` runs them all (four minutes); words behind the order select
samples by parts of their names: `python -m tests.rule_orders 4 svd einsum`.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections import Counter

import numpy as np

from srcdiff.errors import SrcdiffError
from tests.sample_checks import follow
from tests.samples import Sample, collected

# Differences of derivatives of higher orders are of larger numbers.
TOLERANCES = {2: 1e-6, 3: 1e-5, 4: 1e-4}


def outcome(sample: Sample, order: int) -> tuple[str, str]:
    """Right, refused or wrong, and why."""
    try:
        follow(sample, order, TOLERANCES[order])
    except SrcdiffError as error:
        return "refused", f"{type(error).__name__}: {error}".splitlines()[0]
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
    once = {(s.rule.name, s.call): s for s in collected()}.values()
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
    return 1 if counts["wrong"] else 0


if __name__ == "__main__":
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        raise SystemExit(main())
