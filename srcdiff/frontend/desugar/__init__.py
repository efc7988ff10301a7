"""Statements of Python as simpler ones, on the syntax tree.

Takes the tree of a function and gives one that computes the same; what cannot be written more
simply stays as it is, and is refused where it is lowered.

flatten  `with np.errstate(...)`, `match`, `try` and checkpointed loops as plain statements
stdlib   `deque`, `defaultdict`, `Counter` as lists and dicts, `hasattr` as what it is
"""
