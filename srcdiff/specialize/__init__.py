"""A function at the kinds of its arguments: its calls are operations or known functions."""
