"""Statements of Python as simpler ones, on the syntax tree.

Takes the tree of a function and gives one that computes the same; what cannot be written more
simply stays as it is, and is refused where it is lowered.

flatten           `with np.errstate(...)`, `match` and `try` as assignments and branches
checkpoint_loops  the body of a checkpointed loop as a function of its variables
stdlib            `deque`, `defaultdict`, `itemgetter`, `hasattr` as plain lists, dicts, lambdas
"""
