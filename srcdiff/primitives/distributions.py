"""The distributions of `scipy.stats`: objects that never change, and are used as modules are."""

from __future__ import annotations

import sys
from typing import Any

METHODS = frozenset(
    {"pdf", "logpdf", "pmf", "logpmf", "cdf", "logcdf", "sf", "logsf", "ppf", "isf"}
)
"""The methods that draw nothing at random."""


def distribution(value: Any) -> str | None:
    """The name under which `scipy.stats` has a distribution; None of anything else."""
    stats = sys.modules.get("scipy.stats")
    if stats is None or not str(type(value).__module__).startswith("scipy.stats"):
        return None
    return next((name for name, held in vars(stats).items() if held is value), None)
