"""How much more memory a process has at once while a call runs; Linux with glibc alone."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable
from pathlib import Path
from typing import Any

STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def peak(call: Callable[[], Any]) -> float | None:
    """The MiB of a call beyond what the process holds; None where the system does not say."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if CLEAR.exists() else None
    if trim is None:
        return None
    gc.collect()
    trim(0)  # what was freed goes back to the system, and is counted when it is taken again
    CLEAR.write_text("5")  # the highest number so far becomes the present one
    before = resident("VmRSS")
    result = call()
    after = resident("VmHWM")
    del result
    return max(after - before, 0) / 1024


def resident(name: str) -> int:
    """A number of KiB that the system counts for this process."""
    rows = (row.split() for row in STATUS.read_text().splitlines())
    return next(int(row[1]) for row in rows if row[0] == f"{name}:")
