"""The whole corpus and all rules on the stand-in: `python -m tests.standin [part of a name]`."""

from __future__ import annotations

import sys
import warnings
from collections import Counter

import numpy as np

from . import samples
from .corpus import outcomes
from .device import Device


def main(only: str = "") -> int:
    """Print what is not right, and how many of each."""
    device = Device()
    found: Counter[str] = Counter()
    with device.installed(), np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for how in ("cp", "np", "kernels"):
            compile = "cupy" if how == "kernels" else None
            for outcome in outcomes(device, only, how == "np", compile):
                found[outcome.verdict] += 1
                if outcome.verdict not in ("right", "numbers"):
                    print(f"{outcome.verdict:8} {how} {outcome.program}: {outcome.detail}")
        for outcome in samples.outcomes(device, only):
            found[outcome.verdict] += 1
            if outcome.verdict not in ("right", "numbers", "undefined"):
                print(f"{outcome.verdict:8} rule {outcome.program}: {outcome.detail}")
    print(dict(found))
    return int(any(found[v] for v in ("wrong", "moved", "failed")))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
