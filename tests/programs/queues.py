"""Queues and dicts with default items."""

import collections
from collections import defaultdict, deque

import numpy as np

from .registry import sample


def window_of_two(x):
    q = deque(maxlen=2)
    for k in range(4):
        q.append(x * k)
    return np.sum(q[0] * q[1] * x)


def moving_product(x):
    window = deque([0.5] * 3, maxlen=3)
    out = 0.0
    for k in range(5):
        window.append(x[k % 3] * (k + 1))
        out += np.prod(window)
    return out


def breadth_first(x):
    todo = deque()
    todo.append((x, 0))
    total = 0.0
    while todo:
        v, depth = todo.popleft()
        if depth == 3:
            total += np.sum(v * v)
            continue
        todo.append((v * 0.5, depth + 1))
        todo.append((np.sin(v), depth + 1))
    return total


def both_ends(x):
    q = deque([x, x * 2])
    s, left = 0.0, 3
    while q:
        a = q.popleft()
        s += np.sum(a**2)
        if left:
            left -= 1
            q.append(a * 0.5)
            q.appendleft(a * a)
    return s


def newest_first(x, most=3):
    kept = deque(maxlen=most)
    y = x
    for k in range(6):
        y = np.sin(y) + 0.1 * k
        kept.appendleft(y)
    return sum(np.sum(v) * (i + 1) for i, v in enumerate(kept))


def two_loop_recursion(x):
    """The direction of L-BFGS from the last two steps."""
    steps, changes = collections.deque(maxlen=2), collections.deque(maxlen=2)
    w, g = x * 1.0, np.cos(x)
    for _ in range(4):
        d = g.copy()
        for s, y in zip(reversed(steps), reversed(changes)):
            d = d - (s @ d) / (y @ s + 2.0) * y
        w_next = w - 0.1 * d
        g_next = np.cos(w_next)
        steps.append(w_next - w)
        changes.append(g_next - g)
        w, g = w_next, g_next
    return np.sum(w**2)


def distances(edges, x):
    """Sums over the edges of a graph in the order of a breadth-first search."""
    near = defaultdict(list)
    for a, b in edges:
        near[a].append(b)
        near[b].append(a)
    total, todo, seen = 0.0, deque([0]), {0}
    while todo:
        u = todo.popleft()
        for v in near[u]:
            if v not in seen:
                seen.add(v)
                todo.append(v)
                total = total + x[u] * x[v]
    return total


def groups(x):
    d = defaultdict(list)
    for i, v in enumerate(x):
        d["first" if i == 0 else "rest"].append(v)
    return sum(sum(v) ** 2 for v in d.values())


def arrays_by_key(x):
    d = defaultdict(lambda: np.zeros(3))
    for i in range(5):
        d[i % 2, 0] += x * i
        if i:
            d["n"] = d["n"] * x + x
    return sum(np.sum(v**2) for v in d.values())


def array_by_two_names(x):
    d = defaultdict(lambda: np.ones(3))
    a = d["a"]
    a += x
    return np.sum(d["a"] ** 2) + len(d)


def read_of_nothing(x):
    d = defaultdict(lambda: 2.0)
    s = x[0] * d["never stored"]
    for k in d:
        s = s + d[k] * x[1]
    return s * ("never stored" in d)


def _share(stores, k, amount):
    """Give from one store to the next, in place."""
    stores["honey"][k] -= amount
    stores["honey"][k + 1] += 0.9 * amount


def colony(flow, rate, days=4):
    """Honey of some hives over days; recent sums are kept, the worst days are looked up."""
    hives = np.zeros((2, flow.size))
    stores = {"honey": hives[0], "brood": hives[1]}
    recent = deque(maxlen=2)
    log = {"total": [], "brood": []}
    for day in range(days):
        stores["honey"] += flow * np.exp(-rate["decay"] * day)
        inner = stores["honey"][1:-1]
        inner *= 1.0 - rate["eaten"] * np.tanh(stores["brood"][1:-1] + 0.2)
        _share(stores, day % (flow.size - 1), 0.1 * inner[0] ** 2)
        stores["brood"][:] = 0.5 * stores["brood"] + 0.3 * stores["honey"]
        recent.append(np.sum(hives))
        log["total"].append(recent[0] * recent[-1])
        log["brood"].append(stores["brood"][day % 3])
    worst = min(range(days), key=lambda k: log["total"][k])
    spread = np.std(log["brood"]) + np.linalg.norm(np.multiply(log["total"], 0.1))
    return spread + log["total"][worst] * sum(recent)


def _three(r):
    return (r.uniform(0.3, 1.2, 3),)


for _function in (
    window_of_two, moving_product, breadth_first, both_ends, newest_first, two_loop_recursion,
    groups, arrays_by_key, array_by_two_names, read_of_nothing,
):  # fmt: skip
    sample(_function, _three)
sample(distances, lambda r: ([(0, 1), (1, 2), (0, 3)], r.uniform(0.3, 1.2, 4)), "x")
sample(
    colony,
    lambda r: (r.uniform(0.5, 1.5, 5), {"decay": 0.3, "eaten": 0.25}),
    ("flow", "rate"),
)


def selection_written_when_taken_again(x):
    stack, total = [], 0.0
    for _ in range(3):
        chosen = np.array([1, 1, 2])
        total = total + np.sum(np.sin(x[chosen]))
        stack.append(chosen)
    for _ in range(3):
        chosen = stack.pop()
        chosen[0] = 3
        total = total + np.sum(x[chosen] ** 2)
    return total


def places_rotated_when_taken_again(x):
    stack, total = [], 0.0
    for _ in range(3):
        places = [1, 1, 2]
        places.reverse()
        total = total + np.sum(np.sin(x[places]))
        places.append(places.pop(0))
        stack.append(places)
    for _ in range(3):
        places = stack.pop()
        places.insert(0, places.pop())
        total = total + np.sum(x[places] ** 2)
    return total


def places_shortened_when_taken_again(x):
    stack, places = [], [1, 1, 2]
    total = np.sum(np.sin(x[places]))
    stack.append(places)
    again = stack.pop()
    again.pop()
    return total + np.sum(x[again] ** 2)


def values_written_when_taken_again(x):
    stack, total = [], 0.0
    for k in range(3):
        value = x * (k + 1.0)
        total = total + np.sum(value * value * value)
        stack.append(value)
    for _ in range(3):
        value = stack.pop()
        value *= 2.0
        total = total + np.sum(value * value)
    return total


def rotated_places_of_a_product(x, v):
    for _ in range(3):
        places = [1, 1, 2]
        places.reverse()
        x[places] *= v
        places.append(places.pop(0))
    return np.sum(x)


def tuple_read_before_the_next_is_taken(x):
    stack = []
    for k in range(4):
        stack.append((x * k, np.sin(x)))
    total = np.zeros_like(x)
    for k in range(4):
        if k > 0:
            total = total * last[0] + last[1]  # noqa: F821
        last = stack.pop()
    return np.sum(total - last[1])


def list_emptied_between(x):
    a_saved = []
    b_saved = []
    for k in range(4):
        a_saved.append(k)
        if k > 0:
            a = a_saved.pop()
            b = b_saved.pop()
            x = x * x * a + b
        c = k * 3
        b_saved.append(c)
    return np.sum(x)


def saved_where_the_next_is_taken(x):
    firsts = [1.0, 2.0, 3.0]
    a_saved, c_saved, b_saved, d_saved = [], [], [], []
    for k, first in enumerate(firsts):
        a_saved.append(k)
        c_saved.append(first)
    a, c = 1, 2.0
    for _ in firsts:
        b_saved.append(a)
        d = c_saved.pop()
        d_saved.append(c)
        a = a_saved.pop()
        c = d + a
    for _ in firsts:
        b = b_saved.pop()
        d = d_saved.pop()
        x = x * x * b + d
    return np.sum(x)


def pools_of_violators(x):
    blocks = []
    for v in x:
        mean, weight = v, 1.0
        while blocks and blocks[-1][0] > mean:
            last, number = blocks.pop()
            mean = (mean * weight + last * number) / (weight + number)
            weight += number
        blocks.append((mean, weight))
    return sum(weight * mean * mean * np.cos(mean) for mean, weight in blocks)


def rectangles_under(x):
    open_ones = []
    total = 0.0
    for k in range(len(x)):
        start = k
        while open_ones and open_ones[-1][1] > x[k]:
            start, height = open_ones.pop()
            total += np.log1p(height * height * (k - start))
        open_ones.append((start, x[k]))
    return total


def emptied_on_several_conditions(x):
    waiting = []
    total = 0.0
    for k, v in enumerate(x):
        if not waiting or waiting[-1][0] < v:
            waiting.append((v, v * v))
        elif waiting and k > 1:
            a, b = waiting.pop()
            total += a * b
        if (waiting or k > 3) and v > -0.5:
            total = total * 0.9 + v
    return total + sum(b for _, b in waiting)


for _function in (
    selection_written_when_taken_again, places_rotated_when_taken_again,
    places_shortened_when_taken_again, values_written_when_taken_again,
    tuple_read_before_the_next_is_taken, list_emptied_between, saved_where_the_next_is_taken,
    pools_of_violators, rectangles_under, emptied_on_several_conditions,
):  # fmt: skip
    sample(_function, lambda r: (r.standard_normal(4),))
sample(rotated_places_of_a_product, lambda r: (r.standard_normal(4), np.array([1.3])), (0, 1))
