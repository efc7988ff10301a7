"""Methods, iterators and displays of lists, tuples and dicts, as the few that have adjoints.

Takes a function and the kinds of its names; gives one in which containers that may hold values with
a derivative are read and changed by index, `append`, `pop` and `insert` alone.

Rooms:
methods: methods and operators of lists and tuples; `plain_containers` runs the whole package.
mappings: methods of dicts, as reads and stores of items.
iterators: `zip`, `enumerate` and the like as the lists of what they give.
indexing: slices that are values, and `x.flat`.
"""
