"""Rules of the helpers for adjoints of containers, and of the check of a cotangent."""

from srcdiff.rules import d, linear, nondifferentiable, samples
from srcdiff.trees import add_tree, copy_tree, cotangent, kept, like_tree, zero_tree

nondifferentiable(zero_tree)


@linear(kept)
@samples("A(3)", "A()")
def kept_(x):
    z = kept(x)
    yield z
    d[x] += d[z]


@linear(copy_tree)
@samples("A(3)", "A()")
def copy_tree_(x):
    z = copy_tree(x)
    yield z
    d[x] += d[z]


@linear(add_tree)
@samples("A(3), A(3)", "A(), A()")
def add_tree_(x, y):
    z = add_tree(x, y)
    yield z
    d[x] += d[z]
    d[y] += d[z]


@linear(like_tree)
@samples("A(3), A(3)", "A(), A()")
def like_tree_(g, x):
    z = like_tree(g, x)
    yield z
    d[g] += d[z]
    d[x] += 0.0


@linear(cotangent)
@samples("A(3), A(3)", "A(), A()")
def cotangent_(g, x):
    z = cotangent(g, x)
    yield z
    d[g] += d[z]
    d[x] += 0.0
