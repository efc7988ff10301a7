"""Rules of gradients whose own derivative goes by the tangent."""

from srcdiff.rules import d, rule, samples, unsupported
from srcdiff.twice import gradients_at, gradients_at_back


@rule(gradients_at)
@samples("lambda x, y: np.sin(x) * y, (0,), A(3), A(3), A(3)")
def gradients_at_(f, inputs, g, *args):
    found = gradients_at(f, inputs, g, *args)
    yield found
    more = gradients_at_back(f, inputs, d[found], g, *args)
    d[g] += more[0]
    for k in range(len(args)):
        d[args][k] += more[k + 1]


unsupported("Take the third derivative forwards: srcdiff.jvp of the second.", gradients_at_back)
