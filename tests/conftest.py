"""What holds for the whole suite."""

import gc


def pytest_collection_finish():
    """What was collected lives to the end: the garbage collector need not look at it again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
