"""What distributions of `scipy.stats` ask of their arguments."""

from __future__ import annotations

from typing import Any

import numpy as np


def on_simplex(x: Any, alpha: Any) -> Any:
    """`x`, of which the parts along the first axis add up to one.

    Raises:
        ValueError: they do not, or `alpha` are no parameters of a distribution of Dirichlet.
    """
    from scipy.stats import dirichlet

    dirichlet.logpdf(x, alpha)
    return np.array(x)
