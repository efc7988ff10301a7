"""How much more memory a process has at once while a call runs; Linux alone."""

from __future__ import annotations

import gc
from collections.abc import Callable
from pathlib import Path
from typing import Any

STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")


def peak(call: Callable[[], Any]) -> float | None:
    """The MiB of a call beyond what the process had before; None where the system does not say."""
    if not CLEAR.exists():
        return None
    gc.collect()
    CLEAR.write_text("5")  # the highest number so far becomes the present one
    before = resident("VmHWM")
    result = call()
    after = resident("VmHWM")
    del result
    return (after - before) / 1024


def resident(name: str) -> int:
    """A number of KiB that the system counts for this process."""
    rows = (row.split() for row in STATUS.read_text().splitlines())
    return next(int(row[1]) for row in rows if row[0] == f"{name}:")
