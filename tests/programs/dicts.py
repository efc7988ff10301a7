"""Dicts, tuples and what runs over them."""

import collections

import numpy as np

from .registry import sample


def three(r):
    return (r.uniform(0.3, 1.5, 3),)


def parameters(r):
    return ({"a": r.uniform(0.3, 1.5, 3), "b": r.uniform(0.3, 1.5, 3), "c": 0.7},)


def dict_get(x):
    d = {"a": x[0] * x[1], "b": x[2]}
    return d.get("a") * d.get("b", 1.0) * d.get("c", 2.0)


sample(dict_get, three)

def dict_get_active_default(x):
    d = {"a": x[0] * x[1], "b": x[2]}
    return d.get("a") * d.get("c", x[1] * x[2])


sample(dict_get_active_default, three)

def dict_get_counter(x):
    d = {}
    for i in range(3):
        k = i % 2
        d[k] = d.get(k, 0.0) + x[i] ** 2
    return d[0] * d[1]


sample(dict_get_counter, three)

def dict_update(x):
    d = {"a": x[0], "b": x[1]}
    d.update({"b": x[2] * x[0], "c": x[1] ** 2})
    return d["a"] * d["b"] * d["c"]


sample(dict_update, three)

def dict_update_kw(x):
    d = {"a": x[0], "b": x[1]}
    d.update(b=x[2] * x[0])
    return d["a"] * d["b"]


sample(dict_update_kw, three)

def dict_setdefault2(x):
    d = {"a": x[0]}
    v = d.setdefault("a", x[1])
    w = d.setdefault("b", x[2] * x[0])
    return d["a"] * d["b"] + v * w


sample(dict_setdefault2, three)

def dict_pop(x):
    d = {"a": x[0], "b": x[1] * x[2]}
    v = d.pop("b")
    w = d.pop("zz", 2.0)
    return d["a"] * v * w


sample(dict_pop, three)

def dict_or(x):
    d = {"a": x[0], "b": x[1]}
    e = {"b": x[2], "c": x[0] * x[1]}
    m = d | e
    return m["a"] * m["b"] * m["c"] + d["b"]


sample(dict_or, three)

def dict_ior(x):
    d = {"a": x[0], "b": x[1]}
    d |= {"b": x[2], "c": x[0] * x[1]}
    return d["a"] * d["b"] * d["c"]


sample(dict_ior, three)

def dict_merge(x):
    d = {"a": x[0], "b": x[1]}
    m = {**d, "b": x[2], **{"c": x[0] * x[1]}}
    return m["a"] * m["b"] * m["c"] + d["b"]


sample(dict_merge, three)

def dict_dict_call(x):
    d = dict(a=x[0], b=x[1] * x[2])
    e = dict(d)
    e["a"] = x[1]
    f = dict(d, c=x[2])
    return d["a"] * d["b"] + e["a"] * f["c"]


sample(dict_dict_call, three)

def dict_dict_pairs(x):
    d = dict([("a", x[0]), ("b", x[1] * x[2])])
    return d["a"] * d["b"]


sample(dict_dict_pairs, three)

def dict_dict_zip(x):
    d = dict(zip(["a", "b", "c"], x))
    return d["a"] * d["b"] + d["c"]


sample(dict_dict_zip, three)

def dict_dict_gen(x):
    d = dict((i, v * v) for i, v in enumerate(x))
    return d[0] * d[2]


sample(dict_dict_gen, three)

def dict_nested(x):
    d = {"l": {"w": x, "b": x[0]}, "m": {"w": x * x, "b": x[1]}}
    h = x
    for k in ("l", "m"):
        h = np.tanh(h * d[k]["w"] + d[k]["b"])
    return np.sum(h)


sample(dict_nested, three)

def dict_nested_store(x):
    d = {"l": {}, "m": {}}
    d["l"]["w"] = x * x
    d["m"]["w"] = x[0] * x
    return np.sum(d["l"]["w"] * d["m"]["w"])


sample(dict_nested_store, three)

def dict_comp(x):
    d = {k: x[i] ** 2 for i, k in enumerate(["a", "b", "c"])}
    return sum(d.values()) * d["a"]


sample(dict_comp, three)

def dict_comp_items(x):
    d = {"a": x, "b": x * x}
    e = {k: np.sum(v * v) for k, v in d.items() if k != "c"}
    return e["a"] * e["b"]


sample(dict_comp_items, three)

def dict_order(x):
    d = {"z": x[0], "a": x[1] * x[2]}
    t = 1.0
    for k in d:
        t = t * d[k] + 1.0
    for v in d.values():
        t = t * v
    return t


sample(dict_order, three)

def dict_runtime_keys(x):
    d = {}
    for i in range(3):
        d[f"k{i}"] = x[i] * x[0]
    t = 0.0
    for i in range(3):
        t = t + d["k" + str(i)] ** 2
    return t


sample(dict_runtime_keys, three)

def dict_listtuples(x):
    d = {"one": [(x[0], x), (x[1], x * x)], "two": [(x[2], x)]}
    t = 0.0
    for k, ps in d.items():
        for a, b in ps:
            t = t + a * np.sum(b)
    return t


sample(dict_listtuples, three)

def dict_tuplekeys(x):
    d = {}
    for i in range(3):
        for j in range(3):
            d[i, j] = x[i] * x[j]
    return d[0, 1] * d[(2, 1)] + d[1, 1]


sample(dict_tuplekeys, three)

def dict_memo(x):
    memo = {}
    t = 0.0
    for i in [0, 1, 0, 2, 1]:
        if i not in memo:
            memo[i] = np.sin(x[i])
        t = t * x[0] + memo[i]
    return t


sample(dict_memo, three)

def dict_del(x):
    d = {"a": x[0], "b": x[1] * x[2]}
    v = d["b"]
    del d["b"]
    return d["a"] * v * len(d)


sample(dict_del, three)

def dict_aug(x):
    d = {"a": 0.0, "b": 1.0}
    for v in x:
        d["a"] += v * v
        d["b"] *= v
    return d["a"] * d["b"]


sample(dict_aug, three)

def dict_aug_arr(x):
    d = {"a": np.zeros(3), "b": np.ones(3)}
    for i in range(2):
        d["a"] += x * i
        d["b"] *= x
    return np.sum(d["a"] * d["b"])


sample(dict_aug_arr, three)

def dict_keys_list(x):
    d = {"a": x[0], "b": x[1]}
    t = 0.0
    for k in sorted(d.keys()):
        t = t * x[2] + d[k]
    for k in list(d):
        t = t * d[k]
    return t


sample(dict_keys_list, three)

def dict_in(x):
    d = {"a": x[0], "b": x[1]}
    t = x[2]
    if "a" in d:
        t = t * d["a"]
    if "q" in d:
        t = t * 100.0
    return t


sample(dict_in, three)

def dict_param_loop(p):
    t = p["c"]
    for k, v in p.items():
        if k != "c":
            t = t * np.sum(v * v)
    return t


sample(dict_param_loop, parameters)

def dict_param_update(p):
    q = {k: v * 0.5 for k, v in p.items()}
    q["c"] = q["c"] ** 2
    return np.sum(q["a"] * q["b"]) * q["c"]


sample(dict_param_update, parameters)

def dict_param_copy(p):
    q = dict(p)
    q["a"] = q["a"] * 2.0
    q2 = p.copy()
    q2["c"] = 3.0
    return np.sum(q["a"] * p["a"]) * p["c"] * q2["c"]


sample(dict_param_copy, parameters)

def dict_param_mut(p):
    p["a"] = p["a"] * 2.0
    p["n"] = p["c"] ** 2
    return np.sum(p["a"] * p["b"]) * p["n"]


sample(dict_param_mut, parameters)

def dict_ret_dict(p):
    return {k: np.sum(v) ** 2 for k, v in p.items()}


sample(dict_ret_dict, parameters)

def dict_ret_dict2(p):
    return {"u": p["a"] * p["c"], "v": [p["b"], (p["c"], 3, "s", None)]}


sample(dict_ret_dict2, parameters)

def dict_tup_concat(x):
    a = (x[0], x[1])
    b = a + (x[2] * x[0],)
    return b[0] * b[2] + b[1]


sample(dict_tup_concat, three)

def dict_tup_grow(x):
    a = ()
    for v in x:
        a = a + (v * v,)
    return a[0] * a[1] + a[2]


sample(dict_tup_grow, three)

def dict_tup_grow2(x):
    a = ()
    for v in x:
        a += (v * v,)
    return a[0] * a[1] + a[2]


sample(dict_tup_grow2, three)

def dict_tup_mul(x):
    a = (x[0], x[1]) * 2
    return a[0] * a[2] + a[3]


sample(dict_tup_mul, three)

def dict_tup_slice(x):
    a = (x[0], x[1], x[2])
    b = a[1:]
    c = a[::-1]
    return b[0] * b[1] * c[0] + c[2]


sample(dict_tup_slice, three)

def dict_tup_nested(x):
    (a, b), [c, d] = (x[0], x[1]), [x[2], x[0] * x[1]]
    return a * b + c * d


sample(dict_tup_nested, three)

def dict_star(x):
    a, *b, c = [x[0], x[1], x[2], x[0] * x[1]]
    return a * b[0] * b[1] + c


sample(dict_star, three)

def dict_star_arr(x):
    a, *b = x
    return a * sum(b) + b[0]


sample(dict_star_arr, three)

def dict_star_arr2(x):
    *a, b = x
    return b * a[0] * a[1]


sample(dict_star_arr2, three)

def dict_star_arr3(x):
    a, *_, b = x
    return b * a


sample(dict_star_arr3, three)

def dict_star_loop(x):
    t = 0.0
    for a, *b in [(x[0], x[1], x[2]), (x[1], x[2], x[0] * x[1])]:
        t = t + a * b[0] + b[1] ** 2
    return t


sample(dict_star_loop, three)

def dict_star_tuple(x):
    t = (x[0], x[1])
    u = (*t, x[2], *t)
    return u[0] * u[4] * u[2]


sample(dict_star_tuple, three)

def dict_unpack_arr(x):
    a, b, c = x
    return a * b + c


sample(dict_unpack_arr, three)

def dict_swap_items(x):
    c = [x[0], x[1], x[2]]
    c[0], c[2] = c[2], c[0] * c[1]
    return c[0] * c[1] + c[2]


sample(dict_swap_items, three)

def dict_sets(x):
    s = {0, 2}
    t = 0.0
    for i in range(3):
        if i in s:
            t = t + x[i] ** 2
    return t


sample(dict_sets, three)

def dict_set_build(x):
    seen = set()
    t = 1.0
    for i in [0, 1, 0, 2]:
        if i not in seen:
            seen.add(i)
            t = t * x[i]
    return t * len(seen)


sample(dict_set_build, three)

def dict_setcomp(x):
    s = {i % 2 for i in range(5)}
    t = 1.0
    for i in sorted(s):
        t = t * x[i]
    return t


sample(dict_setcomp, three)

def dict_tup_index_var(x):
    a = (x[0], x[1], x[2])
    t = 0.0
    for i in range(3):
        t = t * x[0] + a[i]
    return t


sample(dict_tup_index_var, three)

def dict_tuple_call(x):
    a = tuple(v * v for v in x)
    b = tuple([x[0], x[1]])
    c = tuple(x)
    return a[0] * b[1] + c[2]


sample(dict_tuple_call, three)

def dict_zip_t(x):
    ps = [(x[0], x[1]), (x[1], x[2]), (x[2], x[0] * x[1])]
    a, b = zip(*ps)
    return sum(a) * b[0] + b[2]


sample(dict_zip_t, three)

def dict_zip_t2(x):
    ps = [(v, v * x[0]) for v in x]
    a, b = zip(*ps)
    return np.sum(np.array(a) * np.array(b))


sample(dict_zip_t2, three)

def dict_zip_t3(x):
    m = [[x[0], x[1]], [x[2], x[0] * x[1]]]
    mt = [list(r) for r in zip(*m)]
    return mt[0][1] * mt[1][0]


sample(dict_zip_t3, three)

def dict_zip_uneq(x):
    t = 0.0
    for a, b in zip(x, x[1:]):
        t = t + a * b
    for a, b in zip([x[0], x[1]], x):
        t = t * a + b
    return t


sample(dict_zip_uneq, three)

def dict_zip_list(x):
    ps = list(zip(x, [1.0, 2.0, 3.0]))
    return ps[0][0] * ps[1][0] * ps[2][1]


sample(dict_zip_list, three)

def dict_enum_start(x):
    t = 0.0
    for i, v in enumerate(x, start=1):
        t = t + i * v ** 2
    for i, v in enumerate([x[0], x[1]], 2):
        t = t * v ** i
    return t


sample(dict_enum_start, three)

def dict_enum_zip(x):
    t = 0.0
    for i, (a, b) in enumerate(zip(x, x[::-1])):
        t = t + i * a * b * b
    return t


sample(dict_enum_zip, three)

def dict_reversed(x):
    t = 0.0
    for v in reversed(x):
        t = t * x[0] + v
    for v in reversed([x[0], x[1]]):
        t = t * v + v
    return t


sample(dict_reversed, three)

def dict_reversed_list(x):
    r = list(reversed([v * v for v in x]))
    return r[0] * r[1] + r[2]


sample(dict_reversed_list, three)

def dict_enum_rev(x):
    t = 0.0
    for i, v in reversed(list(enumerate(x))):
        t = t * v + i
    return t


sample(dict_enum_rev, three)

def dict_rows(x):
    m = np.outer(x, x)
    t = 0.0
    for row in m:
        t = t + np.sum(row ** 2) * row[0]
    return t


sample(dict_rows, three)

def dict_default_dict(x):
    d = collections.defaultdict(float)
    for i, v in enumerate(x):
        d[i % 2] += v * v
    return d[0] * d[1]


sample(dict_default_dict, three)

def dict_ordered(x):
    d = collections.OrderedDict()
    d["a"] = x[0]
    d["b"] = x[1] * x[2]
    return d["a"] * d["b"]


sample(dict_ordered, three)

def dict_lt2(x):
    d = {"one": [(x[0], x)], "two": [(x[2], x)]}
    t = 0.0
    for k in d:
        for a, b in d[k]:
            t = t + a * np.sum(b)
    return t


sample(dict_lt2, three)

def dict_lt3(x):
    d = {"one": [x[0], x[1]], "two": [x[2], x[0]]}
    t = 0.0
    for k in d:
        for a in d[k]:
            t = t + a * x[0]
    return t


sample(dict_lt3, three)

def dict_lt4(x):
    d = [[x[0], x[1]], [x[2], x[0]]]
    t = 0.0
    for k in range(2):
        e = d[k]
        t = t + e[0] * e[1]
    return t


sample(dict_lt4, three)


def dict_updated_in_a_loop(x, s):
    for _ in range(2):
        d = {"u": x}
        d.update({"v": x * s})
        x = sum(d.values())
    return x


sample(dict_updated_in_a_loop, lambda r: (r.standard_normal(2), 1.5), (0, 1))


def dict_grown_in_a_loop(x):
    out = 0.0
    for i in range(3):
        d = {"u": x[i]}
        if i > 0:
            d["v"] = x[i] * x[0]
        e = [x[i], 2.0]
        e.append(x[i] ** 2)
        out += sum(d.values()) * e[2] * len(d)
    return out


sample(dict_grown_in_a_loop, three)


def written_once_it_is_there(x):
    d = {}
    for k in range(3):
        if "v" in d:
            old = d["v"]
            old += x * k
        else:
            d["v"] = x * 2.0
    return np.sum(d["v"] ** 2)


def updated_by_another_dict(x):
    d = {"u": x * 2.0}
    d.update({"v": x * x, "w": d["u"]})
    w = d["w"]
    w += d["v"]
    return np.sum(d["u"] * d["v"])


for _function in (written_once_it_is_there, updated_by_another_dict):
    sample(_function, three)


# --- dicts of keyword arguments ------------------------------------------------------------------


def norm(x, g, b, eps=1e-5):
    return g * (x - np.mean(x)) / np.sqrt(np.var(x) + eps) + b


def block(x, ln, mlp, power):
    return x + mlp["w"] @ np.tanh(norm(x, **ln)) ** power


def blocks_of_keywords(x, params, power):
    def last(v, g, b):
        return np.sum(g * v**2) + b

    for p in params["blocks"]:
        x = block(x, **p, power=power)
    return last(norm(x, **params["ln"]), **params["last"])


def keywords(r):
    def ln():
        return {"g": r.uniform(0.5, 1.5), "b": r.standard_normal(3)}

    blocks = [{"ln": ln(), "mlp": {"w": r.standard_normal((3, 3))}} for _ in range(2)]
    return {"blocks": blocks, "ln": ln(), "last": {"g": r.standard_normal(3), "b": 0.5}}


sample(
    blocks_of_keywords, lambda r: (r.standard_normal(3), keywords(r), 2.0), ("x", "params")
)


# --- views of what a dict holds, written into ----------------------------------------------------


def _mixed(t, depth, rate):
    new = t.copy()
    inner = new[1:-1]
    inner += rate * (t[:-2] - 2.0 * t[1:-1] + t[2:]) / depth**2
    return new


def layers_of_lakes(lakes, rates, sun, days):
    state = {name: t * 1.0 for name, t in lakes.items()}
    total = 0.0
    for day in range(days):
        for name in state:
            t = _mixed(state[name], 1.0 + 0.1 * day, rates[name])
            top = t[:2]
            top += sun * np.exp(-np.arange(2.0))
            if t[0] > 15.0:
                top *= 0.9
            state[name] = t
        total += np.sum((state["north"] - state["south"]) ** 2)
    return total / days


def two_lakes(r):
    lakes = {"north": 12.0 + r.uniform(0.0, 1.0, 5), "south": 16.0 + r.uniform(0.0, 1.0, 5)}
    return lakes, {"north": 0.1, "south": 0.2}, 0.3, 3


sample(layers_of_lakes, two_lakes, ("lakes", "rates", "sun"))
