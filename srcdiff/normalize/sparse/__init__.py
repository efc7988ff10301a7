"""Sparse matrices as their structure and an array of entries.

Takes a function with sparse matrices that carry a derivative; gives one in which the derivative
flows through arrays of their entries.

Rooms:
entries: which matrices carry a derivative, and the array of entries beside each.
memory: arrays that constant matrices keep and that are written into afterwards: refused.
"""
