"""Statements of every kind."""

import bisect
import logging
import math

import numpy as np

from .registry import sample


def three(r):
    return (r.uniform(0.3, 1.5, 3),)


def state_walrus(x):
    if (s := np.sum(x * x)) > 1.0:
        return s * x[0]
    return s


sample(state_walrus, three)

def state_ternary(x):
    a = x[0] if x[0] > x[1] else x[1] ** 2
    return a * (x[2] if len(x) > 2 else 1.0)


sample(state_ternary, three)

def state_and_or(x):
    a = x[0] > 0.1 and x[1]
    b = None or x[2]
    c = x[0] or x[1]
    return a * b * c


sample(state_and_or, three)

def state_and_or2(x):
    scale = None
    s = scale or 2.0
    return x[0] * s


sample(state_and_or2, three)

def state_not(x):
    return x[0] ** 2 if not x[1] > 100 else x[2]


sample(state_not, three)

def state_chained(x):
    if 0.1 < x[0] < 10.0 and 0 <= 1 < 2:
        return x[0] * x[1]
    return x[2]


sample(state_chained, three)

def state_fstring(x):
    s = f"{x[0]:.3f} {len(x)!r}"
    return x[0] * len(s)


sample(state_fstring, three)

def state_assert(x):
    assert x.shape == (3,), "bad"
    assert np.all(x > 0)
    return np.sum(x * x)


sample(state_assert, three)

def state_raise(x):
    if x.ndim != 1:
        raise ValueError(f"ndim {x.ndim}")
    y = x * x
    if not np.isfinite(y).all():
        raise FloatingPointError("no")
    return np.sum(y)


sample(state_raise, three)

def state_del(x):
    y = x * x
    z = y + x
    del y
    return np.sum(z)


sample(state_del, three)

def state_del2(x):
    y, w = x * x, x
    z = y + w
    del y, w
    return np.sum(z)


sample(state_del2, three)

def state_pass(x):
    if x[0] > 0:
        pass
    else:
        ...
    return np.sum(x * x)


sample(state_pass, three)

def state_import(x):
    from math import exp as e

    import numpy.linalg as la
    return math.sin(x[0]) * la.norm(x) * e(x[1])


sample(state_import, three)

def state_import_in_if(x):
    if x[0] > 0:
        import math
    return math.sin(x[0])


sample(state_import_in_if, three)

def state_for_else(x):
    t = 0.0
    for v in x:
        t = t + v * v
        if t > 100:
            break
    else:
        t = t * x[0]
    return t


sample(state_for_else, three)

def state_for_else2(x):
    t = 0.0
    for v in x:
        t = t + v * v
        if t > 0.5:
            break
    else:
        t = t * x[0]
    return t * x[1]


sample(state_for_else2, three)

def state_while_else(x):
    i = 0
    t = x[0]
    while i < 3:
        t = t * x[i]
        if t > 100:
            break
        i += 1
    else:
        t = t + x[1] ** 2
    return t


sample(state_while_else, three)

def state_match(x):
    k = len(x)
    match k:
        case 1:
            return x[0]
        case 3:
            return x[0] * x[1]
        case _:
            return x[1]


sample(state_match, three)

def state_match_str(x):
    mode = "b"
    match mode:
        case "a":
            y = x[0]
        case "b" | "c":
            y = x[1] * x[2]
        case _:
            y = 0.0
    return y


sample(state_match_str, three)

def state_match_guard(x):
    n = 4
    match n:
        case k if k > 3:
            return x[0] * k
    return x[1]


sample(state_match_guard, three)

def state_with_errstate(x):
    with np.errstate(divide="ignore", invalid="ignore"):
        y = np.log(x) / x
    return np.sum(y * x)


sample(state_with_errstate, three)

def state_with_errstate_all(x):
    y = x
    for i in range(3):
        with np.errstate(all="ignore"):
            y = np.where(y > 0, np.sqrt(y), 0.0) * x
    return np.sum(y)


sample(state_with_errstate_all, three)

def state_with_return(x):
    with np.errstate(over="ignore"):
        y = x * x
        return np.sum(y)


sample(state_with_return, three)

def state_lambda_default(x):
    f = lambda v, k=x[1], n=2: v ** n * k
    return f(x[0]) + f(x[2], n=3)


sample(state_lambda_default, three)

def state_aug_names2(x):
    y = x[0] * 10
    y %= x[1]
    return y * x[0]


sample(state_aug_names2, three)

def state_aug_mat(x):
    m = np.outer(x, x)
    m @= m
    return np.sum(m)


sample(state_aug_mat, three)

def state_aug_int(x):
    i = 1
    i <<= 1
    i |= 1
    i &= 2
    i ^= 0
    i >>= 1
    return x[i] ** 2


sample(state_aug_int, three)

def state_aug_items(x):
    y = x.copy()
    y[0] += x[1]
    y[1] -= x[0]
    y[2] *= x[1]
    y[0] /= x[2]
    y[1] **= 2
    y[1:] += x[0]
    y[:2] *= x[1:]
    return np.sum(y * x)


sample(state_aug_items, three)

def state_tuple_assign_chain(x):
    a = b = c = x[0] * x[1]
    a = a * x[2]
    return a + b * c


sample(state_tuple_assign_chain, three)

def state_annot(x):
    y: float = x[0] * 2.0
    z: "np.ndarray"
    z = x * y
    return np.sum(z)


sample(state_annot, three)

def state_doc(x):
    """Doc."""
    "another string"
    1.0
    return x[0] ** 2


sample(state_doc, three)

def state_early(x):
    for i in range(3):
        if x[i] > 0.9:
            return x[i] ** 2
    return x[0] * x[1]


sample(state_early, three)

def state_early_while(x):
    i = 0
    while True:
        if i >= 3:
            return x[0] ** 2
        if x[i] > 5.0:
            break
        i += 1
    return x[1]


sample(state_early_while, three)

def state_continue(x):
    t = 0.0
    for i, v in enumerate(x):
        if i == 1:
            continue
        t += v ** 2
    return t


sample(state_continue, three)

def state_nested_break(x):
    t = 0.0
    for i in range(3):
        for j in range(3):
            if j > i:
                break
            if i == 1:
                continue
            t += x[i] * x[j]
        else:
            t *= x[0]
    return t


sample(state_nested_break, three)

def state_loopvar_after(x):
    for i in range(3):
        t = x[i] * x[0]
    return t * x[i]


sample(state_loopvar_after, three)

def state_loopvar_after2(x):
    t = x[0]
    for v in x:
        t = t * v
    return t * v


sample(state_loopvar_after2, three)

def state_undefined_branch(x):
    for i in range(3):
        if i > 0:
            t = t * x[i]  # noqa: F821
        else:
            t = x[0]
    return t


sample(state_undefined_branch, three)

def state_star_args(x):
    def f(*a, k=1.0, **kw):
        return a[0] * a[1] * k * kw.get("z", 2.0)
    return f(x[0], x[1], k=x[2], z=x[0])


sample(state_star_args, three)

def state_bool_ops(x):
    a = (x > 0.5) & (x < 1.0) | ~(x > 0.2)
    return np.sum(np.where(a, x * x, x))


sample(state_bool_ops, three)

def state_bool_sum(x):
    return sum(x > 0.5) * x[0] + np.sum(x[x > 0.5])


sample(state_bool_sum, three)

def state_is(x):
    y = None
    if y is None:
        y = x * 2
    return np.sum(y * x)


sample(state_is, three)

def state_string_ops(x):
    m = "tanh"
    if m == "tanh" and m.startswith("t") and m in ("tanh", "sin"):
        return np.sum(np.tanh(x))
    return x[0]


sample(state_string_ops, three)

def state_slices_var(x):
    s = slice(0, 2)
    return np.sum(x[s] ** 2) * x[slice(1, None)][0]


sample(state_slices_var, three)

def state_ellipsis(x):
    return np.sum(x[..., None] * x[None, ...])


sample(state_ellipsis, three)

def state_type(x):
    if type(x) is np.ndarray and isinstance(x, np.ndarray):
        return np.sum(x * x)
    return x


sample(state_type, three)

def state_lambda_map(x):
    fs = [lambda v, k=k: v * k for k in range(3)]
    return fs[1](x[0]) + fs[2](x[1])


sample(state_lambda_map, three)

def state_complex_cond(x):
    t = 0.0
    for i in range(5):
        if i < 3 and x[i] > 0.5 or i == 4:
            t += x[i % 3] ** 2
    return t


sample(state_complex_cond, three)

def state_unused_tuple(x):
    a, _ = x[0] * x[1], len(x)
    return a


sample(state_unused_tuple, three)

def state_num(x):
    n = x.size
    return np.sum(x) / n + x.mean() * x.shape[0] + np.float64(2) * x[0]


sample(state_num, three)


def found_by_bisection(x):
    logging.debug("at %s", x)
    i = bisect.bisect([0.0, 1.5, 2.5], x[1])
    return x[i] * x[bisect.bisect_left([0.0, 9.0], x[0])]


sample(found_by_bisection, lambda r: (r.uniform(0.2, 1.2, 3),))
