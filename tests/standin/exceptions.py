"""What is not as with NumPy on the stand-in, and why."""

MOVED = {
    "broadcasts-trimmed_matrix": "where the first and the last place along each axis are",
    "broadcasts-whole_numbers_of_the_first_row": "the condition in what `apply_along_axis` calls",
    "iterators-run_max_key_active": "the place of the greatest item is looked for once more",
    "iterators-greatest_of_pairs": "items are sorted by their first numbers, on the host",
}
"""Programs whose gradient takes more from the device than they do themselves."""
