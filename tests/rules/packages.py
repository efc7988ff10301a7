"""The packages beside NumPy whose rules are tested and listed, where they are installed."""

import importlib
import importlib.util
from types import ModuleType

from srcdiff.primitives import registry

NAMES = tuple(
    f"scipy.{name}"
    for name in (
        "special", "linalg", "stats", "fft", "signal", "integrate", "ndimage", "sparse",
        "sparse.linalg", "spatial.distance", "optimize", "interpolate",
    )  # fmt: skip
)


def installed() -> dict[str, ModuleType]:
    """The packages that are there, by their names, with their rules read."""
    there = [n for n in NAMES if importlib.util.find_spec(n.split(".")[0])]
    found = {n: importlib.import_module(n) for n in there}
    registry.read_extras()
    return found
