"""All benchmarks: `make bench`, or `python -m tests.bench [transform] [overhead] [ratios]`."""

import sys

from . import overhead, ratios, transform

BENCHMARKS = {"transform": transform.main, "overhead": overhead.main, "ratios": ratios.main}

for name in sys.argv[1:] or BENCHMARKS:
    BENCHMARKS[name]()
    print()
