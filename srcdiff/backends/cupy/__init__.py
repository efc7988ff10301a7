"""CuPy: calls in the forms that it has, what it lacks, and the helpers for its arrays."""
