"""Rules of builtin functions that make lists and tuples of the items of an array."""

import numpy as np

from srcdiff.rules import *


@linear(list, tuple)
@samples("A(3)", "A(3, 2)")
def listed(iterable):
    for k in range(len(iterable)):
        d[iterable][k] += d[z][k]


@linear(np.ndarray.tolist)
@samples("A(3)")
def tolist(x):
    if rank(x) != 1:
        refuse("`tolist` of an array of several axes gives lists of lists; loop over its rows")
    for k in range(len(x)):
        d[x][k] += d[z][k]
