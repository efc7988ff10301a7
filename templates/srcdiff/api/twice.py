"""Rules of gradients whose own derivative goes by the tangent."""

from srcdiff.rules import *
from srcdiff.runtime.checkpoint import gradients_again, tangent_again
from srcdiff.runtime.second_order import (
    along_by,
    back_by,
    gradients_along,
    gradients_at,
    gradients_at_back,
)


@rule(gradients_at)
@samples("np.multiply, (0, 1), A(3), A(3), A(3)")
def gradients_at_(f, inputs, g, *args):
    more = gradients_at_back(f, inputs, d[z], g, *args)
    d[g] += more[0]
    for k in range(len(args)):
        d[args][k] += more[k + 1]


@forward(gradients_at)
def gradients_at_tangent(f, inputs, g, *args):
    d[z] += gradients_along(f, inputs, (d[g], *d[args]), g, *args)


# The adjoints are a function with a source in their turn, which is differentiated as it is.


@rule(gradients_at_back)
@samples("np.multiply, (0, 1), (A(3), A(3)), A(3), A(3), A(3)")
def gradients_at_back_(f, inputs, u, g, *args):
    more = gradients_again(back_by(f, inputs, args), None, d[z], u, g, *args)
    d[u] += more[0]
    d[g] += more[1]
    for k in range(len(args)):
        d[args][k] += more[k + 2]


@forward(gradients_at_back)
def gradients_at_back_tangent(f, inputs, u, g, *args):
    d[z] += tangent_again(back_by(f, inputs, args), None, (d[u], d[g], *d[args]), u, g, *args)


@rule(gradients_along)
@samples("np.multiply, (0, 1), (A(3), A(3), A(3)), A(3), A(3), A(3)")
def gradients_along_(f, inputs, t, g, *args):
    more = gradients_again(along_by(f, inputs, t), None, d[z], t, g, *args)
    d[t] += more[0]
    d[g] += more[1]
    for k in range(len(args)):
        d[args][k] += more[k + 2]


@forward(gradients_along)
def gradients_along_tangent(f, inputs, t, g, *args):
    d[z] += tangent_again(along_by(f, inputs, t), None, (d[t], d[g], *d[args]), t, g, *args)


nondifferentiable(along_by, back_by)
