"""The programs for `jax.jit`: those of `arrays`, with JAX's own loops where there are loops.

Algorithms are those of `loops`: no call of a library routine that does the whole.  Triangular loops
are masked operations on whole arrays, because shapes must not depend on a counter; recurrences are
scans that carry what the next step needs and nothing else.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
from jax import lax

from . import arrays


class Namespace:
    """`jax.numpy`, with what `arrays` asks for beside."""

    relu = staticmethod(jax.nn.relu)
    constant = staticmethod(jnp.asarray)

    def __getattr__(self, name):
        return getattr(jnp, name)

    @staticmethod
    def reversed(x):
        return x[::-1]

    @staticmethod
    def interior(whole, inside):
        return whole.at[(slice(1, -1),) * whole.ndim].set(inside)


XP = Namespace()


def stepped(step):
    """The sum of a grid after some steps."""

    def loss(steps, A, B):
        A, B = lax.fori_loop(1, steps, lambda _, grids: step(XP, *grids), (A, B))
        return jnp.sum(A)

    return loss


jacobi_1d, jacobi_2d, heat_3d = map(
    stepped, (arrays.jacobi_1d_step, arrays.jacobi_2d_step, arrays.heat_3d_step)
)


def nbody(mass, position, velocity, steps):
    step = lambda _, state: arrays.nbody_step(XP, mass, *state)  # noqa: E731
    position, velocity = lax.fori_loop(0, steps, step, (position, velocity))
    return 0.5 * jnp.sum(mass * jnp.sum(velocity**2, axis=1))


def vadv(utens_stage, u_stage, wcon, u_pos, utens, dtr_stage):
    K = u_stage.shape[2]
    first = lambda x: jnp.moveaxis(x, 2, 0)  # noqa: E731
    right = first(dtr_stage * u_pos + utens + utens_stage)
    rise = first(u_stage[:, :, 1:] - u_stage[:, :, :-1])
    g = first(0.125 * (wcon[1:, :, 1:K] + wcon[:-1, :, 1:K]))
    none = jnp.zeros((1, *g.shape[1:]))
    flux = g * rise
    below, above = jnp.concatenate([none, g]), jnp.concatenate([g, none])
    right = right - jnp.concatenate([none, flux]) - jnp.concatenate([flux, none])

    def down(carry, at):
        c, d = carry
        a, g, right = at
        b = dtr_stage + a - g + c * a
        new = g / b, (right + d * a) / b
        return new, new

    def up(column, at):
        c, d = at
        column = d - c * column
        return column, column

    start = jnp.zeros(g.shape[1:])
    _, (c, d) = lax.scan(down, (start, start), (below, above, right))
    _, columns = lax.scan(up, start, (c, d), reverse=True)
    return dtr_stage * (jnp.sum(columns) - jnp.sum(u_pos))


def seidel_2d(steps, A):
    def cell(left, total):
        new = (total + left) / 9.0
        return new, new

    def row(above, rows):
        now, below = rows
        _, cells = lax.scan(cell, now[0], arrays.seidel_row(above, now, below))
        new = now.at[1:-1].set(cells)
        return new, new

    def sweep(_, A):
        _, rows = lax.scan(row, A[0], (A[1:-1], A[2:]))
        return A.at[1:-1].set(rows)

    return jnp.sum(lax.fori_loop(0, steps - 1, sweep, A))


def conv2d_bias(images, weights, bias):
    kinds = ("NHWC", "HWIO", "NHWC")
    out = lax.conv_general_dilated(images, weights, (1, 1), "VALID", dimension_numbers=kinds)
    return jnp.sum((out + bias) ** 2)


def gramschmidt(A):
    columns = jnp.arange(A.shape[1])

    def step(k, state):
        A, total = state
        column = A[:, k]
        norm = jnp.sqrt(column @ column)
        q = column / norm
        r = jnp.where(columns > k, q @ A, 0.0)
        return A - jnp.outer(q, r), total + jnp.sum(q) + norm + jnp.sum(r)

    return lax.fori_loop(0, A.shape[1], step, (A, 0.0))[1]


def cholesky(A):
    rows = jnp.arange(A.shape[0])

    def step(k, state):
        A, total = state
        column = jnp.where(rows >= k, A[:, k] / jnp.sqrt(A[k, k]), 0.0)
        return A - jnp.outer(column, column), total + jnp.sum(column)

    start = jnp.sum(jnp.triu(A, 1))
    return lax.fori_loop(0, A.shape[0], step, (A, start))[1]


def lu(A):
    rows = jnp.arange(A.shape[0])

    def step(k, state):
        A, total = state
        column = jnp.where(rows > k, A[:, k] / A[k, k], 0.0)
        row = jnp.where(rows >= k, A[k], 0.0)
        return A - jnp.outer(column, row), total + jnp.sum(column) + jnp.sum(row)

    return lax.fori_loop(0, A.shape[0], step, (A, 0.0))[1]


def durbin(r):
    n = r.shape[0]
    places = jnp.arange(n)

    def step(k, state):
        y, alpha, beta = state
        beta = beta * (1.0 - alpha * alpha)
        back = jnp.where(places < k, k - 1 - places, 0)
        is_old = places < k
        dot = jnp.sum(jnp.where(is_old, r[back] * y, 0.0))
        alpha = -(r[k] + dot) / beta
        y = jnp.where(is_old, y + alpha * y[back], y).at[k].set(alpha)
        return y, alpha, beta

    start = jnp.zeros(n).at[0].set(-r[0])
    return jnp.sum(lax.fori_loop(1, n, step, (start, -r[0], 1.0))[0])


def trisolv(L, b):
    rows = jnp.arange(L.shape[0])

    def step(b, at):
        k, column = at
        x = b[k] / column[k]
        return jnp.where(rows > k, b - column * x, b), x

    return jnp.sum(lax.scan(step, b, (rows, L.T))[1])
