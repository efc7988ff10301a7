"""Dicts that are made other than by a display: `fromkeys`, copies, `Counter`, `defaultdict`."""

import collections
import copy
from collections import Counter, OrderedDict, defaultdict

from .registry import sample

ZERO = {"A": 0.0, "B": 0.0}
NAMES = ("A", "B")


def from_keys(k):
    d = dict.fromkeys(("A", "B"), 0.0)
    for s in ("A", "B"):
        d[s] += k * k
    return d["A"] + 2 * d["B"]


def from_keys_of_an_ordered_dict(k):
    d = OrderedDict.fromkeys(NAMES, 0.0)
    for s in NAMES:
        d[s] += k * k
    return d["A"] + 2 * d["B"]


def from_keys_and_a_value(k):
    d = dict.fromkeys(["A", "B"], k * k)
    for s in NAMES:
        d[s] = d[s] * k
    return d["A"] + 2 * d["B"]


def from_keys_alone(k):
    d = dict.fromkeys(NAMES)
    for s in NAMES:
        d[s] = k * k
    return d["A"] * d["B"]


def from_letters_and_numbers(k):
    d, e = dict.fromkeys("AB", 0.0), dict.fromkeys(range(3), 0.0)
    for n, s in enumerate(NAMES):
        d[s] += k * k
        e[n + 1] += d[s] * k
    return d["A"] + 2 * d["B"] + e[1] * e[2]


def deep_copy_of_numbers(k):
    d, e = copy.deepcopy(ZERO), copy.copy(ZERO)
    for s in NAMES:
        d[s] += k * k
        e[s] += d[s] * k
    return d["A"] + 2 * d["B"] * e["A"]


def counter(x):
    c = Counter()
    for i, k in enumerate("abcab"):
        c[k] += x[i] * x[0]
    if "z" in c:
        return x[0]
    t = c["z"] + c["a"]
    return t * c["b"] * len(c) + sum(c.values())


def filled_default_dict(x):
    d = defaultdict(float, {"a": x[0]})
    e = defaultdict(list, [("a", [x[0]])])
    for i, k in enumerate("abcab"):
        d[k] += x[i]
        e[k].append(x[i])
    return d["a"] * d["b"] * e["a"][0] * e["a"][2]


def counter_of_letters(k):
    d = Counter(NAMES)
    for s in NAMES:
        d[s] = d[s] * k
    for s in NAMES:
        d[s] = d[s] * k
    return d["A"] + 2 * d["B"] ** 2


def _made():
    return Counter(NAMES)


def counter_of_a_helper(k):
    d = _made()
    for s in NAMES:
        d[s] += k * k
    return d["A"] + 2 * d["B"]


for _function in (
    from_keys, from_keys_of_an_ordered_dict, from_keys_and_a_value, from_keys_alone,
    from_letters_and_numbers, deep_copy_of_numbers,
):  # fmt: skip
    sample(_function, lambda r: (r.uniform(0.5, 1.5),))
for _function in (counter_of_letters, counter_of_a_helper):
    sample(_function, lambda r: (r.uniform(0.5, 1.5),), order2=False)
for _function in (counter, filled_default_dict):
    sample(_function, lambda r: (r.uniform(0.5, 1.5, 5),))


def _totals(x):
    totals = {}
    for name, v in zip("abab", x):
        totals[name] = totals.get(name, 0.0) + v * v
    return totals


def totals_in_order(x):
    s = 1.0
    for _, v in sorted(_totals(x).items()):
        s = s * v + x[0]
    return s


def totals_sorted_in_place(x):
    found = list(_totals(x).items())
    found.sort()
    return found[0][1] * found[1][1] ** 2


def totals_by_value(x):
    by_value = sorted(_totals(x).items(), key=lambda t: -t[1])
    return sum(v * k for k, (_, v) in enumerate(by_value)) * by_value[0][1]


def totals_at_pairs(x):
    found = {}
    for k in range(4):
        found[k % 2, k // 2] = x[k] * x[0]
    return sum(v * (1.0 + i) * x[j] for (i, j), v in sorted(found.items()))


for _function in (totals_in_order, totals_sorted_in_place, totals_by_value, totals_at_pairs):
    sample(_function, lambda r: (r.permutation(5) * 0.4 + r.uniform(0.5, 0.7, 5),))


def queue_of_an_inner_function(x):
    def sums(v, most):
        window = collections.deque(maxlen=most)
        total = 0.0
        for item in v:
            window.append(item * item)
            total = total + sum(window)
        return total

    return sums(x, 2) * sums(x[1:], 3)


def dict_of_an_inner_function(x):
    groups = collections.defaultdict(list)

    def sizes(v):
        found = collections.defaultdict(float)
        for k, item in enumerate(v):
            found[k % 2] += item**2
        return found[0] * found[1]

    for k, v in enumerate(x):
        groups[k % 3].append(v)
    return sizes(x) + groups[0][-1] * groups[1][0] ** 2


for _function in (queue_of_an_inner_function, dict_of_an_inner_function):
    sample(_function, lambda r: (r.uniform(0.5, 1.5, 5),))
