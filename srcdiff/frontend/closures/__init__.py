"""Functions in functions: closures, wrappers, functions that call themselves or keep results."""
