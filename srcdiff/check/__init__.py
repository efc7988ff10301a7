"""Refusals: programs whose derivative would be wrong, with the place, the reason and a remedy.

Takes a function and what the analyses say of it; gives nothing, or raises.

Rooms, in reading order:
callees: calls of which nothing is known where a derivative would have to pass.
writes: writes into memory that no statement shows.
outside: arrays and containers from outside, written into under a name and read by themselves.
lists: changes of lists and dicts that a loop runs over, or that a call may have returned.
"""
