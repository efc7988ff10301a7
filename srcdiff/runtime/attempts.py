"""Whether a call succeeds: what stands for `try` in generated code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def succeeds(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> bool:
    """Whether a function of linear algebra comes to its end: False if it raises `LinAlgError`.

    >>> succeeds(np.linalg.inv, np.zeros((2, 2)))
    False
    """
    try:
        fn(*args, **kwargs)
    except np.linalg.LinAlgError:
        return False
    return True
