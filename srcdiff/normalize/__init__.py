"""The few forms that differentiation knows: what `autodiff` takes is made of them alone.

Takes a specialised function; gives one that computes the same, each value under a name of its own,
with stores into memory that is the function's.
"""
