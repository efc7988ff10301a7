"""Kernels: runs of array statements as fused loops over their elements, or as launches on a device.

Takes a finished function and the kinds of its names; gives the function with calls of loop
functions, or of kernels, in the place of the runs.  The invariant: each element is computed from
the same elements as before, by the same operations; only the order in which sums add up is another
one.

`elements`: which statements work element by element, and how one element is computed.
`places`: where the elements lie that a statement reads and writes.
`groups`: which statements may be one loop nest, and in which inner loop of it each one stands.
`loop_nests`: the nest as a function; `fusion`: its call.
`interchange`: loops over planes of arrays, which go inside of those over the elements.
`sharing`: one function for loops that are the same.
`launches`: groups as kernels for CuPy.
"""
