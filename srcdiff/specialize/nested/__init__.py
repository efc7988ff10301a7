"""Derivatives inside of differentiated functions.

Takes a function that calls `srcdiff.grad(f)(x)` and its like; gives one that calls Python functions
which compute the same, and which are inlined like any other.

Rooms:
derivatives: calls of gradients become calls of generated functions.
transforms: calls of the other transforms: with arguments at once, pullbacks, Jacobians.
"""
