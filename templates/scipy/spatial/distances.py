"""Rules of distances between points of `scipy.spatial.distance`."""

import numpy as np
from scipy.spatial import distance

from srcdiff.rules import *
from srcdiff.runtime.arrays import divide_or_zero


@rule(distance.cdist)
@samples(
    "A(3, 2), A(4, 2)", "A(3, 2), A(4, 2), 'sqeuclidean'", "A(3, 2), A(4, 2), metric='cityblock'",
)  # fmt: skip
def cdist(XA, XB, metric="euclidean"):
    if metric == "cityblock":
        part = d[z][:, :, None] * np.sign(XA[:, None] - XB)
        d[XA] += np.sum(part, axis=1)
        d[XB] += -np.sum(part, axis=0)
    elif metric == "euclidean" or metric == "sqeuclidean":
        w = divide_or_zero(d[z], z) if metric == "euclidean" else 2.0 * d[z]
        d[XA] += np.sum(w, axis=1)[:, None] * XA - w @ XB
        d[XB] += np.sum(w, axis=0)[:, None] * XB - w.T @ XA
    else:
        refuse("the metric must be 'euclidean', 'sqeuclidean' or 'cityblock'")


made_of(
    distance.pdist,
    value=lambda X, metric="euclidean": distance.cdist(X, X, metric)[np.triu_indices(len(X), 1)],
    samples=("A(4, 2)", "A(3, 2), 'cityblock'"),
)
made_of(
    distance.euclidean, value=lambda u, v: np.linalg.norm(np.asarray(u) - np.asarray(v)),
    samples=("A(3), A(3)",),
)
made_of(
    distance.sqeuclidean, value=lambda u, v: np.sum((np.asarray(u) - np.asarray(v)) ** 2),
    samples=("A(3), A(3)",),
)
made_of(
    distance.cityblock, value=lambda u, v: np.sum(np.abs(np.asarray(u) - np.asarray(v))),
    samples=("A(3), A(3)",),
)
made_of(
    distance.cosine, value=lambda u, v: 1.0 - np.dot(u, v) / np.sqrt(np.dot(u, u) * np.dot(v, v)),
    samples=("A(3), A(3)",),
)
