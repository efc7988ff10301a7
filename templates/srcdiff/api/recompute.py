"""Rules of calls that run again in the backward part."""

from srcdiff.rules import *
from srcdiff.runtime import checkpoint
from srcdiff.runtime.checkpoint import again, gradients_again, gradients_by, tangent_again


@rule(checkpoint.run_again)
@samples("lambda x, y: np.sin(x) * y, None, A(3), A(3)")
def run_again_(f, before, *args):
    found = gradients_again(f, before, d[z], *args)
    d[args] += found


@forward(checkpoint.run_again)
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
    found = gradients_again(checkpoint.tangent_by(f, t), again(before), d[z], t, *args)
    for k in range(len(args)):
        d[t][k] += found[0][k]
        d[args][k] += found[k + 1]


@forward(tangent_again)
def tangent_again_tangent(f, before, t, *args):
    d[z] += tangent_again(checkpoint.tangent_by(f, t), again(before), (d[t], *d[args]), t, *args)


@rule(checkpoint.run_steps)
@samples(
    "lambda i, x, y: (np.sin(x) * y,), srcdiff.runtime.checkpoint.Slots(range(5), 2), 1, "
    "A(3), A(3)"
)
def run_steps_(step, held, count, *values):
    found = checkpoint.reversed_steps(step, held, count, d[z], *values)
    d[values] += found


@forward(checkpoint.run_steps)
def run_steps_tangent(step, held, count, *values):
    d[z] += checkpoint.pushed_steps(step, held, count, d[values], *values)


# A loop of the values and of their tangents has the second derivatives, in as many slots.


@rule(checkpoint.reversed_steps)
def reversed_steps_(step, held, count, g, *values):
    more = checkpoint.steps_with_tangents(step, held, count, d[z], (None, g), *values)
    d[g] += more[0]
    d[values] += more[1]


@forward(checkpoint.reversed_steps)
def reversed_steps_tangent(step, held, count, g, *values):
    moved = (d[g], g)
    d[z] += checkpoint.steps_with_tangents(step, held, count, d[values], moved, *values)[1]


@rule(checkpoint.pushed_steps)
def pushed_steps_(step, held, count, t, *values):
    more = checkpoint.steps_with_tangents(step, held, count, t, (None, d[z]), *values)
    d[t] += more[2]
    d[values] += more[1]


unsupported("Use a plain loop, without srcdiff.checkpointed.", checkpoint.steps_with_tangents)
nondifferentiable(
    again, gradients_by, checkpoint.Before, checkpoint.Slots, checkpoint.has_run,
    checkpoint.remaining, checkpoint.tangent_by, checkpoint.unmoved,
)  # fmt: skip
