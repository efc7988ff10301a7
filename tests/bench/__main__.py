"""All benchmarks: `make bench`, or `python -m tests.bench [transform] [overhead] [ratios] ...`."""

import sys

from . import batch, gpu, overhead, ratios, transform, workspaces

BENCHMARKS = {
    "transform": transform.main, "overhead": overhead.main, "ratios": ratios.main,
    "batch": batch.main, "gpu": gpu.main, "workspaces": workspaces.main,
}  # fmt: skip

for name in sys.argv[1:] or BENCHMARKS:
    BENCHMARKS[name]()
    print()

