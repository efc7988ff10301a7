"""Rules of calls that run again in the backward part."""

from srcdiff.recompute import Before, gradients_again, run_again, tangent_again
from srcdiff.rules import d, forward, nondifferentiable, rule, samples, unsupported
from srcdiff.schedules import Slots, pushed_steps, reversed_steps, run_steps


@rule(run_again)
@samples("lambda x, y: np.sin(x) * y, None, A(3), A(3)")
def run_again_(f, before, *args):
    z = run_again(f, before, *args)
    yield z
    found = gradients_again(f, before, d[z], *args)
    for k in range(len(args)):
        d[args][k] += found[k]


@forward(run_again)
def run_again_tangent(f, before, *args):
    z = run_again(f, before, *args)
    yield z
    d[z] += tangent_again(f, before, d[args], *args)


@rule(run_steps)
@samples("lambda i, x, y: (np.sin(x) * y,), srcdiff.schedules.Slots(range(5), 2), 1, A(3), A(3)")
def run_steps_(step, held, count, *values):
    z = run_steps(step, held, count, *values)
    yield z
    found = reversed_steps(step, held, count, d[z], *values)
    for k in range(len(values)):
        d[values][k] += found[k]


@forward(run_steps)
def run_steps_tangent(step, held, count, *values):
    z = run_steps(step, held, count, *values)
    yield z
    d[z] += pushed_steps(step, held, count, d[values], *values)


unsupported("Use a plain loop, without srcdiff.checkpointed.", pushed_steps, reversed_steps)
unsupported("Use the function without srcdiff.checkpoint.", gradients_again, tangent_again)
nondifferentiable(Before, Slots)
