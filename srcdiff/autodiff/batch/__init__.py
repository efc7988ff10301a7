"""A function for a batch of cotangents or directions, with one axis more than the function.

Takes a backward part, or a function of forward mode, for a single item; gives the function for a
batch, or raises `NoBatchError`.  Control flow never depends on a cotangent.  Its rooms:

`transform`    the whole: which names have the axis; factors gathered before, columns laid together
`statements`   statements with a batch axis; what has no form runs in a loop over the items
`forms`        the forms of calls, which follow from what the callee does with axes, and subscripts
"""
