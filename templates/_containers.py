"""What methods of lists and dicts, and iterators, do to values with a derivative.

A function here stands in place of calls; it is made of what has an adjoint: items by index,
`append`, `pop`, `insert`, loops.  `normalize/containers` says of which calls, and writes it out: a
parameter that is annotated `items` is given as a sequence that has an index, loops over the items
of a display are written out, and what `known` and `isinstance` ask is decided.  Names that begin
with `_` are temporaries of one step.  A call that comes to `refuse("")` stays as it is.
"""

from itertools import combinations, permutations, product

from srcdiff.rules import known, refuse
from srcdiff.runtime.sequences import first_greatest, first_least, same_length
from srcdiff.runtime.trees import order

items = "a sequence that has an index"


def extend(xs, ys: items):
    for _y in ys:
        xs.append(_y)


def insert(xs, place, value):
    if known(place) and place == 0:
        return refuse("")
    n = len(xs)
    if place < 0:
        at = max(n + place, 0)
    else:
        at = min(place, n)
    xs.insert(at, value)


def pop(xs, place=None):
    if place is None or (known(place) and place >= 0):
        return refuse("")
    if known(place) and place == -1:
        return xs.pop()
    return xs.pop(range(len(xs))[place])


def remove(xs, value):
    gone = xs.pop(xs.index(value))


def clear(xs):
    for k in range(len(xs)):
        gone = xs.pop()


def sort(xs, *, key=None, reverse=False):
    _order = order(xs, reverse, key)
    _old = list(xs)
    for k in range(len(_order)):
        xs[k] = _old[_order[k]]


def delete(xs, index):
    if isinstance(xs, dict):
        gone = xs.pop(index)
    elif not isinstance(xs, list):
        refuse(
            "`del` of an item of something that may be no list or dict\n"
            "Give an example of the arguments, or build the container without it."
        )
    elif isinstance(index, slice):
        at = cut(xs, index)
    elif known(index) and index >= 0:
        gone = xs.pop(index)
    else:
        gone = xs.pop(range(len(xs))[index])


def cut(xs, part):
    _part = range(len(xs))[part]
    at = _part.start
    for k in range(len(_part)):
        gone = xs.pop(at)
    return at


def put(xs, part, ys):
    _ys = list(ys)
    at = cut(xs, part)
    for k in range(len(_ys)):
        xs.insert(at + k, _ys[k])


def repeated(xs: items, count):
    _result = []
    for k in range(count):
        for _x in xs:
            _result.append(_x)
    return _result


def update(d, other):
    if isinstance(other, dict):
        for _key in list(other):
            d[_key] = other[_key]
    elif isinstance(other, (tuple, list)):
        for k in range(len(other)):
            _pair = other[k]
            d[_pair[0]] = _pair[1]
    else:
        refuse(
            "a dict is filled from something that is known only when the program runs\n"
            "Store the items in a loop: `for k in other: d[k] = other[k]`."
        )


def get(d, key, default=None):
    return d[key] if key in d else default


def setdefault(d, key, default=None):
    if key not in d:
        d[key] = default
    return d[key]


def pop_key(d, key, *default):
    if len(default) == 0:
        return refuse("")
    return d.pop(key) if key in d else default[0]


def lacking(d, key, *default):
    if len(default) == 0:
        return refuse("")
    return default[0]


def clear_dict(d):
    for _key in list(d):
        gone = d.pop(_key)


def values(d):
    return [d[_key] for _key in list(d)]


def pairs_of(d):
    return [(_key, d[_key]) for _key in list(d)]


def zipped(*parts: items, strict=False):
    _counts = tuple([len(_p) for _p in parts])
    if len(parts) == 1:
        n = _counts[0]
    elif strict:
        n = same_length(*_counts)
    else:
        n = min(*_counts)
    return [tuple([_p[k] for _p in parts]) for k in range(n)]


def columns(rows: items, width=None):
    n = len(rows)
    if width is None:
        width = len(rows[0])
        for k in range(n):
            width = min(width, len(rows[k]))
    return [tuple([rows[k][_j] for k in range(n)]) for _j in range(width)]


def enumerated(xs: items, start=0):
    return [(k + start, xs[k]) for k in range(len(xs))]


def backwards(xs: items):
    n = len(xs)
    last = n - 1
    return [xs[last - k] for k in range(n)]


def chained(*parts: items):
    _result = []
    for _part in parts:
        for _x in _part:
            _result.append(_x)
    return _result


def flattened(rows: items):
    return [_x for _row in rows for _x in _row]


def total(rows: items, start=0):
    if not isinstance(start, (tuple, list)):
        return refuse("")
    _result = list(start)
    for _row in rows:
        for _x in _row:
            _result.append(_x)
    return tuple(_result) if isinstance(start, tuple) else _result


def in_pairs(xs: items):
    return [(xs[k], xs[k + 1]) for k in range(len(xs) - 1)]


def part_of(xs: items, *bounds):
    if len(bounds) == 1:
        return xs[: bounds[0]]
    if len(bounds) == 2:
        return xs[bounds[0] : bounds[1]]
    return xs[bounds[0] : bounds[1] : bounds[2]]


def again(value, *times):
    if len(times) == 0:
        return refuse("")
    return [value for k in range(times[0])]


def combined(xs: items, size):
    if not known(size):
        return refuse("")
    _places = list(combinations(range(len(xs)), size))
    return [tuple([xs[_place[_j]] for _j in range(size)]) for _place in _places]


def permuted(xs: items, size=None):
    if not known(size) or size is None:
        return refuse("")
    _places = list(permutations(range(len(xs)), size))
    return [tuple([xs[_place[_j]] for _j in range(size)]) for _place in _places]


def products(*xs: items, repeat=1):
    if not known(repeat):
        return refuse("")
    _parts = tuple([_p for _r in range(repeat) for _p in xs])
    _counts = tuple([range(len(_p)) for _p in _parts])
    _places = list(product(*_counts))
    return [tuple([_parts[_j][_place[_j]] for _j in range(len(_parts))]) for _place in _places]


def sorted_items(xs: items, *, key=None, reverse=False):
    _order = order(xs, reverse, key)
    return [xs[_order[k]] for k in range(len(_order))]


def greatest(xs: items):
    return xs[first_greatest(xs)]


def least(xs: items):
    return xs[first_least(xs)]


def greatest_or(xs: items, default):
    return max(xs) if len(xs) != 0 else default


def least_or(xs: items, default):
    return min(xs) if len(xs) != 0 else default
