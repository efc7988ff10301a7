"""Rules of calls that run again in the backward part."""

from srcdiff.rules import *
from srcdiff.runtime.checkpoint import (
    Before,
    Slots,
    again,
    gradients_again,
    gradients_by,
    has_run,
    pushed_steps,
    remaining,
    reversed_steps,
    run_again,
    run_steps,
    steps_with_tangents,
    tangent_again,
    tangent_by,
    unmoved,
)


@rule(run_again)
@samples("lambda x, y: np.sin(x) * y, None, A(3), A(3)")
def run_again_(f, before, *args):
    found = gradients_again(f, before, d[z], *args)
    for k in range(len(args)):
        d[args][k] += found[k]


@forward(run_again)
def run_again_tangent(f, before, *args):
    d[z] += tangent_again(f, before, d[args], *args)


# The gradients are a function of the adjoint and the arguments, which runs again in its turn.


@rule(gradients_again)
@samples("np.multiply, None, A(3), A(3), A(3)")
def gradients_again_(f, before, g, *args):
    more = gradients_again(gradients_by(f, args), again(before), d[z], g, *args)
    d[g] += more[0]
    for k in range(len(args)):
        d[args][k] += more[k + 1]


@forward(gradients_again)
def gradients_again_tangent(f, before, g, *args):
    d[z] += tangent_again(gradients_by(f, args), again(before), (d[g], *d[args]), g, *args)


@rule(tangent_again)
@samples("np.multiply, None, (A(3), A(3)), A(3), A(3)")
def tangent_again_(f, before, t, *args):
    found = gradients_again(tangent_by(f, t), again(before), d[z], t, *args)
    for k in range(len(args)):
        d[t][k] += found[0][k]
        d[args][k] += found[k + 1]


@forward(tangent_again)
def tangent_again_tangent(f, before, t, *args):
    d[z] += tangent_again(tangent_by(f, t), again(before), (d[t], *d[args]), t, *args)


@rule(run_steps)
@samples(
    "lambda i, x, y: (np.sin(x) * y,), srcdiff.runtime.checkpoint.Slots(range(5), 2), 1, "
    "A(3), A(3)"
)
def run_steps_(step, held, count, *values):
    found = reversed_steps(step, held, count, d[z], *values)
    for k in range(len(values)):
        d[values][k] += found[k]


@forward(run_steps)
def run_steps_tangent(step, held, count, *values):
    d[z] += pushed_steps(step, held, count, d[values], *values)


# A loop of the values and of their tangents has the second derivatives, in as many slots.


@rule(reversed_steps)
def reversed_steps_(step, held, count, g, *values):
    more = steps_with_tangents(step, held, count, d[z], (None, g), *values)
    d[g] += more[0]
    for k in range(len(values)):
        d[values][k] += more[1][k]


@forward(reversed_steps)
def reversed_steps_tangent(step, held, count, g, *values):
    d[z] += steps_with_tangents(step, held, count, d[values], (d[g], g), *values)[1]


@rule(pushed_steps)
def pushed_steps_(step, held, count, t, *values):
    more = steps_with_tangents(step, held, count, t, (None, d[z]), *values)
    for k in range(len(values)):
        d[t][k] += more[2][k]
        d[values][k] += more[1][k]


unsupported("Use a plain loop, without srcdiff.checkpointed.", steps_with_tangents)
nondifferentiable(
    Before, Slots, again, gradients_by, has_run, remaining, tangent_by, unmoved
)  # fmt: skip
