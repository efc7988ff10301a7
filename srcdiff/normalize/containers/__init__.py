"""Methods, iterators and displays of lists, tuples and dicts, as the few that have adjoints."""
