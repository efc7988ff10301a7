"""A function for a batch of cotangents or directions, with one axis more than the function.

Takes a backward part, or a function of forward mode, for a single item; gives the function for a
batch, or raises `NoBatchError`.  Control flow never depends on a cotangent.  Its rooms:

`transform`       the whole: factors gathered before, columns laid together behind
`batched_names`   which names have a batch axis: what depends on the cotangents, and its memory
`statements`      statements with a batch axis; what has no form runs in a loop over the items
`forms`           the forms of calls and subscripts with a batch axis
"""
