"""What holds for the whole suite."""

import gc

from hypothesis import HealthCheck, settings

# How fast a machine is says nothing about the code.
settings.register_profile("suite", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("suite")


def pytest_collection_finish():
    """What was collected lives to the end: the garbage collector need not look at it again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
