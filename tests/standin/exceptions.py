"""What is not as with NumPy on the stand-in, and why."""

MOVED = {
    "iterators-run_max_key_active": "the place of the greatest item is looked for once more",
}
"""Programs whose gradient takes more from the device than they do themselves."""

FAILING = {
    "found-recursion_returns_what_it_writes_or_not": (
        "a recursive function is called as it is, and makes an array of NumPy"
    ),
}
"""Programs written with NumPy whose gradient fails, with an error of CuPy."""
