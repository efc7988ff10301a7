"""Rules of builtin functions that make lists and tuples of the items of an array."""

import numpy as np

from srcdiff.rules import d, linear, rank, refuse, samples


@linear(list)
@samples("A(3)", "A(3, 2)")
def list_(iterable):
    z = list(iterable)
    yield z
    for k in range(len(iterable)):
        d[iterable][k] += d[z][k]


@linear(tuple)
@samples("A(3)", "A(3, 2)")
def tuple_(iterable):
    z = tuple(iterable)
    yield z
    for k in range(len(iterable)):
        d[iterable][k] += d[z][k]


@linear(np.ndarray.tolist)
@samples("A(3)")
def tolist(x):
    z = x.tolist()
    yield z
    if rank(x) != 1:
        refuse("`tolist` of an array of several axes gives lists of lists; loop over its rows")
    for k in range(len(x)):
        d[x][k] += d[z][k]
