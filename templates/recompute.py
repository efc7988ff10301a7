"""Rules of calls that run again in the backward part."""

from srcdiff.recompute import Before, gradients_again, run_again, tangent_again
from srcdiff.rules import d, forward, known, nondifferentiable, rule, samples, unsupported


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
    for k in range(len(args)):
        if not known(d[args][k]):
            d[z] += tangent_again(f, before, k, d[args][k], *args)


unsupported("Use the function without srcdiff.checkpoint.", gradients_again, tangent_again)
nondifferentiable(Before)
