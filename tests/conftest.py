"""What holds for the whole suite."""

import gc
import os
import tempfile

from hypothesis import HealthCheck, settings

# How fast a machine is says nothing about the code.
settings.register_profile("suite", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("suite")

# What Numba compiles in one run is not there in the next one.
_compiled = tempfile.TemporaryDirectory()
os.environ["SRCDIFF_CACHE_DIR"] = _compiled.name


def pytest_collection_finish():
    """What was collected lives to the end: the garbage collector need not look at it again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
