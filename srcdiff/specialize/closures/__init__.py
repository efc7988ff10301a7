"""Functions as values: which one is called, and what it holds."""
