"""Rules of histograms, with respect to their weights, and to data that their edges follow."""

import numpy as np

from srcdiff.rules import *
from srcdiff.runtime.linalg import extremes


@linear(np.bincount)
@samples("np.array([0, 2, 2]), A(3)", "np.array([0, 2, 2]), A(3), 5")
def bincount(x, weights=None, minlength=0):
    d[weights] += d[z][x if isarray(x) else np.asarray(x, int)]  # a tuple would be several indices


@rule(np.histogram)
@samples(
    "np.array([0.1, 0.7, 0.8]), [0.0, 0.5, 1.0], weights=A(3)", "A(5)", "A(5), 3, weights=A(5)",
    "A(2, 3), 4",
)  # fmt: skip
def histogram(a, bins=10, range=None, density=None, weights=None):
    z, edges = np.histogram(a, bins, range, None, weights)
    yield z, edges
    inside = (edges[0] <= a) & (a <= edges[-1])
    place = np.clip(np.searchsorted(edges, a, "right") - 1, 0, len(z) - 1)
    d[weights] += d[z][place] * inside
    if not ignored(edges) and range is None and np.ndim(bins) == 0:
        share = np.arange(len(edges)) / len(z)
        low, high = extremes(a)
        d[a] += np.sum(d[edges] * (1.0 - share)) * low + np.sum(d[edges] * share) * high


@composed(np.histogram, given="density")
@samples(
    "A(5), 3, density=True", "A(5), 3, weights=P(5), density=True", "A(5), 4, density=False",
    "np.array([0.1, 0.7, 0.8]), [0.0, 0.5, 1.0], weights=P(3), density=True",
)  # fmt: skip
def histogram_density(a, bins=10, range=None, density=None, weights=None):
    found = np.histogram(a, bins, range, None, weights)
    z, edges = found[0], found[1]
    return (z / np.asarray(np.diff(edges), float) / np.sum(z), edges) if density else (z, edges)


@rule(np.histogram2d, constant="x y")
@samples(
    "np.array([0.1, 0.7, 0.8]), np.array([0.2, 0.6, 1.3]), 3, [[0, 1], [0, 1]], weights=A(3)",
    "A(4), A(4), (2, 3), ((-1.0, 1.0), (-2.0, 2.0)), None, A(4)", "A(4), A(4), 4, weights=A(4)",
)  # fmt: skip
def histogram2d(x, y, bins=10, range=None, density=None, weights=None):
    z, xedges, yedges = np.histogram2d(x, y, bins, range, density, weights)
    yield z, xedges, yedges
    if density:
        refuse("`density=True`: divide the histogram by its sum and the areas of the bins")
    i = np.clip(np.searchsorted(xedges, x, "right") - 1, 0, len(xedges) - 2)
    j = np.clip(np.searchsorted(yedges, y, "right") - 1, 0, len(yedges) - 2)
    inside = (xedges[0] <= x) & (x <= xedges[-1]) & (yedges[0] <= y) & (y <= yedges[-1])
    d[weights] += d[z][i, j] * inside
    if range is None and not (ignored(xedges) and ignored(yedges)):
        if rank(bins) != 0:
            refuse("edges that depend on the data: give `range`, or one number of `bins`")
        share = np.arange(bins + 1) / bins
        low, high = extremes(x)
        d[x] += np.sum(d[xedges] * (1.0 - share)) * low + np.sum(d[xedges] * share) * high
        low, high = extremes(y)
        d[y] += np.sum(d[yedges] * (1.0 - share)) * low + np.sum(d[yedges] * share) * high


@composed(np.histogramdd, given="weights")
@samples(
    "np.array([[0.1, 0.2], [0.7, 1.0], [0.8, -0.1]]), 2, [[0, 1], [0, 1]], weights=A(3)",
    "[np.array([0.1, 0.7, 0.2, 0.8]), np.array([0.3, 0.3, 0.4, 0.9])], (2, 3), None, True, P(4)",
    "np.array([0.1, 0.4, 0.5, 2.0]), [[0.0, 0.4, 1.0]], weights=A(4)",
    "np.array([[0.1, 0.2, 0.7], [0.3, 0.3, 0.9]]), 2, density=True, weights=P(2)",
)  # fmt: skip
def histogramdd_weights(sample, bins=10, range=None, density=None, weights=None):
    counts, edges = np.histogramdd(sample, bins, range)
    listed = isinstance(sample, (list, tuple)) or np.ndim(sample) != 2
    rows = np.atleast_2d(sample) if listed else np.transpose(sample)
    place, inside, volume = np.zeros(np.shape(rows)[1:], int), True, 1.0
    for at, ends in zip(rows, edges):
        i = np.clip(np.searchsorted(ends, at, "right") - 1, 0, len(ends) - 2)
        place = place * (len(ends) - 1) + i
        inside = inside & (ends[0] <= at) & (at <= ends[-1])
        volume = np.multiply.outer(volume, np.diff(ends))
    z = np.bincount(place, np.where(inside, weights, 0.0), np.size(counts))
    z = np.reshape(np.asarray(z, float), np.shape(counts))  # of nothing it is whole numbers
    return z / volume / np.sum(z) if density else z, edges


made_of(
    np.histogram_bin_edges,
    value=lambda a, bins=10, range=None, weights=None: np.histogram(a, bins, range)[1],
    samples=("A(5)", "A(2, 3), 4", "A(3), 2, (0.0, 1.0)", "np.array([0.1, 0.7]), A(3)"),
)
