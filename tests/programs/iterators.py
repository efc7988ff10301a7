"""Comprehensions, builtins that run over values, and itertools."""

import functools
import itertools
import math
import operator

import numpy as np

from .registry import sample


def three(r):
    return (r.uniform(0.3, 1.5, 3),)


def run_nestedcomp(x):
    return sum([a * b for a in x for b in x if a > b])


sample(run_nestedcomp, three)

def run_compcond(x):
    return sum([a if a > 0.6 else a * a for a in x])


sample(run_compcond, three)

def run_zipcomp(x):
    return sum([a * b for a, b in zip(x, x[::-1])])


sample(run_zipcomp, three)

def run_enumcomp(x):
    return sum([i * b ** 2 for i, b in enumerate(x)])


sample(run_enumcomp, three)

def run_gen_sum(x):
    return sum(v * v for v in x)


sample(run_gen_sum, three)

def run_gen_sum_start(x):
    return sum((v * v for v in x), x[0])


sample(run_gen_sum_start, three)

def run_sum_lists(x):
    return sum([[x[0]], [x[1], x[2]]], [])[2] * x[0]


sample(run_sum_lists, three)

def run_gen_max(x):
    return max(v * v for v in x) + min(np.sin(v) for v in x)


sample(run_gen_max, three)

def run_max_args(x):
    return max(x[0], x[1] * x[2]) * min(x[0], 0.5, x[1])


sample(run_max_args, three)

def run_max_list(x):
    c = [v * v for v in x]
    return max(c) * min(c)


sample(run_max_list, three)

def run_max_arr(x):
    return max(x) * min(x)


sample(run_max_arr, three)

def run_max_key(x):
    i = max(range(3), key=lambda k: [3, 1, 2][k])
    return x[i] ** 2


sample(run_max_key, three)

def run_max_key_active(x):
    v = max(x, key=lambda k: -k)
    return v ** 2


sample(run_max_key_active, three)

def run_max_argmax(x):
    i = max(range(3), key=lambda k: x[k])
    return x[i] ** 2


sample(run_max_argmax, three)

def run_max_default(x):
    v = max([w for w in x if w > 100.0], default=x[0])
    return v ** 2


sample(run_max_default, three)

def run_any(x):
    if any(v > 0.5 for v in x):
        return x[0] * x[1]
    return x[2]


sample(run_any, three)

def run_all(x):
    if all(v > 0.5 for v in x) or any([v > 100 for v in x]):
        return x[0] * x[1]
    return x[2] ** 2


sample(run_all, three)

def run_nparray(x):
    a = np.array([v * v for v in x])
    b = np.array([[x[0], x[1]], [x[2], 1.0]])
    return np.sum(a) * np.sum(b @ b)


sample(run_nparray, three)

def run_nparray_gen2(x):
    a = np.array([[u * v for u in x] for v in x])
    return np.sum(a @ a)


sample(run_nparray_gen2, three)

def run_npstack(x):
    return np.sum(np.stack([x * i for i in range(3)]) ** 2)


sample(run_npstack, three)

def run_npstack_tuple(x):
    return np.sum(np.stack(tuple(x * i for i in range(3))) ** 2)


sample(run_npstack_tuple, three)

def run_npconcat(x):
    return np.sum(np.concatenate([x * v for v in x]) ** 2)


sample(run_npconcat, three)

def run_hstack(x):
    return np.sum(np.hstack([x, x[:1], [1.0]]) ** 2) + np.sum(np.column_stack([x, x * x]) ** 3)


sample(run_hstack, three)

def run_tuple_gen(x):
    a, b, c = (v * v for v in x)
    return a * b + c


sample(run_tuple_gen, three)

def run_map(x):
    return sum(map(lambda v: v * v, x))


sample(run_map, three)

def run_map_list(x):
    a = list(map(np.sin, x))
    b = list(map(lambda u, v: u * v, x, a))
    return a[0] * b[1] + b[2]


sample(run_map_list, three)

def run_map_float(x):
    a, b, c = map(float, x)
    return a * b + c


sample(run_map_float, three)

def run_filter(x):
    return sum(filter(lambda v: v > 0.5, x))


sample(run_filter, three)

def run_reduce(x):
    return functools.reduce(lambda a, b: a * b + 1.0, x)


sample(run_reduce, three)

def run_reduce_init(x):
    return functools.reduce(operator.mul, [v * v for v in x], 1.0)


sample(run_reduce_init, three)

def run_abs(x):
    return abs(x[0] - x[1]) * abs(-x[2])


sample(run_abs, three)

def run_round(x):
    return round(x[0] * 10.0) * x[1] + round(x[2], 1)


sample(run_round, three)

def run_divmod(x):
    q, r = divmod(x[0] * 10.0, x[1])
    return q * r + r


sample(run_divmod, three)

def run_pow(x):
    return pow(x[0], x[1]) * pow(x[2], 3)


sample(run_pow, three)

def run_float(x):
    return float(x[0]) * float(np.sum(x)) + int(x[1] * 5) * x[2]


sample(run_float, three)

def run_mod(x):
    return (x[0] * 10.0) % x[1] + x[2] // 0.1


sample(run_mod, three)

def run_math(x):
    return math.sin(x[0]) * math.exp(x[1]) + math.pow(x[2], 2) + math.sqrt(x[0])


sample(run_math, three)

def run_range_var(x):
    r = range(1, 3)
    t = 0.0
    for i in r:
        t = t + x[i] ** 2
    for i in reversed(r):
        t = t * x[i]
    return t * len(r) * x[r[0]]


sample(run_range_var, three)

def run_range_list(x):
    ks = list(range(3))
    t = 0.0
    for k in ks:
        t = t + x[k] ** 2
    return t


sample(run_range_list, three)

def run_product(x):
    t = 0.0
    for i, j in itertools.product(range(3), range(2)):
        t = t + x[i] * x[j]
    return t


sample(run_product, three)

def run_product_repeat(x):
    t = 0.0
    for i, j in itertools.product(range(3), repeat=2):
        t = t + x[i] * x[j]
    return t


sample(run_product_repeat, three)

def run_combinations(x):
    t = 0.0
    for i, j in itertools.combinations(range(3), 2):
        t = t + x[i] * x[j] ** 2
    return t


sample(run_combinations, three)

def run_combinations_active(x):
    t = 0.0
    for a, b in itertools.combinations(x, 2):
        t = t + a * b ** 2
    return t


sample(run_combinations_active, three)

def run_permutations(x):
    t = 0.0
    for a, b, c in itertools.permutations([0, 1, 2]):
        t = t + x[a] * x[b] ** 2 * x[c] ** 3
    return t


sample(run_permutations, three)

def run_product_active(x):
    t = 0.0
    for a, b in itertools.product(x, x[:2]):
        t = t + a * b ** 2
    return t


sample(run_product_active, three)

def run_pairwise(x):
    t = 0.0
    for a, b in itertools.pairwise(x):
        t = t + a * b ** 2
    return t


sample(run_pairwise, three)

def run_pairwise_passive(x):
    t = 0.0
    for a, b in itertools.pairwise([0, 1, 2]):
        t = t + x[a] * x[b] ** 2
    return t


sample(run_pairwise_passive, three)

class Mass:
    def __init__(self, place, weight):
        self.place, self.weight, self.force = place, weight, 0.0

    def pull(self, force):
        self.force = self.force + force


def run_pairs_of_objects(x):
    masses = [Mass(v, 1.0 + v * v) for v in x]
    for one, other in itertools.combinations(masses, 2):
        force = one.weight * other.weight / (1.0 + (one.place - other.place) ** 2)
        one.pull(force * other.place)
        other.pull(-force * one.place)
    for one, other in itertools.product(masses, masses[1:]):
        one.weight = one.weight * 0.9 + other.force * 0.1
    return sum(m.force * m.weight for m in masses)


sample(run_pairs_of_objects, three)

def run_combinations_of_what_changes(x):
    """The items are those at the beginning."""
    xs, t = list(x), 0.0
    for a, (b, c) in zip(x, itertools.combinations(xs, 2)):
        xs[1] = xs[1] * xs[0]
        t = t + a * b * c ** 2
    return t + xs[1]


sample(run_combinations_of_what_changes, three)

def run_next(x):
    t = x[1]
    for limit in (-9.0, 0.1, 9.0):
        t = t + limit * next((v * v for v in x if v > limit), x[2])
        t = t + next(filter(lambda v, limit=limit: v < limit, x), 1.0)
    return t * next(map(np.sin, x), 1.0)


sample(run_next, three)

def run_chain(x):
    t = 0.0
    for v in itertools.chain(x, [x[0] * x[1]]):
        t = t * v + v
    return t


sample(run_chain, three)

def run_chain_passive(x):
    t = 0.0
    for v in itertools.chain([0, 1], range(2)):
        t = t * x[v] + x[v]
    return t


sample(run_chain_passive, three)

def run_chain_iter(x):
    t = 1.0
    for v in itertools.chain.from_iterable([[x[0]], [x[1], x[2]]]):
        t = t * v + v
    return t


sample(run_chain_iter, three)

def run_accumulate(x):
    t = 1.0
    for v in itertools.accumulate(x):
        t = t * v
    return t


sample(run_accumulate, three)

def run_accumulate_mul(x):
    return sum(itertools.accumulate(x, operator.mul))


sample(run_accumulate_mul, three)

def run_accumulate_list(x):
    c = list(itertools.accumulate(x, lambda a, b: a * b + 1.0))
    return c[0] * c[2]


sample(run_accumulate_list, three)

def run_accumulate_passive(x):
    t = 1.0
    for k in itertools.accumulate([0, 1, 1]):
        t = t * x[k]
    return t


sample(run_accumulate_passive, three)

def run_repeat(x):
    t = x[0]
    for k in itertools.repeat(1, 3):
        t = t * x[k]
    return t


sample(run_repeat, three)

def run_repeat_active(x):
    t = x[0]
    for k in itertools.repeat(x[1], 3):
        t = t * k
    return t


sample(run_repeat_active, three)

def run_islice(x):
    t = 0.0
    for v in itertools.islice(x, 2):
        t += v * v
    return t


sample(run_islice, three)

def run_count_zip(x):
    t = 0.0
    for v, k in zip(x, itertools.count(1)):
        t += v * v * k
    return t


sample(run_count_zip, three)

def run_sum_axis(x):
    return sum(np.outer(x, x))[1] * sum([x, x * x])[0]


sample(run_sum_axis, three)

def run_sum_tuple(x):
    return sum((x[0], x[1] * x[2])) * sum((), 1.0)


sample(run_sum_tuple, three)

def run_len_comp(x):
    return len([v for v in x if v > 0.5]) * x[0]


sample(run_len_comp, three)

def run_comp_scope(x):
    i = 2
    s = [x[i] for i in range(2)]
    return s[0] * s[1] * x[i]


sample(run_comp_scope, three)

def run_comp_walrus(x):
    s = [y * y for v in x if (y := v * 2.0) > 1.0]
    return sum(s) + x[0]


sample(run_comp_walrus, three)

def run_comp_closure(x):
    def g(v):
        return v * x[0]
    return sum([g(v) for v in x])


sample(run_comp_closure, three)

def run_comp_nested_list(x):
    m = [[0.0 if i == j else x[i] * x[j] for j in range(3)] for i in range(3)]
    return np.sum(np.array(m) @ x)


sample(run_comp_nested_list, three)

def run_comp_dictitems(x):
    d = {"a": x[0], "b": x[1]}
    return sum([v * (2 if k == "a" else 3) for k, v in d.items()]) * sum(d[k] for k in d)


sample(run_comp_dictitems, three)

def run_join(x):
    s = ",".join(str(i) for i in range(3))
    return x[0] * len(s)


sample(run_join, three)

def run_sorted_active(x):
    s = sorted(x)
    return s[0] * s[1] ** 2


sample(run_sorted_active, three)

def run_sorted_active_list(x):
    s = sorted([v * v for v in x], reverse=True)
    return s[0] * s[1] ** 2


sample(run_sorted_active_list, three)

def run_sorted_key_active(x):
    s = sorted(range(3), key=lambda i: x[i])
    return x[s[0]] * x[s[1]] ** 2


sample(run_sorted_key_active, three)

def run_sorted_pairs(x):
    ps = sorted([(2, x[0]), (1, x[1])])
    return ps[0][1] ** 2 * ps[1][1]


sample(run_sorted_pairs, three)

def run_sort_inplace(x):
    s = [v * v for v in x]
    s.sort()
    return s[0] * s[1] ** 2


sample(run_sort_inplace, three)

def run_argsort_loop(x):
    t = 0.0
    for k, i in enumerate(np.argsort(x)):
        t += x[i] * (k + 1)
    return t


sample(run_argsort_loop, three)

def run_ndindex(x):
    m = np.outer(x, x)
    t = 0.0
    for i, j in np.ndindex(3, 3):
        t += m[i, j] * (i + j)
    return t


sample(run_ndindex, three)

def run_isinstance(x):
    c = [x[0], 2, x[1]]
    t = 1.0
    for v in c:
        if isinstance(v, float):
            t = t * v
    return t


sample(run_isinstance, three)


def alone_in_a_tuple(x, places):
    return np.array([x[i] * i for i, in places]) * sum(x[i] ** i for (i,) in places)


def elements_with_places(x):
    total = 0.0
    for (i, j), v in np.ndenumerate(x):
        total += v**2 * np.sin(i + 2.0 * j + v)
    return total * np.array([v * place[1] for place, v in np.ndenumerate(x)])


sample(alone_in_a_tuple, lambda r: (r.standard_normal(4), [(1,), (3,), (2,)]))
sample(elements_with_places, lambda r: (r.standard_normal((2, 3)),))


def counter_that_was_a_value(x, n):
    k = x[0] * 2.0
    for k in range(n):
        x = x * 1.1
    return x * np.sin(k + x[1])


for _count in (0, 3):
    sample(counter_that_was_a_value, lambda r, n=_count: (r.standard_normal(3), n))


def greatest_of_pairs(x):
    largest, i = max((v * v, i) for i, v in enumerate(x))
    least, k = min(zip(x, range(len(x))))
    other = max([(x[0] * x[1], 0), (x[2], 1)])[0]
    tied = min([(x[0], x[1]), (x[0], x[2]), (x[0], x[1] * 0.5)])[1]
    return largest * (i + 1) + least * k + other**2 + tied**3


sample(greatest_of_pairs, lambda r: (np.array([0.3, 0.8, 0.55]),))


def swapped_before_each_sum(x, y):
    total = 0.0
    for _ in range(3):
        x, y = y, x * 1.1
        total += sum([u * v for u, v in zip(x, reversed(y))])
        for u, v in zip(x, y[1:]):
            if u > 9.0:
                break
            total += np.sin(u) * v
    return total


sample(swapped_before_each_sum, lambda r: (r.standard_normal(4), r.standard_normal(4)), (0, 1))


def named_and_used_at_once(x):
    pairs = zip(x, x[::-1])
    total = 0.0
    for a, b in pairs:
        total += a * b * b
    numbered = enumerate(zip(x, x * x))
    total += sum(i * a * b for i, (a, b) in numbered)
    d = {"a": x[0] * 2, "b": x[1] ** 3}
    values = d.values()
    total += sum(values)
    triple = zip(x, x**2)
    one, (two, _), three_ = triple
    return total * two + one[0] * three_[1]


sample(named_and_used_at_once, three)
