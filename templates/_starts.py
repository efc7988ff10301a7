"""What reductions begin with."""

import numpy as np

from srcdiff.rules import *


def start_of(initial, z):
    """The number `initial` in the type of what is reduced; a number in the source adapts itself."""
    return initial if known(initial) else np.asarray(initial, np.result_type(z))
