"""Rules of the helpers for adjoints of containers, and of the check of a cotangent."""

import copy

from srcdiff.rules import (
    composed,
    d,
    elementwise,
    forward,
    isarray,
    isscalar,
    linear,
    nondifferentiable,
    rule,
    samples,
)
from srcdiff.runtime.copies import kept_together
from srcdiff.runtime.layout import laid_copy, laid_like, view_like
from srcdiff.runtime.sequences import (
    add_to_part,
    as_array,
    as_items,
    first_greatest,
    first_least,
    numbers,
    of_items,
    one_value,
    same_length,
    zeros_of,
)
from srcdiff.runtime.trees import (
    add_at,
    add_into,
    add_numbers,
    add_shared,
    add_tree,
    as_now,
    check_adjoint,
    copy_tree,
    cotangent,
    deep_copy,
    hook,
    hooked,
    kept,
    like_tree,
    note_value,
    nothing_seen,
    order,
    put_back,
    where_nonzero,
    zero_tree,
    zeros_like,
)

nondifferentiable(
    check_adjoint, first_greatest, first_least, note_value, nothing_seen, order, same_length,
    zero_tree, zeros_like, zeros_of,
)  # fmt: skip


@linear(kept)
@samples("A(3)", "A()")
def kept_(x):
    z = kept(x)
    yield z
    d[x] += d[z]


@linear(deep_copy)
@samples("A(3)", "A()")
def deep_copy_(x):
    z = deep_copy(x)
    yield z
    d[x] += d[z]


@composed(copy.deepcopy)
@samples("A(3)", "A()")
def deepcopy_(x):
    return deep_copy(x)


@linear(kept_together)
@samples("A(3)", "A()")
def kept_together_(x):
    z = kept_together(x)
    yield z
    d[x] += d[z]


@linear(as_now)
@samples("A(3)", "A()")
def as_now_(x):
    z = as_now(x)
    yield z
    d[x] += d[z]


@rule(laid_copy)
@samples("A(3)", "A(2, 3)", "A(4, 3)[::-2].T")
def laid_copy_(x):
    z = laid_copy(x)
    yield z
    d[x] += d[z]


@forward(laid_copy)
def laid_copy_tangent(x):
    z = laid_copy(x)
    yield z
    d[z] += laid_like(d[x], x)


@linear(laid_like)
@samples("A(2, 3), A(2, 3)", "A(2, 3), A(4, 3)[::2]")
def laid_like_(values, x):
    z = laid_like(values, x)
    yield z
    d[values] += d[z]
    d[x] += 0.0


@rule(view_like)
@samples("A(2, 3), A(3), A(2, 3), A(3)")
def view_like_(base, x, old, other):
    z = view_like(base, x, old, other)
    yield z
    d[base] += 0.0
    d[x] += 0.0
    d[old] += 0.0
    d[other] += d[z]


@forward(view_like)
def view_like_tangent(base, x, old, other):
    z = view_like(base, x, old, other)
    yield z
    d[z] += view_like(d[base], x, old, d[other])


@linear(one_value)
@samples("A(3), 'f.py', 1", "A(), 'f.py', 1")
def one_value_(x, file, line):
    z = one_value(x, file, line)
    yield z
    d[x] += d[z]


@linear(of_items)
@samples("A(3), [1.0], 'f.py', 1")
def of_items_(y, x, file, line):
    z = of_items(y, x, file, line)
    yield z
    d[y] += d[z]


@linear(as_array)
@samples("A(3)", "A()")
def as_array_(x):
    z = as_array(x)
    yield z
    d[x] += as_items(d[z], x)


@linear(as_items)
@samples("A(3), A(3)", "A(), A()")
def as_items_(y, x):
    z = as_items(y, x)
    yield z
    d[y] += as_array(d[z])
    d[x] += 0.0


@linear(numbers)
@samples("A(3), 'f.py', 1", "A(), 'f.py', 1")
def numbers_(x, file, line):
    z = numbers(x, file, line)
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


@linear(add_at, mutates="x")
@samples("A(4), np.array([0, 2, 2]), A(3)", "A(4), 1, A()")
def add_at_(x, key, y):
    add_at(x, key, y)
    yield
    d[y] += copy_tree(d[x][key])


@linear(add_shared, mutates="x")
@samples("[A(3), A(3)], 1, A(3)")
def add_shared_(x, key, y):
    add_shared(x, key, y)
    yield
    d[y] += copy_tree(d[x][key])


@linear(add_into, mutates="x")
@samples("[A(3)], [A(3)]")
def add_into_(x, y):
    add_into(x, y)
    yield
    d[y] += copy_tree(d[x])


@linear(add_numbers, mutates="x")
@samples("[A(), A()], [A(), A()]")
def add_numbers_(x, y):
    add_numbers(x, y)
    yield
    add_numbers(d[y], d[x])


@linear(add_to_part, mutates="x")
@samples("[A(), A(), A()], [A(), A()], slice(1, None)", "[A(), A()], [A(), A()], slice(None)")
def add_to_part_(x, y, part):
    add_to_part(x, y, part)
    yield
    add_numbers(d[y], d[x][part])


@linear(put_back, mutates="x")
@samples("[A(3), A()], [A(3), A()]")
def put_back_(x, old):
    put_back(x, old)
    yield
    add_into(d[old], d[x])
    put_back(d[x], zero_tree(x))


@linear(like_tree)
@samples("A(3), A(3)", "A(), A()")
def like_tree_(g, x):
    z = like_tree(g, x)
    yield z
    if isscalar(x) or isarray(x):
        d[g] += d[z]
    else:
        d[g] += add_tree(zero_tree(g), d[z])
    d[x] += 0.0


@linear(cotangent)
@samples("A(3), A(3)", "A(), A()")
def cotangent_(g, x):
    z = cotangent(g, x)
    yield z
    d[g] += d[z]
    d[x] += 0.0


@elementwise(where_nonzero)
@samples("A(3), A(3)", "A(), A()")
def where_nonzero_(d_, x):
    z = where_nonzero(d_, x)
    yield z
    d[d_] += 0.0
    d[x] += where_nonzero(d_, d[z])


@rule(hook, view="x")
@samples("A(3), np.copy", "A(), np.positive")
def hook_(x, fn):
    z = hook(x, fn)
    yield z
    d[x] += hooked(d[z], fn)
    d[fn] += 0.0  # what it reads is no part of the function


@forward(hook)
def hook_tangent(x, fn):
    z = hook(x, fn)
    yield z
    d[z] += d[x]


@composed(hooked, early=True)
@samples("A(3), np.copy", "A(), np.positive")
def hooked_(g, fn):
    changed = fn(g)
    return g if changed is None else changed
