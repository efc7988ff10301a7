"""The visible row of passes, and what is kept of their results between calls.

`pipeline` is the row; `derivative` is a callable that runs it once for the kinds of its arguments.
"""
