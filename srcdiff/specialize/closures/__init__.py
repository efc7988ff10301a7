"""Functions as values: which one is called, and what it holds.

Takes a function that makes functions, keeps them or hands them on; gives one that calls functions
by their names, with what they capture as arguments.

Rooms:
defunctionalize: functions that are kept as values become data, and calls of them choices.
lifting: variables around a function become parameters of it.
"""
