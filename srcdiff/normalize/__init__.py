"""The few forms that differentiation knows: what `autodiff` takes is made of them alone.

Takes a specialised function; gives one that computes the same, each value under a name of its own,
with stores into memory that is the function's.

Rooms, in reading order:
in_place: operators in place, and loops whose targets only they bind.
live_ranges: a name for every independent value of a variable.
stacks: lists that a derivative saves tuples in, as one list for each of the items.
containers: methods, iterators and displays of lists, tuples and dicts, as the few with adjoints.
iteration: loops and unpackings by index, with Python's check of the length where it is needed.
no_grad: regions without derivatives.
decompose: calls that stand for several others, written out.
options: the arguments `out`, `where`, `dtype`, `initial` as statements.
operands: lists that NumPy takes for arrays become arrays.
displays: lists and tuples that are only handed on or taken apart are not made.
unpacking: checks of the number of items, and results that are taken apart at once.
vectorize: loops of independent iterations as statements of whole arrays.
overlaps: stores that look at the memory that they write into.
sparse: sparse matrices as their structure and an array of entries.
outputs: the outputs that a request selects.
copy_in: copies of the parameters that the function writes into.
summaries: what calls of functions that stay calls do.
"""
