"""Methods, iterators and displays of lists, tuples and dicts, as the few that have adjoints.

Takes a function and the kinds of its names; gives one in which containers that may hold values with
a derivative are read and changed by index, `append`, `pop` and `insert` alone.

Rooms:
methods: methods and operators of lists and tuples; `plain_containers` runs the whole package.
expand: a call as the body of its definition; iterators as the lists of what they give.
definitions: what methods and iterators do, written in Python.
indexing: slices that are values, and `x.flat`.
"""
