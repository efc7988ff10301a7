"""Rules of the helpers for adjoints of containers, and of the check of a cotangent."""

import copy

from srcdiff.rules import *
from srcdiff.runtime import arrays, sequences, trees
from srcdiff.runtime.copies import kept_together
from srcdiff.runtime.layout import laid_copy, laid_like, view_like

nondifferentiable(
    trees.check_adjoint, sequences.first_greatest, sequences.first_least, trees.note_value,
    trees.nothing_seen, trees.order, sequences.same_length, trees.zero_tree, trees.zeros_like,
    sequences.zeros_of,
)  # fmt: skip


@linear(
    trees.kept, trees.deep_copy, trees.as_now, trees.copy_tree, kept_together, sequences.one_value,
    sequences.numbers, sequences.of_items,
)  # fmt: skip
@samples("A(3)", "A()", "A(3), 'f.py', 1", "A(), 'f.py', 1", "A(3), [1.0], 'f.py', 1")
def same(x, *rest):
    d[x] += d[z]


made_of(copy.deepcopy, value=lambda x: trees.deep_copy(x), samples=("A(3)", "A()"))


@rule(laid_copy)
@samples("A(3)", "A(2, 3)", "A(4, 3)[::-2].T")
def laid_copy_(x):
    d[x] += d[z]


@forward(laid_copy)
def laid_copy_tangent(x):
    d[z] += laid_like(d[x], x)


@linear(laid_like, trees.cotangent, constant="x")
@samples("A(2, 3), A(2, 3)", "A(2, 3), A(4, 3)[::2]", "A(), A()")
def laid_like_(values, x):
    d[values] += d[z]


@rule(view_like, constant="base x old")
@samples("A(2, 3), A(3), A(2, 3), A(3)")
def view_like_(base, x, old, other):
    d[other] += d[z]


@forward(view_like)
def view_like_tangent(base, x, old, other):
    d[z] += view_like(d[base], x, old, d[other])


@linear(sequences.as_array)
@samples("A(3)", "A()")
def as_array_(x):
    d[x] += sequences.as_items(d[z], x)


@linear(sequences.as_items, constant="x")
@samples("A(3), A(3)", "A(), A()")
def as_items_(y, x):
    d[y] += sequences.as_array(d[z])


@linear(trees.add_tree)
@samples("A(3), A(3)", "A(), A()")
def add_tree_(x, y):
    d[x] += d[z]
    d[y] += d[z]


@linear(arrays.of_item, constant="x")
@samples("A(3), A(3)", "A(2, 3), A(3)", "A(3), A()")
def of_item_(g, x):
    d[g] += trees.add_tree(trees.zero_tree(g), d[z])


@linear(trees.add_at, mutates="x")
@samples("A(4), np.array([0, 2, 2]), A(3)", "A(4), 1, A()")
def add_at_(x, key, y):
    d[y] += trees.copy_tree(d[x][key])


@linear(trees.add_shared, mutates="x")
@samples("[A(3), A(3)], 1, A(3)")
def add_shared_(x, key, y):
    d[y] += trees.copy_tree(d[x][key])


@linear(trees.add_into, mutates="x")
@samples("[A(3)], [A(3)]")
def add_into_(x, y):
    d[y] += trees.copy_tree(d[x])


@linear(trees.add_numbers, mutates="x")
@samples("[A(), A()], [A(), A()]")
def add_numbers_(x, y):
    trees.add_numbers(d[y], d[x])


@linear(sequences.add_to_part, mutates="x")
@samples("[A(), A(), A()], [A(), A()], slice(1, None)", "[A(), A()], [A(), A()], slice(None)")
def add_to_part_(x, y, part):
    trees.add_numbers(d[y], d[x][part])


@linear(trees.put_back, mutates="x")
@samples("[A(3), A()], [A(3), A()]")
def put_back_(x, old):
    trees.put_back(x, old)
    yield
    trees.add_into(d[old], d[x])
    trees.put_back(d[x], trees.zero_tree(x))


@linear(trees.like_tree, constant="x")
@samples("A(3), A(3)", "A(), A()")
def like_tree_(g, x):
    if isscalar(x) or isarray(x):
        d[g] += d[z]
    else:
        d[g] += trees.add_tree(trees.zero_tree(g), d[z])


@elementwise(trees.where_nonzero)
@samples("A(3), A(3)", "A(), A()")
def where_nonzero_(d_, x):
    d[d_] += 0.0
    d[x] += trees.where_nonzero(d_, d[z])


@rule(trees.hook, view="x")
@samples("A(3), np.copy", "A(), np.positive")
def hook_(x, fn):
    d[x] += trees.hooked(d[z], fn)
    d[fn] += 0.0  # what it reads is no part of the function


@forward(trees.hook)
def hook_tangent(x):
    d[z] += d[x]


@composed(trees.hooked, early=True)
@samples("A(3), np.copy", "A(), np.positive")
def hooked_(g, fn):
    changed = fn(g)
    return g if changed is None else changed
