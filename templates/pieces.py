"""Rules of functions that split arrays, and of helpers that say where parts of arrays stand."""

import numpy as np

from srcdiff.rules import *
from srcdiff.runtime import indexing
from srcdiff.runtime.indexing import axes_from, conditions, nonzero_ends, paired, unsplit


@linear(np.split, np.array_split, view="ary")
@samples("A(4), 2", "A(5), [2, 3]", "A(2, 6), 3, axis=1", "A(4), [3, 1]", "A(2, 4), (3, -9), 1")
def split(ary, indices_or_sections, axis=0):
    if isscalar(indices_or_sections):
        d[ary] += np.concatenate(d[z], axis)
    else:
        d[ary] += unsplit(d[z], indices_or_sections, ary, axis)


@linear(np.hsplit, view="ary")
@samples("A(4), 2", "A(2, 6), 3", "A(2, 4), [3, 1]", "A(4), [3, 1]")
def hsplit(ary, indices_or_sections):
    if isscalar(indices_or_sections):
        d[ary] += np.hstack(d[z])
    else:
        d[ary] += unsplit(d[z], indices_or_sections, ary, min(np.ndim(ary) - 1, 1))


@linear(np.vsplit, view="ary")
@samples("A(4, 2), 2", "A(5, 2), [2, 3]", "A(4, 2), [3, 1]")
def vsplit(ary, indices_or_sections):
    if isscalar(indices_or_sections):
        d[ary] += np.concatenate(d[z])
    else:
        d[ary] += unsplit(d[z], indices_or_sections, ary, 0)


@linear(np.dsplit, view="ary")
@samples("A(2, 3, 4), 2", "A(2, 3, 4), [3, 1]")
def dsplit(ary, indices_or_sections):
    if isscalar(indices_or_sections):
        d[ary] += np.concatenate(d[z], 2)
    else:
        d[ary] += unsplit(d[z], indices_or_sections, ary, 2)


inlined(
    indexing.cross_back, "A(3), A(3), A(3)", "A(4, 3), A(3), A(4, 3)", "A(3, 4), A(3, 4), A(3), 0",
    "A(), A(2), A(2)", "A(3), A(2), A(3)",
)  # fmt: skip


@linear(unsplit, constant="x")
@samples(
    "[A(3), A(0), A(3)], [3, 1], A(4), 0", "[A(2, 1), A(2, 1)], 2, A(2, 2), 1",
    "[A(2, 1), A(2, 2)], [1], A(2, 3), 1",
)  # fmt: skip
def unsplit_(parts, places, x, axis):
    for k in range(len(parts)):
        d[parts][k] += np.split(d[z], places, axis)[k]


@linear(paired, constant="roots")
@samples("C(3), np.array([1j, -1j])", "C(3), np.array([1j, 1.0])", "A(3), np.array([2.0, 1.0])")
def paired_(c, roots):
    if iscomplex(c):
        d[c] += d[z] + np.zeros_like(c)
    else:
        d[c] += d[z]


nondifferentiable(axes_from, conditions, nonzero_ends)
