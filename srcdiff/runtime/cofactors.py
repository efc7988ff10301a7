"""The second and third derivatives of determinants, exact where a matrix is singular."""

from __future__ import annotations

from typing import Any

import numpy as np


def cofactor_slope(a: Any, e: Any) -> Any:
    """The derivative of `cofactor` at `a` in the direction `e`, exact where `a` is singular."""
    u, s, vt = np.linalg.svd(a)
    n = s.shape[-1]
    one = np.eye(n, dtype=s.dtype)
    left_out = (one[:, None] + one) > 0  # of the product of the others, for every pair
    pairs = np.prod(np.where(left_out, 1.0, s[..., None, None, :]), axis=-1) * (1.0 - one)
    inner = np.conj(np.swapaxes(u, -1, -2)) @ e @ np.conj(np.swapaxes(vt, -1, -2))
    diagonal = pairs @ np.diagonal(inner, 0, -2, -1)[..., None]
    turned = one * diagonal - pairs * np.swapaxes(inner, -1, -2)
    sign = np.linalg.det(u) * np.linalg.det(vt)
    return np.expand_dims(sign, (-2, -1)) * (np.conj(u) @ turned @ np.conj(vt))


def regular(a: Any) -> Any:
    """A copy of `a`, whose determinant has derivatives of the fourth order here.

    Raises:
        ValueError: it is singular, or so near to it that its inverse says nothing of them.
    """
    s = np.linalg.svd(a, compute_uv=False)
    if s.size and np.any(s[..., -1] <= np.finfo(s.dtype).eps ** 0.2 * s[..., 0]):
        raise ValueError(
            "derivatives of the fourth order of a determinant need a regular matrix, and this one "
            "is singular or close to it: write the determinant as a sum of products"
        )
    return np.array(a)


def cofactor_curve(a: Any, e: Any, g: Any) -> Any:
    """The second derivative of `runtime.cofactor` at `a` in the directions `e` and `g`."""
    u, s, vt = np.linalg.svd(a)
    uh, v = np.conj(np.swapaxes(u, -1, -2)), np.conj(np.swapaxes(vt, -1, -2))
    e, g, p = uh @ e @ v, uh @ g @ v, _without_three(s)
    de, dg = np.diagonal(e, 0, -2, -1), np.diagonal(g, 0, -2, -1)
    own = np.einsum("...ijk,...i,...j->...k", p, de, dg)
    own = own - np.einsum("...ijk,...ij,...ji->...k", p, e, g)
    crossed = np.einsum("...ijk,...ij,...jk->...ki", p, e, g)
    crossed = crossed + np.einsum("...ijk,...ik,...ji->...kj", p, e, g)
    crossed = crossed - np.einsum("...ijk,...ik,...j->...ki", p, e, dg)
    crossed = crossed - np.einsum("...ijk,...i,...jk->...kj", p, de, g)
    turned = crossed + np.eye(s.shape[-1], dtype=s.dtype) * own[..., None]
    sign = np.linalg.det(u) * np.linalg.det(vt)
    return np.expand_dims(sign, (-2, -1)) * (np.conj(u) @ turned @ np.conj(vt))


def _without_three(s: Any) -> Any:
    """The products of all but three of the last axis; zero where they are not three."""
    k = np.arange(s.shape[-1])
    i, j = k[:, None, None], k[:, None]
    out = ((i != j) & (j != k) & (i != k)) * np.ones_like(s)[..., None, None]
    for at in k:
        out = out * np.where((i == at) | (j == at) | (k == at), 1.0, s[..., at, None, None, None])
    return out.astype(s.dtype)
