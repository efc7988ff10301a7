"""What is not as with NumPy on the stand-in, and why."""

MOVED = {
    "broadcasts-trimmed_matrix": "where the first and the last place along each axis are",
    "broadcasts-whole_numbers_of_the_first_row": "the condition in what `apply_along_axis` calls",
    "iterators-run_max_key_active": "the place of the greatest item is looked for once more",
    "iterators-greatest_of_pairs": "items are sorted by their first numbers, on the host",
}
"""Programs whose gradient takes more from the device than they do themselves."""

UNDEFINED = frozenset(
    (
        "add_item:store+(A(4), np.array([0, 2, 2]), A(3))",
        "setitem:setitem(A(4), np.array([0, 2, 2]), A(3))",
        "setitem:storeNone(A(4), np.array([0, 2, 2]), A(3))",
        "subtract_item:store-(A(4), np.array([0, 2, 2]), A(3))",
    )
)
"""Samples that write several values to one place: CuPy does not say which of them stays there."""
